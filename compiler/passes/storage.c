// storage: where every tensor lives, and how much of it at a time.
//
// Inputs and outputs live in the caller's memory. A tensor used inside one leaf alone is private: to a task, as scratch of
// its worker, or to an iteration of the loops that all its uses share at distance 0. Along those loops its dimensions
// need one element; when nothing is left it is a register. The first loop with a bounded distance D needs a
// window of D + 1 elements (D when only the writing statement itself reads it), used round and round. A tensor that
// several leaves use lives in the workspace; along the sequential loops around the leaves it is folded the same way, if
// no one outside the loop reads what has been overwritten.
//
// Invariant: two elements share a place only when the first is dead before the second is written, in every legal order of
// the tasks. Test: tests/golden/passes/storage.pto (sizes), tests/run (values)
#include "passes/plan.h"

#include "passes/explain.h"
#include "passes/plan_sets.h"
#include "passes/schedule_check.h"

#include <string.h>

#include <isl/ilp.h>


typedef struct {
    Plan *p;
    TileKernel *t;
    Tensor *x;
    StmtList users;               // writers and readers
    StmtList writers;
    DepList deps;                 // of this tensor
    int level;                    // the depth of the loop along which it may be folded
    bool inside;                  // is that a loop inside the leaf?
} Life;

// ---- who uses it ----------------------------------------------------------------------------------------------

static void add_user(Plan *p, StmtList *l, Stmt *s)
{
    for (int i = 0; i < l->n; i++)
        if (l->at[i] == s)
            return;
    VEC_PUSH(p->a, l, s);
}

static bool one_leaf(const Life *l)
{
    const Leaf *leaf = plan_of(l->p, l->users.at[0])->leaf;
    for (int i = 1; i < l->users.n; i++)
        if (plan_of(l->p, l->users.at[i])->leaf != leaf)
            return false;
    return true;
}

// Private to a task: used in one leaf, and no dependence crosses the loops around it or the tiles of a wave.
static bool is_private(const Life *l)
{
    if (!one_leaf(l))
        return false;
    const Leaf *leaf = plan_of(l->p, l->users.at[0])->leaf;
    for (int i = 0; i < l->deps.n; i++) {
        Dep *d = l->deps.at[i];
        const StmtPlan *s = plan_of(l->p, d->src), *t = plan_of(l->p, d->dst);
        for (int k = 0; k < leaf->nouter; k++) {
            Distance r = graph_distance(l->p, d, s->path[k].theta, t->path[k].theta);
            if (r.min != 0 || r.max != 0)
                return false;
        }
        for (int q = 0; leaf->node->noffsets > 0 && q < s->nintervals; q++) {
            Distance r = graph_distance(l->p, d, s->interval[q].theta, t->interval[q].theta);
            if (r.min != 0 || r.max != 0)
                return false;
        }
    }
    return true;
}

// The entry of the k-th loop on a statement's path, or NULL.
static const PathEntry *loop_at(const StmtPlan *sp, int k)
{
    return k < sp->npath && sp->path[k].loop ? &sp->path[k] : NULL;
}

// The loop at depth k, if all users share it.
static Loop *shared_loop(const Life *l, int k)
{
    const PathEntry *first = loop_at(plan_of(l->p, l->users.at[0]), k);
    for (int i = 1; first && i < l->users.n; i++) {
        const PathEntry *e = loop_at(plan_of(l->p, l->users.at[i]), k);
        if (!e || e->loop != first->loop)
            return NULL;
    }
    return first ? first->loop : NULL;
}

// The distances of all dependences of the tensor in the shared loop at depth k. Self-reads of the writing statement are
// counted apart: they read before they write.
typedef struct { int64_t min, max, self; } Span;

static Span span_at(const Life *l, int k)
{
    Span s = { 0, 0, 0 };
    for (int i = 0; i < l->deps.n; i++) {
        Dep *d = l->deps.at[i];
        Distance r = graph_distance(l->p, d, plan_of(l->p, d->src)->path[k].theta, plan_of(l->p, d->dst)->path[k].theta);
        if (d->src == d->dst && r.min >= 0) {
            s.self = r.max > s.self ? r.max : s.self;
            continue;
        }
        s.min = r.min < s.min ? r.min : s.min;
        s.max = r.max > s.max ? r.max : s.max;
    }
    return s;
}

// ---- dimensions and loops ---------------------------------------------------------------------------------------

