// bound_by_data: guards that are bounds of a loop.
//
// `sum(p where p >= ptr[r], p < ptr[r+1]) e` as it stands looks at every p for every r. Each of these guards holds on an interval
// of p, and what it is compared with is known before the loop over p begins: so they become the loop's bounds (Node.bounds), and
// the loop runs over the entries of the row. What a loop does where a guard fails is nothing, so that no value changes, nor the
// order of what is added; the rest is about faults, which have to be the same, too:
// - guards are evaluated in order, each where the ones before hold. So are bounds, on the interval that is left: it has a point
//   exactly if there is one at which the guards before hold. A guard that stays behind may be passed by when neither it nor the
//   bound can fault, and when no proof of a read in the bound rests on it.
// - between the loop and the guard there may be other loops and conditions: where one of them leaves nothing to do, the guard is
//   not evaluated. That they leave something becomes a bound of its own, in front.
// - values in registers that are computed on the way are computed less often: only if they cannot fault.
// Needs: the tree, with `tidy` done. Test: tests/golden/passes/bounded.pto
#include "passes/needed.h"
#include "passes/plan.h"

#include "ir/linear.h"

typedef VEC(Expr *) Conds;

// An UPDATE below the loop: its guards without &&, and which of them have become bounds; what lies between it and the loop.
typedef struct {
    Node *op;
    Conds guards, between;
    bool *taken;
} Update;

typedef struct {
    Arena *a;
    Node *loop;
    VEC(const Index *) inner;             // indices of loops below, and the loop's own
    VEC(const Tensor *) written, own;     // below; own: registers that live in one iteration
    VEC(Update) updates;
    Conds between;                        // around the node that is looked at
    bool fine;
} Region;

// ---- guards without && ------------------------------------------------------------------------------------------------------

static Op inverse(Op op)
{
    return op == OP_LT ? OP_GE : op == OP_LE ? OP_GT : op == OP_GT ? OP_LE : op == OP_GE ? OP_LT : op == OP_EQ ? OP_NE : OP_EQ;
}

static bool compares_integers(const Expr *e)
{
    return op_class(e->op) == OPC_COMPARE && e->n == 2 && !dtype_is_float(e->args[0]->type) && !dtype_is_float(e->args[1]->type);
}

static void split(Arena *a, Conds *to, Expr *e, bool holds)
{
    if (e->op == OP_NOT) {
        split(a, to, e->args[0], !holds);
    } else if (e->op == (holds ? OP_AND : OP_OR)) {
        split(a, to, e->args[0], holds);
        split(a, to, e->args[1], holds);
    } else if (holds) {
        VEC_PUSH(a, to, e);
    } else if (compares_integers(e)) {
        VEC_PUSH(a, to, expr_binary(a, inverse(e->op), DT_BOOL, e->args[0], e->args[1]));
    } else {
        VEC_PUSH(a, to, expr_unary(a, OP_NOT, DT_BOOL, e));
    }
}

// ---- what is below a loop ----------------------------------------------------------------------------------------------------

static bool is_in(int n, const Tensor *const *list, const Tensor *t)
{
    for (int i = 0; i < n; i++)
        if (list[i] == t)
            return true;
    return false;
}

static bool is_suspect(const Node *op)
{
    bool is = op->value && needed_is_suspect(op->value);
    for (int i = 0; i < op->guards.n; i++)
        is = is || needed_is_suspect(op->guards.at[i]);
    return is;
}

static void add_operation(Region *r, Node *op)
{
    VEC_PUSH(r->a, &r->written, op->tensor);
    if (is_in(r->own.n, r->own.at, op->tensor)) {
        r->fine = r->fine && !is_suspect(op);
        return;
    }
    r->fine = r->fine && op->op == OPK_UPDATE && op->guards.n > 0;
    Update u = { .op = op };
    for (int i = 0; i < op->guards.n; i++)
        split(r->a, &u.guards, op->guards.at[i], true);
    for (int i = 0; i < r->between.n; i++)
        VEC_PUSH(r->a, &u.between, r->between.at[i]);
    u.taken = ARENA_ARRAY(r->a, bool, u.guards.n + 1);
    VEC_PUSH(r->a, &r->updates, u);
}

static void collect(Region *r, Node *n)
{
    for (int i = 0; i < n->locals.n; i++)
        VEC_PUSH(r->a, &r->own, n->locals.at[i]);
    for (int i = 0; i < n->body.n && r->fine; i++) {
        Node *b = n->body.at[i];
        int around = r->between.n;
        if (b->kind == NODE_OP) {
            add_operation(r, b);
            continue;
        }
        r->fine = b->kind != NODE_GRID && b->bounds.n == 0;
        if (b->kind == NODE_IF)
            VEC_PUSH(r->a, &r->between, b->cond);
        if (b->kind == NODE_LOOP) {
            VEC_PUSH(r->a, &r->between, expr_binary(r->a, OP_LT, DT_BOOL, b->index->lo, b->index->hi));
            VEC_PUSH(r->a, &r->inner, b->index);
        }
        collect(r, b);
        r->between.n = around;
    }
}

// ---- what is known before the loop --------------------------------------------------------------------------------------------

typedef struct { const Region *r; bool known; } Before;

static bool see_unknown(Expr *e, void *data)
{
    Before *b = data;
    for (int i = 0; e->op == OP_INDEX && i < b->r->inner.n; i++)
        b->known = b->known && b->r->inner.at[i] != e->index;
    b->known = b->known && !(e->op == OP_READ && is_in(b->r->written.n, b->r->written.at, e->tensor));
    return b->known;
}

static bool is_known_before(const Region *r, Expr *e)
{
    Before b = { r, true };
    expr_walk(e, see_unknown, &b);
    return b.known;
}

