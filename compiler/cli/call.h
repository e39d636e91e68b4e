// One call of a kernel of the command line's file: what `ptoc run` and `ptoc profile` share.
//
// In this order: call_open reads the file and picks the kernel, call_bind makes inputs and outputs, call_load builds the kernel and
// makes a context: what is wrong with the arguments is said before anything takes long. Each returns 0 or an exit code, with
// everything said; call_close in any case.
#ifndef PTOC_CLI_CALL_H
#define PTOC_CLI_CALL_H

#include "cli/bind.h"
#include "cli/load.h"

typedef struct {
    Unit unit;
    Arena *arena;
    const Options *options;
    const Kernel *kernel;        // as sema leaves it
    Inputs inputs;
    Array **outputs;             // zeroed, in the kernel's order
    Loaded loaded;
    const pto_kernel *code;
    pto_context *context;
    void **args;                 // of code->call
} Call;

int call_open(Call *c, Arena *a, const Options *o);
int call_bind(Call *c);
int call_load(Call *c);
// Calls the kernel once.
int call_kernel(Call *c);
// Touches fresh outputs where the threads will write them.
void call_touch_outputs(Call *c);
void call_close(Call *c);

int call_find_output(const Kernel *k, const char *name);      // -1: there is none

#endif
