// lift: nests into equations of their own (see lift.h).
//
// The walk goes from the leaves up; a nest inside a nest becomes an equation over the outer indices and the nest's own.
// Test: tests/golden/passes/normalize.pto, tests/run (every sample goes through it)
#include "passes/lift.h"

// ---- which indices does a nest need -----------------------------------------------------------------------------

static bool nest_uses(Expr *e, const Index *index)
{
    Nest *nest = e->nest;
    if (nest->along == index || expr_uses(e->args[0], index))
        return true;
    for (int i = 0; i < nest->indices.n; i++)
        if (expr_uses(nest->indices.at[i]->lo, index) || expr_uses(nest->indices.at[i]->hi, index))
            return true;
    for (int i = 0; i < nest->conds.n; i++)
        if (expr_uses(nest->conds.at[i], index))
            return true;
    return false;
}

// True when `cond` speaks of used and unused indices alike, or of unused ones in a way that matters.
static bool ties(const Equation *eq, const bool *used, Expr *cond)
{
    for (int i = 0; i < eq->indices.n; i++)
        if (!used[i] && expr_uses(cond, eq->indices.at[i]))
            return true;
    return false;
}

void lift_choose_indices(Lift *n, Expr *nest, bool *used)
{
    const Equation *eq = n->work;
    bool all = false;
    for (int i = 0; i < eq->indices.n; i++)
        used[i] = nest_uses(nest, eq->indices.at[i]);
    for (int i = 0; i < eq->conds.n; i++)
        all = all || ties(eq, used, eq->conds.at[i]);
    for (int i = 0; i < n->refine.n; i++)
        all = all || ties(eq, used, n->refine.at[i]);
    for (int i = 0; i < eq->indices.n; i++)
        if (used[i])
            all = all || ties(eq, used, eq->indices.at[i]->lo) || ties(eq, used, eq->indices.at[i]->hi);
    for (int i = 0; all && i < eq->indices.n; i++)
        used[i] = true;
}

// ---- hidden tensors and their equations ---------------------------------------------------------------------------

static bool over_dims_only(const Equation *eq, Expr *e)
{
    for (int i = 0; i < eq->indices.n; i++)
        if (expr_uses(e, eq->indices.at[i]))
            return false;
    return true;
}

enum { HULL = 200000 };            // operations

// The hull of an index's range, over dims only.
static void index_hull(Lift *n, const Equation *eq, int pos, Expr **lo, Expr **hi)
{
    Index *index = eq->indices.at[pos];
    *lo = index->lo;
    *hi = index->hi;
    if (over_dims_only(eq, index->lo) && over_dims_only(eq, index->hi))
        return;
    PolyIndices ix = { eq->indices.n, eq->indices.at };
    budget_begin_least(n->p->budget, HULL);
    isl_set *box = poly_box(n->p, ix, eq->conds.n, eq->conds.at, NULL);
    isl_pw_aff *min = isl_set_dim_min(isl_set_copy(box), pos), *max = isl_set_dim_max(box, pos);
    PolyIndices none = { 0, NULL };
    Expr *first = poly_expr(n->p, n->a, none, min), *last = poly_expr(n->p, n->a, none, max);
    if (budget_end(n->p->budget) && first && last) {
        *lo = first;
        *hi = expr_simplify(n->a, expr_binary(n->a, OP_ADD, DT_INDEX, last, expr_int(n->a, DT_INDEX, 1, index->range)));
    } else {
        diag_report(n->d, D_UNDECIDED, index->range, "could not decide within the budget over what `%s` runs", index->name);
    }
    isl_pw_aff_free(min);
    isl_pw_aff_free(max);
}

static Tensor *new_hidden(Lift *n, const char *what, DType type, const Equation *eq, Range range)
{
    Tensor *t = ARENA_NEW(n->a, Tensor);
    *t = (Tensor){ .id = n->k->tensors.n, .range = range, .type = type, .kind = TENSOR_HIDDEN, .declared = true, .rank = eq->indices.n };
    t->name = n->nhidden ? arena_printf(n->a, "%s.%s.%d", n->work->name, what, n->nhidden) : arena_printf(n->a, "%s.%s", n->work->name, what);
    n->nhidden++;
    t->lo = ARENA_ARRAY(n->a, Expr *, eq->indices.n + 1);
    t->hi = ARENA_ARRAY(n->a, Expr *, eq->indices.n + 1);
    t->border = ARENA_ARRAY(n->a, Border, eq->indices.n + 1);
    for (int i = 0; i < eq->indices.n; i++)
        index_hull(n, eq, i, &t->lo[i], &t->hi[i]);
    VEC_PUSH(n->a, &n->k->tensors, t);
    return t;
}

