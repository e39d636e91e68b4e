// From the tree of a textual kernel (see ir/print.h) to the kernel. Types come from the leaves up: literals,
// tensors, indices and conversions say theirs, an operation has that of its arguments. What does not fit is left to
// ir/verify.c, which has the last word here. After an error a constant stands in, so that reading goes on.
//
// Test: tests/unit/test_ir_text.c
#include "base/buffer.h"
#include "ir/read.h"

#include "base/buffer.h"
#include "ir/read_tree.h"
#include "ir/verify.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#define uthash_fatal(message) arena_oom_handler()
#include <uthash.h>

typedef struct IrName {
    const char *name;
    Dim *dim;                 // one of the two
    Tensor *tensor;
    UT_hash_handle hh;
} Name;

Expr *irread_fail(IrReader *r, Range range, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    diag_report(r->diags, D_IR, range, "%s", arena_vprintf(r->arena, fmt, ap));
    va_end(ap);
    r->failed = true;
    return expr_int(r->arena, DT_INDEX, 0, range);
}

// ---- names ----

static Name *find(const IrReader *r, const char *name) {
    Name *n;
    HASH_FIND_STR(r->names, name, n);
    return n;
}

static Name *define(IrReader *r, const char *name, Range range) {
    if (find(r, name))
        irread_fail(r, range, "'%s' is defined twice", name);
    Name *n = ARENA_NEW(r->arena, Name);
    n->name = name;
    HASH_ADD_KEYPTR(hh, r->names, name, strlen(name), n);
    return n;
}

static Index *find_index(const IrReader *r, const char *name) {
    for (int i = r->scope.n - 1; i >= 0; i--)
        if (strcmp(r->scope.at[i]->name, name) == 0)
            return r->scope.at[i];
    return NULL;
}

Index *irread_bind(IrReader *r, const char *name, Range range) {
    Index *index = ARENA_NEW(r->arena, Index);
    *index = (Index){.name = name, .range = range};
    VEC_PUSH(r->arena, &r->scope, index);
    return index;
}

static Expr *find_value(const IrReader *r, const char *name) {
    for (int i = 0; i < r->values.n; i++)
        if (strcmp(r->values.at[i].name, name) == 0)
            return r->values.at[i].is;
    return NULL;
}

void irread_value(IrReader *r, const char *name, Range range, Expr *is) {
    if (find(r, name) || find_index(r, name) || find_value(r, name))
        irread_fail(r, range, "'%s' is defined twice", name);
    VEC_PUSH(r->arena, &r->values, ((IrValue){name, is}));
}

Tensor *irread_tensor(const IrReader *r, const char *name) {
    const Name *n = find(r, name);
    return n ? n->tensor : NULL;
}

// Any type; `index` too.
static bool parse_type(const char *name, DType *type) {
    *type = DT_INDEX;
    return strcmp(name, dtype_name(DT_INDEX)) == 0 || dtype_parse(name, type);
}

// ---- literals ----

static bool is_special(const Tree *t) {
    return t->kind == TREE_NAME && (strcmp(t->text, "inf") == 0 || strcmp(t->text, "nan") == 0);
}

// A number, `inf` or `nan`, maybe behind a minus, without brackets.
static bool is_literal(const Tree *t) {
    if (t->kind == TREE_UNARY && t->op == TOP_NEG && !t->parens)
        t = t->args.at[0];
    return !t->parens && (t->kind == TREE_INT || t->kind == TREE_FLOAT || is_special(t));
}

static Expr *read_integer(IrReader *r, DType type, const Tree *t, bool negative, Range range) {
    uint64_t most = negative ? (uint64_t)1 << 63 : type == DT_U64 ? UINT64_MAX : INT64_MAX;
    if (t->kind != TREE_INT || t->overflow || t->ival > most)
        return irread_fail(r, range, "no literal of type %s", dtype_name(type));
    return expr_int(r->arena, type, (int64_t)(negative ? 0 - t->ival : t->ival), range);
}

