// Runs the tests: see run.h for what a test is, the other files for the groups.
//
//   run [-j N] [-b BUILD] [-l] [-v] [GROUP | GROUP/NAME | GROUP/PREFIX*]...
//
// Prints each failure with its log, each reason for skipping once, the counts of every group, and at the end a line
// "N passed, N failed, N skipped". Exit code 1 when something failed.
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

Setup setup;
const char *scratch;

static Test *tests;
static int ntests;

typedef struct { int passed, failed, skipped; } Counts;
typedef struct { const Test *test; pid_t pid; char *folder, *log; double start, processor; } Running;

void test_add(Test t) {
    tests = realloc(tests, sizeof *tests * (size_t)(ntests + 1));
    if (!tests)
        abort();
    if (!t.seconds)
        t.seconds = 120;
    if (setup.sanitized)
        t.seconds *= 5;
    tests[ntests++] = t;
}

static char *test_name(const Test *t) {
    return t->name ? text("%s/%s", t->group, t->name) : text("%s", t->group);
}

static bool matches(const Test *t, const char *pattern) {
    char *name = test_name(t);
    size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*')
        return strncmp(name, pattern, n - 1) == 0;
    return strcmp(t->group, pattern) == 0 || strcmp(name, pattern) == 0 || (starts(name, pattern) && name[n] == '/');
}

static bool wanted(const Test *t, int n, char **patterns) {
    for (int i = 0; i < n; i++)
        if (matches(t, patterns[i]))
            return true;
    return n == 0;
}

static Running start(const Test *t) {
    Running r = {.test = t, .folder = text("%s/XXXXXX", setup.scratch), .start = now()};
    if (!mkdtemp(r.folder)) {
        perror(r.folder);
        exit(70);
    }
    r.log = text("%s.log", r.folder);
    fflush(NULL);
    r.pid = fork();
    if (r.pid != 0)
        return r;
    setpgid(0, 0);
    int fd = open(r.log, O_CREAT | O_WRONLY | O_TRUNC, 0666), null = open("/dev/null", O_RDONLY);
    if (fd < 0 || null < 0 || dup2(null, 0) < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
        _exit(70);
    scratch = r.folder;
    Verdict v = t->run(t);
    fflush(NULL);
    _exit(v);
}

// The last line of a log that reads "N passed, N failed[, N skipped]".
static bool parse_counts(const char *log, Counts *c) {
    bool found = false;
    for (const char *p = log; p; p = strchr(p, '\n')) {
        p += *p == '\n';
        Counts one = {0};
        if (sscanf(p, "%d passed, %d failed, %d skipped", &one.passed, &one.failed, &one.skipped) >= 2) {
            *c = one;
            found = true;
        }
    }
    return found;
}

static void show_log(const char *log) {
    enum { MOST = 60 };
    int n = 0;
    for (const char *p = log; *p; n++) {
        size_t len = strcspn(p, "\n");
        if (n < MOST)
            printf("    %.*s\n", (int)len, p);
        p += len + (p[len] == '\n');
    }
    if (n > MOST)
        printf("    ... %d more lines\n", n - MOST);
}

// Counts what a finished test says and shows it if it has to be seen.
static void finish(const Running *r, int status, bool late, bool verbose, Counts *total, Counts *group) {
    char *log = read_file(r->log);
    if (!log)
        log = text("%s", "");
    Counts c = {0};
    bool counted = r->test->counts && parse_counts(log, &c);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (!counted)
        c = (Counts){.passed = code == PASS, .failed = code != PASS && code != SKIP, .skipped = code == SKIP};
    else if (code != PASS && c.failed == 0)
        c.failed = 1;
    char *name = test_name(r->test);
    if (c.failed) {
        printf("FAIL %s (%s%.1f s)\n", name, late ? "too slow, ended after " : code > 128 ? text("signal %d, ", code - 128) : "",
               now() - r->start);
        show_log(log);
    } else if (c.skipped && !counted)
        printf("SKIP %s: %s\n", name, *trim(log) ? trim(log) : "no reason given");
    else if (verbose) {
        printf("ok   %s (%.1f s, %.1f s of the processors)\n", name, now() - r->start, r->processor);
        show_log(log);
    }
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        Counts *to = i ? group : total;
        to->passed += c.passed;
        to->failed += c.failed;
        to->skipped += c.skipped;
    }
    unlink(r->log);
    if (!c.failed)
        shell(NULL, "rm -rf %s", quote(r->folder));
}

typedef struct { const char *name; Counts counts; double seconds, processor; } Group;

static Group *group_of(Group *groups, int *n, const char *name) {
    for (int i = 0; i < *n; i++)
        if (strcmp(groups[i].name, name) == 0)
            return &groups[i];
    groups[*n] = (Group){.name = name};
    return &groups[(*n)++];
}

typedef struct {
    Running *at;
    int n;
    bool verbose;
    Counts total;
    Group groups[64];
    int ngroups;
} Pool;

