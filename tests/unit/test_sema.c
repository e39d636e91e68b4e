// sema and the proofs: what kernels become.
//
// Tables of small programs with what must be inferred: ranges, shapes, types and conversions, by the rules of
// LANGUAGE.md in their order. Errors are the business of tests/errors/sema; here only what their number, their order and
// the shape of the tree ask for: no cascades, no crash on any tree, time linear in the number of equations.
#include "passes/prove.h"
#include "sema/sema.h"
#include "syntax/parse.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

Suite *suite_sema(void);

typedef struct {
    Arena *arena;
    Sources sources;
    isl_ctx *isl;
    Budget *budget;
    Module *module;
    int errors;
    char *messages;
} Analysed;

static Analysed analyse(const char *text)
{
    Analysed r = {.arena = arena_new(), .isl = isl_ctx_alloc()};
    r.budget = budget_new(r.arena, r.isl, 100000000);
    r.sources.arena = r.arena;
    size_t size;
    FILE *out = open_memstream(&r.messages, &size);
    Diags *d = diags_new(r.arena, &r.sources, out);
    TreeFile *t = parse_file(r.arena, d, source_add(&r.sources, "t.pto", text, strlen(text)));
    if (t && diags_errors(d) == 0) r.module = sema_file(r.arena, r.budget, d, t);
    for (int i = 0; r.module && i < r.module->kernels.n; i++) {
        Poly *p = poly_new(r.arena, r.budget, r.module->kernels.at[i]);
        prove_kernel(r.arena, p, d, r.module->kernels.at[i]);
        poly_free(p);
    }
    r.errors = diags_errors(d);
    diags_flush(d);
    fclose(out);
    return r;
}

// Also checks that every isl object was freed.
static void drop(Analysed *r)
{
    isl_ctx_free(r->isl);
    free(r->messages);
    arena_free(r->arena);
}

static Kernel *kernel_of(const Analysed *r)
{
    ck_assert_msg(r->module && r->module->kernels.n == 1 && r->errors == 0, "%s", r->messages);
    return r->module->kernels.at[0];
}

static char *add(Arena *a, char *text, const char *more) { return arena_printf(a, "%s%s%s", text, *text ? ", " : "", more); }

static char *range_text(Arena *a, Expr *lo, Expr *hi)
{
    return arena_printf(a, "%s..%s", expr_text_subscript(a, lo), expr_text_subscript(a, hi));
}

// "i in 0..N, j in 0..i, j > 0, otherwise".
static char *domain_text(Arena *a, const Equation *e)
{
    char *s = arena_strdup(a, "");
    for (int i = 0; i < e->indices.n; i++) {
        Index *x = e->indices.at[i];
        s = add(a, s, arena_printf(a, "%s in %s", x->name, range_text(a, x->lo, x->hi)));
    }
    for (int i = 0; i < e->conds.n; i++) s = add(a, s, expr_text(a, e->conds.at[i]));
    return e->otherwise ? add(a, s, "otherwise") : s;
}

// "f32[0..N, 0..M]".
static char *type_text(Arena *a, const Tensor *t)
{
    char *s = arena_strdup(a, "");
    for (int d = 0; d < t->rank; d++) s = add(a, s, range_text(a, t->lo[d], t->hi[d]));
    return t->rank ? arena_printf(a, "%s[%s]", dtype_name(t->type), s) : arena_strdup(a, dtype_name(t->type));
}

static Equation *equation(const Kernel *k, const char *name)
{
    for (int i = 0; i < k->equations.n; i++)
        if (strcmp(k->equations.at[i]->name, name) == 0) return k->equations.at[i];
    ck_abort_msg("no equation %s", name);
}

static Tensor *tensor(const Kernel *k, const char *name)
{
    for (int i = 0; i < k->tensors.n; i++)
        if (strcmp(k->tensors.at[i]->name, name) == 0) return k->tensors.at[i];
    ck_abort_msg("no tensor %s", name);
}

typedef struct { const char *text, *name, *expected; } Case;

// ---- ranges ----

