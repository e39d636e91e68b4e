// Draws random kernels and prints them: see program.h.
#include "program.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *const type_names[TYPES] = {"f32", "f64", "f16", "i32", "i64", "u8", "i8", "bool"};

uint32_t random_below(Random *r, uint32_t n) {
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = r->state ^ r->state >> 29;
    return (uint32_t)((x * 0x9e3779b97f4a7c15u >> 33) % n);
}

static bool chance(Random *r, uint32_t percent) {
    return random_below(r, 100) < percent;
}

static const char *pick(Random *r, int n, const char *const *from) {
    return from[random_below(r, (uint32_t)n)];
}

#define PICK(r, ...) pick((r), (int)(sizeof(const char *[]){__VA_ARGS__} / sizeof(char *)), (const char *const[]){__VA_ARGS__})

Node *node_new(Type type, int tensor, const char *text) {
    Node *n = calloc(1, sizeof *n);
    if (!n)
        abort();
    n->type = type;
    n->tensor = tensor;
    snprintf(n->text, sizeof n->text, "%s", text);
    return n;
}

static Node *node(Type type, const char *text, int n, ...) {
    Node *x = node_new(type, -1, text);
    va_list ap;
    va_start(ap, n);
    for (x->n = 0; x->n < n; x->n++)
        x->kid[x->n] = va_arg(ap, Node *);
    va_end(ap);
    return x;
}

// ---- expressions ----

// What an expression may use: tensors before `limit`, the indices `rows` and `columns` stand for (NULL: none).
typedef struct {
    Kernel *kernel;
    Random *random;
    int limit;
    const char *index[4];
    int nindices;
} Scope;

static bool is_float(Type t) {
    return t == F32 || t == F64 || t == F16;
}

static void subscript(Scope *s, char *to, size_t size, const char *index, const char *extent) {
    Random *r = s->random;
    const char *other = s->index[random_below(r, (uint32_t)s->nindices)];
    uint32_t c = random_below(r, 5);
    switch (random_below(r, 12)) {
    case 0: snprintf(to, size, "%s-%u", index, c); break;
    case 1: snprintf(to, size, "%s+%u", index, c); break;
    case 2: snprintf(to, size, "%s-1-%s", extent, index); break;
    case 3: snprintf(to, size, "2*%s-%u", index, c); break;
    case 4: snprintf(to, size, "%s+%s", index, other); break;
    case 5: snprintf(to, size, "floordiv(%s, 2)", index); break;
    case 6: snprintf(to, size, "%s", other); break;
    default: snprintf(to, size, "%s", index); break;
    }
}

static Node *read_of(Scope *s, int t) {
    const Tensor *x = &s->kernel->tensor[t];
    char text[96], one[40], two[40];
    if (x->rank == 0)
        snprintf(text, sizeof text, "%s", x->name);
    else if (x->rank == 1) {
        subscript(s, one, sizeof one, s->index[random_below(s->random, (uint32_t)s->nindices)], "N");
        snprintf(text, sizeof text, "%s[%s]", x->name, one);
    } else {
        subscript(s, one, sizeof one, s->index[0], "M");
        subscript(s, two, sizeof two, s->index[s->nindices - 1], "N");
        snprintf(text, sizeof text, "%s[%s, %s]", x->name, one, two);
    }
    return node_new(x->type, t, text);
}

static Node *convert(Type type, Node *x) {
    if (x->type == type)
        return x;
    char text[16];
    snprintf(text, sizeof text, "%s(%%)", type_names[type]);
    return node(type, text, 1, x);
}

static Node *literal(Type type, Random *r) {
    char text[32];
    if (is_float(type))
        snprintf(text, sizeof text, "%s(%s)", type_names[type], PICK(r, "0.5", "1", "2", "0.25", "1.5"));
    else
        snprintf(text, sizeof text, "%s(%u)", type_names[type], random_below(r, 6));
    return node_new(type, -1, type == BOOL ? PICK(r, "(i32(1) == 1)", "(i32(1) == 2)") : text);
}

