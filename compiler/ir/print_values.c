// Names for expressions that a grid's text would say again and again: sizes of blocks and tasks, and what is made of them.
//
// Works on the syntax tree of the grid, when it is complete. Every expression over dims and the indices of loops around the grid
// is looked up by its structure; one that stands in several places, as a whole or inside of different others, gets a name and a line
// `value size1: expression;` in front, behind those of the names in it. The reader puts it back in place of its name.
// Test: tests/unit/test_ir_bundles.c, tests/golden/bundles
#include "ir/print_tree.h"

#include <string.h>
#define uthash_fatal(message) arena_oom_handler()
#include <uthash.h>

enum { WORTH_A_NAME = 5 };           // nodes of a tree, names in it counting one

typedef struct Value {
    uint64_t hash;
    Tree *tree;                      // where it was met first
    int nodes, places;
    const char *name;                // once it has one
    UT_hash_handle hh;
} Value;

typedef struct Word { const char *text; UT_hash_handle hh; } Word;

typedef struct {
    const IrPrinter *p;
    Word *known, *used;              // names of dims and indices around; all names in the text
    Value *values;
    TreeStmts lines;
    int n;
} Values;

// ---- trees ----------------------------------------------------------------------------------------------------------------

static bool has_word(const Word *words, const char *text)
{
    Word *w;
    HASH_FIND_STR(words, text, w);
    return w;
}

static void add_word(const IrPrinter *p, Word **words, const char *text)
{
    if (has_word(*words, text))
        return;
    Word *w = ARENA_NEW(p->arena, Word);
    w->text = text;
    HASH_ADD_KEYPTR(hh, *words, w->text, strlen(w->text), w);
}

