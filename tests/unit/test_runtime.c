// libptort: elements, tensors, contexts, workspace, errors, faults, DLPack, packing.
#include "ptort.h"
#include "ptort/cpu.h"
#include "ptort/dlpack.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASSERT_TEXT(ctx, part) ck_assert_msg(strstr(pto_context_error(ctx), part) != NULL, "\"%s\" lacks \"%s\"", pto_context_error(ctx), part)

// ---- elements and tensors -------------------------------------------------------------------------------------------

START_TEST(dtypes)
{
    ck_assert_uint_eq(pto_dtype_size(PTO_F64), 8);
    ck_assert_uint_eq(pto_dtype_size(PTO_BF16), 2);
    ck_assert_uint_eq(pto_dtype_size(PTO_BOOL), 1);
    ck_assert_uint_eq(pto_dtype_size((pto_dtype)99), 0);
    ck_assert_str_eq(pto_dtype_name(PTO_U16), "u16");
    ck_assert_str_eq(pto_dtype_name((pto_dtype)99), "?");
    ck_assert_str_eq(pto_status_name(PTO_ERR_ALIGN), "PTO_ERR_ALIGN");
    ck_assert_str_eq(pto_status_text((pto_status)99), "?");
    for (int s = PTO_OK; s <= PTO_ERR_FAULT; s++)
        ck_assert_int_gt(strlen(pto_status_text((pto_status)s)), 5);
}
END_TEST

START_TEST(dense_tensors)
{
    float data[24];
    pto_tensor t = pto_tensor_dense(data, PTO_F32, 3, (int64_t[]){2, 3, 4});
    ck_assert_ptr_eq(t.data, data);
    ck_assert_int_eq(t.stride[0], 12);
    ck_assert_int_eq(t.stride[1], 4);
    ck_assert_int_eq(t.stride[2], 1);
    ck_assert_int_eq(pto_tensor_elements(&t), 24);
    ck_assert(pto_tensor_is_dense(&t));
    t.stride[1] = 5;
    ck_assert(!pto_tensor_is_dense(&t));
    t.shape[1] = 1;
    t.stride[0] = 4;
    ck_assert(pto_tensor_is_dense(&t));

    pto_tensor scalar = pto_tensor_dense(data, PTO_F32, 0, NULL);
    ck_assert_int_eq(pto_tensor_elements(&scalar), 1);
    pto_tensor empty = pto_tensor_dense(NULL, PTO_F32, 3, (int64_t[]){INT64_MAX, INT64_MAX, 0});
    ck_assert_int_eq(pto_tensor_elements(&empty), 0);
    pto_tensor huge = pto_tensor_dense(NULL, PTO_F32, 2, (int64_t[]){INT64_MAX, 2});
    ck_assert_int_eq(pto_tensor_elements(&huge), -1);
    pto_tensor ranked = pto_tensor_dense(NULL, PTO_F32, 9, NULL);
    ck_assert_int_eq(ranked.rank, 9);
    ck_assert_int_eq(pto_tensor_elements(&ranked), -1);
}
END_TEST

// ---- contexts -------------------------------------------------------------------------------------------------------

