// Linear forms of index arithmetic: coefficients and extremes, by syntax alone.
#ifndef PTOC_IR_LINEAR_H
#define PTOC_IR_LINEAR_H

#include "ir/ir.h"

// The coefficient of an index in a linear expression; *linear becomes false (and is else left) when e is not linear in it.
int64_t linear_coefficient(const Expr *e, const Index *index, bool *linear);
// The least (or greatest) value of e when all indices but `keep` (may be NULL) run over their ranges: an expression
// over dims and `keep`, exact where every range is non-empty. NULL when e is not linear, or a range is not known.
Expr *linear_extreme(Arena *a, Expr *e, const Index *keep, bool greatest);
// x + c, simplified.
Expr *linear_add(Arena *a, Expr *x, int64_t c);
// Whether x <= y for all sizes and indices that syntax can tell: the difference of both is a constant, or its sign
// follows from dims being non-negative. False: not known.
bool linear_at_most(Arena *a, Expr *x, Expr *y);

#endif
