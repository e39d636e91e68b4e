// Sizes that a kernel's assumptions allow, found by solving them (isl): drawing does not hit `where 5*M == A`.
//
// Test: tests/unit/test_cli.c
#ifndef PTOC_CLI_SOLVE_H
#define PTOC_CLI_SOLVE_H

#include "base/arena.h"
#include "ir/ir.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct SizeSolver SizeSolver;

// Owned by the caller: solver_free. What is not affine in the assumptions is left out; see sizes_are_legal.
SizeSolver *solver_new(Arena *a, const Kernel *k, const char *volatile *doing);       // doing: options_doing
void solver_free(SizeSolver *s);

// Replaces dims (by Dim.id) by sizes that the affine assumptions allow and under which no shape is negative: those that
// are `pinned` stay as they are; the others, in the order of `order` (a permutation of all ids), move as little as those
// before them allow. False, and nothing is replaced: there are none, or they are too expensive to find.
bool solver_move(SizeSolver *s, int64_t *dims, const bool *pinned, const int *order);

#endif
