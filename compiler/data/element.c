// One element in memory; see element.h.
//
// Rounding to a narrow float type scales by a power of two (exact), rounds to an integer (half to even, the default
// mode) and scales back: the definition of the format, with one rounding also for subnormal results.
#include "data/element.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct { int digits, emin; double max, overflow; } Format;      // emin: exponent of the smallest normal

static const Format half_format = {.digits = 11, .emin = -14, .max = 65504, .overflow = 65520};
static const Format bfloat_format = {.digits = 8, .emin = -126, .max = 0x1.FEp127, .overflow = 0x1.FFp127};

static double round_format(const Format *f, double x)
{
    if (isnan(x) || isinf(x) || x == 0)
        return x;
    if (fabs(x) >= f->overflow)
        return copysign(INFINITY, x);
    int e = ilogb(x);
    if (e < f->emin)
        e = f->emin;
    int quantum = e - (f->digits - 1);
    return copysign(ldexp(nearbyint(ldexp(x, -quantum)), quantum), x);
}

static uint16_t encode(const Format *f, double x)
{
    int mantissa = f->digits - 1;
    uint16_t sign = signbit(x) ? 0x8000 : 0, exponent_all = (uint16_t)(0x7fff >> mantissa << mantissa);
    if (isnan(x))
        return (uint16_t)(sign | exponent_all | 1u << (mantissa - 1));
    x = fabs(round_format(f, x));
    if (isinf(x))
        return sign | exponent_all;
    if (x == 0)
        return sign;
    int e = ilogb(x);
    if (e < f->emin)
        return (uint16_t)(sign | (uint16_t)ldexp(x, mantissa - f->emin));
    uint16_t fraction = (uint16_t)(ldexp(x, mantissa - e) - ldexp(1, mantissa));
    return (uint16_t)(sign | (e - f->emin + 1) << mantissa | fraction);
}

static double decode(const Format *f, uint16_t bits)
{
    int mantissa = f->digits - 1, field = (bits & 0x7fff) >> mantissa, fraction = bits & ((1 << mantissa) - 1);
    int all = 0x7fff >> mantissa;
    double x;
    if (field == all)
        x = fraction ? NAN : INFINITY;
    else if (field == 0)
        x = ldexp(fraction, f->emin - mantissa);
    else
        x = ldexp(fraction + (1 << mantissa), field - 1 + f->emin - mantissa);
    return bits & 0x8000 ? -x : x;
}

uint16_t element_half_bits(double x) { return encode(&half_format, x); }
double element_half_value(uint16_t bits) { return decode(&half_format, bits); }
uint16_t element_bfloat_bits(double x) { return encode(&bfloat_format, x); }
double element_bfloat_value(uint16_t bits) { return decode(&bfloat_format, bits); }

double element_round(DType t, double x)
{
    switch (t) {
    case DT_F64: return x;
    case DT_F32: return (double)(float)x;
    case DT_F16: return round_format(&half_format, x);
    case DT_BF16: return round_format(&bfloat_format, x);
    default: assert(!"not a float type"); return x;
    }
}

// Round to odd: a double that any narrower rounding turns into the right value.
static double odd_from_magnitude(uint64_t u)
{
    if (u < (uint64_t)1 << 53)
        return (double)u;
    int shift = 11 - __builtin_clzll(u);
    uint64_t kept = u >> shift;
    if (kept << shift != u)
        kept |= 1;
    return ldexp((double)kept, shift);
}

double element_round_int(DType t, int64_t x, bool is_unsigned)
{
    bool negative = !is_unsigned && x < 0;
    uint64_t u = negative ? 0 - (uint64_t)x : (uint64_t)x;
    if (t == DT_F64)
        return negative ? -(double)u : (double)u;
    double r = element_round(t, odd_from_magnitude(u));
    return negative ? -r : r;
}

