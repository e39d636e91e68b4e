// Starting, watching, ending and counting tests: see pool.h. Test: tests/cli/runner.sh
#include "pool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int which) { interrupted = which; }

int pool_interrupted(void) { return interrupted; }

void pool_catch_signals(void) {
    struct sigaction act = {.sa_handler = on_signal};
    static const int which[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++)
        sigaction(which[i], &act, NULL);
}

Pool *pool_new(int jobs, bool verbose) {
    Pool *p = calloc(1, sizeof *p);
    if (!p || !(p->at = calloc((size_t)jobs, sizeof *p->at)))
        abort();
    p->jobs = jobs;
    p->verbose = verbose;
    return p;
}

// ---- a test's process ----

// SIGXCPU at the limit, which names the reason; SIGKILL a little later for who does not listen.
static void limit_processor(int seconds) {
    struct rlimit limit = {.rlim_cur = (rlim_t)seconds, .rlim_max = (rlim_t)seconds + 5};
    setrlimit(RLIMIT_CPU, &limit);
}

static void run_test(const Running *r) {
    int fd = open(r->log, O_CREAT | O_WRONLY | O_TRUNC, 0666), null = open("/dev/null", O_RDONLY);
    if (fd < 0 || null < 0 || dup2(null, 0) < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
        _exit(70);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    limit_processor(r->test->seconds);
    scratch = r->folder;
    Verdict v = r->test->run(r->test);
    fflush(NULL);
    _exit(v);
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
    if (r.pid == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run_test(&r);
    }
    setpgid(r.pid, r.pid);       // here too: it may have to be ended before it comes to it
    return r;
}

// ---- what it came to ----

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

// The kernel ends a process at the limit, give or take its clock.
static bool is_too_much(const Running *r) { return r->processor > r->test->seconds - 0.1; }

static const char *why_failed(const Running *r, int code) {
    if (r->hung)
        return text("hung: ended by the clock after %.0f s, %.1f s of the processors", now() - r->start, r->processor);
    if (is_too_much(r) || code == 128 + SIGXCPU)
        return text("too slow: %.1f s of the processors, %d s allowed", r->processor, r->test->seconds);
    return text("%s%.1f s", code > 128 ? text("signal %d, ", code - 128) : "", now() - r->start);
}

static void show(const Running *r, const Counts *c, int code, bool counted, bool verbose) {
    char *log = read_file(r->log), *name = test_name(r->test);
    if (!log)
        log = text("%s", "");
    if (c->failed) {
        printf("FAIL %s (%s)\n", name, why_failed(r, code));
        show_log(log);
    } else if (c->skipped && !counted)
        printf("SKIP %s: %s\n", name, *trim(log) ? trim(log) : "no reason given");
    else if (verbose || r->test->figures) {
        printf("ok   %s (%.1f s, %.1f s of the processors)\n", name, now() - r->start, r->processor);
        show_log(log);
    }
    fflush(stdout);
}

static void count(Counts *to, const Counts *c) {
    to->passed += c->passed;
    to->failed += c->failed;
    to->skipped += c->skipped;
}

static Group *group_of(Pool *p, const char *name) {
    for (int i = 0; i < p->ngroups; i++)
        if (strcmp(p->groups[i].name, name) == 0)
            return &p->groups[i];
    p->groups[p->ngroups] = (Group){.name = name};
    return &p->groups[p->ngroups++];
}

static void remove_files(const Running *r) {
    unlink(r->log);
    shell(NULL, "rm -rf %s", quote(r->folder));
}

// Counts what a finished test says and shows it if it has to be seen.
static void finish(Pool *p, const Running *r, int status) {
    Counts c = {0};
    char *log = r->test->counts ? read_file(r->log) : NULL;
    bool counted = log && parse_counts(log, &c);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    bool good = !r->hung && !is_too_much(r);
    if (!counted)
        c = (Counts){.passed = good && code == PASS, .failed = !good || (code != PASS && code != SKIP), .skipped = good && code == SKIP};
    else if ((code != PASS || !good) && c.failed == 0)
        c.failed = 1;
    show(r, &c, code, counted, p->verbose);
    Group *g = group_of(p, r->test->group);
    g->seconds += now() - r->start;
    g->processor += r->processor;
    count(&g->counts, &c);
    count(&p->total, &c);
    if (c.failed)
        unlink(r->log);
    else
        remove_files(r);
}

// ---- the pool ----

static double seconds_of(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

// Waits for a test that was ended, or asks whether it is done. 0: it is not; -1: there is none.
static pid_t wait_for(Running *r, bool block, int *status) {
    struct rusage used;
    pid_t got;
    while ((got = wait4(r->pid, status, block ? 0 : WNOHANG, &used)) < 0 && errno == EINTR) {}
    if (got > 0) {
        kill(-r->pid, SIGKILL);      // whatever it left behind
        r->processor = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    }
    return got;
}

// Takes the finished tests out; ends those that hang.
static void reap(Pool *p) {
    for (int i = 0; i < p->n; i++) {
        Running *r = &p->at[i];
        int status;
        r->hung = now() - r->start > setup.patience;
        if (r->hung)
            kill(-r->pid, SIGKILL);
        pid_t got = wait_for(r, r->hung, &status);
        if (got == 0)
            continue;
        finish(p, r, got < 0 ? FAIL << 8 : status);
        p->at[i--] = p->at[--p->n];
    }
}

static void wait_while(Pool *p, int n) {
    while (p->n > n && !interrupted) {
        reap(p);
        if (p->n > n)
            usleep(3000);
    }
}

void pool_start(Pool *p, const Test *t) {
    wait_while(p, p->jobs - 1);
    if (!interrupted)
        p->at[p->n++] = start(t);
}

void pool_finish(Pool *p) { wait_while(p, 0); }

void pool_end(Pool *p) {
    for (int i = 0; i < p->n; i++)
        kill(-p->at[i].pid, SIGKILL);
    for (int i = 0; i < p->n; i++) {
        int status;
        wait_for(&p->at[i], true, &status);
        remove_files(&p->at[i]);
    }
    p->n = 0;
}

void pool_print(const Pool *p, double seconds) {
    double processor = 0;
    for (int i = 0; i < p->ngroups; i++) {
        const Group *g = &p->groups[i];
        printf("%-14s %4d passed %4d failed %4d skipped  %6.1f s, %6.1f s of the processors\n", g->name, g->counts.passed, g->counts.failed,
               g->counts.skipped, g->seconds, g->processor);
        processor += g->processor;
    }
    printf("in %.1f s, %.1f s of the processors\n", seconds, processor);
    if (interrupted)
        printf("interrupted by signal %d (%s): what ran then, and what had not begun, is not counted\n", interrupted, strsignal(interrupted));
    printf("%d passed, %d failed, %d skipped\n", p->total.passed, p->total.failed, p->total.skipped);
    fflush(stdout);
}
