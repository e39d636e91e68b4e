// tidy: takes out of the tree what turned out to be needed by nobody.
//
// Where a condition never holds, the reads under it are gone (see unreached.c); then operations whose result nobody reads
// any more go too, with the loops around nothing. A register is listed only by the nodes nearest to its uses.
// Test: tests/golden/random/never_read.pto, one_point.pto (emitted C without warnings)
#include "passes/plan.h"

typedef struct { TileKernel *t; bool *read; } Tidy;           // by tensor id: somebody reads it; a register, near where one is

static bool see_read(Expr *e, void *data)
{
    Tidy *y = data;
    if (e->op == OP_READ)
        y->read[e->tensor->id] = true;
    return true;
}

static void see_reads(Tidy *y, const Node *n)
{
    if (n->value)
        expr_walk(n->value, see_read, y);
    for (int i = 0; i < n->guards.n; i++)
        expr_walk(n->guards.at[i], see_read, y);
    for (int d = 0; n->kind == NODE_OP && d < n->tensor->rank; d++)
        expr_walk(n->subs[d], see_read, y);
    for (int i = 0; i < n->body.n; i++)
        see_reads(y, n->body.at[i]);
}

static void find_reads(Tidy *y)
{
    const Kernel *k = y->t->kernel;
    for (int i = 0; i < k->tensors.n; i++)
        y->read[i] = k->tensors.at[i]->kind == TENSOR_INPUT || k->tensors.at[i]->kind == TENSOR_OUTPUT;
    for (int i = 0; i < k->logs.n; i++)
        for (int j = 0; j < k->logs.at[i]->args.n; j++)
            expr_walk(k->logs.at[i]->args.at[j], see_read, y);
    see_reads(y, y->t->root);
}

static bool is_needed(const Tidy *y, const Node *n)
{
    return n->kind == NODE_OP ? y->read[n->tensor->id] : n->body.n > 0 || n->kind == NODE_GRID;
}

// Did something go? A register is needed where one of the iterations that it lives in reads it: of two halves of a loop,
// the one without the reader has no use for it.
static bool drop(Tidy *y, Node *n)
{
    bool dropped = false;
    int kept = 0;
    for (int i = 0; i < n->locals.n; i++)
        y->read[n->locals.at[i]->id] = false;
    if (n->locals.n > 0)
        see_reads(y, n);
    for (int i = 0; i < n->body.n; i++) {
        Node *b = n->body.at[i];
        dropped = drop(y, b) || dropped;
        if (is_needed(y, b))
            n->body.at[kept++] = b;
    }
    dropped = dropped || kept < n->body.n;
    n->body.n = kept;
    for (int i = 0; i < n->locals.n; i++)
        y->read[n->locals.at[i]->id] = true;              // as far as nodes around this one are concerned
    return dropped;
}

// ---- registers ----------------------------------------------------------------------------------------------------

static bool lists(const Node *n, const Tensor *t)
{
    for (int i = 0; i < n->locals.n; i++)
        if (n->locals.at[i] == t)
            return true;
    return false;
}

typedef struct { const Tensor *tensor; bool found; } Use;

static bool see_use(Expr *e, void *data)
{
    Use *u = data;
    u->found = u->found || (e->op == OP_READ && e->tensor == u->tensor);
    return !u->found;
}

static bool uses(const Node *n, const Tensor *t)
{
    Use u = { t, n->kind == NODE_OP && n->tensor == t };
    if (n->value)
        expr_walk(n->value, see_use, &u);
    for (int i = 0; i < n->guards.n; i++)
        expr_walk(n->guards.at[i], see_use, &u);
    for (int i = 0; i < n->body.n && !u.found; i++)
        u.found = !lists(n->body.at[i], t) && uses(n->body.at[i], t);
    return u.found;
}

static void prune_locals(Node *n)
{
    int kept = 0;
    for (int i = 0; i < n->locals.n; i++)
        if (uses(n, n->locals.at[i]))
            n->locals.at[kept++] = n->locals.at[i];
    n->locals.n = kept;
    for (int i = 0; i < n->body.n; i++)
        prune_locals(n->body.at[i]);
}

void tidy_kernel(Plan *p, TileKernel *t)
{
    Tidy y = { t, ARENA_ARRAY(p->a, bool, p->kernel->tensors.n + 1) };
    do
        find_reads(&y);
    while (drop(&y, t->root));
    find_reads(&y);
    prune_locals(t->root);
    for (int i = 0; i < p->kernel->tensors.n; i++)
        if (!y.read[i])
            t->storage[i].kind = STORE_NONE;
}
