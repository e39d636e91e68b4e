// ptoc check: compiles every kernel for every target and compares it with the reference evaluator.
#include "cli/commands.h"

#include "cli/check.h"
#include "cli/load.h"

#include <string.h>
#include <unistd.h>

typedef struct { Unit unit; Arena *arena; const Options *options; } Session;

static void add_tiles(Arena *a, const Node *n, Numbers *edges)
{
    for (int q = 0; n->kind == NODE_GRID && q < n->ndims; q++)
        sizes_from_text(a, expr_text(a, n->dims[q].tile), edges);
    for (int k = 0; k < n->body.n; k++)
        add_tiles(a, n->body.at[k], edges);
}

// A file of the tile level says its tiles itself, and no schedule.
static void add_tiles_of_text(Session *s, const Kernel *k, Numbers *edges)
{
    const Module *m = s->unit.module;
    for (int i = 0; i < m->tiles.n; i++)
        if (m->tiles.at[i]->kernel == k)
            add_tiles(s->arena, m->tiles.at[i]->root, edges);
}

// Lanes of a vector for the types in use, and the tile sizes in the schedule that was chosen.
static Numbers edges_of(Session *s, const Kernel *k, const char *target, const char *schedule)
{
    Numbers edges = {0};
    const char *error = NULL;
    const Machine *m = unit_machine(&s->unit, target, &error);
    for (int i = 0; m && m->vector_bytes > 0 && i < k->tensors.n; i++) {
        int64_t lanes = m->vector_bytes / dtype_bytes(k->tensors.at[i]->type);
        for (int times = 1; times <= 2; times++) {
            bool known = false;
            for (int e = 0; e < edges.n; e++)
                known |= edges.at[e] == lanes * times;
            if (!known)
                VEC_PUSH(s->arena, &edges, lanes * times);
        }
    }
    if (schedule)
        sizes_from_text(s->arena, schedule, &edges);
    add_tiles_of_text(s, k, &edges);
    return edges;
}

// The part of a schedule text that is about a kernel.
static const char *schedule_of(Session *s, const char *text, const char *kernel)
{
    const char *head = arena_printf(s->arena, "schedule %s ", kernel), *at = text ? strstr(text, head) : NULL;
    const char *end = at ? strstr(at, "\n}") : NULL;
    return at ? arena_strndup(s->arena, at, end ? (size_t)(end - at) : strlen(at)) : NULL;
}

static int check_one(Session *s, const Kernel *k, const Loaded *loaded, const char *target)
{
    const Options *o = s->options;
    const pto_kernel *code = load_kernel(&s->unit, loaded, k->name);
    if (!code || !bind_matches(k, code))
        return complain(EXIT_INTERNAL, "the emitted code has no kernel '%s' of this signature", k->name);
    CheckJob job = {
        .kernel = k, .code = code, .sources = &s->unit.sources, .file = o->input, .target = target, .machine_set = o->machine_set, .values = &o->values, .dims = &o->dims,
        .edges = edges_of(s, k, target, schedule_of(s, loaded->text.schedule, k->name)), .seed = o->seed, .effort = o->effort, .max_cycles = o->max_cycles,
        .tilings = &loaded->text.tilings, .steps = &loaded->text.steps, .threads = o->threads, .mode = o->mode, .modelled = unit_is_modelled(&s->unit, target), .progress = isatty(STDERR_FILENO), .doing = o->doing, .out = stdout, .err = stderr,
    };
    CheckResult result;
    return check_kernel(&job, &result);
}

static int check_target(Session *s, const char *target)
{
    int n, code;
    Kernel *const *kernels = load_select(&s->unit, &n, &code);
    Loaded loaded = {.object = NULL};
    if (kernels)
        code = load_unit(&s->unit, target, &loaded);
    for (int k = 0; kernels && code <= EXIT_USER && loaded.object && k < n; k++) {
        int one = check_one(s, kernels[k], &loaded, target);
        code = one > code ? one : code;
    }
    load_close(&loaded);
    return code;
}

// One after the other. Of a list that has something for this machine, the rest is left out, and said to be.
static int check_targets(Session *s, const char *targets)
{
    char *rest = arena_strdup(s->arena, targets);
    int code = load_check_machine(&s->unit, targets);
    for (char *target; code == 0 && (target = strsep(&rest, ","));) {
        const char *error = NULL;
        const Machine *m = unit_machine(&s->unit, target, &error);
        if (!m)
            code = complain(EXIT_USER, "%s", error);
        else if (machine_runs_here(m))
            code = check_target(s, target);
        else
            fprintf(stderr, "ptoc: note: this machine cannot run code for %s: not checked\n", target);
    }
    return code;
}

int command_check(Arena *a, const Options *o)
{
    Options with_schedule = *o;
    with_schedule.emit_schedule = true;
    Session s = {.arena = a, .options = &with_schedule};
    int code = unit_open(&s.unit, a, &with_schedule);
    if (code == 0 && diags_errors(s.unit.diags) > 0)
        code = EXIT_USER;
    s.options = s.unit.options;
    if (code == 0)
        code = check_targets(&s, unit_target(s.options));
    unit_close(&s.unit);
    return code;
}
