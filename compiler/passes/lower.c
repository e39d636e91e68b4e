// lower: the loop nest of a leaf.
//
// Every statement's instances (its domain, with outer loops and the tile's bounds as parameters) are mapped to the time
// vector [place, theta, place, theta, ...] that `order` chose; isl generates the loops that visit them in that order,
// and its syntax tree becomes LOOP, IF and OP nodes. Bounds are exact: no instance runs outside its domain or tile,
// so that partial tiles need no code of their own. Needs: paths, intervals and storage. Test: tests/run
#include "passes/nest.h"
#include "passes/plan_sets.h"

#include <stdlib.h>
#include <string.h>

#include <isl/ast.h>
#include <isl/ast_build.h>
#include <isl/constraint.h>
#include <isl/union_map.h>

typedef struct {
    Plan *p;
    TileKernel *t;
    Leaf *leaf;
    int depth;                    // point loops at most
    Expr *value[MAX_LOOPS];       // of the iterator at each point depth
    Expr **guard;                 // by statement id: what its loops do not see to (see loops_of); NULL: nothing
} Lower;

// ---- expressions ------------------------------------------------------------------------------------------------

static Expr *convert_expr(Lower *l, isl_ast_expr *e);

static Op binary_op(enum isl_ast_expr_op_type type)
{
    switch ((int)type) {
    case isl_ast_expr_op_max: return OP_MAX;
    case isl_ast_expr_op_min: return OP_MIN;
    case isl_ast_expr_op_add: return OP_ADD;
    case isl_ast_expr_op_sub: return OP_SUB;
    case isl_ast_expr_op_mul: return OP_MUL;
    case isl_ast_expr_op_div: case isl_ast_expr_op_pdiv_q: return OP_DIV;
    case isl_ast_expr_op_fdiv_q: return OP_FLOORDIV;
    case isl_ast_expr_op_pdiv_r: case isl_ast_expr_op_zdiv_r: return OP_REM;
    case isl_ast_expr_op_and: case isl_ast_expr_op_and_then: return OP_AND;
    case isl_ast_expr_op_or: case isl_ast_expr_op_or_else: return OP_OR;
    case isl_ast_expr_op_eq: return OP_EQ;
    case isl_ast_expr_op_le: return OP_LE;
    case isl_ast_expr_op_lt: return OP_LT;
    case isl_ast_expr_op_ge: return OP_GE;
    case isl_ast_expr_op_gt: return OP_GT;
    default: return OP_COUNT;
    }
}

static Expr *convert_arg(Lower *l, isl_ast_expr *e, int i)
{
    isl_ast_expr *arg = isl_ast_expr_op_get_arg(e, i);
    Expr *r = convert_expr(l, arg);
    isl_ast_expr_free(arg);
    return r;
}

static bool is_logic(Op op)
{
    return op_class(op) == OPC_COMPARE || op_class(op) == OPC_LOGIC;
}

static Expr *convert_op(Lower *l, isl_ast_expr *e)
{
    Arena *a = l->p->a;
    enum isl_ast_expr_op_type type = isl_ast_expr_op_get_type(e);
    int n = isl_ast_expr_op_get_n_arg(e);
    Expr *x = convert_arg(l, e, 0);
    if (type == isl_ast_expr_op_minus)
        return expr_unary(a, OP_NEG, DT_INDEX, x);
    if (type == isl_ast_expr_op_cond || type == isl_ast_expr_op_select) {
        Expr *args[3] = { x, convert_arg(l, e, 1), convert_arg(l, e, 2) };
        return expr_new(a, OP_SELECT, args[1]->type, x->range, 3, args);
    }
    Op op = binary_op(type);
    for (int i = 1; i < n; i++)
        x = expr_binary(a, op, is_logic(op) ? DT_BOOL : DT_INDEX, x, convert_arg(l, e, i));
    return x;
}

