// Simplification of index arithmetic.
//
// Generated C is read by people, so subscripts and bounds are brought into one short form: a sum is flattened into
// coefficients of atoms and a constant, like terms are collected, and the sum is written back with the atoms in the
// order of the source, what is subtracted after what is added, and the constant last: (i + 1) - 1 becomes i. min,
// max, divisions and comparisons are decided where the difference of their arguments is a constant, or has a sign
// for every size (dimensions are never negative).
//
// Never changes a value: index arithmetic is exact, so a form that would leave 64 bits is left as it was; wrapping
// integers and floats are folded only where both arguments are constants, in the way that run time computes.
//
// Test: tests/unit/test_expr.c
#include "ir/ir.h"

#include <math.h>

typedef struct {
    Expr *atom;
    int64_t coeff;
} Term;

typedef struct {
    Arena *arena;
    VEC(Term) terms;
    int64_t constant;
    bool failed;              // a coefficient left 64 bits
} Form;

static void form_add_constant(Form *f, int64_t c)
{
    if (__builtin_add_overflow(f->constant, c, &f->constant)) f->failed = true;
}

static void form_add_atom(Form *f, Expr *atom, int64_t coeff)
{
    for (int i = 0; i < f->terms.n; i++) {
        Term *t = &f->terms.at[i];
        if (!expr_equal(t->atom, atom)) continue;
        if (__builtin_add_overflow(t->coeff, coeff, &t->coeff)) f->failed = true;
        return;
    }
    Term t = {.atom = atom, .coeff = coeff};
    VEC_PUSH(f->arena, &f->terms, t);
}

// Adds coeff * e, where e is simplified already.
static void form_add(Form *f, Expr *e, int64_t coeff)
{
    int64_t c;
    switch (e->op) {
    case OP_CONST:
        if (__builtin_mul_overflow(e->i, coeff, &c)) f->failed = true;
        else form_add_constant(f, c);
        return;
    case OP_ADD:
        form_add(f, e->args[0], coeff);
        form_add(f, e->args[1], coeff);
        return;
    case OP_SUB: case OP_NEG:
        if (coeff == INT64_MIN) break;
        if (e->op == OP_SUB) form_add(f, e->args[0], coeff);
        form_add(f, e->args[e->n - 1], -coeff);
        return;
    case OP_MUL:
        for (int i = 0; i < 2; i++) {
            if (e->args[i]->op != OP_CONST) continue;
            if (__builtin_mul_overflow(e->args[i]->i, coeff, &c)) f->failed = true;
            else form_add(f, e->args[1 - i], c);
            return;
        }
        break;
    default: break;
    }
    form_add_atom(f, e, coeff);
}

static Expr *term_expr(Arena *a, Expr *atom, int64_t coeff)
{
    if (coeff == 1) return atom;
    return expr_binary(a, OP_MUL, DT_INDEX, expr_int(a, DT_INDEX, coeff, atom->range), atom);
}

// Appends the terms of one sign to the sum.
static Expr *form_side(const Form *f, Expr *sum, bool positive)
{
    Arena *a = f->arena;
    for (int i = 0; i < f->terms.n; i++) {
        Term t = f->terms.at[i];
        if (t.coeff == 0 || (t.coeff > 0) != positive) continue;
        if (positive) {
            Expr *e = term_expr(a, t.atom, t.coeff);
            sum = sum ? expr_binary(a, OP_ADD, DT_INDEX, sum, e) : e;
        } else if (sum) {
            sum = expr_binary(a, OP_SUB, DT_INDEX, sum, term_expr(a, t.atom, -t.coeff));
        } else if (t.coeff == -1) {
            sum = expr_unary(a, OP_NEG, DT_INDEX, t.atom);
        } else {
            sum = term_expr(a, t.atom, t.coeff);
        }
    }
    return sum;
}

static bool form_has_positive(const Form *f)
{
    for (int i = 0; i < f->terms.n; i++)
        if (f->terms.at[i].coeff > 0) return true;
    return false;
}

