// The context behind pto_context, and what the runtime's files share about it.
//
// A context is idle or in one kernel call (`busy`). What a call uses is kept for the next one: the workspace and the
// wave counters; so a context that has seen its largest call allocates no more. Fields under "call" are written by the
// calling thread while no region runs; fields under "lock" by any thread that holds it.
#ifndef PTORT_CONTEXT_H
#define PTORT_CONTEXT_H

#include "ptort.h"
#include "workspace.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { TEXT_SIZE = 512 };

typedef struct Fault {
    _Atomic uint64_t rank;           // a coarse order of (site, region, task); lower wins; UINT64_MAX: none
    pto_status status;
    int site;
    int64_t region, task, value, bound;
    char text[TEXT_SIZE / 2];
} Fault;

// Counters and queue of wave regions; all zero between regions.
typedef struct WaveMemory {
    int64_t tasks;                   // room
    _Atomic uint16_t *done;          // per task: how many of those it waits for are done
    _Atomic uint32_t *queue;         // ready tasks + 1; 0: not filled
} WaveMemory;

struct pto_context {
    // options, fixed
    pto_options options;
    int threads;                     // workers at most, from options and environment
    int cores;                       // that the machine leaves to this process
    bool threads_given;              // by option or PTO_NUM_THREADS, not by the machine
    char refusal[TEXT_SIZE];         // why every call is refused; "" if none is

    Memory memory;                   // where all but the context itself comes from

    // the host application's pool, or NULL
    pto_parallel_for host;
    void *host_user;
    int host_workers;
    atomic_bool *host_claims;        // host_workers of them

    pto_recorder recorder;           // NULL: none
    void *recorder_user;

    // call
    atomic_bool busy;
    bool temporary;
    const char *kernel;
    int workers;
    bool running;                    // a region runs
    int64_t region;                  // its number within the call
    Workspace workspace;
    WaveMemory wave;
    struct pto_model *model;         // of an accelerator: options, totals; NULL until something asks for it
    int nplaces;                     // options.bind: for how many workers `places` is
    cpu_set_t *places;               // one per worker; an empty set does not bind

    // lock
    pthread_mutex_t lock;            // error, fault, log lines
    char error[TEXT_SIZE];
    Fault fault;

    // sleeping workers of a wave
    pthread_mutex_t sleep_lock;
    pthread_cond_t sleep;
};

// Which task this thread runs, for the order of faults. The only thread-local state but pto_context_error(NULL)'s text:
// pto_fault has no worker argument, so that emitted C need not carry one through its inner loops.
typedef struct Place {
    const pto_context *ctx;
    int64_t task;
} Place;
extern _Thread_local Place place;

void fault_clear(Fault *f);
pto_status fault_settle(pto_context *ctx, pto_status status);                 // the fault if there was one, else status
void context_record(pto_context *ctx, pto_status status, const char *text);   // NULL: per thread; truncates
void thread_record(const char *text);                                         // for pto_context_error(NULL)
void wave_free(pto_context *ctx);
void model_free(pto_context *ctx);
bool model_move(pto_context *ctx, const Memory *to);                          // false: no memory there, nothing has changed
void model_enter(pto_context *ctx);                                           // a kernel call begins

#endif
