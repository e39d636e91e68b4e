// The command line's parts: options, @files, depfiles, binding of values, sizes, guarded buffers, and `check` on a
// kernel written by hand, right and wrong in several ways.
#include "base/source.h"
#include "cli/bind.h"
#include "cli/cache.h"
#include "cli/check.h"
#include "cli/depfile.h"
#include "cli/guard.h"
#include "cli/options.h"
#include "cli/sizes.h"
#include "cli/unit.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *suite_cli(void);

static Arena *arena;

static void set_up(void) { arena = arena_new(); }
static void tear_down(void) { arena_free(arena); }

// ---- options ----

static Options options;
static const char *error;

static bool parse(const char *line)
{
    Words words = {0};
    options_split(arena, line, &words);
    char **argv = ARENA_ARRAY(arena, char *, words.n + 2);
    argv[0] = arena_strdup(arena, "ptoc");
    for (int k = 0; k < words.n; k++)
        argv[k + 1] = arena_strdup(arena, words.at[k]);
    return options_parse(arena, words.n + 1, argv, &options, &error);
}

START_TEST(options_of_the_compiler)
{
    ck_assert_msg(parse("a.pto -o a.c --target=x86-64-v3 -MD -MFa.d -MT x -MQ y -MP -g -O3 -Wall -Wno-unused "
                        "-fdiagnostics-color=never -fdiagnostics-format=json --emit-ir --header h.h"), "%s", error);
    ck_assert_int_eq(options.command, COMMAND_COMPILE);
    ck_assert_str_eq(options.input, "a.pto");
    ck_assert_str_eq(options.outputs.at[0], "a.c");
    ck_assert_str_eq(options.target, "x86-64-v3");
    ck_assert_str_eq(options.depend_file, "a.d");
    ck_assert_int_eq(options.depend_targets.n, 2);
    ck_assert(!options.depend_targets.at[0].quote && options.depend_targets.at[1].quote);
    ck_assert_int_eq(options.opt_level, 3);
    ck_assert_str_eq(options.warnings.at[1], "no-unused");
    ck_assert(options.json && options.color == COLOR_NEVER && options.line_directives && options.depend_phony);
    ck_assert_str_eq(options.emit_ir, "task");
    ck_assert_str_eq(options.header, "h.h");
    ck_assert(parse("a.pto --target generic,x86-64-v3 --explain"));
    ck_assert_str_eq(options.target, "generic,x86-64-v3");
    ck_assert_ptr_null(options.machine_set);
    ck_assert(parse("a.pto --machine-set=L1.size=1KiB,cores=2 --machine-set dispatch=0"));
    ck_assert_str_eq(options.machine_set, "L1.size=1KiB,cores=2,dispatch=0");
    ck_assert(parse("run a.pto --machine-set cores=2") && parse("check a.pto --machine-set cores=2"));
    ck_assert(!parse("a.pto --machine-set=") && strstr(error, "--machine-set needs NAME=VALUE"));
    ck_assert(!parse("a.pto --target=generic,x86-64-v3 --emit-ir") && strstr(error, "--emit-ir is about the code for one target"));
    ck_assert(!parse("a.pto --target=generic,x86-64-v3 --emit-schedule"));
    ck_assert(parse("- -o -"));
    ck_assert_str_eq(options.input, "-");
    ck_assert(parse("a.pto b.pto -o c.c -"));
    ck_assert_str_eq(options.input, "a.pto");
    ck_assert_int_eq(options.schedules.n, 2);
    ck_assert_str_eq(options.schedules.at[0], "b.pto");
    ck_assert(parse("-- -odd.pto"));
    ck_assert_str_eq(options.input, "-odd.pto");
}
END_TEST

START_TEST(options_of_run_and_check)
{
    ck_assert_msg(parse("run a.pto -k f x=random(3,4:1) --threads 2 --mode=wave -o y=y.npy -oz=z.npy"), "%s", error);
    ck_assert_int_eq(options.command, COMMAND_RUN);
    ck_assert_str_eq(options.values.at[0].name, "x");
    ck_assert_str_eq(options.values.at[0].value, "random(3,4:1)");
    ck_assert_int_eq(options.threads, 2);
    ck_assert_int_eq(options.outputs.n, 2);
    ck_assert(parse("check a.pto --dim N=3 --dim N=4 --seed 7 --effort=2"));
    ck_assert_int_eq(options.dims.n, 2);
    ck_assert_uint_eq(options.seed, 7);
    ck_assert(parse("info"));
    ck_assert(parse("run --help"));
    ck_assert_int_eq(options.print, PRINT_HELP);
}
END_TEST

