// One call of a kernel of the command line's file; see call.h.
#include "cli/call.h"

#include "reference/eval.h"

#include <ptort/model.h>

#include <string.h>
#include <unistd.h>

// ---- the kernel and its values ----

int call_find_output(const Kernel *k, const char *name)
{
    for (int i = 0; i < k->outputs.n; i++)
        if (strcmp(k->outputs.at[i]->name, name) == 0)
            return i;
    return -1;
}

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

static int bind_values(Call *c)
{
    const char *error;
    int code = bind_inputs(c->arena, c->kernel, &c->options->values, &c->inputs, &error);
    return code ? complain(code, "%s", error) : 0;
}

int call_open(Call *c, Arena *a, const Options *o)
{
    *c = (Call){.arena = a, .options = o};
    int code = unit_open(&c->unit, a, o);
    c->options = c->unit.options;
    if (code == 0 && diags_errors(c->unit.diags) > 0)
        code = EXIT_USER;
    return code ? code : select_one(c);
}

int call_bind(Call *c)
{
    int code = bind_values(c);
    return code ? code : make_outputs(c);
}

// ---- the code ----

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

// The kernel's arguments in its order: inputs, then outputs.
static void **make_arguments(Call *c)
{
    const Kernel *k = c->kernel;
    const pto_kernel *kernel = c->code;
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

static int make_context(Call *c)
{
    pto_options options = {.threads = c->options->threads, .mode = mode_of(c->options->mode)};
    c->context = pto_context_new(&options);
    if (!c->context)
        return complain(EXIT_INTERNAL, "out of memory");
    const char *error = pto_context_error(c->context);
    if (*error)
        return complain(EXIT_USER, "%s", error);
    pto_model_options model = {.timing_only = c->options->timing_only, .unchecked = c->options->timing_only, .max_cycles = c->options->max_cycles};
    if ((c->options->timing_only || c->options->max_cycles) && pto_context_model(c->context, &model) != PTO_OK)
        return complain(EXIT_INTERNAL, "out of memory");
    return 0;
}

// What has no modelled time has none but that of its values.
static int check_timing(const Call *c, const char *target)
{
    if (!c->options->timing_only || unit_is_modelled(&c->unit, target))
        return 0;
    return complain(EXIT_USAGE, "--timing-only is for modelled machines, such as --target=davinci, not for %s", target);
}

int call_load(Call *c)
{
    const char *target = unit_target(c->options);
    int code = check_timing(c, target);
    if (code == 0)
        code = load_unit(&c->unit, target, &c->loaded);
    if (code)
        return code;
    c->code = load_kernel(&c->unit, &c->loaded, c->kernel->name);
    if (!c->code || !bind_matches(c->kernel, c->code))
        return complain(EXIT_INTERNAL, "the emitted code has no kernel '%s' of this signature", c->kernel->name);
    c->args = make_arguments(c);
    return make_context(c);
}

void call_touch_outputs(Call *c)
{
    for (int o = 0; o < c->kernel->outputs.n && !c->options->timing_only; o++)
        pto_first_touch(c->context, c->outputs[o]->data, (size_t)array_bytes(c->outputs[o]));
}

int call_kernel(Call *c)
{
    bool terminal = isatty(STDERR_FILENO);
    options_doing(c->options->doing, arena_printf(c->arena, "calling kernel '%s'", c->code->name));
    if (terminal)
        fprintf(stderr, "\r\033[Kptoc: running %s ...", c->code->name);
    pto_status s = c->code->call(c->context, c->args);
    if (terminal)
        fputs("\r\033[K", stderr);
    options_doing(c->options->doing, "");
    return s == PTO_OK ? 0 : complain(EXIT_USER, "%s", pto_context_error(c->context));
}

void call_close(Call *c)
{
    pto_context_free(c->context);
    load_close(&c->loaded);
    unit_close(&c->unit);
}
