// Draws contractions: see program.h.
//
// Each index of the result belongs to the first operand, to the second, or to both (a batch), one or two more are summed over;
// operands are inputs of their own, or computed from these, with their axes in any order. An equation may have two
// contractions, which may share operands, then read transposed where extents allow it. What is summed is narrower than the sum.
#include "program.h"

#include <string.h>

enum { MOST_INDICES = 5, MOST_NEW = 12 };

typedef struct { int n; Var var[MOST_INDICES]; } Indices;
typedef struct { int tensor, n, at[MOST_RANK]; } Operand;            // of the tensor's axis d: the index at[d]

typedef struct {
    Kernel *kernel;
    Random *random;
    Indices all;                    // of the result, then those that are summed over
    int nresult;
    bool triangle;                  // sum(k in 0..=i)
} Product;

// ---- indices ----

static Span draw_span(Random *r) {
    if (random_chance(r, 12))
        return (Span){.dim = NO_DIM, .hi = random_in(r, 1, 6)};
    Span s = {.dim = random_in(r, DIM_M, DIM_K), .times = 1};
    if (random_chance(r, 8))
        s.times = random_in(r, 2, 4);
    return s;
}

static bool equal_spans(Span x, Span y) {
    return x.dim == y.dim && x.times == y.times && x.lo == y.lo && x.hi == y.hi;
}

static Product product_new(Kernel *k, Random *r) {
    static const char *const summed[] = {"k", "p"};
    Product p = {.kernel = k, .random = r, .nresult = random_chance(r, 5) ? 0 : random_in(r, 1, 3)};
    int sums = random_chance(r, 20) ? 2 : 1;
    for (int i = 0; i < p.nresult + sums; i++)
        p.all.var[p.all.n++] = (Var){.name = i < p.nresult ? index_names[i] : summed[i - p.nresult], .span = draw_span(r)};
    p.triangle = sums == 1 && p.nresult > 0 && random_chance(r, 8);
    if (p.triangle || (p.nresult > 0 && random_chance(r, 25)))
        p.all.var[p.nresult].span = p.all.var[0].span;
    return p;
}

// ---- operands ----

static void swap(int *x, int *y) {
    int t = *x;
    *x = *y;
    *y = t;
}

static void shuffle(Random *r, Operand *o) {
    for (int d = o->n - 1; d > 0; d--)
        swap(&o->at[d], &o->at[random_in(r, 0, d)]);
}

// A tensor with an operand's axes: an input, or something simple of one.
static void operand_tensor(const Product *p, Operand *o, Type type) {
    Tensor *x = tensor_new(p->kernel, p->random, INPUT, o->n);
    x->type = type;
    for (int d = 0; d < o->n; d++)
        x->axis[d] = (Axis){.span = p->all.var[o->at[d]].span};
    o->tensor = p->kernel->n - 1;
    if (o->n == 0 || random_chance(p->random, 75))
        return;
    Tensor *t = tensor_new(p->kernel, p->random, LOCAL, o->n);
    t->type = type;
    memcpy(t->axis, x->axis, sizeof t->axis);
    char read[48];
    text_put(read, sizeof read, "%s%s", x->name, subscripts_of(x));
    const char *form = type_is_float(type) ? PICK(p->random, "max(@, 0)", "0.5*@", "(@ + 1)") : PICK(p->random, "max(@, 1)", "(@ + 1)", "3*@");
    equation_add(t, subscripts_of(t), node_with(type, form, 1, node_new(type, o->tensor, read)), "");
    o->tensor = p->kernel->n - 1;
}

// Whose the indices are; ranks stay within what tensors have.
static void draw_operands(const Product *p, Operand *x, Operand *y) {
    Random *r = p->random;
    *x = *y = (Operand){0};
    for (int i = p->nresult; i < p->all.n; i++) {
        bool one = i > p->nresult && random_chance(r, 20);
        x->at[x->n++] = i;
        if (!one)
            y->at[y->n++] = i;
    }
    for (int i = 0; i < p->nresult; i++) {
        bool both = random_chance(r, 25), first = random_chance(r, 50);
        if ((both || first) && x->n < 3)
            x->at[x->n++] = i;
        else
            first = false;
        if ((both || !first) && y->n < MOST_RANK)
            y->at[y->n++] = i;
    }
    shuffle(r, x);
    shuffle(r, y);
}

// The same tensor, with subscripts of one extent exchanged where that may be.
static Operand transposed(const Product *p, Operand o) {
    for (int d = 1; d < o.n; d++)
        for (int e = 0; e < d; e++)
            if (equal_spans(p->all.var[o.at[d]].span, p->all.var[o.at[e]].span) && random_chance(p->random, 60))
                swap(&o.at[d], &o.at[e]);
    return o;
}

