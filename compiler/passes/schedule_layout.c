// schedule_layout: `layout t = (1, 0)` stores an intermediate with its dimensions in that order, outermost first.
//
// The tensor becomes one whose dimension q is what its dimension order[q] was; left sides and reads follow. So every pass behind
// sees rows where the source has columns, and needs to know nothing. How parameters are stored the caller says: for them the
// directive is about their copies on chip (bundles/layout.c). Test: tests/errors/schedules/layout.pto, tests/golden/schedules/layout.pto
#include "passes/schedule_rewrite.h"

#include <string.h>

// ---- the directive ------------------------------------------------------------------------------------------------------

Tensor *layout_tensor(WordContext *c, const TreeClause *clause)
{
    const char **names = ARENA_ARRAY(c->a, const char *, c->kernel->tensors.n + 1);
    int n = 0;
    for (int i = 0; i < c->kernel->tensors.n; i++) {
        Tensor *t = c->kernel->tensors.at[i];
        if (t->kind == TENSOR_HIDDEN)
            continue;
        if (strcmp(t->name, clause->key) == 0)
            return t;
        names[n++] = t->name;
    }
    words_unknown(c, D_SCHEDULE, clause->key_range, "there is no tensor", clause->key, n, names);
    return NULL;
}

static bool read_order(const TreeWord *group, int rank, int *order)
{
    unsigned seen = 0;
    for (int q = 0; q < group->group.n; q++) {
        Words w = words_of(&group->group.at[q]);
        int64_t d;
        if (group->group.at[q].key || group->group.n != rank || !words_number(&w, &d) || words_peek(&w) || d < 0 || d >= rank || (seen >> d & 1))
            return false;
        seen |= 1u << d;
        order[q] = (int)d;
    }
    return group->group.n == rank;
}

static bool is_constant(const Border *b) { return b->kind == BORDER_ZERO || b->kind == BORDER_CONST; }

static bool is_alike(const Border *x, const Border *y)
{
    return x->kind == y->kind && (x->kind != BORDER_CONST || expr_equal(x->value, y->value));
}

// In a corner the first dimension with a constant says which: these stay in order, unless they say the same.
static bool keeps_corners(const Tensor *t, const int *order)
{
    for (int q = 0; q < t->rank; q++)
        for (int p = 0; p < q; p++) {
            const Border *x = &t->border[order[p]], *y = &t->border[order[q]];
            if (order[p] > order[q] && is_constant(x) && is_constant(y) && !is_alike(x, y))
                return false;
        }
    return true;
}

Tensor *layout_clause(WordContext *c, const TreeClause *clause, int **order)
{
    const TreeWord *w = clause->words.n ? clause->words.at[0] : NULL;
    if (!clause->key || !w || (w->kind == WORD_GROUP && clause->words.n > 1)) {
        diag_report(c->d, D_SCHEDULE, clause->range, "`layout` is written `layout t = (1, 0), ...`");
        return NULL;
    }
    Tensor *t = layout_tensor(c, clause);
    if (t && w->kind != WORD_GROUP) {
        diag_report(c->d, D_UNSUPPORTED, clause->range, "layouts other than an order of dimensions are not built yet");
        if (t->rank > 1)
            diag_help(c->d, "its dimensions, the outermost first: `layout %s = (%s)`", t->name, t->rank == 2 ? "1, 0" : "...");
        return NULL;
    }
    *order = ARENA_ARRAY(c->a, int, (t ? t->rank : 0) + 1);
    bool fine = t && read_order(w, t->rank, *order);
    if (fine && (!layout_rewrites(t) || keeps_corners(t, *order)))
        return t;
    if (fine)
        diag_report(c->d, D_ILLEGAL, clause->range, "in the corners of `%s` the border of its first dimension holds: those of different constants stay in order", t->name);
    else if (t)
        diag_report(c->d, D_SCHEDULE, clause->range, "a layout of `%s` has its dimensions 0 to %d, each once, outermost first", t->name, t->rank - 1);
    return NULL;
}

// ---- the kernel ---------------------------------------------------------------------------------------------------------

typedef struct { Arena *a; const Tensor *was; Tensor *is; const int *order; } Change;

static Tensor *arranged(Arena *a, const Tensor *t, const int *order)
{
    Tensor *x = ARENA_NEW(a, Tensor);
    *x = *t;
    x->lo = ARENA_ARRAY(a, Expr *, t->rank + 1);
    x->hi = ARENA_ARRAY(a, Expr *, t->rank + 1);
    x->border = ARENA_ARRAY(a, Border, t->rank + 1);
    for (int q = 0; q < t->rank; q++) {
        x->lo[q] = t->lo[order[q]];
        x->hi[q] = t->hi[order[q]];
        x->border[q] = t->border[order[q]];
    }
    return x;
}

