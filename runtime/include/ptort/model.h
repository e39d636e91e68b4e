// ptort/model.h: the modelled accelerator: programs of bundles as tables, and what runs them.
//
// C that `ptoc --target=davinci` emitted holds one `pto_machine` and, for each grid of a kernel, one `pto_program`: loops
// around bundles of operations. pto_launch runs a program for every task of a grid: with real values in modelled memories,
// counting cycles, and checking that whatever two accesses share is ordered (ptob(5) has the semantics, machine(5) the
// description). Everything here is constant data; a number that the call decides is PTO_VALUE(k), the k-th of the values
// that the launch passes.
//
// Units: addresses and strides count bytes, times cycles of the machine's clock, widths bytes a cycle.
#ifndef PTORT_MODEL_H
#define PTORT_MODEL_H

#include <ptort.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- the machine ------------------------------------------------------------------------------------------------------

typedef enum { PTO_SHARED_CORE, PTO_SHARED_CLUSTER, PTO_SHARED_CHIP } pto_shared;
typedef enum { PTO_CUBE, PTO_VECTOR, PTO_LOAD, PTO_STORE, PTO_DMA, PTO_SCALAR, PTO_SLOTS } pto_slot;
#define PTO_SLOT_NAMES { "cube", "vector", "load", "store", "dma", "scalar" }

enum { PTO_MAX_MEMORIES = 8, PTO_MAX_PATHS = 16, PTO_MAX_SHAPES = 4, PTO_MAX_PORTS = 4 };

// memory[0] is the one behind all others (DDR): tensors lie there. A backing memory (an L2 without a cache model) holds
// tensors too: in a call they are given to the smallest backing memory that still has room, in the order of pto_launch.
typedef struct pto_memory { const char *name; int64_t bytes; pto_shared shared; int backing; } pto_memory;

// Carries one whole transfer at a time. `burst`: what leaves or enters a memory of tensors goes in whole, aligned bursts of
// this many bytes (0: byte by byte). `both`: the same path carries the other direction.
typedef struct pto_path { int from, to, both; int64_t width, latency, burst; pto_shared shared; } pto_path;

// A cube takes one (m, n, k) block of `shape` in `passes` cycles for inputs of that type.
typedef struct pto_shape { pto_dtype inputs, accumulates; int64_t m, n, k, passes; } pto_shape;
typedef struct pto_port { int memory; int64_t width; } pto_port;

typedef struct pto_unit {
    int present;
    int queue;                   // operations that are issued and not finished
    int64_t latency;             // from the end of an operation's work to its completion
    int64_t most;                // cube: extents of m, n, k at most; load, store, dma: bytes of one transfer at most. 0: no limit
    int64_t width;               // vector: bytes a cycle
    int nshapes;
    pto_shape shape[PTO_MAX_SHAPES];
    int nports;
    pto_port port[PTO_MAX_PORTS];
} pto_unit;

typedef struct pto_machine {
    const char *name;
    int64_t hertz;
    int clusters, cores;         // cores in one cluster
    int64_t dispatch;            // cycles to hand a task to a core
    int nmemories, npaths;
    pto_memory memory[PTO_MAX_MEMORIES];
    pto_path path[PTO_MAX_PATHS];
    pto_unit unit[PTO_SLOTS];
} pto_machine;

// ---- numbers ------------------------------------------------------------------------------------------------------------

typedef int64_t pto_num;         // itself, or PTO_VALUE(k): values[k] of the launch
#define PTO_VALUE(k) (INT64_MIN + (int64_t)(k))

// Induction variables of a task: 0..3 are its coordinates in the grid, then come the digits of its loops.
enum { PTO_MAX_DIGITS = 8, PTO_FIRST_DIGIT = 4, PTO_MAX_IVS = PTO_FIRST_DIGIT + PTO_MAX_DIGITS };
typedef struct pto_affine { pto_num base, step[PTO_MAX_IVS]; } pto_affine;      // base + sum of step[v] * iv[v]

