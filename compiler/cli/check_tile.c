// The tile that computes an element; see check_tile.h.
//
// The indices follow from the element one by one: where all but one of a subscript are known, that one is. They are put
// into the domain of each statement that writes the tensor; the one that holds them has computed the element.
#include "cli/check_tile.h"

#include "ir/linear.h"
#include "reference/eval.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    Arena *arena;
    const Tiling *tiling;
    const int64_t *dims, *at;
    bool known[REF_MAX_RANK];
    Expr *value[REF_MAX_RANK];   // by index; 0 while it is not known
} Search;

static bool evaluate(const Search *s, Expr *e, int64_t *value)
{
    Expr *closed = expr_substitute(s->arena, e, s->tiling->n, s->tiling->index, s->value);
    return ref_dim_expr(closed, s->dims, value);
}

// The only index of a subscript that is not known; -1: there is none, or more than one.
static int only_unknown(const Search *s, const Expr *sub)
{
    int found = -1;
    for (int i = 0; i < s->tiling->n; i++) {
        if (s->known[i] || !expr_uses(sub, s->tiling->index[i]))
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

// Does a subscript give another index? False also when it cannot be the element's.
static bool solve_subscript(Search *s, int d)
{
    Expr *sub = s->tiling->eq->subs[d];
    int i = only_unknown(s, sub);
    bool linear = true;
    int64_t rest, c = i < 0 ? 0 : linear_coefficient(sub, s->tiling->index[i], &linear);
    if (c == 0 || !linear || !evaluate(s, sub, &rest) || (s->at[d] - rest) % c != 0)
        return false;
    s->value[i] = expr_int(s->arena, DT_INDEX, (s->at[d] - rest) / c, sub->range);
    return s->known[i] = true;
}

static bool solve(Search *s)
{
    int known = 0;
    if (s->tiling->n > REF_MAX_RANK)
        return false;
    for (int i = 0; i < s->tiling->n; i++)
        s->value[i] = expr_int(s->arena, DT_INDEX, 0, s->tiling->index[i]->range);
    for (bool progress = true; progress;) {
        progress = false;
        for (int d = 0; d < s->tiling->eq->lhs->rank; d++)
            if (solve_subscript(s, d))
                progress = true, known++;
    }
    return known == s->tiling->n;
}

static bool writes_element(const Search *s)
{
    const Equation *eq = s->tiling->eq;
    int64_t x;
    for (int d = 0; d < eq->lhs->rank; d++)
        if (!evaluate(s, eq->subs[d], &x) || x != s->at[d])
            return false;
    for (int i = 0; i < s->tiling->n; i++) {
        int64_t lo, hi, v = s->value[i]->i;
        if (!evaluate(s, s->tiling->index[i]->lo, &lo) || !evaluate(s, s->tiling->index[i]->hi, &hi) || v < lo || v >= hi)
            return false;
    }
    for (int i = 0; i < eq->conds.n; i++)
        if (!evaluate(s, eq->conds.at[i], &x) || !x)
            return false;
    return true;
}

static const char *text_of(const Search *s)
{
    const char *numbers = "", *sizes = "", *names = "";
    for (int q = 0; q < s->tiling->naxes; q++) {
        const TilingAxis *axis = &s->tiling->axis[q];
        int64_t at, begin, tile;
        if (!evaluate(s, axis->at, &at) || !evaluate(s, axis->begin, &begin) || !evaluate(s, axis->tile, &tile) || tile < 1 || at < begin)
            return NULL;
        numbers = arena_printf(s->arena, "%s%s%" PRId64, numbers, q ? ", " : "", (at - begin) / tile);
        sizes = arena_printf(s->arena, "%s%s%" PRId64, sizes, q ? " x " : "", tile);
        names = arena_printf(s->arena, "%s%s%s", names, q ? ", " : "", axis->name);
    }
    return arena_printf(s->arena, "tile (%s) of %s over %s", numbers, sizes, names);
}

const char *check_tile_text(Arena *a, const Tilings *list, const char *kernel, const char *tensor, const int64_t *dims, const int64_t *at)
{
    for (int k = 0; list && k < list->n; k++) {
        Search s = {.arena = a, .tiling = &list->at[k], .dims = dims, .at = at};
        if (strcmp(s.tiling->kernel, kernel) == 0 && strcmp(s.tiling->tensor, tensor) == 0 && solve(&s) && writes_element(&s))
            return text_of(&s);
    }
    return NULL;
}
