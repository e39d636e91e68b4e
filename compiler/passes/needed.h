// needed: a run-time fault counts only if an output needs the element.
//
// An element of an output is needed, and so is what a needed element reads whatever the data is. Where that is all of an
// intermediate, a fault in it counts at once, and nothing changes. Where all reads are of that kind but not all elements are
// read, the equation is restricted to those that are. Otherwise faults travel as values do: operations that can fault are made
// quiet (OP_QUIET), a second tensor, `t.fault`, says for each element whether its evaluation met a fault (0 or less: none;
// else fault_code of ir/ir.h), and a needed element that evaluates a read of t looks at it (OP_CHECK).
#ifndef PTOC_PASSES_NEEDED_H
#define PTOC_PASSES_NEEDED_H

#include "base/source.h"
#include "ir/ir.h"
#include "ir/poly.h"

// k itself where there is nothing to do, or a changed copy in arena `a`. Needs equations of one operation (see normalize.h).
Kernel *needed_kernel(Arena *a, Budget *budget, const Sources *sources, Kernel *k);

// May evaluating the expression fault? A quick answer without isl: true where it is not sure.
bool needed_is_suspect(Expr *e);

// ---- private to needed*.c -----------------------------------------------------------------------------------------------

typedef VEC(Equation *) EquationList;

typedef struct {
    bool faults;                  // one of its equations has an operation that can fault
    bool involved;                // or reads a tensor that does, of whatever kind
    bool sure;                    // all elements in `need` are needed
    isl_set *need;                // NULL: all; else its equations are restricted to it where `restricted`
    bool decided, restricted;
    bool poison;                  // faults in it travel
    Tensor *fault;                // where to: t.fault
    EquationList writers, readers;
} Need;

typedef struct {
    Arena *a;
    Poly *p;
    const Sources *sources;
    Kernel *k;
    Need *of;                     // by tensor id
} Needed;

// The equation's indices, and those of its nest.
PolyIndices needed_indices(Arena *a, const Equation *eq);
// Its instances, in an unnamed space over them.
isl_set *needed_domain(const Needed *n, const Equation *eq);

// Can the operation itself fault, its arguments given, at some of those instances? (needed_fault.c)
bool needed_can_fault(const Needed *n, PolyIndices ix, isl_set *domain, const Expr *e);
// Can it, or something below it?
bool needed_has_fault(const Needed *n, PolyIndices ix, isl_set *domain, Expr *e);
// The expression with quiet operations where they can fault.
Expr *needed_quiet(const Needed *n, PolyIndices ix, isl_set *domain, Expr *e);
// What evaluating the expression meets: an i32 for CHECK, or NULL: nothing, ever.
Expr *needed_fault(const Needed *n, PolyIndices ix, isl_set *domain, Expr *e);

// The kernel with what was found out carried out. (needed_rewrite.c)
Kernel *needed_rewrite(Needed *n);

#endif
