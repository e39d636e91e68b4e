// fuse: which statements share a grid, and what loops stand around the grids.
//
// Components of the dependence graph are visited in topological order. Each joins the latest group that it can share
// parallel loops with, or opens a group of its own. Two statements share a parallel loop when every dependence between
// them has distance 0 in it, or a small bounded one: then the producer is computed on a halo around each tile, in
// memory private to the tile. A component that a recurrence makes cyclic runs as a wave of tiles when two of its loops
// are permutable (all distances >= 0), else as a sequential loop whose body is treated the same way again; when that
// finds nothing parallel, as serial code.
//
// Fusion must pay: a contraction keeps all its parallel loops (its reuse needs them), groups stay below a size that the
// instruction cache holds. Leaves behind: a tree of SEQ, outer LOOP and GRID nodes, and leaves to be ordered.
// Tests: tests/golden/schedules/fuse.pto (structure), tests/run (values)
#include "passes/fuse.h"

#include <stdlib.h>
#include <string.h>

// ---- what statements offer ------------------------------------------------------------------------------------

static bool expr_uses_index(Expr *e, const Index *index)
{
    for (int i = 0; i < e->n; i++)
        if (expr_uses(e->args[i], index))
            return true;
    return false;
}

typedef struct { const Stmt *s; bool full; int reads; } Reuse;

static void see_read(void *data, Expr *read, int nconds, Expr *const *conds)
{
    Reuse *r = data;
    (void)nconds;
    (void)conds;
    if (read->tensor->rank == 0)
        return;
    r->reads++;
    bool all = true;
    for (int i = 0; i < r->s->nouter; i++)
        all = all && expr_uses_index(read, r->s->index[i]);
    r->full = r->full || all;
}

// An UPDATE each of whose reads misses some outer index: every operand is used again.
static bool is_contraction(Plan *p, const Stmt *s)
{
    if (s->kind != STMT_UPDATE || s->nouter < 2)
        return false;
    Reuse r = { s, false, 0 };
    depend_visit_reads(p->a, s->eq->rhs, see_read, &r);
    return r.reads > 0 && !r.full;
}

// Parallel loops that a component offers: option[stmt][k] for k < result.
static int position_of(const Stmt *s, const Index *index)
{
    for (int i = 0; i < s->n; i++)
        if (s->index[i] == index)
            return i;
    return -1;
}

// Statements that are no recurrence are one, or an initialisation and its update, which share the update's outer indices.
static int find_options(Fuse *f, const Group *u)
{
    const Stmt *last = u->stmts.at[u->stmts.n - 1], *lead = u->cyclic ? u->stmts.at[0] : last;
    int n = 0;
    for (int i = 0; i < lead->nouter && n < MAX_INDICES; i++) {
        if (!fuse_is_free(f, lead, i))
            continue;
        if (u->cyclic && !graph_align(f->p, &u->stmts, &u->inner, i, 1, true, f->allowed, f->scratch))
            continue;
        for (int s = 0; s < u->stmts.n; s++) {
            const Stmt *x = u->stmts.at[s];
            f->option[x->id][n] = u->cyclic ? f->scratch[x->id] : (Theta){ position_of(x, lead->index[i]), 1, 0 };
        }
        n++;
    }
    return n;
}

// The initialisations of the component's updates belong to it.
static StmtList with_inits(Fuse *f, const StmtList *c)
{
    StmtList l = { 0 };
    for (int i = 0; i < c->n; i++) {
        if (c->at[i]->kind == STMT_UPDATE)
            VEC_PUSH(f->p->a, &l, f->p->g->stmts.at[c->at[i]->id - 1]);
        VEC_PUSH(f->p->a, &l, c->at[i]);
    }
    return l;
}

static Group *new_unit(Fuse *f, const StmtList *component, const StmtList *stmts, const DepList *deps)
{
    Group *u = ARENA_NEW(f->p->a, Group);
    u->stmts = *stmts;
    u->inner = graph_inner(f->p, stmts, deps);
    u->cyclic = graph_is_cyclic(component, &u->inner);
    for (int i = 0; i < stmts->n; i++) {
        u->contraction = u->contraction || is_contraction(f->p, stmts->at[i]);
        u->has_update = u->has_update || stmts->at[i]->kind == STMT_UPDATE;
    }
    u->ndims = find_options(f, u);
    return u;
}

// ---- joining a group ------------------------------------------------------------------------------------------

typedef struct { bool exact; int64_t min, max; } Cross;

