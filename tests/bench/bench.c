// Times the samples beside plain C, serial and parallel, and compares the results: `make bench`.
//
//   bench [-t THREADS] [-r ROUNDS] [KERNEL...]
#include "plain.h"
#include "../shapes.h"

#include <math.h>
#include <ptort.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KERNELS(K)                                                                                                     \
    K(relu_cumsum) K(layer_norm) K(sobel) K(blur) K(heat) K(gauss_seidel) K(gemm) K(syrk) K(cholesky) K(edit_distance) \
    K(integral) K(histogram) K(recurrence) K(nearest)
#define K(name) extern const pto_kernel name##_kernel;
KERNELS(K)
#undef K

enum { MOST_ARGS = 8, MOST_ROUNDS = 99 };

// One benchmark: tensors and scalars in the order of the kernel's parameters; outputs last.
typedef struct {
    const pto_kernel *kernel;
    void (*plain)(void *const *args, void *const *out);
    const char *size;
    int64_t dims[3];
    double bytes, flops;
    void (*prepare)(void **args);      // after the random filling; may be NULL
} Bench;

static int64_t D[3];      // the current benchmark's sizes, for the adapters below
#define F(i) (((pto_tensor *)args[i])->data)
#define O(i) (out[i])
#define S(i) (*(float *)args[i])
#define SD(i) (*(double *)args[i])

static void run_relu_cumsum(void *const *args, void *const *out) { plain_relu_cumsum(D[0], D[1], F(0), S(1), S(2), O(0)); }
static void run_layer_norm(void *const *args, void *const *out) { plain_layer_norm(D[0], D[1], F(0), F(1), F(2), S(3), O(0)); }
static void run_sobel(void *const *args, void *const *out) { plain_sobel(D[0], D[1], F(0), O(0)); }
static void run_blur(void *const *args, void *const *out) { plain_blur(D[0], D[1], F(0), O(0)); }
static void run_heat(void *const *args, void *const *out) { plain_heat(D[0], D[1], F(0), *(int64_t *)args[1], O(0)); }
static void run_gauss_seidel(void *const *args, void *const *out) { plain_gauss_seidel(D[0], D[1], F(0), *(int64_t *)args[1], O(0)); }
static void run_gemm(void *const *args, void *const *out) { plain_gemm(D[0], D[1], D[2], F(0), F(1), F(2), SD(3), SD(4), O(0)); }
static void run_syrk(void *const *args, void *const *out) { plain_syrk(D[0], D[1], F(0), F(1), SD(2), SD(3), O(0)); }
static void run_cholesky(void *const *args, void *const *out) { plain_cholesky(D[0], F(0), O(0)); }
static void run_edit_distance(void *const *args, void *const *out) { plain_edit_distance(D[0], D[1], F(0), F(1), O(0)); }
static void run_integral(void *const *args, void *const *out) { plain_integral(D[0], D[1], F(0), O(0)); }
static void run_histogram(void *const *args, void *const *out) { plain_histogram(D[0], F(0), O(0)); }
static void run_recurrence(void *const *args, void *const *out) { plain_recurrence(D[0], D[1], F(0), F(1), F(2), O(0)); }
static void run_nearest(void *const *args, void *const *out) { plain_nearest(D[0], D[2], D[1], F(0), F(1), O(0), O(1)); }

// Diagonally dominant, so that it has a factor.
static void make_definite(void **args) {
    double *a = F(0);
    for (int64_t i = 0; i < D[0]; i++)
        for (int64_t j = 0; j <= i; j++)
            a[i * D[0] + j] = a[j * D[0] + i] = i == j ? 2.0 * (double)D[0] : a[i * D[0] + j];
}

