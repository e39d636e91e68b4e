// Types, constant folding, simplification of index arithmetic, linear forms, substitution, texts.
//
// The simplifier is tested in two ways: pairs of before and after, as people would read them in generated C, and random
// expressions whose value must not change at any point. Rounding to half types is checked against every pattern and
// every halfway case, and to f32 against the C compiler.
#include "ir/ir.h"
#include "ir/linear.h"

#include "often.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *suite_expr(void);

static const Range nowhere = { 0, 0 };

// Two indices over 0..N and 0..i, two dims; what every test needs.
typedef struct {
    Arena *a;
    Dim n, m;
    Index i, j;
    Expr *N, *M, *I, *J;
} World;

static World world(void)
{
    World w = {.a = arena_new(), .n = {.id = 0, .name = "N"}, .m = {.id = 1, .name = "M"}, .i = {.name = "i"}, .j = {.name = "j"}};
    return w;
}

// Pointers into the world itself, so it must not move any more.
static void settle(World *w)
{
    w->N = expr_dim(w->a, &w->n, nowhere);
    w->M = expr_dim(w->a, &w->m, nowhere);
    w->I = expr_index(w->a, &w->i, nowhere);
    w->J = expr_index(w->a, &w->j, nowhere);
    w->i.lo = w->j.lo = expr_int(w->a, DT_INDEX, 0, nowhere);
    w->i.hi = w->N;
    w->j.hi = w->I;
}

static Expr *num(World *w, int64_t v) { return expr_int(w->a, DT_INDEX, v, nowhere); }
static Expr *bin(World *w, Op op, Expr *x, Expr *y) { return expr_binary(w->a, op, DT_INDEX, x, y); }
static Expr *cmp(World *w, Op op, Expr *x, Expr *y) { return expr_binary(w->a, op, DT_BOOL, x, y); }

static void same(World *w, Expr *before, const char *after)
{
    ck_assert_str_eq(expr_text(w->a, expr_simplify(w->a, before)), after);
}

// ---- types ----

START_TEST(types_widen_in_one_family)
{
    ck_assert(dtype_widens(DT_F16, DT_F32) && dtype_widens(DT_BF16, DT_F32) && dtype_widens(DT_I8, DT_I64) && dtype_widens(DT_U8, DT_U16));
    ck_assert(!dtype_widens(DT_F16, DT_BF16) && !dtype_widens(DT_F32, DT_F16) && !dtype_widens(DT_U8, DT_I16) && !dtype_widens(DT_BOOL, DT_I32));
    ck_assert(!dtype_widens(DT_I32, DT_F64) && !dtype_widens(DT_INDEX, DT_I64) && dtype_widens(DT_BOOL, DT_BOOL));
}
END_TEST

START_TEST(types_accumulate)
{
    ck_assert_int_eq(dtype_accumulator(DT_F16), DT_F32);
    ck_assert_int_eq(dtype_accumulator(DT_BF16), DT_F32);
    ck_assert_int_eq(dtype_accumulator(DT_I8), DT_I32);
    ck_assert_int_eq(dtype_accumulator(DT_BOOL), DT_I32);
    ck_assert_int_eq(dtype_accumulator(DT_U16), DT_U32);
    ck_assert_int_eq(dtype_accumulator(DT_F64), DT_F64);
    ck_assert_int_eq(dtype_accumulator(DT_U64), DT_U64);
}
END_TEST

START_TEST(types_have_names)
{
    for (int i = 0; i < DT_INDEX; i++) {
        DType t;
        ck_assert(dtype_parse(dtype_name((DType)i), &t) && t == (DType)i);
    }
    DType t;
    ck_assert(!dtype_parse("index", &t) && !dtype_parse("int", &t) && !dtype_parse("", &t));
}
END_TEST

// ---- rounding ----

// The value of a 16-bit float pattern, by its definition.
static double half_value(DType t, unsigned bits)
{
    int digits = dtype_bits(t) - 1, width = 15 - digits, bias = (1 << (width - 1)) - 1;
    int e = (int)(bits >> digits & ((1u << width) - 1)), m = (int)(bits & ((1u << digits) - 1));
    double v = e == 0 ? ldexp(m, 1 - bias - digits) : ldexp(m + (1 << digits), e - bias - digits);
    return bits >> 15 ? -v : v;
}

