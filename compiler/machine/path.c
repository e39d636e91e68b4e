// path: `path DDR to L1 { width = 32 B; latency = 128; }`. Test: tests/unit/test_machine.c
#include "machine/field.h"

#include <string.h>

static bool holds_tensors(const Machine *m, int memory) { return memory == 0 || m->memory[memory].backing; }

static UnitKind opposite(UnitKind kind) { return kind == UNIT_LOAD ? UNIT_STORE : kind == UNIT_STORE ? UNIT_LOAD : kind; }

// `by = dma;` or, for the two directions, `by = load store;`.
static void read_by(Description *d, const TreeDirective *f, Path *p)
{
    static const char *const choices[] = { "load", "store", "dma", NULL };
    static const UnitKind kinds[] = { UNIT_LOAD, UNIT_STORE, UNIT_DMA };
    TreeWords words = field_words(f);
    int there = value_choice(d, f, value_slice(words, 0, 1), choices), back = words.n > 1 ? value_choice(d, f, value_slice(words, 1, words.n), choices) : -1;
    if (there < 0)
        return;
    p->by = kinds[there];
    p->by_back = back < 0 ? opposite(p->by) : kinds[back];
}

static void read_direction(Description *d, const TreeDirective *f, Path *p)
{
    static const char *const choices[] = { "one", NULL };
    p->both = value_choice(d, f, field_words(f), choices) < 0;
}

static void read_path_field(Description *d, const TreeDirective *f, void *to)
{
    Path *p = to;
    if (field_is(f, "width"))
        p->width = field_number(d, f, MEASURE_BYTES, 1);
    else if (field_is(f, "latency"))
        p->latency = field_number(d, f, MEASURE_COUNT, 0);
    else if (field_is(f, "burst"))
        p->burst = field_number(d, f, MEASURE_BYTES, 0);
    else if (field_is(f, "shared"))
        p->shared = field_shared(d, f);
    else if (field_is(f, "direction"))
        read_direction(d, f, p);
    else if (field_is(f, "by"))
        read_by(d, f, p);
    else
        field_fail(d, f, "unknown");
}

static bool is_declared(const Machine *m, int from, int to)
{
    for (int i = 0; i < m->npaths; i++)
        if (m->path[i].from == from && m->path[i].to == to)
            return true;
    return false;
}

// There are as many of it as of the end that more cores share; tensors move by dma, the rest is loaded and stored.
static Path path_between(const Machine *m, int from, int to)
{
    Shared at_from = m->memory[from].shared, at_to = m->memory[to].shared;
    bool tensors = holds_tensors(m, from) || holds_tensors(m, to);
    return (Path){ .from = from, .to = to, .both = true, .shared = at_from > at_to ? at_from : at_to, .by = tensors ? UNIT_DMA : UNIT_LOAD,
                   .by_back = tensors ? UNIT_DMA : UNIT_STORE };
}

void machine_read_path(Description *d, const TreeDirective *f)
{
    TreeWords words = field_words(f);
    const char *between = value_name(value_slice(words, 1, 2));
    if (words.n != 3 || !between || strcmp(between, "to") != 0) {
        field_fail(d, f, "`path A to B` was expected");
        return;
    }
    int from = value_memory(d, f, value_slice(words, 0, 1)), to = value_memory(d, f, value_slice(words, 2, 3));
    if (from < 0 || to < 0)
        return;
    if (from == to)
        field_fail(d, f, "from a memory to itself");
    else if (is_declared(d->m, from, to))
        field_fail(d, f, "declared twice");
    else if (d->m->npaths == MACHINE_MAX_PATHS)
        field_fail(d, f, "too many paths");
    else {
        Path *p = &d->m->path[d->m->npaths++];
        *p = path_between(d->m, from, to);
        field_each(d, f, read_path_field, p);
        if (p->width == 0)
            field_fail(d, f, "it has no `width`");
    }
}

// A path carries both directions unless one of its own is declared for the way back.
void machine_pair_paths(Machine *m)
{
    for (int i = 0; i < m->npaths; i++)
        m->path[i].both = m->path[i].both && !is_declared(m, m->path[i].to, m->path[i].from);
}
