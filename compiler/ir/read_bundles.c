// From the tree of a textual kernel of the move level, or with bundles (see ir/print.h), to the kernel: read_tile.c reads what
// the tile level has, here are the programs of grids. What does not fit is left to ir/verify_bundles.c.
//
// Test: tests/unit/test_ir_bundles.c
#include "ir/read.h"

#include "ir/bundles.h"
#include "ir/read_tree.h"
#include "ir/verify.h"

#include <limits.h>
#include <string.h>

enum { MOST_DEPTH = 1024 };

typedef IrProgramReader Reader;

static Expr *fail(Reader *p, Range range, const char *what)
{
    return irread_fail(&p->t->r, range, "%s", what);
}

static bool is_bundled(const Reader *p)
{
    return strcmp(p->t->r.level, "bundles") == 0;
}

static Arena *arena(const Reader *p)
{
    return p->t->r.arena;
}

// ---- buffers, tokens, needs -------------------------------------------------------------------------------------------------

static int memory_of(Reader *p, const char *name, Range range)
{
    int m = irread_position(name, p->t->target->nmemories, p->t->target->memory);
    if (m < 0)
        irread_fail(&p->t->r, range, "the file names no memory '%s'", name ? name : "");
    return m < 0 ? 0 : m;
}

static void read_buffer(Reader *p, const TreeStmt *s)
{
    Buffer *x = ARENA_NEW(arena(p), Buffer);
    *x = (Buffer){ .id = p->p->buffers.n, .name = s->names.at[0].name, .slots = 1, .ahead = -1, .range = s->range };
    x->memory = memory_of(p, s->label.word, s->range);
    bool typed = false;
    for (int i = 0; i < s->subs.n; i++) {
        const Tree *a = s->subs.at[i];
        if (a->kind == TREE_NAME && dtype_parse(a->text, &x->type))
            typed = true;
        else if (irread_is_call(a, "of", 1) && a->args.at[0]->kind == TREE_NAME)
            x->tensor = irread_tensor(&p->t->r, a->args.at[0]->text);
        else if (irread_is_call(a, "at", 1))
            x->address = irread_expr(&p->t->r, a->args.at[0]);
        else if (irread_is_call(a, "bytes", 1))
            x->bytes = irread_expr(&p->t->r, a->args.at[0]);
        else if (irread_is_call(a, "slots", 1))
            x->slots = irread_count(p, a, 1, INT_MAX);
        else if (irread_is_call(a, "depth", 1))
            x->depth = irread_count(p, a, 1, MOST_DEPTH);
        else if (irread_is_call(a, "ahead", 1))
            x->ahead = irread_count(p, a, 0, MOST_DEPTH);
        else
            fail(p, a->range, "a buffer has a type, of(tensor), at(address), bytes(n), slots(n), depth(n) and ahead(n)");
    }
    if (!typed || !x->tensor || !x->address || !x->bytes)
        fail(p, s->range, "a buffer has a type, of(tensor), at(address) and bytes(n)");
    VEC_PUSH(arena(p), &p->p->buffers, x);
}

static void read_token(Reader *p, const TreeStmt *s)
{
    Token x = { .name = s->names.at[0].name, .depth = -1 };
    for (int i = 0; i < s->subs.n; i++) {
        const Tree *a = s->subs.at[i];
        if (irread_is_call(a, "initial", 1))
            x.initial = irread_count(p, a, 0, INT_MAX);
        else if (irread_is_call(a, "depth", 1))
            x.depth = irread_count(p, a, 1, INT_MAX);
        else
            fail(p, a->range, "a token has initial(n) and depth(n)");
    }
    if (x.depth < 0 || !is_bundled(p))
        fail(p, s->range, is_bundled(p) ? "a token has depth(n)" : "tokens come with bundles");
    VEC_PUSH(arena(p), &p->p->tokens, x);
}

static int token_of(Reader *p, const TreeStmt *s)
{
    for (int i = 0; i < p->p->tokens.n; i++)
        if (strcmp(p->p->tokens.at[i].name, s->names.at[0].name) == 0)
            return i;
    irread_fail(&p->t->r, s->names.at[0].range, "'%s' is no token", s->names.at[0].name);
    return 0;
}

