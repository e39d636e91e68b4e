// The reference evaluator; see eval.h.
//
// An element is absent, pending (being computed: reading it again is a cycle), done, or poison (it could not be
// computed). Poison travels as a value, so that a fault counts only where an output needs it.
#include "reference/eval.h"

#include "base/sanitize.h"
#include "data/element.h"
#include "reference/run.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_FAULTS = 256, STACK_MARGIN = 512 << 10 };

const char *ref_status_name(RefStatus s)
{
    switch (s) {
    case REF_OK: return "ok";
    case REF_FAULT_BOUNDS: return "a read out of bounds";
    case REF_FAULT_DIVIDE: return "an integer division by zero";
    case REF_FAULT_EMPTY: return "an arg-reduction over nothing";
    case REF_FAULT_OVERFLOW: return "index arithmetic that leaves 64 bits";
    case REF_WHERE: return "an assumption that does not hold";
    case REF_SHAPE: return "a shape that does not fit";
    case REF_GAP: return "an element that nothing defines";
    case REF_OVERLAP: return "an element that is defined twice";
    case REF_UNFIT: return "an index that does not fit";
    case REF_CYCLE: return "an element that needs itself";
    case REF_DEPTH: return "a recursion that is too deep";
    case REF_WORK: return "more work than allowed";
    case REF_MEMORY: return "not enough memory";
    }
    return "?";
}

bool ref_is_fault(RefStatus s)
{
    return s == REF_FAULT_BOUNDS || s == REF_FAULT_DIVIDE || s == REF_FAULT_EMPTY || s == REF_FAULT_OVERFLOW;
}

// ---- faults ----

static const char *element_name(Run *r, const Cells *c, int64_t offset)
{
    int64_t at[REF_MAX_RANK];
    ref_unflatten(c->data, offset, at);
    const char *s = c->tensor->name;
    for (int k = 0; k < c->data->rank; k++)
        s = arena_printf(r->arena, "%s%s%lld", s, k ? ", " : "[", (long long)at[k]);
    return c->data->rank ? arena_printf(r->arena, "%s]", s) : s;
}

Value run_fault(Run *r, RefStatus status, const Expr *e, const char *fmt, ...)
{
    if (r->faults.n >= MAX_FAULTS) {
        for (int k = 0; k < r->faults.n; k++)
            if (r->faults.at[k].status == status)
                return value_poison(k);
        return value_poison(MAX_FAULTS - 1);
    }
    RefFault fault = {.status = status, .range = e ? e->range : (Range){0}};
    va_list ap;
    va_start(ap, fmt);
    fault.message = arena_vprintf(r->arena, fmt, ap);
    va_end(ap);
    if (r->frame) {
        fault.tensor = r->frame->cells->tensor;
        fault.equation = r->frame->definition ? r->frame->definition->equation : NULL;
        ref_unflatten(r->frame->cells->data, r->frame->offset, fault.at);
        fault.message = arena_printf(r->arena, "%s, in %s", fault.message,
                                     element_name(r, r->frame->cells, r->frame->offset));
    }
    VEC_PUSH(r->arena, &r->faults, fault);
    return value_poison(r->faults.n - 1);
}

// Turns the poison of an operation into a recorded fault.
static Value settle(Run *r, const Node *n, Value v)
{
    if (!value_is_poison(v) || v.i >= 0)
        return v;
    if (v.i == -REF_FAULT_DIVIDE)
        return run_fault(r, REF_FAULT_DIVIDE, n->expr, "integer division by zero");
    if (v.i == -REF_FAULT_OVERFLOW)
        return run_overflow(r, n);
    return run_fault(r, REF_FAULT_EMPTY, n->expr, "'%s' over an empty range", n->loop ? reduce_name(n->loop->nest->op) : "arg");
}

Value run_overflow(Run *r, const Node *n)
{
    r->lost = true;
    return run_fault(r, REF_FAULT_OVERFLOW, n->expr, "%s does not fit 64 bits", expr_text(r->arena, n->expr));
}

bool run_work(Run *r, int64_t amount)
{
    r->work += amount;
    if (r->work <= r->max_work)
        return true;
    r->stopped = true;
    return false;
}

// ---- elements ----

static Value load(const RefTensor *t, int64_t offset)
{
    Value v;
    switch (t->type) {
    case DT_F32: v.f = (double)((const float *)t->data)[offset]; break;
    case DT_F64: v.f = ((const double *)t->data)[offset]; break;
    case DT_F16: case DT_BF16: v.f = element_load_float(t->type, (const char *)t->data + 2 * offset); break;
    default: v.i = element_load_int(t->type, (const char *)t->data + offset * dtype_bytes(t->type));
    }
    v.err = t->err ? t->err[offset] : 0;
    return v;
}

