// prove_tile: what text of the tile level says is proved before it is believed.
//
// A kernel that the passes made touches nothing outside of its storage by construction. One that was read has to show it: each
// subscript stays inside the storage of its tensor at all points of the loops around it, vector loops hold what lanes can do,
// and no tile is empty. A read that may leave its tensor and that nothing protects is checked when the kernel runs, like one at
// a subscript from data; whatever else is not shown is an error. Values are the text's own business.
#ifndef PTOC_PASSES_PROVE_TILE_H
#define PTOC_PASSES_PROVE_TILE_H

#include "ir/poly.h"
#include "ir/tile.h"
#include "machine/machine.h"

// Errors go to `d`: false. Subscripts of reads and their `outside` change as said.
bool prove_tile(Arena *a, Poly *p, Diags *d, const Machine *m, TileKernel *t);

#endif
