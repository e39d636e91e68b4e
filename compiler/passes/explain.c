// explain: sentences, grids and loops (see explain.h).
#include "passes/explain.h"

#include "passes/schedule_check.h"
#include "passes/schedule_words.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

void explain_say(Plan *p, Sentences *s, const char *fmt, ...)
{
    if (!explains(p))
        return;
    va_list ap;
    va_start(ap, fmt);
    char *text = arena_vprintf(p->a, fmt, ap);
    va_end(ap);
    text[0] = (char)toupper((unsigned char)text[0]);
    VEC_PUSH(p->a, s, text);
}

void explain_tensor(Plan *p, const Tensor *t, const char *fmt, ...)
{
    if (!explains(p))
        return;
    va_list ap;
    va_start(ap, fmt);
    const char *text = arena_vprintf(p->a, fmt, ap);
    va_end(ap);
    if (!p->about)
        p->about = ARENA_ARRAY(p->a, Sentences, p->kernel->tensors.n + 1);
    VEC_PUSH(p->a, &p->about[t->id], text);
}

// ---- sizes --------------------------------------------------------------------------------------------------------

static bool see_division(Expr *e, void *data)
{
    bool *found = data;
    *found = *found || e->op == OP_DIV || e->op == OP_FLOORDIV;
    return true;
}

// Is the 1 there for what may be rounded down to 0?
static bool divides(const Expr *e)
{
    bool found = false;
    expr_walk((Expr *)(uintptr_t)e, see_division, &found);
    return found;
}

static Expr *without_ones(Arena *a, const Expr *e)
{
    Expr *args[2];
    bool known = e->op == OP_MIN || e->op == OP_MAX || e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL || e->op == OP_DIV;
    for (int i = 0; e->op == OP_MAX && i < 2; i++)
        if (expr_is_int(e->args[i], 1) && !divides(e->args[1 - i]))
            return without_ones(a, e->args[1 - i]);
    if (!known || e->n != 2)
        return (Expr *)(uintptr_t)e;
    for (int i = 0; i < 2; i++)
        args[i] = without_ones(a, e->args[i]);
    return expr_new(a, e->op, e->type, e->range, 2, args);
}

const char *explain_size(Arena *a, const Expr *e) { return expr_text(a, without_ones(a, e)); }

// ---- lists --------------------------------------------------------------------------------------------------------

const char *explain_list(Arena *a, int n, const char *const *names)
{
    const char *text = "";
    for (int i = 0; i < n; i++)
        text = arena_printf(a, "%s%s%s", text, i == 0 ? "" : i == n - 1 ? " and " : ", ", names[i]);
    return text;
}

const char *explain_stmts(Plan *p, const StmtList *l)
{
    enum { MOST = 12 };
    const char *names[MOST + 1];
    int n = 0, more = 0;
    for (int i = 0; i < l->n; i++) {
        if (l->at[i]->kind == STMT_INIT)
            continue;
        if (n < MOST)
            names[n++] = stmt_text(p->a, p->g, l->at[i]);
        else
            more++;
    }
    if (more)
        names[n++] = arena_printf(p->a, "%d more", more);
    return explain_list(p->a, n, names);
}

// ---- grids --------------------------------------------------------------------------------------------------------

static const char *axes(Plan *p, const Node *grid)
{
    const char *names[4];
    for (int q = 0; q < grid->ndims; q++)
        names[q] = arena_printf(p->a, "`%s`", grid->dims[q].name);
    return explain_list(p->a, grid->ndims, names);
}

// A dependence of the leaf that an index of this name carries.
static Dep *carried(Plan *p, const Leaf *leaf, const char *name, Distance *r)
{
    for (int i = 0; i < leaf->deps.n; i++) {
        Dep *d = leaf->deps.at[i];
        int x = plan_index_called(d->src, name), y = plan_index_called(d->dst, name);
        if (x < 0 || y < 0)
            continue;
        *r = depend_distance(p->g, d, x, y, 1);
        if (r->min != 0 || r->max != 0)
            return d;
    }
    return NULL;
}

