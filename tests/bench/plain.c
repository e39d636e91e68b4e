// Plain loops: see plain.h.
#include "plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

void plain_threads(int n) {
#ifdef _OPENMP
    omp_set_num_threads(n);
#else
    (void)n;
#endif
}

static int64_t inside(int64_t i, int64_t n) {
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static void *memory(int64_t bytes) {
    void *p = malloc((size_t)bytes + 1);
    if (!p)
        abort();
    return p;
}

void plain_relu_cumsum(int64_t m, int64_t n, const float *restrict x, float a, float b, float *restrict y) {
#pragma omp parallel for
    for (int64_t i = 0; i < m; i++) {
        float sum = 0;
        for (int64_t j = 0; j < n; j++) {
            float v = a * x[i * n + j] + b;
            sum += v > 0.0f ? v : 0.0f;
            y[i * n + j] = sum;
        }
    }
}

void plain_layer_norm(int64_t m, int64_t n, const float *restrict x, const float *restrict gain, const float *restrict bias, float eps, float *restrict y) {
#pragma omp parallel for
    for (int64_t i = 0; i < m; i++) {
        float mean = 0, var = 0;
        for (int64_t j = 0; j < n; j++)
            mean += x[i * n + j];
        mean /= (float)n;
        for (int64_t j = 0; j < n; j++)
            var += (x[i * n + j] - mean) * (x[i * n + j] - mean);
        float scale = 1 / sqrtf(var / (float)n + eps);
        for (int64_t j = 0; j < n; j++)
            y[i * n + j] = (x[i * n + j] - mean) * scale * gain[j] + bias[j];
    }
}

// The edge columns by themselves, so that the inner loop has no conditions.
static float sobel_at(const float *r0, const float *r1, const float *r2, int64_t l, int64_t j, int64_t r) {
    float gx = (r0[r] + 2 * r1[r] + r2[r]) - (r0[l] + 2 * r1[l] + r2[l]);
    float gy = (r2[l] + 2 * r2[j] + r2[r]) - (r0[l] + 2 * r0[j] + r0[r]);
    return sqrtf(gx * gx + gy * gy);
}

void plain_sobel(int64_t h, int64_t w, const float *restrict img, float *restrict g) {
#pragma omp parallel for
    for (int64_t i = 0; i < h; i++) {
        const float *r0 = img + inside(i - 1, h) * w, *r1 = img + i * w, *r2 = img + inside(i + 1, h) * w;
        for (int64_t j = 1; j < w - 1; j++)
            g[i * w + j] = sobel_at(r0, r1, r2, j - 1, j, j + 1);
        g[i * w] = sobel_at(r0, r1, r2, 0, 0, inside(1, w));
        g[i * w + w - 1] = sobel_at(r0, r1, r2, inside(w - 2, w), w - 1, w - 1);
    }
}

void plain_blur(int64_t h, int64_t w, const float *restrict img, float *restrict g) {
#pragma omp parallel
    {
        float *v = memory((w + 4) * 4);
#pragma omp for
        for (int64_t i = 0; i < h; i++) {
            const float *r[5];
            for (int d = 0; d < 5; d++)
                r[d] = img + inside(i + d - 2, h) * w;
            for (int64_t j = 0; j < w; j++)
                v[j + 2] = (r[0][j] + 4 * r[1][j] + 6 * r[2][j] + 4 * r[3][j] + r[4][j]) / 16;
            v[0] = v[1] = v[2];
            v[w + 2] = v[w + 3] = v[w + 1];
            for (int64_t j = 0; j < w; j++)
                g[i * w + j] = (v[j] + 4 * v[j + 1] + 6 * v[j + 2] + 4 * v[j + 3] + v[j + 4]) / 16;
        }
        free(v);
    }
}

void plain_heat(int64_t h, int64_t w, const float *u0, int64_t steps, float *v) {
    float *a = memory(h * w * 4), *b = memory(h * w * 4);
    memcpy(a, u0, (size_t)(h * w) * 4);
    memcpy(b, u0, (size_t)(h * w) * 4);
    for (int64_t t = 0; t < steps; t++) {
        const float *restrict x = a;
        float *restrict y = b;
#pragma omp parallel for
        for (int64_t i = 1; i < h - 1; i++)
            for (int64_t j = 1; j < w - 1; j++)
                y[i * w + j] = x[i * w + j] + 0.1f * (x[(i - 1) * w + j] + x[(i + 1) * w + j] + x[i * w + j - 1] + x[i * w + j + 1] - 4 * x[i * w + j]);
        float *swap = a;
        a = b;
        b = swap;
    }
    memcpy(v, a, (size_t)(h * w) * 4);
    free(a);
    free(b);
}

// In place: sequential as it stands.
void plain_gauss_seidel(int64_t h, int64_t w, const double *u0, int64_t steps, double *v) {
    memcpy(v, u0, (size_t)(h * w) * 8);
    for (int64_t t = 0; t < steps; t++)
        for (int64_t i = 1; i < h - 1; i++)
            for (int64_t j = 1; j < w - 1; j++)
                v[i * w + j] = 0.25 * (v[(i - 1) * w + j] + v[i * w + j - 1] + v[(i + 1) * w + j] + v[i * w + j + 1]);
}

void plain_gemm(int64_t m, int64_t n, int64_t k, const double *c0, const double *a, const double *b, double alpha, double beta, double *restrict c) {
#pragma omp parallel for
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = beta * c0[i * n + j];
        for (int64_t l = 0; l < k; l++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += alpha * a[i * k + l] * b[l * n + j];
    }
}

void plain_syrk(int64_t n, int64_t m, const double *c0, const double *a, double alpha, double beta, double *restrict c) {
#pragma omp parallel for schedule(dynamic, 8)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            if (j > i) {
                c[i * n + j] = c0[i * n + j];
                continue;
            }
            double sum = 0;
            for (int64_t l = 0; l < m; l++)
                sum += a[i * m + l] * a[j * m + l];
            c[i * n + j] = beta * c0[i * n + j] + alpha * sum;
        }
}

