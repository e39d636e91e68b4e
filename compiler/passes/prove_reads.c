// prove: what a read, or a left side, can reach.
//
// A subscript is in bounds when its extremes are, by syntax, or when isl finds no instance at which it is not: under
// the equation's domain, the ranges and guards of the reductions around it, and the affine conjuncts of enclosing
// ifs. Elements of an intermediate that a read reaches must be defined; a border maps what lies outside to nothing (zero,
// const), to the edge (clamp) or to any element of the dimension (wrap, reflect), and data reaches any element.
//
// Test: tests/errors/sema
#include "passes/prove_sets.h"

#include <isl/constraint.h>

// Textual IR may have lifted reductions out already: their indices then are the equation's own nest's.
static Instance instance_of(Prove *v, const Equation *eq, const ReadSite *site)
{
    Instance i = {.eq = eq, .where = arena_printf(v->a, "the equation of `%s`", eq->lhs->name)};
    for (int k = 0; k < eq->indices.n; k++) VEC_PUSH(v->a, &i.indices, eq->indices.at[k]);
    for (int k = 0; k < eq->conds.n; k++) VEC_PUSH(v->a, &i.conds, eq->conds.at[k]);
    for (int k = 0; site && eq->kind == EQ_REDUCE && k < eq->nest->indices.n; k++) VEC_PUSH(v->a, &i.indices, eq->nest->indices.at[k]);
    for (int k = 0; site && eq->kind == EQ_REDUCE && k < eq->nest->conds.n; k++) VEC_PUSH(v->a, &i.conds, eq->nest->conds.at[k]);
    for (int k = 0; site && k < site->nnested; k++) VEC_PUSH(v->a, &i.indices, site->nested[k]);
    for (int k = 0; site && k < site->nguards; k++) VEC_PUSH(v->a, &i.conds, site->guards[k]);
    return i;
}

static Instance instance_of_log(Prove *v, const Log *log, const ReadSite *site)
{
    Instance i = {.where = "a log"};
    for (int k = 0; k < log->indices.n; k++) VEC_PUSH(v->a, &i.indices, log->indices.at[k]);
    for (int k = 0; k < log->conds.n; k++) VEC_PUSH(v->a, &i.conds, log->conds.at[k]);
    for (int k = 0; k < site->nnested; k++) VEC_PUSH(v->a, &i.indices, site->nested[k]);
    for (int k = 0; k < site->nguards; k++) VEC_PUSH(v->a, &i.conds, site->guards[k]);
    return i;
}

// ---- bounds ----

static bool inside_by_syntax(Prove *v, const Tensor *t, int d, Expr *sub)
{
    if (sub->op == OP_INDEX && expr_equal(sub->index->lo, t->lo[d]) && expr_equal(sub->index->hi, t->hi[d])) return true;
    Expr *least = linear_extreme(v->a, sub, NULL, false);
    if (!least || !linear_at_most(v->a, t->lo[d], least)) return false;
    Expr *most = linear_extreme(v->a, sub, NULL, true);
    return most && linear_at_most(v->a, linear_add(v->a, most, 1), t->hi[d]);
}

typedef struct {
    const Tensor *tensor;
    Expr **subs;
    Range range;
    const char *text;              // "`a[i+1]` reads" or "the left side `a[i+1]` writes"
    bool read;
} Access;

static char *extent_text(Prove *v, const Tensor *t, int d)
{
    if (expr_is_int(t->lo[d], 0)) return arena_printf(v->a, "extent %s", expr_text(v->a, t->hi[d]));
    return arena_printf(v->a, "range %s..%s", expr_text_subscript(v->a, t->lo[d]), expr_text_subscript(v->a, t->hi[d]));
}

// Several reads of one tensor that leave it in one equation are one mistake: most often a border is missing. The others are notes.
static bool is_same_mistake(Prove *v, const Instance *i, const Access *x, int d, const char *side)
{
    enum { NOTES = 3 };
    if (!x->read || !i->eq || v->outside != x->tensor || v->outside_in != i->eq || v->outside_errors != diags_errors(v->d)) return false;
    if (v->outside_notes++ < NOTES) diag_note(v->d, x->range, "%s %s dimension %d, too", x->text, side, d);
    return true;
}

