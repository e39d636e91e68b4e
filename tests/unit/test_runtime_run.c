// libptort: every task once and in order, in every mode, for any number of threads that the pool delivers.
#include "ptort.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

// LLVM's OpenMP library keeps what it allocates per thread until the process ends.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libomp.so"; }
const char *__lsan_default_options(void);
const char *__lsan_default_options(void) { return "print_suppressions=0"; }
#endif
#endif

// ---- a grid that checks itself --------------------------------------------------------------------------------------

// Each task adds up what the tasks that it waits for have written, without atomics: a missing order is a wrong sum, and a
// race for ThreadSanitizer.
typedef struct Probe {
    const pto_grid *grid;
    int64_t *value;                  // per task, -1: not run
    atomic_int *runs;                // per task
    atomic_bool *active;             // per worker
    int workers;                     // bound of the worker numbers
    atomic_int wrong;
    atomic_int used;                 // highest worker + 1
    unsigned spin;                   // uneven work
} Probe;

static int64_t number(const pto_grid *g, const int64_t *index)
{
    int64_t t = 0;
    for (int d = 0; d < g->rank; d++)
        t = t * g->count[d] + index[d];
    return t;
}

static int predecessor(const pto_grid *g, const int64_t *index, int k, int64_t *out)
{
    int64_t before[4];
    for (int d = 0; d < g->rank; d++) {
        if (__builtin_sub_overflow(index[d], g->offsets[k][d], &before[d]) || before[d] < 0 || before[d] >= g->count[d])
            return 0;
    }
    *out = number(g, before);
    return 1;
}

static int64_t expected_value(const pto_grid *g, const int64_t *value, const int64_t *index)
{
    int64_t sum = 1, at;
    for (int k = 0; k < g->noffsets; k++)
        if (predecessor(g, index, k, &at))
            sum = (sum + value[at]) % 1000003;
    return sum;
}

static void probe_task(void *frame, int worker, const int64_t index[4])
{
    Probe *p = frame;
    const pto_grid *g = p->grid;
    if (worker < 0 || worker >= p->workers || atomic_exchange(&p->active[worker], true))
        atomic_fetch_add(&p->wrong, 1);
    for (int d = g->rank; d < 4; d++)
        if (index[d] != 0)
            atomic_fetch_add(&p->wrong, 1);
    int64_t at, t = number(g, index);
    for (int k = 0; k < g->noffsets; k++)
        if (predecessor(g, index, k, &at) && p->value[at] < 0)
            atomic_fetch_add(&p->wrong, 1);
    for (volatile unsigned i = 0; i < p->spin * (unsigned)(t % 7); i++)
        ;
    p->value[t] = expected_value(g, p->value, index);
    atomic_fetch_add(&p->runs[t], 1);
    int used = atomic_load(&p->used);
    while (worker >= used && !atomic_compare_exchange_weak(&p->used, &used, worker + 1))
        ;
    if (worker >= 0 && worker < p->workers)
        atomic_store(&p->active[worker], false);
}

static int64_t grid_tasks(const pto_grid *g)
{
    int64_t n = 1;
    for (int d = 0; d < g->rank; d++)
        n *= g->count[d];
    return n;
}

// Runs the grid and returns the number of things that were wrong; *used, unless NULL, is the highest worker + 1.
static int probe(pto_context *ctx, const pto_grid *g, int *used)
{
    int64_t n = grid_tasks(g);
    Probe p = {.grid = g, .workers = pto_workers(ctx), .spin = 20};
    p.value = malloc((size_t)(n + 1) * sizeof *p.value);
    p.runs = calloc((size_t)(n + 1), sizeof *p.runs);
    p.active = calloc((size_t)p.workers, sizeof *p.active);
    memset(p.value, 0xff, (size_t)(n + 1) * sizeof *p.value);
    int wrong = pto_run(ctx, g, probe_task, &p) != PTO_OK;
    for (int64_t t = 0; t < n; t++) {
        int64_t index[4] = {0}, rest = t;
        for (int d = g->rank - 1; d >= 0; rest /= g->count[d], d--)
            index[d] = rest % g->count[d];
        wrong += atomic_load(&p.runs[t]) != 1 || p.value[t] != expected_value(g, p.value, index);
    }
    wrong += atomic_load(&p.wrong);
    if (used != NULL)
        *used = atomic_load(&p.used);
    free(p.value);
    free(p.runs);
    free(p.active);
    return wrong;
}