static Expr *exact_index(Expr *e)
{
    bool exact = e->op == OP_CONVERT && e->args[0]->type == DT_INDEX && (e->type == DT_I64 || (e->outside & EXPR_FITS));
    return exact && dtype_is_int(e->type) ? e->args[0] : e;
}

// The condition as a bound of the loop, with the index on the left; NULL: it is none.
static Expr *as_bound(const Region *r, Expr *cond)
{
    LoopBound b;
    if (is_known_before(r, cond))
        return cond;
    for (int side = 0; compares_integers(cond) && side < 2; side++) {
        Expr *index = exact_index(cond->args[side]), *limit = cond->args[1 - side];
        Op op = side == 0 ? cond->op : cond->op == OP_EQ || cond->op == OP_NE ? cond->op : cond->op == OP_LT ? OP_GT : cond->op == OP_GT ? OP_LT : cond->op == OP_LE ? OP_GE : OP_LE;
        Expr *turned = expr_binary(r->a, op, DT_BOOL, index, limit);
        if (is_known_before(r, limit) && loop_bound(r->a, r->loop->index, turned, &b) && is_known_before(r, b.shift))
            return turned;
    }
    return NULL;
}

// ---- which guards may go first ------------------------------------------------------------------------------------------------

static bool see_index_compared(Expr *e, void *data)
{
    bool *found = data;
    *found = *found || (op_class(e->op) == OPC_COMPARE && e->n == 2 && e->args[0]->type == DT_INDEX && e->args[1]->type == DT_INDEX);
    return !*found;
}

// Can the guard be evaluated less often, and does no proof of a read rest on it?
static bool may_be_passed(Expr *guard)
{
    bool compared = false;
    expr_walk(guard, see_index_compared, &compared);
    return !compared && !needed_is_suspect(guard);
}

// The position of the guard among those of another update, if it can go first there, too; -1: it cannot.
static int place_in(const Update *u, Expr *guard)
{
    bool passes = false;
    for (int i = 0; i < u->guards.n; i++) {
        if (u->taken[i])
            continue;
        if (expr_equal(u->guards.at[i], guard))
            return passes && needed_is_suspect(guard) ? -1 : i;
        if (!may_be_passed(u->guards.at[i]))
            return -1;
        passes = true;
    }
    return -1;
}

static bool take(Region *r, Expr *guard)
{
    for (int i = 0; i < r->updates.n; i++)
        if (place_in(&r->updates.at[i], guard) < 0)
            return false;
    for (int i = 0; i < r->updates.n; i++)
        r->updates.at[i].taken[place_in(&r->updates.at[i], guard)] = true;
    return true;
}

// ---- from guards to bounds ----------------------------------------------------------------------------------------------------

static bool see_read(Expr *e, void *data)
{
    bool *found = data;
    *found = *found || (e->op == OP_READ && e->n > 0);
    return !*found;
}

// May it be evaluated where the guard would not be?
static bool is_free(Expr *e)
{
    bool reads = false;
    expr_walk(e, see_read, &reads);
    return !reads && !needed_is_suspect(e);
}

// Is it known before the loop whether what lies between leaves something to do, and the same for all?
static bool is_certain(const Region *r)
{
    const Conds *first = &r->updates.at[0].between;
    for (int k = 0; k < first->n; k++)
        if (!is_known_before(r, first->at[k]))
            return false;
    for (int i = 1; i < r->updates.n; i++) {
        const Conds *other = &r->updates.at[i].between;
        if (other->n != first->n)
            return false;
        for (int k = 0; k < first->n; k++)
            if (!expr_equal(first->at[k], other->at[k]))
                return false;
    }
    return true;
}

static void keep_rest(Region *r, Update *u)
{
    u->op->guards.at = NULL;
    u->op->guards.n = u->op->guards.cap = 0;
    for (int i = 0; i < u->guards.n; i++)
        if (!u->taken[i])
            VEC_PUSH(r->a, &u->op->guards, u->guards.at[i]);
}

// The bounds that the first update's guards give; false where none of them uses the loop's index.
static bool find_bounds(Region *r, Conds *bounds, bool *free)
{
    bool found = false, certain = is_certain(r);
    const Update *u = &r->updates.at[0];
    for (int i = 0; i < u->guards.n; i++) {
        Expr *bound = as_bound(r, u->guards.at[i]);
        if (!bound || !(certain || is_free(bound)) || !take(r, u->guards.at[i]))
            continue;
        VEC_PUSH(r->a, bounds, bound);
        found = found || expr_uses(bound, r->loop->index);
        *free = *free && is_free(bound);
    }
    return found;
}

static void bound_loop(Arena *a, Node *loop)
{
    Region r = { .a = a, .loop = loop, .fine = loop->step == 1 };
    VEC_PUSH(a, &r.inner, loop->index);
    collect(&r, loop);
    Conds bounds = { 0 };
    bool free = true;
    if (!r.fine || r.updates.n == 0 || !find_bounds(&r, &bounds, &free))
        return;
    for (int i = 0; !free && i < r.updates.at[0].between.n; i++)
        VEC_PUSH(a, &loop->bounds, r.updates.at[0].between.at[i]);
    for (int i = 0; i < bounds.n; i++)
        VEC_PUSH(a, &loop->bounds, bounds.at[i]);
    for (int i = 0; i < r.updates.n; i++)
        keep_rest(&r, &r.updates.at[i]);
}

// (A loop inside takes what the one around leaves.)
static void visit(Arena *a, Node *n)
{
    if (n->kind == NODE_LOOP)
        bound_loop(a, n);
    for (int i = 0; i < n->body.n; i++)
        visit(a, n->body.at[i]);
}

void bound_by_data(Plan *p, TileKernel *t)
{
    visit(p->a, t->root);
}
