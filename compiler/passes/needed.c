// needed: which elements of an intermediate are needed, whatever the data is (see needed.h).
//
// Only tensors that can meet a fault, in one of their own equations or in what they read, are looked at; consumers come before
// what they read. For one tensor: the union of what its needed readers read unconditionally (isl: images of their domains). For
// tensors that need one another, in a recurrence, all of them are taken to be needed whole, and those for which that does not
// follow drop out until it does for the rest: the chain of readers of an element is finite, so it ends at an output. When
// the budget is exhausted, an element is not known to be needed, which is right, too. Of a scan, what an element needs is what comes before it.
// Tests: tests/golden/faults/needed.pto, tests/golden/random/scan_in_part.pto
#include "passes/needed.h"

// ---- equations --------------------------------------------------------------------------------------------------------------

PolyIndices needed_indices(Arena *a, const Equation *eq)
{
    VEC(Index *) all = { 0 };
    for (int i = 0; i < eq->indices.n; i++)
        VEC_PUSH(a, &all, eq->indices.at[i]);
    for (int i = 0; eq->nest && i < eq->nest->indices.n; i++)
        VEC_PUSH(a, &all, eq->nest->indices.at[i]);
    return (PolyIndices){ all.n, all.at };
}

isl_set *needed_domain(const Needed *n, const Equation *eq)
{
    return isl_set_reset_tuple_id(poly_domain(n->p, eq, true, NULL));
}

static bool is_local(const Tensor *t) { return t->kind == TENSOR_LOCAL || t->kind == TENSOR_HIDDEN; }

static bool is_suspect(const Equation *eq)
{
    bool suspect = needed_is_suspect(eq->rhs);
    for (int i = 0; eq->nest && i < eq->nest->conds.n; i++)
        suspect = suspect || needed_is_suspect(eq->nest->conds.at[i]);
    return suspect;
}

static bool equation_faults(const Needed *n, const Equation *eq)
{
    if (!is_suspect(eq))
        return false;
    PolyIndices ix = needed_indices(n->a, eq);
    isl_set *domain = needed_domain(n, eq);
    bool faults = needed_has_fault(n, ix, domain, eq->rhs);
    for (int i = 0; eq->nest && i < eq->nest->conds.n; i++)
        faults = faults || needed_has_fault(n, ix, domain, eq->nest->conds.at[i]);
    isl_set_free(domain);
    return faults;
}

typedef struct { Needed *n; Equation *eq; bool log; } Readers;

static bool see_reader(Expr *e, void *data)
{
    Readers *r = data;
    if (e->op != OP_READ)
        return true;
    Need *need = &r->n->of[e->tensor->id];
    if (r->log)
        need->sure = need->decided = true;
    else if (need->readers.n == 0 || need->readers.at[need->readers.n - 1] != r->eq)
        VEC_PUSH(r->n->a, &need->readers, r->eq);
    return true;
}

// What is logged is needed as an output is.
static void find_readers(Needed *n)
{
    const Kernel *k = n->k;
    for (int i = 0; i < k->equations.n; i++) {
        Equation *eq = k->equations.at[i];
        Readers r = { n, eq, false };
        VEC_PUSH(n->a, &n->of[eq->lhs->id].writers, eq);
        expr_walk(eq->rhs, see_reader, &r);
        for (int j = 0; eq->nest && j < eq->nest->conds.n; j++)
            expr_walk(eq->nest->conds.at[j], see_reader, &r);
    }
    for (int i = 0; i < k->logs.n; i++)
        for (int j = 0; j < k->logs.at[i]->args.n; j++)
            expr_walk(k->logs.at[i]->args.at[j], see_reader, &(Readers){ n, NULL, true });
    for (int i = 0; i < k->tensors.n; i++)
        if (!is_local(k->tensors.at[i]))
            n->of[i].sure = n->of[i].decided = true;
}

