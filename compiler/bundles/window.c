// window: boxes of indices and subscripts, as affine functions of the task's coordinates and digits.
#include "ir/linear.h"
#include "bundles/block.h"

// ---- arithmetic -----------------------------------------------------------------------------------------------------------

Expr *block_op2(Block *b, Op op, Expr *x, Expr *y)
{
    if (op == OP_SUB && expr_equal(x, y))
        return block_int(b, 0);
    return expr_simplify(b->a, expr_binary(b->a, op, DT_INDEX, x, y));
}

Expr *block_int(Block *b, int64_t v) { return expr_int(b->a, DT_INDEX, v, (Range){ 0, 0 }); }

static bool is_number(const Expr *x) { return x->op == OP_CONST; }

Expr *block_add(Block *b, Expr *x, Expr *y)
{
    if (!x || !y)
        return x ? x : y;
    if (is_number(x) && is_number(y))
        return block_int(b, x->i + y->i);
    return expr_is_int(x, 0) ? y : expr_is_int(y, 0) ? x : block_op2(b, OP_ADD, x, y);
}

Expr *block_mul(Block *b, Expr *x, Expr *y)
{
    if (!x || !y || expr_is_int(x, 0) || expr_is_int(y, 0))
        return NULL;
    if (is_number(x) && is_number(y))
        return block_int(b, x->i * y->i);
    return expr_is_int(x, 1) ? y : expr_is_int(y, 1) ? x : block_op2(b, OP_MUL, x, y);
}

static Expr *scaled(Block *b, Expr *x, int64_t factor) { return block_mul(b, x, block_int(b, factor)); }
static Expr *plus(Block *b, Expr *x, int64_t c) { return block_add(b, x, block_int(b, c)); }
static Expr *minus(Block *b, Expr *x, Expr *y) { return block_op2(b, OP_SUB, x ? x : block_int(b, 0), y ? y : block_int(b, 0)); }

void block_affine_add(Block *b, Affine *to, const Affine *x, int64_t factor)
{
    to->base = block_add(b, to->base, scaled(b, x->base, factor));
    for (int v = 0; v < MAX_IVS; v++)
        to->step[v] = block_add(b, to->step[v], scaled(b, x->step[v], factor));
}

// ---- indices --------------------------------------------------------------------------------------------------------------

static Span axis_span(Block *b, const BlockIndex *x, int level)
{
    const BlockAxis *axis = &b->axis[x->which];
    bool inside = axis->digit >= 0 && axis->digit < level;
    Span r = { .lo = x->lo, .hi = x->hi };
    r.start.base = plus(b, axis->begin, -x->before - x->shift);
    r.start.step[x->which] = axis->task;
    if (inside)
        r.start.step[FIRST_DIGIT + axis->digit] = axis->block;
    Expr *points = inside || axis->digit < 0 ? axis->block : axis->task;
    if (b->part >= 0 && b->split == x->which) {
        Expr *part = block_op2(b, OP_DIV, axis->block, block_int(b, b->parts));
        points = block_add(b, minus(b, points, axis->block), part);          // (of all blocks: from the first one's to the last one's)
        r.start.base = block_add(b, r.start.base, scaled(b, part, b->part));
    }
    r.size = plus(b, points, x->before + x->after);
    return r;
}

static Span chunk_span(Block *b, const BlockIndex *x, int level)
{
    const BlockChunk *c = &b->chunk[x->which];
    bool inside = c->digit >= 0 && c->digit < level;
    Span r = { .start.base = x->lo, .size = inside ? c->size : minus(b, x->hi, x->lo) };
    if (inside) {
        r.start.step[FIRST_DIGIT + c->digit] = c->size;
        r.lo = x->lo;
        r.hi = x->hi;
    }
    return r;
}

Span block_span(Block *b, const BlockStmt *s, int idx, int level)
{
    const BlockIndex *x = &s->index[idx];
    switch (x->from) {
    case FROM_AXIS: return axis_span(b, x, level);
    case FROM_CHUNK: return chunk_span(b, x, level);
    case FROM_OUTER: return (Span){ .start.base = x->value, .size = block_int(b, 1), .lo = x->lo, .hi = x->hi };
    case FROM_ALL: break;
    }
    return (Span){ .start.base = x->lo, .size = minus(b, x->hi, x->lo) };
}

// ---- windows --------------------------------------------------------------------------------------------------------------

static Expr *rest_of(Block *b, const Stmt *s, Expr *e)
{
    Expr *zero[MAX_INDICES];
    for (int i = 0; i < s->n; i++)
        zero[i] = block_int(b, 0);
    return expr_simplify(b->a, expr_substitute(b->a, e, s->n, (Index *const *)s->index, zero));
}

