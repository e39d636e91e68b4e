// order: the point loops inside a leaf.
//
// Level by level: the components of what is left of the dependences are visited in topological order; each shares the
// loop of an earlier group when all distances between them are >= 0 (a constant shift may see to that) and exactly 0 in
// a vector loop; else it gets a loop of its own, after it. Dependences that a loop carries (distance >= 1) are
// satisfied and left out below. Loops that accumulate come last, vector loops innermost among the others; what a
// schedule's `order` names comes in that order instead.
//
// Tiles that a schedule asks for and the grid has not made are loops of their own, before all point loops. They carry
// nothing: what is satisfied at distance >= 0 between tiles must be satisfied again between points.
//
// A component that stays cyclic with no loop to carry it is an error: guarantee 3, well-foundedness.
// Tests: tests/golden/explain/order.pto, tests/errors/proofs/cycles.pto, tests/run
#include "passes/plan.h"

#include "passes/schedule_check.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SHIFT = 32 };

// `passing`: without a loop at this level, where others have a loop over tiles.
typedef struct { StmtList stmts; Loop *loop; bool passing; } Group;
typedef VEC(Group) Groups;

typedef struct {
    Plan *p;
    Leaf *leaf;
    Theta *theta;                 // by statement id: the loop chosen at this level
    Theta *trial;
    unsigned *allowed;
    int *group;                   // by statement id: position in Groups, or -1
    bool tiles;                   // this level makes loops over tiles
} Order;

static bool order_list(Order *o, const StmtList *stmts, const DepList *deps);

// ---- candidates -----------------------------------------------------------------------------------------------

static const StmtWish *wish_of(const Order *o, const Stmt *s)
{
    return schedule_stmt(o->p->schedule, s);
}

// The next size of tiles that a statement asks for, along an index that the grid does not cut that far. On a machine of bundles sizes are
// those of blocks (bundles/choice.h): the loops here are what one unit without a cache does.
static int64_t next_tile(const Order *o, const StmtPlan *sp, int idx)
{
    const StmtWish *w = o->p->machine->emits_bundles ? NULL : wish_of(o, sp->stmt);
    const TileWish *t = w ? w->tile[idx] : NULL;
    if (!(sp->free >> idx & 1) || !t || sp->levels[idx] >= t->n)
        return 0;
    const TileSize *size = &t->level[sp->levels[idx]];
    return size->kind == SIZE_RANGE ? size->hi : size->kind == SIZE_FIXED ? size->value->i : 0;
}

static unsigned tiled_indices(const Order *o, const StmtPlan *sp)
{
    unsigned mask = 0;
    for (int i = 0; i < sp->stmt->n; i++)
        if (next_tile(o, sp, i))
            mask |= 1u << i;
    return mask;
}

// The first of an order that is among the indices, else all of them.
static unsigned first_of_order(const Order *o, const StmtPlan *sp, unsigned indices)
{
    const StmtWish *w = wish_of(o, sp->stmt);
    for (int i = 0; w && i < w->norder; i++)
        if (indices >> w->order[i].idx & 1)
            return 1u << w->order[i].idx;
    return indices;
}

static void choose_level(Order *o, const StmtList *stmts)
{
    o->tiles = false;
    for (int i = 0; i < stmts->n; i++)
        o->tiles = o->tiles || tiled_indices(o, plan_of(o->p, stmts->at[i]));
    for (int i = 0; i < stmts->n; i++) {
        const StmtPlan *sp = plan_of(o->p, stmts->at[i]);
        o->allowed[sp->stmt->id] = first_of_order(o, sp, o->tiles ? tiled_indices(o, sp) : sp->free);
    }
}

// How far inside the loop over an index is best: vectors within the others, and reductions innermost, so that they add in
// registers. A scatter adds in memory, and does so along whole vectors.
static int depth_of(const StmtPlan *sp, int idx)
{
    bool reduced = idx >= sp->stmt->nouter, vector = idx == sp->vecdim;
    return stmt_is_scatter(sp->stmt) ? reduced + 2 * vector : 2 * reduced + vector;
}

