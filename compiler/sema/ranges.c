// Ranges: where an index without `in` runs.
//
// In the order of LANGUAGE.md: a declared left side; plain reads x[.., i, ..], which must all agree; reads i + c of a
// bordered dimension, which must agree too; the largest interval from 0 in which every read is in bounds. The first
// three are settled for all indices before the last is tried, which may need the ranges of the others. A recurrence's
// own undeclared tensors supply nothing, and neither do data-dependent subscripts (run time checks those).
//
// Affine conditions that a read is under count for the last rule; then, and for subscripts that are not linear, isl
// finds the first index at which some read leaves its dimension. Test: tests/unit/test_sema.c
#include "sema/context.h"

typedef struct {
    Expr *read;
    int nguards;
    Expr **guards;
} Site;

typedef struct {
    Sema *sema;
    EquationInfo *info;
    VEC(Site) sites;
    bool own;                      // reads of the recurrence's own tensors were passed over
} Inference;

typedef enum { NOTHING, FOUND, WRONG /* reported */, WAITING /* for the range of another index */ } Outcome;

// ---- reads ----

static void collect_site(const ReadSite *site, void *data)
{
    Inference *x = data;
    Arena *a = x->sema->arena;
    Site copy = {.read = site->read, .nguards = site->nguards + x->info->eq->conds.n};
    copy.guards = ARENA_ARRAY(a, Expr *, copy.nguards + 1);
    for (int i = 0; i < site->nguards; i++) copy.guards[i] = site->guards[i];
    for (int i = 0; i < x->info->eq->conds.n; i++) copy.guards[site->nguards + i] = x->info->eq->conds.at[i];
    VEC_PUSH(a, &x->sites, copy);
}

static TensorInfo *info_of(const Inference *x, const Tensor *t) { return x->sema->tensors.at[t->id]; }

// Undeclared tensors of the same recurrence as the left side.
static bool is_own(const Inference *x, const Tensor *t)
{
    const TensorInfo *lhs = x->info->lhs, *r = info_of(x, t);
    if (!lhs || t->declared || lhs->tensor->declared || lhs->component != r->component) return false;
    return x->sema->components.at[r->component]->recurrent;
}

static bool supplies(Inference *x, const Tensor *t)
{
    if (is_own(x, t)) {
        x->own = true;
        return false;
    }
    return info_of(x, t)->shaped;
}

// ---- a declared left side ----

static Expr *binary(Arena *a, Op op, Expr *x, Expr *y) { return expr_simplify(a, expr_binary(a, op, DT_INDEX, x, y)); }

// floor((x - y) / c); a null x or y counts as 0.
static Expr *floor_quotient(Arena *a, Expr *x, Expr *y, int64_t c)
{
    Expr *d = binary(a, OP_SUB, x, y);
    return binary(a, OP_FLOORDIV, d, expr_int(a, DT_INDEX, c, d->range));
}

// What is left of c*index + rest when the index is 0.
static Expr *rest_of(Arena *a, Expr *e, Index *index)
{
    Expr *zero = expr_int(a, DT_INDEX, 0, e->range);
    return expr_simplify(a, expr_substitute(a, e, 1, &index, &zero));
}

// The interval in which a linear subscript stays in lo..hi whatever the other indices are.
static bool preimage(Inference *x, Index *index, Expr *sub, Expr *lo, Expr *hi, Expr **from, Expr **to)
{
    Arena *a = x->sema->arena;
    bool linear = true;
    Expr *least = linear_extreme(a, sub, index, false), *most = least ? linear_extreme(a, sub, index, true) : NULL;
    if (!most) return false;
    int64_t c = linear_coefficient(least, index, &linear);
    if (!linear || c == 0 || c == INT64_MIN || c != linear_coefficient(most, index, &linear)) return false;
    Expr *rest_low = rest_of(a, least, index), *rest_high = rest_of(a, most, index), *last = linear_add(a, hi, -1);
    if (c > 0) {
        *from = floor_quotient(a, linear_add(a, lo, c - 1), rest_low, c);
        *to = linear_add(a, floor_quotient(a, last, rest_high, c), 1);
    } else {
        *from = floor_quotient(a, linear_add(a, rest_high, -c - 1), last, -c);
        *to = linear_add(a, floor_quotient(a, rest_low, lo, -c), 1);
    }
    return true;
}

