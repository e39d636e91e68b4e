// Textual IR of the move level, and of bundles: the kernel as at the tile level, but a grid shows its programs in place of its
// body. ir/print.h shows the form. Grid coordinates are task(i) and digits block(k); a name that would mean another one gives way to
// its number.
//
// Test: tests/unit/test_ir_bundles.c
#include "ir/print.h"

#include "ir/print_notes.h"
#include "ir/print_tree.h"

#include <string.h>

typedef struct {
    IrPrinter *p;
    Arena *a;
    const Node *grid;
    const BundleProgram *b;
    VEC(const BundleLoop *) open;        // innermost last
} Printer;

static void add(const Printer *p, TreeList *list, Tree *t)
{
    VEC_PUSH(p->a, list, t);
}

static Tree *call(const Printer *p, const char *name)
{
    return irtree_named(p->a, TREE_CALL, name);
}

static Tree *value(const Printer *p, const Expr *e)
{
    return e ? irtree_value(p->p, e) : irtree_integer(p->p, 0);
}

static Tree *call_of(const Printer *p, const char *name, const Expr *e)
{
    return irtree_add(p->a, call(p, name), value(p, e));
}

static void add_counted(const Printer *p, TreeList *list, const char *name, int64_t n, int64_t usual)
{
    if (n != usual)
        add(p, list, irtree_counted(p->p, name, n));
}

// ---- induction variables --------------------------------------------------------------------------------------------------

static const char *digit_name(const Printer *p, int digit)
{
    for (int i = p->open.n - 1; i >= 0; i--) {
        const BundleLoop *l = p->open.at[i];
        int d = digit - (l->iv - FIRST_DIGIT);
        if (d >= 0 && d < l->ndigits)
            return l->digit[d];
    }
    return NULL;
}

// Whether the name, looked up from the inside, finds that digit; see find_digit of read_box.c.
static bool means_digit(const Printer *p, const char *name, int digit)
{
    for (int i = p->open.n - 1; i >= 0; i--) {
        const BundleLoop *l = p->open.at[i];
        for (int d = 0; d < l->ndigits; d++)
            if (l->digit[d] && strcmp(l->digit[d], name) == 0)
                return l->iv - FIRST_DIGIT + d == digit;
    }
    return false;
}

static Tree *digit(const Printer *p, int d)
{
    const char *name = digit_name(p, d);
    return name && means_digit(p, name, d) ? irtree_word(p->p, name) : irtree_integer(p->p, d);
}

static Tree *coordinate(const Printer *p, int q)
{
    const char *name = q < p->grid->ndims ? p->grid->dims[q].name : NULL;
    bool own = name;
    for (int i = 0; own && i < q; i++)
        own = strcmp(p->grid->dims[i].name, name) != 0;
    return own ? irtree_word(p->p, name) : irtree_integer(p->p, q);
}

static Tree *variable(const Printer *p, int v)
{
    bool task = v < FIRST_DIGIT;
    return irtree_add(p->a, call(p, task ? "task" : "block"), task ? coordinate(p, v) : digit(p, v - FIRST_DIGIT));
}

static Tree *binary(const Printer *p, TreeOp op, Tree *x, Tree *y)
{
    Tree *t = irtree_add(p->a, irtree_add(p->a, irtree_new(p->a, TREE_BINARY), x), y);
    t->op = op;
    return t;
}

// base + task(i) * step + block(k) * step
static Tree *affine(const Printer *p, const Affine *x)
{
    Tree *sum = x->base && !expr_is_int(x->base, 0) ? value(p, x->base) : NULL;
    for (int v = 0; v < MAX_IVS; v++) {
        if (!x->step[v] || expr_is_int(x->step[v], 0))
            continue;
        Tree *term = variable(p, v);
        if (!expr_is_int(x->step[v], 1))
            term = binary(p, TOP_MUL, term, value(p, x->step[v]));
        sum = sum ? binary(p, TOP_ADD, sum, term) : term;
    }
    return sum ? sum : irtree_integer(p->p, 0);
}

