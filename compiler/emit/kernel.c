// kernel: everything of a kernel but the loops: frame, workspace layout, leaf functions, entry, descriptor, header.
//
// The frame is a struct on the caller's stack: dims, tensors with their strides, buffers of the workspace, and the
// position of the grids and outer loops. `NAME_layout` computes all sizes from the dims, so that the size of the
// workspace can be asked for without a call. The entry checks everything before it writes anything.
#include "emit/c.h"

#include <string.h>

#define PTOC_VERSION "0.1"

typedef struct { FILE *stream; char *text; size_t size; } Buffer;

static void buffer_open(Buffer *b)
{
    b->text = NULL;
    b->stream = open_memstream(&b->text, &b->size);
}

static char *buffer_close(Arena *a, Buffer *b)
{
    fclose(b->stream);
    char *s = arena_strndup(a, b->text, b->size);
    free(b->text);
    return s;
}

typedef struct { const Tensor *t; bool found; } Reads;

static bool see_tensor(Expr *x, void *data)
{
    Reads *r = data;
    r->found = r->found || (x->op == OP_READ && x->tensor == r->t);
    return !r->found;
}

bool c_is_read(Emit *e, const Tensor *t)
{
    Reads r = { t, false };
    for (int i = 0; i < e->k->equations.n && !r.found; i++) {
        const Equation *eq = e->k->equations.at[i];
        expr_walk(eq->rhs, see_tensor, &r);
        for (int j = 0; eq->nest && j < eq->nest->conds.n; j++)
            expr_walk(eq->nest->conds.at[j], see_tensor, &r);
    }
    return r.found;
}

// ---- what exists ----------------------------------------------------------------------------------------------------

static bool is_scalar_input(const Tensor *t) { return t->kind == TENSOR_INPUT && t->rank == 0; }

static const char *element(const Tensor *t) { return dtype_ctype(t->type); }

static bool may_stream(const Tensor *t) { return t->kind == TENSOR_OUTPUT && t->rank > 0 && (t->type == DT_F32 || t->type == DT_F64); }

static void add_symbols(Emit *e)
{
    for (int i = 0; i < e->k->dims.n; i++) {
        const char *n = name_clean(e->a, e->k->dims.at[i]->name);
        name_add_symbol(e, n, "const int64_t", arena_printf(e->a, "f->%s", n));
    }
    for (int i = 0; i < e->k->tensors.n; i++) {
        const Tensor *t = e->k->tensors.at[i];
        const Storage *st = &e->t->storage[i];
        const char *n = e->tensor[i];
        if (st->kind == STORE_NONE || st->kind == STORE_REGISTER)
            continue;
        if (is_scalar_input(t))
            name_add_symbol(e, n, arena_printf(e->a, "const %s", c_value_type(t->type)), c_load(e, t, arena_printf(e->a, "f->%s", n)));
        else if (st->kind == STORE_SCRATCH)
            name_add_symbol(e, n, arena_printf(e->a, "%s *const", element(t)), arena_printf(e->a, "(void *)(f->scratch + (size_t)worker * f->scratch_bytes + f->%s)", n));
        else
            name_add_symbol(e, n, arena_printf(e->a, "%s%s *const", t->kind == TENSOR_INPUT ? "const " : "", element(t)), arena_printf(e->a, "f->%s", n));
        if (may_stream(t))
            name_add_symbol(e, arena_printf(e->a, "%s_big", n), "const int", arena_printf(e->a, "f->%s_big", n));
        for (int d = 0; d + 1 < t->rank; d++)
            name_add_symbol(e, arena_printf(e->a, "%s_s%d", n, d), "const int64_t", arena_printf(e->a, "f->%s_s%d", n, d));
    }
    name_add_symbol(e, "ctx", "pto_context *const", "f->ctx");
}

// ---- grids and outer loops --------------------------------------------------------------------------------------------

typedef struct { VEC(const Node *) grids; VEC(const Node *) outer; } Structure;

static void collect(Arena *a, const Node *n, Structure *s)
{
    if (n->kind == NODE_GRID) {
        VEC_PUSH(a, &s->grids, n);
        return;
    }
    if (n->kind == NODE_LOOP)
        VEC_PUSH(a, &s->outer, n);
    for (int i = 0; i < n->body.n; i++)
        collect(a, n->body.at[i], s);
}

static const char *outer_name(Emit *e, const Node *loop)
{
    return name_outer(e, loop->index);
}

static int position_of(const Structure *s, const Node *grid)
{
    for (int i = 0; i < s->grids.n; i++)
        if (s->grids.at[i] == grid)
            return i;
    return -1;
}

// ---- the frame ------------------------------------------------------------------------------------------------------