static Expr *read_literal(IrReader *r, DType type, const Tree *t) {
    Range range = t->range;
    bool negative = t->kind == TREE_UNARY;
    if (negative)
        t = t->args.at[0];
    if (!dtype_is_float(type))
        return read_integer(r, type, t, negative, range);
    if (t->kind == TREE_INT)
        return irread_fail(r, range, "a literal of type %s has a point or an exponent", dtype_name(type));
    double x = t->kind == TREE_FLOAT ? t->fval : strtod(t->text, NULL);
    return expr_float(r->arena, type, negative ? -x : x, range);
}

// ---- expressions ----

static Expr *read_name(IrReader *r, const Tree *t) {
    Index *index = find_index(r, t->text);
    if (index)
        return expr_index(r->arena, index, t->range);
    Expr *value = find_value(r, t->text);
    if (value)
        return value;
    Name *n = find(r, t->text);
    if (!n) {
        irread_bind(r, t->text, t->range);          // reported once
        return irread_fail(r, t->range, "nothing defines '%s'", t->text);
    }
    if (n->dim)
        return expr_dim(r->arena, n->dim, t->range);
    Expr *e = expr_new(r->arena, OP_READ, n->tensor->type, t->range, 0, NULL);
    e->tensor = n->tensor;
    return e;
}

Expr **irread_exprs(IrReader *r, const TreeList *list) {
    Expr **args = ARENA_ARRAY(r->arena, Expr *, list->n + 1);
    for (int i = 0; i < list->n; i++)
        args[i] = irread_expr(r, list->at[i]);
    return args;
}

// `edge(i - 1)` as a subscript: it can leave the tensor; `edge(i - 1, empty)`: which can be empty.
static const Tree *inside_edge(IrReader *r, const Tree *t, unsigned *outside) {
    *outside = 0;
    if (t->kind != TREE_CALL || t->body || strcmp(t->text, "edge") != 0)
        return t;
    const Tree *word = t->args.n == 2 ? t->args.at[1] : NULL;
    if (t->args.n < 1 || t->args.n > 2 || strcmp(r->level, "task") == 0 || (word && (word->kind != TREE_NAME || strcmp(word->text, "empty") != 0))) {
        irread_fail(r, t->range, "a subscript that can leave its tensor is edge(e) or edge(e, empty), from the tile level on");
        return t;
    }
    *outside = 1u | (word ? EXPR_EMPTY_BORDER : 0);
    return t->args.at[0];
}

static Expr *read_element(IrReader *r, const Tree *t) {
    Name *n = find(r, t->text);
    if (!n || !n->tensor)
        return irread_fail(r, t->range, "'%s' is no tensor", t->text);
    Expr **args = ARENA_ARRAY(r->arena, Expr *, t->args.n + 1);
    unsigned outside = 0;
    for (int i = 0; i < t->args.n; i++) {
        unsigned edge;
        args[i] = irread_expr(r, inside_edge(r, t->args.at[i], &edge));
        outside |= i < n->tensor->rank ? edge << i : 0;
    }
    Expr *e = expr_new(r->arena, OP_READ, n->tensor->type, t->range, t->args.n, args);
    e->tensor = n->tensor;
    e->outside = outside;
    return e;
}

static DType result_type(Op op, Expr *const *args) {
    switch (op_class(op)) {
    case OPC_COMPARE: case OPC_LOGIC:
        return DT_BOOL;
    case OPC_FAULT:
        return args[op_arity(op) - 1]->type;
    case OPC_OTHER:
        return args[op == OP_SELECT ? 1 : 0]->type;
    case OPC_ARITH: case OPC_MATH: case OPC_BITS: case OPC_LEAF: case OPC_NEST:
        return args[0]->type;
    }
    return args[0]->type;
}

static Expr *apply(IrReader *r, Op op, const Tree *t) {
    if (t->args.n != op_arity(op))
        return irread_fail(r, t->range, "'%s' has %d arguments", op_name(op), op_arity(op));
    Expr **args = irread_exprs(r, &t->args);
    return expr_new(r->arena, op, result_type(op, args), t->range, t->args.n, args);
}

