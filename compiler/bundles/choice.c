// choice: from numbers that are tried to sizes of blocks, chunks and tasks, and the digits of the loop.
//
// A task does several blocks of one dimension where one would be too little work for what handing it out costs. Where extents
// inside a block are not known, as in rows of any length, the first dimension of the block has as many points as keep
// it at a number of elements.
#include "bundles/choice.h"

enum { MOST_ROWS = 64, MOST_FILL = 256 };

static Expr *tiles(Block *b, Expr *extent, Expr *size)
{
    return block_op2(b, OP_DIV, block_add(b, extent, block_op2(b, OP_SUB, size, block_int(b, 1))), size);
}

static Expr *at_least_one(Block *b, Expr *e) { return block_op2(b, OP_MAX, e, block_int(b, 1)); }

static Expr *chunk_extent(Block *b, int chunk)
{
    const BlockIndex *x = &block_main(b)->index[b->chunk[chunk].idx];
    return block_op2(b, OP_SUB, x->hi, x->lo);
}

static Expr *axis_extent(Block *b, int axis) { return block_op2(b, OP_SUB, b->axis[axis].end, b->axis[axis].begin); }

static int64_t number(const Expr *e) { return e->op == OP_CONST ? e->i : INT64_MAX; }

int64_t choice_axis_extent(Block *b, int axis) { return number(axis_extent(b, axis)); }
int64_t choice_chunk_extent(Block *b, int chunk) { return number(chunk_extent(b, chunk)); }

// ---- schedules ------------------------------------------------------------------------------------------------------------------

static void take_wish(const Block *b, Asked *a, const TileWish *w)
{
    const TileSize *inner = &w->level[w->n - 1];
    bool around = b->around && w->n == 1 && inner->tier < 0;
    if (around && inner->kind == SIZE_FIXED) {
        a->task = inner->value;
        return;
    }
    if (inner->kind == SIZE_FIXED && inner->value->op == OP_CONST)
        a->fixed = inner->value->i;
    if (inner->kind == SIZE_RANGE) {
        a->lo = inner->lo;
        a->hi = inner->hi;
    }
    if (w->n > 1 && w->level[0].kind == SIZE_FIXED)
        a->task = w->level[0].value;
}

Asked choice_asked(const Block *b, int axis, int chunk)
{
    Asked a = { 0 };
    for (int i = 0; i < b->nstmts; i++) {
        const BlockStmt *s = &b->stmts[i];
        const StmtWish *w = schedule_stmt(b->p->schedule, s->s);
        for (int k = 0; w && k < s->s->n; k++) {
            bool mine = axis >= 0 ? s->index[k].from == FROM_AXIS && s->index[k].which == axis
                                  : s->s == b->main && s->index[k].from == FROM_CHUNK && s->index[k].which == chunk;
            if (mine && w->unroll[k])
                a.parts = w->unroll[k];
            if (mine && w->tile[k])
                take_wish(b, &a, w->tile[k]);
        }
    }
    return a;
}

// ---- extents inside that are not numbers ------------------------------------------------------------------------------------------

Expr *choice_open_extent(Block *b)
{
    Expr *most = NULL;
    for (int i = 0; i < b->nstmts; i++) {
        Expr *product = NULL;
        for (int k = 0; k < b->stmts[i].s->n; k++) {
            const BlockIndex *x = &b->stmts[i].index[k];
            Expr *extent = x->from == FROM_ALL ? block_op2(b, OP_SUB, x->hi, x->lo) : NULL;
            if (extent && extent->op != OP_CONST)
                product = block_mul(b, product ? product : block_int(b, 1), extent);
        }
        if (product && !(most && expr_equal(most, product)))
            most = most ? block_op2(b, OP_MAX, most, product) : product;
    }
    return most;
}

static Expr *rows_of(Block *b, int64_t elements)
{
    Expr *open = choice_open_extent(b);
    Expr *rows = open ? block_op2(b, OP_DIV, block_int(b, elements), at_least_one(b, open)) : block_int(b, elements);
    return at_least_one(b, block_op2(b, OP_MIN, rows, block_int(b, MOST_ROWS)));
}

// ---- tasks ------------------------------------------------------------------------------------------------------------------------

