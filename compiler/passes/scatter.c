// scatter: reductions whose guard chooses the element (see scatter.h).
//
// The guard is an equality between data and an output index that occurs nowhere else: not in what is added, not in a
// range, not in another condition. It compares the values: what the data's type cannot name, no element adds to. Where the
// index was converted, `x[i] == u8(b)`, it is one of whole numbers only where that type holds the index's range; a wider range
// of a 32-bit type is refused on entry, that of a narrower type is no scatter.
// Test: tests/golden/passes/scatter.pto
#include "passes/scatter.h"

#include "ir/type.h"

static bool is_integer(DType t)
{
    return t == DT_INDEX || dtype_family(t) == 'I' || dtype_family(t) == 'U';
}

static int position_of(const Equation *eq, const Expr *e)
{
    if (e->op == OP_CONVERT && is_integer(e->type))
        e = e->args[0];
    for (int i = 0; e->op == OP_INDEX && i < eq->indices.n; i++)
        if (eq->indices.at[i] == e->index)
            return i;
    return -1;
}

// The one left subscript that is this index; -1 when others use it too.
static int dimension_of(const Equation *eq, const Index *index)
{
    int dim = -1;
    for (int d = 0; d < eq->lhs->rank; d++) {
        if (!expr_uses(eq->subs[d], index))
            continue;
        if (dim >= 0 || eq->subs[d]->op != OP_INDEX)
            return -1;
        dim = d;
    }
    return dim;
}

static bool ranges_use(int n, Index *const *indices, const Index *index)
{
    for (int i = 0; i < n; i++)
        if (expr_uses(indices[i]->lo, index) || expr_uses(indices[i]->hi, index))
            return true;
    return false;
}

static bool is_free(const Equation *eq, const Index *index, const Expr *guard)
{
    const Nest *nest = eq->nest;
    for (int i = 0; i < eq->conds.n; i++)
        if (expr_uses(eq->conds.at[i], index))
            return false;
    for (int i = 0; i < nest->conds.n; i++)
        if (nest->conds.at[i] != guard && expr_uses(nest->conds.at[i], index))
            return false;
    for (int i = 0; i < eq->indices.n; i++)
        if (expr_uses(index->lo, eq->indices.at[i]) || expr_uses(index->hi, eq->indices.at[i]))
            return false;
    return !ranges_use(eq->indices.n, eq->indices.at, index) && !ranges_use(nest->indices.n, nest->indices.at, index) && !expr_uses(eq->rhs, index);
}

typedef struct { int64_t lo, hi; } Bounds;           // hi is the last

static Bounds bounds_of(DType t)
{
    int bits = t == DT_INDEX ? 64 : dtype_bits(t);
    if (t != DT_INDEX && dtype_family(t) == 'U')
        return (Bounds){ 0, bits >= 63 ? INT64_MAX : (INT64_C(1) << bits) - 1 };
    return bits == 64 ? (Bounds){ INT64_MIN, INT64_MAX } : (Bounds){ -(INT64_C(1) << (bits - 1)), (INT64_C(1) << (bits - 1)) - 1 };
}

static Expr *compare(Arena *a, Op op, Expr *x, Expr *y)
{
    return expr_binary(a, op, DT_BOOL, x, y);
}

static bool follows(const Poly *p, const Expr *cond)
{
    isl_set *s = poly_cond(p, (PolyIndices){ 0, NULL }, cond);
    isl_set *where = s ? isl_set_params(s) : NULL;
    isl_set *known = where ? poly_known(p, isl_set_get_space(where)) : NULL;
    bool is = known && isl_set_is_subset(known, where) == isl_bool_true;
    isl_set_free(known);
    isl_set_free(where);
    return is;
}

