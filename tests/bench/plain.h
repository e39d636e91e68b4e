// The samples as plain loops, as a C programmer writes them: outer loops parallel by OpenMP, everything else left to the
// compiler (-O3 -march=native). With one thread they are serial plain C.
#ifndef TESTS_BENCH_PLAIN_H
#define TESTS_BENCH_PLAIN_H

#include <stdint.h>

void plain_threads(int n);
void plain_relu_cumsum(int64_t m, int64_t n, const float *x, float a, float b, float *y);
void plain_layer_norm(int64_t m, int64_t n, const float *x, const float *gain, const float *bias, float eps, float *y);
void plain_sobel(int64_t h, int64_t w, const float *img, float *g);
void plain_blur(int64_t h, int64_t w, const float *img, float *g);
void plain_heat(int64_t h, int64_t w, const float *u0, int64_t steps, float *v);
void plain_gauss_seidel(int64_t h, int64_t w, const double *u0, int64_t steps, double *v);
void plain_gemm(int64_t m, int64_t n, int64_t k, const double *c0, const double *a, const double *b, double alpha, double beta, double *c);
void plain_syrk(int64_t n, int64_t m, const double *c0, const double *a, double alpha, double beta, double *c);
void plain_cholesky(int64_t n, const double *a0, double *a);
void plain_edit_distance(int64_t m, int64_t n, const uint8_t *s, const uint8_t *t, int32_t *d);
void plain_integral(int64_t h, int64_t w, const uint8_t *img, int64_t *s);
void plain_histogram(int64_t n, const uint8_t *x, int32_t *h);
void plain_recurrence(int64_t t, int64_t d, const float *x, const float *a, const float *h0, float *h);
void plain_nearest(int64_t m, int64_t n, int64_t d, const float *q, const float *p, int64_t *id, float *dist);

#endif
