// Happens-before: is each access ordered with all that overlap it, whatever the timing was? And is that the program's order?
//
// Every operation has a clock: of each slot, how many of its task's operations happened before. Sequencers gather clocks
// at waits (sequence.c), so "A before B" in one task is one comparison; between tasks it takes offsets of the grid (reach.c). On chip, a
// shadow has the last write and the last reads of each granule; in memory 0, of each element of the tensors that the
// launch writes. There, all readers since the last write are remembered: readers of different tasks have no order.
//
// Test: tests/unit/test_model_faults.c
#include "state.h"

#include <stdio.h>

static bool clock_has(const Instance *in, pto_slot slot, uint32_t seq) { return in->clock.at[slot] >= seq; }

// ---- on chip --------------------------------------------------------------------------------------------------------------

typedef struct Check { Launch *L; Instance *in; const View *view; bool write; int32_t turn; } Check;

// An access of the same task that was before this one.
static bool fault_on_chip(const Check *c, const char *kind, int64_t at, int64_t bytes, pto_slot slot, uint32_t seq, const char *did, const char *how) {
    const Launch *L = c->L;
    int bundle = c->in->resident->history[slot][seq].bundle;
    const pto_op *o = &L->program->ops[c->in->resident->history[slot][seq].op];
    const pto_site *s = o->site >= 0 && o->site < L->program->nsites ? &L->program->sites[o->site] : NULL;
    return model_fault(c->L, kind, c->in, "%s %s[%lld..%lld], which bundle %d (%s) %s%s%s %s", c->write ? "writes" : "reads",
                       L->machine->memory[c->view->of->memory].name, (long long)at, (long long)(at + bytes - 1), bundle, slot_name(slot), did,
                       s != NULL && s->equation != NULL ? " for " : "", s != NULL && s->equation != NULL ? s->equation : "", how);
}

static bool race_on_chip(const Check *c, int64_t at, int64_t bytes, pto_slot slot, uint32_t seq, const char *did) {
    return fault_on_chip(c, "race", at, bytes, slot, seq, did, "unordered");
}

static void granule_cut(Shadow *s, int64_t i) {
    if (i >= s->segments.size || segments_is_head(&s->segments, i))
        return;
    s->state[i] = s->state[segments_begin(&s->segments, i)];
    segments_cut(&s->segments, i);
}

static bool granule_check(const Check *c, Granule *g, int64_t at, int64_t bytes) {
    const Instance *in = c->in;
    if (g->write != 0 && !clock_has(in, (pto_slot)g->slot, g->write))
        return race_on_chip(c, at, bytes, (pto_slot)g->slot, g->write, "writes");
    if (!c->write && g->write == 0)
        return model_fault(c->L, "uninitialised", in, "reads %s[%lld..%lld], which nothing in this task wrote", c->L->machine->memory[c->view->of->memory].name,
                           (long long)at, (long long)(at + bytes - 1));
    for (int s = 0; c->write && s < PTO_SLOTS; s++)
        if (!clock_has(in, (pto_slot)s, g->read[s]))
            return race_on_chip(c, at, bytes, (pto_slot)s, g->read[s], "reads");
    return true;
}

// What was written into a slot for another count than its own, or counted in another way.
static bool fault_of_slots(const Check *c, const Granule *g, int64_t at, int64_t bytes) {
    const Done *writer = &c->in->resident->history[g->slot][g->write];
    if (writer->count == c->view->count)
        return fault_on_chip(c, "stale", at, bytes, (pto_slot)g->slot, g->write, "wrote", "into slots that it counts in another way");
    char wrote[40] = "no slot", reads[40] = "none";
    if (writer->count >= 0)
        snprintf(wrote, sizeof wrote, "slot count %lld", (long long)writer->count);
    if (c->view->count >= 0)
        snprintf(reads, sizeof reads, "%lld", (long long)c->view->count);
    char how[96];
    snprintf(how, sizeof how, "into %s, not %s", wrote, reads);
    return fault_on_chip(c, "stale", at, bytes, (pto_slot)g->slot, g->write, "wrote", how);
}