typedef struct Shape {
    int rank;
    int64_t count[4];
} Shape;

static const Shape shapes[] = {
    {1, {0}}, {1, {1}}, {1, {2}}, {1, {7}}, {1, {101}}, {2, {1, 1}}, {2, {5, 0}}, {2, {0, 5}}, {2, {1, 13}}, {2, {13, 1}},
    {2, {7, 11}}, {3, {3, 5, 7}}, {3, {1, 1, 9}}, {3, {4, 0, 4}}, {4, {2, 3, 4, 5}}, {4, {1, 2, 1, 2}}, {2, {31, 37}},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

typedef struct Offsets {
    int rank, n;
    int64_t list[8][4];
} Offsets;

static const Offsets dependences[] = {
    {1, 1, {{1}}},
    {1, 2, {{1}, {3}}},
    {1, 2, {{2}, {2}}},                                          // the same one twice
    {2, 2, {{0, 1}, {1, 0}}},
    {2, 1, {{1, 0}}},
    {2, 1, {{0, 1}}},
    {2, 3, {{1, -1}, {1, 0}, {1, 1}}},                          // a stencil in time
    {2, 4, {{0, 1}, {1, -2}, {1, 0}, {2, 5}}},
    {3, 3, {{0, 0, 1}, {0, 1, 0}, {1, 0, 0}}},
    {3, 5, {{1, 0, 0}, {1, -1, 0}, {1, 1, 0}, {1, 0, -1}, {1, 0, 1}}},
    {4, 4, {{0, 0, 0, 1}, {0, 0, 1, 0}, {0, 1, -1, 0}, {1, 0, 0, 0}}},
    {4, 1, {{0, 0, 0, INT64_MAX}}},                             // never in the grid
    {4, 1, {{1, INT64_MIN, 0, 0}}},
};
enum { DEPENDENCES = sizeof dependences / sizeof *dependences };

static int probe_shapes(pto_context *ctx)
{
    int wrong = 0;
    for (int s = 0; s < SHAPES; s++) {
        pto_grid g = {.name = "g", .rank = shapes[s].rank};
        memcpy(g.count, shapes[s].count, sizeof g.count);
        for (int m = PTO_MODE_AUTO; m <= PTO_MODE_WAVE; m++) {
            g.mode = (pto_mode)m;
            wrong += probe(ctx, &g, NULL);
        }
        for (int d = 0; d < DEPENDENCES; d++) {
            if (dependences[d].rank != g.rank)
                continue;
            g.noffsets = dependences[d].n;
            g.offsets = dependences[d].list;
            g.mode = d % 2 ? PTO_MODE_WAVE : PTO_MODE_AUTO;
            wrong += probe(ctx, &g, NULL);
        }
    }
    return wrong;
}

static int probe_context(const pto_options *options)
{
    pto_context *ctx = pto_context_new(options), *c = ctx;
    int wrong = pto_enter(&c, "k") != PTO_OK;
    if (!wrong)
        wrong = probe_shapes(ctx) + (pto_leave(ctx, PTO_OK) != PTO_OK);
    pto_context_free(ctx);
    return wrong;
}

// ---- modes and threads ----------------------------------------------------------------------------------------------

START_TEST(every_mode_every_thread_count)
{
    int mode = _i / 8, threads = _i % 8 + 1;
    ck_assert_int_eq(probe_context(&(pto_options){.threads = threads, .mode = (pto_mode)mode}), 0);
}
END_TEST

START_TEST(serial_pool) { ck_assert_int_eq(probe_context(&(pto_options){.threads = 4, .pool = PTO_POOL_SERIAL}), 0); }
END_TEST

START_TEST(bound_workers)
{
    ck_assert_int_eq(probe_context(&(pto_options){.threads = 3, .bind = PTO_BIND_CORE}), 0);
    ck_assert_int_eq(probe_context(&(pto_options){.threads = 3, .bind = PTO_BIND_NODE}), 0);
}
END_TEST

START_TEST(max_workers)
{
    pto_context *ctx = pto_context_new(&(pto_options){.threads = 8});
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    static const int64_t offsets[][4] = {{1}};
    for (int most = 1; most < 5; most++)
        for (int m = PTO_MODE_AUTO; m <= PTO_MODE_WAVE; m++) {
            pto_grid g = {.name = "g", .rank = 1, .count = {200}, .mode = (pto_mode)m, .max_workers = most, .offsets = offsets, .noffsets = m == PTO_MODE_WAVE};
            int used;
            ck_assert_int_eq(probe(ctx, &g, &used), 0);
            ck_assert_int_le(used, most);
        }
    pto_leave(ctx, PTO_OK);
    pto_context_free(ctx);
}
END_TEST

// Many small waves in one context: its counters and queue must come back to zero each time.
START_TEST(wave_memory_is_reused)
{
    pto_context *ctx = pto_context_new(&(pto_options){.threads = 4});
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    for (int i = 0; i < 300; i++) {
        const Offsets *o = &dependences[3 + i % 5];
        pto_grid g = {.name = "g", .rank = 2, .count = {1 + i % 17, 1 + i % 23}, .noffsets = o->n, .offsets = o->list};
        ck_assert_int_eq(probe(ctx, &g, NULL), 0);
    }
    pto_leave(ctx, PTO_OK);
    pto_context_free(ctx);
}
END_TEST

START_TEST(large_wave)
{
    pto_context *ctx = pto_context_new(&(pto_options){.threads = 4});
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    pto_grid g = {.name = "g", .rank = 2, .count = {150, 170}, .noffsets = 2, .offsets = dependences[3].list};
    ck_assert_int_eq(probe(ctx, &g, NULL), 0);
    pto_leave(ctx, PTO_OK);
    pto_context_free(ctx);
}
END_TEST

static void record_worker(void *frame, int worker, const int64_t index[4]) { ((int *)frame)[index[0]] = worker; }

// The same tasks go to the same worker in every region, in contiguous ranges.
START_TEST(static_is_stable)
{
    int first[103], now[103];
    pto_context *ctx = pto_context_new(&(pto_options){.threads = 4});
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    pto_grid g = {.name = "g", .rank = 1, .count = {103}, .mode = PTO_MODE_STATIC};
    pto_run(ctx, &g, record_worker, first);
    for (int i = 1; i < 103; i++)
        ck_assert_int_le(first[i - 1], first[i]);
    for (int k = 0; k < 20; k++) {
        pto_run(ctx, &g, record_worker, now);
        ck_assert_mem_eq(first, now, sizeof now);
    }
    pto_leave(ctx, PTO_OK);
    pto_context_free(ctx);
}
END_TEST

// ---- refusals -------------------------------------------------------------------------------------------------------

static void count_task(void *frame, int worker, const int64_t index[4]) { atomic_fetch_add((atomic_int *)frame, 1); }

START_TEST(bad_grids)
{
    static const int64_t zero[][4] = {{0, 0}}, back[][4] = {{0, -1}}, beyond[][4] = {{0, 0, 1}};
    static const pto_grid grids[] = {
        {.name = "g", .rank = 0}, {.name = "g", .rank = 5}, {.name = "g", .rank = 1, .count = {-1}},
        {.name = "g", .rank = 2, .count = {3, 3}, .noffsets = 1, .offsets = zero},
        {.name = "g", .rank = 2, .count = {3, 3}, .noffsets = 1, .offsets = back},
        {.name = "g", .rank = 2, .count = {3, 3}, .noffsets = 1, .offsets = beyond},   // positive only beyond the rank
        {.name = "g", .rank = 2, .count = {3, 3}, .noffsets = -1},
        {.name = "g", .rank = 2, .count = {INT64_MAX, 2}}, {.name = "g", .rank = 1, .count = {INT64_MAX}},
    };
    atomic_int n = 0;
    pto_context *ctx = pto_context_new(NULL);
    ck_assert_int_eq(pto_run(ctx, &grids[0], count_task, &n), PTO_ERR_ARGUMENT);   // not entered
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        ck_assert_int_eq(pto_run(ctx, &grids[i], count_task, &n), PTO_ERR_ARGUMENT);
    ck_assert_int_eq(atomic_load(&n), 0);
    pto_grid empty = {.name = "g", .rank = 3, .count = {INT64_MAX, INT64_MAX, 0}};
    ck_assert_int_eq(pto_run(ctx, &empty, count_task, &n), PTO_OK);
    pto_leave(ctx, PTO_OK);
    pto_context_free(ctx);
}
END_TEST

typedef struct Reentry {
    pto_context *ctx;
    atomic_int busy;
} Reentry;

static void reenter_task(void *frame, int worker, const int64_t index[4])
{
    Reentry *r = frame;
    atomic_int n = 0;
    pto_grid g = {.name = "inner", .rank = 1, .count = {5}};
    pto_context *same = r->ctx;
    if (pto_run(r->ctx, &g, count_task, &n) == PTO_ERR_BUSY && pto_enter(&same, "inner") == PTO_ERR_BUSY && atomic_load(&n) == 0)
        atomic_fetch_add(&r->busy, 1);
}

START_TEST(region_within_a_task_is_refused)
{
    Reentry r = {.ctx = pto_context_new(&(pto_options){.threads = 3})};
    pto_grid g = {.name = "outer", .rank = 1, .count = {12}, .mode = PTO_MODE_DYNAMIC};
    ck_assert_int_eq(pto_enter(&r.ctx, "k"), PTO_OK);
    ck_assert_int_eq(pto_run(r.ctx, &g, reenter_task, &r), PTO_OK);
    ck_assert_int_eq(atomic_load(&r.busy), 12);
    pto_leave(r.ctx, PTO_OK);
    pto_context_free(r.ctx);
}
END_TEST

// ---- nested and concurrent ------------------------------------------------------------------------------------------

static void kernel_in_task(void *frame, int worker, const int64_t index[4])
{
    atomic_fetch_add((atomic_int *)frame, probe_context(&(pto_options){.threads = 2}));
}

// A task may call a kernel with another context.
START_TEST(kernels_within_tasks)
{
    atomic_int wrong = 0;
    pto_context *ctx = pto_context_new(&(pto_options){.threads = 3});
    pto_grid g = {.name = "outer", .rank = 1, .count = {5}, .mode = PTO_MODE_DYNAMIC};
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    ck_assert_int_eq(pto_run(ctx, &g, kernel_in_task, &wrong), PTO_OK);
    ck_assert_int_eq(pto_leave(ctx, PTO_OK), PTO_OK);
    ck_assert_int_eq(atomic_load(&wrong), 0);
    pto_context_free(ctx);
}
END_TEST

static void *host_thread(void *arg)
{
    for (int i = 0; i < 3; i++)
        atomic_fetch_add((atomic_int *)arg, probe_context(i == 1 ? NULL : &(pto_options){.threads = 2 + i}));
    return NULL;
}

START_TEST(eight_host_threads)
{
    pthread_t threads[8];
    atomic_int wrong = 0;
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, host_thread, &wrong), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(atomic_load(&wrong), 0);
}
END_TEST

