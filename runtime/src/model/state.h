// The model of an accelerator: the state of one launch, and what its files share about it.
//
//   launch.c    pto_launch_bundles: state of a call, the parts below in order     totals.c    sums and events
//   resolve.c   tables + values -> Op, Bundle, Loop; refuses what contradicts     fault.c     messages
//   tasks.c     residents, which task goes where and when                         heap.c      what happens next
//   sequence.c  a resident's bundles: loops, waits, issue                         order.c     happens-before, shadows
//   engine.c    units and paths: start, leave, complete                           segments.c  runs of equal state
//   address.c   operands of one iteration -> bytes                                position.c  the program's order
//   layout.c    where the elements of a tensor lie                                written.c   what a call wrote
//   execute.c   what an operation does to the bytes; multiply.c does it for cubes reach.c     which task is before which
//
// Functions that can fail return false and leave a status and a message: whoever sees false returns false. Numbers of
// tables may be anything: they are computed with wrapping arithmetic and checked before they are used as addresses.
#ifndef PTORT_MODEL_STATE_H
#define PTORT_MODEL_STATE_H

#include "../context.h"

#include <ptort/model.h>

enum { GRANULE = 32, MOST_CORES = 4096, MOST_QUEUE = 1024, MOST_DEPTH = 1 << 16, GRID_DIMS = 4, MOST_NESTING = 16 };
#define MOST_NUMBER (INT64_C(1) << 60)

typedef struct Launch Launch;
typedef struct Resident Resident;

static inline int64_t wrap_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static inline int64_t wrap_sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
static inline int64_t wrap_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }        // a >= 0, b > 0

// a * b for numbers >= 0, at most MOST_NUMBER.
static inline int64_t bounded_mul(int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) || product > MOST_NUMBER ? MOST_NUMBER : product;
}

// ---- the resolved program ---------------------------------------------------------------------------------------------

typedef struct Affine { int64_t base; int n, iv[PTO_MAX_IVS]; int64_t step[PTO_MAX_IVS]; } Affine;     // only steps that are not 0
typedef struct Interval { Affine start; int64_t size, lo, hi; bool cut; } Interval;
typedef struct Dim { Interval at; int64_t stride, length; pto_axis axis; pto_border border; } Dim;

// A dimension of a tensor, as an operand has it: see pto_along.
typedef struct Axis { Affine start; int64_t stride; int8_t steps[PTO_MAX_DIMS]; } Axis;

typedef struct Operand {
    bool tensor;                     // lies in memory 0 or a backing one
    int memory;                      // of a tensor: where it was put
    int which;                       // the tensor, or -1
    pto_dtype type;
    int bytes;                       // of an element
    Affine address;
    int64_t slots, slot_bytes;
    int slot_digits, rank;
    Dim dim[PTO_MAX_DIMS];
    int64_t fill;
    int of;                          // the kernel's tensor, 0: not said
    int naxes;                       // dimensions of that tensor
    bool mapped;                     // they are not those of the operand
    bool off;                        // in a tensor: it has not the tensor's strides
    Axis *axis;
    int number;                      // among all operands
} Operand;

typedef struct Op {
    const pto_op *table;
    int noperands;
    Operand *operand;
    Interval *box;                   // PTO_NEST
    int64_t cost, bytes;
    int path;                        // of a transfer and of PTO_TASK; -1: none
    bool write;                      // a transfer towards memory 0
    const pto_shape *shape;          // PTO_MULTIPLY
    int64_t position;                // in the program's order, in the first iteration of all loops
} Op;

typedef struct Loop {
    int first, end, iv, ndigits, stages;
    int parent;                      // -1: none
    int inner;                       // the loop inside of it that begins at the same bundle; -1: none
    int64_t count[PTO_MAX_DIGITS];
    int64_t iterations, steps;       // steps 0: skipped
    int64_t start, body;             // in the program's order: its place in what is around it, and the places of an iteration
} Loop;

