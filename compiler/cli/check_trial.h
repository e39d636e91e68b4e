// What the parts of `ptoc check` share: the whole check of a kernel, and one size of it (check.c).
#ifndef PTOC_CLI_CHECK_TRIAL_H
#define PTOC_CLI_CHECK_TRIAL_H

#include "cli/check.h"
#include "cli/guard.h"
#include "cli/unit.h"
#include "reference/eval.h"

enum { MAX_CONTEXTS = 24, WORK_PER_EFFORT = 4000000 };

typedef struct { pto_mode mode; int threads; pto_context *context; } Setting;

typedef struct {
    const CheckJob *job;
    CheckResult *result;
    Arena *arena;                // of the whole check
    Spec **specs;                // by parameter: what the user gave, or NULL
    Array **files;               // by parameter: the array of a file
    int nsettings;
    Setting settings[MAX_CONTEXTS];
    int64_t work;
    bool insist;                 // whatever the effort
    bool refused;                // a value does not fit: said
    SizeList done, left;         // sizes at which the kernel ran, and others
} Check;

// One size: everything in `arena` ends with it.
typedef struct {
    Check *check;
    Arena *arena;
    const int64_t *dims;
    int number, style;
    bool huge;                   // of numbers near the ends of their bits
    Array **inputs;              // by parameter; NULL for `int` parameters
    RefTensor **expected;
    RefStatus status;
    RefFault fault;
    Array **first;               // results of the first call, for the comparison of bits
    const char *again;           // "calling f; again: ptoc check ..."
} Trial;

bool check_is_dim(const Kernel *k, const char *name);

// check_inputs.c: values for the inputs at the trial's sizes. False: *error says why not.
bool check_make_inputs(Trial *t, const char **error);

// check_call.c: one call in setting k, between canaries; false after a difference, which it has told.
bool check_call(Trial *t, int k);

// check_report.c: a message is begun (with what the call does, and the range in the source), told, and ended (with the sizes
// and how to do it again). Texts live in the trial's arena.
void check_clear_progress(const Check *c);               // from the terminal's last line
void check_say_start(Check *c, Range range);
void check_say_end(Trial *t, const Setting *s, Layout in, Layout out);
void check_say_difference(Trial *t, int o, int64_t k, const void *actual, int64_t count);      // element k of output o
const char *check_sizes_text(Arena *a, const Kernel *k, const int64_t *dims);
const char *check_again_text(Trial *t);
const char *check_element_text(Arena *a, DType type, const void *p);
const char *check_place_text(Arena *a, const RefTensor *x, const char *name, int64_t k);
const char *check_origin_text(Trial *t, int o, int64_t k, Range *range);                       // "equation y, in tile ..."

#endif
