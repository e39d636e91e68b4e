// Private to the printers of the IR: from the IR to the syntax tree of its text. All trees live in the arena `a`.
#ifndef PTOC_IR_PRINT_TREE_H
#define PTOC_IR_PRINT_TREE_H

#include "ir/ir.h"

Tree *irtree_new(Arena *a, TreeKind kind);
Tree *irtree_named(Arena *a, TreeKind kind, const char *text);
Tree *irtree_add(Arena *a, Tree *t, Tree *arg);                       // returns t
Tree *irtree_range(Arena *a, const Expr *lo, const Expr *hi);
Tree *irtree_expr(Arena *a, const Expr *e);
void irtree_add_exprs(Arena *a, TreeList *list, int n, Expr *const *exprs);
// A new statement at the end of `to`; `name` may be NULL.
TreeStmt *irtree_stmt(Arena *a, TreeStmts *to, StmtKind kind, const char *keyword, const char *name);
TreeKernel *irtree_kernel(Arena *a, const Kernel *k);                 // as at the task level
void irtree_add_schedules(Arena *a, TreeFile *file, const Kernel *k); // those of the kernel

#endif
