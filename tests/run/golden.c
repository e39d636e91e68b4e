// Golden tests: each tests/golden/**/*.pto says in comments what to run and what has to come out.
//
//   // run: ptoc --emit-ir=tile %s       a shell command; %s is the file, %t a temporary folder, `ptoc` the built one
//   // exit: N                           its exit code (0 when not said)
//   // expect: part of a line            somewhere in stdout or stderr; `expect-next`: on the line after the last match
//   // reject: part of a line            nowhere in it
//   // count: N part of a line           on exactly N lines
//
// Directives belong to the `run` above them.
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *expand(const char *command, const char *path) {
    char *s = text("%s", "");
    for (const char *p = command; *p; p++)
        if (p[0] == '%' && (p[1] == 's' || p[1] == 't')) {
            s = text("%s%s", s, quote(*++p == 's' ? path : scratch));
        } else if (starts(p, "ptoc ") && (p == command || strchr(" |;(&", p[-1]))) {
            s = text("%s%s ", s, quote(setup.ptoc));
            p += strlen("ptoc ") - 1;
        } else
            s = text("%s%c", s, *p);
    return s;
}

typedef struct {
    char *command, *output;
    char **lines;
    int code, wanted_code, last;     // last: line of the last match
    bool ok;
} Run;

static void start_run(Run *r, const char *command, const char *path) {
    *r = (Run){.command = expand(command, path), .ok = true, .last = -1};
    r->code = shell(&r->output, "%s", r->command);
    r->lines = lines(text("%s", r->output));
}

static bool finish_run(Run *r) {
    if (r->command && r->code != r->wanted_code) {
        say("exit code %d, expected %d", r->code, r->wanted_code);
        r->ok = false;
    }
    if (!r->ok)
        say("--- %s\n%s", r->command, r->output);
    return r->ok;
}

static int count(const Run *r, const char *part) {
    int n = 0;
    for (char **l = r->lines; *l; l++)
        n += strstr(*l, part) != NULL;
    return n;
}

static int find(const Run *r, const char *part) {
    for (int i = 0; r->lines[i]; i++)
        if (strstr(r->lines[i], part))
            return i;
    return -1;
}

static bool check(Run *r, const char *kind, char *rest) {
    if (strcmp(kind, "exit") == 0) {
        r->wanted_code = atoi(rest);
        return true;
    }
    if (strcmp(kind, "expect") == 0)
        return (r->last = find(r, rest)) >= 0;
    if (strcmp(kind, "expect-next") == 0) {
        if (r->last < 0 || !r->lines[r->last + 1])
            return false;
        return strstr(r->lines[++r->last], rest) != NULL;
    }
    if (strcmp(kind, "reject") == 0)
        return find(r, rest) < 0;
    char *part;
    long n = strtol(rest, &part, 10);
    return count(r, trim(part)) == n;
}

static bool is_directive(const char *kind) {
    static const char *const kinds[] = {"run", "exit", "expect", "expect-next", "reject", "count"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kind, kinds[i]) == 0)
            return true;
    return false;
}

static Verdict run_golden(const Test *t) {
    Run r = {.ok = true};
    bool ok = true;
    int runs = 0;
    for (char **line = lines(read_file(t->path)); *line; line++) {
        char *s = trim(*line), *colon;
        if (!starts(s, "//") || !(colon = strchr(s, ':')))
            continue;
        *colon = '\0';
        char *kind = trim(s + 2), *rest = trim(colon + 1);
        if (!is_directive(kind))
            continue;
        if (strcmp(kind, "run") == 0) {
            ok = finish_run(&r) && ok;
            start_run(&r, rest, t->path);
            runs++;
        } else if (!runs)
            return fail("a directive `%s` before the first `run`", kind);
        else if (!check(&r, kind, rest)) {
            say("not so: %s: %s", kind, rest);
            r.ok = false;
        }
    }
    ok = finish_run(&r) && ok;
    return !runs ? fail("no directive `// run:` in it") : ok ? PASS : FAIL;
}

void add_golden(void) {
    char *folder = text("%s/tests/golden", setup.source);
    for (char **f = files(folder, ".pto"); *f; f++)
        test_add((Test){.group = "golden", .name = text("%s", *f + strlen(folder) + 1), .run = run_golden, .path = *f});
}
