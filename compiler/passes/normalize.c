// normalize: one operation an equation (see normalize.h).
//
// Works equation by equation: walks the right side from the leaves up and lifts each nest out. A lifted equation keeps
// the enclosing equation's indices that the nest uses; it keeps all of them when conditions or ranges tie the used ones
// to others, so that its domain is exactly where the value is needed. Affine conditions of an enclosing `if` cut it too.
// Test: tests/run (every sample goes through it), tests/golden/normalize*.pto
#include "passes/normalize.h"

#include "passes/ranges.h"
#include "passes/scatter.h"

#include <string.h>

enum { MOST_BINS = 4096 };       // that each block of a scatter has for itself

typedef struct {
    Arena *a;
    isl_ctx *isl;
    Diags *d;
    Kernel *k;
    Poly *p;
    const Equation *eq;          // the one being taken apart
    Equation *work;              // its copy, indices and conditions explicit
    VEC(Expr *) refine;          // affine conditions of enclosing ifs
    int nhidden;
} Norm;

static Expr *lift(Norm *n, Expr *e);

// ---- which indices does a nest need -----------------------------------------------------------------------------

typedef struct { const Index *index; bool found; } Uses;

static bool uses_visit(Expr *e, void *data)
{
    Uses *u = data;
    if (e->op == OP_INDEX && e->index == u->index)
        u->found = true;
    return !u->found;
}

static bool uses(Expr *e, const Index *index)
{
    Uses u = { index, false };
    expr_walk(e, uses_visit, &u);
    return u.found;
}

static bool nest_uses(Expr *e, const Index *index)
{
    Nest *nest = e->nest;
    if (nest->along == index || uses(e->args[0], index))
        return true;
    for (int i = 0; i < nest->indices.n; i++)
        if (uses(nest->indices.at[i]->lo, index) || uses(nest->indices.at[i]->hi, index))
            return true;
    for (int i = 0; i < nest->conds.n; i++)
        if (uses(nest->conds.at[i], index))
            return true;
    return false;
}

// True when `cond` speaks of used and unused indices alike, or of unused ones in a way that matters.
static bool ties(const Equation *eq, const bool *used, Expr *cond)
{
    for (int i = 0; i < eq->indices.n; i++)
        if (!used[i] && uses(cond, eq->indices.at[i]))
            return true;
    return false;
}

static void choose_indices(Norm *n, Expr *nest, bool *used)
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
        if (uses(e, eq->indices.at[i]))
            return false;
    return true;
}

// The hull of an index's range, over dims only.
static void index_hull(Norm *n, const Equation *eq, int pos, Expr **lo, Expr **hi)
{
    Index *index = eq->indices.at[pos];
    *lo = index->lo;
    *hi = index->hi;
    if (over_dims_only(eq, index->lo) && over_dims_only(eq, index->hi))
        return;
    PolyIndices ix = { eq->indices.n, eq->indices.at };
    isl_set *box = poly_box(n->p, ix, eq->conds.n, eq->conds.at, NULL);
    isl_pw_aff *min = isl_set_dim_min(isl_set_copy(box), pos), *max = isl_set_dim_max(box, pos);
    PolyIndices none = { 0, NULL };
    *lo = poly_expr(n->p, n->a, none, min);
    *hi = expr_simplify(n->a, expr_binary(n->a, OP_ADD, DT_INDEX, poly_expr(n->p, n->a, none, max), expr_int(n->a, DT_INDEX, 1, index->range)));
    isl_pw_aff_free(min);
    isl_pw_aff_free(max);
}

static Tensor *new_hidden(Norm *n, const char *what, DType type, const Equation *eq, Range range)
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

static void push_equation(Norm *n, Equation *eq)
{
    eq->id = n->k->equations.n;
    VEC_PUSH(n->a, &n->k->equations, eq);
}

// An equation over the chosen indices (fresh ones), writing a hidden tensor; `from`/`to` map the old indices to it.
typedef struct { Equation *eq; int n; Index **from; Expr **to; } Lifted;

static Expr *renamed(Norm *n, const Lifted *l, Expr *e)
{
    return expr_substitute(n->a, e, l->n, l->from, l->to);
}

