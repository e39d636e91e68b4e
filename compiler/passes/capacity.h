// capacity: what is said of a memory that is too small (see capacity.c, and compiler/bundles/wish.c).
#ifndef PTOC_PASSES_CAPACITY_H
#define PTOC_PASSES_CAPACITY_H

#include "passes/plan.h"

// What lies in the memory; `bytes` of all its slots.
typedef struct { const Tensor *tensor; const char *name; int64_t bytes; int slots; } Tenant;

// 12 KiB, 100 B
const char *capacity_amount(Arena *a, int64_t bytes);
// Notes on the `most` largest of n; sorts them.
void capacity_note_tenants(Plan *p, Tenant *tenant, int n, int most);

#endif