// Ordered accesses have to be in the program's order; and what is in a slot, from the iteration that the slot is for.
static bool granule_meant(const Check *c, const Granule *g, int64_t at, int64_t bytes) {
    const Done *const *done = (const Done *const *)c->in->resident->history;
    if (g->write == 0)
        return true;
    const Done *writer = &done[g->slot][g->write], *latest = c->write ? &done[g->latest_slot][g->latest] : writer;
    if (latest->position > c->in->position)
        return fault_on_chip(c, "order", at, bytes, c->write ? g->latest_slot : g->slot, c->write ? g->latest : g->write,
                             latest == writer ? "wrote" : "read", "though the program does that later");
    if (c->write)
        return true;
    if (writer->count != c->view->count)
        return fault_of_slots(c, g, at, bytes);
    switch (layout_fit(c->L, writer->op, c->view->of)) {
    case FIT_UNKNOWN: return true;
    case FIT_TENSOR: return fault_on_chip(c, "tensor", at, bytes, (pto_slot)g->slot, g->write, "wrote", "as another tensor's");
    case FIT_SLOTS: return fault_of_slots(c, g, at, bytes);
    case FIT_STRIDES: return fault_on_chip(c, "layout", at, bytes, (pto_slot)g->slot, g->write, "wrote", "with other strides");
    case FIT: break;
    }
    return writer->origin == c->view->origin || fault_on_chip(c, "layout", at, bytes, (pto_slot)g->slot, g->write, "wrote", "as other elements");
}

static void granule_note(const Check *c, Granule *g, pto_slot slot) {
    Instance *in = c->in;
    if (c->write)
        *g = (Granule){.write = in->seq, .slot = (uint8_t)slot, .latest = in->seq, .latest_slot = (uint8_t)slot};
    else {
        g->read[slot] = in->seq;
        if (in->resident->history[g->latest_slot][g->latest].position < in->position) {
            g->latest = in->seq;
            g->latest_slot = (uint8_t)slot;
        }
    }
}

static bool run_on_chip(void *arg, int64_t at, int64_t bytes) {
    const Check *c = arg;
    Shadow *s = &c->in->resident->shadow[c->view->of->memory];
    pto_slot slot = c->L->ops[c->in->op].table->slot;
    int64_t a = at / GRANULE, b = (at + bytes - 1) / GRANULE + 1;
    granule_cut(s, a);
    granule_cut(s, b);
    for (int64_t i = a; i < b; i = segments_next(&s->segments, i, b)) {
        Granule *g = &s->state[i];
        if (!granule_check(c, g, at, bytes) || !granule_meant(c, g, at, bytes))
            return false;
        granule_note(c, g, slot);
    }
    if (c->write)
        segments_join(&s->segments, a, b);
    return true;
}

// ---- in memory 0 ----------------------------------------------------------------------------------------------------------

static bool access_number(Launch *L, Instance *in) {
    if (in->access != 0)
        return true;
    if (L->naccess >= UINT32_MAX - 1)
        return model_fault(L, "limit", in, "too many operations on tensors that are written");
    if (!launch_grow(L, &L->access, &L->access_room, L->naccess + 2, sizeof *L->access))
        return false;
    in->access = (uint32_t)++L->naccess;
    L->access[in->access] = (Access){.task = in->resident->task, .position = in->position, .seq = in->seq, .turn = TURN_ANY, .op = in->op, .bundle = in->bundle, .slot = L->ops[in->op].table->slot};
    return true;
}

static bool access_before(Launch *L, uint32_t access, const Instance *in) {
    const Access *a = &L->access[access];
    if (a->task == in->resident->task)
        return clock_has(in, a->slot, a->seq);
    return reach_before(L, a->task, in->resident->task);
}

static bool fault_in_tensor(const Check *c, const char *kind, int tensor, int64_t element, uint32_t access, const char *did, const char *how) {
    const Launch *L = c->L;
    const Access *a = &L->access[access];
    int64_t tile[GRID_DIMS];
    task_tile(L, a->task, tile);
    char task[128];
    for (int d = 0, n = 0; d < L->l->grid.rank; d++)
        n += snprintf(task + n, sizeof task - (size_t)n, "%s%lld", d > 0 ? ", " : "", (long long)tile[d]);
    int site = L->program->ops[a->op].site;
    const char *equation = site >= 0 && site < L->program->nsites ? L->program->sites[site].equation : NULL;
    return model_fault(c->L, kind, c->in, "%s element %lld of %s, which bundle %d (%s) of task (%s) %s%s%s %s", c->write ? "writes" : "reads",
                       (long long)element, L->l->tensors[tensor].name, a->bundle, slot_name(a->slot), task, did,
                       equation != NULL ? " for " : "", equation != NULL ? equation : "", how);
}