static Cross cross_distance(Fuse *f, const DepList *cross, int q, int option)
{
    Cross c = { true, DISTANCE_INF, -DISTANCE_INF };
    for (int i = 0; i < cross->n; i++) {
        Dep *d = cross->at[i];
        Distance r = graph_distance(f->p, d, f->member[d->src->id].theta[q], f->option[d->dst->id][option]);
        c.exact = c.exact && r.min == r.max && (i == 0 || r.min == c.min);
        c.min = r.min < c.min ? r.min : c.min;
        c.max = r.max > c.max ? r.max : c.max;
    }
    return c;
}

static bool halo_is_possible(Fuse *f, const DepList *cross)
{
    for (int i = 0; i < cross->n; i++) {
        const Tensor *t = cross->at[i]->tensor;
        if (t->kind == TENSOR_OUTPUT || f->no_halo[t->id])
            return false;
    }
    return true;
}

// Does option k of the unit go with loop q of the group: at a constant distance (then *shift makes up for it), or on a halo?
static bool option_fits(Fuse *f, const DepList *cross, int q, int k, bool halo, int64_t *shift)
{
    Cross c = cross_distance(f, cross, q, k);
    *shift = halo ? 0 : -c.min;
    if (!halo)
        return c.exact && llabs(c.min) < DISTANCE_INF;
    return c.min >= -MAX_HALO && c.max <= MAX_HALO && halo_is_possible(f, cross);
}

static bool same_ranges(const Stmt *x, const Stmt *y)
{
    if (x->nouter != y->nouter || x->nouter == 0)
        return false;
    for (int i = 0; i < x->nouter; i++)
        if (!expr_equal(x->index[i]->lo, y->index[i]->lo) || !expr_equal(x->index[i]->hi, y->index[i]->hi))
            return false;
    return true;
}

// Without a dependence, two plain maps over the same box share a grid, and so do the pieces of one tensor.
static bool are_siblings(const Group *g, const Group *u)
{
    if (g->cyclic || u->cyclic || u->stmts.n != 1 || u->contraction || g->contraction)
        return false;
    const Stmt *y = u->stmts.at[0];
    for (int i = 0; i < g->stmts.n; i++) {
        const Stmt *x = g->stmts.at[i];
        bool pieces = x->eq->lhs == y->eq->lhs && x->nouter == y->nouter && x->kind == STMT_MAP && y->kind == STMT_MAP;
        if (!pieces && !same_ranges(x, y))
            return false;
    }
    return g->ndims == u->ndims;
}

void fuse_grow_halos(Fuse *f, const Group *g, const DepList *deps)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < deps->n; i++)
            for (int q = 0; q < g->ndims; q++) {
                Dep *d = deps->at[i];
                Member *s = &f->member[d->src->id], *t = &f->member[d->dst->id];
                Distance r = graph_distance(f->p, d, s->theta[q], t->theta[q]);
                int64_t before = t->before[q] + r.max, after = t->after[q] - r.min;
                if (before > s->before[q]) {
                    s->before[q] = before;
                    changed = true;
                }
                if (after > s->after[q]) {
                    s->after[q] = after;
                    changed = true;
                }
                if (s->before[q] > HALO_OUT || s->after[q] > HALO_OUT)
                    return;
            }
    }
}

static bool halos_are_fine(Fuse *f, const Group *g)
{
    for (int i = 0; i < g->stmts.n; i++) {
        const Stmt *s = g->stmts.at[i];
        const Member *m = &f->member[s->id];
        for (int q = 0; q < g->ndims; q++) {
            int64_t halo = m->before[q] + m->after[q];
            if (halo > MAX_HALO || (halo > 0 && (s->eq->lhs->kind == TENSOR_OUTPUT || f->no_halo[s->eq->lhs->id])))
                return false;
        }
    }
    return true;
}

// A unit that may join a group: what crosses between them, and which loops go together.
typedef struct {
    Group *g, *unit;
    DepList cross;
    bool forced;                  // by `fuse`
    int pick[MAX_GRID];           // the unit's option for each loop of the group, or -1
    int64_t shift[MAX_GRID];
    int matched;
} Match;

