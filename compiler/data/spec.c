// Values as the user writes them; see spec.h.
#include "data/spec.h"

#include "data/element.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- parsing ----

typedef struct { const char *at; } Cursor;

static void skip_space(Cursor *c) { c->at += strspn(c->at, " \t"); }

static bool accept(Cursor *c, const char *token)
{
    skip_space(c);
    size_t n = strlen(token);
    if (strncmp(c->at, token, n) != 0)
        return false;
    c->at += n;
    return true;
}

static bool read_whole(Cursor *c, int64_t *value)
{
    char *end;
    skip_space(c);
    if (*c->at < '0' || *c->at > '9')
        return false;
    errno = 0;
    *value = strtoll(c->at, &end, 10);
    c->at = end;
    return errno == 0;
}

// A number; a ".." after it belongs to the range, not to the number.
static bool read_real(Cursor *c, double *value)
{
    char text[64], *end;
    skip_space(c);
    size_t n = strcspn(c->at, ") \t");
    const char *dots = strstr(c->at, "..");
    if (dots && dots < c->at + n)
        n = (size_t)(dots - c->at);
    if (n == 0 || n >= sizeof text)
        return false;
    memcpy(text, c->at, n);
    text[n] = 0;
    *value = strtod(text, &end);
    c->at += n;
    return end == text + n;
}

static bool parse_extents(Cursor *c, Spec *s, const char **why)
{
    do {
        if (s->rank == ARRAY_MAX_RANK)
            return *why = "has more than 8 extents", false;
        if (!read_whole(c, &s->extent[s->rank]))
            return *why = "needs extents, as in random(100, 200:1)", false;
        s->rank++;
    } while (accept(c, ","));
    s->has_shape = true;
    return true;
}

static bool parse_seed_and_range(Cursor *c, Spec *s, const char **why)
{
    while (accept(c, ":")) {
        Cursor start = *c;
        int64_t seed;
        skip_space(c);
        if (read_whole(c, &seed) && (skip_space(c), *c->at == ')' || *c->at == ':')) {
            s->seed = (uint64_t)seed;
            continue;
        }
        *c = start;
        if (!read_real(c, &s->low) || !accept(c, "..") || !read_real(c, &s->high))
            return *why = "has a seed or range that is none, as in random(100:1:0..10)", false;
        if (!(s->low < s->high))
            return *why = "has an empty range", false;
        s->has_range = true;
    }
    return true;
}

static bool parse_arguments(Cursor *c, Spec *s, const char **why)
{
    if (!accept(c, "("))
        return true;
    skip_space(c);
    if (*c->at != ')' && *c->at != ':' && !parse_extents(c, s, why))
        return false;
    if (!parse_seed_and_range(c, s, why))
        return false;
    if ((s->has_range || s->seed != 1) && s->kind != SPEC_RANDOM)
        return *why = "takes no seed", false;
    return accept(c, ")") || (*why = "lacks a ')'", false);
}

static bool parse_generator(Arena *a, const char *text, Spec *s, const char **error)
{
    static const struct { const char *name; SpecKind kind; } words[] = {
        {"random", SPEC_RANDOM}, {"zeros", SPEC_ZEROS}, {"ones", SPEC_ONES}, {"iota", SPEC_IOTA},
    };
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        Cursor c = {.at = text};
        if (!accept(&c, words[k].name) || (*c.at && *c.at != '(' && *c.at != ' '))
            continue;
        const char *why = NULL;
        s->kind = words[k].kind;
        s->seed = 1;
        if (parse_arguments(&c, s, &why) && (skip_space(&c), *c.at))
            why = "is followed by other text";
        if (why)
            *error = arena_printf(a, "'%s' %s", text, why);
        return true;
    }
    return false;
}

static bool parse_number(const char *text, Spec *s)
{
    static const struct { const char *name; int64_t i; } words[] = {{"true", 1}, {"false", 0}};
    char *end;
    s->kind = SPEC_NUMBER;
    for (int k = 0; k < 2; k++)
        if (strcmp(text, words[k].name) == 0) {
            s->is_integer = true;
            s->i = words[k].i;
            return true;
        }
    if (!*text || strspn(text, " \t"))
        return false;
    errno = 0;
    s->i = strtoll(text, &end, 0);
    if (errno == ERANGE && text[0] != '-') {
        errno = 0;
        s->i = (int64_t)strtoull(text, &end, 0);
    }
    s->is_integer = !*end && errno == 0;
    if (s->is_integer)
        return true;
    s->f = strtod(text, &end);
    return !*end;
}