static Outcome from_left_side(Inference *x, Index *index)
{
    const EquationInfo *e = x->info;
    Arena *a = x->sema->arena;
    if (!e->lhs || !e->lhs->shaped) return NOTHING;
    const Tensor *t = e->lhs->tensor;
    Expr *lo = NULL, *hi = NULL;
    bool plain = false;
    for (int d = 0; d < t->rank; d++) {
        Expr *from, *to, *sub = e->eq->subs[d];
        if (!expr_uses(sub, index) || !preimage(x, index, sub, t->lo[d], t->hi[d], &from, &to)) continue;
        plain = plain || sub->op == OP_INDEX;
        lo = lo ? binary(a, OP_MAX, lo, from) : from;
        hi = hi ? binary(a, OP_MIN, hi, to) : to;
    }
    if (!lo) return NOTHING;
    // h[t+1] of a dimension that starts at 0 starts with t = 0, not -1.
    index->lo = plain ? lo : binary(a, OP_MAX, lo, expr_int(a, DT_INDEX, 0, lo->range));
    index->hi = hi;
    return FOUND;
}

// ---- plain and bordered reads ----

static char *extent_text(Arena *a, Expr *lo, Expr *hi)
{
    if (expr_is_int(lo, 0)) return expr_text(a, hi);
    return arena_printf(a, "%s..%s", expr_text_subscript(a, lo), expr_text_subscript(a, hi));
}

static Outcome disagree(Inference *x, const Index *index, const Site *first, int d0, const Site *site, int d)
{
    Sema *s = x->sema;
    const Tensor *t = first->read->tensor, *u = site->read->tensor;
    char *one = extent_text(s->arena, t->lo[d0], t->hi[d0]), *two = extent_text(s->arena, u->lo[d], u->hi[d]);
    sema_error(s, D_INDEX_RANGE, site->read->range, "reads of `%s` disagree: dimension %d of `%s` has extent %s, dimension %d of `%s` has extent %s",
               index->name, d0, t->name, one, d, u->name, two);
    sema_note(s, first->read->range, "the other read is here");
    sema_help(s, "shapes never shrink to fit: give the range, `%s in 0..%s`, or assume `where %s == %s` on the kernel", index->name, one, one, two);
    return WRONG;
}

static bool is_shifted(const Expr *sub, const Index *index, bool plain)
{
    if (plain) return sub->op == OP_INDEX && sub->index == index;
    bool linear = true;
    if (linear_coefficient(sub, index, &linear) != 1 || !linear) return false;
    // i + c, where c uses no index.
    while (sub->op == OP_ADD || sub->op == OP_SUB) {
        bool left = expr_uses(sub->args[0], index);
        if (sub->args[left ? 1 : 0]->op != OP_CONST && sub->args[left ? 1 : 0]->op != OP_DIM) return false;
        sub = sub->args[left ? 0 : 1];
    }
    return sub->op == OP_INDEX;
}

static Outcome from_reads(Inference *x, Index *index, bool plain)
{
    const Site *first = NULL;
    int d0 = 0;
    for (int i = 0; i < x->sites.n; i++) {
        const Site *site = &x->sites.at[i];
        const Tensor *t = site->read->tensor;
        for (int d = 0; d < t->rank; d++) {
            if (!is_shifted(site->read->args[d], index, plain) || !supplies(x, t)) continue;
            if (!plain && t->border[d].kind == BORDER_NONE) continue;
            if (!first) {
                first = site;
                d0 = d;
                index->lo = t->lo[d];
                index->hi = t->hi[d];
            } else if (!sema_same(x->sema, index->lo, t->lo[d]) || !sema_same(x->sema, index->hi, t->hi[d])) {
                return disagree(x, index, first, d0, site, d);
            }
        }
    }
    return first ? FOUND : NOTHING;
}

// ---- the largest interval from 0 ----

typedef struct {
    VEC(Index *) at;
    bool open;                     // one of them has no range yet
} IndexSet;

static void add_indices(Arena *a, IndexSet *set, Expr *e);

