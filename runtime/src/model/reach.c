// Which tasks of a grid with offsets end before which begin: those that a chain of offsets connects, inside the grid.
//
// Offsets are lexicographically positive, so that whatever comes before a task has a lower number. Up to REACH_ROWS tasks
// have a row of bits each, filled as far as it was asked for; of more, each question walks back from the later task.
//
// Test: tests/unit/test_model_faults.c
#include "state.h"

#include <string.h>

enum { REACH_ROWS = 16384 };

bool reach_new(Launch *L) {
    Reach *r = &L->reach;
    size_t n = (size_t)L->tasks.total;
    if (L->l->grid.noffsets == 0)
        return true;
    if (n <= REACH_ROWS) {
        r->words = (int64_t)(n / 64 + 1);
        r->before = launch_alloc(L, n * (size_t)r->words, sizeof *r->before);
        return r->before != NULL;
    }
    r->stack = launch_alloc(L, n, sizeof *r->stack);
    r->seen = launch_alloc(L, n, sizeof *r->seen);
    return r->stack != NULL && r->seen != NULL;
}

// The task an offset before the one at `tile`, or -1.
static int64_t task_before(const Launch *L, const int64_t *tile, int k) {
    int64_t at[GRID_DIMS] = {0};
    for (int d = 0; d < L->l->grid.rank; d++) {
        at[d] = wrap_sub(tile[d], L->l->grid.offsets[k][d]);
        if (at[d] < 0 || at[d] >= L->tasks.count[d])
            return -1;
    }
    return task_number(L, at);
}

static void fill_row(Launch *L, int64_t task) {
    Reach *r = &L->reach;
    int64_t tile[GRID_DIMS];
    task_tile(L, task, tile);
    uint64_t *row = r->before + task * r->words;
    for (int k = 0; k < L->l->grid.noffsets; k++) {
        int64_t from = task_before(L, tile, k);
        if (from < 0)
            continue;
        row[from >> 6] |= UINT64_C(1) << (from & 63);
        for (int64_t w = 0; w <= from >> 6; w++)
            row[w] |= r->before[from * r->words + w];
    }
}

static bool walk_back(Launch *L, int64_t a, int64_t b) {
    Reach *r = &L->reach;
    int64_t depth = 0;
    if (++r->stamp == 0) {
        memset(r->seen, 0, (size_t)L->tasks.total * sizeof *r->seen);
        r->stamp = 1;
    }
    r->stack[depth++] = b;
    while (depth > 0) {
        int64_t tile[GRID_DIMS];
        task_tile(L, r->stack[--depth], tile);
        for (int k = 0; k < L->l->grid.noffsets; k++) {
            int64_t from = task_before(L, tile, k);
            if (from == a)
                return true;
            if (from < a || r->seen[from] == r->stamp)
                continue;
            r->seen[from] = r->stamp;
            r->stack[depth++] = from;
        }
    }
    return false;
}

bool reach_before(Launch *L, int64_t a, int64_t b) {
    Reach *r = &L->reach;
    if (a >= b || L->l->grid.noffsets == 0)
        return false;
    if (r->before == NULL)
        return walk_back(L, a, b);
    for (; r->filled <= b; r->filled++)
        fill_row(L, r->filled);
    return r->before[b * r->words + (a >> 6)] >> (a & 63) & 1;
}
