// Numbers that are not exact: floordiv and mod of floats, and floats beside indices: runtime and reference evaluator against a long division that keeps every bit of the quotient.
//
// The quotient of two floats has at most 2200 bits before its point. All of them are worked out here, one more is added where
// a negative one has a fraction, and the result is rounded to nearest, ties to even, by looking at all that is cut.
#include <ptort/kernel.h>

#include "often.h"
#include "reference/value.h"

#include <check.h>
#include <math.h>

enum { MOST_BITS = 2300 };

typedef struct { unsigned char bit[MOST_BITS]; int n; bool fraction; } Whole;      // the first bit is the highest

static Whole whole_quotient(double a, double b)
{
    int ea, eb;
    uint64_t x = (uint64_t)ldexp(frexp(fabs(a), &ea), 53), y = (uint64_t)ldexp(frexp(fabs(b), &eb), 53), rest = 0;
    Whole w = {.n = 0};
    for (int k = 52; k >= eb - ea; k--) {
        rest = 2 * rest + (k >= 0 ? x >> k & 1 : 0);
        w.bit[w.n++] = rest >= y;
        rest -= rest >= y ? y : 0;
    }
    w.fraction = eb > ea || rest != 0;
    return w;
}

static void add_one(Whole *w)
{
    for (int k = w->n - 1; k >= 0; k--)
        if ((w->bit[k] ^= 1) == 1)
            return;
    for (int k = w->n; k > 0; k--)
        w->bit[k] = w->bit[k - 1];
    w->bit[0] = 1;
    w->n++;
}

static double rounded(const Whole *w, int digits, double largest)
{
    int first = 0;
    while (first < w->n && !w->bit[first])
        first++;
    double r = 0;
    int end = first + digits < w->n ? first + digits : w->n;
    for (int k = first; k < end; k++)
        r = 2 * r + w->bit[k];
    bool half = end < w->n && w->bit[end], more = false;
    for (int k = end + 1; k < w->n; k++)
        more |= w->bit[k] != 0;
    if (half && (more || fmod(r, 2) == 1))
        r += 1;
    r = ldexp(r, w->n - end);
    return r > largest ? INFINITY : r;
}

static double floor_of(double a, double b, int digits, double largest)
{
    bool negative = signbit(a) != signbit(b);
    if (isnan(a) || isnan(b) || (isinf(a) && isinf(b)) || (a == 0 && b == 0))
        return NAN;
    if (isinf(a) || b == 0)
        return negative ? -INFINITY : INFINITY;
    if (a == 0)
        return negative ? -0.0 : 0.0;
    if (isinf(b))
        return negative ? -1 : 0;
    Whole w = whole_quotient(a, b);
    if (negative && w.fraction)
        add_one(&w);
    double r = rounded(&w, digits, largest);
    return negative ? -r : r;
}

static double modulo_of(double a, double b)
{
    if (isnan(a) || isnan(b) || isinf(a) || b == 0)
        return NAN;
    if (isinf(b))
        return a == 0 ? copysign(0, b) : signbit(a) == signbit(b) ? a : b;
    double r = fmod(a, b);                       // exact
    return r == 0 ? copysign(0, b) : signbit(r) == signbit(b) ? r : r + b;
}

// ---- types --------------------------------------------------------------------------------------------------------------

static const struct { DType type; int digits; double largest, least; } formats[] = {
    {DT_F64, 53, 0x1.fffffffffffffp1023, 0x1p-1074}, {DT_F32, 24, 0x1.fffffep127, 0x1p-149}, {DT_BF16, 8, 0x1.fep127, 0x1p-133}, {DT_F16, 11, 65504, 0x1p-24},
};

static double compiled(DType t, bool mod, double a, double b)
{
    float x = (float)a, y = (float)b;
    if (t == DT_F64)
        return mod ? pto_mod_f64(a, b) : pto_floordiv_f64(a, b);
    float r = mod ? pto_mod_f32(x, y) : pto_floordiv_f32(x, y);
    return (double)(t == DT_F16 ? pto_round_f16(r) : t == DT_BF16 ? pto_round_bf16(r) : r);
}

