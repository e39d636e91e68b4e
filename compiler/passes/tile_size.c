// tile_size: how large the tiles of a grid are (see tile_size.h).
//
// The model: a task should do some 10^5 operations (a task costs well under a microsecond), touch at most a quarter of
// the second cache level, and run along whole rows where it can. So, from the innermost dimension outwards, each tile extent
// is what the budget of points still allows. Contractions take square-like tiles, whose reuse grows with both extents;
// waves take tiles small enough that the front is many tiles wide. A dimension with a halo gets tiles eight halos long.
#include "passes/tile_size.h"

#include "passes/schedule_check.h"

#include <string.h>

enum { TASK_COST = 1 << 18, ROW = 4096 };

// ---- what a point costs -----------------------------------------------------------------------------------------

static bool add_cost(Expr *e, void *data)
{
    int64_t *cost = data;
    switch (op_class(e->op)) {
    case OPC_MATH: *cost += 12; break;
    case OPC_ARITH: case OPC_COMPARE: case OPC_BITS: case OPC_OTHER: case OPC_LOGIC: *cost += 1; break;
    case OPC_LEAF: *cost += e->op == OP_READ; break;
    case OPC_NEST: break;
    }
    return true;
}

static int64_t cost_of_leaf(const Leaf *leaf)
{
    int64_t cost = 0;
    for (int i = 0; i < leaf->stmts.n; i++) {
        cost += 1;
        if (leaf->stmts.at[i]->kind != STMT_INIT)
            expr_walk(leaf->stmts.at[i]->eq->rhs, add_cost, &cost);
    }
    return cost;
}

static bool over_dims(const Stmt *s, Expr *e)
{
    for (int i = 0; i < s->n; i++)
        if (expr_uses(e, s->index[i]))
            return false;
    return true;
}

static Expr *index_expr(Plan *p, Op op, Expr *x, Expr *y)
{
    return expr_simplify(p->a, expr_binary(p->a, op, DT_INDEX, x, y));
}

static Expr *number(Plan *p, int64_t v)
{
    return expr_int(p->a, DT_INDEX, v, (Range){ 0, 0 });
}

static bool in_grid(const StmtPlan *sp, int idx)
{
    for (int q = 0; q < sp->nintervals; q++)
        if (sp->interval[q].theta.idx == idx)
            return true;
    for (int k = 0; k < sp->npath; k++)
        if (sp->path[k].theta.idx == idx)
            return true;
    return false;
}

// The points that one point of the grid stands for: the product of the other extents of its deepest statement.
static Expr *inner_points(Plan *p, const Leaf *leaf)
{
    Expr *most = NULL;
    int deepest = 0;
    for (int i = 0; i < leaf->stmts.n; i++) {
        const Stmt *s = leaf->stmts.at[i];
        Expr *product = NULL;
        int depth = 0;
        for (int k = 0; k < s->n; k++) {
            if (in_grid(plan_of(p, s), k) || !over_dims(s, s->index[k]->lo) || !over_dims(s, s->index[k]->hi))
                continue;
            Expr *extent = index_expr(p, OP_SUB, s->index[k]->hi, s->index[k]->lo);
            product = product ? index_expr(p, OP_MUL, product, extent) : extent;
            depth++;
        }
        if (depth > deepest) {
            deepest = depth;
            most = product;
        }
    }
    return most ? index_expr(p, OP_MAX, most, number(p, 1)) : number(p, 1);
}

// ---- extents ----------------------------------------------------------------------------------------------------

static Expr *extent_of(Plan *p, const GridDim *d)
{
    return index_expr(p, OP_SUB, d->end, d->begin);
}

static int64_t halo_of(Plan *p, const Leaf *leaf, int q)
{
    int64_t halo = 0;
    for (int i = 0; i < leaf->stmts.n; i++) {
        const Interval *v = &plan_of(p, leaf->stmts.at[i])->interval[q];
        halo = v->before + v->after > halo ? v->before + v->after : halo;
    }
    return halo;
}

static Expr *clamp(Plan *p, Expr *e, int64_t least, int64_t most)
{
    e = index_expr(p, OP_MAX, e, number(p, least));
    return most > 0 ? index_expr(p, OP_MIN, e, number(p, most)) : e;
}