static void emit_frame(Emit *e, FILE *out, const char *name, const Structure *s)
{
    fprintf(out, "struct %s_frame {\n    pto_context *ctx;\n", name);
    for (int i = 0; i < e->k->dims.n; i++)
        fprintf(out, "    int64_t %s;\n", name_clean(e->a, e->k->dims.at[i]->name));
    for (int i = 0; i < e->k->tensors.n; i++) {
        const Tensor *t = e->k->tensors.at[i];
        const Storage *st = &e->t->storage[i];
        const char *n = e->tensor[i];
        if (st->kind == STORE_NONE || st->kind == STORE_REGISTER)
            continue;
        if (is_scalar_input(t))
            fprintf(out, "    %s %s;\n", element(t), n);
        else if (st->kind == STORE_SCRATCH)
            fprintf(out, "    size_t %s;                  // bytes into a worker's scratch\n", n);
        else
            fprintf(out, "    %s%s *%s;\n", t->kind == TENSOR_INPUT ? "const " : "", element(t), n);
        if (may_stream(t))
            fprintf(out, "    int %s_big;                      // larger than the caches\n", n);
        for (int d = 0; d + 1 < t->rank; d++)
            fprintf(out, "    int64_t %s_s%d;\n", n, d);
    }
    for (int i = 0; i < s->outer.n; i++)
        fprintf(out, "    int64_t %s;\n", outer_name(e, s->outer.at[i]));
    for (int i = 0; i < s->grids.n; i++)
        if (s->grids.at[i]->ndims)
            fprintf(out, "    struct { int64_t begin[4], end[4], tile[4]; } grid%d;\n", i);
    fprintf(out, "    unsigned char *scratch;\n    size_t scratch_bytes;\n};\n\n");
}

// ---- symbols ----------------------------------------------------------------------------------------------------------

static bool mentions(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = strstr(text, name); p; p = strstr(p + 1, name)) {
        char before = p == text ? ' ' : p[-1], after = p[n];
        bool word_before = before == '_' || (before >= '0' && before <= '9') || (before >= 'a' && before <= 'z') || (before >= 'A' && before <= 'Z');
        bool word_after = after == '_' || (after >= '0' && after <= '9') || (after >= 'a' && after <= 'z') || (after >= 'A' && after <= 'Z');
        if (!word_before && !word_after && before != '.' && before != '>')
            return true;
    }
    return false;
}

// Variables for what the body used and (when it is given) mentions.
static void emit_used(Emit *e, FILE *out, const char *text)
{
    name_sort_used(e);
    for (int i = 0; i < e->used.n; i++) {
        const Symbol *s = &e->symbols.at[e->used.at[i]];
        if (!text || mentions(text, s->name))
            fprintf(out, "    %s %s = %s;\n", s->type, s->name, s->load);
    }
}

// ---- layout -----------------------------------------------------------------------------------------------------------

// Extents of the dimensions that are kept, outermost first, become strides; returns the elements as an expression.
static const char *emit_strides(Emit *e, const Tensor *t)
{
    const Storage *st = &e->t->storage[t->id];
    const char *size = "1";
    for (int d = t->rank - 1; d >= 0; d--) {
        if (st->dim[d].kind == DIM_DROP)
            continue;
        const char *extent = st->dim[d].kind == DIM_MODULO ? arena_printf(e->a, "%lld", (long long)st->dim[d].modulo) : c_index(e, st->dim[d].extent);
        bool first = strcmp(size, "1") == 0;
        if (d + 1 < t->rank)
            c_line(e, "f->%s_s%d = %s;", e->tensor[t->id], d, size);
        size = first ? arena_printf(e->a, "(%s)", extent) : d + 1 < t->rank ? arena_printf(e->a, "f->%s_s%d * (%s)", e->tensor[t->id], d, extent) : size;
    }
    return size;
}

static void emit_layout(Emit *e, FILE *out, const char *name)
{
    Buffer b;
    buffer_open(&b);
    e->out = b.stream;
    e->indent = 1;
    for (int pass = 0; pass < 2; pass++) {
        StorageKind kind = pass ? STORE_SCRATCH : STORE_WORKSPACE;
        for (int i = 0; i < e->k->tensors.n; i++) {
            const Tensor *t = e->k->tensors.at[i];
            if (e->t->storage[i].kind != kind)
                continue;
            const char *size = emit_strides(e, t);
            const char *sum = pass ? "scratch" : "bytes";
            if (pass)
                c_line(e, "f->%s = %s;", e->tensor[i], sum);
            else
                c_line(e, "f->%s = (%s *)(void *)(base + %s);", e->tensor[i], element(t), sum);
            c_line(e, "%s += ((size_t)(%s) * sizeof(%s) + 63) & ~(size_t)63;", sum, size, element(t));
        }
    }
    char *body = buffer_close(e->a, &b);
    fprintf(out, "// Sizes and places of all buffers; returns the bytes of the workspace.\n");
    fprintf(out, "static PTO_TARGET size_t %s_layout(struct %s_frame *f, int workers, unsigned char *base)\n{\n", name, name);
    emit_used(e, out, NULL);
    fprintf(out, "    size_t bytes = 0, scratch = 0;\n%s", body);
    fprintf(out, "    f->scratch = base + bytes;\n    f->scratch_bytes = scratch + (scratch ? 64 : 0);\n    return bytes + (size_t)workers * f->scratch_bytes;\n}\n\n");
    name_release(e);
}