// Is dimension `dim` the loop at depth k plus a constant, the same for all writers? The constant in *c.
static bool dimension_follows(const Life *l, int dim, int k, int64_t *c, int *sign)
{
    for (int i = 0; i < l->writers.n; i++) {
        const Stmt *s = l->writers.at[i];
        Theta t = plan_of(l->p, s)->path[k].theta;
        const Expr *sub = s->subs[dim];
        if (t.idx < 0)
            return false;
        Expr *value = plan_index_of_theta(l->p->a, t, expr_int(l->p->a, DT_INDEX, 0, sub->range));     // the index at theta = 0
        Index *index = s->index[t.idx];
        int64_t slope;
        if (!stride_coefficient(sub, index, &slope) || slope != 1)
            return false;
        Expr *at0 = expr_simplify(l->p->a, expr_substitute(l->p->a, (Expr *)sub, 1, &index, &value));
        if (at0->op != OP_CONST || (i > 0 && (at0->i != *c || t.sign != *sign)))
            return false;
        *c = at0->i;
        *sign = t.sign;
    }
    return l->writers.n > 0;
}

static int follower(const Life *l, int k, const bool *taken)
{
    int64_t c;
    int sign;
    for (int d = 0; d < l->x->rank; d++)
        if (!taken[d] && dimension_follows(l, d, k, &c, &sign))
            return d;
    return -1;
}

// ---- private tensors --------------------------------------------------------------------------------------------

static isl_set *written_in_tile(const Life *l)
{
    isl_set *all = NULL;
    for (int i = 0; i < l->writers.n; i++) {
        const Stmt *s = l->writers.at[i];
        isl_map *w = poly_subscripts(l->p->g->poly, (PolyIndices){ s->n, (Index *const *)s->index }, l->x, s->subs, NULL);
        isl_set *domain = isl_set_reset_tuple_id(plan_domain(l->p, plan_of(l->p, s)));
        isl_set *e = isl_map_range(isl_map_intersect_domain(w, domain));
        all = all ? isl_set_union(all, e) : e;
    }
    return isl_set_coalesce(all);
}

static const Node *grid_of(const Life *l)
{
    return plan_of(l->p, l->users.at[0])->leaf->node;
}

// The largest width of a range over all positions of the tile, as an expression over dims and tile sizes.
static Expr *largest_width(const Life *l, isl_pw_aff *min, isl_pw_aff *max)
{
    Arena *a = l->p->a;
    const Node *grid = grid_of(l);
    isl_pw_aff *width = isl_pw_aff_add_constant_val(isl_pw_aff_sub(max, min), isl_val_one(l->p->g->poly->isl));
    isl_set *s = isl_set_from_pw_aff(width);                // { [w] } under parameters
    s = poly_under(l->p->g->poly, s);
    Index *size[4];
    for (int q = 0; q < grid->ndims; q++) {
        size[q] = ARENA_NEW(a, Index);
        size[q]->name = arena_printf(a, "%s_tile", grid->dims[q].name);
        isl_id *ids[3] = { isl_id_alloc(l->p->g->poly->isl, grid->dims[q].lo->name, grid->dims[q].lo),
                           isl_id_alloc(l->p->g->poly->isl, grid->dims[q].hi->name, grid->dims[q].hi),
                           isl_id_alloc(l->p->g->poly->isl, size[q]->name, size[q]) };
        int pos[3];
        for (int i = 0; i < 3; i++) {
            pos[i] = isl_set_find_dim_by_id(s, isl_dim_param, ids[i]);
            if (pos[i] < 0) {
                pos[i] = isl_set_dim(s, isl_dim_param);
                s = isl_set_add_dims(s, isl_dim_param, 1);
                s = isl_set_set_dim_id(s, isl_dim_param, (unsigned)pos[i], isl_id_copy(ids[i]));
            }
            isl_id_free(ids[i]);
        }
        isl_local_space *ls = isl_local_space_from_space(isl_set_get_space(s));
        isl_aff *lo = isl_aff_var_on_domain(isl_local_space_copy(ls), isl_dim_param, (unsigned)pos[0]);
        isl_aff *hi = isl_aff_var_on_domain(isl_local_space_copy(ls), isl_dim_param, (unsigned)pos[1]);
        isl_aff *tile = isl_aff_var_on_domain(ls, isl_dim_param, (unsigned)pos[2]);
        s = isl_set_intersect(s, isl_aff_le_set(hi, isl_aff_add(lo, isl_aff_copy(tile))));
        s = isl_set_intersect(s, isl_aff_ge_set(tile, isl_aff_zero_on_domain(isl_local_space_from_space(isl_set_get_space(s)))));
        for (int i = 0; i < 2; i++) {
            Index *gone = i ? grid->dims[q].hi : grid->dims[q].lo;
            isl_id *id = isl_id_alloc(l->p->g->poly->isl, gone->name, gone);
            int at = isl_set_find_dim_by_id(s, isl_dim_param, id);
            isl_id_free(id);
            s = isl_set_project_out(s, isl_dim_param, (unsigned)at, 1);
        }
    }

    isl_pw_aff *largest = isl_set_dim_max(s, 0);
    Expr *e = poly_expr(l->p->g->poly, a, (PolyIndices){ 0, NULL }, largest);
    isl_pw_aff_free(largest);
    if (!e)
        return NULL;
    Expr *to[4];
    for (int q = 0; q < grid->ndims; q++)
        to[q] = grid->dims[q].tile;
    e = grid->ndims ? expr_substitute(a, e, grid->ndims, size, to) : e;
    return expr_simplify(a, expr_binary(a, OP_MAX, DT_INDEX, e, expr_int(a, DT_INDEX, 1, (Range){ 0, 0 })));
}

