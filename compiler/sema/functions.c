// Functions, conversions and logs.
//
// A name with brackets and no body is a function: one of the operations in ir/ops.def by its name, `min` and `max` of
// two or more arguments (folded from the left), `clamp`, or the name of a type, which converts. Calls of kernels are
// not built yet. The format of a log is checked against its arguments here, so that run time cannot get it wrong.
//
// Test: tests/unit/test_sema.c
#include "sema/context.h"

#include <string.h>

enum { MOST_ARGUMENTS = 64 };

bool sema_is_function(const char *name, Op *op)
{
    for (int i = 0; i < OP_COUNT; i++) {
        if (strcmp(op_name((Op)i), name) != 0) continue;
        *op = (Op)i;
        switch ((Op)i) {
        case OP_FLOORDIV: case OP_MOD: case OP_MIN: case OP_MAX: case OP_ABS: case OP_SIGN: case OP_FMA: case OP_ISNAN: case OP_ISINF: return true;
        default: return op_class((Op)i) == OPC_MATH || op_class((Op)i) == OPC_BITS;
        }
    }
    return false;
}

// ---- arguments ----

static bool plain_arguments(Typer *t, const Tree *tree)
{
    Sema *s = t->sema;
    if (tree->conds.n > 0) {
        sema_error(s, D_CALL, tree->conds.at[0]->range, "`where` in brackets guards a reduction; `%s` here is a function", tree->text);
        sema_help(s, "a reduction has a body behind its brackets: `%s(i where ...) e`", tree->text);
        return false;
    }
    for (int i = 0; i < tree->args.n; i++) {
        const Tree *arg = tree->args.at[i];
        if (arg->kind == TREE_NAMED) sema_error(s, D_CALL, arg->range, "`%s` has no argument named `%s`", tree->text, arg->text);
        else if (arg->kind == TREE_IN) sema_error(s, D_CALL, arg->range, "a range belongs to a reduction, and `%s` has no body here", tree->text);
        else continue;
        if (arg->kind == TREE_IN) sema_help(s, "write the body behind the brackets: `%s(...) e`", tree->text);
        return false;
    }
    return true;
}

// The arguments as expressions; NULL after an error.
static Expr **arguments(Typer *t, const Tree *tree)
{
    Expr **args = ARENA_ARRAY(t->sema->arena, Expr *, tree->args.n + 1);
    bool good = plain_arguments(t, tree);
    for (int i = 0; good && i < tree->args.n; i++) args[i] = sema_expr(t, tree->args.at[i]);
    for (int i = 0; good && i < tree->args.n; i++)
        if (!args[i]) return NULL;
    return good ? args : NULL;
}

static Expr *wrong_count(Typer *t, const Tree *tree, const char *wanted)
{
    sema_error(t->sema, D_CALL, tree->range, "`%s` takes %s, not %d", tree->text, wanted, tree->args.n);
    return NULL;
}

static const char *counted(Typer *t, int n)
{
    return arena_printf(t->sema->arena, "%d argument%s", n, n == 1 ? "" : "s");
}

// ---- kinds of functions ----

// Whether an operation can work on a type; reports if not.
static bool suits(Typer *t, const Tree *tree, Op op, DType type)
{
    OpClass class = op_class(op);
    bool floats_only = class == OPC_MATH || op == OP_ISNAN || op == OP_ISINF || op == OP_FMA;
    if (type == DT_COUNT) return true;
    if (floats_only && !dtype_is_float(type) && type != DT_INDEX) {
        sema_error(t->sema, D_TYPE, tree->range, "`%s` needs a float, not %s", tree->text, dtype_name(type));
        sema_help(t->sema, "convert the argument: `f32(...)`");
        return false;
    }
    if (class == OPC_BITS && !dtype_is_int(type)) {
        sema_error(t->sema, D_TYPE, tree->range, "`%s` needs an integer, not %s", tree->text, dtype_name(type));
        return false;
    }
    return true;
}

