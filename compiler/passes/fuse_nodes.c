// fuse_nodes: the nodes of groups: grids, waves, sequential loops, serial code.
//
// A group with parallel loops becomes a grid. A recurrence without any runs as a wave of tiles when two of its loops are
// permutable, else as a sequential loop around what `fuse_list` makes of its body, when that finds something
// parallel; else as serial code. Leaves get their statements, dependences and intervals here. Test: see fuse.c
#include "passes/fuse.h"

#include "passes/explain.h"
#include "passes/plan_sets.h"
#include "passes/schedule_check.h"
#include "passes/tile_size.h"

// ---- nodes ----------------------------------------------------------------------------------------------------

static Leaf *new_leaf(Fuse *f, const Group *g, Node *node, int depth)
{
    Leaf *leaf = ARENA_NEW(f->p->a, Leaf);
    *leaf = (Leaf){ .id = f->p->leaves.n, .stmts = g->stmts, .deps = g->inner, .node = node, .nouter = depth, .why = g->why };
    VEC_PUSH(f->p->a, &f->p->leaves, leaf);
    for (int i = 0; i < g->stmts.n; i++)
        plan_of(f->p, g->stmts.at[i])->leaf = leaf;
    return leaf;
}

static Index *new_index(Arena *a, const char *name)
{
    Index *x = ARENA_NEW(a, Index);
    x->name = name;
    return x;
}

static const char *theta_name(const Stmt *s, Theta t)
{
    return t.idx >= 0 ? s->index[t.idx]->name : "t";
}

static bool uses_grid(const StmtPlan *sp, const Expr *e)
{
    for (int q = 0; q < sp->nintervals; q++)
        if (sp->interval[q].theta.idx >= 0 && expr_uses(e, sp->stmt->index[sp->interval[q].theta.idx]))
            return true;
    return false;
}

// Do the tiles of a statement differ in work: bounds of inner loops that the grid's indices move, conditions on several?
static bool is_uneven(Plan *p, const StmtPlan *sp)
{
    const Stmt *s = sp->stmt;
    for (int k = 0; k < s->n; k++) {
        bool even = true;
        if (uses_grid(sp, s->index[k]->lo) || uses_grid(sp, s->index[k]->hi))
            tile_size_extent(p, s, k, &even);
        if (!even)
            return true;
    }
    for (int i = 0; i < s->eq->conds.n; i++) {
        int used = 0;
        for (int k = 0; k < s->n; k++)
            used += expr_uses(s->eq->conds.at[i], s->index[k]);
        if (used > 1 && uses_grid(sp, s->eq->conds.at[i]))
            return true;
    }
    return false;
}

// Static or dynamic, where nothing else was said; the reason.
static const char *choose_mode(Fuse *f, Leaf *leaf)
{
    Node *n = leaf->node;
    if (n->mode != MODE_AUTO)
        return "as the schedule says";
    n->mode = MODE_STATIC;
    for (int i = 0; i < leaf->stmts.n; i++)
        if (is_uneven(f->p, plan_of(f->p, leaf->stmts.at[i]))) {
            n->mode = MODE_DYNAMIC;
            return arena_printf(f->p->a, "the tiles of %s differ in work", stmt_text(f->p->a, f->p->g, leaf->stmts.at[i]));
        }
    return "all tiles are alike, and each worker finds its own again";
}

static Node *grid_node(Fuse *f, Group *g, int depth, GridMode mode, const ParallelWish *wish)
{
    Arena *a = f->p->a;
    Node *n = node_new(a, NODE_GRID);
    n->mode = wish && wish->mode != MODE_AUTO ? wish->mode : mode;
    n->max_workers = wish ? wish->max : 0;
    n->ndims = g->ndims;
    for (int q = 0; mode == MODE_WAVE && q < g->ndims; q++) {
        n->noffsets = g->ndims;
        n->offsets[q][q] = 1;
    }
    Leaf *leaf = new_leaf(f, g, n, depth);
    for (int q = 0; q < g->ndims; q++) {
        GridDim *d = &n->dims[q];
        const Stmt *first = g->stmts.at[0];
        d->name = theta_name(first, f->member[first->id].theta[q]);
        d->lo = new_index(a, arena_printf(a, "%s_lo", d->name));
        d->hi = new_index(a, arena_printf(a, "%s_hi", d->name));
        for (int i = 0; i < g->stmts.n; i++) {
            StmtPlan *sp = plan_of(f->p, g->stmts.at[i]);
            const Member *m = &f->member[g->stmts.at[i]->id];
            plan_widen(f->p, sp, m->theta[q], m->before[q], m->after[q], d);
        }
        for (int i = 0; i < g->stmts.n; i++) {
            StmtPlan *sp = plan_of(f->p, g->stmts.at[i]);
            const Member *m = &f->member[g->stmts.at[i]->id];
            sp->interval[sp->nintervals++] = (Interval){ d->lo, d->hi, m->theta[q], m->before[q], m->after[q] };
        }
    }
    const char *why = choose_mode(f, leaf);
    explain_grid(f->p, leaf, why);
    tile_size_choose(f->p, leaf);
    return n;
}

static Node *serial_node(Fuse *f, Group *g, int depth)
{
    Node *n = node_new(f->p->a, NODE_GRID);           // without dims: serial
    explain_grid(f->p, new_leaf(f, g, n, depth), NULL);
    return n;
}

// ---- recurrences ----------------------------------------------------------------------------------------------

typedef bool (*Accepts)(Fuse *f, const Group *g, const Theta *theta);

