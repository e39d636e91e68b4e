// Textual IR of the move level and of bundles: texts with every kind of line read and print as they are, broken ones are refused.
#include "ir/bundles.h"
#include "ir/print.h"
#include "ir/read.h"
#include "ir/verify.h"
#include "syntax/parse.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *suite_ir_bundles(void);

typedef struct {
    Arena *arena;
    Sources sources;
    BundleTarget target;
    TileKernel *kernel;       // NULL after errors
    char *messages;
} Text;

static Text read_text(const char *text)
{
    Text t = {.arena = arena_new()};
    t.sources.arena = t.arena;
    size_t n;
    FILE *out = open_memstream(&t.messages, &n);
    Diags *d = diags_new(t.arena, &t.sources, out);
    TreeFile *f = parse_file(t.arena, d, source_add(&t.sources, "t.ptob", text, strlen(text)));
    if (f && f->kernels.n && diags_errors(d) == 0)
        t.kernel = ir_read_bundles(t.arena, d, f, f->kernels.at[0]);
    if (t.kernel)
        ir_read_target(t.arena, d, f, &t.target);
    diags_finish(d);
    fclose(out);
    return t;
}

static void drop(Text *t)
{
    free(t->messages);
    arena_free(t->arena);
}

static char *printed(const Text *t, bool bundled)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ir_print_bundles(out, 1, (TileKernel *const[]){t->kernel}, &t->target, bundled);
    fclose(out);
    return text;
}

// What was printed is a text that prints the same.
static void reads_back(const char *once, bool bundled)
{
    Text u = read_text(once);
    ck_assert_msg(u.kernel != NULL, "%s\n%s", u.messages, once);
    char *twice = printed(&u, bundled);
    ck_assert_str_eq(once, twice);
    free(twice);
    drop(&u);
}

// ---- texts ----

#define KERNEL                                                                                                   \
    "on m: DDR, L1, L0, set(\"L1.size=64KiB\");\n"                                                                \
    "\n"                                                                                                         \
    "kernel k(x: f16[M border const(f16(1.5)), K], w: f16[K, N], g: i32[M], T: int) -> (y: f32[M, N]) {\n"       \
    "    dim M: x[0];\n"                                                                                         \
    "    dim K: x[1];\n"                                                                                         \
    "    dim N: w[1];\n"                                                                                         \
    "    dim T: int;\n"                                                                                          \
    "    tensor `y.sum` hidden: f32[M, N];\n"                                                                    \
    "    equation `y.sum` reduce 0: `y.sum`[i, j] = sum(k in 0..K) f32(x[i, k]) * f32(w[k, j]) where i in 0..M, j in 0..N;\n" \
    "    equation y map 0: y[i, j] = `y.sum`[i, j] + f32(1.0) where i in 0..M, j in 0..N;\n"                      \
    "    store x param 0;\n"                                                                                     \
    "    store w param 0;\n"                                                                                     \
    "    store g param 0;\n"                                                                                     \
    "    store y param 0;\n"                                                                                     \
    "    store `y.sum` register 2: drop, drop;\n"
#define HEAD "ir bundles;\n" KERNEL
#define BUFFERS                                                                                                  \
    "                need L1(64 * T + 128), L0(4096);\n"                                                         \
    "                buffer x_L1 on L1: f16, of(x), at(0), bytes(64 * T), slots(2);\n"                            \
    "                buffer g_L1 on L1: i32, of(g), at(64 * T), bytes(64);\n"                                     \
    "                buffer x_L0 on L0: f16, of(x), at(0), bytes(128);\n"                                         \
    "                buffer w_L0 on L0: f16, of(w), at(128), bytes(128);\n"                                       \
    "                buffer s_L0 on L0: f32, of(`y.sum`), at(256), bytes(256);\n"                                 \
    "                buffer y_L0 on L0: f32, of(y), at(512), bytes(256);\n"
#define GRID                                                                                                     \
    "        grid: static, max(2) {\n"                                                                           \
    "            tile i in 0..M: i_lo..i_hi, 16;\n"                                                              \
    "            tile j in 0..N: j_lo..j_hi, 8;\n"

