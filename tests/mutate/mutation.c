// Mutations of a program of bundles: see mutation.h.
//
// Nothing moves out of a loop or into one: that would change how often it is done. In it, an operation moves to every bundle
// whose slot is free, past others of its unit too, and changes places with all of these; a wait moves to every other bundle.
#include "mutation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const mutation_names[] = {
#define NAME(kind, name) name,
    MUTATIONS(NAME)
#undef NAME
};

enum { WAITS = sizeof((pto_bundle *)0)->wait / sizeof(pto_wait) };

static const char *const slot_names[] = PTO_SLOT_NAMES;

// ---- what a program has ----

static int loop_of(const pto_program *p, int bundle) {
    int loop = -1;
    for (int i = 0; i < p->nloops; i++)
        if (bundle >= p->loops[i].first && bundle < p->loops[i].end)
            loop = i;
    return loop;
}

static bool together(const pto_program *p, int b, int c) {
    return c >= 0 && c < p->nbundles && loop_of(p, b) == loop_of(p, c);
}

static int bundle_of(const pto_program *p, int op) {
    for (int b = 0; b < p->nbundles; b++)
        if (p->bundles[b].op[p->ops[op].slot] == op + 1)
            return b;
    return -1;
}

static int free_wait(const pto_bundle *b) {
    int w = 0;
    while (w < WAITS && b->wait[w].token)
        w++;
    return w < WAITS ? w : -1;
}

// The next operation of the same unit in the direction `by`, in the same loop; -1: there is none.
static int neighbour(const pto_program *p, int op, int by) {
    int from = bundle_of(p, op);
    for (int b = from + by; from >= 0 && together(p, from, b); b += by)
        if (p->bundles[b].op[p->ops[op].slot])
            return p->bundles[b].op[p->ops[op].slot] - 1;
    return -1;
}

static bool share_unit(const pto_bundle *b, const pto_bundle *c) {
    for (int s = 0; s < PTO_SLOTS; s++)
        if (b->op[s] && c->op[s])
            return true;
    return false;
}

// The place that an operand is a box of: where slot 0 is, or the tensor.
static bool same_place(const pto_operand *x, const pto_operand *y) {
    return x->memory == y->memory && (x->memory ? x->address.base == y->address.base : x->tensor == y->tensor);
}

// ---- all of them ----

typedef struct { const pto_program *p; void (*each)(void *data, const Mutation *m); void *data; } Walk;

static void one(const Walk *w, MutationKind kind, int a, int b, int c) { w->each(w->data, &(Mutation){.kind = kind, .a = a, .b = b, .c = c}); }

static void of_waits(const Walk *w, int b) {
    const pto_program *p = w->p;
    for (int k = 0; k < WAITS; k++) {
        if (!p->bundles[b].wait[k].token)
            continue;
        one(w, WAIT_DELETED, b, k, 0);
        if (free_wait(&p->bundles[b]) >= 0)
            one(w, WAIT_DOUBLED, b, k, 0);
        for (int to = 0; to < p->nbundles; to++)
            if (to != b && together(p, b, to) && free_wait(&p->bundles[to]) >= 0)
                one(w, WAIT_MOVED, b, k, to);
    }
}

static void of_operations(const Walk *w, int b) {
    const pto_program *p = w->p;
    for (int s = 0; s < PTO_SLOTS; s++) {
        if (!p->bundles[b].op[s])
            continue;
        one(w, OPERATION_DELETED, b, s, 0);
        for (int to = 0; to < p->nbundles; to++) {
            if (to == b || !together(p, b, to))
                continue;
            if (p->bundles[to].op[s] && b < to)
                one(w, OPERATIONS_EXCHANGED, b, s, to);
            if (!p->bundles[to].op[s])
                one(w, OPERATION_MOVED, b, s, to);
            if (!p->bundles[to].op[s] && (to == b - 1 || to == b + 1))
                one(w, OPERATION_DOUBLED, b, s, to);
        }
    }
    if (together(p, b, b + 1))
        one(w, share_unit(&p->bundles[b], &p->bundles[b + 1]) ? UNIT_SWAPPED : BUNDLES_SWAPPED, b, b + 1, 0);
}

