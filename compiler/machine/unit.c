// unit: `unit cube { shape 4 x 4 x 1 { inputs = f16; accumulates = f32; } ... }`: which fields each kind of unit has, and
// which of them it needs. Test: tests/unit/test_machine.c
#include "machine/field.h"

#include <string.h>

static const char *const names[] = {
    [UNIT_CUBE] = "cube", [UNIT_VECTOR] = "vector", [UNIT_LOAD] = "load", [UNIT_STORE] = "store", [UNIT_DMA] = "dma", [UNIT_SCALAR] = "scalar", NULL,
};

const char *const *machine_unit_names(void) { return names; }

static bool is_transfer(UnitKind kind) { return kind == UNIT_LOAD || kind == UNIT_STORE || kind == UNIT_DMA; }

// ---- shapes ----

static DType read_type(Description *d, const TreeDirective *f, TreeWords words)
{
    DType t = DT_COUNT;
    const char *name = value_name(words);
    if (!name || !dtype_parse(name, &t))
        field_fail(d, f, "the name of a type was expected");
    return t;
}

// The types share the rest of the shape.
typedef struct { CubeShape shape; int ninputs; DType inputs[DT_COUNT]; } Shapes;

static void read_shape_field(Description *d, const TreeDirective *f, void *to)
{
    Shapes *s = to;
    TreeWords words = field_words(f);
    if (field_is(f, "inputs")) {
        if (words.n == 0 || words.n > DT_COUNT)
            field_fail(d, f, "names of types were expected");
        s->ninputs = words.n < DT_COUNT ? words.n : DT_COUNT;
        for (int i = 0; i < s->ninputs; i++)
            s->inputs[i] = read_type(d, f, value_slice(words, i, i + 1));
    } else if (field_is(f, "accumulates"))
        s->shape.accumulates = read_type(d, f, words);
    else if (field_is(f, "passes"))
        s->shape.passes = field_number(d, f, MEASURE_COUNT, 1);
    else
        field_fail(d, f, "unknown");
}

static bool is_times(TreeWords words, int at)
{
    const char *name = value_name(value_slice(words, at, at + 1));
    return name && strcmp(name, "x") == 0;
}

// 4 x 4 x 1
static bool read_extents(Description *d, const TreeDirective *f, CubeShape *s)
{
    TreeWords words = field_words(f);
    int64_t *extents[] = { &s->m, &s->n, &s->k };
    bool right = words.n == 5 && is_times(words, 1) && is_times(words, 3);
    for (int i = 0; right && i < 3; i++)
        *extents[i] = value_number(d, f, value_slice(words, 2 * i, 2 * i + 1), MEASURE_COUNT, 1);
    if (!right)
        field_fail(d, f, "`shape M x N x K` was expected");
    return right && !d->error;
}

static void add_shape(Description *d, const TreeDirective *f, MachineUnit *u, CubeShape s)
{
    for (int i = 0; i < u->nshapes; i++)
        if (u->shape[i].inputs == s.inputs)
            field_fail(d, f, "`%s` has two shapes", dtype_name(s.inputs));
    if (u->nshapes == MACHINE_MAX_SHAPES)
        field_fail(d, f, "too many types of inputs");
    else
        u->shape[u->nshapes++] = s;
}

static void read_shape(Description *d, const TreeDirective *f, MachineUnit *u)
{
    Shapes s = { .shape = { .accumulates = DT_COUNT, .passes = 1 } };
    if (!read_extents(d, f, &s.shape))
        return;
    field_each(d, f, read_shape_field, &s);
    if (s.ninputs == 0 || s.shape.accumulates == DT_COUNT)
        field_fail(d, f, "it has no `%s`", s.ninputs == 0 ? "inputs" : "accumulates");
    for (int i = 0; i < s.ninputs && !d->error; i++) {
        s.shape.inputs = s.inputs[i];
        add_shape(d, f, u, s.shape);
    }
}

// ---- ports and costs ----

