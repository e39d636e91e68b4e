// set: --machine-set, which replaces numbers of a description for one run of the compiler.
//
// Every number that can be replaced has a name, made of those in the description: `cores`, `L1.size`, `DDR.L1.width` (a path
// by its ends), `cube.queue`, `cube.L0.width` (a port). All of them are listed, then looked through. Test:
// tests/unit/test_machine.c, tests/cli/machine_set.sh
#include "machine/field.h"

#include "base/closest.h"

#include <stdlib.h>
#include <string.h>

// `small` or `large`: where the number is.
typedef struct { const char *name; int *small; int64_t *large; Measure measure; int64_t least; } Number;
typedef VEC(Number) Numbers;

static void add(Arena *a, Numbers *list, const char *name, int64_t *large, Measure measure, int64_t least)
{
    Number n = { .name = name, .large = large, .measure = measure, .least = least };
    VEC_PUSH(a, list, n);
}

static void add_small(Arena *a, Numbers *list, const char *name, int *small)
{
    Number n = { .name = name, .small = small, .measure = MEASURE_COUNT, .least = 1 };
    VEC_PUSH(a, list, n);
}

static void add_path(Arena *a, Numbers *list, const char *from, const char *to, Path *p)
{
    add(a, list, arena_printf(a, "%s.%s.width", from, to), &p->width, MEASURE_BYTES, 1);
    add(a, list, arena_printf(a, "%s.%s.latency", from, to), &p->latency, MEASURE_COUNT, 0);
    add(a, list, arena_printf(a, "%s.%s.burst", from, to), &p->burst, MEASURE_BYTES, 0);
}

static void add_paths(Arena *a, Numbers *list, Machine *m)
{
    for (int i = 0; i < m->npaths; i++) {
        Path *p = &m->path[i];
        add_path(a, list, m->memory[p->from].name, m->memory[p->to].name, p);
        if (machine_path(m, p->to, p->from) == i)
            add_path(a, list, m->memory[p->to].name, m->memory[p->from].name, p);
    }
}

static void add_unit(Arena *a, Numbers *list, Machine *m, UnitKind kind)
{
    MachineUnit *u = &m->unit[kind];
    const char *name = machine_unit_names()[kind];
    add_small(a, list, arena_printf(a, "%s.queue", name), &u->queue);
    add(a, list, arena_printf(a, "%s.latency", name), &u->latency, MEASURE_COUNT, 0);
    if (kind == UNIT_VECTOR)
        add(a, list, arena_printf(a, "%s.width", name), &u->width, MEASURE_BYTES, 1);
    else if (kind != UNIT_SCALAR)
        add(a, list, arena_printf(a, "%s.most", name), &u->most, kind == UNIT_CUBE ? MEASURE_COUNT : MEASURE_BYTES, 1);
    for (int i = 0; i < u->nports; i++)
        add(a, list, arena_printf(a, "%s.%s.width", name, m->memory[u->port[i].memory].name), &u->port[i].width, MEASURE_BYTES, 1);
}

static Numbers numbers_of(Arena *a, Machine *m)
{
    Numbers list = { 0 };
    for (int i = 0; i < m->nmemories; i++)
        add(a, &list, arena_printf(a, "%s.size", m->memory[i].name), &m->memory[i].bytes, MEASURE_BYTES, 1);
    if (!m->emits_bundles)
        return list;
    add(a, &list, "clock", &m->hertz, MEASURE_CLOCK, 1);
    add_small(a, &list, "clusters", &m->clusters);
    add_small(a, &list, "cores", &m->cores);
    add(a, &list, "dispatch", &m->dispatch, MEASURE_COUNT, 0);
    add_paths(a, &list, m);
    for (int kind = 0; kind < UNIT_KINDS; kind++)
        if (m->unit[kind].present)
            add_unit(a, &list, m, (UnitKind)kind);
    return list;
}

static const Number *find(const Numbers *list, const char *name)
{
    for (int i = 0; i < list->n; i++)
        if (strcmp(list->at[i].name, name) == 0)
            return &list->at[i];
    return NULL;
}

static const char *unknown(Arena *a, const Machine *m, const Numbers *list, const char *name)
{
    Closest c = closest_start(name);
    for (int i = 0; i < list->n; i++)
        closest_consider(&c, list->at[i].name);
    return arena_printf(a, "--machine-set: %s has no number `%s`%s%s%s", m->name, name, c.best ? "; did you mean `" : "", c.best ? c.best : "", c.best ? "`?" : "");
}

// "128KiB": the unit follows without a blank. -1: it is none.
static int64_t value_of(const char *text, Measure measure)
{
    size_t digits = strspn(text, "0123456789");
    int64_t scale = measure_scale(measure, text + digits), v = digits > 0 && digits < 19 ? strtoll(text, NULL, 10) : -1;
    return scale && v >= 0 && v <= measure_most(measure) ? v * scale : -1;
}

static bool set_one(Arena *a, Machine *m, const Numbers *list, const char *text, const char **error)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        *error = arena_printf(a, "--machine-set needs NAME=VALUE, not '%s'", text);
        return false;
    }
    const char *name = arena_strndup(a, text, (size_t)(equals - text));
    const Number *n = find(list, name);
    int64_t v = n ? value_of(equals + 1, n->measure) : -1;
    if (!n)
        *error = unknown(a, m, list, name);
    else if (v < 0)
        *error = arena_printf(a, "--machine-set: `%s`: %s was expected", text, measure_name(n->measure));
    else if (v < n->least)
        *error = arena_printf(a, "--machine-set: `%s`: it must be at least %lld", text, (long long)n->least);
    else if (n->small)
        *n->small = (int)v;
    else
        *n->large = v;
    return n && v >= n->least;
}

bool machine_set(Arena *a, Machine *m, const char *set, const char **error)
{
    Numbers list = numbers_of(a, m);
    char *rest = arena_strdup(a, set);
    for (char *text; (text = strsep(&rest, ","));)
        if (!set_one(a, m, &list, text, error))
            return false;
    m->set = arena_strdup(a, set);
    return true;
}
