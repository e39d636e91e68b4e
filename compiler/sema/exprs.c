// Expressions: from the tree to typed nodes, bottom up.
//
// A node's type is a real one, or DT_INDEX for arithmetic of integer literals, indices and dims, or DT_COUNT for what
// has no type yet (float literals, `0.5*i`, a sum of literals); types.c gives those a type when they meet one. Every
// function returns NULL once an error in it was reported, or when something below is poisoned.
//
// Test: tests/unit/test_sema.c
#include "sema/context.h"

#include <math.h>
#include <string.h>

static Expr *with_range(Expr *e, Range range)
{
    if (e) e->range = range;
    return e;
}

// ---- affine forms, by their syntax (ir/poly.c turns exactly these into functions) ----

static bool positive_constant(const Expr *e) { return e->op == OP_CONST && e->i > 0; }

bool sema_is_affine(const Expr *e)
{
    if (e->type != DT_INDEX) return false;
    switch ((int)e->op) {
    case OP_CONST: case OP_INDEX: case OP_DIM: return true;
    case OP_NEG: case OP_ABS: return sema_is_affine(e->args[0]);
    case OP_ADD: case OP_SUB: case OP_MIN: case OP_MAX: return sema_is_affine(e->args[0]) && sema_is_affine(e->args[1]);
    case OP_MUL:
        return (e->args[0]->op == OP_CONST || e->args[1]->op == OP_CONST) && sema_is_affine(e->args[0]) && sema_is_affine(e->args[1]);
    case OP_DIV: case OP_REM: case OP_FLOORDIV: case OP_MOD: return positive_constant(e->args[1]) && sema_is_affine(e->args[0]);
    case OP_SELECT: return sema_is_affine_cond(e->args[0]) && sema_is_affine(e->args[1]) && sema_is_affine(e->args[2]);
    default: return false;
    }
}

bool sema_is_affine_cond(const Expr *e)
{
    switch ((int)e->op) {
    case OP_CONST: return e->type == DT_BOOL;
    case OP_AND: case OP_OR: return sema_is_affine_cond(e->args[0]) && sema_is_affine_cond(e->args[1]);
    case OP_NOT: return sema_is_affine_cond(e->args[0]);
    case OP_EQ: case OP_NE: case OP_LT: case OP_LE: case OP_GT: case OP_GE: return sema_is_affine(e->args[0]) && sema_is_affine(e->args[1]);
    default: return false;
    }
}

void sema_conjuncts(Expr *cond, void (*add)(Expr *cond, void *data), void *data)
{
    if (cond->op != OP_AND) {
        add(cond, data);
        return;
    }
    sema_conjuncts(cond->args[0], add, data);
    sema_conjuncts(cond->args[1], add, data);
}

Expr *sema_affine_expr(Typer *t, const Tree *tree, DiagId id, const char *what)
{
    Sema *s = t->sema;
    Typer inner = {.sema = s, .equation = t->equation, .scope = {.at = t->scope.at, .n = t->scope.n, .cap = t->scope.n}};
    Expr *e = sema_expr(&inner, tree);
    if (!e) return NULL;
    e = expr_simplify(s->arena, e);
    if (sema_is_affine(e)) return e;
    const char *over = t->scope.n ? "indices and dimensions" : "dimensions and int parameters";
    if (e->type == DT_COUNT) sema_error(s, id, tree->range, "%s must be an integer", what);
    else sema_error(s, id, tree->range, "%s must be affine in %s", what, over);
    if (e->type == DT_INDEX) sema_help(s, "products and quotients of %s are not affine", over);
    else if (e->op == OP_READ) sema_help(s, "`%s` is data: its value is not known before the kernel runs", e->tensor->name);
    return NULL;
}

bool sema_bounds(Typer *t, const Tree *range, Expr **lo, Expr **hi)
{
    if (range->kind != TREE_RANGE || range->args.n != 2) return false;
    *lo = sema_affine_expr(t, range->args.at[0], D_INDEX_RANGE, "the start of a range");
    *hi = sema_affine_expr(t, range->args.at[1], D_INDEX_RANGE, "the end of a range");
    if (!*lo || !*hi) return false;
    if (range->closed) *hi = linear_add(t->sema->arena, *hi, 1);
    return true;
}