double element_load_float(DType t, const void *p)
{
    double d;
    float f;
    uint16_t h;
    switch (t) {
    case DT_F64: memcpy(&d, p, sizeof d); return d;
    case DT_F32: memcpy(&f, p, sizeof f); return (double)f;
    case DT_F16: memcpy(&h, p, sizeof h); return decode(&half_format, h);
    case DT_BF16: memcpy(&h, p, sizeof h); return decode(&bfloat_format, h);
    default: assert(!"not a float type"); return 0;
    }
}

void element_store_float(DType t, void *p, double x)
{
    float f = (float)x;
    uint16_t h;
    switch (t) {
    case DT_F64: memcpy(p, &x, sizeof x); return;
    case DT_F32: memcpy(p, &f, sizeof f); return;
    case DT_F16: h = encode(&half_format, x); memcpy(p, &h, sizeof h); return;
    case DT_BF16: h = encode(&bfloat_format, x); memcpy(p, &h, sizeof h); return;
    default: assert(!"not a float type");
    }
}

int64_t element_wrap(DType t, int64_t x)
{
    switch (t) {
    case DT_I64: case DT_U64: case DT_INDEX: return x;
    case DT_I32: return (int32_t)(uint32_t)x;
    case DT_I16: return (int16_t)(uint16_t)x;
    case DT_I8: return (int8_t)(uint8_t)x;
    case DT_U32: return (uint32_t)x;
    case DT_U16: return (uint16_t)x;
    case DT_U8: return (uint8_t)x;
    case DT_BOOL: return x != 0;
    default: assert(!"not an integer type"); return x;
    }
}

int64_t element_load_int(DType t, const void *p)
{
    uint64_t x = 0;
    switch (dtype_bytes(t)) {
    case 1: { uint8_t v; memcpy(&v, p, 1); x = v; break; }
    case 2: { uint16_t v; memcpy(&v, p, 2); x = v; break; }
    case 4: { uint32_t v; memcpy(&v, p, 4); x = v; break; }
    default: memcpy(&x, p, 8);
    }
    return element_wrap(t, (int64_t)x);
}

void element_store_int(DType t, void *p, int64_t x)
{
    uint64_t u = (uint64_t)element_wrap(t, x);
    switch (dtype_bytes(t)) {
    case 1: { uint8_t v = (uint8_t)u; memcpy(p, &v, 1); return; }
    case 2: { uint16_t v = (uint16_t)u; memcpy(p, &v, 2); return; }
    case 4: { uint32_t v = (uint32_t)u; memcpy(p, &v, 4); return; }
    default: memcpy(p, &u, 8);
    }
}

int64_t element_min(DType t)
{
    char family = dtype_family(t);
    return family == 'I' || family == 'X' ? (int64_t)(~(uint64_t)0 << (dtype_bits(t) - 1)) : 0;
}

int64_t element_max(DType t)
{
    char family = dtype_family(t);
    int bits = dtype_bits(t) - (family == 'I' || family == 'X');
    return (int64_t)(~(uint64_t)0 >> (64 - bits));
}

int64_t element_truncate(DType t, double x)
{
    if (isnan(x))
        return t == DT_BOOL;
    if (t == DT_BOOL)
        return x != 0;
    x = trunc(x);
    if (t == DT_U64)
        return x <= 0 ? 0 : x >= 0x1p64 ? (int64_t)UINT64_MAX : (int64_t)(uint64_t)x;
    if (x >= 0x1p63)
        return element_max(t);
    if (x < -0x1p63)
        return element_min(t);
    int64_t i = (int64_t)x;
    return i < element_min(t) ? element_min(t) : i > element_max(t) ? element_max(t) : i;
}

double element_unit(DType t) { return ldexp(1, -dtype_bits(t)); }

double element_tiny(DType t)
{
    switch (t) {
    case DT_F64: return 0x1p-1074;
    case DT_F32: return 0x1p-149;
    case DT_F16: return 0x1p-24;
    case DT_BF16: return 0x1p-133;
    default: return 0;
    }
}

double element_as_double(DType t, const void *p)
{
    if (dtype_is_float(t))
        return element_load_float(t, p);
    int64_t i = element_load_int(t, p);
    return t == DT_U64 ? (double)(uint64_t)i : (double)i;
}
