// Order: which undeclared tensors need which.
//
// The type and shape of an undeclared tensor come from its equations, so those of the tensors that these read come
// first. Tarjan's algorithm (SIAM J. Comput. 1(2), 1972), with its own stack: a chain of many equations is as deep as
// it is long. Declared tensors cut the graph: what they are does not depend on their equations.
//
// Leaves: EquationInfo.reads, TensorInfo.component and Sema.components, dependences first.
// Test: tests/unit/test_sema.c
#include "sema/context.h"

// ---- which undeclared tensors an equation reads ----

static void collect_reads(Sema *s, EquationInfo *e, const Tree *t)
{
    if (!t) return;
    if (t->kind == TREE_NAME || t->kind == TREE_INDEX) {
        Symbol *symbol = sema_find(s, t->text);
        if (symbol && symbol->kind == SYM_TENSOR && !symbol->tensor->tensor->declared) VEC_PUSH(s->arena, &e->reads, symbol->tensor);
    }
    for (int i = 0; i < t->args.n; i++) collect_reads(s, e, t->args.at[i]);
    for (int i = 0; i < t->conds.n; i++) collect_reads(s, e, t->conds.at[i]);
    collect_reads(s, e, t->body);
}

// ---- components ----

typedef struct {
    TensorInfo *tensor;
    int equation, read;            // the next edge
} Frame;

typedef struct {
    Sema *sema;
    int *order, *low;              // by tensor id; order 0: not visited
    bool *open;
    int count;
    VEC(Frame) frames;
    VEC(TensorInfo *) stack;
} Search;

static int id(const TensorInfo *t) { return t->tensor->id; }

static void enter(Search *x, TensorInfo *t)
{
    x->order[id(t)] = x->low[id(t)] = ++x->count;
    x->open[id(t)] = true;
    VEC_PUSH(x->sema->arena, &x->stack, t);
    Frame f = {.tensor = t};
    VEC_PUSH(x->sema->arena, &x->frames, f);
}

// The next tensor that the frame's tensor reads, or NULL.
static TensorInfo *next_read(Frame *f)
{
    while (f->equation < f->tensor->equations.n) {
        const EquationInfo *e = f->tensor->equations.at[f->equation];
        if (f->read < e->reads.n) return e->reads.at[f->read++];
        f->equation++;
        f->read = 0;
    }
    return NULL;
}

static bool reads_itself(const TensorInfo *t)
{
    for (int i = 0; i < t->equations.n; i++)
        for (int j = 0; j < t->equations.at[i]->reads.n; j++)
            if (t->equations.at[i]->reads.at[j] == t) return true;
    return false;
}

static void close_component(Search *x, TensorInfo *root)
{
    Sema *s = x->sema;
    Component *c = ARENA_NEW(s->arena, Component);
    TensorInfo *t;
    do {
        t = x->stack.at[--x->stack.n];
        x->open[id(t)] = false;
        t->component = s->components.n;
        VEC_PUSH(s->arena, &c->tensors, t);
    } while (t != root);
    c->recurrent = c->tensors.n > 1 || reads_itself(root);
    VEC_PUSH(s->arena, &s->components, c);
}

static void leave(Search *x, TensorInfo *t)
{
    x->frames.n--;
    if (x->frames.n > 0) {
        int parent = id(x->frames.at[x->frames.n - 1].tensor);
        if (x->low[id(t)] < x->low[parent]) x->low[parent] = x->low[id(t)];
    }
    if (x->low[id(t)] == x->order[id(t)]) close_component(x, t);
}

static void visit(Search *x, TensorInfo *root)
{
    enter(x, root);
    while (x->frames.n > 0) {
        Frame *f = &x->frames.at[x->frames.n - 1];
        TensorInfo *t = f->tensor, *r = next_read(f);
        if (!r) leave(x, t);
        else if (!x->order[id(r)]) enter(x, r);
        else if (x->open[id(r)] && x->order[id(r)] < x->low[id(t)]) x->low[id(t)] = x->order[id(r)];
    }
}

void sema_order(Sema *s)
{
    for (int i = 0; i < s->equations.n; i++) collect_reads(s, s->equations.at[i], s->equations.at[i]->stmt->expr);
    int n = s->tensors.n + 1;
    Search x = {.sema = s, .order = ARENA_ARRAY(s->arena, int, n), .low = ARENA_ARRAY(s->arena, int, n), .open = ARENA_ARRAY(s->arena, bool, n)};
    for (int i = 0; i < s->tensors.n; i++) {
        TensorInfo *t = s->tensors.at[i];
        if (!t->tensor->declared && !x.order[i]) visit(&x, t);
    }
}
