// ptort/kernel.h: what emitted C computes with: one element at a time, the same for every instruction set.
//
// Included by emitted C alone. These functions have no instruction set of their own: inlined, they take that of the
// function that uses them. What differs from one to the other is in ptort/isa.h.
// Semantics are those of the language: integers wrap, division truncates and a zero divisor is a fault, float to integer
// truncates, saturates and turns NaN into 0, min and max propagate NaN and take the first of -0 and 0. f16 and bf16 values
// are held in float and rounded after each operation, which is exact for + - * / and sqrt (24 >= 2 * 11 + 2 bits); fma has
// functions of its own.
#ifndef PTORT_KERNEL_H
#define PTORT_KERNEL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../ptort.h"
#include "exact.h"
#include "half.h"

#define PTO_SHARED static inline __attribute__((always_inline, unused))

// ---- indices ----------------------------------------------------------------------------------------------------

PTO_SHARED int64_t pto_min(int64_t a, int64_t b) { return a < b ? a : b; }
PTO_SHARED int64_t pto_max(int64_t a, int64_t b) { return a > b ? a : b; }
PTO_SHARED int64_t pto_floordiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
PTO_SHARED int64_t pto_mod(int64_t a, int64_t b) { int64_t r = a % b; return r != 0 && (r < 0) != (b < 0) ? r + b : r; }

// How many tiles cover begin..end, and where the one from `lo` on ends.
PTO_SHARED int64_t pto_tiles(int64_t begin, int64_t end, int64_t tile)
{
    return end > begin ? (int64_t)(((uint64_t)end - (uint64_t)begin - 1) / (uint64_t)tile + 1) : 0;
}
PTO_SHARED int64_t pto_tile_end(int64_t lo, int64_t tile, int64_t end)
{
    int64_t hi;
    return __builtin_add_overflow(lo, tile, &hi) ? end : pto_min(hi, end);
}

