// Private to the readers of textual IR: what the levels share. A reader goes on after an error, with stand-ins.
#ifndef PTOC_IR_READ_TREE_H
#define PTOC_IR_READ_TREE_H

#include "ir/bundles.h"

#include <stdio.h>

typedef struct { const char *name; Expr *is; } IrValue;              // `value size1: (N + 7) / 8;`

typedef struct { Border *border; const Tree *value; } IrPendingBorder;

typedef struct {
    Arena *arena;
    Diags *diags;
    Kernel *kernel;
    struct IrName *names;     // of dims and tensors
    VEC(Index *) scope;       // innermost last; cut it back where a scope ends
    VEC(IrValue) values;      // of the grid at hand
    VEC(IrPendingBorder) borders;    // whose values are read when all tensors are known
    const char *level;        // below "task", lines of the tile level are passed over by irread_kernel
    bool failed;
} IrReader;

// Reports; the result stands in for what could not be read.
Expr *irread_fail(IrReader *r, Range range, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
// Everything of a kernel that the task level has, into r->kernel. irread_end when all is read.
void irread_kernel(IrReader *r, const TreeFile *f, const TreeKernel *t);
void irread_end(IrReader *r);
// Unless something failed: has the verifier look, and reports what it says.
void irread_verify(IrReader *r, bool (*verify)(const void *object, FILE *why), const void *object);

bool irread_is_tile(const TreeStmt *s);                             // a line of the tile level, or below
Tensor *irread_tensor(const IrReader *r, const char *name);         // NULL: none
Index *irread_bind(IrReader *r, const char *name, Range range);     // a new index, visible from here on
void irread_value(IrReader *r, const char *name, Range range, Expr *is);    // a name for it, from here on
Expr *irread_expr(IrReader *r, const Tree *t);
Expr **irread_exprs(IrReader *r, const TreeList *list);
bool irread_bounds(IrReader *r, const Tree *t, Expr **lo, Expr **hi);
// "max", or "argmax.i32", whose type is i32 (else *type is i64).
bool irread_reduction(const char *name, ReduceOp *op, DType *type);

// ---- the tile level and below ----

typedef struct {
    IrReader r;
    TileKernel *tile;
    const BundleTarget *target;      // move level, bundles: what the file names; else NULL
} IrTileReader;

bool irread_is_line(const TreeStmt *s, const char *keyword);
int irread_position(const char *word, int n, const char *const *names);     // in a list of names, or -1
int64_t irread_number(IrTileReader *t, const Tree *x);
const Equation *irread_equation(IrTileReader *t, const char *name, Range range);
void irread_lines(IrTileReader *t, Node *parent, const TreeStmts *lines);
TileKernel *irread_tile_kernel(IrTileReader *t, const TreeFile *f, const TreeKernel *kernel);    // not verified
void irread_program(IrTileReader *t, Node *grid, const TreeStmt *s);        // read_bundles.c: `program` or `task` in a grid

// ---- boxes of elements: read_box.c ----

typedef struct {
    IrTileReader *t;
    Node *grid;
    BundleProgram *p;
    VEC(int) open;                   // loops around, by position; innermost last
    bool ordered, unordered;         // operations that say their place, and such that do not
} IrProgramReader;

int irread_count(IrProgramReader *p, const Tree *x, int64_t low, int64_t high);      // word(number), within bounds
bool irread_is_call(const Tree *x, const char *name, int nargs);            // nargs -1: any number
When irread_when(IrProgramReader *p, int n, Tree *const *args);             // first(k), last(i, j)
bool irread_span(IrProgramReader *p, int n, Tree *const *args, Span *span, int *rest);      // start, size, and maybe cut(lo, hi)
void irread_operand(IrProgramReader *p, const TreeStmt *s, Operand *o);     // read or write

#endif
