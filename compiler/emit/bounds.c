// bounds: loops that run as far as data says.
//
//     int64_t pto_from0 = 0, pto_to0 = Z_;
//     if (pto_from0 < pto_to0)
//         pto_from0 = pto_max(pto_from0, (int64_t)ptr_[r_]);
//     if (pto_from0 < pto_to0)
//         pto_to0 = pto_min(pto_to0, (int64_t)ptr_[r_ + 1]);
//     for (int64_t p_ = pto_from0; p_ < pto_to0; p_++) { ... }
//
// A limit is looked at while there is a point left to compare with it: so it faults where a guard at each point would have. It
// is exact whatever its type: one that only a u64 holds is beyond every index; what is not the index alone is computed in 128
// bits. Test: tests/golden/passes/bounded.pto
#include "emit/c.h"

typedef struct { Emit *e; const char *from, *to; } Range64;

static const Node *first_operation(const Node *n)
{
    const Node *op = n->kind == NODE_OP ? n : NULL;
    for (int i = 0; i < n->body.n && !op; i++)
        op = first_operation(n->body.at[i]);
    return op;
}

static const char *after(Emit *e, const char *x, bool wanted) { return wanted ? arena_printf(e->a, "pto_after(%s)", x) : x; }

static Op opposite(Op op)
{
    return op == OP_LT ? OP_GT : op == OP_GT ? OP_LT : op == OP_LE ? OP_GE : op == OP_GE ? OP_LE : op;
}

// From scale * i + shift >= limit (or >) on, i is at least this.
static const char *least(Emit *e, const LoopBound *b, const char *limit, int64_t scale, bool strict)
{
    const char *way = arena_printf(e->a, "(pto_wide)%s - (%s)", limit, c_index(e, b->shift));
    if (b->scale < 0)
        way = arena_printf(e->a, "-(%s)", way);
    return arena_printf(e->a, "pto_least(%s, %s, %d)", way, c_constant(e, DT_INDEX, scale), strict);
}

// What the index is at least (or less than).
static const char *end_of(Emit *e, const LoopBound *b, const char *limit, bool strict)
{
    bool plain = b->scale == 1 && expr_is_int(b->shift, 0);
    return plain ? after(e, limit, strict) : least(e, b, limit, b->scale < 0 ? -b->scale : b->scale, strict);
}

static const char *limit_of(Emit *e, const LoopBound *b)
{
    bool plain = b->scale == 1 && expr_is_int(b->shift, 0);
    const char *value = plain ? c_index(e, b->limit) : c_value(e, b->limit), *name = arena_printf(e->a, "pto_limit%d", e->temps++);
    c_line(e, "const %s %s = %s;", b->limit->type == DT_U64 && !plain ? "uint64_t" : "int64_t", name, value);
    return name;
}

static void narrow(const Range64 *r, const LoopBound *b)
{
    Emit *e = r->e;
    Op op = b->scale < 0 ? opposite(b->op) : b->op;
    const char *limit = limit_of(e, b);
    if (op == OP_GE || op == OP_GT || op == OP_EQ)
        c_line(e, "%s = pto_max(%s, %s);", r->from, r->from, end_of(e, b, limit, op == OP_GT));
    if (op == OP_LT || op == OP_LE || op == OP_EQ)
        c_line(e, "%s = pto_min(%s, %s);", r->to, r->to, end_of(e, b, limit, op != OP_LT));
}

static void apply(const Range64 *r, const Node *n, const Expr *cond)
{
    Emit *e = r->e;
    LoopBound b;
    if (!loop_bound(e->a, n->index, cond, &b)) {
        c_line(e, "if (%s < %s && !%s)", r->from, r->to, c_value(e, cond));
        c_line(e, "    %s = %s;", r->to, r->from);
        return;
    }
    exact_need(e, cond->args[0]);
    c_line(e, "if (%s < %s) {", r->from, r->to);
    e->indent++;
    narrow(r, &b);
    e->indent--;
    c_line(e, "}");
}

void c_loop_narrow(Emit *e, const Node *n, const char *from, const char *to)
{
    Range64 r = { e, from, to };
    name_bind(e, n->index);                      // (what does not fit 64 bits counts where the loop has a point)
    e->op = first_operation(n);
    if (e->counts)
        c_line(e, "pto_s->operations += %d;", c_bound_operations(n));
    for (int i = 0; i < n->bounds.n; i++)
        apply(&r, n, n->bounds.at[i]);
    e->op = NULL;
    e->bound.n--;
}

bool c_loop_range(Emit *e, const Node *n, const char **lo, const char **hi)
{
    *lo = c_index(e, n->index->lo);
    *hi = c_index(e, n->index->hi);
    if (n->bounds.n == 0)
        return false;
    int number = e->temps++;
    const char *from = arena_printf(e->a, "pto_from%d", number), *to = arena_printf(e->a, "pto_to%d", number);
    c_line(e, "{");
    e->indent++;
    c_line(e, "int64_t %s = %s, %s = %s;", from, *lo, to, *hi);
    c_loop_narrow(e, n, from, to);
    *lo = from;
    *hi = to;
    return true;
}

void c_loop_close(Emit *e, bool opened)
{
    if (!opened)
        return;
    e->indent--;
    c_line(e, "}");
}
