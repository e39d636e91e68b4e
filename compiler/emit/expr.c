// expr: scalar C expressions.
//
// Every function returns text in the arena that is safe as an operand of anything (an identifier, a call, or in
// brackets); c_index alone drops brackets where the sum of products reads well. Integer arithmetic goes through the helpers
// of ptort/kernel.h, because it wraps; index arithmetic does not, and exact.c sees to it that it stays within 64 bits.
#include "emit/c.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- index expressions --------------------------------------------------------------------------------------------

enum { PREC_SUM = 1, PREC_PRODUCT, PREC_ATOM };

static const char *index_text(Emit *e, const Expr *x, int prec);

static const char *index_binary(Emit *e, const Expr *x, int prec)
{
    bool sum = x->op == OP_ADD || x->op == OP_SUB;
    int mine = sum ? PREC_SUM : PREC_PRODUCT;
    const char *op = x->op == OP_ADD ? "+" : x->op == OP_SUB ? "-" : x->op == OP_MUL ? "*" : x->op == OP_DIV ? "/" : "%";
    bool chain = x->op == OP_ADD || (x->op == OP_MUL && x->args[1]->op == OP_MUL);                       // a * (b / c) keeps its brackets
    const char *l = index_text(e, x->args[0], mine), *r = index_text(e, x->args[1], chain ? mine : mine + 1);
    const char *text = arena_printf(e->a, "%s %s %s", l, op, r);
    return mine < prec ? arena_printf(e->a, "(%s)", text) : text;
}

static bool may_be_negative(const Expr *x)
{
    return !(x->op == OP_DIM || (x->op == OP_CONST && x->i >= 0));
}

static const char *index_call(Emit *e, const char *f, const Expr *x)
{
    return arena_printf(e->a, "%s(%s, %s)", f, index_text(e, x->args[0], 0), index_text(e, x->args[1], 0));
}

// The value of an index: in a vector loop the position of the current copy and lane.
static const char *index_variable(Emit *e, const Index *index, int prec)
{
    const char *name = name_index(e, index);
    const Vec *v = e->vec;
    if (v && v->row == index && v->down > 0)
        return arena_printf(e->a, prec > PREC_SUM ? "(%s + %d)" : "%s + %d", name, v->down);
    if (!v || v->index != index || (v->offset == 0 && !v->lane))
        return name;
    const char *text = v->offset == 0 ? arena_printf(e->a, "%s + l", name)
                     : v->lane ? arena_printf(e->a, "%s + %lld + l", name, (long long)v->offset) : arena_printf(e->a, "%s + %lld", name, (long long)v->offset);
    return prec > PREC_SUM ? arena_printf(e->a, "(%s)", text) : text;
}

static const char *index_text(Emit *e, const Expr *x, int prec)
{
    switch ((int)x->op) {
    case OP_CONST: return c_constant(e, DT_INDEX, x->i);
    case OP_INDEX: return index_variable(e, x->index, prec);
    case OP_DIM: return name_dim(e, x->dim);
    case OP_NEG: return arena_printf(e->a, "(-%s)", index_text(e, x->args[0], PREC_ATOM));
    case OP_ADD: case OP_SUB: case OP_MUL: return index_binary(e, x, prec);
    case OP_MIN: return index_call(e, "pto_min", x);
    case OP_MAX: return index_call(e, "pto_max", x);
    case OP_DIV: case OP_REM:
        if (x->args[1]->op == OP_CONST && x->args[1]->i != 0 && x->args[1]->i != -1)
            return index_binary(e, x, prec);
        if (x->args[1]->op == OP_MAX && x->args[1]->args[1]->op == OP_CONST && x->args[1]->args[1]->i > 0)
            return index_binary(e, x, prec);
        break;
    case OP_FLOORDIV:
        if (x->args[1]->op == OP_CONST && x->args[1]->i > 0)
            return may_be_negative(x->args[0]) ? index_call(e, "pto_floordiv", x) : index_binary(e, &(Expr){ .op = OP_DIV, .n = 2, .args = x->args }, prec);
        break;
    case OP_MOD:
        if (x->args[1]->op == OP_CONST && x->args[1]->i > 0)
            return index_call(e, "pto_mod", x);
        break;
    default: break;
    }
    return c_value(e, x);
}

