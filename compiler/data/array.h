// Arrays: dense, row-major values of the tools, and the files and words that they come from.
//
// A function that can fail returns NULL or false and a sentence in *error (in the arena) that starts with the file or
// word it is about.
//
// Test: tests/unit/test_data.c
#ifndef PTOC_DATA_ARRAY_H
#define PTOC_DATA_ARRAY_H

#include "base/arena.h"
#include "ir/type.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define ARRAY_MAX_RANK 8

typedef struct {
    DType type;
    int rank;
    int64_t extent[ARRAY_MAX_RANK];
    int64_t size;            // elements
    void *data;              // 64-byte aligned, elements as dtype_ctype(type)
} Array;

// A zeroed array. Refuses a rank, extent or size in bytes that is out of range or more than the machine's memory.
Array *array_new(Arena *a, DType type, int rank, const int64_t *extent, const char **error);
int64_t array_bytes(const Array *x);
// The box lo..hi of an array, lo and hi by dimension, as an array of its own; NULL as array_new.
Array *array_cut(Arena *a, const Array *x, const int64_t *lo, const int64_t *hi, const char **error);
const char *array_shape_text(Arena *a, int rank, const int64_t *extent);      // "[3, 4]"

// Reads a file by its suffix: .npy, .pgm, .ppm, .pnm.
Array *array_read(Arena *a, const char *path, const char **error);
bool array_path_is_file(const char *text);       // has one of these suffixes
// Writes an array to an open file in the format that the suffix of `path` says. Suffix and rank are checked before
// anything is written.
bool array_write(Arena *a, FILE *out, const char *path, const Array *x, const char **error);

// npy.c: NumPy's format, versions 1 to 3, both byte orders, C and Fortran order. bf16 is written as <u2.
Array *npy_read(Arena *a, FILE *in, const char *path, const char **error);
bool npy_write(Arena *a, FILE *out, const Array *x);

// pnm.c: P2, P3, P5, P6 with maxval up to 65535, as u8 or u16 of shape [H, W] or [H, W, 3].
Array *pnm_read(Arena *a, FILE *in, const char *path, const char **error);
// P5 or P6 of a [H, W] or [H, W, 3]: values are rounded (half to even) and clamped to 0..255, those of u16 to 0..65535;
// NaN is black, true white.
bool pnm_write(Arena *a, FILE *out, const char *path, const Array *x, const char **error);

#endif
