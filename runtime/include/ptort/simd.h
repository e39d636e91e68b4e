// ptort/simd.h: what emitted C computes with: vectors of PTO_LANES elements.
//
// Included by emitted C once for each instruction set (after ptort/isa.h) and number of lanes it uses (a power of two from 2
// to 64), with PTO_LANES defined before (4 if it is not). For 8 lanes it defines the types pto_f32x8, pto_f64x8, pto_i32x8, pto_u8x8, ...
// and functions pto_load_f32x8, pto_max_f32x8, ..., all followed by PTO_ISA,
// through the vector extensions of GCC and Clang, which split what the machine cannot do in one register. Only fused
// multiply-add, square root, rounding and half-precision conversion ask for instructions by name, here and in ptort/x86.h;
// without them they go lane by lane. Every lane computes exactly what ptort/kernel.h computes for one element.
#ifndef PTO_INLINE
#include "isa.h"
#endif

#if PTO_X86 >= 4
#include <immintrin.h>
#elif defined(__x86_64__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if PTO_X86
#include "x86.h"
#endif

#ifndef PTORT_SIMD_H
#define PTORT_SIMD_H
PTO_SHARED int pto_aligned(const void *p, int bytes) { return ((uintptr_t)p & (uintptr_t)(bytes - 1)) == 0; }
PTO_SHARED void pto_stream_end(void)
{
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

#define PTO_CAT5_(a, b, c, d, e) a##b##c##d##e
#define PTO_CAT5(a, b, c, d, e) PTO_CAT5_(a, b, c, d, e)
#define PTO_VEC(t) PTO_CAT5(pto_, t, x, PTO_LANES, PTO_ISA)          // f32 -> pto_f32x8
#define PTO_FN(f, t) PTO_CAT5(pto_##f##_, t, x, PTO_LANES, PTO_ISA)  // load, f32 -> pto_load_f32x8

#if defined(__clang__) || __GNUC__ >= 12
#define PTO_SHUFFLE(I, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PTO_SHUFFLE(I, a, b, ...) __builtin_shuffle(a, b, (I){ __VA_ARGS__ })
#endif
#endif

#ifndef PTO_LANES
#define PTO_LANES 4
#endif

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

// ---- types, memory, broadcast ---------------------------------------------------------------------------------------

#define PTO_DEFINE(T, name)                                                                                            \
    typedef T PTO_VEC(name) __attribute__((vector_size(sizeof(T) * PTO_LANES)));                                       \
    PTO_INLINE PTO_VEC(name) PTO_FN(load, name)(const T *p) { PTO_VEC(name) v; memcpy(&v, p, sizeof v); return v; }    \
    PTO_INLINE void PTO_FN(store, name)(T *p, PTO_VEC(name) v) { memcpy(p, &v, sizeof v); }
PTO_DEFINE(double, f64)
PTO_DEFINE(float, f32)
PTO_DEFINE(int64_t, i64)
PTO_DEFINE(int32_t, i32)
PTO_DEFINE(int16_t, i16)
PTO_DEFINE(int8_t, i8)
PTO_DEFINE(uint64_t, u64)
PTO_DEFINE(uint32_t, u32)
PTO_DEFINE(uint16_t, u16)
PTO_DEFINE(uint8_t, u8)
#undef PTO_DEFINE
// The bytes of a vector of bytes, two by two.
typedef uint16_t PTO_VEC(pairs_u16) __attribute__((vector_size(PTO_LANES)));
typedef int16_t PTO_VEC(pairs_i16) __attribute__((vector_size(PTO_LANES)));

// ---- integers ---------------------------------------------------------------------------------------------------------

#define PTO_INTEGER(T, name, M, U)                                                                                     \
    PTO_INLINE PTO_VEC(name) PTO_FN(splat, name)(T x) { return x + (PTO_VEC(name)){ 0 }; }                             \
    PTO_INLINE PTO_VEC(name) PTO_FN(add, name)(PTO_VEC(name) a, PTO_VEC(name) b) { return (PTO_VEC(name))((PTO_VEC(U))a + (PTO_VEC(U))b); } \
    PTO_INLINE PTO_VEC(name) PTO_FN(sub, name)(PTO_VEC(name) a, PTO_VEC(name) b) { return (PTO_VEC(name))((PTO_VEC(U))a - (PTO_VEC(U))b); } \
    PTO_INLINE PTO_VEC(name) PTO_FN(mul, name)(PTO_VEC(name) a, PTO_VEC(name) b) { return (PTO_VEC(name))((PTO_VEC(U))a * (PTO_VEC(U))b); } \
    PTO_INLINE PTO_VEC(name) PTO_FN(select, name)(PTO_VEC(M) m, PTO_VEC(name) a, PTO_VEC(name) b)                      \
    {                                                                                                                  \
        return (PTO_VEC(name))((m & (PTO_VEC(M))a) | (~m & (PTO_VEC(M))b));                                            \
    }                                                                                                                  \
    PTO_INLINE PTO_VEC(name) PTO_FN(min, name)(PTO_VEC(name) a, PTO_VEC(name) b) { return PTO_FN(select, name)((PTO_VEC(M))(a < b), a, b); } \
    PTO_INLINE PTO_VEC(name) PTO_FN(max, name)(PTO_VEC(name) a, PTO_VEC(name) b) { return PTO_FN(select, name)((PTO_VEC(M))(a > b), a, b); } \
    PTO_INLINE PTO_VEC(name) PTO_FN(neg, name)(PTO_VEC(name) a) { return (PTO_VEC(name))(-(PTO_VEC(U))a); }            \
    PTO_INLINE PTO_VEC(name) PTO_FN(abs, name)(PTO_VEC(name) a) { return PTO_FN(max, name)(a, PTO_FN(neg, name)(a)); }
PTO_INTEGER(int64_t, i64, i64, u64)
PTO_INTEGER(int32_t, i32, i32, u32)
PTO_INTEGER(int16_t, i16, i16, u16)
PTO_INTEGER(int8_t, i8, i8, u8)
PTO_INTEGER(uint64_t, u64, i64, u64)
PTO_INTEGER(uint32_t, u32, i32, u32)
PTO_INTEGER(uint16_t, u16, i16, u16)
PTO_INTEGER(uint8_t, u8, i8, u8)
#undef PTO_INTEGER

// first, first + step, first + 2*step, ... of the lanes.
#define PTO_RAMP(T, name, U)                                                                                           \
    PTO_INLINE PTO_VEC(name) PTO_FN(ramp, name)(T first, T step)                                                       \
    {                                                                                                                  \
        static const T numbers[64] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,   \
            22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,    \
            48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63 };                                          \
        PTO_VEC(name) lane;                                                                                            \
        memcpy(&lane, numbers, sizeof lane);                                                                           \
        return (PTO_VEC(name))((PTO_VEC(U))PTO_FN(splat, name)(first) + (PTO_VEC(U))PTO_FN(splat, name)(step) * (PTO_VEC(U))lane); \
    }
