// ptort/half.h: conversions between f32, f64, integers and the 16-bit formats f16 (IEEE binary16) and bf16.
//
// A 16-bit value is its bits in a uint16_t. To 16 bits: round to nearest, ties to even, once, from the value that was
// given; subnormals are kept, overflow gives infinity, NaN gives a quiet NaN of the same sign. From 16 bits: exact, NaN
// gives NaN. Integer arithmetic (and products of normal numbers that are exact), so neither the rounding mode nor
// flush-to-zero nor -ffast-math changes a result; pto_bf16_to_f64 alone widens subnormals in the floating-point unit.
#ifndef PTORT_HALF_H
#define PTORT_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t pto_bits_of_f32(float x) { uint32_t b; memcpy(&b, &x, sizeof b); return b; }
static inline uint64_t pto_bits_of_f64(double x) { uint64_t b; memcpy(&b, &x, sizeof b); return b; }
static inline float pto_f32_of_bits(uint32_t b) { float x; memcpy(&x, &b, sizeof x); return x; }

static inline float pto_bf16_to_f32(uint16_t h) { return pto_f32_of_bits((uint32_t)h << 16); }

static inline uint16_t pto_f32_to_bf16(float x) {
    uint32_t b = pto_bits_of_f32(x);
    if ((b & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(b >> 16 | 0x40u);
    return (uint16_t)((b + 0x7fffu + (b >> 16 & 1u)) >> 16);          // a carry out of the significand is right, up to infinity
}

static inline float pto_f16_to_f32(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, exponent = h >> 10 & 0x1fu, fraction = h & 0x3ffu;
    if (exponent == 0x1fu)
        return pto_f32_of_bits(sign | 0x7f800000u | fraction << 13);
    if (exponent == 0) {
        float x = (float)(int)fraction * 0x1p-24f;                    // exact, and normal in f32
        return pto_f32_of_bits(sign | pto_bits_of_f32(x));
    }
    return pto_f32_of_bits(sign | (exponent + 112u) << 23 | fraction << 13);
}

static inline uint16_t pto_f32_to_f16(float x) {
    uint32_t b = pto_bits_of_f32(x), sign = b >> 16 & 0x8000u, a = b & 0x7fffffffu;
    if (a > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u | (a >> 13 & 0x1ffu));
    if (a >= 0x477ff000u)                                             // 65520 and above, where ties go to infinity
        return (uint16_t)(sign | 0x7c00u);
    if (a >= 0x38800000u)                                             // 2^-14 and above: normal
        return (uint16_t)(sign | (a - 0x38000000u + 0xfffu + (a >> 13 & 1u)) >> 13);
    uint32_t shift = 126u - (a >> 23);                                // to units of 2^-24
    if (shift > 25u)
        return (uint16_t)sign;                                        // below 2^-25
    uint32_t m = (a & 0x7fffffu) | 0x800000u;
    return (uint16_t)(sign | (m + ((1u << (shift - 1u)) - 1u) + (m >> shift & 1u)) >> shift);
}

// Rounds |x| to a 16-bit format with `digits` fraction bits and the exponent bias `bias`.
static inline uint16_t pto_f64_to_16(double x, int digits, int bias, uint32_t infinity) {
    uint64_t b = pto_bits_of_f64(x), a = b & 0x7fffffffffffffffu;
    uint32_t sign = (uint32_t)(b >> 48 & 0x8000u);
    if (a > 0x7ff0000000000000u)
        return (uint16_t)(sign | infinity | 1u << (digits - 1) | ((uint32_t)(a >> (52 - digits)) & ((1u << (digits - 1)) - 1u)));
    int exponent = (int)(a >> 52) - 1023 + bias;                      // biased, in the 16-bit format; below 1: subnormal
    int shift = 52 - digits + (exponent < 1 ? 1 - exponent : 0);
    if (shift > 53)                                                   // below half of the smallest subnormal
        return (uint16_t)sign;
    uint64_t m = (a & 0xfffffffffffffu) | 0x10000000000000u;
    uint64_t q = (m + ((UINT64_C(1) << (shift - 1)) - 1u) + (m >> shift & 1u)) >> shift;
    if (exponent > 0)
        q += (uint64_t)(exponent - 1) << digits;                      // q has the leading bit, which counts one
    return (uint16_t)(sign | (q < infinity ? (uint32_t)q : infinity));
}

static inline uint16_t pto_f64_to_f16(double x) { return pto_f64_to_16(x, 10, 15, 0x7c00u); }
static inline uint16_t pto_f64_to_bf16(double x) { return pto_f64_to_16(x, 7, 127, 0x7f80u); }

// Of a 64-bit integer a double keeps 53 digits; the last one then stands for those that are cut, too (rounded to odd), so that
// what rounds the double rounds the integer.
static inline double pto_u64_to_odd(uint64_t x) {
    return x >> 53 ? (double)(x >> 11 | ((x & 0x7ffu) != 0)) * 0x1p11 : (double)x;
}
static inline double pto_i64_to_odd(int64_t x) { return x < 0 ? -pto_u64_to_odd(-(uint64_t)x) : pto_u64_to_odd((uint64_t)x); }
static inline uint16_t pto_i64_to_f16(int64_t x) { return pto_f64_to_f16(pto_i64_to_odd(x)); }
static inline uint16_t pto_u64_to_f16(uint64_t x) { return pto_f64_to_f16(pto_u64_to_odd(x)); }
static inline uint16_t pto_i64_to_bf16(int64_t x) { return pto_f64_to_bf16(pto_i64_to_odd(x)); }
static inline uint16_t pto_u64_to_bf16(uint64_t x) { return pto_f64_to_bf16(pto_u64_to_odd(x)); }

static inline double pto_f16_to_f64(uint16_t h) { return (double)pto_f16_to_f32(h); }
static inline double pto_bf16_to_f64(uint16_t h) { return (double)pto_bf16_to_f32(h); }
static inline uint16_t pto_f16_to_bf16(uint16_t h) { return pto_f32_to_bf16(pto_f16_to_f32(h)); }
static inline uint16_t pto_bf16_to_f16(uint16_t h) { return pto_f32_to_f16(pto_bf16_to_f32(h)); }

#endif
