// bundles: what a kernel is on a machine of bundles: tables, the functions that carry out operations on values, and the launch.
//
// Everything is constant data of ptort/model.h. A number that is no literal is a value of the launch: the expression goes
// into a list, the table refers to its position. An expression over a box becomes a function of loops over the box, its
// tensors found through the operands; the task of a scalar unit is the function of the grid's body, in which every element
// of memory that it reads or writes is told to the model. Test: tests/golden/model
#include "emit/c.h"

#include "base/buffer.h"
#include "ptort/half.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    Emit *e;
    FILE *out;
    const char *tag;              // of the program: the number of the grid, then `s` where it is the scalar unit's
    int number;                   // of the grid
    const BundleProgram *p;
    Values values;
    VEC(const Equation *) sites;
    const int *of;                // by tensor: the number that it goes by
} Tables;

// ---- tensors ----------------------------------------------------------------------------------------------------------

bool c_is_modelled(const Emit *e)
{
    return e->o->machine->emits_bundles;
}

const char *c_machine(Emit *e)
{
    return arena_printf(e->a, "ptoc_%s_machine", c_identifier(e->a, e->o->machine->name));
}

bool c_is_stored(const Emit *e, const Tensor *t)
{
    StorageKind kind = e->t->storage[t->id].kind;
    return kind == STORE_WORKSPACE || (kind == STORE_PARAM && (t->rank > 0 || t->kind == TENSOR_OUTPUT));
}

int c_position(const Emit *e, const Tensor *t)
{
    int n = 0;
    for (int i = 0; i < t->id; i++)
        n += c_is_stored(e, e->k->tensors.at[i]);
    return n;
}

// ---- numbers ------------------------------------------------------------------------------------------------------------

static const char *value(Tables *t, const Expr *x)
{
    int k = 0;
    while (k < t->values.n && !expr_equal(t->values.at[k], x))
        k++;
    if (k == t->values.n)
        VEC_PUSH(t->e->a, &t->values, x);
    return arena_printf(t->e->a, "PTO_VALUE(%d)", k);
}

static const char *number(Tables *t, const Expr *x)
{
    return !x ? "0" : x->op == OP_CONST ? arena_printf(t->e->a, "%lld", (long long)x->i) : value(t, x);
}

static const char *affine(Tables *t, const Affine *x)
{
    const char *text = arena_printf(t->e->a, "{ .base = %s", number(t, x->base)), *steps = "";
    for (int v = 0; v < MAX_IVS; v++)
        if (x->step[v] && !expr_is_int(x->step[v], 0))
            steps = arena_printf(t->e->a, "%s%s[%d] = %s", steps, *steps ? ", " : "", v, number(t, x->step[v]));
    return *steps ? arena_printf(t->e->a, "%s, .step = { %s } }", text, steps) : arena_printf(t->e->a, "%s }", text);
}

static const char *span(Tables *t, const Span *x)
{
    const char *text = arena_printf(t->e->a, "{ .start = %s, .size = %s", affine(t, &x->start), number(t, x->size));
    if (x->hi)
        text = arena_printf(t->e->a, "%s, .lo = %s, .hi = %s", text, number(t, x->lo), expr_is_int(x->hi, 0) ? value(t, x->hi) : number(t, x->hi));
    return arena_printf(t->e->a, "%s }", text);
}

static const char *when(Tables *t, When w)
{
    return w.first || w.last ? arena_printf(t->e->a, "{ %#x, %#x, 0 }", w.first, w.last) : "{ 0, 0, 0 }";
}

// ---- operands -----------------------------------------------------------------------------------------------------------

static void emit_dim(Tables *t, const BoxDim *d)
{
    static const char *const axes[] = { "PTO_AXIS_NONE", "PTO_AXIS_M", "PTO_AXIS_N", "PTO_AXIS_K" };
    static const char *const borders[] = { "PTO_BORDER_NONE", "PTO_BORDER_ZERO", "PTO_BORDER_CLAMP", "PTO_BORDER_REFLECT", "PTO_BORDER_WRAP", "PTO_BORDER_CONST" };
    fprintf(t->out, "            { .at = %s, .stride = %s", span(t, &d->at), number(t, d->stride));
    if (d->axis != AXIS_NONE)
        fprintf(t->out, ", .axis = %s", axes[d->axis]);
    if (d->border != BORDER_NONE)
        fprintf(t->out, ", .border = %s, .length = %s", borders[d->border], number(t, d->length));
    fprintf(t->out, " },\n");
}