typedef struct Bundle { int loop, enter; } Bundle;      // the innermost loop around it, the outermost that begins here; -1: none

// ---- order --------------------------------------------------------------------------------------------------------------

// What happened before: of each slot, the operations of this task up to this number. They count from 1.
typedef struct Clock { uint32_t at[PTO_SLOTS]; } Clock;

// Splits 0..size-1 into segments of equal state, which is that of the place where the segment begins. `head` has a bit at
// each begin; one at least every SEGMENT_MOST places, so that the begin of a segment is found fast.
enum { SEGMENT_MOST = 4096 };
typedef struct Segments { int64_t size; uint64_t *head; } Segments;
bool segments_new(Launch *L, Segments *s, int64_t size);
void segments_reset(Segments *s);
int64_t segments_begin(const Segments *s, int64_t i);                  // of the segment around i
int64_t segments_next(const Segments *s, int64_t i, int64_t end);      // the first begin above i, or end
static inline bool segments_is_head(const Segments *s, int64_t i) { return s->head[i >> 6] >> (i & 63) & 1; }
static inline void segments_cut(Segments *s, int64_t i) { s->head[i >> 6] |= UINT64_C(1) << (i & 63); }
void segments_join(Segments *s, int64_t begin, int64_t end);           // no begins strictly between, but the regular ones

// Of a granule on chip, for the task that is there: last write (0: none), last read of each slot since; and of these accesses
// the one that is the last in the program's order.
typedef struct Granule { uint32_t write, read[PTO_SLOTS], latest; uint8_t slot, latest_slot; } Granule;
typedef struct Shadow { Segments segments; Granule *state; } Shadow;

// Of an element of a tensor that is written: last write and the reads since, as numbers of Access, 0: none.
typedef struct Element { uint32_t write, readers; } Element;
typedef struct TensorShadow { Segments segments; Element *state; int element; const void *data; } TensorShadow;

// Which time round its folded dimensions an element is of: what was written for another one is not what is to be read.
// TURN_ANY: a scalar operation did it, which does not say.
#define TURN_ANY INT32_MIN
typedef struct Access { int64_t task, position; int32_t turn; uint32_t seq; int op, bundle; pto_slot slot; } Access;
typedef struct Reader { uint32_t access, next; } Reader;

typedef struct Reach {               // which tasks end before which begin, by the offsets of the grid
    uint64_t *before;                // rows of bits, filled up to `filled`; NULL: searched for each question
    int64_t words, filled;
    int64_t *stack; uint32_t *seen, stamp;
} Reach;

// ---- running ------------------------------------------------------------------------------------------------------------

typedef struct Instance {            // one execution of an operation
    int op, bundle;
    Resident *resident;
    int64_t iv[PTO_MAX_IVS];
    Clock clock;
    int64_t position;                // in the program's order
    uint32_t seq;                    // clock.at[its slot]
    uint32_t access;                 // 0: none yet
    int64_t begin;                   // PTO_TASK: of its work
    int64_t leave;                   // PTO_TASK: of its work without the transfer
} Instance;

typedef struct Part { int64_t lo, n; } Part;             // of a dimension: subscripts lo .. lo + n - 1
typedef struct View {                // an operand in one iteration
    const Operand *of;
    int64_t address;                 // of the element at `start`
    int64_t at[PTO_MAX_DIMS];        // the subscripts of the element at `address`, by dimension of its tensor
    int64_t origin;                  // where element [0, 0, ...] of its tensor would be
    int64_t count;                   // which of its slots counts through this is in; -1: it has none
    int64_t start[PTO_MAX_DIMS], lo[PTO_MAX_DIMS], n[PTO_MAX_DIMS], elements;
    bool outside;                    // a border decides some of its elements
    int nparts[PTO_MAX_DIMS];        // what is really read, as the product of parts of the dimensions
    Part part[PTO_MAX_DIMS][2];
    const int64_t *list;             // PTO_GATHER: the subscripts of dimension 0, -1: filled. Not among the parts
} View;

