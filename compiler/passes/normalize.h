// normalize: one operation an equation.
//
// After it, no right side holds a reduction or a scan: each has become an equation of its own (EQ_REDUCE, EQ_SCAN) into
// a hidden tensor over the indices that it uses. `mean` is a sum over a count, `argmax`/`argmin` an extremum and then
// the least index that attains it (so ties take the first and NaN propagates), an exclusive scan an inclusive one read
// one step behind. `otherwise` has become conditions, and an output that starts from an input has a copy of what
// no equation defines. Results are those of the kernel before, by construction: nothing is reordered here.
#ifndef PTOC_PASSES_NORMALIZE_H
#define PTOC_PASSES_NORMALIZE_H

#include "ir/ir.h"
#include "ir/poly.h"

// A new kernel in k's arena; k is left as it is. NULL after errors in `d`.
Kernel *normalize_kernel(Budget *budget, Diags *d, const Kernel *k);

// A copy without the equations that no output and no log needs: what depend found to be read nowhere, too.
Kernel *normalize_live(Arena *a, const Kernel *k);

#endif
