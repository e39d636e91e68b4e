// reread: print(read(print(x))) == print(x) (see reread.h). Test: every test that compiles with --verify-each
#include "ir/reread.h"

#include "base/buffer.h"

#include "ir/print.h"
#include "ir/read.h"
#include "syntax/parse.h"

#include <stdlib.h>
#include <string.h>

char *ir_as_text(const IrShown *shown, size_t *size)
{
    TextBuffer text;
    buffer_open(&text);
    FILE *out = text.stream;
    TileKernel *tile = (TileKernel *)shown->tile;
    if (shown->target)
        ir_print_bundles(out, 1, &tile, shown->target, shown->bundled);
    else if (tile)
        ir_print_tile(out, tile);
    else
        ir_print_task(out, shown->kernel);
    buffer_close(&text);
    *size = text.size;
    return text.text;
}

// The same of what the text says; both NULL after errors.
static IrShown read_back(Arena *a, Diags *d, const TreeFile *f, const IrShown *shown)
{
    IrShown again = { .target = shown->target, .bundled = shown->bundled };
    if (!f || f->kernels.n == 0)
        return again;
    if (shown->target)
        again.tile = ir_read_bundles(a, d, f, f->kernels.at[0]);
    else if (shown->tile)
        again.tile = ir_read_tile(a, d, f, f->kernels.at[0]);
    else
        again.kernel = ir_read_task(a, d, f, f->kernels.at[0]);
    return again;
}

bool ir_reads_back(const IrShown *shown, const char *text, size_t size, FILE *why)
{
    Arena *a = arena_new();
    Sources sources = { .arena = a };
    Diags *d = diags_new(a, &sources, why ? why : stderr);
    IrShown back = read_back(a, d, parse_file(a, d, source_add(&sources, "<ir>", text, size)), shown);
    char *again = back.tile || back.kernel ? ir_as_text(&back, &size) : NULL;
    bool same = again && strcmp(text, again) == 0;
    if (why && !same) {
        diags_flush(d);
        fprintf(why, "its text reads back as another\n%s", again ? again : "");
    }
    free(again);
    arena_free(a);
    return same;
}
