// tokens: tokens for the dependences that nothing else keeps in order.
//
// A buffer's operations follow each other within an iteration (what is written is read), and through its slots: what fills
// slot k again waits for what read it last, as many groups of iterations ago as there are slots. Operations of one
// unit run in order by themselves, and a wait holds for all that its core issues later. So what a chain of other waits and of
// units' orders keeps in order needs no token: of the needs, what is left has no other (the transitive reduction of
// happens-before). Test: tests/golden/bundles/tokens.pto
#include "bundles/tokens.h"

// ---- when -------------------------------------------------------------------------------------------------------------------

static unsigned digits_from(const Scheduling *s, int level) { return ((1u << s->ndigits) - 1) & ~((1u << level) - 1); }

// The last of the iterations of a group in which something happens; the first.
static When last_in_group(const Scheduling *s, When w, int level) { return (When){ w.first, w.last | (digits_from(s, level) & ~w.first) }; }
static When first_in_group(const Scheduling *s, When w, int level) { return (When){ w.first | (digits_from(s, level) & ~w.last), w.last }; }

// Is the last iteration of x, in its group, surely not after the first of y?
static bool ends_before(const Scheduling *s, When x, When y, int level)
{
    for (int d = level; d < s->ndigits; d++) {
        bool high = x.last >> d & 1, other = y.last >> d & 1;
        if (high != other)
            return other;
    }
    return true;
}

static bool same(When x, When y) { return x.first == y.first && x.last == y.last; }

// ---- what waits already meet --------------------------------------------------------------------------------------------------

// Whether iteration t + d of `to` is issued at or after iteration t of `from`.
static bool not_before(const Scheduling *s, const MoveOp *to, int d, const MoveOp *from)
{
    int far = to->stage + d - from->stage;
    return far > 0 || (far == 0 && s->position[to->id] >= s->position[from->id]);
}

// The first iteration of `to`, counted from that of `from`, that is issued at or after it.
static int first_after(const Scheduling *s, const MoveOp *from, const MoveOp *to)
{
    return from->stage - to->stage + (s->position[to->id] < s->position[from->id]);
}

static bool is_always(When w) { return !w.first && !w.last; }
static bool waits_always(const Need *n) { return is_always(n->signal) && is_always(n->wait); }

typedef struct { const Scheduling *s; const Need *n; int *after; bool changed; } Chains;

// `op` in iteration t + at comes after n->from in iteration t. (Only iterations from t to that of n->to surely exist.)
static void reach(Chains *c, const MoveOp *op, int at)
{
    at = at < 0 ? 0 : at;
    if (!is_always(op->when) || at > c->n->distance || c->after[op->id] <= at)
        return;
    c->after[op->id] = at;
    c->changed = true;
}

// What follows it on its unit, and what is issued when tokens of it were waited for, comes after it too.
static void follow(Chains *c, const MoveOp *op)
{
    const Scheduling *s = c->s;
    int at = c->after[op->id];
    for (int i = 0; i < s->p->ops.n; i++)
        if (s->p->ops.at[i]->unit == op->unit)
            reach(c, s->p->ops.at[i], at + first_after(s, op, s->p->ops.at[i]));
    for (int k = 0; k < s->needs.n; k++) {
        const Need *by = &s->needs.at[k];
        int waits = at + by->distance;
        if (by == c->n || by->from != op || !waits_always(by) || waits > c->n->distance)
            continue;
        for (int i = 0; i < s->p->ops.n; i++)
            reach(c, s->p->ops.at[i], waits + first_after(s, by->to, s->p->ops.at[i]));
    }
}

// All wait in every iteration: do chains of others keep these two in order?
static bool meets_together(const Scheduling *s, const Need *n)
{
    Chains c = { s, n, ARENA_ARRAY(s->a, int, s->p->ops.n + 1), true };
    for (int i = 0; i < s->p->ops.n; i++)
        c.after[i] = INT_MAX;
    c.after[n->from->id] = 0;
    while (c.changed) {
        c.changed = false;
        for (int i = 0; i < s->p->ops.n; i++)
            if (c.after[i] != INT_MAX)
                follow(&c, s->p->ops.at[i]);
    }
    return c.after[n->to->id] <= n->distance;
}

// For the same operation, in groups that may be short.
static bool meets_group(const Scheduling *s, const Need *by, const Need *n)
{
    if (by->from != n->from || by->level != n->level || !same(by->signal, n->signal) || by->distance > n->distance)
        return false;
    if (!ends_before(s, by->wait, n->wait, n->level) && by->distance == n->distance)
        return false;
    return not_before(s, n->to, n->distance - by->distance, by->to);
}

// ---- needs --------------------------------------------------------------------------------------------------------------------

// By the needs that have a token, others than itself.
static bool is_met(const Scheduling *s, const Need *n)
{
    if (waits_always(n))
        return meets_together(s, n);
    for (int i = 0; i < s->needs.n; i++)
        if (&s->needs.at[i] != n && meets_group(s, &s->needs.at[i], n))
            return true;
    return false;
}

static int key(const Scheduling *s, const Need *n)
{
    return (n->distance + n->to->stage) * (s->p->ops.n + 1) + s->position[n->to->id];
}

