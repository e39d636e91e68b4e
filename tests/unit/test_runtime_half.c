// libptort: half conversions: every pattern, halfway cases from f64, and outside data where it is there.
#include "ptort/half.h"
#include "ptort/kernel.h"

#include "often.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- by definition --------------------------------------------------------------------------------------------------

// The value of a 16-bit format's bits, from the definition.
static double value_of(uint16_t h, int digits, int bias)
{
    int exponent = (h & 0x7fff) >> digits, fraction = h & ((1 << digits) - 1), all = (0x7fff >> digits);
    double x = exponent == all ? (fraction ? (double)NAN : (double)INFINITY) : exponent == 0 ? ldexp(fraction, 1 - bias - digits) : ldexp(fraction + (1 << digits), exponent - bias - digits);
    return h & 0x8000 ? -x : x;
}

static int same(double a, double b) { return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b)); }

typedef struct Format {
    int digits, bias;
    uint16_t infinity;
    uint16_t (*from_f64)(double);
    uint16_t (*from_f32)(float);
    float (*to_f32)(uint16_t);
    double (*to_f64)(uint16_t);
} Format;

static const Format formats[] = {
    {10, 15, 0x7c00, pto_f64_to_f16, pto_f32_to_f16, pto_f16_to_f32, pto_f16_to_f64},
    {7, 127, 0x7f80, pto_f64_to_bf16, pto_f32_to_bf16, pto_bf16_to_f32, pto_bf16_to_f64},
};

START_TEST(every_pattern)
{
    const Format *f = &formats[_i];
    for (int h = 0; h < 65536; h++) {
        double x = value_of((uint16_t)h, f->digits, f->bias);
        OFTEN_ASSERT(same(f->to_f32((uint16_t)h), x));
        OFTEN_ASSERT(same(f->to_f64((uint16_t)h), x));
        uint16_t narrow = f->from_f32((float)x), direct = f->from_f64(x);
        if (isnan(x)) {
            OFTEN_ASSERT((narrow & 0x7fff) > f->infinity && (direct & 0x7fff) > f->infinity);
        } else {
            OFTEN_ASSERT_INT_EQ(narrow, h);
            OFTEN_ASSERT_INT_EQ(direct, h);
        }
    }
}
END_TEST

// Between two neighbours: the middle goes to the even one, anything beside it to the nearer, however little it is.
START_TEST(halfway)
{
    const Format *f = &formats[_i];
    for (int h = 0; h < f->infinity; h++) {
        double low = value_of((uint16_t)h, f->digits, f->bias);
        double high = h + 1 < f->infinity ? value_of((uint16_t)(h + 1), f->digits, f->bias) : ldexp(1, f->bias + 1);
        double middle = low + (high - low) / 2;
        uint16_t even = (uint16_t)(h % 2 ? h + 1 : h);
        OFTEN_ASSERT_INT_EQ(f->from_f64(middle), even);
        OFTEN_ASSERT_INT_EQ(f->from_f64(nextafter(middle, 0)), h);
        OFTEN_ASSERT_INT_EQ(f->from_f64(nextafter(middle, INFINITY)), h + 1);
        OFTEN_ASSERT_INT_EQ(f->from_f64(-middle), even | 0x8000);
        OFTEN_ASSERT_INT_EQ(f->from_f64(-nextafter(middle, INFINITY)), (h + 1) | 0x8000);
        float single = (float)middle;
        OFTEN_ASSERT((double)single == middle);
        OFTEN_ASSERT_INT_EQ(f->from_f32(single), even);
        OFTEN_ASSERT_INT_EQ(f->from_f32(nextafterf(single, 0)), h);
        OFTEN_ASSERT_INT_EQ(f->from_f32(nextafterf(single, INFINITY)), h + 1);
    }
    ck_assert_int_eq(f->from_f64(1e300), f->infinity);
    ck_assert_int_eq(f->from_f64(-1e300), f->infinity | 0x8000);
    ck_assert_int_eq(f->from_f64(5e-324), 0);
    ck_assert_int_eq(f->from_f64(-5e-324), 0x8000);
    ck_assert_int_eq(f->from_f32(1e-45f), 0);
}
END_TEST

static void check_nan(const Format *f, uint64_t payload)
{
    for (uint64_t sign = 0; sign < 2; sign++) {
        uint64_t wide = sign << 63 | UINT64_C(0x7ff0000000000000) | payload;
        double x;
        memcpy(&x, &wide, sizeof x);
        uint16_t h = f->from_f64(x);
        ck_assert((h & 0x7fff) > f->infinity && h >> 15 == (int)sign);
        uint32_t narrow = (uint32_t)sign << 31 | 0x7f800000u | (uint32_t)(payload % 0x7fffffu + 1);
        float y;
        memcpy(&y, &narrow, sizeof y);
        h = f->from_f32(y);
        ck_assert((h & 0x7fff) > f->infinity && h >> 15 == (int)sign);
    }
}

