// vector: expressions of vector loops (see vector.h).
//
// A value is a vector of lanes; what does not change from lane to lane stays scalar and is broadcast where it meets a vector.
// Booleans are masks as wide as the widest type of the loop. What has no vector form (a gather, an integer division, an
// `if` that guards a read) is computed lane by lane by scalar code.
#include "emit/vector.h"

#include <string.h>

// ---- types --------------------------------------------------------------------------------------------------------

static DType carried(DType t) { return t == DT_F16 || t == DT_BF16 ? DT_F32 : t; }

const char *v_mask(const Emit *e)
{
    return e->vec->width == 8 ? "i64" : e->vec->width == 4 ? "i32" : e->vec->width == 2 ? "i16" : "i8";
}

const char *v_signed(int bytes)
{
    return bytes == 8 ? "i64" : bytes == 4 ? "i32" : bytes == 2 ? "i16" : "i8";
}

// "f32": the element name of a vector of values of `t`.
const char *v_lane(const Emit *e, DType t)
{
    return t == DT_BOOL ? v_mask(e) : t == DT_INDEX ? "i64" : dtype_name(carried(t));
}

const char *v_type(Emit *e, const char *lane)
{
    return arena_printf(e->a, "pto_%sx%d%s", lane, e->vec->lanes, e->suffix);
}

const char *v_fn(Emit *e, const char *what, const char *lane)
{
    return arena_printf(e->a, "pto_%s_%sx%d%s", what, lane, e->vec->lanes, e->suffix);
}

// ---- what varies ----------------------------------------------------------------------------------------------------

typedef struct { Emit *e; bool found; } Varies;

static bool see_variation(Expr *x, void *data)
{
    Varies *v = data;
    if (x->op == OP_INDEX && x->index == v->e->vec->index)
        v->found = true;
    if (x->op == OP_READ && v->e->t->storage[x->tensor->id].kind == STORE_REGISTER && v->e->reg[x->tensor->id] == REG_VECTOR)
        v->found = true;
    return !v->found;
}

bool v_varies(Emit *e, const Expr *x)
{
    Varies v = { e, false };
    expr_walk((Expr *)x, see_variation, &v);
    return v.found;
}

// What can fault must not be evaluated where it is not needed.
static bool see_hazard(Expr *x, void *data)
{
    bool *safe = data;
    if (x->op == OP_QUIET)
        return false;
    if (x->op == OP_CHECK)
        *safe = false;
    if (x->op == OP_READ)
        for (int d = 0; d < x->n; d++)
            if (c_subscript_is_data(x->args[d]) || x->outside >= EXPR_EMPTY_BORDER)
                *safe = false;
    bool divides = x->op == OP_DIV || x->op == OP_REM || x->op == OP_FLOORDIV || x->op == OP_MOD;
    if (divides && dtype_is_int(x->type) && (x->args[1]->op != OP_CONST || x->args[1]->i == 0))
        *safe = false;
    return *safe;
}

static bool is_total(const Expr *x)
{
    bool safe = true;
    expr_walk((Expr *)x, see_hazard, &safe);
    return safe;
}

static bool see_memory(Expr *x, void *data)
{
    Varies *v = data;
    if (x->op == OP_READ && v->e->t->storage[x->tensor->id].kind != STORE_REGISTER && x->n > 0)
        v->found = true;
    return !v->found;
}

static bool reads_memory(Emit *e, const Expr *x)
{
    Varies v = { e, false };
    expr_walk((Expr *)x, see_memory, &v);
    return v.found;
}

static bool see_data(Expr *x, void *data)
{
    bool *none = data;
    *none = *none && x->op != OP_READ && !dtype_is_float(x->type);
    return *none;
}

