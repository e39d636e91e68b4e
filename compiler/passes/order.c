// order: the point loops inside a leaf.
//
// Level by level: the components of what is left of the dependences are visited in topological order; each shares the
// loop of an earlier group when all distances between them are >= 0 (a constant shift may see to that) and exactly 0 in
// a vector loop; else it gets a loop of its own, after it. Dependences that a loop carries (distance >= 1) are
// satisfied and left out below. Loops that accumulate come last, vector loops innermost among the others.
//
// A component that stays cyclic with no loop to carry it is an error: guarantee 3, well-foundedness.
// Tests: tests/golden/order*.pto, tests/errors/cycle*.pto, tests/run
#include "passes/plan.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SHIFT = 32 };

typedef struct { StmtList stmts; Loop *loop; } Group;
typedef VEC(Group) Groups;

typedef struct {
    Plan *p;
    Leaf *leaf;
    Theta *theta;                 // by statement id: the loop chosen at this level
    Theta *trial;
    unsigned *allowed;
    int *group;                   // by statement id: position in Groups, or -1
} Order;

static bool order_list(Order *o, const StmtList *stmts, const DepList *deps);

// ---- candidates -----------------------------------------------------------------------------------------------

// The free indices of a statement, in the order in which they are best tried.
static int preferences(const StmtPlan *sp, int *pref)
{
    const Stmt *s = sp->stmt;
    int n = 0;
    for (int pass = 0; pass < 4; pass++)
        for (int i = 0; i < s->n; i++) {
            bool reduced = i >= s->nouter, vector = i == sp->vecdim;
            if ((sp->free >> i & 1) && pass == 2 * reduced + vector)
                pref[n++] = i;
        }
    return n;
}

static bool wants_vector(Order *o, const StmtList *l, const Theta *theta)
{
    for (int i = 0; i < l->n; i++) {
        const StmtPlan *sp = plan_of(o->p, l->at[i]);
        if (sp->vecdim >= 0 && theta[l->at[i]->id].idx == sp->vecdim)
            return true;
    }
    return false;
}

static bool has_free(Order *o, const StmtList *l)
{
    for (int i = 0; i < l->n; i++)
        if (plan_of(o->p, l->at[i])->free == 0)
            return false;
    return true;
}

static bool same_box(const Stmt *x, const Stmt *y, int i, int j)
{
    return expr_equal(x->index[i]->lo, y->index[j]->lo) && expr_equal(x->index[i]->hi, y->index[j]->hi) && x->eq->conds.n == 0 && y->eq->conds.n == 0;
}

// ---- joining --------------------------------------------------------------------------------------------------

// Do the trial choices of `c` go with group g's loop? Shifts the trial so that they do.
static bool fits(Order *o, const Group *g, const StmtList *c, const DepList *cross)
{
    bool vector = g->loop->vector || wants_vector(o, c, o->trial);
    int64_t min = DISTANCE_INF, max = -DISTANCE_INF;
    int sign = o->trial[c->at[0]->id].sign;
    if (o->theta[g->stmts.at[0]->id].sign != sign)
        return false;
    for (int i = 0; i < cross->n; i++) {
        Dep *d = cross->at[i];
        Distance r = graph_distance(o->p, d, o->theta[d->src->id], o->trial[d->dst->id]);
        min = r.min < min ? r.min : min;
        max = r.max > max ? r.max : max;
    }
    if (cross->n == 0) {
        const Stmt *x = g->stmts.at[0], *y = c->at[0];
        return c->n == 1 && x->kind == STMT_MAP && y->kind == STMT_MAP && same_box(x, y, o->theta[x->id].idx, o->trial[y->id].idx);
    }
    if (vector && (min != 0 || max != 0))
        return false;
    if (min <= -DISTANCE_INF || max >= DISTANCE_INF)
        return false;
    int64_t shift = min < 0 ? -min : 0;
    if (max + shift > MAX_SHIFT)
        return false;
    for (int i = 0; i < c->n; i++)
        o->trial[c->at[i]->id].shift += shift;
    return true;
}

static DepList between(Order *o, const DepList *deps, int group, const StmtList *c)
{
    DepList r = { 0 };
    for (int i = 0; i < deps->n; i++) {
        Dep *d = deps->at[i];
        if (o->group[d->src->id] != group)
            continue;
        for (int j = 0; j < c->n; j++)
            if (c->at[j] == d->dst) {
                VEC_PUSH(o->p->a, &r, d);
                break;
            }
    }
    return r;
}

