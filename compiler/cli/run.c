// ptoc run: compiles a kernel, calls it, and shows or saves what it computed.
#include "cli/commands.h"

#include "cli/bind.h"
#include "cli/load.h"
#include "data/element.h"
#include "data/output.h"
#include "reference/eval.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    Unit unit;
    Arena *arena;
    const Options *options;
    const Kernel *kernel;
    Inputs inputs;
    Bindings files;              // -o NAME=FILE
    Array **outputs;
    pto_context *context;
    double milliseconds;
    int workers;
} Call;

// ---- outputs ----

static int find_output(const Kernel *k, const char *name)
{
    for (int i = 0; i < k->outputs.n; i++)
        if (strcmp(k->outputs.at[i]->name, name) == 0)
            return i;
    return -1;
}

static int check_output_names(Call *c)
{
    const Kernel *k = c->kernel;
    for (int i = 0; i < c->options->outputs.n; i++) {
        const char *text = c->options->outputs.at[i], *equals = strchr(text, '=');
        const char *name = equals ? arena_strndup(c->arena, text, (size_t)(equals - text)) : k->outputs.at[0]->name;
        if (!equals && k->outputs.n != 1)
            return complain(EXIT_USAGE, "-o %s: which output? -o NAME=FILE", text);
        if (find_output(k, name) < 0) {
            const char *meant = k->outputs.at[0]->name;
            return complain(EXIT_USAGE, "kernel '%s' has no output '%s'; it has '%s'%s", k->name, name, meant, k->outputs.n > 1 ? " and others" : "");
        }
        Binding b = {.name = name, .value = equals ? equals + 1 : text};
        if (!array_path_is_file(b.value))
            return complain(EXIT_USAGE, "-o %s: outputs go to .npy, .pgm or .ppm files", text);
        VEC_PUSH(c->arena, &c->files, b);
    }
    return 0;
}

static int make_outputs(Call *c)
{
    const Kernel *k = c->kernel;
    c->outputs = ARENA_ARRAY(c->arena, Array *, k->outputs.n + 1);
    for (int i = 0; i < k->outputs.n; i++) {
        const Tensor *t = k->outputs.at[i];
        RefTensor shape;
        const char *error = NULL;
        if (!ref_shape(k, t, c->inputs.dims, &shape))
            return complain(EXIT_USER, "the shape of '%s' cannot be computed", bind_declaration(c->arena, t));
        c->outputs[i] = array_new(c->arena, t->type, t->rank, shape.extent, &error);
        if (!c->outputs[i])
            return complain(EXIT_USER, "%s: %s", t->name, error);
    }
    return 0;
}

static void print_scalar(const Array *x)
{
    if (dtype_is_float(x->type))
        printf("%.9g", element_load_float(x->type, x->data));
    else if (x->type == DT_U64)
        printf("%" PRIu64, (uint64_t)element_load_int(x->type, x->data));
    else
        printf("%" PRId64, element_load_int(x->type, x->data));
}

static void print_range(const Array *x)
{
    double low = INFINITY, high = -INFINITY, sum = 0;
    int64_t nans = 0;
    for (int64_t i = 0; i < x->size; i++) {
        double v = x->type == DT_F32 ? (double)((const float *)x->data)[i]
                                     : element_as_double(x->type, (const char *)x->data + i * dtype_bytes(x->type));
        nans += isnan(v);
        low = v < low ? v : low;
        high = v > high ? v : high;
        sum += isnan(v) ? 0 : v;
    }
    if (x->size == nans)
        printf(x->size ? "all NaN" : "empty");
    else
        printf("min %.6g, max %.6g, mean %.6g", low, high, sum / (double)(x->size - nans));
    if (nans > 0 && nans < x->size)
        printf(", %" PRId64 " NaN", nans);
}

static void print_output(Call *c, int i)
{
    const Array *x = c->outputs[i];
    printf("%s: %s%s  ", c->kernel->outputs.at[i]->name, dtype_name(x->type), x->rank ? array_shape_text(c->arena, x->rank, x->extent) : "");
    if (x->rank == 0)
        print_scalar(x);
    else
        print_range(x);
    putchar('\n');
}

static int save_outputs(Call *c)
{
    Outputs *files = outputs_new(c->arena);
    const char *error = NULL;
    for (int i = 0; i < c->files.n && !error; i++) {
        const Binding *b = &c->files.at[i];
        FILE *f = outputs_open(files, b->value, &error);
        if (f)
            array_write(c->arena, f, b->value, c->outputs[find_output(c->kernel, b->name)], &error);
    }
    if (!error && outputs_commit(files, &error))
        return 0;
    outputs_drop(files);
    return complain(EXIT_USER, "%s", error);
}

static bool is_saved(const Call *c, int i)
{
    for (int k = 0; k < c->files.n; k++)
        if (find_output(c->kernel, c->files.at[k].name) == i)
            return true;
    return false;
}

static int show_outputs(Call *c)
{
    int code = save_outputs(c);
    if (code)
        return code;
    for (int i = 0; i < c->kernel->outputs.n; i++)
        if (!is_saved(c, i) || c->options->verbose)
            print_output(c, i);
    printf("time: %.3f ms, %d worker%s\n", c->milliseconds, c->workers, c->workers == 1 ? "" : "s");
    return 0;
}

