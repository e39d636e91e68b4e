// What operations do to the bytes of the modelled memories, when they start. Everything that is touched here was checked
// before (address.c, order.c); a launch without values comes here for scalar operations only.
//
// Test: tests/unit/test_model_values.c
#include "state.h"

#include <ptort/kernel.h>

#include <string.h>

uint8_t *view_base(const Launch *L, const Instance *in, const View *v) {
    return v->of->tensor ? L->l->tensors[v->of->which].data : in->resident->bytes[v->of->memory];
}

uint8_t *launch_room(Launch *L, size_t bytes) { return launch_grow(L, &L->room, &L->room_bytes, bytes + 64, 1) ? L->room : NULL; }

// From the element at the starts to the first one that is there.
static int64_t first_at(const View *v) {
    int64_t at = v->address;
    for (int d = 0; d < v->of->rank; d++)
        at += (v->lo[d] - v->start[d]) * v->of->dim[d].stride;
    return at;
}

// ---- copies ---------------------------------------------------------------------------------------------------------------

static void copy_row(uint8_t *to, int64_t to_step, const uint8_t *from, int64_t from_step, int64_t n, int bytes) {
    if (to_step == bytes && from_step == bytes) {
        memmove(to, from, (size_t)(n * bytes));
        return;
    }
    for (int64_t i = 0; i < n; i++)
        switch (bytes) {
        case 1: to[i * to_step] = from[i * from_step]; break;
        case 2: memcpy(to + i * to_step, from + i * from_step, 2); break;
        case 4: memcpy(to + i * to_step, from + i * from_step, 4); break;
        default: memcpy(to + i * to_step, from + i * from_step, 8); break;
        }
}

// The next place of all dimensions but the last; false after the last one.
static bool next_row(int64_t *i, const int64_t *n, int rank) {
    for (int d = rank - 2; d >= 0; d--) {
        if (++i[d] < n[d])
            return true;
        i[d] = 0;
    }
    return false;
}

static int64_t row_at(const View *v, const int64_t *i) {
    int64_t at = 0;
    for (int d = 0; d < v->of->rank - 1; d++)
        at += i[d] * v->of->dim[d].stride;
    return at;
}

static void copy_box(const View *to, uint8_t *target, const View *from, const uint8_t *source) {
    int rank = to->of->rank, last = rank - 1;
    int64_t i[PTO_MAX_DIMS] = {0};
    target += first_at(to);
    source += first_at(from);
    do
        copy_row(target + row_at(to, i), rank > 0 ? to->of->dim[last].stride : 0, source + row_at(from, i), rank > 0 ? from->of->dim[last].stride : 0,
                 rank > 0 ? to->n[last] : 1, to->of->bytes);
    while (next_row(i, to->n, rank));
}

#define FILLED INT64_MIN

static void fill_element(uint8_t *to, uint64_t fill, int bytes) {
    uint8_t b = (uint8_t)fill;
    uint16_t h = (uint16_t)fill;
    uint32_t w = (uint32_t)fill;
    memcpy(to, bytes == 1 ? (void *)&b : bytes == 2 ? (void *)&h : bytes == 4 ? (void *)&w : (void *)&fill, (size_t)bytes);
}

// Offsets of the elements along each dimension of the source, through its list or border.
static void source_offsets(const View *from, const View *to, int64_t *offset[PTO_MAX_DIMS]) {
    for (int d = 0; d < from->of->rank; d++) {
        const Dim *dim = &from->of->dim[d];
        for (int64_t i = 0; i < to->n[d]; i++) {
            bool listed = d == 0 && from->list != NULL, bordered = dim->border != PTO_BORDER_NONE;
            int64_t x = listed ? from->list[i] : from->lo[d] + i;
            if (!listed && bordered)
                x = border_map(dim->border, x, dim->length);
            offset[d][i] = (listed || bordered) && x < 0 ? FILLED : (x - from->start[d]) * dim->stride;
        }
    }
}

// A constant of one dimension wins; where several are left that have different ones, there is only one fill.
static void copy_mapped(const View *to, uint8_t *target, const View *from, const uint8_t *source, int64_t *offset[PTO_MAX_DIMS], uint64_t fill) {
    int rank = to->of->rank, last = rank - 1, bytes = to->of->bytes;
    int64_t i[PTO_MAX_DIMS] = {0};
    target += first_at(to);
    do {
        bool filled = false;
        int64_t at = from->address;
        for (int d = 0; d < last; d++) {
            filled |= offset[d][i[d]] == FILLED;
            at = wrap_add(at, offset[d][i[d]]);
        }
        uint8_t *row = target + row_at(to, i);
        for (int64_t k = 0; k < to->n[last]; k++, row += to->of->dim[last].stride)
            if (filled || offset[last][k] == FILLED)
                fill_element(row, fill, bytes);
            else
                memcpy(row, source + at + offset[last][k], (size_t)bytes);
    } while (next_row(i, to->n, rank));
}