// A leaf of some type: a read if there is a tensor, preferably one of that type.
static Node *leaf(Scope *s, Type type) {
    Random *r = s->random;
    if (chance(r, 8))
        return literal(type, r);
    if (chance(r, 5) && type != BOOL) {
        char text[32];
        snprintf(text, sizeof text, "%s(%s)", type_names[type], s->index[random_below(r, (uint32_t)s->nindices)]);
        return node_new(type, -1, text);
    }
    for (int tries = 0; tries < 4; tries++) {
        int t = (int)random_below(r, (uint32_t)s->limit);
        if (s->kernel->tensor[t].type == type)
            return read_of(s, t);
    }
    Node *x = read_of(s, (int)random_below(r, (uint32_t)s->limit));
    if (type == BOOL && x->type != BOOL)
        return node(BOOL, "(% > %)", 2, x, literal(x->type, r));
    return convert(type, x);
}

static Node *expression(Scope *s, Type type, int depth);

static Node *condition(Scope *s, int depth) {
    Random *r = s->random;
    static const Type compared[] = {F32, I32, U8, I64};
    char text[96];
    const char *a = s->index[0], *b = s->index[s->nindices - 1];
    switch (random_below(r, 6)) {
    case 0:
        snprintf(text, sizeof text, "%s %s %u", a, PICK(r, "<", ">=", "==", "!="), random_below(r, 5));
        return node_new(BOOL, -1, text);
    case 1:
        snprintf(text, sizeof text, "%s %s %s", a, PICK(r, "<", "<=", ">", "!="), a == b ? "3" : b);
        return node_new(BOOL, -1, text);
    case 2: return node(BOOL, PICK(r, "(% && %)", "(% || %)"), 2, condition(s, depth - 1), condition(s, depth - 1));
    case 3: return node(BOOL, "!%", 1, leaf(s, BOOL));
    default: break;
    }
    Type t = compared[random_below(r, 4)];
    return node(BOOL, PICK(r, "(% < %)", "(% >= %)", "(% == %)"), 2, leaf(s, t), depth > 0 ? expression(s, t, depth - 1) : literal(t, r));
}

static Node *float_expression(Scope *s, Type t, int depth) {
    Node *x = expression(s, t, depth - 1), *y;
    switch (random_below(s->random, 10)) {
    case 0: return node(t, PICK(s->random, "abs(%)", "floor(%)", "-%", "round(%)", "sqrt(abs(%))"), 1, x);
    case 1: return node(t, PICK(s->random, "exp(-abs(%))", "tanh(%)", "sin(%)", "sigmoid(%)"), 1, x);
    case 2: return node(t, "(% / (abs(%) + 1))", 2, x, expression(s, t, depth - 1));
    case 3: return node(t, "fma(%, %, %)", 3, x, leaf(s, t), leaf(s, t));
    default: break;
    }
    y = expression(s, t, depth - 1);
    return node(t, PICK(s->random, "(% + %)", "(% - %)", "(% * %)", "max(%, %)", "min(%, %)"), 2, x, y);
}

static Node *integer_expression(Scope *s, Type t, int depth) {
    Node *x = expression(s, t, depth - 1), *y = expression(s, t, depth - 1);
    switch (random_below(s->random, 8)) {
    case 0: return node(t, PICK(s->random, "bitand(%, %)", "bitxor(%, %)", "bitor(%, %)"), 2, x, y);
    case 1: return node(t, PICK(s->random, "floordiv(%, max(%, 1))", "mod(%, max(%, 1))", "(% / max(%, 1))", "(% % max(%, 1))"), 2, x, y);
    default: break;
    }
    return node(t, PICK(s->random, "(% + %)", "(% - %)", "(% * %)", "max(%, %)", "min(%, %)"), 2, x, y);
}

