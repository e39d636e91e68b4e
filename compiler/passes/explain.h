// explain: plain sentences on what was decided and why, for --explain. Silent when nobody asked.
//
// Passes say what they decide where they decide it; sentences are kept with the leaf or tensor they are about, so that a
// decision that is taken back takes its sentences with it, and printed per kernel at the end. Test: tests/golden/explain*.pto
#ifndef PTOC_PASSES_EXPLAIN_H
#define PTOC_PASSES_EXPLAIN_H

#include "passes/plan.h"

static inline bool explains(const Plan *p) { return p->explain != NULL; }

// Adds a sentence.
void explain_say(Plan *p, Sentences *s, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