// Of a tensor that a scalar operation touches: the last burst, plus 1, and the bytes that were read [0] and written [1].
typedef struct Touched { int64_t line, bus[2], payload[2]; } Touched;

typedef struct Work {                // an operation in one iteration
    View view[PTO_MAX_OPERANDS];
    int64_t lo[PTO_MAX_DIMS], hi[PTO_MAX_DIMS], points;       // PTO_NEST
    int64_t m, n, k;                 // PTO_MULTIPLY
    bool init;
    bool empty;
    int64_t bus, payload, written;   // bytes of a transfer; PTO_TASK: that it moved, and of these to memory 0
    int64_t *list; size_t list_room;
    Touched *touched;                // PTO_TASK: by tensor
    pto_traffic *moved;              // PTO_TASK: room for a row by tensor
} Work;

typedef struct Unit {                // of a core: a queue of operations that are issued and not completed
    Instance *ring;
    int first, count;                // the oldest that is not completed; how many
    int left;                        // of these, how many have left the unit
    bool running;
    int64_t complete;                // of the last that left
    Work *work;                      // of the running one
} Unit;

typedef struct Request { int64_t cycle; int core, slot; } Request;
typedef struct Line { int path; int64_t free; size_t count, room; Request *request; } Line;   // a path of one core, cluster or chip

typedef struct Token { int64_t count, head; Clock *clock; } Token;

// An operation that was issued. `count`, `origin`: of what it writes, as in its View.
typedef struct Done { int64_t position, count, origin; int bundle, op; } Done;

enum { MOST_KNOWN = 8 };
struct Resident {
    int core, cluster, number;       // the number-th on its core
    Resident *neighbour;             // the next on its core
    int64_t task, tile[GRID_DIMS], handed, begun;
    bool running, scheduled;
    // sequencer
    int pc, depth, loop[MOST_NESTING];
    int64_t step[MOST_NESTING];
    int64_t iv[PTO_MAX_IVS];         // coordinates, and digits of the loops that hold others
    // Of the step at hand, by stage: whether there is such an iteration, and its induction variables (bits: known, exists).
    unsigned known, exists;
    int64_t stage_iv[MOST_KNOWN][PTO_MAX_IVS];
    bool decoded;
    int nwaits, waits[4], nops, ops[PTO_SLOTS];
    bool issued;                     // all bundles
    int64_t last;                    // cycle of the last issue + 1
    int inflight;
    bool stalled; pto_stall cause; int stall_token; int64_t since;
    // order
    Clock clock, unit_clock[PTO_SLOTS];
    Done *history[PTO_SLOTS]; size_t history_room[PTO_SLOTS];          // by number
    Token *tokens;
    uint8_t *bytes[PTO_MAX_MEMORIES];
    Shadow shadow[PTO_MAX_MEMORIES];
};

// In one cycle: completions, then units that become free, then bundles, then paths, then ends and beginnings of tasks.
typedef enum { HAPPENS_COMPLETE, HAPPENS_LEAVE, HAPPENS_ISSUE, HAPPENS_GRANT, HAPPENS_END, HAPPENS_DISPATCH } Happening;
typedef struct Event { int64_t cycle; int kind, core, slot; int64_t serial; void *what; } Event;
typedef struct Heap { Event *at; size_t count, room; } Heap;           // by cycle, kind, core, slot, serial
bool heap_push(Launch *L, Heap *h, Event e);
Event heap_pop(Heap *h);

typedef struct Tasks {
    int64_t count[GRID_DIMS], total, handed, ended;
    Heap ready;                      // of a grid with offsets; else tasks are ready in order
    uint32_t *missing;               // per task: how many it waits for
    Heap free;                       // residents
} Tasks;

