// Value ranges; see value_range.h.
//
// Interval arithmetic: each operation takes the extremes of its operands, as if they were independent. That is exact for the
// sums of indices which subscripts are, and safe for everything else.
//
// Test: tests/golden/exact
#include "ir/value_range.h"

// So that sums and products of what is cut off here fit a Wide.
static const Wide far_out = (Wide)1 << 125;

static Wide cut(Wide x) { return x > far_out ? far_out : x < -far_out ? -far_out : x; }

static Wide least(Wide x, Wide y) { return x < y ? x : y; }
static Wide most(Wide x, Wide y) { return x > y ? x : y; }

static Wide product(Wide x, Wide y)
{
    Wide r;
    if (!__builtin_mul_overflow(x, y, &r)) return cut(r);
    return (x < 0) == (y < 0) ? far_out : -far_out;
}

static bool is_empty(ValueRange r) { return r.lo > r.hi; }
static ValueRange range(Wide lo, Wide hi) { return (ValueRange){cut(lo), cut(hi)}; }
static const ValueRange nothing = {1, 0};

// ---- the scope ----

// The dim of an extent `D` or `D + c`, and what an extent of at most LARGEST_EXTENT leaves for it.
static const Dim *extent_dim(const Expr *e, int64_t *limit)
{
    *limit = LARGEST_EXTENT;
    if (e->op == OP_DIM) return e->dim;
    bool sum = e->op == OP_ADD || e->op == OP_SUB;
    if (!sum || e->args[0]->op != OP_DIM || e->args[1]->op != OP_CONST) return NULL;
    int64_t c = e->args[1]->i;
    if (c < 0 || c > LARGEST_EXTENT / 2) return NULL;
    *limit += e->op == OP_ADD ? -c : c;
    return e->args[0]->dim;
}

ValueScope value_scope(Arena *a, const Kernel *k)
{
    ValueScope s = {.most = ARENA_ARRAY(a, int64_t, k->dims.n + 1)};
    for (int i = 0; i < k->dims.n; i++) s.most[i] = k->dims.at[i]->tensor ? LARGEST_EXTENT : INT64_MAX;
    for (int i = 0; i < k->tensors.n; i++) {
        const Tensor *t = k->tensors.at[i];
        bool checked = t->kind == TENSOR_INPUT || t->kind == TENSOR_OUTPUT;
        for (int d = 0; checked && d < t->rank; d++) {
            int64_t limit;
            const Dim *dim = expr_is_int(t->lo[d], 0) ? extent_dim(t->hi[d], &limit) : NULL;
            if (dim && limit < s.most[dim->id]) s.most[dim->id] = limit;
        }
    }
    return s;
}

const KnownIndex *value_known(const ValueScope *s, const Index *index)
{
    for (int i = s->nknown - 1; i >= 0; i--)
        if (s->known[i].index == index) return &s->known[i];
    return NULL;
}

// ---- leaves ----

// Where the ends of its loop are looked at themselves, an index always fits.
static ValueRange index_range(const ValueScope *s, const Index *index)
{
    const KnownIndex *known = value_known(s, index);
    if (!known && !index->lo) return range(INT64_MIN, INT64_MAX);
    bool fits;
    ValueRange lo = value_range(s, known ? known->lo : index->lo, &fits), hi = value_range(s, known ? known->hi : index->hi, &fits);
    if (is_empty(lo) || is_empty(hi)) return nothing;
    return range(most(lo.lo, INT64_MIN), least(hi.hi, INT64_MAX) - !known);
}

// Of what is not index arithmetic: all values of its type, those of 64 bits without their far ends.
static ValueRange data_range(DType t)
{
    if (t == DT_BOOL) return range(0, 1);
    int bits = dtype_is_float(t) ? 64 : dtype_bits(t);
    if (bits == 64) return range(-((Wide)1 << 61), (Wide)1 << 61);
    bool sign = dtype_family(t) == 'I';
    return sign ? range(-((Wide)1 << (bits - 1)), ((Wide)1 << (bits - 1)) - 1) : range(0, ((Wide)1 << bits) - 1);
}

// ---- operations ----

static ValueRange product_range(ValueRange x, ValueRange y)
{
    Wide p[4] = {product(x.lo, y.lo), product(x.lo, y.hi), product(x.hi, y.lo), product(x.hi, y.hi)};
    ValueRange r = {p[0], p[0]};
    for (int i = 1; i < 4; i++) r = (ValueRange){least(r.lo, p[i]), most(r.hi, p[i])};
    return r;
}

static Wide divided(Op op, Wide x, Wide y)
{
    Wide q = x / y;
    return op == OP_FLOORDIV && x % y != 0 && (x < 0) != (y < 0) ? q - 1 : q;
}

