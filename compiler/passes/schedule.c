// schedule: reads directives into wishes (see schedule.h).
//
// One table has a row for each directive of the language: name, what it takes, what it does, and the handler; a row without
// a handler is not built yet. Names resolve to pairs (statement, index) with a rank: how specific the name was. A wish
// replaces what is there unless that has a higher rank. Splits that force communication are taken back here (guarantee 7);
// what dependences forbid is found where the wish is used. Test: tests/errors/schedules/*.pto
#include "passes/schedule.h"

#include "passes/schedule_words.h"

#include <string.h>

typedef struct {
    WordContext c;
    Schedule *s;
    Program *g;
    const Equation **main;        // by origin: the equation of the source, after normalize
    int norigins;
    int rank;                     // added to that of names: `on` a target counts more
    bool parts;                   // `c.k` of this directive: only a reduction or scan in c has k
} Reader;

enum { RANK_ALL = 1, RANK_INDEX, RANK_PART, RANK_TENSOR, RANK_EQUATION, RANK_ON = 8 };
enum { OF_TILE, OF_PARALLEL, OF_ORDER, OF_VECTOR, OF_UNROLL, OF_OVERLAP };

typedef struct { Stmt *stmt; int idx, rank; } Target;
typedef VEC(Target) Targets;

// ---- names --------------------------------------------------------------------------------------------------------

static const Equation *source_of(const Reader *r, const Equation *e)
{
    return e->origin >= 0 && e->origin < r->norigins && r->main[e->origin] ? r->main[e->origin] : e;
}

// How well a name fits an equation: its own, its tensor's, or that of the equation of the source it was taken out of.
static int rank_of(const Reader *r, const Equation *e, const char *name)
{
    if (strcmp(e->name, name) == 0)
        return RANK_EQUATION;
    if (strcmp(e->lhs->name, name) == 0)
        return RANK_TENSOR;
    const Equation *m = source_of(r, e);
    return strcmp(m->name, name) == 0 || strcmp(m->lhs->name, name) == 0 ? RANK_PART : 0;
}

static void unknown_equation(Reader *r, Range range, const char *name)
{
    VEC(const char *) names = { 0 };
    for (int i = 0; i < r->g->kernel->equations.n; i++) {
        const Equation *e = r->g->kernel->equations.at[i];
        VEC_PUSH(r->c.a, &names, e->name);
        VEC_PUSH(r->c.a, &names, e->lhs->name);
    }
    for (int i = 0; i < r->g->kernel->params.n; i++)
        if (r->g->kernel->params.at[i].tensor && strcmp(r->g->kernel->params.at[i].tensor->name, name) == 0) {
            diag_report(r->c.d, D_SCHEDULE, range, "`%s` is an input: nothing computes it", name);
            return;
        }
    words_unknown(&r->c, D_SCHEDULE, range, "no equation or tensor is called", name, names.n, names.at);
}

static void unknown_index(Reader *r, Range range, const char *name, const char *of)
{
    VEC(const char *) names = { 0 };
    for (int i = 0; i < r->g->stmts.n; i++)
        for (int k = 0; k < r->g->stmts.at[i]->n; k++)
            if (!of || rank_of(r, r->g->stmts.at[i]->eq, of))
                VEC_PUSH(r->c.a, &names, r->g->stmts.at[i]->index[k]->name);
    const char *what = of ? arena_printf(r->c.a, "`%s` has no index", of) : "no equation has an index";
    words_unknown(&r->c, D_SCHEDULE, range, what, name, names.n, names.at);
}

static const char *owner_of(Reader *r, const char *path, const char **index)
{
    const char *dot = strrchr(path, '.');
    *index = dot ? dot + 1 : path;
    return dot ? arena_strndup(r->c.a, path, (size_t)(dot - path)) : NULL;
}