static Op op_of_sign(TreeOp sign) {
    static const Op ops[] = {
        [TOP_ADD] = OP_ADD, [TOP_SUB] = OP_SUB, [TOP_MUL] = OP_MUL, [TOP_DIV] = OP_DIV, [TOP_REM] = OP_REM,
        [TOP_EQ] = OP_EQ,   [TOP_NE] = OP_NE,   [TOP_LT] = OP_LT,   [TOP_LE] = OP_LE,   [TOP_GT] = OP_GT,
        [TOP_GE] = OP_GE,   [TOP_AND] = OP_AND, [TOP_OR] = OP_OR,   [TOP_NEG] = OP_NEG, [TOP_NOT] = OP_NOT,
    };
    return ops[sign];
}

// A function by its name; operators have no name here.
static bool op_of_name(const char *name, Op *op) {
    for (int i = 0; i < OP_COUNT; i++) {
        OpClass class = op_class((Op)i);
        bool function = class == OPC_ARITH || class == OPC_COMPARE || class == OPC_MATH || class == OPC_BITS || class == OPC_FAULT;
        if (function && strcmp(op_name((Op)i), name) == 0) {
            *op = (Op)i;
            return true;
        }
    }
    return false;
}

// ---- indices, reductions, scans ----

bool irread_bounds(IrReader *r, const Tree *t, Expr **lo, Expr **hi) {
    if (t->kind != TREE_RANGE || t->closed) {
        irread_fail(r, t->range, "a range is lo..hi");
        return false;
    }
    *lo = irread_expr(r, t->args.at[0]);
    *hi = irread_expr(r, t->args.at[1]);
    return true;
}

// `i in lo..hi`: a new index, visible from here on. NULL after an error.
static Index *read_index(IrReader *r, const Tree *t) {
    Expr *lo, *hi;
    if (t->kind != TREE_IN || t->args.at[0]->kind != TREE_NAME) {
        irread_fail(r, t->range, "an index has its range: i in lo..hi");
        return NULL;
    }
    if (!irread_bounds(r, t->args.at[1], &lo, &hi))
        return NULL;
    Index *index = irread_bind(r, t->args.at[0]->text, t->args.at[0]->range);
    index->lo = lo;
    index->hi = hi;
    return index;
}

bool irread_reduction(const char *name, ReduceOp *op, DType *type) {
    *type = DT_I64;
    for (int i = RED_SUM; i <= RED_ARGMIN; i++) {
        const char *known = reduce_name((ReduceOp)i);
        size_t n = strlen(known);
        *op = (ReduceOp)i;
        if (strcmp(name, known) == 0 || (i >= RED_ARGMAX && strncmp(name, known, n) == 0 && name[n] == '.' && dtype_parse(name + n + 1, type)))
            return true;
    }
    return false;
}

static bool read_scan_operator(IrReader *r, const Tree *t, ReduceOp *op) {
    DType type;
    if (t->kind == TREE_OPERATOR)
        *op = t->op == TOP_ADD ? RED_SUM : t->op == TOP_MUL ? RED_PROD : t->op == TOP_OR ? RED_ANY : RED_ALL;
    else if (t->kind != TREE_NAME || !irread_reduction(t->text, op, &type) || (*op != RED_MAX && *op != RED_MIN))
        irread_fail(r, t->range, "a scan's operator is + * min max && or ||");
    return !r->failed;
}

// scan(op, index, exclusive, reverse)
static void read_scan(IrReader *r, const Tree *t, Nest *nest) {
    if (t->args.n < 2 || t->args.at[1]->kind != TREE_NAME || !(nest->along = find_index(r, t->args.at[1]->text))) {
        irread_fail(r, t->range, "a scan has an operator and an index: scan(+, i)");
        return;
    }
    read_scan_operator(r, t->args.at[0], &nest->op);
    for (int i = 2; i < t->args.n; i++) {
        const Tree *word = t->args.at[i];
        bool exclusive = word->kind == TREE_NAME && strcmp(word->text, "exclusive") == 0;
        bool reverse = word->kind == TREE_NAME && strcmp(word->text, "reverse") == 0;
        nest->exclusive = nest->exclusive || exclusive;
        nest->reverse = nest->reverse || reverse;
        if (!exclusive && !reverse)
            irread_fail(r, word->range, "neither 'exclusive' nor 'reverse'");
    }
}

