// Every sample: checked against the reference evaluator on every CPU target that runs here, its C compiled without a
// warning by gcc and clang, its IR printed and read back, its chosen schedule fed back. kernels.c offers the same for
// the programs of other groups.
#include "run.h"

#include "kernels.h"

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

void add_samples(void) {
    char **targets = runnable_targets();
    for (char **f = files(text("%s/samples", setup.source), ".pto"); *f; f++) {
        for (char **target = targets; *target; target++)
            test_add((Test){.group = "samples", .name = text("%s/check-%s", stem(*f), *target), .run = run_check, .path = *f, .arg = *target,
                            .seconds = 300});
        test_add((Test){.group = "samples", .name = text("%s/c", stem(*f)), .run = run_c, .path = *f});
        test_add((Test){.group = "samples", .name = text("%s/ir", stem(*f)), .run = run_ir, .path = *f});
        test_add((Test){.group = "samples", .name = text("%s/schedule", stem(*f)), .run = run_schedule, .path = *f});
    }
}
