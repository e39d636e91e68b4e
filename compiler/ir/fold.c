// Constant folding: exactly what run time computes.
//
// Values of all float types travel as doubles that are already rounded to their type; integers of all widths as
// int64_t (u64: the same bits). Every rounding here is a single one: f64 to f16 never goes through f32, and a
// 64-bit integer reaches f32 or bf16 with a sticky bit in place of the digits that a double cannot hold.
//
// Invariant: the default rounding mode (nearest, ties to even) is in force.
// Test: tests/unit/test_expr.c
#include "ir/ir.h"

#include <math.h>

// The smallest exponent e for which 2^e is a normal number of the type.
static int min_exponent(DType t)
{
    switch (t) {
    case DT_F16: return -14;
    case DT_F32: case DT_BF16: return -126;
    default: return -1022;
    }
}

double fold_round_float(DType t, double x)
{
    if (t == DT_F64 || !dtype_is_float(t) || x == 0 || !isfinite(x)) return x;
    int e;
    frexp(x, &e);                                    // |x| in [2^(e-1), 2^e)
    int lowest = e - 1 < min_exponent(t) ? min_exponent(t) : e - 1;
    int quantum = lowest - (dtype_bits(t) - 1);      // the last digit's exponent; subnormals share the smallest
    double r = ldexp(rint(ldexp(x, -quantum)), quantum);
    double limit = ldexp(1.0, t == DT_F16 ? 16 : 128);
    return fabs(r) >= limit ? copysign(INFINITY, x) : r;
}

int64_t fold_wrap_int(DType t, int64_t x)
{
    switch (t) {
    case DT_BOOL: return x != 0;
    case DT_I32: return (int32_t)(uint32_t)(uint64_t)x;
    case DT_I16: return (int16_t)(uint16_t)(uint64_t)x;
    case DT_I8: return (int8_t)(uint8_t)(uint64_t)x;
    case DT_U32: return (int64_t)(uint32_t)(uint64_t)x;
    case DT_U16: return (uint16_t)(uint64_t)x;
    case DT_U8: return (uint8_t)(uint64_t)x;
    case DT_F64: case DT_F32: case DT_BF16: case DT_F16: case DT_I64: case DT_U64: case DT_INDEX: case DT_COUNT: return x;
    }
    return x;
}

int64_t fold_float_to_int(DType t, double x)
{
    if (t == DT_BOOL) return x != 0;
    if (isnan(x)) return 0;
    int bits = dtype_bits(t);
    if (dtype_family(t) == 'U') {
        if (x <= -1) return 0;
        if (x >= ldexp(1.0, bits)) return bits == 64 ? -1 : (int64_t)((UINT64_C(1) << bits) - 1);
        return (int64_t)(uint64_t)x;
    }
    int64_t max = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;
    if (x >= ldexp(1.0, bits - 1)) return max;
    if (x < -ldexp(1.0, bits - 1)) return -max - 1;
    return (int64_t)x;
}

double fold_int_to_float(DType to, DType from, int64_t x)
{
    bool negative = from != DT_U64 && x < 0;
    uint64_t m = negative ? -(uint64_t)x : (uint64_t)x;
    if (to == DT_F64) return negative ? -(double)m : (double)m;
    int shift = m >> 53 ? 11 : 0;
    uint64_t kept = m >> shift;
    if (kept << shift != m) kept |= 1;               // sticky: what was cut decides ties
    double d = ldexp((double)kept, shift);
    return fold_round_float(to, negative ? -d : d);
}

// Division with every rounding; the divisor is not zero, and not -1 where x is the smallest number.
static int64_t divide(Op op, int64_t x, int64_t y)
{
    int64_t q = x / y, r = x % y;
    bool apart = r != 0 && (r < 0) != (y < 0);
    switch (op) {
    case OP_DIV: return q;
    case OP_REM: return r;
    case OP_FLOORDIV: return apart ? q - 1 : q;
    default: return apart ? r + y : r;
    }
}

static bool fold_divide(Op op, DType t, int64_t x, int64_t y, int64_t *r)
{
    if (y == 0) return false;
    if (t == DT_U64) {
        bool quotient = op == OP_DIV || op == OP_FLOORDIV;
        *r = (int64_t)(quotient ? (uint64_t)x / (uint64_t)y : (uint64_t)x % (uint64_t)y);
        return true;
    }
    if (y == -1 && x == INT64_MIN) {
        *r = op == OP_DIV || op == OP_FLOORDIV ? x : 0;
        return t != DT_INDEX || *r == 0;
    }
    *r = fold_wrap_int(t, divide(op, x, y));
    return true;
}

static int64_t shift_left(DType t, int64_t x, int64_t count)
{
    if (count < 0 || count >= dtype_bits(t)) return 0;
    return fold_wrap_int(t, (int64_t)((uint64_t)x << count));
}

static int64_t shift_right(DType t, int64_t x, int64_t count)
{
    bool negative = dtype_family(t) != 'U' && x < 0;
    if (count < 0 || count >= dtype_bits(t)) return negative ? -1 : 0;
    if (negative) return ~(int64_t)(~(uint64_t)x >> count);
    return (int64_t)((uint64_t)x >> count);
}

static bool less(DType t, int64_t x, int64_t y) { return t == DT_U64 ? (uint64_t)x < (uint64_t)y : x < y; }

// Sums, differences and products: wrapped, or refused where an index would wrap.
static bool fold_sum(Op op, DType t, int64_t x, int64_t y, int64_t *r)
{
    bool wraps = op == OP_ADD ? __builtin_add_overflow(x, y, r)
               : op == OP_SUB ? __builtin_sub_overflow(x, y, r) : __builtin_mul_overflow(x, y, r);
    *r = fold_wrap_int(t, *r);
    return !wraps || t != DT_INDEX;
}

bool fold_int(Op op, DType t, int64_t x, int64_t y, int64_t *r)
{
    switch (op) {
    case OP_ADD: case OP_SUB: case OP_MUL: return fold_sum(op, t, x, y, r);
    case OP_NEG: return fold_sum(OP_SUB, t, 0, x, r);
    case OP_DIV: case OP_REM: case OP_FLOORDIV: case OP_MOD: return fold_divide(op, t, x, y, r);
    case OP_MIN: *r = less(t, y, x) ? y : x; return true;
    case OP_MAX: *r = less(t, x, y) ? y : x; return true;
    case OP_ABS:
        if (!less(t, x, 0)) return *r = x, true;
        return fold_sum(OP_SUB, t, 0, x, r);
    case OP_SIGN: *r = less(t, 0, x) - less(t, x, 0); return true;
    case OP_EQ: *r = x == y; return true;
    case OP_NE: *r = x != y; return true;
    case OP_LT: *r = less(t, x, y); return true;
    case OP_LE: *r = !less(t, y, x); return true;
    case OP_GT: *r = less(t, y, x); return true;
    case OP_GE: *r = !less(t, x, y); return true;
    case OP_BITAND: *r = x & y; return true;
    case OP_BITOR: *r = x | y; return true;
    case OP_BITXOR: *r = x ^ y; return true;
    case OP_BITNOT: *r = t == DT_BOOL ? !x : fold_wrap_int(t, ~x); return true;
    case OP_SHL: *r = shift_left(t, x, y); return true;
    case OP_SHR: *r = shift_right(t, x, y); return true;
    default: return false;
    }
}