// What one writer touches of a dimension, when that can be read off: its index's range, cut by the tile or whole.
typedef struct { const Interval *cut; Expr *lo, *hi; int64_t offset; } Reach;

static bool over_dims_alone(const Stmt *s, const Expr *e)
{
    for (int i = 0; i < s->n; i++)
        if (expr_uses(e, s->index[i]))
            return false;
    return true;
}

static bool reach_of(const Life *l, const Stmt *s, int d, Reach *r)
{
    const StmtPlan *sp = plan_of(l->p, s);
    const Expr *sub = s->subs[d];
    for (int i = 0; i < s->n; i++) {
        int64_t slope;
        Index *index = s->index[i];
        if (!expr_uses(sub, index))
            continue;
        Expr *zero = expr_int(l->p->a, DT_INDEX, 0, sub->range);
        Expr *rest = expr_simplify(l->p->a, expr_substitute(l->p->a, (Expr *)sub, 1, &index, &zero));
        bool outer = false;
        for (int k = 0; k < plan_of(l->p, s)->leaf->nouter; k++)
            outer = outer || sp->path[k].theta.idx == i;
        if (!stride_coefficient(sub, index, &slope) || slope != 1 || rest->op != OP_CONST || outer || !over_dims_alone(s, index->lo) || !over_dims_alone(s, index->hi))
            return false;
        *r = (Reach){ NULL, index->lo, index->hi, rest->i };
        for (int q = 0; q < sp->nintervals; q++)
            if (sp->interval[q].theta.idx == i) {
                if (r->cut || sp->interval[q].theta.sign < 0)
                    return false;
                r->cut = &sp->interval[q];
                r->offset = rest->i - sp->interval[q].theta.shift;
            }
        return true;
    }
    return false;
}

static Expr *plus(const Life *l, Expr *e, int64_t c)
{
    return expr_simplify(l->p->a, expr_binary(l->p->a, OP_ADD, DT_INDEX, e, expr_int(l->p->a, DT_INDEX, c, (Range){ 0, 0 })));
}

// Base and extent of a dimension without asking isl: all writers must reach alike.
static bool plain_dimension(const Life *l, StorageDim *sd, int d)
{
    Arena *a = l->p->a;
    Reach first = { 0 }, r;
    int64_t before = 0, after = 0;
    for (int i = 0; i < l->writers.n; i++) {
        if (!reach_of(l, l->writers.at[i], d, &r))
            return false;
        first = i == 0 ? r : first;
        if (!r.cut != !first.cut || r.offset != first.offset || (r.cut && r.cut->lo != first.cut->lo))
            return false;
        if (!r.cut && (!expr_equal(r.lo, first.lo) || !expr_equal(r.hi, first.hi)))
            return false;
        before = r.cut && r.cut->before > before ? r.cut->before : before;
        after = r.cut && r.cut->after > after ? r.cut->after : after;
    }
    Expr *one = expr_int(a, DT_INDEX, 1, (Range){ 0, 0 });
    if (!first.cut) {
        sd->base = plus(l, first.lo, first.offset);
        sd->extent = expr_simplify(a, expr_binary(a, OP_MAX, DT_INDEX, expr_simplify(a, expr_binary(a, OP_SUB, DT_INDEX, first.hi, first.lo)), one));
        return true;
    }
    const Node *grid = grid_of(l);
    for (int q = 0; q < grid->ndims; q++)
        if (grid->dims[q].lo == first.cut->lo) {
            sd->base = plus(l, expr_index(a, first.cut->lo, (Range){ 0, 0 }), first.offset - before);
            sd->extent = plus(l, grid->dims[q].tile, before + after);
            return true;
        }
    return false;
}