static bool execute_copy(Launch *L, const Instance *in, const Work *w) {
    const View *to = &w->view[0], *from = &w->view[1];
    uint8_t *target = view_base(L, in, to);
    const uint8_t *source = view_base(L, in, from);
    if (!from->outside) {
        copy_box(to, target, from, source);
        return true;
    }
    size_t total = 0;
    for (int d = 0; d < to->of->rank; d++)
        total += (size_t)to->n[d];
    int64_t *offsets = (int64_t *)(void *)launch_room(L, total * sizeof *offsets), *offset[PTO_MAX_DIMS] = {0};
    if (offsets == NULL)
        return false;
    for (int d = 0; d < to->of->rank; offsets += to->n[d], d++)
        offset[d] = offsets;
    source_offsets(from, to, offset);
    bool constant = false;
    for (int d = 0; d < from->of->rank; d++)
        constant |= from->of->dim[d].border == PTO_BORDER_CONST;
    copy_mapped(to, target, from, source, offset, constant ? (uint64_t)from->of->fill : 0);
    return true;
}

// ---- products -------------------------------------------------------------------------------------------------------------

// Offsets of the elements along an axis: its dimensions in order, the last one fastest.
static int64_t *axis_offsets(const View *v, pto_axis axis, int64_t n, int64_t *offset) {
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, at = 0;
        for (int d = v->of->rank - 1; d >= 0; d--) {
            if (v->of->dim[d].axis != axis)
                continue;
            at += rest % v->n[d] * v->of->dim[d].stride;
            rest /= v->n[d];
        }
        offset[i] = at;
    }
    return offset + n;
}

static bool execute_multiply(Launch *L, const Instance *in, const Work *w) {
    const struct { pto_axis row, column; int64_t rows, columns; } shape[3] = {
        {PTO_AXIS_M, PTO_AXIS_N, w->m, w->n}, {PTO_AXIS_M, PTO_AXIS_K, w->m, w->k}, {PTO_AXIS_K, PTO_AXIS_N, w->k, w->n},
    };
    if (w->k == 0 && !w->init)
        return true;
    size_t offsets = (size_t)(2 * (w->m + w->n + w->k)) * sizeof(int64_t), packed = (offsets + 63) / 64 * 64;
    uint8_t *room = launch_room(L, packed + multiply_room(w->m, w->n, w->k) + 64);
    if (room == NULL)
        return false;
    int64_t *offset = (int64_t *)(void *)room;
    Matrix matrix[3];
    for (int k = 0; k < 3; k++) {
        const View *v = &w->view[k];
        matrix[k] = (Matrix){.base = view_base(L, in, v) + (v->elements > 0 ? first_at(v) : 0), .row = offset};
        offset = axis_offsets(v, shape[k].row, shape[k].rows, offset);
        matrix[k].column = offset;
        offset = axis_offsets(v, shape[k].column, shape[k].columns, offset);
    }
    room += packed;
    room += -(uintptr_t)room & 63;
    multiply(w->view[1].of->type, matrix[0], matrix[1], matrix[2], w->m, w->n, w->k, w->init, room);
    return true;
}

// ---- nests ----------------------------------------------------------------------------------------------------------------

static bool nest_place(Launch *L, const Instance *in, const View *v, int k, pto_place *p) {
    int64_t at = v->address;
    int bytes = v->of->bytes;
    *p = (pto_place){.base = view_base(L, in, v)};
    if (v->elements == 0) {
        p->base = &L->nowhere;               // (whatever is read of it is outside)
        return true;
    }
    for (int d = 0; d < v->of->rank; d++) {
        int64_t stride = v->of->dim[d].stride;
        at = wrap_sub(at, wrap_mul(v->start[d], stride));
        if (stride % bytes != 0)
            return model_fault(L, "range", in, "operand %d: a stride of %lld bytes is not one of elements", k, (long long)stride);
        p->stride[d] = stride / bytes;
        p->lo[d] = v->lo[d];
        p->hi[d] = v->lo[d] + v->n[d];
    }
    if (at % bytes != 0)
        return model_fault(L, "range", in, "operand %d: its address is not one of elements", k);
    p->at = at / bytes;
    return true;
}

static bool execute_nest(Launch *L, const Instance *in, const Work *w) {
    const Op *o = &L->ops[in->op];
    pto_place places[PTO_MAX_OPERANDS];
    for (int k = 0; k < o->noperands; k++)
        if (!nest_place(L, in, &w->view[k], k, &places[k]))
            return false;
    place.task = in->resident->task;
    L->nest = in;
    o->table->compute(&(pto_work){.place = places, .lo = w->lo, .hi = w->hi, .frame = L->l->frame, .ctx = L->ctx});
    return L->status == PTO_OK;
}

