// The reference evaluator on kernels built by hand and on source: values, borders, recursion, faults, error bounds.
#include "base/sanitize.h"
#include "data/element.h"
#include "reference/eval.h"
#include "reference/value.h"
#include "sema/sema.h"
#include "syntax/parse.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *suite_reference(void);

static Arena *arena;
static Kernel *kernel;

static const Range nowhere = {0, 0};

static void set_up(void)
{
    arena = arena_new();
    kernel = ARENA_NEW(arena, Kernel);
    kernel->arena = arena;
    kernel->name = "test";
}

static void tear_down(void) { arena_free(arena); }

// ---- building ----

static Expr *num(int64_t x) { return expr_int(arena, DT_INDEX, x, nowhere); }
static Expr *integer(int64_t x) { return expr_int(arena, DT_I32, x, nowhere); }
static Expr *real(double x) { return expr_float(arena, DT_F32, x, nowhere); }
static Expr *use(Index *i) { return expr_index(arena, i, nowhere); }
static Expr *size(Dim *d) { return expr_dim(arena, d, nowhere); }
static Expr *two(Op op, DType t, Expr *x, Expr *y) { return expr_binary(arena, op, t, x, y); }
static Expr *shifted(Index *i, int64_t by) { return two(OP_ADD, DT_INDEX, use(i), num(by)); }

static Dim *dim(const char *name)
{
    Dim *d = ARENA_NEW(arena, Dim);
    *d = (Dim){.id = kernel->dims.n, .name = name};
    VEC_PUSH(arena, &kernel->dims, d);
    return d;
}

static Tensor *tensor(const char *name, TensorKind kind, DType type, int rank, Expr *e0, Expr *e1)
{
    Tensor *t = ARENA_NEW(arena, Tensor);
    *t = (Tensor){.id = kernel->tensors.n, .name = name, .kind = kind, .type = type, .rank = rank};
    t->lo = ARENA_ARRAY(arena, Expr *, 3);
    t->hi = ARENA_ARRAY(arena, Expr *, 3);
    t->border = ARENA_ARRAY(arena, Border, 3);
    t->lo[0] = t->lo[1] = num(0);
    t->hi[0] = e0;
    t->hi[1] = e1;
    VEC_PUSH(arena, &kernel->tensors, t);
    if (kind == TENSOR_OUTPUT)
        VEC_PUSH(arena, &kernel->outputs, t);
    if (kind == TENSOR_INPUT) {
        Param p = {.tensor = t};
        VEC_PUSH(arena, &kernel->params, p);
    }
    return t;
}

static Index *index_in(const char *name, Expr *lo, Expr *hi)
{
    Index *i = ARENA_NEW(arena, Index);
    *i = (Index){.name = name, .lo = lo, .hi = hi};
    return i;
}

static Expr *read_at(Tensor *t, Expr *s0, Expr *s1)
{
    Expr *subs[2] = {s0, s1};
    Expr *e = expr_new(arena, OP_READ, t->type, nowhere, t->rank, subs);
    e->tensor = t;
    return e;
}

static Equation *define(Tensor *t, Expr *s0, Expr *s1, Index *i, Index *j, Expr *rhs)
{
    Equation *e = ARENA_NEW(arena, Equation);
    *e = (Equation){.id = kernel->equations.n, .name = t->name, .lhs = t, .rhs = rhs};
    e->subs = ARENA_ARRAY(arena, Expr *, 2);
    e->subs[0] = s0;
    e->subs[1] = s1;
    if (i)
        VEC_PUSH(arena, &e->indices, i);
    if (j)
        VEC_PUSH(arena, &e->indices, j);
    VEC_PUSH(arena, &kernel->equations, e);
    return e;
}

static Expr *nest(Op op, ReduceOp how, DType type, Index *i, Expr *body)
{
    Expr *e = expr_new(arena, op, type, nowhere, 1, &body);
    e->nest = ARENA_NEW(arena, Nest);
    e->nest->op = how;
    if (op == OP_REDUCE)
        VEC_PUSH(arena, &e->nest->indices, i);
    else
        e->nest->along = i;
    return e;
}

static RefTensor *input(DType type, int rank, int64_t n, int64_t m)
{
    int64_t extent[2] = {n, m};
    return ref_tensor_new(arena, type, rank, extent);
}

static RefFault fault;
static RefTensor *run(const int64_t *dims, RefTensor *x, RefStatus expected)
{
    RefTensor *inputs[2] = {x, NULL}, *outputs[2] = {NULL, NULL};
    RefStatus s = ref_eval(arena, kernel, dims, inputs, outputs, NULL, &fault);
    ck_assert_msg(s == expected, "%s: %s", ref_status_name(s), fault.message ? fault.message : "");
    return outputs[0];
}

static float *f32(RefTensor *t) { return t->data; }

// ---- whole kernels ----