void lift_push(Lift *n, Equation *eq)
{
    eq->id = n->k->equations.n;
    VEC_PUSH(n->a, &n->k->equations, eq);
}

Expr *lift_renamed(Lift *n, const Lifted *l, Expr *e)
{
    return expr_substitute(n->a, e, l->n, l->from, l->to);
}

Lifted lift_begin(Lift *n, const bool *used, Range range)
{
    const Equation *work = n->work;
    Lifted l = { ARENA_NEW(n->a, Equation), 0, ARENA_ARRAY(n->a, Index *, work->indices.n + 1), ARENA_ARRAY(n->a, Expr *, work->indices.n + 1) };
    *l.eq = (Equation){ .range = n->eq->range, .lhs_range = range, .origin = n->eq->origin };
    for (int i = 0; i < work->indices.n; i++) {
        if (!used[i])
            continue;
        const Index *old = work->indices.at[i];
        Index *index = ARENA_NEW(n->a, Index);
        *index = (Index){ .name = old->name, .range = old->range };
        index->lo = lift_renamed(n, &l, old->lo);
        index->hi = lift_renamed(n, &l, old->hi);
        VEC_PUSH(n->a, &l.eq->indices, index);
        l.from[l.n] = work->indices.at[i];
        l.to[l.n++] = expr_index(n->a, index, old->range);
    }
    for (int i = 0; i < work->conds.n; i++)
        if (!ties(work, used, work->conds.at[i]))
            VEC_PUSH(n->a, &l.eq->conds, lift_renamed(n, &l, work->conds.at[i]));
    for (int i = 0; i < n->refine.n; i++)
        if (!ties(work, used, n->refine.at[i]))
            VEC_PUSH(n->a, &l.eq->conds, lift_renamed(n, &l, n->refine.at[i]));
    return l;
}

void lift_place(Lift *n, Lifted *l, const char *what, DType type)
{
    l->eq->lhs = new_hidden(n, what, type, l->eq, l->eq->range);
    l->eq->name = l->eq->lhs->name;
    l->eq->subs = ARENA_ARRAY(n->a, Expr *, l->eq->indices.n + 1);
    for (int i = 0; i < l->eq->indices.n; i++)
        l->eq->subs[i] = expr_index(n->a, l->eq->indices.at[i], l->eq->range);
}

void lift_finish(Lift *n, Lifted *l, const char *what, DType type)
{
    lift_place(n, l, what, type);
    lift_push(n, l->eq);
}

Expr *lift_read(Lift *n, const Lifted *l)
{
    Expr **subs = ARENA_ARRAY(n->a, Expr *, l->n + 1);
    for (int i = 0; i < l->n; i++)
        subs[i] = expr_index(n->a, l->from[i], l->eq->range);
    Expr *e = expr_new(n->a, OP_READ, l->eq->lhs->type, l->eq->range, l->n, subs);
    e->tensor = l->eq->lhs;
    return e;
}

Nest *lift_nest(Lift *n, Lifted *l, const Nest *old, ReduceOp op, Lifted *inner)
{
    Nest *nest = ARENA_NEW(n->a, Nest);
    *nest = (Nest){ .op = op, .exclusive = false, .reverse = old->reverse };
    inner->n = 0;
    inner->from = ARENA_ARRAY(n->a, Index *, l->n + old->indices.n + 1);
    inner->to = ARENA_ARRAY(n->a, Expr *, l->n + old->indices.n + 1);
    for (int i = 0; i < l->n; i++, inner->n++) {
        inner->from[i] = l->from[i];
        inner->to[i] = l->to[i];
    }
    for (int i = 0; i < old->indices.n; i++) {
        const Index *was = old->indices.at[i];
        Index *index = ARENA_NEW(n->a, Index);
        *index = (Index){ .name = was->name, .range = was->range, .lo = lift_renamed(n, inner, was->lo), .hi = lift_renamed(n, inner, was->hi) };
        VEC_PUSH(n->a, &nest->indices, index);
        inner->from[inner->n] = old->indices.at[i];
        inner->to[inner->n++] = expr_index(n->a, index, was->range);
    }
    for (int i = 0; i < old->conds.n; i++)
        VEC_PUSH(n->a, &nest->conds, lift_renamed(n, inner, old->conds.at[i]));
    return nest;
}

