// Random programs against the reference evaluator: draws kernels, runs `ptoc check` on them, shrinks what fails.
//
//   fuzz [-s SEED] [-n PROGRAMS] [-o FOLDER] [-k KERNELS-PER-FILE] [-j JOBS] [-a] [-u] [-p] [-- more arguments for ptoc check]
//
// Many kernels share a file, one run of ptoc and one of the C compiler, which take most of the time; of a file that fails the
// kernels that were found to differ are judged alone, or it is halved until those to blame stand alone. Each file has a seed of its
// own, whatever the number of jobs. With -a each goes to the next target of a table, CPUs and modelled machines; some are built with
// a sanitizer for undefined behaviour, and what this machine cannot run is compiled only. Without -n it goes on until something
// fails. PTOC names the compiler, CC the C compiler, QUICK_CC one that may stand for it in three of four files that are not sanitized. A program that fails
// is kept, shrunk, in the folder, and its seed printed; it goes on, and prints its counts however it ends: of programs, each of
// which went to one target, and of calls that were compared. One file in three has schedules; one that is refused is taken away. What
// the compiler does not build yet or could not decide within its budget counts as skipped. -u: failures are not
// shrunk, which takes as long as thousands of programs; -p: only prints the programs of a seed.
#include "program.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_KERNELS = 64, MOST_JOBS = 64, SECONDS = 120, MOST_REPORTS = 12, MOST_ALIKE = 2, TARGETS = 8 };

typedef enum { GOOD, BAD, UNDECIDED } Outcome;
typedef struct {
    int passed, failed, skipped;
    int unscheduled;                     // of these: without a schedule, which was refused
    int on[TARGETS], compiled;           // passed on each target; and of these: only compiled
    long runs;                           // calls that were compared
} Counts;                                // of all workers, in memory that they share

typedef struct {
    const char *ptoc, *more;
    char keep[PATH_MAX], folder[PATH_MAX];       // where failures are kept; a worker's own
    long programs;
    int together;
    bool all_targets, unshrunk;
    char how[160];               // how the last check failed
    unsigned long seed;
    char sizes[DIMS][96];        // of each dimension: " --dim M=1 --dim M=17"
    Counts *counts;
    int nreports;
    char reported[MOST_REPORTS][160];    // how they failed
} Fuzz;

static void count(int *to, int n) { __atomic_fetch_add(to, n, __ATOMIC_RELAXED); }

static int programs_of(const Counts *c) { return c->passed + c->failed + c->skipped; }

static void write_kernels(const char *path, int n, const Kernel *kernels, bool schedules) {
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(2);
    }
    for (int i = 0; i < n; i++)
        kernel_print(file, &kernels[i]);
    for (int i = 0; schedules && i < n; i++)
        kernel_print_schedule(file, &kernels[i]);
    fclose(file);
}

// ---- one check ----

// What kind of failure a line is about: its diagnostic's name, or what it says up to a name or number.
static bool describe(const char *line, char *how, size_t size) {
    static const char *const kinds[] = {"by definition", "the kernel fails", "the kernel succeeds", "canary", "bits"};
    const char *error = strstr(line, "error: ");
    if (!error)
        return false;
    const char *tag = strrchr(error, '[');
    error += strlen("error: ");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strstr(error, kinds[i])) {
            snprintf(how, size, "%s", kinds[i]);
            return true;
        }
    if (tag && strchr(tag, ']'))          // of the schedule that was fed back: nobody else is to blame
        snprintf(how, size, "%s%.*s", strncmp(line, "fed/", 4) == 0 ? "fed back " : "", (int)(strchr(tag, ']') - tag + 1), tag);
    else
        snprintf(how, size, "%.*s", (int)strcspn(error, "0123456789'\"`;\n"), error);
    return true;
}

// Refused by a diagnostic that says that the compiler will not, not that the program is wrong.
static bool is_honest(const char *tag) {
    static const char *const all[] = {"[undecided]", "[illegal-schedule]", "[unsupported]", "[schedule]", "[target]", "[capacity]"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(tag, all[i]) == 0)
            return true;
    return false;
}

