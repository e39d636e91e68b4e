// Wave: each task starts as soon as the tasks it waits for are done; no barrier.
//
// Per task a counter of those that are done. The worker that finishes the last one makes the task ready: it goes on with
// the first such task itself (its data is warm) and queues the others. Tasks that wait for nothing are found by scanning
// the grid in pieces, which workers without a ready task take. A counter goes back to 0 when its task is made ready and a
// queue entry when it is popped, so that the memory is all zero again for the next region and needs no clearing.
//
// The queue is as long as the grid and each task enters it at most once: pushing takes a number and fills that entry;
// popping reads the entry at the head and, if it is filled, tries to move the head past it. An entry that is taken but not
// yet filled looks like an empty queue for a moment; the pusher then wakes whoever fell asleep.
//
// Sleep: a worker counts itself in `sleepers` and then looks once more, under the lock; a pusher fills the entry and then
// looks at `sleepers`. All four are sequentially consistent, so one of them sees the other. Nobody waits for a body that
// has not begun: what is not ready depends on a task that some worker runs now.
//
// Test: tests/unit/test_runtime_run.c

#include "run.h"

#include <sched.h>

enum { SCAN_PIECE = 256, YIELDS = 32, SPINS = 1000, SPINS_CROWDED = 10 };

// ---- memory ---------------------------------------------------------------------------------------------------------

void wave_free(pto_context *ctx) {
    WaveMemory *m = &ctx->wave;
    mem_free(&ctx->memory, m->done);
    mem_free(&ctx->memory, m->queue);
    *m = (WaveMemory){0};
}

bool wave_begin(Region *r) {
    WaveMemory *m = &r->ctx->wave;
    if (r->tasks >= UINT32_MAX)
        return false;
    if (r->tasks > m->tasks) {
        wave_free(r->ctx);
        m->done = mem_new(&r->ctx->memory, (size_t)r->tasks, sizeof *m->done);
        m->queue = mem_new(&r->ctx->memory, (size_t)r->tasks, sizeof *m->queue);
        if (m->done == NULL || m->queue == NULL) {
            wave_free(r->ctx);
            return false;
        }
        m->tasks = r->tasks;
    }
    r->wave.done = m->done;
    r->wave.queue = m->queue;
    r->wave.spins = r->workers <= r->ctx->cores ? SPINS : SPINS_CROWDED;
    return true;
}

// ---- the grid -------------------------------------------------------------------------------------------------------

// Does index + sign * offset lie in the grid?
static bool neighbour(const Region *r, const int64_t *index, const int64_t *offset, int sign, int64_t *out) {
    for (int d = 0; d < GRID_RANK; d++) {
        int64_t move = d < r->rank ? offset[d] : 0, at;
        bool overflow = sign > 0 ? __builtin_add_overflow(index[d], move, &at) : __builtin_sub_overflow(index[d], move, &at);
        if (overflow || at < 0 || at >= r->count[d])
            return false;
        out[d] = at;
    }
    return true;
}

static int waits_for(const Region *r, const int64_t *index) {
    int64_t before[GRID_RANK];
    int n = 0;
    for (int k = 0; k < r->noffsets; k++)
        n += neighbour(r, index, r->offsets[k], -1, before);
    return n;
}

static int64_t task_number(const Region *r, const int64_t *index) {
    int64_t t = 0;
    for (int d = 0; d < GRID_RANK; d++)
        t = t * r->count[d] + index[d];
    return t;
}

// ---- the queue's front ----------------------------------------------------------------------------------------------

// The entry at the head, 0 if there is none; *head is where it was. An entry is cleared after the head has moved past it,
// so a 0 under a head that still stands is really empty.
static uint32_t front(Region *r, int64_t *head) {
    Wave *w = &r->wave;
    *head = atomic_load(&w->head);
    while (*head < r->tasks) {
        uint32_t entry = atomic_load(&w->queue[*head]);
        int64_t now = entry == 0 ? atomic_load(&w->head) : *head;
        if (now == *head)
            return entry;
        *head = now;
    }
    return 0;
}

// ---- sleeping -------------------------------------------------------------------------------------------------------

static void wake(Region *r, bool all) {
    if (atomic_load(&r->wave.sleepers) == 0)
        return;
    pthread_mutex_lock(&r->ctx->sleep_lock);
    if (all)
        pthread_cond_broadcast(&r->ctx->sleep);
    else
        pthread_cond_signal(&r->ctx->sleep);
    pthread_mutex_unlock(&r->ctx->sleep_lock);
}

