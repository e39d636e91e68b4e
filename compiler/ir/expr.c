// Expressions: constructors, comparison, traversal, substitution.
//
// Expressions are never changed once built and may be shared; what rewrites one returns another. The exception is
// a Nest: its indices have an identity that the body refers to, so a copy of a nest gets an Index of its own only
// where a range changed. The operations come from the one table in ops.def.
//
// Test: tests/unit/test_expr.c
#include "ir/ir.h"

#include <string.h>

typedef struct {
    const char *name;
    int arity;
    OpClass class;
} OpRow;

static const OpRow op_rows[OP_COUNT] = {
#define OP(id, name_, arity_, class_) [OP_##id] = {.name = (name_), .arity = (arity_), .class = OPC_##class_},
#include "ir/ops.def"
#undef OP
};

enum { KIND_BITS = 2, COLUMN_BITS = 10, LINE_BITS = 19 };

int32_t fault_code(FaultKind kind, int line, int column)
{
    int most = (1 << LINE_BITS) - 1, width = (1 << COLUMN_BITS) - 1;
    bool fits = line <= most;
    int at = (fits ? line : 0) << COLUMN_BITS | (!fits ? 0 : column > width ? width : column);
    return at << KIND_BITS | (int)kind;
}

FaultKind fault_kind(int64_t code) { return (FaultKind)(code & ((1 << KIND_BITS) - 1)); }

const char *op_name(Op op) { return op_rows[op].name; }
int op_arity(Op op) { return op_rows[op].arity; }
OpClass op_class(Op op) { return op_rows[op].class; }

const char *reduce_name(ReduceOp op)
{
    switch (op) {
    case RED_SUM: return "sum";
    case RED_PROD: return "prod";
    case RED_MAX: return "max";
    case RED_MIN: return "min";
    case RED_ANY: return "any";
    case RED_ALL: return "all";
    case RED_MEAN: return "mean";
    case RED_ARGMAX: return "argmax";
    case RED_ARGMIN: return "argmin";
    }
    return "?";
}

Expr *expr_new(Arena *a, Op op, DType type, Range range, int n, Expr *const *args)
{
    Expr *e = ARENA_NEW(a, Expr);
    e->op = op;
    e->type = type;
    e->range = range;
    e->n = n;
    if (n > 0) {
        e->args = ARENA_ARRAY(a, Expr *, n);
        memcpy(e->args, args, sizeof *args * (size_t)n);
    }
    return e;
}

Expr *expr_int(Arena *a, DType type, int64_t value, Range range)
{
    Expr *e = expr_new(a, OP_CONST, type, range, 0, NULL);
    e->i = value;
    return e;
}

Expr *expr_float(Arena *a, DType type, double value, Range range)
{
    Expr *e = expr_new(a, OP_CONST, type, range, 0, NULL);
    e->f = fold_round_float(type, value);
    return e;
}

Expr *expr_index(Arena *a, Index *index, Range range)
{
    Expr *e = expr_new(a, OP_INDEX, DT_INDEX, range, 0, NULL);
    e->index = index;
    return e;
}

Expr *expr_dim(Arena *a, const Dim *dim, Range range)
{
    Expr *e = expr_new(a, OP_DIM, DT_INDEX, range, 0, NULL);
    e->dim = dim;
    return e;
}

Expr *expr_unary(Arena *a, Op op, DType type, Expr *x) { return expr_new(a, op, type, x->range, 1, &x); }

// What joins two parts covers both; parts that come from nowhere (or from another place) do not count.
static Range join(Range a, Range b)
{
    if (a.end == 0) return b;
    if (b.end == 0) return a;
    return (Range){.begin = a.begin < b.begin ? a.begin : b.begin, .end = a.end > b.end ? a.end : b.end};
}

Expr *expr_binary(Arena *a, Op op, DType type, Expr *x, Expr *y)
{
    Expr *args[2] = {x, y};
    return expr_new(a, op, type, join(x->range, y->range), 2, args);
}

