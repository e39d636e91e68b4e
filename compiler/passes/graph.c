// graph: components of the dependence graph, and one common loop for several statements.
//
// Components are found by Tarjan's algorithm and put in topological order, the smallest statement first among those that
// are free. `graph_align` looks for a common loop: one index of each statement and a constant shift such that no dependence
// points backwards. Indices spread from the first statement along the dependences; shifts are the longest paths of the
// difference constraints shift(dst) - shift(src) >= -min distance.
#include "passes/plan.h"

#include <stdlib.h>
#include <string.h>

// ---- components -----------------------------------------------------------------------------------------------

typedef struct {
    int n;
    int *first, *next, *to;       // adjacency lists by local number
    int *low, *num, *stack, *comp;
    int *at, *path;               // the next edge of a statement; the way from the root
    int top, counter, ncomp;
    bool *on;
} Tarjan;

static void enter(Tarjan *t, int v)
{
    t->low[v] = t->num[v] = ++t->counter;
    t->stack[t->top++] = v;
    t->on[v] = true;
    t->at[v] = t->first[v];
}

// All edges of v are done: is it the root of a component?
static void leave(Tarjan *t, int v)
{
    if (t->low[v] != t->num[v])
        return;
    for (int w = -1; w != v;) {
        w = t->stack[--t->top];
        t->on[w] = false;
        t->comp[w] = t->ncomp;
    }
    t->ncomp++;
}

static void lower_to(Tarjan *t, int v, int least)
{
    t->low[v] = least < t->low[v] ? least : t->low[v];
}

// Without recursion: a chain of equations may be longer than the stack is deep.
static void connect(Tarjan *t, int root)
{
    int depth = 0;
    enter(t, root);
    t->path[depth++] = root;
    while (depth > 0) {
        int v = t->path[depth - 1], e = t->at[v];
        if (e < 0) {
            leave(t, v);
            depth--;
            if (depth > 0)
                lower_to(t, t->path[depth - 1], t->low[v]);
            continue;
        }
        int w = t->to[e];
        t->at[v] = t->next[e];
        if (!t->num[w]) {
            enter(t, w);
            t->path[depth++] = w;
        } else if (t->on[w]) {
            lower_to(t, v, t->num[w]);
        }
    }
}

// A heap of components by their least statement.
typedef struct { int *at, n; const int *least; } Heap;

static void heap_push(Heap *h, int c)
{
    int k = h->n++;
    for (; k > 0 && h->least[h->at[(k - 1) / 2]] > h->least[c]; k = (k - 1) / 2)
        h->at[k] = h->at[(k - 1) / 2];
    h->at[k] = c;
}

static int heap_pop(Heap *h)
{
    int top = h->at[0], last = h->at[--h->n], k = 0;
    for (int child = 1; child < h->n; child = 2 * k + 1) {
        child += child + 1 < h->n && h->least[h->at[child + 1]] < h->least[h->at[child]];
        if (h->least[h->at[child]] >= h->least[last])
            break;
        h->at[k] = h->at[child];
        k = child;
    }
    h->at[k] = last;
    return top;
}

// Kahn's algorithm over components; among the free ones the one with the smallest statement comes first.
static void topological(Arena *a, Tarjan *t, const int *edge_from, int nedges, int *order)
{
    int *waits = ARENA_ARRAY(a, int, t->ncomp + 1), *least = ARENA_ARRAY(a, int, t->ncomp + 1);
    int *head = ARENA_ARRAY(a, int, t->ncomp + 1), *link = ARENA_ARRAY(a, int, nedges + 1);
    Heap heap = { ARENA_ARRAY(a, int, t->ncomp + 1), 0, least };
    for (int c = 0; c < t->ncomp; c++)
        head[c] = -1;
    for (int v = t->n - 1; v >= 0; v--)
        least[t->comp[v]] = v;
    for (int e = 0; e < nedges; e++) {
        int from = t->comp[edge_from[e]], to = t->comp[t->to[e]];
        if (from == to)
            continue;
        waits[to]++;
        link[e] = head[from];
        head[from] = e;
    }
    for (int c = 0; c < t->ncomp; c++)
        if (waits[c] == 0)
            heap_push(&heap, c);
    for (int placed = 0; heap.n > 0;) {
        int pick = heap_pop(&heap);
        order[pick] = placed++;
        for (int e = head[pick]; e >= 0; e = link[e])
            if (--waits[t->comp[t->to[e]]] == 0)
                heap_push(&heap, t->comp[t->to[e]]);
    }
}

