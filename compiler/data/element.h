// One element in memory: load, store, round, convert, for every element type.
//
// The tools (reference evaluator, files, check) see a float of any type as a double and an integer, bool or index
// as an int64_t (u64: the same bits). Written from the definitions of the formats, apart from the compiler's own
// folding, so that the two can be compared.
//
// Test: tests/unit/test_data.c
#ifndef PTOC_DATA_ELEMENT_H
#define PTOC_DATA_ELEMENT_H

#include "ir/type.h"

#include <stdint.h>

double element_load_float(DType t, const void *p);       // t: a float type
void element_store_float(DType t, void *p, double x);    // rounds to the type, ties to even
int64_t element_load_int(DType t, const void *p);        // any other type
void element_store_int(DType t, void *p, int64_t x);     // keeps the low bits

double element_round(DType t, double x);                 // the nearest value of a float type, ties to even
double element_round_int(DType t, int64_t x, bool is_unsigned);   // an integer to a float type, rounded once
int64_t element_wrap(DType t, int64_t x);                // the value of an integer type with the same low bits
int64_t element_truncate(DType t, double x);             // float to integer or bool: truncates, saturates, NaN gives 0
int64_t element_min(DType t);                            // of an integer type (u64: bits)
int64_t element_max(DType t);
double element_unit(DType t);                            // half an ulp of 1: 2^-p
double element_tiny(DType t);                            // the smallest positive value

// The value as a double whatever the type (64-bit integers may round); for summaries and pictures.
double element_as_double(DType t, const void *p);

uint16_t element_half_bits(double x);                    // f16
double element_half_value(uint16_t bits);
uint16_t element_bfloat_bits(double x);                  // bf16
double element_bfloat_value(uint16_t bits);

#endif
