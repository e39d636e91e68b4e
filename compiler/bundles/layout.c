// layout: in which order the dimensions of a tensor lie on chip.
//
// The vector unit takes rows: where the last index of an expression runs along another dimension than the last one it does one
// element a cycle. So what expressions read and write lies so that the dimension along which they all run is the
// innermost one; the moves between the chip and the tensor convert (a move between two orders transposes, at no cost of its
// own). An intermediate that every grid wants in another order should be stored in that one: then nothing is converted.
// Test: tests/golden/model/layouts.pto, tests/errors/schedules/layout.pto
#include "bundles/block.h"
#include "ir/linear.h"
#include "passes/explain.h"

// ---- what expressions want ----------------------------------------------------------------------------------------------

typedef struct { Block *b; const Index *last; } Runs;

static int both(int along, int other)
{
    return along == ALONG_ANY || along == other ? other : other == ALONG_ANY ? along : ALONG_SEVERAL;
}

static void note(const Runs *r, const Tensor *t, Expr *const *subs)
{
    int *along = &r->b->along[t->id], mine = ALONG_ANY;
    for (int d = 0; r->last && d < t->rank; d++) {
        bool linear = true;
        int64_t c = linear_coefficient(subs[d], r->last, &linear);
        if (linear && c == 0)
            continue;
        if (!linear || c != 1 || mine != ALONG_ANY)
            return;                                     // no order makes a row of it
        mine = d;
    }
    *along = both(*along, mine);
}

static void note_read(void *data, Expr *read, int nconds, Expr *const *conds)
{
    (void)nconds;
    (void)conds;
    note(data, read->tensor, read->args);
}

static void note_stmt(Block *b, const BlockStmt *s)
{
    int order[MAX_INDICES];
    if (s->kind != BLOCK_NEST || s->s->n == 0 || block_is_name(b, s->s) || block_nest_unit(b, s->s) == UNIT_SCALAR)
        return;                                         // (the scalar unit does one element at a time anyway)
    block_loop_order(b, s, order);
    Runs r = { b, s->s->index[order[s->s->n - 1]] };
    note(&r, s->s->eq->lhs, s->s->subs);
    depend_stmt_reads(b->a, s->s, note_read, &r);
}

// ---- the orders -----------------------------------------------------------------------------------------------------------

static const int *with_last(Block *b, int rank, int last)
{
    int *order = ARENA_ARRAY(b->a, int, rank + 1), n = 0;
    for (int d = 0; d < rank; d++)
        if (d != last)
            order[n++] = d;
    order[n] = last;
    return order;
}

void block_layouts(Block *b)
{
    const Kernel *k = b->p->kernel;
    b->along = ARENA_ARRAY(b->a, int, k->tensors.n + 1);
    b->layout = (const int **)ARENA_ARRAY(b->a, int *, k->tensors.n + 1);
    for (int i = 0; i < k->tensors.n; i++)
        b->along[i] = ALONG_ANY;
    for (int i = 0; i < b->nstmts; i++)
        note_stmt(b, &b->stmts[i]);
    for (int i = 0; i < k->tensors.n; i++) {
        const Tensor *t = k->tensors.at[i];
        b->layout[i] = wish_layout(b, t);
        if (b->layout[i] || b->along[i] < 0 || b->along[i] == t->rank - 1)
            continue;
        b->layout[i] = with_last(b, t->rank, b->along[i]);
        explain_say(b->p, &b->leaf->why, "on chip `%s` lies with its dimension %d innermost, along which expressions run: moves convert its layout.", t->name, b->along[i]);
    }
}

// ---- what would be better stored in another order -------------------------------------------------------------------------

static bool is_plain_order(const int *order, int rank)
{
    for (int d = 0; order && d < rank; d++)
        if (order[d] != d)
            return false;
    return true;
}

// Along which dimension do all grids go that have one?
static int along_everywhere(const Plan *p, const Tensor *t)
{
    int along = ALONG_ANY;
    for (int i = 0; i < p->leaves.n; i++) {
        const Blocks *c = p->leaves.at[i]->blocks;
        along = both(along, c ? c->along[t->id] : ALONG_ANY);
    }
    return along;
}

static const char *order_text(Arena *a, int rank, int last)
{
    const char *text = "";
    for (int d = 0; d < rank; d++)
        if (d != last)
            text = arena_printf(a, "%s%d, ", text, d);
    return arena_printf(a, "%s%d", text, last);
}

void layout_report(Plan *p, const TileKernel *t)
{
    for (int i = 0; i < p->kernel->tensors.n; i++) {
        const Tensor *x = p->kernel->tensors.at[i];
        const TensorWish *w = schedule_tensor(p->schedule, x);
        int along = t->storage[x->id].kind == STORE_WORKSPACE ? along_everywhere(p, x) : ALONG_ANY;
        if (x->kind != TENSOR_LOCAL || along < 0 || along == x->rank - 1 || (w && w->layout && is_plain_order(w->layout, x->rank)))
            continue;
        diag_report(p->g->diags, D_LAYOUT, x->range, "the layout of `%s` is converted on every way into the chip and out: expressions run along its dimension %d", x->name, along);
        diag_help(p->g->diags, "`layout %s = (%s);` in the schedule stores it so that nothing is converted", x->name, order_text(p->a, x->rank, along));
    }
}