// A nest with its body in *body and the type of the arg forms in *arg_type; its indices stay in scope.
static Nest *read_nest(IrReader *r, const Tree *t, Expr **body, DType *arg_type) {
    Nest *nest = ARENA_NEW(r->arena, Nest);
    bool scan = strcmp(t->text, "scan") == 0;
    if (scan)
        read_scan(r, t, nest);
    else if (!irread_reduction(t->text, &nest->op, arg_type))
        irread_fail(r, t->name_range, "'%s' is no reduction", t->text);
    for (int i = 0; !scan && i < t->args.n; i++) {
        Index *index = read_index(r, t->args.at[i]);
        if (index)
            VEC_PUSH(r->arena, &nest->indices, index);
    }
    for (int i = 0; i < t->conds.n; i++)
        VEC_PUSH(r->arena, &nest->conds, irread_expr(r, t->conds.at[i]));
    *body = irread_expr(r, t->body);
    return nest;
}

static Expr *read_reduction(IrReader *r, const Tree *t) {
    int depth = r->scope.n;
    Expr *body;
    DType type = DT_I64;
    Nest *nest = read_nest(r, t, &body, &type);
    r->scope.n = depth;
    if (nest->op != RED_ARGMAX && nest->op != RED_ARGMIN)
        type = body->type;
    Expr *e = expr_new(r->arena, strcmp(t->text, "scan") == 0 ? OP_SCAN : OP_REDUCE, type, t->range, 1, &body);
    e->nest = nest;
    return e;
}

static Expr *read_call(IrReader *r, const Tree *t) {
    DType type;
    Op op;
    if (t->body)
        return read_reduction(r, t);
    if (parse_type(t->text, &type)) {
        if (t->args.n != 1)
            return irread_fail(r, t->range, "a conversion has one argument");
        if (is_literal(t->args.at[0]))
            return read_literal(r, type, t->args.at[0]);
        Expr *x = irread_expr(r, t->args.at[0]);
        return expr_new(r->arena, OP_CONVERT, type, t->range, 1, &x);
    }
    if (!op_of_name(t->text, &op))
        return irread_fail(r, t->name_range, "'%s' is no operation", t->text);
    return apply(r, op, t);
}

Expr *irread_expr(IrReader *r, const Tree *t) {
    switch (t->kind) {
    case TREE_INT:
        return read_literal(r, DT_INDEX, t);
    case TREE_NAME:
        return read_name(r, t);
    case TREE_INDEX:
        return read_element(r, t);
    case TREE_CALL:
        return read_call(r, t);
    case TREE_UNARY:
        if (t->op == TOP_NEG && t->args.at[0]->kind == TREE_INT && !t->args.at[0]->parens)
            return read_integer(r, DT_INDEX, t->args.at[0], true, t->range);
        return apply(r, op_of_sign(t->op), t);
    case TREE_BINARY:
        return apply(r, op_of_sign(t->op), t);
    case TREE_IF:
        return apply(r, OP_SELECT, t);
    case TREE_FLOAT:
        return irread_fail(r, t->range, "a literal without its type");
    case TREE_STRING: case TREE_ALL: case TREE_RANGE: case TREE_GROUP: case TREE_IN: case TREE_NAMED: case TREE_OPERATOR: case TREE_OTHERWISE:
        break;
    }
    return irread_fail(r, t->range, "no expression of textual IR");
}

// ---- dims and tensors ----

static bool is_statement(const TreeStmt *s, const char *keyword) {
    return s->label.keyword && strcmp(s->label.keyword, keyword) == 0;
}

// Dims come first: shapes use them. Their tensors are set when those are known.
static void read_dims(IrReader *r, const TreeKernel *t) {
    for (int i = 0; i < t->stmts.n; i++) {
        const TreeStmt *s = t->stmts.at[i];
        if (!is_statement(s, "dim"))
            continue;
        Dim *d = ARENA_NEW(r->arena, Dim);
        *d = (Dim){.id = r->kernel->dims.n, .name = s->names.at[0].name, .range = s->names.at[0].range};
        define(r, d->name, d->range)->dim = d;
        VEC_PUSH(r->arena, &r->kernel->dims, d);
    }
}

