// prove_tile: see prove_tile.h.
//
// The walk keeps a set of points: an index for each loop and for the bounds of tiles, which lie in their dimension and at most a
// tile apart, and one for every value that is not affine (a quotient of sizes, an element of a tensor), of which no more is
// known than its range. The same value has the same index as long as nothing can change it. What is under conditions adds
// them. A subscript is then linear, or piecewise, and syntax or isl shows that no point takes it outside.
//
// Test: tests/golden/ir/refused.pto, tests/cli/text.sh
#include "passes/prove_tile.h"

#include "ir/linear.h"
#include "ir/value_range.h"
#include "passes/plan.h"

typedef struct {
    const Expr *key;
    Index *as;
} Unknown;

typedef struct {
    Arena *a;
    Poly *p;
    Diags *d;
    const Machine *machine;
    TileKernel *t;
    ValueScope ranges;             // of sizes
    const Tensor *written;         // by the operation; NULL: none
    bool data;                     // conditions on data count, too
    int vectors;                   // vector loops around
    VEC(Index *) from;             // indices of the tree, and what stands for them
    VEC(Expr *) to;
    VEC(Index *) points;
    VEC(Expr *) conds;
    VEC(Unknown) unknown;
    int changes;                   // of points and conditions
    isl_set *box;                  // the points as they were after so many changes
    int boxed;
} Proof;

// ---- the scope ----------------------------------------------------------------------------------------------------------

typedef struct {
    int from, points, conds, unknown;
} Mark;

static Mark mark(const Proof *v)
{
    return (Mark){ v->from.n, v->points.n, v->conds.n, v->unknown.n };
}

static void back_to(Proof *v, Mark m)
{
    v->from.n = v->to.n = m.from;
    v->points.n = m.points;
    v->conds.n = m.conds;
    v->unknown.n = m.unknown;
    v->changes++;
}

// Not affine, so that a range that ends here has no end.
static Expr *nowhere(Proof *v)
{
    return expr_new(v->a, OP_READ, DT_I32, (Range){ 0, 0 }, 0, NULL);
}

static Expr *number(Proof *v, int64_t value)
{
    return expr_int(v->a, DT_INDEX, value, (Range){ 0, 0 });
}

static Expr *op2(Proof *v, Op op, Expr *x, Expr *y)
{
    return expr_binary(v->a, op, op_class(op) == OPC_ARITH ? DT_INDEX : DT_BOOL, x, y);
}

static Index *add_point(Proof *v, const char *name, Expr *lo, Expr *hi)
{
    Index *index = ARENA_NEW(v->a, Index);
    *index = (Index){ .name = name, .lo = lo, .hi = hi };
    VEC_PUSH(v->a, &v->points, index);
    v->changes++;
    return index;
}

static void add_cond(Proof *v, Expr *cond)
{
    if (!cond)
        return;
    VEC_PUSH(v->a, &v->conds, cond);
    v->changes++;
}

static void bind(Proof *v, Index *index, Index *as)
{
    VEC_PUSH(v->a, &v->from, index);
    VEC_PUSH(v->a, &v->to, expr_index(v->a, as, index->range));
}

// ---- values as functions of the points --------------------------------------------------------------------------------------

static Expr *known(Proof *v, Expr *e);
static Expr *known_cond(Proof *v, Expr *e);

static bool see_change(Expr *e, void *data)
{
    const Proof **v = data;
    if (*v && e->op == OP_READ && e->tensor == (*v)->written)
        *v = NULL;
    return *v != NULL;
}

// May it be another value where it occurs again?
static bool may_change(const Proof *v, Expr *e)
{
    const Proof *at = v;
    expr_walk(e, see_change, &at);
    return !at;
}

// The range of a number; all that is known of data is its type.
static void limits(Proof *v, const Expr *e, Expr **lo, Expr **hi)
{
    bool fits = true, narrow = dtype_is_int(e->type) && e->type != DT_INDEX && dtype_bytes(e->type) < 8;
    *lo = *hi = nowhere(v);
    if (e->type != DT_INDEX && !narrow)
        return;
    ValueRange r = value_range(&v->ranges, e, &fits);
    if (r.lo > INT64_MIN && r.lo <= INT64_MAX)
        *lo = number(v, (int64_t)r.lo);
    if (r.hi < INT64_MAX && r.hi > INT64_MIN)
        *hi = number(v, (int64_t)r.hi + 1);
}