// ---- scans ----------------------------------------------------------------------------------------------------

static Expr *identity(Lift *n, ReduceOp op, DType type, Range range)
{
    bool f = dtype_is_float(type);
    int bits = dtype_bits(type);
    bool sign = dtype_family(type) == 'I';
    switch (op) {
    case RED_PROD: return f ? expr_float(n->a, type, 1, range) : expr_int(n->a, type, 1, range);
    case RED_ALL: return expr_int(n->a, type, 1, range);
    case RED_MAX:
        return f ? expr_float(n->a, type, -__builtin_inf(), range) : expr_int(n->a, type, sign ? (int64_t)(UINT64_MAX << (bits - 1)) : 0, range);
    case RED_MIN:
        return f ? expr_float(n->a, type, __builtin_inf(), range)
                 : expr_int(n->a, type, fold_wrap_int(type, sign ? (int64_t)((UINT64_C(1) << (bits - 1)) - 1) : -1), range);
    case RED_SUM: case RED_ANY: case RED_MEAN: case RED_ARGMAX: case RED_ARGMIN: break;
    }
    return f ? expr_float(n->a, type, 0, range) : expr_int(n->a, type, 0, range);
}

static bool along_is_cut(const Lift *n, const Index *along)
{
    for (int i = 0; i < n->work->conds.n; i++)
        if (expr_uses(n->work->conds.at[i], along))
            return true;
    for (int i = 0; i < n->refine.n; i++)
        if (expr_uses(n->refine.at[i], along))
            return true;
    return false;
}

// The inclusive value one step behind, or the operator's identity at the first element.
static Expr *exclusive_read(Lift *n, const Nest *nest, Expr *read)
{
    Index *j = nest->along;
    Expr *at = expr_index(n->a, j, read->range), *one = expr_int(n->a, DT_INDEX, 1, read->range);
    Expr *first = nest->reverse ? expr_binary(n->a, OP_SUB, DT_INDEX, j->hi, one) : j->lo;
    Expr *behind = expr_binary(n->a, nest->reverse ? OP_ADD : OP_SUB, DT_INDEX, at, one);
    Expr *shifted = expr_substitute(n->a, read, 1, &j, &behind);
    Expr *inside = expr_binary(n->a, nest->reverse ? OP_LT : OP_GT, DT_BOOL, at, expr_simplify(n->a, first));
    Expr *args[3] = { inside, shifted, identity(n, nest->op, read->type, read->range) };
    return expr_new(n->a, OP_SELECT, read->type, read->range, 3, args);
}

static Expr *lift_scan(Lift *n, Expr *e)
{
    if (along_is_cut(n, e->nest->along)) {
        diag_report(n->d, D_UNSUPPORTED, e->range, "a scan along `%s`, which a condition cuts, is not built yet", e->nest->along->name);
        diag_help(n->d, "give the index its range with `%s in a..b` instead", e->nest->along->name);
        return expr_int(n->a, e->type, 0, e->range);
    }
    bool used[64];
    lift_choose_indices(n, e, used);
    Lifted l = lift_begin(n, used, e->range), inner = { .eq = l.eq };
    l.eq->kind = EQ_SCAN;
    l.eq->nest = lift_nest(n, &l, e->nest, e->nest->op, &inner);
    for (int i = 0; i < l.n; i++)
        if (l.from[i] == e->nest->along)
            l.eq->nest->along = l.to[i]->index;
    l.eq->rhs = lift_renamed(n, &inner, e->args[0]);
    lift_finish(n, &l, "scan", e->args[0]->type);
    Expr *read = lift_read(n, &l);
    return e->nest->exclusive ? exclusive_read(n, e->nest, read) : read;
}

// ---- walking an equation --------------------------------------------------------------------------------------

