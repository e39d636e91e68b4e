// vector_loop: vector loops.
//
//     for (int64_t j = lo; j < hi; j++) {
//         for (; j >= inner && j + 8 <= outer; j += 8) { eight points at a time }
//         if (j >= hi)
//             break;
//         one point: edges, where borders count, and the tail
//     }
//
// With `unroll`, several vectors run side by side, and several rows where the loop around is unrolled too, operation by
// operation, so that inner loops are shared.
#include "emit/vector.h"

#include <string.h>

// ---- statements -------------------------------------------------------------------------------------------------------

static bool is_register(const Emit *e, const Tensor *t)
{
    return e->t->storage[t->id].kind == STORE_REGISTER;
}

static const char *register_text(Emit *e, const Tensor *t)
{
    return arena_printf(e->a, "%s%s", e->reg_name[t->id], e->vec->suffix);
}

// A result that is large and that the kernel never reads again goes past the caches (where it is large is known at run time).
static bool streams(Emit *e, const Node *n)
{
    const Tensor *t = n->tensor;
    return n->op == OPK_MAP && t->kind == TENSOR_OUTPUT && (t->type == DT_F32 || t->type == DT_F64) && !c_is_read(e, t) && v_stride(e, t, n->subs) == 1;
}

static const char *past_name(Emit *e, const Node *op)
{
    int n = 0;
    while (n < e->pasts.n && e->pasts.at[n] != op)
        n++;
    if (n == e->pasts.n)
        VEC_PUSH(e->a, &e->pasts, op);
    return name_part(e, e->tensor[op->tensor->id], "past", n);
}

static bool is_decided(const Emit *e, const Node *op)
{
    for (int i = 0; i < e->pasts.n; i++)
        if (e->pasts.at[i] == op)
            return true;
    return false;
}

static void store_memory(Emit *e, const Node *n, const char *v)
{
    const Tensor *t = n->tensor;
    if (v_stride(e, t, n->subs) != 1) {                            // a scatter
        const char *r = arena_printf(e->a, "r%d", e->temps++);
        Vec lane = *e->vec, *outer = e->vec;
        lane.lane = true;
        c_line(e, "const %s %s = %s;", v_type(e, v_lane(e, t->type)), r, v);
        e->vec = &lane;
        const char *place = c_place(e, t, n->subs);
        e->vec = outer;
        c_line(e, "for (int l = 0; l < %d; l++)", e->vec->lanes);
        c_line(e, "    %s = %s;", place, c_store(e, t, arena_printf(e->a, "%s[l]", r)));
        return;
    }
    const char *place = c_place(e, t, n->subs);
    if (t->type == DT_F16 || t->type == DT_BF16)
        c_line(e, "%s(&%s, %s);", v_fn(e, arena_printf(e->a, "store_%s", dtype_name(t->type)), "f32"), place, v);
    else if (t->type == DT_BOOL)
        c_line(e, "%s(&%s, %s);", v_fn(e, "store", "u8"), place, v_converted(e, arena_printf(e->a, "(-%s)", v), "u8"));
    else if (is_decided(e, n) && streams(e, n))
        c_line(e, "%s(&%s, %s, %s);", v_fn(e, "put", dtype_name(t->type)), place, v, past_name(e, n));
    else
        c_line(e, "%s(&%s, %s);", v_fn(e, "store", dtype_name(t->type)), place, v);
}

static void put(Emit *e, const Node *n, const char *v)
{
    if (is_register(e, n->tensor))
        c_line(e, "%s = %s;", register_text(e, n->tensor), v);
    else
        store_memory(e, n, v);
}

static const char *identity(Emit *e, const Node *n, bool scan)
{
    DType t = n->tensor->type;
    const char *c = c_identity(e, n->reduce, t, scan);
    return t == DT_BOOL ? arena_printf(e->a, "%s(-(%s))", v_fn(e, "splat", v_mask(e)), c) : arena_printf(e->a, "%s(%s)", v_fn(e, "splat", v_lane(e, t)), c);
}

