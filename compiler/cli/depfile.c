// Depfiles for make and ninja, quoted as gcc does it. A backslash is itself unless it stands before a blank, where make
// takes it for a quote: there, every backslash is doubled.
//
// Test: tests/unit/test_cli.c
#include "cli/depfile.h"

#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>

void depfile_quote(FILE *out, const char *name)
{
    int slashes = 0;
    for (; *name; name++) {
        switch (*name) {
        case ' ': case '\t':
            for (int k = 0; k < slashes; k++)
                putc('\\', out);
            putc('\\', out);
            break;
        case '#': putc('\\', out); break;
        case '$': putc('$', out); break;
        default: break;
        }
        slashes = *name == '\\' ? slashes + 1 : 0;
        putc(*name, out);
    }
}

// Words separated by blanks, lines of at most 72 characters where words allow.
typedef struct { FILE *out; int column; bool started; } Lines;

static void put_word(Lines *l, const char *word, bool quote)
{
    TextBuffer b;
    buffer_open(&b);
    if (quote)
        depfile_quote(b.stream, word);
    else
        fputs(word, b.stream);
    buffer_close(&b);
    if (l->column > 0 && l->column + 1 + (int)b.size > 72) {
        fputs(" \\\n", l->out);
        l->column = 0;
    }
    l->column += fprintf(l->out, "%s%s", l->started ? " " : "", b.text);
    l->started = true;
    free(b.text);
}

void depfile_write(FILE *out, int ntargets, const char *const *targets, const bool *quote, int n, const char *const *files, bool phony)
{
    Lines l = {.out = out};
    for (int k = 0; k < ntargets; k++)
        put_word(&l, targets[k], quote[k]);
    l.column += fprintf(out, ":");
    for (int k = 0; k < n; k++)
        put_word(&l, files[k], true);
    putc('\n', out);
    for (int k = 1; phony && k < n; k++) {
        depfile_quote(out, files[k]);
        fputs(":\n", out);
    }
}