// How well a path fits an index of a statement: `i`, or what names the equation, a dot, and `i`. (Names of indices that the
// compiler made may hold dots.)
static int index_rank(Reader *r, const Stmt *s, int idx, const char *path)
{
    const char *name = s->index[idx]->name;
    size_t all = strlen(path), n = strlen(name);
    if (all < n || strcmp(path + all - n, name) != 0)
        return 0;
    if (all == n)
        return RANK_INDEX;
    return path[all - n - 1] == '.' ? rank_of(r, s->eq, arena_strndup(r->c.a, path, all - n - 1)) : 0;
}

// Does only a part of the equation have the index: `c.k` where c[i, j] = sum(k) ...?
static bool is_of_part(Reader *r, const char *path)
{
    bool part = false;
    for (int i = 0; strchr(path, '.') && i < r->g->stmts.n; i++)
        for (int k = 0; k < r->g->stmts.at[i]->n; k++) {
            int rank = index_rank(r, r->g->stmts.at[i], k, path);
            if (rank > RANK_PART)
                return false;
            part = part || rank == RANK_PART;
        }
    return part;
}

static void no_index(Reader *r, const char *path, Range range)
{
    const char *name, *of = owner_of(r, path, &name);
    for (int i = 0; of && i < r->g->stmts.n; i++)
        if (rank_of(r, r->g->stmts.at[i]->eq, of)) {
            unknown_index(r, range, name, of);
            return;
        }
    if (of)
        unknown_equation(r, range, of);
    else
        unknown_index(r, range, name, NULL);
}

// `i`, `u.i`, `u.1.i`: the statements that have the index. False after an error.
static bool find_index(Reader *r, const char *path, Range range, Targets *out)
{
    for (int i = 0; i < r->g->stmts.n; i++)
        for (int k = 0; k < r->g->stmts.at[i]->n; k++) {
            int rank = index_rank(r, r->g->stmts.at[i], k, path);
            if (rank && (rank != RANK_PART || r->parts) && !depend_is_chosen(r->g, r->g->stmts.at[i], k))
                VEC_PUSH(r->c.a, out, ((Target){ r->g->stmts.at[i], k, rank + r->rank }));
        }
    if (out->n == 0)
        no_index(r, path, range);
    return out->n > 0;
}

// The statements of an equation, or of all of a tensor; those taken out of its equations count when `parts`.
static bool find_statements(Reader *r, const char *name, Range range, bool parts, Targets *out)
{
    bool equation = false;
    for (int i = 0; i < r->g->stmts.n; i++)
        equation = equation || rank_of(r, r->g->stmts.at[i]->eq, name) == RANK_EQUATION;
    for (int i = 0; i < r->g->stmts.n; i++) {
        Stmt *s = r->g->stmts.at[i];
        int rank = rank_of(r, s->eq, name);
        if (rank == RANK_EQUATION || (rank == RANK_TENSOR && !equation) || (rank == RANK_PART && parts))
            VEC_PUSH(r->c.a, out, ((Target){ s, -1, rank + r->rank }));
    }
    if (out->n == 0)
        unknown_equation(r, range, name);
    return out->n > 0;
}

static Tensor *find_tensor(Reader *r, const char *name, Range range)
{
    VEC(const char *) names = { 0 };
    for (int i = 0; i < r->g->kernel->tensors.n; i++) {
        Tensor *t = r->g->kernel->tensors.at[i];
        if (strcmp(t->name, name) == 0)
            return t;
        VEC_PUSH(r->c.a, &names, t->name);
    }
    words_unknown(&r->c, D_SCHEDULE, range, "there is no tensor", name, names.n, names.at);
    return NULL;
}

// ---- wishes -------------------------------------------------------------------------------------------------------

static StmtWish *wish_of(Reader *r, const Stmt *s)
{
    StmtWish **w = &r->s->stmt[s->id];
    if (!*w) {
        *w = ARENA_NEW(r->c.a, StmtWish);
        (*w)->vector = VECTOR_ANY;
    }
    return *w;
}

static TensorWish *tensor_wish(Reader *r, const Tensor *t)
{
    TensorWish **w = &r->s->tensor[t->id];
    if (!*w) {
        *w = ARENA_NEW(r->c.a, TensorWish);
        (*w)->fold = ARENA_ARRAY(r->c.a, int64_t, t->rank + 1);
    }
    return *w;
}