#ifdef _OPENMP
// Not instrumented itself: see runtime/src/pool_openmp.c.
__attribute__((noinline, no_sanitize("thread"))) static void probe_in_parallel(atomic_int *wrong)
{
#pragma omp parallel num_threads(3) firstprivate(wrong)
    atomic_fetch_add(wrong, probe_context(&(pto_options){.threads = 3}));
}

START_TEST(within_a_parallel_region)
{
    for (int levels = 1; levels <= 2; levels++) {
        atomic_int wrong = 0;
        omp_set_max_active_levels(levels);
        probe_in_parallel(&wrong);
        ck_assert_int_eq(atomic_load(&wrong), 0);
    }
}
END_TEST

START_TEST(omp_dynamic)
{
    omp_set_dynamic(1);
    ck_assert_int_eq(probe_context(&(pto_options){.threads = 8}), 0);
    omp_set_dynamic(0);
}
END_TEST
#endif

// ---- the host's pool ------------------------------------------------------------------------------------------------

typedef struct HostPool {
    int kind, calls;
} HostPool;

typedef struct HostJob {
    void (*body)(void *arg, int worker);
    void *arg;
    int worker;
} HostJob;

static void *host_job(void *arg)
{
    HostJob *j = arg;
    j->body(j->arg, j->worker);
    return NULL;
}

