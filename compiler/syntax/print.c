// The canonical text of a tree; see print.h. Brackets that the source has stay; others appear only where the tree
// needs them. One statement or directive a line, four blanks a level, one blank around binary operators.
//
// Test: tests/unit/test_syntax.c
#include "syntax/print.h"

#include <inttypes.h>
#include <string.h>

// The grammar's levels of precedence, low to high. A tree printed where a higher level is needed gets brackets.
enum { P_EXPR, P_OR, P_AND, P_COMPARE, P_ADD, P_BODY, P_MUL, P_UNARY, P_PRIM };

static const struct {
    const char *text;
    int level;
} ops[] = {
    [TOP_ADD] = {.text = "+", .level = P_ADD},    [TOP_SUB] = {.text = "-", .level = P_ADD},
    [TOP_MUL] = {.text = "*", .level = P_MUL},    [TOP_DIV] = {.text = "/", .level = P_MUL},
    [TOP_REM] = {.text = "%", .level = P_MUL},    [TOP_EQ] = {.text = "==", .level = P_COMPARE},
    [TOP_NE] = {.text = "!=", .level = P_COMPARE}, [TOP_LT] = {.text = "<", .level = P_COMPARE},
    [TOP_LE] = {.text = "<=", .level = P_COMPARE}, [TOP_GT] = {.text = ">", .level = P_COMPARE},
    [TOP_GE] = {.text = ">=", .level = P_COMPARE}, [TOP_AND] = {.text = "&&", .level = P_AND},
    [TOP_OR] = {.text = "||", .level = P_OR},     [TOP_NEG] = {.text = "-", .level = P_UNARY},
    [TOP_NOT] = {.text = "!", .level = P_UNARY},
};

static void print_at(FILE *out, const Tree *t, int level);

static void print_string(FILE *out, const char *s) {
    putc('"', out);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c == '\n' || c == '\t' || c == '\r')
            fprintf(out, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
        else if (c < 0x20 || c >= 0x7f)
            fprintf(out, "\\x%02x", c);
        else
            putc(c, out);
    }
    putc('"', out);
}

static void print_list(FILE *out, const TreeList *list) {
    for (int i = 0; i < list->n; i++) {
        fputs(i ? ", " : "", out);
        print_at(out, list->at[i], P_EXPR);
    }
}

static void print_conds(FILE *out, const TreeList *conds) {
    if (conds->n == 1 && conds->at[0]->kind == TREE_OTHERWISE) {
        fputs(" otherwise", out);
    } else if (conds->n) {
        fputs(" where ", out);
        print_list(out, conds);
    }
}

// Whether a tree can be a reduction's body as it stands: `body` in the grammar.
static bool is_body(const Tree *t) {
    if (t->parens)
        return true;
    if (t->kind == TREE_BINARY && ops[t->op].level == P_MUL)
        return is_body(t->args.at[0]);
    return t->kind != TREE_UNARY && t->kind != TREE_BINARY && t->kind != TREE_IF;
}

// The body of a reduction ends at the first operator weaker than `*`: everything else needs brackets.
static void print_call(FILE *out, const Tree *t) {
    fprintf(out, "%s(", t->text);
    print_list(out, &t->args);
    if (t->conds.n) {
        fputs(" where ", out);
        print_list(out, &t->conds);
    }
    putc(')', out);
    if (!t->body)
        return;
    putc(' ', out);
    print_at(out, t->body, is_body(t->body) ? P_EXPR : P_PRIM);
}

static int level_of(const Tree *t) {
    switch (t->kind) {
    case TREE_IF:
        return P_EXPR;
    case TREE_BINARY:
    case TREE_UNARY:
        return ops[t->op].level;
    case TREE_CALL:
        return t->body ? P_BODY : P_PRIM;
    case TREE_INT: case TREE_FLOAT: case TREE_STRING: case TREE_NAME: case TREE_INDEX: case TREE_ALL: case TREE_RANGE:
    case TREE_GROUP: case TREE_IN: case TREE_NAMED: case TREE_OPERATOR: case TREE_OTHERWISE:
        return P_PRIM;
    }
    return P_PRIM;
}

// A reduction at the right of a product needs no brackets unless the product goes on: `a * sum(k) b` takes all.
static void print_binary(FILE *out, const Tree *t, int needed) {
    int level = ops[t->op].level;
    const Tree *right = t->args.at[1];
    bool takes_all = level == P_MUL && needed < P_MUL && level_of(right) == P_BODY;
    print_at(out, t->args.at[0], level == P_COMPARE ? level + 1 : level);
    fprintf(out, " %s ", ops[t->op].text);
    print_at(out, right, takes_all ? P_BODY : level + 1);
}

