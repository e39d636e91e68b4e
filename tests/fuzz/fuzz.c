// Random programs against the reference evaluator: draws kernels, runs `ptoc check` on them, shrinks what fails.
//
//   fuzz [-s SEED] [-n PROGRAMS] [-o FOLDER] [-k KERNELS-PER-FILE] [-p] [-- more arguments for ptoc check]
//
// Many kernels share a file, because the C compiler takes most of the time; a file that fails is halved until the
// kernels to blame stand alone. Without -n it goes on until something fails. PTOC names the compiler. A program that
// fails is kept, shrunk, in the folder, and its seed printed. What the compiler does not build yet, refuses to schedule
// or could not decide within its budget counts as skipped. -p only prints the programs of a seed.
#include "program.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_KERNELS = 64, SECONDS = 120, MOST_REPORTS = 12, MOST_ALIKE = 2 };

typedef enum { GOOD, BAD, UNDECIDED } Outcome;
typedef struct { int passed, failed, skipped; } Counts;

typedef struct {
    const char *ptoc, *more;
    char folder[PATH_MAX];
    char how[160];               // how the last check failed
    unsigned long seed;
    char sizes[DIMS][48];        // of each dimension: " --dim M=1 --dim M=17"
    Counts counts;
    int nreports;
    char reported[MOST_REPORTS][160];    // how they failed
} Fuzz;

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
    while (file && fgets(line, sizeof line, file) && !describe(line, how + n, size - (size_t)n))
        continue;
    if (file)
        fclose(file);
}

// A few sizes for each dimension: tiny, around a vector, around a tile.
static void draw_sizes(Fuzz *f, Random *r) {
    static const int tiny[] = {0, 1, 1, 2, 3}, tile[] = {19, 31, 32, 33, 37, 63, 64, 65};
    for (int d = 0; d < DIMS; d++) {
        const char *name = dim_names[d];
        int most = d == DIM_T ? 9 : tile[random_below(r, 8)];
        text_put(f->sizes[d], sizeof f->sizes[d], " --dim %s=%d --dim %s=%d --dim %s=%d", name, tiny[random_below(r, 5)], name, random_in(r, 4, 17), name, most);
    }
}

static const char *modes(const Fuzz *f) {
    static const char *const rounds[] = {"--mode serial", "", "--mode serial", "--mode wave --threads 3"};
    return rounds[f->seed % 4];
}

// What else has to hold, turn by turn: the IR reads back as the same text, and the schedule that was chosen, fed back,
// gives the same C. `ptoc` works on `$file` in the folder.
static const char *property(const Fuzz *f) {
#define ROUND_TRIP(level) "ptoc --emit-ir=" level " $file -o 1.ptoir && ptoc --emit-ir=" level " 1.ptoir -o 2.ptoir && \
    { cmp 1.ptoir 2.ptoir || { echo 'error: the IR reads back as another'; exit 1; }; }"
#define FEED_BACK "ptoc --emit-schedule $file -o chosen.pto && cat chosen.pto >>fed/$file && ptoc $file -o k.c && ptoc fed/$file -o fed/k.c && \
    { cmp k.c fed/k.c || { echo 'error: the schedule gives another C'; exit 1; }; }"
    static const char *const rounds[] = {ROUND_TRIP("task"), FEED_BACK, ROUND_TRIP("tile"), "true"};
    return rounds[f->seed % 4];
}

static Outcome check(Fuzz *f, const char *name, int n, const Kernel *kernels) {
    char command[8 * PATH_MAX], path[PATH_MAX + 64], log[PATH_MAX + 16], sizes[DIMS * 48] = "";
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
    text_put(command, sizeof command,
             "exec >'%s/log.txt' 2>&1 </dev/null; cd '%s'; export XDG_CACHE_HOME=$PWD/cache; file=%s; ptoc() (ulimit -t %d && exec '%s' \"$@\"); "
             "ptoc check $file --effort 1 --verify-each %s %s %s && %s", f->folder, f->folder, name, SECONDS, f->ptoc, modes(f), sizes, f->more, property(f));
    text_put(log, sizeof log, "%s/log.txt", f->folder);
    int status = system(command);
    if (status == -1 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) || (WIFEXITED(status) && WEXITSTATUS(status) == 130))
        exit(130);
    if (status == 0)
        return GOOD;
    describe_log(log, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), f->how, sizeof f->how);
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
    char name[64], path[PATH_MAX + 64], log[PATH_MAX + 16];
    Failure failure = {.fuzz = f};
    strcpy(failure.how, f->how);
    kernel_shrink(k, kernel_fails, &failure);
    text_put(name, sizeof name, "failure-%lu-%s.pto", f->seed, k->name);
    text_put(path, sizeof path, "%s/%s", f->folder, name);
    text_put(log, sizeof log, "%s/log.txt", f->folder);
    check(f, name, 1, k);
    printf("FAIL seed %lu, %s (exit code %s), kept in %s\n", f->seed, k->name, failure.how, path);
    show(path, "", 40);
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

