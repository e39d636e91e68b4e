// prove: the first two static guarantees, for all sizes.
//
// Every element of an output is defined exactly once, and so is every element of an intermediate that an affine read
// can reach (`gap`, `overlap`); every affine read and every left side stays inside its dimension or has a border
// (`bounds`). Besides: assumptions are not contradictory (`assumption`), and arg-reductions never run over nothing
// (`empty-range`). What cannot be decided within the budget is an error too (`undecided`).
//
// A proof is a set of counterexamples that is empty. Syntax decides most of them: whole boxes, extremes of linear
// subscripts, residues. The rest goes to isl, one query at a time, each with an operation budget.
#ifndef PTOC_PASSES_PROVE_H
#define PTOC_PASSES_PROVE_H

#include "ir/ir.h"
#include "ir/poly.h"

// Proves a kernel as sema leaves it; errors go to `d`. An arg-reduction whose range is empty for some sizes only adds
// what it needs to k->where, which is checked on entry.
void prove_kernel(Arena *a, Poly *p, Diags *d, Kernel *k);

#endif
