// Draws expressions, conditions and reads: see program.h.
#include "program.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

Node *node_new(Type type, int tensor, const char *text) {
    Node *n = calloc(1, sizeof *n);
    if (!n || strlen(text) >= sizeof n->text)
        abort();
    n->type = type;
    n->tensor = tensor;
    strcpy(n->text, text);
    return n;
}

Node *node_with(Type type, const char *text, int n, ...) {
    Node *x = node_new(type, -1, text);
    va_list ap;
    va_start(ap, n);
    for (x->n = 0; x->n < n; x->n++)
        x->kid[x->n] = va_arg(ap, Node *);
    va_end(ap);
    return x;
}

Node *node_convert(Type type, Node *x) {
    char text[16];
    if (x->type == type)
        return x;
    text_put(text, sizeof text, "%s(@)", type_names[type]);
    return node_with(type, text, 1, x);
}

// ---- spans ----

bool span_holds(Span outer, Span inner, int times, int plus) {
    bool same = inner.dim == outer.dim && (inner.dim == NO_DIM || times * inner.times <= outer.times);
    if (!same && inner.dim != NO_DIM)
        return false;
    return times * inner.lo + plus >= outer.lo && times * (inner.hi - 1) + plus <= outer.hi - 1;
}

bool span_nonempty(const Kernel *k, Span s) {
    int least = s.dim != NO_DIM && s.dim != DIM_T && k->positive ? s.times : 0;
    return least + s.hi > s.lo;
}

// Is the first empty whenever the second is?
static bool span_shorter(Span x, Span y) {
    return x.dim == y.dim && x.times == y.times && x.hi - x.lo <= y.hi - y.lo;
}

Scope scope_of(Kernel *k, Random *r, const Tensor *t) {
    Scope s = {.kernel = k, .random = r, .limit = k ? (int)(t - k->tensor) : 0, .data = 1};
    for (int d = 0; d < t->rank; d++)
        scope_add(&s, index_names[d], t->axis[d].span);
    return s;
}

void scope_add(Scope *s, const char *name, Span span) {
    s->var[s->nvars++] = (Var){.name = name, .span = span};
}

// ---- subscripts ----

// One subscript: text with an '@' for a child, and a condition under which it is inside.
typedef struct { char text[64], when[80]; Node *kid; } Subscript;
typedef bool Strategy(Scope *s, const Axis *a, Subscript *to);

static const Var *any_var(Scope *s) {
    return s->nvars ? &s->var[random_below(s->random, (uint32_t)s->nvars)] : NULL;
}

static void put_sum(char *to, size_t size, const char *x, int plus) {
    text_put(to, size, plus ? "%s%+d" : "%s", x, plus);
}

static bool behind_border(const Scope *s, const Axis *a, Span v) {
    if (a->border == NO_BORDER)
        return false;
    return a->border == ZERO || a->border == CONST || span_nonempty(s->kernel, a->span) || span_shorter(v, a->span);
}

static bool at_index(Scope *s, const Axis *a, Subscript *to) {
    const Var *v = any_var(s);
    int plus = random_chance(s->random, 45) ? 0 : random_in(s->random, -3, 3);
    if (!v || (!span_holds(a->span, v->span, 1, plus) && !(v->span.dim == a->span.dim && behind_border(s, a, v->span))))
        return false;
    put_sum(to->text, sizeof to->text, v->name, plus);
    return true;
}

static bool at_multiple(Scope *s, const Axis *a, Subscript *to) {
    const Var *v = any_var(s);
    int times = random_in(s->random, 2, 3), plus = random_in(s->random, -1, 2);
    if (!v || !span_holds(a->span, v->span, times, plus))
        return false;
    text_put(to->text, sizeof to->text, plus ? "%d*%s%+d" : "%d*%s", times, v->name, plus);
    return true;
}

static bool at_mirror(Scope *s, const Axis *a, Subscript *to) {
    const Var *v = any_var(s);
    char end[32];
    if (!v || v->span.dim == NO_DIM || !span_holds(a->span, v->span, 1, 0))
        return false;
    span_end(end, sizeof end, a->span, a->span.lo - 1);
    text_put(to->text, sizeof to->text, "%s-%s", end, v->name);
    return true;
}

static bool at_half(Scope *s, const Axis *a, Subscript *to) {
    const Var *v = any_var(s);
    if (!v || v->span.lo < 0 || a->span.lo > 0 || !span_holds(a->span, v->span, 1, 0))
        return false;
    text_put(to->text, sizeof to->text, "floordiv(%s, 2)", v->name);
    return true;
}

