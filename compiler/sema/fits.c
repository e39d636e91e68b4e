// Indices and dimensions in integer types: proved to fit, for all sizes or for those that are let in.
//
// `d[i, 0] = i` makes an i32 of an index, which nobody asked to wrap. The values that do not fit are a set: when it is empty,
// nothing is to be done; when it is empty for some sizes, those are what the kernel assumes, checked on entry as a condition
// of its own; else it is an error. Conditions that the conversion stands under count. What is not affine (i*j) is bounded by
// its operands' bounds, which are expressions over the dims.
//
// Comparisons have no conversions: they compare the values (sema/exprs.c). Test: tests/errors/sema/fits.pto,
// tests/golden/faults/indices.pto
#include "sema/context.h"

typedef struct {
    Sema *sema;
    const EquationInfo *info;
} Fits;

typedef struct { Expr *lo, *hi; } Bounds;         // both ends belong to it; NULL: unknown

static Expr *integer(Sema *s, int64_t v) { return expr_int(s->arena, DT_INDEX, v, (Range){0, 0}); }
static Expr *index_op(Sema *s, Op op, Expr *x, Expr *y) { return expr_simplify(s->arena, expr_binary(s->arena, op, DT_INDEX, x, y)); }
static Expr *compare(Sema *s, Op op, Expr *x, Expr *y) { return expr_simplify(s->arena, expr_binary(s->arena, op, DT_BOOL, x, y)); }

// The least and the greatest value of an integer type, as far as an index can leave it.
static bool limits(DType type, int64_t *least, int64_t *most)
{
    int bits = dtype_bits(type);
    bool is_signed = dtype_family(type) == 'I';
    *least = is_signed ? (int64_t)(UINT64_MAX << (bits - 1)) : 0;
    *most = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - is_signed)) - 1;
    return !is_signed || bits < 64;
}

// ---- by sets ------------------------------------------------------------------------------------------------------------

typedef struct { Index *at[64]; int n; } Indices;

static void add_index(Indices *x, Index *index)
{
    for (int i = 0; i < x->n; i++)
        if (x->at[i] == index) return;
    if (x->n < (int)(sizeof x->at / sizeof *x->at)) x->at[x->n++] = index;
}

// Those that the expression depends on, through ranges and conditions; others may be empty, which is no reason to let it in.
static Indices indices_of(const Fits *f, const ReadSite *site, Expr *const *conds, int nconds)
{
    const Equation *eq = f->info->eq;
    Indices all = {.n = 0}, used = {.n = 0};
    for (int i = 0; i < eq->indices.n; i++) add_index(&all, eq->indices.at[i]);
    for (int i = 0; eq->otherwise && i < eq->indices.n; i++) add_index(&used, eq->indices.at[i]);
    for (int i = 0; i < site->nnested; i++) add_index(&all, site->nested[i]);
    for (int i = 0; i < all.n; i++)
        if (expr_uses(site->read, all.at[i])) add_index(&used, all.at[i]);
    for (int before = -1; before != used.n;) {
        before = used.n;
        for (int i = 0; i < all.n; i++) {
            bool shares = false;
            for (int k = 0; k < before; k++) {
                shares = shares || expr_uses(used.at[k]->lo, all.at[i]) || expr_uses(used.at[k]->hi, all.at[i]);
                for (int c = 0; c < nconds; c++) shares = shares || (expr_uses(conds[c], used.at[k]) && expr_uses(conds[c], all.at[i]));
            }
            if (shares) add_index(&used, all.at[i]);
        }
    }
    Indices ordered = {.n = 0};
    for (int i = 0; i < all.n; i++)
        for (int k = 0; k < used.n; k++)
            if (used.at[k] == all.at[i]) add_index(&ordered, all.at[i]);
    return ordered;
}

static Expr **conditions_of(const Fits *f, const ReadSite *site, int *n)
{
    const Equation *eq = f->info->eq;
    Expr **conds = ARENA_ARRAY(f->sema->arena, Expr *, eq->conds.n + site->nguards + 1);
    *n = 0;
    for (int i = 0; i < eq->conds.n; i++) conds[(*n)++] = eq->conds.at[i];
    for (int i = 0; i < site->nguards; i++) conds[(*n)++] = site->guards[i];
    return conds;
}

