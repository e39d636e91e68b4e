// Checks that the IR's text reads back as the same text.
#ifndef PTOC_IR_REREAD_H
#define PTOC_IR_REREAD_H

#include "ir/tile.h"

#include <stdio.h>

// What a text shows: the task level, or the tile level when `tile` is given, or its programs for `target`, with bundles or without.
typedef struct { const Kernel *kernel; const TileKernel *tile; const BundleTarget *target; bool bundled; } IrShown;

// malloc'd; NULL when there is no memory for it.
char *ir_as_text(const IrShown *shown, size_t *size);
// Does it read back? `why` (may be NULL) gets the diagnostics, or the other text.
bool ir_reads_back(const IrShown *shown, const char *text, size_t size, FILE *why);

#endif