const char *c_index(Emit *e, const Expr *x)
{
    if (x->type == DT_U64)
        return arena_printf(e->a, "pto_index_u64(%s)", c_value(e, x));
    if (x->type != DT_INDEX)
        return x->type == DT_I64 ? c_value(e, x) : arena_printf(e->a, "(int64_t)%s", c_value(e, x));
    if (e->wide)
        return c_value(e, x);
    exact_need(e, x);
    bool inside = e->inside;
    e->inside = true;
    const char *text = index_text(e, x, 0);
    e->inside = inside;
    return text;
}

// ---- types --------------------------------------------------------------------------------------------------------

const char *c_value_type(DType t)
{
    return t == DT_F16 || t == DT_BF16 ? "float" : t == DT_BOOL ? "int" : dtype_ctype(t);
}

static bool is_half(DType t) { return t == DT_F16 || t == DT_BF16; }

// The type whose helpers compute values of `t`.
static const char *helper(DType t)
{
    return is_half(t) ? "f32" : t == DT_INDEX ? "i64" : t == DT_BOOL ? "i32" : dtype_name(t);
}

static const char *rounded(Emit *e, DType t, const char *x)
{
    return is_half(t) ? arena_printf(e->a, "pto_round_%s(%s)", dtype_name(t), x) : x;
}

const char *c_load(Emit *e, const Tensor *t, const char *place)
{
    return is_half(t->type) ? arena_printf(e->a, "pto_%s_to_f32(%s)", dtype_name(t->type), place) : place;
}

const char *c_store(Emit *e, const Tensor *t, const char *value)
{
    if (is_half(t->type))
        return arena_printf(e->a, "pto_f32_to_%s(%s)", dtype_name(t->type), value);
    return t->type == DT_BOOL ? arena_printf(e->a, "%s != 0", value) : value;
}

static const char *float_to_half(Emit *e, DType from, DType to, const char *x)
{
    if (from == DT_F64)
        return arena_printf(e->a, "pto_%s_to_f32(pto_f64_to_%s(%s))", dtype_name(to), dtype_name(to), x);
    return arena_printf(e->a, "pto_round_%s(%s)", dtype_name(to), x);
}

// Through a double, which holds what has at most 53 digits.
static const char *integer_to_half(Emit *e, DType from, DType to, const char *x)
{
    const char *h = dtype_name(to);
    if (dtype_bytes(from) < 8)
        return arena_printf(e->a, "pto_%s_to_f32(pto_f64_to_%s((double)%s))", h, h, x);
    return arena_printf(e->a, "pto_%s_to_f32(pto_%s_to_%s(%s))", h, from == DT_U64 ? "u64" : "i64", h, x);
}

const char *c_convert(Emit *e, DType from, DType to, const char *x)
{
    char ff = dtype_family(from), tf = dtype_family(to);
    if (from == to)
        return x;
    if (to == DT_BOOL)
        return arena_printf(e->a, "(%s != 0)", x);
    if (is_half(to)) {
        if (ff == 'F')
            return float_to_half(e, from, to, x);
        return integer_to_half(e, from, to, x);
    }
    if (ff == 'F' && tf != 'F')
        return arena_printf(e->a, "pto_%s_to_%s(%s)", from == DT_F64 ? "f64" : "f32", to == DT_INDEX ? "i64" : dtype_name(to), x);
    if (is_half(from) && to == DT_F32)
        return x;
    return arena_printf(e->a, "(%s)%s", dtype_ctype(to), x);
}

// ---- constants ----------------------------------------------------------------------------------------------------

