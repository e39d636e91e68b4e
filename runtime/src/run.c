// pto_run: checks a grid, resolves its mode, and hands one body per worker to the pool.
//
// Correctness never depends on how many bodies the pool runs: a static range belongs to a member of the team that really
// exists, and in the other modes any one body would finish all tasks.
//
// Test: tests/unit/test_runtime_run.c

#include "run.h"

#include "bind.h"
#include "pool.h"

// ---- tasks ----------------------------------------------------------------------------------------------------------

void region_index(const Region *r, int64_t task, int64_t index[GRID_RANK]) {
    for (int d = GRID_RANK - 1; d >= 0; d--) {
        index[d] = task % r->count[d];
        task /= r->count[d];
    }
}

static void index_next(const Region *r, int64_t index[GRID_RANK]) {
    for (int d = GRID_RANK - 1; d >= 0 && ++index[d] == r->count[d]; d--)
        index[d] = 0;
}

void region_run_one(const Region *r, int worker, int64_t task, const int64_t index[GRID_RANK]) {
    place.task = task;
    if (__builtin_expect(r->ctx->recorder == NULL, true)) {
        r->task(r->frame, worker, index);
        return;
    }
    int64_t begin = record_begin(r);
    r->task(r->frame, worker, index);
    record_end(r, PTO_RECORD_TASK, worker, task, begin);
}

void region_run(const Region *r, int worker, int64_t begin, int64_t end) {
    if (begin >= end)
        return;
    int64_t index[GRID_RANK];
    region_index(r, begin, index);
    for (int64_t t = begin; t < end; t++, index_next(r, index))
        region_run_one(r, worker, t, index);
}

// ---- checking and resolving -----------------------------------------------------------------------------------------

static bool offset_positive(const int64_t *offset, int rank) {
    for (int d = 0; d < rank; d++)
        if (offset[d] != 0)
            return offset[d] > 0;
    return false;
}

static pto_status check_grid(pto_context *ctx, const pto_grid *g) {
    if (g->rank < 1 || g->rank > GRID_RANK)
        return pto_error(ctx, PTO_ERR_ARGUMENT, "grid %s has rank %d: expected 1..4", g->name, g->rank);
    if (g->noffsets < 0 || g->noffsets > UINT16_MAX)
        return pto_error(ctx, PTO_ERR_ARGUMENT, "grid %s has %d offsets", g->name, g->noffsets);
    for (int d = 0; d < g->rank; d++)
        if (g->count[d] < 0)
            return pto_error(ctx, PTO_ERR_ARGUMENT, "grid %s has a negative count", g->name);
    for (int k = 0; k < g->noffsets; k++)
        if (!offset_positive(g->offsets[k], g->rank))
            return pto_error(ctx, PTO_ERR_ARGUMENT, "grid %s: offset %d is not lexicographically positive", g->name, k);
    return PTO_OK;
}

// Fills count and tasks; false if there are more tasks than numbers.
static bool region_count(Region *r, const pto_grid *g) {
    bool empty = false, overflow = false;
    r->tasks = 1;
    for (int d = 0; d < GRID_RANK; d++) {
        r->count[d] = d < g->rank ? g->count[d] : 1;
        empty |= r->count[d] == 0;
        overflow |= __builtin_mul_overflow(r->tasks, r->count[d], &r->tasks);
    }
    if (empty)
        r->tasks = 0;
    return empty || (!overflow && r->tasks <= INT64_C(1) << 62);
}

static pto_mode resolve_mode(const pto_context *ctx, const pto_grid *g, int workers) {
    pto_mode mode = ctx->options.mode != PTO_MODE_AUTO ? ctx->options.mode : g->mode;
    if (mode == PTO_MODE_SERIAL || workers <= 1)
        return PTO_MODE_SERIAL;
    if (g->noffsets > 0)
        return PTO_MODE_WAVE;
    return mode == PTO_MODE_AUTO ? PTO_MODE_STATIC : mode == PTO_MODE_WAVE ? PTO_MODE_DYNAMIC : mode;
}

