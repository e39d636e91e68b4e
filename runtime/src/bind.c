// Binding of workers to NUMA nodes or cores, when the options ask for it.
//
// The threads belong to OpenMP or to the host, so each is bound for the length of a region and then gets its old set
// back. Widening a thread's set does not move it: in the next region it is where it was.
//
// Test: tests/unit/test_runtime_topology.c

#include "bind.h"

#include <hwloc.h>

static void place_worker(hwloc_topology_t t, cpu_set_t *set, pto_bind bind, int worker, int workers) {
    int pus[CPU_SETSIZE];
    int n = pto_topology_place(t, bind, worker, workers, pus, CPU_SETSIZE);
    for (int i = 0; i < n && i < CPU_SETSIZE; i++)
        if (pus[i] < CPU_SETSIZE)
            CPU_SET(pus[i], set);
}

// Sets stay empty where the machine cannot be read: unbound is slower, never wrong.
static void place_workers(cpu_set_t *places, pto_bind bind, int workers) {
    hwloc_topology_t t;
    if (hwloc_topology_init(&t) != 0)
        return;
    bool loaded = hwloc_topology_load(t) == 0;
    for (int w = 0; loaded && w < workers; w++)
        place_worker(t, &places[w], bind, w, workers);
    hwloc_topology_destroy(t);
}

void bind_prepare(pto_context *ctx) {
    if (ctx->options.bind == PTO_BIND_NONE || ctx->nplaces == ctx->workers)
        return;
    bind_free(ctx);
    ctx->places = mem_new(&ctx->memory, (size_t)ctx->workers, sizeof *ctx->places);
    if (ctx->places == NULL)
        return;
    ctx->nplaces = ctx->workers;
    place_workers(ctx->places, ctx->options.bind, ctx->workers);
}

void bind_free(pto_context *ctx) {
    mem_free(&ctx->memory, ctx->places);
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
