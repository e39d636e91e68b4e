// Boxes of elements in the text of a program of bundles (see ir/print.h): sums of induction variables, spans, operands.
//
// Test: tests/unit/test_ir_bundles.c
#include "ir/read_tree.h"

#include "ir/print_tree.h"

#include <string.h>

bool irread_is_call(const Tree *x, const char *name, int nargs)
{
    return x->kind == TREE_CALL && !x->body && x->conds.n == 0 && strcmp(x->text, name) == 0 && (nargs < 0 || x->args.n == nargs);
}

static Expr *value(IrProgramReader *p, const Tree *x)
{
    return irread_expr(&p->t->r, x);
}

int irread_count(IrProgramReader *p, const Tree *x, int64_t low, int64_t high)
{
    int64_t n = irread_number(p->t, x->args.at[0]);
    if (n >= low && n <= high)
        return (int)n;
    irread_fail(&p->t->r, x->range, "%s is a number from %lld to %lld", x->text, (long long)low, (long long)high);
    return (int)low;
}

// ---- induction variables --------------------------------------------------------------------------------------------------

// The digit of a name (the innermost one), or of a number. -1: reported.
static int find_digit(IrProgramReader *p, const Tree *x)
{
    for (int i = p->open.n - 1; i >= 0; i--) {
        const BundleLoop *l = &p->p->loops.at[p->open.at[i]];
        for (int d = 0; d < l->ndigits; d++) {
            int digit = l->iv - FIRST_DIGIT + d;
            if (x->kind == TREE_NAME ? strcmp(l->digit[d], x->text) == 0 : x->kind == TREE_INT && x->ival == (uint64_t)digit)
                return digit;
        }
    }
    irread_fail(&p->t->r, x->range, "no loop around this has such a digit");
    return -1;
}

static int find_coordinate(IrProgramReader *p, const Tree *x)
{
    for (int q = 0; q < p->grid->ndims; q++)
        if (x->kind == TREE_NAME ? strcmp(p->grid->dims[q].name, x->text) == 0 : x->kind == TREE_INT && x->ival == (uint64_t)q)
            return q;
    irread_fail(&p->t->r, x->range, "the grid has no such dimension");
    return -1;
}

static bool is_variable(const Tree *x)
{
    return !x->parens && (irread_is_call(x, "task", 1) || irread_is_call(x, "block", 1));
}

static bool is_term(const Tree *x)
{
    return is_variable(x) || (x->kind == TREE_BINARY && x->op == TOP_MUL && !x->parens && is_variable(x->args.at[0]));
}

static void read_term(IrProgramReader *p, const Tree *x, Affine *to)
{
    const Tree *name = x->kind == TREE_BINARY ? x->args.at[0] : x;
    bool task = strcmp(name->text, "task") == 0;
    int v = task ? find_coordinate(p, name->args.at[0]) : find_digit(p, name->args.at[0]);
    if (v < 0)
        return;
    v += task ? 0 : FIRST_DIGIT;
    if (to->step[v])
        irread_fail(&p->t->r, x->range, "a sum has each variable once");
    to->step[v] = x->kind == TREE_BINARY ? value(p, x->args.at[1]) : expr_int(p->t->r.arena, DT_INDEX, 1, x->range);
}

// base + task(i) * step + block(k) * step
static Affine read_affine(IrProgramReader *p, const Tree *x)
{
    Affine a = { .base = NULL };
    for (; x->kind == TREE_BINARY && x->op == TOP_ADD && !x->parens && is_term(x->args.at[1]); x = x->args.at[0])
        read_term(p, x->args.at[1], &a);
    if (is_term(x))
        read_term(p, x, &a);
    else
        a.base = value(p, x);
    if (a.base && expr_is_int(a.base, 0))
        a.base = NULL;
    return a;
}

When irread_when(IrProgramReader *p, int n, Tree *const *args)
{
    When w = { 0, 0 };
    for (int i = 0; i < n; i++) {
        const Tree *x = args[i];
        bool first = irread_is_call(x, "first", -1);
        if (!first && !irread_is_call(x, "last", -1)) {
            irread_fail(&p->t->r, x->range, "a condition is first(digits) or last(digits)");
            continue;
        }
        for (int k = 0; k < x->args.n; k++) {
            int d = find_digit(p, x->args.at[k]);
            if (d >= 0)
                *(first ? &w.first : &w.last) |= 1u << d;
        }
    }
    return w;
}

// ---- spans and operands -----------------------------------------------------------------------------------------------------

bool irread_span(IrProgramReader *p, int n, Tree *const *args, Span *span, int *rest)
{
    *span = (Span){ .size = NULL };
    *rest = 2;
    if (n < 2)
        return false;
    span->start = read_affine(p, args[0]);
    span->size = value(p, args[1]);
    if (n > 2 && irread_is_call(args[2], "cut", 2)) {
        span->lo = value(p, args[2]->args.at[0]);
        span->hi = value(p, args[2]->args.at[1]);
        *rest = 3;
    }
    return true;
}

