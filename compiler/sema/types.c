// Types: who converts to what.
//
// Literals, indices and dims have no type of their own. A literal takes the type of what it meets, through nested
// literal arithmetic: in `x * (1/3)` the 1 and the 3 become f32. Arithmetic with an index or a dim in it is index
// arithmetic (`/` truncates) and is converted as a whole, marked as one that must fit; compared with a number it keeps
// its value. Only lossless widening in one family is implicit.
// Inside sum, prod, mean and scan each leaf takes the accumulator's type before the arithmetic.
//
// Open expressions are fresh (nothing else points to them), so giving them a type changes them in place.
// Test: tests/unit/test_sema.c
#include "sema/context.h"

#include <math.h>

bool type_is_open(DType t) { return t == DT_COUNT || t == DT_INDEX; }

// ---- questions about open expressions ----

bool type_has_variable(const Expr *e)
{
    if (e->op == OP_INDEX || e->op == OP_DIM || e->op == OP_READ || op_class(e->op) == OPC_NEST) return true;
    for (int i = 0; i < e->n; i++)
        if (type_has_variable(e->args[i])) return true;
    return false;
}

static bool is_accumulation(const Expr *e)
{
    if (e->op == OP_SCAN) return e->nest->op != RED_ANY && e->nest->op != RED_ALL;
    return e->op == OP_REDUCE && (e->nest->op == RED_SUM || e->nest->op == RED_PROD || e->nest->op == RED_MEAN);
}

static bool accumulates(const Expr *e)
{
    if (e->type != DT_COUNT) return false;
    if (is_accumulation(e)) return true;
    for (int i = 0; i < e->n; i++)
        if (accumulates(e->args[i])) return true;
    return false;
}

static bool has_float(const Expr *e)
{
    if (e->type != DT_COUNT) return false;
    if (e->op == OP_CONST || op_class(e->op) == OPC_MATH) return true;
    for (int i = 0; i < e->n; i++)
        if (has_float(e->args[i])) return true;
    return false;
}

// The type that an open expression takes where `type` is asked for: with a sum inside, the accumulator's.
static DType landing(const Expr *e, DType type) { return accumulates(e) ? dtype_accumulator(type) : type; }

// ---- giving a type ----

static Expr *adapt(Typer *t, Expr *e, DType type);

static Expr *out_of_range(Typer *t, const Expr *e, DType type)
{
    if (e->type == DT_INDEX) sema_error(t->sema, D_LITERAL, e->range, "%lld is out of the range of %s", (long long)e->i, dtype_name(type));
    else sema_error(t->sema, D_LITERAL, e->range, "%.9g is out of the range of %s", e->f, dtype_name(type));
    return NULL;
}

static Expr *adapt_integer(Typer *t, Expr *e, DType type)
{
    Arena *a = t->sema->arena;
    if (dtype_is_float(type)) {
        Expr *r = expr_float(a, type, fold_int_to_float(type, DT_INDEX, e->i), e->range);
        return isfinite(r->f) ? r : out_of_range(t, e, type);
    }
    bool fits = type == DT_U64 ? e->i >= 0 : fold_wrap_int(type, e->i) == e->i;
    return fits ? expr_int(a, type, e->i, e->range) : out_of_range(t, e, type);
}

static Expr *adapt_float(Typer *t, Expr *e, DType type)
{
    if (!dtype_is_float(type)) {
        sema_error(t->sema, D_LITERAL, e->range, "the literal %.9g cannot be %s%s", e->f, type == DT_INDEX ? "an index" : "of type ",
                   type == DT_INDEX ? "" : dtype_name(type));
        if (type != DT_INDEX && type != DT_BOOL) sema_help(t->sema, "convert the other operand to a float, or write an integer");
        return NULL;
    }
    Expr *r = expr_float(t->sema->arena, type, e->f, e->range);
    return isinf(r->f) && !isinf(e->f) ? out_of_range(t, e, type) : r;
}

// Types the open arguments of a node from `first` on, and the node.
static Expr *adapt_args(Typer *t, Expr *e, int first, DType type)
{
    for (int i = first; i < e->n; i++) {
        if (!type_is_open(e->args[i]->type)) continue;
        e->args[i] = adapt(t, e->args[i], type);
        if (!e->args[i]) return NULL;
    }
    e->type = type;
    return e;
}

