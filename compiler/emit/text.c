// text: what comes from outside, inside of C: in strings, behind `//`, in identifiers.
//
// File names have any characters, and a comment that ended in a backslash would take the next line of code with it.
// Test: tests/cli/outputs.sh
#include "emit/c.h"

#include <ctype.h>
#include <string.h>

const char *c_string(Arena *a, const char *text)
{
    size_t n = strlen(text), at = 0;
    char *s = ARENA_ARRAY(a, char, 4 * n + 1);
    for (const char *c = text; *c; c++) {
        if (isprint((unsigned char)*c) && !strchr("\"\\?", *c)) {
            s[at++] = *c;
            continue;
        }
        s[at++] = '\\';
        if (strchr("\"\\?", *c)) {
            s[at++] = *c;                               // (??/ is a backslash)
            continue;
        }
        for (int shift = 6; shift >= 0; shift -= 3)
            s[at++] = (char)('0' + ((unsigned char)*c >> shift & 7));
    }
    s[at] = '\0';
    return s;
}

const char *c_identifier(Arena *a, const char *text)
{
    char *s = arena_strdup(a, text);
    for (char *c = s; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    return s;
}

const char *c_comment(Arena *a, const char *text, int length)
{
    char *s = arena_strndup(a, text, strnlen(text, (size_t)length));
    for (char *c = s; *c; c++)
        if (iscntrl((unsigned char)*c) || *c == '\\' || strncmp(c, "?" "?/", 3) == 0)
            *c = ' ';
    return s;
}