Expr *expr_convert(Arena *a, DType type, Expr *x)
{
    if (x->type == type) return x;
    if (x->op != OP_CONST) return expr_unary(a, OP_CONVERT, type, x);
    if (dtype_is_float(x->type)) {
        if (dtype_is_float(type)) return expr_float(a, type, x->f, x->range);
        return expr_int(a, type, fold_float_to_int(type, x->f), x->range);
    }
    if (dtype_is_float(type)) return expr_float(a, type, fold_int_to_float(type, x->type, x->i), x->range);
    return expr_int(a, type, fold_wrap_int(type, x->i), x->range);
}

bool expr_is_mixed(const Expr *e)
{
    return op_class(e->op) == OPC_COMPARE && e->n == 2 && (e->args[0]->type == DT_INDEX) != (e->args[1]->type == DT_INDEX);
}

bool expr_is_int(const Expr *e, int64_t value)
{
    return e->op == OP_CONST && (dtype_is_int(e->type) || e->type == DT_BOOL) && e->i == value;
}

static bool nest_equal(const Nest *x, const Nest *y)
{
    if (x == y) return true;
    if (x->op != y->op || x->along != y->along || x->exclusive != y->exclusive || x->reverse != y->reverse) return false;
    if (x->indices.n != y->indices.n || x->conds.n != y->conds.n) return false;
    for (int i = 0; i < x->indices.n; i++)
        if (x->indices.at[i] != y->indices.at[i]) return false;
    for (int i = 0; i < x->conds.n; i++)
        if (!expr_equal(x->conds.at[i], y->conds.at[i])) return false;
    return true;
}

static bool payload_equal(const Expr *x, const Expr *y)
{
    switch (op_class(x->op)) {
    case OPC_NEST: return nest_equal(x->nest, y->nest);
    case OPC_LEAF: break;
    case OPC_OTHER: return x->op != OP_CONVERT || x->outside == y->outside;      // one must fit, the other wraps
    case OPC_ARITH: case OPC_COMPARE: case OPC_LOGIC: case OPC_MATH: case OPC_BITS: case OPC_FAULT: return true;
    }
    if (x->op == OP_INDEX) return x->index == y->index;
    if (x->op == OP_DIM) return x->dim == y->dim;
    if (x->op == OP_READ) return x->tensor == y->tensor;
    // Bits, not values: 0 and -0 differ, a NaN equals itself.
    return dtype_is_float(x->type) ? memcmp(&x->f, &y->f, sizeof x->f) == 0 : x->i == y->i;
}

bool expr_equal(const Expr *x, const Expr *y)
{
    if (x == y) return true;
    if (x->op != y->op || x->type != y->type || x->n != y->n || !payload_equal(x, y)) return false;
    for (int i = 0; i < x->n; i++)
        if (!expr_equal(x->args[i], y->args[i])) return false;
    return true;
}

void expr_walk(Expr *e, bool (*f)(Expr *e, void *data), void *data)
{
    if (!f(e, data)) return;
    if (op_class(e->op) == OPC_NEST) {
        for (int i = 0; i < e->nest->indices.n; i++) {
            Index *x = e->nest->indices.at[i];
            if (x->lo) expr_walk(x->lo, f, data);      // sema walks before it has inferred all ranges
            if (x->hi) expr_walk(x->hi, f, data);
        }
        for (int i = 0; i < e->nest->conds.n; i++) expr_walk(e->nest->conds.at[i], f, data);
    }
    for (int i = 0; i < e->n; i++) expr_walk(e->args[i], f, data);
}

typedef struct {
    const Index *index;
    bool found;
} UseSearch;

static bool use_visit(Expr *e, void *data)
{
    UseSearch *s = data;
    if (e->op == OP_INDEX && e->index == s->index) s->found = true;
    if (e->op == OP_SCAN && e->nest->along == s->index) s->found = true;
    return !s->found;
}

bool expr_uses(const Expr *e, const Index *index)
{
    UseSearch s = {.index = index};
    expr_walk((Expr *)e, use_visit, &s);
    return s.found;
}

static bool read_visit(Expr *e, void *data)
{
    bool *found = data;
    *found = *found || e->op == OP_READ;
    return !*found;
}

bool expr_uses_data(const Expr *e)
{
    bool found = false;
    expr_walk((Expr *)e, read_visit, &found);
    return found;
}

// ---- substitution ----

typedef struct {
    Arena *arena;
    VEC(Index *) from;
    VEC(Expr *) to;
} Substitution;

static Expr *substitute(Substitution *s, Expr *e);

