// The parser and the printer of the tree: whole programs round-trip, errors are found one by one with useful texts,
// and no text of any kind makes the parser crash, hang or take more than linear time.
#include "syntax/parse.h"
#include "syntax/print.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

Suite *suite_syntax(void);

// One parsed text: `tree` (may be NULL) and the diagnostics as text.
typedef struct {
    Arena *arena;
    Sources sources;
    TreeFile *tree;
    int errors;
    char *messages;
} Parsed;

static Parsed parse_bytes(const char *text, size_t size) {
    Parsed p = {.arena = arena_new()};
    p.sources.arena = p.arena;
    size_t n;
    FILE *out = open_memstream(&p.messages, &n);
    Diags *d = diags_new(p.arena, &p.sources, out);
    p.tree = parse_file(p.arena, d, source_add(&p.sources, "t.pto", text, size));
    p.errors = diags_errors(d);
    diags_finish(d);
    fclose(out);
    return p;
}

static Parsed parse(const char *text) {
    return parse_bytes(text, strlen(text));
}

static void drop(Parsed *p) {
    free(p->messages);
    arena_free(p->arena);
}

static char *printed(const TreeFile *t) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    tree_print(out, t);
    fclose(out);
    return text;
}

// A file next to this one.
static char *read_file(const char *name) {
    char path[512];
    const char *slash = strrchr(__FILE__, '/');
    snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - __FILE__ + 1) : 0, __FILE__, name);
    FILE *in = fopen(path, "rb");
    ck_assert_msg(in != NULL, "cannot read %s: run from the top of the tree", path);
    char *text = calloc(1, 1 << 16);
    size_t n = fread(text, 1, (1 << 16) - 1, in);
    ck_assert_uint_gt(n, 0);
    fclose(in);
    return text;
}

static void check_round_trip(const char *text) {
    Parsed p = parse(text);
    ck_assert_msg(p.errors == 0 && p.tree, "%s", p.messages);
    char *once = printed(p.tree);
    Parsed q = parse(once);
    ck_assert_msg(q.errors == 0 && q.tree, "%s", q.messages);
    char *twice = printed(q.tree);
    ck_assert_str_eq(once, twice);
    free(once);
    free(twice);
    drop(&p);
    drop(&q);
}

START_TEST(programs_round_trip) {
    static const char *const files[] = {"trial.pto", "language.pto"};
    char *text = read_file(files[_i]);
    check_round_trip(text);
    free(text);
}
END_TEST

// ---- the shape of trees ----

// The printed form of one expression.
static const struct { const char *text, *canonical; } expressions[] = {
    {"a+b*c", "a + b * c"},
    {"sum(k) a*b + c", "sum(k) a * b + c"},
    {"sum(k) (a*b + c)", "sum(k) (a * b + c)"},
    {"x*sum(k) a*b+c", "x * sum(k) a * b + c"},
    {"(x*sum(k) a)*b", "(x * sum(k) a) * b"},
    {"-sum(k) a*b", "-(sum(k) a * b)"},
    {"a-(b-c)", "a - (b - c)"},
    {"-a*b", "-a * b"},
    {"x[1..n-1, :, (h,d)]", "x[1..n - 1, :, (h, d)]"},
    {"scan(+,j,exclusive) t[j]", "scan(+, j, exclusive) t[j]"},
    {"if a<b && c then 1 else 0x10", "if a < b && c then 1 else 16"},
    {"max(i, j in 0..=i where i != j) e", "max(i, j in 0..=i where i != j) e"},
    {"\"\\x41\\n\\xff\"", "\"A\\n\\xff\""},
};

START_TEST(expressions_print) {
    char text[256], want[256];
    snprintf(text, sizeof text, "kernel k() -> (y: f32) { y = %s; }", expressions[_i].text);
    snprintf(want, sizeof want, "kernel k() -> (y: f32) {\n    y = %s;\n}\n", expressions[_i].canonical);
    Parsed p = parse(text);
    ck_assert_msg(p.tree != NULL, "%s", p.messages);
    char *got = printed(p.tree);
    ck_assert_str_eq(got, want);
    free(got);
    drop(&p);
}
END_TEST

