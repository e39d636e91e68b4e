// The reference evaluator, lowering: see run.h.
//
// Linear forms are an abbreviation of index arithmetic (sums and constant multiples); where a coefficient or the constant does not
// fit 64 bits there is none. Nothing is simplified beyond that and the evaluation of what only depends on dimensions.
#include "reference/run.h"

#include "data/element.h"

#include <string.h>

// ---- expressions ----

static Node *node_new(Run *r, const Expr *e)
{
    Node *n = ARENA_NEW(r->arena, Node);
    n->op = e->op;
    n->type = e->type;
    n->operand = e->n > 0 ? e->args[e->op == OP_SELECT && e->n > 1 ? 1 : 0]->type : e->type;
    n->expr = e;
    return n;
}

static Node *linear_new(Run *r, const Expr *e, int64_t constant, int nterms)
{
    Node *n = node_new(r, e);
    n->linear = true;
    n->constant = constant;
    n->terms = ARENA_ARRAY(r->arena, Term, nterms + 1);
    return n;
}

static int slot_of(Run *r, Definition *d, const Index *index)
{
    for (int s = d->slots.n - 1; s >= 0; s--)
        if (d->slots.at[s] == index)
            return s;
    VEC_PUSH(r->arena, &d->slots, (Index *)index);
    return d->slots.n - 1;
}

static bool add_term(Node *n, int slot, int64_t factor)
{
    for (int k = 0; k < n->n; k++)
        if (n->terms[k].slot == slot) {
            if (__builtin_add_overflow(n->terms[k].factor, factor, &n->terms[k].factor))
                return false;
            if (n->terms[k].factor == 0)
                n->terms[k] = n->terms[--n->n];
            return true;
        }
    if (factor != 0)
        n->terms[n->n++] = (Term){.slot = slot, .factor = factor};
    return true;
}

// n += x * factor
static bool add_form(Node *n, const Node *x, int64_t factor)
{
    int64_t c;
    if (__builtin_mul_overflow(x->constant, factor, &c) || __builtin_add_overflow(n->constant, c, &n->constant))
        return false;
    for (int k = 0; k < x->n; k++)
        if (__builtin_mul_overflow(x->terms[k].factor, factor, &c) || !add_term(n, x->terms[k].slot, c))
            return false;
    return true;
}

// x * fx + y * fy; NULL: not with 64 bits.
static Node *combine(Run *r, const Expr *e, const Node *x, int64_t fx, const Node *y, int64_t fy)
{
    Node *n = linear_new(r, e, 0, x->n + y->n);
    return add_form(n, x, fx) && add_form(n, y, fy) ? n : NULL;
}

static bool is_constant(const Node *n) { return n->linear && n->n == 0; }

// The linear form of index arithmetic on linear arguments; NULL: not linear.
static Node *lower_linear(Run *r, const Expr *e, Node *const *args)
{
    for (int k = 0; k < e->n; k++)
        if (!args[k]->linear)
            return NULL;
    static const Node zero = {.linear = true};
    switch (e->op) {
    case OP_ADD: return combine(r, e, args[0], 1, args[1], 1);
    case OP_SUB: return combine(r, e, args[0], 1, args[1], -1);
    case OP_NEG: return combine(r, e, args[0], -1, &zero, 0);
    case OP_MUL:
        if (is_constant(args[1]))
            return combine(r, e, args[0], args[1]->constant, &zero, 0);
        if (is_constant(args[0]))
            return combine(r, e, args[1], args[0]->constant, &zero, 0);
        return NULL;
    case OP_DIV: case OP_REM: case OP_FLOORDIV: case OP_MOD: case OP_MIN: case OP_MAX: {
        if (!is_constant(args[0]) || !is_constant(args[1]))
            return NULL;
        Value v = value_binary(e->op, DT_INDEX, value_int(args[0]->constant), value_int(args[1]->constant), 0);
        return value_is_poison(v) ? NULL : linear_new(r, e, v.i, 0);
    }
    default: return NULL;
    }
}

static void lower_loop(Run *r, Definition *d, const Expr *e, Node *n);

Node *run_lower_expr(Run *r, Definition *d, const Expr *e)
{
    Node *n;
    switch (e->op) {
    case OP_CONST:
        if (e->type == DT_INDEX)
            return linear_new(r, e, e->i, 0);
        n = node_new(r, e);
        n->value = dtype_is_float(e->type) ? value_float(e->f) : value_int(e->i);
        return n;
    case OP_DIM: return linear_new(r, e, r->dims[e->dim->id], 0);
    case OP_INDEX:
        n = linear_new(r, e, 0, 1);
        add_term(n, slot_of(r, d, e->index), 1);
        return n;
    default: break;
    }
    n = node_new(r, e);
    if (e->op == OP_REDUCE || e->op == OP_SCAN) {
        lower_loop(r, d, e, n);
        return n;
    }
    if (e->op == OP_READ)
        n->cells = &r->cells[e->tensor->id];
    n->n = e->n;
    n->args = ARENA_ARRAY(r->arena, Node *, e->n);
    for (int k = 0; k < e->n; k++)
        n->args[k] = run_lower_expr(r, d, e->args[k]);
    Node *linear = e->type == DT_INDEX && e->op != OP_READ ? lower_linear(r, e, n->args) : NULL;
    return linear ? linear : n;
}

