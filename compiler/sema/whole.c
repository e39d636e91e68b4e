// Equations on whole tensors: `y = exp(x) + a*z;` is `y[i0, i1] = exp(x[i0, i1]) + a*z[i0, i1];`.
//
// An equation without subscripts on its left is of a scalar, or of a whole tensor: that is decided here, where all names
// are known, by what the right side names without subscripts (its operands). A rank goes from operands to undeclared left
// sides, through as many equations as it takes. Then the statement is written out with indices, and all that follows sees
// an ordinary equation; only that the shapes are equal is checked once more, when they are known.
//
// A name inside a reduction, or in the brackets of a call that is no function, is not an operand. What is not understood
// (such a call, a name whose definition was refused) leaves a rank open, and then nothing is said of it here.
//
// Leaves: EquationInfo.stmt with subscripts, .whole, .operands; ranks of undeclared tensors.
// Test: tests/unit/test_sema.c
#include "sema/context.h"

#include <string.h>

// ---- operands ----

static bool is_function(const char *name)
{
    Op op;
    DType type;
    return sema_is_function(name, &op) || dtype_parse(name, &type) || strcmp(name, "clamp") == 0;
}

static bool is_nested(const Tree *t) { return t->kind == TREE_CALL && t->body; }
static bool is_unknown_call(const Tree *t) { return t->kind == TREE_CALL && !t->body && !is_function(t->text); }

static void add_operand(Sema *s, EquationInfo *e, const Tree *name)
{
    Symbol *symbol = sema_find(s, name->text);
    if (!symbol || symbol->kind == SYM_DIM) return;
    if (symbol->kind == SYM_POISON || symbol->tensor->failed) {
        e->unclear = true;
        return;
    }
    Operand operand = {.tensor = symbol->tensor, .range = name->range};
    VEC_PUSH(s->arena, &e->operands, operand);
    if (symbol->tensor->unranked) VEC_PUSH(s->arena, &symbol->tensor->readers, e);
}

static bool has_dimensions(Sema *s, const Tree *name)
{
    const Symbol *symbol = sema_find(s, name->text);
    return symbol && symbol->kind == SYM_TENSOR && symbol->tensor->tensor->rank > 0;
}

// In a reduction, where each needs subscripts: an error that is reported there.
static bool has_bare_tensor(Sema *s, const Tree *t)
{
    if (t->kind == TREE_NAME) return has_dimensions(s, t);
    for (int i = 0; i < t->args.n; i++)
        if (has_bare_tensor(s, t->args.at[i])) return true;
    return t->body && has_bare_tensor(s, t->body);
}

static void collect_operands(Sema *s, EquationInfo *e, const Tree *t)
{
    if (is_unknown_call(t) || (is_nested(t) && has_bare_tensor(s, t))) e->unclear = true;
    if (is_unknown_call(t) || is_nested(t)) return;
    if (t->kind == TREE_NAME) add_operand(s, e, t);
    for (int i = 0; i < t->args.n; i++) collect_operands(s, e, t->args.at[i]);
}

// ---- ranks ----

static const Operand *first_ranked(const EquationInfo *e)
{
    for (int i = 0; i < e->operands.n; i++)
        if (e->operands.at[i].tensor->tensor->rank > 0) return &e->operands.at[i];
    return NULL;
}

// Gives ranks to undeclared left sides; a worklist, because a chain of equations is as deep as it is long.
static void spread_ranks(Sema *s)
{
    VEC(EquationInfo *) work = {0};
    for (int i = 0; i < s->equations.n; i++)
        if (s->equations.at[i]->bare) VEC_PUSH(s->arena, &work, s->equations.at[i]);
    for (int done = 0; done < work.n; done++) {
        TensorInfo *lhs = work.at[done]->lhs;
        const Operand *operand = first_ranked(work.at[done]);
        if (!operand || !lhs->unranked) continue;
        sema_set_rank(s, lhs, operand->tensor->tensor->rank);
        for (int i = 0; i < lhs->readers.n; i++) VEC_PUSH(s->arena, &work, lhs->readers.at[i]);
    }
}

// What is still without a rank is a scalar, unless its equation, or what that reads, is unclear.
static void spread_unclear(Sema *s)
{
    VEC(EquationInfo *) work = {0};
    for (int i = 0; i < s->equations.n; i++)
        if (s->equations.at[i]->bare && s->equations.at[i]->unclear) VEC_PUSH(s->arena, &work, s->equations.at[i]);
    for (int done = 0; done < work.n; done++) {
        TensorInfo *lhs = work.at[done]->lhs;
        if (!lhs->unranked) continue;
        lhs->unranked = false;
        for (int i = 0; i < lhs->readers.n; i++) {
            lhs->readers.at[i]->unclear = true;
            VEC_PUSH(s->arena, &work, lhs->readers.at[i]);
        }
    }
}