static Expr *adapt_node(Typer *t, Expr *e, DType type)
{
    bool math = op_class(e->op) == OPC_MATH, bits = op_class(e->op) == OPC_BITS;
    if ((math && !dtype_is_float(type)) || (bits && !dtype_is_int(type)) || type == DT_BOOL) {
        sema_error(t->sema, D_TYPE, e->range, "%s `%s` cannot give %s", math ? "the function" : "the operation", op_name(e->op), dtype_name(type));
        if (math) sema_help(t->sema, "compute in a float type and convert: `%s(f64(...))`", dtype_name(type));
        return NULL;
    }
    return adapt_args(t, e, e->op == OP_SELECT ? 1 : 0, type);
}

// Index arithmetic in the type that something else asks for: it must fit, which is looked at when ranges are known.
static Expr *fitting(Typer *t, Expr *e, DType type)
{
    if (e->op == OP_CONST) return adapt_integer(t, e, type);
    if (dtype_is_float(type)) return expr_convert(t->sema->arena, type, e);
    if (e->op == OP_SELECT) {                     // each branch under its condition
        Expr *args[3] = {e->args[0], fitting(t, e->args[1], type), fitting(t, e->args[2], type)};
        return args[1] && args[2] ? expr_new(t->sema->arena, OP_SELECT, type, e->range, 3, args) : NULL;
    }
    Expr *r = expr_convert(t->sema->arena, type, e);
    r->outside |= EXPR_FITS;
    return r;
}

// Index arithmetic: with an index or a dim in it it is converted as a whole, else it is literal arithmetic.
static Expr *adapt_index(Typer *t, Expr *e, DType type)
{
    Arena *a = t->sema->arena;
    if (type == DT_INDEX) return e;
    if (e->op == OP_CONST) return adapt_integer(t, e, type);
    if (type_has_variable(e)) {
        if (type == DT_BOOL) {
            sema_error(t->sema, D_TYPE, e->range, "an index is not a bool");
            sema_help(t->sema, "compare it: `i != 0`");
            return NULL;
        }
        return fitting(t, expr_simplify(a, e), type);
    }
    if (dtype_is_float(type)) return adapt_node(t, e, type);
    Expr *folded = expr_simplify(a, e);
    return folded->op == OP_CONST ? adapt_integer(t, folded, type) : adapt_node(t, e, type);
}

static Expr *adapt(Typer *t, Expr *e, DType type)
{
    if (e->type == DT_INDEX) return adapt_index(t, e, type);
    if (e->op == OP_CONST) return adapt_float(t, e, type);
    if (e->op == OP_READ) {                       // of a tensor without a type so far: a trial
        e->type = type;
        return e;
    }
    return adapt_node(t, e, type);
}

Expr *type_leaf(const Typer *t, Expr *e)
{
    bool low = t->promote && !type_is_open(e->type) && e->type != DT_BOOL;
    return low ? expr_convert(t->sema->arena, dtype_accumulator(e->type), e) : e;
}

// ---- coercion to a place ----

static void report_narrowing(Typer *t, const Expr *e, DType type, const char *what)
{
    sema_error(t->sema, D_TYPE, e->range, "%s is %s, but this is %s", what, dtype_name(type), dtype_name(e->type));
    if (type == DT_BOOL) sema_help(t->sema, "compare it: `x != 0`");
    else sema_help(t->sema, "nothing narrows by itself: write `%s(...)`", dtype_name(type));
}

Expr *type_coerce(Typer *t, Expr *e, DType type, const char *what)
{
    if (type_is_open(e->type)) e = adapt(t, e, landing(e, type));
    if (!e || e->type == type) return e;
    if (dtype_widens(e->type, type)) return expr_convert(t->sema->arena, type, e);
    if (type == DT_INDEX && dtype_is_int(e->type)) return e;      // a subscript may be of any integer type
    report_narrowing(t, e, type, what);
    return NULL;
}

// ---- one type for several operands ----

