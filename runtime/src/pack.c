// Copies between a strided tensor and a dense buffer, for kernels whose vector code wants an innermost stride of 1.
//
// The tensor is brought to a normal form first: dimensions of extent 1 go, neighbours that form one dimension are merged.
// A task copies a block of rows. Where the innermost stride is not 1 but another dimension's is (a transposed matrix),
// the two are walked in squares, so that every cache line of both sides is used while it is there.
//
// Test: tests/unit/test_runtime.c

#include "context.h"

#include <string.h>

enum { SQUARE = 32, BLOCK_BYTES = 1 << 16 };

typedef struct Copy {
    int rank;                                                // at least 1
    int64_t shape[PTO_MAX_RANK], stride[PTO_MAX_RANK], dense[PTO_MAX_RANK];   // of both sides, in elements
    size_t size;
    char *strided, *buffer;
    bool pack;
    int across;                                              // a dimension with the smallest stride; the last one: none
    int64_t rows, rows_per_task;                             // positions in all dimensions but the last, and `across`
} Copy;

// ---- normal form ----------------------------------------------------------------------------------------------------

static void copy_dimension(Copy *c, int64_t extent, int64_t stride) {
    int last = c->rank - 1;
    if (extent == 1)
        return;
    if (c->rank > 0 && c->stride[last] == stride * extent) {
        c->shape[last] *= extent;
        c->stride[last] = stride;
        return;
    }
    c->shape[c->rank] = extent;
    c->stride[c->rank++] = stride;
}

static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

static Copy copy_of(const pto_tensor *t, void *buffer, bool pack) {
    Copy c = {.size = pto_dtype_size(t->dtype), .strided = t->data, .buffer = buffer, .pack = pack, .rows = 1};
    for (int d = 0; d < t->rank; d++)
        copy_dimension(&c, t->shape[d], t->stride[d]);
    if (c.rank == 0) {
        c.shape[0] = c.stride[0] = 1;
        c.rank = 1;
    }
    c.across = c.rank - 1;
    int64_t dense = 1;
    for (int d = c.rank - 1; d >= 0; d--) {
        c.dense[d] = dense;
        dense *= c.shape[d];
        if (c.stride[d] != 0 && magnitude(c.stride[d]) < magnitude(c.stride[c.across]))
            c.across = d;
    }
    for (int d = 0; d < c.rank - 1; d++)
        c.rows *= d == c.across ? (c.shape[d] + SQUARE - 1) / SQUARE : c.shape[d];
    int64_t row_bytes = c.shape[c.rank - 1] * (int64_t)c.size * (c.across < c.rank - 1 ? SQUARE : 1);
    c.rows_per_task = row_bytes < BLOCK_BYTES ? BLOCK_BYTES / row_bytes : 1;
    return c;
}

// ---- rows -----------------------------------------------------------------------------------------------------------

static inline void copy_strided(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n, size_t size) {
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * to_stride, from + i * from_stride, size);
}

// n elements; strides in bytes. One loop per element size, so that memcpy is a single move.
static void copy_row(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n, size_t size) {
    if (to_stride == (int64_t)size && from_stride == (int64_t)size)
        memcpy(to, from, (size_t)n * size);
    else if (size == 8)
        copy_strided(to, to_stride, from, from_stride, n, 8);
    else if (size == 4)
        copy_strided(to, to_stride, from, from_stride, n, 4);
    else if (size == 2)
        copy_strided(to, to_stride, from, from_stride, n, 2);
    else
        copy_strided(to, to_stride, from, from_stride, n, 1);
}

// n elements along dimension d from the given places on both sides.
static void copy_along(const Copy *c, int d, int64_t at_strided, int64_t at_dense, int64_t n) {
    int64_t size = (int64_t)c->size, stride = c->stride[d] * size, dense = c->dense[d] * size;
    char *s = c->strided + at_strided * size, *b = c->buffer + at_dense * size;
    if (c->pack)
        copy_row(b, dense, s, stride, n, c->size);
    else
        copy_row(s, stride, b, dense, n, c->size);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// Up to SQUARE positions of `across`, all of the last dimension, in squares.
static void copy_squares(const Copy *c, int64_t at_strided, int64_t at_dense, int64_t n) {
    int last = c->rank - 1, across = c->across;
    for (int64_t j = 0; j < c->shape[last]; j += SQUARE) {
        int64_t width = least(SQUARE, c->shape[last] - j);
        for (int64_t i = 0; i < n; i++)
            copy_along(c, last, at_strided + i * c->stride[across] + j * c->stride[last], at_dense + i * c->dense[across] + j, width);
    }
}

static void copy_rows(const Copy *c, int64_t row) {
    int last = c->rank - 1;
    int64_t at_strided = 0, at_dense = 0, n = 1;
    for (int d = last - 1; d >= 0; d--) {
        int64_t count = d == c->across ? (c->shape[d] + SQUARE - 1) / SQUARE : c->shape[d], i = row % count;
        row /= count;
        if (d == c->across) {
            i *= SQUARE;
            n = least(SQUARE, c->shape[d] - i);
        }
        at_strided += i * c->stride[d];
        at_dense += i * c->dense[d];
    }
    if (c->across == last)
        copy_along(c, last, at_strided, at_dense, c->shape[last]);
    else
        copy_squares(c, at_strided, at_dense, n);
}

// ---- tasks ----------------------------------------------------------------------------------------------------------

static void copy_task(void *frame, int worker, const int64_t index[4]) {
    const Copy *c = frame;
    int64_t begin = index[0] * c->rows_per_task, end = least(begin + c->rows_per_task, c->rows);
    for (int64_t row = begin; row < end; row++)
        copy_rows(c, row);
}

static void copy_run(pto_context *ctx, const pto_tensor *t, void *buffer, bool pack) {
    if (pto_tensor_elements(t) <= 0)
        return;
    Copy c = copy_of(t, buffer, pack);
    pto_grid grid = {.name = pack ? "pack" : "unpack", .rank = 1, .count = {(c.rows + c.rows_per_task - 1) / c.rows_per_task}, .mode = PTO_MODE_STATIC};
    if (ctx != NULL && ctx->kernel != NULL && !ctx->running && pto_run(ctx, &grid, copy_task, &c) == PTO_OK)
        return;
    for (int64_t i = 0; i < grid.count[0]; i++)
        copy_task(&c, 0, (int64_t[4]){i});
}

void pto_pack(pto_context *ctx, const pto_tensor *t, void *dense) {
    if (t != NULL && dense != NULL)
        copy_run(ctx, t, dense, true);
}

void pto_unpack(pto_context *ctx, const void *dense, const pto_tensor *t) {
    if (t != NULL && dense != NULL)
        copy_run(ctx, t, (void *)(uintptr_t)dense, false);
}