// An element as it is stored, in the low bits.
static uint64_t element_bits(DType type, const Expr *x)
{
    if (dtype_is_float(type))
        return type == DT_F64 ? pto_bits_of_f64(x->f) : type == DT_F32 ? pto_bits_of_f32((float)x->f) : type == DT_F16 ? pto_f64_to_f16(x->f) : pto_f64_to_bf16(x->f);
    int bits = 8 * dtype_bytes(type);
    return bits < 64 ? (uint64_t)x->i & ((UINT64_C(1) << bits) - 1) : (uint64_t)x->i;
}

// The value of its constant borders; NULL: there is none.
static const Expr *fill_of(const Operand *o)
{
    for (int d = 0; d < o->rank; d++)
        if (o->dim[d].border == BORDER_CONST)
            return o->tensor->border[d].value;
    return NULL;
}

// Its bits as a number of the table; those that would be taken for the position of a value become one, as a parameter does.
static const char *fill_number(Tables *t, const Expr *x)
{
    uint64_t bits = x->op == OP_CONST ? element_bits(x->type, x) : UINT64_MAX;
    return bits > INT64_MAX ? value(t, x) : arena_printf(t->e->a, "INT64_C(%#" PRIx64 ")", bits);
}

// Of a value in C, as a number of 64 bits.
static const char *bits_of(Emit *e, DType t, const char *value)
{
    if (t == DT_F16 || t == DT_BF16)
        return arena_printf(e->a, "(int64_t)pto_f32_to_%s(%s)", dtype_name(t), value);
    return dtype_is_float(t) ? arena_printf(e->a, "(int64_t)pto_bits_%s(%s)", dtype_name(t), value) : arena_printf(e->a, "(int64_t)(%s)", value);
}

// The same where a launch passes it, from the frame `f`.
static const char *fill_value(Emit *e, const Expr *x)
{
    if (x->op == OP_CONST)
        return arena_printf(e->a, "(int64_t)UINT64_C(%" PRIu64 ")", element_bits(x->type, x));
    const Expr *read = x->op == OP_CONVERT ? x->args[0] : x;
    if (read->op == OP_DIM)
        return bits_of(e, x->type, c_convert(e, DT_INDEX, x->type, name_of_dim(e, read->dim)));
    const char *stored = arena_printf(e->a, "f.%s", e->tensor[read->tensor->id]);
    if (x->op == OP_CONVERT)
        stored = c_convert(e, read->type, x->type, c_load(e, read->tensor, stored));
    bool half = x->type == DT_F16 || x->type == DT_BF16;          // stored as its bits
    return half ? arena_printf(e->a, "(int64_t)%s", stored) : bits_of(e, x->type, stored);
}

// Tensors that are the same element by element go by one number: a value is found under either name.
static const int *numbers_of(Emit *e)
{
    int *of = ARENA_ARRAY(e->a, int, e->k->tensors.n + 1);
    for (int i = 0; i < e->k->tensors.n; i++)
        of[i] = i + 1;
    for (int i = 0; i < e->k->equations.n; i++) {
        const Equation *eq = e->k->equations.at[i];
        bool same = eq->kind == EQ_MAP && eq->rhs->op == OP_READ && eq->rhs->tensor->rank == eq->lhs->rank;
        for (int d = 0; same && d < eq->lhs->rank; d++)
            same = expr_equal(eq->rhs->args[d], eq->subs[d]);
        int from = same ? of[eq->rhs->tensor->id] : 0, to = of[eq->lhs->id];
        for (int k = 0; same && k < e->k->tensors.n; k++)
            of[k] = of[k] == to ? from : of[k];
    }
    return of;
}

// The dimensions of an operand's tensor, where they are not its own.
static void emit_along(Tables *t, const Operand *o, int i, int q)
{
    fprintf(t->out, "static const pto_along %s[] = {\n", name_own(t->e, "along%s_%d_%d", t->tag, i, q));
    for (int d = 0; d < o->nalong; d++) {
        fprintf(t->out, "    { .start = %s, .stride = %s, .steps = {", affine(t, &o->along[d].start), number(t, o->along[d].stride));
        for (int k = 0; k < MAX_BOX; k++)
            fprintf(t->out, "%s %d", k ? "," : "", o->along[d].steps[k]);
        fprintf(t->out, " } },\n");
    }
    fprintf(t->out, "};\n");
}