static Expr *convert_id(Lower *l, isl_ast_expr *e)
{
    isl_id *id = isl_ast_expr_id_get_id(e);
    const char *name = isl_id_get_name(id);
    Expr *r = name[0] == '#' ? l->value[(atoi(name + 1) - 1) / 2] : poly_param_expr(l->p->g->poly, l->p->a, id);
    isl_id_free(id);
    return r;
}

static Expr *convert_expr(Lower *l, isl_ast_expr *e)
{
    switch (isl_ast_expr_get_type(e)) {
    case isl_ast_expr_int: return poly_int_expr(l->p->a, isl_ast_expr_int_get_val(e));
    case isl_ast_expr_id: return convert_id(l, e);
    case isl_ast_expr_op: return convert_op(l, e);
    case isl_ast_expr_error: break;
    }
    return expr_int(l->p->a, DT_INDEX, 0, (Range){ 0, 0 });
}

static Expr *take_expr(Lower *l, isl_ast_expr *e)
{
    Expr *r = expr_simplify(l->p->a, convert_expr(l, e));
    isl_ast_expr_free(e);
    return r;
}

// ---- operations -------------------------------------------------------------------------------------------------

static Expr *bound(Plan *p, const Stmt *s, Expr *const *values, Expr *e)
{
    return expr_simplify(p->a, expr_substitute(p->a, e, s->n, (Index *const *)s->index, values));
}

static Expr *scan_first(Plan *p, const Stmt *s, Expr *const *values)
{
    Arena *a = p->a;
    const Nest *nest = s->eq->nest;
    Range nowhere = { 0, 0 };
    Expr *at = expr_index(a, nest->along, nowhere), *last = expr_binary(a, OP_SUB, DT_INDEX, nest->along->hi, expr_int(a, DT_INDEX, 1, nowhere));
    return bound(p, s, values, expr_binary(a, OP_EQ, DT_BOOL, at, nest->reverse ? last : nest->along->lo));
}

static Expr **scan_previous(Plan *p, const Stmt *s, Expr *const *values)
{
    Arena *a = p->a;
    const Nest *nest = s->eq->nest;
    Index *along = nest->along;
    Expr *step = expr_int(a, DT_INDEX, nest->reverse ? 1 : -1, (Range){ 0, 0 });
    Expr *before = expr_binary(a, OP_ADD, DT_INDEX, expr_index(a, along, (Range){ 0, 0 }), step);
    Expr **subs = ARENA_ARRAY(a, Expr *, s->eq->lhs->rank + 1);
    for (int d = 0; d < s->eq->lhs->rank; d++)
        subs[d] = bound(p, s, values, expr_substitute(a, s->subs[d], 1, &along, &before));
    return subs;
}

Node *lower_operation(Plan *p, const Stmt *s, Expr *const *values)
{
    Arena *a = p->a;
    Node *n = node_new(a, NODE_OP);
    const Equation *eq = s->eq;
    n->eq = eq;
    n->tensor = eq->lhs;
    n->op = s->kind == STMT_MAP ? OPK_MAP : s->kind == STMT_INIT ? OPK_INIT : s->kind == STMT_UPDATE ? OPK_UPDATE : OPK_SCAN;
    n->subs = ARENA_ARRAY(a, Expr *, eq->lhs->rank + 1);
    for (int d = 0; d < eq->lhs->rank; d++)
        n->subs[d] = bound(p, s, values, s->subs[d]);
    if (eq->nest)
        n->reduce = eq->nest->op;
    if (s->kind == STMT_INIT)
        return n;
    n->value = bound(p, s, values, eq->rhs);
    if (s->kind == STMT_SCAN) {
        n->first = scan_first(p, s, values);
        n->reverse = eq->nest->reverse;
        n->previous = scan_previous(p, s, values);
    }
    PolyIndices ix = { s->n, (Index *const *)s->index };
    for (int i = 0; i < s->conds.n; i++) {
        isl_set *affine = poly_cond(p->g->poly, ix, s->conds.at[i]);
        if (!affine)
            VEC_PUSH(a, &n->guards, bound(p, s, values, s->conds.at[i]));
        isl_set_free(affine);
    }
    return n;
}

