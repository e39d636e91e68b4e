// entry: the function that a kernel's caller reaches: it checks everything before it writes anything, fills the frame,
// and runs the grids in order; and the question how large the workspace is.
#include "base/buffer.h"
#include "emit/c.h"

#include <string.h>

// ---- checks ---------------------------------------------------------------------------------------------------------------

static Expr *extent_of(Emit *e, const Tensor *t, int d)
{
    return expr_simplify(e->a, expr_binary(e->a, OP_SUB, DT_INDEX, t->hi[d], t->lo[d]));
}

// Was what is computed exactly on entry too large even for that? `text` is what it is.
static void emit_lost(Emit *e, const char *text)
{
    const char *names, *values;
    exact_sizes(e, &names, &values);
    c_line(e, "if (pto_e.bad && (status = pto_check_exact(ctx, \"%s\", \"%s\", %d, %s, %s)) != PTO_OK)", e->k->name, c_string(e->a, text), e->k->dims.n, names, values);
    c_line(e, "    return pto_leave(ctx, status);");
}

const char *c_extent_text(Emit *e, const Tensor *t, int d)
{
    return expr_text(e->a, extent_of(e, t, d));
}

static bool binds(const Dim *dim, const Tensor *t, int d)
{
    return dim->tensor == t && dim->axis == d;
}

// From here on `x` is the tensor itself: copies that the entry may replace by packed ones.
static void emit_checks(Emit *e)
{
    const char *name = e->k->name;
    for (int i = 0; i < e->k->params.n; i++) {
        const Param *p = &e->k->params.at[i];
        if (p->dim) {
            const char *n = name_of_dim(e, p->dim);
            c_line(e, "if (%s < 0)", n);
            c_line(e, "    return pto_leave(ctx, pto_error(ctx, PTO_ERR_ARGUMENT, \"%s = %%lld: must not be negative\", (long long)%s));", p->dim->name, n);
        } else if (p->tensor->rank > 0) {
            c_line(e, "if ((status = pto_check_tensor(ctx, \"%s\", \"%s\", %s, %s, %d, 0)) != PTO_OK)", name, p->tensor->name,
                   e->tensor[p->tensor->id], c_dtype(e->a, p->tensor->type), p->tensor->rank);
            c_line(e, "    return pto_leave(ctx, status);");
        }
    }
    for (int i = 0; i < e->k->outputs.n; i++) {
        const Tensor *t = e->k->outputs.at[i];
        const char *n = e->tensor[t->id];
        if (t->rank > 0)
            c_line(e, "if ((status = pto_check_tensor(ctx, \"%s\", \"%s\", %s, %s, %d, PTO_CHECK_OUTPUT)) != PTO_OK)", name, t->name, n, c_dtype(e->a, t->type), t->rank);
        else
            c_line(e, "if (!%s && (status = pto_error(ctx, PTO_ERR_NULL, \"%s is NULL\")) != PTO_OK)", n, t->name);
        c_line(e, "    return pto_leave(ctx, status);");
    }
}

static void emit_dims(Emit *e)
{
    for (int i = 0; i < e->k->dims.n; i++) {
        const Dim *d = e->k->dims.at[i];
        if (d->tensor)
            c_line(e, "const int64_t %s = %s->shape[%d];", e->dim[i], e->tensor[d->tensor->id], d->axis);
    }
}

typedef struct { Arena *a; const Dim **seen; int n; const char *text; } Binding;

static bool add_source(Expr *x, void *data)
{
    Binding *b = data;
    for (int i = 0; x->op == OP_DIM && i < b->n; i++)
        if (b->seen[i] == x->dim)
            return true;
    if (x->op == OP_DIM && x->dim->tensor) {
        b->seen[b->n++] = x->dim;
        b->text = arena_printf(b->a, "%s%s%s is dimension %d of `%s`", b->text, *b->text ? ", " : "", x->dim->name, x->dim->axis, x->dim->tensor->name);
    }
    return true;
}

// The arguments that the names in an extent come from: "N is dimension 0 of `x`", as a string of C; or NULL.
static const char *bound_by(Emit *e, Expr *extent)
{
    Binding b = { .a = e->a, .seen = (const Dim **)ARENA_ARRAY(e->a, Dim *, e->k->dims.n + 1), .text = "" };
    expr_walk(extent, add_source, &b);
    return *b.text ? arena_printf(e->a, ", \"%s\"", c_string(e->a, b.text)) : NULL;
}

