// schedule_print: a plan as directives (see schedule_print.h).
//
// A leaf is named by one of its equations, that has all loops of the grid; what belongs to single equations (orders, lanes)
// names each. Bare indices stand where they mean the same: in kernels of one leaf. A size that the words cannot say is
// `auto`, which chooses it again. Test: tests/golden/schedules, tests/run/samples.c
#include "passes/schedule_print.h"

#include "passes/schedule_words.h"

#include <string.h>

typedef struct {
    FILE *out;
    Plan *p;
    const TileKernel *t;
} Printer;

// ---- names --------------------------------------------------------------------------------------------------------

// Does every statement that has an index of this name have it as loop q of the one leaf?
static bool bare_means(const Printer *p, const char *name, int q)
{
    if (p->p->leaves.n != 1)
        return false;
    const StmtList *l = &p->p->leaves.at[0]->stmts;
    for (int i = 1; i < l->n; i++)
        if ((l->at[i]->eq->origin < 0) != (l->at[0]->eq->origin < 0))        // `i` means no log's
            return false;
    for (int i = 0; i < l->n; i++)
        for (int k = 0; k < l->at[i]->n; k++)
            if (strcmp(l->at[i]->index[k]->name, name) == 0 && plan_of(p->p, l->at[i])->interval[q].theta.idx != k)
                return false;
    return true;
}

static const char *qualified(const Printer *p, const Stmt *s, int idx)
{
    return arena_printf(p->p->a, "%s.%s", s->eq->name, s->index[idx]->name);
}

static bool has_all_loops(const StmtPlan *sp, int ndims)
{
    unsigned seen = 0;
    for (int q = 0; q < ndims; q++) {
        int idx = sp->interval[q].theta.idx;
        if (idx < 0 || (seen >> idx & 1))
            return false;
        seen |= 1u << idx;
    }
    return sp->stmt->kind != STMT_INIT;
}

// A statement that has an index of its own for every loop of the grid; the last such, which is most likely the result.
static const Stmt *speaker(const Printer *p, const Leaf *leaf)
{
    for (int i = leaf->stmts.n - 1; i >= 0; i--)
        if (has_all_loops(plan_of(p->p, leaf->stmts.at[i]), leaf->node->ndims))
            return leaf->stmts.at[i];
    return NULL;
}

static bool all_bare(const Printer *p, const Stmt *s, int ndims)
{
    const StmtPlan *sp = plan_of(p->p, s);
    for (int q = 0; q < ndims; q++)
        if (!bare_means(p, s->index[sp->interval[q].theta.idx]->name, q))
            return false;
    return true;
}

static const char *loop_name(const Printer *p, const Stmt *s, int q, int ndims)
{
    int idx = plan_of(p->p, s)->interval[q].theta.idx;
    return all_bare(p, s, ndims) ? s->index[idx]->name : qualified(p, s, idx);
}

// ---- grids ----------------------------------------------------------------------------------------------------------

static void print_fused(const Printer *p, const Leaf *leaf)
{
    const Equation *last = NULL;
    int n = 0;
    for (int i = 0; i < leaf->stmts.n; i++) {
        if (leaf->stmts.at[i]->eq == last)
            continue;
        last = leaf->stmts.at[i]->eq;
        n++;
    }
    if (n < 2)
        return;
    const Equation *into = last;
    last = NULL;
    fprintf(p->out, "    fuse ");
    for (int i = 0, k = 0; i < leaf->stmts.n; i++) {
        const Equation *e = leaf->stmts.at[i]->eq;
        if (e == last || e == into)
            continue;
        fprintf(p->out, "%s%s", k++ ? ", " : "", e->name);
        last = e;
    }
    fprintf(p->out, " into %s;\n", into->name);
}

static const char *size_text(const Printer *p, const Expr *size)
{
    return words_can_say(size) ? expr_text(p->p->a, size) : "auto";
}

// Levels of tiles below the grid's, as they were asked for.
static const char *inner_sizes(const Printer *p, const Stmt *s, int idx, int from)
{
    const StmtWish *w = schedule_stmt(p->p->schedule, s);
    const char *text = "";
    for (int k = from; w && w->tile[idx] && k < w->tile[idx]->n; k++) {
        const TileSize *size = &w->tile[idx]->level[k];
        if (size->kind == SIZE_AUTO)
            continue;
        int64_t n = size->kind == SIZE_RANGE ? size->hi : size->value->i;
        text = arena_printf(p->p->a, "%s, %lld", text, (long long)n);
    }
    return text;
}