static void emit_operand(Tables *t, const Operand *o, int i, int q)
{
    Emit *e = t->e;
    Affine address = o->address;
    if (o->buffer && o->buffer->address)
        address.base = address.base ? expr_simplify(e->a, expr_binary(e->a, OP_ADD, DT_INDEX, o->buffer->address, address.base)) : o->buffer->address;
    int tensor = o->tensor && c_is_stored(e, o->tensor) ? c_position(e, o->tensor) : -1;
    fprintf(t->out, "        { .memory = %d, .tensor = %d, .type = %s, .address = %s", o->buffer ? o->buffer->memory : 0, tensor,
            c_dtype(e->a, o->buffer ? o->buffer->type : o->tensor->type), affine(t, &address));
    if (o->buffer && o->buffer->slots > 1)
        fprintf(t->out, ", .slots = %d, .slot_digits = %d, .slot_bytes = %s", o->buffer->slots, o->digits, number(t, o->buffer->bytes));
    if (fill_of(o))
        fprintf(t->out, ", .fill = %s", fill_number(t, fill_of(o)));
    if (o->tensor)
        fprintf(t->out, ", .of = %d", t->of[o->tensor->id]);
    if (o->nalong)
        fprintf(t->out, ", .nalong = %d, .along = %s", o->nalong, name_own(e, "along%s_%d_%d", t->tag, i, q));
    fprintf(t->out, ", .rank = %d", o->rank);
    if (o->rank) {
        fprintf(t->out, ", .dim = {\n");
        for (int d = 0; d < o->rank; d++)
            emit_dim(t, &o->dim[d]);
        fprintf(t->out, "        }");
    }
    fprintf(t->out, " }, // %s\n", c_comment(e->a, o->buffer ? o->buffer->name : o->tensor->name, 80));
}

static void emit_operands(Tables *t)
{
    for (int i = 0; i < t->p->ops.n; i++) {
        const MoveOp *op = t->p->ops.at[i];
        if (op->noperands == 0)
            continue;
        for (int q = 0; q < op->noperands; q++)
            if (op->operand[q].nalong)
                emit_along(t, &op->operand[q], i, q);
        fprintf(t->out, "static const pto_operand %s[] = {\n", name_own(t->e, "operands%s_%d", t->tag, i));
        for (int q = 0; q < op->noperands; q++)
            emit_operand(t, &op->operand[q], i, q);
        fprintf(t->out, "};\n");
        if (op->rank == 0)
            continue;
        fprintf(t->out, "static const pto_interval %s[] = {\n", name_own(t->e, "box%s_%d", t->tag, i));
        for (int d = 0; d < op->rank; d++)
            fprintf(t->out, "    %s,\n", span(t, &op->box[d]));
        fprintf(t->out, "};\n");
    }
}

// ---- operations -----------------------------------------------------------------------------------------------------------

static const char *const slots[] = { "PTO_CUBE", "PTO_VECTOR", "PTO_LOAD", "PTO_STORE", "PTO_DMA", "PTO_SCALAR" };

static int site_of(Tables *t, const Equation *eq)
{
    for (int i = 0; i < t->sites.n; i++)
        if (t->sites.at[i] == eq)
            return i;
    VEC_PUSH(t->e->a, &t->sites, eq);
    return t->sites.n - 1;
}

// Operands of which each point reads but the element that it writes.
typedef struct { const MoveOp *op; const Node *n; unsigned same; } Same;

static bool check_same(Expr *e, void *data)
{
    Same *s = data;
    for (int q = 1; e->op == OP_READ && q < s->op->noperands; q++) {
        bool same = e->tensor->rank == s->n->tensor->rank;
        for (int d = 0; same && d < e->tensor->rank; d++)
            same = expr_equal(e->args[d], s->n->subs[d]);
        if (s->op->operand[q].tensor == e->tensor && !same)
            s->same &= ~(1u << q);
    }
    return true;
}

static unsigned same_of(const MoveOp *op)
{
    const Node *n = op->node;
    while (n->kind == NODE_LOOP)
        n = n->body.at[0];
    Same s = { op, n, n->op == OPK_MAP ? (1u << op->noperands) - 2 : 0 };
    if (n->value)
        expr_walk(n->value, check_same, &s);
    return s.same;
}