// A comparison of places, as indices or in an integer type; not one of data.
static bool compares_index(const Expr *c)
{
    if (op_class(c->op) == OPC_COMPARE) {
        bool places = c->n == 2;
        expr_walk((Expr *)c, see_data, &places);
        return places;
    }
    for (int i = 0; i < c->n; i++)
        if (compares_index(c->args[i]))
            return true;
    return false;
}

bool v_guards(Emit *e, const Expr *condition, const Expr *x)
{
    return !is_total(x) || (compares_index(condition) && reads_memory(e, x));
}

// ---- lane by lane -----------------------------------------------------------------------------------------------------

// An array, then a vector of it: C compilers make vectors of the loop again where they can. Into the lanes of a vector gcc 12
// goes one by one (100 times slower at -O3), and crashes for some conversions.
static const char *lanewise(Emit *e, const Expr *x)
{
    bool mask = x->type == DT_BOOL;
    Vec lane = *e->vec;
    lane.lane = true;
    Vec *outer = e->vec;
    const char *r = arena_printf(e->a, "r%d", e->temps++);
    int n = e->vec->lanes;
    e->vec = &lane;
    const char *value = c_value(e, x);
    e->vec = outer;
    const char *type = mask ? arena_printf(e->a, "int%d_t", 8 * e->vec->width) : c_value_type(x->type);
    return arena_printf(e->a, "__extension__({ %s %s[%d]; for (int l = 0; l < %d; l++) %s[l] = %s%s%s; %s(%s); })", type, r, n, n, r, mask ? "-(" : "", value,
                        mask ? " != 0)" : "", v_fn(e, "load", v_lane(e, x->type)), r);
}

// ---- expressions ------------------------------------------------------------------------------------------------------


static const char *broadcast(Emit *e, const Expr *x)
{
    const char *value = c_value(e, x);
    if (x->type == DT_BOOL)
        return arena_printf(e->a, "%s(-(%s != 0))", v_fn(e, "splat", v_mask(e)), value);
    return arena_printf(e->a, "%s(%s)", v_fn(e, "splat", v_lane(e, x->type)), value);
}

const char *v_converted(Emit *e, const char *v, const char *lane)
{
    return arena_printf(e->a, "__builtin_convertvector(%s, %s)", v, v_type(e, lane));
}

// A mask of another width as this loop's mask, or back.
const char *v_mask_to(Emit *e, const char *m, int bytes)
{
    return bytes == e->vec->width ? m : v_converted(e, m, v_signed(bytes));
}

static const char *mask_from(Emit *e, const char *m, int bytes)
{
    return bytes == e->vec->width ? m : v_converted(e, m, v_mask(e));
}

int v_lane_bytes(const Emit *e, DType t)
{
    return t == DT_BOOL ? e->vec->width : dtype_bytes(carried(t));
}

const char *v_rounded(Emit *e, DType t, const char *v)
{
    return t == DT_F16 || t == DT_BF16 ? arena_printf(e->a, "%s(%s)", v_fn(e, arena_printf(e->a, "round_%s", dtype_name(t)), "f32"), v) : v;
}

// By how much a linear index expression grows from one lane to the next.
static Expr *step_of(Emit *e, const Expr *x)
{
    Expr *at[2], *lane[2] = { expr_int(e->a, DT_INDEX, 0, x->range), expr_int(e->a, DT_INDEX, 1, x->range) };
    for (int k = 0; k < 2; k++)
        at[k] = expr_substitute(e->a, (Expr *)x, 1, &e->vec->index, &lane[k]);
    return expr_simplify(e->a, expr_binary(e->a, OP_SUB, DT_INDEX, at[1], at[0]));
}