static void describe_log(const char *path, int code, char *how, size_t size) {
    char line[4096];
    int n = snprintf(how, size, "%d ", code);
    FILE *file = fopen(path, "r");
    bool unjudged = false, found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        bool here = strstr(line, "cannot be checked with") != NULL;
        unjudged = unjudged || here;
        found = !here && describe(line, how + n, size - (size_t)n);
    }
    if (unjudged && !found)
        snprintf(how + n, size - (size_t)n, "[unjudged]");
    if (file)
        fclose(file);
}

// A few sizes for each dimension: tiny, around a vector, around a tile; of S the largest that there are.
static void draw_sizes(Fuzz *f, Random *r) {
    static const int tiny[] = {0, 1, 1, 2, 3}, tile[] = {19, 31, 32, 33, 37, 63, 64, 65};
    for (int d = 0; d < DIMS; d++) {
        const char *name = dim_names[d];
        if (d == DIM_S) {
            const char *huge = PICK(r, "2147483647", "3037000500", "4611686018427387904", "9223372036854775807");
            text_put(f->sizes[d], sizeof f->sizes[d], " --dim S=%d --dim S=%s", random_in(r, 0, 9), huge);
            continue;
        }
        int most = d == DIM_T ? 9 : tile[random_below(r, 8)];
        text_put(f->sizes[d], sizeof f->sizes[d], " --dim %s=%d --dim %s=%d --dim %s=%d", name, tiny[random_below(r, 5)], name, random_in(r, 4, 17), name, most);
    }
}

// ---- what a file is put to ----

// Without -a the target is that of the arguments, or this machine's. `check`: run and compared; else only compiled.
typedef struct { const char *name; bool check, sanitized; } Target;

