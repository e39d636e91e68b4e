// closest: see closest.h.
//
// Test: tests/unit/test_sema.c
#include "base/closest.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST = 40 };

static int least(int a, int b) { return a < b ? a : b; }

// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
static int distance(const char *x, const char *y)
{
    int n = (int)strlen(x), m = (int)strlen(y);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    int row[3][LONGEST + 1];
    for (int j = 0; j <= m; j++)
        row[0][j] = j;
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

Closest closest_start(const char *name)
{
    int n = (int)strlen(name);
    return (Closest){.name = name, .distance = n < 2 ? 0 : n < 6 ? 2 : n / 3 + 1};
}

void closest_consider(Closest *c, const char *candidate)
{
    int d = distance(c->name, candidate);
    if (d == 0 || d >= c->distance)
        return;
    c->distance = d;
    c->best = candidate;
}

const char *closest_of(const char *name, int n, const char *const *candidates)
{
    Closest c = closest_start(name);
    for (int i = 0; i < n; i++)
        closest_consider(&c, candidates[i]);
    return c.best;
}
