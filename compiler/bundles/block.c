// block: which leaves can be done in blocks, and what their indices are (see block.h).
//
// A leaf can when its statements, one after the other on a block, compute what they compute element by element: no recurrence
// through several statements, domains that are boxes, subscripts that are sums of indices. Everything else is the scalar
// unit's. Test: tests/golden/model
#include "bundles/block.h"

#include <isl/set.h>
#include <stdarg.h>
#include <string.h>

bool block_refuse(Block *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!b->refusal)
        b->refusal = arena_vprintf(b->a, fmt, ap);
    va_end(ap);
    return false;
}

// ---- order ------------------------------------------------------------------------------------------------------------------

static bool is_dead(const Block *b, const Stmt *s) { return b->t->storage[s->eq->lhs->id].kind == STORE_NONE; }

static bool is_leaf_dep(const Block *b, const Dep *d)
{
    for (int i = 0; i < b->leaf->deps.n; i++)
        if (b->leaf->deps.at[i] == d)
            return true;
    return false;
}

static bool is_in_leaf(const Block *b, const Stmt *s)
{
    for (int i = 0; i < b->leaf->stmts.n; i++)
        if (b->leaf->stmts.at[i] == s)
            return true;
    return false;
}

// A read finds what the block has written, or what was brought: not some elements here and others there.
static bool one_source_each(Block *b)
{
    const DepList *all = &b->p->g->deps;
    for (int i = 0; i < all->n; i++) {
        const Dep *d = all->at[i];
        if (d->read && is_in_leaf(b, d->dst) && !is_leaf_dep(b, d) && block_is_internal(b, d->read))
            return block_refuse(b, "some of what it reads of `%s` is computed elsewhere", d->tensor->name);
    }
    return true;
}

static bool order_stmts(Block *b)
{
    Components c = graph_components(b->p, &b->leaf->stmts, &b->leaf->deps);
    b->stmts = ARENA_ARRAY(b->a, BlockStmt, b->leaf->stmts.n + 1);
    for (int i = 0; i < c.n; i++) {
        if (c.at[i].n != 1)
            return block_refuse(b, "equations depend on each other element by element");
        Stmt *s = c.at[i].at[0];
        if (!is_dead(b, s))
            b->stmts[b->nstmts++].s = s;
    }
    for (int i = 0; i < b->leaf->deps.n; i++) {
        const Dep *d = b->leaf->deps.at[i];
        if (d->src == d->dst && d->read)
            return block_refuse(b, "`%s` depends on elements of its own", d->tensor->name);
    }
    return b->nstmts > 0 || block_refuse(b, "nothing is left to do");
}

// ---- indices ----------------------------------------------------------------------------------------------------------------

static bool uses_any(const Stmt *s, const Expr *e)
{
    for (int i = 0; i < s->n; i++)
        if (expr_uses(e, s->index[i]))
            return true;
    return false;
}

// What a sequential loop around the leaf makes of its index.
static Expr *outer_value(Block *b, const PathEntry *e)
{
    Expr *at = expr_index(b->a, e->loop->index, (Range){ 0, 0 });
    Expr *x = expr_binary(b->a, OP_SUB, DT_INDEX, at, block_int(b, e->theta.shift));
    return expr_simplify(b->a, e->theta.sign > 0 ? x : expr_unary(b->a, OP_NEG, DT_INDEX, x));
}

static Expr *with_outer(Block *b, const BlockStmt *s, Expr *e)
{
    Expr *value[MAX_INDICES];
    for (int i = 0; i < s->s->n; i++)
        value[i] = s->index[i].from == FROM_OUTER ? s->index[i].value : expr_index(b->a, s->s->index[i], (Range){ 0, 0 });
    return expr_simplify(b->a, expr_substitute(b->a, e, s->s->n, (Index *const *)s->s->index, value));
}

