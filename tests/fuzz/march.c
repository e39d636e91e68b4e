// Draws recurrences over time of order one to three, in one to three dimensions of space: see program.h.
//
// As many planes as the order are given, each by an equation of its own; each later plane reads planes before it around its
// own place, certainly the farthest. Beyond the rim there is a border of any kind, or the rim keeps its value.
#include "program.h"

#include <string.h>

enum { MOST_ORDER = 3 };

typedef struct {
    Tensor *u;
    int number, order, space;
    bool ahead;                    // u[t+order, ..] = .. u[t, ..]
    bool rim;                      // keeps its value
} March;

// Space is small in the planes of three dimensions, so that sizes can be as elsewhere.
static Tensor *planes_new(Kernel *k, Random *r, Kind kind, int space, int order) {
    static const Border any[] = {ZERO, CONST, CLAMP, WRAP, REFLECT};
    static const Type types[] = {F32, F32, F32, F64, I32, U8, I64, F16, BF16, I16};
    Tensor *u = tensor_new(k, r, kind, space + 1);
    u->type = types[random_below(r, sizeof types / sizeof *types)];
    u->axis[0] = (Axis){.span = {.dim = DIM_T, .times = 1, .hi = order}};
    for (int d = 1; d <= space; d++) {
        bool fixed = d > 2 || random_chance(r, space > 1 ? 30 : 10);
        Span span = {.dim = random_in(r, DIM_M, DIM_K), .times = 1};
        if (fixed)
            span = (Span){.dim = NO_DIM, .hi = random_in(r, 1, 6)};
        u->axis[d] = (Axis){.span = span, .border = any[random_below(r, 5)]};
        axis_value(k, r, u, d);
    }
    return u;
}

static void put_left(char *to, size_t size, const March *m, const char *time) {
    int n = text_put(to, size, "[%s", time);
    for (int d = 0; d < m->space; d++)
        n += text_put(to + n, size - (size_t)n, ", %s", index_names[d]);
    text_put(to + n, size - (size_t)n, "]");
}

static Node *read_before(const March *m, Random *r, int back) {
    char text[96];
    int at = (m->ahead ? m->order : 0) - back, n = text_put(text, sizeof text, at ? "%s[t%+d" : "%s[t", m->u->name, at);
    bool cross = random_chance(r, 50);
    int only = m->space ? random_in(r, 0, m->space - 1) : 0;
    for (int d = 0; d < m->space; d++) {
        int by = cross && d != only ? 0 : random_in(r, -1, 1);
        by *= !m->rim && random_chance(r, 20) ? 2 : 1;
        n += text_put(text + n, sizeof text - (size_t)n, by ? ", %s%+d" : ", %s", index_names[d], by);
    }
    text_put(text + n, sizeof text - (size_t)n, "]");
    return node_new(m->u->type, m->number, text);
}

static Node *draw_step(Scope *s, const March *m) {
    Random *r = s->random;
    Type type = m->u->type;
    Node *sum = random_chance(r, 40) ? draw_leaf(s, type) : draw_literal(r, type);
    for (int n = random_in(r, 1, 4); n >= 0; n--) {
        const char *step = type_is_float(type) ? PICK(r, "(0.5*@ + @)", "(@ - 0.5*@)", "max(0.5*@, @)", "(0.25*@ + @)", "(@ + 0.125*@)")
                                               : PICK(r, "(@ + @)", "max(@, @)", "bitxor(@, @)", "(3*@ + @)", "(@ - @)");
        Node *read = read_before(m, r, n == 0 ? m->order : random_in(r, 1, m->order));
        sum = node_with(type, step, 2, read, sum);
    }
    return sum;
}

// " where t in 2..T+2, i in 1..M-1"
static void put_tail(char *to, size_t size, const March *m) {
    char end[32];
    int n = m->ahead ? text_put(to, size, " where t in 0..T") : text_put(to, size, " where t in %d..T+%d", m->order, m->order);
    for (int d = 0; m->rim && d < m->space; d++) {
        span_end(end, sizeof end, m->u->axis[d + 1].span, -1);
        n += text_put(to + n, size - (size_t)n, ", %s in 1..%s", index_names[d], end);
    }
}

static void add_equations(Kernel *k, Random *r, const March *m) {
    char left[48], tail[96], time[16];
    Scope s = {.kernel = k, .random = r, .limit = m->number, .data = 1};
    for (int d = 0; d < m->space; d++)
        scope_add(&s, index_names[d], m->u->axis[d + 1].span);
    for (int c = 0; c < m->order; c++) {
        text_put(time, sizeof time, "%d", c);
        put_left(left, sizeof left, m, time);
        equation_add(m->u, left, draw_expression(&s, m->u->type, 1), "");
    }
    text_put(time, sizeof time, m->ahead ? "t+%d" : "t", m->order);
    put_left(left, sizeof left, m, time);
    put_tail(tail, sizeof tail, m);
    equation_add(m->u, left, draw_step(&s, m), tail);
    if (!m->rim)
        return;
    char keep[96];
    text_put(keep, sizeof keep, m->ahead ? "%s[t+%d" : "%s[t-1", m->u->name, m->order - 1);
    for (int d = 0; d < m->space; d++)
        text_put(keep + strlen(keep), sizeof keep - strlen(keep), ", %s", index_names[d]);
    text_put(keep + strlen(keep), sizeof keep - strlen(keep), "]");
    text_put(tail, sizeof tail, m->ahead ? " where t in 0..T, otherwise" : " where t in %d..T+%d, otherwise", m->order, m->order);
    equation_add(m->u, left, node_new(m->u->type, m->number, keep), tail);
}

// The last planes, one or two of them.
static void add_last(Kernel *k, Random *r, Kind kind, const March *m) {
    char text[96];
    Tensor *t = tensor_new(k, r, kind, m->space);
    t->type = m->u->type;
    Node *sum = NULL;
    for (int d = 0; d < m->space; d++)
        t->axis[d].span = m->u->axis[d + 1].span;
    for (int c = m->order - 1; c >= 0 && (!sum || random_chance(r, 40)); c--) {
        text_put(text, sizeof text, c ? "%s[T+%d" : "%s[T", m->u->name, c);
        for (int d = 0; d < m->space; d++)
            text_put(text + strlen(text), sizeof text - strlen(text), ", %s", index_names[d]);
        text_put(text + strlen(text), sizeof text - strlen(text), "]");
        Node *read = node_new(t->type, m->number, text);
        sum = sum ? node_with(t->type, "(@ + @)", 2, sum, read) : read;
    }
    equation_add(t, subscripts_of(t), sum, "");
}

bool define_march(Kernel *k, Random *r, Kind kind) {
    if (k->n + 2 > MOST_TENSORS)
        return false;
    bool whole = kind == OUTPUT && random_chance(r, 25);                    // the output is the history itself
    March m = {.order = random_in(r, 1, MOST_ORDER)};
    m.space = random_in(r, 1, 3);
    m.ahead = random_chance(r, 40);
    m.rim = random_chance(r, 25);
    m.u = planes_new(k, r, whole ? OUTPUT : LOCAL, m.space, m.order);
    m.number = k->n - 1;
    for (int d = 1; m.rim && d <= m.space; d++)
        m.u->axis[d].border = NO_BORDER;
    add_equations(k, r, &m);
    if (!whole)
        add_last(k, r, kind, &m);
    return true;
}