static Lifted new_lifted(Norm *n, const bool *used, Range range)
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
        index->lo = renamed(n, &l, old->lo);
        index->hi = renamed(n, &l, old->hi);
        VEC_PUSH(n->a, &l.eq->indices, index);
        l.from[l.n] = work->indices.at[i];
        l.to[l.n++] = expr_index(n->a, index, old->range);
    }
    for (int i = 0; i < work->conds.n; i++)
        if (!ties(work, used, work->conds.at[i]))
            VEC_PUSH(n->a, &l.eq->conds, renamed(n, &l, work->conds.at[i]));
    for (int i = 0; i < n->refine.n; i++)
        if (!ties(work, used, n->refine.at[i]))
            VEC_PUSH(n->a, &l.eq->conds, renamed(n, &l, n->refine.at[i]));
    return l;
}

// Gives the equation its left side: a hidden tensor over its indices.
static void place_lifted(Norm *n, Lifted *l, const char *what, DType type)
{
    l->eq->lhs = new_hidden(n, what, type, l->eq, l->eq->range);
    l->eq->name = l->eq->lhs->name;
    l->eq->subs = ARENA_ARRAY(n->a, Expr *, l->eq->indices.n + 1);
    for (int i = 0; i < l->eq->indices.n; i++)
        l->eq->subs[i] = expr_index(n->a, l->eq->indices.at[i], l->eq->range);
}

static void finish_lifted(Norm *n, Lifted *l, const char *what, DType type)
{
    place_lifted(n, l, what, type);
    push_equation(n, l->eq);
}

static Expr *read_lifted(Norm *n, const Lifted *l)
{
    Expr **subs = ARENA_ARRAY(n->a, Expr *, l->n + 1);
    for (int i = 0; i < l->n; i++)
        subs[i] = expr_index(n->a, l->from[i], l->eq->range);
    Expr *e = expr_new(n->a, OP_READ, l->eq->lhs->type, l->eq->range, l->n, subs);
    e->tensor = l->eq->lhs;
    return e;
}

// ---- reductions -----------------------------------------------------------------------------------------------

static Nest *copy_nest(Norm *n, Lifted *l, const Nest *old, ReduceOp op, Lifted *inner)
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
        *index = (Index){ .name = was->name, .range = was->range, .lo = renamed(n, inner, was->lo), .hi = renamed(n, inner, was->hi) };
        VEC_PUSH(n->a, &nest->indices, index);
        inner->from[inner->n] = old->indices.at[i];
        inner->to[inner->n++] = expr_index(n->a, index, was->range);
    }
    for (int i = 0; i < old->conds.n; i++)
        VEC_PUSH(n->a, &nest->conds, renamed(n, inner, old->conds.at[i]));
    return nest;
}

// A scatter by data of 32 bits cannot reach more elements than those name: refused on entry.
static bool find_scatter(Norm *n, const Equation *eq)
{
    Scatter s;
    bool found = scatter_find(n->a, n->p, eq, &s);
    if (found && s.assumed)
        VEC_PUSH(n->a, &n->k->where, s.assumed);
    return found;
}

// Does the reduction give so little, beside what it reads, that it has no axis to run in parallel along: a single value, or
// the few bins of a scatter?
static bool is_total(Norm *n, const Equation *eq)
{
    bool scatter = find_scatter(n, eq);
    if (eq->conds.n > 0 || eq->indices.n == 0 || !scatter)
        return eq->conds.n == 0 && eq->indices.n == 0;
    const Index *bin = eq->indices.at[0];
    return eq->indices.n == 1 && bin->lo->op == OP_CONST && bin->hi->op == OP_CONST && bin->hi->i - bin->lo->i <= MOST_BINS;
}

