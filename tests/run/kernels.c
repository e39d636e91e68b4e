// What is asked of every good program: see kernels.h.
#include "run.h"

#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool check_kernels(const char *path, const char *target) {
    return expect_exit(0, NULL, "%s check %s --effort=%s%s", quote(setup.ptoc), quote(path), setup.longer ? "1" : "0.4", target ? text(" --target=%s", target) : "");
}

// C identifiers that another file of the host program could clash with: only the kernels' own.
static bool exports_kernels_only(const char *object, const char *source) {
    char *out, **names = kernel_names(read_file(source));
    bool ok = expect_exit(0, &out, "nm -g --defined-only %s", quote(object));
    for (char **line = lines(out); ok && *line; line++) {
        char kind, name[512];
        if (sscanf(*line, "%*s %c %511s", &kind, name) != 2)
            continue;
        bool own = starts(name, "__odr_asan");
        for (char **n = names; *n; n++)
            own = own || strcmp(name, *n) == 0 || starts(name, text("%s_", *n)) || starts(name, text("pto_%s", *n));
        if (!own) {
            say("the object defines %s", name);
            ok = false;
        }
    }
    return ok;
}

// The flags of LANGUAGE-independent promises: strict C11, every warning is an error.
static bool compile_with(const char *cc, const char *c, const char *source) {
    char *object = text("%s.%s.o", c, cc);
    return expect_exit(0, NULL, "%s -std=c11 -Wall -Wextra -Wpedantic -Werror -O1 -I%s/runtime/include -c %s -o %s", cc, quote(setup.source),
                       quote(c), quote(object)) && exports_kernels_only(object, source);
}

// gcc and clang, or those in PTO_COMPILERS (.ci/run has each in the run that it belongs to).
static bool is_wanted(const char *compiler) {
    const char *list = getenv("PTO_COMPILERS");
    return has_tool(compiler) && (!list || strstr(list, compiler));
}

static const char *const compilers[] = {"gcc", "clang"};

// The C is the same whatever ptoc was built with: where a sanitizer watches ptoc, emitting it is the test, and emitting it for some
// of the machines, by each path once, sees as much. `ptoc check` builds and runs it there, instrumented. ThreadSanitizer has nothing
// to see in any of this.

bool compile_c(const char *path) {
    // The code of several CPUs in one file is that of each, and a C compiler reads the headers once.
    static const char *const targets[] = {"generic,x86-64-v3,x86-64-v4", "davinci"};
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        char *c = text("%s/%s.c", scratch, targets[i]);
        if (!expect_exit(0, NULL, "%s --target=%s %s -o %s", quote(setup.ptoc), targets[i], quote(path), quote(c))) {
            ok = false;
            continue;
        }
        for (int j = 0; j < 2 && !setup.sanitized; j++)
            if (is_wanted(compilers[j]))
                ok = compile_with(compilers[j], c, path) && ok;
    }
    char *neon = text("%s/arm64-neon.c", scratch);
    if (!expect_exit(0, NULL, "%s --target=arm64-neon %s -o %s", quote(setup.ptoc), quote(path), quote(neon)))
        return false;
    if (!setup.sanitized && has_tool("aarch64-linux-gnu-gcc"))
        ok = compile_with("aarch64-linux-gnu-gcc", neon, path) && ok;
    return ok;
}

bool round_trip(const char *path) {
    static const struct { const char *level, *target; } levels[] = {{"tile", ""}, {"bundles", "--target=davinci"}, {"task", ""}, {"move", "--target=davinci"}};
    bool ok = true;
    for (int i = 0; i < (setup.sanitized ? 2 : 4); i++) {
        const char *level = levels[i].level;
        char *one = quote(text("%s/%s1.ptoir", scratch, level)), *two = quote(text("%s/%s2.ptoir", scratch, level));
        ok = expect_exit(0, NULL, "%s --verify-each --emit-ir=%s %s %s -o %s && %s --emit-ir=%s %s -o %s && diff %s %s", quote(setup.ptoc), level, levels[i].target, quote(path),
                         one, quote(setup.ptoc), level, one, two, one, two) && ok;
    }
    return ok;
}

// The text of a program without its schedules, which the one that is fed back replaces.
static char *without_schedules(const char *content) {
    char *kept = text("%s", "");
    bool inside = false;
    for (char **line = lines(text("%s", content)); *line; line++) {
        if (starts(*line, "schedule "))
            inside = true;
        // Lines stay where they are, so that positions in the emitted C do too.
        kept = text("%s%s\n", kept, inside ? "" : *line);
        if (inside && strchr(*line, '}'))
            inside = false;
    }
    return kept;
}

static bool feed_back_on(const char *target, const char *one, const char *two, const char *name, const char *content) {
    char *ptoc = text("%s --target=%s", quote(setup.ptoc), target), *schedule;
    if (!expect_exit(0, NULL, "cd %s && %s --emit-schedule %s -o chosen && %s %s -o out.c", quote(one), ptoc, quote(name), ptoc, quote(name)) ||
        !(schedule = read_file(text("%s/chosen", one))))
        return false;
    if (!write_file(text("%s/%s", two, name), text("%s\n%s", content, schedule)) || !expect_exit(0, NULL, "cd %s && %s %s -o out.c", quote(two), ptoc, quote(name)))
        return false;
    if (expect_exit(0, NULL, "diff %s/out.c %s/out.c | head -40; cmp -s %s/out.c %s/out.c", quote(one), quote(two), quote(one), quote(two)))
        return true;
    say("--- the schedule for %s was:\n%s", target, schedule);
    return false;
}

bool feed_back_schedule(const char *path) {
    static const char *const targets[] = {"x86-64-v3", "davinci", "generic", "x86-64-v4", "arm64-neon", "ascend910b", "kirin9030"};
    size_t ntargets = setup.sanitized ? 2 : sizeof targets / sizeof *targets;
    char *name = text("%s", base_name(path)), *one = text("%s/one", scratch), *two = text("%s/two", scratch);
    if (shell(NULL, "mkdir -p %s %s && cp %s %s", quote(one), quote(two), quote(path), quote(one)) != 0)
        return false;
    char *content = without_schedules(read_file(path));
    bool ok = true;
    for (size_t i = 0; i < ntargets; i++)
        ok = feed_back_on(targets[i], one, two, name, content) && ok;
    return ok;
}