// Ordered, and in one task in the program's order.
static bool access_follows(const Check *c, int tensor, int64_t element, uint32_t access, bool written) {
    const Access *a = &c->L->access[access];
    if (access == c->in->access)
        return true;
    if (!access_before(c->L, access, c->in))
        return fault_in_tensor(c, "race", tensor, element, access, written ? "writes" : "reads", "unordered");
    return a->task != c->in->resident->task || a->position < c->in->position ||
           fault_in_tensor(c, "order", tensor, element, access, written ? "wrote" : "read", "though the program does that later");
}

static void element_cut(TensorShadow *s, int64_t i) {
    if (i >= s->segments.size || segments_is_head(&s->segments, i))
        return;
    s->state[i] = s->state[segments_begin(&s->segments, i)];
    segments_cut(&s->segments, i);
}

// Adds a reader in front; segments that had the same readers go on sharing a list. A reader in front that happened
// before, in the program too, gives way: what is ordered with the new one is ordered with it too.
static bool add_reader(Launch *L, Element *e, const Instance *in) {
    if (e->readers != 0 && L->readers[e->readers].access == in->access)
        return true;
    if (e->readers == L->reader_from && in->access == L->reader_access && L->reader_to != 0) {
        e->readers = L->reader_to;
        return true;
    }
    if (L->nreaders >= UINT32_MAX - 1)
        return model_fault(L, "limit", in, "too many reads of tensors that are written");
    if (!launch_grow(L, &L->readers, &L->readers_room, L->nreaders + 2, sizeof *L->readers))
        return false;
    uint32_t next = e->readers, node = (uint32_t)++L->nreaders;
    const Access *front = next != 0 ? &L->access[L->readers[next].access] : NULL;
    if (front != NULL && access_before(L, L->readers[next].access, in) && (front->task != in->resident->task || front->position < in->position))
        next = L->readers[next].next;
    L->readers[node] = (Reader){.access = in->access, .next = next};
    L->reader_from = e->readers;
    L->reader_to = node;
    L->reader_access = in->access;
    e->readers = node;
    return true;
}

static bool element_check(const Check *c, int tensor, int64_t i, Element *e) {
    Launch *L = c->L;
    if (e->write != 0 && !access_follows(c, tensor, i, e->write, true))
        return false;
    if (!c->write)
        return add_reader(L, e, c->in);
    for (uint32_t r = e->readers; r != 0; r = L->readers[r].next)
        if (!access_follows(c, tensor, i, L->readers[r].access, false))
            return false;
    return true;
}

// Elements that this launch has not written: earlier ones of the call have, if it had no values before.
static bool was_written(const Check *c, int tensor, int64_t a, int64_t b) {
    const struct Written *w = c->L->written_of != NULL && !c->write ? c->L->written_of[tensor] : NULL;
    int64_t at = w != NULL ? written_missing(w, a, b, c->turn) : b;
    return at == b || model_fault(c->L, "uninitialised", c->in, "reads element %lld of %s, which nothing wrote in this call%s", (long long)at, c->L->l->tensors[tensor].name,
                                  c->turn != TURN_ANY ? " for what it is to be now" : "");
}

// What this launch wrote into a folded dimension: for this turn of it?
static bool was_for(const Check *c, int tensor, int64_t i, const Element *e) {
    const Access *a = &c->L->access[e->write];
    return c->write || a->turn == TURN_ANY || c->turn == TURN_ANY || a->turn == c->turn ||
           fault_in_tensor(c, "stale", tensor, i, e->write, "wrote", "for another turn of a folded dimension");
}

static bool run_in_tensor(const Check *c, int tensor, int64_t at, int64_t bytes) {
    Launch *L = c->L;
    int64_t element = L->l->tensors[tensor].element;
    if (L->shadow_of == NULL || L->shadow_of[tensor] < 0)
        return was_written(c, tensor, at / element, (at + bytes - 1) / element + 1);
    TensorShadow *s = &L->shadows[L->shadow_of[tensor]];
    int64_t a = at / s->element, b = least((at + bytes - 1) / s->element + 1, s->segments.size);
    if (!access_number(L, c->in))
        return false;
    if (c->write)
        L->access[c->in->access].turn = c->turn;
    element_cut(s, a);
    element_cut(s, b);
    for (int64_t i = a; i < b; i = segments_next(&s->segments, i, b)) {
        if (!element_check(c, tensor, i, &s->state[i]))
            return false;
        if (s->state[i].write == 0 ? !was_written(c, tensor, i, segments_next(&s->segments, i, b)) : !was_for(c, tensor, i, &s->state[i]))
            return false;
        if (c->write)
            s->state[i] = (Element){.write = c->in->access};
    }
    if (c->write)
        segments_join(&s->segments, a, b);
    return true;
}

