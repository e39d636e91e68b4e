// poly: integer sets from index expressions, and back to expressions and words.
//
// Flows through: expressions of type `index` become piecewise affine functions over the indices of a statement (a set
// space whose parameters are the kernel's dims); boxes and conditions become sets; equations become domains and access
// relations. What is not affine gives NULL (a function) or no constraint (a subscript), never an approximation that a
// proof could mistake for the truth. Test: tests/unit/test_sema.c, through every proof.
#include "ir/poly.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <isl/constraint.h>
#include <isl/ilp.h>
#include <isl/local_space.h>
#include <isl/point.h>
#include <isl/printer.h>
#include <isl/val.h>

// ---- spaces ---------------------------------------------------------------------------------------------------

enum { ALONE = 50000 };             // operations

static isl_space *index_space(const Poly *p, int n)
{
    return isl_space_set_alloc(p->isl, 0, (unsigned)n);
}

static isl_space *with_dim(isl_space *s, const Dim *dim)
{
    unsigned at = (unsigned)isl_space_dim(s, isl_dim_param);
    return isl_space_set_dim_name(isl_space_add_dims(s, isl_dim_param, 1), isl_dim_param, at, dim->name);
}

// The dim that a parameter stands for; -1: none.
static int dim_of(const Poly *p, isl_space *space, int param)
{
    isl_id *id = isl_space_get_dim_id(space, isl_dim_param, (unsigned)param);
    const char *name = isl_id_get_name(id);
    bool other = isl_id_get_user(id) != NULL;
    isl_id_free(id);
    for (int i = 0; !other && i < p->kernel->dims.n; i++)
        if (strcmp(p->kernel->dims.at[i]->name, name) == 0)
            return i;
    return -1;
}

// ---- what is known of the dims --------------------------------------------------------------------------------

typedef struct { int *part_of; int ndims, first; } Tie;

// Those of one expression are one part.
static bool tie(Expr *e, void *data)
{
    Tie *t = data;
    if (e->op != OP_DIM)
        return true;
    int mine = t->part_of[e->dim->id];
    t->first = t->first < 0 ? mine : t->first;
    for (int i = 0; i < t->ndims; i++)
        if (t->part_of[i] == mine)
            t->part_of[i] = t->first;
    return true;
}

// Assumptions that name no dim belong to a part of their own, the last.
static int part_of_condition(const Poly *p, Expr *cond)
{
    int dims = p->kernel->dims.n;
    Tie t = { p->part_of, dims, -1 };
    expr_walk(cond, tie, &t);
    return t.first < 0 ? dims : t.first;
}

static void find_parts(Poly *p)
{
    const Kernel *k = p->kernel;
    for (int i = 0; i < k->dims.n; i++)
        p->part_of[i] = i;
    for (int i = 0; i < k->where.n; i++)
        part_of_condition(p, k->where.at[i]);
    for (int part = 0; part < p->nparts; part++) {
        isl_space *space = isl_space_params_alloc(p->isl, 0);
        for (int i = 0; i < k->dims.n; i++)
            space = p->part_of[i] == part ? with_dim(space, k->dims.at[i]) : space;
        p->part[part] = isl_set_universe(space);
        for (int i = 0; i < isl_set_dim(p->part[part], isl_dim_param); i++)           // (no set: -1 of them)
            p->part[part] = isl_set_lower_bound_si(p->part[part], isl_dim_param, i, 0);
    }
}

Poly *poly_new(Arena *a, Budget *budget, const Kernel *k)
{
    Poly *p = ARENA_NEW(a, Poly);
    *p = (Poly){ .isl = budget->isl, .budget = budget, .kernel = k, .nparts = k->dims.n + 1 };
    p->part = ARENA_ARRAY(a, isl_set *, p->nparts);
    p->part_of = ARENA_ARRAY(a, int, p->nparts);
    find_parts(p);
    for (int i = 0; i < k->where.n; i++) {
        isl_set *c = poly_cond(p, (PolyIndices){ 0, NULL }, k->where.at[i]);
        int part = part_of_condition(p, k->where.at[i]);
        if (c)
            p->part[part] = isl_set_intersect(p->part[part], isl_set_params(c));
    }
    return p;
}

void poly_free(Poly *p)
{
    for (int i = 0; i < p->nparts; i++)
        isl_set_free(p->part[i]);
    p->nparts = 0;
}

isl_bool poly_has_sizes(const Poly *p)
{
    isl_bool some = isl_bool_true;
    for (int i = 0; i < p->nparts && some == isl_bool_true; i++)
        some = isl_bool_not(isl_set_is_empty(p->part[i]));
    return some;
}