static const Case range_cases[] = {
    // an explicit range; one may depend on another, in either order
    {"kernel k(x: f32[N]) -> (y: f32[N] = x) { y[i] = x[i] where i in 2..=N-2; }", "y", "i in 2..N-1"},
    {"kernel k(x: f32[N, N]) -> (y: f32[N, N] = x) { y[i, j] = 0 where i in 0..j; }", "y", "j in 0..N, i in 0..j"},
    {"kernel k(x: f32[N, N]) -> (y: f32[N, N] = x) { y[i, j] = 0 where j in 0..i; }", "y", "i in 0..N, j in 0..i"},
    {"kernel k(x: f32[N]) -> (y: f32[N] = x) { y[i] = 0 where i in 0..N, i in 3..5; }", "y", "i in 0..N, i >= 3, i < 5"},
    // a declared left side
    {"kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[0] where i < 1; y[i] = 0 where otherwise; }", "y.1", "i in 0..N, otherwise"},
    {"kernel k(x: f32[N]) -> (y: f32[N+1]) { y[i+1] = x[i]; y[0] = 1; }", "y.0", "i in 0..N"},
    {"kernel k(x: f32[N]) -> (y: f32[N]) { y[N-1-i] = x[i]; }", "y", "i in 0..N"},
    {"kernel k(x: f32[2*N], N: int) -> (y: f32[2*N]) { y[2*i] = x[2*i]; y[2*i+1] = 0; }", "y.0", "i in 0..N"},
    {"kernel k(x: f32[M, N]) -> (y: f32[M, N] = x) { y[i, i] = 1; }", "y", "i in 0..min(M, N)"},
    {"kernel k(x: f32[N]) -> (y: f32[N]) { h: f32[-1..N]; h[-1] = 0; h[n] = h[n-1] + x[n] where n >= 0; y[n] = h[n]; }", "h.1", "n in -1..N, n >= 0"},
    {"kernel k(x: f32[N]) -> (y: f32[3*N]) { y[3*i + c] = x[i] where c in 0..3; }", "y", "i in 0..N, c in 0..3"},
    // plain reads, declared or inferred before
    {"kernel k(x: f32[N, M]) -> (y: f32[M]) { t[a, b] = x[b, a]; y[i] = t[i, 0] where N > 0; y[i] = 0 where otherwise; }", "t", "a in 0..M, b in 0..N"},
    {"kernel k(x: f32[N], z: f32[M]) -> (y: f32[N]) where N == M { t[i] = x[i] + z[i]; y[i] = t[i]; }", "t", "i in 0..N"},
    {"kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = t[i]; t[i] = s[i]; s[i] = x[i]; }", "t", "i in 0..N"},
    // bordered reads count when there is no plain one
    {"kernel k(x: f32[N border zero]) -> (y: f32[N]) { t[i] = x[i-1] + x[i+1]; y[i] = t[i]; }", "t", "i in 0..N"},
    {"kernel k(x: f32[N border zero], z: f32[M]) -> (y: f32[M]) { t[i] = x[i-1] * z[i]; y[i] = t[i]; }", "t", "i in 0..M"},
    // the largest interval from 0
    {"kernel k(b: f32[N]) -> (y: f32[N]) { a[i, j] = b[i] + b[j+3]; y[i] = b[i] + sum(j) a[i, j]; }", "a", "i in 0..N, j in 0..N-3"},
    {"kernel k(b: f32[N], c: f32[M]) -> (y: f32) { t[i] = b[i+1] * c[i+2]; y = sum(i) t[i]; }", "t", "i in 0..min(N-1, M-2)"},
    {"kernel k(x: f32[N], K: int) -> (y: f32) { t[i] = sum(k in 0..K) x[i+k]; y = sum(i) t[i]; }", "t", "i in 0..N-K+1"},
    {"kernel k(x: f32[N]) -> (y: f32) { t[i] = x[2*i+1]; y = sum(i) t[i]; }", "t", "i in 0..floordiv(N, 2)"},
    {"kernel k(x: f32[N]) -> (y: f32) { t[i] = x[N-1-i]; y = sum(i) t[i]; }", "t", "i in 0..N"},
    {"kernel k(x: f32[N]) -> (y: f32) { t[i] = if i > 0 then x[i-1] else 0; y = sum(i) t[i]; }", "t", "i in 0..N+1"},
    {"kernel k(x: f32[N]) -> (y: f32) { t[i] = if i > 0 && x[0] > 1 then x[i-1] else 0; y = sum(i) t[i]; }", "t", "i in 0..N+1"},
    {"kernel k(x: f32[N]) -> (y: f32) { t[i] = x[i/2]; y = sum(i) t[i]; }", "t", "i in 0..2*N"},
    // an `otherwise` equation runs over the shape that the others give
    {"kernel k(x: f32[N]) -> (y: f32[N]) { t[i] = x[i] where i in 1..N-1; t[0] = 0 where N > 0; t[N-1] = 0 where N > 1; y[i] = t[i]; }", "t.0", "i in 1..N-1"},
    {"kernel k(u0: f32[N], T: int) -> (v: f32[N]) { u[0, i] = u0[i]; u[t, i] = u[t-1, i] + u[t-1, i-1] where t in 1..T+1, i in 1..N;"
     " u[t, i] = u[t-1, i] where t in 1..T+1, otherwise; v[i] = u[T, i]; }", "u.2", "t in 1..T+1, i in 0..N, otherwise"},
    // whole tensors: the shape of the left side, or of what is read
    {"kernel k(x: f32[M, N]) -> (y: f32[M, N]) { y = 2*x; }", "y", "i0 in 0..M, i1 in 0..N"},
    {"kernel k(x: f32[-1..S, N], S: int) -> (y: f32[-1..S, N]) { t = 2*x; y = t; }", "t", "i0 in -1..S, i1 in 0..N"},
    {"kernel k(x: f32[N], z: f32[M]) -> (y: f32[N]) where N == M { t = x + z; y = t; }", "t", "i0 in 0..N"},
    {"kernel k(x: f32[N]) -> (y: f32[N]) { y[0] = 1 where N > 0; y = x where otherwise; }", "y.1", "i0 in 0..N, otherwise"},
    {"kernel k(x: f32[N]) -> (y: f32[2..N-2], z: f32[2..N-2]) { t[i] = x[i] where i in 2..N-2; y = t; u = y - t; z = u; }", "u", "i0 in 2..N-2"},
    {"kernel k(x: f32[N]) -> (y: f32[N]) { y = x where N > 3; y = 2*x where N <= 3; }", "y.0", "i0 in 0..N, N > 3"},
    // where the kernel has the name, or the equation uses it, an index gets another
    {"kernel k(x: f32[N, i1], i0_: int) -> (y: f32[N, i1]) { y = sum(i0 in 0..3) x[0, 0]*i0 + x + i0_; }", "y", "i0__ in 0..N, i1_ in 0..i1"},
};