static const Bench benches[] = {
    {&relu_cumsum_kernel, run_relu_cumsum, "8000 x 8000 f32", {8000, 8000}, 8.0 * 64e6, 0, NULL},
    {&layer_norm_kernel, run_layer_norm, "4096 x 4096 f32", {4096, 4096}, 8.0 * 4096 * 4096, 0, NULL},
    {&sobel_kernel, run_sobel, "4000 x 4000 f32", {4000, 4000}, 8.0 * 16e6, 0, NULL},
    {&blur_kernel, run_blur, "4000 x 4000 f32", {4000, 4000}, 8.0 * 16e6, 0, NULL},
    {&heat_kernel, run_heat, "1000 x 1000 f32, 100 steps", {1000, 1000, 100}, 8.0 * 1e6 * 100, 0, NULL},
    {&gauss_seidel_kernel, run_gauss_seidel, "1000 x 1000 f64, 20 sweeps", {1000, 1000, 20}, 16.0 * 1e6 * 20, 0, NULL},
    {&gemm_kernel, run_gemm, "1024^3 f64", {1024, 1024, 1024}, 0, 2.0 * 1024 * 1024 * 1024, NULL},
    {&syrk_kernel, run_syrk, "1000 x 1000 f64", {1000, 1000}, 0, 1e9, NULL},
    {&cholesky_kernel, run_cholesky, "1000 x 1000 f64", {1000}, 0, 1e9 / 3, make_definite},
    {&edit_distance_kernel, run_edit_distance, "5000 x 5000 bytes", {5000, 5000}, 4.0 * 25e6, 0, NULL},
    {&integral_kernel, run_integral, "4000 x 4000 bytes", {4000, 4000}, 9.0 * 16e6, 0, NULL},
    {&histogram_kernel, run_histogram, "64 M bytes", {64000000}, 64e6, 0, NULL},
    {&recurrence_kernel, run_recurrence, "4000 x 4000 f32", {4000, 4000}, 12.0 * 16e6, 0, NULL},
    {&nearest_kernel, run_nearest, "1000 x 4000 points, 64 f32", {1000, 64, 4000}, 0, 3.0 * 1000 * 4000 * 64, NULL},
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *memory(size_t n) {
    void *p = aligned_alloc(64, (n + 63 + 64) & ~(size_t)63);
    if (!p)
        exit((fputs("bench: not enough memory\n", stderr), 1));
    memset(p, 0, n);
    return p;
}

static void fill(void *data, pto_dtype type, int64_t n) {
    uint64_t s = 7;
    for (int64_t i = 0; i < n; i++) {
        s = s * 6364136223846793005u + 1442695040888963407u;
        double v = (double)(int32_t)(s >> 32) * 0x1p-32;
        if (type == PTO_F32)
            ((float *)data)[i] = (float)v;
        else if (type == PTO_F64)
            ((double *)data)[i] = v;
        else
            ((uint8_t *)data)[i] = (uint8_t)(s >> 56);
    }
}

static int64_t size_of_dim(int position) { return position < 3 ? D[position] : 0; }

typedef struct {
    void *args[MOST_ARGS], *mine[2][MOST_ARGS];     // outputs twice: of the kernel and of plain C
    pto_tensor tensor[MOST_ARGS];
    int64_t dim[MOST_ARGS];
    double scalar[MOST_ARGS];
    int nout;
    const pto_param *out[MOST_ARGS];
    int64_t count[MOST_ARGS];
} Call;

// Dimensions get D[0], D[1], D[2] in the order in which the parameters name them.
static void set_up(Call *c, const Bench *b) {
    Shapes shapes = {.value = size_of_dim};
    *c = (Call){0};
    memcpy(D, b->dims, sizeof D);
    // gemm names M, N in C0, then K in A: the same order as in the adapters.
    for (int i = 0; i < b->kernel->nparams; i++) {
        const pto_param *p = &b->kernel->params[i];
        if (p->kind == PTO_PARAM_DIM) {
            c->dim[i] = b->dims[2];
            c->args[i] = &c->dim[i];
        } else if (p->kind == PTO_PARAM_SCALAR) {
            if (p->dtype == PTO_F64)
                c->scalar[i] = 0.75;
            else
                memcpy(&c->scalar[i], &(float){0.75f}, sizeof(float));
            c->args[i] = &c->scalar[i];
        } else {
            int64_t shape[PTO_MAX_RANK] = {0}, n = shapes_extents(&shapes, p, shape);
            void *data = memory((size_t)n * pto_dtype_size(p->dtype));
            c->tensor[i] = pto_tensor_dense(data, p->dtype, p->rank, shape);
            c->args[i] = &c->tensor[i];
            if (p->kind == PTO_PARAM_TENSOR)
                fill(data, p->dtype, n);
            else {
                c->out[c->nout] = p;
                c->count[c->nout] = n;
                c->mine[0][c->nout] = data;
                c->mine[1][c->nout++] = memory((size_t)n * pto_dtype_size(p->dtype));
            }
        }
    }
    if (b->prepare)
        b->prepare(c->args);
}

static void tear_down(Call *c, const Bench *b) {
    for (int i = 0; i < b->kernel->nparams; i++)
        free(c->tensor[i].data);
    for (int i = 0; i < c->nout; i++)
        free(c->mine[1][i]);
}

static double as_double(const void *data, pto_dtype t, int64_t i) {
    switch (t) {
    case PTO_F64: return ((const double *)data)[i];
    case PTO_F32: return ((const float *)data)[i];
    case PTO_I64: return (double)((const int64_t *)data)[i];
    case PTO_I32: return ((const int32_t *)data)[i];
    default: return 0;
    }
}

// Positions of the least are left out: rounding decides among near ones.
static double difference(const Call *c) {
    double worst = 0;
    for (int o = 0; o < c->nout; o++)
        if (c->nout == 1 || c->out[o]->dtype != PTO_I64)
            for (int64_t i = 0; i < c->count[o]; i++) {
                double a = as_double(c->mine[0][o], c->out[o]->dtype, i), b = as_double(c->mine[1][o], c->out[o]->dtype, i);
                double d = fabs(a - b) / fmax(1, fabs(b));
                worst = d > worst || d != d ? d : worst;
            }
    return worst;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const Bench *b, pto_context *context, int threads, int rounds) {
    Call c;
    set_up(&c, b);
    double seconds[3][MOST_ROUNDS];
    for (int r = -1; r < rounds; r++)
        for (int v = 0; v < 3; v++) {
            double start = now();
            if (v < 2) {
                plain_threads(v ? threads : 1);
                b->plain(c.args, c.mine[1]);
            } else if (b->kernel->call(context, c.args) != PTO_OK) {
                printf("%-14s %s\n", b->kernel->name, pto_context_error(context));
                tear_down(&c, b);
                return;
            }
            if (r >= 0)
                seconds[v][r] = now() - start;
        }
    double m[3];
    for (int v = 0; v < 3; v++) {
        qsort(seconds[v], (size_t)rounds, sizeof(double), compare);
        m[v] = seconds[v][rounds / 2];
    }
    printf("%-14s %-27s %9.2f %9.2f %9.2f  %6.2fx  %7.1f %s  %.0e\n", b->kernel->name, b->size, 1e3 * m[0], 1e3 * m[1], 1e3 * m[2], m[1] / m[2],
           1e-9 * (b->flops > 0 ? b->flops : b->bytes) / m[2], b->flops > 0 ? "GFLOP/s" : "GB/s   ", difference(&c));
    fflush(stdout);
    tear_down(&c, b);
}

int main(int argc, char **argv) {
    int threads = (int)sysconf(_SC_NPROCESSORS_ONLN), rounds = 7, option;
    while ((option = getopt(argc, argv, "t:r:")) != -1)
        if (option == 't')
            threads = atoi(optarg);
        else if (option == 'r')
            rounds = atoi(optarg);
        else
            return 2;
    if (threads < 1 || rounds < 1 || rounds > MOST_ROUNDS)
        return 2;
    pto_context *context = pto_context_new(&(pto_options){.threads = threads});
    printf("%d threads, medians of %d rounds in ms\n%-14s %-27s %9s %9s %9s  %7s\n", threads, rounds, "", "", "plain C", "OpenMP", "ptoc", "OpenMP/ptoc");
    for (size_t i = 0; i < sizeof benches / sizeof benches[0]; i++) {
        int wanted = optind == argc;
        for (int k = optind; k < argc; k++)
            wanted |= strcmp(argv[k], benches[i].kernel->name) == 0;
        if (wanted)
            measure(&benches[i], context, threads, rounds);
    }
    pto_context_free(context);
    return 0;
}
