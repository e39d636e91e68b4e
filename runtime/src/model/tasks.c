// Tasks and where they go: residents (the places that tasks run at), their shares of the memories, and who gets which task.
//
// Memories are divided once, before the first task: by the residents of a core, cluster or the chip. What would not fit is
// not resident: it queues. Tasks without offsets are ready in the order of their numbers; with offsets, when the last task before
// them has ended. The resident that has been free the longest takes the next one (ties: core, then place).
//
// Test: tests/unit/test_model.c
#include "state.h"

#include <string.h>

int64_t task_number(const Launch *L, const int64_t *tile) {
    int64_t n = 0;
    for (int d = 0; d < GRID_DIMS; d++)
        n = n * L->tasks.count[d] + tile[d];
    return n;
}

void task_tile(const Launch *L, int64_t task, int64_t *tile) {
    for (int d = GRID_DIMS - 1; d >= 0; d--) {
        tile[d] = task % L->tasks.count[d];
        task /= L->tasks.count[d];
    }
}

// ---- shares ---------------------------------------------------------------------------------------------------------------

// Place k is on core k % cores of the order "cluster by cluster, one core each".
static int core_of(const Launch *L, int k) {
    int c = k % L->ncores;
    return c % L->machine->clusters * L->machine->cores + c / L->machine->clusters;
}

// The most places of `n` that share one memory.
static int sharers(const Launch *L, pto_shared shared, int n) {
    if (shared == PTO_SHARED_CHIP)
        return n;
    int groups = shared == PTO_SHARED_CORE ? L->ncores : L->machine->clusters;
    return n / groups + (n % groups != 0);
}

// The first memory of which `n` tasks at once need more than there is, or -1.
static int too_small(const Launch *L, int n) {
    for (int m = 1; m < L->machine->nmemories; m++) {
        const pto_memory *p = &L->machine->memory[m];
        if (!p->backing && L->need[m] > p->bytes / sharers(L, p->shared, n) / 64 * 64)
            return m;
    }
    return -1;
}

static bool count_residents(Launch *L) {
    int64_t n = L->l->grid.max_workers > 0 ? L->l->grid.max_workers : L->ncores;
    L->nresidents = (int)least(n, L->tasks.total);
    while (L->nresidents > 1 && too_small(L, L->nresidents) >= 0)
        L->nresidents--;
    int m = too_small(L, L->nresidents);
    if (m < 0)
        return true;
    return model_fault(L, "memory", NULL, "a task needs %lld bytes of %s, which has %lld", (long long)L->need[m], L->machine->memory[m].name,
                       (long long)L->machine->memory[m].bytes);
}

static bool resident_memory(Launch *L, Resident *r, int m) {
    int64_t bytes = L->need[m], granules = ceil_div(bytes, GRANULE);
    if (m == 0 || bytes == 0 || L->machine->memory[m].backing)
        return true;
    r->shadow[m].state = launch_alloc(L, (size_t)granules, sizeof *r->shadow[m].state);
    if (r->shadow[m].state == NULL || !segments_new(L, &r->shadow[m].segments, granules))
        return false;
    if (!L->values)
        return true;
    uint8_t *room = launch_alloc(L, (size_t)bytes + 64, 1);
    if (room == NULL)
        return false;
    r->bytes[m] = room + (-(uintptr_t)room & 63);
    memset(r->bytes[m], 0xA5, (size_t)bytes);
    return true;
}

static bool resident_tokens(Launch *L, Resident *r) {
    r->tokens = launch_alloc(L, (size_t)L->program->ntokens + 1, sizeof *r->tokens);
    if (r->tokens == NULL)
        return false;
    for (int k = 0; k < L->program->ntokens; k++)
        if ((r->tokens[k].clock = launch_alloc(L, (size_t)L->program->tokens[k].depth, sizeof *r->tokens[k].clock)) == NULL)
            return false;
    return true;
}

static bool resident_new(Launch *L, int k) {
    Resident *r = &L->residents[k], **last;
    r->core = core_of(L, k);
    r->cluster = r->core / L->machine->cores;
    for (last = &L->on_core[r->core]; *last != NULL; last = &(*last)->neighbour)
        r->number++;
    *last = r;
    for (int m = 0; m < L->machine->nmemories; m++)
        if (!resident_memory(L, r, m))
            return false;
    return resident_tokens(L, r) && heap_push(L, &L->tasks.free, (Event){.cycle = L->begin, .core = r->core, .slot = r->number, .what = r});
}

// ---- the grid -------------------------------------------------------------------------------------------------------------

static bool positive(const int64_t *offset, int rank) {
    for (int d = 0; d < rank; d++)
        if (offset[d] != 0)
            return offset[d] > 0;
    return false;
}

