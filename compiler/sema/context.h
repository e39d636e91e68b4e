// What the files of sema share: the state of one kernel's analysis and the steps that each file contributes.
//
// The steps run in this order, each over all equations, so that the order of equations in the text means nothing:
//   names   dims, parameters, declarations, the names and indices of left sides           (names.c, shapes.c, whole.c)
//   order   strongly connected components of the undeclared tensors                       (order.c)
//   types   conditions and right sides become expressions, undeclared tensors get a type  (types.c, exprs.c, ...)
//   ranges  open indices get ranges, undeclared tensors a shape                           (ranges.c, hull.c)
//   checks  injective left sides, unused names                                            (sema.c)
// An equation that failed takes no further part; a tensor whose type or shape an error made unknown silences what
// reads it, so one mistake is one message. Private to compiler/sema.
#ifndef PTOC_SEMA_CONTEXT_H
#define PTOC_SEMA_CONTEXT_H

#include "ir/ir.h"
#include "ir/linear.h"
#include "ir/poly.h"
#include "sema/sema.h"

#define uthash_fatal(message) arena_oom_handler()
#include <uthash.h>

// An index of an equation and those of the reductions inside: more than this is refused.
enum { SEMA_MOST_INDICES = 12, SEMA_MOST_RANK = 8 };

typedef struct TensorInfo TensorInfo;
typedef struct EquationInfo EquationInfo;

typedef enum { SYM_DIM, SYM_TENSOR, SYM_POISON /* its definition was an error: say nothing more */ } SymbolKind;
typedef struct {
    const char *name;
    Range range;
    SymbolKind kind;
    Dim *dim;
    TensorInfo *tensor;
    bool used;
    UT_hash_handle hh;
} Symbol;

// A tensor that an equation names without subscripts, and where.
typedef struct {
    TensorInfo *tensor;
    Range range;
} Operand;

// One equation, or one log, on its way.
struct EquationInfo {
    const TreeStmt *stmt;          // of a whole tensor: with indices written out
    TensorInfo *lhs;               // NULL: a log
    Equation *eq;                  // of a log: holds its indices and conditions
    Log *log;
    bool failed;
    bool bare;                     // an equation whose left side has no subscripts: of a scalar, or
    bool whole;                    // of a whole tensor
    bool unclear;                  // bare, and names something whose rank cannot be known
    VEC(Operand) operands;         // bare: what its right side names without subscripts
    VEC(TensorInfo *) reads;       // the undeclared tensors that it reads
    VEC(Index *) open;             // indices without a range so far (lo is NULL)
};

struct TensorInfo {
    Tensor *tensor;
    Symbol *symbol;
    bool typed, shaped;            // declared tensors are from the start
    bool failed;                   // an error was reported: no second one for what follows from it
    bool unranked;                 // undeclared, and no left side with subscripts so far
    VEC(EquationInfo *) equations;
    VEC(EquationInfo *) readers;   // unranked: equations that have it as an operand
    int finished;                  // how many of them have a name
    int component;                 // position in Sema.components; -1: declared
};

// Undeclared tensors that depend on each other, and whether they do (a recurrence).
typedef struct {
    VEC(TensorInfo *) tensors;
    bool recurrent;
} Component;

typedef struct {
    const char *name;
    const TreeKernel *tree;
    UT_hash_handle hh;
} KernelName;

typedef struct {
    Arena *arena;
    Budget *budget;
    Diags *diags;
    const TreeFile *tree;
    KernelName *kernels;
} SemaFile;

typedef struct {
    SemaFile *file;
    Arena *arena;
    const TreeKernel *tree;
    Kernel *kernel;
    Symbol *symbols;
    VEC(TensorInfo *) tensors;     // by tensor id
    VEC(EquationInfo *) equations; // in the order of the text; logs too
    VEC(Component *) components;   // what is read comes before what reads it
    Poly *poly;                    // made when first needed; see sema_poly
    bool failed;                   // an error was reported
    int errors;                    // how many
    bool quiet;                    // a trial: errors are not reported
} Sema;

// ---- reporting (report.c) ----

