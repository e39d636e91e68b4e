// schedule_words: the words of a directive: sizes, expressions, names (private to compiler/passes/schedule*.c).
#ifndef PTOC_PASSES_SCHEDULE_WORDS_H
#define PTOC_PASSES_SCHEDULE_WORDS_H

#include "passes/schedule.h"

typedef struct {
    Arena *a;
    Diags *d;
    const Kernel *kernel;
    const Machine *machine;
} WordContext;

// A position in a list of words.
typedef struct { const TreeWords *words; int at; Range range; } Words;

static inline Words words_of(const TreeClause *c) { return (Words){ &c->words, 0, c->range }; }
const TreeWord *words_peek(const Words *w);                      // NULL at the end
bool words_accept(Words *w, const char *text);                   // the next word, when it is this path or symbol
bool words_number(Words *w, int64_t *n);                         // the next word, when it is a whole number
Range words_here(const Words *w);                                // of the next word, or of the whole

// An expression over the kernel's dims: + - * / %, max, min, floordiv, mod. NULL after an error.
Expr *words_expr(WordContext *c, Words *w);
// Can the words say it (and be read back)?
bool words_can_say(const Expr *e);

// SIZE: `auto`, `64`, `64..=128`, an expression; followed by `in TIER`. False after an error.
bool words_size(WordContext *c, Words *w, TileSize *size);

// Reports `what` with the closest of n names as help.
void words_unknown(WordContext *c, DiagId id, Range range, const char *what, const char *name, int n, const char *const *names);

// A schedule for the machine in a later file, which takes the place of this one; NULL: there is none.
const TreeSchedule *schedule_replacement(const WordContext *c, const TreeSchedule *s);
// Does the schedule hold for the machine, and no later file has one that does?
bool schedule_applies(const WordContext *c, const TreeSchedule *s);

#endif
