// The verifier of the task level: see verify.h. Walks a kernel once and stops at the first broken rule. It proves
// nothing about domains (that is passes/prove.c); what it checks is that every pass may take the structure for granted.
//
// Test: tests/unit/test_ir_text.c
#include "ir/verify.h"

#include "ir/verify_tree.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#define uthash_fatal(message) arena_oom_handler()
#include <uthash.h>

typedef struct IrSeen { const char *name; UT_hash_handle hh; } Seen;

bool irverify_bad(Verifier *v, const char *fmt, ...) {
    if (!v->why)
        return false;
    va_list ap;
    va_start(ap, fmt);
    fprintf(v->why, "kernel `%s`, %s: ", v->kernel->name, v->place);
    vfprintf(v->why, fmt, ap);
    putc('\n', v->why);
    va_end(ap);
    return false;
}

// ---- what belongs to the kernel ----

bool irverify_owns(const Kernel *k, const Tensor *t) {
    return t && t->id >= 0 && t->id < k->tensors.n && k->tensors.at[t->id] == t;
}

static bool owns_dim(const Kernel *k, const Dim *d) {
    return d && d->id >= 0 && d->id < k->dims.n && k->dims.at[d->id] == d;
}

bool irverify_in_scope(const Verifier *v, const Index *index) {
    for (int i = 0; i < v->scope.n; i++)
        if (v->scope.at[i] == index)
            return true;
    return false;
}

// ---- expressions ----

static bool is_type(DType t) {
    return t >= 0 && t < DT_COUNT;
}

static bool constant(Verifier *v, const Expr *e) {
    if (dtype_is_float(e->type)) {
        bool holds = isnan(e->f) || fold_round_float(e->type, e->f) == e->f;
        return holds || irverify_bad(v, "a constant %g that %s cannot hold", e->f, dtype_name(e->type));
    }
    bool holds = e->type == DT_BOOL ? e->i == 0 || e->i == 1 : e->type == DT_U64 || fold_wrap_int(e->type, e->i) == e->i;
    return holds || irverify_bad(v, "a constant %lld that %s cannot hold", (long long)e->i, dtype_name(e->type));
}

static bool read_element(Verifier *v, const Expr *e) {
    if (v->plain)
        return irverify_bad(v, "a read in a range, a shape or a condition of a domain");
    if (!irverify_owns(v->kernel, e->tensor))
        return irverify_bad(v, "a read of a tensor that is not the kernel's");
    if (e->n != e->tensor->rank)
        return irverify_bad(v, "%d subscripts for `%s` of rank %d", e->n, e->tensor->name, e->tensor->rank);
    if (e->type != e->tensor->type)
        return irverify_bad(v, "a read of `%s` has type %s", e->tensor->name, dtype_name(e->type));
    for (int i = 0; i < e->n; i++)
        if (!dtype_is_int(e->args[i]->type))
            return irverify_bad(v, "a subscript of `%s` has type %s", e->tensor->name, dtype_name(e->args[i]->type));
    return true;
}

static bool leaf(Verifier *v, const Expr *e) {
    if (e->op == OP_CONST)
        return constant(v, e);
    if (e->op == OP_READ)
        return read_element(v, e);
    if (e->type != DT_INDEX)
        return irverify_bad(v, "an index or a dim has type %s", dtype_name(e->type));
    if (e->op == OP_INDEX)
        return irverify_in_scope(v, e->index) || irverify_bad(v, "index `%s` is used where it is not bound", e->index ? e->index->name : "?");
    return owns_dim(v->kernel, e->dim) || irverify_bad(v, "a dim that is not the kernel's");
}

static bool same_types(Verifier *v, const Expr *e, int first, DType type) {
    for (int i = first; i < e->n; i++)
        if (e->args[i]->type != type)
            return irverify_bad(v, "%s of %s has an argument of type %s", op_name(e->op), dtype_name(type), dtype_name(e->args[i]->type));
    return true;
}

