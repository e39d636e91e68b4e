// steps: deep expressions.
//
// Clang refuses more than 256 brackets within one another, and a sum of 256 terms has as many. An expression that is deeper
// than DEEP is written as a statement expression, its lower parts in variables: `({ float q0 = ...; float q1 = q0 + ...; q1; })`.
// Only what is evaluated whenever the expression is goes into a variable, so that an `if` still guards what is below it;
// index arithmetic is looked at as a whole (exact.c) and stays so.
// Test: tests/golden/faults/deep.pto
#include "emit/c.h"

enum { DEEP = 40 };

// What is held in all lanes has one of them for scalar code: that of the loop over lanes, or any where they are the same.
static const char *held_value(const Emit *e, const Expr *x, bool vector)
{
    for (int i = e->held.n - 1; i >= 0; i--) {
        const Held *h = &e->held.at[i];
        if (h->x == x && h->vector == vector)
            return h->name;
        if (h->x == x && h->vector)
            return arena_printf(e->a, x->type == DT_BOOL ? "(%s[%s] != 0)" : "%s[%s]", h->name, e->vec && e->vec->lane ? "l" : "0");
    }
    return NULL;
}

// Down to what is held.
static bool is_deeper(const Emit *e, const Expr *x, int than)
{
    if (than == 0)
        return true;
    if (x->op == OP_READ)
        return false;                                   // (subscripts are index arithmetic, which is simplified)
    for (int i = 0; i < e->held.n; i++)
        if (e->held.at[i].x == x)
            return false;
    for (int i = 0; i < x->n; i++)
        if (is_deeper(e, x->args[i], than - 1))
            return true;
    return false;
}

// The operand that is deep, among those that are always evaluated, or NULL.
static const Expr *deep_operand(const Emit *e, const Expr *x)
{
    if (x->op == OP_QUIET || x->op == OP_CHECK || op_class(x->op) == OPC_FAULT)
        return NULL;                                    // what is below may be written in another way there
    bool first_only = x->op == OP_SELECT || x->op == OP_AND || x->op == OP_OR;
    for (int i = 0; i < (first_only && x->n ? 1 : x->n); i++)
        if (x->args[i]->type != DT_INDEX && is_deeper(e, x->args[i], DEEP))
            return x->args[i];
    return NULL;
}

const char *c_in_steps(Emit *e, const Expr *x, Write *write, Write *type, bool vector)
{
    const char *held = held_value(e, x, vector);
    if (held)
        return held;
    if (x->op == OP_READ || x->type == DT_INDEX || !is_deeper(e, x, DEEP))
        return write(e, x);
    VEC(const Expr *) spine = { 0 };
    for (const Expr *down = deep_operand(e, x); down; down = deep_operand(e, down))
        VEC_PUSH(e->a, &spine, down);
    const char *steps = "";
    int before = e->held.n;
    for (int i = spine.n - 1; i >= 0; i--) {
        if (i % (DEEP / 2) != 0)
            continue;
        const char *name = arena_printf(e->a, "q%d", e->temps++), *value = write(e, spine.at[i]);
        steps = arena_printf(e->a, "%sconst %s %s = %s; ", steps, type(e, spine.at[i]), name, value);
        VEC_PUSH(e->a, &e->held, ((Held){ spine.at[i], name, vector }));
    }
    const char *value = write(e, x);
    e->held.n = before;
    return *steps ? arena_printf(e->a, "__extension__({ %s%s; })", steps, value) : value;
}