static bool is_zero(const Affine *x)
{
    bool zero = !x->base || expr_is_int(x->base, 0);
    for (int v = 0; v < MAX_IVS; v++)
        zero = zero && (!x->step[v] || expr_is_int(x->step[v], 0));
    return zero;
}

static void add_digits(const Printer *p, TreeList *list, const char *name, unsigned set)
{
    Tree *t = call(p, name);
    for (int d = 0; d < MAX_DIGITS; d++)
        if (set >> d & 1)
            irtree_add(p->a, t, digit(p, d));
    if (set)
        add(p, list, t);
}

static void add_when(const Printer *p, TreeList *list, When w)
{
    add_digits(p, list, "first", w.first);
    add_digits(p, list, "last", w.last);
}

// ---- operands -----------------------------------------------------------------------------------------------------------------

static void add_span(const Printer *p, TreeList *list, const Span *s)
{
    add(p, list, affine(p, &s->start));
    add(p, list, value(p, s->size));
    if (s->hi)
        add(p, list, irtree_add(p->a, call_of(p, "cut", s->lo), value(p, s->hi)));
}

// along(start, stride, 0, 2 * 3): dimension 0 of the operand goes along it, and dimension 2 in steps of three
static Tree *along(const Printer *p, const Along *x, int rank)
{
    Tree *t = irtree_add(p->a, irtree_add(p->a, call(p, "along"), affine(p, &x->start)), value(p, x->stride));
    for (int k = 0; k < rank; k++) {
        Tree *at = irtree_integer(p->p, k);
        if (x->steps[k])
            irtree_add(p->a, t, x->steps[k] == 1 ? at : binary(p, TOP_MUL, at, irtree_integer(p->p, x->steps[k])));
    }
    return t;
}

static Tree *dimension(const Printer *p, const BoxDim *d)
{
    static const char *const axes[] = { [AXIS_NONE] = "", [AXIS_M] = "m", [AXIS_N] = "n", [AXIS_K] = "k" };
    Tree *t = call(p, "dim");
    add_span(p, &t->args, &d->at);
    if (d->stride)
        irtree_add(p->a, t, call_of(p, "stride", d->stride));
    if (d->axis != AXIS_NONE)
        irtree_add(p->a, t, irtree_word(p->p, axes[d->axis]));
    if (d->border != BORDER_NONE)
        irtree_add(p->a, t, call_of(p, irtree_border(d->border), d->length));
    else if (d->length)
        irtree_add(p->a, t, call_of(p, "length", d->length));
    return t;
}

static void add_operand(const Printer *p, TreeStmts *to, const char *keyword, const Operand *o)
{
    TreeStmt *s = irtree_line(p->p, to, keyword, o->buffer ? o->buffer->name : o->tensor->name);
    if (o->buffer && o->tensor != o->buffer->tensor && o->tensor)
        add(p, &s->subs, irtree_add(p->a, call(p, "of"), irtree_word(p->p, o->tensor->name)));
    if (!o->buffer)
        s->label.word = p->p->target->memory[0];
    if (!is_zero(&o->address))
        add(p, &s->subs, irtree_add(p->a, call(p, "at"), affine(p, &o->address)));
    add_counted(p, &s->subs, "digits", o->digits, 0);
    for (int d = 0; d < o->rank; d++)
        add(p, &s->subs, dimension(p, &o->dim[d]));
    for (int d = 0; d < o->nalong; d++)
        add(p, &s->subs, along(p, &o->along[d], o->rank));
}

// ---- operations ---------------------------------------------------------------------------------------------------------------

static void add_when_as(const Printer *p, TreeList *list, const char *name, When w, bool always)
{
    Tree *t = call(p, name);
    add_when(p, &t->args, w);
    if (t->args.n)
        add(p, list, t);
    else if (always)
        add(p, list, irtree_word(p->p, name));
}

