// machine: reads the descriptions of targets, which are .pto files with one `machine` block each.
//
// The file's name is the target's. Fields have units (KiB, B); an unknown field is an error, so that a misspelt number is
// not silently a default. The compilers' attribute says which features of a processor the code needs. `native` takes the
// most demanding description that the host satisfies and replaces the sizes of its caches by what hwloc reports.
// Test: tests/cli/machines.sh
#include "machine/machine.h"

#include "ptort/cpu.h"
#include "syntax/parse.h"

#include <dirent.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

typedef struct { Arena *a; Machine *m; const char *path, *error; } Reader;

static void fail(Reader *r, const TreeDirective *d, const char *what)
{
    if (!r->error)
        r->error = arena_printf(r->a, "%s: machine field `%s`: %s", r->path, d->name, what);
}

// A number with its unit; -1 when it is none.
static int64_t quantity(const TreeDirective *d)
{
    if (d->clauses.n != 1 || d->clauses.at[0].words.n < 1)
        return -1;
    const TreeWord *w = d->clauses.at[0].words.at[0], *u = d->clauses.at[0].words.n > 1 ? d->clauses.at[0].words.at[1] : NULL;
    if (w->kind != WORD_NUMBER || w->ival > INT64_MAX >> 30)
        return -1;
    int64_t v = (int64_t)w->ival;
    if (!u || strcmp(u->text, "B") == 0)
        return v;
    return strcmp(u->text, "KiB") == 0 ? v << 10 : strcmp(u->text, "MiB") == 0 ? v << 20 : strcmp(u->text, "GiB") == 0 ? v << 30 : -1;
}

static const char *word(const TreeDirective *d)
{
    return d->clauses.n == 1 && d->clauses.at[0].words.n == 1 ? d->clauses.at[0].words.at[0]->text : NULL;
}

static void read_quantity(Reader *r, const TreeDirective *d, int64_t *to)
{
    *to = quantity(d);
    if (*to < 0)
        fail(r, d, "a number with a unit (B, KiB, MiB, GiB) was expected");
}

static void read_memory(Reader *r, const TreeDirective *d)
{
    if (r->m->ntiers == MACHINE_MAX_TIERS) {
        fail(r, d, "too many memories");
        return;
    }
    Tier *t = &r->m->tier[r->m->ntiers++];
    t->name = d->clauses.n && d->clauses.at[0].words.n ? d->clauses.at[0].words.at[0]->text : "?";
    for (int i = 0; i < d->block.n; i++) {
        const TreeDirective *f = d->block.at[i];
        if (strcmp(f->name, "size") == 0)
            read_quantity(r, f, &t->bytes);
        else if (strcmp(f->name, "line") == 0)
            read_quantity(r, f, &r->m->line_bytes);
        else if (strcmp(f->name, "shared") == 0 && word(f))
            t->per_core = strcmp(word(f), "core") == 0;
        else
            fail(r, f, "unknown");
    }
}

static void read_vector(Reader *r, const TreeDirective *d)
{
    for (int i = 0; i < d->block.n; i++) {
        const TreeDirective *f = d->block.at[i];
        int64_t v = 0;
        read_quantity(r, f, &v);
        if (strcmp(f->name, "width") == 0)
            r->m->vector_bytes = (int)v;
        else if (strcmp(f->name, "registers") == 0)
            r->m->vector_registers = (int)v;
        else if (strcmp(f->name, "fma") == 0)
            r->m->fma = v != 0;
        else
            fail(r, f, "unknown");
    }
}