START_TEST(wrong_usage)
{
    static const char *const lines[][2] = {
        {"", "no input"}, {"a.pto -o", "needs an argument"}, {"a.pto b.c", "one file"}, {"a.pto b.pto b.pto", "twice"}, {"- -", "once"}, {"a.pto --nothing", "--nothing"},
        {"a.pto -O4", "-O4"}, {"a.pto -MF x", "-MD"}, {"a.pto --threads 2", "not an option"}, {"run a.pto --threads 0", "1 to 4096"},
        {"run a.pto y", "neither"}, {"run a.pto x.npy", "neither"}, {"check a.pto --dim N", "NAME=VALUE"}, {"run a.pto --mode fast", "'fast'"}, {"a.pto --emit-ir=all", "'all'"},
        {"a.pto -I inc", "`import` is not built yet"}, {"run a.pto -Iinc", "-I inc"},
        {"@none", "@none"}, {"info x", "no argument"}, {"a.pto -gx", "-gx"}, {"a.pto -fdiagnostics-color=red", "red"}, {"a.pto -o a.c -o b.c", "twice"},
    };
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        error = NULL;
        ck_assert_msg(!parse(lines[k][0]), "%s", lines[k][0]);
        ck_assert_msg(error && strstr(error, lines[k][1]), "%s: %s", lines[k][0], error);
    }
}
END_TEST

START_TEST(words_of_a_file)
{
    Words w = {0};
    options_split(arena, " a 'b c'\t\"d 'e\"\\ f\n''\\\\ x\"y\"z \\'", &w);
    static const char *const expected[] = {"a", "b c", "d 'e f", "\\", "xyz", "'"};
    ck_assert_int_eq(w.n, 6);
    for (int k = 0; k < 6; k++)
        ck_assert_str_eq(w.at[k], expected[k]);
}
END_TEST

// ---- depfiles ----

static char *captured;
static size_t captured_size;
static FILE *capture(void) { return open_memstream(&captured, &captured_size); }

START_TEST(depfile_names)
{
    static const char *const cases[][2] = {{"a b", "a\\ b"}, {"$x#y", "$$x\\#y"}, {"a\\b", "a\\b"}, {"a\\ b", "a\\\\\\ b"}};
    for (size_t k = 0; k < 4; k++) {
        FILE *f = capture();
        depfile_quote(f, cases[k][0]);
        fclose(f);
        ck_assert_str_eq(captured, cases[k][1]);
        free(captured);
    }
    FILE *f = capture();
    depfile_write(f, 2, (const char *[]){"a.c", "$(x)"}, (bool[]){true, false}, 2, (const char *[]){"a.pto", "b c.pto"}, true);
    fclose(f);
    ck_assert_str_eq(captured, "a.c $(x): a.pto b\\ c.pto\nb\\ c.pto:\n");
    free(captured);
}
END_TEST

START_TEST(names_that_were_meant)
{
    static const char *const names[] = {"alpha", "beta", "x"};
    ck_assert_str_eq(closest_name("alhpa", 3, names), "alpha");
    ck_assert(closest_name("nothing", 3, names) == NULL);
}
END_TEST

START_TEST(hashes_differ)
{
    Hash a = hash_new(), b = hash_new(), c = hash_new();
    hash_add_text(&a, "ab");
    hash_add_text(&a, "c");
    hash_add_text(&b, "a");
    hash_add_text(&b, "bc");
    hash_add_text(&c, "ab");
    hash_add_text(&c, "c");
    ck_assert(a.a != b.a && a.b != b.b);
    ck_assert(a.a == c.a && a.b == c.b);
}
END_TEST

START_TEST(guarded_buffers)
{
    for (int layout = 0; layout < LAYOUT_COUNT; layout++)
        for (int rank = 0; rank < 4; rank++) {
            Guarded *g = guarded_new(arena, DT_F32, rank, (int64_t[]){3, 2, 5}, (Layout)layout);
            Array *x = array_new(arena, DT_F32, rank, (int64_t[]){3, 2, 5}, &error);
            spec_random(x, 1, false, 0, 0);
            guarded_put(g, x);
            ck_assert(guarded_intact(arena, g, x));
            for (int64_t k = 0; k < x->size; k++)
                ck_assert_mem_eq(guarded_at(g, k), (char *)x->data + 4 * k, 4);
            *(float *)guarded_at(g, 0) = 5;
            ck_assert(!guarded_intact(arena, g, x));
            ck_assert(guarded_intact(arena, g, NULL));
            ((char *)guarded_at(g, 0))[rank && layout == LAYOUT_REVERSED ? 4 : -1] = 0;
            ck_assert(!guarded_intact(arena, g, NULL));
        }
}
END_TEST