static void emit_extents(Emit *e, const Tensor *t)
{
    const char *name = e->k->name;
    for (int d = 0; d < t->rank; d++) {
        bool bound = false;
        for (int i = 0; i < e->k->dims.n; i++)
            bound = bound || binds(e->k->dims.at[i], t, d);
        if (bound)
            continue;
        Expr *extent = extent_of(e, t, d);
        const char *n = e->tensor[t->id], *text = c_extent_text(e, t, d), *expected = NULL;
        if (exact_fits(e, extent)) {
            expected = c_index(e, extent);
        } else {
            e->wide = true;
            expected = arena_printf(e->a, "pto_extent%d_%s", d, n);
            c_line(e, "const int64_t %s = %s;", expected, c_index(e, extent));
            e->wide = false;
            emit_lost(e, text);
        }
        const char *from = bound_by(e, extent);
        c_line(e, "if ((status = pto_check_extent%s(ctx, \"%s\", \"%s\", %d, %s->shape[%d], \"%s\", %s%s)) != PTO_OK)", from ? "_of" : "", name, t->name, d, n, d, text,
               expected, from ? from : "");
        c_line(e, "    return pto_leave(ctx, status);");
    }
}

static void emit_where(Emit *e)
{
    const char *name = e->k->name;
    for (int i = 0; i < e->k->where.n; i++) {
        e->wide = true;
        const char *c = c_value(e, e->k->where.at[i]), *text = c_string(e->a, expr_text(e->a, e->k->where.at[i])), *names, *values;
        e->wide = false;
        exact_sizes(e, &names, &values);
        if (strstr(c, "&pto_e,")) {
            c_line(e, "const int pto_where%d = %s;", i, c);
            c = arena_printf(e->a, "pto_where%d", i);
            emit_lost(e, text);
        }
        c_line(e, "if ((status = pto_check_where(ctx, \"%s\", %s, \"%s\", %d, %s, %s)) != PTO_OK)", name, c, text, e->k->dims.n, names, values);
        c_line(e, "    return pto_leave(ctx, status);");
    }
}

// May `in` and `out` be one buffer? Only if every read of `in` happens in an equation of `out`, at the element written.
typedef struct { const Equation *eq; const Tensor *in, *out; bool fine; } InPlace;

static bool in_place_visit(Expr *x, void *data)
{
    InPlace *p = data;
    if (x->op == OP_READ && x->tensor == p->out && p->eq->lhs != p->out)
        return true;
    if (x->op != OP_READ || x->tensor != p->in)
        return true;
    bool same = p->eq->lhs == p->out && p->eq->kind == EQ_MAP;
    for (int d = 0; same && d < x->n; d++)
        same = expr_equal(x->args[d], p->eq->subs[d]);
    p->fine = p->fine && same;
    return true;
}

static bool may_share(Emit *e, const Tensor *in, const Tensor *out)
{
    if (in->rank != out->rank || in->type != out->type)
        return false;
    InPlace p = { .in = in, .out = out, .fine = true };
    for (int i = 0; i < e->k->equations.n; i++) {
        p.eq = e->k->equations.at[i];
        expr_walk(p.eq->rhs, in_place_visit, &p);
        for (int j = 0; p.eq->nest && j < p.eq->nest->conds.n; j++)
            expr_walk(p.eq->nest->conds.at[j], in_place_visit, &p);
    }
    return p.fine;
}

// Of all pairs at once: a kernel of many outputs has many.
static void emit_overlaps(Emit *e)
{
    VEC(const Tensor *) all = { 0 };
    int ninputs = 0;
    for (int i = 0; i < e->k->params.n; i++)
        if (e->k->params.at[i].tensor && e->k->params.at[i].tensor->rank > 0)
            VEC_PUSH(e->a, &all, e->k->params.at[i].tensor);
    ninputs = all.n;
    for (int i = 0; i < e->k->outputs.n; i++)
        if (e->k->outputs.at[i]->rank > 0)
            VEC_PUSH(e->a, &all, e->k->outputs.at[i]);
    if (all.n < 2 || all.n == ninputs)
        return;
    c_line(e, "const pto_named_tensor all[] = {");
    for (int i = 0; i < all.n; i++)
        c_line(e, "    { \"%s\", %s },", all.at[i]->name, e->tensor[all.at[i]->id]);
    c_line(e, "};");
    int nsame = 0;
    for (int out = ninputs; out < all.n; out++)
        for (int in = 0; in < ninputs; in++)
            if (may_share(e, all.at[in], all.at[out]))
                c_line(e, nsame++ ? "    { %d, %d }," : "static const int same[][2] = {\n        { %d, %d },", in, out);
    if (nsame)
        c_line(e, "};");
    c_line(e, "if ((status = pto_check_overlaps(ctx, \"%s\", %d, %d, all, %d, %s)) != PTO_OK)", e->k->name, ninputs, all.n - ninputs, nsame, nsame ? "same" : "NULL");
    c_line(e, "    return pto_leave(ctx, status);");
}

