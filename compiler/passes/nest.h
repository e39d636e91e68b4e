// nest: the loop nest of a leaf whose loops need no general code generation.
#ifndef PTOC_PASSES_NEST_H
#define PTOC_PASSES_NEST_H

#include "passes/plan.h"

// Builds the leaf's loops straight from index ranges and tile bounds when every statement's domain is its ranges and the
// statements of a loop agree on its bounds. False: nothing was built, isl has to (lower.c).
bool nest_leaf(Plan *p, TileKernel *t, Leaf *leaf);

// Shared with lower.c: the operation of one statement instance; registers that live in one iteration of a loop (NULL: in
// the leaf) `depth` loops deep; what a loop node says of its loop.
Node *lower_operation(Plan *p, const Stmt *s, Expr *const *values);
void lower_locals(Plan *p, const TileKernel *t, const Leaf *leaf, Node *n, int depth, const Loop *loop);
void lower_describe(Plan *p, Node *n, Loop *loop);

#endif
