// Comparing a compiled kernel with the reference evaluator; see check.h.
#include "cli/check.h"

#include "cli/check_tile.h"
#include "cli/guard.h"
#include "cli/unit.h"
#include "data/element.h"
#include "reference/eval.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { MAX_CONTEXTS = 24, WORK_PER_EFFORT = 4000000 };

typedef struct { pto_mode mode; int threads; pto_context *context; } Setting;

typedef struct {
    const CheckJob *job;
    CheckResult *result;
    Arena *arena;                // of the whole check
    Spec **specs;                // by parameter: what the user gave, or NULL
    Array **files;               // by parameter: the array of a file
    int nsettings;
    Setting settings[MAX_CONTEXTS];
    int64_t work;
    bool insist;                 // whatever the effort
    bool refused;                // a value does not fit: said
    SizeList done, left;         // sizes at which the kernel ran, and others
} Check;

// One size: everything in `arena` ends with it.
typedef struct {
    Check *check;
    Arena *arena;
    const int64_t *dims;
    int number, style;
    Array **inputs;              // by parameter; NULL for `int` parameters
    RefTensor **expected;
    RefStatus status;
    RefFault fault;
    Array **first;               // results of the first call, for the comparison of bits
    const char *again;           // "calling f; again: ptoc check ..."
} Trial;

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
        return complain(EXIT_USAGE, "%s=%s: a dimension is a whole number", name, value);
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

static bool is_dim(const Kernel *k, const char *name)
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
    if (is_dim(k, b->name))
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
    *request = (SizeRequest){.kernel = k, .edges = c->job->edges, .seed = c->job->seed, .nrandom = 24};
    request->fixed = ARENA_ARRAY(c->arena, Numbers, k->dims.n + 1);
    for (int d = 0; code == 0 && c->job->dims && d < c->job->dims->n; d++)
        code = fix_dim(c, request->fixed, c->job->dims->at[d].name, c->job->dims->at[d].value);
    for (int v = 0; code == 0 && c->job->values && v < c->job->values->n; v++)
        code = take_value(c, request->fixed, &c->job->values->at[v]);
    return code;
}

// ---- inputs ----

// The range of values of an integer input that is used as a subscript.
typedef struct { const Tensor *tensor; const int64_t *dims; const Expr *read; bool inside; int64_t low, high; } IndexUse;

static void use_subscript(IndexUse *u, const Expr *read, int d)
{
    int64_t lo, hi;
    if (!ref_dim_expr(read->tensor->lo[d], u->dims, &lo) || !ref_dim_expr(read->tensor->hi[d], u->dims, &hi))
        return;
    u->low = !u->inside || lo > u->low ? lo : u->low;
    u->high = !u->inside || hi < u->high ? hi : u->high;
    u->inside = true;
}

static bool is_read_of(Expr *e, void *data)
{
    IndexUse *u = data;
    if (e->op == OP_READ && e->tensor == u->tensor)
        u->read = e;
    return true;
}

static bool visit_read(Expr *e, void *data)
{
    IndexUse *u = data;
    for (int d = 0; e->op == OP_READ && d < e->n; d++) {
        IndexUse inner = {.tensor = u->tensor};
        expr_walk(e->args[d], is_read_of, &inner);
        if (inner.read)
            use_subscript(u, e, d);
    }
    return true;
}

static IndexUse index_use(const Kernel *k, const Tensor *t, const int64_t *dims)
{
    IndexUse u = {.tensor = t, .dims = dims};
    for (int q = 0; q < k->equations.n && dtype_is_int(t->type); q++)
        expr_walk(k->equations.at[q]->rhs, visit_read, &u);
    return u;
}

// Every tenth element becomes one of the values that are handled badly most often.
static void sprinkle(Array *x, uint64_t seed)
{
    static const double specials[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0};
    for (int64_t k = 0; k < x->size; k++) {
        uint64_t r = (seed + (uint64_t)k) * 0x9e3779b97f4a7c15u;
        r ^= r >> 29;
        void *p = (char *)x->data + k * dtype_bytes(x->type);
        if (r % 10 != 0)
            continue;
        if (dtype_is_float(x->type))
            element_store_float(x->type, p, specials[r / 10 % 5]);
        else
            element_store_int(x->type, p, r & 16 ? element_min(x->type) : element_max(x->type));
    }
}

// A square matrix made symmetric with a heavy diagonal: what factorisations and solvers want.
static void make_definite(Array *x)
{
    int64_t n = x->extent[0];
    int bytes = dtype_bytes(x->type);
    char *data = x->data;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++)
            memcpy(data + (i * n + j) * bytes, data + (j * n + i) * bytes, (size_t)bytes);
        char *diagonal = data + (i * n + i) * bytes;
        element_store_float(x->type, diagonal, element_load_float(x->type, diagonal) + (double)n);
    }
}