static void emit_op(Tables *t, int i)
{
    static const char *const kinds[] = { "PTO_COPY", "PTO_GATHER", "PTO_MULTIPLY", "PTO_NEST", "PTO_TASK" };
    const MoveOp *op = t->p->ops.at[i];
    Emit *e = t->e;
    FILE *out = t->out;
    fprintf(out, "    { .slot = %s, .kind = %s, .stage = %d, .when = %s, .site = %d", slots[op->unit], kinds[op->kind], op->stage, when(t, op->when), site_of(t, op->eq));
    if (op->signal[0] >= 0)
        fprintf(out, ",\n      .signals = { %d, %d }, .signal_when = { %s, %s }", op->signal[0] + 1, op->signal[1] + 1, when(t, op->signals[0]), when(t, op->signals[1]));
    if (op->noperands)
        fprintf(out, ",\n      .noperands = %d, .operands = %s", op->noperands, name_own(e, "operands%s_%d", t->tag, i));
    if (op->kind == MOVE_MULTIPLY)
        fprintf(out, ", .init = %s", when(t, op->init));
    if (op->kind == MOVE_NEST) {
        fprintf(out, ",\n      .updates = %d, .same = %#x, .cost = %lld, .strided = %d, .bytes = %lld, .element = %d, .compute = %s", op->updates, same_of(op), (long long)op->cost, op->strided,
                (long long)op->bytes, op->element, name_own(e, "nest%s_%d", t->tag, i));
        if (op->rank)
            fprintf(out, ", .rank = %d, .box = %s", op->rank, name_own(e, "box%s_%d", t->tag, i));
    }
    if (op->kind == MOVE_TASK)
        fprintf(out, ", .scalar = %s", name_own(e, "task%d", t->number));
    fprintf(out, " },\n");
}

static void emit_bundle(Tables *t, const Bundle *b)
{
    const char *text = "";
    for (int w = 0; w < b->nwaits; w++)
        text = arena_printf(t->e->a, "%s%s{ %d, %d, %s }", text, w ? ", " : "", b->wait[w].token + 1, b->wait[w].stage, when(t, b->wait[w].when));
    text = b->nwaits ? arena_printf(t->e->a, ".wait = { %s }, ", text) : "";
    const char *ops = "";
    for (int u = 0; u < MAX_UNITS; u++)
        if (b->op[u] >= 0)
            ops = arena_printf(t->e->a, "%s%s[%s] = %d", ops, *ops ? ", " : "", slots[u], b->op[u] + 1);
    fprintf(t->out, "    { %s.op = { %s } },\n", text, *ops ? ops : "0");
}

static void emit_loop(Tables *t, const BundleLoop *l)
{
    fprintf(t->out, "    { .first = %d, .end = %d, .ndigits = %d, .iv = %d, .stages = %d, .count = { ", l->first, l->end, l->ndigits, l->iv, l->stages);
    for (int d = 0; d < l->ndigits; d++)
        fprintf(t->out, "%s%s", d ? ", " : "", number(t, l->count[d]));
    fprintf(t->out, " } },\n");
}

static void emit_sites(Tables *t)
{
    Emit *e = t->e;
    fprintf(t->out, "static const pto_site %s[] = {\n", name_own(e, "sites%s", t->tag));
    for (int i = 0; i < t->sites.n; i++) {
        const Equation *eq = t->sites.at[i];
        Position p = e->o->sources && eq ? source_position(e->o->sources, eq->range.begin) : (Position){ 0 };
        fprintf(t->out, "    { \"%s\", \"%s\", %d },\n", c_string(e->a, eq ? eq->name : e->k->name), p.file && e->o->source_name ? c_string(e->a, e->o->source_name) : "", p.file ? p.line : 0);
    }
    fprintf(t->out, "};\n");
}

static void emit_program(Tables *t)
{
    Emit *e = t->e;
    const BundleProgram *p = t->p;
    FILE *out = t->out;
    emit_operands(t);
    fprintf(out, "static const pto_op %s[] = {\n", name_own(e, "ops%s", t->tag));
    for (int i = 0; i < p->ops.n; i++)
        emit_op(t, i);
    fprintf(out, "};\nstatic const pto_bundle %s[] = {\n", name_own(e, "bundles%s", t->tag));
    for (int i = 0; i < p->bundles.n; i++)
        emit_bundle(t, &p->bundles.at[i]);
    fprintf(out, "};\n");
    if (p->loops.n) {
        fprintf(out, "static const pto_loop %s[] = {\n", name_own(e, "loops%s", t->tag));
        for (int i = 0; i < p->loops.n; i++)
            emit_loop(t, &p->loops.at[i]);
        fprintf(out, "};\n");
    }
    if (p->tokens.n) {
        fprintf(out, "static const pto_token %s[] = {\n", name_own(e, "tokens%s", t->tag));
        for (int i = 0; i < p->tokens.n; i++)
            fprintf(out, "    { %d, %d },       // %s\n", p->tokens.at[i].initial, p->tokens.at[i].depth, p->tokens.at[i].name);
        fprintf(out, "};\n");
    }
    emit_sites(t);
    fprintf(out, "static const pto_program %s = {\n    .name = \"%s\", .nbundles = %d, .nops = %d, .nloops = %d, .ntokens = %d, .nsites = %d,\n", name_own(e, "program%s", t->tag),
            e->k->name, p->bundles.n, p->ops.n, p->loops.n, p->tokens.n, t->sites.n);
    fprintf(out, "    .bundles = %s, .ops = %s,", name_own(e, "bundles%s", t->tag), name_own(e, "ops%s", t->tag));
    if (p->loops.n)
        fprintf(out, " .loops = %s,", name_own(e, "loops%s", t->tag));
    if (p->tokens.n)
        fprintf(out, " .tokens = %s,", name_own(e, "tokens%s", t->tag));
    fprintf(out, " .sites = %s,\n    .need = { ", name_own(e, "sites%s", t->tag));
    for (int m = 0; m < MAX_MEMORIES; m++)
        fprintf(out, "%s%s", m ? ", " : "", number(t, p->need[m]));
    fprintf(out, " },\n};\n\n");
}

