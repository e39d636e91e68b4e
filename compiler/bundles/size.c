// size: how large blocks, chunks and tasks are.
#include "bundles/block.h"

#include "bundles/schedule.h"

static Expr *index_expr(Block *b, Op op, Expr *x, Expr *y)
{
    return expr_simplify(b->a, expr_binary(b->a, op, DT_INDEX, x, y));
}

static Expr *tiles(Block *b, Expr *extent, Expr *size)
{
    return index_expr(b, OP_DIV, block_add(b, extent, index_expr(b, OP_SUB, size, block_int(b, 1))), size);
}

static void set_digits(Block *b)
{
    BundleLoop l = { .iv = FIRST_DIGIT };
    for (int q = 0; q < b->naxes; q++) {
        BlockAxis *x = &b->axis[q];
        x->digit = l.ndigits;
        l.digit[l.ndigits] = x->name;
        l.count[l.ndigits++] = tiles(b, x->task, x->block);
    }
    b->nblock = l.ndigits;
    for (int i = 0; i < b->nchunks; i++) {
        BlockChunk *c = &b->chunk[i];
        const BlockIndex *x = NULL;
        for (int k = 0; k < b->nstmts; k++)
            if (b->stmts[k].s == b->main)
                x = &b->stmts[k].index[c->idx];
        c->digit = l.ndigits;
        l.digit[l.ndigits] = c->name;
        l.count[l.ndigits++] = index_expr(b, OP_MAX, tiles(b, index_expr(b, OP_SUB, x->hi, x->lo), c->size), block_int(b, 1));
    }
    b->ndigits = l.ndigits;
    b->loop = l;
}

void block_sizes(Block *b)
{
    for (int q = 0; q < b->naxes; q++) {
        b->axis[q].block = block_int(b, q == b->naxes - 1 ? 64 : 4);
        b->axis[q].task = block_int(b, q == b->naxes - 1 ? 128 : 16);
    }
    for (int i = 0; i < b->nchunks; i++)
        b->chunk[i].size = block_int(b, 16);
    set_digits(b);
    block_build(b);
    if (b->refusal)
        return;
    if (b->ndigits)
        VEC_PUSH(b->a, &b->out->loops, b->loop);
    const char *problem = bundle_schedule(b->a, b->out);
    if (problem) {
        block_refuse(b, "%s", problem);
        return;
    }
    block_allocate(b);
}
