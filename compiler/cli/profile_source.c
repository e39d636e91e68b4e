// What the source says about a profile: which bytes have to move at least, where an equation stands, and, for a CPU, which counts
// nothing itself, how many operations its equations have.
//
// Operations of an equation: those of its right side that compute values (not indices) for each point of its box; conditions
// are not looked at, so a triangle that is said by `where` counts as its box.
#include "cli/profile.h"

#include "reference/eval.h"

#include <string.h>

// ---- tensors ----

static bool is_output(const Kernel *k, const Tensor *t)
{
    for (int i = 0; i < k->outputs.n; i++)
        if (k->outputs.at[i] == t)
            return true;
    return false;
}

static bool tensor_bytes(const Profile *p, const Tensor *t, int64_t *bytes)
{
    RefTensor shape;
    bool ok = ref_shape(p->call->kernel, t, p->call->inputs.dims, &shape);
    *bytes = ok ? shape.size * dtype_bytes(t->type) : 0;
    return ok;
}

void source_tensors(Profile *p)
{
    const Kernel *k = p->call->kernel;
    for (int i = 0; i < k->tensors.n; i++) {
        const Tensor *t = k->tensors.at[i];
        bool output = is_output(k, t), input = t->kind == TENSOR_INPUT;
        int64_t bytes;
        if (!tensor_bytes(p, t, &bytes))
            continue;
        ProfileTensor x = {.tensor = t->name, .kind = input ? "input" : output ? "output" : "local", .bytes = bytes,
                           .least_read = input ? bytes : 0, .least_written = output ? bytes : 0};
        VEC_PUSH(p->arena, &p->tensors, x);
    }
}

// ---- equations ----

static bool same_name(const char *name, size_t n, const Equation *eq)
{
    return strlen(eq->name) == n && strncmp(eq->name, name, n) == 0;
}

// The equation that a name of compiled code stems from: "c.sum" from "c", "u.1" from "u.1" or from "u".
static const Equation *find_equation(const Kernel *k, const char *name)
{
    for (size_t n = strlen(name); n > 0;) {
        for (int i = 0; i < k->equations.n; i++)
            if (same_name(name, n, k->equations.at[i]))
                return k->equations.at[i];
        while (n > 0 && name[--n] != '.')
            ;
    }
    size_t n = strcspn(name, ".");
    for (int i = 0; i < k->equations.n; i++)
        if (strlen(k->equations.at[i]->lhs->name) == n && strncmp(k->equations.at[i]->lhs->name, name, n) == 0)
            return k->equations.at[i];
    return NULL;
}

static const char *line_text(Profile *p, int line)
{
    const SourceFile *f = p->call->unit.file;
    const char *at = f->text, *end = f->text + f->size;
    for (; line > 1 && at < end; line--) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
    }
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    stop = stop ? stop : end;
    while (at < stop && (*at == ' ' || *at == '\t'))
        at++;
    return arena_strndup(p->arena, at, (size_t)(stop - at));
}

void source_site(Profile *p, Site *s)
{
    s->text = s->line > 0 ? line_text(p, s->line) : "";
}

// ---- operations ----

typedef struct { const Kernel *kernel; const int64_t *dims; int64_t *value; const Index **index; int n; } Ranges;

typedef struct { const Ranges *outer; int64_t operations; Arena *arena; int64_t times; } Count;

static int64_t nest_points(const Count *c, const Nest *nest);

static bool count_expr(Expr *e, void *data)
{
    Count *c = data;
    OpClass class = op_class(e->op);
    bool computes = class == OPC_ARITH || class == OPC_MATH || class == OPC_COMPARE || class == OPC_BITS;
    if (e->op == OP_READ || e->type == DT_INDEX)
        return false;                            // what is below is subscripts
    if (e->op == OP_REDUCE) {
        Count inner = {.outer = c->outer, .arena = c->arena};
        expr_walk(e->args[0], count_expr, &inner);
        c->operations += nest_points(c, e->nest) * (inner.operations + 1);
        return false;
    }
    c->operations += computes || e->op == OP_SCAN;
    return true;
}

// The value of a bound where indices are known: those of enclosing loops by their middle, which is exact for what is linear in them.
static int64_t bound(const Ranges *r, Arena *a, Expr *e)
{
    int64_t v = 0;
    VEC(Index *) from = {0};
    VEC(Expr *) to = {0};
    for (int k = 0; k < r->n; k++) {
        VEC_PUSH(a, &from, (Index *)(uintptr_t)r->index[k]);
        VEC_PUSH(a, &to, expr_int(a, DT_INDEX, r->value[k], (Range){0}));
    }
    Expr *known = r->n > 0 ? expr_simplify(a, expr_substitute(a, e, r->n, from.at, to.at)) : e;
    return ref_dim_expr(known, r->dims, &v) ? v : 0;
}