// ---- functions ------------------------------------------------------------------------------------------------------------

static bool count_operation(Expr *x, void *data)
{
    int *n = data;
    *n += x->op != OP_CONST && x->op != OP_INDEX && x->op != OP_DIM && x->type != DT_INDEX;
    return true;
}

int c_operations(const Node *op)
{
    int n = 1 + (op->op == OPK_UPDATE || op->op == OPK_SCAN);
    if (op->value)
        expr_walk(op->value, count_operation, &n);
    for (int i = 0; i < op->guards.n; i++)
        expr_walk(op->guards.at[i], count_operation, &n);
    return n;
}

int c_bound_operations(const Node *loop)
{
    int n = 0;
    for (int i = 0; i < loop->bounds.n; i++)
        expr_walk(loop->bounds.at[i], count_operation, &n);
    return n;
}

// What is stored to is the first; what is read may be another part of the same tensor.
static int operand_of(const Emit *e, const Tensor *t)
{
    for (int q = 1; q < e->nest->noperands && !e->stores; q++)
        if (e->nest->operand[q].tensor == t)
            return q;
    return 0;
}

static bool is_dense(const Operand *o, int d)
{
    return o->dim[d].stride && expr_is_int(o->dim[d].stride, dtype_bytes(o->buffer ? o->buffer->type : o->tensor->type));
}

const char *c_operand_place(Emit *e, const Tensor *t, const char *const *subs)
{
    int q = operand_of(e, t);
    const Operand *o = &e->nest->operand[q];
    const char *sum = arena_printf(e->a, "pto_at%d", q);
    for (int d = 0; d < o->rank; d++) {
        const char *x = e->wary ? arena_printf(e->a, "pto_boxed(pto_w, pto_all, %d, %d, %s)", q, d, subs[d]) : subs[d];
        sum = is_dense(o, d) ? arena_printf(e->a, "%s + (%s)", sum, x) : arena_printf(e->a, "%s + (%s)*pto_s%d_%d", sum, x, q, d);
    }
    return arena_printf(e->a, "pto_x%d[%s]", q, sum);
}

// A box is cut to the range of its index; one that is not lies in its tensor, which the model checks.
static void know_box(Emit *e, const MoveOp *op, int i)
{
    const Span *box = &op->box[i];
    Range nowhere = { 0, 0 };
    Expr *lo = box->hi && box->lo ? box->lo : expr_int(e->a, DT_INDEX, box->hi ? 0 : -(LARGEST_EXTENT / 2), nowhere);
    Expr *hi = box->hi ? box->hi : expr_int(e->a, DT_INDEX, LARGEST_EXTENT / 2, nowhere);
    exact_know(e, op->lo[i], lo, hi);
    exact_know(e, op->hi[i], lo, hi);
}

// ---- subscripts of a nest -------------------------------------------------------------------------------------------------

// A nest runs over its box, so that bounds of what it reads and writes are known before it begins: they are held against the
// boxes of its operands. Where an element may not be read after all, or bounds are not known, each subscript is looked at.

typedef struct { Emit *e; const MoveOp *op; VEC(const char *) spans; bool known, wary; } Subscripts;

static const Node *loop_of(const MoveOp *op, const Index *index)
{
    const Node *n = op->node;
    while (n->kind == NODE_LOOP && n->index != index)
        n = n->body.at[0];
    return n->kind == NODE_LOOP ? n : NULL;
}

typedef struct { const char *lo, *hi; } Bounds;

static bool bounds(Subscripts *s, const Expr *x, Bounds *b);

