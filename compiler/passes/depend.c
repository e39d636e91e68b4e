// depend: exact flow dependences (see depend.h).
//
// One relation per read and writer; a tensor with w equations and r reads costs w*r small isl operations, so time is
// linear in the number of equations as long as the equations of one tensor are bounded. Distances are cached per
// dependence, because the schedulers ask for them again and again. A relation that exceeds the budget becomes
// everything-on-everything, a distance unbounded: slower code, never wrong.
#include "passes/depend.h"

#include "passes/scatter.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <isl/constraint.h>
#include <isl/ilp.h>
#include <isl/local_space.h>
#include <isl/val.h>

static isl_set *tuple_set(isl_set *s, int id)
{
    char name[24];
    snprintf(name, sizeof name, "P%d", id);
    return isl_set_set_tuple_name(s, name);
}

static isl_map *tuple_in(isl_map *m, int id)
{
    char name[24];
    snprintf(name, sizeof name, "P%d", id);
    return isl_map_set_tuple_name(m, isl_dim_in, name);
}

static PolyIndices indices_of(const Stmt *s)
{
    return (PolyIndices){ s->n, s->index };
}

// The index that data chooses is no index of the statement: its place on the left takes the data.
static void make_scatter(Program *g, Stmt *s, const Scatter *x)
{
    isl_id *id = isl_set_get_tuple_id(s->domain);
    s->domain = isl_set_set_tuple_id(isl_set_project_out(s->domain, isl_dim_set, (unsigned)x->position, 1), id);
    s->n--;
    s->nouter--;
    for (int i = x->position; i < s->n; i++)
        s->index[i] = s->index[i + 1];
    s->subs = ARENA_ARRAY(g->a, Expr *, s->eq->lhs->rank + 1);
    for (int d = 0; d < s->eq->lhs->rank; d++)
        s->subs[d] = d == x->dim ? x->chosen : s->eq->subs[d];
    s->conds.n = 0;
    for (int i = 0; i < x->nconds; i++)
        VEC_PUSH(g->a, &s->conds, x->conds[i]);
}

enum { DOMAIN = 200000 };          // operations

static Stmt *new_stmt(Program *g, StatementKind kind, Equation *eq)
{
    Stmt *s = ARENA_NEW(g->a, Stmt);
    *s = (Stmt){ .id = g->stmts.n, .kind = kind, .eq = eq, .nouter = eq->indices.n, .subs = eq->subs };
    for (int i = 0; i < eq->indices.n; i++)
        s->index[s->n++] = eq->indices.at[i];
    if (kind == STMT_UPDATE)
        for (int i = 0; i < eq->nest->indices.n; i++)
            s->index[s->n++] = eq->nest->indices.at[i];
    for (int i = 0; kind == STMT_UPDATE && i < eq->nest->conds.n; i++)
        VEC_PUSH(g->a, &s->conds, eq->nest->conds.at[i]);
    budget_begin_least(g->poly->budget, DOMAIN);
    s->domain = tuple_set(poly_domain(g->poly, eq, kind == STMT_UPDATE, &s->exact), s->id);
    if (!budget_end(g->poly->budget) || !s->domain)
        diag_report(g->diags, D_UNDECIDED, eq->range, "could not decide within the budget for which elements `%s` is computed", eq->name);
    Scatter scatter;
    if (kind == STMT_UPDATE && scatter_find(g->a, g->poly, eq, &scatter) && !scatter.assumed)
        make_scatter(g, s, &scatter);
    VEC_PUSH(g->a, &g->stmts, s);
    VEC_PUSH(g->a, &g->writers[eq->lhs->id], s);
    return s;
}

static void make_statements(Program *g)
{
    for (int i = 0; i < g->kernel->equations.n; i++) {
        Equation *eq = g->kernel->equations.at[i];
        switch (eq->kind) {
        case EQ_MAP: new_stmt(g, STMT_MAP, eq); break;
        case EQ_SCAN: new_stmt(g, STMT_SCAN, eq); break;
        case EQ_REDUCE:
            new_stmt(g, STMT_INIT, eq);
            new_stmt(g, STMT_UPDATE, eq);
            break;
        }
    }
}

// ---- reads ----------------------------------------------------------------------------------------------------

