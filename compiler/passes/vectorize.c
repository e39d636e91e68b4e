// vectorize: which loops run several points at a time.
#include "passes/plan.h"

void vectorize_kernel(Plan *p, TileKernel *t)
{
    (void)p;
    (void)t;
}