static bool bounds2(Subscripts *s, const Expr *x, Bounds *a, Bounds *b)
{
    return bounds(s, x->args[0], a) && bounds(s, x->args[1], b);
}

static const char *far2(Subscripts *s, const char *f, const char *x, const char *y) { return arena_printf(s->e->a, "pto_far_%s(%s, %s)", f, x, y); }

static Bounds negated(Subscripts *s, Bounds b)
{
    return (Bounds){ arena_printf(s->e->a, "pto_far_neg(%s)", b.hi), arena_printf(s->e->a, "pto_far_neg(%s)", b.lo) };
}

static bool bounds_of_product(Subscripts *s, const Expr *x, Bounds *b)
{
    const Expr *factor = x->args[x->args[0]->op == OP_CONST ? 0 : 1], *other = x->args[x->args[0]->op == OP_CONST ? 1 : 0];
    Bounds y;
    if (factor->op != OP_CONST || !bounds(s, other, &y))
        return false;
    const char *n = c_index(s->e, factor);
    *b = (Bounds){ far2(s, "mul", factor->i < 0 ? y.hi : y.lo, n), far2(s, "mul", factor->i < 0 ? y.lo : y.hi, n) };
    return true;
}

static bool bounds(Subscripts *s, const Expr *x, Bounds *b)
{
    Arena *a = s->e->a;
    Bounds y, z;
    const Node *l;
    switch ((int)x->op) {
    case OP_CONST: case OP_DIM:
        b->lo = b->hi = c_index(s->e, x);
        return true;
    case OP_INDEX:
        l = loop_of(s->op, x->index);
        b->lo = c_index(s->e, l ? l->index->lo : x);
        b->hi = l ? arena_printf(a, "%s - 1", c_index(s->e, l->index->hi)) : b->lo;
        return true;
    case OP_ADD:
        if (!bounds2(s, x, &y, &z))
            return false;
        *b = (Bounds){ far2(s, "add", y.lo, z.lo), far2(s, "add", y.hi, z.hi) };
        return true;
    case OP_SUB:
        if (!bounds2(s, x, &y, &z))
            return false;
        z = negated(s, z);
        *b = (Bounds){ far2(s, "add", y.lo, z.lo), far2(s, "add", y.hi, z.hi) };
        return true;
    case OP_NEG:
        if (!bounds(s, x->args[0], &y))
            return false;
        *b = negated(s, y);
        return true;
    case OP_MUL: return bounds_of_product(s, x, b);
    case OP_FLOORDIV:
        if (x->args[1]->op != OP_CONST || x->args[1]->i < 1 || !bounds(s, x->args[0], &y))
            return false;
        *b = (Bounds){ far2(s, "div", y.lo, c_index(s->e, x->args[1])), far2(s, "div", y.hi, c_index(s->e, x->args[1])) };
        return true;
    default: return false;
    }
}

static void add_access(Subscripts *s, int q, Expr *const *subs)
{
    Emit *e = s->e;
    const Operand *o = &s->op->operand[q];
    for (int d = 0; d < o->rank; d++) {
        Bounds b;
        if (!bounds(s, subs[d], &b)) {
            s->known = false;
            s->wary = true;
            return;
        }
        const char *one = arena_printf(e->a, "(pto_w, %d, %d, %s, %s)", q, d, b.lo, b.hi);
        bool there = false;
        for (int i = 0; i < s->spans.n && !there; i++)
            there = strcmp(s->spans.at[i], one) == 0;
        if (!there)
            VEC_PUSH(e->a, &s->spans, one);
    }
}

static const char *all_of(const Subscripts *s, const char *function)
{
    const char *all = s->known ? "" : "0";
    for (int i = 0; s->known && i < s->spans.n; i++)
        all = arena_printf(s->e->a, "%s%s%s%s", all, i ? " && " : "", function, s->spans.at[i]);
    return *all ? all : "1";
}

static void add_reads(Subscripts *s, const Expr *x, bool maybe)
{
    if (!x)
        return;
    bool choice = x->op == OP_SELECT || x->op == OP_AND || x->op == OP_OR;
    for (int i = 0; i < x->n; i++)
        add_reads(s, x->args[i], maybe || (choice && i > 0));
    if (x->op != OP_READ || (x->tensor->rank == 0 && x->tensor->kind == TENSOR_INPUT))
        return;
    s->wary = s->wary || maybe || x->outside;
    add_access(s, operand_of(s->e, x->tensor), x->args);
}

