// Comparing a compiled kernel with the reference evaluator.
//
// At every size the reference computes each output once; the kernel is then called with every mode and number of
// workers (where that makes a difference), with its tensors in different layouts between canaries, with outputs and workspace full of NaN. Each
// result must lie within the reference's bound, and all results must be equal bit for bit.
//
// Test: tests/unit/test_cli.c
#ifndef PTOC_CLI_CHECK_H
#define PTOC_CLI_CHECK_H

#include "cli/bind.h"
#include "cli/sizes.h"
#include "passes/tiling.h"

typedef struct {
    const Kernel *kernel;
    const pto_kernel *code;
    const Sources *sources;      // for positions in messages; may be NULL
    const char *file, *target;   // for messages
    const char *machine_set;     // likewise; NULL: none
    const Bindings *values;      // NAME=VALUE of the user
    const Bindings *dims;        // --dim
    Numbers edges;               // tile and vector sizes
    const Tilings *tilings;      // for messages; may be NULL
    const TilingSteps *steps;    // whose edges are tried as well; may be NULL
    uint64_t seed;
    double effort;               // about seconds
    int64_t max_cycles;          // of a call on a modelled machine; 0: the runtime's
    int threads;                 // only this many; 0: 1, 2, 3 and all
    const char *mode;            // only this one; NULL: all
    bool modelled;               // the machine is a model, which computes the same in every mode
    bool progress;
    const char *volatile *doing; // as in Options
    FILE *out, *err;
} CheckJob;

typedef struct {
    int64_t runs;                // calls of the kernel
    int64_t faults;              // of these, faulted as the reference did
    int64_t skipped;             // sizes that were too much work for the effort
    int64_t elements, unjudged;  // compared, and of these without a bound
    bool failed;
} CheckResult;

// What the user asks for is checked whatever the effort, and so is at least one size: 0 means that the kernel ran.
// Returns 0, 1 (a difference, values that do not fit, sizes that cannot be checked) or 2, with everything said.
int check_kernel(const CheckJob *job, CheckResult *result);

#endif
