// What happened, added up in the totals of the call, and told to the callback if there is one.
//
// Test: tests/unit/test_model.c
#include "state.h"

#include <string.h>

static void tell(const Launch *L, pto_event *e) {
    e->launch = L->l;
    e->program = L->program;
    L->model->options.event(L->model->options.user, e);
}

static bool told(const Launch *L) { return L->model->options.event != NULL; }

static pto_event event_of(const Resident *r, pto_event_kind kind) {
    return (pto_event){.kind = kind, .core = r->core, .resident = r->number, .slot = -1, .op = -1, .bundle = r->pc, .task = r->task,
                       .path = -1, .tensor = -1, .token = -1, .memory = -1, .iv = r->iv};
}

// ---- operations -----------------------------------------------------------------------------------------------------------

static int64_t macs_of(const Op *o, const Work *w) {
    return o->table->kind == PTO_MULTIPLY && !w->empty ? w->m * w->n * w->k : 0;
}

// The tensor that a transfer is about: the one outside, or what the operand on chip says.
static int tensor_of(const Op *o) {
    if (o->noperands < 2)
        return -1;
    const Operand *to = &o->operand[0], *from = &o->operand[1];
    return to->tensor ? to->which : from->tensor || from->which >= 0 ? from->which : to->which;
}

static bool is_written(const Op *o, int k) { return k == 0 && o->table->kind != PTO_TASK; }

static int spans_of(const Op *o, const Work *w, pto_span *span) {
    if (w->empty)
        return 0;
    for (int k = 0; k < o->noperands; k++) {
        const Operand *x = &o->operand[k];
        span[k] = (pto_span){.memory = x->memory, .tensor = x->which, .write = is_written(o, k)};
        view_span(&w->view[k], &span[k].address, &span[k].length);
    }
    return o->noperands;
}

static void tell_op(Launch *L, const Instance *in, const Work *w, int64_t begin, int64_t end, int64_t complete, int64_t operations) {
    const Op *o = &L->ops[in->op];
    pto_span span[PTO_MAX_OPERANDS];
    pto_event e = event_of(in->resident, PTO_EVENT_OP);
    e.iv = in->iv;
    e.nspans = spans_of(o, w, span);
    e.spans = span;
    e.operations = o->table->kind == PTO_NEST && !w->empty ? bounded_mul(w->points, o->cost) : operations;
    e.slot = (int)o->table->slot;
    e.op = in->op;
    e.bundle = in->bundle;
    e.begin = begin;
    e.end = end;
    e.complete = complete;
    e.macs = macs_of(o, w);
    e.bytes = w->empty ? 0 : w->bus;
    e.payload = w->empty ? 0 : w->payload;
    e.path = o->path;
    if (o->table->kind != PTO_TASK && o->noperands > 0) {
        const Operand *to = &o->operand[0];
        e.tensor = o->path >= 0 ? tensor_of(o) : to->which;
        e.tensor_name = e.tensor >= 0 ? L->l->tensors[e.tensor].name : NULL;
        e.write = o->path >= 0 && o->write;
        e.memory = to->tensor ? -1 : to->memory;
        e.address = w->empty ? 0 : span[0].address;
        e.length = w->empty ? 0 : span[0].length;
    }
    tell(L, &e);
}

void count_op(Launch *L, const Instance *in, const Work *w, int64_t begin, int64_t end, int64_t complete, int64_t operations) {
    pto_model_totals *t = &L->model->totals;
    t->busy[L->ops[in->op].table->slot] += end - begin;
    t->macs += macs_of(&L->ops[in->op], w);
    t->operations += operations;
    if (told(L))
        tell_op(L, in, w, begin, end, complete, operations);
}

// ---- paths ----------------------------------------------------------------------------------------------------------------

// The row of a tensor on a path; the last one takes what has no room.
static pto_traffic *traffic_of(pto_model_totals *t, const char *tensor, int path) {
    for (int k = 0; k < t->ntraffic; k++) {
        pto_traffic *r = &t->traffic[k];
        bool same = r->tensor == tensor || (r->tensor != NULL && tensor != NULL && strcmp(r->tensor, tensor) == 0);
        if (r->path == path && same)
            return r;
    }
    if (t->ntraffic == PTO_MAX_TRAFFIC) {
        pto_traffic *r = &t->traffic[PTO_MAX_TRAFFIC - 1];
        r->tensor = NULL;
        r->path = -1;
        return r;
    }
    t->traffic[t->ntraffic] = (pto_traffic){.tensor = tensor, .path = path};
    return &t->traffic[t->ntraffic++];
}