Expr *sema_bool(Typer *t, const Tree *tree, const char *what)
{
    Expr *e = sema_expr(t, tree);
    return e ? type_coerce(t, e, DT_BOOL, what) : NULL;
}

// ---- leaves ----

static Expr *integer(Typer *t, const Tree *tree)
{
    if (tree->overflow) {
        sema_error(t->sema, D_LITERAL, tree->range, "this literal does not fit in 64 bits");
        return NULL;
    }
    // What only u64 can hold has that type.
    DType type = tree->ival > INT64_MAX ? DT_U64 : DT_INDEX;
    return expr_int(t->sema->arena, type, (int64_t)tree->ival, tree->range);
}

static Expr *floating(Typer *t, double value, Range range)
{
    Expr *e = expr_new(t->sema->arena, OP_CONST, DT_COUNT, range, 0, NULL);
    e->f = value;
    return e;
}

static bool was_undefined(Typer *t, const char *name)
{
    for (int i = 0; i < t->undefined.n; i++)
        if (strcmp(t->undefined.at[i], name) == 0) return true;
    VEC_PUSH(t->sema->arena, &t->undefined, name);
    return false;
}

static void report_undefined(Typer *t, const Tree *tree)
{
    Sema *s = t->sema;
    if (was_undefined(t, tree->text)) return;
    sema_error(s, D_UNDEFINED, tree->range, "nothing defines `%s`", tree->text);
    for (int i = 0; i < t->ended.n; i++) {
        if (strcmp(t->ended.at[i], tree->text) != 0) continue;
        sema_help(s, "the body of a reduction is one product, so `%s` has ended here: put a longer body in brackets", tree->text);
        return;
    }
    // The indices that an equation on whole tensors was given are not there to be named.
    int given = t->equation && t->equation->whole ? t->equation->eq->indices.n : 0;
    sema_suggest(s, tree->text, t->scope.n - given, given ? t->scope.at + given : t->scope.at, false);
    if (t->subscript && t->equation && t->equation->lhs && given == 0)
        sema_help(s, "an index that the left side does not have needs a reduction: did you mean `sum(%s) ...`?", tree->text);
    if (given > 0) sema_help(s, "an equation on whole tensors has no index to name: write it with indices");
    if (!t->equation) {
        sema_help(s, "a dimension is bound by a plain occurrence in an input's shape, or by a parameter `%s: int`", tree->text);
        sema_define(s, tree->text, tree->range, SYM_POISON);
    } else if (!t->equation->lhs) {
        sema_help(s, "give an index of a log its range: `where %s in %s`", tree->text, sema_some_range(s));
    }
}

static Expr *unsubscripted(Typer *t, const Tree *tree, const Tensor *tensor)
{
    Sema *s = t->sema;
    sema_error(s, D_RANK, tree->range, "`%s` has %d dimension%s and needs as many subscripts", tensor->name, tensor->rank, tensor->rank == 1 ? "" : "s");
    sema_note(s, tensor->range, "`%s` is defined here", tensor->name);
    if (t->equation && t->equation->bare)
        sema_help(s, "in a reduction and in a condition a name does not stand for a whole tensor: write its subscripts");
    else if (t->equation && t->equation->lhs)
        sema_help(s, "an equation on whole tensors has no subscripts on its left side either");
    return NULL;
}

// A read of a tensor whose type is still unknown has none of its own (only in a trial; else an error was reported).
static Expr *read_tensor(Typer *t, TensorInfo *info, Range range, int n, Expr **subs)
{
    info->symbol->used = true;
    if (!info->typed && !t->sema->quiet) return NULL;
    DType type = info->typed ? info->tensor->type : DT_COUNT;
    Expr *e = expr_new(t->sema->arena, OP_READ, type, range, n, subs);
    e->tensor = info->tensor;
    return type_leaf(t, e);
}

