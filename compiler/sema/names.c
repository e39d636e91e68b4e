// Names: everything a kernel defines, before anything is typed.
//
// One namespace holds dims, parameters and tensors. `int` parameters bind their dims first, then plain names in the
// shapes of inputs do; outputs, declarations and the left sides of equations define tensors, in any order. A name
// whose definition is not understood is poisoned: what uses it is not reported again.
//
// Leaves: Kernel.dims, .params, .outputs, .tensors (declared ones with their shape), .where; an EquationInfo for each
// equation and log, with its indices, subscripts and conditions.
// Test: tests/unit/test_sema.c
#include "sema/context.h"

#include <string.h>

Symbol *sema_find(Sema *s, const char *name)
{
    Symbol *symbol;
    HASH_FIND_STR(s->symbols, name, symbol);
    return symbol;
}

static const char *kind_words(const Symbol *symbol)
{
    if (symbol->kind != SYM_TENSOR) return symbol->kind == SYM_DIM ? "a dimension" : "a name";
    switch (symbol->tensor->tensor->kind) {
    case TENSOR_INPUT: return "an input";
    case TENSOR_OUTPUT: return "an output";
    case TENSOR_LOCAL: case TENSOR_HIDDEN: break;
    }
    return "an intermediate";
}

static void report_redefined(Sema *s, const char *name, Range range, const Symbol *old)
{
    sema_error(s, D_REDEFINED, range, "`%s` is already %s", name, kind_words(old));
    sema_note(s, old->range, "it is defined here");
    sema_help(s, "dimensions, parameters and tensors share one namespace: use another name");
}

Symbol *sema_define(Sema *s, const char *name, Range range, SymbolKind kind)
{
    Symbol *symbol = sema_find(s, name);
    if (symbol) {
        if (symbol->kind != SYM_POISON) report_redefined(s, name, range, symbol);
        return NULL;
    }
    if (strcmp(name, "inf") == 0 || strcmp(name, "nan") == 0) {
        sema_error(s, D_REDEFINED, range, "`%s` is a constant of the language", name);
        return NULL;
    }
    symbol = ARENA_NEW(s->arena, Symbol);
    *symbol = (Symbol){.name = name, .range = range, .kind = kind};
    HASH_ADD_KEYPTR(hh, s->symbols, symbol->name, strlen(symbol->name), symbol);
    return symbol;
}

Index *sema_index(Sema *s, const char *name, Range range, int nscope, Index *const *scope)
{
    Symbol *symbol = sema_find(s, name);
    if (symbol) {
        if (symbol->kind == SYM_POISON) return NULL;
        sema_error(s, D_REDEFINED, range, "index `%s` hides %s of the same name", name, kind_words(symbol));
        sema_note(s, symbol->range, "`%s` is defined here", name);
        sema_help(s, "use another name for the index");
        return NULL;
    }
    for (int i = 0; i < nscope; i++) {
        if (strcmp(scope[i]->name, name) != 0) continue;
        sema_error(s, D_REDEFINED, range, "index `%s` hides an outer index of the same name", name);
        sema_note(s, scope[i]->range, "the outer `%s` is here", name);
        sema_help(s, "use another name for the inner one");
        return NULL;
    }
    Index *index = ARENA_NEW(s->arena, Index);
    *index = (Index){.name = name, .range = range};
    return index;
}

// ---- dims ----

static void add_dim(Sema *s, const char *name, Range range)
{
    Symbol *symbol = sema_define(s, name, range, SYM_DIM);
    if (!symbol) return;
    Dim *dim = ARENA_NEW(s->arena, Dim);
    *dim = (Dim){.id = s->kernel->dims.n, .name = name, .range = range};
    symbol->dim = dim;
    VEC_PUSH(s->arena, &s->kernel->dims, dim);
}

static bool is_int_parameter(const TreeParam *p)
{
    return p->type.name && strcmp(p->type.name, "int") == 0 && !p->type.has_dims;
}

// A plain name in an input's shape binds a dim, unless something else has that name already.
static void bind_shape_dims(Sema *s, const TreeType *type)
{
    for (int i = 0; i < type->dims.n; i++) {
        const Tree *e = type->dims.at[i].extent;
        if (!e || e->kind != TREE_NAME || e->parens || strchr(e->text, '.')) continue;
        if (!sema_find(s, e->text)) add_dim(s, e->text, e->range);
    }
}

