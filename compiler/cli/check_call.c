// check: one call of the kernel, between canaries and into memory without values (see check_trial.h).
#include "cli/check_trial.h"

#include "data/element.h"

#include <math.h>
#include <string.h>

typedef struct {
    Trial *trial;
    Arena *arena;                // of this call: its buffers would add up over the settings
    const Setting *setting;
    Layout in, out;
    Guarded **buffers;           // inputs, then outputs; NULL for dimensions
    void **args;
    int64_t *dims;               // copies that the kernel may see
} CallState;

static void make_buffers(CallState *s)
{
    Trial *t = s->trial;
    Arena *a = s->arena;
    const Kernel *k = t->check->job->kernel;
    int n = k->params.n + k->outputs.n;
    s->buffers = ARENA_ARRAY(a, Guarded *, n + 1);
    s->args = ARENA_ARRAY(a, void *, n + 1);
    s->dims = ARENA_ARRAY(a, int64_t, k->dims.n + 1);
    memcpy(s->dims, t->dims, sizeof *s->dims * (size_t)k->dims.n);
    for (int i = 0; i < n; i++) {
        const Tensor *tensor = i < k->params.n ? k->params.at[i].tensor : k->outputs.at[i - k->params.n];
        if (!tensor) {
            s->args[i] = &s->dims[k->params.at[i].dim->id];
            continue;
        }
        RefTensor shape = {.rank = 0};
        ref_shape(k, tensor, t->dims, &shape);
        Layout layout = tensor->rank == 0 ? LAYOUT_DENSE : i < k->params.n ? s->in : s->out;
        Guarded *g = s->buffers[i] = guarded_new(a, tensor->type, tensor->rank, shape.extent, layout);
        if (i < k->params.n)
            guarded_put(g, t->inputs[i]);
        else
            guarded_poison(g);
        s->args[i] = tensor->rank == 0 ? g->tensor.data : (void *)&g->tensor;
    }
}

// Is an `int` parameter so large that sums and products with it may need more bits than there are?
static bool is_huge(const Trial *t)
{
    const Kernel *k = t->check->job->kernel;
    for (int d = 0; d < k->dims.n; d++)
        if (!k->dims.at[d]->tensor && t->dims[d] > 1 << 30)
            return true;
    return false;
}

static size_t workspace_of(CallState *s)
{
    const pto_kernel *code = s->trial->check->job->code;
    return code->workspace ? code->workspace(s->setting->context, s->args) : 0;
}

// Huge numbers are tried for what they lead to, not for what all that memory would hold.
static bool is_more_than_tried(CallState *s)
{
    return is_huge(s->trial) && workspace_of(s) > (size_t)1 << 28;
}

// The memory that the kernel is about to get, full of NaN.
static void poison_workspace(CallState *s)
{
    pto_context *context = s->setting->context;
    size_t bytes = workspace_of(s);
    if (bytes == 0 || pto_enter(&context, "check") != PTO_OK)
        return;
    void *p = pto_workspace(context, bytes);
    if (p)
        memset(p, 0xFF, bytes);
    pto_leave(context, PTO_OK);
}

static bool canaries_live(CallState *s)
{
    Trial *t = s->trial;
    const Kernel *k = t->check->job->kernel;
    for (int i = 0; i < k->params.n + k->outputs.n; i++) {
        bool is_input = i < k->params.n;
        if (!s->buffers[i] || guarded_intact(s->arena, s->buffers[i], is_input ? t->inputs[i] : NULL))
            continue;
        const Tensor *tensor = is_input ? k->params.at[i].tensor : k->outputs.at[i - k->params.n];
        check_say_start(t->check, tensor->range);
        fprintf(t->check->job->err, "the kernel wrote outside %s '%s' [check]\n", is_input ? "its outputs, into" : "the elements of", tensor->name);
        check_say_end(t, s->setting, s->in, s->out);
        return false;
    }
    return true;
}

