// machine: an accelerator's description as the table that the runtime's model runs by (ptort/model.h).
//
// Fields have the same names and order there as in Machine; what is 0 is left out. Test: tests/unit/test_machine.c
#include "emit/c.h"

#include "ptort/model.h"

#include <inttypes.h>

_Static_assert((int)MACHINE_MAX_MEMORIES <= (int)PTO_MAX_MEMORIES && (int)MACHINE_MAX_PATHS <= (int)PTO_MAX_PATHS, "tables that the runtime cannot hold");
_Static_assert((int)MACHINE_MAX_SHAPES <= (int)PTO_MAX_SHAPES && (int)MACHINE_MAX_PORTS <= (int)PTO_MAX_PORTS, "tables that the runtime cannot hold");

static const char *shared_name(Shared shared)
{
    static const char *const names[] = { [SHARED_CORE] = "PTO_SHARED_CORE", [SHARED_CLUSTER] = "PTO_SHARED_CLUSTER", [SHARED_CHIP] = "PTO_SHARED_CHIP" };
    return names[shared];
}

static void number(FILE *out, const char *field, int64_t value)
{
    if (value != 0)
        fprintf(out, ", .%s = %" PRId64, field, value);
}

static void emit_memories(FILE *out, const Machine *m)
{
    fprintf(out, "    .memory = {\n");
    for (int i = 0; i < m->nmemories; i++) {
        const Memory *x = &m->memory[i];
        fprintf(out, "        { .name = \"%s\", .bytes = %" PRId64 ", .shared = %s", x->name, x->bytes, shared_name(x->shared));
        number(out, "backing", x->backing);
        fprintf(out, " },\n");
    }
    fprintf(out, "    },\n");
}

static void emit_paths(FILE *out, const Machine *m)
{
    if (m->npaths == 0)
        return;
    fprintf(out, "    .path = {\n");
    for (int i = 0; i < m->npaths; i++) {
        const Path *p = &m->path[i];
        fprintf(out, "        { .from = %d, .to = %d", p->from, p->to);
        number(out, "both", p->both);
        number(out, "width", p->width);
        number(out, "latency", p->latency);
        number(out, "burst", p->burst);
        fprintf(out, ", .shared = %s },      // %s to %s\n", shared_name(p->shared), m->memory[p->from].name, m->memory[p->to].name);
    }
    fprintf(out, "    },\n");
}

static void emit_shapes(FILE *out, Arena *a, const MachineUnit *u)
{
    if (u->nshapes == 0)
        return;
    fprintf(out, "            .nshapes = %d, .shape = {\n", u->nshapes);
    for (int i = 0; i < u->nshapes; i++) {
        const CubeShape *s = &u->shape[i];
        fprintf(out, "                { .inputs = %s, .accumulates = %s", c_dtype(a, s->inputs), c_dtype(a, s->accumulates));
        number(out, "m", s->m);
        number(out, "n", s->n);
        number(out, "k", s->k);
        number(out, "passes", s->passes);
        fprintf(out, " },\n");
    }
    fprintf(out, "            },\n");
}

static void emit_ports(FILE *out, const MachineUnit *u)
{
    if (u->nports == 0)
        return;
    fprintf(out, "            .nports = %d, .port = {", u->nports);
    for (int i = 0; i < u->nports; i++)
        fprintf(out, "%s{ .memory = %d, .width = %" PRId64 " }", i ? ", " : " ", u->port[i].memory, u->port[i].width);
    fprintf(out, " },\n");
}

static void emit_unit(FILE *out, Arena *a, const MachineUnit *u, UnitKind kind)
{
    static const char *const slots[] = {
        [UNIT_CUBE] = "PTO_CUBE", [UNIT_VECTOR] = "PTO_VECTOR", [UNIT_LOAD] = "PTO_LOAD", [UNIT_STORE] = "PTO_STORE", [UNIT_DMA] = "PTO_DMA", [UNIT_SCALAR] = "PTO_SCALAR",
    };
    fprintf(out, "        [%s] = {\n            .present = 1, .queue = %d", slots[kind], u->queue);
    number(out, "latency", u->latency);
    number(out, "most", u->most);
    number(out, "width", u->width);
    fprintf(out, ",\n");
    emit_shapes(out, a, u);
    emit_ports(out, u);
    fprintf(out, "        },\n");
}

void emit_c_machine(FILE *out, const Machine *m)
{
    Arena *a = arena_new();
    fprintf(out, "static const pto_machine ptoc_%s_machine = {\n", c_identifier(a, m->name));
    fprintf(out, "    .name = \"%s\", .hertz = %" PRId64 ", .clusters = %d, .cores = %d", m->name, m->hertz, m->clusters, m->cores);
    number(out, "dispatch", m->dispatch);
    fprintf(out, ",\n    .nmemories = %d, .npaths = %d,\n", m->nmemories, m->npaths);
    emit_memories(out, m);
    emit_paths(out, m);
    fprintf(out, "    .unit = {\n");
    for (int kind = 0; kind < UNIT_KINDS; kind++)
        if (m->unit[kind].present)
            emit_unit(out, a, &m->unit[kind], (UnitKind)kind);
    fprintf(out, "    },\n};\n");
    arena_free(a);
}