// The factors of a grouped dimension, which is reported elsewhere: what uses them is no second mistake.
static void poison_groups(Sema *s, const TreeType *type)
{
    for (int i = 0; i < type->dims.n; i++) {
        const Tree *e = type->dims.at[i].extent;
        for (int k = 0; e && e->kind == TREE_GROUP && k < e->args.n; k++)
            if (e->args.at[k]->kind == TREE_NAME && !sema_find(s, e->args.at[k]->text)) sema_define(s, e->args.at[k]->text, e->args.at[k]->range, SYM_POISON);
    }
}

static void bind_dims(Sema *s)
{
    for (int i = 0; i < s->tree->inputs.n; i++) {
        const TreeParam *p = &s->tree->inputs.at[i];
        if (is_int_parameter(p)) add_dim(s, p->name, p->range);
    }
    for (int i = 0; i < s->tree->inputs.n; i++) bind_shape_dims(s, &s->tree->inputs.at[i].type);
    for (int i = 0; i < s->tree->inputs.n; i++) poison_groups(s, &s->tree->inputs.at[i].type);
}

// ---- tensors ----

static TensorInfo *add_tensor(Sema *s, const char *name, Range range, TensorKind kind, bool declared)
{
    Symbol *symbol = sema_define(s, name, range, SYM_TENSOR);
    if (!symbol) return NULL;
    TensorInfo *info = ARENA_NEW(s->arena, TensorInfo);
    Tensor *tensor = ARENA_NEW(s->arena, Tensor);
    *tensor = (Tensor){.id = s->kernel->tensors.n, .name = name, .range = range, .type = DT_COUNT, .kind = kind, .declared = declared};
    *info = (TensorInfo){.tensor = tensor, .symbol = symbol, .component = -1};
    symbol->tensor = info;
    VEC_PUSH(s->arena, &s->kernel->tensors, tensor);
    VEC_PUSH(s->arena, &s->tensors, info);
    return info;
}

static void add_inputs(Sema *s)
{
    for (int i = 0; i < s->tree->inputs.n; i++) {
        const TreeParam *p = &s->tree->inputs.at[i];
        Param param = {0};
        if (is_int_parameter(p)) {
            Symbol *symbol = sema_find(s, p->name);
            if (!symbol || symbol->kind != SYM_DIM) continue;
            param.dim = symbol->dim;
        } else {
            TensorInfo *info = add_tensor(s, p->name, p->range, TENSOR_INPUT, true);
            if (!info) continue;
            param.tensor = info->tensor;
        }
        VEC_PUSH(s->arena, &s->kernel->params, param);
    }
}

static void add_outputs(Sema *s)
{
    for (int i = 0; i < s->tree->outputs.n; i++) {
        const TreeParam *p = &s->tree->outputs.at[i];
        TensorInfo *info = add_tensor(s, p->name, p->range, TENSOR_OUTPUT, true);
        if (info) VEC_PUSH(s->arena, &s->kernel->outputs, info->tensor);
    }
}

static void add_declarations(Sema *s)
{
    for (int i = 0; i < s->tree->stmts.n; i++) {
        const TreeStmt *stmt = s->tree->stmts.at[i];
        if (stmt->kind != STMT_DECL || stmt->names.n == 0) continue;
        add_tensor(s, stmt->names.at[0].name, stmt->names.at[0].range, TENSOR_LOCAL, true);
    }
}

typedef bool (*TypeStep)(Sema *s, TensorInfo *t, const TreeType *type);

static void type_of_name(Sema *s, TypeStep step, const char *name, Range range, const TreeType *type)
{
    Symbol *symbol = sema_find(s, name);
    // A second definition of the name was reported; it has no tensor of its own.
    if (!symbol || symbol->kind != SYM_TENSOR || symbol->range.begin != range.begin || symbol->tensor->failed) return;
    if (!step(s, symbol->tensor, type)) symbol->tensor->failed = true;
}