// Far behind a border.
static bool at_outside(Scope *s, const Axis *a, Subscript *to) {
    const Var *v = any_var(s), *w = any_var(s);
    static const Span none = {.dim = NO_DIM, .hi = 1};
    if (!v || !behind_border(s, a, none))
        return false;
    switch (random_below(s->random, 4)) {
    case 0: text_put(to->text, sizeof to->text, "%s+%s", v->name, w->name); break;
    case 1: text_put(to->text, sizeof to->text, "2*%s-%u", v->name, random_below(s->random, 6)); break;
    case 2: text_put(to->text, sizeof to->text, "%u-%s", random_below(s->random, 9), v->name); break;
    default: put_sum(to->text, sizeof to->text, v->name, random_in(s->random, -9, 9)); break;
    }
    return true;
}

static bool at_clamped(Scope *s, const Axis *a, Subscript *to) {
    const Var *v = any_var(s);
    char end[32], x[32];
    if (!v || !span_nonempty(s->kernel, a->span))
        return false;
    put_sum(x, sizeof x, v->name, random_in(s->random, -3, 3));
    span_end(end, sizeof end, a->span, -1);
    text_put(to->text, sizeof to->text, "min(max(%s, %d), %s)", x, a->span.lo, end);
    return true;
}

static bool at_edge(Scope *s, const Axis *a, Subscript *to) {
    if (!span_nonempty(s->kernel, a->span))
        return false;
    if (random_chance(s->random, 50))
        span_begin(to->text, sizeof to->text, a->span);
    else
        span_end(to->text, sizeof to->text, a->span, -1);
    return true;
}

// Index arithmetic with a number that may need all of its bits.
static void draw_far(Scope *s, char *to, size_t size) {
    const Var *v = any_var(s);
    const char *x = v ? v->name : "1", *form = PICK(s->random, "%s+S", "%s-S", "S-%s", "%s+2*S", "2*S-%s", "3*%s-S", "%s+S-2", "S+S-%s");
    text_put(to, size, form, x);
}

static bool at_far(Scope *s, const Axis *a, Subscript *to) {
    static const Span none = {.dim = NO_DIM, .hi = 1};
    char end[32];
    if (!random_chance(s->random, 50))
        return false;
    draw_far(s, to->text, sizeof to->text);
    if (behind_border(s, a, none))
        return true;
    span_end(end, sizeof end, a->span, 0);
    text_put(to->when, sizeof to->when, "%s >= %d && %s < %s", to->text, a->span.lo, to->text, end);
    return true;
}

static bool at_guarded(Scope *s, const Axis *a, Subscript *to) {
    const Var *v = any_var(s);
    char end[32], x[32];
    if (!v)
        return false;
    put_sum(x, sizeof x, v->name, random_in(s->random, -2, 2));
    span_end(end, sizeof end, a->span, 0);
    text_put(to->text, sizeof to->text, "%s", x);
    text_put(to->when, sizeof to->when, "%s >= %d && %s < %s", x, a->span.lo, x, end);
    return true;
}

static bool at_data(Scope *s, const Axis *a, Subscript *to) {
    static const Type types[] = {I32, I64, I16};
    char end[32];
    if (s->data <= 0 || !span_nonempty(s->kernel, a->span))
        return false;
    s->data--;
    to->kid = draw_leaf(s, types[random_below(s->random, 3)]);
    s->data++;
    span_end(end, sizeof end, a->span, a->span.lo ? -1 : 0);
    if (a->span.lo)
        text_put(to->text, sizeof to->text, "clamp(i64(@), %d, %s)", a->span.lo, end);
    else
        text_put(to->text, sizeof to->text, "mod(i64(@), %s)", end);
    return true;
}

static bool draw_subscript(Scope *s, const Axis *a, bool affine, Subscript *to) {
    static Strategy *const strategies[] = {at_index,  at_index, at_index,   at_index, at_index,   at_multiple, at_mirror,
                                           at_mirror, at_half,  at_outside, at_edge,  at_clamped, at_guarded,  at_data,  at_far};
    enum { ALL = sizeof strategies / sizeof *strategies, AFFINE = ALL - 4 };
    for (int tries = 0; tries < 12; tries++) {
        *to = (Subscript){0};
        if (strategies[random_below(s->random, affine ? AFFINE : ALL)](s, a, to))
            return true;
    }
    return false;
}

