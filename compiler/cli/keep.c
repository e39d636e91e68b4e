// Intermediates as outputs; see keep.h. Outputs may have no holes: what the equations leave, `otherwise`, is 0.
#include "cli/keep.h"

#include <string.h>

static Tensor *find_local(const Kernel *k, const char *name)
{
    for (int i = 0; i < k->tensors.n; i++)
        if (k->tensors.at[i]->kind == TENSOR_LOCAL && strcmp(k->tensors.at[i]->name, name) == 0)
            return k->tensors.at[i];
    return NULL;
}

static bool has_otherwise(const Kernel *k, const Tensor *t)
{
    for (int i = 0; i < k->equations.n; i++)
        if (k->equations.at[i]->lhs == t && k->equations.at[i]->otherwise)
            return true;
    return false;
}

static Expr *zero_of(Arena *a, const Tensor *t)
{
    return dtype_is_float(t->type) ? expr_float(a, t->type, 0, t->range) : expr_int(a, t->type, 0, t->range);
}

// t[i0, i1, ...] = 0 where otherwise
static void fill_holes(Kernel *k, Tensor *t)
{
    Arena *a = k->arena;
    Equation *eq = ARENA_NEW(a, Equation);
    *eq = (Equation){
        .id = k->equations.n, .name = arena_printf(a, "%s.otherwise", t->name), .range = t->range, .lhs_range = t->range, .lhs = t,
        .subs = ARENA_ARRAY(a, Expr *, t->rank + 1), .otherwise = true, .rhs = zero_of(a, t), .kind = EQ_MAP, .origin = k->equations.n,
    };
    for (int d = 0; d < t->rank; d++) {
        Index *index = ARENA_NEW(a, Index);
        *index = (Index){.name = arena_printf(a, "i%d", d), .range = t->range, .lo = t->lo[d], .hi = t->hi[d]};
        VEC_PUSH(a, &eq->indices, index);
        eq->subs[d] = expr_index(a, index, t->range);
    }
    VEC_PUSH(a, &k->equations, eq);
}

// Inputs and outputs stand first in a kernel, in the order of its head.
static void put_behind_outputs(Kernel *k, Tensor *t)
{
    int from = t->id, to = 0;
    for (int i = 0; i < from; i++)
        if (k->tensors.at[i]->kind != TENSOR_LOCAL && k->tensors.at[i]->kind != TENSOR_HIDDEN)
            to = i + 1;
    memmove(&k->tensors.at[to + 1], &k->tensors.at[to], sizeof *k->tensors.at * (size_t)(from - to));
    k->tensors.at[to] = t;
    for (int i = to; i <= from; i++)
        k->tensors.at[i]->id = i;
}

bool keep_intermediate(Kernel *k, const char *name)
{
    Tensor *t = find_local(k, name);
    if (!t)
        return false;
    put_behind_outputs(k, t);
    t->kind = TENSOR_OUTPUT;
    t->declared = true;
    VEC_PUSH(k->arena, &k->outputs, t);
    if (t->rank > 0 && !has_otherwise(k, t))
        fill_holes(k, t);
    return true;
}