// Says whether subscripts have to be looked at one by one; before that, what holds for all of them.
static void emit_subscripts(Emit *e, const MoveOp *op)
{
    const Node *n = op->node;
    while (n->kind == NODE_LOOP)
        n = n->body.at[0];
    Subscripts s = { .e = e, .op = op, .known = true, .wary = n->guards.n > 0 || n->op == OPK_SCAN };
    add_access(&s, 0, n->subs);
    if (n->op == OPK_SCAN)
        add_access(&s, 0, n->previous);
    add_reads(&s, n->value, false);
    add_reads(&s, n->first, false);
    for (int i = 0; i < n->guards.n; i++)
        add_reads(&s, n->guards.at[i], false);
    e->wary = s.wary;
    if (s.wary)
        c_line(e, "const int pto_all = %s;", all_of(&s, "pto_within"));
    else if (s.spans.n) {
        c_line(e, "if (!(%s))", all_of(&s, "pto_holds"));
        c_line(e, "    return;");
    }
}

static void emit_nest(Emit *e, FILE *out, const MoveOp *op, const char *tag, int number)
{
    TextBuffer body;
    buffer_open(&body);
    e->out = body.stream;
    e->indent = 1;
    e->temps = 0;
    e->nest = op;
    e->bound.n = 0;
    for (int i = 0; i < op->rank; i++) {
        const char *lo = name_bind(e, op->lo[i]), *hi = name_bind(e, op->hi[i]);
        c_line(e, "const int64_t %s = pto_w->lo[%d], %s = pto_w->hi[%d];", lo, i, hi, i);
        know_box(e, op, i);
    }
    for (int q = 0; q < op->noperands; q++) {
        const Operand *o = &op->operand[q];
        c_line(e, "%s%s *const pto_x%d = pto_w->place[%d].base;", q ? "const " : "", c_element(o->tensor), q, q);
        c_line(e, "const int64_t pto_at%d = pto_w->place[%d].at;", q, q);
        for (int d = 0; d < o->rank; d++)
            if (!is_dense(o, d))
                c_line(e, "const int64_t pto_s%d_%d = pto_w->place[%d].stride[%d];", q, d, q, d);
    }
    emit_subscripts(e, op);
    Node root = { .kind = NODE_SEQ };
    VEC_PUSH(e->a, &root.body, op->node);
    c_body(e, &root);
    e->wary = false;
    const char *text = buffer_take(e->a, &body);
    fprintf(out, "static PTO_TARGET void %s(const pto_work *pto_w)\n{\n    const struct %s *const f = pto_w->frame;\n    (void)f;\n", name_own(e, "nest%s_%d", tag, number), name_own(e, "frame"));
    c_used(e, out, text);
    fprintf(out, "%s}\n\n", text);
    name_release(e);
    e->nest = NULL;
    e->bound.n = 0;
}

static void tables_of(Emit *e, FILE *out, const Node *grid, int number, const BundleProgram *p, Values *values)
{
    Tables t = { .e = e, .out = out, .number = number, .p = p, .of = numbers_of(e), .tag = arena_printf(e->a, "%d%s", number, p == grid->otherwise ? "s" : "") };
    for (int i = 0; i < t.p->ops.n; i++) {
        const MoveOp *op = t.p->ops.at[i];
        if (op->kind == MOVE_NEST)
            emit_nest(e, out, op, t.tag, i);
        if (op->kind == MOVE_TASK)
            c_leaf(e, out, grid, number);
    }
    emit_program(&t);
    *values = t.values;
}

void c_programs(Emit *e, FILE *out, const Structure *s)
{
    e->values = ARENA_ARRAY(e->a, Values, 2 * s->grids.n + 1);
    for (int i = 0; i < s->grids.n; i++) {
        const Node *grid = s->grids.at[i];
        tables_of(e, out, grid, i, grid->program, &e->values[2 * i]);
        if (grid->otherwise)
            tables_of(e, out, grid, i, grid->otherwise, &e->values[2 * i + 1]);
    }
}

// ---- the launch -------------------------------------------------------------------------------------------------------------

static bool is_written_in(const Node *n, const Tensor *t)
{
    bool found = n->kind == NODE_OP && n->tensor == t;
    for (int i = 0; i < n->body.n && !found; i++)
        found = is_written_in(n->body.at[i], t);
    return found;
}

// By the body, as a task; or by moves.
static bool is_written(const Node *grid, const Tensor *t)
{
    bool found = is_written_in(grid, t);
    const BundleProgram *p = grid->program;
    for (int i = 0; i < p->ops.n && !found; i++)
        found = p->ops.at[i]->noperands && !p->ops.at[i]->operand[0].buffer && p->ops.at[i]->operand[0].tensor == t;
    return found;
}

