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
// Tests: tests/golden/fuse*.pto (structure), tests/run (values)
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
static int find_options(Fuse *f, const Group *u)
{
    const Stmt *first = u->stmts.at[0];
    int n = 0;
    for (int i = 0; i < first->nouter && n < MAX_INDICES; i++) {
        if (!fuse_is_free(f, first, i))
            continue;
        if (u->cyclic && !graph_align(f->p, &u->stmts, &u->inner, i, 1, true, f->allowed, f->scratch))
            continue;
        for (int s = 0; s < u->stmts.n; s++)       // an initialisation and its update have the same outer indices
            f->option[u->stmts.at[s]->id][n] = u->cyclic ? f->scratch[u->stmts.at[s]->id] : (Theta){ i, 1, 0 };
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

typedef struct { bool exact; int64_t min, max; int count; } Cross;

static Cross cross_distance(Fuse *f, const DepList *cross, int q, int option)
{
    Cross c = { true, DISTANCE_INF, -DISTANCE_INF, cross->n };
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

// The option of the unit that goes with loop q of the group; its shift is set. -1: none.
static int match_option(Fuse *f, const DepList *cross, const Group *unit, int q, const bool *taken, int64_t *shift)
{
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < unit->ndims; k++) {
            if (taken[k])
                continue;
            Cross c = cross_distance(f, cross, q, k);
            if (pass == 0 && c.exact && llabs(c.min) < DISTANCE_INF) {
                *shift = -c.min;
                return k;
            }
            bool bounded = c.min >= -MAX_HALO && c.max <= MAX_HALO;
            if (pass == 1 && bounded && halo_is_possible(f, cross)) {
                *shift = 0;
                return k;
            }
        }
    return -1;
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

// Without a dependence, two plain maps over the same box share a grid.
static bool are_siblings(const Group *g, const Group *u)
{
    if (g->cyclic || u->cyclic || u->stmts.n != 1 || u->contraction || g->contraction)
        return false;
    for (int i = 0; i < g->stmts.n; i++)
        if (!same_ranges(g->stmts.at[i], u->stmts.at[0]))
            return false;
    return g->ndims == u->ndims;
}

static void grow_halos(Fuse *f, const Group *g, const DepList *deps)
{
    for (int i = 0; i < g->stmts.n; i++)
        for (int q = 0; q < MAX_GRID; q++)
            f->member[g->stmts.at[i]->id].before[q] = f->member[g->stmts.at[i]->id].after[q] = 0;
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
                if (s->before[q] > 4 * MAX_HALO || s->after[q] > 4 * MAX_HALO)
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

static int match_all(Fuse *f, const Group *g, const Group *unit, const DepList *cross, int *pick, int64_t *shift)
{
    bool taken[MAX_INDICES] = { false };
    int matched = 0;
    for (int q = 0; q < g->ndims; q++) {
        pick[q] = cross->n ? match_option(f, cross, unit, q, taken, &shift[q]) : q < unit->ndims ? q : -1;
        if (!cross->n)
            shift[q] = 0;
        if (pick[q] >= 0) {
            taken[pick[q]] = true;
            matched++;
        }
    }
    return matched;
}

static bool try_join(Fuse *f, Group *g, Group *unit, const DepList *deps)
{
    if (g->ndims == 0 || unit->ndims == 0 || g->stmts.n + unit->stmts.n > MAX_GROUP)
        return false;
    StmtList both = { 0 };
    for (int i = 0; i < g->stmts.n; i++)
        VEC_PUSH(f->p->a, &both, g->stmts.at[i]);
    for (int i = 0; i < unit->stmts.n; i++)
        VEC_PUSH(f->p->a, &both, unit->stmts.at[i]);
    DepList inner = graph_inner(f->p, &both, deps), cross = { 0 };
    for (int i = 0; i < inner.n; i++) {
        bool from_group = f->member[inner.at[i]->src->id].group == g->level;
        bool to_group = f->member[inner.at[i]->dst->id].group == g->level;
        if (from_group && !to_group)
            VEC_PUSH(f->p->a, &cross, inner.at[i]);
    }
    if (cross.n == 0 && !are_siblings(g, unit))
        return false;
    int pick[MAX_GRID];
    int64_t shift[MAX_GRID];
    int matched = match_all(f, g, unit, &cross, pick, shift);
    if (matched == 0 || ((g->contraction || unit->contraction) && matched < g->ndims))
        return false;
    Member *saved = malloc(sizeof(Member) * (size_t)(g->stmts.n + 1));
    for (int i = 0; i < g->stmts.n; i++)
        saved[i] = f->member[g->stmts.at[i]->id];
    Group joined = *g;
    joined.stmts = both;
    joined.ndims = 0;
    for (int q = 0; q < g->ndims; q++) {
        if (pick[q] < 0)
            continue;
        for (int i = 0; i < g->stmts.n; i++) {
            Member *m = &f->member[g->stmts.at[i]->id];
            m->theta[joined.ndims] = m->theta[q];
        }
        for (int i = 0; i < unit->stmts.n; i++) {
            Member *m = &f->member[unit->stmts.at[i]->id];
            m->theta[joined.ndims] = f->option[unit->stmts.at[i]->id][pick[q]];
            m->theta[joined.ndims].shift += shift[q];
        }
        joined.ndims++;
    }
    grow_halos(f, &joined, &inner);
    bool fine = halos_are_fine(f, &joined);
    for (int i = 0; !fine && i < g->stmts.n; i++)
        f->member[g->stmts.at[i]->id] = saved[i];
    free(saved);
    if (!fine)
        return false;
    joined.inner = inner;
    joined.cyclic = g->cyclic || unit->cyclic;
    joined.contraction = g->contraction || unit->contraction;
    joined.has_update = g->has_update || unit->has_update;
    *g = joined;
    for (int i = 0; i < unit->stmts.n; i++)
        f->member[unit->stmts.at[i]->id].group = g->level;
    return true;
}

// ---- groups of a list -----------------------------------------------------------------------------------------

// The least position a unit may take: after every group that it reads from.
static int earliest(Fuse *f, const Group *unit, const DepList *deps, const DepList *const *into)
{
    (void)deps;
    int level = 0;
    for (int i = 0; i < unit->stmts.n; i++) {
        const DepList *in = into[unit->stmts.at[i]->id];
        for (int j = 0; in && j < in->n; j++) {
            int g = f->member[in->at[j]->src->id].group;
            level = g > level ? g : level;
        }
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
static bool join_serial(Fuse *f, Group *g, Group *unit, const DepList *deps)
{
    if (g->ndims > 0 || unit->ndims > 0 || g->cyclic || unit->cyclic || g->stmts.n >= MAX_GROUP)
        return false;
    for (int i = 0; i < unit->stmts.n; i++) {
        VEC_PUSH(f->p->a, &g->stmts, unit->stmts.at[i]);
        f->member[unit->stmts.at[i]->id].group = g->level;
    }
    g->inner = graph_inner(f->p, &g->stmts, deps);
    return true;
}

// Components, where the recurrences that write one intermediate count as one: only together in one loop can its storage be
// folded. Extra edges both ways tie them; what lies between them comes along.
static Components components(Fuse *f, const StmtList *stmts, const DepList *deps)
{
    Plan *p = f->p;
    Components c = graph_components(p, stmts, deps);
    Stmt **cyclic = calloc((size_t)p->kernel->tensors.n + 1, sizeof(Stmt *));
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

static Groups make_groups(Fuse *f, const StmtList *stmts, const DepList *deps, int list_id)
{
    Plan *p = f->p;
    DepList **into = ARENA_ARRAY(p->a, DepList *, p->g->stmts.n + 1);
    for (int i = 0; i < stmts->n; i++)
        into[stmts->at[i]->id] = ARENA_NEW(p->a, DepList);
    for (int i = 0; i < deps->n; i++)
        VEC_PUSH(p->a, into[deps->at[i]->dst->id], deps->at[i]);
    for (int i = 0; i < stmts->n; i++) {
        f->member[stmts->at[i]->id].group = -1;
        f->member[stmts->at[i]->id].list = list_id;
    }
    Components c = components(f, stmts, deps);
    Groups groups = { 0 };
    for (int i = 0; i < c.n; i++) {
        if (c.at[i].n == 1 && c.at[i].at[0]->kind == STMT_INIT)
            continue;
        StmtList list = with_inits(f, &c.at[i]);
        DepList local = { 0 };
        for (int s = 0; s < list.n; s++)
            for (int j = 0; j < into[list.at[s]->id]->n; j++)
                VEC_PUSH(p->a, &local, into[list.at[s]->id]->at[j]);
        Group *unit = new_unit(f, &c.at[i], &list, &local);
        int least = earliest(f, unit, deps, (const DepList *const *)into);
        bool placed = false;
        for (int g = groups.n - 1; !placed && g >= least && g >= groups.n - 8; g--) {
            DepList around = { 0 };
            for (int j = 0; j < groups.at[g]->inner.n; j++)
                VEC_PUSH(p->a, &around, groups.at[g]->inner.at[j]);
            for (int j = 0; j < local.n; j++)
                VEC_PUSH(p->a, &around, local.at[j]);
            placed = try_join(f, groups.at[g], unit, &around) || join_serial(f, groups.at[g], unit, &around);
        }
        if (!placed)
            open_group(f, &groups, unit);
    }
    return groups;
}

// A tensor computed on halos must not be read from other groups.
static bool forbid_escaping_halos(Fuse *f, const Groups *groups, int list_id)
{
    bool changed = false;
    for (int i = 0; i < f->p->g->deps.n; i++) {
        const Dep *d = f->p->g->deps.at[i];
        const Member *s = &f->member[d->src->id], *t = &f->member[d->dst->id];
        bool together = t->list == list_id && s->group == t->group;
        if (s->list != list_id || together || f->no_halo[d->tensor->id])
            continue;
        bool halo = false;
        for (int q = 0; q < groups->at[s->group]->ndims; q++)
            halo = halo || s->before[q] + s->after[q] > 0;
        if (halo) {
            f->no_halo[d->tensor->id] = true;
            changed = true;
        }
    }
    return changed;
}

Node *fuse_list(Fuse *f, const StmtList *stmts, const DepList *deps, int depth, bool *parallel)
{
    int list_id = ++f->nlists;
    Groups groups = make_groups(f, stmts, deps, list_id);
    while (forbid_escaping_halos(f, &groups, list_id))
        groups = make_groups(f, stmts, deps, list_id);
    Member *kept = malloc(sizeof(Member) * (size_t)(f->p->g->stmts.n + 1));
    memcpy(kept, f->member, sizeof(Member) * (size_t)f->p->g->stmts.n);
    Node *seq = node_new(f->p->a, NODE_SEQ);
    for (int i = 0; i < groups.n; i++) {
        memcpy(f->member, kept, sizeof(Member) * (size_t)f->p->g->stmts.n);
        node_append(f->p->a, seq, fuse_group_node(f, groups.at[i], depth, parallel));
    }
    memcpy(f->member, kept, sizeof(Member) * (size_t)f->p->g->stmts.n);
    free(kept);
    return seq;
}

Plan *fuse_program(Arena *a, Program *g, const Machine *m, FILE *explain)
{
    Plan *p = ARENA_NEW(a, Plan);
    *p = (Plan){ .a = a, .g = g, .machine = m, .kernel = g->kernel, .explain = explain };
    p->stmt = ARENA_ARRAY(a, StmtPlan, g->stmts.n + 1);
    for (int i = 0; i < g->stmts.n; i++)
        p->stmt[i] = (StmtPlan){ .stmt = g->stmts.at[i], .vecdim = -1 };
    Fuse f = { .p = p };
    f.member = ARENA_ARRAY(a, Member, g->stmts.n + 1);
    f.option = (Theta(*)[MAX_INDICES])arena_alloc(a, sizeof(Theta[MAX_INDICES]) * (size_t)(g->stmts.n + 1));
    f.scratch = ARENA_ARRAY(a, Theta, g->stmts.n + 1);
    f.no_halo = ARENA_ARRAY(a, bool, g->kernel->tensors.n + 1);
    f.allowed = ARENA_ARRAY(a, unsigned, g->stmts.n + 1);
    for (int i = 0; i < g->stmts.n; i++)
        f.allowed[i] = (1u << g->stmts.at[i]->n) - 1;
    bool parallel = false;
    p->root = fuse_list(&f, &g->stmts, &g->deps, 0, &parallel);
    return p;
}
