// The verifier of programs of bundles: see verify.h. It checks what ir/bundles.h promises and what the model of the runtime takes
// for granted; whether a program is right (no race, no deadlock, in range) the model finds out. Stops at the first broken rule.
//
// Test: tests/unit/test_ir_bundles.c
#include "ir/verify.h"

#include "ir/bundles.h"
#include "ir/verify_tree.h"

#include <ctype.h>
#include <string.h>

typedef struct {
    Verifier v;
    int nmemories;
    bool bundled;
    const Node *grid;
    const BundleProgram *p;
    int iv_end;                       // induction variables of the loops around: up to here
    const BundleLoop *loop;           // the innermost one
} BundleVerifier;

static bool optional(BundleVerifier *t, const Expr *e, const char *what)
{
    return !e || irverify_index(&t->v, e, what);
}

// ---- names ------------------------------------------------------------------------------------------------------------------

static bool name(BundleVerifier *t, const char *name, const char *what)
{
    for (const char *c = name ? name : "?"; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != '.')
            return irverify_bad(&t->v, "a %s without a name of letters, digits, points and underscores", what);
    return true;
}

static bool buffer(BundleVerifier *t, int i)
{
    const Buffer *x = t->p->buffers.at[i];
    if (!x || x->id != i || !name(t, x->name, "buffer"))
        return x && x->id == i ? false : irverify_bad(&t->v, "a buffer in another place than it says");
    t->v.place = arena_printf(t->v.arena, "buffer `%s`", x->name);
    for (int k = 0; k < i; k++)
        if (strcmp(t->p->buffers.at[k]->name, x->name) == 0)
            return irverify_bad(&t->v, "there are two of this name");
    if (x->memory < 1 || x->memory >= t->nmemories)
        return irverify_bad(&t->v, "a memory that the machine has not, or that holds tensors");
    if (!irverify_owns(t->v.kernel, x->tensor))
        return irverify_bad(&t->v, "it holds no tensor of the kernel");
    if ((int)x->type < 0 || x->type >= DT_INDEX || x->slots < 1)
        return irverify_bad(&t->v, "no type, or no slot");
    return irverify_index(&t->v, x->address, "address") && irverify_index(&t->v, x->bytes, "size");
}

static bool token(BundleVerifier *t, int i)
{
    const Token *x = &t->p->tokens.at[i];
    if (!name(t, x->name, "token"))
        return false;
    t->v.place = arena_printf(t->v.arena, "token `%s`", x->name);
    for (int k = 0; k < i; k++)
        if (strcmp(t->p->tokens.at[k].name, x->name) == 0)
            return irverify_bad(&t->v, "there are two of this name");
    return (x->initial >= 0 && x->depth >= 1 && x->initial <= x->depth) || irverify_bad(&t->v, "it begins above its depth, or has none");
}

// ---- boxes --------------------------------------------------------------------------------------------------------------------

static bool affine(BundleVerifier *t, const Affine *x)
{
    for (int v = 0; v < MAX_IVS; v++) {
        if (!x->step[v])
            continue;
        if (v < FIRST_DIGIT ? v >= t->grid->ndims : v >= t->iv_end)
            return irverify_bad(&t->v, "it moves with a dimension of the grid, or a digit, that there is not");
        if (!irverify_index(&t->v, x->step[v], "step"))
            return false;
    }
    return optional(t, x->base, "start");
}

static bool span(BundleVerifier *t, const Span *s)
{
    return affine(t, &s->start) && optional(t, s->size, "size") && optional(t, s->lo, "lower bound") && optional(t, s->hi, "upper bound");
}

static bool when(BundleVerifier *t, When w)
{
    unsigned known = t->loop ? (1u << (t->iv_end - FIRST_DIGIT)) - 1 : 0;
    return !((w.first | w.last) & ~known) || irverify_bad(&t->v, "a condition on a digit that there is not");
}

// What is moved has one value for all its constant borders.
static bool one_fill(const Operand *o, int d)
{
    for (int k = 0; k < d && d < o->tensor->rank; k++)
        if (o->dim[k].border == BORDER_CONST && !expr_equal(o->tensor->border[k].value, o->tensor->border[d].value))
            return false;
    return true;
}

