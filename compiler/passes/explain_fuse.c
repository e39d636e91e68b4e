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
    case JOIN_STRANGERS: return "no dependence joins them";
    case JOIN_MATERIALIZED: return "the schedule keeps what lies between them as a whole";
    case JOIN_NO_LOOP: return "they have no parallel loop in common";
    case JOIN_CONTRACTION: return "a contraction keeps all its parallel loops, and not all are shared";
    case JOIN_AXES: return "an axis that the schedule runs in parallel would be lost";
    case JOIN_HALO: return "the halo around each tile would be too wide, or is needed elsewhere";
    case JOIN_BETWEEN: return "something that lies between them needs a grid of its own";
    }
    return "";
}

void explain_joined(Plan *p, Group *g, const Group *unit, const DepList *cross, const Member *member)
{
    (void)p; (void)g; (void)unit; (void)cross; (void)member;
}

void explain_apart(Plan *p, const Group *g, Group *unit, const DepList *cross, JoinResult why)
{
    (void)p; (void)g; (void)unit; (void)cross; (void)why;
}