START_TEST(trees_have_shape_and_ranges) {
    const char *text = "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = 2*sum(j in 0..i) x[j] where i > 0, otherwise; }";
    Parsed p = parse(text);
    ck_assert_ptr_nonnull(p.tree);
    const TreeStmt *s = p.tree->kernels.at[0]->stmts.at[0];
    ck_assert_int_eq(s->kind, STMT_EQUATION);
    ck_assert_int_eq(s->conds.n, 2);
    ck_assert_int_eq(s->conds.at[1]->kind, TREE_OTHERWISE);
    ck_assert_int_eq(s->expr->kind, TREE_BINARY);
    const Tree *sum = s->expr->args.at[1];
    ck_assert_int_eq(sum->kind, TREE_CALL);
    ck_assert_ptr_nonnull(sum->body);
    ck_assert_int_eq(sum->args.at[0]->kind, TREE_IN);
    uint32_t base = p.sources.files.at[0]->base;
    ck_assert_int_eq(strncmp(text + (sum->range.begin - base), "sum(j in 0..i) x[j]", sum->range.end - sum->range.begin), 0);
    ck_assert_uint_eq(sum->range.end - sum->range.begin, strlen("sum(j in 0..i) x[j]"));
    ck_assert_uint_eq(sum->name_range.end - sum->name_range.begin, 3);
    drop(&p);
}
END_TEST

START_TEST(machines_are_words) {
    Parsed p = parse("machine m { unit c { shape = 4 x 4 x 1; port = L0 512 GB/s; } }");
    ck_assert_ptr_nonnull(p.tree);
    const TreeDirective *unit = p.tree->machines.at[0]->block.at[0];
    ck_assert_str_eq(unit->name, "unit");
    ck_assert(unit->has_block);
    const TreeDirective *shape = unit->block.at[0];
    ck_assert(shape->assign);
    ck_assert_int_eq(shape->clauses.n, 1);
    ck_assert_int_eq(shape->clauses.at[0].words.n, 5);
    ck_assert_int_eq((int)shape->clauses.at[0].words.at[2]->ival, 4);
    drop(&p);
}
END_TEST

// ---- errors ----

static const struct { const char *text; int errors; const char *message; } faults[] = {
    {"kernel k() -> (y: f32) { y = 1 +; y = 2 }", 2, "t.pto:1:33: error: unexpected ';': expected an expression [syntax]"},
    {"kernel k() -> (y: f32) { y = ; z = ; y = 1; }\nschedule k { tile = = 2; x y }\nkernel z", 5, "t.pto:2:21: error: unexpected '='"},
    {"kernel k() -> (y: f32) { y = a < b < c; }", 1, "help: comparisons do not chain"},
    {"kernel k() -> (y: f32) { y = 1\n y = 2; }", 1, "t.pto:1:30: error: unexpected 'y' on the next line"},
    {"kernel k() -> (y: f32) { y = 1;\nkernel l() -> (y: f32) { y = ; }", 2, "help: a '}' is missing in front of it"},
    {"kernel k() -> (y: f32) { in = 1; }", 1, "help: 'in' is a reserved word"},
    {"kernel k(x: f32[N]) { y = 1; }", 1, "help: a kernel names its outputs"},
    {"kernel k(x: f32[) -> (y: f32) { y = ; }", 2, "t.pto:1:17: error: unexpected ')'"},
    {"kernel k() -> (y: f32) { y = a & b; }", 1, "help: write '&&' or '||'"},
    {"kernel k() -> (y: f32) { y = 4x; }", 1, "a number that runs into a name [character]"},
    {"kernel k() -> (y: f32) { y = h\xc3\xb6; }", 1, "outside ASCII"},
    {"kernel k() -> (y: f32) { log(\"abc); }", 1, "a string without its closing '\"' [character]"},
    {"kernel k() -> (y: f32) { log(\"a\\qc\"); }", 1, "an unknown escape in a string [character]"},
    {"kernel k() -> (y: f32) { log(\"a\xff\"); }", 1, "strings are UTF-8"},
    {"kernel k() -> (y: f32) { y = 1e999; }", 1, "beyond the largest f64 [literal]"},
    {"kernel k() -> (y: f32) { `y.0` = 1; }", 1, "for textual IR only [character]"},
    {"machine m { x = 99999999999999999999; }", 1, "exceeds 64 bits [literal]"},
    {"kernel k() -> (y: f32) { y = 1; } /* open", 1, "a comment without its closing '*/' [character]"},
    {"kernel k() -> (y: f32) { y[1 = 1; }", 1, "[syntax]"},
    {"garbage ( ] } kernel k() -> (y: f32) { y = ; }", 2, "expected 'kernel'"},
    {"module { func.func @f() { } }", 1, "this file is MLIR, not the .pto tiling language [not-pto]"},
    {"// RUN: pto-opt %s\n#map = affine_map<()>", 1, "[not-pto]"},
    {"// a comment\n%0 = arith.constant 1 : index", 1, "[not-pto]"},
    {"// RUN: ptoc %s\nkernel k() -> (y: f32) { y = 1; }", 0, ""},
};

