// The syntax tree: what the parser builds, names unresolved, nothing typed.
//
// One node type for expressions, one for statements, one for directives. Built in the compilation's arena,
// never changed after parsing. Names are arena strings; compare them with strcmp (interning is sema's business).
#ifndef PTOC_SYNTAX_TREE_H
#define PTOC_SYNTAX_TREE_H

#include "base/arena.h"
#include "base/source.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    TREE_INT,        // 12            ival
    TREE_FLOAT,      // 1.5e-3        text, fval
    TREE_STRING,     // "x"           text (unescaped)
    TREE_NAME,       // a  a.b        text (path joined by '.')
    TREE_INDEX,      // a[e, ...]     text; args = subscripts
    TREE_CALL,       // f(args where conds) [body]   text; args, conds, body (a reduction or scan when body != NULL)
    TREE_UNARY,      // - !           op; args[0]
    TREE_BINARY,     // + - ...       op; args[0], args[1]
    TREE_IF,         // if a then b else c
    // only as an argument, a subscript or a condition:
    TREE_ALL,        // :
    TREE_RANGE,      // a..b  a..=b   args[0], args[1]; closed
    TREE_GROUP,      // (e, e, ...)   args
    TREE_IN,         // e in range    args[0], args[1] (a TREE_RANGE)
    TREE_NAMED,      // name = e      text; args[0]
    TREE_OPERATOR,   // + * && ||     op (the operator of a scan)
    TREE_OTHERWISE,  // otherwise, as a condition
} TreeKind;

typedef enum {
    TOP_ADD, TOP_SUB, TOP_MUL, TOP_DIV, TOP_REM, TOP_EQ, TOP_NE, TOP_LT, TOP_LE, TOP_GT, TOP_GE, TOP_AND, TOP_OR, TOP_NEG, TOP_NOT,
} TreeOp;

enum { TREE_DEPTH_MAX = 1000 };

typedef struct Tree Tree;
typedef VEC(Tree *) TreeList;
struct Tree {
    TreeKind kind;
    Range range;
    TreeOp op;
    bool closed;          // TREE_RANGE: ..=
    bool parens;          // was written in brackets (diagnostics and the printer want to know)
    bool overflow;        // TREE_INT: the literal exceeds 64 bits unsigned
    int depth;            // 1 for a leaf; the parser refuses more than TREE_DEPTH_MAX, so recursion over a tree is safe
    uint64_t ival;
    double fval;
    const char *text;
    Range name_range;     // of the name in calls and indexed reads
    TreeList args, conds;
    Tree *body;
};

typedef struct { const char *kind; Range range; Tree *value; } TreeBorder;          // kind NULL: none; value for const(e)
typedef struct { Tree *extent; TreeBorder border; } TreeDim;                        // extent: expr, TREE_RANGE or TREE_GROUP
typedef VEC(TreeDim) TreeDims;
typedef struct { const char *name; Range range; bool has_dims; TreeDims dims; TreeBorder border; } TreeType;
typedef struct { const char *name; Range range; TreeType type; const char *init; Range init_range; } TreeParam;   // init: outputs, "= C0"
typedef struct { const char *name; Range range; const char *type; Tree *value; } TreeGeneric;
typedef VEC(TreeParam) TreeParams;
typedef VEC(TreeGeneric) TreeGenerics;

typedef enum {
    STMT_DECL,       // u: f32[...];
    STMT_EQUATION,   // y[...] = e tail;   view when `view`; several names when names.n > 1
    STMT_CALL,       // log("...", e) tail;
    STMT_NODE,       // for j in 0..N: parallel { }   and other lines of the tile level and below, in textual IR
} StmtKind;

typedef struct { const char *name; Range range; } TreeName;
typedef VEC(TreeName) TreeNames;
// What a statement of textual IR starts with: `dim` and `tensor` (STMT_DECL), `equation` and the operations of the tile
// level (STMT_EQUATION), the others (STMT_NODE).
typedef struct { const char *keyword, *word, *name; Range range; int origin; } TreeLabel;
typedef struct TreeStmt TreeStmt;
typedef VEC(TreeStmt *) TreeStmts;
struct TreeStmt {
    StmtKind kind;
    Range range;
    bool view;
    TreeNames names;             // STMT_DECL, STMT_EQUATION: the left names. STMT_NODE: its own, if any
    bool has_subs;
    TreeList subs;               // left subscripts. STMT_NODE: arguments
    TreeType type;               // STMT_DECL
    Tree *expr;                  // STMT_EQUATION: right side; STMT_CALL: the call. STMT_NODE: a range or condition
    TreeList conds;              // the tail; a bare `otherwise` tail is one TREE_OTHERWISE. STMT_NODE: `where`
    TreeLabel label;             // textual IR only (ir/print.h)
    bool has_body;
    TreeStmts body;              // STMT_NODE
    const char *note;            // for the printer: lines of comments in front of it; NULL: none
};

typedef struct {
    const char *name; Range name_range, range;
    TreeGenerics generics;
    TreeParams inputs, outputs;
    TreeList where;
    TreeStmts stmts;
} TreeKernel;

// Schedules and machines: one shape for all directives.
typedef enum { WORD_PATH, WORD_NUMBER, WORD_FLOAT, WORD_STRING, WORD_SYMBOL /* .. ..= in on % / - + * */, WORD_GROUP } WordKind;
typedef struct TreeWord TreeWord;
typedef VEC(TreeWord *) TreeWords;
typedef struct { const char *key; Range key_range, range; TreeWords words; } TreeClause;      // key: before '=', or NULL
typedef VEC(TreeClause) TreeClauses;
struct TreeWord { WordKind kind; Range range; const char *text; uint64_t ival; double fval; TreeClauses group; };
typedef struct TreeDirective TreeDirective;
typedef VEC(TreeDirective *) TreeDirectives;
struct TreeDirective {
    const char *name; Range name_range, range;   // "for" for `for path { }`
    bool assign;                                 // NAME = words;  (one clause without a key)
    TreeClauses clauses;
    bool has_block;
    TreeDirectives block;
};

typedef struct {
    const char *kernel, *machine;                // machine NULL: every one
    Range range, kernel_range, machine_range;
    TreeDirectives block;
    int file;                                    // 0: the file of the kernels; n: the n-th file of schedules given with it
} TreeSchedule;
typedef struct { const char *name, *machine; Range range; Tree *pattern; TreeDirectives block; } TreeStrategy;
typedef struct { const char *name; Range range, name_range; TreeDirectives block; } TreeMachine;
typedef struct { const char *path; Range range; } TreeImport;

typedef struct {
    const char *level;           // of textual IR, "task" for `ir task;`; NULL: a .pto file
    const char *machine;         // of textual IR, `on davinci: DDR, L1, L0;`; NULL: of none
    Range machine_range;
    TreeList machine_args;
    VEC(TreeImport) imports;
    VEC(TreeKernel *) kernels;
    VEC(TreeSchedule *) schedules;
    VEC(TreeStrategy *) strategies;
    VEC(TreeMachine *) machines;
} TreeFile;

#endif
