// The verifier of the tile level: see verify.h. Walks the tree once with the indices and registers in scope and stops at
// the first broken rule; the kernel itself is verified as at the task level.
//
// Test: tests/unit/test_ir_tile.c
#include "ir/verify.h"

#include "ir/verify_tree.h"

#include <string.h>

typedef struct {
    Verifier v;
    const TileKernel *tile;
    const Node *grid;                 // around
    VEC(const Tensor *) locals;       // registers in scope
} TileVerifier;

enum { MOST_LANES = 64, MOST_UNROLL = 64 };
#define LARGEST_OFFSET (INT64_C(1) << 62)

static const Storage *storage_of(const TileVerifier *t, const Tensor *x) {
    return &t->tile->storage[x->id];
}

// ---- storage ----

static bool see_index(Expr *e, void *data) {
    bool *size = data;
    *size = *size && e->op != OP_INDEX && e->op != OP_READ;
    return *size;
}

// Made of dims alone: it is looked at before anything runs.
static bool is_size(const Expr *e) {
    bool size = true;
    expr_walk((Expr *)e, see_index, &size);
    return size;
}

static bool dimension(TileVerifier *t, const StorageDim *d) {
    switch (d->kind) {
    case DIM_FULL:
        if (!d->base || !d->extent || d->base->type != DT_INDEX || d->extent->type != DT_INDEX)
            return irverify_bad(&t->v, "a dimension without base or extent");
        return is_size(d->extent) || irverify_bad(&t->v, "an extent that depends on an index");
    case DIM_DROP:
        return true;
    case DIM_MODULO:
        return d->modulo >= 1 || irverify_bad(&t->v, "a window of %lld elements", (long long)d->modulo);
    }
    return irverify_bad(&t->v, "a dimension of no kind");
}

static bool storage(TileVerifier *t, int i) {
    const Tensor *x = t->tile->kernel->tensors.at[i];
    const Storage *st = storage_of(t, x);
    t->v.place = arena_printf(t->v.arena, "storage of `%s`", x->name);
    bool param = x->kind == TENSOR_INPUT || x->kind == TENSOR_OUTPUT;
    if (st->tensor != x || st->depth < 0)
        return irverify_bad(&t->v, "it is of another tensor, or at no depth");
    if (st->kind != STORE_NONE && (st->kind == STORE_PARAM) != param)
        return irverify_bad(&t->v, "inputs and outputs are stored as parameters, and nothing else is");
    for (int d = 0; st->kind != STORE_NONE && st->kind != STORE_PARAM && d < x->rank; d++) {
        if (!dimension(t, &st->dim[d]))
            return false;
        if (st->kind == STORE_REGISTER && st->dim[d].kind != DIM_DROP && st->dim[d].kind != DIM_MODULO)
            return irverify_bad(&t->v, "a register with a whole dimension");
        if (st->kind == STORE_REGISTER && st->dim[d].kind == DIM_MODULO && st->dim[d].modulo != 1)
            return irverify_bad(&t->v, "a register with a window");
    }
    return true;
}

static bool is_local(const TileVerifier *t, const Tensor *x) {
    for (int i = 0; i < t->locals.n; i++)
        if (t->locals.at[i] == x)
            return true;
    return false;
}

// Whether a tensor can be used here: it is stored, a register declared, and what its storage depends on is bound.
static bool access(TileVerifier *t, const Tensor *x) {
    const Storage *st = storage_of(t, x);
    if (st->kind == STORE_NONE)
        return irverify_bad(&t->v, "`%s` is used and stored nowhere", x->name);
    if (st->kind == STORE_REGISTER && !is_local(t, x))
        return irverify_bad(&t->v, "register `%s` is used where no node lists it", x->name);
    for (int d = 0; st->kind != STORE_PARAM && d < x->rank; d++)
        if (st->dim[d].kind == DIM_FULL && (!irverify_index(&t->v, st->dim[d].base, "base") || !irverify_index(&t->v, st->dim[d].extent, "extent")))
            return false;
    return true;
}

// ---- expressions ----

typedef struct { TileVerifier *t; bool good; } Reads;

static bool check_read(Expr *e, void *data) {
    Reads *r = data;
    if (r->good && e->op == OP_READ)
        r->good = access(r->t, e->tensor);
    return r->good;
}

static bool value(TileVerifier *t, Expr *e, DType type, const char *what) {
    if (!e)
        return irverify_bad(&t->v, "no %s", what);
    if (!irverify_expr(&t->v, e))
        return false;
    if (e->type != type)
        return irverify_bad(&t->v, "a %s of type %s, not %s", what, dtype_name(e->type), dtype_name(type));
    Reads r = {.t = t, .good = true};
    expr_walk(e, check_read, &r);
    return r.good;
}

