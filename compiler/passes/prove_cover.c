// prove: whole coverage by syntax.
//
// Three shapes of programs need no sets. One equation that runs over the whole box. Slabs: equations that are whole in
// all dimensions but one, where their intervals form a chain from the lower to the upper end (each starts where the one
// before ends; whatever the sizes, such a chain passes every element). Tables: all ranges are constants, and the
// instances of the equations are as many as the elements; since no two define the same one and none lies outside,
// which is proved elsewhere, none is left out. Thousands of constants thus cost what reading them costs.
//
// Test: tests/unit/test_sema.c
#include "passes/prove_sets.h"

#include <stdlib.h>

// A plain subscript that runs over its whole dimension.
static bool is_whole(const Tensor *t, int d, const Expr *sub)
{
    return sub->op == OP_INDEX && expr_equal(sub->index->lo, t->lo[d]) && expr_equal(sub->index->hi, t->hi[d]);
}

// Whole in all dimensions but `except` (-1: in all), with an index for each. (With all of them, `otherwise` leaves no gap either:
// what it does not define, others do.)
static bool is_whole_but(const Equation *eq, int except)
{
    const Tensor *t = eq->lhs;
    if (eq->conds.n > 0 || (eq->otherwise && except >= 0)) return false;
    for (int d = 0; d < t->rank; d++) {
        if (d == except) continue;
        if (!is_whole(t, d, eq->subs[d])) return false;
        for (int c = 0; c < t->rank; c++)
            if ((c < d || c == except) && expr_uses(eq->subs[c], eq->subs[d]->index)) return false;
    }
    return true;
}

// ---- slabs ----

typedef struct {
    Expr *from, *to;               // half-open
} Interval;

// A constant, or a plain index whose range uses dims only.
static bool interval_of(Prove *v, const Equation *eq, int d, Interval *out)
{
    Expr *sub = eq->subs[d];
    if (sub->op != OP_INDEX) {
        for (int i = 0; i < eq->indices.n; i++)
            if (expr_uses(sub, eq->indices.at[i])) return false;
        *out = (Interval){.from = sub, .to = linear_add(v->a, sub, 1)};
        return true;
    }
    *out = (Interval){.from = sub->index->lo, .to = sub->index->hi};
    for (int i = 0; i < eq->indices.n; i++)
        if (expr_uses(out->from, eq->indices.at[i]) || expr_uses(out->to, eq->indices.at[i])) return false;
    return true;
}

static bool is_constant(const Interval *x) { return x->from->op == OP_CONST && x->to->op == OP_CONST; }

static int by_start(const void *a, const void *b)
{
    const Interval *x = a, *y = b;
    int64_t f = is_constant(x) ? x->from->i : INT64_MAX, g = is_constant(y) ? y->from->i : INT64_MAX;
    return (f > g) - (f < g);
}

static bool equal_ends(Prove *v, Expr *x, Expr *y)
{
    if (x->op == OP_CONST && y->op == OP_CONST) return x->i == y->i;
    return linear_at_most(v->a, x, y) && linear_at_most(v->a, y, x);
}

// Constants come first, sorted; a few others may follow in any order.
static bool is_chain(Prove *v, Interval *x, int n, Expr *from, Expr *to)
{
    enum { MOST_OTHERS = 32 };
    int constants = 0, others;
    qsort(x, (size_t)n, sizeof *x, by_start);
    while (constants < n && is_constant(&x[constants])) constants++;
    others = n - constants;
    if (others > MOST_OTHERS) return false;
    Expr *at = from;
    for (int used = 0, next = 0; used < n; used++) {
        int pick = next < constants && equal_ends(v, at, x[next].from) ? next++ : constants;
        if (pick >= constants)
            while (pick < n && !(x[pick].from && equal_ends(v, at, x[pick].from))) pick++;
        if (pick == n) break;
        at = x[pick].to;
        if (pick >= constants) x[pick].from = NULL;
    }
    return equal_ends(v, at, to);
}

static bool covered_by_slabs(Prove *v, const Tensor *t, int d)
{
    const TensorProof *proof = &v->tensors[t->id];
    int n = proof->equations.n;
    for (int i = 0; i < n; i++)
        if (!is_whole_but(proof->equations.at[i], d)) return false;
    Interval *x = ARENA_ARRAY(v->a, Interval, n);
    for (int i = 0; i < n; i++)
        if (!interval_of(v, proof->equations.at[i], d, &x[i])) return false;
    return is_chain(v, x, n, t->lo[d], t->hi[d]);
}

// ---- tables ----

// The number of points of a box with constant ends; -1 when they are not, or there are too many.
static int64_t multiply(int64_t count, const Expr *lo, const Expr *hi)
{
    int64_t size;
    if (count < 0 || lo->op != OP_CONST || hi->op != OP_CONST || __builtin_sub_overflow(hi->i, lo->i, &size)) return -1;
    if (__builtin_mul_overflow(count, size < 0 ? 0 : size, &count)) return -1;
    return count;
}

static bool covered_by_count(Prove *v, const Tensor *t)
{
    const TensorProof *proof = &v->tensors[t->id];
    int64_t elements = 1, instances = 0;
    for (int d = 0; d < t->rank; d++) elements = multiply(elements, t->lo[d], t->hi[d]);
    for (int i = 0; i < proof->equations.n && elements >= 0; i++) {
        const Equation *eq = proof->equations.at[i];
        int64_t count = eq->conds.n > 0 || eq->otherwise ? -1 : 1;
        for (int k = 0; k < eq->indices.n; k++) count = multiply(count, eq->indices.at[k]->lo, eq->indices.at[k]->hi);
        if (count < 0 || __builtin_add_overflow(instances, count, &instances)) return false;
    }
    return elements >= 0 && instances == elements;
}

bool prove_covered_by_syntax(Prove *v, const Tensor *t)
{
    const TensorProof *proof = &v->tensors[t->id];
    for (int i = 0; i < proof->equations.n; i++)
        if (is_whole_but(proof->equations.at[i], -1)) return true;
    if (proof->equations.n < 2) return false;
    for (int d = 0; d < t->rank; d++)
        if (covered_by_slabs(v, t, d)) return true;
    return covered_by_count(v, t);
}