bool spec_parse(Arena *a, const char *text, Spec *spec, const char **error)
{
    *spec = (Spec){.text = arena_strdup(a, text)};
    *error = NULL;
    if (parse_generator(a, text, spec, error))
        return *error == NULL;
    if (parse_number(text, spec))
        return true;
    spec->kind = SPEC_FILE;
    if (array_path_is_file(text))
        return true;
    *error = arena_printf(a, "'%s' is not a value: a number, a .npy, .pgm or .ppm file, random(...), zeros(...), ones(...) or iota(...)", text);
    return false;
}

// ---- making ----

bool spec_number_fits(const Spec *spec, DType type)
{
    if (dtype_is_float(type))
        return true;
    if (!spec->is_integer)
        return false;
    if (type == DT_U64)
        return spec->text[0] != '-' || spec->i == 0;
    bool beyond = spec->i < 0 && spec->text[0] != '-';      // above 2^63
    return !beyond && spec->i >= element_min(type) && spec->i <= element_max(type);
}

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void *place(Array *x, int64_t k) { return (char *)x->data + k * dtype_bytes(x->type); }

static void random_singles(Array *x, uint64_t base, double low, double high)
{
    float *p = x->data;
    for (int64_t k = 0; k < x->size; k++) {
        float v = (float)(low + (double)(mix(base + (uint64_t)k) >> 11) * 0x1p-53 * (high - low));
        p[k] = (double)v >= high ? (float)low : v;
    }
}

static void random_floats(Array *x, uint64_t base, double low, double high)
{
    if (x->type == DT_F32) {
        random_singles(x, base, low, high);
        return;
    }
    for (int64_t k = 0; k < x->size; k++) {
        double unit = (double)(mix(base + (uint64_t)k) >> 11) * 0x1p-53;
        double v = element_round(x->type, low + unit * (high - low));
        element_store_float(x->type, place(x, k), v >= high ? low : v);
    }
}

static int64_t clamp_to(DType t, double x)
{
    return element_truncate(t, x);
}

void spec_random(Array *x, uint64_t seed, bool has_range, double low, double high)
{
    uint64_t base = mix(mix(seed) ^ (uint64_t)x->type);
    if (dtype_is_float(x->type)) {
        random_floats(x, base, has_range ? low : -1, has_range ? high : 1);
        return;
    }
    char family = dtype_family(x->type);
    int64_t first = family == 'I' ? -10 : 0, last = x->type == DT_U8 ? 255 : family == 'B' ? 1 : family == 'I' ? 9 : 19;
    if (has_range) {
        first = clamp_to(x->type, ceil(low));
        last = clamp_to(x->type, ceil(high) - 1);
    }
    uint64_t span = (uint64_t)last - (uint64_t)first + 1;
    for (int64_t k = 0; k < x->size; k++) {
        uint64_t r = mix(base + (uint64_t)k);
        element_store_int(x->type, place(x, k), (int64_t)((uint64_t)first + (span ? r % span : r)));
    }
}

static void fill(Array *x, const Spec *s)
{
    bool is_float = dtype_is_float(x->type);
    for (int64_t k = 0; k < x->size; k++) {
        int64_t i = s->kind == SPEC_ONES ? 1 : s->kind == SPEC_IOTA ? k : s->i;
        double f = s->kind == SPEC_NUMBER && !s->is_integer ? s->f : element_round_int(DT_F64, i, false);
        if (is_float)
            element_store_float(x->type, place(x, k), element_round(x->type, f));
        else
            element_store_int(x->type, place(x, k), i);
    }
}

Array *spec_make(Arena *a, const Spec *spec, DType type, int rank, const int64_t *extent, const char **error)
{
    bool own = spec->has_shape;
    Array *x = array_new(a, type, own ? spec->rank : rank, own ? spec->extent : extent, error);
    if (!x) {
        *error = arena_printf(a, "'%s': %s", spec->text, *error);
        return NULL;
    }
    if (spec->kind == SPEC_RANDOM)
        spec_random(x, spec->seed, spec->has_range, spec->low, spec->high);
    else if (spec->kind != SPEC_ZEROS)
        fill(x, spec);
    return x;
}