int64_t pto_outside(const pto_work *w, int operand, int d, int64_t x) {
    Launch *L = w->ctx->model->launch;
    const pto_place *p = &w->place[operand];
    if (L->status == PTO_OK)
        model_fault(L, "range", L->nest, "subscript %lld of operand %d is outside of its box, %lld..%lld in dimension %d", (long long)x, operand, (long long)p->lo[d],
                    (long long)p->hi[d] - 1, d);
    return p->lo[d];
}

bool execute(Launch *L, const Instance *in, const Work *w) {
    switch (L->ops[in->op].table->kind) {
    case PTO_COPY: case PTO_GATHER: return execute_copy(L, in, w);
    case PTO_MULTIPLY: return execute_multiply(L, in, w);
    case PTO_NEST: return execute_nest(L, in, w);
    case PTO_TASK: break;
    }
    return true;
}

// ---- scalar operations ----------------------------------------------------------------------------------------------------

// Bursts that a scalar operation moves: one line of each tensor is kept.
static void touch_line(Launch *L, int tensor, int64_t at, int64_t bytes, int write) {
    int64_t burst = L->scalar_path >= 0 ? L->machine->path[L->scalar_path].burst : 0;
    Touched *t = &L->touched[tensor];
    t->payload[write] += bytes;
    if (burst == 0) {
        t->bus[write] += bytes;
        return;
    }
    for (int64_t line = at / burst; line <= (at + bytes - 1) / burst; line++)
        if (t->line != line + 1) {
            t->bus[write] += burst;
            t->line = line + 1;
        }
}

// After a fault the task has to end: its loops do.
static void *touch_nowhere(pto_scalar *s) {
    s->most = 0;
    return &s->model->launch->nowhere;
}

void *pto_touch(pto_scalar *s, int tensor, const void *at, int write) {
    Launch *L = s->model->launch;
    if (L->status != PTO_OK)
        return touch_nowhere(s);
    if (tensor < 0 || tensor >= L->l->ntensors) {
        model_fault(L, "range", L->scalar, "touches tensor %d of %d", tensor, L->l->ntensors);
        return touch_nowhere(s);
    }
    const pto_ddr *t = &L->l->tensors[tensor];
    uintptr_t begin = (uintptr_t)t->data, address = (uintptr_t)at;
    if (address < begin || address - begin > (uintptr_t)t->bytes || (uintptr_t)t->bytes - (address - begin) < (uintptr_t)t->element) {
        int64_t offset = address < begin ? -(int64_t)(begin - address) : (int64_t)(address - begin);
        model_fault(L, "range", L->scalar, "touches byte %lld of %s, of %lld", (long long)offset, t->name, (long long)t->bytes);
        return touch_nowhere(s);
    }
    int64_t offset = (int64_t)(address - begin);
    touch_line(L, tensor, offset, t->element, write != 0);
    if (!order_touch(L, L->scalar, tensor, offset, t->element, write != 0))
        return touch_nowhere(s);
    return (void *)address;
}

static void add_touched(const Launch *L, Work *w) {
    for (int k = 0; L->scalar_path >= 0 && k < L->l->ntensors; k++) {
        const Touched *t = &w->touched[k];
        w->bus += t->bus[0] + t->bus[1];
        w->written += t->bus[1];
        w->payload += t->payload[0] + t->payload[1];
    }
}

static bool touched_new(Launch *L, Work *w) {
    if (w->touched == NULL)
        w->touched = launch_alloc(L, (size_t)L->l->ntensors + 1, sizeof *w->touched);
    if (w->moved == NULL)
        w->moved = launch_alloc(L, (size_t)L->l->ntensors + 1, sizeof *w->moved);
    return w->touched != NULL && w->moved != NULL;
}

bool execute_task(Launch *L, Instance *in, Work *w, int64_t *operations) {
    const Op *o = &L->ops[in->op];
    int64_t most = L->most_cycles - L->now;
    pto_scalar s = {.model = L->model, .most = most};
    if (!touched_new(L, w))
        return false;
    memset(w->touched, 0, (size_t)L->l->ntensors * sizeof *w->touched);
    L->touched = w->touched;
    L->scalar = in;
    L->scalar_path = o->path;
    place.task = in->resident->task;
    o->table->scalar(&s, L->l->frame, in->resident->tile);
    if (s.most < 0 && L->status == PTO_OK)
        model_fault(L, "limit", in, "it makes more than %lld turns", (long long)most);
    L->scalar = NULL;
    add_touched(L, w);
    *operations = s.operations < 0 ? 0 : least(s.operations, MOST_NUMBER);
    return L->status == PTO_OK;
}
