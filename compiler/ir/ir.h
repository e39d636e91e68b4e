// The task level of the IR: kernels as typed equations with exact domains.
//
// sema builds it from the tree. Everything is explicit: each index has its range, each conversion is a node, each
// tensor a shape, each literal a type. An equation's domain is the box of its indices (in order; a range may use
// dimensions and earlier indices) cut by its conditions; with `otherwise`, less what the other equations of the
// tensor define. ir/poly.h turns domains and accesses into isl sets.
//
// Invariants (ir/verify.c): subscripts and ranges have type `index` or an integer type; a read has one subscript a
// dimension; both arguments of ARITH, COMPARE, BITS have one type, but that a number may be compared with an index, which
// compares the values; the right side has the type of its tensor.
// Objects live in the kernel's arena.
#ifndef PTOC_IR_IR_H
#define PTOC_IR_IR_H

#include "base/arena.h"
#include "base/diag.h"
#include "ir/type.h"
#include "syntax/tree.h"

typedef enum {
#define OP(id, name, arity, class) OP_##id,
#include "ir/ops.def"
#undef OP
    OP_COUNT
} Op;
typedef enum { OPC_LEAF, OPC_ARITH, OPC_COMPARE, OPC_LOGIC, OPC_MATH, OPC_BITS, OPC_NEST, OPC_FAULT, OPC_OTHER } OpClass;

const char *op_name(Op op);
int op_arity(Op op);
OpClass op_class(Op op);

typedef struct Expr Expr;
typedef struct Tensor Tensor;
typedef struct Kernel Kernel;

// A symbolic extent: bound by an input's shape (tensor, axis) or an `int` parameter. Always >= 0.
typedef struct {
    int id;                   // position in Kernel.dims
    const char *name;
    Range range;
    Tensor *tensor;           // the input whose shape binds it, or NULL: an int parameter
    int axis;
} Dim;

// A loop index with its half-open range.
typedef struct {
    const char *name;
    Range range;
    Expr *lo, *hi;            // index-typed, over dims and indices that come earlier
} Index;

typedef enum { RED_SUM, RED_PROD, RED_MAX, RED_MIN, RED_ANY, RED_ALL, RED_MEAN, RED_ARGMAX, RED_ARGMIN } ReduceOp;
const char *reduce_name(ReduceOp op);      // "sum" ...; as a scan operator: "+" "*" "max" "min" "||" "&&"

// A reduction or a scan. The body is args[0] of its Expr.
typedef struct {
    ReduceOp op;
    VEC(Index *) indices;     // REDUCE: the reduced ones. SCAN: empty
    VEC(Expr *) conds;        // bool; affine ones refine the domain, others skip elements
    Index *along;             // SCAN: an index of the equation
    bool exclusive, reverse;  // SCAN
} Nest;

#define EXPR_EMPTY_BORDER 0x10000u
#define EXPR_FITS 1u

struct Expr {
    Op op;
    DType type;
    Range range;
    int n;                    // number of args
    unsigned outside;         // READ: bit d: its subscript d can leave the tensor, so the border counts; EXPR_EMPTY_BORDER << d:
                              // and the dimension can be empty, so that there is nothing to repeat (set by `depend`).
                              // CONVERT of an index: EXPR_FITS: not asked for, so that the value must fit the type (sema/fits.c)
    Expr **args;
    union {
        int64_t i;            // CONST of an integer, index or bool type (u64: the same bits)
        double f;             // CONST of a float type (already rounded to the type)
        Index *index;
        const Dim *dim;
        Tensor *tensor;       // READ
        Nest *nest;           // REDUCE, SCAN
    };
};

typedef enum { BORDER_NONE, BORDER_ZERO, BORDER_CLAMP, BORDER_REFLECT, BORDER_WRAP, BORDER_CONST } BorderKind;
typedef struct { BorderKind kind; Expr *value; Range range; } Border;      // value: of the tensor's type: a CONST, or a READ of a scalar input or a DIM, perhaps converted

typedef enum { TENSOR_INPUT, TENSOR_OUTPUT, TENSOR_LOCAL, TENSOR_HIDDEN /* made by normalize */ } TensorKind;

struct Tensor {
    int id;                   // position in Kernel.tensors
    const char *name;
    Range range;
    DType type;
    TensorKind kind;
    bool declared;            // the source gives its shape
    int rank;                 // 0: a scalar
    Expr **lo, **hi;          // half-open extents, index-typed, over dims only
    Border *border;           // one a dimension
    Tensor *init;             // outputs: what it starts from (an input of the same shape and type), or NULL
};

typedef enum { EQ_MAP, EQ_REDUCE, EQ_SCAN } EqKind;    // before normalize: all EQ_MAP, with NEST nodes inside

typedef struct {
    int id;                   // position in Kernel.equations
    const char *name;         // unique in the kernel: "y", or "u.0", "u.1" when a tensor has several
    Range range, lhs_range;
    Tensor *lhs;
    Expr **subs;              // lhs->rank left subscripts: affine in the indices
    VEC(Index *) indices;     // in the order of the left side, then those of `where`
    VEC(Expr *) conds;        // affine, bool
    bool otherwise;
    Expr *rhs;                // type lhs->type. EQ_REDUCE, EQ_SCAN: the body (nest holds the rest)
    EqKind kind;
    Nest *nest;
    int origin;               // the equation of the source this one stems from (its own id before normalize)
} Equation;