static unsigned half_infinity(DType t) { return t == DT_F16 ? 0x7c00 : 0x7f80; }

static void check_half(DType t)
{
    for (unsigned b = 0; b < half_infinity(t); b++) {
        double x = half_value(t, b), next = b + 1 == half_infinity(t) ? ldexp(1, t == DT_F16 ? 16 : 128) : half_value(t, b + 1);
        double middle = x + (next - x) / 2, even = b % 2 == 0 ? x : next;
        if (b + 1 == half_infinity(t)) even = b % 2 == 0 ? x : INFINITY, next = INFINITY;
        OFTEN_ASSERT(fold_round_float(t, x) == x && fold_round_float(t, -x) == -x);
        OFTEN_ASSERT(fold_round_float(t, middle) == even);
        OFTEN_ASSERT(fold_round_float(t, nextafter(middle, 0)) == x);
        OFTEN_ASSERT(fold_round_float(t, nextafter(middle, INFINITY)) == next);
    }
}

START_TEST(rounds_halves_once)
{
    check_half(DT_F16);
    check_half(DT_BF16);
    // Through f32 this would tie and go down.
    ck_assert(fold_round_float(DT_F16, 1 + ldexp(1, -11) + ldexp(1, -40)) == 1 + ldexp(1, -10));
    ck_assert(signbit(fold_round_float(DT_F16, -0.0)) && isnan(fold_round_float(DT_F16, NAN)));
    ck_assert(fold_round_float(DT_F16, 1e-300) == 0 && isinf(fold_round_float(DT_BF16, 1e300)));
}
END_TEST

static uint64_t random64(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

START_TEST(rounds_f32_like_the_compiler)
{
    uint64_t state = 42;
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = random64(&state);
        if (i % 2) bits = (bits & 0x800fffffffffffffu) | (uint64_t)(1023 - 160 + i % 300) << 52;
        if (i % 4 == 3) bits &= ~(uint64_t)0x0fffffff;         // halfway cases
        double x;
        memcpy(&x, &bits, sizeof x);
        if (isnan(x)) continue;
        OFTEN_ASSERT(fold_round_float(DT_F32, x) == (double)(float)x);
    }
}
END_TEST

START_TEST(converts_integers_once)
{
    uint64_t state = 7;
    for (int i = 0; i < 200000; i++) {
        uint64_t u = random64(&state) >> i % 64;
        int64_t x = (int64_t)u;
        OFTEN_ASSERT(fold_int_to_float(DT_F32, DT_I64, x) == (double)(float)x);
        OFTEN_ASSERT(fold_int_to_float(DT_F64, DT_I64, x) == (double)x);
        OFTEN_ASSERT(fold_int_to_float(DT_F32, DT_U64, x) == (double)(float)u);
    }
    // 2^60 + 2^52 + 1 is above the middle of two bf16 numbers; f64 cannot hold the 1.
    int64_t x = (INT64_C(1) << 60) + (INT64_C(1) << 52) + 1;
    ck_assert(fold_int_to_float(DT_BF16, DT_I64, x) == ldexp(1, 60) + ldexp(1, 53));
    ck_assert(fold_int_to_float(DT_F32, DT_I64, INT64_MIN) == -ldexp(1, 63));
    ck_assert(isinf(fold_int_to_float(DT_F16, DT_I64, 65520)));
}
END_TEST

START_TEST(converts_floats_to_integers)
{
    ck_assert_int_eq(fold_float_to_int(DT_I8, 127.9), 127);
    ck_assert_int_eq(fold_float_to_int(DT_I8, 128), 127);
    ck_assert_int_eq(fold_float_to_int(DT_I8, -128.9), -128);
    ck_assert_int_eq(fold_float_to_int(DT_I8, -1e9), -128);
    ck_assert_int_eq(fold_float_to_int(DT_I32, NAN), 0);
    ck_assert_int_eq(fold_float_to_int(DT_U8, -0.9), 0);
    ck_assert_int_eq(fold_float_to_int(DT_U8, -5), 0);
    ck_assert_int_eq(fold_float_to_int(DT_U8, 300), 255);
    ck_assert_int_eq(fold_float_to_int(DT_I64, 9.3e18), INT64_MAX);
    ck_assert_int_eq(fold_float_to_int(DT_I64, -INFINITY), INT64_MIN);
    ck_assert_int_eq(fold_float_to_int(DT_U64, INFINITY), -1);
    ck_assert(fold_float_to_int(DT_U64, 1e19) == (int64_t)UINT64_C(10000000000000000000));
    ck_assert_int_eq(fold_float_to_int(DT_BOOL, 0.25), 1);
}
END_TEST

