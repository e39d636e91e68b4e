// schedule: reads directives into wishes (see schedule.h).
//
// One table has a row for each directive of the language: name, what it takes, what it does, and the handler; a row without
// a handler is not built yet. Names are resolved in schedule_names.c. Splits that force communication are taken back here (guarantee 7);
// what dependences forbid is found where the wish is used. Test: tests/errors/schedules/*.pto
#include "passes/schedule.h"

#include "passes/plan.h"
#include "passes/schedule_reader.h"

#include <string.h>

// ---- tile -----------------------------------------------------------------------------------------------------------

static void add_level(Reader *r, const TreeDirective *d, const Target *t, const TileSize *size)
{
    StmtWish *w = reader_wish(r, t->stmt);
    if (!reader_outranks(w, OF_TILE, t->idx, t->rank))
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
            reader_wrong_form(r, c->range, d->name);
            return;
        }
        if (!words_size(&r->c, &w, &size) || !reader_index(r, named->key, named->key_range, &targets))
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

// The blocks of a total (lift_reduce) are an axis to split: what is left to combine is one value for each.
static bool is_block(const Index *x)
{
    const char *dot = strrchr(x->name, '.');
    return dot && strcmp(dot, ".block") == 0;
}

// Guarantee 7: workers would have to exchange what they accumulate. The axis stays inside each task.
static bool communicates(Reader *r, const Targets *targets, Range range)
{
    for (int i = 0; i < targets->n; i++) {
        const Target *t = &targets->at[i];
        if ((!is_accumulated(t) && !is_scanned(t)) || is_block(t->stmt->index[t->idx]))
            continue;
        const char *name = t->stmt->index[t->idx]->name, *of = reader_source(r, t->stmt->eq)->lhs->name, *better = better_axes(r, t);
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
    StmtWish *w = reader_wish(r, t->stmt);
    if (!reader_outranks(w, OF_PARALLEL, 0, t->rank))
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
    const TreeWord *w = reader_single(c);
    if (d->clauses.n != 1 || !w || w->kind != WORD_PATH || strcmp(w->text, "none") != 0)
        return false;
    Targets targets = { 0 };
    if (c->key)
        reader_statements(r, c->key, c->key_range, true, &targets);
    for (int i = 0; !c->key && i < r->g->stmts.n; i++)
        VEC_PUSH(r->c.a, &targets, ((Target){ r->g->stmts.at[i], -1, RANK_ALL + r->rank }));
    for (int i = 0; i < targets.n; i++) {
        StmtWish *wish = reader_wish(r, targets.at[i].stmt);
        if (!reader_outranks(wish, OF_PARALLEL, 0, targets.at[i].rank))
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
    if (read_serial(r, d, p))
        return;
    for (int i = 0; i < d->clauses.n; i++) {
        const TreeClause *c = &d->clauses.at[i];
        Words w;
        const TreeWord *name = reader_path_first(r, d, c, &w);
        if (!name)
            return;
        Targets targets = { 0 };
        if (!read_mode(r, &w, p) || !reader_index(r, name->text, name->range, &targets) || communicates(r, &targets, name->range))
            continue;
        p->naxes++;
        for (int t = 0; t < targets.n; t++)
            if (!is_accumulated(&targets.at[t]) && !is_scanned(&targets.at[t]))
                add_axis(r, &targets.at[t], p, name->range);
    }
}

// ---- order, vectorize, unroll -------------------------------------------------------------------------------------------

// What each statement has of the list, in the order of the list.
static void read_order(Reader *r, const TreeDirective *d)
{
    VEC(StmtWish *) seen = { 0 };
    for (int i = 0; i < d->clauses.n; i++) {
        const char *path = reader_path(r, d, &d->clauses.at[i]);
        Targets targets = { 0 };
        if (!path || !reader_index(r, path, d->clauses.at[i].range, &targets))
            return;
        for (int t = 0; t < targets.n; t++) {
            StmtWish *w = reader_wish(r, targets.at[t].stmt);
            if (!reader_outranks(w, OF_ORDER, 0, targets.at[t].rank))
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
}

static void set_vector(Reader *r, const Targets *targets, bool none, int lanes, Range range)
{
    for (int i = 0; i < targets->n; i++) {
        StmtWish *w = reader_wish(r, targets->at[i].stmt);
        if (!reader_outranks(w, OF_VECTOR, 0, targets->at[i].rank))
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
        const TreeWord *w = reader_single(c);
        Targets targets = { 0 };
        int lanes = 0;
        bool none = is_none(w);
        const char *path = c->key ? c->key : none ? NULL : reader_path(r, d, c);
        if (none && !c->key)
            for (int s = 0; s < r->g->stmts.n; s++)
                VEC_PUSH(r->c.a, &targets, ((Target){ r->g->stmts.at[s], -1, RANK_ALL + r->rank }));
        if (!path && !none)
            continue;
        if (path && none && !reader_statements(r, path, c->key_range, true, &targets))
            continue;
        if (path && !none && (!reader_index(r, path, c->key ? c->key_range : c->range, &targets) || (c->key && !lanes_of(r, c, &lanes))))
            continue;
        set_vector(r, &targets, none, lanes, d->range);
    }
}

static void read_unroll(Reader *r, const TreeDirective *d)
{
    for (int i = 0; i < d->clauses.n; i++) {
        const TreeClause *c = &d->clauses.at[i];
        Words w = words_of(c);
        int64_t n;
        Targets targets = { 0 };
        if (!c->key) {
            reader_wrong_form(r, c->range, d->name);
            continue;
        }
        if (!words_number(&w, &n) || words_peek(&w) || n < 1 || n > 64) {
            diag_report(r->c.d, D_SCHEDULE, c->range, "`unroll` takes a number from 1 to 64");
            continue;
        }
        if (!reader_index(r, c->key, c->key_range, &targets))
            continue;
        for (int t = 0; t < targets.n; t++)
            if (reader_outranks(reader_wish(r, targets.at[t].stmt), OF_UNROLL, targets.at[t].idx, targets.at[t].rank))
                reader_wish(r, targets.at[t].stmt)->unroll[targets.at[t].idx] = (int)n;
    }
}

// ---- fuse, materialize, fold, overlap -----------------------------------------------------------------------------------

// Puts a statement into a class; classes that meet become one.
static void join_class(Reader *r, const Stmt *s, int class)
{
    StmtWish *w = reader_wish(r, s);
    int old = w->fuse;
    w->fuse = class;
    for (int i = 0; old && i < r->g->stmts.n; i++)
        if (r->s->stmt[i] && r->s->stmt[i]->fuse == old)
            r->s->stmt[i]->fuse = class;
}

// `fuse y into t`, where t is what y is computed from: the grid is that of the last one.
static void warn_direction(Reader *r, const Target *from, const Target *into, Range range)
{
    bool reads = false, is_read = false;
    for (int i = 0; i < r->g->deps.n; i++) {
        const Dep *d = r->g->deps.at[i];
        reads = reads || (d->src->eq->lhs == into->stmt->eq->lhs && d->dst->eq->lhs == from->stmt->eq->lhs);
        is_read = is_read || (d->src->eq->lhs == from->stmt->eq->lhs && d->dst->eq->lhs == into->stmt->eq->lhs);
    }
    const char *a = from->stmt->eq->lhs->name, *b = into->stmt->eq->lhs->name;
    if (from->stmt->eq->lhs == into->stmt->eq->lhs)
        diag_report(r->c.d, D_EMPTY_CLAUSE, range, "`%s` is fused into itself", a);
    else if (reads && !is_read) {
        diag_report(r->c.d, D_EMPTY_CLAUSE, range, "`%s` is computed from `%s`, so it is not fused into it", a, b);
        diag_help(r->c.d, "name the one that reads last: `fuse %s into %s`", b, a);
    }
}

// fuse a, b into c
static void read_fuse(Reader *r, const TreeDirective *d)
{
    bool into = false;
    Target last = { 0 };
    VEC_PUSH(r->c.a, &r->s->classes, d->range);
    for (int i = 0; i < d->clauses.n; i++) {
        Words w = words_of(&d->clauses.at[i]);
        for (const TreeWord *x; !d->clauses.at[i].key && (x = words_peek(&w)) && x->kind == WORD_PATH;) {
            w.at++;
            Targets targets = { 0 };
            if (!reader_statements(r, x->text, x->range, false, &targets))
                return;
            for (int t = 0; t < targets.n; t++)
                join_class(r, targets.at[t].stmt, r->s->classes.n);
            if (into)
                warn_direction(r, &last, &targets.at[0], x->range);
            last = targets.at[0];
            if (into || !words_accept(&w, "into"))
                break;
            into = true;
        }
        if (words_peek(&w) || d->clauses.at[i].key || (into && i + 1 < d->clauses.n)) {
            reader_wrong_form(r, d->range, d->name);
            return;
        }
    }
    if (!into)
        reader_wrong_form(r, d->range, d->name);
}

static void read_materialize(Reader *r, const TreeDirective *d)
{
    for (int i = 0; i < d->clauses.n; i++) {
        const char *name = reader_path(r, d, &d->clauses.at[i]);
        Tensor *t = name ? reader_tensor(r, name, d->clauses.at[i].range) : NULL;
        if (!t)
            continue;
        if (t->kind == TENSOR_INPUT || t->kind == TENSOR_OUTPUT) {
            diag_report(r->c.d, D_SCHEDULE, d->clauses.at[i].range, "`%s` is a parameter, which always has storage of its own", name);
            continue;
        }
        reader_tensor_wish(r, t)->materialize = true;
        reader_tensor_wish(r, t)->range = d->range;
    }
}

// Names were checked, and the substitution made, by schedule_rewrite.
static void read_inline(Reader *r, const TreeDirective *d) { }

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
        const char *index, *name = c->key ? reader_owner(r, c->key, &index) : NULL;
        int64_t n;
        if (!name || !words_number(&w, &n) || words_peek(&w) || n < 1) {
            reader_wrong_form(r, c->range, d->name);
            continue;
        }
        Tensor *t = reader_tensor(r, name, c->key_range);
        if (!t)
            continue;
        int dim = dimension_of(r, t, index);
        if (dim < 0)
            reader_unknown_index(r, c->key_range, index, name);
        else if (t->kind == TENSOR_INPUT || t->kind == TENSOR_OUTPUT)
            diag_report(r->c.d, D_SCHEDULE, c->range, "`%s` is a parameter, which the caller stores as a whole", name);
        else {
            reader_tensor_wish(r, t)->fold[dim] = n;
            reader_tensor_wish(r, t)->fold_range = c->range;
        }
    }
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
        if (!c->key || !strchr(c->key, '.') || !read_pair(reader_single(c), o) || o->before > 4096 || o->after > 4096) {
            reader_wrong_form(r, c->range, d->name);
            continue;
        }
        if (!reader_index(r, c->key, c->key_range, &targets))
            continue;
        for (int t = 0; t < targets.n; t++) {
            const Target *x = &targets.at[t];
            bool whole = x->rank % RANK_ON >= RANK_TENSOR && x->stmt->kind != STMT_INIT && x->idx < x->stmt->nouter;
            if (whole && reader_outranks(reader_wish(r, x->stmt), OF_OVERLAP, x->idx, x->rank))
                reader_wish(r, x->stmt)->overlap[x->idx] = o;
        }
    }
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
    { "place", "t, e.t, ... in TIER", "where tensors, or what an equation reads of them, live", read_place },
    { "buffer", "t = n, ...", "single, double or triple buffering", read_buffer },
    { "prefetch", "t = n, ...", "tiles fetched ahead", read_prefetch },
    { "engine", "t = UNIT", "the unit that computes", read_engine },
    { "precision", "mixed | auto", "where narrow types are enough", NULL },
    { "layout", "t = (1, 0), ...", "the dimensions of a tensor in memory, outermost first", read_layout },
    { "flatten", "t.i, t.j", "makes one loop of two", NULL },
    { "temp", "in TIER { t; ... }", "tensors that live there, each until its last use", read_temp },
    { "replan", "n%", "width of the buckets of dynamic shapes", NULL },
    { "hint", "M = a..b", "the sizes that are expected", read_hint },
    { "for", "k { }", "directives of a coarse task", NULL },
};
enum { NDIRECTIVES = sizeof table / sizeof *table };

void reader_wrong_form(Reader *r, Range range, const char *name)
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
        if (path && reader_is_part(r, path))
            return true;
    }
    return false;
}

