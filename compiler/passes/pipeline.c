// pipeline: the passes as a table, and their drive (see pipeline.h).
//
// A kernel goes down as a Job: each pass reads what the ones before it left there and adds its own. What people see of
// passes (--help=passes, --dump-after, the manual's list) comes from the table. Dumps are text that can be read back: the
// task level with the schedule as far as it is decided. With --verify-each, or built with -DPTO_VERIFY, the IR is verified
// after each pass, and that its text reads back as the same text; a broken invariant ends the compiler. Test: tests/golden/pipeline
#include "passes/pipeline.h"

#include "base/closest.h"
#include "emit/emit.h"
#include "ir/bundles.h"
#include "ir/print.h"
#include "ir/read.h"
#include "ir/reread.h"
#include "ir/verify.h"
#include "machine/machine.h"
#include "passes/explain.h"
#include "passes/needed.h"
#include "passes/normalize.h"
#include "bundles/place.h"
#include "passes/plan.h"
#include "passes/prove.h"
#include "passes/prove_tile.h"
#include "passes/schedule_print.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef VEC(Kernel *) Kernels;

typedef struct {
    Arena *a;
    Budget *budget;
    Diags *d;
    const PipelineOptions *o;
    const Machine *machine;
    BundleTarget target;         // the machine, where it emits bundles
    Kernels *normal;             // normalised, for --emit-ir=task
    bool textual;                // the file is textual IR
} Pipeline;

typedef struct {
    const Pipeline *p;
    Kernel *kernel;
    Poly *poly;
    Program *program;
    Schedule *schedule;
    Plan *plan;
    TileKernel *tile;
    bool rewritten, lowered, placed;    // `inline` and `layout` are carried out; the tile level is complete; and the move level
} Job;

// ---- the passes ---------------------------------------------------------------------------------------------------

static bool run_prove(Job *j)
{
    Poly *poly = poly_new(j->p->a, j->p->budget, j->kernel);
    prove_kernel(j->p->a, poly, j->p->d, j->kernel);
    poly_free(poly);
    return true;
}

static bool is_nest(Expr *e, void *data)
{
    bool *found = data;
    *found = *found || op_class(e->op) == OPC_NEST;
    return !*found;
}

// Textual IR may be past it. (Source never is: what nobody needs is dropped here.)
static bool is_normal(const Job *j)
{
    bool found = !j->p->textual;
    for (int i = 0; i < j->kernel->outputs.n; i++)
        found = found || j->kernel->outputs.at[i]->init;
    for (int i = 0; i < j->kernel->equations.n; i++) {
        const Equation *e = j->kernel->equations.at[i];
        if (e->kind != EQ_MAP)
            return true;
        found = found || e->otherwise;
        expr_walk(e->rhs, is_nest, &found);
    }
    return !found;
}

static bool run_normalize(Job *j)
{
    if (is_normal(j))
        return true;
    j->kernel = normalize_kernel(j->p->budget, j->p->d, j->kernel);
    return j->kernel;
}

static bool run_rewrite(Job *j)
{
    j->kernel = schedule_rewrite(j->p->a, j->p->budget, j->p->d, j->kernel, j->p->machine);
    j->rewritten = true;
    return j->kernel;
}

static bool run_needed(Job *j)
{
    j->kernel = needed_kernel(j->p->a, j->p->budget, diags_sources(j->p->d), j->kernel);
    return true;
}

static bool run_depend(Job *j)
{
    j->poly = poly_new(j->p->a, j->p->budget, j->kernel);
    j->program = depend_analyse(j->p->a, j->poly, j->p->d, j->kernel);
    return true;
}

static bool run_schedule(Job *j)
{
    j->schedule = schedule_read(j->p->a, j->program, j->p->machine);
    return true;
}

static bool run_fuse(Job *j)
{
    j->plan = fuse_program(j->p->a, j->program, j->p->machine, j->schedule, j->p->o->opt_level, j->p->o->explain ? j->p->o->explain_out : NULL);
    return j->plan;
}

static bool run_order(Job *j)
{
    return order_leaves(j->plan);
}

