// The programs that the language was tried with before anything was built (shared/design/TRIAL.pto): those in scope
// compile and pass `ptoc check`; the others must be refused as not built yet, by name.
#include "run.h"

#include "kernels.h"

#include <string.h>

// Need generics, calls, grouped dimensions, views or strategies, which come later.
static const char *const unsupported[] = {"mha_causal_in", "conv2d", "net", "spmv", "slide", "gemm_like"};
// A machine description of the modelled accelerator: not a program.
static const char *const left_out[] = {"davinci"};

static bool is_in(const char *const *names, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static char *program_path(const Test *t) {
    char *path = text("%s/%s.pto", scratch, t->name);
    write_file(path, t->arg);
    return path;
}

static Verdict run_in_scope(const Test *t) {
    const char *path = program_path(t);
    return expect_exit(0, NULL, "%s %s -o %s/out.c", quote(setup.ptoc), quote(path), quote(scratch)) && check_kernels(path, NULL) &&
                   round_trip(path) && feed_back_schedule(path) ? PASS : FAIL;
}

static Verdict run_unsupported(const Test *t) {
    char *out;
    if (!expect_exit(1, &out, "%s %s -o %s/out.c", quote(setup.ptoc), quote(program_path(t)), quote(scratch)))
        return FAIL;
    return strstr(out, "[unsupported]") ? PASS : fail("refused, but not as [unsupported]:\n%s", out);
}

static Verdict run_skip(const Test *t) {
    (void)t;
    return skip("no PTO_SHARED or ../shared with design/TRIAL.pto");
}

static void add_program(const char *kind, const char *name, const char *program) {
    if (is_in(left_out, sizeof left_out / sizeof left_out[0], name))
        return;
    bool refused = is_in(unsupported, sizeof unsupported / sizeof unsupported[0], name) || strcmp(kind, "kernel") != 0;
    test_add((Test){.group = "trial", .name = name, .run = refused ? run_unsupported : run_in_scope, .arg = program, .seconds = 300});
}

// A program starts at a line `kernel NAME`, `strategy NAME` or `machine NAME` and ends where the next one starts.
void add_trial(void) {
    char *content = setup.shared ? read_file(text("%s/design/TRIAL.pto", setup.shared)) : NULL;
    if (!content) {
        test_add((Test){.group = "trial", .run = run_skip});
        return;
    }
    static const char *const kinds[] = {"kernel", "strategy", "machine"};
    char *kind = NULL, *name = NULL, *program = NULL;
    for (char **line = lines(content); *line; line++) {
        for (int i = 0; i < 3; i++)
            if (starts(*line, text("%s ", kinds[i]))) {
                if (program)
                    add_program(kind, name, program);
                const char *from = *line + strlen(kinds[i]) + 1;
                kind = text("%s", kinds[i]);
                name = text("%.*s", (int)strspn(from, "abcdefghijklmnopqrstuvwxyz0123456789_"), from);
                program = text("%s", "");
            }
        if (program)
            program = text("%s%s\n", program, *line);
    }
    if (program)
        add_program(kind, name, program);
}
