// The command line; see options.h: the functions that store options, the table of them, parsing.
#include "cli/options.h"

#include "base/closest.h"
#include "cli/options_table.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct Parser { Arena *arena; Options *o; const char *error; int depth; };

// ---- setters ----

static bool fail(Parser *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool fail(Parser *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!p->error)
        p->error = arena_vprintf(p->arena, fmt, ap);
    va_end(ap);
    return false;
}

static bool read_number(const char *text, int64_t low, int64_t high, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return *text && !*end && errno == 0 && *value >= low && *value <= high;
}

static bool add_binding(Parser *p, Bindings *list, const char *what, const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return fail(p, "%s needs NAME=VALUE, not '%s'", what, text);
    Binding b = {.name = arena_strndup(p->arena, text, (size_t)(equals - text)), .value = arena_strdup(p->arena, equals + 1)};
    VEC_PUSH(p->arena, list, b);
    return true;
}

static bool set_output(Parser *p, const char *v) { VEC_PUSH(p->arena, &p->o->outputs, v); return true; }
static bool set_header(Parser *p, const char *v) { p->o->header = v; return true; }
static bool set_target(Parser *p, const char *v) { p->o->target = v; return *v || fail(p, "--target needs a name"); }
static bool set_machine(Parser *p, const char *v)
{
    p->o->machine_set = p->o->machine_set ? arena_printf(p->arena, "%s,%s", p->o->machine_set, v) : v;
    return *v || fail(p, "--machine-set needs NAME=VALUE");
}

static bool set_debug(Parser *p, const char *v) { p->o->line_directives = true; return true; }
static bool set_depend(Parser *p, const char *v) { p->o->depend = true; return true; }
static bool set_depend_file(Parser *p, const char *v) { p->o->depend_file = v; return true; }
static bool set_depend_phony(Parser *p, const char *v) { p->o->depend_phony = true; return true; }
static bool set_warning(Parser *p, const char *v) { VEC_PUSH(p->arena, &p->o->warnings, v); return true; }
static bool set_verify(Parser *p, const char *v) { p->o->verify_each = true; return true; }
static bool set_schedule(Parser *p, const char *v) { p->o->emit_schedule = true; return true; }
static bool set_explain(Parser *p, const char *v) { p->o->explain = true; return true; }
static bool set_verbose(Parser *p, const char *v) { p->o->verbose = true; return true; }
static bool set_dump(Parser *p, const char *v) { p->o->dump_after = v; return true; }
static bool set_kernel(Parser *p, const char *v) { p->o->kernel = v; return true; }
static bool set_dim(Parser *p, const char *v) { return add_binding(p, &p->o->dims, "--dim", v); }
static bool set_version(Parser *p, const char *v) { p->o->print = PRINT_VERSION; return true; }
static bool set_completion(Parser *p, const char *v) { p->o->print = PRINT_COMPLETION; p->o->shell = v; return true; }
static bool set_print_targets(Parser *p, const char *v) { p->o->print = PRINT_TARGETS; return true; }

// A folder that nothing is ever looked for in would be ignored.
static bool set_include(Parser *p, const char *v) { return fail(p, "-I %s: `import` is not built yet, so there is nothing to look for", v); }

static bool add_depend_target(Parser *p, const char *text, bool quote)
{
    DependTarget t = {.text = text, .quote = quote};
    VEC_PUSH(p->arena, &p->o->depend_targets, t);
    return true;
}

static bool set_depend_target(Parser *p, const char *v) { return add_depend_target(p, v, false); }
static bool set_depend_quoted(Parser *p, const char *v) { return add_depend_target(p, v, true); }

static bool set_opt_level(Parser *p, const char *v) { p->o->opt_level = *v ? *v - '0' : 1; return true; }

static bool set_color(Parser *p, const char *v)
{
    p->o->color = strcmp(v, "auto") == 0 ? COLOR_AUTO : strcmp(v, "never") == 0 ? COLOR_NEVER : COLOR_ALWAYS;
    return true;
}

static bool set_no_color(Parser *p, const char *v) { p->o->color = COLOR_NEVER; return true; }