static bool is_contraction_leaf(const Leaf *leaf)
{
    for (int i = 0; i < leaf->stmts.n; i++)
        if (leaf->stmts.at[i]->kind == STMT_UPDATE && leaf->stmts.at[i]->nouter >= 2)
            return leaf->node->ndims >= 2;
    return false;
}

static void budget_tiles(Plan *p, Leaf *leaf)
{
    Node *n = leaf->node;
    int64_t points = TASK_COST / cost_of_leaf(leaf), share = machine_tier_bytes(p->machine, 1) / 4 / 8;
    points = points < share ? points : share;
    points = points < 256 ? 256 : points;
    Expr *left = index_expr(p, OP_DIV, number(p, points), inner_points(p, leaf));
    for (int q = n->ndims - 1; q >= 0; q--) {
        GridDim *d = &n->dims[q];
        int64_t halo = halo_of(p, leaf, q), least = halo ? 8 * halo : 1;
        if (q == n->ndims - 1 && n->ndims > 1) {
            d->tile = clamp(p, index_expr(p, OP_MIN, extent_of(p, d), number(p, ROW)), least, 0);
        } else {
            d->tile = q == n->ndims - 1 ? clamp(p, left, least, 0) : clamp(p, index_expr(p, OP_MIN, left, extent_of(p, d)), least, 0);
        }
        left = index_expr(p, OP_DIV, left, d->tile);
    }
}

static void contraction_tiles(Plan *p, Leaf *leaf)
{
    Node *n = leaf->node;
    for (int q = 0; q < n->ndims; q++) {
        int64_t most = q == n->ndims - 1 ? 256 : q == n->ndims - 2 ? 64 : 1;
        int64_t halo = halo_of(p, leaf, q);
        n->dims[q].tile = clamp(p, index_expr(p, OP_MIN, extent_of(p, &n->dims[q]), number(p, most)), halo ? 8 * halo : 1, 0);
    }
}

static void wave_tiles(Plan *p, Leaf *leaf)
{
    Node *n = leaf->node;
    for (int q = 0; q < n->ndims; q++) {
        Expr *sixteenth = index_expr(p, OP_DIV, extent_of(p, &n->dims[q]), number(p, 16));
        n->dims[q].tile = clamp(p, sixteenth, 16, q == 0 ? 64 : 256);
    }
}

// ---- what a schedule asks for -----------------------------------------------------------------------------------

static bool same_size(const TileSize *x, const TileSize *y)
{
    return x->kind == y->kind && x->lo == y->lo && x->hi == y->hi && (x->kind != SIZE_FIXED || expr_equal(x->value, y->value));
}

// The outermost size that is asked for dimension q; statements of one grid must agree.
static const TileSize *wished_size(Plan *p, const Leaf *leaf, int q)
{
    const TileSize *size = NULL;
    for (int i = 0; i < leaf->stmts.n; i++) {
        const StmtPlan *sp = plan_of(p, leaf->stmts.at[i]);
        const StmtWish *w = schedule_stmt(p->schedule, sp->stmt);
        int idx = sp->interval[q].theta.idx;
        if (!w || idx < 0 || !w->tile[idx])
            continue;
        const TileSize *mine = &w->tile[idx]->level[0];
        if (!size || same_size(size, mine)) {
            size = mine;
            continue;
        }
        diag_report(p->g->diags, D_SCHEDULE, mine->range, "`%s` of %s is tiled together with `%s`, for which another size is asked for", sp->stmt->index[idx]->name,
                    stmt_text(p->a, p->g, sp->stmt), leaf->node->dims[q].name);
        diag_note(p->g->diags, size->range, "the other size");
        break;
    }
    return size;
}

static void apply_wishes(Plan *p, Leaf *leaf)
{
    for (int q = 0; q < leaf->node->ndims; q++) {
        GridDim *d = &leaf->node->dims[q];
        const TileSize *size = wished_size(p, leaf, q);
        if (!size || size->kind == SIZE_AUTO)
            continue;
        d->tile = size->kind == SIZE_FIXED ? size->value : clamp(p, d->tile, size->lo, size->hi);
    }
}

void tile_size_choose(Plan *p, Leaf *leaf)
{
    if (leaf->node->ndims == 0)
        return;
    if (leaf->node->mode == MODE_WAVE)
        wave_tiles(p, leaf);
    else if (is_contraction_leaf(leaf))
        contraction_tiles(p, leaf);
    else
        budget_tiles(p, leaf);
    apply_wishes(p, leaf);
}
