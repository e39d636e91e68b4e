// tokens: tokens for the dependences that nothing else keeps in order.
//
// A buffer's operations follow each other within an iteration (what is written is read), and through its slots: what fills
// slot k again waits for what read it last, as many groups of iterations ago as there are slots. Operations of one
// unit run in order by themselves, and a wait holds for all that its core issues later. So of several needs for one operation the
// earliest is enough, and a need is met, too, by a wait for a later operation of the same unit.
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

// Both wait in every iteration: which iteration of its operation did the last wait of `by`, before `n` waits, see? (One that
// exists whenever that of `n` does: in the first and last steps, too, there has to be something that was waited for.)
static bool meets_always(const Scheduling *s, const Need *by, const Need *n)
{
    if (by->from->unit != n->from->unit)
        return false;
    int d = n->to->stage - by->to->stage - (s->position[by->to->id] > s->position[n->to->id]);
    int later = (d < 0 ? d : 0) - by->distance + n->distance;
    return later >= 0 && not_before(s, by->from, later, n->from);
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

static bool is_always(When w) { return !w.first && !w.last; }

static bool meets(const Scheduling *s, const Need *by, const Need *n)
{
    bool always = is_always(by->signal) && is_always(by->wait) && is_always(n->signal) && is_always(n->wait);
    return always ? meets_always(s, by, n) : meets_group(s, by, n);
}

// ---- needs --------------------------------------------------------------------------------------------------------------------

static bool is_met(const Scheduling *s, const Need *n)
{
    for (int i = 0; i < s->needs.n; i++)
        if (meets(s, &s->needs.at[i], n))
            return true;
    return false;
}

static int key(const Scheduling *s, const Need *n)
{
    return (n->distance + n->to->stage) * (s->p->ops.n + 1) + s->position[n->to->id];
}

typedef VEC(Need) Needs;

static void add_need(Scheduling *s, Needs *all, MoveOp *from, MoveOp *to, int level, int distance)
{
    if (from->unit == to->unit)
        return;
    Need n = { from, to, level, distance, -1, last_in_group(s, from->when, level), first_in_group(s, to->when, level) };
    if (distance == 0 && !ends_before(s, n.signal, n.wait, level))
        s->problem = "an operation reads what another one is still writing";
    VEC_PUSH(s->a, all, n);
}

static void give_token(Scheduling *s, Need n)
{
    int at = n.from->signal[0] < 0 ? 0 : 1;
    if (n.from->signal[at] >= 0) {
        s->problem = "an operation would have to signal more than two tokens";
        return;
    }
    n.token = s->p->tokens.n;
    n.from->signal[at] = n.token;
    n.from->signals[at] = n.signal;
    const char *name = arena_printf(s->a, "%s%d", n.distance ? "free" : "full", n.token);
    int ahead = n.to->stage - n.from->stage;
    int depth = n.distance + (ahead > 0 ? ahead : 0) + 1;
    VEC_PUSH(s->a, &s->p->tokens, ((Token){ name, n.distance, depth }));
    VEC_PUSH(s->a, &s->needs, n);
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
            give_token(s, all.at[best]);
    }
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