static void type_declared(Sema *s, TypeStep step)
{
    for (int i = 0; i < s->tree->inputs.n; i++) {
        const TreeParam *p = &s->tree->inputs.at[i];
        type_of_name(s, step, p->name, p->range, &p->type);
    }
    for (int i = 0; i < s->tree->outputs.n; i++) {
        const TreeParam *p = &s->tree->outputs.at[i];
        type_of_name(s, step, p->name, p->range, &p->type);
    }
    for (int i = 0; i < s->tree->stmts.n; i++) {
        const TreeStmt *stmt = s->tree->stmts.at[i];
        if (stmt->kind != STMT_DECL || stmt->names.n == 0) continue;
        type_of_name(s, step, stmt->names.at[0].name, stmt->names.at[0].range, &stmt->type);
    }
}

static void clip_locals(Sema *s)
{
    for (int i = 0; i < s->tensors.n; i++)
        if (s->tensors.at[i]->shaped && s->tensors.at[i]->tensor->kind == TENSOR_LOCAL) sema_clip_extents(s, s->tensors.at[i]->tensor);
}

// The first dimension an input shape binds is where its value is read on entry.
static void locate_dims(Sema *s)
{
    for (int i = 0; i < s->kernel->params.n; i++) {
        Tensor *t = s->kernel->params.at[i].tensor;
        if (!t || !s->tensors.at[t->id]->shaped) continue;
        for (int d = 0; d < t->rank; d++) {
            Expr *hi = t->hi[d];
            if (hi->op != OP_DIM || !expr_is_int(t->lo[d], 0)) continue;
            Dim *dim = s->kernel->dims.at[hi->dim->id];
            if (dim->tensor) continue;
            bool parameter = false;
            for (int j = 0; j < s->kernel->params.n; j++) parameter |= s->kernel->params.at[j].dim == dim;
            if (parameter) continue;
            dim->tensor = t;
            dim->axis = d;
        }
    }
}

// ---- outputs that start from an input ----

static void start_output(Sema *s, const TreeParam *p)
{
    Symbol *out = sema_find(s, p->name);
    if (!out || out->kind != SYM_TENSOR || out->tensor->tensor->kind != TENSOR_OUTPUT) return;
    Symbol *in = sema_find(s, p->init);
    if (!in) {
        sema_error(s, D_UNDEFINED, p->init_range, "output `%s` starts from `%s`, which nothing defines", p->name, p->init);
        sema_suggest(s, p->init, 0, NULL, false);
        return;
    }
    if (in->kind == SYM_POISON) return;
    in->used = true;
    if (in->kind != SYM_TENSOR || in->tensor->tensor->kind != TENSOR_INPUT) {
        sema_error(s, D_TYPE, p->init_range, "output `%s` can only start from an input; `%s` is %s", p->name, p->init, kind_words(in));
        return;
    }
    Tensor *x = out->tensor->tensor, *y = in->tensor->tensor;
    if (out->tensor->failed || in->tensor->failed) return;
    bool same = x->rank == y->rank;
    for (int d = 0; same && d < x->rank; d++) same = sema_same(s, x->lo[d], y->lo[d]) && sema_same(s, x->hi[d], y->hi[d]);
    if (x->type != y->type)
        sema_error(s, D_TYPE, p->init_range, "output `%s` is %s, but `%s`, from which it starts, is %s", x->name, dtype_name(x->type), y->name, dtype_name(y->type));
    else if (!same)
        sema_error(s, D_SHAPE, p->init_range, "output `%s` and `%s`, from which it starts, have different shapes", x->name, y->name);
    x->init = y;
}

// ---- assumptions ----

static void push_cond(Expr *cond, void *data)
{
    Sema *s = data;
    VEC_PUSH(s->arena, &s->kernel->where, cond);
}

static void add_assumption(Sema *s, const Tree *tree)
{
    Typer t = {.sema = s};
    Expr *e = NULL;
    if (tree->kind == TREE_OTHERWISE) {
        sema_error(s, D_WHERE, tree->range, "`otherwise` belongs to an equation, not to a kernel");
        return;
    }
    if (tree->kind == TREE_IN) {
        Expr *x = sema_affine_expr(&t, tree->args.at[0], D_WHERE, "an assumption"), *lo, *hi;
        if (!x || !sema_bounds(&t, tree->args.at[1], &lo, &hi)) return;
        e = expr_binary(s->arena, OP_AND, DT_BOOL, expr_binary(s->arena, OP_GE, DT_BOOL, x, lo), expr_binary(s->arena, OP_LT, DT_BOOL, x, hi));
        e->range = tree->range;
    } else {
        e = sema_bool(&t, tree, "an assumption");
    }
    if (!e) return;
    e = expr_simplify(s->arena, e);
    if (!sema_is_affine_cond(e)) {
        sema_error(s, D_WHERE, tree->range, "an assumption of a kernel must be affine in its dimensions and int parameters");
        sema_help(s, "it is checked on entry and used by the proofs; data is tested with `if`");
        return;
    }
    sema_conjuncts(e, push_cond, s);
}

