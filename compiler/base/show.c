// Prints reports; see show.h. A source line is first laid out in cells: tabs become blanks, a byte or character
// that a terminal must not see becomes <80> or <U+202E>, and every byte knows the column where its cells begin.
// Then a window of it is printed, with the range underlined below. Lines may be megabytes long.
//
// Test: tests/unit/test_base.c
#include "base/show.h"

#include "base/buffer.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

enum { TAB = 8, WINDOW = 160, BEFORE = 80, TEXT_MOST = 2000 };

// ---- characters ----

// Decodes one UTF-8 character of at most `left` bytes: its length, or 0 when it is none.
static int utf8_decode(const char *text, size_t left, uint32_t *code) {
    const unsigned char *s = (const unsigned char *)text;
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    int n = s[0] < 0x80 ? 1 : s[0] >= 0xf0 && s[0] < 0xf8 ? 4 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xc0 && s[0] < 0xe0 ? 2 : 0;
    if (n == 0 || (size_t)n > left)
        return 0;
    uint32_t c = n == 1 ? s[0] : s[0] & (0xffu >> (n + 1));
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    *code = c;
    return c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

// Controls, and what reorders or hides text.
static bool is_unsafe(uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x2069) || c == 0xfeff || (c >= 0xfff0 && c <= 0xfffb);
}

static int width(uint32_t c) {
    if (c >= 0x300 && c < 0x370)
        return 0;
    bool wide = (c >= 0x1100 && c < 0x1160) || (c >= 0x2e80 && c < 0xa4d0) || (c >= 0xac00 && c < 0xd7a4) ||
                (c >= 0xf900 && c < 0xfb00) || (c >= 0xff00 && c < 0xff61) || (c >= 0x1f300 && c < 0x1fb00) ||
                (c >= 0x20000 && c < 0x30000);
    return wide ? 2 : 1;
}

// One character as it may be printed.
typedef struct { int bytes, width; char text[16]; } Glyph;

static Glyph glyph_at(const char *s, size_t left) {
    Glyph g = {.bytes = 1};
    uint32_t c = 0;
    int n = utf8_decode(s, left, &c);
    if (n == 0)
        g.width = snprintf(g.text, sizeof g.text, "<%02x>", (unsigned char)s[0]);
    else if (is_unsafe(c))
        g.width = snprintf(g.text, sizeof g.text, c < 0x80 ? "<%02x>" : "<U+%04X>", (unsigned)c);
    else {
        memcpy(g.text, s, (size_t)n);
        g.width = width(c);
    }
    g.bytes = n ? n : 1;
    return g;
}

// A message, with nothing in it that a terminal must not see; newlines stay.
static void print_safely(FILE *out, const char *s) {
    size_t left = strlen(s);
    bool cut = left > TEXT_MOST;
    for (left = cut ? TEXT_MOST : left; left > 0;) {
        Glyph g = glyph_at(s, left);
        fputs(*s == '\n' ? "\n" : g.text, out);
        s += g.bytes;
        left -= (size_t)g.bytes;
    }
    if (cut)
        fputs("...", out);
}

// ---- text ----

typedef struct { FILE *out; const Sources *sources; bool color; } Shower;

static void color(const Shower *s, const char *code) {
    if (s->color)
        fprintf(s->out, "\33[%sm", code);
}

static const char *severity_color(const Report *r) {
    return r->help ? "01;32" : r->severity == SEV_ERROR ? "01;31" : r->severity == SEV_WARNING ? "01;35" : "01;36";
}

static const char *severity_word(const Report *r) {
    return r->help ? "help" : r->severity == SEV_ERROR ? "error" : r->severity == SEV_WARNING ? "warning" : "note";
}

static void print_head(const Shower *s, const Report *r, Position p) {
    color(s, "01");
    if (p.file) {
        print_safely(s->out, p.file->path);
        fprintf(s->out, ":%d:%d: ", p.line, p.column);
    } else if (!r->help)
        fputs("ptoc: ", s->out);
    else
        fputs("  ", s->out);
    color(s, severity_color(r));
    fprintf(s->out, "%s: ", severity_word(r));
    color(s, "");
    print_safely(s->out, r->text);
    if (r->name)
        fprintf(s->out, " [%s]", r->name);
    putc('\n', s->out);
}

// A line of the source and the part of it to underline, in bytes of the line; `to` is past the last one.
typedef struct { const char *text; int size, from, to; } Excerpt;

static Excerpt excerpt(Position p, Range range) {
    const SourceFile *f = p.file;
    uint32_t begin = f->line[p.line - 1];
    uint32_t end = p.line < f->nlines ? f->line[p.line] - 1 : f->size;
    if (end > begin && f->text[end - 1] == '\r')
        end--;
    Excerpt e = {.text = f->text + begin, .size = (int)(end - begin), .from = p.column - 1};
    uint32_t last = range.end > f->base ? range.end - f->base : 0;
    e.to = last > begin ? (last < end ? (int)(last - begin) : e.size) : 0;
    if (e.to <= e.from)
        e.to = e.from + 1;
    return e;
}

static bool is_tail_byte(const Excerpt *e, int at) {
    return at > 0 && at < e->size && (e->text[at] & 0xc0) == 0x80;
}

