// Runs the tests: see run.h for what a test is, the other files for the groups.
//
//   run [-j N] [-b BUILD] [-l] [-v] [-t SECONDS] [-w SECONDS] [-x COMMAND]... [GROUP | GROUP/NAME | GROUP/PREFIX*]...
//
// Prints each failure with its log, each test that was skipped with its reason, the counts of every group, and at the end
// a line "N passed, N failed, N skipped", also when it is interrupted: then it ends what it started and removes its
// files first. Exit code 1 when something failed, 128 + signal after one.
//
// `^` before a pattern leaves those tests out. -l lists the tests. -t: processor time that each test may take, -w: how long it may take by the clock, instead of the
// usual limits. -x: these shell commands are the tests.
#include "run.h"

#include "pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

Setup setup;
const char *scratch;

static Test *tests;
static int ntests;

void test_add(Test t) {
    tests = realloc(tests, sizeof *tests * (size_t)(ntests + 1));
    if (!tests)
        abort();
    if (!t.seconds)
        t.seconds = 120;
    t.seconds *= setup.sanitized ? 5 : 1;
    if (setup.seconds)
        t.seconds = setup.seconds;
    tests[ntests++] = t;
}

char *test_name(const Test *t) {
    return t->name ? text("%s/%s", t->group, t->name) : text("%s", t->group);
}

static bool matches(const Test *t, const char *pattern) {
    char *name = test_name(t);
    size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*')
        return strncmp(name, pattern, n - 1) == 0;
    return strcmp(t->group, pattern) == 0 || strcmp(name, pattern) == 0 || (starts(name, pattern) && name[n] == '/');
}

// Without patterns to choose, all but those that others leave out.
static bool wanted(const Test *t, int n, char **patterns) {
    bool found = false, chosen = false;
    for (int i = 0; i < n; i++)
        if (patterns[i][0] != '^') {
            chosen = true;
            found = found || matches(t, patterns[i]);
        } else if (matches(t, patterns[i] + 1))
            return false;
    return found || !chosen;
}

static char *absolute(const char *path) {
    char *real = realpath(path, NULL);
    return real ? real : text("%s", path);
}

// The folder with design/ and data/ beside the repository, or where PTO_SHARED says.
static char *find_shared(void) {
    const char *given = getenv("PTO_SHARED");
    char *path = given ? text("%s", given) : text("%s/../shared", setup.source);
    return is_file(text("%s/data", path)) ? absolute(path) : NULL;
}

// In a sanitizer build the kernels that ptoc compiles and loads are instrumented too: a wrapper puts the flags into $CC.
// Everything being slower, `ptoc check` does less by default, and the C compiler optimises less: it takes most of the time.
static void wrap_ptoc(void) {
    const char *flags = strcmp(setup.config, "asan") == 0   ? "-fsanitize=address,undefined -fno-sanitize-recover=all"
                        : strcmp(setup.config, "tsan") == 0 ? "-fsanitize=thread"
                                                            : NULL;
    if (!flags)
        return;
    char *wrapper = text("%s/tests/ptoc", setup.build), *own = text("%s.%d", wrapper, (int)getpid());
    // Renamed into place: another run in this folder may be using it.
    if (!write_file(own, text("#!/bin/sh\n"
                              "case ${1-} in check) shift; set -- check \"$@\" --effort=0.25 ;; esac\n"
                              "CC=\"sh %s/tests/fuzz/cc.sh -O1 ${CC-cc} %s\" exec %s \"$@\"\n",
                              setup.source, flags, quote(setup.ptoc))) || chmod(own, 0777) != 0 || rename(own, wrapper) != 0)
        return;
    setup.ptoc = wrapper;
    // LLVM's OpenMP library is not instrumented: what it hands from thread to thread looks like races.
    setenv("TSAN_OPTIONS", "ignore_noninstrumented_modules=1:allocator_may_return_null=1", 0);
    // Memory that there is not is a status of the runtime's.
    setenv("ASAN_OPTIONS", "allocator_may_return_null=1", 0);
}