static bool run_storage(Job *j)
{
    j->tile = ARENA_NEW(j->p->a, TileKernel);
    j->tile->kernel = j->kernel;
    j->tile->root = j->plan->root;
    storage_assign(j->plan, j->tile);
    for (int i = 0; i < j->plan->leaves.n && j->p->machine->emits_c; i++)
        capacity_check(j->plan, j->tile, j->plan->leaves.at[i]);
    return true;
}

static bool run_lower(Job *j)
{
    for (int i = 0; i < j->plan->leaves.n; i++)
        lower_leaf(j->plan, j->tile, j->plan->leaves.at[i]);
    unreached_reads(j->plan, j->tile);
    tidy_kernel(j->plan, j->tile);
    j->lowered = true;
    return true;
}

static bool run_bound(Job *j)
{
    bound_by_data(j->plan, j->tile);
    return true;
}

static bool run_vectorize(Job *j)
{
    if (j->p->machine->emits_c)
        vectorize_kernel(j->plan, j->tile);
    return true;
}

static void name_programs(Arena *a, Node *n)
{
    if (n->program)
        program_name(a, n->program);
    if (n->otherwise)
        program_name(a, n->otherwise);
    for (int i = 0; n->kind != NODE_GRID && i < n->body.n; i++)
        name_programs(a, n->body.at[i]);
}

static bool run_place(Job *j)
{
    place_kernel(j->plan, j->tile);
    name_programs(j->p->a, j->tile->root);
    j->placed = j->p->machine->emits_bundles;
    return true;
}

// PASS(name, what it is about), in order.
#define PASSES(PASS)                                                                          \
    PASS(prove, "the guarantees: defined once, in bounds, well-founded")                      \
    PASS(normalize, "one operation an equation")                                              \
    PASS(rewrite, "inlines expressions and orders dimensions, where a schedule says so")      \
    PASS(needed, "faults of elements that no output needs do not count")                      \
    PASS(depend, "statements, and the exact dependences between them")                        \
    PASS(schedule, "what the schedules in the source ask for")                                \
    PASS(fuse, "which statements share a grid; sequential loops; sizes of tiles")             \
    PASS(order, "the loops over points inside a task")                                        \
    PASS(storage, "where every tensor lives, and how much of it")                             \
    PASS(lower, "loop nests")                                                                 \
    PASS(bound, "guards that are bounds of a loop, from data")                                \
    PASS(vectorize, "which loops run in vectors")                                             \
    PASS(place, "machines of bundles: units, memories, moves, and their order")

static const struct { const char *name, *about; bool (*run)(Job *j); } passes[] = {
#define ROW(name, about) { #name, about, run_##name },
    PASSES(ROW)
#undef ROW
};
enum { NPASSES = sizeof passes / sizeof *passes };

const char *const *pipeline_passes(void)
{
    static const char *const names[] = {
#define NAME(name, about) #name,
        PASSES(NAME)
#undef NAME
        NULL,
    };
    return names;
}

const char *pipeline_about(const char *pass)
{
    for (int i = 0; i < NPASSES; i++)
        if (strcmp(passes[i].name, pass) == 0)
            return passes[i].about;
    return NULL;
}

// ---- between passes -------------------------------------------------------------------------------------------------

// The task level, and the schedule as far as it is decided.
static void print_task(FILE *out, const Job *j)
{
    Kernel k = j->rewritten ? *schedule_rewritten(j->p->a, j->kernel, j->p->machine) : *j->kernel;
    if (j->plan)
        k.schedules.n = 0;
    ir_print_task(out, &k);
    if (j->plan)
        schedule_print(out, j->plan, j->tile, false);
}

static void dump(const Job *j, const char *pass)
{
    const char *wanted = j->p->o->dump_after;
    if (!wanted || (strcmp(wanted, pass) != 0 && strcmp(wanted, "all") != 0))
        return;
    bool several = strchr(j->p->o->target, ',') != NULL;
    fprintf(j->p->o->dump, "// kernel %s%s%s after %s\n", j->kernel->name, several ? " for " : "", several ? j->p->machine->name : "", pass);
    if (j->placed)
        ir_print_bundles(j->p->o->dump, 1, &j->tile, &j->p->target, false);
    else if (j->lowered)
        ir_print_tile(j->p->o->dump, j->tile);
    else
        print_task(j->p->o->dump, j);
    fflush(j->p->o->dump);
}

