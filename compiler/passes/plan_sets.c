// plan_sets: integer sets of a plan (see plan_sets.h).
#include "passes/plan_sets.h"

#include <isl/constraint.h>
#include <isl/local_space.h>

static isl_set *add_param(Plan *p, isl_set *s, Index *index, int *pos)
{
    isl_id *id = isl_id_alloc(p->g->poly->isl, index->name, index);
    *pos = isl_set_find_dim_by_id(s, isl_dim_param, id);
    if (*pos >= 0) {
        isl_id_free(id);
        return s;
    }
    *pos = isl_set_dim(s, isl_dim_param);
    s = isl_set_add_dims(s, isl_dim_param, 1);
    return isl_set_set_dim_id(s, isl_dim_param, (unsigned)*pos, id);
}

// theta - param + constant >= 0 (or = 0); with `negate`: param - theta + constant >= 0.
static isl_set *relate(isl_set *s, Theta t, int param, bool equal, bool negate, int64_t constant)
{
    isl_local_space *ls = isl_local_space_from_space(isl_set_get_space(s));
    isl_constraint *c = equal ? isl_constraint_alloc_equality(ls) : isl_constraint_alloc_inequality(ls);
    int k = negate ? -1 : 1;
    if (t.idx >= 0)
        c = isl_constraint_set_coefficient_si(c, isl_dim_set, t.idx, k * t.sign);
    c = isl_constraint_set_coefficient_si(c, isl_dim_param, param, -k);
    c = isl_constraint_set_constant_val(c, isl_val_int_from_si(isl_constraint_get_ctx(c), k * t.shift + constant));
    return isl_set_add_constraint(s, c);
}

static isl_set *inside_outer_loops(Plan *p, const StmtPlan *sp)
{
    isl_set *s = isl_set_copy(sp->stmt->domain);
    int pos;
    for (int i = 0; i < sp->npath; i++) {
        const PathEntry *e = &sp->path[i];
        if (!e->loop || !e->loop->outer)
            continue;
        s = add_param(p, s, e->loop->index, &pos);
        s = relate(s, e->theta, pos, true, false, 0);
    }
    return s;
}

isl_set *plan_domain(Plan *p, const StmtPlan *sp)
{
    isl_set *s = inside_outer_loops(p, sp);
    int pos;
    for (int i = 0; i < sp->nintervals; i++) {
        const Interval *v = &sp->interval[i];
        s = add_param(p, s, v->lo, &pos);
        s = relate(s, v->theta, pos, false, false, v->before);
        s = add_param(p, s, v->hi, &pos);
        s = relate(s, v->theta, pos, false, true, v->after - 1);
    }
    return s;
}

static bool dims_only(const Stmt *s, Expr *e)
{
    for (int i = 0; i < s->n; i++)
        if (expr_uses(e, s->index[i]))
            return false;
    return true;
}

Expr *plan_index_of_theta(Arena *a, Theta t, Expr *value)
{
    Range nowhere = { 0, 0 };
    Expr *e = value;
    if (t.shift)
        e = expr_binary(a, OP_SUB, DT_INDEX, e, expr_int(a, DT_INDEX, t.shift, nowhere));
    if (t.sign < 0)
        e = expr_unary(a, OP_NEG, DT_INDEX, e);
    return expr_simplify(a, e);
}

static Expr *extreme(Plan *p, const Stmt *s, Expr *e, bool upper);

// A bound of an index, over dims: from the bounds of those that its own range uses.
static Expr *index_extreme(Plan *p, const Stmt *s, const Index *index, bool upper)
{
    Expr *one = expr_int(p->a, DT_INDEX, 1, (Range){ 0, 0 });
    return extreme(p, s, upper ? expr_binary(p->a, OP_SUB, DT_INDEX, index->hi, one) : index->lo, upper);
}