static const Stmt *stmt_of_call(Lower *l, isl_ast_expr *call)
{
    isl_ast_expr *f = isl_ast_expr_op_get_arg(call, 0);
    isl_id *id = isl_ast_expr_id_get_id(f);
    const Stmt *s = l->p->g->stmts.at[atoi(isl_id_get_name(id) + 1)];
    isl_id_free(id);
    isl_ast_expr_free(f);
    return s;
}

static Node *guarded(Lower *l, const Stmt *s, Expr *const *values, Node *operation)
{
    Expr *cond = l->guard[s->id];
    if (!cond)
        return operation;
    Node *n = node_new(l->p->a, NODE_IF);
    n->cond = bound(l->p, s, values, cond);
    node_append(l->p->a, n, operation);
    return n;
}

static Node *convert_user(Lower *l, isl_ast_node *node)
{
    isl_ast_expr *call = isl_ast_node_user_get_expr(node);
    const Stmt *s = stmt_of_call(l, call);
    Expr *values[MAX_INDICES];
    for (int i = 0; i < s->n; i++)
        values[i] = expr_simplify(l->p->a, convert_arg(l, call, i + 1));
    isl_ast_expr_free(call);
    return guarded(l, s, values, lower_operation(l->p, s, values));
}

// ---- loops ------------------------------------------------------------------------------------------------------

static const Stmt *first_stmt(Lower *l, isl_ast_node *node)
{
    const Stmt *s = NULL;
    switch (isl_ast_node_get_type(node)) {
    case isl_ast_node_user: {
        isl_ast_expr *call = isl_ast_node_user_get_expr(node);
        s = stmt_of_call(l, call);
        isl_ast_expr_free(call);
        return s;
    }
    case isl_ast_node_for: {
        isl_ast_node *b = isl_ast_node_for_get_body(node);
        s = first_stmt(l, b);
        isl_ast_node_free(b);
        return s;
    }
    case isl_ast_node_if: {
        isl_ast_node *b = isl_ast_node_if_get_then_node(node);
        s = first_stmt(l, b);
        isl_ast_node_free(b);
        return s;
    }
    case isl_ast_node_block: {
        isl_ast_node_list *list = isl_ast_node_block_get_children(node);
        isl_ast_node *b = isl_ast_node_list_get_at(list, 0);
        s = first_stmt(l, b);
        isl_ast_node_free(b);
        isl_ast_node_list_free(list);
        return s;
    }
    default: return NULL;
    }
}

void lower_locals(Plan *p, const TileKernel *t, const Leaf *leaf, Node *n, int depth, const Loop *loop)
{
    for (int i = 0; i < leaf->stmts.n; i++) {
        const Stmt *s = leaf->stmts.at[i];
        const Storage *st = &t->storage[s->eq->lhs->id];
        const StmtPlan *sp = plan_of(p, s);
        if (st->kind != STORE_REGISTER || st->depth != depth || (loop && sp->path[depth - 1].loop != loop))
            continue;
        bool there = false;
        for (int j = 0; j < n->locals.n; j++)
            there = there || n->locals.at[j] == st->tensor;
        if (!there)
            VEC_PUSH(p->a, &n->locals, st->tensor);
    }
}

static void convert_into(Lower *l, Node *parent, isl_ast_node *node);

static int point_depth(isl_ast_node *node)
{
    isl_ast_expr *it = isl_ast_node_for_get_iterator(node);
    isl_id *id = isl_ast_expr_id_get_id(it);
    int column = atoi(isl_id_get_name(id) + 1);
    isl_id_free(id);
    isl_ast_expr_free(it);
    return column % 2 == 1 ? (column - 1) / 2 : -1;         // -1: a place in a sequence
}

static Expr *exclusive_bound(Lower *l, isl_ast_node *node)
{
    isl_ast_expr *cond = isl_ast_node_for_get_cond(node);
    Expr *hi = convert_arg(l, cond, 1);
    if (isl_ast_expr_op_get_type(cond) == isl_ast_expr_op_le)
        hi = expr_binary(l->p->a, OP_ADD, DT_INDEX, hi, expr_int(l->p->a, DT_INDEX, 1, (Range){ 0, 0 }));
    isl_ast_expr_free(cond);
    return expr_simplify(l->p->a, hi);
}