// The read at those subscripts; under their conditions, with a literal otherwise.
static Node *read_at(Scope *s, int tensor, const Subscript *at) {
    const Tensor *t = &s->kernel->tensor[tensor];
    char text[400], when[400] = "";
    int n = text_put(text, sizeof text, "%s", t->name);
    Node *x = node_new(t->type, tensor, "");
    for (int d = 0; d < t->rank; d++) {
        n += text_put(text + n, sizeof text - (size_t)n, "%s%s", d ? ", " : "[", at[d].text);
        if (at[d].kid)
            x->kid[x->n++] = at[d].kid;
        if (at[d].when[0])
            text_put(when + strlen(when), sizeof when - strlen(when), "%s%s", when[0] ? " && " : "", at[d].when);
    }
    if (t->triangle)
        text_put(when + strlen(when), sizeof when - strlen(when), "%s%s <= %s", when[0] ? " && " : "", at[1].text, at[0].text);
    text_put(x->text, sizeof x->text, "%s%s", text, t->rank ? "]" : "");
    if (!when[0])
        return x;
    text_put(text, sizeof text, "(if %s then @ else @)", when);
    return node_with(t->type, text, 2, x, draw_literal(s->random, t->type));
}

Node *draw_read(Scope *s, int tensor) {
    const Tensor *t = &s->kernel->tensor[tensor];
    Subscript at[MOST_RANK] = {0};
    for (int d = 0; d < t->rank; d++)
        if (!draw_subscript(s, &t->axis[d], t->triangle, &at[d]))
            return NULL;
    return read_at(s, tensor, at);
}

Node *draw_gather(Scope *s, int tensor) {
    const Tensor *t = &s->kernel->tensor[tensor];
    Subscript at[MOST_RANK] = {0};
    if (t->triangle)
        return NULL;
    for (int d = 0; d < t->rank; d++)
        if (!at_data(s, &t->axis[d], &at[d]))
            return NULL;
    return read_at(s, tensor, at);
}

// ---- conditions ----

void draw_affine(Scope *s, char *to, size_t size) {
    const Var *v = any_var(s), *w = any_var(s);
    char end[32];
    if (!v) {
        text_put(to, size, "M > %u", random_below(s->random, 5));
        return;
    }
    uint32_t c = random_below(s->random, 6);
    span_end(end, sizeof end, v->span, -(int)random_below(s->random, 3));
    char far[48];
    draw_far(s, far, sizeof far);
    switch (random_below(s->random, 11)) {
    case 10: text_put(to, size, "%s %s %u", far, PICK(s->random, "<", ">=", "!="), c); return;
    case 0: case 1: text_put(to, size, "%s %s %u", v->name, PICK(s->random, "<", ">=", "<=", ">"), c); return;
    case 2: text_put(to, size, "%s %s %u", v->name, PICK(s->random, "==", "!="), c); return;
    case 3: text_put(to, size, "%s %s %s", v->name, PICK(s->random, "<", ">=", "!=", "=="), end); return;
    case 4: text_put(to, size, "mod(%s, %u) == %u", v->name, 2 + c / 3, c % 2); return;
    default: break;
    }
    if (v == w)
        text_put(to, size, "%s > %u", v->name, c);
    else if (random_chance(s->random, 60))
        text_put(to, size, "%s %s %s", v->name, PICK(s->random, "<", "<=", ">", ">=", "!=", "=="), w->name);
    else {
        const char *plus = PICK(s->random, "+", "-"), *less = PICK(s->random, "<", ">=");
        text_put(to, size, "%s %s %s %s %u", v->name, plus, w->name, less, c);
    }
}

// A number of any type and an index, a dimension, or arithmetic on them: by their values.
static Node *draw_mixed(Scope *s) {
    Random *r = s->random;
    const Var *v = any_var(s);
    char text[96], index[40];
    int c = random_in(r, -4, 4);
    if (!v || random_chance(r, 30)) {
        const char *dim = PICK(r, "M", "2*M", "64*M", "-M");
        text_put(index, sizeof index, "%s%+d", dim, random_chance(r, 20) ? c * 70 : c);
    } else
        text_put(index, sizeof index, PICK(r, "%s%+d", "%s%+d", "3*%s%+d", "-%s%+d"), v->name, c);
    bool left = random_chance(r, 40);
    const char *than = PICK(r, "<", ">=", "==", "!=", ">", "<=");
    text_put(text, sizeof text, left ? "(%s %s @)" : "(@ %s %s)", left ? index : than, left ? than : index);
    return node_with(BOOL, text, 1, draw_leaf(s, (Type)random_below(r, BOOL)));
}

