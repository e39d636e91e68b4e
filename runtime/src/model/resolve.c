// From the tables and values of a launch to the resolved program: numbers for PTO_VALUE, lists for affine forms, which
// loop is around which bundle, which path a transfer takes. What the tables say wrongly is refused here, so that the other
// files index with what they find; what only an iteration shows (extents, addresses) is checked when it comes.
//
// Test: tests/unit/test_model_faults.c
#include "state.h"

#include <string.h>

// ---- numbers ------------------------------------------------------------------------------------------------------------

static bool number(Launch *L, pto_num n, int64_t *out) {
    const int64_t last = PTO_VALUE(1 << 24);
    *out = n;
    if (n >= last)
        return true;
    int64_t k = n - INT64_MIN;
    if (k >= L->l->nvalues)
        return model_refuse(L, "value %lld of %d", (long long)k, L->l->nvalues);
    *out = L->l->values[k];
    return true;
}

static bool bounded(Launch *L, const char *what, pto_num n, int64_t lo, int64_t hi, int64_t *out) {
    if (!number(L, n, out))
        return false;
    return (*out >= lo && *out <= hi) || model_refuse(L, "%s is %lld: expected %lld..%lld", what, (long long)*out, (long long)lo, (long long)hi);
}

static bool affine(Launch *L, const pto_affine *from, Affine *to) {
    *to = (Affine){0};
    if (!number(L, from->base, &to->base))
        return false;
    for (int v = 0; v < PTO_MAX_IVS; v++) {
        int64_t step;
        if (!number(L, from->step[v], &step))
            return false;
        if (step == 0)
            continue;
        to->iv[to->n] = v;
        to->step[to->n++] = step;
    }
    return true;
}

static bool interval(Launch *L, const pto_interval *from, Interval *to) {
    to->cut = from->hi != 0;
    return affine(L, &from->start, &to->start) && number(L, from->size, &to->size) && number(L, from->lo, &to->lo) && number(L, from->hi, &to->hi);
}

static bool in_range(int64_t x, int64_t end) { return x >= 0 && x < end; }

// ---- the machine --------------------------------------------------------------------------------------------------------

static bool check_unit(Launch *L, int slot, const pto_unit *u) {
    const pto_machine *m = L->machine;
    if (u->queue < 1 || u->queue > MOST_QUEUE)
        return model_refuse(L, "machine %s: a queue of %d operations (%s)", m->name, u->queue, slot_name((pto_slot)slot));
    if (u->latency < 0 || u->latency > MOST_NUMBER || u->most < 0 || u->width < 0)
        return model_refuse(L, "machine %s: a number of unit %s is out of range", m->name, slot_name((pto_slot)slot));
    if (u->nshapes < 0 || u->nshapes > PTO_MAX_SHAPES || u->nports < 0 || u->nports > PTO_MAX_PORTS)
        return model_refuse(L, "machine %s: too many shapes or ports (%s)", m->name, slot_name((pto_slot)slot));
    for (int k = 0; k < u->nshapes; k++)
        if (u->shape[k].m < 1 || u->shape[k].n < 1 || u->shape[k].k < 1 || u->shape[k].passes < 0)
            return model_refuse(L, "machine %s: shape %d has an extent below 1", m->name, k);
    for (int k = 0; k < u->nports; k++)
        if (!in_range(u->port[k].memory, m->nmemories) || u->port[k].width < 0)
            return model_refuse(L, "machine %s: port %d of unit %s", m->name, k, slot_name((pto_slot)slot));
    return true;
}

static bool check_machine(Launch *L) {
    const pto_machine *m = L->machine;
    if (m->clusters < 1 || m->cores < 1 || m->clusters > MOST_CORES || m->cores > MOST_CORES / m->clusters)
        return model_refuse(L, "machine %s: %d clusters of %d cores", m->name, m->clusters, m->cores);
    if (m->nmemories < 1 || m->nmemories > PTO_MAX_MEMORIES || m->npaths < 0 || m->npaths > PTO_MAX_PATHS)
        return model_refuse(L, "machine %s: %d memories, %d paths", m->name, m->nmemories, m->npaths);
    if (m->dispatch < 0 || m->dispatch > MOST_NUMBER)
        return model_refuse(L, "machine %s: dispatch takes %lld cycles", m->name, (long long)m->dispatch);
    for (int k = 0; k < m->nmemories; k++)
        if (m->memory[k].bytes < 0 || (unsigned)m->memory[k].shared > PTO_SHARED_CHIP)
            return model_refuse(L, "machine %s: memory %d", m->name, k);
    for (int k = 0; k < m->npaths; k++) {
        const pto_path *p = &m->path[k];
        if (!in_range(p->from, m->nmemories) || !in_range(p->to, m->nmemories) || p->width < 1 || p->latency < 0 || p->latency > MOST_NUMBER ||
            p->burst < 0 || (unsigned)p->shared > PTO_SHARED_CHIP)
            return model_refuse(L, "machine %s: path %d", m->name, k);
    }
    for (int s = 0; s < PTO_SLOTS; s++)
        if (m->unit[s].present && !check_unit(L, s, &m->unit[s]))
            return false;
    return true;
}