// Is the size of a task left to the compiler in some dimension? A single size in another one would then be taken for the block's.
static bool is_left_open(const Leaf *leaf)
{
    for (int q = 0; q < leaf->node->ndims; q++)
        if (!words_can_say(leaf->node->dims[q].tile))
            return true;
    return false;
}

// The block of a task, where it is another size than that and can be said.
static const char *block_size(const Printer *p, const Leaf *leaf, int q)
{
    const Expr *block = leaf->blocks->block[q];
    bool said = block->op == OP_CONST && (is_left_open(leaf) || !expr_equal(block, leaf->node->dims[q].tile));
    return said ? arena_printf(p->p->a, ", %lld", (long long)block->i) : "";
}

static void print_grid(const Printer *p, const Leaf *leaf)
{
    static const char *const mode[] = { [MODE_AUTO] = "", [MODE_SERIAL] = "", [MODE_STATIC] = " static", [MODE_DYNAMIC] = " dynamic", [MODE_WAVE] = " wave" };
    const Node *n = leaf->node;
    const Stmt *s = n->ndims ? speaker(p, leaf) : NULL;
    if (!s)
        return;
    for (int q = 0; q < n->ndims; q++)
        fprintf(p->out, "%s%s = %s%s", q ? ", " : "    tile ", loop_name(p, s, q, n->ndims), size_text(p, n->dims[q].tile),
                leaf->blocks ? block_size(p, leaf, q) : inner_sizes(p, s, plan_of(p->p, s)->interval[q].theta.idx, 1));
    fprintf(p->out, ";\n");
    if (leaf->blocks && leaf->blocks->split >= 0)
        fprintf(p->out, "    unroll %s = %d;\n", loop_name(p, s, leaf->blocks->split, n->ndims), leaf->blocks->parts);
    for (int i = 0; leaf->blocks && leaf->blocks->main && i < leaf->blocks->main->n; i++)
        if (leaf->blocks->chunk[i])
            fprintf(p->out, "    tile %s = %s;\n", qualified(p, leaf->blocks->main, i), size_text(p, leaf->blocks->chunk[i]));
    for (int q = 0; q < n->ndims; q++)
        fprintf(p->out, "%s%s", q ? ", " : "    parallel ", loop_name(p, s, q, n->ndims));
    fprintf(p->out, "%s", mode[n->mode]);
    if (n->max_workers)
        fprintf(p->out, " max %d", n->max_workers);
    fprintf(p->out, ";\n");
}

// Where a schedule keeps a leaf from running in parallel.
static void print_serial(const Printer *p, const Leaf *leaf)
{
    const Equation *last = NULL;
    for (int i = 0; leaf->node->ndims == 0 && i < leaf->stmts.n; i++) {
        const Stmt *s = leaf->stmts.at[i];
        const StmtWish *w = schedule_stmt(p->p->schedule, s);
        if (w && w->parallel && w->parallel->mode == MODE_SERIAL && s->eq != last)
            fprintf(p->out, "    parallel %s = none;\n", s->eq->name);
        last = s->eq;
    }
}

// ---- loops ----------------------------------------------------------------------------------------------------------

static bool in_grid(const StmtPlan *sp, int idx)
{
    for (int q = 0; q < sp->nintervals; q++)
        if (sp->interval[q].theta.idx == idx)
            return true;
    return false;
}

// Tiles of loops that no grid cuts.
static void print_inner_tiles(const Printer *p, const StmtPlan *sp)
{
    const Stmt *s = sp->stmt;
    for (int i = 0; i < s->n && s->kind != STMT_INIT; i++) {
        const char *sizes = in_grid(sp, i) || sp->leaf->blocks ? "" : inner_sizes(p, s, i, 0);
        if (*sizes)
            fprintf(p->out, "    tile %s = %s;\n", qualified(p, s, i), sizes + 2);
    }
}

// The loops around a statement, outermost first, as names; the number of them.
static int loops_of(const Printer *p, const StmtPlan *sp, const char **names)
{
    int n = 0;
    for (int k = 0; k < sp->npath; k++)
        if (sp->path[k].loop && !sp->path[k].loop->tile && sp->path[k].theta.idx >= 0)
            names[n++] = sp->stmt->index[sp->path[k].theta.idx]->name;
    (void)p;
    return n;
}

