// Random kernels as .pto: see program.h.
#include "program.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int text_put(char *to, size_t size, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(to, size, format, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= size) {
        fprintf(stderr, "a text of %d characters in %zu bytes: %s\n", n, size, to);
        abort();
    }
    return n;
}

const char *const dim_names[DIMS] = {"M", "N", "K", "T", "S"};

void span_begin(char *to, size_t size, Span s) {
    text_put(to, size, "%d", s.lo);
}

void span_end(char *to, size_t size, Span s, int plus) {
    int c = s.hi + plus;
    if (s.dim == NO_DIM)
        text_put(to, size, "%d", c);
    else if (s.times > 1)
        text_put(to, size, c ? "%d*%s%+d" : "%d*%s", s.times, dim_names[s.dim], c);
    else
        text_put(to, size, c ? "%s%+d" : "%s", dim_names[s.dim], c);
}

static void print_border(FILE *f, const Kernel *k, const Tensor *t, const Axis *a) {
    static const char *const borders[] = {[NO_BORDER] = "", [ZERO] = " border zero", [CONST] = " border const(", [CLAMP] = " border clamp",
                                          [REFLECT] = " border reflect", [WRAP] = " border wrap"};
    const Tensor *value = a->value > 0 ? &k->tensor[a->value] : NULL;
    fputs(borders[a->border], f);
    if (a->border == CONST)
        fprintf(f, "%s)", value && !value->gone && value->type == t->type ? value->name : "1");
}

static void print_axis(FILE *f, const Kernel *k, const Tensor *t, const Axis *a) {
    char end[32];
    span_end(end, sizeof end, a->span, 0);
    if (a->span.lo)
        fprintf(f, "%d..", a->span.lo);
    fputs(end, f);
    print_border(f, k, t, a);
}

static void print_type(FILE *f, const Kernel *k, const Tensor *t) {
    fprintf(f, "%s: %s", t->name, type_names[t->type]);
    for (int i = 0; i < t->rank; i++) {
        fputs(i ? ", " : "[", f);
        print_axis(f, k, t, &t->axis[i]);
    }
    fputs(t->rank ? "]" : "", f);
}

static void print_node(FILE *f, const Node *n) {
    int kid = 0;
    for (const char *p = n->text; *p; p++)
        if (*p == '@')
            print_node(f, n->kid[kid++]);
        else
            putc(*p, f);
}

bool kernel_has_dim(const Kernel *k, int dim) {
    bool found = dim >= DIM_T && k->time;
    for (int i = 0; i < k->n; i++)
        for (int d = 0; k->tensor[i].kind == INPUT && !k->tensor[i].gone && d < k->tensor[i].rank; d++) {
            const Span *s = &k->tensor[i].axis[d].span;
            found |= s->dim == dim && s->times == 1 && s->lo == 0 && s->hi == 0;
        }
    return found;
}

static void print_params(FILE *f, const Kernel *k, Kind kind) {
    const char *between = "";
    for (int i = 0; i < k->n; i++) {
        const Tensor *t = &k->tensor[i];
        if (t->gone || t->kind != kind)
            continue;
        fputs(between, f);
        print_type(f, k, t);
        if (t->init >= 0)
            fprintf(f, " = %s", k->tensor[t->init].name);
        between = ", ";
    }
    if (kind == INPUT && k->time)
        fprintf(f, "%sT: int, S: int", between);
}

static void print_declarations(FILE *f, const Kernel *k) {
    for (int i = 0; i < k->n; i++) {
        if (k->tensor[i].gone || k->tensor[i].kind != LOCAL || !k->tensor[i].declared)
            continue;
        fputs("    ", f);
        print_type(f, k, &k->tensor[i]);
        fputs(";\n", f);
    }
}

static void print_equations(FILE *f, const Tensor *t) {
    for (int e = 0; !t->gone && e < t->n; e++) {
        const Equation *q = &t->equation[e];
        if (!q->right)
            continue;
        fprintf(f, "    %s%s = ", t->name, q->left);
        print_node(f, q->right);
        fprintf(f, "%s;\n", q->tail);
    }
}

static void print_conditions(FILE *f, const Kernel *k) {
    const char *between = " where ";
    for (int d = DIM_M; k->positive && d <= DIM_K; d++)
        if (kernel_has_dim(k, d)) {
            fprintf(f, "%s%s >= 1", between, dim_names[d]);
            between = ", ";
        }
}

void kernel_print(FILE *f, const Kernel *k) {
    fprintf(f, "kernel %s(", k->name);
    print_params(f, k, INPUT);
    fputs(") -> (", f);
    print_params(f, k, OUTPUT);
    fputs(")", f);
    print_conditions(f, k);
    fputs(" {\n", f);
    print_declarations(f, k);
    for (int i = 0; i < k->n; i++)
        print_equations(f, &k->tensor[((uint32_t)i + k->shuffle) % (uint32_t)k->n]);
    fputs("}\n", f);
}

void kernel_print_schedule(FILE *f, const Kernel *k) {
    if (k->schedule[0])
        fprintf(f, "schedule %s%s%s {\n%s}\n", k->name, k->machine[0] ? " on " : "", k->machine, k->schedule);
}
