// libptort: memory from the host application. All of it comes back, with the size that was asked for; when the n-th piece is
// not to be had, for every n, the call says so and all comes back as well.
#include "model_program.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

Suite *suite_runtime_memory(void);

typedef struct Store {
    int taken, left;                             // pieces; left: until none is to be had, -1: never
    size_t bytes;                                // out at this time
    bool wrong;
} Store;

static void *take(void *user, size_t alignment, size_t bytes)
{
    Store *s = user;
    s->wrong = s->wrong || alignment == 0 || (alignment & (alignment - 1)) != 0 || bytes % alignment != 0 || bytes == 0;
    if (s->left == 0)
        return NULL;
    s->left -= s->left > 0;
    s->taken++;
    s->bytes += bytes;
    size_t *p = aligned_alloc(alignment, bytes);
    memset(p, 0xa5, bytes);
    return p;
}

static void give(void *user, void *p, size_t bytes)
{
    Store *s = user;
    s->wrong = s->wrong || bytes > s->bytes || p == NULL;
    s->bytes -= bytes;
    memset(p, 0x5a, bytes);
    free(p);
}

static pto_context *context_of(Store *s)
{
    pto_context *ctx = pto_context_new(&(pto_options){.threads = 2, .bind = PTO_BIND_CORE});
    ck_assert_int_eq(pto_context_set_memory(ctx, take, give, s), PTO_OK);
    return ctx;
}

static void nothing(void *frame, int worker, const int64_t index[4]) { (void)frame, (void)worker, (void)index; }

static void parallel_for(void *user, int n, void (*body)(void *arg, int worker), void *arg)
{
    (void)user;
    for (int w = 0; w < n; w++)
        body(arg, w);
}

// A workspace of several blocks, one large, and the counters of a wave.
static pto_status call(pto_context *ctx)
{
    static const int64_t before[1][4] = {{1, 0}};
    pto_status status = pto_enter(&ctx, "k");
    if (status != PTO_OK)
        return status;
    for (size_t bytes = 100; bytes < (size_t)5 << 20; bytes *= 200)
        if (pto_workspace(ctx, bytes) == NULL)
            return pto_leave(ctx, PTO_ERR_MEMORY);
    pto_grid g = {.name = "g", .rank = 1, .count = {40}, .noffsets = 1, .offsets = before};
    return pto_leave(ctx, pto_run(ctx, &g, nothing, NULL));
}

START_TEST(of_a_call)
{
    Store s = {.left = -1};
    pto_context *ctx = context_of(&s);
    ck_assert_int_eq(pto_context_set_pool(ctx, parallel_for, NULL, 2), PTO_OK);
    ck_assert_int_eq(s.taken, 1);
    ck_assert_int_eq(call(ctx), PTO_OK);
    ck_assert_int_ge(s.taken, 5);
    ck_assert_int_eq(call(ctx), PTO_OK);
    int taken = s.taken;
    ck_assert_int_eq(call(ctx), PTO_OK);
    ck_assert_int_eq(s.taken, taken);                        // steady
    pto_context_trim(ctx);
    ck_assert_int_eq(pto_context_reserve(ctx, 1000), PTO_OK);
    ck_assert_int_eq(s.taken, taken + 1);
    pto_context_free(ctx);
    ck_assert_uint_eq(s.bytes, 0);
    ck_assert(!s.wrong);
}
END_TEST

START_TEST(none_left)
{
    pto_status status = PTO_ERR_MEMORY;
    for (int n = 0; status != PTO_OK; n++) {
        Store s = {.left = n};
        pto_context *ctx = context_of(&s);
        status = pto_context_set_pool(ctx, parallel_for, NULL, 2);
        if (status == PTO_OK)
            status = call(ctx);
        ck_assert(status == PTO_OK || status == PTO_ERR_MEMORY);
        ck_assert(n > 0 || status == PTO_ERR_MEMORY);
        ck_assert(status == PTO_OK || strstr(pto_context_error(ctx), "no memory"));
        pto_context_free(ctx);
        ck_assert_uint_eq(s.bytes, 0);
        ck_assert(!s.wrong && n < 100);
    }
}
END_TEST

static float x[64], y[64];