static void add_attributes(const Printer *p, TreeList *list, const MoveOp *op, bool ordered)
{
    if (ordered)
        add(p, list, irtree_counted(p->p, "order", op->id));
    add_counted(p, list, "stage", op->stage, 0);
    add_when_as(p, list, "when", op->when, false);
    if (op->kind == MOVE_MULTIPLY)
        add_when_as(p, list, "init", op->init, true);
    if (op->kind == MOVE_NEST) {
        add_counted(p, list, "cost", op->cost, 0);
        add_counted(p, list, "bytes", op->bytes, 0);
        add_counted(p, list, "element", op->element, 0);
        if (op->strided)
            add(p, list, irtree_word(p->p, "strided"));
        if (op->updates)
            add(p, list, irtree_word(p->p, "updates"));
    }
    add_counted(p, list, "cycles", op->cycles, 0);
}

static void add_box(const Printer *p, TreeStmts *to, const MoveOp *op, int d)
{
    TreeStmt *s = irtree_line(p->p, to, "box", NULL);
    add_span(p, &s->subs, &op->box[d]);
    s->expr = irtree_new(p->a, TREE_RANGE);
    irtree_add(p->a, s->expr, irtree_word(p->p, irtree_bind(p->p, op->lo[d])));
    irtree_add(p->a, s->expr, irtree_word(p->p, irtree_bind(p->p, op->hi[d])));
}

static void add_signals(const Printer *p, TreeStmts *to, const MoveOp *op)
{
    for (int i = 0; i < MAX_SIGNALS; i++)
        if (op->signal[i] >= 0 && op->signal[i] < p->b->tokens.n)
            add_when(p, &irtree_line(p->p, to, "signal", p->b->tokens.at[op->signal[i]].name)->subs, op->signals[i]);
}

static void add_op(const Printer *p, TreeStmts *to, const MoveOp *op, bool ordered)
{
    static const char *const keywords[] = { [MOVE_COPY] = "copy", [MOVE_GATHER] = "gather", [MOVE_MULTIPLY] = "multiply", [MOVE_NEST] = "nest", [MOVE_TASK] = "task" };
    int outer = p->p->scope.n;
    TreeStmt *s = irtree_line(p->p, to, keywords[op->kind], op->eq ? op->eq->name : NULL);
    s->label.word = program_units()[op->unit];
    s->has_body = true;
    add_attributes(p, &s->subs, op, ordered);
    for (int q = 0; q < op->noperands; q++)
        add_operand(p, &s->body, q ? "read" : "write", &op->operand[q]);
    add_signals(p, &s->body, op);
    for (int d = 0; d < op->rank; d++)
        add_box(p, &s->body, op, d);
    if (op->node)
        irtree_node(p->p, &s->body, op->node);
    p->p->scope.n = outer;
}

// ---- bundles and loops --------------------------------------------------------------------------------------------------------

// In place of all of it.
static void add_brief(const Printer *p, TreeStmts *to, int number)
{
    const Bundle *b = &p->b->bundles.at[number];
    const char *text = arena_printf(p->a, "bundle %d", number), *line = note_bundle(p->a, p->p->target->sources, p->b, number);
    for (int u = 0, n = 0; u < MAX_UNITS; u++)
        if (b->op[u] >= 0 && b->op[u] < p->b->ops.n)
            text = arena_printf(p->a, "%s%s %s", text, n++ ? " |" : ":", note_op(p->a, p->b->ops.at[b->op[u]]));
    for (int w = 0; w < b->nwaits; w++)
        text = arena_printf(p->a, "%s%s %s", text, w ? "," : " after", p->b->tokens.at[b->wait[w].token].name);
    irtree_line(p->p, to, line ? arena_printf(p->a, "%s (%s)", text, line) : text, NULL);
}

