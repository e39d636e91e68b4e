// ptoc run.
#include "cli/commands.h"
#include "cli/unit.h"
int command_run(Arena *a, const Options *o) { return complain(EXIT_INTERNAL, "`ptoc run` is not built yet"); }
