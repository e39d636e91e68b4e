// explain_traffic: the bytes that each tensor moves between memory and the cores (see explain.h).
//
// The model: a grid reads or writes each element of a tensor that it touches once for every tile that needs it: once, times
// the number of tiles along grid dimensions, and of steps of sequential loops, that its subscripts do not follow. What
// fits the caches from tile to tile is not counted off. The least is each parameter once; intermediates need not move.
#include "passes/explain.h"

#include <string.h>

typedef struct {
    Plan *p;
    const TileKernel *t;
    const Tensor *x;
    const Stmt *s;
    Expr *most;                   // elements of the access seen that moves most
    int weight;
    bool data;                    // a subscript depends on data
} Reads;

static Expr *index_expr(Plan *p, Op op, Expr *x, Expr *y)
{
    return expr_simplify(p->a, expr_binary(p->a, op, DT_INDEX, x, y));
}

static Expr *number(Plan *p, int64_t v)
{
    return expr_int(p->a, DT_INDEX, v, (Range){ 0, 0 });
}

// Does a subscript move with the index, or with one whose range moves with it?
static bool follows(const Stmt *s, int rank, Expr *const *subs, int idx)
{
    const Index *index = s->index[idx];
    for (int d = 0; d < rank; d++)
        if (expr_uses(subs[d], index))
            return true;
    for (int k = 0; k < s->n; k++)
        if (k != idx && (expr_uses(s->index[k]->lo, index) || expr_uses(s->index[k]->hi, index)))
            for (int d = 0; d < rank; d++)
                if (expr_uses(subs[d], s->index[k]))
                    return true;
    return false;
}

// How often a statement's grid and loops go over what one access touches.
static Expr *repetitions(Plan *p, const Stmt *s, int rank, Expr *const *subs, int *factors)
{
    const StmtPlan *sp = plan_of(p, s);
    Expr *times = number(p, 1);
    *factors = 0;
    for (int q = 0; q < sp->nintervals; q++) {
        int idx = sp->interval[q].theta.idx;
        const GridDim *d = &sp->leaf->node->dims[q];
        if (idx >= 0 && follows(s, rank, subs, idx))
            continue;
        Expr *all = index_expr(p, OP_SUB, d->end, d->begin);
        Expr *tiles = index_expr(p, OP_DIV, index_expr(p, OP_SUB, index_expr(p, OP_ADD, all, d->tile), number(p, 1)), d->tile);
        times = index_expr(p, OP_MUL, times, tiles);
        ++*factors;
    }
    for (int k = 0; k < sp->leaf->nouter; k++) {
        int idx = sp->path[k].theta.idx;
        if (idx >= 0 && follows(s, rank, subs, idx))
            continue;
        const Index *loop = sp->path[k].loop->index;
        times = index_expr(p, OP_MUL, times, index_expr(p, OP_SUB, loop->hi, loop->lo));
        ++*factors;
    }
    return times;
}

static bool uses_any(const Stmt *s, const Expr *e)
{
    for (int k = 0; k < s->n; k++)
        if (expr_uses(e, s->index[k]))
            return true;
    return false;
}

static Expr *extent(Plan *p, const Tensor *x, int d)
{
    return index_expr(p, OP_SUB, x->hi[d], x->lo[d]);
}

static void see_access(Reads *r, int rank, Expr *const *subs)
{
    int weight;
    Expr *n = repetitions(r->p, r->s, rank, subs, &weight);
    weight *= MAX_INDICES;
    for (int d = 0; d < rank; d++)
        if (uses_any(r->s, subs[d])) {
            n = index_expr(r->p, OP_MUL, n, extent(r->p, r->x, d));
            weight++;
        }
    if (!r->most || weight > r->weight) {
        r->most = n;
        r->weight = weight;
    }
}

static void see_read(void *data, Expr *read, int nconds, Expr *const *conds)
{
    Reads *r = data;
    (void)nconds;
    (void)conds;
    if (read->tensor != r->x)
        return;
    for (int d = 0; d < read->n; d++)
        r->data = r->data || expr_uses_data(read->args[d]);
    see_access(r, read->n, read->args);
}

static Expr *elements(Plan *p, const Tensor *x)
{
    Expr *n = number(p, 1);
    for (int d = 0; d < x->rank; d++)
        n = index_expr(p, OP_MUL, n, extent(p, x, d));
    return n;
}

// The elements of x that one leaf reads, or writes; NULL: none.
static Expr *leaf_elements(Plan *p, const TileKernel *t, const Leaf *leaf, const Tensor *x, bool writes, bool *data)
{
    Reads r = { .p = p, .t = t, .x = x };
    for (int i = 0; i < leaf->stmts.n; i++) {
        r.s = leaf->stmts.at[i];
        if (writes && r.s->eq->lhs == x && r.s->kind != STMT_INIT)
            see_access(&r, x->rank, r.s->subs);
        if (!writes)
            depend_stmt_reads(p->a, r.s, see_read, &r);
    }
    *data = *data || r.data;
    return r.most;
}

static Expr *moved(Plan *p, const TileKernel *t, const Tensor *x, bool writes, bool *data)
{
    Expr *sum = NULL;
    for (int i = 0; i < p->leaves.n; i++) {
        Expr *f = leaf_elements(p, t, p->leaves.at[i], x, writes, data);
        if (f)
            sum = sum ? index_expr(p, OP_ADD, sum, f) : f;
    }
    return sum ? index_expr(p, OP_MUL, number(p, dtype_bytes(x->type)), sum) : NULL;
}

static void print_tensor(Plan *p, const TileKernel *t, const Tensor *x)
{
    bool data = false, param = t->storage[x->id].kind == STORE_PARAM;
    Expr *read = moved(p, t, x, false, &data), *written = moved(p, t, x, true, &data);
    Expr *least = index_expr(p, OP_MUL, number(p, dtype_bytes(x->type)), elements(p, x));
    const char *r = read ? explain_size(p->a, read) : NULL, *w = written ? explain_size(p->a, written) : NULL, *l = explain_size(p->a, least);
    if (!r && !w)
        return;
    fprintf(p->explain, "    `%s`: ", x->name);
    if (r)
        fprintf(p->explain, "reads %s%s bytes%s", data ? "up to " : "", r, w ? ", " : "");
    if (w)
        fprintf(p->explain, "writes %s bytes", w);
    if (!param)
        fprintf(p->explain, "; the least is 0, were it kept in the caches.\n");
    else if ((!r || !w) && strcmp(r ? r : w, l) == 0)
        fprintf(p->explain, ", the least it can.\n");
    else
        fprintf(p->explain, "; the least is %s.\n", l);
}

void explain_traffic(Plan *p, const TileKernel *t)
{
    fprintf(p->explain, "  Memory\n");
    for (int i = 0; i < p->kernel->tensors.n; i++) {
        const Tensor *x = p->kernel->tensors.at[i];
        StorageKind kind = t->storage[i].kind;
        if (x->rank > 0 && (kind == STORE_PARAM || kind == STORE_WORKSPACE))
            print_tensor(p, t, x);
    }
}
