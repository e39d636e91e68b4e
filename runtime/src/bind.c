// Binding of workers to NUMA nodes or cores, when the options ask for it.
//
// The threads belong to OpenMP or to the host, so each is bound for the length of a region and then gets its old set
// back. Widening a thread's set does not move it: in the next region it is where it was.
//
// Test: tests/unit/test_runtime_topology.c

#include "bind.h"

#include <stdlib.h>

static bool place_worker(cpu_set_t *set, pto_bind bind, int worker, int workers, int *pus) {
    int n = pto_topology_place(NULL, bind, worker, workers, pus, CPU_SETSIZE);
    CPU_ZERO(set);
    for (int i = 0; i < n && i < CPU_SETSIZE; i++)
        if (pus[i] < CPU_SETSIZE)
            CPU_SET(pus[i], set);
    return n > 0;
}

void bind_prepare(pto_context *ctx) {
    if (ctx->options.bind == PTO_BIND_NONE || ctx->nplaces == ctx->workers)
        return;
    int n = ctx->workers;
    bind_free(ctx);
    int *pus = malloc(CPU_SETSIZE * sizeof *pus);
    cpu_set_t *places = calloc((size_t)n, sizeof *places);
    if (pus != NULL && places != NULL) {
        for (int w = 0; w < n && place_worker(&places[w], ctx->options.bind, w, n, pus); w++)
            ;
        ctx->places = places;
        ctx->nplaces = n;
    } else {
        free(places);                                        // unbound is slower, never wrong
    }
    free(pus);
}

void bind_free(pto_context *ctx) {
    free(ctx->places);
    ctx->places = NULL;
    ctx->nplaces = 0;
}

void bind_worker(Binding *b, const pto_context *ctx, int worker) {
    b->bound = worker < ctx->nplaces && CPU_COUNT(&ctx->places[worker]) > 0
        && sched_getaffinity(0, sizeof b->before, &b->before) == 0
        && sched_setaffinity(0, sizeof ctx->places[worker], &ctx->places[worker]) == 0;
}

void bind_restore(const Binding *b) {
    if (b->bound)
        (void)sched_setaffinity(0, sizeof b->before, &b->before);
}
