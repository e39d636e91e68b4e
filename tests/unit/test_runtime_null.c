// NULL, for every context, tensor and result of every function of ptort.h: a status, or the value of failure, never a crash.
#include "ptort.h"

#include <check.h>
#include <string.h>

static void task(void *frame, int worker, const int64_t *index)
{
    (void)frame;
    (void)worker;
    (void)index;
}

static const pto_grid grid = {.name = "g", .rank = 1, .count = {2}};
static float data[4];
static const int64_t shape[1] = {4};

START_TEST(tensors)
{
    ck_assert_int_eq(pto_tensor_elements(NULL), -1);
    ck_assert_int_eq(pto_tensor_is_dense(NULL), 0);
    pto_tensor t = pto_tensor_dense(data, PTO_F32, 2, NULL);
    ck_assert_int_eq(pto_check_tensor(NULL, "k", "x", &t, PTO_F32, 2, 0), PTO_ERR_SHAPE);
    ck_assert_int_eq(pto_from_dlpack(NULL, NULL, &t), PTO_ERR_NULL);
    ck_assert_int_eq(pto_from_dlpack(NULL, NULL, NULL), PTO_ERR_NULL);
    ck_assert_int_eq(pto_from_dlpack_versioned(NULL, NULL, NULL, NULL), PTO_ERR_NULL);
    ck_assert_ptr_null(pto_to_dlpack(NULL, NULL, NULL));
    ck_assert_ptr_null(pto_to_dlpack_versioned(NULL, 0, NULL, NULL));
}
END_TEST

START_TEST(contexts)
{
    ck_assert_ptr_nonnull(pto_context_error(NULL));
    pto_context_free(NULL);
    pto_context_trim(NULL);
    ck_assert_int_eq(pto_context_reserve(NULL, 100), PTO_ERR_NULL);
    ck_assert_str_ne(pto_context_error(NULL), "");
    ck_assert_int_eq(pto_context_set_pool(NULL, NULL, NULL, 2), PTO_ERR_NULL);
    ck_assert_int_eq(pto_context_record(NULL, NULL, NULL), PTO_ERR_NULL);
    ck_assert_int_eq(pto_first_touch(NULL, NULL, 8), PTO_ERR_NULL);
    ck_assert_int_gt(pto_workers(NULL), 0);
}
END_TEST

START_TEST(calls)
{
    pto_context *ctx = NULL;
    ck_assert_int_eq(pto_enter(NULL, "k"), PTO_ERR_NULL);
    ck_assert_int_eq(pto_enter(NULL, NULL), PTO_ERR_NULL);
    ck_assert_int_eq(pto_enter(&ctx, NULL), PTO_OK);
    ck_assert_int_eq(pto_run(ctx, NULL, task, NULL), PTO_ERR_NULL);
    ck_assert_int_eq(pto_run(ctx, &grid, NULL, NULL), PTO_ERR_NULL);
    ck_assert_int_eq(pto_leave(ctx, PTO_OK), PTO_OK);
    ck_assert_int_eq(pto_leave(NULL, PTO_ERR_BUSY), PTO_ERR_BUSY);
    ck_assert_ptr_null(pto_workspace(NULL, 64));
    ck_assert_int_eq(pto_run(NULL, &grid, task, NULL), PTO_ERR_ARGUMENT);
    ck_assert_int_eq(pto_run(NULL, NULL, NULL, NULL), PTO_ERR_ARGUMENT);
    pto_fault(NULL, PTO_ERR_BOUNDS, 0, NULL, 1, 1);
    pto_fault_at(NULL, PTO_ERR_BOUNDS, 0, "k.pto:1:1", "x", 1, 1, 0);
    pto_fault_needed(NULL, 0, "k.pto", "y", 0, 0);
    ck_assert_int_eq(pto_error(NULL, PTO_ERR_SHAPE, "of %s", "nobody"), PTO_ERR_SHAPE);
    ck_assert_str_eq(pto_context_error(NULL), "of nobody");
}
END_TEST

