// A binary heap of events, in one total order: cycle, kind, core, slot, serial number. So the same program happens in the
// same order everywhere.
//
// Test: tests/unit/test_model.c
#include "state.h"

static bool before(const Event *a, const Event *b) {
    if (a->cycle != b->cycle)
        return a->cycle < b->cycle;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    if (a->core != b->core)
        return a->core < b->core;
    if (a->slot != b->slot)
        return a->slot < b->slot;
    return a->serial < b->serial;
}

bool heap_push(Launch *L, Heap *h, Event e) {
    if (!launch_grow(L, &h->at, &h->room, h->count + 1, sizeof *h->at))
        return false;
    size_t i = h->count++;
    for (; i > 0 && before(&e, &h->at[(i - 1) / 2]); i = (i - 1) / 2)
        h->at[i] = h->at[(i - 1) / 2];
    h->at[i] = e;
    return true;
}

Event heap_pop(Heap *h) {
    Event top = h->at[0], e = h->at[--h->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < h->count; i = child) {
        if (child + 1 < h->count && before(&h->at[child + 1], &h->at[child]))
            child++;
        if (!before(&h->at[child], &e))
            break;
        h->at[i] = h->at[child];
    }
    h->at[i] = e;
    return top;
}