// The form written back; `fallback` when it left 64 bits.
static Expr *form_expr(const Form *f, Expr *fallback)
{
    Arena *a = f->arena;
    if (f->failed) return fallback;
    for (int i = 0; i < f->terms.n; i++)
        if (f->terms.at[i].coeff == INT64_MIN) return fallback;
    int64_t c = f->constant;
    Expr *sum = NULL;
    if (c != 0 && !form_has_positive(f)) {
        sum = expr_int(a, DT_INDEX, c, fallback->range);     // 3 - i rather than -i + 3
        c = 0;
    }
    sum = form_side(f, form_side(f, sum, true), false);
    if (!sum) return expr_int(a, DT_INDEX, c, fallback->range);
    if (c > 0) sum = expr_binary(a, OP_ADD, DT_INDEX, sum, expr_int(a, DT_INDEX, c, sum->range));
    if (c < 0 && c != INT64_MIN) sum = expr_binary(a, OP_SUB, DT_INDEX, sum, expr_int(a, DT_INDEX, -c, sum->range));
    if (c == INT64_MIN) return fallback;
    return sum;
}

static Form form_of(Arena *a, Expr *e)
{
    Form f = {.arena = a};
    form_add(&f, e, 1);
    return f;
}

static Form form_difference(Arena *a, Expr *x, Expr *y)
{
    Form f = {.arena = a};
    form_add(&f, x, 1);
    form_add(&f, y, -1);
    return f;
}

static bool form_is_constant(const Form *f)
{
    for (int i = 0; i < f->terms.n; i++)
        if (f->terms.at[i].coeff != 0) return false;
    return !f->failed;
}

// Whether sign * form >= least for all sizes: only dimensions, none of them pulling down.
static bool form_at_least(const Form *f, int sign, int64_t least)
{
    if (f->failed || f->constant == INT64_MIN || sign * f->constant < least) return false;
    for (int i = 0; i < f->terms.n; i++) {
        Term t = f->terms.at[i];
        if (t.coeff == 0) continue;
        if (t.atom->op != OP_DIM || (t.coeff > 0) != (sign > 0)) return false;
    }
    return true;
}

// ---- one operation on simplified arguments ----

// Is x <= y for all sizes, as far as differences and the nesting of minima and maxima tell?
static bool at_most(Arena *a, Expr *x, Expr *y, int depth)
{
    Form d = form_difference(a, x, y);
    if (form_at_least(&d, -1, 0)) return true;
    if (depth == 0) return false;
    bool quotient = (y->op == OP_FLOORDIV || y->op == OP_DIV) && y->args[1]->op == OP_CONST && y->args[1]->i > 0;
    if (quotient && expr_is_int(x, 0)) return at_most(a, x, y->args[0], depth - 1);
    if (x->op == OP_MAX) return at_most(a, x->args[0], y, depth - 1) && at_most(a, x->args[1], y, depth - 1);
    if (y->op == OP_MIN) return at_most(a, x, y->args[0], depth - 1) && at_most(a, x, y->args[1], depth - 1);
    if (x->op == OP_MIN && (at_most(a, x->args[0], y, depth - 1) || at_most(a, x->args[1], y, depth - 1))) return true;
    return y->op == OP_MAX && (at_most(a, x, y->args[0], depth - 1) || at_most(a, x, y->args[1], depth - 1));
}

// Does x decide the minimum or maximum with y?
static bool decides(Arena *a, Op op, Expr *x, Expr *y)
{
    enum { DEPTH = 4 };
    return op == OP_MAX ? at_most(a, y, x, DEPTH) : at_most(a, x, y, DEPTH);
}

// An argument that another one decides is left out, one level down too: max(max(W - 1, V), W) is max(V, W).
static Expr *simplify_min_max(Arena *a, Expr *e)
{
    for (int i = 0; i < 2; i++) {
        Expr *x = e->args[i], *y = e->args[1 - i];
        if (decides(a, e->op, x, y)) return x;
    }
    for (int i = 0; i < 2; i++) {
        Expr *x = e->args[i], *y = e->args[1 - i];
        for (int k = 0; x->op == e->op && k < 2; k++)
            if (decides(a, e->op, y, x->args[k])) {
                Expr *left = x->args[1 - k];
                return simplify_min_max(a, expr_binary(a, e->op, DT_INDEX, i ? y : left, i ? left : y));
            }
    }
    return e;
}

