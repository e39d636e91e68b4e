// Arithmetic on values that carry a bound on their legal divergence; see value.h.
//
// Floats narrower than f64 are computed in double and rounded once: for + - * / and sqrt that is the correctly
// rounded result (53 digits are more than twice 24 and 2). Where an operand's err is 0 nothing is added, so code
// without sums and functions must agree to the last bit.
#include "reference/value.h"

#include "data/element.h"
#include "reference/eval.h"

#include <assert.h>
#include <float.h>
#include <math.h>

Value value_poison(int64_t why)
{
    Value v = value_int(why);
    v.err = NAN;
    return v;
}

// ---- errors ----

// The rounding that compiled code and the reference may each have done at a result of this size.
static double rounding(DType t, double x) { return 2 * element_unit(t) * fabs(x) + element_tiny(t); }

// Completes a float result: rounds it and turns the propagated error into the result's.
static Value finish(DType t, double exact, double propagated, bool operands_finite)
{
    Value v = value_float(element_round(t, exact));
    if (propagated == 0)
        return v;
    if (isfinite(v.f))
        v.err = propagated + rounding(t, v.f);
    else
        v.err = operands_finite || isinf(propagated) ? INFINITY : 0;
    if (isnan(v.err))
        v.err = INFINITY;
    return v;
}

// An error that is there stays there: it must not vanish because its product underflows.
static double at_least_tiny(double e) { return e > 0 ? e : 0x1p-1074; }

// a*b and a/b where one is not finite: the result is certain unless an error could change its sign or make it NaN.
static double special_error(Value a, Value b)
{
    bool certain = isfinite(a.err) && isfinite(b.err) && (isnan(a.f) || isnan(b.f) || (fabs(a.f) > a.err && fabs(b.f) > b.err) ||
                                                          (a.err == 0 && fabs(b.f) > b.err) || (b.err == 0 && fabs(a.f) > a.err));
    return certain ? 0x1p-1074 : INFINITY;
}

static double product_error(Value a, Value b)
{
    if (!isfinite(a.f) || !isfinite(b.f))
        return special_error(a, b);
    if (isinf(a.err) || isinf(b.err))
        return INFINITY;
    return at_least_tiny(fabs(a.f) * b.err + fabs(b.f) * a.err + a.err * b.err);
}

static double quotient_error(Value a, Value b)
{
    double room = fabs(b.f) - b.err;
    if (!isfinite(a.f) || !isfinite(b.f))
        return special_error(a, b);
    if (isinf(a.err) || !(room > 0))
        return INFINITY;
    return at_least_tiny((a.err + fabs(a.f / b.f) * b.err) / room);
}

bool value_uncertain(DType t, Value a, Value b)
{
    double e = a.err + b.err;
    if (e == 0)
        return false;
    if (isinf(e))
        return true;
    if (!dtype_is_float(t))
        return fabs((double)a.i - (double)b.i) <= e;
    return fabs(a.f - b.f) <= e;       // false for NaN: that it is one is certain
}

int value_compare(DType t, Value a, Value b)
{
    if (dtype_is_float(t))
        return isnan(a.f) || isnan(b.f) ? 2 : (a.f > b.f) - (a.f < b.f);
    if (t == DT_U64)
        return ((uint64_t)a.i > (uint64_t)b.i) - ((uint64_t)a.i < (uint64_t)b.i);
    return (a.i > b.i) - (a.i < b.i);
}

// Does a comparison hold, where value_compare says c?
static bool holds(Op op, int c)
{
    switch (op) {
    case OP_EQ: return c == 0;
    case OP_NE: return c != 0;
    case OP_LT: return c == -1;
    case OP_LE: return c == -1 || c == 0;
    case OP_GT: return c == 1;
    case OP_GE: return c == 1 || c == 0;
    default: assert(!"not a comparison"); return false;
    }
}

static Value compare(Op op, DType t, Value a, Value b)
{
    Value v = value_int(holds(op, value_compare(t, a, b)));
    v.err = value_uncertain(t, a, b) ? 1 : 0;
    return v;
}

// -1, 0, 1 or 2: a double has a whole part, which an index is compared with, and a fraction, which then decides.
static int compare_double(double x, int64_t index)
{
    if (isnan(x))
        return 2;
    if (x >= 0x1p63 || x < -0x1p63)
        return x > 0 ? 1 : -1;
    double whole = floor(x);
    int64_t i = (int64_t)whole;
    return i < index ? -1 : i > index ? 1 : x > whole;
}