// Constant distances first: a halo costs work, and is taken only for loops that have no other partner.
static void match_all(Fuse *f, Match *m)
{
    bool taken[MAX_INDICES] = { false };
    m->matched = 0;
    for (int q = 0; q < m->g->ndims; q++) {
        m->pick[q] = m->cross.n || q >= m->unit->ndims ? -1 : q;
        m->shift[q] = 0;
        m->matched += m->pick[q] >= 0;
    }
    for (int halo = 0; m->cross.n && halo < 2; halo++)
        for (int q = 0; q < m->g->ndims; q++)
            for (int k = 0; k < m->unit->ndims && m->pick[q] < 0; k++)
                if (!taken[k] && option_fits(f, &m->cross, q, k, halo, &m->shift[q])) {
                    m->pick[q] = k;
                    taken[k] = true;
                    m->matched++;
                }
}

static bool loses_axis(Fuse *f, const Match *m)
{
    bool kept[MAX_GRID] = { false }, taken[MAX_INDICES] = { false };
    for (int q = 0; q < m->g->ndims; q++)
        if (m->pick[q] >= 0)
            kept[q] = taken[m->pick[q]] = true;
    return fuse_loses_axis(f, m->g, kept) || fuse_loses_option(f, m->unit, taken);
}

static bool crosses_materialized(Fuse *f, const DepList *cross)
{
    for (int i = 0; i < cross->n; i++) {
        const TensorWish *w = schedule_tensor(f->p->schedule, cross->at[i]->tensor);
        if (w && w->materialize)
            return true;
    }
    return false;
}

// The equations of logs have no place among those of the source (normalize.c).
static bool is_logs(const Group *g)
{
    return g->stmts.at[0]->eq->origin < 0;
}

// What speaks against it, before halos are known; fills in the match.
static JoinResult check_join(Fuse *f, Match *m)
{
    const Group *g = m->g, *unit = m->unit;
    if (g->ndims == 0 || unit->ndims == 0)
        return JOIN_SERIAL;
    if (crosses_materialized(f, &m->cross))
        return JOIN_MATERIALIZED;
    if (!m->forced) {
        if (f->p->opt_level == 0)
            return JOIN_OFF;
        if (g->stmts.n + unit->stmts.n > MAX_GROUP)
            return JOIN_SIZE;
        if (m->cross.n == 0 && !are_siblings(g, unit))
            return JOIN_STRANGERS;
        if (f->p->machine->emits_bundles && is_logs(g) != is_logs(unit))
            return JOIN_LOG;
    }
    match_all(f, m);
    if (m->matched == 0)
        return JOIN_NO_LOOP;
    if (m->forced)
        return JOIN_DONE;
    if ((g->contraction || unit->contraction) && m->matched < g->ndims)
        return JOIN_CONTRACTION;
    return loses_axis(f, m) ? JOIN_AXES : JOIN_DONE;
}

// The loops that both have become those of the group.
static void join_loops(Fuse *f, const Match *m, Group *joined)
{
    for (int q = 0; q < m->g->ndims; q++) {
        if (m->pick[q] < 0)
            continue;
        for (int i = 0; i < m->g->stmts.n; i++) {
            Member *x = &f->member[m->g->stmts.at[i]->id];
            x->theta[joined->ndims] = x->theta[q];
        }
        for (int i = 0; i < m->unit->stmts.n; i++) {
            Member *x = &f->member[m->unit->stmts.at[i]->id];
            x->theta[joined->ndims] = f->option[m->unit->stmts.at[i]->id][m->pick[q]];
            x->theta[joined->ndims].shift += m->shift[q];
        }
        joined->ndims++;
    }
}

static Group join_lists(Fuse *f, const Match *m)
{
    Arena *a = f->p->a;
    Group joined = *m->g;
    const Group *unit = m->unit;
    joined.stmts = (StmtList){ 0 };
    joined.inner = (DepList){ 0 };
    joined.ndims = 0;
    for (int i = 0; i < m->g->stmts.n + unit->stmts.n; i++)
        VEC_PUSH(a, &joined.stmts, i < m->g->stmts.n ? m->g->stmts.at[i] : unit->stmts.at[i - m->g->stmts.n]);
    const DepList *parts[] = { &m->g->inner, &m->cross, &unit->inner };
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < parts[k]->n; i++)
            VEC_PUSH(a, &joined.inner, parts[k]->at[i]);
    joined.cyclic = m->g->cyclic || unit->cyclic;
    joined.contraction = m->g->contraction || unit->contraction;
    joined.has_update = m->g->has_update || unit->has_update;
    joined.class = unit->class ? unit->class : m->g->class;
    return joined;
}

