// schedule_names: the names in a directive, resolved against the statements and tensors of a kernel.
//
// Names resolve to pairs (statement, index) with a rank: how specific the name was. A wish replaces what is there unless that has
// a higher rank.
#include "passes/schedule_reader.h"

#include <string.h>

// ---- names --------------------------------------------------------------------------------------------------------

const Equation *reader_source(const Reader *r, const Equation *e)
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
    const Equation *m = reader_source(r, e);
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

void reader_unknown_index(Reader *r, Range range, const char *name, const char *of)
{
    VEC(const char *) names = { 0 };
    for (int i = 0; i < r->g->stmts.n; i++)
        for (int k = 0; k < r->g->stmts.at[i]->n; k++)
            if (!of || rank_of(r, r->g->stmts.at[i]->eq, of))
                VEC_PUSH(r->c.a, &names, r->g->stmts.at[i]->index[k]->name);
    const char *what = of ? arena_printf(r->c.a, "`%s` has no index", of) : "no equation has an index";
    words_unknown(&r->c, D_SCHEDULE, range, what, name, names.n, names.at);
}

const char *reader_owner(Reader *r, const char *path, const char **index)
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
bool reader_is_part(Reader *r, const char *path)
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
    const char *name, *of = reader_owner(r, path, &name);
    for (int i = 0; of && i < r->g->stmts.n; i++)
        if (rank_of(r, r->g->stmts.at[i]->eq, of)) {
            reader_unknown_index(r, range, name, of);
            return;
        }
    if (of)
        unknown_equation(r, range, of);
    else
        reader_unknown_index(r, range, name, NULL);
}

// `i` alone means that of the equations, and that of a log only where none has it: a log prints what there is.
static void drop_logs(Targets *t)
{
    int kept = 0;
    for (int i = 0; i < t->n; i++)
        kept += t->at[i].stmt->eq->origin >= 0;
    if (kept == 0 || kept == t->n)
        return;
    kept = 0;
    for (int i = 0; i < t->n; i++)
        if (t->at[i].stmt->eq->origin >= 0)
            t->at[kept++] = t->at[i];
    t->n = kept;
}

// `i`, `u.i`, `u.1.i`: the statements that have the index. False after an error.
bool reader_index(Reader *r, const char *path, Range range, Targets *out)
{
    for (int i = 0; i < r->g->stmts.n; i++)
        for (int k = 0; k < r->g->stmts.at[i]->n; k++) {
            int rank = index_rank(r, r->g->stmts.at[i], k, path);
            if (rank && (rank != RANK_PART || r->parts) && !depend_is_chosen(r->g, r->g->stmts.at[i], k))
                VEC_PUSH(r->c.a, out, ((Target){ r->g->stmts.at[i], k, rank + r->rank }));
        }
    if (out->n == 0)
        no_index(r, path, range);
    if (!strchr(path, '.'))
        drop_logs(out);
    return out->n > 0;
}

// The statements of an equation, or of all of a tensor; those taken out of its equations count when `parts`.
bool reader_statements(Reader *r, const char *name, Range range, bool parts, Targets *out)
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

Tensor *reader_tensor(Reader *r, const char *name, Range range)
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

StmtWish *reader_wish(Reader *r, const Stmt *s)
{
    StmtWish **w = &r->s->stmt[s->id];
    if (!*w) {
        *w = ARENA_NEW(r->c.a, StmtWish);
        (*w)->vector = VECTOR_ANY;
        (*w)->engine = -1;
    }
    return *w;
}

TensorWish *reader_tensor_wish(Reader *r, const Tensor *t)
{
    TensorWish **w = &r->s->tensor[t->id];
    if (!*w) {
        *w = ARENA_NEW(r->c.a, TensorWish);
        (*w)->fold = ARENA_ARRAY(r->c.a, int64_t, t->rank + 1);
        (*w)->memory = (*w)->ahead = -1;
    }
    return *w;
}

// May a wish of this rank replace the one that is there? Then its rank is noted.
bool reader_outranks(StmtWish *w, int kind, int slot, int rank)
{
    if (rank < w->rank[kind][slot])
        return false;
    w->rank[kind][slot] = rank;
    return true;
}

const TreeWord *reader_single(const TreeClause *c)
{
    return c->words.n == 1 ? c->words.at[0] : NULL;
}

// The one path of a clause without a key, or NULL after an error.
const char *reader_path(Reader *r, const TreeDirective *d, const TreeClause *c)
{
    const TreeWord *w = reader_single(c);
    if (!c->key && w && w->kind == WORD_PATH)
        return w->text;
    reader_wrong_form(r, c->range, d->name);
    return NULL;
}

const TreeWord *reader_path_first(Reader *r, const TreeDirective *d, const TreeClause *c, Words *rest)
{
    *rest = words_of(c);
    const TreeWord *w = words_peek(rest);
    if (c->key || !w || w->kind != WORD_PATH) {
        reader_wrong_form(r, c->range, d->name);
        return NULL;
    }
    rest->at++;
    return w;
}
