// choice: what is tried for a block program (private to compiler/bundles/).
#ifndef PTOC_BUNDLES_CHOICE_H
#define PTOC_BUNDLES_CHOICE_H

#include "bundles/block.h"
#include "bundles/cost.h"

typedef struct {
    int64_t points[MAX_AXES];        // of a block, by dimension of the grid
    int filled;                      // dimension that has more points where the rows inside, of the next one, are short; -1: none
    int64_t elements;                // > 0: the first dimension has as many points as keep the rows inside at so many elements
    int64_t chunk[MAX_INDICES];      // points of a chunk
    int depth, sums, out, split, parts, wide[2];      // see Block
    int grouped;                     // dimension of which a task has several blocks, or -1
    int64_t most, percent;           // at most so many; what handing out a task costs, of the time of a block
} Choice;

// Sets sizes, counts and digits as chosen.
void choice_apply(Block *b, const Choice *c);
// The elements of the widest row inside a block whose extent is not a number; NULL: all are.
Expr *choice_open_extent(Block *b);

// What a schedule says of a dimension or chunk (the other is -1): a size, or bounds of it, parts; 0: nothing. `task`: of the level around.
typedef struct { int64_t fixed, lo, hi; int parts; Expr *task; } Asked;
Asked choice_asked(const Block *b, int axis, int chunk);

// Extents where they are numbers, else INT64_MAX.
int64_t choice_axis_extent(Block *b, int axis);
int64_t choice_chunk_extent(Block *b, int chunk);

#endif