typedef VEC(Need) Needs;

// ---- how many there are -------------------------------------------------------------------------------------------------------

// The c of ceil(a / ceil(a / c)), which is at most that: what is cut into parts of a size that makes so many; 0: it is none.
static int64_t parts_of(const Expr *x)
{
    const Expr *up = x->args[0], *size = x->args[1];
    if (size->op != OP_MAX || !expr_is_int(size->args[1], 1) || size->args[0]->op != x->op || size->args[0]->args[1]->op != OP_CONST)
        return 0;
    if (up->op != OP_SUB || !expr_is_int(up->args[1], 1) || up->args[0]->op != OP_ADD || !expr_equal(up->args[0]->args[1], size))
        return 0;
    const Expr *whole = up->args[0]->args[0], *share = size->args[0]->args[0];
    int64_t c = size->args[0]->args[1]->i;
    bool same = c == 1 ? expr_equal(share, whole) : share->op == OP_ADD && expr_is_int(share->args[1], c - 1) && expr_equal(share->args[0], whole);
    return c > 0 && same ? c : 0;
}

// An upper bound of a count; INT64_MAX: none is known.
static int64_t most_of(const Expr *x)
{
    int64_t a, b;
    switch ((int)x->op) {
    case OP_CONST: return x->i;
    case OP_MIN: case OP_MAX:
        a = most_of(x->args[0]);
        b = most_of(x->args[1]);
        return (a < b) == (x->op == OP_MIN) ? a : b;
    case OP_SELECT:
        a = most_of(x->args[1]);
        b = most_of(x->args[2]);
        return a > b ? a : b;
    case OP_DIV: case OP_FLOORDIV: return parts_of(x) > 0 ? parts_of(x) : INT64_MAX;
    default: return INT64_MAX;
    }
}

// Are there never so many groups of iterations that one waits for another?
static bool is_never(const Scheduling *s, int level, int distance)
{
    int64_t groups = 1, most;
    for (int d = 0; d < level; d++)
        if ((most = most_of(s->p->loops.at[0].count[d])) > distance || __builtin_mul_overflow(groups, most > 1 ? most : 1, &groups))
            return false;
    return groups <= distance;
}

static void add_need(Scheduling *s, Needs *all, MoveOp *from, MoveOp *to, int level, int distance)
{
    if (from->unit == to->unit || (distance > 0 && is_never(s, level, distance)))
        return;
    Need n = { from, to, level, distance, -1, last_in_group(s, from->when, level), first_in_group(s, to->when, level) };
    if (distance == 0 && !ends_before(s, n.signal, n.wait, level))
        s->problem = "an operation reads what another one is still writing";
    VEC_PUSH(s->a, all, n);
}

static void give_token(Scheduling *s, Need *n)
{
    int at = n->from->signal[0] < 0 ? 0 : 1;
    if (n->from->signal[at] >= 0) {
        s->problem = "an operation would have to signal more than two tokens";
        return;
    }
    n->token = s->p->tokens.n;
    n->from->signal[at] = n->token;
    n->from->signals[at] = n->signal;
    const char *name = arena_printf(s->a, "%s%d", n->distance ? "free" : "full", n->token);
    int ahead = n->to->stage - n->from->stage;
    int depth = n->distance + (ahead > 0 ? ahead : 0) + 1;
    VEC_PUSH(s->a, &s->p->tokens, ((Token){ name, n->distance, depth }));
}

// Of needs that were there before it, one may be met once others are: what is left is met by nothing else.
static void reduce(Scheduling *s)
{
    for (int i = 0; i < s->needs.n;) {
        if (!is_met(s, &s->needs.at[i])) {
            i++;
            continue;
        }
        for (int k = i + 1; k < s->needs.n; k++)
            s->needs.at[k - 1] = s->needs.at[k];
        s->needs.n--;
    }
}

bool tokens_choose(Scheduling *s)
{
    Needs all = { 0 };
    for (int i = 0; i < s->edges.n; i++) {
        const Edge *e = &s->edges.at[i];
        add_need(s, &all, e->from, e->to, e->level, 0);
        if (e->level > 0)
            add_need(s, &all, e->to, e->from, e->level, e->buffer->slots);
    }
    bool *done = ARENA_ARRAY(s->a, bool, all.n + 1);
    for (int i = 0; i < all.n && !s->problem; i++) {
        int best = -1;
        for (int k = 0; k < all.n; k++)
            if (!done[k] && (best < 0 || key(s, &all.at[k]) < key(s, &all.at[best])))
                best = k;
        done[best] = true;
        if (!is_met(s, &all.at[best]))
            VEC_PUSH(s->a, &s->needs, all.at[best]);
    }
    reduce(s);
    for (int i = 0; i < s->needs.n && !s->problem; i++)
        give_token(s, &s->needs.at[i]);
    return !s->problem;
}

int tokens_waits(const Scheduling *s, const MoveOp *op, Wait *wait)
{
    int n = 0;
    for (int i = 0; i < s->needs.n && n < MAX_NEEDS; i++)
        if (s->needs.at[i].to == op)
            wait[n++] = (Wait){ s->needs.at[i].token, op->stage, s->needs.at[i].wait };
    return n;
}