// ---- operations ---------------------------------------------------------------------------------------------------------

// "Where" of messages about an operation's table.
#define WHERE "operation %d (%s): "
#define HERE (int)(o - L->ops), slot_name(o->table->slot)

// The dimensions of the operand's tensor: its own, or those that it says.
static bool resolve_axes(Launch *L, const Op *o, int k, Operand *to) {
    const pto_operand *from = &o->table->operands[k];
    to->of = from->of;
    to->mapped = from->nalong > 0;
    to->naxes = to->mapped ? from->nalong : from->rank;
    if (from->of < 0 || from->nalong < 0 || from->nalong > PTO_MAX_DIMS || (to->mapped && from->along == NULL))
        return model_refuse(L, WHERE "the tensor of operand %d", HERE, k);
    to->axis = launch_alloc(L, (size_t)to->naxes + 1, sizeof *to->axis);
    if (to->axis == NULL)
        return false;
    for (int d = 0; d < to->naxes; d++) {
        Axis *a = &to->axis[d];
        *a = (Axis){.start = to->dim[d].at.start, .stride = to->dim[d].stride};
        if (!to->mapped)
            a->steps[d] = 1;
        else if (!affine(L, &from->along[d].start, &a->start) || !number(L, from->along[d].stride, &a->stride))
            return false;
        else
            memcpy(a->steps, from->along[d].steps, sizeof a->steps);
    }
    return true;
}

static bool resolve_operand(Launch *L, const Op *o, int k, Operand *to) {
    const pto_operand *from = &o->table->operands[k];
    const pto_machine *m = L->machine;
    if (!in_range(from->memory, m->nmemories) || (unsigned)from->type > PTO_BOOL || from->rank < 0 || from->rank > PTO_MAX_DIMS)
        return model_refuse(L, WHERE "memory, type or rank of operand %d", HERE, k);
    to->tensor = from->memory == 0;
    if (to->tensor ? !in_range(from->tensor, L->l->ntensors) : from->tensor < -1 || from->tensor >= L->l->ntensors)
        return model_refuse(L, WHERE "operand %d is in tensor %d of %d", HERE, k, from->tensor, L->l->ntensors);
    if (m->memory[from->memory].backing && !to->tensor)
        return model_refuse(L, WHERE "operand %d is in %s, which holds tensors", HERE, k, m->memory[from->memory].name);
    to->which = from->tensor;
    to->memory = to->tensor ? L->home[from->tensor] : from->memory;
    to->type = from->type;
    to->bytes = (int)pto_dtype_size(from->type);
    to->slot_digits = from->slot_digits;
    to->slots = from->slots;
    to->rank = from->rank;
    if (from->slots < 0 || from->slot_digits < 0 || from->slot_digits > PTO_MAX_DIGITS || (from->slots > 1 && to->tensor))
        return model_refuse(L, WHERE "slots of operand %d", HERE, k);
    if (!affine(L, &from->address, &to->address) || !number(L, from->slot_bytes, &to->slot_bytes) || !number(L, from->fill, &to->fill))
        return false;
    for (int d = 0; d < from->rank; d++) {
        const pto_dim *a = &from->dim[d];
        Dim *b = &to->dim[d];
        b->axis = a->axis;
        b->border = a->border;
        if ((unsigned)a->axis > PTO_AXIS_K || (unsigned)a->border > PTO_BORDER_CONST || (a->border != PTO_BORDER_NONE && !to->tensor))
            return model_refuse(L, WHERE "dimension %d of operand %d", HERE, d, k);
        if (!interval(L, &a->at, &b->at) || !number(L, a->stride, &b->stride) || !bounded(L, "a length", a->length, 0, MOST_NUMBER, &b->length))
            return false;
    }
    return resolve_axes(L, o, k, to);
}