// The part of a long line that is worth printing: from *first to *last.
static void choose_window(const Excerpt *e, int *first, int *last) {
    *first = e->size > WINDOW && e->from > BEFORE ? e->from - BEFORE : 0;
    for (int i = 0; i < 3 && is_tail_byte(e, *first); i++)
        (*first)--;
    *last = e->size - *first > WINDOW ? *first + WINDOW : e->size;
    for (int i = 0; i < 3 && is_tail_byte(e, *last); i++)
        (*last)++;
}

// Prints the window; *from, *to are the columns of the underlined part.
static void print_window(FILE *out, const Excerpt *e, int first, int last, int *from, int *to) {
    int column = first ? 3 : 0;
    *from = *to = -1;
    fputs(first ? "..." : "", out);
    for (int at = first; at < last;) {
        Glyph g = glyph_at(e->text + at, (size_t)(e->size - at));
        bool tab = e->text[at] == '\t';
        int w = tab ? TAB - column % TAB : g.width;
        if (*from < 0 && at + g.bytes > e->from)
            *from = column;
        if (tab)
            fprintf(out, "%*s", w, "");
        else
            fputs(g.text, out);
        column += w;
        at += g.bytes;
        if (*to < 0 && at >= e->to)
            *to = column;
    }
    fputs(last < e->size ? "..." : "", out);
    *from = *from < 0 ? column : *from;
    *to = *to <= *from ? (e->to > last && column > *from ? column : *from + 1) : *to;
}

static void print_excerpt(const Shower *s, const Report *r, Position p) {
    Excerpt e = excerpt(p, r->range);
    int first, last, from, to;
    choose_window(&e, &first, &last);
    fprintf(s->out, "%5d | ", p.line);
    print_window(s->out, &e, first, last, &from, &to);
    fprintf(s->out, "\n      | %*s", from, "");
    color(s, severity_color(r));
    putc('^', s->out);
    for (int i = from + 1; i < to; i++)
        putc('~', s->out);
    color(s, "");
    putc('\n', s->out);
}

static void show_one(const Shower *s, const Report *r) {
    Position p = source_position(s->sources, r->range.begin);
    print_head(s, r, p);
    if (p.file)
        print_excerpt(s, r, p);
}

void show_text(FILE *out, const Sources *sources, bool colored, const Report *r) {
    Shower s = {.out = out, .sources = sources, .color = colored};
    show_one(&s, r);
    for (int i = 0; i < r->children.n; i++)
        show_one(&s, r->children.at[i]);
}

// ---- JSON ----

// A JSON string of any bytes: what is not UTF-8 becomes <80>.
static cJSON *json_string(const char *s) {
    size_t left = strlen(s);
    TextBuffer b;
    buffer_open(&b);
    while (left > 0) {
        uint32_t c;
        int n = utf8_decode(s, left, &c);
        if (n)
            fwrite(s, 1, (size_t)n, b.stream);
        else
            fputs(glyph_at(s, left).text, b.stream);
        s += n ? n : 1;
        left -= (size_t)(n ? n : 1);
    }
    buffer_close(&b);
    cJSON *json = cJSON_CreateString(b.text);
    free(b.text);
    return json;
}

static void add_position(cJSON *location, const char *name, Position p) {
    cJSON *o = cJSON_AddObjectToObject(location, name);
    cJSON_AddItemToObject(o, "file", json_string(p.file->path));
    cJSON_AddNumberToObject(o, "line", p.line);
    cJSON_AddNumberToObject(o, "column", p.column);
    cJSON_AddNumberToObject(o, "byte-column", p.column);
}

static cJSON *json_report(const Sources *sources, const Report *r) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "kind", r->help ? "note" : severity_word(r));     // gcc knows no others
    cJSON_AddItemToObject(o, "message", json_string(r->text));
    if (r->name) {
        char option[64];
        snprintf(option, sizeof option, "%s%s", r->warning ? "-W" : "", r->name);
        cJSON_AddStringToObject(o, "option", option);
    }
    cJSON_AddNumberToObject(o, "column-origin", 1);
    cJSON *locations = cJSON_AddArrayToObject(o, "locations");
    Position begin = source_position(sources, r->range.begin);
    if (begin.file) {
        cJSON *l = cJSON_CreateObject();
        uint32_t last = r->range.end > r->range.begin ? r->range.end - 1 : r->range.begin;
        Position end = source_position(sources, last);
        add_position(l, "caret", begin);
        if (end.file == begin.file && last != r->range.begin)
            add_position(l, "finish", end);
        cJSON_AddItemToArray(locations, l);
    }
    cJSON *children = cJSON_AddArrayToObject(o, "children");
    for (int i = 0; i < r->children.n; i++)
        cJSON_AddItemToArray(children, json_report(sources, r->children.at[i]));
    return o;
}

void show_json(FILE *out, const Sources *sources, int n, Report *const *reports) {
    cJSON *all = cJSON_CreateArray();
    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(all, json_report(sources, reports[i]));
    char *text = cJSON_PrintUnformatted(all);
    if (!text)
        arena_oom_handler();
    fprintf(out, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(all);
}