// Which parts the parameters of a space are of, by part. The caller frees it.
static bool *parts_of(const Poly *p, isl_space *space)
{
    bool *of = memory_new((size_t)p->nparts, sizeof *of);
    for (int i = 0; i < isl_space_dim(space, isl_dim_param); i++) {
        int dim = dim_of(p, space, i);
        if (dim >= 0)
            of[p->part_of[dim]] = true;
    }
    of[p->nparts - 1] = true;
    return of;
}

isl_set *poly_known(const Poly *p, isl_space *space)
{
    bool *of = parts_of(p, space);
    isl_space *params = isl_space_params_alloc(p->isl, 0);
    for (int i = 0; i < p->kernel->dims.n; i++)
        params = of[p->part_of[i]] ? with_dim(params, p->kernel->dims.at[i]) : params;
    isl_set *known = isl_set_universe(params);
    for (int i = 0; i < p->nparts; i++)
        if (of[i])
            known = isl_set_intersect(known, isl_set_copy(p->part[i]));
    free(of);
    isl_space_free(space);
    return known;
}

// (What is known comes with its parameters in the kernel's order: they are put into it.)
isl_set *poly_under(const Poly *p, isl_set *s)
{
    isl_set *known = poly_known(p, isl_set_get_space(s));
    s = isl_set_align_params(s, isl_set_get_space(known));
    return isl_set_intersect_params(s, known);
}

static isl_stat count_divisions(isl_basic_set *b, void *data)
{
    int *n = data, mine = (int)isl_basic_set_dim(b, isl_dim_div);
    *n = mine > *n ? mine : *n;
    isl_basic_set_free(b);
    return isl_stat_ok;
}

int poly_divisions(isl_set *s)
{
    int divisions = 0;
    isl_set_foreach_basic_set(s, count_divisions, &divisions);
    return divisions;
}

// In halves: one by one, each would copy all before it.
static isl_set *union_of(int n, isl_set **sets)
{
    return n == 1 ? sets[0] : isl_set_union(union_of(n / 2, sets), union_of(n - n / 2, sets + n / 2));
}

isl_set *poly_union(int n, isl_set **sets)
{
    isl_space *params = isl_space_params(isl_set_get_space(sets[0]));
    for (int i = 1; i < n; i++)
        params = isl_space_align_params(params, isl_space_params(isl_set_get_space(sets[i])));
    for (int i = 0; i < n; i++)
        sets[i] = isl_set_align_params(sets[i], isl_space_copy(params));
    isl_space_free(params);
    return union_of(n, sets);
}

isl_set *poly_subtract(const Poly *p, isl_set *x, isl_set *y)
{
    return poly_under(p, isl_set_subtract(x, y));
}

isl_bool poly_is_subset(const Poly *p, isl_set *x, isl_set *y)
{
    isl_set *all = poly_under(p, isl_set_align_params(isl_set_copy(x), isl_set_get_space(y)));
    isl_bool is = isl_set_is_subset(all, y);
    isl_set_free(all);
    return is;
}

// ---- expressions to functions ---------------------------------------------------------------------------------

static isl_pw_aff *function(const Poly *p, PolyIndices ix, const Expr *e);
static isl_set *condition(const Poly *p, PolyIndices ix, const Expr *e);

static isl_pw_aff *constant(const Poly *p, int n, int64_t v)
{
    isl_local_space *ls = isl_local_space_from_space(index_space(p, n));
    return isl_pw_aff_from_aff(isl_aff_val_on_domain(ls, isl_val_int_from_si(p->isl, v)));
}

static isl_pw_aff *variable(const Poly *p, int n, int pos)
{
    isl_local_space *ls = isl_local_space_from_space(index_space(p, n));
    return isl_pw_aff_from_aff(isl_aff_var_on_domain(ls, isl_dim_set, (unsigned)pos));
}

static isl_pw_aff *parameter(const Poly *p, int n, const Dim *dim)
{
    isl_local_space *ls = isl_local_space_from_space(with_dim(index_space(p, n), dim));
    return isl_pw_aff_from_aff(isl_aff_var_on_domain(ls, isl_dim_param, 0));
}

static isl_pw_aff *aff_index(const Poly *p, PolyIndices ix, const Index *index)
{
    for (int i = 0; i < ix.n; i++)
        if (ix.at[i] == index)
            return variable(p, ix.n, i);
    return NULL;
}

// A function that is one integer everywhere.
static bool is_constant(isl_pw_aff *f, isl_val **v)
{
    *v = NULL;
    if (!f || isl_pw_aff_n_piece(f) != 1 || !isl_pw_aff_is_cst(f))
        return false;
    isl_set *domain = isl_pw_aff_domain(isl_pw_aff_copy(f));
    bool everywhere = isl_set_plain_is_universe(domain);
    isl_set_free(domain);
    if (!everywhere)
        return false;
    *v = isl_pw_aff_max_val(isl_pw_aff_copy(f));
    if (*v && isl_val_is_int(*v))
        return true;
    isl_val_free(*v);
    *v = NULL;
    return false;
}

