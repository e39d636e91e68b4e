// ptort/exact.h: the arithmetic of a kernel's entry, which is exact or says that it is not.
//
// Included by emitted C alone, through ptort/kernel.h. Assumptions and extents are computed in 128 bits; what loops and
// subscripts come to is followed as bounds over all points of a call. What leaves its bits is noted, never wrapped.
#ifndef PTORT_EXACT_H
#define PTORT_EXACT_H

#include <stdint.h>

// Once a call is often enough: small rather than fast.
#define PTO_ONCE static __attribute__((noinline, unused))

// `bad` is the first that did not fit.
typedef struct pto_exact {
    const char *bad;
} pto_exact;

PTO_ONCE void pto_exact_note(pto_exact *e, int lost)
{
    if (lost && !e->bad)
        e->bad = "an extent or assumption";
}

// ---- 128 bits -----------------------------------------------------------------------------------------------------

__extension__ typedef __int128 pto_wide;

PTO_ONCE pto_wide pto_wide_add(pto_exact *e, pto_wide a, pto_wide b)
{
    pto_wide r;
    pto_exact_note(e, __builtin_add_overflow(a, b, &r));
    return r;
}

PTO_ONCE pto_wide pto_wide_sub(pto_exact *e, pto_wide a, pto_wide b)
{
    pto_wide r;
    pto_exact_note(e, __builtin_sub_overflow(a, b, &r));
    return r;
}

PTO_ONCE pto_wide pto_wide_mul(pto_exact *e, pto_wide a, pto_wide b)
{
    pto_wide r;
    pto_exact_note(e, __builtin_mul_overflow(a, b, &r));
    return r;
}

PTO_ONCE pto_wide pto_wide_neg(pto_exact *e, pto_wide a) { return pto_wide_sub(e, 0, a); }
PTO_ONCE pto_wide pto_wide_abs(pto_exact *e, pto_wide a) { return a < 0 ? pto_wide_neg(e, a) : a; }
PTO_ONCE pto_wide pto_wide_sign(pto_wide a) { return (a > 0) - (a < 0); }
PTO_ONCE pto_wide pto_wide_min(pto_wide a, pto_wide b) { return b < a ? b : a; }
PTO_ONCE pto_wide pto_wide_max(pto_wide a, pto_wide b) { return b > a ? b : a; }

