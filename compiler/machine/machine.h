// machine: what the compiler knows of a target, read from a description in targets/ (data, no C; man/machine.5).
//
// Two kinds share the format. A CPU (`emits c;`) has caches and vectors. An accelerator (`emits bundles;`) has memories that
// programs manage themselves, paths between them and units that work on them; it is what the runtime models
// (ptort/model.h), and fields and their meanings are the same here and there.
#ifndef PTOC_MACHINE_MACHINE_H
#define PTOC_MACHINE_MACHINE_H

#include "base/arena.h"
#include "base/diag.h"
#include "ir/ir.h"

enum { MACHINE_MAX_TIERS = 8, MACHINE_MAX_MEMORIES = 8, MACHINE_MAX_PATHS = 16, MACHINE_MAX_SHAPES = 4, MACHINE_MAX_PORTS = 4 };

typedef struct { const char *name; int64_t bytes; bool per_core; } Tier;      // innermost first, without main memory

// Which cores use the same one: each its own, those of a cluster, all.
typedef enum { SHARED_CORE, SHARED_CLUSTER, SHARED_CHIP } Shared;
// `backing`: tensors may lie there, as they do in memory[0].
typedef struct { const char *name; int64_t bytes; Shared shared; bool backing; } Memory;

// In the order of the slots of a bundle.
typedef enum { UNIT_CUBE, UNIT_VECTOR, UNIT_LOAD, UNIT_STORE, UNIT_DMA, UNIT_SCALAR } UnitKind;
enum { UNIT_KINDS = UNIT_SCALAR + 1 };

// Between two memories (positions in Machine.memory). `both`: it carries transfers in the other direction too.
typedef struct {
    int from, to;
    bool both;
    int64_t width, latency, burst;       // bytes a cycle; cycles; bytes, or 0
    Shared shared;                       // how many of it there are
    UnitKind by, by_back;                // what moves data from `from` to `to`, and back: load, store or dma
} Path;

typedef struct { DType inputs, accumulates; int64_t m, n, k, passes; } CubeShape;      // a block of m, n, k in `passes` cycles
typedef struct { int memory; int64_t width; } UnitPort;

typedef struct {
    bool present;
    int queue;                           // operations that are issued and not finished
    int64_t latency;                     // cycles from the end of an operation's work to its completion
    int64_t most;                        // cube: of each of m, n, k; load, store, dma: bytes of a transfer. 0: no limit
    int64_t width;                       // vector: bytes a cycle
    int nshapes;
    CubeShape shape[MACHINE_MAX_SHAPES];
    int nports;
    UnitPort port[MACHINE_MAX_PORTS];
    int memory;                          // vector, scalar: where its operands are
    int memory_a, memory_b, memory_c;    // cube: the operands (m, k) and (k, n), and the sums (m, n)
} MachineUnit;

typedef struct {
    const char *name;
    const char *about;
    const char *set;              // --machine-set, where it changed this machine, or NULL
    int cores;                    // 0: asked at run time. Accelerators: of one cluster
    int vector_bytes;             // 0: no vectors (an accelerator's are in `unit`)
    int vector_registers;
    bool fma;
    const char *isa;              // "generic", "x86-64-v3", "x86-64-v4", "arm64-neon"
    const char *architecture;     // C compilers for it define it between double underscores; NULL: any
    const char *attribute;        // contents of __attribute__((target("..."))), or NULL
    uint64_t needs;               // features of the processor that the attribute names (ptort/cpu.h)
    const char *unknown;          // what it names that is none of them, or NULL
    bool emits_c, emits_bundles;
    int ntiers;
    Tier tier[MACHINE_MAX_TIERS]; // an accelerator's: all memories but those that hold tensors; a core's own ones first
    int64_t line_bytes;

    // CPUs: the caches, innermost first. Accelerators: as declared; [0] is behind all others and shared by the chip.
    int nmemories;
    Memory memory[MACHINE_MAX_MEMORIES];

    // Accelerators only.
    int64_t hertz;
    int clusters;
    int64_t dispatch;             // cycles to hand a task to a core
    int npaths;
    Path path[MACHINE_MAX_PATHS];
    MachineUnit unit[UNIT_KINDS]; // by UnitKind
    int64_t cost[OP_COUNT];       // of the vector unit, where said; see machine_cost
} Machine;

typedef VEC(const Machine *) Machines;

// The machine of that name from the descriptions in `dir` (NAME.pto); "native" is the one among them that asks most of the
// processor and can run here, with the host's caches. `set` (may be NULL) is NAME=VALUE,... of --machine-set: numbers that
// take the place of those in the description. NULL: *error says why.
const Machine *machine_load(Arena *a, const char *dir, const char *name, const char *set, const char **error);
// The machines of a list NAME,NAME,... (or of one name). False: *error says why, also where no choice between them can be
// made at run time: two need the same of a processor, what one needs cannot be found out, or one is no processor.
bool machines_load(Arena *a, const char *dir, const char *list, const char *set, Machines *machines, const char **error);
// Why a choice between `m` and those before it cannot be made at run time; NULL: it can.
const char *machines_conflict(Arena *a, const Machines *before, const Machine *m);
// "generic,x86-64-v3,...": what C for this architecture's processors is compiled for when nothing is said: all descriptions of
// machines that run C and are for it, between which a choice can be made, and generic. The same on all of them.
const char *machine_family(Arena *a, const char *dir);
// The names of all descriptions in `dir`, sorted, then "native".
int machine_names(Arena *a, const char *dir, const char ***names);
// Can this process run code for it? (As far as can be said: see `unknown`.)
bool machine_runs_here(const Machine *m);
// How much it asks of a processor: features, and one for an architecture.
int machine_demand(const Machine *m);
// The capacity of the tier `level` (0: L1), or of the outermost.
int64_t machine_tier_bytes(const Machine *m, int level);

// The position of the memory of that name, or -1.
int machine_memory(const Machine *m, const char *name);
// The position of the path that carries transfers between two memories in that direction, or -1.
int machine_path(const Machine *m, int from, int to);
// Cycles that a vector unit takes for each `width` bytes of an operation (a name of ir/ops.def): 1 where the
// description does not say.
int64_t machine_cost(const Machine *m, const char *operation);
// "cube", "vector", ...: a static array in the order of UnitKind.
const char *const *machine_unit_names(void);

#endif
