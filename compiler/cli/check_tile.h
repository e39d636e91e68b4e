// The tile that computes an element, for messages of `ptoc check`.
//
// Test: tests/unit/test_cli.c, tests/cli/check.sh
#ifndef PTOC_CLI_CHECK_TILE_H
#define PTOC_CLI_CHECK_TILE_H

#include "passes/tiling.h"

// "tile (2, 0) of 64 x 32 over i, j", for an element of an output of a kernel. NULL: no grid is cut into tiles for it.
const char *check_tile_text(Arena *a, const Tilings *list, const char *kernel, const char *tensor, const int64_t *dims, const int64_t *at);

#endif
