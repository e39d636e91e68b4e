// Where a worker's thread runs while it serves a region.
#ifndef PTORT_BIND_H
#define PTORT_BIND_H

#include "context.h"

#include <sched.h>

typedef struct Binding {
    bool bound;
    cpu_set_t before;
} Binding;

void bind_prepare(pto_context *ctx);         // before a region: works the places out, once per number of workers
// Binds the calling thread as the context's options say; bind_restore undoes it, because the thread is somebody else's.
void bind_worker(Binding *b, const pto_context *ctx, int worker);
void bind_restore(const Binding *b);
void bind_free(pto_context *ctx);

#endif
