// From the tree of a textual kernel of the tile level (see ir/print.h) to the kernel: read.c reads what the task level
// has, here are storage and the tree of loops. What does not fit is left to ir/verify_tile.c.
//
// Test: tests/unit/test_ir_tile.c
#include "ir/read.h"

#include "ir/read_tree.h"
#include "ir/verify.h"

#include <limits.h>
#include <string.h>

enum { MOST_GRID_DIMS = 4, MOST_OFFSETS = 16 };

typedef IrTileReader TileReader;

bool irread_is_line(const TreeStmt *s, const char *keyword) {
    return strcmp(s->label.keyword, keyword) == 0;
}

// The position of a word in a list of names, or -1.
int irread_position(const char *word, int n, const char *const *names) {
    for (int i = 0; word && i < n; i++)
        if (strcmp(word, names[i]) == 0)
            return i;
    return -1;
}

int64_t irread_number(TileReader *t, const Tree *x) {
    Expr *e = irread_expr(&t->r, x);
    if (e->op == OP_CONST && e->type == DT_INDEX)
        return e->i;
    irread_fail(&t->r, x->range, "a number has to stand here");
    return 1;
}

static Tensor *read_tensor_name(TileReader *t, const char *name, Range range) {
    Tensor *x = irread_tensor(&t->r, name);
    if (!x)
        irread_fail(&t->r, range, "'%s' is no tensor", name);
    return x;
}

// `name(8)`: 8 in *value. A bare `name` gives no number, and *value stays.
static const char *read_attribute(TileReader *t, const Tree *x, int64_t *value) {
    if (x->kind == TREE_NAME)
        return x->text;
    if (x->kind != TREE_CALL || x->args.n != 1 || x->body) {
        irread_fail(&t->r, x->range, "an attribute is a word or word(number)");
        return "";
    }
    *value = irread_number(t, x->args.at[0]);
    return x->text;
}

// The same where it has to be a small one.
static const char *read_count(TileReader *t, const Tree *x, int64_t *value) {
    const char *name = read_attribute(t, x, value);
    if (*value < 0 || *value > INT_MAX)
        irread_fail(&t->r, x->range, "`%s` takes a number from 0 to %d", name, INT_MAX);
    return name;
}

// ---- storage ----

static StorageDim read_dimension(TileReader *t, const Tree *x) {
    StorageDim d = {.kind = DIM_FULL};
    bool call = x->kind == TREE_CALL && !x->body;
    if (call && strcmp(x->text, "full") == 0 && x->args.n == 2) {
        d.base = irread_expr(&t->r, x->args.at[0]);
        d.extent = irread_expr(&t->r, x->args.at[1]);
    } else if (call && strcmp(x->text, "modulo") == 0 && x->args.n == 1) {
        d.kind = DIM_MODULO;
        d.modulo = irread_number(t, x->args.at[0]);
    } else if (x->kind == TREE_NAME && strcmp(x->text, "drop") == 0)
        d.kind = DIM_DROP;
    else if (x->kind != TREE_NAME || strcmp(x->text, "full") != 0)
        irread_fail(&t->r, x->range, "a dimension is stored as full(base, extent), modulo(n) or drop");
    return d;
}

static void read_store(TileReader *t, const TreeStmt *s) {
    static const char *const kinds[] = {[STORE_NONE] = "none", [STORE_PARAM] = "param", [STORE_WORKSPACE] = "workspace", [STORE_SCRATCH] = "scratch",
                                        [STORE_REGISTER] = "register"};
    const Tensor *x = read_tensor_name(t, s->names.at[0].name, s->names.at[0].range);
    int kind = irread_position(s->label.word, sizeof kinds / sizeof *kinds, kinds);
    if (kind < 0)
        irread_fail(&t->r, s->range, "a tensor is stored as param, workspace, scratch or register");
    if (!x || kind < 0)
        return;
    Storage *st = &t->tile->storage[x->id];
    if (st->kind != STORE_NONE)
        irread_fail(&t->r, s->range, "`%s` is stored twice", x->name);
    st->kind = (StorageKind)kind;
    st->depth = s->label.origin;
    int n = s->subs.n;
    const Tree *last = n > 0 ? s->subs.at[n - 1] : NULL;
    st->holes = st->kind == STORE_WORKSPACE && last && last->kind == TREE_NAME && strcmp(last->text, "holes") == 0;
    n -= st->holes;
    if (n != (st->kind == STORE_PARAM ? 0 : x->rank))
        irread_fail(&t->r, s->range, "storage says each dimension, and none of a parameter");
    for (int d = 0; d < n && d < x->rank; d++)
        st->dim[d] = read_dimension(t, s->subs.at[d]);
}