// The blocks of a reduction's first index: the index of the block, and the index within it.
static void cut_blocks(Norm *n, const Nest *nest, Range r, Index **block, Index **inner)
{
    Index *first = nest->indices.at[0], *c = ARENA_NEW(n->a, Index), *k = ARENA_NEW(n->a, Index);
    int64_t length = nest->indices.n == 1 ? 16384 : 64;
    Expr *size = expr_int(n->a, DT_INDEX, length, r), *zero = expr_int(n->a, DT_INDEX, 0, r);
    Expr *extent = expr_binary(n->a, OP_SUB, DT_INDEX, first->hi, first->lo);
    Expr *up = expr_simplify(n->a, expr_binary(n->a, OP_ADD, DT_INDEX, extent, expr_int(n->a, DT_INDEX, length - 1, r)));
    Expr *count = expr_binary(n->a, OP_MAX, DT_INDEX, expr_binary(n->a, OP_FLOORDIV, DT_INDEX, up, size), zero);
    *c = (Index){ .name = arena_printf(n->a, "%s.block", first->name), .range = first->range, .lo = zero, .hi = count };
    Expr *start = expr_binary(n->a, OP_ADD, DT_INDEX, first->lo, expr_binary(n->a, OP_MUL, DT_INDEX, size, expr_index(n->a, c, r)));
    *k = (Index){ .name = first->name, .range = first->range, .lo = expr_simplify(n->a, start) };
    k->hi = expr_binary(n->a, OP_MIN, DT_INDEX, expr_simplify(n->a, expr_binary(n->a, OP_ADD, DT_INDEX, start, size)), first->hi);
    *block = c;
    *inner = k;
}

static Index *copy_index(Norm *n, const Index *old)
{
    Index *copy = ARENA_NEW(n->a, Index);
    *copy = *old;
    return copy;
}

// A total becomes the reduction of one block at a time, and then of the blocks' results. The blocks depend on the range
// alone, so the order of the operations, and with it every bit, is the same for any number of workers.
static void split_total(Norm *n, Lifted *l, const char *what, DType type)
{
    Equation *eq = l->eq;
    Nest *nest = eq->nest;
    Range r = eq->range;
    Index *block, *inner;
    cut_blocks(n, nest, r, &block, &inner);
    int most = eq->indices.n + 1, count = 0;
    Lifted part = { ARENA_NEW(n->a, Equation), most, ARENA_ARRAY(n->a, Index *, most), ARENA_ARRAY(n->a, Expr *, most) };
    *part.eq = *eq;
    part.eq->indices.at = NULL;
    part.eq->indices.n = part.eq->indices.cap = 0;
    VEC_PUSH(n->a, &part.eq->indices, block);
    for (int i = 0; i < eq->indices.n; i++) {                     // their ranges are numbers
        Index *copy = copy_index(n, eq->indices.at[i]);
        VEC_PUSH(n->a, &part.eq->indices, copy);
        part.from[count] = eq->indices.at[i];
        part.to[count++] = expr_index(n->a, copy, r);
    }
    part.from[count] = nest->indices.at[0];
    part.to[count] = expr_index(n->a, inner, r);
    part.eq->nest = ARENA_NEW(n->a, Nest);
    *part.eq->nest = (Nest){ .op = nest->op };
    VEC_PUSH(n->a, &part.eq->nest->indices, inner);
    for (int i = 1; i < nest->indices.n; i++) {                   // later ranges may use the first index
        Index *x = nest->indices.at[i];
        x->lo = renamed(n, &part, x->lo);
        x->hi = renamed(n, &part, x->hi);
        VEC_PUSH(n->a, &part.eq->nest->indices, x);
    }
    for (int i = 0; i < nest->conds.n; i++)
        VEC_PUSH(n->a, &part.eq->nest->conds, renamed(n, &part, nest->conds.at[i]));
    part.eq->rhs = renamed(n, &part, eq->rhs);
    finish_lifted(n, &part, arena_printf(n->a, "%s.block", what), type);

    Index *each = copy_index(n, block);
    *nest = (Nest){ .op = nest->op };
    VEC_PUSH(n->a, &nest->indices, each);
    Expr **at = ARENA_ARRAY(n->a, Expr *, most);
    at[0] = expr_index(n->a, each, r);
    for (int i = 0; i < eq->indices.n; i++)
        at[i + 1] = expr_index(n->a, eq->indices.at[i], r);
    eq->rhs = expr_new(n->a, OP_READ, type, r, most, at);
    eq->rhs->tensor = part.eq->lhs;
}