static void read_needs(Reader *p, const TreeStmt *s)
{
    for (int i = 0; i < s->subs.n; i++) {
        const Tree *a = s->subs.at[i];
        if (a->kind != TREE_CALL || a->body || a->args.n != 1) {
            fail(p, a->range, "a need is memory(bytes)");
            continue;
        }
        int m = memory_of(p, a->text, a->range);
        if (p->p->need[m])
            fail(p, a->range, "a memory is needed once");
        p->p->need[m] = irread_expr(&p->t->r, a->args.at[0]);
    }
}

// ---- operations -----------------------------------------------------------------------------------------------------------------

static void read_attribute(Reader *p, MoveOp *op, const Tree *a, bool *starts)
{
    bool word = a->kind == TREE_NAME;
    if (irread_is_call(a, "order", 1) && is_bundled(p)) {
        op->id = irread_count(p, a, 0, INT_MAX);
        p->ordered = true;
    } else if (irread_is_call(a, "stage", 1))
        op->stage = irread_count(p, a, 0, INT_MAX);
    else if (irread_is_call(a, "when", -1))
        op->when = irread_when(p, a->args.n, a->args.at);
    else if (op->kind == MOVE_MULTIPLY && ((word && strcmp(a->text, "init") == 0) || irread_is_call(a, "init", -1))) {
        op->init = irread_when(p, a->args.n, a->args.at);
        *starts = true;
    } else if (irread_is_call(a, "cycles", 1))
        op->cycles = irread_number(p->t, a->args.at[0]);
    else if (op->kind == MOVE_NEST && irread_is_call(a, "cost", 1))
        op->cost = irread_number(p->t, a->args.at[0]);
    else if (op->kind == MOVE_NEST && irread_is_call(a, "bytes", 1))
        op->bytes = irread_number(p->t, a->args.at[0]);
    else if (op->kind == MOVE_NEST && irread_is_call(a, "element", 1))
        op->element = irread_count(p, a, 0, INT_MAX);
    else if (op->kind == MOVE_NEST && word && strcmp(a->text, "strided") == 0)
        op->strided = true;
    else if (op->kind == MOVE_NEST && word && strcmp(a->text, "updates") == 0)
        op->updates = true;
    else
        fail(p, a->range, "no attribute of this operation");
}

static void read_signal(Reader *p, MoveOp *op, const TreeStmt *s)
{
    int n = 0;
    while (n < MAX_SIGNALS && op->signal[n] >= 0)
        n++;
    if (n == MAX_SIGNALS || !is_bundled(p)) {
        fail(p, s->range, is_bundled(p) ? "an operation signals two tokens at most" : "tokens come with bundles");
        return;
    }
    op->signal[n] = token_of(p, s);
    op->signals[n] = irread_when(p, s->subs.n, s->subs.at);
}

// `box i_lo..i_hi: start, size, cut(lo, hi);`
static void read_box(Reader *p, MoveOp *op, const TreeStmt *s)
{
    const Tree *lo = s->expr->args.at[0], *hi = s->expr->args.at[1];
    int rest;
    if (op->kind != MOVE_NEST || op->rank == MAX_BOX || s->expr->closed || lo->kind != TREE_NAME || hi->kind != TREE_NAME) {
        irread_fail(&p->t->r, s->range, "a nest has a box of at most %d indices: box i_lo..i_hi: start, size;", MAX_BOX);
        return;
    }
    if (!irread_span(p, s->subs.n, s->subs.at, &op->box[op->rank], &rest) || rest != s->subs.n)
        fail(p, s->range, "a box says start, size and maybe cut(lo, hi)");
    op->lo[op->rank] = irread_bind(&p->t->r, lo->text, lo->range);
    op->hi[op->rank] = irread_bind(&p->t->r, hi->text, hi->range);
    op->rank++;
}

static void read_operand(Reader *p, MoveOp *op, const TreeStmt *s)
{
    bool writes = irread_is_line(s, "write");
    if (writes != (op->noperands == 0) || op->noperands == MAX_OPERANDS) {
        irread_fail(&p->t->r, s->range, "an operation writes one operand, then reads at most %d", MAX_OPERANDS - 1);
        return;
    }
    irread_operand(p, s, &op->operand[op->noperands++]);
}

