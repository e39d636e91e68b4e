// The formats of logs: what of printf's conversions there is.
#include "ir/ir.h"

#include <string.h>

char log_conversion(const char **p)
{
    const char *q = *p;
    if (*q == '%') return *p = q + 1, '%';
    q += strspn(q, "-+ 0#");
    size_t width = strspn(q, "0123456789");
    q += width;
    size_t digits = 0;
    if (*q == '.') {
        digits = strspn(q + 1, "0123456789");
        q += 1 + digits;
    }
    char c = *q;
    *p = c ? q + 1 : q;
    if (width > 3 || digits > 3 || !c) return 0;
    return strchr("di", c) ? 'd' : strchr("feEgGaA", c) ? 'g' : 0;
}

bool log_suits(const Log *l)
{
    int next = 0;
    for (const char *p = strchr(l->format, '%'); p; p = strchr(p, '%')) {
        p++;
        char kind = log_conversion(&p);
        if (kind == '%') continue;
        if (!kind || next >= l->args.n || dtype_is_float(l->args.at[next++]->type) != (kind == 'g')) return false;
    }
    return next == l->args.n;
}
