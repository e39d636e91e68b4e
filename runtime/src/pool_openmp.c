// The OpenMP pool: the C compiler's own, shared with everything else in the process that uses OpenMP. The only file with
// an OpenMP pragma; -DPTO_NO_OPENMP (or no -fopenmp) leaves the serial pool.
//
// OpenMP may deliver fewer threads than asked for (OMP_DYNAMIC, OMP_THREAD_LIMIT, a parallel region around): bodies are
// told the size of the team that they got. Inside an active parallel region that may not nest, the limit is 1.
//
// ThreadSanitizer: neither libgomp nor libomp is instrumented, so it does not see that a fork orders the caller before
// the workers and the join the workers before the caller. `begun` and `ended` say so in C11 atomics, which cost nothing
// beside a fork. `fork_join` itself is not instrumented, because gcc passes the pointer to a worker through the caller's
// stack, before any atomic can be read; clang passes it in a register, and its libomp wants
// TSAN_OPTIONS=ignore_noninstrumented_modules=1.
//
// Test: tests/unit/test_runtime.c

#include "pool.h"

#if defined(_OPENMP) && !defined(PTO_NO_OPENMP)
#include <omp.h>

typedef struct ForkJoin {
    PoolBody body;
    void *arg;
    atomic_int begun, ended;
} ForkJoin;

static void worker_body(ForkJoin *f, int worker, int team) {
    (void)atomic_load_explicit(&f->begun, memory_order_acquire);
    f->body(f->arg, worker, team);
    atomic_fetch_add_explicit(&f->ended, 1, memory_order_release);
}

__attribute__((noinline, no_sanitize("thread"))) static void fork_join(int n, ForkJoin *f) {
#pragma omp parallel num_threads(n) firstprivate(f) default(none)
    worker_body(f, omp_get_thread_num(), omp_get_num_threads());
}

void pool_openmp_run(int n, PoolBody body, void *arg) {
    ForkJoin f = {.body = body, .arg = arg};
    atomic_store_explicit(&f.begun, 1, memory_order_release);
    fork_join(n, &f);
    (void)atomic_load_explicit(&f.ended, memory_order_acquire);
}

bool pool_openmp_built(void) { return true; }
int pool_openmp_default(void) { return omp_get_max_threads(); }
int pool_openmp_procs(void) { return omp_get_num_procs(); }
int pool_openmp_limit(void) {
    return omp_get_active_level() < omp_get_max_active_levels() ? omp_get_thread_limit() : 1;
}

#else

bool pool_openmp_built(void) { return false; }
int pool_openmp_default(void) { return 1; }
int pool_openmp_procs(void) { return 1; }
int pool_openmp_limit(void) { return 1; }
void pool_openmp_run(int n, PoolBody body, void *arg) { body(arg, 0, 1); }

#endif