Node *draw_condition(Scope *s, int depth) {
    Random *r = s->random;
    const char *op;
    Node *x, *y;
    char text[96], affine[90];
    switch (random_below(r, 9)) {
    case 8: return draw_mixed(s);
    case 0: case 1:
        draw_affine(s, affine, sizeof affine);
        text_put(text, sizeof text, "(%s)", affine);
        return node_new(BOOL, -1, text);
    case 2:
        op = PICK(r, "(@ && @)", "(@ || @)");
        x = draw_condition(s, depth - 1);
        return node_with(BOOL, op, 2, x, draw_condition(s, depth - 1));
    case 3: return node_with(BOOL, "!@", 1, draw_leaf(s, BOOL));
    case 4:
        op = PICK(r, "isnan(@)", "isinf(@)");
        return node_with(BOOL, op, 1, draw_leaf(s, F32));
    default: break;
    }
    Type t = (Type)random_below(r, BOOL);
    x = draw_leaf(s, t);
    y = depth > 0 ? draw_expression(s, t, depth - 1) : draw_literal(r, t);
    return node_with(BOOL, PICK(r, "(@ < @)", "(@ >= @)", "(@ == @)", "(@ != @)", "(@ > @)"), 2, x, y);
}

// ---- expressions ----

Node *draw_literal(Random *r, Type type) {
    char text[40];
    if (type == BOOL)
        return node_new(BOOL, -1, PICK(r, "(i32(1) == 1)", "(i32(1) == 2)"));
    if (type_is_float(type))
        text_put(text, sizeof text, "%s(%s)", type_names[type], PICK(r, "0.5", "1", "2", "0.25", "-1.5", "0.1", "1e-3", "3.0"));
    else if (type_is_signed(type) && random_chance(r, 20))
        text_put(text, sizeof text, "%s(-%u)", type_names[type], random_below(r, 128));
    else
        text_put(text, sizeof text, "%s(%u)", type_names[type], random_chance(r, 80) ? random_below(r, 6) : random_below(r, 128));
    return node_new(type, -1, text);
}

// A read of a tensor of the type, if there is one; the latest tensors more often.
static Node *leaf_read(Scope *s, Type type, bool exact) {
    for (int tries = 0; tries < 8 && s->limit > 0; tries++) {
        int t = random_in(s->random, 0, s->limit - 1);
        if (random_chance(s->random, 40))
            t = s->limit - 1 - t / 3;
        Node *x = exact && s->kernel->tensor[t].type != type ? NULL : draw_read(s, t);
        if (x)
            return x;
    }
    return NULL;
}

Node *draw_leaf(Scope *s, Type type) {
    Random *r = s->random;
    char text[40];
    const Var *v = any_var(s);
    if (random_chance(r, 7))
        return draw_literal(r, type);
    if (v && type != BOOL && random_chance(r, 1)) {
        char far[32];
        draw_far(s, far, sizeof far);
        text_put(text, sizeof text, PICK(r, "%s(%s)", "%s(S*(%s))"), type_names[type], far);
        return node_new(type, -1, text);
    }
    if (v && type != BOOL && random_chance(r, 6)) {
        text_put(text, sizeof text, "%s(%s)", type_names[type], v->name);
        return node_new(type, -1, text);
    }
    Node *x = leaf_read(s, type, true);
    if (!x)
        x = leaf_read(s, type, false);
    if (!x)
        return draw_literal(r, type);
    return type == BOOL && x->type != BOOL ? node_with(BOOL, "(@ > @)", 2, x, draw_literal(r, x->type)) : node_convert(type, x);
}

// Of the type, or of one that widens to it without being told.
static Node *narrower(Scope *s, Type type, int depth) {
    Type t = (Type)random_below(s->random, BOOL);
    bool other = random_chance(s->random, 30) && type_widens(t, type);
    return draw_expression(s, other ? t : type, depth);
}