// A number and an index have no type in common.
static bool comparable(Verifier *v, const Expr *e, DType type) {
    if (expr_is_mixed(e))
        return (type != DT_BOOL && e->args[1]->type != DT_BOOL) || irverify_bad(v, "%s of a bool and an index", op_name(e->op));
    return same_types(v, e, 0, type);
}

static bool has_type(Verifier *v, const Expr *e, DType type) {
    return e->type == type || irverify_bad(v, "%s has type %s where its arguments give %s", op_name(e->op), dtype_name(e->type), dtype_name(type));
}

static bool suits(Verifier *v, const Expr *e, bool suited) {
    return suited || irverify_bad(v, "%s of type %s", op_name(e->op), dtype_name(e->args[0]->type));
}

// Types of everything that is no leaf and no nest.
static bool operation(Verifier *v, const Expr *e) {
    DType type = e->args[0]->type;
    bool order = e->op == OP_MIN || e->op == OP_MAX;
    switch (op_class(e->op)) {
    case OPC_ARITH:
        return same_types(v, e, 0, type) && has_type(v, e, type) && suits(v, e, order || type != DT_BOOL);
    case OPC_COMPARE:
        return comparable(v, e, type) && has_type(v, e, DT_BOOL) && suits(v, e, e->n == 2 || dtype_is_float(type));
    case OPC_LOGIC:
        return same_types(v, e, 0, DT_BOOL) && has_type(v, e, DT_BOOL);
    case OPC_MATH:
        return same_types(v, e, 0, type) && has_type(v, e, type) && suits(v, e, dtype_is_float(type));
    case OPC_BITS:
        return same_types(v, e, 0, type) && has_type(v, e, type) && suits(v, e, !dtype_is_float(type));
    case OPC_FAULT:
        if (e->op == OP_CHECK && type != DT_I32)
            return irverify_bad(v, "a fault of type %s", dtype_name(type));
        return has_type(v, e, e->args[e->n - 1]->type);
    case OPC_OTHER:
        if (e->op == OP_CONVERT)
            return true;
        return (type == DT_BOOL || irverify_bad(v, "a select by a value of type %s", dtype_name(type))) && same_types(v, e, 1, e->type);
    case OPC_LEAF: case OPC_NEST:
        break;
    }
    return true;
}

// ---- indices and nests ----

bool irverify_index(Verifier *v, const Expr *e, const char *what) {
    bool was = v->plain;
    v->plain = true;
    bool good = (e || irverify_bad(v, "no %s", what)) && irverify_expr(v, e) && (e->type == DT_INDEX || irverify_bad(v, "%s of type %s", what, dtype_name(e->type)));
    v->plain = was;
    return good;
}

// Brings an index into scope.
static bool bind(Verifier *v, const Index *index) {
    if (!index || !index->name)
        return irverify_bad(v, "an index without a name");
    if (!irverify_index(v, index->lo, "lower bound") || !irverify_index(v, index->hi, "upper bound"))
        return false;
    for (int i = 0; i < v->scope.n; i++)
        if (v->scope.at[i] == index || strcmp(v->scope.at[i]->name, index->name) == 0)
            return irverify_bad(v, "two indices `%s`", index->name);
    Seen *s = NULL;
    HASH_FIND_STR(v->objects, index->name, s);
    if (s)
        return irverify_bad(v, "index `%s` hides a dim or a tensor", index->name);
    VEC_PUSH(v->arena, &v->scope, index);
    return true;
}

static bool conditions(Verifier *v, int n, Expr *const *conds, bool plain) {
    bool was = v->plain;
    v->plain = plain || was;
    for (int i = 0; i < n; i++)
        if (!irverify_expr(v, conds[i]) || (conds[i]->type != DT_BOOL && !irverify_bad(v, "a condition of type %s", dtype_name(conds[i]->type))))
            return false;
    v->plain = was;
    return true;
}

static bool is_arg(ReduceOp op) {
    return op == RED_ARGMAX || op == RED_ARGMIN;
}