PTO_RAMP(int64_t, i64, u64)
PTO_RAMP(int32_t, i32, u32)
PTO_RAMP(int16_t, i16, u16)
PTO_RAMP(int8_t, i8, u8)
PTO_RAMP(uint64_t, u64, u64)
PTO_RAMP(uint32_t, u32, u32)
PTO_RAMP(uint16_t, u16, u16)
PTO_RAMP(uint8_t, u8, u8)
#undef PTO_RAMP

// ---- floats -------------------------------------------------------------------------------------------------------------

#define PTO_LANEWISE1(name, f)                                                                                         \
    PTO_INLINE PTO_VEC(name) PTO_FN(f, name)(PTO_VEC(name) x)                                                          \
    {                                                                                                                  \
        for (int l = 0; l < PTO_LANES; l++)                                                                            \
            x[l] = pto_##f##_##name(x[l]);                                                                             \
        return x;                                                                                                      \
    }
#define PTO_LANEWISE2(name, f)                                                                                         \
    PTO_INLINE PTO_VEC(name) PTO_FN(f, name)(PTO_VEC(name) x, PTO_VEC(name) y)                                         \
    {                                                                                                                  \
        for (int l = 0; l < PTO_LANES; l++)                                                                            \
            x[l] = pto_##f##_##name(x[l], y[l]);                                                                       \
        return x;                                                                                                      \
    }
