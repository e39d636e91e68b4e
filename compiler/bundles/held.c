// held: what a block holds of every tensor: windows that are brought, and what its own statements write.
#include "bundles/block.h"

// ---- what is held -----------------------------------------------------------------------------------------------------------

Held *block_hold(Block *b, Tensor *t, const Window *w)
{
    Held *h = ARENA_NEW(b->a, Held);
    *h = (Held){ .tensor = t, .window = *w };
    VEC_PUSH(b->a, &b->held, h);
    return h;
}

Held *block_find(Block *b, const Tensor *t, bool external)
{
    for (int i = 0; i < b->held.n; i++)
        if (b->held.at[i]->tensor == t && b->held.at[i]->external == external)
            return b->held.at[i];
    return NULL;
}

bool block_is_internal(const Block *b, const Expr *read)
{
    for (int i = 0; i < b->leaf->deps.n; i++)
        if (b->leaf->deps.at[i]->read == read)
            return true;
    return false;
}

int block_stmt_level(const Block *b, const BlockStmt *s)
{
    return s->s == b->main ? b->ndigits : b->nblock;
}

typedef struct { Block *b; BlockStmt *s; } Reader;

static bool has_border(const Tensor *t)
{
    for (int d = 0; d < t->rank; d++)
        if (t->border[d].kind != BORDER_NONE)
            return true;
    return false;
}

static void note_window(Block *b, Tensor *t, const Window *w, const Window *all, bool bordered, bool guarded)
{
    Held *h = block_find(b, t, true);
    if (!h) {
        h = block_hold(b, t, w);
        h->external = true;
        h->bordered = bordered;
        h->guarded = guarded;
        h->all = *all;
        VEC_PUSH(b->a, &h->reads, *w);
        return;
    }
    VEC_PUSH(b->a, &h->reads, *w);
    h->bordered = h->bordered || bordered;
    h->guarded = h->guarded || guarded;
    block_union(b, t, &h->window, w);
    block_union(b, t, &h->all, all);
}

static void see_external(void *data, Expr *read, int nconds, Expr *const *conds)
{
    Reader *r = data;
    (void)conds;
    if (r->b->refusal || block_is_internal(r->b, read) || (read->tensor->rank == 0 && read->tensor->kind == TENSOR_INPUT))
        return;
    Window w, all;
    if (!block_window(r->b, r->s, read->tensor, read->args, block_stmt_level(r->b, r->s), &w) || !block_window(r->b, r->s, read->tensor, read->args, 0, &all)) {
        block_refuse(r->b, "a subscript of `%s` is no sum of indices", read->tensor->name);
        return;
    }
    note_window(r->b, read->tensor, &w, &all, has_border(read->tensor) || nconds > 0, nconds > 0);
}

When block_when(const Block *b, const BlockStmt *s)
{
    if (s->s == b->main)
        return (When){ 0 };
    for (int i = 0; &b->stmts[i] != s; i++)
        if (b->stmts[i].s == b->main)
            return block_at_end(b, b->nblock);
    return block_once(b, b->nblock);
}

Window block_written(Block *b, const BlockStmt *s, int level)
{
    Window w;
    if (!block_window(b, s, s->s->eq->lhs, s->s->subs, level, &w))
        block_refuse(b, "a left subscript is no sum of indices");
    return w;
}

void block_renew(Block *b, const Held *old, Buffer *x, Expr *const *stride)
{
    const Buffer *was = old->buffer;
    for (int i = 0; i < b->held.n; i++) {
        Held *h = b->held.at[i];
        for (int d = 0; h->buffer == was && d < h->window.rank; d++)
            h->stride[d] = stride[d];
        h->buffer = h->buffer == was ? x : h->buffer;
    }
}

void block_forget_written(Block *b)
{
    int n = 0;
    for (int i = 0; i < b->held.n; i++)
        if (b->held.at[i]->external)
            b->held.at[n++] = b->held.at[i];
    b->held.n = n;
}

static void note_written(Block *b, BlockStmt *s)
{
    Tensor *t = s->s->eq->lhs;
    Window w = block_written(b, s, b->nblock);
    Held *h = block_find(b, t, false);
    if (h)
        block_union(b, t, &h->window, &w);
    else
        block_hold(b, t, &w);
}

static void give_place(Block *b, BlockStmt *s, int memory)
{
    Held *h = block_find(b, s->s->eq->lhs, false);
    if (h->buffer)
        return;
    h->level = block_level(b, &h->window);
    if (s->kind == BLOCK_ALIAS) {
        const Held *other = block_find(b, s->s->eq->rhs->tensor, false);
        h->buffer = other->buffer;
        for (int d = 0; d < h->window.rank; d++)
            h->stride[d] = other->stride[d];
        return;
    }
    if (s->kind == BLOCK_MULTIPLY || s->kind == BLOCK_INIT)
        memory = b->m->unit[UNIT_CUBE].memory_c;
    h->buffer = block_buffer(b, block_called(b, h->tensor, memory), memory, h->tensor, &h->window, b->layout[h->tensor->id], h->stride, h->level);
    if (s->kind == BLOCK_MULTIPLY || s->kind == BLOCK_INIT)
        h->buffer->slots = h->level ? wish_slots(b, h->tensor, b->sums) : 1;
}

// All that the leaf itself writes: one place for each tensor, that holds what all its statements write in a block.
void block_hold_written(Block *b, int memory)
{
    for (int i = 0; i < b->nstmts && !b->refusal; i++) {
        BlockStmt *s = &b->stmts[i];
        if (s->kind == BLOCK_NEST && block_is_alias(b, s))
            s->kind = BLOCK_ALIAS;
        if (s->kind != BLOCK_COPY)
            note_written(b, s);
    }
    for (int i = 0; i < b->nstmts && !b->refusal; i++)
        if (b->stmts[i].kind != BLOCK_COPY)
            give_place(b, &b->stmts[i], memory);
}

// What comes from elsewhere, to the memory of the units that read it.
void block_hold_read(Block *b, int memory)
{
    for (int i = 0; i < b->nstmts; i++) {
        Reader r = { b, &b->stmts[i] };
        if (b->stmts[i].kind == BLOCK_NEST || b->stmts[i].kind == BLOCK_ALIAS)
            depend_stmt_reads(b->a, b->stmts[i].s, see_external, &r);
    }
    for (int i = 0; i < b->held.n && !b->refusal; i++) {
        Held *h = b->held.at[i];
        int asked = wish_memory(b, h->tensor);
        if (asked == memory)
            h->window = h->all;
        h->level = block_level(b, &h->window);
        block_fetch(b, h, asked > 0 ? &h->all : NULL, memory, b->stmts[0].s->eq);
    }
}

static bool reads(Expr *e, void *data)
{
    const Tensor **t = data;
    if (e->op == OP_READ && e->tensor == *t)
        *t = NULL;
    return *t != NULL;
}

bool block_touches(const Block *b, const Tensor *t)
{
    for (int i = 0; i < b->leaf->stmts.n; i++) {
        const Stmt *s = b->leaf->stmts.at[i];
        const Tensor *wanted = t;
        if (s->eq->lhs == t)
            return true;
        expr_walk(s->eq->rhs, reads, &wanted);
        if (!wanted)
            return true;
    }
    return false;
}
