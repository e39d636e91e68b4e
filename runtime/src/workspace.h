// Memory that a kernel call takes piece by piece and gives back as a whole.
//
// One block serves all calls. A call that needs more than the block holds gets the rest in extra blocks, and the next
// call starts with one block of the whole size; so in steady state nothing is allocated.
#ifndef PTORT_WORKSPACE_H
#define PTORT_WORKSPACE_H

#include "memory.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct WorkspaceExtra WorkspaceExtra;

typedef struct Workspace {
    const Memory *memory;            // where it comes from; outlives all that is taken
    char *block;
    size_t size, used;
    size_t wanted;                   // what the largest call has taken
    size_t taken;                    // by this call
    WorkspaceExtra *extra;
} Workspace;

void *workspace_take(Workspace *w, size_t bytes);        // 64-byte aligned, undefined contents; NULL: no memory
void workspace_reset(Workspace *w);                      // everything taken is free again
bool workspace_reserve(Workspace *w, size_t bytes);      // nothing may be taken at that time
void workspace_free(Workspace *w);

#endif
