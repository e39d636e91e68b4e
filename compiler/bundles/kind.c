// kind: how each statement of a block is done: by the cube, by moves alone, by naming, or as an expression on a box.
#include "ir/linear.h"
#include "bundles/block.h"

#define NO_UNIT ((UnitKind)UNIT_KINDS)

// ---- copies -----------------------------------------------------------------------------------------------------------------

// One index and a constant at most in every subscript, each index once; otherwise it is no plain place.
bool block_is_plain(const Stmt *s, int rank, Expr *const *subs, bool all)
{
    int used[MAX_INDICES] = { 0 };
    for (int d = 0; d < rank; d++) {
        int indices = 0;
        for (int i = 0; i < s->n; i++) {
            bool linear = true;
            int64_t c = linear_coefficient(subs[d], s->index[i], &linear);
            if (!linear || c < 0 || c > 1)
                return false;
            indices += c != 0;
            used[i] += c != 0;
        }
        if (indices > 1)
            return false;
    }
    for (int i = 0; i < s->n; i++)
        if (used[i] != 1 && (all || used[i] > 1))
            return false;
    return true;
}

static bool reads_border(const Expr *read) { return read->outside != 0; }

// x[i, j] = y[j, i]: nothing but moves.
static bool is_copy(Block *b, const BlockStmt *s)
{
    const Expr *e = s->s->eq->rhs;
    return s->s->kind == STMT_MAP && e->op == OP_READ && e->tensor->rank > 0 && !block_is_internal(b, e) && !reads_border(e) && e->type == s->s->eq->lhs->type
        && block_is_plain(s->s, s->s->eq->lhs->rank, s->s->subs, true) && block_is_plain(s->s, e->tensor->rank, e->args, false) && s->s->n > 0 && s->s->n <= MAX_BOX;
}

static int times_written(const Block *b, const Tensor *t)
{
    int n = 0;
    for (int i = 0; i < b->nstmts; i++)
        n += b->stmts[i].s->eq->lhs == t && b->stmts[i].s->kind != STMT_INIT;
    return n;
}

static bool is_used_inside(const Block *b, const Tensor *t)
{
    for (int i = 0; i < b->leaf->deps.n; i++)
        if (b->leaf->deps.at[i]->tensor == t)
            return true;
    return false;
}

// ---- names ------------------------------------------------------------------------------------------------------------------

static bool same_window(const Window *x, const Window *y)
{
    for (int d = 0; d < x->rank; d++) {
        const Span *a = &x->dim[d], *c = &y->dim[d];
        if (!block_same(a->start.base, c->start.base) || !block_same(a->size, c->size) || !block_same(a->lo, c->lo) || !block_same(a->hi, c->hi))
            return false;
        for (int v = 0; v < MAX_IVS; v++)
            if (!block_same(a->start.step[v], c->start.step[v]))
                return false;
    }
    return x->rank == y->rank;
}

static BlockStmt *writer_of(Block *b, const Tensor *t)
{
    for (int i = 0; i < b->nstmts; i++)
        if (b->stmts[i].s->eq->lhs == t && b->stmts[i].s->kind != STMT_INIT)
            return &b->stmts[i];
    return NULL;
}

// x[i, j] = y[i, j] of what the block has written.
bool block_is_name(const Block *b, const Stmt *s)
{
    const Expr *e = s->eq->rhs;
    const Tensor *t = s->eq->lhs;
    if (s->kind != STMT_MAP || e->op != OP_READ || !block_is_internal(b, e) || e->type != t->type || e->tensor->rank != t->rank || e->outside)
        return false;
    for (int d = 0; d < t->rank; d++)
        if (!expr_equal(e->args[d], s->subs[d]))
            return false;
    return true;
}

// The same place under another name.
bool block_is_alias(Block *b, const BlockStmt *s)
{
    const Expr *e = s->s->eq->rhs;
    if (!block_is_name(b, s->s) || times_written(b, s->s->eq->lhs) != 1 || times_written(b, e->tensor) != 1)
        return false;
    Window mine = block_written(b, s, b->nblock), other = block_written(b, writer_of(b, e->tensor), b->nblock);
    return same_window(&mine, &other);
}

// ---- the whole ----------------------------------------------------------------------------------------------------------------

void block_kinds(Block *b)
{
    for (int i = 0; i < b->nstmts; i++) {
        BlockStmt *s = &b->stmts[i];
        UnitKind asked = wish_unit(b, s->s, NO_UNIT);
        bool cube = s->s == b->main && block_can_multiply(b, s), copy = is_copy(b, s) && times_written(b, s->s->eq->lhs) == 1 && !is_used_inside(b, s->s->eq->lhs);
        if (asked == UNIT_CUBE && !cube && s->s->kind == STMT_UPDATE)
            block_refuse(b, "it is no sum of products of types that the cube takes");
        if (asked == UNIT_DMA && !copy)
            block_refuse(b, "it does more than move elements");
        if (cube && (asked == NO_UNIT || asked == UNIT_CUBE)) {
            s->kind = BLOCK_MULTIPLY;
            for (int k = 0; k < b->nstmts; k++)
                if (b->stmts[k].s->kind == STMT_INIT && b->stmts[k].s->eq == s->s->eq)
                    b->stmts[k].kind = BLOCK_INIT;
        } else if (copy && (asked == NO_UNIT || asked == UNIT_DMA)) {
            s->kind = BLOCK_COPY;
        }
    }
}