static void store(RefTensor *t, int64_t offset, Value v)
{
    if (value_is_poison(v)) {
        t->state[offset] = REF_POISON;
        t->err[offset] = (double)v.i;
        return;
    }
    void *p = (char *)t->data + offset * dtype_bytes(t->type);
    if (dtype_is_float(t->type))
        element_store_float(t->type, p, v.f);
    else
        element_store_int(t->type, p, v.i);
    if (v.err != 0)
        t->err[offset] = v.err;
    t->state[offset] = REF_DONE;
}

static Value cycle(Run *r, const Cells *c, int64_t offset)
{
    const char *through = "";
    int shown = 0;
    for (const Frame *f = r->frame; f && !(f->cells == c && f->offset == offset) && shown < 4; f = f->up, shown++)
        through = arena_printf(r->arena, " <- %s%s", element_name(r, f->cells, f->offset), through);
    return run_fault(r, REF_CYCLE, NULL, "%s needs itself (%s%s%s)", element_name(r, c, offset), element_name(r, c, offset),
                     shown == 4 ? " <- ..." : "", through);
}

static Value element(Run *r, Cells *c, int64_t offset);

static Value define(Run *r, Cells *c, int64_t offset)
{
    RefStatus status;
    int64_t env[c->nslots + c->data->rank + 1], *at = env + c->nslots;
    ref_unflatten(c->data, offset, at);
    r->lost = false;
    Definition *d = run_find(r, c, at, offset, env, &status);
    if (d) {
        r->frame->definition = d;
        return run_eval(r, d->rhs, env);
    }
    if (status == REF_OVERLAP)
        return run_fault(r, REF_OVERLAP, NULL, "two equations define it");
    if (r->lost)
        return run_fault(r, REF_FAULT_OVERFLOW, NULL, "a range or condition of its equations does not fit 64 bits");
    if (c->init)
        return element(r, c->init, offset);
    return run_fault(r, REF_GAP, NULL, "no equation defines it");
}

static __attribute__((noinline)) Value compute(Run *r, Cells *c, int64_t offset)
{
    RefTensor *t = c->data;
    if ((char *)__builtin_frame_address(0) < r->stack_end + STACK_MARGIN)
        return run_fault(r, REF_DEPTH, NULL, "the elements that it needs form too long a chain");
    if (!run_work(r, 1))
        return value_poison(0);
    Frame frame = {.up = r->frame, .cells = c, .offset = offset};
    r->frame = &frame;
    t->state[offset] = REF_PENDING;
    Value v = define(r, c, offset);
    store(t, offset, v);
    r->frame = frame.up;
    return v;
}

static Value element(Run *r, Cells *c, int64_t offset)
{
    RefTensor *t = c->data;
    if (!t->state || t->state[offset] == REF_DONE)
        return load(t, offset);
    switch ((RefState)t->state[offset]) {
    case REF_POISON: return value_poison((int64_t)t->err[offset]);
    case REF_PENDING: return cycle(r, c, offset);
    case REF_ABSENT: case REF_DONE: break;
    }
    return compute(r, c, offset);
}

// ---- reads ----

static RefWide mod_floor(RefWide x, RefWide m) { return (x % m + m) % m; }

// The position inside that a border sends `x` (relative to the low end) to; extent > 0.
static RefWide bordered(BorderKind kind, RefWide x, int64_t extent)
{
    switch (kind) {
    case BORDER_CLAMP: return x < 0 ? 0 : extent - 1;
    case BORDER_WRAP: return mod_floor(x, extent);
    case BORDER_REFLECT:
        if (extent == 1)
            return 0;
        x = mod_floor(x, 2 * (RefWide)extent - 2);
        return x < extent ? x : 2 * (RefWide)extent - 2 - x;
    case BORDER_NONE: case BORDER_ZERO: case BORDER_CONST: break;
    }
    return -1;
}

static Value out_of_bounds(Run *r, const Node *n, int dim, RefWide x)
{
    const RefTensor *t = n->cells->data;
    return run_fault(r, REF_FAULT_BOUNDS, n->expr, "a read of '%s' at %lld in dimension %d, outside %lld..%lld",
                     n->cells->tensor->name, (long long)(x > INT64_MAX ? INT64_MAX : x), dim, (long long)t->lo[dim], (long long)(t->lo[dim] + t->extent[dim]));
}

