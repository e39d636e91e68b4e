// stride: how accesses move with an index, and which index a statement is best vectorised along.
#include "passes/plan.h"

bool stride_coefficient(const Expr *e, const Index *index, int64_t *c)
{
    int64_t x, y;
    *c = 0;
    switch ((int)e->op) {
    case OP_INDEX: *c = e->index == index; return true;
    case OP_CONST: case OP_DIM: return true;
    case OP_CONVERT: return stride_coefficient(e->args[0], index, c);
    case OP_NEG:
        if (!stride_coefficient(e->args[0], index, &x))
            return false;
        *c = -x;
        return true;
    case OP_ADD: case OP_SUB:
        if (!stride_coefficient(e->args[0], index, &x) || !stride_coefficient(e->args[1], index, &y))
            return false;
        *c = e->op == OP_ADD ? x + y : x - y;
        return true;
    case OP_MUL:
        for (int k = 0; k < 2; k++)
            if (e->args[k]->op == OP_CONST && stride_coefficient(e->args[1 - k], index, &x)) {
                *c = x * e->args[k]->i;
                return true;
            }
        break;
    default: break;
    }
    return !expr_uses(e, index);
}

int stride_of(int rank, Expr *const *subs, const Index *index)
{
    int r = 0;
    for (int d = 0; d < rank; d++) {
        int64_t c;
        if (!stride_coefficient(subs[d], index, &c))
            return STRIDE_DATA;
        if (c != 0)
            r = d == rank - 1 && c == 1 && r == 0 ? 1 : STRIDE_FAR;
    }
    return r;
}

typedef struct { const Index *index; int near, far; } Count;

static void count_read(void *data, Expr *read, int nconds, Expr *const *conds)
{
    Count *c = data;
    (void)nconds;
    (void)conds;
    int s = stride_of(read->tensor->rank, read->args, c->index);
    c->near += s == 1;
    c->far += s >= STRIDE_FAR;
}

static Count count_accesses(Plan *p, const Stmt *s, int idx)
{
    Count c = { s->index[idx], 0, 0 };
    depend_stmt_reads(p->a, s, count_read, &c);
    return c;
}

static bool writes_along(const Stmt *s, int idx)
{
    return stride_of(s->eq->lhs->rank, s->subs, s->index[idx]) == 1;
}

int stride_vector_index(Plan *p, const Stmt *s)
{
    int write = -1;
    for (int i = 0; i < s->nouter; i++)
        if (writes_along(s, i))
            write = i;
    if (s->kind != STMT_UPDATE)
        return write;
    if (write >= 0) {
        Count c = count_accesses(p, s, write);
        if (c.far == 0 && c.near > 0)
            return write;
    }
    for (int i = s->n - 1; i >= s->nouter; i--) {
        Count c = count_accesses(p, s, i);
        if (c.far == 0 && c.near > 0)
            return i;
    }
    return write;
}
