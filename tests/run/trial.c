// The programs that the language was tried with before anything was built (shared/design/TRIAL.pto): those in scope
// compile and pass `ptoc check`; the others must be refused as not built yet, by name.
#include "run.h"

#include "kernels.h"

#include <string.h>

// What comes later, what is said of it, and the programs that it calls.
static const struct { const char *name, *says, *calls[2]; } unsupported[] = {
    {"mha_causal_in", "grouped dimensions are not built yet", {NULL}},
    {"conv2d", "generic kernels such as `conv2d<stride>` are not built yet", {NULL}},
    {"net", "calls of kernels such as `relu` are not built yet", {"conv2d", "relu"}},
    {"spmv", "generic kernels such as `spmv<M>` are not built yet", {NULL}},
    {"slide", "generic kernels such as `slide<s>` are not built yet", {NULL}},
    {"gemm_like", "strategies are not built yet", {NULL}},
};
// A machine description of the modelled accelerator: not a program.
static const char *const left_out[] = {"davinci"};

static bool is_in(const char *const *names, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static const char *unsupported_says(const char *name) {
    for (size_t i = 0; i < sizeof unsupported / sizeof unsupported[0]; i++)
        if (strcmp(unsupported[i].name, name) == 0)
            return unsupported[i].says;
    return NULL;
}

static char *program_path(const Test *t) {
    char *path = text("%s/%s.pto", scratch, t->name);
    write_file(path, t->arg);
    return path;
}

static Verdict run_in_scope(const Test *t) {
    const char *path = program_path(t);
    return expect_exit(0, NULL, "%s --target=generic %s -o %s/out.c", quote(setup.ptoc), quote(path), quote(scratch)) && check_kernels(path, NULL) &&
                   (setup.sanitized || (round_trip(path) && feed_back_schedule(path))) ? PASS : FAIL;
}

static Verdict run_unsupported(const Test *t) {
    char *out;
    const char *says = text("%s [unsupported]", unsupported_says(t->name));
    if (!expect_exit(1, &out, "%s --target=generic %s -o %s/out.c", quote(setup.ptoc), quote(program_path(t)), quote(scratch)))
        return FAIL;
    return strstr(out, says) ? PASS : fail("refused, but not as `%s`:\n%s", says, out);
}

static Verdict run_skip(const Test *t) {
    (void)t;
    return skip("no PTO_SHARED or ../shared with design/TRIAL.pto");
}

typedef struct { char *name, *text; } Program;
typedef struct { Program at[128]; int n; } Programs;

static char *find_program(const Programs *p, const char *name) {
    for (int i = 0; i < p->n; i++)
        if (strcmp(p->at[i].name, name) == 0)
            return p->at[i].text;
    return "";
}

static void add_program(const Programs *all, const Program *p) {
    char *program = p->text;
    if (is_in(left_out, sizeof left_out / sizeof left_out[0], p->name))
        return;
    bool refused = unsupported_says(p->name);
    for (size_t i = 0; i < sizeof unsupported / sizeof unsupported[0]; i++)
        for (int c = 0; c < 2 && unsupported[i].calls[c] && strcmp(unsupported[i].name, p->name) == 0; c++)
            program = text("%s%s", program, find_program(all, unsupported[i].calls[c]));
    test_add((Test){.group = "trial", .name = p->name, .run = refused ? run_unsupported : run_in_scope, .arg = program, .seconds = 300});
}

// A program starts at a line `kernel NAME`, `strategy NAME` or `machine NAME` and ends where the next one starts.
static void split(char *content, Programs *all) {
    static const char *const kinds[] = {"kernel", "strategy", "machine"};
    for (char **line = lines(content); *line; line++) {
        for (int i = 0; i < 3; i++)
            if (starts(*line, text("%s ", kinds[i])) && all->n < (int)(sizeof all->at / sizeof all->at[0])) {
                const char *from = *line + strlen(kinds[i]) + 1;
                char *name = text("%.*s", (int)strspn(from, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"), from);
                all->at[all->n++] = (Program){.name = name, .text = text("%s", "")};
            }
        if (all->n)
            all->at[all->n - 1].text = text("%s%s\n", all->at[all->n - 1].text, *line);
    }
}

void add_trial(void) {
    static Programs all;
    char *content = setup.shared ? read_file(text("%s/design/TRIAL.pto", setup.shared)) : NULL;
    if (!content) {
        test_add((Test){.group = "trial", .run = run_skip});
        return;
    }
    split(content, &all);
    for (int i = 0; i < all.n; i++)
        add_program(&all, &all.at[i]);
}
