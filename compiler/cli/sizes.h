// Sizes at which a kernel is checked: around every vector and tile edge, one dimension after the other with the
// rest at a default, then random combinations. Only sizes that the kernel's assumptions allow.
//
// Test: tests/unit/test_cli.c
#ifndef PTOC_CLI_SIZES_H
#define PTOC_CLI_SIZES_H

#include "base/arena.h"
#include "ir/ir.h"

typedef VEC(int64_t) Numbers;

typedef struct {
    const Kernel *kernel;
    Numbers edges;               // lanes of a vector, sizes of tiles
    Numbers *fixed;              // by Dim.id: what the user asks for; empty: free
    uint64_t seed;
    int nrandom;                 // random combinations
} SizeRequest;

typedef VEC(int64_t *) SizeList;      // by Dim.id

SizeList sizes_plan(Arena *a, const SizeRequest *request);
// The whole numbers in a text, as tile sizes in a schedule; adds those in 2..8192 that are not in the list yet.
void sizes_from_text(Arena *a, const char *text, Numbers *list);
// May a kernel be called with these sizes? Its assumptions hold and no shape is negative or absurdly large.
bool sizes_are_legal(const Kernel *k, const int64_t *dims);

#endif