static void report_bounds(Prove *v, const Instance *i, const Access *x, int d, const char *side, isl_set *bad, isl_set *points)
{
    const Tensor *t = x->tensor;
    if (is_same_mistake(v, i, x, d, side)) return;
    diag_report(v->d, D_BOUNDS, x->range, "%s %s dimension %d of `%s` (%s) in %s%s", x->text, side, d, t->name, extent_text(v, t, d), i->where,
                prove_place(v, prove_indices(i), bad, points));
    if (!x->read) diag_help(v->d, "limit the equation with `where`, or declare `%s` larger", t->name);
    else if (i->eq && i->eq->lhs == t) diag_help(v->d, "a recurrence begins somewhere: limit this equation with `where`, and give the first elements one of their own");
    else diag_help(v->d, "give the dimension a border (`border zero`, `clamp`, ...), or limit the equation with `where`");
    v->outside = x->read ? t : NULL;
    v->outside_in = i->eq;
    v->outside_errors = diags_errors(v->d);
    v->outside_notes = 0;
}

// The points at which a comparison of the subscript holds; freed here, reported if there are any.
static bool leaves(Prove *v, const Instance *i, const Access *x, int d, bool past, isl_set *points)
{
    const Tensor *t = x->tensor;
    prove_begin(v);
    isl_set *bad = prove_where(v, i, points, past ? OP_GE : OP_LT, x->subs[d], past ? t->hi[d] : t->lo[d]);
    isl_bool empty = bad ? isl_set_is_empty(bad) : isl_bool_error;
    if (empty == isl_bool_false && i->eq && i->eq->otherwise) {
        bad = isl_set_intersect(bad, prove_points(v, i, true));
        empty = bad ? isl_set_is_empty(bad) : isl_bool_error;
    }
    char *query = arena_printf(v->a, "whether %s inside dimension %d of `%s`", x->text, d, t->name);
    bool decided = prove_end(v, x->range, query), found = decided && empty == isl_bool_false;
    if (found) report_bounds(v, i, x, d, past ? "past the end of" : "before the start of", bad, points);
    isl_set_free(bad);
    return found || !decided;
}

// Affine subscripts of index type; others are checked at run time.
static bool is_affine(Prove *v, const Instance *i, const Expr *e)
{
    isl_pw_aff *f = poly_aff(v->p, prove_indices(i), e);
    isl_pw_aff_free(f);
    return f != NULL;
}

static bool prove_bounds(Prove *v, const Instance *i, const Access *x)
{
    const Tensor *t = x->tensor;
    isl_set *points = NULL;
    bool good = true;
    for (int d = 0; d < t->rank; d++) {
        bool bordered = x->read && t->border[d].kind != BORDER_NONE;
        if (bordered || inside_by_syntax(v, t, d, x->subs[d])) continue;
        prove_begin(v);
        bool affine = is_affine(v, i, x->subs[d]);
        if (!prove_end(v, x->range, arena_printf(v->a, "where %s", x->text))) {
            isl_set_free(points);
            return false;
        }
        if (!affine) continue;
        if (!points) {
            prove_begin(v);
            points = prove_points(v, i, false);
            if (!prove_end(v, x->range, arena_printf(v->a, "where %s", x->text))) return false;
        }
        bool bad = leaves(v, i, x, d, true, points) || leaves(v, i, x, d, false, points);
        good = good && !bad;
    }
    isl_set_free(points);
    return good;
}

// ---- defined elements ----

// The subscript inside the dimension that a border gives: the edge, any, or itself.
static Expr *bordered_subscript(Prove *v, const Tensor *t, int d, Expr *sub)
{
    switch (t->border[d].kind) {
    case BORDER_NONE: case BORDER_ZERO: case BORDER_CONST: return sub;
    case BORDER_CLAMP: case BORDER_REFLECT: case BORDER_WRAP: break;
    }
    if (inside_by_syntax(v, t, d, sub)) return sub;
    if (t->border[d].kind != BORDER_CLAMP) return expr_new(v->a, OP_READ, DT_I32, sub->range, 0, NULL);   // not affine: any
    Expr *low = expr_binary(v->a, OP_MAX, DT_INDEX, sub, t->lo[d]);
    return expr_binary(v->a, OP_MIN, DT_INDEX, low, linear_add(v->a, t->hi[d], -1));
}