static Node *expression(Scope *s, Type type, int depth) {
    if (depth <= 0)
        return leaf(s, type);
    if (type == BOOL)
        return condition(s, depth);
    if (chance(s->random, 12))
        return node(type, "(if % then % else %)", 3, condition(s, 0), expression(s, type, depth - 1), expression(s, type, depth - 1));
    if (chance(s->random, 20))
        return leaf(s, type);
    return is_float(type) ? float_expression(s, type, depth) : integer_expression(s, type, depth);
}

// ---- equations ----

static Equation *equation(Tensor *t, const char *left, Node *right, const char *tail) {
    Equation *e = &t->equation[t->n++];
    snprintf(e->left, sizeof e->left, "%s%s", t->name, left);
    snprintf(e->tail, sizeof e->tail, "%s", tail);
    e->right = right;
    return e;
}

static Scope scope(Kernel *k, Random *r, const Tensor *t) {
    Scope s = {.kernel = k, .random = r, .limit = (int)(t - k->tensor), .index = {"i", "j"}, .nindices = 2};
    if (t->rank == 1) {
        s.index[0] = "j";
        s.nindices = 1;
    }
    return s;
}

static const char *subscripts(const Tensor *t) {
    return t->rank == 2 ? "[i, j]" : t->rank == 1 ? "[j]" : "";
}

static void add_map(Kernel *k, Random *r, Tensor *t) {
    Scope s = scope(k, r, t);
    equation(t, subscripts(t), expression(&s, t->type, 3), "");
}

// Two or three pieces by affine conditions.
static void add_pieces(Kernel *k, Random *r, Tensor *t) {
    Scope s = scope(k, r, t);
    char tail[96];
    if (t->rank == 2)
        snprintf(tail, sizeof tail, " where %s", PICK(r, "i < j", "i + j >= 5", "i == j", "j >= N - 2", "i >= 1, j >= 1", "i < 3, j >= i"));
    else
        snprintf(tail, sizeof tail, " where %s", PICK(r, "j < 3", "j >= N - 1", "j == 0", "j > 1, j < N - 1"));
    equation(t, subscripts(t), expression(&s, t->type, 2), tail);
    equation(t, subscripts(t), expression(&s, t->type, 2), " where otherwise");
}

// Sums that promote a small type would change the tensor's type, so these have the accumulators' types only.
static Type summable(Type t) {
    return t == F16 ? F32 : t == U8 || t == I8 || t == BOOL ? I32 : t;
}

static void add_reduction(Kernel *k, Random *r, Tensor *t) {
    Scope s = scope(k, r, t);
    t->type = summable(t->type);
    const char *range = t->rank == 2 ? PICK(r, "k in 0..N", "k in 0..=i", "k in 0..j", "k in i..M", "k in -2..3", "k in 0..T")
                        : t->rank == 1 ? PICK(r, "k in 0..M", "k in 0..=j", "k in j..N", "k in -2..3")
                                       : PICK(r, "k in 0..N", "k in 0..M");
    char text[96];
    if (t->rank == 0)
        s.nindices = 0;
    s.index[s.nindices++] = "k";
    bool guarded = chance(r, 20);
    snprintf(text, sizeof text, "%s(%s%s) %%", is_float(t->type) ? PICK(r, "sum", "max", "min", "sum") : PICK(r, "sum", "max", "min", "prod"), range,
             guarded ? " where %" : "");
    Node *body = expression(&s, t->type, 2);
    Node *right = guarded ? node(t->type, text, 2, condition(&s, 0), node(t->type, "(%)", 1, body)) : node(t->type, text, 1, node(t->type, "(%)", 1, body));
    if (chance(r, 30)) {
        Scope outer = scope(k, r, t);
        if (t->rank > 0)
            right = node(t->type, "(% + %)", 2, leaf(&outer, t->type), node(t->type, "(%)", 1, right));
    }
    equation(t, subscripts(t), right, "");
}

