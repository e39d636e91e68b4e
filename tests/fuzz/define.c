// Draws the equations of tensors that are no recurrences: see program.h.
#include "program.h"

#include <string.h>

const char *const index_names[MOST_RANK] = {"i", "j", "l", "h"};

Equation *equation_add(Tensor *t, const char *left, Node *right, const char *tail) {
    Equation *e = &t->equation[t->n++];
    text_put(e->left, sizeof e->left, "%s", left);
    text_put(e->tail, sizeof e->tail, "%s", tail);
    e->right = right;
    return e;
}

const char *subscripts_of(const Tensor *t) {
    static const char *const texts[] = {"", "[i]", "[i, j]", "[i, j, l]", "[i, j, l, h]"};
    return texts[t->rank];
}

// " where i in 0..N, j in 1..M-1": all ranges, said.
static void put_ranges(char *to, size_t size, const Scope *s) {
    char end[32];
    int n = 0;
    for (int d = 0; d < s->nvars; d++) {
        span_end(end, sizeof end, s->var[d].span, 0);
        n += text_put(to + n, size - (size_t)n, "%s%s in %d..%s", d ? ", " : " where ", s->var[d].name, s->var[d].span.lo, end);
    }
}

// Now and then an intermediate has no declaration: its shape and type come from its one equation, its ranges from `where`.
static void undeclare(Random *r, Tensor *t, char *tail, size_t size) {
    tail[0] = '\0';
    if (t->kind != LOCAL || t->rank == 0 || random_chance(r, 55))
        return;
    t->declared = false;
    for (int d = 0; d < t->rank; d++)
        t->axis[d].border = NO_BORDER;
    Scope s = scope_of(NULL, r, t);
    put_ranges(tail, size, &s);
}

static int random_rank(Random *r, Kind kind) {
    uint32_t x = random_below(r, 100);
    return x < 55 ? 2 : x < 80 ? 1 : x < 92 || kind == LOCAL ? 3 : 0;
}

bool define_map(Kernel *k, Random *r, Kind kind) {
    char tail[96];
    Tensor *t = tensor_new(k, r, kind, random_rank(r, kind));
    undeclare(r, t, tail, sizeof tail);
    Scope s = scope_of(k, r, t);
    char left[48];
    text_put(left, sizeof left, "%s", subscripts_of(t));
    if (t->rank == 1 && random_chance(r, 25) && !tail[0]) {
        int plus = random_in(r, 1, 2);                  // t[i+1] = ...
        text_put(left, sizeof left, "[i%+d]", plus);
        s.var[0].span.lo -= plus;
        s.var[0].span.hi -= plus;
        put_ranges(tail, sizeof tail, &s);
    }
    equation_add(t, left, draw_expression(&s, t->type, 3), tail);
    return true;
}

// ---- whole tensors ----

static bool same_shape(const Tensor *t, const Tensor *u) {
    bool same = t->rank == u->rank && !t->triangle && !u->triangle;
    for (int d = 0; same && d < t->rank; d++) {
        const Span *x = &t->axis[d].span, *y = &u->axis[d].span;
        same = x->dim == y->dim && x->times == y->times && x->lo == y->lo && x->hi == y->hi;
    }
    return same;
}

static int whole_source(const Kernel *k, Random *r) {
    for (int tries = 0; tries < 10 && k->n > 0; tries++) {
        int i = random_in(r, 0, k->n - 1);
        if (k->tensor[i].rank > 0 && !k->tensor[i].triangle)
            return i;
    }
    return -1;
}

