// The reference evaluator: reductions and scans.
//
// A scan's value at a point is the combination of its body over the equation's points up to there along one index.
// Running values are kept per row, so that a row costs as much as a sum over it. A body may read elements that need
// the same scan at an earlier position: while it is evaluated the row may have moved on, which is why the row's
// position is looked at again afterwards.
#include "reference/run.h"

#include <math.h>
#include <string.h>

// ---- reductions ----

typedef struct { Run *run; const Loop *loop; int64_t *env; Accumulator acc; int64_t position; } Reduction;

// Evaluates the guards in order: 1 holds, 0 does not, -1 stop (*acc is poisoned).
static int guard(Run *r, const Loop *loop, int64_t *env, Accumulator *acc, bool *uncertain)
{
    for (int k = 0; k < loop->nconds; k++) {
        Value v = run_eval(r, loop->conds[k], env);
        if (value_is_poison(v)) {
            accumulator_add(acc, v, 0);
            return -1;
        }
        *uncertain |= v.err > 0;
        if (!v.i)
            return 0;
    }
    return 1;
}

static void reduce_point(Reduction *s)
{
    bool uncertain = false;
    int holds = guard(s->run, s->loop, s->env, &s->acc, &uncertain);
    if (holds > 0) {
        Value v = run_eval(s->run, s->loop->body, s->env);
        if (uncertain && !value_is_poison(v))
            v.err = INFINITY;
        bool one = s->loop->nspans == 1;
        accumulator_add(&s->acc, v, one ? s->env[s->loop->spans[0].slot] : s->position);
    } else if (uncertain) {
        s->acc.err = s->acc.best.err = INFINITY;
        s->acc.tie = true;
    }
    s->position++;
}

static void reduce_level(Reduction *s, int level)
{
    if (level == s->loop->nspans) {
        reduce_point(s);
        return;
    }
    const Span *span = &s->loop->spans[level];
    bool ok = true;
    int64_t lo = run_index(s->run, span->lo, s->env, &ok), hi = run_index(s->run, span->hi, s->env, &ok);
    if (!ok)
        accumulator_add(&s->acc, run_fault(s->run, REF_FAULT_DIVIDE, span->lo->expr, "a range that cannot be computed"), 0);
    for (int64_t x = lo; x < hi && !s->acc.poisoned; x++) {
        if (!run_work(s->run, 1)) {
            accumulator_add(&s->acc, value_poison(0), 0);
            return;
        }
        s->env[span->slot] = x;
        reduce_level(s, level + 1);
    }
}

__attribute__((noinline)) Value run_reduce(Run *r, const Node *n, int64_t *env)
{
    const Loop *loop = n->loop;
    Reduction s = {.run = r, .loop = loop, .env = env, .acc = accumulator_new(loop->nest->op, loop->body->type)};
    reduce_level(&s, 0);
    return accumulator_value(&s.acc);
}

// ---- scans ----

static uint64_t hash_key(const Loop *loop, const int64_t *env)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int k = 0; k < loop->nkeys; k++)
        if (k != loop->along) {
            h = (h ^ (uint64_t)env[k]) * 0xff51afd7ed558ccdu;
            h ^= h >> 32;
        }
    return h;
}

static bool same_key(const Loop *loop, const ScanRow *row, const int64_t *env)
{
    for (int k = 0; k < loop->nkeys; k++)
        if (k != loop->along && row->key[k] != env[k])
            return false;
    return true;
}

static void grow_rows(Run *r, Loop *loop)
{
    int capacity = loop->capacity ? 4 * loop->capacity : 16;
    ScanRow **rows = ARENA_ARRAY(r->arena, ScanRow *, capacity);
    for (int b = 0; b < loop->capacity; b++)
        for (ScanRow *row = loop->rows[b], *next; row; row = next) {
            next = row->next;
            uint64_t h = hash_key(loop, row->key) & (uint64_t)(capacity - 1);
            row->next = rows[h];
            rows[h] = row;
        }
    loop->rows = rows;
    loop->capacity = capacity;
}

static const Span *along_span(const Loop *loop)
{
    for (int k = 0; k < loop->definition->nspans; k++)
        if (loop->definition->spans[k].slot == loop->along)
            return &loop->definition->spans[k];
    return NULL;
}

static ScanRow *new_row(Run *r, const Node *n, int64_t *env)
{
    Loop *loop = n->loop;
    const Span *span = along_span(loop);
    bool ok = span != NULL;
    if (!ok)
        return NULL;
    int64_t lo = run_index(r, span->lo, env, &ok), hi = run_index(r, span->hi, env, &ok);
    if (!ok || hi <= lo || !run_work(r, hi - lo))
        return NULL;
    ScanRow *row = ARENA_NEW(r->arena, ScanRow);
    row->key = ARENA_ARRAY(r->arena, int64_t, loop->nkeys + 1);
    memcpy(row->key, env, sizeof *env * (size_t)loop->nkeys);
    row->lo = lo;
    row->length = hi - lo;
    row->acc = accumulator_new(loop->nest->op, n->type);
    row->prefix = ARENA_ARRAY(r->arena, Value, row->length + 1);
    row->prefix[0] = accumulator_value(&row->acc);
    return row;
}

static ScanRow *find_row(Run *r, const Node *n, int64_t *env)
{
    Loop *loop = n->loop;
    if (loop->nrows * 2 >= loop->capacity)
        grow_rows(r, loop);
    uint64_t h = hash_key(loop, env) & (uint64_t)(loop->capacity - 1);
    for (ScanRow *row = loop->rows[h]; row; row = row->next)
        if (same_key(loop, row, env))
            return row;
    ScanRow *row = new_row(r, n, env);
    if (!row)
        return NULL;
    row->next = loop->rows[h];
    loop->rows[h] = row;
    loop->nrows++;
    return row;
}

// Takes one more position into the row: a point outside the equation's domain, or skipped by a guard, adds nothing.
static void advance(Run *r, const Node *n, ScanRow *row, int64_t *env)
{
    Loop *loop = n->loop;
    int64_t p = row->consumed;
    bool uncertain = false;
    env[loop->along] = loop->nest->reverse ? row->lo + row->length - 1 - p : row->lo + p;
    Accumulator acc = row->acc;
    Value v = value_int(0);
    int holds = run_in_domain(r, loop->definition, env) ? guard(r, loop, env, &acc, &uncertain) : 0;
    if (holds > 0)
        v = run_eval(r, loop->body, env);
    if (row->consumed != p)
        return;
    if (holds > 0)
        accumulator_add(&acc, v, p);
    if (uncertain)
        acc.err = acc.best.err = INFINITY;
    row->acc = acc;
    row->prefix[++row->consumed] = accumulator_value(&acc);
}

__attribute__((noinline)) Value run_scan(Run *r, const Node *n, int64_t *env)
{
    Loop *loop = n->loop;
    int64_t here = env[loop->along];
    ScanRow *row = find_row(r, n, env);
    if (!row)
        return run_fault(r, r->stopped ? REF_WORK : REF_SHAPE, n->expr, "a scan over a range that cannot be computed");
    int64_t position = loop->nest->reverse ? row->lo + row->length - 1 - here : here - row->lo;
    int64_t want = position + !loop->nest->exclusive;
    if (position < 0 || position >= row->length)
        return run_fault(r, REF_SHAPE, n->expr, "a scan outside its range");
    while (row->consumed < want)
        advance(r, n, row, env);
    env[loop->along] = here;
    return row->prefix[want];
}
