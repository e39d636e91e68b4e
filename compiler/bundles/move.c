// move: moves between memories: in, with one stop on the way where there is no path, and out.
#include "bundles/block.h"

enum { MOST_PIECES = 16 };

MoveOp *block_op(Block *b, int unit, MoveKind kind, int most, const Equation *eq)
{
    MoveOp *op = ARENA_NEW(b->a, MoveOp);
    *op = (MoveOp){ .id = b->out->ops.n, .unit = unit, .kind = kind, .signal = { -1, -1 }, .eq = eq, .operand = ARENA_ARRAY(b->a, Operand, most) };
    VEC_PUSH(b->a, &b->out->ops, op);
    return op;
}

const char *block_called(Block *b, const Tensor *t, int memory)
{
    return arena_printf(b->a, "%s_%s", t->name, b->m->memory[memory].name);
}

// ---- moves ------------------------------------------------------------------------------------------------------------------

static int mover(Block *b, int from, int to)
{
    const Path *path = &b->m->path[machine_path(b->m, from, to)];
    return (int)(path->from == from ? path->by : path->by_back);
}

int block_near(const Block *b)
{
    const MachineUnit *vector = &b->m->unit[UNIT_VECTOR];
    return vector->present ? vector->memory : b->m->unit[UNIT_SCALAR].memory;
}

// The memory between two, 0: there is a path; -1: no way with one stop.
int block_stop(Block *b, int from, int to)
{
    if (machine_path(b->m, from, to) >= 0)
        return 0;
    for (int m = 1; m < b->m->nmemories; m++)
        if (!b->m->memory[m].backing && machine_path(b->m, from, m) >= 0 && machine_path(b->m, m, to) >= 0)
            return m;
    return -1;
}

// Where on the digits something at `level` happens once: before the others.
static unsigned digits_from(const Block *b, int level) { return ((1u << b->ndigits) - 1) & ~((1u << level) - 1); }
When block_once(const Block *b, int level) { return (When){ .first = digits_from(b, level) }; }
When block_at_end(const Block *b, int level) { return (When){ .last = digits_from(b, level) }; }

static void move_box(Block *b, Operand from, Operand to, When when, const Equation *eq)
{
    int source = from.buffer ? from.buffer->memory : 0, target = to.buffer ? to.buffer->memory : 0;
    MoveOp *op = block_op(b, mover(b, source, target), MOVE_COPY, 2, eq);
    op->noperands = 2;
    op->operand[0] = to;
    op->operand[1] = from;
    op->when = when;
}

// Rows [first, first + n) of a dimension of a box.
static Operand slice(Block *b, Operand o, int d, int64_t first, int64_t n)
{
    o.dim[d].at.start.base = block_add(b, o.dim[d].at.start.base, block_int(b, first));
    o.dim[d].at.size = block_int(b, n);
    o.address.base = block_add(b, o.address.base, block_mul(b, o.dim[d].stride, block_int(b, first)));
    return o;
}

// What is more than a unit moves at once goes in pieces, as far as sizes are known.
void block_move(Block *b, Operand from, Operand to, When when, const Equation *eq)
{
    int source = from.buffer ? from.buffer->memory : 0, target = to.buffer ? to.buffer->memory : 0, widest = -1;
    int64_t bytes = dtype_bytes(to.buffer ? to.buffer->type : to.tensor->type), most = b->m->unit[mover(b, source, target)].most;
    for (int d = to.rank - 1; d >= 0; d--) {
        const Expr *n = to.dim[d].at.size;
        if (n->op != OP_CONST) {
            move_box(b, from, to, when, eq);
            return;
        }
        bytes *= n->i;
        widest = n->i > 1 ? d : widest;
    }
    int64_t rows = widest >= 0 ? to.dim[widest].at.size->i : 1, each = most > 0 && bytes > most ? most / (bytes / rows) : rows;
    if (each >= rows || each < 1 || rows / each >= MOST_PIECES) {
        move_box(b, from, to, when, eq);
        return;
    }
    for (int64_t first = 0; first < rows; first += each) {
        int64_t n = rows - first < each ? rows - first : each;
        move_box(b, slice(b, from, widest, first, n), slice(b, to, widest, first, n), when, eq);
    }
}

// Brings a window of a tensor to where its unit finds it.
void block_fetch(Block *b, Held *h, const Window *wide, int memory, const Equation *eq)
{
    int stop = block_stop(b, 0, memory);
    const Window *first = stop > 0 && wide ? wide : &h->window;
    if (h->guarded)
        block_must_exist(b, h->tensor);
    Operand from = block_in_memory(b, h->tensor, first, h->bordered);
    if (stop > 0) {
        Expr *stride[MAX_BOX];
        int level = block_level(b, first);
        Buffer *x = block_buffer(b, block_called(b, h->tensor, stop), stop, h->tensor, first, b->layout[h->tensor->id], stride, level);
        x->ahead = wish_ahead(b, h->tensor);
        block_move(b, from, block_on_chip(b, x, first, stride, first, level), block_once(b, level), eq);
        from = block_on_chip(b, x, first, stride, &h->window, level);
    }
    h->buffer = block_buffer(b, block_called(b, h->tensor, memory), memory, h->tensor, &h->window, b->layout[h->tensor->id], h->stride, h->level);
    block_move(b, from, block_on_chip(b, h->buffer, &h->window, h->stride, &h->window, h->level), block_once(b, h->level), eq);
}

// What a statement has written goes to the tensor.
void block_send(Block *b, const Held *h, const Window *w, int level, When when, const Equation *eq)
{
    int memory = h->buffer->memory, stop = block_stop(b, memory, 0);
    Operand from = block_on_chip(b, h->buffer, &h->window, h->stride, w, h->level);
    if (stop > 0) {
        Expr *stride[MAX_BOX];
        Buffer *x = block_buffer(b, block_called(b, h->tensor, stop), stop, h->tensor, w, b->layout[h->tensor->id], stride, level);
        x->slots = level ? wish_slots(b, h->tensor, b->out_slots) : 1;
        Operand there = block_on_chip(b, x, w, stride, w, level);
        block_move(b, from, there, when, eq);
        from = there;
    }
    block_move(b, from, block_in_memory(b, h->tensor, w, false), when, eq);
}