// ---- packing: the innermost stride of a tensor is 1 inside -----------------------------------------------------------------

static void emit_tensor_fields(Emit *e, const Tensor *t)
{
    const char *n = e->tensor[t->id], *dense = name_part(e, n, "dense", 0);
    if (t->rank == 0) {
        c_line(e, "f.%s = %s;", n, n);
        if (c_is_modelled(e) && c_is_stored(e, t))
            c_line(e, "f.%s = sizeof *%s;", name_part(e, n, "bytes", 0), n);
        return;
    }
    c_line(e, "pto_tensor %s;", dense);
    c_line(e, "if ((status = %s(ctx, %s, %s, &%s)) != PTO_OK)", c_is_modelled(e) ? "pto_dense" : "pto_unit_stride", n, t->kind == TENSOR_INPUT ? "1" : "0", dense);
    c_line(e, "    return pto_leave(ctx, status);");
    c_line(e, "f.%s = %s.data;", n, dense);
    if (c_may_stream(t))
        c_line(e, "f.%s = pto_tensor_elements(%s) > %lld;", name_part(e, n, "big", 0), n, (long long)(machine_tier_bytes(e->o->machine, 2) / dtype_bytes(t->type)));
    if (c_is_modelled(e))
        c_line(e, "f.%s = (size_t)pto_tensor_elements(%s) * sizeof *f.%s;", name_part(e, n, "bytes", 0), n, n);
    for (int d = 0; d + 1 < t->rank; d++)
        c_line(e, "f.%s = %s.stride[%d];", name_part(e, n, "s", d), dense, d);
}

static void emit_unpack(Emit *e)
{
    for (int i = 0; i < e->k->outputs.n; i++) {
        const Tensor *t = e->k->outputs.at[i];
        if (t->rank > 0)
            c_line(e, "pto_unit_stride_done(ctx, %s, &%s);", e->tensor[t->id], name_part(e, e->tensor[t->id], "dense", 0));
    }
}

// ---- running ------------------------------------------------------------------------------------------------------------

static int position_of(const Structure *s, const Node *grid)
{
    for (int i = 0; i < s->grids.n; i++)
        if (s->grids.at[i] == grid)
            return i;
    return -1;
}

// The equations that a grid computes, in order, for profiles: "m, e, s, y".
static const char *equations_of(Emit *e, const Node *n, const char *list)
{
    enum { MOST = 200 };
    for (int i = 0; i < n->body.n; i++)
        list = equations_of(e, n->body.at[i], list);
    if (n->kind != NODE_OP || !n->eq || strlen(list) > MOST)
        return list;
    const char *at = strstr(list, n->eq->name), *end = at ? at + strlen(n->eq->name) : NULL;
    for (; at; at = strstr(end, n->eq->name), end = at ? at + strlen(n->eq->name) : NULL)
        if ((at == list || at[-1] == ' ') && (*end == ',' || !*end))
            return list;
    return *list ? arena_printf(e->a, "%s, %s", list, n->eq->name) : n->eq->name;
}

// Those that a program of bundles computes; its text need not have the body.
static const char *equations_of_program(Emit *e, const BundleProgram *p)
{
    Node all = { .kind = NODE_SEQ };
    for (int i = 0; i < e->k->equations.n; i++)
        for (int q = 0; q < p->ops.n; q++)
            if (p->ops.at[q]->eq == e->k->equations.at[i]) {
                Node *n = node_new(e->a, NODE_OP);
                n->eq = e->k->equations.at[i];
                VEC_PUSH(e->a, &all.body, n);
                break;
            }
    return equations_of(e, &all, "");
}

static const char *name_of_grid(Emit *e, const Node *g)
{
    bool blocks = c_is_modelled(e) && !program_is_task(g->program);
    const char *list = g->name ? g->name : blocks ? equations_of_program(e, g->program) : equations_of(e, g, "");
    return *list ? list : e->k->name;
}

static bool see_index(Expr *x, void *data)
{
    bool *found = data;
    *found = *found || x->op == OP_INDEX || x->op == OP_READ;
    return !*found;
}

static bool uses_index(const Expr *x)
{
    bool found = false;
    expr_walk((Expr *)x, see_index, &found);
    return found;
}

typedef VEC(const char *) Conditions;