// t = max(x, 2)*s + z; over all tensors of one shape.
bool define_whole(Kernel *k, Random *r, Kind kind) {
    int source = whole_source(k, r);
    if (source < 0)
        return false;
    Tensor *t = tensor_new(k, r, kind, k->tensor[source].rank);
    Scope none = {.kernel = k, .random = r, .limit = source};
    for (int d = 0; d < t->rank; d++)
        t->axis[d].span = k->tensor[source].axis[d].span;
    t->type = k->tensor[source].type;
    Node *sum = node_new(t->type, source, k->tensor[source].name);
    for (int i = 0; i < k->n - 1; i++) {
        const Tensor *u = &k->tensor[i];
        if (!same_shape(t, u) || (t->type == BOOL) != (u->type == BOOL) || random_chance(r, 40))
            continue;
        const char *plus = t->type == BOOL ? PICK(r, "(@ || @)", "(@ && @)") : PICK(r, "(@ + @)", "(@ - @)", "(@ * @)", "max(@, @)");
        sum = node_with(t->type, plus, 2, sum, node_convert(t->type, node_new(u->type, i, u->name)));
    }
    if (random_chance(r, 40))
        sum = node_with(t->type, t->type == BOOL ? "(@ && @)" : "min(@, @)", 2, sum, draw_leaf(&none, t->type));
    if (kind == LOCAL && random_chance(r, 60)) {
        t->declared = false;
        for (int d = 0; d < t->rank; d++)
            t->axis[d].border = NO_BORDER;
    }
    equation_add(t, "", sum, "");
    return true;
}

bool define_gather(Kernel *k, Random *r, Kind kind) {
    Tensor *t = tensor_new(k, r, kind, random_in(r, 1, 2));
    Scope s = scope_of(k, r, t);
    for (int tries = 0; tries < 10; tries++) {
        Node *x = draw_gather(&s, random_in(r, 0, s.limit - 1));
        if (!x || x->n == 0 || (t->type == BOOL && x->type != BOOL) || (t->type != BOOL && x->type == BOOL))
            continue;
        equation_add(t, subscripts_of(t), node_convert(t->type, x), "");
        return true;
    }
    k->n--;
    return false;
}

// ---- stencils ----

enum { MOST_TERMS = 5 };
typedef struct { int n, at[MOST_TERMS][MOST_RANK]; } Terms;

static Terms draw_terms(Random *r, int rank) {
    Terms t = {.n = random_in(r, 2, MOST_TERMS)};
    int reach = random_in(r, 1, 2), only = random_chance(r, 40) ? random_in(r, 0, rank - 1) : -1;
    for (int i = 0; i < t.n; i++)
        for (int d = 0; d < rank; d++)
            t.at[i][d] = only >= 0 && d != only ? 0 : random_in(r, -reach, reach);
    return t;
}

static Node *term_read(const Tensor *x, int number, const int *at) {
    char text[96];
    int n = text_put(text, sizeof text, "%s", x->name);
    for (int d = 0; d < x->rank; d++)
        n += text_put(text + n, sizeof text - (size_t)n, at[d] ? "%s%s%+d" : "%s%s", d ? ", " : "[", index_names[d], at[d]);
    text_put(text + n, sizeof text - (size_t)n, "]");
    return node_new(x->type, number, text);
}

static Node *weigh(Random *r, Type type, const Tensor *x, int number, const Terms *terms) {
    Node *sum = NULL;
    for (int i = 0; i < terms->n; i++) {
        Node *read = term_read(x, number, terms->at[i]);
        const char *weight = type == BOOL || random_chance(r, 30) ? NULL : type_is_float(type) ? PICK(r, "0.25*@", "0.5*@", "3*@") : PICK(r, "2*@", "3*@");
        Node *term = weight ? node_with(type, weight, 1, read) : read;
        const char *plus = type == BOOL ? PICK(r, "(@ || @)", "(@ && @)") : PICK(r, "(@ + @)", "(@ + @)", "(@ - @)", "max(@, @)");
        sum = sum ? node_with(type, plus, 2, sum, term) : term;
    }
    return sum;
}