typedef struct { Arena *a; ReadVisitor f; void *data; VEC(Expr *) conds; } Visit;

static void visit(Visit *v, Expr *e)
{
    int depth = v->conds.n;
    if (e->op == OP_SELECT) {
        visit(v, e->args[0]);
        VEC_PUSH(v->a, &v->conds, e->args[0]);
        visit(v, e->args[1]);
        v->conds.at[depth] = expr_unary(v->a, OP_NOT, DT_BOOL, e->args[0]);
        visit(v, e->args[2]);
        v->conds.n = depth;
        return;
    }
    if (e->op == OP_AND || e->op == OP_OR) {
        visit(v, e->args[0]);
        VEC_PUSH(v->a, &v->conds, e->op == OP_AND ? e->args[0] : expr_unary(v->a, OP_NOT, DT_BOOL, e->args[0]));
        visit(v, e->args[1]);
        v->conds.n = depth;
        return;
    }
    for (int i = 0; i < e->n; i++)
        visit(v, e->args[i]);
    if (e->op == OP_READ)
        v->f(v->data, e, v->conds.n, v->conds.at);
}

void depend_visit_reads(Arena *a, Expr *e, ReadVisitor f, void *data)
{
    Visit v = { .a = a, .f = f, .data = data };
    visit(&v, e);
}

void depend_stmt_reads(Arena *a, const Stmt *s, ReadVisitor f, void *data)
{
    if (s->kind == STMT_INIT)
        return;
    depend_visit_reads(a, s->eq->rhs, f, data);
    for (int i = 0; i < s->conds.n; i++)
        depend_visit_reads(a, s->conds.at[i], f, data);
    for (int d = 0; stmt_is_scatter(s) && d < s->eq->lhs->rank; d++)
        depend_visit_reads(a, s->subs[d], f, data);
}

// The affine part of a condition that holds: conjuncts that are not affine are left out.
static isl_set *assume(Program *g, PolyIndices ix, isl_set *s, const Expr *c)
{
    isl_set *holds = poly_cond(g->poly, ix, c);
    if (holds)
        return isl_set_intersect(s, holds);
    if (c->op == OP_AND) {
        s = assume(g, ix, s, c->args[0]);
        return assume(g, ix, s, c->args[1]);
    }
    return s;
}

// x_d beyond an edge becomes what the border reads there: the edge element (clamp), nothing (zero, const), or any
// element (wrap, reflect: they are periodic with a symbolic period, which is not affine).
static isl_map *fold_dimension(Program *g, const Tensor *t, int d, isl_map *m)
{
    PolyIndices none = { 0, NULL };
    BorderKind kind = t->border[d].kind;
    isl_space *space = isl_map_get_space(m);
    isl_local_space *ls = isl_local_space_from_space(isl_space_range(space));
    isl_pw_aff *x = isl_pw_aff_from_aff(isl_aff_var_on_domain(ls, isl_dim_set, (unsigned)d));
    isl_pw_aff *edge[2] = { poly_aff(g->poly, none, t->lo[d]), poly_aff(g->poly, none, t->hi[d]) };
    isl_map *all = isl_map_empty(isl_map_get_space(m)), *inside = isl_map_copy(m);
    for (int side = 0; side < 2 && edge[side]; side++) {
        isl_pw_aff *e = isl_pw_aff_add_dims(edge[side], isl_dim_in, (unsigned)t->rank);
        e = isl_pw_aff_set_tuple_id(e, isl_dim_in, isl_map_get_tuple_id(m, isl_dim_out));
        isl_set *beyond = side ? isl_pw_aff_ge_set(isl_pw_aff_copy(x), isl_pw_aff_copy(e)) : isl_pw_aff_lt_set(isl_pw_aff_copy(x), isl_pw_aff_copy(e));
        isl_map *out = isl_map_intersect_range(isl_map_copy(m), isl_set_copy(beyond));
        inside = isl_map_subtract(inside, isl_map_intersect_range(isl_map_copy(m), beyond));
        if (kind != BORDER_ZERO && kind != BORDER_CONST && kind != BORDER_NONE) {
            isl_map *any = isl_map_project_out(out, isl_dim_out, (unsigned)d, 1);
            any = isl_map_insert_dims(any, isl_dim_out, (unsigned)d, 1);
            any = isl_map_set_tuple_id(any, isl_dim_out, isl_map_get_tuple_id(m, isl_dim_out));
            if (kind == BORDER_CLAMP) {
                isl_val *back = isl_val_int_from_si(g->poly->isl, side ? -1 : 0);
                isl_pw_aff *at = isl_pw_aff_add_constant_val(isl_pw_aff_copy(e), back);
                any = isl_map_intersect_range(any, isl_pw_aff_eq_set(isl_pw_aff_copy(x), at));
            }
            all = isl_map_union(all, any);
        } else {
            isl_map_free(out);
        }
        isl_pw_aff_free(e);
    }
    isl_pw_aff_free(x);
    isl_map_free(m);
    return isl_map_union(all, inside);
}

