// planes: windows of tensors that keep a few planes of a dimension, used round and round (DIM_MODULO of ir/tile.h).
//
// Planes that follow each other do not lie one behind the other where the last one is followed by the first: a window
// of several goes plane by plane, and the place of each is computed. What the leaf itself writes goes so, too, where it also
// reads on both sides of that: planes between those that are read may be written by other tasks at the same time. They
// are filled on chip, since operations there are on whole boxes.
// Test: tests/golden/model/planes.pto
#include "bundles/block.h"

bool block_is_folded(const Block *b, const Tensor *t, int d)
{
    const Storage *st = &b->t->storage[t->id];
    return st->kind != STORE_PARAM && st->dim[d].kind == DIM_MODULO;
}

// ---- the place of a plane -----------------------------------------------------------------------------------------------------

// The subscript that stands for x where a border repeats what is in [0, length).
static Expr *repeated(Block *b, BorderKind kind, Expr *x, Expr *length)
{
    Expr *zero = block_int(b, 0), *one = block_int(b, 1), *last = block_op2(b, OP_SUB, length, one);
    if (kind == BORDER_CLAMP)
        return block_op2(b, OP_MIN, block_op2(b, OP_MAX, x, zero), last);
    if (kind == BORDER_WRAP)
        return block_op2(b, OP_MOD, x, block_op2(b, OP_MAX, length, one));
    Expr *around = block_op2(b, OP_MUL, last, block_int(b, 2)), *at = block_op2(b, OP_MOD, x, block_op2(b, OP_MAX, around, one));
    return block_op2(b, OP_MIN, at, block_op2(b, OP_SUB, around, at));
}

static bool repeats(BorderKind kind) { return kind == BORDER_CLAMP || kind == BORDER_REFLECT || kind == BORDER_WRAP; }

// Its size, 1, as far as it is not cut away.
static Expr *size_of_plane(Block *b, const Span *at)
{
    if (!at->hi)
        return at->size;
    Expr *start = at->start.base ? at->start.base : block_int(b, 0), *lo = at->lo ? at->lo : block_int(b, 0);
    Expr *inside = expr_binary(b->a, OP_AND, DT_BOOL, expr_binary(b->a, OP_LE, DT_BOOL, lo, start), expr_binary(b->a, OP_LT, DT_BOOL, start, at->hi));
    Expr *args[3] = { inside, block_int(b, 1), block_int(b, 0) };
    return expr_simplify(b->a, expr_new(b->a, OP_SELECT, DT_INDEX, inside->range, 3, args));
}

static void put_plane(Block *b, BoxDim *x, Expr *start)
{
    Expr *size = size_of_plane(b, &x->at);
    x->at = (Span){ .start.base = start, .size = size };
}

// An upper bound of it; INT64_MAX: none is known.
static int64_t most_of(const Expr *e)
{
    if (e->op != OP_MIN)
        return e->op == OP_CONST ? e->i : INT64_MAX;
    int64_t x = most_of(e->args[0]), y = most_of(e->args[1]);
    return x < y ? x : y;
}

// Planes that lie one behind the other in whatever part of the window: the first of their round, else -1.
static int64_t round_of(const Block *b, const Span *s, const Tensor *t, int d)
{
    int64_t planes = b->t->storage[t->id].dim[d].modulo;
    bool known = s->lo && s->hi && s->lo->op == OP_CONST && s->lo->i >= 0;
    return known && s->lo->i / planes == (most_of(s->hi) - 1) / planes ? s->lo->i / planes * planes : -1;
}

static void refuse(Block *b, const Tensor *t)
{
    block_refuse(b, "a block has several of the planes that are kept of `%s`", t->name);
}

void block_fold(Block *b, BoxDim *x, const Tensor *t, int d, Affine *offset)
{
    int64_t first = round_of(b, &x->at, t, d);
    if (first >= 0 && !repeats(x->border)) {
        offset->base = block_op2(b, OP_SUB, offset->base ? offset->base : block_int(b, 0), block_int(b, first));
        return;
    }
    if (!block_is_fixed(&x->at) || !expr_is_int(x->at.size, 1)) {
        refuse(b, t);
        return;
    }
    if (repeats(x->border)) {
        Expr *from = block_op2(b, OP_SUB, x->at.start.base ? x->at.start.base : block_int(b, 0), t->lo[d]);
        put_plane(b, x, block_op2(b, OP_ADD, repeated(b, x->border, from, x->length), t->lo[d]));
        x->border = BORDER_ZERO;
    }
    Expr *plane = x->at.start.base ? x->at.start.base : block_int(b, 0);
    *offset = (Affine){ .base = block_op2(b, OP_MOD, plane, block_int(b, b->t->storage[t->id].dim[d].modulo)) };
}

void block_fill_plane(Block *b, Operand *o, int d)
{
    put_plane(b, &o->dim[d], block_int(b, -1));
    o->dim[d].border = BORDER_ZERO;
}

// ---- plane by plane -------------------------------------------------------------------------------------------------------------

typedef struct { const Tensor *tensor; const Windows *reads; PlaneMove *move; void *data; } Planes;

static bool is_read(Block *b, const Windows *reads, int d, Expr *plane)
{
    for (int i = 0; reads && i < reads->n; i++) {
        const Span *r = &reads->at[i].dim[d];
        Expr *zero = block_int(b, 0), *far = block_op2(b, OP_SUB, plane ? plane : zero, r->start.base ? r->start.base : zero);
        if (far->op != OP_CONST || r->size->op != OP_CONST || (far->i >= 0 && far->i < r->size->i))
            return true;
    }
    return !reads || reads->n == 0;
}

static Expr *plane_of(Block *b, const Span *s, int64_t k) { return block_add(b, s->start.base, block_int(b, k)); }

static bool has_few(const Span *s) { return s->size->op == OP_CONST && s->size->i <= FEW && block_is_fixed(s); }

// Does the leaf write the tensor, and read planes with others between them?
static bool reads_around(Block *b, const Planes *p, const Span *s, int d)
{
    bool all = true;
    for (int64_t k = 0; has_few(s) && k < s->size->i; k++)
        all = all && is_read(b, p->reads, d, plane_of(b, s, k));
    return !all && block_writes(b, p->tensor);
}

static void each_plane(Block *b, const Planes *p, const Window *w, int d, unsigned filled)
{
    if (d == w->rank) {
        p->move(b, w, filled, p->data);
        return;
    }
    const Span *s = &w->dim[d];
    bool folded = block_is_folded(b, p->tensor, d) && round_of(b, s, p->tensor, d) < 0;
    if (expr_is_int(s->size, 1) || (!folded && !reads_around(b, p, s, d))) {
        each_plane(b, p, w, d + 1, filled);
        return;
    }
    if (!has_few(s)) {
        refuse(b, p->tensor);
        return;
    }
    for (int64_t k = 0; k < s->size->i; k++) {
        Window one = *w;
        one.dim[d].start.base = plane_of(b, s, k);
        one.dim[d].size = block_int(b, 1);
        each_plane(b, p, &one, d + 1, filled | (unsigned)!is_read(b, p->reads, d, one.dim[d].start.base) << d);
    }
}

void block_each_plane(Block *b, const Tensor *t, const Window *w, const Windows *reads, PlaneMove *move, void *data)
{
    Planes p = { t, reads, move, data };
    each_plane(b, &p, w, 0, 0);
}
