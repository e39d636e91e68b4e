// Source files: see source.h. A file is read whole; its line starts are found once; a position is a binary search.
// Each file takes one offset more than its size, so that its end is a position of its own.
//
// Test: tests/unit/test_base.c
#include "base/source.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = 256 << 20 };

static uint32_t next_base(const Sources *s) {
    if (!s->files.n)
        return 1;
    const SourceFile *last = s->files.at[s->files.n - 1];
    return last->base + last->size + 1;
}

static void find_lines(Arena *a, SourceFile *f) {
    int n = 1;
    for (uint32_t i = 0; i < f->size; i++)
        n += f->text[i] == '\n';
    f->line = ARENA_ARRAY(a, uint32_t, n);
    f->nlines = n;
    for (uint32_t i = 0, line = 1; i < f->size; i++)
        if (f->text[i] == '\n')
            f->line[line++] = i + 1;
}

// NULL when the offsets of all files no longer fit.
static SourceFile *add(Sources *s, const char *path, const char *text, size_t size) {
    uint32_t base = next_base(s);
    if (size > LARGEST_FILE || size >= UINT32_MAX - 1 - base)
        return NULL;
    SourceFile *f = ARENA_NEW(s->arena, SourceFile);
    *f = (SourceFile){
        .path = arena_strdup(s->arena, path),
        .text = arena_strndup(s->arena, text, size),
        .size = (uint32_t)size,
        .base = base,
    };
    find_lines(s->arena, f);
    VEC_PUSH(s->arena, &s->files, f);
    return f;
}

// Reads to the end, or one byte past the limit. The caller frees the result; NULL with errno set on failure.
static char *read_all(FILE *in, size_t *size) {
    size_t n = 0, cap = 64 << 10;
    char *text = malloc(cap);
    if (!text)
        arena_oom_handler();
    for (size_t got; (got = fread(text + n, 1, cap - n, in)) > 0;) {
        n += got;
        if (n > LARGEST_FILE)
            break;
        if (n == cap && !(text = realloc(text, cap *= 2)))
            arena_oom_handler();
    }
    *size = n;
    if (!ferror(in))
        return text;
    int saved = errno;
    free(text);
    errno = saved;
    return NULL;
}

SourceFile *source_load(Sources *s, const char *path, const char **error) {
    bool standard = strcmp(path, "-") == 0;
    FILE *in = standard ? stdin : fopen(path, "rb");
    size_t size;
    char *text = in ? read_all(in, &size) : NULL;
    SourceFile *f = NULL;
    if (!text)
        *error = arena_printf(s->arena, "%s", strerror(errno));
    else if (!(f = add(s, path, text, size)))
        *error = arena_printf(s->arena, "the file is too large (more than %d MiB, or too many files)", LARGEST_FILE >> 20);
    free(text);
    if (in && !standard)
        fclose(in);
    return f;
}

SourceFile *source_add(Sources *s, const char *path, const char *text, size_t size) {
    return add(s, path, text, size);
}

static const SourceFile *file_of(const Sources *s, uint32_t offset) {
    int lo = 0, hi = s->files.n;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (s->files.at[mid]->base + s->files.at[mid]->size < offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->files.n && s->files.at[lo]->base <= offset ? s->files.at[lo] : NULL;
}

Position source_position(const Sources *s, uint32_t offset) {
    const SourceFile *f = file_of(s, offset);
    if (!f)
        return (Position){.file = NULL};
    uint32_t at = offset - f->base;
    int lo = 0, hi = f->nlines;              // the last line that starts at or before `at`
    while (hi - lo > 1) {
        int mid = lo + (hi - lo) / 2;
        if (f->line[mid] <= at)
            lo = mid;
        else
            hi = mid;
    }
    return (Position){.file = f, .line = lo + 1, .column = (int)(at - f->line[lo]) + 1};
}

Range range_join(Range a, Range b) {
    if (a.begin == a.end)
        return b;
    if (b.begin == b.end)
        return a;
    return (Range){.begin = a.begin < b.begin ? a.begin : b.begin, .end = a.end > b.end ? a.end : b.end};
}