#ifdef PTO_VERIFY
enum { ALWAYS_VERIFY = 1 };
#else
enum { ALWAYS_VERIFY = 0 };
#endif

static bool is_good(const Job *j, const IrShown *shown, const char *text, size_t size, FILE *why)
{
    bool sound = j->lowered ? ir_verify_tile(j->tile, why) : ir_verify_task(j->kernel, why);
    sound = sound && (!j->placed || ir_verify_bundles(j->tile, j->p->target.nmemories, true, why));
    return sound && text && ir_reads_back(shown, text, size, why);
}

static void verify_text(const Job *j, const char *pass, const IrShown *shown)
{
    size_t size = 0;
    char *text = ir_as_text(shown, &size);
    if (!is_good(j, shown, text, size, NULL)) {
        fprintf(stderr, "ptoc: the IR is broken after %s: ", pass);
        is_good(j, shown, text, size, stderr);
        fprintf(stderr, "\n%s", text);
        abort();
    }
    free(text);
}

static void verify(const Job *j, const char *pass)
{
    if (!ALWAYS_VERIFY && !j->p->o->verify_each)
        return;
    const TileKernel *tile = j->lowered ? j->tile : NULL;
    verify_text(j, pass, &(IrShown){ .kernel = j->kernel, .tile = tile });
    if (!j->placed)
        return;
    verify_text(j, pass, &(IrShown){ .kernel = j->kernel, .tile = tile, .target = &j->p->target });
    verify_text(j, pass, &(IrShown){ .kernel = j->kernel, .tile = tile, .target = &j->p->target, .bundled = true });
}

static TileKernel *compile_kernel(const Pipeline *p, Kernel *k, FILE *schedule)
{
    Job j = { .p = p, .kernel = k };
    int errors = diags_errors(p->d);
    bool fine = true;
    verify(&j, "sema");
    for (int i = 0; fine && i < NPASSES; i++) {
        fine = passes[i].run(&j) && diags_errors(p->d) == errors;
        if (fine) {
            verify(&j, passes[i].name);
            dump(&j, passes[i].name);
        }
    }
    if (fine && schedule)
        schedule_print(schedule, j.plan, j.tile, true);
    if (fine)
        explain_kernel(j.plan, j.tile);
    if (fine && p->o->tilings)
        tiling_of_plan(j.plan, p->o->tilings);
    if (fine && p->o->steps)
        tiling_steps_of_plan(j.plan, p->o->steps);
    if (fine && p->o->emit_ir)
        VEC_PUSH(p->a, p->normal, normalize_live(p->a, schedule_rewritten(p->a, j.kernel, p->machine)));
    if (j.program)
        depend_free(j.program);
    if (j.poly)
        poly_free(j.poly);
    return fine ? j.tile : NULL;
}

// ---- textual IR of the tile level and below -----------------------------------------------------------------------------

static bool refuse(const Pipeline *p, const Kernel *k, const char *what)
{
    diag_report(p->d, D_UNSUPPORTED, k->range, "%s", what);
    return false;
}

static bool has_task(const Node *grid)
{
    return program_is_task(grid->program) || (grid->otherwise && program_is_task(grid->otherwise));
}

// A grid that has no program is the scalar unit's.
static bool take_node(const Pipeline *p, const Kernel *k, Node *n)
{
    if (n->kind == NODE_GRID && p->machine->emits_bundles && !n->program)
        n->program = place_task(p->a, n);
    const char *level = p->o->emit_ir ? p->o->emit_ir : "c";
    bool fine = true;
    if (n->program && !has_task(n) && strcmp(level, "tile") == 0)
        fine = refuse(p, k, "its tile level is gone: grids are programs of an accelerator");
    const char *problem = n->program && fine && strcmp(level, "task") != 0 && strcmp(level, "move") != 0 ? place_loose(p->a, p->machine, n) : NULL;
    if (problem)
        fine = refuse(p, k, problem);
    for (int i = 0; fine && n->kind != NODE_GRID && i < n->body.n; i++)
        fine = take_node(p, k, n->body.at[i]);
    return fine;
}

static bool is_proved(const Pipeline *p, TileKernel *t)
{
    Poly *poly = poly_new(p->a, p->budget, t->kernel);
    bool good = prove_tile(p->a, poly, p->d, p->machine, t);
    poly_free(poly);
    return good;
}

