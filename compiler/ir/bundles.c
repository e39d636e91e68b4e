// What several parts of the compiler ask about programs of bundles (see bundles.h).
#include "ir/bundles.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

bool program_is_task(const BundleProgram *p)
{
    return p->ops.n == 1 && p->ops.at[0]->kind == MOVE_TASK;
}

const char *const *program_units(void)
{
    static const char *const names[MAX_UNITS] = { "cube", "vector", "load", "store", "dma", "scalar" };
    return names;
}

// ---- names ------------------------------------------------------------------------------------------------------------

static bool is_taken(const BundleProgram *p, const char *name, int buffers, int tokens)
{
    for (int i = 0; i < buffers; i++)
        if (strcmp(p->buffers.at[i]->name, name) == 0)
            return true;
    for (int i = 0; i < tokens; i++)
        if (strcmp(p->tokens.at[i].name, name) == 0)
            return true;
    return false;
}

static const char *own_name(Arena *a, const BundleProgram *p, const char *wish, int buffers, int tokens)
{
    char *plain = arena_strdup(a, wish);
    for (char *c = plain; *c; c++)
        *c = isalnum((unsigned char)*c) ? *c : '_';
    const char *name = plain;
    for (int i = 2; is_taken(p, name, buffers, tokens); i++)
        name = arena_printf(a, "%s_%d", plain, i);
    return name;
}

void program_name(Arena *a, BundleProgram *p)
{
    for (int i = 0; i < p->buffers.n; i++)
        p->buffers.at[i]->name = own_name(a, p, p->buffers.at[i]->name, i, 0);
    for (int i = 0; i < p->tokens.n; i++)
        p->tokens.at[i].name = own_name(a, p, p->tokens.at[i].name, 0, i);
}

// ---- order ----------------------------------------------------------------------------------------------------------------

// Where a bundle stands, its loop being one place if it has stages.
static int place_of(const BundleProgram *p, int bundle)
{
    int place = bundle;
    for (int i = 0; i < p->loops.n; i++)
        if (p->loops.at[i].stages > 1 && p->loops.at[i].first <= bundle && bundle < p->loops.at[i].end)
            place = p->loops.at[i].first;
    return place;
}

int *program_usual_order(Arena *a, const BundleProgram *p)
{
    int *order = ARENA_ARRAY(a, int, p->ops.n + 1), *place = ARENA_ARRAY(a, int, p->ops.n + 1), n = 0;
    for (int i = 0; i < p->ops.n && !p->bundles.n; i++)
        order[i] = i;
    for (int b = 0; b < p->bundles.n; b++)
        for (int u = 0; u < MAX_UNITS; u++) {
            int op = p->bundles.at[b].op[u], at = n, here = place_of(p, b);
            if (op < 0 || op >= p->ops.n || n == p->ops.n)
                continue;
            for (; at > 0 && place[at - 1] == here && p->ops.at[order[at - 1]]->stage > p->ops.at[op]->stage; at--) {
                order[at] = order[at - 1];
                place[at] = place[at - 1];
            }
            order[at] = op;
            place[at] = here;
            n++;
        }
    return order;
}

// ---- without bundles ----------------------------------------------------------------------------------------------------

static MoveOp *loose_op(Arena *a, const MoveOp *op)
{
    MoveOp *x = ARENA_NEW(a, MoveOp);
    *x = *op;
    x->stage = 0;
    for (int i = 0; i < MAX_SIGNALS; i++) {
        x->signal[i] = -1;
        x->signals[i] = (When){ 0, 0 };
    }
    return x;
}

// The operations of the bundles [first, end), as an interval.
static BundleLoop loose_loop(const BundleProgram *p, const BundleLoop *l)
{
    BundleLoop x = *l;
    x.first = INT_MAX;
    x.end = 0;
    x.stages = 1;
    for (int i = l->first; i < l->end && i < p->bundles.n; i++)
        for (int u = 0; u < MAX_UNITS; u++) {
            int op = p->bundles.at[i].op[u];
            x.first = op >= 0 && op < x.first ? op : x.first;
            x.end = op >= x.end ? op + 1 : x.end;
        }
    x.first = x.first > x.end ? x.end : x.first;
    return x;
}

BundleProgram *program_loose(Arena *a, const BundleProgram *p)
{
    BundleProgram *x = ARENA_NEW(a, BundleProgram);
    x->buffers = p->buffers;
    for (int i = 0; i < p->ops.n; i++)
        VEC_PUSH(a, &x->ops, loose_op(a, p->ops.at[i]));
    for (int i = 0; i < p->loops.n; i++)
        VEC_PUSH(a, &x->loops, p->bundles.n ? loose_loop(p, &p->loops.at[i]) : p->loops.at[i]);
    memcpy(x->need, p->need, sizeof x->need);
    return x;
}
