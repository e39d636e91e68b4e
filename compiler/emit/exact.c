// exact: index arithmetic of the emitted C never leaves 64 bits.
//
// Every index expression passes through here when it is written out. Where its range does not show that it fits at all sizes
// (ir/value_range.h), it is noted, with the loops and conditions around it; the entry then follows the bounds of all that was
// noted, for the sizes of the call, before anything runs (`k_exact`), and refuses the call with PTO_ERR_OVERFLOW. What lies in
// an empty loop, or behind a condition that no point of the call meets, does not count. Assumptions and extents, which
// are looked at before, are computed in 128 bits. Test: tests/golden/exact
#include "base/buffer.h"
#include "emit/c.h"

#include <string.h>

// ---- what has to be looked at ---------------------------------------------------------------------------------------

void exact_know(Emit *e, const Index *index, Expr *lo, Expr *hi)
{
    VEC_PUSH(e->a, &e->known, ((KnownIndex){ index, lo, hi }));
    e->ranges.known = e->known.at;
    e->ranges.nknown = e->known.n;
}

void exact_assume(Emit *e, const Expr *cond, bool holds)
{
    VEC_PUSH(e->a, &e->assumed, ((Assumed){ cond, holds }));
}

void exact_drop(Emit *e)
{
    e->assumed.n--;
}

typedef VEC(const Index *) Scope;
typedef struct { Emit *e; Scope *scope; } Search;

static void add_index(Emit *e, Scope *scope, const Index *index);

static bool see_index(Expr *x, void *data)
{
    Search *s = data;
    if (x->op == OP_INDEX)
        add_index(s->e, s->scope, x->index);
    return true;
}

// The indices that an expression needs, outer ones first.
static void add_indices(Emit *e, Scope *scope, Expr *x)
{
    Search s = { e, scope };
    expr_walk(x, see_index, &s);
}

static void add_index(Emit *e, Scope *scope, const Index *index)
{
    for (int i = 0; i < scope->n; i++)
        if (scope->at[i] == index)
            return;
    const KnownIndex *known = value_known(&e->ranges, index);
    add_indices(e, scope, known ? known->lo : index->lo);
    add_indices(e, scope, known ? known->hi : index->hi);
    VEC_PUSH(e->a, scope, index);
}

static bool same_place(const Need *n, const Scope *scope, const Emit *e)
{
    if (n->nscope != scope->n || n->nconds != e->assumed.n)
        return false;
    for (int i = 0; i < scope->n; i++)
        if (n->scope[i] != scope->at[i])
            return false;
    for (int i = 0; i < e->assumed.n; i++)
        if (n->conds[i].cond != e->assumed.at[i].cond || n->conds[i].holds != e->assumed.at[i].holds)
            return false;
    return true;
}

typedef struct { const Expr *part; bool found; } PartSearch;

static bool see_part(Expr *x, void *data)
{
    PartSearch *s = data;
    s->found = s->found || expr_equal(x, s->part);
    return !s->found && x->op != OP_SELECT;
}

static bool is_part(const Expr *part, const Expr *of)
{
    PartSearch s = { .part = part };
    expr_walk((Expr *)of, see_part, &s);
    return s.found;
}

static void note(Emit *e, const Expr *x)
{
    Scope scope = { 0 };
    for (int i = 0; i < e->bound.n; i++)
        add_index(e, &scope, e->bound.at[i].index);
    add_indices(e, &scope, (Expr *)x);
    for (int i = 0; i < e->assumed.n; i++)
        add_indices(e, &scope, (Expr *)e->assumed.at[i].cond);
    for (int i = e->needs.n - 1; i >= 0; i--)
        if (is_part(x, e->needs.at[i].x) && same_place(&e->needs.at[i], &scope, e))
            return;
    Need n = { .x = x, .nscope = scope.n, .scope = scope.at, .nconds = e->assumed.n };
    n.conds = ARENA_ARRAY(e->a, Assumed, e->assumed.n + 1);
    if (e->assumed.n)
        memcpy(n.conds, e->assumed.at, sizeof *n.conds * (size_t)e->assumed.n);
    VEC_PUSH(e->a, &e->needs, n);
}

