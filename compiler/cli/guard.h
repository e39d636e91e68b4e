// Buffers with canaries: memory for a tensor in one of several layouts, with a pattern before, after and between.
#ifndef PTOC_CLI_GUARD_H
#define PTOC_CLI_GUARD_H

#include "data/array.h"
#include "ptort.h"

typedef enum {
    LAYOUT_DENSE,            // 64-byte aligned, row-major without gaps
    LAYOUT_PADDED,           // gaps after every row
    LAYOUT_SHIFTED,          // one element off any alignment
    LAYOUT_STEPPED,          // every second element of every row
    LAYOUT_REVERSED,         // negative strides
    LAYOUT_COUNT
} Layout;

typedef struct {
    pto_tensor tensor;
    DType type;
    Layout layout;
    unsigned char *block;
    size_t bytes;            // of the block
} Guarded;

Guarded *guarded_new(Arena *a, DType type, int rank, const int64_t *extent, Layout layout);
const char *layout_name(Layout layout);

void guarded_put(Guarded *g, const Array *x);        // the elements of x
void guarded_poison(Guarded *g);                     // all elements: 0xFF, which is NaN for floats
void *guarded_at(const Guarded *g, int64_t k);       // the k-th element in row-major order
// Are all bytes that are no element still the pattern? With `x`: and the elements those of x.
bool guarded_intact(Arena *scratch, const Guarded *g, const Array *x);

#endif