static int compare_number(DType t, Value number, int64_t index)
{
    if (dtype_is_float(t))
        return compare_double(number.f, index);
    if (t == DT_U64 && number.i < 0)
        return 1;
    return (number.i > index) - (number.i < index);
}

Value value_compare_index(Op op, DType t, Value number, int64_t index, bool flipped)
{
    int c = compare_number(t, number, index);
    Value v = value_int(holds(op, flipped && c != 2 ? -c : c));
    double x = dtype_is_float(t) ? number.f : t == DT_U64 ? (double)(uint64_t)number.i : (double)number.i;
    bool far = fabs(x - (double)index) > 2 * number.err + 0x1p-50 * fabs(x);
    v.err = number.err > 0 && !isnan(x) && !far ? 1 : 0;
    return v;
}

// ---- integers ----

static Value floor_divide(Op op, int64_t a, int64_t b)
{
    if (b == -1)
        return value_int(op == OP_DIV || op == OP_FLOORDIV ? (int64_t)(0 - (uint64_t)a) : 0);
    int64_t q = a / b, r = a % b;
    bool lower = r != 0 && (r < 0) != (b < 0);
    switch (op) {
    case OP_DIV: return value_int(q);
    case OP_REM: return value_int(r);
    case OP_FLOORDIV: return value_int(q - lower);
    default: return value_int(lower ? r + b : r);
    }
}

static Value divide_int(Op op, DType t, int64_t a, int64_t b)
{
    if (b == 0)
        return value_poison(-REF_FAULT_DIVIDE);
    if (t == DT_U64) {
        bool quotient = op == OP_DIV || op == OP_FLOORDIV;
        return value_int((int64_t)(quotient ? (uint64_t)a / (uint64_t)b : (uint64_t)a % (uint64_t)b));
    }
    return floor_divide(op, a, b);
}

static int64_t shift(Op op, DType t, int64_t a, int64_t count)
{
    bool outside = count < 0 || count >= dtype_bits(t);
    if (t == DT_U64 && (uint64_t)count >= 64)
        outside = true;
    if (op == OP_SHL)
        return outside ? 0 : (int64_t)((uint64_t)a << count);
    if (dtype_family(t) == 'U' || dtype_family(t) == 'B')
        return outside ? 0 : (int64_t)((uint64_t)a >> count);
    if (outside)
        return a < 0 ? -1 : 0;
    return a < 0 ? (int64_t)~(~(uint64_t)a >> count) : a >> count;
}

// Does index arithmetic leave 64 bits?
static bool leaves_index(Op op, int64_t a, int64_t b)
{
    int64_t r;
    switch (op) {
    case OP_ADD: return __builtin_add_overflow(a, b, &r);
    case OP_SUB: return __builtin_sub_overflow(a, b, &r);
    case OP_MUL: return __builtin_mul_overflow(a, b, &r);
    case OP_NEG: case OP_ABS: return a == INT64_MIN;
    case OP_DIV: case OP_FLOORDIV: return a == INT64_MIN && b == -1;
    case OP_SHL: return a != 0 && b > 0 && (b > 62 || __builtin_mul_overflow(a, INT64_C(1) << b, &r));
    default: return false;
    }
}

static Value int_binary(Op op, DType t, Value a, Value b)
{
    if (t == DT_INDEX && leaves_index(op, a.i, b.i))
        return value_poison(-REF_FAULT_OVERFLOW);
    uint64_t x = (uint64_t)a.i, y = (uint64_t)b.i;
    Value v = {.err = 0};
    double e = a.err + b.err > 0 ? INFINITY : 0;
    switch (op) {
    case OP_ADD: v = value_int((int64_t)(x + y)); e = a.err + b.err; break;
    case OP_SUB: v = value_int((int64_t)(x - y)); e = a.err + b.err; break;
    case OP_MUL: v = value_int((int64_t)(x * y)); break;
    case OP_DIV: case OP_REM: case OP_FLOORDIV: case OP_MOD:
        v = divide_int(op, t, a.i, b.i);
        if (value_is_poison(v))
            return v;
        break;
    case OP_MIN: v = value_compare(t, b, a) < 0 ? b : a; e = fmax(a.err, b.err); break;
    case OP_MAX: v = value_compare(t, b, a) > 0 ? b : a; e = fmax(a.err, b.err); break;
    case OP_BITAND: v = value_int((int64_t)(x & y)); break;
    case OP_BITOR: v = value_int((int64_t)(x | y)); break;
    case OP_BITXOR: v = value_int((int64_t)(x ^ y)); break;
    case OP_SHL: case OP_SHR: v = value_int(shift(op, t, a.i, b.i)); break;
    default: assert(!"not an integer operation");
    }
    v.i = element_wrap(t, v.i);
    v.err = e;
    return v;
}