// With the number by which faults name it.
static void add_bundle(const Printer *p, TreeStmts *to, int number, bool ordered)
{
    const Bundle *b = &p->b->bundles.at[number];
    if (p->p->target->brief) {
        add_brief(p, to, number);
        return;
    }
    TreeStmt *s = irtree_line(p->p, to, "bundle", NULL);
    s->has_body = true;
    s->note = p->p->target->sources ? note_bundle(p->a, p->p->target->sources, p->b, number) : NULL;
    add(p, &s->subs, irtree_integer(p->p, number));
    for (int w = 0; w < b->nwaits; w++) {
        TreeStmt *wait = irtree_line(p->p, &s->body, "wait", p->b->tokens.at[b->wait[w].token].name);
        add_counted(p, &wait->subs, "stage", b->wait[w].stage, 0);
        add_when(p, &wait->subs, b->wait[w].when);
    }
    for (int u = 0; u < MAX_UNITS; u++)
        if (b->op[u] >= 0 && b->op[u] < p->b->ops.n)
            add_op(p, &s->body, p->b->ops.at[b->op[u]], ordered);
}

// Operations need their position where it is not the one that their stages and the text give them.
static bool is_ordered(Arena *a, const BundleProgram *b)
{
    const int *usual = program_usual_order(a, b);
    bool same = true;
    for (int i = 0; i < b->ops.n; i++)
        same = same && usual[i] == i;
    return !same;
}

static void add_digits_of(const Printer *p, TreeStmt *s, const BundleLoop *l)
{
    for (int d = 0; d < l->ndigits; d++) {
        Tree *t = irtree_add(p->a, irtree_named(p->a, TREE_NAMED, l->digit[d] ? l->digit[d] : "d"), value(p, l->count[d]));
        add(p, &s->subs, t);
    }
    int usual = FIRST_DIGIT;
    for (int i = 0; i < p->open.n; i++)
        usual += p->open.at[i]->ndigits;
    add_counted(p, &s->subs, "from", l->iv - FIRST_DIGIT, usual - FIRST_DIGIT);
    add_counted(p, &s->subs, "stages", l->stages > 1 ? l->stages : 1, 1);
}

// What lies in [at, end), with the loops from *loop on.
static void add_units(Printer *p, TreeStmts *to, int at, int end, int *loop, bool ordered)
{
    for (;;) {
        const BundleLoop *l = *loop < p->b->loops.n ? &p->b->loops.at[*loop] : NULL;
        if (l && l->first == at && l->end > at && l->end <= end) {
            TreeStmt *s = irtree_line(p->p, to, "loop", NULL);
            s->has_body = true;
            s->note = p->p->target->sources && p->b->bundles.n ? note_loop(p->a, p->b, l) : NULL;
            add_digits_of(p, s, l);
            (*loop)++;
            VEC_PUSH(p->a, &p->open, l);
            add_units(p, &s->body, at, l->end, loop, ordered);
            p->open.n--;
            at = l->end;
        } else if (at < end && p->b->bundles.n)
            add_bundle(p, to, at++, ordered);
        else if (at < end)
            add_op(p, to, p->b->ops.at[at++], false);
        else
            return;
    }
}

// ---- programs -----------------------------------------------------------------------------------------------------------------

static void add_buffer(const Printer *p, TreeStmts *to, const Buffer *x)
{
    TreeStmt *s = irtree_line(p->p, to, "buffer", x->name);
    s->label.word = p->p->target->memory[x->memory];
    add(p, &s->subs, irtree_word(p->p, dtype_name(x->type)));
    if (x->tensor)
        add(p, &s->subs, irtree_add(p->a, call(p, "of"), irtree_word(p->p, x->tensor->name)));
    add(p, &s->subs, call_of(p, "at", x->address));
    add(p, &s->subs, call_of(p, "bytes", x->bytes));
    add_counted(p, &s->subs, "slots", x->slots, 1);
    add_counted(p, &s->subs, "depth", x->depth ? x->depth : x->slots, x->slots);
    add_counted(p, &s->subs, "ahead", x->ahead, -1);
}

static void add_needs(const Printer *p, TreeStmts *to)
{
    TreeStmt *s = NULL;
    for (int m = 0; m < p->p->target->nmemories; m++) {
        if (!p->b->need[m])
            continue;
        s = s ? s : irtree_line(p->p, to, "need", NULL);
        add(p, &s->subs, call_of(p, p->p->target->memory[m], p->b->need[m]));
    }
}

