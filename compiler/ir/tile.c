// Constructors of the tile level (see tile.h).
#include "ir/tile.h"

Node *node_new(Arena *a, NodeKind kind)
{
    Node *n = ARENA_NEW(a, Node);
    n->kind = kind;
    n->step = 1;
    n->unroll = 1;
    return n;
}

// ---- unroll and jam ---------------------------------------------------------------------------------------------------

typedef struct { const TileKernel *t; const Index *index; bool fine; } Jam;

static bool see_border(Expr *e, void *data)
{
    Jam *j = data;
    j->fine = j->fine && !(e->op == OP_READ && e->outside);
    return j->fine;
}

static bool moves(const TileKernel *t, const Node *op, const Index *index)
{
    const Storage *s = &t->storage[op->tensor->id];
    for (int d = 0; d < op->tensor->rank; d++)
        if (expr_uses(op->subs[d], index) && (s->kind == STORE_PARAM || s->dim[d].kind == DIM_FULL))
            return true;
    return s->kind == STORE_REGISTER;
}

static void see_operation(Jam *j, const Node *op)
{
    j->fine = op->op != OPK_SCAN && moves(j->t, op, j->index);
    if (j->fine && op->value)
        expr_walk(op->value, see_border, j);
    for (int i = 0; i < op->guards.n; i++)
        expr_walk(op->guards.at[i], see_border, j);
}

static void see_node(Jam *j, const Node *n)
{
    bool bounds = n->kind == NODE_LOOP && (expr_uses(n->index->lo, j->index) || expr_uses(n->index->hi, j->index));
    bool cond = n->kind == NODE_IF && expr_uses(n->cond, j->index);
    j->fine = !bounds && !cond && n->kind != NODE_GRID;
    if (j->fine && n->kind == NODE_OP)
        see_operation(j, n);
    for (int i = 0; j->fine && i < n->body.n; i++)
        see_node(j, n->body.at[i]);
}

bool node_can_jam(const TileKernel *t, const Node *loop)
{
    bool shape = loop->kind == NODE_LOOP && loop->role == LOOP_PARALLEL && loop->lanes <= 1 && loop->step == 1 && loop->locals.n == 0 && loop->body.n == 1;
    const Node *inner = shape ? loop->body.at[0] : NULL;
    if (!inner || inner->kind != NODE_LOOP || inner->lanes <= 1 || inner->role != LOOP_PARALLEL)
        return false;
    Jam j = { t, loop->index, true };
    see_node(&j, inner);
    return j.fine;
}

void node_append(Arena *a, Node *parent, Node *child)
{
    VEC_PUSH(a, &parent->body, child);
}
