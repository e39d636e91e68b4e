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
    int top, counter, ncomp;
    bool *on;
} Tarjan;

static void connect(Tarjan *t, int v)
{
    t->low[v] = t->num[v] = ++t->counter;
    t->stack[t->top++] = v;
    t->on[v] = true;
    for (int e = t->first[v]; e >= 0; e = t->next[e]) {
        int w = t->to[e];
        if (!t->num[w]) {
            connect(t, w);
            t->low[v] = t->low[w] < t->low[v] ? t->low[w] : t->low[v];
        } else if (t->on[w] && t->num[w] < t->low[v]) {
            t->low[v] = t->num[w];
        }
    }
    if (t->low[v] != t->num[v])
        return;
    for (int w = -1; w != v;) {
        w = t->stack[--t->top];
        t->on[w] = false;
        t->comp[w] = t->ncomp;
    }
    t->ncomp++;
}

// Kahn's algorithm over components; among the free ones the one with the smallest statement comes first.
static void topological(Arena *a, Tarjan *t, const int *edge_from, int nedges, int *order)
{
    int *waits = ARENA_ARRAY(a, int, t->ncomp + 1), *least = ARENA_ARRAY(a, int, t->ncomp + 1);
    int *head = ARENA_ARRAY(a, int, t->ncomp + 1), *link = ARENA_ARRAY(a, int, nedges + 1);
    bool *done = ARENA_ARRAY(a, bool, t->ncomp + 1);
    for (int c = 0; c < t->ncomp; c++) {
        least[c] = t->n;
        head[c] = -1;
    }
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
    int *by_least = ARENA_ARRAY(a, int, t->n + 1);          // component at its least statement, or -1
    for (int v = 0; v < t->n; v++)
        by_least[v] = least[t->comp[v]] == v ? t->comp[v] : -1;
    int placed = 0, from = 0;
    while (placed < t->ncomp) {
        int pick = -1;
        for (int v = from; v < t->n && pick < 0; v++)
            if (by_least[v] >= 0 && !done[by_least[v]] && waits[by_least[v]] == 0)
                pick = by_least[v];
        done[pick] = true;
        order[pick] = placed++;
        while (from < t->n && (by_least[from] < 0 || done[by_least[from]]))
            from++;
        for (int e = head[pick]; e >= 0; e = link[e])
            waits[t->comp[t->to[e]]]--;
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
    bool *in = calloc((size_t)p->g->stmts.n + 1, sizeof(bool));
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

static int best_index(Plan *p, Dep *d, const Theta *known, bool forward, bool parallel, const unsigned *allowed)
{
    const Stmt *other = forward ? d->dst : d->src;
    int limit = parallel ? other->nouter : other->n, best = -1;
    int64_t cost = 0;
    for (int b = 0; b < limit; b++) {
        if (allowed && !(allowed[other->id] >> b & 1))
            continue;
        Theta t = { b, known->sign, 0 }, k = { known->idx, known->sign, 0 };
        int64_t f = fitness(forward ? graph_distance(p, d, k, t) : graph_distance(p, d, t, k), parallel);
        if (f >= 0 && (best < 0 || f < cost)) {
            best = b;
            cost = f;
        }
    }
    return best;
}

static bool spread_indices(Plan *p, const StmtList *stmts, const DepList *deps, int sign, bool parallel, const unsigned *allowed, Theta *theta)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < deps->n; i++) {
            Dep *d = deps->at[i];
            Theta *s = &theta[d->src->id], *t = &theta[d->dst->id];
            if ((s->idx < 0) == (t->idx < 0))
                continue;
            bool forward = s->idx >= 0;
            Theta *known = forward ? s : t, *unknown = forward ? t : s;
            int b = best_index(p, d, known, forward, parallel, allowed);
            if (b < 0)
                return false;
            *unknown = (Theta){ b, sign, 0 };
            if (parallel) {
                Distance r = graph_distance(p, d, *s, *t);
                unknown->shift = forward ? -r.min : r.min;
            }
            changed = true;
        }
    }
    for (int i = 0; i < stmts->n; i++)
        if (theta[stmts->at[i]->id].idx < 0)
            return false;
    return true;
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

static bool all_zero(Plan *p, const DepList *deps, const Theta *theta)
{
    for (int i = 0; i < deps->n; i++) {
        Distance r = graph_distance(p, deps->at[i], theta[deps->at[i]->src->id], theta[deps->at[i]->dst->id]);
        if (r.min != 0 || r.max != 0)
            return false;
    }
    return true;
}

bool graph_align(Plan *p, const StmtList *stmts, const DepList *deps, int idx, int sign, bool parallel, const unsigned *allowed, Theta *theta)
{
    for (int i = 0; i < stmts->n; i++)
        theta[stmts->at[i]->id] = (Theta){ -1, sign, 0 };
    theta[stmts->at[0]->id] = (Theta){ idx, sign, 0 };
    if (!spread_indices(p, stmts, deps, sign, parallel, allowed, theta))
        return false;
    return parallel ? all_zero(p, deps, theta) : solve_shifts(p, stmts, deps, theta);
}
