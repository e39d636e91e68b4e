// relu_cumsum three ways: y[i, j] = sum over k <= j of max(a * x[i, k] + b, 0), row by row.
#ifndef DEMO_H
#define DEMO_H

#include <stddef.h>

// Two passes over whole arrays, as one writes it first. `t` is scratch memory of the same size.
void plain(const float *x, float a, float b, float *t, float *y, size_t rows, size_t columns);

// One fused loop a row, rows handed to a pool of threads that waits between calls.
typedef struct Pool Pool;
Pool *pool_new(int threads);           // NULL: no memory or no threads
void pool_free(Pool *p);
void pooled(Pool *p, const float *x, float a, float b, float *y, size_t rows, size_t columns);

#endif