// The divisor is not 0.
PTO_ONCE pto_wide pto_wide_div(pto_exact *e, pto_wide a, pto_wide b) { return b == -1 ? pto_wide_neg(e, a) : a / b; }
PTO_ONCE pto_wide pto_wide_rem(pto_wide a, pto_wide b) { return b == -1 ? 0 : a % b; }
PTO_ONCE pto_wide pto_wide_mod(pto_wide a, pto_wide b)
{
    pto_wide r = pto_wide_rem(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
PTO_ONCE pto_wide pto_wide_floordiv(pto_exact *e, pto_wide a, pto_wide b)
{
    pto_wide r = pto_wide_rem(a, b);
    return pto_wide_div(e, a, b) - (r != 0 && (r < 0) != (b < 0));
}

// Ends of loops that data bounds: up to and with an index; the first index at which scale * index reaches a number, or is past it.
static inline __attribute__((always_inline, unused)) int64_t pto_after(int64_t i) { return i < INT64_MAX ? i + 1 : i; }
static inline __attribute__((always_inline, unused)) int64_t pto_least(pto_wide way, int64_t scale, int past)
{
    pto_wide i = way / scale;
    i += past ? i * scale <= way : i * scale < way;
    return i > INT64_MAX ? INT64_MAX : i < INT64_MIN ? INT64_MIN : (int64_t)i;
}

PTO_ONCE pto_wide pto_wide_shl(pto_exact *e, pto_wide a, pto_wide n)
{
    if (n < 0 || a == 0)
        return 0;
    for (; n > 0 && !e->bad; n--)
        a = pto_wide_add(e, a, a);
    return a;
}

PTO_ONCE int64_t pto_wide_i64(pto_exact *e, pto_wide a)
{
    pto_exact_note(e, a < INT64_MIN || a > INT64_MAX);
    return (int64_t)a;
}

// ---- bounds -------------------------------------------------------------------------------------------------------

// All values of an index expression: lo <= value <= hi; lo > hi: none. `lost`: it, or a part of it, does not fit.
typedef struct pto_bounds {
    int64_t lo, hi;
    int lost;
} pto_bounds;

PTO_ONCE pto_bounds pto_bounds_of(int64_t lo, int64_t hi) { return (pto_bounds){ lo, hi, 0 }; }
PTO_ONCE pto_bounds pto_bounds_at(int64_t x) { return pto_bounds_of(x, x); }
PTO_ONCE int pto_bounds_some(pto_bounds a) { return a.lo <= a.hi; }

// Those of a number from `lo` to `hi`, and of an index of a loop, which leaves out its end.
PTO_ONCE pto_bounds pto_bounds_between(pto_bounds lo, pto_bounds hi) { return pto_bounds_of(lo.lo, hi.hi); }
PTO_ONCE pto_bounds pto_bounds_loop(pto_bounds lo, pto_bounds hi)
{
    return hi.hi > lo.lo ? pto_bounds_of(lo.lo, hi.hi - 1) : pto_bounds_of(1, 0);
}

// The result of an operation on a and b. What does not fit may be anything.
PTO_ONCE pto_bounds pto_bounds_fit(pto_bounds a, pto_bounds b, pto_wide lo, pto_wide hi)
{
    if (lo < INT64_MIN || hi > INT64_MAX)
        return (pto_bounds){ INT64_MIN, INT64_MAX, 1 };
    return (pto_bounds){ (int64_t)lo, (int64_t)hi, a.lost || b.lost };
}

PTO_ONCE pto_bounds pto_bounds_add(pto_bounds a, pto_bounds b)
{
    return pto_bounds_fit(a, b, (pto_wide)a.lo + b.lo, (pto_wide)a.hi + b.hi);
}
PTO_ONCE pto_bounds pto_bounds_sub(pto_bounds a, pto_bounds b)
{
    return pto_bounds_fit(a, b, (pto_wide)a.lo - b.hi, (pto_wide)a.hi - b.lo);
}
PTO_ONCE pto_bounds pto_bounds_neg(pto_bounds a) { return pto_bounds_sub(pto_bounds_at(0), a); }
PTO_ONCE pto_bounds pto_bounds_mul(pto_bounds a, pto_bounds b)
{
    const pto_wide p[4] = { (pto_wide)a.lo * b.lo, (pto_wide)a.lo * b.hi, (pto_wide)a.hi * b.lo, (pto_wide)a.hi * b.hi };
    pto_wide lo = p[0], hi = p[0];
    for (int i = 1; i < 4; i++) {
        lo = p[i] < lo ? p[i] : lo;
        hi = p[i] > hi ? p[i] : hi;
    }
    return pto_bounds_fit(a, b, lo, hi);
}

PTO_ONCE pto_bounds pto_bounds_min(pto_bounds a, pto_bounds b)
{
    return pto_bounds_fit(a, b, a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi);
}
PTO_ONCE pto_bounds pto_bounds_max(pto_bounds a, pto_bounds b)
{
    return pto_bounds_fit(a, b, a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi);
}
PTO_ONCE pto_bounds pto_bounds_join(pto_bounds a, pto_bounds b)
{
    return pto_bounds_fit(a, b, a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi);
}

// The larger magnitude.
PTO_ONCE pto_wide pto_bounds_most(pto_bounds a)
{
    pto_wide down = -(pto_wide)a.lo;
    return down > a.hi ? down : a.hi;
}

PTO_ONCE pto_bounds pto_bounds_abs(pto_bounds a)
{
    return pto_bounds_fit(a, a, a.lo > 0 ? a.lo : a.hi < 0 ? -(pto_wide)a.hi : 0, pto_bounds_most(a));
}

// Division, in one of its two roundings; by what may be 0 or below: no larger than the dividend.
PTO_ONCE pto_bounds pto_bounds_quotient(pto_bounds a, pto_bounds b, int floors)
{
    pto_wide m = pto_bounds_most(a);
    if (b.lo < 0)
        return pto_bounds_fit(a, b, -m, m);
    if (b.lo == 0)
        return pto_bounds_fit(a, b, a.lo < 0 ? a.lo : 0, a.hi > 0 ? a.hi : 0);
    const int64_t x[4] = { a.lo, a.lo, a.hi, a.hi }, y[4] = { b.lo, b.hi, b.lo, b.hi };
    int64_t lo = INT64_MAX, hi = INT64_MIN;
    for (int i = 0; i < 4; i++) {
        int64_t q = x[i] / y[i] - (floors && x[i] < 0 && x[i] % y[i] != 0);
        lo = q < lo ? q : lo;
        hi = q > hi ? q : hi;
    }
    return pto_bounds_fit(a, b, lo, hi);
}

// The rest of a division, with the sign of the dividend, or of the divisor.
PTO_ONCE pto_bounds pto_bounds_rest(pto_bounds a, pto_bounds b, int floors)
{
    pto_wide m = pto_bounds_most(b) - 1;
    int64_t most = m < 0 ? 0 : m > INT64_MAX ? INT64_MAX : (int64_t)m;
    if (floors)
        return pto_bounds_fit(a, b, b.lo < 0 ? -most : 0, b.hi > 0 ? most : 0);
    return pto_bounds_fit(a, b, a.lo < 0 ? -most : 0, a.hi <= 0 ? 0 : a.hi < most ? a.hi : most);
}

PTO_ONCE pto_bounds pto_bounds_shl(pto_bounds a, pto_bounds n)
{
    if (n.lo >= 0 && n.hi <= 62)
        return pto_bounds_mul(a, (pto_bounds){ INT64_C(1) << n.lo, INT64_C(1) << n.hi, n.lost });
    return pto_bounds_fit(a, n, a.lo < 0 ? -((pto_wide)1 << 64) : 0, a.hi > 0 ? (pto_wide)1 << 64 : 0);
}

// `text` is what has these bounds.
PTO_ONCE void pto_bounds_check(pto_exact *e, const char *text, pto_bounds a)
{
    e->bad = e->bad || !a.lost ? e->bad : text;
}

#endif
