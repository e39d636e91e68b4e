// names: C identifiers. Names come from the source; those that C or the emitter use get a trailing underscore, dots
// become underscores, and whatever still collides gets a number.
#include "emit/c.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const taken[] = {
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float", "for",
    "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct",
    "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "_Bool", "_Complex", "_Imaginary", "asm", "typeof",
    "main", "bool", "true", "false", "alignas", "alignof", "constexpr", "nullptr", "thread_local", "static_assert",
    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "size_t", "NULL", "INFINITY", "NAN",
    "unix", "linux", "and", "or", "not", "xor", "class", "new", "delete", "template", "this", "operator", "private", "public",
    "ctx", "f", "frame", "worker", "tile", "scratch", "status", "args", "l", "errno", "signgam", "memcpy", "memset",
};

const char *name_clean(Arena *a, const char *name)
{
    char *s = arena_strdup(a, name);
    for (char *c = s; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            *c = '_';
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(s, taken[i]) == 0)
            return arena_printf(a, "%s_", s);
    size_t end = strlen(s);
    while (end > 0 && isdigit((unsigned char)s[end - 1]))
        end--;
    if (end >= 2 && (strncmp(s + end - 2, "_v", 2) == 0 || strcmp(s + end - 2, "_c") == 0))      // x_v2, x_c: vectors that stand for x
        return arena_printf(a, "%s_", s);
    int bits, lanes;
    char kind;
    if (sscanf(s, "%c%dx%d", &kind, &bits, &lanes) == 3 && strchr("fiu", kind))       // f32x8: a vector type
        return arena_printf(a, "%s_", s);
    if (strncmp(s, "pto_", 4) == 0 || strncmp(s, "PTO_", 4) == 0 || s[0] == '_')
        return arena_printf(a, "n%s", s);
    return s;
}

// Functions that C's headers declare: a kernel's function must not have their name.
static const char *const library[] = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "erf", "erfc", "exp", "exp2",
    "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "frexp", "hypot", "ilogb", "ldexp", "lgamma", "llrint", "llround",
    "log", "log10", "log1p", "log2", "logb", "lrint", "lround", "modf", "nan", "nearbyint", "nextafter", "nexttoward", "pow",
    "remainder", "remquo", "rint", "round", "scalbln", "scalbn", "sin", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc", "gamma", "drem",
    "significand", "j0", "j1", "jn", "y0", "y1", "yn", "finite", "isinf", "isnan", "scalb", "pow10", "exp10", "sincos",
    "memchr", "memcmp", "memcpy", "memmove", "memset", "strcat", "strchr", "strcmp", "strcoll", "strcpy", "strcspn", "strdup",
    "strerror", "strlen", "strncat", "strncmp", "strncpy", "strndup", "strpbrk", "strrchr", "strspn", "strstr", "strtok", "strxfrm", "index", "rindex",
    "abort", "abs", "atexit", "atof", "atoi", "atol", "atoll", "bsearch", "calloc", "div", "exit", "free", "getenv", "labs", "ldiv",
    "llabs", "lldiv", "malloc", "mblen", "qsort", "rand", "realloc", "srand", "strtod", "strtof", "strtol", "strtoul", "system",
    "printf", "puts", "putchar", "scanf", "sprintf", "snprintf", "vprintf", "fprintf", "fputs", "fputc", "fwrite", "putc", "fscanf", "sscanf",
    "toupper", "tolower", "isalpha", "isdigit", "isspace", "clog", "cexp", "csqrt", "cabs", "carg", "conj", "creal", "cimag", "cpow", "csin", "ccos",
    "alloca", "ffs", "bcmp", "bcopy", "bzero", "execl", "fork", "signbit",
};

const char *name_of_kernel(Arena *a, const Kernel *k)
{
    size_t n = strlen(k->name);
    for (size_t i = 0; i < sizeof library / sizeof *library; i++) {
        size_t m = strlen(library[i]);
        bool same = strcmp(library[i], k->name) == 0;
        bool variant = n == m + 1 && strncmp(library[i], k->name, m) == 0 && (k->name[m] == 'f' || k->name[m] == 'l');     // expf, expl
        if (same || variant)
            return arena_printf(a, "%s_", k->name);
    }
    return name_clean(a, k->name);
}

// ---- the table of names -----------------------------------------------------------------------------------------

static size_t hash(const char *s)
{
    size_t h = 5381;
    while (*s)
        h = 33 * h + (unsigned char)*s++;
    return h;
}

// The slot of a name, or the free one where it belongs; NULL: there is no table yet.
static NameSlot *slot_of(const Emit *e, const char *name)
{
    if (e->nslots == 0)
        return NULL;
    size_t mask = (size_t)e->nslots - 1, at = hash(name) & mask;
    while (e->names[at].name && strcmp(e->names[at].name, name) != 0)
        at = (at + 1) & mask;
    return &e->names[at];
}