// (In two parts: C promises no longer strings.)
static const char first_part[] =
    HEAD
    "    for t in 0..T: serial {\n"
    GRID
    "            program where 64 * T <= 32768 && N > 0 {\n"
    BUFFERS
    "                token full: initial(0), depth(2);\n"
    "                token `free.1`: initial(2), depth(3);\n"
    "                loop: i = 4 {\n"
    "                    loop: j = max(N, 1), i = 2, stages(3) {\n"
    "                        bundle: 0 {\n"
    "                            wait `free.1`: stage(1), first(j), last(0);\n"
    "                            wait full;\n"
    "                            copy `y.sum` on load: order(1), stage(1), when(first(j, i)), cycles(12) {\n"
    "                                write x_L0: at(block(0) * 4 + block(i)), digits(3), dim(task(i) * 16 + block(0) * 4, 4, cut(0, M), stride(32)), dim(0, K, stride(2));\n"
    "                                read x_L1: of(w), dim(M - 1 + task(i) * -16 + block(j) * (2 * T), 4, stride(32)), dim(t, K, stride(2));\n"
    "                                signal full: first(j);\n"
    "                            }\n"
    "                            copy `y.sum` on dma: order(0) {\n"
    "                                write x_L1: digits(2), dim(0, 4, stride(32)), dim(0, K, stride(2));\n"
    "                                read x on DDR: at(task(i) * (32 * K)), dim(task(i) * 16, 4, stride(2 * K), const(M)), dim(0, K, stride(2), length(K));\n"
    "                                signal `free.1`;\n"
    "                            }\n"
    "                        }\n"
    "                        bundle: 1 {\n"
    "                        }\n"
    "                    }\n"
    "                }\n"
    "";
static const char second_part[] =
    "                loop: k = 2, stages(2) {\n"
    "                    bundle: 2 {\n"
    "                        multiply `y.sum` on cube: order(3), stage(1), init(first(k)) {\n"
    "                            write s_L0: dim(0, 4, stride(32), m), dim(0, 8, stride(4), n);\n"
    "                            read x_L0: dim(0, 4, stride(32), m), dim(0, K, stride(2), k);\n"
    "                            read w_L0: dim(0, K, stride(16), k), dim(0, 8, stride(2), n);\n"
    "                        }\n"
    "                        gather `y.sum` on dma: order(2) {\n"
    "                            write x_L1: dim(0, 4, stride(32)), dim(0, K, stride(2));\n"
    "                            read x on DDR: dim(0, 4, stride(2 * K)), dim(0, K, stride(2));\n"
    "                            read g_L1: dim(0, 4, stride(4));\n"
    "                        }\n"
    "                    }\n"
    "                }\n"
    "                bundle: 3 {\n"
    "                    nest y on vector: order(5), cost(1), bytes(8), element(4), strided, updates {\n"
    "                        write y_L0: dim(task(i) * 16, 4, stride(32)), dim(0, 8, stride(4));\n"
    "                        read s_L0: dim(task(i) * 16, 4, stride(32)), dim(0, 8, stride(4));\n"
    "                        box i_lo..i_hi: task(i) * 16, 4, cut(0, M);\n"
    "                        box j_lo..j_hi: task(j) * 8, 8;\n"
    "                        for i in i_lo..i_hi: serial {\n"
    "                            for `t.1` in j_lo..j_hi: serial {\n"
    "                                map y: y[i, `t.1`] = `y.sum`[i, `t.1`] + f32(1.0);\n"
    "                            }\n"
    "                        }\n"
    "                    }\n"
    "                }\n"
    "                bundle: 4 {\n"
    "                    multiply `y.sum` on cube: order(4), init {\n"
    "                        write s_L0: dim(0, 4, stride(32), m), dim(0, 8, stride(4), n);\n"
    "                        read x_L0: dim(0, 4, stride(32), m), dim(0, K, stride(2), k);\n"
    "                        read w_L0: dim(0, K, stride(16), k), dim(0, 8, stride(2), n);\n"
    "                    }\n"
    "                }\n"
    "            }\n"
    "            task y: because(\"an \\\"index\\\" runs\"), cycles(7) {\n"
    "                for i in i_lo..i_hi: parallel {\n"
    "                    for j in j_lo..j_hi: parallel {\n"
    "                        local `y.sum`;\n"
    "                        init `y.sum`: `y.sum`[i, j] = sum();\n"
    "                        for k in 0..K: reduce {\n"
    "                            update `y.sum`: `y.sum`[i, j] = sum(f32(x[edge(i), k]) * f32(w[k, j]));\n"
    "                        }\n"
    "                        map y: y[i, j] = `y.sum`[i, j] + f32(x[edge(i, empty), 0]);\n"
    "                    }\n"
    "                }\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "}\n";

