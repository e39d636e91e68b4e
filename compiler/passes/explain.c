// explain: see explain.h.
#include "passes/explain.h"

#include <stdarg.h>

void explain_say(Plan *p, Sentences *s, const char *fmt, ...)
{
    if (!explains(p))
        return;
    va_list ap;
    va_start(ap, fmt);
    const char *text = arena_vprintf(p->a, fmt, ap);
    va_end(ap);
    VEC_PUSH(p->a, s, text);
}
