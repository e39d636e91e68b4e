// needed_fault: which operations can fault, and what evaluating an expression meets (see needed.h).
//
// The mirror image of an expression follows its evaluation: the branch that is not taken and what && or || leave out meet nothing;
// of several faults the one with the highest code stands. Test: tests/golden/faults/needed.pto, random programs
#include "passes/needed.h"

static bool divides(const Expr *e) { return e->op == OP_DIV || e->op == OP_REM || e->op == OP_FLOORDIV || e->op == OP_MOD; }

static bool can_be_zero(const Needed *n, PolyIndices ix, isl_set *domain, const Expr *by)
{
    if (by->op == OP_CONST)
        return by->i == 0;
    isl_pw_aff *f = by->type == DT_INDEX ? poly_aff(n->p, ix, by) : NULL;
    isl_set *zero = f ? isl_set_intersect(isl_pw_aff_zero_set(f), isl_set_copy(domain)) : NULL;
    zero = zero ? poly_under(n->p, zero) : NULL;
    bool never = zero && isl_set_is_empty(zero) == isl_bool_true;
    isl_set_free(zero);
    return !never;
}

static bool repeats(BorderKind k) { return k == BORDER_CLAMP || k == BORDER_WRAP || k == BORDER_REFLECT; }

// A border that repeats elements, of a dimension that can have none?
static bool can_be_empty(const Needed *n, isl_set *domain, const Tensor *t, int d)
{
    PolyIndices none = { 0, NULL };
    if (!repeats(t->border[d].kind))
        return false;
    isl_pw_aff *lo = poly_aff(n->p, none, t->lo[d]), *hi = lo ? poly_aff(n->p, none, t->hi[d]) : NULL;
    isl_set *empty = hi ? isl_set_params(isl_pw_aff_le_set(hi, lo)) : NULL;
    if (!hi)
        isl_pw_aff_free(lo);
    isl_set *both = empty ? isl_set_intersect_params(isl_set_copy(domain), empty) : NULL;
    both = both ? poly_under(n->p, both) : NULL;
    bool never = both && isl_set_is_empty(both) == isl_bool_true;
    isl_set_free(both);
    return !never;
}

// Is the subscript checked at run time?
static bool is_checked(const Needed *n, PolyIndices ix, const Expr *read, int d)
{
    if (read->tensor->border[d].kind != BORDER_NONE)
        return false;
    isl_pw_aff *f = poly_aff(n->p, ix, read->args[d]);
    isl_pw_aff_free(f);
    return !f;
}

bool needed_can_fault(const Needed *n, PolyIndices ix, isl_set *domain, const Expr *e)
{
    if (divides(e) && dtype_is_int(e->type))
        return can_be_zero(n, ix, domain, e->args[1]);
    for (int d = 0; e->op == OP_READ && d < e->n; d++)
        if (is_checked(n, ix, e, d) || can_be_empty(n, domain, e->tensor, d))
            return true;
    return e->op == OP_CHECK;
}

// What cannot fault at a glance: constant divisors, subscripts that are sums of multiples. Everything else asks isl.
static bool is_plain(const Expr *e)
{
    switch ((int)e->op) {
    case OP_CONST: case OP_INDEX: case OP_DIM: return e->type == DT_INDEX;
    case OP_ADD: case OP_SUB: return is_plain(e->args[0]) && is_plain(e->args[1]);
    case OP_MUL: return (e->args[0]->op == OP_CONST || e->args[1]->op == OP_CONST) && is_plain(e->args[0]) && is_plain(e->args[1]);
    default: return false;
    }
}

static bool see_suspect(Expr *e, void *data)
{
    bool *found = data;
    *found = *found || e->op == OP_CHECK || (divides(e) && dtype_is_int(e->type) && (e->args[1]->op != OP_CONST || e->args[1]->i == 0));
    for (int d = 0; e->op == OP_READ && d < e->n && !*found; d++)
        *found = !is_plain(e->args[d]) || repeats(e->tensor->border[d].kind);
    return !*found && e->op != OP_QUIET;
}

bool needed_is_suspect(Expr *e)
{
    bool found = false;
    expr_walk(e, see_suspect, &found);
    return found;
}

bool needed_has_fault(const Needed *n, PolyIndices ix, isl_set *domain, Expr *e)
{
    if (e->op == OP_QUIET)
        return false;
    if (needed_can_fault(n, ix, domain, e))
        return true;
    for (int i = 0; i < e->n; i++)
        if (needed_has_fault(n, ix, domain, e->args[i]))
            return true;
    return false;
}

Expr *needed_quiet(const Needed *n, PolyIndices ix, isl_set *domain, Expr *e)
{
    if (e->op == OP_QUIET || e->n == 0)
        return e;
    if (needed_can_fault(n, ix, domain, e))
        return expr_unary(n->a, OP_QUIET, e->type, e);
    Expr **args = ARENA_ARRAY(n->a, Expr *, e->n), *copy = e;
    for (int i = 0; i < e->n; i++) {
        args[i] = needed_quiet(n, ix, domain, e->args[i]);
        copy = args[i] == e->args[i] || copy != e ? copy : ARENA_NEW(n->a, Expr);
    }
    if (copy == e)
        return e;
    *copy = *e;
    copy->args = args;
    return copy;
}

