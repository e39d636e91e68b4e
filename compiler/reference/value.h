// Scalar values of the reference evaluator, with a bound on how far compiled code may legally differ.
//
// `err` bounds |compiled - reference|. It is 0 wherever the language leaves no freedom: inputs, integers, every
// operation that rounds in one way only. Freedom comes from the order of floating-point sums and from the error of
// mathematical functions; from there it is carried through later operations to first order, each adding its own
// rounding. err = INFINITY: nothing can be said (a comparison on the edge, an uncertain subscript). err = NaN: the
// value is poison (it could not be computed) and `i` says why: a RefFault's number, or minus a RefStatus that the
// evaluator has yet to turn into one.
//
// Test: tests/unit/test_reference.c
#ifndef PTOC_REFERENCE_VALUE_H
#define PTOC_REFERENCE_VALUE_H

#include "ir/ir.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    union {
        double f;       // float types, already rounded to the type
        int64_t i;      // all others: wrapped to the type (u64: the same bits)
    };
    double err;
} Value;

__extension__ typedef __int128 RefWide;

static inline bool value_is_poison(Value v) { return v.err != v.err; }
static inline Value value_int(int64_t i) { return (Value){.i = i}; }
static inline Value value_float(double f) { return (Value){.f = f}; }
Value value_poison(int64_t why);

// Index arithmetic that leaves 64 bits is poison. The result of an operation on operands of type `t` (which is the result's type too, except for comparisons). None of
// the operands is poison. `function_error`: error bound of mathematical functions, in halves of an ulp.
Value value_unary(Op op, DType t, Value a, double function_error);
Value value_binary(Op op, DType t, Value a, Value b, double function_error);
Value value_fma(DType t, Value a, Value b, Value c);
Value value_convert(DType to, DType from, Value a);

// A comparison of a number of type t with an index, by their values; the index is on the left where `flipped`.
Value value_compare_index(Op op, DType t, Value number, int64_t index, bool flipped);

// Does `a op b` depend on the errors of a and b?
bool value_uncertain(DType t, Value a, Value b);
// -1, 0, 1, or 2 when unordered.
int value_compare(DType t, Value a, Value b);

// Accumulates terms in any order: the state of a reduction or scan.
typedef struct {
    ReduceOp op;
    DType type;
    int64_t n;            // terms so far
    long double sum;      // SUM, MEAN of floats
    double magnitude;     // sum of |term|
    double err;           // sum of the terms' errors
    Value best;           // PROD, MAX, MIN, ANY, ALL, ARG*, and sums of integers
    int64_t position;     // ARG*
    bool tie;             // ARG*: an error could change which one is best
    Value poison;         // the first term that could not be computed
    bool poisoned;
} Accumulator;

Accumulator accumulator_new(ReduceOp op, DType type);       // type: of the terms
void accumulator_add(Accumulator *acc, Value term, int64_t position);
// The result so far; poison with -REF_FAULT_EMPTY for an arg-reduction of nothing, and a fault for an integer mean.
Value accumulator_value(const Accumulator *acc);

#endif
