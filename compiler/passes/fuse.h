// fuse.h: what the two halves of the pass share (private to fuse.c and fuse_nodes.c).
#ifndef PTOC_PASSES_FUSE_H
#define PTOC_PASSES_FUSE_H

#include "passes/plan.h"

enum { MAX_GRID = 4, MAX_GROUP = 48, MAX_HALO = 16 };

// Per statement: its choice for each parallel loop of its group, and the halo it needs there.
typedef struct { Theta theta[MAX_GRID]; int64_t before[MAX_GRID], after[MAX_GRID]; int group, list; } Member;

typedef struct {
    StmtList stmts;
    DepList inner;
    bool cyclic, contraction, has_update;
    int ndims;                    // parallel loops
    int level;                    // position in the order of groups
} Group;

typedef struct {
    Plan *p;
    Member *member;               // by statement id
    Theta (*option)[MAX_INDICES]; // by statement id: choices of its component
    Theta *scratch;               // by statement id
    bool *no_halo;                // by tensor id: has readers in other groups
    unsigned *allowed;            // by statement id: indices that no outer loop binds
    int nlists;                   // fuse_list calls so far: groups are numbered within a list
} Fuse;

typedef VEC(Group *) Groups;

static inline bool fuse_is_free(const Fuse *f, const Stmt *s, int idx)
{
    return f->allowed[s->id] >> idx & 1;
}

// fuse.c: the tree of a list of statements inside `depth` outer loops. *parallel: there is a grid or wave in it.
Node *fuse_list(Fuse *f, const StmtList *stmts, const DepList *deps, int depth, bool *parallel);
// fuse_nodes.c: the node of one group.
Node *fuse_group_node(Fuse *f, Group *g, int depth, bool *parallel);

#endif
