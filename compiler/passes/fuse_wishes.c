// fuse_wishes: what schedules ask of groups: classes that share a grid, axes that run in parallel, declared overlaps.
//
// `fuse` closes its classes over what lies between their members. `parallel` picks among a group's loops when its node is
// made, and keeps joins from losing an axis it names; at the end every axis that was named is in a grid, or the dependence
// that forbids it is reported. Test: tests/errors/schedules/*.pto, tests/golden/schedules
#include "passes/fuse.h"

#include "passes/schedule_check.h"

#include <stdlib.h>
#include <string.h>

static const StmtWish *wish(const Fuse *f, const Stmt *s)
{
    return schedule_stmt(f->p->schedule, s);
}

// ---- classes ------------------------------------------------------------------------------------------------------

static int class_of(const Fuse *f, const Group *u)
{
    for (int i = 0; i < u->stmts.n; i++)
        if (wish(f, u->stmts.at[i]) && wish(f, u->stmts.at[i])->fuse)
            return wish(f, u->stmts.at[i])->fuse;
    return 0;
}

// Marks the units between members of a class: reached from one, and reaching one. Units are in topological order.
static void close_class(Fuse *f, const Groups *units, DepList *const *into, int class, bool *from, bool *to)
{
    memset(from, 0, (size_t)units->n);
    memset(to, 0, (size_t)units->n);
    for (int way = 0; way < 2; way++)
        for (int k = 0; k < units->n; k++) {
            int u = way ? units->n - 1 - k : k;
            const Group *unit = units->at[u];
            from[u] = from[u] || unit->class == class;
            to[u] = to[u] || unit->class == class;
            for (int i = 0; i < unit->stmts.n; i++)
                for (int j = 0; j < into[unit->stmts.at[i]->id]->n; j++) {
                    int source = f->member[into[unit->stmts.at[i]->id]->at[j]->src->id].unit;
                    if (way)
                        to[source] = to[source] || to[u];
                    else
                        from[u] = from[u] || from[source];
                }
        }
    for (int u = 0; u < units->n; u++) {
        int old = units->at[u]->class;
        if (!from[u] || !to[u])
            continue;
        units->at[u]->class = class;
        for (int v = 0; old && old != class && v < units->n; v++)
            if (units->at[v]->class == old)
                units->at[v]->class = class;
    }
}

void fuse_close_classes(Fuse *f, const Groups *units, DepList *const *into)
{
    int nclasses = f->p->schedule->classes.n;
    if (nclasses == 0)
        return;
    int *members = memory_new((size_t)nclasses + 1, sizeof(int));
    for (int u = 0; u < units->n; u++) {
        units->at[u]->class = class_of(f, units->at[u]);
        members[units->at[u]->class]++;
    }
    bool *from = memory_new((size_t)units->n + 1, sizeof(bool)), *to = memory_new((size_t)units->n + 1, sizeof(bool));
    for (int c = 1; c <= nclasses; c++)
        if (members[c] > 1)
            close_class(f, units, into, c, from, to);
    free(members);
    free(from);
    free(to);
}

void fuse_refuse(Fuse *f, const Group *g, const Group *unit, const DepList *cross, JoinResult why)
{
    Plan *p = f->p;
    if (schedule_told(p->schedule, p->schedule->classes.at[unit->class - 1]))
        return;
    const char *x = stmt_text(p->a, p->g, unit->stmts.at[unit->stmts.n - 1]), *y = stmt_text(p->a, p->g, g->stmts.at[g->stmts.n - 1]);
    diag_report(p->g->diags, D_ILLEGAL, p->schedule->classes.at[unit->class - 1], "%s cannot share a grid with %s: %s", x, y, explain_join_result(why));
    if (cross->n == 0 || why == JOIN_MATERIALIZED)
        return;
    Dep *d = cross->at[0];
    if (g->ndims && unit->ndims) {
        Theta source = f->member[d->src->id].theta[0], reader = f->option[d->dst->id][0];
        diag_note(p->g->diags, d->read ? d->read->range : d->dst->eq->range, "this needs `%s` at %s along `%s`", d->tensor->name,
                  distance_text(p->a, graph_distance(p, d, source, reader)), d->src->index[source.idx]->name);
    } else {
        note_dependence(p, d);
    }
}

