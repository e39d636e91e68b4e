// A host program that calls kernels in every way that the runtime promises to bear. host.sh builds it with the C of
// blur.pto, relu_cumsum.pto, heat.pto and host.pto, and with allocation functions that count.
#include "host_kernels.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { H = 67, W = 131, N = H * W };

static int failures;

static void expect(int ok, const char *what) {
    if (!ok) {
        printf("not so: %s\n", what);
        failures++;
    }
}
#define EXPECT(e) expect((e), #e)

static const int64_t shape[2] = {H, W};

static float *filled(void) {
    float *x = malloc(N * sizeof *x);
    if (!x)
        abort();
    for (int i = 0; i < N; i++)
        x[i] = (float)((i * 37) % 101) * 0.25f - 10;
    return x;
}

static pto_tensor dense(float *data) { return pto_tensor_dense(data, PTO_F32, 2, shape); }

// ---- the same bits however it is called ----

static float reference[N];

static pto_status run_blur(pto_context *c, const float *x, float *y) {
    pto_tensor in = dense((float *)(uintptr_t)x), out = dense(y);
    return blur(c, &in, &out);
}

static int good(const float *y) { return memcmp(y, reference, sizeof reference) == 0; }

typedef struct { const float *x; pto_context *context; int ok; } Caller;

static void *call_often(void *arg) {
    Caller *c = arg;
    float *y = malloc(sizeof reference);
    c->ok = y != NULL;
    for (int i = 0; i < 20 && c->ok; i++) {
        memset(y, 0xff, sizeof reference);
        c->ok = run_blur(c->context, c->x, y) == PTO_OK && good(y);
    }
    free(y);
    return NULL;
}

// Eight threads at once: with a context each, and with none.
static void test_threads(const float *x) {
    for (int own = 0; own < 2; own++) {
        pthread_t thread[8];
        Caller caller[8];
        for (int i = 0; i < 8; i++) {
            caller[i] = (Caller){.x = x, .context = own ? pto_context_new(NULL) : NULL};
            pthread_create(&thread[i], NULL, call_often, &caller[i]);
        }
        for (int i = 0; i < 8; i++) {
            pthread_join(thread[i], NULL);
            expect(caller[i].ok, own ? "eight threads with contexts" : "eight threads without contexts");
            pto_context_free(caller[i].context);
        }
    }
}

// Inside a parallel region, from each of its threads.
static void test_nested(const float *x) {
#ifdef _OPENMP
    int ok = 1;
#pragma omp parallel num_threads(3) reduction(&& : ok)
    {
        float *y = malloc(sizeof reference);
        ok = y && run_blur(NULL, x, y) == PTO_OK && good(y);
        free(y);
    }
    expect(ok, "inside a parallel region");
#else
    (void)x;
#endif
}

// A pool of the host's own, which delivers its workers in its own order.
static void backwards(void *user, int n, void (*body)(void *arg, int worker), void *arg) {
    *(int *)user += 1;
    for (int i = n - 1; i >= 0; i--)
        body(arg, i);
}

static void test_pools_and_modes(const float *x) {
    static float y[N];
    for (int threads = 1; threads <= 5; threads++)
        for (int mode = PTO_MODE_AUTO; mode <= PTO_MODE_WAVE; mode++) {
            pto_context *c = pto_context_new(&(pto_options){.threads = threads, .mode = (pto_mode)mode});
            memset(y, 0xff, sizeof y);
            expect(run_blur(c, x, y) == PTO_OK && good(y), "any number of threads and any mode");
            pto_context_free(c);
        }
    int calls = 0;
    pto_context *c = pto_context_new(NULL);
    EXPECT(pto_context_set_pool(c, backwards, &calls, 4) == PTO_OK);
    memset(y, 0xff, sizeof y);
    EXPECT(run_blur(c, x, y) == PTO_OK && good(y));
    pto_context_free(c);
}

