// names: C identifiers: two name spaces, and a rule for each, so that no name of the source can meet one of C's.
//
// Names of the source (tensors, dimensions, indices) get an underscore behind them: `x_`. What belongs to such a name has
// a word and a number there, `x_s0`, `x_big0`. No name of C, of its headers, of the runtime or of the emitter itself
// looks like either: its own variables have no underscore, its own functions, types and tables are `ptoc_KERNEL_what`,
// and the runtime's are `pto_what`. What begins with an underscore gets a letter in front, other characters become
// underscores, and what is the same then gets a number, `x_2_`.
//
// The names that others see are the kernel's own: `k`, `k_workspace`, `k_kernel`. For those that C cannot have there is
// the rule in pto(5): it depends on the name alone, and no two kernels get the same. Test: tests/cli/names.sh
#include "emit/c.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// ---- names that others see ----------------------------------------------------------------------------------------

static const char *const taken[] = {
#include "emit/taken.def"
};

static const char *const families[] = {
    "ATOMIC_", "DBL_", "FE_", "FLT_", "GOMP_", "LDBL_", "atomic_", "cnd_", "hwloc_", "memory_order", "mtx_", "omp_", "pthread_",
    "thrd_", "tss_", "udev_",
};

static int by_text(const void *key, const void *entry)
{
    return strcmp(key, *(const char *const *)entry);
}

static bool is_listed(const char *name)
{
    return bsearch(name, taken, sizeof taken / sizeof *taken, sizeof *taken, by_text) != NULL;
}

// sinf, sinl, sinf32, sinf64x
static bool is_of_type(const char *name)
{
    static const char *const ends[] = { "f", "l", "f16", "f32", "f32x", "f64", "f64x", "f128", "f128x" };
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t m = strlen(ends[i]);
        char base[32];
        if (n <= m || n - m >= sizeof base || strcmp(name + n - m, ends[i]) != 0)
            continue;
        memcpy(base, name, n - m);
        base[n - m] = '\0';
        if (is_listed(base))
            return true;
    }
    return false;
}

// PRId32, SCNxPTR
static bool is_format(const char *name)
{
    bool starts = strncmp(name, "PRI", 3) == 0 || strncmp(name, "SCN", 3) == 0;
    return starts && name[3] && strchr("diouxX", name[3]) && (isdigit((unsigned char)name[4]) || isupper((unsigned char)name[4]));
}

static bool is_taken(const char *name)
{
    if (is_listed(name) || is_of_type(name) || is_format(name))
        return true;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strncmp(families[i], name, strlen(families[i])) == 0)
            return true;
    return false;
}

// Begins as what belongs to the compiler, to the runtime or to C, behind any number of what such names get in front.
static bool is_private(const char *name)
{
    while (strncmp(name, "k_", 2) == 0)
        name += 2;
    return name[0] == '_' || strncmp(name, "pto_", 4) == 0 || strncmp(name, "PTO_", 4) == 0
        || strncmp(name, "ptoc_", 5) == 0 || strncmp(name, "PTOC_", 5) == 0;
}

static bool is_identifier(const char *name)
{
    if (!*name || isdigit((unsigned char)*name))
        return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

// Text of IR may have any characters in names.
static const char *spelled_out(Arena *a, const char *name)
{
    const char *s = "";
    for (; *name; name++)
        s = arena_printf(a, isalnum((unsigned char)*name) ? "%s%c" : "%s_%02x", s, (unsigned char)*name);
    return arena_printf(a, "k__%s", s);
}

const char *name_public(Arena *a, const char *name)
{
    if (!is_identifier(name))
        return spelled_out(a, name);
    if (is_private(name))
        return arena_printf(a, "k_%s", name);
    char *word = arena_strdup(a, name);
    for (size_t n = strlen(word); n > 0 && word[n - 1] == '_'; n--)
        word[n - 1] = '\0';
    return is_taken(name) || is_taken(word) ? arena_printf(a, "%s_", name) : name;
}

// Is it the function of a kernel of the file? The name of that begins as the kernel's does, or with the letter in front.
static bool is_function(Arena *a, int nkernels, Kernel *const *kernels, const char *name)
{
    for (int i = 0; i < nkernels; i++) {
        const char *own = kernels[i]->name;
        bool close = strncmp(name, own, strlen(own)) == 0 || strncmp(name, "k_", 2) == 0;
        if (close && strcmp(name_public(a, own), name) == 0)
            return true;
    }
    return false;
}

const char *emit_name_beside(Arena *a, int nkernels, Kernel *const *kernels, const char *kernel, const char *what)
{
    const char *name = arena_printf(a, "%s_%s", name_public(a, kernel), what);
    while (is_function(a, nkernels, kernels, name))
        name = arena_printf(a, "%s_", name);
    return name;
}

// ---- names of the source ------------------------------------------------------------------------------------------

const char *name_part(Emit *e, const char *name, const char *what, int number)
{
    return arena_printf(e->a, "%s%s%d", name, what, number);
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
    const char *word = arena_printf(e->a, wish[0] == '_' || isdigit((unsigned char)wish[0]) ? "n%s_" : "%s_", wish);
    for (char *c = (char *)word; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            *c = '_';
    const char *name = word;
    for (int n = 2; is_reserved(e, name); n++)
        name = arena_printf(e->a, "%s%d_", word, n);
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
    const char *name = unique(e, index->name);
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

const char *name_of_dim(const Emit *e, const Dim *d)
{
    int i = 0;
    while (e->k->dims.at[i] != d)
        i++;
    return e->dim[i];
}

const char *name_dim(Emit *e, const Dim *d)
{
    return name_symbol(e, name_of_dim(e, d));
}

const char *name_stride(Emit *e, const Tensor *t, int d)
{
    return name_symbol(e, name_part(e, e->tensor[t->id], "s", d));
}

const char *name_own(Emit *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *what = arena_vprintf(e->a, fmt, ap);
    va_end(ap);
    return arena_printf(e->a, "ptoc_%s_%s%s", name_public(e->a, e->k->name), what, e->suffix);
}

static const char *reserve(Emit *e, const char *wish)
{
    const char *name = unique(e, wish);
    name_reserve(e, name);
    return name;
}

void name_setup(Emit *e)
{
    e->dim = ARENA_ARRAY(e->a, const char *, e->k->dims.n + 1);
    e->tensor = ARENA_ARRAY(e->a, const char *, e->k->tensors.n + 1);
    e->reg = ARENA_ARRAY(e->a, RegisterForm, e->k->tensors.n + 1);
    e->reg_name = ARENA_ARRAY(e->a, const char *, e->k->tensors.n + 1);
    for (int i = 0; i < e->k->dims.n; i++)
        e->dim[i] = reserve(e, e->k->dims.at[i]->name);
    for (int i = 0; i < e->k->tensors.n; i++)
        e->tensor[i] = e->reg_name[i] = reserve(e, e->k->tensors.at[i]->name);
}
