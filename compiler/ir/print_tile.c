// Textual IR of the tile level: the kernel as at the task level, then storage and the tree, as a syntax tree which the
// printer of trees writes. ir/print.h shows the form. Indices are objects in the IR and names in the text, so one that
// would hide another gets a new name.
//
// Test: tests/unit/test_ir_tile.c
#include "ir/print.h"

#include "ir/print_tree.h"
#include "syntax/print.h"

#include <string.h>

typedef IrPrinter Printer;

// ---- names ----

static bool is_taken(const Printer *p, const char *name) {
    const Kernel *k = p->tile->kernel;
    for (int i = 0; i < p->scope.n; i++)
        if (strcmp(p->scope.at[i].name, name) == 0)
            return true;
    for (int i = 0; i < k->dims.n; i++)
        if (strcmp(k->dims.at[i]->name, name) == 0)
            return true;
    for (int i = 0; i < k->tensors.n; i++)
        if (strcmp(k->tensors.at[i]->name, name) == 0)
            return true;
    return false;
}

// The name of an index from here on.
const char *irtree_bind(Printer *p, Index *index) {
    Arena *a = p->arena;
    const char *name = index->name;
    for (int i = 1; is_taken(p, name); i++)
        name = arena_printf(a, "%s.%d", index->name, i);
    Index *renamed = ARENA_NEW(a, Index);
    *renamed = (Index){.name = name, .range = index->range};
    VEC_PUSH(a, &p->scope, ((IrNamed){.index = index, .name = name, .as = expr_index(a, renamed, index->range)}));
    return name;
}

// Which subscripts of a read can leave its tensor: `x[edge(i - 1)]`; `edge(i - 1, empty)` where there may be nothing to repeat.
static void mark_edges(const Printer *p, Tree *t, const Expr *e) {
    for (int i = 0; i < e->n && i < t->args.n; i++) {
        mark_edges(p, t->args.at[i], e->args[i]);
        unsigned bits = e->op == OP_READ ? e->outside >> i & (1u | EXPR_EMPTY_BORDER) : 0;
        if (!bits)
            continue;
        Tree *edge = irtree_add(p->arena, irtree_named(p->arena, TREE_CALL, "edge"), t->args.at[i]);
        t->args.at[i] = bits & EXPR_EMPTY_BORDER ? irtree_add(p->arena, edge, irtree_named(p->arena, TREE_NAME, "empty")) : edge;
    }
}

static Tree *named(const Printer *p, const Expr *e) {
    Index **from = ARENA_ARRAY(p->arena, Index *, p->scope.n + 1);
    Expr **to = ARENA_ARRAY(p->arena, Expr *, p->scope.n + 1);
    int n = 0;
    for (int i = 0; i < p->scope.n; i++) {
        const IrNamed *x = &p->scope.at[i];
        if (strcmp(x->name, x->index->name) == 0)
            continue;
        from[n] = x->index;
        to[n++] = x->as;
    }
    return irtree_expr(p->arena, n ? expr_substitute(p->arena, (Expr *)e, n, from, to) : e);
}

Tree *irtree_value(const Printer *p, const Expr *e) {
    Tree *t = named(p, e);
    mark_edges(p, t, e);
    return t;
}

static Tree *range(const Printer *p, const Expr *lo, const Expr *hi) {
    return irtree_add(p->arena, irtree_add(p->arena, irtree_new(p->arena, TREE_RANGE), irtree_value(p, lo)), irtree_value(p, hi));
}

static void add(const Printer *p, TreeList *list, Tree *t) {
    VEC_PUSH(p->arena, list, t);
}

static void add_trees(const Printer *p, TreeList *list, int n, Expr *const *exprs) {
    for (int i = 0; i < n; i++)
        add(p, list, irtree_value(p, exprs[i]));
}

Tree *irtree_word(const Printer *p, const char *name) {
    return irtree_named(p->arena, TREE_NAME, name);
}

Tree *irtree_integer(const Printer *p, int64_t value) {
    return irtree_expr(p->arena, expr_int(p->arena, DT_INDEX, value, (Range){0, 0}));
}

// "lanes(8)"
Tree *irtree_counted(const Printer *p, const char *name, int64_t value) {
    return irtree_add(p->arena, irtree_named(p->arena, TREE_CALL, name), irtree_integer(p, value));
}

TreeStmt *irtree_line(const Printer *p, TreeStmts *to, const char *keyword, const char *name) {
    return irtree_stmt(p->arena, to, STMT_NODE, keyword, name);
}

// ---- storage ----

static const char *storage_name(StorageKind kind) {
    switch (kind) {
    case STORE_NONE: return "none";
    case STORE_PARAM: return "param";
    case STORE_WORKSPACE: return "workspace";
    case STORE_SCRATCH: return "scratch";
    case STORE_REGISTER: return "register";
    }
    return "?";
}