// It has been through all passes.
static TileKernel *take_tile(const Pipeline *p, TileKernel *t)
{
    Kernel *k = (Kernel *)t->kernel;
    VEC_PUSH(p->a, p->normal, k);
    if (p->o->emit_schedule)
        fprintf(p->o->schedule_out, "// %s: the tile level no longer knows the schedule it comes from\n", k->name);
    if (!take_node(p, k, t->root) || !is_proved(p, t))
        return NULL;
    name_programs(p->a, t->root);
    return t;
}

// ---- what is asked for ------------------------------------------------------------------------------------------------

static bool is_machine(const TreeFile *file, int n, const char *const *names, const char *word)
{
    if (strcmp(word, "cpu") == 0)
        return true;
    for (int i = 0; i < n; i++)
        if (schedule_machine_is(names[i], word))
            return true;
    for (int i = 0; i < file->machines.n; i++)
        if (strcmp(file->machines.at[i]->name, word) == 0)
            return true;
    return false;
}

// A schedule `on` a machine that nobody knows would be skipped for ever.
static void check_machines(const Pipeline *p, const TreeFile *file, const char *dir)
{
    const char **names;
    int n = machine_names(p->a, dir, &names);
    for (int i = 0; i < file->schedules.n; i++) {
        const TreeSchedule *s = file->schedules.at[i];
        if (!s->machine || is_machine(file, n, names, s->machine))
            continue;
        diag_report(p->d, D_SCHEDULE, s->machine_range, "no machine is called `%s`", s->machine);
        const char *closest = closest_of(s->machine, n, names);
        if (closest)
            diag_help(p->d, "did you mean `%s`?", closest);
    }
}

// Is there such a level, for the machine?
static bool is_known_level(const Pipeline *p)
{
    const char *level = p->o->emit_ir;
    if (!level || p->machine->emits_bundles || (strcmp(level, "move") != 0 && strcmp(level, "bundles") != 0))
        return true;
    diag_report(p->d, D_UNSUPPORTED, (Range){ 0, 0 }, "the machine `%s` has no move level: it runs C, and no bundles", p->machine->name);
    return false;
}

static BundleTarget target_of(const Machine *m)
{
    BundleTarget t = { .machine = m->name, .set = m->set };
    for (int i = 0; m->emits_bundles && i < m->nmemories; i++)
        t.memory[t.nmemories++] = m->memory[i].name;
    return t;
}

// A file of bundles is for one machine, with these memories.
static bool is_for(const Pipeline *p, const TreeFile *file)
{
    BundleTarget t;
    if (!ir_is_bundles(file))
        return true;
    bool same = ir_read_target(p->a, p->d, file, &t) && strcmp(t.machine, p->target.machine) == 0 && t.nmemories == p->target.nmemories;
    for (int i = 0; same && i < t.nmemories; i++)
        same = strcmp(t.memory[i], p->target.memory[i]) == 0;
    if (!same)
        diag_report(p->d, D_IR, file->machine_range, "this file is not for the machine `%s` as it is: other memories", p->machine->name);
    return same;
}

static const char *guard_of(Arena *a, const char *header)
{
    char *g = arena_printf(a, "PTO_%s", header ? header : "KERNELS");
    for (char *c = g; *c; c++)
        *c = isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
    return g;
}

typedef VEC(TileKernel *) TileKernels;

static EmitOptions emit_options(const Pipeline *p, const Module *m, const Machines *machines)
{
    return (EmitOptions){
        .source_name = p->o->source_name, .header_name = p->o->header_name, .sources = diags_sources(p->d), .line_directives = p->o->line_directives,
        .nmachines = machines->n, .machines = machines->at, .nkernels = m->kernels.n, .kernels = m->kernels.at,
    };
}

static void emit_target(const EmitOptions *eo, const TileKernels *done, FILE *out)
{
    unsigned lanes = 0;
    for (int i = 0; i < done->n; i++)
        lanes |= emit_c_lanes(done->at[i]);
    emit_c_target_begin(out, eo, lanes);
    for (int i = 0; i < done->n; i++)
        emit_c_kernel(out, eo, done->at[i]);
    emit_c_target_end(out, eo);
}

