// explain_fuse: why equations share a grid, and why not (see explain.h).
#include "passes/fuse.h"

#include "passes/explain.h"
#include "passes/schedule_check.h"

const char *explain_join_result(JoinResult why)
{
    switch (why) {
    case JOIN_DONE: break;
    case JOIN_SERIAL: return "one of them has no parallel loop";
    case JOIN_OFF: return "nothing is fused at -O0";
    case JOIN_SIZE: return "the grid would hold more code than the instruction cache likes";
    case JOIN_STRANGERS: return "no dependence joins them, and a contraction keeps to itself";
    case JOIN_LOG: return "what a log prints has a grid of its own, so that its conditions are nobody else's";
    case JOIN_MATERIALIZED: return "the schedule keeps what lies between them as a whole";
    case JOIN_NO_LOOP: return "they have no parallel loop in common";
    case JOIN_CONTRACTION: return "a contraction keeps all its parallel loops, and they do not share all";
    case JOIN_AXES: return "an axis that the schedule runs in parallel would be lost";
    case JOIN_HALO: return "the halo around each tile would be too wide, or is needed elsewhere";
    case JOIN_BETWEEN: return "something that lies between them needs a grid of its own";
    }
    return "";
}

static const char *loop_names(Plan *p, const Group *g, const Member *member, const Stmt *s)
{
    const char *names[MAX_GRID];
    int n = 0;
    for (int q = 0; q < g->ndims; q++)
        if (member[s->id].theta[q].idx >= 0)
            names[n++] = arena_printf(p->a, "`%s`", s->index[member[s->id].theta[q].idx]->name);
    return explain_list(p->a, n, names);
}

void explain_joined(Plan *p, Group *g, const Group *unit, const DepList *cross, const Member *member)
{
    if (!explains(p))
        return;
    const char *who = explain_stmts(p, &unit->stmts);
    if (g->ndims == 0) {
        explain_say(p, &g->why, "%s runs with the rest: neither has a loop to split.", who);
        return;
    }
    if (cross->n == 0) {
        bool parts = g->stmts.at[0]->eq->lhs == unit->stmts.at[0]->eq->lhs;
        explain_say(p, &g->why, parts ? "%s shares the grid: it is another part of the same tensor." : "%s shares the grid: it runs over the same box, and nothing stands between.", who);
        return;
    }
    const Dep *d = cross->at[0];
    const char *loops = loop_names(p, g, member, d->dst), *of = stmt_text(p->a, p->g, d->src);
    int64_t before = 0, after = 0;
    for (int i = 0; i < cross->n; i++)
        for (int q = 0; q < g->ndims; q++) {
            const Member *m = &member[cross->at[i]->src->id];
            before = m->before[q] > before ? m->before[q] : before;
            after = m->after[q] > after ? m->after[q] : after;
        }
    if (before == 0 && after == 0)
        explain_say(p, &g->why, "%s shares the grid of %s: all it needs of it lies at a constant distance along %s.", who, of, loops);
    else
        explain_say(p, &g->why, "%s shares the grid of %s, which is computed on a halo of (%lld, %lld) around each tile of %s.", who, of, (long long)before,
                    (long long)after, loops);
}

void explain_apart(Plan *p, const Group *g, Group *unit, const DepList *cross, JoinResult why)
{
    if (!explains(p) || cross->n == 0)
        return;
    const Dep *d = cross->at[0];
    (void)g;
    explain_say(p, &unit->why, "%s does not share the grid of %s: %s.", stmt_text(p->a, p->g, d->dst), stmt_text(p->a, p->g, d->src), explain_join_result(why));
}