// A common loop along which no dependence points backwards, other than `not`, that is accepted.
static bool align_any(Fuse *f, const Group *g, const Theta *not, Accepts accepts, Theta *theta)
{
    const Stmt *first = g->stmts.at[0];
    for (int sign = 1; sign >= -1; sign -= 2)
        for (int i = 0; i < first->n; i++) {
            if ((not && not->idx == i) || !fuse_is_free(f, first, i))
                continue;
            if (graph_align(f->p, &g->stmts, &g->inner, i, sign, false, f->allowed, theta) && accepts(f, g, theta))
                return true;
        }
    return false;
}

// Room for a choice of loops by statement id; recurrences inside outer loops need theirs while those around keep their own.
static Theta *candidate(Fuse *f, int depth, int which)
{
    Theta **t = &f->loops[depth < MAX_LOOPS ? depth : MAX_LOOPS - 1][which];
    if (!*t)
        *t = ARENA_ARRAY(f->p->a, Theta, f->p->g->stmts.n + 1);
    return *t;
}

static void set_loop(Fuse *f, Group *g, int q, const Theta *theta)
{
    for (int i = 0; i < g->stmts.n; i++) {
        Member *m = &f->member[g->stmts.at[i]->id];
        m->theta[q] = theta[g->stmts.at[i]->id];
        m->before[q] = m->after[q] = 0;
    }
}

// Two permutable loops: tiles in a wave. One alone when a schedule asks for that.
static Node *wave_node(Fuse *f, Group *g, const ParallelWish *wish, int depth)
{
    Theta *outer = candidate(f, depth, 0), *second = candidate(f, depth, 1);
    if (!align_any(f, g, NULL, fuse_is_wished, outer))
        return NULL;
    bool two = align_any(f, g, &outer[g->stmts.at[0]->id], fuse_is_wished, second);
    if (!two && !(wish && wish->mode == MODE_WAVE && wish->naxes == 1))
        return NULL;
    set_loop(f, g, 0, outer);
    if (two)
        set_loop(f, g, 1, second);
    g->ndims = two ? 2 : 1;
    if (wish)
        fuse_select_axes(f, g);
    return grid_node(f, g, depth, MODE_WAVE, wish);
}

static DepList not_carried(Fuse *f, const DepList *deps, const Theta *theta)
{
    DepList rest = { 0 };
    for (int i = 0; i < deps->n; i++) {
        Dep *d = deps->at[i];
        if (graph_distance(f->p, d, theta[d->src->id], theta[d->dst->id]).min < 1)
            VEC_PUSH(f->p->a, &rest, d);
    }
    return rest;
}

static Node *sequential_node(Fuse *f, Group *g, const Theta *theta, int depth)
{
    Arena *a = f->p->a;
    int nleaves = f->p->leaves.n, nloops = f->p->loops.n;
    Loop *loop = ARENA_NEW(a, Loop);
    const Stmt *first = g->stmts.at[0];
    *loop = (Loop){ .id = nloops, .name = theta_name(first, theta[first->id]), .outer = true };
    loop->index = new_index(a, loop->name);
    VEC_PUSH(a, &f->p->loops, loop);
    GridDim range = { .begin = NULL };
    for (int i = 0; i < g->stmts.n; i++)
        plan_widen(f->p, plan_of(f->p, g->stmts.at[i]), theta[g->stmts.at[i]->id], 0, 0, &range);
    for (int i = 0; i < g->stmts.n; i++) {
        StmtPlan *sp = plan_of(f->p, g->stmts.at[i]);
        Theta t = theta[g->stmts.at[i]->id];
        sp->path[sp->npath++] = (PathEntry){ loop, t, 0 };
        f->allowed[sp->stmt->id] &= ~(1u << t.idx);
    }
    DepList rest = not_carried(f, &g->inner, theta);
    bool parallel = false;
    Node *body = fuse_list(f, &g->stmts, &rest, depth + 1, &parallel);
    if (parallel) {
        Node *n = node_new(a, NODE_LOOP);
        explain_outer(f->p, loop, &g->stmts, &g->inner, theta);
        loop->index->lo = range.begin;
        loop->index->hi = range.end;
        n->index = loop->index;
        n->role = LOOP_SERIAL;
        node_append(a, n, body);
        return n;
    }
    f->p->leaves.n = nleaves;
    f->p->loops.n = nloops;
    for (int i = 0; i < g->stmts.n; i++) {
        StmtPlan *sp = plan_of(f->p, g->stmts.at[i]);
        sp->npath--;
        sp->nintervals = 0;
        f->allowed[sp->stmt->id] |= 1u << theta[sp->stmt->id].idx;
    }
    return NULL;
}

static Node *recurrence_node(Fuse *f, Group *g, const ParallelWish *wish, bool wave, int depth, bool *parallel)
{
    Theta *theta = candidate(f, depth, 0);
    Node *n = wave ? wave_node(f, g, wish, depth) : NULL;
    if (!n && align_any(f, g, NULL, fuse_may_be_outer, theta))
        n = sequential_node(f, g, theta, depth);
    if (!n)
        return serial_node(f, g, depth);             // `order` reports a cycle if there is one
    *parallel = true;
    return n;
}

Node *fuse_group_node(Fuse *f, Group *g, int depth, bool *parallel)
{
    const Stmt *other;
    const ParallelWish *wish = fuse_wished(f, g, &other);
    if (wish)
        fuse_select_axes(f, g);
    if (g->ndims > 0) {
        *parallel = true;
        if (other)
            fuse_refuse_mode(f, g, other);
        fuse_overlaps(f, g);
        return grid_node(f, g, depth, MODE_AUTO, wish);
    }
    if (!g->cyclic || (wish && wish->mode == MODE_SERIAL))
        return serial_node(f, g, depth);
    bool wave = !wish || (!other && (wish->mode == MODE_AUTO || wish->mode == MODE_WAVE));
    return recurrence_node(f, g, wish, wave, depth, parallel);
}
