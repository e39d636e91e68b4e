// Textual IR of the task level: what is printed reads back as the same text, the reader takes nothing that does not say
// all, and the verifier sees each kind of broken kernel.
#include "ir/print.h"
#include "ir/read.h"
#include "ir/verify.h"
#include "sema/sema.h"
#include "syntax/parse.h"

#include <check.h>
#include <isl/ctx.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *suite_ir_text(void);

typedef struct {
    Arena *arena;
    Sources sources;
    Kernel *kernel;           // the first of the text; NULL after errors
    char *messages;
} Text;

static Text read_text(const char *text) {
    Text t = {.arena = arena_new()};
    t.sources.arena = t.arena;
    size_t n;
    FILE *out = open_memstream(&t.messages, &n);
    Diags *d = diags_new(t.arena, &t.sources, out);
    TreeFile *f = parse_file(t.arena, d, source_add(&t.sources, "t.ptoir", text, strlen(text)));
    if (f && f->level && f->kernels.n && diags_errors(d) == 0)
        t.kernel = ir_read_task(t.arena, d, f, f->kernels.at[0]);
    diags_finish(d);
    fclose(out);
    return t;
}

static void drop(Text *t) {
    free(t->messages);
    arena_free(t->arena);
}

static char *printed(const Kernel *k) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ir_print_task(out, k);
    fclose(out);
    return text;
}

// ---- texts ----

static const char softmax[] =
    "ir task;\n"
    "\n"
    "kernel softmax(x: f16[N, D]) -> (y: f16[N, D]) where D >= 1 {\n"
    "    dim N: x[0];\n"
    "    dim D: x[1];\n"
    "    tensor m inferred: f16[N];\n"
    "    tensor `m.max` hidden: f16[N];\n"
    "    tensor e local: f32[-1..N + 1 border zero, D border const(f32(-inf))];\n"
    "    equation `m.max` reduce 0: `m.max`[i] = max(j in 0..D where x[i, j] < f16(1.5), j > 0) x[i, j] where i in 0..N;\n"
    "    equation m map 0: m[i] = `m.max`[i] where i in 0..N;\n"
    "    equation `e.0` map 1: e[i, j] = exp(f32(x[i, j]) - f32(m[i])) where i in 0..N, j in i..D, i > 0 && j % 2 == 0, otherwise;\n"
    "    equation `y.s` scan 2: y[i, j] = scan(+, j, reverse) (x[i, j] + f16(0.1)) where i in 0..N, j in 0..D;\n"
    "    equation `y.init` map -1: y[2 * i + 1, 0] = f16(e[i, 0] / f32(3.0)) where i in 0..N / 2;\n"
    "    log(\"%g at %d\\n\", e[i, 0], i) where i in 0..N, i % 100 == 0;\n"
    "}\n"
    "\n"
    "schedule softmax on cpu {\n"
    "    tile i = 32 in L1;\n"
    "}\n";

static const char nested[] =
    "ir task;\n"
    "\n"
    "kernel nested(x: f32[N], ptr: i32[R], T: int, s: f32) -> (y: f32[R] = z, best: i64) {\n"
    "    dim N: x[0];\n"
    "    dim R: ptr[0];\n"
    "    dim T: int;\n"
    "    equation y map 0: y[i] = s * (sum(k in 0..N where k >= index(ptr[i])) (sum(j in 0..k) (x[j] + x[k]))) where i in 0..R;\n"
    "    equation best map 1: best = argmax(k in 0..N) x[k] + i64(argmin.i32(k in 0..N) x[k]) + i64(T) - scan(max, q, exclusive, reverse) i64(3) where q in 0..T;\n"
    "}\n";

START_TEST(texts_round_trip) {
    static const char *const texts[] = {softmax};
    Text t = read_text(texts[_i]);
    ck_assert_msg(t.kernel != NULL, "%s", t.messages);
    char *text = printed(t.kernel);
    ck_assert_str_eq(text, texts[_i]);
    free(text);
    drop(&t);
}
END_TEST