// False: no intermediate can meet a fault.
static bool find_involved(Needed *n)
{
    VEC(int) work = { 0 };
    for (int i = 0; i < n->k->tensors.n; i++) {
        Need *need = &n->of[i];
        for (int j = 0; is_local(n->k->tensors.at[i]) && j < need->writers.n && !need->faults; j++)
            need->faults = equation_faults(n, need->writers.at[j]);
        need->involved = need->faults;
        if (need->faults)
            VEC_PUSH(n->a, &work, i);
    }
    bool any = work.n > 0;
    while (work.n > 0) {
        const Need *from = &n->of[work.at[--work.n]];
        for (int i = 0; i < from->readers.n; i++) {
            Need *to = &n->of[from->readers.at[i]->lhs->id];
            if (!to->involved)
                VEC_PUSH(n->a, &work, from->readers.at[i]->lhs->id);
            to->involved = true;
        }
    }
    return any;
}

// ---- what is certainly read ---------------------------------------------------------------------------------------------------

typedef struct {
    const Needed *n;
    const Tensor *t;
    PolyIndices ix;
    isl_set *domain;              // of the reader
    bool guarded;                 // by data
    isl_set *sure;                // elements that are read
    bool others;                  // there are reads that do not tell
} Cover;

static bool repeats_edges(const Tensor *t)
{
    for (int d = 0; d < t->rank; d++)
        if (t->border[d].kind != BORDER_NONE && t->border[d].kind != BORDER_ZERO && t->border[d].kind != BORDER_CONST)
            return true;
    return false;
}

static void cover_read(const ReadSite *site, void *data)
{
    Cover *c = data;
    if (site->read->tensor != c->t)
        return;
    isl_set *where = isl_set_copy(c->domain);
    bool tells = !c->guarded;
    for (int i = 0; i < site->nguards && tells; i++) {
        isl_set *holds = poly_cond(c->n->p, c->ix, site->guards[i]);
        tells = holds;
        where = holds ? isl_set_intersect(where, holds) : where;
    }
    bool exact = false;
    isl_map *m = poly_subscripts(c->n->p, c->ix, c->t, site->read->args, &exact);
    if (tells && exact)
        c->sure = isl_set_union(c->sure, isl_set_apply(where, isl_map_copy(m)));
    else
        isl_set_free(where);
    isl_map_free(m);
    c->others = c->others || !tells || !exact;
}

static isl_map *written(const Needed *n, const Equation *eq, PolyIndices ix)
{
    return poly_subscripts(n->p, ix, eq->lhs, eq->subs, NULL);
}

// The instances of it that are needed.
static isl_set *needed_instances(const Needed *n, const Equation *eq, PolyIndices ix)
{
    isl_set *domain = needed_domain(n, eq), *need = n->of[eq->lhs->id].need;
    return need ? isl_set_intersect(domain, isl_set_apply(isl_set_copy(need), isl_map_reverse(written(n, eq, ix)))) : domain;
}

static bool is_affine(const Needed *n, PolyIndices ix, const Expr *cond)
{
    isl_set *s = poly_cond(n->p, ix, cond);
    isl_set_free(s);
    return s;
}

static void cover_by(Cover *c, const Equation *eq)
{
    c->ix = needed_indices(c->n->a, eq);
    c->domain = needed_instances(c->n, eq, c->ix);
    c->guarded = !c->n->of[eq->lhs->id].sure;
    for (int i = 0; eq->nest && i < eq->nest->conds.n; i++) {
        expr_reads(c->n->a, eq->nest->conds.at[i], cover_read, c);
        c->guarded = c->guarded || !is_affine(c->n, c->ix, eq->nest->conds.at[i]);
    }
    expr_reads(c->n->a, eq->rhs, cover_read, c);
    isl_set_free(c->domain);
}