static Node *float_expression(Scope *s, Type t, int depth) {
    Random *r = s->random;
    const char *op;
    Node *x = draw_expression(s, t, depth - 1), *y;
    switch (random_below(r, 12)) {
    case 0: return node_with(t, PICK(r, "abs(@)", "floor(@)", "-@", "round(@)", "sqrt(abs(@))", "ceil(@)", "trunc(@)", "sign(@)"), 1, x);
    case 1: return node_with(t, PICK(r, "exp(-abs(@))", "tanh(@)", "sin(@)", "cos(@)", "sigmoid(@)", "erf(@)", "log1p(abs(@))", "rsqrt(abs(@) + 1)"), 1, x);
    case 2:
        op = PICK(r, "(@ / (abs(@) + 1))", "(@ / @)", "atan2(@, @)", "pow(abs(@), sigmoid(@))", "mod(@, abs(@) + 1)", "mod(@, @)", "floordiv(@, @)",
                  "floordiv(@, 2*sign(@))");
        return node_with(t, op, 2, x, draw_expression(s, t, depth - 1));
    case 3:
        op = PICK(r, "fma(@, @, @)", "clamp(@, @, @)");
        y = draw_leaf(s, t);
        return node_with(t, op, 3, x, y, draw_leaf(s, t));
    case 4: return node_with(t, PICK(r, "(0.5*@)", "(@ + 1)", "(2 - @)", "(@ * 3)", "max(@, 0)", "min(@, 1)"), 1, x);
    default: break;
    }
    op = PICK(r, "(@ + @)", "(@ - @)", "(@ * @)", "max(@, @)", "min(@, @)");
    return node_with(t, op, 2, x, narrower(s, t, depth - 1));
}

static Node *integer_expression(Scope *s, Type t, int depth) {
    Random *r = s->random;
    const char *op;
    Node *x = draw_expression(s, t, depth - 1);
    switch (random_below(r, 10)) {
    case 0:
        op = PICK(r, "bitand(@, @)", "bitxor(@, @)", "bitor(@, @)");
        return node_with(t, op, 2, x, draw_expression(s, t, depth - 1));
    case 1:
        op = PICK(r, "floordiv(@, max(@, 1))", "mod(@, max(@, 1))", "(@ / max(@, 1))", "(@ % max(@, 1))");
        return node_with(t, op, 2, x, draw_expression(s, t, depth - 1));
    case 2: return node_with(t, PICK(r, "shl(@, 2)", "shr(@, 1)", "shr(@, 3)", "bitnot(@)", "(@ + 1)", "(3*@)", "(@ % 7)", "(@ / 3)"), 1, x);
    case 3:
        if (type_is_signed(t))
            return node_with(t, PICK(r, "abs(@)", "-@", "sign(@)", "floordiv(@, 4)", "mod(@, 5)", "(@ - 2)", "clamp(@, -3, 100)"), 1, x);
        break;
    default: break;
    }
    op = PICK(r, "(@ + @)", "(@ - @)", "(@ * @)", "max(@, @)", "min(@, @)");
    return node_with(t, op, 2, x, narrower(s, t, depth - 1));
}

// A half of something wider, which is rounded once: with bits where halves end.
static Node *draw_half(Scope *s, Type type, int depth) {
    static const Type wide[] = {I64, U64, I32, U32, F64, F32};
    Random *r = s->random;
    Type t = wide[random_below(r, 6)];
    const char *form = type_is_float(t) ? PICK(r, "(@ * 1.00048828125)", "(@ + 0.00390625)", "(@ * 2049.0)", "@")
                       : t == I64 || t == U64 ? PICK(r, "(@ * 4398046511105)", "(@ * 36028797018963969)", "(@ + 2049)", "shl(@, 54)", "@")
                                              : PICK(r, "(@ * 2049)", "(@ * 257)", "(@ * 1048577)", "(@ + 4097)");
    return node_convert(type, node_with(t, form, 1, draw_expression(s, t, depth - 1)));
}

static Node *draw_choice(Scope *s, Type type, int depth) {
    Node *condition = draw_condition(s, 0), *x = draw_expression(s, type, depth - 1);
    return node_with(type, "(if @ then @ else @)", 3, condition, x, draw_expression(s, type, depth - 1));
}

Node *draw_expression(Scope *s, Type type, int depth) {
    if (depth <= 0 || random_chance(s->random, 18))
        return draw_leaf(s, type);
    if (type == BOOL)
        return draw_condition(s, depth);
    if (random_chance(s->random, 10))
        return draw_choice(s, type, depth);
    if ((type == F16 || type == BF16) && random_chance(s->random, 15))
        return draw_half(s, type, depth);
    if (random_chance(s->random, 6))
        return node_convert(type, draw_expression(s, (Type)random_below(s->random, BOOL), depth - 1));
    return type_is_float(type) ? float_expression(s, type, depth) : integer_expression(s, type, depth);
}