// Which bordered dimensions the read can leave; `m` is the plain access.
static unsigned leaves(Program *g, const Tensor *t, isl_map *m)
{
    unsigned mask = 0;
    isl_set *touched = NULL;
    for (int d = 0; d < t->rank; d++) {
        if (t->border[d].kind == BORDER_NONE)
            continue;
        if (!touched)
            touched = isl_map_range(isl_map_copy(m));
        isl_set *one = isl_set_project_out(isl_set_copy(touched), isl_dim_set, (unsigned)d + 1, (unsigned)(t->rank - d - 1));
        one = isl_set_project_out(one, isl_dim_set, 0, (unsigned)d);
        isl_set *shape = isl_set_project_out(poly_shape(g->poly, t), isl_dim_set, (unsigned)d + 1, (unsigned)(t->rank - d - 1));
        shape = isl_set_project_out(shape, isl_dim_set, 0, (unsigned)d);
        if (poly_is_subset(g->poly, one, shape) != isl_bool_true)
            mask |= 1u << d;
        isl_set_free(one);
        isl_set_free(shape);
    }
    isl_set_free(touched);
    return mask;
}

isl_map *depend_access(Program *g, const Stmt *s, const Expr *read, int nconds, Expr *const *conds)
{
    PolyIndices ix = indices_of(s);
    isl_map *m = poly_subscripts(g->poly, ix, read->tensor, read->args, NULL);
    isl_set *domain = isl_set_reset_tuple_id(isl_set_copy(s->domain));
    for (int i = 0; i < nconds; i++)
        domain = assume(g, ix, domain, conds[i]);
    m = isl_map_intersect_domain(m, domain);
    unsigned outside = leaves(g, read->tensor, m);
    for (int d = 0; d < read->tensor->rank; d++)
        if (outside >> d & 1)
            m = fold_dimension(g, read->tensor, d, m);
    if (outside)
        m = isl_map_intersect_range(m, poly_shape(g->poly, read->tensor));
    m = isl_map_intersect_params(m, poly_known(g->poly, isl_map_get_space(m)));
    return tuple_in(m, s->id);
}

isl_map *depend_write(Program *g, const Stmt *s)
{
    isl_map *w = poly_subscripts(g->poly, indices_of(s), s->eq->lhs, s->subs, NULL);
    return isl_map_intersect_domain(tuple_in(w, s->id), isl_set_copy(s->domain));
}

// ---- dependences ----------------------------------------------------------------------------------------------

static void add_dep(Program *g, Stmt *src, Stmt *dst, Tensor *t, Expr *read, isl_map *map, bool guessed)
{
    Dep *d = ARENA_NEW(g->a, Dep);
    *d = (Dep){ .src = src, .dst = dst, .tensor = t, .read = read, .map = map, .guessed = guessed };
    d->cache = ARENA_ARRAY(g->a, Distance, src->n * dst->n + 1);
    VEC_PUSH(g->a, &g->deps, d);
}

