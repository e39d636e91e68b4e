// The reference evaluator: which equation defines an element, and at which point.
//
// Most left sides give their indices one after the other (each subscript has one unknown). Where they do not, the
// equation's domain is enumerated once and tabulated.
#include "reference/run.h"

#include <string.h>

static bool in_span(Run *r, const Span *s, int64_t *env)
{
    bool ok = true;
    int64_t lo = run_index(r, s->lo, env, &ok), hi = run_index(r, s->hi, env, &ok);
    return ok && env[s->slot] >= lo && env[s->slot] < hi;
}

static bool holds(Run *r, int n, Node *const *conds, int64_t *env)
{
    for (int k = 0; k < n; k++) {
        Value v = run_eval(r, conds[k], env);
        if (value_is_poison(v) || !v.i)
            return false;
    }
    return true;
}

// The box and the conditions, without `otherwise`.
static bool in_box(Run *r, Definition *d, int64_t *env)
{
    for (int k = 0; k < d->nspans; k++)
        if (!in_span(r, &d->spans[k], env))
            return false;
    return holds(r, d->nconds, d->conds, env);
}

static bool writes(Run *r, const Definition *d, const int64_t *at, int64_t *env)
{
    for (int s = 0; s < d->nsubs; s++) {
        bool ok = true;
        if (run_index(r, d->subs[s], env, &ok) != at[s] || !ok)
            return false;
    }
    return true;
}

static bool solve(Run *r, Definition *d, const int64_t *at, int64_t *env)
{
    for (int k = 0; k < d->nspans; k++)
        env[k] = 0;
    for (int k = 0; k < d->nsteps; k++) {
        Term t = d->steps[k].term;
        int64_t known, rest;                            // an index does not fit: it is in no range
        if (!run_linear(d->subs[d->steps[k].sub], env, &known) || __builtin_sub_overflow(at[d->steps[k].sub], known, &rest))
            return false;
        if (t.factor == -1 ? rest == INT64_MIN : rest % t.factor != 0)
            return false;
        env[t.slot] = rest / t.factor;
    }
    return writes(r, d, at, env) && in_box(r, d, env);
}

// ---- enumeration ----

typedef struct { Run *run; Definition *definition; int64_t *env; VEC(int64_t) points; int64_t count; } Listing;

static void record(Listing *l)
{
    Definition *d = l->definition;
    Run *r = l->run;
    int64_t at[REF_MAX_RANK];
    bool ok = true;
    if (!holds(r, d->nconds, d->conds, l->env))
        return;
    for (int s = 0; s < d->nsubs; s++)
        at[s] = run_index(r, d->subs[s], l->env, &ok);
    int64_t offset = ok ? ref_offset(d->cells->data, at) : -1;
    if (offset < 0)
        return;
    d->table[offset] = d->table[offset] ? -1 : ++l->count;
    if (d->table[offset] > 0)
        for (int k = 0; k < d->nspans; k++)
            VEC_PUSH(r->arena, &l->points, l->env[k]);
}

static void enumerate(Listing *l, int level)
{
    Definition *d = l->definition;
    if (level == d->nspans) {
        record(l);
        return;
    }
    bool ok = true;
    const Span *s = &d->spans[level];
    int64_t lo = run_index(l->run, s->lo, l->env, &ok), hi = run_index(l->run, s->hi, l->env, &ok);
    for (int64_t x = lo; ok && x < hi && run_work(l->run, 1); x++) {
        l->env[s->slot] = x;
        enumerate(l, level + 1);
    }
}

static bool look_up(Run *r, Definition *d, int64_t offset, int64_t *env, bool *twice)
{
    if (!d->table) {
        Listing l = {.run = r, .definition = d, .env = ARENA_ARRAY(r->arena, int64_t, d->nslots + 1)};
        d->table = ARENA_ARRAY(r->arena, int64_t, d->cells->data->size + 1);
        enumerate(&l, 0);
        d->points = l.points.at;
    }
    int64_t point = d->table[offset];
    *twice |= point < 0;
    if (point > 0)
        memcpy(env, d->points + (point - 1) * d->nspans, sizeof *env * (size_t)d->nspans);
    return point != 0;
}

static bool defines(Run *r, Definition *d, const int64_t *at, int64_t offset, int64_t *env, bool *twice)
{
    return d->solvable ? solve(r, d, at, env) : look_up(r, d, offset, env, twice);
}

static Definition *find_among(Run *r, Cells *c, int from, int to, const int64_t *at, int64_t offset, int64_t *env, bool *twice)
{
    Definition *found = NULL;
    for (int k = from; k < to; k++) {
        if (!defines(r, c->definitions.at[k], at, offset, env, twice))
            continue;
        *twice |= found != NULL;
        found = c->definitions.at[k];
    }
    bool ignored = false;
    if (found && found != c->definitions.at[to - 1])
        defines(r, found, at, offset, env, &ignored);       // the search went on and left other indices
    return found;
}

Definition *run_find(Run *r, Cells *c, const int64_t *at, int64_t offset, int64_t *env, RefStatus *status)
{
    bool twice = false;
    Definition *d = find_among(r, c, 0, c->nfirst, at, offset, env, &twice);
    if (!d)
        d = find_among(r, c, c->nfirst, c->definitions.n, at, offset, env, &twice);
    *status = twice ? REF_OVERLAP : REF_OK;
    return twice ? NULL : d;
}

bool run_in_domain(Run *r, Definition *d, int64_t *env)
{
    if (!in_box(r, d, env))
        return false;
    if (!d->equation->otherwise)
        return true;
    int64_t at[REF_MAX_RANK];
    bool ok = true, twice = false;
    for (int s = 0; s < d->nsubs; s++)
        at[s] = run_index(r, d->subs[s], env, &ok);
    int64_t offset = ok ? ref_offset(d->cells->data, at) : -1;
    if (offset < 0)
        return false;
    int64_t scratch[d->cells->nslots + 1];
    return !find_among(r, d->cells, 0, d->cells->nfirst, at, offset, scratch, &twice);
}