static JoinResult try_join(Fuse *f, Match *m)
{
    JoinResult r = check_join(f, m);
    if (r != JOIN_DONE)
        return r;
    int n = m->g->stmts.n;
    Member *saved = memory_new((size_t)(n + 1), sizeof(Member));
    for (int i = 0; i < n; i++)
        saved[i] = f->member[m->g->stmts.at[i]->id];
    Group joined = join_lists(f, m);
    join_loops(f, m, &joined);
    for (int i = 0; i < joined.stmts.n; i++)
        for (int q = 0; q < MAX_GRID; q++)
            f->member[joined.stmts.at[i]->id].before[q] = f->member[joined.stmts.at[i]->id].after[q] = 0;
    fuse_grow_halos(f, &joined, &joined.inner);
    bool fine = halos_are_fine(f, &joined);
    for (int i = 0; !fine && i < n; i++)
        f->member[m->g->stmts.at[i]->id] = saved[i];
    free(saved);
    if (!fine)
        return JOIN_HALO;
    *m->g = joined;
    for (int i = 0; i < m->unit->stmts.n; i++)
        f->member[m->unit->stmts.at[i]->id].group = joined.level;
    return JOIN_DONE;
}

// ---- groups of a list -----------------------------------------------------------------------------------------

// The dependences of `local` whose writer is in group `level`.
static DepList cross_from(Fuse *f, const DepList *local, int level)
{
    DepList r = { 0 };
    for (int i = 0; i < local->n; i++)
        if (f->member[local->at[i]->src->id].group == level)
            VEC_PUSH(f->p->a, &r, local->at[i]);
    return r;
}

// The least position a unit may take: after every group that it reads from.
static int earliest(Fuse *f, const DepList *local)
{
    int level = 0;
    for (int i = 0; i < local->n; i++) {
        int g = f->member[local->at[i]->src->id].group;
        level = g > level ? g : level;
    }
    return level;
}

static void open_group(Fuse *f, Groups *groups, Group *unit)
{
    unit->level = groups->n;
    int keep = unit->ndims < MAX_GRID ? unit->ndims : MAX_GRID;
    for (int i = 0; i < unit->stmts.n; i++) {
        Member *m = &f->member[unit->stmts.at[i]->id];
        m->group = unit->level;
        for (int q = 0; q < keep; q++) {
            m->theta[q] = f->option[unit->stmts.at[i]->id][q];
            m->before[q] = m->after[q] = 0;
        }
    }
    unit->ndims = keep;
    VEC_PUSH(f->p->a, groups, unit);
}

// Serial statements without any parallel loop (scalars, total sums) run together.
static bool join_serial(Fuse *f, const Match *m)
{
    Group *g = m->g;
    const Group *unit = m->unit;
    if (g->ndims > 0 || unit->ndims > 0 || g->cyclic || unit->cyclic || g->stmts.n >= MAX_GROUP)
        return false;
    if (!m->forced && f->p->opt_level == 0)
        return false;
    *g = join_lists(f, m);
    for (int i = 0; i < unit->stmts.n; i++)
        f->member[unit->stmts.at[i]->id].group = g->level;
    return true;
}

// Components, where the recurrences that write one intermediate count as one: only together in one loop can its storage be
// folded. Extra edges both ways tie them; what lies between them comes along.
static Components components(Fuse *f, const StmtList *stmts, const DepList *deps)
{
    Plan *p = f->p;
    Components c = graph_components(p, stmts, deps);
    Stmt **cyclic = memory_new((size_t)p->kernel->tensors.n + 1, sizeof(Stmt *));
    DepList tied = { 0 };
    for (int i = 0; i < c.n; i++)
        for (int j = 0; j < c.at[i].n; j++) {
            Stmt *s = c.at[i].at[j];
            if (s->eq->lhs->kind != TENSOR_LOCAL || s->kind != STMT_MAP)
                continue;
            bool recurs = c.at[i].n > 1;
            for (int k = 0; !recurs && k < deps->n; k++)
                recurs = deps->at[k]->src == s && deps->at[k]->dst == s;
            if (!recurs)
                continue;
            Stmt *other = cyclic[s->eq->lhs->id];
            for (int way = 0; other && way < 2; way++) {
                Dep *d = ARENA_NEW(p->a, Dep);
                *d = (Dep){ .src = way ? s : other, .dst = way ? other : s };
                VEC_PUSH(p->a, &tied, d);
            }
            cyclic[s->eq->lhs->id] = s;
        }
    free(cyclic);
    if (tied.n == 0)
        return c;
    for (int k = 0; k < deps->n; k++)
        VEC_PUSH(p->a, &tied, deps->at[k]);
    return graph_components(p, stmts, &tied);
}

