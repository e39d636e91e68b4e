// Private to the printers of the IR: from the IR to the syntax tree of its text. All trees live in the arena `a`.
#ifndef PTOC_IR_PRINT_TREE_H
#define PTOC_IR_PRINT_TREE_H

#include "ir/bundles.h"

#include <stdio.h>

Tree *irtree_new(Arena *a, TreeKind kind);
Tree *irtree_named(Arena *a, TreeKind kind, const char *text);
Tree *irtree_add(Arena *a, Tree *t, Tree *arg);                       // returns t
Tree *irtree_range(Arena *a, const Expr *lo, const Expr *hi);
Tree *irtree_expr(Arena *a, const Expr *e);
void irtree_add_exprs(Arena *a, TreeList *list, int n, Expr *const *exprs);
const char *irtree_border(BorderKind kind);                            // NULL: none
// A new statement at the end of `to`; `name` may be NULL.
TreeStmt *irtree_stmt(Arena *a, TreeStmts *to, StmtKind kind, const char *keyword, const char *name);
TreeKernel *irtree_kernel(Arena *a, const Kernel *k);                 // as at the task level
void irtree_add_schedules(Arena *a, TreeFile *file, const Kernel *k); // those of the kernel

// ---- the tile level and below ----

typedef struct { Index *index; const char *name; Expr *as; } IrNamed;      // as: what stands for it in the text

typedef struct {
    Arena *arena;
    const TileKernel *tile;
    VEC(IrNamed) scope;           // innermost last
    const BundleTarget *target;   // grids print as their programs; NULL: as their bodies
    bool bundled;                 // with bundles
} IrPrinter;

const char *irtree_bind(IrPrinter *p, Index *index);                  // the name of an index from here on
Tree *irtree_value(const IrPrinter *p, const Expr *e);                // with the names that indices have here
Tree *irtree_word(const IrPrinter *p, const char *name);
Tree *irtree_integer(const IrPrinter *p, int64_t value);
Tree *irtree_counted(const IrPrinter *p, const char *name, int64_t value);      // "lanes(8)"
TreeStmt *irtree_line(const IrPrinter *p, TreeStmts *to, const char *keyword, const char *name);
void irtree_node(IrPrinter *p, TreeStmts *to, const Node *n);
void irtree_body(IrPrinter *p, TreeStmts *to, const Node *n);         // what a node has inside, without its storage
void irtree_programs(IrPrinter *p, TreeStmts *to, const Node *grid);  // print_bundles.c
void irtree_name_values(const IrPrinter *p, TreeStmt *grid);          // print_values.c: outside of the grid's own names
void irtree_print(FILE *out, Arena *a, TreeFile *file, int n, TileKernel *const *kernels, const BundleTarget *target, bool bundled);

#endif