START_TEST(infers_ranges)
{
    const Case *c = &range_cases[_i];
    Analysed r = analyse(c->text);
    ck_assert_str_eq(domain_text(r.arena, equation(kernel_of(&r), c->name)), c->expected);
    drop(&r);
}
END_TEST

static Expr *first_nest(Expr *e)
{
    if (op_class(e->op) == OPC_NEST) return e;
    for (int i = 0; i < e->n; i++) {
        Expr *r = first_nest(e->args[i]);
        if (r) return r;
    }
    return NULL;
}

static const Case nest_cases[] = {
    {"kernel k(x: f32[N]) -> (y: f32) { y = sum(i) x[i]; }", "y", "i in 0..N"},
    {"kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = sum(j in 0..=i) x[j]; }", "y", "j in 0..i+1"},
    {"kernel k(x: f32[N]) -> (y: f32) { y = max(i in 0..N, j in 0..=i) x[i-j]; }", "y", "i in 0..N, j in 0..i+1"},
    {"kernel k(x: f32[N, M]) -> (y: f32) { y = sum(i, j where j <= i) x[i, j]; }", "y", "i in 0..N, j in 0..M, j <= i"},
    {"kernel k(x: f32[N border zero], c: f32[K]) -> (y: f32[N]) { y[i] = sum(k) c[k]*x[i-k]; }", "y", "k in 0..K"},
    {"kernel k(p: i32[M+1], v: f32[Z], M: int) -> (y: f32[M]) { y[i] = sum(q where q >= p[i] && q < p[i+1]) v[q]; }", "y",
     "q in 0..Z, q >= p[i] && q < p[i+1]"},
    {"kernel k(x: f32[N]) -> (y: f32) { y = sum(i where i in 1..N, x[i] > 0) x[i-1]; }", "y", "i in 1..N, x[i] > 0.0"},
    {"kernel k(x: u8[N]) -> (h: i32[256]) { h[b] = sum(i where x[i] == b) 1; }", "h", "i in 0..N, x[i] == b"},
    {"kernel k(x: f32[N]) -> (y: f32[M], M: f32) { y[i] = 0; M = 1; }", NULL, NULL},
};

START_TEST(infers_ranges_of_reductions)
{
    const Case *c = &nest_cases[_i];
    Analysed r = analyse(c->text);
    if (c->name) {
        const Nest *nest = first_nest(equation(kernel_of(&r), c->name)->rhs)->nest;
        char *s = arena_strdup(r.arena, "");
        for (int i = 0; i < nest->indices.n; i++) {
            Index *x = nest->indices.at[i];
            s = add(r.arena, s, arena_printf(r.arena, "%s in %s", x->name, range_text(r.arena, x->lo, x->hi)));
        }
        for (int i = 0; i < nest->conds.n; i++) s = add(r.arena, s, expr_text(r.arena, nest->conds.at[i]));
        ck_assert_str_eq(s, c->expected);
    } else {
        ck_assert_int_gt(r.errors, 0);
    }
    drop(&r);
}
END_TEST

// ---- types and shapes ----