// Takes out the kernels that the log says were refused; how many are left.
static int drop_refused(Fuzz *f, const char *batch, int n, Kernel *kernels) {
    char path[PATH_MAX + 64], log[PATH_MAX + 16], line[4096], how[160], name[16];
    int at;
    text_put(path, sizeof path, "%s/%s", f->folder, batch);
    text_put(log, sizeof log, "%s/log.txt", f->folder);
    FILE *file = fopen(log, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "batch.pto:%d:", &at) < 1 || !describe(line, how, sizeof how) || !is_honest(how))
            continue;
        name_at(path, at, name);
        for (int i = 0; i < n; i++)
            if (strcmp(kernels[i].name, name) == 0) {
                memmove(&kernels[i], &kernels[i + 1], sizeof *kernels * (size_t)(n - i - 1));
                n--;
                f->counts.skipped++;
            }
    }
    if (file)
        fclose(file);
    return n;
}

// A file of kernels; when it is not good as a whole, what was not refused, and then its halves.
static void judge(Fuzz *f, int n, Kernel *kernels) {
    Outcome o = check(f, "batch.pto", n, kernels);
    int left = o == GOOD || n == 1 ? n : drop_refused(f, "batch.pto", n, kernels);
    if (left < n) {
        if (left)
            judge(f, left, kernels);
        return;
    }
    if (n > 1 && o != GOOD) {
        judge(f, n / 2, kernels);
        judge(f, n - n / 2, kernels + n / 2);
        return;
    }
    f->counts.passed += o == GOOD ? n : 0;
    f->counts.skipped += o == UNDECIDED;
    f->counts.failed += o == BAD;
    if (o == BAD && is_worth_it(f))
        report(f, kernels);
}

static void draw_round(Fuzz *f, int n, Kernel *kernels) {
    char name[16];
    Random random = {.state = f->seed * 0x9e3779b97f4a7c15u + 1};
    for (int i = 0; i < n; i++) {
        text_put(name, sizeof name, "k%d", i);
        kernel_random(&kernels[i], &random, name);
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

// ---- the command ----

static int usage(void) {
    fputs("usage: fuzz [-s SEED] [-n PROGRAMS] [-o FOLDER] [-k KERNELS-PER-FILE] [-p] [-- ARGUMENT...]\n", stderr);
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
    Fuzz f = {.ptoc = ptoc ? ptoc : "ptoc", .seed = 1};
    long programs = -1, done = 0;
    int together = 24, option;
    bool print = false;
    while ((option = getopt(argc, argv, "s:n:o:k:p")) != -1)
        switch (option) {
        case 's': f.seed = strtoul(optarg, NULL, 10); break;
        case 'n': programs = atol(optarg); break;
        case 'o': folder = optarg; break;
        case 'k': together = atoi(optarg); break;
        case 'p': print = true; break;
        default: return usage();
        }
    if (together < 1 || together > MOST_KERNELS || !realpath(folder, f.folder))
        return usage();
    f.more = join(argc - optind, argv + optind);
    for (; programs < 0 ? f.counts.failed == 0 : done < programs; f.seed++, done += together) {
        draw_round(&f, together, kernels);
        if (print) {
            write_kernels("/dev/stdout", together, kernels, true);
            return 0;
        }
        clean(&f, "&& mkdir fed");
        judge(&f, together, kernels);
        clean(&f, "1.ptoir 2.ptoir chosen.pto k.c k.h batch.pto shrink.pto");
        if (programs < 0 && isatty(1))
            printf("%d programs\r", f.counts.passed + f.counts.skipped);
        fflush(stdout);
    }
    printf("%d passed, %d failed, %d skipped\n", f.counts.passed, f.counts.failed, f.counts.skipped);
    // The programs are never freed, and LeakSanitizer would say so.
    fflush(NULL);
    _exit(f.counts.failed != 0);
}
