// Runs every kernel that it is linked with on the same pseudo-random inputs at several sizes and writes what comes out,
// or compares two such files. So C for two machines can be compared where only one of them can run `ptoc check`.
//
//   driver FILE                runs; kernels.h says which: KERNEL(name)...
//   driver --compare A B       floats within a bound relative to the largest element of their tensor, all else exactly
#include "../shapes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL(name) extern const pto_kernel name##_kernel;
#include "kernels.h"
#undef KERNEL
static const pto_kernel *const kernels[] = {
#define KERNEL(name) &name##_kernel,
#include "kernels.h"
#undef KERNEL
};

enum { MOST_ARGS = 16 };
static const int64_t sizes[] = {1, 2, 7, 16, 19, 33};

// ---- shapes ----

// Each new dimension gets a slightly different size, so that transposed extents are seen.
static int64_t size_now;
static int64_t size_of_dim(int position) { return size_now + position % 3; }

// ---- values ----

static uint64_t state;

static uint32_t next(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

// Small values, so that integers index small tables and floats do not overflow; 16-bit floats from a table.
static void fill(void *data, pto_dtype t, int64_t n) {
    static const uint16_t f16[] = {0x3c00, 0x3800, 0xb400, 0x0000, 0x3555, 0xc000, 0x4248, 0x2e66};
    static const uint16_t bf16[] = {0x3f80, 0x3f00, 0xbe80, 0x0000, 0x3eab, 0xc000, 0x4049, 0x3dcd};
    for (int64_t i = 0; i < n; i++) {
        uint32_t r = next();
        double v = (double)(r % 20001) / 10000 - 1;
        switch (t) {
        case PTO_F64: ((double *)data)[i] = v; break;
        case PTO_F32: ((float *)data)[i] = (float)v; break;
        case PTO_F16: ((uint16_t *)data)[i] = f16[r % 8]; break;
        case PTO_BF16: ((uint16_t *)data)[i] = bf16[r % 8]; break;
        case PTO_I64: case PTO_U64: ((int64_t *)data)[i] = r % 5; break;
        case PTO_I32: case PTO_U32: ((int32_t *)data)[i] = (int32_t)(r % 5); break;
        case PTO_I16: case PTO_U16: ((int16_t *)data)[i] = (int16_t)(r % 5); break;
        case PTO_I8: case PTO_U8: ((int8_t *)data)[i] = (int8_t)(r % 5); break;
        case PTO_BOOL: ((uint8_t *)data)[i] = r % 2; break;
        }
    }
}

// A symmetric input gets a heavy diagonal, so that factorisations exist.
static void strengthen(pto_tensor *t) {
    for (int64_t i = 0; t->rank == 2 && t->shape[0] == t->shape[1] && t->dtype == PTO_F64 && i < t->shape[0]; i++)
        ((double *)t->data)[i * t->shape[1] + i] += 4.0 * (double)t->shape[0];
}

static void *memory(size_t n) {
    void *p = calloc(n + 64, 1);
    if (!p)
        exit(70);
    return p;
}

// ---- running ----

static void put(FILE *f, const void *data, size_t bytes) {
    if (fwrite(data, 1, bytes, f) != bytes)
        exit(70);
}

static void run_kernel(FILE *f, const pto_kernel *k, int64_t size) {
    Shapes shapes = {.value = size_of_dim};
    size_now = size;
    pto_tensor tensor[MOST_ARGS];
    int64_t dim[MOST_ARGS], scalar[MOST_ARGS] = {0}, count[MOST_ARGS] = {0};
    void *args[MOST_ARGS];
    for (int i = 0; i < k->nparams; i++) {
        const pto_param *p = &k->params[i];
        int64_t shape[PTO_MAX_RANK] = {0};
        if (p->kind == PTO_PARAM_DIM) {
            dim[i] = shapes_dim(&shapes, p->name, strlen(p->name));
            args[i] = &dim[i];
        } else if (p->kind == PTO_PARAM_SCALAR || p->kind == PTO_PARAM_SCALAR_OUTPUT) {
            fill(&scalar[i], p->dtype, p->kind == PTO_PARAM_SCALAR);
            args[i] = &scalar[i];
        } else {
            count[i] = shapes_extents(&shapes, p, shape);
            tensor[i] = pto_tensor_dense(memory((size_t)count[i] * pto_dtype_size(p->dtype)), p->dtype, p->rank, shape);
            if (p->kind == PTO_PARAM_TENSOR) {
                fill(tensor[i].data, p->dtype, count[i]);
                strengthen(&tensor[i]);
            }
            args[i] = &tensor[i];
        }
    }
    pto_context *context = pto_context_new(&(pto_options){.threads = 2});
    int32_t status = k->call(context, args);
    pto_context_free(context);
    fprintf(f, "%s %lld\n", k->name, (long long)size);
    put(f, &status, sizeof status);
    for (int i = 0; i < k->nparams; i++) {
        int out = k->params[i].kind == PTO_PARAM_OUTPUT, one = k->params[i].kind == PTO_PARAM_SCALAR_OUTPUT;
        int64_t head[2] = {k->params[i].dtype, one ? 1 : count[i]};
        if ((out || one) && status == PTO_OK) {
            put(f, head, sizeof head);
            put(f, out ? tensor[i].data : &scalar[i], (size_t)head[1] * pto_dtype_size(k->params[i].dtype));
        }
    }
    int64_t end[2] = {-1, 0};
    put(f, end, sizeof end);
    for (int i = 0; i < k->nparams; i++)
        if (count[i] || k->params[i].kind == PTO_PARAM_TENSOR || k->params[i].kind == PTO_PARAM_OUTPUT)
            free(tensor[i].data);
}

static int run_all(const char *path) {
    FILE *f = fopen(path, "wb");
    if (!f)
        return 70;
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            state = 17 * k + s;
            run_kernel(f, kernels[k], sizes[s]);
        }
    return fclose(f) ? 70 : 0;
}

