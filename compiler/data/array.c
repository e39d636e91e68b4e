// Arrays: allocation, and files by their suffix.
#include "data/array.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int64_t memory_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (int64_t)pages * page : INT64_MAX;
}

const char *array_shape_text(Arena *a, int rank, const int64_t *extent)
{
    const char *s = "[";
    for (int k = 0; k < rank; k++)
        s = arena_printf(a, "%s%s%lld", s, k ? ", " : "", (long long)extent[k]);
    return arena_printf(a, "%s]", s);
}

int64_t array_bytes(const Array *x) { return x->size * dtype_bytes(x->type); }

Array *array_new(Arena *a, DType type, int rank, const int64_t *extent, const char **error)
{
    int64_t size = 1, bytes;
    if (rank < 0 || rank > ARRAY_MAX_RANK) {
        *error = arena_printf(a, "rank %d is above %d", rank, ARRAY_MAX_RANK);
        return NULL;
    }
    bool ok = true, empty = false;
    for (int k = 0; k < rank; k++) {
        ok = ok && extent[k] >= 0;
        empty |= extent[k] == 0;
    }
    for (int k = 0; k < rank && ok && !empty; k++)
        ok = !__builtin_mul_overflow(size, extent[k], &size);
    if (empty)
        size = 0;
    ok = ok && !__builtin_mul_overflow(size, (int64_t)dtype_bytes(type), &bytes);
    if (!ok || bytes > memory_bytes()) {
        *error = arena_printf(a, "%s of %s does not fit into memory", array_shape_text(a, rank < 0 ? 0 : rank, extent), dtype_name(type));
        return NULL;
    }
    Array *x = ARENA_NEW(a, Array);
    x->type = type;
    x->rank = rank;
    x->size = size;
    if (rank > 0)
        memcpy(x->extent, extent, sizeof *extent * (size_t)rank);
    char *p = arena_alloc(a, (size_t)bytes + 64);
    x->data = p + (-(uintptr_t)p & 63);
    return x;
}

// ---- files ----

static bool has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    return n > m && strcasecmp(path + n - m, suffix) == 0;
}

static bool is_picture(const char *path) { return has_suffix(path, ".pgm") || has_suffix(path, ".ppm") || has_suffix(path, ".pnm"); }

bool array_path_is_file(const char *text) { return has_suffix(text, ".npy") || is_picture(text); }

Array *array_read(Arena *a, const char *path, const char **error)
{
    if (!array_path_is_file(path)) {
        *error = arena_printf(a, "%s: neither .npy nor .pgm nor .ppm", path);
        return NULL;
    }
    FILE *in = fopen(path, "rb");
    if (!in) {
        *error = arena_printf(a, "%s: %s", path, strerror(errno));
        return NULL;
    }
    Array *x = is_picture(path) ? pnm_read(a, in, path, error) : npy_read(a, in, path, error);
    if (!x && !*error)
        *error = arena_printf(a, "%s: cannot be read", path);
    fclose(in);
    return x;
}

bool array_write(Arena *a, FILE *out, const char *path, const Array *x, const char **error)
{
    if (is_picture(path))
        return pnm_write(a, out, path, x, error);
    if (has_suffix(path, ".npy")) {
        if (npy_write(a, out, x))
            return true;
        *error = arena_printf(a, "%s: %s", path, strerror(errno));
        return false;
    }
    *error = arena_printf(a, "%s: outputs go to .npy, .pgm or .ppm files", path);
    return false;
}

Array *array_cut(Arena *a, const Array *x, const int64_t *lo, const int64_t *hi, const char **error)
{
    int64_t extent[ARRAY_MAX_RANK];
    size_t bytes = (size_t)dtype_bytes(x->type);
    for (int d = 0; d < x->rank; d++)
        extent[d] = hi[d] - lo[d];
    Array *y = array_new(a, x->type, x->rank, extent, error);
    for (int64_t i = 0; y && i < y->size; i++) {
        int64_t at = 0, rest = i, stride = 1;
        for (int d = x->rank - 1; d >= 0; d--) {
            at += (lo[d] + rest % extent[d]) * stride;
            rest /= extent[d];
            stride *= x->extent[d];
        }
        memcpy((char *)y->data + (size_t)i * bytes, (const char *)x->data + (size_t)at * bytes, bytes);
    }
    return y;
}
