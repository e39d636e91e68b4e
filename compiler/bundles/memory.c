// memory: buffers on chip and boxes in them; boxes of tensors; addresses.
#include "bundles/block.h"

enum { LINE = 64 };                                     // buffers begin at multiples of it

static Expr *not_negative(Block *b, Expr *x)
{
    return x->op == OP_CONST ? block_int(b, x->i > 0 ? x->i : 0) : block_op2(b, OP_MAX, x, block_int(b, 0));
}

static Expr *whole_lines(Block *b, Expr *bytes)
{
    return block_op2(b, OP_MUL, block_op2(b, OP_DIV, block_add(b, bytes, block_int(b, LINE - 1)), block_int(b, LINE)), block_int(b, LINE));
}

// ---- on chip ----------------------------------------------------------------------------------------------------------------

Buffer *block_buffer(Block *b, const char *name, int memory, Tensor *t, const Window *w, const int *layout, Expr **stride, int level)
{
    Expr *bytes = block_int(b, dtype_bytes(t->type));
    for (int q = w->rank - 1; q >= 0; q--) {
        int d = layout ? layout[q] : q;
        stride[d] = bytes;
        bytes = block_mul(b, bytes, not_negative(b, w->dim[d].size));
    }
    Buffer *x = ARENA_NEW(b->a, Buffer);
    *x = (Buffer){ .id = b->out->buffers.n, .name = name, .memory = memory, .tensor = t, .type = t->type, .bytes = whole_lines(b, bytes), .slots = level ? wish_slots(b, t, b->depth) : 1, .ahead = -1, .range = t->range };
    VEC_PUSH(b->a, &b->out->buffers, x);
    return x;
}

static void begin_operand(Block *b, Operand *o, const Window *w, Expr *const *stride)
{
    (void)b;
    o->rank = w->rank;
    for (int d = 0; d < w->rank; d++)
        o->dim[d] = (BoxDim){ .at = w->dim[d], .stride = stride[d] };
}

Operand block_on_chip(Block *b, Buffer *x, const Window *held, Expr *const *stride, const Window *w, int level)
{
    Operand o = { .buffer = x, .tensor = x->tensor, .digits = level };
    begin_operand(b, &o, w, stride);
    for (int d = 0; d < w->rank; d++) {                 // how far its start is behind that of what is held
        Affine far = w->dim[d].start;
        block_affine_add(b, &far, &held->dim[d].start, -1);
        Affine bytes = { .base = block_mul(b, far.base, stride[d]) };
        for (int v = 0; v < MAX_IVS; v++)
            bytes.step[v] = block_mul(b, far.step[v], stride[d]);
        block_affine_add(b, &o.address, &bytes, 1);
    }
    return o;
}

void block_along(Operand *o, const Window *w, Expr *const *stride)
{
    o->nalong = w->rank;
    for (int d = 0; d < w->rank; d++)
        o->along[d] = (Along){ .start = w->dim[d].start, .stride = stride[d] };
}

// ---- tensors ----------------------------------------------------------------------------------------------------------------

// How many elements a dimension takes where the tensor lies; NULL: one at a time.
static Expr *stored_extent(Block *b, const Tensor *t, int d)
{
    const Storage *st = &b->t->storage[t->id];
    if (st->kind == STORE_PARAM)
        return block_op2(b, OP_SUB, t->hi[d], t->lo[d]);
    switch (st->dim[d].kind) {
    case DIM_FULL: return st->dim[d].extent;
    case DIM_MODULO: return block_int(b, st->dim[d].modulo);
    case DIM_DROP: break;
    }
    return NULL;
}

static void add_offset(Block *b, Operand *o, const Tensor *t, int d, Expr *stride)
{
    const Storage *st = &b->t->storage[t->id];
    Affine from = o->dim[d].at.start;
    if (block_is_folded(b, t, d))
        block_fold(b, &o->dim[d], t, d, &from);
    else
        from.base = block_op2(b, OP_SUB, from.base ? from.base : block_int(b, 0), st->kind == STORE_PARAM ? t->lo[d] : st->dim[d].base);
    Affine bytes = { .base = block_mul(b, from.base, stride) };
    for (int v = 0; v < MAX_IVS; v++)
        bytes.step[v] = block_mul(b, from.step[v], stride);
    block_affine_add(b, &o->address, &bytes, 1);
}

// A border is that of a dimension which begins at 0.
static Span counted_from(Block *b, Span x, Expr *begin)
{
    Expr *zero = block_int(b, 0);
    x.start.base = block_op2(b, OP_SUB, x.start.base ? x.start.base : zero, begin);
    if (x.hi) {
        x.lo = block_op2(b, OP_SUB, x.lo ? x.lo : zero, begin);
        x.hi = block_op2(b, OP_SUB, x.hi, begin);
    }
    return x;
}

// A move fills with one value, whichever dimension it is beyond.
static bool fills_alike(Block *b, const Tensor *t)
{
    Expr *value = NULL, *zero = dtype_is_float(t->type) ? expr_float(b->a, t->type, 0, (Range){ 0, 0 }) : expr_int(b->a, t->type, 0, (Range){ 0, 0 });
    for (int d = 0; d < t->rank; d++) {
        Expr *mine = t->border[d].kind == BORDER_CONST ? t->border[d].value : t->border[d].kind == BORDER_ZERO ? zero : NULL;
        if (mine && value && !expr_equal(mine, value))
            return false;
        value = mine ? mine : value;
    }
    return true;
}