static int find_path(const pto_machine *m, int from, int to) {
    for (int k = 0; k < m->npaths; k++) {
        const pto_path *p = &m->path[k];
        if ((p->from == from && p->to == to) || (p->both && p->from == to && p->to == from))
            return k;
    }
    return -1;
}

static bool resolve_transfer(Launch *L, Op *o) {
    const Operand *to = &o->operand[0], *from = &o->operand[1];
    const pto_machine *m = L->machine;
    o->path = find_path(m, from->memory, to->memory);
    if (o->path < 0)
        return model_refuse(L, WHERE "there is no path from %s to %s", HERE, m->memory[from->memory].name, m->memory[to->memory].name);
    o->write = to->tensor || (!from->tensor && to->memory < from->memory);
    if (to->rank != from->rank || to->bytes != from->bytes)
        return model_refuse(L, WHERE "its operands have different ranks or elements", HERE);
    for (int d = 0; d < to->rank; d++)
        if (to->dim[d].border != PTO_BORDER_NONE)
            return model_refuse(L, WHERE "a border where it writes", HERE);
    if (o->table->kind == PTO_COPY)
        return true;
    const Operand *list = &o->operand[2];
    if (list->tensor || list->rank != 1 || list->type < PTO_I64 || list->type > PTO_U8 || from->rank < 1)
        return model_refuse(L, WHERE "the list of a gather is one dimension of integers on chip", HERE);
    return true;
}

static bool resolve_multiply(Launch *L, Op *o) {
    const pto_unit *u = &L->machine->unit[PTO_CUBE];
    const pto_axis has[3][2] = {{PTO_AXIS_M, PTO_AXIS_N}, {PTO_AXIS_M, PTO_AXIS_K}, {PTO_AXIS_K, PTO_AXIS_N}};
    for (int k = 0; k < 3; k++) {
        if (o->operand[k].tensor)
            return model_refuse(L, WHERE "operand %d is not on chip", HERE, k);
        for (int d = 0; d < o->operand[k].rank; d++)
            if (o->operand[k].dim[d].axis != has[k][0] && o->operand[k].dim[d].axis != has[k][1])
                return model_refuse(L, WHERE "dimension %d of operand %d has no axis of it", HERE, d, k);
    }
    for (int k = 0; k < u->nshapes && o->shape == NULL; k++)
        if (u->shape[k].inputs == o->operand[1].type)
            o->shape = &u->shape[k];
    if (o->shape == NULL || o->shape->accumulates != o->operand[0].type || o->operand[2].type != o->operand[1].type)
        return model_refuse(L, WHERE "the cube does not multiply %s by %s into %s", HERE, pto_dtype_name(o->operand[1].type),
                            pto_dtype_name(o->operand[2].type), pto_dtype_name(o->operand[0].type));
    return multiply_supported(o->shape->inputs, o->shape->accumulates) || model_refuse(L, WHERE "no product of %s into %s", HERE,
                                                                                      pto_dtype_name(o->shape->inputs), pto_dtype_name(o->shape->accumulates));
}

static bool resolve_nest(Launch *L, Op *o) {
    const pto_op *t = o->table;
    if (t->rank < 0 || t->rank > PTO_MAX_DIMS || (t->rank > 0 && t->box == NULL) || t->element < 1 || (t->compute == NULL && L->values))
        return model_refuse(L, WHERE "rank, box, element or function of a nest", HERE);
    if (t->slot == PTO_VECTOR && L->machine->unit[PTO_VECTOR].width < 1)
        return model_refuse(L, WHERE "the vector unit has no width", HERE);
    for (int k = 0; k < o->noperands; k++)
        if (o->operand[k].tensor)
            return model_refuse(L, WHERE "operand %d is not on chip", HERE, k);
    o->box = launch_alloc(L, PTO_MAX_DIMS, sizeof *o->box);
    if (o->box == NULL)
        return false;
    for (int d = 0; d < t->rank; d++)
        if (!interval(L, &t->box[d], &o->box[d]))
            return false;
    return bounded(L, "the cost of a nest", t->cost, 0, MOST_NUMBER, &o->cost) && bounded(L, "bytes of a point", t->bytes, 0, MOST_NUMBER, &o->bytes);
}

static bool resolve_task(Launch *L, Op *o) {
    if (o->table->scalar == NULL)
        return model_refuse(L, WHERE "a scalar operation without a function", HERE);
    for (int k = L->machine->npaths; k-- > 0;)
        if (L->machine->path[k].from == 0 || (L->machine->path[k].to == 0 && L->machine->path[k].both))
            o->path = k;
    return true;
}

