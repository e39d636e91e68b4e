// model: calls a kernel that was compiled for a modelled machine and prints what it cost, one `name value` a line.
//
//   model LIBRARY KERNEL [-t] ARGUMENT...
//
// The arguments are the kernel's parameters in order, outputs last: `2048x2048` for a tensor (inputs get small numbers),
// a number for a scalar or dimension. -t: skips the values, and tensors need no memory. For `make bench-model`.
#include "../arguments.h"

#include <ptort/model.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void fail(const char *what, const char *name) {
    fprintf(stderr, "model: %s %s\n", what, name);
    exit(1);
}

static void print_totals(const pto_model_totals *t, double seconds) {
    static const char *const slots[] = PTO_SLOT_NAMES;
    printf("cycles %lld\nmacs %lld\ntasks %lld\nbundles %lld\nseconds %.3f\n", (long long)t->cycles, (long long)t->macs, (long long)t->tasks, (long long)t->bundles, seconds);
    for (int s = 0; s < PTO_SLOTS; s++)
        printf("busy_%s %lld\n", slots[s], (long long)t->busy[s]);
    for (int p = 0; p < PTO_MAX_PATHS; p++)
        if (t->path_bytes[p])
            printf("path%d_bytes %lld\npath%d_busy %lld\n", p, (long long)t->path_bytes[p], p, (long long)t->path_busy[p]);
    for (int i = 0; i < t->ntraffic; i++)
        printf("traffic_%d_%s %lld %lld\n", t->traffic[i].path, t->traffic[i].tensor, (long long)t->traffic[i].read, (long long)t->traffic[i].written);
}

int main(int argc, char **argv) {
    int timing = argc > 3 && strcmp(argv[3], "-t") == 0, first = 3 + timing;
    void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!library)
        fail("cannot load", argc > 2 ? dlerror() : "(usage: model LIBRARY KERNEL [-t] ARGUMENT...)");
    char name[256];
    snprintf(name, sizeof name, "%s_kernel", argv[2]);
    const pto_kernel *k = dlsym(library, name);
    if (!k || argc - first != k->nparams)
        fail(k ? "wrong number of arguments for" : "there is no", argv[2]);
    Argument *args = calloc((size_t)k->nparams, sizeof *args);
    void **pointers = calloc((size_t)k->nparams, sizeof *pointers);
    for (int i = 0; i < k->nparams; i++) {
        const char *problem = argument_read(&args[i], &k->params[i], argv[first + i], !timing, (unsigned)i);
        if (problem)
            fail(problem, argv[first + i]);
        pointers[i] = &args[i];
    }
    pto_context *ctx = pto_context_new(NULL);
    pto_model_options options = {.timing_only = timing, .unchecked = timing};
    pto_context_model(ctx, &options);
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    if (k->call(ctx, pointers) != PTO_OK)
        fail("the kernel fails:", pto_context_error(ctx));
    clock_gettime(CLOCK_MONOTONIC, &b);
    pto_model_totals totals;
    if (pto_model_totals_of(ctx, &totals) != PTO_OK)
        fail("nothing was modelled by", argv[2]);
    print_totals(&totals, (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec));
    return 0;
}
