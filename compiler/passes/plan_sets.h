// plan_sets: the integer sets of a plan: a statement's instances inside its loops and tile.
#ifndef PTOC_PASSES_PLAN_SETS_H
#define PTOC_PASSES_PLAN_SETS_H

#include "passes/plan.h"

// The statement's domain with its outer loops and tile intervals fixed as parameters (ids carry the Index).
isl_set *plan_domain(Plan *p, const StmtPlan *sp);
// Widens d->begin..d->end so that it covers theta over the statement's domain less its halo.
void plan_widen(Plan *p, const StmtPlan *sp, Theta theta, int64_t before, int64_t after, GridDim *d);
// sign * index + shift as an expression over the loop's value: the index in terms of theta.
Expr *plan_index_of_theta(Arena *a, Theta theta, Expr *value);

#endif