// ---- comparing ----

static double half(uint16_t h) {
    double v = (h & 0x7c00) == 0x7c00 ? (h & 1023 ? (double)NAN : (double)INFINITY) : h & 0x7c00 ? ldexp(1024 + (h & 1023), (h >> 10 & 31) - 25) : ldexp(h & 1023, -24);
    return h & 0x8000 ? -v : v;
}

static double value(const void *data, int64_t t, int64_t i) {
    uint32_t bits;
    float f;
    switch ((pto_dtype)t) {
    case PTO_F64: return ((const double *)data)[i];
    case PTO_F32: return ((const float *)data)[i];
    case PTO_F16: return half(((const uint16_t *)data)[i]);
    case PTO_BF16:
        bits = (uint32_t)((const uint16_t *)data)[i] << 16;
        memcpy(&f, &bits, sizeof f);
        return f;
    default: return NAN;
    }
}

static double bound_of(int64_t t) {
    return t == PTO_F64 ? 1e-9 : t == PTO_F32 ? 1e-4 : t == PTO_F16 ? 5e-3 : 4e-2;
}

static int different(const char *what, int64_t t, int64_t n, const void *a, const void *b) {
    if (t > PTO_F16) {
        if (memcmp(a, b, (size_t)n * pto_dtype_size((pto_dtype)t)) == 0)
            return 0;
        printf("%s: integers differ\n", what);
        return 1;
    }
    double largest = 0;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(value(a, t, i)))
            largest = fmax(largest, fabs(value(a, t, i)));
    for (int64_t i = 0; i < n; i++) {
        double x = value(a, t, i), y = value(b, t, i);
        if (x == y || (x != x && y != y) || fabs(x - y) <= bound_of(t) * largest)
            continue;
        printf("%s: element %lld is %.9g and %.9g\n", what, (long long)i, x, y);
        return 1;
    }
    return 0;
}

static int get(FILE *f, void *data, size_t bytes) { return fread(data, 1, bytes, f) == bytes; }

static int compare(const char *one, const char *two) {
    FILE *f = fopen(one, "rb"), *g = fopen(two, "rb");
    char name[256], other[256];
    int wrong = 0, runs = 0;
    if (!f || !g)
        return 70;
    for (; fgets(name, sizeof name, f); runs++) {
        int32_t s, t;
        if (!fgets(other, sizeof other, g) || strcmp(name, other) != 0 || !get(f, &s, sizeof s) || !get(g, &t, sizeof t))
            return printf("the files do not belong together\n"), 1;
        name[strcspn(name, "\n")] = '\0';
        if (s != t)
            return printf("%s: status %d and %d\n", name, s, t), 1;
        for (int64_t h[2], i[2]; get(f, h, sizeof h) && get(g, i, sizeof i) && h[0] >= 0;) {
            size_t bytes = (size_t)h[1] * pto_dtype_size((pto_dtype)h[0]);
            void *a = memory(bytes), *b = memory(bytes);
            if (h[0] != i[0] || h[1] != i[1] || !get(f, a, bytes) || !get(g, b, bytes))
                return printf("%s: cut short\n", name), 1;
            wrong += different(name, h[0], h[1], a, b);
            free(a);
            free(b);
        }
    }
    printf("%d runs compared\n", runs);
    return wrong || !runs;
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "--compare") == 0)
        return compare(argv[2], argv[3]);
    return argc == 2 ? run_all(argv[1]) : 2;
}