// A bound of an expression of ranges: sums, differences, minima, maxima and constant multiples of indices and dims. NULL: it
// is something else.
static Expr *extreme(Plan *p, const Stmt *s, Expr *e, bool upper)
{
    if (dims_only(s, e))
        return e;
    Expr *x, *y;
    switch ((int)e->op) {
    case OP_INDEX: return index_extreme(p, s, e->index, upper);
    case OP_NEG:
        x = extreme(p, s, e->args[0], !upper);
        return x ? expr_unary(p->a, OP_NEG, DT_INDEX, x) : NULL;
    case OP_ADD: case OP_SUB: case OP_MIN: case OP_MAX:
        x = extreme(p, s, e->args[0], upper);
        y = extreme(p, s, e->args[1], upper != (e->op == OP_SUB));
        return x && y ? expr_binary(p->a, e->op, DT_INDEX, x, y) : NULL;
    case OP_MUL:
        for (int i = 0; i < 2; i++)
            if (e->args[i]->op == OP_CONST) {
                x = extreme(p, s, e->args[1 - i], upper == (e->args[i]->i >= 0));
                return x ? expr_binary(p->a, OP_MUL, DT_INDEX, e->args[i], x) : NULL;
            }
        return NULL;
    default: return NULL;
    }
}

// Where the exact hull is too expensive.
static Expr *loosest(Plan *p, const Stmt *s, Expr *e, bool upper)
{
    Expr *x = extreme(p, s, e, upper);
    if (x)
        return expr_simplify(p->a, x);
    diag_report(p->g->diags, D_UNDECIDED, s->eq->range, "the loops of `%s` have bounds that could not be found within the budget", s->eq->name);
    return expr_int(p->a, DT_INDEX, 0, (Range){ 0, 0 });
}

// The range of an index over the statement's domain: from its declaration, or the hull that isl finds.
static void index_range(Plan *p, const StmtPlan *sp, int idx, Expr **lo, Expr **hi)
{
    const Stmt *s = sp->stmt;
    *lo = s->index[idx]->lo;
    *hi = s->index[idx]->hi;
    if (dims_only(s, *lo) && dims_only(s, *hi))
        return;
    depend_budget_begin(p->g);
    isl_set *domain = inside_outer_loops(p, sp);
    isl_pw_aff *min = isl_set_dim_min(isl_set_copy(domain), idx), *max = isl_set_dim_max(domain, idx);
    PolyIndices none = { 0, NULL };
    Expr *one = expr_int(p->a, DT_INDEX, 1, (Range){ 0, 0 });
    Expr *first = poly_expr(p->g->poly, p->a, none, min), *last = poly_expr(p->g->poly, p->a, none, max);
    isl_pw_aff_free(min);
    isl_pw_aff_free(max);
    if (!depend_budget_end(p->g) || !first || !last) {
        depend_give_up(p->g, s->eq->range, "the range of `%s` in `%s` was too expensive to find out; a wider one is used", s->index[idx]->name, s->eq->name);
        first = loosest(p, s, *lo, false);
        last = loosest(p, s, expr_binary(p->a, OP_SUB, DT_INDEX, *hi, one), true);
    }
    *lo = first;
    *hi = expr_simplify(p->a, expr_binary(p->a, OP_ADD, DT_INDEX, last, one));
}

static Expr *combine(Arena *a, Op op, Expr *x, Expr *y)
{
    return !x || expr_equal(x, y) ? y : expr_simplify(a, expr_binary(a, op, DT_INDEX, x, y));
}

void plan_widen(Plan *p, const StmtPlan *sp, Theta t, int64_t before, int64_t after, GridDim *d)
{
    if (before > 0 || after > 0)
        return;                                 // computed on demand, around the tiles of others
    Range nowhere = { 0, 0 };
    Expr *shift = expr_int(p->a, DT_INDEX, t.shift, nowhere), *lo, *hi;
    if (t.idx < 0) {
        lo = shift;
        hi = expr_int(p->a, DT_INDEX, t.shift + 1, nowhere);
    } else {
        index_range(p, sp, t.idx, &lo, &hi);
        if (t.sign < 0) {                       // -(hi - 1) .. -lo + 1
            Expr *one = expr_int(p->a, DT_INDEX, 1, nowhere);
            Expr *low = expr_binary(p->a, OP_SUB, DT_INDEX, one, hi);
            hi = expr_binary(p->a, OP_SUB, DT_INDEX, one, lo);
            lo = low;
        }
        lo = expr_simplify(p->a, expr_binary(p->a, OP_ADD, DT_INDEX, lo, shift));
        hi = expr_simplify(p->a, expr_binary(p->a, OP_ADD, DT_INDEX, hi, shift));
    }
    d->begin = combine(p->a, OP_MIN, d->begin, lo);
    d->end = combine(p->a, OP_MAX, d->end, hi);
}
