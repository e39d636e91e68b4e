// Values as the user writes them: `2.5`, `photo.pgm`, `x.npy`, `random(8000, 8000:1)`, `zeros(3)`, `iota(10)`.
//
//   word      = number | file | generator
//   generator = ("random" | "zeros" | "ones" | "iota") ["(" [extent {"," extent}] [":" seed] [":" low ".." high] ")"]
//
// Without extents a generator takes the shape that the kernel implies. `random` gives the same numbers everywhere:
// element k depends on seed and k alone. Without a range floats lie in [-1, 1), u8 in 0..256, bool is 0 or 1, signed
// integers lie in -10..10, unsigned ones in 0..20; a range holds its low end, not its high one.
//
// Test: tests/unit/test_data.c
#ifndef PTOC_DATA_SPEC_H
#define PTOC_DATA_SPEC_H

#include "data/array.h"

typedef enum { SPEC_NUMBER, SPEC_FILE, SPEC_RANDOM, SPEC_ZEROS, SPEC_ONES, SPEC_IOTA } SpecKind;

typedef struct {
    SpecKind kind;
    const char *text;                  // as written; of SPEC_FILE the path
    bool is_integer;                   // SPEC_NUMBER: `i` (u64: its bits), else `f`
    int64_t i;
    double f;
    bool has_shape, has_range;
    int rank;
    int64_t extent[ARRAY_MAX_RANK];
    uint64_t seed;
    double low, high;
} Spec;

bool spec_parse(Arena *a, const char *text, Spec *spec, const char **error);

// The array of a type; `rank` and `extent` are used where the spec has no shape of its own. Not for SPEC_FILE.
Array *spec_make(Arena *a, const Spec *spec, DType type, int rank, const int64_t *extent, const char **error);
// Fills an array with random numbers; has_range as in a spec.
void spec_random(Array *x, uint64_t seed, bool has_range, double low, double high);

// Does a number literal fit the type? A fraction does not fit an integer, 300 not u8.
bool spec_number_fits(const Spec *spec, DType type);

#endif