// Lifts a reduction of `body` with operator `op` over the nest of `e`.
static Expr *lift_reduction(Norm *n, Expr *e, Expr *body, ReduceOp op, const char *what)
{
    Expr probe = *e;
    Expr *args[1] = { body };
    probe.args = args;
    bool used[64];
    choose_indices(n, &probe, used);
    Lifted l = new_lifted(n, used, e->range), inner = { .eq = l.eq };
    l.eq->kind = EQ_REDUCE;
    l.eq->nest = copy_nest(n, &l, e->nest, op, &inner);
    l.eq->rhs = renamed(n, &inner, body);
    ranges_fold_guards(n->a, l.eq);
    place_lifted(n, &l, what, body->type);
    if (is_total(n, l.eq))
        split_total(n, &l, what, body->type);
    push_equation(n, l.eq);
    return read_lifted(n, &l);
}

// How many points the nest has, when that needs no counting; else NULL.
static Expr *count_points(Norm *n, const Nest *nest)
{
    if (nest->conds.n)
        return NULL;
    Expr *count = NULL;
    for (int i = 0; i < nest->indices.n; i++) {
        const Index *x = nest->indices.at[i];
        for (int j = 0; j < i; j++)
            if (uses(x->lo, nest->indices.at[j]) || uses(x->hi, nest->indices.at[j]))
                return NULL;
        Expr *extent = expr_simplify(n->a, expr_binary(n->a, OP_SUB, DT_INDEX, x->hi, x->lo));
        count = count ? expr_binary(n->a, OP_MUL, DT_INDEX, count, extent) : extent;
    }
    return count;
}

static Expr *lift_mean(Norm *n, Expr *e)
{
    DType type = e->type;
    Expr *sum = lift_reduction(n, e, e->args[0], RED_SUM, "sum");
    Expr *count = count_points(n, e->nest);
    if (!count)
        count = lift_reduction(n, e, expr_int(n->a, DT_I64, 1, e->range), RED_SUM, "count");
    return expr_binary(n->a, OP_DIV, type, sum, expr_convert(n->a, type, count));
}

static Expr *either_nan(Norm *n, Expr *x, Expr *y)
{
    Expr *both = expr_binary(n->a, OP_AND, DT_BOOL, expr_unary(n->a, OP_ISNAN, DT_BOOL, x), expr_unary(n->a, OP_ISNAN, DT_BOOL, y));
    return expr_binary(n->a, OP_OR, DT_BOOL, expr_binary(n->a, OP_EQ, DT_BOOL, x, y), both);
}

// argmax(i) e: m = max(i) e, then min(i where e == m) i.
static Expr *lift_arg(Norm *n, Expr *e)
{
    Nest *nest = e->nest;
    if (nest->indices.n != 1) {
        int h = diag_report(n->d, D_UNSUPPORTED, e->range, "`%s` over several indices is not built yet", reduce_name(nest->op));
        (void)h;
        return expr_int(n->a, e->type, 0, e->range);
    }
    Expr *best = lift_reduction(n, e, e->args[0], nest->op == RED_ARGMAX ? RED_MAX : RED_MIN, "best");
    Expr *same = dtype_is_float(best->type) ? either_nan(n, e->args[0], best) : expr_binary(n->a, OP_EQ, DT_BOOL, e->args[0], best);
    Nest again = *nest;
    again.conds.at = NULL;
    again.conds.n = again.conds.cap = 0;
    for (int i = 0; i < nest->conds.n; i++)
        VEC_PUSH(n->a, &again.conds, nest->conds.at[i]);
    VEC_PUSH(n->a, &again.conds, same);
    Expr copy = *e;
    copy.nest = &again;
    Expr *at = expr_convert(n->a, DT_I64, expr_index(n->a, nest->indices.at[0], e->range));
    return expr_convert(n->a, e->type, lift_reduction(n, &copy, at, RED_MIN, "arg"));
}

static Expr *lift_reduce(Norm *n, Expr *e)
{
    switch (e->nest->op) {
    case RED_MEAN: return lift_mean(n, e);
    case RED_ARGMAX: case RED_ARGMIN: return lift_arg(n, e);
    case RED_SUM: case RED_PROD: case RED_MAX: case RED_MIN: case RED_ANY: case RED_ALL: break;
    }
    return lift_reduction(n, e, e->args[0], e->nest->op, reduce_name(e->nest->op));
}

// ---- scans ----------------------------------------------------------------------------------------------------