// A read with a subscript outside: a constant border wins in whatever dimension, else each border moves its own.
static __attribute__((noinline)) Value read_outside(Run *r, const Node *n, const RefWide *at)
{
    const Cells *c = n->cells;
    const RefTensor *t = c->data;
    int64_t offset = 0;
    int bad = -1;
    for (int k = 0; k < t->rank; k++) {
        RefWide x = at[k] - t->lo[k];
        bool inside = x >= 0 && x < t->extent[k];
        BorderKind kind = c->tensor->border ? c->tensor->border[k].kind : BORDER_NONE;
        if (!inside && (kind == BORDER_ZERO || kind == BORDER_CONST))
            return c->border[k];
        if (!inside)
            x = t->extent[k] > 0 ? bordered(kind, x, t->extent[k]) : -1;
        if (x < 0 && bad < 0)
            bad = k;
        offset = bad >= 0 ? 0 : offset * t->extent[k] + (int64_t)x;
    }
    return bad >= 0 ? out_of_bounds(r, n, bad, at[bad]) : element(r, n->cells, offset);
}

static __attribute__((noinline)) Value read_slow(Run *r, const Node *n, int64_t *env)
{
    const RefTensor *t = n->cells->data;
    RefWide at[REF_MAX_RANK];
    int64_t offset = 0;
    bool outside = false, uncertain = false;
    for (int k = 0; k < t->rank; k++) {
        Value v = run_eval(r, n->args[k], env);
        if (value_is_poison(v))
            return v;
        at[k] = v.i;
        if (n->args[k]->type == DT_U64)
            at[k] = (uint64_t)v.i;
        uncertain |= v.err > 0;
        RefWide x = at[k] - t->lo[k];
        outside |= x < 0 || x >= t->extent[k];
        offset = outside ? 0 : offset * t->extent[k] + (int64_t)x;
    }
    Value v = outside ? read_outside(r, n, at) : element(r, n->cells, offset);
    if (uncertain && !value_is_poison(v))
        v.err = INFINITY;
    return v;
}

bool run_linear(const Node *n, const int64_t *env, int64_t *value)
{
    RefWide x = n->constant;
    bool fits = true;
    for (int k = 0; k < n->n; k++) {
        int64_t term;
        fits &= !__builtin_mul_overflow(n->terms[k].factor, env[n->terms[k].slot], &term);
        x += term;
    }
    *value = (int64_t)x;
    return fits && *value == x;
}

// Reads with linear subscripts inside the shape; anything else goes the long way.
static Value read(Run *r, const Node *n, int64_t *env)
{
    const RefTensor *t = n->cells->data;
    uint64_t offset = 0;
    for (int k = 0; k < t->rank; k++) {
        if (!n->args[k]->linear)
            return read_slow(r, n, env);
        int64_t at;
        bool fits = run_linear(n->args[k], env, &at);
        uint64_t x = (uint64_t)at - (uint64_t)t->lo[k];
        if (!fits || x >= (uint64_t)t->extent[k])
            return read_slow(r, n, env);
        offset = offset * (uint64_t)t->extent[k] + x;
    }
    return element(r, n->cells, (int64_t)offset);
}

// ---- expressions ----

static Value logic(Run *r, const Node *n, int64_t *env)
{
    Value a = run_eval(r, n->args[0], env);
    if (value_is_poison(a) || (!a.i == (n->op == OP_AND)))
        return a;
    Value b = run_eval(r, n->args[1], env);
    if (!value_is_poison(b))
        b.err = a.err > 0 ? (b.i == (n->op == OP_OR) && b.err == 0 ? 0 : 1) : b.err;
    return b;
}

// Where the condition is on the edge, compiled code may take the other branch: the result is as uncertain as the
// branches differ.
static __attribute__((noinline)) Value select_uncertain(Run *r, const Node *n, int64_t *env, Value taken, bool first)
{
    Value other = run_eval(r, n->args[first ? 2 : 1], env);
    if (value_is_poison(taken))
        return taken;
    if (value_is_poison(other)) {
        taken.err = INFINITY;
        return taken;
    }
    bool real = dtype_is_float(n->type), same = real ? taken.f == other.f || (isnan(taken.f) && isnan(other.f)) : taken.i == other.i;
    double apart = same ? 0 : real ? fabs(taken.f - other.f) : fabs((double)taken.i - (double)other.i);
    taken.err = isnan(apart) ? INFINITY : fmax(taken.err, other.err) + apart;      // not NaN, which would be poison
    return taken;
}

static Value select_branch(Run *r, const Node *n, int64_t *env)
{
    Value c = run_eval(r, n->args[0], env);
    if (value_is_poison(c))
        return c;
    Value v = run_eval(r, n->args[c.i ? 1 : 2], env);
    return c.err > 0 ? select_uncertain(r, n, env, v, c.i != 0) : v;
}