static void add_condition(Emit *e, Conditions *list, const char *text)
{
    for (int i = 0; i < list->n; i++)
        if (strcmp(list->at[i], text) == 0)
            return;
    VEC_PUSH(e->a, list, text);
}

// When there is something to do: one condition for each place of an operation, that no loop around it whose ends are sizes is empty
// (`around`: of those around the node). False: there always is.
static bool find_work(Emit *e, const Node *n, const char *around, Conditions *work)
{
    if (n->kind == NODE_OP && *around)
        add_condition(e, work, around);
    if (n->kind == NODE_OP)
        return *around != 0;
    bool sized = n->kind == NODE_LOOP && !uses_index(n->index->lo) && !uses_index(n->index->hi);
    if (sized && !(n->index->lo->op == OP_CONST && n->index->hi->op == OP_CONST))
        around = arena_printf(e->a, "%s%s%s < %s", around, *around ? " && " : "", c_index(e, n->index->lo), c_index(e, n->index->hi));
    bool found = true;
    for (int i = 0; i < n->body.n && found; i++)
        found = find_work(e, n->body.at[i], around, work);
    return found;
}

// "(a < b || c < d) && ", in front of what runs the grid; "" where it always has something to do.
static const char *guard_of_grid(Emit *e, const Node *g)
{
    Conditions work = { 0 };
    const char *some = "";
    if (!find_work(e, g, "", &work) || work.n == 0)
        return "";
    for (int i = 0; i < work.n; i++)
        some = arena_printf(e->a, work.n > 1 ? "%s%s(%s)" : "%s%s%s", some, i ? " || " : "", work.at[i]);
    return arena_printf(e->a, work.n > 1 ? "(%s) && " : "%s && ", some);
}

static void emit_grid(Emit *e, const Node *g, int number)
{
    if (g->ndims == 0 && !c_is_modelled(e)) {
        c_line(e, "%s(&f, 0, NULL);", name_own(e, "part%d", number));
        return;
    }
    const char *count = g->ndims ? "" : "1";
    for (int q = 0; q < g->ndims; q++) {
        c_line(e, "f.grid%d.begin[%d] = %s;", number, q, c_index(e, g->dims[q].begin));
        c_line(e, "f.grid%d.end[%d] = %s;", number, q, c_index(e, g->dims[q].end));
        c_line(e, "f.grid%d.tile[%d] = %s;", number, q, exact_about(e, g->dims[q].tile));
        count = arena_printf(e->a, "%s%spto_tiles(f.grid%d.begin[%d], f.grid%d.end[%d], f.grid%d.tile[%d])", count, q ? ", " : "", number, q, number, q, number, q);
    }
    static const char *const mode[] = { "PTO_MODE_AUTO", "PTO_MODE_SERIAL", "PTO_MODE_STATIC", "PTO_MODE_DYNAMIC", "PTO_MODE_WAVE" };
    const char *offsets = "NULL";
    if (g->noffsets) {
        offsets = name_own(e, "wave%d", number);
        const char *list = "";
        for (int i = 0; i < g->noffsets; i++)
            list = arena_printf(e->a, "%s%s{ %lld, %lld, %lld, %lld }", list, i ? ", " : "", (long long)g->offsets[i][0], (long long)g->offsets[i][1],
                                (long long)g->offsets[i][2], (long long)g->offsets[i][3]);
        c_line(e, "static const int64_t %s[][4] = { %s };", offsets, list);
    }
    c_line(e, "const pto_grid run%d = { .name = \"%s\", .rank = %d, .count = { %s }, .mode = %s, .max_workers = %d, .noffsets = %d, .offsets = %s };", number,
           name_of_grid(e, g), g->ndims ? g->ndims : 1, count, mode[g->mode], g->max_workers, g->noffsets, offsets);
    if (c_is_modelled(e)) {
        c_launch(e, g, number);
        return;
    }
    c_line(e, "if (%s(status = pto_run(ctx, &run%d, %s, &f)) != PTO_OK)", guard_of_grid(e, g), number, name_own(e, "task%d", number));
    c_line(e, "    return pto_leave(ctx, status);");
}

static void emit_control(Emit *e, const Node *n, const Structure *s)
{
    for (int i = 0; i < n->body.n; i++) {
        const Node *c = n->body.at[i];
        if (c->kind == NODE_GRID) {
            c_line(e, "{");
            e->indent++;
            emit_grid(e, c, position_of(s, c));
            e->indent--;
            c_line(e, "}");
        } else if (c->kind == NODE_LOOP) {
            const char *at = name_outer(e, c->index), *end = name_part(e, at, "end", 0);
            c_line(e, "for (int64_t %s = %s, %s = %s; %s < %s; %s++) {", at, c_index(e, c->index->lo), end, c_index(e, c->index->hi), at, end, at);
            e->indent++;
            c_line(e, "f.%s = %s;", at, at);
            emit_control(e, c, s);
            e->indent--;
            c_line(e, "}");
        } else {
            emit_control(e, c, s);
        }
    }
}

