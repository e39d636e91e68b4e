// field: the values of a description's fields, and what is said where they are wrong (private to compiler/machine/).
//
// The first mistake counts; reading goes on after it with some value, so that no reader has to look back.
#ifndef PTOC_MACHINE_FIELD_H
#define PTOC_MACHINE_FIELD_H

#include "machine/machine.h"

typedef struct {
    Arena *a;
    Machine *m;
    const char *path;                // of the file
    const TreeDirective *inside;     // the block around the field being read, or NULL
    const char *error;
} Description;

typedef enum { MEASURE_COUNT, MEASURE_BYTES, MEASURE_CLOCK } Measure;

// What a unit stands for; 0: it is none of the measure's. "" is the unit of a number without one.
int64_t measure_scale(Measure measure, const char *unit);
// "a number with a unit (B, KiB, MiB, GiB)"
const char *measure_name(Measure measure);
// The largest number before a unit.
int64_t measure_most(Measure measure);

bool field_is(const TreeDirective *f, const char *name);
// "unit cube", "path DDR to L1", or the field's name.
const char *field_title(Arena *a, const TreeDirective *f);
void field_fail(Description *d, const TreeDirective *f, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
// Calls `read` with every field of a block.
typedef void (*FieldReader)(Description *d, const TreeDirective *f, void *to);
void field_each(Description *d, const TreeDirective *block, FieldReader read, void *to);

// All words of a field, where it has one clause, else none; and some of them.
TreeWords field_words(const TreeDirective *f);
TreeWords value_slice(TreeWords words, int from, int end);
// The name that the words are; NULL: they are not one name.
const char *value_name(TreeWords words);

// What words are. After a mistake: `least - 1`; -1; -1.
int64_t value_number(Description *d, const TreeDirective *f, TreeWords words, Measure measure, int64_t least);
int value_choice(Description *d, const TreeDirective *f, TreeWords words, const char *const *choices);      // NULL-terminated
int value_memory(Description *d, const TreeDirective *f, TreeWords words);

// The same for `NAME = VALUE;`, and for `NAME;`, which is always true.
int64_t field_number(Description *d, const TreeDirective *f, Measure measure, int64_t least);
int field_count(Description *d, const TreeDirective *f, int64_t least);
Shared field_shared(Description *d, const TreeDirective *f);
const char *field_text(Description *d, const TreeDirective *f);
bool field_flag(Description *d, const TreeDirective *f);

// What the other files read: a block each.
void machine_read_unit(Description *d, const TreeDirective *f);
void machine_read_path(Description *d, const TreeDirective *f);
void machine_pair_paths(Machine *m);                             // once all are read
// Everything of the tree. `set`: see machine_load.
void machine_read(Description *d, const TreeMachine *tree);
// Replaces numbers of the machine. False: *error says why.
bool machine_set(Arena *a, Machine *m, const char *set, const char **error);
// What follows from the fields; and that nothing is missing.
void machine_finish(Description *d);

#endif