static bool has_avx512(void) {
#if defined __x86_64__ && defined __GNUC__
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

static bool has_avx2(void) {
#if defined __x86_64__ && defined __GNUC__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

static Target target_at(unsigned long n) {
    const Target all[TARGETS] = {
        {"generic", true, false}, {"davinci", true, false}, {"x86-64-v3", has_avx2(), false}, {"ascend910b", true, false},
        {"x86-64-v4", has_avx512(), false}, {"kirin9030", true, false}, {"generic", true, true}, {"x86-64-v3", has_avx2(), has_avx2()},
    };
    return all[n % TARGETS];
}

static Target target_of(const Fuzz *f) { return f->all_targets ? target_at(f->seed) : (Target){"", true, false}; }

// Turns that do not keep step with the targets.
static unsigned turn(const Fuzz *f, unsigned n, unsigned of) {
    return (unsigned)(f->seed * 0x9e3779b97f4a7c15u >> (20 + 8 * n)) % of;
}

static const char *modes(const Fuzz *f) {
    static const char *const rounds[] = {"--mode serial", "", "--mode serial", "--mode wave --threads 3"};
    return rounds[turn(f, 0, 4)];
}

// What else has to hold, turn by turn: the IR reads back as the same text, and the schedule that was chosen, fed back,
// gives the same C. `ptoc` works on `$file` in the folder.
static const char *property(const Fuzz *f) {
#define ROUND_TRIP(level) "ptoc --emit-ir=" level " $file -o 1.ptoir && ptoc --emit-ir=" level " 1.ptoir -o 2.ptoir && \
    { cmp 1.ptoir 2.ptoir || { echo 'error: the IR reads back as another'; exit 1; }; }"
#define FEED_BACK "ptoc $target --emit-schedule $file -o chosen.pto && cat chosen.pto >>fed/$file && ptoc $target $file -o k.c && \
    ptoc $target fed/$file -o fed/k.c && { cmp k.c fed/k.c || { echo 'error: the schedule gives another C'; exit 1; }; }"
    static const char *const rounds[] = {ROUND_TRIP("task"), "true", FEED_BACK, "true", ROUND_TRIP("tile"), "true", "true", "true"};
    return rounds[turn(f, 1, 8)];
}

// Runs and compares, or compiles both ways.
static const char *main_command(const Target *t) {
    return t->check ? "ptoc check $file --effort 1 --verify-each $target" : "ptoc $target --verify-each $file -o k.c && $CC -O1 -std=c11 -I\"$include\" -c k.c -o k.o && true";
}

static Outcome check(Fuzz *f, const char *name, int n, const Kernel *kernels) {
    char command[8 * PATH_MAX], path[PATH_MAX + 64], log[PATH_MAX + 16], sizes[DIMS * 96] = "";
    text_put(path, sizeof path, "%s/%s", f->folder, name);
    write_kernels(path, n, kernels, true);
    text_put(path, sizeof path, "%s/fed/%s", f->folder, name);
    write_kernels(path, n, kernels, false);
    for (int d = 0; d < DIMS; d++) {
        bool all = true;
        for (int i = 0; i < n; i++)
            all = all && kernel_has_dim(&kernels[i], d);
        strcat(sizes, all ? f->sizes[d] : "");
    }
    Target target = target_of(f);
    text_put(command, sizeof command,
             "exec >'%s/log.txt' 2>&1 </dev/null; cd '%s'; export XDG_CACHE_HOME=$PWD/cache; file=%s; ptoc() (ulimit -t %d && exec '%s' \"$@\"); "
             "include=$(dirname '%s')/../include; export CC=\"%s %s\"; target=%s%s; %s %s %s %s && %s", f->folder, f->folder, name, SECONDS, f->ptoc, f->ptoc,
             turn(f, 3, 4) && !target.sanitized ? "${QUICK_CC-${CC-cc}}" : "${CC-cc}",
             target.sanitized ? "-fsanitize=undefined -fno-sanitize-recover=all" : "", *target.name ? "--target=" : "", target.name, main_command(&target),
             target.check ? modes(f) : "", target.check ? sizes : "", f->more, property(f));
    text_put(log, sizeof log, "%s/log.txt", f->folder);
    int status = system(command);
    if (status == -1 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) || (WIFEXITED(status) && WEXITSTATUS(status) == 130))
        exit(130);
    if (status == 0)
        return GOOD;
    describe_log(log, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), f->how, sizeof f->how);
    if (strcmp(f->how, "1 [unjudged]") == 0)
        return GOOD;                            // all that was said: of some sizes the reference knows nothing
    return strncmp(f->how, "1 ", 2) == 0 && is_honest(f->how + 2) ? UNDECIDED : BAD;
}

// ---- failures ----

typedef struct { Fuzz *fuzz; char how[160]; } Failure;

static bool kernel_fails(const Kernel *k, void *data) {
    Failure *failure = data;
    return check(failure->fuzz, "shrink.pto", 1, k) == BAD && strcmp(failure->fuzz->how, failure->how) == 0;
}

// The first lines from the one on that has `from`.
static void show(const char *path, const char *from, int most) {
    char line[1024];
    bool found = false;
    FILE *file = fopen(path, "r");
    while (file && most > 0 && fgets(line, sizeof line, file)) {
        found = found || strstr(line, from);
        most -= found;
        if (found)
            printf("    %s", line);
    }
    if (file)
        fclose(file);
}

// Shrinking takes long: a few failures of each kind will do.
static bool is_worth_it(Fuzz *f) {
    int alike = 0;
    for (int i = 0; i < f->nreports; i++)
        alike += strcmp(f->reported[i], f->how) == 0;
    if (f->nreports == MOST_REPORTS || alike == MOST_ALIKE)
        return false;
    strcpy(f->reported[f->nreports++], f->how);
    return true;
}

