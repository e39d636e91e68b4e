// Declared types: element type, extents and borders; and small proofs about extents.
//
// An extent is affine in the dims; `a..b` gives both ends. A border stands at a dimension or after the type, for all
// dimensions that have none of their own; the value of `const(e)` is a constant of the tensor's type, or a scalar parameter,
// which may come later in the text. Extents are compared first by their simplified form and only then with isl, under the kernel's assumptions.
//
// Test: tests/unit/test_sema.c
#include "sema/context.h"

#include <string.h>

Poly *sema_poly(Sema *s)
{
    if (!s->poly) s->poly = poly_new(s->arena, s->file->budget, s->kernel);
    return s->poly;
}

void sema_budget_begin(Sema *s)
{
    budget_begin(s->file->budget);
}

void sema_budget_end(Sema *s)
{
    budget_end(s->file->budget);
}

static isl_pw_aff *function_of_dims(Sema *s, const Expr *e)
{
    return poly_aff(sema_poly(s), (PolyIndices){.n = 0}, e);
}

static bool holds_everywhere(Sema *s, isl_set *set)
{
    set = isl_set_params(set);
    isl_set *known = poly_known(sema_poly(s), isl_set_get_space(set));
    bool holds = isl_set_is_subset(known, set) == isl_bool_true;
    isl_set_free(known);
    isl_set_free(set);
    return holds;
}

bool sema_same(Sema *s, Expr *x, Expr *y)
{
    Expr *d = expr_simplify(s->arena, expr_binary(s->arena, OP_SUB, DT_INDEX, x, y));
    if (d->op == OP_CONST) return d->i == 0;
    sema_budget_begin(s);
    isl_pw_aff *f = function_of_dims(s, d);
    bool same = f && holds_everywhere(s, isl_pw_aff_zero_set(f));
    sema_budget_end(s);
    return same;
}

bool sema_nonnegative(Sema *s, Expr *x)
{
    Expr *zero = expr_int(s->arena, DT_INDEX, 0, x->range);
    Expr *c = expr_simplify(s->arena, expr_binary(s->arena, OP_GE, DT_BOOL, x, zero));
    if (c->op == OP_CONST) return c->i != 0;
    sema_budget_begin(s);
    isl_pw_aff *f = function_of_dims(s, x);
    bool holds = f && holds_everywhere(s, isl_pw_aff_nonneg_set(f));
    sema_budget_end(s);
    return holds;
}

// ---- element types ----

static void report_type_name(Sema *s, const TreeType *type)
{
    if (strcmp(type->name, "int") == 0) {
        sema_error(s, D_TYPE, type->range, "`int` is the type of a parameter that is a dimension, such as `T: int`");
        sema_help(s, "a tensor needs an element type such as i32 or i64");
        return;
    }
    sema_error(s, D_TYPE, type->range, "`%s` is not a type", type->name);
    const char *names[DT_COUNT];
    for (int i = 0; i < DT_INDEX; i++) names[i] = dtype_name((DType)i);
    const char *closest = sema_closest(type->name, DT_INDEX, names);
    if (closest) sema_help(s, "did you mean `%s`?", closest);
    else sema_help(s, "types are f64 f32 bf16 f16 i64 i32 i16 i8 u64 u32 u16 u8 bool");
}

// ---- borders ----

static const struct {
    const char *name;
    BorderKind kind;
} border_names[] = {
    {"zero", BORDER_ZERO}, {"clamp", BORDER_CLAMP}, {"reflect", BORDER_REFLECT}, {"wrap", BORDER_WRAP}, {"const", BORDER_CONST},
};

static bool border_kind(Sema *s, const TreeBorder *b, BorderKind *kind)
{
    const char *names[sizeof border_names / sizeof *border_names];
    int n = (int)(sizeof border_names / sizeof *border_names);
    for (int i = 0; i < n; i++) {
        names[i] = border_names[i].name;
        if (strcmp(b->kind, names[i]) != 0) continue;
        *kind = border_names[i].kind;
        return true;
    }
    sema_error(s, D_BORDER, b->range, "`%s` is not a border", b->kind);
    const char *closest = sema_closest(b->kind, n, names);
    if (closest) sema_help(s, "did you mean `%s`?", closest);
    else sema_help(s, "borders are zero, clamp, reflect, wrap and const(e)");
    return false;
}

