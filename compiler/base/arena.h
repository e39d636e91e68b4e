// Arenas: memory by lifetime.
//
// Everything the compiler builds lives in an arena and dies with it; nobody frees a single object. A scratch
// pointer is never stored in data that lives longer. Built with -DPTO_ARENA_MALLOC every object is a malloc of
// its own, so that ASan and valgrind see each overrun. Running out of memory ends the process with exit code 70
// through arena_oom_handler, a weak symbol that a program may define for itself.
//
// Test: tests/unit/test_base.c
#ifndef PTOC_BASE_ARENA_H
#define PTOC_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct Arena Arena;

Arena *arena_new(void);                  // an empty arena; the caller frees it
void arena_free(Arena *a);               // frees every object of the arena; NULL is allowed

// Frees every object, and keeps memory for as many again: for work that is done many times over.
void arena_reset(Arena *a);

// Called when memory runs out; must not return. The default says so and ends the process with code 70.
__attribute__((noreturn)) void arena_oom_handler(void);

// `size` zeroed bytes aligned for any type. Never NULL.
void *arena_alloc(Arena *a, size_t size);
// Grows an object of `old` bytes to `size` bytes; the old one stays readable.
void *arena_grow(Arena *a, const void *p, size_t old, size_t size);
// `n` zeroed objects that the caller frees with free(). Never NULL.
void *memory_new(size_t n, size_t size);
char *arena_strdup(Arena *a, const char *s);
char *arena_strndup(Arena *a, const char *s, size_t n);
char *arena_printf(Arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *a, const char *fmt, va_list ap);

#define ARENA_NEW(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n)))

// A growable array in an arena: `VEC(T)` declares its type, VEC_PUSH appends. Zero-initialised is empty.
#define VEC(T) struct { T *at; int n, cap; }
#define VEC_PUSH(a, v, x)                                                                                    \
    do {                                                                                                     \
        if ((v)->n == (v)->cap) {                                                                            \
            int cap_ = (v)->cap ? 2 * (v)->cap : 4;                                                          \
            (v)->at = arena_grow((a), (v)->at, sizeof *(v)->at * (size_t)(v)->n, sizeof *(v)->at * (size_t)cap_); \
            (v)->cap = cap_;                                                                                 \
        }                                                                                                    \
        (v)->at[(v)->n++] = (x);                                                                             \
    } while (0)

#endif
