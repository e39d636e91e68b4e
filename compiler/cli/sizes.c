// Sizes at which a kernel is checked; see sizes.h.
#include "cli/sizes.h"

#include "cli/solve.h"
#include "reference/eval.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_EDGES = 16, MAX_STEPS = 5, MAX_SHIFT = 16, LARGE = 1 << 14, LARGEST = 1 << 13, DRAWS = 8, TRIES = 400 };

typedef struct {
    Arena *arena;
    const SizeRequest *request;
    Numbers *choices;            // by Dim.id
    int64_t *base;
    uint64_t state;
    SizeSolver *solver;
    SizeList list;
} Planner;

static uint64_t next(Planner *p)
{
    uint64_t x = p->state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void add(Arena *a, Numbers *list, int64_t x)
{
    if (x < 0)
        return;
    for (int k = 0; k < list->n; k++)
        if (list->at[k] == x)
            return;
    VEC_PUSH(a, list, x);
}

void sizes_from_text(Arena *a, const char *text, Numbers *list)
{
    for (const char *p = text; *p; p++) {
        if (!isdigit((unsigned char)*p) || (p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '_' || p[-1] == '.')))
            continue;
        char *end;
        long long x = strtoll(p, &end, 10);
        if (x >= 2 && x <= 8192 && list->n < MAX_EDGES && *end != '%')
            add(a, list, x);
        p = end - 1;
    }
}

// ---- what is legal ----

static bool shape_is_legal(const Tensor *t, const int64_t *dims)
{
    int64_t size = 1;
    for (int d = 0; d < t->rank; d++) {
        int64_t lo, hi, extent;
        if (!ref_dim_expr(t->lo[d], dims, &lo) || !ref_dim_expr(t->hi[d], dims, &hi) || hi < lo)
            return false;
        if (__builtin_sub_overflow(hi, lo, &extent) || extent > INT64_C(1) << 62)          // more no call takes, empty or not
            return false;
        if (__builtin_mul_overflow(size, extent, &size) || size > INT64_C(1) << 32)
            return false;
    }
    return true;
}

static const Tensor *illegal_shape(const Kernel *k, const int64_t *dims)
{
    for (int i = 0; i < k->tensors.n; i++)
        if (k->tensors.at[i]->kind == TENSOR_INPUT || k->tensors.at[i]->kind == TENSOR_OUTPUT)
            if (!shape_is_legal(k->tensors.at[i], dims))
                return k->tensors.at[i];
    return NULL;
}

bool sizes_are_legal(const Kernel *k, const int64_t *dims) { return ref_where_holds(k, dims) && !illegal_shape(k, dims); }

const char *sizes_refusal(Arena *a, const Kernel *k, const int64_t *dims)
{
    int64_t holds = 0;
    for (int i = 0; i < k->where.n; i++)
        if (!ref_dim_expr(k->where.at[i], dims, &holds) || !holds)
            return arena_printf(a, "`%s` does not hold", expr_text_condition(a, k->where.at[i]));
    const Tensor *t = illegal_shape(k, dims);
    return t ? arena_printf(a, "`%s` has a negative extent or more than 2^32 elements", t->name) : NULL;
}

// ---- the plan ----

// A step's size where the dimension is large, as that of the dimension with which its extent is just that: 0 when another
// dimension decides its extent.
static int64_t step_edge(const Planner *p, const TilingStep *s, int dim, int64_t *dims)
{
    int64_t size, extent, saved = dims[dim];
    dims[dim] = LARGE;
    bool known = ref_dim_expr(s->size, dims, &size) && ref_dim_expr(s->extent, dims, &extent);
    dims[dim] = saved;
    bool mine = known && extent >= LARGE - MAX_SHIFT && extent <= LARGE + MAX_SHIFT && size > 1 && size <= LARGEST;
    return mine ? size + LARGE - extent : 0;
}

// Around one step of each kind; the other dimensions are as the plan's base has them.
static void add_steps(Planner *p, int dim, Numbers *list)
{
    const SizeRequest *r = p->request;
    int64_t *dims = sizes_base(p->arena, r);
    int steps = 0;
    for (int k = 0; r->steps && k < r->steps->n && steps < MAX_STEPS; k++) {
        int64_t edge = strcmp(r->steps->at[k].kernel, r->kernel->name) == 0 ? step_edge(p, &r->steps->at[k], dim, dims) : 0;
        int known = list->n;
        for (int64_t by = -1; edge > 0 && by <= 1; by++)
            add(p->arena, list, edge + by);
        steps += list->n > known;
    }
}

