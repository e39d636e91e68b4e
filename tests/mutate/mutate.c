// mutate: compiled programs, changed in one place: is each change a fault of the machine, or without effect?
//
//   mutate [-s SEEDS] [-t] [-v] LIBRARY KERNEL ARGUMENT... [, LIBRARY KERNEL ARGUMENT...]...
//
// The libraries are C that ptoc emitted for a modelled machine, built with -Dpto_launch_bundles=mutate_launch_bundles: so
// each launch comes here first, which swaps a changed copy of its program in. The arguments are the kernel's parameters
// in order, outputs last: `130x70` for a tensor, a number for a scalar or dimension. Each change runs without and with SEEDS
// drawn latencies. It must end in a fault, whatever the latencies (but for an overflow, which is a matter of time), or compute what
// the program computes, bit for bit. -t: of the changes only that a token is deleted, which must be a fault: a token without which
// nothing is wrong is one too many. Prints how many of each; -v: each change. For `make mutate` and the group of that name.
#include "mutation.h"

#include "../arguments.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PROGRAMS = 64, MOST_FAILURES = 20, MOST_SEEDS = 64, FILL = 0xa5 };

#define ENDS(X)                                                                                                               \
    X(RACE, "race") X(ORDER, "order") X(STALE, "stale") X(DEADLOCK, "deadlock") X(OVERFLOW, "overflow")                       \
    X(UNINITIALISED, "uninitialised") X(RANGE, "range") X(EXTENT, "extent") X(LIMIT, "limit") X(TENSOR, "tensor") X(LAYOUT, "layout") X(OVERLAP, "overlap") X(UNWRITTEN, "unwritten") X(REFUSED, "refused")           \
    X(EQUAL, "equal") X(WRONG, "WRONG")

typedef enum {
#define END(end, name) end,
    ENDS(END)
#undef END
    NENDS
} End;

static const char *const end_names[] = {
#define NAME(end, name) name,
    ENDS(NAME)
#undef NAME
};

// ---- a kernel and its arguments ----

typedef struct {
    const char *name;
    const pto_kernel *kernel;
    Argument *args;
    void **pointers;
    size_t bytes;                // of all outputs
    unsigned char *expected, *got;
    pto_context *ctx;
    // the programs it launches, and which of them is changed how
    const pto_program *programs[MOST_PROGRAMS];
    int nprograms, tried;
    int64_t iterations;          // most of a loop of a program of several bundles
    const pto_program *from, *to;
} Subject;

static Subject *subject;         // of the call that runs

static void give_up(const char *what, const char *name) {
    fprintf(stderr, "mutate: %s %s\n", what, name);
    exit(2);
}

static void *room(size_t count, size_t bytes) {
    void *p = calloc(count + 1, bytes);
    if (!p)
        give_up("no memory for", "arguments");
    return p;
}

static size_t bytes_of(const pto_tensor *t) { return (size_t)pto_tensor_elements(t) * pto_dtype_size(t->dtype); }

static void subject_open(Subject *s, int n, char **words) {
    void *library = n > 1 ? dlopen(words[0], RTLD_NOW) : NULL;
    if (!library)
        give_up("cannot load", n > 1 ? dlerror() : "(usage: mutate [-s SEEDS] [-v] LIBRARY KERNEL ARGUMENT... [, ...])");
    char name[256];
    snprintf(name, sizeof name, "%s_kernel", words[1]);
    *s = (Subject){.name = words[1], .kernel = dlsym(library, name), .ctx = pto_context_new(NULL)};
    if (!s->kernel || n - 2 != s->kernel->nparams || !s->ctx)
        give_up(s->kernel ? "wrong number of arguments for" : "there is no", words[1]);
    s->args = room((size_t)n, sizeof *s->args);
    s->pointers = room((size_t)n, sizeof *s->pointers);
    for (int i = 0; i < n - 2; i++) {
        const char *problem = argument_read(&s->args[i], &s->kernel->params[i], words[i + 2], 1, (unsigned)i + 1);
        if (problem)
            give_up(problem, words[i + 2]);
        s->pointers[i] = &s->args[i];
        if (s->kernel->params[i].kind == PTO_PARAM_OUTPUT)
            s->bytes += bytes_of(&s->args[i].tensor);
    }
    s->expected = room(s->bytes, 1);
    s->got = room(s->bytes, 1);
}

