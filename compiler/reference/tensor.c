// The reference evaluator: tensors, shapes, expressions over dimensions, and the comparison with compiled code.
#include "reference/eval.h"

#include "data/element.h"
#include "reference/value.h"

#include <float.h>
#include <math.h>

// ---- expressions over dimensions ----
// A number of any type: index arithmetic in 128 bits, floats as they are. NAN err: there is none.

typedef struct { RefWide i; Value v; bool known; } DimValue;

static DimValue dim_value(const Expr *e, const int64_t *dims);

static DimValue dim_known(RefWide i) { return (DimValue){.i = i, .v = value_int((int64_t)i), .known = true}; }
static DimValue dim_of_value(Value v) { return (DimValue){.i = v.i, .v = v, .known = !value_is_poison(v)}; }
static bool dim_fits(DimValue x) { return x.known && x.i >= INT64_MIN && x.i <= INT64_MAX; }

static DimValue dim_divide(Op op, RefWide x, RefWide y)
{
    if (y == 0)
        return (DimValue){.known = false};
    RefWide q = y == -1 ? -x : x / y, r = y == -1 ? 0 : x % y;
    bool apart = r != 0 && (r < 0) != (y < 0);
    switch (op) {
    case OP_DIV: return dim_known(q);
    case OP_REM: return dim_known(r);
    case OP_FLOORDIV: return dim_known(q - apart);
    default: return dim_known(apart ? r + y : r);
    }
}

static DimValue dim_index(Op op, RefWide x, RefWide y)
{
    RefWide r = 0;
    bool lost = false;
    switch (op) {
    case OP_ADD: lost = __builtin_add_overflow(x, y, &r); break;
    case OP_SUB: lost = __builtin_sub_overflow(x, y, &r); break;
    case OP_MUL: lost = __builtin_mul_overflow(x, y, &r); break;
    case OP_NEG: lost = __builtin_sub_overflow((RefWide)0, x, &r); break;
    case OP_ABS: lost = x < 0 && __builtin_sub_overflow((RefWide)0, x, &r); r = x < 0 ? r : x; break;
    case OP_SIGN: r = (x > 0) - (x < 0); break;
    case OP_MIN: r = y < x ? y : x; break;
    case OP_MAX: r = y > x ? y : x; break;
    case OP_SHL:
        r = y < 0 ? 0 : x;
        for (RefWide k = 0; k < y && r != 0 && !lost; k++)
            lost = __builtin_add_overflow(r, r, &r);
        break;
    case OP_DIV: case OP_REM: case OP_FLOORDIV: case OP_MOD: return dim_divide(op, x, y);
    default: lost = true;
    }
    return (DimValue){.i = r, .v = value_int((int64_t)r), .known = !lost};
}

static DimValue dim_compare(Op op, RefWide x, RefWide y)
{
    switch (op) {
    case OP_EQ: return dim_known(x == y);
    case OP_NE: return dim_known(x != y);
    case OP_LT: return dim_known(x < y);
    case OP_LE: return dim_known(x <= y);
    case OP_GT: return dim_known(x > y);
    default: return dim_known(x >= y);
    }
}

static DimValue dim_arguments(const Expr *e, const int64_t *dims)
{
    DimValue a = dim_value(e->args[0], dims);
    DType type = e->args[0]->type;
    if (!a.known)
        return a;
    if (e->op == OP_SELECT)
        return dim_value(e->args[a.i ? 1 : 2], dims);
    if (e->op == OP_AND || e->op == OP_OR)
        return !a.i == (e->op == OP_AND) ? a : dim_value(e->args[1], dims);
    if (e->op == OP_CONVERT)
        return dim_fits(a) ? dim_of_value(value_convert(e->type, type, a.v)) : (DimValue){.known = false};
    DimValue b = e->n > 1 ? dim_value(e->args[1], dims) : dim_known(0);
    if (!b.known || e->n > 2)
        return (DimValue){.known = false};
    if (type == DT_INDEX && op_class(e->op) == OPC_COMPARE && e->n == 2)
        return dim_compare(e->op, a.i, b.i);
    if (type == DT_INDEX && (op_class(e->op) == OPC_ARITH || e->op == OP_SHL))
        return dim_index(e->op, a.i, b.i);
    if (!dim_fits(a) || !dim_fits(b))
        return (DimValue){.known = false};
    return dim_of_value(e->n == 1 ? value_unary(e->op, type, a.v, 0) : value_binary(e->op, type, a.v, b.v, 0));
}

static DimValue dim_value(const Expr *e, const int64_t *dims)
{
    switch (e->op) {
    case OP_CONST: return dtype_is_float(e->type) ? (DimValue){.v = value_float(e->f), .known = true} : dim_known(e->i);
    case OP_DIM: return dim_known(dims[e->dim->id]);
    case OP_INDEX: case OP_READ: case OP_REDUCE: case OP_SCAN: return (DimValue){.known = false};
    default: return dim_arguments(e, dims);
    }
}