static const char *combine(Emit *e, ReduceOp op, DType t, const char *x, const char *y)
{
    bool f = dtype_is_float(t);
    const char *lane = v_lane(e, t);
    switch (op) {
    case RED_SUM: return v_rounded(e, t, f ? arena_printf(e->a, "(%s + %s)", x, y) : arena_printf(e->a, "%s(%s, %s)", v_fn(e, "add", lane), x, y));
    case RED_PROD: return v_rounded(e, t, f ? arena_printf(e->a, "(%s * %s)", x, y) : arena_printf(e->a, "%s(%s, %s)", v_fn(e, "mul", lane), x, y));
    case RED_MAX: return arena_printf(e->a, "%s(%s, %s)", v_fn(e, "max", lane), x, y);
    case RED_MIN: return arena_printf(e->a, "%s(%s, %s)", v_fn(e, "min", lane), x, y);
    case RED_ANY: return arena_printf(e->a, "(%s | %s)", x, y);
    case RED_ALL: return arena_printf(e->a, "(%s & %s)", x, y);
    case RED_MEAN: case RED_ARGMAX: case RED_ARGMIN: break;
    }
    return x;
}

static const char *accumulated(Emit *e, const Node *n, const Expr *value)
{
    DType t = n->tensor->type;
    const char *now = is_register(e, n->tensor) ? register_text(e, n->tensor) : v_load(e, n->tensor, c_place(e, n->tensor, n->subs));
    if (n->reduce != RED_SUM || (t != DT_F32 && t != DT_F64) || value->op != OP_MUL)
        return combine(e, n->reduce, t, now, v_expr(e, value));
    return arena_printf(e->a, "%s(%s, %s, %s)", v_fn(e, "madd", v_lane(e, t)), v_expr(e, value->args[0]), v_expr(e, value->args[1]), now);
}

static Expr *conjunction(Emit *e, Expr *x, Expr *y) { return x ? expr_binary(e->a, OP_AND, DT_BOOL, x, y) : y; }

typedef VEC(Expr *) Guards;

// Those of the operation, behind what bounds say of the loops around.
static Guards guards_here(Emit *e, const Node *n)
{
    Guards all = { 0 };
    for (int i = 0; i < e->vec->masks.n; i++)
        VEC_PUSH(e->a, &all, e->vec->masks.at[i]);
    for (int i = 0; i < n->guards.n; i++)
        VEC_PUSH(e->a, &all, n->guards.at[i]);
    return all;
}

// The guards in order, as far as `varying` asks for; NULL: none.
static Expr *guards_of(Emit *e, const Guards *g, bool varying)
{
    Expr *all = NULL;
    for (int i = 0; i < g->n; i++)
        if (v_varies(e, g->at[i]) == varying)
            all = conjunction(e, all, g->at[i]);
    return all;
}

// Must a guard that is the same in all lanes wait for one that is not?
static bool guards_depend(Emit *e, const Guards *g)
{
    for (int i = 1; i < g->n; i++)
        for (int k = 0; k < i && !v_varies(e, g->at[i]); k++)
            if (v_varies(e, g->at[k]) && v_guards(e, g->at[k], g->at[i]))
                return true;
    return false;
}

static Expr *zero_of(Emit *e, const Expr *x)
{
    return dtype_is_float(x->type) ? expr_float(e->a, x->type, 0, x->range) : expr_int(e->a, x->type, 0, x->range);
}