// ---- integer arithmetic ----

static int64_t floor_div(int x, int y) { return (int64_t)floor((double)x / y); }

START_TEST(folds_every_i8)
{
    for (int x = -128; x < 128; x++)
        for (int y = -128; y < 128; y++) {
            int64_t r;
            OFTEN_ASSERT(fold_int(OP_ADD, DT_I8, x, y, &r) && r == (int8_t)(x + y));
            OFTEN_ASSERT(fold_int(OP_MUL, DT_I8, x, y, &r) && r == (int8_t)(x * y));
            OFTEN_ASSERT(fold_int(OP_DIV, DT_I8, x, y, &r) == (y != 0));
            if (y == 0) continue;
            OFTEN_ASSERT(fold_int(OP_DIV, DT_I8, x, y, &r) && r == (int8_t)(x / y));
            OFTEN_ASSERT(fold_int(OP_REM, DT_I8, x, y, &r) && r == x % y);
            OFTEN_ASSERT(fold_int(OP_FLOORDIV, DT_I8, x, y, &r) && r == (int8_t)floor_div(x, y));
            OFTEN_ASSERT(fold_int(OP_MOD, DT_I8, x, y, &r) && r == x - floor_div(x, y) * y);
        }
}
END_TEST

START_TEST(folds_at_the_limits)
{
    int64_t r;
    ck_assert(fold_int(OP_DIV, DT_I64, INT64_MIN, -1, &r) && r == INT64_MIN);
    ck_assert(fold_int(OP_REM, DT_I64, INT64_MIN, -1, &r) && r == 0);
    ck_assert(fold_int(OP_ABS, DT_I32, INT32_MIN, 0, &r) && r == INT32_MIN);
    ck_assert(fold_int(OP_NEG, DT_U8, 1, 0, &r) && r == 255);
    ck_assert(fold_int(OP_DIV, DT_U64, -1, 2, &r) && r == INT64_MAX);
    ck_assert(fold_int(OP_LT, DT_U64, 1, -1, &r) && r == 1);
    ck_assert(fold_int(OP_SHR, DT_I8, -128, 7, &r) && r == -1);
    ck_assert(fold_int(OP_SHR, DT_I8, -128, 8, &r) && r == -1);
    ck_assert(fold_int(OP_SHR, DT_U8, 128, 8, &r) && r == 0);
    ck_assert(fold_int(OP_SHL, DT_I8, 1, 7, &r) && r == -128);
    ck_assert(fold_int(OP_SHL, DT_I8, 1, -1, &r) && r == 0);
    ck_assert(fold_int(OP_BITNOT, DT_U16, 0, 0, &r) && r == 65535);
    ck_assert(!fold_int(OP_ADD, DT_INDEX, INT64_MAX, 1, &r));           // an index never wraps
    ck_assert(!fold_int(OP_FLOORDIV, DT_INDEX, INT64_MIN, -1, &r));
    ck_assert(!fold_int(OP_EXP, DT_I32, 1, 0, &r));
}
END_TEST

// ---- simplification ----