// "avx2": its bit; also "+sve", as GCC writes it for Arm. 0: none. `tune=` and the like need nothing of a processor.
static uint64_t feature_bit(const char *name)
{
    static const struct { const char *name; int position; } features[] = {
#define ROW(id, name) { name, PTO_CPU_##id },
        PTO_CPU_FEATURES(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if (strcmp(features[i].name, name + (*name == '+')) == 0)
            return UINT64_C(1) << features[i].position;
    return 0;
}

static bool only_tunes(const char *name)
{
    return strncmp(name, "tune=", 5) == 0 || strncmp(name, "prefer-", 7) == 0 || strncmp(name, "no-", 3) == 0;
}

static void read_attribute(Reader *r, const char *text)
{
    char *rest = arena_strdup(r->a, text);
    r->m->attribute = arena_strdup(r->a, text);
    for (char *name; (name = strsep(&rest, ","));) {
        uint64_t bit = feature_bit(name);
        r->m->needs |= bit;
        if (!bit && !only_tunes(name))
            r->m->unknown = name;
    }
}

static void read_field(Reader *r, const TreeDirective *d)
{
    if (strcmp(d->name, "memory") == 0)
        read_memory(r, d);
    else if (strcmp(d->name, "unit") == 0)
        read_vector(r, d);
    else if (strcmp(d->name, "about") == 0 && word(d))
        r->m->about = arena_strdup(r->a, word(d));
    else if (strcmp(d->name, "isa") == 0 && word(d))
        r->m->isa = arena_strdup(r->a, word(d));
    else if (strcmp(d->name, "architecture") == 0 && word(d))
        r->m->architecture = arena_strdup(r->a, word(d));
    else if (strcmp(d->name, "attribute") == 0 && word(d))
        read_attribute(r, word(d));
    else if (strcmp(d->name, "emits") == 0 && word(d))
        r->m->emits_c = strcmp(word(d), "c") == 0;
    else
        fail(r, d, "unknown");
}

static Machine *read_machine(Arena *a, const char *path, const char *name, bool quiet, const char **error)
{
    Sources sources = { .arena = a };
    SourceFile *f = source_load(&sources, path, error);
    if (!f)
        return NULL;
    Diags *d = diags_new(a, &sources, stderr);
    TreeFile *tree = parse_file(a, d, f);
    if (!quiet)
        diags_flush(d);
    if (!tree || diags_errors(d) || tree->machines.n != 1) {
        *error = arena_printf(a, "%s: not a machine description", path);
        return NULL;
    }
    Machine *m = ARENA_NEW(a, Machine);
    *m = (Machine){ .name = arena_strdup(a, name), .about = "", .isa = "generic", .line_bytes = 64 };
    Reader r = { a, m, path, NULL };
    for (int i = 0; i < tree->machines.at[0]->block.n; i++)
        read_field(&r, tree->machines.at[0]->block.at[i]);
    *error = r.error;
    return r.error ? NULL : m;
}

// ---- the host ---------------------------------------------------------------------------------------------------

static const char *native_architecture(void)
{
#if defined(__x86_64__)
    return "x86_64";
#elif defined(__aarch64__)
    return "aarch64";
#else
    return "";
#endif
}

bool machine_runs_here(const Machine *m)
{
    return (!m->architecture || strcmp(m->architecture, native_architecture()) == 0) && (m->needs & ~pto_cpu()) == 0;
}

int machine_demand(const Machine *m)
{
    return __builtin_popcountll(m->needs) + (m->architecture != NULL);
}

// The description that `native` begins with; of several that ask for as much, the first by name.
static const char *native_name(Arena *a, const char *dir)
{
    const char **names, *best = "generic", *error;
    int n = machine_names(a, dir, &names), most = -1;
    for (int i = 0; i + 1 < n; i++) {
        const Machine *m = read_machine(a, arena_printf(a, "%s/%s.pto", dir, names[i]), names[i], true, &error);
        if (!m || !m->emits_c || m->unknown || !machine_runs_here(m) || machine_demand(m) <= most)
            continue;
        best = names[i];
        most = machine_demand(m);
    }
    return best;
}

static void native_caches(Machine *m)
{
    hwloc_topology_t t;
    if (hwloc_topology_init(&t) != 0)
        return;
    if (hwloc_topology_load(t) == 0) {
        static const hwloc_obj_type_t type[3] = { HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE };
        for (int i = 0; i < 3 && i < m->ntiers; i++) {
            hwloc_obj_t o = hwloc_get_obj_by_type(t, type[i], 0);
            if (o && o->attr->cache.size > 0)
                m->tier[i].bytes = (int64_t)o->attr->cache.size;
        }
        int cores = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE);
        m->cores = cores > 0 ? cores : 0;
    }
    hwloc_topology_destroy(t);
}

const Machine *machine_load(Arena *a, const char *dir, const char *name, const char **error)
{
    bool native = strcmp(name, "native") == 0;
    if (strchr(name, '/') || name[0] == '.' || name[0] == '\0') {
        *error = arena_printf(a, "`%s` is not the name of a target", name);
        return NULL;
    }
    const char *path = arena_printf(a, "%s/%s.pto", dir, native ? native_name(a, dir) : name);
    Machine *m = read_machine(a, path, name, false, error);
    if (m && native)
        native_caches(m);
    return m;
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

int machine_names(Arena *a, const char *dir, const char ***names)
{
    VEC(const char *) v = { 0 };
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n > 4 && strcmp(e->d_name + n - 4, ".pto") == 0)
            VEC_PUSH(a, &v, arena_strndup(a, e->d_name, n - 4));
    }
    if (d)
        closedir(d);
    if (v.n)
        qsort(v.at, (size_t)v.n, sizeof *v.at, by_name);
    VEC_PUSH(a, &v, "native");
    *names = v.at;
    return v.n;
}

int64_t machine_tier_bytes(const Machine *m, int level)
{
    if (m->ntiers == 0)
        return 32 << 10;
    return m->tier[level < m->ntiers ? level : m->ntiers - 1].bytes;
}