// Units: components with their initialisations, in topological order.
static Groups make_units(Fuse *f, const StmtList *stmts, const DepList *deps)
{
    Components c = components(f, stmts, deps);
    Groups units = { 0 };
    for (int i = 0; i < c.n; i++) {
        if (c.at[i].n == 1 && c.at[i].at[0]->kind == STMT_INIT)
            continue;
        StmtList list = with_inits(f, &c.at[i]);
        DepList local = { 0 };
        for (int s = 0; s < list.n; s++) {
            f->member[list.at[s]->id].unit = units.n;
            for (int j = 0; j < f->into[list.at[s]->id]->n; j++)
                VEC_PUSH(f->p->a, &local, f->into[list.at[s]->id]->at[j]);
        }
        Group *unit = new_unit(f, &c.at[i], &list, &local);
        unit->local = local;
        VEC_PUSH(f->p->a, &units, unit);
    }
    return units;
}

// The group that the class of a unit began, or NULL.
static Group *group_of_class(const Groups *groups, int class)
{
    for (int g = groups->n - 1; class && g >= 0; g--)
        if (groups->at[g]->class == class)
            return groups->at[g];
    return NULL;
}

// A `fuse` directive asks for this. When it fails, it is tried once more with nothing else in the group, then reported.
static bool join_forced(Fuse *f, Group *g, Group *unit, int least)
{
    Match m = { .g = g, .unit = unit, .forced = true, .cross = cross_from(f, &unit->local, g->level) };
    JoinResult r = g->level < least ? JOIN_BETWEEN : try_join(f, &m);
    if (r == JOIN_DONE || join_serial(f, &m)) {
        explain_joined(f->p, g, unit, &m.cross, f->member);
        return true;
    }
    if (!f->exclusive) {
        f->retry = true;
        return true;
    }
    fuse_refuse(f, g, unit, &m.cross, r);
    return false;
}

static bool place_unit(Fuse *f, Groups *groups, Group *unit)
{
    enum { WINDOW = 8 };
    int least = earliest(f, &unit->local);
    Group *own = group_of_class(groups, unit->class);
    if (own)
        return join_forced(f, own, unit, least);
    for (int g = groups->n - 1; g >= least && g >= groups->n - WINDOW; g--) {
        Group *to = groups->at[g];
        Match m = { .g = to, .unit = unit, .cross = cross_from(f, &unit->local, to->level) };
        bool other = to->class && unit->class;                  // two `fuse` directives are two grids
        bool early = to->class && f->expected[to->class] > 0;   // guests come last: what its members ask for is not known yet
        if (other || early || (f->exclusive && (to->class || unit->class)))
            continue;
        JoinResult r = try_join(f, &m);
        if (r == JOIN_DONE || join_serial(f, &m)) {
            explain_joined(f->p, to, unit, &m.cross, f->member);
            return true;
        }
        explain_apart(f->p, to, unit, &m.cross, r);
    }
    open_group(f, groups, unit);
    return true;
}

static Groups make_groups(Fuse *f, const StmtList *stmts, const DepList *deps, int list_id)
{
    Arena *a = f->p->a;
    for (int i = 0; i < stmts->n; i++) {
        f->into[stmts->at[i]->id] = ARENA_NEW(a, DepList);
        f->member[stmts->at[i]->id].group = -1;
        f->member[stmts->at[i]->id].list = list_id;
    }
    for (int i = 0; i < deps->n; i++)
        VEC_PUSH(a, f->into[deps->at[i]->dst->id], deps->at[i]);
    Groups units = make_units(f, stmts, deps), groups = { 0 };
    fuse_close_classes(f, &units, f->into);
    memset(f->expected, 0, sizeof(int) * (size_t)(f->p->schedule->classes.n + 1));
    for (int i = 0; i < units.n; i++)
        f->expected[units.at[i]->class]++;
    for (int i = 0; i < units.n && !f->retry; i++) {
        if (!place_unit(f, &groups, units.at[i]))
            f->failed = true;
        f->expected[units.at[i]->class]--;
    }
    return groups;
}

// Is a tensor written in other groups too? Then it is no tile's own, and tiles that compute it on halos would write the
// same elements at the same time.
static bool is_written_elsewhere(Fuse *f, int tensor, const Member *s, int list_id)
{
    const StmtList *writers = &f->p->g->writers[tensor];
    for (int i = 0; i < writers->n; i++) {
        const Member *w = &f->member[writers->at[i]->id];
        if (w->list != list_id || w->group != s->group)
            return true;
    }
    return false;
}