// The remainder of a division by what is positive.
static void add_remainder(Proof *v, const Expr *e, Expr *r)
{
    if (e->op != OP_MOD)
        return;
    Expr *by = known(v, e->args[1]), *zero = number(v, 0);
    Expr *inside = op2(v, OP_AND, op2(v, OP_LE, zero, r), op2(v, OP_LT, r, by));
    add_cond(v, op2(v, OP_OR, op2(v, OP_LE, by, zero), inside));
}

static Expr *unknown(Proof *v, Expr *e)
{
    Expr *key = expr_substitute(v->a, e, v->from.n, v->from.at, v->to.at), *lo, *hi;
    bool same = !may_change(v, e);
    for (int i = 0; same && i < v->unknown.n; i++)
        if (expr_equal(v->unknown.at[i].key, key))
            return expr_index(v->a, v->unknown.at[i].as, e->range);
    limits(v, e, &lo, &hi);
    Index *index = add_point(v, expr_text(v->a, e), lo, hi);
    if (same)
        VEC_PUSH(v->a, &v->unknown, ((Unknown){ key, index }));
    Expr *r = expr_index(v->a, index, e->range);
    if (e->type == DT_INDEX)
        add_remainder(v, e, r);
    return r;
}

static bool is_positive(const Expr *e) { return e->op == OP_CONST && e->i > 0; }

static Expr *both(Proof *v, Expr *e)
{
    Expr *x = known(v, e->args[0]), *y = known(v, e->args[1]);
    return op2(v, e->op, x, y);
}

static Expr *chosen(Proof *v, Expr *e)
{
    Expr *cond = known_cond(v, e->args[0]);
    if (!cond)
        return unknown(v, e);
    return expr_new(v->a, OP_SELECT, DT_INDEX, e->range, 3, (Expr *[]){ cond, known(v, e->args[1]), known(v, e->args[2]) });
}

// Does the conversion keep every value?
static bool keeps(const Expr *e)
{
    DType from = e->args[0]->type;
    if (!dtype_is_int(from) && from != DT_INDEX)
        return false;
    bool wide = e->type == DT_INDEX || e->type == DT_I64;
    return wide && from != DT_U64;
}

static Expr *known_index(Proof *v, Expr *e)
{
    for (int i = v->from.n - 1; i >= 0; i--)
        if (v->from.at[i] == e->index)
            return v->to.at[i];
    return unknown(v, e);
}

// An affine expression of the same value, index-typed, over the points.
static Expr *known(Proof *v, Expr *e)
{
    bool index = e->type == DT_INDEX;
    switch ((int)e->op) {
    case OP_CONST: return number(v, e->i);
    case OP_DIM: return e;
    case OP_INDEX: return known_index(v, e);
    case OP_CONVERT: return keeps(e) ? known(v, e->args[0]) : unknown(v, e);
    case OP_ADD: case OP_SUB: case OP_MIN: case OP_MAX: return index ? both(v, e) : unknown(v, e);
    case OP_NEG: return index ? expr_unary(v->a, OP_NEG, DT_INDEX, known(v, e->args[0])) : unknown(v, e);
    case OP_MUL: return index && (e->args[0]->op == OP_CONST || e->args[1]->op == OP_CONST) ? both(v, e) : unknown(v, e);
    case OP_DIV: case OP_REM: case OP_FLOORDIV: case OP_MOD: return index && is_positive(e->args[1]) ? both(v, e) : unknown(v, e);
    case OP_SELECT: return index ? chosen(v, e) : unknown(v, e);
    default: return unknown(v, e);
    }
}

static bool is_number(const Expr *e) { return e->type == DT_INDEX || (dtype_is_int(e->type) && e->type != DT_U64); }

