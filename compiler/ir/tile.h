// The tile level of the IR: a tree of loops and grids around operations on elements of stored tensors.
//
// A tile kernel is a task-level kernel (its tensors, dims and checks stay in force), a storage decision for every tensor
// and a tree. GRID nodes are parallel regions: the space of their dims is cut into tiles, a task is one tile (without dims: serial
// code, one task). Inside, LOOP nodes
// run over points; an OP computes one element. Innermost loops may be vector loops: `lanes` points at a time, the rest
// one by one. Bounds and subscripts are index expressions over dims and the indices of enclosing nodes.
//
// Invariants (ir/verify.c): an index is used only below the node that binds it; an OP's tensor has storage; a REGISTER
// is used only below the node that lists it in `locals`.
#ifndef PTOC_IR_TILE_H
#define PTOC_IR_TILE_H

#include "ir/ir.h"

// ---- storage --------------------------------------------------------------------------------------------------

typedef enum {
    STORE_NONE,          // never used (dead)
    STORE_PARAM,         // the caller's memory
    STORE_WORKSPACE,     // one buffer for the whole call
    STORE_SCRATCH,       // one buffer a worker
    STORE_REGISTER,      // a local variable
} StorageKind;

typedef enum {
    DIM_FULL,            // base .. base + extent
    DIM_DROP,            // one element at a time
    DIM_MODULO,          // a window of `modulo` elements, x mod modulo
} StorageDimKind;

typedef struct { StorageDimKind kind; Expr *base, *extent; int64_t modulo; } StorageDim;

typedef struct {
    Tensor *tensor;
    StorageKind kind;
    StorageDim *dim;             // tensor->rank of them; all FULL for PARAM
    int depth;                   // REGISTER, SCRATCH: how many loops around it, outermost first, it lives inside of
    bool holes;                  // WORKSPACE of a machine of bundles: an element may be one that nothing defines
} Storage;

// ---- the tree -------------------------------------------------------------------------------------------------

typedef enum { NODE_SEQ, NODE_LOOP, NODE_GRID, NODE_IF, NODE_OP } NodeKind;
typedef enum { OPK_MAP, OPK_INIT, OPK_UPDATE, OPK_SCAN } OpKind;
typedef enum { LOOP_SERIAL, LOOP_PARALLEL, LOOP_REDUCE, LOOP_SCAN } LoopRole;      // what its iterations are to each other
typedef enum { MODE_AUTO, MODE_SERIAL, MODE_STATIC, MODE_DYNAMIC, MODE_WAVE } GridMode;

typedef struct {
    Index *lo, *hi;              // the tile's bounds, bound for the body: lo <= theta < hi
    Expr *begin, *end;           // of the whole dimension
    Expr *tile;                  // tile size, >= 1; over dims
    const char *name;
} GridDim;

typedef struct BundleProgram BundleProgram;     // ir/bundles.h
typedef struct BundleTarget BundleTarget;       // there, too
typedef struct Node Node;
typedef VEC(Node *) NodeList;
struct Node {
    NodeKind kind;
    NodeList body;               // SEQ, LOOP, GRID, IF
    VEC(Tensor *) locals;        // REGISTER tensors that live in one execution of the body
    // LOOP
    Index *index;                // with lo, hi
    int64_t step;                // >= 1
    VEC(Expr *) bounds;          // what data says of its range, evaluated on entry (see LoopBound)
    LoopRole role;
    bool wanted;                 // `order` would like it as a vector loop
    int lanes;                   // > 1: a vector loop
    int unroll;                  // how many vectors (or points) at a time; together, where node_can_jam says so
    // GRID
    int ndims;
    GridDim dims[4];
    GridMode mode;
    int noffsets;
    int64_t offsets[16][4];      // a task waits for those at these distances (MODE_WAVE)
    int max_workers;
    const char *name;
    BundleProgram *program;      // what a task is on a machine of bundles; NULL: the body
    BundleProgram *otherwise;    // and what it is where the shape is not one that `fits`
    Expr *fits;                  // bool, over dims; NULL: all shapes do
    const char *refusal;         // why it is the body, as one operation
    // IF
    Expr *cond;
    // OP
    OpKind op;
    const Equation *eq;
    Tensor *tensor;
    Expr **subs;
    Expr *value;
    VEC(Expr *) guards;          // data conditions of an UPDATE
    ReduceOp reduce;             // INIT, UPDATE, SCAN
    bool reverse;                // SCAN: runs downwards
    Expr *first;                 // SCAN: true at the first element
    Expr **previous;             // SCAN: the subscripts of the element before
};

typedef struct {
    const Kernel *kernel;        // normalised
    Storage *storage;            // by tensor id
    Node *root;                  // a SEQ
} TileKernel;

// A loop runs over those points of its range at which all of its `bounds` hold. Each of them holds on an interval, so they are
// evaluated once: in order, on entry, and as long as the ones before leave a point. Those that do not use the loop's index say
// whether it runs at all; the others are comparisons, scale * index + shift `op` limit, of the form that loop_bound reads.
typedef struct {
    Op op;                       // LT, LE, GT, GE or EQ
    int64_t scale;               // not 0
    Expr *shift;                 // index-typed
    const Expr *limit;           // an index or integer
} LoopBound;

bool loop_bound(Arena *a, Index *index, const Expr *cond, LoopBound *b);
// Does any of the loop's own range, or of its bounds, use the index?
bool loop_range_uses(const Node *loop, const Index *index);

Node *node_new(Arena *a, NodeKind kind);
void node_append(Arena *a, Node *parent, Node *child);

// May several iterations of the loop run at once, operation by operation (unroll and jam)? It is parallel and holds one
// vector loop, the shape of which does not move with it, and whatever is stored lies elsewhere for each iteration.
bool node_can_jam(const TileKernel *t, const Node *loop);

#endif