#define PTO_FLOAT(T, name, M, absbits)                                                                                 \
    PTO_INLINE PTO_VEC(name) PTO_FN(splat, name)(T x) { return x - (PTO_VEC(name)){ 0 }; }                             \
    PTO_INLINE PTO_VEC(name) PTO_FN(select, name)(PTO_VEC(M) m, PTO_VEC(name) a, PTO_VEC(name) b)                      \
    {                                                                                                                  \
        return (PTO_VEC(name))((m & (PTO_VEC(M))a) | (~m & (PTO_VEC(M))b));                                            \
    }                                                                                                                  \
    PTO_INLINE PTO_VEC(name) PTO_FN(min, name)(PTO_VEC(name) a, PTO_VEC(name) b) { return PTO_FN(select, name)((b < a) | (b != b), b, a); } \
    PTO_INLINE PTO_VEC(name) PTO_FN(max, name)(PTO_VEC(name) a, PTO_VEC(name) b) { return PTO_FN(select, name)((b > a) | (b != b), b, a); } \
    PTO_INLINE PTO_VEC(name) PTO_FN(fabs, name)(PTO_VEC(name) a) { return (PTO_VEC(name))((PTO_VEC(M))a & absbits); }     \
    PTO_LANEWISE1(name, exp2) PTO_LANEWISE1(name, expm1)                                                               \
    PTO_LANEWISE1(name, log2) PTO_LANEWISE1(name, log10) PTO_LANEWISE1(name, log1p) PTO_LANEWISE1(name, cbrt)          \
    PTO_LANEWISE1(name, sinh) PTO_LANEWISE1(name, cosh) PTO_LANEWISE1(name, asinh)           \
    PTO_LANEWISE1(name, acosh) PTO_LANEWISE1(name, atanh) PTO_LANEWISE1(name, sin) PTO_LANEWISE1(name, cos)            \
    PTO_LANEWISE1(name, tan) PTO_LANEWISE1(name, asin) PTO_LANEWISE1(name, acos) PTO_LANEWISE1(name, atan)             \
    PTO_LANEWISE1(name, erf) PTO_LANEWISE1(name, sign)                                    \
    PTO_LANEWISE2(name, atan2) PTO_LANEWISE2(name, pow) PTO_LANEWISE2(name, fmod) PTO_LANEWISE2(name, mod)
PTO_FLOAT(float, f32, i32, 0x7fffffff)
PTO_FLOAT(double, f64, i64, INT64_C(0x7fffffffffffffff))
#undef PTO_FLOAT

// One instruction where the width is a register's, else lane by lane.
#define PTO_LANES_F32 (PTO_LANES * 4)
#define PTO_LANES_F64 (PTO_LANES * 8)

PTO_INLINE PTO_VEC(f32) PTO_FN(madd, f32)(PTO_VEC(f32) a, PTO_VEC(f32) b, PTO_VEC(f32) c)
{
#if !PTO_FMA
    return c + a * b;
#elif PTO_X86 && PTO_LANES_F32 == 16
    return (PTO_VEC(f32))PTO_X86_MADD_F32X4(a, b, c);
#elif PTO_X86 && PTO_LANES_F32 == 32
    return (PTO_VEC(f32))PTO_X86_MADD_F32X8(a, b, c);
#elif PTO_X86 >= 4 && PTO_LANES_F32 == 64
    return (PTO_VEC(f32))_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__aarch64__) && PTO_LANES_F32 == 16
    return (PTO_VEC(f32))vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
    for (int l = 0; l < PTO_LANES; l++)
        c[l] = __builtin_fmaf(a[l], b[l], c[l]);
    return c;
#endif
}