static Expr *name(Typer *t, const Tree *tree)
{
    Sema *s = t->sema;
    for (int i = t->scope.n - 1; i >= 0; i--)
        if (strcmp(t->scope.at[i]->name, tree->text) == 0) return expr_index(s->arena, t->scope.at[i], tree->range);
    Symbol *symbol = sema_find(s, tree->text);
    if (!symbol) {
        if (strcmp(tree->text, "inf") == 0) return floating(t, INFINITY, tree->range);
        if (strcmp(tree->text, "nan") == 0) return floating(t, NAN, tree->range);
        report_undefined(t, tree);
        return NULL;
    }
    symbol->used = true;
    if (symbol->kind == SYM_POISON) return NULL;
    if (symbol->kind == SYM_DIM) return expr_dim(s->arena, symbol->dim, tree->range);
    if (symbol->tensor->failed) return NULL;
    if (symbol->tensor->tensor->rank > 0) return unsubscripted(t, tree, symbol->tensor->tensor);
    return read_tensor(t, symbol->tensor, tree->range, 0, NULL);
}

// ---- reads ----

static Expr *subscript(Typer *t, const Tree *tree)
{
    Sema *s = t->sema;
    if (tree->kind == TREE_ALL || tree->kind == TREE_RANGE) {
        sema_error(s, D_UNSUPPORTED, tree->range, "slices are not built yet");
        sema_help(s, "write an index for each dimension");
        return NULL;
    }
    if (tree->kind == TREE_GROUP) {
        if (!s->failed) {                          // the tensor's own grouped dimensions were reported
            sema_error(s, D_UNSUPPORTED, tree->range, "grouped dimensions are not built yet");
            sema_help(s, "write an index for each dimension");
        }
        return NULL;
    }
    bool promote = t->promote, inside = t->subscript;
    t->promote = false;
    t->subscript = true;
    Expr *e = sema_expr(t, tree);
    t->promote = promote;
    t->subscript = inside;
    if (!e) return NULL;
    if (e->type == DT_COUNT && !s->quiet) e = type_coerce(t, e, DT_INDEX, "a subscript");
    if (e && !dtype_is_int(e->type) && e->type != DT_COUNT) {
        sema_error(s, D_TYPE, tree->range, "a subscript must be an integer, not %s", dtype_name(e->type));
        sema_help(s, "convert it: `i32(...)`");
        return NULL;
    }
    return e;
}

static Expr *read(Typer *t, const Tree *tree)
{
    Sema *s = t->sema;
    Symbol *symbol = sema_find(s, tree->text);
    Expr **subs = ARENA_ARRAY(s->arena, Expr *, tree->args.n + 1);
    bool good = true;
    if (!symbol || symbol->kind != SYM_TENSOR) {
        if (!symbol) {
            sema_error(s, D_UNDEFINED, tree->name_range, "nothing defines the tensor `%s`", tree->text);
            sema_suggest(s, tree->text, 0, NULL, false);
        } else if (symbol->kind == SYM_DIM) {
            sema_error(s, D_RANK, tree->range, "`%s` is a dimension: it has no subscripts", tree->text);
        }
        good = false;
    }
    for (int i = 0; i < tree->args.n; i++) {
        subs[i] = subscript(t, tree->args.at[i]);
        good = good && subs[i];
    }
    if (!good) {
        if (symbol) symbol->used = true;
        return NULL;
    }
    const Tensor *tensor = symbol->tensor->tensor;
    if (tree->args.n != tensor->rank) {
        symbol->used = true;
        if (symbol->tensor->failed) return NULL;
        sema_error(s, D_RANK, tree->range, "`%s` has %d dimension%s, but %d subscript%s here", tensor->name, tensor->rank,
                   tensor->rank == 1 ? "" : "s", tree->args.n, tree->args.n == 1 ? "" : "s");
        sema_note(s, tensor->range, "`%s` is defined here", tensor->name);
        return NULL;
    }
    return read_tensor(t, symbol->tensor, tree->range, tree->args.n, subs);
}