// What a call wrote, all outputs in a row.
static void take_outputs(const Subject *s, unsigned char *to) {
    for (int i = 0; i < s->kernel->nparams; i++)
        if (s->kernel->params[i].kind == PTO_PARAM_OUTPUT) {
            memcpy(to, s->args[i].tensor.data, bytes_of(&s->args[i].tensor));
            to += bytes_of(&s->args[i].tensor);
        }
}

static pto_status call(Subject *s, uint64_t seed) {
    for (int i = 0; i < s->kernel->nparams; i++)
        if (s->kernel->params[i].kind == PTO_PARAM_OUTPUT)
            memset(s->args[i].tensor.data, FILL, bytes_of(&s->args[i].tensor));
    pto_context_model(s->ctx, &(pto_model_options){.jitter = seed});
    subject = s;
    return s->kernel->call(s->ctx, s->pointers);
}

static int64_t number(const pto_launch *l, pto_num x) { return x < PTO_VALUE(l->nvalues) ? l->values[x - PTO_VALUE(0)] : x; }

static int64_t most_iterations(const pto_launch *l) {
    int64_t most = 0;
    for (int k = 0; k < l->program->nloops; k++) {
        int64_t n = 1;
        for (int d = 0; d < l->program->loops[k].ndigits; d++)
            n *= number(l, l->program->loops[k].count[d]);
        most = n > most ? n : most;
    }
    return most;
}

pto_status mutate_launch_bundles(pto_context *ctx, const pto_launch *l);
pto_status mutate_launch_bundles(pto_context *ctx, const pto_launch *l) {
    pto_launch changed = *l;
    Subject *s = subject;
    int k = 0;
    while (k < s->nprograms && s->programs[k] != l->program)
        k++;
    if (k == s->nprograms && k < MOST_PROGRAMS)
        s->programs[s->nprograms++] = l->program;
    int64_t iterations = l->program->nbundles > 1 ? most_iterations(l) : 0;
    s->iterations = iterations > s->iterations ? iterations : s->iterations;
    if (l->program == s->from)
        changed.program = s->to;
    return pto_launch_bundles(ctx, &changed);
}

// ---- verdicts ----

typedef struct {
    Subject *subject;
    int seeds, counts[MUTATION_KINDS][NENDS], timely;
    bool verbose, tokens;
    int failures;
} Test;