static const Case type_cases[] = {
    {"kernel k(x: f32[N, M]) -> (y: f32) { t[i] = sum(j) x[i, j]; y = sum(i) t[i]; }", "t", "f32[0..N]"},
    {"kernel k(x: f16[N]) -> (y: f32) { t = sum(i) x[i]; y = t; }", "t", "f32"},
    {"kernel k(x: f16[N]) -> (y: f32) { t = max(i) x[i]; y = t; }", "t", "f16"},
    {"kernel k(x: u8[N]) -> (y: u32) { t[i] = scan(max, i) x[i]; y = sum(i) t[i]; }", "t", "u32[0..N]"},
    {"kernel k(x: bool[N]) -> (y: i32) { t = sum(i) x[i]; y = t; }", "t", "i32"},
    {"kernel k(x: i8[N]) -> (y: i32) { t = mean(i) x[i]; y = t; }", "t", "i32"},
    {"kernel k(x: f32[N]) -> (y: i64) where N >= 1 { t = argmax(i) x[i]; y = t; }", "t", "i64"},
    {"kernel k(x: f32[N]) -> (y: bool) { t = any(i) x[i] > 0; y = t; }", NULL, NULL},
    {"kernel k(x: f32[N]) -> (y: bool) { t = any(i) (x[i] > 0); y = t; }", "t", "bool"},
    {"kernel k(x: f32[N], z: f64[N]) -> (y: f64[N]) { t[i] = x[i] + z[i]; y[i] = t[i]; }", "t", "f64[0..N]"},
    {"kernel k(x: i8[N], z: i32[N]) -> (y: i32[N]) { t[i, 0] = x[i]; t[i, 1] = z[i]; y[i] = t[i, 0]; }", "t", "i32[0..N, 0..2]"},
    {"kernel k(N: int) -> (y: f64) { h = f64(N)/2; y = h; }", "h", "f64"},
    {"kernel k(x: f32[N]) -> (y: f32[N]) { t[i] = if i > 2 then 1.5*i else x[i]; y[i] = t[i]; }", "t", "f32[0..N]"},
    // a recurrence does not supply its own type, its other equations do
    {"kernel k(x: f64[N]) -> (y: f64[N]) { z[k, k] = x[k]; z[k, i] = z[k-1, i] + 1 where k in 1..N, i in 0..k; y[i] = z[i, i]; }", "z", "f64[0..N, 0..N]"},
    {"kernel k(x: f32[N]) -> (y: f32[N]) { u[0] = x[0] where N > 0; u[i] = 0.5*u[i-1] where i in 1..N; y[i] = u[i]; }", "u", "f32[0..max(1, N)]"},
    // hulls: of shifted, conditional and triangular writes
    {"kernel k(x: f32[N]) -> (y: f32[N]) { t[i+2] = x[i] where i in 0..N; y[i] = t[i+2]; }", "t", "f32[2..N+2]"},
    {"kernel k(x: f32[N, N]) -> (y: f32[N, N] = x) { t[i, j] = x[i, j] where i in 0..N, j in 0..i; y[i, j] = t[i, j] where j < i; }", "t", "f32[0..N, 0..max(N-1, 0)]"},
    {"kernel k(x: f32[N, N]) -> (y: f32[N, N] = x) { t[i, j] = x[i, j] where j > i, i >= 1; y[i, j] = t[i, j] where j > i, i >= 1; }", "t", "f32[1..max(N-1, 1), 2..max(N, 2)]"},
    {"kernel k(x: f32[N]) -> (y: f32[N]) { t[5] = 1.0*x[0] where N > 0; t[2] = x[1] where N > 1; y[i] = x[i]; }", "t", "f32[2..6]"},
    {"kernel k(x: f32[N]) -> (y: f32) { t[i] = x[i+3]; y = sum(i) t[i]; }", "t", "f32[0..max(N-3, 0)]"},
    {"kernel k(x: f32[N]) -> (y: f32) where N >= 3 { t[i] = x[i+3]; y = sum(i) t[i]; }", "t", "f32[0..N-3]"},
    // whole tensors: rank, type and shape come from what is read, whatever the order of the text; what reads none is a scalar
    {"kernel k(x: f32[M, N]) -> (y: f64[M, N]) { y = a; a = b + s; b = f64(x); s = 2*r; r = sum(i, j) x[i, j]; }", "a", "f64[0..M, 0..N]"},
    {"kernel k(x: f32[M, N]) -> (y: f64[M, N]) { y = a; a = b + s; b = f64(x); s = 2*r; r = sum(i, j) x[i, j]; }", "s", "f32"},
    {"kernel k(x: f32[2..N], N: int) -> (y: f32[2..N]) where N >= 2 { y = t; t = x*x; }", "t", "f32[2..N]"},
    {"kernel k(x: f32[N], a: f32) -> (y: f32) where N >= 1 { t = x - x[0]*a; y = t[N-1]; }", "t", "f32[0..N]"},
    {"kernel k(x: f32[N], z: u8[M]) -> (y: f32[M]) { t = x[z]; y = t; }", "t", "f32[0..M]"},
    {"kernel k(x: f32[N]) -> (y: bool[N]) { t = x > 0 && x < 1; y = !t; }", "t", "bool[0..N]"},
};