// What is to fit was proved to, or refused on entry: to find it wrapped here is an error of the compiler.
static Value convert(Run *r, const Node *n, Value a)
{
    Value v = value_convert(n->type, n->operand, a);
    if ((n->expr->outside & EXPR_FITS) && n->operand == DT_INDEX && !dtype_is_float(n->type) && (v.i != a.i || (n->type == DT_U64 && a.i < 0)))
        return run_fault(r, REF_UNFIT, n->expr, "%lld does not fit in %s", (long long)a.i, dtype_name(n->type));
    return v;
}

// IR that the compiler has prepared says where faults count.
static Value settled_fault(Run *r, const Node *n, int64_t *env)
{
    Value a = run_eval(r, n->args[0], env);
    if (n->op == OP_QUIET) {
        bool fault = value_is_poison(a) && a.i >= 0 && a.i < r->faults.n && ref_is_fault(r->faults.at[a.i].status);
        return !fault ? a : dtype_is_float(n->type) ? value_float(0) : value_int(0);
    }
    if (value_is_poison(a) || a.i <= 0)
        return value_is_poison(a) ? a : run_eval(r, n->args[1], env);
    bool divides = fault_kind(a.i) == FAULT_DIVIDE;
    return run_fault(r, divides ? REF_FAULT_DIVIDE : REF_FAULT_BOUNDS, n->expr, divides ? "integer division by zero" : "a read out of bounds");
}

static __attribute__((noinline)) Value operate(Run *r, const Node *n, int64_t *env)
{
    Value a = run_eval(r, n->args[0], env);
    if (value_is_poison(a))
        return a;
    if (n->op == OP_CONVERT)
        return convert(r, n, a);
    if (n->n == 1)
        return settle(r, n, value_unary(n->op, n->operand, a, r->function_error));
    Value b = run_eval(r, n->args[1], env);
    if (value_is_poison(b))
        return b;
    if (expr_is_mixed(n->expr)) {
        bool flipped = n->args[0]->type == DT_INDEX;
        return value_compare_index(n->op, n->args[flipped]->type, flipped ? b : a, flipped ? a.i : b.i, flipped);
    }
    if (n->n == 2)
        return settle(r, n, value_binary(n->op, n->operand, a, b, r->function_error));
    Value c = run_eval(r, n->args[2], env);
    return value_is_poison(c) ? c : value_fma(n->type, a, b, c);
}

// + - * of f32 and f64 without errors, the bulk of all work.
static Value arithmetic(Run *r, const Node *n, int64_t *env)
{
    Value a = run_eval(r, n->args[0], env);
    if (value_is_poison(a))
        return a;
    Value b = run_eval(r, n->args[1], env);
    if (value_is_poison(b))
        return b;
    bool simple = (n->type == DT_F32 || n->type == DT_F64) && a.err == 0 && b.err == 0;
    if (!simple)
        return settle(r, n, value_binary(n->op, n->type, a, b, r->function_error));
    double x = n->op == OP_ADD ? a.f + b.f : n->op == OP_SUB ? a.f - b.f : a.f * b.f;
    return value_float(n->type == DT_F32 ? (double)(float)x : x);
}

Value run_eval(Run *r, const Node *n, int64_t *env)
{
    int64_t value;
    if (n->linear)
        return run_linear(n, env, &value) ? value_int(value) : run_overflow(r, n);
    switch (n->op) {
    case OP_CONST: return n->value;
    case OP_READ: return read(r, n, env);
    case OP_ADD: case OP_SUB: case OP_MUL: return arithmetic(r, n, env);
    case OP_SELECT: return select_branch(r, n, env);
    case OP_AND: case OP_OR: return logic(r, n, env);
    case OP_REDUCE: return settle(r, n, run_reduce(r, n, env));
    case OP_SCAN: return settle(r, n, run_scan(r, n, env));
    case OP_QUIET: case OP_CHECK: return settled_fault(r, n, env);
    default: return operate(r, n, env);
    }
}

int64_t run_index(Run *r, const Node *n, int64_t *env, bool *ok)
{
    Value v = run_eval(r, n, env);
    *ok = *ok && !value_is_poison(v);
    return value_is_poison(v) ? 0 : v.i;
}

// ---- the run ----