static int resolve_workers(const pto_context *ctx, const pto_grid *g, int64_t tasks) {
    int n = ctx->workers;
    if (g->max_workers > 0 && g->max_workers < n)
        n = g->max_workers;
    return tasks < n ? (int)tasks : n;
}

// Few enough takings that the counter is cheap, many enough that the last ones even out.
static int64_t dynamic_chunk(int64_t tasks, int workers) {
    int64_t chunk = tasks / ((int64_t)workers * 32);
    return chunk < 1 ? 1 : chunk > 64 ? 64 : chunk;
}

// ---- running --------------------------------------------------------------------------------------------------------

static void region_body(void *arg, int worker, int team) {
    Region *r = arg;
    Place outer = place;
    Binding binding;
    place = (Place){.ctx = r->ctx, .task = -1};
    bind_worker(&binding, r->ctx, worker);
    int64_t begin = record_begin(r);
    switch (r->mode) {
    case PTO_MODE_STATIC: run_static(r, worker, team); break;
    case PTO_MODE_DYNAMIC: run_dynamic(r, worker); break;
    case PTO_MODE_WAVE: run_wave(r, worker); break;
    case PTO_MODE_AUTO:
    case PTO_MODE_SERIAL: region_run(r, worker, 0, r->tasks); break;
    }
    record_end(r, PTO_RECORD_WORKER, worker, -1, begin);
    bind_restore(&binding);
    place = outer;
}

void run_static(const Region *r, int worker, int team) {
    region_run(r, worker, static_begin(r->tasks, worker, team), static_begin(r->tasks, worker + 1, team));
}

void run_dynamic(Region *r, int worker) {
    for (;;) {
        int64_t begin = atomic_fetch_add_explicit(&r->next, r->chunk, memory_order_relaxed);
        if (begin >= r->tasks)
            return;
        region_run(r, worker, begin, r->tasks - begin < r->chunk ? r->tasks : begin + r->chunk);
    }
}

pto_status pto_run(pto_context *ctx, const pto_grid *grid, pto_task task, void *frame) {
    if (ctx == NULL || ctx->kernel == NULL)
        return pto_error(ctx, PTO_ERR_ARGUMENT, "pto_run outside pto_enter and pto_leave");
    if (grid == NULL || task == NULL || (grid->noffsets > 0 && grid->offsets == NULL))
        return pto_error(ctx, PTO_ERR_NULL, "the grid, its task or its offsets are NULL");
    if (ctx->running)
        return pto_error(ctx, PTO_ERR_BUSY, "pto_run from a task of the same context");
    pto_status status = check_grid(ctx, grid);
    if (status != PTO_OK)
        return status;
    Region r = {.ctx = ctx, .grid = grid, .task = task, .frame = frame, .rank = grid->rank, .noffsets = grid->noffsets, .offsets = grid->offsets};
    if (!region_count(&r, grid))
        return pto_error(ctx, PTO_ERR_ARGUMENT, "grid %s has too many tasks", grid->name);
    if (r.tasks == 0)
        return PTO_OK;
    r.workers = resolve_workers(ctx, grid, r.tasks);
    r.mode = resolve_mode(ctx, grid, r.workers);
    r.chunk = dynamic_chunk(r.tasks, r.workers);
    if (r.mode == PTO_MODE_WAVE && !wave_begin(&r))
        r.mode = PTO_MODE_SERIAL;                            // slower, never wrong
    ctx->running = true;
    bind_prepare(ctx);
    int64_t begin = record_begin(&r);
    if (r.mode == PTO_MODE_SERIAL)
        region_body(&r, 0, 1);
    else
        pool_run(ctx, r.workers, region_body, &r);
    record_end(&r, PTO_RECORD_REGION, 0, -1, begin);
    ctx->running = false;
    ctx->region++;
    return PTO_OK;
}
