// lift: reductions (see lift.h).
//
// `mean` is a sum over a count; `argmax` and `argmin` an extremum and then the least index that attains it. A reduction
// that gives little beside what it reads (a single value, the bins of a histogram) has no axis to run in parallel along:
// it is taken in blocks, which depend on its range alone. Test: tests/golden/passes/normalize.pto
#include "passes/lift.h"

#include "ir/linear.h"

#include "passes/ranges.h"
#include "passes/scatter.h"

enum { MOST_BINS = 4096 };       // that each block of a scatter has for itself

// A scatter by data of 32 bits cannot reach more elements than those name: refused on entry.
static bool find_scatter(Lift *n, const Equation *eq)
{
    Scatter s;
    bool found = scatter_find(n->a, n->p, eq, &s);
    if (found && s.assumed)
        VEC_PUSH(n->a, &n->k->where, s.assumed);
    return found;
}

static bool is_short(const Index *index, int64_t most)
{
    int64_t extent;
    bool known = index->lo->op == OP_CONST && index->hi->op == OP_CONST;
    return known && !__builtin_sub_overflow(index->hi->i, index->lo->i, &extent) && extent <= most;
}

// Does the reduction give so little, beside what it reads, that it has no axis to run in parallel along: a single value, or
// the few bins of a scatter?
static bool is_total(Lift *n, const Equation *eq)
{
    bool scatter = find_scatter(n, eq);
    if (eq->conds.n > 0 || eq->indices.n == 0 || !scatter)
        return eq->conds.n == 0 && eq->indices.n == 0;
    return eq->indices.n == 1 && is_short(eq->indices.at[0], MOST_BINS);
}

static int64_t block_length(const Nest *nest) { return nest->indices.n == 1 ? 16384 : 64; }

// The blocks of a reduction's first index: the index of the block, and the index within it.
static void cut_blocks(Lift *n, const Nest *nest, Range r, Index **block, Index **inner)
{
    Index *first = nest->indices.at[0], *c = ARENA_NEW(n->a, Index), *k = ARENA_NEW(n->a, Index);
    int64_t length = block_length(nest);
    Expr *size = expr_int(n->a, DT_INDEX, length, r), *zero = expr_int(n->a, DT_INDEX, 0, r);
    Expr *extent = expr_binary(n->a, OP_SUB, DT_INDEX, first->hi, first->lo);
    Expr *up = expr_simplify(n->a, expr_binary(n->a, OP_ADD, DT_INDEX, extent, expr_int(n->a, DT_INDEX, length - 1, r)));
    Expr *count = expr_simplify(n->a, expr_binary(n->a, OP_MAX, DT_INDEX, expr_binary(n->a, OP_FLOORDIV, DT_INDEX, up, size), zero));
    *c = (Index){ .name = arena_printf(n->a, "%s.block", first->name), .range = first->range, .lo = zero, .hi = count };
    Expr *start = expr_binary(n->a, OP_ADD, DT_INDEX, first->lo, expr_binary(n->a, OP_MUL, DT_INDEX, size, expr_index(n->a, c, r)));
    *k = (Index){ .name = first->name, .range = first->range, .lo = expr_simplify(n->a, start) };
    k->hi = expr_binary(n->a, OP_MIN, DT_INDEX, expr_simplify(n->a, expr_binary(n->a, OP_ADD, DT_INDEX, start, size)), first->hi);
    *block = c;
    *inner = k;
}

static Index *copy_index(Lift *n, const Index *old)
{
    Index *copy = ARENA_NEW(n->a, Index);
    *copy = *old;
    return copy;
}