static isl_pw_aff *aff_product(isl_pw_aff *x, isl_pw_aff *y)
{
    isl_val *v;
    if (is_constant(y, &v)) {
        isl_pw_aff_free(y);
        return isl_pw_aff_scale_val(x, v);
    }
    if (is_constant(x, &v)) {
        isl_pw_aff_free(x);
        return isl_pw_aff_scale_val(y, v);
    }
    isl_pw_aff_free(x);
    isl_pw_aff_free(y);
    return NULL;
}

static isl_pw_aff *aff_quotient(Op op, isl_pw_aff *x, isl_pw_aff *y)
{
    isl_val *v;
    if (!is_constant(y, &v) || !isl_val_is_pos(v)) {
        if (v)
            isl_val_free(v);
        isl_pw_aff_free(x);
        isl_pw_aff_free(y);
        return NULL;
    }
    switch (op) {
    case OP_DIV: isl_val_free(v); return isl_pw_aff_tdiv_q(x, y);
    case OP_REM: isl_val_free(v); return isl_pw_aff_tdiv_r(x, y);
    case OP_FLOORDIV: isl_pw_aff_free(y); return isl_pw_aff_floor(isl_pw_aff_scale_down_val(x, v));
    default: isl_pw_aff_free(y); return isl_pw_aff_mod_val(x, v);
    }
}

static isl_pw_aff *aff_select(const Poly *p, PolyIndices ix, const Expr *e)
{
    isl_set *c = condition(p, ix, e->args[0]);
    isl_pw_aff *t = c ? function(p, ix, e->args[1]) : NULL;
    isl_pw_aff *f = t ? function(p, ix, e->args[2]) : NULL;
    if (!f) {
        isl_set_free(c);
        isl_pw_aff_free(t);
        return NULL;
    }
    t = isl_pw_aff_intersect_domain(t, isl_set_copy(c));
    f = isl_pw_aff_intersect_domain(f, isl_set_complement(c));
    return isl_pw_aff_union_add(t, f);
}

static isl_pw_aff *aff_binary(const Poly *p, PolyIndices ix, const Expr *e)
{
    isl_pw_aff *x = function(p, ix, e->args[0]);
    isl_pw_aff *y = x ? function(p, ix, e->args[1]) : NULL;
    if (!y) {
        isl_pw_aff_free(x);
        return NULL;
    }
    switch (e->op) {
    case OP_ADD: return isl_pw_aff_add(x, y);
    case OP_SUB: return isl_pw_aff_sub(x, y);
    case OP_MUL: return aff_product(x, y);
    case OP_MIN: return isl_pw_aff_min(x, y);
    case OP_MAX: return isl_pw_aff_max(x, y);
    default: return aff_quotient(e->op, x, y);
    }
}

static isl_pw_aff *function(const Poly *p, PolyIndices ix, const Expr *e)
{
    if (e->type != DT_INDEX && e->type != DT_I64)
        return NULL;
    switch ((int)e->op) {
    case OP_CONST: return constant(p, ix.n, e->i);
    case OP_DIM: return parameter(p, ix.n, e->dim);
    case OP_INDEX: return aff_index(p, ix, e->index);
    case OP_CONVERT: return function(p, ix, e->args[0]);
    case OP_NEG: {
        isl_pw_aff *x = function(p, ix, e->args[0]);
        return x ? isl_pw_aff_neg(x) : NULL;
    }
    case OP_ABS: {
        isl_pw_aff *x = function(p, ix, e->args[0]), *negated = x ? isl_pw_aff_neg(isl_pw_aff_copy(x)) : NULL;
        return x ? isl_pw_aff_max(x, negated) : NULL;
    }
    case OP_SELECT: return aff_select(p, ix, e);
    case OP_ADD: case OP_SUB: case OP_MUL: case OP_MIN: case OP_MAX:
    case OP_DIV: case OP_REM: case OP_FLOORDIV: case OP_MOD:
        return aff_binary(p, ix, e);
    default: return NULL;
    }
}

// ---- conditions -----------------------------------------------------------------------------------------------

static isl_set *compare(Op op, isl_pw_aff *x, isl_pw_aff *y)
{
    switch ((int)op) {
    case OP_EQ: return isl_pw_aff_eq_set(x, y);
    case OP_NE: return isl_pw_aff_ne_set(x, y);
    case OP_LT: return isl_pw_aff_lt_set(x, y);
    case OP_LE: return isl_pw_aff_le_set(x, y);
    case OP_GT: return isl_pw_aff_gt_set(x, y);
    default: return isl_pw_aff_ge_set(x, y);
    }
}