static void grow_table(Emit *e)
{
    NameSlot *old = e->names;
    int n = e->nslots;
    e->nslots = n ? 2 * n : 64;
    e->names = ARENA_ARRAY(e->a, NameSlot, e->nslots);
    for (int i = 0; i < n; i++)
        if (old[i].name)
            *slot_of(e, old[i].name) = old[i];
}

static NameSlot *enter(Emit *e, const char *name)
{
    if (2 * (e->nnames + 1) > e->nslots)
        grow_table(e);
    NameSlot *slot = slot_of(e, name);
    if (!slot->name) {
        *slot = (NameSlot){ name, -1 };
        e->nnames++;
    }
    return slot;
}

void name_reserve(Emit *e, const char *name)
{
    enter(e, name);
}

static bool is_reserved(const Emit *e, const char *name)
{
    const NameSlot *slot = slot_of(e, name);
    if (slot && slot->name)
        return true;
    for (int i = 0; i < e->bound.n; i++)
        if (strcmp(e->bound.at[i].name, name) == 0)
            return true;
    return false;
}

static const char *unique(Emit *e, const char *wish)
{
    const char *name = name_clean(e->a, wish);
    for (int n = 2; is_reserved(e, name); n++)
        name = arena_printf(e->a, "%s%d", name_clean(e->a, wish), n);
    return name;
}

const char *name_bind(Emit *e, const Index *index)
{
    const char *name = unique(e, index->name);
    VEC_PUSH(e->a, &e->bound, ((Bound){ index, name }));
    return name;
}

const char *name_index(Emit *e, const Index *index)
{
    for (int i = e->bound.n - 1; i >= 0; i--)
        if (e->bound.at[i].index == index)
            return e->bound.at[i].name;
    return name_symbol(e, name_outer(e, index));
}

const char *name_outer(Emit *e, const Index *index)
{
    for (int i = 0; i < e->outer.n; i++)
        if (e->outer.at[i].index == index)
            return e->outer.at[i].name;
    const char *name = unique(e, arena_printf(e->a, "%s_at", name_clean(e->a, index->name)));
    name_reserve(e, name);
    VEC_PUSH(e->a, &e->outer, ((Bound){ index, name }));
    return name;
}

void name_add_symbol(Emit *e, const char *name, const char *type, const char *load)
{
    NameSlot *slot = enter(e, name);
    if (slot->symbol >= 0)
        return;
    slot->symbol = e->symbols.n;
    VEC_PUSH(e->a, &e->symbols, ((Symbol){ name, type, load, false }));
}

const char *name_symbol(Emit *e, const char *name)
{
    const NameSlot *slot = slot_of(e, name);
    int k = slot && slot->name ? slot->symbol : -1;
    if (k >= 0 && !e->symbols.at[k].used) {
        e->symbols.at[k].used = true;
        VEC_PUSH(e->a, &e->used, k);
    }
    return name;
}

static int by_number(const void *x, const void *y)
{
    return *(const int *)x - *(const int *)y;
}

void name_sort_used(Emit *e)
{
    if (e->used.n)
        qsort(e->used.at, (size_t)e->used.n, sizeof *e->used.at, by_number);
}

void name_release(Emit *e)
{
    for (int i = 0; i < e->used.n; i++)
        e->symbols.at[e->used.at[i]].used = false;
    e->used.n = 0;
}

const char *name_dim(Emit *e, const Dim *d)
{
    return name_symbol(e, name_clean(e->a, d->name));
}

const char *name_stride(Emit *e, const Tensor *t, int d)
{
    return name_symbol(e, arena_printf(e->a, "%s_s%d", e->tensor[t->id], d));
}

const char *name_own(Emit *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *what = arena_vprintf(e->a, fmt, ap);
    va_end(ap);
    return arena_printf(e->a, "%s_%s%s", e->k->name, what, e->suffix);     // only ever with an ending: no keyword, no library function
}

void name_setup(Emit *e)
{
    e->tensor = ARENA_ARRAY(e->a, const char *, e->k->tensors.n + 1);
    e->reg = ARENA_ARRAY(e->a, RegisterForm, e->k->tensors.n + 1);
    e->reg_name = ARENA_ARRAY(e->a, const char *, e->k->tensors.n + 1);
    for (int i = 0; i < e->k->dims.n; i++)
        name_reserve(e, name_clean(e->a, e->k->dims.at[i]->name));
    for (int i = 0; i < e->k->tensors.n; i++) {
        e->tensor[i] = unique(e, e->k->tensors.at[i]->name);
        name_reserve(e, e->tensor[i]);
        e->reg_name[i] = e->tensor[i];
    }
}
