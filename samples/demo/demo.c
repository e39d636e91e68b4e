// Times relu_cumsum three ways on one matrix and prints them side by side.
//
//   demo [ROWS COLUMNS [THREADS [ROUNDS]]]        8000 8000, all cores, 15 by default
//   demo --image FILE.pgm                         writes a test image instead
//
// Fair means: the same memory, touched and on huge pages where the system has them; the versions take turns, so that a
// slow moment hits all; medians, with the fastest and slowest; plain.c and pool.c are built with -O3 -march=native.
#include "demo.h"
#include "relu_cumsum.h"

#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { VERSIONS = 3, MOST_ROUNDS = 101 };
static const char *const names[VERSIONS] = {"plain C, two passes", "thread pool, fused", "ptoc"};

typedef struct {
    int64_t shape[2];
    int threads, rounds;
    float *x, *t, *y[VERSIONS];
    double seconds[VERSIONS][MOST_ROUNDS];
    Pool *pool;
    pto_context *context;
} Demo;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float *matrix(size_t n) {
    size_t bytes = (n * sizeof(float) + ((1 << 21) - 1)) & ~(size_t)((1 << 21) - 1);
    float *p = aligned_alloc(1 << 21, bytes ? bytes : 1 << 21);
    if (!p) {
        fputs("demo: not enough memory\n", stderr);
        exit(1);
    }
#ifdef MADV_HUGEPAGE
    madvise(p, bytes, MADV_HUGEPAGE);
#endif
    memset(p, 0, bytes);
    return p;
}

// Uniform in [-1, 1), the same on every machine.
static void fill(float *x, size_t n) {
    uint64_t s = 1;
    for (size_t i = 0; i < n; i++) {
        s = s * 6364136223846793005u + 1442695040888963407u;
        x[i] = (float)(int32_t)(s >> 32) * 0x1p-31f;
    }
}

static void run(Demo *d, int version) {
    const float a = 1.5f, b = -0.2f;
    size_t rows = (size_t)d->shape[0], columns = (size_t)d->shape[1];
    if (version == 0)
        plain(d->x, a, b, d->t, d->y[0], rows, columns);
    else if (version == 1)
        pooled(d->pool, d->x, a, b, d->y[1], rows, columns);
    else {
        pto_tensor x = pto_tensor_dense(d->x, PTO_F32, 2, d->shape), y = pto_tensor_dense(d->y[2], PTO_F32, 2, d->shape);
        if (relu_cumsum(d->context, &x, a, b, &y) != PTO_OK) {
            fprintf(stderr, "demo: %s\n", pto_context_error(d->context));
            exit(1);
        }
    }
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Against the exact sum, so that the rounding of a longer chain of additions is not held against the others.
static double largest_difference(const Demo *d, const float *y) {
    double worst = 0;
    for (int64_t i = 0; i < d->shape[0]; i++) {
        double sum = 0;
        for (int64_t j = 0; j < d->shape[1]; j++) {
            float v = fmaf(1.5f, d->x[i * d->shape[1] + j], -0.2f);
            sum += v > 0 ? v : 0;
            worst = fmax(worst, fabs(y[i * d->shape[1] + j] - sum) / fmax(sum, 1));
        }
    }
    return worst;
}

static void print_table(Demo *d) {
    double bytes = 2.0 * sizeof(float) * (double)d->shape[0] * (double)d->shape[1], median[VERSIONS];
    printf("\nrelu_cumsum, %lld x %lld f32, %d threads, median of %d rounds\n\n", (long long)d->shape[0], (long long)d->shape[1], d->threads, d->rounds);
    printf("%-22s %8s %17s %7s %9s %s\n", "", "ms", "fastest..slowest", "GB/s", "speed-up", "largest relative difference");
    for (int v = 0; v < VERSIONS; v++) {
        double *s = d->seconds[v];
        qsort(s, (size_t)d->rounds, sizeof *s, compare);
        median[v] = s[d->rounds / 2];
        printf("%-22s %8.1f %8.1f..%-7.1f %7.1f %8.2fx %.1e\n", names[v], 1e3 * median[v], 1e3 * s[0], 1e3 * s[d->rounds - 1],
               1e-9 * bytes / median[v], median[0] / median[v], largest_difference(d, d->y[v]));
    }
    printf("\nptoc is %.2f times as fast as plain C and %.2f times as fast as the thread pool.\n", median[0] / median[2], median[1] / median[2]);
    puts("(GB/s counts each input element read once and each result written once; differences are from the exact sums.)");
}

static int image(const char *path) {
    enum { W = 640, H = 480 };
    FILE *f = fopen(path, "wb");
    if (!f) {
        perror(path);
        return 1;
    }
    fprintf(f, "P5\n%d %d\n255\n", W, H);
    for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++) {
            double x = (j - W / 2) / 200.0, y = (i - H / 2) / 200.0, r = hypot(x, y);
            double v = r < 0.8 ? 200 - 120 * r : 90 + 60 * sin(6 * x) * cos(5 * y);
            putc((i / 60 + j / 60) % 7 == 0 ? 240 : (int)v, f);
        }
    return fclose(f) != 0;
}

static int cores(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--image") == 0)
        return image(argv[2]);
    Demo d = {.shape = {argc > 2 ? atoll(argv[1]) : 8000, argc > 2 ? atoll(argv[2]) : 8000},
              .threads = argc > 3 ? atoi(argv[3]) : cores(), .rounds = argc > 4 ? atoi(argv[4]) : 15};
    if (d.shape[0] < 0 || d.shape[1] < 0 || d.threads < 1 || d.rounds < 1 || d.rounds > MOST_ROUNDS) {
        fputs("usage: demo [ROWS COLUMNS [THREADS [ROUNDS]]]\n", stderr);
        return 2;
    }
    size_t n = (size_t)(d.shape[0] * d.shape[1]);
    d.x = matrix(n);
    d.t = matrix(n);
    fill(d.x, n);
    for (int v = 0; v < VERSIONS; v++)
        d.y[v] = matrix(n);
    d.pool = pool_new(d.threads);
    d.context = pto_context_new(&(pto_options){.threads = d.threads});
    if (!d.pool || !d.context) {
        fputs("demo: not enough memory\n", stderr);
        return 1;
    }
    for (int round = -2; round < d.rounds; round++)       // two rounds to warm up
        for (int v = 0; v < VERSIONS; v++) {
            double start = now();
            run(&d, v);
            if (round >= 0)
                d.seconds[v][round] = now() - start;
        }
    print_table(&d);
    pool_free(d.pool);
    pto_context_free(d.context);
    for (int v = 0; v < VERSIONS; v++)
        free(d.y[v]);
    free(d.x);
    free(d.t);
    return 0;
}
