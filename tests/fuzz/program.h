// Random programs: trees that can be printed as .pto and made smaller.
//
// A kernel has two dimensions M and N, one int parameter T, and tensors: inputs, intermediates, outputs. Every
// dimension of a tensor has a border, so that any affine read is legal and a generated program is valid by construction.
#ifndef TESTS_FUZZ_PROGRAM_H
#define TESTS_FUZZ_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum { F32, F64, F16, I32, I64, U8, I8, BOOL, TYPES } Type;
extern const char *const type_names[TYPES];

// An expression: `text` with a '%' for each child. A leaf may read a tensor.
typedef struct Node Node;
struct Node {
    Type type;
    char text[96];
    int tensor;            // what a leaf reads, or -1
    int n;
    Node *kid[4];
};

typedef struct {
    char left[48], tail[96];        // "t3[i, j]", " where i >= 0"
    Node *right;                    // NULL: it was taken out
} Equation;

typedef enum { INPUT, LOCAL, OUTPUT } Kind;

enum { MOST_TENSORS = 16, MOST_EQUATIONS = 3 };

typedef struct {
    Kind kind;
    Type type;
    int rank;
    char name[8], dims[96];         // "[M border zero, N border clamp]"
    char declared[96];              // LOCAL: what the declaration says instead of dims, "" for the same
    int n;
    Equation equation[MOST_EQUATIONS];
    bool gone;
} Tensor;

typedef struct {
    char name[16];
    int n;
    Tensor tensor[MOST_TENSORS];
    char schedule[256];             // body of a schedule, "" for none
} Kernel;

// A generator of random numbers with its state.
typedef struct { uint64_t state; } Random;
uint32_t random_below(Random *r, uint32_t n);

Node *node_new(Type type, int tensor, const char *text);
void kernel_random(Kernel *k, Random *r, const char *name);      // nodes are never freed: see fuzz.c
void kernel_print(FILE *f, const Kernel *k);

// Makes the kernel smaller, step by step, as long as `fails` says that it still fails.
void kernel_shrink(Kernel *k, bool (*fails)(const Kernel *k, void *data), void *data);

#endif