static bool join(DType x, DType y, DType *r)
{
    if (dtype_widens(x, y)) return *r = y, true;
    if (dtype_widens(y, x)) return *r = x, true;
    return false;
}

static bool report_mixed(Typer *t, Range range, const char *what, DType x, DType y)
{
    Sema *s = t->sema;
    sema_error(s, D_TYPE, range, "`%s` of %s and %s", what, dtype_name(x), dtype_name(y));
    bool bools = x == DT_BOOL || y == DT_BOOL, floats = dtype_is_float(x) || dtype_is_float(y);
    DType to = dtype_is_float(x) || y == DT_BOOL ? x : y;
    if (bools || floats || dtype_family(x) != dtype_family(y)) sema_help(s, "convert one of them: `%s(...)`", dtype_name(to));
    return false;
}

// The joint type of the operands that have one; DT_COUNT if there is none. Accumulators are widened first.
static bool joint_type(Typer *t, Range range, const char *what, int n, Expr **args, DType *joint)
{
    *joint = DT_COUNT;
    for (int i = 0; i < n; i++) {
        if (type_is_open(args[i]->type)) continue;
        DType type = t->promote && args[i]->type != DT_BOOL ? dtype_accumulator(args[i]->type) : args[i]->type;
        DType before = *joint;
        if (before == DT_COUNT) *joint = type;
        else if (!join(before, type, joint)) return report_mixed(t, range, what, before, type);
    }
    return true;
}

bool type_unify(Typer *t, Range range, const char *what, int n, Expr **args, DType *type)
{
    DType joint;
    if (!joint_type(t, range, what, n, args, &joint)) return false;
    if (joint == DT_COUNT) {
        *type = DT_INDEX;
        for (int i = 0; i < n; i++)
            if (args[i]->type == DT_COUNT) *type = DT_COUNT;
        return true;
    }
    for (int i = 0; i < n; i++) {
        if (!type_is_open(args[i]->type)) continue;
        args[i] = adapt(t, args[i], landing(args[i], joint));
        if (!args[i]) return false;
        DType before = joint;
        if (!join(before, args[i]->type, &joint)) return report_mixed(t, range, what, before, args[i]->type);
    }
    for (int i = 0; i < n; i++) args[i] = expr_convert(t->sema->arena, joint, args[i]);
    *type = joint;
    return true;
}

bool type_numbers(Typer *t, Range range, const char *what, int n, Expr **args, DType *type)
{
    for (int i = 0; i < n; i++) {
        if (args[i]->type != DT_BOOL) continue;
        if (t->promote) {
            args[i] = expr_convert(t->sema->arena, DT_I32, args[i]);
            continue;
        }
        sema_error(t->sema, D_TYPE, range, "`%s` cannot be applied to bool", what);
        sema_help(t->sema, "convert it: `i32(...)` gives 0 or 1");
        return false;
    }
    return type_unify(t, range, what, n, args, type);
}

// ---- explicit conversions ----

// An open argument: floats and literals take the type asked for; index arithmetic and integers are converted, wrapping.
static Expr *convert_open(Typer *t, Expr *e, DType type)
{
    Arena *a = t->sema->arena;
    if (e->type == DT_INDEX && (!dtype_is_float(type) || type_has_variable(e))) return expr_simplify(a, e);
    if (dtype_is_float(type)) return adapt(t, e, landing(e, type));
    if (has_float(e)) return adapt(t, e, DT_F64);
    return adapt(t, e, type == DT_BOOL ? DT_I64 : landing(e, type));
}

Expr *type_convert(Typer *t, Expr *e, DType type, Range range)
{
    if (type_is_open(e->type)) e = convert_open(t, e, type);
    if (!e) return NULL;
    // A leaf that was widened for an accumulator is converted from its own type: the value is the same.
    while (e->op == OP_CONVERT && !type_is_open(e->args[0]->type) && dtype_widens(e->args[0]->type, e->type)) e = e->args[0];
    Expr *r = expr_convert(t->sema->arena, type, e);
    if (r == e) {                                 // a fresh node: the range is that of the call
        r = ARENA_NEW(t->sema->arena, Expr);
        *r = *e;
    }
    r->range = range;
    return type_leaf(t, r);
}
