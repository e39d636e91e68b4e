// Expressions as text, for messages: the way a user would have written them.
//
// Subscripts are compact (`a[i+1]`), everything else has spaces (`N - 1`); brackets stand only where precedence asks
// for them; conversions that sema inserted from `index` are not shown. Not meant to be parsed back: ir/print.c does
// that. Test: tests/unit/test_expr.c
#include "ir/ir.h"

#include <math.h>
#include <string.h>

typedef struct {
    Arena *arena;
    VEC(char) out;
    int subscripts;           // how many brackets of subscripts are open
} Text;

static void put(Text *t, const char *s)
{
    for (; *s; s++) VEC_PUSH(t->arena, &t->out, *s);
}

// Binding strength: if 0, || 1, && 2, comparison 3, + 4, nest 5, * 6, unary 7, primary 8.
static const struct {
    Op op;
    const char *sign;
    int strength;
} operators[] = {
    {OP_OR, "||", 1}, {OP_AND, "&&", 2}, {OP_EQ, "==", 3}, {OP_NE, "!=", 3}, {OP_LT, "<", 3}, {OP_LE, "<=", 3},
    {OP_GT, ">", 3}, {OP_GE, ">=", 3}, {OP_ADD, "+", 4}, {OP_SUB, "-", 4}, {OP_MUL, "*", 6}, {OP_DIV, "/", 6}, {OP_REM, "%", 6},
};

static void put_expr(Text *t, const Expr *e, int strength);

static void put_args(Text *t, const Expr *e)
{
    for (int i = 0; i < e->n; i++) {
        if (i > 0) put(t, ", ");
        put_expr(t, e->args[i], 0);
    }
}

static void put_const(Text *t, const Expr *e, int strength)
{
    if (!dtype_is_float(e->type) && e->type != DT_COUNT) {
        bool brackets = e->i < 0 && strength > 4;
        put(t, arena_printf(t->arena, brackets ? "(%lld)" : "%lld", (long long)e->i));
        return;
    }
    char *s = arena_printf(t->arena, "%.9g", e->f);
    put(t, s);
    if (isfinite(e->f) && !strpbrk(s, ".e")) put(t, ".0");
}

static void put_nest(Text *t, const Expr *e)
{
    const Nest *nest = e->nest;
    put(t, e->op == OP_SCAN ? "scan" : reduce_name(nest->op));
    put(t, "(");
    if (e->op == OP_SCAN) {
        bool word = nest->op == RED_MAX || nest->op == RED_MIN;
        const char *sign = nest->op == RED_SUM ? "+" : nest->op == RED_PROD ? "*" : nest->op == RED_ANY ? "||" : "&&";
        put(t, word ? reduce_name(nest->op) : sign);
        put(t, ", ");
        put(t, nest->along->name);
    }
    for (int i = 0; i < nest->indices.n; i++) {
        if (i > 0) put(t, ", ");
        put(t, nest->indices.at[i]->name);
    }
    put(t, ") ");
    put_expr(t, e->args[0], 6);
}

static void put_binary(Text *t, const Expr *e, int row, int strength)
{
    int mine = operators[row].strength;
    bool compact = t->subscripts > 0 || mine == 6;
    if (mine < strength) put(t, "(");
    put_expr(t, e->args[0], mine);
    if (!compact) put(t, " ");
    put(t, operators[row].sign);
    if (!compact) put(t, " ");
    put_expr(t, e->args[1], mine + 1);
    if (mine < strength) put(t, ")");
}

static void put_other(Text *t, const Expr *e, int strength)
{
    if (e->op == OP_CONVERT && e->args[0]->type == DT_INDEX) {
        put_expr(t, e->args[0], strength);
        return;
    }
    if (e->op == OP_NEG || e->op == OP_NOT) {
        if (strength > 7) put(t, "(");
        put(t, e->op == OP_NEG ? "-" : "!");
        put_expr(t, e->args[0], 7);
        if (strength > 7) put(t, ")");
        return;
    }
    if (e->op == OP_SELECT) {
        if (strength > 0) put(t, "(");
        put(t, "if ");
        put_expr(t, e->args[0], 1);
        put(t, " then ");
        put_expr(t, e->args[1], 0);
        put(t, " else ");
        put_expr(t, e->args[2], 0);
        if (strength > 0) put(t, ")");
        return;
    }
    put(t, e->op == OP_CONVERT ? dtype_name(e->type) : op_name(e->op));
    put(t, "(");
    put_args(t, e);
    put(t, ")");
}

static void put_read(Text *t, const Expr *e)
{
    put(t, e->tensor->name);
    if (e->n == 0) return;
    put(t, "[");
    t->subscripts++;
    put_args(t, e);
    t->subscripts--;
    put(t, "]");
}

