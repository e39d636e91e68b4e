// Random programs: trees that can be printed as .pto and made smaller.
//
// A kernel has dimensions M, N, K, bound by its first inputs, and parameters T and S, which may be as large as numbers are. Its tensors stand in an order in which
// each reads only those before it, and itself where it is a recurrence. Programs are valid by construction: the
// generator knows the range of each index and the shape of each tensor, and reads what is certainly inside, behind a
// border, behind a condition, or clamped.
//
// expression.c draws expressions and reads, define.c, contract.c, recur.c, march.c and fault.c the equations of a tensor, generate.c whole kernels,
// print.c prints them, shrink.c makes them small.
#ifndef TESTS_FUZZ_PROGRAM_H
#define TESTS_FUZZ_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum { F64, F32, BF16, F16, I64, I32, I16, I8, U64, U32, U16, U8, BOOL, TYPES } Type;
extern const char *const type_names[TYPES];
bool type_is_float(Type t);
bool type_is_signed(Type t);             // integers and floats
bool type_widens(Type from, Type to);    // without being told: in its family, to something larger; not to itself
Type type_sum(Type t);                   // what sums and scans of it are computed in

// An expression: `text` with an '@' for each child. A node that reads a tensor has its number.
typedef struct Node Node;
struct Node {
    Type type;
    char text[400];
    int tensor;            // or -1
    bool binds;            // its children use an index that only it defines
    int n;
    Node *kid[4];
};

// From lo to times*D + hi, half-open, D one of the dimensions; from lo to hi without one.
enum { DIM_M, DIM_N, DIM_K, DIM_T, DIM_S, DIMS, NO_DIM = -1 };
extern const char *const dim_names[DIMS];
typedef struct { int dim, times, lo, hi; } Span;
typedef enum { NO_BORDER, ZERO, CONST, CLAMP, REFLECT, WRAP } Border;
typedef struct { Span span; Border border; int value; } Axis;       // value: of CONST, a scalar input, if it is of the type; else 1

typedef struct {
    char left[48], tail[96];        // "[i, j]", " where i >= 0"
    Node *right;                    // NULL: it was taken out
} Equation;

typedef enum { INPUT, LOCAL, OUTPUT } Kind;

enum { MOST_TENSORS = 40, MOST_EQUATIONS = 6, MOST_RANK = 4 };

typedef struct {
    Kind kind;
    Type type;
    int rank;
    char name[8];
    Axis axis[MOST_RANK];
    bool declared;                  // LOCAL: its shape is written
    bool triangle;                  // rank 2: only elements whose second subscript is not larger than the first exist
    int init;                       // OUTPUT: the input that it starts from, or -1
    int n;
    Equation equation[MOST_EQUATIONS];
    bool gone;
} Tensor;

typedef struct {
    char name[16];
    bool positive;                  // no dimension but T may be zero
    bool time;                      // has the parameters T and S
    int n;
    Tensor tensor[MOST_TENSORS];
    bool products;                  // has contractions
    uint32_t shuffle;               // the order of the equations in the text
    char schedule[512];             // body of a schedule, "" for none
    const char *machine;            // that it is for, "" for any
} Kernel;

// snprintf that ends the program when the text does not fit.
int text_put(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

// ---- chance ----

typedef struct { uint64_t state; } Random;
uint32_t random_below(Random *r, uint32_t n);
int random_in(Random *r, int lo, int hi);                 // both included
bool random_chance(Random *r, uint32_t percent);
const char *random_pick(Random *r, int n, const char *const *from);
#define PICK(r, ...) \
    random_pick((r), (int)(sizeof(const char *[]){__VA_ARGS__} / sizeof(char *)), (const char *const[]){__VA_ARGS__})

// ---- nodes and scopes (expression.c) ----

// Nodes are never freed: a run draws a few thousand.
Node *node_new(Type type, int tensor, const char *text);
Node *node_with(Type type, const char *text, int n, ...);       // then n children
Node *node_convert(Type type, Node *x);

// Indices that an expression may use, and the tensors: those before `limit`.
typedef struct { const char *name; Span span; } Var;
typedef struct {
    Kernel *kernel;
    Random *random;
    int limit, nvars;
    int data;              // how many subscripts that depend on data may still be nested
    Var var[6];
} Scope;

Scope scope_of(Kernel *k, Random *r, const Tensor *t);          // its indices are those of the tensor's axes
void scope_add(Scope *s, const char *name, Span span);
Node *draw_expression(Scope *s, Type type, int depth);
Node *draw_leaf(Scope *s, Type type);
Node *draw_literal(Random *r, Type type);
Node *draw_condition(Scope *s, int depth);                      // of data or of indices
void draw_affine(Scope *s, char *to, size_t size);              // a condition of indices alone
// A read of a tensor at subscripts that are near to the indices, NULL where none is certainly inside.
Node *draw_read(Scope *s, int tensor);
Node *draw_gather(Scope *s, int tensor);                        // the same, all subscripts from data

void span_begin(char *to, size_t size, Span s);                 // as text
void span_end(char *to, size_t size, Span s, int plus);
bool span_holds(Span outer, Span inner, int times, int plus);   // times*x + plus lies in outer for all x in inner
bool span_nonempty(const Kernel *k, Span s);

// ---- tensors ----

extern const char *const index_names[MOST_RANK];
Tensor *tensor_new(Kernel *k, Random *r, Kind kind, int rank);  // with random axes
void axis_value(const Kernel *k, Random *r, Tensor *t, int d);  // the constant beyond a border, now and then a parameter
Equation *equation_add(Tensor *t, const char *left, Node *right, const char *tail);
const char *subscripts_of(const Tensor *t);                     // "[i, j]"

// Each adds a tensor of that kind at the end, and before it what it needs. False when it found nothing to work on and added none.
typedef bool Definer(Kernel *k, Random *r, Kind kind);
Definer define_map, define_whole, define_stencil, define_pieces, define_triangle, define_reduction, define_contraction, define_position, define_scan,
    define_gather, define_histogram, define_strided, define_scalar, define_updated;
Definer define_recurrence, define_wave, define_time, define_coupled;
Definer define_faults, define_product, define_march;

// ---- kernels ----

void kernel_random(Kernel *k, Random *r, const char *name);
void kernel_print(FILE *f, const Kernel *k);
void kernel_print_schedule(FILE *f, const Kernel *k);
bool kernel_has_dim(const Kernel *k, int dim);
// Makes the kernel smaller, step by step, as long as `fails` says that it still fails in the same way.
void kernel_shrink(Kernel *k, bool (*fails)(const Kernel *k, void *data), void *data);

#endif