void lower_describe(Plan *p, Node *n, Loop *loop)
{
    n->wanted = loop->vector;
    VEC_PUSH(p->a, &loop->nodes, n);
    n->role = !loop->parallel ? LOOP_SERIAL : loop->scan ? LOOP_SCAN : loop->reduce ? LOOP_REDUCE : LOOP_PARALLEL;
}

static void convert_for(Lower *l, Node *parent, isl_ast_node *node)
{
    Arena *a = l->p->a;
    int k = point_depth(node);
    const Stmt *s = first_stmt(l, node);
    Loop *loop = k >= 0 ? plan_of(l->p, s)->path[l->leaf->nouter + k].loop : NULL;
    bool single = isl_ast_node_for_is_degenerate(node) == isl_bool_true;
    isl_ast_node *body = isl_ast_node_for_get_body(node);
    if (!loop) {
        convert_into(l, parent, body);
        isl_ast_node_free(body);
        return;
    }
    Node *n = node_new(a, single ? NODE_SEQ : NODE_LOOP);
    Expr *init = take_expr(l, isl_ast_node_for_get_init(node));
    if (single) {
        l->value[k] = init;
    } else {
        n->index = ARENA_NEW(a, Index);
        *n->index = (Index){ .name = loop->name, .lo = init };
        l->value[k] = expr_index(a, n->index, (Range){ 0, 0 });
        n->index->hi = exclusive_bound(l, node);
        n->step = take_expr(l, isl_ast_node_for_get_inc(node))->i;
        lower_describe(l->p, n, loop);
    }
    lower_locals(l->p, l->t, l->leaf, n, l->leaf->nouter + k + 1, loop);
    convert_into(l, n, body);
    isl_ast_node_free(body);
    node_append(a, parent, n);
}

static void convert_if(Lower *l, Node *parent, isl_ast_node *node)
{
    Node *n = node_new(l->p->a, NODE_IF);
    n->cond = take_expr(l, isl_ast_node_if_get_cond(node));
    isl_ast_node *then = isl_ast_node_if_get_then_node(node);
    convert_into(l, n, then);
    isl_ast_node_free(then);
    node_append(l->p->a, parent, n);
    if (isl_ast_node_if_has_else_node(node) != isl_bool_true)
        return;
    Node *m = node_new(l->p->a, NODE_IF);
    m->cond = expr_unary(l->p->a, OP_NOT, DT_BOOL, n->cond);
    isl_ast_node *other = isl_ast_node_if_get_else_node(node);
    convert_into(l, m, other);
    isl_ast_node_free(other);
    node_append(l->p->a, parent, m);
}

static void convert_into(Lower *l, Node *parent, isl_ast_node *node)
{
    switch (isl_ast_node_get_type(node)) {
    case isl_ast_node_for: convert_for(l, parent, node); return;
    case isl_ast_node_if: convert_if(l, parent, node); return;
    case isl_ast_node_user: node_append(l->p->a, parent, convert_user(l, node)); return;
    case isl_ast_node_block: {
        isl_ast_node_list *list = isl_ast_node_block_get_children(node);
        for (int i = 0; i < isl_ast_node_list_n_ast_node(list); i++) {
            isl_ast_node *child = isl_ast_node_list_get_at(list, i);
            convert_into(l, parent, child);
            isl_ast_node_free(child);
        }
        isl_ast_node_list_free(list);
        return;
    }
    case isl_ast_node_mark: case isl_ast_node_error: return;
    }
}

// ---- the schedule -----------------------------------------------------------------------------------------------