static bool set_format(Parser *p, const char *v) { p->o->json = strcmp(v, "json") == 0; return true; }
static bool set_emit_ir(Parser *p, const char *v) { p->o->emit_ir = *v ? v : "task"; return true; }

static bool set_emit_bundles(Parser *p, const char *v)
{
    p->o->emit_ir = "bundles";
    p->o->notes = strcmp(v, "notes") == 0;
    p->o->brief = strcmp(v, "short") == 0;
    return true;
}

static bool set_help(Parser *p, const char *v)
{
    p->o->print = strcmp(v, "diagnostics") == 0 ? PRINT_DIAGNOSTICS : strcmp(v, "passes") == 0 ? PRINT_PASSES
                : strcmp(v, "directives") == 0 ? PRINT_DIRECTIVES : PRINT_HELP;
    return true;
}

static bool set_threads(Parser *p, const char *v)
{
    int64_t n;
    if (!read_number(v, 1, 4096, &n))
        return fail(p, "--threads needs a number from 1 to 4096, not '%s'", v);
    p->o->threads = (int)n;
    return true;
}

static bool set_mode(Parser *p, const char *v) { p->o->mode = v; return true; }

static bool set_seed(Parser *p, const char *v)
{
    int64_t n;
    if (!read_number(v, 0, INT64_MAX, &n))
        return fail(p, "--seed needs a number, not '%s'", v);
    p->o->seed = (uint64_t)n;
    return true;
}

static bool set_effort(Parser *p, const char *v)
{
    char *end;
    double n = isdigit((unsigned char)v[0]) ? strtod(v, &end) : 0;
    if (!(n >= 0.01 && n <= 1000000) || *end)
        return fail(p, "--effort needs a number from 0.01 to 1000000, not '%s'", v);
    p->o->effort = n;
    return true;
}

static bool set_budget(Parser *p, const char *v)
{
    int64_t n;
    if (!read_number(v, 1, INT32_MAX, &n))
        return fail(p, "--budget needs a number from 1 to 2147483647, not '%s'", v);
    p->o->budget = n;
    return true;
}

static bool set_repeat(Parser *p, const char *v)
{
    int64_t n;
    if (!read_number(v, 1, 1000000, &n))
        return fail(p, "--repeat needs a number from 1 to 1000000, not '%s'", v);
    p->o->repeat = (int)n;
    return true;
}

static bool set_html(Parser *p, const char *v) { p->o->html = v; return *v || fail(p, "--html needs a file"); }
static bool set_timing_only(Parser *p, const char *v) { p->o->timing_only = true; return true; }

static bool set_max_cycles(Parser *p, const char *v)
{
    return read_number(v, 1, INT64_C(1000000000000000), &p->o->max_cycles) || fail(p, "--max-cycles needs a number from 1 to 10^15, not '%s'", v);
}

static bool set_events(Parser *p, const char *v)
{
    return read_number(v, 0, INT64_C(1000000000), &p->o->events) || fail(p, "--events needs a number from 0 to 1000000000, not '%s'", v);
}

// ---- the table ----