static void put_expr(Text *t, const Expr *e, int strength)
{
    for (int i = 0; i < (int)(sizeof operators / sizeof *operators); i++)
        if (operators[i].op == e->op) {
            put_binary(t, e, i, strength);
            return;
        }
    if (e->op == OP_CONST) put_const(t, e, strength);
    else if (e->op == OP_INDEX) put(t, e->index->name);
    else if (e->op == OP_DIM) put(t, e->dim->name);
    else if (e->op == OP_READ) put_read(t, e);
    else if (op_class(e->op) == OPC_NEST) put_nest(t, e);
    else put_other(t, e, strength);
}

char *expr_text(Arena *a, const Expr *e)
{
    Text t = {.arena = a};
    put_expr(&t, e, 0);
    VEC_PUSH(a, &t.out, '\0');
    return t.out.at;
}

char *expr_text_subscript(Arena *a, const Expr *e)
{
    Text t = {.arena = a, .subscripts = 1};
    put_expr(&t, e, 0);
    VEC_PUSH(a, &t.out, '\0');
    return t.out.at;
}

// ---- conditions with the indices on the left ----

typedef struct {
    Expr *atom;
    int64_t coeff;
} Term;

typedef struct {
    Arena *arena;
    VEC(Term) terms;
    int64_t constant;
} Sum;

static void sum_add(Sum *s, Expr *e, int64_t scale)
{
    switch ((int)e->op) {
    case OP_CONST: s->constant += scale * e->i; return;
    case OP_ADD: case OP_SUB:
        sum_add(s, e->args[0], scale);
        sum_add(s, e->args[1], e->op == OP_ADD ? scale : -scale);
        return;
    case OP_NEG: sum_add(s, e->args[0], -scale); return;
    case OP_MUL:
        if (e->args[0]->op != OP_CONST) break;
        sum_add(s, e->args[1], scale * e->args[0]->i);
        return;
    default: break;
    }
    Term t = {.atom = e, .coeff = scale};
    VEC_PUSH(s->arena, &s->terms, t);
}

static Expr *scaled(Arena *a, const Term *t, int64_t sign)
{
    Expr *c = expr_int(a, DT_INDEX, sign * t->coeff, t->atom->range);
    return expr_binary(a, OP_MUL, DT_INDEX, c, t->atom);
}

// `sum op 0` with what `left` tells on the left side.
static void put_sides(Text *t, const Sum *s, Op op, int64_t sign, const bool *left)
{
    Arena *a = t->arena;
    Expr *l = expr_int(a, DT_INDEX, 0, (Range){0, 0}), *r = expr_int(a, DT_INDEX, -sign * s->constant, (Range){0, 0});
    for (int i = 0; i < s->terms.n; i++) {
        Expr **side = left[i] ? &l : &r;
        *side = expr_binary(a, OP_ADD, DT_INDEX, *side, scaled(a, &s->terms.at[i], left[i] ? sign : -sign));
    }
    put_expr(t, expr_simplify(a, l), 4);
    put(t, op == OP_EQ ? " = " : sign > 0 ? " >= " : " <= ");
    put_expr(t, expr_simplify(a, r), 4);
}

// i - N + 1 >= 0 reads i >= N - 1; without an index the first dim stands on the left.
static void put_comparison(Text *t, const Expr *e)
{
    Sum s = {.arena = t->arena};
    sum_add(&s, e->args[0], 1);
    sum_add(&s, e->args[1], -1);
    bool *left = ARENA_ARRAY(t->arena, bool, s.terms.n + 1);
    int first = -1;
    for (int i = 0; i < s.terms.n; i++) {
        left[i] = s.terms.at[i].atom->op == OP_INDEX;
        if (left[i] && first < 0) first = i;
    }
    if (first < 0 && s.terms.n > 0) left[first = 0] = true;
    int64_t sign = first >= 0 && s.terms.at[first].coeff < 0 ? -1 : 1;
    for (int i = 0; i < s.terms.n; i++) left[i] = left[i] && (s.terms.at[i].coeff < 0) == (sign < 0);
    put_sides(t, &s, e->op, sign, left);
}

static void put_condition(Text *t, const Expr *e)
{
    bool either = e->op == OP_OR;
    if (e->op == OP_AND || either) {
        put_condition(t, e->args[0]);
        put(t, either ? " or " : ", ");
        put_condition(t, e->args[1]);
        return;
    }
    bool index = op_class(e->op) == OPC_COMPARE && e->n == 2 && e->args[0]->type == DT_INDEX && e->args[1]->type == DT_INDEX;
    if (index && (e->op == OP_GE || e->op == OP_EQ)) put_comparison(t, e);
    else put_expr(t, e, 0);
}

char *expr_text_condition(Arena *a, const Expr *e)
{
    Text t = {.arena = a};
    put_condition(&t, e);
    VEC_PUSH(a, &t.out, '\0');
    return t.out.at;
}
