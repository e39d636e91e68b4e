// Programs from outside, shared/data/outside: each case by the script beside it (numpy), and the smallest programs that went wrong
// once (tests/outside/faults.py). `make check` runs a part of each case, `make check-long` all of it.
#include "run.h"

#include <string.h>

static const char *const python = "/usr/bin/python3";

static bool has_numpy(void) { return shell(NULL, "%s -c 'import numpy' 2>/dev/null", python) == 0; }

static Verdict run_python(const char *script, const char *arguments) {
    char *out;
    int code = shell(&out, "cd %s && TMPDIR=. PYTHONDONTWRITEBYTECODE=1 PTOC_INCLUDE=%s/runtime/include %s %s/tests/outside/%s %s", quote(scratch), quote(setup.source),
                     python, quote(setup.source), script, arguments);
    say("%s", trim(out));
    return code == 0 ? PASS : FAIL;
}

static Verdict run_case(const Test *t) { return run_python("case.py", text("%s%s", quote(t->path), setup.longer ? "" : " quick")); }

static Verdict run_fault(const Test *t) {
    char *folder = text("%s", t->path);
    *strrchr(folder, '/') = '\0';
    return run_python("faults.py", text("%s %s", stem(t->path), quote(folder)));
}

static Verdict run_skip(const Test *t) { return skip("%s", t->arg); }

static void leave_out(const char *why) { test_add((Test){.group = "outside", .run = run_skip, .arg = why}); }

static void add_one(const char *name, const char *path, Verdict (*run)(const Test *t)) {
    test_add((Test){.group = "outside", .name = name, .run = run, .path = path, .seconds = setup.longer ? 3600 : 300});
}

void add_outside(void) {
    char *folder = setup.shared ? text("%s/data/outside", setup.shared) : NULL;
    if (setup.sanitized)
        return;
    if (!folder || !is_file(folder)) {
        leave_out("no data: PTO_SHARED or ../shared has no data/outside");
        return;
    }
    if (!has_numpy()) {
        leave_out(text("%s has no numpy (.ci/deps outside)", python));
        return;
    }
    for (char **f = files(folder, ".pto"); *f; f++) {
        if (starts(*f + strlen(folder) + 1, "faults/"))
            add_one(text("faults/%s", stem(*f)), *f, run_fault);
        else if (strcmp(base_name(*f), "case.pto") == 0) {
            char *at = text("%s", *f);
            *strrchr(at, '/') = '\0';
            add_one(text("%s", base_name(at)), at, run_case);
        }
    }
}