START_TEST(simplifies_sums)
{
    World w = world();
    settle(&w);
    same(&w, bin(&w, OP_SUB, bin(&w, OP_ADD, w.I, num(&w, 1)), num(&w, 1)), "i");
    same(&w, bin(&w, OP_ADD, num(&w, 1), w.I), "i + 1");
    same(&w, bin(&w, OP_SUB, num(&w, 3), w.I), "3 - i");
    same(&w, bin(&w, OP_MUL, w.I, num(&w, 1)), "i");
    same(&w, bin(&w, OP_MUL, w.I, num(&w, 0)), "0");
    same(&w, bin(&w, OP_SUB, bin(&w, OP_MUL, num(&w, 2), bin(&w, OP_ADD, w.I, w.J)), w.I), "i + 2*j");
    same(&w, bin(&w, OP_SUB, bin(&w, OP_SUB, w.N, num(&w, 1)), bin(&w, OP_SUB, w.I, num(&w, 1))), "N - i");
    same(&w, bin(&w, OP_MUL, num(&w, 3), bin(&w, OP_MUL, num(&w, 2), num(&w, 7))), "42");
    same(&w, expr_unary(w.a, OP_NEG, DT_INDEX, expr_unary(w.a, OP_NEG, DT_INDEX, w.I)), "i");
    same(&w, bin(&w, OP_MUL, w.I, w.N), "i*N");
    arena_free(w.a);
}
END_TEST

START_TEST(simplifies_min_and_max)
{
    World w = world();
    settle(&w);
    same(&w, bin(&w, OP_MIN, num(&w, 3), num(&w, 5)), "3");
    same(&w, bin(&w, OP_MAX, w.N, num(&w, 0)), "N");
    same(&w, bin(&w, OP_MIN, w.N, bin(&w, OP_ADD, w.N, num(&w, 2))), "N");
    same(&w, bin(&w, OP_MAX, bin(&w, OP_ADD, w.N, w.M), w.N), "N + M");
    same(&w, bin(&w, OP_MAX, w.I, num(&w, 0)), "max(i, 0)");                 // an index may be negative
    same(&w, bin(&w, OP_MIN, w.N, w.M), "min(N, M)");
    arena_free(w.a);
}
END_TEST

START_TEST(simplifies_divisions)
{
    World w = world();
    settle(&w);
    Expr *odd = bin(&w, OP_ADD, bin(&w, OP_MUL, num(&w, 2), w.I), num(&w, 1));
    same(&w, bin(&w, OP_FLOORDIV, odd, num(&w, 2)), "i");
    same(&w, bin(&w, OP_MOD, odd, num(&w, 2)), "1");
    same(&w, bin(&w, OP_DIV, odd, num(&w, 2)), "(2*i + 1)/2");               // truncates: not the same below zero
    same(&w, bin(&w, OP_DIV, bin(&w, OP_MUL, num(&w, 4), w.I), num(&w, 2)), "2*i");
    same(&w, bin(&w, OP_FLOORDIV, w.I, num(&w, 1)), "i");
    same(&w, bin(&w, OP_FLOORDIV, num(&w, -7), num(&w, 2)), "-4");
    same(&w, bin(&w, OP_DIV, num(&w, -7), num(&w, 2)), "-3");
    same(&w, bin(&w, OP_DIV, w.I, num(&w, 0)), "i/0");
    same(&w, bin(&w, OP_DIV, bin(&w, OP_ADD, w.N, bin(&w, OP_MUL, num(&w, 2), w.M)), num(&w, 2)), "M + N/2");
    arena_free(w.a);
}
END_TEST

START_TEST(simplifies_conditions)
{
    World w = world();
    settle(&w);
    same(&w, cmp(&w, OP_LT, w.I, bin(&w, OP_ADD, w.I, num(&w, 1))), "1");
    same(&w, cmp(&w, OP_GE, w.N, num(&w, 0)), "1");
    same(&w, cmp(&w, OP_EQ, w.N, num(&w, -1)), "0");
    same(&w, cmp(&w, OP_LT, w.I, w.N), "i < N");
    Expr *yes = expr_int(w.a, DT_BOOL, 1, nowhere), *c = cmp(&w, OP_LT, w.I, w.J);
    same(&w, cmp(&w, OP_AND, yes, c), "i < j");
    same(&w, cmp(&w, OP_OR, yes, c), "1");
    same(&w, expr_unary(w.a, OP_NOT, DT_BOOL, expr_unary(w.a, OP_NOT, DT_BOOL, c)), "i < j");
    Expr *args[3] = {yes, w.I, w.J};
    same(&w, expr_new(w.a, OP_SELECT, DT_INDEX, nowhere, 3, args), "i");
    arena_free(w.a);
}
END_TEST