// May a wish of this rank replace the one that is there? Then its rank is noted.
static bool outranks(StmtWish *w, int kind, int slot, int rank)
{
    if (rank < w->rank[kind][slot])
        return false;
    w->rank[kind][slot] = rank;
    return true;
}

static void wrong_form(Reader *r, Range range, const char *name);

static const TreeWord *single(const TreeClause *c)
{
    return c->words.n == 1 ? c->words.at[0] : NULL;
}

// The one path of a clause without a key, or NULL after an error.
static const char *path_of(Reader *r, const TreeDirective *d, const TreeClause *c)
{
    const TreeWord *w = single(c);
    if (!c->key && w && w->kind == WORD_PATH)
        return w->text;
    wrong_form(r, c->range, d->name);
    return NULL;
}

// ---- tile -----------------------------------------------------------------------------------------------------------

static void add_level(Reader *r, const TreeDirective *d, const Target *t, const TileSize *size)
{
    StmtWish *w = wish_of(r, t->stmt);
    if (!outranks(w, OF_TILE, t->idx, t->rank))
        return;
    TileWish *tile = ARENA_NEW(r->c.a, TileWish);
    if (w->tile[t->idx] && w->tile[t->idx]->source == d)
        *tile = *w->tile[t->idx];
    tile->source = d;
    if (tile->n < MAX_LEVELS)
        tile->level[tile->n++] = *size;
    else
        diag_report(r->c.d, D_UNSUPPORTED, size->range, "more than %d levels of tiles are not built yet", MAX_LEVELS);
    w->tile[t->idx] = tile;
}

// i = 64, j = 256 in L2, 64 in L1: a size without a key is one more level of the index before.
static void read_tile(Reader *r, const TreeDirective *d)
{
    const TreeClause *named = NULL;
    for (int i = 0; i < d->clauses.n; i++) {
        const TreeClause *c = &d->clauses.at[i];
        Words w = words_of(c);
        TileSize size;
        Targets targets = { 0 };
        named = c->key ? c : named;
        if (!named) {
            wrong_form(r, c->range, d->name);
            return;
        }
        if (!words_size(&r->c, &w, &size) || !find_index(r, named->key, named->key_range, &targets))
            continue;
        for (int t = 0; t < targets.n; t++)
            add_level(r, d, &targets.at[t], &size);
    }
}

// ---- parallel ---------------------------------------------------------------------------------------------------------

static bool is_accumulated(const Target *t)
{
    return t->stmt->kind == STMT_UPDATE && t->idx >= t->stmt->nouter;
}

static bool is_scanned(const Target *t)
{
    return t->stmt->kind == STMT_SCAN && t->stmt->index[t->idx] == t->stmt->eq->nest->along;
}

static const char *better_axes(Reader *r, const Target *t)
{
    const char *list = NULL;
    for (int i = 0; i < t->stmt->nouter; i++)
        if (i != t->idx)
            list = list ? arena_printf(r->c.a, "%s, `%s`", list, t->stmt->index[i]->name) : arena_printf(r->c.a, "`%s`", t->stmt->index[i]->name);
    return list;
}

// Guarantee 7: workers would have to exchange what they accumulate. The axis stays inside each task.
static bool communicates(Reader *r, const Targets *targets, Range range)
{
    for (int i = 0; i < targets->n; i++) {
        const Target *t = &targets->at[i];
        if (!is_accumulated(t) && !is_scanned(t))
            continue;
        const char *name = t->stmt->index[t->idx]->name, *of = source_of(r, t->stmt->eq)->lhs->name, *better = better_axes(r, t);
        diag_report(r->c.d, D_COMMUNICATION, range, "a split of the %s `%s` along `%s` would need communication between tasks",
                    is_scanned(t) ? "scan in" : "reduction in", of, name);
        diag_note(r->c.d, t->stmt->eq->range, "%s along `%s` here; `%s` stays inside each task", is_scanned(t) ? "each element needs the one before" : "all elements are combined", name, name);
        if (better)
            diag_help(r->c.d, "the better axis is %s", better);
        else
            diag_help(r->c.d, "there is no other axis to split: it runs as one task");
        return true;
    }
    return false;
}