static Node *operand_read(const Product *p, const Operand *o) {
    const Tensor *t = &p->kernel->tensor[o->tensor];
    char text[64];
    int n = text_put(text, sizeof text, "%s", t->name);
    for (int d = 0; d < o->n; d++)
        n += text_put(text + n, sizeof text - (size_t)n, "%s%s", d ? ", " : "[", p->all.var[o->at[d]].name);
    text_put(text + n, sizeof text - (size_t)n, "%s", o->n ? "]" : "");
    return node_new(t->type, o->tensor, text);
}

// ---- products ----

static Type draw_input_type(Random *r) {
    static const Type types[] = {F16, F16, F16, BF16, BF16, F32, F32, F32, F64, I8, I8, U8, I16, I32, U16, I64};
    return types[random_below(r, sizeof types / sizeof *types)];
}

// Where a sum is one of halves, integers in it say so.
static Node *factor(Type type, Type sum, const Product *p, const Operand *o) {
    Node *x = operand_read(p, o);
    return x->type == type ? x : node_convert(sum, x);
}

static void put_ranges(char *to, size_t size, const Product *p) {
    char end[32];
    int n = 0;
    bool said = random_chance(p->random, 30);
    for (int i = p->nresult; i < p->all.n; i++) {
        const Var *v = &p->all.var[i];
        n += text_put(to + n, size - (size_t)n, "%s%s", i > p->nresult ? ", " : "", v->name);
        span_end(end, sizeof end, v->span, 0);
        if (p->triangle)
            n += text_put(to + n, size - (size_t)n, " in 0..=%s", p->all.var[0].name);
        else if (said)
            n += text_put(to + n, size - (size_t)n, " in 0..%s", end);
    }
}

static Node *sum_of(const Product *p, Type type, const Operand *x, const Operand *y) {
    char ranges[80], text[140];
    put_ranges(ranges, sizeof ranges, p);
    Type sum = type_sum(type);
    Node *a = factor(type, sum, p, x), *b = factor(type, sum, p, y);
    bool wide = a->type != b->type || random_chance(p->random, 15);
    text_put(text, sizeof text, "(sum(%s) @ * @)", ranges);
    Node *n = node_with(sum, text, 2, wide ? node_convert(sum, a) : a, wide ? node_convert(sum, b) : b);
    n->binds = true;
    return n;
}

// One contraction, or two: of the same operands, of one of them and another, of others.
static Node *draw_products(const Product *p, Type type) {
    Random *r = p->random;
    Operand x, y, u, v;
    Type other = random_chance(r, 12) && type_is_float(type) ? F32 : type;
    draw_operands(p, &x, &y);
    operand_tensor(p, &x, type);
    operand_tensor(p, &y, other);
    Node *sum = sum_of(p, type, &x, &y);
    if (!random_chance(r, 30))
        return sum;
    u = transposed(p, x);
    v = transposed(p, y);
    if (random_chance(r, 50)) {
        if (random_chance(r, 50)) {
            draw_operands(p, &u, &v);
            operand_tensor(p, &u, type);
        }
        operand_tensor(p, &v, type);
    }
    const char *plus = PICK(r, "(@ + @)", "(@ + @)", "(@ - @)", "max(@, @)");
    return node_with(sum->type, plus, 2, sum, sum_of(p, type, &u, &v));
}

static Node *plus_leaf(Scope *s, Type type, Node *sum) {
    const char *form = PICK(s->random, "(@ + @)", "max(@, @)", "(@ * @)");
    return node_with(type, form, 2, sum, draw_leaf(s, type));
}

// Before it the operands, so that the tensor is the last one.
bool define_product(Kernel *k, Random *r, Kind kind) {
    if (k->n + MOST_NEW > MOST_TENSORS)
        return false;
    Product p = product_new(k, r);
    int before = k->n;
    Type type = draw_input_type(r);
    Node *sum = draw_products(&p, type);
    Tensor *t = tensor_new(k, r, kind, p.nresult);
    t->type = sum->type;
    for (int d = 0; d < p.nresult; d++)
        t->axis[d].span = p.all.var[d].span;
    Scope s = scope_of(k, r, t);
    s.limit = before;                                   // (operands are read by contractions alone)
    if (random_chance(r, 25))
        sum = plus_leaf(&s, t->type, sum);
    if (random_chance(r, 25))
        sum = node_with(t->type, "max(@, 0)", 1, sum);
    if (random_chance(r, 30)) {
        static const Type halves[] = {F16, BF16}, whole[] = {I8, I16, U8, I64};
        t->type = type_is_float(sum->type) ? halves[random_below(r, 2)] : whole[random_below(r, 4)];
        sum = node_convert(t->type, sum);
    }
    equation_add(t, subscripts_of(t), sum, "");
    k->products = true;
    return true;
}