static Program *add_one(void)
{
    Program *p = program(1, (int64_t[]){1});
    tensor(p, "x", x, sizeof x, 4, 0);
    tensor(p, "y", y, sizeof y, 4, 1);
    int full = token(p, 0, 1), done = token(p, 0, 1);
    pto_operand in = box1(L0, -1, PTO_F32, 0, 64), out = box1(L0, -1, PTO_F32, 256, 64);
    bundle(p);
    signals(p, copy(p, PTO_LOAD, in, box1(DDR, 0, PTO_F32, 0, 64)), full);
    bundle(p);
    wait_for(p, full);
    signals(p, nest(p, PTO_VECTOR, 64, 3, compute_add1, 2, (pto_operand[]){out, in}), done);
    bundle(p);
    wait_for(p, done);
    copy(p, PTO_STORE, box1(DDR, 1, PTO_F32, 0, 64), out);
    return p;
}

static pto_status launch(pto_context *ctx, Program *p)
{
    pto_status status = pto_enter(&ctx, "k");
    return status != PTO_OK ? status : pto_leave(ctx, pto_launch_bundles(ctx, &p->launch));
}

START_TEST(of_the_model)
{
    pto_status status = PTO_ERR_MEMORY;
    int n = 0;
    for (; status != PTO_OK; n++) {
        Store s = {.left = n};
        pto_context *ctx = context_of(&s);
        memset(y, 0, sizeof y);
        status = launch(ctx, add_one());
        ck_assert(status == PTO_OK || status == PTO_ERR_MEMORY);
        pto_context_free(ctx);
        ck_assert_uint_eq(s.bytes, 0);
        ck_assert(!s.wrong && n < 1000);
    }
    ck_assert_int_gt(n, 10);
    ck_assert_float_eq(y[63], 1);
}
END_TEST

// From one store to another, and back to that of the C library: nothing is left where it was, and what was set stays.
START_TEST(changed)
{
    Store a = {.left = -1}, b = {.left = -1}, none = {.left = 0};
    pto_context *ctx = context_of(&a);
    pto_model_totals totals;
    ck_assert_int_eq(pto_context_set_pool(ctx, parallel_for, NULL, 2), PTO_OK);
    ck_assert_int_eq(pto_context_model(ctx, &(pto_model_options){.timing_only = true}), PTO_OK);
    memset(y, 0, sizeof y);
    ck_assert_int_eq(launch(ctx, add_one()), PTO_OK);
    ck_assert_int_eq(call(ctx), PTO_OK);
    ck_assert_int_eq(pto_context_set_memory(ctx, take, give, &none), PTO_ERR_MEMORY);
    ck_assert_uint_gt(a.bytes, 0);
    ck_assert_int_eq(pto_context_set_memory(ctx, take, give, &b), PTO_OK);
    ck_assert_uint_eq(a.bytes, 0);
    ck_assert_int_eq(pto_model_totals_of(ctx, &totals), PTO_OK);
    ck_assert_int_eq(call(ctx), PTO_OK);
    ck_assert_int_eq(launch(ctx, add_one()), PTO_OK);
    ck_assert_float_eq(y[0], 0);                             // only timing
    ck_assert_int_eq(pto_context_set_memory(ctx, NULL, NULL, NULL), PTO_OK);
    ck_assert_uint_eq(b.bytes, 0);
    ck_assert_int_eq(call(ctx), PTO_OK);
    ck_assert_int_eq(pto_context_set_memory(NULL, take, give, &a), PTO_ERR_NULL);
    ck_assert_int_eq(pto_context_set_memory(ctx, take, NULL, &a), PTO_ERR_ARGUMENT);
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    ck_assert_int_eq(pto_context_set_memory(ctx, take, give, &a), PTO_ERR_BUSY);
    pto_leave(ctx, PTO_OK);
    pto_context_free(ctx);
    ck_assert(!a.wrong && !b.wrong && a.bytes == 0 && b.bytes == 0);
}
END_TEST

Suite *suite_runtime_memory(void)
{
    Suite *s = suite_create("runtime_memory");
    TCase *t = tcase_create("memory");
    tcase_add_test(t, of_a_call);
    tcase_add_test(t, none_left);
    tcase_add_test(t, of_the_model);
    tcase_add_test(t, changed);
    suite_add_tcase(s, t);
    return s;
}
