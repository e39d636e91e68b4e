// The grammar of .pto (Bison); LANGUAGE.md and man/pto.5 describe it. Actions only build nodes (syntax/reader.h).
//
// After a syntax error parsing goes on behind the next ';' or '}' of the body, or at the next item of the file.
// `stmts error` ends a body that was never closed when the next item begins; that needs the lookahead, hence
// `lr.default-reduction consistent`. Lists are left-recursive: the stack grows with nesting only, which the
// scanner bounds.
//
// Test: tests/unit/test_syntax.c
%require "3.8"
%define api.pure full
%define api.prefix {syntax_}
%define api.token.prefix {T_}
%define api.location.type {Range}
%define parse.error custom
%define parse.lac full
%define lr.default-reduction consistent
%expect 0
%locations
%param {Reader *r}

%code requires {
#include "syntax/reader.h"
}

%code provides {
int syntax_lex(SYNTAX_STYPE *value, Range *at, Reader *r);
}

%code {
#include <limits.h>

#define YYMAXDEPTH 100000
#define YYLLOC_DEFAULT(Current, Rhs, N)                                                                  \
    ((Current) = (N) ? (Range){.begin = YYRHSLOC(Rhs, 1).begin, .end = YYRHSLOC(Rhs, N).end}              \
                     : (Range){.begin = YYRHSLOC(Rhs, 0).end, .end = YYRHSLOC(Rhs, 0).end})
#define PUSH(vec, x) VEC_PUSH(r->arena, (vec), (x))

static void syntax_error(const Range *at, Reader *r, const char *text);
static TreeStmt *equation(Reader *r, Range range, TreeName name, const TreeList *subs, Tree *expr, const TreeList *tail);
static TreeStmt *node(Reader *r, Range range, const char *keyword, const TreeName *name, const TreeList *args);
static TreeStmt *block(TreeStmt *node, Tree *expr, const TreeStmts *body);
static TreeDirective *directive(Reader *r, Range range, TreeName name, const TreeClauses *clauses, const TreeDirectives *block);
static TreeClauses *assigned(Reader *r, Range range, const TreeWords *words);
static TreeKernel *kernel(Reader *r, Range range, TreeKernel head, const TreeStmts *stmts);
}

%union {
    const char *text;
    bool closed;
    int origin;
    Tree *tree;
    TreeList *list;
    TreePath *path;
    TreeBorder border;
    TreeDim *dim;
    TreeDims *dims;
    TreeType *type;
    TreeParam *param;
    TreeParams *params;
    TreeGeneric *generic;
    TreeGenerics *generics;
    TreeStmt *stmt;
    TreeStmts *stmts;
    TreeKernel *kernel;
    TreeName name;
    TreeWord *word;
    TreeWords *words;
    TreeClause *clause;
    TreeClauses *clauses;
    TreeDirective *dir;
    TreeDirectives *dirs;
}

%token YYEOF 0 "end of file"
%token KERNEL "'kernel'" SCHEDULE "'schedule'" STRATEGY "'strategy'" MACHINE "'machine'" IMPORT "'import'"
%token VIEW "'view'" WHERE "'where'" OTHERWISE "'otherwise'" IN "'in'" ON "'on'" FOR "'for'" BORDER "'border'"
%token IF "'if'" THEN "'then'" ELSE "'else'"
%token IR "'ir'" DIM "'dim'" TENSOR "'tensor'" EQUATION "'equation'"
%token PROGRAM "'program'" TASK "'task'" NEED "'need'" BOX "'box'" DIGITS "'loop'" BUNDLE "'bundle'"
%token STORE "'store'" GRID "'grid'" TILE "'tile'" AFTER "'after'" LOCAL "'local'" LOOP "a loop" WHEN "a condition" SEQ "'seq'"
%token ARROW "'->'" UPTO "'..'" THROUGH "'..='"
%token AND "'&&'" OR "'||'" EQ "'=='" NE "'!='" LE "'<='" GE "'>='"
%token <text> NAME "a name" STRING "a string" OPERATION "an operation" LINE "a line" MOVE "an operation of a unit"
%token <tree> NUMBER "a number"