// The indices that a statement may have a loop over, in the order in which they are best tried.
static int preferences(const Order *o, const StmtPlan *sp, int *pref)
{
    const Stmt *s = sp->stmt;
    int n = 0;
    for (int pass = 0; pass < 4; pass++)
        for (int i = 0; i < s->n; i++)
            if ((o->allowed[s->id] >> i & 1) && pass == depth_of(sp, i))
                pref[n++] = i;
    return n;
}

static bool wants_vector(Order *o, const StmtList *l, const Theta *theta)
{
    for (int i = 0; i < l->n && !o->tiles; i++) {
        const StmtPlan *sp = plan_of(o->p, l->at[i]);
        if (sp->vecdim >= 0 && theta[l->at[i]->id].idx == sp->vecdim)
            return true;
    }
    return false;
}

// How many of the statements may have a loop at this level?
static int count_loops(Order *o, const StmtList *l)
{
    int n = 0;
    for (int i = 0; i < l->n; i++)
        n += o->allowed[l->at[i]->id] != 0;
    return n;
}

static int64_t tile_of(Order *o, const StmtList *l, const Theta *theta)
{
    return o->tiles ? next_tile(o, plan_of(o->p, l->at[0]), theta[l->at[0]->id].idx) : 0;
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
    const Stmt *mine = g->stmts.at[0], *its = c->at[0];
    if (o->theta[mine->id].sign != sign || g->loop->tile != tile_of(o, c, o->trial))
        return false;
    // Loops that the tile cuts and loops that it does not have little in common.
    if (plan_in_grid(plan_of(o->p, mine), o->theta[mine->id].idx) != plan_in_grid(plan_of(o->p, its), o->trial[its->id].idx))
        return false;
    for (int i = 0; i < cross->n; i++) {
        Dep *d = cross->at[i];
        Distance r = graph_distance(o->p, d, o->theta[d->src->id], o->trial[d->dst->id]);
        min = r.min < min ? r.min : min;
        max = r.max > max ? r.max : max;
    }
    if (cross->n == 0)
        return c->n == 1 && mine->kind == STMT_MAP && its->kind == STMT_MAP && same_box(mine, its, o->theta[mine->id].idx, o->trial[its->id].idx);
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

// Sets the trial to the next workable choice at or after *k among (preference, sign); false: no more.
static bool next_choice(Order *o, const StmtList *c, const DepList *inner, int *k)
{
    int pref[MAX_INDICES], n = preferences(o, plan_of(o->p, c->at[0]), pref);
    for (; *k < 2 * n; (*k)++)
        if (graph_align(o->p, c, inner, pref[*k / 2], *k % 2 ? -1 : 1, false, o->allowed, o->trial)) {
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

// Would the trial put a loop that the statement carries along, and that belongs outside of its vectors, inside of them?
static bool buries_carried(Order *o, const StmtList *c, const DepList *inner)
{
    for (int i = 0; i < inner->n; i++) {
        Dep *d = inner->at[i];
        const StmtPlan *sp = plan_of(o->p, d->dst);
        int chosen = o->trial[d->dst->id].idx;
        if (d->src != d->dst || chosen != sp->vecdim)
            continue;
        for (int k = 0; k < d->dst->n; k++) {
            if (!(o->allowed[d->dst->id] >> k & 1) || depth_of(sp, k) >= depth_of(sp, chosen))
                continue;
            Distance r = depend_distance(o->p->g, d, k, k, 1);
            if (r.min != 0 || r.max != 0)
                return true;
        }
    }
    return false;
}

static bool join(Order *o, Groups *groups, int least, const StmtList *c, const DepList *deps, const DepList *inner)
{
    for (int g = groups->n - 1; g >= least && g >= 0; g--) {
        if (!groups->at[g].loop)
            continue;
        DepList cross = between(o, deps, g, c);
        for (int k = 0; next_choice(o, c, inner, &k);)
            if (!buries_carried(o, c, inner) && fits(o, &groups->at[g], c, &cross)) {
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

// The equation that the user wrote, of which a statement may be a part: a reduction that was taken out.
static const Equation *source_equation(const Order *o, const Stmt *s)
{
    const Kernel *k = o->p->g->kernel;
    for (int i = 0; s->eq->lhs->kind == TENSOR_HIDDEN && i < k->equations.n; i++)
        if (k->equations.at[i]->origin == s->eq->origin && k->equations.at[i]->lhs->kind != TENSOR_HIDDEN)
            return k->equations.at[i];
    return s->eq;
}

// Whether no earlier statement of the list stems from the same equation of the source.
static bool is_first_of_source(const StmtList *c, int at)
{
    if (c->at[at]->kind == STMT_INIT || c->at[at]->eq->origin < 0)
        return false;
    for (int i = 0; i < at; i++)
        if (c->at[i]->kind != STMT_INIT && c->at[i]->eq->origin == c->at[at]->eq->origin)
            return false;
    return true;
}

static void report_cycle(Order *o, const StmtList *c)
{
    const Stmt *first = c->at[0];
    const Equation *source = source_equation(o, first);
    if (o->p->g->given_up.n > 0) {
        diag_report(o->p->g->diags, D_UNDECIDED, first->eq->lhs_range, "whether `%s` can be computed in some order could not be decided within the budget", first->eq->lhs->name);
        return;
    }
    diag_report(o->p->g->diags, D_CYCLE, source->lhs_range, "no order found in which every element of `%s` comes after what it is computed from", source->lhs->name);
    for (int i = 0; i < c->n; i++)
        if (is_first_of_source(c, i))
            diag_note(o->p->g->diags, source_equation(o, c->at[i])->range, "`%s` is part of the cycle", source_equation(o, c->at[i])->lhs->name);
    diag_help(o->p->g->diags, "every dependence must go forward (or backward) along one common index; check the shifts on the right");
}

// The statement's order, or its tiles, ask for a loop that a dependence forbids. False: nothing of the kind.
static bool report_wish(Order *o, const StmtList *c, const DepList *inner)
{
    for (int i = 0; i < inner->n; i++) {
        Dep *d = inner->at[i];
        const StmtWish *w = wish_of(o, d->dst);
        unsigned x = o->allowed[d->src->id], y = o->allowed[d->dst->id];
        if (!w || !y || (y & (y - 1)) || !x || (x & (x - 1)))
            continue;
        int from = __builtin_ctz(x), to = __builtin_ctz(y);
        Distance r = depend_distance(o->p->g, d, from, to, 1);
        if (r.min >= 0)
            continue;
        const char *name = d->dst->index[to]->name;
        Range at = o->tiles ? w->tile[to]->level[0].range : w->norder ? w->order[0].range : d->dst->eq->range;
        refuse_dependence(o->p, at, arena_printf(o->p->a, o->tiles ? "`%s` cannot be cut into tiles here" : "the loop over `%s` cannot come first here", name), d, r, name);
        return true;
    }
    for (int i = 0; i < c->n; i++) {
        const StmtWish *w = wish_of(o, c->at[i]);
        if (!w || (!w->norder && !o->tiles))
            continue;
        Range at = w->norder ? w->order[0].range : c->at[i]->eq->range;
        diag_report(o->p->g->diags, D_ILLEGAL, at, "the equations of this recurrence have no such loop in common: %s", stmt_text(o->p->a, o->p->g, c->at[i]));
        return true;
    }
    return false;
}

static void report_no_loop(Order *o, const StmtList *c, const DepList *inner)
{
    if (!report_wish(o, c, inner))
        report_cycle(o, c);
}

// Without a loop: as early as it can be, after others of its kind; with those that pass this level, to share loops below.
static void place_without_loop(Order *o, Groups *groups, int least, const StmtList *c, bool passing)
{
    for (int i = 0; i < c->n; i++)
        o->trial[c->at[i]->id] = (Theta){ -1, 1, 0 };
    for (int g = groups->n - 1; passing && g >= least && g >= 0; g--)
        if (groups->at[g].passing) {
            take(o, &groups->at[g], g, c);
            return;
        }
    int at = least + 1;
    while (at < groups->n && !groups->at[at].loop)
        at++;
    insert_group(o, groups, at);
    groups->at[at].passing = passing;
    take(o, &groups->at[at], at, c);
}

static int last_source(Order *o, const StmtList *c, const DepList *deps)
{
    int least = -1;
    for (int i = 0; i < deps->n; i++)
        for (int j = 0; j < c->n; j++)
            if (deps->at[i]->dst == c->at[j] && o->group[deps->at[i]->src->id] > least)
                least = o->group[deps->at[i]->src->id];
    return least;
}

static bool place(Order *o, Groups *groups, const StmtList *c, const DepList *deps)
{
    DepList inner = graph_inner(o->p, c, deps);
    int least = last_source(o, c, deps), loops = count_loops(o, c);
    if (loops == 0) {
        if (!o->tiles && graph_is_cyclic(c, &inner)) {
            report_cycle(o, c);
            return false;
        }
        place_without_loop(o, groups, least, c, o->tiles);
        return true;
    }
    if (loops == c->n && join(o, groups, least, c, deps, &inner))
        return true;
    int k = 0;
    if (loops < c->n || !next_choice(o, c, &inner, &k)) {
        report_no_loop(o, c, &inner);
        return false;
    }
    VEC_PUSH(o->p->a, groups, (Group){ .loop = new_loop(o) });
    take(o, &groups->at[groups->n - 1], groups->n - 1, c);
    groups->at[groups->n - 1].loop->tile = tile_of(o, c, o->trial);
    return true;
}

// ---- loops ----------------------------------------------------------------------------------------------------

// A loop over tiles carries nothing: points of one tile depend on each other.
static DepList describe_tiles(Order *o, Group *g, const DepList *deps)
{
    const Stmt *first = g->stmts.at[0];
    g->loop->name = arena_printf(o->p->a, "%s_tile", first->index[o->theta[first->id].idx]->name);
    return graph_inner(o->p, &g->stmts, deps);
}

// What schedules ask of the loop: lanes and unrolling. A vector loop must not carry a dependence.
static void apply_wishes(Order *o, Group *g, const Dep *carried, Distance r)
{
    Loop *loop = g->loop;
    for (int i = 0; i < g->stmts.n; i++) {
        const Stmt *s = g->stmts.at[i];
        const StmtWish *w = wish_of(o, s);
        int idx = o->theta[s->id].idx;
        if (!w || s->kind == STMT_INIT)                          // it only comes along in the loops of its update
            continue;
        if (w->unroll[idx])
            loop->unroll = w->unroll[idx];
        if (w->vector == VECTOR_NONE || w->vector == idx)
            loop->lanes = w->lanes ? w->lanes : loop->lanes;
        if (w->vector == idx)
            loop->asked = w->vector_range;
        if (w->vector == idx && carried && !schedule_told(o->p->schedule, w->vector_range))
            refuse_dependence(o->p, w->vector_range, arena_printf(o->p->a, "`%s` cannot run in vectors", loop->name), carried, r, loop->name);
    }
    if (loop->lanes || loop->unroll || loop->asked.end)
        VEC_PUSH(o->p->a, &o->p->asked, loop);
}

static DepList describe_loop(Order *o, Group *g, const DepList *deps)
{
    Loop *loop = g->loop;
    if (loop->tile)
        return describe_tiles(o, g, deps);
    DepList inner = graph_inner(o->p, &g->stmts, deps), rest = { 0 };
    const Stmt *first = g->stmts.at[0];
    const Dep *carried = NULL;
    Distance by = { 0, 0, false };
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
        if ((r.min != 0 || r.max != 0) && !carry) {
            loop->parallel = false;
            carried = d;
            by = r;
        }
        if (r.min < 1)
            VEC_PUSH(o->p->a, &rest, d);
    }
    apply_wishes(o, g, carried, by);
    return rest;
}

static bool order_group(Order *o, Group *g, int seq, const DepList *deps)
{
    DepList rest = { 0 };
    if (g->loop)
        rest = describe_loop(o, g, deps);
    else if (g->passing)
        rest = graph_inner(o->p, &g->stmts, deps);
    for (int i = 0; i < g->stmts.n; i++) {
        StmtPlan *sp = plan_of(o->p, g->stmts.at[i]);
        Theta t = o->theta[g->stmts.at[i]->id];
        if (sp->npath == MAX_LOOPS) {
            diag_report(o->p->g->diags, D_UNSUPPORTED, sp->stmt->eq->range, "more than %d loops around an equation are not built yet", MAX_LOOPS);
            return false;
        }
        sp->path[sp->npath++] = (PathEntry){ g->loop, t, seq };
        if (t.idx >= 0 && g->loop->tile)
            sp->levels[t.idx]++;
        else if (t.idx >= 0)
            sp->free &= ~(1u << t.idx);
    }
    return g->loop || g->passing ? order_list(o, &g->stmts, &rest) : true;
}

static bool in_list(const StmtList *l, const Stmt *s)
{
    for (int i = 0; i < l->n; i++)
        if (l->at[i] == s)
            return true;
    return false;
}

// An initialisation that still has loops to come waits for its update, so that the two share them.
static bool waits(Order *o, const StmtList *stmts, const StmtList *c)
{
    const Stmt *s = c->at[0];
    return c->n == 1 && s->kind == STMT_INIT && count_loops(o, c) > 0 && in_list(stmts, o->p->g->stmts.at[s->id + 1]);
}

// Places a component with the initialisations that waited for it: in common loops if there are any, else before it.
static bool place_with_inits(Order *o, Groups *groups, const StmtList *stmts, const StmtList *c, const DepList *deps)
{
    StmtList unit = { 0 }, inits = { 0 };
    for (int i = 0; i < c->n; i++)
        VEC_PUSH(o->p->a, &unit, c->at[i]);
    for (int i = 0; i < c->n; i++) {
        Stmt *init = c->at[i]->kind == STMT_UPDATE ? o->p->g->stmts.at[c->at[i]->id - 1] : NULL;
        if (!init || !in_list(stmts, init) || o->group[init->id] >= 0)
            continue;
        VEC_PUSH(o->p->a, &unit, init);
        VEC_PUSH(o->p->a, &inits, init);
    }
    DepList inner = graph_inner(o->p, &unit, deps);
    int k = 0;
    bool together = count_loops(o, &unit) == unit.n && next_choice(o, &unit, &inner, &k), first = k <= 2;      // either sign
    // A scatter would rather have the loop that suits it best than one in common.
    if (inits.n == 0 || (together && (first || !stmt_is_scatter(c->at[0]))))
        return place(o, groups, &unit, deps);
    for (int i = 0; i < inits.n; i++) {
        StmtList one = { 0 };
        VEC_PUSH(o->p->a, &one, inits.at[i]);
        if (!place(o, groups, &one, deps))
            return false;
    }
    return place(o, groups, c, deps);
}

static bool order_list(Order *o, const StmtList *stmts, const DepList *deps)
{
    Components c = graph_components(o->p, stmts, deps);
    Groups groups = { 0 };
    choose_level(o, stmts);
    for (int i = 0; i < stmts->n; i++)
        o->group[stmts->at[i]->id] = -1;
    for (int i = 0; i < c.n; i++)
        if (!waits(o, stmts, &c.at[i]) && !place_with_inits(o, &groups, stmts, &c.at[i], deps))
            return false;
    // The choices of this level, kept apart from those of the levels below.
    Theta *mine = memory_new((size_t)(stmts->n + 1), sizeof(Theta));
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

// ---- statements -------------------------------------------------------------------------------------------------

// Sizes that a loop inside a task cannot have.
static void check_tiles(Plan *p, const StmtPlan *sp, int idx, unsigned outer)
{
    const StmtWish *w = schedule_stmt(p->schedule, sp->stmt);
    const TileWish *t = w ? w->tile[idx] : NULL;
    if (!t || sp->stmt->kind == STMT_INIT)
        return;
    const char *name = sp->stmt->index[idx]->name;
    if (outer >> idx & 1) {
        if (!schedule_told(p->schedule, t->level[0].range))
            diag_report(p->g->diags, D_UNSUPPORTED, t->level[0].range, "tiles of `%s`, the sequential loop around %s, are not built yet", name, stmt_text(p->a, p->g, sp->stmt));
        return;
    }
    for (int k = sp->levels[idx]; k < t->n; k++)
        if (t->level[k].kind == SIZE_FIXED && t->level[k].value->op != OP_CONST && !schedule_told(p->schedule, t->level[k].range))
            diag_report(p->g->diags, D_UNSUPPORTED, t->level[k].range, "`%s` is no loop over tasks here: a tile size inside a task must be a number", name);
    for (int k = 1; k < t->n; k++) {
        const TileSize *x = &t->level[k - 1], *y = &t->level[k];
        if (x->kind == SIZE_FIXED && y->kind == SIZE_FIXED && x->value->op == OP_CONST && y->value->op == OP_CONST && y->value->i > x->value->i && !schedule_told(p->schedule, y->range))
            diag_report(p->g->diags, D_SCHEDULE, y->range, "the inner tiles of `%s` are larger than the outer ones", name);
    }
}

static void start_statement(Plan *p, StmtPlan *sp)
{
    const StmtWish *w = schedule_stmt(p->schedule, sp->stmt);
    unsigned outer = 0;
    for (int k = 0; k < sp->npath; k++)
        if (sp->path[k].theta.idx >= 0)
            outer |= 1u << sp->path[k].theta.idx;
    sp->free = ((1u << sp->stmt->n) - 1) & ~outer;
    sp->vecdim = w && w->vector != VECTOR_ANY && sp->stmt->kind != STMT_INIT ? w->vector : stride_vector_index(p, sp->stmt);
    memset(sp->levels, 0, sizeof sp->levels);
    for (int q = 0; q < sp->nintervals; q++)
        if (sp->interval[q].theta.idx >= 0)
            sp->levels[sp->interval[q].theta.idx] = 1;
    for (int i = 0; i < sp->stmt->n; i++)
        check_tiles(p, sp, i, outer);
}

static bool order_leaf(Order *o, Leaf *leaf)
{
    Plan *p = o->p;
    int errors = diags_errors(p->g->diags);
    o->leaf = leaf;
    for (int i = 0; i < leaf->stmts.n; i++)
        start_statement(p, plan_of(p, leaf->stmts.at[i]));
    return diags_errors(p->g->diags) == errors && order_list(o, &leaf->stmts, &leaf->deps) && diags_errors(p->g->diags) == errors;
}

bool order_leaves(Plan *p)
{
    int n = p->g->stmts.n;
    Order o = { .p = p };
    bool fine = true;
    o.theta = ARENA_ARRAY(p->a, Theta, n + 1);
    o.trial = ARENA_ARRAY(p->a, Theta, n + 1);
    o.allowed = ARENA_ARRAY(p->a, unsigned, n + 1);
    o.group = ARENA_ARRAY(p->a, int, n + 1);
    for (int i = 0; i < n; i++)
        o.group[i] = -1;
    for (int i = 0; i < p->leaves.n; i++)
        fine = order_leaf(&o, p->leaves.at[i]) && fine;
    return fine;
}
