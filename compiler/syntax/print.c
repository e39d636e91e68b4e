// The canonical text of a tree; see print.h. Brackets that the source has stay; others appear only where the tree
// needs them. One statement or directive a line, four blanks a level, one blank around binary operators.
//
// Test: tests/unit/test_syntax.c
#include "syntax/print.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

typedef struct { FILE *file; bool ir; } Out;       // ir: textual IR, where odd names stand in backquotes

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

static void print_at(Out *out, const Tree *t, int level);

static bool is_plain(const char *name) {
    static const char *const reserved[] = {"kernel", "schedule", "strategy", "machine", "import", "view", "where", "otherwise",
                                           "in", "on", "for", "border", "if", "then", "else"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strcmp(name, reserved[i]) == 0)
            return false;
    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        return false;
    while (isalnum((unsigned char)*name) || *name == '_')
        name++;
    return *name == '\0';
}

static void print_name(Out *out, const char *name) {
    const char *quote = out->ir && !is_plain(name) ? "`" : "";
    fprintf(out->file, "%s%s%s", quote, name, quote);
}

static void print_string(Out *out, const char *s) {
    putc('"', out->file);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(out->file, "\\%c", c);
        else if (c == '\n' || c == '\t' || c == '\r')
            fprintf(out->file, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
        else if (c < 0x20 || c >= 0x7f)
            fprintf(out->file, "\\x%02x", c);
        else
            putc(c, out->file);
    }
    putc('"', out->file);
}

static void print_list(Out *out, const TreeList *list) {
    for (int i = 0; i < list->n; i++) {
        fputs(i ? ", " : "", out->file);
        print_at(out, list->at[i], P_EXPR);
    }
}

