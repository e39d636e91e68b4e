// tile_size: how large the tiles of a grid are.
#ifndef PTOC_PASSES_TILE_SIZE_H
#define PTOC_PASSES_TILE_SIZE_H

#include "passes/plan.h"

// Sets dims[].tile of the leaf's grid from the machine and the shape: a share of the cache, whole vectors along the
// innermost dimension, work enough to pay for a task, and (by keeping tiles small) tiles enough for the workers. The
// sizes are functions of the dims alone, so that a plan depends on nothing but the shapes.
// On machines of bundles what a schedule asks for comes later: it is about blocks, and of tasks where there are none.
void tile_size_choose(Plan *p, Leaf *leaf);
void tile_size_ask(Plan *p, Leaf *leaf);
// How many values an index takes for given values of the others, over dims; NULL when that cannot be said. *even: the
// same (or at most that) everywhere.
Expr *tile_size_extent(Plan *p, const Stmt *s, int idx, bool *even);

#endif