const Option options_table[] = {
    {"-o", "FILE", TAKES_WORD, FOR_COMPILE, set_output, "write the C to FILE and its header beside it; '-': standard output", NULL},
    {"-o", "NAME=FILE", TAKES_WORD, FOR_RUN, set_output, "write the output or intermediate NAME, or a box NAME[0..8, 4..6] of it, to a .npy, .pgm or .ppm file", NULL},
    {"-o", "FILE.json", TAKES_WORD, FOR_PROFILE, set_output, "write the trace and the totals to FILE.json", NULL},
    {"--html", "FILE", TAKES_VALUE, FOR_PROFILE, set_html, "write a report to FILE that a browser shows", NULL},
    {"--header", "FILE", TAKES_VALUE, FOR_COMPILE, set_header, "write the header to FILE", NULL},
    {"--target", "NAME[,NAME]", TAKES_VALUE, FOR_CODE, set_target, "machines to compile for; code for several picks at run time (see --print-targets)", NULL},
    {"--machine-set", "NAME=N,...", TAKES_VALUE, FOR_CODE, set_machine, "replace numbers of the machine's description, such as L1.size=128KiB", NULL},
    {"-k", "KERNEL", TAKES_WORD, FOR_LOADED, set_kernel, "the kernel, where the file has several", NULL},
    {"--threads", "N", TAKES_VALUE, FOR_LOADED, set_threads, "workers at most", NULL},
    {"--mode", "MODE", TAKES_VALUE, FOR_LOADED, set_mode, "auto, serial, static, dynamic or wave", "auto serial static dynamic wave"},
    {"--repeat", "N", TAKES_VALUE, FOR_RUN, set_repeat, "call N times and report the median time", NULL},
    {"--timing-only", NULL, TAKES_NONE, FOR_RUN | FOR_PROFILE, set_timing_only, "modelled machines: count cycles, compute no values", NULL},
    {"--max-cycles", "N", TAKES_VALUE, FOR_LOADED, set_max_cycles, "modelled machines: a call that takes more cycles is an error; the default is 10^10", NULL},
    {"--events", "N", TAKES_VALUE, FOR_PROFILE, set_events, "operations in the trace at most, the default is 200000; totals count all", NULL},
    {"--dim", "NAME=N", TAKES_VALUE, FOR_CHECK, set_dim, "a dimension's size (may be repeated for several sizes)", NULL},
    {"--seed", "S", TAKES_VALUE, FOR_CHECK, set_seed, "for random inputs and combinations of sizes", NULL},
    {"--effort", "N", TAKES_VALUE, FOR_CHECK, set_effort, "how long to check: 1 is about a second, the default is 2", NULL},
    {"-O", "LEVEL", TAKES_JOINED, FOR_CODE, set_opt_level, "optimise: 0 to 3, the default is 2", "0 1 2 3"},
    {"--budget", "N", TAKES_VALUE, FOR_CODE, set_budget, "operations that questions about integer sets may take, the default is 8000000", NULL},
    {"-g", NULL, TAKES_NONE, FOR_CODE, set_debug, "write #line, so that debuggers and profilers show the .pto file", NULL},
    {"-I", "DIR", TAKES_WORD, FOR_CODE, set_include, "look for imported files in DIR: an error until `import` is built", NULL},
    {"-MD", NULL, TAKES_NONE, FOR_COMPILE, set_depend, "write a depfile for make and ninja", NULL},
    {"-MF", "FILE", TAKES_WORD, FOR_COMPILE, set_depend_file, "where to (default: the output with the suffix .d)", NULL},
    {"-MT", "TARGET", TAKES_WORD, FOR_COMPILE, set_depend_target, "the target that it names", NULL},
    {"-MQ", "TARGET", TAKES_WORD, FOR_COMPILE, set_depend_quoted, "the same, quoted for make", NULL},
    {"-MP", NULL, TAKES_NONE, FOR_COMPILE, set_depend_phony, "a rule for each file that may go away", NULL},
    {"-W", "NAME", TAKES_JOINED, FOR_CODE, set_warning, "-Wname, -Wno-name, -Wall, -Werror, -Werror=name (see --help=diagnostics)", NULL},
    {"-fdiagnostics-color", "WHEN", TAKES_OPTIONAL, FOR_CODE, set_color, "auto, always or never", "auto always never"},
    {"-fno-diagnostics-color", NULL, TAKES_NONE, FOR_CODE, set_no_color, NULL, NULL},
    {"-fdiagnostics-format", "FORMAT", TAKES_VALUE, FOR_CODE, set_format, "text or json", "text json"},
    {"--explain", NULL, TAKES_NONE, FOR_CODE, set_explain, "say why each tile, fusion, mode and axis was chosen, to stderr", NULL},
    {"--emit-schedule", NULL, TAKES_NONE, FOR_COMPILE, set_schedule, "write the schedule that was chosen in place of C (default: standard output)", NULL},
    {"--emit-ir", "LEVEL", TAKES_OPTIONAL, FOR_COMPILE, set_emit_ir, "write the program as task, tile or move level IR in place of C", "task tile move bundles"},
    {"--emit-bundles", "FORM", TAKES_OPTIONAL, FOR_COMPILE, set_emit_bundles, "write the accelerator's program of bundles in place of C, with notes or in short", "notes short"},
    {"--dump-after", "PASS", TAKES_VALUE, FOR_CODE, set_dump, "print the IR after a pass, or after all (see --help=passes)", NULL},
    {"--verify-each", NULL, TAKES_NONE, FOR_CODE, set_verify, "verify the IR after every pass", NULL},
    {"-v", NULL, TAKES_NONE, FOR_LOADED, set_verbose, "show the commands that are run", NULL},
    {"--completion", "SHELL", TAKES_VALUE, FOR_COMPILE, set_completion, "print completion for bash or zsh", "bash zsh"},
    {"--print-targets", NULL, TAKES_NONE, FOR_COMPILE, set_print_targets, "list the machines that are known", NULL},
    {"--help", "TOPIC", TAKES_OPTIONAL, FOR_ALL, set_help, "this text, or diagnostics, passes, directives", "diagnostics passes directives"},
    {"-h", NULL, TAKES_NONE, FOR_ALL, set_help, NULL, NULL},
    {"--version", NULL, TAKES_NONE, FOR_ALL, set_version, "the version", NULL},
};
const int options_count = sizeof options_table / sizeof *options_table;

