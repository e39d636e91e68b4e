// Segments: places with equal state side by side share one, so that what a program accesses as one piece costs one look
// and not one for each place. A begin at every SEGMENT_MOST-th place bounds the way back to the begin of a segment.
//
// Test: tests/unit/test_model_faults.c
#include "state.h"

#include <string.h>

static size_t words(const Segments *s) { return (size_t)(s->size / 64 + 1); }

void segments_reset(Segments *s) {
    memset(s->head, 0, words(s) * sizeof *s->head);
    for (int64_t i = 0; i < s->size; i += SEGMENT_MOST)
        segments_cut(s, i);
}

bool segments_new(Launch *L, Segments *s, int64_t size) {
    s->size = size;
    s->head = launch_alloc(L, words(s), sizeof *s->head);
    if (s->head == NULL)
        return false;
    segments_reset(s);
    return true;
}

int64_t segments_begin(const Segments *s, int64_t i) {
    int64_t w = i >> 6;
    uint64_t bits = s->head[w] & (~UINT64_C(0) >> (63 - (i & 63)));
    while (bits == 0)
        bits = s->head[--w];
    return w * 64 + 63 - __builtin_clzll(bits);
}

int64_t segments_next(const Segments *s, int64_t i, int64_t end) {
    if (++i >= end)
        return end;
    int64_t w = i >> 6, last = (end - 1) >> 6;
    uint64_t bits = s->head[w] & (~UINT64_C(0) << (i & 63));
    while (bits == 0 && w < last)
        bits = s->head[++w];
    return bits == 0 ? end : least(w * 64 + __builtin_ctzll(bits), end);
}

void segments_join(Segments *s, int64_t begin, int64_t end) {
    for (int64_t i = begin; (i = segments_next(s, i, end)) < end;)
        if (i % SEGMENT_MOST != 0)
            s->head[i >> 6] &= ~(UINT64_C(1) << (i & 63));
}
