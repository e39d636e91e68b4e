// c.h: the C emitter's own state and the parts it is made of (private to compiler/emit/).
#ifndef PTOC_EMIT_C_H
#define PTOC_EMIT_C_H

#include "emit/emit.h"
#include "ir/bundles.h"
#include "ir/value_range.h"

#include <stdbool.h>
#include <stdio.h>

#define MAX_RANK 8                // PTO_MAX_RANK of the runtime

// A name that the body of a function may use; it is loaded from the frame only where it is used.
typedef struct { const char *name, *type, *load; bool used; } Symbol;
typedef struct { const char *name; int symbol; } NameSlot;       // symbol: position in Emit.symbols, or -1

// The vector loop being emitted: its index stands for `lanes` points from `index + offset` on.
typedef struct {
    Index *index;
    int lanes;
    int width;                    // bytes of the widest element: masks have this width
    int64_t offset;
    const char *suffix;           // of registers of this copy
    bool lane;                    // emitting one lane, numbered by the C variable `l`
    const Index *row;             // the loop around it of which several iterations run at once, or NULL
    int rows, down;               // how many, and how far the current copy is behind the first
    VEC(Expr *) masks;            // bounds of loops inside that are not the same in all lanes
} Vec;

typedef struct { const Index *index; const char *name; } Bound;
typedef enum { REG_SCALAR, REG_VECTOR } RegisterForm;
typedef VEC(const Expr *) Values;
typedef struct { const Expr *x; const char *name; bool vector; } Held;          // indices, and values of borders in the types of their tensors
typedef struct { const Expr *cond; bool holds; } Assumed;
typedef struct {                  // an index expression, with the indices and conditions around it
    const Expr *x;
    int nscope, nconds;
    const Index **scope;
    Assumed *conds;
} Need;

typedef struct {
    Arena *a;
    const EmitOptions *o;
    const TileKernel *t;
    const Kernel *k;
    const char *suffix;           // of the names that exist once for each target; "" in a file for one
    FILE *out;                    // of the function body
    int indent;
    VEC(Symbol) symbols;
    VEC(int) used;                // symbols that the body has used so far
    const char **dim;             // C name by position
    const char **tensor;          // C name by tensor id
    RegisterForm *reg;            // by tensor id
    const char **reg_name;        // by tensor id: the name in force
    VEC(Bound) bound;             // indices in scope
    VEC(Bound) outer;             // indices of sequential loops around tasks
    NameSlot *names;              // a hash table of the names that indices must not take
    int nslots, nnames;
    Vec *vec;                     // NULL: scalar code
    bool wary;                    // a nest whose subscripts are looked at one by one
    bool counts;                  // a task of a scalar unit: operations are counted, accesses to memory are told to the model
    bool stores;                  // the place that is being written out is stored to
    Values *values;               // by grid: the numbers that its launch passes
    const MoveOp *nest;           // an operation on a box: its operands stand for their tensors
    VEC(Held) held;               // steps of deep expressions that variables hold
    int temps;                    // numbers variables of checked subscripts
    int sites;                    // numbers places that can fault
    ValueScope ranges;            // what dims and known indices can be
    VEC(KnownIndex) known;
    VEC(Assumed) assumed;         // conditions around what is being written out
    VEC(Need) needs;              // index arithmetic that the entry has to look at
    bool inside;                  // a part of an index expression, which was looked at as a whole
    bool wide;                    // index arithmetic is written out in 128 bits: on entry, before it was looked at
    const Node *op;               // the operation being emitted, or NULL: none, as on entry
    int quiet;                    // above 0: faults do not count
    bool streams;                 // the function stores past the caches
    VEC(const Node *) pasts;      // the operations of the vector loop that may
} Emit;

typedef struct { VEC(const Node *) grids; VEC(const Node *) outer; } Structure;    // of a kernel; outer: loops around grids

