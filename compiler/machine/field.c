// field: see field.h. Test: tests/unit/test_machine.c
#include "machine/field.h"

#include <math.h>
#include <string.h>

// ---- measures ----

typedef struct { const char *unit; int64_t scale; } Scale;

static const Scale counts[] = { { "", 1 }, { NULL, 0 } };
static const Scale bytes[] = { { "", 1 }, { "B", 1 }, { "KiB", 1 << 10 }, { "MiB", 1 << 20 }, { "GiB", 1 << 30 }, { NULL, 0 } };
static const Scale clocks[] = { { "", 1 }, { "Hz", 1 }, { "kHz", 1000 }, { "MHz", 1000000 }, { "GHz", 1000000000 }, { NULL, 0 } };

static const struct { const Scale *scales; const char *name; int64_t most; } measures[] = {
    [MEASURE_COUNT] = { .scales = counts, .name = "a number", .most = 1 << 30 },
    [MEASURE_BYTES] = { .scales = bytes, .name = "a number with a unit (B, KiB, MiB, GiB)", .most = INT64_MAX >> 30 },
    [MEASURE_CLOCK] = { .scales = clocks, .name = "a number with a unit (Hz, kHz, MHz, GHz)", .most = INT64_MAX >> 30 },
};

int64_t measure_scale(Measure measure, const char *unit)
{
    for (const Scale *s = measures[measure].scales; s->unit; s++)
        if (strcmp(s->unit, unit) == 0)
            return s->scale;
    return 0;
}

const char *measure_name(Measure measure) { return measures[measure].name; }
int64_t measure_most(Measure measure) { return measures[measure].most; }

// ---- fields and words ----

bool field_is(const TreeDirective *f, const char *name) { return strcmp(f->name, name) == 0; }

TreeWords field_words(const TreeDirective *f)
{
    bool plain = f->clauses.n == 1 && !f->clauses.at[0].key;
    return plain ? f->clauses.at[0].words : (TreeWords){ .n = 0 };
}

TreeWords value_slice(TreeWords words, int from, int end)
{
    bool inside = from < end && end <= words.n;
    return inside ? (TreeWords){ .at = words.at + from, .n = end - from } : (TreeWords){ .n = 0 };
}

const char *value_name(TreeWords words)
{
    bool one = words.n == 1 && words.at[0]->kind == WORD_PATH && !strchr(words.at[0]->text, '.');
    return one ? words.at[0]->text : NULL;
}

const char *field_title(Arena *a, const TreeDirective *f)
{
    TreeWords words = f->has_block ? field_words(f) : (TreeWords){ .n = 0 };
    const char *title = f->name;
    for (int i = 0; i < words.n; i++) {
        const TreeWord *w = words.at[i];
        title = w->kind == WORD_NUMBER ? arena_printf(a, "%s %llu", title, (unsigned long long)w->ival) : arena_printf(a, "%s %s", title, w->text ? w->text : "?");
    }
    return title;
}

void field_fail(Description *d, const TreeDirective *f, const char *fmt, ...)
{
    va_list ap;
    if (d->error)
        return;
    va_start(ap, fmt);
    const char *what = arena_vprintf(d->a, fmt, ap), *in = d->inside ? arena_printf(d->a, " (in `%s`)", field_title(d->a, d->inside)) : "";
    va_end(ap);
    d->error = arena_printf(d->a, "%s: machine field `%s`: %s%s", d->path, field_title(d->a, f), what, in);
}

void field_each(Description *d, const TreeDirective *block, FieldReader read, void *to)
{
    const TreeDirective *outer = d->inside;
    d->inside = block;
    for (int i = 0; i < block->block.n; i++)
        read(d, block->block.at[i], to);
    d->inside = outer;
}

// ---- values ----

// -1: it is none. A clock may have a fraction.
static int64_t number(TreeWords words, Measure measure)
{
    if (words.n < 1 || words.n > 2)
        return -1;
    const TreeWord *w = words.at[0];
    const char *unit = words.n > 1 ? value_name(value_slice(words, 1, 2)) : "";
    int64_t scale = unit ? measure_scale(measure, unit) : 0, most = measure_most(measure);
    if (scale && w->kind == WORD_NUMBER && w->ival <= (uint64_t)most)
        return (int64_t)w->ival * scale;
    if (scale && w->kind == WORD_FLOAT && measure == MEASURE_CLOCK && w->fval >= 0 && w->fval <= (double)most)
        return llround(w->fval * (double)scale);
    return -1;
}

int64_t value_number(Description *d, const TreeDirective *f, TreeWords words, Measure measure, int64_t least)
{
    int64_t v = number(words, measure);
    if (v >= least)
        return v;
    if (v < 0)
        field_fail(d, f, "%s was expected", measure_name(measure));
    else
        field_fail(d, f, "it must be at least %lld", (long long)least);
    return least - 1;
}

static const char *or_list(Arena *a, const char *const *choices)
{
    const char *text = "";
    for (int i = 0; choices[i]; i++)
        text = arena_printf(a, "%s%s`%s`", text, i == 0 ? "" : choices[i + 1] ? ", " : " or ", choices[i]);
    return text;
}

int value_choice(Description *d, const TreeDirective *f, TreeWords words, const char *const *choices)
{
    const char *name = value_name(words);
    for (int i = 0; name && choices[i]; i++)
        if (strcmp(name, choices[i]) == 0)
            return i;
    field_fail(d, f, "%s was expected", or_list(d->a, choices));
    return -1;
}

int value_memory(Description *d, const TreeDirective *f, TreeWords words)
{
    const char *name = value_name(words);
    int found = name ? machine_memory(d->m, name) : -1;
    if (!name)
        field_fail(d, f, "the name of a memory was expected");
    else if (found < 0)
        field_fail(d, f, "no memory is called `%s`", name);
    return found;
}

int64_t field_number(Description *d, const TreeDirective *f, Measure measure, int64_t least)
{
    return value_number(d, f, field_words(f), measure, least);
}

int field_count(Description *d, const TreeDirective *f, int64_t least)
{
    return (int)field_number(d, f, MEASURE_COUNT, least);
}

Shared field_shared(Description *d, const TreeDirective *f)
{
    static const char *const choices[] = { "core", "cluster", "chip", NULL };
    int at = value_choice(d, f, field_words(f), choices);
    return at < 0 ? SHARED_CHIP : (Shared)at;
}

const char *field_text(Description *d, const TreeDirective *f)
{
    TreeWords words = field_words(f);
    if (words.n == 1 && (words.at[0]->kind == WORD_PATH || words.at[0]->kind == WORD_STRING))
        return arena_strdup(d->a, words.at[0]->text);
    field_fail(d, f, "a name or a string was expected");
    return "";
}

bool field_flag(Description *d, const TreeDirective *f)
{
    if (f->clauses.n > 0)
        field_fail(d, f, "it takes no value");
    return true;
}
