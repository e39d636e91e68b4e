// What --help prints, and completion for shells: both from the table of options.
#include "cli/options_table.h"

#include <string.h>

// ---- help ----

static void spelling(char *text, size_t size, const Option *o)
{
    static const char *const joints[] = {
        [TAKES_NONE] = "", [TAKES_JOINED] = "%s", [TAKES_WORD] = " %s", [TAKES_VALUE] = "=%s", [TAKES_OPTIONAL] = "[=%s]",
    };
    int n = snprintf(text, size, "%s", o->name);
    const char *joint = joints[o->takes];
    const char *percent = strchr(joint, '%');
    if (percent)
        snprintf(text + n, size - (size_t)n, "%.*s%s%s", (int)(percent - joint), joint, o->argument, percent + 2);
}

void options_help(FILE *out, Command command)
{
    fprintf(out, "usage: %s\n       %s.\n\n", options_commands[command].usage, options_commands[command].about);
    for (int k = 0; k < options_count; k++) {
        char text[64];
        const Option *o = &options_table[k];
        if (!(o->commands & 1u << command) || !o->help)
            continue;
        spelling(text, sizeof text, o);
        fprintf(out, "  %-28s %s\n", text, o->help);
    }
    if (FOR_LOADED & 1u << command)
        fprintf(out, "\n  VALUE is a number, a .npy, .pgm or .ppm file, random(8000,8000:seed), zeros(...), ones(...) or iota(...).\n");
    if (command != COMMAND_COMPILE)
        return;
    fprintf(out, "\nOther commands (each has its own --help):\n");
    for (int c = 0; c < options_ncommands; c++)
        if (options_commands[c].name)
            fprintf(out, "  ptoc %-23s %s\n", options_commands[c].name, options_commands[c].about);
    fprintf(out, "\n@FILE takes arguments from FILE. The manual: man ptoc, man 5 pto.\n");
}

// ---- completion ----

// The words that an option is completed to: `--mode=` as its values follow, `-O0 -O1 …` where they are joined to it.
static void print_words(FILE *out, const Option *o, const char *separator)
{
    if (o->takes != TAKES_JOINED || !o->choices) {
        fprintf(out, "%s%s%s", o->name, o->takes == TAKES_VALUE ? "=" : "", separator);
        if (o->takes != TAKES_OPTIONAL || !o->choices)
            return;
    }
    for (const char *p = o->choices; *p;) {
        size_t n = strcspn(p, " ");
        fprintf(out, "%s%s%.*s%s", o->name, o->takes == TAKES_OPTIONAL ? "=" : "", (int)n, p, separator);
        p += n + strspn(p + n, " ");
    }
}

static void bash_words(FILE *out, int command)
{
    for (int k = 0; k < options_count; k++)
        if (options_table[k].commands & 1u << command && options_table[k].help)
            print_words(out, &options_table[k], " ");
}

// One row `NAME) values` for each option whose argument is a word of its own or follows `=`.
static void bash_arguments(FILE *out)
{
    for (int k = 0; k < options_count; k++) {
        const Option *o = &options_table[k];
        if (o->takes != TAKES_VALUE && o->takes != TAKES_OPTIONAL)
            continue;
        if (strcmp(o->name, "--target") == 0)
            fprintf(out, "    %s) COMPREPLY=($(compgen -W \"$(\"${COMP_WORDS[0]}\" --print-targets 2>/dev/null | cut -d' ' -f1)\" -- \"$word\")); return ;;\n", o->name);
        else if (strcmp(o->name, "--dump-after") == 0)
            fprintf(out, "    %s) COMPREPLY=($(compgen -W \"all $(\"${COMP_WORDS[0]}\" --help=passes 2>/dev/null | cut -d' ' -f1)\" -- \"$word\")); return ;;\n", o->name);
        else if (o->choices)
            fprintf(out, "    %s) COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n", o->name, o->choices);
    }
}

