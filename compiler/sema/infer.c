// Types of undeclared tensors: from their equations, in the order of their dependences.
//
// A tensor that is no recurrence is easy: its equations are typed, their types joined, and each right side converted.
// A recurrence reads itself while it has no type; a trial (no reports) types its equations with those reads open, and
// what has a type then decides. Its own tensors thus never supply a type.
//
// Leaves: Tensor.type of every tensor, Equation.rhs in that type; simplified.
// Test: tests/unit/test_sema.c
#include "sema/context.h"

static Expr *right_side(Sema *s, EquationInfo *e)
{
    if (e->failed || !e->stmt->expr) return NULL;
    Typer t = {.sema = s, .equation = e};
    for (int i = 0; i < e->eq->indices.n; i++) VEC_PUSH(s->arena, &t.scope, e->eq->indices.at[i]);
    return sema_expr(&t, e->stmt->expr);
}

static void fail(EquationInfo *e)
{
    e->failed = true;
    if (e->lhs && !e->lhs->tensor->declared) e->lhs->failed = true;
}

// The right side, with whatever type it has of its own.
static void build(Sema *s, EquationInfo *e)
{
    e->eq->rhs = right_side(s, e);
    if (!e->eq->rhs) fail(e);
}

static void finish(Sema *s, EquationInfo *e)
{
    if (e->failed) return;
    Typer t = {.sema = s, .equation = e};
    Expr *rhs = type_coerce(&t, e->eq->rhs, e->lhs->tensor->type, arena_printf(s->arena, "`%s`", e->lhs->tensor->name));
    if (rhs) e->eq->rhs = expr_simplify(s->arena, rhs);
    else fail(e);
}

// ---- the type of one tensor ----

static bool join_type(Sema *s, TensorInfo *t, EquationInfo *e, DType type)
{
    DType *joint = &t->tensor->type;
    if (type_is_open(type)) return true;
    if (*joint != DT_COUNT && dtype_widens(type, *joint)) return true;
    if (*joint == DT_COUNT || dtype_widens(*joint, type)) {
        *joint = type;
        return true;
    }
    sema_error(s, D_TYPE, e->stmt->range, "this equation of `%s` gives %s, another gives %s", t->tensor->name, dtype_name(type), dtype_name(*joint));
    sema_help(s, "declare it, `%s: %s[...];`, and convert where needed", t->tensor->name, dtype_name(*joint));
    t->failed = true;
    return false;
}

static void report_typeless(Sema *s, TensorInfo *t, bool recurrent)
{
    const char *name = t->tensor->name;
    t->failed = true;
    if (recurrent) sema_error(s, D_LITERAL, t->tensor->range, "nothing gives `%s` a type: a recurrence does not supply its own", name);
    else sema_error(s, D_LITERAL, t->tensor->range, "nothing gives `%s` a type: literals and indices have none of their own", name);
    sema_help(s, "declare it, `%s: f32%s;`, or convert its right side", name, t->tensor->rank ? "[...]" : "");
}

static void type_plain(Sema *s, TensorInfo *t)
{
    for (int i = 0; i < t->equations.n; i++) {
        EquationInfo *e = t->equations.at[i];
        build(s, e);
        if (!e->failed && !join_type(s, t, e, e->eq->rhs->type)) fail(e);
    }
    // With a type from one equation the others may go on, even where some failed.
    if (t->tensor->type == DT_COUNT) {
        if (!t->failed) report_typeless(s, t, false);
        return;
    }
    t->typed = true;
    for (int i = 0; i < t->equations.n; i++) finish(s, t->equations.at[i]);
}

// ---- recurrences ----

static void try_type(Sema *s, TensorInfo *t)
{
    for (int i = 0; i < t->equations.n && !t->failed; i++) {
        EquationInfo *e = t->equations.at[i];
        int open = e->open.n;
        s->quiet = true;
        Expr *rhs = right_side(s, e);
        s->quiet = false;
        e->open.n = open;
        if (rhs && !join_type(s, t, e, rhs->type)) fail(e);
    }
}

static void type_recurrence(Sema *s, Component *c)
{
    for (int i = 0; i < c->tensors.n; i++) try_type(s, c->tensors.at[i]);
    for (int i = 0; i < c->tensors.n; i++) {
        TensorInfo *t = c->tensors.at[i];
        t->typed = t->tensor->type != DT_COUNT;
    }
    int errors = s->errors;
    for (int i = 0; i < c->tensors.n; i++)
        for (int j = 0; j < c->tensors.at[i]->equations.n; j++) {
            EquationInfo *e = c->tensors.at[i]->equations.at[j];
            build(s, e);
            if (c->tensors.at[i]->typed) finish(s, e);
        }
    // Only when nothing else explains it.
    for (int i = 0; i < c->tensors.n && errors == s->errors; i++)
        if (!c->tensors.at[i]->typed) report_typeless(s, c->tensors.at[i], true);
}

// ---- all ----

static void type_declared(Sema *s, EquationInfo *e)
{
    if (!e->lhs) {
        if (!e->failed) sema_log(s, e);
        return;
    }
    if (!e->lhs->tensor->declared) return;
    build(s, e);
    if (e->lhs->typed) finish(s, e);
    else e->failed = true;
}

void sema_types(Sema *s)
{
    for (int i = 0; i < s->components.n; i++) {
        Component *c = s->components.at[i];
        if (c->recurrent) type_recurrence(s, c);
        else type_plain(s, c->tensors.at[0]);
    }
    for (int i = 0; i < s->equations.n; i++) type_declared(s, s->equations.at[i]);
}