%left OR
%left AND
%nonassoc EQ NE '<' '>' LE GE
%left '+' '-'
%precedence BODY
%left '*' '/' '%'
%precedence UNARY

%type <path> path opt_on
%type <tree> expr e prim call body sub dim_extent range group arg cond value
%type <list> subs opt_args args attributes conds tail opt_where es
%type <closed> upto
%type <border> opt_border kind
%type <dim> dim
%type <dims> dims
%type <type> type
%type <param> param out
%type <params> params opt_params outs
%type <generic> generic
%type <generics> generics opt_generics
%type <stmt> stmt ir_stmt ir_node move_node eq names
%type <text> opt_word
%type <origin> origin
%type <stmts> stmts
%type <kernel> head
%type <name> name
%type <word> word
%type <words> words
%type <clause> clause
%type <clauses> clauses
%type <dir> dir
%type <dirs> dirs block body_block

%%

file: items;

items:
    %empty
  | items item
  | items error
  ;

item:
    IR NAME ';'                            { r->result->level = $2; }     // the scanner knows it at the start only
  | IR NAME ';' ON NAME attributes ';' {
        r->result->level = $2;
        r->result->machine = $5;
        r->result->machine_range = @5;
        r->result->machine_args = *$6;
    }
  | IMPORT path ';'                        { PUSH(&r->result->imports, ((TreeImport){.path = $2->at, .range = @$})); }
  | head '{' stmts end                     { PUSH(&r->result->kernels, kernel(r, @$, *$1, $3)); }
  | KERNEL error '{' stmts end
  | SCHEDULE path opt_on body_block {
        TreeSchedule *s = ARENA_NEW(r->arena, TreeSchedule);
        *s = (TreeSchedule){.kernel = $2->at, .machine = $3 ? $3->at : NULL, .range = @$, .kernel_range = @2, .machine_range = @3, .block = *$4};
        PUSH(&r->result->schedules, s);
    }
  | STRATEGY NAME opt_on FOR e body_block {
        TreeStrategy *s = ARENA_NEW(r->arena, TreeStrategy);
        *s = (TreeStrategy){.name = $2, .machine = $3 ? $3->at : NULL, .range = @$, .pattern = $5, .block = *$6};
        PUSH(&r->result->strategies, s);
    }
  | MACHINE NAME body_block {
        TreeMachine *m = ARENA_NEW(r->arena, TreeMachine);
        *m = (TreeMachine){.name = $2, .range = @$, .name_range = @2, .block = *$3};
        PUSH(&r->result->machines, m);
    }
  ;

// The end of a body; `error` alone when it was never closed.
end:
    '}'
  | error '}'
  | error
  ;

opt_on:
    %empty                                 { $$ = NULL; }
  | ON path                                { $$ = $2; @$ = @2; }
  ;

// ---- kernels ----

head:
    KERNEL NAME opt_generics '(' opt_params ')' ARROW '(' outs ')' opt_where {
        $$ = ARENA_NEW(r->arena, TreeKernel);
        *$$ = (TreeKernel){.name = $2, .name_range = @2, .range = @$, .generics = *$3, .inputs = *$5, .outputs = *$9, .where = *$11};
    }
  ;

opt_generics:
    %empty                                 { $$ = ARENA_NEW(r->arena, TreeGenerics); }
  | '<' generics '>'                       { $$ = $2; }
  ;
generics:
    generic                                { $$ = ARENA_NEW(r->arena, TreeGenerics); PUSH($$, *$1); }
  | generics ',' generic                   { $$ = $1; PUSH($$, *$3); }
  ;
generic:
    NAME ':' NAME value {
        $$ = ARENA_NEW(r->arena, TreeGeneric);
        *$$ = (TreeGeneric){.name = $1, .range = @1, .type = $3, .value = $4};
    }
  ;
value:
    %empty                                 { $$ = NULL; }
  | '=' NUMBER                             { $$ = $2; }
  | '=' '-' NUMBER                         { $$ = build_op(r, TREE_UNARY, TOP_NEG, range_join(@2, @3), $3, NULL); }
  | '=' NAME                               { $$ = build_name(r, TREE_NAME, @2, $2, @2); }
  ;

