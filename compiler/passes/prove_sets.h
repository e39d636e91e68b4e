// What the files of the proofs share: the state, and sets under a budget. Private to passes/prove*.c.
#ifndef PTOC_PASSES_PROVE_SETS_H
#define PTOC_PASSES_PROVE_SETS_H

#include "ir/linear.h"
#include "passes/prove.h"

typedef struct {
    VEC(const Equation *) equations;
    bool full;                     // every element is defined, as syntax shows or isl proved
    bool tried;                    // whether isl was asked for `full`
    bool reported;                 // that it has gaps
    isl_set *written;              // the union of what its equations define; NULL until it is needed
} TensorProof;

typedef struct {
    Arena *a;
    Poly *p;
    Diags *d;
    Kernel *k;
    TensorProof *tensors;          // by id
    const Tensor *outside;         // the last error was that a read leaves it, in the equation `outside_in`
    const Equation *outside_in;
    int outside_errors;            // as many errors there were then
    int outside_notes;             // other reads of it that leave it as well
} Prove;

// An instance of an equation or a log, with the reductions around a read: what its sets are made of.
typedef struct {
    const Equation *eq;            // NULL: a log
    const char *where;             // "the equation of `y`", "a log"
    VEC(Index *) indices;
    VEC(Expr *) conds;             // all that hold; those that are affine count
} Instance;

// Between these an isl function that needs too many operations gives NULL.
void prove_begin(Prove *v);
// True when everything since prove_begin was within the budget; else an error that names the query.
bool prove_end(Prove *v, Range range, const char *query);

PolyIndices prove_indices(const Instance *i);
// The points of an instance, `otherwise` resolved when `exact`. NULL when out of budget.
isl_set *prove_points(Prove *v, const Instance *i, bool exact);
// The points where a condition of index arithmetic holds too.
isl_set *prove_where(Prove *v, const Instance *i, isl_set *points, Op op, Expr *x, Expr *y);
// What an equation writes, `otherwise` not resolved.
isl_set *prove_image(Prove *v, const Equation *eq);
// What the equations of a tensor write together; owned by the state. NULL when out of budget.
isl_set *prove_written(Prove *v, const Tensor *t);
// " where <region>, e.g. <point>" for the points of `bad` among `all`. Frees neither.
char *prove_place(Prove *v, PolyIndices ix, isl_set *bad, isl_set *all);

// Whether the equations of a tensor define every element, as far as syntax shows (prove_cover.c).
bool prove_covered_by_syntax(Prove *v, const Tensor *t);
// Bounds, defined elements and non-empty arg-reductions of all reads (prove_reads.c).
void prove_reads(Prove *v);
// One definition of each element (prove_writes.c).
void prove_writes(Prove *v);

#endif