// The first point of the tile of theta: tile * floor(theta / tile), as column c of the time vector.
static isl_map *tile_column(isl_map *m, const PathEntry *e, int c)
{
    isl_local_space *ls = isl_local_space_from_space(isl_space_domain(isl_map_get_space(m)));
    isl_aff *theta = isl_aff_var_on_domain(ls, isl_dim_set, (unsigned)e->theta.idx);
    if (e->theta.sign < 0)
        theta = isl_aff_neg(theta);
    theta = isl_aff_add_constant_val(theta, isl_val_int_from_si(isl_aff_get_ctx(theta), e->theta.shift));
    isl_val *tile = isl_val_int_from_si(isl_map_get_ctx(m), (long)e->loop->tile);
    isl_aff *first = isl_aff_scale_val(isl_aff_floor(isl_aff_scale_down_val(theta, isl_val_copy(tile))), tile);
    isl_map *column = isl_map_from_aff(first);
    column = isl_map_insert_dims(column, isl_dim_out, 0, (unsigned)c);
    column = isl_map_add_dims(column, isl_dim_out, (unsigned)(isl_map_dim(m, isl_dim_out) - c - 1));
    return isl_map_intersect(m, column);
}

static isl_map *time_map(Lower *l, const StmtPlan *sp, isl_set *domain, int depth)
{
    int times = 2 * depth + 1;
    isl_space *range = isl_space_align_params(isl_space_set_alloc(l->p->g->poly->isl, 0, (unsigned)times), isl_set_get_space(domain));
    isl_space *space = isl_space_map_from_domain_and_range(isl_set_get_space(domain), range);
    isl_map *m = isl_map_universe(isl_space_copy(space));
    isl_local_space *ls = isl_local_space_from_space(space);
    for (int c = 0; c < times; c++) {
        int k = l->leaf->nouter + c / 2;
        const PathEntry *e = k < sp->npath ? &sp->path[k] : NULL;
        if (e && c % 2 == 1 && e->loop && e->loop->tile) {
            m = tile_column(m, e, c);
            continue;
        }
        isl_constraint *eq = isl_constraint_alloc_equality(isl_local_space_copy(ls));
        eq = isl_constraint_set_coefficient_si(eq, isl_dim_out, c, -1);
        if (e && c % 2 == 0) {
            eq = isl_constraint_set_constant_si(eq, e->seq);
        } else if (e && e->theta.idx >= 0) {
            eq = isl_constraint_set_coefficient_si(eq, isl_dim_in, e->theta.idx, e->theta.sign);
            eq = isl_constraint_set_constant_val(eq, isl_val_int_from_si(isl_constraint_get_ctx(eq), e->theta.shift));
        }
        m = isl_map_add_constraint(m, eq);
    }
    isl_local_space_free(ls);
    return isl_map_intersect_domain(m, domain);
}

// What is known of the parameters: tiles are not empty and lie inside their dimension.
static isl_set *known(Lower *l)
{
    const Poly *poly = l->p->g->poly;
    isl_space *params = isl_space_params_alloc(poly->isl, 0);
    for (int i = 0; i < l->leaf->stmts.n; i++)
        params = isl_space_align_params(params, isl_space_params(isl_set_get_space(l->leaf->stmts.at[i]->domain)));
    isl_set *s = isl_set_from_params(poly_known(poly, params));
    const Node *grid = l->leaf->node;
    for (int q = 0; q < grid->ndims; q++) {
        const GridDim *d = &grid->dims[q];
        int at = isl_set_dim(s, isl_dim_param);
        s = isl_set_add_dims(s, isl_dim_param, 2);
        s = isl_set_set_dim_id(s, isl_dim_param, (unsigned)at, isl_id_alloc(poly->isl, d->lo->name, d->lo));
        s = isl_set_set_dim_id(s, isl_dim_param, (unsigned)at + 1, isl_id_alloc(poly->isl, d->hi->name, d->hi));
        isl_local_space *ls = isl_local_space_from_space(isl_set_get_space(s));
        isl_aff *lo = isl_aff_var_on_domain(isl_local_space_copy(ls), isl_dim_param, (unsigned)at);
        isl_aff *hi = isl_aff_var_on_domain(ls, isl_dim_param, (unsigned)at + 1);
        PolyIndices none = { 0, NULL };
        isl_pw_aff *begin = poly_aff(poly, none, d->begin), *end = poly_aff(poly, none, d->end);
        isl_set *c = isl_aff_lt_set(isl_aff_copy(lo), isl_aff_copy(hi));
        if (begin)
            c = isl_set_intersect(c, isl_pw_aff_ge_set(isl_pw_aff_from_aff(isl_aff_copy(lo)), begin));
        if (end)
            c = isl_set_intersect(c, isl_pw_aff_le_set(isl_pw_aff_from_aff(isl_aff_copy(hi)), end));
        isl_aff_free(lo);
        isl_aff_free(hi);
        s = isl_set_intersect(s, c);
    }
    return isl_set_params(poly_under(poly, s));
}