typedef struct {
    Arena *arena;
    IndexSet *set;
} Collect;

static bool collect_index(Expr *e, void *data)
{
    Collect *c = data;
    if (e->op != OP_INDEX) return true;
    for (int i = 0; i < c->set->at.n; i++)
        if (c->set->at.at[i] == e->index) return true;
    VEC_PUSH(c->arena, &c->set->at, e->index);
    if (!e->index->lo) {
        c->set->open = true;
        return true;
    }
    add_indices(c->arena, c->set, e->index->lo);
    add_indices(c->arena, c->set, e->index->hi);
    return true;
}

// The indices of an expression and of their ranges.
static void add_indices(Arena *a, IndexSet *set, Expr *e)
{
    Collect c = {.arena = a, .set = set};
    expr_walk(e, collect_index, &c);
}

static bool shares_index(const IndexSet *set, const Expr *e)
{
    for (int i = 0; i < set->at.n; i++)
        if (expr_uses(e, set->at.at[i])) return true;
    return false;
}

static Expr *compare(Arena *a, Op op, Expr *x, Expr *y) { return expr_binary(a, op, DT_BOOL, x, y); }
static Expr *both(Arena *a, Expr *x, Expr *y) { return x ? expr_binary(a, OP_AND, DT_BOOL, x, y) : y; }

// The affine conditions under which a subscript is evaluated and leaves the dimension, from index >= 0 on.
static Expr *bad_condition(Inference *x, Index *index, const Site *site, int d, IndexSet *set)
{
    Arena *a = x->sema->arena;
    const Tensor *t = site->read->tensor;
    Expr *sub = site->read->args[d], *zero = expr_int(a, DT_INDEX, 0, sub->range);
    Expr *c = compare(a, OP_GE, expr_index(a, index, index->range), zero);
    VEC_PUSH(a, &set->at, index);
    add_indices(a, set, sub);
    for (int i = 0; i < site->nguards; i++) {
        Expr *guard = site->guards[i];
        if (!sema_is_affine_cond(guard) || !shares_index(set, guard)) continue;
        add_indices(a, set, guard);
        c = both(a, c, guard);
    }
    for (int i = 1; i < set->at.n; i++) {
        Index *other = set->at.at[i];
        if (!other->lo) continue;
        Expr *e = expr_index(a, other, other->range);
        c = both(a, both(a, c, compare(a, OP_GE, e, other->lo)), compare(a, OP_LT, e, other->hi));
    }
    Expr *out = expr_binary(a, OP_OR, DT_BOOL, compare(a, OP_LT, sub, t->lo[d]), compare(a, OP_GE, sub, t->hi[d]));
    return both(a, c, out);
}

// The first index >= 0 at which the subscript is out of bounds, by isl; NULL when there is none.
static Expr *first_bad(Inference *x, const IndexSet *set, const Expr *bad)
{
    Sema *s = x->sema;
    PolyIndices ix = {.n = set->at.n, .at = set->at.at};
    sema_budget_begin(s);
    Poly *p = sema_poly(s);
    isl_set *points = poly_cond(p, ix, bad);
    Expr *hi = NULL;
    if (points) {
        points = poly_under(p, points);
        points = isl_set_coalesce(isl_set_project_out(points, isl_dim_set, 1, (unsigned)(ix.n - 1)));
        if (isl_set_is_empty(points) == isl_bool_false) {
            isl_pw_aff *least = isl_set_dim_min(points, 0);
            least = isl_pw_aff_gist_params(least, isl_pw_aff_domain(isl_pw_aff_copy(least)));
            if (least) hi = poly_expr(p, s->arena, (PolyIndices){.n = 0}, least);
            isl_pw_aff_free(least);
        } else {
            isl_set_free(points);
        }
    }
    sema_budget_end(s);
    return hi;
}

static bool guarded(const Site *site, const Expr *sub, Index *const *indices, int n)
{
    for (int i = 0; i < site->nguards; i++) {
        if (!sema_is_affine_cond(site->guards[i])) continue;
        for (int j = 0; j < n; j++)
            if (expr_uses(sub, indices[j]) && expr_uses(site->guards[i], indices[j])) return true;
    }
    return false;
}