// ---- axes -----------------------------------------------------------------------------------------------------------

// The position of an index among the axes of a statement; -1: not named.
static int axis_of(const Fuse *f, const Stmt *s, int idx)
{
    const StmtWish *w = wish(f, s);
    for (int i = 0; w && i < w->naxes; i++)
        if (w->axis[i].idx == idx)
            return i;
    return -1;
}

bool fuse_loses_axis(Fuse *f, const Group *g, const bool *kept)
{
    for (int q = 0; q < g->ndims; q++)
        for (int i = 0; !kept[q] && i < g->stmts.n; i++)
            if (axis_of(f, g->stmts.at[i], f->member[g->stmts.at[i]->id].theta[q].idx) >= 0)
                return true;
    return false;
}

bool fuse_loses_option(Fuse *f, const Group *unit, const bool *taken)
{
    for (int k = 0; k < unit->ndims; k++)
        for (int i = 0; !taken[k] && i < unit->stmts.n; i++)
            if (axis_of(f, unit->stmts.at[i], f->option[unit->stmts.at[i]->id][k].idx) >= 0)
                return true;
    return false;
}

const ParallelWish *fuse_wished(Fuse *f, const Group *g, const Stmt **other)
{
    const ParallelWish *p = NULL;
    *other = NULL;
    for (int i = 0; i < g->stmts.n; i++) {
        const StmtWish *w = wish(f, g->stmts.at[i]);
        if (!w || !w->parallel)
            continue;
        if (p && p->mode != w->parallel->mode && p->mode != MODE_AUTO && w->parallel->mode != MODE_AUTO)
            *other = g->stmts.at[i];
        p = !p || p->mode == MODE_AUTO ? w->parallel : p;
    }
    return p;
}

void fuse_refuse_mode(Fuse *f, const Group *g, const Stmt *other)
{
    diag_report(f->p->g->diags, D_SCHEDULE, wish(f, other)->parallel->range, "%s shares a grid with %s, for which another mode is asked for",
                stmt_text(f->p->a, f->p->g, other), stmt_text(f->p->a, f->p->g, g->stmts.at[0]));
}

// Where loop q of a group stands among the axes that are named: -1: nowhere.
static int place_of(Fuse *f, const Group *g, int q)
{
    int place = -1;
    for (int i = 0; i < g->stmts.n && place < 0; i++)
        place = axis_of(f, g->stmts.at[i], f->member[g->stmts.at[i]->id].theta[q].idx);
    return place;
}

static void keep_loops(Fuse *f, Group *g, int n, const int *from)
{
    for (int i = 0; i < g->stmts.n; i++) {
        Member *m = &f->member[g->stmts.at[i]->id], old = *m;
        for (int q = 0; q < n; q++) {
            m->theta[q] = old.theta[from[q]];
            m->before[q] = old.before[from[q]];
            m->after[q] = old.after[from[q]];
        }
    }
    g->ndims = n;
}

void fuse_select_axes(Fuse *f, Group *g)
{
    int from[MAX_GRID], place[MAX_GRID], n = 0;
    for (int q = 0; q < g->ndims; q++) {
        int at = place_of(f, g, q), k = n;
        if (at < 0)
            continue;
        for (; k > 0 && place[k - 1] > at; k--) {
            place[k] = place[k - 1];
            from[k] = from[k - 1];
        }
        place[k] = at;
        from[k] = q;
        n++;
    }
    keep_loops(f, g, n, from);
}

bool fuse_is_wished(Fuse *f, const Group *g, const Theta *theta)
{
    for (int i = 0; i < g->stmts.n; i++) {
        const StmtWish *w = wish(f, g->stmts.at[i]);
        if (w && w->parallel && axis_of(f, g->stmts.at[i], theta[g->stmts.at[i]->id].idx) < 0)
            return false;
    }
    return true;
}

