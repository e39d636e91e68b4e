// tokens: who waits for whom (private to compiler/bundles/).
#ifndef PTOC_BUNDLES_TOKENS_H
#define PTOC_BUNDLES_TOKENS_H

#include "ir/bundles.h"
#include "machine/machine.h"

#include <limits.h>

enum { MAX_NEEDS = 64 };

// `to` uses what `from` used before it, through a buffer that changes with the first `level` digits.
typedef struct { Buffer *buffer; MoveOp *from, *to; int level; } Edge;

// Iteration group g of `to` must not begin before group g - distance of `from` has ended.
typedef struct { MoveOp *from, *to; int level, distance, token; When signal, wait; } Need;

typedef struct {
    Arena *a;
    const Machine *m;
    BundleProgram *p;
    int ndigits;
    int busiest;                 // the unit that has most to do in a step, and for how long
    int64_t busy;
    int64_t crowded[MAX_UNITS];  // all that a unit does in a step, when all cores want its path
    VEC(Edge) edges;
    MoveOp **order;              // within a step
    int *position;               // by operation: in `order`
    VEC(Need) needs;             // those that get a token
    const char *problem;
} Scheduling;

// Chooses the tokens. False: s->problem says why there are none.
bool tokens_choose(Scheduling *s);
// The waits of an operation; how many.
int tokens_waits(const Scheduling *s, const MoveOp *op, Wait *wait);

#endif
