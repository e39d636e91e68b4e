// Reductions and scans.
//
// `sum(k, l in 0..=k where g) body`: the indices open a scope, a range may use outer indices and those before it, the
// guards are split at their && (affine parts apart, the rest kept together in order), the body is typed with promoted
// leaves. An index without a range is left open for ranges.c. `scan(+, j, exclusive, reverse) body` runs along an
// index of its equation and opens no scope.
//
// Test: tests/unit/test_sema.c
#include "sema/context.h"

#include <string.h>

static const struct {
    const char *name;
    ReduceOp op;
} reductions[] = {
    {"sum", RED_SUM}, {"prod", RED_PROD}, {"max", RED_MAX}, {"min", RED_MIN}, {"mean", RED_MEAN},
    {"any", RED_ANY}, {"all", RED_ALL}, {"argmax", RED_ARGMAX}, {"argmin", RED_ARGMIN},
};

static bool reduction_op(const char *name, ReduceOp *op)
{
    for (int i = 0; i < (int)(sizeof reductions / sizeof *reductions); i++) {
        if (strcmp(reductions[i].name, name) != 0) continue;
        *op = reductions[i].op;
        return true;
    }
    return false;
}

bool sema_is_reduction(const char *name)
{
    ReduceOp op;
    return reduction_op(name, &op) || strcmp(name, "scan") == 0;
}

// ---- indices ----

static Index *add_index(Typer *t, Nest *nest, const Tree *name)
{
    Index *index = sema_index(t->sema, name->text, name->range, t->scope.n, t->scope.at);
    if (!index) return NULL;
    VEC_PUSH(t->sema->arena, &nest->indices, index);
    VEC_PUSH(t->sema->arena, &t->scope, index);
    return index;
}

static bool add_argument(Typer *t, Nest *nest, const Tree *call, const Tree *arg)
{
    Sema *s = t->sema;
    const Tree *name = arg->kind == TREE_IN ? arg->args.at[0] : arg;
    if (name->kind != TREE_NAME || strchr(name->text, '.')) {
        sema_error(s, D_CALL, arg->range, "the brackets of a reduction hold its indices, such as `%s(i, j in 0..N)`", call->text);
        if (name->kind == TREE_OPERATOR) sema_help(s, "`scan` takes an operator: `scan(+, i) e`");
        return false;
    }
    Expr *lo = NULL, *hi = NULL;
    // The range comes before the index enters the scope: it cannot use it.
    if (arg->kind == TREE_IN && !sema_bounds(t, arg->args.at[1], &lo, &hi)) return false;
    Index *index = add_index(t, nest, name);
    if (!index) return false;
    index->lo = lo;
    index->hi = hi;
    return true;
}

// ---- guards ----

typedef struct {
    Arena *arena;
    Nest *nest;
    Expr *data;                    // the parts that are not affine, joined in order
} Guards;

static void add_part(Expr *cond, void *data)
{
    Guards *g = data;
    if (sema_is_affine_cond(cond)) VEC_PUSH(g->arena, &g->nest->conds, cond);
    else g->data = g->data ? expr_binary(g->arena, OP_AND, DT_BOOL, g->data, cond) : cond;
}

static void add_guard(Typer *t, Nest *nest, Expr *cond)
{
    Guards g = {.arena = t->sema->arena, .nest = nest};
    sema_conjuncts(expr_simplify(t->sema->arena, cond), add_part, &g);
    if (g.data) VEC_PUSH(t->sema->arena, &nest->conds, g.data);
}

static Index *open_index(Nest *nest, const Tree *cond)
{
    if (cond->kind != TREE_IN || cond->args.at[0]->kind != TREE_NAME) return NULL;
    for (int i = 0; i < nest->indices.n; i++)
        if (!nest->indices.at[i]->lo && strcmp(nest->indices.at[i]->name, cond->args.at[0]->text) == 0) return nest->indices.at[i];
    return NULL;
}

// `e in a..b` as a guard: two comparisons, whatever the types.
static Expr *membership(Typer *t, const Tree *cond)
{
    const Tree *range = cond->args.at[1];
    Tree above = {.kind = TREE_BINARY, .op = TOP_GE, .range = cond->range}, below = {.kind = TREE_BINARY, .op = range->closed ? TOP_LE : TOP_LT, .range = cond->range};
    VEC_PUSH(t->sema->arena, &above.args, cond->args.at[0]);
    VEC_PUSH(t->sema->arena, &above.args, range->args.at[0]);
    VEC_PUSH(t->sema->arena, &below.args, cond->args.at[0]);
    VEC_PUSH(t->sema->arena, &below.args, range->args.at[1]);
    Expr *x = sema_expr(t, &above), *y = x ? sema_expr(t, &below) : NULL;
    return y ? expr_binary(t->sema->arena, OP_AND, DT_BOOL, x, y) : NULL;
}

