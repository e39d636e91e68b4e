// What the launches of a call wrote, element by element. An output with an element that nothing wrote is a fault of the
// program, which no single launch shows; so is a read of an element, of a tensor that has no values before the call,
// which no launch wrote, or wrote for another turn of a folded dimension.
//
// The order of accesses (order.c) has the elements that a launch wrote; after it they are added up here, by tensor. Without
// values, and where order is not looked at, nothing is known and nothing is said.
//
// Test: tests/unit/test_model_layout.c
#include "state.h"

#include <string.h>

void written_reset(pto_context *ctx) {
    struct pto_model *m = ctx->model;
    for (size_t k = 0; k < m->nwritten; k++) {
        mem_free(&ctx->memory, m->written[k]->bits);
        mem_free(&ctx->memory, m->written[k]->turn);
        mem_free(&ctx->memory, m->written[k]);
    }
    m->nwritten = 0;
}

static struct Written *find(const struct pto_model *m, const void *data, int64_t elements) {
    for (size_t k = 0; k < m->nwritten; k++)
        if (m->written[k]->data == data && m->written[k]->elements == elements)
            return m->written[k];
    return NULL;
}

static bool is_folded(const pto_ddr *t) {
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d].fold > 1)
            return true;
    return false;
}

static struct Written *add(Launch *L, const pto_ddr *t) {
    struct pto_model *m = L->model;
    int64_t elements = ceil_div(t->bytes, t->element);
    struct Written *w = find(m, t->data, elements);
    if (w != NULL)
        return w;
    if (!launch_grow(L, &m->written, &m->written_room, m->nwritten + 1, sizeof *m->written))
        return NULL;
    w = mem_new(&L->ctx->memory, 1, sizeof *w);
    bool good = w != NULL && (w->bits = mem_new(&L->ctx->memory, (size_t)elements / 64 + 1, sizeof *w->bits)) != NULL;
    good = good && (!is_folded(t) || (w->turn = mem_new(&L->ctx->memory, (size_t)elements + 1, sizeof *w->turn)) != NULL);
    if (!good) {
        if (w != NULL)
            mem_free(&L->ctx->memory, w->bits);
        mem_free(&L->ctx->memory, w);
        L->status = pto_error(L->ctx, PTO_ERR_MEMORY, "no memory for the model");
        return NULL;
    }
    w->data = t->data;
    w->elements = w->missing = elements;
    m->written[m->nwritten++] = w;
    return w;
}

bool written_new(Launch *L) {
    L->written_of = launch_alloc(L, (size_t)L->l->ntensors + 1, sizeof *L->written_of);
    if (L->written_of == NULL)
        return false;
    for (int k = 0; k < L->l->ntensors && !L->unchecked; k++) {
        const pto_ddr *t = &L->l->tensors[k];
        if (!t->given && t->bytes > 0 && (L->written_of[k] = add(L, t)) == NULL)
            return false;
    }
    return true;
}

static bool has(const struct Written *w, int64_t i) { return w->bits[i >> 6] >> (i & 63) & 1; }

int64_t written_missing(const struct Written *w, int64_t a, int64_t b, int32_t turn) {
    if (w->missing == 0 && (w->turn == NULL || turn == TURN_ANY))
        return b;
    for (int64_t i = a; i < b; i++)
        if (!has(w, i) || (w->turn != NULL && turn != TURN_ANY && w->turn[i] != TURN_ANY && w->turn[i] != turn))
            return i;
    return b;
}

static void set_bits(uint64_t *bits, int64_t a, int64_t b) {
    for (; a < b && (a & 63) != 0; a++)
        bits[a >> 6] |= UINT64_C(1) << (a & 63);
    for (; a + 64 <= b; a += 64)
        bits[a >> 6] = ~UINT64_C(0);
    for (; a < b; a++)
        bits[a >> 6] |= UINT64_C(1) << (a & 63);
}

static void add_shadow(const Launch *L, const TensorShadow *s, struct Written *w) {
    int64_t n = least(s->segments.size, w->elements);
    for (int64_t i = 0, next; i < n; i = next) {
        next = segments_next(&s->segments, i, n);
        if (s->state[i].write == 0)
            continue;
        set_bits(w->bits, i, next);
        for (int64_t k = i; w->turn != NULL && k < next; k++)
            w->turn[k] = L->access[s->state[i].write].turn;
    }
    w->missing = w->elements;
    for (int64_t i = 0; i <= w->elements / 64; i++)
        w->missing -= __builtin_popcountll(w->bits[i]);
}

void written_add(Launch *L) {
    for (int k = 0; L->shadow_of != NULL && k < L->l->ntensors; k++)
        if (L->written_of[k] != NULL && L->shadow_of[k] >= 0)
            add_shadow(L, &L->shadows[L->shadow_of[k]], L->written_of[k]);
}

pto_status pto_check_written(pto_context *ctx, const pto_ddr *tensors, int ntensors) {
    if (ctx == NULL || ctx->kernel == NULL || (tensors == NULL && ntensors > 0))
        return pto_error(ctx, PTO_ERR_ARGUMENT, "pto_check_written outside pto_enter and pto_leave");
    const struct pto_model *m = ctx->model;
    if (m != NULL && (m->options.timing_only || m->options.unchecked))
        return PTO_OK;
    for (int k = 0; k < ntensors; k++) {
        const pto_ddr *t = &tensors[k];
        int64_t elements = t->element > 0 ? ceil_div(t->bytes, t->element) : 0;
        const struct Written *w = m != NULL && m->launched ? find(m, t->data, elements) : NULL;
        int64_t at = w != NULL ? written_missing(w, 0, elements, TURN_ANY) : 0;
        if (at < elements)
            return pto_error(ctx, PTO_ERR_FAULT, "unwritten: element %lld of %s, of %lld", (long long)at, t->name, (long long)elements);
    }
    return PTO_OK;
}