static void report(Fuzz *f, Kernel *k) {
    char name[64], path[PATH_MAX + 64], kept[PATH_MAX + 64], log[PATH_MAX + 16];
    Failure failure = {.fuzz = f};
    strcpy(failure.how, f->how);
    if (!f->unshrunk)
        kernel_shrink(k, kernel_fails, &failure);
    text_put(name, sizeof name, "failure-%lu-%s.pto", f->seed, k->name);
    text_put(path, sizeof path, "%s/%s", f->folder, name);
    text_put(log, sizeof log, "%s/log.txt", f->folder);
    check(f, name, 1, k);
    text_put(kept, sizeof kept, "%s/%s", f->keep, name);
    if (rename(path, kept) != 0)
        perror(kept);
    printf("FAIL seed %lu, %s%s%s (exit code %s), kept in %s\n", f->seed, k->name, *target_of(f).name ? " on " : "", target_of(f).name, failure.how, kept);
    show(kept, "", 40);
    show(log, "error: ", 8);
    fflush(stdout);
}

// The name of the kernel that a line of a file belongs to.
static void name_at(const char *path, int line, char *name) {
    char text[4096];
    FILE *file = fopen(path, "r");
    name[0] = '\0';
    while (file && line-- > 0 && fgets(text, sizeof text, file))
        if (sscanf(text, "kernel %15[a-z0-9]", name) < 1)
            sscanf(text, "schedule %15[a-z0-9]", name);
    if (file)
        fclose(file);
}

static Kernel *kernel_named(int n, Kernel *kernels, const char *name) {
    for (int i = 0; i < n; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    return NULL;
}

static FILE *open_log(const Fuzz *f) {
    char log[PATH_MAX + 16];
    text_put(log, sizeof log, "%s/log.txt", f->folder);
    return fopen(log, "r");
}

// Takes away the schedules that the log says were refused, and the kernels that were, without one; how many are left.
static int drop_refused(Fuzz *f, const char *batch, int n, Kernel *kernels, bool *changed) {
    char path[PATH_MAX + 64], line[4096], how[160], name[16];
    int at;
    text_put(path, sizeof path, "%s/%s", f->folder, batch);
    FILE *file = open_log(f);
    *changed = false;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "batch.pto:%d:", &at) < 1 || !describe(line, how, sizeof how) || !is_honest(how))
            continue;
        name_at(path, at, name);
        Kernel *k = kernel_named(n, kernels, name);
        if (!k)
            continue;
        *changed = true;
        if (k->schedule[0]) {
            count(&f->counts->unscheduled, 1);
            k->schedule[0] = '\0';
        } else {
            count(&f->counts->skipped, 1);
            n--;
            memmove(k, k + 1, sizeof *k * (size_t)(kernels + n - k));
        }
    }
    if (file)
        fclose(file);
    return n;
}

// Brings the kernels that differ, as `ptoc check` says in the log, to the front; how many.
static int bring_different(const Fuzz *f, int n, Kernel *kernels) {
    static Kernel swap;
    char line[4096], name[16];
    int found = 0;
    FILE *file = open_log(f);
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "checked %*d runs of %15[a-z0-9]:", name) < 1 || !strstr(line, "DIFFERENT"))
            continue;
        Kernel *k = kernel_named(n - found, kernels + found, name);
        if (!k)
            continue;
        swap = *k;
        *k = kernels[found];
        kernels[found++] = swap;
    }
    if (file)
        fclose(file);
    return found;
}

static void count_runs(Fuzz *f) {
    char line[4096];
    long runs;
    FILE *file = open_log(f);
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "checked %ld runs of", &runs) == 1)
            __atomic_fetch_add(&f->counts->runs, runs, __ATOMIC_RELAXED);
    if (file)
        fclose(file);
}

static void count_outcome(Fuzz *f, Outcome o, int n) {
    count(&f->counts->skipped, o == UNDECIDED ? n : 0);
    count(&f->counts->failed, o == BAD ? n : 0);
    if (o != GOOD)
        return;
    count(&f->counts->passed, n);
    count(&f->counts->on[f->seed % TARGETS], n);
    count(&f->counts->compiled, target_of(f).check ? 0 : n);
    count_runs(f);
}