// The latest tensor that reads can be shifted on, or any.
static int stencil_source(const Kernel *k, Random *r) {
    for (int i = k->n - 1; i >= 0; i--) {
        const Tensor *t = &k->tensor[i];
        if (t->rank > 0 && !t->triangle && t->init < 0 && random_chance(r, i < 2 ? 90 : 60))
            return i;
    }
    return -1;
}

// Where all terms are inside, along one axis.
static Span inside(const Axis *a, const Terms *terms, int d) {
    Span s = a->span;
    int least = terms->at[0][d], most = least;
    for (int i = 1; i < terms->n; i++) {
        least = terms->at[i][d] < least ? terms->at[i][d] : least;
        most = terms->at[i][d] > most ? terms->at[i][d] : most;
    }
    s.lo -= least;
    s.hi -= most;
    return s;
}

// Further than a constant extent allows.
static bool reaches_too_far(const Tensor *x, const Terms *terms) {
    for (int d = 0; d < x->rank; d++) {
        Span s = inside(&x->axis[d], terms, d);
        if (s.dim == NO_DIM && x->axis[d].border == NO_BORDER && s.hi <= (s.lo < 0 ? 0 : s.lo))
            return true;
    }
    return false;
}

static bool is_plain(const Terms *terms, int d, bool all) {
    int n = 0;
    for (int i = 0; i < terms->n; i++)
        n += terms->at[i][d] == 0;
    return all ? n == terms->n : n > 0;
}

// The compiler infers the same ranges: plain reads that agree, a border, or the largest interval from 0.
static bool inferable(const Tensor *x, const Terms *terms) {
    for (int d = 0; d < x->rank; d++) {
        const Axis *a = &x->axis[d];
        if (a->border == NO_BORDER && !is_plain(terms, d, true) && (is_plain(terms, d, false) || inside(a, terms, d).lo > 0))
            return false;
    }
    return true;
}

static void infer_axes(Tensor *t, const Tensor *x, const Terms *terms) {
    for (int d = 0; d < x->rank; d++) {
        const Axis *a = &x->axis[d];
        Span s = a->border || is_plain(terms, d, true) ? a->span : inside(a, terms, d);
        if (!a->border && !is_plain(terms, d, true) && s.lo < 0)
            s.lo = 0;
        t->axis[d] = (Axis){.span = s};
    }
}

bool define_stencil(Kernel *k, Random *r, Kind kind) {
    int source = stencil_source(k, r);
    if (source < 0)
        return false;
    const Tensor *x = &k->tensor[source];
    Terms terms = draw_terms(r, x->rank);
    if (reaches_too_far(x, &terms))
        return false;
    Tensor *t = tensor_new(k, r, kind, x->rank);
    char tail[96] = "";
    t->type = x->type;
    infer_axes(t, x, &terms);
    if (kind == LOCAL && random_chance(r, 75)) {
        t->declared = false;
        Scope s = scope_of(k, r, t);
        if (!inferable(x, &terms) || random_chance(r, 20))
            put_ranges(tail, sizeof tail, &s);
    }
    equation_add(t, subscripts_of(t), weigh(r, t->type, x, source, &terms), tail);
    return true;
}

// ---- pieces ----

static void conditional(Kernel *k, Random *r, Tensor *t, const char *condition) {
    char tail[96];
    Scope s = scope_of(k, r, t);
    text_put(tail, sizeof tail, "%s%s", strcmp(condition, "otherwise") == 0 && random_chance(r, 50) ? " " : " where ", condition);
    equation_add(t, subscripts_of(t), draw_expression(&s, t->type, 2), tail);
}