// ---- equations ----

static void poison_names(Sema *s, const TreeStmt *stmt)
{
    for (int i = 0; i < stmt->names.n; i++)
        if (!sema_find(s, stmt->names.at[i].name)) sema_define(s, stmt->names.at[i].name, stmt->names.at[i].range, SYM_POISON);
}

// Statements of the language that are not built yet: reported, and their names poisoned.
static bool refuse_statement(Sema *s, const TreeStmt *stmt)
{
    if (stmt->view) {
        sema_error(s, D_UNSUPPORTED, stmt->range, "views are not built yet");
        sema_help(s, "write an equation: it copies, and gives the same values");
    } else if (stmt->names.n > 1) {
        sema_error(s, D_UNSUPPORTED, stmt->range, "calls with several results are not built yet");
        sema_help(s, "write the equations of the called kernel in place");
    } else {
        return false;
    }
    poison_names(s, stmt);
    return true;
}

static bool refuse_subscripts(Sema *s, const TreeStmt *stmt)
{
    for (int i = 0; i < stmt->subs.n; i++) {
        const Tree *sub = stmt->subs.at[i];
        const char *what = sub->kind == TREE_ALL || sub->kind == TREE_RANGE ? "slices on a left side"
                         : sub->kind == TREE_GROUP ? "grouped dimensions" : NULL;
        if (!what) continue;
        if (sub->kind != TREE_GROUP || !s->failed) {         // the tensor's own grouped dimensions were reported
            sema_error(s, D_UNSUPPORTED, sub->range, "%s are not built yet", what);
            sema_help(s, "write one index for each dimension");
        }
        poison_names(s, stmt);
        return true;
    }
    return false;
}

void sema_set_rank(Sema *s, TensorInfo *info, int rank)
{
    info->tensor->rank = rank;
    info->tensor->border = ARENA_ARRAY(s->arena, Border, rank + 1);
    info->unranked = false;
}

static TensorInfo *undeclared(Sema *s, const TreeStmt *stmt)
{
    TensorInfo *info = add_tensor(s, stmt->names.at[0].name, stmt->names.at[0].range, TENSOR_LOCAL, false);
    if (!info) return NULL;
    Tensor *t = info->tensor;
    sema_set_rank(s, info, stmt->subs.n);
    info->unranked = t->rank == 0;
    info->component = 0;
    if (t->rank > SEMA_MOST_RANK) {
        sema_error(s, D_UNSUPPORTED, stmt->range, "`%s` has %d dimensions; more than %d are not built yet", t->name, t->rank, SEMA_MOST_RANK);
        info->failed = true;
        return NULL;
    }
    return info;
}

static bool rank_matches(Sema *s, const TreeStmt *stmt, TensorInfo *info)
{
    const Tensor *t = info->tensor;
    if (info->unranked && stmt->subs.n > 0) sema_set_rank(s, info, stmt->subs.n);
    // Without subscripts it is a scalar or a whole tensor: whole.c sees to it.
    if (t->rank == stmt->subs.n || stmt->subs.n == 0 || info->failed) return !info->failed;
    sema_error(s, D_RANK, stmt->names.at[0].range, "`%s` has %d dimension%s, but its left side has %d subscript%s", t->name, t->rank,
               t->rank == 1 ? "" : "s", stmt->subs.n, stmt->subs.n == 1 ? "" : "s");
    sema_note(s, t->range, "`%s` is %s here", t->name, t->declared ? "declared" : "first defined");
    info->failed = info->failed || !t->declared;
    return false;
}