static bool operand(BundleVerifier *t, const MoveOp *op, int q)
{
    const Operand *o = &op->operand[q];
    const Buffer *x = o->buffer;
    if (x && (x->id < 0 || x->id >= t->p->buffers.n || t->p->buffers.at[x->id] != x))
        return irverify_bad(&t->v, "an operand in a buffer of another program");
    if (!irverify_owns(t->v.kernel, o->tensor))
        return irverify_bad(&t->v, "an operand of no tensor");
    if (x && x->type != o->tensor->type)
        return irverify_bad(&t->v, "an operand of another type than its buffer");
    if (o->rank < 0 || o->rank > MAX_BOX || o->digits < 0 || o->digits > (t->loop ? t->iv_end - FIRST_DIGIT : 0))
        return irverify_bad(&t->v, "an operand with more dimensions or digits than there can be");
    for (int d = 0; d < o->rank; d++) {
        const BoxDim *b = &o->dim[d];
        if (!span(t, &b->at) || !optional(t, b->stride, "stride") || !optional(t, b->length, "length"))
            return false;
        if ((b->axis != AXIS_NONE) != (op->kind == MOVE_MULTIPLY))
            return irverify_bad(&t->v, "dimensions of what is multiplied have an axis, and no others");
        if (b->border != BORDER_NONE && (x || q == 0 || (op->kind != MOVE_COPY && op->kind != MOVE_GATHER) || !b->length))
            return irverify_bad(&t->v, "a border, or one without a length, of something that is not moved out of a tensor");
        if (b->border == BORDER_CONST && (d >= o->tensor->rank || o->tensor->border[d].kind != BORDER_CONST))
            return irverify_bad(&t->v, "a constant border that the tensor has not");
        if (b->border == BORDER_CONST && !one_fill(o, d))
            return irverify_bad(&t->v, "two constant borders of different values");
    }
    if (o->nalong && o->nalong != o->tensor->rank)
        return irverify_bad(&t->v, "it says how it goes along other dimensions than the tensor has");
    for (int d = 0; d < o->nalong; d++)
        if (!affine(t, &o->along[d].start) || !optional(t, o->along[d].stride, "stride"))
            return false;
    return affine(t, &o->address);
}

// ---- expressions on a box -------------------------------------------------------------------------------------------------------

typedef struct { BundleVerifier *t; const MoveOp *op; bool good; } Reads;

static bool check_read(Expr *e, void *data)
{
    Reads *r = data;
    if (e->op != OP_READ || !r->good || (e->tensor->rank == 0 && e->tensor->kind == TENSOR_INPUT))
        return r->good;
    bool found = false, fits = true;
    for (int q = 0; q < r->op->noperands; q++) {
        bool mine = r->op->operand[q].tensor == e->tensor;
        found = found || mine;
        fits = fits && (!mine || r->op->operand[q].rank == e->tensor->rank);
    }
    found = found && fits;
    r->good = found || irverify_bad(&r->t->v, "it reads `%s`, and has no operand of it", e->tensor->name);
    return r->good;
}

static bool value(BundleVerifier *t, const MoveOp *op, Expr *e, DType type)
{
    if (!irverify_expr(&t->v, e))
        return false;
    Reads r = { .t = t, .op = op, .good = true };
    expr_walk(e, check_read, &r);
    return r.good && (e->type == type || irverify_bad(&t->v, "a value of type %s, not %s", dtype_name(e->type), dtype_name(type)));
}

static bool subscripts(BundleVerifier *t, const Tensor *x, Expr *const *subs)
{
    if (x->rank && !subs)
        return irverify_bad(&t->v, "no subscripts");
    for (int d = 0; d < x->rank; d++)
        if (!irverify_index(&t->v, subs[d], "subscript"))
            return false;
    return true;
}

static bool suits(const Node *n)
{
    EqKind kind = n->eq->kind;
    return n->op == OPK_MAP ? kind == EQ_MAP : n->op == OPK_SCAN ? kind == EQ_SCAN : kind == EQ_REDUCE;
}

static bool computes(BundleVerifier *t, const MoveOp *op, const Node *n)
{
    const Operand *to = &op->operand[0];
    if (n->eq != op->eq || n->tensor != n->eq->lhs || !suits(n) || (n->op != OPK_MAP && n->reduce != n->eq->nest->op))
        return irverify_bad(&t->v, "it computes another equation, or in another way");
    if (to->tensor != n->tensor || to->rank != n->tensor->rank)
        return irverify_bad(&t->v, "it computes `%s`, and writes something else", n->tensor->name);
    if (!subscripts(t, n->tensor, n->subs))
        return false;
    for (int i = 0; i < n->guards.n; i++)
        if (n->op != OPK_UPDATE || !value(t, op, n->guards.at[i], DT_BOOL))
            return n->op == OPK_UPDATE ? false : irverify_bad(&t->v, "guards of something that is no update");
    if (n->op == OPK_SCAN && (!subscripts(t, n->tensor, n->previous) || !value(t, op, n->first, DT_BOOL)))
        return false;
    if (n->op == OPK_INIT)
        return !n->value || irverify_bad(&t->v, "an init with a value");
    return value(t, op, n->value, n->tensor->type);
}