// ---- operations ----

const Equation *irread_equation(TileReader *t, const char *name, Range range) {
    const Kernel *k = t->r.kernel;
    for (int i = 0; i < k->equations.n; i++)
        if (strcmp(k->equations.at[i]->name, name) == 0)
            return k->equations.at[i];
    irread_fail(&t->r, range, "there is no equation '%s'", name);
    return NULL;
}

// `sum(...)`: the operator; its arguments are the caller's business.
static void read_operator(TileReader *t, Node *n, const Tree *x, int nargs) {
    DType type;
    if (x->kind != TREE_CALL || x->body || x->args.n != nargs || !irread_reduction(x->text, &n->reduce, &type))
        irread_fail(&t->r, x->range, "the right side is no reduction of %d arguments", nargs);
}

static void read_scan(TileReader *t, Node *n, const TreeStmt *s) {
    read_operator(t, n, s->expr, 2);
    n->reverse = s->label.word != NULL;
    if (t->r.failed)
        return;
    const Tree *before = s->expr->args.at[0];
    if ((before->kind != TREE_INDEX && before->kind != TREE_NAME) || strcmp(before->text, n->tensor->name) != 0 || before->args.n != n->tensor->rank)
        irread_fail(&t->r, before->range, "the first argument is the element before");
    n->previous = irread_exprs(&t->r, &before->args);
    n->value = irread_expr(&t->r, s->expr->args.at[1]);
    if (s->conds.n != 1)
        irread_fail(&t->r, s->range, "a scan has one condition: where it begins");
    else
        n->first = irread_expr(&t->r, s->conds.at[0]);
}

static void read_right_side(TileReader *t, Node *n, const TreeStmt *s) {
    if (s->label.word && (n->op != OPK_SCAN || strcmp(s->label.word, "reverse") != 0))
        irread_fail(&t->r, s->label.range, "only a scan has a word here: `reverse`");
    switch (n->op) {
    case OPK_MAP:
        n->value = irread_expr(&t->r, s->expr);
        break;
    case OPK_INIT:
        read_operator(t, n, s->expr, 0);
        break;
    case OPK_UPDATE:
        read_operator(t, n, s->expr, 1);
        if (!t->r.failed)
            n->value = irread_expr(&t->r, s->expr->args.at[0]);
        for (int i = 0; i < s->conds.n; i++)
            VEC_PUSH(t->r.arena, &n->guards, irread_expr(&t->r, s->conds.at[i]));
        return;
    case OPK_SCAN:
        read_scan(t, n, s);
        return;
    }
    if (s->conds.n)
        irread_fail(&t->r, s->range, "a condition where none can be");
}

static void read_operation(TileReader *t, Node *parent, const TreeStmt *s) {
    static const char *const keywords[] = {[OPK_MAP] = "map", [OPK_INIT] = "init", [OPK_UPDATE] = "update", [OPK_SCAN] = "scan"};
    Node *n = node_new(t->r.arena, NODE_OP);
    n->op = (OpKind)irread_position(s->label.keyword, 4, keywords);
    n->eq = irread_equation(t, s->label.name, s->label.range);
    n->tensor = read_tensor_name(t, s->names.at[0].name, s->names.at[0].range);
    if (!n->tensor || s->names.n != 1 || s->view || s->subs.n != n->tensor->rank) {
        irread_fail(&t->r, s->range, "a left side is one tensor with a subscript a dimension");
        return;
    }
    n->subs = irread_exprs(&t->r, &s->subs);
    read_right_side(t, n, s);
    node_append(t->r.arena, parent, n);
}

// ---- nodes ----

static void read_locals(TileReader *t, Node *n, const TreeStmt *s) {
    for (int i = 0; i < s->subs.n; i++) {
        const Tree *x = s->subs.at[i];
        Tensor *local = x->kind == TREE_NAME ? irread_tensor(&t->r, x->text) : NULL;
        if (local)
            VEC_PUSH(t->r.arena, &n->locals, local);
        else
            irread_fail(&t->r, x->range, "a local is a tensor's name");
    }
}

