// Comparing a compiled kernel with the reference evaluator; see check.h.
#include "cli/check_trial.h"

#include "data/element.h"

#include <ptort/model.h>

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static int find_named(const Kernel *k, const char *name)
{
    for (int i = 0; i < k->params.n; i++)
        if (strcmp(k->params.at[i].tensor ? k->params.at[i].tensor->name : k->params.at[i].dim->name, name) == 0)
            return i;
    return -1;
}

// ---- what the user fixes ----

static int fix_dim(Check *c, Numbers *fixed, const char *name, const char *value)
{
    const Kernel *k = c->job->kernel;
    const char **names = ARENA_ARRAY(c->arena, const char *, k->dims.n + 1);
    Spec s;
    const char *error = NULL;
    if (!spec_parse(c->arena, value, &s, &error) || s.kind != SPEC_NUMBER || !s.is_integer || s.i < 0)
        return complain(EXIT_USAGE, "%s=%s: a dimension is a whole number below 2^63", name, value);
    for (int d = 0; d < k->dims.n; d++) {
        names[d] = k->dims.at[d]->name;
        if (strcmp(names[d], name) == 0) {
            VEC_PUSH(c->arena, &fixed[d], s.i);
            return 0;
        }
    }
    const char *meant = closest_name(name, k->dims.n, names);
    return complain(EXIT_USAGE, "kernel '%s' has no dimension '%s'%s%s%s", k->name, name, meant ? "; did you mean '" : "",
                    meant ? meant : "", meant ? "'?" : "");
}

bool check_is_dim(const Kernel *k, const char *name)
{
    for (int d = 0; d < k->dims.n; d++)
        if (strcmp(k->dims.at[d]->name, name) == 0)
            return true;
    return false;
}

// A value with a shape of its own fixes the dimensions that it binds.
static int fix_shape(Check *c, Numbers *fixed, const Tensor *t, int rank, const int64_t *extent)
{
    const Kernel *k = c->job->kernel;
    if (rank != t->rank)
        return complain(EXIT_USER, "%s has the shape %s, but the kernel takes '%s'", t->name, array_shape_text(c->arena, rank, extent),
                        bind_declaration(c->arena, t));
    for (int d = 0; d < k->dims.n; d++)
        if (k->dims.at[d]->tensor == t)
            VEC_PUSH(c->arena, &fixed[d], extent[k->dims.at[d]->axis]);
    return 0;
}

static int take_value(Check *c, Numbers *fixed, const Binding *b)
{
    const Kernel *k = c->job->kernel;
    const char *error = NULL;
    int i = find_named(k, b->name);
    if (check_is_dim(k, b->name))
        return fix_dim(c, fixed, b->name, b->value);
    if (i < 0)
        return complain(EXIT_USAGE, "kernel '%s' has no input '%s'", k->name, b->name);
    const Tensor *t = k->params.at[i].tensor;
    Spec *s = c->specs[i] = ARENA_NEW(c->arena, Spec);
    if (!spec_parse(c->arena, b->value, s, &error))
        return complain(EXIT_USER, "%s: %s", b->name, error);
    if (s->kind == SPEC_NUMBER && !spec_number_fits(s, t->type))
        return complain(EXIT_USER, "%s=%s does not fit the type %s", t->name, s->text, dtype_name(t->type));
    if (s->kind != SPEC_FILE)
        return s->has_shape ? fix_shape(c, fixed, t, s->rank, s->extent) : 0;
    Array *x = array_read(c->arena, s->text, &error);
    if (!x)
        return complain(EXIT_USER, "%s: %s", t->name, error);
    x = bind_convert(c->arena, x, strstr(s->text, ".npy") == NULL, t->type, &error);
    if (!x)
        return complain(EXIT_USER, "%s: %s %s", t->name, s->text, error);
    c->files[i] = x;
    return fix_shape(c, fixed, t, x->rank, x->extent);
}

static int take_request(Check *c, SizeRequest *request)
{
    const Kernel *k = c->job->kernel;
    int code = 0;
    c->specs = ARENA_ARRAY(c->arena, Spec *, k->params.n + 1);
    c->files = ARENA_ARRAY(c->arena, Array *, k->params.n + 1);
    *request = (SizeRequest){.kernel = k, .edges = c->job->edges, .steps = c->job->steps, .seed = c->job->seed, .nrandom = 24, .doing = c->job->doing};
    request->fixed = ARENA_ARRAY(c->arena, Numbers, k->dims.n + 1);
    for (int d = 0; code == 0 && c->job->dims && d < c->job->dims->n; d++)
        code = fix_dim(c, request->fixed, c->job->dims->at[d].name, c->job->dims->at[d].value);
    for (int v = 0; code == 0 && c->job->values && v < c->job->values->n; v++)
        code = take_value(c, request->fixed, &c->job->values->at[v]);
    return code;
}