void exact_need(Emit *e, const Expr *x)
{
    bool fits = true;
    if (!e->ranges.most || x->type != DT_INDEX || op_class(x->op) == OPC_LEAF)      // (no kernel: text for people)
        return;
    value_range(&e->ranges, x, &fits);
    if (!fits)
        note(e, x);
}

// What pto_wrap and pto_reflect compute with.
void exact_border(Emit *e, const Tensor *t, int d, Expr *sub)
{
    BorderKind kind = t->border[d].kind;
    if (kind != BORDER_WRAP && kind != BORDER_REFLECT)
        return;
    Expr *extent = expr_simplify(e->a, expr_binary(e->a, OP_SUB, DT_INDEX, t->hi[d], t->lo[d]));
    exact_need(e, expr_binary(e->a, OP_MUL, DT_INDEX, expr_int(e->a, DT_INDEX, 2, sub->range), expr_binary(e->a, OP_SUB, DT_INDEX, extent, expr_int(e->a, DT_INDEX, 1, sub->range))));
    if (sub->type == DT_INDEX && !expr_is_int(t->lo[d], 0))
        exact_need(e, expr_binary(e->a, OP_SUB, DT_INDEX, sub, t->lo[d]));
}

// A loop that goes on by `step`: its variable passes the end by as much.
void exact_step(Emit *e, const Index *index, int64_t step)
{
    if (index->hi && step > 1)
        exact_need(e, expr_binary(e->a, OP_ADD, DT_INDEX, index->hi, expr_int(e->a, DT_INDEX, step, index->hi->range)));
}

bool exact_fits(const Emit *e, const Expr *x)
{
    bool fits = true;
    value_range(&e->ranges, x, &fits);
    return fits;
}

// ---- bounds as C ------------------------------------------------------------------------------------------------------

// Index k of the place is the variable pto_b<k>; what is made of dims alone stands before all places, once: pto_d<k>.
typedef struct { Emit *e; Scope seen; Values sizes; } Bounds;

static const char *bounds_text(Bounds *b, const Expr *x);

static const char *join(Bounds *b, const char *f, const char *x, const char *y)
{
    return arena_printf(b->e->a, "pto_bounds_%s(%s%s%s)", f, x, y ? ", " : "", y ? y : "");
}

static const char *bounds_operation(Bounds *b, const Expr *x)
{
    Arena *a = b->e->a;
    const char *p = bounds_text(b, x->args[0]), *q = x->n > 1 ? bounds_text(b, x->args[1]) : NULL;
    switch (x->op) {
    case OP_ADD: return join(b, "add", p, q);
    case OP_SUB: return join(b, "sub", p, q);
    case OP_MUL: return join(b, "mul", p, q);
    case OP_NEG: return join(b, "neg", p, NULL);
    case OP_ABS: return join(b, "abs", p, NULL);
    case OP_SHL: return join(b, "shl", p, q);
    case OP_MIN: return join(b, "min", p, q);
    case OP_MAX: return join(b, "max", p, q);
    case OP_DIV: case OP_FLOORDIV: return join(b, "quotient", p, arena_printf(a, "%s, %d", q, x->op == OP_FLOORDIV));
    case OP_REM: case OP_MOD: return join(b, "rest", p, arena_printf(a, "%s, %d", q, x->op == OP_MOD));
    case OP_SIGN: return "pto_bounds_of(-1, 1)";
    case OP_FMA: return join(b, "add", join(b, "mul", p, q), bounds_text(b, x->args[2]));
    default: return "pto_bounds_of(INT64_MIN, INT64_MAX)";
    }
}

static const char *bounds_of_data(Bounds *b, const Expr *x)
{
    bool fits = true;
    ValueRange r = value_range(&b->e->ranges, x, &fits);
    return arena_printf(b->e->a, "pto_bounds_of(%lld, %lld)", (long long)r.lo, (long long)r.hi);
}