static const char *whole_text(void)
{
    static char text[sizeof first_part + sizeof second_part];
    snprintf(text, sizeof text, "%s%s", first_part, second_part);
    return text;
}

START_TEST(a_text_round_trips)
{
    Text t = read_text(whole_text());
    ck_assert_msg(t.kernel != NULL, "%s", t.messages);
    char *once = printed(&t, true);
    ck_assert_str_eq(once, whole_text());
    free(once);
    drop(&t);
}
END_TEST

START_TEST(a_text_says_all)
{
    Text t = read_text(whole_text());
    ck_assert_msg(t.kernel != NULL, "%s", t.messages);
    const Node *grid = t.kernel->root->body.at[0]->body.at[0];
    const BundleProgram *p = grid->program;
    ck_assert_str_eq(t.target.set, "L1.size=64KiB");
    ck_assert_str_eq(grid->refusal, "an \"index\" runs");
    ck_assert(grid->fits->op == OP_AND && program_is_task(grid->otherwise) && grid->otherwise->ops.at[0]->cycles == 7);
    ck_assert(!p->need[0] && expr_is_int(p->need[2], 4096) && p->buffers.at[0]->slots == 2 && p->buffers.at[1]->slots == 1);
    ck_assert_int_eq(p->loops.n, 3);
    ck_assert(p->loops.at[0].first == 0 && p->loops.at[0].end == 2 && p->loops.at[1].end == 2 && p->loops.at[1].iv == FIRST_DIGIT + 1 && p->loops.at[1].stages == 3);
    ck_assert(p->loops.at[2].first == 2 && p->loops.at[2].iv == FIRST_DIGIT && p->bundles.n == 5);
    ck_assert(p->bundles.at[0].op[2] == 1 && p->bundles.at[0].op[4] == 0 && p->bundles.at[1].op[0] == -1);
    const Wait *w = &p->bundles.at[0].wait[0];
    ck_assert(w->token == 1 && w->stage == 1 && w->when.first == 2 && w->when.last == 1);
    const MoveOp *copy = p->ops.at[1];
    ck_assert(copy->when.first == 6 && copy->signal[0] == 0 && copy->signal[1] == -1 && copy->signals[0].first == 2 && copy->cycles == 12);
    const Operand *o = &copy->operand[1];
    ck_assert(o->buffer == p->buffers.at[0] && o->tensor == t.kernel->kernel->tensors.at[1]);
    ck_assert(expr_is_int(o->dim[0].at.start.step[0], -16) && o->dim[0].at.start.step[FIRST_DIGIT + 1] && !o->dim[0].at.hi);
    ck_assert_ptr_eq(o->dim[1].at.start.base->index, t.kernel->root->body.at[0]->index);
    ck_assert(copy->operand[0].digits == 3 && expr_is_int(copy->operand[0].address.step[FIRST_DIGIT + 2], 1));
    const Operand *x = &p->ops.at[0]->operand[1];
    ck_assert(!x->buffer && x->dim[0].border == BORDER_CONST && x->dim[1].border == BORDER_NONE && x->dim[1].length);
    ck_assert(p->ops.at[3]->init.first == 1 && p->ops.at[3]->operand[1].dim[1].axis == AXIS_K && p->ops.at[4]->init.first == 0);
    const MoveOp *nest = p->ops.at[5];
    ck_assert(nest->rank == 2 && nest->cost == 1 && nest->bytes == 8 && nest->element == 4 && nest->strided && nest->updates);
    ck_assert_ptr_eq(nest->node->index->lo->index, nest->lo[0]);
    drop(&t);
}
END_TEST

START_TEST(the_move_level_is_without_bundles)
{
    Text t = read_text(whole_text());
    ck_assert_msg(t.kernel != NULL, "%s", t.messages);
    char *once = printed(&t, false);
    ck_assert(!strstr(once, "bundle {") && !strstr(once, "token ") && !strstr(once, "stage") && strncmp(once, "ir move;", 8) == 0);
    reads_back(once, false);
    free(once);
    drop(&t);
}
END_TEST

