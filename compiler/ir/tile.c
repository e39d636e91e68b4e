// Constructors of the tile level (see tile.h).
#include "ir/tile.h"

#include "ir/linear.h"

Node *node_new(Arena *a, NodeKind kind)
{
    Node *n = ARENA_NEW(a, Node);
    n->kind = kind;
    n->step = 1;
    n->unroll = 1;
    return n;
}

// ---- bounds from data -----------------------------------------------------------------------------------------------------

static bool is_interval(Op op) { return op == OP_LT || op == OP_LE || op == OP_GT || op == OP_GE || op == OP_EQ; }

bool loop_bound(Arena *a, Index *index, const Expr *cond, LoopBound *b)
{
    if (!is_interval(cond->op) || cond->args[0]->type != DT_INDEX || expr_uses(cond->args[1], index) || !(cond->args[1]->type == DT_INDEX || dtype_is_int(cond->args[1]->type)))
        return false;
    bool linear = true;
    Expr *x = cond->args[0], *zero = expr_int(a, DT_INDEX, 0, x->range);
    *b = (LoopBound){ .op = cond->op, .scale = linear_coefficient(x, index, &linear), .limit = cond->args[1] };
    if (!linear || b->scale == 0 || b->scale == INT64_MIN)
        return false;
    b->shift = expr_simplify(a, expr_substitute(a, x, 1, &index, &zero));
    return true;
}

bool loop_range_uses(const Node *loop, const Index *index)
{
    bool uses = expr_uses(loop->index->lo, index) || expr_uses(loop->index->hi, index);
    for (int i = 0; i < loop->bounds.n; i++)
        uses = uses || expr_uses(loop->bounds.at[i], index);
    return uses;
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
    bool bounds = n->kind == NODE_LOOP && loop_range_uses(n, j->index);
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
