// kernel: what a kernel's loops lie in: frame, workspace layout, leaf functions, logs.
//
// The frame is a struct on the caller's stack: dims, tensors with their strides, buffers of the workspace, and the
// position of the grids and outer loops. `NAME_layout` computes all sizes from the dims, so that the size of the
// workspace can be asked for without a call.
#include "emit/c.h"

#include "base/buffer.h"

#include <string.h>

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

const char *c_element(const Tensor *t) { return dtype_ctype(t->type); }

bool c_may_stream(const Tensor *t) { return t->kind == TENSOR_OUTPUT && t->rank > 0 && (t->type == DT_F32 || t->type == DT_F64); }

static void add_symbols(Emit *e)
{
    for (int i = 0; i < e->k->dims.n; i++) {
        const char *n = e->dim[i];
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
            name_add_symbol(e, n, arena_printf(e->a, "%s *const", c_element(t)), arena_printf(e->a, "(void *)(f->scratch + (size_t)worker * f->scratch_bytes + f->%s)", n));
        else
            name_add_symbol(e, n, arena_printf(e->a, "%s%s *const", t->kind == TENSOR_INPUT ? "const " : "", c_element(t)), arena_printf(e->a, "f->%s", n));
        if (c_may_stream(t))
            name_add_symbol(e, name_part(e, n, "big", 0), "const int", arena_printf(e->a, "f->%s", name_part(e, n, "big", 0)));
        for (int d = 0; d + 1 < t->rank; d++)
            name_add_symbol(e, name_part(e, n, "s", d), "const int64_t", arena_printf(e->a, "f->%s", name_part(e, n, "s", d)));
    }
    name_add_symbol(e, "ctx", "pto_context *const", "f->ctx");
}

// ---- grids and outer loops --------------------------------------------------------------------------------------------

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

// ---- the frame ------------------------------------------------------------------------------------------------------

static void emit_frame(Emit *e, FILE *out, const Structure *s)
{
    fprintf(out, "struct %s {\n    pto_context *ctx;\n", name_own(e, "frame"));
    for (int i = 0; i < e->k->dims.n; i++)
        fprintf(out, "    int64_t %s;\n", e->dim[i]);
    for (int i = 0; i < e->k->tensors.n; i++) {
        const Tensor *t = e->k->tensors.at[i];
        const Storage *st = &e->t->storage[i];
        const char *n = e->tensor[i];
        if (st->kind == STORE_NONE || st->kind == STORE_REGISTER)
            continue;
        if (is_scalar_input(t))
            fprintf(out, "    %s %s;\n", c_element(t), n);
        else if (st->kind == STORE_SCRATCH)
            fprintf(out, "    size_t %s;                  // bytes into a worker's scratch\n", n);
        else
            fprintf(out, "    %s%s *%s;\n", t->kind == TENSOR_INPUT ? "const " : "", c_element(t), n);
        if (c_may_stream(t))
            fprintf(out, "    int %s;                      // larger than the caches\n", name_part(e, n, "big", 0));
        if (c_is_modelled(e) && c_is_stored(e, t))
            fprintf(out, "    size_t %s;\n", name_part(e, n, "bytes", 0));
        for (int d = 0; d + 1 < t->rank; d++)
            fprintf(out, "    int64_t %s;\n", name_part(e, n, "s", d));
    }
    for (int i = 0; i < s->outer.n; i++)
        fprintf(out, "    int64_t %s;\n", name_outer(e, s->outer.at[i]->index));
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

void c_used(Emit *e, FILE *out, const char *text)
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
            c_line(e, "f->%s = %s;", name_part(e, e->tensor[t->id], "s", d), size);
        size = first ? extent : d + 1 < t->rank ? arena_printf(e->a, "pto_stride(f->%s, %s)", name_part(e, e->tensor[t->id], "s", d), extent) : size;
    }
    return size;
}

static void emit_layout(Emit *e, FILE *out)
{
    TextBuffer b;
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
                c_line(e, "f->%s = (%s *)((uintptr_t)base + %s);", e->tensor[i], c_element(t), sum);
            if (c_is_modelled(e) && !pass)
                c_line(e, "f->%s = pto_bytes_mul((size_t)(%s), sizeof(%s));", name_part(e, e->tensor[i], "bytes", 0), size, c_element(t));
            c_line(e, "%s = pto_bytes_after(%s, %s, sizeof(%s));", sum, sum, size, c_element(t));
        }
    }
    char *body = buffer_take(e->a, &b);
    fprintf(out, "// Sizes and places of all buffers; returns the bytes of the workspace.\n");
    fprintf(out, "static PTO_TARGET size_t %s(struct %s *f, int workers, unsigned char *base)\n{\n", name_own(e, "layout"), name_own(e, "frame"));
    c_used(e, out, NULL);
    fprintf(out, "    size_t bytes = 0, scratch = 0;\n%s", body);
    fprintf(out, "    f->scratch = (unsigned char *)((uintptr_t)base + bytes);\n    f->scratch_bytes = scratch ? pto_bytes_add(scratch, 64) : 0;\n");
    fprintf(out, "    return pto_bytes_add(bytes, pto_bytes_mul((size_t)workers, f->scratch_bytes));\n}\n\n");
    name_release(e);
}

