// ptort/isa.h: what emitted C computes with one element at a time and what depends on the instruction set.
//
// Included by emitted C once for each instruction set of the file (vectors of that set follow: ptort/simd.h), after it has
// defined, each anew:
//   PTO_TARGET   the function attribute of the instruction set (may be empty),
//   PTO_FMA      1 where it has fused multiply-add,
//   PTO_X86      the level of the x86-64 psABI it may use (3, 4), or 0: nothing beyond SSE2, or another processor,
//   PTO_ISA      what follows the names of all types and functions of this set, here and in ptort/simd.h: empty in a file
//                with a single one.
#include "kernel.h"

#ifndef PTO_TARGET
#define PTO_TARGET
#endif
#ifndef PTO_FMA
#define PTO_FMA 0
#endif
#ifndef PTO_X86
#define PTO_X86 0
#endif
#ifndef PTO_ISA
#define PTO_ISA
#endif

#ifndef PTO_INLINE
#define PTO_INLINE static inline PTO_TARGET __attribute__((always_inline, unused))
#define PTO_CAT4_(a, b, c, d) a##b##c##d
#define PTO_CAT4(a, b, c, d) PTO_CAT4_(a, b, c, d)
#define PTO_OF_ISA(name) PTO_CAT4(name, PTO_ISA, , )
#endif

// One step of a sum of products: fused where the instruction set does it in one.
PTO_INLINE float PTO_OF_ISA(pto_madd_f32)(float a, float b, float c) { return PTO_FMA ? __builtin_fmaf(a, b, c) : c + a * b; }
PTO_INLINE double PTO_OF_ISA(pto_madd_f64)(double a, double b, double c) { return PTO_FMA ? __builtin_fma(a, b, c) : c + a * b; }

#define M_T float
#define M_I int32_t
#define M_U uint32_t
#define M_F(f) PTO_OF_ISA(pto_##f##_f32)
#define M_C(x) ((float)(x))
#define M_CI(x) (x)
#define M_SELECT(m, a, b) ((m) ? (a) : (b))
#define M_MADD PTO_OF_ISA(pto_madd_f32)
#define M_BITS pto_bits_f32
#define M_VALUE pto_f32_of_bits
#define M_DOUBLE 0
#include "elementary.h"

#define M_T double
#define M_I int64_t
#define M_U uint64_t
#define M_F(f) PTO_OF_ISA(pto_##f##_f64)
#define M_C(x) ((double)(x))
#define M_CI(x) (x)
#define M_SELECT(m, a, b) ((m) ? (a) : (b))
#define M_MADD PTO_OF_ISA(pto_madd_f64)
#define M_BITS pto_bits_f64
#define M_VALUE pto_value_f64
#define M_DOUBLE 1
#include "elementary.h"