// How a subscripted place moves with the lanes: as in passes/vectorize.c.
int v_stride(Emit *e, const Tensor *t, Expr *const *subs)
{
    const Storage *st = &e->t->storage[t->id];
    int last = -1, r = 0;
    for (int d = 0; d < t->rank; d++)
        if (st->kind == STORE_PARAM || st->dim[d].kind != DIM_DROP)
            last = d;
    for (int d = 0; d <= last; d++) {
        if (st->kind != STORE_PARAM && st->dim[d].kind == DIM_DROP)
            continue;
        if (!expr_uses(subs[d], e->vec->index))
            continue;
        Expr *slope = step_of(e, subs[d]);
        bool linear = !c_subscript_is_data(subs[d]) && c_is_linear(subs[d]);
        bool window = st->kind != STORE_PARAM && st->dim[d].kind == DIM_MODULO;
        r = linear && expr_is_int(slope, 1) && d == last && d == t->rank - 1 && r == 0 && !window ? 1 : 2;
    }
    return r;
}

const char *v_load(Emit *e, const Tensor *t, const char *place)
{
    if (t->type == DT_F16 || t->type == DT_BF16)
        return arena_printf(e->a, "%s(&%s)", v_fn(e, arena_printf(e->a, "load_%s", dtype_name(t->type)), "f32"), place);
    if (t->type == DT_BOOL) {
        const char *bytes = arena_printf(e->a, "(%s)(%s(&%s) != 0)", v_type(e, "i8"), v_fn(e, "load", "u8"), place);
        return mask_from(e, bytes, 1);
    }
    return arena_printf(e->a, "%s(&%s)", v_fn(e, "load", dtype_name(t->type)), place);
}

static const char *v_read(Emit *e, const Expr *x)
{
    const Tensor *t = x->tensor;
    if (e->t->storage[t->id].kind == STORE_REGISTER)      // (x[-j]: of an element a lane has, or of none)
        return x->outside ? lanewise(e, x) : arena_printf(e->a, "%s%s", e->reg_name[t->id], e->vec->suffix);
    for (int d = 0; d < x->n; d++)
        if (c_subscript_is_data(x->args[d]))
            return lanewise(e, x);
    if (v_stride(e, t, x->args) != 1 || x->outside >= EXPR_EMPTY_BORDER)
        return lanewise(e, x);
    // Borders across the lanes: the loop stays inside. Borders of other dimensions are the same for all lanes.
    const char *subs[MAX_RANK], *test = "";
    for (int d = 0; d < t->rank; d++) {
        subs[d] = c_subscript(e, t, d, x->args[d]);
        if (!(x->outside >> d & 1) || expr_uses(x->args[d], e->vec->index))
            continue;
        const char *lo = c_index(e, t->lo[d]), *hi = c_index(e, t->hi[d]);
        BorderKind k = t->border[d].kind;
        exact_border(e, t, d, x->args[d]);
        if (k == BORDER_ZERO || k == BORDER_CONST) {
            Expr zero = { .op = OP_CONST, .type = t->type };
            test = arena_printf(e->a, "%s(%s) < %s || (%s) >= %s ? %s : ", test, subs[d], lo, subs[d], hi, broadcast(e, k == BORDER_CONST ? t->border[d].value : &zero));
        } else {
            subs[d] = arena_printf(e->a, "%s(%s, %s, %s)", k == BORDER_CLAMP ? "pto_clamp" : k == BORDER_WRAP ? "pto_wrap" : "pto_reflect", subs[d], lo, hi);
        }
    }
    const char *v = v_load(e, t, c_place_text(e, t, subs));
    return *test ? arena_printf(e->a, "(%s%s)", test, v) : v;
}

// An index expression whose values lie evenly along the lanes, in an integer type; NULL: they need not.
static const char *ramp(Emit *e, const Expr *x, DType type)
{
    if (!c_is_linear((Expr *)x))
        return NULL;
    Expr *step = step_of(e, x);
    if (step->op != OP_CONST)
        return NULL;
    const char *t = v_lane(e, type), *c = dtype_ctype(type);
    return arena_printf(e->a, "%s((%s)%s, (%s)%s)", v_fn(e, "ramp", t), c, c_index(e, x), c, c_index(e, step));
}

