// node: statements and loops of a leaf's function.
//
// Loops nest as the tile level says; registers are declared where their lifetime begins; innermost loops that the
// vectoriser marked go to vector.c. A comment names the equation in front of the loop nest that computes it.
#include "emit/c.h"

#include <limits.h>
#include <string.h>

void c_line(Emit *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = arena_vprintf(e->a, fmt, ap);
    va_end(ap);
    fprintf(e->out, "%*s%s\n", 4 * e->indent, "", text);
}

// ---- registers ----------------------------------------------------------------------------------------------------

static bool written_by_scan(const Node *n, const Tensor *t)
{
    if (n->kind == NODE_OP)
        return n->op == OPK_SCAN && n->tensor == t;
    for (int i = 0; i < n->body.n; i++)
        if (written_by_scan(n->body.at[i], t))
            return true;
    return false;
}

static void declare_locals(Emit *e, const Node *n)
{
    for (int i = 0; i < n->locals.n; i++) {
        const Tensor *t = n->locals.at[i];
        const Node *scan = NULL;
        for (int j = 0; j < n->body.n && !scan; j++)
            if (written_by_scan(n->body.at[j], t))
                scan = n->body.at[j];
        const char *start = "0";
        if (scan) {
            const Node *op = scan;
            while (op->kind != NODE_OP || op->tensor != t)
                for (int j = 0; j < op->body.n; j++)
                    if (written_by_scan(op->body.at[j], t)) {
                        op = op->body.at[j];
                        break;
                    }
            start = c_identity(e, op->reduce, t->type, true);
        }
        c_line(e, "%s %s = %s;", c_value_type(t->type), e->tensor[t->id], start);
    }
}

// ---- operations -----------------------------------------------------------------------------------------------------

static void assign(Emit *e, const Node *n, const char *value)
{
    e->stores = true;
    const char *place = c_place(e, n->tensor, n->subs);
    e->stores = false;
    c_line(e, "%s = %s;", place, c_is_register(e, n->tensor) ? value : c_store(e, n->tensor, value));
}

static const char *current(Emit *e, const Node *n, Expr *const *subs)
{
    const char *place = c_place(e, n->tensor, subs);
    return c_is_register(e, n->tensor) ? place : c_load(e, n->tensor, place);
}

static void update(Emit *e, const Node *n)
{
    DType t = n->tensor->type;
    const char *guard = NULL;
    for (int i = 0; i < n->guards.n; i++) {
        const char *g = c_value(e, n->guards.at[i]);
        guard = guard ? arena_printf(e->a, "%s && %s", guard, g) : g;
    }
    const char *now = current(e, n, n->subs), *next;
    if (n->reduce == RED_SUM && (t == DT_F32 || t == DT_F64) && n->value->op == OP_MUL)
        next = arena_printf(e->a, "pto_madd_%s%s(%s, %s, %s)", dtype_name(t), e->suffix, c_value(e, n->value->args[0]), c_value(e, n->value->args[1]), now);
    else
        next = c_combine(e, n->reduce, t, now, c_value(e, n->value));
    if (guard) {
        c_line(e, "if (%s)", c_bare(e, guard));
        e->indent++;
    }
    assign(e, n, next);
    e->indent -= guard != NULL;
}

static void scan(Emit *e, const Node *n)
{
    const char *value = c_value(e, n->value);
    if (c_is_register(e, n->tensor)) {                   // starts as the identity
        assign(e, n, c_combine(e, n->reduce, n->tensor->type, e->reg_name[n->tensor->id], value));
        return;
    }
    const char *before = current(e, n, n->previous);
    const char *next = c_combine(e, n->reduce, n->tensor->type, before, value);
    assign(e, n, arena_printf(e->a, "%s ? %s : %s", c_value(e, n->first), value, next));
}

static void operation(Emit *e, const Node *n)
{
    if (e->counts)
        c_line(e, "pto_s->operations += %d;", c_operations(n));
    e->op = n;
    switch (n->op) {
    case OPK_MAP: assign(e, n, c_value(e, n->value)); break;
    case OPK_INIT: assign(e, n, c_identity(e, n->reduce, n->tensor->type, false)); break;
    case OPK_UPDATE: update(e, n); break;
    case OPK_SCAN: scan(e, n); break;
    }
    e->op = NULL;
}

// ---- nodes --------------------------------------------------------------------------------------------------------

static void first_equations(const Node *n, const Equation **eq, int *count, int limit)
{
    if (n->kind == NODE_OP) {
        for (int i = 0; i < *count; i++)
            if (eq[i]->origin == n->eq->origin)
                return;
        if (*count < limit)
            eq[(*count)++] = n->eq;
        return;
    }
    for (int i = 0; i < n->body.n; i++)
        first_equations(n->body.at[i], eq, count, limit);
}

static bool has_loop_above(const Emit *e)
{
    return e->indent > 1;
}

// With -g: what follows belongs to the line of its equation.
void c_source_line(Emit *e, const Node *op)
{
    if (!e->o->line_directives || !e->o->sources)
        return;
    Position p = source_position(e->o->sources, op->eq->range.begin);
    if (p.file)
        fprintf(e->out, "#line %d \"%s\"\n", p.line, c_string(e->a, e->o->source_name));
}