void plain_cholesky(int64_t n, const double *a0, double *a) {
    memcpy(a, a0, (size_t)(n * n) * 8);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (int64_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = j < i ? sum / a[j * n + j] : sqrt(sum);
        }
    }
}

void plain_edit_distance(int64_t m, int64_t n, const uint8_t *s, const uint8_t *t, int32_t *d) {
    int64_t w = n + 1;
    for (int64_t j = 0; j <= n; j++)
        d[j] = (int32_t)j;
    for (int64_t i = 1; i <= m; i++) {
        d[i * w] = (int32_t)i;
        for (int64_t j = 1; j <= n; j++) {
            int32_t best = d[(i - 1) * w + j - 1] + (s[i - 1] != t[j - 1]), up = d[(i - 1) * w + j] + 1, left = d[i * w + j - 1] + 1;
            best = up < best ? up : best;
            d[i * w + j] = left < best ? left : best;
        }
    }
}

void plain_integral(int64_t h, int64_t w, const uint8_t *img, int64_t *s) {
    for (int64_t i = 0; i < h; i++) {
        int64_t sum = 0;
        for (int64_t j = 0; j < w; j++) {
            sum += img[i * w + j];
            s[i * w + j] = sum + (i ? s[(i - 1) * w + j] : 0);
        }
    }
}

void plain_histogram(int64_t n, const uint8_t *x, int32_t *h) {
    int32_t part[4][256] = {{0}};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            part[k][x[i + k]]++;
    for (; i < n; i++)
        part[0][x[i]]++;
    for (int b = 0; b < 256; b++)
        h[b] = part[0][b] + part[1][b] + part[2][b] + part[3][b];
}

void plain_recurrence(int64_t t, int64_t d, const float *restrict x, const float *restrict a, const float *restrict h0, float *restrict h) {
    for (int64_t i = 0; i < t; i++) {
        const float *before = i ? h + (i - 1) * d : h0;
        for (int64_t j = 0; j < d; j++)
            h[i * d + j] = a[i * d + j] * before[j] + x[i * d + j];
    }
}

void plain_nearest(int64_t m, int64_t n, int64_t d, const float *q, const float *p, int64_t *id, float *dist) {
#pragma omp parallel for
    for (int64_t i = 0; i < m; i++) {
        float best = INFINITY;
        int64_t at = 0;
        for (int64_t j = 0; j < n; j++) {
            float sum = 0;
            for (int64_t k = 0; k < d; k++)
                sum += (q[i * d + k] - p[j * d + k]) * (q[i * d + k] - p[j * d + k]);
            if (sum < best) {
                best = sum;
                at = j;
            }
        }
        id[i] = at;
        dist[i] = sqrtf(best);
    }
}
