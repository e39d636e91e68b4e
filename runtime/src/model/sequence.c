// Sequencers: the bundles of a resident task, in order, at most one in a cycle.
//
// A bundle is decoded once: which of its waits and operations belong to an iteration that exists and whose conditions
// hold. It issues in the first cycle in which all of these waits have their counts and all queues have room; what keeps
// it back is looked at again when an operation completes. A wait brings the clock of the signal that it pairs with.
//
// Test: tests/unit/test_model.c
#include "state.h"

#include <string.h>

// ---- digits ---------------------------------------------------------------------------------------------------------------

bool digits_hold(const Launch *L, int loop, pto_when when, const int64_t *iv) {
    if (when.never || (when.first == 0 && when.last == 0))
        return !when.never;
    for (; loop >= 0; loop = L->loops[loop].parent)
        for (int d = 0; d < L->loops[loop].ndigits; d++) {
            int v = L->loops[loop].iv + d, digit = v - PTO_FIRST_DIGIT;
            if ((when.first >> digit & 1 && iv[v] != 0) || (when.last >> digit & 1 && iv[v] != L->loops[loop].count[d] - 1))
                return false;
        }
    return true;
}

static void decode_digits(const Loop *l, int64_t iteration, int64_t *iv) {
    for (int d = l->ndigits - 1; d >= 0; d--) {
        iv[l->iv + d] = iteration % l->count[d];
        iteration /= l->count[d];
    }
}

static bool find_ivs(const Launch *L, const Resident *r, int loop, int stage, int64_t iv[PTO_MAX_IVS]) {
    memcpy(iv, r->iv, sizeof r->iv);
    if (loop < 0)
        return true;
    int64_t iteration = r->step[r->depth - 1] - stage;
    if (iteration < 0 || iteration >= L->loops[loop].iterations)
        return false;
    decode_digits(&L->loops[loop], iteration, iv);
    return true;
}

// Induction variables of the bundle at hand in `stage`; NULL: there is no such iteration. Found once for all bundles of a step.
static const int64_t *stage_ivs(const Launch *L, Resident *r, int stage, int64_t room[PTO_MAX_IVS]) {
    int loop = L->bundles[r->pc].loop;
    if (loop < 0 || stage >= MOST_KNOWN)
        return find_ivs(L, r, loop, stage, room) ? room : NULL;
    unsigned bit = 1u << stage;
    if (!(r->known & bit)) {
        r->known |= bit;
        r->exists = find_ivs(L, r, loop, stage, r->stage_iv[stage]) ? r->exists | bit : r->exists & ~bit;
    }
    return r->exists & bit ? r->stage_iv[stage] : NULL;
}

// ---- the next bundle ------------------------------------------------------------------------------------------------------

static int loop_here(const Launch *L, const Resident *r, int around) {
    int k = L->bundles[r->pc].enter;
    while (k >= 0 && L->loops[k].parent != around)
        k = L->loops[k].inner;
    return k;
}

static void loop_enter(Launch *L, Resident *r, int k, int around) {
    r->known = 0;
    if (around >= 0)
        decode_digits(&L->loops[around], r->step[r->depth - 1], r->iv);
    r->loop[r->depth] = k;
    r->step[r->depth++] = 0;
}

static void loop_end(Launch *L, Resident *r) {
    r->known = 0;
    const Loop *l = &L->loops[r->loop[r->depth - 1]];
    if (++r->step[r->depth - 1] < l->steps) {
        r->pc = l->first;
        return;
    }
    for (int d = 0; d < l->ndigits; d++)
        r->iv[l->iv + d] = 0;
    r->depth--;
}

// Through ends and begins of loops to a bundle, or to the end of the program.
static void settle(Launch *L, Resident *r) {
    for (;;) {
        int around = r->depth > 0 ? r->loop[r->depth - 1] : -1;
        if (around >= 0 && r->pc == L->loops[around].end) {
            loop_end(L, r);
            continue;
        }
        if (r->pc == L->program->nbundles) {
            r->issued = true;
            return;
        }
        int k = loop_here(L, r, around);
        if (k < 0)
            return;
        if (L->loops[k].steps == 0)
            r->pc = L->loops[k].end;
        else
            loop_enter(L, r, k, around);
    }
}

static void decode(Launch *L, Resident *r) {
    const pto_bundle *b = &L->program->bundles[r->pc];
    int loop = L->bundles[r->pc].loop;
    const int64_t *iv;
    int64_t room[PTO_MAX_IVS];
    r->nwaits = r->nops = 0;
    for (int k = 0; k < 4; k++)
        if (b->wait[k].token != 0 && (iv = stage_ivs(L, r, b->wait[k].stage, room)) != NULL && digits_hold(L, loop, b->wait[k].when, iv))
            r->waits[r->nwaits++] = b->wait[k].token - 1;
    for (int s = 0; s < PTO_SLOTS; s++) {
        const pto_op *op = b->op[s] != 0 ? &L->program->ops[b->op[s] - 1] : NULL;
        if (op != NULL && (iv = stage_ivs(L, r, op->stage, room)) != NULL && digits_hold(L, loop, op->when, iv))
            r->ops[r->nops++] = b->op[s] - 1;
    }
    r->decoded = true;
}

// ---- issue ----------------------------------------------------------------------------------------------------------------