// The instances of dst that read what src writes: `access` is what dst reads; NULL: not known.
static void relate(Program *g, Stmt *src, Stmt *dst, Tensor *t, Expr *read, isl_map *access)
{
    depend_budget_begin(g);
    isl_map *map = access ? isl_map_apply_range(depend_write(g, src), isl_map_reverse(access)) : NULL;
    map = isl_map_coalesce(map);
    isl_bool empty = isl_map_is_empty(map);
    if (!depend_budget_end(g) || empty == isl_bool_error) {
        isl_map_free(map);
        depend_give_up(g, read ? read->range : dst->eq->range, "how `%s` depends on `%s` was too expensive to find out; all of it is taken to need all of the other",
                       dst->eq->name, src->eq->name);
        map = isl_map_from_domain_and_range(isl_set_copy(src->domain), isl_set_copy(dst->domain));
        add_dep(g, src, dst, t, read, map, true);
    } else if (empty == isl_bool_false) {
        add_dep(g, src, dst, t, read, map, false);
    } else {
        isl_map_free(map);
    }
}

typedef struct { Program *g; Stmt *s; VEC(Expr *) dead; } Reader;      // dead: reads that never happen

// Borders that repeat elements have none to repeat where the dimension can be empty while the statement runs.
static unsigned may_be_empty(Program *g, const Tensor *t, unsigned outside, isl_set *domain)
{
    PolyIndices none = { 0, NULL };
    unsigned mask = 0;
    for (int d = 0; d < t->rank; d++) {
        BorderKind k = t->border[d].kind;
        if (!(outside >> d & 1) || (k != BORDER_CLAMP && k != BORDER_WRAP && k != BORDER_REFLECT))
            continue;
        isl_pw_aff *lo = poly_aff(g->poly, none, t->lo[d]), *hi = lo ? poly_aff(g->poly, none, t->hi[d]) : NULL;
        isl_set *empty = hi ? isl_set_params(isl_pw_aff_le_set(hi, lo)) : NULL;
        if (!hi)
            isl_pw_aff_free(lo);
        isl_set *both = empty ? poly_under(g->poly, isl_set_intersect_params(isl_set_copy(domain), empty)) : NULL;
        if (!both || isl_set_is_empty(both) != isl_bool_true)
            mask |= EXPR_EMPTY_BORDER << d;
        isl_set_free(both);
    }
    return mask;
}

// The bordered dimensions whose subscript is data: it can be anything.
static unsigned from_data(const Reader *r, const Expr *read)
{
    unsigned mask = 0;
    for (int d = 0; d < read->n; d++) {
        if (read->tensor->border[d].kind == BORDER_NONE)
            continue;
        isl_pw_aff *x = poly_aff(r->g->poly, indices_of(r->s), read->args[d]);
        mask |= x ? 0 : 1u << d;
        isl_pw_aff_free(x);
    }
    return mask;
}

static void note_borders(const Reader *r, Expr *read, int nconds, Expr *const *conds)
{
    isl_map *m = poly_subscripts(r->g->poly, indices_of(r->s), read->tensor, read->args, NULL);
    isl_set *domain = isl_set_reset_tuple_id(isl_set_copy(r->s->domain));
    for (int i = 0; i < nconds; i++)
        domain = assume(r->g, indices_of(r->s), domain, conds[i]);
    m = isl_map_intersect_domain(m, isl_set_copy(domain));
    unsigned outside = leaves(r->g, read->tensor, m) | from_data(r, read);
    read->outside |= outside | may_be_empty(r->g, read->tensor, outside, domain);
    isl_map_free(m);
    isl_set_free(domain);
}

static void read_dependences(void *data, Expr *read, int nconds, Expr *const *conds)
{
    Reader *r = data;
    StmtList *w = &r->g->writers[read->tensor->id];
    bool bordered = false;
    for (int d = 0; d < read->tensor->rank; d++)
        bordered = bordered || read->tensor->border[d].kind != BORDER_NONE;
    bool intermediate = read->tensor->kind == TENSOR_LOCAL || read->tensor->kind == TENSOR_HIDDEN;
    if (w->n == 0 && !bordered && !intermediate)
        return;
    int before = r->g->deps.n;
    depend_budget_begin(r->g);
    isl_map *access = depend_access(r->g, r->s, read, nconds, conds);
    depend_budget_end(r->g);
    if (bordered)
        note_borders(r, read, nconds, conds);
    for (int i = 0; i < w->n; i++)
        relate(r->g, w->at[i], r->s, read->tensor, read, isl_map_copy(access));
    if (intermediate && r->g->deps.n == before)
        VEC_PUSH(r->g->a, &r->dead, read);
    isl_map_free(access);
}

