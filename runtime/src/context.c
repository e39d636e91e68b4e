// Contexts: options and environment, the begin and end of a kernel call, the workspace.
//
// A bad option or PTO_NUM_THREADS does not fail pto_context_new, because a kernel called without a context must be able
// to report it too: it becomes the context's refusal, with which every pto_enter fails.
//
// Test: tests/unit/test_runtime.c

#include "context.h"
#include "bind.h"
#include "pool.h"
#include "topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int parse_threads(const char *text) {
    char *end;
    errno = 0;
    long n = text[0] >= '0' && text[0] <= '9' ? strtol(text, &end, 10) : 0;
    return n >= 1 && n <= PTO_MAX_WORKERS && errno == 0 && *end == '\0' ? (int)n : 0;
}

static void refuse(pto_context *ctx, const char *what, const char *got, const char *expected) {
    if (ctx->refusal[0] == '\0')
        snprintf(ctx->refusal, sizeof ctx->refusal, "%s is %.64s: expected %s", what, got, expected);
}

static void resolve_threads(pto_context *ctx) {
    static const char range[] = "a whole number in 1..4096";
    _Static_assert(PTO_MAX_WORKERS == 4096, "the text above");
    const char *env = getenv("PTO_NUM_THREADS");
    int asked = ctx->options.threads;
    ctx->threads = ctx->cores = 1;
    ctx->threads_given = true;
    if (asked < 0 || asked > PTO_MAX_WORKERS) {
        char got[16];
        snprintf(got, sizeof got, "%d", asked);
        refuse(ctx, "the option threads", got, range);
    } else if (asked > 0) {
        ctx->threads = asked;
    } else if (env != NULL && env[0] != '\0') {
        ctx->threads = parse_threads(env);
        if (ctx->threads == 0)
            refuse(ctx, "the environment variable PTO_NUM_THREADS", env, range);
    } else {
        ctx->threads_given = false;
    }
    if (!ctx->threads_given || ctx->threads > 1)
        ctx->cores = machine_threads();
    if (!ctx->threads_given)
        ctx->threads = ctx->cores;
}

static void check_options(pto_context *ctx) {
    const pto_options *o = &ctx->options;
    if ((unsigned)o->mode > PTO_MODE_WAVE)
        refuse(ctx, "the option mode", "not a mode", "one of pto_mode");
    if ((unsigned)o->bind > PTO_BIND_CORE)
        refuse(ctx, "the option bind", "not a binding", "one of pto_bind");
    if ((unsigned)o->pool > PTO_POOL_SERIAL)
        refuse(ctx, "the option pool", "not a pool", "one of pto_pool");
    if (o->pool == PTO_POOL_OPENMP && !pool_openmp_built())
        refuse(ctx, "the option pool", "PTO_POOL_OPENMP", "another: this runtime was built without OpenMP");
}

pto_context *pto_context_new(const pto_options *options) {
    pto_context *ctx = calloc(1, sizeof *ctx);
    if (ctx == NULL)
        return NULL;
    if (options != NULL)
        ctx->options = *options;
    ctx->workspace.memory = &ctx->memory;
    pthread_mutex_init(&ctx->lock, NULL);
    pthread_mutex_init(&ctx->sleep_lock, NULL);
    pthread_cond_init(&ctx->sleep, NULL);
    fault_clear(&ctx->fault);
    check_options(ctx);
    resolve_threads(ctx);
    return ctx;
}

void pto_context_free(pto_context *ctx) {
    if (ctx == NULL)
        return;
    workspace_free(&ctx->workspace);
    wave_free(ctx);
    model_free(ctx);
    bind_free(ctx);
    mem_free(&ctx->memory, ctx->host_claims);
    pthread_cond_destroy(&ctx->sleep);
    pthread_mutex_destroy(&ctx->sleep_lock);
    pthread_mutex_destroy(&ctx->lock);
    free(ctx);
}

static bool context_acquire(pto_context *ctx) {
    if (!atomic_exchange_explicit(&ctx->busy, true, memory_order_acquire))
        return true;
    thread_record("the context is in use by another call");
    return false;
}

static void context_release(pto_context *ctx) { atomic_store_explicit(&ctx->busy, false, memory_order_release); }

// ---- memory ---------------------------------------------------------------------------------------------------------