static bool border_takes(Sema *s, const TreeBorder *b, BorderKind kind)
{
    if (kind != BORDER_CONST && b->value) {
        sema_error(s, D_BORDER, b->value->range, "border `%s` takes no value", b->kind);
        sema_help(s, "`const(e)` is the border with a value");
        return false;
    }
    if (kind == BORDER_CONST && !b->value) {
        sema_error(s, D_BORDER, b->range, "border `const` needs a value");
        sema_help(s, "write `const(e)`, for example `const(-inf)`");
        return false;
    }
    return true;
}

static bool set_border(Sema *s, const TreeBorder *b, Tensor *t, int dim)
{
    Border *out = &t->border[dim];
    out->range = b->range;
    if (!b->kind) return true;
    return border_kind(s, b, &out->kind) && border_takes(s, b, out->kind);
}

static const TreeBorder *border_of(const TreeType *type, int dim)
{
    const TreeBorder *own = &type->dims.at[dim].border;
    return own->kind ? own : &type->border;
}

static bool set_borders(Sema *s, const TreeType *type, Tensor *t)
{
    if (t->rank == 0 && type->border.kind) {
        sema_error(s, D_BORDER, type->border.range, "`%s` is a scalar: it has no border", t->name);
        return false;
    }
    // Checked once even when each dimension has a border of its own.
    for (int d = 0; d < t->rank; d++)
        if (!set_border(s, border_of(type, d), t, d)) return false;
    return true;
}

// ---- their values ----

// The first name in it that is no constant of the language.
static const Tree *named_in(const Tree *e)
{
    bool name = e->kind == TREE_NAME || e->kind == TREE_INDEX;
    if (name && (e->kind == TREE_INDEX || (strcmp(e->text, "inf") != 0 && strcmp(e->text, "nan") != 0))) return e;
    for (int i = 0; i < e->args.n; i++) {
        const Tree *found = named_in(e->args.at[i]);
        if (found) return found;
    }
    return e->body ? named_in(e->body) : NULL;
}

static void report_value(Sema *s, const Tree *value, const Tree *name)
{
    Symbol *symbol = sema_find(s, name->text);
    if (symbol && symbol->kind == SYM_POISON) return;
    sema_error(s, D_BORDER, value->range, "the value of a border must be a constant or a scalar parameter");
    bool scalar = symbol && symbol->kind == SYM_TENSOR && symbol->tensor->tensor->kind == TENSOR_INPUT && symbol->tensor->tensor->rank == 0;
    if (scalar) sema_help(s, "the parameter alone: compute with it before the call");
    else if (!symbol) sema_help(s, "`%s` is no parameter: is it one of another name?", name->text);
    else sema_help(s, "add a parameter for it, such as `%s_border: f32`", name->text);
}

// An `int` parameter: integers hold it, or the call is refused; floats round it.
static Expr *int_value(Sema *s, const Tree *value, const Tensor *t, Symbol *symbol)
{
    int bits = dtype_bits(t->type) - (dtype_family(t->type) == 'I');
    symbol->used = true;
    if (t->type == DT_BOOL) {
        sema_error(s, D_TYPE, value->range, "the border of `%s` is bool, but `%s` is a number", t->name, symbol->name);
        return NULL;
    }
    Expr *dim = expr_dim(s->arena, symbol->dim, value->range);
    if (!dtype_is_float(t->type) && bits < 63) {
        Expr *fits = expr_binary(s->arena, OP_LE, DT_BOOL, dim, expr_int(s->arena, DT_INDEX, (INT64_C(1) << bits) - 1, value->range));
        VEC_PUSH(s->arena, &s->kernel->where, fits);
    }
    return expr_convert(s->arena, t->type, dim);
}

static bool is_int_parameter(const Sema *s, const Symbol *symbol)
{
    for (int i = 0; symbol && symbol->kind == SYM_DIM && i < s->kernel->params.n; i++)
        if (s->kernel->params.at[i].dim == symbol->dim) return true;
    return false;
}

