// What `ptoc profile` gathers about one call, whatever it ran on, and who fills and who writes it.
//
//   profile_model.c  callback of the modelled machine       profile_curve.c   sums over intervals of time
//   profile_cpu.c    callback of the CPU's grids            profile_source.c  equations: lines, operations, least bytes
//   profile_trace.c  Chrome's trace events, as they happen  profile_json.c    everything else, for trace and report
//   profile_text.c   the summary                            profile_html.c    the report
//
// Time counts cycles of the model or nanoseconds of a CPU, from the begin of the call. Sums (curves, totals, traffic, waits) count every
// event; lists for pictures (ops, tasks, boxes) end at a limit, and say so.
//
// Test: tests/cli/profile.sh, tests/cli/report.sh
#ifndef PTOC_CLI_PROFILE_H
#define PTOC_CLI_PROFILE_H

#include "cli/call.h"

#include <ptort/model.h>

enum { MOST_OPS = 20000, MOST_TASKS = 20000, MOST_WAITS = 20000, MOST_BOXES = 4000, BINS = 400 };

// ---- curves ----

// Sums over BINS equal intervals of time that double as time goes on. A curve is a number; all share the intervals.
typedef struct {
    Arena *arena;
    int64_t width;                   // of an interval
    VEC(int64_t *) at;
} Curves;
int curves_new(Curves *c);
void curves_add(Curves *c, int curve, int64_t begin, int64_t end, int64_t amount);      // spread evenly over [begin, end)

// ---- what is told ----

enum { WAIT_ISSUE, WAIT_QUEUE, WAIT_TOKEN, WAIT_DISPATCH = WAIT_TOKEN + PTO_SLOTS, WAIT_DRAIN, WAIT_IDLE, WAIT_CAUSES };

// An equation of the source, or a part of one that the compiler split off. On a CPU: a grid, with all of its equations.
typedef struct {
    const char *name, *file;
    int line;                        // 0: unknown
    const char *text;                // the line
    int64_t busy[PTO_SLOTS], macs, operations, bytes;      // bytes: at the memories that hold tensors
} Site;

// A row of the pictures: a unit of a core, or a worker.
typedef struct {
    const char *process, *name;
    int core, slot;
    int64_t busy;
    int curve;
    VEC(int) by_site;                // curves; -1: none
} Lane;

typedef struct { int lane, site, launch, bundle; int64_t task, begin, end, complete, bytes, macs; const char *tensor; } ProfileOp;
typedef struct { int core, launch; int64_t task, begin, begun, end; } ProfileTask;

typedef struct {
    const char *name;                // of the program or grid
    const char *mode;                // CPU
    int rank, noffsets;
    int64_t count[4], begin, end, tasks, busy;
    int64_t offsets[16][4];
    int program;                     // launches of one program, or of one grid, share it
} Launch;

// Launches of one kind, together.
typedef struct {
    const void *key;
    const char *name;
    int launches;
    bool scalar;                     // model: a task is one operation of the scalar unit
    VEC(int) sites;
    int64_t time, tasks, operations, macs, bytes;
} Program;

typedef struct { const char *tensor; int path; int64_t read, written, payload_read, payload_written; } Traffic;
typedef struct { const char *tensor, *kind; int64_t bytes, least_read, least_written, first, last; bool whole; } ProfileTensor;      // whole: of a CPU, more than one grid needs it

// Bytes of a memory that hold one value from `begin` to `end`.
typedef struct { int memory, site, launch; const char *tensor; int64_t address, length, begin, end; } Box;

// The seats of a machine, for curves: paths and memories by position.
typedef struct { const char *name; int from, to, lines; double width; int64_t busy, bytes; int curve; } ProfilePath;

typedef struct { const char *name; double value; bool known; } Counter;

typedef struct {
    Call *call;
    Arena *arena;
    bool model;
    int64_t total;                   // cycles or nanoseconds
    double hertz;
    int clusters, cores;             // of a cluster; CPU: 1, workers
    int64_t tasks, bundles, macs, operations;
    VEC(Site) sites;
    VEC(Lane) lanes;
    VEC(Launch) launches;
    VEC(Program) programs;
    VEC(Traffic) traffic;
    VEC(ProfileTensor) tensors;
    VEC(ProfilePath) paths;
    VEC(ProfileOp) ops;
    VEC(ProfileTask) task_list;
    VEC(Box) boxes;
    VEC(Counter) counters;
    int64_t nops, ntasks, nboxes, nwaits;        // all, also those that are not in the lists
    int residents;                   // model: on one core at most
    int64_t traced, untraced;        // operations in the trace, and not
    Curves curves;
    int64_t wait[WAIT_CAUSES];
    int wait_curve[WAIT_CAUSES];
    const pto_machine *machine;      // model; in the emitted code
    double peak_operations[2];       // a cycle (model) or a second (CPU): of the cubes or vectors; of the vector units; 0: none
    double peak_bytes;               // the same, of the memory that holds tensors
    const char *peak_note, *counter_note;
    FILE *trace;                     // NULL: none is written
    bool first_event;
} Profile;

int profile_site(Profile *p, const char *name, const char *file, int line);
int profile_lane(Profile *p, const char *process, const char *name, int core, int slot);
Traffic *profile_traffic(Profile *p, const char *tensor, int path);
void profile_busy(Profile *p, int lane, int site, int64_t begin, int64_t end);
int profile_program(Profile *p, const void *key, const char *name);
void program_add_site(Profile *p, int program, int site);
const char *wait_name(int cause);

// ---- who fills it ----

// Run the call and record it. Return 0 or an exit code, with everything said.
int profile_model(Profile *p);
int profile_cpu(Profile *p);

// The source: tensors with the bytes that have to move; lines of equations; what grids of a CPU compute.
void source_tensors(Profile *p);
void source_storage(Profile *p);                         // of a CPU, when all grids are known: tensors that no memory holds
void source_site(Profile *p, Site *s);
// Adds the equations that a list "y, c.sum" names to a program; on a CPU with their operations and the bytes that have to move.
void source_grid(Profile *p, int program, const char *names);

// Counters of the processor around the call; `counters_open` before any thread exists.
typedef struct { int fd[8]; int failed; } Counters;
void counters_open(Counters *c);
void counters_start(Counters *c);
void counters_stop(Counters *c, Profile *p);

// ---- who writes it ----

enum { THREAD_LAUNCH = 1, THREAD_TASK = 16, THREAD_WAIT = 1000 };      // of a trace, plus resident; units have 1 + slot

void trace_begin(Profile *p);
void trace_op(Profile *p, const ProfileOp *o, const pto_event *e, int64_t waited);
void trace_slice(Profile *p, int process, int thread, const char *name, int64_t begin, int64_t end, const char *args);
void trace_end(Profile *p);              // names, curves, launches, flows, and the totals

void json_string(FILE *out, const char *text);       // quoted; fit for a <script>
void profile_json(const Profile *p, FILE *out, bool lists);      // one object; `lists`: with what the report draws
void profile_text(const Profile *p, FILE *out);
bool profile_html(const Profile *p, FILE *out, const char **error);

#endif