// An interval of one dimension: [start, start + size), then cut to [lo, hi). hi = 0 (the literal) does not cut. Its extent
// is at least 0. One that is cut below begins later, and so does the address.
typedef struct pto_interval { pto_affine start; pto_num size, lo, hi; } pto_interval;

// ---- operands -----------------------------------------------------------------------------------------------------------

enum { PTO_MAX_DIMS = 5, PTO_MAX_OPERANDS = 12 };
typedef enum { PTO_BORDER_NONE, PTO_BORDER_ZERO, PTO_BORDER_CLAMP, PTO_BORDER_REFLECT, PTO_BORDER_WRAP, PTO_BORDER_CONST } pto_border;
typedef enum { PTO_AXIS_NONE, PTO_AXIS_M, PTO_AXIS_N, PTO_AXIS_K } pto_axis;

typedef struct pto_dim {
    pto_interval at;
    pto_num stride;              // bytes from one to the next
    pto_axis axis;               // of a cube's operand. Extents of one axis multiply; the last dimension runs fastest
    // Source of a transfer out of a tensor: subscripts outside of [0, length) take what the border says; where there is none,
    // a length above 0 makes them a fault.
    pto_border border;
    pto_num length;
} pto_dim;

// A dimension of a tensor: the subscript of the element at the address, bytes from one to the next, and how many steps along it
// one along dim[k] of the operand is.
typedef struct pto_along { pto_affine start; pto_num stride; int8_t steps[PTO_MAX_DIMS]; } pto_along;

// A box of elements in a memory. `address` is that of the element at the starts of all dims before they are cut (an address
// that is not inside the memory is legal as long as the elements are).
typedef struct pto_operand {
    int memory;                  // position in pto_machine.memory
    int tensor;                  // in memory 0: position in pto_launch.tensors, and `address` counts from its element
                                 // [0, 0, ...]; in another memory: the tensor it holds a part of, for profiles, or -1
    pto_dtype type;
    pto_affine address;
    // On chip: + slot_bytes * (c mod slots), where c counts the iterations of the loop's first `slot_digits` digits since the
    // task began (with outer loops: of all of theirs, too). slots 0 or 1: none.
    int slots, slot_digits;
    pto_num slot_bytes;
    int rank;
    pto_dim dim[PTO_MAX_DIMS];
    pto_num fill;                // PTO_BORDER_CONST: the element, as stored, in the low bits
    // Of which tensor of the kernel these are elements: a number above 0, the same wherever it is written or read; 0: not said.
    // Its dimensions are those of the operand, unless these are there.
    int of, nalong;
    const pto_along *along;
} pto_operand;

// ---- operations ---------------------------------------------------------------------------------------------------------

typedef enum {
    PTO_COPY,                    // operand[0] <- operand[1], dimension by dimension (a transposition has strides in another order)
    PTO_GATHER,                  // the same, but the subscripts of dimension 0 of operand[1] come from the list operand[2]: one
                                 // dimension of integers on chip. `address` is that at subscript `at.start`; its extent is the list's
    PTO_MULTIPLY,                // cube: operand[0] (m, n) += operand[1] (m, k) * operand[2] (k, n); `=` where `init` says so
    PTO_NEST,                    // vector: an expression over a box of indices: `compute`
    PTO_TASK,                    // scalar: any nest of loops, over tensors in memory 0: `scalar`
} pto_kind;

// Where the operation of `compute` finds an operand: element [0, 0, ...] of it is base[at] (of its type), strides count elements.
// (`at` alone may lie outside; the elements of the nest do not.) Subscripts stay in [lo, hi).
typedef struct pto_place { void *base; int64_t at, stride[PTO_MAX_DIMS], lo[PTO_MAX_DIMS], hi[PTO_MAX_DIMS]; } pto_place;

typedef struct pto_work {
    const pto_place *place;      // by operand
    const int64_t *lo, *hi;      // of the nest's indices, cut
    const void *frame;           // of the launch
    pto_context *ctx;
} pto_work;
typedef void (*pto_compute)(const pto_work *w);

