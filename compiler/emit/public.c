// public: what others see of the C: signatures, the public function, the descriptor for tools, the header.
#include "emit/c.h"

#include <limits.h>

// ---- the signature ------------------------------------------------------------------------------------------------------

static bool is_question(Signature which) { return which == SIGNATURE_WORKSPACE || which == SIGNATURE_BYTES; }

static const char *beside(Emit *e, const char *what)
{
    return emit_name_beside(e->a, e->o->nkernels, e->o->kernels, e->k->name, what);
}

static const char *function_name(Emit *e, Signature which)
{
    switch (which) {
    case SIGNATURE_PUBLIC: return name_public(e->a, e->k->name);
    case SIGNATURE_ENTER: return name_own(e, "enter");
    case SIGNATURE_WORKSPACE: return beside(e, "workspace");
    case SIGNATURE_BYTES: return name_own(e, "bytes");
    }
    return "";
}

void c_signature(FILE *out, Emit *e, Signature which)
{
    const Kernel *k = e->k;
    bool question = is_question(which);
    fprintf(out, "%s %s(pto_context *ctx", question ? "size_t" : "pto_status", function_name(e, which));
    for (int i = 0; i < k->params.n && !question; i++) {
        const Param *p = &k->params.at[i];
        if (p->dim)
            fprintf(out, ", int64_t %s", name_of_dim(e, p->dim));
        else if (p->tensor->rank == 0)
            fprintf(out, ", %s %s", dtype_ctype(p->tensor->type), e->tensor[p->tensor->id]);
        else
            fprintf(out, ", const pto_tensor *%s", e->tensor[p->tensor->id]);
    }
    for (int i = 0; i < k->dims.n && question; i++)
        fprintf(out, ", int64_t %s", e->dim[i]);
    for (int i = 0; i < k->outputs.n && !question; i++) {
        const Tensor *t = k->outputs.at[i];
        if (t->rank == 0)
            fprintf(out, ", %s *%s", dtype_ctype(t->type), e->tensor[t->id]);
        else
            fprintf(out, ", const pto_tensor *%s", e->tensor[t->id]);
    }
    fprintf(out, ")");
}

void c_call(FILE *out, Emit *e, Signature which)
{
    const Kernel *k = e->k;
    bool question = is_question(which);
    fprintf(out, "%s(ctx", function_name(e, which));
    for (int i = 0; i < k->params.n && !question; i++)
        fprintf(out, ", %s", k->params.at[i].dim ? name_of_dim(e, k->params.at[i].dim) : e->tensor[k->params.at[i].tensor->id]);
    for (int i = 0; i < k->dims.n && question; i++)
        fprintf(out, ", %s", e->dim[i]);
    for (int i = 0; i < k->outputs.n && !question; i++)
        fprintf(out, ", %s", e->tensor[k->outputs.at[i]->id]);
    fprintf(out, ")");
}

// A public function calls the one of its kind.
static void emit_public(Emit *e, FILE *out, Signature which)
{
    c_signature(out, e, which);
    fprintf(out, "\n{\n    return ");
    c_call(out, e, which == SIGNATURE_PUBLIC ? SIGNATURE_ENTER : SIGNATURE_BYTES);
    fprintf(out, ";\n}\n\n");
}

static void emit_declarations(Emit *e, FILE *out, const char *about_workspace)
{
    c_signature(out, e, SIGNATURE_PUBLIC);
    fprintf(out, ";\n%s", about_workspace);
    c_signature(out, e, SIGNATURE_WORKSPACE);
    fprintf(out, ";\nextern const pto_kernel %s;\n\n", beside(e, "kernel"));
}

// ---- what tools ask -----------------------------------------------------------------------------------------------------