static void report_hole(Prove *v, const Instance *i, const Access *x, isl_set *bad, isl_set *points)
{
    const Tensor *t = x->tensor;
    if (v->tensors[t->id].equations.n == 0) {
        v->tensors[t->id].reported = true;
        diag_report(v->d, D_GAP, t->range, "no equation defines `%s`", t->name);
        diag_note(v->d, x->range, "it is read here");
        return;
    }
    diag_report(v->d, D_GAP, x->range, "%s an element of `%s` that no equation defines%s", x->text, t->name, prove_place(v, prove_indices(i), bad, points));
    for (int k = 0; k < v->tensors[t->id].equations.n && k < 3; k++) diag_note(v->d, v->tensors[t->id].equations.at[k]->lhs_range, "`%s` is defined here", t->name);
    diag_help(v->d, "define it, `%s[...] = ... where otherwise;`, or limit the reading equation with `where`", t->name);
}

// Asks once whether a tensor has no holes at all: then its reads need no look.
static bool has_no_holes(Prove *v, const Tensor *t, Range range)
{
    TensorProof *proof = &v->tensors[t->id];
    // One equation under conditions leaves holes: that its reads avoid them is the likely proof.
    if (proof->full || proof->tried || proof->equations.n == 1) return proof->full;
    proof->tried = true;
    prove_begin(v);
    isl_set *shape = poly_shape(v->p, t), *written = prove_written(v, t);
    proof->full = written && poly_is_subset(v->p, shape, written) == isl_bool_true;
    isl_set_free(shape);
    prove_end(v, range, arena_printf(v->a, "which elements of `%s` are defined", t->name));
    return proof->full;
}

static void prove_defined(Prove *v, const Instance *i, const Access *x)
{
    const Tensor *t = x->tensor;
    TensorProof *proof = &v->tensors[t->id];
    if (t->kind == TENSOR_INPUT || t->kind == TENSOR_OUTPUT || proof->reported || has_no_holes(v, t, x->range)) return;
    Expr **subs = ARENA_ARRAY(v->a, Expr *, t->rank + 1);
    for (int d = 0; d < t->rank; d++) subs[d] = bordered_subscript(v, t, d, x->subs[d]);
    prove_begin(v);
    isl_set *points = prove_points(v, i, true), *written = prove_written(v, t);
    isl_map *reach = isl_map_intersect_domain(poly_subscripts(v->p, prove_indices(i), t, subs, NULL), isl_set_copy(points));
    reach = isl_map_intersect_range(reach, poly_shape(v->p, t));
    isl_set *bad = poly_under(v->p, isl_map_domain(isl_map_subtract_range(reach, isl_set_copy(written))));
    isl_bool empty = bad ? isl_set_is_empty(bad) : isl_bool_error;
    bool decided = prove_end(v, x->range, arena_printf(v->a, "whether %s defined elements only", x->text));
    if (decided && empty == isl_bool_false) report_hole(v, i, x, bad, points);
    isl_set_free(bad);
    isl_set_free(points);
}

// ---- arg-reductions over nothing ----

static bool never_empty_by_syntax(Prove *v, const Nest *nest)
{
    const Index *x = nest->indices.at[0];
    return nest->conds.n == 0 && linear_at_most(v->a, linear_add(v->a, x->lo, 1), x->hi);
}

static void report_empty(Prove *v, const Instance *outer, const Expr *e, isl_set *bad, isl_set *points)
{
    diag_report(v->d, D_EMPTY, e->range, "the range of `%s` can be empty%s", reduce_name(e->nest->op), prove_place(v, prove_indices(outer), bad, points));
    diag_help(v->d, "over nothing it has no result: limit the equation with `where`, or assume it on the kernel, `where N >= 1`");
}