// Styles: 0 as `random`; 1 positive, square matrices definite; 2 as random with special values; 3 small whole numbers.
static void fill_input(Trial *t, const Tensor *tensor, Array *x, uint64_t seed)
{
    IndexUse use = index_use(t->check->job->kernel, tensor, t->dims);
    bool is_float = dtype_is_float(x->type);
    if (use.inside)
        spec_random(x, seed, true, (double)use.low, (double)(use.high > use.low ? use.high : use.low + 1));
    else if (t->style == 1 || (tensor->rank == 0 && is_float))
        spec_random(x, seed, true, is_float ? 0.25 : 1, is_float ? 1 : 9);
    else if (t->style == 3 && is_float)
        spec_random(x, seed, true, -4, 4);
    else
        spec_random(x, seed, false, 0, 0);
    if (t->style == 3 && is_float && !use.inside && tensor->rank > 0)
        for (int64_t k = 0; k < x->size; k++) {
            void *p = (char *)x->data + k * dtype_bytes(x->type);
            element_store_float(x->type, p, floor(element_load_float(x->type, p)));
        }
    if (t->style == 1 && is_float && tensor->rank == 2 && x->extent[0] == x->extent[1])
        make_definite(x);
    if (t->style == 2 && !use.inside && tensor->rank > 0)
        sprinkle(x, seed);
}

static Array *make_input(Trial *t, int i, const char **error)
{
    Check *c = t->check;
    const Tensor *tensor = c->job->kernel->params.at[i].tensor;
    RefTensor shape;
    if (c->files[i])
        return c->files[i];
    if (!ref_shape(c->job->kernel, tensor, t->dims, &shape))
        return *error = "its shape cannot be computed", NULL;
    if (c->specs[i] && c->specs[i]->kind != SPEC_RANDOM)
        return spec_make(t->arena, c->specs[i], tensor->type, tensor->rank, shape.extent, error);
    Array *x = array_new(t->arena, tensor->type, tensor->rank, shape.extent, error);
    uint64_t seed = c->job->seed * 1000003 + (uint64_t)t->style * 101 + (uint64_t)i;
    for (int d = 0; d < c->job->kernel->dims.n; d++)
        seed = seed * 1000003 + (uint64_t)t->dims[d];
    if (x && c->specs[i] && c->specs[i]->has_range)
        spec_random(x, seed, true, c->specs[i]->low, c->specs[i]->high);
    else if (x)
        fill_input(t, tensor, x, seed);
    return x;
}

static bool make_inputs(Trial *t, const char **error)
{
    const Kernel *k = t->check->job->kernel;
    t->inputs = ARENA_ARRAY(t->arena, Array *, k->params.n + 1);
    for (int i = 0; i < k->params.n; i++) {
        if (!k->params.at[i].tensor)
            continue;
        t->inputs[i] = make_input(t, i, error);
        if (!t->inputs[i]) {
            *error = arena_printf(t->arena, "%s: %s", k->params.at[i].tensor->name, *error);
            return false;
        }
    }
    return true;
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
    RefOptions options = {.max_work = c->insist ? 0 : c->job->effort * WORK_PER_EFFORT / 4, .max_elements = most_elements(c), .work = &work};
    t->status = ref_eval(t->arena, k, t->dims, inputs, t->expected, &options, &t->fault);
    c->work += work;
}

// ---- messages ----

// Progress is on the terminal's last line.
static void clear_progress(const Check *c)
{
    if (c->job->progress)
        fputs("\r\033[K", c->job->err);
}

static void say_start(Check *c, Range range)
{
    const CheckJob *j = c->job;
    Position p = {.file = NULL};
    clear_progress(c);
    if (j->sources)
        p = source_position(j->sources, range.begin);
    if (p.file)
        fprintf(j->err, "%s:%d:%d: error: ", p.file->path, p.line, p.column);
    else
        fprintf(j->err, "ptoc: error: ");
}

static const char *sizes_text(Arena *a, const Kernel *k, const int64_t *dims)
{
    const char *s = "";
    for (int d = 0; d < k->dims.n; d++)
        s = arena_printf(a, "%s%s%s = %" PRId64, s, d ? ", " : "", k->dims.at[d]->name, dims[d]);
    return *s ? s : "no dimensions";
}

