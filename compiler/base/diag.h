// Diagnostics: what the compiler says to people.
//
// A diagnostic has a stable name (shown in brackets), a severity, a range that is underlined, a text, and notes.
// Names, default severities and one-line descriptions live in diag.def and nowhere else; every one has a test
// in tests/errors/ that triggers it. Compilation goes on after an error to find the next ones (20 at most).
// The text names the equation, the tensor and dimension, the region in words, and one example point.
#ifndef PTOC_BASE_DIAG_H
#define PTOC_BASE_DIAG_H

#include "base/source.h"

#include <stdbool.h>
#include <stdio.h>

typedef enum { SEV_NOTE, SEV_WARNING, SEV_ERROR } Severity;

typedef enum {
#define DIAG(id, name, severity, about) D_##id,
#include "base/diag.def"
#undef DIAG
    D_COUNT
} DiagId;

typedef enum { DIAG_TEXT, DIAG_JSON } DiagFormat;

typedef struct Diags Diags;

// Writes to `out` when flushed. `sources` resolves ranges. Both outlive the result.
Diags *diags_new(Arena *a, const Sources *sources, FILE *out);
void diags_set_format(Diags *d, DiagFormat format);
void diags_set_color(Diags *d, bool on);
// -Wname, -Wno-name, -Werror, -Werror=name, -Wno-error, -Wno-error=name, -Wall (text after "-W"). False: an unknown
// name, or one that cannot be switched off because it is an error.
bool diags_option(Diags *d, const char *option);

// Reports; returns a handle for notes (valid until the next diag_report), or -1 when it is switched off,
// or a warning that was reported before (a kernel is analysed once for each target).
int diag_report(Diags *d, DiagId id, Range range, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void diag_note(Diags *d, Range range, const char *fmt, ...) __attribute__((format(printf, 3, 4)));   // to the last one
void diag_help(Diags *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));                 // "what to do", to the last one

const Sources *diags_sources(const Diags *d);   // what ranges resolve against
int diags_errors(const Diags *d);        // how many errors so far (with -Werror, warnings count)
bool diags_full(const Diags *d);         // the limit of errors is reached: stop
void diags_flush(Diags *d);              // prints what was reported since the last flush, in order of report
                                         // (JSON is one array for the whole run: nothing before diags_finish)
void diags_finish(Diags *d);             // the last flush; says when the limit of errors was reached. Call once.
const char *diag_name(DiagId id);
Severity diag_default_severity(DiagId id);
const char *diag_about(DiagId id);

#endif