static const char *float_constant(Emit *e, double v, bool single)
{
    if (isnan(v))
        return single ? "__builtin_nanf(\"\")" : "__builtin_nan(\"\")";
    if (isinf(v))
        return arena_printf(e->a, v < 0 ? "(-__builtin_inf%s())" : "__builtin_inf%s()", single ? "f" : "");
    char text[64];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (single ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v)
            break;
    }
    const char *point = strpbrk(text, ".e") ? "" : ".0";
    return arena_printf(e->a, v < 0 || signbit(v) ? "(%s%s%s)" : "%s%s%s", text, point, single ? "f" : "");
}

static const char *int_constant(Emit *e, DType t, int64_t v)
{
    switch ((int)t) {
    case DT_I64:
        return v == INT64_MIN ? "INT64_MIN" : arena_printf(e->a, v < 0 ? "(INT64_C(%lld))" : "INT64_C(%lld)", (long long)v);
    case DT_U64: return arena_printf(e->a, "UINT64_C(%llu)", (unsigned long long)v);
    case DT_U32: return arena_printf(e->a, "UINT32_C(%llu)", (unsigned long long)(uint32_t)v);
    case DT_I32: return v == INT32_MIN ? "INT32_MIN" : arena_printf(e->a, v < 0 ? "(%lld)" : "%lld", (long long)v);
    default: return v == INT64_MIN ? "INT64_MIN" : arena_printf(e->a, v < 0 ? "(%lld)" : "%lld", (long long)v);
    }
}

const char *c_constant(Emit *e, DType t, int64_t value)
{
    return int_constant(e, t, value);
}

static const char *constant(Emit *e, DType t, int64_t i, double f)
{
    return dtype_is_float(t) ? float_constant(e, f, t != DT_F64) : int_constant(e, t, i);
}

const char *c_identity(Emit *e, ReduceOp op, DType t, bool scan)
{
    bool f = dtype_is_float(t), sign = dtype_family(t) == 'I' || t == DT_INDEX;
    int bits = dtype_bits(t);
    switch (op) {
    case RED_PROD: return constant(e, t, 1, 1);
    case RED_ALL: return "1";
    case RED_MAX: return constant(e, t, sign ? (int64_t)(UINT64_MAX << (bits - 1)) : 0, -INFINITY);
    case RED_MIN: return constant(e, t, sign ? (int64_t)((UINT64_C(1) << (bits - 1)) - 1) : bits == 64 ? -1 : (int64_t)((UINT64_C(1) << bits) - 1), INFINITY);
    case RED_SUM: return constant(e, t, 0, f && scan ? -0.0 : 0.0);       // -0 + x is x, for -0 too
    case RED_ANY: case RED_MEAN: case RED_ARGMAX: case RED_ARGMIN: break;
    }
    return constant(e, t, 0, 0);
}

const char *c_combine(Emit *e, ReduceOp op, DType t, const char *x, const char *y)
{
    bool f = dtype_is_float(t);
    switch (op) {
    case RED_SUM: return rounded(e, t, f ? arena_printf(e->a, "(%s + %s)", x, y) : arena_printf(e->a, "pto_add_%s(%s, %s)", helper(t), x, y));
    case RED_PROD: return rounded(e, t, f ? arena_printf(e->a, "(%s * %s)", x, y) : arena_printf(e->a, "pto_mul_%s(%s, %s)", helper(t), x, y));
    case RED_MAX: return arena_printf(e->a, "pto_max_%s(%s, %s)", helper(t), x, y);
    case RED_MIN: return arena_printf(e->a, "pto_min_%s(%s, %s)", helper(t), x, y);
    case RED_ANY: return arena_printf(e->a, "(%s || %s)", x, y);
    case RED_ALL: return arena_printf(e->a, "(%s && %s)", x, y);
    case RED_MEAN: case RED_ARGMAX: case RED_ARGMIN: break;
    }
    return x;
}

// ---- places -------------------------------------------------------------------------------------------------------