static bool same(double a, double b) { return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b)); }

static void check_pair(int f, double a, double b)
{
    DType t = formats[f].type;
    double want[2] = {floor_of(a, b, formats[f].digits, formats[f].largest), fold_round_float(t, modulo_of(a, b))};
    for (int mod = 0; mod < 2; mod++) {
        double got = compiled(t, mod, a, b), reference = value_binary(mod ? OP_MOD : OP_FLOORDIV, t, value_float(a), value_float(b), 0).f;
        OFTEN_ASSERT_MSG(same(got, want[mod]), "%s: %s(%a, %a) is %a, not %a", dtype_name(t), mod ? "mod" : "floordiv", a, b, got, want[mod]);
        OFTEN_ASSERT_MSG(same(reference, want[mod]), "%s: %s(%a, %a) is %a to the reference, not %a", dtype_name(t), mod ? "mod" : "floordiv", a, b, reference, want[mod]);
    }
}

static int fill_table(int f, double *x)
{
    double least = formats[f].least, largest = formats[f].largest, step = ldexp(1, -formats[f].digits);
    const double some[] = {0, 1, 2, 3, 5, 7, 10, 0.1, 0.3, 1.0 / 3, 0.5, 1.5, 100, 1 - step, 1 + 2 * step, 2 - 2 * step, least, 3 * least, 1 / (8 * step), 1 / step - 1,
                           1 / step, 1 / step + 2, 1 / step + 6, 3 / step, largest, largest / 2, ldexp(least, formats[f].digits - 1), ldexp(least, formats[f].digits - 1) - least, INFINITY, NAN};
    int n = 0;
    for (size_t k = 0; k < sizeof some / sizeof *some; k++)
        for (int sign = 1; sign >= -1; sign -= 2)
            x[n++] = sign * fold_round_float(formats[f].type, some[k]);
    return n;
}

START_TEST(table)
{
    double x[100];
    int n = fill_table(_i, x);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            check_pair(_i, x[i], x[k]);
}
END_TEST

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

// Quotients of every size: near whole numbers, and those whose floor lies halfway between two values.
START_TEST(near_whole)
{
    uint64_t s = 88172645463325252u;
    DType t = formats[_i].type;
    int digits = formats[_i].digits;
    for (int k = 0; k < 100000; k++) {
        uint64_t small = 1 + next(&s) % (k % 2 ? 40 : 4000), large = next(&s) >> (next(&s) % 60);
        double b = fold_round_float(t, ldexp((double)small, (int)(next(&s) % 9) - 4));
        double a = fold_round_float(t, k % 3 ? ldexp((double)large, (int)(next(&s) % 40) - 30) : b * ldexp((double)(next(&s) >> (64 - digits)), (int)(next(&s) % 4)));
        if (isfinite(a))
            check_pair(_i, next(&s) & 1 ? a : -a, next(&s) & 1 ? b : -b);
    }
}
END_TEST

START_TEST(by_hand)
{
    ck_assert(pto_floordiv_f64(7, 0.1) == 69 && pto_mod_f64(7, 0.1) == fmod(7, 0.1));
    ck_assert(pto_floordiv_f64(-3, INFINITY) == -1 && pto_mod_f64(-3, INFINITY) == INFINITY);
    ck_assert(pto_floordiv_f32(-0x1p-149f, 0x1p127f) == -1 && pto_floordiv_f32(0x1p-149f, -0x1p127f) == -1);
    ck_assert(signbit(pto_mod_f64(-6, 3)) == 0 && signbit(pto_mod_f64(6, -3)) != 0 && signbit(pto_floordiv_f64(-0.0, 3)) != 0);
    // The floor is 2^24 + 1, a tie, of which the even neighbour is 2^24; the quotient, a third more, rounds up.
    ck_assert(pto_floordiv_f32(50331652, 3) == 16777216 && 50331652.0f / 3 == 16777218);
}
END_TEST

// ---- floats and indices ---------------------------------------------------------------------------------------------------

__extension__ typedef __int128 Wide;

