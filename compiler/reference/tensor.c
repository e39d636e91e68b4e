// The reference evaluator: tensors, shapes, expressions over dimensions, and the comparison with compiled code.
#include "reference/eval.h"

#include "data/element.h"
#include "reference/value.h"

#include <float.h>
#include <math.h>

// ---- expressions over dimensions ----

static Value dim_value(const Expr *e, const int64_t *dims);

static Value dim_arguments(const Expr *e, const int64_t *dims)
{
    Value a = dim_value(e->args[0], dims);
    if (value_is_poison(a))
        return a;
    if (e->op == OP_SELECT)
        return dim_value(e->args[a.i ? 1 : 2], dims);
    if (e->op == OP_AND || e->op == OP_OR)
        return !a.i == (e->op == OP_AND) ? a : dim_value(e->args[1], dims);
    if (e->op == OP_CONVERT)
        return value_convert(e->type, e->args[0]->type, a);
    if (e->n == 1)
        return value_unary(e->op, e->args[0]->type, a, 0);
    Value b = dim_value(e->args[1], dims);
    if (value_is_poison(b))
        return b;
    return e->n == 2 ? value_binary(e->op, e->args[0]->type, a, b, 0) : value_poison(0);
}

static Value dim_value(const Expr *e, const int64_t *dims)
{
    switch (e->op) {
    case OP_CONST: return dtype_is_float(e->type) ? value_float(e->f) : value_int(e->i);
    case OP_DIM: return value_int(dims[e->dim->id]);
    case OP_INDEX: case OP_READ: case OP_REDUCE: case OP_SCAN: return value_poison(0);
    default: return dim_arguments(e, dims);
    }
}

bool ref_dim_expr(const Expr *e, const int64_t *dims, int64_t *value)
{
    Value v = dim_value(e, dims);
    if (!value_is_poison(v))
        *value = v.i;
    return !value_is_poison(v);
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
    if (t->rank > REF_MAX_RANK)
        return false;
    for (int d = 0; d < t->rank; d++) {
        int64_t lo, hi, extent;
        if (!ref_dim_expr(t->lo[d], dims, &lo) || !ref_dim_expr(t->hi[d], dims, &hi))
            return false;
        if (__builtin_sub_overflow(hi, lo, &extent))
            return false;
        out->lo[d] = lo;
        out->extent[d] = extent < 0 ? 0 : extent;
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