static const char *fold_subscript(Emit *e, const char *sub, int64_t modulo)
{
    if ((modulo & (modulo - 1)) == 0)
        return arena_printf(e->a, "((%s) & %lld)", sub, (long long)modulo - 1);
    return arena_printf(e->a, "pto_mod(%s, %lld)", sub, (long long)modulo);
}

static const char *minus(Emit *e, const char *sub, const Expr *base)
{
    if (expr_is_int(base, 0))
        return sub;
    return arena_printf(e->a, "%s - %s", sub, index_text(e, base, PREC_PRODUCT));
}

// Is the text a sum or difference outside all brackets?
static bool is_sum(const char *x)
{
    int depth = 0;
    for (; *x; x++) {
        depth += (*x == '(') - (*x == ')');
        if (depth == 0 && (*x == ' ' || *x == '?'))
            return true;
    }
    return false;
}

// sum of stride * subscript over the dimensions that are kept
static const char *offset_text(Emit *e, const Tensor *t, const char *const *subs)
{
    const Storage *st = &e->t->storage[t->id];
    const char *sum = NULL;
    int last = -1;
    for (int d = 0; d < t->rank; d++)
        if (st->kind == STORE_PARAM || st->dim[d].kind != DIM_DROP)
            last = d;
    for (int d = 0; d <= last; d++) {
        const char *x;
        if (st->kind == STORE_PARAM)
            x = minus(e, subs[d], t->lo[d]);
        else if (st->dim[d].kind == DIM_DROP)
            continue;
        else if (st->dim[d].kind == DIM_MODULO)
            x = fold_subscript(e, subs[d], st->dim[d].modulo);
        else
            x = minus(e, subs[d], st->dim[d].base);
        const char *term = d == last ? x : arena_printf(e->a, is_sum(x) ? "(%s)*%s" : "%s*%s", x, name_stride(e, t, d));
        sum = sum ? arena_printf(e->a, "%s + %s", sum, term) : term;
    }
    return sum ? sum : "0";
}

bool c_is_register(const Emit *e, const Tensor *t)
{
    return e->t->storage[t->id].kind == STORE_REGISTER && !e->nest;
}

static const char *place_at(Emit *e, const Tensor *t, const char *const *subs)
{
    if (c_is_register(e, t)) {
        if (e->reg[t->id] == REG_VECTOR && e->vec && e->vec->lane)
            return arena_printf(e->a, "%s%s[l]", e->reg_name[t->id], e->vec->suffix);
        return e->reg_name[t->id];
    }
    if (t->rank == 0 && t->kind == TENSOR_INPUT)
        return name_symbol(e, e->tensor[t->id]);
    if (e->nest)
        return c_operand_place(e, t, subs);
    const char *place = arena_printf(e->a, "%s[%s]", name_symbol(e, e->tensor[t->id]), offset_text(e, t, subs));
    if (!e->counts || !c_is_stored(e, t))
        return place;
    const char *type = arena_printf(e->a, e->stores ? "%s" : "const %s", c_element(t));
    return arena_printf(e->a, "*(%s *)pto_touch(pto_s, %d, &%s, %d)", type, c_position(e, t), place, e->stores);
}

const char *c_place_text(Emit *e, const Tensor *t, const char *const *subs)
{
    return place_at(e, t, subs);
}

const char *c_subscript(Emit *e, const Tensor *t, int d, const Expr *sub)
{
    const Storage *st = &e->t->storage[t->id];
    bool dropped = !e->nest && st->kind != STORE_PARAM && st->dim[d].kind == DIM_DROP && t->border[d].kind == BORDER_NONE && !c_subscript_is_data(sub);
    return dropped ? "0" : c_index(e, sub);
}

const char *c_place(Emit *e, const Tensor *t, Expr *const *subs)
{
    const char *text[MAX_RANK];
    for (int d = 0; d < t->rank; d++)
        text[d] = c_subscript(e, t, d, subs[d]);
    return place_at(e, t, text);
}

