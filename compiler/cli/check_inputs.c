// check: the inputs of one size (see check_trial.h). Values that subscripts use stay in range where they can.
#include "cli/check_trial.h"

#include "data/element.h"

#include <math.h>
#include <string.h>

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

bool check_make_inputs(Trial *t, const char **error)
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
