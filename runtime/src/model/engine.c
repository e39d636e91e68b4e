// Units and paths in time: one queue of events, one host thread, so the same program takes the same cycles everywhere.
//
// A unit works on one operation after the other, in the order of issue. What computes stays for its cycles; a transfer asks
// for its path when it is at the head of the unit and stays until the path is through with it. An operation has its effect
// when it starts (a transfer: when the path is granted), completes some cycles after it left, never before an earlier one of its
// unit, and signals then. A path serves whole transfers: lowest (cycle of the request, core, slot) first; grants of a
// cycle come after all that can ask in it.
//
// Test: tests/unit/test_model.c
#include "state.h"


bool engine_push(Launch *L, int64_t cycle, Happening kind, int core, int slot, void *what) {
    if (cycle > L->most_cycles)
        return model_fault(L, "limit", NULL, "the program takes more than %lld cycles", (long long)L->most_cycles);
    return heap_push(L, &L->events, (Event){.cycle = cycle, .kind = (int)kind, .core = core, .slot = slot, .serial = L->serial++, .what = what});
}

// 0, or 0..100 cycles drawn with splitmix64.
static int64_t jitter(Launch *L) {
    if (L->model->options.jitter == 0)
        return 0;
    uint64_t z = L->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (int64_t)((z ^ z >> 31) % 101);
}

static int queue_of(const Launch *L, int slot) { return L->machine->unit[slot].queue; }

static Instance *unit_head(const Launch *L, Unit *u, int slot) { return &u->ring[(u->first + u->left) % queue_of(L, slot)]; }

static Line *line_of(Launch *L, int path, const Resident *r) {
    pto_shared shared = L->machine->path[path].shared;
    return &L->lines[L->line_first[path] + (shared == PTO_SHARED_CORE ? r->core : shared == PTO_SHARED_CLUSTER ? r->cluster : 0)];
}

// ---- units ----------------------------------------------------------------------------------------------------------------

static bool unit_completes(Launch *L, Instance *in, const Work *w, int64_t begin, int64_t leave, int64_t latency, int64_t operations) {
    int core = in->resident->core, slot = (int)L->ops[in->op].table->slot;
    Unit *u = unit_of(L, core, slot);
    u->complete = most(leave + latency + jitter(L), u->complete);
    count_op(L, in, w, begin, leave, u->complete, operations);
    return engine_push(L, u->complete, HAPPENS_COMPLETE, core, slot, NULL);
}

static bool unit_works(Launch *L, Instance *in, const Work *w, int64_t begin, int64_t leave, int64_t latency, int64_t operations) {
    int core = in->resident->core, slot = (int)L->ops[in->op].table->slot;
    unit_of(L, core, slot)->running = true;
    return unit_completes(L, in, w, begin, leave, latency, operations) && engine_push(L, leave, HAPPENS_LEAVE, core, slot, NULL);
}

static bool request_path(Launch *L, const Instance *in, int slot) {
    Line *line = line_of(L, L->ops[in->op].path, in->resident);
    int64_t cycle = L->now + jitter(L);
    unit_of(L, in->resident->core, slot)->running = true;
    if (!launch_grow(L, &line->request, &line->room, line->count + 1, sizeof *line->request))
        return false;
    line->request[line->count++] = (Request){.cycle = cycle, .core = in->resident->core, .slot = slot};
    return engine_push(L, most(cycle, line->free), HAPPENS_GRANT, (int)(line - L->lines), 0, line);
}

static bool start_transfer(Launch *L, Instance *in, Work *w) {
    const Op *o = &L->ops[in->op];
    if (o->table->kind == PTO_GATHER || w->bus > 0)
        return request_path(L, in, (int)o->table->slot);
    if (!order_check(L, in, w) || (L->values && !execute(L, in, w)))
        return false;
    return unit_works(L, in, w, L->now, L->now, L->machine->path[o->path].latency, 0);
}

