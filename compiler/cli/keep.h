// An intermediate that is asked for, `-o t=FILE`, is an output of the kernel for that run: kept as a whole.
//
// Test: tests/cli/keep.sh
#ifndef PTOC_CLI_KEEP_H
#define PTOC_CLI_KEEP_H

#include "ir/ir.h"

#include <stdbool.h>

// Makes the intermediate `name` of a kernel, as sema leaves it, an output behind the others; an element that no equation
// defines is 0. False: the kernel has no such intermediate.
bool keep_intermediate(Kernel *k, const char *name);

#endif
