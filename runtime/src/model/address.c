// Operands of one iteration: from affine forms to subscripts, from subscripts (through borders and lists) to runs of bytes,
// and what of a burst memory these touch.
//
// A View has the box of subscripts that an operation asks for. What is really read is a product of parts, one or two
// intervals for each dimension: a border that fills leaves the part inside, one that clamps, reflects or wraps takes the
// elements that it stands for. Everything that looks at bytes (range, order, bus) goes through view_runs, which joins what lies side
// by side. All subscripts and addresses are below MOST_NUMBER when work_prepare is through with them.
//
// Test: tests/unit/test_model.c, tests/unit/test_model_values.c
#include "state.h"

#include <ptort/kernel.h>

#include <string.h>

int64_t affine_at(const Affine *a, const int64_t *iv) {
    int64_t x = a->base;
    for (int k = 0; k < a->n; k++)
        x = wrap_add(x, wrap_mul(a->step[k], iv[a->iv[k]]));
    return x;
}

static bool small(int64_t x) { return x > -MOST_NUMBER && x < MOST_NUMBER; }

// The interval before the cut begins at *start; after it, it has *n places from *lo on.
static bool interval_at(const Interval *v, const int64_t *iv, int64_t *start, int64_t *lo, int64_t *n) {
    *start = affine_at(&v->start, iv);
    if (!small(*start) || !small(v->size) || !small(v->lo) || !small(v->hi))
        return false;
    int64_t a = *start, b = a + v->size;
    if (v->cut) {
        a = most(a, v->lo);
        b = least(b, v->hi);
    }
    *lo = a;
    *n = most(b - a, 0);
    return true;
}

// The number of the iteration among those of the loops around a bundle, its own loop with its first `digits` digits.
static int64_t iteration_count(const Launch *L, int loop, int digits, const int64_t *iv) {
    if (loop < 0)
        return 0;
    const Loop *l = &L->loops[loop];
    int64_t c = iteration_count(L, l->parent, PTO_MAX_DIGITS, iv);
    for (int d = 0; d < digits && d < l->ndigits; d++)
        c = wrap_add(wrap_mul(c, l->count[d]), iv[l->iv + d]);
    return c & INT64_MAX;
}

// ---- borders --------------------------------------------------------------------------------------------------------------

int64_t border_map(pto_border border, int64_t x, int64_t length) {
    if (x >= 0 && x < length)
        return x;
    switch (border) {
    case PTO_BORDER_CLAMP: return length > 0 ? pto_clamp(x, 0, length) : -1;
    case PTO_BORDER_REFLECT: return length > 0 ? pto_reflect(x, 0, length) : -1;
    case PTO_BORDER_WRAP: return length > 0 ? pto_wrap(x, 0, length) : -1;
    case PTO_BORDER_NONE: case PTO_BORDER_ZERO: case PTO_BORDER_CONST: break;
    }
    return -1;
}

static int part_inside(int64_t lo, int64_t n, int64_t length, Part *part) {
    int64_t a = most(lo, 0), b = least(lo + n, length);
    part[0] = (Part){.lo = a, .n = b - a};
    return b > a;
}

static int part_reflected(int64_t lo, int64_t n, int64_t length, Part *part) {
    int64_t a = length, b = -1;
    if (n >= 2 * length)
        return part_inside(0, length, length, part);
    for (int64_t x = lo; x < lo + n; x++) {
        int64_t at = border_map(PTO_BORDER_REFLECT, x, length);
        a = least(a, at);
        b = most(b, at);
    }
    part[0] = (Part){.lo = a, .n = b - a + 1};
    return 1;
}

static int part_wrapped(int64_t lo, int64_t n, int64_t length, Part *part) {
    if (n >= length)
        return part_inside(0, length, length, part);
    int64_t a = border_map(PTO_BORDER_WRAP, lo, length), first = least(n, length - a);
    part[0] = (Part){.lo = a, .n = first};
    part[1] = (Part){.lo = 0, .n = n - first};
    return part[1].n > 0 ? 2 : 1;
}

