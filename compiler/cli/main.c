// ptoc: the command line. Exit codes: 0 done, 1 the user's errors, 2 wrong usage, 70 an internal error.
#include "cli/commands.h"

#include "base/diag.h"
#include "base/sanitize.h"
#include "cli/unit.h"
#include "data/output.h"
#include "machine/machine.h"
#include "passes/schedule.h"

#include <cjson/cJSON.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- signals ----

static void say(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

static const char *volatile doing = "";      // handlers are given nothing but the signal

static void on_interrupt(int sig)
{
    outputs_remove_all();
    signal(sig, SIG_DFL);
    raise(sig);
}

static void on_crash(int sig)
{
    outputs_remove_all();
    say(sig == SIGABRT ? "ptoc: internal error" : "ptoc: internal error: the program crashed");
    say(*doing ? " while " : "");
    say(doing);
    say("\n");
    _exit(EXIT_INTERNAL);
}

void arena_oom_handler(void)
{
    outputs_remove_all();
    say("ptoc: out of memory\n");
    _exit(EXIT_INTERNAL);
}

// cJSON reports no failure of its own, what it prints would have holes; the numbers of isl are GMP's, which aborts.
static void *new_memory(size_t size)
{
    return memory_new(1, size);
}

static void *more_memory(void *p, size_t old, size_t size)
{
    (void)old;
    p = realloc(p, size);
    if (!p)
        arena_oom_handler();
    return p;
}

static void drop_memory(void *p, size_t size)
{
    (void)size;
    free(p);
}

// (isl may be built without GMP, or hide it.)
void __gmp_set_memory_functions(void *(*)(size_t), void *(*)(void *, size_t, size_t), void (*)(void *, size_t)) __attribute__((weak));

static void watch_memory(void)
{
    cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = new_memory, .free_fn = free});
    if (__gmp_set_memory_functions)
        __gmp_set_memory_functions(new_memory, more_memory, drop_memory);
}

// A crash is reported from a stack of its own: it may come from having none left. Sanitizers have better reports.
static void install_handlers(void)
{
    static char stack[64 << 10];
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction interrupt = {.sa_handler = on_interrupt}, crash = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | (int)SA_RESETHAND};
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGTERM, &interrupt, NULL);
    sigaction(SIGHUP, &interrupt, NULL);
    if (UNDER_ASAN || UNDER_TSAN)
        return;
    sigaltstack(&alternative, NULL);
    static const int crashes[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t k = 0; k < sizeof crashes / sizeof *crashes; k++)
        sigaction(crashes[k], &crash, NULL);
}

// ---- what is only printed ----

static int print_targets(Arena *a)
{
    Places places = places_find(a);
    const char *dir = arena_printf(a, "%s/targets", places.data), **names, *error = NULL;
    int n = machine_names(a, dir, &names);
    for (int k = 0; k < n; k++) {
        const Machine *m = machine_load(a, dir, names[k], NULL, &error);
        printf("%-16s %s\n", names[k], m && m->about ? m->about : "");
    }
    return n > 0 ? 0 : complain(EXIT_INTERNAL, "no machine descriptions in %s", dir);
}

static int print_diagnostics(void)
{
    static const char *const severities[] = {[SEV_NOTE] = "note", [SEV_WARNING] = "warning", [SEV_ERROR] = "error"};
    for (DiagId d = 0; d < D_COUNT; d++)
        printf("%-18s %-8s %s\n", diag_name(d), severities[diag_default_severity(d)], diag_about(d));
    return 0;
}

static int print_passes(void)
{
    for (const char *const *p = pipeline_passes(); *p; p++)
        printf("%-12s %s\n", *p, pipeline_about(*p));
    return 0;
}

static int print_directives(void)
{
    schedule_help(stdout);
    return 0;
}

static int print(Arena *a, const Options *o)
{
    switch (o->print) {
    case PRINT_HELP: options_help(stdout, o->command); return 0;
    case PRINT_VERSION: printf("ptoc %s\n", PTO_VERSION); return 0;
    case PRINT_TARGETS: return print_targets(a);
    case PRINT_DIAGNOSTICS: return print_diagnostics();
    case PRINT_PASSES: return print_passes();
    case PRINT_DIRECTIVES: return print_directives();
    case PRINT_COMPLETION: options_complete(stdout, o->shell); return 0;
    case PRINT_NOTHING: break;
    }
    return 0;
}

static int dispatch(Arena *a, const Options *o)
{
    if (o->print != PRINT_NOTHING)
        return print(a, o);
    switch (o->command) {
    case COMMAND_COMPILE: return command_compile(a, o);
    case COMMAND_RUN: return command_run(a, o);
    case COMMAND_CHECK: return command_check(a, o);
    case COMMAND_PROFILE: return command_profile(a, o);
    case COMMAND_INFO: return command_info(a, o);
    }
    return EXIT_INTERNAL;
}

int main(int argc, char **argv)
{
    install_handlers();
    watch_memory();
    Arena *a = arena_new();
    Options options;
    const char *error;
    int code;
    bool ok = options_parse(a, argc, argv, &options, &error);
    options.doing = &doing;
    if (ok)
        code = dispatch(a, &options);
    else
        code = complain(EXIT_USAGE, "%s\n%s --help lists the options", error, options_command(a, options.command));
    if (fflush(stdout) != 0 && code == 0)
        code = complain(EXIT_USER, "standard output cannot be written");
    arena_free(a);
    return code;
}