// `dim N: x[0];` or, for an `int` parameter, `dim T: int;`
static void bind_dims(IrReader *r, const TreeKernel *t) {
    for (int i = 0; i < t->stmts.n; i++) {
        const TreeStmt *s = t->stmts.at[i];
        if (!is_statement(s, "dim") || (!s->type.has_dims && strcmp(s->type.name, "int") == 0))
            continue;
        const Name *n = find(r, s->names.at[0].name), *tensor = find(r, s->type.name);
        const Tree *axis = s->type.dims.n == 1 ? s->type.dims.at[0].extent : NULL;
        if (!tensor || !tensor->tensor || !axis || axis->kind != TREE_INT || axis->ival >= (uint64_t)tensor->tensor->rank) {
            irread_fail(r, s->type.range, "a dim is bound by a dimension of an input, x[0], or by a parameter, int");
            continue;
        }
        n->dim->tensor = tensor->tensor;
        n->dim->axis = (int)axis->ival;
    }
}

static Border read_border(IrReader *r, const TreeBorder *t) {
    static const struct { const char *name; BorderKind kind; } kinds[] = {
        {.name = "zero", .kind = BORDER_ZERO}, {.name = "clamp", .kind = BORDER_CLAMP}, {.name = "reflect", .kind = BORDER_REFLECT},
        {.name = "wrap", .kind = BORDER_WRAP}, {.name = "const", .kind = BORDER_CONST},
    };
    Border b = {.kind = BORDER_NONE, .range = t->range};
    if (!t->kind)
        return b;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(t->kind, kinds[i].name) == 0)
            b.kind = kinds[i].kind;
    if (b.kind == BORDER_NONE || (b.kind == BORDER_CONST) != (t->value != NULL))
        irread_fail(r, t->range, "no border");
    return b;
}

// Values of borders may be parameters, which come later in the text.
static void read_border_values(IrReader *r) {
    for (int i = 0; i < r->borders.n; i++)
        r->borders.at[i].border->value = irread_expr(r, r->borders.at[i].value);
}

static void read_dimension(IrReader *r, const TreeDim *t, Expr **lo, Expr **hi, Border *border) {
    *lo = *hi = expr_int(r->arena, DT_INDEX, 0, t->extent->range);
    if (t->extent->kind == TREE_RANGE)
        irread_bounds(r, t->extent, lo, hi);
    else
        *hi = irread_expr(r, t->extent);
    *border = read_border(r, &t->border);
    IrPendingBorder pending = {.border = border, .value = t->border.value};
    if (pending.value)
        VEC_PUSH(r->arena, &r->borders, pending);
}

static Tensor *read_tensor(IrReader *r, const char *name, Range range, const TreeType *type, TensorKind kind) {
    Tensor *t = ARENA_NEW(r->arena, Tensor);
    int rank = type->dims.n;
    *t = (Tensor){.id = r->kernel->tensors.n, .name = name, .range = range, .kind = kind, .declared = true, .rank = rank};
    if (!dtype_parse(type->name, &t->type))
        irread_fail(r, type->range, "'%s' is no type of a tensor", type->name);
    t->lo = ARENA_ARRAY(r->arena, Expr *, rank + 1);
    t->hi = ARENA_ARRAY(r->arena, Expr *, rank + 1);
    t->border = ARENA_ARRAY(r->arena, Border, rank + 1);
    for (int i = 0; i < rank; i++)
        read_dimension(r, &type->dims.at[i], &t->lo[i], &t->hi[i], &t->border[i]);
    if (type->border.kind)
        irread_fail(r, type->border.range, "a border belongs to a dimension here");
    define(r, name, range)->tensor = t;
    VEC_PUSH(r->arena, &r->kernel->tensors, t);
    return t;
}

static void read_inputs(IrReader *r, const TreeKernel *t) {
    for (int i = 0; i < t->inputs.n; i++) {
        const TreeParam *p = &t->inputs.at[i];
        Param param = {.tensor = NULL};
        if (strcmp(p->type.name, "int") == 0) {
            Name *n = find(r, p->name);
            param.dim = n ? n->dim : NULL;
            if (!param.dim)
                irread_fail(r, p->range, "an int parameter is a dim: dim %s: int;", p->name);
        } else {
            param.tensor = read_tensor(r, p->name, p->range, &p->type, TENSOR_INPUT);
        }
        VEC_PUSH(r->arena, &r->kernel->params, param);
    }
}