// What a nest does is what its box says: each loop runs over the bounds of one index.
static bool over_box(BundleVerifier *t, const MoveOp *op, const Node *n, unsigned *seen)
{
    const Expr *lo = n->index->lo, *hi = n->index->hi;
    for (int d = 0; d < op->rank; d++)
        if (lo->op == OP_INDEX && hi->op == OP_INDEX && lo->index == op->lo[d] && hi->index == op->hi[d] && !(*seen >> d & 1)) {
            *seen |= 1u << d;
            return (n->step == 1 && n->bounds.n == 0) || irverify_bad(&t->v, "a loop in a nest leaves points out");
        }
    return irverify_bad(&t->v, "a loop in a nest runs over the bounds of one index of its box");
}

static bool nest(BundleVerifier *t, const MoveOp *op)
{
    int outer = t->v.scope.n;
    if (op->rank < 0 || op->rank > MAX_BOX || op->cost < 1 || op->bytes < 0 || op->element < 1)
        return irverify_bad(&t->v, "a nest without its cost, or its widest element");
    for (int d = 0; d < op->rank; d++) {
        if (!span(t, &op->box[d]))
            return false;
        if (!op->lo[d] || !op->lo[d]->name || !op->hi[d] || !op->hi[d]->name)
            return irverify_bad(&t->v, "a box without bounds");
    }
    for (int d = 0; d < op->rank; d++) {
        VEC_PUSH(t->v.arena, &t->v.scope, op->lo[d]);
        VEC_PUSH(t->v.arena, &t->v.scope, op->hi[d]);
    }
    const Node *n = op->node;
    bool good = true;
    unsigned seen = 0;
    for (; good && n && n->kind == NODE_LOOP; n = n->body.n == 1 && !n->locals.n ? n->body.at[0] : NULL) {
        good = n->index && n->index->name && irverify_index(&t->v, n->index->lo, "bound") && irverify_index(&t->v, n->index->hi, "bound") && over_box(t, op, n, &seen);
        if (good && (n->step < 1 || n->lanes > 1 || n->lanes < 0 || n->unroll != 1))
            good = irverify_bad(&t->v, "a loop in a nest runs point by point");
        VEC_PUSH(t->v.arena, &t->v.scope, n->index);
    }
    good = good && (seen == (1u << op->rank) - 1 || irverify_bad(&t->v, "an index of the box without a loop over its bounds"));
    good = good && ((n && n->kind == NODE_OP && n->eq) || irverify_bad(&t->v, "a nest is loops around one operation on elements")) && computes(t, op, n);
    t->v.scope.n = outer;
    return good;
}

// ---- operations ---------------------------------------------------------------------------------------------------------------------

static bool counts(BundleVerifier *t, const MoveOp *op)
{
    static const struct { const char *name; int least, most; } kinds[] = {
        [MOVE_COPY] = { "copy", 2, 2 }, [MOVE_GATHER] = { "gather", 3, 3 }, [MOVE_MULTIPLY] = { "multiply", 3, 3 }, [MOVE_NEST] = { "nest", 1, MAX_OPERANDS }, [MOVE_TASK] = { "task", 0, 0 },
    };
    bool good = op->noperands >= kinds[op->kind].least && op->noperands <= kinds[op->kind].most && (op->operand || !op->noperands);
    return good || irverify_bad(&t->v, "a %s with %d operands", kinds[op->kind].name, op->noperands);
}

static bool shapes(BundleVerifier *t, const MoveOp *op)
{
    bool moves = op->kind == MOVE_COPY || op->kind == MOVE_GATHER;
    if (moves && op->operand[0].rank != op->operand[1].rank)
        return irverify_bad(&t->v, "it moves a box to one with another number of dimensions");
    if (op->kind == MOVE_GATHER && (op->operand[2].rank != 1 || op->operand[1].rank < 1 || !op->operand[2].buffer))
        return irverify_bad(&t->v, "the list of a gather has one dimension, on chip");
    if (moves)
        return true;
    for (int q = 0; q < op->noperands; q++)
        if (!op->operand[q].buffer)
            return irverify_bad(&t->v, "only moves reach the memory of tensors");
    return (op->kind == MOVE_NEST) == (op->node != NULL) || irverify_bad(&t->v, "a nest computes, and nothing else does");
}

