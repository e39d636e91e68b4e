// Textual IR of the task level: a kernel becomes a syntax tree in which everything is said, and the printer of trees
// (syntax/print.h) does the rest. ir/print.h shows the form. The tree lives in an arena of its own.
//
// Test: tests/unit/test_ir_text.c
#include "ir/print.h"

#include "ir/print_tree.h"
#include "syntax/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- pieces of a tree ----

Tree *irtree_new(Arena *a, TreeKind kind) {
    Tree *t = ARENA_NEW(a, Tree);
    t->kind = kind;
    return t;
}

Tree *irtree_add(Arena *a, Tree *t, Tree *arg) {
    VEC_PUSH(a, &t->args, arg);
    return t;
}

Tree *irtree_named(Arena *a, TreeKind kind, const char *text) {
    Tree *t = irtree_new(a, kind);
    t->text = text;
    return t;
}

static Tree *unary(Arena *a, TreeOp op, Tree *x) {
    Tree *t = irtree_add(a, irtree_new(a, TREE_UNARY), x);
    t->op = op;
    return t;
}

static Tree *integer(Arena *a, uint64_t value) {
    Tree *t = irtree_new(a, TREE_INT);
    t->ival = value;
    return t;
}

Tree *irtree_range(Arena *a, const Expr *lo, const Expr *hi) {
    return irtree_add(a, irtree_add(a, irtree_new(a, TREE_RANGE), irtree_expr(a, lo)), irtree_expr(a, hi));
}

void irtree_add_exprs(Arena *a, TreeList *list, int n, Expr *const *exprs) {
    for (int i = 0; i < n; i++)
        VEC_PUSH(a, list, irtree_expr(a, exprs[i]));
}

// ---- literals ----

// The shortest decimal that reads back as the same value of the type.
static const char *digits(Arena *a, DType type, double x) {
    const char *text = "";
    for (int precision = 1; precision <= 17; precision++) {
        text = arena_printf(a, "%.*g", precision, x);
        if (fold_round_float(type, strtod(text, NULL)) == x)
            break;
    }
    return strpbrk(text, ".e") ? text : arena_printf(a, "%s.0", text);
}

static Tree *floating(Arena *a, const Expr *e) {
    double x = fabs(e->f);
    if (isfinite(x))
        return irtree_named(a, TREE_FLOAT, digits(a, e->type, x));
    return irtree_named(a, TREE_NAME, isnan(x) ? "nan" : "inf");
}

static Tree *literal(Arena *a, const Expr *e) {
    bool real = dtype_is_float(e->type);
    bool negative = real ? signbit(e->f) != 0 : e->i < 0 && e->type != DT_U64;
    uint64_t bits = negative ? 0 - (uint64_t)e->i : (uint64_t)e->i;
    Tree *t = real ? floating(a, e) : integer(a, bits);
    if (negative)
        t = unary(a, TOP_NEG, t);
    return e->type == DT_INDEX ? t : irtree_add(a, irtree_named(a, TREE_CALL, dtype_name(e->type)), t);
}

// Whether a tree as the argument of a conversion would be taken for a literal.
static bool looks_literal(const Tree *t) {
    if (t->kind == TREE_UNARY && t->op == TOP_NEG)
        t = t->args.at[0];
    return !t->parens && (t->kind == TREE_INT || t->kind == TREE_FLOAT ||
                          (t->kind == TREE_NAME && (strcmp(t->text, "inf") == 0 || strcmp(t->text, "nan") == 0)));
}

static Tree *in_brackets_if(Tree *t, bool brackets) {
    t->parens = t->parens || brackets;
    return t;
}

// ---- expressions ----