static void add_axis(Reader *r, const Target *t, const ParallelWish *p, Range range)
{
    StmtWish *w = wish_of(r, t->stmt);
    if (!outranks(w, OF_PARALLEL, 0, t->rank))
        return;
    if (w->parallel != p)
        w->naxes = 0;
    w->parallel = p;
    for (int i = 0; i < w->naxes; i++)
        if (w->axis[i].idx == t->idx)
            return;
    w->axis[w->naxes++] = (IndexWish){ t->idx, range };
}

static bool read_mode(Reader *r, Words *w, ParallelWish *p)
{
    static const struct { const char *name; GridMode mode; } modes[] = { { "static", MODE_STATIC }, { "dynamic", MODE_DYNAMIC }, { "wave", MODE_WAVE } };
    while (words_peek(w)) {
        int64_t n;
        bool found = false;
        for (int i = 0; i < 3 && !found; i++)
            if (words_accept(w, modes[i].name)) {
                found = true;
                p->mode = modes[i].mode;
            }
        if (!found && words_accept(w, "max")) {
            if (!words_number(w, &n) || n < 1 || n > 4096) {
                diag_report(r->c.d, D_SCHEDULE, words_here(w), "`max` takes a number of workers from 1 to 4096");
                return false;
            }
            p->max = (int)n;
            found = true;
        }
        if (!found) {
            diag_report(r->c.d, D_SCHEDULE, words_here(w), "`static`, `dynamic`, `wave` or `max n` was expected here");
            return false;
        }
    }
    return true;
}

// `parallel none`, `parallel y = none`: no grid.
static bool read_serial(Reader *r, const TreeDirective *d, ParallelWish *p)
{
    const TreeClause *c = &d->clauses.at[0];
    const TreeWord *w = single(c);
    if (d->clauses.n != 1 || !w || w->kind != WORD_PATH || strcmp(w->text, "none") != 0)
        return false;
    Targets targets = { 0 };
    if (c->key)
        find_statements(r, c->key, c->key_range, true, &targets);
    for (int i = 0; !c->key && i < r->g->stmts.n; i++)
        VEC_PUSH(r->c.a, &targets, ((Target){ r->g->stmts.at[i], -1, RANK_ALL + r->rank }));
    for (int i = 0; i < targets.n; i++) {
        StmtWish *wish = wish_of(r, targets.at[i].stmt);
        if (!outranks(wish, OF_PARALLEL, 0, targets.at[i].rank))
            continue;
        wish->parallel = p;
        wish->naxes = 0;
        p->mode = MODE_SERIAL;
    }
    return true;
}

static void read_parallel(Reader *r, const TreeDirective *d)
{
    ParallelWish *p = ARENA_NEW(r->c.a, ParallelWish);
    *p = (ParallelWish){ .mode = MODE_AUTO, .range = d->range };
    if (d->clauses.n == 0) {
        wrong_form(r, d->range, d->name);
        return;
    }
    if (read_serial(r, d, p))
        return;
    for (int i = 0; i < d->clauses.n; i++) {
        const TreeClause *c = &d->clauses.at[i];
        Words w = words_of(c);
        const TreeWord *name = words_peek(&w);
        if (c->key || !name || name->kind != WORD_PATH) {
            wrong_form(r, c->range, d->name);
            return;
        }
        w.at++;
        Targets targets = { 0 };
        if (!read_mode(r, &w, p) || !find_index(r, name->text, name->range, &targets) || communicates(r, &targets, name->range))
            continue;
        p->naxes++;
        for (int t = 0; t < targets.n; t++)
            add_axis(r, &targets.at[t], p, name->range);
    }
}

// ---- order, vectorize, unroll -------------------------------------------------------------------------------------------