static Expr *identity(Norm *n, ReduceOp op, DType type, Range range)
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

static bool along_is_cut(const Norm *n, const Index *along)
{
    for (int i = 0; i < n->work->conds.n; i++)
        if (uses(n->work->conds.at[i], along))
            return true;
    for (int i = 0; i < n->refine.n; i++)
        if (uses(n->refine.at[i], along))
            return true;
    return false;
}

// The inclusive value one step behind, or the operator's identity at the first element.
static Expr *exclusive_read(Norm *n, const Nest *nest, Expr *read)
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

static Expr *lift_scan(Norm *n, Expr *e)
{
    if (along_is_cut(n, e->nest->along)) {
        diag_report(n->d, D_UNSUPPORTED, e->range, "a scan along `%s`, which a condition cuts, is not built yet", e->nest->along->name);
        diag_help(n->d, "give the index its range with `%s in a..b` instead", e->nest->along->name);
        return expr_int(n->a, e->type, 0, e->range);
    }
    bool used[64];
    choose_indices(n, e, used);
    Lifted l = new_lifted(n, used, e->range), inner = { .eq = l.eq };
    l.eq->kind = EQ_SCAN;
    l.eq->nest = copy_nest(n, &l, e->nest, e->nest->op, &inner);
    for (int i = 0; i < l.n; i++)
        if (l.from[i] == e->nest->along)
            l.eq->nest->along = l.to[i]->index;
    l.eq->rhs = renamed(n, &inner, e->args[0]);
    finish_lifted(n, &l, "scan", e->args[0]->type);
    Expr *read = read_lifted(n, &l);
    return e->nest->exclusive ? exclusive_read(n, e->nest, read) : read;
}

// ---- walking an equation --------------------------------------------------------------------------------------

static void with_condition(Norm *n, Expr *cond, bool holds)
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

static Expr *lift_select(Norm *n, Expr *e)
{
    Expr *args[3] = { lift(n, e->args[0]), NULL, NULL };
    int depth = n->refine.n;
    with_condition(n, e->args[0], true);
    args[1] = lift(n, e->args[1]);
    n->refine.n = depth;
    with_condition(n, e->args[0], false);
    args[2] = lift(n, e->args[2]);
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
static Expr *lift_inside_nest(Norm *n, Expr *e)
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
    Expr *body = lift(n, e->args[0]);
    Nest *nest = ARENA_NEW(n->a, Nest);
    *nest = *e->nest;
    nest->conds.at = NULL;
    nest->conds.n = nest->conds.cap = 0;
    for (int i = 0; i < e->nest->conds.n; i++)
        VEC_PUSH(n->a, &nest->conds, lift(n, e->nest->conds.at[i]));
    n->work = outer;
    Expr *copy = expr_new(n->a, e->op, e->type, e->range, 1, &body);
    copy->nest = nest;
    return copy;
}

static Expr *lift(Norm *n, Expr *e)
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
        args[i] = lift(n, e->args[i]);
    Expr *copy = expr_new(n->a, e->op, e->type, e->range, e->n, args);
    if (e->op == OP_READ)
        copy->tensor = e->tensor;
    return copy;
}

static void normalize_piece(Norm *n, const Equation *eq, Equation *copy)
{
    ranges_own_indices(n->a, copy);
    ranges_fold_conditions(n->a, copy);
    n->eq = eq;
    n->work = copy;
    n->refine.n = 0;
    n->nhidden = 0;
    copy->rhs = lift(n, copy->rhs);
    push_equation(n, copy);
}

static Equation *copy_equation(Norm *n, const Equation *eq)
{
    Equation *copy = ARENA_NEW(n->a, Equation);
    *copy = *eq;
    copy->origin = eq->origin;
    copy->conds.at = NULL;
    copy->conds.n = copy->conds.cap = 0;
    for (int i = 0; i < eq->conds.n; i++)
        VEC_PUSH(n->a, &copy->conds, eq->conds.at[i]);
    return copy;
}

typedef struct { Norm *n; const Equation *eq; const Poly *source; int piece, pieces; } Pieces;