// ---- reads --------------------------------------------------------------------------------------------------------

static bool is_affine(const Expr *x)
{
    switch ((int)x->op) {
    case OP_CONST: case OP_INDEX: case OP_DIM: return true;
    case OP_CONVERT: return (x->type == DT_I64 || x->type == DT_INDEX) && is_affine(x->args[0]);
    case OP_NEG: return is_affine(x->args[0]);
    case OP_ADD: case OP_SUB: case OP_MIN: case OP_MAX: return is_affine(x->args[0]) && is_affine(x->args[1]);
    case OP_MUL: return (x->args[0]->op == OP_CONST && is_affine(x->args[1])) || (x->args[1]->op == OP_CONST && is_affine(x->args[0]));
    case OP_DIV: case OP_REM: case OP_FLOORDIV: case OP_MOD:
        return x->args[1]->op == OP_CONST && x->args[1]->i > 0 && is_affine(x->args[0]);
    default: return false;
    }
}

bool c_is_linear(const Expr *x)
{
    switch ((int)x->op) {
    case OP_CONST: case OP_INDEX: case OP_DIM: return true;
    case OP_CONVERT: case OP_NEG: return c_is_linear(x->args[0]);
    case OP_ADD: case OP_SUB: return c_is_linear(x->args[0]) && c_is_linear(x->args[1]);
    case OP_MUL: return x->args[0]->op == OP_CONST ? c_is_linear(x->args[1]) : x->args[1]->op == OP_CONST && c_is_linear(x->args[0]);
    default: return false;
    }
}

bool c_subscript_is_data(const Expr *sub)
{
    return sub->type != DT_INDEX || !is_affine(sub);
}

static bool folds(BorderKind k)
{
    return k == BORDER_CLAMP || k == BORDER_WRAP || k == BORDER_REFLECT;
}

static const char *border_name(BorderKind k, bool u64)
{
    return k == BORDER_CLAMP ? "pto_clamp" : k == BORDER_WRAP ? u64 ? "pto_wrap_u64" : "pto_wrap" : u64 ? "pto_reflect_u64" : "pto_reflect";
}

static const char *inside(Emit *e, const Expr *x, int d, const char *at, const char *extent)
{
    const char *text = arena_printf(e->a, "%s, dimension %d", x->tensor->name, d);
    return arena_printf(e->a, "pto_inside(%s, \"%s\", %s, %s, %s)", c_fault_place(e, x), c_string(e->a, text), at, extent, c_fault_element(e));
}

// A read with its borders and run-time checks, as a value.
static const char *read_value(Emit *e, const Expr *x)
{
    const Tensor *t = x->tensor;
    const char *sub[MAX_RANK] = { 0 }, *before = "", *test = "";
    for (int d = 0; d < t->rank; d++) {
        sub[d] = c_subscript(e, t, d, x->args[d]);
        bool data = c_subscript_is_data(x->args[d]), bordered = t->border[d].kind != BORDER_NONE && (x->outside >> d & 1), u64 = false;
        if (!data && !bordered)
            continue;
        const char *lo = c_index(e, t->lo[d]), *hi = c_index(e, t->hi[d]);
        if (data || t->border[d].kind == BORDER_ZERO || t->border[d].kind == BORDER_CONST) {
            const char *q = arena_printf(e->a, "q%d", e->temps++);
            u64 = bordered && x->args[d]->type == DT_U64 && (t->border[d].kind == BORDER_WRAP || t->border[d].kind == BORDER_REFLECT);
            before = arena_printf(e->a, "%s%s %s = %s; ", before, u64 ? "uint64_t" : "int64_t", q, u64 ? c_value(e, x->args[d]) : sub[d]);
            sub[d] = q;
        }
        if (bordered && (x->outside & EXPR_EMPTY_BORDER << d))
            test = arena_printf(e->a, "%s%s >= %s && !%s ? %s : ", test, lo, hi, inside(e, x, d, sub[d], "0"), constant(e, t->type, 0, 0));
        if (bordered)
            exact_border(e, t, d, x->args[d]);
        if (bordered && folds(t->border[d].kind)) {
            sub[d] = arena_printf(e->a, "%s(%s, %s, %s)", border_name(t->border[d].kind, u64), sub[d], lo, hi);
        } else if (bordered) {
            const char *c = t->border[d].kind == BORDER_CONST ? c_value(e, t->border[d].value) : constant(e, t->type, 0, 0);
            test = arena_printf(e->a, "%s%s < %s || %s >= %s ? %s : ", test, sub[d], lo, sub[d], hi, c);
        } else {
            const char *at = expr_is_int(t->lo[d], 0) ? sub[d] : arena_printf(e->a, "pto_sub_i64(%s, %s)", sub[d], lo);
            const char *extent = expr_is_int(t->lo[d], 0) ? hi : arena_printf(e->a, "%s - (%s)", hi, lo);
            test = arena_printf(e->a, "%s!%s ? %s : ", test, inside(e, x, d, at, extent), constant(e, t->type, 0, 0));
        }
    }
    const char *value = place_at(e, t, sub);
    if (!c_is_register(e, t) && !(t->rank == 0 && t->kind == TENSOR_INPUT))
        value = c_load(e, t, value);
    if (*before)
        return arena_printf(e->a, "__extension__({ %s%s%s; })", before, test, value);
    return *test ? arena_printf(e->a, "(%s%s)", test, value) : value;
}