// x op i, of a number with at most 53 bits behind its point.
static bool compares(Op op, double x, int64_t i)
{
    if (isnan(x))
        return op == OP_NE;
    Wide a = isinf(x) ? (Wide)(x > 0 ? 1 : -1) * ((Wide)1 << 120) : (Wide)ldexp(x, 53), b = (Wide)i * ((Wide)1 << 53);
    return op == OP_EQ ? a == b : op == OP_NE ? a != b : op == OP_LT ? a < b : op == OP_LE ? a <= b : op == OP_GT ? a > b : a >= b;
}

static bool emitted(Op op, DType t, double x, int64_t i)
{
    double up = t == DT_F64 ? pto_up_f64(i) : (double)pto_up_f32(i), down = t == DT_F64 ? pto_down_f64(i) : (double)pto_down_f32(i);
    double equal = t == DT_F64 ? pto_same_f64(i) : (double)pto_same_f32(i);
    return op == OP_EQ ? x == equal : op == OP_NE ? x != equal : op == OP_LT ? x < up : op == OP_GE ? x >= up : op == OP_LE ? x <= down : x > down;
}

static bool emitted_u64(Op op, uint64_t x, int64_t i)
{
    return op == OP_EQ ? pto_eq_u64_i64(x, i) : op == OP_NE ? pto_ne_u64_i64(x, i) : op == OP_LT ? pto_lt_u64_i64(x, i)
         : op == OP_LE ? pto_le_u64_i64(x, i) : op == OP_GT ? pto_gt_u64_i64(x, i) : pto_ge_u64_i64(x, i);
}

static void check_index(DType t, double x, int64_t i)
{
    for (Op op = OP_EQ; op <= OP_GE; op++) {
        bool want = compares(op, x, i);
        OFTEN_ASSERT_MSG(emitted(op, t, x, i) == want, "%a %s %lld in %s", x, op_name(op), (long long)i, dtype_name(t));
        OFTEN_ASSERT_MSG(value_compare_index(op, t, value_float(x), i, false).i == want, "%a %s %lld to the reference", x, op_name(op), (long long)i);
        Op turned = op == OP_LT ? OP_GT : op == OP_GT ? OP_LT : op == OP_LE ? OP_GE : op == OP_GE ? OP_LE : op;
        OFTEN_ASSERT(value_compare_index(turned, t, value_float(x), i, true).i == want);
    }
}

// Around every power of two, where one type or the other has gaps.
START_TEST(beside_indices)
{
    DType t = formats[_i].type;
    for (int shift = 0; shift < 64; shift++)
        for (int d = -9; d <= 9; d++) {
            uint64_t bits = (UINT64_C(1) << shift) + (uint64_t)d;
            int64_t i = (int64_t)bits;
            double near = fold_round_float(t, (double)i), apart = ldexp(1, shift - formats[_i].digits);
            const double some[] = {near, fold_round_float(t, near + apart), fold_round_float(t, near - 2 * apart), fold_round_float(t, near - 0.25), near + 1, -near, INFINITY, -INFINITY, NAN, 0x1p63, -0x1p63, 0};
            for (size_t k = 0; k < sizeof some / sizeof *some; k++)
                check_index(t, fold_round_float(t, some[k]), i);
            for (Op op = OP_EQ; op <= OP_GE; op++)
                for (uint64_t x = bits - 3; x != bits + 3; x++) {
                    Wide a = (Wide)x - (Wide)i;
                    bool want = op == OP_EQ ? a == 0 : op == OP_NE ? a != 0 : op == OP_LT ? a < 0 : op == OP_LE ? a <= 0 : op == OP_GT ? a > 0 : a >= 0;
                    OFTEN_ASSERT(emitted_u64(op, x, i) == want && value_compare_index(op, DT_U64, value_int((int64_t)x), i, false).i == want);
                }
        }
}
END_TEST

Suite *suite_quotient(void);
Suite *suite_quotient(void)
{
    Suite *s = suite_create("quotient");
    TCase *c = tcase_create("quotient");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, table, 0, 4);
    tcase_add_loop_test(c, near_whole, 0, 4);
    tcase_add_test(c, by_hand);
    tcase_add_loop_test(c, beside_indices, 0, 4);
    suite_add_tcase(s, c);
    return s;
}