static DType result_type(Op op, DType type)
{
    if (op_class(op) == OPC_COMPARE) return DT_BOOL;
    // An index under sqrt or fma is on its way to some float.
    return type == DT_INDEX && (op_class(op) == OPC_MATH || op == OP_FMA) ? DT_COUNT : type;
}

static Expr *operation(Typer *t, const Tree *tree, Op op)
{
    Sema *s = t->sema;
    if (tree->args.n != op_arity(op)) return wrong_count(t, tree, counted(t, op_arity(op)));
    Expr **args = arguments(t, tree);
    DType type;
    if (!args || !type_numbers(t, tree->range, tree->text, tree->args.n, args, &type) || !suits(t, tree, op, type)) return NULL;
    if (op_class(op) == OPC_COMPARE && type_is_open(type) && !s->quiet) {
        sema_error(s, D_LITERAL, tree->range, "the argument of `%s` has no type", tree->text);
        sema_help(s, "convert it: `f32(...)`");
        return NULL;
    }
    return expr_new(s->arena, op, result_type(op, type), tree->range, tree->args.n, args);
}

static Expr *fold_left(Typer *t, const Tree *tree, Op op)
{
    if (tree->args.n < 2) return wrong_count(t, tree, "two or more arguments (or a body: a reduction)");
    if (tree->args.n > MOST_ARGUMENTS) return wrong_count(t, tree, "at most 64 arguments");
    Expr **args = arguments(t, tree);
    DType type;
    if (!args || !type_numbers(t, tree->range, tree->text, tree->args.n, args, &type) || !suits(t, tree, op, type)) return NULL;
    Expr *e = args[0];
    for (int i = 1; i < tree->args.n; i++) {
        e = expr_binary(t->sema->arena, op, type, e, args[i]);
        e->range = tree->range;
    }
    return e;
}

static Expr *clamp(Typer *t, const Tree *tree)
{
    if (tree->args.n != 3) return wrong_count(t, tree, "3 arguments (a value, the least, the greatest)");
    Expr **args = arguments(t, tree);
    DType type;
    if (!args || !type_numbers(t, tree->range, tree->text, 3, args, &type) || !suits(t, tree, OP_MIN, type)) return NULL;
    Expr *low = expr_binary(t->sema->arena, OP_MAX, type, args[0], args[1]);
    Expr *e = expr_binary(t->sema->arena, OP_MIN, type, low, args[2]);
    low->range = e->range = tree->range;
    return e;
}

static Expr *conversion(Typer *t, const Tree *tree, DType type)
{
    if (tree->args.n != 1) return wrong_count(t, tree, "1 argument: it converts to that type");
    Expr **args = arguments(t, tree);
    return args ? type_convert(t, args[0], type, tree->range) : NULL;
}

// ---- calls ----

static Expr *unknown_call(Typer *t, const Tree *tree)
{
    Sema *s = t->sema;
    KernelName *kernel;
    HASH_FIND_STR(s->file->kernels, tree->text, kernel);
    Symbol *symbol = sema_find(s, tree->text);
    if (kernel || strchr(tree->text, '.')) {
        sema_error(s, D_UNSUPPORTED, tree->range, "calls of kernels such as `%s` are not built yet", tree->text);
        sema_help(s, "write the equations of the called kernel in place");
    } else if (sema_is_reduction(tree->text)) {
        sema_error(s, D_CALL, tree->range, "`%s` needs a body behind its brackets", tree->text);
        sema_help(s, strcmp(tree->text, "scan") == 0 ? "write `scan(+, i) e`" : "write `%s(i) e`", tree->text);
    } else if (symbol && symbol->kind == SYM_POISON) {
        return NULL;
    } else if (symbol) {
        sema_error(s, D_CALL, tree->range, "`%s` is not a function", tree->text);
        if (symbol->kind == SYM_TENSOR) sema_help(s, "subscripts are written in square brackets: `%s[...]`", tree->text);
    } else {
        sema_error(s, D_UNDEFINED, tree->name_range, "nothing defines the function `%s`", tree->text);
        sema_suggest(s, tree->text, 0, NULL, true);
    }
    return NULL;
}