// ---- operations -----------------------------------------------------------------------------------------------------

static const char *infix(Emit *e, const Expr *x, const char *op)
{
    return arena_printf(e->a, "(%s %s %s)", c_value(e, x->args[0]), op, c_value(e, x->args[1]));
}

// Functions that are not the same for every instruction set: those of ptort/isa.h.
static bool is_of_isa(Op op)
{
    return op == OP_EXP || op == OP_LOG || op == OP_TANH || op == OP_SIGMOID;
}

static const char *call(Emit *e, const Expr *x, const char *f, DType type)
{
    const char *text = arena_printf(e->a, "pto_%s_%s%s(", f, helper(type), is_of_isa(x->op) ? e->suffix : "");
    for (int i = 0; i < x->n; i++)
        text = arena_printf(e->a, "%s%s%s", text, i ? ", " : "", c_value(e, x->args[i]));
    return arena_printf(e->a, "%s)", text);
}

static const char *divide(Emit *e, const Expr *x, const char *f)
{
    const Expr *by = x->args[1];
    bool safe = by->op == OP_CONST && by->i > 0;
    if (safe && (x->op == OP_DIV || x->op == OP_REM))
        return infix(e, x, x->op == OP_DIV ? "/" : "%");
    const char *a = c_value(e, x->args[0]), *b = c_value(e, by);
    return arena_printf(e->a, "pto_%s_%s(%s, %s, %s, %s)", f, helper(x->type), c_fault_place(e, x), a, b, c_fault_element(e));
}

static const char *arithmetic(Emit *e, const Expr *x)
{
    bool f = dtype_is_float(x->type), index = x->type == DT_INDEX;
    switch ((int)x->op) {
    case OP_ADD: return f || index ? infix(e, x, "+") : call(e, x, "add", x->type);
    case OP_SUB: return f || index ? infix(e, x, "-") : call(e, x, "sub", x->type);
    case OP_MUL: return f || index ? infix(e, x, "*") : call(e, x, "mul", x->type);
    case OP_DIV: return f ? infix(e, x, "/") : divide(e, x, "div");
    case OP_REM: return f ? call(e, x, "fmod", x->type) : divide(e, x, "rem");
    case OP_FLOORDIV: return f ? call(e, x, "floordiv", x->type) : divide(e, x, "floordiv");
    case OP_MOD: return f ? call(e, x, "mod", x->type) : divide(e, x, "mod");
    case OP_NEG: return f || index ? arena_printf(e->a, "(-%s)", c_value(e, x->args[0])) : call(e, x, "neg", x->type);
    case OP_ABS: return f ? call(e, x, "fabs", x->type) : dtype_family(x->type) == 'U' ? c_value(e, x->args[0]) : call(e, x, "abs", x->type);
    case OP_MIN: case OP_MAX: case OP_SIGN: return call(e, x, op_name(x->op), x->type);
    case OP_FMA:
        if (f)
            return call(e, x, is_half(x->type) ? arena_printf(e->a, "fma_%s", dtype_name(x->type)) : "fma", x->type);
        return arena_printf(e->a, "pto_add_%s(pto_mul_%s(%s, %s), %s)", helper(x->type), helper(x->type), c_value(e, x->args[0]), c_value(e, x->args[1]), c_value(e, x->args[2]));
    default: return call(e, x, op_name(x->op), x->type);
    }
}

