// check: what is said about a difference (see check_trial.h).
#include "cli/check_trial.h"

#include "cli/check_tile.h"
#include "data/element.h"

#include <inttypes.h>
#include <math.h>

// Progress is on the terminal's last line.
void check_clear_progress(const Check *c)
{
    if (c->job->progress)
        fputs("\r\033[K", c->job->err);
}

void check_say_start(Check *c, Range range)
{
    const CheckJob *j = c->job;
    Position p = {.file = NULL};
    check_clear_progress(c);
    if (j->sources)
        p = source_position(j->sources, range.begin);
    if (p.file)
        fprintf(j->err, "%s:%d:%d: error: ", p.file->path, p.line, p.column);
    else
        fprintf(j->err, "ptoc: error: ");
}

const char *check_sizes_text(Arena *a, const Kernel *k, const int64_t *dims)
{
    const char *s = "";
    for (int d = 0; d < k->dims.n; d++)
        s = arena_printf(a, "%s%s%s = %" PRId64, s, d ? ", " : "", k->dims.at[d]->name, dims[d]);
    return *s ? s : "no dimensions";
}

const char *check_again_text(Trial *t)
{
    const CheckJob *j = t->check->job;
    const char *s = arena_printf(t->arena, "ptoc check %s -k %s --target=%s", j->file, j->kernel->name, j->target);
    if (j->machine_set)
        s = arena_printf(t->arena, "%s --machine-set=%s", s, j->machine_set);
    for (int d = 0; d < j->kernel->dims.n; d++)
        s = arena_printf(t->arena, "%s --dim %s=%" PRId64, s, j->kernel->dims.at[d]->name, t->dims[d]);
    for (int v = 0; j->values && v < j->values->n; v++)
        if (!check_is_dim(j->kernel, j->values->at[v].name))
            s = arena_printf(t->arena, "%s '%s=%s'", s, j->values->at[v].name, j->values->at[v].value);
    return arena_printf(t->arena, "%s --seed %" PRIu64, s, j->seed);
}

// How the call was made, and how to repeat it.
void check_say_end(Trial *t, const Setting *s, Layout in, Layout out)
{
    static const char *const modes[] = {
        [PTO_MODE_AUTO] = "auto", [PTO_MODE_SERIAL] = "serial", [PTO_MODE_STATIC] = "static", [PTO_MODE_DYNAMIC] = "dynamic", [PTO_MODE_WAVE] = "wave",
    };
    const CheckJob *j = t->check->job;
    fprintf(j->err, "  with %s", check_sizes_text(t->arena, j->kernel, t->dims));
    if (s)
        fprintf(j->err, "; mode %s, %d worker%s; inputs: %s, outputs: %s", modes[s->mode], s->threads, s->threads == 1 ? "" : "s",
                layout_name(in), layout_name(out));
    fprintf(j->err, "\n  again: %s\n", check_again_text(t));
    t->check->result->failed = true;
}

const char *check_element_text(Arena *a, DType type, const void *p)
{
    if (dtype_is_float(type)) {
        double v = element_load_float(type, p);
        return isnan(v) ? "NaN" : arena_printf(a, type == DT_F64 ? "%.17g" : "%.9g", v);
    }
    int64_t v = element_load_int(type, p);
    return type == DT_U64 ? arena_printf(a, "%" PRIu64, (uint64_t)v) : arena_printf(a, "%" PRId64, v);
}

const char *check_place_text(Arena *a, const RefTensor *x, const char *name, int64_t k)
{
    int64_t at[REF_MAX_RANK];
    const char *s = name;
    ref_unflatten(x, k, at);
    for (int d = 0; d < x->rank; d++)
        s = arena_printf(a, "%s%s%" PRId64, s, d ? ", " : "[", at[d]);
    return x->rank ? arena_printf(a, "%s]", s) : s;
}

// Where an element comes from: "; equation y, in tile (2, 0) of 64 x 32 over i, j"; and the position of its equation.
const char *check_origin_text(Trial *t, int o, int64_t k, Range *range)
{
    const CheckJob *j = t->check->job;
    const Tensor *tensor = j->kernel->outputs.at[o];
    int64_t at[REF_MAX_RANK];
    ref_unflatten(t->expected[o], k, at);
    const Equation *e = ref_equation_at(t->arena, j->kernel, t->dims, tensor, at);
    const char *tile = check_tile_text(t->arena, j->tilings, j->kernel->name, tensor->name, t->dims, at);
    *range = e ? e->range : tensor->range;
    return arena_printf(t->arena, "%s%s%s%s", e ? "; equation " : "", e ? e->name : "", tile ? e ? ", in " : "; in " : "", tile ? tile : "");
}

void check_say_difference(Trial *t, int o, int64_t k, const void *actual, int64_t count)
{
    const CheckJob *j = t->check->job;
    const Tensor *tensor = j->kernel->outputs.at[o];
    const RefTensor *x = t->expected[o];
    Range range;
    const char *origin = check_origin_text(t, o, k, &range);
    check_say_start(t->check, range);
    const char *expected = check_element_text(t->arena, x->type, (const char *)x->data + k * dtype_bytes(x->type));
    fprintf(j->err, "%s is %s, but %s by definition", check_place_text(t->arena, x, tensor->name, k), check_element_text(t->arena, x->type, actual), expected);
    if (x->err && x->err[k] > 0)
        fprintf(j->err, " (and may differ by %.3g)", x->err[k]);
    fprintf(j->err, "%s [check]\n", origin);
    if (count > 1)
        fprintf(j->err, "  %" PRId64 " of %" PRId64 " elements of %s differ\n", count, x->size, tensor->name);
}