static void bind_outer(Block *b, BlockStmt *s)
{
    const StmtPlan *sp = plan_of(b->p, s->s);
    for (int k = 0; k < sp->npath; k++) {
        const PathEntry *e = &sp->path[k];
        if (!e->loop || !e->loop->outer || e->theta.idx < 0)
            continue;
        s->index[e->theta.idx].from = FROM_OUTER;
        s->index[e->theta.idx].value = outer_value(b, e);
    }
}

static bool bind_axes(Block *b, BlockStmt *s)
{
    const StmtPlan *sp = plan_of(b->p, s->s);
    for (int q = 0; q < sp->nintervals; q++) {
        const Interval *v = &sp->interval[q];
        if (v->theta.idx < 0 || v->theta.sign < 0)
            return block_refuse(b, "an index runs against the grid");
        BlockIndex *x = &s->index[v->theta.idx];
        if (x->from != FROM_ALL)
            return block_refuse(b, "an index is bound twice");
        *x = (BlockIndex){ .from = FROM_AXIS, .which = q, .shift = v->theta.shift, .before = v->before, .after = v->after };
    }
    return sp->nintervals == b->naxes || block_refuse(b, "an equation lacks a dimension of the grid");
}

static bool bind_ranges(Block *b, BlockStmt *s)
{
    for (int i = 0; i < s->s->n; i++) {
        BlockIndex *x = &s->index[i];
        x->lo = with_outer(b, s, s->s->index[i]->lo);
        x->hi = with_outer(b, s, s->s->index[i]->hi);
        if (uses_any(s->s, x->lo) || uses_any(s->s, x->hi))
            return block_refuse(b, "the range of `%s` depends on another index", s->s->index[i]->name);
    }
    return true;
}

// A condition on sizes alone empties the box where it does not hold.
static bool bind_condition(Block *b, BlockStmt *s, Expr *cond)
{
    cond = with_outer(b, s, cond);
    if (uses_any(s->s, cond) || s->s->n == 0)
        return block_refuse(b, "a condition cuts the box of an equation");
    BlockIndex *x = &s->index[0];
    Expr *args[3] = { cond, x->hi, x->lo };
    x->hi = expr_simplify(b->a, expr_new(b->a, OP_SELECT, DT_INDEX, cond->range, 3, args));
    return true;
}

static bool is_affine(Block *b, const Stmt *s, Expr *cond)
{
    PolyIndices ix = { s->n, (Index *const *)s->index };
    isl_set *set = poly_cond(b->p->g->poly, ix, cond);
    isl_set_free(set);
    return set != NULL;
}

static bool bind_conditions(Block *b, BlockStmt *s)
{
    for (int i = 0; i < s->s->eq->conds.n; i++)
        if (!bind_condition(b, s, s->s->eq->conds.at[i]))
            return false;
    for (int i = 0; i < s->s->conds.n; i++)
        if (is_affine(b, s->s, s->s->conds.at[i]) && !bind_condition(b, s, s->s->conds.at[i]))
            return false;
    return true;
}

static void see_rank(void *data, Expr *read, int nconds, Expr *const *conds)
{
    int *most = data;
    (void)nconds;
    (void)conds;
    *most = read->tensor->rank > *most ? read->tensor->rank : *most;
}

// Boxes have so many dimensions.
static bool has_room(Block *b, const BlockStmt *s)
{
    int rank = s->s->eq->lhs->rank;
    depend_stmt_reads(b->a, s->s, see_rank, &rank);
    return rank <= MAX_BOX || block_refuse(b, "a tensor has more than %d dimensions", MAX_BOX);
}

static bool bind_stmt(Block *b, BlockStmt *s)
{
    if (!has_room(b, s))
        return false;
    if (stmt_is_scatter(s->s))
        return block_refuse(b, "data says which element is written");
    if (s->s->eq->otherwise)
        return block_refuse(b, "an equation stands for what others leave");
    bind_outer(b, s);
    return bind_axes(b, s) && bind_ranges(b, s) && bind_conditions(b, s);
}