static const char *tensor_text(Emit *e, const Tensor *t)
{
    const char *name = e->tensor[t->id];
    return arena_printf(e->a, "{ .name = \"%s\", .data = (void *)(uintptr_t)f.%s, .bytes = (int64_t)f.%s, .element = %d", c_string(e->a, t->name), name, name_part(e, name, "bytes", 0), dtype_bytes(t->type));
}

// How it lies, dimension by dimension.
static const char *dims_text(Emit *e, const Tensor *t)
{
    const Storage *st = &e->t->storage[t->id];
    const char *text = "";
    for (int d = 0; d < t->rank && t->rank <= MAX_BOX; d++) {
        const char *lo = st->kind == STORE_PARAM ? c_index(e, t->lo[d]) : st->dim[d].kind == DIM_FULL ? c_index(e, st->dim[d].base) : "0", *extent = "0", *fold = "0";
        if (st->kind == STORE_PARAM)
            extent = c_index(e, expr_simplify(e->a, expr_binary(e->a, OP_SUB, DT_INDEX, t->hi[d], t->lo[d])));
        else if (st->dim[d].kind == DIM_FULL)
            extent = c_index(e, st->dim[d].extent);
        else
            fold = st->dim[d].kind == DIM_DROP ? "1" : arena_printf(e->a, "%lld", (long long)st->dim[d].modulo);
        text = arena_printf(e->a, "%s%s { %s, %s, %s }", text, d ? "," : "", lo, extent, fold);
    }
    return *text ? arena_printf(e->a, ", .rank = %d, .dim = {%s }", t->rank, text) : "";
}

// An element of an output that no launch wrote is a fault.
void c_check_written(Emit *e)
{
    c_line(e, "const pto_ddr pto_outputs[] = {");
    for (int i = 0; i < e->k->outputs.n; i++)
        c_line(e, "    %s },", tensor_text(e, e->k->outputs.at[i]));
    c_line(e, "};");
    c_line(e, "if ((status = pto_check_written(ctx, pto_outputs, %d)) != PTO_OK)", e->k->outputs.n);
    c_line(e, "    return pto_leave(ctx, status);");
}

static void emit_tensors(Emit *e, const Node *grid, int number)
{
    c_line(e, "const pto_ddr pto_tensors%d[] = {", number);
    for (int i = 0; i < e->k->tensors.n; i++) {
        const Tensor *t = e->k->tensors.at[i];
        if (!c_is_stored(e, t))
            continue;
        c_line(e, "    %s, .written = %d, .given = %d%s },", tensor_text(e, t), is_written(grid, t),
               t->kind == TENSOR_INPUT || e->t->storage[t->id].holes, dims_text(e, t));
    }
    c_line(e, "};");
}

static void emit_launch(Emit *e, int number, const Values *v, const char *tag)
{
    const char *values = v->n ? arena_printf(e->a, "pto_values%d", number) : "NULL";
    if (v->n) {
        c_line(e, "const int64_t %s[] = {", values);
        for (int i = 0; i < v->n; i++)
            c_line(e, "    %s,", v->at[i]->type == DT_INDEX ? c_index(e, v->at[i]) : fill_value(e, v->at[i]));
        c_line(e, "};");
    }
    c_line(e, "const pto_launch pto_launch%d = { .machine = &%s, .program = &%s, .grid = run%d, .values = %s, .nvalues = %d, .ntensors = (int)(sizeof pto_tensors%d / sizeof *pto_tensors%d), .tensors = pto_tensors%d, .frame = &f };",
           number, c_machine(e), name_own(e, "program%s", tag), number, values, v->n, number, number, number);
    c_line(e, "if ((status = pto_launch_bundles(ctx, &pto_launch%d)) != PTO_OK)", number);
    c_line(e, "    return pto_leave(ctx, status);");
}

void c_launch(Emit *e, const Node *grid, int number)
{
    const char *tag = arena_printf(e->a, "%d", number);
    emit_tensors(e, grid, number);
    if (!grid->otherwise) {
        emit_launch(e, number, &e->values[2 * number], tag);
        return;
    }
    c_line(e, "if (%s) {", c_condition(e, grid->fits));
    e->indent++;
    emit_launch(e, number, &e->values[2 * number], tag);
    e->indent--;
    c_line(e, "} else {");
    e->indent++;
    emit_launch(e, number, &e->values[2 * number + 1], arena_printf(e->a, "%ds", number));
    e->indent--;
    c_line(e, "}");
}