static const char *convert(Emit *e, const Expr *x)
{
    const Expr *a = x->args[0];
    DType from = a->type, to = x->type;
    if (carried(from) == carried(to) && carried(from) == from && carried(to) == to)
        return v_expr(e, a);
    if (from == DT_INDEX && dtype_is_int(to)) {
        const char *positions = ramp(e, a, to);
        if (positions)
            return positions;
    }
    if (to == DT_BOOL) {
        const char *ne = arena_printf(e->a, "(%s)(%s != 0)", v_type(e, v_signed(v_lane_bytes(e, from))), v_expr(e, a));
        return mask_from(e, ne, v_lane_bytes(e, from));
    }
    if (from == DT_BOOL) {
        const char *ones = arena_printf(e->a, "(-%s)", v_mask_to(e, v_expr(e, a), v_lane_bytes(e, to)));
        return v_rounded(e, to, v_converted(e, ones, v_lane(e, to)));
    }
    if (dtype_is_float(from) && !dtype_is_float(to))
        return dtype_bytes(to) == 8 || to == DT_U32 ? lanewise(e, x)
                                                    : arena_printf(e->a, "%s(%s)", v_fn(e, arena_printf(e->a, "to_%s", dtype_name(to)), dtype_name(carried(from))), v_expr(e, a));
    if ((to == DT_F16 || to == DT_BF16) && carried(from) != DT_F32)
        return lanewise(e, x);                                        // one rounding, not two
    const char *v = v_expr(e, a);
    if (carried(from) != carried(to))
        v = v_converted(e, v, v_lane(e, to));
    return carried(to) == to ? v : v_rounded(e, to, v);
}

static const char *infix(Emit *e, const Expr *x, const char *op)
{
    return arena_printf(e->a, "(%s %s %s)", v_expr(e, x->args[0]), op, v_expr(e, x->args[1]));
}

static const char *call(Emit *e, const char *f, const Expr *x)
{
    const char *text = arena_printf(e->a, "%s(", v_fn(e, f, v_lane(e, x->type)));
    for (int i = 0; i < x->n; i++)
        text = arena_printf(e->a, "%s%s%s", text, i ? ", " : "", v_expr(e, x->args[i]));
    return arena_printf(e->a, "%s)", text);
}

// Integers by a constant: C compilers make a product of it where they see one. (64 bits have no such product.)
static bool divides_simply(const Expr *x)
{
    return x->args[1]->op == OP_CONST && x->args[1]->i != 0 && x->args[1]->i != -1 && dtype_bytes(x->type) < 8;
}

// Of bytes there is none either: those at even places, and those at odd ones, in 16 bits.
static const char *quotient(Emit *e, const Expr *x, const char *dividend)
{
    const char *divisor = c_value(e, x->args[1]), *lane = dtype_name(x->type);
    if (dtype_bytes(x->type) > 1)
        return arena_printf(e->a, "(%s / (%s)%s)", dividend, dtype_ctype(x->type), divisor);
    const char *r = arena_printf(e->a, "r%d", e->temps++), *u = v_type(e, "pairs_u16"), *s = v_type(e, "pairs_i16");
    if (dtype_family(x->type) == 'U')
        return arena_printf(e->a, "__extension__({ const %s %s = (%s)%s; (%s)(((%s & 255) / (uint16_t)%s) | (((%s >> 8) / (uint16_t)%s) << 8)); })", u, r, u, dividend,
                            v_type(e, lane), r, divisor, r, divisor);
    return arena_printf(e->a, "__extension__({ const %s %s = (%s)%s; (%s)(((%s)(((%s)(%s << 8) >> 8) / (int16_t)%s) & 255) | ((%s)(((%s)%s >> 8) / (int16_t)%s) << 8)); })",
                        u, r, u, dividend, v_type(e, lane), u, s, r, divisor, u, s, r, divisor);
}

static const char *divide(Emit *e, const Expr *x) { return quotient(e, x, v_expr(e, x->args[0])); }

