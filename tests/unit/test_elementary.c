// exp, log, tanh and sigmoid of ptort/elementary.h: within 2.5 units in the last place of long double arithmetic over all
// magnitudes, special values as C has them, and the same bits in every lane of a vector as for one element.
#define PTO_LANES 4
#include <ptort/simd.h>
#define PTO_LANES 2
#include <ptort/simd.h>

#include "often.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

typedef long double Exact;

static Exact exact_sigmoid(Exact x) { return 1 / (1 + expl(-x)); }

static double units_f32(float got, Exact want)
{
    float w = (float)want;
    if (isnan(got) || isnan(w))
        return isnan(got) && isnan(w) ? 0 : 1e9;
    if (isinf(got) || isinf(w))
        return got == w ? 0 : 1e9;
    return (double)(fabsl((Exact)got - want) / ((Exact)nextafterf(fabsf(w), INFINITY) - (Exact)fabsf(w)));
}

static double units_f64(double got, Exact want)
{
    double w = (double)want;
    if (isnan(got) || isnan(w))
        return isnan(got) && isnan(w) ? 0 : 1e9;
    if (isinf(got) || isinf(w))
        return got == w ? 0 : 1e9;
    return (double)(fabsl((Exact)got - want) / ((Exact)nextafter(fabs(w), INFINITY) - (Exact)fabs(w)));
}

static uint64_t state;

static uint64_t draw(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#define SAME_BITS(a, b) (memcmp(&(a), &(b), sizeof(a)) == 0 || ((a) != (a) && (b) != (b)))

// Bit patterns all over the range of floats, four at a time.
#define F32_TEST(f, exact)                                                                         \
    START_TEST(f##_f32)                                                                            \
    {                                                                                              \
        for (uint64_t b = 0; b < UINT64_C(1) << 32; b += 4 * 4099) {                               \
            float x[4], y[4];                                                                      \
            for (int l = 0; l < 4; l++)                                                            \
                x[l] = pto_f32_of_bits((uint32_t)b + (uint32_t)l * 4099);                          \
            pto_store_f32x4(y, pto_##f##_f32x4(pto_load_f32x4(x)));                                \
            for (int l = 0; l < 4; l++) {                                                          \
                float one = pto_##f##_f32(x[l]);                                                   \
                OFTEN_ASSERT_MSG(SAME_BITS(one, y[l]), "lane and element differ at %a", (double)x[l]); \
                OFTEN_ASSERT_MSG(units_f32(one, exact(x[l])) < 2.5, #f "(%a) = %a", (double)x[l], (double)one); \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    END_TEST
F32_TEST(exp, expl)
F32_TEST(log, logl)
F32_TEST(tanh, tanhl)
F32_TEST(sigmoid, exact_sigmoid)

// Random doubles: a sign, an exponent that matters to the function, any digits.
static double draw_double(int least, int most)
{
    uint64_t r = draw();
    double m = 1 + (double)(r >> 12) * 0x1p-52;
    return ldexp(r & 1 ? m : -m, least + (int)(draw() % (uint64_t)(most - least + 1)));
}

#define F64_TEST(f, exact, least, most, positive)                                                  \
    START_TEST(f##_f64)                                                                            \
    {                                                                                              \
        state = 7;                                                                                 \
        for (int i = 0; i < 100000; i++) {                                                         \
            double x[2], y[2];                                                                     \
            for (int l = 0; l < 2; l++) {                                                          \
                x[l] = draw_double(least, most);                                                   \
                x[l] = positive ? fabs(x[l]) : x[l];                                               \
            }                                                                                      \
            pto_store_f64x2(y, pto_##f##_f64x2(pto_load_f64x2(x)));                                \
            for (int l = 0; l < 2; l++) {                                                          \
                double one = pto_##f##_f64(x[l]);                                                  \
                OFTEN_ASSERT_MSG(SAME_BITS(one, y[l]), "lane and element differ at %a", x[l]);     \
                OFTEN_ASSERT_MSG(units_f64(one, exact(x[l])) < 2.5, #f "(%a) = %a", x[l], one);    \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    END_TEST
F64_TEST(exp, expl, -60, 9, false)
F64_TEST(log, logl, -1074, 1023, true)
F64_TEST(tanh, tanhl, -60, 6, false)
F64_TEST(sigmoid, exact_sigmoid, -60, 9, false)

START_TEST(special_values)
{
    ck_assert(pto_exp_f64(INFINITY) == INFINITY && pto_exp_f64(-INFINITY) == 0 && pto_exp_f64(0) == 1 && pto_exp_f64(-0.0) == 1);
    ck_assert(pto_log_f64(0) == -INFINITY && pto_log_f64(-0.0) == -INFINITY && isnan(pto_log_f64(-1)) && pto_log_f64(INFINITY) == INFINITY);
    ck_assert(pto_log_f64(1) == 0 && pto_tanh_f64(INFINITY) == 1 && pto_tanh_f64(-INFINITY) == -1);
    ck_assert(pto_tanh_f64(-0.0) == 0 && signbit(pto_tanh_f64(-0.0)));
    ck_assert(pto_sigmoid_f64(INFINITY) == 1 && pto_sigmoid_f64(-INFINITY) == 0 && pto_sigmoid_f64(0) == 0.5);
    ck_assert(isnan(pto_exp_f64(NAN)) && isnan(pto_log_f64(NAN)) && isnan(pto_tanh_f64(NAN)) && isnan(pto_sigmoid_f64(NAN)));
    ck_assert(pto_exp_f32(INFINITY) == INFINITY && pto_exp_f32(-INFINITY) == 0 && isnan(pto_log_f32(-1)) && pto_log_f32(0) == -INFINITY);
}
END_TEST

Suite *suite_elementary(void);
Suite *suite_elementary(void)
{
    Suite *s = suite_create("elementary");
    TCase *c = tcase_create("elementary");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, exp_f32);
    tcase_add_test(c, log_f32);
    tcase_add_test(c, tanh_f32);
    tcase_add_test(c, sigmoid_f32);
    tcase_add_test(c, exp_f64);
    tcase_add_test(c, log_f64);
    tcase_add_test(c, tanh_f64);
    tcase_add_test(c, sigmoid_f64);
    tcase_add_test(c, special_values);
    suite_add_tcase(s, c);
    return s;
}