static bool run_of_tensor(void *arg, int64_t at, int64_t bytes) {
    const Check *c = arg;
    return run_in_tensor(c, c->view->of->which, at, bytes);
}

bool order_touch(Launch *L, Instance *in, int tensor, int64_t at, int64_t bytes, bool write) {
    Check c = {.L = L, .in = in, .write = write, .turn = TURN_ANY};
    return run_in_tensor(&c, tensor, at, bytes);
}

// ---- all ------------------------------------------------------------------------------------------------------------------

static bool check_view(Launch *L, Instance *in, const View *v, bool write) {
    Check c = {.L = L, .in = in, .view = v, .write = write, .turn = v->of->tensor ? layout_turn(L, v) : TURN_ANY};
    if (v->of->tensor && (L->shadow_of == NULL || (L->shadow_of[v->of->which] < 0 && L->written_of[v->of->which] == NULL)))
        return true;
    return view_runs(v, v->of->tensor ? run_of_tensor : run_on_chip, &c);
}

// Reads come before the write, which is of other bytes, but for sums that are added to.
bool order_check(Launch *L, Instance *in, const Work *w) {
    const Op *o = &L->ops[in->op];
    if (L->unchecked)
        return true;
    if (o->noperands > 0) {
        Done *done = &in->resident->history[o->table->slot][in->seq];
        done->count = w->view[0].count;
        done->origin = w->view[0].origin;
    }
    bool idle = o->table->kind == PTO_MULTIPLY && w->k == 0 && !w->init;
    if (idle)
        return true;
    for (int k = 1; k < o->noperands; k++)
        if (!check_view(L, in, &w->view[k], false))
            return false;
    if (!layout_apart(L, in, w))
        return false;
    bool reads = o->table->kind == PTO_MULTIPLY ? !w->init : o->table->kind == PTO_NEST && o->table->updates;
    if (o->noperands > 0 && reads && !check_view(L, in, &w->view[0], false))
        return false;
    return o->noperands == 0 || check_view(L, in, &w->view[0], true);
}

static int find_shadow(const Launch *L, const pto_ddr *t) {
    for (int k = 0; k < L->nshadows; k++)
        if (L->shadows[k].data == t->data && L->shadows[k].element == t->element)
            return k;
    return -1;
}

static bool add_shadow(Launch *L, const pto_ddr *t) {
    TensorShadow *s = &L->shadows[L->nshadows];
    int64_t elements = ceil_div(t->bytes, t->element);
    *s = (TensorShadow){.element = t->element, .data = t->data};
    L->nshadows++;
    s->state = launch_alloc(L, (size_t)elements + 1, sizeof *s->state);
    return s->state != NULL && segments_new(L, &s->segments, elements);
}

// Tensors at one address share a shadow, which is that of the largest that is written.
static bool shadows_new(Launch *L) {
    size_t n = (size_t)L->l->ntensors + 1;
    L->shadows = launch_alloc(L, n, sizeof *L->shadows);
    int *of = launch_alloc(L, n, sizeof *of);
    if (L->shadows == NULL || of == NULL)
        return false;
    for (int k = 0; k < L->l->ntensors; k++) {
        const pto_ddr *t = &L->l->tensors[k];
        int known = find_shadow(L, t);
        if (t->written && t->bytes > 0 && (known < 0 || L->shadows[known].segments.size < ceil_div(t->bytes, t->element)) && !add_shadow(L, t))
            return false;
    }
    for (int k = 0; k < L->l->ntensors; k++) {
        int64_t elements = ceil_div(L->l->tensors[k].bytes, L->l->tensors[k].element);
        of[k] = -1;
        for (int s = 0; s < L->nshadows; s++)
            if (L->shadows[s].data == L->l->tensors[k].data && L->shadows[s].element == L->l->tensors[k].element && elements <= L->shadows[s].segments.size)
                of[k] = s;
    }
    L->shadow_of = of;
    return true;
}

bool order_new(Launch *L) { return !L->values || (shadows_new(L) && reach_new(L) && written_new(L)); }

void order_free(Launch *L) {
    mem_free(&L->ctx->memory, L->access);
    mem_free(&L->ctx->memory, L->readers);
}