typedef struct {
    Prove *prove;
    isl_set *good;
} Negation;

static isl_set *known_of(const Prove *v, isl_set *s) { return poly_known(v->p, isl_set_get_space(s)); }

static isl_stat negate_constraint(isl_constraint *c, void *data)
{
    Negation *n = data;
    isl_set *outside = isl_set_complement(isl_set_from_basic_set(isl_basic_set_from_constraint(c)));
    isl_set *possible = isl_set_intersect(isl_set_copy(outside), known_of(n->prove, outside));
    if (isl_set_is_empty(possible) == isl_bool_false) n->good = isl_set_union(n->good, isl_set_gist(outside, known_of(n->prove, outside)));
    else isl_set_free(outside);
    isl_set_free(possible);
    return n->good ? isl_stat_ok : isl_stat_error;
}

// What is not in `bad`, by De Morgan where that reads better: M = 0 or N >= 1.
static isl_set *negation(Prove *v, isl_set *bad)
{
    bad = isl_set_coalesce(isl_set_gist(bad, known_of(v, bad)));
    isl_basic_set_list *list = isl_set_get_basic_set_list(bad);
    isl_basic_set *only = isl_set_n_basic_set(bad) == 1 ? isl_basic_set_list_get_at(list, 0) : NULL;
    Negation n = {.prove = v, .good = isl_set_empty(isl_set_get_space(bad))};
    if (only && isl_basic_set_dim(only, isl_dim_div) == 0) {
        isl_basic_set_foreach_constraint(only, negate_constraint, &n);
    } else {
        isl_set_free(n.good);
        n.good = isl_set_gist(isl_set_complement(isl_set_copy(bad)), known_of(v, bad));
    }
    isl_basic_set_free(only);
    isl_basic_set_list_free(list);
    isl_set_free(bad);
    return n.good;
}

// The sizes for which it would be empty are refused on entry, unless that leaves no sizes at all. Takes the sets.
static bool check_on_entry(Prove *v, isl_set *bad_sizes, isl_set *sizes)
{
    isl_set *left = poly_subtract(v->p, sizes, isl_set_copy(bad_sizes));
    bool some = isl_set_is_empty(left) == isl_bool_false;
    isl_set_free(left);
    isl_set *good = negation(v, bad_sizes);
    if (some && good) {
        Expr *cond = expr_simplify(v->k->arena, poly_set_cond(v->p, v->k->arena, (PolyIndices){.n = 0}, good));
        bool known = false;
        for (int i = 0; i < v->k->where.n; i++) known = known || expr_equal(v->k->where.at[i], cond);
        if (!known) VEC_PUSH(v->k->arena, &v->k->where, cond);
    }
    isl_set_free(good);
    return some;
}

static void prove_not_empty(Prove *v, const Instance *outer, const Expr *e)
{
    const Nest *nest = e->nest;
    if (nest->op != RED_ARGMAX && nest->op != RED_ARGMIN) return;
    if (e->op != OP_REDUCE || never_empty_by_syntax(v, nest)) return;
    Instance inner = *outer;
    inner.indices.cap = inner.conds.cap = 0;
    inner.indices.at = NULL;
    inner.conds.at = NULL;
    inner.indices.n = inner.conds.n = 0;
    for (int k = 0; k < outer->indices.n; k++) VEC_PUSH(v->a, &inner.indices, outer->indices.at[k]);
    for (int k = 0; k < outer->conds.n; k++) VEC_PUSH(v->a, &inner.conds, outer->conds.at[k]);
    for (int k = 0; k < nest->indices.n; k++) VEC_PUSH(v->a, &inner.indices, nest->indices.at[k]);
    for (int k = 0; k < nest->conds.n; k++) VEC_PUSH(v->a, &inner.conds, nest->conds.at[k]);
    bool exact;
    prove_begin(v);
    isl_set *points = prove_points(v, outer, true);
    isl_set *full = poly_box(v->p, prove_indices(&inner), inner.conds.n, inner.conds.at, NULL);
    isl_set_free(poly_box(v->p, prove_indices(&inner), nest->conds.n, nest->conds.at, &exact));
    full = isl_set_project_out(full, isl_dim_set, (unsigned)outer->indices.n, (unsigned)nest->indices.n);
    isl_set *bad = exact ? poly_subtract(v->p, isl_set_copy(points), full) : (isl_set_free(full), isl_set_copy(points));
    isl_bool empty = bad ? isl_set_is_empty(bad) : isl_bool_error;
    bool on_entry = false;
    if (empty == isl_bool_false && exact) on_entry = check_on_entry(v, isl_set_params(isl_set_copy(bad)), isl_set_params(isl_set_copy(points)));
    bool decided = prove_end(v, e->range, arena_printf(v->a, "whether the range of `%s` is empty", reduce_name(nest->op)));
    if (decided && empty == isl_bool_false && !on_entry) report_empty(v, outer, e, bad, points);
    isl_set_free(bad);
    isl_set_free(points);
}

