// Checks the invariants of the task level (head comment of ir/ir.h and what its fields promise).
#ifndef PTOC_IR_VERIFY_H
#define PTOC_IR_VERIFY_H

#include "ir/ir.h"

#include <stdio.h>

// False when something is wrong; `why` (may be NULL) then gets one line that names the kernel, the place and the rule.
bool ir_verify_task(const Kernel *k, FILE *why);

#endif
