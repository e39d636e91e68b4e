// vectorize: which loops run several points at a time.
//
// The loop that `order` wanted as a vector loop becomes one when everything below it can go lane by lane in step: inner
// loops and conditions are the same for all lanes, every result lies next to its neighbour's (or in a register), and what
// the loop carries is a reduction into a register or a scan (a scan along another loop goes on in all lanes at once). Lanes fill a vector register with the widest type that
// occurs. Expressions need not be regular: what has no vector form is computed lane by lane (emit/vector.c); but a
// loop all of whose reads would be gathers stays scalar (a sum over products of rows then runs along the rows). Test: tests/golden/passes/columns.pto, tests/run
#include "passes/plan.h"

enum { ROWS = 4 };               // of a contraction at a time

// Legal, but not worth it unless it is asked for.
static const char LANES_APART[] = "loops in it run as far as data says, and read nothing that lies side by side";

typedef struct {
    const TileKernel *t;
    const Index *index;
    LoopRole role;
    int width;                    // bytes of the widest type
    struct { int near, far; } reads[2];      // along the lanes, gathers; [1]: those in loops inside
    int depth;
    int updates, nested;
    bool hulls;                   // a loop inside runs as far as data says, which is not the same in all lanes
    bool varies;
    VEC(const Tensor *) inside;   // registers declared below the loop
    Arena *a;
} Check;

// ---- how a place moves with the lanes -------------------------------------------------------------------------------

static int place_stride(const Check *c, const Tensor *t, Expr *const *subs)
{
    const Storage *st = &c->t->storage[t->id];
    int last = -1, r = 0;
    for (int d = 0; d < t->rank; d++)
        if (st->kind == STORE_PARAM || st->dim[d].kind != DIM_DROP)
            last = d;
    for (int d = 0; d <= last; d++) {
        int64_t k;
        if (st->kind != STORE_PARAM && st->dim[d].kind == DIM_DROP)
            continue;
        if (!stride_coefficient(subs[d], c->index, &k))
            return STRIDE_DATA;
        bool window = st->kind != STORE_PARAM && st->dim[d].kind == DIM_MODULO;
        if (k != 0)
            r = d == last && d == t->rank - 1 && k == 1 && r == 0 && !window ? 1 : STRIDE_FAR;
    }
    return r;
}

static void widen(Check *c, DType t)
{
    int bytes = t == DT_BOOL ? 1 : t == DT_F16 || t == DT_BF16 ? 4 : dtype_bytes(t);
    c->width = bytes > c->width ? bytes : c->width;
}

static bool see_expr(Expr *e, void *data)
{
    Check *c = data;
    if (e->op == OP_READ) {
        int s = c->t->storage[e->tensor->id].kind == STORE_REGISTER ? 0 : place_stride(c, e->tensor, e->args);
        c->reads[c->depth > 0].near += s == 1;
        c->reads[c->depth > 0].far += s >= STRIDE_FAR;
        widen(c, e->type);
        return false;                                  // subscripts are addresses, not lanes
    }
    if (e->type != DT_INDEX || e->op == OP_INDEX)
        widen(c, e->type == DT_INDEX ? DT_I32 : e->type);
    return true;
}

static bool is_inside(const Check *c, const Tensor *t)
{
    for (int i = 0; i < c->inside.n; i++)
        if (c->inside.at[i] == t)
            return true;
    return false;
}

static bool see_lanes(Expr *e, void *data)
{
    Check *c = data;
    c->varies = c->varies || (e->op == OP_INDEX && e->index == c->index) || (e->op == OP_READ && is_inside(c, e->tensor));
    return !c->varies;
}

// Is the value not the same in all lanes?
static bool varies(Check *c, Expr *e)
{
    c->varies = false;
    expr_walk(e, see_lanes, c);
    return c->varies;
}

// ---- legality ---------------------------------------------------------------------------------------------------------

