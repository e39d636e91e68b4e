// scatter: reductions whose guard chooses the element.
//
// `h[b] = sum(i where x[i] == b) e` adds each e to one element alone, the one that x[i] names. Run as it stands it would
// look at every i for every b. As a scatter it looks at each i once: the statement that adds has no index b, and x[i]
// for a left subscript, in place of the guard.
#ifndef PTOC_PASSES_SCATTER_H
#define PTOC_PASSES_SCATTER_H

#include "ir/ir.h"
#include "ir/poly.h"

typedef struct {
    int position;                // of the index that data chooses, in the equation's
    int dim;                     // of the left side, which it alone subscripts
    Expr *chosen;                // what takes its place: an i64
    int nconds;
    Expr **conds;                // the guards that are left: that `chosen` lies in the index's range, and the others
    Expr *assumed;               // over dims: what must hold besides (an i32 cannot name more than 2^31 elements), or NULL
} Scatter;

// Is the reduction a scatter? The equation is normalised (EQ_REDUCE).
bool scatter_find(Arena *a, const Poly *p, const Equation *eq, Scatter *s);

#endif
