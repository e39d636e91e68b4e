// check: what follows from the fields of a description as a whole, and that an accelerator has all that it needs.
// Test: tests/unit/test_machine.c
#include "machine/field.h"

enum { MOST_CORES = 4096 };       // PTO_MAX_WORKERS of the runtime

static void fail(Description *d, const char *field, const char *what)
{
    if (!d->error)
        d->error = arena_printf(d->a, "%s: machine field `%s`: %s", d->path, field, what);
}

// ---- what follows ----

static void add_tiers(Machine *m, Shared shared)
{
    for (int i = 0; i < m->nmemories; i++) {
        const Memory *x = &m->memory[i];
        bool tensors = m->emits_bundles && (i == 0 || x->backing);
        if (!tensors && (!m->emits_bundles || x->shared == shared))
            m->tier[m->ntiers++] = (Tier){ .name = x->name, .bytes = x->bytes, .per_core = x->shared == SHARED_CORE };
    }
}

// A CPU's in the order in which they are declared.
static void find_tiers(Machine *m)
{
    m->ntiers = 0;
    for (int shared = SHARED_CORE; shared <= (m->emits_bundles ? SHARED_CHIP : SHARED_CORE); shared++)
        add_tiers(m, (Shared)shared);
}

// ---- what must be there ----

static void check_memories(Description *d)
{
    const Machine *m = d->m;
    if (m->nmemories == 0)
        fail(d, "memory", "there is none");
    for (int i = 0; i < m->nmemories; i++) {
        const char *title = arena_printf(d->a, "memory %s", m->memory[i].name);
        if (i == 0 && m->memory[i].shared != SHARED_CHIP)
            fail(d, title, "the first one is behind all others: `shared = chip` was expected");
        if (m->memory[i].backing && (i == 0 || m->memory[i].shared != SHARED_CHIP))
            fail(d, title, i == 0 ? "the first one is behind all others: it is not `backing`" : "tensors lie in it: `shared = chip` was expected");
    }
}

static void check_operand(Description *d, UnitKind kind, int memory)
{
    const Machine *m = d->m;
    if (m->unit[kind].present && (memory == 0 || m->memory[memory].backing))
        fail(d, arena_printf(d->a, "unit %s", machine_unit_names()[kind]), arena_printf(d->a, "it cannot reach `%s`, where tensors lie", m->memory[memory].name));
}

static void check_units(Description *d)
{
    const MachineUnit *cube = &d->m->unit[UNIT_CUBE];
    if (!d->m->unit[UNIT_SCALAR].present)
        fail(d, "unit scalar", "there is none");
    check_operand(d, UNIT_CUBE, cube->memory_a);
    check_operand(d, UNIT_CUBE, cube->memory_b);
    check_operand(d, UNIT_CUBE, cube->memory_c);
    check_operand(d, UNIT_VECTOR, d->m->unit[UNIT_VECTOR].memory);
}

static void check_paths(Description *d)
{
    const Machine *m = d->m;
    for (int i = 0; i < m->npaths; i++) {
        const Path *p = &m->path[i];
        bool there = m->unit[p->by].present, back = !p->both || m->unit[p->by_back].present;
        if (!there || !back)
            fail(d, arena_printf(d->a, "path %s to %s", m->memory[p->from].name, m->memory[p->to].name),
                 arena_printf(d->a, "there is no unit `%s`", machine_unit_names()[there ? p->by_back : p->by]));
    }
}

static void check_numbers(Description *d)
{
    const Machine *m = d->m;
    if (m->hertz == 0)
        fail(d, "clock", "it is missing");
    if (m->cores == 0)
        fail(d, "cores", "it is missing");
    if ((int64_t)m->cores * m->clusters > MOST_CORES)
        fail(d, "cores", arena_printf(d->a, "%d clusters of %d are more than %d cores", m->clusters, m->cores, MOST_CORES));
}

void machine_finish(Description *d)
{
    Machine *m = d->m;
    if (d->error)
        return;
    if (m->emits_bundles) {
        check_numbers(d);
        check_memories(d);
        if (!d->error)
            check_units(d);
        if (!d->error)
            check_paths(d);
    }
    find_tiers(m);
}