static bool is_bounded(const Tree *x) {
    return x->kind == TREE_CALL && !x->body && strcmp(x->text, "bounded") == 0;
}

static void read_role(TileReader *t, Node *n, const Tree *x) {
    static const char *const roles[] = {[LOOP_SERIAL] = "serial", [LOOP_PARALLEL] = "parallel", [LOOP_REDUCE] = "reduce", [LOOP_SCAN] = "scan"};
    int64_t value = 1;
    if (is_bounded(x)) {
        for (int i = 0; i < x->args.n; i++)
            VEC_PUSH(t->r.arena, &n->bounds, irread_expr(&t->r, x->args.at[i]));
        return;
    }
    bool step = x->kind == TREE_CALL && strcmp(x->text, "step") == 0;
    const char *name = step ? read_attribute(t, x, &value) : read_count(t, x, &value);
    int role = irread_position(name, 4, roles);
    if (role >= 0)
        n->role = (LoopRole)role;
    else if (strcmp(name, "step") == 0)
        n->step = value;
    else if (strcmp(name, "lanes") == 0)
        n->lanes = (int)value;
    else if (strcmp(name, "unroll") == 0)
        n->unroll = (int)value;
    else if (strcmp(name, "wanted") == 0)
        n->wanted = true;
    else
        irread_fail(&t->r, x->range, "a loop is serial, parallel, reduce or scan, with step(n), lanes(n), unroll(n), wanted, bounded(...)");
}

static void read_loop(TileReader *t, Node *n, const TreeStmt *s) {
    Expr *lo, *hi;
    if (!irread_bounds(&t->r, s->expr, &lo, &hi))
        return;
    n->index = irread_bind(&t->r, s->names.at[0].name, s->names.at[0].range);
    n->index->lo = lo;
    n->index->hi = hi;
    for (int i = 0; i < s->subs.n; i++)
        read_role(t, n, s->subs.at[i]);
}

static void read_grid(TileReader *t, Node *n, const TreeStmt *s) {
    static const char *const modes[] = {[MODE_AUTO] = "auto", [MODE_SERIAL] = "serial", [MODE_STATIC] = "static", [MODE_DYNAMIC] = "dynamic", [MODE_WAVE] = "wave"};
    n->name = s->names.n ? s->names.at[0].name : NULL;
    for (int i = 0; i < s->subs.n; i++) {
        int64_t value = 0;
        const char *name = read_count(t, s->subs.at[i], &value);
        int mode = irread_position(name, 5, modes);
        if (mode >= 0)
            n->mode = (GridMode)mode;
        else if (strcmp(name, "max") == 0)
            n->max_workers = (int)value;
        else
            irread_fail(&t->r, s->subs.at[i]->range, "a grid is auto, serial, static, dynamic or wave, with max(n)");
    }
}

// `tile i in begin..end: lo..hi, size;`
static void read_grid_dim(TileReader *t, Node *grid, const TreeStmt *s) {
    const Tree *bounds = s->subs.at[0];
    if (grid->kind != NODE_GRID || grid->ndims == MOST_GRID_DIMS || bounds->args.at[0]->kind != TREE_NAME || bounds->args.at[1]->kind != TREE_NAME) {
        irread_fail(&t->r, s->range, "a grid has at most %d dimensions: tile i in 0..N: lo..hi, size;", MOST_GRID_DIMS);
        return;
    }
    GridDim *d = &grid->dims[grid->ndims++];
    d->name = s->names.at[0].name;
    irread_bounds(&t->r, s->expr, &d->begin, &d->end);
    d->tile = irread_expr(&t->r, s->subs.at[1]);
    d->lo = irread_bind(&t->r, bounds->args.at[0]->text, bounds->args.at[0]->range);
    d->hi = irread_bind(&t->r, bounds->args.at[1]->text, bounds->args.at[1]->range);
}

// `value size1: (N + 7) / 8;`
static void read_value(TileReader *t, const Node *grid, const TreeStmt *s) {
    if (!t->target || grid->kind != NODE_GRID || s->subs.n != 1 || s->label.word) {
        irread_fail(&t->r, s->range, "a value names one expression in a grid, at the move level: value size: (N + 7) / 8;");
        return;
    }
    irread_value(&t->r, s->names.at[0].name, s->names.at[0].range, irread_expr(&t->r, s->subs.at[0]));
}

