// task: the task of a grid as one operation of the scalar unit, which runs every program.
#include "bundles/place.h"

static const Equation *first_equation(const Node *n)
{
    if (n->kind == NODE_OP)
        return n->eq;
    const Equation *eq = NULL;
    for (int i = 0; i < n->body.n && !eq; i++)
        eq = first_equation(n->body.at[i]);
    return eq;
}

BundleProgram *place_task(Arena *a, const Node *grid)
{
    BundleProgram *p = ARENA_NEW(a, BundleProgram);
    MoveOp *op = ARENA_NEW(a, MoveOp);
    *op = (MoveOp){ .unit = UNIT_SCALAR, .kind = MOVE_TASK, .signal = { -1, -1 }, .eq = first_equation(grid) };
    VEC_PUSH(a, &p->ops, op);
    Bundle b = { .nwaits = 0 };
    for (int u = 0; u < MAX_UNITS; u++)
        b.op[u] = u == UNIT_SCALAR ? 0 : -1;
    VEC_PUSH(a, &p->bundles, b);
    return p;
}
