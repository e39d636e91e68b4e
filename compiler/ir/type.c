// Element types: lookups in the table of type.h.
//
// Every question about a type is answered from one row of DTYPES, so a new type is a new row. The rules here are
// those of LANGUAGE.md: only lossless widening inside one family is implicit, and sums run in an accumulator type.
//
// Test: tests/unit/test_expr.c
#include "ir/type.h"

#include <stddef.h>
#include <string.h>

typedef struct {
    const char *name, *ctype;
    int bytes, bits;
    char family;
} TypeRow;

static const TypeRow type_rows[DT_COUNT + 1] = {
#define TYPE(id, name_, bytes_, family_, bits_, ctype_) \
    [DT_##id] = {.name = (name_), .ctype = (ctype_), .bytes = (bytes_), .bits = (bits_), .family = (family_)},
    DTYPES(TYPE)
#undef TYPE
    [DT_COUNT] = {.name = "no type", .ctype = "void", .family = '?'},      // while sema has not found one
};

const char *dtype_name(DType t) { return type_rows[t].name; }
const char *dtype_ctype(DType t) { return type_rows[t].ctype; }
int dtype_bytes(DType t) { return type_rows[t].bytes; }
char dtype_family(DType t) { return type_rows[t].family; }
int dtype_bits(DType t) { return type_rows[t].bits; }
bool dtype_is_float(DType t) { return type_rows[t].family == 'F'; }

bool dtype_is_int(DType t)
{
    char f = type_rows[t].family;
    return f == 'I' || f == 'U' || f == 'X';
}

bool dtype_parse(const char *name, DType *t)
{
    for (int i = 0; i < DT_COUNT; i++) {
        if (i == DT_INDEX || strcmp(name, type_rows[i].name) != 0) continue;
        *t = (DType)i;
        return true;
    }
    return false;
}

bool dtype_widens(DType from, DType to)
{
    if (from == to) return true;
    if (dtype_family(from) != dtype_family(to) || dtype_family(from) == 'B') return false;
    // bf16 has the exponents of f32 and f16 has not: neither 16-bit type holds the other's values.
    return dtype_bytes(from) < dtype_bytes(to);
}

DType dtype_accumulator(DType t)
{
    switch (t) {
    case DT_F16: case DT_BF16: return DT_F32;
    case DT_BOOL: case DT_I8: case DT_I16: return DT_I32;
    case DT_U8: case DT_U16: return DT_U32;
    case DT_F64: case DT_F32: case DT_I64: case DT_I32: case DT_U64: case DT_U32: case DT_INDEX: return t;
    case DT_COUNT: break;
    }
    return t;
}