static void make_choices(Planner *p, int dim)
{
    static const int64_t always[] = {0, 1, 2, 3, 7, 13, 16, 31, 33, 37, 64, 67, 100, 127, 129, 257};
    Numbers *list = &p->choices[dim];
    if (p->request->fixed[dim].n > 0) {
        *list = p->request->fixed[dim];
        return;
    }
    for (size_t k = 0; k < sizeof always / sizeof *always; k++)
        add(p->arena, list, always[k]);
    for (int k = 0; k < p->request->edges.n; k++)
        for (int64_t by = -1; by <= 1; by++)
            add(p->arena, list, p->request->edges.at[k] + by);
    add_steps(p, dim, list);
}

static int64_t any_choice(Planner *p, int dim)
{
    const Numbers *list = &p->choices[dim];
    return list->at[next(p) % (uint64_t)list->n];
}

static int64_t *copy(Planner *p, const int64_t *dims)
{
    int n = p->request->kernel->dims.n;
    int64_t *c = ARENA_ARRAY(p->arena, int64_t, n + 1);
    memcpy(c, dims, sizeof *c * (size_t)n);
    return c;
}

static void take(Planner *p, const int64_t *dims)
{
    size_t bytes = sizeof *dims * (size_t)p->request->kernel->dims.n;
    for (int k = 0; k < p->list.n; k++)
        if (memcmp(p->list.at[k], dims, bytes) == 0)
            return;
    VEC_PUSH(p->arena, &p->list, copy(p, dims));
}

// Moves the dimensions to legal sizes near by: but for `keep` and what the user asks for, in an order that is drawn.
static bool solve(Planner *p, int64_t *dims, int keep)
{
    int n = p->request->kernel->dims.n;
    bool pinned[n + 1];
    int order[n + 1];
    for (int d = 0; d < n; d++) {
        int other = (int)(next(p) % (uint64_t)(d + 1));
        order[d] = d;
        order[d] = order[other];
        order[other] = d;
        pinned[d] = d == keep || p->request->fixed[d].n > 0;
    }
    return p->solver && solver_move(p->solver, dims, pinned, order) && sizes_are_legal(p->request->kernel, dims);
}

// Draws the other dimensions until the assumptions hold; when that takes long, by solving them.
static bool draw_until_legal(Planner *p, int64_t *dims, int keep)
{
    for (int k = 0; k < TRIES; k++) {
        if (sizes_are_legal(p->request->kernel, dims) || (k % DRAWS == DRAWS - 1 && k < 4 * DRAWS && solve(p, dims, keep)))
            return true;
        for (int d = 0; d < p->request->kernel->dims.n; d++)
            if (d != keep)
                dims[d] = k % 2 ? any_choice(p, d) : (int64_t)(next(p) % 24);
        for (int d = 0; d < p->request->kernel->dims.n; d++)
            if (d != keep && p->request->fixed[d].n > 0)
                dims[d] = any_choice(p, d);
    }
    return false;
}

int64_t *sizes_base(Arena *a, const SizeRequest *request)
{
    static const int64_t defaults[] = {13, 7, 17, 5, 11, 9, 6, 8};
    int n = request->kernel->dims.n;
    int64_t *base = ARENA_ARRAY(a, int64_t, n + 1);
    for (int d = 0; d < n; d++)
        base[d] = request->fixed[d].n > 0 ? request->fixed[d].at[0] : defaults[d % 8];
    return base;
}

static bool make_base(Planner *p)
{
    p->base = sizes_base(p->arena, p->request);
    if (!draw_until_legal(p, p->base, -1))
        return false;
    take(p, p->base);
    return true;
}

static void edges_of(Planner *p, int dim)
{
    for (int k = 0; k < p->choices[dim].n; k++) {
        int64_t *dims = copy(p, p->base);
        dims[dim] = p->choices[dim].at[k];
        if (draw_until_legal(p, dims, dim))
            take(p, dims);
    }
}

// What the user asks for with little of the rest: one such is not too much work if anything is.
static void smallest_of(Planner *p, int dim)
{
    for (int k = 0; k < p->request->fixed[dim].n; k++) {
        int64_t *dims = copy(p, p->base);
        for (int d = 0; d < p->request->kernel->dims.n; d++)
            if (p->request->fixed[d].n == 0)
                dims[d] = 2;
        dims[dim] = p->request->fixed[dim].at[k];
        if (draw_until_legal(p, dims, dim))
            take(p, dims);
    }
}