static isl_set *elements(const Needed *n, const Tensor *t)
{
    const Need *need = &n->of[t->id];
    isl_set *shape = poly_shape(n->p, t), *all = isl_set_empty(isl_set_get_space(shape));
    isl_set_free(shape);
    for (int i = 0; i < need->writers.n; i++)
        all = isl_set_union(all, isl_map_range(poly_write(n->p, need->writers.at[i])));
    return all;
}

// What its readers certainly read of it.
static Cover cover(const Needed *n, const Tensor *t)
{
    const Need *need = &n->of[t->id];
    isl_set *shape = poly_shape(n->p, t);
    Cover c = { .n = n, .t = t, .sure = isl_set_empty(isl_set_get_space(shape)), .others = repeats_edges(t) };
    isl_set_free(shape);
    for (int i = 0; i < need->readers.n; i++)
        cover_by(&c, need->readers.at[i]);
    return c;
}

// ---- scans ----------------------------------------------------------------------------------------------------------------------

// From each point of a scan to those that lie before it, and itself.
static isl_map *scanned(isl_set *domain, const Equation *eq)
{
    isl_map *before = isl_map_from_domain_and_range(isl_set_copy(domain), domain);
    for (int i = 0; i < eq->indices.n; i++) {
        bool along = eq->indices.at[i] == eq->nest->along, reverse = along && eq->nest->reverse;
        isl_map *m = isl_map_universe(isl_map_get_space(before));
        m = !along ? isl_map_equate(m, isl_dim_in, i, isl_dim_out, i) : reverse ? isl_map_order_le(m, isl_dim_in, i, isl_dim_out, i)
                                                                                : isl_map_order_ge(m, isl_dim_in, i, isl_dim_out, i);
        before = isl_map_intersect(before, m);
    }
    return before;
}

// An element of a scan needs those that come before it.
static isl_set *with_scanned(const Needed *n, const Tensor *t, isl_set *need)
{
    const Need *of = &n->of[t->id];
    for (int i = 0; i < of->writers.n; i++) {
        const Equation *eq = of->writers.at[i];
        if (eq->kind != EQ_SCAN)
            continue;
        isl_map *write = written(n, eq, needed_indices(n->a, eq)), *back = isl_map_reverse(isl_map_copy(write));
        isl_map *before = isl_map_apply_range(isl_map_apply_range(back, scanned(needed_domain(n, eq), eq)), write);
        need = isl_set_union(need, isl_set_apply(isl_set_copy(need), before));
    }
    return need;
}

// ---- the order of decisions -----------------------------------------------------------------------------------------------------

// One box, or the like, of some elements.
static isl_set *restriction(isl_set *sure, isl_set *all)
{
    isl_set *some = isl_set_coalesce(isl_set_intersect(isl_set_copy(sure), isl_set_copy(all)));
    if (isl_set_n_basic_set(some) <= 1)
        return some;
    isl_set_free(some);
    return NULL;
}

// `whole`: all of it or nothing.
static bool decide(Needed *n, const Tensor *t, bool whole)
{
    Need *need = &n->of[t->id];
    budget_begin(n->p->budget);
    isl_set *all = elements(n, t);
    Cover c = cover(n, t);
    bool is_all = poly_is_subset(n->p, all, c.sure) == isl_bool_true;
    isl_set *some = NULL;
    if (!is_all && !whole && !c.others) {
        c.sure = with_scanned(n, t, c.sure);
        some = restriction(c.sure, all);
    }
    isl_set_free(all);
    isl_set_free(c.sure);
    if (!budget_end(n->p->budget)) {
        isl_set_free(some);
        return need->sure = false;
    }
    isl_set_free(need->need);
    need->need = some;
    return need->sure = is_all || some;
}

typedef struct { int n; int *at; } Ids;

