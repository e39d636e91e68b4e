// tiling: which tile of a grid computes an element of an output, as far as it can be said before sizes are known.
//
// One row for each statement that writes an output inside a grid: the statement's left side and domain, and for every axis
// of the grid what is cut into tiles. All expressions are over dims and the indices of the statement, so that a row says
// everything once an element and the sizes are given (cli/check_tile.c).
#ifndef PTOC_PASSES_TILING_H
#define PTOC_PASSES_TILING_H

#include "ir/tile.h"

enum { TILING_MOST_AXES = 4 };

// Points `at` (an index, shifted or mirrored) from `begin` on, `tile` of them each.
typedef struct { const char *name; Expr *at, *begin, *tile; } TilingAxis;

typedef struct {
    const char *kernel, *tensor;
    const Equation *eq;          // normalised; its left side and conditions
    int n;
    Index *const *index;         // of the left side
    int naxes;
    TilingAxis axis[TILING_MOST_AXES];
} Tiling;

typedef VEC(Tiling) Tilings;

// On a machine of bundles: what is done at once, of how much. Over dims and the indices of sequential loops around the grid.
typedef struct { const char *kernel; Expr *size, *extent; } TilingStep;
typedef VEC(TilingStep) TilingSteps;

#endif