// Lanes in which a guard fails keep what they have; what a guard protects is not evaluated there either.
static void update(Emit *e, const Node *n)
{
    Expr *whole = NULL, *some = NULL, *value = n->value;
    Guards guards = guards_here(e, n);
    if (guards_depend(e, &guards)) {
        for (int i = 0; i < guards.n; i++)
            some = conjunction(e, some, guards.at[i]);
    } else {
        whole = guards_of(e, &guards, false);
        some = guards_of(e, &guards, true);
    }
    if (some && v_guards(e, some, value)) {
        Expr *args[3] = { some, value, zero_of(e, value) };
        value = expr_new(e->a, OP_SELECT, value->type, value->range, 3, args);
    }
    const char *next = accumulated(e, n, value);
    if (some) {
        const char *now = is_register(e, n->tensor) ? register_text(e, n->tensor) : v_load(e, n->tensor, c_place(e, n->tensor, n->subs));
        const char *m = v_mask_to(e, v_expr(e, some), v_lane_bytes(e, n->tensor->type));
        next = arena_printf(e->a, "%s(%s, %s, %s)", v_fn(e, "select", v_lane(e, n->tensor->type)), m, next, now);
    }
    if (whole)
        c_line(e, "if (%s) {", c_condition(e, whole));
    e->indent += whole != NULL;
    put(e, n, next);
    e->indent -= whole != NULL;
    if (whole)
        c_line(e, "}");
}

static const char *what(ReduceOp op)
{
    return op == RED_SUM ? "sum" : op == RED_PROD ? "prod" : op == RED_MAX || op == RED_ALL ? "max" : "min";      // true is -1
}

// The block's own prefix does not wait for the carry; only one combination does. x_c0 is the carry in all lanes.
static void scan(Emit *e, const Node *n)
{
    DType t = n->tensor->type;
    const char *v = register_text(e, n->tensor), *carry = name_part(e, e->tensor[n->tensor->id], "c", 0), *lane = v_lane(e, t);
    const char *r = arena_printf(e->a, "r%d", e->temps++);
    c_line(e, "%s = %s(%s, %s);", v, v_fn(e, arena_printf(e->a, "prefix_%s", what(n->reduce)), lane), v_expr(e, n->value), identity(e, n, true));
    c_line(e, "const %s %s = %s(%s[%d]);", v_type(e, lane), r, v_fn(e, "splat", lane), v, e->vec->lanes - 1);
    c_line(e, "%s = %s;", v, combine(e, n->reduce, t, carry, v));
    c_line(e, "%s = %s;", carry, combine(e, n->reduce, t, carry, r));
}

// A scan along an outer loop: every lane goes on with its own.
static void scan_across(Emit *e, const Node *n)
{
    const char *value = v_expr(e, n->value), *before = v_load(e, n->tensor, c_place(e, n->tensor, n->previous));
    put(e, n, arena_printf(e->a, "%s ? %s : %s", c_value(e, n->first), value, combine(e, n->reduce, n->tensor->type, before, value)));
}

static void operation(Emit *e, const Node *n)
{
    e->op = n;
    switch (n->op) {
    case OPK_MAP: put(e, n, v_expr(e, n->value)); break;
    case OPK_INIT: put(e, n, identity(e, n, false)); break;
    case OPK_UPDATE: update(e, n); break;
    case OPK_SCAN: is_register(e, n->tensor) ? scan(e, n) : scan_across(e, n); break;
    }
    e->op = NULL;
}

static const char *copy_suffix(Emit *e, int copies, int u)
{
    return copies == 1 ? "" : arena_printf(e->a, "vec%d", u);
}

// Of the copy for row r and vector u.
static const char *block_suffix(Emit *e, int copies, int r, int u)
{
    const char *row = e->vec->rows == 1 ? "" : arena_printf(e->a, "r%d", r);
    return arena_printf(e->a, "%s%s", row, copy_suffix(e, copies, u));
}

static void declare(Emit *e, const Node *n, int copies)
{
    for (int i = 0; i < n->locals.n; i++) {
        const Tensor *t = n->locals.at[i];
        const char *list = "";
        e->reg[t->id] = REG_VECTOR;
        e->reg_name[t->id] = e->tensor[t->id];
        for (int b = 0; b < e->vec->rows * copies; b++)
            list = arena_printf(e->a, "%s%s%s%s = { 0 }", list, b ? ", " : "", e->tensor[t->id], block_suffix(e, copies, b / copies, b % copies));
        c_line(e, "%s %s;", v_type(e, v_lane(e, t->type)), list);
    }
}

