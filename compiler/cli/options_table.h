// The rows that parsing, --help and completion share. An option is a row: its spelling, how it takes its argument, for
// which commands it is, the function that stores it, what --help says, and the words that its argument may be.
#ifndef PTOC_CLI_OPTIONS_TABLE_H
#define PTOC_CLI_OPTIONS_TABLE_H

#include "cli/options.h"

typedef struct Parser Parser;

enum {
    FOR_COMPILE = 1 << COMMAND_COMPILE,
    FOR_RUN = 1 << COMMAND_RUN,
    FOR_CHECK = 1 << COMMAND_CHECK,
    FOR_INFO = 1 << COMMAND_INFO,
    FOR_PROFILE = 1 << COMMAND_PROFILE,
    FOR_LOADED = FOR_RUN | FOR_CHECK | FOR_PROFILE,
    FOR_CODE = FOR_COMPILE | FOR_LOADED,
    FOR_ALL = FOR_CODE | FOR_INFO,
};

typedef enum {
    TAKES_NONE,          // -g
    TAKES_JOINED,        // -O2: what follows directly, perhaps nothing
    TAKES_WORD,          // -o F, -oF
    TAKES_VALUE,         // --target=T, --target T
    TAKES_OPTIONAL,      // --emit-ir, --emit-ir=L
} Takes;

typedef struct {
    const char *name, *argument;
    Takes takes;
    unsigned commands;
    bool (*set)(Parser *p, const char *value);
    const char *help;        // NULL: not listed
    const char *choices;     // what the argument may be, separated by blanks; NULL: anything that `set` takes
} Option;

typedef struct { const char *name, *usage, *about; } CommandRow;    // name: NULL for the one without a name

extern const Option options_table[];
extern const int options_count;
extern const CommandRow options_commands[];
extern const int options_ncommands;

#endif