// What a grid says several times goes by a name, which no other has; a name of the reader's own is as good.
START_TEST(values_have_names)
{
    Text t = read_text(HEAD GRID
                       "value wide: (N + 7) / 8 * 64;\n"
                       "program where wide + T <= 4096 {\n"
                       "buffer size1 on L1: f16, of(x), at(0), bytes((N + 7) / 8 * 64);\n"
                       "buffer size2 on L1: f16, of(x), at(wide), bytes(max(wide, 1));\n"
                       "bundle { copy y on dma { write size1; read x on DDR; } copy y on load { write size2; read x on DDR: at(max(wide, 1)); } } }\n"
                       "program { bundle { } } } }\n");
    ck_assert_msg(t.kernel != NULL, "%s", t.messages);
    char *once = printed(&t, true);
    ck_assert_msg(strstr(once, "value size3: (N + 7) / 8 * 64;") && !strstr(once, "value size4"), "%s", once);
    ck_assert_msg(strstr(once, "where size3 + T <= 4096") && strstr(once, "at(size3), bytes(max(size3, 1))"), "%s", once);
    reads_back(once, true);
    free(once);
    drop(&t);
}
END_TEST

START_TEST(names_are_made_their_own)
{
    Arena *a = arena_new();
    BundleProgram p = {.ops = {0}};
    Buffer x[] = {{.name = "c.sum_L0"}, {.name = "c_sum_L0"}, {.name = "c_sum_L0"}};
    for (int i = 0; i < 3; i++)
        VEC_PUSH(a, &p.buffers, &x[i]);
    program_name(a, &p);
    ck_assert_str_eq(x[0].name, "c_sum_L0");
    ck_assert_str_eq(x[1].name, "c_sum_L0_2");
    ck_assert_str_eq(x[2].name, "c_sum_L0_3");
    arena_free(a);
}
END_TEST

// ---- what is refused ----

