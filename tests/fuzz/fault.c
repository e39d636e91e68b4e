// Draws intermediates with elements that fault, and what reads them behind a condition: see program.h.
//
// The condition mostly keeps away from the elements that fault, so that no output needs them; now and then it is another one, and
// kernel and reference have to fail alike.
#include "program.h"

#include <string.h>

static int whole_numbers(const Kernel *k, Random *r) {
    for (int tries = 0; tries < 20 && k->n > 0; tries++) {
        int i = random_in(r, 0, k->n - 1);
        const Tensor *x = &k->tensor[i];
        if ((x->rank == 1 || x->rank == 2) && !x->triangle && !type_is_float(x->type) && x->type != BOOL)
            return i;
    }
    return -1;
}

static Node *element(const Kernel *k, int tensor) {
    char text[48];
    text_put(text, sizeof text, "%s%s", k->tensor[tensor].name, subscripts_of(&k->tensor[tensor]));
    return node_new(k->tensor[tensor].type, tensor, text);
}

// A tensor over the indices of another one.
static Tensor *alike(Kernel *k, Random *r, Kind kind, int source) {
    Tensor *t = tensor_new(k, r, kind, k->tensor[source].rank);
    for (int d = 0; d < t->rank; d++)
        t->axis[d] = (Axis){.span = k->tensor[source].axis[d].span};
    return t;
}

// t[i] = a / x[i]; the condition: x[i] != 0.
static Node *divide(Kernel *k, Random *r, Tensor *t, int x) {
    Scope s = scope_of(k, r, t);
    t->type = k->tensor[x].type;
    const char *form = PICK(r, "(@ / @)", "(@ % @)", "floordiv(@, @)", "mod(@, @)");
    Node *quotient = node_with(t->type, form, 2, draw_leaf(&s, t->type), element(k, x));
    if (random_chance(r, 40)) {
        form = PICK(r, "(@ + @)", "max(@, @)");
        quotient = node_with(t->type, form, 2, quotient, draw_leaf(&s, t->type));
    }
    equation_add(t, subscripts_of(t), quotient, "");
    return node_with(BOOL, PICK(r, "(@ != 0)", "(@ > 0)"), 1, element(k, x));
}

static int vector_without_border(const Kernel *k, Random *r, int limit) {
    for (int tries = 0; tries < 10; tries++) {
        int i = random_in(r, 0, limit - 1);
        const Tensor *t = &k->tensor[i];
        if (t->rank == 1 && t->axis[0].border == NO_BORDER)
            return i;
    }
    return -1;
}

// t[i] = v[x[i]]; the condition: there is such an element.
static Node *look_up(Kernel *k, Tensor *t, int x, int v) {
    char text[160], begin[32], end[32];
    text_put(text, sizeof text, "%s[i64(@)]", k->tensor[v].name);
    Node *read = node_new(k->tensor[v].type, v, text);
    read->kid[read->n++] = element(k, x);
    t->type = read->type;
    equation_add(t, subscripts_of(t), read, "");
    span_begin(begin, sizeof begin, k->tensor[v].axis[0].span);
    span_end(end, sizeof end, k->tensor[v].axis[0].span, 0);
    text_put(text, sizeof text, "(i64(@) >= %s && i64(@) < %s)", begin, end);
    return node_with(BOOL, text, 2, element(k, x), element(k, x));
}

// What reads it behind the condition: an element, or a reduction over the elements.
static Node *use(Kernel *k, Random *r, Tensor *z, int t, Node *condition, Node *again) {
    Scope s = scope_of(k, r, z);
    Type type = k->tensor[t].type;
    const Span *span = &k->tensor[t].axis[0].span;
    char text[160], ranges[80], end[32];
    if (z->rank == 1 && type != BOOL && random_chance(r, 35)) {
        span_end(end, sizeof end, *span, 0);
        text_put(ranges, sizeof ranges, "i in %d..%s", span->lo, end);
        text_put(text, sizeof text, "(%s(%s where @) (@))", PICK(r, "sum", "max", "min"), ranges);
        z->rank = 0;
        z->type = text[1] == 's' ? type_sum(type) : type;
        Node *all = node_with(z->type, text, 2, condition, element(k, t));
        all->binds = true;
        return all;
    }
    z->type = type;
    Node *chosen = node_with(type, "(if @ then @ else @)", 3, condition, element(k, t), draw_leaf(&s, type));
    if (type == BOOL || random_chance(r, 70))
        return chosen;
    return node_with(type, "(if @ then @ else @)", 3, again, node_with(type, "(@ + @)", 2, chosen, element(k, t)), chosen);
}

bool define_faults(Kernel *k, Random *r, Kind kind) {
    int x = whole_numbers(k, r);
    if (x < 0 || k->n + 4 > MOST_TENSORS)
        return false;
    int v = random_chance(r, 40) ? vector_without_border(k, r, k->n) : -1, t = k->n;
    Tensor *first = alike(k, r, LOCAL, x);
    Node *away = v < 0 ? divide(k, r, first, x) : look_up(k, first, x, v);
    if (first->type != BOOL && random_chance(r, 40)) {                       // and on through another one
        Tensor *second = alike(k, r, LOCAL, t);
        Scope s = scope_of(k, r, second);
        second->type = first->type;
        const char *form = PICK(r, "(@ + @)", "min(@, @)");
        equation_add(second, subscripts_of(second), node_with(second->type, form, 2, element(k, t), draw_leaf(&s, second->type)), "");
        t++;
    }
    Tensor *z = alike(k, r, kind, x);
    Scope s = scope_of(k, r, z);
    bool other = random_chance(r, 20);
    Node *again = other || v >= 0 ? draw_condition(&s, 0) : node_with(BOOL, "(@ > 1)", 1, element(k, x));
    Node *right = use(k, r, z, t, other ? draw_condition(&s, 0) : away, again);
    equation_add(z, subscripts_of(z), right, "");
    return true;
}
