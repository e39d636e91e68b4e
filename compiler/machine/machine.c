// machine: finds descriptions of targets, which are .pto files with one `machine` block each, and reads them.
//
// The file's name is the target's. The compilers' attribute says which features of a processor the code needs. `native`
// takes the most demanding description that the host satisfies and replaces the sizes of its caches by what hwloc reports;
// --machine-set replaces what else is asked for; then the whole is checked. Test: tests/cli/machines.sh
#include "machine/field.h"

#include "syntax/parse.h"

#include "ptort/cpu.h"

#include <dirent.h>
#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

static void native_caches(Machine *m);

static const TreeMachine *parse(Arena *a, const char *path, bool quiet, const char **error)
{
    Sources sources = { .arena = a };
    SourceFile *f = source_load(&sources, path, error);
    if (!f)
        return NULL;
    Diags *d = diags_new(a, &sources, stderr);
    TreeFile *tree = parse_file(a, d, f);
    if (!quiet)
        diags_flush(d);
    if (tree && !diags_errors(d) && tree->machines.n == 1)
        return tree->machines.at[0];
    *error = arena_printf(a, "%s: not a machine description", path);
    return NULL;
}

typedef struct { bool quiet, native; const char *set; } How;

static Machine *read_machine(Arena *a, const char *path, const char *name, const How *how, const char **error)
{
    const TreeMachine *tree = parse(a, path, how->quiet, error);
    if (!tree)
        return NULL;
    Machine *m = ARENA_NEW(a, Machine);
    *m = (Machine){ .name = arena_strdup(a, name), .about = "", .isa = "generic", .line_bytes = 64, .clusters = 1 };
    Description d = { .a = a, .m = m, .path = path };
    machine_read(&d, tree);
    if (how->native)
        native_caches(m);
    if (!d.error && how->set)
        machine_set(a, m, how->set, &d.error);
    machine_finish(&d);
    *error = d.error;
    return d.error ? NULL : m;
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

const char *machine_family(Arena *a, const char *dir)
{
    const char **names, *list = "generic", *error = NULL;
    int n = machine_names(a, dir, &names);
    Machines family = {0};
    VEC_PUSH(a, &family, machine_load(a, dir, "generic", NULL, &error));
    for (int i = 0; i + 1 < n && family.at[0]; i++) {       // the last is `native`
        const Machine *m = strcmp(names[i], "generic") == 0 ? NULL : machine_load(a, dir, names[i], NULL, &error);
        bool related = m && m->emits_c && m->architecture && strcmp(m->architecture, native_architecture()) == 0;
        if (!related || machines_conflict(a, &family, m))
            continue;
        list = arena_printf(a, "%s,%s", list, names[i]);
        VEC_PUSH(a, &family, m);
    }
    return list;
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
        const Machine *m = read_machine(a, arena_printf(a, "%s/%s.pto", dir, names[i]), names[i], &(How){ .quiet = true }, &error);
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
        for (int i = 0; i < 3 && i < m->nmemories; i++) {
            hwloc_obj_t o = hwloc_get_obj_by_type(t, type[i], 0);
            if (o && o->attr->cache.size > 0)
                m->memory[i].bytes = (int64_t)o->attr->cache.size;
        }
        int cores = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE);
        m->cores = cores > 0 ? cores : 0;
    }
    hwloc_topology_destroy(t);
}

const Machine *machine_load(Arena *a, const char *dir, const char *name, const char *set, const char **error)
{
    bool native = strcmp(name, "native") == 0;
    if (strchr(name, '/') || name[0] == '.' || name[0] == '\0') {
        *error = arena_printf(a, "`%s` is not the name of a target", name);
        return NULL;
    }
    const char *path = arena_printf(a, "%s/%s.pto", dir, native ? native_name(a, dir) : name);
    return read_machine(a, path, name, &(How){ .native = native, .set = set }, error);
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

int machine_names(Arena *a, const char *dir, const char ***names)
{
    VEC(const char *) v = { 0 };
    DIR *d = opendir(dir);
    if (!d && errno == ENOMEM)
        arena_oom_handler();
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

int machine_memory(const Machine *m, const char *name)
{
    for (int i = 0; i < m->nmemories; i++)
        if (strcmp(m->memory[i].name, name) == 0)
            return i;
    return -1;
}

int machine_path(const Machine *m, int from, int to)
{
    for (int i = 0; i < m->npaths; i++) {
        const Path *p = &m->path[i];
        if ((p->from == from && p->to == to) || (p->both && p->from == to && p->to == from))
            return i;
    }
    return -1;
}