// ---- operators ----

static const Op binary_ops[] = {
    [TOP_ADD] = OP_ADD, [TOP_SUB] = OP_SUB, [TOP_MUL] = OP_MUL, [TOP_DIV] = OP_DIV, [TOP_REM] = OP_REM, [TOP_EQ] = OP_EQ, [TOP_NE] = OP_NE,
    [TOP_LT] = OP_LT, [TOP_LE] = OP_LE, [TOP_GT] = OP_GT, [TOP_GE] = OP_GE, [TOP_AND] = OP_AND, [TOP_OR] = OP_OR, [TOP_NEG] = OP_NEG, [TOP_NOT] = OP_NOT,
};
static const char *const op_signs[] = {
    [TOP_ADD] = "+", [TOP_SUB] = "-", [TOP_MUL] = "*", [TOP_DIV] = "/", [TOP_REM] = "%", [TOP_EQ] = "==", [TOP_NE] = "!=",
    [TOP_LT] = "<", [TOP_LE] = "<=", [TOP_GT] = ">", [TOP_GE] = ">=", [TOP_AND] = "&&", [TOP_OR] = "||", [TOP_NEG] = "-", [TOP_NOT] = "!",
};

// `x / sum(j) e*2` is x / (sum(j) (e*2)).
static void warn_precedence(Typer *t, const Tree *tree)
{
    const Tree *right = tree->args.at[1];
    if (tree->op != TOP_DIV && tree->op != TOP_REM) return;
    if (right->kind != TREE_CALL || !right->body || right->parens) return;
    const Tree *body = right->body;
    bool product = body->kind == TREE_BINARY && !body->parens && (body->op == TOP_MUL || body->op == TOP_DIV || body->op == TOP_REM);
    if (!product || t->sema->quiet) return;
    diag_report(t->sema->file->diags, D_PRECEDENCE, body->range, "the whole product is the body of `%s`, so all of it is below the `%s`",
                right->text, op_signs[tree->op]);
    diag_help(t->sema->file->diags, "put the reduction, or its body, in brackets");
}

static Expr *arithmetic(Typer *t, const Tree *tree, Expr **args)
{
    DType type;
    if (!type_numbers(t, tree->range, op_signs[tree->op], 2, args, &type)) return NULL;
    return with_range(expr_binary(t->sema->arena, binary_ops[tree->op], type, args[0], args[1]), tree->range);
}

// A number and an index, or a dimension: their values are compared, whatever the types.
static bool compares_values(const Expr *number, const Expr *index)
{
    bool typed = !type_is_open(number->type) && number->type != DT_BOOL;
    return typed && index->type == DT_INDEX && type_has_variable(index);
}

static Expr *comparison(Typer *t, const Tree *tree, Expr **args)
{
    Sema *s = t->sema;
    DType type;
    if (compares_values(args[0], args[1]) || compares_values(args[1], args[0]))
        return with_range(expr_simplify(s->arena, expr_binary(s->arena, binary_ops[tree->op], DT_BOOL, args[0], args[1])), tree->range);
    if (!type_unify(t, tree->range, op_signs[tree->op], 2, args, &type)) return NULL;
    if (type == DT_COUNT && !s->quiet) {
        sema_error(s, D_LITERAL, tree->range, "neither side of `%s` has a type", op_signs[tree->op]);
        sema_help(s, "convert one of them: `f32(...)`");
        return NULL;
    }
    if (type == DT_BOOL && tree->op != TOP_EQ && tree->op != TOP_NE) {
        sema_error(s, D_TYPE, tree->range, "bools have no order: `%s` cannot be applied to them", op_signs[tree->op]);
        return NULL;
    }
    return with_range(expr_binary(s->arena, binary_ops[tree->op], DT_BOOL, args[0], args[1]), tree->range);
}