static void read_outputs(IrReader *r, const TreeKernel *t) {
    for (int i = 0; i < t->outputs.n; i++) {
        const TreeParam *p = &t->outputs.at[i];
        Tensor *o = read_tensor(r, p->name, p->range, &p->type, TENSOR_OUTPUT);
        VEC_PUSH(r->arena, &r->kernel->outputs, o);
        Name *init = p->init ? find(r, p->init) : NULL;
        o->init = init ? init->tensor : NULL;
        if (p->init && !o->init)
            irread_fail(r, p->init_range, "'%s' is no tensor", p->init);
    }
}

static void read_locals(IrReader *r, const TreeKernel *t) {
    for (int i = 0; i < t->stmts.n; i++) {
        const TreeStmt *s = t->stmts.at[i];
        if (!is_statement(s, "tensor"))
            continue;
        bool hidden = strcmp(s->label.word, "hidden") == 0, inferred = strcmp(s->label.word, "inferred") == 0;
        if (!hidden && !inferred && strcmp(s->label.word, "local") != 0)
            irread_fail(r, s->label.range, "a tensor is local, inferred or hidden");
        Tensor *tensor = read_tensor(r, s->names.at[0].name, s->names.at[0].range, &s->type, hidden ? TENSOR_HIDDEN : TENSOR_LOCAL);
        tensor->declared = !inferred;
    }
}

// ---- equations and logs ----

// The indices at the front of a `where` come into scope; *rest is where they end.
static void read_indices(IrReader *r, const TreeList *conds, int *rest) {
    for (*rest = 0; *rest < conds->n && conds->at[*rest]->kind == TREE_IN; (*rest)++)
        read_index(r, conds->at[*rest]);
}

static void read_kind(IrReader *r, Equation *e, const TreeStmt *s) {
    static const char *const kinds[] = {[EQ_MAP] = "map", [EQ_REDUCE] = "reduce", [EQ_SCAN] = "scan"};
    for (int i = EQ_MAP; i <= EQ_SCAN; i++)
        if (strcmp(s->label.word, kinds[i]) == 0) {
            e->kind = (EqKind)i;
            return;
        }
    irread_fail(r, s->label.range, "an equation is a map, a reduce or a scan");
}

static void read_right_side(IrReader *r, Equation *e, const TreeStmt *s) {
    if (e->kind == EQ_MAP) {
        e->rhs = irread_expr(r, s->expr);
        return;
    }
    bool nest = s->expr->kind == TREE_CALL && s->expr->body;
    if (!nest || (strcmp(s->expr->text, "scan") == 0) != (e->kind == EQ_SCAN)) {
        irread_fail(r, s->expr->range, "the right side is no %s", e->kind == EQ_SCAN ? "scan" : "reduction");
        return;
    }
    DType type;
    e->nest = read_nest(r, s->expr, &e->rhs, &type);
}

static void read_left_side(IrReader *r, Equation *e, const TreeStmt *s) {
    Name *n = find(r, s->names.at[0].name);
    e->lhs = n ? n->tensor : NULL;
    if (!e->lhs || s->names.n != 1 || s->view || s->subs.n != e->lhs->rank)
        irread_fail(r, e->lhs_range, "a left side is one tensor with a subscript a dimension");
    e->subs = irread_exprs(r, &s->subs);
}

static void read_equation(IrReader *r, const TreeStmt *s) {
    Equation *e = ARENA_NEW(r->arena, Equation);
    *e = (Equation){.id = r->kernel->equations.n, .name = s->label.name, .range = s->range, .lhs_range = s->names.at[0].range, .origin = s->label.origin};
    int rest;
    r->scope.n = 0;
    read_indices(r, &s->conds, &rest);
    for (int i = 0; i < r->scope.n; i++)
        VEC_PUSH(r->arena, &e->indices, r->scope.at[i]);
    for (; rest < s->conds.n && s->conds.at[rest]->kind != TREE_OTHERWISE; rest++)
        VEC_PUSH(r->arena, &e->conds, irread_expr(r, s->conds.at[rest]));
    e->otherwise = rest < s->conds.n;
    if (s->conds.n - rest > 1)
        irread_fail(r, s->range, "`otherwise` comes last");
    read_kind(r, e, s);
    read_left_side(r, e, s);
    read_right_side(r, e, s);
    VEC_PUSH(r->arena, &r->kernel->equations, e);
}