// Names inside a call that is not understood count as used.
static void mark_used(Sema *s, const Tree *t)
{
    if (t->kind == TREE_NAME || t->kind == TREE_INDEX) {
        Symbol *symbol = sema_find(s, t->text);
        if (symbol) symbol->used = true;
    }
    for (int i = 0; i < t->args.n; i++) mark_used(s, t->args.at[i]);
}

Expr *sema_call(Typer *t, const Tree *tree)
{
    Op op;
    DType type;
    if (dtype_parse(tree->text, &type)) return conversion(t, tree, type);
    if (strcmp(tree->text, "clamp") == 0) return clamp(t, tree);
    if (!sema_is_function(tree->text, &op)) {
        mark_used(t->sema, tree);
        return unknown_call(t, tree);
    }
    if (op == OP_MIN || op == OP_MAX) return fold_left(t, tree, op);
    return operation(t, tree, op);
}

// ---- logs ----

static Expr *log_argument(Typer *t, const Tree *tree, char kind)
{
    Sema *s = t->sema;
    Expr *e = sema_expr(t, tree);
    if (!e) return NULL;
    DType type = kind == 'd' ? DT_I64 : DT_F64;
    if (type_is_open(e->type)) return type_coerce(t, e, type, "this argument");
    if (kind == 'g' && !dtype_is_float(e->type)) {
        sema_error(s, D_CALL, tree->range, "the conversion for this argument is for floats, but it is %s", dtype_name(e->type));
        sema_help(s, "use %%d, or convert it: `f64(...)`");
        return NULL;
    }
    if (kind == 'd' && dtype_is_float(e->type)) {
        sema_error(s, D_CALL, tree->range, "%%d is for integers, but this argument is %s", dtype_name(e->type));
        sema_help(s, "use %%g, or convert it: `i64(...)`");
        return NULL;
    }
    return expr_convert(s->arena, type, e);
}

static bool log_arguments(Typer *t, const Tree *call, Log *log)
{
    Sema *s = t->sema;
    int next = 1;
    for (const char *p = strchr(log->format, '%'); p; p = strchr(p, '%')) {
        const char *start = p++;
        char kind = log_conversion(&p);
        if (kind == '%') continue;
        if (!kind) {
            sema_error(s, D_CALL, call->args.at[0]->range, "`%.*s` is not a conversion of a log", (int)(p - start), start);
            sema_help(s, "use %%d for integers and %%e %%f %%g for floats; %%%% is a percent sign");
            return false;
        }
        if (next >= call->args.n) {
            sema_error(s, D_CALL, call->range, "the format asks for more than the %d argument%s that follow it", call->args.n - 1, call->args.n == 2 ? "" : "s");
            return false;
        }
        Expr *e = log_argument(t, call->args.at[next++], kind);
        if (!e) return false;
        VEC_PUSH(s->arena, &log->args, expr_simplify(s->arena, e));
    }
    if (next == call->args.n) return true;
    sema_error(s, D_CALL, call->args.at[next]->range, "the format has no conversion for this argument");
    sema_help(s, "use %%d for integers and %%e %%f %%g for floats");
    return false;
}

void sema_log(Sema *s, EquationInfo *e)
{
    const Tree *call = e->stmt->expr;
    e->log = ARENA_NEW(s->arena, Log);
    e->log->range = e->stmt->range;
    if (call->args.n == 0 || call->args.at[0]->kind != TREE_STRING) {
        sema_error(s, D_CALL, call->range, "the first argument of `log` is its format, a string");
        e->failed = true;
        return;
    }
    e->log->format = call->args.at[0]->text;
    Typer t = {.sema = s, .equation = e};
    for (int i = 0; i < e->eq->indices.n; i++) VEC_PUSH(s->arena, &t.scope, e->eq->indices.at[i]);
    if (!log_arguments(&t, call, e->log)) e->failed = true;
}
