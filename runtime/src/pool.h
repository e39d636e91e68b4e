// Where workers come from: OpenMP, the host application's pool, or the caller alone.
//
// A pool runs body(arg, worker, team) for workers 0..team-1, each number at most once and never two bodies with the same
// number; team <= n is the same for all. What the caller wrote before is visible to the bodies, what they wrote to the
// caller afterwards. Bodies never rely on each other to be started: one body alone can finish everything.
#ifndef PTORT_POOL_H
#define PTORT_POOL_H

#include "context.h"

typedef void (*PoolBody)(void *arg, int worker, int team);

int pool_workers(const pto_context *ctx);                    // as many as a region that began now would ask for at most
void pool_run(pto_context *ctx, int n, PoolBody body, void *arg);   // n >= 1; afterwards call body for what was not run

bool pool_openmp_built(void);
int pool_openmp_limit(void);                                 // threads that a region of this thread can get at most
int pool_openmp_default(void);                               // omp_get_max_threads
int pool_openmp_procs(void);                                 // processors that it found when it started
void pool_openmp_run(int n, PoolBody body, void *arg);
void pool_host_run(pto_context *ctx, int n, PoolBody body, void *arg);

#endif