static Expr *logic(Typer *t, const Tree *tree, Expr **args)
{
    char *what = arena_printf(t->sema->arena, "an operand of `%s`", op_signs[tree->op]);
    for (int i = 0; i < tree->args.n; i++) {
        args[i] = type_coerce(t, args[i], DT_BOOL, what);
        if (!args[i]) return NULL;
    }
    return expr_new(t->sema->arena, binary_ops[tree->op], DT_BOOL, tree->range, tree->args.n, args);
}

static Expr *binary(Typer *t, const Tree *tree)
{
    warn_precedence(t, tree);
    Expr *args[2] = {sema_expr(t, tree->args.at[0]), sema_expr(t, tree->args.at[1])};
    if (!args[0] || !args[1]) return NULL;
    switch (tree->op) {
    case TOP_ADD: case TOP_SUB: case TOP_MUL: case TOP_DIV: case TOP_REM: return arithmetic(t, tree, args);
    case TOP_EQ: case TOP_NE: case TOP_LT: case TOP_LE: case TOP_GT: case TOP_GE: return comparison(t, tree, args);
    case TOP_AND: case TOP_OR: case TOP_NEG: case TOP_NOT: break;
    }
    return logic(t, tree, args);
}

static Expr *unary(Typer *t, const Tree *tree)
{
    const Tree *arg = tree->args.at[0];
    if (tree->op == TOP_NEG && arg->kind == TREE_INT && !arg->overflow && arg->ival == (uint64_t)1 << 63)
        return expr_int(t->sema->arena, DT_INDEX, INT64_MIN, tree->range);
    Expr *x = sema_expr(t, arg);
    if (!x) return NULL;
    if (tree->op == TOP_NOT) return logic(t, tree, &x);
    if (x->op == OP_CONST && x->type == DT_INDEX && x->i != INT64_MIN) return expr_int(t->sema->arena, DT_INDEX, -x->i, tree->range);
    if (x->op == OP_CONST && x->type == DT_COUNT) return floating(t, -x->f, tree->range);
    DType type;
    if (!type_numbers(t, tree->range, "-", 1, &x, &type)) return NULL;
    return with_range(expr_unary(t->sema->arena, OP_NEG, type, x), tree->range);
}

static Expr *choice(Typer *t, const Tree *tree)
{
    Expr *cond = sema_bool(t, tree->args.at[0], "the condition of `if`");
    Expr *args[2] = {sema_expr(t, tree->args.at[1]), sema_expr(t, tree->args.at[2])};
    DType type;
    if (!cond || !args[0] || !args[1] || !type_unify(t, tree->range, "if", 2, args, &type)) return NULL;
    Expr *all[3] = {cond, args[0], args[1]};
    return expr_new(t->sema->arena, OP_SELECT, type, tree->range, 3, all);
}

static Expr *misplaced(Typer *t, const Tree *tree)
{
    const char *what = tree->kind == TREE_STRING ? "a string" : tree->kind == TREE_IN || tree->kind == TREE_RANGE ? "a range"
                     : tree->kind == TREE_NAMED ? "a named argument" : tree->kind == TREE_OTHERWISE ? "`otherwise`" : "this";
    sema_error(t->sema, D_CALL, tree->range, "%s is not a value here", what);
    return NULL;
}

Expr *sema_expr(Typer *t, const Tree *tree)
{
    switch (tree->kind) {
    case TREE_INT: return integer(t, tree);
    case TREE_FLOAT: return floating(t, tree->fval, tree->range);
    case TREE_NAME: return name(t, tree);
    case TREE_INDEX: return read(t, tree);
    case TREE_CALL: return tree->body ? sema_reduction(t, tree) : sema_call(t, tree);
    case TREE_UNARY: return unary(t, tree);
    case TREE_BINARY: return binary(t, tree);
    case TREE_IF: return choice(t, tree);
    case TREE_STRING: case TREE_ALL: case TREE_RANGE: case TREE_GROUP: case TREE_IN: case TREE_NAMED: case TREE_OPERATOR: case TREE_OTHERWISE: break;
    }
    return misplaced(t, tree);
}
