// Reporting for sema: errors that mark the kernel, and hints for misspelt names.
//
// In a trial (types of recurrences are found by trying) nothing is reported and nothing is marked. A suggestion is the
// nearest name (base/closest.h).
//
// Test: tests/unit/test_sema.c
#include "sema/context.h"

#include "base/closest.h"

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

const char *sema_some_range(Sema *s)
{
    return s->kernel->dims.n > 0 ? arena_printf(s->arena, "0..%s", s->kernel->dims.at[0]->name) : "0..8";
}

const char *sema_closest(const char *name, int n, const char *const *candidates)
{
    return closest_of(name, n, candidates);
}

static void consider_functions(Closest *c)
{
    static const char *const others[] = {"sum", "prod", "max", "min", "mean", "any", "all", "argmax", "argmin", "scan", "clamp"};
    for (int i = 0; i < (int)(sizeof others / sizeof *others); i++) closest_consider(c, others[i]);
    for (int i = 0; i < OP_COUNT; i++) {
        Op op;
        if (sema_is_function(op_name((Op)i), &op)) closest_consider(c, op_name((Op)i));
    }
    for (int i = 0; i < DT_INDEX; i++) closest_consider(c, dtype_name((DType)i));
}

void sema_suggest(Sema *s, const char *name, int nscope, Index *const *scope, bool calls)
{
    if (s->quiet) return;
    Closest c = closest_start(name);
    for (int i = 0; i < nscope; i++) closest_consider(&c, scope[i]->name);
    Symbol *symbol, *next;
    HASH_ITER(hh, s->symbols, symbol, next) if (!calls) closest_consider(&c, symbol->name);
    if (calls) consider_functions(&c);
    if (c.best) sema_help(s, "did you mean `%s`?", c.best);
}
