// dispatch: one file for several targets.
//
// Everything that belongs to a target stands between what says so to ptort/isa.h and, if the target has an architecture,
// under the condition that the C compiler is for it. Names of types and functions there end in the target's. Behind all
// of them pto_target() tells which one runs, and per kernel two functions call that one's: at every call, so that there
// is no state. The order is the same for all processors: the target that asks most first. Test: tests/cli/targets.sh
#include "emit/c.h"

#include "ptort/cpu.h"

#include <string.h>

const char *c_suffix(Arena *a, const EmitOptions *o)
{
    if (o->nmachines < 2)
        return "";
    return arena_printf(a, "_%s", c_identifier(a, o->machine->name));
}

// ---- conditions on the C compiler -----------------------------------------------------------------------------------------

// Opens, closes or changes the condition around what follows. *now: the architecture of the one that is open, or NULL.
static void condition(FILE *out, const char **now, const char *architecture)
{
    if (*now && architecture && strcmp(*now, architecture) == 0)
        return;
    if (*now)
        fprintf(out, "#endif\n");
    if (architecture)
        fprintf(out, "#if defined(__%s__)\n", architecture);
    *now = architecture;
}

// A file that would be empty for this compiler is better not compiled.
static void emit_refusal(FILE *out, const EmitOptions *o)
{
    for (int i = 0; i < o->nmachines; i++)
        if (!o->machines[i]->architecture)
            return;
    fprintf(out, "\n#if ");
    for (int i = 0; i < o->nmachines; i++)
        fprintf(out, "%s!defined(__%s__)", i ? " && " : "", o->machines[i]->architecture);
    fprintf(out, "\n#error \"compiled by ptoc for other architectures:");
    for (int i = 0; i < o->nmachines; i++)
        fprintf(out, " %s", o->machines[i]->name);
    fprintf(out, "\"\n#endif\n");
}

// ---- what belongs to a target -----------------------------------------------------------------------------------------------

static void emit_instruction_set(FILE *out, const EmitOptions *o, const char *suffix)
{
    const Machine *m = o->machine;
    if (m->attribute)
        fprintf(out, "#define PTO_TARGET __attribute__((target(\"%s\")))\n", m->attribute);
    fprintf(out, "#define PTO_FMA %d\n", m->fma);
    if (strncmp(m->isa, "x86-64-v", 8) == 0)
        fprintf(out, "#define PTO_X86 %s\n", m->isa + 8);
    if (*suffix)
        fprintf(out, "#define PTO_ISA %s\n", suffix);
    fprintf(out, "#include <ptort/isa.h>\n");
    if (m->emits_bundles && o->nkernels > 0) {
        fprintf(out, "#include <ptort/model.h>\n\n");
        emit_c_machine(out, m);
    }
}

void emit_c_target_begin(FILE *out, const EmitOptions *o, unsigned lanes)
{
    Arena *a = arena_new();
    const char *now = NULL;
    bool first = o->machine == o->machines[0];
    if (o->nmachines > 1 && first)
        emit_refusal(out, o);
    if (o->nmachines > 1) {
        fprintf(out, "\n// ---- %s ----\n\n", o->machine->name);
        condition(out, &now, o->machine->architecture);
    }
    if (!first)
        fprintf(out, "#undef PTO_TARGET\n#undef PTO_FMA\n#undef PTO_X86\n#undef PTO_ISA\n");
    emit_instruction_set(out, o, c_suffix(a, o));
    for (unsigned n = 2; n <= 64; n *= 2)
        if (lanes & n)
            fprintf(out, "#define PTO_LANES %u\n#include <ptort/simd.h>\n", n);
    fprintf(out, "\n");
    arena_free(a);
}

void emit_c_target_end(FILE *out, const EmitOptions *o)
{
    const char *now = o->nmachines > 1 ? o->machine->architecture : NULL;
    condition(out, &now, NULL);
}

// ---- the choice -----------------------------------------------------------------------------------------------------------

// Numbers of the targets: the one that asks most first; of those that ask for as much, the last of the list.
static int *ranking(Arena *a, const EmitOptions *o)
{
    int *order = ARENA_ARRAY(a, int, o->nmachines);
    for (int i = 0; i < o->nmachines; i++) {
        int at = i;
        for (; at > 0 && machine_demand(o->machines[order[at - 1]]) <= machine_demand(o->machines[i]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

// if (PTO_CPU_HAS(cpu, AVX2) && ...)
static void emit_test(FILE *out, const Machine *m)
{
    static const char *const ids[] = {
#define ROW(id, name) #id,
        PTO_CPU_FEATURES(ROW)
#undef ROW
    };
    int n = 0;
    for (int i = 0; i < PTO_CPU_COUNT; i++)
        if (m->needs >> i & 1)
            fprintf(out, "%sPTO_CPU_HAS(cpu, %s)", n++ == 0 ? "    if (" : n % 4 == 1 ? "\n        && " : " && ", ids[i]);
    fprintf(out, n ? ")\n    " : "");
}

void emit_c_choice(FILE *out, const EmitOptions *o)
{
    if (o->nkernels == 0)
        return;
    Arena *a = arena_new();
    const char *now = NULL;
    const int *order = ranking(a, o);
    const Machine *last = o->machines[order[o->nmachines - 1]];
    fprintf(out, "\n// ---- the choice ----\n\n#include <ptort/cpu.h>\n\n");
    fprintf(out, "// Which target runs, by its place above: of those that the processor satisfies the one that asks most; -1: none.\n");
    fprintf(out, "static int pto_target(void)\n{\n    const uint64_t cpu = pto_cpu();\n    (void)cpu;\n");
    for (int i = 0; i < o->nmachines; i++) {
        const Machine *m = o->machines[order[i]];
        condition(out, &now, m->architecture);
        emit_test(out, m);
        fprintf(out, "    return %d;          // %s\n", order[i], m->name);
    }
    condition(out, &now, NULL);
    fprintf(out, "%s}\n\n", machine_demand(last) ? "    return -1;\n" : "");
    arena_free(a);
}

// switch: the function of the target that runs.
static void emit_switch(Emit *e, FILE *out, Signature which)
{
    const EmitOptions *all = e->o;
    const char *now = NULL;
    fprintf(out, "static ");
    c_signature(out, e, which);
    fprintf(out, "\n{\n    switch (pto_target()) {\n");
    for (int i = 0; i < all->nmachines; i++) {
        EmitOptions one = *all;
        one.machine = all->machines[i];
        e->suffix = c_suffix(e->a, &one);
        condition(out, &now, one.machine->architecture);
        fprintf(out, "    case %d: return ", i);
        c_call(out, e, which);
        fprintf(out, ";\n");
    }
    condition(out, &now, NULL);
    e->suffix = "";
    fprintf(out, "    default: break;\n    }\n");
}

void c_dispatch(Emit *e, FILE *out)
{
    emit_switch(e, out, SIGNATURE_ENTER);
    fprintf(out, "    pto_status status = pto_enter(&ctx, \"%s\");\n    if (status != PTO_OK)\n        return status;\n", e->k->name);
    fprintf(out, "    return pto_leave(ctx, pto_error(ctx, PTO_ERR_TARGET, \"this processor can run none of the targets");
    for (int i = 0; i < e->o->nmachines; i++)
        fprintf(out, "%s %s", i ? "," : "", e->o->machines[i]->name);
    fprintf(out, "\"));\n}\n\n");
    emit_switch(e, out, SIGNATURE_BYTES);
    fprintf(out, "    return 0;\n}\n\n");
}
