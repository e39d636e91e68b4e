// normalize: one operation an equation (see normalize.h).
//
// Works equation by equation: what `otherwise` leaves, and what an output keeps of its input, become a few boxes, each an
// equation; nests are lifted out of the right sides (lift.h); and what nobody needs then is dropped.
// Test: tests/golden/passes/normalize.pto, tests/run (every sample goes through it)
#include "passes/normalize.h"

#include "passes/lift.h"
#include "passes/ranges.h"

static void normalize_piece(Lift *n, const Equation *eq, Equation *copy)
{
    ranges_own_indices(n->a, copy);
    ranges_fold_conditions(n->a, copy);
    n->eq = eq;
    n->work = copy;
    n->refine.n = 0;
    n->nhidden = 0;
    copy->rhs = lift_expr(n, copy->rhs);
    lift_push(n, copy);
}

static Equation *copy_equation(Lift *n, const Equation *eq)
{
    Equation *copy = ARENA_NEW(n->a, Equation);
    *copy = *eq;
    copy->origin = eq->origin;
    copy->conds.at = NULL;
    copy->conds.n = copy->conds.cap = 0;
    for (int i = 0; i < eq->conds.n; i++)
        VEC_PUSH(n->a, &copy->conds, eq->conds.at[i]);
    return copy;
}

typedef struct { Lift *n; const Equation *eq; const Poly *source; int piece, pieces; } Pieces;

static isl_stat add_part(isl_set *s, Pieces *p)
{
    Equation *copy = copy_equation(p->n, p->eq);
    PolyIndices ix = { copy->indices.n, copy->indices.at };
    VEC_PUSH(p->n->a, &copy->conds, poly_set_cond(p->source, p->n->a, ix, s));
    isl_set_free(s);
    copy->otherwise = false;
    if (p->pieces > 1)
        copy->name = arena_printf(p->n->a, "%s.%d", p->eq->name, p->piece);
    p->piece++;
    normalize_piece(p->n, p->eq, copy);
    return isl_stat_ok;
}

static isl_stat add_piece(isl_basic_set *b, void *data)
{
    return add_part(isl_set_from_basic_set(b), data);
}

enum { MOST_PIECES = 8, MOST_DIVISIONS = 8, SETS = 200000 };

// An equation for each piece of the set, which lies in `box`; where they are many, one under a condition.
static void add_pieces(Lift *n, const Poly *source, const Equation *eq, isl_set *s, isl_set *box)
{
    bool simple = poly_divisions(s) <= MOST_DIVISIONS;
    s = isl_set_coalesce(simple ? isl_set_gist(s, isl_set_copy(box)) : s);
    isl_set_free(box);
    bool few = simple && isl_set_n_basic_set(s) <= MOST_PIECES;
    s = isl_set_compute_divs(few ? isl_set_make_disjoint(s) : s);
    bool done = budget_end(source->budget) && s;
    Pieces p = { n, eq, source, 0, few ? isl_set_n_basic_set(s) : 1 };
    if (!done)
        diag_report(n->d, D_UNDECIDED, eq->range, "could not decide within the budget which elements are left to `%s`", eq->name);
    else if (few)
        isl_set_foreach_basic_set(s, add_piece, &p);
    else
        add_part(isl_set_copy(s), &p);
    isl_set_free(s);
}

// The box, with what is known of the sizes that `s` speaks of, too.
static isl_set *under_all_of(const Poly *source, isl_set *box, isl_set *s)
{
    return poly_under(source, isl_set_align_params(box, isl_set_get_space(s)));
}

// `otherwise` is what the other equations leave: a few boxes, each an equation of its own.
static void normalize_otherwise(Lift *n, const Poly *source, const Equation *eq)
{
    budget_begin_least(source->budget, SETS);
    isl_set *s = isl_set_reset_tuple_id(poly_domain(source, eq, false, NULL));
    PolyIndices ix = { eq->indices.n, eq->indices.at };
    isl_set *box = under_all_of(source, poly_box(source, ix, eq->conds.n, eq->conds.at, NULL), s);
    add_pieces(n, source, eq, s, box);
}

