// block: a task of a grid as operations on boxes of elements (private to compiler/bundles/).
//
// The task runs over blocks of the grid's dimensions, and inside a block over chunks of what a contraction reduces: the
// digits of one loop. Every statement of the leaf becomes one operation on the box of its indices that the block has;
// what it reads comes from windows in memories near the unit, which moves fill. Sizes are expressions, so that
// one program serves all shapes.
#ifndef PTOC_BUNDLES_BLOCK_H
#define PTOC_BUNDLES_BLOCK_H

#include "bundles/place.h"

enum { MAX_AXES = 4, FEW = 16 };         // FEW: points of what is short, like the rows of a stencil

// A dimension of the grid: a task has `count` blocks of `block` points, `task` points in all.
typedef struct { const char *name; Expr *begin, *end, *task, *block, *count; int digit; } BlockAxis;       // digit -1: one block

// A reduced index of the main contraction, in chunks.
typedef struct { const char *name; int idx; Expr *size; int digit; } BlockChunk;                   // digit -1: all at once

typedef enum { FROM_ALL, FROM_AXIS, FROM_CHUNK, FROM_OUTER } IndexSource;
typedef struct {
    IndexSource from;
    int which;                   // axis or chunk
    int64_t shift, before, after;
    Expr *value;                 // FROM_OUTER
    Expr *lo, *hi;               // of the statement's domain
} BlockIndex;

// How a statement is done.
typedef enum {
    BLOCK_NEST,                  // an expression over a box
    BLOCK_ALIAS,                 // not at all: it names what another one wrote
    BLOCK_INIT,                  // by the multiplication that follows
    BLOCK_MULTIPLY,              // the cube
    BLOCK_COPY,                  // moves alone
} BlockKind;
typedef struct { Stmt *s; BlockKind kind; BlockIndex index[MAX_INDICES]; } BlockStmt;

// A box of a tensor's subscripts.
typedef struct { int rank; Span dim[MAX_BOX]; } Window;

typedef VEC(Window) Windows;

// What is held of a tensor near the units, or on the way there.
typedef struct {
    Tensor *tensor;
    bool external;               // it comes from the memory behind all others
    bool bordered;               // and may reach over its edges
    bool guarded;                // and may not be read at all, where it is empty
    int level;                   // the digits on which it depends
    Window window, all;          // of a block; of the task
    Windows reads;               // those that `window` holds, where more than one
    Expr *stride[MAX_BOX];
    Buffer *buffer;              // where the unit finds it
} Held;

typedef struct {
    Plan *p;
    TileKernel *t;
    const Machine *m;
    Leaf *leaf;
    Arena *a;
    const char *refusal;         // why the leaf cannot be done in blocks
    bool told;                   // and it has been reported
    int naxes, nchunks, ndigits, nblock;         // nblock: digits of the axes
    BlockAxis axis[MAX_AXES];
    BlockChunk chunk[MAX_INDICES];
    BlockStmt *stmts;
    int nstmts;
    const Stmt *main;            // the contraction whose reduced indices are cut into chunks, or NULL
    VEC(Held *) held;
    BundleLoop loop;
    BundleProgram *out;
    Expr *fits;                  // what must hold of the shape
    int smaller, unusual;        // cost.c: usual sizes are so many times halved; for a moment, halved more often, and odd
    bool dry;                    // only sizes and times are asked for: no expressions
    // What is tried.
    bool around;                 // sizes that name no memory are those of tasks, not of blocks: as blocks they do not fit
    int most_slots;              // of what schedules ask for; 0: all
    int split, parts;            // a dimension of the block is done in so many parts, one after the other in each iteration; -1: none
    int part;                    // the one that is being built; -1: what all of them share
    Held *factor[2];             // of the multiplication
    const int **layout;          // by tensor id: the order of its dimensions on chip; NULL: as they are
    int *along;                  // by tensor id: the dimension along which nests run (layout.c)
    int depth;                   // slots of what is brought to the units, and of what they write
    int sums;                    // slots of the sums of a multiplication
    int out_slots;               // slots of what leaves
    int wide[2];                 // on its way a factor of a multiplication comes 0: as it is used; 1: for all small chunks; 2: for the whole task
} Block;

// block.c
bool block_refuse(Block *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));       // false
const BlockStmt *block_main(const Block *b);                     // NULL: there is none
bool block_multiplies(const Block *b);                           // is the main statement the cube's?

// window.c
bool block_same(const Expr *x, const Expr *y);                   // as far as syntax shows; NULL stands for 0
Expr *block_add(Block *b, Expr *x, Expr *y);                     // NULL stands for 0
Expr *block_mul(Block *b, Expr *x, Expr *y);
Expr *block_int(Block *b, int64_t v);
Expr *block_op2(Block *b, Op op, Expr *x, Expr *y);
void block_affine_add(Block *b, Affine *to, const Affine *x, int64_t factor);
// The values of a statement's index in an iteration of the first `level` digits (all of the task's in the others).
Span block_span(Block *b, const BlockStmt *s, int idx, int level);
// The box that subscripts reach there. False: they are not sums of the indices.
bool block_window(Block *b, const BlockStmt *s, const Tensor *t, Expr *const *subs, int level, Window *w);
// *w grows to hold x too.
void block_union(Block *b, const Tensor *t, Window *w, const Window *x);
bool block_is_fixed(const Span *x);                              // the same in all tasks and iterations
bool block_writes(const Block *b, const Tensor *t);
// The digits on which a window depends: one more than the last.
int block_level(const Block *b, const Window *w);