static void read_op_lines(Reader *p, MoveOp *op, const TreeStmts *lines)
{
    Node *nest = node_new(arena(p), NODE_SEQ);
    TreeStmts inside = { 0 };
    Range range = { 0, 0 };
    for (int i = 0; i < lines->n; i++) {
        const TreeStmt *s = lines->at[i];
        if (s->kind == STMT_EQUATION || (s->kind == STMT_NODE && irread_is_line(s, "for"))) {
            VEC_PUSH(arena(p), &inside, lines->at[i]);
            range = s->range;
        } else if (s->kind != STMT_NODE)
            fail(p, s->range, "no line of an operation");
        else if (irread_is_line(s, "write") || irread_is_line(s, "read"))
            read_operand(p, op, s);
        else if (irread_is_line(s, "signal"))
            read_signal(p, op, s);
        else if (irread_is_line(s, "box"))
            read_box(p, op, s);
        else
            fail(p, s->range, "no line of an operation");
    }
    irread_lines(p->t, nest, &inside);
    if (inside.n > (op->kind == MOVE_NEST))
        fail(p, range, "only a nest computes, and one operation on elements");
    op->node = nest->body.n ? nest->body.at[0] : NULL;
}

static MoveOp *new_op(Reader *p, MoveKind kind, int unit)
{
    MoveOp *op = ARENA_NEW(arena(p), MoveOp);
    *op = (MoveOp){ .id = -1, .unit = unit, .kind = kind, .signal = { -1, -1 }, .operand = ARENA_ARRAY(arena(p), Operand, MAX_OPERANDS) };
    VEC_PUSH(arena(p), &p->p->ops, op);
    return op;
}

static MoveOp *read_op(Reader *p, const TreeStmt *s)
{
    static const char *const kinds[] = { [MOVE_COPY] = "copy", [MOVE_GATHER] = "gather", [MOVE_MULTIPLY] = "multiply", [MOVE_NEST] = "nest" };
    int kind = irread_position(s->label.keyword, 4, kinds), unit = irread_position(s->label.word, MAX_UNITS, program_units()), outer = p->t->r.scope.n;
    if (unit < 0)
        fail(p, s->range, "a unit is cube, vector, load, store, dma or scalar");
    MoveOp *op = new_op(p, (MoveKind)kind, unit < 0 ? 0 : unit);
    bool starts = kind != MOVE_MULTIPLY;
    op->eq = irread_equation(p->t, s->names.at[0].name, s->names.at[0].range);
    for (int i = 0; i < s->subs.n; i++)
        read_attribute(p, op, s->subs.at[i], &starts);
    p->unordered = p->unordered || op->id < 0;
    if (!starts)
        fail(p, s->range, "a multiply says where it starts from 0: init, or init(first(...))");
    read_op_lines(p, op, &s->body);
    p->t->r.scope.n = outer;
    return op;
}

// ---- bundles and loops ------------------------------------------------------------------------------------------------------------

static void read_wait(Reader *p, Bundle *b, const TreeStmt *s)
{
    if (b->nwaits == MAX_WAITS) {
        irread_fail(&p->t->r, s->range, "a bundle waits %d times at most", MAX_WAITS);
        return;
    }
    Wait w = { .token = token_of(p, s) };
    bool staged = s->subs.n > 0 && irread_is_call(s->subs.at[0], "stage", 1);
    if (staged)
        w.stage = irread_count(p, s->subs.at[0], 0, INT_MAX);
    w.when = irread_when(p, s->subs.n - staged, staged ? s->subs.at + 1 : s->subs.at);
    b->wait[b->nwaits++] = w;
}

static bool is_op(const TreeStmt *s)
{
    static const char *const keywords[] = { "copy", "gather", "multiply", "nest" };
    return s->kind == STMT_NODE && irread_position(s->label.keyword, 4, keywords) >= 0;
}

// Until all are read, a bundle holds the positions of operations in the text.
static void read_bundle(Reader *p, const TreeStmt *s)
{
    if (s->subs.n > 1 || (s->subs.n == 1 && s->subs.at[0]->kind != TREE_INT))
        irread_fail(&p->t->r, s->range, "a bundle may have a number, which is there to be read");
    Bundle b = { .nwaits = 0 };
    memset(b.op, -1, sizeof b.op);
    for (int i = 0; i < s->body.n; i++) {
        const TreeStmt *line = s->body.at[i];
        if (is_op(line)) {
            int unit = read_op(p, line)->unit;
            if (b.op[unit] >= 0)
                irread_fail(&p->t->r, line->range, "a bundle has one operation of a unit");
            b.op[unit] = p->p->ops.n - 1;
        } else if (line->kind == STMT_NODE && irread_is_line(line, "wait"))
            read_wait(p, &b, line);
        else
            fail(p, line->range, "a bundle holds waits and operations");
    }
    VEC_PUSH(arena(p), &p->p->bundles, b);
}