static void explain_dependence(Plan *p, Sentences *s, const char *what, const Dep *d, Distance r, const char *name)
{
    const char *src = stmt_text(p->a, p->g, d->src), *dst = stmt_text(p->a, p->g, d->dst);
    if (d->src == d->dst && !d->read)
        explain_say(p, s, "%s%s runs along it, each element after the one before.", what, dst);
    else
        explain_say(p, s, "%s%s needs what %s computes at %s along `%s`.", what, dst, d->src == d->dst ? "it" : src, distance_text(p->a, r), name);
}

// What keeps the indices of the leaf's last statement out of the grid.
static void explain_other_axes(Plan *p, Leaf *leaf)
{
    const Stmt *last = leaf->stmts.at[leaf->stmts.n - 1];
    const StmtPlan *sp = plan_of(p, last);
    for (int i = 0; i < last->nouter; i++) {
        const char *name = last->index[i]->name, *what = arena_printf(p->a, "Not over `%s`: ", name);
        bool outer = false;
        for (int k = 0; k < leaf->nouter; k++)
            outer = outer || sp->path[k].theta.idx == i;
        if (outer || plan_in_grid(sp, i))
            continue;
        Distance r;
        Dep *d = carried(p, leaf, name, &r);
        if (d)
            explain_dependence(p, &leaf->why, what, d, r, name);
        else
            explain_say(p, &leaf->why, "%snot all that share this grid have it to split.", what);
    }
}

static void explain_wave(Plan *p, Leaf *leaf)
{
    explain_say(p, &leaf->why, "Tiles run as a wave over %s: each starts when the ones before it along the axes are done.", axes(p, leaf->node));
    for (int q = 0; q < leaf->node->ndims; q++) {
        Distance r;
        const char *name = leaf->node->dims[q].name;
        Dep *d = carried(p, leaf, name, &r);
        if (d)
            explain_dependence(p, &leaf->why, "", d, r, name);
    }
}

static void explain_serial(Plan *p, Leaf *leaf)
{
    const StmtWish *w = schedule_stmt(p->schedule, leaf->stmts.at[0]);
    if (w && w->parallel && w->parallel->mode == MODE_SERIAL) {
        explain_say(p, &leaf->why, "Runs as one task, as the schedule says.");
        return;
    }
    explain_say(p, &leaf->why, "Runs as one task: no loop can be split.");
    explain_other_axes(p, leaf);
}

void explain_grid(Plan *p, Leaf *leaf, const char *why)
{
    static const char *const mode[] = { [MODE_STATIC] = "static", [MODE_DYNAMIC] = "dynamic" };
    const Node *n = leaf->node;
    if (!explains(p))
        return;
    if (n->ndims == 0) {
        explain_serial(p, leaf);
        return;
    }
    if (n->mode == MODE_WAVE && n->noffsets > 0) {
        explain_wave(p, leaf);
        return;
    }
    explain_say(p, &leaf->why, "Parallel over %s: no dependence crosses from tile to tile.", axes(p, n));
    explain_other_axes(p, leaf);
    if (n->mode == MODE_STATIC || n->mode == MODE_DYNAMIC)
        explain_say(p, &leaf->why, "Tasks are handed out %s: %s.", mode[n->mode], why);
}

void explain_outer(Plan *p, const Loop *loop, const StmtList *stmts, const DepList *deps, const Theta *theta)
{
    if (!explains(p))
        return;
    explain_say(p, (Sentences *)&loop->why, "`%s` runs step by step around the grids of %s.", loop->name, explain_stmts(p, stmts));
    for (int i = 0; i < deps->n; i++) {
        Dep *d = deps->at[i];
        Distance r = graph_distance(p, d, theta[d->src->id], theta[d->dst->id]);
        if (r.min < 1)
            continue;
        explain_dependence(p, (Sentences *)&loop->why, "", d, r, loop->name);
        return;
    }
}

