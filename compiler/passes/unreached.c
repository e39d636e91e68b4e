// unreached: reads of registers and scratch where they do not exist.
//
// A register lives in the iterations that compute it, scratch in a task. Where loops are split, or a condition never holds, a
// reading operation can end up outside of them: `if i < K - 1 then t[i] else 0` at an i where t has no element. Every element
// that is read is computed (guarantee 2), in the same iteration or task (else its storage were another), so such a read is
// never evaluated; it becomes a zero. Leaves the invariant of ir/tile.h that a register is used only below the node that
// lists it. Test: tests/golden/random
#include "passes/plan.h"

typedef struct {
    Plan *p;
    const TileKernel *t;
    bool *alive;                  // by tensor id: a register that a node around lists
    const Node *grid;             // around
} Scope;

static Expr *zero(Arena *a, const Expr *e)
{
    return dtype_is_float(e->type) ? expr_float(a, e->type, 0, e->range) : expr_int(a, e->type, 0, e->range);
}

static bool exists(const Scope *s, const Tensor *t)
{
    StorageKind kind = s->t->storage[t->id].kind;
    const StmtList *writers = &s->p->g->writers[t->id];
    if (kind == STORE_REGISTER)
        return s->alive[t->id];
    return kind != STORE_SCRATCH || (writers->n > 0 && plan_of(s->p, writers->at[0])->leaf->node == s->grid);
}

static Expr *replace(const Scope *s, Expr *e)
{
    if (e->op == OP_READ && !exists(s, e->tensor))
        return zero(s->p->a, e);
    Expr *copy = e;
    for (int i = 0; i < e->n; i++) {
        Expr *x = replace(s, e->args[i]);
        if (x == e->args[i])
            continue;
        if (copy == e) {
            copy = ARENA_NEW(s->p->a, Expr);
            *copy = *e;
            copy->args = ARENA_ARRAY(s->p->a, Expr *, e->n);
            for (int k = 0; k < e->n; k++)
                copy->args[k] = e->args[k];
        }
        copy->args[i] = x;
    }
    return copy;
}

static void visit(Scope *s, Node *n)
{
    if (n->kind == NODE_GRID)
        s->grid = n;
    for (int i = 0; i < n->locals.n; i++)
        s->alive[n->locals.at[i]->id] = true;
    if (n->value)
        n->value = replace(s, n->value);
    for (int i = 0; i < n->guards.n; i++)
        n->guards.at[i] = replace(s, n->guards.at[i]);
    for (int i = 0; i < n->body.n; i++)
        visit(s, n->body.at[i]);
    for (int i = 0; i < n->locals.n; i++)
        s->alive[n->locals.at[i]->id] = false;
}

void unreached_reads(Plan *p, TileKernel *t)
{
    Scope s = { p, t, ARENA_ARRAY(p->a, bool, p->kernel->tensors.n + 1), NULL };
    visit(&s, t->root);
}