typedef struct Block Block;
struct pto_model {
    pto_model_options options;
    bool launched;                   // in this call
    bool counted;                    // totals are there
    pto_model_totals totals;
    int64_t clock;                   // when the next launch of this call begins
    int64_t used[PTO_MAX_MEMORIES];  // by tensors of this call
    struct Home { const void *data; const char *name; int64_t bytes; int memory; } *home;
    size_t nhomes, homes_room;
    struct Written { const void *data; int64_t elements, missing; uint64_t *bits; int32_t *turn; } **written;      // of this call, by tensor
    size_t nwritten, written_room;
    Launch *launch;
};

struct Launch {
    struct pto_model *model;
    pto_context *ctx;
    const pto_launch *l;
    const pto_machine *machine;
    const pto_program *program;
    pto_status status;
    Block *blocks;                   // memory of this launch
    bool values;
    bool unchecked;                  // accesses are taken to be in order
    uint64_t random;
    int64_t begin, now, serial, end, most_cycles;
    // resolved
    Op *ops;
    Bundle *bundles;
    Loop *loops;
    int64_t need[PTO_MAX_MEMORIES];
    int *home;                       // by tensor: its memory
    int64_t (*strides)[PTO_MAX_DIMS];    // by tensor: bytes from one element to the next
    int noperands;                   // of all operations
    uint8_t *fits;                   // by operation that wrote and operand that reads: what layout_fits said
    // state
    int ncores;
    Unit *units;                     // PTO_SLOTS for each core
    Line *lines;
    int line_first[PTO_MAX_PATHS];
    int nresidents;
    Resident *residents, **on_core;
    Tasks tasks;
    Heap events;
    // order in memory 0
    int nshadows;
    TensorShadow *shadows;
    int *shadow_of;                  // by tensor; -1: none
    struct Written **written_of;     // by tensor: what was written before the launch; NULL: it is not looked at
    Access *access; size_t naccess, access_room;
    Reader *readers; size_t nreaders, readers_room;
    uint32_t reader_from, reader_to, reader_access;          // the last list that grew
    Reach reach;
    // the scalar operation that runs
    const Instance *nest;            // the nest that runs
    Instance *scalar; int scalar_path; Touched *touched;
    union { int64_t number; double real; void *pointer; } nowhere;     // where touches out of range go
    // room of execute.c
    uint8_t *room; size_t room_bytes;
};

// ---- functions ------------------------------------------------------------------------------------------------------------

void *launch_alloc(Launch *L, size_t count, size_t bytes);       // zeroed, until the launch ends; NULL: no memory (recorded)
bool launch_grow(Launch *L, void *pointer, size_t *room, size_t count, size_t bytes);    // *pointer: of mem_new
bool model_refuse(Launch *L, const char *fmt, ...) PTO_PRINTF(2, 3);                       // tables: PTO_ERR_ARGUMENT
bool model_fault(Launch *L, const char *kind, const Instance *in, const char *fmt, ...) PTO_PRINTF(4, 5);
bool model_overflow(Launch *L, const Instance *in, const char *fmt, ...) PTO_PRINTF(3, 4);       // a number: PTO_ERR_OVERFLOW
bool model_deadlock(Launch *L);
const char *slot_name(pto_slot slot);

bool model_resolve(Launch *L);
bool model_place_tensors(Launch *L);

bool positions_new(Launch *L, const int *bundle_of);              // bundle_of: by operation
int64_t position_of(const Launch *L, const Resident *r, int op);  // of the operation that is issued

bool digits_hold(const Launch *L, int loop, pto_when when, const int64_t *iv);