// The parts of a nest but for its body; its indices stay in scope.
static bool nest(Verifier *v, const Nest *n, bool scan) {
    if (!n)
        return irverify_bad(v, "a nest is missing");
    if (scan && (n->indices.n || !n->along || n->op == RED_MEAN || is_arg(n->op)))
        return irverify_bad(v, "a scan has one index of its equation and an associative operator");
    if (scan && !irverify_in_scope(v, n->along))
        return irverify_bad(v, "a scan along `%s`, which is not bound", n->along->name);
    if (!scan && (!n->indices.n || n->along || n->exclusive))
        return irverify_bad(v, "a reduction has indices of its own, and nothing of a scan");
    for (int i = 0; i < n->indices.n; i++)
        if (!bind(v, n->indices.at[i]))
            return false;
    return conditions(v, n->conds.n, n->conds.at, false);
}

static bool body_type(Verifier *v, const Nest *n, DType type) {
    bool truth = n->op == RED_ANY || n->op == RED_ALL;
    return truth == (type == DT_BOOL) || irverify_bad(v, "`%s` of a body of type %s", reduce_name(n->op), dtype_name(type));
}

static bool nest_expr(Verifier *v, const Expr *e) {
    if (v->plain || v->normal)
        return irverify_bad(v, v->plain ? "a reduction in a range, a shape or a condition of a domain" : "a reduction inside an expression after normalize");
    int depth = v->scope.n;
    if (!nest(v, e->nest, e->op == OP_SCAN) || !irverify_expr(v, e->args[0]))
        return false;
    v->scope.n = depth;
    DType type = e->args[0]->type;
    if (is_arg(e->nest->op))
        return dtype_is_int(e->type) || irverify_bad(v, "`%s` has type %s", reduce_name(e->nest->op), dtype_name(e->type));
    return has_type(v, e, type) && body_type(v, e->nest, type);
}

bool irverify_expr(Verifier *v, const Expr *e) {
    if (!e)
        return irverify_bad(v, "an expression is missing");
    if ((int)e->op < 0 || e->op >= OP_COUNT || !is_type(e->type))
        return irverify_bad(v, "an expression without an operation or a type");
    if (op_arity(e->op) >= 0 && e->n != op_arity(e->op))
        return irverify_bad(v, "%s with %d arguments", op_name(e->op), e->n);
    if (op_class(e->op) == OPC_NEST)
        return nest_expr(v, e);
    for (int i = 0; i < e->n; i++)
        if (!irverify_expr(v, e->args[i]))
            return false;
    return op_class(e->op) == OPC_LEAF ? leaf(v, e) : operation(v, e);
}

// ---- the kernel ----

static bool unique(Verifier *v, Seen **seen, const char *name) {
    Seen *s = NULL;
    if (!name)
        return irverify_bad(v, "no name");
    HASH_FIND_STR(*seen, name, s);
    if (s)
        return irverify_bad(v, "the name `%s` is used twice", name);
    s = ARENA_NEW(v->arena, Seen);
    s->name = name;
    HASH_ADD_KEYPTR(hh, *seen, s->name, strlen(s->name), s);
    return true;
}

static bool names(Verifier *v) {
    Seen *equations = NULL;
    bool good = true;
    v->place = "names";
    for (int i = 0; good && i < v->kernel->dims.n; i++)
        good = unique(v, &v->objects, v->kernel->dims.at[i]->name);
    for (int i = 0; good && i < v->kernel->tensors.n; i++)
        good = unique(v, &v->objects, v->kernel->tensors.at[i]->name);
    for (int i = 0; good && i < v->kernel->equations.n; i++)
        good = unique(v, &equations, v->kernel->equations.at[i]->name);
    HASH_CLEAR(hh, equations);
    return good;
}

static int times_param(const Kernel *k, const Tensor *t, const Dim *d) {
    int n = 0;
    for (int i = 0; i < k->params.n; i++)
        n += (t && k->params.at[i].tensor == t) || (d && k->params.at[i].dim == d);
    return n;
}

static int times_output(const Kernel *k, const Tensor *t) {
    int n = 0;
    for (int i = 0; i < k->outputs.n; i++)
        n += k->outputs.at[i] == t;
    return n;
}