// ---- a kernel by hand: y[i] = sum(j in 0..=i) x[j], s = x[0] + N ----

static const Range nowhere = {0, 0};
static Kernel kernel;

static Index *index_to(Expr *hi)
{
    Index *i = ARENA_NEW(arena, Index);
    *i = (Index){.name = "i", .lo = expr_int(arena, DT_INDEX, 0, nowhere), .hi = hi};
    return i;
}

static Tensor *tensor(const char *name, TensorKind kind, Dim *n)
{
    Tensor *t = ARENA_NEW(arena, Tensor);
    *t = (Tensor){.id = kernel.tensors.n, .name = name, .kind = kind, .type = DT_F32, .rank = 1};
    t->lo = ARENA_ARRAY(arena, Expr *, 1);
    t->hi = ARENA_ARRAY(arena, Expr *, 1);
    t->border = ARENA_ARRAY(arena, Border, 1);
    t->lo[0] = expr_int(arena, DT_INDEX, 0, nowhere);
    t->hi[0] = expr_dim(arena, n, nowhere);
    VEC_PUSH(arena, &kernel.tensors, t);
    return t;
}

static Expr *read_at(Tensor *t, Index *i)
{
    Expr *sub = expr_index(arena, i, nowhere);
    Expr *e = expr_new(arena, OP_READ, t->type, nowhere, 1, &sub);
    e->tensor = t;
    return e;
}

static void make_kernel(void)
{
    kernel = (Kernel){.arena = arena, .name = "prefix"};
    Dim *n = ARENA_NEW(arena, Dim);
    VEC_PUSH(arena, &kernel.dims, n);
    Tensor *x = tensor("x", TENSOR_INPUT, n), *y = tensor("y", TENSOR_OUTPUT, n);
    *n = (Dim){.name = "N", .tensor = x};
    Param p = {.tensor = x};
    VEC_PUSH(arena, &kernel.params, p);
    VEC_PUSH(arena, &kernel.outputs, y);
    Index *i = index_to(expr_dim(arena, n, nowhere));
    Index *j = index_to(expr_binary(arena, OP_ADD, DT_INDEX, expr_index(arena, i, nowhere), expr_int(arena, DT_INDEX, 1, nowhere)));
    Expr *body = read_at(x, j), *sum = expr_new(arena, OP_REDUCE, DT_F32, nowhere, 1, &body);
    sum->nest = ARENA_NEW(arena, Nest);
    sum->nest->op = RED_SUM;
    VEC_PUSH(arena, &sum->nest->indices, j);
    Equation *e = ARENA_NEW(arena, Equation);
    *e = (Equation){.name = "y", .lhs = y, .rhs = sum};
    e->subs = ARENA_ARRAY(arena, Expr *, 1);
    e->subs[0] = expr_index(arena, i, nowhere);
    VEC_PUSH(arena, &e->indices, i);
    VEC_PUSH(arena, &kernel.equations, e);
}

typedef enum { RIGHT, LAST_ONE_MISSING, OUT_OF_BOUNDS, WRITES_INPUT, LOSES_ONE, DEPENDS_ON_WORKERS, FAILS, SLIGHTLY_OFF } Fault;
static Fault fault;

static pto_status call(pto_context *ctx, void *const *args)
{
    const pto_tensor *x = args[0], *y = args[1];
    float sum = 0;
    pto_status s = pto_enter(&ctx, "prefix");
    if (s != PTO_OK)
        return s;
    for (int64_t i = 0; i < x->shape[0]; i++) {
        float *in = (float *)x->data + i * x->stride[0], *out = (float *)y->data + i * y->stride[0];
        sum += fault == LOSES_ONE && i == 15 ? 0 : *in;
        if (fault != LAST_ONE_MISSING || i + 1 < x->shape[0])
            *out = sum;
        if (fault == WRITES_INPUT && i == 12)
            *in = 0;
        if (fault == SLIGHTLY_OFF && i == 0)
            *out += *in * 1e-6f;
        if (fault == DEPENDS_ON_WORKERS && pto_workers(ctx) == 3 && i == 6)
            *out *= 1.0000001f;
        if (fault == OUT_OF_BOUNDS && i + 1 == x->shape[0])
            out[y->stride[0]] = sum;
    }
    return pto_leave(ctx, fault == FAILS && x->shape[0] == 7 ? PTO_ERR_BOUNDS : PTO_OK);
}

