// build: the operations of a block, in an order in which they could run one by one.
#include "bundles/block.h"

// ---- the whole ----------------------------------------------------------------------------------------------------------------

static bool is_kept(const Block *b, const Tensor *t)
{
    StorageKind kind = b->t->storage[t->id].kind;
    return kind == STORE_PARAM || kind == STORE_WORKSPACE;
}

// Is it the last of the leaf's statements that write elements of its own?
static bool sends(const Block *b, const BlockStmt *s)
{
    return is_kept(b, s->s->eq->lhs) && s->s->kind != STMT_INIT && s->kind != BLOCK_COPY;
}

static void build_stmt(Block *b, BlockStmt *s)
{
    switch (s->kind) {
    case BLOCK_NEST: block_nest(b, s); break;
    case BLOCK_ALIAS: case BLOCK_INIT: break;
    case BLOCK_MULTIPLY: block_multiply(b, s); break;
    case BLOCK_COPY: block_copy(b, s); break;
    }
}

// The sums of chunks leave when the last one is in them.
static When when_sent(const Block *b, const BlockStmt *s)
{
    return s->s == b->main ? block_at_end(b, b->nblock) : block_when(b, s);
}

// The statements on one part of the block (or on all of it), each with places of its own for what it writes.
static void build_part(Block *b, int memory)
{
    block_forget_written(b);
    block_hold_written(b, memory);
    for (int i = 0; i < b->nstmts && !b->refusal; i++)
        build_stmt(b, &b->stmts[i]);
    for (int i = 0; i < b->nstmts && !b->refusal; i++) {
        BlockStmt *s = &b->stmts[i];
        if (!sends(b, s))
            continue;
        if (!block_is_plain(s->s, s->s->eq->lhs->rank, s->s->subs, false)) {
            // y[2*i], y[i, i], y[i+j]: what lies between would be sent along, and is somebody else's.
            block_refuse(b, "it writes elements of `%s` with others between them", s->s->eq->lhs->name);
            return;
        }
        Window w = block_written(b, s, b->nblock);
        block_send(b, block_find(b, s->s->eq->lhs, false), &w, b->nblock, when_sent(b, s), s->s->eq);
    }
}

void block_build(Block *b)
{
    int memory = block_near(b);
    b->out = ARENA_NEW(b->a, BundleProgram);
    b->held.n = 0;
    b->fits = NULL;
    b->part = -1;
    block_hold_read(b, memory);
    if (b->split < 0) {
        build_part(b, memory);
        return;
    }
    for (b->part = 0; b->part < b->parts && !b->refusal; b->part++)
        build_part(b, memory);
    b->part = -1;
}
