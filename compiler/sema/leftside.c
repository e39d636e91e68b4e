// Left sides: the indices, subscripts and conditions of an equation.
//
// A name in a left subscript that is no dim is an index; so is the name before `in` under `where`, and in a log any
// free name of its conditions. Ranges that are written are kept with their index; what is not a range is a condition,
// split at its &&. A range may use indices that come earlier only, so indices are put into such an order.
//
// Leaves: Equation.indices, .subs, .conds, .otherwise; indices without a written range are `open`.
// Test: tests/unit/test_sema.c
#include "sema/context.h"

#include <string.h>

typedef struct {
    Sema *sema;
    EquationInfo *info;
    Typer typer;
} Left;

static Index *known_index(const EquationInfo *e, const char *name)
{
    for (int i = 0; i < e->eq->indices.n; i++)
        if (strcmp(e->eq->indices.at[i]->name, name) == 0) return e->eq->indices.at[i];
    return NULL;
}

static void add_index(Left *l, const Tree *name)
{
    EquationInfo *e = l->info;
    if (known_index(e, name->text)) return;
    if (strchr(name->text, '.')) {
        sema_error(l->sema, D_UNDEFINED, name->range, "`%s` is not an index", name->text);
        e->failed = true;
        return;
    }
    Index *index = sema_index(l->sema, name->text, name->range, 0, NULL);
    if (index) VEC_PUSH(l->sema->arena, &e->eq->indices, index);
    else e->failed = true;
}

static void report_subscript(Left *l, Range range, const char *text)
{
    sema_error(l->sema, D_SUBSCRIPT, range, "a left subscript of `%s` must be affine in indices and dimensions; %s", l->info->eq->lhs->name, text);
    sema_help(l->sema, "to scatter by data, turn it round: `h[b] = sum(i where x[i] == b) ...`");
    l->info->failed = true;
}

// Collects the indices of a left subscript.
static void left_indices(Left *l, const Tree *t)
{
    Symbol *symbol;
    switch (t->kind) {
    case TREE_NAME:
        symbol = sema_find(l->sema, t->text);
        if (!symbol) add_index(l, t);
        else if (symbol->kind == SYM_POISON) l->info->failed = true;
        else if (symbol->kind == SYM_TENSOR && symbol->tensor->tensor->rank == 0)
            report_subscript(l, t->range, arena_printf(l->sema->arena, "`%s` is a value", t->text));
        else if (symbol->kind == SYM_TENSOR) add_index(l, t);
        return;
    case TREE_INDEX: report_subscript(l, t->range, arena_printf(l->sema->arena, "`%s[...]` is data", t->text)); return;
    case TREE_INT: case TREE_FLOAT: case TREE_STRING: case TREE_ALL: case TREE_RANGE: case TREE_OTHERWISE: case TREE_OPERATOR: return;
    case TREE_CALL: case TREE_UNARY: case TREE_BINARY: case TREE_IF: case TREE_GROUP: case TREE_IN: case TREE_NAMED: break;
    }
    for (int i = 0; i < t->args.n; i++) left_indices(l, t->args.at[i]);
}

static bool names_index_range(const Tree *cond) { return cond->kind == TREE_IN && cond->args.at[0]->kind == TREE_NAME; }

// A log has no left side: free names of its conditions are its indices.
static void log_indices(Left *l, const Tree *t)
{
    if (t->kind == TREE_NAME && !sema_find(l->sema, t->text)) add_index(l, t);
    for (int i = 0; i < t->args.n; i++) log_indices(l, t->args.at[i]);
}

static void where_indices(Left *l)
{
    const TreeList *conds = &l->info->stmt->conds;
    for (int i = 0; i < conds->n; i++) {
        const Tree *cond = conds->at[i];
        if (names_index_range(cond)) {
            Symbol *symbol = sema_find(l->sema, cond->args.at[0]->text);
            if (!symbol || symbol->kind != SYM_DIM) add_index(l, cond->args.at[0]);
        } else if (!l->info->lhs) {
            log_indices(l, cond);
        }
    }
}

// ---- conditions ----

static void push_cond(Expr *cond, void *data)
{
    Left *l = data;
    VEC_PUSH(l->sema->arena, &l->info->eq->conds, cond);
}

static void add_membership(Left *l, const Tree *cond)
{
    Arena *a = l->sema->arena;
    Expr *x = sema_affine_expr(&l->typer, cond->args.at[0], D_WHERE, "a condition of an equation"), *lo, *hi;
    if (!x || !sema_bounds(&l->typer, cond->args.at[1], &lo, &hi)) {
        l->info->failed = true;
        return;
    }
    Expr *above = expr_binary(a, OP_GE, DT_BOOL, x, lo), *below = expr_binary(a, OP_LT, DT_BOOL, x, hi);
    above->range = below->range = cond->range;
    push_cond(above, l);
    push_cond(below, l);
}