opt_params:
    %empty                                 { $$ = ARENA_NEW(r->arena, TreeParams); }
  | params
  ;
params:
    param                                  { $$ = ARENA_NEW(r->arena, TreeParams); PUSH($$, *$1); }
  | params ',' param                       { $$ = $1; PUSH($$, *$3); }
  ;
outs:
    out                                    { $$ = ARENA_NEW(r->arena, TreeParams); PUSH($$, *$1); }
  | outs ',' out                           { $$ = $1; PUSH($$, *$3); }
  ;
param:
    NAME ':' type                          { $$ = ARENA_NEW(r->arena, TreeParam); *$$ = (TreeParam){.name = $1, .range = @1, .type = *$3}; }
  ;
out:
    param
  | param '=' NAME                         { $$ = $1; $$->init = $3; $$->init_range = @3; }
  ;

type:
    NAME                                   { $$ = ARENA_NEW(r->arena, TreeType); *$$ = (TreeType){.name = $1, .range = @$}; }
  | NAME '[' dims ']' opt_border {
        $$ = ARENA_NEW(r->arena, TreeType);
        *$$ = (TreeType){.name = $1, .range = @$, .has_dims = true, .dims = *$3, .border = $5};
    }
  ;
dims:
    dim                                    { $$ = ARENA_NEW(r->arena, TreeDims); PUSH($$, *$1); }
  | dims ',' dim                           { $$ = $1; PUSH($$, *$3); }
  ;
dim:
    dim_extent opt_border                  { $$ = ARENA_NEW(r->arena, TreeDim); *$$ = (TreeDim){.extent = $1, .border = $2}; }
  ;
dim_extent: e | range | group;
opt_border:
    %empty                                 { $$ = (TreeBorder){.kind = NULL}; }
  | BORDER kind                            { $$ = $2; }
  ;
kind:
    NAME                                   { $$ = (TreeBorder){.kind = $1, .range = @$}; }
  | NAME '(' expr ')'                      { $$ = (TreeBorder){.kind = $1, .range = @$, .value = $3}; }
  ;

// ---- statements ----

stmts:
    %empty                                 { $$ = ARENA_NEW(r->arena, TreeStmts); }
  | stmts stmt                             { $$ = $1; PUSH($$, $2); }
  | stmts error ';'                        { $$ = $1; yyerrok; }
  ;
stmt:
    name ':' type ';' {
        $$ = ARENA_NEW(r->arena, TreeStmt);
        *$$ = (TreeStmt){.kind = STMT_DECL, .range = @$, .type = *$3};
        PUSH(&$$->names, $1);
    }
  | eq ';'                                 { $$ = $1; $$->range = @$; }
  | VIEW eq ';'                            { $$ = $2; $$->range = @$; $$->view = true; }
  | ir_stmt
  | name '(' opt_args ')' tail ';' {
        $$ = ARENA_NEW(r->arena, TreeStmt);
        Tree *call = build_list(r, build_name(r, TREE_CALL, range_join(@1, @4), $1.name, @1), $3, NULL);
        *$$ = (TreeStmt){.kind = STMT_CALL, .range = @$, .expr = call, .conds = *$5};
        PUSH(&$$->names, $1);
    }
  ;
// Textual IR only: the scanner knows their keywords nowhere else.
ir_stmt:
    DIM name ':' type ';' {
        $$ = ARENA_NEW(r->arena, TreeStmt);
        *$$ = (TreeStmt){.kind = STMT_DECL, .range = @$, .type = *$4, .label = {.keyword = "dim", .range = @1}};
        PUSH(&$$->names, $2);
    }
  | TENSOR name NAME ':' type ';' {
        $$ = ARENA_NEW(r->arena, TreeStmt);
        *$$ = (TreeStmt){.kind = STMT_DECL, .range = @$, .type = *$5, .label = {.keyword = "tensor", .word = $3, .range = @3}};
        PUSH(&$$->names, $2);
    }
  | EQUATION name NAME origin ':' eq ';' {
        $$ = $6;
        $$->range = @$;
        $$->label = (TreeLabel){.keyword = "equation", .word = $3, .name = $2.name, .range = range_join(@2, @4), .origin = $4};
    }
  | ir_node
  ;