// Without brackets around it; `needed` is the level that the context asks for.
static void print_bare(FILE *out, const Tree *t, int needed) {
    switch (t->kind) {
    case TREE_INT:
        fprintf(out, "%" PRIu64, t->ival);
        break;
    case TREE_FLOAT:
    case TREE_NAME:
        fputs(t->text, out);
        break;
    case TREE_STRING:
        print_string(out, t->text);
        break;
    case TREE_INDEX:
        fprintf(out, "%s[", t->text);
        print_list(out, &t->args);
        putc(']', out);
        break;
    case TREE_CALL:
        print_call(out, t);
        break;
    case TREE_UNARY:
        fputs(ops[t->op].text, out);
        print_at(out, t->args.at[0], P_UNARY);
        break;
    case TREE_BINARY:
        print_binary(out, t, needed);
        break;
    case TREE_IF:
        fputs("if ", out);
        print_at(out, t->args.at[0], P_EXPR);
        fputs(" then ", out);
        print_at(out, t->args.at[1], P_EXPR);
        fputs(" else ", out);
        print_at(out, t->args.at[2], P_EXPR);
        break;
    case TREE_ALL:
        putc(':', out);
        break;
    case TREE_RANGE:
        print_at(out, t->args.at[0], P_OR);
        fputs(t->closed ? "..=" : "..", out);
        print_at(out, t->args.at[1], P_OR);
        break;
    case TREE_GROUP:
        putc('(', out);
        print_list(out, &t->args);
        putc(')', out);
        break;
    case TREE_IN:
        print_at(out, t->args.at[0], P_OR);
        fputs(" in ", out);
        print_at(out, t->args.at[1], P_EXPR);
        break;
    case TREE_NAMED:
        fprintf(out, "%s = ", t->text);
        print_at(out, t->args.at[0], P_EXPR);
        break;
    case TREE_OPERATOR:
        fputs(ops[t->op].text, out);
        break;
    case TREE_OTHERWISE:
        fputs("otherwise", out);
        break;
    }
}

static void print_at(FILE *out, const Tree *t, int level) {
    bool brackets = t->parens || level_of(t) < level;
    fputs(brackets ? "(" : "", out);
    print_bare(out, t, brackets ? P_EXPR : level);
    fputs(brackets ? ")" : "", out);
}

void tree_print_expr(FILE *out, const Tree *t) {
    print_at(out, t, P_EXPR);
}

// ---- kernels ----

static void print_border(FILE *out, const TreeBorder *b) {
    if (!b->kind)
        return;
    fprintf(out, " border %s", b->kind);
    if (!b->value)
        return;
    putc('(', out);
    print_at(out, b->value, P_EXPR);
    putc(')', out);
}

static void print_type(FILE *out, const TreeType *t) {
    fputs(t->name, out);
    if (!t->has_dims)
        return;
    putc('[', out);
    for (int i = 0; i < t->dims.n; i++) {
        fputs(i ? ", " : "", out);
        print_at(out, t->dims.at[i].extent, P_OR);
        print_border(out, &t->dims.at[i].border);
    }
    putc(']', out);
    print_border(out, &t->border);
}

static void print_params(FILE *out, const TreeParams *params) {
    putc('(', out);
    for (int i = 0; i < params->n; i++) {
        const TreeParam *p = &params->at[i];
        fprintf(out, "%s%s: ", i ? ", " : "", p->name);
        print_type(out, &p->type);
        if (p->init)
            fprintf(out, " = %s", p->init);
    }
    putc(')', out);
}

static void print_generics(FILE *out, const TreeGenerics *generics) {
    for (int i = 0; i < generics->n; i++) {
        const TreeGeneric *g = &generics->at[i];
        fprintf(out, "%s%s: %s", i ? ", " : "<", g->name, g->type);
        if (g->value) {
            fputs(" = ", out);
            print_at(out, g->value, P_UNARY);
        }
    }
    fputs(generics->n ? ">" : "", out);
}

static void print_equation(FILE *out, const TreeStmt *s) {
    fputs(s->view ? "view " : "", out);
    for (int i = 0; i < s->names.n; i++)
        fprintf(out, "%s%s", i ? ", " : "", s->names.at[i].name);
    if (s->has_subs) {
        putc('[', out);
        print_list(out, &s->subs);
        putc(']', out);
    }
    fputs(" = ", out);
    print_at(out, s->expr, P_EXPR);
    print_conds(out, &s->conds);
}

static void print_stmt(FILE *out, const TreeStmt *s) {
    fputs("    ", out);
    switch (s->kind) {
    case STMT_DECL:
        fprintf(out, "%s: ", s->names.at[0].name);
        print_type(out, &s->type);
        break;
    case STMT_EQUATION:
        print_equation(out, s);
        break;
    case STMT_CALL:
        print_at(out, s->expr, P_EXPR);
        print_conds(out, &s->conds);
        break;
    }
    fputs(";\n", out);
}

