// compare: a number compared with an index, by their values.
//
// C compares an int64_t exactly with any narrower integer. For u64 and floats a function of ptort/kernel.h turns the index
// into a number of the data's type that compares with all of that type as the index does: x < i is x < up(i), where up(i) is
// the least float that is not below i. So vectors keep the width of the data where the index is the same in all lanes; so do
// bytes and i16, whose vectors are widened by one step, which holds every number and one beyond each end.
// Test: tests/golden/faults/indices.pto
#include "emit/vector.h"

#include <string.h>

typedef struct {
    const Expr *number, *index;
    Op op;                            // number op index
    ValueRange range;                 // of the index
} Mixed;

static Op turned(Op op)
{
    return op == OP_LT ? OP_GT : op == OP_GT ? OP_LT : op == OP_LE ? OP_GE : op == OP_GE ? OP_LE : op;
}

static Mixed mixed_of(const Emit *e, const Expr *x)
{
    int index = x->args[1]->type == DT_INDEX;
    bool fits;
    return (Mixed){ .number = x->args[1 - index], .index = x->args[index], .op = index ? x->op : turned(x->op), .range = value_range(&e->ranges, x->args[index], &fits) };
}

static const char *sign_of(Op op)
{
    return op == OP_EQ ? "==" : op == OP_NE ? "!=" : op == OP_LT ? "<" : op == OP_LE ? "<=" : op == OP_GT ? ">" : ">=";
}

static DType carried(DType t)
{
    return t == DT_F16 || t == DT_BF16 ? DT_F32 : t;
}

// Does the type hold every value that the index can have?
static bool holds(DType t, ValueRange range)
{
    int bits = dtype_bits(carried(t));
    if (dtype_is_float(t)) {
        int64_t most = INT64_C(1) << bits;
        return range.lo >= -most && range.hi <= most;
    }
    bool is_signed = dtype_family(t) == 'I';
    int64_t hi = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - is_signed)) - 1;
    return range.lo >= (is_signed ? -hi - 1 : 0) && range.hi <= hi;
}

// The index as a number of the (carried) type that compares in the same way.
static const char *as_number(Emit *e, const Mixed *m)
{
    DType t = carried(m->number->type);
    const char *index = c_value(e, m->index);
    if (!dtype_is_float(t) || holds(t, m->range))
        return arena_printf(e->a, "(%s)%s", dtype_ctype(t), index);
    const char *side = m->op == OP_LT || m->op == OP_GE ? "up" : m->op == OP_LE || m->op == OP_GT ? "down" : "same";
    return arena_printf(e->a, "pto_%s_%s(%s)", side, dtype_name(t), index);
}

const char *c_mixed(Emit *e, const Expr *x)
{
    Mixed m = mixed_of(e, x);
    DType t = m.number->type;
    const char *number = c_value(e, m.number);
    if (t == DT_U64 && !holds(t, m.range))
        return arena_printf(e->a, "pto_%s_u64_i64(%s, %s)", op_name(m.op), number, c_value(e, m.index));
    if (dtype_is_float(t) || t == DT_U64)
        return arena_printf(e->a, "(%s %s %s)", number, sign_of(m.op), as_number(e, &m));
    return arena_printf(e->a, "((int64_t)%s %s %s)", number, sign_of(m.op), c_value(e, m.index));
}

// ---- vectors ------------------------------------------------------------------------------------------------------------

// The type that lanes are compared in; DT_COUNT: none.
static DType lane_type(const Mixed *m, bool varies)
{
    DType t = carried(m->number->type);
    if (holds(m->number->type, m->range) || (dtype_is_float(t) && !varies))
        return t;
    if (dtype_is_float(t) || t == DT_U64)
        return DT_COUNT;
    return varies || dtype_bytes(t) > 2 ? DT_I64 : dtype_bytes(t) == 1 ? DT_I16 : DT_I32;
}

// What is the same in all lanes, in a type with one number beyond each end of the data's.
static const char *clamped(Emit *e, const Mixed *m)
{
    int bits = dtype_bits(m->number->type);
    bool is_signed = dtype_family(m->number->type) == 'I';
    long long most = (INT64_C(1) << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
    return arena_printf(e->a, "pto_min(pto_max(%s, %lld), %lld)", c_value(e, m->index), least - 1, most + 1);
}

static const char *index_lanes(Emit *e, const Mixed *m, DType in, bool varies)
{
    const char *lane = v_lane(e, in);
    if (varies)
        return in == DT_I64 ? v_expr(e, m->index) : v_converted(e, v_expr(e, m->index), lane);
    bool beyond = dtype_bytes(in) < 8 && !dtype_is_float(in) && in != m->number->type;
    const char *value = beyond ? arena_printf(e->a, "(%s)%s", dtype_ctype(in), clamped(e, m)) : in == DT_I64 ? c_value(e, m->index) : as_number(e, m);
    return arena_printf(e->a, "%s(%s)", v_fn(e, "splat", lane), value);
}

static DType mask_type(const Emit *e)
{
    return e->vec->width == 8 ? DT_I64 : e->vec->width == 4 ? DT_I32 : e->vec->width == 2 ? DT_I16 : DT_I8;
}

// A number that is the same in all lanes, and the position of each: x < j + l is x - j < l.
static const char *against_positions(Emit *e, const Mixed *m)
{
    const char *lane = v_mask(e), *positions = v_converted(e, arena_printf(e->a, "%s(0, 1)", v_fn(e, "ramp", "i64")), lane);
    const char *ahead = arena_printf(e->a, "pto_min(pto_max((int64_t)%s - (%s), -1), %d)", c_value(e, m->number), c_index(e, m->index), e->vec->lanes);
    return arena_printf(e->a, "(%s)(%s((%s)%s) %s %s)", v_type(e, lane), v_fn(e, "splat", lane), dtype_ctype(mask_type(e)), ahead, sign_of(m->op), positions);
}

const char *v_mixed(Emit *e, const Expr *x, int *bytes)
{
    Mixed m = mixed_of(e, x);
    bool varies = v_varies(e, m.index), small = !dtype_is_float(m.number->type) && dtype_bytes(m.number->type) < 8;
    if (varies && m.index->op == OP_INDEX && small && !v_varies(e, m.number)) {
        *bytes = e->vec->width;
        return against_positions(e, &m);
    }
    DType in = lane_type(&m, varies);
    if (in == DT_COUNT)
        return NULL;
    *bytes = dtype_bytes(in);
    const char *number = v_expr(e, m.number);
    if (in != carried(m.number->type))
        number = v_converted(e, number, v_lane(e, in));
    return arena_printf(e->a, "(%s)(%s %s %s)", v_type(e, v_signed(*bytes)), number, sign_of(m.op), index_lanes(e, &m, in, varies));
}
