// ptoc FILE.pto -o FILE.c: the C, the header beside it, the depfile; all of them or none.
#include "cli/commands.h"

#include "cli/depfile.h"
#include "cli/unit.h"
#include "data/output.h"
#include "machine/machine.h"

#include <string.h>
#include <sys/stat.h>

typedef struct {
    const char *c, *h, *d;       // paths; NULL: not wanted
    const char *text;            // of the IR or schedule, which take the place of the C
    const char *header_name;     // how the C includes the header; NULL: not at all
} Paths;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *with_suffix(Arena *a, const char *path, const char *suffix)
{
    const char *dot = strrchr(base_name(path), '.');
    size_t n = dot && dot != base_name(path) ? (size_t)(dot - path) : strlen(path);
    return arena_printf(a, "%.*s%s", (int)n, path, suffix);
}

static bool is_device(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode));
}

static bool is_same_file(const char *x, const char *y)
{
    struct stat a, b;
    return x && y && stat(x, &a) == 0 && stat(y, &b) == 0 && S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static const char *replaced_input(const Options *o, const Paths *p)
{
    for (int k = -1; k < o->schedules.n; k++) {
        const char *input = k < 0 ? o->input : o->schedules.at[k];
        if (is_same_file(input, p->c) || is_same_file(input, p->h) || is_same_file(input, p->text))
            return input;
    }
    return NULL;
}

// A header beside the C unless that goes to a pipe or device.
static int find_paths(Arena *a, const Options *o, Paths *p)
{
    bool reports_only = o->outputs.n == 0 && !o->header && (o->dump_after || o->explain);
    *p = (Paths){.h = o->header};
    if (o->emit_ir && o->emit_schedule)
        return complain(EXIT_USAGE, "--emit-ir and --emit-schedule exclude each other");
    if (o->emit_ir || o->emit_schedule)
        p->text = o->outputs.n > 0 ? o->outputs.at[0] : "-";
    else if (!reports_only)
        p->c = o->outputs.n > 0 ? o->outputs.at[0] : strcmp(o->input, "-") == 0 ? "-" : with_suffix(a, base_name(o->input), ".c");
    if (p->c && !p->h && !is_device(p->c)) {
        p->h = with_suffix(a, p->c, ".h");
        if (strcmp(p->h, p->c) == 0)
            return complain(EXIT_USAGE, "-o %s: the C would be its own header; name it .c or use --header", p->c);
    }
    const char *replaced = replaced_input(o, p);
    if (replaced)
        return complain(EXIT_USAGE, "the output would replace the input '%s'", replaced);
    p->header_name = p->h && strcmp(p->h, "-") != 0 ? base_name(p->h) : NULL;
    if (p->header_name && strpbrk(p->header_name, "\"\n"))
        return complain(EXIT_USAGE, "no #include can name the header '%s'; use --header", p->header_name);
    if (!o->depend)
        return 0;
    const char *output = p->text ? p->text : p->c;
    if (!output || (is_device(output) && !o->depend_file))
        return complain(EXIT_USAGE, "-MD needs an output file, or -MF");
    p->d = o->depend_file ? o->depend_file : with_suffix(a, output, ".d");
    return 0;
}

static void write_depfile(Unit *u, FILE *out, const Paths *p)
{
    const Options *o = u->options;
    Words targets = {0}, files = {0};
    VEC(bool) quote = {0};
    for (int k = 0; k < o->depend_targets.n; k++) {
        VEC_PUSH(u->arena, &targets, o->depend_targets.at[k].text);
        VEC_PUSH(u->arena, &quote, o->depend_targets.at[k].quote);
    }
    const char *outputs[] = {p->text, p->c, p->h};
    for (int k = 0; k < 3 && o->depend_targets.n == 0; k++)
        if (outputs[k]) {
            VEC_PUSH(u->arena, &targets, outputs[k]);
            VEC_PUSH(u->arena, &quote, true);
        }
    for (int k = 0; k < u->sources.files.n; k++) {
        const char *path = u->sources.files.at[k]->path;
        if (path[0] != '<' && strcmp(path, "-") != 0)
            VEC_PUSH(u->arena, &files, path);
    }
    depfile_write(out, targets.n, targets.at, quote.at, files.n, files.at, o->depend_phony);
}

static int write_outputs(Unit *u, const Paths *p, const Compiled *text)
{
    Outputs *outputs = outputs_new(u->arena);
    const char *error = NULL;
    const struct { const char *path, *text; size_t size; } files[] = {
        {p->c, text->c, text->c_size}, {p->h, text->h, text->h_size}, {p->text, text->ir, text->ir_size}, {p->text, text->schedule, text->schedule_size},
    };
    for (int k = 0; k < 4 && !error; k++) {
        if (!files[k].text)
            continue;
        FILE *f = files[k].path ? outputs_open(outputs, files[k].path, &error) : NULL;
        if (f)
            fwrite(files[k].text, 1, files[k].size, f);
    }
    FILE *d = p->d && !error ? outputs_open(outputs, p->d, &error) : NULL;
    if (d)
        write_depfile(u, d, p);
    if (!error && outputs_commit(outputs, &error))
        return 0;
    outputs_drop(outputs);
    return complain(EXIT_USER, "%s", error);
}

// What C is compiled for: without --target, for every level of this architecture. Texts are of one machine, and so are those
// that are read.
static const char *targets_of(const Unit *u)
{
    const Options *o = u->options;
    bool one = o->target || o->machine_set || o->emit_ir || o->emit_schedule || o->dump_after || u->tree->level;
    return one ? unit_target(o) : machine_family(u->arena, arena_printf(u->arena, "%s/targets", u->places.data));
}

int command_compile(Arena *a, const Options *o)
{
    Unit u;
    Paths paths;
    Compiled text = {.c = NULL};
    int code = find_paths(a, o, &paths);
    if (code)
        return code;
    code = unit_open(&u, a, o);
    if (code == 0)
        code = unit_compile(&u, targets_of(&u), paths.header_name, paths.c != NULL, &text);
    if (code == 0)
        code = write_outputs(&u, &paths, &text);
    unit_close(&u);
    compiled_free(&text);
    return code;
}
