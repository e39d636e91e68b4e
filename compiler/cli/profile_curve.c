// Sums over intervals of time, for profiles of calls whose length nobody knows yet: when time runs past the last interval, each
// two become one. So memory does not grow with time, and no event is left out.
#include "cli/profile.h"

#include <string.h>

int curves_new(Curves *c)
{
    VEC_PUSH(c->arena, &c->at, ARENA_ARRAY(c->arena, int64_t, BINS));
    return c->at.n - 1;
}

static void halve(Curves *c)
{
    for (int k = 0; k < c->at.n; k++) {
        int64_t *x = c->at.at[k];
        for (int i = 0; i < BINS / 2; i++)
            x[i] = x[2 * i] + x[2 * i + 1];
        memset(x + BINS / 2, 0, sizeof *x * (BINS / 2));
    }
    c->width *= 2;
}

// amount * part / whole, without overflow for any of them.
__extension__ typedef __int128 Wide;

static int64_t share(int64_t amount, int64_t part, int64_t whole) { return (int64_t)((Wide)amount * part / whole); }

void curves_add(Curves *c, int curve, int64_t begin, int64_t end, int64_t amount)
{
    if (begin < 0 || end < begin || amount == 0)
        return;
    while ((end > begin ? end - 1 : end) / c->width >= BINS)
        halve(c);
    int64_t *x = c->at.at[curve], given = 0;
    if (end == begin) {
        x[begin / c->width] += amount;
        return;
    }
    for (int64_t i = begin / c->width; i <= (end - 1) / c->width; i++) {
        int64_t until = (i + 1) * c->width < end ? (i + 1) * c->width : end, so_far = share(amount, until - begin, end - begin);
        x[i] += so_far - given;
        given = so_far;
    }
}
