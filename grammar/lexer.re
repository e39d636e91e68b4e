// The scanner of .pto and .ptoir text (re2c). The whole file is in memory; it ends in a NUL that is past the limit,
// so a NUL inside is an ordinary wrong character. UTF-8 may stand in comments and strings only.
//
// The scanner counts open brackets and stops the parser (`nesting`) before its stack or a recursion over the tree
// could overflow. After a wrong character it goes on with the next token.
//
// Test: tests/unit/test_syntax.c
#include "syntax/reader.h"

#include "parser.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = "r->cursor";
    re2c:define:YYMARKER = "r->marker";
    re2c:define:YYLIMIT = "r->limit";
    re2c:yyfill:enable = 0;
    re2c:eof = 0;

    digit  = [0-9];
    letter = [A-Za-z_];
    name   = letter (letter | digit)*;
    dec    = digit+;
    hex    = "0" [xX] [0-9a-fA-F]+;
    float  = digit+ ("." digit+)? [eE] [-+]? digit+ | digit+ "." digit+;
    tail   = [\x80-\xbf];
    utf8   = [\xc2-\xdf] tail | "\xe0" [\xa0-\xbf] tail | [\xe1-\xec\xee\xef] tail{2} | "\xed" [\x80-\x9f] tail
           | "\xf0" [\x90-\xbf] tail{2} | [\xf1-\xf3] tail{3} | "\xf4" [\x80-\x8f] tail{2};
*/

static Range range_of(const Reader *r, const unsigned char *begin, const unsigned char *end) {
    const unsigned char *text = (const unsigned char *)r->file->text;
    return (Range){.begin = r->file->base + (uint32_t)(begin - text), .end = r->file->base + (uint32_t)(end - text)};
}

static void wrong(Reader *r, Range at, const char *what, const char *help) {
    r->excused = true;
    if (r->stopped || diag_report(r->diags, D_LEX, at, "%s", what) < 0 || !help)
        return;
    diag_help(r->diags, "%s", help);
}

// ---- literals ----

static Tree *literal(Reader *r, TreeKind kind, Range at) {
    Tree *t = ARENA_NEW(r->arena, Tree);
    *t = (Tree){.kind = kind, .range = at, .depth = 1};
    return t;
}

static Tree *integer(Reader *r, const char *text, Range at, int base) {
    Tree *t = literal(r, TREE_INT, at);
    errno = 0;
    t->ival = strtoull(text, NULL, base);
    t->overflow = errno == ERANGE;
    return t;
}

static Tree *floating(Reader *r, const char *text, Range at) {
    Tree *t = literal(r, TREE_FLOAT, at);
    t->text = text;
    t->fval = strtod(text, NULL);
    if (isinf(t->fval) && !r->stopped)
        diag_report(r->diags, D_LITERAL, at, "%.40s is beyond the largest f64", text);
    return t;
}

