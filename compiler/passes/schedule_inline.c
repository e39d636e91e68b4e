// schedule_inline: `inline t` puts t's expression where t is read.
//
// Works on the normalised kernel, before dependences: reads t[e, ...] become the right side of t's one equation with its
// indices replaced by e, ... The proofs were made with t in place, and hold: what is read is what would have been stored.
// Refused: recurrences (there is no end), reductions and scans (each read would repeat them), tensors of several
// equations or with a border (the value depends on where it is read), and results too large to be of use.
// Test: tests/errors/schedules/inline.pto
#include "passes/schedule_rewrite.h"

#include "passes/schedule_words.h"

#include <string.h>

enum { LARGEST = 4000 };

typedef struct {
    WordContext c;
    Kernel *k;
    const Poly *poly;
    Range at;                     // the directive
    const Equation *eq;           // of the tensor
    const Equation *reader;       // that is rewritten
    Index **from;
    bool failed;
} Inline;

static void refuse(Inline *in, DiagId id, const char *why)
{
    if (!in->failed)
        diag_report(in->c.d, id, in->at, "`%s` cannot be inlined: %s", in->eq->lhs->name, why);
    in->failed = true;
}

// ---- reads --------------------------------------------------------------------------------------------------------

typedef struct { const Tensor *t; int reads, size; } Count;

static bool count_visit(Expr *e, void *data)
{
    Count *c = data;
    c->size++;
    c->reads += e->op == OP_READ && e->tensor == c->t;
    return true;
}

static Count count_in(const Equation *e, const Tensor *t)
{
    Count c = { t, 0, 0 };
    expr_walk(e->rhs, count_visit, &c);
    for (int i = 0; e->nest && i < e->nest->conds.n; i++)
        expr_walk(e->nest->conds.at[i], count_visit, &c);
    return c;
}

static bool is_affine(const Inline *in, const Equation *reader, Expr *const *subs, int rank)
{
    Index *ix[64];
    int n = 0;
    for (int i = 0; i < reader->indices.n && n < 64; i++)
        ix[n++] = reader->indices.at[i];
    for (int i = 0; reader->nest && i < reader->nest->indices.n && n < 64; i++)
        ix[n++] = reader->nest->indices.at[i];
    for (int d = 0; d < rank; d++) {
        isl_pw_aff *f = poly_aff(in->poly, (PolyIndices){ n, ix }, subs[d]);
        if (!f)
            return false;
        isl_pw_aff_free(f);
    }
    return true;
}

static Expr *in_place(Expr *read, void *data)
{
    Inline *in = data;
    if (read->tensor != in->eq->lhs)
        return read;
    if (!is_affine(in, in->reader, read->args, read->n))
        refuse(in, D_UNSUPPORTED, "a subscript of a read depends on data");
    return expr_simplify(in->c.a, expr_substitute(in->c.a, in->eq->rhs, read->n, in->from, read->args));
}

static Equation *rewrite(Inline *in, const Equation *e)
{
    in->reader = e;
    Equation *copy = equation_map_reads(in->c.a, e, in_place, in);
    Count c = count_in(copy, NULL);
    if (c.size > LARGEST)
        refuse(in, D_UNSUPPORTED, arena_printf(in->c.a, "the expression of `%s` would have more than %d operations", e->lhs->name, LARGEST));
    return copy;
}

// ---- one tensor -----------------------------------------------------------------------------------------------------

// The one equation that gives all of t, as t[i, j, ...] with an index for each dimension.
static const Equation *find_equation(Inline *in, const Tensor *t)
{
    int n = 0;
    for (int i = 0; i < in->k->equations.n; i++)
        if (in->k->equations.at[i]->lhs == t) {
            in->eq = in->k->equations.at[i];
            n++;
        }
    if (n == 0)
        return NULL;
    if (t->kind != TENSOR_LOCAL && t->kind != TENSOR_HIDDEN)
        refuse(in, D_SCHEDULE, "it is a parameter, which always has storage of its own");
    else if (n > 1)
        refuse(in, D_UNSUPPORTED, "it has several equations");
    else if (in->eq->kind != EQ_MAP)
        refuse(in, D_UNSUPPORTED, "each read would repeat its reduction or scan");
    else if (count_in(in->eq, t).reads > 0)
        refuse(in, D_ILLEGAL, "it is computed from itself");
    for (int d = 0; d < t->rank && !in->failed; d++)
        if (t->border[d].kind != BORDER_NONE)
            refuse(in, D_UNSUPPORTED, "it has a border");
    return in->eq;
}

