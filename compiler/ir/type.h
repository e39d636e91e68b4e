// Element types: one table for names, sizes, families and the runtime's constants.
#ifndef PTOC_IR_TYPE_H
#define PTOC_IR_TYPE_H

#include <stdbool.h>

// TYPE(id, name, bytes, family, bits of the significand (floats) or of the value (integers), C type)
// Families: F float, I signed, U unsigned, B bool, X index (64-bit signed; loop indices and dimensions only).
#define DTYPES(TYPE)                              \
    TYPE(F64,   "f64",   8, 'F', 53, "double")    \
    TYPE(F32,   "f32",   4, 'F', 24, "float")     \
    TYPE(BF16,  "bf16",  2, 'F',  8, "uint16_t")  \
    TYPE(F16,   "f16",   2, 'F', 11, "uint16_t")  \
    TYPE(I64,   "i64",   8, 'I', 64, "int64_t")   \
    TYPE(I32,   "i32",   4, 'I', 32, "int32_t")   \
    TYPE(I16,   "i16",   2, 'I', 16, "int16_t")   \
    TYPE(I8,    "i8",    1, 'I',  8, "int8_t")    \
    TYPE(U64,   "u64",   8, 'U', 64, "uint64_t")  \
    TYPE(U32,   "u32",   4, 'U', 32, "uint32_t")  \
    TYPE(U16,   "u16",   2, 'U', 16, "uint16_t")  \
    TYPE(U8,    "u8",    1, 'U',  8, "uint8_t")   \
    TYPE(BOOL,  "bool",  1, 'B',  1, "uint8_t")   \
    TYPE(INDEX, "index", 8, 'X', 64, "int64_t")

typedef enum {
#define TYPE(id, name, bytes, family, bits, ctype) DT_##id,
    DTYPES(TYPE)
#undef TYPE
    DT_COUNT
} DType;

const char *dtype_name(DType t);
const char *dtype_ctype(DType t);          // how an element is stored in C
int dtype_bytes(DType t);
char dtype_family(DType t);
int dtype_bits(DType t);
bool dtype_is_float(DType t);
bool dtype_is_int(DType t);                // I, U or X; not bool
bool dtype_parse(const char *name, DType *t);
// Lossless widening inside one family (bool widens to nothing); equal types too.
bool dtype_widens(DType from, DType to);
// The type in which sums, products, means and scans of `t` are computed: f16/bf16 -> f32, bool/i8/i16 -> i32,
// u8/u16 -> u32, all others unchanged.
DType dtype_accumulator(DType t);

#endif