static void read_units(Reader *p, const TreeStmts *lines);

static int here(const Reader *p)
{
    return is_bundled(p) ? p->p->bundles.n : p->p->ops.n;
}

static void read_digit(Reader *p, BundleLoop *l, const Tree *a)
{
    if (l->ndigits == MAX_DIGITS) {
        irread_fail(&p->t->r, a->range, "a loop has %d digits at most", MAX_DIGITS);
        return;
    }
    l->digit[l->ndigits] = a->text;
    l->count[l->ndigits++] = irread_expr(&p->t->r, a->args.at[0]);
}

static void read_loop(Reader *p, const TreeStmt *s)
{
    BundleLoop l = { .first = here(p), .iv = FIRST_DIGIT, .stages = 1 };
    for (int i = 0; i < p->open.n; i++)
        l.iv += p->p->loops.at[p->open.at[i]].ndigits;
    for (int i = 0; i < s->subs.n; i++) {
        const Tree *a = s->subs.at[i];
        if (a->kind == TREE_NAMED)
            read_digit(p, &l, a);
        else if (irread_is_call(a, "stages", 1))
            l.stages = irread_count(p, a, 1, INT_MAX);
        else if (irread_is_call(a, "from", 1))
            l.iv = FIRST_DIGIT + irread_count(p, a, 0, MAX_DIGITS - 1);
        else
            fail(p, a->range, "a loop has digits, i = count, and stages(n)");
    }
    int at = p->p->loops.n;
    VEC_PUSH(arena(p), &p->p->loops, l);
    if (p->open.n < MAX_DIGITS) {
        VEC_PUSH(arena(p), &p->open, at);
        read_units(p, &s->body);
        p->open.n--;
    } else
        irread_fail(&p->t->r, s->range, "loops nest at most %d deep", MAX_DIGITS);
    p->p->loops.at[at].end = here(p);
}

// What stands in a program, or in a loop.
static void read_unit(Reader *p, const TreeStmt *s)
{
    if (s->kind != STMT_NODE)
        fail(p, s->range, "no line of a program");
    else if (irread_is_line(s, "loop"))
        read_loop(p, s);
    else if (irread_is_line(s, "bundle") && is_bundled(p))
        read_bundle(p, s);
    else if (is_op(s) && !is_bundled(p))
        read_op(p, s);
    else if (is_op(s) || irread_is_line(s, "bundle"))
        fail(p, s->range, is_bundled(p) ? "an operation stands in a bundle" : "the move level has no bundles");
    else if (p->open.n == 0 && irread_is_line(s, "buffer"))
        read_buffer(p, s);
    else if (p->open.n == 0 && irread_is_line(s, "token"))
        read_token(p, s);
    else if (p->open.n == 0 && irread_is_line(s, "need"))
        read_needs(p, s);
    else
        fail(p, s->range, "no line of a program, or not inside of a loop");
}

static void read_units(Reader *p, const TreeStmts *lines)
{
    for (int i = 0; i < lines->n; i++)
        read_unit(p, lines->at[i]);
}

// Operations go where they say that they are; without that, in the usual order.
static void set_order(Reader *p, Range range)
{
    BundleProgram *b = p->p;
    if (p->ordered && p->unordered) {
        fail(p, range, "either all operations of a program say their order(n), or none");
        return;
    }
    MoveOp **to = ARENA_ARRAY(arena(p), MoveOp *, b->ops.n + 1);
    const int *usual = program_usual_order(arena(p), b);
    for (int i = 0; i < b->ops.n && !p->ordered; i++)
        b->ops.at[usual[i]]->id = i;
    for (int i = 0; i < b->ops.n; i++) {
        MoveOp *op = b->ops.at[i];
        if (op->id >= b->ops.n || to[op->id]) {
            irread_fail(&p->t->r, range, "order(n) counts the operations of a program from 0, each once: not %d", op->id);
            return;
        }
        to[op->id] = op;
    }
    for (int i = 0; i < b->bundles.n; i++)
        for (int u = 0; u < MAX_UNITS; u++)
            if (b->bundles.at[i].op[u] >= 0)
                b->bundles.at[i].op[u] = b->ops.at[b->bundles.at[i].op[u]]->id;
    for (int i = 0; i < b->ops.n; i++)
        b->ops.at[i] = to[i];
}

// ---- programs -----------------------------------------------------------------------------------------------------------------------

