// Draws recurrences: see program.h.
//
// A recurrence reads itself at offsets that all lie on one side of the element in the order of its axes, some of them
// reversed. At the rim it has a border, a condition, or equations of its own.
#include "program.h"

#include <string.h>

// Offsets at which a tensor reads itself, and the rim: how its first elements are defined.
enum { MOST_OFFSETS = 3 };
typedef struct { int n, at[MOST_OFFSETS][MOST_RANK]; } Offsets;
typedef enum { BY_BORDER, BY_PIECES, BY_CONDITION, RIMS } Rim;

static const char *step_text(Random *r, Type type) {
    if (type == BOOL)
        return PICK(r, "(@ || @)", "(@ && @)", "(@ != @)");
    if (type_is_float(type))
        return PICK(r, "(0.5*@ + @)", "(0.25*@ - @)", "max(0.5*@, @)", "min(@, @)", "(@ + 0.125*@)", "max(@, @)");
    return PICK(r, "(@ + @)", "max(@, @)", "bitxor(@, @)", "(3*@ + @)", "min(@, @)", "(@ - @)");
}

static void put_offset(char *to, size_t size, const char *name, int plus) {
    text_put(to, size, plus ? "%s%+d" : "%s", name, plus);
}

// t[i-1, j]; `leading` is the subscript in front of those of the offsets, or "".
static Node *self_read(const Tensor *t, int number, const char *leading, const int *at, int rank) {
    char text[96], one[24];
    int n = text_put(text, sizeof text, "%s[%s", t->name, leading);
    for (int d = 0; d < rank; d++) {
        put_offset(one, sizeof one, index_names[d], at[d]);
        n += text_put(text + n, sizeof text - (size_t)n, "%s%s", d || leading[0] ? ", " : "", one);
    }
    text_put(text + n, sizeof text - (size_t)n, "]");
    return node_new(t->type, number, text);
}

// What has to hold for all offsets to stay inside: "i >= 1, i < N-2", "" if nothing.
static void put_inside(char *to, size_t size, const Tensor *t, const Offsets *o, const char *between) {
    char end[32];
    int n = 0;
    to[0] = '\0';
    for (int d = 0; d < t->rank; d++) {
        int least = 0, most = 0;
        for (int i = 0; i < o->n; i++) {
            least = o->at[i][d] < least ? o->at[i][d] : least;
            most = o->at[i][d] > most ? o->at[i][d] : most;
        }
        span_end(end, sizeof end, t->axis[d].span, -most);
        if (least < 0)
            n += text_put(to + n, size - (size_t)n, "%s%s >= %d", n ? between : "", index_names[d], t->axis[d].span.lo - least);
        if (most > 0)
            n += text_put(to + n, size - (size_t)n, "%s%s < %s", n ? between : "", index_names[d], end);
    }
}

static Node *draw_step(Scope *s, Tensor *t, const Offsets *o, Rim rim) {
    Node *sum = draw_expression(s, t->type, 1);
    for (int i = 0; i < o->n; i++) {
        Offsets one = {.n = 1};
        char inside[96], text[120];
        memcpy(one.at[0], o->at[i], sizeof one.at[0]);
        Node *read = self_read(t, s->limit, "", o->at[i], t->rank);
        if (rim == BY_CONDITION) {
            put_inside(inside, sizeof inside, t, &one, " && ");
            text_put(text, sizeof text, "(if %s then @ else @)", inside);
            read = node_with(t->type, text, 2, read, draw_literal(s->random, t->type));
        }
        sum = node_with(t->type, step_text(s->random, t->type), 2, read, sum);
    }
    return sum;
}

static void solve(Kernel *k, Random *r, Tensor *t, const Offsets *o) {
    static const Border constant[] = {ZERO, CONST};
    Rim rim = (Rim)random_below(r, RIMS);
    char inside[80], tail[96] = "";
    for (int d = 0; d < t->rank; d++)
        t->axis[d].border = rim == BY_BORDER ? constant[t->type == BOOL ? 0 : random_below(r, 2)] : NO_BORDER;
    Scope s = scope_of(k, r, t);
    if (rim == BY_PIECES) {
        put_inside(inside, sizeof inside, t, o, ", ");
        text_put(tail, sizeof tail, " where %s", inside);
    }
    equation_add(t, subscripts_of(t), draw_step(&s, t, o, rim), tail);
    if (rim == BY_PIECES)
        equation_add(t, subscripts_of(t), draw_expression(&s, t->type, 1), " where otherwise");
}

