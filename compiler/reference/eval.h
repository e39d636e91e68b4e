// The reference evaluator: what a kernel means, element by element.
//
// Takes a kernel as sema leaves it and concrete dimensions, and computes each output element on demand straight from
// the definition: find the one equation that defines the element, evaluate its right side, remember the result.
// No integer sets, no tiling, no pass; nothing is shared with the path that compiles a kernel. Sums of floats are
// computed more precisely than the type; every float carries a bound on what compiled code may legally differ by
// (reference/value.h), so that a comparison needs no made-up tolerance.
//
// Recursion between elements runs on a thread of its own with a stack of many gigabytes of reserved addresses.
//
// Test: tests/unit/test_reference.c
#ifndef PTOC_REFERENCE_EVAL_H
#define PTOC_REFERENCE_EVAL_H

#include "base/arena.h"
#include "ir/ir.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REF_MAX_RANK 16

typedef enum { REF_ABSENT, REF_PENDING, REF_DONE, REF_POISON } RefState;

// A dense tensor, row-major, over [lo, lo + extent) in every dimension. Rank 0: one element.
typedef struct {
    DType type;
    int rank;
    int64_t lo[REF_MAX_RANK], extent[REF_MAX_RANK];
    int64_t size;          // elements
    void *data;            // elements stored as dtype_ctype(type)
    uint8_t *state;        // RefState per element; NULL: all done (inputs)
    double *err;           // per element, |compiled - reference| at most; NULL: all 0. Of poison: the number of its fault
} RefTensor;

typedef enum {
    REF_OK,
    REF_FAULT_BOUNDS,      // a data-dependent read outside its tensor: PTO_ERR_BOUNDS
    REF_FAULT_DIVIDE,      // integer division by zero: PTO_ERR_DIVIDE
    REF_FAULT_EMPTY,       // an arg-reduction over nothing: PTO_ERR_WHERE
    REF_FAULT_OVERFLOW,    // index arithmetic that leaves 64 bits: PTO_ERR_OVERFLOW
    REF_WHERE,             // the dimensions do not satisfy the kernel's assumptions
    REF_SHAPE,             // an input's shape, rank or type does not fit the dimensions
    REF_GAP,               // an element that is needed and that no equation defines
    REF_OVERLAP,           // an element that is defined twice
    REF_UNFIT,             // an index that wrapped where it should have been refused
    REF_CYCLE,             // an element that needs itself
    REF_DEPTH,             // the chain of elements that need each other does not fit the stack
    REF_WORK,              // more work than RefOptions.max_work, or tensors larger than max_elements
    REF_MEMORY,
} RefStatus;

typedef struct {
    double math_ulps;      // error bound of mathematical functions, in ulps; 0: the default, 4
    int64_t max_work;      // operations (roughly); 0: no bound
    int64_t max_elements;  // of all tensors together; 0: 2^31
    size_t stack;          // bytes of stack; 0: as much as can be had, up to 16 GiB
    int64_t *work;         // gets how many operations it took; may be NULL
} RefOptions;

typedef struct {
    RefStatus status;
    const char *message;         // one sentence, in the arena
    const Equation *equation;    // being evaluated; may be NULL
    const Tensor *tensor;        // the element being computed, or NULL
    int64_t at[REF_MAX_RANK];
    Range range;                 // of the expression
} RefFault;

// Evaluates all outputs. dims[Dim.id] are the dimensions; inputs[i] belongs to params.at[i] (NULL for an `int`
// parameter); outputs has room for one pointer per output and gets tensors from the arena (their states tell
// which elements could be computed). `options` and `fault` may be NULL. Any status but REF_OK: *fault says more.
RefStatus ref_eval(Arena *a, const Kernel *k, const int64_t *dims, RefTensor *const *inputs, RefTensor **outputs,
                   const RefOptions *options, RefFault *fault);

const char *ref_status_name(RefStatus s);
bool ref_is_fault(RefStatus s);                // a fault of the kernel's run (compiled code reports it too)

// The shape of a tensor for concrete dimensions. False: not computable, an extent above 2^62, or its size overflows.
bool ref_shape(const Kernel *k, const Tensor *t, const int64_t *dims, RefTensor *out);
// Do the dimensions satisfy the kernel's assumptions?
bool ref_where_holds(const Kernel *k, const int64_t *dims);
// The value of an expression over dimensions alone; false if it faults, does not fit or uses anything else. What is
// in between is computed in 128 bits.
bool ref_dim_expr(const Expr *e, const int64_t *dims, int64_t *value);

RefTensor *ref_tensor_new(Arena *a, DType type, int rank, const int64_t *extent);   // zeroed, lo = 0, all done
int64_t ref_offset(const RefTensor *t, const int64_t *at);                           // -1: outside
void ref_unflatten(const RefTensor *t, int64_t offset, int64_t *at);

typedef enum { REF_EQUAL, REF_DIFFERENT, REF_UNJUDGED } RefVerdict;
// Compares an element with what compiled code computed; `actual` is one element of the tensor's type.
RefVerdict ref_judge(const RefTensor *expected, int64_t offset, const void *actual);

// The equation that defines an element (NULL: none, or it starts from an input); for messages.
const Equation *ref_equation_at(Arena *a, const Kernel *k, const int64_t *dims, const Tensor *t, const int64_t *at);

#endif