static Expr *whole_extent(const Life *l, int d)
{
    Expr *extent = expr_binary(l->p->a, OP_SUB, DT_INDEX, l->x->hi[d], l->x->lo[d]);
    return expr_simplify(l->p->a, expr_binary(l->p->a, OP_MAX, DT_INDEX, extent, expr_int(l->p->a, DT_INDEX, 0, (Range){ 0, 0 })));
}

static void full_dimensions(const Life *l, Storage *st)
{
    isl_set *elements = NULL;
    for (int d = 0; d < l->x->rank; d++) {
        if (st->dim[d].kind != DIM_FULL || plain_dimension(l, &st->dim[d], d))
            continue;
        depend_budget_begin(l->p->g);
        if (!elements)
            elements = written_in_tile(l);
        isl_pw_aff *min = isl_set_dim_min(isl_set_copy(elements), d), *max = isl_set_dim_max(isl_set_copy(elements), d);
        Expr *base = poly_expr(l->p->g->poly, l->p->a, (PolyIndices){ 0, NULL }, min), *extent = largest_width(l, min, max);
        bool done = depend_budget_end(l->p->g) && base && extent;
        if (!done)
            depend_give_up(l->p->g, l->x->range, "how much of `%s` a tile needs was too expensive to find out; each worker keeps all of it", l->x->name);
        st->dim[d].base = done ? base : l->x->lo[d];
        st->dim[d].extent = done ? extent : whole_extent(l, d);
    }
    isl_set_free(elements);
}

// Does every user pass the level at depth k without a loop, in one place? (Others have a loop over tiles there.)
static bool passes(const Life *l, int k)
{
    const PathEntry *first = NULL;
    for (int i = 0; i < l->users.n; i++) {
        const StmtPlan *sp = plan_of(l->p, l->users.at[i]);
        if (k >= sp->npath - 1 || sp->path[k].loop || (first && sp->path[k].seq != first->seq))
            return false;
        first = &sp->path[k];
    }
    return true;
}

// ---- folding along a loop -----------------------------------------------------------------------------------------

// What a loop does to a dimension: the newest element at theta is sign * theta + c.
typedef struct { const Loop *loop; int dim, sign; int64_t c; } Front;

// How far behind the newest element an instance of the loop reads what `d`, from outside of it, has written. Beyond the newest
// is as bad as too old.
static int64_t age_of_outside(const Life *l, const Front *front, Dep *d, Theta t)
{
    if (d->guessed)
        return DISTANCE_INF;
    depend_budget_begin(l->p->g);
    isl_map *read = isl_map_apply_range(isl_map_reverse(isl_map_copy(d->map)), depend_write(l->p->g, d->src));
    isl_set *both = isl_set_flatten(isl_map_wrap(read));
    isl_local_space *ls = isl_local_space_from_space(isl_set_get_space(both));
    isl_aff *theta = isl_aff_var_on_domain(isl_local_space_copy(ls), isl_dim_set, (unsigned)t.idx);
    isl_aff *element = isl_aff_var_on_domain(ls, isl_dim_set, (unsigned)(d->dst->n + front->dim));
    isl_ctx *isl = isl_aff_get_ctx(theta);
    theta = isl_aff_add_constant_val(t.sign < 0 ? isl_aff_neg(theta) : theta, isl_val_int_from_si(isl, t.shift));
    element = isl_aff_add_constant_val(element, isl_val_int_from_si(isl, -front->c));
    isl_aff *age = isl_aff_sub(theta, front->sign < 0 ? isl_aff_neg(element) : element);
    int64_t youngest = -1, oldest = DISTANCE_INF;
    bool known = poly_int(isl_set_min_val(both, age), &youngest), bounded = poly_int(isl_set_max_val(both, age), &oldest);
    if (!known || !bounded || youngest < 0)
        oldest = DISTANCE_INF;
    isl_aff_free(age);
    isl_set_free(both);
    return depend_budget_end(l->p->g) ? oldest : DISTANCE_INF;
}