// A condition over the points that holds wherever this one does; NULL: nothing is known.
static Expr *known_cond(Proof *v, Expr *e)
{
    Expr *x, *y;
    switch ((int)e->op) {
    case OP_EQ: case OP_NE: case OP_LT: case OP_LE: case OP_GT: case OP_GE:
        return is_number(e->args[0]) && is_number(e->args[1]) && (v->data || !expr_uses_data(e)) ? both(v, e) : NULL;
    case OP_AND: case OP_OR:
        x = known_cond(v, e->args[0]);
        y = known_cond(v, e->args[1]);
        return x && y ? op2(v, e->op, x, y) : NULL;
    case OP_NOT:
        x = known_cond(v, e->args[0]);
        return x ? expr_unary(v->a, OP_NOT, DT_BOOL, x) : NULL;
    default: return NULL;
    }
}

static void assume(Proof *v, Expr *cond)
{
    if (cond->op == OP_AND) {
        assume(v, cond->args[0]);
        assume(v, cond->args[1]);
        return;
    }
    add_cond(v, known_cond(v, cond));
}

// ---- questions ------------------------------------------------------------------------------------------------------------

static PolyIndices points_of(const Proof *v) { return (PolyIndices){ .n = v->points.n, .at = v->points.at }; }

static isl_set *box_of(Proof *v)
{
    if (v->boxed == v->changes)
        return v->box;
    isl_set_free(v->box);
    v->box = poly_box(v->p, points_of(v), v->conds.n, v->conds.at, NULL);
    v->boxed = v->changes;
    return v->box;
}

// Does it hold at no point? Undecided: no.
static bool never(Proof *v, Expr *cond)
{
    budget_begin(v->p->budget);
    isl_set *c = poly_cond(v->p, points_of(v), cond), *box = c ? box_of(v) : NULL;
    if (c && box)
        c = poly_under(v->p, isl_set_intersect(c, isl_set_copy(box)));
    bool empty = c && box && isl_set_is_empty(c) == isl_bool_true;
    isl_set_free(c);
    if (!budget_end(v->p->budget)) {
        v->changes++;
        return false;
    }
    return empty;
}

static bool at_most(Proof *v, Expr *x, Expr *y)
{
    Expr *greatest = linear_extreme(v->a, x, NULL, true), *least = linear_extreme(v->a, y, NULL, false);
    if ((greatest && linear_at_most(v->a, greatest, y)) || (least && linear_at_most(v->a, x, least)))
        return true;
    return never(v, op2(v, OP_GT, x, y));
}

typedef struct {
    Expr *lo, *hi;
} Span;

static bool inside(Proof *v, Expr *x, Span to)
{
    return at_most(v, to.lo, x) && at_most(v, linear_add(v->a, x, 1), to.hi);
}

// ---- places -----------------------------------------------------------------------------------------------------------------

static Span shape_of(Proof *v, const Tensor *t, int d)
{
    return (Span){ known(v, t->lo[d]), known(v, t->hi[d]) };
}

// Where a dimension is kept as it is; false: any subscript finds a place in it.
static bool span_of(Proof *v, const Tensor *t, int d, Span *span)
{
    const Storage *st = &v->t->storage[t->id];
    if (st->kind == STORE_REGISTER || (st->kind != STORE_PARAM && st->dim[d].kind != DIM_FULL))
        return false;
    if (st->kind == STORE_PARAM) {
        *span = shape_of(v, t, d);
        return true;
    }
    span->lo = known(v, st->dim[d].base);
    span->hi = op2(v, OP_ADD, span->lo, known(v, st->dim[d].extent));
    return true;
}

// Has all of the dimension a place?
static bool is_whole(Proof *v, const Tensor *t, int d, Span span)
{
    Span shape = shape_of(v, t, d);
    return v->t->storage[t->id].kind == STORE_PARAM || (at_most(v, span.lo, shape.lo) && at_most(v, shape.hi, span.hi));
}

static bool refuse(Proof *v, Range range, const char *what, const Tensor *t, int d)
{
    diag_report(v->d, D_BOUNDS, range, "%s outside of the storage of dimension %d of `%s`, as far as the text shows", what, d, t->name);
    return false;
}

static bool folds(BorderKind k) { return k == BORDER_CLAMP || k == BORDER_WRAP || k == BORDER_REFLECT; }

