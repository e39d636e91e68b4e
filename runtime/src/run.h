// One parallel region: how pto_run and the modes share it.
//
// Tasks are numbered in lexicographic order of their index. pto_run checks the grid and fills a Region in; each mode's
// function is what one worker does, and ends when there is nothing left for that worker.
#ifndef PTORT_RUN_H
#define PTORT_RUN_H

#include "context.h"

enum { GRID_RANK = 4 };

typedef struct Wave {
    _Atomic uint16_t *done;                  // per task; back to 0 when the task is ready
    _Atomic uint32_t *queue;                 // `tail` entries were taken by pushers, `head` by poppers
    _Atomic int64_t head, tail;
    _Atomic int64_t scanned;                 // tasks looked at for those that wait for nothing
    _Atomic int64_t finished;
    atomic_int sleepers;
    int spins;                               // before a worker sleeps
} Wave;

typedef struct Region {
    pto_context *ctx;
    pto_task task;
    void *frame;
    int64_t count[GRID_RANK];                // 1 beyond the grid's rank
    int64_t tasks;
    int noffsets;
    const int64_t (*offsets)[GRID_RANK];     // entries beyond the grid's rank are not looked at: see `rank`
    int rank;
    pto_mode mode;                           // never AUTO
    int workers;                             // to ask the pool for
    int64_t chunk;                           // tasks taken at once in DYNAMIC
    const pto_grid *grid;                    // for records
    _Atomic int64_t next;                    // first task not taken in DYNAMIC
    Wave wave;
} Region;

void region_index(const Region *r, int64_t task, int64_t index[GRID_RANK]);
void region_run(const Region *r, int worker, int64_t begin, int64_t end);    // tasks begin..end-1 in order
void region_run_one(const Region *r, int worker, int64_t task, const int64_t index[GRID_RANK]);

// Time now if somebody records, else 0; and what it was that began then and ends now. See record.c.
int64_t record_begin(const Region *r);
void record_end(const Region *r, pto_record_kind kind, int worker, int64_t task, int64_t begin);

void run_static(const Region *r, int worker, int team);
void run_dynamic(Region *r, int worker);
void run_wave(Region *r, int worker);

bool wave_begin(Region *r);                  // takes the context's wave memory; false: no memory, or too many tasks

// The tasks of worker `worker` of `team`: contiguous, sizes differ by at most one.
static inline int64_t static_begin(int64_t tasks, int worker, int team) {
    int64_t each = tasks / team, more = tasks % team;
    return each * worker + (worker < more ? worker : more);
}

#endif
