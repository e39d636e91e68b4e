// schedule_check: words for what stands in the way of a schedule (see schedule_check.h). Guarantee 4: a schedule cannot change
// the meaning. Test: tests/errors/schedules/illegal.pto
#include "passes/schedule_check.h"

#include <string.h>

const char *distance_text(Arena *a, Distance d)
{
    bool low = d.min > -DISTANCE_INF, high = d.max < DISTANCE_INF;
    long long min = d.min, max = d.max;
    if (low && high)
        return min == max ? arena_printf(a, "distance %lld", min) : arena_printf(a, "distance %lld to %lld", min, max);
    if (low)
        return arena_printf(a, "distance %lld or more", min);
    return high ? arena_printf(a, "distance %lld or less", max) : "any distance";
}

static bool is_number(const char *part, size_t n)
{
    return n > 0 && strspn(part, "0123456789") >= n;
}

// The next part of a dotted name; its length in *n. NULL: there is none.
static const char *next_part(const char *from, size_t *n)
{
    if (*from != '.')
        return NULL;
    *n = strcspn(from + 1, ".");
    return from + 1;
}

// "u.1" is equation 1 of `u`, "u.1.0" a part of it, "y.sum.1" a sum in `y`.
const char *stmt_text(Arena *a, const Program *g, const Stmt *s)
{
    const char *name = s->eq->name, *at = name + strcspn(name, ".");
    const char *text = arena_printf(a, "`%.*s`", (int)(at - name), name), *part;
    size_t n;
    (void)g;
    for (int depth = 0; (part = next_part(at, &n)) && is_number(part, n); depth++, at = part + n)
        text = arena_printf(a, depth ? "part %.*s of %s" : "equation %.*s of %s", (int)n, part, text);
    if (part)
        text = arena_printf(a, "the %.*s in %s", (int)n, part, text);
    return text;
}

void note_dependence(Plan *p, const Dep *d)
{
    Diags *diags = p->g->diags;
    if (d->src->eq->origin >= 0)
        diag_note(diags, d->src->eq->range, "%s is computed here", stmt_text(p->a, p->g, d->src));
    if (d->read)
        diag_note(diags, d->read->range, "and read here, by %s", stmt_text(p->a, p->g, d->dst));
}

void refuse_dependence(Plan *p, Range at, const char *what, const Dep *d, Distance r, const char *index)
{
    const char *src = stmt_text(p->a, p->g, d->src), *dst = stmt_text(p->a, p->g, d->dst);
    diag_report(p->g->diags, D_ILLEGAL, at, "%s: %s needs what %s computes at %s along `%s`", what, dst, d->src == d->dst ? "it" : src,
                distance_text(p->a, r), index);
    note_dependence(p, d);
}
