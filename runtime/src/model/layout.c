// Where the elements of a tensor lie: in its memory as its dimensions say, on chip as whoever wrote them put them there.
//
// An operand that says which tensor it is a box of says with it where the tensor's element [0, 0, ...] is, or would be: its
// origin. Two operands mean the same element by the same bytes if their origins and their strides agree. So what reads is
// held against what wrote: another tensor, type, slot, address or stride is a fault, even where the bytes were written in
// order; and a box of a tensor in its memory against the tensor's dimensions. Strides and names are compared once
// for each pair of operations, origins in each iteration. What does not say its tensor is not looked at.
//
// Test: tests/unit/test_model_layout.c, tests/mutate
#include "state.h"

#include <string.h>

// ---- what was written, and what reads it ----------------------------------------------------------------------------------

// Do the operand's own strides follow from those along the tensor's dimensions?
static bool is_whole(const Operand *o) {
    for (int k = 0; o->mapped && k < o->rank; k++) {
        int64_t sum = 0;
        for (int d = 0; d < o->naxes; d++)
            sum = wrap_add(sum, wrap_mul(o->axis[d].steps[k], o->axis[d].stride));
        if (o->dim[k].at.size > 1 && sum != o->dim[k].stride)
            return false;
    }
    return true;
}

// A dimension of one element need not say its stride.
static bool has_stride(const Operand *o, int d) { return o->mapped || o->dim[d].at.size > 1 || o->dim[d].stride != 0; }

static Fit compare(const Operand *w, const Operand *r) {
    if (w->of == 0 || r->of == 0)
        return FIT_UNKNOWN;
    if (w->of != r->of || w->type != r->type)
        return FIT_TENSOR;
    bool slots = w->slots > 1 || r->slots > 1;
    if (slots && (w->slots != r->slots || w->slot_digits != r->slot_digits || w->slot_bytes != r->slot_bytes))
        return FIT_SLOTS;
    if (w->naxes != r->naxes || !is_whole(w) || !is_whole(r))
        return FIT_STRIDES;
    for (int d = 0; d < w->naxes; d++)
        if (has_stride(w, d) && has_stride(r, d) && w->axis[d].stride != r->axis[d].stride)
            return FIT_STRIDES;
    return FIT;
}

Fit layout_fit(Launch *L, int writer, const Operand *reader) {
    uint8_t *known = &L->fits[(size_t)writer * (size_t)L->noperands + (size_t)reader->number];
    if (*known == 0)
        *known = (uint8_t)(1 + compare(&L->ops[writer].operand[0], reader));
    return (Fit)(*known - 1);
}

// Where the element [0, 0, ...] of its tensor would be.
static int64_t origin_of(const View *v) {
    int64_t at = v->address;
    for (int d = 0; d < v->of->naxes; d++)
        at = wrap_sub(at, wrap_mul(v->at[d], v->of->axis[d].stride));
    return at;
}

void layout_view(View *v, const int64_t *iv) {
    for (int d = 0; d < v->of->naxes; d++)
        v->at[d] = v->of->mapped ? affine_at(&v->of->axis[d].start, iv) : v->start[d];
    v->origin = origin_of(v);
}

// ---- tensors --------------------------------------------------------------------------------------------------------------

static bool in_fold(const pto_ddr *t, int d) { return t->dim[d].fold > 0; }

// Subscripts with a border count from the tensor's first element.
static int64_t base_of(const pto_ddr *t, const Operand *o, int d) {
    return !o->mapped && (o->dim[d].length > 0 || o->dim[d].border != PTO_BORDER_NONE) ? 0 : t->dim[d].base;
}

// The first subscript along d that is really there.
static int64_t first_of(const View *v, int d) {
    bool border = !v->of->mapped && v->list == NULL && v->of->dim[d].border != PTO_BORDER_NONE;
    return v->of->mapped ? v->at[d] : border && v->nparts[d] > 0 ? v->part[d][0].lo : v->lo[d];
}

static int64_t folded(int64_t x, int64_t fold) { return x % fold < 0 ? x % fold + fold : x % fold; }

// Where the element at the address lies along d; in a folded dimension it may be before what is cut away.
static int64_t place_of(const pto_ddr *t, const View *v, int d) {
    if (!in_fold(t, d))
        return wrap_sub(v->at[d], base_of(t, v->of, d));
    int64_t first = first_of(v, d);
    return folded(first, t->dim[d].fold) - (first - v->at[d]);
}

static bool off(Launch *L, const Instance *in, int k, const char *what) {
    return model_fault(L, "layout", in, "%s of operand %d is not that of %s", what, k, L->l->tensors[L->ops[in->op].operand[k].which].name);
}

