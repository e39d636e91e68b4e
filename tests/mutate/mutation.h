// Mutations of a program of bundles: every single wait, signal, token, operation, bundle and number of slots in turn.
#ifndef TESTS_MUTATE_MUTATION_H
#define TESTS_MUTATE_MUTATION_H

#include <ptort/model.h>

#include <stdbool.h>

// One row a kind: name, what is done. Those from "operations exchanged" on change more than who waits for whom: in which order
// one unit does two things, where operands are, and what is done at all.
#define MUTATIONS(X)                                                  \
    X(WAIT_DELETED, "wait deleted")                                   \
    X(WAIT_MOVED, "wait moved")                                       \
    X(WAIT_DOUBLED, "wait doubled")                                   \
    X(SIGNAL_DELETED, "signal deleted")                               \
    X(SIGNAL_MOVED, "signal moved")                                   \
    X(SIGNAL_DOUBLED, "signal doubled")                               \
    X(TOKEN_DELETED, "token deleted")                                 \
    X(TOKEN_INITIAL, "initial count +-1")                             \
    X(TOKEN_DEPTH, "depth +-1")                                       \
    X(OPERATION_MOVED, "operation moved")                             \
    X(OPERATION_DOUBLED, "operation doubled")                         \
    X(OPERATION_DELETED, "operation deleted")                         \
    X(BUNDLES_SWAPPED, "bundles swapped")                             \
    X(UNIT_SWAPPED, "two of a unit swapped")                          \
    X(OPERATIONS_EXCHANGED, "operations exchanged")                   \
    X(BUFFER_SLOTS, "a buffer's slots -1")                            \
    X(OPERAND_SLOTS, "an operand's slots +-1")                       \
    X(OPERAND_DIGITS, "an operand's digits +-1")                     \
    X(ADDRESS_MOVED, "an address moved")                             \
    X(ADDRESS_STEP, "a step of an address changed")                  \
    X(STRIDE_CHANGED, "a stride changed")                            \
    X(STORE_DELETED, "a store deleted")

typedef enum {
#define KIND(kind, name) kind,
    MUTATIONS(KIND)
#undef KIND
    MUTATION_KINDS
} MutationKind;

extern const char *const mutation_names[];

// What the numbers mean depends on the kind: mutation_text says it.
typedef struct { MutationKind kind; int a, b, c; } Mutation;

// Calls `each` for every mutation of a program.
void mutations_of(const pto_program *p, void (*each)(void *data, const Mutation *m), void *data);
// A changed copy; mutation_free frees it.
pto_program *mutation_apply(const pto_program *p, const Mutation *m);
void mutation_free(pto_program *p);
void mutation_text(const pto_program *p, const Mutation *m, char *text, size_t size);

#endif
