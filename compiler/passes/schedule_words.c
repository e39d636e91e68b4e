// schedule_words: reads the words of directives (see schedule_words.h).
//
// Expressions over dims are parsed here from words, by precedence: the grammar knows directives as lists of words, so
// that a new directive needs no new production. What `words_can_say` accepts, expr_text prints and words_expr reads back
// as the same tree; --emit-schedule relies on it. Test: tests/golden/schedules/sizes.pto, tests/errors/schedules/sizes.pto
#include "passes/schedule_words.h"

#include "base/closest.h"

#include <string.h>

// ---- words ------------------------------------------------------------------------------------------------------

const TreeWord *words_peek(const Words *w)
{
    return w->at < w->words->n ? w->words->at[w->at] : NULL;
}

bool words_accept(Words *w, const char *text)
{
    const TreeWord *x = words_peek(w);
    if (!x || (x->kind != WORD_PATH && x->kind != WORD_SYMBOL) || strcmp(x->text, text) != 0)
        return false;
    w->at++;
    return true;
}

bool words_number(Words *w, int64_t *n)
{
    const TreeWord *x = words_peek(w);
    if (!x || x->kind != WORD_NUMBER || x->ival > INT64_MAX)
        return false;
    *n = (int64_t)x->ival;
    w->at++;
    return true;
}

Range words_here(const Words *w)
{
    const TreeWord *x = words_peek(w);
    return x ? x->range : w->range;
}

void words_unknown(WordContext *c, DiagId id, Range range, const char *what, const char *name, int n, const char *const *names)
{
    diag_report(c->d, id, range, "%s `%s`", what, name);
    const char *closest = closest_of(name, n, names);
    if (closest)
        diag_help(c->d, "did you mean `%s`?", closest);
}

// ---- expressions ------------------------------------------------------------------------------------------------

static Expr *sum(WordContext *c, Words *w);

static Expr *expected(WordContext *c, const Words *w, const char *what)
{
    diag_report(c->d, D_SCHEDULE, words_here(w), "%s was expected here", what);
    return NULL;
}

static Expr *dim(WordContext *c, const TreeWord *w)
{
    const char **names = ARENA_ARRAY(c->a, const char *, c->kernel->dims.n + 1);
    for (int i = 0; i < c->kernel->dims.n; i++) {
        names[i] = c->kernel->dims.at[i]->name;
        if (strcmp(names[i], w->text) == 0)
            return expr_dim(c->a, c->kernel->dims.at[i], w->range);
    }
    words_unknown(c, D_SCHEDULE, w->range, "the kernel has no dimension", w->text, c->kernel->dims.n, names);
    return NULL;
}

static bool function_of(const char *name, Op *op)
{
    static const Op known[] = { OP_MAX, OP_MIN, OP_FLOORDIV, OP_MOD };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(op_name(known[i]), name) == 0) {
            *op = known[i];
            return true;
        }
    return false;
}

// max(a, b): a path and a group with two clauses.
static Expr *call(WordContext *c, Op op, const TreeWord *group)
{
    if (group->group.n != 2 || group->group.at[0].key || group->group.at[1].key) {
        diag_report(c->d, D_SCHEDULE, group->range, "`%s` takes two values", op_name(op));
        return NULL;
    }
    Expr *args[2];
    for (int i = 0; i < 2; i++) {
        Words w = words_of(&group->group.at[i]);
        args[i] = words_expr(c, &w);
        if (!args[i])
            return NULL;
        if (words_peek(&w))
            return expected(c, &w, "a comma or the closing bracket");
    }
    return expr_new(c->a, op, DT_INDEX, group->range, 2, args);
}

static Expr *bracketed(WordContext *c, const TreeWord *group)
{
    if (group->group.n != 1 || group->group.at[0].key) {
        diag_report(c->d, D_SCHEDULE, group->range, "one value was expected in these brackets");
        return NULL;
    }
    Words w = words_of(&group->group.at[0]);
    Expr *e = words_expr(c, &w);
    return e && words_peek(&w) ? expected(c, &w, "the closing bracket") : e;
}