static bool start_task(Launch *L, Instance *in, Work *w) {
    int64_t operations;
    if (!execute_task(L, in, w, &operations))
        return false;
    in->begin = L->now;
    in->leave = L->now + operations;
    if (w->bus > 0)
        return request_path(L, in, PTO_SCALAR);
    return unit_works(L, in, w, in->begin, in->leave, 0, operations);
}

static bool start_work(Launch *L, Instance *in, Work *w) {
    const pto_op *t = L->ops[in->op].table;
    switch (t->kind) {
    case PTO_COPY: case PTO_GATHER: return start_transfer(L, in, w);
    case PTO_TASK: return start_task(L, in, w);
    case PTO_MULTIPLY: case PTO_NEST: break;
    }
    int64_t leave = L->now + work_cycles(L, in, w);
    if (leave > L->most_cycles)
        return model_fault(L, "limit", in, "it ends after more than %lld cycles", (long long)L->most_cycles);
    if (!order_check(L, in, w) || (L->values && !execute(L, in, w)))
        return false;
    return unit_works(L, in, w, L->now, leave, L->machine->unit[t->slot].latency, 0);
}

// Starts what waits in the queue of a unit that is free. What is empty goes through at once.
bool unit_start(Launch *L, int core, int slot) {
    Unit *u = unit_of(L, core, slot);
    if (u->work == NULL && (u->work = launch_alloc(L, 1, sizeof *u->work)) == NULL)
        return false;
    while (!u->running && u->left < u->count) {
        Instance *in = unit_head(L, u, slot);
        if (!work_prepare(L, in, u->work))
            return false;
        if (!u->work->empty)
            return start_work(L, in, u->work);
        if (!unit_completes(L, in, u->work, L->now, L->now, 0, 0))
            return false;
        u->left++;
    }
    return true;
}

static bool unit_leaves(Launch *L, int core, int slot) {
    Unit *u = unit_of(L, core, slot);
    u->running = false;
    u->left++;
    return unit_start(L, core, slot);
}

// ---- paths ----------------------------------------------------------------------------------------------------------------

static bool request_before(const Request *a, const Request *b) {
    if (a->cycle != b->cycle)
        return a->cycle < b->cycle;
    return a->core != b->core ? a->core < b->core : a->slot < b->slot;
}

static bool take_request(Line *line, int64_t now, Request *out) {
    size_t best = line->count;
    for (size_t k = 0; k < line->count; k++)
        if (line->request[k].cycle <= now && (best == line->count || request_before(&line->request[k], &line->request[best])))
            best = k;
    if (best == line->count)
        return false;
    *out = line->request[best];
    line->request[best] = line->request[--line->count];
    return true;
}

static bool transfer_effect(Launch *L, Instance *in, Work *w) {
    if (L->ops[in->op].table->kind == PTO_GATHER && !work_gather(L, in, w))
        return false;
    return order_check(L, in, w) && (!L->values || execute(L, in, w));
}

static bool line_grant(Launch *L, Line *line) {
    Request q;
    if (line->free > L->now || !take_request(line, L->now, &q))
        return true;
    Unit *u = unit_of(L, q.core, q.slot);
    Instance *in = unit_head(L, u, q.slot);
    const Op *o = &L->ops[in->op];
    const pto_path *p = &L->machine->path[o->path];
    bool task = o->table->kind == PTO_TASK;
    if (!task && !transfer_effect(L, in, u->work))
        return false;
    line->free = L->now + ceil_div(u->work->bus, p->width);
    count_path(L, in, u->work, q.cycle, L->now, line->free);
    if (line->count > 0 && !engine_push(L, line->free, HAPPENS_GRANT, (int)(line - L->lines), 0, line))
        return false;
    if (task)
        return unit_works(L, in, u->work, in->begin, most(in->leave, line->free), p->latency, in->leave - in->begin);
    return unit_works(L, in, u->work, L->now, line->free, p->latency, 0);
}

// ---- completion -----------------------------------------------------------------------------------------------------------

static bool signal_token(Launch *L, const Instance *in, int token) {
    Token *t = &in->resident->tokens[token];
    int depth = L->program->tokens[token].depth;
    if (t->count == depth)
        return model_fault(L, "overflow", in, "signals token %d, which has %d already", token, depth);
    t->clock[(t->head + t->count++) % depth] = in->clock;
    return true;
}