// Of the loops of all lanes and copies, one that runs over each of them: the lanes in which a bound fails are masked.
static void hull(Emit *e, const Node *n, int copies, const char **lo, const char **hi)
{
    int number = e->temps++;
    const char *from = arena_printf(e->a, "pto_from%d", number), *to = arena_printf(e->a, "pto_to%d", number);
    Vec *vec = e->vec;
    *lo = c_index(e, n->index->lo);
    *hi = c_index(e, n->index->hi);
    c_line(e, "int64_t %s = INT64_MAX, %s = INT64_MIN;", from, to);
    for (int k = 0; k < copies; k++) {
        Vec lane = *vec;
        lane.lane = true;
        lane.offset = (int64_t)k * vec->lanes;
        lane.suffix = block_suffix(e, copies, 0, k);
        e->vec = &lane;
        c_line(e, "for (int l = 0; l < %d; l++) {", vec->lanes);
        e->indent++;
        c_line(e, "int64_t pto_from = %s, pto_to = %s;", *lo, *hi);
        c_loop_narrow(e, n, "pto_from", "pto_to");
        c_line(e, "%s = pto_from < pto_to ? pto_min(%s, pto_from) : %s;", from, from, from);
        c_line(e, "%s = pto_from < pto_to ? pto_max(%s, pto_to) : %s;", to, to, to);
        e->indent--;
        c_line(e, "}");
        e->vec = vec;
    }
    *lo = from;
    *hi = to;
}

// Opens a block for what data says of a loop's range.
static bool open_range(Emit *e, const Node *n, int copies, const char **lo, const char **hi)
{
    int same = e->vec->masks.n;
    for (int i = 0; i < n->bounds.n; i++)
        if (v_varies(e, n->bounds.at[i]))
            VEC_PUSH(e->a, &e->vec->masks, n->bounds.at[i]);
    if (e->vec->masks.n == same)
        return c_loop_range(e, n, lo, hi);
    c_line(e, "{");
    e->indent++;
    hull(e, n, copies, lo, hi);
    return true;
}

static void v_body(Emit *e, const Node *n, int copies)
{
    declare(e, n, copies);
    for (int i = 0; i < n->body.n; i++) {
        const Node *b = n->body.at[i];
        if (b->kind == NODE_OP) {
            for (int k = 0; k < e->vec->rows * copies; k++) {
                e->vec->down = k / copies;
                e->vec->offset = (int64_t)(k % copies) * e->vec->lanes;
                e->vec->suffix = block_suffix(e, copies, k / copies, k % copies);
                c_source_line(e, b);
                operation(e, b);
            }
            e->vec->offset = e->vec->down = 0;
            continue;
        }
        int scope = e->bound.n;
        int masks = e->vec->masks.n;
        bool opened = false;
        if (b->kind == NODE_LOOP) {
            const char *lo, *hi;
            opened = open_range(e, b, copies, &lo, &hi);
            const char *k = name_bind(e, b->index);
            exact_step(e, b->index, b->step);
            c_line(e, "for (int64_t %s = %s; %s < %s; %s += %lld) {", k, lo, k, hi, k, (long long)b->step);
        } else if (b->kind == NODE_IF) {
            c_line(e, "if (%s) {", c_condition(e, b->cond));
        } else {
            c_line(e, "{");
        }
        e->indent++;
        if (b->kind == NODE_IF)
            exact_assume(e, b->cond, true);
        v_body(e, b, copies);
        if (b->kind == NODE_IF)
            exact_drop(e);
        e->indent--;
        c_line(e, "}");
        e->bound.n = scope;
        e->vec->masks.n = masks;
        c_loop_close(e, opened);
    }
}

// ---- the loop ---------------------------------------------------------------------------------------------------------

typedef VEC(const char *) Texts;
typedef struct { Emit *e; Values lo, hi; VEC(Index *) inner; bool unknown; } Interior;

static void add_text(Emit *e, Texts *t, const char *s)
{
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->at[i], s) == 0)
            return;
    VEC_PUSH(e->a, t, s);
}