static Expr *primary(WordContext *c, Words *w)
{
    int64_t n;
    Range at = words_here(w);
    if (words_number(w, &n))
        return expr_int(c->a, DT_INDEX, n, at);
    if (words_accept(w, "-")) {
        Expr *x = primary(c, w);
        if (!x)
            return NULL;
        return x->op == OP_CONST ? expr_int(c->a, DT_INDEX, -x->i, at) : expr_unary(c->a, OP_NEG, DT_INDEX, x);
    }
    const TreeWord *x = words_peek(w);
    if (!x || (x->kind != WORD_PATH && x->kind != WORD_GROUP))
        return expected(c, w, "a size");
    w->at++;
    if (x->kind == WORD_GROUP)
        return bracketed(c, x);
    const TreeWord *next = words_peek(w);
    Op op;
    if (next && next->kind == WORD_GROUP && function_of(x->text, &op)) {
        w->at++;
        return call(c, op, next);
    }
    return dim(c, x);
}

static Expr *product(WordContext *c, Words *w)
{
    Expr *x = primary(c, w);
    while (x) {
        Op op = words_accept(w, "*") ? OP_MUL : words_accept(w, "/") ? OP_DIV : words_accept(w, "%") ? OP_REM : OP_COUNT;
        if (op == OP_COUNT)
            break;
        Expr *y = primary(c, w);
        if (y && op != OP_MUL && expr_is_int(y, 0)) {
            diag_report(c->d, D_SCHEDULE, y->range, "a division by zero");
            return NULL;
        }
        x = y ? expr_binary(c->a, op, DT_INDEX, x, y) : NULL;
    }
    return x;
}

static Expr *sum(WordContext *c, Words *w)
{
    Expr *x = product(c, w);
    while (x) {
        Op op = words_accept(w, "+") ? OP_ADD : words_accept(w, "-") ? OP_SUB : OP_COUNT;
        if (op == OP_COUNT)
            break;
        Expr *y = product(c, w);
        x = y ? expr_binary(c->a, op, DT_INDEX, x, y) : NULL;
    }
    return x;
}

Expr *words_expr(WordContext *c, Words *w)
{
    return sum(c, w);
}

bool words_can_say(const Expr *e)
{
    switch ((int)e->op) {
    case OP_CONST: return e->type == DT_INDEX;
    case OP_DIM: return true;
    case OP_ADD: case OP_SUB: case OP_MUL: case OP_DIV: case OP_REM: case OP_NEG: case OP_MAX: case OP_MIN: case OP_FLOORDIV: case OP_MOD: break;
    default: return false;
    }
    for (int i = 0; i < e->n; i++)
        if (!words_can_say(e->args[i]))
            return false;
    return true;
}

// ---- sizes ------------------------------------------------------------------------------------------------------

enum { UNKNOWN = -(1 << 30) };                       // products of two of them stay in range

static int64_t capped(int64_t v)
{
    return v < UNKNOWN ? UNKNOWN : v > -UNKNOWN ? -UNKNOWN : v;
}

// A lower bound for all dims, which are never negative.
static int64_t lower(const Expr *e)
{
    int64_t x = e->n > 0 ? lower(e->args[0]) : 0, y = e->n > 1 ? lower(e->args[1]) : 0;
    switch ((int)e->op) {
    case OP_CONST: return capped(e->i);
    case OP_DIM: return 0;
    case OP_ADD: return capped(x + y);
    case OP_SUB: return e->args[1]->op == OP_CONST && y < -UNKNOWN ? capped(x - y) : UNKNOWN;
    case OP_MUL: return x >= 0 && y >= 0 ? capped(x * y) : UNKNOWN;
    case OP_MAX: return x > y ? x : y;
    case OP_MIN: return x < y ? x : y;
    case OP_DIV: case OP_FLOORDIV: case OP_REM: case OP_MOD: return x >= 0 && y >= 1 ? 0 : UNKNOWN;
    default: return UNKNOWN;
    }
}

static bool is_positive(const Expr *e)
{
    return lower(e) >= 1;
}

static bool divides_safely(WordContext *c, const Expr *e)
{
    bool divides = e->op == OP_DIV || e->op == OP_REM || e->op == OP_FLOORDIV || e->op == OP_MOD;
    if (divides && !is_positive(e->args[1])) {
        diag_report(c->d, D_SCHEDULE, e->args[1]->range, "`%s` may be 0, and divides", expr_text(c->a, e->args[1]));
        diag_help(c->d, "write max(1, %s)", expr_text(c->a, e->args[1]));
        return false;
    }
    for (int i = 0; i < e->n; i++)
        if (!divides_safely(c, e->args[i]))
            return false;
    return true;
}

