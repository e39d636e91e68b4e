// Textual IR of the tile level: texts with every kind of line read and print as they are, broken ones are refused, and
// indices of one name are told apart.
#include "ir/print.h"
#include "ir/read.h"
#include "ir/verify.h"
#include "syntax/parse.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *suite_ir_tile(void);

typedef struct {
    Arena *arena;
    Sources sources;
    TileKernel *kernel;       // NULL after errors
    char *messages;
} Text;

static Text read_text(const char *text) {
    Text t = {.arena = arena_new()};
    t.sources.arena = t.arena;
    size_t n;
    FILE *out = open_memstream(&t.messages, &n);
    Diags *d = diags_new(t.arena, &t.sources, out);
    TreeFile *f = parse_file(t.arena, d, source_add(&t.sources, "t.ptoir", text, strlen(text)));
    if (f && f->kernels.n && diags_errors(d) == 0)
        t.kernel = ir_read_tile(t.arena, d, f, f->kernels.at[0]);
    diags_finish(d);
    fclose(out);
    return t;
}

static void drop(Text *t) {
    free(t->messages);
    arena_free(t->arena);
}

static char *printed(const TileKernel *k) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ir_print_tile(out, k);
    fclose(out);
    return text;
}

// ---- texts ----

#define HEAD                                                                                                     \
    "ir tile;\n"                                                                                                 \
    "\n"                                                                                                         \
    "kernel k(x: f32[N, D], T: int) -> (y: f32[N, D]) {\n"                                                       \
    "    dim N: x[0];\n"                                                                                         \
    "    dim D: x[1];\n"                                                                                         \
    "    dim T: int;\n"                                                                                          \
    "    tensor t local: f32[T + 1, N, D];\n"                                                                    \
    "    tensor e inferred: f32[N, D];\n"                                                                        \
    "    tensor `s.sum` hidden: f32[N];\n"                                                                       \
    "    equation e map 0: e[i, j] = x[i, j] * f32(2.0) where i in 0..N, j in 0..D;\n"                            \
    "    equation `s.sum` reduce 1: `s.sum`[i] = sum(j in 0..D where x[i, j] > f32(0.0)) e[i, j] where i in 0..N;\n" \
    "    equation t scan 2: t[q, i, j] = scan(+, j, reverse) x[i, j] where q in 0..T + 1, i in 0..N, j in 0..D;\n" \
    "    equation y map 3: y[i, j] = e[i, j] + `s.sum`[i] + t[T, i, j] where i in 0..N, j in 0..D;\n"              \
    "    store x param 0;\n"                                                                                     \
    "    store y param 0;\n"                                                                                     \
    "    store t workspace 0: modulo(2), full(0, N), full(0, D);\n"                                               \
    "    store `s.sum` register 1: drop;\n"