// INIT -> UPDATE at equal outer indices.
static void accumulator_dependence(Program *g, Stmt *init, Stmt *update)
{
    relate(g, init, update, init->eq->lhs, NULL, depend_write(g, update));
}

// A scan carries its value from each element to the next.
static void scan_dependence(Program *g, Stmt *s)
{
    isl_space *space = isl_space_map_from_set(isl_set_get_space(s->domain));
    isl_map *next = isl_map_universe(isl_space_copy(space));
    isl_local_space *ls = isl_local_space_from_space(space);
    for (int i = 0; i < s->n; i++) {
        isl_constraint *c = isl_constraint_alloc_equality(isl_local_space_copy(ls));
        int step = s->index[i] != s->eq->nest->along ? 0 : s->eq->nest->reverse ? -1 : 1;
        c = isl_constraint_set_coefficient_si(c, isl_dim_in, i, 1);
        c = isl_constraint_set_coefficient_si(c, isl_dim_out, i, -1);
        c = isl_constraint_set_constant_si(c, step);
        next = isl_map_add_constraint(next, c);
    }
    isl_local_space_free(ls);
    next = isl_map_intersect_domain(next, isl_set_copy(s->domain));
    next = isl_map_intersect_range(next, isl_set_copy(s->domain));
    if (isl_map_is_empty(next) == isl_bool_true)
        isl_map_free(next);
    else
        add_dep(g, s, s, s->eq->lhs, NULL, next, false);
}

static Expr *zero_of(Arena *a, const Expr *read)
{
    return dtype_is_float(read->type) ? expr_float(a, read->type, 0, read->range) : expr_int(a, read->type, 0, read->range);
}

static Expr *is_outside(Arena *a, const Expr *read, int d)
{
    DType type = read->args[d]->type == DT_INDEX ? DT_INDEX : DT_I64;
    Expr *x = expr_convert(a, type, read->args[d]);
    Expr *below = expr_binary(a, OP_LT, DT_BOOL, x, expr_convert(a, type, read->tensor->lo[d]));
    return expr_binary(a, OP_OR, DT_BOOL, below, expr_binary(a, OP_GE, DT_BOOL, x, expr_convert(a, type, read->tensor->hi[d])));
}

// A read of an intermediate that no element reaches has no place to read from: it is always outside and gives its border
// (the first of those that are constant), or stands in a branch never taken, where any value does.
static Expr *dead_value(Arena *a, const Expr *read)
{
    Expr *value = NULL;
    for (int d = read->n - 1; d >= 0; d--) {
        const Border *b = &read->tensor->border[d];
        if (!(read->outside >> d & 1) || (b->kind != BORDER_CONST && b->kind != BORDER_ZERO))
            continue;
        Expr *here = b->kind == BORDER_CONST ? b->value : zero_of(a, read);
        Expr *args[3] = { is_outside(a, read, d), here, value };
        value = value ? expr_new(a, OP_SELECT, read->type, read->range, 3, args) : here;
    }
    return value ? value : zero_of(a, read);
}

static Expr *without(Arena *a, Expr *e, Expr *const *dead, int n)
{
    for (int i = 0; i < n; i++)
        if (e == dead[i])
            return dead_value(a, e);
    Expr **args = ARENA_ARRAY(a, Expr *, e->n + 1);
    bool changed = false;
    for (int i = 0; i < e->n; i++) {
        args[i] = without(a, e->args[i], dead, n);
        changed = changed || args[i] != e->args[i];
    }
    if (!changed)
        return e;
    Expr *copy = ARENA_NEW(a, Expr);
    *copy = *e;
    copy->args = args;
    return copy;
}

static void drop_dead_reads(Reader *r)
{
    Stmt *s = r->s;
    if (r->dead.n == 0)
        return;
    s->eq->rhs = without(r->g->a, s->eq->rhs, r->dead.at, r->dead.n);
    for (int i = 0; i < s->conds.n; i++)
        s->conds.at[i] = without(r->g->a, s->conds.at[i], r->dead.at, r->dead.n);
    for (int d = 0; stmt_is_scatter(s) && d < s->eq->lhs->rank; d++)
        s->subs[d] = without(r->g->a, s->subs[d], r->dead.at, r->dead.n);
}