// What each statement has of the list, in the order of the list.
static void read_order(Reader *r, const TreeDirective *d)
{
    VEC(StmtWish *) seen = { 0 };
    for (int i = 0; i < d->clauses.n; i++) {
        const char *path = path_of(r, d, &d->clauses.at[i]);
        Targets targets = { 0 };
        if (!path || !find_index(r, path, d->clauses.at[i].range, &targets))
            return;
        for (int t = 0; t < targets.n; t++) {
            StmtWish *w = wish_of(r, targets.at[t].stmt);
            if (!outranks(w, OF_ORDER, 0, targets.at[t].rank))
                continue;
            bool known = false;
            for (int k = 0; k < seen.n; k++)
                known = known || seen.at[k] == w;
            if (!known) {
                w->norder = 0;
                VEC_PUSH(r->c.a, &seen, w);
            }
            bool twice = false;
            for (int k = 0; k < w->norder; k++)
                twice = twice || w->order[k].idx == targets.at[t].idx;
            if (twice) {
                diag_report(r->c.d, D_SCHEDULE, d->clauses.at[i].range, "`%s` comes twice in this order", path);
                return;
            }
            if (w->norder < MAX_INDICES)
                w->order[w->norder++] = (IndexWish){ targets.at[t].idx, d->clauses.at[i].range };
        }
    }
    if (d->clauses.n == 0)
        wrong_form(r, d->range, d->name);
}

static void set_vector(Reader *r, const Targets *targets, bool none, int lanes, Range range)
{
    for (int i = 0; i < targets->n; i++) {
        StmtWish *w = wish_of(r, targets->at[i].stmt);
        if (!outranks(w, OF_VECTOR, 0, targets->at[i].rank))
            continue;
        w->vector = none ? VECTOR_NONE : targets->at[i].idx;
        w->lanes = none ? 1 : lanes;
        w->vector_range = range;
    }
}

static bool is_none(const TreeWord *w)
{
    return w && w->kind == WORD_PATH && strcmp(w->text, "none") == 0;
}

static bool lanes_of(Reader *r, const TreeClause *c, int *lanes)
{
    Words w = words_of(c);
    int64_t n;
    if (words_number(&w, &n) && !words_peek(&w) && n >= 2 && n <= 64 && (n & (n - 1)) == 0) {
        *lanes = (int)n;
        return true;
    }
    diag_report(r->c.d, D_SCHEDULE, c->range, "lanes are a power of two from 2 to 64, or `none`");
    return false;
}

static void read_vectorize(Reader *r, const TreeDirective *d)
{
    for (int i = 0; i < d->clauses.n; i++) {
        const TreeClause *c = &d->clauses.at[i];
        const TreeWord *w = single(c);
        Targets targets = { 0 };
        int lanes = 0;
        bool none = is_none(w);
        const char *path = c->key ? c->key : none ? NULL : path_of(r, d, c);
        if (none && !c->key)
            for (int s = 0; s < r->g->stmts.n; s++)
                VEC_PUSH(r->c.a, &targets, ((Target){ r->g->stmts.at[s], -1, RANK_ALL + r->rank }));
        if (!path && !none)
            continue;
        if (path && none && !find_statements(r, path, c->key_range, true, &targets))
            continue;
        if (path && !none && (!find_index(r, path, c->key ? c->key_range : c->range, &targets) || (c->key && !lanes_of(r, c, &lanes))))
            continue;
        set_vector(r, &targets, none, lanes, d->range);
    }
    if (d->clauses.n == 0)
        wrong_form(r, d->range, d->name);
}

static void read_unroll(Reader *r, const TreeDirective *d)
{
    for (int i = 0; i < d->clauses.n; i++) {
        const TreeClause *c = &d->clauses.at[i];
        Words w = words_of(c);
        int64_t n;
        Targets targets = { 0 };
        if (!c->key) {
            wrong_form(r, c->range, d->name);
            continue;
        }
        if (!words_number(&w, &n) || words_peek(&w) || n < 1 || n > 64) {
            diag_report(r->c.d, D_SCHEDULE, c->range, "`unroll` takes a number from 1 to 64");
            continue;
        }
        if (!find_index(r, c->key, c->key_range, &targets))
            continue;
        for (int t = 0; t < targets.n; t++)
            if (outranks(wish_of(r, targets.at[t].stmt), OF_UNROLL, targets.at[t].idx, targets.at[t].rank))
                wish_of(r, targets.at[t].stmt)->unroll[targets.at[t].idx] = (int)n;
    }
    if (d->clauses.n == 0)
        wrong_form(r, d->range, d->name);
}

