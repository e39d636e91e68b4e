// closest: the name that was probably meant, for "did you mean" hints.
//
// A suggestion is the nearest name by edit distance with transpositions, if it is near enough to be a slip of the finger:
// a third of the letters may be wrong; a name of one letter suggests nothing.
#ifndef PTOC_BASE_CLOSEST_H
#define PTOC_BASE_CLOSEST_H

// A search that candidates are shown to one by one. `best` is NULL while none is near.
typedef struct { const char *name, *best; int distance; } Closest;
Closest closest_start(const char *name);
void closest_consider(Closest *c, const char *candidate);

// The nearest of n candidates, or NULL.
const char *closest_of(const char *name, int n, const char *const *candidates);

#endif
