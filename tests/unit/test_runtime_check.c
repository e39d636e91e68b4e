// libptort: the entry checks of a kernel.
#include "ptort.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define ASSERT_TEXT(part) ck_assert_msg(strstr(pto_context_error(NULL), part) != NULL, "\"%s\" lacks \"%s\"", pto_context_error(NULL), part)

static float data[4096];

static pto_tensor matrix(float *at, int64_t m, int64_t n, int64_t sm, int64_t sn)
{
    return (pto_tensor){.data = at, .dtype = PTO_F32, .rank = 2, .shape = {m, n}, .stride = {sm, sn}};
}

static pto_status check(const pto_tensor *t, unsigned flags) { return pto_check_tensor(NULL, "sobel", "a", t, PTO_F32, 2, flags); }

START_TEST(tensors)
{
    pto_tensor good = matrix(data, 5, 7, 7, 1), t;
    ck_assert_int_eq(check(&good, 0), PTO_OK);
    ck_assert_int_eq(check(&good, PTO_CHECK_OUTPUT), PTO_OK);
    ck_assert_int_eq(check(NULL, 0), PTO_ERR_NULL);
    ck_assert_str_eq(pto_context_error(NULL), "sobel: `a` is NULL");
    t = good; t.dtype = PTO_F64;
    ck_assert_int_eq(check(&t, 0), PTO_ERR_DTYPE);
    ASSERT_TEXT("`a` has elements of type f64: expected f32");
    t = good; t.rank = 3;
    ck_assert_int_eq(check(&t, 0), PTO_ERR_RANK);
    ASSERT_TEXT("rank 3: expected 2");
    t = good; t.shape[1] = -1;
    ck_assert_int_eq(check(&t, 0), PTO_ERR_SHAPE);
    ASSERT_TEXT("extent -1 in dimension 1");
    t = good; t.shape[0] = INT64_MAX / 8;
    ck_assert_int_eq(check(&t, 0), PTO_ERR_SHAPE);
    t = good; t.shape[0] = t.shape[1] = INT64_C(1) << 32;
    ck_assert_int_eq(check(&t, 0), PTO_ERR_SHAPE);
    t = good; t.data = NULL;
    ck_assert_int_eq(check(&t, 0), PTO_ERR_NULL);
    t.shape[0] = 0;
    ck_assert_int_eq(check(&t, 0), PTO_OK);                     // an empty tensor needs no data
    t = good; t.data = (char *)data + 2;
    ck_assert_int_eq(check(&t, 0), PTO_ERR_ALIGN);
    t = good; t.stride[0] = INT64_MAX / 4;
    ck_assert_int_eq(check(&t, 0), PTO_ERR_STRIDE);
    t.stride[0] = INT64_MIN;
    ck_assert_int_eq(check(&t, 0), PTO_ERR_STRIDE);
    t.stride[0] = -(INT64_C(1) << 59);
    ck_assert_int_eq(check(&t, 0), PTO_ERR_STRIDE);
    t = good; t.shape[0] = 1; t.stride[0] = INT64_MIN;
    ck_assert_int_eq(check(&t, PTO_CHECK_OUTPUT), PTO_OK);      // the stride of an extent of 1 is not used
    pto_tensor wide = {.data = data, .dtype = PTO_F32, .rank = 9};
    ck_assert_int_eq(pto_check_tensor(NULL, "k", "a", &wide, PTO_F32, 9, 0), PTO_ERR_RANK);
}
END_TEST

START_TEST(outputs)
{
    static const struct { int64_t m, n, sm, sn; pto_status status; } cases[] = {
        {5, 7, 7, 1, PTO_OK}, {5, 7, 1, 5, PTO_OK}, {5, 7, -7, 1, PTO_OK}, {5, 7, -7, -1, PTO_OK}, {5, 7, 100, 3, PTO_OK},
        {5, 7, 0, 1, PTO_ERR_STRIDE}, {5, 7, 7, 0, PTO_ERR_STRIDE}, {1, 7, 0, 1, PTO_OK}, {0, 7, 0, 0, PTO_OK},
        {5, 7, 6, 1, PTO_ERR_OVERLAP}, {5, 7, 1, 1, PTO_ERR_OVERLAP}, {5, 7, 1, 4, PTO_ERR_OVERLAP}, {5, 7, -6, 1, PTO_ERR_OVERLAP},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pto_tensor t = matrix(data + 2048, cases[i].m, cases[i].n, cases[i].sm, cases[i].sn);
        ck_assert_int_eq(check(&t, PTO_CHECK_OUTPUT), cases[i].status);
        ck_assert_int_eq(check(&t, 0), PTO_OK);                 // any of them may be read
    }
}
END_TEST

