// The move level of the IR: what one task of a grid does on a machine of bundles.
//
// A BundleProgram belongs to a GRID node of the tile level. It holds operations on boxes of elements in memories: moves
// between them, blocks of a contraction, expressions over a box; and, once `bundle` has run, their order: bundles, loops
// with stages, waits and tokens. ptort/model.h is its form at run time, man/ptob.5 its text; the meaning of every field
// is said there. All expressions are index-typed, over dims and the indices of sequential loops around the grid; NULL
// stands for 0.
//
// Invariants (ir/verify_bundles.c): positions lie in their lists; once there are bundles, every operation stands in one of
// them; loops nest, outer ones come first; a token is signalled by operations of one unit; digits and grid dims within their
// numbers; buffers and tokens have names of their own (program_name). A MOVE_TASK is the only operation of its program.
#ifndef PTOC_IR_BUNDLES_H
#define PTOC_IR_BUNDLES_H

#include "ir/tile.h"

enum { MAX_DIGITS = 8, FIRST_DIGIT = 4, MAX_IVS = FIRST_DIGIT + MAX_DIGITS, MAX_BOX = 5, MAX_WAITS = 4, MAX_SIGNALS = 2, MAX_UNITS = 6, MAX_MEMORIES = 8, MAX_OPERANDS = 12 };

typedef struct { Expr *base, *step[MAX_IVS]; } Affine;               // over grid coordinates 0..3 and digits 4..11
typedef struct { Affine start; Expr *size, *lo, *hi; } Span;         // [start, start + size), cut to [lo, hi) unless hi is NULL
typedef enum { AXIS_NONE, AXIS_M, AXIS_N, AXIS_K } BoxAxis;

typedef struct {
    Span at;
    Expr *stride;                // bytes
    BoxAxis axis;                // operands of a MULTIPLY
    BorderKind border;           // source of a move out of a tensor: what is read outside of [0, length)
    Expr *length;
} BoxDim;

// A dimension of a tensor: the subscript of the element at the address, bytes from one to the next, and how many steps along it
// one along dim[k] is.
typedef struct { Affine start; Expr *stride; int steps[MAX_BOX]; } Along;

// A place on chip, with one slot or several: what operands on chip are boxes of.
typedef struct {
    int id;                      // position in BundleProgram.buffers
    const char *name;
    int memory;                  // of the machine
    Tensor *tensor;              // a part of it is held
    DType type;
    Expr *address, *bytes;       // of slot 0; of one slot (a multiple of 64)
    int slots;
    int depth;                   // slots that stages were made for; 0: as many as there are
    int ahead;                   // stages from the move into it to its use, as a schedule asks; -1: not said
    Range range;                 // where a schedule asks for it, or of the tensor
} Buffer;

typedef struct {
    Buffer *buffer;              // NULL: the tensor itself, in memory 0
    Tensor *tensor;
    Affine address;              // bytes: into a slot; into the tensor
    int digits;                  // of the loop: what counts the slots
    int rank;
    BoxDim dim[MAX_BOX];
    // Where its dims are not those of the tensor: these are, all of them, or none.
    int nalong;
    Along along[MAX_BOX];
} Operand;

typedef enum { MOVE_COPY, MOVE_GATHER, MOVE_MULTIPLY, MOVE_NEST, MOVE_TASK } MoveKind;

// In which iterations something happens: those whose digits in one set are at 0, and in the other at their last (bit masks).
typedef struct { unsigned first, last; } When;

typedef struct {
    int id;                      // position in BundleProgram.ops
    int unit;                    // UnitKind of machine/machine.h
    MoveKind kind;
    When when;
    int stage;
    int signal[MAX_SIGNALS];     // tokens, -1: none
    When signals[MAX_SIGNALS];   // and in which of the iterations in which it is executed
    int noperands;
    Operand *operand;            // [0] is written
    When init;                   // MULTIPLY: in which iterations it starts from 0
    bool updates;                // NEST: operand[0] is read too
    // NEST: `node` is a tree of loops around one OP; index i of the box runs over [lo[i], hi[i]).
    int rank;
    Span box[MAX_BOX];
    Index *lo[MAX_BOX], *hi[MAX_BOX];
    Node *node;
    int64_t cost, bytes;
    int element;
    bool strided;
    const Equation *eq;
    int64_t cycles, latency;     // about how long it takes, and how much later it is complete
    int64_t crowded;             // both, when all cores want its path
} MoveOp;

typedef struct { int token, stage; When when; } Wait;
typedef struct { int op[MAX_UNITS]; int nwaits; Wait wait[MAX_WAITS]; } Bundle;     // -1: none
typedef struct { int first, end, ndigits, iv, stages; Expr *count[MAX_DIGITS]; const char *digit[MAX_DIGITS]; } BundleLoop;
typedef struct { const char *name; int initial, depth; } Token;

struct BundleProgram {
    VEC(Buffer *) buffers;
    VEC(MoveOp *) ops;           // in the program's order: in which they could run one by one
    VEC(BundleLoop) loops;       // before `bundle`: first and end count operations
    VEC(Bundle) bundles;
    VEC(Token) tokens;
    Expr *need[MAX_MEMORIES];
};

// The machine that programs are for, as far as their text has to say it.
struct BundleTarget {
    const char *machine;
    const char *set;             // --machine-set, or NULL
    int nmemories;
    const char *memory[MAX_MEMORIES];
    const Sources *sources;      // the text has comments, with lines of these; NULL: it has none
    bool brief;                  // a line for each bundle, which does not read back
};

// Is it the grid's body, as one operation of the scalar unit?
bool program_is_task(const BundleProgram *p);
// "cube", "vector", ...: a static array in the order of the slots of a bundle.
const char *const *program_units(void);
// Gives buffers and tokens names of their own, of letters, digits and underscores: "x_L1", "x_L1_2".
void program_name(Arena *a, BundleProgram *p);
// The operations in the order that the text gives them where it does not say another: a loop's by their stages, then as they are
// written. ops.n positions in `ops`; without bundles, as they are.
int *program_usual_order(Arena *a, const BundleProgram *p);
// As before `bundle`: without bundles, tokens and stages; loops hold operations.
BundleProgram *program_loose(Arena *a, const BundleProgram *p);

#endif
