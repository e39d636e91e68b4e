// Messages: what tables contradict (PTO_ERR_ARGUMENT) which rule of the machine a program broke (PTO_ERR_FAULT), and what
// is beyond its numbers (PTO_ERR_OVERFLOW).
//
// A fault says where in one form: "race: bundle 12 (load), task (3, 0), iteration (1, 4): y, FILE:LINE: what". The first
// message of a launch stays: everything returns false from there on.
//
// Test: tests/unit/test_model_faults.c
#include "state.h"

#include <stdarg.h>
#include <stdio.h>

const char *slot_name(pto_slot slot) {
    static const char *const names[] = PTO_SLOT_NAMES;
    return (unsigned)slot < PTO_SLOTS ? names[slot] : "?";
}

bool model_refuse(Launch *L, const char *fmt, ...) {
    char text[TEXT_SIZE / 2];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (L->status == PTO_OK)
        L->status = pto_error(L->ctx, PTO_ERR_ARGUMENT, "program %s: %s", L->program->name, text);
    return false;
}

// ---- where ----------------------------------------------------------------------------------------------------------------

typedef struct Text { char at[TEXT_SIZE]; size_t length; } Text;

static PTO_PRINTF(2, 3) void add(Text *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(t->at + t->length, sizeof t->at - t->length, fmt, args);
    va_end(args);
    t->length = n < 0 ? t->length : t->length + (size_t)n < sizeof t->at ? t->length + (size_t)n : sizeof t->at - 1;
}

static void add_task(Text *t, const Launch *L, const int64_t *tile) {
    add(t, "task (");
    for (int d = 0; d < L->l->grid.rank; d++)
        add(t, "%s%lld", d > 0 ? ", " : "", (long long)tile[d]);
    add(t, ")");
}

static void add_digits(Text *t, const Launch *L, int loop, const int64_t *iv) {
    const Loop *l = &L->loops[loop];
    if (l->parent >= 0)
        add_digits(t, L, l->parent, iv);
    for (int d = 0; d < l->ndigits; d++)
        add(t, "%s%lld", t->at[t->length - 1] == '(' ? "" : ", ", (long long)iv[l->iv + d]);
}

static void add_iteration(Text *t, const Launch *L, int bundle, const int64_t *iv) {
    if (L->bundles[bundle].loop < 0)
        return;
    add(t, ", iteration (");
    add_digits(t, L, L->bundles[bundle].loop, iv);
    add(t, ")");
}

static void add_site(Text *t, const Launch *L, const char *before, int site) {
    if (site < 0 || site >= L->program->nsites)
        return;
    const pto_site *s = &L->program->sites[site];
    add(t, "%s%s, %s:%d", before, s->equation != NULL ? s->equation : "?", s->file != NULL ? s->file : "?", s->line);
}

static void fault(Launch *L, pto_status status, const char *kind, const Instance *in, const char *fmt, va_list args) {
    if (L->status != PTO_OK)
        return;
    Text t = {.length = 0}, what = {.length = 0};
    vsnprintf(what.at, sizeof what.at, fmt, args);
    add(&t, "%s: ", kind);
    if (in != NULL) {
        add(&t, "bundle %d (%s), ", in->bundle, slot_name(L->ops[in->op].table->slot));
        add_task(&t, L, in->resident->tile);
        add_iteration(&t, L, in->bundle, in->iv);
        add_site(&t, L, ": ", L->ops[in->op].table->site);
        add(&t, ": ");
    }
    add(&t, "%s", what.at);
    L->status = pto_error(L->ctx, status, "%s", t.at);
}

bool model_fault(Launch *L, const char *kind, const Instance *in, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    fault(L, PTO_ERR_FAULT, kind, in, fmt, args);
    va_end(args);
    return false;
}

bool model_overflow(Launch *L, const Instance *in, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    fault(L, PTO_ERR_OVERFLOW, "range", in, fmt, args);
    va_end(args);
    return false;
}

// ---- deadlocks ------------------------------------------------------------------------------------------------------------

// The bundles that hold an operation that signals the token: there is at least one unless nothing does.
static void add_producers(Text *t, const Launch *L, int token) {
    int n = 0;
    for (int b = 0; b < L->program->nbundles; b++)
        for (int s = 0; s < PTO_SLOTS; s++) {
            int k = L->program->bundles[b].op[s];
            if (k == 0 || (L->program->ops[k - 1].signals[0] != token + 1 && L->program->ops[k - 1].signals[1] != token + 1))
                continue;
            if (n < 4)
                add(t, "%s bundle %d (%s)", n > 0 ? "," : ", which comes from", b, slot_name((pto_slot)s));
            n++;
        }
    add(t, n == 0 ? ", which nothing signals" : n > 4 ? ", ..." : "");
}

static void add_resident(Text *t, const Launch *L, const Resident *r) {
    const pto_bundle *b = &L->program->bundles[r->pc];
    add(t, "bundle %d, ", r->pc);
    add_task(t, L, r->tile);
    if (r->depth > 0)
        add(t, ", step %lld", (long long)r->step[r->depth - 1]);
    for (int s = 0; s < PTO_SLOTS; s++)
        if (b->op[s] != 0) {
            add_site(t, L, ": ", L->program->ops[b->op[s] - 1].site);
            break;
        }
    add(t, ": waits for token %d", r->stall_token);
    add_producers(t, L, r->stall_token);
}

bool model_deadlock(Launch *L) {
    Text t = {.length = 0};
    int n = 0;
    for (int k = 0; k < L->nresidents; k++) {
        const Resident *r = &L->residents[k];
        if (!r->running || !r->stalled || n++ >= 2)
            continue;
        add(&t, n > 1 ? "; " : "");
        add_resident(&t, L, r);
    }
    if (n > 2)
        add(&t, "; and %d more", n - 2);
    return model_fault(L, "deadlock", NULL, "%s", t.at);
}