static double seconds_of(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

// Takes the pool's finished tests out; ends those that take too long.
static void reap(Pool *p) {
    for (int i = 0; i < p->n; i++) {
        Running *r = &p->at[i];
        bool late = now() - r->start > r->test->seconds;
        if (late)
            kill(-r->pid, SIGKILL);
        int status;
        struct rusage used;
        pid_t got = wait4(r->pid, &status, late ? 0 : WNOHANG, &used);
        if (got == 0)
            continue;
        if (got > 0)
            kill(-r->pid, SIGKILL);      // whatever it left behind
        r->processor = got > 0 ? seconds_of(used.ru_utime) + seconds_of(used.ru_stime) : 0;
        Group *g = group_of(p->groups, &p->ngroups, r->test->group);
        g->seconds += now() - r->start;
        g->processor += r->processor;
        finish(r, got < 0 ? FAIL << 8 : status, late, p->verbose, &p->total, &g->counts);
        p->at[i--] = p->at[--p->n];
    }
}

static void run_all(Pool *p, int n, char **patterns, bool alone) {
    int jobs = alone ? 1 : setup.jobs, done = 0;
    bool terminal = isatty(2);
    p->at = calloc((size_t)jobs, sizeof *p->at);
    if (!p->at)
        abort();
    for (int i = 0; i < ntests; i++) {
        if (tests[i].alone != alone || !wanted(&tests[i], n, patterns))
            continue;
        while (p->n == jobs) {
            reap(p);
            if (p->n == jobs)
                usleep(3000);
        }
        if (terminal)
            fprintf(stderr, "\r\033[K%d %s\r", ++done, test_name(&tests[i]));
        p->at[p->n++] = start(&tests[i]);
    }
    while (p->n) {
        reap(p);
        usleep(3000);
    }
    if (terminal)
        fputs("\r\033[K", stderr);
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
    char *wrapper = text("%s/tests/ptoc", setup.build);
    if (!write_file(wrapper, text("#!/bin/sh\n"
                                  "case ${1-} in check) shift; set -- check \"$@\" --effort=1 ;; esac\n"
                                  "CC=\"sh %s/tests/fuzz/cc.sh -O1 ${CC-cc} %s\" exec %s \"$@\"\n",
                                  setup.source, flags, quote(setup.ptoc))) || chmod(wrapper, 0777) != 0)
        return;
    setup.ptoc = wrapper;
    // LLVM's OpenMP library is not instrumented: what it hands from thread to thread looks like races. Waiting threads
    // that spin keep slow ones from the processors.
    setenv("TSAN_OPTIONS", "ignore_noninstrumented_modules=1", 0);
    setenv("OMP_WAIT_POLICY", "passive", 0);
}

static void set_up(const char *build, int jobs) {
    const char *cc = getenv("CC"), *config = getenv("CONFIG");
    setup.source = absolute(".");
    setup.build = absolute(build);
    setup.ptoc = text("%s/bin/ptoc", setup.build);
    setup.cc = cc && *cc ? cc : "cc";
    setup.config = config && *config ? config : "release";
    setup.sanitized = strcmp(setup.config, "asan") == 0 || strcmp(setup.config, "tsan") == 0;
    setup.threads = strcmp(setup.config, "tsan") == 0;
    setup.jobs = jobs;
    setup.shared = find_shared();
    setenv("CC", setup.cc, 1);
    setenv("SOURCE", setup.source, 1);
    setenv("BUILD", setup.build, 1);
    setenv("CONFIG", setup.config, 1);
    setenv("XDG_CACHE_HOME", text("%s/tests/cache", setup.build), 1);
    setenv("LC_ALL", "C", 1);
    // One folder a run, since two may be under way; what earlier ones left is removed.
    char *tmp = text("%s/tests/tmp", setup.build);
    setup.scratch = text("%s/%d", tmp, (int)getpid());
    shell(NULL, "mkdir -p %s %s/tests/cache", quote(setup.scratch), quote(setup.build));
    shell(NULL, "for d in %s/*; do kill -0 \"${d##*/}\" 2>/dev/null || rm -rf \"$d\"; done", quote(tmp));
    wrap_ptoc();
    setenv("PTOC", setup.ptoc, 1);
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
    add_speed();
}

static void usage(void) {
    fputs("usage: run [-j N] [-b BUILD] [-l] [-v] [GROUP[/NAME]]...\n", stderr);
    exit(2);
}

int main(int argc, char **argv) {
    int jobs = 2, option;
    const char *build = "build/release";
    bool list = false;
    Pool pool = {0};
    while ((option = getopt(argc, argv, "j:b:lv")) != -1)
        switch (option) {
        case 'j': jobs = atoi(optarg) > 0 ? atoi(optarg) : 1; break;
        case 'b': build = optarg; break;
        case 'l': list = true; break;
        case 'v': pool.verbose = true; break;
        default: usage();
        }
    set_up(build, jobs);
    add_all();
    char **patterns = argv + optind;
    int n = argc - optind;
    if (list) {
        for (int i = 0; i < ntests; i++)
            if (wanted(&tests[i], n, patterns))
                puts(test_name(&tests[i]));
        fflush(NULL);
        _exit(0);
    }
    double begin = now();
    run_all(&pool, n, patterns, false);
    run_all(&pool, n, patterns, true);
    for (int i = 0; i < pool.ngroups; i++) {
        const Group *g = &pool.groups[i];
        printf("%-14s %4d passed %4d failed %4d skipped  %6.1f s, %6.1f s of the processors\n", g->name, g->counts.passed, g->counts.failed,
               g->counts.skipped, g->seconds, g->processor);
    }
    if (!pool.total.failed)
        shell(NULL, "rm -rf %s", quote(setup.scratch));
    printf("in %.1f s\n%d passed, %d failed, %d skipped\n", now() - begin, pool.total.passed, pool.total.failed, pool.total.skipped);
    // Nothing is freed, by design: without exit's handlers LeakSanitizer does not come to say so.
    fflush(NULL);
    _exit(pool.total.failed != 0 || pool.total.passed + pool.total.skipped == 0);
}