static isl_set *cond_pair(const Poly *p, PolyIndices ix, const Expr *e)
{
    isl_set *x = condition(p, ix, e->args[0]);
    isl_set *y = x ? condition(p, ix, e->args[1]) : NULL;
    if (!y) {
        isl_set_free(x);
        return NULL;
    }
    bool multiply = e->op == OP_AND && isl_set_n_basic_set(x) > 1 && isl_set_n_basic_set(y) > 1;
    isl_set *both = e->op == OP_AND ? isl_set_intersect(x, y) : isl_set_union(x, y);
    return multiply ? isl_set_coalesce(both) : both;
}

static isl_set *condition(const Poly *p, PolyIndices ix, const Expr *e)
{
    switch ((int)e->op) {
    case OP_CONST:
        return e->i ? isl_set_universe(index_space(p, ix.n)) : isl_set_empty(index_space(p, ix.n));
    case OP_AND: case OP_OR: return cond_pair(p, ix, e);
    case OP_NOT: {
        isl_set *x = condition(p, ix, e->args[0]);
        return x ? isl_set_complement(x) : NULL;
    }
    case OP_EQ: case OP_NE: case OP_LT: case OP_LE: case OP_GT: case OP_GE: {
        isl_pw_aff *x = function(p, ix, e->args[0]);
        isl_pw_aff *y = x ? function(p, ix, e->args[1]) : NULL;
        if (!y) {
            isl_pw_aff_free(x);
            return NULL;
        }
        return compare(e->op, x, y);
    }
    default: return NULL;
    }
}

// Outside of a question they are questions themselves.
static bool begin_alone(const Poly *p)
{
    bool alone = isl_ctx_get_max_operations(p->isl) == 0;
    if (alone)
        budget_begin_least(p->budget, ALONE);
    return alone;
}

isl_pw_aff *poly_aff(const Poly *p, PolyIndices ix, const Expr *e)
{
    bool alone = begin_alone(p);
    isl_pw_aff *f = function(p, ix, e);
    return alone && !budget_end(p->budget) ? isl_pw_aff_free(f) : f;
}

isl_set *poly_cond(const Poly *p, PolyIndices ix, const Expr *e)
{
    bool alone = begin_alone(p);
    isl_set *s = condition(p, ix, e);
    return alone && !budget_end(p->budget) ? isl_set_free(s) : s;
}

// ---- boxes and domains ----------------------------------------------------------------------------------------

static isl_set *bound_index(const Poly *p, PolyIndices ix, isl_set *s, int pos, const Expr *lo, const Expr *hi)
{
    isl_pw_aff *l = poly_aff(p, ix, lo), *h = poly_aff(p, ix, hi);
    if (l)
        s = isl_set_intersect(s, isl_pw_aff_ge_set(variable(p, ix.n, pos), l));
    if (h)
        s = isl_set_intersect(s, isl_pw_aff_lt_set(variable(p, ix.n, pos), h));
    return s;
}

isl_set *poly_box(const Poly *p, PolyIndices ix, int nconds, Expr *const *conds, bool *exact)
{
    isl_set *s = isl_set_universe(index_space(p, ix.n));
    for (int i = 0; i < ix.n; i++)
        s = bound_index(p, ix, s, i, ix.at[i]->lo, ix.at[i]->hi);
    bool all = true;
    for (int i = 0; i < nconds; i++) {
        isl_set *c = poly_cond(p, ix, conds[i]);
        if (c)
            s = isl_set_intersect(s, c);
        else
            all = false;
    }
    if (exact)
        *exact = all;
    return isl_set_coalesce(poly_under(p, s));
}

// What dimension d allows, whether or not the others have elements.
static isl_set *shape_dimension(const Poly *p, const Tensor *t, int d)
{
    PolyIndices none = { 0, NULL };
    isl_set *s = isl_set_universe(index_space(p, t->rank));
    isl_pw_aff *x = variable(p, t->rank, d);
    isl_pw_aff *lo = poly_aff(p, none, t->lo[d]), *hi = poly_aff(p, none, t->hi[d]);
    if (lo)
        s = isl_set_intersect(s, isl_pw_aff_ge_set(isl_pw_aff_copy(x), isl_pw_aff_add_dims(lo, isl_dim_in, (unsigned)t->rank)));
    if (hi)
        s = isl_set_intersect(s, isl_pw_aff_lt_set(isl_pw_aff_copy(x), isl_pw_aff_add_dims(hi, isl_dim_in, (unsigned)t->rank)));
    isl_pw_aff_free(x);
    return s;
}

