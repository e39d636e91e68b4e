// schedule_place: directives about memories and units that programs manage themselves: place, temp, buffer, prefetch, engine,
// layout of what comes from a parameter; and hint. A CPU has none of these: there they are errors. Test: tests/errors/schedules, tests/golden/model
#include "passes/schedule_reader.h"
#include "passes/schedule_rewrite.h"

#include <string.h>

enum { MOST_SLOTS = 8 };

static bool is_managed(Reader *r, const TreeDirective *d)
{
    if (r->c.machine->emits_bundles)
        return true;
    diag_report(r->c.d, D_TARGET, d->range, "`%s` has no memories or units that a program manages: `%s` does not hold there", r->c.machine->name, d->name);
    diag_help(r->c.d, "say for which machines the schedule is: `schedule %s on davinci { ... }`", r->g->kernel->name);
    return false;
}

// ---- memories -----------------------------------------------------------------------------------------------------------

static int read_memory(Reader *r, const TreeWord *w, Range range)
{
    VEC(const char *) names = { 0 };
    const Machine *m = r->c.machine;
    for (int i = 0; i < m->nmemories; i++) {
        if (w && w->kind == WORD_PATH && strcmp(w->text, m->memory[i].name) == 0)
            return i;
        VEC_PUSH(r->c.a, &names, m->memory[i].name);
    }
    words_unknown(&r->c, D_SCHEDULE, w ? w->range : range, "the machine has no memory", w && w->text ? w->text : "", names.n, names.at);
    return -1;
}

static void put(Reader *r, Tensor *t, int memory, Range range)
{
    TensorWish *w = reader_tensor_wish(r, t);
    w->memory = memory;
    w->memory_range = range;
    if (memory == 0 && t->kind != TENSOR_INPUT && t->kind != TENSOR_OUTPUT) {     // behind all others: kept as a whole
        w->materialize = true;
        w->range = range;
    }
}

// `x`, or `p.x`: what p reads of x.
typedef struct { Tensor *tensor; Targets readers; } Placed;

static bool read_placed(Reader *r, const TreeWord *name, Placed *p)
{
    const char *tensor, *owner = reader_owner(r, name->text, &tensor);
    *p = (Placed){ 0 };
    if (owner && !reader_statements(r, owner, name->range, true, &p->readers))
        return false;
    p->tensor = reader_tensor(r, owner ? tensor : name->text, name->range);
    return p->tensor;
}

static void place(Reader *r, const Placed *p, int memory, Range range)
{
    if (p->readers.n == 0)
        put(r, p->tensor, memory, range);
    for (int i = 0; i < p->readers.n; i++)
        VEC_PUSH(r->c.a, &r->s->reads, ((ReadWish){ p->readers.at[i].stmt, p->tensor, memory, range }));
}

// place a, b in L1, p.x in L1, c in L0
void read_place(Reader *r, const TreeDirective *d)
{
    VEC(Placed) waiting = { 0 };
    if (!is_managed(r, d))
        return;
    for (int i = 0; i < d->clauses.n; i++) {
        const TreeClause *c = &d->clauses.at[i];
        Words w;
        const TreeWord *name = reader_path_first(r, d, c, &w);
        if (!name)
            return;
        Placed p;
        if (read_placed(r, name, &p))
            VEC_PUSH(r->c.a, &waiting, p);
        if (!words_accept(&w, "in"))
            continue;
        int memory = read_memory(r, words_peek(&w), c->range);
        for (int k = 0; k < waiting.n && memory >= 0; k++)
            place(r, &waiting.at[k], memory, d->range);
        waiting.n = 0;
    }
    if (waiting.n)
        reader_wrong_form(r, d->range, d->name);
}

// temp in L0 { m; e; }
void read_temp(Reader *r, const TreeDirective *d)
{
    if (!is_managed(r, d))
        return;
    Words w = d->clauses.n == 1 ? words_of(&d->clauses.at[0]) : (Words){ 0 };
    if (d->clauses.n != 1 || !words_accept(&w, "in")) {
        reader_wrong_form(r, d->range, d->name);
        return;
    }
    int memory = read_memory(r, words_peek(&w), d->range);
    for (int i = 0; i < d->block.n && memory >= 0; i++) {
        const TreeDirective *x = d->block.at[i];
        Tensor *t = reader_tensor(r, x->name, x->name_range);
        if (t && (t->kind == TENSOR_INPUT || t->kind == TENSOR_OUTPUT))
            diag_report(r->c.d, D_SCHEDULE, x->name_range, "`%s` is a parameter, not something temporary", x->name);
        else if (t && (x->clauses.n || x->has_block))
            reader_wrong_form(r, x->range, d->name);
        else if (t)
            put(r, t, memory, d->range);
    }
}

// Clauses were checked, and intermediates rewritten, by schedule_rewrite: these lie on chip as they are stored.
static bool read_tensor_layout(Reader *r, const TreeClause *c)
{
    Tensor *t = layout_tensor(&r->c, c);
    if (!t)
        return false;
    if (!layout_rewrites(t) && !r->c.machine->emits_bundles) {
        diag_report(r->c.d, D_TARGET, c->range, "`%s` is a parameter: its caller says how it lies in memory", t->name);
        return false;
    }
    int *order = ARENA_ARRAY(r->c.a, int, t->rank + 1);
    for (int q = 0; q < t->rank; q++)
        order[q] = q;
    if (!layout_rewrites(t) && !layout_clause(&r->c, c, &order))
        return false;
    reader_tensor_wish(r, t)->layout = order;
    return true;
}

