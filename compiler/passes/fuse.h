// fuse.h: what the two halves of the pass share (private to fuse.c and fuse_nodes.c).
#ifndef PTOC_PASSES_FUSE_H
#define PTOC_PASSES_FUSE_H

#include "passes/plan.h"

enum { MAX_GRID = 4, MAX_GROUP = 48, MAX_HALO = 16, HALO_OUT = 8192 };

// What came of an attempt to put a unit into a group.
typedef enum {
    JOIN_DONE,
    JOIN_SERIAL,                  // one of them has no parallel loop
    JOIN_OFF,                     // -O0
    JOIN_SIZE,                    // more code than the instruction cache likes
    JOIN_STRANGERS,               // no dependence, and not over the same box
    JOIN_LOG,                     // one of them is a log's, whose conditions would keep the other from the units of an accelerator
    JOIN_MATERIALIZED,            // a schedule keeps what lies between them as a whole
    JOIN_NO_LOOP,                 // no parallel loop with constant distances
    JOIN_CONTRACTION,             // would cost a contraction a parallel loop
    JOIN_AXES,                    // would cost an axis that `parallel` names
    JOIN_HALO,                    // the halo would be too wide, or escape
    JOIN_BETWEEN,                 // something between them needs a grid of its own
} JoinResult;

// Per statement: its choice for each parallel loop of its group, and the halo it needs there.
typedef struct { Theta theta[MAX_GRID]; int64_t before[MAX_GRID], after[MAX_GRID]; int group, list, unit; } Member;

typedef struct {
    StmtList stmts;
    DepList inner;
    DepList local;                // of a unit: into its statements
    bool cyclic, contraction, has_update;
    int ndims;                    // parallel loops
    int level;                    // position in the order of groups
    int class;                    // of `fuse`; 0: none
    Sentences why;                // for --explain
} Group;

typedef struct {
    Plan *p;
    Member *member;               // by statement id
    Theta (*option)[MAX_INDICES]; // by statement id: choices of its component
    Theta *scratch;               // by statement id
    bool *no_halo;                // by tensor id: has readers in other groups
    unsigned *allowed;            // by statement id: indices that no outer loop binds
    int nlists;                   // fuse_list calls so far: groups are numbered within a list
    Theta *loops[MAX_LOOPS][2];   // by depth of outer loops, by statement id: candidates for the loops of a recurrence
    DepList **into, *out;         // by statement id of the reader (of the list at hand), of the writer
    int *expected;                // by class: units that have not been placed yet
    bool exclusive, retry;        // groups of a `fuse` directive take nothing else: the second try
    bool failed;                  // an error was reported
} Fuse;

typedef VEC(Group *) Groups;

static inline bool fuse_is_free(const Fuse *f, const Stmt *s, int idx)
{
    return f->allowed[s->id] >> idx & 1;
}

// fuse.c: the halos that the dependences of a group ask of its members.
void fuse_grow_halos(Fuse *f, const Group *g, const DepList *deps);
// The tree of a list of statements inside `depth` outer loops. *parallel: there is a grid or wave in it.
Node *fuse_list(Fuse *f, const StmtList *stmts, const DepList *deps, int depth, bool *parallel);
// fuse_wishes.c: what schedules ask of groups.
// Everything between two units of a `fuse` class belongs to the class. `into`: dependences by statement id of the reader.
void fuse_close_classes(Fuse *f, const Groups *units, DepList *const *into);
// Would a wished axis be lost when a group keeps only the loops that `kept` marks?
bool fuse_loses_axis(Fuse *f, const Group *g, const bool *kept);
bool fuse_loses_option(Fuse *f, const Group *unit, const bool *taken);
// Keeps the loops that `parallel` names, in its order.
void fuse_select_axes(Fuse *f, Group *g);
// What `parallel` says about a group, or NULL; *other: a statement for which it asks for another mode. Whether the loops of a
// wave, or a sequential loop, go with it.
const ParallelWish *fuse_wished(Fuse *f, const Group *g, const Stmt **other);
void fuse_refuse_mode(Fuse *f, const Group *g, const Stmt *other);
bool fuse_is_wished(Fuse *f, const Group *g, const Theta *theta);
bool fuse_may_be_outer(Fuse *f, const Group *g, const Theta *theta);
// Reports why a `fuse` directive cannot be had.
void fuse_refuse(Fuse *f, const Group *g, const Group *unit, const DepList *cross, JoinResult why);
// Checks declared overlaps against the halos of a group's members and widens those.
void fuse_overlaps(Fuse *f, Group *g);
// Reports what was asked for and is not there.
void fuse_check_wishes(Fuse *f);

// explain_fuse.c: why a unit is in a group, and why not in another.
void explain_joined(Plan *p, Group *g, const Group *unit, const DepList *cross, const Member *member);
void explain_apart(Plan *p, const Group *g, Group *unit, const DepList *cross, JoinResult why);
const char *explain_join_result(JoinResult why);

// fuse_nodes.c: the node of one group.
Node *fuse_group_node(Fuse *f, Group *g, int depth, bool *parallel);

#endif