START_TEST(never_leaves_64_bits)
{
    World w = world();
    settle(&w);
    Expr *big = bin(&w, OP_ADD, bin(&w, OP_ADD, w.I, num(&w, INT64_MAX)), num(&w, INT64_MAX));
    ck_assert(expr_simplify(w.a, big)->op == OP_ADD);
    Expr *product = bin(&w, OP_MUL, num(&w, INT64_MAX), bin(&w, OP_MUL, num(&w, 2), w.I));
    ck_assert(expr_simplify(w.a, product)->op == OP_MUL);
    same(&w, bin(&w, OP_ADD, num(&w, INT64_MAX), num(&w, -INT64_MAX)), "0");
    arena_free(w.a);
}
END_TEST

START_TEST(folds_floats_only_as_constants)
{
    World w = world();
    settle(&w);
    Tensor x = {.name = "x", .type = DT_F32};
    Expr *read = expr_new(w.a, OP_READ, DT_F32, nowhere, 0, NULL), *zero = expr_float(w.a, DT_F32, 0, nowhere);
    read->tensor = &x;
    same(&w, expr_binary(w.a, OP_ADD, DT_F32, read, zero), "x + 0.0");       // -0 + 0 is 0
    same(&w, expr_unary(w.a, OP_NEG, DT_F32, expr_float(w.a, DT_F32, 2.5, nowhere)), "-2.5");
    Expr *one = expr_float(w.a, DT_F16, 1, nowhere), *three = expr_float(w.a, DT_F16, 3, nowhere);
    ck_assert(expr_simplify(w.a, expr_binary(w.a, OP_DIV, DT_F16, one, three))->f == fold_round_float(DT_F16, 1.0 / 3));
    same(&w, expr_binary(w.a, OP_DIV, DT_F32, zero, zero), "0.0/0.0");
    arena_free(w.a);
}
END_TEST

// ---- random expressions keep their value ----

enum { DEPTH = 5 };

static Expr *random_expr(World *w, uint64_t *state, int depth)
{
    static const Op ops[] = {OP_ADD, OP_SUB, OP_MUL, OP_MIN, OP_MAX, OP_DIV, OP_REM, OP_FLOORDIV, OP_MOD, OP_NEG};
    uint64_t r = random64(state) >> 20;
    Expr *leaves[] = {w->I, w->J, w->N, w->M};
    if (depth == 0 || r % 7 == 0) return r % 3 == 0 ? num(w, (int64_t)(r / 3 % 13) - 6) : leaves[r / 3 % 4];
    Op op = ops[r / 7 % 10];
    Expr *x = random_expr(w, state, depth - 1);
    if (op == OP_NEG) return expr_unary(w->a, op, DT_INDEX, x);
    bool constant = op == OP_DIV || op == OP_REM || op == OP_FLOORDIV || op == OP_MOD || op == OP_MUL;
    return bin(w, op, x, constant ? num(w, 1 + (int64_t)(r / 70 % 5)) : random_expr(w, state, depth - 1));
}

static int64_t value(const World *w, const Expr *e, const int64_t *at)
{
    if (e->op == OP_CONST) return e->i;
    if (e->op == OP_INDEX) return at[e->index == &w->i ? 0 : 1];
    if (e->op == OP_DIM) return at[e->dim == &w->n ? 2 : 3];
    int64_t x = value(w, e->args[0], at), y = e->n > 1 ? value(w, e->args[1], at) : 0, r = 0;
    OFTEN_ASSERT(fold_int(e->op, DT_INDEX, x, y, &r));
    return r;
}

START_TEST(random_expressions_keep_their_value)
{
    uint64_t state = 12345;
    for (int k = 0; k < 20000; k++) {
        World w = world();
        settle(&w);
        Expr *e = random_expr(&w, &state, DEPTH), *s = expr_simplify(w.a, e);
        for (int p = 0; p < 20; p++) {
            int64_t at[4] = {(int64_t)(random64(&state) % 21) - 10, (int64_t)(random64(&state) % 21) - 10,
                             (int64_t)(random64(&state) % 9), (int64_t)(random64(&state) % 9)};
            OFTEN_ASSERT_MSG(value(&w, e, at) == value(&w, s, at), "%s became %s", expr_text(w.a, e), expr_text(w.a, s));
        }
        ck_assert_str_eq(expr_text(w.a, expr_simplify(w.a, s)), expr_text(w.a, s));
        arena_free(w.a);
    }
}
END_TEST

