// emit: C from the tile level.
//
// One C file holds all kernels of a module. For each target it has, per kernel, a frame (everything its tasks need to know),
// one function per leaf, the layout of its workspace and the entry with its checks; then, per kernel, the public functions
// and a descriptor. The header declares these.
#ifndef PTOC_EMIT_EMIT_H
#define PTOC_EMIT_EMIT_H

#include "base/source.h"
#include "ir/poly.h"
#include "ir/tile.h"
#include "machine/machine.h"

typedef struct {
    const char *source_name;      // of the .pto file
    const char *header_name;      // what the C file includes, or NULL
    const Sources *sources;       // for comments and #line; may be NULL
    bool line_directives;
    int nmachines;
    const Machine *const *machines;
    const Machine *machine;       // the one of them whose part of the file is being written
    int nkernels;
    Kernel *const *kernels;       // all of the file
} EmitOptions;

// In this order: the prologue; for each machine its beginning, its part of every kernel, its end; the choice, if there are
// several; the public part of every kernel.
void emit_c_prologue(FILE *out, const EmitOptions *o);
void emit_c_target_begin(FILE *out, const EmitOptions *o, unsigned lanes);       // the union over all kernels
// The numbers of lanes that a kernel's vector loops use, as a bit mask of powers of two.
unsigned emit_c_lanes(const TileKernel *t);
void emit_c_kernel(FILE *out, const EmitOptions *o, const TileKernel *t);
void emit_c_target_end(FILE *out, const EmitOptions *o);
void emit_c_choice(FILE *out, const EmitOptions *o);
void emit_c_public(FILE *out, const EmitOptions *o, const Kernel *k);
void emit_header_prologue(FILE *out, const EmitOptions *o, const char *guard);
void emit_header_kernel(FILE *out, const EmitOptions *o, const Kernel *k);
void emit_header_epilogue(FILE *out);

// What C has beside a kernel's function: `k_workspace`, `k_kernel`, but for what is the name of another kernel of the file.
const char *emit_name_beside(Arena *a, int nkernels, Kernel *const *kernels, const char *kernel, const char *what);

// An accelerator as the runtime's model has it: `static const pto_machine ptoc_NAME_machine`, for C that includes ptort/model.h.
void emit_c_machine(FILE *out, const Machine *m);

#endif