static Tree *dimension(const Printer *p, const StorageDim *d) {
    switch (d->kind) {
    case DIM_FULL:
        if (!d->base || !d->extent)
            return irtree_word(p, "full");
        return irtree_add(p->arena, irtree_add(p->arena, irtree_named(p->arena, TREE_CALL, "full"), irtree_value(p, d->base)), irtree_value(p, d->extent));
    case DIM_DROP:
        return irtree_word(p, "drop");
    case DIM_MODULO:
        return irtree_counted(p, "modulo", d->modulo);
    }
    return NULL;
}

static void add_storage(const Printer *p, TreeStmts *to, const Storage *st) {
    TreeStmt *s = irtree_line(p, to, "store", st->tensor->name);
    s->label.word = storage_name(st->kind);
    s->label.origin = st->depth;
    for (int d = 0; st->kind != STORE_PARAM && d < st->tensor->rank; d++)
        add(p, &s->subs, dimension(p, &st->dim[d]));
    if (st->holes)
        add(p, &s->subs, irtree_named(p->arena, TREE_NAME, "holes"));
}

typedef struct { const Printer *p; int depth; } Deepest;      // how much of the scope an expression needs

static bool look_deeper(Expr *e, void *data) {
    Deepest *d = data;
    for (int i = d->depth; e->op == OP_INDEX && i < d->p->scope.n; i++)
        if (d->p->scope.at[i].index == e->index)
            d->depth = i + 1;
    return true;
}

static bool has_all(Expr *e, void *data) {
    const Printer **p = data;
    bool found = e->op != OP_INDEX;
    for (int i = 0; *p && !found && i < (*p)->scope.n; i++)
        found = (*p)->scope.at[i].index == e->index;
    if (!found)
        *p = NULL;
    return found;
}

// Whether its lines belong here: all indices are bound, and not all of them already were with the first `outer`.
static bool is_stored_here(const Printer *p, const Storage *st, int outer) {
    Deepest deepest = {.p = p};
    const Printer *all = p;
    for (int d = 0; st->kind != STORE_PARAM && d < st->tensor->rank; d++) {
        Expr *ends[] = {st->dim[d].base, st->dim[d].extent};
        for (int i = 0; i < 2; i++)
            if (ends[i]) {
                expr_walk(ends[i], look_deeper, &deepest);
                expr_walk(ends[i], has_all, &all);
            }
    }
    return all && (deepest.depth > outer || outer < 0);
}

// `outer`: how many indices were bound around the node; -1 at the root.
static void add_stores(const Printer *p, TreeStmts *to, int outer) {
    const Kernel *k = p->tile->kernel;
    for (int i = 0; i < k->tensors.n; i++) {
        const Storage *st = &p->tile->storage[i];
        if (st->kind != STORE_NONE && is_stored_here(p, st, outer))
            add_storage(p, to, st);
    }
}

// ---- operations ----

static Tree *element(const Printer *p, const Tensor *t, Expr *const *subs) {
    Tree *read = irtree_named(p->arena, t->rank ? TREE_INDEX : TREE_NAME, t->name);
    add_trees(p, &read->args, t->rank, subs);
    return read;
}

static void add_operation(const Printer *p, TreeStmts *to, const Node *n) {
    static const char *const keywords[] = {[OPK_MAP] = "map", [OPK_INIT] = "init", [OPK_UPDATE] = "update", [OPK_SCAN] = "scan"};
    TreeStmt *s = irtree_stmt(p->arena, to, STMT_EQUATION, keywords[n->op], n->tensor->name);
    s->label.name = n->eq->name;
    s->has_subs = n->tensor->rank > 0;
    add_trees(p, &s->subs, n->tensor->rank, n->subs);
    if (n->op == OPK_MAP) {
        s->expr = irtree_value(p, n->value);
        return;
    }
    s->expr = irtree_named(p->arena, TREE_CALL, reduce_name(n->reduce));
    if (n->op == OPK_SCAN) {
        s->label.word = n->reverse ? "reverse" : NULL;
        add(p, &s->expr->args, element(p, n->tensor, n->previous));
        add(p, &s->conds, irtree_value(p, n->first));
    }
    if (n->op != OPK_INIT)
        add(p, &s->expr->args, irtree_value(p, n->value));
    add_trees(p, &s->conds, n->guards.n, n->guards.at);
}

// ---- nodes ----


void irtree_body(Printer *p, TreeStmts *to, const Node *n) {
    if (n->locals.n) {
        TreeStmt *local = irtree_line(p, to, "local", NULL);
        for (int i = 0; i < n->locals.n; i++)
            add(p, &local->subs, irtree_word(p, n->locals.at[i]->name));
    }
    for (int i = 0; i < n->body.n; i++)
        irtree_node(p, to, n->body.at[i]);
}

static void add_body(Printer *p, TreeStmt *s, const Node *n, int outer) {
    s->has_body = true;
    if (p->scope.n > outer)
        add_stores(p, &s->body, outer);
    if (n->kind == NODE_GRID && n->program && p->target)
        irtree_programs(p, &s->body, n);
    else
        irtree_body(p, &s->body, n);
    p->scope.n = outer;
}