// ---- fuse, materialize, fold, overlap -----------------------------------------------------------------------------------

// Puts a statement into a class; classes that meet become one.
static void join_class(Reader *r, const Stmt *s, int class)
{
    StmtWish *w = wish_of(r, s);
    int old = w->fuse;
    w->fuse = class;
    for (int i = 0; old && i < r->g->stmts.n; i++)
        if (r->s->stmt[i] && r->s->stmt[i]->fuse == old)
            r->s->stmt[i]->fuse = class;
}

// fuse a, b into c
static void read_fuse(Reader *r, const TreeDirective *d)
{
    bool into = false;
    VEC_PUSH(r->c.a, &r->s->classes, d->range);
    for (int i = 0; i < d->clauses.n; i++) {
        Words w = words_of(&d->clauses.at[i]);
        for (const TreeWord *x; !d->clauses.at[i].key && (x = words_peek(&w)) && x->kind == WORD_PATH;) {
            w.at++;
            Targets targets = { 0 };
            if (!find_statements(r, x->text, x->range, false, &targets))
                return;
            for (int t = 0; t < targets.n; t++)
                join_class(r, targets.at[t].stmt, r->s->classes.n);
            if (into || !words_accept(&w, "into"))
                break;
            into = true;
        }
        if (words_peek(&w) || d->clauses.at[i].key || (into && i + 1 < d->clauses.n)) {
            wrong_form(r, d->range, d->name);
            return;
        }
    }
    if (!into)
        wrong_form(r, d->range, d->name);
}

static void read_materialize(Reader *r, const TreeDirective *d)
{
    for (int i = 0; i < d->clauses.n; i++) {
        const char *name = path_of(r, d, &d->clauses.at[i]);
        Tensor *t = name ? find_tensor(r, name, d->clauses.at[i].range) : NULL;
        if (!t)
            continue;
        if (t->kind == TENSOR_INPUT || t->kind == TENSOR_OUTPUT) {
            diag_report(r->c.d, D_SCHEDULE, d->clauses.at[i].range, "`%s` is a parameter, which always has storage of its own", name);
            continue;
        }
        tensor_wish(r, t)->materialize = true;
        tensor_wish(r, t)->range = d->range;
    }
    if (d->clauses.n == 0)
        wrong_form(r, d->range, d->name);
}

// Names were checked, and the substitution made, by schedule_inline.
static void read_inline(Reader *r, const TreeDirective *d)
{
    if (d->clauses.n == 0)
        wrong_form(r, d->range, d->name);
}

// The dimension of a tensor that its equations subscript with an index of this name; -1: none.
static int dimension_of(Reader *r, const Tensor *t, const char *index)
{
    for (int i = 0; i < r->g->writers[t->id].n; i++) {
        const Stmt *s = r->g->writers[t->id].at[i];
        for (int k = 0; k < s->n; k++)
            for (int d = 0; strcmp(s->index[k]->name, index) == 0 && d < t->rank; d++)
                if (expr_uses(s->subs[d], s->index[k]))
                    return d;
    }
    return -1;
}

