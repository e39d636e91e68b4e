// Products for the cube, on the host: both operands are packed into panels of the accumulator's type, then blocks of 4 rows
// by a few vectors of columns stay in registers over the whole of k.
//
// Each element of the result is acc = acc + a * b in the order of k, with a rounding after each product and each sum, so
// the values are the same on every host and for every blocking; contraction to fused operations is therefore off.
//
// Test: tests/unit/test_model_values.c
#include "state.h"

#include <ptort/half.h>

#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

enum { ROWS = 4, COLUMNS = 8 };      // of a block

static int64_t round_up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

size_t multiply_room(int64_t m, int64_t n, int64_t k) {
    return (size_t)(round_up(m, ROWS) + round_up(n, COLUMNS)) * (size_t)(k + 8) * sizeof(double);
}

bool multiply_supported(pto_dtype inputs, pto_dtype accumulates) {
    if (inputs == PTO_F16 || inputs == PTO_BF16 || inputs == PTO_F32)
        return accumulates == PTO_F32;
    return inputs == PTO_F64 ? accumulates == PTO_F64 : (inputs == PTO_I8 || inputs == PTO_U8) && accumulates == PTO_I32;
}

// ---- elements -------------------------------------------------------------------------------------------------------------

static float load_f16(const uint8_t *p) { uint16_t x; memcpy(&x, p, sizeof x); return pto_f16_to_f32(x); }
static float load_bf16(const uint8_t *p) { uint16_t x; memcpy(&x, p, sizeof x); return pto_bf16_to_f32(x); }
static float load_f32(const uint8_t *p) { float x; memcpy(&x, p, sizeof x); return x; }
static double load_f64(const uint8_t *p) { double x; memcpy(&x, p, sizeof x); return x; }
static uint32_t load_u32(const uint8_t *p) { uint32_t x; memcpy(&x, p, sizeof x); return x; }
static uint32_t load_i8(const uint8_t *p) { int8_t x; memcpy(&x, p, sizeof x); return (uint32_t)(int32_t)x; }
static uint32_t load_u8(const uint8_t *p) { return *p; }

// ---- panels ---------------------------------------------------------------------------------------------------------------

// Panels of `width` lines (offsets `line`), each `along` the other dimension; lines that are not there are zeros.
#define PACK(name, T, load)                                                                                             \
    static void name(T *to, const uint8_t *base, const int64_t *line, int64_t lines, int width, const int64_t *along, int64_t length) { \
        for (int64_t first = 0; first < lines; first += width, to += width * length)                                    \
            for (int r = 0; r < width; r++) {                                                                           \
                T *p = to + r;                                                                                          \
                if (first + r >= lines) {                                                                               \
                    for (int64_t i = 0; i < length; i++, p += width)                                                    \
                        *p = 0;                                                                                         \
                    continue;                                                                                           \
                }                                                                                                       \
                const uint8_t *from = base + line[first + r];                                                           \
                for (int64_t i = 0; i < length; i++, p += width)                                                        \
                    *p = load(from + along[i]);                                                                         \
            }                                                                                                           \
    }
PACK(pack_f16, float, load_f16)
PACK(pack_bf16, float, load_bf16)
PACK(pack_f32, float, load_f32)
PACK(pack_f64, double, load_f64)
PACK(pack_i8, uint32_t, load_i8)
PACK(pack_u8, uint32_t, load_u8)

// ---- blocks ---------------------------------------------------------------------------------------------------------------