static Node **lower_list(Run *r, Definition *d, int n, Expr *const *e)
{
    Node **list = ARENA_ARRAY(r->arena, Node *, n);
    for (int k = 0; k < n; k++)
        list[k] = run_lower_expr(r, d, e[k]);
    return list;
}

// Does it speak of indices and dimensions alone, as sums of multiples?
static bool is_of_range(const Expr *e)
{
    bool is = e->op != OP_READ && op_class(e->op) != OPC_NEST && !(e->op == OP_MUL && e->args[0]->op != OP_CONST && e->args[1]->op != OP_CONST);
    for (int k = 0; k < e->n; k++)
        is = is && is_of_range(e->args[k]);
    return is;
}

// Guards in the order in which they count: those that limit the range, and then what the data says of its points.
static Node **lower_guards(Run *r, Definition *d, const Nest *nest)
{
    Expr **order = ARENA_ARRAY(r->arena, Expr *, nest->conds.n);
    int n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < nest->conds.n; k++)
            if (is_of_range(nest->conds.at[k]) == (pass == 0))
                order[n++] = nest->conds.at[k];
    return lower_list(r, d, n, order);
}

static Span *lower_spans(Run *r, Definition *d, int n, Index *const *indices)
{
    Span *spans = ARENA_ARRAY(r->arena, Span, n);
    for (int k = 0; k < n; k++) {
        spans[k].lo = run_lower_expr(r, d, indices[k]->lo);
        spans[k].hi = run_lower_expr(r, d, indices[k]->hi);
        spans[k].slot = slot_of(r, d, indices[k]);
    }
    return spans;
}

// The slots in use when a scan is met are all those that its body may depend on.
static void lower_loop(Run *r, Definition *d, const Expr *e, Node *n)
{
    Loop *loop = ARENA_NEW(r->arena, Loop);
    n->loop = loop;
    loop->nest = e->nest;
    loop->definition = d;
    loop->nkeys = d->slots.n;
    if (e->op == OP_SCAN)
        loop->along = slot_of(r, d, e->nest->along);
    loop->nspans = e->nest->indices.n;
    loop->spans = lower_spans(r, d, e->nest->indices.n, e->nest->indices.at);
    loop->nconds = e->nest->conds.n;
    loop->conds = lower_guards(r, d, e->nest);
    loop->body = run_lower_expr(r, d, e->args[0]);
}

// ---- equations ----

// The first term of a linear subscript whose slot is not known yet, if it is the only one.
static bool single_unknown(const Node *sub, const bool *known, Term *term)
{
    int unknown = 0;
    if (!sub->linear)
        return false;
    for (int k = 0; k < sub->n; k++)
        if (!known[sub->terms[k].slot]) {
            *term = sub->terms[k];
            unknown++;
        }
    return unknown == 1;
}

// Orders the subscripts so that each gives one more index.
static void plan_solution(Run *r, Definition *d)
{
    bool *known = ARENA_ARRAY(r->arena, bool, d->slots.n);
    d->steps = arena_alloc(r->arena, sizeof *d->steps * (size_t)(d->nspans + 1));
    for (bool progress = true; progress && d->nsteps < d->nspans;) {
        progress = false;
        for (int s = 0; s < d->nsubs && d->nsteps < d->nspans; s++) {
            Term term;
            if (!single_unknown(d->subs[s], known, &term))
                continue;
            known[term.slot] = true;
            d->steps[d->nsteps].sub = s;
            d->steps[d->nsteps++].term = term;
            progress = true;
        }
    }
    d->solvable = d->nsteps == d->nspans;
}

// After normalize a reduction or scan is the equation's own, and what it ranges over stands beside its body.
static Expr *right_side(Run *r, const Equation *e)
{
    if (e->kind == EQ_MAP)
        return e->rhs;
    Expr *nest = expr_new(r->arena, e->kind == EQ_SCAN ? OP_SCAN : OP_REDUCE, e->lhs->type, e->range, 1, &e->rhs);
    nest->nest = e->nest;
    return nest;
}

static void lower_equation(Run *r, const Equation *e)
{
    Definition *d = ARENA_NEW(r->arena, Definition);
    d->equation = e;
    d->cells = &r->cells[e->lhs->id];
    for (int k = 0; k < e->indices.n; k++)
        VEC_PUSH(r->arena, &d->slots, e->indices.at[k]);
    d->nspans = e->indices.n;
    d->spans = lower_spans(r, d, e->indices.n, e->indices.at);
    d->nsubs = e->lhs->rank;
    d->subs = lower_list(r, d, e->lhs->rank, e->subs);
    d->nconds = e->conds.n;
    d->conds = lower_list(r, d, e->conds.n, e->conds.at);
    plan_solution(r, d);
    d->rhs = run_lower_expr(r, d, right_side(r, e));
    d->nslots = d->slots.n;
    if (d->nslots > d->cells->nslots)
        d->cells->nslots = d->nslots;
    VEC_PUSH(r->arena, &d->cells->definitions, d);
    d->cells->nfirst += !e->otherwise;
}