// Where the equation stands for what the others leave, only that.
static isl_set *domain_of(const Fits *f, PolyIndices ix, int n, Expr *const *conds)
{
    const Equation *eq = f->info->eq;
    isl_set *box = poly_box(sema_poly(f->sema), ix, n, conds, NULL);
    if (!eq->otherwise) return box;
    isl_set *rest = isl_set_reset_tuple_id(poly_domain(sema_poly(f->sema), eq, false, NULL));
    return isl_set_intersect(box, isl_set_add_dims(rest, isl_dim_set, (unsigned)(ix.n - eq->indices.n)));
}

static Expr *outside(Sema *s, Expr *x, int64_t least, int64_t most)
{
    Expr *below = expr_binary(s->arena, OP_LT, DT_BOOL, x, integer(s, least)), *above = expr_binary(s->arena, OP_GT, DT_BOOL, x, integer(s, most));
    return expr_binary(s->arena, OP_OR, DT_BOOL, below, above);
}

static void require(Sema *s, Expr *cond, Range range)
{
    Kernel *k = s->kernel;
    for (int i = 0; i < k->where.n; i++)
        if (expr_equal(k->where.at[i], cond)) return;
    cond->range = range;
    VEC_PUSH(s->arena, &k->where, cond);
}

// 256 - N >= 0 as N <= 256, as people write it.
static Expr *readable(Sema *s, Expr *cond)
{
    if (cond->op != OP_GE || !expr_is_int(cond->args[1], 0)) return cond;
    Expr *most = cond->args[0], *sum = NULL;
    for (; most->op == OP_SUB; most = most->args[0]) sum = sum ? index_op(s, OP_ADD, most->args[1], sum) : most->args[1];
    return most->op == OP_CONST && sum ? expr_binary(s->arena, OP_LE, DT_BOOL, sum, most) : cond;
}

typedef struct { Sema *sema; Range range; } Requirement;

static void require_part(Expr *cond, void *data)
{
    Requirement *r = data;
    require(r->sema, readable(r->sema, cond), r->range);
}

static void report(Sema *s, const Expr *e, const char *example)
{
    const char *type = dtype_name(e->type), *index = expr_text(s->arena, e->args[0]);
    sema_error(s, D_FIT, e->range, "`%s` does not fit in %s%s%s", index, type, example ? ", e.g. at " : "", example ? example : "");
    sema_help(s, "write `%s(%s)` for its low bits, or compute in a wider type", type, index);
}

typedef enum { FITS, REPORTED, UNKNOWN } Verdict;

// The sizes that the kernel is called with lie in the set.
static bool let_in_only(Sema *s, isl_set *sizes, Range range)
{
    isl_set *known = poly_known(sema_poly(s), isl_set_get_space(sizes)), *left = isl_set_gist(isl_set_coalesce(isl_set_copy(sizes)), known);
    Expr *cond = left ? poly_set_cond(sema_poly(s), s->arena, (PolyIndices){.n = 0}, left) : NULL;
    isl_set_free(left);
    if (!cond) return false;
    Requirement r = {.sema = s, .range = range};
    sema_conjuncts(expr_simplify(s->arena, cond), require_part, &r);
    return true;
}

static Verdict by_sets(Fits *f, const ReadSite *site, int64_t least, int64_t most)
{
    Sema *s = f->sema;
    Poly *p = sema_poly(s);
    const Expr *e = site->read;
    int n;
    Expr **conds = conditions_of(f, site, &n);
    Indices used = indices_of(f, site, conds, n);
    PolyIndices ix = {.n = used.n, .at = used.at};
    isl_set *bad = poly_cond(p, ix, outside(s, e->args[0], least, most));
    if (!bad) return UNKNOWN;
    isl_set *domain = domain_of(f, ix, n, conds);
    bad = isl_set_intersect(bad, isl_set_copy(domain));
    isl_bool empty = isl_set_is_empty(bad);
    if (empty != isl_bool_false) {
        isl_set_free(domain);
        isl_set_free(bad);
        return empty == isl_bool_true ? FITS : UNKNOWN;
    }
    isl_set *sizes = isl_set_params(isl_set_copy(bad)), *good = isl_set_subtract(poly_known(p, isl_set_get_space(sizes)), sizes);
    isl_set *reached = isl_set_intersect(isl_set_copy(good), isl_set_params(domain));
    isl_bool never = isl_set_is_empty(reached);
    if (never == isl_bool_true) report(s, e, poly_example(p, s->arena, ix, bad));
    bool let_in = never == isl_bool_false && let_in_only(s, good, e->range);
    isl_set_free(reached);
    isl_set_free(bad);
    isl_set_free(good);
    return let_in ? FITS : never == isl_bool_true ? REPORTED : UNKNOWN;
}

