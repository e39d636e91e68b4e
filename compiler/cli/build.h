// Calling the C compiler.
#ifndef PTOC_CLI_BUILD_H
#define PTOC_CLI_BUILD_H

#include "base/arena.h"
#include "cli/options.h"

// $CC split into words ("cc" when it is not set).
Words build_compiler(Arena *a);
// The path of a program as execvp finds it; NULL if there is none.
const char *build_find_program(Arena *a, const char *name);
// Runs a command without a shell. 0, or its exit code (128 + signal; 127: not found), with *output what it wrote to stderr
// and stdout.
int build_run(Arena *a, const Words *command, const char **output);

#endif
