// poly: the integer sets of a kernel (isl).
//
// The parameters of a set are the kernel's dims by name, each >= 0, under the kernel's assumptions; but only those that it
// speaks of, and those that an assumption ties to them: what a question costs does not depend on the rest of the kernel.
// A statement's instances form a set in a named space: `S<equation id>[indices...]`, for reductions
// `S<id>[indices..., reduced indices...]`. An element is a point of `T<tensor id>[subscripts]`.
// Subscripts that are not affine give "the whole dimension".
#ifndef PTOC_IR_POLY_H
#define PTOC_IR_POLY_H

#include "ir/budget.h"
#include "ir/ir.h"

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/id.h>
#include <isl/map.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

typedef struct {
    isl_ctx *isl;
    Budget *budget;           // for questions
    const Kernel *kernel;
    int nparts;
    isl_set **part;           // parameter sets: dims that assumptions tie together, each >= 0, under those assumptions
    int *part_of;             // by dim
} Poly;

Poly *poly_new(Arena *a, Budget *budget, const Kernel *k);
void poly_free(Poly *p);

// What is known of the parameters of a space, and of those that are tied to them. Takes the space.
__isl_give isl_set *poly_known(const Poly *p, __isl_take isl_space *space);
// The set under what is known of its parameters. All sets and maps that functions below return are, and intersections stay so;
// what a difference or a condition adds to the parameters is not: those are put under it again.
__isl_give isl_set *poly_under(const Poly *p, __isl_take isl_set *s);
// The greatest number of divisions (floors, remainders) in a piece of a set: what makes questions about it expensive.
int poly_divisions(__isl_keep isl_set *s);
// The union of n sets (n > 0) of one space but for their parameters. Takes them.
__isl_give isl_set *poly_union(int n, isl_set **sets);
// x without y; is x in y: for all sizes of both.
__isl_give isl_set *poly_subtract(const Poly *p, __isl_take isl_set *x, __isl_take isl_set *y);
isl_bool poly_is_subset(const Poly *p, __isl_keep isl_set *x, __isl_keep isl_set *y);
// Do sizes exist for which all assumptions hold? (isl_bool_error: over budget)
isl_bool poly_has_sizes(const Poly *p);

// Index environment: the indices that are the dimensions of a set space, in order.
typedef struct { int n; Index *const *at; } PolyIndices;

// The affine function of an index-typed (or integer) expression over the indices' space (unnamed tuple), or NULL
// when it is not piecewise affine (or that costs too much to find out): constants, indices, dims, + - * by constants, min, max, floordiv/mod and (of
// what is known non-negative or by sign) / % by positive constants, select with affine conditions.
// Integer-typed subtrees are affine only where they convert from index losslessly (i64, or index itself).
__isl_give isl_pw_aff *poly_aff(const Poly *p, PolyIndices ix, const Expr *e);
// The set of points where a bool expression holds, or NULL when it is not affine (comparisons, and or not).
__isl_give isl_set *poly_cond(const Poly *p, PolyIndices ix, const Expr *e);
// The box of the indices cut by those conditions that are affine; *exact (may be NULL) says whether all were.
// Never NULL. The context is intersected.
__isl_give isl_set *poly_box(const Poly *p, PolyIndices ix, int nconds, Expr *const *conds, bool *exact);
// The box of a tensor: { T<id>[x] : lo <= x < hi }.
__isl_give isl_set *poly_shape(const Poly *p, const Tensor *t);

// An equation's domain in the space S<id>[...], `otherwise` resolved. For EQ_REDUCE with the reduced indices when
// `reduced`, and with the affine guards among the nest's conditions. *exact: no data guard cuts it further.
__isl_give isl_set *poly_domain(const Poly *p, const Equation *e, bool reduced, bool *exact);
// The elements an equation writes: S<id>[...] -> T<lhs>[...] (without reduced indices), domain intersected.
__isl_give isl_map *poly_write(const Poly *p, const Equation *e);
// The subscripts of a read as a map from the indices' space (unnamed tuple) to T<id>; subscripts that are not affine
// are any value in the shape. Nothing is intersected. *exact: all were affine.
__isl_give isl_map *poly_subscripts(const Poly *p, PolyIndices ix, const Tensor *t, Expr *const *subs, bool *exact);

// The expression of a piecewise affine function over `ix` (min, max, select, floordiv where needed).
Expr *poly_expr(const Poly *p, Arena *a, PolyIndices ix, __isl_keep isl_pw_aff *f);
// An integer as an expression, and as a number: false when it is none or does not fit.
Expr *poly_int_expr(Arena *a, __isl_take isl_val *v);
bool poly_int(__isl_take isl_val *v, int64_t *value);
// A set over `ix` as one bool expression (or of and).
Expr *poly_set_cond(const Poly *p, Arena *a, PolyIndices ix, __isl_keep isl_set *s);
// What a parameter stands for: the Index that is the id's user pointer (loops outside a statement), else the dim
// of that name.
Expr *poly_param_expr(const Poly *p, Arena *a, __isl_keep isl_id *id);
// One point of a set as text, "i = 3, j = 0 (with M = 4, N = 1)", preferring small values; for messages.
char *poly_example(const Poly *p, Arena *a, PolyIndices ix, __isl_keep isl_set *s);
// A set as readable conditions, "i >= N - 3, j = 0"; for messages.
char *poly_region(const Poly *p, Arena *a, PolyIndices ix, __isl_keep isl_set *s);

#endif