// The subscripts in [0, length) that `n` of them from `lo` on stand for; returns the number of parts.
static int parts_of(pto_border border, int64_t lo, int64_t n, int64_t length, Part *part) {
    switch (border) {
    case PTO_BORDER_NONE: break;
    case PTO_BORDER_ZERO: case PTO_BORDER_CONST: return part_inside(lo, n, length, part);
    case PTO_BORDER_CLAMP:
        part[0].lo = pto_clamp(lo, 0, length);
        part[0].n = pto_clamp(lo + n - 1, 0, length) - part[0].lo + 1;
        return 1;
    case PTO_BORDER_REFLECT: return part_reflected(lo, n, length, part);
    case PTO_BORDER_WRAP: return part_wrapped(lo, n, length, part);
    }
    part[0] = (Part){.lo = lo, .n = n};
    return 1;
}

static bool view_border(Launch *L, const Instance *in, View *v, int k, int d) {
    const Dim *dim = &v->of->dim[d];
    int64_t lo = v->lo[d], n = v->n[d];
    v->nparts[d] = 1;
    v->part[d][0] = (Part){.lo = lo, .n = n};
    if (n == 0 || !v->of->tensor || (dim->border == PTO_BORDER_NONE && dim->length == 0) || (lo >= 0 && lo + n <= dim->length))
        return true;
    bool fills = dim->border == PTO_BORDER_ZERO || dim->border == PTO_BORDER_CONST;
    if (dim->border == PTO_BORDER_NONE || (dim->length == 0 && !fills))
        return model_fault(L, "range", in, "operand %d has the subscripts %lld..%lld in dimension %d of %s, which has %lld", k, (long long)lo, (long long)(lo + n - 1), d,
                           L->l->tensors[v->of->which].name, (long long)dim->length);
    v->outside = true;
    v->nparts[d] = parts_of(dim->border, lo, n, dim->length, v->part[d]);
    return true;
}

// ---- views ----------------------------------------------------------------------------------------------------------------

static bool view_of(Launch *L, const Instance *in, int k, View *v) {
    const Operand *o = v->of = &L->ops[in->op].operand[k];
    v->outside = false;
    v->list = NULL;
    v->elements = 1;
    v->address = affine_at(&o->address, in->iv);
    v->count = -1;
    if (o->slots > 1) {
        v->count = iteration_count(L, L->bundles[in->bundle].loop, o->slot_digits, in->iv);
        v->address = wrap_add(v->address, wrap_mul(o->slot_bytes, v->count % o->slots));
    }
    bool fine = small(v->address);
    for (int d = 0; d < o->rank; d++) {
        fine = interval_at(&o->dim[d].at, in->iv, &v->start[d], &v->lo[d], &v->n[d]) && fine;
        if (!fine)
            return model_overflow(L, in, "operand %d has a subscript or an address beyond all memory", k);
        v->elements = bounded_mul(v->elements, v->n[d]);
    }
    layout_view(v, in->iv);
    return fine || model_overflow(L, in, "operand %d has an address beyond all memory", k);
}

// Bytes of the memory that an operand may touch.
static int64_t view_limit(const Launch *L, const View *v) { return v->of->tensor ? L->l->tensors[v->of->which].bytes : L->need[v->of->memory]; }

static const char *view_where(const Launch *L, const View *v) {
    return v->of->tensor ? L->l->tensors[v->of->which].name : L->machine->memory[v->of->memory].name;
}

// The bytes between the first and the last element of a product of parts; false: they are not numbers.
static bool parts_span(const View *v, const Part *part, int64_t *lo, int64_t *hi) {
    *lo = v->address;
    for (int d = 0; d < v->of->rank; d++) {
        int64_t step;
        if (__builtin_mul_overflow(part[d].lo - v->start[d], v->of->dim[d].stride, &step) || __builtin_add_overflow(*lo, step, lo))
            return false;
    }
    *hi = *lo;
    for (int d = 0; d < v->of->rank; d++) {
        int64_t step, *end = v->of->dim[d].stride < 0 ? lo : hi;
        if (__builtin_mul_overflow(part[d].n - 1, v->of->dim[d].stride, &step) || __builtin_add_overflow(*end, step, end))
            return false;
    }
    return !__builtin_add_overflow(*hi, v->of->bytes, hi);
}

