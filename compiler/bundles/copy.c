// copy: a statement that only moves elements: in and out again, in another order where subscripts say so.
#include "ir/linear.h"
#include "bundles/block.h"

static Expr *coefficient_stride(Block *b, const Stmt *s, int idx, int rank, Expr *const *subs, const Operand *o)
{
    Expr *sum = NULL;
    for (int d = 0; d < rank; d++) {
        bool linear = true;
        if (linear_coefficient(subs[d], s->index[idx], &linear))
            sum = block_add(b, sum, o->dim[d].stride);
    }
    return sum ? sum : block_int(b, 0);
}

// The operand over the statement's indices in place of the tensor's subscripts.
static Operand over_indices(Block *b, const BlockStmt *s, Tensor *t, Expr *const *subs)
{
    Window w;
    if (!block_window(b, s, t, subs, b->nblock, &w))
        block_refuse(b, "a subscript of `%s` is no sum of indices", t->name);
    Operand whole = block_in_memory(b, t, &w, false), o = { .tensor = t, .address = whole.address, .rank = s->s->n };
    Expr *stride[MAX_BOX];
    for (int d = 0; d < w.rank; d++)
        stride[d] = whole.dim[d].stride;
    block_along(&o, &w, stride);
    for (int i = 0; i < s->s->n; i++) {
        o.dim[i] = (BoxDim){ .at = block_span(b, s, i, b->nblock), .stride = coefficient_stride(b, s->s, i, t->rank, subs, &whole) };
        for (int d = 0; d < t->rank && d < MAX_BOX; d++) {
            bool linear = true;
            o.along[d].steps[i] = linear_coefficient(subs[d], s->s->index[i], &linear) != 0;
        }
    }
    return o;
}

void block_copy(Block *b, BlockStmt *s)
{
    Expr *e = s->s->eq->rhs;
    int memory = block_near(b), stop = block_stop(b, 0, memory);
    int through = stop > 0 ? stop : memory;
    Window box = { .rank = s->s->n };
    for (int i = 0; i < s->s->n; i++)
        box.dim[i] = block_span(b, s, i, b->nblock);
    Expr *stride[MAX_BOX];
    Buffer *x = block_buffer(b, block_called(b, s->s->eq->lhs, through), through, s->s->eq->lhs, &box, NULL, stride, b->nblock);
    Operand there = block_on_chip(b, x, &box, stride, &box, b->nblock);
    block_move(b, over_indices(b, s, e->tensor, e->args), there, block_when(b, s), s->s->eq);
    block_move(b, there, over_indices(b, s, s->s->eq->lhs, s->s->subs), block_when(b, s), s->s->eq);
}