// The largest age at which an element is read inside the loop: how far behind the newest written one.
static int64_t oldest_read(const Life *l, const Front *front)
{
    int64_t oldest = 0;
    for (int i = 0; i < l->deps.n; i++) {
        Dep *d = l->deps.at[i];
        const PathEntry *s = loop_at(plan_of(l->p, d->src), l->level), *t = loop_at(plan_of(l->p, d->dst), l->level);
        if (!t || t->loop != front->loop)
            continue;
        int64_t age;
        if (s && s->loop == front->loop) {
            Distance r = graph_distance(l->p, d, s->theta, t->theta);
            age = r.min < 0 ? DISTANCE_INF : r.max;
        } else {
            age = age_of_outside(l, front, d, t->theta);
        }
        oldest = age > oldest ? age : oldest;
    }
    return oldest;
}

static bool in_loop(const Life *l, const Stmt *s, const Loop *loop)
{
    const PathEntry *e = loop_at(plan_of(l->p, s), l->level);
    return e && e->loop == loop;
}

typedef struct { const Life *l; const Stmt *s; isl_set *read; } Outside;

static void collect_read(void *data, Expr *read, int nconds, Expr *const *conds)
{
    Outside *o = data;
    if (read->tensor != o->l->x)
        return;
    isl_set *r = isl_map_range(depend_access(o->l->p->g, o->s, read, nconds, conds));
    o->read = o->read ? isl_set_union(o->read, r) : r;
}

static isl_set *read_by(const Life *l, const Stmt *s)
{
    Outside o = { l, s, NULL };
    depend_stmt_reads(l->p->a, s, collect_read, &o);
    return o.read;
}

// { element : its coordinate `dim` is within `window` of the last one written in the loop }
static isl_set *last_window(const Life *l, const Front *front, int64_t window)
{
    int dim = front->dim, sign = front->sign;
    isl_set *written = NULL;
    for (int i = 0; i < l->writers.n; i++)
        if (in_loop(l, l->writers.at[i], front->loop)) {
            isl_set *w = isl_map_range(depend_write(l->p->g, l->writers.at[i]));
            written = written ? isl_set_union(written, w) : w;
        }
    isl_pw_aff *edge = sign > 0 ? isl_set_dim_max(isl_set_copy(written), dim) : isl_set_dim_min(isl_set_copy(written), dim);
    isl_space *space = isl_set_get_space(written);
    isl_set_free(written);
    isl_pw_aff *x = isl_pw_aff_from_aff(isl_aff_var_on_domain(isl_local_space_from_space(space), isl_dim_set, (unsigned)dim));
    edge = isl_pw_aff_add_dims(edge, isl_dim_in, (unsigned)l->x->rank);
    edge = isl_pw_aff_set_tuple_id(edge, isl_dim_in, isl_pw_aff_get_tuple_id(x, isl_dim_in));
    isl_val *w = isl_val_int_from_si(l->p->g->poly->isl, sign > 0 ? -window : window);
    edge = isl_pw_aff_add_constant_val(edge, w);
    return sign > 0 ? isl_pw_aff_gt_set(x, edge) : isl_pw_aff_lt_set(x, edge);
}

// Who reads outside the loop must read only what the loop left standing; who writes before it, at most a window.
static bool outside_agrees(const Life *l, const Front *front, int64_t window)
{
    int dim = front->dim;
    isl_set *standing = last_window(l, front, window);
    bool fine = true;
    isl_set *before = NULL;
    for (int i = 0; fine && i < l->users.n; i++) {
        const Stmt *s = l->users.at[i];
        if (in_loop(l, s, front->loop))
            continue;
        if (s->eq->lhs == l->x) {
            isl_set *w = isl_map_range(depend_write(l->p->g, s));
            before = before ? isl_set_union(before, w) : w;
        }
        isl_set *r = read_by(l, s);
        if (!r)
            continue;
        // Where the loop runs at all, only its last window may be read.
        isl_set *runs = isl_set_params(isl_set_copy(standing));
        r = isl_set_intersect_params(r, runs);
        fine = isl_set_is_subset(r, standing) == isl_bool_true;
        isl_set_free(r);
    }
    if (fine && before) {
        isl_set *plane = isl_set_project_out(isl_set_copy(before), isl_dim_set, (unsigned)dim + 1, (unsigned)(l->x->rank - dim - 1));
        plane = isl_set_project_out(plane, isl_dim_set, 0, (unsigned)dim);
        isl_pw_aff *min = isl_set_dim_min(isl_set_copy(plane), 0), *max = isl_set_dim_max(plane, 0);
        int64_t width;
        fine = poly_int(isl_pw_aff_max_val(isl_pw_aff_sub(max, min)), &width) && width < window;
    }
    isl_set_free(before);
    isl_set_free(standing);
    return fine;
}

