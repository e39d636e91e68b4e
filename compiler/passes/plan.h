// plan: what the scheduling passes decide about statements, before loops are generated.
//
// `fuse` gathers statements into leaves: a leaf is the body of one grid (or of serial code) and becomes one loop nest.
// Around leaves there may be sequential loops. `order` decides the point loops inside a leaf. For every statement the plan
// records the path of loops around it, outermost first, and what each loop means for its indices.
#ifndef PTOC_PASSES_PLAN_H
#define PTOC_PASSES_PLAN_H

#include "ir/tile.h"
#include "machine/machine.h"
#include "passes/depend.h"
#include "passes/schedule.h"
#include "passes/tiling.h"

#include <string.h>

#define MAX_LOOPS 24

typedef VEC(const char *) Sentences;                                 // of --explain

// What a loop is for one statement: theta = sign * index + shift. idx < 0: the loop does not bind an index of it.
typedef struct { int idx, sign; int64_t shift; } Theta;

typedef struct {
    int id;
    const char *name;
    bool outer;                  // sequential loop around leaves (its value is a parameter inside)
    bool parallel, reduce, scan;
    bool vector;                 // some statement wants it as its vector loop
    int lanes;                   // that a schedule asks for; 0: what fits, 1: none
    Range asked;                 // where it asks for vectors
    const char *refusal;         // why a piece of it has none
    int unroll;                  // that a schedule asks for; 0: what is best
    int64_t tile;                // > 0: a loop over tiles of this many points; a loop over the points comes below it
    Index *index;                // outer loops: the loop's index
    NodeList nodes;              // what `lower` made of it
    Sentences why;               // outer loops: what was decided, for --explain
} Loop;

typedef struct { Loop *loop; Theta theta; int seq; } PathEntry;      // loop NULL: only the sequence number counts

// A tile interval: lo - before <= theta < hi + after.
typedef struct { Index *lo, *hi; Theta theta; int64_t before, after; } Interval;

typedef struct Leaf Leaf;
typedef struct {
    Stmt *stmt;
    Leaf *leaf;
    int npath;
    PathEntry path[MAX_LOOPS];   // outer loops, then the point loops of the leaf
    int nintervals;
    Interval interval[4];
    int vecdim;                  // the index it is best vectorised along, or -1
    unsigned free;               // `order`: indices that no loop binds yet
    unsigned char levels[MAX_INDICES];     // `order`: how many levels of tiles there are so far
} StmtPlan;

// On a machine of bundles: the blocks of a task (NULL: there are none), their parts, and chunks of what one statement reduces.
typedef struct {
    Expr *block[4];
    int split, parts;            // split -1: one part
    const Stmt *main;
    Expr *chunk[MAX_INDICES];    // by index of `main`; NULL: none
    const int *along;            // by tensor id: the dimension along which expressions run; ALONG_ANY, ALONG_SEVERAL
} Blocks;
enum { ALONG_ANY = -1, ALONG_SEVERAL = -2 };

struct Leaf {
    Blocks *blocks;
    int id;
    StmtList stmts;
    DepList deps;                // among its statements, not carried by outer loops
    Node *node;                  // the GRID, or the SEQ of serial code; `order` and `lower` fill its body
    int nouter;                  // outer loops around it
    Sentences why;               // what was decided, for --explain
};

typedef struct {
    Arena *a;
    Program *g;
    const Machine *machine;
    const Kernel *kernel;
    Schedule *schedule;          // what the source asks for
    int opt_level;               // 0: no fusion, no vectors
    StmtPlan *stmt;              // by statement id
    VEC(Leaf *) leaves;
    VEC(Loop *) loops;
    VEC(Loop *) asked;           // those of which a schedule asks for lanes or unrolling
    Node *root;
    Expr *(*values)[MAX_INDICES]; // by statement id: room for `nest`
    FILE *explain;               // NULL: silent
    Sentences *about;            // by tensor id: its storage; NULL: nothing was said
} Plan;