static bool dim(Verifier *v, int id) {
    const Dim *d = v->kernel->dims.at[id];
    v->place = arena_printf(v->arena, "dim `%s`", d->name);
    if (d->id != id)
        return irverify_bad(v, "its id is %d at position %d", d->id, id);
    if (!d->tensor)
        return times_param(v->kernel, NULL, d) == 1 || irverify_bad(v, "it is bound by nothing");
    if (!irverify_owns(v->kernel, d->tensor) || d->tensor->kind != TENSOR_INPUT || d->axis < 0 || d->axis >= d->tensor->rank)
        return irverify_bad(v, "it is bound by no dimension of an input");
    const Expr *lo = d->tensor->lo[d->axis], *hi = d->tensor->hi[d->axis];
    bool plain = hi && hi->op == OP_DIM && hi->dim == d && lo && expr_is_int(lo, 0);
    return plain || irverify_bad(v, "the extent that binds it is not the dim itself");
}

static bool border(Verifier *v, const Tensor *t, const Border *b) {
    if ((b->kind == BORDER_CONST) != (b->value != NULL))
        return irverify_bad(v, "a border with a value that it cannot have, or without one");
    if (!b->value)
        return true;
    const Expr *x = b->value->op == OP_CONVERT ? b->value->args[0] : b->value;
    bool scalar = x->op == OP_READ && x->tensor && x->tensor->kind == TENSOR_INPUT && x->tensor->rank == 0 && dtype_widens(x->type, t->type);
    bool number = x->op == OP_DIM && x != b->value && t->type != DT_BOOL;
    bool good = b->value->type == t->type && (b->value->op == OP_CONST || scalar || number);
    return irverify_expr(v, b->value) && (good || irverify_bad(v, "a border that is no constant or scalar parameter of the tensor's type"));
}

static bool initial(Verifier *v, const Tensor *t) {
    if (!t->init)
        return true;
    const Tensor *from = t->init;
    if (t->kind != TENSOR_OUTPUT || !irverify_owns(v->kernel, from) || from->kind != TENSOR_INPUT)
        return irverify_bad(v, "only an output starts from an input");
    return (from->rank == t->rank && from->type == t->type) || irverify_bad(v, "it starts from `%s` of another type or rank", from->name);
}

static bool tensor(Verifier *v, int id) {
    const Tensor *t = v->kernel->tensors.at[id];
    v->place = arena_printf(v->arena, "tensor `%s`", t->name);
    if (t->id != id)
        return irverify_bad(v, "its id is %d at position %d", t->id, id);
    if (!is_type(t->type) || t->type == DT_INDEX || t->rank < 0)
        return irverify_bad(v, "no element type or rank");
    if (times_param(v->kernel, t, NULL) != (t->kind == TENSOR_INPUT) || times_output(v->kernel, t) != (t->kind == TENSOR_OUTPUT))
        return irverify_bad(v, "inputs stand once among the parameters, outputs once among the outputs, others nowhere");
    if (!t->declared && t->kind != TENSOR_LOCAL)
        return irverify_bad(v, "only a local may be undeclared");
    if (t->rank && !t->border)
        return irverify_bad(v, "no borders");
    for (int i = 0; i < t->rank; i++)
        if (!irverify_index(v, t->lo[i], "extent") || !irverify_index(v, t->hi[i], "extent") || !border(v, t, &t->border[i]))
            return false;
    return initial(v, t);
}

static bool param(Verifier *v, int i) {
    const Param *p = &v->kernel->params.at[i];
    v->place = arena_printf(v->arena, "parameter %d", i);
    if ((p->tensor != NULL) == (p->dim != NULL))
        return irverify_bad(v, "it is a tensor or a dim");
    if (p->tensor)
        return (irverify_owns(v->kernel, p->tensor) && p->tensor->kind == TENSOR_INPUT) || irverify_bad(v, "it is no input of the kernel");
    return (owns_dim(v->kernel, p->dim) && !p->dim->tensor) || irverify_bad(v, "it is no dim of the kernel, or one that an input binds");
}