static bool constant_size(WordContext *c, const Expr *e, int64_t *n)
{
    *n = e->op == OP_CONST ? e->i : 0;
    if (*n >= 1 && *n <= INT32_MAX)
        return true;
    diag_report(c->d, D_SCHEDULE, e->range, e->op == OP_CONST ? "a tile size must be from 1 to 2147483647" : "the bounds of a range are numbers");
    return false;
}

static bool range_size(WordContext *c, Words *w, TileSize *size, bool closed)
{
    int64_t lo, hi;
    Expr *last = words_expr(c, w);
    if (!last || !constant_size(c, size->value, &lo) || !constant_size(c, last, &hi))
        return false;
    hi -= !closed;
    if (hi < lo) {
        diag_report(c->d, D_SCHEDULE, last->range, "this range is empty");
        return false;
    }
    *size = (TileSize){ .kind = SIZE_RANGE, .lo = lo, .hi = hi, .tier = -1, .range = size->range };
    return true;
}

static bool tier(WordContext *c, Words *w, int *at)
{
    const TreeWord *x = words_peek(w);
    const char *names[MACHINE_MAX_TIERS];
    if (!x || x->kind != WORD_PATH)
        return expected(c, w, "the name of a memory") != NULL;
    w->at++;
    for (int i = 0; i < c->machine->ntiers; i++) {
        names[i] = c->machine->tier[i].name;
        if (strcmp(names[i], x->text) == 0) {
            *at = i;
            return true;
        }
    }
    words_unknown(c, D_TARGET, x->range, arena_printf(c->a, "%s has no memory", c->machine->name), x->text, c->machine->ntiers, names);
    return false;
}

bool words_size(WordContext *c, Words *w, TileSize *size)
{
    *size = (TileSize){ .kind = SIZE_AUTO, .tier = -1, .range = w->range };
    if (!words_accept(w, "auto")) {
        size->kind = SIZE_FIXED;
        size->value = words_expr(c, w);
        if (!size->value)
            return false;
        bool closed = words_accept(w, "..=");
        if (closed || words_accept(w, "..")) {
            if (!range_size(c, w, size, closed))
                return false;
        } else {
            int64_t n;
            if ((size->value->op == OP_CONST && !constant_size(c, size->value, &n)) || !divides_safely(c, size->value))
                return false;
            if (!is_positive(size->value))
                size->value = expr_binary(c->a, OP_MAX, DT_INDEX, expr_int(c->a, DT_INDEX, 1, size->range), size->value);
        }
    }
    if (words_accept(w, "in") && !tier(c, w, &size->tier))
        return false;
    return !words_peek(w) || expected(c, w, "a comma or the end of the directive") != NULL;
}

// ---- machines ---------------------------------------------------------------------------------------------------

static bool same_letter(char x, char y)
{
    return x == y || (x == '-' && y == '_') || (x == '_' && y == '-');
}

// `x86_64` stands for x86-64-v3 and x86-64-v4: a name, or its first parts. Paths have no '-'.
bool schedule_machine_is(const char *name, const char *word)
{
    while (*word && same_letter(*name, *word)) {
        name++;
        word++;
    }
    return !*word && (!*name || *name == '-' || *name == '_');
}

static bool is_for_machine(const Machine *m, const TreeSchedule *s)
{
    if (s->machine && strcmp(s->machine, "cpu") == 0)
        return m->emits_c;
    return !s->machine || schedule_machine_is(m->name, s->machine) || schedule_machine_is(m->isa, s->machine);
}

const TreeSchedule *schedule_replacement(const WordContext *c, const TreeSchedule *s)
{
    const TreeSchedule *found = NULL;
    for (int i = 0; i < c->kernel->schedules.n; i++) {
        const TreeSchedule *t = c->kernel->schedules.at[i];
        if (t->file > (found ? found->file : s->file) && is_for_machine(c->machine, t) && is_for_machine(c->machine, s))
            found = t;
    }
    return found;
}

bool schedule_applies(const WordContext *c, const TreeSchedule *s)
{
    return is_for_machine(c->machine, s) && !schedule_replacement(c, s);
}