static bool is_no_sum(Expr *e, void *data)
{
    bool *found = data;
    bool divides = e->op == OP_DIV || e->op == OP_REM || e->op == OP_MOD || e->op == OP_FLOORDIV;
    *found = *found || e->op == OP_READ || (divides && (e->args[1]->op != OP_CONST || e->args[1]->i == 0));
    return !*found;
}

// What a launch can compute before its tasks run: nothing that is read, nothing that can fail, in the type of indices.
static bool is_known(Expr *rest)
{
    bool found = false;
    expr_walk(rest, is_no_sum, &found);
    return !found && rest->type == DT_INDEX;
}

// [start, start + size) of a sum of indices, and the ends that it has over their whole domain.
static bool window_dim(Block *b, const BlockStmt *s, Expr *sub, int level, Span *r)
{
    Expr *rest = rest_of(b, s->s, sub);
    if (!is_known(rest))
        return false;
    *r = (Span){ .start.base = rest, .size = block_int(b, 1) };
    Expr *lo = rest, *hi = plus(b, rest, 1);
    bool cut = false;
    for (int i = 0; i < s->s->n; i++) {
        bool linear = true;
        int64_t c = linear_coefficient(sub, s->s->index[i], &linear);
        if (!linear || c < 0)
            return false;
        if (c == 0)
            continue;
        Span x = block_span(b, s, i, level);
        block_affine_add(b, &r->start, &x.start, c);
        r->size = block_add(b, r->size, scaled(b, plus(b, x.size, -1), c));
        cut = cut || x.hi;
        lo = block_add(b, lo, scaled(b, s->index[i].lo, c));
        hi = block_add(b, hi, scaled(b, plus(b, s->index[i].hi, -1), c));
    }
    if (cut) {
        r->lo = lo;
        r->hi = hi;
    }
    return true;
}

bool block_window(Block *b, const BlockStmt *s, const Tensor *t, Expr *const *subs, int level, Window *w)
{
    *w = (Window){ .rank = t->rank };
    for (int d = 0; d < t->rank; d++)
        if (!window_dim(b, s, subs[d], level, &w->dim[d]))
            return false;
    return true;
}

bool block_same(const Expr *x, const Expr *y)
{
    return x == y || (x && y && expr_equal(x, y)) || (!x && expr_is_int(y, 0)) || (!y && expr_is_int(x, 0));
}

static bool same_steps(const Span *x, const Span *y)
{
    for (int v = 0; v < MAX_IVS; v++)
        if (!block_same(x->start.step[v], y->start.step[v]))
            return false;
    return true;
}

// A cut that changes nothing, for one that has none.
static void give_cut(Block *b, Span *x)
{
    if (x->hi)
        return;
    x->lo = x->start.base ? x->start.base : block_int(b, 0);
    x->hi = block_add(b, x->lo, x->size);
}

bool block_is_fixed(const Span *x)
{
    for (int v = 0; v < MAX_IVS; v++)
        if (!block_same(x->start.step[v], NULL))
            return false;
    return true;
}

static bool join(Block *b, Span *x, Span y)
{
    Expr *shift = minus(b, y.start.base, x->start.base), *longer = minus(b, y.size, x->size);
    if (!same_steps(x, &y) || shift->op != OP_CONST || longer->op != OP_CONST || (!x->hi != !y.hi && !block_is_fixed(x)))
        return false;
    int64_t start = shift->i < 0 ? shift->i : 0, end = shift->i + longer->i > 0 ? shift->i + longer->i : 0;
    if (x->hi || y.hi) {
        give_cut(b, x);
        give_cut(b, &y);
        x->lo = block_op2(b, OP_MIN, x->lo, y.lo);
        x->hi = block_op2(b, OP_MAX, x->hi, y.hi);
    }
    x->start.base = plus(b, x->start.base ? x->start.base : block_int(b, 0), start);
    x->size = plus(b, x->size, end - start);
    return true;
}

bool block_writes(const Block *b, const Tensor *t)
{
    for (int i = 0; i < b->nstmts; i++)
        if (b->stmts[i].s->eq->lhs == t)
            return true;
    return false;
}

void block_union(Block *b, const Tensor *t, Window *w, const Window *x)
{
    for (int d = 0; d < w->rank; d++) {
        if (join(b, &w->dim[d], x->dim[d]))
            continue;
        if (t->border[d].kind != BORDER_NONE)
            block_refuse(b, "`%s` is read across its border in two ways", t->name);
        if (block_writes(b, t))
            block_refuse(b, "`%s` is read in two places while it is written", t->name);
        w->dim[d] = (Span){ .start.base = t->lo[d], .size = minus(b, t->hi[d], t->lo[d]) };
    }
}

int block_level(const Block *b, const Window *w)
{
    int level = 0;
    for (int d = 0; d < w->rank; d++)
        for (int v = 0; v < b->ndigits; v++)
            if (!block_same(w->dim[d].start.step[FIRST_DIGIT + v], NULL) && v + 1 > level)
                level = v + 1;
    return level;
}
