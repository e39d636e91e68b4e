// multiply: a sum of products as blocks of the cube.
//
// An index of the left side that moves one factor alone is one of its rows or columns (m, n), a reduced index that moves both is what is
// summed over (k). Factors are brought chunk by chunk; the sums stay where the cube keeps them until the last chunk.
#include "ir/linear.h"
#include "bundles/block.h"

typedef struct { Expr *read[2]; const CubeShape *shape; BoxAxis axis[MAX_INDICES]; bool in[2][MAX_INDICES]; } Product;

static Expr *factor(Expr *e)
{
    if (e->op == OP_CONVERT)
        e = e->args[0];
    return e->op == OP_READ && e->tensor->rank > 0 ? e : NULL;
}

static const CubeShape *shape_for(const Machine *m, DType inputs, DType sums)
{
    const MachineUnit *u = &m->unit[UNIT_CUBE];
    for (int i = 0; u->present && i < u->nshapes; i++)
        if (u->shape[i].inputs == inputs && u->shape[i].accumulates == sums)
            return &u->shape[i];
    return NULL;
}

static bool moves(const Stmt *s, const Expr *read, int idx)
{
    for (int d = 0; d < read->n; d++)
        if (expr_uses(read->args[d], s->index[idx]))
            return true;
    return false;
}

// How many values a block has of an index that goes one at a time; 0: that is not known.
static int64_t values_inside(const BlockStmt *s, int idx)
{
    const BlockIndex *x = &s->index[idx];
    if (x->from != FROM_ALL)
        return 1;
    return x->lo->op == OP_CONST && x->hi->op == OP_CONST && x->hi->i > x->lo->i ? x->hi->i - x->lo->i : 0;
}

static bool find_product(Block *b, const BlockStmt *s, Product *p)
{
    const Stmt *x = s->s;
    const Expr *e = x->eq->rhs;
    int64_t batches = 1;
    if (x->kind != STMT_UPDATE || x->eq->nest->op != RED_SUM || e->op != OP_MUL || x->conds.n)
        return false;
    for (int q = 0; q < 2; q++) {
        p->read[q] = factor(e->args[q]);
        if (!p->read[q])
            return false;
    }
    p->shape = p->read[0]->type == p->read[1]->type ? shape_for(b->m, p->read[0]->type, x->eq->lhs->type) : NULL;
    for (int i = 0; p->shape && i < x->n; i++) {
        bool left = p->in[0][i] = moves(x, p->read[0], i), right = p->in[1][i] = moves(x, p->read[1], i);
        if (i >= x->nouter ? left != right : !left && !right)
            return false;
        if (i >= x->nouter && !left)
            return false;
        p->axis[i] = i >= x->nouter ? AXIS_K : left ? AXIS_M : AXIS_N;
        if (i < x->nouter && left && right) {           // a batch: one at a time
            p->axis[i] = AXIS_M;
            batches *= values_inside(s, i);
        }
    }
    return p->shape != NULL && batches > 0 && batches <= FEW;
}

bool block_can_multiply(Block *b, const BlockStmt *s)
{
    Product p = { 0 };
    return find_product(b, s, &p);
}

BoxAxis block_role(Block *b, const BlockStmt *s, int idx)
{
    Product p = { 0 };
    find_product(b, s, &p);
    return p.in[0][idx] && p.in[1][idx] && p.axis[idx] != AXIS_K ? AXIS_NONE : p.axis[idx];
}

// Is it one value in every iteration, so that it needs no dimension of its own?
static bool is_single(const Block *b, const BlockStmt *s, int i)
{
    const BlockIndex *x = &s->index[i];
    if (x->from != FROM_CHUNK)
        return false;
    const BlockChunk *c = &b->chunk[x->which];
    return c->digit >= 0 && expr_is_int(c->size, 1) && x->lo->op == OP_CONST && x->hi->op == OP_CONST && x->hi->i > x->lo->i;
}

static void add_dim(Block *b, Operand *o, const BlockStmt *s, int idx, BoxAxis axis, int rank, Expr *const *subs, Expr *const *stride)
{
    Expr *sum = NULL;
    for (int d = 0; d < rank; d++) {
        bool linear = true;
        int64_t c = linear_coefficient(subs[d], s->s->index[idx], &linear);
        sum = c ? block_add(b, sum, block_mul(b, stride[d], block_int(b, c))) : sum;
    }
    if (o->rank == MAX_BOX) {
        block_refuse(b, "a factor has more than %d indices", MAX_BOX);
        return;
    }
    for (int d = 0; d < rank && d < MAX_BOX; d++) {
        bool linear = true;
        o->along[d].steps[o->rank] = (int)linear_coefficient(subs[d], s->s->index[idx], &linear);
    }
    o->dim[o->rank++] = (BoxDim){ .at = block_span(b, s, idx, b->ndigits), .stride = sum ? sum : block_int(b, 0), .axis = axis };
}

// An operand of the cube: a dimension for each index, m or n before k or the other way round is all the same.
static Operand operand(Block *b, const BlockStmt *s, const Product *p, const Held *h, Expr *const *subs, const bool *in)
{
    Window w;
    if (!block_window(b, s, h->tensor, subs, b->ndigits, &w))
        block_refuse(b, "a subscript of `%s` is no sum of indices", h->tensor->name);
    Operand o = block_on_chip(b, h->buffer, &h->window, h->stride, &w, h->level);
    block_along(&o, &w, h->stride);
    o.rank = 0;
    for (int i = 0; i < s->s->n && !b->refusal; i++)
        if (in[i] && !is_single(b, s, i))
            add_dim(b, &o, s, i, p->axis[i], h->tensor->rank, subs, h->stride);
    return o;
}