START_TEST(infers_types_and_shapes)
{
    const Case *c = &type_cases[_i];
    Analysed r = analyse(c->text);
    if (c->name) ck_assert_str_eq(type_text(r.arena, tensor(kernel_of(&r), c->name)), c->expected);
    else ck_assert_int_gt(r.errors, 0);
    drop(&r);
}
END_TEST

// ---- right sides ----

static const Case value_cases[] = {
    {"kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] * (1/3); }", "y", "x[i]*0.333333343"},               // literals are no index arithmetic
    {"kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] * (i/3); }", "y", "x[i]*(i/3)"},                   // an index is
    {"kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i+1-1] + 0*i; }", "y", "x[i] + 0.0"},
    {"kernel k(x: i32[N]) -> (y: i32[N]) { y[i] = max(x[i], i, 3); }", "y", "max(max(x[i], i), 3)"},
    {"kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = clamp(x[i], 0, 1); }", "y", "min(max(x[i], 0.0), 1.0)"},
    {"kernel k(x: i8[N]) -> (y: i32) { y = sum(i) x[i]*x[i]; }", "y", "sum(i) i32(x[i])*i32(x[i])"},
    {"kernel k(x: u8[N], z: i8[N]) -> (y: i32) { y = sum(i) i32(x[i])*i32(z[i]); }", "y", "sum(i) i32(x[i])*i32(z[i])"},
    {"kernel k(x: f16[N], z: f16[N]) -> (y: f32) { y = sum(i) f32(x[i]*z[i]); }", "y", "sum(i) f32(x[i])*f32(z[i])"},
    {"kernel k(x: bool[N], z: bool[N]) -> (y: i32) { y = sum(i) x[i]*z[i]; }", "y", "sum(i) i32(x[i])*i32(z[i])"},
    {"kernel k(x: bool[N], z: bool[N]) -> (y: i32) { y = sum(i) (x[i] && z[i]); }", "y", "sum(i) i32(x[i] && z[i])"},
    {"kernel k(N: int) -> (y: u8, z: i8, w: f16) { y = u8(-1); z = i8(300); w = f16(0.1); }", "y", "255"},
    {"kernel k(N: int) -> (y: u8, z: i8, w: f16) { y = u8(-1); z = i8(300); w = f16(0.1); }", "z", "44"},
    {"kernel k(N: int) -> (y: i32) { y = i32(-2.7); }", "y", "-2"},
    {"kernel k(N: int) -> (y: f32) { y = f32(1/3); }", "y", "0.333333343"},
    {"kernel k(N: int) -> (y: f32) { y = f32(N/3); }", "y", "N/3"},
    {"kernel k(d: f32[N, 2]) -> (y: f32[N]) { y[i] = i where N > 0; }", "y", "i"},
    {"kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = if x[i] > 0 then inf else -inf; }", "y", "if x[i] > 0.0 then inf else -inf"},
    {"kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = pow(2, -x[i]) + sqrt(2); }", "y", "pow(2.0, -x[i]) + sqrt(2.0)"},
    {"kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = scan(+, i, exclusive, reverse) x[i]; }", "y", "scan(+, i) x[i]"},
    {"kernel k(x: i32[N]) -> (y: i32[N]) { y[i] = shl(x[i], 2) + bitand(x[i], 255) + mod(x[i], 7) + floordiv(x[i], 3); }", "y",
     "shl(x[i], 2) + bitand(x[i], 255) + mod(x[i], 7) + floordiv(x[i], 3)"},
    {"kernel k(x: f32[N]) -> (y: f32) { y = sum(i) x[i]*2 + 1; }", "y", "sum(i) x[i]*2.0 + 1.0"},
    // whole tensors: names with dimensions get indices, scalars and what has subscripts stay
    {"kernel k(x: f32[M, N], z: f32[M, N], a: f32) -> (y: f32[M, N]) where M >= 1, N >= 1 { y = exp(-x)*a + max(z, x[0, N-1], N); }", "y",
     "exp(-x[i0, i1])*a + max(max(z[i0, i1], x[0, N-1]), N)"},
    {"kernel k(x: f32[N]) -> (y: f32[N]) { y = x/sum(k) x[k]; }", "y", "x[i0]/sum(k) x[k]"},
    {"kernel k(x: f32[V], ids: i32[N]) -> (y: f32[N]) { y = if ids < 0 then 0 else x[ids]; }", "y", "if ids[i0] < 0 then 0.0 else x[ids[i0]]"},
};

START_TEST(types_right_sides)
{
    const Case *c = &value_cases[_i];
    Analysed r = analyse(c->text);
    const Equation *e = equation(kernel_of(&r), c->name);
    ck_assert_int_eq(e->rhs->type, e->lhs->type);
    ck_assert_str_eq(expr_text(r.arena, e->rhs), c->expected);
    drop(&r);
}
END_TEST

// ---- the kernel around ----