// Nested reductions, the arg forms, an output that starts from an input: what normalize has not yet taken apart.
START_TEST(texts_before_normalize_round_trip) {
    char *source = strdup(nested), *z = strstr(source, "= z");
    memcpy(z, "= x", 3);                                 // of another dim, which the verifier does not prove
    Text t = read_text(source);
    ck_assert_msg(t.kernel != NULL, "%s", t.messages);
    char *once = printed(t.kernel);
    Text u = read_text(once);
    ck_assert_msg(u.kernel != NULL, "%s\n%s", u.messages, once);
    char *twice = printed(u.kernel);
    ck_assert_str_eq(once, twice);
    ck_assert_ptr_eq(u.kernel->outputs.at[0]->init, u.kernel->tensors.at[0]);
    ck_assert_ptr_eq(u.kernel->params.at[2].dim, u.kernel->dims.at[2]);
    free(source);
    free(once);
    free(twice);
    drop(&t);
    drop(&u);
}
END_TEST

// ---- expressions ----

// kernel k(f: f32[N], i: i32[N], b: bool[N]) -> (y: type) { y = expression }
typedef struct { Arena *arena; Kernel *kernel; } Hand;

static Tensor *hand_tensor(Kernel *k, const char *name, DType type, TensorKind kind, Dim *d) {
    Tensor *t = ARENA_NEW(k->arena, Tensor);
    *t = (Tensor){.id = k->tensors.n, .name = name, .type = type, .kind = kind, .declared = true, .rank = d ? 1 : 0};
    t->lo = ARENA_ARRAY(k->arena, Expr *, 1);
    t->hi = ARENA_ARRAY(k->arena, Expr *, 1);
    t->border = ARENA_ARRAY(k->arena, Border, 1);
    if (d) {
        t->lo[0] = expr_int(k->arena, DT_INDEX, 0, t->range);
        t->hi[0] = expr_dim(k->arena, d, t->range);
    }
    VEC_PUSH(k->arena, &k->tensors, t);
    return t;
}

static Hand hand_kernel(void) {
    Hand h = {.arena = arena_new()};
    Kernel *k = h.kernel = ARENA_NEW(h.arena, Kernel);
    *k = (Kernel){.arena = h.arena, .name = "k"};
    Dim *d = ARENA_NEW(h.arena, Dim);
    *d = (Dim){.name = "N"};
    VEC_PUSH(h.arena, &k->dims, d);
    static const struct { const char *name; DType type; } inputs[] = {
        {.name = "f", .type = DT_F32}, {.name = "i", .type = DT_I32}, {.name = "b", .type = DT_BOOL}};
    for (int i = 0; i < 3; i++) {
        Param p = {.tensor = hand_tensor(k, inputs[i].name, inputs[i].type, TENSOR_INPUT, d)};
        VEC_PUSH(h.arena, &k->params, p);
    }
    d->tensor = k->tensors.at[0];
    return h;
}

static Expr *hand_read(Hand *h, int input) {
    Expr *sub = expr_int(h->arena, DT_INDEX, 0, (Range){0, 0});
    Expr *e = expr_new(h->arena, OP_READ, h->kernel->tensors.at[input]->type, (Range){0, 0}, 1, &sub);
    e->tensor = h->kernel->tensors.at[input];
    return e;
}

// Makes e the right side of `y`, then prints, reads and compares. The read-back right side is in *again.
static void hand_check(Hand *h, Expr *e, Text *again) {
    Kernel *k = h->kernel;
    k->tensors.n = 3;
    k->outputs.n = k->equations.n = 0;
    bool index = e->type == DT_INDEX;
    Tensor *y = hand_tensor(k, "y", index ? DT_I64 : e->type, TENSOR_OUTPUT, NULL);
    VEC_PUSH(h->arena, &k->outputs, y);
    Equation *eq = ARENA_NEW(h->arena, Equation);
    *eq = (Equation){.name = "y", .lhs = y, .rhs = index ? expr_unary(h->arena, OP_CONVERT, DT_I64, e) : e};
    VEC_PUSH(h->arena, &k->equations, eq);
    ck_assert(ir_verify_task(k, stderr));
    char *once = printed(k);
    *again = read_text(once);
    ck_assert_msg(again->kernel != NULL, "%s\n%s", once, again->messages);
    char *twice = printed(again->kernel);
    ck_assert_str_eq(once, twice);
    free(once);
    free(twice);
}

