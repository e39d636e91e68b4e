// schedule_print: the schedule that was chosen for a kernel, in the language (--emit-schedule).
#ifndef PTOC_PASSES_SCHEDULE_PRINT_H
#define PTOC_PASSES_SCHEDULE_PRINT_H

#include "passes/plan.h"

// `schedule k on TARGET { ... }`: complete enough that a kernel compiled with it makes the same choices. `t` may be NULL or
// unfinished: then what storage and vectors would add is left out. `source`: for the source kernel, with what was inlined.
void schedule_print(FILE *out, Plan *p, const TileKernel *t, bool source);

#endif