static const char *remainder_of(Emit *e, const Expr *x)
{
    const char *lane = dtype_name(x->type), *r = arena_printf(e->a, "r%d", e->temps++);
    return arena_printf(e->a, "__extension__({ const %s %s = %s; %s(%s, %s(%s, %s)); })", v_type(e, lane), r, v_expr(e, x->args[0]), v_fn(e, "sub", lane), r,
                        v_fn(e, "mul", lane), quotient(e, x, r), broadcast(e, x->args[1]));
}

static bool is_unsigned(const Expr *x) { return dtype_family(x->type) == 'U'; }

static const char *arithmetic(Emit *e, const Expr *x)
{
    bool f = dtype_is_float(x->type);
    switch ((int)x->op) {
    case OP_ADD: return f ? infix(e, x, "+") : call(e, "add", x);
    case OP_SUB: return f ? infix(e, x, "-") : call(e, "sub", x);
    case OP_MUL: return f ? infix(e, x, "*") : call(e, "mul", x);
    case OP_DIV: return f ? infix(e, x, "/") : divides_simply(x) ? divide(e, x) : lanewise(e, x);
    case OP_NEG: return f ? arena_printf(e->a, "(-%s)", v_expr(e, x->args[0])) : call(e, "neg", x);
    case OP_MIN: return call(e, "min", x);
    case OP_MAX: return call(e, "max", x);
    case OP_ABS: return f ? call(e, "fabs", x) : dtype_family(x->type) == 'I' ? call(e, "abs", x) : v_expr(e, x->args[0]);
    case OP_SIGN: return f ? call(e, "sign", x) : lanewise(e, x);
    case OP_REM: return f ? call(e, "fmod", x) : divides_simply(x) ? remainder_of(e, x) : lanewise(e, x);
    case OP_FLOORDIV: return f ? call(e, "floordiv", x) : divides_simply(x) && is_unsigned(x) ? divide(e, x) : lanewise(e, x);
    case OP_MOD: return f ? call(e, "mod", x) : divides_simply(x) && is_unsigned(x) ? remainder_of(e, x) : lanewise(e, x);
    case OP_FMA: return f && carried(x->type) == x->type && e->o->machine->fma ? call(e, "madd", x) : lanewise(e, x);
    default: return lanewise(e, x);
    }
}

static const char *compare(Emit *e, const Expr *x)
{
    const char *op = x->op == OP_EQ ? "==" : x->op == OP_NE ? "!=" : x->op == OP_LT ? "<" : x->op == OP_LE ? "<=" : x->op == OP_GT ? ">" : x->op == OP_GE ? ">=" : NULL;
    if (!op || x->args[0]->type == DT_BOOL)
        return lanewise(e, x);
    if (expr_is_mixed(x)) {
        int bytes;
        const char *m = v_mixed(e, x, &bytes);
        return m ? mask_from(e, m, bytes) : lanewise(e, x);
    }
    int bytes = v_lane_bytes(e, x->args[0]->type);
    return mask_from(e, arena_printf(e->a, "(%s)%s", v_type(e, v_signed(bytes)), infix(e, x, op)), bytes);
}

static const char *branch(Emit *e, const Expr *x, int i)
{
    exact_assume(e, x->args[0], i == 1);
    const char *text = v_expr(e, x->args[i]);
    exact_drop(e);
    return text;
}

static const char *v_select(Emit *e, const Expr *x)
{
    if (!v_varies(e, x->args[0]))
        return arena_printf(e->a, "(%s ? %s : %s)", c_value(e, x->args[0]), branch(e, x, 1), branch(e, x, 2));
    if (v_guards(e, x->args[0], x->args[1]) || v_guards(e, x->args[0], x->args[2]))
        return lanewise(e, x);
    const char *m = v_mask_to(e, v_expr(e, x->args[0]), v_lane_bytes(e, x->type));
    return arena_printf(e->a, "%s(%s, %s, %s)", v_fn(e, "select", v_lane(e, x->type)), m, branch(e, x, 1), branch(e, x, 2));
}

