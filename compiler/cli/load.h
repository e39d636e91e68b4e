// From a file to kernels that can be called: compiles, builds with $CC (through the cache) and loads.
//
// The loaded object and ptoc share one runtime: all of libptort is linked into ptoc, which exports pto_*; the object leaves
// these names undefined and finds them there. So there is one pool and one set of contexts.
#ifndef PTOC_CLI_LOAD_H
#define PTOC_CLI_LOAD_H

#include "cli/unit.h"
#include "ptort.h"

typedef struct {
    void *object;            // of dlopen
    Compiled text;           // the schedule that was chosen, where asked for
} Loaded;

// Compiles all kernels of the unit for a target and loads them. Returns 0 or an exit code, with everything said.
int load_unit(Unit *u, const char *target, Loaded *loaded);
const pto_kernel *load_kernel(const Unit *u, const Loaded *loaded, const char *name);
void load_close(Loaded *loaded);

// Can this machine run code for the target (or for one of a list)? Otherwise says so; exit code 1.
int load_check_machine(Unit *u, const char *target);

// Kernels the command is about: the one of -k, or all. NULL: said, *code is the exit code.
Kernel *const *load_select(Unit *u, int *n, int *code);

#endif
