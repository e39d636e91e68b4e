// Checks the invariants of the task level (head comment of ir/ir.h), of the tile level (ir/tile.h) and of programs of bundles
// (ir/bundles.h), and what the fields promise.
#ifndef PTOC_IR_VERIFY_H
#define PTOC_IR_VERIFY_H

#include "ir/tile.h"

#include <stdio.h>

// False when something is wrong; `why` (may be NULL) then gets one line that names the kernel, the place and the rule.
bool ir_verify_task(const Kernel *k, FILE *why);
bool ir_verify_tile(const TileKernel *k, FILE *why);
// Programs alone, where grids have them; `bundled`: all grids have one, with bundles.
bool ir_verify_bundles(const TileKernel *k, int nmemories, bool bundled, FILE *why);

#endif
