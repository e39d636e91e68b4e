// The program's order: the one in which a task would do its operations one by one, whatever the bundles say.
//
// It is that of the table of operations, a loop standing where its first operation stands and going through all of its
// iterations, stages left aside. Every execution of an operation has a position in it, a number; order.c holds accesses against it.
//
// Test: tests/unit/test_model_faults.c
#include "state.h"

static int loop_around(const Launch *L, int bundle) { return L->bundles[bundle].loop; }

static void bodies_count(Launch *L, const int *bundle_of) {
    for (int i = 0; i < L->program->nops; i++)
        if (loop_around(L, bundle_of[i]) >= 0)
            L->loops[loop_around(L, bundle_of[i])].body++;
    for (int k = L->program->nloops; k-- > 0;) {
        const Loop *l = &L->loops[k];
        if (l->parent >= 0)
            L->loops[l->parent].body = wrap_add(L->loops[l->parent].body, bounded_mul(l->iterations, l->body));
    }
}

// Where a loop, and all around it, begin: `next` has the first free place in the body of each, and at last that of the task.
static int64_t loop_start(Launch *L, int k, int64_t *next) {
    Loop *l = &L->loops[k];
    int64_t *around = &next[l->parent >= 0 ? l->parent : L->program->nloops];
    int64_t before = l->parent >= 0 ? loop_start(L, l->parent, next) : 0;
    if (l->start < 0) {
        l->start = *around;
        *around = wrap_add(*around, bounded_mul(l->iterations, l->body));
    }
    return wrap_add(before, l->start);
}

bool positions_new(Launch *L, const int *bundle_of) {
    int64_t *next = launch_alloc(L, (size_t)L->program->nloops + 1, sizeof *next);
    if (next == NULL)
        return false;
    for (int k = 0; k < L->program->nloops; k++) {
        L->loops[k].start = -1;
        L->loops[k].body = 0;
    }
    bodies_count(L, bundle_of);
    for (int i = 0; i < L->program->nops; i++) {
        int k = loop_around(L, bundle_of[i]);
        int64_t start = k >= 0 ? loop_start(L, k, next) : 0;
        L->ops[i].position = wrap_add(start, next[k >= 0 ? k : L->program->nloops]++);
    }
    return true;
}

int64_t position_of(const Launch *L, const Resident *r, int op) {
    int64_t at = L->ops[op].position;
    for (int d = 0; d < r->depth; d++) {
        int64_t stage = d == r->depth - 1 ? L->program->ops[op].stage : 0;
        at = wrap_add(at, wrap_mul(r->step[d] - stage, L->loops[r->loop[d]].body));
    }
    return at;
}
