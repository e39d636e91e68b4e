// Small programs for the model, put together call by call: `program` begins one; `bundle` a bundle, into which operations,
// waits and signals go; `loop` closes a loop around the bundles since `begin`. Positions, not pointers, name what was put.
//
//     Program *p = program(1, (int64_t[]){1});
//     bundle(p);
//     signals(copy(p, PTO_LOAD, box1(L0, -1, PTO_F32, 0, 16), box1(DDR, 0, PTO_F32, 0, 16)), full);
//     ...
//     ck_assert_int_eq(run(p, NULL), PTO_OK);
#ifndef TESTS_UNIT_MODEL_PROGRAM_H
#define TESTS_UNIT_MODEL_PROGRAM_H

#include <ptort/model.h>

#include <check.h>
#include <string.h>

enum { DDR, L1, L0 };                            // memories of the test machine
enum { PATH_L0, PATH_L1, PATH_L1_L0 };           // DDR - L0, DDR - L1, L1 - L0
enum { MOST_BUNDLES = 64, MOST_OPS = 64, MOST_TENSORS = 8 };

typedef struct Program {
    pto_machine machine;
    pto_program program;
    pto_launch launch;
    pto_bundle bundles[MOST_BUNDLES];
    pto_op ops[MOST_OPS];
    pto_operand operands[MOST_OPS][4];
    pto_interval boxes[MOST_OPS][PTO_MAX_DIMS];
    pto_loop loops[8];
    pto_token tokens[32];
    pto_site sites[MOST_OPS];
    pto_ddr tensors[MOST_TENSORS];
    int64_t values[32];
    pto_model_options options;
    pto_model_totals totals;
    char error[512];
} Program;

// 2 clusters of 1 core (2 cores), or as the test changes it. Dispatch takes no time unless a test says so.
Program *program(int rank, const int64_t *count);
int tensor(Program *p, const char *name, void *data, int64_t bytes, int element, int written);
int token(Program *p, int initial, int depth);
int bundle(Program *p);
int wait_for(Program *p, int token);                             // in the last bundle; returns which of its waits
int put(Program *p, pto_slot slot, pto_kind kind, int noperands, const pto_operand *operands);
int copy(Program *p, pto_slot slot, pto_operand to, pto_operand from);
int multiply3(Program *p, pto_operand c, pto_operand a, pto_operand b, pto_when init);
int nest(Program *p, pto_slot slot, int64_t n, int cost, pto_compute f, int noperands, const pto_operand *operands);
void signals(Program *p, int op, int token);
int loop(Program *p, int first, int stages, int ndigits, const int64_t *count);      // around the bundles from `first` on
void exchange(Program *p, int op, int other);                      // in the program's order, not in the bundles
pto_operand box1(int memory, int tensor, pto_dtype type, int64_t address, int64_t n);
pto_operand box2(int memory, int tensor, pto_dtype type, int64_t address, int64_t n0, int64_t stride0, int64_t n1, int64_t stride1);
pto_operand matrix(pto_dtype type, int64_t address, pto_axis row, int64_t rows, pto_axis column, int64_t columns);   // in L0, dense
void slots(pto_operand *o, int slots, int digits, int64_t bytes);
pto_status run(Program *p);                                      // one call with one launch; fills totals and error
int64_t cycles(Program *p);                                      // of a run that has to succeed
void faults(Program *p, const char *text);                       // the run has to fault, with this in the message
void compute_add1(const pto_work *w);                            // operand[0][i] = operand[1][i] + 1, f32

#endif
