// faults: what the message of a run-time fault says.
//
// An operation that can fault gets the context, the number of its site, the equation with its place in the source, and the
// subscripts of the element being computed. The subscripts are used only when there is a fault, so they cost nothing before.
// Inside of `quiet` the context is NULL: the operation gives 0, and nothing is recorded. Test: tests/golden/faults/needed.pto
#include "emit/c.h"

static Range range_of(const Emit *e, const Expr *x)
{
    return x->range.end ? x->range : e->op->eq->range;
}

// The place in the source: the same for all copies of an operation, so that of several faults the same one is reported
// however loops are unrolled.
static uint32_t site(const Emit *e, const Expr *x) { return range_of(e, x).begin; }

static const char *element_name(const Emit *e) { return e->op->tensor->name; }

const char *c_fault_place(Emit *e, const Expr *x)
{
    if (e->quiet)
        return "NULL, 0, NULL";
    if (!e->op)                                         // of the kernel as a whole: on entry
        return arena_printf(e->a, "%s, %d, \"division\"", name_symbol(e, "ctx"), e->sites++);
    Position p = e->o->sources ? source_position(e->o->sources, range_of(e, x).begin) : (Position){ 0 };
    const char *name = element_name(e);
    if (p.file)
        name = arena_printf(e->a, "%s:%d:%d: %s", e->o->source_name, p.line, p.column, name);
    return arena_printf(e->a, "%s, %u, \"%s\"", name_symbol(e, "ctx"), site(e, x), c_string(e->a, name));
}

typedef struct { const Emit *e; bool unknown; } Unbound;

static bool see_index(Expr *x, void *data)
{
    Unbound *u = data;
    bool known = x->op != OP_INDEX;
    for (int i = 0; i < u->e->bound.n && !known; i++)
        known = u->e->bound.at[i].index == x->index;
    for (int i = 0; i < u->e->outer.n && !known; i++)
        known = u->e->outer.at[i].index == x->index;
    u->unknown = u->unknown || !known;
    return true;
}

// On entry of a loop: does the element depend on one that is still to come?
static bool is_to_come(const Emit *e, Expr *sub)
{
    Unbound u = { e, false };
    expr_walk(sub, see_index, &u);
    return u.unknown;
}

// The left subscripts; none where they are computed from data.
const char *c_fault_element(Emit *e)
{
    const Node *n = e->op;
    if (!n || n->tensor->rank == 0 || e->quiet)
        return "PTO_AT0";
    for (int d = 0; d < n->tensor->rank; d++)
        if (c_subscript_is_data(n->subs[d]) || is_to_come(e, n->subs[d]))
            return "PTO_AT0";
    const char *text = arena_printf(e->a, "PTO_AT%d(", n->tensor->rank);
    for (int d = 0; d < n->tensor->rank; d++)
        text = arena_printf(e->a, "%s%s%s", text, d ? ", " : "", c_index(e, n->subs[d]));
    return arena_printf(e->a, "%s)", text);
}

const char *c_fault_check(Emit *e, const Expr *x, const char *code)
{
    return arena_printf(e->a, "pto_needed(%s, %u, \"%s\", \"%s\", %s, %s)", name_symbol(e, "ctx"), site(e, x), c_string(e->a, e->o->source_name),
                        c_string(e->a, element_name(e)), code, c_fault_element(e));
}