// A total becomes the reduction of one block at a time, and then of the blocks' results. The blocks depend on the range
// alone, so the order of the operations, and with it every bit, is the same for any number of workers.
static void split_total(Lift *n, Lifted *l, const char *what, DType type)
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
        x->lo = lift_renamed(n, &part, x->lo);
        x->hi = lift_renamed(n, &part, x->hi);
        VEC_PUSH(n->a, &part.eq->nest->indices, x);
    }
    for (int i = 0; i < nest->conds.n; i++)
        VEC_PUSH(n->a, &part.eq->nest->conds, lift_renamed(n, &part, nest->conds.at[i]));
    part.eq->rhs = lift_renamed(n, &part, eq->rhs);
    lift_finish(n, &part, arena_printf(n->a, "%s.block", what), type);

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
static Expr *lift_reduction(Lift *n, Expr *e, Expr *body, ReduceOp op, const char *what)
{
    Expr probe = *e;
    Expr *args[1] = { body };
    probe.args = args;
    bool used[64];
    lift_choose_indices(n, &probe, used);
    Lifted l = lift_begin(n, used, e->range), inner = { .eq = l.eq };
    l.eq->kind = EQ_REDUCE;
    l.eq->nest = lift_nest(n, &l, e->nest, op, &inner);
    l.eq->rhs = lift_renamed(n, &inner, body);
    ranges_fold_guards(n->a, l.eq);
    lift_place(n, &l, what, body->type);
    if (is_total(n, l.eq) && !is_short(l.eq->nest->indices.at[0], block_length(l.eq->nest)))      // more than one block
        split_total(n, &l, what, body->type);
    lift_push(n, l.eq);
    return lift_read(n, &l);
}

// How many points the nest has, when that needs no counting; else NULL.
static Expr *count_points(Lift *n, const Nest *nest)
{
    if (nest->conds.n)
        return NULL;
    Expr *count = NULL;
    for (int i = 0; i < nest->indices.n; i++) {
        const Index *x = nest->indices.at[i];
        for (int j = 0; j < i; j++)
            if (expr_uses(x->lo, nest->indices.at[j]) || expr_uses(x->hi, nest->indices.at[j]))
                return NULL;
        Expr *extent = expr_binary(n->a, OP_SUB, DT_INDEX, x->hi, x->lo);
        if (!linear_at_most(n->a, x->lo, x->hi))                          // 1..N has no point where N is 0
            extent = expr_binary(n->a, OP_MAX, DT_INDEX, extent, expr_int(n->a, DT_INDEX, 0, x->range));
        extent = expr_simplify(n->a, extent);
        count = count ? expr_binary(n->a, OP_MUL, DT_INDEX, count, extent) : extent;
    }
    return count;
}

static Expr *lift_mean(Lift *n, Expr *e)
{
    DType type = e->type;
    Expr *sum = lift_reduction(n, e, e->args[0], RED_SUM, "sum");
    Expr *count = count_points(n, e->nest);
    if (!count)
        count = lift_reduction(n, e, expr_int(n->a, DT_I64, 1, e->range), RED_SUM, "count");
    return expr_binary(n->a, OP_DIV, type, sum, expr_convert(n->a, type, count));
}

static Expr *either_nan(Lift *n, Expr *x, Expr *y)
{
    Expr *both = expr_binary(n->a, OP_AND, DT_BOOL, expr_unary(n->a, OP_ISNAN, DT_BOOL, x), expr_unary(n->a, OP_ISNAN, DT_BOOL, y));
    return expr_binary(n->a, OP_OR, DT_BOOL, expr_binary(n->a, OP_EQ, DT_BOOL, x, y), both);
}

// argmax(i) e: m = max(i) e, then min(i where e == m) i.
static Expr *lift_arg(Lift *n, Expr *e)
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

Expr *lift_reduce(Lift *n, Expr *e)
{
    switch (e->nest->op) {
    case RED_MEAN: return lift_mean(n, e);
    case RED_ARGMAX: case RED_ARGMIN: return lift_arg(n, e);
    case RED_SUM: case RED_PROD: case RED_MAX: case RED_MIN: case RED_ANY: case RED_ALL: break;
    }
    return lift_reduction(n, e, e->args[0], e->nest->op, reduce_name(e->nest->op));
}