START_TEST(checks)
{
    pto_tensor t = pto_tensor_dense(data, PTO_F32, 1, shape);
    const pto_named_tensor none[2] = {{"x", NULL}, {"y", &t}};
    ck_assert_int_eq(pto_check_tensor(NULL, NULL, "x", NULL, PTO_F32, 1, 0), PTO_ERR_NULL);
    ck_assert_int_eq(pto_check_extent(NULL, NULL, "x", 0, 1, NULL, 2), PTO_ERR_SHAPE);
    ck_assert_int_eq(pto_check_overlap(NULL, NULL, "x", NULL, "y", NULL, 0), PTO_ERR_NULL);
    ck_assert_int_eq(pto_check_overlap(NULL, NULL, "x", &t, "y", NULL, 1), PTO_ERR_NULL);
    ck_assert_int_eq(pto_check_overlaps(NULL, NULL, 1, 1, NULL, 0, NULL), PTO_ERR_NULL);
    ck_assert_int_eq(pto_check_overlaps(NULL, NULL, 1, 1, none, 1, NULL), PTO_ERR_NULL);
    ck_assert_int_eq(pto_check_overlaps(NULL, NULL, 1, 1, none, 0, NULL), PTO_ERR_NULL);
    ck_assert_int_eq(pto_check_where(NULL, NULL, 0, "N > 1", 2, NULL, NULL), PTO_ERR_WHERE);
    ck_assert_int_eq(pto_check_exact(NULL, NULL, "N*N", 2, NULL, NULL), PTO_ERR_OVERFLOW);
}
END_TEST

START_TEST(copies)
{
    pto_tensor t = pto_tensor_dense(data, PTO_F32, 1, shape), unit;
    pto_pack(NULL, NULL, data);
    pto_pack(NULL, &t, NULL);
    pto_unpack(NULL, NULL, &t);
    pto_unpack(NULL, data, NULL);
    ck_assert_int_eq(pto_unit_stride(NULL, NULL, 1, &unit), PTO_ERR_NULL);
    ck_assert_int_eq(pto_unit_stride(NULL, &t, 1, NULL), PTO_ERR_NULL);
    ck_assert_int_eq(pto_dense(NULL, NULL, 1, &unit), PTO_ERR_NULL);
    ck_assert_int_eq(pto_dense(NULL, &t, 1, NULL), PTO_ERR_NULL);
    t.stride[0] = 2;
    ck_assert_int_eq(pto_unit_stride(NULL, &t, 0, &unit), PTO_ERR_MEMORY);       // there is no workspace
    pto_unit_stride_done(NULL, NULL, &unit);
    pto_unit_stride_done(NULL, &t, NULL);
}
END_TEST

START_TEST(topology)
{
    char text[8] = "x";
    ck_assert_int_eq(pto_topology_query(NULL, NULL), PTO_ERR_NULL);
    ck_assert_uint_gt(pto_topology_describe(NULL, NULL, 10), 0);
    ck_assert_uint_gt(pto_topology_describe(NULL, text, 0), 0);
    ck_assert_int_eq(pto_topology_place(NULL, PTO_BIND_CORE, 0, 1, NULL, 4), pto_topology_place(NULL, PTO_BIND_CORE, 0, 1, NULL, 0));
}
END_TEST

// All pairs from one table: as each pair alone.
START_TEST(pairs)
{
    enum { N = 128 };
    static float rows[N + 1][4];
    static const int same[][2] = {{0, 1}};
    pto_tensor t[N];
    pto_named_tensor all[N];
    for (int i = 0; i < N; i++) {
        t[i] = pto_tensor_dense(rows[i], PTO_F32, 1, shape);
        all[i] = (pto_named_tensor){"x", &t[i]};
    }
    ck_assert_int_eq(pto_check_overlaps(NULL, "k", 1, N - 1, all, 0, NULL), PTO_OK);
    all[1].tensor = all[0].tensor;
    ck_assert_int_eq(pto_check_overlaps(NULL, "k", 1, N - 1, all, 0, NULL), PTO_ERR_OVERLAP);
    ck_assert_int_eq(pto_check_overlaps(NULL, "k", 1, N - 1, all, 1, same), PTO_OK);
    t[N - 1].data = &rows[64][2];
    ck_assert_int_eq(pto_check_overlaps(NULL, "k", 1, N - 1, all, 1, same), PTO_ERR_OVERLAP);
    ck_assert_int_eq(pto_check_overlaps(NULL, "k", N, 0, all, 1, same), PTO_OK);                  // inputs may
}
END_TEST

Suite *suite_runtime_null(void);
Suite *suite_runtime_null(void)
{
    Suite *s = suite_create("runtime_null");
    TCase *c = tcase_create("runtime_null");
    tcase_add_test(c, tensors);
    tcase_add_test(c, contexts);
    tcase_add_test(c, calls);
    tcase_add_test(c, checks);
    tcase_add_test(c, copies);
    tcase_add_test(c, topology);
    tcase_add_test(c, pairs);
    suite_add_tcase(s, c);
    return s;
}