// Calls f for every product of parts; for a gather, for each element of its list.
typedef bool (*EachParts)(void *arg, const View *v, const Part *part);
static bool each_parts(const View *v, EachParts f, void *arg) {
    Part part[PTO_MAX_DIMS];
    int at[PTO_MAX_DIMS] = {0}, from = v->list != NULL;
    for (int d = from; d < v->of->rank; d++)
        if (v->nparts[d] == 0)
            return true;
    for (int64_t i = 0; i < (from ? v->n[0] : 1); i++) {
        if (from && v->list[i] < 0)
            continue;
        part[0] = from ? (Part){.lo = v->list[i], .n = 1} : (Part){0};
        int d;
        do {
            for (d = from; d < v->of->rank; d++)
                part[d] = v->part[d][at[d]];
            if (!f(arg, v, part))
                return false;
            for (d = from; d < v->of->rank && ++at[d] == v->nparts[d]; d++)
                at[d] = 0;
        } while (d < v->of->rank);
    }
    return true;
}

typedef struct Check { Launch *L; const Instance *in; int operand; } Check;

static bool check_parts(void *arg, const View *v, const Part *part) {
    const Check *c = arg;
    int64_t lo, hi, limit = view_limit(c->L, v);
    if (!parts_span(v, part, &lo, &hi))
        return model_overflow(c->L, c->in, "operand %d lies beyond all memory", c->operand);
    if (lo < 0 || hi > limit)
        return model_fault(c->L, "range", c->in, "operand %d covers %s[%lld..%lld], of %lld bytes", c->operand, view_where(c->L, v), (long long)lo, (long long)(hi - 1), (long long)limit);
    return true;
}

static bool view_check(Launch *L, const Instance *in, int k, View *v) {
    if (v->elements >= INT64_C(1) << 40)
        return model_fault(L, "limit", in, "operand %d has too many elements", k);
    bool gathers = L->ops[in->op].table->kind == PTO_GATHER && k == 1;
    if (gathers) {
        v->nparts[0] = 1;
        v->part[0][0] = (Part){.lo = v->lo[0], .n = v->n[0]};
    }
    for (int d = gathers; d < v->of->rank; d++)
        if (!view_border(L, in, v, k, d))
            return false;
    return v->elements == 0 || gathers || each_parts(v, check_parts, &(Check){L, in, k});
}

// ---- runs -----------------------------------------------------------------------------------------------------------------

typedef struct Runs { int64_t at, length; int rank; int64_t n[PTO_MAX_DIMS], stride[PTO_MAX_DIMS]; } Runs;   // the smallest stride first

static void runs_add(Runs *r, int64_t n, int64_t stride) {
    int last = r->rank - 1;
    if (last < 0 && stride == r->length)
        r->length *= n;
    else if (last >= 0 && stride == r->n[last] * r->stride[last])
        r->n[last] *= n;
    else {
        r->n[r->rank] = n;
        r->stride[r->rank++] = stride;
    }
}

// Elements of a product of parts as runs: strides made positive and sorted, dimensions that repeat left out.
static Runs runs_of(const View *v, const Part *part) {
    Runs r = {.at = v->address, .length = v->of->bytes};
    struct { int64_t n, stride; } dim[PTO_MAX_DIMS];
    int rank = 0;
    for (int d = 0; d < v->of->rank; d++) {
        int64_t n = part[d].n, stride = v->of->dim[d].stride;
        r.at = wrap_add(r.at, wrap_mul(part[d].lo - v->start[d], stride));
        if (n == 1 || stride == 0)
            continue;
        if (stride < 0) {
            r.at = wrap_add(r.at, (n - 1) * stride);
            stride = -stride;
        }
        int k = rank++;
        for (; k > 0 && dim[k - 1].stride > stride; k--)
            dim[k] = dim[k - 1];
        dim[k].n = n;
        dim[k].stride = stride;
    }
    for (int k = 0; k < rank; k++)
        runs_add(&r, dim[k].n, dim[k].stride);
    return r;
}