static isl_set *named_shape(const Poly *p, const Tensor *t, isl_set *s)
{
    char name[24];
    snprintf(name, sizeof name, "T%d", t->id);
    return isl_set_set_tuple_name(poly_under(p, s), name);
}

isl_set *poly_shape(const Poly *p, const Tensor *t)
{
    isl_set *s = isl_set_universe(index_space(p, t->rank));
    for (int d = 0; d < t->rank; d++)
        s = isl_set_intersect(s, shape_dimension(p, t, d));
    return named_shape(p, t, s);
}

isl_map *poly_subscripts(const Poly *p, PolyIndices ix, const Tensor *t, Expr *const *subs, bool *exact)
{
    isl_space *space = isl_space_map_from_domain_and_range(index_space(p, ix.n), index_space(p, t->rank));
    isl_map *m = isl_map_universe(space);
    isl_set *shape = NULL;                     // of the dimensions whose subscripts are not affine
    for (int d = 0; d < t->rank; d++) {
        isl_pw_aff *f = poly_aff(p, ix, subs[d]);
        if (!f) {
            isl_set *one = named_shape(p, t, shape_dimension(p, t, d));
            shape = shape ? isl_set_intersect(shape, one) : one;
            continue;
        }
        isl_map *one = isl_map_from_pw_aff(f);                                    // [ix] -> [x_d]
        one = isl_map_insert_dims(one, isl_dim_out, 0, (unsigned)d);
        one = isl_map_add_dims(one, isl_dim_out, (unsigned)(t->rank - d - 1));
        m = isl_map_intersect(m, one);
    }
    if (exact)
        *exact = !shape;
    char name[24];
    snprintf(name, sizeof name, "T%d", t->id);
    m = isl_map_set_tuple_name(m, isl_dim_out, name);
    m = shape ? isl_map_intersect_range(m, shape) : m;
    return isl_map_intersect_params(m, poly_known(p, isl_map_get_space(m)));
}

static PolyIndices equation_indices(const Equation *e, bool reduced, Index **buffer)
{
    int n = 0;
    for (int i = 0; i < e->indices.n; i++)
        buffer[n++] = e->indices.at[i];
    if (reduced && e->kind == EQ_REDUCE)
        for (int i = 0; i < e->nest->indices.n; i++)
            buffer[n++] = e->nest->indices.at[i];
    return (PolyIndices){ n, buffer };
}

static isl_set *written_by_others(const Poly *p, const Equation *e)
{
    isl_set *shape = poly_shape(p, e->lhs), **written = memory_new((size_t)p->kernel->equations.n + 1, sizeof *written);
    int n = 0;
    written[n++] = isl_set_empty(isl_set_get_space(shape));
    isl_set_free(shape);
    for (int i = 0; i < p->kernel->equations.n; i++) {
        const Equation *o = p->kernel->equations.at[i];
        if (o != e && o->lhs == e->lhs && !o->otherwise)
            written[n++] = isl_map_range(poly_write(p, o));
    }
    isl_set *all = isl_set_coalesce(poly_union(n, written));
    free(written);
    return all;
}

isl_set *poly_domain(const Poly *p, const Equation *e, bool reduced, bool *exact)
{
    Index *buffer[64];
    PolyIndices ix = equation_indices(e, reduced, buffer), outer = equation_indices(e, false, buffer);
    isl_set *s = poly_box(p, outer, e->conds.n, e->conds.at, exact);
    if (e->otherwise) {
        isl_set *written = written_by_others(p, e);
        isl_map *w = poly_subscripts(p, outer, e->lhs, e->subs, NULL);
        s = poly_subtract(p, s, isl_map_domain(isl_map_intersect_range(w, written)));
        s = isl_set_coalesce(s);
    }
    if (ix.n > outer.n) {
        bool all;
        isl_set *inner = poly_box(p, ix, e->nest->conds.n, e->nest->conds.at, &all);
        s = isl_set_intersect(isl_set_add_dims(s, isl_dim_set, (unsigned)(ix.n - outer.n)), inner);
        if (exact)
            *exact = *exact && all;
    }
    for (int i = 0; i < ix.n; i++)
        s = isl_set_set_dim_name(s, isl_dim_set, (unsigned)i, ix.at[i]->name);
    char name[24];
    snprintf(name, sizeof name, "S%d", e->id);
    return isl_set_set_tuple_name(s, name);
}

isl_map *poly_write(const Poly *p, const Equation *e)
{
    Index *buffer[64];
    PolyIndices ix = equation_indices(e, false, buffer);
    isl_map *w = poly_subscripts(p, ix, e->lhs, e->subs, NULL);
    char name[24];
    snprintf(name, sizeof name, "S%d", e->id);
    w = isl_map_set_tuple_name(w, isl_dim_in, name);
    return isl_map_intersect_domain(w, poly_domain(p, e, false, NULL));
}

