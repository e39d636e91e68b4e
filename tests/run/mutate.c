// Mutations of compiled programs: each wait, signal, token, operation and bundle of samples on the modelled machines,
// changed one at a time (tests/mutate). What a change leads to is counted in a table, which `run -v mutate` shows.
//
// Sizes have ragged edges and several blocks. On a machine of one core a task does many of them, which is where buffers are
// used again; on all cores tasks run side by side. `make mutate`, `make check-long`: more kernels and more latencies.
#include "run.h"

#include <stdlib.h>
#include <string.h>

typedef enum { LONG, ONE_CORE, EVERYWHERE } When;       // with PTO_MUTATE=all alone; else
typedef struct { const char *file, *kernel, *arguments; When when; } Subject;

static const Subject subjects[] = {
    {"samples/softmax", "softmax", "50x700 50x700", EVERYWHERE},
    {"samples/matmul", "matmul", "70x200 200x270 70x270", EVERYWHERE},
    {"samples/gray", "gray", "30x50x3 30x50", EVERYWHERE},
    {"samples/sobel", "sobel", "70x150 70x150", EVERYWHERE},
    {"samples/blur", "blur_direct", "70x150 70x150", EVERYWHERE},
    {"samples/argmax", "classify", "90x130 90 90", EVERYWHERE},
    {"samples/heat", "heat", "70x130 3 70x130", EVERYWHERE},
    {"samples/integral", "box_mean", "60x130 2 60x130", EVERYWHERE},
    {"samples/life", "life", "70x130 3 70x130", ONE_CORE},
    {"samples/nearest", "nearest", "70x40 90x40 70 70", EVERYWHERE},
    {"samples/gauss_seidel", "gauss_seidel", "50x60 2 50x60", EVERYWHERE},
    {"samples/layer_norm", "layer_norm", "50x700 700 700 0.001 50x700", EVERYWHERE},
    {"samples/relu_cumsum", "relu_cumsum", "50x700 1.5 0.5 50x700", EVERYWHERE},
    {"tests/bench/model", "add", "20000 20000 20000", EVERYWHERE},
    {"tests/bench/model", "conv", "64x5x6 64x64x3x3 64x5x6", ONE_CORE},
    {"tests/bench/model", "narrow", "300x32 32x32 300x32", LONG},
    {"tests/bench/model", "matmul32", "70x200 200x270 70x270", LONG},
    {"tests/bench/model", "upscale", "48x7x9 48x48x3x3 48x7x9", LONG},
    {"tests/bench/model", "residual", "64x5x6 64x64x3x3 64 64x64x3x3 64 64x5x6", LONG},
    {"samples/histogram", "histogram", "20000 256", LONG},
};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

// Sizes at which each token is of use, on all cores of the one machine and on one of the other.
static const Subject of_tokens[] = {
    {"samples/heat", "heat", "300x700 3 300x700", EVERYWHERE},
    {"samples/softmax", "softmax", "250x700 250x700", EVERYWHERE},
    {"samples/gray", "gray", "300x700x3 300x700", EVERYWHERE},
    {"samples/sobel", "sobel", "300x700 300x700", EVERYWHERE},
    {"samples/matmul", "matmul", "700x900 900x1100 700x1100", LONG},
};
enum { OF_TOKENS = sizeof of_tokens / sizeof of_tokens[0] };

static bool all(void) {
    const char *wish = getenv("PTO_MUTATE");
    return setup.longer || (wish && strcmp(wish, "all") == 0);
}

static bool build(const Test *t, const Subject *s, const char *library) {
    const char *set = *t->arg ? text("--machine-set=%s", t->arg) : "", *c = text("%s.c", library);
    return expect_exit(0, NULL, "%s --target=%s %s %s/%s.pto -o %s", quote(setup.ptoc), t->path, set, quote(setup.source), s->file, quote(c)) &&
           expect_exit(0, NULL, "%s -std=c11 -O1 -shared -fPIC -I%s/runtime/include -Dpto_launch_bundles=mutate_launch_bundles %s -o %s", setup.cc,
                       quote(setup.source), quote(c), quote(library));
}

static Verdict run_subjects(const Test *t, const char *command, int n, const Subject *list) {
    const char *between = "";
    char *output;
    for (int i = 0; i < n; i++) {
        const Subject *s = &list[i];
        const char *library = text("%s/%s.so", scratch, base_name(s->file));
        if (!all() && s->when < (*t->arg ? ONE_CORE : EVERYWHERE))
            continue;
        if (!is_file(library) && !build(t, s, library))
            return FAIL;
        command = text("%s%s %s %s %s", command, between, quote(library), s->kernel, s->arguments);
        between = " ,";
    }
    if (!expect_exit(0, &output, "%s", command))
        return FAIL;
    say("%s", output);
    return PASS;
}

static Verdict run_mutate(const Test *t) {
    const char *mutate = text("%s/tests/mutate/mutate", quote(setup.build));
    Verdict v = run_subjects(t, text("%s -s %d", mutate, all() ? 8 : 1), SUBJECTS, subjects);
    bool tokens = (strcmp(t->path, "davinci") == 0) == !*t->arg;
    return v == PASS && tokens ? run_subjects(t, text("%s -t -s 0", mutate), OF_TOKENS, of_tokens) : v;
}

// A sanitizer has seen the model in the other groups; here it would see it a hundred thousand times.
void add_mutate(void) {
    if (setup.sanitized)
        return;
    static const char *const targets[] = {"davinci", "ascend910b"};
    for (int i = 0; i < 2; i++) {
        test_add((Test){.group = "mutate", .name = text("%s/one-core", targets[i]), .run = run_mutate, .path = targets[i], .arg = "clusters=1,cores=1",
                        .seconds = all() ? 3600 : 120});
        test_add((Test){.group = "mutate", .name = targets[i], .run = run_mutate, .path = targets[i], .arg = "", .seconds = all() ? 3600 : 120});
    }
}
