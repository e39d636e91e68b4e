// nest: loops whose bounds are plain (see nest.h).
//
// Most leaves are nests of loops over whole ranges, cut by a tile: no piece of a statement's domain is missing, and
// statements that share a loop run over the same range. Then the bounds can be read off: the index's range in terms of
// the loops around it, and the tile's bounds with the statement's halo. This is exact, gives the simplest loops, and
// costs no integer programming, so that compile time stays linear and small. Everything else goes to isl.
// Invariant: for the leaves it accepts, the same instances run in the same order as in lower.c's loops.
// Test: tests/run (every sample)
#include "passes/nest.h"

#include "passes/plan_sets.h"

typedef struct {
    Plan *p;
    TileKernel *t;
    Leaf *leaf;
    Expr *(*value)[MAX_INDICES];      // by statement id: the index in terms of loops; NULL: no loop yet
} Builder;

// ---- what qualifies -----------------------------------------------------------------------------------------------------

static bool has_affine_guard(Builder *n, const Stmt *s)
{
    PolyIndices ix = { s->n, (Index *const *)s->index };
    for (int i = 0; i < s->conds.n; i++) {
        isl_set *c = poly_cond(n->p->g->poly, ix, s->conds.at[i]);
        isl_set_free(c);
        if (c)
            return true;
    }
    return false;
}

// Conditions that are left speak of dims alone: they switch the whole statement on or off.
static bool over_dims(const Stmt *s)
{
    for (int i = 0; i < s->eq->conds.n; i++)
        for (int j = 0; j < s->n; j++)
            if (expr_uses(s->eq->conds.at[i], s->index[j]))
                return false;
    return true;
}

static bool qualifies(Builder *n, const StmtPlan *sp)
{
    const Stmt *s = sp->stmt;
    if (!over_dims(s) || has_affine_guard(n, s))
        return false;
    for (int i = 0; i < sp->nintervals; i++)
        if (sp->interval[i].theta.sign < 0)
            return false;
    unsigned bound = 0;
    for (int k = 0; k < sp->npath; k++) {
        const PathEntry *e = &sp->path[k];
        if (e->loop && e->loop->tile > 0)
            return false;
        if (e->theta.idx < 0)
            continue;
        if ((e->theta.sign < 0 && !e->loop->outer) || (bound >> e->theta.idx & 1))
            return false;
        bound |= 1u << e->theta.idx;
    }
    return bound == (1u << s->n) - 1;
}

// ---- bounds -------------------------------------------------------------------------------------------------------------

static Expr *shifted(Builder *n, Expr *e, int64_t by)
{
    Expr *c = expr_int(n->p->a, DT_INDEX, by, (Range){ 0, 0 });
    return expr_simplify(n->p->a, expr_binary(n->p->a, OP_ADD, DT_INDEX, e, c));
}

// An expression over the statement's indices in terms of the loops around; NULL when it needs one that has no loop yet.
static Expr *in_loops(Builder *n, const Stmt *s, Expr *e)
{
    Index *from[MAX_INDICES];
    Expr *to[MAX_INDICES];
    int m = 0;
    for (int i = 0; i < s->n; i++) {
        if (!expr_uses(e, s->index[i]))
            continue;
        if (!n->value[s->id][i])
            return NULL;
        from[m] = s->index[i];
        to[m++] = n->value[s->id][i];
    }
    return m ? expr_simplify(n->p->a, expr_substitute(n->p->a, e, m, from, to)) : e;
}

static const GridDim *dim_of(const Leaf *leaf, const Interval *v)
{
    for (int q = 0; q < leaf->node->ndims; q++)
        if (leaf->node->dims[q].lo == v->lo)
            return &leaf->node->dims[q];
    return NULL;
}

// A statement with fewer indices than the grid has dimensions is cut twice along one of them: a diagonal. The loop
// takes the first interval, a guard the others.
static bool is_second(const StmtPlan *sp, int interval)
{
    for (int i = 0; i < interval; i++)
        if (sp->interval[i].theta.idx == sp->interval[interval].theta.idx)
            return true;
    return false;
}