PTO_INLINE PTO_VEC(f64) PTO_FN(madd, f64)(PTO_VEC(f64) a, PTO_VEC(f64) b, PTO_VEC(f64) c)
{
#if !PTO_FMA
    return c + a * b;
#elif PTO_X86 && PTO_LANES_F64 == 16
    return (PTO_VEC(f64))PTO_X86_MADD_F64X2(a, b, c);
#elif PTO_X86 && PTO_LANES_F64 == 32
    return (PTO_VEC(f64))PTO_X86_MADD_F64X4(a, b, c);
#elif PTO_X86 >= 4 && PTO_LANES_F64 == 64
    return (PTO_VEC(f64))_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__aarch64__) && PTO_LANES_F64 == 16
    return (PTO_VEC(f64))vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
    for (int l = 0; l < PTO_LANES; l++)
        c[l] = __builtin_fma(a[l], b[l], c[l]);
    return c;
#endif
}

PTO_INLINE PTO_VEC(f32) PTO_FN(sqrt, f32)(PTO_VEC(f32) x)
{
#if PTO_X86 && PTO_LANES_F32 == 16
    return (PTO_VEC(f32))_mm_sqrt_ps((__m128)x);
#elif PTO_X86 && PTO_LANES_F32 == 32
    return (PTO_VEC(f32))PTO_X86_SQRT_F32X8(x);
#elif PTO_X86 >= 4 && PTO_LANES_F32 == 64
    return (PTO_VEC(f32))_mm512_sqrt_ps((__m512)x);
#elif defined(__aarch64__) && PTO_LANES_F32 == 16
    return (PTO_VEC(f32))vsqrtq_f32((float32x4_t)x);
#else
    for (int l = 0; l < PTO_LANES; l++)
        x[l] = sqrtf(x[l]);
    return x;
#endif
}

PTO_INLINE PTO_VEC(f64) PTO_FN(sqrt, f64)(PTO_VEC(f64) x)
{
#if PTO_X86 && PTO_LANES_F64 == 16
    return (PTO_VEC(f64))_mm_sqrt_pd((__m128d)x);
#elif PTO_X86 && PTO_LANES_F64 == 32
    return (PTO_VEC(f64))PTO_X86_SQRT_F64X4(x);
#elif PTO_X86 >= 4 && PTO_LANES_F64 == 64
    return (PTO_VEC(f64))_mm512_sqrt_pd((__m512d)x);
#elif defined(__aarch64__) && PTO_LANES_F64 == 16
    return (PTO_VEC(f64))vsqrtq_f64((float64x2_t)x);
#else
    for (int l = 0; l < PTO_LANES; l++)
        x[l] = sqrt(x[l]);
    return x;
#endif
}

// A store past the caches, for results larger than they are that nothing reads soon. `p` is aligned to the vector where
// `past` is true (pto_aligned); pto_stream_end orders such stores before what follows.
PTO_INLINE void PTO_FN(put, f32)(float *p, PTO_VEC(f32) v, int past)
{
#if defined(__x86_64__) && PTO_LANES_F32 == 16
    if (past) {
        _mm_stream_ps(p, (__m128)v);
        return;
    }
#elif PTO_X86 && PTO_LANES_F32 == 32
    if (past) {
        PTO_X86_STREAM_F32X8(p, v);
        return;
    }
#elif PTO_X86 >= 4 && PTO_LANES_F32 == 64
    if (past) {
        _mm512_stream_ps(p, (__m512)v);
        return;
    }
#endif
    (void)past;
    PTO_FN(store, f32)(p, v);
}

PTO_INLINE void PTO_FN(put, f64)(double *p, PTO_VEC(f64) v, int past)
{
#if defined(__x86_64__) && PTO_LANES_F64 == 16
    if (past) {
        _mm_stream_pd(p, (__m128d)v);
        return;
    }
#elif PTO_X86 && PTO_LANES_F64 == 32
    if (past) {
        PTO_X86_STREAM_F64X4(p, v);
        return;
    }
#elif PTO_X86 >= 4 && PTO_LANES_F64 == 64
    if (past) {
        _mm512_stream_pd(p, (__m512d)v);
        return;
    }
#endif
    (void)past;
    PTO_FN(store, f64)(p, v);
}

PTO_INLINE PTO_VEC(f32) PTO_FN(rsqrt, f32)(PTO_VEC(f32) x) { return PTO_FN(splat, f32)(1.0f) / PTO_FN(sqrt, f32)(x); }
PTO_INLINE PTO_VEC(f64) PTO_FN(rsqrt, f64)(PTO_VEC(f64) x) { return PTO_FN(splat, f64)(1.0) / PTO_FN(sqrt, f64)(x); }

