// schedule: modulo scheduling of a task's operations (see schedule.h).
//
// The loop runs one step after the other; an operation of stage s belongs, in step t, to iteration t - s. So the first
// and the last steps, in which some stages have no iteration, are prologue and epilogue, and no code is copied
// (kernel-only schedules, as machines with rotating predicates have them). Two operations that share a buffer and run on different
// units are as many stages apart as the buffer has slots to spare: with two slots a move fills the one while the other
// is read. Within a step what keeps the busiest unit fed comes first, then later stages before earlier ones: what an operation
// waits for was then issued a step ago. Every dependence that neither a unit's own order nor an earlier
// wait already implies gets a token (tokens.c). Test: tests/golden/model, tests/golden/bundles
#include "bundles/schedule.h"

#include "bundles/tokens.h"

#include <string.h>

enum { SOON = 4 };

// ---- dependences ------------------------------------------------------------------------------------------------------------

static bool touches(const MoveOp *op, const Buffer *x, bool *writes, int *level)
{
    bool found = false;
    for (int q = 0; q < op->noperands; q++)
        if (op->operand[q].buffer == x) {
            found = true;
            *writes = *writes || q == 0;
            *level = op->operand[q].digits;
        }
    return found;
}

// All pairs that share a buffer, the earlier one first, where one of them writes.
static void add_edges(Scheduling *s, Buffer *x)
{
    for (int i = 0; i < s->p->ops.n; i++)
        for (int k = i + 1; k < s->p->ops.n; k++) {
            MoveOp *from = s->p->ops.at[i], *to = s->p->ops.at[k];
            bool first = false, second = false;
            int level = 0, other = 0;
            if (touches(from, x, &first, &level) && touches(to, x, &second, &other) && (first || second))
                VEC_PUSH(s->a, &s->edges, ((Edge){ x, from, to, level }));
        }
}

// What is done in every step counts; the rest where there is nothing else.
static void find_busiest(Scheduling *s)
{
    int64_t cycles[2][MAX_UNITS] = { { 0 } };
    for (int i = 0; i < s->p->ops.n; i++) {
        const MoveOp *op = s->p->ops.at[i];
        cycles[op->when.first || op->when.last][op->unit] += op->cycles;
        s->crowded[op->unit] += op->crowded;
    }
    for (int u = 0; u < MAX_UNITS; u++)
        if (cycles[0][u] > s->busy) {
            s->busiest = u;
            s->busy = cycles[0][u];
        }
}

// ---- stages -----------------------------------------------------------------------------------------------------------------

// Through a buffer that is filled once there is nothing to overlap with. What is soon done, next to what a step takes, may be
// waited for in the step itself: the busiest unit has its queue meanwhile.
static int apart(const Scheduling *s, const Edge *e)
{
    const MoveOp *from = e->from;
    if (from->unit == e->to->unit || e->level == 0)
        return 0;
    if (e->buffer->ahead >= 0)
        return e->buffer->ahead;
    bool soon = from->unit != s->busiest && SOON * s->crowded[from->unit] <= s->busy;
    return soon ? 0 : e->buffer->depth - 1;
}

static void set_stages(Scheduling *s)
{
    for (int i = 0; i < s->p->ops.n; i++) {
        MoveOp *op = s->p->ops.at[i];
        op->stage = 0;
        for (int k = 0; k < s->edges.n; k++) {
            const Edge *e = &s->edges.at[k];
            if (e->to == op && e->from->stage + apart(s, e) > op->stage)
                op->stage = e->from->stage + apart(s, e);
        }
    }
}

// A move into the chip that nothing holds up may wait for its stage: not earlier than its first reader needs.
static void set_slots(Scheduling *s)
{
    for (int i = 0; i < s->p->buffers.n; i++) {
        Buffer *x = s->p->buffers.at[i];
        int first = INT_MAX, last = 0;
        bool held = false, shared = false;
        for (int k = 0; k < s->edges.n; k++) {
            const Edge *e = &s->edges.at[k];
            if (e->buffer != x || e->level == 0)
                continue;
            first = e->from->stage < first ? e->from->stage : first;
            last = e->to->stage > last ? e->to->stage : last;
            held = true;
            shared = shared || e->from->unit != e->to->unit;
        }
        int span = held ? last - first + 1 : 1;
        x->slots = shared && x->depth > span ? x->depth : span;
    }
}

// ---- the order within a step --------------------------------------------------------------------------------------------------

// Operations of one stage stay in order where they depend on each other, and those of a unit where they share anything.
static bool is_ready(const Scheduling *s, const bool *placed, const MoveOp *op)
{
    for (int k = 0; k < s->edges.n; k++) {
        const Edge *e = &s->edges.at[k];
        if (e->to == op && !placed[e->from->id] && e->from->stage == op->stage)
            return false;
    }
    return true;
}

