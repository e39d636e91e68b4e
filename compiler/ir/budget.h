// budget: how many operations questions about integer sets may take, all together.
//
// isl counts operations and fails when a limit is reached. A budget is for one compilation; each of its parts (a kernel, for a
// machine) has a share, and what a part leaves is for those that follow. Between budget_begin and budget_end a question may
// take some of the share, so that a hopeless one leaves something to the others; what it took is subtracted. What no
// compilation can do without (the sets of its statements) has a little in any case. So the time that sets take is bounded
// by the size of a file, whatever it asks.
// Test: tests/unit/test_budget.c, tests/cli/growth.sh
#ifndef PTOC_IR_BUDGET_H
#define PTOC_IR_BUDGET_H

#include "base/arena.h"

#include <isl/ctx.h>
#include <stdbool.h>

typedef struct {
    isl_ctx *isl;
    unsigned long left;            // of the whole
    unsigned long share;           // of it, for the part that is being compiled
    unsigned long most;            // of the question that is being asked
} Budget;

// A budget of so many operations; isl's errors come back as NULL from now on.
Budget *budget_new(Arena *a, isl_ctx *isl, unsigned long operations);
// So much more: what a compilation takes grows with its source.
void budget_add(Budget *b, unsigned long operations);
// A part begins, with `parts` still to come, itself among them. (Most parts leave a lot: one may take more than its part.)
void budget_share(Budget *b, int parts);

// Memory that isl runs out of ends the compilation (arena_oom_handler), at the beginning and end of a question, too: this is called
// before anything is believed.
void budget_check_memory(isl_ctx *isl);

// Between these an isl function that needs too many operations gives NULL. False: one did.
void budget_begin(Budget *b);
// The same for what there is no other way than: it may take so much even of nothing.
void budget_begin_least(Budget *b, unsigned long least);
bool budget_end(Budget *b);

#endif