// The tile level.
ir_node:
    STORE name NAME origin ';'             { $$ = node(r, @$, "store", &$2, NULL); $$->label.word = $3; $$->label.origin = $4; }
  | STORE name NAME origin ':' args ';'    { $$ = node(r, @$, "store", &$2, $6); $$->label.word = $3; $$->label.origin = $4; }
  | LOCAL args ';'                         { $$ = node(r, @$, "local", NULL, $2); }
  | AFTER args ';'                         { $$ = node(r, @$, "after", NULL, $2); }
  | TILE name IN range ':' range ',' expr ';' { $$ = node(r, @$, "tile", &$2, list_add(r, list_new(r, $6), $8)); $$->expr = $4; }
  | GRID ':' args '{' stmts '}'            { $$ = block(node(r, @$, "grid", NULL, $3), NULL, $5); }
  | GRID name ':' args '{' stmts '}'       { $$ = block(node(r, @$, "grid", &$2, $4), NULL, $6); }
  | LOOP name IN range ':' args '{' stmts '}' { $$ = block(node(r, @$, "for", &$2, $6), $4, $8); }
  | SEQ '{' stmts '}'                      { $$ = block(node(r, @$, "seq", NULL, NULL), NULL, $3); }
  | WHEN e '{' stmts '}'                   { $$ = block(node(r, @$, "if", NULL, NULL), $2, $4); }
  | OPERATION name opt_word ':' eq ';' {
        $$ = $5;
        $$->range = @$;
        $$->label = (TreeLabel){.keyword = $1, .word = $3, .name = $2.name, .range = @2};
    }
  | move_node
  ;
// The move level: what a task is on a machine of bundles.
move_node:
    PROGRAM opt_where '{' stmts '}'        { $$ = block(node(r, @$, "program", NULL, NULL), NULL, $4); $$->conds = *$2; }
  | TASK attributes '{' stmts '}'          { $$ = block(node(r, @$, "task", NULL, $2), NULL, $4); }
  | TASK name attributes '{' stmts '}'     { $$ = block(node(r, @$, "task", &$2, $3), NULL, $5); }
  | NEED args ';'                          { $$ = node(r, @$, "need", NULL, $2); }
  | BOX range ':' args ';'                 { $$ = node(r, @$, "box", NULL, $4); $$->expr = $2; }
  | LINE name opt_on attributes ';'        { $$ = node(r, @$, $1, &$2, $4); $$->label.word = $3 ? $3->at : NULL; }
  | DIGITS ':' args '{' stmts '}'          { $$ = block(node(r, @$, "loop", NULL, $3), NULL, $5); }
  | BUNDLE attributes '{' stmts '}'        { $$ = block(node(r, @$, "bundle", NULL, $2), NULL, $4); }
  | MOVE name ON NAME attributes '{' stmts '}' { $$ = block(node(r, @$, $1, &$2, $5), NULL, $7); $$->label.word = $4; }
  ;
attributes:
    %empty                                 { $$ = list_new(r, NULL); }
  | ':' args                               { $$ = $2; }
  ;
opt_word:
    %empty                                 { $$ = NULL; }
  | NAME
  ;
origin:
    NUMBER                                 { $$ = $1->ival > INT_MAX ? INT_MAX : (int)$1->ival; }
  | '-' NUMBER                             { $$ = -1; }
  ;
name: NAME                                 { $$ = (TreeName){.name = $1, .range = @1}; };
eq:
    name '=' expr tail                     { $$ = equation(r, @$, $1, NULL, $3, $4); }
  | name '[' subs ']' '=' expr tail        { $$ = equation(r, @$, $1, $3, $6, $7); }
  | names '=' expr                         { $$ = $1; $$->expr = $3; }
  ;
names:
    name ',' name                          { $$ = equation(r, @$, $1, NULL, NULL, NULL); PUSH(&$$->names, $3); }
  | names ',' name                         { $$ = $1; PUSH(&$$->names, $3); }
  ;
tail:
    opt_where
  | OTHERWISE                              { $$ = list_new(r, build_node(r, TREE_OTHERWISE, @1, NULL, NULL)); }
  ;