int64_t affine_at(const Affine *a, const int64_t *iv);
bool work_prepare(Launch *L, const Instance *in, Work *w);        // evaluates and checks all but what depends on data
bool work_gather(Launch *L, const Instance *in, Work *w);         // the list of a gather
void work_bus(const Launch *L, const Instance *in, Work *w);      // bus and payload bytes of a transfer
int64_t work_cycles(const Launch *L, const Instance *in, const Work *w);
typedef bool (*Run)(void *arg, int64_t at, int64_t bytes);        // maximal runs of bytes
bool view_runs(const View *v, Run run, void *arg);
void view_span(const View *v, int64_t *address, int64_t *bytes);
int64_t border_map(pto_border border, int64_t x, int64_t length); // -1: filled

// How an operand that reads takes what an operation wrote: by the tables alone.
typedef enum { FIT_UNKNOWN, FIT, FIT_TENSOR, FIT_SLOTS, FIT_STRIDES } Fit;
bool layout_new(Launch *L);
Fit layout_fit(Launch *L, int writer, const Operand *reader);
void layout_view(View *v, const int64_t *iv);                    // its `at` and `origin`
int32_t layout_turn(const Launch *L, const View *v);
bool layout_in_tensor(Launch *L, const Instance *in, int k, const View *v);      // does it lie as its tensor does?
bool layout_same_places(Launch *L, const Instance *in, const Work *w);           // of a copy: does each element stay what it is?
bool layout_apart(Launch *L, const Instance *in, const Work *w);                 // does it read what it writes?

void written_reset(pto_context *ctx);
bool written_new(Launch *L);
void written_add(Launch *L);                                      // what the launch wrote
int64_t written_missing(const struct Written *w, int64_t a, int64_t b, int32_t turn);      // the first of the elements [a, b) that is not there, or b

bool order_new(Launch *L);
void order_free(Launch *L);
bool order_check(Launch *L, Instance *in, const Work *w);
bool order_touch(Launch *L, Instance *in, int tensor, int64_t at, int64_t bytes, bool write);
bool reach_new(Launch *L);
bool reach_before(Launch *L, int64_t a, int64_t b);

bool execute(Launch *L, const Instance *in, const Work *w);       // all kinds but PTO_TASK
bool execute_task(Launch *L, Instance *in, Work *w, int64_t *operations);
uint8_t *launch_room(Launch *L, size_t bytes);                    // one at a time
uint8_t *view_base(const Launch *L, const Instance *in, const View *v);

// c (m, n) = or += a (m, k) * b (k, n); element (i, j) of each is at base + row[i] + column[j].
typedef struct Matrix { uint8_t *base; const int64_t *row, *column; } Matrix;
size_t multiply_room(int64_t m, int64_t n, int64_t k);
bool multiply_supported(pto_dtype inputs, pto_dtype accumulates);
void multiply(pto_dtype inputs, Matrix c, Matrix a, Matrix b, int64_t m, int64_t n, int64_t k, bool init, uint8_t *room);

bool engine_new(Launch *L);
void engine_free(Launch *L);
bool engine_run(Launch *L);
bool engine_push(Launch *L, int64_t cycle, Happening kind, int core, int slot, void *what);
static inline Unit *unit_of(Launch *L, int core, int slot) { return &L->units[core * PTO_SLOTS + slot]; }
bool unit_start(Launch *L, int core, int slot);

bool sequence_begin(Launch *L, Resident *r);
bool sequence_issue(Launch *L, Resident *r);
bool sequence_wake(Launch *L, Resident *r);

bool tasks_new(Launch *L);
void tasks_free(Launch *L);
bool tasks_dispatch(Launch *L);
bool tasks_end(Launch *L, Resident *r);
int64_t task_number(const Launch *L, const int64_t *tile);
void task_tile(const Launch *L, int64_t task, int64_t *tile);

void count_op(Launch *L, const Instance *in, const Work *w, int64_t begin, int64_t end, int64_t complete, int64_t operations);
void count_path(Launch *L, const Instance *in, const Work *w, int64_t request, int64_t begin, int64_t end);
void count_stall(Launch *L, const Resident *r, int64_t end);
void count_task(Launch *L, const Resident *r);
void count_launch(Launch *L);

#endif
