// loose: programs of the move level that were read as text, put into bundles.
//
// They come with boxes, buffers at their addresses and an estimate of the cycles; what is missing is the order (schedule.h).
// Test: tests/cli/bundles.sh
#include "bundles/cost.h"
#include "bundles/schedule.h"

static const char *put_in_order(Arena *a, const Machine *m, int max_workers, BundleProgram *p)
{
    const BundleLoop *l = p->loops.n ? &p->loops.at[0] : NULL;
    if (p->loops.n > 1 || (l && (l->first != 0 || l->end != p->ops.n || l->iv != FIRST_DIGIT)))
        return "operations of the move level stand in one loop, or in none";
    if (p->ops.n == 0)
        return "a program of the move level has operations";
    int *room = ARENA_ARRAY(a, int, p->buffers.n + 1);
    for (int i = 0; i < p->buffers.n; i++)
        room[i] = p->buffers.at[i]->slots;
    cost_latencies(m, max_workers, p);
    const char *problem = bundle_schedule(a, m, p);
    for (int i = 0; !problem && i < p->buffers.n; i++)
        if (p->buffers.at[i]->slots > room[i])
            problem = arena_printf(a, "buffer `%s` has slots(%d), and its readers are so far behind that it takes slots(%d)", p->buffers.at[i]->name, room[i], p->buffers.at[i]->slots);
    return problem;
}

const char *place_loose(Arena *a, const Machine *m, Node *grid)
{
    BundleProgram *programs[] = { grid->program, grid->otherwise };
    const char *problem = NULL;
    for (int i = 0; i < 2 && programs[i] && !problem; i++)
        if (programs[i]->bundles.n == 0 && !program_is_task(programs[i]))
            problem = put_in_order(a, m, grid->max_workers, programs[i]);
    return problem;
}
