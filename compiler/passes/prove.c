// prove: entry point and sets (see prove.h).
//
// Each query runs between prove_begin and prove_end, which lend isl a number of operations; a query that needs more
// comes back as NULL, and the guarantee that it was for is reported as undecided rather than taken for granted.
//
// Test: tests/unit/test_sema.c, tests/errors/sema
#include "passes/prove_sets.h"

#include <string.h>

void prove_begin(Prove *v) { budget_begin(v->p->budget); }

bool prove_end(Prove *v, Range range, const char *query)
{
    bool done = budget_end(v->p->budget);
    if (done) return true;
    diag_report(v->d, D_UNDECIDED, range, "could not decide within the budget %s", query);
    diag_help(v->d, "simplify the subscripts or conditions, or state what you know about the sizes: `where N >= 1, ...` on the kernel");
    return false;
}

// ---- sets ----

PolyIndices prove_indices(const Instance *i) { return (PolyIndices){.n = i->indices.n, .at = i->indices.at}; }

isl_set *prove_points(Prove *v, const Instance *i, bool exact)
{
    isl_set *box = poly_box(v->p, prove_indices(i), i->conds.n, i->conds.at, NULL);
    if (!exact || !i->eq || !i->eq->otherwise) return box;
    isl_set *domain = isl_set_reset_tuple_id(poly_domain(v->p, i->eq, false, NULL));
    unsigned inner = (unsigned)(i->indices.n - i->eq->indices.n);
    return isl_set_intersect(box, isl_set_add_dims(domain, isl_dim_set, inner));
}

isl_set *prove_where(Prove *v, const Instance *i, isl_set *points, Op op, Expr *x, Expr *y)
{
    isl_set *c = poly_cond(v->p, prove_indices(i), expr_binary(v->a, op, DT_BOOL, x, y));
    return c ? poly_under(v->p, isl_set_intersect(isl_set_copy(points), c)) : NULL;
}

isl_set *prove_image(Prove *v, const Equation *eq)
{
    PolyIndices ix = {.n = eq->indices.n, .at = eq->indices.at};
    isl_set *domain = poly_box(v->p, ix, eq->conds.n, eq->conds.at, NULL);
    return isl_map_range(isl_map_intersect_domain(poly_subscripts(v->p, ix, eq->lhs, eq->subs, NULL), domain));
}

isl_set *prove_written(Prove *v, const Tensor *t)
{
    TensorProof *proof = &v->tensors[t->id];
    if (proof->written) return proof->written;
    isl_set *shape = poly_shape(v->p, t), **parts = ARENA_ARRAY(v->a, isl_set *, proof->equations.n + 1);
    parts[0] = t->init ? shape : isl_set_empty(isl_set_get_space(shape));
    if (!t->init) isl_set_free(shape);
    for (int i = 0; i < proof->equations.n; i++) parts[i + 1] = prove_image(v, proof->equations.at[i]);
    proof->written = isl_set_coalesce(poly_union(proof->equations.n + 1, parts));
    return proof->written;
}

static char *region_text(Prove *v, PolyIndices ix, isl_set *set)
{
    enum { LONGEST = 160 };
    if (!set || isl_set_plain_is_universe(set)) return NULL;
    Expr *cond = expr_simplify(v->a, poly_set_cond(v->p, v->a, ix, set));
    if (cond->op == OP_CONST) return NULL;
    char *text = expr_text_condition(v->a, cond);
    return strlen(text) > LONGEST ? NULL : text;
}

char *prove_place(Prove *v, PolyIndices ix, isl_set *bad, isl_set *all)
{
    isl_set *shown = isl_set_coalesce(isl_set_gist(isl_set_copy(bad), isl_set_copy(all)));
    char *region = region_text(v, ix, shown);
    char *example = poly_example(v->p, v->a, ix, bad);
    isl_set_free(shown);
    if (!region && !example) return arena_strdup(v->a, "");
    if (!region) return arena_printf(v->a, ", e.g. at %s", example);
    if (!example) return arena_printf(v->a, " where %s", region);
    return arena_printf(v->a, " where %s, e.g. at %s", region, example);
}

// ---- the whole ----

static void collect_equations(Prove *v)
{
    v->tensors = ARENA_ARRAY(v->a, TensorProof, v->k->tensors.n + 1);
    for (int i = 0; i < v->k->equations.n; i++) {
        const Equation *eq = v->k->equations.at[i];
        VEC_PUSH(v->a, &v->tensors[eq->lhs->id].equations, eq);
    }
    for (int i = 0; i < v->k->tensors.n; i++) v->tensors[i].full = prove_covered_by_syntax(v, v->k->tensors.at[i]);
}

static bool assumptions_hold(Prove *v)
{
    if (poly_has_sizes(v->p) != isl_bool_false) return true;
    Range range = v->k->where.n ? v->k->where.at[0]->range : v->k->range;
    for (int i = 1; i < v->k->where.n; i++) {
        Range more = v->k->where.at[i]->range;
        if (more.end > range.end) range.end = more.end;
    }
    diag_report(v->d, D_ASSUME, range, "no sizes satisfy the assumptions of kernel `%s`", v->k->name);
    diag_help(v->d, "dimensions are never negative; remove one of the conditions that contradict each other");
    return false;
}

void prove_kernel(Arena *a, Poly *p, Diags *d, Kernel *k)
{
    Prove v = {.a = a, .p = p, .d = d, .k = k};
    collect_equations(&v);
    if (assumptions_hold(&v)) {
        prove_writes(&v);
        prove_reads(&v);
    }
    for (int i = 0; i < k->tensors.n; i++) isl_set_free(v.tensors[i].written);
}