static End end_of(const char *message) {
    static const struct { const char *says; End end; } faults[] = {
        {": race: ", RACE}, {": order: ", ORDER}, {": stale: ", STALE}, {": deadlock: ", DEADLOCK}, {": overflow: ", OVERFLOW}, {": uninitialised: ", UNINITIALISED}, {": range: ", RANGE},
        {": extent: ", EXTENT}, {": limit: ", LIMIT}, {": tensor: ", TENSOR}, {": layout: ", LAYOUT}, {": overlap: ", OVERLAP}, {": unwritten: ", UNWRITTEN},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (strstr(message, faults[i].says))
            return faults[i].end;
    return WRONG;
}

static End run_once(Subject *s, uint64_t seed) {
    pto_status status = call(s, seed);
    if (status == PTO_ERR_ARGUMENT)
        return REFUSED;
    if (status != PTO_OK)
        return status == PTO_ERR_FAULT || status == PTO_ERR_OVERFLOW ? end_of(pto_context_error(s->ctx)) : WRONG;
    take_outputs(s, s->got);
    return memcmp(s->got, s->expected, s->bytes) == 0 ? EQUAL : WRONG;
}

static void complain(Test *t, const Mutation *m, uint64_t seed, const char *what) {
    char text[256];
    mutation_text(t->subject->from, m, text, sizeof text);
    if (t->failures++ < MOST_FAILURES)
        printf("%s, %s: with seed %llu: %s\n", t->subject->name, text, (unsigned long long)seed, what);
}

// Ends of two timings that go together: only an overflow depends on time.
static bool agree(End a, End b) {
    return (a == EQUAL) == (b == EQUAL) || a == OVERFLOW || b == OVERFLOW;
}

static End judge(Test *t, const Mutation *m) {
    End first = WRONG;
    for (int seed = 0; seed <= t->seeds; seed++) {
        End end = run_once(t->subject, (uint64_t)seed);
        if (end == WRONG) {
            const char *error = pto_context_error(t->subject->ctx);
            complain(t, m, (uint64_t)seed, *error ? error : "it runs and computes something else");
            return WRONG;
        }
        if (seed > 0 && !agree(first, end)) {
            complain(t, m, (uint64_t)seed, "another verdict than with other latencies");
            return WRONG;
        }
        t->timely += seed > 0 && (first == OVERFLOW) != (end == OVERFLOW);
        first = seed == 0 || (first == EQUAL && end != EQUAL) ? end : first;
    }
    return first;
}

static void try_one(void *data, const Mutation *m) {
    Test *t = data;
    if (t->tokens && m->kind != TOKEN_DELETED)
        return;
    pto_program *changed = mutation_apply(t->subject->from, m);
    t->subject->to = changed;
    End end = judge(t, m);
    t->counts[m->kind][end]++;
    if (t->tokens && end == EQUAL)
        complain(t, m, 0, "it runs and computes the same: what is it for?");
    if (t->verbose) {
        char text[256];
        mutation_text(t->subject->from, m, text, sizeof text);
        printf("%s, %s: %s: %s\n", t->subject->name, text, end_names[end], end < EQUAL ? pto_context_error(t->subject->ctx) : "");
    }
    mutation_free(changed);
}

// The program as it is, first: it runs, and drawn latencies change nothing.
static void try_all(Test *t) {
    Subject *s = t->subject;
    if (call(s, 0) != PTO_OK)
        give_up("the program itself fails:", pto_context_error(s->ctx));
    take_outputs(s, s->expected);
    for (int seed = 1; seed <= t->seeds; seed++)
        if (run_once(s, (uint64_t)seed) != EQUAL)
            give_up("latencies change the result of", s->name);
    for (int k = 0; k < s->nprograms; k++) {
        s->from = s->programs[k];
        if (s->from->nbundles < 2)
            continue;
        s->tried++;
        mutations_of(s->from, try_one, t);
    }
    printf("%s: %d of %d programs changed, up to %lld iterations\n", s->name, s->tried, s->nprograms, (long long)s->iterations);
}

static void print_row(const char *name, const int *counts) {
    printf("%-26s", name);
    for (int e = 0; e < NENDS; e++)
        printf(" %*d", (int)strlen(end_names[e]), counts[e]);
    printf("\n");
}

static void print_table(const Test *t) {
    int sums[NENDS] = {0}, all = 0;
    printf("%-26s", "");
    for (int e = 0; e < NENDS; e++)
        printf(" %s", end_names[e]);
    printf("\n");
    for (int k = 0; k < MUTATION_KINDS; k++) {
        print_row(mutation_names[k], t->counts[k]);
        for (int e = 0; e < NENDS; e++) {
            sums[e] += t->counts[k][e];
            all += t->counts[k][e];
        }
    }
    print_row("all", sums);
    printf("%d mutations, %d of them overflow with some latencies only\n", all, t->timely);
}

int main(int argc, char **argv) {
    Test t = {.seeds = 2};
    int option;
    while ((option = getopt(argc, argv, "+s:tv")) != -1)
        switch (option) {
        case 's': t.seeds = atoi(optarg) < MOST_SEEDS ? atoi(optarg) : MOST_SEEDS; break;
        case 't': t.tokens = true; break;
        case 'v': t.verbose = true; break;
        default: give_up("unknown option;", "usage: mutate [-s SEEDS] [-t] [-v] LIBRARY KERNEL ARGUMENT... [, ...]");
        }
    for (int i = optind; i < argc;) {
        int n = 0;
        while (i + n < argc && strcmp(argv[i + n], ",") != 0)
            n++;
        static Subject s;
        subject_open(&s, n, argv + i);
        t.subject = &s;
        try_all(&t);
        i += n + 1;
    }
    print_table(&t);
    fflush(NULL);
    _exit(t.failures != 0);      // nothing is freed: without exit's handlers LeakSanitizer does not say so
}
