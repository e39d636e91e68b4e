// vector: vector loops.
#include "emit/c.h"

bool vector_loop(Emit *e, const Node *n)
{
    (void)e;
    (void)n;
    return false;
}