START_TEST(options_are_validated)
{
    static const struct { pto_options options; const char *text; } cases[] = {
        {{.threads = -1}, "threads is -1: expected a whole number in 1..4096"},
        {{.threads = PTO_MAX_WORKERS + 1}, "threads is 4097"},
        {{.mode = (pto_mode)7}, "mode"},
        {{.bind = (pto_bind)7}, "bind"},
        {{.pool = (pto_pool)7}, "pool"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pto_context *ctx = pto_context_new(&cases[i].options), *c = ctx;
        ASSERT_TEXT(ctx, cases[i].text);
        ck_assert_int_eq(pto_enter(&c, "k"), PTO_ERR_ARGUMENT);
        ck_assert_int_eq(pto_enter(&c, "k"), PTO_ERR_ARGUMENT);
        ASSERT_TEXT(ctx, cases[i].text);
        ck_assert_int_eq(pto_workers(ctx), 1);
        pto_context_free(ctx);
    }
}
END_TEST

START_TEST(environment_is_validated)
{
    static const char *const bad[] = {"0", "-3", "x", "4x", " 4", "4.0", "4097", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("PTO_NUM_THREADS", bad[i], 1);
        pto_context *none = NULL;
        ck_assert_int_eq(pto_enter(&none, "k"), PTO_ERR_ARGUMENT);
        ASSERT_TEXT(NULL, "PTO_NUM_THREADS");
        ASSERT_TEXT(NULL, bad[i]);
        ck_assert_ptr_null(none);
    }
    setenv("PTO_NUM_THREADS", "3", 1);
    pto_context *ctx = pto_context_new(NULL);
    ck_assert_str_eq(pto_context_error(ctx), "");
    ck_assert_int_le(pto_workers(ctx), 3);
    pto_context_free(ctx);
    setenv("PTO_NUM_THREADS", "bad", 1);
    ctx = pto_context_new(&(pto_options){.threads = 2});        // an option wins, the environment is not looked at
    ck_assert_str_eq(pto_context_error(ctx), "");
    pto_context_free(ctx);
    setenv("PTO_NUM_THREADS", "", 1);                           // empty is unset
    ctx = pto_context_new(NULL);
    ck_assert_str_eq(pto_context_error(ctx), "");
    pto_context_free(ctx);
}
END_TEST

START_TEST(busy)
{
    pto_context *ctx = pto_context_new(NULL), *c = ctx;
    ck_assert_int_eq(pto_enter(&c, "first"), PTO_OK);
    ck_assert_int_eq(pto_enter(&c, "second"), PTO_ERR_BUSY);
    ASSERT_TEXT(NULL, "in use");
    ck_assert_int_eq(pto_context_reserve(ctx, 10), PTO_ERR_BUSY);
    ck_assert_int_eq(pto_context_set_pool(ctx, NULL, NULL, 0), PTO_ERR_BUSY);
    ck_assert_int_eq(pto_leave(c, PTO_OK), PTO_OK);
    ck_assert_int_eq(pto_enter(&c, "third"), PTO_OK);
    ck_assert_int_eq(pto_leave(c, PTO_OK), PTO_OK);
    pto_context_free(ctx);
    pto_context_free(NULL);
}
END_TEST

START_TEST(temporary_context)
{
    pto_context *ctx = NULL;
    ck_assert_int_eq(pto_enter(&ctx, "kernel"), PTO_OK);
    ck_assert_ptr_nonnull(ctx);
    ck_assert_int_eq(pto_leave(ctx, pto_error(ctx, PTO_ERR_SHAPE, "no %d", 7)), PTO_ERR_SHAPE);
    ck_assert_str_eq(pto_context_error(NULL), "kernel: no 7");
    ctx = NULL;
    ck_assert_int_eq(pto_enter(&ctx, "kernel"), PTO_OK);
    ck_assert_int_eq(pto_leave(ctx, PTO_OK), PTO_OK);
    ck_assert_str_eq(pto_context_error(NULL), "");
    ck_assert_int_ge(pto_workers(NULL), 1);
}
END_TEST

START_TEST(workspace)
{
    pto_context *ctx = pto_context_new(NULL);
    char *first[3] = {NULL}, *now[3];
    for (int call = 0; call < 4; call++) {
        ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
        static const size_t bytes[3] = {100, 5 << 20, 0};
        for (int i = 0; i < 3; i++) {
            now[i] = pto_workspace(ctx, bytes[i]);
            ck_assert_ptr_nonnull(now[i]);
            ck_assert_uint_eq((uintptr_t)now[i] % 64, 0);
            memset(now[i], i, bytes[i]);
        }
        ck_assert(now[0] + 100 <= now[1] || now[1] + (5 << 20) <= now[0]);
        ck_assert(now[0][99] == 0 && now[1][0] == 1);
        if (call == 1)
            memcpy(first, now, sizeof now);
        for (int i = 0; call > 1 && i < 3; i++)
            ck_assert_ptr_eq(now[i], first[i]);                 // the steady state
        ck_assert_int_eq(pto_leave(ctx, PTO_OK), PTO_OK);
    }
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    ck_assert_ptr_null(pto_workspace(ctx, SIZE_MAX));
    ck_assert_ptr_null(pto_workspace(ctx, SIZE_MAX / 2));
    ck_assert_int_eq(pto_leave(ctx, PTO_ERR_MEMORY), PTO_ERR_MEMORY);
    ASSERT_TEXT(ctx, "k: no memory for a workspace");
    pto_context_trim(ctx);
    ck_assert_int_eq(pto_context_reserve(ctx, 1000), PTO_OK);
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    char *p = pto_workspace(ctx, 1000);
    ck_assert_int_eq(pto_leave(ctx, PTO_OK), PTO_OK);
    ck_assert_ptr_nonnull(p);
    pto_context_free(ctx);
}
END_TEST

// ---- errors, faults, log --------------------------------------------------------------------------------------------

typedef struct Logged {
    int lines, errors;
    char last[64];
} Logged;

static void log_line(void *user, pto_status status, const char *text)
{
    Logged *l = user;
    l->lines += status == PTO_OK;
    l->errors += status != PTO_OK;
    snprintf(l->last, sizeof l->last, "%s", text);
}

START_TEST(errors_and_log)
{
    Logged logged = {0};
    pto_context *ctx = pto_context_new(&(pto_options){.log = log_line, .log_user = &logged});
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    pto_logf(ctx, "x = %d", 3);
    ck_assert_int_eq(logged.lines, 1);
    ck_assert_str_eq(logged.last, "x = 3");
    ck_assert_int_eq(pto_error(ctx, PTO_ERR_DTYPE, "bad %s", "type"), PTO_ERR_DTYPE);
    ck_assert_int_eq(logged.errors, 1);
    ck_assert_str_eq(logged.last, "k: bad type");
    char long_text[2000];
    memset(long_text, 'a', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    pto_error(ctx, PTO_ERR_DTYPE, "%s", long_text);             // cut, not overrun
    ck_assert_int_lt(strlen(pto_context_error(ctx)), 600);
    pto_logf(ctx, "%s", long_text);
    ck_assert_int_eq(logged.lines, 2);
    ck_assert_int_eq(pto_leave(ctx, PTO_ERR_DTYPE), PTO_ERR_DTYPE);
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    ck_assert_str_eq(pto_context_error(ctx), "");
    pto_leave(ctx, PTO_OK);
    pto_context_free(ctx);
}
END_TEST

static void fault_task(void *frame, int worker, const int64_t index[4])
{
    pto_context *ctx = frame;
    for (int i = 0; i < 50; i++)
        pto_fault(ctx, PTO_ERR_BOUNDS, 9, "late site", index[0], i);
    if (index[0] >= 13)
        for (int i = 0; i < 3; i++)
            pto_fault(ctx, PTO_ERR_BOUNDS, 4, "read of `t[x[i]]`", index[0] * 10 + i, 5);
}

// Whatever the mode, the number of workers and the timing: the lowest site, then the lowest task, then the first.
START_TEST(faults_are_deterministic)
{
    for (int mode = PTO_MODE_SERIAL; mode <= PTO_MODE_DYNAMIC; mode++) {
        for (int threads = 1; threads <= 8; threads++) {
            pto_context *ctx = pto_context_new(&(pto_options){.threads = threads, .mode = (pto_mode)mode});
            pto_grid grid = {.name = "g", .rank = 1, .count = {100}};
            ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
            for (int region = 0; region < 3; region++)
                ck_assert_int_eq(pto_run(ctx, &grid, fault_task, ctx), PTO_OK);
            ck_assert_int_eq(pto_leave(ctx, PTO_OK), PTO_ERR_BOUNDS);
            ck_assert_str_eq(pto_context_error(ctx), "k: read of `t[x[i]]`: index 130 is outside an extent of 5");
            ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);     // the next call starts clean
            ck_assert_int_eq(pto_leave(ctx, PTO_OK), PTO_OK);
            pto_context_free(ctx);
        }
    }
}
END_TEST

typedef struct Late {
    pto_context *ctx;
    int64_t task;
} Late;

static void late_task(void *frame, int worker, const int64_t index[4])
{
    const Late *l = frame;
    if (index[0] >= l->task)
        pto_fault(l->ctx, PTO_ERR_BOUNDS, 1, "read", index[0], 5);
}

START_TEST(fault_order)
{
    pto_context *ctx = pto_context_new(NULL);
    pto_grid grid = {.name = "g", .rank = 1, .count = {100}};
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    for (int64_t task = 60; task >= 0; task -= 20)              // the earliest region, although later ones have lower tasks
        ck_assert_int_eq(pto_run(ctx, &grid, late_task, &(Late){ctx, task}), PTO_OK);
    ck_assert_int_eq(pto_leave(ctx, PTO_OK), PTO_ERR_BOUNDS);
    ck_assert_str_eq(pto_context_error(ctx), "k: read: index 60 is outside an extent of 5");
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    pto_fault(ctx, PTO_ERR_DIVIDE, 1 << 20, "far", 0, 0);      // sites beyond the coarse order
    pto_fault(ctx, PTO_ERR_DIVIDE, (1 << 20) - 1, "nearer", 0, 0);
    pto_fault(ctx, PTO_ERR_DIVIDE, 1 << 20, "far", 0, 0);
    ck_assert_int_eq(pto_leave(ctx, PTO_ERR_SHAPE), PTO_ERR_DIVIDE);
    ck_assert_str_eq(pto_context_error(ctx), "k: nearer: division by zero");
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    pto_fault(ctx, PTO_ERR_ARGUMENT, -5, "other", 1, 2);
    ck_assert_int_eq(pto_leave(ctx, PTO_OK), PTO_ERR_ARGUMENT);
    ck_assert_str_eq(pto_context_error(ctx), "k: other (1, 2)");
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    pto_fault_needed(ctx, 7, "f.pto", "y", (12 * 1024 + 5) * 4 + 1, 1, INT64_C(3));
    pto_fault_at(ctx, PTO_ERR_BOUNDS, 5, "f.pto:1:2: y", "x, dimension 0", 9, 8, 2, INT64_C(3), INT64_C(-4));
    pto_fault_at(ctx, PTO_ERR_BOUNDS, 6, "z", "", 9, 8, 0);
    ck_assert_int_eq(pto_leave(ctx, PTO_OK), PTO_ERR_BOUNDS);
    ck_assert_str_eq(pto_context_error(ctx), "k: f.pto:1:2: y[3, -4]: x, dimension 0: index 9 is outside an extent of 8");
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    pto_fault_needed(ctx, 7, "f.pto", "y", (12 * 1024 + 5) * 4 + 1, 1, INT64_C(3));
    ck_assert_int_eq(pto_leave(ctx, PTO_OK), PTO_ERR_DIVIDE);
    ck_assert_str_eq(pto_context_error(ctx), "k: f.pto:12:5: y[3]: division by zero");
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    pto_fault_needed(ctx, 7, "f.pto", "y", 2, 0);
    ck_assert_int_eq(pto_leave(ctx, PTO_OK), PTO_ERR_BOUNDS);
    ck_assert_str_eq(pto_context_error(ctx), "k: f.pto: y: what it reads is out of bounds");
    pto_context_free(ctx);
}
END_TEST

// ---- DLPack ---------------------------------------------------------------------------------------------------------

static void count_release(void *owner) { ++*(int *)owner; }

START_TEST(dlpack_round_trip)
{
    int16_t data[64];
    int released = 0;
    pto_tensor t = pto_tensor_dense(data + 3, PTO_I16, 2, (int64_t[]){4, 5}), back;
    t.stride[0] = -7;
    DLManagedTensor *m = pto_to_dlpack(&t, count_release, &released);
    ck_assert_ptr_nonnull(m);
    ck_assert_int_eq(m->dl_tensor.device.device_type, kDLCPU);
    ck_assert_int_eq(m->dl_tensor.ndim, 2);
    ck_assert_int_eq(m->dl_tensor.dtype.code, kDLInt);
    ck_assert_int_eq(m->dl_tensor.dtype.bits, 16);
    ck_assert_int_eq(pto_from_dlpack(NULL, m, &back), PTO_OK);
    ck_assert_mem_eq(&back, &t, sizeof t);
    m->deleter(m);
    ck_assert_int_eq(released, 1);

    for (int d = PTO_F64; d <= PTO_BOOL; d++) {
        int read_only = -1;
        t = pto_tensor_dense(data, (pto_dtype)d, 1, (int64_t[]){3});
        DLManagedTensorVersioned *v = pto_to_dlpack_versioned(&t, d % 2, NULL, NULL);
        ck_assert_ptr_nonnull(v);
        ck_assert_uint_eq(v->version.major, 1);
        ck_assert_int_eq(pto_from_dlpack_versioned(NULL, v, &back, &read_only), PTO_OK);
        ck_assert_mem_eq(&back, &t, sizeof t);
        ck_assert_int_eq(read_only, d % 2);
        v->deleter(v);
    }
}
END_TEST

START_TEST(dlpack_from_others)
{
    float data[20];
    int64_t shape[2] = {2, 3};
    DLManagedTensor m = {.dl_tensor = {.data = data, .device = {.device_type = kDLCPU}, .ndim = 2, .dtype = {.code = kDLFloat, .bits = 32, .lanes = 1}, .shape = shape, .byte_offset = 8}};
    pto_tensor t;
    ck_assert_int_eq(pto_from_dlpack(NULL, &m, &t), PTO_OK);
    ck_assert_ptr_eq(t.data, data + 2);
    ck_assert_int_eq(t.stride[0], 3);                           // NULL strides: dense
    ck_assert_int_eq(pto_from_dlpack(NULL, NULL, &t), PTO_ERR_NULL);
    m.dl_tensor.dtype.lanes = 4;
    ck_assert_int_eq(pto_from_dlpack(NULL, &m, &t), PTO_ERR_DTYPE);
    m.dl_tensor.dtype = (DLDataType){.code = kDLComplex, .bits = 64, .lanes = 1};
    ck_assert_int_eq(pto_from_dlpack(NULL, &m, &t), PTO_ERR_DTYPE);
    ASSERT_TEXT(NULL, "type code 5");
    m.dl_tensor.dtype = (DLDataType){.code = kDLFloat, .bits = 32, .lanes = 1};
    m.dl_tensor.ndim = 9;
    ck_assert_int_eq(pto_from_dlpack(NULL, &m, &t), PTO_ERR_RANK);
    m.dl_tensor.ndim = 2;
    m.dl_tensor.device.device_type = kDLCUDA;
    ck_assert_int_eq(pto_from_dlpack(NULL, &m, &t), PTO_ERR_ARGUMENT);
    DLManagedTensorVersioned v = {.version = {.major = 2}};
    ck_assert_int_eq(pto_from_dlpack_versioned(NULL, &v, &t, NULL), PTO_ERR_ARGUMENT);
    pto_tensor invalid = pto_tensor_dense(data, PTO_F32, 1, (int64_t[]){-1});
    ck_assert_ptr_null(pto_to_dlpack(&invalid, NULL, NULL));
}
END_TEST

START_TEST(dlpack_layout)
{
    ck_assert_uint_eq(sizeof(DLTensor), 48);                    // 64-bit ABI of dlpack.h
    ck_assert_uint_eq(offsetof(DLTensor, shape), 24);
    ck_assert_uint_eq(offsetof(DLTensor, byte_offset), 40);
    ck_assert_uint_eq(offsetof(DLManagedTensor, deleter), 56);
    ck_assert_uint_eq(offsetof(DLManagedTensorVersioned, dl_tensor), 32);
}
END_TEST

// ---- packing --------------------------------------------------------------------------------------------------------

// Fills `t` so that each element holds its own number in row-major order, or checks that.
static int64_t walk(const pto_tensor *t, int check)
{
    int64_t n = pto_tensor_elements(t), size = (int64_t)pto_dtype_size(t->dtype), wrong = 0;
    for (int64_t e = 0; e < n; e++) {
        int64_t rest = e, at = 0;
        for (int d = t->rank - 1; d >= 0; rest /= t->shape[d], d--)
            at += rest % t->shape[d] * t->stride[d];
        char *p = (char *)t->data + at * size;
        if (check)
            wrong += memcmp(p, &e, (size_t)size) != 0;
        else
            memcpy(p, &e, (size_t)size);
    }
    return wrong;
}

static void pack_and_unpack(pto_context *ctx, pto_dtype dtype, int rank, const int64_t *shape, const int64_t *stride, int64_t origin)
{
    static int64_t memory[20000], dense[20002];
    pto_tensor t = {.data = (char *)memory + origin * (int64_t)pto_dtype_size(dtype), .dtype = dtype, .rank = rank};
    memcpy(t.shape, shape, (size_t)rank * sizeof *shape);
    memcpy(t.stride, stride, (size_t)rank * sizeof *stride);
    memset(memory, 0x55, sizeof memory);
    memset(dense, 0x77, sizeof dense);
    walk(&t, 0);
    pto_pack(ctx, &t, dense + 1);
    pto_tensor d = pto_tensor_dense(dense + 1, dtype, rank, shape);
    ck_assert_int_eq(walk(&d, 1), 0);
    int64_t bytes = pto_tensor_elements(&t) * (int64_t)pto_dtype_size(dtype);
    ck_assert_int_eq(*(unsigned char *)dense, 0x77);
    ck_assert_int_eq(((unsigned char *)(dense + 1))[bytes], 0x77);
    memset(memory, 0x55, sizeof memory);
    pto_unpack(ctx, dense + 1, &t);
    ck_assert_int_eq(walk(&t, 1), 0);
    int64_t touched = 0;
    for (size_t i = 0; i < sizeof memory; i++)
        touched += ((unsigned char *)memory)[i] != 0x55;
    ck_assert_int_le(touched, bytes);
}

START_TEST(pack_unpack)
{
    static const struct { int rank; int64_t shape[4], stride[4], origin; } cases[] = {
        {0, {0}, {0}, 0},
        {1, {7}, {1}, 0},
        {1, {7}, {3}, 2},
        {1, {7}, {-3}, 40},
        {2, {0, 5}, {5, 1}, 0},
        {2, {65, 70}, {1, 65}, 0},                              // transposed
        {2, {70, 33}, {-1, 71}, 70},                            // and reversed
        {2, {40, 30}, {60, 2}, 0},
        {3, {5, 40, 33}, {1400, 1, 41}, 0},
        {3, {5, 40, 33}, {1, 170, 5}, 0},
        {4, {3, 1, 33, 34}, {34 * 33, 9999, 1, 33}, 0},
        {4, {2, 3, 4, 5}, {60, 20, 5, 1}, 0},
    };
    static const pto_dtype dtypes_of[] = {PTO_F64, PTO_F32, PTO_F16, PTO_U8};
    pto_context *ctx = pto_context_new(&(pto_options){.threads = 3});
    for (int inside = 0; inside < 3; inside++) {
        if (inside == 1)
            ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            for (size_t d = 0; d < 4; d++)
                pack_and_unpack(inside == 2 ? NULL : ctx, dtypes_of[d], cases[i].rank, cases[i].shape, cases[i].stride, cases[i].origin);
        if (inside == 1)
            pto_leave(ctx, PTO_OK);
    }
    pto_context_free(ctx);
}
END_TEST

START_TEST(unit_stride)
{
    int16_t memory[200], want[200];
    pto_context *ctx = pto_context_new(NULL);
    pto_tensor t = pto_tensor_dense(memory, PTO_I16, 2, (int64_t[]){5, 7}), unit;
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    t.stride[0] = 20;
    ck_assert_int_eq(pto_unit_stride(ctx, &t, 1, &unit), PTO_OK);
    ck_assert_ptr_eq(unit.data, memory);                        // rows may be apart
    t.stride[0] = 1;
    t.stride[1] = 5;
    memset(memory, 0x55, sizeof memory);
    walk(&t, 0);
    memcpy(want, memory, sizeof memory);
    ck_assert_int_eq(pto_unit_stride(ctx, &t, 1, &unit), PTO_OK);
    ck_assert_ptr_ne(unit.data, memory);
    ck_assert_int_eq(walk(&unit, 1), 0);
    memset(memory, 0x55, sizeof memory);
    pto_unit_stride_done(ctx, &t, &unit);
    ck_assert_mem_eq(memory, want, sizeof memory);
    pto_leave(ctx, PTO_OK);
    pto_context_free(ctx);
}
END_TEST

// ---- the processor --------------------------------------------------------------------------------------------------

START_TEST(cpu_features)
{
    uint64_t cpu = pto_cpu();
    ck_assert_uint_eq(pto_cpu(), cpu);
    ck_assert_int_le(PTO_CPU_COUNT, 64);
#if defined(__x86_64__)
#define AGREES(id, name) ck_assert_int_eq(PTO_CPU_HAS(cpu, id) != 0, __builtin_cpu_supports(name) != 0)
    __builtin_cpu_init();
    ck_assert(PTO_CPU_HAS(cpu, SSE2));
    AGREES(SSE3, "sse3");
    AGREES(SSSE3, "ssse3");
    AGREES(SSE4_1, "sse4.1");
    AGREES(SSE4_2, "sse4.2");
    AGREES(SSE4A, "sse4a");
    AGREES(POPCNT, "popcnt");
    AGREES(AES, "aes");
    AGREES(PCLMUL, "pclmul");
    AGREES(AVX, "avx");
    AGREES(FMA, "fma");
    AGREES(FMA4, "fma4");
    AGREES(XOP, "xop");
    AGREES(AVX2, "avx2");
    AGREES(BMI, "bmi");
    AGREES(BMI2, "bmi2");
    AGREES(GFNI, "gfni");
    AGREES(VPCLMULQDQ, "vpclmulqdq");
    AGREES(AVX512F, "avx512f");
    AGREES(AVX512BW, "avx512bw");
    AGREES(AVX512CD, "avx512cd");
    AGREES(AVX512DQ, "avx512dq");
    AGREES(AVX512VL, "avx512vl");
    AGREES(AVX512IFMA, "avx512ifma");
    AGREES(AVX512VBMI, "avx512vbmi");
    AGREES(AVX512VBMI2, "avx512vbmi2");
    AGREES(AVX512VNNI, "avx512vnni");
    AGREES(AVX512BITALG, "avx512bitalg");
    AGREES(AVX512VPOPCNTDQ, "avx512vpopcntdq");
    AGREES(AVX512BF16, "avx512bf16");
#undef AGREES
#elif defined(__aarch64__)
    ck_assert(PTO_CPU_HAS(cpu, SIMD));
#endif
}
END_TEST

Suite *suite_runtime(void);
Suite *suite_runtime(void)
{
    Suite *s = suite_create("runtime");
    TCase *c = tcase_create("runtime");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, dtypes);
    tcase_add_test(c, dense_tensors);
    tcase_add_test(c, options_are_validated);
    tcase_add_test(c, environment_is_validated);
    tcase_add_test(c, busy);
    tcase_add_test(c, temporary_context);
    tcase_add_test(c, workspace);
    tcase_add_test(c, errors_and_log);
    tcase_add_test(c, faults_are_deterministic);
    tcase_add_test(c, fault_order);
    tcase_add_test(c, dlpack_round_trip);
    tcase_add_test(c, dlpack_from_others);
    tcase_add_test(c, dlpack_layout);
    tcase_add_test(c, pack_unpack);
    tcase_add_test(c, unit_stride);
    tcase_add_test(c, cpu_features);
    suite_add_tcase(s, c);
    return s;
}
