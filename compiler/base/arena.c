// Arenas: see arena.h. Memory comes in chunks that double up to a limit; an object is a bump of a pointer.
// A large object gets a chunk of its own, behind the current one, so that the rest of that one is not lost.
// With PTO_ARENA_MALLOC every object is such a chunk and overruns are visible to ASan and valgrind.
//
// Test: tests/unit/test_base.c
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CHUNK = 4 << 10, LARGEST_CHUNK = 1 << 20 };

typedef struct Chunk Chunk;
struct Chunk {
    Chunk *next;
    alignas(max_align_t) unsigned char bytes[];
};

struct Arena {
    Chunk *chunks;                 // the current one first
    unsigned char *free, *end;     // what is left of the current one
    size_t chunk_size;
};

__attribute__((weak, noreturn)) void arena_oom_handler(void) {
    fputs("ptoc: out of memory\n", stderr);
    _Exit(70);
}

void *memory_new(size_t n, size_t size) {
    void *p = calloc(n ? n : 1, size);
    if (!p)
        arena_oom_handler();
    return p;
}

Arena *arena_new(void) {
    Arena *a = memory_new(1, sizeof *a);
    a->chunk_size = FIRST_CHUNK;
    return a;
}

static void free_chunks(Chunk *from) {
    for (Chunk *c = from, *next; c; c = next) {
        next = c->next;
        free(c);
    }
}

void arena_free(Arena *a) {
    if (!a)
        return;
    free_chunks(a->chunks);
    free(a);
}

void arena_reset(Arena *a) {
    Chunk *kept = a->chunks;
    if (!kept || a->free == a->end) {               // none, or one that may be an object's own
        free_chunks(kept);
        a->chunks = NULL;
        a->free = a->end = NULL;
        return;
    }
    free_chunks(kept->next);
    kept->next = NULL;
    memset(kept->bytes, 0, (size_t)(a->free - kept->bytes));
    a->free = kept->bytes;
}

static Chunk *chunk_new(size_t size) {
    Chunk *c = size <= SIZE_MAX - sizeof *c ? calloc(1, sizeof *c + size) : NULL;
    if (!c)
        arena_oom_handler();
    return c;
}

// An object with a chunk of its own, linked behind the current chunk.
static void *alloc_alone(Arena *a, size_t size) {
    Chunk *c = chunk_new(size);
    if (a->chunks) {
        c->next = a->chunks->next;
        a->chunks->next = c;
    } else {
        a->chunks = c;
        a->free = a->end = c->bytes + size;
    }
    return c->bytes;
}

static void new_current_chunk(Arena *a) {
    Chunk *c = chunk_new(a->chunk_size);
    c->next = a->chunks;
    a->chunks = c;
    a->free = c->bytes;
    a->end = c->bytes + a->chunk_size;
    if (a->chunk_size < LARGEST_CHUNK)
        a->chunk_size *= 2;
}

void *arena_alloc(Arena *a, size_t size) {
    size_t align = alignof(max_align_t);
#ifdef PTO_ARENA_MALLOC
    return alloc_alone(a, size ? size : 1);
#endif
    if (size > SIZE_MAX - align)
        arena_oom_handler();
    size_t rounded = size ? (size + align - 1) / align * align : align;
    if (rounded > a->chunk_size / 4)
        return alloc_alone(a, rounded);
    if ((size_t)(a->end - a->free) < rounded)
        new_current_chunk(a);
    void *p = a->free;
    a->free += rounded;
    return p;
}

void *arena_grow(Arena *a, const void *p, size_t old, size_t size) {
    void *q = arena_alloc(a, size);
    if (old)
        memcpy(q, p, old < size ? old : size);
    return q;
}

char *arena_strndup(Arena *a, const char *s, size_t n) {
    char *copy = arena_alloc(a, n + 1);
    memcpy(copy, s, n);
    return copy;
}

char *arena_strdup(Arena *a, const char *s) {
    return arena_strndup(a, s, strlen(s));
}

char *arena_vprintf(Arena *a, const char *fmt, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n < 0)
        n = 0;
    char *s = arena_alloc(a, (size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    return s;
}

char *arena_printf(Arena *a, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    char *s = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return s;
}