// Along one axis, upwards or downwards.
bool define_recurrence(Kernel *k, Random *r, Kind kind) {
    Tensor *t = tensor_new(k, r, kind, random_in(r, 1, 2));
    int axis = random_in(r, 0, t->rank - 1), way = random_chance(r, 70) ? -1 : 1;
    Offsets o = {.n = random_in(r, 1, 2)};
    for (int i = 0; i < o.n; i++)
        o.at[i][axis] = way * random_in(r, 1, 3);
    solve(k, r, t, &o);
    return true;
}

// Along two or three axes; the first offset that is not 0 says where from, each axis has a direction of its own.
bool define_wave(Kernel *k, Random *r, Kind kind) {
    static const int before[][MOST_RANK] = {{-1, 0, 0}, {0, -1, 0}, {-1, -1, 0}, {-1, 1, 0}, {-2, 0, 0}, {0, -2, 0}, {-1, -2, 0}, {-2, 1, 0}};
    Tensor *t = tensor_new(k, r, kind, random_chance(r, 85) ? 2 : 3);
    int way[MOST_RANK] = {[2] = 1};
    for (int d = 0; d < 2; d++)
        way[d] = random_chance(r, 80) ? 1 : -1;
    Offsets o = {.n = random_in(r, 2, MOST_OFFSETS)};
    for (int i = 0; i < o.n; i++) {
        const int *from = before[random_below(r, sizeof before / sizeof *before)];
        for (int d = 0; d < t->rank; d++)
            o.at[i][d] = way[d] * from[d];
        if (t->rank == 3)
            o.at[i][2] = random_in(r, -1, 1);
    }
    solve(k, r, t, &o);
    return true;
}

// ---- time ----

// A field over time: u[t, i, j] from u[t-1, ..] and, for a sweep in place, from u[t, i-1, j].
typedef struct {
    Tensor *u;
    int number;              // of u
    Tensor *other;           // a second field that it reads, or NULL
    bool shifted;            // u[t+1, ..] = .. u[t, ..]
    bool other_is_new;       // reads the other field at its own time
    bool in_place;
    bool rim;                // the rim keeps its value; else u has borders
} Field;

static Tensor *field_new(Kernel *k, Random *r, Kind kind, int space, Type type) {
    Tensor *u = tensor_new(k, r, kind, space + 1);
    for (int d = space; d > 0; d--)
        u->axis[d] = (Axis){.span = u->axis[d - 1].span};
    u->axis[0] = (Axis){.span = {.dim = DIM_T, .times = 1, .hi = 1}};
    u->type = type;
    u->declared = true;
    return u;
}

static void put_left(char *to, size_t size, const Tensor *u, const char *time) {
    text_put(to, size, u->rank == 1 ? "[%s]" : u->rank == 2 ? "[%s, i]" : "[%s, i, j]", time);
}

static Node *draw_field_step(Scope *s, const Field *f) {
    Random *r = s->random;
    const char *old = f->shifted ? "t" : "t-1", *now = f->shifted ? "t+1" : "t";
    int space = f->u->rank - 1;
    Node *sum = random_chance(r, 50) ? draw_leaf(s, f->u->type) : draw_literal(r, f->u->type);
    for (int n = random_in(r, 1, 3); n > 0; n--) {
        int at[MOST_RANK] = {0};
        bool in_place = f->in_place && random_chance(r, 50), other = f->other && random_chance(r, 50);
        for (int d = 0; d < space; d++)
            at[d] = random_in(r, -1, 1);
        if (in_place && space)
            memcpy(at, (const int[MOST_RANK]){random_chance(r, 50) || space == 1 ? -1 : 0, -1}, sizeof at);
        const Tensor *x = other ? f->other : f->u;
        const char *time = (in_place && space && !other) || (other && f->other_is_new) ? now : old;
        if (random_chance(r, 12))
            time = "0";                                              // where it all began
        Node *read = self_read(x, (int)(x - s->kernel->tensor), time, at, space);
        sum = node_with(f->u->type, step_text(r, f->u->type), 2, read, sum);
    }
    return sum;
}