// Splits x into divisor * quotient + rest; the rest takes the terms that do not divide.
static void form_split(const Form *x, int64_t divisor, Form *quotient, Form *rest)
{
    *quotient = (Form){.arena = x->arena, .failed = x->failed};
    *rest = (Form){.arena = x->arena, .failed = x->failed};
    for (int i = 0; i < x->terms.n; i++) {
        Term t = x->terms.at[i];
        if (t.coeff % divisor == 0) form_add_atom(quotient, t.atom, t.coeff / divisor);
        else form_add_atom(rest, t.atom, t.coeff);
    }
    int64_t q;
    fold_int(OP_FLOORDIV, DT_INDEX, x->constant, divisor, &q);
    quotient->constant = q;
    rest->constant = (int64_t)((uint64_t)x->constant - (uint64_t)q * (uint64_t)divisor);      // in 0..divisor: the product may wrap
}

// Division by a positive constant: what divides leaves the division, if rounding allows it.
static Expr *simplify_divide(Arena *a, Expr *e)
{
    Expr *x = e->args[0], *y = e->args[1];
    if (y->op != OP_CONST || y->i <= 0) return e;
    bool quotient = e->op == OP_DIV || e->op == OP_FLOORDIV;
    if (y->i == 1) return quotient ? x : expr_int(a, DT_INDEX, 0, e->range);
    Form form = form_of(a, x), q, r;
    if (form.failed) return e;
    form_split(&form, y->i, &q, &r);
    bool exact = form_is_constant(&r) && r.constant == 0;
    if (!exact && e->op == OP_DIV && !form_at_least(&form, 1, 0)) return e;
    if (!exact && e->op == OP_REM && !form_at_least(&form, 1, 0)) return e;
    if (form_is_constant(&r)) return quotient ? form_expr(&q, e) : expr_int(a, DT_INDEX, r.constant, e->range);
    if (form_is_constant(&q) && q.constant == 0) return e;
    // A rest below zero would round the other way under truncation.
    if ((e->op == OP_DIV || e->op == OP_REM) && !form_at_least(&r, 1, 0)) return e;
    Expr *rest = expr_binary(a, e->op, DT_INDEX, form_expr(&r, x), y);
    if (!quotient) return rest;
    form_add_atom(&q, rest, 1);
    return form_expr(&q, e);
}

static Expr *simplify_compare(Arena *a, Expr *e)
{
    Form d = form_difference(a, e->args[0], e->args[1]);
    int64_t value;
    if (form_is_constant(&d)) {
        fold_int(e->op, DT_INDEX, d.constant, 0, &value);
        return expr_int(a, DT_BOOL, value, e->range);
    }
    // The sign of the difference, as far as it holds for all sizes: a difference that may be 0 decides >= and <.
    bool weak = e->op == OP_GE || e->op == OP_LT, strong = e->op == OP_LE || e->op == OP_GT;
    bool positive = form_at_least(&d, 1, weak ? 0 : 1), negative = form_at_least(&d, -1, strong ? 0 : 1);
    if (!positive && !negative) return e;
    fold_int(e->op, DT_INDEX, positive ? 1 : -1, 0, &value);
    return expr_int(a, DT_BOOL, value, e->range);
}

static Expr *simplify_index(Arena *a, Expr *e)
{
    Form f;
    switch (e->op) {
    case OP_ADD: case OP_SUB: case OP_MUL: case OP_NEG:
        f = form_of(a, e);
        return form_expr(&f, e);
    case OP_MIN: case OP_MAX: return simplify_min_max(a, e);
    case OP_DIV: case OP_REM: case OP_FLOORDIV: case OP_MOD: return simplify_divide(a, e);
    default: return e;
    }
}

static Expr *simplify_logic(Arena *a, Expr *e)
{
    Expr *x = e->args[0];
    if (e->op == OP_NOT) {
        if (x->op == OP_NOT) return x->args[0];
        return x->op == OP_CONST ? expr_int(a, DT_BOOL, !x->i, e->range) : e;
    }
    // The value with which one argument decides the result. The right one may only do so when it hides no fault,
    // so a constant on the right is dropped only when it is neutral.
    int64_t decides = e->op == OP_OR;
    if (x->op == OP_CONST) return x->i == decides ? x : e->args[1];
    if (e->args[1]->op == OP_CONST && e->args[1]->i != decides) return x;
    return e;
}

