// First touch: pages land on the NUMA node of the worker that touches them first.
//
// Test: tests/unit/test_runtime_topology.c

#include "ptort.h"

#include <unistd.h>

typedef struct Touch {
    char *data;
    size_t bytes, page;
} Touch;

// One page per task: static ranges of pages are then the ranges that a static grid over the same memory gives its workers.
static void touch_page(void *frame, int worker, const int64_t index[4]) {
    const Touch *t = frame;
    size_t first = (size_t)index[0] * t->page, skip = (uintptr_t)t->data % t->page;
    size_t at = first > skip ? first - skip : 0;             // the task's page, or the part of it that is ours
    if (at < t->bytes)
        __atomic_fetch_or(t->data + at, 0, __ATOMIC_RELAXED);    // a write that changes nothing, in one access
}

pto_status pto_first_touch(pto_context *ctx, void *data, size_t bytes) {
    long page = sysconf(_SC_PAGESIZE);
    Touch t = {.data = data, .bytes = bytes, .page = page > 0 ? (size_t)page : 4096};
    pto_status status = pto_enter(&ctx, "pto_first_touch");
    if (status != PTO_OK)
        return status;
    if (data == NULL && bytes > 0)
        return pto_leave(ctx, pto_error(ctx, PTO_ERR_NULL, "the memory is NULL"));
    size_t pages = bytes == 0 ? 0 : ((uintptr_t)data % t.page + bytes - 1) / t.page + 1;
    pto_grid grid = {.name = "first touch", .rank = 1, .count = {(int64_t)pages}, .mode = PTO_MODE_STATIC};
    return pto_leave(ctx, pto_run(ctx, &grid, touch_page, &t));
}