static Value int_unary(Op op, DType t, Value a)
{
    bool negative = t != DT_U64 && a.i < 0;
    Value v = a;
    if (t == DT_INDEX && leaves_index(op, a.i, 0))
        return value_poison(-REF_FAULT_OVERFLOW);
    switch (op) {
    case OP_NEG: v.i = (int64_t)(0 - (uint64_t)a.i); break;
    case OP_ABS: v.i = negative ? (int64_t)(0 - (uint64_t)a.i) : a.i; break;
    case OP_SIGN: v.i = negative ? -1 : a.i != 0; v.err = a.err > 0 ? 2 : 0; break;
    case OP_BITNOT: v.i = t == DT_BOOL ? !a.i : (int64_t)~(uint64_t)a.i; v.err = a.err > 0 ? INFINITY : 0; break;
    case OP_NOT: v.i = !a.i; break;
    case OP_FLOOR: case OP_CEIL: case OP_ROUND: case OP_TRUNC: break;
    case OP_ISNAN: case OP_ISINF: return value_int(0);
    default: assert(!"not an integer operation");
    }
    v.i = element_wrap(t, v.i);
    return v;
}

// ---- floats ----

// The rest of a floored quotient has the divisor's sign, where it is 0 as well.
static double float_modulo(double a, double b)
{
    double r = fmod(a, b);
    if (r == 0)
        return copysign(r, b);
    return (r < 0) != (b < 0) ? r + b : r;
}

// |a / b| without its fraction: `top`, the 64 leading bits or fewer, times 2^shift, and whether all of the bits below
// are 0, or 1.
typedef struct { uint64_t top; int shift; bool zeros, ones, fraction; } Quotient;

// Long division, bit by bit. a and b are finite, b is not 0.
static Quotient long_division(double a, double b)
{
    int ea, eb;
    uint64_t x = (uint64_t)ldexp(frexp(fabs(a), &ea), 53), y = (uint64_t)ldexp(frexp(fabs(b), &eb), 53), rest = 0;
    Quotient q = {.zeros = true, .ones = true};
    for (int bit = 52; bit >= eb - ea; bit--) {           // x at first, then zeros behind its point
        rest = rest << 1 | (bit >= 0 ? x >> bit & 1 : 0);
        uint64_t digit = rest >= y;
        rest -= digit ? y : 0;
        if (q.top >> 63 == 0) {
            q.top = q.top << 1 | digit;
            continue;
        }
        q.shift++;
        q.zeros &= !digit;
        q.ones &= digit != 0;
    }
    int skipped = eb - ea > 0 ? eb - ea : 0;                // bits of x that are fraction already
    q.fraction = rest != 0 || (skipped < 64 ? (x & ((UINT64_C(1) << skipped) - 1)) != 0 : x != 0);
    return q;
}

// The floor of the exact quotient, rounded once.
static double float_floordiv(DType t, double a, double b)
{
    double plain = a / b;
    if (!isfinite(a) || isnan(b) || a == 0 || b == 0)
        return floor(plain);
    bool negative = signbit(a) != signbit(b);
    if (isinf(b))
        return negative ? -1 : plain;
    Quotient q = long_division(a, b);
    if (negative && q.fraction) {
        bool carries = q.shift == 0 || q.ones;
        if (carries && ++q.top == 0) {
            q.top = UINT64_C(1) << 63;
            q.shift++;
        }
        q.zeros = carries;
    }
    double r = element_round(t, ldexp(element_round_int(t, (int64_t)(q.top | !q.zeros), true), q.shift));
    return negative ? -r : r;
}

static Value float_extreme(Op op, Value a, Value b)
{
    Value v = isnan(a.f) ? a : isnan(b.f) ? b : (op == OP_MIN ? b.f < a.f : b.f > a.f) ? b : a;
    v.err = isnan(v.f) ? (isinf(a.err + b.err) ? INFINITY : 0) : fmax(a.err, b.err);
    return v;
}

