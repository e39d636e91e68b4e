// Text that grows; see buffer.h.
#include "base/buffer.h"

#include <stdbool.h>
#include <stdlib.h>

void buffer_open(TextBuffer *b)
{
    *b = (TextBuffer){.text = NULL};
    b->stream = open_memstream(&b->text, &b->size);
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