// The first index of the order that no outer loop binds must be this loop; and none of its axes.
bool fuse_may_be_outer(Fuse *f, const Group *g, const Theta *theta)
{
    for (int i = 0; i < g->stmts.n; i++) {
        const Stmt *s = g->stmts.at[i];
        const StmtWish *w = wish(f, s);
        int idx = theta[s->id].idx, k = 0;
        if (!w)
            continue;
        if (axis_of(f, s, idx) >= 0)
            return false;
        while (k < w->norder && !fuse_is_free(f, s, w->order[k].idx))
            k++;
        if (k < w->norder && w->order[k].idx != idx)
            return false;
    }
    return true;
}

// A dependence that keeps the index from running in parallel: one of the statement's own, or with another. In a wave,
// positive distances are no hindrance.
static Dep *carried(Fuse *f, const Stmt *s, int idx, bool wave, Distance *r)
{
    const char *name = s->index[idx]->name;
    for (int own = 1; own >= 0; own--)
        for (int i = 0; i < f->p->g->deps.n; i++) {
            Dep *d = f->p->g->deps.at[i];
            if ((d->src != s && d->dst != s) || (d->src == d->dst) != own)
                continue;
            int x = plan_index_called(d->src, name), y = plan_index_called(d->dst, name);
            if (x < 0 || y < 0)
                continue;
            *r = depend_distance(f->p->g, d, x, y, 1);
            if (wave ? r->min < 0 : r->min != 0 || r->max != 0)
                return d;
        }
    return NULL;
}

static const IndexWish *blocking_axis(Fuse *f, const Stmt *s, const StmtWish *w, const IndexWish *axis)
{
    Distance r;
    for (int k = 0; w->parallel->mode == MODE_WAVE && k < w->naxes; k++)
        if (carried(f, s, w->axis[k].idx, true, &r))
            return &w->axis[k];
    return axis;
}

static void refuse_axis(Fuse *f, const Stmt *s, const StmtWish *w, const IndexWish *axis)
{
    Plan *p = f->p;
    axis = blocking_axis(f, s, w, axis);
    bool wave = w->parallel->mode == MODE_WAVE;
    const char *name = s->index[axis->idx]->name, *what = arena_printf(p->a, wave ? "`%s` cannot be an axis of a wave" : "`%s` cannot run in parallel", name);
    Distance r;
    Dep *d = carried(f, s, axis->idx, wave, &r);
    if (d)
        refuse_dependence(p, axis->range, what, d, r, name);
    else
        diag_report(p->g->diags, D_ILLEGAL, axis->range, "%s: it is no loop that all equations in the grid of %s share", what, stmt_text(p->a, p->g, s));
}

void fuse_check_wishes(Fuse *f)
{
    Schedule *all = f->p->schedule;
    for (int i = 0; i < f->p->g->stmts.n; i++) {
        const Stmt *s = f->p->g->stmts.at[i];
        const StmtWish *w = wish(f, s);
        for (int k = 0; w && k < w->naxes; k++)
            if (!plan_in_grid(plan_of(f->p, s), w->axis[k].idx) && !schedule_told(all, w->parallel->range))
                refuse_axis(f, s, w, &w->axis[k]);
        for (int k = 0; w && k < s->nouter; k++)
            if (w->overlap[k] && !plan_in_grid(plan_of(f->p, s), k) && !schedule_told(all, w->overlap[k]->range))
                diag_report(f->p->g->diags, D_SCHEDULE, w->overlap[k]->range, "%s is not computed in tiles of `%s`: there is nothing to overlap",
                            stmt_text(f->p->a, f->p->g, s), s->index[k]->name);
    }
}

// ---- overlaps -------------------------------------------------------------------------------------------------------

// The dependence that needs the most of a halo.
static const Dep *widest(Fuse *f, const Group *g, const Stmt *s, int q, bool before)
{
    const Member *m = &f->member[s->id];
    for (int i = 0; i < g->inner.n; i++) {
        Dep *d = g->inner.at[i];
        if (d->src != s || d->dst == s)
            continue;
        const Member *t = &f->member[d->dst->id];
        Distance r = graph_distance(f->p, d, m->theta[q], t->theta[q]);
        if (before ? t->before[q] + r.max == m->before[q] : t->after[q] - r.min == m->after[q])
            return d;
    }
    return NULL;
}