// Where a statement stands: among the leaves, or inside its leaf at the level of the loop.
static int position_of(const Life *l, const Stmt *s)
{
    const StmtPlan *sp = plan_of(l->p, s);
    return l->inside ? sp->path[l->level].seq : sp->leaf->id;
}

// Writers outside the loop that come after it would overwrite what is still needed: only those before it are allowed.
static bool written_after(const Life *l, const Loop *loop)
{
    int first = INT_MAX;
    for (int i = 0; i < l->p->g->stmts.n; i++) {
        const Stmt *s = l->p->g->stmts.at[i];
        if (in_loop(l, s, loop) && position_of(l, s) < first)
            first = position_of(l, s);
    }
    for (int i = 0; i < l->writers.n; i++)
        if (!in_loop(l, l->writers.at[i], loop) && position_of(l, l->writers.at[i]) > first)
            return true;
    return false;
}

// The loop at the level that writes it and runs step by step: around leaves, or inside one.
static Loop *folding_loop(const Life *l)
{
    for (int i = 0; i < l->writers.n; i++) {
        const PathEntry *e = loop_at(plan_of(l->p, l->writers.at[i]), l->level);
        if (e && e->loop->outer == !l->inside && !e->loop->parallel && e->loop->tile == 0)
            return e->loop;
    }
    return NULL;
}

// Every writer in the loop fills its plane whole before a reader of the same iteration or a later one: the planes of two
// iterations in flight never meet, because what is inside a sequential loop ends before the next iteration begins.
static void fold(Life *l, Storage *st)
{
    const Loop *loop = folding_loop(l);
    Life inner = *l;
    inner.writers = (StmtList){ 0 };
    for (int i = 0; loop && i < l->writers.n; i++)
        if (in_loop(l, l->writers.at[i], loop))
            VEC_PUSH(l->p->a, &inner.writers, l->writers.at[i]);
    if (!loop || written_after(l, loop))
        return;
    Front front = { .loop = loop };
    for (int d = 0; d < l->x->rank; d++) {
        if (st->dim[d].kind != DIM_FULL || !dimension_follows(&inner, d, l->level, &front.c, &front.sign))
            continue;
        front.dim = d;
        int64_t window = oldest_read(l, &front);
        depend_budget_begin(l->p->g);
        bool agrees = window++ < 63 && outside_agrees(l, &front, window);
        if (!depend_budget_end(l->p->g)) {
            depend_give_up(l->p->g, l->x->range, "whether `%s` can be folded was too expensive to find out; it is kept as a whole", l->x->name);
            return;
        }
        if (agrees)
            st->dim[d] = (StorageDim){ .kind = window == 1 ? DIM_DROP : DIM_MODULO, .modulo = window };
        return;
    }
}

static void keep_private(Life *l, Storage *st)
{
    bool taken[MAX_INDICES] = { false };
    int left = l->x->rank, depth = 0;
    for (;; depth++) {
        const Loop *loop = shared_loop(l, depth);
        if (!loop && passes(l, depth))
            continue;
        if (!loop)
            break;
        Span s = span_at(l, depth);
        int d = loop->tile ? -1 : follower(l, depth, taken);
        bool still = s.min == 0 && s.max == 0;
        if (still && s.self == 0) {
            if (d >= 0) {
                st->dim[d].kind = DIM_DROP;
                taken[d] = true;
                left--;
            }
            continue;
        }
        int64_t window = s.max + 1 > s.self ? s.max + 1 : s.self;
        if (d >= 0 && s.min >= 0 && window <= 64 && s.max < DISTANCE_INF && s.self < DISTANCE_INF) {
            st->dim[d] = (StorageDim){ .kind = window == 1 ? DIM_DROP : DIM_MODULO, .modulo = window };
            left -= window == 1;
        }
        break;
    }
    l->level = depth;
    l->inside = true;
    if (left > 0)
        fold(l, st);
    const StmtPlan *user = plan_of(l->p, l->users.at[0]);
    while (depth > user->leaf->nouter && !user->path[depth - 1].loop)
        depth--;
    st->kind = left == 0 ? STORE_REGISTER : STORE_SCRATCH;
    st->depth = depth;
    if (st->kind == STORE_SCRATCH)
        full_dimensions(l, st);
}