Operand block_in_memory(Block *b, Tensor *t, const Window *w, bool bordered)
{
    if (bordered && !fills_alike(b, t))
        block_refuse(b, "`%s` has borders of several values", t->name);
    Operand o = { .tensor = t, .rank = w->rank };
    Expr *stride = block_int(b, dtype_bytes(t->type));
    for (int d = w->rank - 1; d >= 0; d--) {
        o.dim[d] = (BoxDim){ .at = w->dim[d], .stride = stride };
        if (bordered && t->border[d].kind != BORDER_NONE)
            o.dim[d].border = t->border[d].kind;
        else if (bordered)
            o.dim[d].border = BORDER_ZERO;              // what a condition keeps from being read; a tensor may be empty
        if (bordered)
            o.dim[d].length = block_op2(b, OP_SUB, t->hi[d], t->lo[d]);
        Expr *extent = stored_extent(b, t, d);
        if (extent)
            add_offset(b, &o, t, d, stride);
        else
            o.dim[d].stride = block_int(b, 0);
        if (bordered)
            o.dim[d].at = counted_from(b, o.dim[d].at, t->lo[d]);
        stride = extent ? block_mul(b, stride, extent) : stride;
    }
    return o;
}

// ---- addresses --------------------------------------------------------------------------------------------------------------

static Expr *both(Block *b, Expr *x, Expr *y)
{
    return x ? expr_simplify(b->a, expr_binary(b->a, OP_AND, DT_BOOL, x, y)) : y;
}

static bool is_among(const Expr *all, const Expr *one)
{
    if (all && all->op == OP_AND)
        return is_among(all->args[0], one) || is_among(all->args[1], one);
    return all && expr_equal(all, one);
}

static void must_hold(Block *b, Expr *less, int64_t most)
{
    if (less->op == OP_CONST && less->i <= most)
        return;
    Expr *holds = expr_simplify(b->a, expr_binary(b->a, OP_LE, DT_BOOL, less, block_int(b, most)));
    if (!is_among(b->fits, holds))
        b->fits = both(b, b->fits, holds);
}

void block_must_exist(Block *b, const Tensor *t)
{
    for (int d = 0; d < t->rank; d++)
        if (t->border[d].kind == BORDER_CLAMP || t->border[d].kind == BORDER_REFLECT || t->border[d].kind == BORDER_WRAP)
            must_hold(b, block_op2(b, OP_SUB, t->lo[d], t->hi[d]), -1);
}

// What a task may use of a memory: tasks that are there at the same time divide it (one a core, or as many as the grid says).
int64_t block_share(const Block *b, int memory)
{
    const Memory *m = &b->m->memory[memory];
    int64_t cores = (int64_t)b->m->cores * b->m->clusters, all = b->leaf->node->max_workers > 0 ? b->leaf->node->max_workers : cores;
    int64_t of = m->shared == SHARED_CHIP ? all : m->shared == SHARED_CLUSTER ? (all + b->m->clusters - 1) / b->m->clusters : (all + cores - 1) / cores;
    return m->bytes / of / LINE * LINE;
}

static Expr *box_bytes(Block *b, const Operand *o)
{
    Expr *bytes = block_int(b, dtype_bytes(o->buffer ? o->buffer->type : o->tensor->type));
    for (int d = 0; d < o->rank && bytes; d++)
        bytes = block_mul(b, bytes, not_negative(b, o->dim[d].at.size));
    return bytes ? bytes : block_int(b, 0);
}

// Rows, columns and products of a multiplication: dimensions of one axis multiply.
static Expr *axis_size(Block *b, const Operand *o, BoxAxis axis)
{
    Expr *size = block_int(b, 1);
    for (int d = 0; d < o->rank && size; d++)
        if (o->dim[d].axis == axis)
            size = block_mul(b, size, not_negative(b, o->dim[d].at.size));
    return size ? size : block_int(b, 0);
}

static void keep_in_cube(Block *b, const MoveOp *op)
{
    int64_t most = b->m->unit[op->unit].most;
    for (int axis = AXIS_M; axis <= AXIS_K && most; axis++) {
        Expr *size = axis_size(b, &op->operand[axis == AXIS_K ? 1 : 0], (BoxAxis)axis);
        if (size->op == OP_CONST && size->i > most)
            block_refuse(b, "a block has more rows, columns or products than the cube takes at once");
        else
            must_hold(b, size, most);
    }
}

void block_allocate(Block *b)
{
    BundleProgram *p = b->out;
    for (int m = 0; m < b->m->nmemories; m++)
        p->need[m] = NULL;
    for (int i = 0; i < p->buffers.n; i++) {
        Buffer *x = p->buffers.at[i];
        x->address = p->need[x->memory] ? p->need[x->memory] : block_int(b, 0);
        p->need[x->memory] = block_add(b, x->address, block_mul(b, x->bytes, block_int(b, x->slots)));
    }
    for (int m = 0; m < b->m->nmemories; m++)
        if (p->need[m])
            must_hold(b, p->need[m], block_share(b, m));
    for (int i = 0; i < p->ops.n; i++) {
        const MoveOp *op = p->ops.at[i];
        int64_t most = b->m->unit[op->unit].most;
        if (op->kind == MOVE_COPY && most)
            must_hold(b, box_bytes(b, &op->operand[0]), most);
        if (op->kind == MOVE_MULTIPLY)
            keep_in_cube(b, op);
    }
}