const CommandRow options_commands[] = {
    [COMMAND_COMPILE] = {NULL, "ptoc FILE.pto [SCHEDULES.pto]... -o FILE.c", "compile kernels to C"},
    [COMMAND_RUN] = {"run", "ptoc run FILE.pto [SCHEDULES.pto]... [-k KERNEL] NAME=VALUE... [-o NAME=FILE]...", "compile a kernel and call it"},
    [COMMAND_CHECK] = {"check", "ptoc check FILE.pto [SCHEDULES.pto]... [-k KERNEL] [--dim NAME=N]... [NAME=VALUE]...",
                       "compare compiled kernels with the reference evaluator"},
    [COMMAND_PROFILE] = {"profile", "ptoc profile FILE.pto [SCHEDULES.pto]... [-k KERNEL] NAME=VALUE... [-o FILE.json] [--html=FILE]",
                         "call a kernel and tell where its time and traffic go"},
    [COMMAND_INFO] = {"info", "ptoc info", "what the compiler sees of this machine"},
};
const int options_ncommands = sizeof options_commands / sizeof *options_commands;

void options_doing(const char *volatile *doing, const char *text)
{
    if (doing)
        *doing = text;
}

// ---- parsing ----

// The value that `arg` gives to the option: NULL: the word is another option. *next: it takes the next word.
static const char *match(const Option *option, const char *arg, bool *next)
{
    size_t n = strlen(option->name);
    *next = false;
    if (strncmp(arg, option->name, n) != 0)
        return NULL;
    const char *rest = arg + n;
    switch (option->takes) {
    case TAKES_NONE: return *rest ? NULL : rest;
    case TAKES_JOINED: return rest;
    case TAKES_WORD: *next = !*rest; return rest;
    case TAKES_VALUE: *next = !*rest; return !*rest ? rest : *rest == '=' ? rest + 1 : NULL;
    case TAKES_OPTIONAL: return !*rest ? rest : *rest == '=' ? rest + 1 : NULL;
    }
    return NULL;
}

// Whether `value` is one of the words that the option takes; what may be left out is fine.
static bool is_choice(const Option *option, const char *value)
{
    if (!option->choices || (!*value && (option->takes == TAKES_OPTIONAL || option->takes == TAKES_JOINED)))
        return true;
    for (const char *p = option->choices; *p;) {
        size_t n = strcspn(p, " ");
        if (strlen(value) == n && strncmp(p, value, n) == 0)
            return true;
        p += n + strspn(p + n, " ");
    }
    return false;
}

const char *options_command(Arena *a, Command c)
{
    const char *name = options_commands[c].name;
    return name ? arena_printf(a, "ptoc %s", name) : "ptoc";
}