static isl_stat add_piece(isl_basic_set *b, void *data)
{
    Pieces *p = data;
    Equation *copy = copy_equation(p->n, p->eq);
    isl_set *s = isl_set_from_basic_set(b);
    PolyIndices ix = { copy->indices.n, copy->indices.at };
    VEC_PUSH(p->n->a, &copy->conds, poly_set_cond(p->source, p->n->a, ix, s));
    isl_set_free(s);
    copy->otherwise = false;
    if (p->pieces > 1)
        copy->name = arena_printf(p->n->a, "%s.%d", p->eq->name, p->piece);
    p->piece++;
    normalize_piece(p->n, p->eq, copy);
    return isl_stat_ok;
}

// `otherwise` is what the other equations leave: a few boxes, each an equation of its own.
static void normalize_otherwise(Norm *n, const Poly *source, const Equation *eq)
{
    isl_set *s = isl_set_reset_tuple_id(poly_domain(source, eq, false, NULL));
    PolyIndices ix = { eq->indices.n, eq->indices.at };
    isl_set *box = poly_box(source, ix, eq->conds.n, eq->conds.at, NULL);
    s = isl_set_compute_divs(isl_set_make_disjoint(isl_set_coalesce(isl_set_gist(s, box))));
    Pieces p = { n, eq, source, 0, isl_set_n_basic_set(s) };
    isl_set_foreach_basic_set(s, add_piece, &p);
    isl_set_free(s);
}

static void normalize_equation(Norm *n, const Poly *source, const Equation *eq)
{
    if (eq->otherwise)
        normalize_otherwise(n, source, eq);
    else
        normalize_piece(n, eq, copy_equation(n, eq));
}

// What no equation defines of an output that starts from an input.
static void copy_initial(Norm *n, const Poly *source, Tensor *t)
{
    isl_set *rest = poly_shape(source, t);
    for (int i = 0; i < source->kernel->equations.n; i++)
        if (source->kernel->equations.at[i]->lhs == t)
            rest = isl_set_subtract(rest, isl_map_range(poly_write(source, source->kernel->equations.at[i])));
    rest = isl_set_reset_tuple_id(isl_set_coalesce(rest));
    Equation eq = { .name = arena_printf(n->a, "%s.init", t->name), .range = t->range, .lhs_range = t->range, .lhs = t, .id = -1 };
    eq.subs = ARENA_ARRAY(n->a, Expr *, t->rank + 1);
    Expr **subs = ARENA_ARRAY(n->a, Expr *, t->rank + 1);
    for (int d = 0; d < t->rank; d++) {
        Index *index = ARENA_NEW(n->a, Index);
        *index = (Index){ .name = arena_printf(n->a, "i.%d", d), .range = t->range, .lo = t->lo[d], .hi = t->hi[d] };
        VEC_PUSH(n->a, &eq.indices, index);
        eq.subs[d] = subs[d] = expr_index(n->a, index, t->range);
    }
    eq.rhs = expr_new(n->a, OP_READ, t->type, t->range, t->rank, subs);
    eq.rhs->tensor = t->init;
    PolyIndices ix = { eq.indices.n, eq.indices.at };
    rest = isl_set_compute_divs(isl_set_make_disjoint(isl_set_gist(rest, poly_box(source, ix, 0, NULL, NULL))));
    Pieces p = { n, &eq, source, 0, isl_set_n_basic_set(rest) };
    isl_set_foreach_basic_set(rest, add_piece, &p);
    isl_set_free(rest);
}

// Each argument of a log becomes an equation over its domain; the log prints the values when the kernel has run.
static void normalize_log(Norm *n, const Log *log, int number)
{
    Log *copy = ARENA_NEW(n->a, Log);
    *copy = *log;
    copy->args.at = NULL;
    copy->args.n = copy->args.cap = 0;
    Equation *work = ARENA_NEW(n->a, Equation);
    *work = (Equation){ .name = arena_printf(n->a, "log.%d", number), .range = log->range, .lhs_range = log->range, .origin = -1, .id = -1 };
    for (int i = 0; i < log->indices.n; i++)
        VEC_PUSH(n->a, &work->indices, log->indices.at[i]);
    for (int i = 0; i < log->conds.n; i++)
        VEC_PUSH(n->a, &work->conds, log->conds.at[i]);
    n->eq = n->work = work;
    n->refine.n = 0;
    n->nhidden = 0;
    for (int i = 0; i < log->args.n; i++) {
        Expr *arg = lift(n, log->args.at[i]);
        bool used[64];
        for (int j = 0; j < work->indices.n; j++)
            used[j] = true;
        Lifted l = new_lifted(n, used, log->range);
        l.eq->rhs = renamed(n, &l, arg);
        finish_lifted(n, &l, "value", arg->type);
        VEC_PUSH(n->a, &copy->args, read_lifted(n, &l));
    }
    VEC_PUSH(n->a, &n->k->logs, copy);
}