// ---- the call ----

static pto_mode mode_of(const char *name)
{
    static const struct { const char *name; pto_mode mode; } modes[] = {
        {"serial", PTO_MODE_SERIAL}, {"static", PTO_MODE_STATIC}, {"dynamic", PTO_MODE_DYNAMIC}, {"wave", PTO_MODE_WAVE},
    };
    for (size_t k = 0; name && k < sizeof modes / sizeof *modes; k++)
        if (strcmp(modes[k].name, name) == 0)
            return modes[k].mode;
    return PTO_MODE_AUTO;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

// The kernel's arguments in its order: inputs, then outputs.
static void **make_arguments(Call *c, const pto_kernel *kernel)
{
    const Kernel *k = c->kernel;
    void **args = ARENA_ARRAY(c->arena, void *, kernel->nparams + 1);
    for (int i = 0; i < kernel->nparams; i++) {
        const Param *p = i < k->params.n ? &k->params.at[i] : NULL;
        Array *x = !p ? c->outputs[i - k->params.n] : p->tensor ? c->inputs.arrays[i] : NULL;
        if (!x) {
            args[i] = &c->inputs.dims[p->dim->id];
        } else if (x->rank == 0) {
            args[i] = x->data;
        } else {
            pto_tensor *t = ARENA_NEW(c->arena, pto_tensor);
            *t = bind_tensor(x);
            args[i] = t;
        }
    }
    return args;
}

static int call(Call *c, const pto_kernel *kernel)
{
    void **args = make_arguments(c, kernel);
    options_doing(c->options->doing, arena_printf(c->arena, "calling kernel '%s'", kernel->name));
    bool terminal = isatty(STDERR_FILENO);
    if (terminal)
        fprintf(stderr, "\r\033[Kptoc: running %s ...", kernel->name);
    int n = c->options->repeat;
    double *times = ARENA_ARRAY(c->arena, double, n + 1);
    for (int o = 0; o < c->kernel->outputs.n; o++)
        pto_first_touch(c->context, c->outputs[o]->data, (size_t)array_bytes(c->outputs[o]));
    if (n > 1)
        kernel->call(c->context, args);                // pool and workspace, once
    for (int k = 0; k < n; k++) {
        double start = now();
        pto_status s = kernel->call(c->context, args);
        times[k] = now() - start;
        if (terminal && (s != PTO_OK || k + 1 == n))
            fputs("\r\033[K", stderr);
        if (s != PTO_OK)
            return complain(EXIT_USER, "%s", pto_context_error(c->context));
    }
    options_doing(c->options->doing, "");
    qsort(times, (size_t)n, sizeof *times, by_value);
    c->milliseconds = times[n / 2];
    c->workers = pto_workers(c->context);
    return 0;
}

static int call_loaded(Call *c, const Loaded *loaded)
{
    const pto_kernel *kernel = load_kernel(c->arena, loaded, c->kernel->name);
    if (!kernel || !bind_matches(c->kernel, kernel))
        return complain(EXIT_INTERNAL, "the emitted code has no kernel '%s' of this signature", c->kernel->name);
    pto_options options = {.threads = c->options->threads, .mode = mode_of(c->options->mode)};
    c->context = pto_context_new(&options);
    if (!c->context)
        return complain(EXIT_INTERNAL, "out of memory");
    const char *error = pto_context_error(c->context);
    int code = *error ? complain(EXIT_USER, "%s", error) : call(c, kernel);
    if (code == 0)
        code = show_outputs(c);
    pto_context_free(c->context);
    return code;
}

// ---- the command ----

static int select_one(Call *c)
{
    int n, code;
    Kernel *const *kernels = load_select(&c->unit, &n, &code);
    if (!kernels)
        return code;
    if (n > 1) {
        const char *names = kernels[0]->name;
        for (int k = 1; k < n; k++)
            names = arena_printf(c->arena, "%s, %s", names, kernels[k]->name);
        return complain(EXIT_USAGE, "%s has several kernels: choose with -k (%s)", c->unit.file->path, names);
    }
    c->kernel = kernels[0];
    return 0;
}

static int bind_values(Call *c)
{
    const char *error;
    int code = bind_inputs(c->arena, c->kernel, &c->options->values, &c->inputs, &error);
    return code ? complain(code, "%s", error) : 0;
}

static int run(Call *c)
{
    Loaded loaded = {.object = NULL};
    const char *target = unit_target(c->options);
    int code = select_one(c);
    if (code == 0)
        code = check_output_names(c);
    if (code == 0)
        code = bind_values(c);
    if (code == 0)
        code = make_outputs(c);
    if (code == 0)
        code = load_unit(&c->unit, target, &loaded);
    if (code == 0)
        code = call_loaded(c, &loaded);
    load_close(&loaded);
    return code;
}

int command_run(Arena *a, const Options *o)
{
    Call c = {.arena = a, .options = o};
    int code = unit_open(&c.unit, a, o);
    if (code == 0 && diags_errors(c.unit.diags) > 0)
        code = EXIT_USER;
    c.options = c.unit.options;
    if (code == 0)
        code = run(&c);
    unit_close(&c.unit);
    return code;
}