START_TEST(every_operation_round_trips) {
    Op op = (Op)_i;
    OpClass class = op_class(op);
    if (class == OPC_LEAF || class == OPC_NEST)
        return;
    Hand h = hand_kernel();
    int input = class == OPC_BITS ? 1 : class == OPC_LOGIC ? 2 : 0;
    Expr *args[3] = {hand_read(&h, input), hand_read(&h, input), hand_read(&h, input)};
    DType type = class == OPC_COMPARE || class == OPC_LOGIC ? DT_BOOL : args[0]->type;
    if (op == OP_SELECT)
        args[0] = hand_read(&h, 2);
    if (op == OP_CHECK)
        args[0] = hand_read(&h, 1);
    if (op == OP_CONVERT)
        type = DT_U8;
    Expr *e = expr_new(h.arena, op, type, (Range){0, 0}, op_arity(op), args);
    Text again;
    hand_check(&h, e, &again);
    const Expr *r = again.kernel->equations.at[0]->rhs;
    ck_assert_int_eq(r->op, op);
    ck_assert_int_eq(r->type, type);
    drop(&again);
    // and below a minus, a product and a select, where brackets matter
    Expr *outer = dtype_is_float(type) ? expr_binary(h.arena, OP_MUL, type, expr_unary(h.arena, OP_NEG, type, e), e) : e;
    Expr *select[3] = {hand_read(&h, 2), outer, outer};
    hand_check(&h, expr_new(h.arena, OP_SELECT, type, (Range){0, 0}, 3, select), &again);
    drop(&again);
    arena_free(h.arena);
}
END_TEST

START_TEST(literals_keep_type_and_bits) {
    static const double reals[] = {0.0, -0.0, 1, -1, 0.1, 1e-45, 3.4028234663852886e38, INFINITY, -INFINITY, NAN, 65504, 6.1e-5, 1.0 / 3, 1e300, 5e-324, 123456789};
    static const int64_t integers[] = {0, 1, -1, 127, -128, 2147483647, INT64_MAX, INT64_MIN};
    Hand h = hand_kernel();
    for (int type = 0; type < DT_COUNT; type++) {
        bool real = dtype_is_float((DType)type);
        int n = (int)(real ? sizeof reals / sizeof *reals : sizeof integers / sizeof *integers);
        for (int i = 0; i < n; i++) {
            Expr *e = real ? expr_float(h.arena, (DType)type, reals[i], (Range){0, 0})
                           : expr_int(h.arena, (DType)type, fold_wrap_int((DType)type, integers[i]), (Range){0, 0});
            if (type == DT_BOOL)
                e->i = i & 1;
            Text again;
            hand_check(&h, e, &again);
            const Expr *r = again.kernel->equations.at[0]->rhs;
            r = type == DT_INDEX ? r->args[0] : r;
            ck_assert_int_eq(r->op, OP_CONST);
            ck_assert_int_eq(r->type, type);
            if (real)
                ck_assert(isnan(e->f) ? isnan(r->f) : memcmp(&r->f, &e->f, sizeof e->f) == 0);
            else
                ck_assert_int_eq(r->i, e->i);
            drop(&again);
        }
    }
    arena_free(h.arena);
}
END_TEST

// What could be taken for a literal and is none: conversions of index constants, a minus in front of one.
START_TEST(conversions_are_no_literals) {
    Hand h = hand_kernel();
    for (int64_t value = -3; value <= 3; value += 6) {
        Expr *three = expr_int(h.arena, DT_INDEX, value, (Range){0, 0});
        Expr *minus = expr_unary(h.arena, OP_NEG, DT_INDEX, three);
        Text again;
        hand_check(&h, expr_unary(h.arena, OP_CONVERT, DT_F32, three), &again);
        ck_assert_int_eq(again.kernel->equations.at[0]->rhs->op, OP_CONVERT);
        ck_assert_int_eq(again.kernel->equations.at[0]->rhs->args[0]->op, OP_CONST);
        drop(&again);
        hand_check(&h, expr_unary(h.arena, OP_CONVERT, DT_F32, minus), &again);
        ck_assert_int_eq(again.kernel->equations.at[0]->rhs->args[0]->op, OP_NEG);
        drop(&again);
    }
    arena_free(h.arena);
}
END_TEST