// Sets the trial to the next workable choice at or after *k among (sign, preference); false: no more.
static bool next_choice(Order *o, const StmtList *c, const DepList *inner, int *k)
{
    int pref[MAX_INDICES], n = preferences(plan_of(o->p, c->at[0]), pref);
    for (; *k < 2 * n; (*k)++)
        if (graph_align(o->p, c, inner, pref[*k % n], *k < n ? 1 : -1, false, o->allowed, o->trial)) {
            (*k)++;
            return true;
        }
    return false;
}

static void take(Order *o, Group *g, int position, const StmtList *c)
{
    for (int i = 0; i < c->n; i++) {
        o->theta[c->at[i]->id] = o->trial[c->at[i]->id];
        o->group[c->at[i]->id] = position;
        VEC_PUSH(o->p->a, &g->stmts, c->at[i]);
    }
    if (g->loop)
        g->loop->vector = g->loop->vector || wants_vector(o, c, o->trial);
}

static bool join(Order *o, Groups *groups, int least, const StmtList *c, const DepList *deps, const DepList *inner)
{
    for (int g = groups->n - 1; g >= least && g >= 0; g--) {
        if (!groups->at[g].loop)
            continue;
        DepList cross = between(o, deps, g, c);
        for (int k = 0; next_choice(o, c, inner, &k);)
            if (fits(o, &groups->at[g], c, &cross)) {
                take(o, &groups->at[g], g, c);
                return true;
            }
    }
    return false;
}

// ---- groups of one level --------------------------------------------------------------------------------------

static Loop *new_loop(Order *o)
{
    Loop *loop = ARENA_NEW(o->p->a, Loop);
    loop->id = o->p->loops.n;
    VEC_PUSH(o->p->a, &o->p->loops, loop);
    return loop;
}

static void insert_group(Order *o, Groups *groups, int at)
{
    VEC_PUSH(o->p->a, groups, (Group){ .loop = NULL });
    for (int g = groups->n - 1; g > at; g--) {
        groups->at[g] = groups->at[g - 1];
        for (int i = 0; i < groups->at[g].stmts.n; i++)
            o->group[groups->at[g].stmts.at[i]->id] = g;
    }
    groups->at[at] = (Group){ .loop = NULL };
}

static void report_cycle(Order *o, const StmtList *c)
{
    const Stmt *first = c->at[0];
    diag_report(o->p->g->diags, D_CYCLE, first->eq->lhs_range, "no order found in which every element of `%s` comes after what it is computed from", first->eq->lhs->name);
    for (int i = 0; i < c->n; i++)
        if (c->at[i]->kind != STMT_INIT && c->at[i]->eq->origin >= 0)
            diag_note(o->p->g->diags, c->at[i]->eq->range, "`%s` is part of the cycle", c->at[i]->eq->lhs->name);
    diag_help(o->p->g->diags, "every dependence must go forward (or backward) along one common index; check the shifts on the right");
}

static bool place(Order *o, Groups *groups, const StmtList *c, const DepList *deps)
{
    DepList inner = graph_inner(o->p, c, deps);
    int least = -1;
    for (int i = 0; i < deps->n; i++)
        for (int j = 0; j < c->n; j++)
            if (deps->at[i]->dst == c->at[j] && o->group[deps->at[i]->src->id] > least)
                least = o->group[deps->at[i]->src->id];
    bool loops = has_free(o, c);
    if (loops && join(o, groups, least, c, deps, &inner))
        return true;
    if (!loops) {
        if (graph_is_cyclic(c, &inner)) {
            report_cycle(o, c);
            return false;
        }
        int at = least + 1;                       // as early as it can be, after others of its kind
        while (at < groups->n && !groups->at[at].loop)
            at++;
        insert_group(o, groups, at);
        for (int i = 0; i < c->n; i++)
            o->trial[c->at[i]->id] = (Theta){ -1, 1, 0 };
        take(o, &groups->at[at], at, c);
        return true;
    }
    int k = 0;
    if (!next_choice(o, c, &inner, &k)) {
        report_cycle(o, c);
        return false;
    }
    VEC_PUSH(o->p->a, groups, (Group){ .loop = new_loop(o) });
    take(o, &groups->at[groups->n - 1], groups->n - 1, c);
    return true;
}