static double function1(Op op, double x)
{
    switch (op) {
    case OP_EXP: return exp(x);
    case OP_EXP2: return exp2(x);
    case OP_EXPM1: return expm1(x);
    case OP_LOG: return log(x);
    case OP_LOG2: return log2(x);
    case OP_LOG10: return log10(x);
    case OP_LOG1P: return log1p(x);
    case OP_SQRT: return sqrt(x);
    case OP_RSQRT: return 1 / sqrt(x);
    case OP_CBRT: return cbrt(x);
    case OP_TANH: return tanh(x);
    case OP_SINH: return sinh(x);
    case OP_COSH: return cosh(x);
    case OP_ASINH: return asinh(x);
    case OP_ACOSH: return acosh(x);
    case OP_ATANH: return atanh(x);
    case OP_SIN: return sin(x);
    case OP_COS: return cos(x);
    case OP_TAN: return tan(x);
    case OP_ASIN: return asin(x);
    case OP_ACOS: return acos(x);
    case OP_ATAN: return atan(x);
    case OP_ERF: return erf(x);
    case OP_SIGMOID: return 1 / (1 + exp(-x));
    case OP_FLOOR: return floor(x);
    case OP_CEIL: return ceil(x);
    case OP_ROUND: return nearbyint(x);
    case OP_TRUNC: return trunc(x);
    default: assert(!"not a function of one argument"); return NAN;
    }
}

// Every implementation gives the same bits.
static bool is_exact_function(Op op)
{
    return op == OP_SQRT || op == OP_FLOOR || op == OP_CEIL || op == OP_ROUND || op == OP_TRUNC;
}

// How far f moves when x moves by err: at the ends of the interval, which is where monotonic functions are worst.
static double function1_spread(Op op, double x, double y, double err)
{
    if (err == 0)
        return 0;
    if (isinf(err))
        return INFINITY;
    if (isnan(x))
        return 0x1p-1074;
    double low = function1(op, x - err), high = function1(op, x + err), spread = fmax(fabs(low - y), fabs(high - y));
    if (isnan(low) && isnan(high))
        return 0x1p-1074;
    if (op == OP_SIN || op == OP_COS)
        spread = fmin(err, 2);
    return isnan(spread) || isnan(low) || isnan(high) ? INFINITY : at_least_tiny(spread);
}

static double function_bound(DType t, double y, double function_error)
{
    return isfinite(y) ? function_error * element_unit(t) * fabs(y) + element_tiny(t) : 0;
}

static Value float_function1(Op op, DType t, Value a, double function_error)
{
    double y = function1(op, a.f), e = function1_spread(op, a.f, y, a.err);
    if (!is_exact_function(op))
        e += function_bound(t, y, function_error);
    else if (e == 0)
        return value_float(element_round(t, y));
    // An exact result at the edge of overflow may go either way only if something may differ at all.
    return finish(t, y, e, isfinite(a.f) && a.err > 0 && !isnan(y));
}

static Value float_unary(Op op, DType t, Value a, double function_error)
{
    Value v = a;
    switch (op) {
    case OP_NEG: v.f = -a.f; return v;
    case OP_ABS: v.f = fabs(a.f); return v;
    case OP_SIGN:
        v.f = isnan(a.f) || a.f == 0 ? a.f : (a.f > 0) - (a.f < 0);
        v.err = a.err > 0 && fabs(a.f) <= a.err ? 2 : 0;
        return v;
    case OP_ISNAN: case OP_ISINF:
        v = value_int((op == OP_ISNAN ? isnan(a.f) : isinf(a.f)) != 0);                 // -1 for -inf
        v.err = isinf(a.err) ? 1 : 0;
        return v;
    default: return float_function1(op, t, a, function_error);
    }
}

static double function2(Op op, double a, double b) { return op == OP_POW ? pow(a, b) : atan2(a, b); }

static Value float_function2(Op op, DType t, Value a, Value b, double function_error)
{
    double y = function2(op, a.f, b.f), e = 0;
    for (int corner = 0; corner < 4 && a.err + b.err > 0; corner++) {
        double z = function2(op, a.f + (corner & 1 ? a.err : -a.err), b.f + (corner & 2 ? b.err : -b.err));
        e = isnan(z) ? INFINITY : fmax(e, at_least_tiny(fabs(z - y)));
    }
    return finish(t, y, e + function_bound(t, y, function_error), isfinite(a.f) && isfinite(b.f) && a.err + b.err > 0);
}

