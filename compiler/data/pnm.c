// Netpbm's PGM and PPM: "P5 width height maxval", one white space, samples; comments run from # to the end of a line.
#include "data/array.h"

#include "data/element.h"

#include <errno.h>
#include <math.h>
#include <string.h>

typedef struct { Arena *arena; FILE *in; const char *path, *error; } Picture;

static bool fail(Picture *p, const char *what)
{
    if (!p->error)
        p->error = what;
    return false;
}

static bool is_space(int c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

// The next character, with a comment read as the end of its line.
static int next(FILE *in)
{
    int c = fgetc(in);
    if (c == '#')
        while (c != '\n' && c != '\r' && c != EOF)
            c = fgetc(in);
    return c;
}

// A decimal number and the one character after it.
static bool read_number(Picture *p, int64_t limit, const char *what, int64_t *value)
{
    int c;
    do
        c = next(p->in);
    while (is_space(c));
    if (c < '0' || c > '9')
        return fail(p, arena_printf(p->arena, c == EOF ? "cut short before the %s" : "the %s is not a number", what));
    for (*value = 0; c >= '0' && c <= '9'; c = next(p->in)) {
        *value = *value * 10 + (c - '0');
        if (*value > limit)
            return fail(p, arena_printf(p->arena, "the %s is above %lld", what, (long long)limit));
    }
    if (c != EOF && !is_space(c))
        return fail(p, arena_printf(p->arena, "the %s is not a number", what));
    return true;
}

static void put_sample(Array *x, int64_t k, int64_t value)
{
    element_store_int(x->type, (char *)x->data + k * dtype_bytes(x->type), value);
}

static bool read_plain(Picture *p, Array *x, int64_t maxval)
{
    int64_t value;
    for (int64_t k = 0; k < x->size; k++) {
        if (!read_number(p, maxval, "sample", &value))
            return false;
        put_sample(x, k, value);
    }
    return true;
}

static bool read_raw(Picture *p, Array *x, int64_t maxval)
{
    size_t bytes = (size_t)array_bytes(x);
    if (fread(x->data, 1, bytes, p->in) != bytes)
        return fail(p, "the samples are cut short");
    const unsigned char *raw = x->data;
    for (int64_t k = 0; k < x->size; k++) {
        int64_t value = maxval < 256 ? raw[k] : raw[2 * k] << 8 | raw[2 * k + 1];
        if (value > maxval)
            return fail(p, arena_printf(p->arena, "a sample is above %lld", (long long)maxval));
        if (maxval >= 256)
            put_sample(x, k, value);
    }
    return true;
}

// Refuses a shape that the file cannot hold before memory is taken for it.
static bool fits_file(Picture *p, const Array *shape)
{
    long here = ftell(p->in);
    if (here < 0 || fseek(p->in, 0, SEEK_END) != 0)
        return true;
    long end = ftell(p->in);
    return fseek(p->in, here, SEEK_SET) == 0 && (end - here >= shape->size || fail(p, "the samples are cut short"));
}

static Array *read_picture(Picture *p)
{
    int64_t width, height, maxval;
    int letter = fgetc(p->in), kind = letter == 'P' ? fgetc(p->in) : 0;
    if (kind != '2' && kind != '3' && kind != '5' && kind != '6')
        return fail(p, "not a PGM or PPM picture (P2, P3, P5 or P6)"), NULL;
    if (!read_number(p, INT32_MAX, "width", &width) || !read_number(p, INT32_MAX, "height", &height) ||
        !read_number(p, 65535, "maxval", &maxval))
        return NULL;
    if (maxval == 0)
        return fail(p, "maxval is 0"), NULL;
    int rank = kind == '3' || kind == '6' ? 3 : 2;
    Array shape = {.size = width * height};
    if (!fits_file(p, &shape))
        return NULL;
    Array *x = array_new(p->arena, maxval < 256 ? DT_U8 : DT_U16, rank, (int64_t[]){height, width, 3}, &p->error);
    if (!x)
        return NULL;
    bool ok = kind <= '3' ? read_plain(p, x, maxval) : read_raw(p, x, maxval);
    return ok ? x : NULL;
}

Array *pnm_read(Arena *a, FILE *in, const char *path, const char **error)
{
    Picture p = {.arena = a, .in = in, .path = path};
    Array *x = read_picture(&p);
    if (!x)
        *error = arena_printf(a, "%s: %s", path, p.error ? p.error : "cannot be read");
    return x;
}

// ---- writing ----

static int sample(const Array *x, int64_t k, int maxval)
{
    double v = element_as_double(x->type, (const char *)x->data + k * dtype_bytes(x->type));
    if (x->type == DT_BOOL)
        v *= 255;
    v = nearbyint(v);
    return !(v > 0) ? 0 : v > maxval ? maxval : (int)v;
}

bool pnm_write(Arena *a, FILE *out, const char *path, const Array *x, const char **error)
{
    bool color = x->rank == 3 && x->extent[2] == 3;
    bool gray = x->rank == 2;
    const char *suffix = strrchr(path, '.');
    if ((!color && !gray) || (suffix && strcasecmp(suffix, ".pgm") == 0 && color) || (suffix && strcasecmp(suffix, ".ppm") == 0 && gray)) {
        *error = arena_printf(a, "%s: a .pgm has the shape [H, W] and a .ppm [H, W, 3], not %s", path,
                              array_shape_text(a, x->rank, x->extent));
        return false;
    }
    int maxval = x->type == DT_U16 ? 65535 : 255;
    fprintf(out, "P%c\n%lld %lld\n%d\n", color ? '6' : '5', (long long)x->extent[1], (long long)x->extent[0], maxval);
    for (int64_t k = 0; k < x->size; k++) {
        int v = sample(x, k, maxval);
        if (maxval > 255)
            putc(v >> 8, out);
        putc(v & 255, out);
    }
    if (!ferror(out))
        return true;
    *error = arena_printf(a, "%s: %s", path, strerror(errno));
    return false;
}