// The variable of a size, which is made when it is asked for first.
static const char *size_text(Bounds *b, const Expr *x)
{
    Emit *e = b->e;
    for (int i = 0; i < b->sizes.n; i++)
        if (expr_equal(b->sizes.at[i], x))
            return arena_printf(e->a, "pto_d%d", i);
    const char *text = x->op == OP_SELECT ? join(b, "join", bounds_text(b, x->args[1]), bounds_text(b, x->args[2])) : bounds_operation(b, x);
    c_line(e, "const pto_bounds pto_d%d = %s;", b->sizes.n, text);
    VEC_PUSH(e->a, &b->sizes, x);
    return arena_printf(e->a, "pto_d%d", b->sizes.n - 1);
}

static bool see_point(Expr *x, void *data)
{
    bool *size = data;
    *size = *size && x->op != OP_INDEX && x->op != OP_READ;
    return *size;
}

static bool is_size(const Expr *x)
{
    bool size = true;
    expr_walk((Expr *)x, see_point, &size);
    return size;
}

static const char *bounds_text(Bounds *b, const Expr *x)
{
    Emit *e = b->e;
    if (x->type != DT_INDEX || x->op == OP_CONVERT || x->op == OP_READ)
        return bounds_of_data(b, x);
    switch ((int)x->op) {
    case OP_CONST: return arena_printf(e->a, "pto_bounds_at(%s)", c_constant(e, DT_INDEX, x->i));
    case OP_DIM: return arena_printf(e->a, "pto_bounds_at(%s)", name_dim(e, x->dim));
    case OP_INDEX:
        for (int i = 0; i < b->seen.n; i++)
            if (b->seen.at[i] == x->index)
                return arena_printf(e->a, "pto_b%d", i);
        return "pto_bounds_of(INT64_MIN, INT64_MAX)";
    default: break;
    }
    if (is_size(x))
        return size_text(b, x);
    return x->op == OP_SELECT ? join(b, "join", bounds_text(b, x->args[1]), bounds_text(b, x->args[2])) : bounds_operation(b, x);
}

// May the condition hold (or fail) at some point, as far as bounds tell? NULL: it may.
static const char *may_hold(Bounds *b, const Expr *x, bool holds)
{
    Arena *a = b->e->a;
    if (x->op == OP_NOT)
        return may_hold(b, x->args[0], !holds);
    if (x->op == OP_AND || x->op == OP_OR) {
        const char *p = may_hold(b, x->args[0], holds), *q = may_hold(b, x->args[1], holds);
        if ((x->op == OP_AND) == holds)
            return p && q ? arena_printf(a, "%s && %s", p, q) : p ? p : q;
        return p && q ? arena_printf(a, "(%s || %s)", p, q) : NULL;
    }
    if (op_class(x->op) != OPC_COMPARE || x->n != 2 || x->args[0]->type != DT_INDEX)
        return NULL;
    const char *p = bounds_text(b, x->args[0]), *q = bounds_text(b, x->args[1]);
    switch (x->op) {
    case OP_LT: return arena_printf(a, holds ? "%s.lo < %s.hi" : "%s.hi >= %s.lo", p, q);
    case OP_LE: return arena_printf(a, holds ? "%s.lo <= %s.hi" : "%s.hi > %s.lo", p, q);
    case OP_GT: return arena_printf(a, holds ? "%s.hi > %s.lo" : "%s.lo <= %s.hi", p, q);
    case OP_GE: return arena_printf(a, holds ? "%s.hi >= %s.lo" : "%s.lo < %s.hi", p, q);
    case OP_EQ: return holds ? arena_printf(a, "%s.lo <= %s.hi && %s.hi >= %s.lo", p, q, p, q) : NULL;
    case OP_NE: return holds ? NULL : arena_printf(a, "%s.lo <= %s.hi && %s.hi >= %s.lo", p, q, p, q);
    default: return NULL;
    }
}