// ---- the whole ----------------------------------------------------------------------------------------------------

static void print_sentences(Plan *p, const Sentences *s, const char *indent)
{
    for (int i = 0; i < s->n; i++)
        fprintf(p->explain, "%s%s\n", indent, s->at[i]);
}

static int common(const Loop *loop, bool unroll)
{
    int n = 0;
    for (int i = 0; i < loop->nodes.n; i++) {
        int mine = unroll ? loop->nodes.at[i]->unroll : loop->nodes.at[i]->lanes;
        n = mine > n ? mine : n;
    }
    return n;
}

// The deepest statement's loops, with lanes.
static void print_loops(Plan *p, const Leaf *leaf)
{
    const StmtPlan *deepest = NULL;
    for (int i = 0; i < leaf->stmts.n; i++) {
        const StmtPlan *sp = plan_of(p, leaf->stmts.at[i]);
        deepest = !deepest || sp->npath > deepest->npath ? sp : deepest;
    }
    const char *names[MAX_LOOPS];
    int n = 0;
    for (int k = leaf->nouter; k < deepest->npath; k++) {
        const Loop *loop = deepest->path[k].loop;
        if (!loop || !loop->name)
            continue;
        int lanes = common(loop, false), unroll = common(loop, true);
        names[n] = arena_printf(p->a, "`%s`", loop->name);
        if (lanes <= 1 && unroll > 1)
            names[n] = arena_printf(p->a, "%s, %d at a time", names[n], unroll);
        if (lanes > 1)
            names[n] = arena_printf(p->a, unroll > 1 ? "%s in vectors of %d, %d at a time" : "%s in vectors of %d", names[n], lanes, unroll);
        n++;
    }
    if (n)
        fprintf(p->explain, "    The loops in it: %s.\n", explain_list(p->a, n, names));
}

static void print_leaf(Plan *p, Leaf *leaf)
{
    const char *names = explain_stmts(p, &leaf->stmts);
    fprintf(p->explain, "  %s %s\n", leaf->node->ndims ? "Grid of" : "Serial code of", *names ? names : "initialisations");
    print_sentences(p, &leaf->why, "    ");
    print_loops(p, leaf);
}

static void print_tensors(Plan *p)
{
    for (int i = 0; p->about && i < p->kernel->tensors.n; i++)
        print_sentences(p, &p->about[i], "    ");
}

// What is written in the source and does not hold is said.
static void print_replaced(const Plan *p)
{
    const WordContext c = { p->a, p->g->diags, p->kernel, p->machine };
    for (int i = 0; i < p->kernel->schedules.n; i++) {
        const TreeSchedule *old = p->kernel->schedules.at[i], *by = schedule_replacement(&c, old);
        if (!by)
            continue;
        Position at = source_position(diags_sources(p->g->diags), old->range.begin);
        Position now = source_position(diags_sources(p->g->diags), by->range.begin);
        fprintf(p->explain, "  The schedule at %s:%d gives way to that at %s:%d.\n", at.file->path, at.line, now.file->path, now.line);
    }
}

void explain_kernel(Plan *p, const TileKernel *t)
{
    if (!explains(p))
        return;
    fprintf(p->explain, "kernel %s for %s\n", p->kernel->name, p->machine->name);
    print_replaced(p);
    for (int i = 0; i < p->loops.n; i++)
        print_sentences(p, &p->loops.at[i]->why, "  ");
    for (int i = 0; i < p->leaves.n; i++)
        print_leaf(p, p->leaves.at[i]);
    if (p->about)
        fprintf(p->explain, "  Storage\n");
    print_tensors(p);
    if (p->machine->emits_c)                             // (else the model counts it: `ptoc profile`)
        explain_traffic(p, t);
    if (p->g->given_up.n)
        fprintf(p->explain, "  Given up\n");
    for (int i = 0; i < p->g->given_up.n; i++)
        fprintf(p->explain, "    %s.\n", p->g->given_up.at[i]);
    fflush(p->explain);
}
