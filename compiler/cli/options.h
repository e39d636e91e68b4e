// The command line: one table of options from which parsing and --help come.
//
// Test: tests/unit/test_cli.c
#ifndef PTOC_CLI_OPTIONS_H
#define PTOC_CLI_OPTIONS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum { COMMAND_COMPILE, COMMAND_RUN, COMMAND_CHECK, COMMAND_PROFILE, COMMAND_INFO } Command;
typedef enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } ColorMode;
typedef enum { PRINT_NOTHING, PRINT_HELP, PRINT_VERSION, PRINT_TARGETS, PRINT_DIAGNOSTICS, PRINT_PASSES, PRINT_DIRECTIVES, PRINT_COMPLETION } PrintWhat;

typedef VEC(const char *) Words;
typedef struct { const char *name, *value; } Binding;                // NAME=VALUE
typedef VEC(Binding) Bindings;
typedef struct { const char *text; bool quote; } DependTarget;       // -MT, -MQ

typedef struct {
    Arena *arena;
    const char *volatile *doing;    // where to say what is being done, for the report of a crash; may be NULL
    Command command;
    const char *input;              // "-": standard input; NULL: none
    Words schedules;                // files of schedules, after the input
    PrintWhat print;
    const char *shell;              // of PRINT_COMPLETION: bash or zsh

    // compile
    Words outputs;                  // -o, as given
    const char *header;
    const char *target;             // NULL: the command's default
    const char *machine_set;        // NAME=VALUE,..., or NULL
    bool depend, depend_phony;
    const char *depend_file;
    VEC(DependTarget) depend_targets;
    bool line_directives;
    int opt_level;
    int64_t budget;                 // operations on integer sets for one query of an optimisation
    Words warnings;                 // text after "-W"
    ColorMode color;
    bool json;
    const char *emit_ir, *dump_after;
    bool notes, brief;              // of bundles
    bool verify_each, emit_schedule, explain, verbose;

    // run, check
    const char *kernel;
    int threads;                    // 0: not given
    const char *mode;               // NULL: not given
    Bindings values;                // NAME=VALUE
    Bindings dims;                  // --dim
    uint64_t seed;
    double effort;                  // check: bound on the work, in operations
    int repeat;                     // run
    bool timing_only;               // run, profile
    int64_t max_cycles;             // run, check, profile: of one call on a modelled machine; 0: not given
    const char *html;               // profile: the report, or NULL
    int64_t events;                 // profile: operations in the trace at most
} Options;

// Parses argv. False: *error says what is wrong (usage, exit code 2).
bool options_parse(Arena *a, int argc, char **argv, Options *options, const char **error);
const char *options_command(Arena *a, Command c);        // as it is called: "ptoc run"
void options_help(FILE *out, Command command);
void options_complete(FILE *out, const char *shell);    // bash or zsh

// "checking f": a text that lives until the next one.
void options_doing(const char *volatile *doing, const char *text);

// Words of an @file, by gcc's rules: separated by white space; '...' and "..." hold white space; a backslash takes the
// next character as it is.
void options_split(Arena *a, const char *text, Words *words);

#endif
