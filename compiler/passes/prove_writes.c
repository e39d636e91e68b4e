// prove: one definition of each element.
//
// A left side stays in its shape; equations of one tensor define different elements; those of an output define all.
// Equations are compared in pairs, per tensor. Two are disjoint when, in some dimension, the intervals that they write
// do not meet or their subscripts differ modulo a common factor; only the rest is intersected by isl. What `otherwise`
// leaves to an equation is disjoint from the others by construction.
//
// Test: tests/errors/sema
#include "passes/prove_sets.h"

#include <stdlib.h>

// ---- what one equation writes, dimension by dimension ----

typedef struct {
    Expr *least, *most;            // NULL: not linear
    int64_t factor, constant;      // the subscript is `constant` modulo `factor`; 0: it is that constant
} Trace;

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a < 0 ? -a : a;
}

// Adds scale * e to a residue; what is not linear counts as any integer.
static void add_residue(const Expr *e, int64_t scale, Trace *t)
{
    int64_t c;
    switch ((int)e->op) {
    case OP_CONST:
        if (__builtin_mul_overflow(e->i, scale, &c) || __builtin_add_overflow(t->constant, c, &t->constant)) t->factor = 1;
        return;
    case OP_ADD: case OP_SUB:
        add_residue(e->args[0], scale, t);
        add_residue(e->args[1], e->op == OP_ADD ? scale : -scale, t);
        return;
    case OP_NEG: add_residue(e->args[0], -scale, t); return;
    case OP_MUL:
        for (int i = 0; i < 2; i++) {
            if (e->args[i]->op != OP_CONST || __builtin_mul_overflow(e->args[i]->i, scale, &c) || c == INT64_MIN) continue;
            add_residue(e->args[1 - i], c, t);
            return;
        }
        break;
    default: break;
    }
    t->factor = gcd(t->factor, scale);
}

static Trace *traces(Prove *v, const Equation *eq)
{
    Trace *t = ARENA_ARRAY(v->a, Trace, eq->lhs->rank + 1);
    for (int d = 0; d < eq->lhs->rank; d++) {
        t[d].least = linear_extreme(v->a, eq->subs[d], NULL, false);
        t[d].most = linear_extreme(v->a, eq->subs[d], NULL, true);
        add_residue(eq->subs[d], 1, &t[d]);
    }
    return t;
}

static bool before(Prove *v, const Trace *x, const Trace *y)
{
    if (!x->most || !y->least) return false;
    if (x->most->op == OP_CONST && y->least->op == OP_CONST) return x->most->i < y->least->i;
    return linear_at_most(v->a, linear_add(v->a, x->most, 1), y->least);
}

static bool apart(Prove *v, const Trace *x, const Trace *y, int rank)
{
    for (int d = 0; d < rank; d++) {
        int64_t g = gcd(x[d].factor, y[d].factor), difference;
        if (__builtin_sub_overflow(x[d].constant, y[d].constant, &difference)) continue;
        if (g == 0 ? difference != 0 : difference % g != 0) return true;
        if (before(v, &x[d], &y[d]) || before(v, &y[d], &x[d])) return true;
    }
    return false;
}

// ---- names for the elements of a tensor ----

static PolyIndices element_names(Prove *v, const Tensor *t)
{
    Index **at = ARENA_ARRAY(v->a, Index *, t->rank + 1);
    const TensorProof *proof = &v->tensors[t->id];
    for (int d = 0; d < t->rank; d++) {
        const char *name = NULL;
        for (int i = 0; i < proof->equations.n && !name; i++)
            if (proof->equations.at[i]->subs[d]->op == OP_INDEX) name = proof->equations.at[i]->subs[d]->index->name;
        for (int c = 0; c < d && name; c++)
            if (at[c]->name == name) name = NULL;
        at[d] = ARENA_NEW(v->a, Index);
        at[d]->name = name ? name : arena_printf(v->a, "d%d", d);
    }
    return (PolyIndices){.n = t->rank, .at = at};
}

static char *element_text(Prove *v, const Tensor *t, PolyIndices ix)
{
    char *s = arena_strdup(v->a, t->name);
    for (int d = 0; d < ix.n; d++) s = arena_printf(v->a, "%s%s%s", s, d ? ", " : "[", ix.at[d]->name);
    return ix.n ? arena_printf(v->a, "%s]", s) : s;
}

// ---- overlaps ----

static void report_overlap(Prove *v, const Equation *x, const Equation *y, isl_set *both)
{
    const Tensor *t = x->lhs;
    PolyIndices ix = element_names(v, t);
    isl_set *shape = poly_shape(v->p, t);
    diag_report(v->d, D_OVERLAP, y->lhs_range, "two equations define `%s`%s", element_text(v, t, ix), t->rank ? prove_place(v, ix, both, shape) : "");
    diag_note(v->d, x->lhs_range, "the other one is here");
    diag_help(v->d, "keep their domains apart: `where ...`, or `otherwise` on one of them");
    isl_set_free(shape);
}

// One equation on its way through the comparison.
typedef struct {
    const Equation *eq;
    Trace *trace;
    isl_set *image;                // what it writes; NULL until it is needed
} Side;

static isl_set *image_of(Prove *v, Side *s)
{
    if (!s->image) s->image = s->eq->otherwise ? isl_map_range(poly_write(v->p, s->eq)) : prove_image(v, s->eq);
    return isl_set_copy(s->image);
}

