// ptort/elementary.h: exp, log, tanh and sigmoid, the same for one element and for vectors.
//
// A template: isa.h includes it for float and double, simd.h for each number of lanes, after defining
//   M_T, M_I, M_U   the value type and the signed and unsigned integer types of the same width (or vectors of them)
//   M_F(f)          the name of function f
//   M_C(x)          the constant x as M_T;  M_CI(x) as M_I
//   M_SELECT(m,a,b) a where m, else b;  M_MADD(a,b,c) a*b + c, fused where the machine has it
//   M_BITS(x)       the bits of a value as M_U;  M_VALUE(u) the value of bits
//   M_DOUBLE        1 for double
// so that every lane of a vector computes exactly the bits that one element alone would. Errors over all arguments,
// measured against libm's long double by tests/unit/test_elementary.c: exp, log, tanh, sigmoid below 2.5 units in the last place.
// Methods: Cody-Waite reduction by ln 2 and the Taylor series on +-ln2/2 (exp, expm1); log m = 2 atanh((m-1)/(m+1)) on
// sqrt(1/2)..sqrt(2) (log); tanh x = E/(E+2) with E = expm1(2x). Special values are those of C's functions.

#ifndef M_T
#include "isa.h"                     // on its own: for one element
#else

#if M_DOUBLE
#define M_SHIFT 0x1.8p52
#define M_MANTISSA 52
#define M_BIAS 1023
#define M_INV_LN2 0x1.71547652b82fep+0
#define M_LN2_HI 0x1.62e42feep-1
#define M_LN2_LO 0x1.a39ef35793c76p-33
#define M_OVERFLOW 0x1.62e42fefa39efp+9
#define M_UNDERFLOW -746.0
#define M_TANH_ONE 20.0
#else
#define M_SHIFT 0x1.8p23
#define M_MANTISSA 23
#define M_BIAS 127
#define M_INV_LN2 0x1.715476p+0
#define M_LN2_HI 0x1.62ep-1
#define M_LN2_LO 0x1.0bfbe8p-15
#define M_OVERFLOW 0x1.62e42ep+6
#define M_UNDERFLOW -104.0
#define M_TANH_ONE 10.0
#endif

// x = n ln2 + r, |r| <= ln2/2. Returns expm1(r); *n is exact for |x| <= |M_UNDERFLOW|.
PTO_INLINE M_T M_F(expm1_reduced)(M_T x, M_I *n)
{
    M_T t = M_MADD(x, M_C(M_INV_LN2), M_C(M_SHIFT));
    M_T k = t - M_C(M_SHIFT);
    M_T r = M_MADD(-k, M_C(M_LN2_HI), x);
    r = M_MADD(-k, M_C(M_LN2_LO), r);
    *n = (M_I)(M_BITS(t) - M_BITS(M_C(M_SHIFT)));
#if M_DOUBLE
    M_T p = M_C(1.0 / 6227020800.0);
    p = M_MADD(p, r, M_C(1.0 / 479001600.0));
    p = M_MADD(p, r, M_C(1.0 / 39916800.0));
    p = M_MADD(p, r, M_C(1.0 / 3628800.0));
    p = M_MADD(p, r, M_C(1.0 / 362880.0));
    p = M_MADD(p, r, M_C(1.0 / 40320.0));
    p = M_MADD(p, r, M_C(1.0 / 5040.0));
#else
    M_T p = M_C(1.0 / 5040.0);
#endif
    p = M_MADD(p, r, M_C(1.0 / 720.0));
    p = M_MADD(p, r, M_C(1.0 / 120.0));
    p = M_MADD(p, r, M_C(1.0 / 24.0));
    p = M_MADD(p, r, M_C(1.0 / 6.0));
    p = M_MADD(p, r, M_C(0.5));
    return M_MADD(p, r * r, r);
}

// 2^n for n in the range of normal exponents.
PTO_INLINE M_T M_F(power_of_two)(M_I n)
{
    return M_VALUE((M_U)(n + M_CI(M_BIAS)) << M_MANTISSA);
}

PTO_INLINE M_T M_F(exp)(M_T x)
{
    M_I n;
    M_T p = M_F(expm1_reduced)(x, &n) + M_C(1.0);
    M_I half = n >> 1;                                       // in two steps: results may be subnormal
    M_T y = p * M_F(power_of_two)(half) * M_F(power_of_two)(n - half);
    y = M_SELECT(x > M_C(M_OVERFLOW), M_C(__builtin_inf()), y);
    y = M_SELECT(x < M_C(M_UNDERFLOW), M_C(0.0), y);
    return M_SELECT(x != x, x, y);
}