// The index itself, or a copy with new ranges that later parts of the nest then use.
static Index *substitute_index(Substitution *s, Index *index)
{
    Expr *lo = substitute(s, index->lo), *hi = substitute(s, index->hi);
    if (lo == index->lo && hi == index->hi) return index;
    Index *copy = ARENA_NEW(s->arena, Index);
    *copy = *index;
    copy->lo = lo;
    copy->hi = hi;
    VEC_PUSH(s->arena, &s->from, index);
    VEC_PUSH(s->arena, &s->to, expr_index(s->arena, copy, index->range));
    return copy;
}

static Nest *substitute_nest(Substitution *s, const Nest *nest)
{
    Nest *copy = ARENA_NEW(s->arena, Nest);
    *copy = (Nest){.op = nest->op, .along = nest->along, .exclusive = nest->exclusive, .reverse = nest->reverse};
    for (int i = 0; i < s->from.n; i++)
        if (s->from.at[i] == nest->along && s->to.at[i]->op == OP_INDEX) copy->along = s->to.at[i]->index;
    for (int i = 0; i < nest->indices.n; i++)
        VEC_PUSH(s->arena, &copy->indices, substitute_index(s, nest->indices.at[i]));
    for (int i = 0; i < nest->conds.n; i++) VEC_PUSH(s->arena, &copy->conds, substitute(s, nest->conds.at[i]));
    return copy;
}

static Expr *substitute_args(Substitution *s, Expr *e, Nest *nest)
{
    Expr **args = e->n ? ARENA_ARRAY(s->arena, Expr *, e->n) : NULL;
    bool changed = nest != NULL;
    for (int i = 0; i < e->n; i++) {
        args[i] = substitute(s, e->args[i]);
        changed |= args[i] != e->args[i];
    }
    if (!changed) return e;
    Expr *copy = ARENA_NEW(s->arena, Expr);
    *copy = *e;
    copy->args = args;
    if (nest) copy->nest = nest;
    return copy;
}

// Innermost bindings win: a nest's own indices are pushed last and looked up first.
static Expr *substitute(Substitution *s, Expr *e)
{
    if (e->op == OP_INDEX) {
        for (int i = s->from.n - 1; i >= 0; i--)
            if (s->from.at[i] == e->index) return s->to.at[i];
        return e;
    }
    if (op_class(e->op) != OPC_NEST) return substitute_args(s, e, NULL);
    int mark = s->from.n;
    Nest *nest = substitute_nest(s, e->nest);
    Expr *r = substitute_args(s, e, nest);
    s->from.n = s->to.n = mark;
    return r;
}

Expr *expr_substitute(Arena *a, Expr *e, int n, Index *const *from, Expr *const *to)
{
    Substitution s = {.arena = a};
    for (int i = 0; i < n; i++) {
        VEC_PUSH(a, &s.from, from[i]);
        VEC_PUSH(a, &s.to, to[i]);
    }
    return substitute(&s, e);
}

// ---- reads ------------------------------------------------------------------------------------------------------------

Expr *expr_map_reads(Arena *a, Expr *e, Expr *(*f)(Expr *read, void *data), void *data)
{
    if (e->n == 0 && e->op != OP_READ)
        return e;
    Expr *copy = ARENA_NEW(a, Expr);
    *copy = *e;
    copy->args = ARENA_ARRAY(a, Expr *, e->n + 1);
    for (int i = 0; i < e->n; i++)
        copy->args[i] = expr_map_reads(a, e->args[i], f, data);
    return e->op == OP_READ ? f(copy, data) : copy;
}

Equation *equation_map_reads(Arena *a, const Equation *e, Expr *(*f)(Expr *read, void *data), void *data)
{
    Equation *copy = ARENA_NEW(a, Equation);
    *copy = *e;
    copy->rhs = expr_map_reads(a, e->rhs, f, data);
    if (!e->nest)
        return copy;
    copy->nest = ARENA_NEW(a, Nest);
    *copy->nest = *e->nest;
    copy->nest->conds.at = NULL;
    copy->nest->conds.n = copy->nest->conds.cap = 0;
    for (int i = 0; i < e->nest->conds.n; i++)
        VEC_PUSH(a, &copy->nest->conds, expr_map_reads(a, e->nest->conds.at[i], f, data));
    return copy;
}