static double volume(const Kernel *k, const int64_t *dims)
{
    double v = 1;
    for (int d = 0; d < k->dims.n; d++)
        v *= (double)dims[d] + 1;
    return v;
}

// Small ones first, so that what a budget cuts off is what costs most; the base stays in front.
static void sort_by_volume(Planner *p)
{
    const Kernel *kernel = p->request->kernel;
    for (int k = 2; k < p->list.n; k++)
        for (int j = k; j > 1 && volume(kernel, p->list.at[j]) < volume(kernel, p->list.at[j - 1]); j--) {
            int64_t *t = p->list.at[j];
            p->list.at[j] = p->list.at[j - 1];
            p->list.at[j - 1] = t;
        }
}

// Sizes without a zero come first: where a tensor is empty there is little to compare.
static double cost(const Kernel *k, const int64_t *dims)
{
    double v = volume(k, dims);
    for (int d = 0; d < k->dims.n; d++)
        v = dims[d] == 0 ? v * 1e30 : v;
    return v;
}

const int64_t *sizes_smallest(const Kernel *k, const SizeList *list, int dim, int64_t value)
{
    const int64_t *best = NULL;
    for (int i = 0; i < list->n; i++) {
        const int64_t *dims = list->at[i];
        if ((dim < 0 || dims[dim] == value) && (!best || cost(k, dims) < cost(k, best)))
            best = dims;
    }
    return best;
}

// A dimension at which `int` parameters are near the ends of their bits; assumptions may fail, shapes not.
static void huge_of(Planner *p, int dim, int64_t value, bool all)
{
    const Kernel *k = p->request->kernel;
    int64_t *dims = copy(p, p->base);
    for (int d = 0; d < k->dims.n; d++)
        if (!k->dims.at[d]->tensor && p->request->fixed[d].n == 0 && (all || d == dim))
            dims[d] = value;
    if (!illegal_shape(k, dims))
        take(p, dims);
    if (!all && !ref_where_holds(k, dims) && draw_until_legal(p, dims, dim))
        take(p, dims);
}

SizeList sizes_huge(Arena *a, const SizeRequest *request)
{
    static const int64_t values[] = {INT64_MAX, INT64_C(1) << 62, (INT64_C(1) << 61) - 3, INT64_C(3037000500), INT64_C(1) << 31};
    Planner p = {.arena = a, .request = request, .state = request->seed, .solver = solver_new(a, request->kernel, request->doing)};
    const Kernel *k = request->kernel;
    p.choices = ARENA_ARRAY(a, Numbers, k->dims.n + 1);
    for (int d = 0; d < k->dims.n; d++)
        make_choices(&p, d);
    if (!make_base(&p)) {
        solver_free(p.solver);
        return p.list;
    }
    p.list.n = 0;                                       // (the base is among the usual sizes)
    for (size_t v = 0; v < sizeof values / sizeof *values; v++)
        for (int d = 0; d < k->dims.n; d++)
            if (!k->dims.at[d]->tensor && request->fixed[d].n == 0) {
                huge_of(&p, d, values[v], false);
                huge_of(&p, d, values[v], true);
            }
    solver_free(p.solver);
    return p.list;
}

SizeList sizes_plan(Arena *a, const SizeRequest *request)
{
    int n = request->kernel->dims.n;
    Planner p = {.arena = a, .request = request, .state = request->seed, .solver = solver_new(a, request->kernel, request->doing)};
    p.choices = ARENA_ARRAY(a, Numbers, n + 1);
    for (int d = 0; d < n; d++)
        make_choices(&p, d);
    if (!make_base(&p)) {
        solver_free(p.solver);
        return p.list;
    }
    for (int d = 0; d < n; d++) {
        edges_of(&p, d);
        smallest_of(&p, d);
    }
    for (int k = 0; k < request->nrandom && n > 1; k++) {
        int64_t *dims = copy(&p, p.base);
        for (int d = 0; d < n; d++)
            dims[d] = any_choice(&p, d);
        if (sizes_are_legal(request->kernel, dims) || solve(&p, dims, -1))
            take(&p, dims);
    }
    sort_by_volume(&p);
    solver_free(p.solver);
    return p.list;
}
