// ptoc info: the machine as the compiler and the runtime see it.
#include "cli/commands.h"

#include "cli/unit.h"
#include "machine/machine.h"
#include "ptort.h"

#include <stdio.h>
#include <string.h>

static void describe_machine(const Machine *m)
{
    printf("native: %s", m->isa);
    if (m->vector_bytes > 0)
        printf(", vectors of %d bytes, %d registers%s", m->vector_bytes, m->vector_registers, m->fma ? ", fused multiply-add" : "");
    printf("\n");
    for (int k = 0; k < m->ntiers; k++)
        printf("  tier %-4s %8lld KiB%s\n", m->tier[k].name, (long long)m->tier[k].bytes / 1024, m->tier[k].per_core ? " per core" : "");
}

int command_info(Arena *a, const Options *o)
{
    (void)o;
    Places places = places_find(a);
    const char *error = NULL, *dir = arena_printf(a, "%s/targets", places.data);
    const Machine *m = machine_load(a, dir, "native", NULL, &error);
    printf("ptoc %s\n", PTO_VERSION);
    if (m)
        describe_machine(m);
    else
        printf("native: %s\n", error ? error : "unknown");
    size_t n = pto_topology_describe(NULL, NULL, 0);
    char *text = arena_alloc(a, n + 1);
    pto_topology_describe(NULL, text, n + 1);
    fputs(text, stdout);
    if (n > 0 && text[n - 1] != '\n')
        putchar('\n');
    return 0;
}