static void add_scan(Kernel *k, Random *r, Tensor *t) {
    Scope s = scope(k, r, t);
    t->type = summable(t->type);
    char text[96];
    snprintf(text, sizeof text, "scan(%s, %s%s) %%", PICK(r, "+", "max", "min", "+"), t->rank == 2 ? PICK(r, "j", "i") : "j",
             PICK(r, "", "", ", exclusive", ", reverse", ", exclusive, reverse"));
    equation(t, subscripts(t), node(t->type, text, 1, node(t->type, "(%)", 1, expression(&s, t->type, 2))), "");
}

// A recurrence over rows (time stepping with neighbours), or over both (a wavefront); contracting, so that it stays finite.
static void add_recurrence(Kernel *k, Random *r, Tensor *t) {
    Scope s = scope(k, r, t);
    char text[96];
    int self = (int)(t - k->tensor);
    if (!is_float(t->type) || t->type == F16)
        t->type = F32;
    if (t->rank == 1) {
        snprintf(text, sizeof text, "(%s*%s[%s] + %%)", PICK(r, "0.5", "0.25"), t->name, PICK(r, "j-1", "j-2", "j-3"));
        equation(t, "[j]", node(t->type, text, 1, leaf(&s, t->type)), "");
    } else if (chance(r, 50)) {
        snprintf(text, sizeof text, "(0.25*%s[i-1, %s] + 0.25*%s[i-1, %s] + %%)", t->name, PICK(r, "j", "j-1", "j+1"), t->name, PICK(r, "j", "j-2", "j+1"));
        equation(t, "[i, j]", node(t->type, text, 1, leaf(&s, t->type)), "");
    } else {
        snprintf(text, sizeof text, "(0.25*%s[i-1, j] + 0.25*%s[i, j-1] + 0.125*%s[i-1, %s] + %%)", t->name, t->name, t->name, PICK(r, "j-1", "j+1"));
        equation(t, "[i, j]", node(t->type, text, 1, leaf(&s, t->type)), "");
    }
    t->equation[0].right->tensor = self;      // goes when the tensor goes
    snprintf(t->dims, sizeof t->dims, t->rank == 1 ? "[N border zero]" : "[M border zero, N border zero]");
}

// A read at a place that data says, kept inside by mod.
static void add_gather(Kernel *k, Random *r, Tensor *t) {
    Scope s = scope(k, r, t);
    char text[96];
    for (int i = 0; i < s.limit; i++) {
        const Tensor *x = &k->tensor[i];
        if (x->rank != 1)
            continue;
        snprintf(text, sizeof text, "%s[mod(%%, N)]", x->name);
        Node *at = convert(I32, leaf(&s, I32)), *read = node(x->type, text, 1, at);
        read->tensor = i;
        Node *value = x->type == BOOL && t->type != BOOL ? node(t->type, "(if % then % else %)", 3, read, literal(t->type, r), leaf(&s, t->type))
                      : t->type == BOOL && x->type != BOOL ? node(BOOL, "(% > %)", 2, read, literal(x->type, r))
                                                           : convert(t->type, read);
        equation(t, subscripts(t), value, "");
        return;
    }
    add_map(k, r, t);
}

// ---- kernels ----

static const char *border(Random *r, Type t) {
    return t == BOOL ? PICK(r, "clamp", "wrap") : PICK(r, "zero", "clamp", "wrap", "zero", "const(1)");
}

static Tensor *add_tensor(Kernel *k, Random *r, Kind kind, int rank) {
    static const Type types[] = {F32, F32, F32, F64, I32, I32, U8, F16, I64, I8, BOOL};
    Tensor *t = &k->tensor[k->n];
    *t = (Tensor){.kind = kind, .rank = rank, .type = types[random_below(r, sizeof types / sizeof types[0])]};
    snprintf(t->name, sizeof t->name, "%c%d", kind == INPUT ? 'x' : kind == LOCAL ? 't' : 'y', k->n);
    if (rank == 1)
        snprintf(t->dims, sizeof t->dims, "[N border %s]", border(r, t->type));
    else if (rank == 2)
        snprintf(t->dims, sizeof t->dims, "[M border %s, N border %s]", border(r, t->type), border(r, t->type));
    k->n++;
    return t;
}