// ---- tensors ----

static bool refuse(Run *r, RefStatus status, const Tensor *t, const char *message)
{
    RefFault fault = {.status = status, .tensor = t, .range = t ? t->range : (Range){0}, .message = message};
    VEC_PUSH(r->arena, &r->faults, fault);
    r->status = status;
    return false;
}

static Value scalar_value(const RefTensor *x)
{
    if (!x->data)                                     // only shapes are asked for
        return value_int(0);
    return dtype_is_float(x->type) ? value_float(element_load_float(x->type, x->data)) : value_int(element_load_int(x->type, x->data));
}

static Value border_value(const Run *r, const Expr *e)
{
    switch (e->op) {
    case OP_READ: return scalar_value(r->cells[e->tensor->id].data);
    case OP_DIM: return value_int(r->dims[e->dim->id]);
    case OP_CONVERT: return value_convert(e->type, e->args[0]->type, border_value(r, e->args[0]));
    default: return dtype_is_float(e->type) ? value_float(e->f) : value_int(e->i);
    }
}

// When the scalar inputs are there.
static void border_values(Run *r, Cells *c)
{
    const Tensor *t = c->tensor;
    c->border = ARENA_ARRAY(r->arena, Value, t->rank);
    for (int k = 0; k < t->rank; k++) {
        bool constant = t->border && t->border[k].kind == BORDER_CONST;
        c->border[k] = constant ? border_value(r, t->border[k].value) : dtype_is_float(t->type) ? value_float(0) : value_int(0);
    }
}

static bool same_shape(const RefTensor *x, const RefTensor *y)
{
    if (x->type != y->type || x->rank != y->rank)
        return false;
    for (int k = 0; k < x->rank; k++)
        if (x->extent[k] != y->extent[k])
            return false;
    return true;
}

static bool lower_tensor(Run *r, const Tensor *t, RefTensor *input, int64_t *room)
{
    Cells *c = &r->cells[t->id];
    RefTensor shape;
    c->tensor = t;
    bool argument = t->kind == TENSOR_INPUT || t->kind == TENSOR_OUTPUT;
    if (!ref_shape(r->kernel, t, r->dims, &shape))
        return refuse(r, argument ? REF_SHAPE : REF_WORK, t, arena_printf(r->arena, "the shape of '%s' cannot be computed", t->name));
    if (t->kind == TENSOR_INPUT) {
        if (!input || !same_shape(input, &shape))
            return refuse(r, REF_SHAPE, t, arena_printf(r->arena, "the input '%s' has another shape or type", t->name));
        c->data = input;
        return true;
    }
    if (shape.size > *room)
        return refuse(r, REF_WORK, t, arena_printf(r->arena, "'%s' is too large for the reference evaluator", t->name));
    *room -= shape.size;
    c->data = ARENA_NEW(r->arena, RefTensor);
    *c->data = shape;
    c->data->data = arena_alloc(r->arena, (size_t)shape.size * (size_t)dtype_bytes(t->type) + 1);
    c->data->state = arena_alloc(r->arena, (size_t)shape.size + 1);
    c->data->err = arena_alloc(r->arena, (size_t)shape.size * sizeof(double) + 1);
    return true;
}

// Definitions without `otherwise` first; both in the order of the source.
static void sort_definitions(Run *r, Cells *c)
{
    Definition **sorted = ARENA_ARRAY(r->arena, Definition *, c->definitions.n + 1);
    int n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < c->definitions.n; k++)
            if (c->definitions.at[k]->equation->otherwise == (pass == 1))
                sorted[n++] = c->definitions.at[k];
    c->definitions.at = sorted;
    c->definitions.cap = n;
}

bool run_lower(Run *r, RefTensor *const *inputs)
{
    const Kernel *k = r->kernel;
    int64_t room = r->max_elements;
    if (!ref_where_holds(k, r->dims))
        return refuse(r, REF_WHERE, NULL, "the dimensions do not satisfy the kernel's assumptions");
    r->cells = ARENA_ARRAY(r->arena, Cells, k->tensors.n);
    for (int i = 0; i < k->tensors.n; i++) {
        const Tensor *t = k->tensors.at[i];
        RefTensor *input = NULL;
        for (int p = 0; p < k->params.n; p++)
            if (k->params.at[p].tensor == t)
                input = inputs[p];
        if (!lower_tensor(r, t, input, &room))
            return false;
    }
    for (int i = 0; i < k->tensors.n; i++)
        border_values(r, &r->cells[i]);
    for (int i = 0; i < k->tensors.n; i++)
        if (k->tensors.at[i]->init)
            r->cells[i].init = &r->cells[k->tensors.at[i]->init->id];
    for (int i = 0; i < k->equations.n; i++)
        lower_equation(r, k->equations.at[i]);
    for (int i = 0; i < k->tensors.n; i++)
        sort_definitions(r, &r->cells[i]);
    return true;
}
