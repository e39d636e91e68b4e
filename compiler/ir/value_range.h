// Value ranges: what index arithmetic can come to, for every size that a call may have.
//
// The proofs compute with the integers of mathematics, the emitted C with 64 bits. Where the range of every part of an
// expression fits them, both are the same; elsewhere the kernel checks on entry (emit/exact.c).
#ifndef PTOC_IR_VALUE_RANGE_H
#define PTOC_IR_VALUE_RANGE_H

#include "ir/ir.h"

__extension__ typedef __int128 Wide;
typedef struct { Wide lo, hi; } ValueRange;             // lo > hi: no value at all

// The largest extent of a tensor that the runtime accepts (pto_check_tensor).
#define LARGEST_EXTENT (INT64_C(1) << 62)

// An index that no loop of its own gives a range: the bound of a tile or box, closed at both ends.
typedef struct { const Index *index; Expr *lo, *hi; } KnownIndex;

typedef struct {
    int64_t *most;                // by Dim.id: the largest value that passes the checks of the arguments
    int nknown;
    const KnownIndex *known;
} ValueScope;

// The scope of a kernel, without known indices. An `int` parameter may be any number from 0 on, unless an extent is it.
ValueScope value_scope(Arena *a, const Kernel *k);
const KnownIndex *value_known(const ValueScope *s, const Index *index);
// The range of an index-typed expression, parts beyond 127 bits cut off. *fits is cleared when a part of it may leave
// 64 bits; indices count as if they did not. Data counts as if it did not come near that.
ValueRange value_range(const ValueScope *s, const Expr *e, bool *fits);

#endif