static size_t workspace(pto_context *ctx, void *const *args) { return 100; }

static const pto_param params[] = {{"x", PTO_PARAM_TENSOR, PTO_F32, 1, "[N]"}, {"y", PTO_PARAM_OUTPUT, PTO_F32, 1, "[N]"}};
static const pto_kernel code = {.name = "prefix", .target = "generic", .nparams = 2, .params = params, .call = call, .workspace = workspace};

// y is computed in tiles of six, backwards.
static Tiling tiles_of_six(void)
{
    const Equation *e = kernel.equations.at[0];
    Expr *n = expr_dim(arena, kernel.dims.at[0], nowhere), *i = expr_index(arena, e->indices.at[0], nowhere);
    Tiling t = {.kernel = "prefix", .tensor = "y", .eq = e, .n = 1, .index = e->indices.at, .naxes = 1};
    t.axis[0] = (TilingAxis){.name = "i", .at = expr_unary(arena, OP_NEG, DT_INDEX, i), .tile = expr_int(arena, DT_INDEX, 6, nowhere)};
    t.axis[0].begin = expr_binary(arena, OP_SUB, DT_INDEX, expr_int(arena, DT_INDEX, 1, nowhere), n);
    return t;
}

static const char *check_with(Fault f, int expected, CheckResult *result)
{
    make_kernel();
    ck_assert(bind_matches(&kernel, &code));
    fault = f;
    FILE *out = capture();
    CheckJob job = {.kernel = &kernel, .code = &code, .file = "x.pto", .target = "generic", .seed = 1, .effort = 4, .out = out, .err = out};
    VEC_PUSH(arena, &job.edges, 16);
    Tilings tilings = {0};
    VEC_PUSH(arena, &tilings, tiles_of_six());
    job.tilings = &tilings;
    int got = check_kernel(&job, result);
    fclose(out);
    char *text = arena_strdup(arena, captured);
    free(captured);
    ck_assert_msg(got == expected, "%d: %s", got, text);
    return text;
}

START_TEST(a_right_kernel_passes)
{
    CheckResult r;
    const char *text = check_with(RIGHT, 0, &r);
    ck_assert_msg(strstr(text, "runs of prefix: all equal\n") != NULL, "%s", text);
    ck_assert_int_gt(r.runs, 100);
    ck_assert_int_eq(r.unjudged, 0);
}
END_TEST

START_TEST(wrong_kernels_are_found)
{
    static const struct { Fault fault; const char *message; } cases[] = {
        {LAST_ONE_MISSING, "y[12] is NaN"}, {OUT_OF_BOUNDS, "wrote outside"}, {WRITES_INPUT, "into 'x'"}, {LOSES_ONE, "y[15] is"},
        {DEPENDS_ON_WORKERS, "depends on mode"}, {FAILS, "every output is defined"}, {SLIGHTLY_OFF, "y[0] is"},
        {LAST_ONE_MISSING, "; equation y, in tile (0) of 6 over i [check]"}, {SLIGHTLY_OFF, "; equation y, in tile (2) of 6 over i [check]"},
        {DEPENDS_ON_WORKERS, " before; equation y, in tile ("},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        CheckResult r;
        const char *text = check_with(cases[k].fault, 1, &r);
        ck_assert_msg(strstr(text, cases[k].message) != NULL, "%s: %s", cases[k].message, text);
        ck_assert(strstr(text, "again: ptoc check x.pto -k prefix --target=generic --dim N=") != NULL);
    }
}
END_TEST

// ---- binding ----

static const char *bound(const char *line, int expected, Inputs *inputs)
{
    make_kernel();
    ck_assert_msg(parse(arena_printf(arena, "run a.pto %s", line)), "%s", error);
    int got = bind_inputs(arena, &kernel, &options.values, inputs, &error);
    ck_assert_msg(got == expected, "%s: %d %s", line, got, got ? error : "");
    return error;
}