START_TEST(nan_stays_nan)
{
    for (int bit = 0; bit < 52; bit++)
        check_nan(&formats[_i], UINT64_C(1) << bit);
    check_nan(&formats[_i], UINT64_C(0xfffffffffffff));
}
END_TEST

START_TEST(between_halves)
{
    for (int h = 0; h < 65536; h++) {
        double x = pto_f16_to_f64((uint16_t)h), y = pto_bf16_to_f64((uint16_t)h);
        if (!isnan(x))
            OFTEN_ASSERT_INT_EQ(pto_f16_to_bf16((uint16_t)h), pto_f64_to_bf16(x));
        if (!isnan(y))
            OFTEN_ASSERT_INT_EQ(pto_bf16_to_f16((uint16_t)h), pto_f64_to_f16(y));
    }
}
END_TEST

// ---- integers -------------------------------------------------------------------------------------------------------

// A whole number of any size, rounded to `digits` fraction bits in whole numbers alone.
static uint16_t rounded_magnitude(uint64_t x, const Format *f)
{
    int top = 63 - (x ? __builtin_clzll(x) : 63), cut = top - f->digits;
    uint64_t q = x, infinity = (uint64_t)f->infinity;
    if (x == 0)
        return 0;
    if (cut > 0) {
        uint64_t half = UINT64_C(1) << (cut - 1), rest = x & (2 * half - 1);
        q = (x >> cut) + (rest > half || (rest == half && (x >> cut & 1)));
    } else {
        q = x << -cut;
    }
    uint64_t bits = ((uint64_t)(top + f->bias - 1) << f->digits) + q;         // q has the leading bit, which counts one
    return (uint16_t)(bits < infinity ? bits : infinity);
}

static void check_integer(uint64_t x)
{
    for (int i = 0; i < 2; i++) {
        const Format *f = &formats[i];
        uint16_t want = rounded_magnitude(x, f), got = i == 0 ? pto_u64_to_f16(x) : pto_u64_to_bf16(x);
        OFTEN_ASSERT_MSG(got == want, "%llu gives %#x, not %#x", (unsigned long long)x, got, want);
        if (x > INT64_MAX)
            continue;
        uint16_t plus = i == 0 ? pto_i64_to_f16((int64_t)x) : pto_i64_to_bf16((int64_t)x), minus = i == 0 ? pto_i64_to_f16(-(int64_t)x) : pto_i64_to_bf16(-(int64_t)x);
        OFTEN_ASSERT_MSG(plus == want && minus == (x ? want | 0x8000 : want), "+-%llu gives %#x and %#x, not %#x", (unsigned long long)x, plus, minus, want);
    }
}

// Every value with up to 12 leading digits, and what lies next to it: halves of f16 and of bf16 among them.
START_TEST(integers)
{
    for (int shift = 0; shift < 53; shift++)
        for (uint64_t m = 0; m < 4096; m++)
            for (int beside = -1; beside <= 1; beside++)
                check_integer((m << shift) + (uint64_t)beside);
    check_integer(UINT64_MAX);
    check_integer((uint64_t)INT64_MAX + 1);
    ck_assert_int_eq(pto_i64_to_bf16(INT64_MIN), 0xdf00);
    ck_assert_int_eq(pto_i64_to_bf16(0x4040000000000001), 0x5e81);
    ck_assert_int_eq(pto_u64_to_bf16(0x8080000000000001), 0x5f01);
}
END_TEST

// a*b + c of f16 in units of 2^-48, exactly.
START_TEST(fused)
{
    uint32_t s = 1;
    for (int k = 0; k < 300000; k++) {
        uint16_t h[3];
        for (int i = 0; i < 3; i++) {
            s = s * 1664525u + 1013904223u;
            h[i] = (uint16_t)(s >> 16);
            if (k % 2 && i < 2)
                h[i] = (uint16_t)((h[i] & 0x8003) | (unsigned)(4 + (s & 15)) << 10);       // a product far below c, or half of its last digit
            if ((h[i] & 0x7c00) == 0x7c00)
                h[i] ^= 0x4000;
        }
        double a = value_of(h[0], 10, 15), b = value_of(h[1], 10, 15), c = value_of(h[2], 10, 15);
        __extension__ typedef __int128 Wide;
        Wide exact = (Wide)(int64_t)ldexp(a, 24) * (int64_t)ldexp(b, 24) + (Wide)(int64_t)ldexp(c, 24) * (1 << 24);
        Wide magnitude = exact < 0 ? -exact : exact;
        int cut = 0;                             // to 53 digits, the last of which stands for what is cut
        bool sticky = false;
        for (; magnitude >> 53; cut++, magnitude >>= 1)
            sticky |= (magnitude & 1) != 0;
        double odd = ldexp((double)((int64_t)magnitude | sticky), cut - 48);
        uint16_t want = pto_f64_to_f16(exact < 0 ? -odd : odd), got = pto_f32_to_f16(pto_fma_f16_f32((float)a, (float)b, (float)c));
        OFTEN_ASSERT_MSG(got == want || exact == 0, "%a * %a + %a gives %#x, not %#x", a, b, c, got, want);
    }
    ck_assert(pto_fma_bf16_f32(0x1p-4f, 0x1.02p-4f, 1) == 0x1.02p0f && pto_fma_bf16_f32(0x1p-4f, 0x1.fep-5f, 1) == 1);
}
END_TEST