static Outcome report_start(Inference *x, const Index *index, const Site *site, int d)
{
    Sema *s = x->sema;
    const Tensor *t = site->read->tensor;
    sema_error(s, D_INDEX_RANGE, site->read->range, "cannot infer the range of `%s`: `%s` is outside dimension %d of `%s` already at %s = 0", index->name,
               expr_text(s->arena, site->read), d, t->name, index->name);
    sema_help(s, "give its range, `%s in 1..%s`, or `%s` a border", index->name, expr_text_subscript(s->arena, t->hi[d]), t->name);
    return WRONG;
}

static void lower(Arena *a, Expr **hi, Expr *bound) { *hi = *hi ? binary(a, OP_MIN, *hi, bound) : bound; }

// A linear subscript that no condition guards: by its extremes.
static Outcome bound_linear(Inference *x, Index *index, const Site *site, int d, Expr **hi)
{
    Arena *a = x->sema->arena;
    const Tensor *t = site->read->tensor;
    Expr *sub = site->read->args[d], *least = linear_extreme(a, sub, index, false), *most = least ? linear_extreme(a, sub, index, true) : NULL;
    if (!most) return NOTHING;
    bool linear = true;
    int64_t low = linear_coefficient(least, index, &linear), high = linear_coefficient(most, index, &linear);
    if (!linear || low == INT64_MIN || high == INT64_MIN) return NOTHING;
    Expr *rest_low = rest_of(a, least, index), *rest_high = rest_of(a, most, index), *last = linear_add(a, t->hi[d], -1);
    if (high > 0) lower(a, hi, linear_add(a, floor_quotient(a, last, rest_high, high), 1));
    if (low < 0) lower(a, hi, linear_add(a, floor_quotient(a, rest_low, t->lo[d], -low), 1));
    bool starts = low <= 0 || sema_nonnegative(x->sema, binary(a, OP_SUB, rest_low, t->lo[d]));
    starts = starts && (high >= 0 || sema_nonnegative(x->sema, binary(a, OP_SUB, last, rest_high)));
    return starts ? FOUND : report_start(x, index, site, d);
}

static Outcome bound_subscript(Inference *x, Index *index, const Site *site, int d, Expr **hi)
{
    Sema *s = x->sema;
    Expr *sub = site->read->args[d];
    if (!sema_is_affine(sub)) return NOTHING;
    IndexSet used = {0};
    VEC_PUSH(s->arena, &used.at, index);
    add_indices(s->arena, &used, sub);
    if (used.open) return WAITING;
    if (!guarded(site, sub, used.at.at, used.at.n)) {
        Outcome o = bound_linear(x, index, site, d, hi);
        if (o != NOTHING) return o;
    }
    IndexSet set = {0};
    Expr *bad = bad_condition(x, index, site, d, &set);
    if (set.open) return WAITING;
    Expr *bound = first_bad(x, &set, bad);
    if (!bound) return NOTHING;
    lower(s->arena, hi, bound);
    return FOUND;
}

static Outcome from_bounds(Inference *x, Index *index)
{
    Expr *hi = NULL;
    for (int i = 0; i < x->sites.n; i++) {
        const Site *site = &x->sites.at[i];
        const Tensor *t = site->read->tensor;
        for (int d = 0; d < t->rank; d++) {
            if (t->border[d].kind != BORDER_NONE || !expr_uses(site->read->args[d], index) || !supplies(x, t)) continue;
            Outcome o = bound_subscript(x, index, site, d, &hi);
            if (o == WRONG || o == WAITING) return o;
        }
    }
    if (!hi) return NOTHING;
    index->lo = expr_int(x->sema->arena, DT_INDEX, 0, index->range);
    index->hi = hi;
    return FOUND;
}

// ---- all open indices of an equation ----

static bool is_outer(const Inference *x, const Index *index)
{
    for (int i = 0; i < x->info->eq->indices.n; i++)
        if (x->info->eq->indices.at[i] == index) return true;
    return false;
}