// A parameter in the tensor's type; it may be declared after the tensor.
static Expr *parameter_value(Sema *s, const Tree *value, const Tensor *t)
{
    Symbol *symbol = value->kind == TREE_NAME ? sema_find(s, value->text) : NULL;
    bool scalar = symbol && symbol->kind == SYM_TENSOR && symbol->tensor->tensor->kind == TENSOR_INPUT;
    if (is_int_parameter(s, symbol)) return int_value(s, value, t, symbol);
    if (!scalar || (symbol->tensor->typed && symbol->tensor->tensor->rank > 0)) {
        report_value(s, value, named_in(value));
        return NULL;
    }
    symbol->used = true;
    Tensor *from = symbol->tensor->tensor;
    if (!symbol->tensor->typed) return NULL;
    if (!dtype_widens(from->type, t->type)) {
        sema_error(s, D_TYPE, value->range, "the border of `%s` is %s, but `%s` is %s", t->name, dtype_name(t->type), from->name, dtype_name(from->type));
        sema_help(s, "make it a parameter of type %s", dtype_name(t->type));
        return NULL;
    }
    Expr *read = expr_new(s->arena, OP_READ, from->type, value->range, 0, NULL);
    read->tensor = from;
    return expr_convert(s->arena, t->type, read);
}

static Expr *constant_value(Sema *s, const Tree *value, const Tensor *t)
{
    Typer typer = {.sema = s};
    Expr *e = sema_expr(&typer, value);
    if (e) e = type_coerce(&typer, e, t->type, "the border's value");
    if (!e) return NULL;
    e = expr_simplify(s->arena, e);
    if (e->op == OP_CONST) return e;
    sema_error(s, D_BORDER, value->range, "the value of a border must be a constant or a scalar parameter");
    return NULL;
}

bool sema_border_values(Sema *s, TensorInfo *info, const TreeType *type)
{
    Tensor *t = info->tensor;
    for (int d = 0; d < t->rank; d++) {
        Border *b = &t->border[d];
        if (b->kind != BORDER_CONST) continue;
        const Tree *value = border_of(type, d)->value;
        b->value = named_in(value) ? parameter_value(s, value, t) : constant_value(s, value, t);
        if (!b->value) return false;
    }
    return true;
}

// ---- extents ----

static bool set_extent(Sema *s, const Tree *extent, Tensor *t, int dim)
{
    Typer typer = {.sema = s};
    if (extent->kind == TREE_GROUP) {
        sema_error(s, D_UNSUPPORTED, extent->range, "grouped dimensions are not built yet");
        sema_help(s, "declare one dimension for each, and index them apart");
        return false;
    }
    if (extent->kind == TREE_RANGE) {
        if (!sema_bounds(&typer, extent, &t->lo[dim], &t->hi[dim])) return false;
    } else {
        t->lo[dim] = expr_int(s->arena, DT_INDEX, 0, extent->range);
        t->hi[dim] = sema_affine_expr(&typer, extent, D_SHAPE, "an extent");
        if (!t->hi[dim]) return false;
    }
    Expr *size = expr_simplify(s->arena, expr_binary(s->arena, OP_SUB, DT_INDEX, t->hi[dim], t->lo[dim]));
    if (size->op != OP_CONST || size->i >= 0) return true;
    sema_error(s, D_SHAPE, extent->range, "dimension %d of `%s` has a negative extent, %lld", dim, t->name, (long long)size->i);
    return false;
}

static void clip_extent(Sema *s, Tensor *t, int dim)
{
    Arena *a = s->arena;
    Expr *size = expr_simplify(a, expr_binary(a, OP_SUB, DT_INDEX, t->hi[dim], t->lo[dim]));
    if (!sema_nonnegative(s, size)) t->hi[dim] = expr_simplify(a, expr_binary(a, OP_MAX, DT_INDEX, t->hi[dim], t->lo[dim]));
}

void sema_clip_extents(Sema *s, Tensor *t)
{
    for (int d = 0; d < t->rank; d++) clip_extent(s, t, d);
}

bool sema_tensor_type(Sema *s, TensorInfo *info, const TreeType *type)
{
    Tensor *t = info->tensor;
    t->rank = type->dims.n;
    t->lo = ARENA_ARRAY(s->arena, Expr *, t->rank + 1);
    t->hi = ARENA_ARRAY(s->arena, Expr *, t->rank + 1);
    t->border = ARENA_ARRAY(s->arena, Border, t->rank + 1);
    if (t->rank > SEMA_MOST_RANK) {
        sema_error(s, D_UNSUPPORTED, type->range, "`%s` has %d dimensions; more than %d are not built yet", t->name, t->rank, SEMA_MOST_RANK);
        return false;
    }
    bool known = dtype_parse(type->name, &t->type);
    if (!known) report_type_name(s, type);
    bool good = known;
    for (int d = 0; d < t->rank; d++) good = set_extent(s, type->dims.at[d].extent, t, d) && good;
    if (!good || !set_borders(s, type, t)) return false;
    info->typed = info->shaped = true;
    return true;
}