static void read_offset(TileReader *t, Node *grid, const TreeStmt *s) {
    if (grid->kind != NODE_GRID || grid->noffsets == MOST_OFFSETS || s->subs.n != grid->ndims) {
        irread_fail(&t->r, s->range, "a grid waits at most at %d distances, with a number for each dimension", MOST_OFFSETS);
        return;
    }
    int64_t *to = grid->offsets[grid->noffsets++];
    for (int q = 0; q < s->subs.n; q++)
        to[q] = irread_number(t, s->subs.at[q]);
}

static void read_block(TileReader *t, Node *parent, const TreeStmt *s) {
    int outer = t->r.scope.n;
    NodeKind kind = irread_is_line(s, "for") ? NODE_LOOP : irread_is_line(s, "grid") ? NODE_GRID : irread_is_line(s, "if") ? NODE_IF : NODE_SEQ;
    Node *n = node_new(t->r.arena, kind);
    if (kind == NODE_LOOP)
        read_loop(t, n, s);
    else if (kind == NODE_GRID)
        read_grid(t, n, s);
    else if (kind == NODE_IF)
        n->cond = irread_expr(&t->r, s->expr);
    irread_lines(t, n, &s->body);
    t->r.scope.n = outer;
    t->r.values.n = kind == NODE_GRID ? 0 : t->r.values.n;
    node_append(t->r.arena, parent, n);
}

static bool is_block(const TreeStmt *s) {
    static const char *const keywords[] = {"for", "grid", "if", "seq"};
    return irread_position(s->label.keyword, 4, keywords) >= 0;
}

static void read_line(TileReader *t, Node *parent, const TreeStmt *s) {
    if (!irread_is_tile(s))
        irread_fail(&t->r, s->range, "this stands outside of all blocks");
    else if (s->kind == STMT_EQUATION)
        read_operation(t, parent, s);
    else if (irread_is_line(s, "store"))
        read_store(t, s);
    else if (irread_is_line(s, "local"))
        read_locals(t, parent, s);
    else if (irread_is_line(s, "tile"))
        read_grid_dim(t, parent, s);
    else if (irread_is_line(s, "value"))
        read_value(t, parent, s);
    else if (irread_is_line(s, "after"))
        read_offset(t, parent, s);
    else if (irread_is_line(s, "program") || irread_is_line(s, "task"))
        irread_program(t, parent, s);
    else if (!is_block(s))
        irread_fail(&t->r, s->range, "this stands inside of a program, at the move level");
    else
        read_block(t, parent, s);
}

void irread_lines(TileReader *t, Node *parent, const TreeStmts *lines) {
    for (int i = 0; i < lines->n; i++)
        if (irread_is_tile(lines->at[i]) || parent != t->tile->root)
            read_line(t, parent, lines->at[i]);
}

// ---- kernels ----

static bool verify_tile(const void *tile, FILE *why) {
    return ir_verify_tile(tile, why);
}

TileKernel *irread_tile_kernel(TileReader *t, const TreeFile *f, const TreeKernel *kernel) {
    Arena *a = t->r.arena;
    t->tile = ARENA_NEW(a, TileKernel);
    irread_kernel(&t->r, f, kernel);
    const Kernel *k = t->r.kernel;
    t->tile->kernel = k;
    t->tile->root = node_new(a, NODE_SEQ);
    t->tile->storage = ARENA_ARRAY(a, Storage, k->tensors.n + 1);
    for (int i = 0; i < k->tensors.n; i++)
        t->tile->storage[i] = (Storage){.tensor = k->tensors.at[i], .dim = ARENA_ARRAY(a, StorageDim, k->tensors.at[i]->rank + 1)};
    t->r.scope.n = 0;
    irread_lines(t, t->tile->root, &kernel->stmts);
    return t->tile;
}

TileKernel *ir_read_tile(Arena *a, Diags *d, const TreeFile *f, const TreeKernel *kernel) {
    TileReader t = {.r = {.arena = a, .diags = d, .level = "tile"}};
    irread_tile_kernel(&t, f, kernel);
    irread_verify(&t.r, verify_tile, t.tile);
    irread_end(&t.r);
    return t.r.failed ? NULL : t.tile;
}