// ---- what evaluating it meets -----------------------------------------------------------------------------------------------

typedef struct { const Needed *n; PolyIndices ix; isl_set *domain; } Mirror;

static Expr *met(const Mirror *m, Expr *e) { return needed_fault(m->n, m->ix, m->domain, e); }

static Expr *nothing(const Mirror *m, const Expr *e) { return expr_int(m->n->a, DT_I32, 0, e->range); }

static Expr *both(const Mirror *m, Expr *x, Expr *y)
{
    return !x ? y : !y ? x : expr_binary(m->n->a, OP_MAX, DT_I32, x, y);
}

static Expr *choose(const Mirror *m, Expr *cond, Expr *x, Expr *y)
{
    Expr *args[3] = { cond, x ? x : nothing(m, cond), y ? y : nothing(m, cond) };
    return x || y ? expr_new(m->n->a, OP_SELECT, DT_I32, cond->range, 3, args) : NULL;
}

static Expr *code(const Mirror *m, FaultKind kind, const Expr *e)
{
    Position p = m->n->sources ? source_position(m->n->sources, e->range.begin) : (Position){ 0 };
    return expr_int(m->n->a, DT_I32, fault_code(kind, p.file ? p.line : 0, p.file ? p.column : 0), e->range);
}

static Expr *met_by_args(const Mirror *m, Expr *e)
{
    Expr *all = NULL;
    for (int i = 0; i < e->n; i++)
        all = both(m, all, met(m, e->args[i]));
    return all;
}

static Expr *either(const Mirror *m, Expr *x, Expr *y) { return !x ? y : !y ? x : expr_binary(m->n->a, OP_OR, DT_BOOL, x, y); }

// (what only a u64 holds is negative as an i64, and beyond all dimensions)
static Expr *is_outside(const Mirror *m, const Expr *read, int d)
{
    Arena *a = m->n->a;
    Expr *sub = read->args[d];
    DType type = sub->type == DT_INDEX ? DT_INDEX : DT_I64;
    Expr *huge = sub->type == DT_U64 ? expr_binary(a, OP_GT, DT_BOOL, sub, expr_int(a, DT_U64, INT64_MAX, sub->range)) : NULL;
    Expr *x = expr_convert(a, type, sub);
    Expr *below = expr_binary(a, OP_LT, DT_BOOL, x, expr_convert(a, type, read->tensor->lo[d]));
    return either(m, huge, either(m, below, expr_binary(a, OP_GE, DT_BOOL, x, expr_convert(a, type, read->tensor->hi[d]))));
}

// A constant border wins in whatever dimension; then every other must have the element.
static Expr *met_outside(const Mirror *m, Expr *read)
{
    const Tensor *t = read->tensor;
    Expr *bad = NULL, *constant = NULL;
    for (int d = 0; d < t->rank; d++) {
        BorderKind k = t->border[d].kind;
        Expr *here = NULL;
        if (is_checked(m->n, m->ix, read, d))
            here = is_outside(m, read, d);
        else if (can_be_empty(m->n, m->domain, t, d))
            here = expr_binary(m->n->a, OP_LE, DT_BOOL, t->hi[d], t->lo[d]);
        else if (k == BORDER_ZERO || k == BORDER_CONST)
            constant = either(m, constant, is_outside(m, read, d));
        bad = either(m, bad, here);
    }
    Expr *found = bad ? choose(m, bad, code(m, FAULT_BOUNDS, read), NULL) : NULL;
    return found && constant ? choose(m, constant, NULL, found) : found;
}

static Expr *met_by_read(const Mirror *m, Expr *e)
{
    Expr *found = both(m, met_by_args(m, e), met_outside(m, e));
    const Tensor *fault = m->n->of[e->tensor->id].fault;
    if (!fault)
        return found;
    Expr *read = expr_new(m->n->a, OP_READ, DT_I32, e->range, e->n, e->args);
    read->tensor = (Tensor *)fault;
    return both(m, found, read);
}

Expr *needed_fault(const Needed *n, PolyIndices ix, isl_set *domain, Expr *e)
{
    const Mirror m = { n, ix, domain };
    switch ((int)e->op) {
    case OP_QUIET: return NULL;
    case OP_CHECK: return both(&m, e->args[0], met(&m, e->args[1]));
    case OP_READ: return met_by_read(&m, e);
    case OP_SELECT: return both(&m, met(&m, e->args[0]), choose(&m, e->args[0], met(&m, e->args[1]), met(&m, e->args[2])));
    case OP_AND: return both(&m, met(&m, e->args[0]), choose(&m, e->args[0], met(&m, e->args[1]), NULL));
    case OP_OR: return both(&m, met(&m, e->args[0]), choose(&m, e->args[0], NULL, met(&m, e->args[1])));
    default: break;
    }
    Expr *found = met_by_args(&m, e);
    if (!divides(e) || !needed_can_fault(n, ix, domain, e))
        return found;
    Expr *zero = expr_binary(n->a, OP_EQ, DT_BOOL, e->args[1], expr_int(n->a, e->args[1]->type, 0, e->range));
    return both(&m, found, choose(&m, zero, code(&m, FAULT_DIVIDE, e), NULL));
}