const char *c_dtype(Arena *a, DType t)
{
    char *s = arena_printf(a, "PTO_%s", dtype_name(t));
    for (char *c = s; *c; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    return s;
}

static const char *shape_text(Emit *e, const Tensor *t)
{
    const char *text = "[";
    for (int d = 0; d < t->rank; d++)
        text = arena_printf(e->a, "%s%s%s", text, d ? ", " : "", c_extent_text(e, t, d));
    return t->rank ? arena_printf(e->a, "%s]", text) : "";
}

// "generic, x86-64-v3"
static const char *machine_list(Arena *a, const EmitOptions *o, const char *between)
{
    const char *text = o->machines[0]->name;
    for (int i = 1; i < o->nmachines; i++)
        text = arena_printf(a, "%s%s%s", text, between, o->machines[i]->name);
    return text;
}

static void emit_descriptor(Emit *e, FILE *out)
{
    int n = 0;
    fprintf(out, "static const pto_param %s[] = {\n", name_own(e, "params"));
    for (int i = 0; i < e->k->params.n; i++, n++) {
        const Param *p = &e->k->params.at[i];
        if (p->dim)
            fprintf(out, "    { \"%s\", PTO_PARAM_DIM, PTO_I64, 0, \"\" },\n", p->dim->name);
        else
            fprintf(out, "    { \"%s\", %s, %s, %d, \"%s\" },\n", p->tensor->name, p->tensor->rank ? "PTO_PARAM_TENSOR" : "PTO_PARAM_SCALAR",
                    c_dtype(e->a, p->tensor->type), p->tensor->rank, shape_text(e, p->tensor));
    }
    for (int i = 0; i < e->k->outputs.n; i++, n++) {
        const Tensor *t = e->k->outputs.at[i];
        fprintf(out, "    { \"%s\", %s, %s, %d, \"%s\" },\n", t->name, t->rank ? "PTO_PARAM_OUTPUT" : "PTO_PARAM_SCALAR_OUTPUT", c_dtype(e->a, t->type), t->rank, shape_text(e, t));
    }
    fprintf(out, "};\n\nstatic pto_status %s(pto_context *ctx, void *const *args)\n{\n    return %s(ctx", name_own(e, "call"), name_own(e, "enter"));
    for (int i = 0; i < e->k->params.n; i++) {
        const Param *p = &e->k->params.at[i];
        if (p->dim)
            fprintf(out, ", *(const int64_t *)args[%d]", i);
        else if (p->tensor->rank == 0)
            fprintf(out, ", *(const %s *)args[%d]", c_element(p->tensor), i);
        else
            fprintf(out, ", args[%d]", i);
    }
    for (int i = 0; i < e->k->outputs.n; i++)
        fprintf(out, ", args[%d]", e->k->params.n + i);
    fprintf(out, ");\n}\n\nstatic size_t %s(pto_context *ctx, void *const *args)\n{\n%s    return %s(ctx", name_own(e, "ask"), e->k->dims.n ? "" : "    (void)args;\n",
            name_own(e, "bytes"));
    for (int i = 0; i < e->k->dims.n; i++) {
        const Dim *d = e->k->dims.at[i];
        for (int j = 0; j < e->k->params.n; j++) {
            if (e->k->params.at[j].dim == d)
                fprintf(out, ", *(const int64_t *)args[%d]", j);
            else if (d->tensor && e->k->params.at[j].tensor == d->tensor)
                fprintf(out, ", ((const pto_tensor *)args[%d])->shape[%d]", j, d->axis);
        }
    }
    fprintf(out, ");\n}\n\n");
    fprintf(out, "const pto_kernel %s = {\n    .name = \"%s\", .target = \"%s\", .nparams = %d, .params = %s, .call = %s, .workspace = %s,\n};\n", beside(e, "kernel"),
            e->k->name, machine_list(e->a, e->o, ","), n, name_own(e, "params"), name_own(e, "call"), name_own(e, "ask"));
}

void emit_c_public(FILE *out, const EmitOptions *o, const Kernel *k)
{
    Arena *a = arena_new();
    Emit e = { .a = a, .o = o, .k = k, .suffix = "" };
    name_setup(&e);
    if (!o->header_name)
        emit_declarations(&e, out, "");
    if (o->nmachines > 1)
        c_dispatch(&e, out);
    emit_public(&e, out, SIGNATURE_PUBLIC);
    emit_public(&e, out, SIGNATURE_WORKSPACE);
    emit_descriptor(&e, out);
    fprintf(out, "\n");
    arena_free(a);
}

// ---- files ----------------------------------------------------------------------------------------------------------------

void emit_c_prologue(FILE *out, const EmitOptions *o)
{
    Arena *a = arena_new();
    const char *set = o->machines[0]->set;
    fprintf(out, "// Generated by ptoc " PTO_VERSION " from %s for %s%s%s. Do not edit: change the source and compile it again.\n", c_comment(a, o->source_name, INT_MAX),
            machine_list(a, o, ", "), set ? " with " : "", set ? set : "");
    fprintf(out, "// Links with -lptort (see `pkg-config --cflags --libs ptort`).\n");
    if (o->header_name)
        fprintf(out, "#include \"%s\"\n", o->header_name);
    fprintf(out, "\n// Results must not depend on the caller's -ffp-contract: fused operations are written out.\n");
    fprintf(out, "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#elif defined(__GNUC__)\n#pragma GCC optimize(\"fp-contract=off\")\n#endif\n#if defined(__GNUC__) && !defined(__OPTIMIZE__) && !defined(PTO_NO_SPEED_WARNING)\n#pragma message \"warning: kernels compiled without -O2 are many times slower (PTO_NO_SPEED_WARNING, defined, says that this is meant)\"\n#endif\n#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Wpsabi\"          // all functions with vectors are inlined\n#pragma GCC diagnostic ignored \"-Wtype-limits\"    // the source may ask whether a byte is below 0\n#endif\n");
    arena_free(a);
}

void emit_header_prologue(FILE *out, const EmitOptions *o, const char *guard)
{
    Arena *a = arena_new();
    fprintf(out, "// Generated by ptoc " PTO_VERSION " from %s. Do not edit.\n#ifndef %s\n#define %s\n\n#include <ptort.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
            c_comment(a, o->source_name, INT_MAX), guard, guard);
    arena_free(a);
}

static void describe_tensor(FILE *out, Emit *e, const Tensor *t)
{
    fprintf(out, "//   %-8s %s%s%s\n", t->name, dtype_name(t->type), shape_text(e, t), t->kind == TENSOR_OUTPUT ? "   (output)" : "");
}

void emit_header_kernel(FILE *out, const EmitOptions *o, const Kernel *k)
{
    Arena *a = arena_new();
    Emit e = { .a = a, .o = o, .k = k, .suffix = "" };
    name_setup(&e);
    fprintf(out, "// %s. Every argument is checked first; on an error nothing is written, and pto_context_error(ctx) says why.\n", k->name);
    for (int i = 0; i < k->params.n; i++) {
        if (k->params.at[i].tensor)
            describe_tensor(out, &e, k->params.at[i].tensor);
        else
            fprintf(out, "//   %-8s int\n", k->params.at[i].dim->name);
    }
    for (int i = 0; i < k->outputs.n; i++)
        describe_tensor(out, &e, k->outputs.at[i]);
    emit_declarations(&e, out, "// Bytes of workspace that a call with these sizes takes from the context (which keeps them for the next call).\n");
    arena_free(a);
}

void emit_header_epilogue(FILE *out)
{
    fprintf(out, "#ifdef __cplusplus\n}\n#endif\n#endif\n");
}
