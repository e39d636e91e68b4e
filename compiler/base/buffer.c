// Text that grows; see buffer.h.
#include "base/buffer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// (open_memstream is of no use: what glibc has no memory for is missing from the text, and no error is seen.)
static ssize_t take_text(void *cookie, const char *text, size_t n)
{
    TextBuffer *b = cookie;
    if (b->room - b->size <= n) {
        size_t room = 2 * b->room + n + 1;
        char *more = realloc(b->text, room);
        if (!more)
            arena_oom_handler();
        b->text = more;
        b->room = room;
    }
    memcpy(b->text + b->size, text, n);
    b->size += n;
    b->text[b->size] = 0;
    return (ssize_t)n;
}

void buffer_open(TextBuffer *b)
{
    *b = (TextBuffer){.text = calloc(1, 64), .room = 64};
    b->stream = b->text ? fopencookie(b, "w", (cookie_io_functions_t){.write = take_text}) : NULL;
    if (!b->stream)
        arena_oom_handler();
}

void buffer_close(TextBuffer *b)
{
    bool whole = !ferror(b->stream);
    whole = fclose(b->stream) == 0 && whole;
    b->stream = NULL;
    if (!whole || !b->text)
        arena_oom_handler();
}

char *buffer_take(Arena *a, TextBuffer *b)
{
    buffer_close(b);
    char *text = arena_strndup(a, b->text, b->size);
    free(b->text);
    *b = (TextBuffer){.text = NULL};
    return text;
}