// Complementary conditions, or some and the rest.
bool define_pieces(Kernel *k, Random *r, Kind kind) {
    static const char *const parts[][3] = {{"i < j", "i >= j"}, {"i < j", "i == j", "i > j"}, {"i + j < 5", "i + j >= 5"},
                                           {"j <= 0", "j > 0"}, {"i < 2, j < 3", "i < 2, j >= 3", "i >= 2"}, {"j <= 2*i", "j > 2*i"}};
    Tensor *t = tensor_new(k, r, kind, random_in(r, 1, 2));
    char text[80];
    if (t->rank == 2 && random_chance(r, 40)) {
        const char *const *p = parts[random_below(r, sizeof parts / sizeof *parts)];
        for (int i = 0; i < 3 && p[i]; i++)
            conditional(k, r, t, p[i]);
        return true;
    }
    Scope s = scope_of(k, r, t);
    int pieces = random_in(r, 1, 2);
    if (pieces == 2) {
        conditional(k, r, t, t->rank == 2 ? "i == 1, j < 4" : "i == 1");
        int first = random_in(r, 1, 4), second = random_in(r, 0, 3);
        text_put(text, sizeof text, t->rank == 2 ? "i > %d, j >= %d" : "i > %d", first, second);
    } else
        draw_affine(&s, text, sizeof text);
    conditional(k, r, t, text);
    conditional(k, r, t, "otherwise");
    return true;
}

// Left sides with a stride: one equation for each remainder.
bool define_strided(Kernel *k, Random *r, Kind kind) {
    Tensor *t = tensor_new(k, r, kind, random_in(r, 1, 2));
    int d = random_in(r, 0, t->rank - 1), times = random_in(r, 2, 3);
    Span span = {.dim = random_in(r, DIM_M, DIM_N), .times = 1};
    t->axis[d].span = (Span){.dim = span.dim, .times = times};
    Scope s = scope_of(k, r, t);
    s.var[d].span = span;
    for (int rest = 0; rest < times; rest++) {
        char left[48], at[24];
        text_put(at, sizeof at, rest ? "%d*%s+%d" : "%d*%s", times, index_names[d], rest);
        if (t->rank == 1)
            text_put(left, sizeof left, "[%s]", at);
        else
            text_put(left, sizeof left, "[%s, %s]", d == 0 ? at : "i", d == 1 ? at : "j");
        equation_add(t, left, draw_expression(&s, t->type, 2), "");
    }
    return true;
}

// ---- parts of a tensor ----

// An intermediate that exists on and below the diagonal only; what reads it says so.
bool define_triangle(Kernel *k, Random *r, Kind kind) {
    if (kind != LOCAL)
        return false;
    Tensor *t = tensor_new(k, r, LOCAL, 2);
    t->triangle = true;
    t->axis[0] = t->axis[1] = (Axis){.span = {.dim = random_in(r, DIM_M, DIM_N), .times = 1}};
    char tail[96] = "", end[32];
    span_end(end, sizeof end, t->axis[0].span, 0);
    t->declared = random_chance(r, 50);
    if (t->declared)
        text_put(tail, sizeof tail, " where j <= i");
    else if (random_chance(r, 50))
        text_put(tail, sizeof tail, " where i in 0..%s, j in 0..%s, j <= i", end, end);
    else
        text_put(tail, sizeof tail, " where i in 0..%s, j in 0..=i", end);
    Scope s = scope_of(k, r, t);
    equation_add(t, subscripts_of(t), draw_expression(&s, t->type, 2), tail);
    return true;
}

// An output that starts from an input and is written in part.
bool define_updated(Kernel *k, Random *r, Kind kind) {
    if (kind != OUTPUT)
        return false;
    Tensor *t = tensor_new(k, r, OUTPUT, random_in(r, 1, 2)), swap;
    *(t + 1) = *t;                              // the input that it starts from comes first
    swap = *t;
    swap.kind = INPUT;
    text_put(swap.name, sizeof swap.name, "z%d", k->n - 1);
    *t++ = swap;
    k->n++;
    t->init = k->n - 2;
    Scope s = scope_of(k, r, t);
    char tail[96], text[80], end[32];
    span_end(end, sizeof end, t->axis[0].span, -1);
    draw_affine(&s, text, sizeof text);
    if (random_chance(r, 50))
        text_put(tail, sizeof tail, " where %s", text);
    else
        text_put(tail, sizeof tail, " where i in %d..%s", t->axis[0].span.lo + 1, end);
    equation_add(t, subscripts_of(t), draw_expression(&s, t->type, 2), tail);
    return true;
}