// Unaligned data, rows apart, columns backwards: the same elements, the same bits.
static void test_layouts(const float *x) {
    enum { WIDE = 2 * W + 3 };
    float *wide = calloc((size_t)H * WIDE + 1, sizeof *wide), *back = malloc(sizeof reference), *y = calloc((size_t)H * WIDE + 1, sizeof *y);
    if (!wide || !back || !y)
        abort();
    for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++) {
            wide[1 + i * WIDE + 2 * j] = x[i * W + j];
            back[i * W + W - 1 - j] = x[i * W + j];
        }
    pto_tensor spread = dense(wide + 1), turned = dense(back + W - 1), out = dense(y + 1);
    spread.stride[0] = out.stride[0] = WIDE;
    spread.stride[1] = 2;
    turned.stride[1] = -1;
    for (int input = 0; input < 2; input++) {
        EXPECT(blur(NULL, input ? &turned : &spread, &out) == PTO_OK);
        int ok = 1;
        for (int i = 0; i < H; i++)
            ok = ok && memcmp(y + 1 + i * WIDE, reference + i * W, W * sizeof *y) == 0;
        expect(ok, input ? "columns backwards" : "elements apart");
        ok = y[0] == 0;
        for (int i = 0; i < H; i++)
            for (int j = W; j < WIDE && i * WIDE + j < H * WIDE; j++)
                ok = ok && y[1 + i * WIDE + j] == 0;
        expect(ok, "nothing is written between the rows");
    }
    free(wide);
    free(back);
    free(y);
}

// ---- arguments that are wrong ----

static void test_overlap(const float *x) {
    float *buffer = malloc(2 * sizeof reference);
    if (!buffer)
        abort();
    memcpy(buffer, x, sizeof reference);
    pto_tensor a = dense(buffer), shifted = dense(buffer + 7), b = dense(buffer + N);
    // Element by element in one buffer is fine, a stencil is not, nor is a part of it; nothing is written then.
    EXPECT(scale(NULL, &a, &a) == PTO_OK);
    int ok = 1;
    for (int i = 0; i < N; i++)
        ok = ok && buffer[i] == 2 * x[i];
    expect(ok, "element by element in place");
    memcpy(buffer, x, sizeof reference);
    EXPECT(blur(NULL, &a, &a) == PTO_ERR_OVERLAP);
    EXPECT(scale(NULL, &a, &shifted) == PTO_ERR_OVERLAP);
    EXPECT(memcmp(buffer, x, sizeof reference) == 0);
    // Left and right half of one matrix share no element.
    int64_t half[2] = {H, W / 2};
    pto_tensor left = pto_tensor_dense(buffer, PTO_F32, 2, half), right = pto_tensor_dense(buffer + W / 2, PTO_F32, 2, half);
    left.stride[0] = right.stride[0] = W;
    EXPECT(scale(NULL, &left, &right) == PTO_OK);
    EXPECT(scale(NULL, &a, &b) == PTO_OK);
    free(buffer);
}

static void test_arguments(const float *x) {
    static float y[N];
    pto_tensor in = dense((float *)(uintptr_t)x), out = dense(y), bad;
    pto_context *c = pto_context_new(NULL);
    memset(y, 0x5a, sizeof y);
#define REFUSED(status, text)                                                            \
    do {                                                                                 \
        EXPECT(blur(c, &bad, &out) == (status));                                         \
        expect(strstr(pto_context_error(c), (text)) != NULL, pto_context_error(c));      \
    } while (0)
    EXPECT(blur(c, NULL, &out) == PTO_ERR_NULL);
    EXPECT(blur(c, &in, NULL) == PTO_ERR_NULL);
    bad = in, bad.data = NULL;
    REFUSED(PTO_ERR_NULL, "img");
    bad = in, bad.rank = 3;
    REFUSED(PTO_ERR_RANK, "img");
    bad = in, bad.dtype = PTO_F64;
    REFUSED(PTO_ERR_DTYPE, "f64");
    bad = in, bad.shape[1] = W + 1;
    REFUSED(PTO_ERR_SHAPE, "where W is dimension 1 of `img`");
    bad = in, bad.shape[0] = -1;
    REFUSED(PTO_ERR_SHAPE, "img");
    bad = out, bad.stride[1] = 0;
    EXPECT(blur(c, &in, &bad) == PTO_ERR_STRIDE || blur(c, &in, &bad) == PTO_ERR_OVERLAP);
    bad = in, bad.data = (char *)in.data + 1;
    REFUSED(PTO_ERR_ALIGN, "img");
    int untouched = 1;
    for (size_t i = 0; i < sizeof y; i++)
        untouched = untouched && ((unsigned char *)y)[i] == 0x5a;
    expect(untouched, "a refused call writes nothing");
    EXPECT(blur(c, &in, &out) == PTO_OK && good(y));
    EXPECT(pto_context_error(c)[0] == '\0');
    pto_context_free(c);
}

// ---- large offsets ----

