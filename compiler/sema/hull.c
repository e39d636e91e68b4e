// Hulls: the shape of an undeclared tensor.
//
// It is the box hull of what its equations without `otherwise` write. For a linear subscript over rectangular ranges
// the ends follow from the extremes of the subscript; where conditions cut the domain, isl projects what is written
// onto the dimension. The hulls of several equations are joined with min and max. Where an equation writes nothing for
// some sizes its part of the hull is still counted: a larger box has holes that nobody reads.
//
// Test: tests/unit/test_sema.c
#include "sema/context.h"

typedef struct {
    Sema *sema;
    const Equation *eq;
    isl_set *written;              // the elements, when isl was needed; NULL so far
    bool nothing;                  // the equation writes nothing for any size
} Part;

static bool uses_any(const Expr *cond, const Expr *e, const Equation *eq)
{
    for (int i = 0; i < eq->indices.n; i++) {
        const Index *x = eq->indices.at[i];
        if (!expr_uses(e, x)) continue;
        if (expr_uses(cond, x)) return true;
        if (uses_any(cond, x->lo, eq) || uses_any(cond, x->hi, eq)) return true;
    }
    return false;
}

// Whether a condition can narrow what a subscript takes.
static bool is_cut(const Equation *eq, const Expr *sub)
{
    for (int i = 0; i < eq->conds.n; i++)
        if (uses_any(eq->conds.at[i], sub, eq)) return true;
    return false;
}

static void write_set(Part *p)
{
    if (p->written || p->nothing) return;
    const Equation *eq = p->eq;
    Poly *poly = sema_poly(p->sema);
    PolyIndices ix = {.n = eq->indices.n, .at = eq->indices.at};
    isl_set *domain = poly_box(poly, ix, eq->conds.n, eq->conds.at, NULL);
    isl_map *subs = poly_subscripts(poly, ix, eq->lhs, eq->subs, NULL);
    p->written = isl_set_coalesce(isl_map_range(isl_map_intersect_domain(subs, domain)));
    p->nothing = isl_set_is_empty(p->written) == isl_bool_true;
}

static Expr *end_by_set(Part *p, int d, bool greatest)
{
    Sema *s = p->sema;
    write_set(p);
    if (!p->written || p->nothing) return NULL;
    isl_set *copy = isl_set_copy(p->written);
    isl_pw_aff *f = greatest ? isl_set_dim_max(copy, d) : isl_set_dim_min(copy, d);
    f = isl_pw_aff_gist_params(f, isl_pw_aff_domain(isl_pw_aff_copy(f)));
    Expr *e = f ? poly_expr(sema_poly(s), s->arena, (PolyIndices){.n = 0}, f) : NULL;
    isl_pw_aff_free(f);
    return e && greatest ? linear_add(s->arena, e, 1) : e;
}

// One end of what the equation writes in a dimension: hi is exclusive. NULL when it cannot be expressed.
static Expr *end_of(Part *p, int d, bool greatest)
{
    Arena *a = p->sema->arena;
    Expr *sub = p->eq->subs[d], *e = is_cut(p->eq, sub) ? NULL : linear_extreme(a, sub, NULL, greatest);
    if (e) return greatest ? linear_add(a, e, 1) : e;
    return end_by_set(p, d, greatest);
}

static Expr *widen(Arena *a, Op op, Expr *x, Expr *y)
{
    return x ? expr_simplify(a, expr_binary(a, op, DT_INDEX, x, y)) : y;
}

static bool add_part(Sema *s, Tensor *t, const Equation *eq)
{
    Part p = {.sema = s, .eq = eq};
    sema_budget_begin(s);
    int d = 0;
    for (; d < t->rank; d++) {
        Expr *lo = end_of(&p, d, false), *hi = lo ? end_of(&p, d, true) : NULL;
        if (!hi) break;
        t->lo[d] = widen(s->arena, OP_MIN, t->lo[d], lo);
        t->hi[d] = widen(s->arena, OP_MAX, t->hi[d], hi);
    }
    isl_set_free(p.written);
    sema_budget_end(s);
    return d == t->rank || p.nothing;
}

static bool fail(Sema *s, const Tensor *t, Range range, const char *why)
{
    sema_error(s, D_SHAPE, range, "cannot infer the shape of `%s`: %s", t->name, why);
    sema_help(s, "declare it: `%s: %s[...];`", t->name, dtype_name(t->type));
    return false;
}

bool sema_hull(Sema *s, TensorInfo *info)
{
    Tensor *t = info->tensor;
    t->lo = ARENA_ARRAY(s->arena, Expr *, t->rank + 1);
    t->hi = ARENA_ARRAY(s->arena, Expr *, t->rank + 1);
    int parts = 0;
    for (int i = 0; i < info->equations.n; i++) {
        const EquationInfo *e = info->equations.at[i];
        if (e->eq->otherwise || e->failed) continue;
        parts++;
        if (!add_part(s, t, e->eq)) return fail(s, t, e->eq->range, "what this equation writes has no simple box");
    }
    if (parts == 0) return fail(s, t, t->range, "it has no equation without `otherwise`");
    for (int d = 0; d < t->rank; d++)
        if (!t->lo[d]) return fail(s, t, t->range, "its equations write nothing");
    sema_clip_extents(s, t);
    return true;
}