static void put_step_tail(char *to, size_t size, const Field *f) {
    char end[32];
    int n = text_put(to, size, " where t in %s", f->shifted ? "0..T" : "1..T+1");
    for (int d = 0; f->rim && d < f->u->rank - 1; d++) {
        Span span = f->u->axis[d + 1].span;
        span_end(end, sizeof end, span, -1);
        n += text_put(to + n, size - (size_t)n, ", %s in %d..%s", index_names[d], span.lo + 1, end);
    }
}

static void define_field(Kernel *k, Random *r, const Field *f) {
    static const Border any[] = {ZERO, CONST, CLAMP, WRAP, REFLECT};
    char left[48], tail[96];
    Scope s = {.kernel = k, .random = r, .limit = f->number, .data = 1};
    for (int d = 1; d < f->u->rank; d++) {
        Border border = f->in_place ? any[random_below(r, 2)] : any[random_below(r, 5)];
        f->u->axis[d].border = f->rim ? NO_BORDER : border == CONST && f->u->type == BOOL ? ZERO : border;
        scope_add(&s, index_names[d - 1], f->u->axis[d].span);
    }
    put_left(left, sizeof left, f->u, "0");
    equation_add(f->u, left, draw_expression(&s, f->u->type, 1), "");
    scope_add(&s, "t", (Span){.dim = DIM_T, .times = 1, .lo = f->shifted ? 0 : 1, .hi = f->shifted ? 0 : 1});
    put_left(left, sizeof left, f->u, f->shifted ? "t+1" : "t");
    put_step_tail(tail, sizeof tail, f);
    equation_add(f->u, left, draw_field_step(&s, f), tail);
    if (!f->rim || f->u->rank == 1)
        return;
    put_left(left, sizeof left, f->u, "t");
    equation_add(f->u, left, self_read(f->u, f->number, "t-1", (const int[MOST_RANK]){0}, f->u->rank - 1), " where t in 1..T+1, otherwise");
}

// The last state, and maybe something more.
static void add_result(Kernel *k, Random *r, Kind kind, const Tensor *u) {
    int number = (int)(u - k->tensor);
    Tensor *t = tensor_new(k, r, kind, u->rank - 1);
    for (int d = 0; d < t->rank; d++)
        t->axis[d].span = u->axis[d + 1].span;
    t->type = u->type;
    Scope s = scope_of(k, r, t);
    s.limit = number;
    Node *x = self_read(u, number, "T", (const int[MOST_RANK]){0}, t->rank);
    if (t->type != BOOL && random_chance(r, 40))
        x = node_with(t->type, "(@ + @)", 2, x, draw_leaf(&s, t->type));
    equation_add(t, subscripts_of(t), x, "");
}

static Type field_type(Random *r) {
    static const Type types[] = {F32, F32, F32, F64, I32, U8, I64, BOOL, F16};
    return types[random_below(r, sizeof types / sizeof *types)];
}

bool define_time(Kernel *k, Random *r, Kind kind) {
    bool whole = kind == OUTPUT && random_chance(r, 30);      // the output is the history itself
    Field f = {.shifted = random_chance(r, 40)};
    f.in_place = random_chance(r, 25);
    f.rim = random_chance(r, 40);
    int space = random_in(r, 0, 2);
    f.u = field_new(k, r, whole ? OUTPUT : LOCAL, space, field_type(r));
    f.number = k->n - 1;
    define_field(k, r, &f);
    if (!whole)
        add_result(k, r, kind, f.u);
    return true;
}

// Two fields that read one another; the second may read the first at its own time.
bool define_coupled(Kernel *k, Random *r, Kind kind) {
    Field f = {.shifted = random_chance(r, 40)}, g;
    int space = random_in(r, 0, 2);
    Type type = field_type(r);
    f.u = field_new(k, r, LOCAL, space, type);
    f.number = k->n - 1;
    g = f;
    g.u = field_new(k, r, LOCAL, space, type);
    memcpy(g.u->axis, f.u->axis, sizeof g.u->axis);
    f.other = g.u;
    g.other = f.u;
    g.other_is_new = random_chance(r, 50);
    define_field(k, r, &f);
    define_field(k, r, &g);                 // what both read for the rest lies before the first
    add_result(k, r, kind, random_chance(r, 50) ? f.u : g.u);
    return true;
}