// Does the type hold all values of the index? Else *assumed says when it does.
static bool holds_range(Arena *a, const Poly *p, DType t, const Index *index, Expr **assumed)
{
    Bounds b = bounds_of(t);
    if (index->lo->op != OP_CONST || index->lo->i < b.lo)
        return t == DT_INDEX || t == DT_I64;
    if (b.hi == INT64_MAX || (index->hi->op == OP_CONST && index->hi->i - 1 <= b.hi))
        return true;
    if (index->hi->op == OP_CONST || dtype_bits(t) < 32)
        return false;
    Expr *fits = compare(a, OP_LE, index->hi, expr_int(a, DT_INDEX, b.hi + 1, index->range));
    if (!follows(p, fits))
        *assumed = fits;
    return true;
}

static void keep(Scatter *s, Expr *cond)
{
    s->conds[s->nconds++] = cond;
}

// The guards of the scatter, in their order: that the element exists, as far as the data's type leaves it open, in place of
// the one that chooses it.
static void find_conds(Arena *a, Scatter *s, const Equation *eq, const Index *index, DType t, const Expr *guard)
{
    Bounds b = bounds_of(t);
    Expr *chosen = s->chosen;
    bool wraps = dtype_family(t) == 'U' && dtype_bits(t) == 64;       // as an i64
    s->conds = ARENA_ARRAY(a, Expr *, eq->nest->conds.n + 3);
    for (int i = 0; i < eq->nest->conds.n; i++) {
        if (eq->nest->conds.at[i] != guard) {
            keep(s, eq->nest->conds.at[i]);
            continue;
        }
        if (index->lo->op != OP_CONST || index->lo->i > b.lo || wraps)
            keep(s, compare(a, OP_GE, chosen, expr_convert(a, DT_I64, index->lo)));
        if (wraps && (index->lo->op != OP_CONST || index->lo->i < 0))
            keep(s, compare(a, OP_GE, chosen, expr_int(a, DT_I64, 0, index->range)));
        if (index->hi->op != OP_CONST || index->hi->i <= b.hi)
            keep(s, compare(a, OP_LT, chosen, expr_convert(a, DT_I64, index->hi)));
    }
}

static bool is_affine(const Poly *p, Arena *a, const Equation *eq, const Expr *cond)
{
    VEC(Index *) all = { 0 };
    for (int i = 0; i < eq->indices.n; i++)
        VEC_PUSH(a, &all, eq->indices.at[i]);
    for (int i = 0; i < eq->nest->indices.n; i++)
        VEC_PUSH(a, &all, eq->nest->indices.at[i]);
    isl_set *s = poly_cond(p, (PolyIndices){ all.n, all.at }, cond);
    isl_set_free(s);
    return s;
}

static bool try_guard(Arena *a, const Poly *p, const Equation *eq, const Expr *guard, int side, Scatter *s)
{
    Expr *data = guard->args[side], *other = guard->args[1 - side];
    *s = (Scatter){ .position = position_of(eq, other) };
    if (s->position < 0)
        return false;
    const Index *index = eq->indices.at[s->position];
    s->dim = dimension_of(eq, index);
    if (s->dim < 0 || expr_uses(data, index) || !is_free(eq, index, guard) || is_affine(p, a, eq, guard))
        return false;
    if (!expr_is_mixed(guard) && !holds_range(a, p, data->type, index, &s->assumed))
        return false;
    s->chosen = expr_convert(a, DT_I64, data);
    find_conds(a, s, eq, index, data->type, guard);
    return true;
}

bool scatter_find(Arena *a, const Poly *p, const Equation *eq, Scatter *s)
{
    for (int i = 0; eq->kind == EQ_REDUCE && i < eq->nest->conds.n; i++) {
        const Expr *guard = eq->nest->conds.at[i];
        for (int side = 0; guard->op == OP_EQ && is_integer(guard->args[0]->type) && is_integer(guard->args[1]->type) && side < 2; side++)
            if (try_guard(a, p, eq, guard, side, s))
                return true;
    }
    return false;
}