typedef struct RunArg { Run run; void *arg; } RunArg;

static bool parts_runs(void *arg, const View *v, const Part *part) {
    const RunArg *a = arg;
    Runs r = runs_of(v, part);
    int64_t i[PTO_MAX_DIMS] = {0}, at = r.at;
    for (;;) {
        if (!a->run(a->arg, at, r.length))
            return false;
        int d = 0;
        for (; d < r.rank; d++) {
            at += r.stride[d];
            if (++i[d] < r.n[d])
                break;
            at -= r.n[d] * r.stride[d];
            i[d] = 0;
        }
        if (d == r.rank)
            return true;
    }
}

bool view_runs(const View *v, Run run, void *arg) { return v->elements == 0 || each_parts(v, parts_runs, &(RunArg){run, arg}); }

typedef struct Span { int64_t lo, hi; } Span;

static bool span_run(void *arg, const View *v, const Part *part) {
    Span *s = arg;
    int64_t lo, hi;
    if (parts_span(v, part, &lo, &hi)) {
        s->lo = least(s->lo, lo);
        s->hi = most(s->hi, hi);
    }
    return true;
}

void view_span(const View *v, int64_t *address, int64_t *bytes) {
    Span s = {INT64_MAX, INT64_MIN};
    if (v->elements > 0)
        each_parts(v, span_run, &s);
    *address = s.hi > s.lo ? s.lo : 0;
    *bytes = s.hi > s.lo ? s.hi - s.lo : 0;
}

// ---- the bus --------------------------------------------------------------------------------------------------------------

typedef struct Bus { int64_t burst, bus, payload; } Bus;

static bool bus_run(void *arg, int64_t at, int64_t bytes) {
    Bus *b = arg;
    b->payload += bytes;
    b->bus += b->burst > 0 ? ((at + bytes - 1) / b->burst - at / b->burst + 1) * b->burst : bytes;
    return true;
}

void work_bus(const Launch *L, const Instance *in, Work *w) {
    const Op *o = &L->ops[in->op];
    const View *side = w->view[0].of->tensor ? &w->view[0] : &w->view[1];
    w->bus = w->payload = w->view[0].elements * w->view[0].of->bytes;
    if (side->of->tensor) {
        Bus b = {.burst = L->machine->path[o->path].burst};
        view_runs(side, bus_run, &b);
        w->bus = b.bus;
        w->payload = b.payload;
    }
    w->written = o->write ? w->bus : 0;
}

// ---- operations -----------------------------------------------------------------------------------------------------------

static bool prepare_transfer(Launch *L, const Instance *in, Work *w) {
    const View *to = &w->view[0], *from = &w->view[1];
    bool gathers = L->ops[in->op].table->kind == PTO_GATHER;
    for (int d = 0; d < to->of->rank; d++) {
        int64_t n = gathers && d == 0 ? w->view[2].n[0] : from->n[d];
        if (to->n[d] != n)
            return model_fault(L, "extent", in, "dimension %d has %lld elements where it writes and %lld where it reads", d, (long long)to->n[d], (long long)n);
    }
    int64_t bytes = to->elements * to->of->bytes, limit = L->machine->unit[L->ops[in->op].table->slot].most;
    return limit == 0 || bytes <= limit || model_fault(L, "limit", in, "a transfer of %lld bytes: at most %lld", (long long)bytes, (long long)limit);
}

static int64_t axis_extent(const View *v, pto_axis axis) {
    int64_t n = 1;
    for (int d = 0; d < v->of->rank; d++)
        if (v->of->dim[d].axis == axis)
            n = bounded_mul(n, v->n[d]);
    return n;
}

