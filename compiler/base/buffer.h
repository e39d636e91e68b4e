// Buffers: text that is written piece by piece and then is one string: the only way to that in the compiler.
//
// Memory that runs out while it is written is as fatal as in an arena, and not a text that is shorter than it should be:
// whoever has the text has all of it.
//
// Test: tests/unit/test_base.c, tests/cli/memory.sh
#ifndef PTOC_BASE_BUFFER_H
#define PTOC_BASE_BUFFER_H

#include "base/arena.h"

#include <stdio.h>

typedef struct { FILE *stream; char *text; size_t size, room; } TextBuffer;       // stays where it is while it is open

void buffer_open(TextBuffer *b);             // `stream` is never NULL
void buffer_close(TextBuffer *b);            // `text`, with a 0 behind its `size` bytes, is the caller's to free
char *buffer_take(Arena *a, TextBuffer *b);  // closes it; the text is in the arena

#endif