static bool together(const Need *m, const Need *n)
{
    if (m->nscope != n->nscope || m->nconds != n->nconds)
        return false;
    for (int i = 0; i < m->nscope; i++)
        if (m->scope[i] != n->scope[i])
            return false;
    for (int i = 0; i < m->nconds; i++)
        if (m->conds[i].cond != n->conds[i].cond || m->conds[i].holds != n->conds[i].holds)
            return false;
    return true;
}

static const char *short_text(Emit *e, const Expr *x)
{
    enum { MOST = 160 };
    const char *text = expr_text(e->a, x);
    return c_string(e->a, strlen(text) <= MOST ? text : arena_printf(e->a, "%.*s...", MOST, text));
}

// Sizes that expressions of a place are made of come before it: they are written to `e->out`, the place to `out`.
static int emit_place(Bounds *b, int first, FILE *out)
{
    Emit *e = b->e;
    const Need *n = &e->needs.at[first];
    const char *some = "";
    b->seen = (Scope){ 0 };
    fprintf(out, "    {\n");
    for (int i = 0; i < n->nscope; i++) {
        const Index *index = n->scope[i];
        const KnownIndex *known = value_known(&e->ranges, index);
        const char *lo = bounds_text(b, known ? known->lo : index->lo), *hi = bounds_text(b, known ? known->hi : index->hi);
        fprintf(out, "        const pto_bounds pto_b%d = pto_bounds_%s(%s, %s);    // %s\n", i, known ? "between" : "loop", lo, hi, c_comment(e->a, index->name, 40));
        VEC_PUSH(e->a, &b->seen, index);
        some = arena_printf(e->a, "%s%spto_bounds_some(pto_b%d)", some, i ? " && " : "", i);
    }
    for (int i = 0; i < n->nconds; i++) {
        const char *c = may_hold(b, n->conds[i].cond, n->conds[i].holds);
        some = c ? arena_printf(e->a, "%s%s%s", some, *some ? " && " : "", c) : some;
    }
    if (*some)
        fprintf(out, "        if (%s) {\n", some);
    int i = first;
    for (; i < e->needs.n && together(n, &e->needs.at[i]); i++) {
        const char *text = bounds_text(b, e->needs.at[i].x);
        fprintf(out, "%spto_bounds_check(&pto_e, \"%s\", %s);\n", *some ? "            " : "        ", short_text(e, e->needs.at[i].x), text);
    }
    fprintf(out, "%s    }\n", *some ? "        }\n" : "");
    return i;
}

void exact_sizes(Emit *e, const char **names, const char **values)
{
    *names = *values = "";
    for (int i = 0; i < e->k->dims.n; i++) {
        const char *d = e->k->dims.at[i]->name;
        *names = arena_printf(e->a, "%s%s\"%s\"", *names, i ? ", " : "", d);
        *values = arena_printf(e->a, "%s%s%s", *values, i ? ", " : "", name_dim(e, e->k->dims.at[i]));
    }
    if (e->k->dims.n) {
        *names = arena_printf(e->a, "(const char *const[]){ %s }", *names);
        *values = arena_printf(e->a, "(const int64_t[]){ %s }", *values);
    } else {
        *names = *values = "NULL";
    }
}

void c_exact(Emit *e, FILE *out)
{
    if (e->needs.n == 0)
        return;
    TextBuffer sizes, places;
    buffer_open(&sizes);
    buffer_open(&places);
    e->out = sizes.stream;
    e->indent = 1;
    Bounds b = { .e = e };
    for (int i = 0; i < e->needs.n;)
        i = emit_place(&b, i, places.stream);
    const char *names, *values;
    exact_sizes(e, &names, &values);
    fprintf(out, "// Does all index arithmetic fit 64 bits, for these sizes?\n");
    fprintf(out, "static PTO_TARGET pto_status %s(const struct %s *f)\n{\n", name_own(e, "exact"), name_own(e, "frame"));
    c_used(e, out, NULL);
    fprintf(out, "    pto_exact pto_e = { 0 };\n%s%s", buffer_take(e->a, &sizes), buffer_take(e->a, &places));
    fprintf(out, "    return pto_e.bad ? pto_check_exact(f->ctx, \"%s\", pto_e.bad, %d, %s, %s) : PTO_OK;\n}\n\n", e->k->name, e->k->dims.n, names, values);
    name_release(e);
}