START_TEST(errors_are_told) {
    Parsed p = parse(faults[_i].text);
    ck_assert_msg(p.errors == faults[_i].errors, "%d errors in: %s\n%s", p.errors, faults[_i].text, p.messages);
    ck_assert_msg(strstr(p.messages, faults[_i].message) != NULL, "no '%s' in:\n%s", faults[_i].message, p.messages);
    drop(&p);
}
END_TEST

START_TEST(a_nul_is_an_error) {
    Parsed p = parse_bytes("kernel\0k", 8);
    ck_assert_int_eq(p.errors, 1);
    ck_assert_ptr_null(p.tree);
    drop(&p);
}
END_TEST

START_TEST(odd_files_are_fine) {
    static const char *const texts[] = {"", "\n\n", "// only a comment", "\xef\xbb\xbfimport nn;", "/* \xff \xc3\xb6 */ import nn; // \xff", "import nn;\r\n"};
    Parsed p = parse(texts[_i]);
    ck_assert_msg(p.errors == 0 && p.tree, "%s", p.messages);
    drop(&p);
}
END_TEST

// ---- robustness ----

// `head`, then `unit` so often that the text has about `size` bytes, then `end`.
static char *repeat(const char *head, const char *unit, const char *end, size_t size) {
    size_t h = strlen(head), u = strlen(unit), e = strlen(end), n = size / u;
    char *text = malloc(h + n * u + e + 1), *at = text;
    memcpy(at, head, h);
    at += h;
    for (size_t i = 0; i < n; i++, at += u)
        memcpy(at, unit, u);
    memcpy(at, end, e + 1);
    return text;
}

#define HEAD "kernel k(x: f32[N]) -> (y: f32[N]) { "
static const struct { const char *head, *unit, *end; bool fine; } large[] = {
    {"", "(", "", false},
    {HEAD "y = ", "(", "", false},
    {HEAD "y = ", "-", "1; }", false},
    {HEAD "y = ", "!", "1; }", false},
    {HEAD "y = ", "1+", "1; }", false},
    {HEAD "y = ", "if ", "1; }", false},
    {HEAD "y = ", "if a then b else ", "1; }", false},
    {HEAD "y = ", "sum(k) ", "1; }", false},
    {HEAD "y = ", "a||b&&c==d+e*(x[f(", "1; }", false},
    {HEAD "y = ", "a.", "b; }", true},
    {HEAD "y = f(", "1, ", "1); }", true},
    {HEAD, "y[i, j] = x[i+1, j] * 2 + 3;\n", "}", true},
    {HEAD, " ; ] y q", "}", false},
    {"schedule k { ", "x { ", "", false},
    {"schedule k { ", "tile i = 3; ", "}", true},
    {"", "} ", "", false},
    {"", "kernel ", "", false},
    {"", "\xc3\xa9", "", false},
    {"", "import a; ", "", true},
    {"", "/*", "", false},
    {"", "\"\\q", "", false},
};