// The undecided tensors that have to be decided before it is, itself among them.
static Ids undecided_readers(const Needed *n, int id)
{
    VEC(int) list = { 0 };
    bool *seen = ARENA_ARRAY(n->a, bool, n->k->tensors.n + 1);
    VEC_PUSH(n->a, &list, id);
    seen[id] = true;
    for (int w = 0; w < list.n; w++) {
        const Need *need = &n->of[list.at[w]];
        for (int i = 0; i < need->readers.n; i++) {
            int to = need->readers.at[i]->lhs->id;
            if (!n->of[to].decided && !seen[to])
                VEC_PUSH(n->a, &list, to);
            seen[to] = true;
        }
    }
    return (Ids){ list.n, list.at };
}

static bool is_ready(const Needed *n, int id)
{
    for (int i = 0; i < n->of[id].readers.n; i++)
        if (!n->of[n->of[id].readers.at[i]->lhs->id].decided)
            return false;
    return true;
}

static void decide_together(Needed *n, Ids group)
{
    bool changed = true;
    for (int i = 0; i < group.n; i++)
        n->of[group.at[i]].sure = true;
    while (changed) {
        changed = false;
        for (int i = 0; i < group.n; i++) {
            Need *need = &n->of[group.at[i]];
            changed = (need->sure && !decide(n, n->k->tensors.at[group.at[i]], true)) || changed;
        }
    }
}

// Of those that are left, none is ready: the one that waits for the fewest, and these.
static Ids next_group(const Needed *n)
{
    Ids group = { 0 };
    for (int i = 0; i < n->k->tensors.n; i++) {
        if (!n->of[i].involved || n->of[i].decided)
            continue;
        Ids waits = undecided_readers(n, i);
        if (group.n == 0 || waits.n < group.n)
            group = waits;
    }
    return group;
}

static bool decide_ready(Needed *n)
{
    bool any = false;
    for (int i = n->k->tensors.n - 1; i >= 0; i--) {
        if (!n->of[i].involved || n->of[i].decided || !is_ready(n, i))
            continue;
        decide(n, n->k->tensors.at[i], false);
        any = n->of[i].decided = true;
    }
    return any;
}

static void decide_all(Needed *n)
{
    while (true) {
        while (decide_ready(n))
            continue;
        Ids group = next_group(n);
        if (group.n == 0)
            return;
        decide_together(n, group);
        for (int i = 0; i < group.n; i++)
            n->of[group.at[i]].decided = true;
    }
}

// ---- what follows -----------------------------------------------------------------------------------------------------------------

// From tensors to what reads them: faults that travel, and elements that are not there. (A check counts where it is made, so it
// is made in what is needed alone.)
static void spread(Needed *n)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (int i = 0; i < n->k->tensors.n; i++) {
            Need *from = &n->of[i];
            bool poison = from->involved && !from->sure && (from->faults || from->poison);
            bool restricted = from->restricted || (from->need && from->faults);
            changed = changed || poison != from->poison || restricted != from->restricted;
            from->poison = poison;
            from->restricted = restricted;
            for (int j = 0; j < from->readers.n; j++) {
                Need *to = &n->of[from->readers.at[j]->lhs->id];
                bool takes = poison && !to->sure && !to->poison, loses = (restricted || poison) && to->need && !to->restricted;
                to->poison = to->poison || takes;
                to->restricted = to->restricted || loses;
                changed = changed || takes || loses;
            }
        }
    }
}

static bool has_work(const Needed *n)
{
    for (int i = 0; i < n->k->tensors.n; i++)
        if (n->of[i].poison || n->of[i].restricted)
            return true;
    return false;
}

Kernel *needed_kernel(Arena *a, Budget *budget, const Sources *sources, Kernel *k)
{
    Needed n = { .a = a, .p = poly_new(a, budget, k), .sources = sources, .k = k };
    n.of = ARENA_ARRAY(a, Need, k->tensors.n + 1);
    find_readers(&n);
    if (find_involved(&n)) {
        decide_all(&n);
        spread(&n);
        if (has_work(&n))
            k = needed_rewrite(&n);
    }
    for (int i = 0; i < n.k->tensors.n; i++)
        isl_set_free(n.of[i].need);
    poly_free(n.p);
    return k;
}