// What comes before the index arithmetic of the body has been looked at: all checks.
static void emit_checking(Emit *e)
{
    emit_checks(e);
    emit_dims(e);
    for (int i = 0; i < e->k->params.n; i++)
        if (e->k->params.at[i].tensor)
            emit_extents(e, e->k->params.at[i].tensor);
    for (int i = 0; i < e->k->outputs.n; i++)
        emit_extents(e, e->k->outputs.at[i]);
    emit_where(e);
    emit_overlaps(e);
}

static void emit_work(Emit *e, const Structure *s)
{
    for (int i = 0; i < e->k->params.n; i++)
        if (e->k->params.at[i].tensor)
            emit_tensor_fields(e, e->k->params.at[i].tensor);
    for (int i = 0; i < e->k->outputs.n; i++)
        emit_tensor_fields(e, e->k->outputs.at[i]);
    c_line(e, "const size_t bytes = %s(&f, pto_workers(ctx), NULL);", name_own(e, "layout"));
    c_line(e, "unsigned char *const base = bytes ? pto_workspace(ctx, bytes) : NULL;");
    c_line(e, "if (bytes && !base)");
    c_line(e, "    return pto_leave(ctx, PTO_ERR_MEMORY);");
    c_line(e, "%s(&f, pto_workers(ctx), base);", name_own(e, "layout"));
    emit_control(e, e->t->root, s);
    if (c_is_modelled(e))
        c_check_written(e);
    for (int i = 0; i < e->k->logs.n; i++)
        c_line(e, "%s(&f);", name_own(e, "log%d", i));
    emit_unpack(e);
    c_line(e, "return pto_leave(ctx, PTO_OK);");
}

// The work is written out first: it tells what has to be looked at.
void c_entry(Emit *e, FILE *out, const Structure *s)
{
    TextBuffer work, checking;
    buffer_open(&work);
    buffer_open(&checking);
    e->indent = 1;
    e->out = work.stream;
    emit_work(e, s);
    e->out = checking.stream;
    emit_checking(e);
    const char *checks = buffer_take(e->a, &checking);
    name_release(e);
    c_exact(e, out);
    e->out = out;
    e->indent = 1;
    fprintf(out, "static PTO_TARGET ");
    c_signature(out, e, SIGNATURE_ENTER);
    fprintf(out, "\n{\n");
    c_line(e, "pto_status status = pto_enter(&ctx, \"%s\");", e->k->name);
    c_line(e, "if (status != PTO_OK)");
    c_line(e, "    return status;");
    if (strstr(checks, "pto_e."))
        c_line(e, "pto_exact pto_e = { 0 };");
    fputs(checks, out);
    c_line(e, "struct %s f = { .ctx = ctx };", name_own(e, "frame"));
    for (int i = 0; i < e->k->dims.n; i++)
        c_line(e, "f.%s = %s;", e->dim[i], e->dim[i]);
    if (e->needs.n) {
        c_line(e, "if ((status = %s(&f)) != PTO_OK)", name_own(e, "exact"));
        c_line(e, "    return pto_leave(ctx, status);");
    }
    fprintf(out, "%s}\n\n", buffer_take(e->a, &work));
    name_release(e);
}

void c_bytes(Emit *e, FILE *out)
{
    fprintf(out, "static PTO_TARGET ");
    c_signature(out, e, SIGNATURE_BYTES);
    fprintf(out, "\n{\n    struct %s f = { .ctx = ctx };\n", name_own(e, "frame"));
    for (int i = 0; i < e->k->dims.n; i++)
        fprintf(out, "    f.%s = %s;\n", e->dim[i], e->dim[i]);
    for (int i = 0; i < e->k->dims.n; i++)
        if (e->ranges.most[i] < INT64_MAX)
            fprintf(out, "    if (%s > INT64_C(%lld))\n        return SIZE_MAX;\n", e->dim[i], (long long)e->ranges.most[i]);
    if (e->needs.n)
        fprintf(out, "    if (%s(&f) != PTO_OK)\n        return SIZE_MAX;\n", name_own(e, "exact"));
    fprintf(out, "    return %s(&f, pto_workers(ctx), NULL);\n}\n\n", name_own(e, "layout"));
}