static void normalize_equation(Lift *n, const Poly *source, const Equation *eq)
{
    if (eq->otherwise)
        normalize_otherwise(n, source, eq);
    else
        normalize_piece(n, eq, copy_equation(n, eq));
}

// What no equation defines of an output that starts from an input.
static void copy_initial(Lift *n, const Poly *source, Tensor *t)
{
    budget_begin_least(source->budget, SETS);
    isl_set *rest = poly_shape(source, t);
    for (int i = 0; i < source->kernel->equations.n; i++)
        if (source->kernel->equations.at[i]->lhs == t)
            rest = poly_subtract(source, rest, isl_map_range(poly_write(source, source->kernel->equations.at[i])));
    rest = isl_set_reset_tuple_id(isl_set_coalesce(rest));
    Equation eq = { .name = arena_printf(n->a, "%s.init", t->name), .range = t->range, .lhs_range = t->range, .lhs = t, .id = -1 };
    eq.subs = ARENA_ARRAY(n->a, Expr *, t->rank + 1);
    Expr **subs = ARENA_ARRAY(n->a, Expr *, t->rank + 1);
    for (int d = 0; d < t->rank; d++) {
        Index *index = ARENA_NEW(n->a, Index);
        *index = (Index){ .name = arena_printf(n->a, "i.%d", d), .range = t->range, .lo = t->lo[d], .hi = t->hi[d] };
        VEC_PUSH(n->a, &eq.indices, index);
        eq.subs[d] = subs[d] = expr_index(n->a, index, t->range);
    }
    eq.rhs = expr_new(n->a, OP_READ, t->type, t->range, t->rank, subs);
    eq.rhs->tensor = t->init;
    PolyIndices ix = { eq.indices.n, eq.indices.at };
    add_pieces(n, source, &eq, rest, under_all_of(source, poly_box(source, ix, 0, NULL, NULL), rest));
}

// Each argument of a log becomes an equation over its domain; the log prints the values when the kernel has run.
static void normalize_log(Lift *n, const Log *log, int number)
{
    Log *copy = ARENA_NEW(n->a, Log);
    *copy = *log;
    copy->args.at = NULL;
    copy->args.n = copy->args.cap = 0;
    Equation *work = ARENA_NEW(n->a, Equation);
    *work = (Equation){ .name = arena_printf(n->a, "log.%d", number), .range = log->range, .lhs_range = log->range, .origin = -1, .id = -1 };
    for (int i = 0; i < log->indices.n; i++)
        VEC_PUSH(n->a, &work->indices, log->indices.at[i]);
    for (int i = 0; i < log->conds.n; i++)
        VEC_PUSH(n->a, &work->conds, log->conds.at[i]);
    n->eq = n->work = work;
    n->refine.n = 0;
    n->nhidden = 0;
    for (int i = 0; i < log->args.n; i++) {
        Expr *arg = lift_expr(n, log->args.at[i]);
        bool used[64];
        for (int j = 0; j < work->indices.n; j++)
            used[j] = true;
        Lifted l = lift_begin(n, used, log->range);
        l.eq->rhs = lift_renamed(n, &l, arg);
        lift_finish(n, &l, "value", arg->type);
        VEC_PUSH(n->a, &copy->args, lift_read(n, &l));
    }
    VEC_PUSH(n->a, &n->k->logs, copy);
}

// ---- what nobody needs --------------------------------------------------------------------------------------------

typedef struct { Arena *a; bool *live; VEC(const Tensor *) work; } Liveness;

static bool mark_read(Expr *e, void *data)
{
    Liveness *l = data;
    if (e->op == OP_READ && !l->live[e->tensor->id]) {
        l->live[e->tensor->id] = true;
        VEC_PUSH(l->a, &l->work, e->tensor);
    }
    return true;
}

