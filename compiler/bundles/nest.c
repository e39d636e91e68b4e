// nest: a statement as one operation of the vector (or scalar) unit on the box of its indices.
#include "ir/linear.h"
#include "bundles/block.h"
#include "passes/nest.h"

enum { MOST_OPERANDS = 12 };

// ---- expressions on a box -------------------------------------------------------------------------------------------------

typedef struct { Block *b; MoveOp *op; BlockStmt *s; int level; const Index *last; } NestOp;

static int operand_index(const MoveOp *op, const Tensor *t)
{
    for (int q = 1; q < op->noperands; q++)
        if (op->operand[q].tensor == t)
            return q;
    return -1;
}

// Does the access run from element to element along the last index, or stay where it is?
static bool runs_along(const NestOp *n, const Held *h, Expr *const *subs)
{
    bool far = false;
    for (int d = 0; n->last && d < h->window.rank; d++) {
        bool linear = true;
        int64_t c = linear_coefficient(subs[d], n->last, &linear);
        far = far || !linear || (c != 0 && !(expr_is_int(h->stride[d], dtype_bytes(h->tensor->type)) && c == 1));
    }
    return !far;
}

static void add_operand(void *data, Expr *read, int nconds, Expr *const *conds)
{
    NestOp *n = data;
    Block *b = n->b;
    (void)nconds;
    (void)conds;
    Tensor *t = read->tensor;
    if (b->refusal || (t->rank == 0 && t->kind == TENSOR_INPUT))
        return;
    n->op->bytes += dtype_bytes(t->type);
    n->op->element = dtype_bytes(t->type) > n->op->element ? dtype_bytes(t->type) : n->op->element;
    Held *h = block_find(b, t, !block_is_internal(b, read));
    n->op->strided = n->op->strided || !runs_along(n, h, read->args);
    int q = operand_index(n->op, t);
    if (q >= 0) {
        if (n->op->operand[q].buffer != h->buffer)
            block_refuse(b, "`%s` is read both from this block and from elsewhere", t->name);
        return;
    }
    if (n->op->noperands == MOST_OPERANDS) {
        block_refuse(b, "an equation reads too many tensors");
        return;
    }
    Operand *o = &n->op->operand[n->op->noperands++];
    *o = block_on_chip(b, h->buffer, &h->window, h->stride, &h->window, h->level);
    o->tensor = t;                                      // (the buffer may be another one's)
}

static bool add_cost(Expr *e, void *data)
{
    NestOp *n = data;
    if (e->type == DT_INDEX || op_class(e->op) == OPC_LEAF)
        return e->op != OP_READ;
    n->op->cost += machine_cost(n->b->m, op_name(e->op));
    return true;
}

// Reads of what was brought with its borders need none.
static Expr *without_borders(Block *b, Expr *e)
{
    Expr *r = ARENA_NEW(b->a, Expr);
    *r = *e;
    r->args = ARENA_ARRAY(b->a, Expr *, e->n + 1);
    for (int i = 0; i < e->n; i++)
        r->args[i] = without_borders(b, e->args[i]);
    if (e->op == OP_READ)
        for (int i = 0; i < b->held.n; i++)
            if (b->held.at[i]->tensor == e->tensor && b->held.at[i]->external)
                r->outside = 0;
    return r;
}

// The loops over the box, and the operation inside.
static void build_loops(Block *b, MoveOp *op, const BlockStmt *s, const int *order)
{
    Expr *value[MAX_INDICES];
    Node *outer = NULL, *inner = NULL;
    for (int k = 0; k < op->rank; k++) {
        int i = order[k];
        Index *index = ARENA_NEW(b->a, Index);
        op->lo[k] = ARENA_NEW(b->a, Index);
        op->hi[k] = ARENA_NEW(b->a, Index);
        const char *name = s->s->index[i]->name;
        *op->lo[k] = (Index){ .name = arena_printf(b->a, "%s_lo", name) };
        *op->hi[k] = (Index){ .name = arena_printf(b->a, "%s_hi", name) };
        *index = (Index){ .name = name, .lo = expr_index(b->a, op->lo[k], (Range){ 0, 0 }), .hi = expr_index(b->a, op->hi[k], (Range){ 0, 0 }) };
        value[i] = expr_index(b->a, index, (Range){ 0, 0 });
        Node *loop = node_new(b->a, NODE_LOOP);
        loop->index = index;
        if (inner)
            node_append(b->a, inner, loop);
        else
            outer = loop;
        inner = loop;
    }
    Node *leaf = lower_operation(b->p, s->s, value);
    if (leaf->value)
        leaf->value = without_borders(b, leaf->value);
    for (int i = 0; i < leaf->guards.n; i++)
        leaf->guards.at[i] = without_borders(b, leaf->guards.at[i]);
    if (inner)
        node_append(b->a, inner, leaf);
    op->node = outer ? outer : leaf;
}

void block_loop_order(const Block *b, const BlockStmt *s, int *order)
{
    int last = s->s->kind == STMT_SCAN ? -1 : stride_vector_index(b->p, s->s), n = 0;
    for (int i = 0; s->s->kind == STMT_SCAN && i < s->s->n; i++)
        if (s->s->index[i] == s->s->eq->nest->along)
            last = i;
    for (int i = 0; i < s->s->n; i++)
        if (i != last)
            order[n++] = i;
    if (last >= 0)
        order[n++] = last;
}

UnitKind block_nest_unit(const Block *b, const Stmt *s)
{
    UnitKind unit = s->kind == STMT_SCAN || !b->m->unit[UNIT_VECTOR].present ? UNIT_SCALAR : UNIT_VECTOR;
    return wish_unit(b, s, unit) == UNIT_SCALAR ? UNIT_SCALAR : unit;
}

void block_nest(Block *b, BlockStmt *s)
{
    Stmt *stmt = s->s;
    int level = block_stmt_level(b, s), order[MAX_INDICES];
    bool scan = stmt->kind == STMT_SCAN;
    if (stmt->n > MAX_BOX) {
        block_refuse(b, "an equation has more than %d indices", MAX_BOX);
        return;
    }
    if (scan && stmt->eq->nest->reverse) {
        block_refuse(b, "it scans backwards");               // loops over boxes run upwards
        return;
    }
    block_loop_order(b, s, order);
    MoveOp *op = block_op(b, block_nest_unit(b, stmt), MOVE_NEST, MOST_OPERANDS, stmt->eq);
    Held *h = block_find(b, stmt->eq->lhs, false);
    Window w = block_written(b, s, b->nblock);
    op->operand[0] = block_on_chip(b, h->buffer, &h->window, h->stride, &w, h->level);
    op->noperands = 1;
    op->updates = stmt->kind == STMT_UPDATE;             // (what a scan reads it has written itself)
    op->rank = stmt->n;
    op->element = dtype_bytes(stmt->eq->lhs->type);
    op->bytes = op->element * (1 + op->updates);
    for (int k = 0; k < stmt->n; k++)
        op->box[k] = block_span(b, s, order[k], level);
    NestOp n = { b, op, s, level, stmt->n ? stmt->index[order[stmt->n - 1]] : NULL };
    op->strided = !runs_along(&n, h, stmt->subs);
    depend_stmt_reads(b->a, stmt, add_operand, &n);
    if (b->refusal)
        return;
    expr_walk(stmt->eq->rhs, add_cost, &n);
    op->cost += stmt->kind == STMT_UPDATE || scan;
    op->cost = op->cost > 0 ? op->cost : 1;
    op->when = block_when(b, s);
    if (!b->dry)
        build_loops(b, op, s, order);
}