PTO_INLINE PTO_VEC(u32) PTO_FN(bits, f32)(PTO_VEC(f32) x) { return (PTO_VEC(u32))x; }
PTO_INLINE PTO_VEC(u64) PTO_FN(bits, f64)(PTO_VEC(f64) x) { return (PTO_VEC(u64))x; }
PTO_INLINE PTO_VEC(f32) PTO_FN(value, f32)(PTO_VEC(u32) x) { return (PTO_VEC(f32))x; }
PTO_INLINE PTO_VEC(f64) PTO_FN(value, f64)(PTO_VEC(u64) x) { return (PTO_VEC(f64))x; }

#define M_T PTO_VEC(f32)
#define M_I PTO_VEC(i32)
#define M_U PTO_VEC(u32)
#define M_F(f) PTO_FN(f, f32)
#define M_C(x) PTO_FN(splat, f32)((float)(x))
#define M_CI(x) PTO_FN(splat, i32)(x)
#define M_SELECT(m, a, b) PTO_FN(select, f32)(m, a, b)
#define M_MADD PTO_FN(madd, f32)
#define M_BITS PTO_FN(bits, f32)
#define M_VALUE PTO_FN(value, f32)
#define M_DOUBLE 0
#include "elementary.h"

#define M_T PTO_VEC(f64)
#define M_I PTO_VEC(i64)
#define M_U PTO_VEC(u64)
#define M_F(f) PTO_FN(f, f64)
#define M_C(x) PTO_FN(splat, f64)((double)(x))
#define M_CI(x) PTO_FN(splat, i64)(x)
#define M_SELECT(m, a, b) PTO_FN(select, f64)(m, a, b)
#define M_MADD PTO_FN(madd, f64)
#define M_BITS PTO_FN(bits, f64)
#define M_VALUE PTO_FN(value, f64)
#define M_DOUBLE 1
#include "elementary.h"

#if PTO_X86 && PTO_LANES_F32 == 32
#define PTO_ROUND_F32(f, mode) PTO_INLINE PTO_VEC(f32) PTO_FN(f, f32)(PTO_VEC(f32) x) { return (PTO_VEC(f32))PTO_X86_ROUND_F32X8(x, mode); }
#elif PTO_X86 >= 4 && PTO_LANES_F32 == 64
#define PTO_ROUND_F32(f, mode) PTO_INLINE PTO_VEC(f32) PTO_FN(f, f32)(PTO_VEC(f32) x) { return (PTO_VEC(f32))_mm512_roundscale_ps((__m512)x, mode); }
#else
#define PTO_ROUND_F32(f, mode) PTO_LANEWISE1(f32, f)
#endif
PTO_ROUND_F32(floor, PTO_ROUND_FLOOR)
PTO_ROUND_F32(ceil, PTO_ROUND_CEIL)
PTO_ROUND_F32(rint, PTO_ROUND_NEAREST)
PTO_ROUND_F32(trunc, PTO_ROUND_TRUNC)
#undef PTO_ROUND_F32
PTO_LANEWISE1(f64, floor) PTO_LANEWISE1(f64, ceil) PTO_LANEWISE1(f64, rint) PTO_LANEWISE1(f64, trunc)