static bool slot_takes(pto_slot slot, pto_kind kind) {
    switch (kind) {
    case PTO_COPY: case PTO_GATHER: return slot == PTO_LOAD || slot == PTO_STORE || slot == PTO_DMA;
    case PTO_MULTIPLY: return slot == PTO_CUBE;
    case PTO_NEST: return slot == PTO_VECTOR || slot == PTO_SCALAR;
    case PTO_TASK: return slot == PTO_SCALAR;
    }
    return false;
}

static bool check_op(Launch *L, const Op *o) {
    const pto_op *t = o->table;
    static const int least_operands[] = {[PTO_COPY] = 2, [PTO_GATHER] = 3, [PTO_MULTIPLY] = 3, [PTO_NEST] = 1, [PTO_TASK] = 0};
    if ((unsigned)t->slot >= PTO_SLOTS || !slot_takes(t->slot, t->kind))
        return model_refuse(L, "operation %d: kind %d in slot %d", (int)(o - L->ops), (int)t->kind, (int)t->slot);
    if (!L->machine->unit[t->slot].present)
        return model_refuse(L, WHERE "machine %s has no such unit", HERE, L->machine->name);
    int want = least_operands[t->kind];
    if (t->noperands < want || t->noperands > (t->kind == PTO_NEST ? PTO_MAX_OPERANDS : want) || (t->noperands > 0 && t->operands == NULL))
        return model_refuse(L, WHERE "%d operands", HERE, t->noperands);
    if (t->stage < 0 || (t->site >= L->program->nsites && L->program->nsites > 0))
        return model_refuse(L, WHERE "stage or site", HERE);
    for (int k = 0; k < 2; k++)
        if (t->signals[k] < 0 || t->signals[k] > L->program->ntokens)
            return model_refuse(L, WHERE "signals token %d of %d", HERE, t->signals[k] - 1, L->program->ntokens);
    return true;
}

static bool resolve_op(Launch *L, Op *o) {
    o->path = -1;
    if (!check_op(L, o))
        return false;
    o->noperands = o->table->noperands;
    if (o->noperands > 0 && (o->operand = launch_alloc(L, (size_t)o->noperands, sizeof *o->operand)) == NULL)
        return false;
    for (int k = 0; k < o->noperands; k++)
        if (!resolve_operand(L, o, k, &o->operand[k]))
            return false;
    switch (o->table->kind) {
    case PTO_COPY: case PTO_GATHER: return resolve_transfer(L, o);
    case PTO_MULTIPLY: return resolve_multiply(L, o);
    case PTO_NEST: return resolve_nest(L, o);
    case PTO_TASK: return resolve_task(L, o);
    }
    return false;
}

static bool check_tokens(Launch *L) {
    const pto_program *p = L->program;
    int *by = launch_alloc(L, (size_t)p->ntokens + 1, sizeof *by);
    if (by == NULL)
        return false;
    for (int k = 0; k < p->ntokens; k++)
        if (p->tokens[k].depth < 1 || p->tokens[k].depth > MOST_DEPTH || p->tokens[k].initial < 0 || p->tokens[k].initial > p->tokens[k].depth)
            return model_refuse(L, "token %d: %d of at most %d", k, p->tokens[k].initial, p->tokens[k].depth);
    for (int k = 0; k < p->nops; k++)
        for (int s = 0; s < 2; s++) {
            int token = p->ops[k].signals[s], slot = (int)p->ops[k].slot + 1;
            if (token != 0 && by[token] != 0 && by[token] != slot)
                return model_refuse(L, "token %d: signalled by %s and by %s", token - 1, slot_name((pto_slot)(by[token] - 1)), slot_name(p->ops[k].slot));
            by[token] = slot;
        }
    return true;
}

// ---- loops and bundles --------------------------------------------------------------------------------------------------

static bool contains(const Loop *outer, const Loop *inner) { return outer->first <= inner->first && inner->end <= outer->end; }
static bool apart(const Loop *a, const Loop *b) { return a->end <= b->first || b->end <= a->first; }