// The most telling poison of an output: what is wrong with the program or the run before what is wrong with the data.
static void judge_output(Run *r, const Cells *c, RefFault *fault)
{
    for (int64_t k = 0; k < c->data->size; k++) {
        if (c->data->state[k] != REF_POISON)
            continue;
        const RefFault *f = &r->faults.at[(int)c->data->err[k]];
        if (r->status == REF_OK || (ref_is_fault(r->status) && !ref_is_fault(f->status))) {
            r->status = f->status;
            *fault = *f;
        }
    }
}

static void evaluate(Run *r, RefFault *fault)
{
    const Kernel *k = r->kernel;
    for (int o = 0; o < k->outputs.n; o++) {
        Cells *c = &r->cells[k->outputs.at[o]->id];
        r->outputs[o] = c->data;
        for (int64_t i = 0; i < c->data->size && !r->stopped; i++)
            element(r, c, i);
    }
    for (int o = 0; o < k->outputs.n && !r->stopped; o++)
        judge_output(r, &r->cells[k->outputs.at[o]->id], fault);
    if (r->stopped) {
        r->status = REF_WORK;
        *fault = (RefFault){.status = REF_WORK, .message = "the reference evaluator gave up: too much work"};
    }
}

typedef struct { Run *run; RefFault *fault; } Job;

static void *evaluate_on_thread(void *data)
{
    Job *job = data;
    evaluate(job->run, job->fault);
    return NULL;
}

#if UNDER_TSAN
#define LARGEST_STACK ((size_t)6 << 20)      // TSan keeps at most 65536 frames
#elif UNDER_ASAN
#define LARGEST_STACK ((size_t)2 << 30)
#else
#define LARGEST_STACK ((size_t)16 << 30)
#endif

// Reserves addresses, not memory: as many as can be had.
static char *map_stack(size_t *size)
{
    for (; *size >= (size_t)4 << 20; *size /= 2) {
        void *p = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (p != MAP_FAILED)
            return p;
    }
    return NULL;
}

static bool run_on_big_stack(Run *r, size_t size, RefFault *fault)
{
    char *stack = map_stack(&size);
    if (!stack)
        return false;
    Job job = {.run = r, .fault = fault};
    r->stack_end = stack;
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    bool started = pthread_attr_setstack(&attr, stack, size) == 0 &&
                   pthread_create(&thread, &attr, evaluate_on_thread, &job) == 0;
    if (started)
        pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    munmap(stack, size);
    return started;
}

RefStatus ref_eval(Arena *a, const Kernel *k, const int64_t *dims, RefTensor *const *inputs, RefTensor **outputs,
                   const RefOptions *options, RefFault *fault)
{
    RefOptions none = {0};
    RefFault ignored;
    if (!options)
        options = &none;
    if (!fault)
        fault = &ignored;
    memset(fault, 0, sizeof *fault);
    Run r = {.arena = a, .kernel = k, .dims = dims, .outputs = outputs};
    r.function_error = 2 * (options->math_ulps > 0 ? options->math_ulps : 4);
    r.max_work = options->max_work > 0 ? options->max_work : INT64_MAX / 2;
    r.max_elements = options->max_elements > 0 ? options->max_elements : INT64_C(1) << 31;
    size_t stack = options->stack ? options->stack : LARGEST_STACK;
    if (!run_lower(&r, inputs)) {
        *fault = r.faults.at[0];
        return r.status;
    }
    run_fault(&r, REF_WORK, NULL, "too much work");       // number 0: what value_poison(0) stands for
    if (!run_on_big_stack(&r, stack, fault)) {
        *fault = (RefFault){.status = REF_MEMORY, .message = "no memory for the evaluator's stack"};
        return REF_MEMORY;
    }
    if (options->work)
        *options->work = r.work;
    return r.status;
}

const Equation *ref_equation_at(Arena *a, const Kernel *k, const int64_t *dims, const Tensor *t, const int64_t *at)
{
    Run r = {.arena = a, .kernel = k, .dims = dims, .max_work = INT64_MAX / 2, .max_elements = INT64_MAX / 2};
    RefTensor **inputs = ARENA_ARRAY(a, RefTensor *, k->params.n + 1);
    for (int p = 0; p < k->params.n; p++) {
        if (!k->params.at[p].tensor)
            continue;
        inputs[p] = ARENA_NEW(a, RefTensor);
        if (!ref_shape(k, k->params.at[p].tensor, dims, inputs[p]))
            return NULL;
    }
    if (!run_lower(&r, inputs))
        return NULL;
    Cells *c = &r.cells[t->id];
    int64_t offset = ref_offset(c->data, at), *env = ARENA_ARRAY(a, int64_t, c->nslots + 1);
    RefStatus status;
    Definition *d = offset < 0 ? NULL : run_find(&r, c, at, offset, env, &status);
    return d ? d->equation : NULL;
}