// What others call, and the functions that do the work, under names that no other library can have: `k` and `k_enter`,
// `k_workspace` and `k_bytes`.
typedef enum { SIGNATURE_PUBLIC, SIGNATURE_ENTER, SIGNATURE_WORKSPACE, SIGNATURE_BYTES } Signature;

// names.c
const char *name_public(Arena *a, const char *name);                    // of a kernel's function
const char *c_string(Arena *a, const char *text);                      // inside of a C string
const char *c_comment(Arena *a, const char *text, int length);         // behind //: so many characters at most, none of which goes on
const char *c_identifier(Arena *a, const char *text);                  // inside of an identifier
const char *name_part(Emit *e, const char *name, const char *what, int number);      // of what belongs to a name of the source: "x_s0"
const char *name_bind(Emit *e, const Index *index);                     // enters scope; undo by e->bound.n--
const char *name_index(Emit *e, const Index *index);
const char *name_outer(Emit *e, const Index *index);                    // the field of the frame that holds it
const char *name_symbol(Emit *e, const char *name);                     // marks it used
void name_reserve(Emit *e, const char *name);
void name_sort_used(Emit *e);                                           // in the order in which they were added
void name_release(Emit *e);                                             // nothing is used any more
void name_add_symbol(Emit *e, const char *name, const char *type, const char *load);
const char *name_of_dim(const Emit *e, const Dim *d);
const char *name_dim(Emit *e, const Dim *d);                            // marks it used
const char *name_stride(Emit *e, const Tensor *t, int d);
const char *name_own(Emit *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));      // "ptoc_k_task0": a function, type or table of the kernel
void name_setup(Emit *e);

// exact.c: index arithmetic never leaves 64 bits
void exact_know(Emit *e, const Index *index, Expr *lo, Expr *hi);       // the range of an index without a loop, closed
void exact_assume(Emit *e, const Expr *cond, bool holds);               // for what is written out until exact_drop
void exact_drop(Emit *e);
void exact_need(Emit *e, const Expr *x);                                // it is about to be written out
void exact_border(Emit *e, const Tensor *t, int d, Expr *sub);          // a read across the border of dimension d
void exact_step(Emit *e, const Index *index, int64_t step);             // a loop over it goes on by `step` at a time
bool exact_fits(const Emit *e, const Expr *x);                          // at all sizes
const char *exact_about(Emit *e, const Expr *x);                        // a size of tiles or bound of vectors: too large is as good as exact
const char *exact_wide(Emit *e, const Expr *x);                         // in 128 bits; overflow is told to the C variable pto_e
void exact_sizes(Emit *e, const char **names, const char **values);     // all dims, as arrays for messages
void c_exact(Emit *e, FILE *out);                                       // the function that looks at what was noted

// steps.c: deep expressions, in steps: C compilers count brackets. With `write`, what writes an expression out, and `type`, the
// C type of its value: `vector`, that of all lanes.
typedef const char *Write(Emit *e, const Expr *x);
const char *c_in_steps(Emit *e, const Expr *x, Write *write, Write *type, bool vector);

// expr.c: scalar expressions. Values of f16 and bf16 have C type float, bool int.
const char *c_index(Emit *e, const Expr *x);                            // an index expression, int64_t
const char *c_value(Emit *e, const Expr *x);                            // any expression
const char *c_bare(Emit *e, const char *text);                          // without parentheses around it all: clang warns of `if ((a == b))`
const char *c_condition(Emit *e, const Expr *x);                        // the same, of an expression
// A number and an index compared (compare.c).
const char *c_mixed(Emit *e, const Expr *x);
const char *c_convert(Emit *e, DType from, DType to, const char *x);
const char *c_constant(Emit *e, DType t, int64_t value);                // of an integer type
const char *c_subscript(Emit *e, const Tensor *t, int d, const Expr *sub);       // c_index, but for what storage has no place for
const char *c_place(Emit *e, const Tensor *t, Expr *const *subs);       // the lvalue (as stored)
const char *c_place_text(Emit *e, const Tensor *t, const char *const *subs);   // the same from subscripts as text
const char *c_load(Emit *e, const Tensor *t, const char *place);        // place -> value
const char *c_store(Emit *e, const Tensor *t, const char *value);       // value -> what is stored
const char *c_identity(Emit *e, ReduceOp op, DType t, bool scan);
const char *c_combine(Emit *e, ReduceOp op, DType t, const char *x, const char *y);
const char *c_value_type(DType t);                                      // of a value held in a variable
bool c_is_register(const Emit *e, const Tensor *t);                     // a local variable (on a box everything lies in a memory)
bool c_subscript_is_data(const Expr *sub);                              // must be checked at run time
bool c_is_linear(const Expr *sub);                                      // a sum of multiples: no min, max or division