static void host_threads(int n, void (*body)(void *arg, int worker), void *arg)
{
    pthread_t threads[16];
    HostJob jobs[16];
    for (int i = 0; i < n; i++) {
        jobs[i] = (HostJob){.body = body, .arg = arg, .worker = n - 1 - i};
        pthread_create(&threads[i], NULL, host_job, &jobs[i]);
    }
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

enum { HOST_THREADS, HOST_SERIAL, HOST_NOTHING, HOST_SOME, HOST_TWICE, HOST_STRANGE, HOST_KINDS };

static void host_pool(void *user, int n, void (*body)(void *arg, int worker), void *arg)
{
    HostPool *p = user;
    p->calls++;
    switch (p->kind) {
    case HOST_THREADS: host_threads(n, body, arg); break;
    case HOST_SERIAL: for (int w = n - 1; w >= 0; w--) body(arg, w); break;
    case HOST_NOTHING: break;
    case HOST_SOME: body(arg, n - 1); break;
    case HOST_TWICE: for (int w = 0; w < 2 * n; w++) body(arg, w / 2); break;
    case HOST_STRANGE: body(arg, -1); body(arg, n); body(arg, 1 << 30); break;
    }
}

START_TEST(host_pools)
{
    HostPool p = {.kind = _i};
    pto_context *ctx = pto_context_new(NULL);
    ck_assert_int_eq(pto_context_set_pool(ctx, host_pool, &p, 5), PTO_OK);
    ck_assert_int_eq(pto_workers(ctx), 5);
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    ck_assert_int_eq(probe_shapes(ctx), 0);
    pto_leave(ctx, PTO_OK);
    ck_assert_int_gt(p.calls, 0);
    p.calls = 0;
    ck_assert_int_eq(pto_context_set_pool(ctx, NULL, NULL, 0), PTO_OK);
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    ck_assert_int_eq(probe_shapes(ctx), 0);
    pto_leave(ctx, PTO_OK);
    ck_assert_int_eq(p.calls, 0);
    ck_assert_int_eq(pto_context_set_pool(ctx, host_pool, &p, 0), PTO_ERR_ARGUMENT);
    ck_assert_int_eq(pto_context_set_pool(ctx, host_pool, &p, PTO_MAX_WORKERS + 1), PTO_ERR_ARGUMENT);
    pto_context_free(ctx);
}
END_TEST

static void meet_task(void *frame, int worker, const int64_t index[4])
{
    atomic_int *met = frame;
    if (index[0] == 0) {
        usleep(index[1] == 0 ? 100000 : 0);                     // the other worker falls asleep meanwhile
        return;
    }
    atomic_fetch_add(met, 1);
    for (int i = 0; i < 5000 && atomic_load(met) % 2 != 0; i++)
        usleep(1000);
}

// A sleeping worker is woken when tasks become ready: the two of the second row run at the same time, or wait in vain.
START_TEST(wave_wakes_sleepers)
{
    static const int64_t offsets[][4] = {{1, -1}, {1, 0}, {1, 1}};
    HostPool p = {.kind = HOST_THREADS};
    atomic_int met = 0;
    pto_context *ctx = pto_context_new(NULL);
    pto_grid g = {.name = "g", .rank = 2, .count = {2, 2}, .noffsets = 3, .offsets = offsets};
    ck_assert_int_eq(pto_context_set_pool(ctx, host_pool, &p, 2), PTO_OK);
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    ck_assert_int_eq(pto_run(ctx, &g, meet_task, &met), PTO_OK);
    clock_gettime(CLOCK_MONOTONIC, &after);
    ck_assert_int_lt(after.tv_sec - before.tv_sec, 5);
    pto_leave(ctx, PTO_OK);
    pto_context_free(ctx);
}
END_TEST

START_TEST(host_pool_is_capped)
{
    HostPool p = {.kind = HOST_SERIAL};
    pto_context *ctx = pto_context_new(&(pto_options){.threads = 2});
    ck_assert_int_eq(pto_context_set_pool(ctx, host_pool, &p, 5), PTO_OK);
    ck_assert_int_eq(pto_workers(ctx), 2);
    pto_context_free(ctx);
}
END_TEST

// ---- environments that OpenMP reads when it starts ------------------------------------------------------------------

// This suite again in a new process, only `in_this_environment` below.
static int run_in_environment(const char *variables)
{
    char text[256];
    snprintf(text, sizeof text, "%s", variables);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        for (char *v = strtok(text, " "); v != NULL; v = strtok(NULL, " "))
            putenv(v);
        putenv("CK_FORK=no");
        putenv("CK_VERBOSITY=silent");
        putenv("PTO_TEST_ENVIRONMENT=1");
        if (freopen("/dev/null", "w", stdout) == NULL)
            _exit(126);
        execl("/proc/self/exe", "unit", "runtime_run", (char *)NULL);
        _exit(127);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

START_TEST(environments)
{
    static const char *const list[] = {
        "OMP_THREAD_LIMIT=1", "OMP_THREAD_LIMIT=2", "OMP_THREAD_LIMIT=3", "OMP_DYNAMIC=true", "OMP_NUM_THREADS=1",
        "OMP_NUM_THREADS=2,2 OMP_MAX_ACTIVE_LEVELS=2", "OMP_PROC_BIND=true", "OMP_WAIT_POLICY=passive", "PTO_NUM_THREADS=5",
    };
    ck_assert_msg(run_in_environment(list[_i]) == 0, "%s", list[_i]);
}
END_TEST

START_TEST(in_this_environment)
{
    const char *limit = getenv("OMP_THREAD_LIMIT");
    pto_context *ctx = pto_context_new(&(pto_options){.threads = 6});
    pto_grid g = {.name = "g", .rank = 1, .count = {400}, .mode = PTO_MODE_DYNAMIC};
    int used = 0;
    ck_assert_int_eq(pto_enter(&ctx, "k"), PTO_OK);
    ck_assert_int_eq(probe(ctx, &g, &used), 0);
    pto_leave(ctx, PTO_OK);
    pto_context_free(ctx);
    if (limit != NULL)
        ck_assert_int_le(used, atoi(limit));
    ck_assert_int_eq(probe_context(&(pto_options){.threads = 6}), 0);
    ck_assert_int_eq(probe_context(NULL), 0);
}
END_TEST

Suite *suite_runtime_run(void);
Suite *suite_runtime_run(void)
{
    Suite *s = suite_create("runtime_run");
    TCase *c = tcase_create("runtime_run");
    tcase_set_timeout(c, 300);
    suite_add_tcase(s, c);
    tcase_add_test(c, in_this_environment);
    if (getenv("PTO_TEST_ENVIRONMENT") != NULL)
        return s;
    tcase_add_loop_test(c, every_mode_every_thread_count, 0, 5 * 8);
    tcase_add_test(c, serial_pool);
    tcase_add_test(c, bound_workers);
    tcase_add_test(c, max_workers);
    tcase_add_test(c, wave_memory_is_reused);
    tcase_add_test(c, large_wave);
    tcase_add_test(c, static_is_stable);
    tcase_add_test(c, bad_grids);
    tcase_add_test(c, region_within_a_task_is_refused);
    tcase_add_test(c, kernels_within_tasks);
    tcase_add_test(c, eight_host_threads);
#ifdef _OPENMP
    tcase_add_test(c, within_a_parallel_region);
    tcase_add_test(c, omp_dynamic);
#endif
    tcase_add_loop_test(c, host_pools, 0, HOST_KINDS);
    tcase_add_test(c, wave_wakes_sleepers);
    tcase_add_test(c, host_pool_is_capped);
    tcase_add_loop_test(c, environments, 0, 9);
    return s;
}