static void of_signals(const Walk *w, int op) {
    const pto_op *o = &w->p->ops[op];
    for (int k = 0; k < 2; k++) {
        if (!o->signals[k])
            continue;
        one(w, SIGNAL_DELETED, op, k, 0);
        if (!o->signals[1 - k])
            one(w, SIGNAL_DOUBLED, op, k, 0);
        for (int by = -1; by <= 1; by += 2) {
            int to = neighbour(w->p, op, by);
            if (to >= 0 && (!w->p->ops[to].signals[0] || !w->p->ops[to].signals[1]))
                one(w, SIGNAL_MOVED, op, k, to);
        }
    }
}

// Where an operand is: its address, by an element and by a line, and each number that it moves with.
static void of_places(const Walk *w, int op, int q) {
    const pto_operand *x = &w->p->ops[op].operands[q];
    int bytes = (int)pto_dtype_size(x->type), by[] = {-64, -bytes, bytes, 64};
    for (int i = 0; i < 4 && x->address.base >= PTO_VALUE(1 << 24); i++)
        one(w, ADDRESS_MOVED, op, q, by[i]);
    for (int v = 0; v < PTO_MAX_IVS; v++)
        if (x->address.step[v] > 0)
            one(w, ADDRESS_STEP, op, q, v);
    for (int d = 0; d < x->rank; d++)
        if (x->dim[d].stride > 0)
            one(w, STRIDE_CHANGED, op, q, d);
}

static void of_operands(const Walk *w, int op) {
    const pto_op *o = &w->p->ops[op];
    for (int q = 0; q < o->noperands; q++) {
        of_places(w, op, q);
        if (o->operands[q].slots < 2)
            continue;
        for (int by = -1; by <= 1; by += 2)
            if (o->operands[q].slot_digits + by >= 0)
                one(w, OPERAND_DIGITS, op, q, by);
        one(w, OPERAND_SLOTS, op, q, -1);
        one(w, OPERAND_SLOTS, op, q, 1);
        if (q == 0)
            one(w, BUFFER_SLOTS, op, q, -1);
    }
}

// What leaves the chip, or goes on its way there.
static bool is_store(const pto_op *o) {
    return o->kind == PTO_COPY && o->operands[1].memory != 0 && (o->operands[0].memory == 0 || o->slot == PTO_STORE);
}

static void of_token(const Walk *w, int t) {
    one(w, TOKEN_DELETED, t, 0, 0);
    for (int by = -1; by <= 1; by += 2) {
        if (w->p->tokens[t].initial + by >= 0)
            one(w, TOKEN_INITIAL, t, by, 0);
        if (w->p->tokens[t].depth + by >= 0)
            one(w, TOKEN_DEPTH, t, by, 0);
    }
}

void mutations_of(const pto_program *p, void (*each)(void *data, const Mutation *m), void *data) {
    Walk w = {.p = p, .each = each, .data = data};
    for (int b = 0; b < p->nbundles; b++) {
        of_waits(&w, b);
        of_operations(&w, b);
    }
    for (int i = 0; i < p->nops; i++) {
        of_signals(&w, i);
        of_operands(&w, i);
        if (is_store(&p->ops[i]))
            one(&w, STORE_DELETED, i, 0, 0);
    }
    for (int t = 0; t < p->ntokens; t++)
        of_token(&w, t);
}

// ---- one of them ----

typedef struct {
    pto_program program;         // first, so that its address is that of the copy
    pto_bundle *bundles;
    pto_op *ops;
    pto_token *tokens;
    pto_operand **operands;
} Copy;

static void *copy_of(const void *from, int n, size_t bytes) {
    void *p = calloc((size_t)n + 1, bytes);
    if (!p)
        abort();
    if (from && n)
        memcpy(p, from, (size_t)n * bytes);
    return p;
}

static Copy *copy_program(const pto_program *p) {
    Copy *c = copy_of(NULL, 0, sizeof *c);
    c->program = *p;
    c->program.bundles = c->bundles = copy_of(p->bundles, p->nbundles, sizeof *c->bundles);
    c->program.ops = c->ops = copy_of(p->ops, p->nops, sizeof *c->ops);
    c->program.tokens = c->tokens = copy_of(p->tokens, p->ntokens, sizeof *c->tokens);
    c->operands = copy_of(NULL, p->nops, sizeof *c->operands);
    for (int i = 0; i < p->nops; i++)
        c->ops[i].operands = c->operands[i] = copy_of(p->ops[i].operands, p->ops[i].noperands, sizeof **c->operands);
    return c;
}

