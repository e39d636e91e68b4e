// ptoc run: compiles a kernel, calls it, and shows or saves what it computed.
#include "cli/commands.h"

#include "cli/call.h"
#include "cli/keep.h"
#include "data/element.h"
#include "data/output.h"
#include "reference/eval.h"

#include <ptort/model.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// -o NAME=FILE, -o NAME[a..b, c..d]=FILE
typedef struct {
    const char *name, *file, *box;       // box: the text behind NAME, from its bracket on; NULL: all of it
} Saved;

typedef struct {
    Call call;
    Arena *arena;
    const Options *options;
    const Kernel *kernel;
    VEC(Saved) files;
    double milliseconds;
    int64_t cycles;              // of a modelled machine; -1: it is none
    int workers;
} Run;

// ---- outputs ----

// Splits what is behind -o: a name alone, and a file alone where there is one output, are fine.
static bool split_output(Run *c, const char *text, Saved *saved)
{
    const char *equals = strchr(text, '='), *box = strchr(text, '[');
    const char *end = box && equals && box < equals ? box : equals;
    *saved = (Saved){.name = c->kernel->outputs.at[0]->name, .file = equals ? equals + 1 : text};
    if (equals)
        saved->name = arena_strndup(c->arena, text, (size_t)(end - text));
    if (equals && end == box)
        saved->box = arena_strndup(c->arena, box, (size_t)(equals - box));
    return equals || c->kernel->outputs.n == 1;
}

// An intermediate that is asked for is kept as a whole. Below the task level of textual IR its place is decided already.
static int find_or_keep(Run *c, const char *name)
{
    const Kernel *k = c->kernel;
    if (call_find_output(k, name) >= 0)
        return 0;
    if (c->call.unit.module->tiles.n == 0 && keep_intermediate((Kernel *)k, name))
        return 0;
    const char *meant = k->outputs.at[0]->name;
    return complain(EXIT_USAGE, "kernel '%s' has no output or intermediate '%s'; it has '%s'%s", k->name, name, meant, k->outputs.n > 1 ? " and others" : "");
}

static int check_output_names(Run *c)
{
    if (c->options->timing_only && c->options->outputs.n > 0)
        return complain(EXIT_USAGE, "-o %s: with --timing-only there are no values to save", c->options->outputs.at[0]);
    for (int i = 0; i < c->options->outputs.n; i++) {
        const char *text = c->options->outputs.at[i];
        Saved saved;
        if (!split_output(c, text, &saved))
            return complain(EXIT_USAGE, "-o %s: which output? -o NAME=FILE", text);
        if (!array_path_is_file(saved.file))
            return complain(EXIT_USAGE, "-o %s: outputs go to .npy, .pgm or .ppm files", text);
        int code = find_or_keep(c, saved.name);
        if (code)
            return code;
        VEC_PUSH(c->arena, &c->files, saved);
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

static void print_output(Run *c, int i)
{
    const Array *x = c->call.outputs[i];
    printf("%s: %s%s  ", c->kernel->outputs.at[i]->name, dtype_name(x->type), x->rank ? array_shape_text(c->arena, x->rank, x->extent) : "");
    if (x->rank == 0)
        print_scalar(x);
    else
        print_range(x);
    putchar('\n');
}

// "[0..8, 16..32]": a range for each dimension, in the tensor's own subscripts, where its first one is `from`.
static bool read_box(const char *text, const Array *x, const int64_t *from, int64_t *lo, int64_t *hi)
{
    const char *p = text + 1;
    for (int d = 0; d < x->rank; d++) {
        char *end, *last;
        lo[d] = strtoll(p, &end, 10);
        if (end == p || end[0] != '.' || end[1] != '.')
            return false;
        hi[d] = strtoll(end + 2, &last, 10);
        if (last == end + 2 || *last != (d + 1 < x->rank ? ',' : ']'))
            return false;
        p = last + 1;
        if (lo[d] < from[d] || hi[d] < lo[d] || hi[d] > from[d] + x->extent[d])
            return false;
        lo[d] -= from[d];
        hi[d] -= from[d];
    }
    return x->rank > 0 && !*p;
}

// What of an output goes to its file.
static const Array *part_of(Run *c, const Saved *saved, const char **error)
{
    int i = call_find_output(c->kernel, saved->name);
    const Array *x = c->call.outputs[i];
    const Tensor *t = c->kernel->outputs.at[i];
    int64_t from[ARRAY_MAX_RANK], lo[ARRAY_MAX_RANK], hi[ARRAY_MAX_RANK];
    if (!saved->box)
        return x;
    for (int d = 0; d < x->rank; d++)
        if (!ref_dim_expr(t->lo[d], c->call.inputs.dims, &from[d]))
            from[d] = 0;
    if (read_box(saved->box, x, from, lo, hi))
        return array_cut(c->arena, x, lo, hi, error);
    *error = arena_printf(c->arena, "-o %s%s: a box is written [a..b, ...], within %s of shape %s", saved->name, saved->box, saved->name,
                          array_shape_text(c->arena, x->rank, x->extent));
    return NULL;
}

static int save_outputs(Run *c)
{
    Outputs *files = outputs_new(c->arena);
    const char *error = NULL;
    for (int i = 0; i < c->files.n && !error; i++) {
        const Array *x = part_of(c, &c->files.at[i], &error);
        FILE *f = x ? outputs_open(files, c->files.at[i].file, &error) : NULL;
        if (f)
            array_write(c->arena, f, c->files.at[i].file, x, &error);
    }
    if (!error && outputs_commit(files, &error))
        return 0;
    outputs_drop(files);
    return complain(EXIT_USER, "%s", error);
}

static bool is_saved(const Run *c, int i)
{
    for (int k = 0; k < c->files.n; k++)
        if (call_find_output(c->kernel, c->files.at[k].name) == i)
            return true;
    return false;
}

static int show_outputs(Run *c)
{
    int code = save_outputs(c);
    if (code)
        return code;
    for (int i = 0; i < c->kernel->outputs.n; i++)
        if (!c->options->timing_only && (!is_saved(c, i) || c->options->verbose))
            print_output(c, i);
    if (c->cycles >= 0)
        printf("cycles: %" PRId64 "\n", c->cycles);
    printf("time: %.3f ms, %d worker%s\n", c->milliseconds, c->workers, c->workers == 1 ? "" : "s");
    return 0;
}

// ---- the call ----

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

static int call_often(Run *c)
{
    int n = c->options->repeat, code = 0;
    double *times = ARENA_ARRAY(c->arena, double, n + 1);
    call_touch_outputs(&c->call);
    if (n > 1)
        code = call_kernel(&c->call);                // pool and workspace, once
    for (int k = 0; k < n && code == 0; k++) {
        double start = now();
        code = call_kernel(&c->call);
        times[k] = now() - start;
    }
    if (code)
        return code;
    qsort(times, (size_t)n, sizeof *times, by_value);
    c->milliseconds = times[n / 2];
    c->workers = pto_workers(c->call.context);
    pto_model_totals totals;
    c->cycles = pto_model_totals_of(c->call.context, &totals) == PTO_OK ? totals.cycles : -1;
    return 0;
}

int command_run(Arena *a, const Options *o)
{
    Run c = {.arena = a, .options = o};
    int code = call_open(&c.call, a, o);
    c.kernel = c.call.kernel;
    if (code == 0)
        code = check_output_names(&c);
    if (code == 0)
        code = call_bind(&c.call);
    if (code == 0)
        code = call_load(&c.call);
    if (code == 0)
        code = call_often(&c);
    if (code == 0)
        code = show_outputs(&c);
    call_close(&c.call);
    return code;
}