static bool add_cond(Typer *t, Nest *nest, const Tree *cond)
{
    Index *index = open_index(nest, cond);
    if (index) return sema_bounds(t, cond->args.at[1], &index->lo, &index->hi);
    if (cond->kind == TREE_OTHERWISE) {
        sema_error(t->sema, D_WHERE, cond->range, "`otherwise` belongs to an equation, not to a reduction");
        return false;
    }
    Expr *e = cond->kind == TREE_IN ? membership(t, cond) : sema_bool(t, cond, "a guard");
    if (!e) return false;
    add_guard(t, nest, e);
    return true;
}

// ---- bodies ----

static bool promotes(ReduceOp op) { return op == RED_SUM || op == RED_PROD || op == RED_MEAN; }

static Expr *body_of(Typer *t, const Tree *tree, bool promote)
{
    bool before = t->promote;
    t->promote = before || promote;
    Expr *e = sema_expr(t, tree->body);
    t->promote = before;
    return e;
}

static Expr *report_bool(Typer *t, const Tree *tree)
{
    sema_error(t->sema, D_TYPE, tree->body->range, "`%s` of bools", tree->text);
    sema_help(t->sema, "use `any` or `all`, or convert them: `i32(...)`");
    return NULL;
}

// The body in the type that the operation works in; *result is the type of the whole.
static Expr *settle_body(Typer *t, const Tree *tree, ReduceOp op, Expr *body, DType *result)
{
    Sema *s = t->sema;
    if (op == RED_ANY || op == RED_ALL) {
        *result = DT_BOOL;
        return type_coerce(t, body, DT_BOOL, "the body");
    }
    bool arg = op == RED_ARGMAX || op == RED_ARGMIN;
    if (promotes(op) && !type_is_open(body->type)) body = expr_convert(s->arena, dtype_accumulator(body->type), body);
    if (body->type == DT_BOOL) return report_bool(t, tree);
    if (arg && body->type == DT_COUNT && !s->quiet) {
        sema_error(s, D_LITERAL, tree->body->range, "the body of `%s` has no type", tree->text);
        sema_help(s, "convert it: `f32(...)`");
        return NULL;
    }
    *result = arg ? DT_I64 : body->type == DT_INDEX ? DT_COUNT : body->type;
    return body;
}

static Expr *reduce_expr(Typer *t, const Tree *tree, Nest *nest, Expr *body)
{
    DType type;
    body = settle_body(t, tree, nest->op, body, &type);
    if (!body) return NULL;
    Expr *e = expr_new(t->sema->arena, OP_REDUCE, type, tree->range, 1, &body);
    e->nest = nest;
    return type_leaf(t, e);
}

static bool enough_room(Typer *t, const Tree *tree)
{
    if (t->scope.n <= SEMA_MOST_INDICES) return true;
    sema_error(t->sema, D_UNSUPPORTED, tree->range, "more than %d indices in one place are not built yet", SEMA_MOST_INDICES);
    return false;
}

static Expr *scoped_reduction(Typer *t, const Tree *tree, Nest *nest)
{
    Sema *s = t->sema;
    bool good = true;
    for (int i = 0; i < tree->args.n; i++) good = add_argument(t, nest, tree, tree->args.at[i]) && good;
    if (!good || !enough_room(t, tree)) return NULL;
    bool promote = t->promote;
    t->promote = false;
    for (int i = 0; i < tree->conds.n; i++) good = add_cond(t, nest, tree->conds.at[i]) && good;
    t->promote = promote;
    Expr *body = body_of(t, tree, promotes(nest->op));
    if (!good || !body) return NULL;
    for (int i = 0; i < nest->indices.n; i++)
        if (!nest->indices.at[i]->lo && t->equation) VEC_PUSH(s->arena, &t->equation->open, nest->indices.at[i]);
    return reduce_expr(t, tree, nest, body);
}

static Expr *reduction(Typer *t, const Tree *tree, ReduceOp op)
{
    Sema *s = t->sema;
    bool arg = op == RED_ARGMAX || op == RED_ARGMIN;
    if (tree->args.n == 0 || (arg && tree->args.n != 1)) {
        sema_error(s, D_CALL, tree->range, arg ? "`%s` takes one index" : "`%s` needs an index to run over", tree->text);
        sema_help(s, "write `%s(i) e`", tree->text);
        return NULL;
    }
    if (!t->equation) {
        sema_error(s, D_CALL, tree->range, "a reduction cannot stand here");
        return NULL;
    }
    Nest *nest = ARENA_NEW(s->arena, Nest);
    nest->op = op;
    int mark = t->scope.n;
    Expr *e = scoped_reduction(t, tree, nest);
    for (int i = mark; i < t->scope.n; i++) VEC_PUSH(s->arena, &t->ended, t->scope.at[i]->name);
    t->scope.n = mark;
    return e;
}