// layout h = (1, 0)
void read_layout(Reader *r, const TreeDirective *d)
{
    for (int i = 0; i < d->clauses.n; i++)
        if (!read_tensor_layout(r, &d->clauses.at[i]))
            return;
}

// ---- buffers ------------------------------------------------------------------------------------------------------------

static bool read_count(Reader *r, const TreeDirective *d, const TreeClause *c, int64_t least, int64_t *n)
{
    Words w = words_of(c);
    *n = 0;
    if (c->key && words_accept(&w, "auto") && !words_peek(&w))
        return true;
    if (c->key && words_number(&w, n) && !words_peek(&w) && *n >= least && *n <= MOST_SLOTS)
        return true;
    reader_wrong_form(r, c->range, d->name);
    return false;
}

void read_buffer(Reader *r, const TreeDirective *d)
{
    for (int i = 0; is_managed(r, d) && i < d->clauses.n; i++) {
        const TreeClause *c = &d->clauses.at[i];
        int64_t n;
        Tensor *t = read_count(r, d, c, 1, &n) ? reader_tensor(r, c->key, c->key_range) : NULL;
        if (!t)
            return;
        reader_tensor_wish(r, t)->slots = (int)n;
        reader_tensor_wish(r, t)->slots_range = c->range;
    }
}

void read_prefetch(Reader *r, const TreeDirective *d)
{
    for (int i = 0; is_managed(r, d) && i < d->clauses.n; i++) {
        const TreeClause *c = &d->clauses.at[i];
        int64_t n;
        Tensor *t = read_count(r, d, c, 0, &n) ? reader_tensor(r, c->key, c->key_range) : NULL;
        if (!t)
            return;
        reader_tensor_wish(r, t)->ahead = (int)n;
        reader_tensor_wish(r, t)->ahead_range = c->range;
    }
}

// ---- units ----------------------------------------------------------------------------------------------------------------

static int read_unit(Reader *r, const TreeClause *c)
{
    static const UnitKind units[] = { UNIT_CUBE, UNIT_VECTOR, UNIT_DMA, UNIT_SCALAR };
    const char *names[4];
    const TreeWord *w = reader_single(c);
    for (int i = 0; i < 4; i++) {
        names[i] = machine_unit_names()[units[i]];
        if (w && w->kind == WORD_PATH && strcmp(w->text, names[i]) == 0)
            return (int)units[i];
    }
    words_unknown(&r->c, D_SCHEDULE, c->range, "no unit that computes is called", w && w->text ? w->text : "", 4, names);
    return -1;
}

// engine c = cube
void read_engine(Reader *r, const TreeDirective *d)
{
    for (int i = 0; is_managed(r, d) && i < d->clauses.n; i++) {
        const TreeClause *c = &d->clauses.at[i];
        Targets targets = { 0 };
        int unit = c->key ? read_unit(r, c) : -1;
        if (!c->key)
            reader_wrong_form(r, c->range, d->name);
        if (unit < 0 || !reader_statements(r, c->key, c->key_range, true, &targets))
            return;
        if (!r->c.machine->unit[unit].present) {
            diag_report(r->c.d, D_TARGET, c->range, "`%s` has no unit `%s`", r->c.machine->name, machine_unit_names()[unit]);
            return;
        }
        for (int t = 0; t < targets.n; t++)
            if (reader_outranks(reader_wish(r, targets.at[t].stmt), OF_ENGINE, 0, targets.at[t].rank)) {
                reader_wish(r, targets.at[t].stmt)->engine = unit;
                reader_wish(r, targets.at[t].stmt)->engine_range = c->range;
            }
    }
}

// ---- sizes ----------------------------------------------------------------------------------------------------------------

// hint M = 1..=4096: plans are made for these sizes; others work.
void read_hint(Reader *r, const TreeDirective *d)
{
    const Kernel *k = r->g->kernel;
    for (int i = 0; i < d->clauses.n; i++) {
        const TreeClause *c = &d->clauses.at[i];
        Words w = words_of(c);
        int64_t lo, hi;
        bool fine = c->key && words_number(&w, &lo);
        hi = fine ? lo : 0;
        if (fine && words_accept(&w, ".."))
            fine = words_number(&w, &hi) && --hi >= lo;
        else if (fine && words_accept(&w, "..="))
            fine = words_number(&w, &hi) && hi >= lo;
        if (!fine || words_peek(&w) || lo < 0) {
            reader_wrong_form(r, c->range, d->name);
            return;
        }
        VEC(const char *) names = { 0 };
        bool found = false;
        for (int q = 0; q < k->dims.n; q++) {
            VEC_PUSH(r->c.a, &names, k->dims.at[q]->name);
            if (strcmp(k->dims.at[q]->name, c->key) == 0) {
                r->s->hint[k->dims.at[q]->id] = (DimHint){ lo, hi };
                found = true;
            }
        }
        if (!found)
            words_unknown(&r->c, D_SCHEDULE, c->key_range, "no dimension is called", c->key, names.n, names.at);
    }
}
