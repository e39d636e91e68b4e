// Private to the verifiers of the IR: what the levels share. Each check says what is wrong and returns false.
#ifndef PTOC_IR_VERIFY_TREE_H
#define PTOC_IR_VERIFY_TREE_H

#include "ir/ir.h"

#include <stdio.h>

typedef struct {
    const Kernel *kernel;
    FILE *why;
    Arena *arena;
    const char *place;               // "equation `y.sum`"
    struct IrSeen *objects;          // names of dims and tensors
    VEC(const Index *) scope;
    bool plain;                      // no reads and no nests here: ranges, shapes, conditions of domains
    bool normal;                     // after normalize: no nest inside an expression
} Verifier;

bool irverify_bad(Verifier *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));     // says so; false
bool irverify_owns(const Kernel *k, const Tensor *t);
bool irverify_in_scope(const Verifier *v, const Index *index);
bool irverify_expr(Verifier *v, const Expr *e);
// A plain expression of type index; `what` it is, for the message.
bool irverify_index(Verifier *v, const Expr *e, const char *what);

#endif
