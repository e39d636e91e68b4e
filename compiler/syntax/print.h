// Prints a tree back as .pto text in one canonical form: print(parse(print(x))) == print(x).
#ifndef PTOC_SYNTAX_PRINT_H
#define PTOC_SYNTAX_PRINT_H

#include "syntax/tree.h"

#include <stdio.h>

// Imports first, then kernels, schedules, strategies, machines; comments are gone.
void tree_print(FILE *out, const TreeFile *f);
void tree_print_expr(FILE *out, const Tree *t);
void tree_print_kernel(FILE *out, const TreeKernel *k);
void tree_print_schedule(FILE *out, const TreeSchedule *s);

#endif
