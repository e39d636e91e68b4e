// Every sample: checked against the reference evaluator on every CPU target that runs here and on the modelled machines, its C
// compiled without a warning by gcc and clang, its IR printed and read back, its chosen schedule fed back. kernels.c offers the same for
// the programs of other groups.
#include "run.h"

#include "kernels.h"

#include <string.h>

static Verdict run_check(const Test *t) {
    return check_kernels(t->path, t->arg) ? PASS : FAIL;
}

static Verdict run_c(const Test *t) {
    return compile_c(t->path) ? PASS : FAIL;
}

static Verdict run_ir(const Test *t) {
    return round_trip(t->path) ? PASS : FAIL;
}

static Verdict run_schedule(const Test *t) {
    return feed_back_schedule(t->path) ? PASS : FAIL;
}

// The model is C that runs anywhere. The third machine differs from the second in numbers alone: a few samples will do. Where a
// sanitizer watches, one machine will, and none where it watches threads: the model is one, and ten times as slow there.
static void add_modelled(const char *path) {
    static const char *const targets[] = {"davinci", "ascend910b", "kirin9030"}, *const few[] = {"matmul", "softmax", "sobel", "heat"};
    for (int i = 0; i < (setup.threads ? 0 : setup.sanitized ? 1 : 3); i++) {
        bool wanted = i < 2;
        for (int k = 0; k < 4; k++)
            wanted = wanted || strcmp(stem(path), few[k]) == 0;
        if (wanted)
            test_add((Test){.group = "samples", .name = text("%s/check-%s", stem(path), targets[i]), .run = run_check, .path = path, .arg = targets[i],
                            .seconds = 900});
    }
}

void add_samples(void) {
    char **targets = runnable_targets();
    for (char **f = files(text("%s/samples", setup.source), ".pto"); *f; f++) {
        for (char **target = targets; *target; target++)
            test_add((Test){.group = "samples", .name = text("%s/check-%s", stem(*f), *target), .run = run_check, .path = *f, .arg = *target,
                            .seconds = 300});
        add_modelled(*f);
        if (setup.threads)
            continue;
        test_add((Test){.group = "samples", .name = text("%s/c", stem(*f)), .run = run_c, .path = *f});
        test_add((Test){.group = "samples", .name = text("%s/ir", stem(*f)), .run = run_ir, .path = *f});
        test_add((Test){.group = "samples", .name = text("%s/schedule", stem(*f)), .run = run_schedule, .path = *f});
    }
    // The kernels of the benchmark are those that the machines were made for.
    char *bench = text("%s/tests/bench/model.pto", setup.source);
    for (int i = 0; i < (setup.threads ? 0 : setup.sanitized ? 1 : 2); i++)
        test_add((Test){.group = "samples", .name = text("model/check-%s", i ? "ascend910b" : "davinci"), .run = run_check, .path = bench,
                        .arg = i ? "ascend910b" : "davinci", .seconds = 900});
}
