// model: calls a kernel that was compiled for a modelled machine and prints what it cost, one `name value` a line.
//
//   model LIBRARY KERNEL [-t] ARGUMENT...
//
// The arguments are the kernel's parameters in order, outputs last: `2048x2048` for a tensor (inputs get small numbers),
// a number for a scalar or dimension. -t: skips the values, and tensors need no memory. For `make bench-model`.
#include <ptort/model.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef union { int64_t dim; double f64; float f32; int32_t i32; pto_tensor tensor; } Argument;

static void fail(const char *what, const char *name) {
    fprintf(stderr, "model: %s %s\n", what, name);
    exit(1);
}

static void *memory_of(size_t bytes) {
    void *p = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        fail("no memory for", "a tensor");
    return p;
}

// Numbers that sums of many of them can still tell apart: multiples of 1/8 from -1 to 1.
static void fill(pto_tensor *t, unsigned seed) {
    int64_t n = pto_tensor_elements(t);
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        int k = (int)(seed >> 28) - 8;
        switch (t->dtype) {
        case PTO_F64: ((double *)t->data)[i] = k / 8.0; break;
        case PTO_F32: ((float *)t->data)[i] = (float)k / 8.0f; break;
        case PTO_F16: ((_Float16 *)t->data)[i] = (_Float16)((float)k / 8.0f); break;
        default: memset((char *)t->data + i * (int64_t)pto_dtype_size(t->dtype), k & 7, pto_dtype_size(t->dtype));
        }
    }
}

static void tensor_argument(pto_tensor *t, const pto_param *p, const char *text, int filled, unsigned seed) {
    int64_t shape[PTO_MAX_RANK];
    char *end = (char *)text;
    for (int d = 0; d < p->rank; d++) {
        shape[d] = strtoll(end, &end, 10);
        if (*end != (d + 1 < p->rank ? 'x' : '\0'))
            fail("bad shape", text);
        end++;
    }
    *t = pto_tensor_dense(NULL, p->dtype, p->rank, shape);
    t->data = memory_of((size_t)pto_tensor_elements(t) * pto_dtype_size(p->dtype));
    if (filled)
        fill(t, seed);
}

static void *argument(Argument *a, const pto_param *p, const char *text, int timing, unsigned seed) {
    switch (p->kind) {
    case PTO_PARAM_DIM: a->dim = atoll(text); break;
    case PTO_PARAM_SCALAR: case PTO_PARAM_SCALAR_OUTPUT:
        if (p->dtype == PTO_F64)
            a->f64 = atof(text);
        else if (p->dtype == PTO_F32)
            a->f32 = (float)atof(text);
        else
            a->i32 = atoi(text);
        break;
    case PTO_PARAM_TENSOR: case PTO_PARAM_OUTPUT: tensor_argument(&a->tensor, p, text, !timing && p->kind == PTO_PARAM_TENSOR, seed); break;
    }
    return a;
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
    for (int i = 0; i < k->nparams; i++)
        pointers[i] = argument(&args[i], &k->params[i], argv[first + i], timing, (unsigned)i);
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