static void keep_shared(Life *l, Storage *st, bool may_fold)
{
    st->kind = STORE_WORKSPACE;
    for (int d = 0; d < l->x->rank; d++) {
        st->dim[d] = (StorageDim){ .kind = DIM_FULL, .base = l->x->lo[d], .extent = whole_extent(l, d) };
    }
    if (may_fold)
        fold(l, st);
}

// Whether an element exists that no statement defines, or may: nothing can be said of its memory. What moves bring is boxes, in
// which such elements lie, too.
static bool has_holes(const Life *l)
{
    Program *g = l->p->g;
    bool exact = true;
    depend_budget_begin(g);
    isl_set *left = poly_shape(g->poly, l->x);
    for (int i = 0; i < l->writers.n; i++) {
        exact = exact && l->writers.at[i]->exact;
        left = poly_subtract(g->poly, left, isl_map_range(depend_write(g, l->writers.at[i])));
    }
    bool whole = exact && isl_set_is_empty(left) == isl_bool_true;
    isl_set_free(left);
    return !depend_budget_end(g) || !whole;
}

// ---- what a schedule asks for -----------------------------------------------------------------------------------

static const char *index_of_dim(const Stmt *s, int d)
{
    for (int k = 0; k < s->n; k++)
        if (expr_uses(s->subs[d], s->index[k]))
            return s->index[k]->name;
    return "?";
}

static bool is_materialized(const Plan *p, const Tensor *t)
{
    const TensorWish *w = schedule_tensor(p->schedule, t);
    return w && w->materialize;
}

// The dependence that reaches furthest along dimension d, by the index that subscripts it where it is written.
static const Dep *longest(const Life *l, int d, Distance *most)
{
    const Dep *found = NULL;
    for (int i = 0; i < l->deps.n; i++) {
        Dep *dep = l->deps.at[i];
        const char *name = index_of_dim(dep->src, d);
        for (int x = 0; x < dep->src->n; x++)
            for (int y = 0; y < dep->dst->n; y++) {
                if (strcmp(dep->src->index[x]->name, name) != 0 || strcmp(dep->dst->index[y]->name, name) != 0)
                    continue;
                Distance r = depend_distance(l->p->g, dep, x, y, 1);
                if (found && r.max <= most->max && r.min >= most->min)
                    continue;
                found = dep;
                *most = r;
            }
    }
    return found;
}

static bool mark_logged(Expr *e, void *data)
{
    bool *logged = data;
    if (e->op == OP_READ)
        logged[e->tensor->id] = true;
    return true;
}

// `fold t.i = n`: at most n planes, and no fewer than the dependences need.
static void check_folds(Life *l, const Storage *st)
{
    const TensorWish *w = schedule_tensor(l->p->schedule, l->x);
    for (int d = 0; w && d < l->x->rank; d++) {
        int64_t need = st->dim[d].kind == DIM_DROP ? 1 : st->dim[d].modulo;
        bool full = st->dim[d].kind == DIM_FULL;
        if (!w->fold[d] || (!full && need <= w->fold[d]))
            continue;
        const char *name = l->x->name, *what = arena_printf(l->p->a, "`%s` needs %s planes", name, full ? "all its" : arena_printf(l->p->a, "%lld", (long long)need));
        Distance r = { 0, 0, false };
        const Dep *dep = longest(l, d, &r);
        if (dep)
            refuse_dependence(l->p, w->fold_range, what, dep, r, index_of_dim(dep->src, d));
        else
            diag_report(l->p->g->diags, D_ILLEGAL, w->fold_range, "%s here: no loop that computes and reads it runs along this dimension", what);
    }
}

// ---- for --explain ------------------------------------------------------------------------------------------------

// "2 planes along `t`, all of `i` and all of `j`".
static const char *dims_text(const Life *l, const Storage *st)
{
    Arena *a = l->p->a;
    const char *parts[MAX_INDICES];
    int n = 0;
    for (int d = 0; d < l->x->rank && n < MAX_INDICES; d++) {
        const char *name = "?";
        for (int i = 0; i < l->writers.n && name[0] == '?'; i++)
            name = index_of_dim(l->writers.at[i], d);
        if (name[0] == '?')
            name = arena_printf(a, "dimension %d", d);
        else
            name = arena_printf(a, "`%s`", name);
        switch (st->dim[d].kind) {
        case DIM_FULL: parts[n++] = arena_printf(a, "all of %s", name); break;
        case DIM_DROP: parts[n++] = arena_printf(a, "one plane along %s", name); break;
        case DIM_MODULO: parts[n++] = arena_printf(a, "%lld planes along %s", (long long)st->dim[d].modulo, name); break;
        }
    }
    return explain_list(a, n, parts);
}