// The place of a read whose border counts: of an element inside of the dimension.
static bool bordered(Proof *v, Expr *read, int d, Span span)
{
    const Tensor *t = read->tensor;
    Span shape = shape_of(v, t, d);
    bool there = true;
    Mark m = mark(v);
    if (folds(t->border[d].kind) && !(read->outside & EXPR_EMPTY_BORDER << d) && !at_most(v, linear_add(v->a, shape.lo, 1), shape.hi))
        read->outside |= EXPR_EMPTY_BORDER << d;
    if (is_whole(v, t, d, span))
        return true;
    Expr *x = known(v, read->args[d]);
    if (t->border[d].kind == BORDER_CLAMP) {
        x = op2(v, OP_MAX, op2(v, OP_MIN, x, linear_add(v->a, shape.hi, -1)), shape.lo);
        add_cond(v, op2(v, OP_LT, shape.lo, shape.hi));
    } else if (!folds(t->border[d].kind)) {
        add_cond(v, op2(v, OP_LE, shape.lo, x));
        add_cond(v, op2(v, OP_LT, x, shape.hi));
    } else {
        there = false;
    }
    there = there && inside(v, x, span);
    back_to(v, m);
    return there || refuse(v, read->args[d]->range, "it reads", t, d);
}

static bool read_dimension(Proof *v, Expr *read, int d)
{
    const Tensor *t = read->tensor;
    Expr *sub = read->args[d];
    Span span;
    bool data = sub->type != DT_INDEX, marked = read->outside >> d & 1;
    if (!span_of(v, t, d, &span))
        return true;
    if (marked && t->border[d].kind != BORDER_NONE)
        return bordered(v, read, d, span);
    if (!data && inside(v, known(v, sub), span))
        return true;
    if (t->border[d].kind != BORDER_NONE) {
        read->outside |= 1u << d;
        return bordered(v, read, d, span);
    }
    if (!is_whole(v, t, d, span))
        return refuse(v, sub->range, "it reads", t, d);
    read->args[d] = expr_convert(v->a, data ? sub->type : DT_I64, sub);        // looked at as it runs
    return true;
}

typedef struct {
    Proof *v;
    bool good;
} Reads;

static void see_read(const ReadSite *site, void *data)
{
    Reads *r = data;
    Proof *v = r->v;
    Mark m = mark(v);
    for (int i = 0; i < site->nguards; i++)
        assume(v, site->guards[i]);
    for (int d = 0; r->good && d < site->read->n; d++)
        r->good = read_dimension(v, site->read, d);
    back_to(v, m);
}

static bool reads(Proof *v, Expr *e)
{
    Reads r = { v, true };
    if (e)
        expr_reads(v->a, e, see_read, &r);
    return r.good;
}

static bool write_place(Proof *v, const Tensor *t, Expr *const *subs)
{
    for (int d = 0; d < t->rank; d++) {
        Span span;
        if (span_of(v, t, d, &span) && !inside(v, known(v, subs[d]), span))
            return refuse(v, subs[d]->range, "it writes", t, d);
        if (!reads(v, subs[d]))
            return false;
    }
    return true;
}

// ---- nodes ----------------------------------------------------------------------------------------------------------------

static bool is_from_data(const Node *n)
{
    bool data = false;
    for (int d = 0; d < n->tensor->rank; d++)
        data = data || n->subs[d]->type != DT_INDEX;
    return data;
}

static bool element_before(Proof *v, const Node *n)
{
    Mark m = mark(v);
    assume(v, expr_unary(v->a, OP_NOT, DT_BOOL, n->first));
    bool good = write_place(v, n->tensor, n->previous);
    back_to(v, m);
    return good;
}

// In a vector loop, places that do not come from data are those of all lanes, whether a guard holds or not, and a condition on
// data protects nothing (emit/vector.c).
static bool operation(Proof *v, const Node *n)
{
    Mark m = mark(v);
    bool data = is_from_data(n);
    v->written = n->tensor;
    bool good = data || write_place(v, n->tensor, n->subs);
    for (int i = 0; good && i < n->guards.n; i++) {
        good = reads(v, n->guards.at[i]);
        v->data = data;
        assume(v, n->guards.at[i]);
        v->data = false;
    }
    good = good && (!data || write_place(v, n->tensor, n->subs)) && reads(v, n->value) && reads(v, n->first);
    good = good && (n->op != OPK_SCAN || element_before(v, n));
    v->written = NULL;
    back_to(v, m);
    return good;
}