static bool held_back(Launch *L, const Resident *r, pto_stall *cause, int *token) {
    *token = -1;
    for (int k = 0; k < r->nwaits; k++) {
        int wanted = 0;
        for (int j = 0; j <= k; j++)
            wanted += r->waits[j] == r->waits[k];
        if (r->tokens[r->waits[k]].count >= wanted)
            continue;
        *cause = PTO_STALL_TOKEN;
        *token = r->waits[k];
        return true;
    }
    *cause = PTO_STALL_QUEUE;
    for (int k = 0; k < r->nops; k++) {
        int slot = (int)L->program->ops[r->ops[k]].slot;
        if (unit_of(L, r->core, slot)->count == L->machine->unit[slot].queue)
            return true;
    }
    return false;
}

static void stall(Launch *L, Resident *r, pto_stall cause, int token) {
    if (r->stalled && r->cause == cause && r->stall_token == token)
        return;
    if (r->stalled)
        count_stall(L, r, L->now);
    r->stalled = true;
    r->cause = cause;
    r->stall_token = token;
    r->since = L->now;
}

static void join(Clock *c, const Clock *with) {
    for (int s = 0; s < PTO_SLOTS; s++)
        if (c->at[s] < with->at[s])
            c->at[s] = with->at[s];
}

static void take_tokens(Launch *L, Resident *r) {
    for (int k = 0; k < r->nwaits; k++) {
        Token *t = &r->tokens[r->waits[k]];
        join(&r->clock, &t->clock[t->head]);
        t->head = (t->head + 1) % L->program->tokens[r->waits[k]].depth;
        t->count--;
    }
}

static bool issue_op(Launch *L, Resident *r, int op) {
    const pto_op *t = &L->program->ops[op];
    Unit *u = unit_of(L, r->core, (int)t->slot);
    Clock *before = &r->unit_clock[t->slot];
    uint32_t seq = before->at[t->slot] + 1;
    if (seq == UINT32_MAX)
        return model_fault(L, "limit", NULL, "too many operations in one task");
    if (!launch_grow(L, &r->history[t->slot], &r->history_room[t->slot], (size_t)seq + 1, sizeof *r->history[t->slot]))
        return false;
    Instance *in = &u->ring[(u->first + u->count++) % L->machine->unit[t->slot].queue];
    *in = (Instance){.op = op, .bundle = r->pc, .resident = r, .seq = seq, .position = position_of(L, r, op)};
    r->history[t->slot][seq] = (Done){.position = in->position, .count = -1, .bundle = r->pc, .op = op};
    int64_t room[PTO_MAX_IVS];
    memcpy(in->iv, stage_ivs(L, r, t->stage, room), sizeof in->iv);             // (there is one: it was decoded)
    join(before, &r->clock);
    before->at[t->slot] = seq;
    in->clock = *before;
    r->inflight++;
    return true;
}

static bool issue(Launch *L, Resident *r) {
    take_tokens(L, r);
    for (int k = 0; k < r->nops; k++)
        if (!issue_op(L, r, r->ops[k]))
            return false;
    L->model->totals.bundles++;
    r->last = L->now + 1;
    r->decoded = false;
    r->pc++;
    settle(L, r);
    for (int k = 0; k < r->nops; k++)
        if (!unit_start(L, r->core, (int)L->program->ops[r->ops[k]].slot))
            return false;
    return true;
}

static bool goes_on(Launch *L, Resident *r) {
    if (r->issued)
        return r->inflight > 0 || engine_push(L, r->last, HAPPENS_END, r->core, r->number, r);
    r->scheduled = true;
    return engine_push(L, L->now + 1, HAPPENS_ISSUE, r->core, r->number, r);
}

bool sequence_issue(Launch *L, Resident *r) {
    r->scheduled = false;
    if (r->issued)
        return goes_on(L, r);
    if (!r->decoded)
        decode(L, r);
    pto_stall cause;
    int token;
    if (held_back(L, r, &cause, &token)) {
        stall(L, r, cause, token);
        return true;
    }
    if (r->stalled)
        count_stall(L, r, L->now);
    r->stalled = false;
    return issue(L, r) && goes_on(L, r);
}

bool sequence_wake(Launch *L, Resident *r) {
    if (r->scheduled)
        return true;
    r->scheduled = true;
    return engine_push(L, L->now, HAPPENS_ISSUE, r->core, r->number, r);
}

// A task begins: as if nothing had been there before.
bool sequence_begin(Launch *L, Resident *r) {
    r->pc = r->depth = r->nwaits = r->nops = r->inflight = 0;
    r->decoded = r->issued = r->stalled = false;
    r->last = r->begun;
    memset(r->iv, 0, sizeof r->iv);
    memcpy(r->iv, r->tile, sizeof r->tile);
    memset(&r->clock, 0, sizeof r->clock);
    memset(r->unit_clock, 0, sizeof r->unit_clock);
    for (int k = 0; k < L->program->ntokens; k++) {
        Token *t = &r->tokens[k];
        t->head = 0;
        t->count = L->program->tokens[k].initial;
        memset(t->clock, 0, (size_t)t->count * sizeof *t->clock);
    }
    for (int m = 0; m < L->machine->nmemories; m++) {
        Shadow *s = &r->shadow[m];
        if (s->state == NULL)
            continue;
        segments_reset(&s->segments);
        for (int64_t i = 0; i < s->segments.size; i += SEGMENT_MOST)
            s->state[i] = (Granule){0};
    }
    settle(L, r);
    r->scheduled = true;
    return engine_push(L, r->begun, HAPPENS_ISSUE, r->core, r->number, r);
}
