// schedule_rewrite: directives that are carried out on the normalised kernel, before dependences are asked for (private to
// compiler/passes/schedule*.c).
#ifndef PTOC_PASSES_SCHEDULE_REWRITE_H
#define PTOC_PASSES_SCHEDULE_REWRITE_H

#include "passes/schedule_words.h"

// `inline t`: t's expression in place of its reads, and without t's equation. NULL after errors.
Kernel *schedule_inline(Arena *a, Budget *budget, Diags *d, Kernel *k, const Machine *m);

// `layout t = (1, 0)`: an intermediate t with its dimensions in that order. NULL after errors.
Kernel *schedule_layout(Arena *a, Diags *d, Kernel *k, const Machine *m);

// The tensor that a clause of `layout` is about. NULL after an error.
Tensor *layout_tensor(WordContext *c, const TreeClause *clause);

// One clause of `layout`: the tensor, and its dimensions outermost first. NULL after an error.
Tensor *layout_clause(WordContext *c, const TreeClause *clause, int **order);

static inline bool layout_rewrites(const Tensor *t) { return t->kind == TENSOR_LOCAL; }

#endif