static bool prepare_axis(Launch *L, const Instance *in, const Work *w, pto_axis axis, int a, int b, int64_t *n) {
    int64_t other = axis_extent(&w->view[b], axis), limit = L->machine->unit[PTO_CUBE].most;
    const char *name = axis == PTO_AXIS_M ? "m" : axis == PTO_AXIS_N ? "n" : "k";
    *n = axis_extent(&w->view[a], axis);
    if (*n != other)
        return model_fault(L, "extent", in, "%s is %lld in operand %d and %lld in operand %d", name, (long long)*n, a, (long long)other, b);
    return limit == 0 || *n <= limit || model_fault(L, "limit", in, "%s is %lld: at most %lld", name, (long long)*n, (long long)limit);
}

static bool prepare_multiply(Launch *L, const Instance *in, Work *w) {
    w->init = digits_hold(L, L->bundles[in->bundle].loop, L->ops[in->op].table->init, in->iv);
    return prepare_axis(L, in, w, PTO_AXIS_M, 0, 1, &w->m) && prepare_axis(L, in, w, PTO_AXIS_N, 0, 2, &w->n) && prepare_axis(L, in, w, PTO_AXIS_K, 1, 2, &w->k);
}

static bool prepare_nest(Launch *L, const Instance *in, Work *w) {
    const Op *o = &L->ops[in->op];
    w->points = 1;
    for (int d = 0; d < o->table->rank; d++) {
        int64_t start, n;
        if (!interval_at(&o->box[d], in->iv, &start, &w->lo[d], &n))
            return model_overflow(L, in, "index %d of the nest is beyond all numbers", d);
        w->hi[d] = w->lo[d] + n;
        w->points = bounded_mul(w->points, n);
    }
    w->empty |= w->points == 0;
    return true;
}

bool work_prepare(Launch *L, const Instance *in, Work *w) {
    const Op *o = &L->ops[in->op];
    w->bus = w->payload = w->written = w->m = w->n = w->k = w->points = 0;
    w->init = w->empty = false;
    for (int k = 0; k < o->noperands; k++)
        if (!view_of(L, in, k, &w->view[k]))
            return false;
    w->empty = o->noperands > 0 && w->view[0].elements == 0;
    if (o->table->kind == PTO_NEST && !prepare_nest(L, in, w))
        return false;
    if (w->empty)
        return true;
    bool fine = true;
    switch (o->table->kind) {
    case PTO_COPY: case PTO_GATHER: fine = prepare_transfer(L, in, w); break;
    case PTO_MULTIPLY: fine = prepare_multiply(L, in, w); break;
    case PTO_NEST: case PTO_TASK: break;
    }
    for (int k = 0; fine && k < o->noperands; k++)
        fine = view_check(L, in, k, &w->view[k]) && (!w->view[k].of->tensor || layout_in_tensor(L, in, k, &w->view[k]));
    fine = fine && (o->table->kind == PTO_MULTIPLY || o->table->kind == PTO_NEST || o->table->kind == PTO_TASK || layout_same_places(L, in, w));
    if (fine && o->table->kind == PTO_COPY)
        work_bus(L, in, w);
    return fine;
}

// ---- gathers --------------------------------------------------------------------------------------------------------------

static int64_t list_value(pto_dtype type, const uint8_t *at) {
#define PTO_LIST(D, T) case D: { T x; memcpy(&x, at, sizeof x); return (int64_t)x; }
    switch (type) {
    PTO_LIST(PTO_I64, int64_t) PTO_LIST(PTO_I32, int32_t) PTO_LIST(PTO_I16, int16_t) PTO_LIST(PTO_I8, int8_t)
    PTO_LIST(PTO_U64, uint64_t) PTO_LIST(PTO_U32, uint32_t) PTO_LIST(PTO_U16, uint16_t) PTO_LIST(PTO_U8, uint8_t)
    case PTO_F64: case PTO_F32: case PTO_BF16: case PTO_F16: case PTO_BOOL: break;
    }
    return 0;
#undef PTO_LIST
}