// ---- leaf functions -----------------------------------------------------------------------------------------------------

static void bind_tile(Emit *e, const Node *grid, int number, FILE *out)
{
    for (int q = 0; q < grid->ndims; q++) {
        const char *lo = name_bind(e, grid->dims[q].lo), *hi = name_bind(e, grid->dims[q].hi);
        fprintf(out, "    const int64_t %s = f->grid%d.begin[%d] + tile[%d] * f->grid%d.tile[%d];\n", lo, number, q, q, number, q);
        fprintf(out, "    const int64_t %s = pto_tile_end(%s, f->grid%d.tile[%d], f->grid%d.end[%d]);\n", hi, lo, number, q, number, q);
        exact_know(e, grid->dims[q].lo, grid->dims[q].begin, grid->dims[q].end);
        exact_know(e, grid->dims[q].hi, grid->dims[q].begin, grid->dims[q].end);
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
    if (e->counts && !mentions(text, "pto_s"))
        fprintf(out, "    (void)pto_s;\n");
    if (!*tiles)
        fprintf(out, "    (void)tile;\n");
}

// A worker's, or that of a scalar unit of the model.
static void emit_head(Emit *e, FILE *out, const Node *grid, int number)
{
    fprintf(out, "static PTO_TARGET void %s(", name_own(e, "%s%d", grid->ndims || e->counts ? "task" : "part", number));
    if (e->counts)
        fprintf(out, "pto_scalar *pto_s, void *frame, const int64_t tile[4])\n{\n    const int worker = 0;\n");
    else
        fprintf(out, "void *frame, int worker, const int64_t *tile)\n{\n");
    fprintf(out, "    const struct %s *const f = frame;\n", name_own(e, "frame"));
}

void c_leaf(Emit *e, FILE *out, const Node *grid, int number)
{
    TextBuffer head, body;
    buffer_open(&head);
    buffer_open(&body);
    e->bound.n = 0;
    bind_tile(e, grid, number, head.stream);
    e->out = body.stream;
    e->indent = 1;
    e->temps = 0;
    e->streams = false;
    e->counts = c_is_modelled(e);
    c_body(e, grid);
    if (e->streams)
        c_line(e, "pto_stream_end();");
    char *tiles = buffer_take(e->a, &head), *text = buffer_take(e->a, &body);
    emit_head(e, out, grid, number);
    emit_unused(e, out, text, tiles);
    c_used(e, out, text);
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
    e->counts = false;
}

// ---- logs -----------------------------------------------------------------------------------------------------------------

// The format as a C string; integers are passed as long long, floats as double.
static const char *format_text(Emit *e, const char *format)
{
    TextBuffer b;
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
    return buffer_take(e->a, &b);
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

static void emit_logs(Emit *e, FILE *out)
{
    for (int i = 0; i < e->k->logs.n; i++) {
        TextBuffer b;
        buffer_open(&b);
        e->out = b.stream;
        e->indent = 1;
        emit_log(e, e->k->logs.at[i]);
        char *text = buffer_take(e->a, &b);
        fprintf(out, "static PTO_TARGET void %s(const struct %s *f)\n{\n", name_own(e, "log%d", i), name_own(e, "frame"));
        c_used(e, out, NULL);
        name_release(e);
        fprintf(out, "%s}\n\n", text);
    }
}

// ---- a kernel -------------------------------------------------------------------------------------------------------------

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

void emit_c_kernel(FILE *out, const EmitOptions *o, const TileKernel *t)
{
    Arena *a = arena_new();
    Emit e = { .a = a, .o = o, .t = t, .k = t->kernel, .suffix = c_suffix(a, o) };
    name_setup(&e);
    e.ranges = value_scope(a, e.k);
    Structure s = { 0 };
    collect(a, t->root, &s);
    emit_frame(&e, out, &s);
    add_symbols(&e);
    for (int i = 0; i < s.outer.n; i++)
        name_add_symbol(&e, name_outer(&e, s.outer.at[i]->index), "const int64_t", arena_printf(a, "f->%s", name_outer(&e, s.outer.at[i]->index)));
    emit_layout(&e, out);
    if (c_is_modelled(&e))
        c_programs(&e, out, &s);
    for (int i = 0; i < s.grids.n && !c_is_modelled(&e); i++)
        c_leaf(&e, out, s.grids.at[i], i);
    emit_logs(&e, out);
    c_entry(&e, out, &s);
    c_bytes(&e, out);
    arena_free(a);
}