// On entry, exactly: of numbers that may need more than 64 bits.
static const char *wide_comparison(Emit *e, const Expr *x)
{
    const char *op = x->op == OP_EQ ? "==" : x->op == OP_NE ? "!=" : x->op == OP_LT ? "<" : x->op == OP_LE ? "<=" : x->op == OP_GT ? ">" : ">=";
    return arena_printf(e->a, "(%s %s %s)", exact_wide(e, x->args[0]), op, exact_wide(e, x->args[1]));
}

static const char *comparison(Emit *e, const Expr *x)
{
    if (expr_is_mixed(x))
        return c_mixed(e, x);
    if (e->wide && x->args[0]->type == DT_INDEX && !(exact_fits(e, x->args[0]) && exact_fits(e, x->args[1])))
        return wide_comparison(e, x);
    switch ((int)x->op) {
    case OP_EQ: return infix(e, x, "==");
    case OP_NE: return infix(e, x, "!=");
    case OP_LT: return infix(e, x, "<");
    case OP_LE: return infix(e, x, "<=");
    case OP_GT: return infix(e, x, ">");
    case OP_GE: return infix(e, x, ">=");
    case OP_ISNAN: return arena_printf(e->a, "(__builtin_isnan(%s) != 0)", c_value(e, x->args[0]));
    default: return arena_printf(e->a, "(__builtin_isinf(%s) != 0)", c_value(e, x->args[0]));
    }
}

static const char *bits(Emit *e, const Expr *x)
{
    const char *c = dtype_ctype(x->type);
    if (x->type == DT_BOOL && x->op == OP_BITNOT)
        return arena_printf(e->a, "!%s", c_value(e, x->args[0]));
    switch ((int)x->op) {
    case OP_BITAND: return arena_printf(e->a, "(%s)%s", c, infix(e, x, "&"));
    case OP_BITOR: return arena_printf(e->a, "(%s)%s", c, infix(e, x, "|"));
    case OP_BITXOR: return arena_printf(e->a, "(%s)%s", c, infix(e, x, "^"));
    case OP_BITNOT: return arena_printf(e->a, "(%s)~%s", c, c_value(e, x->args[0]));
    default: return call(e, x, op_name(x->op), x->type);
    }
}

static const char *math(Emit *e, const Expr *x)
{
    return call(e, x, x->op == OP_ROUND ? "rint" : op_name(x->op), x->type);
}

// An operand of the same operation behind it needs no brackets: a ? b : c ? d : e, a && b && c.
static const char *chained(Emit *e, const Expr *x, int i)
{
    const char *text = c_value(e, x->args[i]);
    size_t n = strlen(text);
    int depth = 0;
    if (x->args[i]->op != x->op || *text != '(')
        return text;
    for (size_t at = 0; at < n; at++) {
        depth += (text[at] == '(') - (text[at] == ')');
        if (depth == 0)
            return at == n - 1 ? arena_strndup(e->a, text + 1, n - 2) : text;
    }
    return text;
}

