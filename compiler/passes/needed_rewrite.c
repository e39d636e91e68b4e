// needed_rewrite: carries out what needed.c found (see needed.h).
//
// A tensor in which faults travel keeps its equations, quiet ones, and gets one of the same domain and kind for each that computes
// t.fault: a reduction or scan takes the maximum over the same points. A guard that can fault itself is no longer a guard there,
// but a choice, so that what it meets counts, too. Test: tests/golden/faults/needed.pto
#include "passes/needed.h"

#include "passes/ranges.h"

#include <string.h>

// ---- t.fault ----------------------------------------------------------------------------------------------------------------

static bool has_tensor(const Kernel *k, const char *name)
{
    for (int i = 0; i < k->tensors.n; i++)
        if (strcmp(k->tensors.at[i]->name, name) == 0)
            return true;
    return false;
}

static bool has_equation(const Kernel *k, const char *name)
{
    for (int i = 0; i < k->equations.n; i++)
        if (strcmp(k->equations.at[i]->name, name) == 0)
            return true;
    return false;
}

static const char *tensor_name(Arena *a, const Kernel *k, const char *of)
{
    const char *name = arena_printf(a, "%s.fault", of);
    for (int i = 1; has_tensor(k, name); i++)
        name = arena_printf(a, "%s.fault.%d", of, i);
    return name;
}

static const char *equation_name(const Needed *n, const Kernel *k, const char *of)
{
    const char *name = arena_printf(n->a, "%s.fault", of);
    for (int i = 1; has_equation(n->k, name) || has_equation(k, name); i++)
        name = arena_printf(n->a, "%s.fault.%d", of, i);
    return name;
}

// Beyond a constant border there are no faults.
static Tensor *new_fault(const Needed *n, Kernel *k, const Tensor *t)
{
    Tensor *f = ARENA_NEW(n->a, Tensor);
    *f = *t;
    f->id = k->tensors.n;
    f->name = tensor_name(n->a, k, t->name);
    f->type = DT_I32;
    f->kind = TENSOR_HIDDEN;
    f->declared = true;
    f->border = ARENA_ARRAY(n->a, Border, t->rank + 1);
    for (int d = 0; d < t->rank; d++)
        f->border[d] = (Border){ .kind = t->border[d].kind == BORDER_CONST ? BORDER_ZERO : t->border[d].kind, .range = t->border[d].range };
    VEC_PUSH(n->a, &k->tensors, f);
    return f;
}

// ---- equations ----------------------------------------------------------------------------------------------------------------

typedef VEC(Expr *) Conds;

static void copy_conds(Arena *a, Equation *eq, const Equation *of)
{
    eq->conds.at = NULL;
    eq->conds.n = eq->conds.cap = 0;
    for (int i = 0; i < of->conds.n; i++)
        VEC_PUSH(a, &eq->conds, of->conds.at[i]);
}

static void push(const Needed *n, Kernel *k, Equation *eq)
{
    eq->id = k->equations.n;
    VEC_PUSH(n->a, &k->equations, eq);
}

static Nest *nest_with(Arena *a, const Nest *old, int nconds, Expr *const *conds)
{
    Nest *nest = ARENA_NEW(a, Nest);
    *nest = *old;
    nest->conds.at = NULL;
    nest->conds.n = nest->conds.cap = 0;
    for (int i = 0; i < nconds; i++)
        VEC_PUSH(a, &nest->conds, conds[i]);
    return nest;
}

typedef struct { const Needed *n; PolyIndices ix; isl_set *domain; } Place;

static Expr *quiet(const Place *p, Expr *e) { return needed_quiet(p->n, p->ix, p->domain, e); }