START_TEST(orders_what_it_finds)
{
    Analysed r = analyse("kernel k(x: f32[N, M+1], T: int, z: f64[M]) -> (y: f32[N] = w, v: f64) where T >= 1, N % 2 == 0, M in 3..=T {\n"
                         "  v = z[0]; y[i] = x[i, 0] where i > 1; log(\"%d %g\", i, x[i, 0]) where i < 3, i in 0..N; }\n"
                         "schedule k { tile i = 4; }\nschedule k on davinci { tile i = 8; }");
    ck_assert_int_gt(r.errors, 0);                              // `w` is no input
    drop(&r);
    r = analyse("kernel k(x: f32[N, M+1], w: f32[N], T: int, z: f64[M]) -> (y: f32[N] = w, v: f64) where T >= 1, N % 2 == 0, M in 3..=T {\n"
                "  v = z[0]; y[i] = x[i, 0] where i > 1; log(\"%d %g\", i, x[i, 0]) where i < 3, i in 0..N; }\n"
                "schedule k { tile i = 4; }\nschedule k on davinci { tile i = 8; }");
    const Kernel *k = kernel_of(&r);
    ck_assert_int_eq(k->params.n, 4);
    ck_assert_ptr_nonnull(k->params.at[2].dim);
    ck_assert_int_eq(k->dims.n, 3);
    for (int i = 0; i < k->dims.n; i++) {
        ck_assert_int_eq(k->dims.at[i]->id, i);
        ck_assert((strcmp(k->dims.at[i]->name, "T") == 0) == (k->dims.at[i]->tensor == NULL));
    }
    ck_assert_int_eq(k->where.n, 4);
    ck_assert_ptr_eq(k->outputs.at[0]->init, tensor(k, "w"));
    ck_assert_int_eq(k->schedules.n, 2);
    ck_assert_int_eq(k->logs.n, 1);
    ck_assert_int_eq(k->logs.at[0]->args.at[0]->type, DT_I64);
    ck_assert_int_eq(k->logs.at[0]->args.at[1]->type, DT_F64);
    drop(&r);
}
END_TEST

START_TEST(keeps_borders)
{
    Analysed r = analyse("kernel k(x: f32[A, B border zero, C border const(-inf)] border wrap) -> (y: f32[A, B, C]) { y[i, j, l] = x[i+1, j+1, l+1]; }");
    const Tensor *x = tensor(kernel_of(&r), "x");
    ck_assert_int_eq(x->border[0].kind, BORDER_WRAP);
    ck_assert_int_eq(x->border[1].kind, BORDER_ZERO);
    ck_assert_int_eq(x->border[2].kind, BORDER_CONST);
    ck_assert(x->border[2].value->op == OP_CONST && x->border[2].value->f < -1e300);
    drop(&r);
}
END_TEST

START_TEST(refuses_sizes_on_entry)
{
    Analysed r = analyse("kernel k(x: f32[M, N]) -> (y: i64[M]) { y[i] = argmax(j) x[i, j]; }");
    const Kernel *k = kernel_of(&r);
    ck_assert_int_eq(k->where.n, 1);
    ck_assert_str_eq(expr_text_condition(r.arena, k->where.at[0]), "N >= 1 or M = 0");
    drop(&r);
}
END_TEST

// ---- errors ----

START_TEST(one_mistake_is_one_message)
{
    static const char *const programs[] = {
        "kernel k(x: f32[N]) -> (y: f32[N]) { a[i] = wrong[i]; b[i] = a[i]; c = sum(i) b[i]; y[i] = c + a[i]; }",
        "kernel k(x: f33[N]) -> (y: f32[N]) { a[i] = x[i]; b[i] = a[i] + x[i]; y[i] = b[i]; }",
        "kernel k(x: f32[Q+1]) -> (y: f32[Q], z: f32[Q-1]) { t: f32[Q]; t[i] = x[i]; y[i] = t[i]; z[i] = t[i]; }",
        "kernel k(x: f32[N]) -> (y: f32[N]) { u[0] = wrong; u[i] = u[i-1] where i in 1..N; v[i] = u[i]; y[i] = v[i]; }",
        "kernel k(x: f32[N], x: f32[M]) -> (y: f32[N]) { y[i] = x[i]; }",
        "kernel k(x: f32[N]) -> (y: f32[N]) { t[i] = 1.0*x[0]; v[i] = t[i]; y[i] = v[i] + sum(j) t[j]; }",
        "kernel k(x: f32[N]) -> (y: f32[N]) { view v[i] = x[i]; t[i] = v[i]; y[i] = t[i]; }",
        "kernel k(x: f32[N]) -> (y: f32[N]) { view v[i] = x[i]; t = v + 1; y = t; }",
        "kernel k(x: f32[Q+1, N]) -> (y: f32[N]) { t = 2*x; y[i] = t[0, i]; }",
        "kernel k(x: f32[N], w: f32[M]) -> (y: f32[N]) { h = what(w); g = h + 1; u[i] = g[i]; y = g + u; }",
        "kernel k(x: f32[N], w: f32[M]) -> (y: f32[N]) { t = x + w; u = t*t; v[i] = u[i]; y = v; }",
        "kernel k(x: f32[N], w: f32[M]) -> (y: f32[N]) { t[i] = sum(j) w; u = t; y = u + x; }",
    };
    Analysed r = analyse(programs[_i]);
    ck_assert_msg(r.errors == 1, "%d errors:\n%s", r.errors, r.messages);
    ck_assert_int_eq(r.module->kernels.n, 0);
    drop(&r);
}
END_TEST