// ---- the reference ----

// How many elements the tensors of one size may have. Each is held with its bound and in several layouts: where the
// effort does not limit them, memory does.
static int64_t most_elements(const Check *c)
{
    enum { USUAL = 1 << 24, MOST = 1 << 26, BYTES_EACH = 128 };
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGE_SIZE);
    int64_t room = pages > 0 && bytes > 0 ? (int64_t)pages * bytes / BYTES_EACH : USUAL;
    return !c->insist ? USUAL : room < MOST ? room : MOST;
}

// Before anything is made of them.
static bool arguments_fit(const Check *c, const int64_t *dims)
{
    const Kernel *k = c->job->kernel;
    int64_t sum = 0;
    for (int i = 0; i < k->tensors.n; i++) {
        RefTensor shape;
        bool argument = k->tensors.at[i]->kind == TENSOR_INPUT || k->tensors.at[i]->kind == TENSOR_OUTPUT;
        if (argument && ref_shape(k, k->tensors.at[i], dims, &shape) && __builtin_add_overflow(sum, shape.size, &sum))
            return false;
    }
    return sum <= most_elements(c);
}

static void evaluate(Trial *t)
{
    Check *c = t->check;
    const Kernel *k = c->job->kernel;
    RefTensor **inputs = ARENA_ARRAY(t->arena, RefTensor *, k->params.n + 1);
    for (int i = 0; i < k->params.n; i++) {
        const Array *x = t->inputs[i];
        if (!x)
            continue;
        inputs[i] = ARENA_NEW(t->arena, RefTensor);
        *inputs[i] = (RefTensor){.type = x->type, .rank = x->rank, .size = x->size, .data = x->data};
        RefTensor shape;
        if (ref_shape(k, k->params.at[i].tensor, t->dims, &shape))
            memcpy(inputs[i]->lo, shape.lo, sizeof shape.lo);
        memcpy(inputs[i]->extent, x->extent, sizeof x->extent);
    }
    t->expected = ARENA_ARRAY(t->arena, RefTensor *, k->outputs.n + 1);
    int64_t work = 0;
    int64_t most = t->huge ? WORK_PER_EFFORT / 64 : (int64_t)(c->job->effort * WORK_PER_EFFORT / 4);
    RefOptions options = {.max_work = c->insist ? 0 : most, .max_elements = most_elements(c), .work = &work};
    t->status = ref_eval(t->arena, k, t->dims, inputs, t->expected, &options, &t->fault);
    c->work += work;
}

// ---- one size ----

static bool call_all(Trial *t)
{
    Check *c = t->check;
    t->again = arena_printf(t->arena, "calling a kernel; again: %s", check_again_text(t));
    for (int k = 0; k < c->nsettings; k++)
        if (!check_call(t, k))
            return false;
    return true;
}

static void show_progress(const Check *c)
{
    if (c->job->progress)
        fprintf(c->job->err, "\r\033[Kptoc: checking %s: %" PRId64 " runs", c->job->kernel->name, c->result->runs);
}

static bool reference_is_sound(Trial *t)
{
    if (t->status == REF_OK || ref_is_fault(t->status) || (t->huge && t->status == REF_WHERE))
        return true;
    check_say_start(t->check, t->fault.range.begin ? t->fault.range : t->check->job->kernel->range);
    fprintf(t->check->job->err, "the reference evaluator finds %s: %s [check]\n", ref_status_name(t->status), t->fault.message ? t->fault.message : "");
    check_say_end(t, NULL, LAYOUT_DENSE, LAYOUT_DENSE);
    return false;
}

// The reference could not finish, which says nothing about the kernel.
static bool is_too_much(RefStatus s) { return s == REF_WORK || s == REF_DEPTH || s == REF_MEMORY; }

static bool check_trial(Trial *t)
{
    const char *error = NULL;
    if (!check_make_inputs(t, &error)) {
        t->check->refused = true;
        return complain(EXIT_USER, "%s", error) == 0;
    }
    evaluate(t);
    return is_too_much(t->status) || (reference_is_sound(t) && call_all(t));
}

static bool check_inputs(Check *c, const int64_t *dims, int number, int style, RefStatus *status)
{
    Trial t = {.check = c, .arena = arena_new(), .dims = dims, .number = number, .style = style, .status = REF_WORK};
    bool ok = !arguments_fit(c, dims) || check_trial(&t);
    *status = t.status;
    arena_free(t.arena);
    show_progress(c);
    return ok;
}

