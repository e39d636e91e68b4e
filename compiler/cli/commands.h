// The commands. Each returns the exit code.
#ifndef PTOC_CLI_COMMANDS_H
#define PTOC_CLI_COMMANDS_H

#include "cli/options.h"

int command_compile(Arena *a, const Options *o);
int command_run(Arena *a, const Options *o);
int command_check(Arena *a, const Options *o);
int command_profile(Arena *a, const Options *o);
int command_info(Arena *a, const Options *o);

#endif