static bool signals(BundleVerifier *t, const MoveOp *op)
{
    for (int i = 0; i < MAX_SIGNALS; i++) {
        if (op->signal[i] < -1 || op->signal[i] >= t->p->tokens.n)
            return irverify_bad(&t->v, "it signals a token that there is not");
        if (op->signal[i] >= 0 && !when(t, op->signals[i]))
            return false;
        for (int k = 0; op->signal[i] >= 0 && k < t->p->ops.n; k++) {
            const MoveOp *other = t->p->ops.at[k];
            for (int q = 0; q < MAX_SIGNALS; q++)
                if (other->signal[q] == op->signal[i] && other->unit != op->unit)
                    return irverify_bad(&t->v, "two units signal token `%s`", t->p->tokens.at[op->signal[i]].name);
        }
    }
    return op->signal[0] >= 0 || op->signal[1] < 0 || irverify_bad(&t->v, "its second token comes first");
}

static bool operation(BundleVerifier *t, const MoveOp *op)
{
    const Kernel *k = t->v.kernel;
    if (op->eq && (op->eq->id < 0 || op->eq->id >= k->equations.n || k->equations.at[op->eq->id] != op->eq))
        return irverify_bad(&t->v, "an operation of no equation");
    t->v.place = arena_printf(t->v.arena, "an operation of `%s`", op->eq ? op->eq->name : "nothing");
    if (op->unit < 0 || op->unit >= MAX_UNITS || (int)op->kind < 0 || op->kind > MOVE_TASK || (!op->eq && op->kind != MOVE_TASK))
        return irverify_bad(&t->v, "an operation of no unit, kind or equation");
    if (!counts(t, op) || !when(t, op->when) || !when(t, op->init) || !signals(t, op))
        return false;
    if (op->stage < 0 || op->stage >= (t->loop ? t->loop->stages : 1))
        return irverify_bad(&t->v, "a stage that the loop around it has not");
    for (int q = 0; q < op->noperands; q++)
        if (!operand(t, op, q))
            return false;
    if (op->kind == MOVE_TASK)
        return (op->unit == MAX_UNITS - 1 && t->p->ops.n == 1) || irverify_bad(&t->v, "a task is the only operation of its program, and of the scalar unit");
    return shapes(t, op) && (op->kind != MOVE_NEST || nest(t, op));
}

// ---- bundles and loops ----------------------------------------------------------------------------------------------------------------

static bool bundle(BundleVerifier *t, const Bundle *b, bool *seen)
{
    if (b->nwaits < 0 || b->nwaits > MAX_WAITS)
        return irverify_bad(&t->v, "a bundle with %d waits", b->nwaits);
    for (int w = 0; w < b->nwaits; w++) {
        const Wait *x = &b->wait[w];
        if (x->token < 0 || x->token >= t->p->tokens.n || x->stage < 0 || x->stage >= (t->loop ? t->loop->stages : 1) || !when(t, x->when))
            return irverify_bad(&t->v, "a wait for a token, or of a stage, that there is not");
    }
    for (int u = 0; u < MAX_UNITS; u++) {
        int i = b->op[u];
        if (i < -1 || i >= t->p->ops.n || (i >= 0 && (seen[i] || t->p->ops.at[i]->unit != u)))
            return irverify_bad(&t->v, "an operation stands in two bundles, or in the place of another unit");
        if (i < 0)
            continue;
        seen[i] = true;
        if (!operation(t, t->p->ops.at[i]))
            return false;
        t->v.place = "program";
    }
    return true;
}

static bool loop(BundleVerifier *t, const BundleLoop *l)
{
    if (l->ndigits < 1 || l->ndigits > MAX_DIGITS || l->iv < t->iv_end || l->iv + l->ndigits > MAX_IVS || l->stages < 1)
        return irverify_bad(&t->v, "a loop without digits, or with some that another one has");
    if (t->loop && t->loop->stages != 1)
        return irverify_bad(&t->v, "a loop with stages around another one");
    for (int d = 0; d < l->ndigits; d++)
        if (!irverify_index(&t->v, l->count[d], "count"))
            return false;
    return true;
}