static const char *why_shared(const Life *l, bool logged)
{
    if (is_materialized(l->p, l->x))
        return "the schedule keeps it as a whole";
    if (logged)
        return "a log reads it at the end";
    if (!one_leaf(l))
        return "several grids use it";
    return plan_of(l->p, l->users.at[0])->leaf->node->noffsets > 0 ? "tiles of the wave hand it on" : "one step hands it on to the next";
}

static void explain_storage(const Life *l, const Storage *st, bool logged)
{
    const char *name = l->x->name;
    if (!explains(l->p))
        return;
    switch (st->kind) {
    case STORE_PARAM: return;
    case STORE_NONE: explain_tensor(l->p, l->x, "`%s` is never used.", name); return;
    case STORE_REGISTER: {
        const StmtPlan *user = plan_of(l->p, l->users.at[0]);
        const Loop *loop = st->depth > user->leaf->nouter ? user->path[st->depth - 1].loop : NULL;
        if (loop)
            explain_tensor(l->p, l->x, "`%s` is a register: a value is used up in the iteration of `%s` that computes it.", name, loop->name);
        else
            explain_tensor(l->p, l->x, "`%s` is a register: one value at a time is alive in a task.", name);
        return;
    }
    case STORE_SCRATCH:
        explain_tensor(l->p, l->x, "`%s` is scratch of each worker, since its uses are in one task: %s of a tile.", name, l->x->rank ? dims_text(l, st) : "one value");
        return;
    case STORE_WORKSPACE:
        explain_tensor(l->p, l->x, "`%s` is in the workspace, since %s: %s.", name, why_shared(l, logged), l->x->rank ? dims_text(l, st) : "one value");
        return;
    }
}

// ---- the pass -----------------------------------------------------------------------------------------------------

static Life *lives_of(Plan *p, TileKernel *t)
{
    int n = p->kernel->tensors.n;
    Life *life = ARENA_ARRAY(p->a, Life, n + 1);
    for (int i = 0; i < n; i++)
        life[i] = (Life){ .p = p, .t = t, .x = p->kernel->tensors.at[i] };
    for (int i = 0; i < p->g->stmts.n; i++) {
        Stmt *s = p->g->stmts.at[i];
        add_user(p, &life[s->eq->lhs->id].users, s);
        add_user(p, &life[s->eq->lhs->id].writers, s);
    }
    for (int i = 0; i < p->g->deps.n; i++) {
        Dep *d = p->g->deps.at[i];
        add_user(p, &life[d->tensor->id].users, d->dst);
        VEC_PUSH(p->a, &life[d->tensor->id].deps, d);
    }
    return life;
}

void storage_resize(Plan *p, TileKernel *t)
{
    Life *life = lives_of(p, t);
    for (int i = 0; i < p->kernel->tensors.n; i++)
        if (t->storage[i].kind == STORE_SCRATCH)
            full_dimensions(&life[i], &t->storage[i]);
}

void storage_assign(Plan *p, TileKernel *t)
{
    int n = p->kernel->tensors.n;
    Life *life = lives_of(p, t);
    bool *logged = ARENA_ARRAY(p->a, bool, n + 1);          // read after all grids
    for (int i = 0; i < p->kernel->logs.n; i++)
        for (int j = 0; j < p->kernel->logs.at[i]->args.n; j++)
            expr_walk(p->kernel->logs.at[i]->args.at[j], mark_logged, logged);
    t->storage = ARENA_ARRAY(p->a, Storage, n + 1);
    for (int i = 0; i < n; i++) {
        Tensor *x = p->kernel->tensors.at[i];
        Storage *st = &t->storage[i];
        *st = (Storage){ .tensor = x, .dim = ARENA_ARRAY(p->a, StorageDim, x->rank + 1) };
        if (x->kind == TENSOR_INPUT || x->kind == TENSOR_OUTPUT)
            st->kind = STORE_PARAM;
        else if (life[i].users.n == 0)
            st->kind = STORE_NONE;
        else if (!logged[i] && !is_materialized(p, x) && is_private(&life[i]))
            keep_private(&life[i], st);
        else
            keep_shared(&life[i], st, !logged[i] && !is_materialized(p, x));
        st->holes = st->kind == STORE_WORKSPACE && p->machine->emits_bundles && has_holes(&life[i]);
        check_folds(&life[i], st);
        explain_storage(&life[i], st, logged[i]);
    }
}