START_TEST(extents_and_assumptions)
{
    ck_assert_int_eq(pto_check_extent(NULL, "k", "b", 1, 8, "N + 1", 8), PTO_OK);
    ck_assert_int_eq(pto_check_extent(NULL, "k", "b", 1, 7, "N + 1", 8), PTO_ERR_SHAPE);
    ck_assert_str_eq(pto_context_error(NULL), "k: `b` has extent 7 in dimension 1: expected N + 1 = 8");
    ck_assert_int_eq(pto_check_extent_of(NULL, "k", "b", 1, 8, "N + 1", 8, "N is dimension 0 of `a`"), PTO_OK);
    ck_assert_int_eq(pto_check_extent_of(NULL, "k", "b", 1, 7, "N + 1", 8, "N is dimension 0 of `a`"), PTO_ERR_SHAPE);
    ck_assert_str_eq(pto_context_error(NULL), "k: `b` has extent 7 in dimension 1: expected N + 1 = 8, where N is dimension 0 of `a`");
    ck_assert_int_eq(pto_check_extent(NULL, "k", "b", 0, 7, "3", 3), PTO_ERR_SHAPE);
    ck_assert_str_eq(pto_context_error(NULL), "k: `b` has extent 7 in dimension 0: expected 3");
    static const char *const names[] = {"M", "N"};
    static const int64_t values[] = {2, 5};
    ck_assert_int_eq(pto_check_where(NULL, "k", 1, "M >= 3", 2, names, values), PTO_OK);
    ck_assert_int_eq(pto_check_where(NULL, "k", 0, "M >= 3", 2, names, values), PTO_ERR_WHERE);
    ck_assert_str_eq(pto_context_error(NULL), "k: needs M >= 3, but M = 2, N = 5");
    ck_assert_int_eq(pto_check_where(NULL, "k", 0, "x", 0, NULL, NULL), PTO_ERR_WHERE);
    ck_assert_int_eq(pto_check_exact(NULL, "k", "i + 2*M", 2, names, values), PTO_ERR_OVERFLOW);
    ck_assert_str_eq(pto_context_error(NULL), "k: i + 2*M does not fit 64 bits, for M = 2, N = 5");
    int64_t shape[] = {(INT64_C(1) << 62) + 1, 0};
    pto_tensor large = pto_tensor_dense(NULL, PTO_F32, 2, shape);
    ck_assert_int_eq(pto_check_tensor(NULL, "k", "x", &large, PTO_F32, 2, 0), PTO_ERR_SHAPE);
    ck_assert_str_eq(pto_context_error(NULL), "k: `x` has extent 4611686018427387905 in dimension 0: at most 2^62");
    large.shape[0]--;
    ck_assert_int_eq(pto_check_tensor(NULL, "k", "x", &large, PTO_F32, 2, 0), PTO_OK);
    pto_context *ctx = NULL;
    ck_assert_int_eq(pto_enter(&ctx, "entered"), PTO_OK);
    ck_assert_int_eq(pto_leave(ctx, pto_check_where(ctx, NULL, 0, "y", 0, NULL, NULL)), PTO_ERR_WHERE);
    ck_assert_str_eq(pto_context_error(NULL), "entered: needs y");
}
END_TEST

// ---- overlap --------------------------------------------------------------------------------------------------------

static int overlap(const pto_tensor *a, const pto_tensor *b, int elementwise)
{
    pto_status s = pto_check_overlap(NULL, "k", "a", a, "c", b, elementwise);
    ck_assert(s == PTO_OK || s == PTO_ERR_OVERLAP);
    if (s != PTO_OK)
        ck_assert_str_eq(pto_context_error(NULL), "k: `a` and output `c` overlap in memory");
    return s != PTO_OK;
}