// Reports that subscript x, of dimension d of an operand, leaves its box: a fault. Returns one that does not.
PTO_API int64_t pto_outside(const pto_work *w, int operand, int d, int64_t x);

// Do all subscripts [lo, hi] stay inside?
static inline int pto_within(const pto_work *w, int operand, int d, int64_t lo, int64_t hi)
{
    return lo >= w->place[operand].lo[d] && hi < w->place[operand].hi[d];
}

// The same, and it is a fault where they do not.
static inline int pto_holds(const pto_work *w, int operand, int d, int64_t lo, int64_t hi)
{
    if (pto_within(w, operand, d, lo, hi))
        return 1;
    (void)pto_outside(w, operand, d, lo < w->place[operand].lo[d] ? lo : hi);
    return 0;
}

// x, if that is inside; `all`: it is known.
static inline int64_t pto_boxed(const pto_work *w, int all, int operand, int d, int64_t x)
{
    return all || pto_within(w, operand, d, x, x) ? x : pto_outside(w, operand, d, x);
}

// Bounds of subscripts: what is beyond all numbers stays there.
#define PTO_FAR (INT64_C(1) << 61)
static inline int pto_is_far(int64_t x) { return x >= PTO_FAR || x <= -PTO_FAR; }
static inline int64_t pto_far_add(int64_t x, int64_t y) { return pto_is_far(x) ? x : pto_is_far(y) ? y : x + y; }
static inline int64_t pto_far_neg(int64_t x) { return pto_is_far(x) ? (x > 0 ? -PTO_FAR : PTO_FAR) : -x; }
static inline int64_t pto_far_mul(int64_t x, int64_t y)
{
    const int negative = (x < 0) != (y < 0);
    if (x == 0 || y == 0)
        return 0;
    if (pto_is_far(x) || pto_is_far(y) || (x < 0 ? -x : x) > PTO_FAR / (y < 0 ? -y : y))
        return negative ? -PTO_FAR : PTO_FAR;
    return x * y;
}
static inline int64_t pto_far_div(int64_t x, int64_t y) { return pto_is_far(x) ? x : x / y - (x % y < 0); }       // y > 0, rounds down

// What a scalar operation does is counted as it does it: the emitted code adds to `operations` and calls pto_touch for
// every element of a tensor that it reads or writes.
// `most`: turns of loops that it may still make; below 0 it has to end.
typedef struct pto_scalar { int64_t operations; struct pto_model *model; int64_t most; } pto_scalar;
static inline int pto_goes_on(pto_scalar *s) { return --s->most >= 0; }
typedef void (*pto_scalar_task)(pto_scalar *s, void *frame, const int64_t tile[4]);
// Element `place` of pto_launch.tensors[tensor] is read (or written). Returns `place`.
PTO_API void *pto_touch(pto_scalar *s, int tensor, const void *place, int write);

// Conditions on the digits of an operation's iteration: those in `first` (bit d: digit d) are 0, those in `last` at their
// last value; both 0: always, unless `never`. Digit d is induction variable PTO_FIRST_DIGIT + d, of whichever loop around the
// bundle; there are none outside of loops.
typedef struct pto_when { uint8_t first, last, never; } pto_when;
#define PTO_ALWAYS ((pto_when){0, 0, 0})
#define PTO_NEVER ((pto_when){0, 0, 1})
#define PTO_FIRST(d) ((pto_when){(uint8_t)(0xffu << (d)), 0, 0})     // the digits from d on
#define PTO_LAST(d) ((pto_when){0, (uint8_t)(0xffu << (d)), 0})