static bool is_part(int n, const char *const *list, int m, const char *const *of)
{
    int k = 0;
    for (int i = 0; i < m && k < n; i++)
        k += strcmp(of[i], list[k]) == 0;
    return k == n;
}

// One order of bare names that holds for every statement, if there is one.
static int common_order(const Printer *p, const char **order)
{
    int most = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < p->p->g->stmts.n; i++) {
            const char *names[MAX_LOOPS];
            int n = loops_of(p, plan_of(p->p, p->p->g->stmts.at[i]), names);
            if (pass == 0 && n > most) {
                most = n;
                memcpy(order, names, sizeof *names * (size_t)n);
            }
            if (pass == 1 && !is_part(n, names, most, order))
                return 0;
        }
    return most;
}

static void print_order(const Printer *p, const StmtPlan *sp)
{
    const char *names[MAX_LOOPS];
    int n = loops_of(p, sp, names);
    for (int k = 0; k < n && n > 1; k++)
        fprintf(p->out, "%s%s.%s", k ? ", " : "    order ", sp->stmt->eq->name, names[k]);
    if (n > 1)
        fprintf(p->out, ";\n");
}

// Do the initialisations go in the order of their updates? What does not is left to the compiler, which chooses it again.
static bool agrees_with_update(const Printer *p, const StmtPlan *sp)
{
    const char *init[MAX_LOOPS], *update[MAX_LOOPS];
    if (sp->stmt->kind != STMT_UPDATE)
        return true;
    int n = loops_of(p, plan_of(p->p, p->p->g->stmts.at[sp->stmt->id - 1]), init), m = loops_of(p, sp, update);
    return is_part(n, init, m, update);
}

static void print_orders(const Printer *p)
{
    const char *order[MAX_LOOPS];
    int n = common_order(p, order);
    for (int k = 0; k < n && n > 1; k++)
        fprintf(p->out, "%s%s", k ? ", " : "    order ", order[k]);
    if (n > 1)
        fprintf(p->out, ";\n");
    for (int i = 0; n == 0 && i < p->p->g->stmts.n; i++) {
        const StmtPlan *sp = plan_of(p->p, p->p->g->stmts.at[i]);
        if (sp->stmt->kind != STMT_INIT && agrees_with_update(p, sp))
            print_order(p, sp);
    }
}

// What all nodes of a loop have in common; 0 when they differ.
static int common_lanes(const Loop *loop, bool unroll)
{
    int n = loop->nodes.n ? unroll ? loop->nodes.at[0]->unroll : loop->nodes.at[0]->lanes : 0;
    for (int i = 1; i < loop->nodes.n; i++)
        if ((unroll ? loop->nodes.at[i]->unroll : loop->nodes.at[i]->lanes) != n)
            return 0;
    return n;
}

// In all its pieces: a loop of which only some can be vectors is left to the default, which finds the same.
static bool has_lanes(const Loop *loop)
{
    for (int i = 0; i < loop->nodes.n; i++)
        if (loop->nodes.at[i]->lanes <= 1)
            return false;
    return loop->nodes.n > 0;
}

static void print_vectors(const Printer *p, const StmtPlan *sp)
{
    const Stmt *s = sp->stmt;
    const StmtWish *w = schedule_stmt(p->p->schedule, s);
    bool vector = false;
    for (int k = 0; k < sp->npath && s->kind != STMT_INIT; k++) {
        const Loop *loop = sp->path[k].loop;
        if (!loop || loop->tile || loop->outer || sp->path[k].theta.idx < 0)
            continue;
        const char *name = qualified(p, s, sp->path[k].theta.idx);
        int lanes = common_lanes(loop, false), unroll = loop->unroll ? loop->unroll : common_lanes(loop, true);
        if (has_lanes(loop) && sp->path[k].theta.idx == sp->vecdim) {
            fprintf(p->out, lanes > 1 ? "    vectorize %s = %d;\n" : "    vectorize %s;\n", name, lanes);
            vector = true;
        }
        if (unroll > 1)
            fprintf(p->out, "    unroll %s = %d;\n", name, unroll);
    }
    if (!vector && s->kind != STMT_INIT && ((w && w->vector == VECTOR_NONE) || p->p->opt_level == 0))
        fprintf(p->out, "    vectorize %s = none;\n", s->eq->name);
}