// From data: the update of a scatter, whose guards keep the subscript inside.
static bool subscripts(TileVerifier *t, const Tensor *x, Expr *const *subs, bool from_data) {
    if (x->rank && !subs)
        return irverify_bad(&t->v, "no subscripts");
    for (int d = 0; d < x->rank; d++)
        if (from_data && subs[d]->type == DT_I64 ? !value(t, subs[d], DT_I64, "subscript") : !irverify_index(&t->v, subs[d], "subscript"))
            return false;
    return true;
}

// ---- operations ----

static bool suits(const Node *n) {
    EqKind kind = n->eq->kind;
    return n->op == OPK_MAP ? kind == EQ_MAP : n->op == OPK_SCAN ? kind == EQ_SCAN : kind == EQ_REDUCE;
}

static bool operation(TileVerifier *t, const Node *n) {
    const Kernel *k = t->tile->kernel;
    if (!n->eq || n->eq->id < 0 || n->eq->id >= k->equations.n || k->equations.at[n->eq->id] != n->eq)
        return irverify_bad(&t->v, "an operation of no equation");
    t->v.place = arena_printf(t->v.arena, "operation of `%s`", n->eq->name);
    if (!t->grid)
        return irverify_bad(&t->v, "it is outside of all grids");
    if (n->tensor != n->eq->lhs || !suits(n))
        return irverify_bad(&t->v, "its equation defines another tensor, or in another way");
    if (n->op != OPK_MAP && n->reduce != n->eq->nest->op)
        return irverify_bad(&t->v, "it is a %s, and its equation a %s", reduce_name(n->reduce), reduce_name(n->eq->nest->op));
    if (!access(t, n->tensor) || !subscripts(t, n->tensor, n->subs, n->op == OPK_UPDATE))
        return false;
    if (n->op == OPK_INIT)
        return !n->value || irverify_bad(&t->v, "an init with a value");
    if (n->guards.n && n->op != OPK_UPDATE)
        return irverify_bad(&t->v, "guards of something that is no update");
    for (int i = 0; i < n->guards.n; i++)
        if (!value(t, n->guards.at[i], DT_BOOL, "guard"))
            return false;
    if (n->op == OPK_SCAN && (!subscripts(t, n->tensor, n->previous, false) || !value(t, n->first, DT_BOOL, "beginning")))
        return false;
    return value(t, n->value, n->tensor->type, "value");
}

// ---- nodes ----

static bool node(TileVerifier *t, const Node *n);

static bool body(TileVerifier *t, const Node *n) {
    int locals = t->locals.n;
    if (n->locals.n && !t->grid)
        return irverify_bad(&t->v, "registers outside of all grids");
    for (int i = 0; i < n->locals.n; i++) {
        const Tensor *x = n->locals.at[i];
        if (!irverify_owns(t->tile->kernel, x) || storage_of(t, x)->kind != STORE_REGISTER)
            return irverify_bad(&t->v, "a local that is no register");
        if (is_local(t, x))
            return irverify_bad(&t->v, "register `%s` is listed twice", x->name);
        VEC_PUSH(t->v.arena, &t->locals, x);
    }
    for (int i = 0; i < n->body.n; i++)
        if (!node(t, n->body.at[i]))
            return false;
    t->locals.n = locals;
    return true;
}

typedef struct { const Node *loop; bool good; } Before;

static bool writes(const Node *n, const Tensor *t) {
    if (n->kind == NODE_OP)
        return n->tensor == t;
    for (int i = 0; i < n->body.n; i++)
        if (writes(n->body.at[i], t))
            return true;
    return false;
}

static bool check_before(Expr *e, void *data) {
    Before *b = data;
    b->good = b->good && !(e->op == OP_READ && writes(b->loop, e->tensor));
    return b->good;
}

// Is it the same in all iterations of the loop?
static bool is_before(const Node *loop, Expr *e) {
    Before b = {loop, true};
    expr_walk(e, check_before, &b);
    return b.good;
}

// What does not use the index says whether the loop runs at all.
static bool bounds(TileVerifier *t, const Node *n) {
    LoopBound b;
    for (int i = 0; i < n->bounds.n; i++) {
        if (!value(t, n->bounds.at[i], DT_BOOL, "bound"))
            return false;
        if (expr_uses(n->bounds.at[i], n->index) && !loop_bound(t->v.arena, n->index, n->bounds.at[i], &b))
            return irverify_bad(&t->v, "a bound compares the index with what is known before the loop");
        if (!is_before(n, n->bounds.at[i]))
            return irverify_bad(&t->v, "a bound reads what the loop writes");
    }
    return n->bounds.n == 0 || (n->step == 1 && t->grid) || irverify_bad(&t->v, "a loop with bounds goes on by 1, inside of a grid");
}

