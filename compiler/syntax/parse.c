// The way into the parser (grammar/), and the look at a file before it: one that is no .pto text at all gets one
// diagnostic instead of a list of syntax errors.
//
// Test: tests/unit/test_syntax.c
#include "syntax/parse.h"

#include "syntax/reader.h"

#include "parser.h"

#include <ctype.h>
#include <string.h>

typedef struct { const char *at, *end; } Text;

static bool starts(Text t, const char *word) {
    size_t n = strlen(word);
    return (size_t)(t.end - t.at) >= n && memcmp(t.at, word, n) == 0;
}

static Text skip_blanks(Text t) {
    while (t.at < t.end && isspace((unsigned char)*t.at))
        t.at++;
    return t;
}

static Text skip_line(Text t) {
    const char *end = memchr(t.at, '\n', (size_t)(t.end - t.at));
    t.at = end ? end + 1 : t.end;
    return t;
}

// A comment that steers MLIR's test tools. It decides only when the text behind it is no item of .pto either.
static bool is_test_comment(Text t) {
    t.at += 2;
    t = skip_blanks(t);
    return starts(t, "RUN") || starts(t, "-----");
}

// "%0 = ...", "%arg : ...", "^bb0:"
static bool is_value(Text t) {
    if (t.at == t.end || (*t.at != '%' && *t.at != '^'))
        return false;
    t.at++;
    return t.at < t.end && (isalnum((unsigned char)*t.at) || *t.at == '_');
}

// "#map = ...", "!alias = ...", "!pto.tile"
static bool is_alias(Text t) {
    return t.at < t.end && (*t.at == '#' || *t.at == '!') && t.at + 1 < t.end && islower((unsigned char)t.at[1]);
}

static bool starts_one_of(Text t, int n, const char *const *words) {
    for (int i = 0; i < n; i++)
        if (starts(t, words[i]))
            return true;
    return false;
}

// Where a text shows that it is MLIR, or NULL.
static const char *find_mlir(const char *text, size_t size) {
    static const char *const theirs[] = {"module {", "module{", "module @", "module attributes", "builtin.module", "\"builtin.module\"",
                                         "func.func ", "func @", "\"func.func\"", "\"pto.", "pto."};
    static const char *const ours[] = {"kernel", "schedule", "strategy", "machine", "import", "ir ", "/*"};
    const char *test = NULL;
    Text t = skip_blanks((Text){.at = text, .end = text + size});
    while (starts(t, "//")) {
        test = !test && is_test_comment(t) ? t.at : test;
        t = skip_blanks(skip_line(t));
    }
    if (is_value(t) || is_alias(t) || starts_one_of(t, sizeof theirs / sizeof *theirs, theirs))
        return t.at;
    return starts_one_of(t, sizeof ours / sizeof *ours, ours) ? NULL : test;
}

bool parse_text_is_mlir(const char *text, size_t size) {
    return find_mlir(text, size) != NULL;
}

// The rest of the line at a place of the file.
static Range line_from(const SourceFile *f, const char *at) {
    const char *end = memchr(at, '\n', (size_t)(f->text + f->size - at));
    return (Range){.begin = f->base + (uint32_t)(at - f->text), .end = end ? f->base + (uint32_t)(end - f->text) : f->base + f->size};
}

// Reports a file that is no text of this language. True: there is no use in parsing it.
static bool is_foreign(Diags *d, const SourceFile *f) {
    const char *nul = memchr(f->text, '\0', f->size);
    const char *mlir = find_mlir(f->text, f->size);
    if (mlir) {
        if (diag_report(d, D_NOT_PTO, line_from(f, mlir), "this file is MLIR, not the .pto tiling language") >= 0)
            diag_help(d, "give it to the tool it was made for (such as mlir-opt); ptoc reads kernels, schedules and machines: see pto(5)");
    } else if (nul) {
        uint32_t at = f->base + (uint32_t)(nul - f->text);
        diag_report(d, D_LEX, (Range){.begin = at, .end = at + 1}, "a NUL byte: this is no text file");
    } else {
        return false;
    }
    return true;
}

static bool is_empty(const TreeFile *t) {
    return !t->imports.n && !t->kernels.n && !t->schedules.n && !t->strategies.n && !t->machines.n;
}

TreeFile *parse_file(Arena *a, Diags *d, const SourceFile *f) {
    if (is_foreign(d, f))
        return NULL;
    static const char bom[] = "\xef\xbb\xbf";
    size_t skip = f->size >= 3 && memcmp(f->text, bom, 3) == 0 ? 3 : 0;
    Reader r = {
        .arena = a,
        .diags = d,
        .file = f,
        .cursor = (const unsigned char *)f->text + skip,
        .limit = (const unsigned char *)f->text + f->size,
        .result = ARENA_NEW(a, TreeFile),
    };
    int errors = diags_errors(d);
    syntax_parse(&r);
    return r.stopped || (diags_errors(d) > errors && is_empty(r.result)) ? NULL : r.result;
}