// ---- functions back to expressions ----------------------------------------------------------------------------

Expr *poly_param_expr(const Poly *p, Arena *a, isl_id *id)
{
    Index *index = isl_id_get_user(id);
    if (index)
        return expr_index(a, index, (Range){ 0, 0 });
    const char *name = isl_id_get_name(id);
    for (int i = 0; i < p->kernel->dims.n; i++)
        if (strcmp(p->kernel->dims.at[i]->name, name) == 0)
            return expr_dim(a, p->kernel->dims.at[i], (Range){ 0, 0 });
    return expr_int(a, DT_INDEX, 0, (Range){ 0, 0 });
}

typedef struct { const Poly *p; Arena *a; PolyIndices ix; } Back;

static Expr *aff_expr(const Back *b, isl_aff *f);

// A number that is not negative. One that needs more than 64 bits is written in parts: a call that gets there is refused.
static Expr *number_expr(Arena *a, __isl_take isl_val *v)
{
    Range nowhere = { 0, 0 };
    const long part = LONG_MAX / 2 + 1;
    if (isl_val_cmp_si(v, LONG_MAX) <= 0) {
        Expr *e = expr_int(a, DT_INDEX, isl_val_get_num_si(v), nowhere);
        isl_val_free(v);
        return e;
    }
    isl_val *size = isl_val_int_from_si(isl_val_get_ctx(v), part);
    Expr *low = number_expr(a, isl_val_mod(isl_val_copy(v), isl_val_copy(size)));
    Expr *high = number_expr(a, isl_val_floor(isl_val_div(v, size)));
    high = expr_binary(a, OP_MUL, DT_INDEX, high, expr_int(a, DT_INDEX, part, nowhere));
    return expr_binary(a, OP_ADD, DT_INDEX, high, low);
}

Expr *poly_int_expr(Arena *a, isl_val *v)
{
    bool negative = isl_val_is_neg(v) == isl_bool_true;
    Expr *e = number_expr(a, isl_val_abs(v));
    return negative ? expr_simplify(a, expr_unary(a, OP_NEG, DT_INDEX, e)) : e;
}

bool poly_int(isl_val *v, int64_t *value)
{
    bool fits = v && isl_val_is_int(v) == isl_bool_true && isl_val_cmp_si(v, LONG_MIN) >= 0 && isl_val_cmp_si(v, LONG_MAX) <= 0;
    if (fits)
        *value = isl_val_get_num_si(v);
    isl_val_free(v);
    return fits;
}

static Expr *term(const Back *b, Expr *sum, isl_val *c, Expr *x)
{
    bool positive = isl_val_is_pos(c);
    if (isl_val_is_zero(c)) {
        isl_val_free(c);
        return sum;
    }
    Expr *factor = number_expr(b->a, isl_val_abs(c));
    Expr *product = !x ? factor : expr_is_int(factor, 1) ? x : expr_binary(b->a, OP_MUL, DT_INDEX, factor, x);
    if (!sum)
        return positive ? product : expr_unary(b->a, OP_NEG, DT_INDEX, product);
    return expr_binary(b->a, positive ? OP_ADD : OP_SUB, DT_INDEX, sum, product);
}

static Expr *param_expr(const Back *b, isl_aff *f, int pos)
{
    isl_space *space = isl_aff_get_domain_space(f);
    isl_id *id = isl_space_get_dim_id(space, isl_dim_param, (unsigned)pos);
    Expr *e = poly_param_expr(b->p, b->a, id);
    isl_id_free(id);
    isl_space_free(space);
    return e;
}

// sum of coefficient * variable; `f` has integer coefficients after scaling by the common denominator.
static Expr *linear_expr(const Back *b, isl_aff *f)
{
    Range nowhere = { 0, 0 };
    Expr *sum = NULL;
    for (int i = 0; i < b->ix.n; i++)
        sum = term(b, sum, isl_aff_get_coefficient_val(f, isl_dim_in, i), expr_index(b->a, b->ix.at[i], nowhere));
    for (int i = 0; i < isl_aff_dim(f, isl_dim_param); i++) {
        isl_val *c = isl_aff_get_coefficient_val(f, isl_dim_param, i);
        Expr *x = isl_val_is_zero(c) ? NULL : param_expr(b, f, i);
        sum = term(b, sum, c, x);
    }
    for (int i = 0; i < isl_aff_dim(f, isl_dim_div); i++) {
        isl_val *c = isl_aff_get_coefficient_val(f, isl_dim_div, i);
        Expr *x = NULL;
        if (!isl_val_is_zero(c)) {
            isl_aff *d = isl_aff_get_div(f, i);
            x = aff_expr(b, d);
            isl_aff_free(d);
        }
        sum = term(b, sum, c, x);
    }
    sum = term(b, sum, isl_aff_get_constant_val(f), NULL);
    return sum ? sum : expr_int(b->a, DT_INDEX, 0, nowhere);
}