bool ref_dim_expr(const Expr *e, const int64_t *dims, int64_t *value)
{
    DimValue x = dim_value(e, dims);
    if (dim_fits(x))
        *value = (int64_t)x.i;
    return dim_fits(x);
}

bool ref_where_holds(const Kernel *k, const int64_t *dims)
{
    for (int i = 0; i < k->where.n; i++) {
        int64_t v = 0;
        if (!ref_dim_expr(k->where.at[i], dims, &v) || !v)
            return false;
    }
    return true;
}

// ---- shapes ----

bool ref_shape(const Kernel *k, const Tensor *t, const int64_t *dims, RefTensor *out)
{
    *out = (RefTensor){.type = t->type, .rank = t->rank, .size = 1};
    bool empty = false;
    if (t->rank > REF_MAX_RANK)
        return false;
    for (int d = 0; d < t->rank; d++) {
        int64_t lo, hi, extent;
        if (!ref_dim_expr(t->lo[d], dims, &lo) || !ref_dim_expr(t->hi[d], dims, &hi))
            return false;
        if (__builtin_sub_overflow(hi, lo, &extent) || extent > INT64_C(1) << 62)
            return false;
        out->lo[d] = lo;
        out->extent[d] = extent < 0 ? 0 : extent;
        empty |= out->extent[d] == 0;
    }
    for (int d = 0; d < t->rank; d++) {
        if (empty)
            out->size = 0;
        if (__builtin_mul_overflow(out->size, out->extent[d], &out->size) || out->size > INT64_MAX / 64)
            return false;
    }
    return true;
}

RefTensor *ref_tensor_new(Arena *a, DType type, int rank, const int64_t *extent)
{
    RefTensor *t = ARENA_NEW(a, RefTensor);
    t->type = type;
    t->rank = rank;
    t->size = 1;
    for (int d = 0; d < rank; d++) {
        t->extent[d] = extent[d];
        t->size *= extent[d];
    }
    t->data = arena_alloc(a, (size_t)t->size * (size_t)dtype_bytes(type) + 1);
    return t;
}

int64_t ref_offset(const RefTensor *t, const int64_t *at)
{
    uint64_t offset = 0;
    for (int d = 0; d < t->rank; d++) {
        uint64_t x = (uint64_t)at[d] - (uint64_t)t->lo[d];
        if (x >= (uint64_t)t->extent[d])
            return -1;
        offset = offset * (uint64_t)t->extent[d] + x;
    }
    return (int64_t)offset;
}

void ref_unflatten(const RefTensor *t, int64_t offset, int64_t *at)
{
    for (int d = t->rank - 1; d >= 0; d--) {
        at[d] = t->lo[d] + offset % t->extent[d];
        offset /= t->extent[d];
    }
}

// ---- comparison ----

static double largest(DType type)
{
    return type == DT_F16 ? 65504 : type == DT_BF16 ? 0x1.FEp127 : type == DT_F32 ? FLT_MAX : DBL_MAX;
}

// What may be larger than every number of the type may be an infinity, and then what is computed with it anything.
static RefVerdict float_verdict(DType type, double expected, double actual, double err)
{
    double most = largest(type);
    bool same = isnan(expected) ? isnan(actual) : expected == actual || fabs(expected - actual) <= err;
    if (!same && isfinite(expected) && err > most)
        return REF_UNJUDGED;
    bool overflows = isinf(actual) && (actual > 0) == (expected > 0) && fabs(expected) + err > most;
    return same || overflows ? REF_EQUAL : REF_DIFFERENT;
}

// Integers wrap: so do their distances.
static double apart(DType type, int64_t x, int64_t y)
{
    int bits = dtype_bits(type);
    uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    uint64_t up = ((uint64_t)x - (uint64_t)y) & mask, down = ((uint64_t)y - (uint64_t)x) & mask;
    return (double)(up < down ? up : down);
}

RefVerdict ref_judge(const RefTensor *expected, int64_t offset, const void *actual)
{
    const void *p = (const char *)expected->data + offset * dtype_bytes(expected->type);
    double err = expected->err ? expected->err[offset] : 0;
    if (isinf(err) || (expected->state && expected->state[offset] != REF_DONE))
        return REF_UNJUDGED;
    if (dtype_is_float(expected->type)) {
        double x = element_load_float(expected->type, p), y = element_load_float(expected->type, actual);
        return float_verdict(expected->type, x, y, err);
    }
    int64_t x = element_load_int(expected->type, p), y = element_load_int(expected->type, actual);
    return x == y || (err > 0 && apart(expected->type, x, y) <= err) ? REF_EQUAL : REF_DIFFERENT;
}
