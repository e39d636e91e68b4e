// One file on its way through the compiler: what all commands share.
#ifndef PTOC_CLI_UNIT_H
#define PTOC_CLI_UNIT_H

#include "cli/options.h"

#include "base/diag.h"
#include "machine/machine.h"
#include "passes/pipeline.h"
#include "sema/sema.h"

enum { EXIT_USER = 1, EXIT_USAGE = 2, EXIT_INTERNAL = 70 };

// Where things are, seen from the program: PREFIX/bin/ptoc, PREFIX/include, PREFIX/lib, PREFIX/share/pto. A build folder
// is laid out the same way.
typedef struct { const char *program, *include, *lib, *data; } Places;
Places places_find(Arena *a);

typedef struct {
    Arena *arena;
    const Options *options;
    Places places;
    Sources sources;
    Diags *diags;
    isl_ctx *isl;
    Budget *budget;
    const SourceFile *file;
    TreeFile *tree;
    Module *module;
} Unit;

// "ptoc: error: ..." to stderr; returns `code`.
int complain(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

// Reads, parses and analyses the input. Returns 0 or an exit code, with everything said. unit_close in any case.
int unit_open(Unit *u, Arena *a, const Options *o);
void unit_close(Unit *u);
// --target, or the command's default.
const char *unit_target(const Options *o);
// The machine of a target, as --machine-set changes it; NULL: *error says why not.
const Machine *unit_machine(const Unit *u, const char *target, const char **error);
bool unit_is_modelled(const Unit *u, const char *target);          // does the target have bundles that the runtime models?
// Is every name in --target known? Exit code 2 otherwise.
int unit_check_target(const Unit *u, const char *target);

// The C and the header as texts, both NULL where `pipeline_compile` was not asked for them.
typedef struct {
    char *c, *h, *ir, *schedule;
    size_t c_size, h_size, ir_size, schedule_size;
    Tilings tilings;             // in the unit's arena
    TilingSteps steps;           // likewise
} Compiled;
// Runs the pipeline. `want_c` false: only the IR or schedule. Returns 0 or an exit code.
int unit_compile(Unit *u, const char *target, const char *header_name, bool want_c, Compiled *out);
void compiled_free(Compiled *c);

// The name among `names` that was probably meant, or NULL.
const char *closest_name(const char *name, int n, const char *const *names);

#endif
