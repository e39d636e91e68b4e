// PolyBench: tests/polybench/*.pto on the data in shared/data/polybench, which is read where it lies; on the CPU and on
// a modelled machine. The schedules that are chosen, pasted back, give the same C.
//
// A file says which case it is (`// case: NAME`), what each parameter of the kernel takes (`// args: A0=A T=TSTEPS`:
// an input array, a size or a scalar of the case) and which output is which array (`// outs: A=A`). The rule of
// comparison is the data's: max|got - want| <= rtol * max|want| over each array, 0 for exact.
#include "kernels.h"
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *directive(const char *path, const char *key) {
    for (char **line = lines(read_file(path)); *line; line++)
        if (starts(*line, text("// %s: ", key)))
            return trim(*line + strlen(key) + 5);
    return NULL;
}

// The value of a key in case.txt.
static char *case_value(char **facts, const char *key) {
    size_t n = strlen(key);
    for (; *facts; facts++)
        if (strncmp(*facts, key, n) == 0 && (*facts)[n] == '=')
            return *facts + n + 1;
    return NULL;
}

static char *case_file(char **facts, const char *kind, const char *name) {
    for (int i = 0;; i++) {
        char *is = case_value(facts, text("%s.%d.name", kind, i));
        if (!is)
            return NULL;
        if (strcmp(is, name) == 0)
            return case_value(facts, text("%s.%d.file", kind, i));
    }
}

// Whether an element counts: gramschmidt's matrix has rank K, so A and Q count in columns < K, R in rows < K.
static bool counts(const Array *a, long i, const char *name, long columns) {
    if (!columns)
        return true;
    return strcmp(name, "R") == 0 ? i / a->shape[1] < columns : i % a->shape[1] < columns;
}

static bool compare_array(const char *name, const Array *got, const Array *want, double rtol, long columns) {
    if (got->rank != want->rank || got->count != want->count || strcmp(got->dtype, want->dtype) != 0) {
        say("%s: %s of %ld elements, rank %d; expected %s of %ld, rank %d", name, got->dtype, got->count, got->rank, want->dtype,
            want->count, want->rank);
        return false;
    }
    double largest = 0, difference = 0;
    long worst = 0;
    for (long i = 0; i < want->count; i++) {
        if (!counts(want, i, name, columns))
            continue;
        double d = fabs(got->at[i] - want->at[i]);
        largest = fmax(largest, fabs(want->at[i]));
        if (!(d <= difference)) {
            difference = d;
            worst = i;
        }
    }
    if (difference <= rtol * largest)
        return true;
    say("%s: element %ld is %.17g, expected %.17g; the largest difference is %g of %g allowed", name, worst, got->at[worst], want->at[worst],
        difference, rtol * largest);
    return false;
}

// "SIZE" or "SIZE TARGET".
static char *size_of(const Test *t) { return text("%.*s", (int)strcspn(t->arg, " "), t->arg); }
static char *target_option(const Test *t) { return strchr(t->arg, ' ') ? text(" --target=%s", strchr(t->arg, ' ') + 1) : text("%s", ""); }

static char *command_line(const Test *t, const char *folder, char **facts) {
    char *command = text("%s run %s%s", quote(setup.ptoc), quote(t->path), target_option(t));
    char *args = directive(t->path, "args"), *outs = directive(t->path, "outs");
    for (char *word = strtok(args, " "); word; word = strtok(NULL, " ")) {
        char *from = strchr(word, '=') + 1, *value = case_file(facts, "input", from);
        value = value ? text("%s/%s", folder, value) : case_value(facts, text("param.%s", from));
        if (!value)
            value = case_value(facts, text("scalar.%s", from));
        if (!value) {
            say("the case has no %s", from);
            return NULL;
        }
        command = text("%s %.*s%s", command, (int)(from - word), word, quote(value));
    }
    for (char *word = strtok(outs, " "); word; word = strtok(NULL, " "))
        command = text("%s -o %.*s%s/%.*s.npy", command, (int)(strchr(word, '=') + 1 - word), word, quote(scratch),
                       (int)strcspn(word, "="), word);
    return command;
}

static bool compare_all(const Test *t, const char *folder, char **facts) {
    char *rtol = case_value(facts, "rtol"), *columns = case_value(facts, "compare_columns");
    bool ok = rtol != NULL;
    for (char *word = strtok(directive(t->path, "outs"), " "); word; word = strtok(NULL, " ")) {
        char *name = strchr(word, '=') + 1, *file = case_file(facts, "output", name);
        Array got, want;
        const char *wrong = npy_load(text("%s/%.*s.npy", scratch, (int)strcspn(word, "="), word), &got);
        if (!wrong)
            wrong = file ? npy_load(text("%s/%s", folder, file), &want) : "not in the case";
        if (wrong)
            say("%s: %s", name, wrong);
        ok = !wrong && compare_array(name, &got, &want, atof(rtol), columns ? atol(columns) : 0) && ok;
    }
    return ok;
}

static Verdict run_case(const Test *t) {
    if (!setup.shared)
        return skip("no data: PTO_SHARED or ../shared has no data/polybench");
    char *folder = text("%s/data/polybench/%s/%s", setup.shared, directive(t->path, "case"), size_of(t));
    char *content = read_file(text("%s/case.txt", folder));
    if (!content)
        return skip("no data in %s", folder);
    char **facts = lines(content), *command = command_line(t, folder, facts);
    if (!command || !expect_exit(0, NULL, "%s", command))
        return FAIL;
    return compare_all(t, folder, facts) ? PASS : FAIL;
}

static Verdict run_schedule(const Test *t) {
    return feed_back_schedule(t->path) ? PASS : FAIL;
}

void add_polybench(void) {
    static const char *const sizes[] = {"mini", "small", "odd"};
    for (char **f = files(text("%s/tests/polybench", setup.source), ".pto"); *f; f++) {
        if (!setup.sanitized)
            test_add((Test){.group = "polybench", .name = text("%s/schedule", stem(*f)), .run = run_schedule, .path = *f});
        for (int i = 0; i < (setup.threads ? 3 : 6); i++)
            test_add((Test){.group = "polybench", .name = text("%s/%s%s", stem(*f), sizes[i % 3], i < 3 ? "" : "-davinci"), .run = run_case, .path = *f,
                            .arg = text("%s%s", sizes[i % 3], i < 3 ? "" : " davinci")});
    }
}
