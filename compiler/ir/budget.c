// budget: operations that questions about integer sets may take (see budget.h).
//
// An operation is an allocation. isl does not tell how many there were, but whether a limit is reached: a search finds the number,
// in less time than any question takes.
#include "ir/budget.h"

#include <errno.h>
#include <isl/options.h>
#include <stdlib.h>

// A question may take this part of what is left, or so much where that is less.
enum { PART = 3, ENOUGH = 50000 };

Budget *budget_new(Arena *a, isl_ctx *isl, unsigned long operations)
{
    Budget *b = ARENA_NEW(a, Budget);
    *b = (Budget){ .isl = isl, .left = operations, .share = operations };
    return b;
}

void budget_add(Budget *b, unsigned long operations)
{
    b->left += operations;
    b->share += operations;
}

void budget_share(Budget *b, int parts)
{
    b->share = b->left / (unsigned long)(parts < PART ? parts : PART);
}

static unsigned long least_of(unsigned long x, unsigned long y)
{
    return x < y ? x : y;
}

void budget_check_memory(isl_ctx *isl)
{
    enum isl_error e = isl_ctx_last_error(isl);          // of the last failure: it may follow from one of memory
    if (e == isl_error_alloc || (e != isl_error_none && e != isl_error_quota && errno == ENOMEM))
        arena_oom_handler();
}

void budget_begin_least(Budget *b, unsigned long least)
{
    unsigned long part = b->share / PART > ENOUGH ? b->share / PART : ENOUGH, most = least_of(part, b->share);
    b->most = most > least ? most : least;
    budget_check_memory(b->isl);
    errno = 0;
    isl_options_set_on_error(b->isl, ISL_ON_ERROR_CONTINUE);
    isl_ctx_reset_error(b->isl);
    isl_ctx_reset_operations(b->isl);
    isl_ctx_set_max_operations(b->isl, b->most);
}

void budget_begin(Budget *b)
{
    budget_begin_least(b, 1);
}

// Have there been fewer operations than this? (The question is one itself.)
static bool fewer(Budget *b, unsigned long limit)
{
    isl_ctx_set_max_operations(b->isl, limit);
    void *p = isl_malloc_or_die(b->isl, 1);
    free(p);
    return p != NULL;
}

static unsigned long operations(Budget *b)
{
    unsigned long low = 0, high = b->most;
    while (low < high) {
        unsigned long middle = low + (high - low) / 2;
        if (fewer(b, middle + 1))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

bool budget_end(Budget *b)
{
    budget_check_memory(b->isl);
    bool done = isl_ctx_last_error(b->isl) == isl_error_none;
    unsigned long used = operations(b);
    b->left -= least_of(b->left, used);
    b->share -= least_of(b->share, used);
    isl_ctx_set_max_operations(b->isl, 0);
    isl_ctx_reset_operations(b->isl);
    isl_ctx_reset_error(b->isl);
    return done;
}