static void emit_public(const EmitOptions *eo, const Module *m, FILE *out)
{
    if (eo->nmachines > 1)
        emit_c_choice(out, eo);
    for (int i = 0; i < m->kernels.n; i++)
        emit_c_public(out, eo, m->kernels.at[i]);
}

static void emit_header(const Pipeline *p, const EmitOptions *eo, const Module *m, FILE *out)
{
    emit_header_prologue(out, eo, guard_of(p->a, p->o->header_name));
    for (int i = 0; i < m->kernels.n; i++)
        emit_header_kernel(out, eo, m->kernels.at[i]);
    emit_header_epilogue(out);
}

// ---- the whole --------------------------------------------------------------------------------------------------------

static void check_strategies(const Pipeline *p, const TreeFile *file)
{
    for (int i = 0; i < file->strategies.n; i++) {
        diag_report(p->d, D_UNSUPPORTED, file->strategies.at[i]->range, "strategies are not built yet");
        diag_help(p->d, "write the directives into a schedule of the kernel");
    }
}

// All kernels for the machine of `p`; `parts`: kernels for this machine and those to come. False after errors.
static bool compile_target(const Pipeline *p, const Module *m, int parts, TileKernels *done)
{
    bool fine = true;
    for (int i = 0; i < m->kernels.n && !diags_full(p->d); i++) {
        budget_share(p->budget, parts - i);
        TileKernel *t = m->tiles.n ? take_tile(p, m->tiles.at[i]) : compile_kernel(p, m->kernels.at[i], p->o->emit_schedule ? p->o->schedule_out : NULL);
        fine = fine && t;
        if (t)
            VEC_PUSH(p->a, done, t);
    }
    return fine && diags_errors(p->d) == 0;
}

static void print_bundles(const Pipeline *p, const TileKernels *done)
{
    BundleTarget target = p->target;
    target.sources = p->o->notes || p->o->brief ? diags_sources(p->d) : NULL;
    target.brief = p->o->brief;
    ir_print_bundles(p->o->ir_out, done->n, done->at, &target, strcmp(p->o->emit_ir, "bundles") == 0);
}

static void print_ir(const Pipeline *p, const TileKernels *done)
{
    if (p->o->emit_ir && strcmp(p->o->emit_ir, "task") == 0)
        ir_print_tasks(p->o->ir_out, p->normal->n, p->normal->at);
    else if (p->o->emit_ir && strcmp(p->o->emit_ir, "tile") != 0)
        print_bundles(p, done);
    else if (p->o->emit_ir)
        ir_print_tiles(p->o->ir_out, done->n, done->at);
}

// So many equations add as much again to the budget of operations on integer sets.
enum { EQUATIONS = 400 };

bool pipeline_compile(Arena *a, Budget *budget, Diags *d, const TreeFile *file, const Module *m, const PipelineOptions *o, FILE *c_out, FILE *h_out)
{
    Kernels normal = { 0 };
    Pipeline p = { .a = a, .budget = budget, .d = d, .o = o, .normal = &normal, .textual = file->level != NULL };
    Machines machines = { 0 };
    const char *error = NULL, *dir = arena_printf(a, "%s/targets", o->data_dir);
    if (!machines_load(a, dir, o->target, o->machine_set, &machines, &error)) {
        diag_report(d, D_MACHINE, (Range){ 0, 0 }, "%s", error);
        return false;
    }
    check_machines(&p, file, dir);
    check_strategies(&p, file);
    int equations = 0;
    for (int i = 0; i < m->kernels.n; i++)
        equations += machines.n * m->kernels.at[i]->equations.n;
    budget_add(budget, budget->left / EQUATIONS * (unsigned long)equations);
    EmitOptions eo = emit_options(&p, m, &machines);
    if (c_out)
        emit_c_prologue(c_out, &eo);
    for (int i = 0; i < machines.n; i++) {
        TileKernels done = { 0 };
        eo.machine = p.machine = machines.at[i];
        p.target = target_of(p.machine);
        if (!is_known_level(&p) || !is_for(&p, file) || !compile_target(&p, m, (machines.n - i) * m->kernels.n, &done))
            return false;
        print_ir(&p, &done);
        if (c_out)
            emit_target(&eo, &done, c_out);
    }
    if (c_out)
        emit_public(&eo, m, c_out);
    if (h_out)
        emit_header(&p, &eo, m, h_out);
    return true;
}
