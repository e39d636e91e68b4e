// Source files and ranges.
//
// Every token, tree node and IR node carries a Range: two offsets in one space that all files of a compilation
// share (each file starts where the one before ended). Line and column are computed when something is printed.
#ifndef PTOC_BASE_SOURCE_H
#define PTOC_BASE_SOURCE_H

#include "base/arena.h"

#include <stdint.h>

typedef struct { uint32_t begin, end; } Range;   // half-open; {0, 0} is "nowhere"

typedef struct {
    char *path;              // as given by the user; "-" is standard input, "<command line>" etc. are legal
    char *text;              // NUL-terminated, may hold NULs inside
    uint32_t size;           // bytes without the terminator
    uint32_t base;           // offset of text[0]; never 0
    uint32_t *line;          // offsets (in the file) of the line starts
    int nlines;
} SourceFile;

typedef struct {
    Arena *arena;
    VEC(SourceFile *) files;
} Sources;

typedef struct { const SourceFile *file; int line, column; } Position;   // 1-based; column counts bytes

// Reads a file ("-": standard input) whole. NULL and *error (in the arena) if it cannot be read or is too large.
SourceFile *source_load(Sources *s, const char *path, const char **error);
// Adds a text that is in memory; it is copied. NULL only when it is too large (256 MiB).
SourceFile *source_add(Sources *s, const char *path, const char *text, size_t size);
// The position of an offset; file is NULL when it lies in no file.
Position source_position(const Sources *s, uint32_t offset);
// The smallest range that covers both; an empty one does not count.
Range range_join(Range a, Range b);

#endif