// Lines of a grid, of a program, or of a program in a loop of two stages.
static const struct { const char *lines, *message; } in_grid[] = {
    {"", "a grid without a program"},
    {"program where N { bundle { } }", "a program that fits some shapes"},
    {"program where N > 0 { bundle { } }", "a program that fits some shapes, and none for the others"},
    {"program where N > 0, M > 0 { bundle { } } task { }", "a program fits one condition"},
    {"program where g[0] > i32(0) { bundle { } } task { }", "a read in a range, a shape"},
    {"program { bundle { } } task { }", "a second program, and the first one fits all shapes"},
    {"task { } task { }", "a grid of the move level has one program"},
    {"task { } program where N > 0 { bundle { } }", "a program fits one condition, and the last one fits all shapes"},
    {"task z { }", "there is no equation 'z'"},
    {"task y: because(1) { }", "a task has because"},
    {"value a: z; task y { }", "nothing defines 'z'"},
    {"value N: 1; task y { }", "'N' is defined twice"},
    {"value a: 1; value a: 2; task y { }", "'a' is defined twice"},
    {"value a: 1, 2; task y { }", "a value names one expression in a grid"},
    {"value a on L1: 1; task y { }", "a value names one expression in a grid"},
    {"bundle { }", "this stands inside of a program"},
    {"copy y on dma { }", "this stands inside of a program"},
    {"program { map y: y[0, 0] = f32(1.0); }", "no line of a program"},
    {"program { }", "no bundles"},
    {"program { loop: i = 2 { } bundle { } }", "hold nothing"},
    {"program { loop: i = 2 { need L1(1); bundle { } } }", "not inside of a loop"},
};
static const struct { const char *lines, *message; } in_program[] = {
    {"buffer b on L1: f16;", "a buffer has a type"},
    {"buffer b on L2: f16, of(x), at(0), bytes(64);", "the file names no memory 'L2'"},
    {"buffer b: f16, of(x), at(0), bytes(64);", "the file names no memory ''"},
    {"buffer b on DDR: f16, of(x), at(0), bytes(64);", "a memory that the machine has not, or that holds tensors"},
    {"buffer b on L1: f16, of(z), at(0), bytes(64);", "a buffer has a type"},
    {"buffer b on L1: f16, of(x), at(0), bytes(64), slots(0);", "slots is a number from 1"},
    {"buffer b on L1: f16, of(x), at(0), bytes(64), slots(N);", "a number has to stand here"},
    {"buffer b on L1: f16, of(x), at(i_lo), bytes(64);", "index `i_lo` is used where it is not bound"},
    {"buffer b on L1: f16, of(x), at(f32(1.0)), bytes(64);", "address of type f32"},
    {"buffer x_L1 on L1: f16, of(x), at(0), bytes(64);", "there are two of this name"},
    {"buffer b on L1: f16, of(x), at(0), bytes(64), big;", "a buffer has a type"},
    {"token t;", "a token has depth(n)"},
    {"token t: depth(0);", "depth is a number from 1"},
    {"token t: initial(3), depth(2);", "it begins above its depth"},
    {"token t: depth(1); token t: depth(1);", "there are two of this name"},
    {"token t: depth(1), red;", "a token has initial(n) and depth(n)"},
    {"need L1(1);", "a memory is needed once"},
    {"need L1;", "a need is memory(bytes)"},
    {"need L9(1);", "the file names no memory 'L9'"},
    {"copy y on dma { }", "an operation stands in a bundle"},
    {"loop: i = 1, j { bundle { } }", "a loop has digits"},
    {"loop: stages(2) { bundle { } }", "a loop without digits"},
    {"loop: i = f32(1.0) { bundle { } }", "count of type f32"},
    {"loop: i = 1, stages(0) { bundle { } }", "stages is a number from 1"},
    {"loop: i = 1, from(8) { bundle { } }", "from is a number from 0 to 7"},
    {"loop: i = 1, stages(2) { loop: j = 1 { bundle { } } }", "a loop with stages around another one"},
    {"loop: i = 1 { loop: j = 1, from(0) { bundle { } } }", "some that another one has"},
    {"loop: a = 1, b = 1, c = 1, d = 1, e = 1, f = 1, g = 1, h = 1, i = 1 { bundle { } }", "a loop has 8 digits at most"},
    {"loop: a = 1, b = 1, c = 1, d = 1, e = 1 { loop: f = 1, g = 1, h = 1, i = 1 { bundle { } } }", "a loop without digits, or with some"},
};
static const struct { const char *lines, *message; } in_loop[] = {
    {"bundle { wait z; }", "'z' is no token"},
    {"bundle { wait full: stage(2); }", "a wait for a token, or of a stage, that there is not"},
    {"bundle { wait full: first(z); }", "no loop around this has such a digit"},
    {"bundle { wait full: soon; }", "a condition is first(digits) or last(digits)"},
    {"bundle { wait full; wait full; wait full; wait full; wait full; }", "a bundle waits 4 times at most"},
    {"bundle { signal full; }", "a bundle holds waits and operations"},
    {"bundle { map y: y[0, 0] = f32(1.0); }", "a bundle holds waits and operations"},
    {"bundle { copy z on dma { write x_L1; read x on DDR; } }", "there is no equation 'z'"},
    {"bundle { copy y on bus { write x_L1; read x on DDR; } }", "a unit is cube, vector"},
    {"bundle { copy y on dma { write x_L1; read x on DDR; } copy y on dma { write x_L1; read x on DDR; } }", "a bundle has one operation of a unit"},
    {"bundle { copy y on dma: order(1) { write x_L1; read x on DDR; } }", "order(n) counts the operations"},
    {"bundle { copy y on dma: order(0) { write x_L1; read x on DDR; } copy y on load { write x_L1; read x on DDR; } }", "either all operations"},
    {"bundle { copy y on dma: order(0) { write x_L1; read x on DDR; } copy y on load: order(0) { write x_L1; read x on DDR; } }", "each once"},
    {"bundle { copy y on dma: fast { write x_L1; read x on DDR; } }", "no attribute of this operation"},
    {"bundle { copy y on dma: init { write x_L1; read x on DDR; } }", "no attribute of this operation"},
    {"bundle { copy y on dma: stage(2) { write x_L1; read x on DDR; } }", "a stage that the loop around it has not"},
    {"bundle { copy y on dma: stage(-1) { write x_L1; read x on DDR; } }", "stage is a number from 0"},
    {"bundle { copy y on dma { } }", "a copy with 0 operands"},
    {"bundle { copy y on dma { write x_L1; } }", "a copy with 1 operands"},
    {"bundle { copy y on dma { read x on DDR; write x_L1; } }", "an operation writes one operand, then reads"},
    {"bundle { copy y on dma { write q; read x on DDR; } }", "'q' is no buffer"},
    {"bundle { copy y on dma { write x; read x on DDR; } }", "'x' is no buffer"},
    {"bundle { copy y on dma { write x_L1; read q on DDR; } }", "'q' is no tensor"},
    {"bundle { copy y on dma { write x_L1; read x on L1; } }", "tensors lie in the first memory"},
    {"bundle { copy y on dma { write x_L1: of(q); read x on DDR; } }", "an operand has at(bytes)"},
    {"bundle { copy y on dma { write x_L1: of(y); read x on DDR; } }", "of another type than its buffer"},
    {"bundle { copy y on dma { write x_L1: digits(9); read x on DDR; } }", "digits is a number from 0 to 8"},
    {"bundle { copy y on dma { write x_L1: digits(3); read x on DDR; } }", "more dimensions or digits"},
    {"bundle { copy y on dma { write x_L1: dim(0); read x on DDR; } }", "a dimension has a start and a size"},
    {"bundle { copy y on dma { write x_L1: dim(0, 1, wide); read x on DDR; } }", "a dimension has cut(lo, hi)"},
    {"bundle { copy y on dma { write x_L1: dim(0, 1, m); read x on DDR: dim(0, 1); } }", "dimensions of what is multiplied have an axis"},
    {"bundle { copy y on dma { write x_L1: dim(0, 1); read x on DDR: dim(0, 1), dim(0, 1); } }", "another number of dimensions"},
    {"bundle { copy y on dma { write x_L1: dim(0, 1, clamp(1)); read x on DDR: dim(0, 1); } }", "of something that is not moved out of a tensor"},
    {"bundle { copy y on dma { write x_L1: dim(0, 1); read w on DDR: dim(0, 1, const(1)); } }", "a constant border that the tensor has not"},
    {"bundle { copy y on dma { write x_L1: dim(task(q), 1); read x on DDR: dim(0, 1); } }", "the grid has no such dimension"},
    {"bundle { copy y on dma { write x_L1: dim(task(2), 1); read x on DDR: dim(0, 1); } }", "the grid has no such dimension"},
    {"bundle { copy y on dma { write x_L1: dim(block(k), 1); read x on DDR: dim(0, 1); } }", "no loop around this has such a digit"},
    {"bundle { copy y on dma { write x_L1: dim(block(i) + block(i), 1); read x on DDR: dim(0, 1); } }", "a sum has each variable once"},
    {"bundle { copy y on dma { write x_L1: dim(2 * block(i), 1); read x on DDR: dim(0, 1); } }", "'block' is no operation"},
    {"bundle { copy y on dma { write x_L1: dim(z, 1); read x on DDR: dim(0, 1); } }", "nothing defines 'z'"},
    {"bundle { copy y on dma { write x_L1; read x on DDR; box a..b: 0, 1; } }", "a nest has a box of at most"},
    {"bundle { copy y on dma { write x_L1; read x on DDR; map y: y[0, 0] = f32(1.0); } }", "only a nest computes"},
    {"bundle { copy y on dma { write x_L1; read x on DDR; wait full; } }", "no line of an operation"},
    {"bundle { copy y on dma { write x_L1; read x on DDR; tensor t local: f32; } }", "no line of an operation"},
    {"bundle { copy y on dma { write x_L1; read x on DDR; signal z; } }", "'z' is no token"},
    {"bundle { copy y on dma { write x_L1; read x on DDR; signal full; signal full; signal full; } }", "signals two tokens at most"},
    {"bundle { copy y on dma { write x_L1; read x on DDR; signal full; } copy y on load { write x_L1; read x on DDR; signal full; } }", "two units signal token `full`"},
    {"bundle { gather y on dma { write x_L1: dim(0, 1); read x on DDR: dim(0, 1); read g on DDR: dim(0, 1); } }", "the list of a gather"},
    {"bundle { multiply y on cube { write y_L0; read x_L0; read w_L0; } }", "a multiply says where it starts from 0"},
    {"bundle { multiply y on cube: init { write y_L0; read x_L0; } }", "a multiply with 2 operands"},
    {"bundle { multiply y on cube: init { write y_L0: dim(0, 1); read x_L0; read w_L0; } }", "dimensions of what is multiplied have an axis"},
    {"bundle { multiply y on cube: init { write y on DDR; read x_L0; read w_L0; } }", "only moves reach the memory of tensors"},
    {"bundle { nest y on vector: cost(1), element(4) { write y_L0; } }", "a nest computes, and nothing else does"},
    {"bundle { nest y on vector: element(4) { write y_L0: dim(0, 1), dim(0, 1); map y: y[0, 0] = f32(1.0); } }", "a nest without its cost"},
    {"bundle { nest y on vector: cost(1), element(4) { write s_L0: dim(0, 1), dim(0, 1); map y: y[0, 0] = f32(1.0); } }", "it computes `y`, and writes something else"},
    {"bundle { nest y on vector: cost(1), element(4) { write y_L0: dim(0, 1), dim(0, 1); map y: y[0, 0] = `y.sum`[0, 0]; } }", "it reads `y.sum`, and has no operand of it"},
    {"bundle: 1, 2 { }", "a bundle may have a number"},
    {"bundle: M { }", "a bundle may have a number"},
    {"bundle { nest y on vector: cost(1), element(4) { write y_L0: dim(0, 1), dim(0, 1); map y: y[0, 0] = 1; } }", "a value of type index, not f32"},
    {"bundle { nest y on vector: cost(1), element(4) { write y_L0: dim(0, 1), dim(0, 1); map y: y[i, 0] = f32(1.0); } }", "nothing defines 'i'"},
    {"bundle { nest y on vector: cost(1), element(4) { write y_L0: dim(0, 1), dim(0, 1); map y: y[i_lo, 0] = f32(1.0); } }", "index `i_lo` is used where it is not bound"},
    {"bundle { nest y on vector: cost(1), element(4) { write y_L0: dim(0, 1), dim(0, 1); init `y.sum`: `y.sum`[0, 0] = sum(); } }", "it computes another equation"},
    {"bundle { nest y on vector: cost(1), element(4) { write y_L0: dim(0, 1), dim(0, 1); box a..b: 0; map y: y[0, 0] = f32(1.0); } }", "a box says start, size"},
    {"bundle { nest y on vector: cost(1), element(4) { write y_L0: dim(0, 1), dim(0, 1); box 0..b: 0, 1; map y: y[0, 0] = f32(1.0); } }", "a nest has a box"},
    {"bundle { nest y on vector: cost(1), element(4) { write y_L0: dim(0, 1), dim(0, 1); box a..b: 0, 2; for i in a..b: serial, lanes(4) { map y: y[i, 0] = f32(1.0); } } }", "a loop in a nest runs point by point"},
    {"bundle { nest y on vector: cost(1), element(4) { write y_L0: dim(0, 1), dim(0, 1); for i in 0..2: serial { map y: y[i, 0] = f32(1.0); } } }", "a loop in a nest runs over the bounds of one index of its box"},
    {"bundle { nest y on vector: cost(1), element(4) { write y_L0: dim(0, 1), dim(0, 1); box a..b: 0, 2; for i in a..b: serial, step(2) { map y: y[i, 0] = f32(1.0); } } }", "a loop in a nest leaves points out"},
    {"bundle { nest y on vector: cost(1), element(4) { write y_L0: dim(0, 1), dim(0, 1); box a..b: 0, 2; map y: y[0, 0] = f32(1.0); } }", "an index of the box without a loop over its bounds"},
    {"bundle { nest y on vector: cost(1), element(4) { write y_L0: dim(0, 1), dim(0, 1); box a..b: 0, 2; for i in a..b: serial { } } }", "a nest is loops around one operation"},
    {"bundle { nest y on vector: cost(1), element(4) { write y_L0: dim(0, 1), dim(0, 1); map y: y[0, 0] = f32(1.0); map y: y[0, 0] = f32(1.0); } }", "only a nest computes, and one operation"},
};

