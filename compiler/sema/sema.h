// sema: from the tree to the task level of the IR.
//
// Resolves names, infers index ranges and the shapes of undeclared intermediates, types every expression and
// makes every conversion explicit (LANGUAGE.md, "Shapes, names, ranges" and "Types"). What the language has but
// the compiler does not build yet is the diagnostic `unsupported`, never ignored. The proofs (one definition,
// bounds, order) are the business of passes/prove.c and passes/depend.c.
#ifndef PTOC_SEMA_SEMA_H
#define PTOC_SEMA_SEMA_H

#include "ir/tile.h"

#include "ir/budget.h"

typedef struct {
    VEC(Kernel *) kernels;
    VEC(TileKernel *) tiles;     // of textual IR of the tile level: what each kernel has become; else empty
} Module;

// Analyses every kernel of the file, in order. A kernel with errors is left out; its errors are in `diags`. A file of
// textual IR (ir/read.h) has everything said already: its kernels are only read.
// The budget is used for box hulls and the largest in-bounds ranges.
Module *sema_file(Arena *a, Budget *budget, Diags *diags, const TreeFile *file);

#endif
