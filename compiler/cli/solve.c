// Sizes by solving the assumptions; see solve.h. One dimension after the other is set to the legal value nearest to the
// one that is wished: the smallest from there upwards, or the largest downwards.
#include "cli/solve.h"

#include "cli/options.h"
#include "ir/poly.h"

#include <isl/ilp.h>
#include <isl/options.h>
#include <isl/val.h>

#include <string.h>

// Sizes beyond this are of no use to a check.
enum { MOST_OPERATIONS = 200000, LARGEST_SIZE = 1 << 30 };

struct SizeSolver {
    isl_ctx *isl;
    Budget *budget;
    isl_set *legal;              // a set of one dimension for each Dim
    int n;
};

static isl_set *not_negative(Arena *a, const Poly *p, const Tensor *t, isl_set *legal)
{
    for (int d = 0; d < t->rank; d++) {
        Expr *holds = expr_binary(a, OP_GE, DT_BOOL, t->hi[d], t->lo[d]);
        isl_set *c = poly_cond(p, (PolyIndices){0, NULL}, holds);
        if (c)
            legal = isl_set_intersect(legal, isl_set_params(c));
    }
    return legal;
}

SizeSolver *solver_new(Arena *a, const Kernel *k, const char *volatile *doing)
{
    SizeSolver *s = ARENA_NEW(a, SizeSolver);
    options_doing(doing, "isl started (is there no memory?)");            // it crashes then
    *s = (SizeSolver){.isl = isl_ctx_alloc(), .n = k->dims.n};
    options_doing(doing, "");
    if (!s->isl)
        return s;
    s->budget = budget_new(a, s->isl, MOST_OPERATIONS);
    isl_options_set_on_error(s->isl, ISL_ON_ERROR_CONTINUE);
    Poly *p = poly_new(a, s->budget, k);
    isl_space *sizes = isl_space_params_alloc(s->isl, (unsigned)s->n);
    for (int d = 0; d < s->n; d++)
        sizes = isl_space_set_dim_name(sizes, isl_dim_param, (unsigned)d, k->dims.at[d]->name);
    isl_set *legal = poly_known(p, isl_space_copy(sizes));
    for (int i = 0; i < k->tensors.n; i++)
        if (k->tensors.at[i]->kind == TENSOR_INPUT || k->tensors.at[i]->kind == TENSOR_OUTPUT)
            legal = not_negative(a, p, k->tensors.at[i], legal);
    poly_free(p);
    legal = isl_set_align_params(legal, sizes);                  // in the order of the kernel's dims again
    legal = isl_set_move_dims(isl_set_from_params(legal), isl_dim_set, 0, isl_dim_param, 0, (unsigned)s->n);
    for (int d = 0; d < s->n; d++)
        legal = isl_set_upper_bound_si(legal, isl_dim_set, (unsigned)d, LARGEST_SIZE);
    s->legal = isl_set_coalesce(legal);
    budget_check_memory(s->isl);
    return s;
}

void solver_free(SizeSolver *s)
{
    isl_set_free(s->legal);
    if (s->isl)
        isl_ctx_free(s->isl);
    s->legal = NULL;
    s->isl = NULL;
}

static bool get_value(isl_val *v, int64_t *value)
{
    bool known = v && isl_val_is_int(v) == isl_bool_true;
    *value = known ? isl_val_get_num_si(v) : 0;
    isl_val_free(v);
    return known;
}

// The value of dimension d nearest to `wish` in the set.
static bool nearest(const isl_set *set, int d, int64_t wish, int64_t *value)
{
    isl_set *above = isl_set_lower_bound_si(isl_set_copy((isl_set *)set), isl_dim_set, (unsigned)d, (int)wish);
    isl_set *below = isl_set_upper_bound_si(isl_set_copy((isl_set *)set), isl_dim_set, (unsigned)d, (int)wish);
    int64_t up, down;
    bool has_up = get_value(isl_set_dim_min_val(above, d), &up), has_down = get_value(isl_set_dim_max_val(below, d), &down);
    *value = has_up && (!has_down || up - wish <= wish - down) ? up : down;
    return has_up || has_down;
}

static bool move(const SizeSolver *s, int64_t *dims, const bool *pinned, const int *order)
{
    isl_set *left = isl_set_copy(s->legal);
    for (int d = 0; d < s->n; d++)
        if (pinned[d])
            left = isl_set_fix_si(left, isl_dim_set, (unsigned)d, (int)dims[d]);
    bool found = isl_set_is_empty(left) == isl_bool_false;
    for (int k = 0; found && k < s->n; k++) {
        int d = order[k];
        if (pinned[d])
            continue;
        found = nearest(left, d, dims[d], &dims[d]);
        left = isl_set_fix_si(left, isl_dim_set, (unsigned)d, (int)dims[d]);
    }
    isl_set_free(left);
    return found;
}

bool solver_move(SizeSolver *s, int64_t *dims, const bool *pinned, const int *order)
{
    int64_t moved[s->n + 1];
    memcpy(moved, dims, sizeof *dims * (size_t)s->n);
    for (int d = 0; d < s->n; d++)
        if (dims[d] < 0 || dims[d] > LARGEST_SIZE)
            return false;
    if (!s->legal)
        return false;
    budget_begin_least(s->budget, MOST_OPERATIONS);
    bool found = move(s, moved, pinned, order);
    found = budget_end(s->budget) && found;
    if (found)
        memcpy(dims, moved, sizeof *dims * (size_t)s->n);
    return found;
}
