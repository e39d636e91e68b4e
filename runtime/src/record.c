// pto_context_record: tells a callback when grids, workers and tasks began and ended.
//
// Off, a region looks at one pointer of its context for each task and nothing else. On, the clock is read around a task
// and the callback runs on the worker's own thread, outside of what was timed.
//
// Test: tests/unit/test_runtime_run.c

#include "run.h"

#include <time.h>

int64_t record_begin(const Region *r) {
    struct timespec t;
    if (r->ctx->recorder == NULL)
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void record_end(const Region *r, pto_record_kind kind, int worker, int64_t task, int64_t begin) {
    if (r->ctx->recorder == NULL)
        return;
    pto_record e = {.kind = kind, .grid = r->grid, .mode = r->mode, .workers = r->workers, .worker = worker, .region = r->ctx->region,
                    .task = task, .begin = begin, .end = record_begin(r)};
    r->ctx->recorder(r->ctx->recorder_user, &e);
}

pto_status pto_context_record(pto_context *ctx, pto_recorder recorder, void *user) {
    if (ctx == NULL)
        return pto_error(NULL, PTO_ERR_NULL, "pto_context_record: no context");
    if (atomic_exchange_explicit(&ctx->busy, true, memory_order_acquire)) {
        thread_record("the context is in use by another call");
        return PTO_ERR_BUSY;
    }
    ctx->recorder = recorder;
    ctx->recorder_user = user;
    atomic_store_explicit(&ctx->busy, false, memory_order_release);
    return PTO_OK;
}
