// schedule_check: what to say when a schedule cannot be had, with the dependence, its distance and both equations.
#ifndef PTOC_PASSES_SCHEDULE_CHECK_H
#define PTOC_PASSES_SCHEDULE_CHECK_H

#include "passes/plan.h"

// "distance 1", "distance -1 to 1", "distance 2 or more", "any distance".
const char *distance_text(Arena *a, Distance d);
// How people call a statement: `y`, "the sum in `y`", "part 0 of equation 1 of `u`".
const char *stmt_text(Arena *a, const Program *g, const Stmt *s);

// Reports `what` as illegal because of a dependence that has this distance along the loop `index`. The last report takes more
// notes.
void refuse_dependence(Plan *p, Range at, const char *what, const Dep *d, Distance r, const char *index);
// The notes alone: where it is computed and where read.
void note_dependence(Plan *p, const Dep *d);

#endif