// port = L0 512 B;
static void read_port(Description *d, const TreeDirective *f, MachineUnit *u)
{
    TreeWords words = field_words(f);
    int memory = value_memory(d, f, value_slice(words, 0, 1));
    for (int i = 0; i < u->nports; i++)
        if (memory >= 0 && u->port[i].memory == memory)
            field_fail(d, f, "a second port to one memory");
    if (u->nports == MACHINE_MAX_PORTS)
        field_fail(d, f, "too many ports");
    else
        u->port[u->nports++] = (UnitPort){ .memory = memory, .width = value_number(d, f, value_slice(words, 1, words.n), MEASURE_BYTES, 1) };
}

// The operation of that name, if it computes an element from elements.
static Op operation(const char *name)
{
    for (int op = 0; name && op < OP_COUNT; op++)
        if (strcmp(op_name((Op)op), name) == 0 && op_class((Op)op) != OPC_LEAF && op_class((Op)op) != OPC_NEST)
            return (Op)op;
    return OP_COUNT;
}

// cost exp = 8, log = 8;
static void read_cost(Description *d, const TreeDirective *f)
{
    for (int i = 0; i < f->clauses.n; i++) {
        const TreeClause *c = &f->clauses.at[i];
        Op op = operation(c->key);
        if (op == OP_COUNT)
            field_fail(d, f, c->key ? "no operation is called `%s`" : "`cost OPERATION = CYCLES` was expected", c->key);
        else
            d->m->cost[op] = value_number(d, f, c->words, MEASURE_COUNT, 1);
    }
}

int64_t machine_cost(const Machine *m, const char *name)
{
    Op op = operation(name);
    return op != OP_COUNT && m->cost[op] > 0 ? m->cost[op] : 1;
}

// ---- units ----

static bool read_operand(Description *d, const TreeDirective *f, UnitKind kind, MachineUnit *u)
{
    int *to = kind == UNIT_CUBE ? field_is(f, "a") ? &u->memory_a : field_is(f, "b") ? &u->memory_b : field_is(f, "c") ? &u->memory_c : NULL
            : !is_transfer(kind) && field_is(f, "memory") ? &u->memory : NULL;
    if (to)
        *to = value_memory(d, f, field_words(f));
    return to != NULL;
}

static void read_unit_field(Description *d, const TreeDirective *f, void *to)
{
    MachineUnit *u = to;
    UnitKind kind = (UnitKind)(u - d->m->unit);
    if (read_operand(d, f, kind, u))
        return;
    if (field_is(f, "queue"))
        u->queue = field_count(d, f, 1);
    else if (field_is(f, "latency"))
        u->latency = field_number(d, f, MEASURE_COUNT, 0);
    else if (field_is(f, "most") && (kind == UNIT_CUBE || is_transfer(kind)))
        u->most = field_number(d, f, kind == UNIT_CUBE ? MEASURE_COUNT : MEASURE_BYTES, 1);
    else if (field_is(f, "width") && kind == UNIT_VECTOR)
        u->width = field_number(d, f, MEASURE_BYTES, 1);
    else if (field_is(f, "shape") && kind == UNIT_CUBE)
        read_shape(d, f, u);
    else if (field_is(f, "port") && (kind == UNIT_CUBE || kind == UNIT_VECTOR))
        read_port(d, f, u);
    else if (field_is(f, "cost") && kind == UNIT_VECTOR)
        read_cost(d, f);
    else
        field_fail(d, f, "unknown");
}

static const char *missing(UnitKind kind, const MachineUnit *u)
{
    if (kind == UNIT_CUBE)
        return u->nshapes == 0 ? "shape" : u->memory_a < 0 ? "a" : u->memory_b < 0 ? "b" : u->memory_c < 0 ? "c" : NULL;
    if (kind == UNIT_VECTOR)
        return u->width == 0 ? "width" : u->memory < 0 ? "memory" : NULL;
    return NULL;
}

void machine_read_unit(Description *d, const TreeDirective *f)
{
    int kind = value_choice(d, f, field_words(f), names);
    if (kind < 0)
        return;
    MachineUnit *u = &d->m->unit[kind];
    if (u->present)
        field_fail(d, f, "declared twice");
    *u = (MachineUnit){ .present = true, .queue = 1, .memory = kind == UNIT_SCALAR ? 0 : -1, .memory_a = -1, .memory_b = -1, .memory_c = -1 };
    field_each(d, f, read_unit_field, u);
    const char *lacks = missing((UnitKind)kind, u);
    if (lacks)
        field_fail(d, f, "it has no `%s`", lacks);
}
