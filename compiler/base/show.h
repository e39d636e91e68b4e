// How a report looks: as text in the format of gcc and clang, or as gcc's JSON. Used by diag.c alone.
#ifndef PTOC_BASE_SHOW_H
#define PTOC_BASE_SHOW_H

#include "base/diag.h"

typedef struct Report Report;
struct Report {
    Severity severity;
    bool warning;             // a warning by default (it may have become an error)
    bool help;                // a note that says what to do
    const char *name;         // notes: NULL
    Range range;
    const char *text;
    VEC(Report *) children;
};

// "path:line:column: error: text [name]", the source line with the range underlined, then the notes.
void show_text(FILE *out, const Sources *sources, bool color, const Report *r);
// One array, as `gcc -fdiagnostics-format=json` writes it, and a newline.
void show_json(FILE *out, const Sources *sources, int n, Report *const *reports);

#endif