// ---- leaf functions -----------------------------------------------------------------------------------------------------

static void bind_tile(Emit *e, const Node *grid, int number, FILE *out)
{
    for (int q = 0; q < grid->ndims; q++) {
        const char *lo = name_bind(e, grid->dims[q].lo), *hi = name_bind(e, grid->dims[q].hi);
        fprintf(out, "    const int64_t %s = f->grid%d.begin[%d] + tile[%d] * f->grid%d.tile[%d];\n", lo, number, q, q, number, q);
        fprintf(out, "    const int64_t %s = pto_min(%s + f->grid%d.tile[%d], f->grid%d.end[%d]);\n", hi, lo, number, q, number, q);
    }
}

// Parameters that the body does not need.
static void emit_unused(Emit *e, FILE *out, const char *text, const char *tiles)
{
    bool frame = *tiles, worker = false;
    for (int i = 0; i < e->used.n; i++) {
        const Symbol *s = &e->symbols.at[e->used.at[i]];
        if (!mentions(text, s->name))
            continue;
        frame = true;
        worker = worker || strstr(s->load, "(size_t)worker *");
    }
    if (!frame)
        fprintf(out, "    (void)f;\n");
    if (!worker)
        fprintf(out, "    (void)worker;\n");
    if (!*tiles)
        fprintf(out, "    (void)tile;\n");
}

static void emit_leaf(Emit *e, FILE *out, const char *name, const Node *grid, int number, const Structure *s)
{
    Buffer head, body;
    buffer_open(&head);
    buffer_open(&body);
    e->bound.n = 0;
    bind_tile(e, grid, number, head.stream);
    e->out = body.stream;
    e->indent = 1;
    e->temps = 0;
    e->streams = false;
    c_body(e, grid);
    if (e->streams)
        c_line(e, "pto_stream_end();");
    char *tiles = buffer_close(e->a, &head), *text = buffer_close(e->a, &body);
    fprintf(out, "static PTO_TARGET void %s_%s%d(void *frame, int worker, const int64_t *tile)\n{\n", name, grid->ndims ? "task" : "part", number);
    fprintf(out, "    const struct %s_frame *const f = frame;\n", name);
    emit_unused(e, out, text, tiles);
    emit_used(e, out, text);
    fputs(tiles, out);
    for (int q = 0; q < grid->ndims; q++)
        for (int k = 0; k < 2; k++) {
            const char *bound = name_index(e, k ? grid->dims[q].hi : grid->dims[q].lo);
            if (!mentions(text, bound))
                fprintf(out, "    (void)%s;\n", bound);
        }
    fputs(text, out);
    fprintf(out, "}\n\n");
    name_release(e);
    e->bound.n = 0;
}

// ---- logs -----------------------------------------------------------------------------------------------------------------

