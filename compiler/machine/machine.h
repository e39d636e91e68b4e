// machine: what the compiler knows of a target, read from a description in targets/ (data, no C).
#ifndef PTOC_MACHINE_MACHINE_H
#define PTOC_MACHINE_MACHINE_H

#include "base/arena.h"
#include "base/diag.h"
#include "syntax/tree.h"

#define MACHINE_MAX_TIERS 6

typedef struct { const char *name; int64_t bytes; bool per_core; } Tier;      // innermost first, without main memory

typedef struct {
    const char *name;
    const char *about;
    int cores;                    // 0: asked at run time
    int vector_bytes;             // 0: no vectors
    int vector_registers;
    bool fma;
    const char *isa;              // "generic", "x86-64-v3", "x86-64-v4", "arm64-neon"
    const char *architecture;     // C compilers for it define it between double underscores; NULL: any
    const char *attribute;        // contents of __attribute__((target("..."))), or NULL
    uint64_t needs;               // features of the processor that the attribute names (ptort/cpu.h)
    const char *unknown;          // what it names that is none of them, or NULL
    bool emits_c;
    int ntiers;
    Tier tier[MACHINE_MAX_TIERS];
    int64_t line_bytes;
} Machine;

typedef VEC(const Machine *) Machines;

// The machine of that name from the descriptions in `dir` (NAME.pto); "native" is the one among them that asks most of the
// processor and can run here, with the host's caches. NULL: *error says why.
const Machine *machine_load(Arena *a, const char *dir, const char *name, const char **error);
// The machines of a list NAME,NAME,... (or of one name). False: *error says why, also where no choice between them can be
// made at run time: two need the same of a processor, or what one needs cannot be found out.
bool machines_load(Arena *a, const char *dir, const char *list, Machines *machines, const char **error);
// The names of all descriptions in `dir`, sorted, then "native".
int machine_names(Arena *a, const char *dir, const char ***names);
// Can this process run code for it? (As far as can be said: see `unknown`.)
bool machine_runs_here(const Machine *m);
// How much it asks of a processor: features, and one for an architecture.
int machine_demand(const Machine *m);
// The capacity of the tier `level` (0: L1), or of the outermost.
int64_t machine_tier_bytes(const Machine *m, int level);

#endif