static bool op_fits(Check *c, const Node *n, bool direct)
{
    bool reg = c->t->storage[n->tensor->id].kind == STORE_REGISTER;
    bool outside = reg && !is_inside(c, n->tensor);
    int stride = reg ? (outside ? 0 : 1) : place_stride(c, n->tensor, n->subs);
    widen(c, n->tensor->type);
    if (n->value)
        expr_walk(n->value, see_expr, c);
    for (int i = 0; i < n->guards.n; i++)
        if (varies(c, n->guards.at[i]))
            expr_walk(n->guards.at[i], see_expr, c);
    switch (n->op) {
    case OPK_MAP: return stride == 1 || stride == STRIDE_FAR;
    case OPK_INIT: return stride == 1;
    case OPK_UPDATE:
        c->updates++;
        if (outside)
            return direct && (c->role == LOOP_REDUCE || c->role == LOOP_SCAN) && dtype_bytes(n->tensor->type) >= 1;
        return stride == 1;
    case OPK_SCAN:
        if (outside)
            return direct && !n->reverse && c->role == LOOP_SCAN;
        return c->role == LOOP_PARALLEL && stride == 1 && place_stride(c, n->tensor, n->previous) == 1 && !expr_uses(n->first, c->index);
    }
    return false;
}

static bool bounds_vary(Check *c, const Node *loop)
{
    bool vary = false;
    for (int i = 0; i < loop->bounds.n; i++)
        vary = vary || varies(c, loop->bounds.at[i]);
    return vary;
}

// Can all lanes run a loop together, each of them as far as its own bounds say? Where they say that a lane has nothing to do,
// its updates do nothing, and what registers inside are for is not used.
static bool is_masked(const Check *c, const Node *n)
{
    bool masked = n->kind != NODE_OP || n->op == OPK_UPDATE || is_inside(c, n->tensor);
    for (int i = 0; i < n->body.n; i++)
        masked = masked && is_masked(c, n->body.at[i]);
    return masked;
}

static bool fits(Check *c, const Node *n, bool direct)
{
    for (int i = 0; i < n->locals.n; i++)
        VEC_PUSH(c->a, &c->inside, n->locals.at[i]);
    for (int i = 0; i < n->body.n; i++) {
        const Node *b = n->body.at[i];
        switch (b->kind) {
        case NODE_SEQ:
            if (!fits(c, b, direct))
                return false;
            break;
        case NODE_LOOP:
            c->nested++;
            c->depth++;
            if (expr_uses(b->index->lo, c->index) || expr_uses(b->index->hi, c->index) || !fits(c, b, false))
                return false;
            if (bounds_vary(c, b) && !is_masked(c, b))
                return false;
            c->hulls = c->hulls || bounds_vary(c, b);
            c->depth--;
            break;
        case NODE_IF:
            if (varies(c, b->cond) || !fits(c, b, direct))
                return false;
            break;
        case NODE_OP:
            if (!op_fits(c, b, direct))
                return false;
            break;
        case NODE_GRID: return false;
        }
    }
    return true;
}

static int count_locals(const Node *n)
{
    int k = n->locals.n;
    for (int i = 0; i < n->body.n; i++)
        k += count_locals(n->body.at[i]);
    return k;
}

// Several vectors at a time: to hide the latency of an accumulation, or to use an operand again.
static int choose_unroll(const Machine *m, const Check *c, const Node *n)
{
    if (c->role == LOOP_REDUCE && c->updates == 1 && c->nested == 0)
        return 4;
    if (c->updates > 0 && c->nested > 0) {
        int registers = m->vector_registers > 0 ? m->vector_registers : 16, locals = count_locals(n);
        return locals * 4 <= registers / 2 ? 4 : locals * 2 <= registers / 2 ? 2 : 1;
    }
    return 1;
}

static const char *impossible(Arena *a, const Machine *m, const TileKernel *t, const Node *n, Check *c)
{
    *c = (Check){ .t = t, .index = n->index, .role = n->role, .width = 1, .a = a };
    if (n->role == LOOP_SERIAL)
        return "its iterations depend on each other";
    if (m->vector_bytes == 0)
        return "the target has no vectors";
    return n->step != 1 || !fits(c, n, true) ? "what is in it cannot go in step" : NULL;
}

const char *vectorize_refusal(Arena *a, const Machine *m, const TileKernel *t, const Node *loop, int *most)
{
    Check c;
    const char *why = impossible(a, m, t, loop, &c);
    *most = m->vector_bytes / c.width;
    return why;
}

