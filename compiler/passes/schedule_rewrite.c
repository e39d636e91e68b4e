// schedule_rewrite: the kernel as directives want it that change equations, not their order: inline, layout.
// Test: tests/errors/schedules/inline.pto, tests/errors/schedules/layout.pto
#include "passes/schedule_rewrite.h"

#include <string.h>

Kernel *schedule_rewrite(Arena *a, Budget *budget, Diags *d, Kernel *k, const Machine *m)
{
    k = schedule_inline(a, budget, d, k, m);
    return k ? schedule_layout(a, d, k, m) : NULL;
}

static bool is_carried_out(const Kernel *k, const TreeDirective *d, const TreeClause *c)
{
    bool is_inline = strcmp(d->name, "inline") == 0, rewritten = false;
    for (int i = 0; c->key && i < k->tensors.n; i++)
        rewritten = rewritten || (strcmp(k->tensors.at[i]->name, c->key) == 0 && layout_rewrites(k->tensors.at[i]));
    return is_inline || (strcmp(d->name, "layout") == 0 && rewritten);
}

static TreeDirective *what_is_left(Arena *a, const Kernel *k, const TreeDirective *d)
{
    TreeDirective *copy = ARENA_NEW(a, TreeDirective);
    *copy = *d;
    copy->clauses.at = NULL;
    copy->clauses.n = copy->clauses.cap = 0;
    for (int i = 0; i < d->clauses.n; i++)
        if (!is_carried_out(k, d, &d->clauses.at[i]))
            VEC_PUSH(a, &copy->clauses, d->clauses.at[i]);
    return d->clauses.n && !copy->clauses.n ? NULL : copy;
}

static TreeSchedule *without_rewrites(Arena *a, const Kernel *k, const TreeSchedule *s)
{
    TreeSchedule *copy = ARENA_NEW(a, TreeSchedule);
    *copy = *s;
    copy->block.at = NULL;
    copy->block.n = copy->block.cap = 0;
    for (int i = 0; i < s->block.n; i++) {
        TreeDirective *left = what_is_left(a, k, s->block.at[i]);
        if (left)
            VEC_PUSH(a, &copy->block, left);
    }
    return copy;
}

Kernel *schedule_rewritten(Arena *a, const Kernel *k, const Machine *m)
{
    WordContext c = { a, NULL, k, m };
    Kernel *copy = ARENA_NEW(a, Kernel);
    *copy = *k;
    copy->schedules.at = NULL;
    copy->schedules.n = copy->schedules.cap = 0;
    for (int i = 0; i < k->schedules.n; i++) {
        const TreeSchedule *s = k->schedules.at[i];
        if (!schedule_replacement(&c, s))
            VEC_PUSH(a, &copy->schedules, schedule_applies(&c, s) ? without_rewrites(a, k, s) : s);
    }
    return copy;
}