// ---- linear forms ----

START_TEST(finds_coefficients)
{
    World w = world();
    settle(&w);
    bool linear = true;
    Expr *e = bin(&w, OP_SUB, bin(&w, OP_MUL, num(&w, 3), bin(&w, OP_SUB, w.J, w.I)), w.J);
    ck_assert_int_eq(linear_coefficient(e, &w.i, &linear), -3);
    ck_assert_int_eq(linear_coefficient(e, &w.j, &linear), 2);
    ck_assert(linear);
    linear_coefficient(bin(&w, OP_MUL, w.I, w.N), &w.j, &linear);
    ck_assert(linear);
    linear_coefficient(bin(&w, OP_MUL, w.I, w.N), &w.i, &linear);
    ck_assert(!linear);
    arena_free(w.a);
}
END_TEST

START_TEST(finds_extremes)
{
    World w = world();
    settle(&w);                                              // i in 0..N, j in 0..i
    Expr *e = bin(&w, OP_SUB, w.I, w.J);
    ck_assert_str_eq(expr_text(w.a, linear_extreme(w.a, e, NULL, true)), "N - 1");
    ck_assert_str_eq(expr_text(w.a, linear_extreme(w.a, e, NULL, false)), "1");
    ck_assert_str_eq(expr_text(w.a, linear_extreme(w.a, bin(&w, OP_ADD, w.I, w.J), &w.i, true)), "2*i - 1");
    ck_assert_ptr_null(linear_extreme(w.a, bin(&w, OP_MIN, w.I, w.J), NULL, true));
    ck_assert(linear_at_most(w.a, num(&w, 0), w.N) && linear_at_most(w.a, w.N, bin(&w, OP_ADD, w.N, w.M)));
    ck_assert(!linear_at_most(w.a, w.N, w.M) && !linear_at_most(w.a, w.I, w.N));
    arena_free(w.a);
}
END_TEST

// ---- trees ----

static Expr *sum_over_j(World *w, Expr *body)
{
    Nest *nest = ARENA_NEW(w->a, Nest);
    nest->op = RED_SUM;
    VEC_PUSH(w->a, &nest->indices, &w->j);
    Expr *e = expr_new(w->a, OP_REDUCE, DT_INDEX, nowhere, 1, &body);
    e->nest = nest;
    return e;
}

START_TEST(substitutes_under_reductions)
{
    World w = world();
    settle(&w);
    Index *from = &w.i;
    Expr *to = bin(&w, OP_ADD, w.I, num(&w, 1)), *e = sum_over_j(&w, bin(&w, OP_ADD, w.I, w.J));
    Expr *r = expr_substitute(w.a, e, 1, &from, &to);
    Index *inner = r->nest->indices.at[0];
    ck_assert_ptr_ne(inner, &w.j);                           // its range became 0..i+1
    ck_assert_str_eq(expr_text(w.a, inner->hi), "i + 1");
    ck_assert(expr_uses(r, inner) && !expr_uses(r, &w.j));
    ck_assert(expr_uses(e, &w.j) && e->nest->indices.at[0] == &w.j);
    Expr *untouched = expr_substitute(w.a, w.N, 1, &from, &to);
    ck_assert_ptr_eq(untouched, w.N);
    arena_free(w.a);
}
END_TEST

START_TEST(compares_expressions)
{
    World w = world();
    settle(&w);
    ck_assert(expr_equal(bin(&w, OP_ADD, w.I, w.N), bin(&w, OP_ADD, w.I, w.N)));
    ck_assert(!expr_equal(bin(&w, OP_ADD, w.I, w.N), bin(&w, OP_ADD, w.N, w.I)));
    ck_assert(!expr_equal(num(&w, 1), expr_int(w.a, DT_I32, 1, nowhere)));
    Expr *zero = expr_float(w.a, DT_F64, 0.0, nowhere), *minus = expr_float(w.a, DT_F64, -0.0, nowhere), *nan = expr_float(w.a, DT_F64, NAN, nowhere);
    ck_assert(!expr_equal(zero, minus) && expr_equal(nan, nan));
    ck_assert(expr_is_int(num(&w, 7), 7) && !expr_is_int(zero, 0));
    arena_free(w.a);
}
END_TEST