// ---- storage ----------------------------------------------------------------------------------------------------------

static bool is_read_in_leaf(const Printer *p, const Tensor *t)
{
    const StmtList *w = &p->p->g->writers[t->id];
    for (int i = 0; i < p->p->g->deps.n; i++) {
        const Dep *d = p->p->g->deps.at[i];
        if (d->tensor == t && d->read && plan_of(p->p, d->src)->leaf == plan_of(p->p, d->dst)->leaf)
            return true;
    }
    return w->n == 0;
}

static const char *index_along(const Printer *p, const Tensor *t, int d)
{
    const StmtList *w = &p->p->g->writers[t->id];
    for (int i = 0; i < w->n; i++)
        for (int k = 0; k < w->at[i]->n; k++)
            if (expr_uses(w->at[i]->subs[d], w->at[i]->index[k]))
                return w->at[i]->index[k]->name;
    return NULL;
}

static void print_storage(const Printer *p)
{
    for (int i = 0; i < p->p->kernel->tensors.n; i++) {
        const Tensor *t = p->p->kernel->tensors.at[i];
        const Storage *st = &p->t->storage[i];
        bool full = st->kind == STORE_WORKSPACE;
        for (int d = 0; d < t->rank; d++) {
            const char *index = index_along(p, t, d);
            full = full && st->dim[d].kind == DIM_FULL;
            if (st->kind != STORE_PARAM && st->kind != STORE_NONE && st->dim[d].kind == DIM_MODULO && index)
                fprintf(p->out, "    fold %s.%s = %lld;\n", t->name, index, (long long)st->dim[d].modulo);
        }
        const TensorWish *w = schedule_tensor(p->p->schedule, t);
        if (full && (!is_read_in_leaf(p, t) || (w && w->materialize)))
            fprintf(p->out, "    materialize %s;\n", t->name);
    }
}

// ---- the schedule -----------------------------------------------------------------------------------------------------

static const char *target_word(Arena *a, const char *name)
{
    char *s = arena_strdup(a, name);
    for (char *c = s; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return s;
}

static void print_layout(const Printer *p, const TreeClause *c)
{
    const TreeClauses *order = &c->words.at[0]->group;
    fprintf(p->out, "    layout %s = (", c->key);
    for (int q = 0; q < order->n; q++)
        fprintf(p->out, "%s%d", q ? ", " : "", (int)order->at[q].words.at[0]->ival);
    fprintf(p->out, ");\n");
}

// Directives that the choice does not show: what was inlined is gone, and dimensions are in another order.
static void print_rewritten(const Printer *p)
{
    WordContext c = { p->p->a, p->p->g->diags, p->p->kernel, p->p->machine };
    for (int i = 0; i < p->p->kernel->schedules.n; i++) {
        const TreeSchedule *s = p->p->kernel->schedules.at[i];
        for (int j = 0; j < s->block.n && schedule_applies(&c, s); j++)
            for (int k = 0; k < s->block.at[j]->clauses.n; k++) {
                const TreeClause *x = &s->block.at[j]->clauses.at[k];
                if (strcmp(s->block.at[j]->name, "inline") == 0)
                    fprintf(p->out, "    inline %s;\n", x->words.at[0]->text);
                if (strcmp(s->block.at[j]->name, "layout") == 0)
                    print_layout(p, x);
            }
    }
}

void schedule_print(FILE *out, Plan *plan, const TileKernel *t, bool source)
{
    Printer p = { out, plan, t };
    fprintf(out, "schedule %s on %s {\n", plan->kernel->name, target_word(plan->a, plan->machine->name));
    if (source)
        print_rewritten(&p);
    for (int i = 0; i < plan->leaves.n; i++) {
        print_fused(&p, plan->leaves.at[i]);
        print_grid(&p, plan->leaves.at[i]);
        print_serial(&p, plan->leaves.at[i]);
    }
    for (int i = 0; i < plan->g->stmts.n; i++)
        print_inner_tiles(&p, plan_of(plan, plan->g->stmts.at[i]));
    print_orders(&p);
    for (int i = 0; t && i < plan->g->stmts.n; i++)
        print_vectors(&p, plan_of(plan, plan->g->stmts.at[i]));
    if (t)
        print_storage(&p);
    fprintf(out, "}\n");
}