static void add_program(Printer *p, TreeStmts *to, const Expr *fits)
{
    TreeStmt *s = irtree_line(p->p, to, "program", NULL);
    s->has_body = true;
    if (fits)
        add(p, &s->conds, value(p, fits));
    s->note = p->p->target->sources ? note_memories(p->a, p->b, p->p->target) : NULL;
    bool brief = p->p->target->brief;
    if (!brief)
        add_needs(p, &s->body);
    for (int i = 0; i < p->b->buffers.n && !brief; i++)
        add_buffer(p, &s->body, p->b->buffers.at[i]);
    for (int i = 0; i < p->b->tokens.n && !brief; i++) {
        const Token *x = &p->b->tokens.at[i];
        TreeStmt *t = irtree_line(p->p, &s->body, "token", x->name);
        add(p, &t->subs, irtree_counted(p->p, "initial", x->initial));
        add(p, &t->subs, irtree_counted(p->p, "depth", x->depth));
    }
    int loop = 0;
    add_units(p, &s->body, 0, p->b->bundles.n ? p->b->bundles.n : p->b->ops.n, &loop, is_ordered(p->a, p->b));
}

static void add_task(const Printer *p, TreeStmts *to)
{
    const MoveOp *op = p->b->ops.at[0];
    TreeStmt *s = irtree_line(p->p, to, "task", op->eq ? op->eq->name : NULL);
    s->has_body = true;
    if (p->grid->refusal)
        add(p, &s->subs, irtree_add(p->a, call(p, "because"), irtree_named(p->a, TREE_STRING, p->grid->refusal)));
    add_counted(p, &s->subs, "cycles", op->cycles, 0);
    irtree_body(p->p, &s->body, p->grid);
}

// A program knows nothing of the bounds of the grid's tile: their names are free.
static IrPrinter without_tile(const IrPrinter *printer, const Node *grid)
{
    IrPrinter p = *printer;
    memset(&p.scope, 0, sizeof p.scope);
    for (int i = 0; i < printer->scope.n - 2 * grid->ndims; i++)
        VEC_PUSH(p.arena, &p.scope, printer->scope.at[i]);
    return p;
}

void irtree_programs(IrPrinter *printer, TreeStmts *to, const Node *grid)
{
    const BundleProgram *programs[] = { grid->program, grid->otherwise };
    for (int i = 0; i < 2 && programs[i]; i++) {
        Printer p = { .p = printer, .a = printer->arena, .grid = grid, .b = programs[i] };
        if (program_is_task(programs[i])) {
            add_task(&p, to);
            continue;
        }
        if (!printer->bundled)
            p.b = program_loose(p.a, programs[i]);
        IrPrinter outside = without_tile(printer, grid);
        p.p = &outside;
        add_program(&p, to, i ? NULL : grid->fits);
    }
}

// ---- kernels --------------------------------------------------------------------------------------------------------------------

void ir_print_bundles(FILE *out, int n, TileKernel *const *kernels, const BundleTarget *target, bool bundled)
{
    Arena *a = arena_new();
    IrPrinter p = { .arena = a };
    TreeFile file = { .level = bundled ? "bundles" : "move", .machine = target->machine };
    if (target->brief) {
        file.level = file.machine = NULL;
        fprintf(out, "// Bundles for %s in short, which are not read back: units with what they write <- what they read, after tokens (lines).\n\n", target->machine);
    }
    for (int m = 0; m < target->nmemories; m++)
        VEC_PUSH(a, &file.machine_args, irtree_word(&p, target->memory[m]));
    if (target->set)
        VEC_PUSH(a, &file.machine_args, irtree_add(a, irtree_named(a, TREE_CALL, "set"), irtree_named(a, TREE_STRING, target->set)));
    irtree_print(out, a, &file, n, kernels, target, bundled);
    arena_free(a);
}