static void tie_to_source(Emit *e, const Node *n)
{
    const Equation *eq[6];
    int count = 0;
    first_equations(n, eq, &count, 6);
    if (has_loop_above(e) || !e->o->sources)
        return;
    for (int i = 0; i < count; i++) {
        Position p = source_position(e->o->sources, eq[i]->range.begin);
        if (!p.file)
            continue;
        const char *text = p.file->text + (eq[i]->range.begin - p.file->base);
        int length = (int)strcspn(text, ";\n");
        c_line(e, "// %s:%d: %s", c_comment(e->a, e->o->source_name, INT_MAX), p.line, c_comment(e->a, text, length > 100 ? 100 : length));
    }
}

static void body(Emit *e, const Node *n)
{
    e->indent++;
    c_body(e, n);
    e->indent--;
    c_line(e, "}");
}

// Several points at a time, as a schedule asks; the rest one by one.
static void unrolled(Emit *e, const Node *n, const char *lo, const char *hi)
{
    int scope = e->bound.n;
    const char *i = name_bind(e, n->index);
    exact_step(e, n->index, 2 * n->unroll * n->step);
    c_line(e, "int64_t %s = %s;", i, lo);
    c_line(e, "for (; %s + %lld <= %s; %s += %lld) {", i, (long long)((n->unroll - 1) * n->step + 1), hi, i, (long long)(n->unroll * n->step));
    e->indent++;
    for (int k = 0; k < n->unroll; k++) {
        const char *copy = name_bind(e, n->index);
        c_line(e, "{");
        c_line(e, "    const int64_t %s = %s + %lld;", copy, i, (long long)(k * n->step));
        body(e, n);
        e->bound.n--;
    }
    e->indent--;
    c_line(e, "}");
    c_line(e, "for (; %s < %s; %s += %lld) {", i, hi, i, (long long)n->step);
    body(e, n);
    e->bound.n = scope;
}

// Several rows at a time around a vector loop: what the rows share is loaded once, and each adds in registers of its own.
static void jammed(Emit *e, const Node *n, const char *lo, const char *hi)
{
    int scope = e->bound.n;
    const char *i = name_bind(e, n->index);
    c_line(e, "{");
    e->indent++;
    exact_step(e, n->index, n->unroll);
    c_line(e, "int64_t %s = %s;", i, lo);
    c_line(e, "for (; %s + %d <= %s; %s += %d) {", i, n->unroll, hi, i, n->unroll);
    e->indent++;
    const char *first, *end;
    bool opened = c_loop_range(e, n->body.at[0], &first, &end);
    vector_loop(e, n->body.at[0], first, end, n->index, n->unroll);          // (no read in it crosses a border)
    c_loop_close(e, opened);
    e->indent--;
    c_line(e, "}");
    c_line(e, "for (; %s < %s; %s++) {", i, hi, i);
    body(e, n);
    e->indent--;
    c_line(e, "}");
    e->bound.n = scope;
}

static void loop_over(Emit *e, const Node *n, const char *lo, const char *hi)
{
    if (n->lanes > 1 && !e->counts && vector_loop(e, n, lo, hi, NULL, 1))          // (what is counted is done element by element)
        return;
    if (n->unroll > 1 && !e->counts && node_can_jam(e->t, n)) {
        jammed(e, n, lo, hi);
        return;
    }
    int scope = e->bound.n;
    if (n->unroll > 1 && n->lanes <= 1 && !e->counts) {
        c_line(e, "{");
        e->indent++;
        unrolled(e, n, lo, hi);
        e->indent--;
        c_line(e, "}");
        return;
    }
    const char *i = name_bind(e, n->index);
    exact_step(e, n->index, n->step);
    if (e->counts)
        c_line(e, "for (int64_t %s = %s; %s < %s && pto_goes_on(pto_s); %s += %lld) {", i, lo, i, hi, i, (long long)n->step);
    else if (n->step == 1)
        c_line(e, "for (int64_t %s = %s; %s < %s; %s++) {", i, lo, i, hi, i);
    else
        c_line(e, "for (int64_t %s = %s; %s < %s; %s += %lld) {", i, lo, i, hi, i, (long long)n->step);
    body(e, n);
    e->bound.n = scope;
}

static void loop(Emit *e, const Node *n)
{
    const char *lo, *hi;
    bool opened = c_loop_range(e, n, &lo, &hi);
    loop_over(e, n, lo, hi);
    c_loop_close(e, opened);
}

static void block(Emit *e, const Node *n)
{
    if (n->locals.n == 0) {
        c_body(e, n);
        return;
    }
    c_line(e, "{");
    e->indent++;
    c_body(e, n);
    e->indent--;
    c_line(e, "}");
}

void c_body(Emit *e, const Node *n)
{
    declare_locals(e, n);
    for (int i = 0; i < n->body.n; i++) {
        const Node *c = n->body.at[i];
        tie_to_source(e, c);
        switch (c->kind) {
        case NODE_SEQ: block(e, c); break;
        case NODE_LOOP: loop(e, c); break;
        case NODE_IF:
            c_line(e, "if (%s) {", c_condition(e, c->cond));
            e->indent++;
            exact_assume(e, c->cond, true);
            c_body(e, c);
            exact_drop(e);
            e->indent--;
            c_line(e, "}");
            break;
        case NODE_OP:
            c_source_line(e, c);
            operation(e, c);
            break;
        case NODE_GRID: break;
        }
    }
}