void tree_print_kernel(FILE *out, const TreeKernel *k) {
    fprintf(out, "kernel %s", k->name);
    print_generics(out, &k->generics);
    print_params(out, &k->inputs);
    fputs(" -> ", out);
    print_params(out, &k->outputs);
    if (k->where.n) {
        fputs(" where ", out);
        print_list(out, &k->where);
    }
    fputs(" {\n", out);
    for (int i = 0; i < k->stmts.n; i++)
        print_stmt(out, k->stmts.at[i]);
    fputs("}\n", out);
}

// ---- directives ----

static void print_clauses(FILE *out, const TreeClauses *clauses);

static void print_word(FILE *out, const TreeWord *w) {
    switch (w->kind) {
    case WORD_PATH:
    case WORD_FLOAT:
    case WORD_SYMBOL:
        fputs(w->text, out);
        break;
    case WORD_NUMBER:
        fprintf(out, "%" PRIu64, w->ival);
        break;
    case WORD_STRING:
        print_string(out, w->text);
        break;
    case WORD_GROUP:
        putc('(', out);
        print_clauses(out, &w->group);
        putc(')', out);
        break;
    }
}

static bool is_symbol(const TreeWord *w, const char *text) {
    return w->kind == WORD_SYMBOL && strcmp(w->text, text) == 0;
}

// `1..=4`, `25%`, `GB/s`, `-5` and `blocked(16)` are written without blanks.
static bool is_tight(const TreeWord *left, const TreeWord *right) {
    static const char *const both[] = {"..", "..=", "/"};
    if (left->kind == WORD_SYMBOL && right->kind == WORD_SYMBOL)
        return false;
    for (int i = 0; i < 3; i++)
        if (is_symbol(left, both[i]) || is_symbol(right, both[i]))
            return true;
    return is_symbol(right, "%") || is_symbol(left, "-") || (left->kind == WORD_PATH && right->kind == WORD_GROUP);
}

static void print_words(FILE *out, const TreeWords *words) {
    for (int i = 0; i < words->n; i++) {
        if (i && !is_tight(words->at[i - 1], words->at[i]))
            putc(' ', out);
        print_word(out, words->at[i]);
    }
}

static void print_clauses(FILE *out, const TreeClauses *clauses) {
    for (int i = 0; i < clauses->n; i++) {
        const TreeClause *c = &clauses->at[i];
        fputs(i ? ", " : "", out);
        if (c->key)
            fprintf(out, "%s = ", c->key);
        print_words(out, &c->words);
    }
}

static void print_block(FILE *out, const TreeDirectives *block, int indent);

static void print_directive(FILE *out, const TreeDirective *d, int indent) {
    fprintf(out, "%*s%s", 4 * indent, "", d->name);
    fputs(d->assign ? " = " : d->clauses.n ? " " : "", out);
    print_clauses(out, &d->clauses);
    if (d->has_block)
        print_block(out, &d->block, indent);
    else
        fputs(";\n", out);
}

static void print_block(FILE *out, const TreeDirectives *block, int indent) {
    fputs(" {\n", out);
    for (int i = 0; i < block->n; i++)
        print_directive(out, block->at[i], indent + 1);
    fprintf(out, "%*s}\n", 4 * indent, "");
}

static void print_on(FILE *out, const char *machine) {
    if (machine)
        fprintf(out, " on %s", machine);
}

void tree_print_schedule(FILE *out, const TreeSchedule *s) {
    fprintf(out, "schedule %s", s->kernel);
    print_on(out, s->machine);
    print_block(out, &s->block, 0);
}

static void print_strategy(FILE *out, const TreeStrategy *s) {
    fprintf(out, "strategy %s", s->name);
    print_on(out, s->machine);
    fputs(" for ", out);
    print_at(out, s->pattern, P_OR);
    print_block(out, &s->block, 0);
}

static void separate(FILE *out, bool *first) {
    fputs(*first ? "" : "\n", out);
    *first = false;
}

void tree_print(FILE *out, const TreeFile *f) {
    bool first = f->imports.n == 0;
    for (int i = 0; i < f->imports.n; i++)
        fprintf(out, "import %s;\n", f->imports.at[i].path);
    for (int i = 0; i < f->kernels.n; i++) {
        separate(out, &first);
        tree_print_kernel(out, f->kernels.at[i]);
    }
    for (int i = 0; i < f->schedules.n; i++) {
        separate(out, &first);
        tree_print_schedule(out, f->schedules.at[i]);
    }
    for (int i = 0; i < f->strategies.n; i++) {
        separate(out, &first);
        print_strategy(out, f->strategies.at[i]);
    }
    for (int i = 0; i < f->machines.n; i++) {
        separate(out, &first);
        fprintf(out, "machine %s", f->machines.at[i]->name);
        print_block(out, &f->machines.at[i]->block, 0);
    }
}