// `arg` is no option of this command: another one's, or a slip of the finger.
static bool unknown_option(Parser *p, const char *arg, bool elsewhere)
{
    const char *command = options_command(p->arena, p->o->command);
    const char *name = arena_strndup(p->arena, arg, strcspn(arg, "="));
    Closest c = closest_start(name);
    for (int k = 0; k < options_count; k++)
        if (options_table[k].commands & 1u << p->o->command && strlen(options_table[k].name) > 2)
            closest_consider(&c, options_table[k].name);
    const char *hint = !elsewhere && c.best ? arena_printf(p->arena, ": did you mean %s?", c.best) : "";
    return elsewhere ? fail(p, "%s is not an option of `%s`", arg, command) : fail(p, "unknown option %s%s", arg, hint);
}

static bool parse_option(Parser *p, const Words *args, int *at)
{
    const char *arg = args->at[*at];
    bool elsewhere = false;
    for (int k = 0; k < options_count; k++) {
        bool next;
        const Option *option = &options_table[k];
        const char *value = match(option, arg, &next);
        if (!value)
            continue;
        if (!(option->commands & 1u << p->o->command)) {
            elsewhere = true;
            continue;
        }
        if (next && *at + 1 >= args->n)
            return fail(p, "%s needs an argument: %s", arg, option->argument);
        if (next)
            value = args->at[++*at];
        if (!is_choice(option, value))
            return fail(p, "%s: '%s' is not a value of %s, which takes one of: %s", arg, value, option->name, option->choices);
        return option->set(p, value);
    }
    return unknown_option(p, arg, elsewhere);
}