typedef struct pto_op {
    pto_slot slot;
    pto_kind kind;
    int stage;                   // in step t of the innermost loop around it: iteration t - stage
    pto_when when;               // not executed elsewhere (nor its signals sent)
    int signals[2];              // tokens, plus 1; 0: none
    pto_when signal_when[2];     // in which of the iterations in which it is executed
    int noperands;               // operand[0] is written (PTO_MULTIPLY: read too, unless `init`), the others are read
    const pto_operand *operands;
    pto_when init;               // PTO_MULTIPLY: the iterations in which it starts from 0
    int updates;                 // PTO_NEST: operand[0] is read as well
    unsigned same;               // PTO_NEST: bit q: each point reads of operand[q] the element that it writes, and no other
    int rank;                    // PTO_NEST: of the box
    const pto_interval *box;
    pto_num cost;                // PTO_NEST: cycles for each `width` bytes of a row of the box: the sum over its operations
    int strided;                 // PTO_NEST: some operand does not run along the last index: one element a cycle
    pto_num bytes;               // PTO_NEST: bytes at the unit's port for each point of the box
    int element;                 // PTO_NEST: bytes of the widest element
    pto_compute compute;
    pto_scalar_task scalar;
    int site;                    // position in pto_program.sites
} pto_op;

typedef struct pto_wait { int token; int stage; pto_when when; } pto_wait;       // token plus 1; 0: none
typedef struct pto_bundle { pto_wait wait[4]; int op[PTO_SLOTS]; } pto_bundle;  // operations, plus 1; 0: none. Each stands in one bundle

// The bundles [first, end) run count[0] * count[1] * ... + stages - 1 times ("steps"). Iteration i is digit by digit the
// place of i in the box of counts, the last digit running fastest; the digits are induction variables `iv`, `iv` + 1, ... An operation or wait
// of stage s belongs, in step t, to iteration t - s, and is left out where there is none. Loops nest by their bundles: outer
// loops come first in the table, have one stage, and their induction variables come before those of the inner ones. A count
// below 1 means that no step is made.
typedef struct pto_loop { int first, end, ndigits, iv, stages; pto_num count[PTO_MAX_DIGITS]; } pto_loop;

typedef struct pto_token { int initial, depth; } pto_token;
typedef struct pto_site { const char *equation; const char *file; int line; } pto_site;

typedef struct pto_program {
    const char *name;
    int nbundles, nops, nloops, ntokens, nsites;
    const pto_bundle *bundles;
    const pto_op *ops;                   // in the program's order: in which a task could do them one by one, each loop where its
                                         // first operation stands. Accesses that share bytes have to keep to it
    const pto_loop *loops;
    const pto_token *tokens;
    const pto_site *sites;
    pto_num need[PTO_MAX_MEMORIES];      // bytes that one task uses of each memory on chip
    pto_num scratch;                     // bytes of DDR that one task uses for itself alone
} pto_program;

// ---- running --------------------------------------------------------------------------------------------------------------

typedef struct pto_ddr {
    const char *name;
    void *data;                  // element [0, 0, ...]; NULL is legal where values are skipped
    int64_t bytes;               // from `data` on
    int element;                 // bytes of one
    int written;                 // by the launch
    // Its dimensions, outermost first, dense; rank 0: not said. Element x of a dimension lies at x - base, or at x mod fold.
    int rank;
    struct { int64_t base, extent, fold; } dim[PTO_MAX_DIMS];
    int given;                   // it has values before the call, or elements that nothing defines
} pto_ddr;

typedef struct pto_launch {
    const pto_machine *machine;
    const pto_program *program;
    pto_grid grid;               // grid.max_workers: tasks that may be resident at once; 0: one a core
    const int64_t *values;
    int nvalues;
    int ntensors;
    const pto_ddr *tensors;
    void *frame;                 // for `compute` and `scalar`
} pto_launch;

// Runs every task of the grid in the model of this context, after all that was launched before. Errors: PTO_ERR_ARGUMENT (tables that
// contradict themselves or the machine), PTO_ERR_MEMORY, PTO_ERR_FAULT: the program broke a rule of the machine; the message
// says where: "KERNEL: race: bundle 12 (load), task (3, 0), iteration (1, 4): y, FILE:LINE: reads L0[4096..4127], which bundle 9 (cube) writes ...".
PTO_API pto_status pto_launch_bundles(pto_context *ctx, const pto_launch *l);

