// Private to the readers of textual IR: what the levels share. A reader goes on after an error, with stand-ins.
#ifndef PTOC_IR_READ_TREE_H
#define PTOC_IR_READ_TREE_H

#include "ir/ir.h"

#include <stdio.h>

typedef struct {
    Arena *arena;
    Diags *diags;
    Kernel *kernel;
    struct IrName *names;     // of dims and tensors
    VEC(Index *) scope;       // innermost last; cut it back where a scope ends
    bool tile;                // the tile level: its lines are passed over by irread_kernel
    bool failed;
} IrReader;

// Reports; the result stands in for what could not be read.
Expr *irread_fail(IrReader *r, Range range, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
// Everything of a kernel that the task level has, into r->kernel. irread_end when all is read.
void irread_kernel(IrReader *r, const TreeFile *f, const TreeKernel *t);
void irread_end(IrReader *r);
// Unless something failed: has the verifier look, and reports what it says.
void irread_verify(IrReader *r, bool (*verify)(const void *object, FILE *why), const void *object);

bool irread_is_tile(const TreeStmt *s);                             // a line of the tile level
Tensor *irread_tensor(const IrReader *r, const char *name);         // NULL: none
Index *irread_bind(IrReader *r, const char *name, Range range);     // a new index, visible from here on
Expr *irread_expr(IrReader *r, const Tree *t);
Expr **irread_exprs(IrReader *r, const TreeList *list);
bool irread_bounds(IrReader *r, const Tree *t, Expr **lo, Expr **hi);
// "max", or "argmax.i32", whose type is i32 (else *type is i64).
bool irread_reduction(const char *name, ReduceOp *op, DType *type);

#endif
