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
    Expr *bytes = block_mul(b, o.dim[d].stride, block_int(b, first));
    o.address.base = block_add(b, o.address.base, bytes);
    for (int k = 0; k < o.nalong; k++)
        o.along[k].start.base = block_add(b, o.along[k].start.base, block_int(b, o.along[k].steps[d] * first));
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

// ---- between a tensor and the chip ------------------------------------------------------------------------------------------

// The other side of such a move: what is held of the tensor.
typedef struct { Tensor *tensor; Buffer *buffer; const Window *window; Expr *const *stride; int level; bool bordered, out; When when; const Equation *eq; } Side;

static void move_plane(Block *b, const Window *w, unsigned filled, void *data)
{
    const Side *s = data;
    Operand there = block_on_chip(b, s->buffer, s->window, s->stride, w, s->level);
    Operand here = block_in_memory(b, s->tensor, w, s->bordered || filled);
    for (int d = 0; d < w->rank; d++)
        if (filled >> d & 1)
            block_fill_plane(b, &here, d);
    if (s->out)
        block_move(b, there, here, s->when, s->eq);
    else
        block_move(b, here, there, s->when, s->eq);
}

// Brings a window of a tensor to where its unit finds it.
void block_fetch(Block *b, Held *h, const Window *wide, int memory, const Equation *eq)
{
    int stop = block_stop(b, 0, memory);
    const Window *first = stop > 0 && wide ? wide : &h->window;
    Expr *stride[MAX_BOX];
    int level = stop > 0 ? block_level(b, first) : h->level;
    Side side = { .tensor = h->tensor, .window = first, .stride = stop > 0 ? stride : h->stride, .level = level, .bordered = h->bordered, .when = block_once(b, level), .eq = eq };
    if (h->guarded)
        block_must_exist(b, h->tensor);
    if (stop > 0) {
        side.buffer = block_buffer(b, block_called(b, h->tensor, stop), stop, h->tensor, first, b->layout[h->tensor->id], stride, level);
        side.buffer->ahead = wish_ahead(b, h->tensor);
        block_each_plane(b, h->tensor, first, &h->reads, move_plane, &side);
    }
    h->buffer = block_buffer(b, block_called(b, h->tensor, memory), memory, h->tensor, &h->window, b->layout[h->tensor->id], h->stride, h->level);
    Operand there = block_on_chip(b, h->buffer, &h->window, h->stride, &h->window, h->level);
    if (stop > 0)
        block_move(b, block_on_chip(b, side.buffer, first, stride, &h->window, level), there, block_once(b, h->level), eq);
    side.buffer = h->buffer;
    if (stop <= 0)
        block_each_plane(b, h->tensor, first, &h->reads, move_plane, &side);
}

// What a statement has written goes to the tensor.
void block_send(Block *b, const Held *h, const Window *w, int level, When when, const Equation *eq)
{
    int memory = h->buffer->memory, stop = block_stop(b, memory, 0);
    Side side = { .tensor = h->tensor, .buffer = h->buffer, .window = &h->window, .stride = h->stride, .level = h->level, .out = true, .when = when, .eq = eq };
    Expr *stride[MAX_BOX];
    if (stop > 0) {
        Buffer *x = block_buffer(b, block_called(b, h->tensor, stop), stop, h->tensor, w, b->layout[h->tensor->id], stride, level);
        x->slots = level ? wish_slots(b, h->tensor, b->out_slots) : 1;
        block_move(b, block_on_chip(b, h->buffer, &h->window, h->stride, w, h->level), block_on_chip(b, x, w, stride, w, level), when, eq);
        side.buffer = x;
        side.window = w;
        side.stride = stride;
        side.level = level;
    }
    block_each_plane(b, h->tensor, w, NULL, move_plane, &side);
}