PTO_INLINE M_T M_F(sigmoid)(M_T x)
{
    M_T magnitude = M_VALUE(M_BITS(x) & ~M_BITS(M_C(-0.0)));
    M_T e = M_F(exp)(-magnitude);                            // never overflows, and small results keep their digits
    M_T y = M_SELECT(x >= M_C(0.0), M_C(1.0), e) / (M_C(1.0) + e);
    return M_SELECT(x != x, x, y);
}

PTO_INLINE M_T M_F(tanh)(M_T x)
{
    M_U sign = M_BITS(x) & M_BITS(M_C(-0.0));
    M_T magnitude = M_VALUE(M_BITS(x) ^ sign);
    M_T bounded = M_SELECT(magnitude > M_C(M_TANH_ONE), M_C(M_TANH_ONE), magnitude);
    M_I n;
    M_T p = M_F(expm1_reduced)(bounded + bounded, &n), scale = M_F(power_of_two)(n);
    M_T e = M_MADD(scale, p, scale - M_C(1.0));              // expm1(2x)
    M_T y = M_VALUE(M_BITS(e / (e + M_C(2.0))) | sign);
    return M_SELECT(x != x, x, y);
}

PTO_INLINE M_T M_F(log)(M_T x)
{
    // x = 2^n m with m in sqrt(1/2)..sqrt(2); subnormals are scaled up first.
    M_T tiny = M_C(M_DOUBLE ? 0x1p54 : 0x1p25);
    M_T scaled = M_SELECT(x < M_C(M_DOUBLE ? 0x1p-1022 : 0x1p-126), x * tiny, x);
    M_T back = M_SELECT(x < M_C(M_DOUBLE ? 0x1p-1022 : 0x1p-126), M_C(M_DOUBLE ? 54.0 : 25.0), M_C(0.0));
    M_U bits = M_BITS(scaled), root = M_BITS(M_C(M_DOUBLE ? 0x1.6a09e667f3bcdp-1 : 0x1.6a09e6p-1));
    M_I n = (M_I)(bits - root) >> M_MANTISSA;
    M_T m = M_VALUE(bits - ((M_U)n << M_MANTISSA));
    M_T k = M_VALUE((M_U)n + M_BITS(M_C(M_SHIFT))) - M_C(M_SHIFT) - back;
    M_T f = m - M_C(1.0), s = f / (f + M_C(2.0)), z = s * s;
#if M_DOUBLE
    M_T p = M_C(2.0 / 23.0);
    p = M_MADD(p, z, M_C(2.0 / 21.0));
    p = M_MADD(p, z, M_C(2.0 / 19.0));
    p = M_MADD(p, z, M_C(2.0 / 17.0));
    p = M_MADD(p, z, M_C(2.0 / 15.0));
    p = M_MADD(p, z, M_C(2.0 / 13.0));
    p = M_MADD(p, z, M_C(2.0 / 11.0));
#else
    M_T p = M_C(2.0 / 11.0);
#endif
    p = M_MADD(p, z, M_C(2.0 / 9.0));
    p = M_MADD(p, z, M_C(2.0 / 7.0));
    p = M_MADD(p, z, M_C(2.0 / 5.0));
    p = M_MADD(p, z, M_C(2.0 / 3.0));
    // 2 atanh s = f - s (f - z p): the large part of the sum is exact
    M_T y = f - s * (f - z * p);
    y = M_MADD(k, M_C(M_LN2_HI), y + k * M_C(M_LN2_LO));
    y = M_SELECT(x == M_C(0.0), M_C(-__builtin_inf()), y);
    y = M_SELECT(x == M_C(__builtin_inf()), x, y);
    y = M_SELECT(x < M_C(0.0), M_C(__builtin_nan("")), y);
    return M_SELECT(x != x, x, y);
}

#undef M_T
#undef M_I
#undef M_U
#undef M_F
#undef M_C
#undef M_CI
#undef M_SELECT
#undef M_MADD
#undef M_BITS
#undef M_VALUE
#undef M_DOUBLE
#undef M_SHIFT
#undef M_MANTISSA
#undef M_BIAS
#undef M_INV_LN2
#undef M_LN2_HI
#undef M_LN2_LO
#undef M_OVERFLOW
#undef M_UNDERFLOW
#undef M_TANH_ONE
#endif
