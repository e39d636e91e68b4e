// Arguments of a kernel from words of a command line, by its pto_kernel: `2048x2048` for a tensor, a number for a scalar or
// dimension. For the test programs that call compiled kernels (tests/bench/model.c, tests/mutate).
#ifndef TESTS_ARGUMENTS_H
#define TESTS_ARGUMENTS_H

#include <ptort.h>
#include <ptort/half.h>
#include <stdlib.h>

typedef union { int64_t dim; double f64; float f32; int32_t i32; pto_tensor tensor; } Argument;

// Numbers that sums of many of them can still tell apart: multiples of 1/8 around 0.
static void argument_fill(pto_tensor *t, unsigned seed) {
    int64_t n = pto_tensor_elements(t);
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        int k = (int)(seed >> 27) - 16;
        switch (t->dtype) {
        case PTO_F64: ((double *)t->data)[i] = k / 8.0; break;
        case PTO_F32: ((float *)t->data)[i] = (float)k / 8.0f; break;
        case PTO_F16: ((uint16_t *)t->data)[i] = pto_f32_to_f16((float)k / 8.0f); break;
        case PTO_BOOL: ((unsigned char *)t->data)[i] = k & 1; break;
        default: ((unsigned char *)t->data)[i * (int64_t)pto_dtype_size(t->dtype)] = (unsigned char)(k + 16);
        }
    }
}

static const char *argument_tensor(pto_tensor *t, const pto_param *p, const char *text) {
    int64_t shape[PTO_MAX_RANK];
    char *end = (char *)text;
    for (int d = 0; d < p->rank; d++) {
        shape[d] = strtoll(end, &end, 10);
        if (*end != (d + 1 < p->rank ? 'x' : '\0'))
            return "bad shape";
        end++;
    }
    *t = pto_tensor_dense(NULL, p->dtype, p->rank, shape);
    t->data = calloc((size_t)pto_tensor_elements(t) + 1, pto_dtype_size(p->dtype));
    return t->data ? NULL : "no memory for";
}

// NULL, or what is wrong with the text. Tensors are 0 (and take no memory until they are written), or numbers where they are inputs
// that are `filled`.
static const char *argument_read(Argument *a, const pto_param *p, const char *text, int filled, unsigned seed) {
    const char *problem = NULL;
    switch (p->kind) {
    case PTO_PARAM_DIM: a->dim = atoll(text); break;
    case PTO_PARAM_SCALAR: case PTO_PARAM_SCALAR_OUTPUT:
        if (p->dtype == PTO_F64)
            a->f64 = atof(text);
        else if (p->dtype == PTO_F32)
            a->f32 = (float)atof(text);
        else
            a->i32 = atoi(text);
        break;
    case PTO_PARAM_TENSOR: case PTO_PARAM_OUTPUT:
        problem = argument_tensor(&a->tensor, p, text);
        if (!problem && filled && p->kind == PTO_PARAM_TENSOR)
            argument_fill(&a->tensor, seed);
        break;
    }
    return problem;
}

#endif
