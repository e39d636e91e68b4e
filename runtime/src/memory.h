// All memory that a context takes: from malloc's family, or from the functions that the host application gave it.
//
// Test: tests/unit/test_runtime_memory.c
#ifndef PTORT_MEMORY_H
#define PTORT_MEMORY_H

#include "ptort.h"

typedef struct Memory {
    pto_allocate allocate;           // NULL: aligned_alloc and free
    pto_release release;
    void *user;
} Memory;

// A block as it is, with undefined contents. `bytes` is a multiple of the alignment, and the same when it is given back.
void *mem_block(const Memory *m, size_t alignment, size_t bytes);
void mem_block_free(const Memory *m, void *p, size_t bytes);          // NULL is fine, here and below

// As calloc, realloc and free: these know their size.
void *mem_new(const Memory *m, size_t count, size_t bytes);
void *mem_resize(const Memory *m, void *p, size_t bytes);             // new bytes are undefined; NULL: p is as it was
void mem_free(const Memory *m, void *p);

#endif