// Sizes of tiles, and where vectors may run: a sum or product that does not fit is the largest number, or the least.
PTO_SHARED int64_t pto_about_mul(int64_t a, int64_t b)
{
    int64_t r;
    return !__builtin_mul_overflow(a, b, &r) ? r : (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}
PTO_SHARED int64_t pto_about_add(int64_t a, int64_t b)
{
    int64_t r;
    return !__builtin_add_overflow(a, b, &r) ? r : a < 0 ? INT64_MIN : INT64_MAX;
}
PTO_SHARED int64_t pto_about_sub(int64_t a, int64_t b)
{
    int64_t r;
    return !__builtin_sub_overflow(a, b, &r) ? r : a < 0 ? INT64_MIN : INT64_MAX;
}

// Bytes of buffers; SIZE_MAX: more than there can be.
PTO_SHARED size_t pto_bytes_add(size_t a, size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }
PTO_SHARED size_t pto_bytes_mul(size_t a, size_t b)
{
    size_t r;
    return __builtin_mul_overflow(a, b, &r) ? SIZE_MAX : r;
}
// `bytes`, and behind them a buffer of `elements` of `size` bytes.
PTO_SHARED size_t pto_bytes_after(size_t bytes, int64_t elements, size_t size)
{
    size_t more = elements > 0 ? pto_bytes_add(pto_bytes_mul((size_t)elements, size), 63) : 0;
    return pto_bytes_add(bytes, more == SIZE_MAX ? more : more & ~(size_t)63);
}
// The distance of two elements with `inner` elements between them, `extent` times; INT64_MAX: of a buffer that cannot be.
PTO_SHARED int64_t pto_stride(int64_t inner, int64_t extent)
{
    int64_t r;
    return __builtin_mul_overflow(inner, extent, &r) ? INT64_MAX : r;
}

// Borders: where an index outside lo..hi reads. hi > lo.
PTO_SHARED int64_t pto_clamp(int64_t i, int64_t lo, int64_t hi) { return i < lo ? lo : i >= hi ? hi - 1 : i; }
PTO_SHARED int64_t pto_wrap(int64_t i, int64_t lo, int64_t hi) { return lo + pto_mod(i - lo, hi - lo); }
PTO_SHARED int64_t pto_reflect(int64_t i, int64_t lo, int64_t hi)
{
    int64_t n = hi - lo - 1;                            // the edge is not repeated: period 2n
    if (n == 0)
        return lo;
    int64_t r = pto_mod(i - lo, 2 * n);
    return lo + (r <= n ? r : 2 * n - r);
}

// ---- faults -------------------------------------------------------------------------------------------------------

// What may fault takes where it stands: a context (NULL: the fault does not count), a site, the equation, and the element as
// PTO_AT1(i) ... PTO_AT8(...), which costs nothing until there is a fault.
#define PTO_AT0 0, 0, 0, 0, 0, 0, 0, 0, 0
#define PTO_AT1(a) 1, a, 0, 0, 0, 0, 0, 0, 0
#define PTO_AT2(a, b) 2, a, b, 0, 0, 0, 0, 0, 0
#define PTO_AT3(a, b, c) 3, a, b, c, 0, 0, 0, 0, 0
#define PTO_AT4(a, b, c, d) 4, a, b, c, d, 0, 0, 0, 0
#define PTO_AT5(a, b, c, d, e) 5, a, b, c, d, e, 0, 0, 0
#define PTO_AT6(a, b, c, d, e, f) 6, a, b, c, d, e, f, 0, 0
#define PTO_AT7(a, b, c, d, e, f, g) 7, a, b, c, d, e, f, g, 0
#define PTO_AT8(a, b, c, d, e, f, g, h) 8, a, b, c, d, e, f, g, h
#define PTO_PLACE pto_context *ctx, int site, const char *where
#define PTO_ELEMENT int n, int64_t a0, int64_t a1, int64_t a2, int64_t a3, int64_t a4, int64_t a5, int64_t a6, int64_t a7
#define PTO_THE_ELEMENT n, a0, a1, a2, a3, a4, a5, a6, a7

// A read whose subscript depends on data: false, and a fault, outside 0..extent.
PTO_SHARED int pto_inside(PTO_PLACE, const char *text, int64_t i, int64_t extent, PTO_ELEMENT)
{
    if (__builtin_expect(i >= 0 && i < extent, 1))
        return 1;
    if (ctx)
        pto_fault_at(ctx, PTO_ERR_BOUNDS, site, where, text, i, extent, PTO_THE_ELEMENT);
    return 0;
}

// A subscript of data that only unsigned numbers hold is as far outside as there is.
PTO_SHARED int64_t pto_index_u64(uint64_t i) { return i > INT64_MAX ? INT64_MAX : (int64_t)i; }
PTO_SHARED int64_t pto_wrap_u64(uint64_t i, int64_t lo, int64_t hi) { return pto_wrap((int64_t)(i % (uint64_t)(hi - lo)), lo, hi); }
PTO_SHARED int64_t pto_reflect_u64(uint64_t i, int64_t lo, int64_t hi)
{
    return hi - lo > 1 ? pto_reflect((int64_t)(i % (2 * (uint64_t)(hi - lo - 1))), lo, hi) : lo;
}

// A divisor on entry: 0 is a fault.
PTO_ONCE pto_wide pto_divisor(pto_context *ctx, int site, pto_wide b)
{
    if (b == 0)
        pto_fault(ctx, PTO_ERR_DIVIDE, site, "division", 0, 0);
    return b == 0 ? 1 : b;
}

// A value that is needed: a fault where what it was computed from had one. `where` is the file.
PTO_SHARED void pto_needed(PTO_PLACE, const char *name, int64_t code, PTO_ELEMENT)
{
    if (__builtin_expect(code > 0, 0))
        pto_fault_needed(ctx, site, where, name, code, PTO_THE_ELEMENT);
}

PTO_SHARED void pto_zero_divisor(PTO_PLACE, PTO_ELEMENT)
{
    if (ctx)
        pto_fault_at(ctx, PTO_ERR_DIVIDE, site, where, "", 0, 0, PTO_THE_ELEMENT);
}

// ---- integers -----------------------------------------------------------------------------------------------------

#define PTO_INTEGER(T, name, U)                                                                                        \
    PTO_SHARED T pto_add_##name(T a, T b) { return (T)((U)a + (U)b); }                                                 \
    PTO_SHARED T pto_sub_##name(T a, T b) { return (T)((U)a - (U)b); }                                                 \
    PTO_SHARED T pto_mul_##name(T a, T b) { return (T)((U)a * (U)b); }                                                 \
    PTO_SHARED T pto_neg_##name(T a) { return (T)((U)0 - (U)a); }                                                      \
    PTO_SHARED T pto_min_##name(T a, T b) { return a < b ? a : b; }                                                    \
    PTO_SHARED T pto_max_##name(T a, T b) { return a > b ? a : b; }                                                    \
    PTO_SHARED T pto_abs_##name(T a) { return a < 0 ? pto_neg_##name(a) : a; }                                         \
    PTO_SHARED T pto_sign_##name(T a) { return (T)((a > 0) - (a < 0)); }                                               \
    PTO_SHARED T pto_shl_##name(T a, T n) { return n < 0 || (uint64_t)n >= sizeof(T) * 8 ? (T)0 : (T)((U)a << (int)n); }  \
    PTO_SHARED T pto_shr_##name(T a, T n) { return n < 0 || (uint64_t)n >= sizeof(T) * 8 ? (T)(a < 0 ? -1 : 0) : (T)(a >> (int)n); } \
    PTO_SHARED T pto_div_##name(PTO_PLACE, T a, T b, PTO_ELEMENT)                                                      \
    {                                                                                                                  \
        if (__builtin_expect(b == 0, 0)) {                                                                             \
            pto_zero_divisor(ctx, site, where, PTO_THE_ELEMENT);                                                       \
            return 0;                                                                                                  \
        }                                                                                                              \
        return b == (T)-1 && (T)-1 < 0 ? pto_neg_##name(a) : (T)(a / b);                                               \
    }                                                                                                                  \
    PTO_SHARED T pto_rem_##name(PTO_PLACE, T a, T b, PTO_ELEMENT)                                                      \
    {                                                                                                                  \
        if (__builtin_expect(b == 0, 0)) {                                                                             \
            pto_zero_divisor(ctx, site, where, PTO_THE_ELEMENT);                                                       \
            return 0;                                                                                                  \
        }                                                                                                              \
        return b == (T)-1 && (T)-1 < 0 ? 0 : (T)(a % b);                                                               \
    }                                                                                                                  \
    PTO_SHARED T pto_floordiv_##name(PTO_PLACE, T a, T b, PTO_ELEMENT)                                                 \
    {                                                                                                                  \
        T q = pto_div_##name(ctx, site, where, a, b, PTO_THE_ELEMENT), r = (T)(a - (T)((U)q * (U)b));                                    \
        return b != 0 && r != 0 && (r < 0) != (b < 0) ? (T)(q - 1) : q;                                                \
    }                                                                                                                  \
    PTO_SHARED T pto_mod_##name(PTO_PLACE, T a, T b, PTO_ELEMENT)                                                      \
    {                                                                                                                  \
        T r = pto_rem_##name(ctx, site, where, a, b, PTO_THE_ELEMENT);                                                 \
        return b != 0 && r != 0 && (r < 0) != (b < 0) ? (T)(r + b) : r;                                                \
    }

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtype-limits"
#endif
PTO_INTEGER(int64_t, i64, uint64_t)
PTO_INTEGER(int32_t, i32, uint32_t)
PTO_INTEGER(int16_t, i16, uint32_t)
PTO_INTEGER(int8_t, i8, uint32_t)
PTO_INTEGER(uint64_t, u64, uint64_t)
PTO_INTEGER(uint32_t, u32, uint32_t)
PTO_INTEGER(uint16_t, u16, uint32_t)
PTO_INTEGER(uint8_t, u8, uint32_t)
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#undef PTO_INTEGER

// ---- floats -------------------------------------------------------------------------------------------------------

// The floor of the exact quotient a / b, rounded once, where the rounded quotient q is no fraction (else it is floor(q)): q may
// have been rounded up to a whole number, or to zero. With q even numbers apart, half of that below an odd q is a number that
// rounds to the even neighbour below, and so is its floor. a - q*b is exact, and so is its sum with a part of b.
#define PTO_FLOOR_EXACT(T, name, sfx, rest)                                                                            \
    PTO_SHARED T pto_floor_exact_##name(T a, T b, T q)                                                                 \
    {                                                                                                                  \
        if (q - q != 0)                                                                                                \
            return q;                                                     /* infinite, or not a number */              \
        if (q == 0)                                                                                                    \
            return a != 0 && (a < 0) != (b < 0) ? (T)-1 : q;                                                           \
        T r = rest, below = nextafter##sfx(q, (T)-INFINITY), half = (q - below) / 2;                                   \
        if (r == 0 || (r < 0) == (b < 0))                                                                              \
            return q;                                                     /* the quotient is not below q */            \
        if (half < 1)                                                                                                  \
            return q - 1;                                                                                              \
        return fabs##sfx(r + half * b) < fabs##sfx(b) && fmod##sfx(q / (2 * half), 2) != 0 ? below : q;                \
    }
PTO_FLOOR_EXACT(float, f32, f, (float)((double)a - (double)q * (double)b))
PTO_FLOOR_EXACT(double, f64, , __builtin_fma(-q, b, a))
#undef PTO_FLOOR_EXACT

#define PTO_FLOAT(T, name, sfx)                                                                                        \
    PTO_SHARED T pto_min_##name(T a, T b) { return b < a || b != b ? b : a; }                                          \
    PTO_SHARED T pto_max_##name(T a, T b) { return b > a || b != b ? b : a; }                                          \
    PTO_SHARED T pto_sign_##name(T a) { return a > 0 ? (T)1 : a < 0 ? (T)-1 : a; }                                     \
    PTO_SHARED T pto_rsqrt_##name(T a) { return (T)1 / sqrt##sfx(a); }                                                 \
    PTO_SHARED T pto_floordiv_##name(T a, T b)                                                                         \
    {                                                                                                                  \
        T q = a / b, n = floor##sfx(q);                                                                                \
        return __builtin_expect(n != q, 1) ? n : pto_floor_exact_##name(a, b, q);                                      \
    }                                                                                                                  \
    PTO_SHARED T pto_mod_##name(T a, T b)                                                                              \
    {                                                                                                                  \
        T r = fmod##sfx(a, b);                                                                                         \
        return r == 0 ? copysign##sfx(r, b) : (r < 0) != (b < 0) ? r + b : r;                                          \
    }
PTO_FLOAT(float, f32, f)
PTO_FLOAT(double, f64, )
#undef PTO_FLOAT

// libm under names that no tensor can hide.
#define PTO_MATH1(fn)                                                                                                   \
    PTO_SHARED float pto_##fn##_f32(float x) { return fn##f(x); }                                                        \
    PTO_SHARED double pto_##fn##_f64(double x) { return fn(x); }
#define PTO_MATH2(fn)                                                                                                   \
    PTO_SHARED float pto_##fn##_f32(float x, float y) { return fn##f(x, y); }                                            \
    PTO_SHARED double pto_##fn##_f64(double x, double y) { return fn(x, y); }
PTO_MATH1(exp2) PTO_MATH1(expm1) PTO_MATH1(log2) PTO_MATH1(log10) PTO_MATH1(log1p)
PTO_MATH1(sqrt) PTO_MATH1(cbrt) PTO_MATH1(sinh) PTO_MATH1(cosh) PTO_MATH1(asinh) PTO_MATH1(acosh)
PTO_MATH1(atanh) PTO_MATH1(sin) PTO_MATH1(cos) PTO_MATH1(tan) PTO_MATH1(asin) PTO_MATH1(acos) PTO_MATH1(atan)
PTO_MATH1(erf) PTO_MATH1(floor) PTO_MATH1(ceil) PTO_MATH1(rint) PTO_MATH1(trunc) PTO_MATH1(fabs)
PTO_MATH2(atan2) PTO_MATH2(pow) PTO_MATH2(fmod)
#undef PTO_MATH1
#undef PTO_MATH2
PTO_SHARED float pto_fma_f32(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
PTO_SHARED double pto_fma_f64(double x, double y, double z) { return __builtin_fma(x, y, z); }

PTO_SHARED uint32_t pto_bits_f32(float x) { return pto_bits_of_f32(x); }
PTO_SHARED uint64_t pto_bits_f64(double x) { return pto_bits_of_f64(x); }
PTO_SHARED double pto_value_f64(uint64_t b) { double x; memcpy(&x, &b, sizeof x); return x; }

PTO_SHARED float pto_round_f16(float x) { return pto_f16_to_f32(pto_f32_to_f16(x)); }
PTO_SHARED float pto_round_bf16(float x) { return pto_bf16_to_f32(pto_f32_to_bf16(x)); }

// Rounded once: a double holds the sum exactly wherever it is near a half of the narrow type.
PTO_SHARED float pto_fma_f16_f32(float x, float y, float z) { return pto_f16_to_f32(pto_f64_to_f16((double)x * (double)y + (double)z)); }
PTO_SHARED float pto_fma_bf16_f32(float x, float y, float z) { return pto_bf16_to_f32(pto_f64_to_bf16((double)x * (double)y + (double)z)); }

// Numbers and indices, compared by their values. Of floats: the least that is not below an index, the greatest that is not
// above it, and the one that equals it (not a number: there is none).
#define PTO_BESIDE(T, name, sfx)                                                                                       \
    PTO_SHARED T pto_up_##name(int64_t i) { T x = (T)i; return x >= (T)0x1p63 || (int64_t)x >= i ? x : nextafter##sfx(x, (T)INFINITY); } \
    PTO_SHARED T pto_down_##name(int64_t i) { T x = (T)i; return x < (T)0x1p63 && (int64_t)x <= i ? x : nextafter##sfx(x, (T)-INFINITY); } \
    PTO_SHARED T pto_same_##name(int64_t i) { T x = (T)i; return x < (T)0x1p63 && (int64_t)x == i ? x : (T)NAN; }
PTO_BESIDE(float, f32, f)
PTO_BESIDE(double, f64, )
#undef PTO_BESIDE
PTO_SHARED int pto_eq_u64_i64(uint64_t x, int64_t i) { return i >= 0 && x == (uint64_t)i; }
PTO_SHARED int pto_ne_u64_i64(uint64_t x, int64_t i) { return i < 0 || x != (uint64_t)i; }
PTO_SHARED int pto_lt_u64_i64(uint64_t x, int64_t i) { return i > 0 && x < (uint64_t)i; }
PTO_SHARED int pto_le_u64_i64(uint64_t x, int64_t i) { return i >= 0 && x <= (uint64_t)i; }
PTO_SHARED int pto_gt_u64_i64(uint64_t x, int64_t i) { return i < 0 || x > (uint64_t)i; }
PTO_SHARED int pto_ge_u64_i64(uint64_t x, int64_t i) { return i <= 0 || x >= (uint64_t)i; }

#define PTO_TO_INTEGER(T, name, least, limit)                                                                          \
    PTO_SHARED T pto_f64_to_##name(double x) { return x != x ? 0 : x < (double)(least) ? (T)(least) : x >= limit ? (T)~(T)(least) : (T)x; } \
    PTO_SHARED T pto_f32_to_##name(float x) { return x != x ? 0 : x < (float)(least) ? (T)(least) : x >= limit##f ? (T)~(T)(least) : (T)x; }
PTO_TO_INTEGER(int64_t, i64, INT64_MIN, 0x1p63)
PTO_TO_INTEGER(int32_t, i32, INT32_MIN, 0x1p31)
PTO_TO_INTEGER(int16_t, i16, INT16_MIN, 0x1p15)
PTO_TO_INTEGER(int8_t, i8, INT8_MIN, 0x1p7)
PTO_TO_INTEGER(uint64_t, u64, 0, 0x1p64)
PTO_TO_INTEGER(uint32_t, u32, 0, 0x1p32)
PTO_TO_INTEGER(uint16_t, u16, 0, 0x1p16)
PTO_TO_INTEGER(uint8_t, u8, 0, 0x1p8)
#undef PTO_TO_INTEGER

#endif