// `parallel i, i`: the second one says nothing.
static void warn_repeated(Reader *r, const TreeDirective *d)
{
    for (int i = 1; i < d->clauses.n; i++) {
        const TreeWord *w = d->clauses.at[i].key ? NULL : reader_single(&d->clauses.at[i]);
        for (int k = 0; w && w->kind == WORD_PATH && k < i; k++) {
            const TreeClause *c = &d->clauses.at[k];
            if (!c->key && c->words.n > 0 && c->words.at[0]->kind == WORD_PATH && strcmp(c->words.at[0]->text, w->text) == 0) {
                diag_report(r->c.d, D_EMPTY_CLAUSE, d->clauses.at[i].range, "`%s` stands in this `%s` twice", w->text, d->name);
                break;
            }
        }
    }
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
        else if (d->has_block != (strcmp(d->name, "temp") == 0) || d->assign || (d->clauses.n == 0 && !d->has_block))
            reader_wrong_form(r, d->range, d->name);
        else {
            if (table[i].read != read_order)        // which refuses it
                warn_repeated(r, d);
            table[i].read(r, d);
        }
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

// Parts of one equation that are to share a grid run in parallel along the same indices, whichever of them is named.
static void inherit_axes(StmtWish *w, const Stmt *s, const StmtWish *from, const Stmt *source)
{
    if (w->parallel || w->fuse != from->fuse || s->eq->lhs != source->eq->lhs || s->eq->origin != source->eq->origin)
        return;
    IndexWish axis[MAX_INDICES];
    for (int k = 0; k < from->naxes; k++) {
        axis[k] = (IndexWish){ plan_index_called(s, source->index[from->axis[k].idx]->name), from->axis[k].range };
        if (axis[k].idx < 0)
            return;
    }
    memcpy(w->axis, axis, sizeof axis[0] * (size_t)from->naxes);
    w->naxes = from->naxes;
    w->parallel = from->parallel;
}

static void share_axes(Schedule *s, Program *g)
{
    for (int i = 0; i < g->stmts.n; i++)
        for (int k = 0; k < g->stmts.n; k++) {
            StmtWish *from = s->stmt[g->stmts.at[i]->id], *to = s->stmt[g->stmts.at[k]->id];
            if (from && to && from->fuse && from->parallel && from->naxes)
                inherit_axes(to, g->stmts.at[k], from, g->stmts.at[i]);
        }
}

Schedule *schedule_read(Arena *a, Program *g, const Machine *m)
{
    Schedule *s = ARENA_NEW(a, Schedule);
    *s = (Schedule){ .a = a, .g = g };
    s->stmt = ARENA_ARRAY(a, StmtWish *, g->stmts.n + 1);
    s->tensor = ARENA_ARRAY(a, TensorWish *, g->kernel->tensors.n + 1);
    s->hint = ARENA_ARRAY(a, DimHint, g->kernel->dims.n + 1);
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
    share_axes(s, g);
    return s;
}
