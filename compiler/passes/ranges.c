// ranges: conditions become index ranges (see ranges.h).
//
// A comparison is brought to the form c x + rest (op) 0, where x is the last index that occurs in it; with c = 1 or -1 it
// bounds x by dims and earlier indices, which is what a range may use. What has another form stays a condition. So a
// triangle reads as one, loops need no guards, and most leaves get their loops without asking isl.
// Test: tests/unit/test_sema.c, tests/run
#include "passes/ranges.h"

#include "passes/plan.h"

void ranges_own_indices(Arena *a, Equation *eq)
{
    int m = eq->indices.n;
    Index **from = ARENA_ARRAY(a, Index *, m + 1);
    Expr **to = ARENA_ARRAY(a, Expr *, m + 1);
    for (int i = 0; i < m; i++) {
        Index *old = eq->indices.at[i], *index = ARENA_NEW(a, Index);
        *index = *old;
        index->lo = expr_substitute(a, old->lo, i, from, to);
        index->hi = expr_substitute(a, old->hi, i, from, to);
        from[i] = old;
        to[i] = expr_index(a, index, old->range);
    }
    Expr **subs = ARENA_ARRAY(a, Expr *, eq->lhs->rank + 1);
    for (int d = 0; d < eq->lhs->rank; d++)
        subs[d] = expr_substitute(a, eq->subs[d], m, from, to);
    eq->subs = subs;
    eq->rhs = expr_substitute(a, eq->rhs, m, from, to);
    for (int i = 0; i < eq->conds.n; i++)
        eq->conds.at[i] = expr_substitute(a, eq->conds.at[i], m, from, to);
    eq->indices.at = ARENA_ARRAY(a, Index *, m + 1);
    for (int i = 0; i < m; i++)
        eq->indices.at[i] = to[i]->index;
}

// Is `e` an index that ends (or starts) where `x` does, plus a constant that keeps it inside?
static bool implied(const Expr *e, const Index *x, bool upper)
{
    int64_t c = 0;
    if ((e->op == OP_ADD || e->op == OP_SUB) && e->args[1]->op == OP_CONST) {
        c = e->op == OP_ADD ? e->args[1]->i : -e->args[1]->i;
        e = e->args[0];
    }
    if (e->op != OP_INDEX || !e->index->lo || !e->index->hi)
        return false;
    return upper ? c <= 1 && expr_equal(e->index->hi, x->hi) : c >= 0 && expr_equal(e->index->lo, x->lo);
}

static void tighten(Arena *a, Index *x, Expr *bound, bool upper)
{
    bound = expr_simplify(a, bound);
    Expr **at = upper ? &x->hi : &x->lo;
    *at = implied(bound, x, upper) ? bound : expr_simplify(a, expr_binary(a, upper ? OP_MIN : OP_MAX, DT_INDEX, *at, bound));
}

// c x + rest (op) 0 as a bound of x, the last index that occurs; false: not of that form.
static bool fold_comparison(Arena *a, int count, Index *const *indices, int changeable, Expr *cond)
{
    Op op = cond->op;
    Expr *x = cond->args[0], *y = cond->args[1];
    if (op == OP_GT || op == OP_GE) {
        Expr *t = x;
        x = y;
        y = t;
        op = op == OP_GT ? OP_LT : OP_LE;
    }
    if ((op != OP_LT && op != OP_LE && op != OP_EQ) || x->type != DT_INDEX || y->type != DT_INDEX)
        return false;
    Expr *d = expr_binary(a, OP_SUB, DT_INDEX, x, y), *zero = expr_int(a, DT_INDEX, 0, cond->range), *one = expr_int(a, DT_INDEX, 1, cond->range);
    int last = count - 1;
    while (last >= 0 && !expr_uses(d, indices[last]))
        last--;
    int64_t c;
    if (last < changeable || !stride_coefficient(d, indices[last], &c) || (c != 1 && c != -1))
        return false;
    Index *index = indices[last];
    Expr *rest = expr_simplify(a, expr_substitute(a, d, 1, &index, &zero));
    for (int i = 0; i < last; i++) {
        int64_t unused;
        if (!stride_coefficient(rest, indices[i], &unused))
            return false;
    }
    Expr *value = c > 0 ? expr_unary(a, OP_NEG, DT_INDEX, rest) : rest;              // where c x + rest = 0
    Expr *above = expr_binary(a, OP_ADD, DT_INDEX, value, one);
    if (op == OP_EQ || c < 0)
        tighten(a, index, op == OP_LT ? above : value, false);
    if (op == OP_EQ || c > 0)
        tighten(a, index, op == OP_LT ? value : above, true);
    return true;
}

static bool fold_condition(Arena *a, int count, Index *const *indices, int changeable, Expr *cond)
{
    return op_arity(cond->op) == 2 && op_class(cond->op) == OPC_COMPARE && fold_comparison(a, count, indices, changeable, cond);
}

typedef VEC(Expr *) Conditions;

static void split_conjunction(Arena *a, Expr *cond, Conditions *out)
{
    if (cond->op == OP_AND) {
        split_conjunction(a, cond->args[0], out);
        split_conjunction(a, cond->args[1], out);
    } else {
        VEC_PUSH(a, out, cond);
    }
}

void ranges_fold_conditions(Arena *a, Equation *eq)
{
    Conditions all = { 0 };
    for (int i = 0; i < eq->conds.n; i++)
        split_conjunction(a, eq->conds.at[i], &all);
    eq->conds.at = NULL;
    eq->conds.n = eq->conds.cap = 0;
    for (int i = 0; i < all.n; i++)
        if (!fold_condition(a, eq->indices.n, eq->indices.at, 0, all.at[i]))
            VEC_PUSH(a, &eq->conds, all.at[i]);
}

void ranges_fold_guards(Arena *a, Equation *eq)
{
    Index *indices[64];
    int count = 0;
    for (int i = 0; i < eq->indices.n; i++)
        indices[count++] = eq->indices.at[i];
    for (int i = 0; i < eq->nest->indices.n; i++)
        indices[count++] = eq->nest->indices.at[i];
    Conditions all = { 0 };
    for (int i = 0; i < eq->nest->conds.n; i++)
        split_conjunction(a, eq->nest->conds.at[i], &all);
    eq->nest->conds.at = NULL;
    eq->nest->conds.n = eq->nest->conds.cap = 0;
    for (int i = 0; i < all.n; i++)
        if (!fold_condition(a, count, indices, eq->indices.n, all.at[i]))
            VEC_PUSH(a, &eq->nest->conds, all.at[i]);
}