static Wide magnitude(ValueRange r) { return most(-r.lo, r.hi); }

static ValueRange quotient_range(Op op, ValueRange x, ValueRange y)
{
    if (y.lo > 0) {                                      // monotone in both, on either side of zero
        Wide q[4] = {divided(op, x.lo, y.lo), divided(op, x.lo, y.hi), divided(op, x.hi, y.lo), divided(op, x.hi, y.hi)};
        return range(least(least(q[0], q[1]), least(q[2], q[3])), most(most(q[0], q[1]), most(q[2], q[3])));
    }
    Wide m = magnitude(x);
    return range(-m, m);
}

static ValueRange rest_range(Op op, ValueRange x, ValueRange y)
{
    Wide m = magnitude(y) - 1;
    if (m < 0) return range(0, 0);
    if (op == OP_MOD) {
        if (y.lo > 0 && x.lo >= 0 && x.hi < y.lo) return x;
        return range(y.lo < 0 ? -m : 0, y.hi > 0 ? m : 0);
    }
    return range(x.lo < 0 ? -least(m, -x.lo) : 0, x.hi > 0 ? least(m, x.hi) : 0);
}

static ValueRange shifted(ValueRange x, ValueRange n)
{
    if (n.lo < 0 || n.hi > 62) return x.lo == 0 && x.hi == 0 ? x : range(-far_out, far_out);
    return product_range(x, range((Wide)1 << n.lo, (Wide)1 << n.hi));
}

static ValueRange unary_range(Op op, ValueRange x)
{
    switch (op) {
    case OP_NEG: return range(-x.hi, -x.lo);
    case OP_ABS: return range(x.lo > 0 ? x.lo : x.hi < 0 ? -x.hi : 0, magnitude(x));
    case OP_SIGN: return range(x.lo > 0 ? 1 : x.lo == 0 ? 0 : -1, x.hi < 0 ? -1 : x.hi == 0 ? 0 : 1);
    default: return range(INT64_MIN, INT64_MAX);         // a bit operation
    }
}

static ValueRange binary_range(Op op, ValueRange x, ValueRange y)
{
    switch (op) {
    case OP_ADD: return range(x.lo + y.lo, x.hi + y.hi);
    case OP_SUB: return range(x.lo - y.hi, x.hi - y.lo);
    case OP_MUL: return product_range(x, y);
    case OP_DIV: case OP_FLOORDIV: return quotient_range(op, x, y);
    case OP_REM: case OP_MOD: return rest_range(op, x, y);
    case OP_MIN: return range(least(x.lo, y.lo), least(x.hi, y.hi));
    case OP_MAX: return range(most(x.lo, y.lo), most(x.hi, y.hi));
    case OP_SHL: return shifted(x, y);
    default: return range(INT64_MIN, INT64_MAX);
    }
}

static ValueRange operation_range(const ValueScope *s, const Expr *e, bool *fits)
{
    int first = e->op == OP_SELECT;
    ValueRange x = value_range(s, e->args[first], fits);
    if (e->n == 1) return is_empty(x) ? x : unary_range(e->op, x);
    ValueRange y = value_range(s, e->args[first + 1], fits);
    if (e->op == OP_SELECT) return is_empty(x) ? y : is_empty(y) ? x : range(least(x.lo, y.lo), most(x.hi, y.hi));
    if (is_empty(x) || is_empty(y)) return nothing;
    if (e->n == 2) return binary_range(e->op, x, y);
    ValueRange z = value_range(s, e->args[2], fits);
    return is_empty(z) ? z : binary_range(OP_ADD, product_range(x, y), z);
}

ValueRange value_range(const ValueScope *s, const Expr *e, bool *fits)
{
    if (e->type != DT_INDEX) return data_range(e->type);
    ValueRange r;
    switch (op_class(e->op)) {
    case OPC_LEAF:
        if (e->op == OP_CONST) return range(e->i, e->i);
        if (e->op == OP_DIM) return range(0, s->most[e->dim->id]);
        if (e->op == OP_INDEX) return index_range(s, e->index);
        return data_range(DT_I64);
    case OPC_ARITH: case OPC_BITS: r = operation_range(s, e, fits); break;
    case OPC_OTHER: r = e->op == OP_SELECT ? operation_range(s, e, fits) : data_range(e->n ? e->args[0]->type : DT_I64); break;
    case OPC_COMPARE: case OPC_LOGIC: case OPC_MATH: case OPC_NEST: default: return data_range(DT_I64);
    }
    if (!is_empty(r) && (r.lo < INT64_MIN || r.hi > INT64_MAX)) *fits = false;
    return r;
}
