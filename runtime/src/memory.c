// The memory of a context: see memory.h. What knows its size has it in front, in as many bytes as any type is aligned to.
#include "memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct Head {
    _Alignas(max_align_t) size_t bytes;      // with the head
} Head;

void *mem_block(const Memory *m, size_t alignment, size_t bytes) {
    return m->allocate != NULL ? m->allocate(m->user, alignment, bytes) : aligned_alloc(alignment, bytes);
}

void mem_block_free(const Memory *m, void *p, size_t bytes) {
    if (m->allocate == NULL)
        free(p);
    else if (p != NULL)
        m->release(m->user, p, bytes);
}

// 0: too large to exist.
static size_t with_head(size_t bytes) {
    const size_t unit = _Alignof(max_align_t);
    return bytes < SIZE_MAX / 2 ? (sizeof(Head) + bytes + unit - 1) / unit * unit : 0;
}

void *mem_new(const Memory *m, size_t count, size_t bytes) {
    size_t size;
    if (__builtin_mul_overflow(count, bytes, &size) || with_head(size) == 0)
        return NULL;
    size = with_head(size);
    Head *h = m->allocate != NULL ? mem_block(m, _Alignof(max_align_t), size) : calloc(1, size);
    if (h == NULL)
        return NULL;
    if (m->allocate != NULL)
        memset(h, 0, size);
    h->bytes = size;
    return h + 1;
}

void *mem_resize(const Memory *m, void *p, size_t bytes) {
    size_t size = with_head(bytes);
    Head *old = p != NULL ? (Head *)p - 1 : NULL, *h;
    if (size == 0)
        return NULL;
    if (m->allocate == NULL) {
        h = realloc(old, size);
    } else {
        h = mem_block(m, _Alignof(max_align_t), size);
        if (h != NULL && old != NULL) {
            memcpy(h, old, old->bytes < size ? old->bytes : size);
            mem_block_free(m, old, old->bytes);
        }
    }
    if (h == NULL)
        return NULL;
    h->bytes = size;
    return h + 1;
}

void mem_free(const Memory *m, void *p) {
    if (p != NULL) {
        Head *h = (Head *)p - 1;
        mem_block_free(m, h, h->bytes);
    }
}