// NAME=...: a name, not a path.
static bool is_binding(const char *arg)
{
    size_t n = strspn(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return n > 0 && arg[n] == '=';
}

// Files after the first hold schedules. Their suffix tells them from words that were meant as something else; what the shell
// makes of `<(...)` has none.
static bool is_schedules(const char *arg)
{
    const char *slash = strrchr(arg, '/'), *base = slash ? slash + 1 : arg, *dot = strrchr(base, '.');
    return dot ? strcmp(dot, ".pto") == 0 : strcmp(arg, "-") == 0 || (slash && access(arg, F_OK) == 0);
}

static bool add_schedules(Parser *p, const char *arg, bool loaded)
{
    if (!is_schedules(arg))
        return fail(p, loaded ? "'%s' is neither NAME=VALUE, nor a .pto file of schedules, nor an option"
                              : "'%s' is no .pto file of schedules; one file of kernels at a time (is -o missing?)", arg);
    if (strcmp(arg, "-") == 0 && strcmp(p->o->input, "-") == 0)
        return fail(p, "standard input can be read once: '-' is given twice");
    for (int k = 0; k < p->o->schedules.n; k++)
        if (strcmp(arg, p->o->schedules.at[k]) == 0)
            return fail(p, "the file of schedules '%s' is given twice", arg);
    VEC_PUSH(p->arena, &p->o->schedules, arg);
    return true;
}

static bool parse_operand(Parser *p, const char *arg)
{
    bool loaded = FOR_LOADED & 1u << p->o->command;
    if (p->o->command == COMMAND_INFO)
        return fail(p, "`ptoc info` takes no argument: '%s'", arg);
    if (loaded && is_binding(arg))
        return add_binding(p, &p->o->values, "an input", arg);
    if (p->o->input)
        return add_schedules(p, arg, loaded);
    p->o->input = arg;
    return true;
}

static bool parse_words(Parser *p, const Words *args)
{
    bool operands_only = false;
    for (int k = 0; k < args->n; k++) {
        const char *arg = args->at[k];
        if (strcmp(arg, "--") == 0 && !operands_only)
            operands_only = true;
        else if (operands_only || arg[0] != '-' || !arg[1] ? !parse_operand(p, arg) : !parse_option(p, args, &k))
            return false;
    }
    return true;
}

void options_split(Arena *a, const char *text, Words *words)
{
    char *out = arena_alloc(a, strlen(text) + 1), *word = out, quote = 0;
    bool open = false;
    for (; *text; text++) {
        bool space = strchr(" \t\r\n\v\f", *text) != NULL;
        if (!quote && space) {
            if (open) {
                *out++ = 0;
                VEC_PUSH(a, words, word);
            }
            word = out;
            open = false;
            continue;
        }
        open = true;
        if (*text == '\\' && text[1])
            *out++ = *++text;
        else if (quote ? *text == quote : *text == '\'' || *text == '"')
            quote = quote ? 0 : *text;
        else
            *out++ = *text;
    }
    *out = 0;
    if (open)
        VEC_PUSH(a, words, word);
}

static bool expand(Parser *p, const char *arg, Words *out);

static bool expand_file(Parser *p, const char *path, Words *out)
{
    Words words = {0};
    if (++p->depth > 32)
        return fail(p, "@%s: @files nested too deeply", path);
    FILE *f = fopen(path, "rb");
    if (!f)
        return fail(p, "@%s: %s", path, strerror(errno));
    char *text = NULL;
    size_t size = 0;
    ssize_t n = getdelim(&text, &size, '\0', f);
    bool ok = !ferror(f) && (n < 0 || fgetc(f) == EOF);
    if (ok && n > 0)
        options_split(p->arena, text, &words);
    free(text);
    fclose(f);
    for (int k = 0; ok && k < words.n; k++)
        if (!expand(p, words.at[k], out))
            return false;
    p->depth--;
    return ok || fail(p, "@%s: not a text file", path);
}

static bool expand(Parser *p, const char *arg, Words *out)
{
    if (arg[0] == '@' && arg[1])
        return expand_file(p, arg + 1, out);
    VEC_PUSH(p->arena, out, arg);
    return true;
}

static Command command_of(const char *word)
{
    for (int c = 0; c < options_ncommands; c++)
        if (options_commands[c].name && strcmp(options_commands[c].name, word) == 0)
            return (Command)c;
    return COMMAND_COMPILE;
}

// A first word that is no option, no file and does not look like one was meant as a command.
static bool check_command(Parser *p, const char *word)
{
    if (word[0] == '-' || word[0] == '@' || strpbrk(word, "./") || access(word, F_OK) == 0)
        return true;
    Closest c = closest_start(word);
    const char *names = "";
    for (int k = 0; k < options_ncommands; k++)
        if (options_commands[k].name) {
            closest_consider(&c, options_commands[k].name);
            names = arena_printf(p->arena, "%s%s%s", names, *names ? ", " : "", options_commands[k].name);
        }
    if (c.best)
        return fail(p, "'%s' is neither a file nor a command: did you mean `ptoc %s`?", word, c.best);
    return fail(p, "'%s' is neither a file nor a command: the commands are %s", word, names);
}

static bool check_combination(Parser *p)
{
    const Options *o = p->o;
    if (o->print != PRINT_NOTHING || o->command == COMMAND_INFO)
        return true;
    if (!o->input)
        return fail(p, "no input file");
    if ((o->command == COMMAND_COMPILE || o->command == COMMAND_PROFILE) && o->outputs.n > 1)
        return fail(p, "-o is given twice");
    if (o->target && strchr(o->target, ',') && (o->emit_schedule || o->emit_ir))
        return fail(p, "%s is about the code for one target: choose one of --target=%s", o->emit_schedule ? "--emit-schedule" : "--emit-ir", o->target);
    if (!o->depend && (o->depend_file || o->depend_targets.n > 0 || o->depend_phony))
        return fail(p, "-MF, -MT, -MQ and -MP need -MD");
    return true;
}

bool options_parse(Arena *a, int argc, char **argv, Options *options, const char **error)
{
    *options = (Options){.arena = a, .opt_level = 2, .budget = 8000000, .seed = 1, .effort = 2, .repeat = 1, .events = 200000};
    Parser p = {.arena = a, .o = options};
    Words args = {0};
    bool ok = true;
    for (int k = 1; k < argc && ok; k++)
        ok = expand(&p, argv[k], &args);
    if (ok && args.n > 0 && (options->command = command_of(args.at[0])) != COMMAND_COMPILE) {
        args.at++;
        args.n--;
        args.cap--;
    }
    else if (ok && args.n > 0)
        ok = check_command(&p, args.at[0]);
    ok = ok && parse_words(&p, &args) && check_combination(&p);
    *error = p.error;
    return ok;
}