static Expr **in_order(const Change *c, Expr *const *subs)
{
    Expr **x = ARENA_ARRAY(c->a, Expr *, c->is->rank + 1);
    for (int q = 0; q < c->is->rank; q++)
        x[q] = subs[c->order[q]];
    return x;
}

static Expr *change_read(Expr *read, void *data)
{
    const Change *c = data;
    if (read->tensor != c->was)
        return read;
    unsigned outside = 0;
    for (int q = 0; q < c->is->rank; q++)
        outside |= (read->outside >> c->order[q] & (1u | EXPR_EMPTY_BORDER)) << q;
    read->tensor = c->is;
    read->args = in_order(c, read->args);
    read->outside = outside;
    return read;
}

static Log *change_log(Change *c, const Log *l)
{
    Log *copy = ARENA_NEW(c->a, Log);
    *copy = *l;
    copy->args.at = NULL;
    copy->args.n = copy->args.cap = 0;
    for (int i = 0; i < l->args.n; i++)
        VEC_PUSH(c->a, &copy->args, expr_map_reads(c->a, l->args.at[i], change_read, c));
    return copy;
}

static Kernel *change(Arena *a, const Kernel *k, const Tensor *t, const int *order)
{
    Kernel *x = ARENA_NEW(a, Kernel);
    Change c = { a, t, arranged(a, t, order), order };
    *x = *k;
    x->tensors.at = NULL;
    x->equations.at = NULL;
    x->logs.at = NULL;
    x->tensors.n = x->tensors.cap = x->equations.n = x->equations.cap = x->logs.n = x->logs.cap = 0;
    for (int i = 0; i < k->tensors.n; i++)
        VEC_PUSH(a, &x->tensors, k->tensors.at[i] == t ? c.is : k->tensors.at[i]);
    for (int i = 0; i < k->equations.n; i++) {
        Equation *e = equation_map_reads(a, k->equations.at[i], change_read, &c);
        if (e->lhs == t) {
            e->lhs = c.is;
            e->subs = in_order(&c, e->subs);
        }
        VEC_PUSH(a, &x->equations, e);
    }
    for (int i = 0; i < k->logs.n; i++)
        VEC_PUSH(a, &x->logs, change_log(&c, k->logs.at[i]));
    return x;
}

// Sums and scans that normalize took out of t's equations follow: `t.sum`[i, j] lies as t[i, j] does.
typedef struct { const Equation *of; Tensor *found; } Part;

static bool see_part(Expr *e, void *data)
{
    Part *p = data;
    bool same = e->op == OP_READ && e->tensor->kind == TENSOR_HIDDEN && e->tensor->rank == p->of->lhs->rank;
    for (int d = 0; same && d < e->tensor->rank; d++)
        same = expr_equal(e->args[d], p->of->subs[d]);
    if (same)
        p->found = e->tensor;
    return true;
}

static Kernel *change_with_parts(Arena *a, Kernel *k, const Tensor *t, const int *order)
{
    VEC(Tensor *) parts = { 0 };
    for (int i = 0; i < k->equations.n; i++) {
        Part p = { k->equations.at[i], NULL };
        if (p.of->lhs == t)
            expr_walk(p.of->rhs, see_part, &p);
        bool known = !p.found;
        for (int q = 0; !known && q < parts.n; q++)
            known = parts.at[q] == p.found;
        if (!known)
            VEC_PUSH(a, &parts, p.found);
    }
    for (int i = 0; i < parts.n; i++)
        k = change(a, k, parts.at[i], order);
    return change(a, k, t, order);
}

// Of several for one tensor, one in a schedule `on` the machine wins, then the later one.
typedef struct { int *order; bool on; } Chosen;

static void choose(WordContext *c, const TreeSchedule *s, const TreeDirective *dir, Chosen *of)
{
    if (strcmp(dir->name, "layout") != 0 || dir->assign || dir->has_block)
        return;
    for (int q = 0; q < dir->clauses.n; q++) {
        int *order;
        const Tensor *t = layout_clause(c, &dir->clauses.at[q], &order);
        if (t && (s->machine || !of[t->id].on))
            of[t->id] = (Chosen){ order, s->machine };
    }
}

Kernel *schedule_layout(Arena *a, Diags *d, Kernel *k, const Machine *m)
{
    int errors = diags_errors(d);
    WordContext c = { a, d, k, m };
    Chosen *of = ARENA_ARRAY(a, Chosen, k->tensors.n + 1);
    for (int i = 0; i < k->schedules.n; i++) {
        const TreeSchedule *s = k->schedules.at[i];
        for (int j = 0; j < s->block.n && schedule_applies(&c, s); j++)
            choose(&c, s, s->block.at[j], of);
    }
    for (int i = 0; i < k->tensors.n; i++)
        if (of[i].order && layout_rewrites(k->tensors.at[i]))
            k = change_with_parts(a, k, k->tensors.at[i], of[i].order);
    return diags_errors(d) > errors ? NULL : k;
}