START_TEST(goes_on_after_an_error)
{
    Analysed r = analyse("kernel a(x: f32[N]) -> (y: f32[N]) { y[i] = p; z[i] = q; }\nkernel b(x: f32[N]) -> (y: f32[N]) { y[i] = r; }\n"
                         "kernel c(x: f32[N]) -> (y: f32[N]) { y[i] = x[i]; }");
    ck_assert_int_eq(r.errors, 3);
    ck_assert_int_eq(r.module->kernels.n, 1);
    ck_assert_str_eq(r.module->kernels.at[0]->name, "c");
    drop(&r);
}
END_TEST

START_TEST(suggests_names)
{
    Analysed r = analyse("kernel k(value: f32[N]) -> (y: f32[N]) { y[i] = vlaue[i] + sqr(value[i]); }");
    ck_assert_ptr_nonnull(strstr(r.messages, "did you mean `value`?"));
    ck_assert_ptr_nonnull(strstr(r.messages, "did you mean `sqrt`?"));
    drop(&r);
}
END_TEST

// ---- any tree ----

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

// A program of pieces that fit the grammar, and little else.
static char *random_program(Arena *a, uint64_t *state)
{
    static const char *const pieces[] = {
        "x", "y", "i", "j", "N", "T", "t", "0", "1", "2.5", "inf", "x[i]", "x[i, j]", "y[i-1]", "t[i, j+1]", "x[x[i]]", "x[i/2]", "x[N-1-i]", "u[i]",
        "(i + j)", "(x[i] * 2)", "-i", "!(i < j)", "(i < 3)", "(x[0] > y[i])", "sum(j) x[j]", "sum(k) t[i, k]", "max(k in 0..i) y[k]", "max(i, 3)", "max(x[i], 1)",
        "argmax(j) x[j]", "scan(+, i) x[i]", "scan(max, j, reverse) x[j]", "(if i > 0 then x[i-1] else 0)", "f32(i)", "i32(x[i])", "u8(300)", "sqrt(2)", "mod(i, 3)",
        "any(j) (x[j] > 0)", "sum(i where x[i] == j) 1", "mean(k in 1..N where k > i) x[k]", "nan", "9223372036854775808", "t", "u", "clamp(i, 0, T)", "bitand(i, 3)",
    };
    // Most programs keep to one type and to names that exist, so that they get as far as the proofs.
    static const char *const tame[] = {
        "x[i]", "x[i-1]", "x[N-1-i]", "x[i/2]", "y[i]", "y[i-1]", "z[i+1]", "i", "2", "0.5", "T", "sum(k) x[k]", "sum(k in 0..=i) x[k]", "max(k in 0..i) y[k]",
        "sum(k where k > i) z[k]", "(if i > 0 then y[i-1] else 0)", "(if x[i] > 0 && i < N-1 then z[i+1] else 1)", "scan(+, i) x[i]", "mean(k in 1..N) x[k]", "max(x[i], 0)",
    };
    static const char *const lefts[] = {"y[i]", "t[i, j]", "t[i+1, j]", "u[i]", "u[2*i]", "u", "y", "t[0, i]", "t[i, i]", "x[i]", "u[i+j]", "y[x[i]]", "v[i, j, k]"};
    static const char *const tails[] = {"", "", "", " where otherwise", " where i in 1..N", " where j <= i", " where i in 0..j", " where j in 0..i, i > 2", " where t in 0..T",
                                        " where x[i] > 0", " where i in 0..N, j in 0..T, otherwise"};
    static const char *const decls[] = {"", "", "t: f32[N, N]; ", "u: i32[-1..T]; ", "t: f64[T, N border clamp]; ", "u: f16[2*N]; ", "t: bool[N, M]; "};
    static const char *const types[] = {"f32[N]", "f64[N]", "i8[N]", "bool[N]", "f16[N border zero]", "u8[N+1]", "f32[0..N]", "f32[M]", "f32"};
#define PICK(list) list[next(state) % (sizeof list / sizeof *list)]
    static const char *const ops[] = {" + ", " * ", " - ", " / ", " < ", " && ", " % ", " == "};
    bool wild = next(state) % 4 == 0;
    char *s = wild ? arena_printf(a, "kernel k(x: %s, T: int, z: %s) -> (y: %s) { %s", PICK(types), PICK(types), PICK(types), PICK(decls))
                   : arena_strdup(a, "kernel k(x: f32[N], T: int, z: f32[N border zero]) -> (y: f32[N]) { ");
    for (int n = 1 + (int)(next(state) % (wild ? 4 : 2)); n > 0; n--) {
        const char *left = wild ? PICK(lefts) : "y[i]", *first = wild ? PICK(pieces) : PICK(tame), *second = "";
        if (next(state) % 2) second = wild ? arena_printf(a, "%s%s", PICK(ops), PICK(pieces)) : arena_printf(a, "%s%s", ops[next(state) % 3], PICK(tame));
        s = arena_printf(a, "%s%s = %s%s%s; ", s, left, first, second, n == 1 && !wild ? "" : PICK(tails));
    }
    return arena_printf(a, "%s}", s);
#undef PICK
}