static bool read_border(IrProgramReader *p, const Tree *x, BoxDim *d)
{
    for (int kind = BORDER_ZERO; kind <= BORDER_CONST; kind++)
        if (irread_is_call(x, irtree_border((BorderKind)kind), 1)) {
            d->border = (BorderKind)kind;
            d->length = value(p, x->args.at[0]);
            return true;
        }
    return false;
}

// along(start, stride, 0, 2 * 3): see print_bundles.c
static void read_along(IrProgramReader *p, const Tree *x, Along *along)
{
    along->start = read_affine(p, x->args.at[0]);
    along->stride = value(p, x->args.at[1]);
    for (int i = 2; i < x->args.n; i++) {
        const Tree *a = x->args.at[i];
        bool times = a->kind == TREE_BINARY && a->op == TOP_MUL;
        int64_t k = irread_number(p->t, times ? a->args.at[0] : a), steps = times ? irread_number(p->t, a->args.at[1]) : 1;
        if (k < 0 || k >= MAX_BOX || steps < INT8_MIN || steps > INT8_MAX)
            irread_fail(&p->t->r, a->range, "along(start, stride, ...) has dimensions of the operand, and in what steps they go along the tensor's");
        else
            along->steps[k] = (int)steps;
    }
}

static void read_dim(IrProgramReader *p, const Tree *x, BoxDim *d)
{
    static const char *const axes[] = { [AXIS_NONE] = "", [AXIS_M] = "m", [AXIS_N] = "n", [AXIS_K] = "k" };
    int rest;
    *d = (BoxDim){ .axis = AXIS_NONE };
    if (!irread_span(p, x->args.n, x->args.at, &d->at, &rest))
        irread_fail(&p->t->r, x->range, "a dimension has a start and a size: dim(start, size, ...)");
    for (int i = rest; i < x->args.n; i++) {
        const Tree *a = x->args.at[i];
        int axis = a->kind == TREE_NAME ? irread_position(a->text, 4, axes) : -1;
        if (axis > AXIS_NONE)
            d->axis = (BoxAxis)axis;
        else if (irread_is_call(a, "stride", 1))
            d->stride = value(p, a->args.at[0]);
        else if (irread_is_call(a, "length", 1))
            d->length = value(p, a->args.at[0]);
        else if (!read_border(p, a, d))
            irread_fail(&p->t->r, a->range, "a dimension has cut(lo, hi), stride(bytes), m, n or k, and a border such as clamp(length)");
    }
}

static Buffer *find_buffer(const IrProgramReader *p, const char *name)
{
    for (int i = 0; i < p->p->buffers.n; i++)
        if (strcmp(p->p->buffers.at[i]->name, name) == 0)
            return p->p->buffers.at[i];
    return NULL;
}

// `read x_L1: ...`: a buffer; `read x on DDR: ...`: a tensor.
static bool find_place(IrProgramReader *p, const TreeStmt *s, Operand *o)
{
    const TreeName *name = &s->names.at[0];
    if (!s->label.word) {
        o->buffer = find_buffer(p, name->name);
        o->tensor = o->buffer ? o->buffer->tensor : NULL;
        if (!o->buffer)
            irread_fail(&p->t->r, name->range, "'%s' is no buffer", name->name);
        return o->buffer;
    }
    const BundleTarget *target = p->t->target;
    if (target->nmemories > 0 && strcmp(s->label.word, target->memory[0]) != 0)
        irread_fail(&p->t->r, s->range, "tensors lie in the first memory of the machine, %s", target->memory[0]);
    o->tensor = irread_tensor(&p->t->r, name->name);
    if (!o->tensor)
        irread_fail(&p->t->r, name->range, "'%s' is no tensor", name->name);
    return o->tensor;
}

void irread_operand(IrProgramReader *p, const TreeStmt *s, Operand *o)
{
    *o = (Operand){ .rank = 0 };
    if (!find_place(p, s, o))
        return;
    for (int i = 0; i < s->subs.n; i++) {
        const Tree *x = s->subs.at[i];
        if (irread_is_call(x, "dim", -1) && o->rank < MAX_BOX)
            read_dim(p, x, &o->dim[o->rank++]);
        else if (irread_is_call(x, "along", -1) && x->args.n >= 2 && o->nalong < MAX_BOX)
            read_along(p, x, &o->along[o->nalong++]);
        else if (irread_is_call(x, "at", 1))
            o->address = read_affine(p, x->args.at[0]);
        else if (irread_is_call(x, "digits", 1))
            o->digits = irread_count(p, x, 0, MAX_DIGITS);
        else if (o->buffer && irread_is_call(x, "of", 1) && x->args.at[0]->kind == TREE_NAME && irread_tensor(&p->t->r, x->args.at[0]->text))
            o->tensor = irread_tensor(&p->t->r, x->args.at[0]->text);
        else
            irread_fail(&p->t->r, x->range, "an operand has at(bytes), digits(n), of(tensor) and at most %d times dim(start, size, ...) and along(start, stride, ...)", MAX_BOX);
    }
}