// Every element against its bound.
static bool outputs_agree(CallState *s)
{
    Trial *t = s->trial;
    CheckResult *r = t->check->result;
    const Kernel *k = t->check->job->kernel;
    for (int o = 0; o < k->outputs.n; o++) {
        const Guarded *g = s->buffers[k->params.n + o];
        int64_t first = -1, count = 0;
        for (int64_t i = 0; i < t->expected[o]->size; i++) {
            RefVerdict v = ref_judge(t->expected[o], i, guarded_at(g, i));
            r->unjudged += v == REF_UNJUDGED;
            r->elements++;
            if (v == REF_DIFFERENT && count++ == 0)
                first = i;
        }
        if (count > 0) {
            check_say_difference(t, o, first, guarded_at(g, first), count);
            check_say_end(t, s->setting, s->in, s->out);
            return false;
        }
    }
    return true;
}

static bool is_nan_at(DType type, const void *p) { return dtype_is_float(type) && isnan(element_load_float(type, p)); }

// Results do not depend on workers, mode, layout: the same bits as those of the first call (any NaN is a NaN).
static bool bits_agree(CallState *s)
{
    Trial *t = s->trial;
    const Kernel *k = t->check->job->kernel;
    bool is_first = t->first == NULL;
    if (is_first)
        t->first = ARENA_ARRAY(t->arena, Array *, k->outputs.n + 1);
    for (int o = 0; o < k->outputs.n; o++) {
        const Guarded *g = s->buffers[k->params.n + o];
        const RefTensor *x = t->expected[o];
        const char *error;
        size_t bytes = (size_t)dtype_bytes(x->type);
        if (is_first)
            t->first[o] = array_new(t->arena, x->type, x->rank, x->extent, &error);
        for (int64_t i = 0; t->first[o] && i < x->size; i++) {
            char *old = (char *)t->first[o]->data + (size_t)i * bytes;
            if (is_first) {
                memcpy(old, guarded_at(g, i), bytes);
            } else if (memcmp(old, guarded_at(g, i), bytes) != 0 && !(is_nan_at(x->type, old) && is_nan_at(x->type, guarded_at(g, i)))) {
                Range range;
                const char *origin = check_origin_text(t, o, i, &range);
                check_say_start(t->check, range);
                fprintf(t->check->job->err, "%s depends on mode, workers or layout: %s, and %s before%s [check]\n",
                        check_place_text(t->arena, x, k->outputs.at[o]->name, i), check_element_text(t->arena, x->type, guarded_at(g, i)),
                        check_element_text(t->arena, x->type, old), origin);
                check_say_end(t, s->setting, s->in, s->out);
                return false;
            }
        }
    }
    return true;
}

static bool status_agrees(CallState *s, pto_status status)
{
    Trial *t = s->trial;
    FILE *err = t->check->job->err;
    // Index arithmetic is exact or refused: for some points that do not count, or by a form that needs fewer bits.
    if ((is_huge(t) && status == PTO_ERR_OVERFLOW && t->status == REF_OK) || (status == PTO_OK && t->status == REF_FAULT_OVERFLOW))
        return true;
    if ((status == PTO_OK) == (t->status == REF_OK)) {
        t->check->result->faults += status != PTO_OK;
        return true;
    }
    if (status == PTO_OK) {
        check_say_start(t->check, t->fault.range);
        fprintf(err, "the kernel succeeds, but there is %s: %s [check]\n", ref_status_name(t->status), t->fault.message);
    } else {
        check_say_start(t->check, t->check->job->kernel->range);
        fprintf(err, "the kernel fails, but every output is defined: %s (%s) [check]\n", pto_context_error(s->setting->context), pto_status_name(status));
    }
    check_say_end(t, s->setting, s->in, s->out);
    return false;
}

static bool call_is_right(CallState *s)
{
    const CheckJob *j = s->trial->check->job;
    make_buffers(s);
    if (is_more_than_tried(s))
        return true;
    poison_workspace(s);
    options_doing(j->doing, s->trial->again);
    pto_status status = j->code->call(s->setting->context, s->args);
    options_doing(j->doing, "");
    s->trial->check->result->runs++;
    if (!canaries_live(s) || !status_agrees(s, status))
        return false;
    return status != PTO_OK || (outputs_agree(s) && bits_agree(s));
}

bool check_call(Trial *t, int k)
{
    const Setting *setting = &t->check->settings[k];
    CallState s = {.trial = t, .arena = arena_new(), .setting = setting,
                   .in = (Layout)((k + t->number) % LAYOUT_COUNT), .out = (Layout)((k + 2 * t->number) % LAYOUT_COUNT)};
    bool right = call_is_right(&s);
    arena_free(s.arena);
    return right;
}