static bool nest_loop(Launch *L, int k) {
    Loop *l = &L->loops[k];
    l->parent = l->inner = -1;
    int depth = 1;
    for (int j = 0; j < k; j++) {
        Loop *o = &L->loops[j];
        if (apart(o, l))
            continue;
        if (!contains(o, l))
            return model_refuse(L, "loops %d and %d cross (outer loops come first)", j, k);
        if (o->stages != 1)
            return model_refuse(L, "loop %d has %d stages and loop %d in it", j, o->stages, k);
        if (o->iv + o->ndigits > l->iv)
            return model_refuse(L, "loop %d: its induction variables are not behind those of loop %d", k, j);
        l->parent = j;
        depth++;
    }
    if (depth > MOST_NESTING)
        return model_refuse(L, "loop %d: too many around it", k);
    if (l->parent >= 0 && L->loops[l->parent].first == l->first)
        L->loops[l->parent].inner = k;
    return true;
}

static bool resolve_loop(Launch *L, int k) {
    const pto_loop *from = &L->program->loops[k];
    Loop *l = &L->loops[k];
    *l = (Loop){.first = from->first, .end = from->end, .iv = from->iv, .ndigits = from->ndigits, .stages = from->stages};
    if (l->first < 0 || l->end > L->program->nbundles || l->first >= l->end || l->stages < 1)
        return model_refuse(L, "loop %d: bundles %d..%d, %d stages", k, l->first, l->end, l->stages);
    if (l->ndigits < 0 || l->ndigits > PTO_MAX_DIGITS || l->iv < PTO_FIRST_DIGIT || l->iv > PTO_MAX_IVS - l->ndigits)
        return model_refuse(L, "loop %d: %d digits from induction variable %d", k, l->ndigits, l->iv);
    l->iterations = 1;
    for (int d = 0; d < l->ndigits; d++) {
        if (!number(L, from->count[d], &l->count[d]))
            return false;
        l->iterations = bounded_mul(l->iterations, most(l->count[d], 0));
    }
    if (l->iterations == MOST_NUMBER)
        return model_refuse(L, "loop %d: too many iterations", k);
    l->steps = l->iterations > 0 ? l->iterations + l->stages - 1 : 0;
    return nest_loop(L, k);
}

// A loop all of whose bundles lie in loops without steps makes none either: it would turn without time.
static void skip_idle_loops(Launch *L) {
    for (int k = L->program->nloops; k-- > 0;) {
        Loop *l = &L->loops[k];
        bool idle = true;
        for (int b = l->first; b < l->end; b++)
            idle &= L->bundles[b].loop != k && L->loops[L->bundles[b].loop].steps == 0;
        if (idle)
            l->steps = 0;
    }
}

static bool resolve_bundle(Launch *L, int b) {
    const pto_bundle *t = &L->program->bundles[b];
    Bundle *to = &L->bundles[b];
    int stages = to->loop >= 0 ? L->loops[to->loop].stages : 1;
    for (int k = 0; k < 4; k++) {
        const pto_wait *w = &t->wait[k];
        if (w->token == 0)
            continue;
        if (!in_range(w->token - 1, L->program->ntokens) || !in_range(w->stage, stages))
            return model_refuse(L, "bundle %d: wait %d: token or stage", b, k);
    }
    for (int s = 0; s < PTO_SLOTS; s++) {
        if (t->op[s] == 0)
            continue;
        if (!in_range(t->op[s] - 1, L->program->nops))
            return model_refuse(L, "bundle %d: operation %d of %d", b, t->op[s] - 1, L->program->nops);
        const pto_op *o = &L->program->ops[t->op[s] - 1];
        if ((int)o->slot != s || o->stage >= stages)
            return model_refuse(L, "bundle %d: operation %d does not belong into slot %s or has stage %d of %d", b, t->op[s] - 1, slot_name((pto_slot)s), o->stage, stages);
    }
    return true;
}

// The operations are what a task does, the bundles their order: each stands in one. An operation that is left out or done
// twice would be a program without a fault that computes something else.
static bool check_places(Launch *L) {
    const pto_program *p = L->program;
    int *places = launch_alloc(L, (size_t)p->nops + 1, sizeof *places), *bundle_of = launch_alloc(L, (size_t)p->nops + 1, sizeof *bundle_of);
    if (places == NULL || bundle_of == NULL)
        return false;
    for (int b = 0; b < p->nbundles; b++)
        for (int s = 0; s < PTO_SLOTS; s++)
            if (p->bundles[b].op[s] != 0) {
                places[p->bundles[b].op[s] - 1]++;
                bundle_of[p->bundles[b].op[s] - 1] = b;
            }
    for (int i = 0; i < p->nops; i++)
        if (places[i] != 1)
            return model_refuse(L, "operation %d stands in %d bundles", i, places[i]);
    return positions_new(L, bundle_of);
}

