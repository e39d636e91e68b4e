// Reads .npy files (version 1 or 2, C order, little endian) into doubles: see run.h.
#include "run.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double half(uint16_t h) {
    int sign = h >> 15, exponent = h >> 10 & 31, fraction = h & 1023;
    double v = exponent == 31 ? (fraction ? 0.0 / 0.0 : 1.0 / 0.0) : exponent ? 1 + fraction / 1024.0 : fraction / 512.0;
    if (exponent != 31)
        for (int e = exponent - 15; e != 0; e += e > 0 ? -1 : 1)
            v = e > 0 ? v * 2 : v / 2;
    return sign ? -v : v;
}

#define ELEMENT(T)                     \
    do {                               \
        T v_;                          \
        memcpy(&v_, p, sizeof v_);     \
        return (double)v_;             \
    } while (0)

static double element(const char *dtype, const unsigned char *p) {
    switch (dtype[1] << 8 | dtype[2]) {
    case 'f' << 8 | '8': ELEMENT(double);
    case 'f' << 8 | '4': ELEMENT(float);
    case 'f' << 8 | '2': return half((uint16_t)(p[0] | p[1] << 8));
    case 'i' << 8 | '8': ELEMENT(int64_t);
    case 'i' << 8 | '4': ELEMENT(int32_t);
    case 'i' << 8 | '2': ELEMENT(int16_t);
    case 'i' << 8 | '1': ELEMENT(int8_t);
    case 'u' << 8 | '8': ELEMENT(uint64_t);
    case 'u' << 8 | '4': ELEMENT(uint32_t);
    case 'u' << 8 | '2': ELEMENT(uint16_t);
    case 'u' << 8 | '1':
    case 'b' << 8 | '1': ELEMENT(uint8_t);
    default: return 0.0 / 0.0;
    }
}

// The header is a Python dictionary; the value of a key starts behind "'key':".
static const char *value_of(const char *header, const char *key) {
    const char *p = strstr(header, text("'%s'", key));
    if (!p || !(p = strchr(p, ':')))
        return NULL;
    return p + 1 + strspn(p + 1, " ");
}

static const char *parse_header(const char *header, Array *a) {
    const char *descr = value_of(header, "descr"), *order = value_of(header, "fortran_order"), *shape = value_of(header, "shape");
    if (!descr || sscanf(descr, "'%7[^']'", a->dtype) != 1 || strlen(a->dtype) != 3 || a->dtype[0] == '>')
        return "element type";
    if (!order || !starts(order, "False"))
        return "not in C order";
    if (!shape || *shape != '(')
        return "no shape";
    a->count = 1;
    for (shape++; *shape && *shape != ')';) {
        char *end;
        long n = strtol(shape, &end, 10);
        if (end == shape || a->rank == 16)
            return "shape";
        a->shape[a->rank++] = n;
        a->count *= n;
        shape = end + strspn(end, ", ");
    }
    return NULL;
}

static const char *load(FILE *f, Array *a) {
    unsigned char magic[12];
    if (fread(magic, 1, 10, f) != 10 || memcmp(magic, "\x93NUMPY", 6) != 0)
        return "not an .npy file";
    size_t size = (size_t)(magic[8] | magic[9] << 8);
    if (magic[6] > 1) {
        if (fread(magic + 10, 1, 2, f) != 2)
            return "cut short";
        size |= (size_t)magic[10] << 16 | (size_t)magic[11] << 24;
    }
    char *header = calloc(size + 1, 1);
    if (!header || fread(header, 1, size, f) != size)
        return "cut short";
    const char *wrong = parse_header(header, a);
    if (wrong)
        return wrong;
    size_t width = (size_t)(a->dtype[2] - '0'), bytes = width * (size_t)a->count;
    unsigned char *data = malloc(bytes + 1);
    a->at = calloc((size_t)a->count + 1, sizeof *a->at);
    if (!data || !a->at || fread(data, 1, bytes + 1, f) != bytes)
        return "size of the data";
    for (long i = 0; i < a->count; i++)
        a->at[i] = element(a->dtype, data + width * (size_t)i);
    free(data);
    return NULL;
}

const char *npy_load(const char *path, Array *a) {
    memset(a, 0, sizeof *a);
    FILE *f = fopen(path, "rb");
    if (!f)
        return "cannot be opened";
    const char *wrong = load(f, a);
    fclose(f);
    return wrong;
}
