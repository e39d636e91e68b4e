// From the text of a .pto file to its tree.
#ifndef PTOC_SYNTAX_PARSE_H
#define PTOC_SYNTAX_PARSE_H

#include "base/diag.h"
#include "syntax/tree.h"

// Parses a file. Errors go to `d`; parsing goes on after each to find the next. After an error the tree lacks what
// could not be read, so it should not be analysed. NULL when nothing of the file is usable.
TreeFile *parse_file(Arena *a, Diags *d, const SourceFile *f);

// Whether a text is MLIR, which some tools also keep in files with the suffix .pto.
bool parse_text_is_mlir(const char *text, size_t size);

#endif
