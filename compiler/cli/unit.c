// One file on its way through the compiler; see unit.h.
#include "cli/unit.h"

#include "base/buffer.h"
#include "ir/bundles.h"
#include "ir/poly.h"
#include "ir/read.h"
#include "syntax/parse.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int complain(int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("ptoc: error: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    return code;
}

// ---- places ----

static const char *parent(Arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash != path ? arena_strndup(a, path, (size_t)(slash - path)) : "/";
}

Places places_find(Arena *a)
{
    char link[4096];
    ssize_t n = readlink("/proc/self/exe", link, sizeof link - 1);
    Places p = {.program = n > 0 ? arena_strndup(a, link, (size_t)n) : "/usr/local/bin/ptoc"};
    const char *prefix = parent(a, parent(a, p.program));
    p.include = arena_printf(a, "%s/include", prefix);
    p.lib = arena_printf(a, "%s/lib", prefix);
    p.data = arena_printf(a, "%s/share/pto", prefix);
    return p;
}

// ---- names ----

static int distance(const char *x, const char *y)
{
    int row[64], n = (int)strlen(x), m = (int)strlen(y);
    if (n > 60 || m > 60)
        return 99;
    for (int j = 0; j <= m; j++)
        row[j] = j;
    for (int i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int change = diagonal + (x[i - 1] != y[j - 1]), least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            diagonal = row[j];
            row[j] = change < least ? change : least;
        }
    }
    return row[m];
}

const char *closest_name(const char *name, int n, const char *const *names)
{
    int best = (int)strlen(name) / 3 + 2;
    const char *found = NULL;
    for (int k = 0; k < n; k++) {
        int d = distance(name, names[k]);
        if (d < best) {
            best = d;
            found = names[k];
        }
    }
    return found;
}

static int check_one_target(const char *list, const char *name, int n, const char *const *names)
{
    if (!*name)
        return complain(EXIT_USAGE, "--target=%s: a name is missing", list);
    for (int k = 0; k < n; k++)
        if (strcmp(name, names[k]) == 0)
            return 0;
    const char *meant = closest_name(name, n, names);
    return complain(EXIT_USAGE, "unknown target '%s'%s%s%s (see --print-targets)", name, meant ? "; did you mean '" : "",
                    meant ? meant : "", meant ? "'?" : "");
}

// Is the name one of those before it in the list?
static bool is_repeated(const Words *names, const char *name)
{
    for (int k = 0; k < names->n; k++)
        if (strcmp(names->at[k], name) == 0)
            return true;
    return false;
}

const char *unit_target(const Options *o)
{
    return o->target ? o->target : o->command == COMMAND_COMPILE ? "generic" : "native";
}

const Machine *unit_machine(const Unit *u, const char *target, const char **error)
{
    return machine_load(u->arena, arena_printf(u->arena, "%s/targets", u->places.data), target, u->options->machine_set, error);
}

bool unit_is_modelled(const Unit *u, const char *target)
{
    const char *error = NULL;
    const Machine *m = unit_machine(u, target, &error);
    return m && m->emits_bundles;
}

int unit_check_target(const Unit *u, const char *target)
{
    const char **names;
    int n = machine_names(u->arena, arena_printf(u->arena, "%s/targets", u->places.data), &names), code = 0;
    char *rest = arena_strdup(u->arena, target);
    Words before = {0};
    for (char *name; code == 0 && (name = strsep(&rest, ","));) {
        code = check_one_target(target, name, n, names);
        if (code == 0 && is_repeated(&before, name))
            code = complain(EXIT_USAGE, "--target=%s: '%s' is named twice", target, name);
        VEC_PUSH(u->arena, &before, name);
    }
    return code;
}

// What is wrong with --machine-set is wrong usage; a description that is wrong without it is for later.
static int check_machine_set(const Unit *u)
{
    const Options *o = u->options;
    const char *dir = arena_printf(u->arena, "%s/targets", u->places.data), *error = NULL;
    char *rest = arena_strdup(u->arena, unit_target(o));
    for (char *name; (name = strsep(&rest, ","));)
        if (machine_load(u->arena, dir, name, NULL, &error) && !machine_load(u->arena, dir, name, o->machine_set, &error))
            return complain(EXIT_USAGE, "%s", error);
    return 0;
}

// ---- the front end ----

