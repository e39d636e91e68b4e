// Groups that only call something else: the unit tests, and shell scripts.
//
// A script tests/{cli,install,arm64}/*.sh or tests/fuzz/{random,modelled,same,ends}.sh runs in a temporary folder with SOURCE, BUILD, PTOC, CC and CONFIG set;
// exit code 0 is a pass, 77 a skip (its output says why). One that ends with a line of counts is counted by that.
#include "run.h"

// The output is wanted even when all is well: it holds the counts.
static Verdict run_unit(const Test *t) {
    (void)t;
    char *unit = text("%s/tests/unit/unit", setup.build), *out;
    if (!is_file(unit))
        return skip("Check is not installed (.ci/deps check)");
    // Check's own limits, 4 seconds for most, are of the clock: far away. The runner's, of the processors, is on each test.
    int code = shell(&out, "CK_TIMEOUT_MULTIPLIER=400 %s", quote(unit));
    say("%s", out);
    return code == 0 ? PASS : FAIL;
}

void add_unit(void) {
    test_add((Test){.group = "unit", .run = run_unit, .seconds = 600, .counts = true});
}

static Verdict run_script(const Test *t) {
    char *out;
    int code = shell(&out, "cd %s && sh %s", quote(scratch), quote(t->path));
    say("%s", trim(out));
    return code == 0 ? PASS : code == SKIP ? SKIP : FAIL;
}

static void add_script(const char *group, const char *path) {
    test_add((Test){.group = group, .name = stem(path), .run = run_script, .path = path, .seconds = 600, .counts = true});
}

void add_scripts(void) {
    // What an emulator and other build systems do with the same text and libraries is nothing for a sanitizer.
    static const char *const groups[] = {"cli", "install", "arm64"};
    for (size_t i = 0; i < (setup.sanitized ? 1 : sizeof groups / sizeof groups[0]); i++)
        for (char **f = files(text("%s/tests/%s", setup.source, groups[i]), ".sh"); *f; f++)
            add_script(groups[i], *f);
    static const char *const fuzz[] = {"random", "same", "ends"};
    for (int i = 0; i < (setup.sanitized ? 1 : 3); i++)
        add_script("fuzz", text("%s/tests/fuzz/%s.sh", setup.source, fuzz[i]));
    if (!setup.threads)
        add_script("fuzz", text("%s/tests/fuzz/modelled.sh", setup.source));
}