static bool node(Proof *v, Node *n);

static bool body(Proof *v, Node *n)
{
    for (int i = 0; i < n->body.n; i++)
        if (!node(v, n->body.at[i]))
            return false;
    return true;
}

static bool lanes(Proof *v, Node *n)
{
    int most = 0;
    if (n->lanes <= 1 || !v->machine->emits_c)
        return true;
    const char *why = vectorize_refusal(v->a, v->machine, v->t, n, &most);
    if (!why && n->lanes > most)
        why = arena_printf(v->a, "its vectors hold %d elements of that type at most", most);
    if (why)
        diag_report(v->d, D_TARGET, n->index->range, "the loop over `%s` cannot run in vectors of %d: %s", n->index->name, n->lanes, why);
    return !why;
}

// What bounds read is not written below; in a vector loop around they are those of other lanes, too.
static bool loop(Proof *v, Node *n)
{
    Expr *lo = known(v, n->index->lo), *hi = known(v, n->index->hi);
    bind(v, n->index, add_point(v, n->index->name, lo, hi));
    for (int i = 0; i < n->bounds.n; i++) {
        if (!reads(v, n->bounds.at[i]))
            return false;
        v->data = v->vectors == 0;
        assume(v, n->bounds.at[i]);
        v->data = false;
    }
    v->vectors += n->lanes > 1;
    bool good = lanes(v, n) && body(v, n);
    v->vectors -= n->lanes > 1;
    return good;
}

// A tile has a point, and lies in its dimension.
static bool grid_dim(Proof *v, GridDim *g)
{
    bool fits = true;
    ValueRange size = value_range(&v->ranges, g->tile, &fits);
    if (size.lo < 1) {
        diag_report(v->d, D_IR, g->tile->range, "tiles of `%s` may be empty, as far as the text shows", g->name);
        return false;
    }
    Expr *begin = known(v, g->begin), *end = known(v, g->end), *tile = known(v, g->tile);
    Index *lo = add_point(v, g->lo->name, begin, end);
    Expr *from = expr_index(v->a, lo, g->lo->range);
    Index *hi = add_point(v, g->hi->name, linear_add(v->a, from, 1), linear_add(v->a, end, 1));
    add_cond(v, op2(v, OP_LE, expr_index(v->a, hi, g->hi->range), op2(v, OP_ADD, from, tile)));
    bind(v, g->lo, lo);
    bind(v, g->hi, hi);
    return true;
}

static bool grid(Proof *v, Node *n)
{
    for (int i = 0; i < n->ndims; i++)
        if (!grid_dim(v, &n->dims[i]))
            return false;
    return body(v, n);
}

static bool node(Proof *v, Node *n)
{
    Mark m = mark(v);
    bool good = true;
    switch (n->kind) {
    case NODE_SEQ: good = body(v, n); break;
    case NODE_LOOP: good = loop(v, n); break;
    case NODE_GRID: good = grid(v, n); break;
    case NODE_OP: good = operation(v, n); break;
    case NODE_IF:
        good = reads(v, n->cond);
        assume(v, n->cond);
        good = good && body(v, n);
        break;
    }
    back_to(v, m);
    return good;
}

static bool log_statement(Proof *v, const Log *l)
{
    Mark m = mark(v);
    bool good = true;
    for (int i = 0; i < l->indices.n; i++) {
        Index *x = l->indices.at[i];
        Expr *lo = known(v, x->lo), *hi = known(v, x->hi);
        bind(v, x, add_point(v, x->name, lo, hi));
    }
    for (int i = 0; i < l->conds.n; i++)
        assume(v, l->conds.at[i]);
    for (int i = 0; good && i < l->args.n; i++)
        good = reads(v, l->args.at[i]);
    back_to(v, m);
    return good;
}

bool prove_tile(Arena *a, Poly *p, Diags *d, const Machine *m, TileKernel *t)
{
    Proof v = { .a = a, .p = p, .d = d, .machine = m, .t = t, .ranges = value_scope(a, t->kernel), .boxed = -1 };
    bool good = node(&v, t->root);
    for (int i = 0; good && i < t->kernel->logs.n; i++)
        good = log_statement(&v, t->kernel->logs.at[i]);
    isl_set_free(v.box);
    return good;
}