// ---- what sema makes of whole programs ----

static void check_kernel(const Kernel *k) {
    ck_assert(ir_verify_task(k, stderr));
    char *once = printed(k);
    Text t = read_text(once);
    ck_assert_msg(t.kernel != NULL, "%s\n%s", t.messages, once);
    char *twice = printed(t.kernel);
    ck_assert_str_eq(once, twice);
    free(once);
    free(twice);
    drop(&t);
}

// Kernels that use what is not built yet are left out.
START_TEST(analysed_kernels_round_trip) {
    char path[512], *messages;
    const char *slash = strrchr(__FILE__, '/'), *error;
    snprintf(path, sizeof path, "%.*strial.pto", slash ? (int)(slash - __FILE__ + 1) : 0, __FILE__);
    Arena *a = arena_new();
    Sources sources = {.arena = a};
    SourceFile *file = source_load(&sources, path, &error);
    ck_assert_msg(file != NULL, "%s: %s; run from the top of the tree", path, error);
    size_t size;
    FILE *out = open_memstream(&messages, &size);
    Diags *d = diags_new(a, &sources, out);
    isl_ctx *isl = isl_ctx_alloc();
    Module *m = sema_file(a, budget_new(a, isl, 100000000), d, parse_file(a, d, file));
    fclose(out);
    free(messages);
    ck_assert_int_gt(m->kernels.n, 30);
    for (int i = 0; i < m->kernels.n; i++)
        check_kernel(m->kernels.at[i]);
    isl_ctx_free(isl);
    arena_free(a);
}
END_TEST

// ---- the reader refuses ----

static const struct { const char *from, *to, *message; } refusals[] = {
    {"x[i, j] < f16(1.5)", "x[i, j] < 1.5", "a literal without its type"},
    {"f16(1.5)", "f16(1)", "has a point or an exponent"},
    {"f16(1.5)", "f32(1.5)", "lt of f16 has an argument of type f32"},
    {"`m.max`[i] where", "nothing[i] where", "'nothing' is no tensor"},
    {"i in 0..N / 2", "i in 0..=N", "a range is lo..hi"},
    {" where i in 0..N, i % 100", " where i % 100", "nothing defines 'i'"},
    {"dim D: x[1];", "dim D: x[2];", "a dim is bound by"},
    {"dim D: x[1];", "", "nothing defines 'D'"},
    {"inferred", "guessed", "a tensor is local, inferred or hidden"},
    {"m map 0", "m fold 0", "an equation is a map, a reduce or a scan"},
    {"`m.max` reduce 0", "`m.max` scan 0", "the right side is no scan"},
    {"exp(", "expo(", "'expo' is no operation"},
    {"exp(", "pow(", "'pow' has 2 arguments"},
    {"f16(e[i, 0] / f32(3.0))", "e[i, 0]", "a right side of type f32 for `y` of type f16"},
    {"f16(e[i, 0] / f32(3.0))", "f16(sum(k in 0..N) e[k, 0])", "a reduction inside an expression after normalize"},
    {"scan(+, j, reverse)", "scan(+, k)", "a scan has an operator and an index"},
    {"border zero", "border none", "no border"},
    {"const(f32(-inf))", "const(f16(-inf))", "a border that is no constant or scalar parameter of the tensor's type"},
    {"tensor m inferred", "tensor x inferred", "'x' is defined twice"},
    {"where D >= 1", "where D + 1", "a condition of type index"},
    {"equation m map 0: m[i]", "equation m map 0: m[i, i]", "a left side is one tensor"},
    {"equation m map", "equation `m.max` map", "the name `m.max` is used twice"},
    {"i > 0 && j % 2 == 0", "x[i, j] > f16(0.0)", "a read in a range"},
    {"ir task;", "ir move;", "starts with 'ir task;'"},
    {"log(", "print(", "neither dim, tensor, equation nor log"},
    {"equation m map 0: m[i]", "m[i]", "starts with dim, tensor, equation or log"},
    {"m[i] = `m.max`[i] where i in 0..N", "m[N] = `m.max`[0] where N in 0..3", "index `N` hides a dim or a tensor"},
};