// Huge numbers: what an assumption excludes has to be refused, and nothing else may differ. A log may print forever.
static bool check_huge(Check *c, const SizeRequest *request)
{
    SizeList list = c->job->kernel->logs.n == 0 ? sizes_huge(c->arena, request) : (SizeList){0};
    for (int k = 0; k < list.n; k++) {
        Trial t = {.check = c, .arena = arena_new(), .dims = list.at[k], .number = k, .huge = true, .status = REF_WORK};
        bool ok = !arguments_fit(c, t.dims) || check_trial(&t);
        arena_free(t.arena);
        if (!ok)
            return false;
    }
    return true;
}

enum { NSTYLES = 4 };
static const int styles[NSTYLES] = {0, 3, 1, 2};

// Where random values fault, tamer ones are tried as well, so that results are compared too.
static bool check_size(Check *c, const int64_t *dims, int number)
{
    RefStatus status;
    int style = styles[number % NSTYLES];
    if (!check_inputs(c, dims, number, style, &status))
        return false;
    return !ref_is_fault(status) || style == 1 || check_inputs(c, dims, number, 1, &status);
}

// A few sizes only, as when a failure is repeated: every style of inputs with every pairing of layouts and settings.
static bool check_thoroughly(Check *c, const int64_t *dims)
{
    RefStatus status;
    for (int k = 0; k < NSTYLES * LAYOUT_COUNT; k++)
        if (!check_inputs(c, dims, k / NSTYLES, styles[k % NSTYLES], &status))
            return false;
        else if (is_too_much(status))
            break;
    return true;
}

// ---- the whole ----

static bool wants_mode(const CheckJob *j, const char *name) { return !j->mode || strcmp(j->mode, name) == 0; }

static void add_setting(Check *c, pto_mode mode, int threads)
{
    pto_options options = {.threads = threads, .mode = mode};
    Setting s = {.mode = mode, .threads = threads, .context = c->nsettings < MAX_CONTEXTS ? pto_context_new(&options) : NULL};
    pto_model_options model = {.max_cycles = c->job->max_cycles};
    if (s.context && (!model.max_cycles || pto_context_model(s.context, &model) == PTO_OK))
        c->settings[c->nsettings++] = s;
}

// Serial once; every other mode with 1, 2, 3 and all workers. What is modelled runs the same way in all of them: one more will do.
static void make_settings(Check *c)
{
    static const struct { const char *name; pto_mode mode; } modes[] = {
        {"serial", PTO_MODE_SERIAL}, {"static", PTO_MODE_STATIC}, {"dynamic", PTO_MODE_DYNAMIC}, {"wave", PTO_MODE_WAVE}, {"auto", PTO_MODE_AUTO},
    };
    pto_topology topology = {.threads = 1};
    pto_topology_query(NULL, &topology);
    int counts[] = {2, 3, 1, topology.threads};
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        bool serial = modes[m].mode == PTO_MODE_SERIAL, implied = modes[m].mode == PTO_MODE_AUTO && !c->job->mode;
        if (implied || !wants_mode(c->job, modes[m].name) || (c->job->modelled && !c->job->mode && c->nsettings == 2))
            continue;
        if (c->job->threads || serial)
            add_setting(c, modes[m].mode, c->job->threads ? c->job->threads : 1);
        int most = c->job->modelled ? 1 : topology.threads > 3 ? 4 : 3;
        for (int n = 0; !c->job->threads && !serial && n < most; n++)
            add_setting(c, modes[m].mode, counts[n]);
    }
}

static void say_result(const Check *c)
{
    const CheckResult *r = c->result;
    FILE *out = c->job->out;
    check_clear_progress(c);
    if (c->refused || (r->runs == 0 && !r->failed))
        return;
    if (r->failed) {
        fprintf(out, "checked %" PRId64 " runs of %s: %s\n", r->runs, c->job->kernel->name, r->runs > 0 ? "DIFFERENT" : "stopped by an error");
        return;
    }
    fprintf(out, "checked %" PRId64 " runs of %s: all equal", r->runs, c->job->kernel->name);
    if (r->faults > 0)
        fprintf(out, ", %" PRId64 " faulted alike", r->faults);
    if (r->skipped > 0)
        fprintf(out, ", %" PRId64 " size%s skipped as too much work", r->skipped, r->skipped == 1 ? "" : "s");
    if (r->unjudged > 0)
        fprintf(out, ", %.2g%% of the elements not judged", 100.0 * (double)r->unjudged / (double)r->elements);
    fputc('\n', out);
}

// One after the other, as far as the effort goes; false: do not go on.
static bool sweep(Check *c, const SizeList *list)
{
    int64_t budget = (int64_t)(c->job->effort * WORK_PER_EFFORT);
    for (int k = 0; k < list->n; k++) {
        int64_t runs = c->result->runs;
        bool tried = c->work < budget;
        if (tried && (list->n <= 4 ? !check_thoroughly(c, list->at[k]) : !check_size(c, list->at[k], k)))
            return false;
        bool ran = c->result->runs > runs;
        c->result->skipped += tried && !ran;
        VEC_PUSH(c->arena, ran ? &c->done : &c->left, list->at[k]);
    }
    return true;
}

