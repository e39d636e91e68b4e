// Linear forms: coefficients and extremes of index arithmetic, by syntax.
//
// Subscripts are nearly always sums of indices with constant factors over rectangular ranges. Their extremes are found
// by putting each index at the end of its range that its sign asks for, innermost first because a range may use
// outer indices: exact for such forms, and far cheaper than integer sets, which sema and the proofs keep for the rest.
//
// Test: tests/unit/test_sema.c
#include "ir/linear.h"

enum { MOST_INDICES = 32 };

Expr *linear_add(Arena *a, Expr *x, int64_t c)
{
    return expr_simplify(a, expr_binary(a, OP_ADD, DT_INDEX, x, expr_int(a, DT_INDEX, c, x->range)));
}

static int64_t product(const Expr *e, const Index *index, bool *linear)
{
    const Expr *x = e->args[0], *y = e->args[1];
    const Expr *constant = x->op == OP_CONST ? x : y, *other = x->op == OP_CONST ? y : x;
    int64_t c = 0;
    if (constant->op != OP_CONST) {
        if (expr_uses(e, index)) *linear = false;
    } else if (__builtin_mul_overflow(constant->i, linear_coefficient(other, index, linear), &c)) {
        *linear = false;
    }
    return c;
}

int64_t linear_coefficient(const Expr *e, const Index *index, bool *linear)
{
    int64_t c = 0;
    switch ((int)e->op) {
    case OP_INDEX: return e->index == index;
    case OP_CONST: case OP_DIM: return 0;
    case OP_ADD:
        if (__builtin_add_overflow(linear_coefficient(e->args[0], index, linear), linear_coefficient(e->args[1], index, linear), &c)) *linear = false;
        return c;
    case OP_SUB:
        if (__builtin_sub_overflow(linear_coefficient(e->args[0], index, linear), linear_coefficient(e->args[1], index, linear), &c)) *linear = false;
        return c;
    case OP_NEG:
        if (__builtin_sub_overflow((int64_t)0, linear_coefficient(e->args[0], index, linear), &c)) *linear = false;
        return c;
    case OP_MUL: return product(e, index, linear);
    default:
        if (expr_uses(e, index)) *linear = false;
        return 0;
    }
}

// ---- extremes ----

typedef struct {
    Index *at[MOST_INDICES];
    int n;
    bool full;
    const Index *keep;
} Used;

static bool collect(Expr *e, void *data)
{
    Used *u = data;
    if (e->op != OP_INDEX || e->index == u->keep) return true;
    for (int i = 0; i < u->n; i++)
        if (u->at[i] == e->index) return true;
    if (u->n == MOST_INDICES) u->full = true;
    else u->at[u->n++] = e->index;
    return true;
}

static bool needed_by_another(const Used *u, const Index *index)
{
    for (int i = 0; i < u->n; i++)
        if (u->at[i] != index && (expr_uses(u->at[i]->lo, index) || expr_uses(u->at[i]->hi, index))) return true;
    return false;
}

Expr *linear_extreme(Arena *a, Expr *e, const Index *keep, bool greatest)
{
    for (;;) {
        Used u = {.keep = keep};
        expr_walk(e, collect, &u);
        if (u.n == 0 && !u.full) return e;
        for (int i = 0; i < u.n; i++)
            if (!u.at[i]->lo) return NULL;
        int pick = 0;
        while (pick < u.n && needed_by_another(&u, u.at[pick])) pick++;
        if (pick == u.n || u.full) return NULL;
        bool linear = true;
        int64_t c = linear_coefficient(e, u.at[pick], &linear);
        if (!linear) return NULL;
        Expr *to = (c > 0) == greatest ? linear_add(a, u.at[pick]->hi, -1) : u.at[pick]->lo;
        e = expr_simplify(a, expr_substitute(a, e, 1, &u.at[pick], &to));
    }
}

bool linear_at_most(Arena *a, Expr *x, Expr *y)
{
    Expr *c = expr_simplify(a, expr_binary(a, OP_LE, DT_BOOL, x, y));
    return c->op == OP_CONST && c->i != 0;
}
