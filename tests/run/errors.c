// Error tests: each tests/errors/**/*.pto says in comments what the compiler must report, and nothing else may come.
//
//   // error: LINE: [name] part of the text      (the name may be left out; LINE `-`: no position)
//   // warning: LINE: [name] part of the text
//   // args: more arguments for ptoc
//
// With an error the exit code is 1, else 0. Every row of compiler/base/diag.def must be triggered by some file here.
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { bool error; int line; char *name, *text; bool used; } Message;
typedef struct { Message at[256]; int n; } Messages;

static void message_add(Messages *m, Message one) {
    if (m->n < (int)(sizeof m->at / sizeof m->at[0]))
        m->at[m->n++] = one;
}

// "LINE: [name] text" of a directive.
static bool parse_directive(char *s, Message *m) {
    char *end;
    m->line = (int)strtol(s, &end, 10);
    if (end == s) {
        if (*s != '-')
            return false;
        end = s + 1;
    }
    if (*end != ':')
        return false;
    s = trim(end + 1);
    if (*s == '[' && (end = strchr(s, ']'))) {
        *end = '\0';
        m->name = s + 1;
        s = trim(end + 1);
    }
    m->text = s;
    return true;
}

static bool parse_directives(const Test *t, Messages *wanted, char **args) {
    char *content = read_file(t->path);
    *args = text("%s", "");
    for (char **line = lines(content); *line; line++) {
        char *s = trim(*line);
        if (!starts(s, "//"))
            continue;
        s = trim(s + 2);
        bool error = starts(s, "error:");
        if (error || starts(s, "warning:")) {
            Message m = {.error = error};
            if (!parse_directive(trim(strchr(s, ':') + 1), &m)) {
                say("not a directive: %s", s);
                return false;
            }
            message_add(wanted, m);
        } else if (starts(s, "args:"))
            *args = text("%s %s", *args, trim(s + strlen("args:")));
    }
    return true;
}

// "path:line:column: error: text [name]", or "ptoc: error: text [name]" for what has no position.
static bool parse_message(const char *path, char *line, Message *m) {
    char *s = line;
    if (starts(s, path)) {
        s += strlen(path);
        int column, length = 0;
        if (sscanf(s, ":%d:%d: %n", &m->line, &column, &length) < 2 || !length)
            return false;
        s += length;
    } else if (starts(s, "ptoc: "))
        s += strlen("ptoc: ");
    else
        return false;
    if (starts(s, "error: "))
        m->error = true;
    else if (!starts(s, "warning: "))
        return false;
    s = strchr(s, ' ') + 1;
    char *name = strrchr(s, '['), *close = name ? strchr(name, ']') : NULL;
    if (close && !close[1]) {
        *close = '\0';
        m->name = name + 1;
        *name = '\0';
        if (starts(m->name, "-Werror="))
            m->name += strlen("-Werror=");
    }
    m->text = s;
    return true;
}

static bool fits(const Message *want, const Message *got) {
    return !got->used && want->error == got->error && want->line == got->line &&
           (!want->name || (got->name && strcmp(want->name, got->name) == 0)) && strstr(got->text, want->text);
}

static bool compare(Messages *wanted, Messages *got) {
    bool ok = true;
    for (int i = 0; i < wanted->n; i++) {
        Message *w = &wanted->at[i];
        int j = 0;
        while (j < got->n && !fits(w, &got->at[j]))
            j++;
        if (j < got->n)
            got->at[j].used = true;
        else {
            say("not reported: line %d: %s [%s] %s", w->line, w->error ? "error" : "warning", w->name ? w->name : "?", w->text);
            ok = false;
        }
    }
    for (int j = 0; j < got->n; j++)
        if (!got->at[j].used) {
            say("not expected: line %d: %s [%s] %s", got->at[j].line, got->at[j].error ? "error" : "warning",
                got->at[j].name ? got->at[j].name : "?", got->at[j].text);
            ok = false;
        }
    return ok;
}

static Verdict run_error(const Test *t) {
    static Messages wanted, got;
    char *args, *out;
    if (!parse_directives(t, &wanted, &args))
        return FAIL;
    if (!wanted.n)
        return fail("no directive `// error: LINE: [name] text` in it");
    int code = shell(&out, "%s %s -o %s/out.c %s", quote(setup.ptoc), quote(t->path), quote(scratch), args), errors = 0;
    char *all = text("%s", out);
    for (char **line = lines(out); *line; line++) {
        Message m = {0};
        if (parse_message(t->path, *line, &m))
            message_add(&got, m);
    }
    for (int i = 0; i < wanted.n; i++)
        errors += wanted.at[i].error;
    bool ok = compare(&wanted, &got);
    if (code != (errors > 0)) {
        say("exit code %d, expected %d", code, errors > 0);
        ok = false;
    }
    if (errors && is_file(text("%s/out.c", scratch))) {
        say("left an output behind");
        ok = false;
    }
    if (!ok)
        say("--- output:\n%s", all);
    return ok ? PASS : FAIL;
}

// Everything that says which diagnostic it expects: directives here, `says err.txt '[name]'` in tests/cli.
static char *all_expectations(void) {
    char *all = text("%s", "");
    static const char *const sources[][2] = {{"errors", ".pto"}, {"cli", ".sh"}};
    for (int i = 0; i < 2; i++)
        for (char **f = files(text("%s/tests/%s", setup.source, sources[i][0]), sources[i][1]); *f; f++)
            for (char **line = lines(read_file(*f)); *line; line++) {
                char *s = trim(*line);
                if (starts(s, "// error:") || starts(s, "// warning:") || starts(s, "says "))
                    all = text("%s%s\n", all, s);
            }
    return all;
}

// The names in diag.def that no test expects. A row that no code reports yet is only printed.
static Verdict run_every_diagnostic(const Test *t) {
    (void)t;
    char *all = all_expectations(), *table = read_file(text("%s/compiler/base/diag.def", setup.source));
    if (!table)
        return fail("no compiler/base/diag.def");
    int untested = 0;
    for (char **line = lines(table); *line; line++) {
        char id[64], name[64];
        if (sscanf(*line, "DIAG(%63[A-Z_], \"%63[^\"]\"", id, name) != 2 || strstr(all, text("[%s]", name)))
            continue;
        bool reported = shell(NULL, "grep -rqw --include=*.[chyr]* D_%s compiler grammar", id) == 0;
        say(reported ? "no test triggers [%s]" : "nothing reports [%s] yet", name);
        untested += reported;
    }
    return untested ? FAIL : PASS;
}

void add_errors(void) {
    char *folder = text("%s/tests/errors", setup.source);
    for (char **f = files(folder, ".pto"); *f; f++)
        test_add((Test){.group = "errors", .name = text("%s", *f + strlen(folder) + 1), .run = run_error, .path = *f, .seconds = 30});
    test_add((Test){.group = "errors", .name = "every-diagnostic", .run = run_every_diagnostic});
}
