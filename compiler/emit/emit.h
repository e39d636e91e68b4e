// emit: C from the tile level.
//
// One C file holds all kernels of a module: per kernel a frame (everything its tasks need to know), one function per
// leaf, the layout of its workspace, the entry with its checks, and a descriptor. The header declares the entries.
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
    const Machine *machine;
} EmitOptions;

void emit_c_prologue(FILE *out, const EmitOptions *o);
// The numbers of lanes that a kernel's vector loops use, as a bit mask of powers of two; the union over all kernels goes
// between the prologue and the first kernel.
unsigned emit_c_lanes(const TileKernel *t);
void emit_c_vectors(FILE *out, unsigned lanes);
void emit_c_kernel(FILE *out, const EmitOptions *o, const TileKernel *t);
void emit_header_prologue(FILE *out, const EmitOptions *o, const char *guard);
void emit_header_kernel(FILE *out, const EmitOptions *o, const Kernel *k);
void emit_header_epilogue(FILE *out);

#endif