// ---- all accesses ----

typedef struct {
    Prove *prove;
    const Equation *eq;            // or
    const Log *log;
} Visit;

static Instance instance_at(const Visit *w, const ReadSite *site)
{
    return w->eq ? instance_of(w->prove, w->eq, site) : instance_of_log(w->prove, w->log, site);
}

// Most reads need no set at all.
static bool read_is_plain(Prove *v, const Expr *read)
{
    const Tensor *t = read->tensor;
    bool defined = t->kind != TENSOR_LOCAL || v->tensors[t->id].full;
    for (int d = 0; d < t->rank && defined; d++)
        if (t->border[d].kind == BORDER_NONE && !inside_by_syntax(v, t, d, read->args[d])) return false;
    return defined;
}

static void visit_read(const ReadSite *site, void *data)
{
    const Visit *w = data;
    Prove *v = w->prove;
    Expr *read = site->read;
    if (read_is_plain(v, read)) return;
    Instance i = instance_at(w, site);
    Access x = {.tensor = read->tensor, .subs = read->args, .range = read->range, .read = true};
    x.text = arena_printf(v->a, "`%s` reads", expr_text(v->a, read));
    prove_bounds(v, &i, &x);
    prove_defined(v, &i, &x);
}

static void visit_nest(const ReadSite *site, void *data)
{
    const Visit *w = data;
    Instance i = instance_at(w, site);
    prove_not_empty(w->prove, &i, site->read);
}

static void prove_left_side(Prove *v, const Equation *eq)
{
    const Tensor *t = eq->lhs;
    bool inside = true;
    for (int d = 0; d < t->rank; d++) inside = inside && inside_by_syntax(v, t, d, eq->subs[d]);
    if (inside) return;
    Instance i = instance_of(v, eq, NULL);
    Access x = {.tensor = t, .subs = eq->subs, .range = eq->lhs_range};
    Expr *side = expr_new(v->a, OP_READ, t->type, eq->lhs_range, t->rank, eq->subs);
    side->tensor = eq->lhs;
    x.text = arena_printf(v->a, "the left side `%s` writes", expr_text(v->a, side));
    prove_bounds(v, &i, &x);
}

static void visit_expr(Visit *w, Expr *e)
{
    expr_reads(w->prove->a, e, visit_read, w);
    expr_nests(w->prove->a, e, visit_nest, w);
}

void prove_reads(Prove *v)
{
    for (int i = 0; i < v->k->equations.n && !diags_full(v->d); i++) {
        Visit w = {.prove = v, .eq = v->k->equations.at[i]};
        prove_left_side(v, w.eq);
        visit_expr(&w, w.eq->rhs);
        for (int j = 0; w.eq->kind == EQ_REDUCE && j < w.eq->nest->conds.n; j++) visit_expr(&w, w.eq->nest->conds.at[j]);
    }
    for (int i = 0; i < v->k->logs.n && !diags_full(v->d); i++) {
        Visit w = {.prove = v, .log = v->k->logs.at[i]};
        for (int j = 0; j < w.log->args.n; j++) visit_expr(&w, w.log->args.at[j]);
    }
}