// The places along a dimension of the tensor, from the one of the address on.
static Part reach_along(const View *v, int d) {
    Part p = {.lo = 0, .n = 1};
    for (int k = 0; k < v->of->rank; k++) {
        int64_t steps = v->of->mapped ? v->of->axis[d].steps[k] : k == d, far = steps * (v->n[k] - 1);
        p.lo += steps * (v->lo[k] - v->start[k]) + least(far, 0);
        p.n += far < 0 ? -far : far;
    }
    return p;
}

// Its elements, dimension by dimension: in another row they would still be bytes of the tensor.
static bool check_subscripts(Launch *L, const Instance *in, int k, const View *v, const pto_ddr *t) {
    for (int d = 0; d < v->of->naxes; d++) {
        const Dim *dim = v->of->mapped ? NULL : &v->of->dim[d];
        bool listed = L->ops[in->op].table->kind == PTO_GATHER && k == 1 && d == 0;
        int64_t extent = in_fold(t, d) ? t->dim[d].fold : t->dim[d].extent;
        if (dim != NULL && dim->length > 0 && !in_fold(t, d) && dim->length != extent)
            return model_fault(L, "layout", in, "operand %d takes dimension %d of %s for %lld long, which has %lld", k, d, t->name, (long long)dim->length, (long long)extent);
        if (listed || (dim != NULL && dim->border != PTO_BORDER_NONE))
            continue;
        Part p = reach_along(v, d);
        int64_t lo = place_of(t, v, d) + p.lo;
        if (lo < 0 || lo + p.n > extent)
            return model_fault(L, "range", in, "operand %d has the subscripts %lld..%lld in dimension %d of %s, which has %lld", k, (long long)(v->at[d] + p.lo),
                               (long long)(v->at[d] + p.lo + p.n - 1), d, t->name, (long long)extent);
    }
    return true;
}

static bool check_address(Launch *L, const Instance *in, int k, const View *v, const pto_ddr *t) {
    int64_t at = 0;
    for (int d = 0; d < t->rank; d++)
        at = wrap_add(at, wrap_mul(place_of(t, v, d), L->strides[v->of->which][d]));
    return v->address == at || off(L, in, k, "the address");
}

// All of it is beyond a border, or cut away.
static bool is_nothing(const View *v) {
    for (int d = v->list != NULL; d < v->of->rank; d++)
        if (v->n[d] == 0 || v->nparts[d] == 0)
            return true;
    return false;
}

bool layout_in_tensor(Launch *L, const Instance *in, int k, const View *v) {
    const pto_ddr *t = &L->l->tensors[v->of->which];
    if (v->of->of == 0 || t->rank == 0)
        return true;
    if (v->of->naxes != t->rank)
        return model_fault(L, "layout", in, "operand %d has %d dimensions, and %s %d", k, v->of->naxes, t->name, t->rank);
    if (v->of->off)
        return off(L, in, k, "a stride");
    return is_nothing(v) || (check_subscripts(L, in, k, v, t) && check_address(L, in, k, v, t));
}

// Which time round a folded dimension its elements are of; all of them alike, since a box does not go over the end.
int32_t layout_turn(const Launch *L, const View *v) {
    const pto_ddr *t = &L->l->tensors[v->of->which];
    int64_t turn = 0;
    if (v->of->of == 0 || v->of->naxes != t->rank)
        return TURN_ANY;
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d].fold > 1)
            turn = wrap_add(wrap_mul(turn, 65537), (first_of(v, d) - folded(first_of(v, d), t->dim[d].fold)) / t->dim[d].fold);
    return (int32_t)(turn & INT32_MAX);
}

// ---- copies -----------------------------------------------------------------------------------------------------------------

// Where both are boxes in the dimensions of one tensor, each element goes to its own place.
bool layout_same_places(Launch *L, const Instance *in, const Work *w) {
    const View *to = &w->view[0], *from = &w->view[1];
    if (to->of->of == 0 || from->of->of == 0 || to->of->mapped || from->of->mapped)
        return true;
    if (to->of->of != from->of->of || to->of->type != from->of->type)
        return model_fault(L, "tensor", in, "it moves elements of one tensor to where those of another one are to be");
    const pto_ddr *t = from->of->tensor ? &L->l->tensors[from->of->which] : NULL;
    for (int d = L->ops[in->op].table->kind == PTO_GATHER; d < to->of->rank; d++) {
        if (t != NULL && t->rank == to->of->rank && (t->dim[d].fold > 0 || from->nparts[d] == 0))
            continue;                    // a plane that a border repeats, or nothing
        int64_t base = t != NULL && t->rank == to->of->rank ? t->dim[d].base - base_of(t, from->of, d) : 0;
        if (to->lo[d] != from->lo[d] + base)
            return model_fault(L, "layout", in, "in dimension %d it moves element %lld to where %lld is to be", d, (long long)(from->lo[d] + base), (long long)to->lo[d]);
    }
    return true;
}