static pto_traffic moved_by(const Launch *L, const Op *o, const Work *w) {
    int tensor = tensor_of(o);
    return (pto_traffic){.tensor = tensor >= 0 ? L->l->tensors[tensor].name : NULL, .path = o->path, .read = w->bus - w->written, .written = w->written,
                         .payload_read = o->write ? 0 : w->payload, .payload_written = o->write ? w->payload : 0};
}

static pto_traffic moved_of(const Launch *L, const Op *o, const Touched *t, int tensor) {
    return (pto_traffic){.tensor = L->l->tensors[tensor].name, .path = o->path, .read = t->bus[0], .written = t->bus[1],
                         .payload_read = t->payload[0], .payload_written = t->payload[1]};
}

static void add_traffic(pto_model_totals *t, const pto_traffic *m) {
    pto_traffic *r = traffic_of(t, m->tensor, m->path);
    r->read += m->read;
    r->written += m->written;
    r->payload_read += m->payload_read;
    r->payload_written += m->payload_written;
}

static void tell_path(Launch *L, const Instance *in, const Work *w, int64_t request, int64_t begin, int64_t end, const pto_traffic *moved, int nmoved) {
    const Op *o = &L->ops[in->op];
    pto_event e = event_of(in->resident, PTO_EVENT_PATH);
    e.iv = in->iv;
    e.slot = (int)o->table->slot;
    e.op = in->op;
    e.bundle = in->bundle;
    e.path = o->path;
    e.tensor = o->table->kind == PTO_TASK ? -1 : tensor_of(o);
    e.tensor_name = e.tensor >= 0 ? L->l->tensors[e.tensor].name : NULL;
    e.write = o->write;
    e.request = request;
    e.begin = begin;
    e.end = end;
    e.bytes = w->bus;
    e.payload = w->payload;
    e.moved = moved;
    e.nmoved = nmoved;
    tell(L, &e);
}

// The rows of a scalar operation, in w->moved; returns how many.
static int moved_by_task(const Launch *L, const Op *o, const Work *w) {
    int n = 0;
    for (int k = 0; k < L->l->ntensors; k++)
        if (w->touched[k].bus[0] + w->touched[k].bus[1] > 0)
            w->moved[n++] = moved_of(L, o, &w->touched[k], k);
    return n;
}

void count_path(Launch *L, const Instance *in, const Work *w, int64_t request, int64_t begin, int64_t end) {
    const Op *o = &L->ops[in->op];
    pto_model_totals *t = &L->model->totals;
    bool task = o->table->kind == PTO_TASK;
    pto_traffic one = task ? (pto_traffic){0} : moved_by(L, o, w);
    const pto_traffic *moved = task ? w->moved : &one;
    int n = task ? moved_by_task(L, o, w) : 1;
    for (int k = 0; k < n; k++)
        add_traffic(t, &moved[k]);
    t->path_busy[o->path] += end - begin;
    t->path_bytes[o->path] += w->bus;
    if (told(L))
        tell_path(L, in, w, request, begin, end, moved, n);
}

// ---- bundles, tasks, launches ---------------------------------------------------------------------------------------------

void count_stall(Launch *L, const Resident *r, int64_t end) {
    if (end == r->since)
        return;
    L->model->totals.stalled[r->cause] += end - r->since;
    if (!told(L))
        return;
    pto_event e = event_of(r, PTO_EVENT_STALL);
    e.begin = r->since;
    e.end = end;
    e.cause = r->cause;
    e.token = r->stall_token;
    tell(L, &e);
}

void count_task(Launch *L, const Resident *r) {
    L->model->totals.tasks++;
    if (!told(L))
        return;
    pto_event e = event_of(r, PTO_EVENT_TASK);
    e.bundle = -1;
    e.request = e.begin = r->handed;
    e.complete = r->begun;
    e.end = L->now;
    tell(L, &e);
}

void count_launch(Launch *L) {
    if (!told(L))
        return;
    pto_event e = {.kind = PTO_EVENT_LAUNCH, .core = -1, .resident = -1, .slot = -1, .op = -1, .bundle = -1, .task = -1, .path = -1,
                   .tensor = -1, .token = -1, .memory = -1, .begin = L->begin, .end = L->end};
    tell(L, &e);
}