START_TEST(large_texts_take_linear_time) {
    char *text = repeat(large[_i].head, large[_i].unit, large[_i].end, 1 << 20);
    clock_t before = clock();
    Parsed p = parse(text);
    double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    ck_assert_int_eq(p.errors == 0, large[_i].fine);
    ck_assert_msg(seconds < 5, "%.1f s", seconds);          // a second without sanitizers; quadratic would be minutes
    drop(&p);
    free(text);
}
END_TEST

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

// Overwrites, deletes or doubles a few bytes; returns the new size. There is room for twice the text.
static size_t mutate(char *text, size_t size, uint32_t *seed) {
    static const char bytes[] = "(){}[],;:=.+-*/%<>!&|\"\\\n 0123abcxyz_\xff\xc3\xa9@#'ifinon";
    for (uint32_t n = 1 + next_random(seed) % 8; n > 0; n--) {
        size_t at = next_random(seed) % size, length = 1 + next_random(seed) % 20;
        if (at + length > size)
            continue;
        uint32_t what = next_random(seed) % 3;
        if (what == 0) {
            text[at] = bytes[next_random(seed) % (sizeof bytes - 1)];
        } else if (what == 1 && size > 2 * length) {
            memmove(text + at, text + at + length, size - at - length);
            size -= length;
        } else {
            memmove(text + at + length, text + at, size - at);
            size += length;
        }
    }
    return size;
}

// Whatever survives must round-trip, too.
START_TEST(mutations_do_no_harm) {
    char *original = read_file(_i ? "language.pto" : "trial.pto");
    size_t size = strlen(original);
    char *text = malloc(2 * size + 1000);
    uint32_t seed = 20240229u + (uint32_t)_i;
    for (int round = 0; round < 400; round++) {
        memcpy(text, original, size);
        size_t n = mutate(text, size, &seed);
        Parsed p = parse_bytes(text, n);
        if (p.errors == 0 && p.tree) {
            char *once = printed(p.tree);
            check_round_trip(once);
            free(once);
        }
        drop(&p);
    }
    free(text);
    free(original);
}
END_TEST

START_TEST(every_prefix_does_no_harm) {
    char *text = read_file("language.pto");
    for (size_t n = 0, size = strlen(text); n < size; n += 7) {
        Parsed p = parse_bytes(text, n);
        drop(&p);
    }
    free(text);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

Suite *suite_syntax(void) {
    Suite *s = suite_create("syntax");
    TCase *c = tcase_create("trees");
    tcase_add_loop_test(c, programs_round_trip, 0, 2);
    tcase_add_loop_test(c, expressions_print, 0, COUNT(expressions));
    tcase_add_test(c, trees_have_shape_and_ranges);
    tcase_add_test(c, machines_are_words);
    suite_add_tcase(s, c);
    c = tcase_create("errors");
    tcase_add_loop_test(c, errors_are_told, 0, COUNT(faults));
    tcase_add_test(c, a_nul_is_an_error);
    tcase_add_loop_test(c, odd_files_are_fine, 0, 6);
    suite_add_tcase(s, c);
    c = tcase_create("robustness");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, large_texts_take_linear_time, 0, COUNT(large));
    tcase_add_loop_test(c, mutations_do_no_harm, 0, 2);
    tcase_add_test(c, every_prefix_does_no_harm);
    suite_add_tcase(s, c);
    return s;
}
