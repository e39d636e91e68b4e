// pto_launch_bundles: one launch from its tables to its totals. What a call keeps from launch to launch (the clock, where
// tensors are, totals) is in the context; all else lives in memory that the end of the launch frees.
//
// Test: tests/unit/test_model.c
#include "state.h"

#include <stdlib.h>
#include <string.h>

struct Block { Block *next; _Alignas(max_align_t) unsigned char bytes[]; };

void *launch_alloc(Launch *L, size_t count, size_t bytes) {
    size_t size;
    Block *b = NULL;
    if (!__builtin_mul_overflow(count, bytes, &size) && size < SIZE_MAX / 2)
        b = mem_new(&L->ctx->memory, 1, sizeof *b + size + (size == 0));
    if (b == NULL) {
        if (L->status == PTO_OK)
            L->status = pto_error(L->ctx, PTO_ERR_MEMORY, "no memory for the model");
        return NULL;
    }
    b->next = L->blocks;
    L->blocks = b;
    return b->bytes;
}

bool launch_grow(Launch *L, void *pointer, size_t *room, size_t count, size_t bytes) {
    if (count <= *room)
        return true;
    void *old;
    memcpy(&old, pointer, sizeof old);
    size_t want = count < 16 ? 16 : count + count / 2;
    void *p = want < SIZE_MAX / 2 / bytes ? mem_resize(&L->ctx->memory, old, want * bytes) : NULL;
    if (p == NULL) {
        if (L->status == PTO_OK)
            L->status = pto_error(L->ctx, PTO_ERR_MEMORY, "no memory for the model");
        return false;
    }
    memcpy(pointer, &p, sizeof p);
    *room = want;
    return true;
}

static void launch_free(Launch *L) {
    engine_free(L);
    tasks_free(L);
    order_free(L);
    mem_free(&L->ctx->memory, L->room);
    for (Block *b = L->blocks; b != NULL;) {
        Block *next = b->next;
        mem_free(&L->ctx->memory, b);
        b = next;
    }
}

// ---- the context's model --------------------------------------------------------------------------------------------------

static struct pto_model *model_of(pto_context *ctx) {
    if (ctx->model == NULL)
        ctx->model = mem_new(&ctx->memory, 1, sizeof *ctx->model);
    return ctx->model;
}

// All that it keeps from launch to launch.
static void model_clear(pto_context *ctx) {
    struct pto_model *m = ctx->model;
    written_reset(ctx);
    mem_free(&ctx->memory, m->written);
    mem_free(&ctx->memory, m->home);
    m->written = NULL;
    m->home = NULL;
    m->written_room = m->homes_room = m->nhomes = 0;
}

void model_free(pto_context *ctx) {
    if (ctx->model != NULL)
        model_clear(ctx);
    mem_free(&ctx->memory, ctx->model);
    ctx->model = NULL;
}

bool model_move(pto_context *ctx, const Memory *to) {
    if (ctx->model == NULL)
        return true;
    struct pto_model *m = mem_new(to, 1, sizeof *m);
    if (m == NULL)
        return false;
    model_clear(ctx);
    *m = *ctx->model;
    mem_free(&ctx->memory, ctx->model);
    ctx->model = m;
    return true;
}

void model_enter(pto_context *ctx) {
    if (ctx->model != NULL) {
        ctx->model->launched = false;
        written_reset(ctx);
    }
}

pto_status pto_context_model(pto_context *ctx, const pto_model_options *options) {
    if (ctx == NULL)
        return pto_error(NULL, PTO_ERR_NULL, "pto_context_model: no context");
    if (atomic_load_explicit(&ctx->busy, memory_order_acquire))
        return pto_error(NULL, PTO_ERR_BUSY, "the context is in use by another call");
    struct pto_model *m = model_of(ctx);
    if (m == NULL)
        return pto_error(ctx, PTO_ERR_MEMORY, "no memory for the model");
    m->options = options != NULL ? *options : (pto_model_options){0};
    return PTO_OK;
}

pto_status pto_model_totals_of(const pto_context *ctx, pto_model_totals *totals) {
    if (ctx == NULL || totals == NULL || ctx->model == NULL || !ctx->model->counted)
        return PTO_ERR_ARGUMENT;
    *totals = ctx->model->totals;
    return PTO_OK;
}

static void call_begin(struct pto_model *m) {
    if (m->launched)
        return;
    m->launched = m->counted = true;
    m->totals = (pto_model_totals){0};
    m->clock = 0;
    m->nhomes = 0;
    memset(m->used, 0, sizeof m->used);
}

// ---- a launch -------------------------------------------------------------------------------------------------------------

static bool launch_run(Launch *L) {
    if (!model_resolve(L) || !tasks_new(L))
        return false;
    if (L->tasks.total == 0)
        return true;
    if (!order_new(L) || !engine_new(L) || !engine_run(L))
        return false;
    written_add(L);
    return true;
}

static pto_status launch_check(pto_context *ctx, const pto_launch *l) {
    if (ctx == NULL || ctx->kernel == NULL)
        return pto_error(ctx, PTO_ERR_ARGUMENT, "pto_launch_bundles outside pto_enter and pto_leave");
    if (ctx->running)
        return pto_error(ctx, PTO_ERR_BUSY, "pto_launch_bundles from a task of the same context");
    if (l == NULL || l->machine == NULL || l->program == NULL || l->program->name == NULL || l->machine->name == NULL)
        return pto_error(ctx, PTO_ERR_ARGUMENT, "a launch without machine, program or their names");
    if (model_of(ctx) == NULL)
        return pto_error(ctx, PTO_ERR_MEMORY, "no memory for the model");
    return PTO_OK;
}

pto_status pto_launch_bundles(pto_context *ctx, const pto_launch *l) {
    pto_status status = launch_check(ctx, l);
    if (status != PTO_OK)
        return status;
    struct pto_model *m = ctx->model;
    call_begin(m);
    Launch L = {.model = m, .ctx = ctx, .l = l, .machine = l->machine, .program = l->program, .values = !m->options.timing_only, .unchecked = m->options.unchecked};
    L.random = m->options.jitter;
    L.most_cycles = least(m->options.max_cycles > 0 ? m->options.max_cycles : PTO_MAX_CYCLES, MOST_NUMBER - 1);
    L.begin = L.now = L.end = m->clock;
    m->launch = &L;
    ctx->running = true;
    Place outer = place;
    place = (Place){.ctx = ctx, .task = -1};
    if (launch_run(&L))
        count_launch(&L);
    place = outer;
    ctx->running = false;
    ctx->region++;
    m->launch = NULL;
    m->clock = m->totals.cycles = L.end;
    launch_free(&L);
    return L.status;
}