// ---- reductions ----

// A body type whose sum has type t.
static Type summand(Random *r, Type t) {
    for (int tries = 0; tries < 20; tries++) {
        Type x = (Type)random_below(r, TYPES);
        if (type_sum(x) == t)
            return x;
    }
    return t;
}

// The range of a reduced index, by itself or bounded by an outer one: as text and as the span that it stays in.
static bool draw_range(Scope *s, char *to, size_t size, const char *name, Span *span) {
    Random *r = s->random;
    char end[32];
    const Var *v = s->nvars ? &s->var[random_below(r, (uint32_t)s->nvars)] : NULL;
    uint32_t how = random_below(r, 10);
    if (how < 5 || !v || v->span.dim == NO_DIM || v->span.lo < 0) {
        int dim = random_in(r, DIM_M, DIM_T), lo = random_chance(r, 80) ? 0 : 1;
        *span = (Span){.dim = dim, .times = 1, .lo = lo};
        if (how == 0) {
            lo = random_in(r, -2, 0);
            *span = (Span){.dim = NO_DIM, .lo = lo, .hi = random_in(r, 1, 5)};
        }
        span_end(end, sizeof end, *span, 0);
        text_put(to, size, "%s in %d..%s", name, span->lo, end);
        return how == 0;
    }
    *span = (Span){.dim = v->span.dim, .times = v->span.times, .lo = 0, .hi = v->span.hi};
    span_end(end, sizeof end, v->span, 0);
    if (how < 7)
        text_put(to, size, "%s in 0..=%s", name, v->name);
    else if (how == 7)
        text_put(to, size, "%s in 0..%s", name, v->name);
    else
        text_put(to, size, "%s in %s..%s", name, v->name, end);
    return how != 7;
}

// Adds one or two indices to the scope; the text of all of them. False: one of the ranges may be empty.
static bool draw_ranges(Scope *s, char *to, size_t size) {
    char one[60], two[60] = "";
    Span span, second;
    bool sure = draw_range(s, one, sizeof one, "k", &span);
    scope_add(s, "k", span);
    if (random_chance(s->random, 20)) {
        sure = draw_range(s, two, sizeof two, "p", &second) && sure;
        scope_add(s, "p", second);
    }
    text_put(to, size, "%s%s%s", one, two[0] ? ", " : "", two);
    return sure;
}

static const char *draw_reducer(Random *r, Type t) {
    if (t == BOOL)
        return PICK(r, "any", "all");
    return type_is_float(t) ? PICK(r, "sum", "max", "min", "sum", "mean", "prod") : PICK(r, "sum", "max", "min", "prod");
}

static Node *bound(Type type, const char *text, Node *body, Node *condition) {
    Node *n = condition ? node_with(type, text, 2, condition, body) : node_with(type, text, 1, body);
    n->binds = true;
    return n;
}

static Node *draw_reduction(Scope s, Type type) {
    Random *r = s.random;
    const char *op = draw_reducer(r, type);
    bool sums = strcmp(op, "sum") == 0 || strcmp(op, "prod") == 0 || strcmp(op, "mean") == 0;
    Type result = sums ? type_sum(type) : type, body = sums ? summand(r, result) : type;
    char text[160], ranges[124];
    draw_ranges(&s, ranges, sizeof ranges);
    bool guarded = random_chance(r, 25);
    text_put(text, sizeof text, "(%s(%s%s) (@))", op, ranges, guarded ? " where @" : "");
    Node *condition = guarded ? draw_condition(&s, 0) : NULL;
    return node_convert(type, bound(result, text, draw_expression(&s, body, 2), condition));
}