static void complete_bash(FILE *out)
{
    fprintf(out, "# Completion of ptoc for bash; made by `ptoc --completion=bash`.\n_ptoc()\n{\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words\n"
                 "    [ \"$word\" != = ] || word=\n"
                 "    [ \"$before\" != = ] || before=${COMP_WORDS[COMP_CWORD-2]}\n"
                 "    case $before in\n");
    bash_arguments(out);
    fprintf(out, "    esac\n    case ${COMP_WORDS[1]} in\n");
    for (int c = 0; c < options_ncommands; c++)
        if (options_commands[c].name) {
            fprintf(out, "    %s) words='", options_commands[c].name);
            bash_words(out, c);
            fprintf(out, "' ;;\n");
        }
    fprintf(out, "    *) words='");
    bash_words(out, COMMAND_COMPILE);
    fprintf(out, "' ;;\n    esac\n    case $word in\n    -*) ;;\n    *) words=; [ \"$COMP_CWORD\" != 1 ] || words='");
    for (int c = 0; c < options_ncommands; c++)
        fprintf(out, "%s ", options_commands[c].name ? options_commands[c].name : "");
    fprintf(out, "' ;;\n    esac\n"
                 "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\") $(compgen -f -- \"$word\"))\n"
                 "    [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null\n"
                 "}\ncomplete -o filenames -F _ptoc ptoc\n");
}

// Text inside of '...[...]' of _arguments.
static void zsh_text(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr("[]:\\", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
}

static void zsh_option(FILE *out, const Option *o)
{
    static const char *const joints[] = {
        [TAKES_NONE] = "", [TAKES_JOINED] = "-", [TAKES_WORD] = "+", [TAKES_VALUE] = "=", [TAKES_OPTIONAL] = "=-",
    };
    fprintf(out, " \\\n        '*%s%s[", o->name, joints[o->takes]);
    zsh_text(out, o->help);
    fputc(']', out);
    if (o->takes != TAKES_NONE) {
        fprintf(out, "%s", o->takes == TAKES_OPTIONAL ? "::" : ":");
        zsh_text(out, o->argument);
        if (strcmp(o->name, "--target") == 0)
            fprintf(out, ":_sequence compadd - ${(f)\"$(ptoc --print-targets 2>/dev/null | cut -d\" \" -f1)\"}");
        else if (o->choices)
            fprintf(out, ":(%s)", o->choices);
        else if (strstr(o->argument, "FILE"))
            fprintf(out, ":_files");
        else if (strcmp(o->argument, "DIR") == 0)
            fprintf(out, ":_files -/");
        else
            fprintf(out, ": ");
    }
    fputc('\'', out);
}

static void complete_zsh(FILE *out)
{
    fprintf(out, "#compdef ptoc\n# Completion of ptoc for zsh; made by `ptoc --completion=zsh`.\n_ptoc()\n{\n    case $words[2] in\n");
    for (int pass = 0; pass < 2; pass++)
        for (int c = 0; c < options_ncommands; c++) {
            bool named = options_commands[c].name;
            if (named != (pass == 0))
                continue;
            fprintf(out, "    %s) %s_arguments -s", named ? options_commands[c].name : "*", named ? "shift words; (( CURRENT-- )); " : "");
            for (int k = 0; k < options_count; k++)
                if (options_table[k].commands & 1u << c && options_table[k].help)
                    zsh_option(out, &options_table[k]);
            if (!named) {
                fprintf(out, " \\\n        '1:command or file:{compadd");
                for (int d = 0; d < options_ncommands; d++)
                    fprintf(out, "%s%s", options_commands[d].name ? " " : "", options_commands[d].name ? options_commands[d].name : "");
                fprintf(out, "; _files -g \"*.pto*\"}'");
            }
            fprintf(out, " \\\n        '*:file:_files' ;;\n");
        }
    fprintf(out, "    esac\n}\n_ptoc \"$@\"\n");
}

void options_complete(FILE *out, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        complete_bash(out);
    else
        complete_zsh(out);
}
