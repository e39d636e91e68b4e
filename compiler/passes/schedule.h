// schedule: what the schedules in the source ask for, resolved against the statements of one kernel.
//
// Flows through: the directives of a kernel's schedules (syntax/tree.h) that hold for the target become wishes, one record
// a statement or tensor; the passes ask for them where they would choose, and `schedule_check.c` says what cannot be had.
// A directive names a bare index (`i`: every equation's), or one of an equation or tensor (`u.i`, `u.1.i`; of the reductions
// and scans in them where only those have it). The more
// specific directive wins, then one in a schedule `on` the target, then the later one. Nothing is ignored: what is
// unknown, contradicts itself, changes the meaning or is not built is reported.
// Tests: tests/errors/schedules/*.pto, tests/golden/schedules
#ifndef PTOC_PASSES_SCHEDULE_H
#define PTOC_PASSES_SCHEDULE_H

#include "ir/tile.h"
#include "machine/machine.h"
#include "passes/depend.h"

#include <stdio.h>

enum { MAX_LEVELS = 4 };

typedef enum { SIZE_AUTO, SIZE_RANGE, SIZE_FIXED } SizeKind;
typedef struct {
    SizeKind kind;
    int64_t lo, hi;              // RANGE: lo <= size <= hi
    Expr *value;                 // FIXED: over dims, >= 1
    int tier;                    // `in L1`: its position in Machine.tier, or -1
    Range range;
} TileSize;
typedef struct { int n; TileSize level[MAX_LEVELS]; const TreeDirective *source; } TileWish;      // outermost first

// `parallel i, j dynamic max 8`: one for the directive, shared by the statements it holds for.
typedef struct { GridMode mode; int max, naxes; Range range; } ParallelWish;
typedef struct { int idx; Range range; } IndexWish;
typedef struct { int64_t before, after; Range range; } OverlapWish;

enum { VECTOR_ANY = -2, VECTOR_NONE = -1 };

typedef struct {
    const TileWish *tile[MAX_INDICES];                               // by index of the statement; NULL: none
    const ParallelWish *parallel;                                    // of axis[]; NULL: none
    int naxes, norder;
    IndexWish axis[MAX_INDICES], order[MAX_INDICES];                 // outermost first
    int vector;                                                      // an index, VECTOR_NONE or VECTOR_ANY
    int lanes;                                                       // 0: what fits
    Range vector_range;
    int unroll[MAX_INDICES];                                         // 0: not said
    const OverlapWish *overlap[MAX_INDICES];
    int engine;                                                      // the unit that computes (UnitKind); -1: not said
    Range engine_range;
    int fuse;                                                        // statements of one class share a grid; 0: none
    int rank[7][MAX_INDICES];                                        // of what is there (schedule.c)
} StmtWish;

typedef struct {
    bool materialize;
    Range range;
    int64_t *fold;                                                   // by dimension: at most this many planes; 0: not said
    Range fold_range;
    int memory;                                                      // of the machine, where it lives meanwhile; -1: not said
    int slots, ahead;                                                // of its buffers; moves before their use; 0, -1: not said
    Range memory_range, slots_range, ahead_range;
    const int *layout;                                               // its dimensions as they lie on chip, outermost first; NULL: not said
} TensorWish;

// What an equation reads of a tensor, in a memory of its own: `place p.x in L1`.
typedef struct { const Stmt *stmt; const Tensor *tensor; int memory; Range range; } ReadWish;

typedef struct { int64_t lo, hi; } DimHint;                          // hi 0: none

typedef struct {
    Arena *a;
    Program *g;
    StmtWish **stmt;                                                 // by statement id; NULL: nothing is asked for
    TensorWish **tensor;                                             // by tensor id
    VEC(ReadWish) reads;
    DimHint *hint;                                                   // by dim id
    VEC(Range) classes;                                              // of `fuse`: where class i + 1 comes from
    VEC(Range) told;                                                 // what has been complained about
} Schedule;

// The wishes for a kernel on a machine. Never NULL; errors in the program's diagnostics.
Schedule *schedule_read(Arena *a, Program *g, const Machine *m);

static inline const StmtWish *schedule_stmt(const Schedule *s, const Stmt *x) { return s->stmt[x->id]; }
static inline const TensorWish *schedule_tensor(const Schedule *s, const Tensor *t) { return s->tensor[t->id]; }

// Was this place complained about before? From now on it was: one complaint is enough for all statements.
bool schedule_told(Schedule *s, Range at);

// The kernel as `inline` and `layout` want it (schedule_rewrite.h); itself when nothing is to be rewritten. NULL after errors. Before
// `depend`.
Kernel *schedule_rewrite(Arena *a, Budget *budget, Diags *d, Kernel *k, const Machine *m);

// A kernel that schedule_rewrite returned, without the directives that it carried out; for its text.
Kernel *schedule_rewritten(Arena *a, const Kernel *k, const Machine *m);

// Does a machine of this name go by `word`? It does by its name and the first parts of it.
bool schedule_machine_is(const char *name, const char *word);

// One line a directive: name, what it takes, what it does; for --help.
void schedule_help(FILE *out);

#endif
