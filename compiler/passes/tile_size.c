// tile_size: how large the tiles of a grid are (see tile_size.h).
//
// The model: a task should do some 10^5 operations (a task costs well under a microsecond), touch at most a quarter of
// the second cache level, and run along whole rows where it can. So, from the innermost dimension outwards, each tile extent
// is what the budget of points still allows (strips of columns are wide enough for the caches). Contractions take square-like tiles, whose reuse grows with both extents;
// waves take tiles small enough that the front is many tiles wide. A dimension with a halo gets tiles eight halos long.
#include "passes/tile_size.h"

#include "passes/explain.h"
#include "passes/schedule_check.h"

#include <string.h>

enum { TASK_COST = 1 << 18, ROW = 4096, STRIP = 256, CORES = 8 };     // CORES: where the description leaves them open

// ---- what a point costs -----------------------------------------------------------------------------------------

static bool add_cost(Expr *e, void *data)
{
    int64_t *cost = data;
    switch (op_class(e->op)) {
    case OPC_MATH: *cost += 12; break;
    case OPC_ARITH: case OPC_COMPARE: case OPC_BITS: case OPC_OTHER: case OPC_LOGIC: case OPC_FAULT: *cost += 1; break;
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

static bool has_loop(const StmtPlan *sp, int idx)
{
    if (plan_in_grid(sp, idx))
        return true;
    for (int k = 0; k < sp->npath; k++)
        if (sp->path[k].theta.idx == idx)
            return true;
    return false;
}

// A difference over dims that bounds hi - lo: where hi is a minimum, of one of its arguments. NULL: there is none.
static Expr *plain_extent(Plan *p, const Stmt *s, Expr *lo, Expr *hi)
{
    Expr *e = index_expr(p, OP_SUB, hi, lo);
    if (over_dims(s, e))
        return e;
    for (int i = 0; hi->op == OP_MIN && i < 2; i++) {
        Expr *x = plain_extent(p, s, lo, hi->args[i]);
        if (x)
            return x;
    }
    return NULL;
}

Expr *tile_size_extent(Plan *p, const Stmt *s, int idx, bool *even)
{
    Index *index = s->index[idx];
    Expr *e = plain_extent(p, s, index->lo, index->hi);
    *even = e;
    if (e)
        return e;
    // As at the middle of the indices that move it: half of a triangle.
    e = index_expr(p, OP_SUB, index->hi, index->lo);
    for (int k = s->n - 1; k >= 0; k--) {
        Expr *middle = index_expr(p, OP_DIV, index_expr(p, OP_ADD, s->index[k]->lo, s->index[k]->hi), number(p, 2));
        if (k != idx && expr_uses(e, s->index[k]))
            e = expr_simplify(p->a, expr_substitute(p->a, e, 1, (Index *const *)&s->index[k], &middle));
    }
    return over_dims(s, e) ? e : NULL;
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
            bool even;
            Expr *extent = has_loop(plan_of(p, s), k) ? NULL : tile_size_extent(p, s, k, &even);
            if (!extent)
                continue;
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

// Is dimension q, the grid's only one, the one along which rows lie in memory? (Its tiles are then strips of columns.)
static bool cuts_rows(Plan *p, const Leaf *leaf, int q)
{
    for (int i = 0; leaf->node->ndims == 1 && i < leaf->stmts.n; i++) {
        const Stmt *s = leaf->stmts.at[i];
        int idx = plan_of(p, s)->interval[q].theta.idx;
        if (s->n > 1 && idx >= 0 && stride_of(s->eq->lhs->rank, s->subs, s->index[idx]) == 1)
            return true;
    }
    return false;
}

static Expr *clamp(Plan *p, Expr *e, int64_t least, int64_t most)
{
    e = index_expr(p, OP_MAX, e, number(p, least));
    return most > 0 ? index_expr(p, OP_MIN, e, number(p, most)) : e;
}

// Half of what each core's share is, from 1 to 4 KiB of floats: wider strips leave memory more to fetch in one go.
static Expr *strip(Plan *p, Expr *extent)
{
    int cores = p->machine->cores > 0 ? p->machine->cores : CORES;
    return clamp(p, index_expr(p, OP_DIV, extent, number(p, 2 * cores)), STRIP, 4 * STRIP);
}

static bool is_contraction_leaf(const Leaf *leaf)
{
    for (int i = 0; i < leaf->stmts.n; i++)
        if (leaf->stmts.at[i]->kind == STMT_UPDATE && leaf->stmts.at[i]->nouter >= 2)
            return leaf->node->ndims >= 2;
    return false;
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

// Sets the tile of dimension q to what the model chose, or to what a schedule asks for; says why.
static void set_tile(Plan *p, Leaf *leaf, int q, Expr *chosen, const char *why)
{
    GridDim *d = &leaf->node->dims[q];
    const TileSize *size = p->machine->emits_bundles ? NULL : wished_size(p, leaf, q);
    d->tile = !size || size->kind == SIZE_AUTO ? chosen : size->kind == SIZE_FIXED ? size->value : clamp(p, chosen, size->lo, size->hi);
    const char *text = explain_size(p->a, d->tile);
    if (d->tile != chosen)
        explain_say(p, &leaf->why, "Tiles of `%s` have %s points: the schedule says so; the model would take %s.", d->name, text, explain_size(p->a, chosen));
    else
        explain_say(p, &leaf->why, "Tiles of `%s` have %s points: %s.", d->name, text, why);
}

// ---- the model ----------------------------------------------------------------------------------------------------

static const char *halo_text(Plan *p, int64_t halo, const char *why)
{
    return halo ? arena_printf(p->a, "%s, at least eight times the halo of %lld", why, (long long)halo) : why;
}

static const char *points_text(Plan *p, const Leaf *leaf, int64_t points)
{
    int64_t cost = cost_of_leaf(leaf), share = machine_tier_bytes(p->machine, 1) / 4;
    const char *inner = explain_size(p->a, inner_points(p, leaf));
    const char *each = strcmp(inner, "1") == 0 ? "" : arena_printf(p->a, ", and each stands for %s of them", inner);
    if (points == 256)
        return arena_printf(p->a, "a point costs about %lld operations, and a task takes 256 points at least%s", (long long)cost, each);
    if (points * 32 >= share)
        return arena_printf(p->a, "a task takes %lld points, a quarter of the %lld KiB of its second cache level%s", (long long)points, (long long)(share >> 8), each);
    return arena_printf(p->a, "a point costs about %lld operations, and a task does about %d of them, %lld points%s", (long long)cost, TASK_COST, (long long)points, each);
}

static void budget_tiles(Plan *p, Leaf *leaf)
{
    Node *n = leaf->node;
    int64_t points = TASK_COST / cost_of_leaf(leaf), share = machine_tier_bytes(p->machine, 1) / 4 / 8;
    points = points < share ? points : share;
    points = points < 256 ? 256 : points;
    const char *why = points_text(p, leaf, points);
    Expr *left = index_expr(p, OP_DIV, number(p, points), inner_points(p, leaf));
    for (int q = n->ndims - 1; q >= 0; q--) {
        GridDim *d = &n->dims[q];
        int64_t halo = halo_of(p, leaf, q), least = halo ? 8 * halo : 1;
        Expr *extent = extent_of(p, d);
        if (cuts_rows(p, leaf, q))
            set_tile(p, leaf, q, clamp(p, index_expr(p, OP_MIN, index_expr(p, OP_MAX, left, strip(p, extent)), extent), halo ? least : 1, 0),
                     arena_printf(p->a, "%s, but at least %d, since rows are cut: what is next in memory is used while it is near", halo_text(p, halo, why), STRIP));
        else if (q == n->ndims - 1 && n->ndims > 1)
            set_tile(p, leaf, q, clamp(p, index_expr(p, OP_MIN, extent, number(p, ROW)), least, 0), halo_text(p, halo, "whole rows, as they lie in memory"));
        else
            set_tile(p, leaf, q, clamp(p, q == n->ndims - 1 ? left : index_expr(p, OP_MIN, left, extent), least, 0), halo_text(p, halo, why));
        left = index_expr(p, OP_DIV, left, d->tile);
    }
}

static void contraction_tiles(Plan *p, Leaf *leaf)
{
    Node *n = leaf->node;
    for (int q = 0; q < n->ndims; q++) {
        int64_t most = q == n->ndims - 1 ? 256 : q == n->ndims - 2 ? 64 : 1;
        int64_t halo = halo_of(p, leaf, q);
        set_tile(p, leaf, q, clamp(p, index_expr(p, OP_MIN, extent_of(p, &n->dims[q]), number(p, most)), halo ? 8 * halo : 1, 0),
                 most == 1 ? "each is a contraction of its own" : halo_text(p, halo, "a contraction uses what it loads once for each point of the other axis"));
    }
}

static void wave_tiles(Plan *p, Leaf *leaf)
{
    Node *n = leaf->node;
    for (int q = 0; q < n->ndims; q++) {
        Expr *sixteenth = index_expr(p, OP_DIV, extent_of(p, &n->dims[q]), number(p, 16));
        set_tile(p, leaf, q, clamp(p, sixteenth, 16, q == 0 ? 64 : 256), "a sixteenth of the extent, so that the front is many tiles wide");
    }
}

void tile_size_choose(Plan *p, Leaf *leaf)
{
    if (leaf->node->ndims == 0)
        return;
    if (leaf->node->noffsets > 0)
        wave_tiles(p, leaf);
    else if (is_contraction_leaf(leaf))
        contraction_tiles(p, leaf);
    else
        budget_tiles(p, leaf);
}

void tile_size_ask(Plan *p, Leaf *leaf)
{
    for (int q = 0; q < leaf->node->ndims; q++) {
        GridDim *d = &leaf->node->dims[q];
        const TileSize *size = wished_size(p, leaf, q);
        if (size && size->kind != SIZE_AUTO)
            d->tile = size->kind == SIZE_FIXED ? size->value : clamp(p, d->tile, size->lo, size->hi);
    }
}
