// wish: what a schedule asks of units, memories and buffers, and what is said when it cannot be had.
#include "bundles/block.h"

#include "bundles/choice.h"
#include "passes/capacity.h"
#include "passes/schedule_check.h"

// ---- tensors ------------------------------------------------------------------------------------------------------------------

// What the compiler made of an equation counts as the tensor that the equation defines.
static const Tensor *in_source(const Block *b, const Tensor *t)
{
    const Kernel *k = b->p->kernel;
    int origin = -1;
    for (int i = 0; i < k->equations.n && t->kind == TENSOR_HIDDEN; i++)
        if (k->equations.at[i]->lhs == t)
            origin = k->equations.at[i]->origin;
    for (int i = 0; i < k->equations.n && origin >= 0; i++)
        if (k->equations.at[i]->origin == origin && k->equations.at[i]->lhs->kind != TENSOR_HIDDEN)
            return k->equations.at[i]->lhs;
    return t;
}

static const TensorWish *wish_of(const Block *b, const Tensor *t)
{
    const TensorWish *w = schedule_tensor(b->p->schedule, t);
    return w ? w : schedule_tensor(b->p->schedule, in_source(b, t));
}

int wish_slots(const Block *b, const Tensor *t, int otherwise)
{
    const TensorWish *w = wish_of(b, t);
    int n = w && w->slots ? w->slots : otherwise;
    if (w && w->ahead >= n)
        n = w->ahead + 1;
    return w && b->most_slots && n > b->most_slots ? b->most_slots : n;
}

int wish_ahead(const Block *b, const Tensor *t)
{
    const TensorWish *w = wish_of(b, t);
    int n = w ? w->ahead : -1;
    return b->most_slots && n >= b->most_slots ? b->most_slots - 1 : n;
}

const int *wish_layout(const Block *b, const Tensor *t)
{
    const TensorWish *w = schedule_tensor(b->p->schedule, t);
    return w ? w->layout : NULL;
}

// What one of the leaf's equations reads of it counts first.
int wish_memory(const Block *b, const Tensor *t)
{
    for (int i = 0; i < b->p->schedule->reads.n; i++) {
        const ReadWish *w = &b->p->schedule->reads.at[i];
        if (w->tensor == t && plan_of(b->p, w->stmt)->leaf == b->leaf)
            return w->memory;
    }
    const TensorWish *w = wish_of(b, t);
    return w ? w->memory : -1;
}

UnitKind wish_unit(const Block *b, const Stmt *s, UnitKind otherwise)
{
    const StmtWish *w = schedule_stmt(b->p->schedule, s);
    return w && w->engine >= 0 ? (UnitKind)w->engine : otherwise;
}

// Does a schedule ask for more slots than `most` somewhere in the leaf?
bool wish_exceeds(const Block *b, int most)
{
    for (int i = 0; i < b->p->kernel->tensors.n; i++) {
        const TensorWish *w = schedule_tensor(b->p->schedule, b->p->kernel->tensors.at[i]);
        if (w && (w->slots > most || w->ahead >= most) && block_touches(b, b->p->kernel->tensors.at[i]))
            return true;
    }
    return false;
}

// ---- what cannot be had -------------------------------------------------------------------------------------------------------

static bool told(Block *b, Range at) { return schedule_told(b->p->schedule, at); }

void wish_report_depth(Block *b)
{
    for (int i = 0; i < b->p->kernel->tensors.n; i++) {
        const Tensor *t = b->p->kernel->tensors.at[i];
        const TensorWish *w = schedule_tensor(b->p->schedule, t);
        Range at = w && w->slots > b->most_slots ? w->slots_range : w ? w->ahead_range : (Range){ 0, 0 };
        if (!w || !block_touches(b, t) || !(w->slots > b->most_slots || w->ahead >= b->most_slots) || told(b, at))
            continue;
        diag_report(b->p->g->diags, D_SLOTS, at, "`%s` gets %d %s: more do not fit", t->name, b->most_slots, b->most_slots == 1 ? "slot" : "slots");
    }
}