static int hex_value(unsigned char c) {
    return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

// The text of a string literal between its quotes. Escapes were checked by the scanner.
static const char *unescape(Reader *r, const unsigned char *s, const unsigned char *end) {
    char *text = arena_alloc(r->arena, (size_t)(end - s) + 1), *out = text;
    while (s < end) {
        if (*s != '\\') {
            *out++ = (char)*s++;
        } else if (s[1] == 'x') {
            *out++ = (char)(hex_value(s[2]) * 16 + hex_value(s[3]));
            s += 4;
        } else {
            *out++ = s[1] == 'n' ? '\n' : s[1] == 't' ? '\t' : s[1] == 'r' ? '\r' : (char)s[1];
            s += 2;
        }
    }
    return text;
}

// Behind the opening quote. An unterminated string ends with its line.
static const char *string(Reader *r, const unsigned char *open) {
    for (;;) {
        const unsigned char *start = r->cursor;
        /*!re2c
            ["]                                { return unescape(r, open + 1, r->cursor - 1); }
            [^\x00-\x1f\x7f-\xff"\\]           { continue; }
            [\t]                               { continue; }
            utf8                               { continue; }
            [\\] [nrt"\\]                      { continue; }
            [\\] "x" ([1-9a-fA-F] [0-9a-fA-F] | "0" [1-9a-fA-F]) { continue; }
            [\n]                               { goto unterminated; }
            $                                  { goto unterminated; }
            [\\]                               { goto bad; }
            *                                  { goto bad; }
        */
    unterminated:
        r->cursor = start;
        wrong(r, range_of(r, open, start), "a string without its closing '\"'", NULL);
        return "";
    bad:
        wrong(r, range_of(r, start, r->cursor), start[0] == '\\' ? "an unknown escape in a string" : "a character that a string cannot hold",
              start[0] == '\\' ? "the escapes are \\n \\t \\r \\\" \\\\ and \\x41" : "strings are UTF-8; write other bytes as \\x80");
        while (r->cursor < r->limit && *r->cursor != '"' && *r->cursor != '\n')
            r->cursor += *r->cursor == '\\' && r->cursor + 1 < r->limit && r->cursor[1] != '\n' ? 2 : 1;
        r->cursor += r->cursor < r->limit && *r->cursor == '"';
        return "";
    }
}

// ---- trivia and errors ----

static void line_comment(Reader *r) {
    const unsigned char *end = memchr(r->cursor, '\n', (size_t)(r->limit - r->cursor));
    r->cursor = end ? end : r->limit;
}

static void block_comment(Reader *r, const unsigned char *open) {
    const unsigned char *end = memmem(r->cursor, (size_t)(r->limit - r->cursor), "*/", 2);
    if (!end)
        wrong(r, range_of(r, open, open + 2), "a comment without its closing '*/'", NULL);
    r->cursor = end ? end + 2 : r->limit;
}

// What other languages have the character for, and this one writes otherwise.
static const char *habit_of(unsigned char c) {
    switch (c) {
    case '^': return "write pow(x, y), or x*x; for bits there is bitxor(a, b)";
    case '~': return "for bits there is bitnot(a)";
    case '#': return "comments begin with '//'";
    case '@': return "a product of matrices is 'sum(k) a[i, k]*b[k, j]'";
    default: return NULL;
    }
}

// Takes the rest of a letter, so that one is reported once.
static void wrong_character(Reader *r, const unsigned char *start) {
    while (r->cursor < r->limit && start[0] >= 0x80 && *r->cursor >= 0x80)
        r->cursor++;
    Range at = range_of(r, start, r->cursor);
    if (start[0] == '&' || start[0] == '|')
        wrong(r, at, "a single '&' or '|' is no operator", "write '&&' or '||'; for bits there are bitand(a, b) and bitor(a, b)");
    else if (start[0] >= 0x80)
        wrong(r, at, "a character outside ASCII in front of no comment or string", "names are made of a-z, A-Z, 0-9 and _");
    else if (start[0] == '?')
        wrong(r, at, "'?' is no operator", "write 'if c then a else b'");
    else if (start[0] == '\'')
        wrong(r, at, "a character literal is no token", "write the number; strings have double quotes");
    else
        wrong(r, at, "a character that no token starts with", habit_of(start[0]));
}

// Behind a number that runs into a name: `0.5f`, `1u`, `2x`.
static void wrong_number(Reader *r, const unsigned char *start) {
    Range at = range_of(r, start, r->cursor);
    const char *text = arena_strndup(r->arena, (const char *)start, (size_t)(r->cursor - start));
    size_t suffix = strlen(text);
    while (suffix > 0 && strchr("fFlLuUhH", text[suffix - 1]))
        suffix--;
    bool typed = text[suffix] && suffix > 0 && strspn(text, "0123456789.") == suffix;
    wrong(r, at, "a number that runs into a name",
          typed ? arena_printf(r->arena, "write %.*s: a literal takes the type of what it meets, or say one, 'f32(%.*s)'", (int)suffix, text, (int)suffix, text)
                : "put a blank between them");
}

// Behind the `for` of a loop or the `if` of a statement as C writes them, up to the end of a body in braces: there is nothing to go
// on with.
static void wrong_statement(Reader *r, const unsigned char *start, const char *what, const char *help) {
    int open = 0;
    bool braces = false;
    const unsigned char *p = r->cursor, *end = r->cursor;
    for (; p < r->limit; p++) {
        if (open == 0 && end > r->cursor && !strchr(" \t\r\n{", *p))
            break;
        braces = open == 0 ? *p == '{' : braces;
        open += *p == '(' || *p == '{';
        if (*p == ')' || *p == '}') {
            if (--open < 0)
                break;
            end = open == 0 ? p + 1 : end;
            if (open == 0 && *p == '}')
                break;
        }
    }
    wrong(r, range_of(r, start, r->cursor), what, help);
    r->excused = !braces;                                      // a body in braces is over: what follows is a statement of its own
    r->cursor = end;
}

static void wrong_loop(Reader *r, const unsigned char *start) {
    wrong_statement(r, start, "an equation has no loops", "write it once, 'y[i] = ...;': it holds for every i, or for those of 'where i in a..b'");
}

// And the branches behind it, each with braces.
static void wrong_choice(Reader *r, const unsigned char *start) {
    wrong_statement(r, start, "a choice is no statement", "it stands on the right: 'y[i] = if c then a else b;'");
    for (;;) {
        const unsigned char *p = r->cursor;
        while (p < r->limit && strchr(" \t\r\n", *p))
            p++;
        const unsigned char *close = p + 4 < r->limit && memcmp(p, "else", 4) == 0 ? memchr(p, '}', (size_t)(r->limit - p)) : NULL;
        if (!close)
            return;
        r->cursor = close + 1;
    }
}

// Whether a bracket opens here, as behind the `for` and `while` of other languages.
static bool at_bracket(const Reader *r) {
    const unsigned char *p = r->cursor;
    while (p < r->limit && (*p == ' ' || *p == '\t'))
        p++;
    return !r->ir && r->in_kernel && p < r->limit && *p == '(';
}

static int stop(Reader *r, const char *what) {
    if (!r->stopped)
        diag_report(r->diags, D_DEPTH, range_of(r, r->cursor - 1, r->cursor), "%s", what);
    r->stopped = true;
    return T_YYEOF;
}

static int open_bracket(Reader *r) {
    if (++r->open > READER_BRACKETS_MAX * (r->ir ? READER_IR_FACTOR : 1))
        return stop(r, "brackets nested too deeply");
    return r->cursor[-1];
}

static int close_bracket(Reader *r) {
    r->open -= r->open > 0;
    return r->cursor[-1];
}

static bool at_statement(const Reader *r) {
    return r->in_kernel && (r->last_token == ';' || r->last_token == '{' || r->last_token == '}');
}

// What begins an item.
static int item(Reader *r, int token) {
    r->in_kernel = token == T_KERNEL;
    return token;
}

// Whether a statement of textual IR starts here.
static bool at_ir_statement(const Reader *r) {
    return r->ir && at_statement(r);
}

// The keywords of textual IR: `ir` in front of everything, the others where a statement starts. Else 0.
static int ir_keyword(Reader *r, const char *text) {
    static const struct { const char *text; int token; } keywords[] = {
        {.text = "dim", .token = T_DIM},     {.text = "tensor", .token = T_TENSOR}, {.text = "equation", .token = T_EQUATION},
        {.text = "store", .token = T_STORE}, {.text = "grid", .token = T_GRID},     {.text = "tile", .token = T_TILE},
        {.text = "after", .token = T_AFTER}, {.text = "local", .token = T_LOCAL},   {.text = "seq", .token = T_SEQ},
        {.text = "map", .token = T_OPERATION},    {.text = "init", .token = T_OPERATION},
        {.text = "update", .token = T_OPERATION}, {.text = "scan", .token = T_OPERATION},
        {.text = "program", .token = T_PROGRAM}, {.text = "task", .token = T_TASK}, {.text = "need", .token = T_NEED},
        {.text = "box", .token = T_BOX},     {.text = "loop", .token = T_DIGITS},  {.text = "bundle", .token = T_BUNDLE},
        {.text = "buffer", .token = T_LINE}, {.text = "token", .token = T_LINE},   {.text = "wait", .token = T_LINE},
        {.text = "signal", .token = T_LINE}, {.text = "read", .token = T_LINE},    {.text = "write", .token = T_LINE},
        {.text = "value", .token = T_LINE},
        {.text = "copy", .token = T_MOVE},   {.text = "gather", .token = T_MOVE},  {.text = "multiply", .token = T_MOVE},
        {.text = "nest", .token = T_MOVE},
    };
    if (r->last_token == 0 && strcmp(text, "ir") == 0) {
        r->ir = true;
        return T_IR;
    }
    for (size_t i = 0; at_ir_statement(r) && i < sizeof keywords / sizeof *keywords; i++)
        if (strcmp(text, keywords[i].text) == 0)
            return keywords[i].token;
    return 0;
}

static int name(Reader *r, const unsigned char *start, SYNTAX_STYPE *value) {
    value->text = arena_strndup(r->arena, (const char *)start, (size_t)(r->cursor - start));
    int keyword = ir_keyword(r, value->text);
    return keyword ? keyword : T_NAME;
}

// `y.sum` in backquotes: names that the compiler made, in textual IR only.
static int quoted_name(Reader *r, const unsigned char *start, SYNTAX_STYPE *value) {
    if (!r->ir)
        wrong(r, range_of(r, start, r->cursor), "a name in backquotes is for textual IR only", NULL);
    value->text = arena_strndup(r->arena, (const char *)start + 1, (size_t)(r->cursor - start) - 2);
    return T_NAME;
}

static int number(Reader *r, const unsigned char *start, SYNTAX_STYPE *value, int base) {
    const char *text = arena_strndup(r->arena, (const char *)start, (size_t)(r->cursor - start));
    Range at = range_of(r, start, r->cursor);
    value->tree = base ? integer(r, text, at, base) : floating(r, text, at);
    return T_NUMBER;
}

static int scan(Reader *r, const unsigned char **begin, SYNTAX_STYPE *value) {
    for (;;) {
        const unsigned char *start = *begin = r->cursor;
        /*!re2c
            [ \t\r\n\f\v]+      { continue; }
            "//"                { line_comment(r); continue; }
            "/*"                { block_comment(r, start); continue; }
            $                   { return T_YYEOF; }

            "kernel"            { return item(r, T_KERNEL); }
            "schedule"          { return item(r, T_SCHEDULE); }
            "strategy"          { return item(r, T_STRATEGY); }
            "machine"           { return item(r, T_MACHINE); }
            "import"            { return T_IMPORT; }
            "view"              { return T_VIEW; }
            "where"             { return T_WHERE; }
            "otherwise"         { return T_OTHERWISE; }
            "in"                { return T_IN; }
            "on"                { return T_ON; }
            "for"               { if (at_bracket(r)) { wrong_loop(r, start); continue; } return at_ir_statement(r) ? T_LOOP : T_FOR; }
            "border"            { return T_BORDER; }
            "if"                { if (at_statement(r) && at_bracket(r)) { wrong_choice(r, start); continue; } return at_ir_statement(r) ? T_WHEN : T_IF; }
            "then"              { return T_THEN; }
            "else"              { if (at_statement(r) && diags_errors(r->diags)) continue; return T_ELSE; }
            name                { return name(r, start, value); }
            "`" [a-zA-Z0-9_.]+ "`"    { return quoted_name(r, start, value); }

            dec                 { return number(r, start, value, 10); }
            hex                 { return number(r, start, value, 16); }
            float               { return number(r, start, value, 0); }
            (dec | float | hex) name {
                wrong_number(r, start);
                value->tree = literal(r, TREE_INT, range_of(r, start, r->cursor));
                return T_NUMBER;
            }
            dec "." / [^.0-9] {
                if (r->last_token == '.') {              // `u.1.i`: a path
                    r->cursor--;
                    return number(r, start, value, 10);
                }
                wrong(r, range_of(r, start, r->cursor), "a float needs digits on both sides of its point",
                      arena_printf(r->arena, "write %.*s0", (int)(r->cursor - start), (const char *)start));
                value->tree = literal(r, TREE_INT, range_of(r, start, r->cursor));
                return T_NUMBER;
            }
            ["]                 { value->text = string(r, start); return T_STRING; }

            "->"                { return T_ARROW; }
            ".."                { return T_UPTO; }
            "..="               { return T_THROUGH; }
            "&&"                { return T_AND; }
            "||"                { return T_OR; }
            "=="                { return T_EQ; }
            "!="                { return T_NE; }
            "<="                { return T_LE; }
            ">="                { return T_GE; }
            [([{]              { return open_bracket(r); }
            [)\]}]              { return close_bracket(r); }
            [-+*/%<>!=,;:.]     { return start[0]; }
            *                   { wrong_character(r, start); continue; }
        */
    }
}

int syntax_lex(SYNTAX_STYPE *value, Range *at, Reader *r) {
    const unsigned char *begin = r->cursor;
    r->last_end = r->token_end;
    int token = r->stopped || diags_full(r->diags) ? T_YYEOF : scan(r, &begin, value);
    r->excused = r->excused && token != ';' && token != '}';
    *at = range_of(r, begin, r->cursor);
    r->token_end = at->end;
    r->last_token = token;
    return token;
}