// ---- by bounds ----------------------------------------------------------------------------------------------------------

static const Bounds unknown = {NULL, NULL};

static Bounds bounds_of(Sema *s, Expr *e);

// Both are known not to be negative.
static bool natural(Sema *s, Bounds x) { return x.lo && sema_nonnegative(s, x.lo); }

static Bounds either(Sema *s, Bounds x, Bounds y)
{
    if (!x.lo || !y.lo) return unknown;
    return (Bounds){index_op(s, OP_MIN, x.lo, y.lo), index_op(s, OP_MAX, x.hi, y.hi)};
}

static Bounds product(Sema *s, Bounds x, Bounds y)
{
    Expr *ll = index_op(s, OP_MUL, x.lo, y.lo), *hh = index_op(s, OP_MUL, x.hi, y.hi);
    if (natural(s, x) && natural(s, y)) return (Bounds){ll, hh};
    Expr *lh = index_op(s, OP_MUL, x.lo, y.hi), *hl = index_op(s, OP_MUL, x.hi, y.lo);
    return either(s, either(s, (Bounds){ll, ll}, (Bounds){hh, hh}), either(s, (Bounds){lh, lh}, (Bounds){hl, hl}));
}

// A divisor is at least 1 where it is not an error; what the result is then at most.
static Bounds quotient(Sema *s, Op op, Bounds x, Bounds y)
{
    Expr *zero = integer(s, 0), *one = integer(s, 1);
    bool natural_both = natural(s, x) && natural(s, y), constant = expr_equal(y.lo, y.hi) && y.lo->op == OP_CONST && y.lo->i > 0;
    if (op == OP_MOD && natural(s, y)) return (Bounds){zero, index_op(s, OP_MAX, zero, index_op(s, OP_SUB, y.hi, one))};
    if (op == OP_REM && natural(s, x)) return (Bounds){zero, natural_both ? index_op(s, OP_MIN, x.hi, index_op(s, OP_MAX, zero, index_op(s, OP_SUB, y.hi, one))) : x.hi};
    if (op == OP_REM || op == OP_MOD) return unknown;
    if (constant) return (Bounds){index_op(s, op, x.lo, y.lo), index_op(s, op, x.hi, y.lo)};
    return natural_both ? (Bounds){zero, x.hi} : unknown;
}

static Bounds bit_bounds(Sema *s, Op op, Bounds x, Bounds y)
{
    Expr *zero = integer(s, 0);
    if (op == OP_BITAND && (natural(s, x) || natural(s, y)))
        return (Bounds){zero, !natural(s, x) ? y.hi : !natural(s, y) ? x.hi : index_op(s, OP_MIN, x.hi, y.hi)};
    if (!natural(s, x) || !natural(s, y)) return unknown;
    switch ((int)op) {
    case OP_BITOR: case OP_BITXOR: return (Bounds){zero, index_op(s, OP_ADD, x.hi, y.hi)};
    case OP_SHR: return (Bounds){zero, x.hi};
    case OP_SHL:
        if (y.hi->op != OP_CONST || y.hi->i > 62) return unknown;
        return (Bounds){zero, index_op(s, OP_MUL, x.hi, integer(s, INT64_C(1) << y.hi->i))};
    default: return unknown;
    }
}

static Bounds binary_bounds(Sema *s, const Expr *e)
{
    Bounds x = bounds_of(s, e->args[0]), y = bounds_of(s, e->args[1]);
    if (!x.lo || !y.lo) return unknown;
    switch ((int)e->op) {
    case OP_ADD: return (Bounds){index_op(s, OP_ADD, x.lo, y.lo), index_op(s, OP_ADD, x.hi, y.hi)};
    case OP_SUB: return (Bounds){index_op(s, OP_SUB, x.lo, y.hi), index_op(s, OP_SUB, x.hi, y.lo)};
    case OP_MUL: return product(s, x, y);
    case OP_MIN: case OP_MAX: return (Bounds){index_op(s, e->op, x.lo, y.lo), index_op(s, e->op, x.hi, y.hi)};
    case OP_DIV: case OP_REM: case OP_FLOORDIV: case OP_MOD: return quotient(s, e->op, x, y);
    default: return bit_bounds(s, e->op, x, y);
    }
}