static void add_condition(Left *l, const Tree *cond)
{
    if (cond->kind == TREE_OTHERWISE) {
        l->info->eq->otherwise = true;
        if (l->info->lhs) return;
        sema_error(l->sema, D_WHERE, cond->range, "`otherwise` belongs to an equation: a log has no others");
        l->info->failed = true;
        return;
    }
    Expr *e = sema_bool(&l->typer, cond, "a condition");
    if (e) e = expr_simplify(l->sema->arena, e);
    if (e && !sema_is_affine_cond(e)) {
        sema_error(l->sema, D_WHERE, cond->range, "a condition of an equation must be affine in indices and dimensions");
        sema_help(l->sema, "test data on the right side: `if ... then ... else ...`");
        e = NULL;
    }
    if (e) sema_conjuncts(e, push_cond, l);
    else l->info->failed = true;
}

// `i in a..b` gives the index its range, if it has none yet and the range is not its own business.
static void add_where(Left *l, const Tree *cond)
{
    Index *index = names_index_range(cond) ? known_index(l->info, cond->args.at[0]->text) : NULL;
    if (!index || index->lo) {
        if (cond->kind == TREE_IN) add_membership(l, cond);
        else add_condition(l, cond);
        return;
    }
    Expr *lo, *hi;
    if (!sema_bounds(&l->typer, cond->args.at[1], &lo, &hi)) {
        l->info->failed = true;
        return;
    }
    index->lo = lo;
    index->hi = hi;
}

static void add_subscripts(Left *l)
{
    const TreeStmt *stmt = l->info->stmt;
    Equation *eq = l->info->eq;
    eq->subs = ARENA_ARRAY(l->sema->arena, Expr *, stmt->subs.n + 1);
    for (int i = 0; i < stmt->subs.n; i++) {
        eq->subs[i] = sema_affine_expr(&l->typer, stmt->subs.at[i], D_SUBSCRIPT, "a left subscript");
        if (!eq->subs[i]) l->info->failed = true;
    }
}

// ---- the order of indices ----

static bool range_uses(const Index *index, const Index *other)
{
    return index->lo && (expr_uses(index->lo, other) || expr_uses(index->hi, other));
}

static bool waits(const Equation *eq, const Index *index, const bool *placed)
{
    for (int i = 0; i < eq->indices.n; i++)
        if (!placed[i] && range_uses(index, eq->indices.at[i])) return true;
    return false;
}

static void report_circle(Left *l, const bool *placed)
{
    const Equation *eq = l->info->eq;
    for (int i = 0; i < eq->indices.n; i++) {
        if (placed[i]) continue;
        sema_error(l->sema, D_INDEX_RANGE, eq->indices.at[i]->range, "the range of `%s` depends on itself", eq->indices.at[i]->name);
        sema_help(l->sema, "give one of the indices a range over dimensions only, and keep the rest as conditions");
        break;
    }
    l->info->failed = true;
}

// Stable: an index moves back only behind those that its range uses.
static void order_indices(Left *l)
{
    Equation *eq = l->info->eq;
    int n = eq->indices.n, done = 0;
    bool *placed = ARENA_ARRAY(l->sema->arena, bool, n + 1);
    Index **sorted = ARENA_ARRAY(l->sema->arena, Index *, n + 1);
    while (done < n) {
        int pick = 0;
        while (pick < n && (placed[pick] || waits(eq, eq->indices.at[pick], placed))) pick++;
        if (pick == n) {
            report_circle(l, placed);
            return;
        }
        placed[pick] = true;
        sorted[done++] = eq->indices.at[pick];
    }
    for (int i = 0; i < n; i++) eq->indices.at[i] = sorted[i];
}

void sema_left_side(Sema *s, EquationInfo *e)
{
    Left l = {.sema = s, .info = e, .typer = {.sema = s, .equation = e}};
    for (int i = 0; i < e->stmt->subs.n; i++) left_indices(&l, e->stmt->subs.at[i]);
    where_indices(&l);
    Equation *eq = e->eq;
    if (eq->indices.n > SEMA_MOST_INDICES) {
        sema_error(s, D_UNSUPPORTED, e->stmt->range, "an equation with more than %d indices is not built yet", SEMA_MOST_INDICES);
        e->failed = true;
    }
    if (e->failed) return;
    for (int i = 0; i < eq->indices.n; i++) VEC_PUSH(s->arena, &l.typer.scope, eq->indices.at[i]);
    add_subscripts(&l);
    for (int i = 0; i < e->stmt->conds.n; i++) add_where(&l, e->stmt->conds.at[i]);
    if (!e->failed) order_indices(&l);
    for (int i = 0; i < eq->indices.n; i++)
        if (!eq->indices.at[i]->lo) VEC_PUSH(s->arena, &e->open, eq->indices.at[i]);
}
