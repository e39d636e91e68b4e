// Compile time: 2,000 equations in one file, growth with the number of equations, every sample, also for a modelled
// machine. The figures are of the processors and printed, never judged, since machines differ and have other work. What is
// judged is that everything compiles within the limit of every test, and how large programs of bundles are.
#include "run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

// A chain of n element-wise equations over a fixed number of earlier tensors.
static char *chain(int n) {
    size_t cap = 64 * (size_t)n + 256, at = 0;
    char *s = malloc(cap);
    if (!s)
        abort();
    s[0] = '\0';
    for (int i = 0; i <= n + 1; i++) {
        char *line = i == 0 ? text("kernel chain(x: f32[M, N]) -> (y: f32[M, N]) {\n    t0[i, j] = x[i, j];\n")
                     : i <= n ? text("    t%d[i, j] = 0.5*t%d[i, j] + %d;\n", i, i - 1, i % 7)
                              : text("    y[i, j] = t%d[i, j];\n}\n", n);
        size_t len = strlen(line);
        memcpy(s + at, line, len + 1);
        at += len;
        free(line);
    }
    return s;
}

static double seconds_of(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

// What finished commands took of the processors: other programs do not count.
static double processor(void) {
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

// Seconds to compile a program to C, or a negative number when it fails.
static double compile_time(const char *path, const char *options) {
    double start = processor();
    return expect_exit(0, NULL, "%s --target=generic %s %s -o %s/out.c", quote(setup.ptoc), options, quote(path), quote(scratch)) ? processor() - start : -1;
}

static Verdict run_equations(const Test *t) {
    (void)t;
    double seconds[3];
    static const int sizes[] = {500, 1000, 2000};
    char *path = text("%s/chain.pto", scratch);
    for (int i = 0; i < 3; i++) {
        write_file(path, chain(sizes[i]));
        seconds[i] = compile_time(path, "");
        if (seconds[i] < 0)
            return FAIL;
        say("%d equations: %.2f s", sizes[i], seconds[i]);
    }
    say("twice as many take %.1f times as long%s", seconds[2] / seconds[1], seconds[2] > 3 * seconds[1] ? "  (not linear)" : "");
    return PASS;
}

static Verdict run_samples(const Test *t) {
    (void)t;
    bool ok = true;
    for (char **f = files(text("%s/samples", setup.source), ".pto"); *f; f++) {
        double seconds = compile_time(*f, "");
        say("%-16s %4.0f ms%s", stem(*f), 1e3 * seconds, seconds > 0.1 ? "  (more than 100)" : "");
        ok = ok && seconds >= 0;
    }
    return ok ? PASS : FAIL;
}

// ---- the modelled machine ----

static int bundles_of(const char *path) {
    char *program;
    int n = 0;
    if (!expect_exit(0, NULL, "%s --target=davinci --emit-bundles %s -o %s/out.ptob", quote(setup.ptoc), quote(path), quote(scratch)) ||
        !(program = read_file(text("%s/out.ptob", scratch))))
        return -1;
    for (char **line = lines(program); *line; line++)
        n += starts(trim(*line), "bundle: ");
    return n;
}

// Sizes are searched for, and what is searched for should not be felt, 0.3 s; 400 bundles are most for every sample.
static Verdict run_modelled(const Test *t) {
    (void)t;
    bool ok = true;
    for (char **f = files(text("%s/samples", setup.source), ".pto"); *f; f++) {
        double seconds = compile_time(*f, "--target=davinci");
        int bundles = bundles_of(*f);
        bool good = seconds >= 0 && bundles >= 0 && bundles <= 400;
        say("%-16s %4.0f ms%s, %3d bundles%s", stem(*f), 1e3 * seconds, seconds > 0.3 ? " (more than 300)" : "", bundles, good ? "" : "  (too many)");
        ok = ok && good;
    }
    return ok ? PASS : FAIL;
}

// Things that have been slow in compilers of this kind (a long chain of conditions, a deep expression, much unrolling).
static Verdict run_hard(const Test *t) {
    (void)t;
    char *deep = text("%s", "x[i]"), *path = text("%s/hard.pto", scratch);
    for (int i = 0; i < 150; i++)
        deep = text("(%s + %d)", deep, i % 3);
    char *parts = text("%s", "");
    for (int i = 0; i < 64; i++)
        parts = text("%s    y[64*k + %d] = x[k] * %d;\n", parts, i, i);
    write_file(path, text("kernel deep(x: i32[N]) -> (y: i32[N]) { y[i] = %s; }\n"
                          "kernel pieces(x: i32[N]) -> (y: i32[64*N]) {\n%s}\n", deep, parts));
    double start = processor();
    int code = shell(NULL, "%s --target=generic %s -o %s/out.c", quote(setup.ptoc), quote(path), quote(scratch));
    say("deep and pieces: %.2f s, exit code %d", processor() - start, code);
    return code <= 1 ? PASS : FAIL;
}

void add_speed(void) {
    if (setup.sanitized)
        return;
    test_add((Test){.group = "speed", .name = "equations", .run = run_equations, .seconds = 60, .alone = true, .figures = true});
    test_add((Test){.group = "speed", .name = "samples", .run = run_samples, .alone = true, .figures = true});
    test_add((Test){.group = "speed", .name = "modelled", .run = run_modelled, .alone = true, .figures = true});
    test_add((Test){.group = "speed", .name = "hard", .run = run_hard, .seconds = 60, .alone = true, .figures = true});
}