// What speaks against lanes, or NULL. Fills in the check.
static const char *refusal(Plan *p, const TileKernel *t, Node *n, Check *c)
{
    const char *why = impossible(p->a, p->machine, t, n, c);
    if (why)
        return why;
    // What loops inside read counts alone, where there are any: it is read most.
    int most = c->reads[1].near + c->reads[1].far > 0;
    if (c->reads[most].far > 0 && c->reads[most].near == 0)
        return "it would gather all it reads";
    return c->hulls && c->reads[1].near == 0 ? LANES_APART : NULL;
}

// The loop that the node was made of, if a schedule asks something of it.
static Loop *asked_loop(const Plan *p, const Node *n)
{
    for (int i = 0; i < p->asked.n; i++) {
        Loop *loop = p->asked.at[i];
        for (int k = 0; k < loop->nodes.n; k++)
            if (loop->nodes.at[k] == n)
                return loop;
    }
    return NULL;
}

static bool try_loop(Plan *p, const TileKernel *t, Node *n)
{
    Check c;
    Loop *loop = asked_loop(p, n);
    int lanes = loop ? loop->lanes : 0;
    if (loop && loop->unroll)
        n->unroll = loop->unroll;
    if (!n->wanted || lanes == 1 || (p->opt_level == 0 && !(loop && loop->asked.end)))
        return false;
    const char *why = refusal(p, t, n, &c);
    int most = p->machine->vector_bytes / c.width;
    if (why == LANES_APART && loop && loop->asked.end)
        why = NULL;
    if (!why && (most < 2 || lanes > most))
        why = arena_printf(p->a, "vectors of %d bytes hold %d elements of %d", p->machine->vector_bytes, most, c.width);
    if (why) {
        if (loop)
            loop->refusal = why;
        return false;
    }
    n->lanes = lanes ? lanes : most;
    n->unroll = loop && loop->unroll ? loop->unroll : choose_unroll(p->machine, &c, n);
    return true;
}

// A schedule asks for vectors along a loop, and no piece of it has any.
static void check_asked(Plan *p, const Loop *loop)
{
    if (loop->asked.end == 0 || !loop->refusal)
        return;
    for (int i = 0; i < loop->nodes.n; i++)
        if (loop->nodes.at[i]->lanes > 1)
            return;
    if (schedule_told(p->schedule, loop->asked))
        return;
    if (loop->lanes)
        diag_report(p->g->diags, D_TARGET, loop->asked, "the loop over `%s` cannot run in vectors of %d: %s", loop->name, loop->lanes, loop->refusal);
    else
        diag_report(p->g->diags, D_TARGET, loop->asked, "the loop over `%s` cannot run in vectors: %s", loop->name, loop->refusal);
}

static bool asks_unroll(const Plan *p, const Node *n)
{
    const Loop *loop = asked_loop(p, n);
    return loop && loop->unroll;
}

// Rows at a time around the vectors of a contraction: half of the registers accumulate, and the vectors that the rows share
// are loaded once.
static void choose_rows(Plan *p, const TileKernel *t, Node *n)
{
    if (n->unroll > 1 || !node_can_jam(t, n) || asks_unroll(p, n))
        return;
    Node *inner = n->body.at[0];
    Check c = { .t = t, .index = inner->index, .role = inner->role, .width = 1, .a = p->a };
    int accumulators = (p->machine->vector_registers > 0 ? p->machine->vector_registers : 16) / 2, locals = count_locals(inner);
    if (!fits(&c, inner, true) || c.updates == 0 || c.nested == 0 || locals == 0 || locals * 2 * ROWS > accumulators)
        return;
    if (!asks_unroll(p, inner))
        inner->unroll = accumulators / (ROWS * locals) < 4 ? accumulators / (ROWS * locals) : 4;
    if (inner->unroll * ROWS * locals <= accumulators)
        n->unroll = ROWS;
}

static void visit(Plan *p, const TileKernel *t, Node *n)
{
    if (n->kind == NODE_LOOP && try_loop(p, t, n))
        return;
    for (int i = 0; i < n->body.n; i++)
        visit(p, t, n->body.at[i]);
    choose_rows(p, t, n);
}

void vectorize_kernel(Plan *p, TileKernel *t)
{
    visit(p, t, t->root);
    for (int i = 0; i < p->asked.n; i++)
        check_asked(p, p->asked.at[i]);
}
