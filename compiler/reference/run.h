// Inside the reference evaluator: a kernel made concrete.
//
// "Lowering" replaces dimensions by their values, index expressions by linear forms over slots, and names by
// pointers, so that evaluation is a walk over small nodes. Each equation has its own slots: first its indices, in
// order, then those of the reductions inside. One activation of an equation owns one array of slots (`env`).
#ifndef PTOC_REFERENCE_RUN_H
#define PTOC_REFERENCE_RUN_H

#include "reference/eval.h"
#include "reference/value.h"

typedef struct Run Run;
typedef struct Node Node;
typedef struct Cells Cells;
typedef struct Definition Definition;

typedef struct { int slot; int64_t factor; } Term;

struct Node {
    Op op;
    DType type;            // of the result
    DType operand;         // of the arguments (comparisons, conversions)
    bool linear;           // constant + sum of terms; op, args unused
    int n;                 // arguments or terms
    int64_t constant;
    Term *terms;
    Node **args;
    Value value;           // OP_CONST
    Cells *cells;          // OP_READ
    struct Loop *loop;     // OP_REDUCE, OP_SCAN
    const Expr *expr;
};

// A range of an index: slot in [lo, hi).
typedef struct { int slot; Node *lo, *hi; } Span;

// A row of a scan: running values for one assignment of the other indices in scope.
typedef struct ScanRow ScanRow;
struct ScanRow {
    ScanRow *next;
    int64_t *key;
    int64_t lo, length, consumed;
    Accumulator acc;
    Value *prefix;         // prefix[c]: after c positions (from the far end when reversed)
};

// A reduction or scan.
typedef struct Loop {
    const Nest *nest;
    int nspans;
    Span *spans;
    int nconds;
    Node **conds;
    Node *body;
    Definition *definition;
    int along;             // SCAN: slot
    int nkeys;             // SCAN: slots below this one, without `along`, are its key
    ScanRow **rows;        // hash table
    int nrows, capacity;
} Loop;

// An equation.
struct Definition {
    const Equation *equation;
    Cells *cells;          // of the left side
    int nslots, nspans, nsubs, nconds;
    Span *spans;           // of the equation's indices; their slots are 0, 1, ...
    Node **subs, **conds, *rhs;
    VEC(Index *) slots;    // lowering: the index that each slot stands for
    // Finding the point that defines an element: solve subscript steps[k].sub for steps[k].slot, in order.
    int nsteps;
    struct { int sub; Term term; } *steps;
    bool solvable;
    int64_t *table;        // otherwise: element -> 1 + number of the point in `points`, -1: defined twice
    int64_t *points;
};

// A tensor.
struct Cells {
    const Tensor *tensor;
    RefTensor *data;
    Cells *init;
    VEC(Definition *) definitions;      // those with `otherwise` last
    int nfirst;                         // how many have no `otherwise`
    int nslots;                         // of the definition with most
    Value *border;                      // per dimension, for BORDER_CONST and BORDER_ZERO
};

// The chain of elements being computed.
typedef struct Frame Frame;
struct Frame { Frame *up; const Cells *cells; int64_t offset; const Definition *definition; };

struct Run {
    Arena *arena;
    const Kernel *kernel;
    const int64_t *dims;
    Cells *cells;                       // by Tensor.id
    double function_error;
    int64_t work, max_work, max_elements;
    bool stopped;                       // out of work: everything fails at once
    bool lost;                          // index arithmetic left 64 bits since this was cleared
    char *stack_end;                    // lowest usable address
    Frame *frame;
    VEC(RefFault) faults;
    RefStatus status;
    RefTensor **outputs;
};

// lower.c. False: a status and fault are recorded in faults[0].
bool run_lower(Run *r, RefTensor *const *inputs);
Node *run_lower_expr(Run *r, Definition *d, const Expr *e);

// define.c: the definition of an element; fills env with its indices. NULL: none (*status REF_OK) or REF_OVERLAP.
Definition *run_find(Run *r, Cells *c, const int64_t *at, int64_t offset, int64_t *env, RefStatus *status);
// Is the point in the definition's domain? env holds its indices.
bool run_in_domain(Run *r, Definition *d, int64_t *env);

// eval.c
Value run_eval(Run *r, const Node *n, int64_t *env);
int64_t run_index(Run *r, const Node *n, int64_t *env, bool *ok);       // an index-typed node whose value must be certain
Value run_overflow(Run *r, const Node *n);
bool run_linear(const Node *n, const int64_t *env, int64_t *value);      // false: it does not fit 64 bits
Value run_fault(Run *r, RefStatus status, const Expr *e, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
bool run_work(Run *r, int64_t amount);                                   // false: over the budget

// loop.c
Value run_reduce(Run *r, const Node *n, int64_t *env);
Value run_scan(Run *r, const Node *n, int64_t *env);

#endif