// The extreme of a linear expression over the inner loops' ranges: each inner index at its first or last value.
static Expr *extreme(Interior *in, Expr *x, bool largest)
{
    Emit *e = in->e;
    for (int i = in->inner.n - 1; i >= 0; i--) {
        Index *k = in->inner.at[i];
        if (!expr_uses(x, k))
            continue;
        Expr *zero = expr_int(e->a, DT_INDEX, 0, x->range), *one = expr_int(e->a, DT_INDEX, 1, x->range);
        Expr *at0 = expr_substitute(e->a, x, 1, &k, &zero), *at1 = expr_substitute(e->a, x, 1, &k, &one);
        Expr *slope = expr_simplify(e->a, expr_binary(e->a, OP_SUB, DT_INDEX, at1, at0));
        if (!c_is_linear(x) || slope->op != OP_CONST) {
            in->unknown = true;
            return x;
        }
        Expr *last = expr_binary(e->a, OP_SUB, DT_INDEX, k->hi, one);
        Expr *to = (slope->i > 0) == largest ? last : k->lo;
        x = expr_simplify(e->a, expr_substitute(e->a, x, 1, &k, &to));
    }
    return x;
}

// Where it is behind a condition that fails it may be anything, but it must not overflow.
static const char *bound_text(Emit *e, const Expr *x)
{
    if (exact_fits(e, x))
        return c_index(e, x);
    const char *name = arena_printf(e->a, "pto_i%d", e->temps++);
    c_line(e, "const int64_t %s = %s;", name, exact_about(e, x));
    return name;
}

static bool see_border(Expr *x, void *data)
{
    Interior *in = data;
    Emit *e = in->e;
    if (x->op != OP_READ || !x->outside || v_stride(e, x->tensor, x->args) != 1)
        return true;
    int d = x->tensor->rank - 1;
    if (!(x->outside >> d & 1) || !expr_uses(x->args[d], e->vec->index))
        return true;
    Expr *shift = expr_simplify(e->a, expr_binary(e->a, OP_SUB, DT_INDEX, x->args[d], expr_index(e->a, e->vec->index, x->range)));
    Expr *lo = extreme(in, expr_simplify(e->a, expr_binary(e->a, OP_SUB, DT_INDEX, x->tensor->lo[d], shift)), true);
    Expr *hi = extreme(in, expr_simplify(e->a, expr_binary(e->a, OP_SUB, DT_INDEX, x->tensor->hi[d], shift)), false);
    if (in->unknown)
        return false;
    VEC_PUSH(e->a, &in->lo, lo);
    VEC_PUSH(e->a, &in->hi, hi);
    return true;
}

static void find_interior(Interior *in, const Node *n)
{
    if (n->kind == NODE_OP) {
        if (n->value)
            expr_walk(n->value, see_border, in);
        for (int i = 0; i < n->guards.n; i++)
            expr_walk(n->guards.at[i], see_border, in);
    }
    for (int i = 0; i < n->body.n; i++) {
        const Node *b = n->body.at[i];
        if (b->kind == NODE_LOOP)
            VEC_PUSH(in->e->a, &in->inner, b->index);
        find_interior(in, b);
        in->inner.n -= b->kind == NODE_LOOP;
    }
}

static const char *join(Emit *e, const Values *bounds, const char *f, const char *start)
{
    const char *s = start;
    Texts t = { 0 };
    for (int i = 0; i < bounds->n; i++)
        add_text(e, &t, bound_text(e, bounds->at[i]));
    for (int i = 0; i < t.n; i++)
        s = s ? arena_printf(e->a, "%s(%s, %s)", f, s, t.at[i]) : t.at[i];
    return s;
}

typedef struct { VEC(const Node *) ops; VEC(const Tensor *) locals; } Carried;

static bool is_local(const Carried *c, const Tensor *t)
{
    for (int i = 0; i < c->locals.n; i++)
        if (c->locals.at[i] == t)
            return true;
    return false;
}