// ---- messages ----

static char *shape_text(Sema *s, const TensorInfo *info)
{
    const Tensor *t = info->tensor;
    if (t->rank == 0) return arena_strdup(s->arena, "a scalar");
    if (!info->shaped) return arena_printf(s->arena, "of %d dimension%s", t->rank, t->rank == 1 ? "" : "s");
    char *text = arena_strdup(s->arena, "");
    for (int d = 0; d < t->rank; d++) {
        char *lo = expr_is_int(t->lo[d], 0) ? "" : arena_printf(s->arena, "%s..", expr_text_subscript(s->arena, t->lo[d]));
        text = arena_printf(s->arena, "%s%s%s%s", text, d ? ", " : "", lo, expr_text_subscript(s->arena, t->hi[d]));
    }
    return arena_printf(s->arena, "of shape [%s]", text);
}

// "y[i0, i1]"
static char *written_out(Sema *s, const TensorInfo *lhs, int rank)
{
    char *text = arena_strdup(s->arena, lhs->tensor->name);
    for (int d = 0; d < rank; d++) text = arena_printf(s->arena, "%s%si%d", text, d ? ", " : "[", d);
    return arena_printf(s->arena, "%s]", text);
}

static void give_up(EquationInfo *e)
{
    e->failed = true;
    if (!e->lhs->tensor->declared) e->lhs->failed = true;
}

static void report_shapes(Sema *s, EquationInfo *e, const TensorInfo *x, const Operand *operand)
{
    sema_error(s, D_SHAPE, operand->range, "`%s` is %s, but `%s` is %s: all shapes of an equation on whole tensors must be equal",
               operand->tensor->tensor->name, shape_text(s, operand->tensor), x->tensor->name, shape_text(s, x));
    sema_note(s, x->tensor->range, "`%s` is %s here", x->tensor->name, x->tensor->declared ? "declared" : "first defined");
    sema_help(s, "nothing is cut or repeated by itself: write the equation with indices");
    give_up(e);
}

static void report_no_operand(Sema *s, EquationInfo *e)
{
    const Tensor *t = e->lhs->tensor;
    sema_error(s, D_RANK, e->stmt->names.at[0].range, "`%s` has %d dimension%s, but nothing on the right side has any", t->name, t->rank,
               t->rank == 1 ? "" : "s");
    sema_help(s, "a value is not repeated by itself: write `%s = ...`", written_out(s, e->lhs, t->rank));
    give_up(e);
}

// ---- what a whole-tensor equation asks for ----

static bool ranks_agree(Sema *s, EquationInfo *e)
{
    const Operand *first = first_ranked(e);
    int rank = e->lhs->tensor->rank;
    for (int i = 0; i < e->operands.n; i++) {
        const Operand *operand = &e->operands.at[i];
        if (operand->tensor->tensor->rank == 0 || operand->tensor->tensor->rank == rank) continue;
        // What the rank of an undeclared left side comes from has a shape to name.
        bool from_first = !e->lhs->shaped && first->tensor->tensor->rank == rank;
        report_shapes(s, e, from_first ? first->tensor : e->lhs, operand);
        return false;
    }
    return true;
}

// A condition may say for which sizes the equation holds; it has no index to restrict.
static bool condition_is_plain(Sema *s, EquationInfo *e, const Tree *t)
{
    if (t->kind == TREE_NAME && !sema_find(s, t->text)) {
        sema_error(s, D_WHERE, t->range, "`%s` in a condition: an equation on whole tensors has no indices, only dimensions can be used", t->text);
        sema_help(s, "write it with indices: `%s = ... where ...`", written_out(s, e->lhs, e->lhs->tensor->rank));
        give_up(e);
        return false;
    }
    for (int i = 0; i < t->args.n; i++)
        if (!condition_is_plain(s, e, t->args.at[i])) return false;
    return true;
}

static bool conditions_are_plain(Sema *s, EquationInfo *e)
{
    for (int i = 0; i < e->stmt->conds.n; i++)
        if (!condition_is_plain(s, e, e->stmt->conds.at[i])) return false;
    return true;
}

// ---- writing it out ----

static bool names(const Tree *t, const char *name)
{
    if (!t) return false;
    if (t->kind == TREE_NAME && strcmp(t->text, name) == 0) return true;
    for (int i = 0; i < t->args.n; i++)
        if (names(t->args.at[i], name)) return true;
    for (int i = 0; i < t->conds.n; i++)
        if (names(t->conds.at[i], name)) return true;
    return names(t->body, name);
}