static void read_blocks(Reader *p, const TreeStmt *s)
{
    if (s->conds.n > 1 || (s->conds.n && p->grid->otherwise == p->p))
        fail(p, s->range, "a program fits one condition, and the last one fits all shapes");
    else if (s->conds.n)
        p->grid->fits = irread_expr(&p->t->r, s->conds.at[0]);
    read_units(p, &s->body);
    set_order(p, s->range);
}

// The grid's body, as one operation of the scalar unit.
static void read_task(Reader *p, const TreeStmt *s)
{
    MoveOp *op = new_op(p, MOVE_TASK, MAX_UNITS - 1);
    op->id = 0;
    if (s->names.n)
        op->eq = irread_equation(p->t, s->names.at[0].name, s->names.at[0].range);
    for (int i = 0; i < s->subs.n; i++) {
        const Tree *a = s->subs.at[i];
        if (irread_is_call(a, "because", 1) && a->args.at[0]->kind == TREE_STRING)
            p->grid->refusal = a->args.at[0]->text;
        else if (irread_is_call(a, "cycles", 1))
            op->cycles = irread_number(p->t, a->args.at[0]);
        else
            fail(p, a->range, "a task has because(\"...\")");
    }
    Bundle b = { .nwaits = 0 };
    memset(b.op, -1, sizeof b.op);
    b.op[MAX_UNITS - 1] = 0;
    VEC_PUSH(arena(p), &p->p->bundles, b);
    irread_lines(p->t, p->grid, &s->body);
}

void irread_program(IrTileReader *t, Node *grid, const TreeStmt *s)
{
    Reader p = { .t = t, .grid = grid, .p = ARENA_NEW(t->r.arena, BundleProgram) };
    bool task = irread_is_line(s, "task");
    if (grid->kind != NODE_GRID || !t->target || (grid->program && (grid->otherwise || (task && program_is_task(grid->program))))) {
        fail(&p, s->range, "a grid of the move level has one program, or two where the first one does not fit all shapes; one of them may be its task");
        return;
    }
    *(grid->program ? &grid->otherwise : &grid->program) = p.p;
    if (task)
        read_task(&p, s);
    else
        read_blocks(&p, s);
}

// ---- files --------------------------------------------------------------------------------------------------------------------------

bool ir_is_bundles(const TreeFile *f)
{
    return f->level && (strcmp(f->level, "move") == 0 || strcmp(f->level, "bundles") == 0);
}

static bool read_target(IrReader *r, const TreeFile *f, BundleTarget *target)
{
    *target = (BundleTarget){ .machine = f->machine };
    bool good = f->machine;
    for (int i = 0; i < f->machine_args.n; i++) {
        const Tree *x = f->machine_args.at[i];
        if (x->kind == TREE_NAME && target->nmemories < MAX_MEMORIES && !target->set)
            target->memory[target->nmemories++] = x->text;
        else if (irread_is_call(x, "set", 1) && x->args.at[0]->kind == TREE_STRING && !target->set)
            target->set = x->args.at[0]->text;
        else
            good = false;
    }
    if (!good || target->nmemories == 0)
        irread_fail(r, f->machine_range, "a file of this level says its machine and the machine's memories: on davinci: DDR, L1, L0;");
    return good && target->nmemories > 0;
}

bool ir_read_target(Arena *a, Diags *d, const TreeFile *f, BundleTarget *target)
{
    IrReader r = { .arena = a, .diags = d };
    return read_target(&r, f, target);
}

typedef struct { const TileKernel *tile; const BundleTarget *target; bool bundled; } Verified;

static bool verify(const void *object, FILE *why)
{
    const Verified *v = object;
    return ir_verify_tile(v->tile, why) && ir_verify_bundles(v->tile, v->target->nmemories, v->bundled, why);
}

TileKernel *ir_read_bundles(Arena *a, Diags *d, const TreeFile *f, const TreeKernel *kernel)
{
    bool known = ir_is_bundles(f);
    BundleTarget *target = ARENA_NEW(a, BundleTarget);
    IrTileReader t = { .r = { .arena = a, .diags = d, .level = known ? f->level : "bundles" }, .target = target };
    if (known)
        t.r.failed = !read_target(&t.r, f, target);
    irread_tile_kernel(&t, f, kernel);
    Verified v = { t.tile, target, strcmp(t.r.level, "bundles") == 0 };
    irread_verify(&t.r, verify, &v);
    irread_end(&t.r);
    return t.r.failed ? NULL : t.tile;
}