opt_where:
    %empty                                 { $$ = list_new(r, NULL); }
  | WHERE conds                            { $$ = $2; }
  ;
conds:
    cond                                   { $$ = list_new(r, $1); }
  | conds ',' cond                         { $$ = list_add(r, $1, $3); }
  ;
cond:
    e
  | e IN range                             { $$ = build_node(r, TREE_IN, @$, $1, $3); }
  | OTHERWISE                              { $$ = build_node(r, TREE_OTHERWISE, @$, NULL, NULL); }
  ;

subs:
    sub                                    { $$ = list_new(r, $1); }
  | subs ',' sub                           { $$ = list_add(r, $1, $3); }
  ;
sub:
    expr
  | ':'                                    { $$ = build_node(r, TREE_ALL, @$, NULL, NULL); }
  | range
  | group
  ;
range: e upto e                            { $$ = build_range(r, @$, $1, $3, $2); };
upto:
    UPTO                                   { $$ = false; }
  | THROUGH                                { $$ = true; }
  ;
group: '(' es ')'                          { $$ = build_list(r, build_node(r, TREE_GROUP, @$, NULL, NULL), $2, NULL); };
es:
    e ',' e                                { $$ = list_add(r, list_new(r, $1), $3); }
  | es ',' e                               { $$ = list_add(r, $1, $3); }
  ;

// ---- expressions ----

expr:
    e
  | IF expr THEN expr ELSE expr            { $$ = build_if(r, @$, $2, $4, $6); }
  ;
e:
    prim
  | call body %prec BODY                   { $$ = build_body(r, @$, $1, $2); }
  | e OR e                                 { $$ = build_op(r, TREE_BINARY, TOP_OR, @$, $1, $3); }
  | e AND e                                { $$ = build_op(r, TREE_BINARY, TOP_AND, @$, $1, $3); }
  | e EQ e                                 { $$ = build_op(r, TREE_BINARY, TOP_EQ, @$, $1, $3); }
  | e NE e                                 { $$ = build_op(r, TREE_BINARY, TOP_NE, @$, $1, $3); }
  | e '<' e                                { $$ = build_op(r, TREE_BINARY, TOP_LT, @$, $1, $3); }
  | e '>' e                                { $$ = build_op(r, TREE_BINARY, TOP_GT, @$, $1, $3); }
  | e LE e                                 { $$ = build_op(r, TREE_BINARY, TOP_LE, @$, $1, $3); }
  | e GE e                                 { $$ = build_op(r, TREE_BINARY, TOP_GE, @$, $1, $3); }
  | e '+' e                                { $$ = build_op(r, TREE_BINARY, TOP_ADD, @$, $1, $3); }
  | e '-' e                                { $$ = build_op(r, TREE_BINARY, TOP_SUB, @$, $1, $3); }
  | e '*' e                                { $$ = build_op(r, TREE_BINARY, TOP_MUL, @$, $1, $3); }
  | e '/' e                                { $$ = build_op(r, TREE_BINARY, TOP_DIV, @$, $1, $3); }
  | e '%' e                                { $$ = build_op(r, TREE_BINARY, TOP_REM, @$, $1, $3); }
  | '-' e %prec UNARY                      { $$ = build_op(r, TREE_UNARY, TOP_NEG, @$, $2, NULL); }
  | '!' e %prec UNARY                      { $$ = build_op(r, TREE_UNARY, TOP_NOT, @$, $2, NULL); }
  ;
body:
    prim
  | call body %prec BODY                   { $$ = build_body(r, @$, $1, $2); }
  | body '*' e                             { $$ = build_op(r, TREE_BINARY, TOP_MUL, @$, $1, $3); }
  | body '/' e                             { $$ = build_op(r, TREE_BINARY, TOP_DIV, @$, $1, $3); }
  | body '%' e                             { $$ = build_op(r, TREE_BINARY, TOP_REM, @$, $1, $3); }
  ;