START_TEST(the_reader_is_strict) {
    const char *at = strstr(softmax, refusals[_i].from);
    ck_assert_ptr_nonnull(at);
    Arena *a = arena_new();
    char *text = arena_printf(a, "%.*s%s%s", (int)(at - softmax), softmax, refusals[_i].to, at + strlen(refusals[_i].from));
    Text t = read_text(text);
    ck_assert_ptr_null(t.kernel);
    ck_assert_msg(strstr(t.messages, refusals[_i].message) != NULL, "no '%s' in:\n%s", refusals[_i].message, t.messages);
    drop(&t);
    arena_free(a);
}
END_TEST

// Deleting any part of a text gives an error or a kernel, never a crash.
START_TEST(cut_texts_do_no_harm) {
    size_t size = strlen(softmax);
    char *text = malloc(size + 1);
    for (size_t length = 1; length < 30; length += 7)
        for (size_t at = 9; at + length < size; at += 3) {
            memcpy(text, softmax, at);
            strcpy(text + at, softmax + at + length);
            Text t = read_text(text);
            drop(&t);
        }
    free(text);
}
END_TEST

// ---- the verifier, on what no text can say ----

static void expect_broken(const Kernel *k, const char *message) {
    char *why;
    size_t size;
    FILE *out = open_memstream(&why, &size);
    bool good = ir_verify_task(k, out);
    fclose(out);
    ck_assert(!good);
    ck_assert_msg(strstr(why, message) != NULL, "no '%s' in: %s", message, why);
    ck_assert(!ir_verify_task(k, NULL));
    free(why);
}

START_TEST(broken_kernels_are_seen) {
    Text t = read_text(softmax);
    Kernel *k = t.kernel;
    ck_assert_ptr_nonnull(k);
    Equation *m = k->equations.at[1];
    k->tensors.at[1]->id = 7;
    expect_broken(k, "its id is 7 at position 1");
    k->tensors.at[1]->id = 1;
    m->indices.n = 0;
    expect_broken(k, "index `i` is used where it is not bound");
    m->indices.n = 1;
    m->nest = k->equations.at[0]->nest;
    expect_broken(k, "a map with a nest");
    m->nest = NULL;
    m->rhs->n = 0;
    expect_broken(k, "0 subscripts for `m.max` of rank 1");
    m->rhs->n = 1;
    m->rhs->type = DT_F32;
    expect_broken(k, "has type f32");
    m->rhs->type = DT_F16;
    k->outputs.n = 0;
    expect_broken(k, "no output");
    k->outputs.n = 1;
    k->params.n = 0;
    expect_broken(k, "inputs stand once among the parameters");
    k->params.n = 1;
    ck_assert(ir_verify_task(k, stderr));
    drop(&t);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

Suite *suite_ir_text(void) {
    Suite *s = suite_create("ir text");
    TCase *c = tcase_create("ir text");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, texts_round_trip, 0, 1);
    tcase_add_test(c, texts_before_normalize_round_trip);
    tcase_add_loop_test(c, every_operation_round_trips, 0, OP_COUNT);
    tcase_add_test(c, literals_keep_type_and_bits);
    tcase_add_test(c, conversions_are_no_literals);
    tcase_add_test(c, analysed_kernels_round_trip);
    tcase_add_loop_test(c, the_reader_is_strict, 0, COUNT(refusals));
    tcase_add_test(c, cut_texts_do_no_harm);
    tcase_add_test(c, broken_kernels_are_seen);
    suite_add_tcase(s, c);
    return s;
}
