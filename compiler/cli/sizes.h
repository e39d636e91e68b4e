// Sizes at which a kernel is checked: around every vector, tile and block edge, one dimension after the other with the
// rest at a default, then random combinations. Only sizes that the kernel's assumptions allow.
//
// Test: tests/unit/test_cli.c
#ifndef PTOC_CLI_SIZES_H
#define PTOC_CLI_SIZES_H

#include "base/arena.h"
#include "ir/ir.h"
#include "passes/tiling.h"

typedef VEC(int64_t) Numbers;

typedef struct {
    const Kernel *kernel;
    Numbers edges;               // lanes of a vector, sizes of tiles
    const TilingSteps *steps;    // tasks and blocks, each of a dimension; NULL: none
    Numbers *fixed;              // by Dim.id: what the user asks for; empty: free
    uint64_t seed;
    int nrandom;                 // random combinations
    const char *volatile *doing; // options_doing
} SizeRequest;

typedef VEC(int64_t *) SizeList;      // by Dim.id

SizeList sizes_plan(Arena *a, const SizeRequest *request);
// The whole numbers in a text, as tile sizes in a schedule; adds those in 2..8192 that are not in the list yet.
void sizes_from_text(Arena *a, const char *text, Numbers *list);
// May a kernel be called with these sizes? Its assumptions hold and no shape is negative or absurdly large.
// The same for `int` parameters near 2^31, 2^62 and 2^63, one and all of them; assumptions need not hold.
SizeList sizes_huge(Arena *a, const SizeRequest *request);

bool sizes_are_legal(const Kernel *k, const int64_t *dims);
// Why not, as a clause: "`N >= 4` does not hold". NULL: they are legal.
const char *sizes_refusal(Arena *a, const Kernel *k, const int64_t *dims);
// Those of least volume, without zeros if possible; `dim` at `value`, if `dim` is not -1. NULL: there are none.
const int64_t *sizes_smallest(const Kernel *k, const SizeList *list, int dim, int64_t value);
// The sizes that the plan starts from, whether legal or not: what the user asks for, defaults for the rest.
int64_t *sizes_base(Arena *a, const SizeRequest *request);

#endif