// The list has subscripts of the tensor; without values they are 0, 1, 2, ... Sets -1 for those that a border fills.
bool work_gather(Launch *L, const Instance *in, Work *w) {
    View *from = &w->view[1], *list = &w->view[2];
    const Dim *dim = &from->of->dim[0];
    int64_t n = list->n[0];
    if (!launch_grow(L, &w->list, &w->list_room, (size_t)n, sizeof *w->list))
        return false;
    for (int64_t i = 0; i < n; i++) {
        int64_t x = dim->length > 0 ? i % dim->length : i;
        if (L->values)
            x = list_value(list->of->type, view_base(L, in, list) + list->address + (list->lo[0] - list->start[0] + i) * list->of->dim[0].stride);
        bool inside = x >= 0 && (x < dim->length || (dim->length == 0 && dim->border == PTO_BORDER_NONE));
        w->list[i] = inside ? x : border_map(dim->border, x, dim->length);
        if (!inside && w->list[i] < 0 && dim->border != PTO_BORDER_ZERO && dim->border != PTO_BORDER_CONST)
            return model_fault(L, "range", in, "the list has %lld, dimension 0 of %s has %lld", (long long)x, view_where(L, from), (long long)dim->length);
        if (x >= MOST_NUMBER)
            return model_fault(L, "range", in, "the list has %lld", (long long)x);
    }
    from->list = w->list;
    from->n[0] = n;
    from->elements = w->view[0].elements;
    from->outside = true;
    if (!each_parts(from, check_parts, &(Check){L, in, 1}))
        return false;
    work_bus(L, in, w);
    return true;
}

// ---- cycles ---------------------------------------------------------------------------------------------------------------

static int64_t port_width(const pto_unit *u, int memory) {
    for (int k = 0; k < u->nports; k++)
        if (u->port[k].memory == memory)
            return u->port[k].width;
    return 0;
}

static int64_t multiply_cycles(const Launch *L, const Op *o, const Work *w) {
    if (w->k == 0)
        return 0;
    int64_t blocks = bounded_mul(bounded_mul(ceil_div(w->m, o->shape->m), ceil_div(w->n, o->shape->n)), ceil_div(w->k, o->shape->k));
    int64_t cycles = bounded_mul(blocks, o->shape->passes), by_memory[PTO_MAX_MEMORIES] = {0};
    for (int k = 0; k < 3; k++)
        by_memory[o->operand[k].memory] += bounded_mul(w->view[k].elements, o->operand[k].bytes) * (k == 0 && !w->init ? 2 : 1);
    for (int m = 0; m < L->machine->nmemories; m++) {
        int64_t width = port_width(&L->machine->unit[PTO_CUBE], m);
        cycles = most(cycles, width > 0 ? ceil_div(by_memory[m], width) : 0);
    }
    return cycles;
}

static int64_t nest_cycles(const Launch *L, const Op *o, const Work *w) {
    const pto_unit *u = &L->machine->unit[o->table->slot];
    if (o->table->slot == PTO_SCALAR)
        return bounded_mul(w->points, o->cost);
    int last = o->table->rank - 1;
    int64_t row = last >= 0 ? w->hi[last] - w->lo[last] : 1, rows = w->points / row;
    int64_t each = o->table->strided ? row : ceil_div(bounded_mul(row, o->table->element), u->width);
    int64_t cycles = bounded_mul(bounded_mul(rows, each), o->cost), width = u->nports > 0 ? u->port[0].width : 0;
    return width > 0 ? most(cycles, ceil_div(bounded_mul(w->points, o->bytes), width)) : cycles;
}

// How long a cube, vector or scalar nest works.
int64_t work_cycles(const Launch *L, const Instance *in, const Work *w) {
    const Op *o = &L->ops[in->op];
    return o->table->kind == PTO_MULTIPLY ? multiply_cycles(L, o, w) : nest_cycles(L, o, w);
}