static void set_up_diagnostics(Unit *u)
{
    const Options *o = u->options;
    const char *term = getenv("TERM");
    bool color = o->color == COLOR_ALWAYS ||
                 (o->color == COLOR_AUTO && isatty(STDERR_FILENO) && !getenv("NO_COLOR") && term && strcmp(term, "dumb") != 0);
    u->diags = diags_new(u->arena, &u->sources, stderr);
    diags_set_color(u->diags, color);
    diags_set_format(u->diags, o->json ? DIAG_JSON : DIAG_TEXT);
}

static int apply_warnings(Unit *u)
{
    for (int k = 0; k < u->options->warnings.n; k++)
        if (!diags_option(u->diags, u->options->warnings.at[k]))
            return complain(EXIT_USAGE, "unknown warning option -W%s (see --help=diagnostics)", u->options->warnings.at[k]);
    return 0;
}

// A file of bundles says its machine: it is compiled for no other.
static int take_machine(Unit *u)
{
    BundleTarget t;
    const Options *given = u->options;
    if (!ir_read_target(u->arena, u->diags, u->tree, &t))
        return EXIT_USER;
    if (given->target && strcmp(given->target, t.machine) != 0)
        return complain(EXIT_USAGE, "%s is for the machine '%s': --target=%s cannot take it", given->input, t.machine, given->target);
    if (given->machine_set && (!t.set || strcmp(given->machine_set, t.set) != 0))
        return complain(EXIT_USAGE, "%s is for the machine '%s'%s%s: --machine-set=%s changes it", given->input, t.machine, t.set ? " with " : "", t.set ? t.set : "", given->machine_set);
    Options *o = ARENA_NEW(u->arena, Options);
    *o = *given;
    o->target = t.machine;
    o->machine_set = t.set;
    u->options = o;
    int code = unit_check_target(u, o->target);
    return code || !o->machine_set ? code : check_machine_set(u);
}

// A file of so many bytes has twice the budget of operations on integer sets.
enum { BYTES = 20000 };

static int parse(Unit *u, const char *path, const SourceFile **file, TreeFile **tree)
{
    const char *error = NULL;
    *file = source_load(&u->sources, path, &error);
    if (!*file)
        return complain(EXIT_USER, "%s: %s", path, error);
    budget_add(u->budget, u->budget->left / BYTES * (*file)->size);
    *tree = parse_file(u->arena, u->diags, *file);
    return *tree && !diags_errors(u->diags) ? 0 : EXIT_USER;
}

// What a file of schedules may not hold. True: said.
static bool is_more_than_schedules(Unit *u, const SourceFile *file, const TreeFile *tree)
{
    if (tree->level)
        diag_report(u->diags, D_SCHEDULE, (Range){file->base, file->base},
                    "textual IR is no schedule: only the first file may hold it");
    for (int k = 0; k < tree->kernels.n; k++) {
        diag_report(u->diags, D_SCHEDULE, tree->kernels.at[k]->name_range,
                    "the kernel `%s` is in a file of schedules: kernels come from the first file", tree->kernels.at[k]->name);
        diag_help(u->diags, "the first file is %s; compile this one by itself", u->options->input);
    }
    return diags_errors(u->diags);
}

// Puts the schedules of another file behind those there are.
static int add_schedules(Unit *u, const char *path, int number)
{
    const SourceFile *file;
    TreeFile *more;
    int code = parse(u, path, &file, &more);
    if (code || is_more_than_schedules(u, file, more))
        return EXIT_USER;
    for (int k = 0; k < more->schedules.n; k++) {
        more->schedules.at[k]->file = number;
        VEC_PUSH(u->arena, &u->tree->schedules, more->schedules.at[k]);
    }
    for (int k = 0; k < more->imports.n; k++)
        VEC_PUSH(u->arena, &u->tree->imports, more->imports.at[k]);
    for (int k = 0; k < more->strategies.n; k++)
        VEC_PUSH(u->arena, &u->tree->strategies, more->strategies.at[k]);
    for (int k = 0; k < more->machines.n; k++)
        VEC_PUSH(u->arena, &u->tree->machines, more->machines.at[k]);
    return 0;
}