static Expr *inside_interval(Builder *n, const StmtPlan *sp, const Interval *v)
{
    Arena *a = n->p->a;
    Range nowhere = { 0, 0 };
    Expr *at = n->value[sp->stmt->id][v->theta.idx];
    if (v->theta.sign < 0)
        at = expr_unary(a, OP_NEG, DT_INDEX, at);
    at = shifted(n, at, v->theta.shift);
    Expr *low = expr_binary(a, OP_GE, DT_BOOL, at, shifted(n, expr_index(a, v->lo, nowhere), -v->before));
    Expr *high = expr_binary(a, OP_LT, DT_BOOL, at, shifted(n, expr_index(a, v->hi, nowhere), v->after));
    return expr_binary(a, OP_AND, DT_BOOL, low, high);
}

// Cuts lo..hi (values of theta) by the tile. A tile lies inside begin..end, so where these are the range itself the tile's
// bounds alone count.
static void cut_by_tile(Builder *n, const StmtPlan *sp, Theta theta, Expr **lo, Expr **hi)
{
    Arena *a = n->p->a;
    Range nowhere = { 0, 0 };
    for (int i = 0; i < sp->nintervals; i++) {
        const Interval *v = &sp->interval[i];
        if (v->theta.idx != theta.idx || is_second(sp, i))
            continue;
        const GridDim *d = dim_of(n->leaf, v);
        int64_t by = theta.shift - v->theta.shift;
        Expr *tile_lo = shifted(n, expr_index(a, v->lo, nowhere), by - v->before), *tile_hi = shifted(n, expr_index(a, v->hi, nowhere), by + v->after);
        bool whole_lo = v->before == 0 && expr_equal(shifted(n, d->begin, by), *lo), whole_hi = v->after == 0 && expr_equal(shifted(n, d->end, by), *hi);
        *lo = whole_lo ? tile_lo : expr_simplify(a, expr_binary(a, OP_MAX, DT_INDEX, *lo, tile_lo));
        *hi = whole_hi ? tile_hi : expr_simplify(a, expr_binary(a, OP_MIN, DT_INDEX, *hi, tile_hi));
    }
}

static bool bounds(Builder *n, const StmtPlan *sp, Theta theta, Expr **lo, Expr **hi)
{
    const Stmt *s = sp->stmt;
    Expr *l = in_loops(n, s, s->index[theta.idx]->lo), *h = in_loops(n, s, s->index[theta.idx]->hi);
    if (!l || !h)
        return false;
    *lo = shifted(n, l, theta.shift);
    *hi = shifted(n, h, theta.shift);
    cut_by_tile(n, sp, theta, lo, hi);
    return true;
}

// Outer loops run over the union of their statements' ranges: each statement must cover it.
static bool fix_outer(Builder *n, const StmtPlan *sp)
{
    const Stmt *s = sp->stmt;
    for (int k = 0; k < n->leaf->nouter; k++) {
        Theta t = sp->path[k].theta;
        const Index *x = sp->path[k].loop->index;
        Expr *lo = in_loops(n, s, s->index[t.idx]->lo), *hi = in_loops(n, s, s->index[t.idx]->hi);
        if (!lo || !hi || !x->lo || !x->hi)
            return false;
        if (t.sign < 0) {
            Expr *low = expr_unary(n->p->a, OP_NEG, DT_INDEX, shifted(n, hi, -1));
            hi = shifted(n, expr_unary(n->p->a, OP_NEG, DT_INDEX, lo), 1);
            lo = low;
        }
        if (!expr_equal(shifted(n, lo, t.shift), expr_simplify(n->p->a, x->lo)) || !expr_equal(shifted(n, hi, t.shift), expr_simplify(n->p->a, x->hi)))
            return false;
        n->value[s->id][t.idx] = plan_index_of_theta(n->p->a, t, expr_index(n->p->a, (Index *)x, (Range){ 0, 0 }));
    }
    return true;
}

// ---- operations ---------------------------------------------------------------------------------------------------------

static Node *guard(Builder *n, Expr *cond, Node *inner)
{
    Node *node = node_new(n->p->a, NODE_IF);
    node->cond = cond;
    node_append(n->p->a, node, inner);
    return node;
}

