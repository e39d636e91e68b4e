// place: what runs on which unit of a machine of bundles, and where every tile of a tensor lies meanwhile.
#ifndef PTOC_BUNDLES_PLACE_H
#define PTOC_BUNDLES_PLACE_H

#include "ir/bundles.h"
#include "passes/plan.h"

// The scalar unit runs the grid's body, over tensors in the memory behind all others.
BundleProgram *place_task(Arena *a, const Node *grid);

// Operations on boxes of elements, in memories near the units (block.h), as the grid's program. False: the grid says why not.
bool block_leaf(Plan *p, TileKernel *t, Leaf *leaf);

// Reports intermediates that every grid would rather have in another order than the one in which they are stored.
void layout_report(Plan *p, const TileKernel *t);

// Puts the programs of a grid that was read at the move level into bundles. NULL, or why that cannot be.
const char *place_loose(Arena *a, const Machine *m, Node *grid);

// All leaves.
void place_kernel(Plan *p, TileKernel *t);

#endif
