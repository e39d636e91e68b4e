// cost: about how long a block program takes (private to compiler/bundles/).
#ifndef PTOC_BUNDLES_COST_H
#define PTOC_BUNDLES_COST_H

#include "bundles/block.h"

// The value of an index expression where every dim is as large as is usual; *known becomes false for what has none.
int64_t cost_value(const Block *b, const Expr *e, bool *known);

typedef struct {
    int64_t step;                // cycles of one step of the loop, in the long run
    int64_t task, total;         // of a task; of the whole grid
    int64_t tasks;
    UnitKind busiest;            // and for how long, in a task
    int64_t busy;
    bool fits;                   // in the memories, at the usual sizes
} Cost;

// When each operation is complete, alone and among all cores, from its cycles; max_workers: of the grid.
void cost_latencies(const Machine *m, int max_workers, BundleProgram *p);
// Fills in what each operation of the program takes; the schedule goes by it.
void cost_operations(Block *b);
// Of the program of `b`, scheduled, whose operations have their cost.
Cost cost_of(Block *b);

#endif