// Registers outside the loop that it accumulates into or scans with.
static void find_carried(Emit *e, const Node *n, Carried *c)
{
    for (int i = 0; i < n->locals.n; i++)
        VEC_PUSH(e->a, &c->locals, n->locals.at[i]);
    if (n->kind == NODE_OP && (n->op == OPK_UPDATE || n->op == OPK_SCAN) && is_register(e, n->tensor) && e->reg[n->tensor->id] == REG_SCALAR && !is_local(c, n->tensor))
        VEC_PUSH(e->a, &c->ops, n);
    for (int i = 0; i < n->body.n; i++)
        find_carried(e, n->body.at[i], c);
}

static void open_carried(Emit *e, const Carried *c, int copies)
{
    for (int i = 0; i < c->ops.n; i++) {
        const Node *n = c->ops.at[i];
        const Tensor *t = n->tensor;
        const char *list = "", *start = identity(e, n, n->op == OPK_SCAN);
        e->reg[t->id] = REG_VECTOR;
        e->reg_name[t->id] = name_part(e, e->tensor[t->id], "part", 0);
        for (int u = 0; u < copies; u++)
            list = arena_printf(e->a, "%s%s%s%s = %s", list, u ? ", " : "", e->reg_name[t->id], copy_suffix(e, copies, u), start);
        c_line(e, "%s %s;", v_type(e, v_lane(e, t->type)), list);
        if (n->op == OPK_SCAN)
            c_line(e, t->type == DT_BOOL ? "%s %s = %s(-(%s != 0));" : "%s %s = %s(%s);", v_type(e, v_lane(e, t->type)), name_part(e, e->tensor[t->id], "c", 0),
                   v_fn(e, "splat", v_lane(e, t->type)), e->tensor[t->id]);
    }
}

static void close_carried(Emit *e, const Carried *c, int copies)
{
    for (int i = 0; i < c->ops.n; i++) {
        const Node *n = c->ops.at[i];
        const Tensor *t = n->tensor;
        const char *name = e->reg_name[t->id], *sum = arena_printf(e->a, "%s%s", name, copy_suffix(e, copies, 0));
        for (int u = 1; u < copies; u++)
            sum = combine(e, n->reduce, t->type, sum, arena_printf(e->a, "%s%s", name, copy_suffix(e, copies, u)));
        if (n->op == OPK_SCAN)
            c_line(e, t->type == DT_BOOL ? "%s = %s[0] != 0;" : "%s = %s[0];", e->tensor[t->id], name_part(e, e->tensor[t->id], "c", 0));
        else if (t->type == DT_BOOL) {
            const char *all = arena_printf(e->a, "%s(%s)", v_fn(e, arena_printf(e->a, "fold_%s", what(n->reduce)), v_mask(e)), sum);
            c_line(e, "%s = %s;", e->tensor[t->id], c_combine(e, n->reduce, t->type, e->tensor[t->id], arena_printf(e->a, "(%s != 0)", all)));
        } else {
            const char *all = arena_printf(e->a, "%s(%s)", v_fn(e, arena_printf(e->a, "fold_%s", what(n->reduce)), v_lane(e, t->type)), sum);
            c_line(e, "%s = %s;", e->tensor[t->id], c_combine(e, n->reduce, t->type, e->tensor[t->id], all));
        }
        e->reg[t->id] = REG_SCALAR;
        e->reg_name[t->id] = e->tensor[t->id];
    }
}

static void scalar_registers(Emit *e, const Node *n)
{
    for (int i = 0; i < n->locals.n; i++) {
        e->reg[n->locals.at[i]->id] = REG_SCALAR;
        e->reg_name[n->locals.at[i]->id] = e->tensor[n->locals.at[i]->id];
    }
    for (int i = 0; i < n->body.n; i++)
        scalar_registers(e, n->body.at[i]);
}

static int width_of(const Emit *e, const Node *n)
{
    return e->o->machine->vector_bytes / n->lanes;
}

typedef struct Inner { const Index *index; const struct Inner *up; } Inner;

static bool moves_inside(const Node *op, const Inner *inner)
{
    for (; inner; inner = inner->up)
        for (int d = 0; d < op->tensor->rank; d++)
            if (expr_uses(op->subs[d], inner->index))
                return true;
    return false;
}

