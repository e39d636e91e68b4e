// Random programs against the reference evaluator: draws kernels, runs `ptoc check` on them, shrinks what fails.
//
//   fuzz [-s SEED] [-n PROGRAMS] [-o FOLDER] [-k KERNELS-PER-FILE] [-- more arguments for ptoc check]
//
// Without -n it goes on until something fails. PTOC names the compiler. A program that fails is kept, shrunk, in the
// folder, and its seed printed. A guarantee that the compiler could not decide within its budget counts as skipped.
#include "program.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_KERNELS = 32, SECONDS = 120 };

typedef struct {
    const char *ptoc, *folder, *more;
    char log[4096];
    unsigned long seed;
} Fuzz;

typedef enum { GOOD, BAD, UNDECIDED } Outcome;

static char *path_of(const Fuzz *f, const char *name) {
    static char path[2][4096];
    static int turn;
    char *p = path[turn ^= 1];
    snprintf(p, sizeof path[0], "%s/%s", f->folder, name);
    return p;
}

static void write_kernels(const char *path, int n, const Kernel *kernels) {
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(2);
    }
    for (int i = 0; i < n; i++)
        kernel_print(file, &kernels[i]);
    fclose(file);
}

static bool log_says(const char *path, const char *part) {
    char line[4096];
    bool found = false;
    FILE *file = fopen(path, "r");
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, part) != NULL;
    if (file)
        fclose(file);
    return found;
}

static Outcome check_file(const Fuzz *f, const char *path) {
    char command[16384];
    char *log = path_of(f, "log.txt");
    snprintf(command, sizeof command, "timeout -k 5 %d '%s' check '%s' %s >'%s' 2>&1 </dev/null", SECONDS, f->ptoc, path, f->more, log);
    int status = system(command);
    if (status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
        exit(130);
    if (status == 0)
        return GOOD;
    return WIFEXITED(status) && WEXITSTATUS(status) == 1 && (log_says(log, "[undecided]") || log_says(log, "[illegal-schedule]")) ? UNDECIDED : BAD;
}

static bool kernel_fails(const Kernel *k, void *data) {
    const Fuzz *f = data;
    char path[4096];
    snprintf(path, sizeof path, "%s", path_of(f, "shrink.pto"));
    write_kernels(path, 1, k);
    return check_file(f, path) == BAD;
}

static void show(const char *path, int most) {
    char line[1024];
    FILE *file = fopen(path, "r");
    while (file && most-- > 0 && fgets(line, sizeof line, file))
        printf("    %s", line);
    if (file)
        fclose(file);
}

static void report(Fuzz *f, Kernel *k) {
    char path[4096], name[64];
    kernel_shrink(k, kernel_fails, f);
    snprintf(name, sizeof name, "failure-%lu-%.15s.pto", f->seed, k->name);
    snprintf(path, sizeof path, "%s", path_of(f, name));
    write_kernels(path, 1, k);
    printf("FAIL seed %lu, %s: kept in %s\n", f->seed, k->name, path);
    show(path, 40);
    check_file(f, path);
    show(path_of(f, "log.txt"), 12);
    fflush(stdout);
}

typedef struct { int passed, failed, skipped; } Counts;

// One file of kernels; when it is not good as a whole, each by itself.
static void round_of(Fuzz *f, int n, Counts *c) {
    static Kernel kernels[MOST_KERNELS];
    char path[4096], name[16];
    Random random = {.state = f->seed * 0x9e3779b97f4a7c15u + 1};
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "k%d", i);
        kernel_random(&kernels[i], &random, name);
    }
    snprintf(path, sizeof path, "%s", path_of(f, "batch.pto"));
    write_kernels(path, n, kernels);
    if (check_file(f, path) == GOOD) {
        c->passed += n;
        return;
    }
    for (int i = 0; i < n; i++) {
        write_kernels(path, 1, &kernels[i]);
        Outcome o = check_file(f, path);
        c->passed += o == GOOD;
        c->skipped += o == UNDECIDED;
        c->failed += o == BAD;
        if (o == BAD && c->failed <= 5)
            report(f, &kernels[i]);
    }
}

int main(int argc, char **argv) {
    Fuzz f = {.ptoc = getenv("PTOC"), .folder = ".", .more = "", .seed = 1};
    long programs = -1;
    int together = 8, option;
    while ((option = getopt(argc, argv, "s:n:o:k:")) != -1)
        switch (option) {
        case 's': f.seed = strtoul(optarg, NULL, 10); break;
        case 'n': programs = atol(optarg); break;
        case 'o': f.folder = optarg; break;
        case 'k': together = atoi(optarg); break;
        default: fputs("usage: fuzz [-s SEED] [-n PROGRAMS] [-o FOLDER] [-k KERNELS-PER-FILE] [-- ARGUMENT...]\n", stderr); return 2;
        }
    if (!f.ptoc)
        f.ptoc = "ptoc";
    if (together < 1 || together > MOST_KERNELS)
        together = 8;
    for (int i = optind; i < argc; i++) {
        char *joined = malloc(strlen(f.more) + strlen(argv[i]) + 4);
        if (!joined)
            return 2;
        sprintf(joined, "%s '%s'", f.more, argv[i]);
        f.more = joined;
    }
    Counts c = {0};
    for (; programs < 0 ? c.failed == 0 : c.passed + c.failed + c.skipped < programs; f.seed++) {
        round_of(&f, together, &c);
        if (programs < 0) {
            printf("%d programs\r", c.passed + c.skipped);
            fflush(stdout);
        }
    }
    printf("%d passed, %d failed, %d skipped\n", c.passed, c.failed, c.skipped);
    return c.failed != 0;
}
