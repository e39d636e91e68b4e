// Arguments of a call: from names and values to what a kernel takes.
//
// Test: tests/unit/test_cli.c
#ifndef PTOC_CLI_BIND_H
#define PTOC_CLI_BIND_H

#include "cli/options.h"
#include "data/array.h"
#include "data/spec.h"
#include "ir/ir.h"
#include "ptort.h"

// Values for the inputs of a kernel; arrays[i] belongs to params.at[i] (NULL for an `int` parameter).
typedef struct {
    const Kernel *kernel;
    int64_t *dims;           // by Dim.id
    Array **arrays;
} Inputs;

// "x: f32[M, N]"
const char *bind_declaration(Arena *a, const Tensor *t);

// Matches values with the kernel's inputs by name (dimensions may be given too), reads files, infers dimensions, makes
// generated arrays, checks types and shapes. Returns 0, 1 (values that do not fit) or 2 (names), with *error.
int bind_inputs(Arena *a, const Kernel *k, const Bindings *values, Inputs *inputs, const char **error);

// A file's array as the type of a parameter: equal types; <u2 for bf16; pictures (u8, u16) for every number type.
Array *bind_convert(Arena *a, Array *x, bool picture, DType type, const char **error);

pto_dtype bind_dtype(DType t);
pto_tensor bind_tensor(const Array *x);
// Do parameters of the loaded kernel stand where the source has them?
bool bind_matches(const Kernel *k, const pto_kernel *loaded);

#endif