// A file of kernels; when it is not good as a whole, what was not refused; those that differ and the others; and its halves.
static void judge(Fuzz *f, int n, Kernel *kernels) {
    bool changed = false;
    Outcome o = check(f, "batch.pto", n, kernels);
    int left = o == GOOD || (n == 1 && !kernels->schedule[0]) ? n : drop_refused(f, "batch.pto", n, kernels, &changed);
    if (changed) {
        if (left)
            judge(f, left, kernels);
        return;
    }
    if (n == 1 || o == GOOD) {
        count_outcome(f, o, n);
        if (o == BAD && is_worth_it(f))
            report(f, kernels);
        return;
    }
    int first = bring_different(f, n, kernels);
    for (int i = 0; i < first; i++)
        judge(f, 1, kernels + i);
    int half = first > 0 ? 0 : n / 2;
    if (half > 0)
        judge(f, half, kernels);
    if (n > first + half)
        judge(f, n - first - half, kernels + first + half);
}

static void draw_round(Fuzz *f, int n, Kernel *kernels) {
    char name[16];
    Random random = {.state = f->seed * 0x9e3779b97f4a7c15u + 1};
    for (int i = 0; i < n; i++) {
        text_put(name, sizeof name, "k%d", i);
        kernel_random(&kernels[i], &random, name);
        if (turn(f, 2, 3) != 0)
            kernels[i].schedule[0] = '\0';
    }
    draw_sizes(f, &random);
}

// What the compiler left in the folder; `after`: and how it has to be before a round.
static void clean(const Fuzz *f, const char *after) {
    char command[2 * PATH_MAX + 64];
    text_put(command, sizeof command, "cd '%s' && rm -rf cache fed %s", f->folder, after);
    if (system(command) != 0)
        fprintf(stderr, "fuzz: cannot clean %s\n", f->folder);
}

// ---- rounds ----

// A round draws a file of kernels from its own seed, whoever does it: what is found does not depend on the number of jobs.
static void do_round(Fuzz *f, Kernel *kernels) {
    draw_round(f, f->together, kernels);
    clean(f, "&& mkdir fed");
    judge(f, f->together, kernels);
    clean(f, "1.ptoir 2.ptoir chosen.pto k.c k.h k.o batch.pto shrink.pto log.txt");
}

static bool is_done(const Fuzz *f, long round) {
    return f->programs < 0 ? f->counts->failed > 0 : round * f->together >= f->programs;
}

static void work(Fuzz *f, int worker, int jobs, Kernel *kernels) {
    unsigned long seed = f->seed;
    for (long round = worker; !is_done(f, round); round += jobs) {
        f->seed = seed + (unsigned long)round;
        do_round(f, kernels);
    }
    fflush(NULL);
    _exit(0);       // the programs are never freed, and LeakSanitizer would say so
}

static volatile sig_atomic_t interrupted;

static void on_signal(int which) { interrupted = which; }