START_TEST(relu_cumsum)
{
    Dim *m = dim("M"), *n = dim("N");
    Tensor *x = tensor("x", TENSOR_INPUT, DT_F32, 2, size(m), size(n));
    Tensor *t = tensor("t", TENSOR_LOCAL, DT_F32, 2, size(m), size(n));
    Tensor *y = tensor("y", TENSOR_OUTPUT, DT_F32, 2, size(m), size(n));
    Index *i = index_in("i", num(0), size(m)), *j = index_in("j", num(0), size(n));
    define(t, use(i), use(j), i, j, two(OP_MAX, DT_F32, two(OP_MUL, DT_F32, real(2), read_at(x, use(i), use(j))), real(0)));
    define(y, use(i), use(j), i, j, nest(OP_SCAN, RED_SUM, DT_F32, j, read_at(t, use(i), use(j))));
    int64_t dims[] = {3, 5};
    RefTensor *in = input(DT_F32, 2, 3, 5);
    for (int k = 0; k < 15; k++)
        f32(in)[k] = (float)(k % 3 - 1);
    RefTensor *out = run(dims, in, REF_OK);
    for (int r = 0; r < 3; r++) {
        float sum = 0;
        for (int c = 0; c < 5; c++) {
            sum += fmaxf(2 * f32(in)[5 * r + c], 0);
            ck_assert_float_eq(f32(out)[5 * r + c], sum);
            ck_assert(c == 0 ? out->err[5 * r] == 0 : out->err[5 * r + c] <= 1e-5);
        }
    }
    dims[1] = 0;
    ck_assert_int_eq(run(dims, input(DT_F32, 2, 3, 0), REF_OK)->size, 0);
}
END_TEST

static void gaussian(Tensor **x, Tensor **g, BorderKind border, Dim *h, Dim *w)
{
    *x = tensor("img", TENSOR_INPUT, DT_F32, 2, size(h), size(w));
    (*x)->border[0].kind = (*x)->border[1].kind = border;
    *g = tensor("g", TENSOR_OUTPUT, DT_F32, 2, size(h), size(w));
}

START_TEST(sobel_in_time)
{
    Dim *h = dim("H"), *w = dim("W");
    Tensor *x, *g, *part[2];
    gaussian(&x, &g, BORDER_CLAMP, h, w);
    for (int p = 0; p < 2; p++) {
        Index *i = index_in("i", num(0), size(h)), *j = index_in("j", num(0), size(w));
        Expr *e = NULL;
        part[p] = tensor(p ? "gy" : "gx", TENSOR_LOCAL, DT_F32, 2, size(h), size(w));
        for (int side = -1; side <= 1; side += 2)
            for (int k = -1; k <= 1; k++) {
                Expr *r = p ? read_at(x, shifted(i, side), shifted(j, k)) : read_at(x, shifted(i, k), shifted(j, side));
                r = two(OP_MUL, DT_F32, real(k == 0 ? 2 * side : side), r);
                e = e ? two(OP_ADD, DT_F32, e, r) : r;
            }
        define(part[p], use(i), use(j), i, j, e);
    }
    Index *i = index_in("i", num(0), size(h)), *j = index_in("j", num(0), size(w));
    Expr *sum = NULL;
    for (int p = 0; p < 2; p++) {
        Expr *r = read_at(part[p], use(i), use(j)), *s = two(OP_MUL, DT_F32, r, r);
        sum = sum ? two(OP_ADD, DT_F32, sum, s) : s;
    }
    define(g, use(i), use(j), i, j, expr_unary(arena, OP_SQRT, DT_F32, sum));
    int64_t dims[] = {768, 1024};
    RefTensor *in = input(DT_F32, 2, 768, 1024);
    for (int k = 0; k < 768 * 1024; k++)
        f32(in)[k] = (float)(k % 1024);
    RefTensor *out = run(dims, in, REF_OK);
    ck_assert_float_eq(f32(out)[1024 * 5 + 7], 8);
    ck_assert_float_eq(f32(out)[1024 * 5], 4);
    ck_assert_double_eq(out->err[1024 * 5 + 7], 0);
}
END_TEST