bool define_reduction(Kernel *k, Random *r, Kind kind) {
    char tail[96];
    Tensor *t = tensor_new(k, r, kind, random_in(r, kind == OUTPUT ? 0 : 1, 2));
    undeclare(r, t, tail, sizeof tail);
    Scope s = scope_of(k, r, t);
    Node *x = draw_reduction(s, t->type);
    if (random_chance(r, 25)) {
        const char *op = t->type == BOOL ? "(@ || @)" : PICK(r, "(@ + @)", "max(@, @)", "(@ - @)");
        x = node_with(t->type, op, 2, draw_leaf(&s, t->type), x);
    }
    equation_add(t, subscripts_of(t), x, tail);
    return true;
}

bool define_scalar(Kernel *k, Random *r, Kind kind) {
    Tensor *t = tensor_new(k, r, kind, 0);
    Scope s = scope_of(k, r, t);
    equation_add(t, "", draw_reduction(s, t->type), "");
    return true;
}

// argmax and argmin, never of nothing.
bool define_position(Kernel *k, Random *r, Kind kind) {
    char tail[96], text[160], ranges[124];
    Tensor *t = tensor_new(k, r, kind, random_in(r, 0, 2));
    undeclare(r, t, tail, sizeof tail);
    Scope s = scope_of(k, r, t);
    if (t->rank > 0 && t->axis[0].span.lo >= 0 && t->axis[0].span.hi <= 0 && random_chance(r, 30)) {
        text_put(ranges, sizeof ranges, "k in 0..=i");
        scope_add(&s, "k", t->axis[0].span);
        s.var[t->rank].span.lo = 0;
    } else if (k->positive) {
        scope_add(&s, "k", (Span){.dim = random_in(r, DIM_M, DIM_K), .times = 1});
        span_end(text, sizeof text, s.var[t->rank].span, 0);
        text_put(ranges, sizeof ranges, "k in 0..%s", text);
    } else {
        scope_add(&s, "k", (Span){.dim = NO_DIM, .lo = -1, .hi = 4});
        text_put(ranges, sizeof ranges, "k in -1..4");
    }
    text_put(text, sizeof text, "%s(%s) (@)", PICK(r, "argmax", "argmin"), ranges);
    t->type = I64;
    equation_add(t, subscripts_of(t), bound(I64, text, draw_expression(&s, (Type)random_below(r, BOOL), 1), NULL), tail);
    return true;
}

// h[b] = sum(k where x[k] == b) ...
bool define_histogram(Kernel *k, Random *r, Kind kind) {
    for (int tries = 0; tries < 12; tries++) {
        const Tensor *x = &k->tensor[random_below(r, (uint32_t)k->n)];
        if (x->rank != 1 || x->type < I64 || x->type == BOOL || x->kind == OUTPUT)
            continue;
        char text[160], end[32], read[32];
        span_end(end, sizeof end, x->axis[0].span, 0);
        text_put(text, sizeof text, "(sum(k in %d..%s where @ == i) (@))", x->axis[0].span.lo, end);
        text_put(read, sizeof read, "%s[k]", x->name);
        Node *key = node_new(x->type, (int)(x - k->tensor), read);
        Tensor *t = tensor_new(k, r, kind, 1);
        t->type = type_sum(t->type);
        int lo = random_in(r, -2, 0) * type_is_signed(x->type);
        t->axis[0] = (Axis){.span = {.dim = NO_DIM, .lo = lo, .hi = random_in(r, 3, 40)}};
        Scope s = scope_of(k, r, t);
        scope_add(&s, "k", x->axis[0].span);
        Node *body = random_chance(r, 50) ? draw_literal(r, t->type) : draw_expression(&s, t->type, 1);
        equation_add(t, subscripts_of(t), bound(t->type, text, body, key), "");
        return true;
    }
    return false;
}

static bool same_span(Span x, Span y) {
    return x.dim == y.dim && x.times == y.times && x.lo == y.lo && x.hi == y.hi;
}

