// The manual's examples: each literal display of man/*.5 that is a program is compiled (and its kernels checked).
//
// In the page's source, a comment above `.Bd -literal` says what to do with it:
//   .\" test: compile            it compiles
//   .\" test: check [target]     and passes `ptoc check`
//   .\" test: error [name]       it is refused with that diagnostic
//   .\" test: none               it is not a whole program
// A display that starts with `kernel` and has no such comment fails, so that none is forgotten.
#include "run.h"

#include "kernels.h"

#include <string.h>

// What roff makes of a line of source: escapes and zero-width characters go.
static char *unroff(const char *line) {
    char *s = text("%s", line), *to = s;
    for (const char *p = s; *p; p++)
        if (p[0] == '\\' && p[1] == '&')
            p++;
        else if (p[0] == '\\' && (p[1] == 'e' || p[1] == '-')) {
            *to++ = p[1] == 'e' ? '\\' : '-';
            p++;
        } else
            *to++ = *p;
    *to = '\0';
    return s;
}

static Verdict run_example(const Test *t) {
    char *path = text("%s/example.pto", scratch), *out;
    write_file(path, t->path);
    if (!t->arg)
        return fail("an example without a `test:` comment:\n%s", t->path);
    if (starts(t->arg, "error ")) {
        if (!expect_exit(1, &out, "%s %s -o %s/out.c", quote(setup.ptoc), quote(path), quote(scratch)))
            return FAIL;
        return strstr(out, t->arg + strlen("error ")) ? PASS : fail("not refused as %s:\n%s", t->arg + strlen("error "), out);
    }
    const char *target = starts(t->arg, "check ") ? trim(text("%s", t->arg + strlen("check "))) : NULL;
    if (!expect_exit(0, NULL, "%s %s -o %s/out.c", quote(setup.ptoc), quote(path), quote(scratch)))
        return FAIL;
    return !starts(t->arg, "check") || check_kernels(path, target) ? PASS : FAIL;
}

static void add_page(const char *page) {
    char *directive = NULL, *example = NULL;
    int number = 0;
    for (char **line = lines(read_file(page)); *line; line++) {
        if (starts(*line, ".\\\" test: "))
            directive = trim(*line + strlen(".\\\" test: "));
        else if (starts(*line, ".Bd -literal"))
            example = text("%s", "");
        else if (starts(*line, ".Ed") && example) {
            bool none = directive && strcmp(directive, "none") == 0;
            if (!none && (directive || starts(example, "kernel ")))
                test_add((Test){.group = "manual", .name = text("%s-%d", base_name(page), ++number), .run = run_example, .path = example,
                                .arg = directive, .seconds = 300});
            example = directive = NULL;
        } else if (example)
            example = text("%s%s\n", example, unroff(*line));
    }
}

void add_manual(void) {
    for (char **f = files(text("%s/man", setup.source), ".5"); *f; f++)
        add_page(*f);
}