START_TEST(borders)
{
    static const struct { BorderKind kind; float left[4]; } cases[] = {
        {BORDER_ZERO, {0, 0, 0, 0}}, {BORDER_CLAMP, {1, 1, 1, 1}}, {BORDER_WRAP, {3, 2, 1, 3}}, {BORDER_REFLECT, {2, 3, 2, 1}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tear_down();
        set_up();
        Dim *n = dim("N");
        Tensor *x = tensor("x", TENSOR_INPUT, DT_F32, 1, size(n), NULL), *y = tensor("y", TENSOR_OUTPUT, DT_F32, 1, num(8), NULL);
        x->border[0].kind = cases[c].kind;
        Index *i = index_in("i", num(0), num(8));
        define(y, use(i), NULL, i, NULL, read_at(x, shifted(i, -4), NULL));
        int64_t dims[] = {3};
        RefTensor *in = input(DT_F32, 1, 3, 0);
        memcpy(in->data, (float[]){1, 2, 3}, 12);
        RefTensor *out = run(dims, in, REF_OK);
        for (int k = 0; k < 4; k++)
            ck_assert_float_eq(f32(out)[3 - k], cases[c].left[k]);
        dims[0] = 1;
        in = input(DT_F32, 1, 1, 0);
        f32(in)[0] = 7;
        ck_assert_float_eq(f32(run(dims, in, REF_OK))[0], cases[c].kind == BORDER_ZERO ? 0 : 7);
        dims[0] = 0;
        run(dims, input(DT_F32, 1, 0, 0), cases[c].kind == BORDER_ZERO ? REF_OK : REF_FAULT_BOUNDS);
    }
}
END_TEST

START_TEST(a_constant_border_wins_in_corners)
{
    Dim *h = dim("H"), *w = dim("W");
    Tensor *x, *g;
    gaussian(&x, &g, BORDER_CLAMP, h, w);
    x->border[1] = (Border){.kind = BORDER_CONST, .value = real(9)};
    Index *i = index_in("i", num(0), size(h)), *j = index_in("j", num(0), size(w));
    define(g, use(i), use(j), i, j, read_at(x, shifted(i, -1), shifted(j, -1)));
    int64_t dims[] = {2, 2};
    RefTensor *in = input(DT_F32, 2, 2, 2);
    memcpy(in->data, (float[]){1, 2, 3, 4}, 16);
    RefTensor *out = run(dims, in, REF_OK);
    ck_assert_mem_eq(out->data, ((float[]){9, 1, 9, 1}), 16);
}
END_TEST

// u[0] = x[0]; u[i] = u[i-1] + 1, demanded from the far end.
static Equation *chain(Dim **n, int64_t step)
{
    *n = dim("N");
    Tensor *x = tensor("x", TENSOR_INPUT, DT_F32, 1, num(1), NULL);
    Tensor *u = tensor("u", TENSOR_LOCAL, DT_F32, 1, size(*n), NULL);
    Tensor *y = tensor("y", TENSOR_OUTPUT, DT_F32, 0, NULL, NULL);
    define(u, num(0), NULL, NULL, NULL, read_at(x, num(0), NULL));
    Index *i = index_in("i", num(1), size(*n));
    Equation *e = define(u, use(i), NULL, i, NULL, two(OP_ADD, DT_F32, read_at(u, shifted(i, step), NULL), real(1)));
    define(y, NULL, NULL, NULL, NULL, read_at(u, two(OP_SUB, DT_INDEX, size(*n), num(1)), NULL));
    return e;
}

START_TEST(recursion_is_deep)
{
    Dim *n;
    chain(&n, -1);
    int64_t dims[] = {UNDER_TSAN ? 1000 : 1000000};      // TSan bounds the evaluator's stack
    RefTensor *out = run(dims, input(DT_F32, 1, 1, 0), REF_OK);
    ck_assert_float_eq(f32(out)[0], (float)(dims[0] - 1));
}
END_TEST

START_TEST(recursion_has_a_bound)
{
    Dim *n;
    chain(&n, -1);
    int64_t dims[] = {1000000};
    RefTensor *inputs[] = {input(DT_F32, 1, 1, 0)}, *outputs[1];
    RefOptions small = {.stack = 8 << 20};
    ck_assert_int_eq(ref_eval(arena, kernel, dims, inputs, outputs, &small, &fault), REF_DEPTH);
    RefOptions brief = {.max_work = 1000};
    ck_assert_int_eq(ref_eval(arena, kernel, dims, inputs, outputs, &brief, &fault), REF_WORK);
    RefOptions tight = {.max_elements = 1000};
    ck_assert_int_eq(ref_eval(arena, kernel, dims, inputs, outputs, &tight, &fault), REF_WORK);
}
END_TEST

START_TEST(a_cycle_is_found)
{
    Dim *n;
    chain(&n, 0);
    int64_t dims[] = {5};
    run(dims, input(DT_F32, 1, 1, 0), REF_CYCLE);
    ck_assert(strstr(fault.message, "u[4] needs itself") != NULL);
}
END_TEST

START_TEST(gaps_overlaps_shapes)
{
    Dim *n;
    Equation *e = chain(&n, -1);
    e->indices.at[0]->lo = num(2);
    int64_t dims[] = {5};
    run(dims, input(DT_F32, 1, 1, 0), REF_GAP);
    ck_assert(strstr(fault.message, "u[1]") != NULL);
    e->indices.at[0]->lo = num(0);
    run(dims, input(DT_F32, 1, 1, 0), REF_OVERLAP);
    run(dims, input(DT_F32, 1, 2, 0), REF_SHAPE);
    Expr *large = two(OP_GT, DT_BOOL, size(n), num(5));
    VEC_PUSH(arena, &kernel->where, large);
    run(dims, input(DT_F32, 1, 1, 0), REF_WHERE);
}
END_TEST

START_TEST(otherwise_and_initial_values)
{
    Dim *n = dim("N");
    Tensor *x = tensor("x", TENSOR_INPUT, DT_F32, 1, size(n), NULL), *y = tensor("y", TENSOR_OUTPUT, DT_F32, 1, size(n), NULL);
    y->init = x;
    Index *i = index_in("i", num(0), two(OP_DIV, DT_INDEX, size(n), num(2))), *j = index_in("j", num(0), size(n));
    define(y, two(OP_MUL, DT_INDEX, use(i), num(2)), NULL, i, NULL, real(1));
    Equation *rest = define(y, use(j), NULL, j, NULL, real(2));
    rest->otherwise = true;
    Expr *low = two(OP_LT, DT_BOOL, use(j), num(4));
    VEC_PUSH(arena, &rest->conds, low);
    int64_t dims[] = {7};
    RefTensor *in = input(DT_F32, 1, 7, 0);
    for (int k = 0; k < 7; k++)
        f32(in)[k] = 5;
    ck_assert_mem_eq(run(dims, in, REF_OK)->data, ((float[]){1, 2, 1, 2, 1, 5, 5}), 28);
    ck_assert_str_eq(ref_equation_at(arena, kernel, dims, y, (int64_t[]){3})->name, "y");
    ck_assert(ref_equation_at(arena, kernel, dims, y, (int64_t[]){6}) == NULL);
}
END_TEST

// y[i + j, i - j] over a square: both subscripts have two unknowns, so the domain is tabulated.
START_TEST(coupled_left_sides)
{
    Dim *n = dim("N");
    Tensor *x = tensor("x", TENSOR_INPUT, DT_F32, 1, num(1), NULL);
    Tensor *y = tensor("y", TENSOR_OUTPUT, DT_F32, 2, num(5), num(5));
    (void)x;
    Index *i = index_in("i", num(0), size(n)), *j = index_in("j", num(0), size(n));
    Expr *e = expr_convert(arena, DT_F32, two(OP_ADD, DT_INDEX, two(OP_MUL, DT_INDEX, use(i), num(10)), use(j)));
    define(y, two(OP_ADD, DT_INDEX, use(i), use(j)), two(OP_ADD, DT_INDEX, two(OP_SUB, DT_INDEX, use(i), use(j)), num(2)), i, j, e);
    Index *p = index_in("p", num(0), num(5)), *q = index_in("q", num(0), num(5));
    define(y, use(p), use(q), p, q, real(-1))->otherwise = true;
    int64_t dims[] = {3};
    RefTensor *out = run(dims, input(DT_F32, 1, 1, 0), REF_OK);
    ck_assert_float_eq(f32(out)[5 * 3 + 3], 21);
    ck_assert_float_eq(f32(out)[5 * 0 + 2], 0);
    ck_assert_float_eq(f32(out)[5 * 0 + 1], -1);
}
END_TEST

START_TEST(scans_run_every_way)
{
    static const struct { bool exclusive, reverse; int y[5]; } cases[] = {
        {false, false, {1, 3, 6, 10, 15}}, {true, false, {0, 1, 3, 6, 10}}, {false, true, {15, 14, 12, 9, 5}}, {true, true, {14, 12, 9, 5, 0}},
    };
    for (int c = 0; c < 4; c++) {
        tear_down();
        set_up();
        Tensor *x = tensor("x", TENSOR_INPUT, DT_I32, 1, num(5), NULL), *y = tensor("y", TENSOR_OUTPUT, DT_I32, 1, num(5), NULL);
        Index *i = index_in("i", num(0), num(5));
        Expr *s = nest(OP_SCAN, RED_SUM, DT_I32, i, read_at(x, use(i), NULL));
        s->nest->exclusive = cases[c].exclusive;
        s->nest->reverse = cases[c].reverse;
        define(y, use(i), NULL, i, NULL, s);
        RefTensor *in = input(DT_I32, 1, 5, 0);
        memcpy(in->data, (int32_t[]){1, 2, 3, 4, 5}, 20);
        ck_assert_mem_eq(run(NULL, in, REF_OK)->data, cases[c].y, 20);
    }
}
END_TEST

// ---- faults ----

// y[i] = if x[i] != 0 then 10 / x[i] else -1, or without the condition.
static void division(bool guarded)
{
    Tensor *x = tensor("x", TENSOR_INPUT, DT_I32, 1, num(3), NULL), *t = tensor("t", TENSOR_LOCAL, DT_I32, 1, num(3), NULL);
    Tensor *y = tensor("y", TENSOR_OUTPUT, DT_I32, 1, num(3), NULL);
    Index *i = index_in("i", num(0), num(3)), *j = index_in("j", num(0), num(3));
    define(t, use(i), NULL, i, NULL, two(OP_DIV, DT_I32, integer(10), read_at(x, use(i), NULL)));
    Expr *e = read_at(t, use(j), NULL);
    if (guarded) {
        Expr *args[] = {two(OP_NE, DT_BOOL, read_at(x, use(j), NULL), integer(0)), e, integer(-1)};
        e = expr_new(arena, OP_SELECT, DT_I32, nowhere, 3, args);
    }
    define(y, use(j), NULL, j, NULL, e);
}

START_TEST(a_fault_counts_where_it_is_needed)
{
    RefTensor *in = input(DT_I32, 1, 3, 0);
    memcpy(in->data, (int32_t[]){3, 0, -4}, 12);
    division(true);
    ck_assert_mem_eq(run(NULL, in, REF_OK)->data, ((int32_t[]){3, -1, -2}), 12);
    tear_down();
    set_up();
    in = input(DT_I32, 1, 3, 0);
    memcpy(in->data, (int32_t[]){3, 0, -4}, 12);
    division(false);
    RefTensor *out = run(NULL, in, REF_FAULT_DIVIDE);
    ck_assert_int_eq(out->state[0], REF_DONE);
    ck_assert_int_eq(out->state[1], REF_POISON);
    ck_assert_str_eq(fault.tensor->name, "t");
    ck_assert_int_eq(fault.at[0], 1);
}
END_TEST

START_TEST(data_dependent_reads_are_checked)
{
    Tensor *x = tensor("ix", TENSOR_INPUT, DT_I32, 1, num(3), NULL), *y = tensor("y", TENSOR_OUTPUT, DT_I32, 1, num(3), NULL);
    Index *i = index_in("i", num(0), num(3));
    define(y, use(i), NULL, i, NULL, read_at(x, read_at(x, use(i), NULL), NULL));
    RefTensor *in = input(DT_I32, 1, 3, 0);
    memcpy(in->data, (int32_t[]){2, 0, 1}, 12);
    ck_assert_mem_eq(run(NULL, in, REF_OK)->data, ((int32_t[]){1, 2, 0}), 12);
    ((int32_t *)in->data)[1] = -1;
    run(NULL, in, REF_FAULT_BOUNDS);
    ck_assert(strstr(fault.message, "-1") != NULL);
}
END_TEST

// ---- operations ----

static Value f(double x) { return value_float(x); }
static Value n(int64_t x) { return value_int(x); }

START_TEST(integers_wrap_and_divide)
{
    ck_assert_int_eq(value_binary(OP_ADD, DT_I8, n(127), n(1), 0).i, -128);
    ck_assert_int_eq(value_binary(OP_DIV, DT_I32, n(INT32_MIN), n(-1), 0).i, INT32_MIN);
    ck_assert_int_eq(value_binary(OP_DIV, DT_I64, n(INT64_MIN), n(-1), 0).i, INT64_MIN);
    ck_assert_int_eq(value_binary(OP_REM, DT_I64, n(INT64_MIN), n(-1), 0).i, 0);
    ck_assert_int_eq(value_binary(OP_DIV, DT_I32, n(-7), n(2), 0).i, -3);
    ck_assert_int_eq(value_binary(OP_REM, DT_I32, n(-7), n(2), 0).i, -1);
    ck_assert_int_eq(value_binary(OP_FLOORDIV, DT_I32, n(-7), n(2), 0).i, -4);
    ck_assert_int_eq(value_binary(OP_MOD, DT_I32, n(-7), n(2), 0).i, 1);
    ck_assert_int_eq(value_binary(OP_MOD, DT_I32, n(7), n(-2), 0).i, -1);
    ck_assert_int_eq(value_binary(OP_DIV, DT_U64, n(-1), n(2), 0).i, INT64_MAX);
    ck_assert(value_is_poison(value_binary(OP_MOD, DT_U8, n(7), n(0), 0)));
    ck_assert_int_eq(value_unary(OP_ABS, DT_I32, n(INT32_MIN), 0).i, INT32_MIN);
    ck_assert_int_eq(value_unary(OP_NEG, DT_U8, n(1), 0).i, 255);
    ck_assert_int_eq(value_unary(OP_BITNOT, DT_U16, n(0), 0).i, 65535);
    ck_assert_int_eq(value_binary(OP_SHL, DT_I32, n(1), n(31), 0).i, INT32_MIN);
    ck_assert_int_eq(value_binary(OP_SHL, DT_I32, n(1), n(32), 0).i, 0);
    ck_assert_int_eq(value_binary(OP_SHR, DT_I32, n(-8), n(1), 0).i, -4);
    ck_assert_int_eq(value_binary(OP_SHR, DT_I32, n(-8), n(-1), 0).i, -1);
    ck_assert_int_eq(value_binary(OP_SHR, DT_U32, n(8), n(99), 0).i, 0);
}
END_TEST

START_TEST(conversions)
{
    ck_assert_int_eq(value_convert(DT_I8, DT_F32, f(-1e9)).i, -128);
    ck_assert_int_eq(value_convert(DT_U8, DT_F32, f(-1.5)).i, 0);
    ck_assert_int_eq(value_convert(DT_U8, DT_F32, f(255.9)).i, 255);
    ck_assert_int_eq(value_convert(DT_I64, DT_F64, f(1e30)).i, INT64_MAX);
    ck_assert_int_eq(value_convert(DT_U64, DT_F64, f(INFINITY)).i, -1);
    ck_assert_int_eq(value_convert(DT_I32, DT_F64, f(NAN)).i, 0);
    ck_assert_int_eq(value_convert(DT_I32, DT_F64, f(-2.9)).i, -2);
    ck_assert_double_eq(value_convert(DT_F32, DT_I64, n((INT64_C(1) << 54) + (INT64_C(1) << 30) + 1)).f, 0x1p54 + 0x1p31);
    ck_assert_double_eq(value_convert(DT_F32, DT_U64, n(-1)).f, 0x1p64);
    ck_assert_double_eq(value_convert(DT_F16, DT_F64, f(65519.9)).f, 65504);
    ck_assert(isinf(value_convert(DT_F16, DT_F64, f(65520)).f));
    ck_assert_double_eq(value_convert(DT_F16, DT_F64, f(1 + 0x1p-11 + 0x1p-40)).f, 1 + 0x1p-10);      // not through f32
}
END_TEST

START_TEST(floats_round_and_propagate)
{
    ck_assert_double_eq(value_binary(OP_ADD, DT_F32, f(1), f(0x1p-24), 0).f, 1);
    ck_assert_double_eq(value_binary(OP_ADD, DT_BF16, f(1), f(0x1p-8), 0).f, 1);
    ck_assert_double_eq(value_unary(OP_ROUND, DT_F32, f(2.5), 0).f, 2);
    ck_assert_double_eq(value_binary(OP_MOD, DT_F64, f(-7.5), f(2), 0).f, 0.5);
    ck_assert_double_eq(value_binary(OP_FLOORDIV, DT_F64, f(-7.5), f(2), 0).f, -4);
    ck_assert(isnan(value_binary(OP_MAX, DT_F32, f(NAN), f(1), 0).f));
    ck_assert(isnan(value_binary(OP_MIN, DT_F32, f(1), f(NAN), 0).f));
    ck_assert_int_eq(value_binary(OP_NE, DT_F32, f(NAN), f(NAN), 0).i, 1);
    ck_assert_int_eq(value_binary(OP_LE, DT_F32, f(NAN), f(NAN), 0).i, 0);
    ck_assert_double_eq(value_fma(DT_F16, f(0x1.004p0), f(0x1.004p0), f(-0x1.008p0)).f, 0x1p-20);
}
END_TEST

START_TEST(reductions_of_nothing_nan_and_ties)
{
    Accumulator a = accumulator_new(RED_MAX, DT_F32);
    ck_assert(accumulator_value(&a).f == -INFINITY);
    a = accumulator_new(RED_MIN, DT_U8);
    ck_assert_int_eq(accumulator_value(&a).i, 255);
    a = accumulator_new(RED_ARGMAX, DT_F32);
    ck_assert(value_is_poison(accumulator_value(&a)));
    static const double x[] = {1, 3, 3, NAN, 4, NAN};
    for (int k = 0; k < 3; k++)
        accumulator_add(&a, f(x[k]), k);
    ck_assert_int_eq(accumulator_value(&a).i, 1);
    for (int k = 3; k < 6; k++)
        accumulator_add(&a, f(x[k]), k);
    ck_assert_int_eq(accumulator_value(&a).i, 3);
    a = accumulator_new(RED_MEAN, DT_F32);
    ck_assert(isnan(accumulator_value(&a).f));
}
END_TEST

START_TEST(errors_are_bounded)
{
    Accumulator a = accumulator_new(RED_SUM, DT_F32);
    float forward = 0, backward = 0;
    for (int k = 0; k < 1000; k++) {
        accumulator_add(&a, f((double)(float)(1.0 / (k + 1))), k);
        forward += (float)(1.0 / (k + 1));
        backward += (float)(1.0 / (1000 - k));
    }
    Value v = accumulator_value(&a);
    ck_assert_double_gt(v.err, 0);
    ck_assert_double_le(fabs(v.f - (double)forward), v.err);
    ck_assert_double_le(fabs(v.f - (double)backward), v.err);
    ck_assert_double_lt(v.err, 1e-3);
    Value scaled = value_binary(OP_MUL, DT_F32, v, f(4), 0);
    ck_assert_double_ge(scaled.err, 4 * v.err);
    ck_assert_double_eq(value_binary(OP_MUL, DT_F32, f(3), f(4), 0).err, 0);
    ck_assert_double_gt(value_unary(OP_EXP, DT_F32, f(1), 8).err, 0);
    ck_assert_double_eq(value_unary(OP_SQRT, DT_F32, f(2), 8).err, 0);
    Value close = {.f = v.f + v.err / 2};
    ck_assert_double_gt(value_binary(OP_LT, DT_F32, v, close, 0).err, 0);
    ck_assert_double_eq(value_binary(OP_LT, DT_F32, v, f(100), 0).err, 0);
    ck_assert(isinf(value_binary(OP_DIV, DT_F32, f(1), value_binary(OP_SUB, DT_F32, v, f(v.f), 0), 0).err));
}
END_TEST

START_TEST(judging)
{
    RefTensor *t = input(DT_F32, 1, 3, 0);
    t->err = ARENA_ARRAY(arena, double, 3);
    f32(t)[0] = 1;
    f32(t)[1] = NAN;
    t->err[2] = INFINITY;
    ck_assert_int_eq(ref_judge(t, 0, &(float){1}), REF_EQUAL);
    ck_assert_int_eq(ref_judge(t, 0, &(float){1.5f}), REF_DIFFERENT);
    ck_assert_int_eq(ref_judge(t, 1, &(float){NAN}), REF_EQUAL);
    ck_assert_int_eq(ref_judge(t, 1, &(float){0}), REF_DIFFERENT);
    ck_assert_int_eq(ref_judge(t, 2, &(float){7}), REF_UNJUDGED);
    t->err[0] = 1;
    ck_assert_int_eq(ref_judge(t, 0, &(float){1.5f}), REF_EQUAL);
    ck_assert_int_eq(ref_judge(t, 0, &(float){NAN}), REF_DIFFERENT);
    ck_assert_int_eq(ref_judge(t, 0, &(float){INFINITY}), REF_DIFFERENT);
    f32(t)[0] = 3e38f;
    t->err[0] = 1e37;                                            // what the type's largest number lies beyond
    ck_assert_int_eq(ref_judge(t, 0, &(float){INFINITY}), REF_DIFFERENT);
    t->err[0] = 1e38;
    ck_assert_int_eq(ref_judge(t, 0, &(float){INFINITY}), REF_EQUAL);
    ck_assert_int_eq(ref_judge(t, 0, &(float){-INFINITY}), REF_DIFFERENT);
    ck_assert_int_eq(ref_judge(t, 0, &(float){NAN}), REF_DIFFERENT);
    t->err[0] = 1e149;
    ck_assert_int_eq(ref_judge(t, 0, &(float){NAN}), REF_UNJUDGED);
    ck_assert_int_eq(ref_judge(t, 0, &(float){3e38f}), REF_EQUAL);
    RefTensor *u = input(DT_U32, 1, 2, 0);                       // 0, and what lies one below it
    u->err = ARENA_ARRAY(arena, double, 2);
    ck_assert_int_eq(ref_judge(u, 0, &(uint32_t){UINT32_MAX}), REF_DIFFERENT);
    u->err[0] = 1;
    ck_assert_int_eq(ref_judge(u, 0, &(uint32_t){UINT32_MAX}), REF_EQUAL);
    ck_assert_int_eq(ref_judge(u, 0, &(uint32_t){2}), REF_DIFFERENT);
}
END_TEST

// ---- from source ----

typedef struct {
    const char *text;            // a kernel with at most one tensor or scalar input x
    int64_t dims[3];             // in the order of the kernel's dimensions: `int` parameters first
    double x[12], y[12];         // row-major; NaN marks nothing special
    RefStatus status;
} Source;

static const Source sources_of_truth[] = {
    {"kernel k(x: f32[N]) -> (y: f32) { y = mean(i) x[i]; }", {4}, {1, 2, 3, 6}, {3}, REF_OK},
    {"kernel k(x: f32[N]) -> (y: f32) { y = mean(i where x[i] > 1) x[i]; }", {4}, {1, 2, 3, 7}, {4}, REF_OK},
    {"kernel k(x: f32[N]) -> (y: i64) { y = argmax(i) x[i]; }", {5}, {1, 7, 3, 7, 2}, {1}, REF_OK},
    {"kernel k(x: f32[N]) -> (y: i64) { y = argmin(i in 1..N) x[i]; }", {1}, {1}, {0}, REF_FAULT_EMPTY},
    {"kernel k(x: f32[N]) -> (y: i64) where N >= 2 { y = argmin(i in 1..N) x[i]; }", {4}, {0, 4, 3, 3}, {2}, REF_OK},
    {"kernel k(x: i32[N]) -> (y: bool) { y = any(i) (x[i] == 3); }", {3}, {1, 2, 3}, {1}, REF_OK},
    {"kernel k(x: i32[N]) -> (y: bool) { y = all(i) (x[i] > 1); }", {3}, {1, 2, 3}, {0}, REF_OK},
    {"kernel k(x: i32[N]) -> (y: bool) { y = all(i) (x[i] > 1); }", {0}, {0}, {1}, REF_OK},
    {"kernel k(x: f32[N]) -> (y: f32) { y = prod(i) x[i]; }", {3}, {2, 3, -4}, {-24}, REF_OK},
    {"kernel k(x: u8[N]) -> (y: i32[4]) { y[b] = sum(i where x[i] == b) 1; }", {5}, {1, 3, 1, 0, 9}, {1, 2, 0, 1}, REF_OK},
    {"kernel k(x: u8[N]) -> (y: u32) { y = sum(i) x[i]; }", {3}, {200, 200, 200}, {600}, REF_OK},
    {"kernel k(x: i8[N]) -> (y: i8[N]) { y[i] = x[i] + x[i]; }", {2}, {100, -100}, {-56, 56}, REF_OK},
    {"kernel k(x: i32[M, N]) -> (y: i32[M]) { y[i] = sum(j in 0..=i) x[i, j]; }", {2, 3}, {1, 2, 3, 4, 5, 6}, {1, 9}, REF_OK},
    {"kernel k(x: i32[N]) -> (y: i32[N]) { y[i] = scan(max, i, exclusive) x[i]; }", {4}, {3, 1, 4, 1}, {-2147483648.0, 3, 3, 4}, REF_OK},
    {"kernel k(x: i32[M, N]) -> (y: i32[M, N]) { y[i, j] = scan(+, i) x[i, j]; }", {3, 2}, {1, 2, 3, 4, 5, 6}, {1, 2, 4, 6, 9, 12}, REF_OK},
    {"kernel k(x: i32[N]) -> (y: i32[N]) { y[i] = scan(+, i) x[i] where i in 1..N; y[0] = 9; }", {4}, {5, 1, 2, 3}, {9, 1, 3, 6}, REF_OK},
    {"kernel k(x: f32[N border zero]) -> (y: f32[N]) { y[i] = x[i-1] + 10*x[i+1]; }", {3}, {1, 2, 3}, {20, 31, 2}, REF_OK},
    {"kernel k(x: f32[H border wrap, W border const(7)]) -> (y: f32[H, W]) { y[i, j] = x[i-1, j+1]; }", {2, 2}, {1, 2, 3, 4}, {4, 7, 2, 7}, REF_OK},
    {"kernel k(x: i32[N]) -> (y: i32[N]) { y[0] = x[0]; y[i] = 2*y[i-1] + x[i] where i > 0; }", {4}, {1, 1, 1, 1}, {1, 3, 7, 15}, REF_OK},
    {"kernel k(x: i32[N]) -> (y: i32[N]) { y[N-1] = x[N-1]; y[i] = y[i+1] + x[i] where i < N-1; }", {4}, {1, 2, 3, 4}, {10, 9, 7, 4}, REF_OK},
    {"kernel k(x: i32[N]) -> (y: i32[N] = x) { y[2*k] = 0 where k in 0..N/2; }", {5}, {1, 2, 3, 4, 5}, {0, 2, 0, 4, 5}, REF_OK},
    {"kernel k(x: i32[N]) -> (y: i32[N]) { y[i] = if i > 0 then x[i-1] else -1; }", {3}, {1, 2, 3}, {-1, 1, 2}, REF_OK},
    {"kernel k(x: i32[N]) -> (y: i32[N]) { y[i] = x[x[i]]; }", {3}, {2, 0, 3}, {0}, REF_FAULT_BOUNDS},
    {"kernel k(x: i32[N]) -> (y: i32[N]) { y[i] = 7 / x[i]; }", {3}, {2, -2, 0}, {0}, REF_FAULT_DIVIDE},
    {"kernel k(x: i32[N]) -> (y: i32[N]) { y[i] = if x[i] == 0 then 0 else 7 % x[i]; }", {3}, {2, -3, 0}, {1, 1, 0}, REF_OK},
    {"kernel k(x: f32[N]) -> (y: u8[N]) { y[i] = u8(x[i]); }", {4}, {-3, 2.9, 300, NAN}, {0, 2, 255, 0}, REF_OK},
    {"kernel k(x: f16[N]) -> (y: f16[N]) { y[i] = x[i] + 1; }", {3}, {2048, 0.5, -1}, {2048, 1.5, 0}, REF_OK},
    {"kernel k(x: f16[N]) -> (y: f32) { y = sum(i) x[i]; }", {3}, {2048, 1, 1}, {2050}, REF_OK},
    // On which side of 2 the sum lies is uncertain, and the branches differ by NaN.
    {"kernel k(x: f32[N]) -> (y: f32[N]) { s = sum(i) (x[i] / 3); y[i] = if s > 2 then nan else x[i]; }", {3}, {1, 2, 3}, {1, 2, 3}, REF_OK},
    {"kernel k(x: f32[N], T: int) -> (y: f32[N]) { u: f32[T+1, N]; u[0, i] = x[i]; u[t, i] = (u[t-1, i-1] + u[t-1, i+1])/2 where t > 0, i in 1..N-1;"
     " u[t, i] = u[t-1, i] where t > 0, otherwise; y[i] = u[T, i]; }", {2, 4}, {0, 0, 0, 8}, {0, 2, 4, 8}, REF_OK},
};

static Kernel *analysed(isl_ctx *isl, const char *text)
{
    Sources sources = {.arena = arena};
    Diags *d = diags_new(arena, &sources, stderr);
    const SourceFile *f = source_add(&sources, "test.pto", text, strlen(text));
    TreeFile *tree = parse_file(arena, d, f);
    Module *m = tree && diags_errors(d) == 0 ? sema_file(arena, budget_new(arena, isl, 100000000), d, tree) : NULL;
    diags_flush(d);
    ck_assert_msg(m && m->kernels.n == 1, "%s", text);
    return m->kernels.at[0];
}

static void set_element(RefTensor *t, int64_t k, double x)
{
    void *p = (char *)t->data + k * dtype_bytes(t->type);
    if (dtype_is_float(t->type))
        element_store_float(t->type, p, x);
    else
        element_store_int(t->type, p, (int64_t)x);
}

START_TEST(source_means_what_it_says)
{
    const Source *s = &sources_of_truth[_i];
    isl_ctx *isl = isl_ctx_alloc();
    kernel = analysed(isl, s->text);
    RefTensor *x = ARENA_NEW(arena, RefTensor);
    ck_assert(ref_shape(kernel, kernel->params.at[0].tensor, s->dims, x));
    x->data = arena_alloc(arena, (size_t)x->size * 8 + 8);
    for (int64_t k = 0; k < x->size; k++)
        set_element(x, k, s->x[k]);
    RefTensor *y = run(s->dims, x, s->status);
    for (int64_t k = 0; s->status == REF_OK && k < y->size; k++) {
        double got = element_as_double(y->type, (char *)y->data + k * dtype_bytes(y->type));
        ck_assert_msg(got == s->y[k], "%s: y at %d is %g, not %g", s->text, (int)k, got, s->y[k]);
    }
    isl_ctx_free(isl);
}
END_TEST

Suite *suite_reference(void)
{
    Suite *s = suite_create("reference");
    TCase *c = tcase_create("kernels");
    tcase_add_checked_fixture(c, set_up, tear_down);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, relu_cumsum);
    tcase_add_test(c, sobel_in_time);
    tcase_add_test(c, borders);
    tcase_add_test(c, a_constant_border_wins_in_corners);
    tcase_add_test(c, recursion_is_deep);
    tcase_add_test(c, recursion_has_a_bound);
    tcase_add_test(c, a_cycle_is_found);
    tcase_add_test(c, gaps_overlaps_shapes);
    tcase_add_test(c, otherwise_and_initial_values);
    tcase_add_test(c, coupled_left_sides);
    tcase_add_test(c, scans_run_every_way);
    tcase_add_test(c, a_fault_counts_where_it_is_needed);
    tcase_add_test(c, data_dependent_reads_are_checked);
    tcase_add_test(c, judging);
    tcase_add_loop_test(c, source_means_what_it_says, 0, sizeof sources_of_truth / sizeof *sources_of_truth);
    suite_add_tcase(s, c);
    c = tcase_create("values");
    tcase_add_checked_fixture(c, set_up, tear_down);
    tcase_add_test(c, integers_wrap_and_divide);
    tcase_add_test(c, conversions);
    tcase_add_test(c, floats_round_and_propagate);
    tcase_add_test(c, reductions_of_nothing_nan_and_ties);
    tcase_add_test(c, errors_are_bounded);
    suite_add_tcase(s, c);
    return s;
}
