// capacity: does what a schedule puts into a memory fit it (`tile i = 64 in L1`)?
//
// For each memory that a leaf's tiles name: the bytes of every tensor that one tile touches, whose size is the product of
// what its subscripts run over: the tile of that memory, else the tile around it, else all of the index. Where one of them
// is no number, nothing can be said, and nothing is. Guarantee 6 in its simplest case; placement comes with the accelerator.
// Test: tests/errors/schedules/capacity.pto
#include "passes/capacity.h"

#include <stdlib.h>

typedef struct {
    Plan *p;
    const TileKernel *t;
    const Leaf *leaf;
    int tier;
    const Stmt *s;
    VEC(Tenant) tenants;
    bool unknown;                 // some size is no number
    Range at;                     // where the memory is named
} Capacity;

// What an index runs over in one tile of the memory; 0: no number.
static int64_t points(const Capacity *c, int idx)
{
    const StmtPlan *sp = plan_of(c->p, c->s);
    const StmtWish *w = schedule_stmt(c->p->schedule, c->s);
    for (int k = 0; w && w->tile[idx] && k < w->tile[idx]->n; k++) {
        const TileSize *size = &w->tile[idx]->level[k];
        if (size->tier == c->tier && size->kind == SIZE_FIXED && size->value->op == OP_CONST)
            return size->value->i;
    }
    for (int q = 0; q < sp->nintervals; q++)
        if (sp->interval[q].theta.idx == idx)
            return c->leaf->node->dims[q].tile->op == OP_CONST ? c->leaf->node->dims[q].tile->i + sp->interval[q].before + sp->interval[q].after : 0;
    const Index *index = c->s->index[idx];
    return index->lo->op == OP_CONST && index->hi->op == OP_CONST ? index->hi->i - index->lo->i : 0;
}

static void add_tenant(Capacity *c, const Tensor *x, int64_t bytes)
{
    for (int i = 0; i < c->tenants.n; i++)
        if (c->tenants.at[i].tensor == x) {
            c->tenants.at[i].bytes = bytes > c->tenants.at[i].bytes ? bytes : c->tenants.at[i].bytes;
            return;
        }
    VEC_PUSH(c->p->a, &c->tenants, ((Tenant){ x, x->name, bytes, 1 }));
}

static void see_access(Capacity *c, const Tensor *x, Expr *const *subs)
{
    int64_t bytes = dtype_bytes(x->type);
    if (c->t->storage[x->id].kind == STORE_REGISTER)
        return;
    for (int k = 0; k < c->s->n; k++) {
        bool used = false;
        for (int d = 0; d < x->rank; d++)
            used = used || expr_uses(subs[d], c->s->index[k]);
        if (!used)
            continue;
        int64_t n = points(c, k);
        c->unknown = c->unknown || n <= 0 || bytes > INT64_MAX / (n + 1);
        bytes = c->unknown ? bytes : bytes * n;
    }
    add_tenant(c, x, bytes);
}

static void see_read(void *data, Expr *read, int nconds, Expr *const *conds)
{
    (void)nconds;
    (void)conds;
    see_access(data, read->tensor, read->args);
}

static int by_size(const void *x, const void *y)
{
    int64_t a = ((const Tenant *)x)->bytes, b = ((const Tenant *)y)->bytes;
    return a < b ? 1 : a > b ? -1 : 0;
}

const char *capacity_amount(Arena *a, int64_t bytes)
{
    return bytes % 1024 == 0 ? arena_printf(a, "%lld KiB", (long long)(bytes >> 10)) : arena_printf(a, "%lld B", (long long)bytes);
}

void capacity_note_tenants(Plan *p, Tenant *tenant, int n, int most)
{
    qsort(tenant, (size_t)n, sizeof *tenant, by_size);
    for (int i = 0; i < n && i < most; i++)
        diag_note(p->g->diags, tenant[i].tensor->range, "`%s` takes %s%s", tenant[i].name, capacity_amount(p->a, tenant[i].bytes),
                  tenant[i].slots > 1 ? arena_printf(p->a, ", in %d slots", tenant[i].slots) : "");
}

static void report(Capacity *c, int64_t total)
{
    const Tier *t = &c->p->machine->tier[c->tier];
    diag_report(c->p->g->diags, D_CAPACITY, c->at, "a tile takes %s of %s, which has %s", capacity_amount(c->p->a, total), t->name, capacity_amount(c->p->a, t->bytes));
    capacity_note_tenants(c->p, c->tenants.at, c->tenants.n, 3);
}

static bool names_tier(Capacity *c)
{
    for (int i = 0; i < c->leaf->stmts.n; i++) {
        const StmtWish *w = schedule_stmt(c->p->schedule, c->leaf->stmts.at[i]);
        for (int idx = 0; w && idx < c->leaf->stmts.at[i]->n; idx++)
            for (int k = 0; w->tile[idx] && k < w->tile[idx]->n; k++)
                if (w->tile[idx]->level[k].tier == c->tier) {
                    c->at = w->tile[idx]->level[k].range;
                    return true;
                }
    }
    return false;
}

static void check(Plan *p, const TileKernel *t, const Leaf *leaf, int tier)
{
    Capacity c = { .p = p, .t = t, .leaf = leaf, .tier = tier };
    if (!names_tier(&c))
        return;
    for (int i = 0; i < leaf->stmts.n; i++) {
        c.s = leaf->stmts.at[i];
        see_access(&c, c.s->eq->lhs, c.s->subs);
        depend_stmt_reads(p->a, c.s, see_read, &c);
    }
    int64_t total = 0;
    for (int i = 0; i < c.tenants.n; i++)
        total += c.tenants.at[i].bytes;
    if (!c.unknown && total > p->machine->tier[tier].bytes && !schedule_told(p->schedule, c.at))
        report(&c, total);
}

void capacity_check(Plan *p, const TileKernel *t, const Leaf *leaf)
{
    for (int tier = 0; tier < p->machine->ntiers; tier++)
        check(p, t, leaf, tier);
}
