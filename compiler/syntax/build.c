// Constructors of tree nodes for the grammar's actions; see reader.h. All in the compilation's arena.
//
// Test: tests/unit/test_syntax.c
#include "syntax/reader.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static Tree *node(Reader *r, TreeKind kind, Range range) {
    Tree *t = ARENA_NEW(r->arena, Tree);
    *t = (Tree){.kind = kind, .range = range, .depth = 1};
    return t;
}

// The parent of a tree is deeper than it. Past the limit the parser stops: nothing below it may recurse that far.
static void deepen(Reader *r, Tree *t, const Tree *child) {
    if (child->depth < t->depth)
        return;
    t->depth = child->depth + 1;
    int most = r->ir ? TREE_DEPTH_MAX * READER_IR_FACTOR : TREE_DEPTH_MAX;
    if (t->depth <= most || r->stopped)
        return;
    Range end = {.begin = t->range.end - 1, .end = t->range.end};
    if (diag_report(r->diags, D_DEPTH, end, "an expression nested more than %d levels deep", most) >= 0)
        diag_help(r->diags, "split it into several equations");
    r->stopped = true;
}

static void add_arg(Reader *r, Tree *t, Tree *arg) {
    VEC_PUSH(r->arena, &t->args, arg);
    deepen(r, t, arg);
}

Tree *build_name(Reader *r, TreeKind kind, Range range, const char *text, Range name_range) {
    Tree *t = node(r, kind, range);
    t->text = text;
    t->name_range = name_range;
    return t;
}

Tree *build_node(Reader *r, TreeKind kind, Range range, Tree *a, Tree *b) {
    Tree *t = node(r, kind, range);
    if (a)
        add_arg(r, t, a);
    if (b)
        add_arg(r, t, b);
    return t;
}

Tree *build_op(Reader *r, TreeKind kind, TreeOp op, Range range, Tree *a, Tree *b) {
    Tree *t = build_node(r, kind, range, a, b);
    t->op = op;
    return t;
}

Tree *build_if(Reader *r, Range range, Tree *c, Tree *a, Tree *b) {
    Tree *t = build_node(r, TREE_IF, range, c, a);
    add_arg(r, t, b);
    return t;
}

Tree *build_range(Reader *r, Range range, Tree *lo, Tree *hi, bool closed) {
    Tree *t = build_node(r, TREE_RANGE, range, lo, hi);
    t->closed = closed;
    return t;
}

Tree *build_list(Reader *r, Tree *t, const TreeList *args, const TreeList *conds) {
    if (args)
        t->args = *args;
    if (conds)
        t->conds = *conds;
    for (int i = 0; i < t->args.n; i++)
        deepen(r, t, t->args.at[i]);
    for (int i = 0; i < t->conds.n; i++)
        deepen(r, t, t->conds.at[i]);
    return t;
}

Tree *build_body(Reader *r, Range range, Tree *call, Tree *body) {
    call->body = body;
    call->range = range;
    deepen(r, call, body);
    return call;
}

TreeList *list_new(Reader *r, Tree *first) {
    TreeList *list = ARENA_NEW(r->arena, TreeList);
    return first ? list_add(r, list, first) : list;
}

TreeList *list_add(Reader *r, TreeList *list, Tree *t) {
    VEC_PUSH(r->arena, list, t);
    return list;
}

static void path_append(Reader *r, TreePath *path, const char *s) {
    for (; *s; s++)
        VEC_PUSH(r->arena, path, *s);
}

TreePath *path_new(Reader *r, const char *name) {
    TreePath *path = ARENA_NEW(r->arena, TreePath);
    path_append(r, path, name);
    VEC_PUSH(r->arena, path, '\0');
    return path;
}

TreePath *path_add(Reader *r, TreePath *path, const char *name) {
    path->at[path->n - 1] = '.';
    path_append(r, path, name);
    VEC_PUSH(r->arena, path, '\0');
    return path;
}

// `u.1.0.i`: the scanner takes "1.0" for a number with a fraction.
TreePath *path_add_number(Reader *r, TreePath *path, const Tree *number) {
    if (number->kind == TREE_FLOAT && strspn(number->text, "0123456789.") == strlen(number->text))
        return path_add(r, path, number->text);
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number->ival);
    if (number->kind != TREE_INT || number->overflow)
        diag_report(r->diags, D_SYNTAX, number->range, "a path has names and whole numbers only");
    return path_add(r, path, text);
}