static Bounds unary_bounds(Sema *s, const Expr *e)
{
    Bounds x = bounds_of(s, e->args[0]);
    if (!x.lo) return unknown;
    Bounds minus = {index_op(s, OP_SUB, integer(s, 0), x.hi), index_op(s, OP_SUB, integer(s, 0), x.lo)};
    switch ((int)e->op) {
    case OP_NEG: return minus;
    case OP_ABS: return natural(s, x) ? x : (Bounds){integer(s, 0), index_op(s, OP_MAX, x.hi, minus.hi)};
    case OP_SIGN: return (Bounds){integer(s, -1), integer(s, 1)};
    case OP_BITNOT: return (Bounds){linear_add(s->arena, minus.lo, -1), linear_add(s->arena, minus.hi, -1)};
    default: return unknown;
    }
}

// Over the dims alone.
static Bounds bounds_of(Sema *s, Expr *e)
{
    switch ((int)e->op) {
    case OP_CONST: case OP_DIM: return (Bounds){e, e};
    case OP_INDEX: {
        Bounds lo = bounds_of(s, e->index->lo), hi = bounds_of(s, e->index->hi);
        return lo.lo && hi.lo ? (Bounds){lo.lo, linear_add(s->arena, hi.hi, -1)} : unknown;
    }
    case OP_SELECT: return either(s, bounds_of(s, e->args[1]), bounds_of(s, e->args[2]));
    default: return e->n == 2 ? binary_bounds(s, e) : e->n == 1 ? unary_bounds(s, e) : unknown;
    }
}

// Does the condition hold for some sizes at which there is something to convert?
static bool lets_in(const Fits *f, const ReadSite *site, const Expr *cond)
{
    int n;
    Expr **conds = conditions_of(f, site, &n);
    Indices used = indices_of(f, site, conds, n);
    isl_set *in = poly_cond(sema_poly(f->sema), (PolyIndices){.n = 0}, cond);
    if (!in) return true;
    in = isl_set_intersect(isl_set_params(poly_under(sema_poly(f->sema), in)), isl_set_params(domain_of(f, (PolyIndices){.n = used.n, .at = used.at}, n, conds)));
    bool empty = isl_set_is_empty(in) == isl_bool_true;
    isl_set_free(in);
    return !empty;
}

static Verdict by_bounds(Fits *f, const ReadSite *site, int64_t least, int64_t most)
{
    Sema *s = f->sema;
    const Expr *e = site->read;
    Bounds b = bounds_of(s, e->args[0]);
    if (!b.lo) return UNKNOWN;
    Expr *parts[2] = {compare(s, OP_GE, b.lo, integer(s, least)), compare(s, OP_LE, b.hi, integer(s, most))};
    for (int i = 0; i < 2; i++)
        if (parts[i]->op == OP_CONST ? !parts[i]->i : !lets_in(f, site, parts[i])) return UNKNOWN;
    for (int i = 0; i < 2; i++)
        if (parts[i]->op != OP_CONST) require(s, parts[i], e->range);
    return FITS;
}

// ---- all ----------------------------------------------------------------------------------------------------------------

static void visit(const ReadSite *site, void *data)
{
    Fits *f = data;
    Expr *e = site->read;
    int64_t least, most;
    if (!limits(e->type, &least, &most)) return;
    sema_budget_begin(f->sema);
    Verdict v = by_sets(f, site, least, most);
    sema_budget_end(f->sema);
    if (v == UNKNOWN) v = by_bounds(f, site, least, most);
    if (v == UNKNOWN) report(f->sema, e, NULL);
}

void sema_fits(Sema *s, const EquationInfo *e)
{
    Fits f = {.sema = s, .info = e};
    for (int i = 0; e->log && i < e->log->args.n; i++) expr_fits(s->arena, e->log->args.at[i], visit, &f);
    if (!e->log) expr_fits(s->arena, e->eq->rhs, visit, &f);
}