// One set of inputs at sizes that the effort does not cover. Returns an exit code, with everything said.
static int check_anyway(Check *c, const int64_t *dims)
{
    RefStatus status;
    const char *sizes = check_sizes_text(c->arena, c->job->kernel, dims);
    int64_t runs = c->result->runs;
    check_clear_progress(c);
    fprintf(c->job->err, "ptoc: %s with %s is more work than the effort allows; one set of inputs is checked\n", c->job->kernel->name, sizes);
    c->insist = true;
    bool ok = check_inputs(c, dims, 0, styles[0], &status);
    c->insist = false;
    if (!ok)
        return EXIT_USER;
    if (c->result->runs == runs)
        return complain(EXIT_USER, "kernel '%s' cannot be checked with %s: the reference evaluator finds %s", c->job->kernel->name, sizes,
                        status == REF_WORK ? "tensors too large to be held in memory" : ref_status_name(status));
    c->result->skipped -= c->result->skipped > 0;
    VEC_PUSH(c->arena, &c->done, (int64_t *)dims);
    return 0;
}

// Why no plan has the sizes that are asked for, by an example: "with N = 7, `N >= 8` does not hold".
static const char *why_impossible(Check *c, const SizeRequest *request, int dim, int64_t value)
{
    int64_t *dims = sizes_base(c->arena, request);
    if (dim >= 0)
        dims[dim] = value;
    const char *why = sizes_refusal(c->arena, c->job->kernel, dims);
    return arena_printf(c->arena, "with %s, %s", check_sizes_text(c->arena, c->job->kernel, dims), why ? why : "the sizes around do not fit");
}

static int say_impossible(Check *c, const SizeRequest *request)
{
    return complain(EXIT_USER, "kernel '%s' is not checked: no sizes were found that it can be called with; %s (give sizes with --dim)",
                    c->job->kernel->name, why_impossible(c, request, -1, 0));
}

// One of several sizes of a dimension, which may be meant for another kernel of the file.
static void note_impossible(Check *c, const SizeRequest *request, int dim, int64_t value)
{
    const Kernel *k = c->job->kernel;
    check_clear_progress(c);
    fprintf(c->job->err, "ptoc: %s is not checked with %s = %" PRId64 ": %s\n", k->name, k->dims.at[dim]->name, value, why_impossible(c, request, dim, value));
}

static bool has_zero(const Kernel *k, const int64_t *dims)
{
    for (int d = 0; d < k->dims.n; d++)
        if (dims[d] == 0)
            return true;
    return false;
}

// Whether a size that the user asks for has had a run: one with empty tensors says little, if there are others.
static bool has_run(const Check *c, int dim, int64_t value)
{
    const Kernel *k = c->job->kernel;
    const int64_t *done = sizes_smallest(k, &c->done, dim, value), *left = sizes_smallest(k, &c->left, dim, value);
    return done && (!has_zero(k, done) || !left || has_zero(k, left));
}

// Every size that the user asks for has a run, and so has something.
static int check_what_is_asked(Check *c, const SizeRequest *request)
{
    const Kernel *k = c->job->kernel;
    int code = 0;
    for (int d = 0; d < k->dims.n; d++)
        for (int v = 0; v < request->fixed[d].n && !c->result->failed && !c->refused; v++) {
            int64_t value = request->fixed[d].at[v];
            if (has_run(c, d, value))
                continue;
            const int64_t *dims = sizes_smallest(k, &c->left, d, value);
            int one = dims ? check_anyway(c, dims) : 0;
            if (!dims)
                note_impossible(c, request, d, value);
            code = one > code ? one : code;
        }
    return code == 0 && c->done.n == 0 ? check_anyway(c, sizes_smallest(k, &c->left, -1, 0)) : code;
}

static int check_sizes(Check *c, const SizeRequest *request)
{
    SizeList list = sizes_plan(c->arena, request);
    if (list.n == 0)
        return say_impossible(c, request);
    int code = sweep(c, &list) && (c->refused || check_huge(c, request)) ? check_what_is_asked(c, request) : EXIT_USER;
    say_result(c);
    return code;
}

int check_kernel(const CheckJob *job, CheckResult *result)
{
    *result = (CheckResult){.runs = 0};
    Check c = {.job = job, .result = result, .arena = arena_new()};
    SizeRequest request;
    int code = take_request(&c, &request);
    if (code == 0) {
        make_settings(&c);
        code = c.nsettings > 0 ? check_sizes(&c, &request) : complain(EXIT_INTERNAL, "no memory for a context of the runtime");
    }
    for (int k = 0; k < c.nsettings; k++)
        pto_context_free(c.settings[k].context);
    arena_free(c.arena);
    return code;
}
