// lift: reductions and scans out of a right side, each into an equation of its own (the work behind normalize.h).
//
// A lifted equation writes a hidden tensor over those of the enclosing equation's indices that the nest uses. It keeps all
// of them when conditions or ranges tie the used ones to others, so that its domain is exactly where the value is needed.
// Affine conditions of an enclosing `if` cut it too.
#ifndef PTOC_PASSES_LIFT_H
#define PTOC_PASSES_LIFT_H

#include "ir/ir.h"
#include "ir/poly.h"

typedef struct {
    Arena *a;
    Diags *d;
    Kernel *k;                   // takes the new tensors and equations
    Poly *p;
    const Equation *eq;          // the one being taken apart
    Equation *work;              // its copy, indices and conditions explicit
    VEC(Expr *) refine;          // affine conditions of enclosing ifs
    int nhidden;                 // hidden tensors of it so far
} Lift;

// The expression with a read of a hidden tensor in place of each nest.
Expr *lift_expr(Lift *n, Expr *e);

// An equation over the chosen indices (fresh ones), writing a hidden tensor; `from`/`to` map the old indices to it.
typedef struct { Equation *eq; int n; Index **from; Expr **to; } Lifted;

// The indices of `work` that the nest needs, into used[64].
void lift_choose_indices(Lift *n, Expr *nest, bool *used);
Lifted lift_begin(Lift *n, const bool *used, Range range);
Expr *lift_renamed(Lift *n, const Lifted *l, Expr *e);
// Gives the equation its left side: a hidden tensor over its indices.
void lift_place(Lift *n, Lifted *l, const char *what, DType type);
void lift_push(Lift *n, Equation *eq);                  // into the kernel
// The last two together.
void lift_finish(Lift *n, Lifted *l, const char *what, DType type);
Expr *lift_read(Lift *n, const Lifted *l);
// The nest as one of the lifted equation; `inner` gets the renaming that holds inside of it.
Nest *lift_nest(Lift *n, Lifted *l, const Nest *old, ReduceOp op, Lifted *inner);

Expr *lift_reduce(Lift *n, Expr *e);                    // lift_reduce.c: a REDUCE whose body has no nest

#endif