static void define(Kernel *k, Random *r, Tensor *t) {
    uint32_t kind = random_below(r, 100);
    // Borders were drawn for the first type; a definition may change the type between numbers only.
    Type drawn = t->type;
    if (t->rank == 0 || kind < 20)
        add_reduction(k, r, t);
    else if (kind < 32)
        add_scan(k, r, t);
    else if (kind < 44)
        add_recurrence(k, r, t);
    else if (kind < 56)
        add_pieces(k, r, t);
    else if (kind < 62)
        add_gather(k, r, t);
    else
        add_map(k, r, t);
    (void)drawn;
}

static void random_schedule(Kernel *k, Random *r) {
    if (!chance(r, 35))
        return;
    snprintf(k->schedule, sizeof k->schedule, "    tile i = %u, j = %u;\n", 1 + random_below(r, 20), 1 + random_below(r, 40));
}

void kernel_random(Kernel *k, Random *r, const char *name) {
    *k = (Kernel){0};
    snprintf(k->name, sizeof k->name, "%s", name);
    int inputs = 3 + (int)random_below(r, 2), locals = (int)random_below(r, 5), outputs = 1 + (int)random_below(r, 2);
    add_tensor(k, r, INPUT, 2);           // these two bind M and N
    add_tensor(k, r, INPUT, 1);
    for (int i = 2; i < inputs; i++)
        add_tensor(k, r, INPUT, (int)random_below(r, 3));
    for (int i = 0; i < locals; i++)
        define(k, r, add_tensor(k, r, LOCAL, chance(r, 65) ? 2 : 1));
    for (int i = 0; i < outputs; i++)
        define(k, r, add_tensor(k, r, OUTPUT, chance(r, 60) ? 2 : (int)random_below(r, 2)));
    random_schedule(k, r);
}

// ---- printing ----

static void print_node(FILE *f, const Node *n) {
    int kid = 0;
    for (const char *p = n->text; *p; p++)
        if (*p != '%')
            putc(*p, f);
        else if (p[1] == ' ' && p > n->text && p[-1] == ' ' && kid == 1 && strcmp(n->text, "(% % max(%, 1))") == 0)
            putc('%', f);                 // the operator
        else
            print_node(f, n->kid[kid++]);
}

static void print_params(FILE *f, const Kernel *k, Kind kind) {
    bool first = true;
    for (int i = 0; i < k->n; i++) {
        const Tensor *t = &k->tensor[i];
        if (t->gone || t->kind != kind)
            continue;
        fprintf(f, "%s%s: %s%s", first ? "" : ", ", t->name, type_names[t->type], t->dims);
        first = false;
    }
}

void kernel_print(FILE *f, const Kernel *k) {
    fprintf(f, "kernel %s(", k->name);
    print_params(f, k, INPUT);
    fputs(", T: int) -> (", f);
    print_params(f, k, OUTPUT);
    fputs(") where M >= 1, N >= 1 {\n", f);
    for (int i = 0; i < k->n; i++)
        if (!k->tensor[i].gone && k->tensor[i].kind == LOCAL)
            fprintf(f, "    %s: %s%s;\n", k->tensor[i].name, type_names[k->tensor[i].type], k->tensor[i].dims);
    for (int i = 0; i < k->n; i++)
        for (int e = 0; !k->tensor[i].gone && e < k->tensor[i].n; e++) {
            const Equation *q = &k->tensor[i].equation[e];
            fprintf(f, "    %s = ", q->left);
            print_node(f, q->right);
            fprintf(f, "%s;\n", q->tail);
        }
    fputs("}\n", f);
    if (k->schedule[0])
        fprintf(f, "schedule %s {\n%s}\n", k->name, k->schedule);
}