// Reports an error unless this is a trial, and marks the kernel. Notes and help belong to the last error.
void sema_error(Sema *s, DiagId id, Range range, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void sema_note(Sema *s, Range range, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void sema_help(Sema *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
// A range as an example for help, of a dimension that the kernel has.
const char *sema_some_range(Sema *s);
// Help "did you mean `x`?" when a name of the kernel, an index in scope or (calls) a function is close.
void sema_suggest(Sema *s, const char *name, int nscope, Index *const *scope, bool calls);
// The best of `n` candidates for a misspelt name, or NULL.
const char *sema_closest(const char *name, int n, const char *const *candidates);

// ---- names (names.c) ----

Symbol *sema_find(Sema *s, const char *name);
// Defines a name; NULL and an error when it exists.
Symbol *sema_define(Sema *s, const char *name, Range range, SymbolKind kind);
// Inputs, outputs, declarations, left sides; false when the kernel is beyond analysis.
bool sema_names(Sema *s);
// A new index; NULL and an error when it would hide a name or an index of the scope.
Index *sema_index(Sema *s, const char *name, Range range, int nscope, Index *const *scope);
// Gives an undeclared tensor its rank.
void sema_set_rank(Sema *s, TensorInfo *info, int rank);
// Writes equations on whole tensors out with indices (whole.c).
void sema_whole(Sema *s);
// Whether the shapes in an equation on whole tensors are equal, as far as they are known; reports if not. Its indices get
// their ranges.
bool sema_whole_shapes(Sema *s, EquationInfo *e);
// Indices, subscripts, written ranges and conditions of an equation (leftside.c).
void sema_left_side(Sema *s, EquationInfo *e);

// ---- types and shapes of declarations (shapes.c) ----

// Sets type, extents and borders of a tensor from its declaration; false after an error.
bool sema_tensor_type(Sema *s, TensorInfo *t, const TreeType *type);
// Sets the values of its borders, when all parameters have their types; false after an error.
bool sema_border_values(Sema *s, TensorInfo *t, const TreeType *type);
// Whether two index expressions are equal for all sizes; whether one is never negative.
bool sema_same(Sema *s, Expr *x, Expr *y);
bool sema_nonnegative(Sema *s, Expr *x);
Poly *sema_poly(Sema *s);
// Raises the upper ends of a tensor's extents where they could lie below the lower ones: it is empty there.
void sema_clip_extents(Sema *s, Tensor *t);

// ---- order (order.c) ----

void sema_order(Sema *s);

// ---- types (types.c): an expression of type DT_COUNT or DT_INDEX has no type of its own ----

typedef struct {
    Sema *sema;
    EquationInfo *equation;        // NULL: a declaration or an assumption
    VEC(Index *) scope;            // visible indices, outermost first
    bool promote;                  // inside sum, prod, mean or scan: leaves take the accumulator's type
    VEC(const char *) ended;       // indices of reductions whose body has ended, for hints
    VEC(const char *) undefined;   // names that were reported: once is enough
    bool subscript;                // inside of a subscript
} Typer;

bool type_is_open(DType t);        // DT_COUNT or DT_INDEX
// Is it more than literals? (Of an expression without a type.)
bool type_has_variable(const Expr *e);
// Gives an expression the type of what it is assigned to; NULL after an error. `what` names the place.
Expr *type_coerce(Typer *t, Expr *e, DType type, const char *what);
// Brings n arguments to one type; DT_COUNT or DT_INDEX when none has a type. False after an error.
bool type_unify(Typer *t, Range range, const char *what, int n, Expr **args, DType *type);
// The same for operands of arithmetic: a bool is an error, or 0 and 1 of type i32 inside a sum.
bool type_numbers(Typer *t, Range range, const char *what, int n, Expr **args, DType *type);
// The conversion that a call such as f32(e) asks for.
Expr *type_convert(Typer *t, Expr *e, DType type, Range range);
// Under `promote`, a leaf in the accumulator's type.
Expr *type_leaf(const Typer *t, Expr *e);
// Types of undeclared tensors and the right sides of all equations (infer.c).
void sema_types(Sema *s);

// Looks at the indices that an equation or log puts into integer types (fits.c): what lets only some sizes in becomes an
// assumption. All equations are in the kernel.
void sema_fits(Sema *s, const EquationInfo *e);

// ---- expressions (exprs.c, functions.c, reduce.c): NULL after an error ----

Expr *sema_expr(Typer *t, const Tree *tree);
// Expressions that must be index arithmetic and affine; `id` and `what` say what they are for.
Expr *sema_affine_expr(Typer *t, const Tree *tree, DiagId id, const char *what);
bool sema_is_affine(const Expr *e);
bool sema_is_affine_cond(const Expr *e);
Expr *sema_bool(Typer *t, const Tree *tree, const char *what);
Expr *sema_call(Typer *t, const Tree *tree);
Expr *sema_reduction(Typer *t, const Tree *tree);
bool sema_is_reduction(const char *name);
bool sema_is_function(const char *name, Op *op);
// The half-open bounds of a..b or a..=b.
bool sema_bounds(Typer *t, const Tree *range, Expr **lo, Expr **hi);
// Splits a condition at its && and hands the parts to `add` in order.
void sema_conjuncts(Expr *cond, void (*add)(Expr *cond, void *data), void *data);
// log("...", e, ...)
void sema_log(Sema *s, EquationInfo *e);

// ---- ranges and hulls (ranges.c, hull.c) ----

// Integer sets have a budget: between these, an isl function that exceeds it gives NULL.
void sema_budget_begin(Sema *s);
void sema_budget_end(Sema *s);

void sema_ranges(Sema *s);
// Infers the open indices of one equation; false after an error.
bool sema_infer(Sema *s, EquationInfo *e);
// The shape of an undeclared tensor from its equations; false after an error.
bool sema_hull(Sema *s, TensorInfo *t);

#endif