static void refuses(const char *text, const char *lines, const char *message)
{
    Text t = read_text(text);
    ck_assert_msg(t.kernel == NULL, "taken: %s", lines);
    ck_assert_msg(strstr(t.messages, message) != NULL, "no '%s' in: %s", message, t.messages);
    drop(&t);
}

START_TEST(grids_are_read_strictly)
{
    char text[8192];
    snprintf(text, sizeof text, HEAD GRID "%s } }\n", in_grid[_i].lines);
    refuses(text, in_grid[_i].lines, in_grid[_i].message);
}
END_TEST

START_TEST(programs_are_read_strictly)
{
    char text[8192];
    snprintf(text, sizeof text, HEAD GRID "program {\n" BUFFERS "bundle { }\n%s } } }\n", in_program[_i].lines);
    refuses(text, in_program[_i].lines, in_program[_i].message);
}
END_TEST

START_TEST(loops_are_read_strictly)
{
    char text[8192];
    snprintf(text, sizeof text, HEAD GRID "program {\n" BUFFERS "token full: depth(1); loop: i = 2, j = 2, stages(2) { %s } } } }\n", in_loop[_i].lines);
    refuses(text, in_loop[_i].lines, in_loop[_i].message);
}
END_TEST

START_TEST(the_move_level_refuses_bundles)
{
    static const struct { const char *lines, *message; } lines[] = {
        {"token t: depth(1);", "tokens come with bundles"},
        {"bundle { }", "the move level has no bundles"},
        {"copy y on dma: order(0) { write x_L1; read x on DDR; }", "no attribute of this operation"},
        {"copy y on dma { write x_L1; read x on DDR; signal t; }", "tokens come with bundles"},
    };
    for (int i = 0; i < 4; i++) {
        char text[8192];
        snprintf(text, sizeof text, "ir move;\n" KERNEL GRID "program {\n" BUFFERS "%s } } }\n", lines[i].lines);
        refuses(text, lines[i].lines, lines[i].message);
    }
}
END_TEST