static inline StmtPlan *plan_of(const Plan *p, const Stmt *s) { return &p->stmt[s->id]; }

// Is the loop over the index cut into the tiles of the grid?
static inline bool plan_in_grid(const StmtPlan *sp, int idx)
{
    for (int q = 0; q < sp->nintervals; q++)
        if (sp->interval[q].theta.idx == idx)
            return true;
    return false;
}

// The position of a statement's index by its name, or -1.
static inline int plan_index_called(const Stmt *s, const char *name)
{
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->index[i]->name, name) == 0)
            return i;
    return -1;
}

// graph.c --------------------------------------------------------------------------------------------------------
// Strongly connected components of `stmts` under `deps`, in a topological order that keeps the text's order where it can.
typedef VEC(StmtList) Components;
Components graph_components(Plan *p, const StmtList *stmts, const DepList *deps);
// The dependences of `deps` whose ends both lie in `stmts`.
DepList graph_inner(Plan *p, const StmtList *stmts, const DepList *deps);
// Chooses an index for every statement so that all `deps` have distance >= 0 (or exactly 0 when `parallel`), starting with
// index `idx` of the first; theta[] by statement id. `allowed`: bit masks of indices by statement id, NULL: all. False:
// impossible.
bool graph_align(Plan *p, const StmtList *stmts, const DepList *deps, int idx, int sign, bool parallel, const unsigned *allowed, Theta *theta);
// The distance of a dependence under two choices, shifts included. Different signs: unbounded.
Distance graph_distance(Plan *p, Dep *d, Theta src, Theta dst);
// Statements used by a component that a dependence makes cyclic.
bool graph_is_cyclic(const StmtList *stmts, const DepList *inner);

// stride.c --------------------------------------------------------------------------------------------------------
// The coefficient of an index in an index-typed expression; false when it is not linear in it.
bool stride_coefficient(const Expr *e, const Index *index, int64_t *c);
// How an access moves with an index: 0 not at all, 1 to the next element of the last dimension, STRIDE_FAR otherwise,
// STRIDE_DATA when the subscript depends on data that the index selects.
enum { STRIDE_FAR = 2, STRIDE_DATA = 3 };
int stride_of(int rank, Expr *const *subs, const Index *index);
// The index a statement is best vectorised along, or -1.
int stride_vector_index(Plan *p, const Stmt *s);

// The passes ------------------------------------------------------------------------------------------------------
Plan *fuse_program(Arena *a, Program *g, const Machine *m, Schedule *s, int opt_level, FILE *explain);    // leaves, grids, outer loops; NULL after errors
bool order_leaves(Plan *p);                                                  // point loops; false after an error (a cycle)
void storage_assign(Plan *p, TileKernel *t);                                 // where every tensor lives
void storage_resize(Plan *p, TileKernel *t);                                 // once more, for tiles that have been changed
void capacity_check(Plan *p, const TileKernel *t, const Leaf *leaf);         // tiles fit the memories that they are said to be in
void lower_leaf(Plan *p, TileKernel *t, Leaf *leaf);                         // the loop nest of a leaf
void unreached_reads(Plan *p, TileKernel *t);                                // reads of registers outside of their lifetime
void tidy_kernel(Plan *p, TileKernel *t);                                    // what nobody needs
void bound_by_data(Plan *p, TileKernel *t);                                  // guards that are bounds of a loop
void vectorize_kernel(Plan *p, TileKernel *t);                               // lanes of innermost loops
// Why a loop cannot run in vectors, or NULL and how many lanes they have at most.
const char *vectorize_refusal(Arena *a, const Machine *m, const TileKernel *t, const Node *loop, int *most);
void tiling_of_plan(Plan *p, Tilings *list);                                 // adds the tiles of the outputs
void tiling_steps_of_plan(Plan *p, TilingSteps *list);                       // adds the tasks and blocks of a machine of bundles

#endif