// c[i, j] = sum(k) a[.., k, ..] * b[.., k, ..], all ranges inferred.
static bool contract(Kernel *k, Random *r, Kind kind, int ia, int ib) {
    int p = random_in(r, 0, k->tensor[ia].rank - 1), q = random_in(r, 0, k->tensor[ib].rank - 1);
    Axis axis[2 * MOST_RANK];
    char a[40], b[40], text[96];
    const Tensor *x = &k->tensor[ia], *y = &k->tensor[ib];
    int rank = 0, na = text_put(a, sizeof a, "%s", x->name), nb = text_put(b, sizeof b, "%s", y->name);
    if (!same_span(x->axis[p].span, y->axis[q].span) || x->rank + y->rank - 2 > MOST_RANK)
        return false;
    for (int d = 0; d < x->rank; d++) {
        na += text_put(a + na, sizeof a - (size_t)na, "%s%s", d ? ", " : "[", d == p ? "k" : index_names[rank]);
        if (d != p)
            axis[rank++] = (Axis){.span = x->axis[d].span};
    }
    for (int d = 0; d < y->rank; d++) {
        nb += text_put(b + nb, sizeof b - (size_t)nb, "%s%s", d ? ", " : "[", d == q ? "k" : index_names[rank]);
        if (d != q)
            axis[rank++] = (Axis){.span = y->axis[d].span};
    }
    Type type = type_sum(x->type);
    const char *how = PICK(r, "sum", "sum", "max", "min");
    text_put(text, sizeof text, "(%s(k) (%s))", how, PICK(r, "@ * @", "@ + @", "@ - @"));
    if (text[1] != 's')
        type = x->type;
    strcat(a, "]");
    strcat(b, "]");
    Node *body = node_with(type, text, 2, node_new(x->type, ia, a), node_convert(x->type, node_new(y->type, ib, b)));
    body->binds = true;
    Tensor *t = tensor_new(k, r, kind, rank);
    memcpy(t->axis, axis, sizeof t->axis[0] * (size_t)rank);
    t->type = type;
    t->declared = t->rank == 0 || random_chance(r, 40);
    equation_add(t, subscripts_of(t), body, "");
    return true;
}

bool define_contraction(Kernel *k, Random *r, Kind kind) {
    for (int tries = 0; tries < 30; tries++) {
        int a = random_in(r, 0, k->n - 1), b = random_in(r, 0, k->n - 1);
        const Tensor *x = &k->tensor[a], *y = &k->tensor[b];
        bool fits = x->rank && y->rank && !x->triangle && !y->triangle && x->type != BOOL && y->type != BOOL;
        if (fits && contract(k, r, kind, a, b))
            return true;
    }
    return false;
}

bool define_scan(Kernel *k, Random *r, Kind kind) {
    char tail[96], text[96];
    Tensor *t = tensor_new(k, r, kind, random_in(r, 1, 2));
    undeclare(r, t, tail, sizeof tail);
    Scope s = scope_of(k, r, t);
    bool logic = t->type == BOOL && random_chance(r, 60);
    Type result = logic ? BOOL : type_sum(t->type), body = logic ? BOOL : summand(r, result);
    const char *op = logic ? PICK(r, "&&", "||") : body == BOOL ? "+" : PICK(r, "+", "+", "max", "min", "*");
    const char *along = index_names[random_in(r, 0, t->rank - 1)], *way = PICK(r, "", "", ", exclusive", ", reverse", ", exclusive, reverse");
    text_put(text, sizeof text, "(scan(%s, %s%s) (@))", op, along, way);
    Node *x = node_with(result, text, 1, draw_expression(&s, body, 2));
    if (t->type == BOOL && !logic)
        x = node_with(BOOL, "(@ > @)", 2, x, draw_literal(r, result));
    equation_add(t, subscripts_of(t), node_convert(t->type, x), tail);
    return true;
}
