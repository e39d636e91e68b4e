// The workspace of a context: see workspace.h.
//
// Large blocks ask for huge pages, and no block is touched here: each worker is the first to touch its part.
//
// Test: tests/unit/test_runtime.c

#include "workspace.h"

#include <stdint.h>
#include <sys/mman.h>

enum { ALIGN = 64, HUGE_PAGE = 2 << 20, ADDRESS_BITS = 47 };       // of a process; allocators watched by a sanitizer end it beyond

struct WorkspaceExtra {
    WorkspaceExtra *next;
    size_t bytes;                    // of all of it
    char pad[ALIGN - sizeof(void *) - sizeof(size_t)];
};

// Rounds up to the alignment, at least one unit; 0 if it is too large to exist.
static size_t rounded(size_t bytes) {
    if (bytes > PTRDIFF_MAX - HUGE_PAGE)
        return 0;
    return bytes == 0 ? ALIGN : (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

// What a block of so many bytes takes.
static size_t block_bytes(size_t bytes) {
    return bytes < 2 * (size_t)HUGE_PAGE ? bytes : (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

static void *block_new(const Memory *m, size_t bytes) {
    if ((uint64_t)bytes >> ADDRESS_BITS != 0)
        return NULL;
    if (bytes < 2 * (size_t)HUGE_PAGE)
        return mem_block(m, ALIGN, bytes);
    bytes = block_bytes(bytes);
    void *p = mem_block(m, HUGE_PAGE, bytes);
#ifdef MADV_HUGEPAGE
    if (p != NULL)
        (void)madvise(p, bytes, MADV_HUGEPAGE);
#endif
    return p;
}

static void extra_free(Workspace *w) {
    while (w->extra != NULL) {
        WorkspaceExtra *e = w->extra;
        w->extra = e->next;
        mem_block_free(w->memory, e, e->bytes);
    }
}

static bool block_resize(Workspace *w, size_t bytes) {
    mem_block_free(w->memory, w->block, block_bytes(w->size));
    w->block = block_new(w->memory, bytes);
    w->size = w->block != NULL ? bytes : 0;
    return w->block != NULL;
}

void *workspace_take(Workspace *w, size_t bytes) {
    bytes = rounded(bytes);
    if (bytes == 0)
        return NULL;
    w->taken += bytes;
    if (w->used == 0 && w->extra == NULL) {
        size_t want = bytes > w->wanted ? bytes : w->wanted;
        if (want > w->size && !block_resize(w, want) && (want == bytes || !block_resize(w, bytes)))
            return NULL;
    }
    if (bytes <= w->size - w->used) {
        void *p = w->block + w->used;
        w->used += bytes;
        return p;
    }
    WorkspaceExtra *e = block_new(w->memory, sizeof *e + bytes);
    if (e == NULL)
        return NULL;
    e->bytes = block_bytes(sizeof *e + bytes);
    e->next = w->extra;
    w->extra = e;
    return e + 1;
}

void workspace_reset(Workspace *w) {
    extra_free(w);
    if (w->taken > w->wanted)
        w->wanted = w->taken;
    w->taken = 0;
    w->used = 0;
}

bool workspace_reserve(Workspace *w, size_t bytes) {
    bytes = rounded(bytes);
    return bytes != 0 && (bytes <= w->size || block_resize(w, bytes));
}

void workspace_free(Workspace *w) {
    extra_free(w);
    mem_block_free(w->memory, w->block, block_bytes(w->size));
    *w = (Workspace){.memory = w->memory};
}