static void print_conds(Out *out, const TreeList *conds) {
    if (conds->n == 1 && conds->at[0]->kind == TREE_OTHERWISE) {
        fputs(" otherwise", out->file);
    } else if (conds->n) {
        fputs(" where ", out->file);
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
static void print_call(Out *out, const Tree *t) {
    fprintf(out->file, "%s(", t->text);
    print_list(out, &t->args);
    if (t->conds.n) {
        fputs(" where ", out->file);
        print_list(out, &t->conds);
    }
    putc(')', out->file);
    if (!t->body)
        return;
    putc(' ', out->file);
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
static void print_binary(Out *out, const Tree *t, int needed) {
    int level = ops[t->op].level;
    const Tree *right = t->args.at[1];
    bool takes_all = level == P_MUL && needed < P_MUL && level_of(right) == P_BODY;
    print_at(out, t->args.at[0], level == P_COMPARE ? level + 1 : level);
    fprintf(out->file, " %s ", ops[t->op].text);
    print_at(out, right, takes_all ? P_BODY : level + 1);
}

// Without brackets around it; `needed` is the level that the context asks for.
static void print_bare(Out *out, const Tree *t, int needed) {
    switch (t->kind) {
    case TREE_INT:
        fprintf(out->file, "%" PRIu64, t->ival);
        break;
    case TREE_FLOAT:
        fputs(t->text, out->file);
        break;
    case TREE_NAME:
        print_name(out, t->text);
        break;
    case TREE_STRING:
        print_string(out, t->text);
        break;
    case TREE_INDEX:
        print_name(out, t->text);
        putc('[', out->file);
        print_list(out, &t->args);
        putc(']', out->file);
        break;
    case TREE_CALL:
        print_call(out, t);
        break;
    case TREE_UNARY:
        fputs(ops[t->op].text, out->file);
        print_at(out, t->args.at[0], P_UNARY);
        break;
    case TREE_BINARY:
        print_binary(out, t, needed);
        break;
    case TREE_IF:
        fputs("if ", out->file);
        print_at(out, t->args.at[0], P_EXPR);
        fputs(" then ", out->file);
        print_at(out, t->args.at[1], P_EXPR);
        fputs(" else ", out->file);
        print_at(out, t->args.at[2], P_EXPR);
        break;
    case TREE_ALL:
        putc(':', out->file);
        break;
    case TREE_RANGE:
        print_at(out, t->args.at[0], P_OR);
        fputs(t->closed ? "..=" : "..", out->file);
        print_at(out, t->args.at[1], P_OR);
        break;
    case TREE_GROUP:
        putc('(', out->file);
        print_list(out, &t->args);
        putc(')', out->file);
        break;
    case TREE_IN:
        print_at(out, t->args.at[0], P_OR);
        fputs(" in ", out->file);
        print_at(out, t->args.at[1], P_EXPR);
        break;
    case TREE_NAMED:
        print_name(out, t->text);
        fputs(" = ", out->file);
        print_at(out, t->args.at[0], P_EXPR);
        break;
    case TREE_OPERATOR:
        fputs(ops[t->op].text, out->file);
        break;
    case TREE_OTHERWISE:
        fputs("otherwise", out->file);
        break;
    }
}

static void print_at(Out *out, const Tree *t, int level) {
    bool brackets = t->parens || level_of(t) < level;
    fputs(brackets ? "(" : "", out->file);
    print_bare(out, t, brackets ? P_EXPR : level);
    fputs(brackets ? ")" : "", out->file);
}

void tree_print_expr(FILE *out, const Tree *t) {
    print_at(&(Out){.file = out}, t, P_EXPR);
}

// ---- kernels ----

static void print_border(Out *out, const TreeBorder *b) {
    if (!b->kind)
        return;
    fprintf(out->file, " border %s", b->kind);
    if (!b->value)
        return;
    putc('(', out->file);
    print_at(out, b->value, P_EXPR);
    putc(')', out->file);
}

static void print_type(Out *out, const TreeType *t) {
    print_name(out, t->name);
    if (!t->has_dims)
        return;
    putc('[', out->file);
    for (int i = 0; i < t->dims.n; i++) {
        fputs(i ? ", " : "", out->file);
        print_at(out, t->dims.at[i].extent, P_OR);
        print_border(out, &t->dims.at[i].border);
    }
    putc(']', out->file);
    print_border(out, &t->border);
}

static void print_params(Out *out, const TreeParams *params) {
    putc('(', out->file);
    for (int i = 0; i < params->n; i++) {
        const TreeParam *p = &params->at[i];
        fputs(i ? ", " : "", out->file);
        print_name(out, p->name);
        fputs(": ", out->file);
        print_type(out, &p->type);
        fputs(p->init ? " = " : "", out->file);
        if (p->init)
            print_name(out, p->init);
    }
    putc(')', out->file);
}

static void print_generics(Out *out, const TreeGenerics *generics) {
    for (int i = 0; i < generics->n; i++) {
        const TreeGeneric *g = &generics->at[i];
        fprintf(out->file, "%s%s: %s", i ? ", " : "<", g->name, g->type);
        if (g->value) {
            fputs(" = ", out->file);
            print_at(out, g->value, P_UNARY);
        }
    }
    fputs(generics->n ? ">" : "", out->file);
}

static void print_equation(Out *out, const TreeStmt *s) {
    fputs(s->view ? "view " : "", out->file);
    for (int i = 0; i < s->names.n; i++) {
        fputs(i ? ", " : "", out->file);
        print_name(out, s->names.at[i].name);
    }
    if (s->has_subs) {
        putc('[', out->file);
        print_list(out, &s->subs);
        putc(']', out->file);
    }
    fputs(" = ", out->file);
    print_at(out, s->expr, P_EXPR);
    print_conds(out, &s->conds);
}

// "tensor t local", "equation `u.0` map 0: ", "scan y reverse: "
static void print_label(Out *out, const TreeStmt *s) {
    const TreeLabel *l = &s->label;
    if (!l->keyword)
        return;
    fprintf(out->file, "%s ", l->keyword);
    if (!l->name)
        return;
    print_name(out, l->name);
    if (l->word)
        fprintf(out->file, " %s", l->word);
    if (strcmp(l->keyword, "equation") == 0)
        fprintf(out->file, " %d", l->origin);
    fputs(": ", out->file);
}

static void print_stmts(Out *out, const TreeStmts *stmts, int indent);

// "store t scratch 1: full(0, N), drop", "for i in 0..N: serial", "if i < N", "local t, u", "buffer x_L1 on L1: f16"
static void print_node(Out *out, const TreeStmt *s, int indent) {
    const char *keyword = s->label.keyword;
    bool list = strcmp(keyword, "local") == 0 || strcmp(keyword, "after") == 0 || strcmp(keyword, "need") == 0;
    bool stored = strcmp(keyword, "store") == 0;
    fputs(keyword, out->file);
    if (s->names.n) {
        putc(' ', out->file);
        print_name(out, s->names.at[0].name);
    }
    if (s->label.word && stored)
        fprintf(out->file, " %s %d", s->label.word, s->label.origin);
    if (s->label.word && !stored) {
        fputs(" on ", out->file);
        print_name(out, s->label.word);
    }
    if (s->expr) {
        fputs(s->names.n ? " in " : " ", out->file);
        print_at(out, s->expr, P_OR);
    }
    print_conds(out, &s->conds);
    fputs(!s->subs.n ? "" : list ? " " : ": ", out->file);
    print_list(out, &s->subs);
    if (!s->has_body)
        return;
    fputs(" {\n", out->file);
    print_stmts(out, &s->body, indent + 1);
    fprintf(out->file, "%*s}", 4 * indent, "");
}

static void print_note(Out *out, const char *note, int indent) {
    while (note && *note) {
        size_t n = strcspn(note, "\n");
        fprintf(out->file, "%*s// %.*s\n", 4 * indent, "", (int)n, note);
        note += n + (note[n] == '\n');
    }
}

static void print_stmt(Out *out, const TreeStmt *s, int indent) {
    print_note(out, s->note, indent);
    fprintf(out->file, "%*s", 4 * indent, "");
    if (s->kind != STMT_NODE)
        print_label(out, s);
    switch (s->kind) {
    case STMT_DECL:
        print_name(out, s->names.at[0].name);
        if (s->label.word)
            fprintf(out->file, " %s", s->label.word);
        fputs(": ", out->file);
        print_type(out, &s->type);
        break;
    case STMT_EQUATION:
        print_equation(out, s);
        break;
    case STMT_CALL:
        print_at(out, s->expr, P_EXPR);
        print_conds(out, &s->conds);
        break;
    case STMT_NODE:
        print_node(out, s, indent);
        break;
    }
    fputs(s->has_body ? "\n" : ";\n", out->file);
}

static void print_stmts(Out *out, const TreeStmts *stmts, int indent) {
    for (int i = 0; i < stmts->n; i++)
        print_stmt(out, stmts->at[i], indent);
}

static void print_kernel(Out *out, const TreeKernel *k) {
    fputs("kernel ", out->file);
    print_name(out, k->name);
    print_generics(out, &k->generics);
    print_params(out, &k->inputs);
    fputs(" -> ", out->file);
    print_params(out, &k->outputs);
    if (k->where.n) {
        fputs(" where ", out->file);
        print_list(out, &k->where);
    }
    fputs(" {\n", out->file);
    print_stmts(out, &k->stmts, 1);
    fputs("}\n", out->file);
}

void tree_print_kernel(FILE *out, const TreeKernel *k) {
    print_kernel(&(Out){.file = out}, k);
}

// ---- directives ----

static void print_clauses(Out *out, const TreeClauses *clauses);

static void print_word(Out *out, const TreeWord *w) {
    switch (w->kind) {
    case WORD_PATH:
    case WORD_FLOAT:
    case WORD_SYMBOL:
        fputs(w->text, out->file);
        break;
    case WORD_NUMBER:
        fprintf(out->file, "%" PRIu64, w->ival);
        break;
    case WORD_STRING:
        print_string(out, w->text);
        break;
    case WORD_GROUP:
        putc('(', out->file);
        print_clauses(out, &w->group);
        putc(')', out->file);
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

static void print_words(Out *out, const TreeWords *words) {
    for (int i = 0; i < words->n; i++) {
        if (i && !is_tight(words->at[i - 1], words->at[i]))
            putc(' ', out->file);
        print_word(out, words->at[i]);
    }
}

static void print_clauses(Out *out, const TreeClauses *clauses) {
    for (int i = 0; i < clauses->n; i++) {
        const TreeClause *c = &clauses->at[i];
        fputs(i ? ", " : "", out->file);
        if (c->key)
            fprintf(out->file, "%s = ", c->key);
        print_words(out, &c->words);
    }
}

static void print_block(Out *out, const TreeDirectives *block, int indent);

static void print_directive(Out *out, const TreeDirective *d, int indent) {
    fprintf(out->file, "%*s%s", 4 * indent, "", d->name);
    fputs(d->assign ? " = " : d->clauses.n ? " " : "", out->file);
    print_clauses(out, &d->clauses);
    if (d->has_block)
        print_block(out, &d->block, indent);
    else
        fputs(";\n", out->file);
}

static void print_block(Out *out, const TreeDirectives *block, int indent) {
    fputs(" {\n", out->file);
    for (int i = 0; i < block->n; i++)
        print_directive(out, block->at[i], indent + 1);
    fprintf(out->file, "%*s}\n", 4 * indent, "");
}

static void print_on(Out *out, const char *machine) {
    if (machine)
        fprintf(out->file, " on %s", machine);
}

static void print_schedule(Out *out, const TreeSchedule *s) {
    fputs("schedule ", out->file);
    print_name(out, s->kernel);
    print_on(out, s->machine);
    print_block(out, &s->block, 0);
}

void tree_print_schedule(FILE *out, const TreeSchedule *s) {
    print_schedule(&(Out){.file = out}, s);
}

static void print_strategy(Out *out, const TreeStrategy *s) {
    fprintf(out->file, "strategy %s", s->name);
    print_on(out, s->machine);
    fputs(" for ", out->file);
    print_at(out, s->pattern, P_OR);
    print_block(out, &s->block, 0);
}

static void separate(Out *out, bool *first) {
    fputs(*first ? "" : "\n", out->file);
    *first = false;
}

static void print_file(Out *out, const TreeFile *f) {
    if (f->level)
        fprintf(out->file, "ir %s;\n", f->level);
    if (f->machine) {
        fprintf(out->file, "on %s%s", f->machine, f->machine_args.n ? ": " : "");
        print_list(out, &f->machine_args);
        fputs(";\n", out->file);
    }
    bool first = f->imports.n == 0 && !f->level;
    for (int i = 0; i < f->imports.n; i++)
        fprintf(out->file, "import %s;\n", f->imports.at[i].path);
    for (int i = 0; i < f->kernels.n; i++) {
        separate(out, &first);
        print_kernel(out, f->kernels.at[i]);
    }
    for (int i = 0; i < f->schedules.n; i++) {
        separate(out, &first);
        print_schedule(out, f->schedules.at[i]);
    }
    for (int i = 0; i < f->strategies.n; i++) {
        separate(out, &first);
        print_strategy(out, f->strategies.at[i]);
    }
    for (int i = 0; i < f->machines.n; i++) {
        separate(out, &first);
        fprintf(out->file, "machine %s", f->machines.at[i]->name);
        print_block(out, &f->machines.at[i]->block, 0);
    }
}

void tree_print(FILE *out, const TreeFile *f) {
    print_file(&(Out){.file = out, .ir = f->level != NULL}, f);
}