static const char *again_text(Trial *t)
{
    const CheckJob *j = t->check->job;
    const char *s = arena_printf(t->arena, "ptoc check %s -k %s --target=%s", j->file, j->kernel->name, j->target);
    for (int d = 0; d < j->kernel->dims.n; d++)
        s = arena_printf(t->arena, "%s --dim %s=%" PRId64, s, j->kernel->dims.at[d]->name, t->dims[d]);
    for (int v = 0; j->values && v < j->values->n; v++)
        if (!is_dim(j->kernel, j->values->at[v].name))
            s = arena_printf(t->arena, "%s '%s=%s'", s, j->values->at[v].name, j->values->at[v].value);
    return arena_printf(t->arena, "%s --seed %" PRIu64, s, j->seed);
}

// How the call was made, and how to repeat it.
static void say_end(Trial *t, const Setting *s, Layout in, Layout out)
{
    static const char *const modes[] = {
        [PTO_MODE_AUTO] = "auto", [PTO_MODE_SERIAL] = "serial", [PTO_MODE_STATIC] = "static", [PTO_MODE_DYNAMIC] = "dynamic", [PTO_MODE_WAVE] = "wave",
    };
    const CheckJob *j = t->check->job;
    fprintf(j->err, "  with %s", sizes_text(t->arena, j->kernel, t->dims));
    if (s)
        fprintf(j->err, "; mode %s, %d worker%s; inputs: %s, outputs: %s", modes[s->mode], s->threads, s->threads == 1 ? "" : "s",
                layout_name(in), layout_name(out));
    fprintf(j->err, "\n  again: %s\n", again_text(t));
    t->check->result->failed = true;
}

static const char *element_text(Arena *a, DType type, const void *p)
{
    if (dtype_is_float(type)) {
        double v = element_load_float(type, p);
        return isnan(v) ? "NaN" : arena_printf(a, type == DT_F64 ? "%.17g" : "%.9g", v);
    }
    int64_t v = element_load_int(type, p);
    return type == DT_U64 ? arena_printf(a, "%" PRIu64, (uint64_t)v) : arena_printf(a, "%" PRId64, v);
}

static const char *place_text(Arena *a, const RefTensor *x, const char *name, int64_t k)
{
    int64_t at[REF_MAX_RANK];
    const char *s = name;
    ref_unflatten(x, k, at);
    for (int d = 0; d < x->rank; d++)
        s = arena_printf(a, "%s%s%" PRId64, s, d ? ", " : "[", at[d]);
    return x->rank ? arena_printf(a, "%s]", s) : s;
}

// Where an element comes from: "; equation y, in tile (2, 0) of 64 x 32 over i, j"; and the position of its equation.
static const char *origin_text(Trial *t, int o, int64_t k, Range *range)
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

static void say_difference(Trial *t, int o, int64_t k, const void *actual, int64_t count)
{
    const CheckJob *j = t->check->job;
    const Tensor *tensor = j->kernel->outputs.at[o];
    const RefTensor *x = t->expected[o];
    Range range;
    const char *origin = origin_text(t, o, k, &range);
    say_start(t->check, range);
    const char *expected = element_text(t->arena, x->type, (const char *)x->data + k * dtype_bytes(x->type));
    fprintf(j->err, "%s is %s, but %s by definition", place_text(t->arena, x, tensor->name, k), element_text(t->arena, x->type, actual), expected);
    if (x->err && x->err[k] > 0)
        fprintf(j->err, " (and may differ by %.3g)", x->err[k]);
    fprintf(j->err, "%s [check]\n", origin);
    if (count > 1)
        fprintf(j->err, "  %" PRId64 " of %" PRId64 " elements of %s differ\n", count, x->size, tensor->name);
}

// ---- one call ----

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

// The memory that the kernel is about to get, full of NaN.
static void poison_workspace(CallState *s)
{
    const pto_kernel *code = s->trial->check->job->code;
    pto_context *context = s->setting->context;
    size_t bytes = code->workspace ? code->workspace(context, s->args) : 0;
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
        say_start(t->check, tensor->range);
        fprintf(t->check->job->err, "the kernel wrote outside %s '%s' [check]\n", is_input ? "its outputs, into" : "the elements of", tensor->name);
        say_end(t, s->setting, s->in, s->out);
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
            say_difference(t, o, first, guarded_at(g, first), count);
            say_end(t, s->setting, s->in, s->out);
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
                const char *origin = origin_text(t, o, i, &range);
                say_start(t->check, range);
                fprintf(t->check->job->err, "%s depends on mode, workers or layout: %s, and %s before%s [check]\n",
                        place_text(t->arena, x, k->outputs.at[o]->name, i), element_text(t->arena, x->type, guarded_at(g, i)),
                        element_text(t->arena, x->type, old), origin);
                say_end(t, s->setting, s->in, s->out);
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
    if ((status == PTO_OK) == (t->status == REF_OK)) {
        t->check->result->faults += status != PTO_OK;
        return true;
    }
    if (status == PTO_OK) {
        say_start(t->check, t->fault.range);
        fprintf(err, "the kernel succeeds, but there is %s: %s [check]\n", ref_status_name(t->status), t->fault.message);
    } else {
        say_start(t->check, t->check->job->kernel->range);
        fprintf(err, "the kernel fails, but every output is defined: %s (%s) [check]\n", pto_context_error(s->setting->context), pto_status_name(status));
    }
    say_end(t, s->setting, s->in, s->out);
    return false;
}