// The digits before those of small chunks, which come last.
static int level_before_small(const Block *b)
{
    int level = b->ndigits;
    for (int i = b->nchunks - 1; i >= 0 && b->chunk[i].digit == level - 1; i--)
        if (expr_is_int(b->chunk[i].size, 1))
            level--;
    return level;
}

static int level_on_the_way(const Block *b, int wide) { return wide == 0 ? b->ndigits : wide == 1 ? level_before_small(b) : 0; }

static Held *bring(Block *b, const BlockStmt *s, Expr *read, int memory, int level)
{
    int asked = wish_memory(b, read->tensor), inner = asked == memory ? 0 : b->ndigits;
    level = asked > 0 ? 0 : asked == 0 ? b->ndigits : level;      // (what is to stay in the tensors' memory comes as it is used)
    if (block_is_internal(b, read)) {
        Held *h = block_find(b, read->tensor, false);
        if (h->buffer->memory != memory)
            block_refuse(b, "`%s` is computed where the cube cannot read it", read->tensor->name);
        return h;
    }
    Window w, wide;
    if (!block_window(b, s, read->tensor, read->args, inner, &w) || !block_window(b, s, read->tensor, read->args, level, &wide)) {
        block_refuse(b, "a subscript of `%s` is no sum of indices", read->tensor->name);
        return NULL;
    }
    Held *h = ARENA_NEW(b->a, Held);
    *h = (Held){ .tensor = read->tensor, .external = true, .bordered = read->outside != 0, .window = w, .level = block_level(b, &w) };
    block_fetch(b, h, level < b->ndigits ? &wide : NULL, memory, s->s->eq);
    return h;
}

static bool is_split(const Block *b, const BlockStmt *s, const bool *in)
{
    for (int i = 0; i < s->s->n; i++)
        if (in[i] && s->index[i].from == FROM_AXIS && s->index[i].which == b->split)
            return true;
    return false;
}

// A factor that the parts share comes once, the other one part by part, so that the first can begin early.
static bool bring_factors(Block *b, const BlockStmt *s, const Product *p)
{
    const MachineUnit *u = &b->m->unit[UNIT_CUBE];
    int memory[2] = { u->memory_a, u->memory_b }, part = b->part;
    for (int q = 0; q < 2 && !b->refusal; q++) {
        bool shared = !is_split(b, s, p->in[q]);
        if (shared && part > 0)
            continue;
        b->part = shared ? -1 : part;
        b->factor[q] = bring(b, s, p->read[q], memory[q], level_on_the_way(b, b->wide[q]));
    }
    b->part = part;
    return !b->refusal;
}

// The sums go to the memory of the units that work on them next, where that is another one.
static void hand_over(Block *b, const BlockStmt *s)
{
    const MachineUnit *v = &b->m->unit[UNIT_VECTOR];
    Held *h = block_find(b, s->s->eq->lhs, false);
    if (!v->present || h->buffer->memory == v->memory)
        return;
    Expr *stride[MAX_BOX];
    Buffer *x = block_buffer(b, block_called(b, h->tensor, v->memory), v->memory, h->tensor, &h->window, b->layout[h->tensor->id], stride, h->level);
    x->slots = h->level ? wish_slots(b, h->tensor, b->out_slots) : 1;
    Window w = block_written(b, s, b->nblock);
    block_move(b, block_on_chip(b, h->buffer, &h->window, h->stride, &w, h->level), block_on_chip(b, x, &h->window, stride, &w, h->level), block_at_end(b, b->nblock), s->s->eq);
    block_renew(b, h, x, stride);
}

static void multiply_one(Block *b, const BlockStmt *s, const Product *p)
{
    MoveOp *op = block_op(b, UNIT_CUBE, MOVE_MULTIPLY, 3, s->s->eq);
    bool all[MAX_INDICES], second[MAX_INDICES];
    for (int i = 0; i < s->s->n; i++) {
        all[i] = p->axis[i] != AXIS_K;
        second[i] = p->in[1][i] && p->axis[i] != AXIS_M;
    }
    op->noperands = 3;
    op->operand[0] = operand(b, s, p, block_find(b, s->s->eq->lhs, false), s->s->subs, all);
    op->operand[1] = operand(b, s, p, b->factor[0], p->read[0]->args, p->in[0]);
    op->operand[2] = operand(b, s, p, b->factor[1], p->read[1]->args, second);
    op->init = block_once(b, b->nblock);
}

// Batches that a block has several of, from index i on: a multiplication each.
static void multiply_batches(Block *b, BlockStmt *s, const Product *p, int i)
{
    while (i < s->s->nouter && !(p->in[0][i] && p->in[1][i] && values_inside(s, i) > 1))
        i++;
    if (i == s->s->nouter) {
        multiply_one(b, s, p);
        return;
    }
    BlockIndex all = s->index[i];
    for (int64_t v = all.lo->i; v < all.hi->i; v++) {
        s->index[i] = (BlockIndex){ .from = FROM_OUTER, .value = block_int(b, v), .lo = all.lo, .hi = all.hi };
        multiply_batches(b, s, p, i + 1);
    }
    s->index[i] = all;
}

void block_multiply(Block *b, BlockStmt *s)
{
    Product p = { 0 };
    find_product(b, s, &p);
    if (!bring_factors(b, s, &p))
        return;
    multiply_batches(b, s, &p, 0);
    hand_over(b, s);
}
