// explain: plain sentences on what was decided and why, for --explain. Silent when nobody asked.
//
// Passes say what they decide where they decide it; sentences are kept with the leaf or tensor they are about, so that a
// decision that is taken back takes its sentences with it, and are printed per kernel at the end, with the bytes that each
// tensor moves. Test: tests/golden/explain*.pto
#ifndef PTOC_PASSES_EXPLAIN_H
#define PTOC_PASSES_EXPLAIN_H

#include "passes/plan.h"

static inline bool explains(const Plan *p) { return p->explain != NULL; }

// Adds a sentence.
void explain_say(Plan *p, Sentences *s, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void explain_tensor(Plan *p, const Tensor *t, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

// `a`, `b` and `c`; of statements, without initialisations.
const char *explain_list(Arena *a, int n, const char *const *names);
const char *explain_stmts(Plan *p, const StmtList *l);

// A size as people say it: without the 1 that keeps what is made of nothing from being empty.
const char *explain_size(Arena *a, const Expr *e);

// The axes of a leaf's grid, its mode (`why`: of static or dynamic), and what keeps other indices out.
void explain_grid(Plan *p, Leaf *leaf, const char *why);
// A sequential loop around grids: what it carries.
void explain_outer(Plan *p, const Loop *loop, const StmtList *stmts, const DepList *deps, const Theta *theta);

// Everything about a kernel.
void explain_kernel(Plan *p, const TileKernel *t);
// explain_traffic.c: the bytes that each tensor moves, and the least it could.
void explain_traffic(Plan *p, const TileKernel *t);

#endif
