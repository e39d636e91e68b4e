// Makes a failing kernel small: see program.h. Greedy: each step that keeps the failure is kept, until none does.
#include "program.h"

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
    snprintf(text, sizeof text, "%s(1)", type_names[type]);
    return node_new(type, -1, type == BOOL ? "(i32(1) == 1)" : text);
}

static bool reads(const Node *n, int tensor) {
    if (n->tensor == tensor)
        return true;
    for (int i = 0; i < n->n; i++)
        if (reads(n->kid[i], tensor))
            return true;
    return false;
}

static void replace_reads(Node **n, int tensor) {
    if ((*n)->tensor == tensor) {
        *n = constant((*n)->type);
        return;
    }
    for (int i = 0; i < (*n)->n; i++)
        replace_reads(&(*n)->kid[i], tensor);
}

// Trees are shared between the versions, so a step copies what it changes.
static Node *copy(const Node *n) {
    Node *c = node_new(n->type, n->tensor, n->text);
    c->n = n->n;
    for (int i = 0; i < n->n; i++)
        c->kid[i] = copy(n->kid[i]);
    return c;
}

static int count_kind(const Kernel *k, Kind kind) {
    int n = 0;
    for (int i = 0; i < k->n; i++)
        n += !k->tensor[i].gone && k->tensor[i].kind == kind;
    return n;
}

// Takes a tensor out; what reads it reads a constant.
static bool drop_tensor(Shrink *s, int t) {
    Kernel before = *s->kernel;
    Tensor *x = &s->kernel->tensor[t];
    if (x->gone || (x->kind == INPUT && t < 2) || (x->kind == OUTPUT && count_kind(s->kernel, OUTPUT) == 1))
        return false;
    x->gone = true;
    for (int i = 0; i < s->kernel->n; i++)
        for (int e = 0; e < s->kernel->tensor[i].n; e++) {
            Equation *q = &s->kernel->tensor[i].equation[e];
            if (i != t && reads(q->right, t)) {
                q->right = copy(q->right);
                replace_reads(&q->right, t);
            }
        }
    if (still_fails(s))
        return true;
    *s->kernel = before;
    return false;
}

static bool drop_schedule(Shrink *s) {
    char before[sizeof s->kernel->schedule];
    if (!s->kernel->schedule[0])
        return false;
    memcpy(before, s->kernel->schedule, sizeof before);
    s->kernel->schedule[0] = '\0';
    if (still_fails(s))
        return true;
    memcpy(s->kernel->schedule, before, sizeof before);
    return false;
}

// Puts a child of the same type, or a constant, in the place of a node.
static bool simplify_node(Shrink *s, Node **n) {
    Node *before = *n;
    if (!before->n)
        return false;
    bool binds = strstr(before->text, "(k in ") != NULL;      // then its children use k
    for (int i = 0; i < before->n && !binds; i++)
        if (before->kid[i]->type == before->type) {
            *n = before->kid[i];
            if (still_fails(s))
                return true;
        }
    *n = constant(before->type);
    if (still_fails(s))
        return true;
    *n = before;
    bool changed = false;
    for (int i = 0; i < before->n; i++)
        changed = simplify_node(s, &before->kid[i]) || changed;
    return changed;
}

static bool simplify_equations(Shrink *s) {
    bool changed = false;
    for (int i = 0; i < s->kernel->n; i++)
        for (int e = 0; !s->kernel->tensor[i].gone && e < s->kernel->tensor[i].n; e++)
            changed = simplify_node(s, &s->kernel->tensor[i].equation[e].right) || changed;
    return changed;
}

void kernel_shrink(Kernel *k, bool (*fails)(const Kernel *k, void *data), void *data) {
    Shrink s = {.kernel = k, .fails = fails, .data = data, .budget = 400};
    for (bool changed = true; changed && s.budget > 0;) {
        changed = drop_schedule(&s);
        for (int t = k->n - 1; t >= 0; t--)
            changed = drop_tensor(&s, t) || changed;
        changed = simplify_equations(&s) || changed;
    }
}
