// Checks that the IR's text reads back as the same text.
#ifndef PTOC_IR_REREAD_H
#define PTOC_IR_REREAD_H

#include "ir/tile.h"

#include <stdio.h>

// The text of the task level, or of the tile level when `t` is given; malloc'd, NULL when there is no memory for it.
char *ir_as_text(const Kernel *k, const TileKernel *t, size_t *size);
// Does it? `why` (may be NULL) gets the diagnostics, or the other text.
bool ir_reads_back(const char *text, size_t size, bool tile, FILE *why);

#endif