prim:
    NUMBER
  | STRING                                 { $$ = build_name(r, TREE_STRING, @$, $1, @1); }
  | path                                   { $$ = build_name(r, TREE_NAME, @$, $1->at, @1); }
  | path '[' subs ']'                      { $$ = build_list(r, build_name(r, TREE_INDEX, @$, $1->at, @1), $3, NULL); }
  | call
  | '(' expr ')'                           { $$ = $2; $$->parens = true; $$->range = @$; }
  ;
call:
    path '(' opt_args ')'                  { $$ = build_list(r, build_name(r, TREE_CALL, @$, $1->at, @1), $3, NULL); }
  | path '(' args WHERE conds ')'          { $$ = build_list(r, build_name(r, TREE_CALL, @$, $1->at, @1), $3, $5); }
  ;
opt_args:
    %empty                                 { $$ = list_new(r, NULL); }
  | args
  ;
args:
    arg                                    { $$ = list_new(r, $1); }
  | args ',' arg                           { $$ = list_add(r, $1, $3); }
  ;
arg:
    expr
  | e IN range                             { $$ = build_node(r, TREE_IN, @$, $1, $3); }
  | NAME '=' expr                          { $$ = build_node(r, TREE_NAMED, @$, $3, NULL); $$->text = $1; $$->name_range = @1; }
  | '+'                                    { $$ = build_op(r, TREE_OPERATOR, TOP_ADD, @$, NULL, NULL); }
  | '*'                                    { $$ = build_op(r, TREE_OPERATOR, TOP_MUL, @$, NULL, NULL); }
  | AND                                    { $$ = build_op(r, TREE_OPERATOR, TOP_AND, @$, NULL, NULL); }
  | OR                                     { $$ = build_op(r, TREE_OPERATOR, TOP_OR, @$, NULL, NULL); }
  ;
path:
    NAME                                   { $$ = path_new(r, $1); }
  | path '.' NAME                          { $$ = path_add(r, $1, $3); }
  | path '.' NUMBER                        { $$ = path_add_number(r, $1, $3); }
  ;

// ---- schedules and machines: one shape for all directives ----

body_block: '{' dirs end                   { $$ = $2; };
block:
    '{' dirs '}'                           { $$ = $2; }
  | '{' dirs error '}'                     { $$ = $2; yyerrok; }
  ;
dirs:
    %empty                                 { $$ = ARENA_NEW(r->arena, TreeDirectives); }
  | dirs dir                               { $$ = $1; PUSH($$, $2); }
  | dirs error ';'                         { $$ = $1; yyerrok; }
  ;
dir:
    name ';'                               { $$ = directive(r, @$, $1, NULL, NULL); }
  | name block                             { $$ = directive(r, @$, $1, NULL, $2); }
  | name clauses ';'                       { $$ = directive(r, @$, $1, $2, NULL); }
  | name clauses block                     { $$ = directive(r, @$, $1, $2, $3); }
  | name '=' words ';'                     { $$ = directive(r, @$, $1, assigned(r, @3, $3), NULL); $$->assign = true; }
  | FOR path block {
        TreeWords *words = ARENA_NEW(r->arena, TreeWords);
        PUSH(words, build_word(r, WORD_PATH, @2, $2->at));
        $$ = directive(r, @$, (TreeName){.name = "for", .range = @1}, assigned(r, @2, words), $3);
    }
  ;
clauses:
    clause                                 { $$ = ARENA_NEW(r->arena, TreeClauses); PUSH($$, *$1); }
  | clauses ',' clause                     { $$ = $1; PUSH($$, *$3); }
  ;
clause:
    words                                  { $$ = ARENA_NEW(r->arena, TreeClause); *$$ = (TreeClause){.range = @$, .words = *$1}; }
  | path '=' words {
        $$ = ARENA_NEW(r->arena, TreeClause);
        *$$ = (TreeClause){.key = $1->at, .key_range = @1, .range = @$, .words = *$3};
    }
  ;
words:
    word                                   { $$ = ARENA_NEW(r->arena, TreeWords); PUSH($$, $1); }
  | words word                             { $$ = $1; PUSH($$, $2); }
  ;