static bool loop(TileVerifier *t, const Node *n) {
    t->v.place = arena_printf(t->v.arena, "loop `%s`", n->index && n->index->name ? n->index->name : "?");
    if (!n->index || !n->index->name || n->step < 1 || n->lanes < 0 || n->unroll < 1)
        return irverify_bad(&t->v, "no index, or a step, lanes or unrolling that cannot be");
    int64_t passed;                   // what the loop may pass its end by
    if (n->lanes > MOST_LANES || (n->lanes & (n->lanes - 1)) || n->unroll > MOST_UNROLL || __builtin_mul_overflow(n->step, 2 * n->unroll * (n->lanes ? n->lanes : 1), &passed))
        return irverify_bad(&t->v, "a step, lanes or unrolling that cannot be: lanes are a power of two up to %d, and so many unrolled at most", MOST_LANES);
    if (!t->grid && (n->step > 1 || n->lanes || n->unroll > 1))
        return irverify_bad(&t->v, "a step, lanes or unrolling outside of all grids");
    if (!irverify_index(&t->v, n->index->lo, "lower bound") || !irverify_index(&t->v, n->index->hi, "upper bound"))
        return false;
    VEC_PUSH(t->v.arena, &t->v.scope, n->index);
    return bounds(t, n) && body(t, n);
}

static bool grid_dim(TileVerifier *t, const GridDim *d) {
    if (!d->name || !d->lo || !d->lo->name || !d->hi || !d->hi->name)
        return irverify_bad(&t->v, "a dimension without a name or bounds");
    return irverify_index(&t->v, d->begin, "begin") && irverify_index(&t->v, d->end, "end") && irverify_index(&t->v, d->tile, "tile size");
}

static bool grid(TileVerifier *t, const Node *n) {
    int outer = t->v.scope.n;
    t->v.place = n->name ? arena_printf(t->v.arena, "grid `%s`", n->name) : "a grid";
    if (t->grid)
        return irverify_bad(&t->v, "it is inside of another grid");
    if (n->ndims < 0 || n->ndims > 4 || n->noffsets < 0 || n->noffsets > 16 || n->max_workers < 0)
        return irverify_bad(&t->v, "more dimensions or distances than there can be, or fewer than none");
    for (int i = 0; i < n->ndims; i++)
        if (!grid_dim(t, &n->dims[i]))
            return false;
    for (int i = 0; i < n->noffsets; i++)
        for (int q = 0; q < n->ndims; q++)
            if (n->offsets[i][q] > LARGEST_OFFSET || n->offsets[i][q] < -LARGEST_OFFSET)
                return irverify_bad(&t->v, "a distance that no grid has");
    for (int i = 0; i < n->ndims; i++) {
        VEC_PUSH(t->v.arena, &t->v.scope, n->dims[i].lo);
        VEC_PUSH(t->v.arena, &t->v.scope, n->dims[i].hi);
    }
    t->grid = n;
    bool good = body(t, n);
    t->grid = NULL;
    t->v.scope.n = outer;
    return good;
}

static bool condition(TileVerifier *t, const Node *n) {
    t->v.place = "a condition";
    return (t->grid || irverify_bad(&t->v, "it is outside of all grids")) && value(t, n->cond, DT_BOOL, "condition") && body(t, n);
}

static bool node(TileVerifier *t, const Node *n) {
    int outer = t->v.scope.n;
    bool good = false;
    if (!n)
        return irverify_bad(&t->v, "a node is missing");
    switch (n->kind) {
    case NODE_SEQ: good = body(t, n); break;
    case NODE_IF: good = condition(t, n); break;
    case NODE_LOOP: good = loop(t, n); break;
    case NODE_GRID: good = grid(t, n); break;
    case NODE_OP: good = operation(t, n); break;
    }
    t->v.scope.n = outer;
    return good;
}

// Logs come after the last grid, when only what outlives grids is there.
static bool check_logged(Expr *e, void *data) {
    Reads *r = data;
    StorageKind kind = e->op == OP_READ ? storage_of(r->t, e->tensor)->kind : STORE_PARAM;
    r->good = r->good && (kind == STORE_PARAM || kind == STORE_WORKSPACE);
    return r->good;
}

static bool logs(TileVerifier *t) {
    const Kernel *k = t->tile->kernel;
    Reads r = {.t = t, .good = true};
    for (int i = 0; i < k->logs.n; i++)
        for (int a = 0; a < k->logs.at[i]->args.n; a++)
            expr_walk(k->logs.at[i]->args.at[a], check_logged, &r);
    t->v.place = "log";
    return r.good || irverify_bad(&t->v, "it reads what is gone when the kernel ends");
}

bool ir_verify_tile(const TileKernel *k, FILE *why) {
    if (!ir_verify_task(k->kernel, why))
        return false;
    TileVerifier t = {.v = {.kernel = k->kernel, .why = why, .arena = arena_new(), .place = "tree", .normal = true}, .tile = k};
    bool good = true;
    for (int i = 0; good && i < k->kernel->tensors.n; i++)
        good = storage(&t, i);
    t.v.place = "tree";
    if (good && (!k->root || k->root->kind != NODE_SEQ))
        good = irverify_bad(&t.v, "the root is no sequence");
    good = good && node(&t, k->root) && logs(&t);
    arena_free(t.v.arena);
    return good;
}
