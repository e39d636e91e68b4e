// tiling: from a plan to the tiles of its outputs (see tiling.h). Test: tests/cli/check.sh
#include "passes/tiling.h"

#include "ir/bundles.h"
#include "passes/plan.h"

static Expr *theta_expr(Arena *a, const Stmt *s, Theta t)
{
    Range nowhere = { 0, 0 };
    Expr *e = expr_index(a, s->index[t.idx], nowhere);
    if (t.sign < 0)
        e = expr_unary(a, OP_NEG, DT_INDEX, e);
    return expr_simplify(a, expr_binary(a, OP_ADD, DT_INDEX, e, expr_int(a, DT_INDEX, t.shift, nowhere)));
}

// In terms of the statement's indices instead of the sequential loops around its grid.
static Expr *without_loops(Plan *p, const StmtPlan *sp, Expr *e)
{
    for (int k = 0; k < sp->npath; k++) {
        const PathEntry *entry = &sp->path[k];
        if (!entry->loop || !entry->loop->outer || entry->theta.idx < 0)
            continue;
        Expr *value = theta_expr(p->a, sp->stmt, entry->theta);
        e = expr_substitute(p->a, e, 1, &entry->loop->index, &value);
    }
    return e;
}

static void add_statement(Plan *p, const StmtPlan *sp, Tilings *list)
{
    const Stmt *s = sp->stmt;
    Tiling t = { .kernel = p->kernel->name, .tensor = s->eq->lhs->name, .eq = s->eq, .n = s->nouter, .index = s->index };
    for (int q = 0; q < sp->nintervals; q++) {
        const Interval *v = &sp->interval[q];
        const GridDim *d = &sp->leaf->node->dims[q];
        if (v->theta.idx < 0 || v->theta.idx >= s->nouter)
            return;
        t.axis[t.naxes++] = (TilingAxis){ .name = s->index[v->theta.idx]->name, .at = theta_expr(p->a, s, v->theta),
                                          .begin = without_loops(p, sp, d->begin), .tile = without_loops(p, sp, d->tile) };
    }
    if (t.naxes > 0)
        VEC_PUSH(p->a, list, t);
}

void tiling_of_plan(Plan *p, Tilings *list)
{
    for (int i = 0; i < p->g->stmts.n; i++) {
        const Stmt *s = p->g->stmts.at[i];
        if (s->kind != STMT_INIT && s->eq->lhs->kind == TENSOR_OUTPUT)
            add_statement(p, plan_of(p, s), list);
    }
}

// ---- steps ----------------------------------------------------------------------------------------------------------------

static void add_step(Plan *p, TilingSteps *list, Expr *size, Expr *extent)
{
    if (!size || !extent)
        return;
    for (int i = 0; i < list->n; i++)
        if (expr_equal(list->at[i].size, size) && expr_equal(list->at[i].extent, extent))
            return;
    VEC_PUSH(p->a, list, ((TilingStep){ p->kernel->name, size, extent }));
}

// What is cut at the end of the whole: blocks and chunks. Windows of operands are larger than what they serve, but for a
// multiplication's.
static void steps_of_operation(Plan *p, const MoveOp *op, TilingSteps *list)
{
    for (int d = 0; d < op->rank; d++)
        add_step(p, list, op->box[d].size, op->box[d].hi);
    for (int q = 0; op->kind == MOVE_MULTIPLY && q < op->noperands; q++)
        for (int d = 0; d < op->operand[q].rank; d++)
            add_step(p, list, op->operand[q].dim[d].at.size, op->operand[q].dim[d].at.hi);
}

void tiling_steps_of_plan(Plan *p, TilingSteps *list)
{
    for (int i = 0; i < p->leaves.n; i++) {
        const Node *n = p->leaves.at[i]->node;
        if (!n->program)
            continue;
        for (int q = 0; q < n->ndims; q++)
            add_step(p, list, n->dims[q].tile, expr_simplify(p->a, expr_binary(p->a, OP_SUB, DT_INDEX, n->dims[q].end, n->dims[q].begin)));
        for (int k = 0; k < n->program->ops.n; k++)
            steps_of_operation(p, n->program->ops.at[k], list);
    }
}