static void mark_tensor(Liveness *l, const Tensor *t)
{
    if (!l->live[t->id])
        VEC_PUSH(l->a, &l->work, t);
    l->live[t->id] = true;
}

static void mark_equation(Liveness *l, const Equation *eq)
{
    expr_walk(eq->rhs, mark_read, l);
    for (int j = 0; eq->nest && j < eq->nest->conds.n; j++)
        expr_walk(eq->nest->conds.at[j], mark_read, l);
}

// Equations from which no output and no log can be reached go; a fault in one of them would not count either.
static const bool *find_live(Arena *a, const Kernel *k)
{
    Liveness l = { .a = a, .live = ARENA_ARRAY(a, bool, k->tensors.n + 1) };
    typedef VEC(const Equation *) Writers;
    Writers *writers = ARENA_ARRAY(a, Writers, k->tensors.n + 1);
    for (int i = 0; i < k->equations.n; i++)
        VEC_PUSH(a, &writers[k->equations.at[i]->lhs->id], k->equations.at[i]);
    for (int i = 0; i < k->outputs.n; i++)
        mark_tensor(&l, k->outputs.at[i]);
    for (int i = 0; i < k->logs.n; i++)
        for (int j = 0; j < k->logs.at[i]->args.n; j++)
            expr_walk(k->logs.at[i]->args.at[j], mark_read, &l);
    while (l.work.n > 0) {
        const Tensor *t = l.work.at[--l.work.n];
        for (int i = 0; i < writers[t->id].n; i++)
            mark_equation(&l, writers[t->id].at[i]);
    }
    return l.live;
}

static void drop_dead(Lift *n)
{
    Kernel *k = n->k;
    const bool *live = find_live(n->a, k);
    int m = 0;
    for (int i = 0; i < k->equations.n; i++)
        if (live[k->equations.at[i]->lhs->id]) {
            k->equations.at[m] = k->equations.at[i];
            k->equations.at[m]->id = m;
            m++;
        }
    k->equations.n = m;
}

Kernel *normalize_live(Arena *a, const Kernel *k)
{
    Kernel *copy = ARENA_NEW(a, Kernel);
    const bool *live = find_live(a, k);
    *copy = *k;
    copy->equations.at = NULL;
    copy->equations.n = copy->equations.cap = 0;
    for (int i = 0; i < k->equations.n; i++)
        if (live[k->equations.at[i]->lhs->id])
            VEC_PUSH(a, &copy->equations, k->equations.at[i]);
    return copy;
}

Kernel *normalize_kernel(Budget *budget, Diags *d, const Kernel *source)
{
    int errors = diags_errors(d);
    Kernel *k = ARENA_NEW(source->arena, Kernel);
    *k = *source;
    k->tensors.at = NULL;
    k->tensors.n = k->tensors.cap = 0;
    k->equations.at = NULL;
    k->equations.n = k->equations.cap = 0;
    k->logs.at = NULL;
    k->logs.n = k->logs.cap = 0;
    for (int i = 0; i < source->tensors.n; i++)
        VEC_PUSH(k->arena, &k->tensors, source->tensors.at[i]);
    Poly *p = poly_new(k->arena, budget, source);
    Lift n = { .a = k->arena, .d = d, .k = k, .p = p };
    for (int i = 0; i < source->equations.n; i++)
        normalize_equation(&n, p, source->equations.at[i]);
    for (int i = 0; i < source->outputs.n; i++)
        if (source->outputs.at[i]->init)
            copy_initial(&n, p, source->outputs.at[i]);
    for (int i = 0; i < source->logs.n; i++)
        normalize_log(&n, source->logs.at[i], i);
    drop_dead(&n);
    poly_free(p);
    return diags_errors(d) == errors ? k : NULL;
}