// The memory that overflows, with those that lie there.
static bool report_tenants(Block *b, Range at, int memory)
{
    bool known = true;
    int64_t total = cost_value(b, b->out->need[memory], &known), most = block_share(b, memory);
    if (!known || total <= most)
        return false;
    Tenant *tenant = ARENA_ARRAY(b->a, Tenant, b->out->buffers.n + 1);
    int n = 0;
    for (int i = 0; i < b->out->buffers.n; i++) {
        const Buffer *x = b->out->buffers.at[i];
        if (x->memory == memory)
            tenant[n++] = (Tenant){ x->tensor, in_source(b, x->tensor)->name, cost_value(b, x->bytes, &known) * x->slots, x->slots };
    }
    diag_report(b->p->g->diags, D_CAPACITY, at, "a task takes %s of %s, of which it has %s", capacity_amount(b->a, total), b->m->memory[memory].name, capacity_amount(b->a, most));
    capacity_note_tenants(b->p, tenant, n, 4);
    return true;
}

// (A size that names no memory is one of tasks, too, and of those that the scalar unit does.)
static bool asked_size(Block *b, Range *at)
{
    for (int i = 0; i < b->nstmts; i++) {
        const StmtWish *w = schedule_stmt(b->p->schedule, b->stmts[i].s);
        for (int k = 0; w && k < b->stmts[i].s->n; k++)
            for (int l = 0; w->tile[k] && l < w->tile[k]->n; l++)
                if (w->tile[k]->level[l].kind != SIZE_AUTO && w->tile[k]->level[l].tier >= 0) {
                    *at = w->tile[k]->level[l].range;
                    return true;
                }
    }
    return false;
}

static bool asked_memory(Block *b, Range *at)
{
    for (int i = 0; i < b->p->kernel->tensors.n; i++) {
        const Tensor *t = b->p->kernel->tensors.at[i];
        const TensorWish *w = schedule_tensor(b->p->schedule, t);
        if (w && w->memory > 0 && block_touches(b, t)) {
            *at = w->memory_range;
            return true;
        }
    }
    return false;
}

// Nothing fits what a schedule asks for: b holds the smallest program that was tried.
bool wish_report_capacity(Block *b)
{
    Range at;
    if ((!asked_memory(b, &at) && !asked_size(b, &at)) || told(b, at))
        return false;
    for (int m = 1; m < b->m->nmemories; m++)
        if (b->out->need[m] && report_tenants(b, at, m))
            return true;
    return false;
}

// A size that is to be that of tiles in a memory.
static const TileSize *named_tier(const StmtWish *w, int n)
{
    for (int k = 0; k < n; k++)
        for (int l = 0; w->tile[k] && l < w->tile[k]->n; l++)
            if (w->tile[k]->level[l].tier >= 0)
                return &w->tile[k]->level[l];
    return NULL;
}

// The leaf runs on the scalar unit, and a schedule asks for something else.
void wish_report_refusal(Block *b, const char *why)
{
    for (int i = 0; i < b->leaf->stmts.n; i++) {
        const StmtWish *w = schedule_stmt(b->p->schedule, b->leaf->stmts.at[i]);
        if (w && w->engine >= 0 && w->engine != UNIT_SCALAR && !told(b, w->engine_range))
            diag_report(b->p->g->diags, D_TARGET, w->engine_range, "%s cannot run on the %s unit: %s", stmt_text(b->a, b->p->g, b->leaf->stmts.at[i]),
                        machine_unit_names()[w->engine], why);
        const TileSize *size = w ? named_tier(w, b->leaf->stmts.at[i]->n) : NULL;
        if (size && !told(b, size->range))
            diag_report(b->p->g->diags, D_CAPACITY, size->range, "the tiles of %s cannot be had: %s", stmt_text(b->a, b->p->g, b->leaf->stmts.at[i]), why);
        if (w && w->vector >= 0 && !told(b, w->vector_range))
            diag_report(b->p->g->diags, D_TARGET, w->vector_range, "%s cannot run in vectors: %s", stmt_text(b->a, b->p->g, b->leaf->stmts.at[i]), why);
    }
    for (int i = 0; i < b->p->kernel->tensors.n; i++) {
        const Tensor *t = b->p->kernel->tensors.at[i];
        const TensorWish *w = schedule_tensor(b->p->schedule, t);
        Range at = !w ? (Range){ 0, 0 } : w->memory > 0 ? w->memory_range : w->slots ? w->slots_range : w->ahead_range;
        if (w && (w->memory > 0 || w->slots || w->ahead >= 0) && block_touches(b, t) && !told(b, at))
            diag_report(b->p->g->diags, D_TARGET, at, "`%s` is not brought near a unit: its equations run on the scalar unit, since %s", t->name, why);
    }
}