void mutation_free(pto_program *p) {
    Copy *c = (Copy *)p;
    for (int i = 0; i < p->nops; i++)
        free(c->operands[i]);
    free(c->operands);
    free(c->bundles);
    free(c->ops);
    free(c->tokens);
    free(c);
}

static void move_wait(Copy *c, int b, int k, int to) {
    c->bundles[to].wait[free_wait(&c->bundles[to])] = c->bundles[b].wait[k];
    if (to != b)
        c->bundles[b].wait[k] = (pto_wait){0};
}

static void move_signal(Copy *c, int op, int k, int to) {
    int at = c->ops[to].signals[0] ? 1 : 0;
    c->ops[to].signals[at] = c->ops[op].signals[k];
    c->ops[to].signal_when[at] = c->ops[op].signal_when[k];
    if (to != op)
        c->ops[op].signals[k] = 0;
}

static void delete_token(Copy *c, int t) {
    for (int b = 0; b < c->program.nbundles; b++)
        for (int k = 0; k < WAITS; k++)
            if (c->bundles[b].wait[k].token == t + 1)
                c->bundles[b].wait[k] = (pto_wait){0};
    for (int i = 0; i < c->program.nops; i++)
        for (int k = 0; k < 2; k++)
            if (c->ops[i].signals[k] == t + 1)
                c->ops[i].signals[k] = 0;
}

// Every operand of the buffer has one slot less.
static void shrink_buffer(Copy *c, const pto_operand *buffer) {
    for (int i = 0; i < c->program.nops; i++)
        for (int q = 0; q < c->ops[i].noperands; q++)
            if (c->operands[i][q].slots > 1 && same_place(&c->operands[i][q], buffer))
                c->operands[i][q].slots--;
}

// A number that the call decides stays what it is.
static void shift(pto_num *n, int by) {
    if (*n >= PTO_VALUE(1 << 24))
        *n += by;
}

// The operation, and what it signals, are gone; the others have the numbers that are left.
static void delete_operation(Copy *c, int op) {
    pto_program *p = &c->program;
    for (int b = 0; b < p->nbundles; b++)
        for (int s = 0; s < PTO_SLOTS; s++)
            c->bundles[b].op[s] = c->bundles[b].op[s] == op + 1 ? 0 : c->bundles[b].op[s] - (c->bundles[b].op[s] > op + 1);
    free(c->operands[op]);
    p->nops--;
    memmove(&c->ops[op], &c->ops[op + 1], (size_t)(p->nops - op) * sizeof *c->ops);
    memmove(&c->operands[op], &c->operands[op + 1], (size_t)(p->nops - op) * sizeof *c->operands);
}