static bool compare_pair(Prove *v, Side *left, Side *right)
{
    const Equation *x = left->eq, *y = right->eq;
    prove_begin(v);
    isl_set *both = isl_set_intersect(image_of(v, left), image_of(v, right));
    isl_bool empty = both ? isl_set_is_empty(both) : isl_bool_error;
    bool decided = prove_end(v, y->lhs_range, arena_printf(v->a, "whether two equations define the same element of `%s`", x->lhs->name));
    if (decided && empty == isl_bool_false) report_overlap(v, x, y, both);
    isl_set_free(both);
    return decided && empty == isl_bool_true;
}

typedef VEC(Side *) Sides;

typedef struct {
    Prove *prove;
    int rank, reports;
} Comparison;

enum { MOST_REPORTS = 3, FEW = 16 };

static void compare(Comparison *c, Side *x, Side *y)
{
    if (c->reports == MOST_REPORTS || x->eq->otherwise != y->eq->otherwise || apart(c->prove, x->trace, y->trace, c->rank)) return;
    bool in_order = x->eq->id < y->eq->id;
    if (!compare_pair(c->prove, in_order ? x : y, in_order ? y : x)) c->reports++;
}

static bool constant_at(const Side *s, int d, int64_t *value)
{
    if (s->eq->subs[d]->op != OP_CONST) return false;
    *value = s->eq->subs[d]->i;
    return true;
}

typedef struct {
    int64_t value;
    Side *side;
} Keyed;

static int by_value(const void *a, const void *b)
{
    const Keyed *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return (x->side->eq->id > y->side->eq->id) - (x->side->eq->id < y->side->eq->id);
}

// Compares all of `group` with each other and with all of `rest`. What differs in a constant subscript is never
// compared, so a table of constants costs a sort.
static void compare_all(Comparison *c, const Sides *group, const Sides *rest, int d)
{
    Arena *a = c->prove->a;
    if (d == c->rank || group->n <= FEW) {
        for (int i = 0; i < group->n; i++) {
            for (int j = 0; j < i; j++) compare(c, group->at[j], group->at[i]);
            for (int j = 0; j < rest->n; j++) compare(c, rest->at[j], group->at[i]);
        }
        return;
    }
    VEC(Keyed) keyed = {0};
    Sides others = {0}, more = {0};
    for (int i = 0; i < group->n; i++) {
        Keyed k = {.side = group->at[i]};
        if (constant_at(k.side, d, &k.value)) VEC_PUSH(a, &keyed, k);
        else VEC_PUSH(a, &others, k.side);
    }
    if (keyed.n > 0) qsort(keyed.at, (size_t)keyed.n, sizeof *keyed.at, by_value);
    for (int i = 0; i < others.n; i++) VEC_PUSH(a, &more, others.at[i]);
    for (int i = 0; i < rest->n; i++) VEC_PUSH(a, &more, rest->at[i]);
    for (int i = 0; i < keyed.n;) {
        Sides same = {0};
        int64_t value = keyed.at[i].value;
        for (; i < keyed.n && keyed.at[i].value == value; i++) VEC_PUSH(a, &same, keyed.at[i].side);
        compare_all(c, &same, &more, d + 1);
    }
    compare_all(c, &others, rest, d + 1);
}

static void prove_disjoint(Prove *v, const Tensor *t)
{
    const TensorProof *proof = &v->tensors[t->id];
    if (proof->equations.n < 2) return;
    Sides all = {0}, none = {0};
    for (int i = 0; i < proof->equations.n; i++) {
        Side *s = ARENA_NEW(v->a, Side);
        *s = (Side){.eq = proof->equations.at[i], .trace = traces(v, proof->equations.at[i])};
        VEC_PUSH(v->a, &all, s);
    }
    Comparison c = {.prove = v, .rank = t->rank};
    compare_all(&c, &all, &none, 0);
    for (int i = 0; i < all.n; i++) isl_set_free(all.at[i]->image);
}

// ---- gaps of outputs ----

static void report_gap(Prove *v, const Tensor *t, isl_set *gap, isl_set *shape)
{
    PolyIndices ix = element_names(v, t);
    v->tensors[t->id].reported = true;
    diag_report(v->d, D_GAP, t->range, "no equation defines `%s` of output `%s`%s", element_text(v, t, ix), t->name,
                t->rank ? prove_place(v, ix, gap, shape) : "");
    diag_help(v->d, "add an equation, `%s = ... where otherwise;`, or start the output from an input, `= C0`", element_text(v, t, ix));
}

static void prove_covered(Prove *v, const Tensor *t)
{
    const TensorProof *proof = &v->tensors[t->id];
    if (t->kind != TENSOR_OUTPUT || proof->full || t->init) return;
    if (proof->equations.n == 0) {
        v->tensors[t->id].reported = true;
        diag_report(v->d, D_GAP, t->range, "no equation defines output `%s`", t->name);
        diag_help(v->d, "write one, or start it from an input, `= C0`");
        return;
    }
    prove_begin(v);
    isl_set *shape = poly_shape(v->p, t), *written = prove_written(v, t);
    isl_set *gap = written ? poly_subtract(v->p, isl_set_copy(shape), isl_set_copy(written)) : NULL;
    gap = isl_set_coalesce(gap);
    isl_bool empty = gap ? isl_set_is_empty(gap) : isl_bool_error;
    bool decided = prove_end(v, t->range, arena_printf(v->a, "whether every element of `%s` is defined", t->name));
    if (decided && empty == isl_bool_false) report_gap(v, t, gap, shape);
    isl_set_free(gap);
    isl_set_free(shape);
}

void prove_writes(Prove *v)
{
    for (int i = 0; i < v->k->tensors.n; i++) {
        const Tensor *t = v->k->tensors.at[i];
        prove_disjoint(v, t);
        prove_covered(v, t);
    }
}
