// Depfiles for make and ninja.
#ifndef PTOC_CLI_DEPFILE_H
#define PTOC_CLI_DEPFILE_H

#include <stdbool.h>
#include <stdio.h>

// One rule: targets (each quoted where its flag says so) and what they depend on; with `phony`, a rule without a recipe for
// each dependence but the first.
void depfile_write(FILE *out, int ntargets, const char *const *targets, const bool *quote, int n, const char *const *files, bool phony);
// A name as make reads it back: blanks and # with a backslash, $ doubled.
void depfile_quote(FILE *out, const char *name);

#endif
