// schedule_reader: what the readers of directives share (private to compiler/passes/schedule*.c).
#ifndef PTOC_PASSES_SCHEDULE_READER_H
#define PTOC_PASSES_SCHEDULE_READER_H

#include "passes/schedule_words.h"

typedef struct {
    WordContext c;
    Schedule *s;
    Program *g;
    const Equation **main;        // by origin: the equation of the source, after normalize
    int norigins;
    int rank;                     // added to that of names: `on` a target counts more
    bool parts;                   // `c.k` of this directive: only a reduction or scan in c has k
} Reader;

enum { RANK_ALL = 1, RANK_INDEX, RANK_PART, RANK_TENSOR, RANK_EQUATION, RANK_ON = 8 };
enum { OF_TILE, OF_PARALLEL, OF_ORDER, OF_VECTOR, OF_UNROLL, OF_OVERLAP, OF_ENGINE };

typedef struct { Stmt *stmt; int idx, rank; } Target;
typedef VEC(Target) Targets;

// schedule_names.c ----------------------------------------------------------------------------------------------------
// The equation of the source that one was taken out of.
const Equation *reader_source(const Reader *r, const Equation *e);
// `u.1.i`: what stands before the last dot (NULL: none), and *index: what stands behind it.
const char *reader_owner(Reader *r, const char *path, const char **index);
// Does only a part of the equation have the index: `c.k` where c[i, j] = sum(k) ...?
bool reader_is_part(Reader *r, const char *path);
// `i`, `u.i`, `u.1.i`: the statements that have the index. False after an error.
bool reader_index(Reader *r, const char *path, Range range, Targets *out);
// The statements of an equation, or of all of a tensor; those taken out of its equations count when `parts`.
bool reader_statements(Reader *r, const char *name, Range range, bool parts, Targets *out);
Tensor *reader_tensor(Reader *r, const char *name, Range range);                       // NULL after an error
void reader_unknown_index(Reader *r, Range range, const char *name, const char *of);
StmtWish *reader_wish(Reader *r, const Stmt *s);                                       // made when there is none
TensorWish *reader_tensor_wish(Reader *r, const Tensor *t);
// May a wish of this rank replace the one that is there? Then its rank is noted.
bool reader_outranks(StmtWish *w, int kind, int slot, int rank);
const TreeWord *reader_single(const TreeClause *c);                                    // the only word of a clause, or NULL
const char *reader_path(Reader *r, const TreeDirective *d, const TreeClause *c);       // the one path of a clause without a key, or NULL after an error
// The path with which a clause without a key begins, and what follows it; NULL after an error.
const TreeWord *reader_path_first(Reader *r, const TreeDirective *d, const TreeClause *c, Words *rest);

// schedule.c ------------------------------------------------------------------------------------------------------------
void reader_wrong_form(Reader *r, Range range, const char *name);                      // how the directive is written

// schedule_place.c: what only machines with memories and units of their own can do ----------------------------------------
void read_place(Reader *r, const TreeDirective *d);
void read_buffer(Reader *r, const TreeDirective *d);
void read_prefetch(Reader *r, const TreeDirective *d);
void read_engine(Reader *r, const TreeDirective *d);
void read_layout(Reader *r, const TreeDirective *d);
void read_temp(Reader *r, const TreeDirective *d);
void read_hint(Reader *r, const TreeDirective *d);

#endif
