// Diagnostics: see diag.h. Reports are kept until they are flushed; base/show.c prints them as text or JSON.
// Here: names and severities from diag.def, the -W options, the limit of errors.
//
// Test: tests/unit/test_base.c
#include "base/diag.h"

#include "base/show.h"

#include <stdarg.h>
#include <string.h>

enum { MOST_ERRORS = 20 };

static const struct {
    const char *name;
    Severity severity;
    const char *about;
} table[] = {
#define DIAG(id, name_, severity_, about_) [D_##id] = {.name = name_, .severity = severity_, .about = about_},
#include "base/diag.def"
#undef DIAG
};

typedef enum { KEEP, ON, OFF } Switch;

struct Diags {
    Arena *arena;
    const Sources *sources;
    FILE *out;
    DiagFormat format;
    bool color;
    Switch enabled[D_COUNT];
    Switch as_error[D_COUNT];
    bool all_as_errors;
    VEC(Report *) reports;
    int flushed;              // how many of them were printed
    Report *last;             // takes notes; NULL when the last one was switched off
    int errors;
};

const Sources *diags_sources(const Diags *d) { return d->sources; }

Diags *diags_new(Arena *a, const Sources *sources, FILE *out) {
    Diags *d = ARENA_NEW(a, Diags);
    *d = (Diags){.arena = a, .sources = sources, .out = out};
    return d;
}

void diags_set_format(Diags *d, DiagFormat format) {
    d->format = format;
}

void diags_set_color(Diags *d, bool on) {
    d->color = on;
}

const char *diag_name(DiagId id) {
    return table[id].name;
}

Severity diag_default_severity(DiagId id) {
    return table[id].severity;
}

const char *diag_about(DiagId id) {
    return table[id].about;
}

static DiagId find(const char *name) {
    int id = 0;
    while (id < D_COUNT && strcmp(table[id].name, name) != 0)
        id++;
    return (DiagId)id;
}

// Sets one switch of a named warning.
static bool set(Switch *switches, const char *name, Switch value) {
    DiagId id = find(name);
    if (id == D_COUNT || (value == OFF && table[id].severity == SEV_ERROR))
        return false;
    switches[id] = value;
    return true;
}

bool diags_option(Diags *d, const char *option) {
    static const char error_is[] = "error=", no_error_is[] = "no-error=", no[] = "no-";
    if (strcmp(option, "all") == 0)
        return true;                                   // every warning is on by default
    if (strcmp(option, "error") == 0 || strcmp(option, "no-error") == 0) {
        d->all_as_errors = option[0] == 'e';
        return true;
    }
    if (strncmp(option, error_is, strlen(error_is)) == 0)
        return set(d->as_error, option + strlen(error_is), ON);
    if (strncmp(option, no_error_is, strlen(no_error_is)) == 0)
        return set(d->as_error, option + strlen(no_error_is), OFF);
    if (strncmp(option, no, strlen(no)) == 0)
        return set(d->enabled, option + strlen(no), OFF);
    return set(d->enabled, option, ON);
}

static Severity severity_of(const Diags *d, DiagId id) {
    Severity s = table[id].severity;
    if (s != SEV_WARNING || d->as_error[id] == OFF)
        return s;
    return d->as_error[id] == ON || d->all_as_errors ? SEV_ERROR : s;
}

static Report *report_new(Diags *d, Severity severity, const char *name, Range range, const char *fmt, va_list ap) {
    Report *r = ARENA_NEW(d->arena, Report);
    *r = (Report){.severity = severity, .name = name, .range = range, .text = arena_vprintf(d->arena, fmt, ap)};
    return r;
}

static bool is_known(const Diags *d, const Report *r) {
    for (int i = 0; i < d->reports.n; i++) {
        const Report *old = d->reports.at[i];
        if (old->name == r->name && old->range.begin == r->range.begin && old->range.end == r->range.end && strcmp(old->text, r->text) == 0)
            return true;
    }
    return false;
}

int diag_report(Diags *d, DiagId id, Range range, const char *fmt, ...) {
    d->last = NULL;
    Severity severity = severity_of(d, id);
    if (d->enabled[id] == OFF || diags_full(d))
        return -1;
    va_list ap;
    va_start(ap, fmt);
    Report *r = report_new(d, severity, table[id].name, range, fmt, ap);
    va_end(ap);
    if (severity == SEV_WARNING && is_known(d, r))
        return -1;
    d->last = r;
    r->warning = table[id].severity == SEV_WARNING;
    d->errors += severity == SEV_ERROR;
    VEC_PUSH(d->arena, &d->reports, d->last);
    return d->reports.n - 1;
}

static void add_child(Diags *d, Report *child) {
    VEC_PUSH(d->arena, &d->last->children, child);
}

void diag_note(Diags *d, Range range, const char *fmt, ...) {
    if (!d->last)
        return;
    va_list ap;
    va_start(ap, fmt);
    add_child(d, report_new(d, SEV_NOTE, NULL, range, fmt, ap));
    va_end(ap);
}

void diag_help(Diags *d, const char *fmt, ...) {
    if (!d->last)
        return;
    va_list ap;
    va_start(ap, fmt);
    Report *r = report_new(d, SEV_NOTE, NULL, (Range){0, 0}, fmt, ap);
    va_end(ap);
    r->help = true;
    add_child(d, r);
}

int diags_errors(const Diags *d) {
    return d->errors;
}

bool diags_full(const Diags *d) {
    return d->errors >= MOST_ERRORS;
}

void diags_flush(Diags *d) {
    if (d->format == DIAG_JSON)
        return;
    for (; d->flushed < d->reports.n; d->flushed++)
        show_text(d->out, d->sources, d->color, d->reports.at[d->flushed]);
    fflush(d->out);
}

void diags_finish(Diags *d) {
    if (d->format == DIAG_JSON)
        show_json(d->out, d->sources, d->reports.n, d->reports.at);
    diags_flush(d);
    if (d->format == DIAG_TEXT && diags_full(d))
        fprintf(d->out, "ptoc: stopped after %d errors\n", MOST_ERRORS);
    fflush(d->out);
}