static bool call_is_right(CallState *s)
{
    const CheckJob *j = s->trial->check->job;
    make_buffers(s);
    poison_workspace(s);
    options_doing(j->doing, s->trial->again);
    pto_status status = j->code->call(s->setting->context, s->args);
    options_doing(j->doing, "");
    s->trial->check->result->runs++;
    if (!canaries_live(s) || !status_agrees(s, status))
        return false;
    return status != PTO_OK || (outputs_agree(s) && bits_agree(s));
}

static bool call_once(Trial *t, int k)
{
    const Setting *setting = &t->check->settings[k];
    CallState s = {.trial = t, .arena = arena_new(), .setting = setting,
                   .in = (Layout)((k + t->number) % LAYOUT_COUNT), .out = (Layout)((k + 2 * t->number) % LAYOUT_COUNT)};
    bool right = call_is_right(&s);
    arena_free(s.arena);
    return right;
}

// ---- one size ----

static bool call_all(Trial *t)
{
    Check *c = t->check;
    t->again = arena_printf(t->arena, "calling a kernel; again: %s", again_text(t));
    for (int k = 0; k < c->nsettings; k++)
        if (!call_once(t, k))
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
    if (t->status == REF_OK || ref_is_fault(t->status))
        return true;
    say_start(t->check, t->fault.range.begin ? t->fault.range : t->check->job->kernel->range);
    fprintf(t->check->job->err, "the reference evaluator finds %s: %s [check]\n", ref_status_name(t->status), t->fault.message ? t->fault.message : "");
    say_end(t, NULL, LAYOUT_DENSE, LAYOUT_DENSE);
    return false;
}

// The reference could not finish, which says nothing about the kernel.
static bool is_too_much(RefStatus s) { return s == REF_WORK || s == REF_DEPTH || s == REF_MEMORY; }

static bool check_trial(Trial *t)
{
    const char *error = NULL;
    if (!make_inputs(t, &error)) {
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
    if (s.context)
        c->settings[c->nsettings++] = s;
}

// Serial once; every other mode with 1, 2, 3 and all workers.
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
        if (implied || !wants_mode(c->job, modes[m].name))
            continue;
        if (c->job->threads || serial)
            add_setting(c, modes[m].mode, c->job->threads ? c->job->threads : 1);
        for (int n = 0; !c->job->threads && !serial && n < (topology.threads > 3 ? 4 : 3); n++)
            add_setting(c, modes[m].mode, counts[n]);
    }
}

static void say_result(const Check *c)
{
    const CheckResult *r = c->result;
    FILE *out = c->job->out;
    clear_progress(c);
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
    int64_t budget = c->job->effort * WORK_PER_EFFORT;
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
    const char *sizes = sizes_text(c->arena, c->job->kernel, dims);
    int64_t runs = c->result->runs;
    clear_progress(c);
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
    return arena_printf(c->arena, "with %s, %s", sizes_text(c->arena, c->job->kernel, dims), why ? why : "the sizes around do not fit");
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
    clear_progress(c);
    fprintf(c->job->err, "ptoc: %s is not checked with %s = %" PRId64 ": %s\n", k->name, k->dims.at[dim]->name, value, why_impossible(c, request, dim, value));
}

// Every size that the user asks for has a run, and so has something.
static int check_what_is_asked(Check *c, const SizeRequest *request)
{
    const Kernel *k = c->job->kernel;
    int code = 0;
    for (int d = 0; d < k->dims.n; d++)
        for (int v = 0; v < request->fixed[d].n && !c->result->failed && !c->refused; v++) {
            int64_t value = request->fixed[d].at[v];
            if (sizes_smallest(k, &c->done, d, value))
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
    int code = sweep(c, &list) ? check_what_is_asked(c, request) : EXIT_USER;
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