// The format as a C string; integers are passed as long long, floats as double.
static const char *format_text(Emit *e, const char *format)
{
    Buffer b;
    buffer_open(&b);
    bool conversion = false;
    for (const char *c = format; *c; c++) {
        if (conversion && (*c == 'd' || *c == 'i'))
            fputs("ll", b.stream);
        conversion = *c == '%' ? !conversion : conversion && !((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z'));
        if (*c == '"' || *c == '\\')
            fprintf(b.stream, "\\%c", *c);
        else if ((unsigned char)*c < ' ' || *c == 0x7f || *c == '?')
            fprintf(b.stream, "\\%03o", (unsigned char)*c);
        else
            fputc(*c, b.stream);
    }
    return buffer_close(e->a, &b);
}

static void emit_log(Emit *e, const Log *log)
{
    int depth = 0, scope = e->bound.n;
    for (int i = 0; i < log->indices.n; i++, depth++) {
        const Index *x = log->indices.at[i];
        const char *lo = c_index(e, x->lo), *hi = c_index(e, x->hi), *name = name_bind(e, x);
        c_line(e, "for (int64_t %s = %s; %s < %s; %s++) {", name, lo, name, hi, name);
        e->indent++;
    }
    for (int i = 0; i < log->conds.n; i++)
        c_line(e, "if (!%s)", c_value(e, log->conds.at[i])), c_line(e, "    %s;", depth ? "continue" : "return");
    const char *args = "";
    for (int i = 0; i < log->args.n; i++)
        args = arena_printf(e->a, "%s, (%s)%s", args, dtype_is_float(log->args.at[i]->type) ? "double" : "long long", c_value(e, log->args.at[i]));
    c_line(e, "pto_logf(%s, \"%s\"%s);", name_symbol(e, "ctx"), format_text(e, log->format), args);
    for (; depth > 0; depth--) {
        e->indent--;
        c_line(e, "}");
    }
    e->bound.n = scope;
}

static void emit_logs(Emit *e, FILE *out, const char *name)
{
    for (int i = 0; i < e->k->logs.n; i++) {
        Buffer b;
        buffer_open(&b);
        e->out = b.stream;
        e->indent = 1;
        emit_log(e, e->k->logs.at[i]);
        char *text = buffer_close(e->a, &b);
        fprintf(out, "static PTO_TARGET void %s_log%d(const struct %s_frame *f)\n{\n", name, i, name);
        emit_used(e, out, NULL);
        name_release(e);
        fprintf(out, "%s}\n\n", text);
    }
}

// ---- the signature ------------------------------------------------------------------------------------------------------

// The public function, the one that does its work under a name that no other library can have, or the workspace query.
typedef enum { SIGNATURE_PUBLIC, SIGNATURE_PRIVATE, SIGNATURE_WORKSPACE } Signature;

static void emit_signature(FILE *out, Arena *a, const Kernel *k, Signature which)
{
    bool workspace = which == SIGNATURE_WORKSPACE;
    if (workspace)
        fprintf(out, "size_t %s_workspace(pto_context *ctx", k->name);
    else if (which == SIGNATURE_PRIVATE)
        fprintf(out, "static PTO_TARGET pto_status %s_enter(pto_context *ctx", k->name);
    else
        fprintf(out, "pto_status %s(pto_context *ctx", name_of_kernel(a, k));
    for (int i = 0; i < k->params.n && !workspace; i++) {
        const Param *p = &k->params.at[i];
        if (p->dim)
            fprintf(out, ", int64_t %s", name_clean(a, p->dim->name));
        else if (p->tensor->rank == 0)
            fprintf(out, ", %s %s", dtype_ctype(p->tensor->type), name_clean(a, p->tensor->name));
        else
            fprintf(out, ", const pto_tensor *%s", name_clean(a, p->tensor->name));
    }
    for (int i = 0; i < k->dims.n && workspace; i++)
        fprintf(out, ", int64_t %s", name_clean(a, k->dims.at[i]->name));
    for (int i = 0; i < k->outputs.n && !workspace; i++) {
        const Tensor *t = k->outputs.at[i];
        if (t->rank == 0)
            fprintf(out, ", %s *%s", dtype_ctype(t->type), name_clean(a, t->name));
        else
            fprintf(out, ", const pto_tensor *%s", name_clean(a, t->name));
    }
    fprintf(out, ")");
}

static const char *dtype_constant(Arena *a, DType t)
{
    char *s = arena_printf(a, "PTO_%s", dtype_name(t));
    for (char *c = s; *c; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    return s;
}

// ---- the entry ------------------------------------------------------------------------------------------------------------

// An extent as the source would write it, for messages.
static const char *extent_text(Emit *e, const Tensor *t, int d)
{
    Expr *extent = expr_simplify(e->a, expr_binary(e->a, OP_SUB, DT_INDEX, t->hi[d], t->lo[d]));
    return c_index(e, extent);
}

static bool binds(const Dim *dim, const Tensor *t, int d)
{
    return dim->tensor == t && dim->axis == d;
}

// From here on `x` is the tensor itself: copies that the entry may replace by packed ones.
static void emit_checks(Emit *e, const char *name)
{
    for (int i = 0; i < e->k->params.n; i++) {
        const Param *p = &e->k->params.at[i];
        if (p->dim) {
            const char *n = name_clean(e->a, p->dim->name);
            c_line(e, "if (%s < 0)", n);
            c_line(e, "    return pto_leave(ctx, pto_error(ctx, PTO_ERR_ARGUMENT, \"%s = %%lld: must not be negative\", (long long)%s));", p->dim->name, n);
        } else if (p->tensor->rank > 0) {
            c_line(e, "if ((status = pto_check_tensor(ctx, \"%s\", \"%s\", %s, %s, %d, 0)) != PTO_OK)", name, p->tensor->name,
                   name_clean(e->a, p->tensor->name), dtype_constant(e->a, p->tensor->type), p->tensor->rank);
            c_line(e, "    return pto_leave(ctx, status);");
        }
    }
    for (int i = 0; i < e->k->outputs.n; i++) {
        const Tensor *t = e->k->outputs.at[i];
        const char *n = name_clean(e->a, t->name);
        if (t->rank > 0)
            c_line(e, "if ((status = pto_check_tensor(ctx, \"%s\", \"%s\", %s, %s, %d, PTO_CHECK_OUTPUT)) != PTO_OK)", name, t->name, n, dtype_constant(e->a, t->type), t->rank);
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
            c_line(e, "const int64_t %s = %s->shape[%d];", name_clean(e->a, d->name), name_clean(e->a, d->tensor->name), d->axis);
    }
}

static void emit_extents(Emit *e, const char *name, const Tensor *t)
{
    for (int d = 0; d < t->rank; d++) {
        bool bound = false;
        for (int i = 0; i < e->k->dims.n; i++)
            bound = bound || binds(e->k->dims.at[i], t, d);
        if (bound)
            continue;
        const char *x = extent_text(e, t, d), *n = name_clean(e->a, t->name);
        c_line(e, "if ((status = pto_check_extent(ctx, \"%s\", \"%s\", %d, %s->shape[%d], \"%s\", %s)) != PTO_OK)", name, t->name, d, n, d, x, x);
        c_line(e, "    return pto_leave(ctx, status);");
    }
}

static void emit_where(Emit *e, const char *name)
{
    for (int i = 0; i < e->k->where.n; i++) {
        const char *c = c_value(e, e->k->where.at[i]);
        const char *names = "", *values = "";
        int count = 0;
        for (int j = 0; j < e->k->dims.n; j++) {
            names = arena_printf(e->a, "%s%s\"%s\"", names, count ? ", " : "", e->k->dims.at[j]->name);
            values = arena_printf(e->a, "%s%s%s", values, count ? ", " : "", name_clean(e->a, e->k->dims.at[j]->name));
            count++;
        }
        const char *text = expr_text(e->a, e->k->where.at[i]);
        if (count)
            c_line(e, "if ((status = pto_check_where(ctx, \"%s\", %s, \"%s\", %d, (const char *const[]){ %s }, (const int64_t[]){ %s })) != PTO_OK)", name, c, text, count, names, values);
        else
            c_line(e, "if ((status = pto_check_where(ctx, \"%s\", %s, \"%s\", 0, NULL, NULL)) != PTO_OK)", name, c, text);
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

static void emit_overlaps(Emit *e, const char *name)
{
    for (int i = 0; i < e->k->outputs.n; i++) {
        const Tensor *out = e->k->outputs.at[i];
        if (out->rank == 0)
            continue;
        for (int j = 0; j < e->k->params.n + i; j++) {
            const Tensor *in = j < e->k->params.n ? e->k->params.at[j].tensor : e->k->outputs.at[j - e->k->params.n];
            if (!in || in->rank == 0)
                continue;
            c_line(e, "if ((status = pto_check_overlap(ctx, \"%s\", \"%s\", %s, \"%s\", %s, %d)) != PTO_OK)", name, in->name, name_clean(e->a, in->name), out->name,
                   name_clean(e->a, out->name), in->kind == TENSOR_INPUT && may_share(e, in, out));
            c_line(e, "    return pto_leave(ctx, status);");
        }
    }
}

// ---- packing: the innermost stride of a tensor is 1 inside -----------------------------------------------------------------

static void emit_tensor_fields(Emit *e, const Tensor *t)
{
    const char *n = name_clean(e->a, t->name), *field = e->tensor[t->id];
    if (t->rank == 0) {
        c_line(e, t->kind == TENSOR_INPUT ? "f.%s = %s;" : "f.%s = %s;", field, n);
        return;
    }
    c_line(e, "pto_tensor %s_dense;", field);
    c_line(e, "if ((status = pto_unit_stride(ctx, %s, %s, &%s_dense)) != PTO_OK)", n, t->kind == TENSOR_INPUT ? "1" : "0", field);
    c_line(e, "    return pto_leave(ctx, status);");
    c_line(e, "f.%s = %s_dense.data;", field, field);
    if (may_stream(t))
        c_line(e, "f.%s_big = pto_tensor_elements(%s) > %lld;", field, n, (long long)(machine_tier_bytes(e->o->machine, 2) / dtype_bytes(t->type)));
    for (int d = 0; d + 1 < t->rank; d++)
        c_line(e, "f.%s_s%d = %s_dense.stride[%d];", field, d, field, d);
}

static void emit_unpack(Emit *e)
{
    for (int i = 0; i < e->k->outputs.n; i++) {
        const Tensor *t = e->k->outputs.at[i];
        if (t->rank > 0)
            c_line(e, "pto_unit_stride_done(ctx, %s, &%s_dense);", name_clean(e->a, t->name), e->tensor[t->id]);
    }
}

// ---- running ------------------------------------------------------------------------------------------------------------

static void emit_grid(Emit *e, const char *name, const Node *g, int number)
{
    if (g->ndims == 0) {
        c_line(e, "%s_part%d(&f, 0, NULL);", name, number);
        return;
    }
    const char *count = "";
    for (int q = 0; q < g->ndims; q++) {
        c_line(e, "f.grid%d.begin[%d] = %s;", number, q, c_index(e, g->dims[q].begin));
        c_line(e, "f.grid%d.end[%d] = %s;", number, q, c_index(e, g->dims[q].end));
        c_line(e, "f.grid%d.tile[%d] = %s;", number, q, c_index(e, g->dims[q].tile));
        count = arena_printf(e->a, "%s%spto_tiles(f.grid%d.begin[%d], f.grid%d.end[%d], f.grid%d.tile[%d])", count, q ? ", " : "", number, q, number, q, number, q);
    }
    static const char *const mode[] = { "PTO_MODE_AUTO", "PTO_MODE_SERIAL", "PTO_MODE_STATIC", "PTO_MODE_DYNAMIC", "PTO_MODE_WAVE" };
    const char *offsets = "NULL";
    if (g->noffsets) {
        offsets = arena_printf(e->a, "%s_wave%d", name, number);
        const char *list = "";
        for (int i = 0; i < g->noffsets; i++)
            list = arena_printf(e->a, "%s%s{ %lld, %lld, %lld, %lld }", list, i ? ", " : "", (long long)g->offsets[i][0], (long long)g->offsets[i][1],
                                (long long)g->offsets[i][2], (long long)g->offsets[i][3]);
        c_line(e, "static const int64_t %s[][4] = { %s };", offsets, list);
    }
    c_line(e, "const pto_grid run%d = { .name = \"%s\", .rank = %d, .count = { %s }, .mode = %s, .max_workers = %d, .noffsets = %d, .offsets = %s };", number,
           g->name ? g->name : name, g->ndims, count, mode[g->mode], g->max_workers, g->noffsets, offsets);
    c_line(e, "if ((status = pto_run(ctx, &run%d, %s_task%d, &f)) != PTO_OK)", number, name, number);
    c_line(e, "    return pto_leave(ctx, status);");
}

static void emit_control(Emit *e, const char *name, const Node *n, const Structure *s)
{
    for (int i = 0; i < n->body.n; i++) {
        const Node *c = n->body.at[i];
        if (c->kind == NODE_GRID) {
            c_line(e, "{");
            e->indent++;
            emit_grid(e, name, c, position_of(s, c));
            e->indent--;
            c_line(e, "}");
        } else if (c->kind == NODE_LOOP) {
            const char *at = outer_name(e, c);
            c_line(e, "for (int64_t %s = %s, %s_end = %s; %s < %s_end; %s++) {", at, c_index(e, c->index->lo), at, c_index(e, c->index->hi), at, at, at);
            e->indent++;
            c_line(e, "f.%s = %s;", at, at);
            emit_control(e, name, c, s);
            e->indent--;
            c_line(e, "}");
        } else {
            emit_control(e, name, c, s);
        }
    }
}

static void emit_entry(Emit *e, FILE *out, const char *name, const Structure *s)
{
    e->out = out;
    e->indent = 1;
    emit_signature(out, e->a, e->k, SIGNATURE_PRIVATE);
    fprintf(out, "\n{\n");
    c_line(e, "pto_status status = pto_enter(&ctx, \"%s\");", name);
    c_line(e, "if (status != PTO_OK)");
    c_line(e, "    return status;");
    emit_checks(e, name);
    emit_dims(e);
    for (int i = 0; i < e->k->params.n; i++)
        if (e->k->params.at[i].tensor)
            emit_extents(e, name, e->k->params.at[i].tensor);
    for (int i = 0; i < e->k->outputs.n; i++)
        emit_extents(e, name, e->k->outputs.at[i]);
    emit_where(e, name);
    emit_overlaps(e, name);
    c_line(e, "struct %s_frame f = { .ctx = ctx };", name);
    for (int i = 0; i < e->k->dims.n; i++)
        c_line(e, "f.%s = %s;", name_clean(e->a, e->k->dims.at[i]->name), name_clean(e->a, e->k->dims.at[i]->name));
    for (int i = 0; i < e->k->params.n; i++)
        if (e->k->params.at[i].tensor)
            emit_tensor_fields(e, e->k->params.at[i].tensor);
    for (int i = 0; i < e->k->outputs.n; i++)
        emit_tensor_fields(e, e->k->outputs.at[i]);
    c_line(e, "const size_t bytes = %s_layout(&f, pto_workers(ctx), NULL);", name);
    c_line(e, "unsigned char *const base = bytes ? pto_workspace(ctx, bytes) : NULL;");
    c_line(e, "if (bytes && !base)");
    c_line(e, "    return pto_leave(ctx, PTO_ERR_MEMORY);");
    c_line(e, "%s_layout(&f, pto_workers(ctx), base);", name);
    emit_control(e, name, e->t->root, s);
    for (int i = 0; i < e->k->logs.n; i++)
        c_line(e, "%s_log%d(&f);", name, i);
    emit_unpack(e);
    c_line(e, "return pto_leave(ctx, PTO_OK);");
    fprintf(out, "}\n\n");
    emit_signature(out, e->a, e->k, SIGNATURE_PUBLIC);
    fprintf(out, "\n{\n    return %s_enter(ctx", name);
    for (int i = 0; i < e->k->params.n; i++)
        fprintf(out, ", %s", name_clean(e->a, e->k->params.at[i].dim ? e->k->params.at[i].dim->name : e->k->params.at[i].tensor->name));
    for (int i = 0; i < e->k->outputs.n; i++)
        fprintf(out, ", %s", name_clean(e->a, e->k->outputs.at[i]->name));
    fprintf(out, ");\n}\n\n");
}

// ---- what tools ask -----------------------------------------------------------------------------------------------------

static void emit_workspace(Emit *e, FILE *out, const char *name)
{
    fprintf(out, "PTO_TARGET ");
    emit_signature(out, e->a, e->k, SIGNATURE_WORKSPACE);
    fprintf(out, "\n{\n    struct %s_frame f = { .ctx = ctx };\n", name);
    for (int i = 0; i < e->k->dims.n; i++)
        fprintf(out, "    f.%s = %s;\n", name_clean(e->a, e->k->dims.at[i]->name), name_clean(e->a, e->k->dims.at[i]->name));
    fprintf(out, "    return %s_layout(&f, pto_workers(ctx), NULL);\n}\n\n", name);
}

static const char *shape_text(Emit *e, const Tensor *t)
{
    const char *text = "[";
    for (int d = 0; d < t->rank; d++)
        text = arena_printf(e->a, "%s%s%s", text, d ? ", " : "", extent_text(e, t, d));
    return t->rank ? arena_printf(e->a, "%s]", text) : "";
}

static void emit_descriptor(Emit *e, FILE *out, const char *name)
{
    int n = 0;
    fprintf(out, "static const pto_param %s_params[] = {\n", name);
    for (int i = 0; i < e->k->params.n; i++, n++) {
        const Param *p = &e->k->params.at[i];
        if (p->dim)
            fprintf(out, "    { \"%s\", PTO_PARAM_DIM, PTO_I64, 0, \"\" },\n", p->dim->name);
        else
            fprintf(out, "    { \"%s\", %s, %s, %d, \"%s\" },\n", p->tensor->name, p->tensor->rank ? "PTO_PARAM_TENSOR" : "PTO_PARAM_SCALAR",
                    dtype_constant(e->a, p->tensor->type), p->tensor->rank, shape_text(e, p->tensor));
    }
    for (int i = 0; i < e->k->outputs.n; i++, n++) {
        const Tensor *t = e->k->outputs.at[i];
        fprintf(out, "    { \"%s\", %s, %s, %d, \"%s\" },\n", t->name, t->rank ? "PTO_PARAM_OUTPUT" : "PTO_PARAM_SCALAR_OUTPUT", dtype_constant(e->a, t->type), t->rank, shape_text(e, t));
    }
    fprintf(out, "};\n\nstatic pto_status %s_call(pto_context *ctx, void *const *args)\n{\n    return %s_enter(ctx", name, name);
    for (int i = 0; i < e->k->params.n; i++) {
        const Param *p = &e->k->params.at[i];
        if (p->dim)
            fprintf(out, ", *(const int64_t *)args[%d]", i);
        else if (p->tensor->rank == 0)
            fprintf(out, ", *(const %s *)args[%d]", element(p->tensor), i);
        else
            fprintf(out, ", args[%d]", i);
    }
    for (int i = 0; i < e->k->outputs.n; i++)
        fprintf(out, ", args[%d]", e->k->params.n + i);
    fprintf(out, ");\n}\n\nstatic size_t %s_ask(pto_context *ctx, void *const *args)\n{\n    return %s_workspace(ctx", name, name);
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
    fprintf(out, "const pto_kernel %s_kernel = {\n    .name = \"%s\", .target = \"%s\", .nparams = %d, .params = %s_params, .call = %s_call, .workspace = %s_ask,\n};\n", name,
            e->k->name, e->o->machine->name, n, name, name, name);
}

// ---- files ----------------------------------------------------------------------------------------------------------------

void emit_c_prologue(FILE *out, const EmitOptions *o)
{
    fprintf(out, "// Generated by ptoc " PTOC_VERSION " from %s for %s. Do not edit: change the source and compile it again.\n", o->source_name, o->machine->name);
    fprintf(out, "// Links with -lptort (see `pkg-config --cflags --libs ptort`).\n");
    if (o->header_name)
        fprintf(out, "#include \"%s\"\n", o->header_name);
    if (o->machine->attribute)
        fprintf(out, "\n#define PTO_TARGET __attribute__((target(\"%s\")))", o->machine->attribute);
    fprintf(out, "\n#define PTO_FMA %d\n", o->machine->fma);
    if (strncmp(o->machine->isa, "x86-64-v", 8) == 0)
        fprintf(out, "#define PTO_X86 %s\n", o->machine->isa + 8);
    fprintf(out, "// Results must not depend on the caller's -ffp-contract: fused operations are written out.\n");
    fprintf(out, "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#elif defined(__GNUC__)\n#pragma GCC optimize(\"fp-contract=off\")\n#endif\n#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Wpsabi\"          // all functions with vectors are inlined\n#endif\n");
    fprintf(out, "#include <ptort/kernel.h>\n");
}

static void find_lanes(const Node *n, unsigned *lanes)
{
    if (n->kind == NODE_LOOP && n->lanes > 1)
        *lanes |= (unsigned)n->lanes;
    for (int i = 0; i < n->body.n; i++)
        find_lanes(n->body.at[i], lanes);
}

unsigned emit_c_lanes(const TileKernel *t)
{
    unsigned lanes = 0;
    find_lanes(t->root, &lanes);
    return lanes;
}

void emit_c_vectors(FILE *out, unsigned lanes)
{
    for (unsigned n = 2; n <= 64; n *= 2)
        if (lanes & n)
            fprintf(out, "#define PTO_LANES %u\n#include <ptort/simd.h>\n", n);
    fprintf(out, "\n");
}

void emit_c_kernel(FILE *out, const EmitOptions *o, const TileKernel *t)
{
    Arena *a = arena_new();
    Emit e = { .a = a, .o = o, .t = t, .k = t->kernel };
    name_setup(&e);
    Structure s = { 0 };
    collect(a, t->root, &s);
    const char *name = t->kernel->name;             // only ever with a suffix: no keyword, no library function
    if (!o->header_name) {
        emit_signature(out, a, t->kernel, SIGNATURE_PUBLIC);
        fprintf(out, ";\n");
        emit_signature(out, a, t->kernel, SIGNATURE_WORKSPACE);
        fprintf(out, ";\nextern const pto_kernel %s_kernel;\n\n", name);
    }
    emit_frame(&e, out, name, &s);
    add_symbols(&e);
    for (int i = 0; i < s.outer.n; i++)
        name_add_symbol(&e, outer_name(&e, s.outer.at[i]), "const int64_t", arena_printf(a, "f->%s", outer_name(&e, s.outer.at[i])));
    emit_layout(&e, out, name);
    for (int i = 0; i < s.grids.n; i++)
        emit_leaf(&e, out, name, s.grids.at[i], i, &s);
    emit_logs(&e, out, name);
    emit_entry(&e, out, name, &s);
    emit_workspace(&e, out, name);
    emit_descriptor(&e, out, name);
    fprintf(out, "\n");
    arena_free(a);
}

void emit_header_prologue(FILE *out, const EmitOptions *o, const char *guard)
{
    fprintf(out, "// Generated by ptoc " PTOC_VERSION " from %s. Do not edit.\n#ifndef %s\n#define %s\n\n#include <ptort.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n", o->source_name, guard, guard);
}

static void describe_tensor(FILE *out, Emit *e, const Tensor *t)
{
    fprintf(out, "//   %-8s %s%s%s\n", t->name, dtype_name(t->type), shape_text(e, t), t->kind == TENSOR_OUTPUT ? "   (output)" : "");
}

void emit_header_kernel(FILE *out, const EmitOptions *o, const Kernel *k)
{
    Arena *a = arena_new();
    Emit e = { .a = a, .o = o, .k = k };
    name_setup(&e);
    const char *name = k->name;
    fprintf(out, "// %s. Every argument is checked first; on an error nothing is written, and pto_context_error(ctx) says why.\n", k->name);
    for (int i = 0; i < k->params.n; i++) {
        if (k->params.at[i].tensor)
            describe_tensor(out, &e, k->params.at[i].tensor);
        else
            fprintf(out, "//   %-8s int\n", k->params.at[i].dim->name);
    }
    for (int i = 0; i < k->outputs.n; i++)
        describe_tensor(out, &e, k->outputs.at[i]);
    emit_signature(out, a, k, SIGNATURE_PUBLIC);
    fprintf(out, ";\n// Bytes of workspace that a call with these sizes takes from the context (which keeps them for the next call).\n");
    emit_signature(out, a, k, SIGNATURE_WORKSPACE);
    fprintf(out, ";\nextern const pto_kernel %s_kernel;\n\n", name);
    arena_free(a);
}

void emit_header_epilogue(FILE *out)
{
    fprintf(out, "#ifdef __cplusplus\n}\n#endif\n#endif\n");
}