pto_program *mutation_apply(const pto_program *p, const Mutation *m) {
    Copy *c = copy_program(p);
    switch (m->kind) {
    case WAIT_DELETED: c->bundles[m->a].wait[m->b] = (pto_wait){0}; break;
    case WAIT_MOVED: move_wait(c, m->a, m->b, m->c); break;
    case WAIT_DOUBLED: move_wait(c, m->a, m->b, m->a); break;
    case SIGNAL_DELETED: c->ops[m->a].signals[m->b] = 0; break;
    case SIGNAL_MOVED: move_signal(c, m->a, m->b, m->c); break;
    case SIGNAL_DOUBLED: move_signal(c, m->a, m->b, m->a); break;
    case TOKEN_DELETED: delete_token(c, m->a); break;
    case TOKEN_INITIAL: c->tokens[m->a].initial += m->b; break;
    case TOKEN_DEPTH: c->tokens[m->a].depth += m->b; break;
    case OPERATION_MOVED: case OPERATION_DOUBLED:
        c->bundles[m->c].op[m->b] = c->bundles[m->a].op[m->b];
        if (m->kind == OPERATION_MOVED)
            c->bundles[m->a].op[m->b] = 0;
        break;
    case OPERATION_DELETED: c->bundles[m->a].op[m->b] = 0; break;
    case OPERATIONS_EXCHANGED:
        c->bundles[m->a].op[m->b] = p->bundles[m->c].op[m->b];
        c->bundles[m->c].op[m->b] = p->bundles[m->a].op[m->b];
        break;
    case BUNDLES_SWAPPED: case UNIT_SWAPPED:
        c->bundles[m->a] = p->bundles[m->b];
        c->bundles[m->b] = p->bundles[m->a];
        break;
    case BUFFER_SLOTS: shrink_buffer(c, &p->ops[m->a].operands[m->b]); break;
    case OPERAND_SLOTS: c->operands[m->a][m->b].slots += m->c; break;
    case OPERAND_DIGITS: c->operands[m->a][m->b].slot_digits += m->c; break;
    case ADDRESS_MOVED: shift(&c->operands[m->a][m->b].address.base, m->c); break;
    case ADDRESS_STEP: shift(&c->operands[m->a][m->b].address.step[m->c], (int)pto_dtype_size(c->operands[m->a][m->b].type)); break;
    case STRIDE_CHANGED: shift(&c->operands[m->a][m->b].dim[m->c].stride, (int)pto_dtype_size(c->operands[m->a][m->b].type)); break;
    case STORE_DELETED: delete_operation(c, m->a); break;
    case MUTATION_KINDS: break;
    }
    return &c->program;
}

// ---- what is said of it ----

void mutation_text(const pto_program *p, const Mutation *m, char *text, size_t size) {
    const char *name = mutation_names[m->kind];
    switch (m->kind) {
    case WAIT_DELETED: case WAIT_DOUBLED: snprintf(text, size, "%s: for token %d, of bundle %d", name, p->bundles[m->a].wait[m->b].token - 1, m->a); break;
    case WAIT_MOVED: snprintf(text, size, "%s: for token %d, from bundle %d to %d", name, p->bundles[m->a].wait[m->b].token - 1, m->a, m->c); break;
    case SIGNAL_DELETED: case SIGNAL_DOUBLED:
        snprintf(text, size, "%s: of token %d, by operation %d (%s)", name, p->ops[m->a].signals[m->b] - 1, m->a, slot_names[p->ops[m->a].slot]);
        break;
    case SIGNAL_MOVED: snprintf(text, size, "%s: of token %d, from operation %d to %d", name, p->ops[m->a].signals[m->b] - 1, m->a, m->c); break;
    case TOKEN_DELETED: snprintf(text, size, "%s: %d", name, m->a); break;
    case TOKEN_INITIAL: case TOKEN_DEPTH: snprintf(text, size, "%s: of token %d, by %d", name, m->a, m->b); break;
    case OPERATION_MOVED: case OPERATION_DOUBLED: case OPERATIONS_EXCHANGED:
        snprintf(text, size, "%s: %d (%s), from bundle %d to %d", name, p->bundles[m->a].op[m->b] - 1, slot_names[m->b], m->a, m->c);
        break;
    case OPERATION_DELETED: snprintf(text, size, "%s: %d (%s), of bundle %d", name, p->bundles[m->a].op[m->b] - 1, slot_names[m->b], m->a); break;
    case BUNDLES_SWAPPED: case UNIT_SWAPPED: snprintf(text, size, "%s: bundles %d and %d", name, m->a, m->b); break;
    case BUFFER_SLOTS: case OPERAND_SLOTS: snprintf(text, size, "%s: operand %d of operation %d (%s), by %d", name, m->b, m->a, slot_names[p->ops[m->a].slot], m->c); break;
    case OPERAND_DIGITS: case ADDRESS_MOVED: snprintf(text, size, "%s: operand %d of operation %d (%s), by %d", name, m->b, m->a, slot_names[p->ops[m->a].slot], m->c); break;
    case ADDRESS_STEP: case STRIDE_CHANGED: snprintf(text, size, "%s: number %d, operand %d of operation %d (%s)", name, m->c, m->b, m->a, slot_names[p->ops[m->a].slot]); break;
    case STORE_DELETED: snprintf(text, size, "%s: operation %d (%s)", name, m->a, slot_names[p->ops[m->a].slot]); break;
    case MUTATION_KINDS: break;
    }
}
