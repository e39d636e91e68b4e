// The host application's pool. It is somebody else's code, so nothing is taken for granted but that all bodies have
// returned when it returns: a worker's number is claimed once, a number out of range is ignored, and what was never
// called is run by the caller.
//
// Test: tests/unit/test_runtime.c

#include "pool.h"

typedef struct HostCall {
    PoolBody body;
    void *arg;
    int n;
    atomic_bool *claims;
    atomic_int begun, ended;         // order memory between caller and bodies, whatever the host's pool does about it
} HostCall;

static void host_body(void *arg, int worker) {
    HostCall *call = arg;
    (void)atomic_load_explicit(&call->begun, memory_order_acquire);
    if (worker >= 0 && worker < call->n && !atomic_exchange_explicit(&call->claims[worker], true, memory_order_acq_rel))
        call->body(call->arg, worker, call->n);
    atomic_fetch_add_explicit(&call->ended, 1, memory_order_release);
}

void pool_host_run(pto_context *ctx, int n, PoolBody body, void *arg) {
    HostCall call = {.body = body, .arg = arg, .n = n, .claims = ctx->host_claims};
    for (int w = 0; w < n; w++)
        atomic_store_explicit(&call.claims[w], false, memory_order_relaxed);
    atomic_store_explicit(&call.begun, 1, memory_order_release);
    ctx->host(ctx->host_user, n, host_body, &call);
    (void)atomic_load_explicit(&call.ended, memory_order_acquire);
    for (int w = 0; w < n; w++)
        host_body(&call, w);
}