Components graph_components(Plan *p, const StmtList *stmts, const DepList *deps)
{
    Arena *a = arena_new();
    int n = stmts->n, nedges = 0;
    int *local = ARENA_ARRAY(a, int, p->g->stmts.n + 1);
    memset(local, -1, sizeof(int) * (size_t)p->g->stmts.n);
    for (int i = 0; i < n; i++)
        local[stmts->at[i]->id] = i;
    Tarjan t = { .n = n };
    t.first = ARENA_ARRAY(a, int, n + 1);
    t.low = ARENA_ARRAY(a, int, n + 1);
    t.num = ARENA_ARRAY(a, int, n + 1);
    t.stack = ARENA_ARRAY(a, int, n + 1);
    t.comp = ARENA_ARRAY(a, int, n + 1);
    t.at = ARENA_ARRAY(a, int, n + 1);
    t.path = ARENA_ARRAY(a, int, n + 1);
    t.on = ARENA_ARRAY(a, bool, n + 1);
    t.next = ARENA_ARRAY(a, int, deps->n + 1);
    t.to = ARENA_ARRAY(a, int, deps->n + 1);
    int *edge_from = ARENA_ARRAY(a, int, deps->n + 1);
    for (int i = 0; i < n; i++)
        t.first[i] = -1;
    for (int i = deps->n - 1; i >= 0; i--) {
        int s = local[deps->at[i]->src->id], d = local[deps->at[i]->dst->id];
        if (s < 0 || d < 0)
            continue;
        t.to[nedges] = d;
        edge_from[nedges] = s;
        t.next[nedges] = t.first[s];
        t.first[s] = nedges++;
    }
    for (int v = 0; v < n; v++)
        if (!t.num[v])
            connect(&t, v);
    int *order = ARENA_ARRAY(a, int, t.ncomp + 1);
    topological(a, &t, edge_from, nedges, order);
    Components c = { 0 };
    for (int i = 0; i < t.ncomp; i++)
        VEC_PUSH(p->a, &c, (StmtList){ 0 });
    for (int i = 0; i < n; i++)
        VEC_PUSH(p->a, &c.at[order[t.comp[i]]], stmts->at[i]);
    arena_free(a);
    return c;
}

static bool contains(const StmtList *l, const Stmt *s)
{
    for (int i = 0; i < l->n; i++)
        if (l->at[i] == s)
            return true;
    return false;
}

DepList graph_inner(Plan *p, const StmtList *stmts, const DepList *deps)
{
    DepList r = { 0 };
    bool *in = memory_new((size_t)p->g->stmts.n + 1, sizeof(bool));
    for (int i = 0; i < stmts->n; i++)
        in[stmts->at[i]->id] = true;
    for (int i = 0; i < deps->n; i++)
        if (in[deps->at[i]->src->id] && in[deps->at[i]->dst->id])
            VEC_PUSH(p->a, &r, deps->at[i]);
    free(in);
    return r;
}

bool graph_is_cyclic(const StmtList *stmts, const DepList *inner)
{
    if (stmts->n > 1)
        return true;
    for (int i = 0; i < inner->n; i++)
        if (inner->at[i]->src == inner->at[i]->dst && contains(stmts, inner->at[i]->src))
            return true;
    return false;
}

// ---- a common loop --------------------------------------------------------------------------------------------

Distance graph_distance(Plan *p, Dep *d, Theta src, Theta dst)
{
    if (src.idx < 0 || dst.idx < 0 || src.sign != dst.sign)
        return (Distance){ -DISTANCE_INF, DISTANCE_INF, true };
    Distance r = depend_distance(p->g, d, src.idx, dst.idx, src.sign);
    int64_t shift = dst.shift - src.shift;
    if (r.min > -DISTANCE_INF)
        r.min += shift;
    if (r.max < DISTANCE_INF)
        r.max += shift;
    return r;
}

// How well index b of the other end goes with the chosen one: smaller is better, negative is impossible.
static int64_t fitness(Distance r, bool parallel)
{
    if (parallel)
        return r.min == r.max ? llabs(r.min) : -1;
    if (r.min <= -DISTANCE_INF)
        return -1;
    int64_t spread = r.max >= DISTANCE_INF ? 1000000 : r.max - r.min;
    return llabs(r.min) + 4 * spread;
}