static const char whole[] =
    HEAD
    "    for q in 0..T + 1: serial {\n"
    "        grid sweep: wave, max(4) {\n"
    "            tile i in 0..N: i_lo..i_hi, max(N / 4, 1);\n"
    "            tile j in 0..D: j_lo..j_hi, 32;\n"
    "            after 1, 0;\n"
    "            after 0, -1;\n"
    "            for i in i_lo..i_hi: parallel {\n"
    "                for j in j_lo..j_hi: scan, step(2) {\n"
    "                    scan t reverse: t[q, i, D - 1 - j] = sum(t[q, i, D - j], x[i, D - 1 - j]) where D - 1 - j == D - 1;\n"
    "                }\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "    grid: dynamic {\n"
    "        tile i in 0..N: i_lo..i_hi, 16;\n"
    "        store e scratch 1: drop, full(max(0, i_lo - 1), 18);\n"
    "        for i in i_lo..i_hi: serial, wanted {\n"
    "            local `s.sum`;\n"
    "            for j in 0..D: parallel, lanes(8), unroll(4) {\n"
    "                map e: e[i, j] = x[i, j] * f32(2.0);\n"
    "            }\n"
    "            init `s.sum`: `s.sum`[i] = sum();\n"
    "            for j in 0..D: reduce, bounded(0 < T, 2 * j + 1 >= i, j < i64(7)) {\n"
    "                update `s.sum`: `s.sum`[i] = sum(e[i, j]) where x[i, j] > f32(0.0);\n"
    "            }\n"
    "            seq {\n"
    "                for j in 0..D: parallel {\n"
    "                    if i < N && j < D {\n"
    "                        map y: y[i, j] = e[i, j] + `s.sum`[i] + t[T, i, j];\n"
    "                    }\n"
    "                }\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "    grid: serial {\n"
    "    }\n"
    "}\n"
    "\n"
    "schedule k on cpu {\n"
    "    tile i = 16;\n"
    "    for j { unroll j = 4; }\n"
    "}\n";

START_TEST(a_text_round_trips) {
    Text t = read_text(whole);
    ck_assert_msg(t.kernel != NULL, "%s", t.messages);
    char *once = printed(t.kernel);
    Text u = read_text(once);
    ck_assert_msg(u.kernel != NULL, "%s\n%s", u.messages, once);
    char *twice = printed(u.kernel);
    ck_assert_str_eq(once, twice);
    ck_assert_int_eq(strncmp(once, whole, (size_t)(strstr(whole, "schedule") - whole)), 0);
    free(once);
    free(twice);
    drop(&t);
    drop(&u);
}
END_TEST

START_TEST(a_text_says_all) {
    Text t = read_text(whole);
    ck_assert_msg(t.kernel != NULL, "%s", t.messages);
    const Node *root = t.kernel->root, *wave = root->body.at[0]->body.at[0], *grid = root->body.at[1];
    ck_assert_int_eq(root->body.n, 3);
    ck_assert_int_eq(wave->mode, MODE_WAVE);
    ck_assert_int_eq(wave->max_workers, 4);
    ck_assert_str_eq(wave->name, "sweep");
    ck_assert_int_eq(wave->noffsets, 2);
    ck_assert_int_eq(wave->offsets[1][1], -1);
    ck_assert_ptr_eq(wave->dims[1].lo, wave->body.at[0]->body.at[0]->index->lo->index);
    ck_assert_int_eq(wave->body.at[0]->body.at[0]->step, 2);
    ck_assert(wave->body.at[0]->body.at[0]->body.at[0]->reverse);
    const Node *loop = grid->body.at[0];
    ck_assert(loop->wanted && loop->locals.n == 1);
    ck_assert_int_eq(loop->body.at[0]->lanes, 8);
    ck_assert_int_eq(loop->body.at[0]->unroll, 4);
    ck_assert_int_eq(loop->body.at[2]->role, LOOP_REDUCE);
    ck_assert_int_eq(loop->body.at[2]->bounds.n, 3);
    ck_assert_int_eq(loop->body.at[2]->body.at[0]->guards.n, 1);
    const Storage *st = t.kernel->storage;
    ck_assert_int_eq(st[2].dim[0].modulo, 2);
    ck_assert_int_eq(st[3].kind, STORE_SCRATCH);
    ck_assert_int_eq(st[3].depth, 1);
    drop(&t);
}
END_TEST

// Two loops of one name, and one that is called like a dim.
START_TEST(indices_of_one_name_are_told_apart) {
    Text t = read_text(whole);
    ck_assert_msg(t.kernel != NULL, "%s", t.messages);
    Node *loop = t.kernel->root->body.at[1]->body.at[0];
    loop->body.at[0]->index->name = "i";
    loop->body.at[2]->index->name = "N";
    char *once = printed(t.kernel);
    ck_assert_msg(strstr(once, "for `i.1` in 0..D: parallel, lanes(8), unroll(4) {\n                map e: e[i, `i.1`] = x[i, `i.1`]") != NULL, "%s", once);
    ck_assert_msg(strstr(once, "for `N.1` in 0..D: reduce, bounded(0 < T, 2 * `N.1` + 1 >= i, `N.1` < i64(7)) {") != NULL, "%s", once);
    Text u = read_text(once);
    ck_assert_msg(u.kernel != NULL, "%s\n%s", u.messages, once);
    char *twice = printed(u.kernel);
    ck_assert_str_eq(once, twice);
    free(once);
    free(twice);
    drop(&t);
    drop(&u);
}
END_TEST

// ---- what is refused ----

static const struct { const char *lines, *message; } refusals[] = {
    {"map z: y[0, 0] = x[0, 0];", "there is no equation 'z'"},
    {"map y: q[0, 0] = x[0, 0];", "'q' is no tensor"},
    {"map y: y[0] = x[0, 0];", "a left side is one tensor"},
    {"map y: y[i, 0] = x[0, 0];", "nothing defines 'i'"},
    {"map y reverse: y[0, 0] = x[0, 0];", "only a scan has a word here"},
    {"map y: y[0, 0] = x[0, 0] where 1 == 1;", "a condition where none can be"},
    {"grid: auto { map y: y[0, 0] = 1; }", "a value of type index, not f32"},
    {"grid: auto { map e: e[0, 0] = x[0, 0]; }", "`e` is used and stored nowhere"},
    {"grid: auto { map y: y[0, 0] = e[0, 0]; }", "`e` is used and stored nowhere"},
    {"grid: auto { map t: t[0, 0, 0] = x[0, 0]; }", "its equation defines another tensor, or in another way"},
    {"grid: auto { init `s.sum`: `s.sum`[0] = sum(); }", "register `s.sum` is used where no node lists it"},
    {"grid: auto { local `s.sum`; init `s.sum`: `s.sum`[0] = max(); }", "it is a max, and its equation a sum"},
    {"seq { local `s.sum`; init `s.sum`: `s.sum`[0] = sum(x[0, 0]); }", "no reduction of 0 arguments"},
    {"grid: auto { local y; }", "a local that is no register"},
    {"scan t: t[0, 0, 0] = sum(x[0, 0], x[0, 0]) where 1 == 1;", "the first argument is the element before"},
    {"scan t: t[0, 0, 0] = sum(t[0, 0, 0], x[0, 0]);", "a scan has one condition"},
    {"for i in 0..=N: serial { }", "a range is lo..hi"},
    {"for i in 0..N: fast { }", "a loop is serial, parallel, reduce or scan"},
    {"for i in 0..N: serial, lanes(N) { }", "a number has to stand here"},
    {"for i in 0..N: serial, step(0) { }", "a step, lanes or unrolling that cannot be"},
    {"for i in 0..N: serial, bounded(2) { }", "a bound of type index, not bool"},
    {"for i in 0..N: serial, bounded(i * i < 4) { }", "a bound compares the index with what is known before the loop"},
    {"for i in 0..N: serial, bounded(2 < i) { }", "a bound compares the index"},
    {"for i in 0..N: serial, bounded(i != 2) { }", "a bound compares the index"},
    {"grid: serial { for i in 0..N: serial, step(2), bounded(i < 2) { } }", "a loop with bounds goes on by 1"},
    {"for i in 0..N: serial, bounded(i < 2) { grid: auto { } }", "inside of a grid"},
    {"grid: serial { for i in 0..N: serial, bounded(y[0, 0] > f32(0.0)) { map y: y[i, 0] = x[i, 0]; } }", "a bound reads what the loop writes"},
    {"for i in 0..N: serial { } map y: y[i, 0] = x[0, 0];", "nothing defines 'i'"},
    {"grid: auto { if N { } }", "a condition of type index, not bool"},
    {"map y: y[0, 0] = x[0, 0];", "it is outside of all grids"},
    {"if 1 == 1 { }", "it is outside of all grids"},
    {"seq { local `s.sum`; }", "registers outside of all grids"},
    {"for i in 0..N: serial, step(2) { }", "outside of all grids"},
    {"grid: auto { grid: auto { } }", "it is inside of another grid"},
    {"grid: wave { tile i in 0..N: a..b, 4; after 9223372036854775807; }", "a distance that no grid has"},
    {"for i in 0..N: serial { store e workspace 0: drop, full(0, i); }", "an extent that depends on an index"},
    {"grid: auto, max(4294967296) { }", "`max` takes a number from 0 to 2147483647"},
    {"grid: slow { }", "a grid is auto, serial, static, dynamic or wave"},
    {"grid: auto { after 1; }", "a number for each dimension"},
    {"grid: auto { tile i in 0..N: 0..N, 4; }", "a grid has at most 4 dimensions"},
    {"tile i in 0..N: a..b, 4;", "a grid has at most 4 dimensions"},
    {"store e shelf 0;", "a tensor is stored as"},
    {"store e workspace 0: drop;", "storage says each dimension"},
    {"store e workspace 0: drop, modulo(0);", "a window of 0 elements"},
    {"store e workspace 0: drop, full;", "a dimension without base or extent"},
    {"store e register 0: drop, full(0, D);", "a register with a whole dimension"},
    {"store e param 0;", "inputs and outputs are stored as parameters"},
    {"store x param 0;", "`x` is stored twice"},
    {"seq { dim Z: int; }", "this stands outside of all blocks"},
};

START_TEST(the_reader_is_strict) {
    char text[4096];
    snprintf(text, sizeof text, HEAD "    %s\n}\n", refusals[_i].lines);
    Text t = read_text(text);
    ck_assert_msg(t.kernel == NULL, "taken: %s", refusals[_i].lines);
    ck_assert_msg(strstr(t.messages, refusals[_i].message) != NULL, "no '%s' in: %s", refusals[_i].message, t.messages);
    drop(&t);
}
END_TEST

START_TEST(lines_belong_to_their_level) {
    Text t = read_text("ir task;\nkernel k(x: f32[N]) -> (y: f32[N]) {\n    dim N: x[0];\n    equation y map 0: y[i] = x[i] where i in 0..N;\n}\n");
    ck_assert_ptr_null(t.kernel);
    ck_assert_msg(strstr(t.messages, "starts with 'ir tile;'") != NULL, "%s", t.messages);
    drop(&t);
    t = read_text("kernel k(x: f32[N]) -> (y: f32[N]) {\n    for i in 0..N: serial { }\n}\n");
    ck_assert_msg(strstr(t.messages, "'for' is a reserved word") != NULL, "%s", t.messages);
    drop(&t);
}
END_TEST

START_TEST(cut_texts_do_no_harm) {
    char *text = strdup(whole);
    for (size_t n = strlen(text); n-- > 0;) {
        text[n] = '\0';
        Text t = read_text(text);
        drop(&t);
    }
    free(text);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

Suite *suite_ir_tile(void) {
    Suite *s = suite_create("ir tile");
    TCase *c = tcase_create("ir tile");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, a_text_round_trips);
    tcase_add_test(c, a_text_says_all);
    tcase_add_test(c, indices_of_one_name_are_told_apart);
    tcase_add_loop_test(c, the_reader_is_strict, 0, COUNT(refusals));
    tcase_add_test(c, lines_belong_to_their_level);
    tcase_add_test(c, cut_texts_do_no_harm);
    suite_add_tcase(s, c);
    return s;
}