static bool count_tasks(Launch *L) {
    const pto_grid *g = &L->l->grid;
    Tasks *t = &L->tasks;
    if (g->rank < 1 || g->rank > GRID_DIMS || g->noffsets < 0 || (g->noffsets > 0 && g->offsets == NULL) || g->max_workers < 0)
        return model_refuse(L, "its grid has rank %d, %d offsets, %d workers", g->rank, g->noffsets, g->max_workers);
    for (int k = 0; k < g->noffsets; k++)
        if (!positive(g->offsets[k], g->rank))
            return model_refuse(L, "offset %d of its grid is not lexicographically positive", k);
    t->total = 1;
    for (int d = 0; d < GRID_DIMS; d++) {
        t->count[d] = d < g->rank ? g->count[d] : 1;
        if (t->count[d] < 0)
            return model_refuse(L, "its grid has a negative count");
        t->total = bounded_mul(t->total, t->count[d]);
    }
    return t->total < MOST_NUMBER || model_refuse(L, "its grid has too many tasks");
}

static bool make_ready(Launch *L, int64_t task) { return heap_push(L, &L->tasks.ready, (Event){.cycle = L->now, .serial = task}); }

// The neighbour of a task by an offset, `sign` times; -1: outside of the grid.
static int64_t neighbour(const Launch *L, const int64_t *tile, int k, int sign) {
    int64_t at[GRID_DIMS] = {0};
    for (int d = 0; d < L->l->grid.rank; d++) {
        at[d] = wrap_add(tile[d], wrap_mul(sign, L->l->grid.offsets[k][d]));
        if (at[d] < 0 || at[d] >= L->tasks.count[d])
            return -1;
    }
    return task_number(L, at);
}

static bool count_missing(Launch *L) {
    Tasks *t = &L->tasks;
    if (L->l->grid.noffsets == 0)
        return true;
    t->missing = launch_alloc(L, (size_t)t->total, sizeof *t->missing);
    if (t->missing == NULL)
        return false;
    for (int64_t task = 0; task < t->total; task++) {
        int64_t tile[GRID_DIMS];
        task_tile(L, task, tile);
        for (int k = 0; k < L->l->grid.noffsets; k++)
            t->missing[task] += neighbour(L, tile, k, -1) >= 0;
        if (t->missing[task] == 0 && !make_ready(L, task))
            return false;
    }
    return true;
}

bool tasks_new(Launch *L) {
    L->ncores = L->machine->clusters * L->machine->cores;
    if (!count_tasks(L))
        return false;
    if (L->tasks.total == 0)
        return true;
    if (!count_residents(L) || !count_missing(L))
        return false;
    L->residents = launch_alloc(L, (size_t)L->nresidents, sizeof *L->residents);
    L->on_core = launch_alloc(L, (size_t)L->ncores, sizeof *L->on_core);
    if (L->residents == NULL || L->on_core == NULL)
        return false;
    for (int k = 0; k < L->nresidents; k++)
        if (!resident_new(L, k))
            return false;
    return true;
}

void tasks_free(Launch *L) {
    for (int k = 0; L->residents != NULL && k < L->nresidents; k++)
        for (int s = 0; s < PTO_SLOTS; s++)
            mem_free(&L->ctx->memory, L->residents[k].history[s]);
    mem_free(&L->ctx->memory, L->tasks.ready.at);
    mem_free(&L->ctx->memory, L->tasks.free.at);
}

// ---- dispatch -------------------------------------------------------------------------------------------------------------

static bool next_task(Launch *L, int64_t *task) {
    Tasks *t = &L->tasks;
    if (L->l->grid.noffsets > 0) {
        if (t->ready.count == 0)
            return false;
        *task = heap_pop(&t->ready).serial;
        return true;
    }
    if (t->handed == t->total)
        return false;
    *task = t->handed++;
    return true;
}

bool tasks_dispatch(Launch *L) {
    int64_t task;
    while (L->tasks.free.count > 0 && next_task(L, &task)) {
        Resident *r = heap_pop(&L->tasks.free).what;
        r->task = task;
        task_tile(L, task, r->tile);
        r->running = true;
        r->handed = L->now;
        r->begun = L->now + L->machine->dispatch;
        if (!sequence_begin(L, r))
            return false;
    }
    return true;
}

bool tasks_end(Launch *L, Resident *r) {
    Tasks *t = &L->tasks;
    count_task(L, r);
    r->running = false;
    t->ended++;
    for (int k = 0; k < L->l->grid.noffsets; k++) {
        int64_t after = neighbour(L, r->tile, k, 1);
        if (after >= 0 && --t->missing[after] == 0 && !make_ready(L, after))
            return false;
    }
    return heap_push(L, &t->free, (Event){.cycle = L->now, .core = r->core, .slot = r->number, .what = r}) &&
           engine_push(L, L->now, HAPPENS_DISPATCH, 0, 0, NULL);
}