// memory.c
// A place on chip for a window, dense, its dimensions in the order of `layout`, outermost first (NULL: as they are).
Buffer *block_buffer(Block *b, const char *name, int memory, Tensor *t, const Window *w, const int *layout, Expr **stride, int level);
Operand block_on_chip(Block *b, Buffer *x, const Window *held, Expr *const *stride, const Window *w, int level);
void block_along(Operand *o, const Window *w, Expr *const *stride);      // for dims that are not those of the tensor
void block_must_exist(Block *b, const Tensor *t);               // shapes without a border to repeat do not fit
Operand block_in_memory(Block *b, Tensor *t, const Window *w, bool bordered);      // one plane of what is folded
void block_allocate(Block *b);                                   // addresses, needs, `fits`
int64_t block_share(const Block *b, int memory);                 // bytes that a task may use

// planes.c: dimensions of which a tensor keeps a few planes, used round and round
bool block_is_folded(const Block *b, const Tensor *t, int d);
// A box of one plane in such a dimension: a border of it is applied, and its start is then that of the plane among those that are kept.
void block_fold(Block *b, BoxDim *x, const Tensor *t, int d, Affine *offset);
typedef void PlaneMove(Block *b, const Window *w, unsigned filled, void *data);       // filled: dimensions in which nobody reads the plane
// Calls `move` for the parts of a window that lie in one piece in memory; of `reads` (NULL: all of it is) some planes are no part.
void block_each_plane(Block *b, const Tensor *t, const Window *w, const Windows *reads, PlaneMove *move, void *data);
void block_fill_plane(Block *b, Operand *o, int d);              // what is read there is nothing

// wish.c: what a schedule asks for
int wish_slots(const Block *b, const Tensor *t, int otherwise);
int wish_ahead(const Block *b, const Tensor *t);                 // stages from a move to its use; -1: not said
const int *wish_layout(const Block *b, const Tensor *t);         // its dimensions on chip, outermost first; NULL: not said
int wish_memory(const Block *b, const Tensor *t);                // -1: not said
UnitKind wish_unit(const Block *b, const Stmt *s, UnitKind otherwise);
bool wish_exceeds(const Block *b, int most);
void wish_report_depth(Block *b);
bool wish_report_capacity(Block *b);
void wish_report_refusal(Block *b, const char *why);

// move.c
int block_near(const Block *b);                                  // the memory of the units that work on boxes
MoveOp *block_op(Block *b, int unit, MoveKind kind, int most, const Equation *eq);      // with room for `most` operands
const char *block_called(Block *b, const Tensor *t, int memory);
int block_stop(Block *b, int from, int to);                      // the memory between two; 0: there is a path; -1: no way with one stop
// Where on the digits something at `level` happens once: before the others, or after them.
When block_once(const Block *b, int level);
When block_at_end(const Block *b, int level);
void block_move(Block *b, Operand from, Operand to, When when, const Equation *eq);
// A window of a tensor, to where its unit finds it; on the way in a window of its own (NULL: the same).
void block_fetch(Block *b, Held *h, const Window *wide, int memory, const Equation *eq);
void block_send(Block *b, const Held *h, const Window *w, int level, When when, const Equation *eq);       // what was written, to the tensor

// held.c
Held *block_hold(Block *b, Tensor *t, const Window *w);
Held *block_find(Block *b, const Tensor *t, bool external);      // NULL: it is not held
bool block_is_internal(const Block *b, const Expr *read);        // is it written by the leaf, in this block?
int block_stmt_level(const Block *b, const BlockStmt *s);        // the digits over which its box moves
When block_when(const Block *b, const BlockStmt *s);
Window block_written(Block *b, const BlockStmt *s, int level);   // what a statement writes
void block_hold_read(Block *b, int memory);
void block_renew(Block *b, const Held *old, Buffer *x, Expr *const *stride);     // from here on it is found there, under all its names
void block_hold_written(Block *b, int memory);
void block_forget_written(Block *b);

bool block_touches(const Block *b, const Tensor *t);             // does the leaf read or write it?

// How each kind of statement becomes operations.
void block_nest(Block *b, BlockStmt *s);                         // nest.c
UnitKind block_nest_unit(const Block *b, const Stmt *s);         // vector or scalar
void block_loop_order(const Block *b, const BlockStmt *s, int *order);      // of a nest's indices, outermost first
void block_multiply(Block *b, BlockStmt *s);                     // multiply.c
bool block_can_multiply(Block *b, const BlockStmt *s);
BoxAxis block_role(Block *b, const BlockStmt *s, int idx);       // of an index of a multiplication; AXIS_NONE: a batch
void block_copy(Block *b, BlockStmt *s);                         // copy.c

// layout.c
void block_layouts(Block *b);                                    // chooses how tensors lie on chip

// kind.c
void block_kinds(Block *b);                                      // chooses how each is done
bool block_is_plain(const Stmt *s, int rank, Expr *const *subs, bool all);       // a place of one index and a constant each; `all`: of every index
bool block_is_name(const Block *b, const Stmt *s);               // does it but copy what the block has written, place by place?
bool block_is_alias(Block *b, const BlockStmt *s);               // once sizes are set: is BLOCK_NEST one of BLOCK_ALIAS?

// build.c
void block_build(Block *b);                                      // operations and buffers, for the sizes that are set

// size.c
void block_sizes(Block *b);                                      // sizes, and the program that is best with them

#endif