static void read_fold(Reader *r, const TreeDirective *d)
{
    for (int i = 0; i < d->clauses.n; i++) {
        const TreeClause *c = &d->clauses.at[i];
        Words w = words_of(c);
        const char *index, *name = c->key ? owner_of(r, c->key, &index) : NULL;
        int64_t n;
        if (!name || !words_number(&w, &n) || words_peek(&w) || n < 1) {
            wrong_form(r, c->range, d->name);
            continue;
        }
        Tensor *t = find_tensor(r, name, c->key_range);
        if (!t)
            continue;
        int dim = dimension_of(r, t, index);
        if (dim < 0)
            unknown_index(r, c->key_range, index, name);
        else if (t->kind == TENSOR_INPUT || t->kind == TENSOR_OUTPUT)
            diag_report(r->c.d, D_SCHEDULE, c->range, "`%s` is a parameter, which the caller stores as a whole", name);
        else {
            tensor_wish(r, t)->fold[dim] = n;
            tensor_wish(r, t)->fold_range = c->range;
        }
    }
    if (d->clauses.n == 0)
        wrong_form(r, d->range, d->name);
}

static bool read_pair(const TreeWord *group, OverlapWish *o)
{
    if (!group || group->kind != WORD_GROUP || group->group.n != 2)
        return false;
    Words first = words_of(&group->group.at[0]), second = words_of(&group->group.at[1]);
    return words_number(&first, &o->before) && !words_peek(&first) && words_number(&second, &o->after) && !words_peek(&second);
}

static void read_overlap(Reader *r, const TreeDirective *d)
{
    for (int i = 0; i < d->clauses.n; i++) {
        const TreeClause *c = &d->clauses.at[i];
        OverlapWish *o = ARENA_NEW(r->c.a, OverlapWish);
        Targets targets = { 0 };
        o->range = c->range;
        if (!c->key || !strchr(c->key, '.') || !read_pair(single(c), o) || o->before > 4096 || o->after > 4096) {
            wrong_form(r, c->range, d->name);
            continue;
        }
        if (!find_index(r, c->key, c->key_range, &targets))
            continue;
        for (int t = 0; t < targets.n; t++) {
            const Target *x = &targets.at[t];
            bool whole = x->rank % RANK_ON >= RANK_TENSOR && x->stmt->kind != STMT_INIT && x->idx < x->stmt->nouter;
            if (whole && outranks(wish_of(r, x->stmt), OF_OVERLAP, x->idx, x->rank))
                wish_of(r, x->stmt)->overlap[x->idx] = o;
        }
    }
    if (d->clauses.n == 0)
        wrong_form(r, d->range, d->name);
}

// ---- the table ------------------------------------------------------------------------------------------------------------

static const struct {
    const char *name, *takes, *about;
    void (*read)(Reader *r, const TreeDirective *d);       // NULL: not built yet
} table[] = {
    { "tile", "i = SIZE [in TIER], ...", "size of the tiles of an index, from the outer to the inner level", read_tile },
    { "parallel", "i, ... [static|dynamic|wave] [max n]", "the indices that are split into tasks, the mode, the most workers; or `none`", read_parallel },
    { "order", "i, j, ...", "order of the loops, outermost first", read_order },
    { "vectorize", "i [= LANES], ... | none", "the index that runs in vectors", read_vectorize },
    { "unroll", "i = n, ...", "points, or vectors, of a loop at a time", read_unroll },
    { "fuse", "a, ... into b", "these equations share the tiles of one grid", read_fuse },
    { "inline", "t, ...", "computes t anew in place of each read", read_inline },
    { "materialize", "t, ...", "keeps t as a whole", read_materialize },
    { "fold", "t.i = n, ...", "at most n planes of t along i", read_fold },
    { "overlap", "t.i = (before, after), ...", "the halo on which a fused t is computed around each tile", read_overlap },
    { "place", "t, ... in TIER", "where tensors live", NULL },
    { "buffer", "t = n, ...", "single, double or triple buffering", NULL },
    { "prefetch", "t = n, ...", "tiles fetched ahead", NULL },
    { "engine", "t = UNIT", "the unit that computes", NULL },
    { "precision", "mixed | auto", "where narrow types are enough", NULL },
    { "layout", "t = LAYOUT", "how a tensor lies in memory", NULL },
    { "flatten", "t.i, t.j", "makes one loop of two", NULL },
    { "temp", "in TIER { }", "storage that is released at its end", NULL },
    { "replan", "n%", "width of the buckets of dynamic shapes", NULL },
    { "hint", "M = a..b", "the sizes that are expected", NULL },
    { "for", "k { }", "directives of a coarse task", NULL },
};
enum { NDIRECTIVES = sizeof table / sizeof *table };

