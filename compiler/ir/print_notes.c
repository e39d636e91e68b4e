// Comments in the text of bundles: which lines of the source a bundle carries out, how often the iterations of a loop can begin and
// what occupies which unit meanwhile, and what lies where in each memory. They say nothing that the program does not hold.
//
// Test: tests/cli/bundle_notes.sh
#include "ir/print_notes.h"

#include <string.h>

// ---- lines of the source ------------------------------------------------------------------------------------------------------

static const char *add_line(Arena *a, const Sources *sources, const char *text, const Equation *eq)
{
    Position at = eq ? source_position(sources, eq->range.begin) : (Position){ 0 };
    if (!at.file)
        return text;
    const char *slash = strrchr(at.file->path, '/'), *line = arena_printf(a, "%s:%d", slash ? slash + 1 : at.file->path, at.line);
    const char *old = text ? strstr(text, line) : NULL;
    if (old && (old[strlen(line)] == ',' || !old[strlen(line)]))
        return text;
    return text ? arena_printf(a, "%s, %s", text, line) : line;
}

const char *note_bundle(Arena *a, const Sources *sources, const BundleProgram *b, int number)
{
    const char *text = NULL;
    for (int u = 0; u < MAX_UNITS; u++)
        if (b->bundles.at[number].op[u] >= 0)
            text = add_line(a, sources, text, b->ops.at[b->bundles.at[number].op[u]]->eq);
    return text;
}

// ---- loops --------------------------------------------------------------------------------------------------------------------

static bool has_inner(const BundleProgram *b, const BundleLoop *l)
{
    for (int i = 0; i < b->loops.n; i++) {
        const BundleLoop *x = &b->loops.at[i];
        if (x != l && x->first >= l->first && x->end <= l->end && (x->first > l->first || x->end < l->end || x > l))
            return true;
    }
    return false;
}

static bool always(When w) { return !w.first && !w.last; }

// An iteration takes as long as its bundles, one a cycle, and as the unit that has most to do. What happens in the first or last
// iterations only does not count.
const char *note_loop(Arena *a, const BundleProgram *b, const BundleLoop *l)
{
    int64_t busy[MAX_UNITS] = { 0 }, interval = l->end - l->first;
    int ops = 0, most = -1;
    for (int i = l->first; i < l->end; i++)
        for (int u = 0; u < MAX_UNITS; u++) {
            const MoveOp *op = b->bundles.at[i].op[u] >= 0 ? b->ops.at[b->bundles.at[i].op[u]] : NULL;
            ops += op != NULL;
            busy[u] += op && always(op->when) ? op->cycles : 0;
        }
    const char *text = arena_printf(a, "%d bundles with %d operations", l->end - l->first, ops);
    if (has_inner(b, l))
        return arena_printf(a, "%s, those of the loops in it counted once", text);
    for (int u = 0; u < MAX_UNITS; u++)
        if (busy[u] > interval) {
            interval = busy[u];
            most = u;
        }
    text = arena_printf(a, "%s; an iteration each %lld cycles at best, for %s:", text, (long long)interval, most >= 0 ? program_units()[most] : "its bundles");
    for (int u = 0; u < MAX_UNITS; u++)
        if (busy[u] > 0)
            text = arena_printf(a, "%s %s %.3g %%,", text, program_units()[u], 100.0 * (double)busy[u] / (double)interval);
    return arena_strndup(a, text, strlen(text) - 1);
}

// ---- memories -----------------------------------------------------------------------------------------------------------------

// -1: not known before the call.
static int64_t number(const Expr *e) { return !e ? 0 : e->op == OP_CONST ? e->i : -1; }

// What lies in a memory by address; where addresses depend on dimensions, in the program's order.
static const char *map_of(Arena *a, const BundleProgram *b, int memory, const char *name)
{
    VEC(const Buffer *) list = { 0 };
    for (int i = 0; i < b->buffers.n; i++) {
        const Buffer *x = b->buffers.at[i];
        if (x->memory != memory)
            continue;
        VEC_PUSH(a, &list, x);
        for (int at = list.n - 1; at > 0 && number(x->address) >= 0 && number(list.at[at - 1]->address) > number(x->address); at--) {
            list.at[at] = list.at[at - 1];
            list.at[at - 1] = x;
        }
    }
    const char *text = arena_printf(a, "%s, %s bytes", name, expr_text(a, b->need[memory]));
    for (int i = 0; i < list.n; i++) {
        const Buffer *x = list.at[i];
        int64_t at = number(x->address), bytes = number(x->bytes);
        const char *place = at >= 0 && bytes >= 0 ? arena_printf(a, "%lld..%lld", (long long)at, (long long)(at + x->slots * bytes))
                                                  : arena_printf(a, "from %s", x->address ? expr_text(a, x->address) : "0");
        text = arena_printf(a, "%s\n  %-16s %s%s", text, place, x->name, x->slots > 1 ? arena_printf(a, ", %d slots of %s", x->slots, expr_text(a, x->bytes)) : "");
    }
    return text;
}

const char *note_memories(Arena *a, const BundleProgram *b, const BundleTarget *target)
{
    const char *text = NULL;
    for (int m = 0; m < target->nmemories; m++)
        if (b->need[m])
            text = text ? arena_printf(a, "%s\n%s", text, map_of(a, b, m, target->memory[m])) : map_of(a, b, m, target->memory[m]);
    return text;
}

// ---- in one line --------------------------------------------------------------------------------------------------------------

static const char *operand_name(const Operand *o) { return o->buffer ? o->buffer->name : o->tensor->name; }

const char *note_op(Arena *a, const MoveOp *op)
{
    static const char *const kinds[] = { [MOVE_COPY] = "copy", [MOVE_GATHER] = "gather", [MOVE_MULTIPLY] = "multiply", [MOVE_NEST] = "nest", [MOVE_TASK] = "task" };
    const char *text = arena_printf(a, "%s %s", program_units()[op->unit], kinds[op->kind]);
    for (int q = 0; q < op->noperands; q++)
        text = arena_printf(a, "%s%s%s", text, q == 0 ? " " : q == 1 ? " <- " : ", ", operand_name(&op->operand[q]));
    return op->stage ? arena_printf(a, "%s in stage %d", text, op->stage) : text;
}