static Value float_binary(Op op, DType t, Value a, Value b, double function_error)
{
    bool finite = isfinite(a.f) && isfinite(b.f), exact = a.err == 0 && b.err == 0;
    double e = exact ? 0 : INFINITY, y = 0;
    switch (op) {
    case OP_ADD: y = a.f + b.f; e = a.err + b.err; break;
    case OP_SUB: y = a.f - b.f; e = a.err + b.err; break;
    case OP_MUL: y = a.f * b.f; e = exact ? 0 : product_error(a, b); break;
    case OP_DIV: y = a.f / b.f; e = exact ? 0 : quotient_error(a, b); break;
    case OP_REM: y = fmod(a.f, b.f); break;
    case OP_FLOORDIV: y = float_floordiv(t, a.f, b.f); break;
    case OP_MOD: y = float_modulo(a.f, b.f); break;
    case OP_MIN: case OP_MAX: return float_extreme(op, a, b);
    case OP_POW: case OP_ATAN2: return float_function2(op, t, a, b, function_error);
    default: assert(!"not a float operation");
    }
    return finish(t, y, e, finite);
}

// a*b + c in one rounding: the error of the sum in double is folded into its last bit (round to odd).
static double fused(DType t, double a, double b, double c)
{
    if (t == DT_F64)
        return fma(a, b, c);
    if (t == DT_F32)
        return (double)fmaf((float)a, (float)b, (float)c);
    double p = a * b, s = p + c, back = s - p, rest = (p - (s - back)) + (c - back);
    if (rest != 0 && isfinite(s)) {
        union { double f; uint64_t bits; } u = {.f = s};
        if (!(u.bits & 1))
            s = nextafter(s, rest > 0 ? INFINITY : -INFINITY);
    }
    return element_round(t, s);
}

Value value_fma(DType t, Value a, Value b, Value c)
{
    if (!dtype_is_float(t))
        return int_binary(OP_ADD, t, int_binary(OP_MUL, t, a, b), c);
    double e = a.err == 0 && b.err == 0 ? c.err : product_error(a, b) + c.err;
    return finish(t, fused(t, a.f, b.f, c.f), e, isfinite(a.f) && isfinite(b.f) && isfinite(c.f));
}

// ---- by type ----

Value value_unary(Op op, DType t, Value a, double function_error)
{
    return dtype_is_float(t) ? float_unary(op, t, a, function_error) : int_unary(op, t, a);
}

Value value_binary(Op op, DType t, Value a, Value b, double function_error)
{
    if (op_class(op) == OPC_COMPARE)
        return compare(op, t, a, b);
    return dtype_is_float(t) ? float_binary(op, t, a, b, function_error) : int_binary(op, t, a, b);
}

static Value float_to_int(DType to, Value a)
{
    Value v = value_int(element_truncate(to, a.f));
    if (a.err == 0)
        return v;
    double low = (double)element_truncate(to, a.f - a.err), high = (double)element_truncate(to, a.f + a.err);
    v.err = isinf(a.err) ? INFINITY : fmax(fabs(low - (double)v.i), fabs(high - (double)v.i));
    return v;
}

Value value_convert(DType to, DType from, Value a)
{
    Value v = a;
    if (dtype_is_float(from) && dtype_is_float(to))
        return finish(to, a.f, a.err, isfinite(a.f));
    if (dtype_is_float(from))
        return float_to_int(to, a);
    if (dtype_is_float(to)) {
        v = value_float(element_round_int(to, a.i, from == DT_U64));
        v.err = a.err > 0 ? a.err + rounding(to, v.f) : 0;
        return v;
    }
    v.i = element_wrap(to, a.i);
    return v;
}

// ---- reductions ----

static Value lowest(DType t, bool smallest)
{
    if (dtype_is_float(t))
        return value_float(smallest ? -INFINITY : INFINITY);
    return value_int(smallest ? element_min(t) : element_max(t));
}

static Value identity(ReduceOp op, DType t)
{
    bool is_float = dtype_is_float(t);
    switch (op) {
    case RED_SUM: case RED_MEAN: return is_float ? value_float(0) : value_int(0);
    case RED_PROD: return is_float ? value_float(1) : value_int(1);
    case RED_MAX: return lowest(t, true);
    case RED_MIN: return lowest(t, false);
    case RED_ANY: return value_int(0);
    case RED_ALL: return value_int(1);
    case RED_ARGMAX: case RED_ARGMIN: return value_int(0);
    }
    return value_int(0);
}

Accumulator accumulator_new(ReduceOp op, DType type)
{
    return (Accumulator){.op = op, .type = type, .best = identity(op, type)};
}

