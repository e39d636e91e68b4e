// Buffers with canaries; see guard.h.
#include "cli/guard.h"

#include "cli/bind.h"

#include <string.h>

enum { GUARD = 256, PATTERN = 0xA5 };

const char *layout_name(Layout layout)
{
    switch (layout) {
    case LAYOUT_DENSE: return "dense";
    case LAYOUT_PADDED: return "padded rows";
    case LAYOUT_SHIFTED: return "unaligned";
    case LAYOUT_STEPPED: return "every second element";
    case LAYOUT_REVERSED: return "negative strides";
    case LAYOUT_COUNT: break;
    }
    return "?";
}

// The extent that takes memory: of an empty tensor, however long its other dimensions, none does.
static int64_t room_of(const pto_tensor *t, int d)
{
    for (int k = 0; k < t->rank; k++)
        if (t->shape[k] <= 0)
            return 1;
    return t->shape[d];
}

// Strides (positive) and how many elements lie between the first and the last, inclusive.
static int64_t lay_out(pto_tensor *t, Layout layout)
{
    int64_t step = layout == LAYOUT_STEPPED ? 2 : 1, span = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        t->stride[d] = step;
        int64_t extent = room_of(t, d);
        span += (extent - 1) * step;
        step *= extent;
        if (d == t->rank - 1 && layout == LAYOUT_PADDED)
            step += 3;
    }
    return span;
}

Guarded *guarded_new(Arena *a, DType type, int rank, const int64_t *extent, Layout layout)
{
    Guarded *g = ARENA_NEW(a, Guarded);
    g->type = type;
    g->layout = layout;
    g->tensor = pto_tensor_dense(NULL, bind_dtype(type), rank, extent);
    int64_t bytes = dtype_bytes(type), span = lay_out(&g->tensor, layout);
    g->bytes = (size_t)(span * bytes) + 2 * GUARD + 64;
    unsigned char *raw = arena_alloc(a, g->bytes + 64);
    g->block = raw + (-(uintptr_t)raw & 63);
    memset(g->block, PATTERN, g->bytes);
    unsigned char *first = g->block + GUARD + (layout == LAYOUT_SHIFTED ? bytes : 0);
    if (layout == LAYOUT_REVERSED)
        for (int d = 0; d < rank; d++) {
            first += (room_of(&g->tensor, d) - 1) * g->tensor.stride[d] * bytes;
            g->tensor.stride[d] = -g->tensor.stride[d];
        }
    g->tensor.data = first;
    return g;
}

static int64_t offset_of(const pto_tensor *t, int64_t k)
{
    int64_t offset = 0;
    for (int d = t->rank - 1; d >= 0; d--) {
        offset += k % t->shape[d] * t->stride[d];
        k /= t->shape[d];
    }
    return offset;
}

void *guarded_at(const Guarded *g, int64_t k)
{
    return (unsigned char *)g->tensor.data + offset_of(&g->tensor, k) * dtype_bytes(g->type);
}

// Elements lie in rows, along the last dimension: only their starts are looked up.
static int64_t row_of(const pto_tensor *t) { return t->rank > 0 && t->shape[t->rank - 1] > 0 ? t->shape[t->rank - 1] : 1; }

// A row from memory that is `from_step` elements apart to memory that is `to_step` apart.
static void copy_row(unsigned char *to, int64_t to_step, const unsigned char *from, int64_t from_step, int64_t n, int64_t bytes)
{
    if (to_step == 1 && from_step == 1) {
        memcpy(to, from, (size_t)(n * bytes));
        return;
    }
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * to_step * bytes, from + i * from_step * bytes, (size_t)bytes);
}

static int64_t step_of(const pto_tensor *t) { return t->rank > 0 ? t->stride[t->rank - 1] : 1; }

void guarded_put(Guarded *g, const Array *x)
{
    int64_t bytes = dtype_bytes(g->type), row = row_of(&g->tensor), step = step_of(&g->tensor);
    for (int64_t k = 0; k < x->size; k += row)
        copy_row(guarded_at(g, k), step, (const unsigned char *)x->data + k * bytes, 1, row, bytes);
}

void guarded_poison(Guarded *g)
{
    int64_t n = pto_tensor_elements(&g->tensor);
    for (int64_t k = 0; k < n; k++)
        memset(guarded_at(g, k), 0xFF, (size_t)dtype_bytes(g->type));
}

bool guarded_intact(Arena *scratch, const Guarded *g, const Array *x)
{
    unsigned char *expected = arena_alloc(scratch, g->bytes);
    memset(expected, PATTERN, g->bytes);
    int64_t n = pto_tensor_elements(&g->tensor), bytes = dtype_bytes(g->type), row = row_of(&g->tensor), step = step_of(&g->tensor);
    for (int64_t k = 0; k < n; k += row) {
        const unsigned char *at = guarded_at(g, k);
        copy_row(expected + (at - g->block), step, x ? (const unsigned char *)x->data + k * bytes : at, x ? 1 : step, row, bytes);
    }
    return memcmp(expected, g->block, g->bytes) == 0;
}