static Equation *quiet_equation(const Place *p, const Equation *eq)
{
    Conds conds = { 0 };
    Equation *copy = ARENA_NEW(p->n->a, Equation);
    *copy = *eq;
    copy->rhs = quiet(p, eq->rhs);
    for (int i = 0; eq->nest && i < eq->nest->conds.n; i++)
        VEC_PUSH(p->n->a, &conds, quiet(p, eq->nest->conds.at[i]));
    if (eq->nest)
        copy->nest = nest_with(p->n->a, eq->nest, conds.n, conds.at);
    return copy;
}

static bool is_affine(const Place *p, const Expr *cond)
{
    isl_set *s = poly_cond(p->n->p, p->ix, cond);
    isl_set_free(s);
    return s;
}

static Expr *zero(const Place *p, Range range) { return expr_int(p->n->a, DT_I32, 0, range); }

// What one point of the equation meets. The guards up to the first that can fault remain guards, as do affine ones.
static Expr *met_in_point(const Place *p, const Equation *eq, Conds *kept)
{
    Arena *a = p->n->a;
    Conds chosen = { 0 };
    Expr *all = needed_fault(p->n, p->ix, p->domain, eq->rhs);
    bool faulty = false;
    for (int i = 0; eq->nest && i < eq->nest->conds.n; i++) {
        Expr *cond = eq->nest->conds.at[i];
        bool affine = is_affine(p, cond);
        faulty = faulty || (!affine && needed_fault(p->n, p->ix, p->domain, cond));
        if (affine || !faulty)
            VEC_PUSH(a, kept, cond);
        else
            VEC_PUSH(a, &chosen, cond);
    }
    for (int i = chosen.n - 1; i >= 0; i--) {
        Expr *cond = chosen.at[i], *met = needed_fault(p->n, p->ix, p->domain, cond);
        Expr *args[3] = { cond, all, zero(p, cond->range) };
        all = all ? expr_new(a, OP_SELECT, DT_I32, cond->range, 3, args) : NULL;
        all = !met ? all : !all ? met : expr_binary(a, OP_MAX, DT_I32, met, all);
    }
    return all;
}

// Gives the nest indices of its own, after those of the equation.
static void own_nest(Arena *a, Equation *eq, Index *const *old)
{
    int m = eq->indices.n, all = m + eq->nest->indices.n;
    Index **from = ARENA_ARRAY(a, Index *, all + 1);
    Expr **to = ARENA_ARRAY(a, Expr *, all + 1);
    for (int i = 0; i < m; i++) {
        from[i] = old[i];
        to[i] = expr_index(a, eq->indices.at[i], old[i]->range);
        if (eq->nest->along == old[i])
            eq->nest->along = eq->indices.at[i];
    }
    Index **indices = ARENA_ARRAY(a, Index *, all + 1);
    for (int i = m; i < all; i++) {
        Index *was = eq->nest->indices.at[i - m], *index = ARENA_NEW(a, Index);
        *index = *was;
        index->lo = expr_substitute(a, was->lo, i, from, to);
        index->hi = expr_substitute(a, was->hi, i, from, to);
        from[i] = was;
        to[i] = expr_index(a, index, was->range);
        indices[i - m] = index;
    }
    eq->nest->indices.at = indices;
    eq->rhs = expr_substitute(a, eq->rhs, all, from, to);
    for (int i = 0; i < eq->nest->conds.n; i++)
        eq->nest->conds.at[i] = expr_substitute(a, eq->nest->conds.at[i], all, from, to);
}

// Computes t.fault where eq computes t.
static Equation *fault_equation(const Place *p, const Kernel *k, const Equation *eq)
{
    Arena *a = p->n->a;
    Conds kept = { 0 };
    Expr *met = met_in_point(p, eq, &kept);
    Equation *f = ARENA_NEW(a, Equation);
    *f = *eq;
    copy_conds(a, f, eq);
    f->lhs = p->n->of[eq->lhs->id].fault;
    f->name = equation_name(p->n, k, eq->name);
    f->rhs = met ? quiet(p, met) : zero(p, eq->range);
    f->kind = met ? eq->kind : EQ_MAP;
    f->nest = f->kind == EQ_MAP ? NULL : nest_with(a, eq->nest, kept.n, kept.at);
    if (f->nest)
        f->nest->op = RED_MAX;
    ranges_own_indices(a, f);
    if (f->nest)
        own_nest(a, f, eq->indices.at);
    return f;
}