// ---- loops ----------------------------------------------------------------------------------------------------

static DepList describe_loop(Order *o, Group *g, const DepList *deps)
{
    Loop *loop = g->loop;
    DepList inner = graph_inner(o->p, &g->stmts, deps), rest = { 0 };
    const Stmt *first = g->stmts.at[0];
    loop->name = first->index[o->theta[first->id].idx]->name;
    loop->parallel = true;
    for (int i = 0; i < g->stmts.n; i++) {
        const Stmt *s = g->stmts.at[i];
        int idx = o->theta[s->id].idx;
        loop->reduce = loop->reduce || (s->kind == STMT_UPDATE && idx >= s->nouter);
        loop->scan = loop->scan || (s->kind == STMT_SCAN && s->index[idx] == s->eq->nest->along);
    }
    for (int i = 0; i < inner.n; i++) {
        Dep *d = inner.at[i];
        Distance r = graph_distance(o->p, d, o->theta[d->src->id], o->theta[d->dst->id]);
        bool carry = d->src == d->dst && !d->read;
        if ((r.min != 0 || r.max != 0) && !carry)
            loop->parallel = false;
        if (r.min < 1)
            VEC_PUSH(o->p->a, &rest, d);
    }
    return rest;
}

static bool order_group(Order *o, Group *g, int seq, const DepList *deps)
{
    DepList rest = { 0 };
    if (g->loop)
        rest = describe_loop(o, g, deps);
    for (int i = 0; i < g->stmts.n; i++) {
        StmtPlan *sp = plan_of(o->p, g->stmts.at[i]);
        Theta t = o->theta[g->stmts.at[i]->id];
        sp->path[sp->npath++] = (PathEntry){ g->loop, t, seq };
        if (t.idx >= 0) {
            sp->free &= ~(1u << t.idx);
            o->allowed[sp->stmt->id] = sp->free;
        }
    }
    return g->loop ? order_list(o, &g->stmts, &rest) : true;
}

static bool order_list(Order *o, const StmtList *stmts, const DepList *deps)
{
    Components c = graph_components(o->p, stmts, deps);
    Groups groups = { 0 };
    for (int i = 0; i < stmts->n; i++)
        o->group[stmts->at[i]->id] = -1;
    for (int i = 0; i < c.n; i++)
        if (!place(o, &groups, &c.at[i], deps))
            return false;
    // The choices of this level, kept apart from those of the levels below.
    Theta *mine = malloc(sizeof(Theta) * (size_t)(stmts->n + 1));
    for (int i = 0; i < stmts->n; i++)
        mine[i] = o->theta[stmts->at[i]->id];
    bool fine = true;
    for (int g = 0; fine && g < groups.n; g++) {
        for (int i = 0; i < stmts->n; i++)
            o->theta[stmts->at[i]->id] = mine[i];
        fine = order_group(o, &groups.at[g], g, deps);
    }
    free(mine);
    return fine;
}

bool order_leaf(Plan *p, Leaf *leaf)
{
    int n = p->g->stmts.n;
    Order o = { .p = p, .leaf = leaf };
    o.theta = calloc((size_t)n + 1, sizeof(Theta));
    o.trial = calloc((size_t)n + 1, sizeof(Theta));
    o.allowed = calloc((size_t)n + 1, sizeof(unsigned));
    o.group = calloc((size_t)n + 1, sizeof(int));
    for (int i = 0; i < n; i++)
        o.group[i] = -1;
    for (int i = 0; i < leaf->stmts.n; i++) {
        StmtPlan *sp = plan_of(p, leaf->stmts.at[i]);
        sp->free = (1u << sp->stmt->n) - 1;
        for (int k = 0; k < sp->npath; k++)
            if (sp->path[k].theta.idx >= 0)
                sp->free &= ~(1u << sp->path[k].theta.idx);
        sp->vecdim = stride_vector_index(p, sp->stmt);
        o.allowed[sp->stmt->id] = sp->free;
    }
    bool fine = order_list(&o, &leaf->stmts, &leaf->deps);
    free(o.theta);
    free(o.trial);
    free(o.allowed);
    free(o.group);
    return fine;
}