// The condition is a whole of its own; what stands behind it counts where it holds.
static const char *choice(Emit *e, const Expr *x)
{
    bool inside = e->inside;
    e->inside = false;
    const char *text = c_value(e, x->args[0]);
    e->inside = inside;
    for (int i = 1; i < 3; i++) {
        exact_assume(e, x->args[0], i == 1);
        text = arena_printf(e->a, "%s %c %s", text, i == 1 ? '?' : ':', chained(e, x, i));
        exact_drop(e);
    }
    return arena_printf(e->a, "(%s)", text);
}

static const char *logic(Emit *e, const Expr *x)
{
    const char *first = c_value(e, x->args[0]);
    exact_assume(e, x->args[0], x->op == OP_AND);
    const char *second = chained(e, x, 1);
    exact_drop(e);
    return arena_printf(e->a, "(%s %s %s)", first, x->op == OP_AND ? "&&" : "||", second);
}

static const char *quiet(Emit *e, const Expr *x)
{
    e->quiet++;
    const char *text = c_value(e, x->args[0]);
    e->quiet--;
    return text;
}

static const char *checked(Emit *e, const Expr *x)
{
    const char *value = c_value(e, x->args[1]);
    return e->quiet ? value : arena_printf(e->a, "(%s, %s)", c_fault_check(e, x, c_value(e, x->args[0])), value);
}

static const char *value(Emit *e, const Expr *x)
{
    switch ((int)x->op) {
    case OP_CONST: return constant(e, x->type, dtype_is_float(x->type) ? 0 : x->i, dtype_is_float(x->type) ? x->f : 0);
    case OP_INDEX: return index_variable(e, x->index, PREC_ATOM);
    case OP_DIM: return name_dim(e, x->dim);
    case OP_READ: return read_value(e, x);
    case OP_CONVERT: return c_convert(e, x->args[0]->type, x->type, c_value(e, x->args[0]));
    case OP_SELECT: return choice(e, x);
    case OP_QUIET: return quiet(e, x);
    case OP_CHECK: return checked(e, x);
    case OP_AND: case OP_OR: return logic(e, x);
    case OP_NOT: return arena_printf(e->a, "!%s", c_value(e, x->args[0]));
    default: break;
    }
    switch (op_class(x->op)) {
    case OPC_ARITH: return rounded(e, x->type, arithmetic(e, x));
    case OPC_COMPARE: return comparison(e, x);
    case OPC_MATH: return rounded(e, x->type, math(e, x));
    case OPC_BITS: return bits(e, x);
    case OPC_LEAF: case OPC_LOGIC: case OPC_NEST: case OPC_FAULT: case OPC_OTHER: break;
    }
    return "0";
}

static const char *written(Emit *e, const Expr *x)
{
    bool arithmetic = op_class(x->op) == OPC_ARITH || op_class(x->op) == OPC_BITS;
    if (x->type != DT_INDEX || !arithmetic || e->inside)
        return value(e, x);
    if (e->wide && op_class(x->op) == OPC_ARITH && !exact_fits(e, x))
        return arena_printf(e->a, "pto_wide_i64(&pto_e, %s)", exact_wide(e, x));
    exact_need(e, x);
    e->inside = true;
    const char *text = value(e, x);
    e->inside = false;
    return text;
}

static const char *type_of(Emit *e, const Expr *x)
{
    (void)e;
    return c_value_type(x->type);
}

const char *c_value(Emit *e, const Expr *x)
{
    return c_in_steps(e, x, written, type_of, false);
}

const char *c_bare(Emit *e, const char *text)
{
    size_t n = strlen(text);
    int depth = 0;
    if (n < 2 || text[0] != '(' || strchr(text, '"') || strchr(text, '\''))
        return text;
    for (size_t i = 0; i < n; i++) {
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (depth == 0)
            return i + 1 == n ? arena_printf(e->a, "%.*s", (int)(n - 2), text + 1) : text;
    }
    return text;
}

const char *c_condition(Emit *e, const Expr *x) { return c_bare(e, c_value(e, x)); }