// Each format holds more than twice the digits of the next smaller one, so rounding the f64 result is one rounding.
// A NaN is left to run time: its sign is the machine's.
static Expr *simplify_float(Arena *a, Expr *e)
{
    const Expr *x = e->args[0], *y = e->args[e->n - 1];
    double r;
    if (x->op != OP_CONST || y->op != OP_CONST || e->type != x->type) return e;
    switch (e->op) {
    case OP_NEG: r = -x->f; break;
    case OP_ADD: r = x->f + y->f; break;
    case OP_SUB: r = x->f - y->f; break;
    case OP_MUL: r = x->f * y->f; break;
    case OP_DIV: r = x->f / y->f; break;
    default: return e;
    }
    return isnan(r) && e->op != OP_NEG ? e : expr_float(a, e->type, r, e->range);
}

// Both arguments constants of an integer type; or x + 0, x * 1 and their like, which hold with wrap-around as well.
static Expr *simplify_data(Arena *a, Expr *e)
{
    Expr *x = e->args[0], *y = e->n > 1 ? e->args[1] : e->args[0];
    int64_t value;
    if (expr_is_mixed(e)) return e;
    if (dtype_is_float(x->type)) return simplify_float(a, e);
    if (e->n > 2) return e;
    if (x->op == OP_CONST && y->op == OP_CONST && fold_int(e->op, x->type, x->i, y->i, &value))
        return expr_int(a, e->type, value, e->range);
    if (!dtype_is_int(e->type)) return e;
    switch (e->op) {
    case OP_ADD:
        if (expr_is_int(x, 0)) return y;
        return expr_is_int(y, 0) ? x : e;
    case OP_MUL:
        if (expr_is_int(x, 1)) return y;
        return expr_is_int(y, 1) ? x : e;
    case OP_SUB: return expr_is_int(y, 0) ? x : e;
    case OP_DIV: case OP_FLOORDIV: return expr_is_int(y, 1) ? x : e;
    default: return e;
    }
}

static Expr *simplify_select(Arena *a, Expr *e)
{
    Expr *c = e->args[0];
    if (c->op == OP_CONST) return c->i ? e->args[1] : e->args[2];
    return expr_equal(e->args[1], e->args[2]) ? e->args[1] : e;
}

static Expr *simplify_node(Arena *a, Expr *e)
{
    switch (op_class(e->op)) {
    case OPC_LEAF: case OPC_NEST: case OPC_MATH: case OPC_FAULT: return e;
    case OPC_ARITH: return e->type == DT_INDEX ? simplify_index(a, simplify_data(a, e)) : simplify_data(a, e);
    case OPC_COMPARE: return e->args[0]->type == DT_INDEX && !expr_is_mixed(e) ? simplify_compare(a, e) : simplify_data(a, e);
    case OPC_BITS: return simplify_data(a, e);
    case OPC_LOGIC: return simplify_logic(a, e);
    case OPC_OTHER: break;
    }
    if (e->op == OP_SELECT) return simplify_select(a, e);
    return e->args[0]->op == OP_CONST ? expr_convert(a, e->type, e->args[0]) : e;
}

// A nest keeps its identity: its ranges and conditions are replaced by equal ones in place.
static void simplify_nest(Arena *a, Nest *nest)
{
    for (int i = 0; i < nest->indices.n; i++) {
        Index *x = nest->indices.at[i];
        if (!x->lo) continue;                          // sema has not inferred it yet
        x->lo = expr_simplify(a, x->lo);
        x->hi = expr_simplify(a, x->hi);
    }
    for (int i = 0; i < nest->conds.n; i++) nest->conds.at[i] = expr_simplify(a, nest->conds.at[i]);
}

Expr *expr_simplify(Arena *a, Expr *e)
{
    if (op_class(e->op) == OPC_NEST) simplify_nest(a, e->nest);
    if (e->n == 0) return e;
    Expr **args = ARENA_ARRAY(a, Expr *, e->n);
    bool changed = false;
    for (int i = 0; i < e->n; i++) {
        args[i] = expr_simplify(a, e->args[i]);
        changed |= args[i] != e->args[i];
    }
    Expr *r = e;
    if (changed) {
        r = ARENA_NEW(a, Expr);
        *r = *e;
        r->args = args;
    }
    return simplify_node(a, r);
}