static Expr *aff_expr(const Back *b, isl_aff *f)
{
    isl_val *den = isl_aff_get_denominator_val(f);
    Expr *by = number_expr(b->a, isl_val_copy(den));
    isl_aff *scaled = isl_aff_scale_val(isl_aff_copy(f), den);
    Expr *e = linear_expr(b, scaled);
    isl_aff_free(scaled);
    return expr_is_int(by, 1) ? e : expr_binary(b->a, OP_FLOORDIV, DT_INDEX, e, by);
}

typedef struct { isl_set *set[32]; isl_aff *aff[32]; int n; } Pieces;

static isl_stat collect_piece(isl_set *s, isl_aff *f, void *data)
{
    Pieces *pc = data;
    if (pc->n == 32) {
        isl_set_free(s);
        isl_aff_free(f);
        return isl_stat_error;
    }
    pc->set[pc->n] = s;
    pc->aff[pc->n++] = f;
    return isl_stat_ok;
}

static Expr *constraint_cond(const Back *b, isl_constraint *c)
{
    isl_aff *f = isl_constraint_get_aff(c);
    Expr *e = aff_expr(b, f);
    isl_aff_free(f);
    Op op = isl_constraint_is_equality(c) ? OP_EQ : OP_GE;
    return expr_binary(b->a, op, DT_BOOL, e, expr_int(b->a, DT_INDEX, 0, (Range){ 0, 0 }));
}

typedef struct { const Back *b; Expr *all; } Conjunction;

static isl_stat add_constraint(isl_constraint *c, void *data)
{
    Conjunction *j = data;
    Expr *e = constraint_cond(j->b, c);
    j->all = j->all ? expr_binary(j->b->a, OP_AND, DT_BOOL, j->all, e) : e;
    isl_constraint_free(c);
    return isl_stat_ok;
}

typedef struct { const Back *b; Expr *any; } Disjunction;

static isl_stat add_basic_set(isl_basic_set *s, void *data)
{
    Disjunction *d = data;
    Conjunction j = { d->b, NULL };
    isl_basic_set_foreach_constraint(s, add_constraint, &j);
    if (!j.all)
        j.all = expr_int(d->b->a, DT_BOOL, 1, (Range){ 0, 0 });
    d->any = d->any ? expr_binary(d->b->a, OP_OR, DT_BOOL, d->any, j.all) : j.all;
    isl_basic_set_free(s);
    return isl_stat_ok;
}

static Expr *set_cond(const Back *b, isl_set *s)
{
    Disjunction d = { b, NULL };
    isl_set *plain = isl_set_compute_divs(isl_set_copy(s));
    isl_set_foreach_basic_set(plain, add_basic_set, &d);
    isl_set_free(plain);
    return d.any ? d.any : expr_int(b->a, DT_BOOL, 0, (Range){ 0, 0 });
}

// The pieces as one max (or min) of their functions, if that is what they are.
static Expr *extremum(const Back *b, isl_pw_aff *f, Pieces *pc, bool max)
{
    isl_pw_aff *m = isl_pw_aff_from_aff(isl_aff_copy(pc->aff[0]));
    Expr *e = aff_expr(b, pc->aff[0]);
    for (int i = 1; i < pc->n; i++) {
        isl_pw_aff *x = isl_pw_aff_from_aff(isl_aff_copy(pc->aff[i]));
        m = max ? isl_pw_aff_max(m, x) : isl_pw_aff_min(m, x);
        e = expr_binary(b->a, max ? OP_MAX : OP_MIN, DT_INDEX, e, aff_expr(b, pc->aff[i]));
    }
    isl_set *domain = isl_pw_aff_domain(isl_pw_aff_copy(f));
    m = isl_pw_aff_intersect_domain(m, domain);
    isl_set *differ = isl_pw_aff_ne_set(m, isl_pw_aff_copy(f));
    bool equal = isl_set_is_empty(differ);
    isl_set_free(differ);
    return equal ? e : NULL;
}

Expr *poly_set_cond(const Poly *p, Arena *a, PolyIndices ix, isl_set *s)
{
    Back b = { p, a, ix };
    return set_cond(&b, s);
}