// ---- what only has to be about right ----------------------------------------------------------------------------------------

const char *exact_about(Emit *e, const Expr *x)
{
    Arena *a = e->a;
    if (exact_fits(e, x) || op_class(x->op) == OPC_LEAF)
        return c_index(e, x);
    const char *p = exact_about(e, x->args[0]), *q = x->n > 1 ? exact_about(e, x->args[1]) : NULL;
    switch (x->op) {
    case OP_ADD: return arena_printf(a, "pto_about_add(%s, %s)", p, q);
    case OP_SUB: return arena_printf(a, "pto_about_sub(%s, %s)", p, q);
    case OP_MUL: return arena_printf(a, "pto_about_mul(%s, %s)", p, q);
    case OP_NEG: return arena_printf(a, "pto_about_sub(0, %s)", p);
    case OP_MIN: return arena_printf(a, "pto_min(%s, %s)", p, q);
    case OP_MAX: return arena_printf(a, "pto_max(%s, %s)", p, q);
    case OP_DIV: case OP_FLOORDIV: return arena_printf(a, "pto_floordiv(%s, pto_max(%s, 1))", p, q);
    default: return c_index(e, x);
    }
}

// ---- 128 bits -----------------------------------------------------------------------------------------------------------

static const char *wide_operation(Emit *e, const Expr *x)
{
    Arena *a = e->a;
    const char *p = exact_wide(e, x->args[0]), *q = x->n > 1 ? exact_wide(e, x->args[1]) : NULL;
    switch (x->op) {
    case OP_ADD: return arena_printf(a, "pto_wide_add(&pto_e, %s, %s)", p, q);
    case OP_SUB: return arena_printf(a, "pto_wide_sub(&pto_e, %s, %s)", p, q);
    case OP_MUL: return arena_printf(a, "pto_wide_mul(&pto_e, %s, %s)", p, q);
    case OP_NEG: return arena_printf(a, "pto_wide_neg(&pto_e, %s)", p);
    case OP_ABS: return arena_printf(a, "pto_wide_abs(&pto_e, %s)", p);
    case OP_SIGN: return arena_printf(a, "pto_wide_sign(%s)", p);
    case OP_SHL: return arena_printf(a, "pto_wide_shl(&pto_e, %s, %s)", p, q);
    case OP_MIN: return arena_printf(a, "pto_wide_min(%s, %s)", p, q);
    case OP_MAX: return arena_printf(a, "pto_wide_max(%s, %s)", p, q);
    case OP_FMA: return arena_printf(a, "pto_wide_add(&pto_e, pto_wide_mul(&pto_e, %s, %s), %s)", p, q, exact_wide(e, x->args[2]));
    default: break;
    }
    bool quotient = x->op == OP_DIV || x->op == OP_FLOORDIV;
    const char *f = x->op == OP_DIV ? "div" : x->op == OP_REM ? "rem" : x->op == OP_MOD ? "mod" : "floordiv";
    return arena_printf(a, "pto_wide_%s(%s%s, pto_divisor(%s, %d, %s))", f, quotient ? "&pto_e, " : "", p, name_symbol(e, "ctx"), e->sites++, q);
}

const char *exact_wide(Emit *e, const Expr *x)
{
    if (x->type != DT_INDEX)
        return arena_printf(e->a, "(pto_wide)%s", c_value(e, x));
    switch ((int)x->op) {
    case OP_CONST: return c_constant(e, DT_I64, x->i);
    case OP_DIM: return name_dim(e, x->dim);
    case OP_SELECT: return arena_printf(e->a, "(%s ? (pto_wide)%s : (pto_wide)%s)", c_value(e, x->args[0]), exact_wide(e, x->args[1]), exact_wide(e, x->args[2]));
    default: break;
    }
    bool whole = op_class(x->op) == OPC_ARITH || x->op == OP_SHL;
    return whole ? wide_operation(e, x) : c_value(e, x);
}