START_TEST(values_are_bound)
{
    Inputs in;
    bound("x=random(5:3)", 0, &in);
    ck_assert_int_eq(in.dims[0], 5);
    ck_assert_int_eq(in.arrays[0]->size, 5);
    bound("x=iota N=4", 0, &in);
    ck_assert_int_eq(in.arrays[0]->size, 4);
    static const struct { const char *line; int code; const char *message; } cases[] = {
        {"", 2, "also needs 'x: f32[N]'"}, {"x=ones(3) xx=2", 2, "did you mean 'x'"}, {"x=ones(3) x=ones(3)", 2, "twice"},
        {"x=ones(3,4)", 1, "[3, 4]"}, {"x=ones", 1, "N is not known"}, {"x=ones(3) N=4", 1, "N is 3"}, {"x=none.npy", 1, "none.npy"},
        {"x=what", 1, "not a value"}, {"x=ones N=-1", 1, "not negative"}, {"x=ones N=1.5", 1, "whole number"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *text = bound(cases[k].line, cases[k].code, &in);
        ck_assert_msg(strstr(text, cases[k].message) != NULL, "%s: %s", cases[k].line, text);
    }
}
END_TEST

START_TEST(sizes_obey_assumptions)
{
    make_kernel();
    Dim *n = kernel.dims.at[0];
    Expr *even = expr_binary(arena, OP_EQ, DT_BOOL, expr_binary(arena, OP_REM, DT_INDEX, expr_dim(arena, n, nowhere), expr_int(arena, DT_INDEX, 2, nowhere)),
                             expr_int(arena, DT_INDEX, 0, nowhere));
    VEC_PUSH(arena, &kernel.where, even);
    SizeRequest request = {.kernel = &kernel, .fixed = ARENA_ARRAY(arena, Numbers, 1), .nrandom = 5};
    sizes_from_text(arena, "tile i = 64 in L1, j2 = 32; max 1; 5%", &request.edges);
    ck_assert_int_eq(request.edges.n, 2);
    SizeList list = sizes_plan(arena, &request);
    bool has_64 = false;
    for (int k = 0; k < list.n; k++) {
        ck_assert_int_eq(list.at[k][0] % 2, 0);
        has_64 |= list.at[k][0] == 64;
    }
    ck_assert(has_64);
    VEC_PUSH(arena, &request.fixed[0], 7);
    ck_assert_int_eq(sizes_plan(arena, &request).n, 0);
}
END_TEST

// Blocks of min(N, 70) points of N - 1, tasks of 4,000 in a kernel of another name.
START_TEST(sizes_around_steps)
{
    make_kernel();
    Expr *n = expr_dim(arena, kernel.dims.at[0], nowhere);
    TilingSteps steps = {0};
    VEC_PUSH(arena, &steps, ((TilingStep){ kernel.name, expr_binary(arena, OP_MIN, DT_INDEX, n, expr_int(arena, DT_INDEX, 70, nowhere)),
                                           expr_binary(arena, OP_SUB, DT_INDEX, n, expr_int(arena, DT_INDEX, 1, nowhere)) }));
    VEC_PUSH(arena, &steps, ((TilingStep){ "another", expr_int(arena, DT_INDEX, 4000, nowhere), n }));
    SizeRequest request = {.kernel = &kernel, .fixed = ARENA_ARRAY(arena, Numbers, 1), .steps = &steps};
    SizeList list = sizes_plan(arena, &request);
    int found = 0;
    for (int k = 0; k < list.n; k++) {
        found += list.at[k][0] >= 70 && list.at[k][0] <= 72;
        ck_assert_int_lt(list.at[k][0], 3999);
    }
    ck_assert_int_eq(found, 3);
}
END_TEST

Suite *suite_cli(void)
{
    Suite *s = suite_create("cli");
    TCase *c = tcase_create("cli");
    tcase_add_checked_fixture(c, set_up, tear_down);
    tcase_set_timeout(c, 120);
    tcase_add_test(c, options_of_the_compiler);
    tcase_add_test(c, options_of_run_and_check);
    tcase_add_test(c, wrong_usage);
    tcase_add_test(c, words_of_a_file);
    tcase_add_test(c, depfile_names);
    tcase_add_test(c, names_that_were_meant);
    tcase_add_test(c, hashes_differ);
    tcase_add_test(c, guarded_buffers);
    tcase_add_test(c, a_right_kernel_passes);
    tcase_add_test(c, wrong_kernels_are_found);
    tcase_add_test(c, values_are_bound);
    tcase_add_test(c, sizes_obey_assumptions);
    tcase_add_test(c, sizes_around_steps);
    suite_add_tcase(s, c);
    return s;
}