static const char *logic(Emit *e, const Expr *x)
{
    if (x->op == OP_NOT)
        return arena_printf(e->a, "(~%s)", v_expr(e, x->args[0]));
    if (v_guards(e, x->args[0], x->args[1]))
        return lanewise(e, x);
    return infix(e, x, x->op == OP_AND ? "&" : "|");
}

static const char *bits(Emit *e, const Expr *x)
{
    switch ((int)x->op) {
    case OP_BITAND: return infix(e, x, "&");
    case OP_BITOR: return infix(e, x, "|");
    case OP_BITXOR: return infix(e, x, "^");
    case OP_BITNOT: return x->type == DT_BOOL ? arena_printf(e->a, "(~%s)", v_expr(e, x->args[0])) : arena_printf(e->a, "(~%s)", v_expr(e, x->args[0]));
    default: return lanewise(e, x);
    }
}

// An index as a value: only even positions along the lanes are simple.
static const char *position(Emit *e, const Expr *x)
{
    const char *positions = ramp(e, x, DT_INDEX);
    return positions ? positions : lanewise(e, x);
}

static const char *quiet(Emit *e, const Expr *x)
{
    e->quiet++;
    const char *text = v_expr(e, x->args[0]);
    e->quiet--;
    return text;
}

static const char *checked(Emit *e, const Expr *x)
{
    const Expr *code = x->args[0];
    if (e->quiet)
        return v_expr(e, x->args[1]);
    if (!v_varies(e, code))
        return arena_printf(e->a, "__extension__({ %s; %s; })", c_fault_check(e, x, c_value(e, code)), v_expr(e, x->args[1]));
    const char *r = arena_printf(e->a, "r%d", e->temps++), *codes = v_expr(e, code);
    Vec lane = *e->vec, *outer = e->vec;
    lane.lane = true;
    e->vec = &lane;
    const char *check = c_fault_check(e, x, arena_printf(e->a, "%s[l]", r));
    e->vec = outer;
    return arena_printf(e->a, "__extension__({ const %s %s = %s; for (int l = 0; l < %d; l++) %s; %s; })", v_type(e, v_lane(e, code->type)), r, codes,
                        e->vec->lanes, check, v_expr(e, x->args[1]));
}

static const char *written(Emit *e, const Expr *x)
{
    if (x->type == DT_INDEX)
        return position(e, x);
    switch ((int)x->op) {
    case OP_READ: return v_read(e, x);
    case OP_CONVERT: return convert(e, x);
    case OP_QUIET: return quiet(e, x);
    case OP_CHECK: return checked(e, x);
    case OP_SELECT: return v_select(e, x);
    case OP_ROUND: return v_rounded(e, x->type, call(e, "rint", x));
    default: break;
    }
    switch (op_class(x->op)) {
    case OPC_ARITH: return v_rounded(e, x->type, arithmetic(e, x));
    case OPC_MATH: return v_rounded(e, x->type, call(e, op_name(x->op), x));
    case OPC_COMPARE: return compare(e, x);
    case OPC_LOGIC: return logic(e, x);
    case OPC_BITS: return bits(e, x);
    case OPC_LEAF: case OPC_NEST: case OPC_FAULT: case OPC_OTHER: break;
    }
    return lanewise(e, x);
}

// (A step is a vector, too, where its operands are the same in all lanes.)
static const char *written_step(Emit *e, const Expr *x)
{
    return v_varies(e, x) ? written(e, x) : broadcast(e, x);
}

static const char *vector_type_of(Emit *e, const Expr *x)
{
    return v_type(e, v_lane(e, x->type));
}

const char *v_expr(Emit *e, const Expr *x)
{
    return c_in_steps(e, x, written_step, vector_type_of, true);
}