// So many blocks of a dimension to a task at most, and such that every core has as many tasks; single blocks where these
// are better shared out.
static Expr *group(Block *b, const Choice *c)
{
    Expr *blocks = NULL, *mine = NULL;
    for (int q = 0; q < b->naxes; q++) {
        Expr *n = tiles(b, axis_extent(b, q), b->axis[q].block);
        mine = q == c->grouped ? n : mine;
        blocks = blocks ? block_mul(b, blocks, n) : n;
    }
    int64_t cores = (int64_t)b->m->clusters * b->m->cores;
    Expr *rounds = at_least_one(b, tiles(b, blocks, block_int(b, c->most * cores)));
    Expr *even = at_least_one(b, block_op2(b, OP_MIN, tiles(b, blocks, block_mul(b, rounds, block_int(b, cores))), mine));
    if (expr_is_int(even, 1))
        return even;
    Expr *others = block_op2(b, OP_DIV, blocks, at_least_one(b, mine));
    Expr *tasks = block_mul(b, tiles(b, mine, even), others);
    Expr *one = block_mul(b, tiles(b, blocks, block_int(b, cores)), block_int(b, 100 + c->percent));
    Expr *many = block_mul(b, tiles(b, tasks, block_int(b, cores)), block_add(b, block_mul(b, even, block_int(b, 100)), block_int(b, c->percent)));
    Expr *args[3] = { expr_binary(b->a, OP_LE, DT_BOOL, many, one), even, block_int(b, 1) };
    return expr_simplify(b->a, expr_new(b->a, OP_SELECT, DT_INDEX, even->range, 3, args));
}

// A row is no longer than there are points; where it is shorter, there are more rows.
static void fill(Block *b, const Choice *c)
{
    BlockAxis *x = &b->axis[c->filled], *row = &b->axis[c->filled + 1];
    Expr *all = at_least_one(b, axis_extent(b, c->filled + 1)), *most = block_mul(b, x->block, row->block);
    Expr *rows = block_op2(b, OP_MIN, block_op2(b, OP_DIV, most, all), block_int(b, MOST_FILL));
    x->block = block_op2(b, OP_MAX, rows, x->block);
    row->block = block_op2(b, OP_MIN, row->block, all);
}

static void set_axes(Block *b, const Choice *c)
{
    for (int q = 0; q < b->naxes; q++) {
        BlockAxis *x = &b->axis[q];
        x->block = q == 0 && c->elements ? rows_of(b, c->elements) : block_int(b, c->points[q]);
    }
    if (c->filled >= 0)
        fill(b, c);
    for (int q = 0; q < b->naxes; q++) {
        BlockAxis *x = &b->axis[q];
        Expr *task = choice_asked(b, q, -1).task;
        x->count = task ? at_least_one(b, tiles(b, task, x->block)) : q == c->grouped ? group(b, c) : block_int(b, 1);
        x->task = block_mul(b, x->block, x->count);
    }
}

// ---- digits -----------------------------------------------------------------------------------------------------------------------

// (One too many is counted, and refused when the program is built.)
static int add_digit(BundleLoop *l, const char *name, Expr *count)
{
    if (l->ndigits >= MAX_DIGITS)
        return l->ndigits++;
    l->digit[l->ndigits] = name;
    l->count[l->ndigits] = count;
    return l->ndigits++;
}

static void set_digits(Block *b)
{
    BundleLoop l = { .iv = FIRST_DIGIT };
    for (int q = 0; q < b->naxes; q++)
        b->axis[q].digit = expr_is_int(b->axis[q].count, 1) ? -1 : add_digit(&l, b->axis[q].name, b->axis[q].count);
    b->nblock = l.ndigits;
    for (int i = 0; i < b->nchunks; i++) {
        BlockChunk *c = &b->chunk[i];
        Expr *extent = chunk_extent(b, i);
        bool whole = extent->op == OP_CONST && c->size->op == OP_CONST && extent->i <= c->size->i;
        c->digit = whole ? -1 : add_digit(&l, c->name, at_least_one(b, tiles(b, extent, c->size)));
    }
    b->ndigits = l.ndigits;
    b->loop = l;
}

void choice_apply(Block *b, const Choice *c)
{
    set_axes(b, c);
    for (int i = 0; i < b->nchunks; i++)
        b->chunk[i].size = block_int(b, c->chunk[i]);
    b->depth = c->depth;
    b->sums = c->sums;
    b->out_slots = c->out;
    b->split = c->split;
    b->parts = c->parts;
    b->wide[0] = c->wide[0];
    b->wide[1] = c->wide[1];
    set_digits(b);
}