static void report_open(Inference *x, const Index *index)
{
    Sema *s = x->sema;
    bool outer = is_outer(x, index);
    if (x->own && x->info->lhs && x->info->lhs->failed && s->failed) return;      // to declare it, as was said, gives it a range as well
    const char *place = x->info->lhs ? arena_printf(s->arena, "in the equation of `%s`", x->info->lhs->tensor->name) : "in this log";
    sema_error(s, D_INDEX_RANGE, index->range, "cannot infer the range of `%s` %s", index->name, place);
    if (x->own) sema_help(s, "a recurrence's own tensors supply no range: declare `%s`, or write `%s in %s`", x->info->lhs->tensor->name, index->name,
                           sema_some_range(s));
    else sema_help(s, outer ? "give it a range: `where %s in %s`" : "give it a range where it is introduced: `%s in %s`", index->name, sema_some_range(s));
}

static Outcome settle(Inference *x, Index *index)
{
    if (index->lo) return FOUND;                  // of a whole tensor
    Outcome o = is_outer(x, index) ? from_left_side(x, index) : NOTHING;
    if (o == NOTHING) o = from_reads(x, index, true);
    if (o == NOTHING) o = from_reads(x, index, false);
    return o;
}

static void collect_sites(Inference *x)
{
    EquationInfo *e = x->info;
    if (e->log)
        for (int i = 0; i < e->log->args.n; i++) expr_reads(x->sema->arena, e->log->args.at[i], collect_site, x);
    else expr_reads(x->sema->arena, e->eq->rhs, collect_site, x);
}

// A read whose shape an error made unknown: say nothing more.
static bool reads_unknown(const Inference *x)
{
    for (int i = 0; i < x->sites.n; i++) {
        const Tensor *t = x->sites.at[i].read->tensor;
        if (!info_of(x, t)->shaped && !is_own(x, t)) return true;
    }
    return false;
}

static bool settle_all(Inference *x)
{
    EquationInfo *e = x->info;
    bool good = true;
    for (int i = 0; i < e->open.n; i++) good = settle(x, e->open.at[i]) != WRONG && good;
    bool progress = good;
    while (progress) {
        progress = false;
        for (int i = 0; i < e->open.n; i++) {
            if (e->open.at[i]->lo) continue;
            Outcome o = from_bounds(x, e->open.at[i]);
            if (o == WRONG) return false;
            progress = progress || o == FOUND;
        }
    }
    for (int i = 0; good && i < e->open.n; i++) {
        if (e->open.at[i]->lo) continue;
        report_open(x, e->open.at[i]);
        return false;
    }
    return good;
}

bool sema_infer(Sema *s, EquationInfo *e)
{
    if (e->failed || !sema_whole_shapes(s, e)) return false;
    if (e->open.n == 0) return true;
    Inference x = {.sema = s, .info = e};
    collect_sites(&x);
    return !reads_unknown(&x) && settle_all(&x);
}

// ---- all equations ----

static void infer(Sema *s, EquationInfo *e)
{
    if (e->failed || sema_infer(s, e)) return;
    e->failed = true;
    if (e->lhs && !e->lhs->tensor->declared) e->lhs->failed = true;
}

static void infer_component(Sema *s, Component *c)
{
    for (int i = 0; i < c->tensors.n; i++)
        for (int j = 0; j < c->tensors.at[i]->equations.n; j++)
            if (!c->tensors.at[i]->equations.at[j]->eq->otherwise) infer(s, c->tensors.at[i]->equations.at[j]);
    for (int i = 0; i < c->tensors.n; i++) {
        TensorInfo *t = c->tensors.at[i];
        t->shaped = !t->failed && t->typed && sema_hull(s, t);
        if (!t->shaped) t->failed = true;
    }
    for (int i = 0; i < c->tensors.n; i++)
        for (int j = 0; j < c->tensors.at[i]->equations.n; j++) {
            EquationInfo *e = c->tensors.at[i]->equations.at[j];
            if (!c->tensors.at[i]->shaped) e->failed = true;
            else if (e->eq->otherwise) infer(s, e);
        }
}

void sema_ranges(Sema *s)
{
    for (int i = 0; i < s->components.n; i++) infer_component(s, s->components.at[i]);
    for (int i = 0; i < s->equations.n; i++) {
        EquationInfo *e = s->equations.at[i];
        if (!e->lhs || e->lhs->tensor->declared) infer(s, e);
    }
}