static TensorInfo *left_tensor(Sema *s, const TreeStmt *stmt)
{
    const TreeName *name = &stmt->names.at[0];
    Symbol *symbol = sema_find(s, name->name);
    if (!symbol) return undeclared(s, stmt);
    if (symbol->kind == SYM_POISON) return NULL;
    if (symbol->kind == SYM_DIM || symbol->tensor->tensor->kind == TENSOR_INPUT) {
        sema_error(s, D_REDEFINED, name->range, "an equation cannot define `%s`: it is %s", name->name, kind_words(symbol));
        sema_note(s, symbol->range, "`%s` is defined here", name->name);
        if (symbol->kind != SYM_DIM) sema_help(s, "start an output from it, `-> (y: ... = %s)`, or use another name", name->name);
        return NULL;
    }
    return rank_matches(s, stmt, symbol->tensor) ? symbol->tensor : NULL;
}

static EquationInfo *add_statement(Sema *s, const TreeStmt *stmt)
{
    EquationInfo *e = ARENA_NEW(s->arena, EquationInfo);
    *e = (EquationInfo){.stmt = stmt, .eq = ARENA_NEW(s->arena, Equation)};
    Range left = stmt->names.n ? stmt->names.at[0].range : stmt->range;
    if (stmt->subs.n) left = range_join(left, stmt->subs.at[stmt->subs.n - 1]->range);
    *e->eq = (Equation){.range = stmt->range, .lhs_range = left, .kind = EQ_MAP};
    return e;
}

static void add_equation(Sema *s, const TreeStmt *stmt)
{
    if (refuse_statement(s, stmt) || refuse_subscripts(s, stmt)) return;
    TensorInfo *lhs = left_tensor(s, stmt);
    if (!lhs) {
        Symbol *symbol = sema_find(s, stmt->names.at[0].name);
        if (symbol && symbol->kind == SYM_TENSOR && !symbol->tensor->tensor->declared) symbol->tensor->failed = true;
        return;
    }
    EquationInfo *e = add_statement(s, stmt);
    e->bare = stmt->subs.n == 0;
    e->lhs = lhs;
    e->eq->lhs = lhs->tensor;
    VEC_PUSH(s->arena, &lhs->equations, e);
    VEC_PUSH(s->arena, &s->equations, e);
}

static void add_call_statement(Sema *s, const TreeStmt *stmt)
{
    const char *name = stmt->expr && stmt->expr->text ? stmt->expr->text : "?";
    if (strcmp(name, "log") == 0) {
        VEC_PUSH(s->arena, &s->equations, add_statement(s, stmt));
        return;
    }
    if (strcmp(name, "print") == 0) {
        sema_error(s, D_UNSUPPORTED, stmt->range, "`print` would synchronise the whole computation and is not built");
        sema_help(s, "use `log(\"...\", e) where ...;`, which does not");
        return;
    }
    sema_error(s, D_CALL, stmt->range, "`%s` cannot be called as a statement", name);
    sema_help(s, "the only statement that is a call is `log(\"...\", e) where ...;`");
}

static void add_statements(Sema *s)
{
    for (int i = 0; i < s->tree->stmts.n; i++) {
        const TreeStmt *stmt = s->tree->stmts.at[i];
        switch (stmt->kind) {
        case STMT_DECL: break;
        case STMT_EQUATION:
            if (stmt->names.n > 0) add_equation(s, stmt);
            break;
        case STMT_CALL: add_call_statement(s, stmt); break;
        case STMT_NODE: break;                         // in textual IR only
        }
    }
    // Only now are all names known, so that an index cannot hide one that comes later in the text.
    sema_whole(s);
    for (int i = 0; i < s->equations.n; i++) sema_left_side(s, s->equations.at[i]);
}

bool sema_names(Sema *s)
{
    if (s->tree->generics.n > 0) {
        sema_error(s, D_UNSUPPORTED, s->tree->generics.at[0].range, "generic kernels such as `%s<%s>` are not built yet", s->tree->name, s->tree->generics.at[0].name);
        sema_help(s, "write the constants into the kernel, or make an int parameter of a generic one");
        return false;
    }
    bind_dims(s);
    add_inputs(s);
    add_outputs(s);
    add_declarations(s);
    type_declared(s, sema_tensor_type);
    type_declared(s, sema_border_values);
    for (int i = 0; i < s->tree->where.n; i++) add_assumption(s, s->tree->where.at[i]);
    clip_locals(s);
    locate_dims(s);
    for (int i = 0; i < s->tree->outputs.n; i++)
        if (s->tree->outputs.at[i].init) start_output(s, &s->tree->outputs.at[i]);
    add_statements(s);
    return true;
}