// ---- the contraction ----------------------------------------------------------------------------------------------------------

// The one reduction of the leaf, if there is one: what it reduces is cut into chunks.
static void find_main(Block *b)
{
    const Stmt *only = NULL;
    for (int i = 0; i < b->nstmts; i++) {
        if (b->stmts[i].s->kind != STMT_UPDATE)
            continue;
        if (only)
            return;
        only = b->stmts[i].s;
    }
    b->main = only;
}

const BlockStmt *block_main(const Block *b)
{
    for (int i = 0; i < b->nstmts; i++)
        if (b->stmts[i].s == b->main)
            return &b->stmts[i];
    return NULL;
}

bool block_multiplies(const Block *b)
{
    const BlockStmt *s = block_main(b);
    return s && s->kind == BLOCK_MULTIPLY;
}

// A window's worth of a stencil, say: no chunks of it, unless the cube has to take them one by one.
static bool is_small(const BlockIndex *x)
{
    return x->lo->op == OP_CONST && x->hi->op == OP_CONST && x->hi->i - x->lo->i <= FEW;
}

static void bind_chunks(Block *b)
{
    bool cube = block_multiplies(b);
    for (int i = 0; b->main && i < b->nstmts; i++) {
        BlockStmt *s = &b->stmts[i];
        for (int k = s->s->nouter; s->s == b->main && k < s->s->n; k++) {
            BlockIndex *x = &s->index[k];
            if (x->from != FROM_ALL || (!cube && is_small(x)))
                continue;
            b->chunk[b->nchunks] = (BlockChunk){ .name = s->s->index[k]->name, .idx = k, .digit = -1 };
            x->from = FROM_CHUNK;
            x->which = b->nchunks++;
        }
    }
}

// ---- the whole ------------------------------------------------------------------------------------------------------------------

static Block begin(Plan *p, TileKernel *t, Leaf *leaf)
{
    Block b = { .p = p, .t = t, .m = p->machine, .leaf = leaf, .a = p->a, .naxes = leaf->node->ndims };
    for (int q = 0; q < b.naxes; q++) {
        const GridDim *d = &leaf->node->dims[q];
        b.axis[q] = (BlockAxis){ .name = d->name, .begin = d->begin, .end = d->end, .digit = -1 };
    }
    return b;
}

static bool analyse(Block *b)
{
    const Node *grid = b->leaf->node;
    if (grid->noffsets)
        return block_refuse(b, "tiles wait for each other");
    if (!order_stmts(b) || !one_source_each(b))
        return false;
    for (int i = 0; i < b->nstmts; i++)
        if (!bind_stmt(b, &b->stmts[i]))
            return false;
    find_main(b);
    block_kinds(b);
    block_layouts(b);
    bind_chunks(b);
    return true;
}

static Blocks *what_was_chosen(const Block *b)
{
    Blocks *c = ARENA_NEW(b->a, Blocks);
    *c = (Blocks){ .split = b->split, .parts = b->parts, .main = b->main, .along = b->along };
    for (int q = 0; q < b->naxes; q++)
        c->block[q] = b->axis[q].block;
    for (int i = 0; i < b->nchunks; i++)
        c->chunk[b->chunk[i].idx] = b->chunk[i].size;
    return c;
}

bool block_leaf(Plan *p, TileKernel *t, Leaf *leaf)
{
    Block b = begin(p, t, leaf);
    Node *grid = leaf->node;
    if (analyse(&b))
        block_sizes(&b);
    if (b.refusal) {
        grid->refusal = b.refusal;
        if (!b.told)
            wish_report_refusal(&b, b.refusal);
        return false;
    }
    for (int q = 0; q < b.naxes; q++)
        grid->dims[q].tile = b.axis[q].task;
    leaf->blocks = what_was_chosen(&b);
    grid->program = b.out;
    grid->fits = b.fits;
    return true;
}
