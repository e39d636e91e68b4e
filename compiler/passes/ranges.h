// ranges: comparisons that bound an index by dims and earlier indices become part of its range.
#ifndef PTOC_PASSES_RANGES_H
#define PTOC_PASSES_RANGES_H

#include "ir/ir.h"

// Gives the equation (a copy) indices of its own, so that their ranges can change.
void ranges_own_indices(Arena *a, Equation *eq);
// Moves what it can of the equation's conditions into its indices' ranges.
void ranges_fold_conditions(Arena *a, Equation *eq);
// The same for the guards of a reduction, whose indices come after the equation's.
void ranges_fold_guards(Arena *a, Equation *eq);

#endif
