// reread: print(read(print(x))) == print(x) (see reread.h). Test: every test that compiles with --verify-each
#include "ir/reread.h"

#include "ir/print.h"
#include "ir/read.h"
#include "syntax/parse.h"

#include <stdlib.h>
#include <string.h>

char *ir_as_text(const Kernel *k, const TileKernel *t, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!out)
        return NULL;
    if (t)
        ir_print_tile(out, t);
    else
        ir_print_task(out, k);
    fclose(out);
    return text;
}

bool ir_reads_back(const char *text, size_t size, bool tile, FILE *why)
{
    Arena *a = arena_new();
    Sources sources = { .arena = a };
    Diags *d = diags_new(a, &sources, why ? why : stderr);
    const TreeFile *file = parse_file(a, d, source_add(&sources, "<ir>", text, size));
    TileKernel *t = file && file->kernels.n && tile ? ir_read_tile(a, d, file, file->kernels.at[0]) : NULL;
    Kernel *k = file && file->kernels.n && !tile ? ir_read_task(a, d, file, file->kernels.at[0]) : NULL;
    char *again = t || k ? ir_as_text(k, t, &size) : NULL;
    bool same = again && strcmp(text, again) == 0;
    if (why && !same) {
        diags_flush(d);
        fprintf(why, "its text reads back as another\n%s", again ? again : "");
    }
    free(again);
    arena_free(a);
    return same;
}