static isl_ast_build *new_build(Lower *l, int times)
{
    isl_ctx *ctx = l->p->g->poly->isl;
    isl_ast_build *b = isl_ast_build_from_context(known(l));
    isl_id_list *ids = isl_id_list_alloc(ctx, times);
    for (int c = 0; c < times; c++) {
        char name[16];
        snprintf(name, sizeof name, "#%d", c);
        ids = isl_id_list_add(ids, isl_id_alloc(ctx, name, NULL));
    }
    return isl_ast_build_set_iterators(b, ids);
}

// ---- registers that are not used after all --------------------------------------------------------------------------------

static bool reads_tensor(Expr *e, void *data)
{
    const Tensor **t = data;
    if (e->op == OP_READ && e->tensor == *t)
        *t = NULL;
    return *t != NULL;
}

static bool expr_reads_tensor(Expr *e, const Tensor *t)
{
    if (e)
        expr_walk(e, reads_tensor, &t);
    return t == NULL;
}

static bool uses_tensor(const Node *n, const Tensor *t)
{
    if (n->kind == NODE_OP) {
        bool used = n->tensor == t || expr_reads_tensor(n->value, t);
        for (int i = 0; i < n->guards.n; i++)
            used = used || expr_reads_tensor(n->guards.at[i], t);
        return used;
    }
    for (int i = 0; i < n->body.n; i++)
        if (uses_tensor(n->body.at[i], t))
            return true;
    return false;
}

// A loop that isl split may hold only some of its statements, and so only some of their registers.
static void prune_locals(Node *n)
{
    int m = 0;
    for (int i = 0; i < n->locals.n; i++)
        if (uses_tensor(n, n->locals.at[i]))
            n->locals.at[m++] = n->locals.at[i];
    n->locals.n = m;
    for (int i = 0; i < n->body.n; i++)
        prune_locals(n->body.at[i]);
}

static bool declares(const Node *n, const Tensor *t)
{
    for (int i = 0; i < n->locals.n; i++)
        if (n->locals.at[i] == t)
            return true;
    return false;
}

// Does anything below use the register outside of every node that declares it?
static bool uses_undeclared(const Node *n, const Tensor *t)
{
    if (n->kind == NODE_OP)
        return uses_tensor(n, t);
    if (declares(n, t))
        return false;
    for (int i = 0; i < n->body.n; i++)
        if (uses_undeclared(n->body.at[i], t))
            return true;
    return false;
}

// isl leaves out a loop of one known iteration, and with it the place of its registers: they go into the smallest block
// that holds all such uses.
static void declare_lost(Plan *p, Node *n, Tensor *t)
{
    Node *only = NULL;
    int users = 0;
    for (int i = 0; i < n->body.n; i++)
        if (uses_undeclared(n->body.at[i], t)) {
            only = n->body.at[i];
            users++;
        }
    if (users == 0)
        return;
    if (users == 1 && only->kind != NODE_OP)
        declare_lost(p, only, t);
    else
        VEC_PUSH(p->a, &n->locals, t);
}

// ---- the whole ----------------------------------------------------------------------------------------------------------

enum { MOST_PIECES = 8, MOST_DIVISIONS = 8, HULLS = 200000 };