// log("fmt", e...) over a domain.
typedef struct {
    Range range;
    const char *format;       // printf-like; each argument is converted to i64 or f64 before printing
    VEC(Expr *) args;
    VEC(Index *) indices;
    VEC(Expr *) conds;
} Log;

// The conversion at *p (after its %): 'd', 'g' or '%', 0 when it is none; *p moves behind it.
char log_conversion(const char **p);
// Does each conversion of the format have its argument, a number or a float?
bool log_suits(const Log *l);

typedef struct { Tensor *tensor; const Dim *dim; } Param;        // exactly one is set

struct Kernel {
    Arena *arena;
    const char *name;
    Range range;
    VEC(Dim *) dims;
    VEC(Tensor *) tensors;
    VEC(Param) params;                  // inputs in order
    VEC(Tensor *) outputs;
    VEC(Expr *) where;                  // affine assumptions over dims, checked on entry
    VEC(Equation *) equations;
    VEC(Log *) logs;
    VEC(const TreeSchedule *) schedules;   // those that name it, in file order
};

// What a fault was, as a number that travels beside a value (see passes/needed.h): (line * 1024 + column) * 4 + kind, at least
// 1; a line of 0: not known. pto_fault_needed of the runtime takes it apart.
typedef enum { FAULT_DIVIDE = 1, FAULT_BOUNDS = 2 } FaultKind;
int32_t fault_code(FaultKind kind, int line, int column);
FaultKind fault_kind(int64_t code);

// Constructors (all in the arena `a`; none checks types).
Expr *expr_new(Arena *a, Op op, DType type, Range range, int n, Expr *const *args);
Expr *expr_int(Arena *a, DType type, int64_t value, Range range);
Expr *expr_float(Arena *a, DType type, double value, Range range);
Expr *expr_index(Arena *a, Index *index, Range range);
Expr *expr_dim(Arena *a, const Dim *dim, Range range);
Expr *expr_unary(Arena *a, Op op, DType type, Expr *x);
Expr *expr_binary(Arena *a, Op op, DType type, Expr *x, Expr *y);
Expr *expr_convert(Arena *a, DType type, Expr *x);          // x itself when it has the type; folds constants
// Simplifies index arithmetic (constant folding, + 0, * 1); never changes a value.
Expr *expr_simplify(Arena *a, Expr *e);
bool expr_equal(const Expr *x, const Expr *y);
bool expr_is_mixed(const Expr *e);                           // a comparison of a number with an index
bool expr_is_int(const Expr *e, int64_t value);              // an integer or index constant of that value
// A copy in which each INDEX of `from` is replaced by the expression at the same place of `to`. Indices bound by
// nests inside are kept as they are.
Expr *expr_substitute(Arena *a, Expr *e, int n, Index *const *from, Expr *const *to);
// A copy with f's result in place of each READ, the subscripts of which were done before. Nests inside are not entered: there
// are none after normalize.
Expr *expr_map_reads(Arena *a, Expr *e, Expr *(*f)(Expr *read, void *data), void *data);
Equation *equation_map_reads(Arena *a, const Equation *e, Expr *(*f)(Expr *read, void *data), void *data);     // right side and guards
// Calls f on e and everything below (nests' ranges and conditions too), parents first; stops below when f returns false.
void expr_walk(Expr *e, bool (*f)(Expr *e, void *data), void *data);
bool expr_uses(const Expr *e, const Index *index);
bool expr_uses_data(const Expr *e);                          // reads a tensor
// As a user would write it, for messages; the second without spaces, as inside a[...].
char *expr_text(Arena *a, const Expr *e);
char *expr_text_subscript(Arena *a, const Expr *e);
// A condition of index arithmetic in words, indices on the left: "i >= N - 1, j = 0".
char *expr_text_condition(Arena *a, const Expr *e);

// A read with what holds where it is evaluated: the conditions of enclosing ifs, && and ||, and guards (outermost
// first, affine or not), and the indices of enclosing reductions. Valid during the visit.
typedef struct { Expr *read; int nguards; Expr *const *guards; int nnested; Index *const *nested; } ReadSite;
void expr_reads(Arena *a, Expr *e, void (*visit)(const ReadSite *site, void *data), void *data);
// The same for REDUCE and SCAN nodes (in the field `read`), with what holds outside of them.
void expr_nests(Arena *a, Expr *e, void (*visit)(const ReadSite *site, void *data), void *data);
// The same for conversions with EXPR_FITS.
void expr_fits(Arena *a, Expr *e, void (*visit)(const ReadSite *site, void *data), void *data);

// The value of a constant conversion and of constant arithmetic: exactly what run time computes.
double fold_round_float(DType t, double x);                  // to the nearest value of a float type, ties to even
int64_t fold_wrap_int(DType t, int64_t x);
int64_t fold_float_to_int(DType t, double x);                // truncates, saturates, NaN gives 0 (u64: same bits); bool: x != 0
double fold_int_to_float(DType to, DType from, int64_t x);   // rounded once
// An operation of ARITH, COMPARE or BITS on constants of an integer, bool or index type t (one operand: x). Wraps;
// false when it cannot be folded: a zero divisor, an index that would wrap, an operation on floats only.
bool fold_int(Op op, DType t, int64_t x, int64_t y, int64_t *r);

#endif