static bool find_indices(Inline *in)
{
    const Equation *e = in->eq;
    in->from = ARENA_ARRAY(in->c.a, Index *, e->lhs->rank + 1);
    for (int d = 0; d < e->lhs->rank; d++) {
        bool plain = e->subs[d]->op == OP_INDEX;
        for (int k = 0; plain && k < d; k++)
            plain = in->from[k] != e->subs[d]->index;
        if (!plain) {
            refuse(in, D_UNSUPPORTED, "its left side is not a list of indices");
            return false;
        }
        in->from[d] = e->subs[d]->index;
    }
    if (e->indices.n != e->lhs->rank)
        refuse(in, D_UNSUPPORTED, "its left side does not have all of its indices");
    return !in->failed;
}

static void inline_tensor(Inline *in, const Tensor *t)
{
    if (!find_equation(in, t)) {
        if (t->kind == TENSOR_INPUT)
            diag_report(in->c.d, D_SCHEDULE, in->at, "nothing computes `%s`", t->name);
        in->failed = true;                                       // what nothing needs is gone already
        return;
    }
    if (in->failed || !find_indices(in))
        return;
    Kernel *k = ARENA_NEW(in->c.a, Kernel);
    *k = *in->k;
    k->equations.at = NULL;
    k->equations.n = k->equations.cap = 0;
    for (int i = 0; i < in->k->equations.n && !in->failed; i++) {
        Equation *e = in->k->equations.at[i];
        if (e == in->eq)
            continue;
        Equation *copy = count_in(e, t).reads > 0 ? rewrite(in, e) : ARENA_NEW(in->c.a, Equation);
        if (count_in(e, t).reads == 0)
            *copy = *e;
        copy->id = k->equations.n;
        VEC_PUSH(in->c.a, &k->equations, copy);
    }
    in->k = k;
}

// ---- directives -------------------------------------------------------------------------------------------------------

static void inline_named(Inline *in, const TreeClause *c)
{
    const TreeWord *w = c->words.n == 1 && !c->key ? c->words.at[0] : NULL;
    in->failed = false;
    in->at = c->range;
    if (!w || w->kind != WORD_PATH) {
        diag_report(in->c.d, D_SCHEDULE, c->range, "`inline` takes the names of tensors");
        return;
    }
    const char **names = ARENA_ARRAY(in->c.a, const char *, in->k->tensors.n + 1);
    for (int i = 0; i < in->k->tensors.n; i++) {
        names[i] = in->k->tensors.at[i]->name;
        if (strcmp(names[i], w->text) == 0) {
            inline_tensor(in, in->k->tensors.at[i]);
            return;
        }
    }
    words_unknown(&in->c, D_SCHEDULE, c->range, "there is no tensor", w->text, in->k->tensors.n, names);
}

Kernel *schedule_inline(Arena *a, Budget *budget, Diags *d, Kernel *k, const Machine *m)
{
    int errors = diags_errors(d);
    Inline in = { .c = { a, d, k, m }, .k = k };
    Poly *poly = NULL;
    for (int i = 0; i < k->schedules.n; i++) {
        const TreeSchedule *s = k->schedules.at[i];
        for (int j = 0; j < s->block.n && schedule_applies(&in.c, s); j++) {
            const TreeDirective *dir = s->block.at[j];
            if (strcmp(dir->name, "inline") != 0 || dir->assign || dir->has_block)
                continue;
            in.poly = poly = poly ? poly : poly_new(a, budget, k);
            for (int c = 0; c < dir->clauses.n; c++)
                inline_named(&in, &dir->clauses.at[c]);
        }
    }
    if (poly)
        poly_free(poly);
    return diags_errors(d) > errors ? NULL : in.k;
}
