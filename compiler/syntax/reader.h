// What the scanner and the parser share, and the constructors that the grammar's actions call. Private to
// grammar/ and syntax/parse.c. The constructors keep each node's depth and stop the parser when it is too large.
#ifndef PTOC_SYNTAX_READER_H
#define PTOC_SYNTAX_READER_H

#include "base/diag.h"
#include "syntax/tree.h"

// Bounds on nesting. Textual IR has a node for every conversion: it may be a few times deeper than its source.
enum { READER_BRACKETS_MAX = 1000, READER_IR_FACTOR = 4 };

typedef struct {
    Arena *arena;
    Diags *diags;
    const SourceFile *file;
    const unsigned char *cursor, *marker, *limit;
    uint32_t token_end, last_end;      // where the last token and the one before end
    int open;                          // brackets
    bool stopped;                      // something is nested too deeply: the scanner says "end of file", no more errors
    bool ir;                           // the file starts with `ir`: textual IR, with quoted names and a few more keywords
    bool in_kernel;                    // where those keywords start a statement
    int last_token;                    // 0 before the first
    bool excused;                      // a wrong token was reported in this statement: what it leads to is no second mistake
    TreeFile *result;
} Reader;

typedef VEC(char) TreePath;            // "a.b", NUL-terminated in `at`

Tree *build_name(Reader *r, TreeKind kind, Range range, const char *text, Range name_range);
Tree *build_node(Reader *r, TreeKind kind, Range range, Tree *a, Tree *b);     // a, b: args, may be NULL
Tree *build_op(Reader *r, TreeKind kind, TreeOp op, Range range, Tree *a, Tree *b);
Tree *build_if(Reader *r, Range range, Tree *c, Tree *a, Tree *b);
Tree *build_range(Reader *r, Range range, Tree *lo, Tree *hi, bool closed);
Tree *build_list(Reader *r, Tree *t, const TreeList *args, const TreeList *conds);   // sets both; returns t
Tree *build_body(Reader *r, Range range, Tree *call, Tree *body);

TreeList *list_new(Reader *r, Tree *first);                                     // NULL: empty
TreeList *list_add(Reader *r, TreeList *list, Tree *t);
TreePath *path_new(Reader *r, const char *name);
TreePath *path_add(Reader *r, TreePath *path, const char *name);
TreePath *path_add_number(Reader *r, TreePath *path, const Tree *number);   // `u.1`: the second equation of u

TreeWord *build_word(Reader *r, WordKind kind, Range range, const char *text);
TreeWord *build_number_word(Reader *r, const Tree *number);

// A syntax error at a token: `found` is its human name, `expected` the human names of what may stand there
// (the array is used up).
void report_syntax(Reader *r, Range at, const char *found, int n, const char **expected);

#endif