// ---- what is needed -----------------------------------------------------------------------------------------------------------------

static Expr *checked(Expr *read, void *data)
{
    const Needed *n = data;
    Tensor *fault = n->of[read->tensor->id].fault;
    if (!fault)
        return read;
    Expr *code = expr_new(n->a, OP_READ, DT_I32, read->range, read->n, read->args);
    code->tensor = fault;
    Expr *args[2] = { code, read };
    return expr_new(n->a, OP_CHECK, read->type, read->range, 2, args);
}

static bool reads_poison(const Needed *n, const Equation *eq)
{
    for (int i = 0; i < n->k->tensors.n; i++)
        for (int j = 0; n->of[i].fault && j < n->of[i].readers.n; j++)
            if (n->of[i].readers.at[j] == eq)
                return true;
    return false;
}

// The equation on what is needed of it alone.
static Equation *restricted(const Needed *n, const Equation *eq)
{
    PolyIndices outer = { eq->indices.n, eq->indices.at };
    isl_map *write = poly_subscripts(n->p, outer, eq->lhs, eq->subs, NULL);
    isl_set *where = isl_set_apply(isl_set_copy(n->of[eq->lhs->id].need), isl_map_reverse(write));
    isl_set *domain = isl_set_reset_tuple_id(poly_domain(n->p, eq, false, NULL));
    domain = poly_under(n->p, isl_set_align_params(domain, isl_set_get_space(where)));
    where = isl_set_coalesce(isl_set_gist(where, domain));
    Equation *copy = ARENA_NEW(n->a, Equation);
    *copy = *eq;
    copy_conds(n->a, copy, eq);
    if (isl_set_plain_is_universe(where) != isl_bool_true) {
        VEC_PUSH(n->a, &copy->conds, poly_set_cond(n->p, n->a, outer, where));
        ranges_own_indices(n->a, copy);
        if (copy->nest) {
            copy->nest = nest_with(n->a, copy->nest, copy->nest->conds.n, copy->nest->conds.at);
            own_nest(n->a, copy, eq->indices.at);
        }
        ranges_fold_conditions(n->a, copy);
    }
    isl_set_free(where);
    return copy;
}

static void rewrite_equation(Needed *n, Kernel *k, Equation *eq)
{
    const Need *need = &n->of[eq->lhs->id];
    if (need->poison) {
        Place p = { n, needed_indices(n->a, eq), needed_domain(n, eq) };
        push(n, k, quiet_equation(&p, eq));
        push(n, k, fault_equation(&p, k, eq));
        isl_set_free(p.domain);
        return;
    }
    Equation *copy = reads_poison(n, eq) ? equation_map_reads(n->a, eq, checked, n) : ARENA_NEW(n->a, Equation);
    if (!reads_poison(n, eq))
        *copy = *eq;
    push(n, k, need->restricted ? restricted(n, copy) : copy);
}

Kernel *needed_rewrite(Needed *n)
{
    Kernel *k = ARENA_NEW(n->a, Kernel);
    *k = *n->k;
    k->tensors.at = NULL;
    k->tensors.n = k->tensors.cap = 0;
    k->equations.at = NULL;
    k->equations.n = k->equations.cap = 0;
    for (int i = 0; i < n->k->tensors.n; i++)
        VEC_PUSH(n->a, &k->tensors, n->k->tensors.at[i]);
    for (int i = 0; i < n->k->tensors.n; i++)
        if (n->of[i].poison)
            n->of[i].fault = new_fault(n, k, n->k->tensors.at[i]);
    for (int i = 0; i < n->k->equations.n; i++)
        rewrite_equation(n, k, n->k->equations.at[i]);
    return k;
}
