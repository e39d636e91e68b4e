// Compile time: 2,000 equations in one file, growth with the number of equations, every sample, also for a modelled
// machine, where the size of the program has a limit too. The times are printed
// by `run -v speed`; only what is far off fails, since machines differ and sanitizers slow everything down.
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

// Seconds to compile a program to C, or a negative number when it fails.
static double compile_time(const char *path) {
    double start = now();
    return expect_exit(0, NULL, "%s %s -o %s/out.c", quote(setup.ptoc), quote(path), quote(scratch)) ? now() - start : -1;
}

static Verdict run_equations(const Test *t) {
    (void)t;
    double seconds[3];
    static const int sizes[] = {500, 1000, 2000};
    char *path = text("%s/chain.pto", scratch);
    for (int i = 0; i < 3; i++) {
        write_file(path, chain(sizes[i]));
        seconds[i] = compile_time(path);
        if (seconds[i] < 0)
            return FAIL;
        say("%d equations: %.2f s", sizes[i], seconds[i]);
    }
    if (setup.sanitized || strcmp(setup.config, "release") != 0)
        return PASS;
    if (seconds[2] > 5)
        return fail("2,000 equations take %.2f s, more than 5 s", seconds[2]);
    if (seconds[2] > 0.5 && seconds[2] > 3 * seconds[1])
        return fail("not linear: %.2f s for 1,000 equations, %.2f s for 2,000", seconds[1], seconds[2]);
    return PASS;
}

static Verdict run_samples(const Test *t) {
    (void)t;
    bool ok = true;
    for (char **f = files(text("%s/samples", setup.source), ".pto"); *f; f++) {
        double seconds = compile_time(*f), again = compile_time(*f);
        if (again < seconds)
            seconds = again;
        say("%-16s %4.0f ms%s", stem(*f), 1e3 * seconds, seconds > 0.1 ? "  (more than 100)" : "");
        ok = ok && seconds >= 0 && (seconds < 1 || setup.sanitized);
    }
    return ok ? PASS : FAIL;
}

// ---- the modelled machine ----

static double seconds_of(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

// What finished commands took of the processors: other programs do not count.
static double processor(void) {
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

static int bundles_of(const char *path) {
    char *program;
    int n = 0;
    if (!expect_exit(0, NULL, "%s --target=davinci --emit-bundles %s -o %s/out.ptob", quote(setup.ptoc), quote(path), quote(scratch)) ||
        !(program = read_file(text("%s/out.ptob", scratch))))
        return -1;
    for (char **line = lines(program); *line; line++)
        n += starts(trim(*line), "bundle {");
    return n;
}

// Sizes are searched for, and what is searched for must not be felt: 0.3 s and 400 bundles for every sample.
static Verdict run_modelled(const Test *t) {
    (void)t;
    bool ok = true;
    double most = strcmp(setup.config, "release") == 0 ? 0.3 : 5;
    for (char **f = files(text("%s/samples", setup.source), ".pto"); *f; f++) {
        double best = 1e9;
        for (int i = 0; i < 3; i++) {
            double start = processor();
            if (!expect_exit(0, NULL, "%s --target=davinci %s -o %s/out.c", quote(setup.ptoc), quote(*f), quote(scratch)))
                return FAIL;
            double seconds = processor() - start;
            best = seconds < best ? seconds : best;
        }
        int bundles = bundles_of(*f);
        bool good = best < most && bundles >= 0 && bundles <= 400;
        say("%-16s %4.0f ms, %3d bundles%s", stem(*f), 1e3 * best, bundles, good ? "" : "  (too many)");
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
    double start = now();
    int code = shell(NULL, "%s %s -o %s/out.c", quote(setup.ptoc), quote(path), quote(scratch));
    say("deep and pieces: %.2f s, exit code %d", now() - start, code);
    return code <= 1 && (now() - start < 10 || setup.sanitized) ? PASS : FAIL;
}

void add_speed(void) {
    test_add((Test){.group = "speed", .name = "equations", .run = run_equations, .alone = true});
    test_add((Test){.group = "speed", .name = "samples", .run = run_samples, .alone = true});
    test_add((Test){.group = "speed", .name = "modelled", .run = run_modelled, .alone = true});
    test_add((Test){.group = "speed", .name = "hard", .run = run_hard, .alone = true});
}