static Node *guarded_operation(Builder *n, const Stmt *s)
{
    const StmtPlan *sp = plan_of(n->p, s);
    Node *op = lower_operation(n->p, s, n->value[s->id]);
    for (int i = 0; i < s->eq->conds.n; i++)
        op = guard(n, s->eq->conds.at[i], op);
    for (int i = 0; i < sp->nintervals; i++)
        if (is_second(sp, i))
            op = guard(n, inside_interval(n, sp, &sp->interval[i]), op);
    return op;
}

// ---- loops --------------------------------------------------------------------------------------------------------------

static bool build(Builder *n, Node *parent, const StmtList *stmts, int k);

static const PathEntry *entry(Builder *n, const Stmt *s, int k)
{
    const StmtPlan *sp = plan_of(n->p, s);
    return k < sp->npath ? &sp->path[k] : NULL;
}

static bool build_loop(Builder *n, Node *parent, const StmtList *stmts, int k, Loop *loop)
{
    Arena *a = n->p->a;
    Expr *lo = NULL, *hi = NULL;
    for (int i = 0; i < stmts->n; i++) {
        Expr *l, *h;
        const PathEntry *e = entry(n, stmts->at[i], k);
        if (e->loop != loop || !bounds(n, plan_of(n->p, stmts->at[i]), e->theta, &l, &h))
            return false;
        if (i > 0 && (!expr_equal(l, lo) || !expr_equal(h, hi)))
            return false;
        lo = l;
        hi = h;
    }
    Node *node = node_new(a, NODE_LOOP);
    node->index = ARENA_NEW(a, Index);
    *node->index = (Index){ .name = loop->name, .lo = lo, .hi = hi };
    lower_describe(n->p, node, loop);
    lower_locals(n->p, n->t, n->leaf, node, k + 1, loop);
    for (int i = 0; i < stmts->n; i++) {
        Theta t = entry(n, stmts->at[i], k)->theta;
        n->value[stmts->at[i]->id][t.idx] = plan_index_of_theta(a, t, expr_index(a, node->index, (Range){ 0, 0 }));
    }
    node_append(a, parent, node);
    return build(n, node, stmts, k + 1);
}

// Statements in the order of their place at this level; those with one place share its loop.
static bool build(Builder *n, Node *parent, const StmtList *stmts, int k)
{
    int done = 0;
    for (int seq = 0; done < stmts->n; seq++) {
        StmtList group = { 0 };
        for (int i = 0; i < stmts->n; i++) {
            const PathEntry *e = entry(n, stmts->at[i], k);
            if (!e || e->seq < 0 || e->seq > stmts->n)
                return false;
            if (e->seq == seq)
                VEC_PUSH(n->p->a, &group, stmts->at[i]);
        }
        if (group.n == 0) {
            if (seq > stmts->n)
                return false;
            continue;
        }
        done += group.n;
        Loop *loop = entry(n, group.at[0], k)->loop;
        if (loop) {
            if (!build_loop(n, parent, &group, k, loop))
                return false;
        } else if (group.n == 1) {
            node_append(n->p->a, parent, guarded_operation(n, group.at[0]));
        } else {
            return false;
        }
    }
    return true;
}

bool nest_leaf(Plan *p, TileKernel *t, Leaf *leaf)
{
    Builder n = { .p = p, .t = t, .leaf = leaf };
    if (!p->values)                                           // one for all leaves: each statement is in one
        p->values = (Expr *(*)[MAX_INDICES])arena_alloc(p->a, sizeof(Expr *[MAX_INDICES]) * (size_t)(p->g->stmts.n + 1));
    n.value = p->values;
    for (int i = 0; i < leaf->stmts.n; i++)
        if (!qualifies(&n, plan_of(p, leaf->stmts.at[i])) || !fix_outer(&n, plan_of(p, leaf->stmts.at[i])))
            return false;
    Node *root = node_new(p->a, NODE_SEQ);
    if (!build(&n, root, &leaf->stmts, leaf->nouter))
        return false;
    lower_locals(p, t, leaf, leaf->node, leaf->nouter, NULL);
    leaf->node->body = root->body;
    return true;
}
