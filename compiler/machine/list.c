// list: several machines in one file, of which one is chosen at run time. Test: tests/cli/targets.sh
#include "machine/machine.h"

#include <ctype.h>
#include <string.h>

static bool same_text(const char *x, const char *y)
{
    return x == y || (x && y && strcmp(x, y) == 0);
}

// Names are the same in C when they differ in punctuation alone.
static bool same_in_c(const char *x, const char *y)
{
    while (*x && (*x == *y || (!isalnum((unsigned char)*x) && !isalnum((unsigned char)*y) && *y))) {
        x++;
        y++;
    }
    return !*x && !*y;
}

const char *machines_conflict(Arena *a, const Machines *before, const Machine *m)
{
    if (!m->emits_c && m->emits_bundles)
        return arena_printf(a, "`%s` cannot be one of several: at run time a choice is made between processors alone", m->name);
    if (m->unknown)
        return arena_printf(a, "whether a processor can run `%s` cannot be found out at run time: its description says `%s`, which is no feature", m->name, m->unknown);
    for (int i = 0; i < before->n; i++) {
        const Machine *other = before->at[i];
        if (same_in_c(other->name, m->name))
            return arena_printf(a, "`%s` and `%s` are one name in C", other->name, m->name);
        if (other->needs == m->needs && same_text(other->architecture, m->architecture))
            return arena_printf(a, "`%s` and `%s` need the same of a processor: one of them would never run", other->name, m->name);
    }
    return NULL;
}

bool machines_load(Arena *a, const char *dir, const char *list, const char *set, Machines *machines, const char **error)
{
    char *rest = arena_strdup(a, list);
    bool several = strchr(list, ',') != NULL;
    for (char *name; (name = strsep(&rest, ","));) {
        const Machine *m = machine_load(a, dir, name, set, error);
        if (m && several)
            *error = machines_conflict(a, machines, m);
        if (!m || (several && *error))
            return false;
        VEC_PUSH(a, machines, m);
    }
    return true;
}