// ---- scans ----

static bool scan_op(const Tree *arg, ReduceOp *op)
{
    if (arg->kind == TREE_NAME) {
        bool max = strcmp(arg->text, "max") == 0, min = strcmp(arg->text, "min") == 0;
        *op = max ? RED_MAX : RED_MIN;
        return max || min;
    }
    if (arg->kind != TREE_OPERATOR) return false;
    switch ((int)arg->op) {
    case TOP_ADD: *op = RED_SUM; return true;
    case TOP_MUL: *op = RED_PROD; return true;
    case TOP_AND: *op = RED_ALL; return true;
    case TOP_OR: *op = RED_ANY; return true;
    default: return false;
    }
}

static bool scan_flags(Typer *t, const Tree *tree, Nest *nest)
{
    for (int i = 2; i < tree->args.n; i++) {
        const Tree *arg = tree->args.at[i];
        bool name = arg->kind == TREE_NAME;
        if (name && strcmp(arg->text, "exclusive") == 0) nest->exclusive = true;
        else if (name && strcmp(arg->text, "reverse") == 0) nest->reverse = true;
        else {
            sema_error(t->sema, D_CALL, arg->range, "a scan takes one index; `exclusive` and `reverse` may follow it");
            return false;
        }
    }
    return true;
}

static Index *scan_along(Typer *t, const Tree *arg)
{
    Sema *s = t->sema;
    const EquationInfo *e = t->equation;
    if (arg->kind == TREE_NAME)
        for (int i = 0; i < e->eq->indices.n; i++)
            if (strcmp(e->eq->indices.at[i]->name, arg->text) == 0) return e->eq->indices.at[i];
    if (arg->kind == TREE_NAME) sema_error(s, D_CALL, arg->range, "a scan runs along an index of the left side, and `%s` is none", arg->text);
    else sema_error(s, D_CALL, arg->range, "the second argument of a scan is an index of the left side");
    sema_help(s, "as in `y[i, j] = scan(+, j) x[i, j];`");
    return NULL;
}

static Expr *scan(Typer *t, const Tree *tree)
{
    Sema *s = t->sema;
    Nest *nest = ARENA_NEW(s->arena, Nest);
    if (tree->args.n < 2 || !scan_op(tree->args.at[0], &nest->op) || !t->equation) {
        sema_error(s, D_CALL, tree->range, "a scan needs an operator and an index");
        sema_help(s, "write `scan(+, i) e`; operators are + * min max && ||");
        return NULL;
    }
    if (tree->conds.n > 0) {
        sema_error(s, D_CALL, tree->conds.at[0]->range, "a scan has no guards");
        sema_help(s, "scan a value that leaves the result as it is: `if ... then e else 0`");
        return NULL;
    }
    nest->along = scan_along(t, tree->args.at[1]);
    if (!nest->along || !scan_flags(t, tree, nest)) return NULL;
    bool logic = nest->op == RED_ANY || nest->op == RED_ALL;
    Expr *body = body_of(t, tree, !logic);
    DType type;
    body = body ? settle_body(t, tree, nest->op, body, &type) : NULL;
    if (!body) return NULL;
    // min and max keep the type of their body in a reduction, but not in a scan.
    if (!logic && !type_is_open(type)) body = expr_convert(s->arena, type = dtype_accumulator(type), body);
    Expr *e = expr_new(s->arena, OP_SCAN, type, tree->range, 1, &body);
    e->nest = nest;
    return type_leaf(t, e);
}

Expr *sema_reduction(Typer *t, const Tree *tree)
{
    ReduceOp op;
    if (strcmp(tree->text, "scan") == 0) return scan(t, tree);
    if (reduction_op(tree->text, &op)) return reduction(t, tree, op);
    Sema *s = t->sema;
    Op function;
    DType type;
    bool known = sema_is_function(tree->text, &function) || dtype_parse(tree->text, &type) || strcmp(tree->text, "clamp") == 0;
    sema_error(s, D_CALL, tree->name_range, known ? "`%s` is a function: it has no body" : "`%s` is not a reduction", tree->text);
    if (known) sema_help(s, "an operator may be missing behind the brackets");
    else sema_help(s, "reductions are sum prod max min mean any all argmax argmin, and scan");
    return NULL;
}