TreeWord *build_word(Reader *r, WordKind kind, Range range, const char *text) {
    TreeWord *w = ARENA_NEW(r->arena, TreeWord);
    *w = (TreeWord){.kind = kind, .range = range, .text = text};
    return w;
}

TreeWord *build_number_word(Reader *r, const Tree *number) {
    TreeWord *w = build_word(r, number->kind == TREE_INT ? WORD_NUMBER : WORD_FLOAT, number->range, number->text);
    w->ival = number->ival;
    w->fval = number->fval;
    if (number->overflow)
        diag_report(r->diags, D_LITERAL, number->range, "a number that exceeds 64 bits");
    return w;
}

// ---- syntax errors ----

static bool have(int n, const char *const *names, const char *name) {
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool is_keyword(const char *name) {
    return name[0] == '\'' && name[1] >= 'a' && name[1] <= 'z';
}

static bool is_comparison(const char *name) {
    static const char *const all[] = {"'=='", "'!='", "'<'", "'>'", "'<='", "'>='"};
    return have(6, all, name);
}

// What a long list of expectations does not need to tell: operators, the end of the file.
static bool is_dispensable(const char *name) {
    static const char *const all[] = {"'||'", "'&&'", "'+'", "'-'", "'*'", "'/'", "'%'", "'('", "'['", "'.'", "end of file"};
    return is_comparison(name) || have(11, all, name);
}

// What begins an item of a file.
static bool begins_item(const char *name) {
    static const char *const all[] = {"'kernel'", "'schedule'", "'strategy'", "'machine'", "'import'", "end of file"};
    return have(6, all, name);
}

// What begins an expression, when an expression as a whole may stand here.
static bool begins_expression(const char *name) {
    static const char *const all[] = {"a name", "a number", "a string", "'('", "'-'", "'!'", "'if'"};
    return have(7, all, name);
}

// The few names worth telling: "an expression" for all that begins one, no operators when there is much else.
static int digest(int n, const char *const *expected, const char **few, int most) {
    bool expression = have(n, expected, "a number") && have(n, expected, "'('") && have(n, expected, "a name");
    bool many = n > most;
    int m = 0;
    if (expression)
        few[m++] = have(n, expected, "'!'") ? "an expression" : "a value";
    for (int i = 0; i < n && m <= most; i++)
        if (!(expression && begins_expression(expected[i])) && !(many && is_dispensable(expected[i])))
            few[m++] = expected[i];
    return m <= most ? m : 0;
}

// Whether a keyword of textual IR is out of place: `ir` is never suggested, the others only inside IR.
static bool is_foreign(const Reader *r, const char *name) {
    static const char *const all[] = {"'ir'",   "'dim'",   "'tensor'", "'equation'", "'store'",     "'grid'",
                                      "'tile'", "'after'", "'local'",  "'seq'",
                                      "a loop", "a condition", "an operation"};
    return have(r->ir ? 1 : sizeof all / sizeof *all, all, name);
}

static int drop_foreign(const Reader *r, int n, const char **names) {
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (!is_foreign(r, names[i]))
            names[kept++] = names[i];
    return kept;
}

static const char *expectation(Reader *r, int n, const char *const *expected) {
    enum { MOST = 5 };
    const char *few[MOST + 1], *text = "";
    int m = digest(n, expected, few, MOST);
    for (int i = 0; i < m; i++)
        text = arena_printf(r->arena, "%s%s%s", text, i == 0 ? "expected " : i == m - 1 ? " or " : ", ", few[i]);
    return text;
}

// The word in front of an offset of the file, behind blanks; "" if there is none.
static const char *word_before(Reader *r, uint32_t offset) {
    const char *end = r->file->text + (offset - r->file->base);
    while (end > r->file->text && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    const char *begin = end;
    while (begin > r->file->text && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_'))
        begin--;
    return arena_strndup(r->arena, begin, (size_t)(end - begin));
}

// The character at an offset, `by` further on; 0 outside of the file.
static char character_at(const Reader *r, uint32_t offset, int by) {
    int64_t at = (int64_t)(offset - r->file->base) + by;
    return at >= 0 && at < r->file->size ? r->file->text[at] : '\0';
}

// What people write out of habit from other languages; NULL: nothing that is known.
static const char *habit(Reader *r, Range at, const char *found, int n, const char *const *expected) {
    const char *token = arena_strndup(r->arena, r->file->text + (at.begin - r->file->base), at.end - at.begin), *before = word_before(r, at.begin);
    bool is_name = isalpha((unsigned char)token[0]) && found[0] != '\'';
    if (strcmp(found, "'*'") == 0 && character_at(r, at.begin, -1) == '*')
        return "write pow(x, y), or x*x";
    if (strchr("+-*/", token[0]) && character_at(r, at.begin, 1) == '=' && have(n, expected, "'='"))
        return "an equation says what a tensor is, once: a sum over k is 'y[i] = sum(k) ...;', and another value has another name";
    if (strcmp(token, "and") == 0 || strcmp(token, "or") == 0)
        return arena_printf(r->arena, "write '%s'", token[0] == 'a' ? "&&" : "||");
    if (is_name && strcmp(before, "not") == 0)
        return "write '!'";
    if (is_name && have(n, expected, "'='") && have(n, expected, "':'") && have(n, expected, "'['"))
        return arena_printf(r->arena, "an equation begins with the name that it defines, '%s = ...;', and a type stands behind, '%s: f32;'", token, token);
    if (strcmp(found, "':'") == 0 && have(n, expected, "'..'"))
        return "a range is 'a..b', without b, or 'a..=b'";
    if (strcmp(found, "'='") == 0 && character_at(r, r->last_end, -1) == ')' && have(n, expected, "';'"))
        return "subscripts stand in square brackets: 'y[i] = ...;'";
    if (strcmp(found, "'='") == 0 && have(n, expected, "')'") && have(n, expected, "'border'"))
        return "an input has no value of its own yet: it is given at every call";
    if (have(n, expected, "'else'") && !have(n, expected, "'then'") && strcmp(found, "';'") == 0)
        return "a choice has both branches: 'if c then a else b'";
    return NULL;
}

// Whether `->` stands in front of an offset.
static bool behind_arrow(const Reader *r, Range at) {
    int by = -1;
    while (character_at(r, at.begin, by) == ' ')
        by--;
    return character_at(r, at.begin, by) == '>' && character_at(r, at.begin, by - 1) == '-';
}

static void hint(Reader *r, Range at, const char *found, int n, const char *const *expected) {
    const char *text = habit(r, at, found, n, expected);
    if (text)
        diag_help(r->diags, "%s", text);
    if (text)
        return;
    if (begins_item(found) && have(n, expected, "'}'"))
        diag_help(r->diags, "a '}' is missing in front of it");
    else if (is_keyword(found) && have(n, expected, "a name"))
        diag_help(r->diags, "%s is a reserved word", found);
    else if (is_comparison(found) && have(n, expected, "'&&'"))
        diag_help(r->diags, "comparisons do not chain: write 'a < b && b < c'");
    else if (strcmp(found, "'.'") == 0 && have(n, expected, "a number"))
        diag_help(r->diags, "a float has digits on both sides of its point: write '0.5' for '.5'");
    else if (strcmp(found, "'='") == 0 && have(n, expected, "'=='"))
        diag_help(r->diags, "equality is '=='");
    else if (strcmp(found, "'->'") == 0 || (!have(n, expected, "'->'") && !behind_arrow(r, at)))
        return;
    else
        diag_help(r->diags, "a kernel names its outputs: kernel f(x: f32[N]) -> (y: f32[N]) { ... }");
}

// Whether a line ends between two offsets of the file.
static bool line_ends_between(const Reader *r, uint32_t begin, uint32_t end) {
    return memchr(r->file->text + (begin - r->file->base), '\n', end - begin) != NULL;
}

static const char *token_text(Reader *r, Range at, const char *found) {
    uint32_t size = at.end - at.begin;
    if (size == 0 || found[0] == '\'')
        return found;
    const char *text = r->file->text + (at.begin - r->file->base);
    bool string = text[0] == '"';
    return arena_printf(r->arena, "%s%.*s%s%s", string ? "" : "'", size > 40 ? 40 : (int)size, text, size > 40 ? "..." : "", string ? "" : "'");
}

void report_syntax(Reader *r, Range at, const char *found, int n, const char **expected) {
    if (r->stopped || r->excused || diags_full(r->diags))
        return;
    n = drop_foreign(r, n, expected);
    const char *text = expectation(r, n, expected);
    uint32_t last = r->last_end ? r->last_end : r->file->base;
    bool behind = (have(n, expected, "';'") || at.begin == at.end) && last > r->file->base && line_ends_between(r, last, at.begin);
    const char *where = behind && at.begin != at.end ? " on the next line" : "";
    Range range = behind ? (Range){.begin = last - 1, .end = last} : at;
    if (diag_report(r->diags, D_SYNTAX, range, "unexpected %s%s%s%s", token_text(r, at, found), where, *text ? ": " : "", text) >= 0)
        hint(r, at, found, n, expected);
}
