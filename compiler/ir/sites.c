// Read sites: every read of an expression with what holds there.
//
// A read counts only where it is evaluated: in the branch of an `if` that is taken, on the right of `&&` and `||`
// where the left did not decide, in a reduction's body under its ranges and guards. Conditions are split at their
// conjunctions and handed over; whoever needs sets takes the affine ones.
//
// Test: tests/unit/test_sema.c, through the range inference and the proofs
#include "ir/ir.h"

typedef struct {
    Arena *arena;
    VEC(Expr *) guards;
    VEC(Index *) nested;
    enum { READS, NESTS, FITS } what;
    void (*visit)(const ReadSite *site, void *data);
    void *data;
} Walk;

static void walk(Walk *w, Expr *e);

static Expr *negation(Walk *w, Expr *e) { return expr_unary(w->arena, OP_NOT, DT_BOOL, e); }

// Pushes the conjuncts of a guard, so that an affine one counts beside one that is not.
static void push_guard(Walk *w, Expr *guard)
{
    Expr *inner = guard->op == OP_NOT ? guard->args[0] : NULL;
    if (guard->op == OP_AND) {
        push_guard(w, guard->args[0]);
        push_guard(w, guard->args[1]);
    } else if (inner && inner->op == OP_OR) {
        push_guard(w, negation(w, inner->args[0]));
        push_guard(w, negation(w, inner->args[1]));
    } else if (inner && inner->op == OP_NOT) {
        push_guard(w, inner->args[0]);
    } else {
        VEC_PUSH(w->arena, &w->guards, guard);
    }
}

static void walk_under(Walk *w, Expr *guard, Expr *e)
{
    int mark = w->guards.n;
    push_guard(w, guard);
    walk(w, e);
    w->guards.n = mark;
}

// Ranges are evaluated outside; each guard under the ranges and the guards before it; the body under all.
static void walk_nest(Walk *w, Expr *e)
{
    Nest *nest = e->nest;
    int guards = w->guards.n, nested = w->nested.n;
    for (int i = 0; i < nest->indices.n; i++) VEC_PUSH(w->arena, &w->nested, nest->indices.at[i]);
    for (int i = 0; i < nest->conds.n; i++) {
        walk(w, nest->conds.at[i]);
        push_guard(w, nest->conds.at[i]);
    }
    walk(w, e->args[0]);
    w->guards.n = guards;
    w->nested.n = nested;
}

static void visit_site(Walk *w, Expr *e)
{
    ReadSite site = {.read = e, .nguards = w->guards.n, .guards = w->guards.at, .nnested = w->nested.n, .nested = w->nested.at};
    w->visit(&site, w->data);
}

static void walk(Walk *w, Expr *e)
{
    if (e->op == OP_READ && w->what == READS) visit_site(w, e);
    if (e->op == OP_CONVERT && (e->outside & EXPR_FITS) && w->what == FITS) visit_site(w, e);
    if (op_class(e->op) == OPC_NEST) {
        if (w->what == NESTS) visit_site(w, e);
        walk_nest(w, e);
        return;
    }
    if (e->op == OP_SELECT) {
        walk(w, e->args[0]);
        walk_under(w, e->args[0], e->args[1]);
        walk_under(w, negation(w, e->args[0]), e->args[2]);
        return;
    }
    if (e->op == OP_AND || e->op == OP_OR) {
        walk(w, e->args[0]);
        walk_under(w, e->op == OP_AND ? e->args[0] : negation(w, e->args[0]), e->args[1]);
        return;
    }
    for (int i = 0; i < e->n; i++) walk(w, e->args[i]);
}

void expr_reads(Arena *a, Expr *e, void (*visit)(const ReadSite *site, void *data), void *data)
{
    Walk w = {.arena = a, .visit = visit, .data = data};
    walk(&w, e);
}

void expr_nests(Arena *a, Expr *e, void (*visit)(const ReadSite *site, void *data), void *data)
{
    Walk w = {.arena = a, .visit = visit, .data = data, .what = NESTS};
    walk(&w, e);
}

void expr_fits(Arena *a, Expr *e, void (*visit)(const ReadSite *site, void *data), void *data)
{
    Walk w = {.arena = a, .visit = visit, .data = data, .what = FITS};
    walk(&w, e);
}
