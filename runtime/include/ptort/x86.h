// ptort/x86.h: the few instructions of x86-64-v3 that emitted C asks for by name. Included by ptort/simd.h.
//
// PTO_X86_MADD_F32X8(a, b, c) is a*b + c rounded once, PTO_X86_SQRT_..., PTO_X86_STREAM_...(p, v) a store past the caches,
// PTO_X86_ROUND_F32X8(v, mode) with a mode of PTO_ROUND_..., PTO_X86_WIDEN_F16X8 and PTO_X86_NARROW_F16X8 convert
// between floats and the bits of halves. Operands are vectors of GCC and Clang.
//
// GCC documents builtin functions for them and Clang says which it has. <immintrin.h>, which is there for compilers that
// have not, declares some six thousand functions: half of the time that a small kernel takes to compile.
#ifndef PTORT_X86_H
#define PTORT_X86_H

// Modes of the instructions that round, without a floating-point exception.
#define PTO_ROUND_NEAREST 8
#define PTO_ROUND_FLOOR 9
#define PTO_ROUND_CEIL 10
#define PTO_ROUND_TRUNC 11

typedef short pto_x86_i16x8 __attribute__((vector_size(16)));

#if !defined(__clang__) && defined(__GNUC__)
#define PTO_X86_BUILTINS 1
#define PTO_X86_STREAM_F32X8(p, v) __builtin_ia32_movntps256(p, v)
#define PTO_X86_STREAM_F64X4(p, v) __builtin_ia32_movntpd256(p, v)
#elif defined(__clang__)
#if __has_builtin(__builtin_ia32_vfmaddps) && __has_builtin(__builtin_ia32_vfmaddpd) && __has_builtin(__builtin_ia32_vfmaddps256) &&         \
    __has_builtin(__builtin_ia32_vfmaddpd256) && __has_builtin(__builtin_ia32_sqrtps256) && __has_builtin(__builtin_ia32_sqrtpd256) &&      \
    __has_builtin(__builtin_ia32_roundps256) && __has_builtin(__builtin_ia32_vcvtps2ph256) && __has_builtin(__builtin_ia32_vcvtph2ps256)
#define PTO_X86_BUILTINS 1
#define PTO_X86_STREAM_F32X8(p, v) __builtin_nontemporal_store(v, (__typeof__(v) *)(void *)(p))
#define PTO_X86_STREAM_F64X4(p, v) __builtin_nontemporal_store(v, (__typeof__(v) *)(void *)(p))
#endif
#endif

#ifdef PTO_X86_BUILTINS
#define PTO_X86_MADD_F32X4(a, b, c) __builtin_ia32_vfmaddps(a, b, c)
#define PTO_X86_MADD_F64X2(a, b, c) __builtin_ia32_vfmaddpd(a, b, c)
#define PTO_X86_MADD_F32X8(a, b, c) __builtin_ia32_vfmaddps256(a, b, c)
#define PTO_X86_MADD_F64X4(a, b, c) __builtin_ia32_vfmaddpd256(a, b, c)
#define PTO_X86_SQRT_F32X8(v) __builtin_ia32_sqrtps256(v)
#define PTO_X86_SQRT_F64X4(v) __builtin_ia32_sqrtpd256(v)
#define PTO_X86_ROUND_F32X8(v, mode) __builtin_ia32_roundps256(v, mode)
#define PTO_X86_WIDEN_F16X8(h) __builtin_ia32_vcvtph2ps256(h)
#define PTO_X86_NARROW_F16X8(v) __builtin_ia32_vcvtps2ph256(v, 0)
#else
#include <immintrin.h>
#define PTO_X86_MADD_F32X4(a, b, c) _mm_fmadd_ps((__m128)(a), (__m128)(b), (__m128)(c))
#define PTO_X86_MADD_F64X2(a, b, c) _mm_fmadd_pd((__m128d)(a), (__m128d)(b), (__m128d)(c))
#define PTO_X86_MADD_F32X8(a, b, c) _mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c))
#define PTO_X86_MADD_F64X4(a, b, c) _mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c))
#define PTO_X86_SQRT_F32X8(v) _mm256_sqrt_ps((__m256)(v))
#define PTO_X86_SQRT_F64X4(v) _mm256_sqrt_pd((__m256d)(v))
#define PTO_X86_STREAM_F32X8(p, v) _mm256_stream_ps(p, (__m256)(v))
#define PTO_X86_STREAM_F64X4(p, v) _mm256_stream_pd(p, (__m256d)(v))
#define PTO_X86_ROUND_F32X8(v, mode) _mm256_round_ps((__m256)(v), mode)
#define PTO_X86_WIDEN_F16X8(h) _mm256_cvtph_ps((__m128i)(h))
#define PTO_X86_NARROW_F16X8(v) ((pto_x86_i16x8)_mm256_cvtps_ph((__m256)(v), 0))
#endif
#endif