static bool resolve_bundles(Launch *L) {
    for (int b = 0; b < L->program->nbundles; b++)
        L->bundles[b] = (Bundle){.loop = -1, .enter = -1};
    for (int k = 0; k < L->program->nloops; k++) {
        if (!resolve_loop(L, k))
            return false;
        const Loop *l = &L->loops[k];
        if (L->bundles[l->first].enter < 0)
            L->bundles[l->first].enter = k;
        for (int b = l->first; b < l->end; b++)
            L->bundles[b].loop = k;
    }
    for (int b = 0; b < L->program->nbundles; b++)
        if (!resolve_bundle(L, b))
            return false;
    skip_idle_loops(L);
    return true;
}

// ---- all --------------------------------------------------------------------------------------------------------------

// Tensors go into the smallest memory of tensors that still has room. One that this call has seen stays where it is.
static bool place_tensor(Launch *L, const pto_ddr *t, int *memory) {
    struct pto_model *m = L->model;
    for (size_t k = 0; k < m->nhomes; k++) {
        const struct Home *h = &m->home[k];
        if (h->bytes == t->bytes && h->data == t->data && (t->data != NULL || strcmp(h->name, t->name) == 0)) {
            *memory = h->memory;
            return true;
        }
    }
    *memory = 0;
    int64_t smallest = INT64_MAX;
    for (int k = 1; k < L->machine->nmemories; k++) {
        const pto_memory *p = &L->machine->memory[k];
        if (p->backing && p->bytes < smallest && t->bytes <= p->bytes - m->used[k]) {
            *memory = k;
            smallest = p->bytes;
        }
    }
    if (!launch_grow(L, &m->home, &m->homes_room, m->nhomes + 1, sizeof *m->home))
        return false;
    m->used[*memory] = wrap_add(m->used[*memory], t->bytes);
    m->home[m->nhomes++] = (struct Home){.data = t->data, .name = t->name, .bytes = t->bytes, .memory = *memory};
    return true;
}

bool model_place_tensors(Launch *L) {
    L->home = launch_alloc(L, (size_t)L->l->ntensors + 1, sizeof *L->home);
    if (L->home == NULL)
        return false;
    for (int k = 0; k < L->l->ntensors; k++) {
        const pto_ddr *t = &L->l->tensors[k];
        if (t->bytes < 0 || t->bytes > MOST_NUMBER || t->element < 1 || t->name == NULL)
            return model_refuse(L, "tensor %d: name, bytes or element", k);
        if (L->values && t->data == NULL && t->bytes > 0)
            return model_refuse(L, "tensor %s has no data", t->name);
        if (!place_tensor(L, t, &L->home[k]))
            return false;
    }
    return true;
}

static bool check_counts(Launch *L) {
    const pto_program *p = L->program;
    const struct { const char *what; int n; const void *table; } rows[] = {
        {"bundles", p->nbundles, p->bundles}, {"operations", p->nops, p->ops}, {"loops", p->nloops, p->loops},
        {"tokens", p->ntokens, p->tokens}, {"sites", p->nsites, p->sites}, {"values", L->l->nvalues, L->l->values},
        {"tensors", L->l->ntensors, L->l->tensors},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (rows[k].n < 0 || (rows[k].n > 0 && rows[k].table == NULL))
            return model_refuse(L, "%d %s without a table", rows[k].n, rows[k].what);
    return true;
}

bool model_resolve(Launch *L) {
    const pto_program *p = L->program;
    if (!check_counts(L) || !check_machine(L) || !model_place_tensors(L))
        return false;
    L->ops = launch_alloc(L, (size_t)p->nops + 1, sizeof *L->ops);
    L->bundles = launch_alloc(L, (size_t)p->nbundles + 1, sizeof *L->bundles);
    L->loops = launch_alloc(L, (size_t)p->nloops + 1, sizeof *L->loops);
    if (L->ops == NULL || L->bundles == NULL || L->loops == NULL)
        return false;
    for (int k = 0; k < p->nops; k++) {
        L->ops[k].table = &p->ops[k];
        if (!resolve_op(L, &L->ops[k]))
            return false;
    }
    for (int k = 0; k < L->machine->nmemories; k++)
        if (!bounded(L, "what a task needs of a memory", p->need[k], 0, MOST_NUMBER, &L->need[k]))
            return false;
    return layout_new(L) && check_tokens(L) && resolve_bundles(L) && check_places(L);
}