static void set_up(void) {
    const char *cc = getenv("CC"), *config = getenv("CONFIG");
    setup.source = absolute(".");
    setup.build = absolute(setup.build);
    setup.ptoc = text("%s/bin/ptoc", setup.build);
    setup.cc = cc && *cc ? cc : "cc";
    setup.config = config && *config ? config : "release";
    setup.sanitized = strcmp(setup.config, "asan") == 0 || strcmp(setup.config, "tsan") == 0;
    setup.threads = strcmp(setup.config, "tsan") == 0;
    setup.longer = getenv("PTO_LONG") && *getenv("PTO_LONG");
    setup.shared = find_shared();
    setenv("CC", setup.cc, 1);
    setenv("SOURCE", setup.source, 1);
    setenv("BUILD", setup.build, 1);
    setenv("CONFIG", setup.config, 1);
    setenv("XDG_CACHE_HOME", text("%s/tests/cache", setup.build), 1);
    setenv("LC_ALL", "C", 1);
    // Threads that wait give the processor away: beside other work they would spin for most of the time.
    setenv("OMP_WAIT_POLICY", "passive", 0);
    // One folder a run, since two may be under way; what earlier ones left is removed.
    char *tmp = text("%s/tests/tmp", setup.build);
    setup.scratch = text("%s/%d", tmp, (int)getpid());
    shell(NULL, "mkdir -p %s %s/tests/cache", quote(setup.scratch), quote(setup.build));
    shell(NULL, "for d in %s/*; do kill -0 \"${d##*/}\" 2>/dev/null || rm -rf \"$d\"; done", quote(tmp));
}

static void add_all(void) {
    add_unit();
    add_architecture();
    add_errors();
    add_golden();
    add_manual();
    add_scripts();
    add_samples();
    add_trial();
    add_polybench();
    add_casts();
    add_mutate();
    add_outside();
    add_speed();
}

static Verdict run_command_line(const Test *t) {
    char *out;
    int code = shell(&out, "%s", t->arg);
    say("%s", trim(out));
    return code == 0 ? PASS : code == SKIP ? SKIP : FAIL;
}

static void add_command(const char *command) {
    test_add((Test){.group = "command", .name = text("%d", ntests + 1), .run = run_command_line, .arg = command});
}

static void list(int n, char **patterns) {
    for (int i = 0; i < ntests; i++)
        if (wanted(&tests[i], n, patterns))
            puts(test_name(&tests[i]));
    fflush(NULL);
    _exit(0);
}

static void run_all(Pool *p, int n, char **patterns, bool alone) {
    bool terminal = isatty(2);
    for (int i = 0, done = 0; i < ntests && !pool_interrupted(); i++) {
        if (tests[i].alone != alone || !wanted(&tests[i], n, patterns))
            continue;
        if (terminal)
            fprintf(stderr, "\r\033[K%d %s\r", ++done, test_name(&tests[i]));
        if (alone)
            pool_finish(p);
        pool_start(p, &tests[i]);
    }
    pool_finish(p);
    if (terminal)
        fputs("\r\033[K", stderr);
}

static int usage(void) {
    fputs("usage: run [-j N] [-b BUILD] [-l] [-v] [-t SECONDS] [-w SECONDS] [-x COMMAND]... [GROUP[/NAME]]...\n", stderr);
    return 2;
}

static int at_least_one(const char *s) { return atoi(s) > 0 ? atoi(s) : 1; }

int main(int argc, char **argv) {
    int jobs = 2, option, ncommands = 0;
    bool only_list = false, verbose = false;
    char *commands[16];
    setup = (Setup){.build = "build/release", .patience = 2400};
    while ((option = getopt(argc, argv, "j:b:lvt:w:x:")) != -1)
        switch (option) {
        case 'j': jobs = at_least_one(optarg); break;
        case 'b': setup.build = optarg; break;
        case 'l': only_list = true; break;
        case 'v': verbose = true; break;
        case 't': setup.seconds = at_least_one(optarg); break;
        case 'w': setup.patience = at_least_one(optarg); break;
        case 'x':
            if (ncommands == 16)
                return usage();
            commands[ncommands++] = optarg;
            break;
        default: return usage();
        }
    pool_catch_signals();
    set_up();
    for (int i = 0; i < ncommands; i++)
        add_command(commands[i]);
    if (!ncommands) {
        wrap_ptoc();
        add_all();
    }
    setenv("PTOC", setup.ptoc, 1);
    char **patterns = argv + optind;
    int n = argc - optind;
    if (only_list)
        list(n, patterns);
    double begin = now();
    Pool *pool = pool_new(jobs, verbose);
    run_all(pool, n, patterns, false);
    run_all(pool, n, patterns, true);
    pool_end(pool);
    if (!pool->total.failed || pool_interrupted())
        shell(NULL, "rm -rf %s", quote(setup.scratch));
    pool_print(pool, now() - begin);
    // Nothing is freed, by design: without exit's handlers LeakSanitizer does not come to say so.
    fflush(NULL);
    _exit(pool_interrupted() ? 128 + pool_interrupted() : pool->total.failed != 0 || pool->total.passed + pool->total.skipped == 0);
}
