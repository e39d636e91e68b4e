// sema: the entry point, and what is checked at the end of a kernel.
//
// Kernels are independent: each has its own namespace and its own list of errors, and one with errors is left out. The
// steps are those of context.h; after them a kernel is complete, its left sides are injective, and its schedules are
// attached. A kernel's objects live in the arena of the module.
//
// Test: tests/unit/test_sema.c
#include "sema/context.h"

#include "ir/read.h"

#include <string.h>

// ---- injective left sides ----

// Whether the indices follow from the subscripts one by one: each is alone, or with known ones, in some subscript.
static bool solvable(const Equation *eq)
{
    int n = eq->indices.n;
    bool known[SEMA_MOST_INDICES + 1] = {false};
    for (bool progress = true; progress;) {
        progress = false;
        for (int d = 0; d < eq->lhs->rank; d++) {
            int unknown = 0, last = 0;
            for (int i = 0; i < n; i++)
                if (!known[i] && expr_uses(eq->subs[d], eq->indices.at[i])) unknown++, last = i;
            bool linear = true;
            if (unknown != 1 || linear_coefficient(eq->subs[d], eq->indices.at[last], &linear) == 0 || !linear) continue;
            known[last] = progress = true;
        }
    }
    for (int i = 0; i < n; i++)
        if (!known[i]) return false;
    return true;
}

static void report_twice(Sema *s, const Equation *eq, isl_map *write, PolyIndices ix)
{
    isl_map *pairs = isl_map_apply_range(isl_map_copy(write), isl_map_reverse(isl_map_copy(write)));
    isl_map *same = isl_map_identity(isl_map_get_space(pairs));
    isl_set *twice = isl_map_domain(isl_map_subtract(pairs, same));
    char *example = twice ? poly_example(sema_poly(s), s->arena, ix, twice) : NULL;
    isl_set_free(twice);
    sema_error(s, D_SUBSCRIPT, eq->lhs_range, "the left side of `%s` defines one element more than once%s%s", eq->lhs->name,
               example ? ", e.g. at " : "", example ? example : "");
    sema_help(s, "every index must follow from the subscripts; sum over the others: `sum(k) ...`");
}

static void check_injective(Sema *s, const Equation *eq)
{
    if (solvable(eq)) return;
    PolyIndices ix = {.n = eq->indices.n, .at = eq->indices.at};
    sema_budget_begin(s);
    isl_set *domain = poly_box(sema_poly(s), ix, eq->conds.n, eq->conds.at, NULL);
    isl_map *write = isl_map_intersect_domain(poly_subscripts(sema_poly(s), ix, eq->lhs, eq->subs, NULL), domain);
    isl_bool injective = write ? isl_map_is_injective(write) : isl_bool_error;
    sema_budget_end(s);
    if (injective == isl_bool_false) report_twice(s, eq, write, ix);
    if (injective == isl_bool_error) {
        sema_error(s, D_UNDECIDED, eq->lhs_range, "could not decide whether the left side of `%s` defines each element once", eq->lhs->name);
        sema_help(s, "write subscripts with one index each");
    }
    isl_map_free(write);
}

// ---- finishing ----

static bool is_read(const TensorInfo *t) { return t->symbol->used || t->tensor->kind == TENSOR_OUTPUT; }

static void warn_unused(Sema *s)
{
    for (int i = 0; i < s->tensors.n; i++) {
        const TensorInfo *t = s->tensors.at[i];
        if (is_read(t)) continue;
        const char *kind = t->tensor->kind == TENSOR_INPUT ? "input" : "intermediate";
        diag_report(s->file->diags, D_UNUSED, t->tensor->range, "nothing reads the %s `%s`", kind, t->tensor->name);
    }
    for (int i = 0; i < s->kernel->params.n; i++) {
        const Dim *dim = s->kernel->params.at[i].dim;
        if (!dim || sema_find(s, dim->name)->used) continue;
        diag_report(s->file->diags, D_UNUSED, dim->range, "nothing uses the parameter `%s`", dim->name);
    }
}

static void finish_equation(Sema *s, EquationInfo *e)
{
    Kernel *k = s->kernel;
    Equation *eq = e->eq;
    eq->id = eq->origin = k->equations.n;
    int nth = e->lhs->finished++;
    eq->name = e->lhs->equations.n == 1 ? eq->lhs->name : arena_printf(s->arena, "%s.%d", eq->lhs->name, nth);
    VEC_PUSH(s->arena, &k->equations, eq);
}

static void finish_log(Sema *s, EquationInfo *e)
{
    Log *log = e->log;
    for (int i = 0; i < e->eq->indices.n; i++) VEC_PUSH(s->arena, &log->indices, e->eq->indices.at[i]);
    for (int i = 0; i < e->eq->conds.n; i++) VEC_PUSH(s->arena, &log->conds, e->eq->conds.at[i]);
    VEC_PUSH(s->arena, &s->kernel->logs, log);
}