// After the launches of a call: PTO_ERR_FAULT if they left an element of one of these tensors unwritten.
PTO_API pto_status pto_check_written(pto_context *ctx, const pto_ddr *tensors, int ntensors);

// What happened, as it happens. Times are cycles since the call began. Pointers are valid during the callback; `launch`, and what
// hangs on it, until its PTO_EVENT_LAUNCH, and the tables that are constant in the emitted C for ever.
typedef enum {
    PTO_EVENT_LAUNCH,            // begin..end of a grid; name
    PTO_EVENT_TASK,              // begin: handed out; complete: its first bundle may issue; ..end; core, task
    PTO_EVENT_OP,                // begin..end of the work; complete: when it signals; bytes: of the transfer at the memory (bus bytes), macs: of a cube;
                                 // operations: of a nest its points times their cost, of a scalar operation what it counted
    PTO_EVENT_PATH,              // begin..end of a transfer's occupation of path `path`; request: when it asked; bytes: bus bytes; payload; tensor; `moved`
    PTO_EVENT_STALL,             // begin..end: a core's bundle did not issue; cause
} pto_event_kind;
typedef enum { PTO_STALL_TOKEN, PTO_STALL_QUEUE } pto_stall;

// The bytes [address, address + length) of a memory, between the first and the last element of an operand. Of a tensor: from its data on.
typedef struct pto_span { int memory, tensor, write; int64_t address, length; } pto_span;
typedef struct pto_traffic { const char *tensor; int path; int64_t read, written; int64_t payload_read, payload_written; } pto_traffic;  // bus bytes

typedef struct pto_event {
    pto_event_kind kind;
    const pto_launch *launch;
    const pto_program *program;
    int core, resident, slot, op, bundle;
    int64_t task;                // its number in the grid, row by row
    int64_t begin, end, complete, request;
    int path, tensor, write;     // write: towards memory 0
    const char *tensor_name;     // NULL: none
    int64_t bytes, payload, macs, operations;
    int token;                   // STALL on a token: which; -1
    int memory;                  // OP: of operand[0], with the bytes [address, address + length) that it covers; -1: memory 0
    int64_t address, length;
    pto_stall cause;
    const int64_t *iv;           // TASK, OP, PATH: PTO_MAX_IVS induction variables; the first 4 are the task's coordinates; else NULL
    int nspans, nmoved;
    const pto_span *spans;       // OP: by operand, in their order, what is read and written
    const pto_traffic *moved;    // PATH: a row for each tensor (a scalar operation moves several; others one)
} pto_event;

typedef struct pto_model_options {
    int timing_only;             // skip the values (never those of scalar operations), and the order of accesses to tensors
    int unchecked;               // skip the order of accesses on chip too: for a program that is known to be in order
    uint64_t jitter;             // not 0: latencies are drawn at random from this seed (results must not depend on it)
    void (*event)(void *user, const pto_event *e);       // NULL: none
    void *user;
    int64_t max_cycles;          // a call that takes more is a fault; 0: PTO_MAX_CYCLES
} pto_model_options;
#define PTO_MAX_CYCLES INT64_C(10000000000)

// Options of the model for the calls that follow. NULL: the default ones.
PTO_API pto_status pto_context_model(pto_context *ctx, const pto_model_options *options);

enum { PTO_MAX_TRAFFIC = 64 };
typedef struct pto_model_totals {
    int64_t cycles;              // of the last call with this context that launched something
    int64_t macs, operations;    // of cubes; of scalar units
    int64_t tasks, bundles;      // that ran
    int64_t busy[PTO_SLOTS];     // cycles of work, over all cores
    int64_t stalled[2];          // by cause
    int64_t path_busy[PTO_MAX_PATHS], path_bytes[PTO_MAX_PATHS];
    int ntraffic;
    pto_traffic traffic[PTO_MAX_TRAFFIC];
} pto_model_totals;
PTO_API pto_status pto_model_totals_of(const pto_context *ctx, pto_model_totals *totals);     // PTO_ERR_ARGUMENT: nothing was launched

#ifdef __cplusplus
}
#endif
#endif