static void with_condition(Lift *n, Expr *cond, bool holds)
{
    PolyIndices ix = { n->work->indices.n, n->work->indices.at };
    isl_set *s = poly_cond(n->p, ix, cond);
    if (!s) {
        if (holds && cond->op == OP_AND) {
            with_condition(n, cond->args[0], true);
            with_condition(n, cond->args[1], true);
        }
        return;
    }
    isl_set_free(s);
    VEC_PUSH(n->a, &n->refine, holds ? cond : expr_unary(n->a, OP_NOT, DT_BOOL, cond));
}

static Expr *lift_select(Lift *n, Expr *e)
{
    Expr *args[3] = { lift_expr(n, e->args[0]), NULL, NULL };
    int depth = n->refine.n;
    with_condition(n, e->args[0], true);
    args[1] = lift_expr(n, e->args[1]);
    n->refine.n = depth;
    with_condition(n, e->args[0], false);
    args[2] = lift_expr(n, e->args[2]);
    n->refine.n = depth;
    return expr_new(n->a, OP_SELECT, e->type, e->range, 3, args);
}

static bool has_nest_visit(Expr *e, void *data)
{
    bool *found = data;
    *found = *found || e->op == OP_REDUCE || e->op == OP_SCAN;
    return !*found;
}

static bool has_nest(Expr *e)
{
    bool found = false;
    expr_walk(e, has_nest_visit, &found);
    return found;
}

// A nest inside a nest: the inner one becomes an equation over the outer indices and the nest's own.
static Expr *lift_inside_nest(Lift *n, Expr *e)
{
    Equation *outer = n->work, *wider = ARENA_NEW(n->a, Equation);
    *wider = *outer;
    wider->indices.at = NULL;
    wider->indices.n = wider->indices.cap = 0;
    wider->conds.at = NULL;
    wider->conds.n = wider->conds.cap = 0;
    for (int i = 0; i < outer->indices.n; i++)
        VEC_PUSH(n->a, &wider->indices, outer->indices.at[i]);
    for (int i = 0; i < e->nest->indices.n; i++)
        VEC_PUSH(n->a, &wider->indices, e->nest->indices.at[i]);
    for (int i = 0; i < outer->conds.n; i++)
        VEC_PUSH(n->a, &wider->conds, outer->conds.at[i]);
    PolyIndices ix = { wider->indices.n, wider->indices.at };
    for (int i = 0; i < e->nest->conds.n; i++) {
        isl_set *s = poly_cond(n->p, ix, e->nest->conds.at[i]);
        if (s)
            VEC_PUSH(n->a, &wider->conds, e->nest->conds.at[i]);
        isl_set_free(s);
    }
    n->work = wider;
    Expr *body = lift_expr(n, e->args[0]);
    Nest *nest = ARENA_NEW(n->a, Nest);
    *nest = *e->nest;
    nest->conds.at = NULL;
    nest->conds.n = nest->conds.cap = 0;
    for (int i = 0; i < e->nest->conds.n; i++)
        VEC_PUSH(n->a, &nest->conds, lift_expr(n, e->nest->conds.at[i]));
    n->work = outer;
    Expr *copy = expr_new(n->a, e->op, e->type, e->range, 1, &body);
    copy->nest = nest;
    return copy;
}

Expr *lift_expr(Lift *n, Expr *e)
{
    if (!has_nest(e))
        return e;
    if (e->op == OP_SELECT)
        return lift_select(n, e);
    if (e->op == OP_REDUCE || e->op == OP_SCAN) {
        bool inside = has_nest(e->args[0]);
        for (int i = 0; i < e->nest->conds.n; i++)
            inside = inside || has_nest(e->nest->conds.at[i]);
        if (inside)
            e = lift_inside_nest(n, e);
        return e->op == OP_REDUCE ? lift_reduce(n, e) : lift_scan(n, e);
    }
    Expr **args = ARENA_ARRAY(n->a, Expr *, e->n + 1);
    for (int i = 0; i < e->n; i++)
        args[i] = lift_expr(n, e->args[i]);
    Expr *copy = expr_new(n->a, e->op, e->type, e->range, e->n, args);
    if (e->op == OP_READ)
        copy->tensor = e->tensor;
    return copy;
}