// faults.c: what operations that can fault are told beside their operands
const char *c_fault_place(Emit *e, const Expr *x);                      // "ctx, site, equation": PTO_PLACE of ptort/kernel.h
const char *c_fault_element(Emit *e);                                   // "PTO_AT1(i)": its PTO_ELEMENT
const char *c_fault_check(Emit *e, const Expr *x, const char *code);    // the call that makes a fault of a code above 0

// kernel.c
bool c_is_read(Emit *e, const Tensor *t);                               // by some equation of the kernel
const char *c_element(const Tensor *t);                                 // C type of an element as stored
bool c_may_stream(const Tensor *t);                                     // its stores may go past the caches
void c_used(Emit *e, FILE *out, const char *text);                      // variables for what the body used and (when it is given) mentions
void c_leaf(Emit *e, FILE *out, const Node *grid, int number);          // the function of a task

// bundles.c: machines of bundles
bool c_is_modelled(const Emit *e);                                      // the target is one
const char *c_machine(Emit *e);                                         // the name of its table
bool c_is_stored(const Emit *e, const Tensor *t);                       // it lies in the memory behind all others
int c_position(const Emit *e, const Tensor *t);                         // among those tensors
void c_programs(Emit *e, FILE *out, const Structure *s);                // tables and functions of all grids
void c_check_written(Emit *e);
void c_launch(Emit *e, const Node *grid, int number);                   // the call that runs one
int c_operations(const Node *op);                                       // what a scalar unit does for one element
int c_bound_operations(const Node *loop);                               // and on entry of a loop
const char *c_operand_place(Emit *e, const Tensor *t, const char *const *subs);      // in the function of an operation on a box

// entry.c
void c_entry(Emit *e, FILE *out, const Structure *s);
void c_bytes(Emit *e, FILE *out);
const char *c_extent_text(Emit *e, const Tensor *t, int d);                  // as the source would write it, for messages

// public.c
void c_signature(FILE *out, Emit *e, Signature which);                  // up to its closing parenthesis
void c_call(FILE *out, Emit *e, Signature which);                       // with the parameters of a function of the same kind
const char *c_dtype(Arena *a, DType t);                                 // PTO_F32

// dispatch.c
const char *c_suffix(Arena *a, const EmitOptions *o);                   // of names that exist once for each target
void c_dispatch(Emit *e, FILE *out);                                    // the `k_enter` and `k_bytes` that choose a target's

// vector.c
// Emits it, for `rows` iterations of the loop over `row` around it at once (NULL, 1: for one), and returns true, or false:
// do it as scalar code. Reads across borders alone make it so. From lo to hi: c_loop_range.
bool vector_loop(Emit *e, const Node *n, const char *lo, const char *hi, const Index *row, int rows);

// bounds.c
// The loop's range, as C. What data says of it is evaluated here, into variables, in a block that is opened for them: true.
bool c_loop_range(Emit *e, const Node *n, const char **lo, const char **hi);
void c_loop_narrow(Emit *e, const Node *n, const char *from, const char *to);      // variables; by what data says
void c_loop_close(Emit *e, bool opened);

// node.c
void c_body(Emit *e, const Node *n);                                    // the children of a node
void c_source_line(Emit *e, const Node *op);
void c_line(Emit *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
