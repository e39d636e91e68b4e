// Values of a kernel's shape texts, "[M, N+1]": for test programs that call kernels through their pto_kernel. A new
// dimension gets its value from `value(position)`.
#ifndef TESTS_SHAPES_H
#define TESTS_SHAPES_H

#include <ptort.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES_MOST_DIMS = 16 };
typedef struct { char name[64]; int64_t value; } ShapesDim;
typedef struct {
    ShapesDim dim[SHAPES_MOST_DIMS];
    int n;
    int64_t (*value)(int position);
    const char *at;
} Shapes;

static int64_t shapes_dim(Shapes *s, const char *name, size_t len) {
    for (int i = 0; i < s->n; i++)
        if (strlen(s->dim[i].name) == len && strncmp(s->dim[i].name, name, len) == 0)
            return s->dim[i].value;
    if (s->n == SHAPES_MOST_DIMS || len == 0)
        exit((fprintf(stderr, "shapes: cannot read '%s'\n", name), 70));
    ShapesDim *d = &s->dim[s->n];
    snprintf(d->name, sizeof d->name, "%.*s", (int)len, name);
    d->value = s->value(s->n);
    s->n++;
    return d->value;
}

static int64_t shapes_sum(Shapes *s);

static int64_t shapes_primary(Shapes *s) {
    s->at += strspn(s->at, " ");
    if (*s->at == '(') {
        s->at++;
        int64_t v = shapes_sum(s);
        s->at += *s->at == ')';
        return v;
    }
    if (*s->at >= '0' && *s->at <= '9')
        return strtoll(s->at, (char **)&s->at, 10);
    size_t len = strcspn(s->at, " +-*/(),]");
    int64_t v = shapes_dim(s, s->at, len);
    s->at += len;
    return v;
}

static int64_t shapes_product(Shapes *s) {
    int64_t v = shapes_primary(s);
    for (s->at += strspn(s->at, " "); *s->at == '*' || *s->at == '/'; s->at += strspn(s->at, " ")) {
        char op = *s->at++;
        int64_t w = shapes_primary(s);
        v = op == '*' ? v * w : w ? v / w : 0;
    }
    return v;
}

static int64_t shapes_sum(Shapes *s) {
    int64_t v = shapes_product(s);
    for (s->at += strspn(s->at, " "); *s->at == '+' || *s->at == '-'; s->at += strspn(s->at, " ")) {
        char op = *s->at++;
        int64_t w = shapes_product(s);
        v = op == '+' ? v + w : v - w;
    }
    return v;
}

// Fills the extents of a parameter; returns the number of its elements.
static int64_t shapes_extents(Shapes *s, const pto_param *p, int64_t *shape) {
    int64_t n = 1;
    s->at = p->shape ? p->shape : "";
    for (int d = 0; d < p->rank; d++) {
        s->at += strspn(s->at, "[, ");
        shape[d] = shapes_sum(s);
        n *= shape[d];
    }
    return n;
}

#endif