// Does the busiest unit wait for it in this step?
static bool feeds(const Scheduling *s, const MoveOp *op)
{
    for (int k = 0; k < s->edges.n; k++) {
        const Edge *e = &s->edges.at[k];
        if (e->from == op && e->to->unit == s->busiest && e->to->stage == op->stage)
            return true;
    }
    return false;
}

// The busiest unit's queue is filled first, and with what it waits for; what would wait for room in it comes after everything
// else.
static int rank(const Scheduling *s, const MoveOp *op, int queued)
{
    bool room = queued < s->m->unit[s->busiest].queue;
    if (op->unit == s->busiest)
        return room ? 0 : 3;
    return room && feeds(s, op) ? 1 : 2;
}

static bool goes_first(const Scheduling *s, const MoveOp *x, const MoveOp *y, int queued)
{
    int a = rank(s, x, queued), b = rank(s, y, queued);
    if (a != b)
        return a < b;
    return x->stage != y->stage ? x->stage > y->stage : x->id < y->id;
}

static void set_order(Scheduling *s)
{
    int n = s->p->ops.n, queued = 0;
    bool *placed = ARENA_ARRAY(s->a, bool, n + 1);
    s->order = ARENA_ARRAY(s->a, MoveOp *, n + 1);
    for (int i = 0; i < n; i++) {
        MoveOp *best = NULL;
        for (int k = 0; k < n; k++) {
            MoveOp *op = s->p->ops.at[k];
            if (!placed[k] && is_ready(s, placed, op) && (!best || goes_first(s, op, best, queued)))
                best = op;
        }
        placed[best->id] = true;
        queued += best->unit == s->busiest;
        s->order[i] = best;
        s->position[best->id] = i;
    }
}

// ---- bundles ------------------------------------------------------------------------------------------------------------------

static bool shares(const Scheduling *s, const Bundle *b, const MoveOp *op)
{
    for (int k = 0; k < s->edges.n; k++) {
        const Edge *e = &s->edges.at[k];
        for (int u = 0; u < MAX_UNITS; u++)
            if (b->op[u] >= 0 && ((e->to == op && e->from->id == b->op[u]) || (e->from == op && e->to->id == b->op[u])))
                return true;
    }
    return false;
}

static Bundle *new_bundle(Scheduling *s)
{
    Bundle b = { .nwaits = 0 };
    memset(b.op, -1, sizeof b.op);
    VEC_PUSH(s->a, &s->p->bundles, b);
    return &s->p->bundles.at[s->p->bundles.n - 1];
}

// What waits for nothing goes with the operation before it.
static void pack(Scheduling *s)
{
    s->p->bundles.n = 0;
    Bundle *b = NULL;
    for (int i = 0; i < s->p->ops.n; i++) {
        MoveOp *op = s->order[i];
        Wait wait[MAX_NEEDS];
        int n = tokens_waits(s, op, wait);
        if (!b || n > 0 || b->op[op->unit] >= 0 || shares(s, b, op))
            b = new_bundle(s);
        for (int w = 0; w < n; w++) {
            if (b->nwaits == MAX_WAITS)
                b = new_bundle(s);
            b->wait[b->nwaits++] = wait[w];
        }
        b->op[op->unit] = op->id;
    }
}

// ---- the whole ------------------------------------------------------------------------------------------------------------------

static void set_loop(Scheduling *s)
{
    if (s->p->loops.n == 0)
        return;
    BundleLoop *l = &s->p->loops.at[0];
    l->first = 0;
    l->end = s->p->bundles.n;
    l->stages = 1;
    for (int i = 0; i < s->p->ops.n; i++)
        if (s->p->ops.at[i]->stage + 1 > l->stages)
            l->stages = s->p->ops.at[i]->stage + 1;
}

const char *bundle_schedule(Arena *a, const Machine *m, BundleProgram *p)
{
    Scheduling s = { .a = a, .m = m, .p = p, .ndigits = p->loops.n ? p->loops.at[0].ndigits : 0, .position = ARENA_ARRAY(a, int, p->ops.n + 1) };
    for (int i = 0; i < p->buffers.n; i++) {
        Buffer *x = p->buffers.at[i];
        x->depth = x->depth ? x->depth : x->slots;
        add_edges(&s, x);
    }
    find_busiest(&s);
    set_stages(&s);
    set_slots(&s);
    set_order(&s);
    if (!tokens_choose(&s))
        return s.problem;
    pack(&s);
    set_loop(&s);
    return NULL;
}