// What is kept from call to call is given back, or moves; false: no memory there, and nothing has changed.
static bool move_to(pto_context *ctx, const Memory *to) {
    size_t bytes = (size_t)ctx->host_workers * sizeof *ctx->host_claims;
    atomic_bool *claims = ctx->host_claims != NULL ? mem_new(to, 1, bytes) : NULL;
    if ((ctx->host_claims != NULL && claims == NULL) || !model_move(ctx, to)) {
        mem_free(to, claims);
        return false;
    }
    mem_free(&ctx->memory, ctx->host_claims);
    ctx->host_claims = claims;
    workspace_free(&ctx->workspace);
    wave_free(ctx);
    bind_free(ctx);
    ctx->memory = *to;
    return true;
}

pto_status pto_context_set_memory(pto_context *ctx, pto_allocate allocate, pto_release release, void *user) {
    if (ctx == NULL)
        return pto_error(NULL, PTO_ERR_NULL, "the context is NULL");
    if ((allocate == NULL) != (release == NULL))
        return pto_error(ctx, PTO_ERR_ARGUMENT, "one of the two functions for memory is NULL");
    if (!context_acquire(ctx))
        return PTO_ERR_BUSY;
    pto_status status = PTO_OK;
    if (!move_to(ctx, &(Memory){.allocate = allocate, .release = release, .user = user}))
        status = pto_error(ctx, PTO_ERR_MEMORY, "no memory from the new functions");
    context_release(ctx);
    return status;
}

// ---- a kernel call --------------------------------------------------------------------------------------------------

pto_status pto_enter(pto_context **pctx, const char *kernel) {
    if (kernel == NULL)
        kernel = "kernel";
    if (pctx == NULL)
        return pto_error(NULL, PTO_ERR_NULL, "%s: the place of the context is NULL", kernel);
    bool temporary = *pctx == NULL;
    pto_context *ctx = temporary ? pto_context_new(NULL) : *pctx;
    if (ctx == NULL)
        return pto_error(NULL, PTO_ERR_MEMORY, "%s: no memory for a context", kernel);
    if (!temporary && !context_acquire(ctx))
        return PTO_ERR_BUSY;
    if (ctx->refusal[0] != '\0') {
        if (temporary) {
            thread_record(ctx->refusal);
            pto_context_free(ctx);
        } else {
            context_release(ctx);
        }
        return PTO_ERR_ARGUMENT;
    }
    if (temporary) {
        atomic_store_explicit(&ctx->busy, true, memory_order_relaxed);
        ctx->temporary = true;
    }
    ctx->error[0] = '\0';
    ctx->kernel = kernel;
    ctx->workers = pool_workers(ctx);
    ctx->region = 0;
    model_enter(ctx);
    *pctx = ctx;
    return PTO_OK;
}

pto_status pto_leave(pto_context *ctx, pto_status status) {
    if (ctx == NULL)
        return status;
    status = fault_settle(ctx, status);
    workspace_reset(&ctx->workspace);
    ctx->kernel = NULL;
    if (ctx->temporary) {
        thread_record(ctx->error);
        pto_context_free(ctx);
    } else {
        context_release(ctx);
    }
    return status;
}

static bool context_entered(const pto_context *ctx) {
    return ctx != NULL && atomic_load_explicit(&ctx->busy, memory_order_relaxed) && ctx->kernel != NULL;
}

int pto_workers(const pto_context *ctx) {
    if (context_entered(ctx))
        return ctx->workers;
    if (ctx != NULL)
        return pool_workers(ctx);
    pto_context temporary = {0};
    resolve_threads(&temporary);
    return pool_workers(&temporary);
}

// ---- workspace ------------------------------------------------------------------------------------------------------

void *pto_workspace(pto_context *ctx, size_t bytes) {
    void *p = ctx != NULL ? workspace_take(&ctx->workspace, bytes) : NULL;
    if (p == NULL)
        pto_error(ctx, PTO_ERR_MEMORY, "no memory for a workspace of %zu bytes", bytes);
    return p;
}

pto_status pto_context_reserve(pto_context *ctx, size_t bytes) {
    if (ctx == NULL)
        return pto_error(NULL, PTO_ERR_NULL, "the context is NULL");
    if (!context_acquire(ctx))
        return PTO_ERR_BUSY;
    pto_status status = PTO_OK;
    if (!workspace_reserve(&ctx->workspace, bytes))
        status = pto_error(ctx, PTO_ERR_MEMORY, "no memory for a workspace of %zu bytes", bytes);
    context_release(ctx);
    return status;
}

void pto_context_trim(pto_context *ctx) {
    if (ctx == NULL || !context_acquire(ctx))
        return;
    workspace_free(&ctx->workspace);
    wave_free(ctx);
    context_release(ctx);
}