static const char *role_name(LoopRole role) {
    switch (role) {
    case LOOP_SERIAL: return "serial";
    case LOOP_PARALLEL: return "parallel";
    case LOOP_REDUCE: return "reduce";
    case LOOP_SCAN: return "scan";
    }
    return "?";
}

static void add_loop(Printer *p, TreeStmts *to, const Node *n) {
    int outer = p->scope.n;
    Tree *bounds = range(p, n->index->lo, n->index->hi);
    TreeStmt *s = irtree_line(p, to, "for", irtree_bind(p, n->index));
    s->expr = bounds;
    add(p, &s->subs, irtree_word(p, role_name(n->role)));
    if (n->step != 1)
        add(p, &s->subs, irtree_counted(p, "step", n->step));
    if (n->lanes)
        add(p, &s->subs, irtree_counted(p, "lanes", n->lanes));
    if (n->unroll != 1)
        add(p, &s->subs, irtree_counted(p, "unroll", n->unroll));
    if (n->wanted)
        add(p, &s->subs, irtree_word(p, "wanted"));
    if (n->bounds.n) {
        Tree *bounded = irtree_named(p->arena, TREE_CALL, "bounded");
        add_trees(p, &bounded->args, n->bounds.n, n->bounds.at);
        add(p, &s->subs, bounded);
    }
    add_body(p, s, n, outer);
}

static const char *mode_name(GridMode mode) {
    switch (mode) {
    case MODE_AUTO: return "auto";
    case MODE_SERIAL: return "serial";
    case MODE_STATIC: return "static";
    case MODE_DYNAMIC: return "dynamic";
    case MODE_WAVE: return "wave";
    }
    return "?";
}

static void add_grid_dim(Printer *p, TreeStmts *to, const GridDim *d) {
    TreeStmt *s = irtree_line(p, to, "tile", d->name);
    s->expr = range(p, d->begin, d->end);
    Tree *size = irtree_value(p, d->tile), *bounds = irtree_new(p->arena, TREE_RANGE);
    irtree_add(p->arena, bounds, irtree_word(p, irtree_bind(p, d->lo)));
    irtree_add(p->arena, bounds, irtree_word(p, irtree_bind(p, d->hi)));
    add(p, &s->subs, bounds);
    add(p, &s->subs, size);
}

static void add_grid(Printer *p, TreeStmts *to, const Node *n) {
    int outer = p->scope.n;
    TreeStmt *s = irtree_line(p, to, "grid", n->name);
    add(p, &s->subs, irtree_word(p, mode_name(n->mode)));
    if (n->max_workers)
        add(p, &s->subs, irtree_counted(p, "max", n->max_workers));
    for (int i = 0; i < n->ndims; i++)
        add_grid_dim(p, &s->body, &n->dims[i]);
    for (int i = 0; i < n->noffsets; i++) {
        TreeStmt *after = irtree_line(p, &s->body, "after", NULL);
        for (int q = 0; q < n->ndims; q++)
            add(p, &after->subs, irtree_integer(p, n->offsets[i][q]));
    }
    add_body(p, s, n, outer);
    if (p->target)
        irtree_name_values(p, s);
}

void irtree_node(Printer *p, TreeStmts *to, const Node *n) {
    TreeStmt *s;
    switch (n->kind) {
    case NODE_SEQ:
        add_body(p, irtree_line(p, to, "seq", NULL), n, p->scope.n);
        return;
    case NODE_IF:
        s = irtree_line(p, to, "if", NULL);
        s->expr = irtree_value(p, n->cond);
        add_body(p, s, n, p->scope.n);
        return;
    case NODE_LOOP:
        add_loop(p, to, n);
        return;
    case NODE_GRID:
        add_grid(p, to, n);
        return;
    case NODE_OP:
        add_operation(p, to, n);
        return;
    }
}

// ---- kernels ----

static TreeKernel *from_tile(Printer *p) {
    TreeKernel *t = irtree_kernel(p->arena, p->tile->kernel);
    add_stores(p, &t->stmts, -1);
    for (int i = 0; i < p->tile->root->body.n; i++)
        irtree_node(p, &t->stmts, p->tile->root->body.at[i]);
    return t;
}

void irtree_print(FILE *out, Arena *a, TreeFile *file, int n, TileKernel *const *kernels, const BundleTarget *target, bool bundled) {
    for (int i = 0; i < n; i++) {
        Printer p = {.arena = a, .tile = kernels[i], .target = target, .bundled = bundled};
        VEC_PUSH(a, &file->kernels, from_tile(&p));
        irtree_add_schedules(a, file, kernels[i]->kernel);
    }
    tree_print(out, file);
}

void ir_print_tiles(FILE *out, int n, TileKernel *const *kernels) {
    Arena *a = arena_new();
    TreeFile file = {.level = "tile"};
    irtree_print(out, a, &file, n, kernels, NULL, false);
    arena_free(a);
}

void ir_print_tile(FILE *out, const TileKernel *k) {
    TileKernel *one = (TileKernel *)k;
    ir_print_tiles(out, 1, &one);
}