static int load(Unit *u)
{
    const Words *more = &u->options->schedules;
    int code = parse(u, u->options->input, &u->file, &u->tree);
    if (code == 0 && ir_is_bundles(u->tree))
        code = take_machine(u);
    if (code == 0 && u->tree->level && strcmp(u->tree->level, "task") != 0 && more->n)
        return complain(EXIT_USAGE, "%s is scheduled already: it takes no file of schedules", u->options->input);
    for (int k = 0; k < more->n && code == 0; k++)
        code = add_schedules(u, more->at[k], k + 1);
    if (code)
        return code;
    u->module = sema_file(u->arena, u->budget, u->diags, u->tree);
    budget_check_memory(u->isl);
    return 0;
}

int unit_open(Unit *u, Arena *a, const Options *o)
{
    *u = (Unit){.arena = a, .options = o, .places = places_find(a), .sources = {.arena = a}};
    set_up_diagnostics(u);
    options_doing(o->doing, "isl started (is there no memory?)");       // it crashes then
    u->isl = isl_ctx_alloc();
    options_doing(o->doing, "");
    if (!u->isl)
        return complain(EXIT_INTERNAL, "out of memory");
    u->budget = budget_new(a, u->isl, (unsigned long)o->budget);
    int code = apply_warnings(u);
    if (code == 0 && o->target)
        code = unit_check_target(u, o->target);
    if (code == 0 && o->machine_set)
        code = check_machine_set(u);
    return code ? code : load(u);
}

void unit_close(Unit *u)
{
    diags_finish(u->diags);
    if (u->isl)
        isl_ctx_free(u->isl);
}

// ---- the pipeline ----

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int check_dump(const Unit *u)
{
    const char *wanted = u->options->dump_after;
    const char *const *passes = pipeline_passes();
    int n = 0;
    for (; wanted && passes[n]; n++)
        if (strcmp(passes[n], wanted) == 0)
            return 0;
    if (!wanted || strcmp(wanted, "all") == 0)
        return 0;
    const char *meant = closest_name(wanted, n, passes);
    return complain(EXIT_USAGE, "unknown pass '%s'%s%s%s (see --help=passes)", wanted, meant ? "; did you mean '" : "", meant ? meant : "",
                    meant ? "'?" : "");
}

static FILE *open_if(TextBuffer *b, bool wanted)
{
    if (wanted)
        buffer_open(b);
    return b->stream;
}

int unit_compile(Unit *u, const char *target, const char *header_name, bool want_c, Compiled *out)
{
    const Options *o = u->options;
    *out = (Compiled){.c = NULL};
    int code = check_dump(u);
    if (code)
        return code;
    TextBuffer c = {0}, h = {0}, ir = {0}, schedule = {0};
    FILE *c_out = open_if(&c, want_c), *h_out = open_if(&h, want_c), *ir_out = open_if(&ir, o->emit_ir), *schedule_out = open_if(&schedule, o->emit_schedule);
    PipelineOptions p = {
        .source_name = o->line_directives ? u->file->path : base_name(u->file->path), .header_name = header_name, .data_dir = u->places.data,
        .target = target, .machine_set = o->machine_set, .opt_level = o->opt_level, .line_directives = o->line_directives, .verify_each = o->verify_each,
        .dump_after = o->dump_after, .dump = stderr, .explain = o->explain, .explain_out = stderr,
        .emit_schedule = o->emit_schedule, .schedule_out = schedule_out, .emit_ir = o->emit_ir, .notes = o->notes, .brief = o->brief, .ir_out = ir_out,
        .tilings = &out->tilings, .steps = &out->steps,
    };
    bool ok = pipeline_compile(u->arena, u->budget, u->diags, u->tree, u->module, &p, c_out, h_out) && diags_errors(u->diags) == 0;
    budget_check_memory(u->isl);
    TextBuffer *all[] = {&c, &h, &ir, &schedule};
    for (int k = 0; k < 4; k++)
        if (all[k]->stream)
            buffer_close(all[k]);
    out->c = c.text, out->c_size = c.size;
    out->h = h.text, out->h_size = h.size;
    out->ir = ir.text, out->ir_size = ir.size;
    out->schedule = schedule.text, out->schedule_size = schedule.size;
    return ok ? 0 : EXIT_USER;
}

void compiled_free(Compiled *c)
{
    free(c->c);
    free(c->h);
    free(c->ir);
    free(c->schedule);
    *c = (Compiled){.c = NULL};
}