// Floats to integers, as pto_f32_to_i32 and so on: towards zero, the nearest value of what is beyond, 0 of NaN.
#define PTO_TO_INTEGER(name, from, M, least, most)                                                                     \
    PTO_INLINE PTO_VEC(name) PTO_FN(to_##name, from)(PTO_VEC(from) x)                                                  \
    {                                                                                                                  \
        const PTO_VEC(from) lo = PTO_FN(splat, from)(least), hi = PTO_FN(splat, from)(most);                           \
        PTO_VEC(from) v = (PTO_VEC(from))((PTO_VEC(M))x & (PTO_VEC(M))(x == x));                                       \
        v = PTO_FN(select, from)((PTO_VEC(M))(v < lo), lo, v);                                                         \
        v = PTO_FN(select, from)((PTO_VEC(M))(v > hi), hi, v);                                                         \
        return __builtin_convertvector(__builtin_convertvector(v, PTO_VEC(i32)), PTO_VEC(name));                       \
    }
PTO_TO_INTEGER(i8, f32, i32, -0x1p7f, 127.0f)
PTO_TO_INTEGER(u8, f32, i32, 0.0f, 255.0f)
PTO_TO_INTEGER(i16, f32, i32, -0x1p15f, 32767.0f)
PTO_TO_INTEGER(u16, f32, i32, 0.0f, 65535.0f)
PTO_TO_INTEGER(i8, f64, i64, -0x1p7, 127.0)
PTO_TO_INTEGER(u8, f64, i64, 0.0, 255.0)
PTO_TO_INTEGER(i16, f64, i64, -0x1p15, 32767.0)
PTO_TO_INTEGER(u16, f64, i64, 0.0, 65535.0)
PTO_TO_INTEGER(i32, f64, i64, -0x1p31, 2147483647.0)
#undef PTO_TO_INTEGER
// (2^31 - 1 is no f32: the largest one below 2^31, and what is not below)
PTO_INLINE PTO_VEC(i32) PTO_FN(to_i32, f32)(PTO_VEC(f32) x)
{
    const PTO_VEC(f32) lo = PTO_FN(splat, f32)(-0x1p31f), hi = PTO_FN(splat, f32)(0x1.fffffep30f);
    PTO_VEC(f32) v = (PTO_VEC(f32))((PTO_VEC(i32))x & (PTO_VEC(i32))(x == x));
    v = PTO_FN(select, f32)((PTO_VEC(i32))(v < lo), lo, v);
    v = PTO_FN(select, f32)((PTO_VEC(i32))(v > hi), hi, v);
    return PTO_FN(select, i32)((PTO_VEC(i32))(x > hi), PTO_FN(splat, i32)(INT32_MAX), __builtin_convertvector(v, PTO_VEC(i32)));
}

// The floor of the quotient where that is a fraction in all lanes, else one by one.
#define PTO_FLOORDIV(name, M)                                                                                          \
    PTO_INLINE PTO_VEC(name) PTO_FN(floordiv, name)(PTO_VEC(name) a, PTO_VEC(name) b)                                  \
    {                                                                                                                  \
        PTO_VEC(name) q = a / b, n = PTO_FN(floor, name)(q);                                                           \
        PTO_VEC(M) whole = (PTO_VEC(M))(n == q);                                                                       \
        int any = 0;                                                                                                   \
        for (int l = 0; l < PTO_LANES; l++)                                                                            \
            any |= whole[l] != 0;                                                                                      \
        if (any)                                                                                                       \
            for (int l = 0; l < PTO_LANES; l++)                                                                        \
                n[l] = pto_floordiv_##name(a[l], b[l]);                                                                \
        return n;                                                                                                      \
    }
PTO_FLOORDIV(f32, i32)
PTO_FLOORDIV(f64, i64)
#undef PTO_FLOORDIV

// ---- halves -------------------------------------------------------------------------------------------------------------

PTO_INLINE PTO_VEC(f32) PTO_FN(load_bf16, f32)(const uint16_t *p)
{
    return (PTO_VEC(f32))(__builtin_convertvector(PTO_FN(load, u16)(p), PTO_VEC(u32)) << 16);
}

PTO_INLINE PTO_VEC(f32) PTO_FN(load_f16, f32)(const uint16_t *p)
{
#if PTO_X86 && PTO_LANES == 8
    pto_x86_i16x8 h;
    memcpy(&h, p, sizeof h);
    return (PTO_VEC(f32))PTO_X86_WIDEN_F16X8(h);
#elif PTO_X86 >= 4 && PTO_LANES == 16
    __m256i h;
    memcpy(&h, p, sizeof h);
    return (PTO_VEC(f32))_mm512_cvtph_ps(h);
#else
    PTO_VEC(f32) v = { 0 };
    for (int l = 0; l < PTO_LANES; l++)
        v[l] = pto_f16_to_f32(p[l]);
    return v;
#endif
}

#define PTO_HALF(h)                                                                                                    \
    PTO_INLINE void PTO_FN(store_##h, f32)(uint16_t *p, PTO_VEC(f32) v)                                                \
    {                                                                                                                  \
        for (int l = 0; l < PTO_LANES; l++)                                                                            \
            p[l] = pto_f32_to_##h(v[l]);                                                                               \
    }                                                                                                                  \
    PTO_INLINE PTO_VEC(f32) PTO_FN(round_##h, f32)(PTO_VEC(f32) v)                                                     \
    {                                                                                                                  \
        for (int l = 0; l < PTO_LANES; l++)                                                                            \
            v[l] = pto_round_##h(v[l]);                                                                                \
        return v;                                                                                                      \
    }
#if PTO_X86 && PTO_LANES == 8
PTO_INLINE void PTO_FN(store_f16, f32)(uint16_t *p, PTO_VEC(f32) v)
{
    pto_x86_i16x8 h = PTO_X86_NARROW_F16X8(v);
    memcpy(p, &h, sizeof h);
}
PTO_INLINE PTO_VEC(f32) PTO_FN(round_f16, f32)(PTO_VEC(f32) v)
{
    return (PTO_VEC(f32))PTO_X86_WIDEN_F16X8(PTO_X86_NARROW_F16X8(v));
}
#elif PTO_X86 >= 4 && PTO_LANES == 16
PTO_INLINE void PTO_FN(store_f16, f32)(uint16_t *p, PTO_VEC(f32) v)
{
    __m256i h = _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT);
    memcpy(p, &h, sizeof h);
}
PTO_INLINE PTO_VEC(f32) PTO_FN(round_f16, f32)(PTO_VEC(f32) v)
{
    return (PTO_VEC(f32))_mm512_cvtph_ps(_mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT));
}
#else
PTO_HALF(f16)
#endif
PTO_HALF(bf16)
#undef PTO_HALF

// ---- across lanes -------------------------------------------------------------------------------------------------------

// The lanes combined pairwise: ((0 4) (2 6)) ((1 5) (3 7)), the same in every build.
#define PTO_FOLD(T, name, what, combine)                                                                               \
    PTO_INLINE T PTO_FN(fold_##what, name)(PTO_VEC(name) v)                                                            \
    {                                                                                                                  \
        T t[PTO_LANES];                                                                                                \
        memcpy(t, &v, sizeof v);                                                                                       \
        for (int n = PTO_LANES / 2; n > 0; n /= 2)                                                                     \
            for (int l = 0; l < n; l++)                                                                                \
                t[l] = combine(t[l], t[l + n]);                                                                        \
        return t[0];                                                                                                   \
    }

// Lane l gets lane l - by, the first ones come from `fill`.
#if PTO_LANES == 2
#define PTO_SHIFT(I, by, fill, v) PTO_SHUFFLE(I, fill, v, 0, 2)
#elif PTO_LANES == 4
#define PTO_SHIFT(I, by, fill, v) ((by) == 1 ? PTO_SHUFFLE(I, fill, v, 0, 4, 5, 6) : PTO_SHUFFLE(I, fill, v, 0, 1, 4, 5))
#elif PTO_LANES == 8
#define PTO_SHIFT(I, by, fill, v)                                                                                      \
    ((by) == 1   ? PTO_SHUFFLE(I, fill, v, 0, 8, 9, 10, 11, 12, 13, 14)                                                \
     : (by) == 2 ? PTO_SHUFFLE(I, fill, v, 0, 1, 8, 9, 10, 11, 12, 13)                                                 \
                 : PTO_SHUFFLE(I, fill, v, 0, 1, 2, 3, 8, 9, 10, 11))
#elif PTO_LANES == 16
#define PTO_SHIFT(I, by, fill, v)                                                                                      \
    ((by) == 1   ? PTO_SHUFFLE(I, fill, v, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30)              \
     : (by) == 2 ? PTO_SHUFFLE(I, fill, v, 0, 1, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29)               \
     : (by) == 4 ? PTO_SHUFFLE(I, fill, v, 0, 1, 2, 3, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27)                 \
                 : PTO_SHUFFLE(I, fill, v, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23))
#endif

#ifdef PTO_SHIFT
#define PTO_PREFIX(name, M, what, combine)                                                                             \
    PTO_INLINE PTO_VEC(name) PTO_FN(prefix_##what, name)(PTO_VEC(name) v, PTO_VEC(name) identity)                      \
    {                                                                                                                  \
        v = combine(PTO_SHIFT(PTO_VEC(M), 1, identity, v), v);                                                         \
        if (PTO_LANES > 2)                                                                                             \
            v = combine(PTO_SHIFT(PTO_VEC(M), 2, identity, v), v);                                                     \
        if (PTO_LANES > 4)                                                                                             \
            v = combine(PTO_SHIFT(PTO_VEC(M), 4, identity, v), v);                                                     \
        if (PTO_LANES > 8)                                                                                             \
            v = combine(PTO_SHIFT(PTO_VEC(M), 8, identity, v), v);                                                     \
        return v;                                                                                                      \
    }
#else
#define PTO_PREFIX(name, M, what, combine)                                                                             \
    PTO_INLINE PTO_VEC(name) PTO_FN(prefix_##what, name)(PTO_VEC(name) v, PTO_VEC(name) identity)                      \
    {                                                                                                                  \
        PTO_VEC(name) sum = identity;                                                                                  \
        for (int l = 0; l < PTO_LANES; l++) {                                                                          \
            PTO_VEC(name) one = identity;                                                                              \
            for (int m = l; m < PTO_LANES; m++)                                                                        \
                one[m] = v[l];                                                                                         \
            sum = combine(sum, one);                                                                                   \
        }                                                                                                              \
        return sum;                                                                                                    \
    }
#endif

#define PTO_PLUS(a, b) ((a) + (b))
#define PTO_TIMES(a, b) ((a) * (b))
#define PTO_ACROSS_FLOAT(T, name, M)                                                                                   \
    PTO_FOLD(T, name, sum, PTO_PLUS) PTO_FOLD(T, name, prod, PTO_TIMES)                                                \
    PTO_FOLD(T, name, max, pto_max_##name) PTO_FOLD(T, name, min, pto_min_##name)                                      \
    PTO_PREFIX(name, M, sum, PTO_PLUS) PTO_PREFIX(name, M, prod, PTO_TIMES)                                            \
    PTO_PREFIX(name, M, max, PTO_FN(max, name)) PTO_PREFIX(name, M, min, PTO_FN(min, name))
#define PTO_ACROSS_INTEGER(T, name, M)                                                                                 \
    PTO_FOLD(T, name, sum, pto_add_##name) PTO_FOLD(T, name, prod, pto_mul_##name)                                     \
    PTO_FOLD(T, name, max, pto_max_##name) PTO_FOLD(T, name, min, pto_min_##name)                                      \
    PTO_PREFIX(name, M, sum, PTO_FN(add, name)) PTO_PREFIX(name, M, prod, PTO_FN(mul, name))                           \
    PTO_PREFIX(name, M, max, PTO_FN(max, name)) PTO_PREFIX(name, M, min, PTO_FN(min, name))
PTO_ACROSS_FLOAT(float, f32, i32)
PTO_ACROSS_FLOAT(double, f64, i64)
PTO_ACROSS_INTEGER(int64_t, i64, i64)
PTO_ACROSS_INTEGER(int32_t, i32, i32)
PTO_ACROSS_INTEGER(uint64_t, u64, i64)
PTO_ACROSS_INTEGER(uint32_t, u32, i32)
PTO_ACROSS_INTEGER(int16_t, i16, i16)
PTO_ACROSS_INTEGER(uint16_t, u16, i16)
PTO_ACROSS_INTEGER(int8_t, i8, i8)
PTO_ACROSS_INTEGER(uint8_t, u8, i8)

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#undef PTO_ACROSS_FLOAT
#undef PTO_ACROSS_INTEGER
#undef PTO_FOLD
#undef PTO_PREFIX
#undef PTO_PLUS
#undef PTO_TIMES
#undef PTO_SHIFT
#undef PTO_LANEWISE1
#undef PTO_LANEWISE2
#undef PTO_LANES_F32
#undef PTO_LANES_F64
#undef PTO_LANES