// ---- what an operation reads and writes at once -----------------------------------------------------------------------------

typedef struct { uint8_t *written; int64_t lo, hi; bool read; } Overlap;

static bool mark_run(void *arg, int64_t at, int64_t bytes) {
    Overlap *o = arg;
    memset(o->written + (at - o->lo), 1, (size_t)bytes);
    return true;
}

static bool seek_run(void *arg, int64_t at, int64_t bytes) {
    Overlap *o = arg;
    int64_t a = most(at, o->lo), b = least(at + bytes, o->hi);
    o->read = b > a && memchr(o->written + (a - o->lo), 1, (size_t)(b - a)) != NULL;
    return !o->read;
}

// Does each point read but the bytes that it writes?
static bool is_in_place(const Op *o, const Work *w, int k) {
    const View *to = &w->view[0], *from = &w->view[k];
    bool same = o->table->kind == PTO_NEST && (o->table->same >> k & 1) && to->of->rank == from->of->rank && to->address == from->address && to->of->bytes == from->of->bytes;
    for (int d = 0; same && d < to->of->rank; d++)
        same = to->start[d] == from->start[d] && (to->of->dim[d].stride == from->of->dim[d].stride || (to->n[d] == 1 && from->n[d] == 1));
    return same;
}

// Units have no order of their own in which they read and write elements: what is read is not written by the same operation,
// but in place.
bool layout_apart(Launch *L, const Instance *in, const Work *w) {
    const Op *o = &L->ops[in->op];
    int64_t at, bytes;
    view_span(&w->view[0], &at, &bytes);
    for (int k = 1; k < o->noperands; k++) {
        int64_t from, length;
        if (o->operand[k].tensor || o->operand[0].tensor || o->operand[k].memory != o->operand[0].memory || is_in_place(o, w, k))
            continue;
        view_span(&w->view[k], &from, &length);
        if (length == 0 || bytes == 0 || from + length <= at || at + bytes <= from)
            continue;
        Overlap v = {.written = launch_room(L, (size_t)bytes), .lo = at, .hi = at + bytes};
        if (v.written == NULL)
            return false;
        memset(v.written, 0, (size_t)bytes);
        view_runs(&w->view[0], mark_run, &v);
        view_runs(&w->view[k], seek_run, &v);
        if (v.read)
            return model_fault(L, "overlap", in, "operand %d has bytes of %s that it writes", k, L->machine->memory[o->operand[k].memory].name);
    }
    return true;
}

// ---- all ----------------------------------------------------------------------------------------------------------------------

static void tensor_strides(const pto_ddr *t, int64_t *stride) {
    int64_t bytes = t->element;
    for (int d = t->rank - 1; d >= 0; d--) {
        stride[d] = t->dim[d].fold == 1 ? 0 : bytes;
        bytes = bounded_mul(bytes, most(in_fold(t, d) ? t->dim[d].fold : t->dim[d].extent, 0));
    }
}

static bool check_tensor(Launch *L, const pto_ddr *t) {
    if (t->rank < 0 || t->rank > PTO_MAX_DIMS)
        return model_refuse(L, "tensor %s has %d dimensions", t->name, t->rank);
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d].extent < 0 || t->dim[d].extent > MOST_NUMBER || t->dim[d].fold < 0 || t->dim[d].base < -MOST_NUMBER || t->dim[d].base > MOST_NUMBER)
            return model_refuse(L, "dimension %d of tensor %s", d, t->name);
    return true;
}

static bool is_off(const Launch *L, const Operand *o) {
    const pto_ddr *t = &L->l->tensors[o->which];
    for (int d = 0; d < o->naxes && o->naxes == t->rank; d++)
        if (has_stride(o, d) && o->axis[d].stride != L->strides[o->which][d])
            return true;
    return !is_whole(o);
}

bool layout_new(Launch *L) {
    L->strides = launch_alloc(L, (size_t)L->l->ntensors + 1, sizeof *L->strides);
    if (L->strides == NULL)
        return false;
    for (int k = 0; k < L->l->ntensors; k++) {
        if (!check_tensor(L, &L->l->tensors[k]))
            return false;
        tensor_strides(&L->l->tensors[k], L->strides[k]);
    }
    for (int i = 0; i < L->program->nops; i++)
        for (int k = 0; k < L->ops[i].noperands; k++) {
            Operand *o = &L->ops[i].operand[k];
            o->number = L->noperands++;
            o->off = o->tensor && is_off(L, o);
        }
    L->fits = launch_alloc(L, (size_t)L->program->nops * (size_t)L->noperands + 1, 1);
    return L->fits != NULL;
}