// A resident may now issue: it or its neighbours wait for room, it for a token.
static bool wake(Launch *L, Resident *r) {
    for (Resident *n = L->on_core[r->core]; n != NULL; n = n->neighbour)
        if (n->stalled && (n == r || n->cause == PTO_STALL_QUEUE) && !sequence_wake(L, n))
            return false;
    return true;
}

static bool unit_complete(Launch *L, int core, int slot) {
    Unit *u = unit_of(L, core, slot);
    Instance *in = &u->ring[u->first];
    Resident *r = in->resident;
    const pto_op *t = L->ops[in->op].table;
    for (int k = 0; k < 2; k++)
        if (t->signals[k] != 0 && digits_hold(L, L->bundles[in->bundle].loop, t->signal_when[k], in->iv) && !signal_token(L, in, t->signals[k] - 1))
            return false;
    u->first = (u->first + 1) % queue_of(L, slot);
    u->count--;
    u->left--;
    r->inflight--;
    if (r->issued && r->inflight == 0)
        return engine_push(L, most(L->now, r->last), HAPPENS_END, core, r->number, r) && wake(L, r);
    return wake(L, r);
}

// ---- events ---------------------------------------------------------------------------------------------------------------

static bool happen(Launch *L, const Event *e) {
    switch ((Happening)e->kind) {
    case HAPPENS_COMPLETE: return unit_complete(L, e->core, e->slot);
    case HAPPENS_LEAVE: return unit_leaves(L, e->core, e->slot);
    case HAPPENS_ISSUE: return sequence_issue(L, e->what);
    case HAPPENS_GRANT: return line_grant(L, e->what);
    case HAPPENS_END: return tasks_end(L, e->what);
    case HAPPENS_DISPATCH: return tasks_dispatch(L);
    }
    return true;
}

bool engine_run(Launch *L) {
    if (!engine_push(L, L->begin, HAPPENS_DISPATCH, 0, 0, NULL))
        return false;
    while (L->events.count > 0) {
        Event e = heap_pop(&L->events);
        L->now = L->end = e.cycle;
        if (!happen(L, &e))
            return false;
    }
    return L->tasks.ended == L->tasks.total || model_deadlock(L);
}

static int lines_of(const Launch *L, const pto_path *p) {
    return p->shared == PTO_SHARED_CORE ? L->ncores : p->shared == PTO_SHARED_CLUSTER ? L->machine->clusters : 1;
}

bool engine_new(Launch *L) {
    int n = 0;
    for (int k = 0; k < L->machine->npaths; k++) {
        L->line_first[k] = n;
        n += lines_of(L, &L->machine->path[k]);
    }
    L->lines = launch_alloc(L, (size_t)n + 1, sizeof *L->lines);
    L->units = launch_alloc(L, (size_t)L->ncores * PTO_SLOTS, sizeof *L->units);
    if (L->lines == NULL || L->units == NULL)
        return false;
    for (int k = 0; k < n; k++)
        L->lines[k].free = L->begin;
    for (int core = 0; core < L->ncores; core++)
        for (int s = 0; s < PTO_SLOTS && L->on_core[core] != NULL; s++) {
            Unit *u = unit_of(L, core, s);
            if (L->machine->unit[s].present && (u->ring = launch_alloc(L, (size_t)queue_of(L, s), sizeof *u->ring)) == NULL)
                return false;
        }
    return true;
}

void engine_free(Launch *L) {
    for (int core = 0; L->units != NULL && core < L->ncores * PTO_SLOTS; core++)
        if (L->units[core].work != NULL)
            mem_free(&L->ctx->memory, L->units[core].work->list);
    int n = 0;
    for (int k = 0; k < L->machine->npaths; k++)
        n += lines_of(L, &L->machine->path[k]);
    for (int k = 0; L->lines != NULL && k < n; k++)
        mem_free(&L->ctx->memory, L->lines[k].request);
    mem_free(&L->ctx->memory, L->events.at);
}