START_TEST(overlaps)
{
    pto_tensor a = matrix(data, 8, 8, 8, 1), b = a;
    ck_assert_int_eq(overlap(&a, &b, 1), 0);                    // in place, element by element
    ck_assert_int_eq(overlap(&a, &b, 0), 1);                    // a stencil in place
    b = matrix(data + 64, 8, 8, 8, 1);
    ck_assert_int_eq(overlap(&a, &b, 0), 0);                    // neighbours
    b = matrix(data + 63, 8, 8, 8, 1);
    ck_assert_int_eq(overlap(&a, &b, 1), 1);
    ck_assert_int_eq(overlap(&b, &a, 1), 1);
    b = matrix(data, 8, 8, 1, 8);
    ck_assert_int_eq(overlap(&a, &b, 1), 1);                    // transposed in place
    b = matrix(data + 63, 8, 8, -8, -1);
    ck_assert_int_eq(overlap(&a, &b, 1), 1);                    // reversed in place
    b = matrix(data, 0, 8, 8, 1);
    ck_assert_int_eq(overlap(&a, &b, 0), 0);                    // empty
    b = a; b.dtype = PTO_F16;
    ck_assert_int_eq(overlap(&a, &b, 1), 1);                    // another element size is not element by element
    pto_tensor left = matrix(data, 8, 4, 8, 1), right = matrix(data + 4, 8, 4, 8, 1), middle = matrix(data + 3, 8, 4, 8, 1);
    ck_assert_int_eq(overlap(&left, &right, 0), 0);
    ck_assert_int_eq(overlap(&left, &middle, 0), 1);
    pto_tensor even = matrix(data, 8, 4, 8, 2), odd = matrix(data + 1, 8, 4, 8, 2), column = matrix(data + 5, 8, 1, 8, 1);
    ck_assert_int_eq(overlap(&even, &odd, 0), 0);
    ck_assert_int_eq(overlap(&left, &column, 0), 0);
    ck_assert_int_eq(overlap(&odd, &column, 0), 1);
    pto_tensor broadcast = matrix(data + 4, 8, 8, 0, 0);
    ck_assert_int_eq(overlap(&broadcast, &left, 0), 0);
    ck_assert_int_eq(overlap(&broadcast, &right, 0), 1);
}
END_TEST

static int marked_overlap(const pto_tensor *a, const pto_tensor *b)
{
    static unsigned char mark[512];
    memset(mark, 0, sizeof mark);
    for (int64_t i = 0; i < a->shape[0]; i++)
        for (int64_t j = 0; j < a->shape[1]; j++)
            mark[(float *)a->data + i * a->stride[0] + j * a->stride[1] - data] = 1;
    for (int64_t i = 0; i < b->shape[0]; i++)
        for (int64_t j = 0; j < b->shape[1]; j++)
            if (mark[(float *)b->data + i * b->stride[0] + j * b->stride[1] - data])
                return 1;
    return 0;
}

// The answer is exact: it equals marking every element.
START_TEST(overlap_is_exact)
{
    uint32_t seed = 1;
    int yes = 0, no = 0;
    for (int i = 0; i < 20000; i++) {
        int64_t r[10];
        for (int k = 0; k < 10; k++) {
            seed = seed * 1664525u + 1013904223u;
            r[k] = seed >> 16;
        }
        pto_tensor a = matrix(data + 200 + r[0] % 40, 1 + r[1] % 6, 1 + r[2] % 6, r[3] % 31 - 15, r[4] % 13 - 6);
        pto_tensor b = matrix(data + 200 + r[5] % 40, 1 + r[6] % 6, 1 + r[7] % 6, r[8] % 31 - 15, r[9] % 13 - 6);
        int want = marked_overlap(&a, &b);
        ck_assert_int_eq(overlap(&a, &b, 0), want);
        yes += want;
        no += !want;
    }
    ck_assert_int_gt(yes, 1000);
    ck_assert_int_gt(no, 1000);
}
END_TEST

Suite *suite_runtime_check(void);
Suite *suite_runtime_check(void)
{
    Suite *s = suite_create("runtime_check");
    TCase *c = tcase_create("runtime_check");
    tcase_add_test(c, tensors);
    tcase_add_test(c, outputs);
    tcase_add_test(c, extents_and_assumptions);
    tcase_add_test(c, overlaps);
    tcase_add_test(c, overlap_is_exact);
    suite_add_tcase(s, c);
    return s;
}