static bool something_to_do(Region *r) {
    int64_t head;
    return atomic_load(&r->wave.finished) == r->tasks || front(r, &head) != 0;
}

static void cpu_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

static void look_for_work(Region *r) {
    for (int i = 0; i < r->wave.spins; i++, cpu_relax())
        if (something_to_do(r))
            return;
    for (int i = 0; i < YIELDS; i++, sched_yield())
        if (something_to_do(r))
            return;
    pthread_mutex_lock(&r->ctx->sleep_lock);
    atomic_fetch_add(&r->wave.sleepers, 1);
    while (!something_to_do(r))
        pthread_cond_wait(&r->ctx->sleep, &r->ctx->sleep_lock);
    atomic_fetch_sub(&r->wave.sleepers, 1);
    pthread_mutex_unlock(&r->ctx->sleep_lock);
}

static void wait_for_work(Region *r, int worker) {
    int64_t begin = record_begin(r);
    look_for_work(r);
    record_end(r, PTO_RECORD_WAIT, worker, -1, begin);
}

// ---- pushing and popping --------------------------------------------------------------------------------------------

static void push(Region *r, int64_t task) {
    int64_t at = atomic_fetch_add_explicit(&r->wave.tail, 1, memory_order_relaxed);
    atomic_store(&r->wave.queue[at], (uint32_t)(task + 1));
    wake(r, false);
}

static bool pop(Region *r, int64_t *task) {
    Wave *w = &r->wave;
    int64_t head;
    for (;;) {
        uint32_t entry = front(r, &head);
        if (entry == 0)
            return false;
        if (atomic_compare_exchange_weak(&w->head, &head, head + 1)) {
            atomic_store_explicit(&w->queue[head], 0, memory_order_release);
            *task = entry - 1;
            return true;
        }
    }
}

// Looks at the next piece of the grid for tasks that wait for nothing; false if there is no piece left.
static bool scan(Region *r) {
    int64_t begin = atomic_load_explicit(&r->wave.scanned, memory_order_relaxed);
    if (begin >= r->tasks)
        return false;
    begin = atomic_fetch_add_explicit(&r->wave.scanned, SCAN_PIECE, memory_order_relaxed);
    for (int64_t t = begin; t < r->tasks && t < begin + SCAN_PIECE; t++) {
        int64_t index[GRID_RANK];
        region_index(r, t, index);
        if (waits_for(r, index) == 0)
            push(r, t);
    }
    return begin < r->tasks;
}

// ---- a worker -------------------------------------------------------------------------------------------------------

// Counts the task at `index` as done for those that wait for it. Returns true with the first one that is ready now.
static bool release(Region *r, int64_t *task, int64_t *index) {
    int64_t next[GRID_RANK], after[GRID_RANK];
    bool found = false;
    for (int k = 0; k < r->noffsets; k++) {
        if (!neighbour(r, index, r->offsets[k], 1, after))
            continue;
        int64_t t = task_number(r, after);
        int done = atomic_fetch_add_explicit(&r->wave.done[t], 1, memory_order_acq_rel) + 1;
        if (done < waits_for(r, after))
            continue;
        atomic_store_explicit(&r->wave.done[t], 0, memory_order_relaxed);
        if (found) {
            push(r, t);
        } else {
            found = true;
            *task = t;
            for (int d = 0; d < GRID_RANK; d++)
                next[d] = after[d];
        }
    }
    for (int d = 0; found && d < GRID_RANK; d++)
        index[d] = next[d];
    return found;
}

// Runs a ready task and those that become ready along it; returns how many.
static int64_t run_along(Region *r, int worker, int64_t task) {
    int64_t index[GRID_RANK], n = 0;
    region_index(r, task, index);
    do {
        region_run_one(r, worker, task, index);
        n++;
    } while (release(r, &task, index));
    return n;
}

void run_wave(Region *r, int worker) {
    int64_t task, finished = 0;                              // finished: by this worker and not yet told
    for (;;) {
        if (pop(r, &task)) {
            finished += run_along(r, worker, task);
            continue;
        }
        if (scan(r))
            continue;
        if (finished > 0 && atomic_fetch_add(&r->wave.finished, finished) + finished == r->tasks)
            wake(r, true);
        finished = 0;
        if (atomic_load(&r->wave.finished) == r->tasks)
            return;
        wait_for_work(r, worker);
    }
}
