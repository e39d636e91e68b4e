// libptort: what is recorded of a region: every task once, inside of its worker's time, inside of its region's.
#include "ptort.h"

#include <check.h>
#include <pthread.h>
#include <string.h>

Suite *suite_runtime_record(void);

enum { MOST = 4096 };
typedef struct Log {
    pthread_mutex_t lock;
    int n;
    pto_record at[MOST];
} Log;

static void take(void *user, const pto_record *r)
{
    Log *l = user;
    pthread_mutex_lock(&l->lock);
    if (l->n < MOST)
        l->at[l->n++] = *r;
    pthread_mutex_unlock(&l->lock);
}

static void work(void *frame, int worker, const int64_t index[4])
{
    volatile int64_t *sum = (volatile int64_t[]){0};
    (void)frame, (void)worker;
    for (int k = 0; k < 1000; k++)
        *sum += index[0];
}

static const int64_t one_before[1][4] = {{1, 0}};

static void check_log(const Log *l, const pto_grid *g, int64_t region)
{
    int seen[64] = {0}, regions = 0, workers = 0;
    const pto_record *whole = NULL;
    for (int k = 0; k < l->n; k++)
        if (l->at[k].kind == PTO_RECORD_REGION)
            whole = &l->at[k], regions++;
    ck_assert_int_eq(regions, 1);
    for (int k = 0; k < l->n; k++) {
        const pto_record *r = &l->at[k];
        ck_assert_ptr_eq(r->grid, g);
        ck_assert_int_eq(r->region, region);
        ck_assert(whole->begin <= r->begin && r->begin <= r->end && r->end <= whole->end);
        workers += r->kind == PTO_RECORD_WORKER;
        if (r->kind == PTO_RECORD_TASK)
            seen[r->task]++;
        else
            ck_assert_int_eq(r->task, -1);
    }
    ck_assert(workers >= 1 && workers <= whole->workers);
    for (int t = 0; t < 64; t++)
        ck_assert_int_eq(seen[t], 1);
}

static void record_modes(pto_context *ctx, Log *l)
{
    static const pto_mode modes[] = {PTO_MODE_SERIAL, PTO_MODE_STATIC, PTO_MODE_DYNAMIC, PTO_MODE_WAVE};
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    for (int m = 0; m < 4; m++) {
        pto_grid g = {.name = "g", .rank = 2, .count = {8, 8}, .mode = modes[m], .noffsets = modes[m] == PTO_MODE_WAVE, .offsets = one_before};
        l->n = 0;
        ck_assert_int_eq(pto_run(ctx, &g, work, NULL), PTO_OK);
        check_log(l, &g, m);
    }
    pto_leave(ctx, PTO_OK);
}

START_TEST(every_task_once)
{
    static Log log = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pto_context *ctx = pto_context_new(&(pto_options){.threads = 3});
    ck_assert_int_eq(pto_context_record(ctx, take, &log), PTO_OK);
    record_modes(ctx, &log);
    ck_assert_int_eq(pto_context_record(ctx, NULL, NULL), PTO_OK);
    log.n = 0;
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    pto_grid g = {.name = "g", .rank = 1, .count = {10}};
    ck_assert_int_eq(pto_run(ctx, &g, work, NULL), PTO_OK);
    pto_leave(ctx, PTO_OK);
    ck_assert_int_eq(log.n, 0);
    pto_context_free(ctx);
}
END_TEST

START_TEST(refused)
{
    ck_assert_int_eq(pto_context_record(NULL, take, NULL), PTO_ERR_NULL);
    pto_context *ctx = pto_context_new(NULL);
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    ck_assert_int_eq(pto_context_record(ctx, take, NULL), PTO_ERR_BUSY);
    pto_leave(ctx, PTO_OK);
    pto_context_free(ctx);
}
END_TEST

Suite *suite_runtime_record(void)
{
    Suite *s = suite_create("runtime_record");
    TCase *t = tcase_create("record");
    tcase_add_test(t, every_task_once);
    tcase_add_test(t, refused);
    suite_add_tcase(s, t);
    return s;
}
