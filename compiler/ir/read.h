// Reads textual IR (ir/print.h) from its tree: a strict reader that infers nothing.
#ifndef PTOC_IR_READ_H
#define PTOC_IR_READ_H

#include "ir/tile.h"

// The kernel in the arena `a`, with the schedules of the file that name it; it satisfies ir_verify_task. NULL after
// errors in `d` (diagnostic `ir`). `f` comes from parse_file and has the level "task".
Kernel *ir_read_task(Arena *a, Diags *d, const TreeFile *f, const TreeKernel *kernel);
// The same for the level "tile" and ir_verify_tile.
TileKernel *ir_read_tile(Arena *a, Diags *d, const TreeFile *f, const TreeKernel *kernel);
// For the levels "move" and "bundles", ir_verify_tile and ir_verify_bundles.
TileKernel *ir_read_bundles(Arena *a, Diags *d, const TreeFile *f, const TreeKernel *kernel);
// Is it a file of one of these two levels?
bool ir_is_bundles(const TreeFile *f);
// The machine that such a file is for. False: reported.
bool ir_read_target(Arena *a, Diags *d, const TreeFile *f, BundleTarget *target);

#endif