static int64_t extent(Ranges *r, Arena *a, const Index *i)
{
    int64_t lo = bound(r, a, i->lo), hi = bound(r, a, i->hi), n = hi > lo ? hi - lo : 0;
    if (r->n < 32) {
        r->index[r->n] = i;
        r->value[r->n++] = lo + n / 2;
    }
    return n;
}

static int64_t nest_points(const Count *c, const Nest *nest)
{
    Ranges r = *c->outer;
    int64_t points = 1;
    for (int k = 0; k < nest->indices.n; k++)
        points *= extent(&r, c->arena, nest->indices.at[k]);
    return points;
}

static int64_t equation_operations(Profile *p, const Equation *eq)
{
    int64_t value[32], points = 1;
    const Index *index[32];
    Ranges r = {.kernel = p->call->kernel, .dims = p->call->inputs.dims, .value = value, .index = index};
    for (int k = 0; k < eq->indices.n; k++)
        points *= extent(&r, p->arena, eq->indices.at[k]);
    Count c = {.outer = &r, .arena = p->arena};
    expr_walk(eq->rhs, count_expr, &c);
    return points * (c.operations > 0 ? c.operations : 0);
}

// ---- grids ----

// Tensors that a set of equations reads and writes.
typedef struct { bool *read, *written; } Uses;

static bool read_expr(Expr *e, void *data)
{
    const Uses *u = data;
    if (e->op == OP_READ)
        u->read[e->tensor->id] = true;
    return true;
}

static Uses uses_of(Profile *p, const bool *in_grid, bool inside)
{
    const Kernel *k = p->call->kernel;
    Uses u = {ARENA_ARRAY(p->arena, bool, k->tensors.n + 1), ARENA_ARRAY(p->arena, bool, k->tensors.n + 1)};
    for (int i = 0; i < k->equations.n; i++) {
        Equation *eq = k->equations.at[i];
        if (in_grid[i] != inside)
            continue;
        u.written[eq->lhs->id] = true;
        expr_walk(eq->rhs, read_expr, &u);
    }
    return u;
}

static void note_whole(Profile *p, const Tensor *x)
{
    for (int k = 0; k < p->tensors.n; k++)
        if (strcmp(p->tensors.at[k].tensor, x->name) == 0)
            p->tensors.at[k].whole = true;
}

// What one grid computes and nothing else needs lives in registers or in a few rows of its tasks, and has no memory as a whole.
void source_storage(Profile *p)
{
    for (int k = 0; k < p->tensors.n; k++)
        if (!p->tensors.at[k].whole && strcmp(p->tensors.at[k].kind, "local") == 0)
            p->tensors.at[k].bytes = 0;
}

// What has to come into the grid, and what others, or the caller, need of what it computes.
static int64_t least_bytes(Profile *p, const bool *in_grid)
{
    const Kernel *k = p->call->kernel;
    Uses in = uses_of(p, in_grid, true), out = uses_of(p, in_grid, false);
    int64_t sum = 0, bytes;
    for (int t = 0; t < k->tensors.n; t++) {
        const Tensor *x = k->tensors.at[t];
        bool comes = in.read[t] && (x->kind == TENSOR_INPUT || out.written[t]), goes = in.written[t] && (is_output(k, x) || out.read[t]);
        if (comes || goes)
            note_whole(p, x);
        if ((comes || goes) && tensor_bytes(p, x, &bytes))
            sum += (comes ? bytes : 0) + (goes ? bytes : 0);
    }
    return sum;
}

// Is there a site of the equation's line already? Compiled code has parts of an equation with names of their own.
static bool has_line(const Profile *p, int program, int line)
{
    const Program *g = &p->programs.at[program];
    for (int k = 0; k < g->sites.n; k++)
        if (p->sites.at[g->sites.at[k]].line == line)
            return true;
    return false;
}

void source_grid(Profile *p, int program, const char *names)
{
    const Kernel *k = p->call->kernel;
    bool *in_grid = ARENA_ARRAY(p->arena, bool, k->equations.n + 1);
    char *rest = arena_strdup(p->arena, names);
    for (char *name; (name = strsep(&rest, ","));) {
        const Equation *eq = find_equation(k, name + strspn(name, " "));
        if (!eq || in_grid[eq->id])
            continue;
        in_grid[eq->id] = true;
        Position at = source_position(&p->call->unit.sources, eq->range.begin);
        if (!has_line(p, program, at.line))
            program_add_site(p, program, profile_site(p, eq->name, at.file ? at.file->path : "", at.line));
        p->programs.at[program].operations += p->model ? 0 : equation_operations(p, eq);
    }
    p->programs.at[program].bytes += p->model ? 0 : least_bytes(p, in_grid);
}