// acc (ROWS, COLUMNS) += a (k, ROWS) * b (k, COLUMNS). V: a vector of half a row of columns.
#define BLOCK(name, T, V)                                                                                               \
    static void name(T *acc, const T *a, const T *b, int64_t k) {                                                       \
        V c00, c01, c10, c11, c20, c21, c30, c31;                                                                       \
        memcpy(&c00, acc, sizeof c00), memcpy(&c01, acc + 4, sizeof c01);                                               \
        memcpy(&c10, acc + 8, sizeof c10), memcpy(&c11, acc + 12, sizeof c11);                                          \
        memcpy(&c20, acc + 16, sizeof c20), memcpy(&c21, acc + 20, sizeof c21);                                         \
        memcpy(&c30, acc + 24, sizeof c30), memcpy(&c31, acc + 28, sizeof c31);                                         \
        for (int64_t i = 0; i < k; i++, a += ROWS, b += COLUMNS) {                                                      \
            V b0, b1;                                                                                                   \
            memcpy(&b0, b, sizeof b0), memcpy(&b1, b + 4, sizeof b1);                                                   \
            V a0 = {a[0], a[0], a[0], a[0]}, a1 = {a[1], a[1], a[1], a[1]};                                             \
            c00 = c00 + a0 * b0, c01 = c01 + a0 * b1;                                                                   \
            c10 = c10 + a1 * b0, c11 = c11 + a1 * b1;                                                                   \
            V a2 = {a[2], a[2], a[2], a[2]}, a3 = {a[3], a[3], a[3], a[3]};                                             \
            c20 = c20 + a2 * b0, c21 = c21 + a2 * b1;                                                                   \
            c30 = c30 + a3 * b0, c31 = c31 + a3 * b1;                                                                   \
        }                                                                                                               \
        memcpy(acc, &c00, sizeof c00), memcpy(acc + 4, &c01, sizeof c01);                                               \
        memcpy(acc + 8, &c10, sizeof c10), memcpy(acc + 12, &c11, sizeof c11);                                          \
        memcpy(acc + 16, &c20, sizeof c20), memcpy(acc + 20, &c21, sizeof c21);                                         \
        memcpy(acc + 24, &c30, sizeof c30), memcpy(acc + 28, &c31, sizeof c31);                                         \
    }
typedef float F32x4 __attribute__((vector_size(16)));
typedef double F64x4 __attribute__((vector_size(32)));
typedef uint32_t U32x4 __attribute__((vector_size(16)));
BLOCK(block_f32, float, F32x4)
BLOCK(block_f64, double, F64x4)
BLOCK(block_u32, uint32_t, U32x4)

// Block by block: the accumulators come from the result (or are zeros) and go back to it; what is beyond its edge does not.
#define PRODUCT(name, T, load, block)                                                                                   \
    static void name(Matrix c, const T *a, const T *b, int64_t m, int64_t n, int64_t k, bool init) {                    \
        T acc[ROWS * COLUMNS];                                                                                          \
        for (int64_t j = 0; j < n; j += COLUMNS)                                                                        \
            for (int64_t i = 0; i < m; i += ROWS) {                                                                     \
                int64_t rows = least(ROWS, m - i), columns = least(COLUMNS, n - j);                                     \
                memset(acc, 0, sizeof acc);                                                                             \
                for (int64_t r = 0; r < rows && !init; r++)                                                             \
                    for (int64_t s = 0; s < columns; s++)                                                               \
                        acc[r * COLUMNS + s] = load(c.base + c.row[i + r] + c.column[j + s]);                           \
                block(acc, a + i * k, b + j * k, k);                                                                    \
                for (int64_t r = 0; r < rows; r++)                                                                      \
                    for (int64_t s = 0; s < columns; s++)                                                               \
                        memcpy(c.base + c.row[i + r] + c.column[j + s], &acc[r * COLUMNS + s], sizeof(T));              \
            }                                                                                                           \
    }
PRODUCT(product_f32, float, load_f32, block_f32)
PRODUCT(product_f64, double, load_f64, block_f64)
PRODUCT(product_u32, uint32_t, load_u32, block_u32)

#define MULTIPLY(T, pack, product)                                                                                      \
    do {                                                                                                                \
        T *pa = (T *)(void *)room, *pb = pa + round_up(m, ROWS) * k;                                                    \
        pack(pa, a.base, a.row, m, ROWS, a.column, k);                                                                  \
        pack(pb, b.base, b.column, n, COLUMNS, b.row, k);                                                               \
        product(c, pa, pb, m, n, k, init);                                                                              \
    } while (0)

void multiply(pto_dtype inputs, Matrix c, Matrix a, Matrix b, int64_t m, int64_t n, int64_t k, bool init, uint8_t *room) {
    switch (inputs) {
    case PTO_F16: MULTIPLY(float, pack_f16, product_f32); break;
    case PTO_BF16: MULTIPLY(float, pack_bf16, product_f32); break;
    case PTO_F32: MULTIPLY(float, pack_f32, product_f32); break;
    case PTO_F64: MULTIPLY(double, pack_f64, product_f64); break;
    case PTO_I8: MULTIPLY(uint32_t, pack_i8, product_u32); break;
    case PTO_U8: MULTIPLY(uint32_t, pack_u8, product_u32); break;
    case PTO_I64: case PTO_I32: case PTO_I16: case PTO_U64: case PTO_U32: case PTO_U16: case PTO_BOOL: break;
    }
}
