// pipeline: the passes in order (see pipeline.h).
#include "passes/pipeline.h"

#include "emit/emit.h"
#include "machine/machine.h"
#include "passes/normalize.h"
#include "passes/plan.h"
#include "passes/prove.h"

#include <ctype.h>
#include <string.h>

typedef struct {
    Arena *a;
    isl_ctx *isl;
    Diags *d;
    const PipelineOptions *o;
    const Machine *machine;
} Pipeline;

static const char *const names[] = { "prove", "normalize", "depend", "fuse", "order", "storage", "lower", "vectorize", NULL };

const char *const *pipeline_passes(void)
{
    return names;
}

static TileKernel *lower_kernel(Pipeline *p, const Kernel *k)
{
    TileKernel *t = NULL;
    Poly *poly = poly_new(p->a, p->isl, k);
    Program *g = depend_analyse(p->a, poly, p->d, k);
    int errors = diags_errors(p->d);
    const Schedule *schedule = schedule_read(p->a, g, p->machine);
    Plan *plan = diags_errors(p->d) > errors ? NULL : fuse_program(p->a, g, p->machine, schedule, p->o->opt_level, p->o->explain ? p->o->explain_out : NULL);
    bool fine = plan != NULL;
    for (int i = 0; fine && i < plan->leaves.n; i++)
        fine = order_leaf(plan, plan->leaves.at[i]);
    if (fine) {
        t = ARENA_NEW(p->a, TileKernel);
        t->kernel = k;
        t->root = plan->root;
        storage_assign(plan, t);
        for (int i = 0; i < plan->leaves.n; i++)
            lower_leaf(plan, t, plan->leaves.at[i]);
        vectorize_kernel(plan, t);
        fine = diags_errors(p->d) == errors;
    }
    depend_free(g);
    poly_free(poly);
    return fine ? t : NULL;
}

static TileKernel *compile_kernel(Pipeline *p, Kernel *k)
{
    int errors = diags_errors(p->d);
    Poly *poly = poly_new(p->a, p->isl, k);
    prove_kernel(p->a, poly, p->d, k);
    poly_free(poly);
    if (diags_errors(p->d) > errors)
        return NULL;
    Kernel *n = normalize_kernel(p->isl, p->d, k);
    return n ? lower_kernel(p, n) : NULL;
}

static const char *guard_of(Arena *a, const char *header)
{
    char *g = arena_printf(a, "PTO_%s", header ? header : "KERNELS");
    for (char *c = g; *c; c++)
        *c = isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
    return g;
}

bool pipeline_compile(Arena *a, isl_ctx *isl, Diags *d, const TreeFile *file, const Module *m, const PipelineOptions *o, FILE *c_out, FILE *h_out)
{
    (void)file;
    Pipeline p = { a, isl, d, o, NULL };
    const char *error = NULL, *dir = arena_printf(a, "%s/targets", o->data_dir);
    p.machine = machine_load(a, dir, o->target, &error);
    if (!p.machine) {
        diag_report(d, D_MACHINE, (Range){ 0, 0 }, "%s", error);
        return false;
    }
    EmitOptions eo = { .source_name = o->source_name, .header_name = o->header_name, .line_directives = o->line_directives, .machine = p.machine };
    eo.sources = diags_sources(d);
    if (h_out)
        emit_header_prologue(h_out, &eo, guard_of(a, o->header_name));
    VEC(TileKernel *) done = { 0 };
    unsigned lanes = 0;
    bool fine = true;
    for (int i = 0; i < m->kernels.n; i++) {
        TileKernel *t = compile_kernel(&p, m->kernels.at[i]);
        fine = fine && t;
        if (!t)
            continue;
        lanes |= emit_c_lanes(t);
        VEC_PUSH(a, &done, t);
    }
    if (c_out) {
        emit_c_prologue(c_out, &eo);
        emit_c_vectors(c_out, lanes);
    }
    for (int i = 0; i < done.n; i++) {
        if (c_out)
            emit_c_kernel(c_out, &eo, done.at[i]);
        if (h_out)
            emit_header_kernel(h_out, &eo, done.at[i]->kernel);
    }
    if (h_out)
        emit_header_epilogue(h_out);
    return fine && diags_errors(d) == 0;
}