// The indices come into scope.
static bool domain(Verifier *v, int nindices, Index *const *indices, int nconds, Expr *const *conds) {
    v->scope.n = 0;
    for (int i = 0; i < nindices; i++)
        if (!bind(v, indices[i]))
            return false;
    return conditions(v, nconds, conds, true);
}

static bool left_side(Verifier *v, const Equation *e) {
    if (!irverify_owns(v->kernel, e->lhs) || e->lhs->kind == TENSOR_INPUT)
        return irverify_bad(v, "its left side is an input or not the kernel's");
    for (int i = 0; i < e->lhs->rank; i++)
        if (!irverify_index(v, e->subs[i], "left subscript"))
            return false;
    return true;
}

static bool right_side(Verifier *v, const Equation *e) {
    if (e->kind == EQ_MAP && e->nest)
        return irverify_bad(v, "a map with a nest");
    if (e->kind != EQ_MAP && !nest(v, e->nest, e->kind == EQ_SCAN))
        return false;
    if (e->kind != EQ_MAP && (e->nest->op == RED_MEAN || is_arg(e->nest->op) || e->nest->exclusive))
        return irverify_bad(v, "`%s` is gone after normalize", e->nest->exclusive ? "exclusive" : reduce_name(e->nest->op));
    if (!irverify_expr(v, e->rhs))
        return false;
    if (e->rhs->type != e->lhs->type)
        return irverify_bad(v, "a right side of type %s for `%s` of type %s", dtype_name(e->rhs->type), e->lhs->name, dtype_name(e->lhs->type));
    return e->kind == EQ_MAP || body_type(v, e->nest, e->rhs->type);
}

static bool equation(Verifier *v, int id) {
    const Equation *e = v->kernel->equations.at[id];
    v->place = arena_printf(v->arena, "equation `%s`", e->name);
    if (e->id != id)
        return irverify_bad(v, "its id is %d at position %d", e->id, id);
    if (e->origin < -1)
        return irverify_bad(v, "no origin");
    return domain(v, e->indices.n, e->indices.at, e->conds.n, e->conds.at) && left_side(v, e) && right_side(v, e);
}

static bool log_statement(Verifier *v, const Log *l) {
    v->place = "log";
    if (!l->format)
        return irverify_bad(v, "no format");
    if (!domain(v, l->indices.n, l->indices.at, l->conds.n, l->conds.at))
        return false;
    for (int i = 0; i < l->args.n; i++)
        if (!irverify_expr(v, l->args.at[i]))
            return false;
    return log_suits(l) || irverify_bad(v, "its format and its arguments do not fit");
}

static bool is_normal(const Kernel *k) {
    for (int i = 0; i < k->equations.n; i++)
        if (k->equations.at[i]->kind != EQ_MAP)
            return true;
    return false;
}

static bool kernel(Verifier *v) {
    const Kernel *k = v->kernel;
    v->place = "heading";
    if (!k->outputs.n)
        return irverify_bad(v, "no output");
    bool good = names(v);
    for (int i = 0; good && i < k->dims.n; i++)
        good = dim(v, i);
    for (int i = 0; good && i < k->tensors.n; i++)
        good = tensor(v, i);
    for (int i = 0; good && i < k->params.n; i++)
        good = param(v, i);
    v->place = "assumptions";
    good = good && conditions(v, k->where.n, k->where.at, true);
    for (int i = 0; good && i < k->equations.n; i++)
        good = equation(v, i);
    v->normal = false;               // logs keep their reductions
    for (int i = 0; good && i < k->logs.n; i++)
        good = log_statement(v, k->logs.at[i]);
    return good;
}

bool ir_verify_task(const Kernel *k, FILE *why) {
    Verifier v = {.kernel = k, .why = why, .arena = arena_new(), .place = "heading", .normal = is_normal(k)};
    bool good = kernel(&v);
    HASH_CLEAR(hh, v.objects);
    arena_free(v.arena);
    return good;
}
