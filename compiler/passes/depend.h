// depend: statements and the exact dependences between them.
//
// A normalised equation is one statement, or two for a reduction: INIT (the identity into the accumulator) and UPDATE
// (one more element); the UPDATE of a scatter (see scatter.h) has data for a left subscript. Every tensor element is written once (single assignment; an accumulator by its INIT and UPDATEs),
// so the flow dependences are the writes composed with the reads: exact, for all sizes. Statement instances are points
// of `P<id>[indices...]`, parameters are the kernel's dims.
//
// Distances: for a loop, a statement offers one of its indices, `theta = sign * index + shift`. The distance of a
// dependence under a pair of such choices is the range of theta(reader) - theta(writer); `depend_distance` computes
// it exactly (isl) and remembers it.
#ifndef PTOC_PASSES_DEPEND_H
#define PTOC_PASSES_DEPEND_H

#include "ir/ir.h"
#include "ir/poly.h"

#include <limits.h>

#define MAX_INDICES 16
#define DISTANCE_INF (INT64_MAX / 4)

typedef enum { STMT_MAP, STMT_INIT, STMT_UPDATE, STMT_SCAN } StatementKind;

typedef struct {
    int id;                      // position in Program.stmts
    StatementKind kind;
    Equation *eq;
    int n, nouter;               // indices; those that are not reduced come first
    Index *index[MAX_INDICES];
    Expr **subs;                 // what it writes: those of the equation, but for the UPDATE of a scatter
    VEC(Expr *) conds;           // UPDATE: those of the reduction, which skip elements where they are not affine
    isl_set *domain;             // { P<id>[...] }
    bool exact;                  // no data guard cuts the domain
} Stmt;

// Is it the UPDATE of a scatter, whose left subscripts hold data?
static inline bool stmt_is_scatter(const Stmt *s) { return s->subs != s->eq->subs; }

typedef struct { int64_t min, max; bool known; } Distance;      // +-DISTANCE_INF: unbounded

typedef struct {
    Stmt *src, *dst;             // the writer, the reader
    Tensor *tensor;
    Expr *read;                  // the reading expression; NULL for INIT -> UPDATE and scan carries
    isl_map *map;                // { P<src>[..] -> P<dst>[..] }, not empty
    bool guessed;                // the exact relation was too expensive: everything on everything
    Distance *cache;             // [src index][dst index] of dst - src, for equal signs +
} Dep;

typedef VEC(Stmt *) StmtList;
typedef VEC(Dep *) DepList;

typedef struct {
    Arena *a;
    Poly *poly;
    const Kernel *kernel;
    Diags *diags;
    StmtList stmts;
    DepList deps;
    StmtList *writers;           // by tensor id
    VEC(const char *) given_up;  // what was too expensive, for --explain
} Program;

// Statements and dependences of a normalised kernel.
Program *depend_analyse(Arena *a, Poly *p, Diags *d, const Kernel *k);
void depend_free(Program *g);

// Queries for optimisations have a budget: between these two, an isl function that exceeds it gives NULL. False: it did.
// What is given up then is said with `depend_give_up`, as a warning (`budget`) and for --explain.
void depend_budget_begin(const Program *g);
bool depend_budget_end(const Program *g);
void depend_give_up(Program *g, Range range, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

// theta(dst) - theta(src) without shifts, for index `s` of src and `t` of dst, both with this sign.
Distance depend_distance(Program *g, Dep *d, int s, int t, int sign);

// Is it the index of an initialisation in whose place its update, a scatter, has data? It goes with no index of that.
bool depend_is_chosen(const Program *g, const Stmt *s, int idx);

// Calls f for every READ below e with the conditions (affine ones only matter) that hold there.
typedef void (*ReadVisitor)(void *data, Expr *read, int nconds, Expr *const *conds);
void depend_visit_reads(Arena *a, Expr *e, ReadVisitor f, void *data);
// The same for all that a statement reads: its value, its conditions, its left subscripts.
void depend_stmt_reads(Arena *a, const Stmt *s, ReadVisitor f, void *data);
// The instances of `s` that evaluate a read, with the elements read: { P<id>[..] -> T<t>[..] }.
isl_map *depend_access(Program *g, const Stmt *s, const Expr *read, int nconds, Expr *const *conds);
// The elements a statement writes.
isl_map *depend_write(Program *g, const Stmt *s);

#endif