static void catch_signals(void) {
    static const int which[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction act = {.sa_handler = on_signal};
    for (int i = 0; i < 3; i++)
        sigaction(which[i], &act, NULL);
}

static void leave_signals(void) {
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
}

// Each in a process group and a folder of its own.
static pid_t start_worker(Fuzz *f, int worker, int jobs, Kernel *kernels) {
    if (snprintf(f->folder, sizeof f->folder, "%s/work-%d-%d", f->keep, (int)getpid(), worker) >= (int)sizeof f->folder)
        return -1;
    if (mkdir(f->folder, 0777) != 0) {
        perror(f->folder);
        return -1;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        leave_signals();
        work(f, worker, jobs, kernels);
    }
    setpgid(pid, pid);
    return pid;
}

static void say_progress(const Fuzz *f, double seconds) {
    if (isatty(1))
        printf("%d programs, %.1f a second\r", programs_of(f->counts), programs_of(f->counts) / seconds);
    fflush(stdout);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// False when a worker did not come to its end.
static bool wait_for_all(Fuzz *f, int jobs, const pid_t *workers, double begin) {
    bool good = true;
    for (int left = jobs; left > 0 && !interrupted;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        left -= pid > 0;
        good = good && (pid <= 0 || status == 0);
        if (pid == 0) {
            usleep(50000);
            say_progress(f, now() - begin);
        }
    }
    for (int i = 0; i < jobs; i++)
        kill(-workers[i], SIGKILL);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        continue;
    return good;
}

static void remove_folders(const Fuzz *f) {
    char command[PATH_MAX + 64];
    text_put(command, sizeof command, "rm -rf '%s'/work-%d-*", f->keep, (int)getpid());
    if (system(command) != 0)
        fprintf(stderr, "fuzz: cannot clean %s\n", f->keep);
}

static void say_counts(const Fuzz *f, double seconds) {
    const Counts *c = f->counts;
    printf("seeds from %lu on, %.1f s, %.1f programs a second\n", f->seed, seconds, programs_of(c) / seconds);
    printf("%ld calls compared; %d programs only compiled; %d without their schedule, which was refused\n", c->runs, c->compiled, c->unscheduled);
    for (int i = 0; f->all_targets && i < TARGETS; i++)
        printf("%s%s%s %d", i ? ", " : "passed on ", target_at((unsigned long)i).name, target_at((unsigned long)i).sanitized ? ", sanitized," : "", c->on[i]);
    printf("%s%d passed, %d failed, %d skipped\n", f->all_targets ? "\n" : "", c->passed, c->failed, c->skipped);
}

static int run_all(Fuzz *f, int jobs, Kernel *kernels) {
    pid_t workers[MOST_JOBS];
    double begin = now();
    catch_signals();
    for (int i = 0; i < jobs; i++)
        if ((workers[i] = start_worker(f, i, jobs, kernels)) < 0)
            return 2;
    bool good = wait_for_all(f, jobs, workers, begin);
    double seconds = now() - begin;
    remove_folders(f);
    if (interrupted)
        printf("interrupted by signal %d; counted is what was done:\n", interrupted);
    if (!good && !interrupted)
        printf("a worker ended before its time\n");
    say_counts(f, seconds);
    fflush(NULL);
    return interrupted ? 128 + interrupted : f->counts->failed != 0 || !good;
}

// ---- the command ----

static int usage(void) {
    fputs("usage: fuzz [-s SEED] [-n PROGRAMS] [-o FOLDER] [-k KERNELS-PER-FILE] [-j JOBS] [-a] [-u] [-p] [-- ARGUMENT...]\n", stderr);
    return 2;
}

static const char *join(int n, char **words) {
    static char joined[PATH_MAX];
    size_t at = 0;
    for (int i = 0; i < n; i++)
        at += (size_t)text_put(joined + at, sizeof joined - at, " '%s'", words[i]);
    return joined;
}

int main(int argc, char **argv) {
    static Kernel kernels[MOST_KERNELS];
    const char *ptoc = getenv("PTOC"), *folder = ".";
    Fuzz f = {.ptoc = ptoc ? ptoc : "ptoc", .seed = 1, .programs = -1, .together = 32};
    int jobs = 1, option;
    bool print = false;
    while ((option = getopt(argc, argv, "s:n:o:k:j:apu")) != -1)
        switch (option) {
        case 's': f.seed = strtoul(optarg, NULL, 10); break;
        case 'n': f.programs = atol(optarg); break;
        case 'o': folder = optarg; break;
        case 'k': f.together = atoi(optarg); break;
        case 'j': jobs = atoi(optarg); break;
        case 'a': f.all_targets = true; break;
        case 'u': f.unshrunk = true; break;
        case 'p': print = true; break;
        default: return usage();
        }
    if (f.together < 1 || f.together > MOST_KERNELS || jobs < 1 || jobs > MOST_JOBS || !realpath(folder, f.keep))
        return usage();
    f.more = join(argc - optind, argv + optind);
    if (print) {
        draw_round(&f, f.together, kernels);
        write_kernels("/dev/stdout", f.together, kernels, true);
        return 0;
    }
    f.counts = mmap(NULL, sizeof *f.counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (f.counts == MAP_FAILED) {
        perror("fuzz");
        return 2;
    }
    int code = run_all(&f, jobs, kernels);
    fflush(NULL);
    _exit(code);
}