// The search for indices: statements are visited along the dependences, the best fitting index first, and a choice that
// contradicts one made before is taken back. A budget keeps it linear in practice.
typedef struct {
    Plan *p;
    const StmtList *stmts;
    const DepList *deps;
    const unsigned *allowed;
    Theta *theta;
    int sign, budget;
    bool parallel;
} Search;

// A dependence between a statement that has an index and one that has none yet.
static Dep *frontier(const Search *s)
{
    for (int i = 0; i < s->deps->n; i++) {
        Dep *d = s->deps->at[i];
        if ((s->theta[d->src->id].idx < 0) != (s->theta[d->dst->id].idx < 0))
            return d;
    }
    return NULL;
}

// Do all dependences between chosen statements that touch `x` agree?
static bool agrees(const Search *s, const Stmt *x)
{
    for (int i = 0; i < s->deps->n; i++) {
        Dep *d = s->deps->at[i];
        if ((d->src != x && d->dst != x) || s->theta[d->src->id].idx < 0 || s->theta[d->dst->id].idx < 0)
            continue;
        Distance r = graph_distance(s->p, d, s->theta[d->src->id], s->theta[d->dst->id]);
        if (s->parallel ? r.min != 0 || r.max != 0 : r.min <= -DISTANCE_INF)
            return false;
    }
    return true;
}

typedef struct { int idx; int64_t cost, shift; } Candidate;

static int candidates(const Search *s, Dep *d, bool forward, Candidate *c)
{
    const Stmt *other = forward ? d->dst : d->src;
    Theta known = s->theta[(forward ? d->src : d->dst)->id];
    int n = 0;
    for (int b = 0; b < (s->parallel ? other->nouter : other->n); b++) {
        if (s->allowed && !(s->allowed[other->id] >> b & 1))
            continue;
        Theta t = { b, s->sign, 0 };
        Distance r = forward ? graph_distance(s->p, d, known, t) : graph_distance(s->p, d, t, known);
        int64_t f = fitness(r, s->parallel);
        if (f < 0)
            continue;
        int at = n++;
        for (; at > 0 && c[at - 1].cost > f; at--)
            c[at] = c[at - 1];
        c[at] = (Candidate){ b, f, !s->parallel ? 0 : forward ? -r.min : r.min };
    }
    return n;
}

static bool search_indices(Search *s)
{
    Dep *d = frontier(s);
    if (!d) {
        for (int i = 0; i < s->stmts->n; i++)
            if (s->theta[s->stmts->at[i]->id].idx < 0)
                return false;
        return true;
    }
    bool forward = s->theta[d->src->id].idx >= 0;
    Stmt *other = forward ? d->dst : d->src;
    Candidate c[MAX_INDICES];
    int n = candidates(s, d, forward, c);
    for (int i = 0; i < n && s->budget-- > 0; i++) {
        s->theta[other->id] = (Theta){ c[i].idx, s->sign, c[i].shift };
        if (agrees(s, other) && search_indices(s))
            return true;
    }
    s->theta[other->id].idx = -1;
    return false;
}

static bool solve_shifts(Plan *p, const StmtList *stmts, const DepList *deps, Theta *theta)
{
    for (int round = 0; round <= stmts->n; round++) {
        bool changed = false;
        for (int i = 0; i < deps->n; i++) {
            Dep *d = deps->at[i];
            Distance r = graph_distance(p, d, theta[d->src->id], theta[d->dst->id]);
            if (r.min <= -DISTANCE_INF)
                return false;
            if (r.min >= 0)
                continue;
            if (d->src == d->dst)
                return false;
            theta[d->dst->id].shift -= r.min;
            changed = true;
        }
        if (!changed)
            return true;
    }
    return false;
}

bool graph_align(Plan *p, const StmtList *stmts, const DepList *deps, int idx, int sign, bool parallel, const unsigned *allowed, Theta *theta)
{
    for (int i = 0; i < stmts->n; i++)
        theta[stmts->at[i]->id] = (Theta){ -1, sign, 0 };
    theta[stmts->at[0]->id] = (Theta){ idx, sign, 0 };
    Search s = { p, stmts, deps, allowed, theta, sign, 64 + 16 * stmts->n, parallel };
    if (!agrees(&s, stmts->at[0]) || !search_indices(&s))
        return false;
    return parallel || solve_shifts(p, stmts, deps, theta);
}
