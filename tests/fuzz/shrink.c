// Makes a failing kernel small: see program.h. Greedy: each step that keeps the failure is kept, until none does. A
// step may well make the program wrong: then it fails in another way, and is taken back.
#include "program.h"

#include <ctype.h>
#include <string.h>

typedef struct {
    Kernel *kernel;
    bool (*fails)(const Kernel *k, void *data);
    void *data;
    int budget;
} Shrink;

static bool still_fails(Shrink *s) {
    return s->budget-- > 0 && s->fails(s->kernel, s->data);
}

// A leaf of the same type that reads nothing.
static Node *constant(Type type) {
    char text[16];
    text_put(text, sizeof text, "%s(1)", type_names[type]);
    return node_new(type, -1, type == BOOL ? "(i32(1) == 1)" : text);
}

// ---- tensors and equations ----

static bool reads(const Node *n, int tensor) {
    bool found = n->tensor == tensor;
    for (int i = 0; !found && i < n->n; i++)
        found = reads(n->kid[i], tensor);
    return found;
}

// A copy in which reads of the tensor are constants.
static Node *without_reads(const Node *n, int tensor) {
    if (n->tensor == tensor)
        return constant(n->type);
    Node *c = node_new(n->type, n->tensor, n->text);
    c->binds = n->binds;
    c->n = n->n;
    for (int i = 0; i < n->n; i++)
        c->kid[i] = without_reads(n->kid[i], tensor);
    return c;
}

// Does the change, and undoes it unless the kernel still fails.
static bool keep(Shrink *s, const Kernel *before) {
    if (still_fails(s))
        return true;
    *s->kernel = *before;
    return false;
}

static bool is_last_output(const Kernel *k, int t) {
    int n = 0;
    for (int i = 0; i < k->n; i++)
        n += k->tensor[i].kind == OUTPUT && !k->tensor[i].gone;
    return k->tensor[t].kind == OUTPUT && n == 1;
}

static bool drop_tensor(Shrink *s, int t) {
    Kernel before = *s->kernel;
    if (before.tensor[t].gone || is_last_output(s->kernel, t))
        return false;
    s->kernel->tensor[t].gone = true;
    for (int i = 0; i < s->kernel->n; i++) {
        Tensor *x = &s->kernel->tensor[i];
        x->init = x->init == t ? -1 : x->init;
        for (int e = 0; e < x->n; e++)
            if (i != t && x->equation[e].right && reads(x->equation[e].right, t))
                x->equation[e].right = without_reads(x->equation[e].right, t);
    }
    return keep(s, &before);
}

static bool drop_equation(Shrink *s, int t, int e) {
    Kernel before = *s->kernel;
    Equation *q = &s->kernel->tensor[t].equation[e];
    if (!q->right || s->kernel->tensor[t].n < 2)
        return false;
    q->right = NULL;
    return keep(s, &before);
}

static bool drop_tail(Shrink *s, int t, int e) {
    Kernel before = *s->kernel;
    Equation *q = &s->kernel->tensor[t].equation[e];
    if (!q->right || !q->tail[0])
        return false;
    q->tail[0] = '\0';
    return keep(s, &before);
}

static bool drop_border(Shrink *s, int t, int d) {
    Kernel before = *s->kernel;
    Axis *a = &s->kernel->tensor[t].axis[d];
    if (a->border == NO_BORDER && !a->span.lo && !a->span.hi)
        return false;
    if (a->border != NO_BORDER)
        a->border = NO_BORDER;
    else if (a->span.dim != NO_DIM)
        a->span.lo = a->span.hi = 0;
    else
        return false;
    return keep(s, &before);
}

static bool shrink_tensor(Shrink *s, int t) {
    bool changed = drop_tensor(s, t);
    for (int e = 0; !s->kernel->tensor[t].gone && e < s->kernel->tensor[t].n; e++)
        changed = drop_equation(s, t, e) || drop_tail(s, t, e) || changed;
    for (int d = 0; !s->kernel->tensor[t].gone && d < s->kernel->tensor[t].rank; d++)
        changed = drop_border(s, t, d) || changed;
    return changed;
}

// ---- expressions ----

static bool replace(Shrink *s, Node **at, Node *by) {
    Node *before = *at;
    *at = by;
    if (still_fails(s))
        return true;
    *at = before;
    return false;
}

// Takes one "+3" or "-1" out of the text of a read.
static bool drop_offset(Shrink *s, Node **at) {
    for (const char *p = (*at)->text; *p; p++) {
        size_t n = strspn(p + 1, "0123456789");
        if ((*p != '+' && *p != '-') || !n || p == (*at)->text || !isalnum((unsigned char)p[-1]))
            continue;
        Node *c = node_new((*at)->type, (*at)->tensor, "");
        memcpy(c->kid, (*at)->kid, sizeof c->kid);
        c->n = (*at)->n;
        text_put(c->text, sizeof c->text, "%.*s%s", (int)(p - (*at)->text), (*at)->text, p + 1 + n);
        if (replace(s, at, c))
            return true;
    }
    return false;
}

// Puts a child of the same type, or a constant, in the place of a node.
static bool simplify_node(Shrink *s, Node **at) {
    Node *before = *at;
    if (s->budget <= 0)
        return false;
    for (int i = 0; i < before->n && !before->binds; i++)
        if (before->kid[i]->type == before->type && replace(s, at, before->kid[i]))
            return true;
    bool constant_already = before->n == 0 && before->tensor < 0;
    if (!constant_already && replace(s, at, constant(before->type)))
        return true;
    bool changed = before->tensor >= 0 && drop_offset(s, at);
    for (int i = 0; i < (*at)->n; i++)
        changed = simplify_node(s, &(*at)->kid[i]) || changed;
    return changed;
}

static bool simplify_equations(Shrink *s) {
    bool changed = false;
    for (int i = 0; i < s->kernel->n; i++)
        for (int e = 0; !s->kernel->tensor[i].gone && e < s->kernel->tensor[i].n; e++)
            if (s->kernel->tensor[i].equation[e].right)
                changed = simplify_node(s, &s->kernel->tensor[i].equation[e].right) || changed;
    return changed;
}

static bool shrink_rest(Shrink *s) {
    Kernel before = *s->kernel;
    bool changed = false;
    s->kernel->schedule[0] = '\0';
    changed = (before.schedule[0] && keep(s, &before)) || changed;
    before = *s->kernel;
    s->kernel->positive = false;
    changed = (before.positive && keep(s, &before)) || changed;
    before = *s->kernel;
    s->kernel->time = false;
    changed = (before.time && keep(s, &before)) || changed;
    before = *s->kernel;
    s->kernel->shuffle = 0;
    return (before.shuffle && keep(s, &before)) || changed;
}

void kernel_shrink(Kernel *k, bool (*fails)(const Kernel *k, void *data), void *data) {
    Shrink s = {.kernel = k, .fails = fails, .data = data, .budget = 500};
    for (bool changed = true; changed && s.budget > 0;) {
        changed = shrink_rest(&s);
        for (int t = k->n - 1; t >= 0; t--)
            changed = shrink_tensor(&s, t) || changed;
        changed = simplify_equations(&s) || changed;
    }
}