Expr *poly_expr(const Poly *p, Arena *a, PolyIndices ix, isl_pw_aff *f)
{
    Back b = { p, a, ix };
    Pieces pc = { .n = 0 };
    isl_pw_aff *g = isl_pw_aff_coalesce(isl_pw_aff_gist_params(isl_pw_aff_copy(f), poly_known(p, isl_pw_aff_get_domain_space(f))));
    isl_stat ok = isl_pw_aff_foreach_piece(g, collect_piece, &pc);
    Expr *e = NULL;
    if (ok == isl_stat_ok && pc.n == 0)
        e = expr_int(a, DT_INDEX, 0, (Range){ 0, 0 });
    else if (ok == isl_stat_ok && pc.n == 1)
        e = aff_expr(&b, pc.aff[0]);
    else if (ok == isl_stat_ok) {
        e = extremum(&b, g, &pc, true);
        e = e ? e : extremum(&b, g, &pc, false);
        if (!e) {
            e = aff_expr(&b, pc.aff[pc.n - 1]);
            for (int i = pc.n - 2; i >= 0; i--) {
                Expr *args[3] = { set_cond(&b, pc.set[i]), aff_expr(&b, pc.aff[i]), e };
                e = expr_new(a, OP_SELECT, DT_INDEX, (Range){ 0, 0 }, 3, args);
            }
        }
    }
    for (int i = 0; i < pc.n; i++) {
        isl_set_free(pc.set[i]);
        isl_aff_free(pc.aff[i]);
    }
    isl_pw_aff_free(g);
    return e ? expr_simplify(a, e) : NULL;
}

// ---- words ----------------------------------------------------------------------------------------------------

static isl_set *named(PolyIndices ix, isl_set *s)
{
    for (int i = 0; i < ix.n; i++)
        s = isl_set_set_dim_name(s, isl_dim_set, (unsigned)i, ix.at[i]->name);
    return s;
}

char *poly_example(const Poly *p, Arena *a, PolyIndices ix, isl_set *set)
{
    isl_set *s = isl_set_reset_tuple_id(poly_under(p, isl_set_copy(set)));
    isl_space *params = isl_set_get_space(s);
    int nparam = (int)isl_space_dim(params, isl_dim_param);
    s = isl_set_move_dims(s, isl_dim_set, 0, isl_dim_param, 0, (unsigned)nparam);
    isl_set *small = isl_set_copy(s);
    for (int i = 0; i < nparam + ix.n; i++) {
        small = isl_set_lower_bound_si(small, isl_dim_set, (unsigned)i, -64);
        small = isl_set_upper_bound_si(small, isl_dim_set, (unsigned)i, 4096);
    }
    bool none = isl_set_is_empty(small) != isl_bool_false;
    isl_point *pt = none ? isl_set_sample_point(s) : (isl_set_free(s), isl_set_sample_point(isl_set_lexmin(isl_set_copy(small))));
    isl_set_free(small);
    if (!pt || isl_point_is_void(pt)) {
        isl_point_free(pt);
        isl_space_free(params);
        return NULL;
    }
    char *text = NULL, *sizes = NULL;
    for (int i = 0; i < nparam + ix.n; i++) {
        isl_val *v = isl_point_get_coordinate_val(pt, isl_dim_set, i);
        const char *name = i < nparam ? isl_space_get_dim_name(params, isl_dim_param, (unsigned)i) : ix.at[i - nparam]->name;
        char **to = i < nparam ? &sizes : &text;
        char *number = isl_val_to_str(v);
        *to = arena_printf(a, "%s%s%s = %s", *to ? *to : "", *to ? ", " : "", name, number ? number : "?");
        free(number);
        isl_val_free(v);
    }
    isl_point_free(pt);
    isl_space_free(params);
    if (!text)
        return sizes ? sizes : arena_strdup(a, "always");
    return sizes ? arena_printf(a, "%s (with %s)", text, sizes) : text;
}

char *poly_region(const Poly *p, Arena *a, PolyIndices ix, isl_set *set)
{
    isl_set *s = named(ix, isl_set_reset_tuple_id(isl_set_copy(set)));
    s = isl_set_coalesce(isl_set_gist_params(s, poly_known(p, isl_set_get_space(s))));
    char *raw = isl_set_to_str(s);
    isl_set_free(s);
    if (!raw)
        return arena_strdup(a, "?");
    char *colon = strchr(raw, ':'), *end = strrchr(raw, '}');
    char *text;
    if (!colon) {
        text = arena_strdup(a, "everywhere");
    } else {
        char *from = colon + 1;
        while (isspace((unsigned char)*from))
            from++;
        while (end > from && isspace((unsigned char)end[-1]))
            end--;
        text = arena_strndup(a, from, (size_t)(end - from));
    }
    free(raw);
    return text;
}