// The sign of an operation that has one.
static bool operator_of(Op op, TreeOp *sign) {
    static const struct { Op op; TreeOp sign; } signs[] = {
        {.op = OP_ADD, .sign = TOP_ADD}, {.op = OP_SUB, .sign = TOP_SUB}, {.op = OP_MUL, .sign = TOP_MUL}, {.op = OP_DIV, .sign = TOP_DIV},
        {.op = OP_REM, .sign = TOP_REM}, {.op = OP_EQ, .sign = TOP_EQ},   {.op = OP_NE, .sign = TOP_NE},   {.op = OP_LT, .sign = TOP_LT},
        {.op = OP_LE, .sign = TOP_LE},   {.op = OP_GT, .sign = TOP_GT},   {.op = OP_GE, .sign = TOP_GE},   {.op = OP_AND, .sign = TOP_AND},
        {.op = OP_OR, .sign = TOP_OR},   {.op = OP_NEG, .sign = TOP_NEG}, {.op = OP_NOT, .sign = TOP_NOT},
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (signs[i].op == op) {
            *sign = signs[i].sign;
            return true;
        }
    return false;
}

static Tree *with_args(Arena *a, Tree *t, const Expr *e) {
    irtree_add_exprs(a, &t->args, e->n, e->args);
    return t;
}

// A bare integer behind a minus would be read as a literal.
static Tree *operation(Arena *a, const Expr *e, TreeOp sign) {
    Tree *t = with_args(a, irtree_new(a, e->n == 1 ? TREE_UNARY : TREE_BINARY), e);
    t->op = sign;
    if (sign == TOP_NEG)
        in_brackets_if(t->args.at[0], t->args.at[0]->kind == TREE_INT);
    return t;
}

static Tree *conversion(Arena *a, const Expr *e) {
    Tree *x = irtree_expr(a, e->args[0]);
    return irtree_add(a, irtree_named(a, TREE_CALL, dtype_name(e->type)), in_brackets_if(x, looks_literal(x)));
}

static Tree *scan_operator(Arena *a, ReduceOp op) {
    if (op == RED_MAX || op == RED_MIN)
        return irtree_named(a, TREE_NAME, reduce_name(op));
    Tree *t = irtree_new(a, TREE_OPERATOR);
    t->op = op == RED_SUM ? TOP_ADD : op == RED_PROD ? TOP_MUL : op == RED_ANY ? TOP_OR : TOP_AND;
    return t;
}

static Tree *in_range(Arena *a, const Index *index) {
    return irtree_add(a, irtree_add(a, irtree_new(a, TREE_IN), irtree_named(a, TREE_NAME, index->name)), irtree_range(a, index->lo, index->hi));
}

// "argmax.i32": the arg forms say their type, unless it is i64.
static const char *reduction_name(Arena *a, const Nest *nest, DType type) {
    bool says = (nest->op == RED_ARGMAX || nest->op == RED_ARGMIN) && type != DT_I64;
    return says ? arena_printf(a, "%s.%s", reduce_name(nest->op), dtype_name(type)) : reduce_name(nest->op);
}

static Tree *from_nest(Arena *a, const Nest *nest, bool scan, DType type, const Expr *body) {
    Tree *t = irtree_named(a, TREE_CALL, scan ? "scan" : reduction_name(a, nest, type));
    if (scan) {
        irtree_add(a, irtree_add(a, t, scan_operator(a, nest->op)), irtree_named(a, TREE_NAME, nest->along->name));
        if (nest->exclusive)
            irtree_add(a, t, irtree_named(a, TREE_NAME, "exclusive"));
        if (nest->reverse)
            irtree_add(a, t, irtree_named(a, TREE_NAME, "reverse"));
    }
    for (int i = 0; i < nest->indices.n; i++)
        irtree_add(a, t, in_range(a, nest->indices.at[i]));
    irtree_add_exprs(a, &t->conds, nest->conds.n, nest->conds.at);
    t->body = irtree_expr(a, body);
    return t;
}

Tree *irtree_expr(Arena *a, const Expr *e) {
    TreeOp sign;
    if (operator_of(e->op, &sign))
        return operation(a, e, sign);
    if (e->op == OP_CONST)
        return literal(a, e);
    if (e->op == OP_INDEX)
        return irtree_named(a, TREE_NAME, e->index->name);
    if (e->op == OP_DIM)
        return irtree_named(a, TREE_NAME, e->dim->name);
    if (e->op == OP_READ)
        return with_args(a, irtree_named(a, e->n ? TREE_INDEX : TREE_NAME, e->tensor->name), e);
    if (e->op == OP_CONVERT)
        return conversion(a, e);
    if (e->op == OP_SELECT)
        return with_args(a, irtree_new(a, TREE_IF), e);
    if (e->op == OP_REDUCE || e->op == OP_SCAN)
        return from_nest(a, e->nest, e->op == OP_SCAN, e->type, e->args[0]);
    return with_args(a, irtree_named(a, TREE_CALL, op_name(e->op)), e);
}

// ---- kernels ----

const char *irtree_border(BorderKind kind) {
    switch (kind) {
    case BORDER_NONE: return NULL;
    case BORDER_ZERO: return "zero";
    case BORDER_CLAMP: return "clamp";
    case BORDER_REFLECT: return "reflect";
    case BORDER_WRAP: return "wrap";
    case BORDER_CONST: return "const";
    }
    return NULL;
}

static TreeType tensor_type(Arena *a, const Tensor *t) {
    TreeType type = {.name = dtype_name(t->type), .has_dims = t->rank > 0};
    for (int i = 0; i < t->rank; i++) {
        const Border *b = &t->border[i];
        TreeDim dim = {
            .extent = expr_is_int(t->lo[i], 0) ? irtree_expr(a, t->hi[i]) : irtree_range(a, t->lo[i], t->hi[i]),
            .border = {.kind = irtree_border(b->kind), .value = b->kind == BORDER_CONST ? irtree_expr(a, b->value) : NULL},
        };
        VEC_PUSH(a, &type.dims, dim);
    }
    return type;
}

static void add_params(Arena *a, TreeKernel *t, const Kernel *k) {
    for (int i = 0; i < k->params.n; i++) {
        const Tensor *tensor = k->params.at[i].tensor;
        TreeParam p = {.name = tensor ? tensor->name : k->params.at[i].dim->name, .type = {.name = "int"}};
        if (tensor)
            p.type = tensor_type(a, tensor);
        VEC_PUSH(a, &t->inputs, p);
    }
    for (int i = 0; i < k->outputs.n; i++) {
        const Tensor *o = k->outputs.at[i];
        TreeParam p = {.name = o->name, .type = tensor_type(a, o), .init = o->init ? o->init->name : NULL};
        VEC_PUSH(a, &t->outputs, p);
    }
}

TreeStmt *irtree_stmt(Arena *a, TreeStmts *to, StmtKind kind, const char *keyword, const char *name) {
    TreeStmt *s = ARENA_NEW(a, TreeStmt);
    s->kind = kind;
    s->label.keyword = keyword;
    if (name)
        VEC_PUSH(a, &s->names, (TreeName){.name = name});
    VEC_PUSH(a, to, s);
    return s;
}

static void add_dims(Arena *a, TreeKernel *t, const Kernel *k) {
    for (int i = 0; i < k->dims.n; i++) {
        const Dim *d = k->dims.at[i];
        TreeType *type = &irtree_stmt(a, &t->stmts, STMT_DECL, "dim", d->name)->type;
        *type = (TreeType){.name = d->tensor ? d->tensor->name : "int", .has_dims = d->tensor != NULL};
        if (d->tensor)
            VEC_PUSH(a, &type->dims, (TreeDim){.extent = integer(a, (uint64_t)d->axis)});
    }
}

static void add_tensors(Arena *a, TreeKernel *t, const Kernel *k) {
    for (int i = 0; i < k->tensors.n; i++) {
        const Tensor *tensor = k->tensors.at[i];
        if (tensor->kind == TENSOR_INPUT || tensor->kind == TENSOR_OUTPUT)
            continue;
        TreeStmt *s = irtree_stmt(a, &t->stmts, STMT_DECL, "tensor", tensor->name);
        s->label.word = tensor->kind == TENSOR_HIDDEN ? "hidden" : tensor->declared ? "local" : "inferred";
        s->type = tensor_type(a, tensor);
    }
}

static void add_domain(Arena *a, TreeList *list, int nindices, Index *const *indices, int nconds, Expr *const *conds) {
    for (int i = 0; i < nindices; i++)
        VEC_PUSH(a, list, in_range(a, indices[i]));
    irtree_add_exprs(a, list, nconds, conds);
}

static const char *kind_name(EqKind kind) {
    switch (kind) {
    case EQ_MAP: return "map";
    case EQ_REDUCE: return "reduce";
    case EQ_SCAN: return "scan";
    }
    return "?";
}

static void add_equations(Arena *a, TreeKernel *t, const Kernel *k) {
    for (int i = 0; i < k->equations.n; i++) {
        const Equation *e = k->equations.at[i];
        TreeStmt *s = irtree_stmt(a, &t->stmts, STMT_EQUATION, "equation", e->lhs->name);
        s->label.name = e->name;
        s->label.word = kind_name(e->kind);
        s->label.origin = e->origin;
        s->has_subs = e->lhs->rank > 0;
        irtree_add_exprs(a, &s->subs, e->lhs->rank, e->subs);
        s->expr = e->kind == EQ_MAP ? irtree_expr(a, e->rhs) : from_nest(a, e->nest, e->kind == EQ_SCAN, DT_I64, e->rhs);
        add_domain(a, &s->conds, e->indices.n, e->indices.at, e->conds.n, e->conds.at);
        if (e->otherwise)
            VEC_PUSH(a, &s->conds, irtree_new(a, TREE_OTHERWISE));
    }
}

static void add_logs(Arena *a, TreeKernel *t, const Kernel *k) {
    for (int i = 0; i < k->logs.n; i++) {
        const Log *l = k->logs.at[i];
        TreeStmt *s = irtree_stmt(a, &t->stmts, STMT_CALL, NULL, "log");
        s->expr = irtree_add(a, irtree_named(a, TREE_CALL, "log"), irtree_named(a, TREE_STRING, l->format));
        irtree_add_exprs(a, &s->expr->args, l->args.n, l->args.at);
        add_domain(a, &s->conds, l->indices.n, l->indices.at, l->conds.n, l->conds.at);
    }
}

TreeKernel *irtree_kernel(Arena *a, const Kernel *k) {
    TreeKernel *t = ARENA_NEW(a, TreeKernel);
    t->name = k->name;
    add_params(a, t, k);
    irtree_add_exprs(a, &t->where, k->where.n, k->where.at);
    add_dims(a, t, k);
    add_tensors(a, t, k);
    add_equations(a, t, k);
    add_logs(a, t, k);
    return t;
}

// A schedule may name its kernel by a longer path; in IR it names the kernel as printed.
void irtree_add_schedules(Arena *a, TreeFile *file, const Kernel *k) {
    for (int i = 0; i < k->schedules.n; i++) {
        TreeSchedule *t = ARENA_NEW(a, TreeSchedule);
        *t = *k->schedules.at[i];
        t->kernel = k->name;
        VEC_PUSH(a, &file->schedules, t);
    }
}

void ir_print_tasks(FILE *out, int n, Kernel *const *kernels) {
    Arena *a = arena_new();
    TreeFile file = {.level = "task"};
    for (int i = 0; i < n; i++) {
        VEC_PUSH(a, &file.kernels, irtree_kernel(a, kernels[i]));
        irtree_add_schedules(a, &file, kernels[i]);
    }
    tree_print(out, &file);
    arena_free(a);
}

void ir_print_task(FILE *out, const Kernel *k) {
    Kernel *one = (Kernel *)k;
    ir_print_tasks(out, 1, &one);
}
