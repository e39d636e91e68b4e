// schedule: the order of a task's operations on a machine of bundles.
#ifndef PTOC_BUNDLES_SCHEDULE_H
#define PTOC_BUNDLES_SCHEDULE_H

#include "ir/bundles.h"
#include "machine/machine.h"

// A modulo schedule of the operations, which all lie in one loop of `ndigits` digits. On entry a buffer's `depth`, or `slots` where that
// is 0, is the depth that is wanted for it (1: no overlap); on return `slots` is the one that the stages need. Sets stages, bundles,
// tokens and the loop's bounds. NULL, or why there is none.
const char *bundle_schedule(Arena *a, const Machine *m, BundleProgram *p);

#endif