static void read_log(IrReader *r, const TreeStmt *s) {
    const TreeList *args = &s->expr->args;
    if (strcmp(s->expr->text, "log") != 0 || args->n == 0 || args->at[0]->kind != TREE_STRING) {
        irread_fail(r, s->range, "neither dim, tensor, equation nor log(\"...\")");
        return;
    }
    Log *l = ARENA_NEW(r->arena, Log);
    *l = (Log){.range = s->range, .format = args->at[0]->text};
    int rest;
    r->scope.n = 0;
    read_indices(r, &s->conds, &rest);
    for (int i = 0; i < r->scope.n; i++)
        VEC_PUSH(r->arena, &l->indices, r->scope.at[i]);
    for (; rest < s->conds.n; rest++)
        VEC_PUSH(r->arena, &l->conds, irread_expr(r, s->conds.at[rest]));
    for (int i = 1; i < args->n; i++)
        VEC_PUSH(r->arena, &l->args, irread_expr(r, args->at[i]));
    VEC_PUSH(r->arena, &r->kernel->logs, l);
}

bool irread_is_tile(const TreeStmt *s) {
    return s->kind == STMT_NODE || (s->kind == STMT_EQUATION && s->label.keyword && !is_statement(s, "equation"));
}

static void read_stmts(IrReader *r, const TreeKernel *t) {
    for (int i = 0; i < t->stmts.n; i++) {
        const TreeStmt *s = t->stmts.at[i];
        if (is_statement(s, "equation"))
            read_equation(r, s);
        else if (s->kind == STMT_CALL)
            read_log(r, s);
        else if (!s->label.keyword || (irread_is_tile(s) && strcmp(r->level, "task") == 0))
            irread_fail(r, s->range, "a statement starts with dim, tensor, equation or log");
    }
}

// ---- kernels ----

void irread_kernel(IrReader *r, const TreeFile *f, const TreeKernel *t) {
    const char *level = r->level;
    r->kernel = ARENA_NEW(r->arena, Kernel);
    *r->kernel = (Kernel){.arena = r->arena, .name = t->name, .range = t->name_range};
    if (!f->level || strcmp(f->level, level) != 0)
        irread_fail(r, t->name_range, "textual IR of the %s level starts with 'ir %s;'", level, level);
    if (t->generics.n)
        irread_fail(r, t->name_range, "textual IR has no generics");
    read_dims(r, t);
    read_inputs(r, t);
    read_outputs(r, t);
    read_locals(r, t);
    read_border_values(r);
    bind_dims(r, t);
    for (int i = 0; i < t->where.n; i++)
        VEC_PUSH(r->arena, &r->kernel->where, irread_expr(r, t->where.at[i]));
    read_stmts(r, t);
    for (int i = 0; i < f->schedules.n; i++)
        if (strcmp(f->schedules.at[i]->kernel, t->name) == 0)
            VEC_PUSH(r->arena, &r->kernel->schedules, f->schedules.at[i]);
}

void irread_verify(IrReader *r, bool (*verify)(const void *object, FILE *why), const void *object) {
    if (r->failed)
        return;
    TextBuffer b;
    buffer_open(&b);
    bool good = verify(object, b.stream);
    const char *why = buffer_take(r->arena, &b);
    if (!good)
        irread_fail(r, r->kernel->range, "%.*s", (int)strcspn(why, "\n"), why);
}

void irread_end(IrReader *r) {
    HASH_CLEAR(hh, r->names);
}

static bool verify_task(const void *kernel, FILE *why) {
    return ir_verify_task(kernel, why);
}

Kernel *ir_read_task(Arena *a, Diags *d, const TreeFile *f, const TreeKernel *t) {
    IrReader r = {.arena = a, .diags = d, .level = "task"};
    irread_kernel(&r, f, t);
    irread_verify(&r, verify_task, r.kernel);
    irread_end(&r);
    return r.failed ? NULL : r.kernel;
}