static void test_large(void) {
    // 3 rows, 2^31 elements apart, in memory that exists only where it is touched.
    size_t row = (size_t)1 << 31, bytes = (2 * row + 4096) * sizeof(float);
    float *x = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    float *y = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (x == MAP_FAILED || y == MAP_FAILED) {
        puts("no address space for large tensors");
        return;
    }
    int64_t large[2] = {3, 100};
    pto_tensor a = pto_tensor_dense(x, PTO_F32, 2, large), b = pto_tensor_dense(y, PTO_F32, 2, large);
    a.stride[0] = b.stride[0] = (int64_t)row;
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 100; j++)
            x[i * row + j] = (float)(100 * i + j);
    EXPECT(scale(NULL, &a, &b) == PTO_OK);
    int ok = 1;
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 100; j++)
            ok = ok && y[i * row + j] == 2 * x[i * row + j];
    expect(ok, "offsets past 2^31 elements");
    munmap(x, bytes);
    munmap(y, bytes);
}

// ---- memory ----

static atomic_long allocations;
#ifdef COUNT_ALLOCATIONS
#define COUNTED(type, name, params, args)          \
    type __real_##name params;                     \
    type __wrap_##name params;                     \
    type __wrap_##name params {                    \
        atomic_fetch_add(&allocations, 1);         \
        return __real_##name args;                 \
    }
COUNTED(void *, malloc, (size_t n), (n))
COUNTED(void *, calloc, (size_t n, size_t m), (n, m))
COUNTED(void *, realloc, (void *p, size_t n), (p, n))
COUNTED(void *, aligned_alloc, (size_t a, size_t n), (a, n))
COUNTED(int, posix_memalign, (void **p, size_t a, size_t n), (p, a, n))
#endif

// All that a call takes comes from the host application, from the first call on.
static long own_pieces;

static void *own_take(void *user, size_t alignment, size_t bytes) {
    static _Alignas(4096) char room[8 << 20];
    size_t *used = user, at = (*used + alignment - 1) / alignment * alignment;
    own_pieces++;
    *used = at + bytes;
    return *used <= sizeof room ? room + at : NULL;
}

static void own_give(void *user, void *p, size_t bytes) {
    (void)user, (void)p, (void)bytes;
    own_pieces--;
}

static void test_own_memory(const pto_tensor *in, pto_tensor *out) {
    size_t used = 0;
    pto_context *c = pto_context_new(&(pto_options){.threads = 2});
    EXPECT(pto_context_set_memory(c, own_take, own_give, &used) == PTO_OK);
    long before = atomic_load(&allocations);
    EXPECT(blur(c, in, out) == PTO_OK);
    EXPECT(heat(c, in, 5, out) == PTO_OK);
    EXPECT(relu_cumsum(c, in, 2, 1, out) == PTO_OK);
    expect(atomic_load(&allocations) == before, "memory from elsewhere than the host application");
    expect(used > 0 && own_pieces > 0, "memory from the host application");
    pto_context_free(c);
    expect(own_pieces == 0, "all memory goes back");
}

// After the first call a context allocates no more.
static void test_steady(float *x) {
    static float y[N];
    pto_context *c = pto_context_new(&(pto_options){.threads = 2});
    pto_tensor in = dense(x), out = dense(y);
    for (int i = 0; i < 3; i++) {
        long before = atomic_load(&allocations);
        EXPECT(blur(c, &in, &out) == PTO_OK);
        EXPECT(heat(c, &in, 5, &out) == PTO_OK);
        EXPECT(relu_cumsum(c, &in, 2, 1, &out) == PTO_OK);
        if (i > 0)
            expect(atomic_load(&allocations) == before, "no allocation in steady state");
    }
    test_own_memory(&in, &out);
    // The size of the workspace can be asked for, and set aside before.
    int64_t steps = 5;
    void *args[3] = {&in, &steps, &out};
    size_t bytes = heat_kernel.workspace(c, args);
    pto_context *d = pto_context_new(&(pto_options){.threads = 2});
    EXPECT(pto_context_reserve(d, bytes) == PTO_OK);
    EXPECT(heat_kernel.call(d, args) == PTO_OK);
    EXPECT(bytes < (size_t)4 * N * sizeof(float));      // two planes, not six
    pto_context_free(c);
    pto_context_free(d);
}

int main(int argc, char **argv) {
    float *x = filled();
    pto_context *serial = pto_context_new(&(pto_options){.threads = 1, .pool = PTO_POOL_SERIAL});
    EXPECT(run_blur(serial, x, reference) == PTO_OK);
    pto_context_free(serial);
    test_threads(x);
    test_nested(x);
    test_pools_and_modes(x);
    test_layouts(x);
    test_overlap(x);
    test_arguments(x);
    if (argc > 1 && strcmp(argv[1], "large") == 0)
        test_large();
    test_steady(x);
    free(x);
    if (!failures)
        puts("all as it should be");
    return failures != 0;
}