word:
    path                                   { $$ = build_word(r, WORD_PATH, @$, $1->at); }
  | NUMBER                                 { $$ = build_number_word(r, $1); }
  | STRING                                 { $$ = build_word(r, WORD_STRING, @$, $1); }
  | UPTO                                   { $$ = build_word(r, WORD_SYMBOL, @$, ".."); }
  | THROUGH                                { $$ = build_word(r, WORD_SYMBOL, @$, "..="); }
  | IN                                     { $$ = build_word(r, WORD_SYMBOL, @$, "in"); }
  | ON                                     { $$ = build_word(r, WORD_SYMBOL, @$, "on"); }
  | '%'                                    { $$ = build_word(r, WORD_SYMBOL, @$, "%"); }
  | '/'                                    { $$ = build_word(r, WORD_SYMBOL, @$, "/"); }
  | '-'                                    { $$ = build_word(r, WORD_SYMBOL, @$, "-"); }
  | '+'                                    { $$ = build_word(r, WORD_SYMBOL, @$, "+"); }
  | '*'                                    { $$ = build_word(r, WORD_SYMBOL, @$, "*"); }
  | '(' clauses ')'                        { $$ = build_word(r, WORD_GROUP, @$, NULL); $$->group = *$2; }
  ;

%%

static TreeStmt *equation(Reader *r, Range range, TreeName name, const TreeList *subs, Tree *expr, const TreeList *tail) {
    TreeStmt *s = ARENA_NEW(r->arena, TreeStmt);
    *s = (TreeStmt){.kind = STMT_EQUATION, .range = range, .has_subs = subs != NULL, .expr = expr};
    VEC_PUSH(r->arena, &s->names, name);
    if (subs)
        s->subs = *subs;
    if (tail)
        s->conds = *tail;
    return s;
}

static TreeStmt *node(Reader *r, Range range, const char *keyword, const TreeName *name, const TreeList *args) {
    TreeStmt *s = ARENA_NEW(r->arena, TreeStmt);
    *s = (TreeStmt){.kind = STMT_NODE, .range = range, .label = {.keyword = keyword, .range = range}};
    if (name)
        VEC_PUSH(r->arena, &s->names, *name);
    if (args)
        s->subs = *args;
    return s;
}

static TreeStmt *block(TreeStmt *s, Tree *expr, const TreeStmts *body) {
    s->expr = expr;
    s->has_body = true;
    s->body = *body;
    return s;
}

static TreeDirective *directive(Reader *r, Range range, TreeName name, const TreeClauses *clauses, const TreeDirectives *block) {
    TreeDirective *d = ARENA_NEW(r->arena, TreeDirective);
    *d = (TreeDirective){.name = name.name, .name_range = name.range, .range = range, .has_block = block != NULL};
    if (clauses)
        d->clauses = *clauses;
    if (block)
        d->block = *block;
    return d;
}

// The one clause of `name = words` and of `for path`.
static TreeClauses *assigned(Reader *r, Range range, const TreeWords *words) {
    TreeClauses *clauses = ARENA_NEW(r->arena, TreeClauses);
    VEC_PUSH(r->arena, clauses, ((TreeClause){.range = range, .words = *words}));
    return clauses;
}

static TreeKernel *kernel(Reader *r, Range range, TreeKernel head, const TreeStmts *stmts) {
    TreeKernel *k = ARENA_NEW(r->arena, TreeKernel);
    *k = head;
    k->range = range;
    k->stmts = *stmts;
    return k;
}

// Bison calls this when its stack is full; syntax errors go through yyreport_syntax_error.
static void syntax_error(const Range *at, Reader *r, const char *text) {
    (void)text;
    if (!r->stopped)
        diag_report(r->diags, D_DEPTH, *at, "an expression nested too deeply");
    r->stopped = true;
}

static int yyreport_syntax_error(const yypcontext_t *context, Reader *r) {
    yysymbol_kind_t kinds[YYNTOKENS];
    const char *names[YYNTOKENS];
    int n = yypcontext_expected_tokens(context, kinds, YYNTOKENS);
    if (n < 0)
        return n;
    for (int i = 0; i < n; i++)
        names[i] = yysymbol_name(kinds[i]);
    report_syntax(r, *yypcontext_location(context), yysymbol_name(yypcontext_token(context)), n, names);
    return 0;
}
