// ptort/cpu.h: what a processor can do, feature by feature.
//
// The names are those that GCC and Clang take in __attribute__((target("..."))). A set of features is a uint64_t, as
// pto_cpu returns it; PTO_CPU_AVX2 is a position in it. Features that are more than instructions are left out (Linux
// grants AMX to a process that asks for it).
#ifndef PTORT_CPU_H
#define PTORT_CPU_H

#include "../ptort.h"

#define PTO_CPU_FEATURES(F)                                                                                            \
    F(SSE, "sse") F(SSE2, "sse2") F(SSE3, "sse3") F(SSSE3, "ssse3") F(SSE4_1, "sse4.1") F(SSE4_2, "sse4.2")             \
    F(SSE4A, "sse4a") F(CX16, "cx16") F(POPCNT, "popcnt") F(AES, "aes") F(PCLMUL, "pclmul") F(MOVBE, "movbe")           \
    F(AVX, "avx") F(F16C, "f16c") F(FMA, "fma") F(FMA4, "fma4") F(XOP, "xop") F(AVX2, "avx2") F(BMI, "bmi")             \
    F(BMI2, "bmi2") F(LZCNT, "lzcnt") F(ADX, "adx") F(SHA, "sha") F(GFNI, "gfni") F(VAES, "vaes")                       \
    F(VPCLMULQDQ, "vpclmulqdq") F(AVXVNNI, "avxvnni") F(AVX512F, "avx512f") F(AVX512BW, "avx512bw")                     \
    F(AVX512CD, "avx512cd") F(AVX512DQ, "avx512dq") F(AVX512VL, "avx512vl") F(AVX512IFMA, "avx512ifma")                 \
    F(AVX512VBMI, "avx512vbmi") F(AVX512VBMI2, "avx512vbmi2") F(AVX512VNNI, "avx512vnni")                               \
    F(AVX512BITALG, "avx512bitalg") F(AVX512VPOPCNTDQ, "avx512vpopcntdq") F(AVX512BF16, "avx512bf16")                   \
    F(AVX512FP16, "avx512fp16") F(SIMD, "simd") F(CRC, "crc") F(LSE, "lse") F(FP16, "fp16") F(DOTPROD, "dotprod")       \
    F(SVE, "sve") F(SVE2, "sve2") F(BF16, "bf16") F(I8MM, "i8mm")

#define PTO_CPU_POSITION(id, name) PTO_CPU_##id,
enum { PTO_CPU_FEATURES(PTO_CPU_POSITION) PTO_CPU_COUNT };
#undef PTO_CPU_POSITION

#define PTO_CPU_HAS(features, id) ((features) >> PTO_CPU_##id & 1)

#endif