// Whether results may go past the caches, decided once for the run of vectors that starts here: not for those whose place
// moves with a loop inside of it.
static void decide_streams(Emit *e, const Node *n, const Inner *inner)
{
    for (int i = 0; i < n->body.n; i++) {
        const Node *b = n->body.at[i];
        if (b->kind != NODE_OP) {
            Inner next = { b->index, inner };
            decide_streams(e, b, b->kind == NODE_LOOP ? &next : inner);
            continue;
        }
        if (!streams(e, b) || moves_inside(b, inner))
            continue;
        const char *big = name_symbol(e, name_part(e, e->tensor[b->tensor->id], "big", 0));
        c_line(e, "const int %s = %s && pto_aligned(&%s, %d);", past_name(e, b), big, c_place(e, b->tensor, b->subs), dtype_bytes(b->tensor->type) * e->vec->lanes);
        e->streams = true;
    }
}

static void vector_part(Emit *e, const Node *n, const char *j, const char *first, const char *end, int copies)
{
    Carried carried_ops = { 0 };
    find_carried(e, n, &carried_ops);
    int step = n->lanes * copies;
    const char *inside = first ? arena_printf(e->a, "%s >= %s && %s + %d <= %s", j, first, j, step, end) : arena_printf(e->a, "%s + %d <= %s", j, step, end);
    bool any = carried_ops.ops.n > 0;
    if (any) {
        c_line(e, "if (%s) {", inside);
        e->indent++;
        open_carried(e, &carried_ops, copies);
    }
    c_line(e, "for (; %s; %s += %d) {", inside, j, step);
    e->indent++;
    v_body(e, n, copies);
    e->indent--;
    c_line(e, "}");
    if (any) {
        close_carried(e, &carried_ops, copies);
        e->indent--;
        c_line(e, "}");
    }
    scalar_registers(e, n);
}

// The points that are left over, one by one.
static void rest(Emit *e, const Node *n, const Index *row, int rows)
{
    if (rows == 1) {
        c_body(e, n);
        return;
    }
    int scope = e->bound.n;
    const char *first = name_index(e, row), *i = name_bind(e, row);
    c_line(e, "for (int64_t %s = %s; %s < %s + %d; %s++) {", i, first, i, first, rows, i);
    e->indent++;
    c_body(e, n);
    e->indent--;
    c_line(e, "}");
    e->bound.n = scope;
}

bool vector_loop(Emit *e, const Node *n, const char *lo, const char *hi, const Index *row, int rows)
{
    int scope = e->bound.n;
    const char *j = name_bind(e, n->index);
    Vec vec = { .index = n->index, .lanes = n->lanes, .width = width_of(e, n), .suffix = "", .row = row, .rows = rows };
    e->vec = &vec;
    Interior in = { .e = e };
    find_interior(&in, n);
    e->vec = NULL;
    int step = n->lanes * (n->unroll > 1 ? n->unroll : 1);
    if (in.unknown || (n->index->hi->op == OP_CONST && n->index->hi->i > INT64_MAX - step)) {
        e->bound.n = scope;
        return false;
    }
    exact_step(e, n->index, step);
    e->vec = &vec;
    const char *first = join(e, &in.lo, "pto_max", NULL), *end = join(e, &in.hi, "pto_min", hi);
    e->vec = NULL;
    c_line(e, "for (int64_t %s = %s; %s < %s; %s++) {", j, lo, j, hi, j);
    e->indent++;
    e->vec = &vec;
    e->pasts.n = 0;
    if (rows == 1)
        decide_streams(e, n, NULL);
    for (int copies = n->unroll; copies >= 1; copies = copies > 1 ? 1 : 0) {
        e->vec = &vec;
        vector_part(e, n, j, first, end, copies);
        e->vec = NULL;
    }
    c_line(e, "if (%s >= %s)", j, hi);
    c_line(e, "    break;");
    rest(e, n, row, rows);
    e->indent--;
    c_line(e, "}");
    e->bound.n = scope;
    return true;
}