static void add_logic(Accumulator *acc, Value term)
{
    bool decided = acc->best.i == (acc->op == RED_ANY) && acc->best.err == 0;
    bool decides = term.i == (acc->op == RED_ANY) && term.err == 0;
    if (decided)
        return;
    if (acc->op == RED_ANY ? term.i : !term.i)
        acc->best.i = term.i;
    acc->best.err = decides ? 0 : fmax(acc->best.err, term.err);
}

static void add_arg(Accumulator *acc, Value term, int64_t position)
{
    bool is_float = dtype_is_float(acc->type);
    int c = value_compare(acc->type, term, acc->best);
    bool better = acc->n == 0 || c == (acc->op == RED_ARGMAX ? 1 : -1);
    if (is_float && acc->n > 0)
        better = !isnan(acc->best.f) && (better || isnan(term.f));
    bool close = acc->n > 0 && value_uncertain(acc->type, term, acc->best);
    if (better) {
        acc->tie = close || isinf(acc->best.err);
        acc->best = term;
        acc->position = position;
    } else if (close) {
        acc->tie = true;
    }
}

static void add_sum(Accumulator *acc, Value term)
{
    if (!dtype_is_float(acc->type)) {
        acc->best = int_binary(OP_ADD, acc->type, acc->best, term);
        return;
    }
    acc->sum += (long double)term.f;
    acc->magnitude += fabs(term.f);
    acc->err += term.err;
}

void accumulator_add(Accumulator *acc, Value term, int64_t position)
{
    if (acc->poisoned)
        return;
    if (value_is_poison(term)) {
        acc->poisoned = true;
        acc->poison = term;
        return;
    }
    bool is_float = dtype_is_float(acc->type), zeros;
    switch (acc->op) {
    case RED_SUM: case RED_MEAN: add_sum(acc, term); break;
    case RED_PROD:
        acc->best = value_binary(OP_MUL, acc->type, acc->best, term, 0);
        if (is_float && acc->n > 1 && isfinite(acc->best.f) && acc->best.err == 0)      // the order is free
            acc->best.err = (double)acc->n * rounding(acc->type, acc->best.f);
        break;
    case RED_MAX: case RED_MIN:
        zeros = is_float && acc->n > 0 && acc->best.f == 0 && term.f == 0 && signbit(acc->best.f) != signbit(term.f);
        acc->best = value_binary(acc->op == RED_MAX ? OP_MAX : OP_MIN, acc->type, acc->best, term, 0);
        if (zeros)                                                                    // so is which of -0 and 0 it is
            acc->best.err = fmax(acc->best.err, DBL_TRUE_MIN);
        break;
    case RED_ANY: case RED_ALL: add_logic(acc, term); break;
    case RED_ARGMAX: case RED_ARGMIN: add_arg(acc, term, position); break;
    }
    acc->n++;
}

static Value sum_value(const Accumulator *acc)
{
    double e = acc->err;
    if (acc->n > 1)
        e += 2 * (double)acc->n * element_unit(acc->type) * acc->magnitude;
    double exact = (double)acc->sum;
    Value v = value_float(element_round(acc->type, exact));
    bool overflowed = !isfinite(v.f) && isfinite(acc->magnitude);       // the order decides
    v.err = isfinite(v.f) ? e : overflowed || isinf(acc->err) ? INFINITY : 0;
    return v;
}

static Value mean_value(const Accumulator *acc)
{
    if (!dtype_is_float(acc->type))
        return int_binary(OP_DIV, acc->type, acc->best, value_int(element_wrap(acc->type, acc->n)));
    Value sum = sum_value(acc);
    double y = (double)(acc->sum / (long double)acc->n);
    if (acc->n == 0)
        return value_float(NAN);
    return finish(acc->type, y, acc->n > 1 ? sum.err / (double)acc->n + rounding(acc->type, y) : acc->err, isfinite(sum.f));
}

Value accumulator_value(const Accumulator *acc)
{
    if (acc->poisoned)
        return acc->poison;
    switch (acc->op) {
    case RED_SUM: return dtype_is_float(acc->type) ? sum_value(acc) : acc->best;
    case RED_MEAN: return mean_value(acc);
    case RED_ARGMAX: case RED_ARGMIN: {
        if (acc->n == 0)
            return value_poison(-REF_FAULT_EMPTY);
        Value v = value_int(acc->position);
        v.err = acc->tie ? INFINITY : 0;
        return v;
    }
    case RED_PROD: case RED_MAX: case RED_MIN: case RED_ANY: case RED_ALL: return acc->best;
    }
    return acc->best;
}