static void refuse_overlap(Fuse *f, const Group *g, const Stmt *s, int q, const OverlapWish *o)
{
    Plan *p = f->p;
    const Member *m = &f->member[s->id];
    bool before = o->before < m->before[q];
    const Dep *d = widest(f, g, s, q, before);
    const char *name = s->index[m->theta[q].idx]->name, *reader = d ? stmt_text(p->a, p->g, d->dst) : "its reader";
    diag_report(p->g->diags, D_HALO, o->range, "an overlap of (%lld, %lld) along `%s` is too narrow: %s needs %s (%lld, %lld) around each tile",
                (long long)o->before, (long long)o->after, name, reader, stmt_text(p->a, p->g, s), (long long)m->before[q], (long long)m->after[q]);
    if (d)
        note_dependence(p, d);
}

// Bytes of the planes that are too many, in each tile: over dims and tile sizes that are not known, a text.
static const char *wasted(Fuse *f, const Group *g, const Stmt *s, int q, int64_t planes)
{
    const Member *m = &f->member[s->id];
    const Tensor *t = s->eq->lhs;
    int64_t bytes = planes * dtype_bytes(t->type);
    const char *of = "";
    for (int k = 0; k < s->nouter; k++) {
        bool tiled = false;
        for (int r = 0; r < g->ndims; r++)
            tiled = tiled || m->theta[r].idx == k;
        if (k == m->theta[q].idx)
            continue;
        Expr *extent = expr_simplify(f->p->a, expr_binary(f->p->a, OP_SUB, DT_INDEX, s->index[k]->hi, s->index[k]->lo));
        if (extent->op == OP_CONST && !tiled)
            bytes *= extent->i;
        else
            of = arena_printf(f->p->a, "%s times the %s of `%s`", of, tiled ? "tile" : "extent", s->index[k]->name);
    }
    return arena_printf(f->p->a, "%lld bytes%s", (long long)bytes, of);
}

static bool is_read_outside(const Fuse *f, const Stmt *s)
{
    const Member *m = &f->member[s->id];
    for (int i = 0; i < f->out[s->id].n; i++) {
        const Member *t = &f->member[f->out[s->id].at[i]->dst->id];
        if (t->list != m->list || t->group != m->group)
            return true;
    }
    return false;
}

static void check_overlap(Fuse *f, const Group *g, const Stmt *s, int q, const OverlapWish *o)
{
    Plan *p = f->p;
    Member *m = &f->member[s->id];
    int64_t more = o->before - m->before[q] + o->after - m->after[q];
    if (o->before < m->before[q] || o->after < m->after[q]) {
        refuse_overlap(f, g, s, q, o);
        return;
    }
    if (more == 0)
        return;
    if (s->eq->lhs->kind == TENSOR_OUTPUT || is_read_outside(f, s)) {
        diag_report(p->g->diags, D_SCHEDULE, o->range, "the tiles of %s cannot overlap: what it computes is seen outside of them", stmt_text(p->a, p->g, s));
        return;
    }
    diag_report(p->g->diags, D_HALO_WASTE, o->range, "an overlap of (%lld, %lld) along `%s` is wider than needed and wastes %s per tile", (long long)o->before,
                (long long)o->after, s->index[m->theta[q].idx]->name, wasted(f, g, s, q, more));
    diag_help(p->g->diags, "(%lld, %lld) is enough", (long long)m->before[q], (long long)m->after[q]);
    m->before[q] = o->before;
    m->after[q] = o->after;
}

void fuse_overlaps(Fuse *f, Group *g)
{
    for (int i = g->stmts.n - 1; i >= 0; i--) {             // readers first: what they compute more needs more
        const Stmt *s = g->stmts.at[i];
        const StmtWish *w = wish(f, s);
        for (int q = 0; w && q < g->ndims; q++) {
            int idx = f->member[s->id].theta[q].idx;
            if (idx < 0 || !w->overlap[idx])
                continue;
            check_overlap(f, g, s, q, w->overlap[idx]);
            fuse_grow_halos(f, g, &g->inner);
        }
    }
}
