// Chooses the pool of a context: the host's if there is one, else OpenMP, else the caller alone. Never two at once.
//
// Test: tests/unit/test_runtime.c

#include "pool.h"

#include <stdlib.h>

static bool uses_openmp(const pto_context *ctx) {
    return ctx->host == NULL && ctx->options.pool != PTO_POOL_SERIAL && pool_openmp_built();
}

static int least(int a, int b) { return a < b ? a : b; }

int pool_workers(const pto_context *ctx) {
    if (ctx->options.mode == PTO_MODE_SERIAL || ctx->refusal[0] != '\0')
        return 1;
    if (ctx->host != NULL)
        return ctx->threads_given ? least(ctx->threads, ctx->host_workers) : ctx->host_workers;
    return uses_openmp(ctx) ? least(ctx->threads, pool_openmp_limit()) : 1;
}

void pool_run(pto_context *ctx, int n, PoolBody body, void *arg) {
    if (n > 1 && ctx->host != NULL)
        pool_host_run(ctx, n, body, arg);
    else if (n > 1 && uses_openmp(ctx))
        pool_openmp_run(n, body, arg);
    else
        body(arg, 0, 1);
}

pto_status pto_context_set_pool(pto_context *ctx, pto_parallel_for parallel_for, void *user, int workers) {
    if (ctx == NULL)
        return pto_error(NULL, PTO_ERR_NULL, "the context is NULL");
    if (parallel_for != NULL && (workers < 1 || workers > PTO_MAX_WORKERS))
        return pto_error(ctx, PTO_ERR_ARGUMENT, "a pool of %d workers: expected 1..%d", workers, PTO_MAX_WORKERS);
    if (atomic_exchange_explicit(&ctx->busy, true, memory_order_acquire)) {
        thread_record("the context is in use by another call");
        return PTO_ERR_BUSY;
    }
    atomic_bool *claims = parallel_for != NULL ? mem_new(&ctx->memory, (size_t)workers, sizeof *claims) : NULL;
    pto_status status = PTO_OK;
    if (parallel_for != NULL && claims == NULL) {
        status = pto_error(ctx, PTO_ERR_MEMORY, "no memory for a pool of %d workers", workers);
    } else {
        mem_free(&ctx->memory, ctx->host_claims);
        ctx->host_claims = claims;
        ctx->host = parallel_for;
        ctx->host_user = user;
        ctx->host_workers = workers;
    }
    atomic_store_explicit(&ctx->busy, false, memory_order_release);
    return status;
}
