// read: the fields of a description. Those of accelerators have files of their own (unit.c, path.c).
//
// Fields have units (KiB, B); an unknown field is an error, so that a misspelt number is not silently a default. What a
// machine emits decides which fields it has, and memories are named by others: these are read first, whatever the order in
// the file. Test: tests/unit/test_machine.c
#include "machine/field.h"

#include "ptort/cpu.h"

#include <string.h>

static void read_memory_field(Description *d, const TreeDirective *f, void *to)
{
    Memory *m = to;
    bool bundles = d->m->emits_bundles;
    if (field_is(f, "size"))
        m->bytes = field_number(d, f, MEASURE_BYTES, 1);
    else if (field_is(f, "shared"))
        m->shared = field_shared(d, f);
    else if (field_is(f, "line") && !bundles)
        d->m->line_bytes = field_number(d, f, MEASURE_BYTES, 1);
    else if (field_is(f, "backing") && bundles)
        m->backing = field_flag(d, f);
    else
        field_fail(d, f, "unknown");
}

static void read_memory(Description *d, const TreeDirective *f)
{
    const char *name = value_name(field_words(f));
    if (!name)
        field_fail(d, f, "a memory has one name");
    else if (machine_memory(d->m, name) >= 0)
        field_fail(d, f, "declared twice");
    else if (d->m->nmemories == MACHINE_MAX_MEMORIES)
        field_fail(d, f, "too many memories");
    else {
        Memory *m = &d->m->memory[d->m->nmemories++];
        *m = (Memory){ .name = arena_strdup(d->a, name), .shared = SHARED_CHIP };
        field_each(d, f, read_memory_field, m);
        if (m->bytes == 0)
            field_fail(d, f, "it has no `size`");
    }
}

// ---- CPUs ----

static void read_vector_field(Description *d, const TreeDirective *f, void *to)
{
    Machine *m = to;
    if (field_is(f, "width"))
        m->vector_bytes = (int)field_number(d, f, MEASURE_BYTES, 1);
    else if (field_is(f, "registers"))
        m->vector_registers = field_count(d, f, 1);
    else if (field_is(f, "fma"))
        m->fma = field_count(d, f, 0) != 0;
    else
        field_fail(d, f, "unknown");
}

static void read_vector(Description *d, const TreeDirective *f)
{
    const char *name = value_name(field_words(f));
    if (!name || strcmp(name, "vector") != 0)
        field_fail(d, f, "unknown");
    field_each(d, f, read_vector_field, d->m);
}

// "avx2": its bit; also "+sve", as GCC writes it for Arm. 0: none. `tune=` and the like need nothing of a processor.
static uint64_t feature_bit(const char *name)
{
    static const struct { const char *name; int position; } features[] = {
#define ROW(id, name) { name, PTO_CPU_##id },
        PTO_CPU_FEATURES(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if (strcmp(features[i].name, name + (*name == '+')) == 0)
            return UINT64_C(1) << features[i].position;
    return 0;
}

static bool only_tunes(const char *name)
{
    return strncmp(name, "tune=", 5) == 0 || strncmp(name, "prefer-", 7) == 0 || strncmp(name, "no-", 3) == 0;
}

static void read_attribute(Description *d, const char *text)
{
    char *rest = arena_strdup(d->a, text);
    d->m->attribute = text;
    for (char *name; (name = strsep(&rest, ","));) {
        uint64_t bit = feature_bit(name);
        d->m->needs |= bit;
        if (!bit && !only_tunes(name))
            d->m->unknown = name;
    }
}

// ---- all ----

static void read_emits(Description *d, const TreeDirective *f)
{
    static const char *const choices[] = { "c", "bundles", NULL };
    int at = value_choice(d, f, field_words(f), choices);
    d->m->emits_c = d->m->emits_c || at == 0;
    d->m->emits_bundles = d->m->emits_bundles || at == 1;
}

static bool read_accelerator_field(Description *d, const TreeDirective *f)
{
    Machine *m = d->m;
    if (field_is(f, "clock"))
        m->hertz = field_number(d, f, MEASURE_CLOCK, 1);
    else if (field_is(f, "clusters"))
        m->clusters = field_count(d, f, 1);
    else if (field_is(f, "cores"))
        m->cores = field_count(d, f, 1);
    else if (field_is(f, "dispatch"))
        m->dispatch = field_number(d, f, MEASURE_COUNT, 0);
    else if (field_is(f, "path"))
        machine_read_path(d, f);
    else if (field_is(f, "unit"))
        machine_read_unit(d, f);
    else
        return false;
    return true;
}

static bool read_text(Description *d, const TreeDirective *f)
{
    Machine *m = d->m;
    if (field_is(f, "about"))
        m->about = field_text(d, f);
    else if (field_is(f, "isa"))
        m->isa = field_text(d, f);
    else if (field_is(f, "architecture"))
        m->architecture = field_text(d, f);
    else if (field_is(f, "attribute"))
        read_attribute(d, field_text(d, f));
    else
        return false;
    return true;
}

static void read_field(Description *d, const TreeDirective *f)
{
    if (field_is(f, "memory") || field_is(f, "emits") || read_text(d, f) || (d->m->emits_bundles && read_accelerator_field(d, f)))
        return;
    if (field_is(f, "unit"))
        read_vector(d, f);
    else
        field_fail(d, f, "unknown");
}

void machine_read(Description *d, const TreeMachine *tree)
{
    const TreeDirectives *fields = &tree->block;
    for (int i = 0; i < fields->n; i++)
        if (field_is(fields->at[i], "emits"))
            read_emits(d, fields->at[i]);
    for (int i = 0; i < fields->n; i++)
        if (field_is(fields->at[i], "memory"))
            read_memory(d, fields->at[i]);
    for (int i = 0; i < fields->n; i++)
        read_field(d, fields->at[i]);
    machine_pair_paths(d->m);
}
