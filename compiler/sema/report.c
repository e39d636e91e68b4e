// Reporting for sema: errors that mark the kernel, and hints for misspelt names.
//
// In a trial (types of recurrences are found by trying) nothing is reported and nothing is marked. A suggestion is the
// nearest name by edit distance with transpositions, if it is near enough to be a slip of the finger.
//
// Test: tests/unit/test_sema.c
#include "sema/context.h"

#include <stdlib.h>
#include <string.h>

void sema_error(Sema *s, DiagId id, Range range, const char *fmt, ...)
{
    if (s->quiet) return;
    s->failed = true;
    s->errors++;
    va_list ap;
    va_start(ap, fmt);
    char *text = arena_vprintf(s->arena, fmt, ap);
    va_end(ap);
    diag_report(s->file->diags, id, range, "%s", text);
}

void sema_note(Sema *s, Range range, const char *fmt, ...)
{
    if (s->quiet) return;
    va_list ap;
    va_start(ap, fmt);
    char *text = arena_vprintf(s->arena, fmt, ap);
    va_end(ap);
    diag_note(s->file->diags, range, "%s", text);
}

void sema_help(Sema *s, const char *fmt, ...)
{
    if (s->quiet) return;
    va_list ap;
    va_start(ap, fmt);
    char *text = arena_vprintf(s->arena, fmt, ap);
    va_end(ap);
    diag_help(s->file->diags, "%s", text);
}

// ---- suggestions ----

enum { LONGEST = 40 };

static int least(int a, int b) { return a < b ? a : b; }

// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
static int distance(const char *x, const char *y)
{
    int n = (int)strlen(x), m = (int)strlen(y);
    if (n > LONGEST || m > LONGEST) return LONGEST;
    int row[3][LONGEST + 1];
    for (int j = 0; j <= m; j++) row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int d = least(least(before[j], now[j - 1]) + 1, before[j - 1] + (x[i - 1] != y[j - 1]));
            bool swapped = i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1];
            now[j] = swapped ? least(d, earlier[j - 2] + 1) : d;
        }
    }
    return row[n % 3][m];
}

typedef struct {
    const char *name, *best;
    int distance;
} Search;

static void consider(Search *c, const char *candidate)
{
    int d = distance(c->name, candidate);
    if (d == 0 || d >= c->distance) return;
    c->distance = d;
    c->best = candidate;
}

// A third of the letters may be wrong; a name of one letter suggests nothing.
static Search search(const char *name)
{
    int n = (int)strlen(name);
    return (Search){.name = name, .distance = n < 2 ? 0 : n < 6 ? 2 : n / 3 + 1};
}

const char *sema_closest(const char *name, int n, const char *const *candidates)
{
    Search c = search(name);
    for (int i = 0; i < n; i++) consider(&c, candidates[i]);
    return c.best;
}

static void consider_functions(Search *c)
{
    static const char *const others[] = {"sum", "prod", "max", "min", "mean", "any", "all", "argmax", "argmin", "scan", "clamp"};
    for (int i = 0; i < (int)(sizeof others / sizeof *others); i++) consider(c, others[i]);
    for (int i = 0; i < OP_COUNT; i++) {
        Op op;
        if (sema_is_function(op_name((Op)i), &op)) consider(c, op_name((Op)i));
    }
    for (int i = 0; i < DT_INDEX; i++) consider(c, dtype_name((DType)i));
}

void sema_suggest(Sema *s, const char *name, int nscope, Index *const *scope, bool calls)
{
    if (s->quiet) return;
    Search c = search(name);
    for (int i = 0; i < nscope; i++) consider(&c, scope[i]->name);
    Symbol *symbol, *next;
    HASH_ITER(hh, s->symbols, symbol, next) if (!calls) consider(&c, symbol->name);
    if (calls) consider_functions(&c);
    if (c.best) sema_help(s, "did you mean `%s`?", c.best);
}