static void statement_dependences(Program *g, Stmt *s)
{
    Reader r = { .g = g, .s = s };
    depend_stmt_reads(g->a, s, read_dependences, &r);
    drop_dead_reads(&r);
    if (s->kind == STMT_SCAN)
        scan_dependence(g, s);
    if (s->kind == STMT_UPDATE)
        accumulator_dependence(g, g->stmts.at[s->id - 1], s);
}

Program *depend_analyse(Arena *a, Poly *p, Diags *d, const Kernel *k)
{
    Program *g = ARENA_NEW(a, Program);
    *g = (Program){ .a = a, .poly = p, .kernel = k, .diags = d, .writers = ARENA_ARRAY(a, StmtList, k->tensors.n + 1) };
    int errors = diags_errors(d);
    make_statements(g);
    if (diags_errors(d) > errors)
        return g;
    for (int i = 0; i < g->stmts.n; i++)
        statement_dependences(g, g->stmts.at[i]);
    return g;
}

void depend_free(Program *g)
{
    for (int i = 0; i < g->stmts.n; i++)
        isl_set_free(g->stmts.at[i]->domain);
    for (int i = 0; i < g->deps.n; i++)
        isl_map_free(g->deps.at[i]->map);
}

// ---- the budget -----------------------------------------------------------------------------------------------

void depend_budget_begin(const Program *g)
{
    budget_begin(g->poly->budget);
}

bool depend_budget_end(const Program *g)
{
    return budget_end(g->poly->budget);
}

void depend_give_up(Program *g, Range range, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *text = arena_vprintf(g->a, fmt, ap);
    va_end(ap);
    for (int i = 0; i < g->given_up.n; i++)
        if (strcmp(g->given_up.at[i], text) == 0)
            return;
    VEC_PUSH(g->a, &g->given_up, text);
    diag_report(g->diags, D_COMPILE_BUDGET, range, "%s", text);
}

// ---- distances ------------------------------------------------------------------------------------------------

static int64_t bound(isl_val *v, int64_t unbounded)
{
    int64_t x = unbounded;
    poly_int(v, &x);
    return x;
}

bool depend_is_chosen(const Program *g, const Stmt *s, int idx)
{
    const Stmt *update = s->kind == STMT_INIT ? g->stmts.at[s->id + 1] : NULL;
    bool shared = !update;
    for (int i = 0; !shared && i < update->n; i++)
        shared = update->index[i] == s->index[idx];
    return !shared;
}

static Distance compute_distance(Program *g, Dep *d, int s, int t)
{
    if (d->guessed || (d->dst->eq == d->src->eq && depend_is_chosen(g, d->src, s)))
        return (Distance){ -DISTANCE_INF, DISTANCE_INF, true };
    depend_budget_begin(g);
    isl_set *wrapped = isl_set_flatten(isl_map_wrap(isl_map_copy(d->map)));
    isl_local_space *ls = isl_local_space_from_space(isl_set_get_space(wrapped));
    isl_aff *from = isl_aff_var_on_domain(isl_local_space_copy(ls), isl_dim_set, (unsigned)s);
    isl_aff *diff = isl_aff_sub(isl_aff_var_on_domain(ls, isl_dim_set, (unsigned)(d->src->n + t)), from);
    Distance r = { 0, 0, true };
    r.min = bound(isl_set_min_val(wrapped, diff), -DISTANCE_INF);
    r.max = bound(isl_set_max_val(wrapped, diff), DISTANCE_INF);
    isl_set_free(wrapped);
    isl_aff_free(diff);
    if (depend_budget_end(g))
        return r;
    depend_give_up(g, d->read ? d->read->range : d->dst->eq->range, "how far `%s` reaches for `%s` was too expensive to find out; any distance is assumed", d->dst->eq->name, d->src->eq->name);
    return (Distance){ -DISTANCE_INF, DISTANCE_INF, true };
}

Distance depend_distance(Program *g, Dep *d, int s, int t, int sign)
{
    Distance *c = &d->cache[s * d->dst->n + t];
    if (!c->known)
        *c = compute_distance(g, d, s, t);
    return sign > 0 ? *c : (Distance){ -c->max, -c->min, true };
}