// i0, i1, ...; with underscores behind it where the kernel defines that name, or the equation uses it.
static const char *index_name(Sema *s, const EquationInfo *e, int d)
{
    char *name = arena_printf(s->arena, "i%d", d);
    while (sema_find(s, name) || names(e->stmt->expr, name)) name = arena_printf(s->arena, "%s_", name);
    return name;
}

static Tree *new_tree(Sema *s, TreeKind kind, const char *text, Range range)
{
    Tree *t = ARENA_NEW(s->arena, Tree);
    *t = (Tree){.kind = kind, .text = text, .range = range, .name_range = range, .depth = 1};
    return t;
}

static Tree *element(Sema *s, const TreeList *subs, const Tree *name)
{
    Tree *t = new_tree(s, TREE_INDEX, name->text, name->range);
    t->args = *subs;
    t->depth = 2;
    return t;
}

// A copy of the right side in which each operand with dimensions has subscripts.
static Tree *with_subscripts(Sema *s, const TreeList *subs, Tree *t)
{
    if (is_nested(t) || is_unknown_call(t)) return t;
    if (t->kind == TREE_NAME) return has_dimensions(s, t) ? element(s, subs, t) : t;
    Tree *copy = ARENA_NEW(s->arena, Tree);
    *copy = *t;
    copy->args = (TreeList){0};
    for (int i = 0; i < t->args.n; i++) VEC_PUSH(s->arena, &copy->args, with_subscripts(s, subs, t->args.at[i]));
    return copy;
}

static void write_out(Sema *s, EquationInfo *e)
{
    TreeStmt *stmt = ARENA_NEW(s->arena, TreeStmt);
    *stmt = *e->stmt;
    for (int d = 0; d < e->lhs->tensor->rank; d++)
        VEC_PUSH(s->arena, &stmt->subs, new_tree(s, TREE_NAME, index_name(s, e, d), stmt->names.at[0].range));
    stmt->expr = with_subscripts(s, &stmt->subs, stmt->expr);
    e->stmt = stmt;
    e->whole = true;
}

static void settle(Sema *s, EquationInfo *e)
{
    const Operand *operand = first_ranked(e);
    if (e->lhs->tensor->rank == 0 && !operand) return;
    if (e->lhs->failed) e->failed = true;
    else if (!operand && !e->unclear) report_no_operand(s, e);
    else if (ranks_agree(s, e) && conditions_are_plain(s, e)) write_out(s, e);
}

void sema_whole(Sema *s)
{
    for (int i = 0; i < s->equations.n; i++)
        if (s->equations.at[i]->bare) collect_operands(s, s->equations.at[i], s->equations.at[i]->stmt->expr);
    spread_ranks(s);
    spread_unclear(s);
    for (int i = 0; i < s->equations.n; i++)
        if (s->equations.at[i]->bare) settle(s, s->equations.at[i]);
}

// ---- shapes, once they are known ----

static Expr *clipped(Sema *s, const Tensor *t, int d)
{
    return expr_simplify(s->arena, expr_binary(s->arena, OP_MAX, DT_INDEX, t->hi[d], t->lo[d]));
}

// An intermediate is empty where its upper end would lie below the lower one; an argument like that is refused on entry.
static bool same_extent(Sema *s, const Tensor *x, const Tensor *y, int d)
{
    if (!sema_same(s, x->lo[d], y->lo[d])) return false;
    return sema_same(s, x->hi[d], y->hi[d]) || sema_same(s, clipped(s, x, d), clipped(s, y, d));
}

static bool same_shape(Sema *s, const Tensor *x, const Tensor *y)
{
    for (int d = 0; d < x->rank; d++)
        if (!same_extent(s, x, y, d)) return false;
    return true;
}

// The indices that were given run over the common shape.
static void set_ranges(EquationInfo *e, const Tensor *t)
{
    for (int d = 0; d < t->rank; d++) {
        Index *index = e->eq->indices.at[d];
        if (index->lo) continue;
        index->lo = t->lo[d];
        index->hi = t->hi[d];
    }
}

bool sema_whole_shapes(Sema *s, EquationInfo *e)
{
    const TensorInfo *first = e->whole && e->lhs->shaped ? e->lhs : NULL;
    for (int i = 0; e->whole && i < e->operands.n; i++) {
        const Operand *operand = &e->operands.at[i];
        if (operand->tensor->tensor->rank == 0 || !operand->tensor->shaped) continue;
        if (!first) first = operand->tensor;
        if (same_shape(s, first->tensor, operand->tensor->tensor)) continue;
        report_shapes(s, e, first, operand);
        return false;
    }
    if (first) set_ranges(e, first->tensor);
    return true;
}