START_TEST(survives_any_program)
{
    Arena *a = arena_new();
    uint64_t state = 99 + (uint64_t)_i;
    int good = 0;
    for (int n = 0; n < 500; n++) {
        Analysed r = analyse(random_program(a, &state));
        good += r.errors == 0;
        ck_assert(r.errors > 0 || (r.module && r.module->kernels.n == 1));
        drop(&r);
    }
    ck_assert_int_gt(good, 0);
    arena_free(a);
}
END_TEST

// ---- time ----

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static char *chain(Arena *a, int n, const char *first, const char *step, const char *last)
{
    VEC(char) out = {0};
    for (const char *p = first; *p; p++) VEC_PUSH(a, &out, *p);
    char line[512];
    for (int i = 1; i < n; i++) {
        snprintf(line, sizeof line, step, i, i - 1, i, i - 1);
        for (const char *p = line; *p; p++) VEC_PUSH(a, &out, *p);
    }
    snprintf(line, sizeof line, last, n - 1);
    for (const char *p = line; *p; p++) VEC_PUSH(a, &out, *p);
    VEC_PUSH(a, &out, '\0');
    return out.at;
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"

START_TEST(is_linear_in_equations)
{
    static const char *const programs[][3] = {
        {"kernel k(x: f32[N, M border zero]) -> (y: f32[N, M]) { t0[i, j] = x[i, j];\n", "t%d[i, j] = 2*t%d[i, j] + x[i, j+1];\n", "y[i, j] = t%d[i, j]; }"},
        {"kernel k(x: f32[N, N]) -> (y: f32[N, N]) { t0[i, j] = x[i, j];\n", "t%d[i, j] = sum(k) t%d[i, k]*x[k, j];\n", "y[i, j] = t%d[i, j]; }"},
        {"kernel k(x: f32[N]) -> (y: f32) where N >= 5000 { t0[i] = x[i];\n", "t%d[i] = t%d[i+1];\n", "y = t%d[0]; }"},
        {"kernel k(x: f32[N]) -> (y: f32[N]) { w[0] = 1.5*x[0] where N > 0;\n", "w[%d] = 0.5;\n", "y[i] = x[i] * w[%d]; }"},
        {"kernel k(x: f32[N]) -> (y: f32[N]) { t0 = 2*x;\n", "t%d = 2*t%d + x;\n", "y = t%d; }"},
        {"kernel k(x: f32[N]) -> (y: f32[N]) { y = t0;\n", "t%2$d = 2*t%1$d + x;\n", "t%d = 2*x; }"},
    };
    Arena *a = arena_new();
    char *text = chain(a, 2000, programs[_i][0], programs[_i][1], programs[_i][2]);
    double start = seconds();
    Analysed r = analyse(text);
    double spent = seconds() - start;
    kernel_of(&r);
    ck_assert_msg(spent < 5, "%g seconds", spent);              // a fraction of one, unless something is quadratic
    drop(&r);
    arena_free(a);
}
END_TEST

#define LOOP(c, test, table) tcase_add_loop_test(c, test, 0, (int)(sizeof table / sizeof *table))

Suite *suite_sema(void)
{
    Suite *s = suite_create("sema");
    TCase *c = tcase_create("sema");
    tcase_set_timeout(c, 120);
    LOOP(c, infers_ranges, range_cases);
    LOOP(c, infers_ranges_of_reductions, nest_cases);
    LOOP(c, infers_types_and_shapes, type_cases);
    LOOP(c, types_right_sides, value_cases);
    tcase_add_test(c, orders_what_it_finds);
    tcase_add_test(c, keeps_borders);
    tcase_add_test(c, refuses_sizes_on_entry);
    tcase_add_loop_test(c, one_mistake_is_one_message, 0, 12);
    tcase_add_test(c, goes_on_after_an_error);
    tcase_add_test(c, suggests_names);
    tcase_add_loop_test(c, survives_any_program, 0, 4);
    tcase_add_loop_test(c, is_linear_in_equations, 0, 6);
    suite_add_tcase(s, c);
    return s;
}