// What lies in [at, end), with the loops from *next on.
static bool units(BundleVerifier *t, int at, int end, int *next, bool *seen)
{
    int iv_end = t->iv_end;
    const BundleLoop *around = t->loop;
    while (at < end) {
        const BundleLoop *l = *next < t->p->loops.n ? &t->p->loops.at[*next] : NULL;
        if (l && l->first == at) {
            if (l->end <= at || l->end > end)
                return irverify_bad(&t->v, "loops that do not nest, or hold nothing");
            if (!loop(t, l))
                return false;
            ++*next;
            t->iv_end = l->iv + l->ndigits;
            t->loop = l;
            if (!units(t, at, l->end, next, seen))
                return false;
            t->iv_end = iv_end;
            t->loop = around;
            at = l->end;
        } else if (t->p->bundles.n ? !bundle(t, &t->p->bundles.at[at++], seen) : !operation(t, t->p->ops.at[at++]))
            return false;
    }
    return true;
}

static bool schedule(BundleVerifier *t)
{
    bool *seen = ARENA_ARRAY(t->v.arena, bool, t->p->ops.n + 1);
    int next = 0;
    t->iv_end = FIRST_DIGIT;
    t->loop = NULL;
    t->v.place = "program";
    for (int i = 0; i < t->p->ops.n; i++)
        if (!t->p->ops.at[i] || t->p->ops.at[i]->id != i)
            return irverify_bad(&t->v, "an operation in another place than it says");
    if (t->bundled && t->p->bundles.n == 0)
        return irverify_bad(&t->v, "no bundles");
    if (!units(t, 0, t->p->bundles.n ? t->p->bundles.n : t->p->ops.n, &next, seen))
        return false;
    if (next < t->p->loops.n)
        return irverify_bad(&t->v, "loops that do not nest, or are not in order");
    for (int i = 0; t->p->bundles.n && i < t->p->ops.n; i++)
        if (!seen[i])
            return irverify_bad(&t->v, "an operation stands in no bundle");
    return true;
}

// ---- programs ---------------------------------------------------------------------------------------------------------------------------

static bool program(BundleVerifier *t, const BundleProgram *p)
{
    t->p = p;
    t->v.place = "program";
    for (int m = 0; m < MAX_MEMORIES; m++)
        if (p->need[m] && (m >= t->nmemories || !irverify_index(&t->v, p->need[m], "need")))
            return m >= t->nmemories ? irverify_bad(&t->v, "it needs a memory that the machine has not") : false;
    for (int i = 0; i < p->buffers.n; i++)
        if (!buffer(t, i))
            return false;
    for (int i = 0; i < p->tokens.n; i++)
        if (!token(t, i))
            return false;
    return schedule(t);
}

static bool grid(BundleVerifier *t, const Node *n)
{
    t->grid = n;
    t->v.place = n->name ? arena_printf(t->v.arena, "grid `%s`", n->name) : "a grid";
    if (!n->program)
        return !t->bundled || irverify_bad(&t->v, "a grid without a program");
    if (n->otherwise && (!n->fits || program_is_task(n->program)))
        return irverify_bad(&t->v, "a second program, and the first one fits all shapes");
    if (n->fits && (!n->otherwise || n->fits->type != DT_BOOL))
        return irverify_bad(&t->v, "a program that fits some shapes, and none for the others, or no condition");
    t->v.plain = true;
    bool sound = !n->fits || irverify_expr(&t->v, n->fits);
    t->v.plain = false;
    if (!sound)
        return false;
    if (!program(t, n->program))
        return false;
    return !n->otherwise || program(t, n->otherwise);
}

static bool node(BundleVerifier *t, const Node *n)
{
    int outer = t->v.scope.n;
    bool good = n->kind != NODE_GRID || grid(t, n);
    if (n->kind == NODE_LOOP)
        VEC_PUSH(t->v.arena, &t->v.scope, n->index);
    for (int i = 0; good && n->kind != NODE_GRID && i < n->body.n; i++)
        good = node(t, n->body.at[i]);
    t->v.scope.n = outer;
    return good;
}

bool ir_verify_bundles(const TileKernel *k, int nmemories, bool bundled, FILE *why)
{
    BundleVerifier t = { .v = { .kernel = k->kernel, .why = why, .arena = arena_new(), .place = "tree", .normal = true }, .nmemories = nmemories, .bundled = bundled };
    bool good = node(&t, k->root);
    arena_free(t.v.arena);
    return good;
}