// ---- outside data ---------------------------------------------------------------------------------------------------

// The elements of a version 1 .npy file, or NULL. *bytes: their size.
static unsigned char *npy(const char *folder, const char *name, const char *file, size_t *bytes)
{
    char path[512];
    unsigned char head[10];
    snprintf(path, sizeof path, "%s/%s/%s", folder, name, file);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    unsigned char *data = NULL;
    if (fread(head, 1, sizeof head, f) == sizeof head && fseek(f, 0, SEEK_END) == 0) {
        long end = ftell(f), begin = 10 + head[8] + 256 * head[9];
        *bytes = (size_t)(end - begin);
        data = malloc(*bytes + 1);
        if (fseek(f, begin, SEEK_SET) != 0 || fread(data, 1, *bytes, f) != *bytes) {
            free(data);
            data = NULL;
        }
    }
    fclose(f);
    return data;
}

// Converts element i of `in`; *got and *want as 64 bits, *nan if both are NaN.
static void convert(const char *name, const void *in, const void *out, size_t i, uint64_t *got, uint64_t *want, int *nan)
{
    double f64 = 0;
    float f32 = 0, wide;
    uint16_t h = 0;
    uint32_t bits;
    if (strncmp(name, "float64", 7) == 0)
        memcpy(&f64, (const char *)in + 8 * i, 8);
    else if (strncmp(name, "float32", 7) == 0)
        memcpy(&f32, (const char *)in + 4 * i, 4);
    else
        memcpy(&h, (const char *)in + 2 * i, 2);
    if (strstr(name, "to_float32") != NULL) {
        wide = name[0] == 'b' ? pto_bf16_to_f32(h) : pto_f16_to_f32(h);
        memcpy(&bits, &wide, 4);
        *got = bits;
        memcpy(&bits, (const char *)out + 4 * i, 4);
        *want = bits;
        *nan = (*got & 0x7fffffff) > 0x7f800000 && (*want & 0x7fffffff) > 0x7f800000;
        return;
    }
    int to_f16 = strstr(name, "to_float16") != NULL;
    unsigned infinity = to_f16 ? 0x7c00 : 0x7f80;
    *got = name[0] == 'b' ? pto_bf16_to_f16(h) : strncmp(name, "float16", 7) == 0 ? pto_f16_to_bf16(h)
        : strncmp(name, "float64", 7) == 0 ? (to_f16 ? pto_f64_to_f16(f64) : pto_f64_to_bf16(f64))
                                           : (to_f16 ? pto_f32_to_f16(f32) : pto_f32_to_bf16(f32));
    memcpy(&h, (const char *)out + 2 * i, 2);
    *want = h;
    *nan = (*got & 0x7fff) > infinity && (*want & 0x7fff) > infinity;
}

START_TEST(outside_data)
{
    static const char *const cases[] = {
        "bfloat16_to_float16", "bfloat16_to_float32", "float16_to_bfloat16", "float16_to_float32",
        "float32_to_bfloat16", "float32_to_float16", "float64_to_bfloat16", "float64_to_float16",
    };
    const char *folder = "../shared/data/cast-edges", *name = cases[_i];
    size_t in_bytes, out_bytes;
    unsigned char *in = npy(folder, name, "in0.npy", &in_bytes), *out = npy(folder, name, "out0.npy", &out_bytes);
    if (in == NULL || out == NULL) {
        free(in);
        free(out);
        printf("SKIP unit/runtime_half: no %s/%s\n", folder, name);
        return;
    }
    size_t size = strncmp(name, "float64", 7) == 0 ? 8 : strncmp(name, "float32", 7) == 0 ? 4 : 2, n = in_bytes / size;
    ck_assert_uint_gt(n, 1000);
    ck_assert_uint_eq(out_bytes, n * (strstr(name, "to_float32") != NULL ? 4 : 2));
    for (size_t i = 0; i < n; i++) {
        uint64_t got, want;
        int nan;
        convert(name, in, out, i, &got, &want, &nan);
        ck_assert_msg(got == want || nan, "%s: element %zu is %llx, not %llx", name, i, (unsigned long long)got, (unsigned long long)want);
    }
    free(in);
    free(out);
}
END_TEST

Suite *suite_runtime_half(void);
Suite *suite_runtime_half(void)
{
    Suite *s = suite_create("runtime_half");
    TCase *c = tcase_create("runtime_half");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, every_pattern, 0, 2);
    tcase_add_loop_test(c, halfway, 0, 2);
    tcase_add_loop_test(c, nan_stays_nan, 0, 2);
    tcase_add_test(c, between_halves);
    tcase_add_test(c, integers);
    tcase_add_test(c, fused);
    tcase_add_loop_test(c, outside_data, 0, 8);
    suite_add_tcase(s, c);
    return s;
}
