// ptoc check.
#include "cli/commands.h"
#include "cli/unit.h"
int command_check(Arena *a, const Options *o) { return complain(EXIT_INTERNAL, "`ptoc check` is not built yet"); }
