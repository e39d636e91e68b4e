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

// "u.1" is equation 1 of `u`; "y.sum.1" a sum in `y`.
const char *stmt_text(Arena *a, const Program *g, const Stmt *s)
{
    const Equation *e = s->eq;
    const char *name = e->name, *dot = strchr(name, '.');
    (void)g;
    if (!dot)
        return arena_printf(a, "`%s`", name);
    const char *of = arena_strndup(a, name, (size_t)(dot - name));
    if (dot[1] < '0' || dot[1] > '9')
        return arena_printf(a, "the %.*s in `%s`", (int)strcspn(dot + 1, "."), dot + 1, of);
    const char *rest = strchr(dot + 1, '.');
    int number = (int)strcspn(dot + 1, ".");
    if (!rest)
        return arena_printf(a, "equation %.*s of `%s`", number, dot + 1, of);
    return arena_printf(a, "the %.*s in equation %.*s of `%s`", (int)strcspn(rest + 1, "."), rest + 1, number, dot + 1, of);
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
