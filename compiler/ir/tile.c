// Constructors of the tile level (see tile.h).
#include "ir/tile.h"

Node *node_new(Arena *a, NodeKind kind)
{
    Node *n = ARENA_NEW(a, Node);
    n->kind = kind;
    n->step = 1;
    n->unroll = 1;
    return n;
}

void node_append(Arena *a, Node *parent, Node *child)
{
    VEC_PUSH(a, &parent->body, child);
}