static void finish(Sema *s)
{
    for (int i = 0; i < s->equations.n; i++) {
        EquationInfo *e = s->equations.at[i];
        if (e->failed || !e->lhs) continue;
        // Undeclared tensors have a shape by now.
        if (sema_whole_shapes(s, e)) check_injective(s, e->eq);
    }
    if (s->failed) return;
    for (int i = 0; i < s->equations.n; i++) {
        EquationInfo *e = s->equations.at[i];
        if (e->lhs) finish_equation(s, e);
        else finish_log(s, e);
    }
    for (int i = 0; i < s->equations.n; i++) sema_fits(s, s->equations.at[i]);
    warn_unused(s);
}

// ---- kernels ----

static void attach_schedules(const SemaFile *f, Kernel *k)
{
    for (int i = 0; i < f->tree->schedules.n; i++)
        if (f->tree->schedules.at[i]->kernel && strcmp(f->tree->schedules.at[i]->kernel, k->name) == 0)
            VEC_PUSH(k->arena, &k->schedules, f->tree->schedules.at[i]);
}

static Kernel *analyse(SemaFile *f, const TreeKernel *tree)
{
    Sema s = {.file = f, .arena = f->arena, .tree = tree, .kernel = ARENA_NEW(f->arena, Kernel)};
    *s.kernel = (Kernel){.arena = f->arena, .name = tree->name, .range = tree->name_range};
    if (sema_names(&s)) {
        sema_order(&s);
        sema_types(&s);
        sema_ranges(&s);
        finish(&s);
    }
    if (s.poly) poly_free(s.poly);
    HASH_CLEAR(hh, s.symbols);
    if (s.failed) return NULL;
    attach_schedules(f, s.kernel);
    return s.kernel;
}

// ---- files ----

static bool name_kernel(SemaFile *f, const TreeKernel *k)
{
    KernelName *old;
    HASH_FIND_STR(f->kernels, k->name, old);
    if (old) {
        diag_report(f->diags, D_REDEFINED, k->name_range, "kernel `%s` is defined twice", k->name);
        diag_note(f->diags, old->tree->name_range, "the first definition is here");
        return false;
    }
    KernelName *entry = ARENA_NEW(f->arena, KernelName);
    *entry = (KernelName){.name = k->name, .tree = k};
    HASH_ADD_KEYPTR(hh, f->kernels, entry->name, strlen(entry->name), entry);
    return true;
}

static void check_schedules(SemaFile *f)
{
    const char **names = ARENA_ARRAY(f->arena, const char *, f->tree->kernels.n + 1);
    for (int i = 0; i < f->tree->kernels.n; i++) names[i] = f->tree->kernels.at[i]->name;
    for (int i = 0; i < f->tree->schedules.n; i++) {
        const TreeSchedule *t = f->tree->schedules.at[i];
        KernelName *found;
        if (!t->kernel) continue;
        HASH_FIND_STR(f->kernels, t->kernel, found);
        if (found) continue;
        diag_report(f->diags, D_SCHEDULE, t->kernel_range, "this schedule is for `%s`, and there is no such kernel", t->kernel);
        const char *closest = sema_closest(t->kernel, f->tree->kernels.n, names);
        if (closest) diag_help(f->diags, "did you mean `%s`?", closest);
    }
}

static Kernel *read_tile(Arena *a, Diags *diags, const TreeFile *file, const TreeKernel *tree, Module *module)
{
    TileKernel *t = ir_is_bundles(file) ? ir_read_bundles(a, diags, file, tree) : ir_read_tile(a, diags, file, tree);
    if (!t) return NULL;
    VEC_PUSH(a, &module->tiles, t);
    return (Kernel *)t->kernel;
}

static Kernel *read_or_analyse(SemaFile *f, const TreeKernel *tree, Module *module)
{
    if (!f->tree->level) return analyse(f, tree);
    if (strcmp(f->tree->level, "tile") == 0 || ir_is_bundles(f->tree)) return read_tile(f->arena, f->diags, f->tree, tree, module);
    return ir_read_task(f->arena, f->diags, f->tree, tree);
}

Module *sema_file(Arena *a, Budget *budget, Diags *diags, const TreeFile *file)
{
    SemaFile f = {.arena = a, .budget = budget, .diags = diags, .tree = file};
    Module *module = ARENA_NEW(a, Module);
    for (int i = 0; i < file->imports.n; i++) {
        diag_report(diags, D_UNSUPPORTED, file->imports.at[i].range, "`import` is not built yet");
        diag_help(diags, "copy the kernels of `%s` into this file", file->imports.at[i].path);
    }
    if (file->machine && !ir_is_bundles(file))
        diag_report(diags, D_IR, file->machine_range, "only a file of the move level, or of bundles, says its machine");
    bool *first = ARENA_ARRAY(a, bool, file->kernels.n + 1);
    for (int i = 0; i < file->kernels.n; i++) first[i] = name_kernel(&f, file->kernels.at[i]);
    for (int i = 0; i < file->kernels.n && !diags_full(diags); i++) {
        Kernel *k = first[i] ? read_or_analyse(&f, file->kernels.at[i], module) : NULL;
        if (k) VEC_PUSH(a, &module->kernels, k);
    }
    check_schedules(&f);
    HASH_CLEAR(hh, f.kernels);
    return module;
}