// ---- what nobody needs --------------------------------------------------------------------------------------------

typedef struct { Arena *a; bool *live; VEC(const Tensor *) work; } Liveness;

static bool mark_read(Expr *e, void *data)
{
    Liveness *l = data;
    if (e->op == OP_READ && !l->live[e->tensor->id]) {
        l->live[e->tensor->id] = true;
        VEC_PUSH(l->a, &l->work, e->tensor);
    }
    return true;
}

static void mark_tensor(Liveness *l, const Tensor *t)
{
    if (!l->live[t->id])
        VEC_PUSH(l->a, &l->work, t);
    l->live[t->id] = true;
}

static void mark_equation(Liveness *l, const Equation *eq)
{
    expr_walk(eq->rhs, mark_read, l);
    for (int j = 0; eq->nest && j < eq->nest->conds.n; j++)
        expr_walk(eq->nest->conds.at[j], mark_read, l);
}

// Equations from which no output and no log can be reached are dropped; a fault in one of them would not count either.
static void drop_dead(Norm *n)
{
    Kernel *k = n->k;
    Liveness l = { .a = n->a, .live = ARENA_ARRAY(n->a, bool, k->tensors.n + 1) };
    typedef VEC(const Equation *) Writers;
    Writers *writers = ARENA_ARRAY(n->a, Writers, k->tensors.n + 1);
    for (int i = 0; i < k->equations.n; i++)
        VEC_PUSH(n->a, &writers[k->equations.at[i]->lhs->id], k->equations.at[i]);
    for (int i = 0; i < k->outputs.n; i++)
        mark_tensor(&l, k->outputs.at[i]);
    for (int i = 0; i < k->logs.n; i++)
        for (int j = 0; j < k->logs.at[i]->args.n; j++)
            expr_walk(k->logs.at[i]->args.at[j], mark_read, &l);
    while (l.work.n > 0) {
        const Tensor *t = l.work.at[--l.work.n];
        for (int i = 0; i < writers[t->id].n; i++)
            mark_equation(&l, writers[t->id].at[i]);
    }
    int m = 0;
    for (int i = 0; i < k->equations.n; i++)
        if (l.live[k->equations.at[i]->lhs->id]) {
            k->equations.at[m] = k->equations.at[i];
            k->equations.at[m]->id = m;
            m++;
        }
    k->equations.n = m;
}

Kernel *normalize_kernel(isl_ctx *isl, Diags *d, const Kernel *source)
{
    int errors = diags_errors(d);
    Kernel *k = ARENA_NEW(source->arena, Kernel);
    *k = *source;
    k->tensors.at = NULL;
    k->tensors.n = k->tensors.cap = 0;
    k->equations.at = NULL;
    k->equations.n = k->equations.cap = 0;
    k->logs.at = NULL;
    k->logs.n = k->logs.cap = 0;
    for (int i = 0; i < source->tensors.n; i++)
        VEC_PUSH(k->arena, &k->tensors, source->tensors.at[i]);
    Poly *p = poly_new(k->arena, isl, source);
    Norm n = { .a = k->arena, .isl = isl, .d = d, .k = k, .p = p };
    for (int i = 0; i < source->equations.n; i++)
        normalize_equation(&n, p, source->equations.at[i]);
    for (int i = 0; i < source->outputs.n; i++)
        if (source->outputs.at[i]->init)
            copy_initial(&n, p, source->outputs.at[i]);
    for (int i = 0; i < source->logs.n; i++)
        normalize_log(&n, source->logs.at[i], i);
    drop_dead(&n);
    poly_free(p);
    return diags_errors(d) == errors ? k : NULL;
}