START_TEST(a_file_says_its_machine)
{
    static const char kernel[] = "kernel k(x: f32[N]) -> (y: f32[N]) {\n dim N: x[0];\n equation y map 0: y[i] = x[i] where i in 0..N;\n}\n";
    static const char *const heads[] = {"ir bundles;\n", "ir bundles; on m;\n", "ir bundles; on m: L1, 3;\n", "ir bundles; on m: a, b, c, d, e, f, g, h, i;\n",
                                        "ir bundles; on m: L1, set(1);\n"};
    for (int i = 0; i < 5; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", heads[i], kernel);
        refuses(text, heads[i], "a file of this level says its machine and the machine's memories");
    }
    char text[1024];
    snprintf(text, sizeof text, "ir tile; on m: L1;\n%s", kernel);
    refuses(text, text, "starts with 'ir bundles;'");
}
END_TEST

START_TEST(cut_texts_do_no_harm)
{
    char *text = strdup(whole_text());
    for (size_t n = strlen(text); n-- > strlen(HEAD);) {
        text[n] = '\0';
        Text t = read_text(text);
        drop(&t);
    }
    free(text);
}
END_TEST

// One line is left out: whatever is still a kernel prints as a text that reads back.
START_TEST(texts_with_gaps_do_no_harm)
{
    const char *whole = whole_text();
    for (const char *line = whole; *line; line = strchr(line, '\n') + 1) {
        Arena *a = arena_new();
        char *text = arena_printf(a, "%.*s%s", (int)(line - whole), whole, strchr(line, '\n') + 1);
        Text t = read_text(text);
        if (t.kernel) {
            char *once = printed(&t, true);
            reads_back(once, true);
            free(once);
        }
        drop(&t);
        arena_free(a);
    }
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

Suite *suite_ir_bundles(void)
{
    Suite *s = suite_create("ir bundles");
    TCase *c = tcase_create("ir bundles");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, a_text_round_trips);
    tcase_add_test(c, a_text_says_all);
    tcase_add_test(c, the_move_level_is_without_bundles);
    tcase_add_test(c, values_have_names);
    tcase_add_test(c, names_are_made_their_own);
    tcase_add_loop_test(c, grids_are_read_strictly, 0, COUNT(in_grid));
    tcase_add_loop_test(c, programs_are_read_strictly, 0, COUNT(in_program));
    tcase_add_loop_test(c, loops_are_read_strictly, 0, COUNT(in_loop));
    tcase_add_test(c, the_move_level_refuses_bundles);
    tcase_add_test(c, a_file_says_its_machine);
    tcase_add_test(c, cut_texts_do_no_harm);
    tcase_add_test(c, texts_with_gaps_do_no_harm);
    suite_add_tcase(s, c);
    return s;
}