static void wrong_form(Reader *r, Range range, const char *name)
{
    for (int i = 0; i < NDIRECTIVES; i++)
        if (strcmp(table[i].name, name) == 0)
            diag_report(r->c.d, D_SCHEDULE, range, "`%s` is written `%s %s`", name, name, table[i].takes);
}

void schedule_help(FILE *out)
{
    for (int i = 0; i < NDIRECTIVES; i++) {
        char form[80];
        snprintf(form, sizeof form, "%s %s;", table[i].name, table[i].takes);
        fprintf(out, "%-50s %s%s\n", form, table[i].about, table[i].read ? "" : " (not built yet)");
    }
}

static bool names_a_part(Reader *r, const TreeDirective *d)
{
    for (int i = 0; i < d->clauses.n; i++) {
        const TreeClause *c = &d->clauses.at[i];
        const char *path = c->key ? c->key : c->words.n && c->words.at[0]->kind == WORD_PATH ? c->words.at[0]->text : NULL;
        if (path && is_of_part(r, path))
            return true;
    }
    return false;
}

static void read_directive(Reader *r, const TreeDirective *d)
{
    const char *names[NDIRECTIVES];
    r->parts = names_a_part(r, d);
    for (int i = 0; i < NDIRECTIVES; i++) {
        names[i] = table[i].name;
        if (strcmp(names[i], d->name) != 0)
            continue;
        if (!table[i].read)
            diag_report(r->c.d, D_UNSUPPORTED, d->name_range, "the directive `%s` is not built yet", d->name);
        else if (d->has_block || d->assign)
            wrong_form(r, d->range, d->name);
        else
            table[i].read(r, d);
        return;
    }
    words_unknown(&r->c, D_SCHEDULE, d->name_range, "there is no directive", d->name, NDIRECTIVES, names);
}

// ---- the pass ---------------------------------------------------------------------------------------------------------------

static void find_sources(Reader *r)
{
    const Kernel *k = r->g->kernel;
    for (int i = 0; i < k->equations.n; i++)
        r->norigins = k->equations.at[i]->origin >= r->norigins ? k->equations.at[i]->origin + 1 : r->norigins;
    r->main = (const Equation **)ARENA_ARRAY(r->c.a, Equation *, r->norigins + 1);
    for (int i = 0; i < k->equations.n; i++) {
        const Equation *e = k->equations.at[i];
        if (e->origin >= 0 && e->lhs->kind != TENSOR_HIDDEN)
            r->main[e->origin] = e;
    }
}

bool schedule_told(Schedule *s, Range at)
{
    for (int i = 0; i < s->told.n; i++)
        if (s->told.at[i].begin == at.begin && s->told.at[i].end == at.end)
            return true;
    VEC_PUSH(s->a, &s->told, at);
    return false;
}

Schedule *schedule_read(Arena *a, Program *g, const Machine *m)
{
    Schedule *s = ARENA_NEW(a, Schedule);
    *s = (Schedule){ .a = a, .g = g };
    s->stmt = ARENA_ARRAY(a, StmtWish *, g->stmts.n + 1);
    s->tensor = ARENA_ARRAY(a, TensorWish *, g->kernel->tensors.n + 1);
    Reader r = { .c = { a, g->diags, g->kernel, m }, .s = s, .g = g };
    if (g->kernel->schedules.n)
        find_sources(&r);
    for (int i = 0; i < g->kernel->schedules.n; i++) {
        const TreeSchedule *t = g->kernel->schedules.at[i];
        if (!schedule_applies(&r.c, t))
            continue;
        r.rank = t->machine ? RANK_ON : 0;
        for (int k = 0; k < t->block.n && !diags_full(g->diags); k++)
            read_directive(&r, t->block.at[k]);
    }
    return s;
}