START_TEST(converts_constants)
{
    World w = world();
    ck_assert(expr_convert(w.a, DT_F16, expr_float(w.a, DT_F64, 0.1, nowhere))->f == fold_round_float(DT_F16, 0.1));
    ck_assert_int_eq(expr_convert(w.a, DT_I8, expr_int(w.a, DT_I32, 200, nowhere))->i, -56);
    ck_assert_int_eq(expr_convert(w.a, DT_U8, expr_float(w.a, DT_F32, -3, nowhere))->i, 0);
    ck_assert(expr_convert(w.a, DT_F64, expr_int(w.a, DT_U64, -1, nowhere))->f == ldexp(1, 64));
    arena_free(w.a);
}
END_TEST

START_TEST(writes_texts)
{
    World w = world();
    settle(&w);
    Expr *e = bin(&w, OP_MUL, bin(&w, OP_SUB, w.I, num(&w, 1)), w.N);
    ck_assert_str_eq(expr_text(w.a, e), "(i - 1)*N");
    ck_assert_str_eq(expr_text_subscript(w.a, e), "(i-1)*N");
    ck_assert_str_eq(expr_text(w.a, bin(&w, OP_SUB, w.I, bin(&w, OP_SUB, w.J, w.N))), "i - (j - N)");
    Expr *c = cmp(&w, OP_GE, bin(&w, OP_ADD, bin(&w, OP_SUB, w.I, w.N), num(&w, 1)), num(&w, 0));
    ck_assert_str_eq(expr_text_condition(w.a, c), "i >= N - 1");
    c = cmp(&w, OP_GE, bin(&w, OP_SUB, w.N, bin(&w, OP_ADD, w.J, num(&w, 3))), num(&w, 0));
    ck_assert_str_eq(expr_text_condition(w.a, c), "j <= N - 3");
    c = cmp(&w, OP_EQ, bin(&w, OP_SUB, w.M, num(&w, 2)), num(&w, 0));
    ck_assert_str_eq(expr_text_condition(w.a, c), "M = 2");
    arena_free(w.a);
}
END_TEST

START_TEST(operations_have_one_row_each)
{
    for (int i = 0; i < OP_COUNT; i++) {
        ck_assert_ptr_nonnull(op_name((Op)i));
        for (int j = 0; j < i; j++) ck_assert_str_ne(op_name((Op)i), op_name((Op)j));
        ck_assert(op_arity((Op)i) >= -1 && op_arity((Op)i) <= 3);
    }
}
END_TEST

Suite *suite_expr(void)
{
    Suite *s = suite_create("expr");
    TCase *c = tcase_create("expr");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, types_widen_in_one_family);
    tcase_add_test(c, types_accumulate);
    tcase_add_test(c, types_have_names);
    tcase_add_test(c, rounds_halves_once);
    tcase_add_test(c, rounds_f32_like_the_compiler);
    tcase_add_test(c, converts_integers_once);
    tcase_add_test(c, converts_floats_to_integers);
    tcase_add_test(c, folds_every_i8);
    tcase_add_test(c, folds_at_the_limits);
    tcase_add_test(c, simplifies_sums);
    tcase_add_test(c, simplifies_min_and_max);
    tcase_add_test(c, simplifies_divisions);
    tcase_add_test(c, simplifies_conditions);
    tcase_add_test(c, never_leaves_64_bits);
    tcase_add_test(c, folds_floats_only_as_constants);
    tcase_add_test(c, random_expressions_keep_their_value);
    tcase_add_test(c, finds_coefficients);
    tcase_add_test(c, finds_extremes);
    tcase_add_test(c, substitutes_under_reductions);
    tcase_add_test(c, compares_expressions);
    tcase_add_test(c, converts_constants);
    tcase_add_test(c, writes_texts);
    tcase_add_test(c, operations_have_one_row_each);
    suite_add_tcase(s, c);
    return s;
}
