// Arguments of a call; see bind.h.
#include "cli/bind.h"

#include "cli/unit.h"
#include "data/element.h"
#include "reference/eval.h"

#include <string.h>

typedef struct {
    Arena *arena;
    const Kernel *kernel;
    const char *error;
    int code;
    int64_t *dims;
    const char **known;      // by Dim.id: what says its size; NULL: nothing yet
    Spec *specs;             // by parameter
    bool *given;
    Array **arrays;
} Binder;

static bool fail(Binder *b, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static bool fail(Binder *b, int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    b->error = arena_vprintf(b->arena, fmt, ap);
    b->code = code;
    va_end(ap);
    return false;
}

const char *bind_declaration(Arena *a, const Tensor *t)
{
    const char *s = arena_printf(a, "%s: %s", t->name, dtype_name(t->type));
    for (int k = 0; k < t->rank; k++) {
        bool from_zero = expr_is_int(t->lo[k], 0);
        s = arena_printf(a, "%s%s%s%s%s", s, k ? ", " : "[", from_zero ? "" : expr_text(a, t->lo[k]), from_zero ? "" : "..",
                         expr_text(a, t->hi[k]));
    }
    return t->rank ? arena_printf(a, "%s]", s) : s;
}

// ---- names ----

static const char *param_name(const Param *p) { return p->tensor ? p->tensor->name : p->dim->name; }

static int find_param(const Kernel *k, const char *name)
{
    for (int i = 0; i < k->params.n; i++)
        if (strcmp(param_name(&k->params.at[i]), name) == 0)
            return i;
    return -1;
}

static bool unknown_name(Binder *b, const char *name)
{
    const Kernel *k = b->kernel;
    const char **names = ARENA_ARRAY(b->arena, const char *, k->params.n + k->dims.n + 1);
    int n = 0;
    for (int i = 0; i < k->params.n; i++)
        names[n++] = param_name(&k->params.at[i]);
    for (int i = 0; i < k->dims.n; i++)
        names[n++] = k->dims.at[i]->name;
    const char *meant = closest_name(name, n, names);
    return fail(b, EXIT_USAGE, "kernel '%s' has no input '%s'%s%s%s", k->name, name, meant ? "; did you mean '" : "", meant ? meant : "",
                meant ? "'?" : "");
}

static bool set_dim(Binder *b, const Dim *d, int64_t value, const char *source)
{
    if (value < 0)
        return fail(b, EXIT_USER, "%s is %lld: a dimension is not negative", d->name, (long long)value);
    if (b->known[d->id] && b->dims[d->id] != value)
        return fail(b, EXIT_USER, "%s is %lld by %s, but %lld by %s", d->name, (long long)value, source, (long long)b->dims[d->id], b->known[d->id]);
    b->dims[d->id] = value;
    b->known[d->id] = source;
    return true;
}

static bool take_dim(Binder *b, const Dim *d, const Spec *s)
{
    bool digits = *s->text && s->text[strspn(s->text, "0123456789")] == 0;
    if (digits && (!s->is_integer || s->i < 0))
        return fail(b, EXIT_USER, "%s=%s: a dimension is at most 9223372036854775807", d->name, s->text);
    if (s->kind != SPEC_NUMBER || !s->is_integer)
        return fail(b, EXIT_USER, "%s=%s: a dimension is a whole number", d->name, s->text);
    return set_dim(b, d, s->i, arena_printf(b->arena, "%s=%s", d->name, s->text));
}

static bool take_value(Binder *b, const Binding *v)
{
    Spec s;
    const char *error = NULL;
    int i = find_param(b->kernel, v->name);
    if (!spec_parse(b->arena, v->value, &s, &error))
        return fail(b, EXIT_USER, "%s: %s", v->name, error);
    for (int d = 0; i < 0 && d < b->kernel->dims.n; d++)
        if (strcmp(b->kernel->dims.at[d]->name, v->name) == 0)
            return take_dim(b, b->kernel->dims.at[d], &s);
    if (i < 0)
        return unknown_name(b, v->name);
    if (b->given[i])
        return fail(b, EXIT_USAGE, "'%s' is given twice", v->name);
    b->given[i] = true;
    b->specs[i] = s;
    return b->kernel->params.at[i].dim ? take_dim(b, b->kernel->params.at[i].dim, &s) : true;
}

static bool all_given(Binder *b)
{
    const char *missing = NULL;
    for (int i = 0; i < b->kernel->params.n; i++) {
        const Param *p = &b->kernel->params.at[i];
        if (b->given[i] || (p->dim && b->known[p->dim->id]))
            continue;
        const char *text = p->tensor ? bind_declaration(b->arena, p->tensor) : arena_printf(b->arena, "%s: int", p->dim->name);
        missing = missing ? arena_printf(b->arena, "%s, '%s'", missing, text) : arena_printf(b->arena, "'%s'", text);
    }
    return !missing || fail(b, EXIT_USAGE, "kernel '%s' also needs %s", b->kernel->name, missing);
}

// ---- values ----

static bool is_picture(const char *path)
{
    size_t n = strlen(path);
    return n < 4 || strcasecmp(path + n - 4, ".npy") != 0;
}

Array *bind_convert(Arena *a, Array *x, bool picture, DType type, const char **error)
{
    if (x->type == type)
        return x;
    if (type == DT_BF16 && x->type == DT_U16 && !picture) {
        x->type = type;
        return x;
    }
    if (!picture || type == DT_BOOL) {
        *error = arena_printf(a, "has the type %s, not %s", dtype_name(x->type), dtype_name(type));
        return NULL;
    }
    Array *y = array_new(a, type, x->rank, x->extent, error);
    for (int64_t k = 0; y && k < x->size; k++) {
        int64_t v = element_load_int(x->type, (char *)x->data + k * dtype_bytes(x->type));
        void *p = (char *)y->data + k * dtype_bytes(type);
        if (dtype_is_float(type))
            element_store_float(type, p, element_round_int(type, v, false));
        else
            element_store_int(type, p, v > element_max(type) && type != DT_U64 ? element_max(type) : v);
    }
    return y;
}

static bool read_file(Binder *b, int i)
{
    const Tensor *t = b->kernel->params.at[i].tensor;
    const char *path = b->specs[i].text, *error = NULL;
    Array *x = array_read(b->arena, path, &error);
    if (!x)
        return fail(b, EXIT_USER, "%s: %s", t->name, error);
    x = bind_convert(b->arena, x, is_picture(path), t->type, &error);
    if (!x)
        return fail(b, EXIT_USER, "%s: %s %s (%s)", t->name, path, error, bind_declaration(b->arena, t));
    b->arrays[i] = x;
    return true;
}

static bool check_rank(Binder *b, const Tensor *t, int rank, const int64_t *extent)
{
    if (rank == t->rank)
        return true;
    const char *hint = rank == 3 && t->rank == 2 && extent[2] == 3 ? "; a colour picture has three values per point" : "";
    return fail(b, EXIT_USER, "%s has the shape %s, but the kernel takes '%s'%s", t->name, array_shape_text(b->arena, rank, extent),
                bind_declaration(b->arena, t), hint);
}

// Dimensions that the shape of an input binds.
static bool bind_dims(Binder *b, const Tensor *t, const int64_t *extent)
{
    for (int d = 0; d < b->kernel->dims.n; d++) {
        const Dim *dim = b->kernel->dims.at[d];
        int64_t lo = 0;
        if (dim->tensor != t || !ref_dim_expr(t->lo[dim->axis], b->dims, &lo))
            continue;
        if (!set_dim(b, dim, extent[dim->axis], arena_printf(b->arena, "the shape of %s", t->name)))
            return false;
    }
    return true;
}

// Values that come with a shape: files, and generators that say theirs.
static bool take_shaped(Binder *b, int i)
{
    const Tensor *t = b->kernel->params.at[i].tensor;
    const Spec *s = &b->specs[i];
    if (!t)
        return true;
    if (s->kind == SPEC_FILE && !read_file(b, i))
        return false;
    if (s->kind == SPEC_NUMBER && !spec_number_fits(s, t->type))
        return fail(b, EXIT_USER, "%s=%s does not fit the type %s", t->name, s->text, dtype_name(t->type));
    if (s->kind == SPEC_FILE)
        return check_rank(b, t, b->arrays[i]->rank, b->arrays[i]->extent) && bind_dims(b, t, b->arrays[i]->extent);
    return !s->has_shape || (check_rank(b, t, s->rank, s->extent) && bind_dims(b, t, s->extent));
}

static bool all_dims_known(Binder *b)
{
    for (int d = 0; d < b->kernel->dims.n; d++) {
        const Dim *dim = b->kernel->dims.at[d];
        if (!b->known[d])
            return fail(b, EXIT_USER, "the size %s is not known: give it (%s=100) or a shape for '%s', as in random(100, 200)", dim->name,
                        dim->name, dim->tensor ? dim->tensor->name : dim->name);
    }
    return true;
}

typedef struct { const Binder *b; const char *text; } Said;

static bool add_source(Expr *x, void *data)
{
    Said *said = data;
    if (x->op == OP_DIM)
        said->text = arena_printf(said->b->arena, "%s%s %s is %lld by %s", said->text, *said->text ? "," : ":", x->dim->name,
                                  (long long)said->b->dims[x->dim->id], said->b->known[x->dim->id]);
    return true;
}

// What an extent comes from: ": N is 10 by the shape of x".
static const char *who_says(const Binder *b, Expr *lo, Expr *hi)
{
    Said said = {.b = b, .text = ""};
    expr_walk(lo, add_source, &said);
    expr_walk(hi, add_source, &said);
    return said.text;
}

static bool make_array(Binder *b, int i)
{
    const Tensor *t = b->kernel->params.at[i].tensor;
    RefTensor shape;
    const char *error = NULL;
    if (!t)
        return true;
    if (!ref_shape(b->kernel, t, b->dims, &shape))
        return fail(b, EXIT_USER, "the shape of '%s' cannot be computed", bind_declaration(b->arena, t));
    if (!b->arrays[i])
        b->arrays[i] = spec_make(b->arena, &b->specs[i], t->type, t->rank, shape.extent, &error);
    if (!b->arrays[i])
        return fail(b, EXIT_USER, "%s: %s", t->name, error);
    for (int d = 0; d < t->rank; d++)
        if (b->arrays[i]->extent[d] != shape.extent[d])
            return fail(b, EXIT_USER, "%s has the shape %s, but '%s' is %s here%s", t->name,
                        array_shape_text(b->arena, t->rank, b->arrays[i]->extent), bind_declaration(b->arena, t),
                        array_shape_text(b->arena, t->rank, shape.extent), who_says(b, t->lo[d], t->hi[d]));
    return true;
}

static bool bind(Binder *b, const Bindings *values)
{
    for (int i = 0; i < values->n; i++)
        if (!take_value(b, &values->at[i]))
            return false;
    if (!all_given(b))
        return false;
    for (int i = 0; i < b->kernel->params.n; i++)
        if (!take_shaped(b, i))
            return false;
    if (!all_dims_known(b))
        return false;
    for (int i = 0; i < b->kernel->params.n; i++)
        if (!make_array(b, i))
            return false;
    return true;
}

int bind_inputs(Arena *a, const Kernel *k, const Bindings *values, Inputs *inputs, const char **error)
{
    Binder b = {.arena = a, .kernel = k};
    b.dims = ARENA_ARRAY(a, int64_t, k->dims.n + 1);
    b.known = ARENA_ARRAY(a, const char *, k->dims.n + 1);
    b.specs = ARENA_ARRAY(a, Spec, k->params.n + 1);
    b.given = ARENA_ARRAY(a, bool, k->params.n + 1);
    b.arrays = ARENA_ARRAY(a, Array *, k->params.n + 1);
    bool ok = bind(&b, values);
    *inputs = (Inputs){.kernel = k, .dims = b.dims, .arrays = b.arrays};
    *error = b.error;
    return ok ? 0 : b.code;
}

// ---- the runtime's types ----

pto_dtype bind_dtype(DType t)
{
    switch (t) {
    case DT_F64: return PTO_F64;
    case DT_F32: return PTO_F32;
    case DT_BF16: return PTO_BF16;
    case DT_F16: return PTO_F16;
    case DT_I64: case DT_INDEX: return PTO_I64;
    case DT_I32: return PTO_I32;
    case DT_I16: return PTO_I16;
    case DT_I8: return PTO_I8;
    case DT_U64: return PTO_U64;
    case DT_U32: return PTO_U32;
    case DT_U16: return PTO_U16;
    case DT_U8: return PTO_U8;
    case DT_BOOL: case DT_COUNT: break;
    }
    return PTO_BOOL;
}

pto_tensor bind_tensor(const Array *x) { return pto_tensor_dense(x->data, bind_dtype(x->type), x->rank, x->extent); }

bool bind_matches(const Kernel *k, const pto_kernel *loaded)
{
    if (loaded->nparams != k->params.n + k->outputs.n)
        return false;
    for (int i = 0; i < loaded->nparams; i++) {
        const Param *p = i < k->params.n ? &k->params.at[i] : NULL;
        const Tensor *t = p ? p->tensor : k->outputs.at[i - k->params.n];
        if (strcmp(loaded->params[i].name, t ? t->name : p->dim->name) != 0)
            return false;
        if (t && (loaded->params[i].dtype != bind_dtype(t->type) || loaded->params[i].rank != t->rank))
            return false;
    }
    return true;
}