static bool is_scattered(isl_set *domain)
{
    return isl_set_n_basic_set(domain) > MOST_PIECES || poly_divisions(domain) > MOST_DIVISIONS;
}

// The instances that the loops of a statement run over. Loops around each piece of a scattered domain cost more than they save:
// beyond a few pieces, and where isl found no loops in time, they run over the hull, under a condition.
static isl_set *loops_of(Lower *l, const StmtPlan *sp, bool hulls)
{
    const Stmt *s = sp->stmt;
    isl_set *domain = plan_domain(l->p, sp);
    l->guard[s->id] = NULL;
    if (!hulls && !is_scattered(domain))
        return domain;
    isl_id *id = isl_set_get_tuple_id(domain);
    isl_set *hull = isl_set_from_basic_set(isl_set_simple_hull(isl_set_remove_divs(isl_set_copy(domain))));
    hull = isl_set_set_tuple_id(hull, id);
    isl_set *rest = poly_divisions(domain) > MOST_DIVISIONS ? domain : isl_set_gist(domain, isl_set_copy(hull));
    PolyIndices ix = { s->n, (Index *const *)s->index };
    if (rest && isl_set_plain_is_universe(rest) != isl_bool_true)
        l->guard[s->id] = poly_set_cond(l->p->g->poly, l->p->a, ix, rest);
    isl_set_free(rest);
    return hull;
}

static isl_ast_node *generate(Lower *l, bool hulls)
{
    isl_union_map *schedule = NULL;
    for (int i = 0; i < l->leaf->stmts.n; i++) {
        const StmtPlan *sp = plan_of(l->p, l->leaf->stmts.at[i]);
        isl_union_map *m = isl_union_map_from_map(time_map(l, sp, loops_of(l, sp, hulls), l->depth));
        schedule = schedule ? isl_union_map_union(schedule, m) : m;
    }
    isl_ast_build *b = new_build(l, 2 * l->depth + 1);
    isl_ast_node *ast = isl_ast_build_node_from_schedule_map(b, schedule);
    isl_ast_build_free(b);
    return ast;
}

static isl_ast_node *loops(Lower *l)
{
    const Stmt *first = l->leaf->stmts.at[0];
    Budget *budget = l->p->g->poly->budget;
    l->guard = ARENA_ARRAY(l->p->a, Expr *, l->p->g->stmts.n + 1);
    budget_begin(budget);
    isl_ast_node *ast = generate(l, false);
    if (budget_end(budget) && ast)
        return ast;
    isl_ast_node_free(ast);
    depend_give_up(l->p->g, first->eq->range, "loops around the pieces of `%s` were too expensive to find; loops around all of them test a condition", first->eq->name);
    budget_begin_least(budget, HULLS);
    ast = generate(l, true);
    if (budget_end(budget) && ast)
        return ast;
    diag_report(l->p->g->diags, D_UNDECIDED, first->eq->range, "the loops of `%s` could not be generated within the budget", first->eq->name);
    return isl_ast_node_free(ast);
}

void lower_leaf(Plan *p, TileKernel *t, Leaf *leaf)
{
    Lower l = { .p = p, .t = t, .leaf = leaf };
    if (nest_leaf(p, t, leaf))
        return;
    for (int i = 0; i < leaf->stmts.n; i++) {
        int d = plan_of(p, leaf->stmts.at[i])->npath - leaf->nouter;
        l.depth = d > l.depth ? d : l.depth;
    }
    isl_ast_node *ast = loops(&l);
    lower_locals(p, t, leaf, leaf->node, leaf->nouter, NULL);
    if (ast)
        convert_into(&l, leaf->node, ast);
    isl_ast_node_free(ast);
    prune_locals(leaf->node);
    for (int i = 0; i < leaf->stmts.n; i++) {
        Tensor *x = leaf->stmts.at[i]->eq->lhs;
        if (t->storage[x->id].kind == STORE_REGISTER && !declares(leaf->node, x))
            declare_lost(p, leaf->node, x);
    }
}
