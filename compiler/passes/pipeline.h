// pipeline: from an analysed module to C, pass after pass.
#ifndef PTOC_PASSES_PIPELINE_H
#define PTOC_PASSES_PIPELINE_H

#include "base/diag.h"
#include "passes/tiling.h"
#include "sema/sema.h"
#include "syntax/tree.h"

#include <stdbool.h>
#include <stdio.h>

// What the command line asks for. A stream that is not wanted is NULL.
typedef struct {
    const char *source_name;     // for comments and #line
    const char *header_name;     // what the C includes; NULL: the C declares its kernels itself
    const char *data_dir;        // the folder that holds targets/ and stdlib/
    const char *target;          // NAME or NAME,NAME,...
    const char *machine_set;     // numbers to replace in their descriptions (machine_load), or NULL
    int opt_level;               // 0..3
    bool line_directives;
    bool verify_each;
    const char *dump_after;      // the name of a pass, or "all"; to `dump`
    FILE *dump;
    bool explain;
    FILE *explain_out;
    bool emit_schedule;
    FILE *schedule_out;
    const char *emit_ir;         // "task", "tile", "move" or "bundles"; to `ir_out`
    bool notes, brief;           // of bundles: with comments; in short
    FILE *ir_out;
    Tilings *tilings;            // gets the tiles of all outputs
    TilingSteps *steps;          // gets what a machine of bundles does at once
} PipelineOptions;

// Compiles every kernel of the module. False after errors (in `d`); what was written to the streams then is worth
// nothing. `c_out` and `h_out` may be NULL.
bool pipeline_compile(Arena *a, Budget *budget, Diags *d, const TreeFile *file, const Module *m, const PipelineOptions *options,
                      FILE *c_out, FILE *h_out);

// The names of all passes, in order, NULL-terminated; for --help and --dump-after.
const char *const *pipeline_passes(void);
// What a pass is about, in a few words.
const char *pipeline_about(const char *pass);

#endif