static bool is_read_elsewhere(Fuse *f, const DepList *out, const Member *s, int list_id)
{
    for (int i = 0; i < out->n; i++) {
        const Member *t = &f->member[out->at[i]->dst->id];
        if (t->list != list_id || t->group != s->group)
            return true;
    }
    return false;
}

// A tensor computed on halos must be seen in its group alone.
static bool forbid_escaping_halos(Fuse *f, const StmtList *stmts, const Groups *groups, int list_id)
{
    bool changed = false;
    for (int k = 0; k < stmts->n; k++) {
        const Stmt *stmt = stmts->at[k];
        const Member *s = &f->member[stmt->id];
        int tensor = stmt->eq->lhs->id;
        bool halo = false;
        for (int q = 0; s->group >= 0 && q < groups->at[s->group]->ndims; q++)
            halo = halo || s->before[q] + s->after[q] > 0;
        if (!halo || f->no_halo[tensor] || (!is_read_elsewhere(f, &f->out[stmt->id], s, list_id) && !is_written_elsewhere(f, tensor, s, list_id)))
            continue;
        f->no_halo[tensor] = true;
        changed = true;
    }
    return changed;
}

static Groups settle_groups(Fuse *f, const StmtList *stmts, const DepList *deps, int list_id)
{
    Groups groups;
    f->exclusive = false;
    do {
        f->retry = false;
        groups = make_groups(f, stmts, deps, list_id);
        f->exclusive = f->exclusive || f->retry;
    } while (f->retry || (!f->failed && forbid_escaping_halos(f, stmts, &groups, list_id)));
    return groups;
}

Node *fuse_list(Fuse *f, const StmtList *stmts, const DepList *deps, int depth, bool *parallel)
{
    Groups groups = settle_groups(f, stmts, deps, ++f->nlists);
    Node *seq = node_new(f->p->a, NODE_SEQ);
    for (int i = 0; i < groups.n && !f->failed; i++) {
        // Lists inside number their own groups.
        const StmtList *l = &groups.at[i]->stmts;
        Member *kept = memory_new((size_t)(l->n + 1), sizeof(Member));
        for (int k = 0; k < l->n; k++)
            kept[k] = f->member[l->at[k]->id];
        node_append(f->p->a, seq, fuse_group_node(f, groups.at[i], depth, parallel));
        for (int k = 0; k < l->n; k++)
            f->member[l->at[k]->id] = kept[k];
        free(kept);
    }
    return seq;
}

Plan *fuse_program(Arena *a, Program *g, const Machine *m, Schedule *s, int opt_level, FILE *explain)
{
    int errors = diags_errors(g->diags);
    Plan *p = ARENA_NEW(a, Plan);
    *p = (Plan){ .a = a, .g = g, .machine = m, .kernel = g->kernel, .schedule = s, .opt_level = opt_level, .explain = explain };
    p->stmt = ARENA_ARRAY(a, StmtPlan, g->stmts.n + 1);
    for (int i = 0; i < g->stmts.n; i++)
        p->stmt[i] = (StmtPlan){ .stmt = g->stmts.at[i], .vecdim = -1 };
    Fuse f = { .p = p };
    f.member = ARENA_ARRAY(a, Member, g->stmts.n + 1);
    f.option = (Theta(*)[MAX_INDICES])arena_alloc(a, sizeof(Theta[MAX_INDICES]) * (size_t)(g->stmts.n + 1));
    f.scratch = ARENA_ARRAY(a, Theta, g->stmts.n + 1);
    f.no_halo = ARENA_ARRAY(a, bool, g->kernel->tensors.n + 1);
    f.allowed = ARENA_ARRAY(a, unsigned, g->stmts.n + 1);
    f.expected = ARENA_ARRAY(a, int, s->classes.n + 1);
    f.into = ARENA_ARRAY(a, DepList *, g->stmts.n + 1);
    f.out = ARENA_ARRAY(a, DepList, g->stmts.n + 1);
    for (int i = 0; i < g->stmts.n; i++)
        f.allowed[i] = (1u << g->stmts.at[i]->n) - 1;
    for (int i = 0; i < g->deps.n; i++)
        VEC_PUSH(a, &f.out[g->deps.at[i]->src->id], g->deps.at[i]);
    bool parallel = false;
    p->root = fuse_list(&f, &g->stmts, &g->deps, 0, &parallel);
    if (!f.failed)
        fuse_check_wishes(&f);
    return diags_errors(g->diags) > errors ? NULL : p;
}