static bool is_function(const char *name)
{
    static const char *const names[] = { "min", "max", "floordiv", "mod" };
    for (int i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

typedef struct { uint64_t hash; int nodes, names; bool plain; } Shape;

static uint64_t mix(uint64_t h, uint64_t x) { return (h ^ x) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 29); }

// Is it arithmetic over names that mean the same everywhere in the grid?
static Shape shape_of(const Values *v, const Tree *t)
{
    Shape s = { mix(mix((uint64_t)t->kind + 1, (uint64_t)t->op), t->ival), 1, t->kind == TREE_NAME, true };
    for (const char *c = t->text; c && *c; c++)
        s.hash = mix(s.hash, (unsigned char)*c);
    switch (t->kind) {
    case TREE_INT: case TREE_UNARY: case TREE_BINARY: case TREE_IF: break;
    case TREE_NAME: s.plain = has_word(v->known, t->text); break;
    case TREE_CALL: s.plain = is_function(t->text) && !t->body && !t->conds.n; break;
    default: s.plain = false;
    }
    for (int i = 0; i < t->args.n && s.plain; i++) {
        Shape x = shape_of(v, t->args.at[i]);
        s.hash = mix(s.hash, x.hash);
        s.nodes += x.nodes;
        s.names += x.names;
        s.plain = x.plain;
    }
    return s;
}

static bool same(const Tree *x, const Tree *y)
{
    bool equal = x->kind == y->kind && x->op == y->op && x->ival == y->ival && x->args.n == y->args.n && !x->text == !y->text && (!x->text || strcmp(x->text, y->text) == 0);
    for (int i = 0; equal && i < x->args.n; i++)
        equal = same(x->args.at[i], y->args.at[i]);
    return equal;
}

static bool is_number(const Tree *t)
{
    bool truth = t->kind == TREE_BINARY && t->op >= TOP_EQ && t->op <= TOP_OR;
    return !truth && !(t->kind == TREE_UNARY && t->op == TOP_NOT);
}

// A tree that could have a name; *it: what is known of it, or NULL.
static bool could_be(const Values *v, const Tree *t, Shape *s, Value **it)
{
    *s = shape_of(v, t);
    *it = NULL;
    if (!s->plain || s->nodes < WORTH_A_NAME || !s->names || !is_number(t))
        return false;
    HASH_FIND(hh, v->values, &s->hash, sizeof s->hash, *it);
    return !*it || same((*it)->tree, t);
}

// ---- all trees of a statement -------------------------------------------------------------------------------------------------

typedef void (*Visit)(Values *v, Tree **slot);

static void each_tree(Values *v, TreeStmt *s, Visit visit)
{
    for (int i = 0; i < s->names.n; i++)
        add_word(v->p, &v->used, s->names.at[i].name);
    if (s->expr)
        visit(v, &s->expr);
    for (int i = 0; i < s->subs.n; i++)
        visit(v, &s->subs.at[i]);
    for (int i = 0; i < s->conds.n; i++)
        visit(v, &s->conds.at[i]);
    for (int i = 0; i < s->body.n; i++)
        each_tree(v, s->body.at[i], visit);
}

static void note(Values *v, Tree **slot)
{
    Tree *t = *slot;
    Shape s;
    Value *it;
    if (t->text)
        add_word(v->p, &v->used, t->text);
    if (could_be(v, t, &s, &it)) {
        if (it) {
            it->places++;
            return;
        }
        it = ARENA_NEW(v->p->arena, Value);
        *it = (Value){ .hash = s.hash, .tree = t, .nodes = s.nodes, .places = 1 };
        HASH_ADD(hh, v->values, hash, sizeof it->hash, it);
    }
    for (int i = 0; i < t->args.n; i++)
        note(v, &t->args.at[i]);
    for (int i = 0; i < t->conds.n; i++)
        note(v, &t->conds.at[i]);
    if (t->body)
        note(v, &t->body);
}

static Tree *with_names(Values *v, const Tree *t);

static void names_in_list(Values *v, TreeList *to, const TreeList *from)
{
    *to = (TreeList){ 0 };
    for (int i = 0; i < from->n; i++)
        VEC_PUSH(v->p->arena, to, with_names(v, from->at[i]));
}

// A copy, since trees are looked up as they were.
static Tree *names_below(Values *v, const Tree *t)
{
    Tree *x = irtree_new(v->p->arena, t->kind);
    *x = *t;
    names_in_list(v, &x->args, &t->args);
    names_in_list(v, &x->conds, &t->conds);
    x->body = t->body ? with_names(v, t->body) : NULL;
    return x;
}

static const char *own_name(Values *v)
{
    const char *name;
    do
        name = arena_printf(v->p->arena, "size%d", ++v->n);
    while (has_word(v->used, name));
    return name;
}

static Tree *with_names(Values *v, const Tree *t)
{
    Shape s;
    Value *it;
    if (!could_be(v, t, &s, &it) || !it || it->places < 2)
        return names_below(v, t);
    if (!it->name) {
        Tree *x = names_below(v, t);
        if (shape_of(v, x).nodes < WORTH_A_NAME)
            return x;
        x->parens = false;
        it->name = own_name(v);
        TreeStmt *line = irtree_stmt(v->p->arena, &v->lines, STMT_NODE, "value", it->name);
        VEC_PUSH(v->p->arena, &line->subs, x);
        add_word(v->p, &v->known, it->name);
    }
    return irtree_named(v->p->arena, TREE_NAME, it->name);
}

static void replace(Values *v, Tree **slot) { *slot = with_names(v, *slot); }

void irtree_name_values(const IrPrinter *p, TreeStmt *grid)
{
    Values v = { .p = p };
    const Kernel *k = p->tile->kernel;
    for (int i = 0; i < k->dims.n; i++)
        add_word(p, &v.known, k->dims.at[i]->name);
    for (int i = 0; i < p->scope.n; i++)
        add_word(p, &v.known, p->scope.at[i].name);
    each_tree(&v, grid, note);
    each_tree(&v, grid, replace);
    for (int i = 0; i < grid->body.n; i++)
        VEC_PUSH(p->arena, &v.lines, grid->body.at[i]);
    grid->body = v.lines;
    HASH_CLEAR(hh, v.known);
    HASH_CLEAR(hh, v.used);
    HASH_CLEAR(hh, v.values);
}
