// Output files that appear whole or not at all.
//
// A set of outputs is written to temporary files beside their targets; committing renames all of them, dropping it
// removes them. What is not a regular file (a terminal, a pipe, /dev/null) is written directly; "-" is standard output.
// The names of temporary files are also kept in a small table for signal handlers: the one piece of global state of
// the tools, since a handler is given nothing else.
//
// Test: tests/unit/test_data.c
#ifndef PTOC_DATA_OUTPUT_H
#define PTOC_DATA_OUTPUT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct Outputs Outputs;

Outputs *outputs_new(Arena *a);
// A stream for `path`; NULL and *error (starting with the path). Writing errors show up in outputs_commit.
FILE *outputs_open(Outputs *o, const char *path, const char **error);
// Flushes and renames everything. False and *error: nothing appears (but what was renamed before the failure).
bool outputs_commit(Outputs *o, const char **error);
void outputs_drop(Outputs *o);            // removes what is not committed; harmless afterwards

void outputs_remove_all(void);            // for signal handlers: removes every temporary file of the process, then the folders
// Another file or folder that is to go when the process is ended (the name stays valid until it is forgotten, with all in it).
void outputs_guard(char *name);
void outputs_forget(const char *folder);

#endif
