// Element types and tensors: sizes, names, dense strides.
//
// Test: tests/unit/test_runtime.c

#include "ptort.h"

static const struct { const char *name; size_t size; } dtypes[] = {
    [PTO_F64] = {"f64", 8}, [PTO_F32] = {"f32", 4}, [PTO_BF16] = {"bf16", 2}, [PTO_F16] = {"f16", 2},
    [PTO_I64] = {"i64", 8}, [PTO_I32] = {"i32", 4}, [PTO_I16] = {"i16", 2}, [PTO_I8] = {"i8", 1},
    [PTO_U64] = {"u64", 8}, [PTO_U32] = {"u32", 4}, [PTO_U16] = {"u16", 2}, [PTO_U8] = {"u8", 1},
    [PTO_BOOL] = {"bool", 1},
};

static int dtype_known(pto_dtype d) { return (unsigned)d < sizeof dtypes / sizeof *dtypes; }
size_t pto_dtype_size(pto_dtype d) { return dtype_known(d) ? dtypes[d].size : 0; }
const char *pto_dtype_name(pto_dtype d) { return dtype_known(d) ? dtypes[d].name : "?"; }

pto_tensor pto_tensor_dense(void *data, pto_dtype dtype, int rank, const int64_t *shape) {
    pto_tensor t = {.data = data, .dtype = dtype, .rank = rank};
    if (rank < 0 || rank > PTO_MAX_RANK)
        return t;
    uint64_t stride = 1;                                     // wraps for a shape that no kernel will accept
    for (int d = rank - 1; d >= 0; d--) {
        t.shape[d] = shape != NULL ? shape[d] : -1;           // no kernel takes that
        t.stride[d] = (int64_t)stride;
        stride *= t.shape[d] > 0 ? (uint64_t)t.shape[d] : 1;
    }
    return t;
}

int64_t pto_tensor_elements(const pto_tensor *t) {
    if (t == NULL || t->rank < 0 || t->rank > PTO_MAX_RANK)
        return -1;
    int64_t n = 1;
    int empty = 0, overflow = 0;
    for (int d = 0; d < t->rank; d++) {
        if (t->shape[d] < 0)
            return -1;
        empty |= t->shape[d] == 0;
        overflow |= __builtin_mul_overflow(n, t->shape[d], &n);
    }
    return empty ? 0 : overflow ? -1 : n;
}

int pto_tensor_is_dense(const pto_tensor *t) {
    int64_t n = pto_tensor_elements(t), stride = 1;
    if (n <= 1)
        return n >= 0;
    for (int d = t->rank - 1; d >= 0; d--) {
        if (t->shape[d] > 1 && t->stride[d] != stride)
            return 0;
        stride *= t->shape[d];
    }
    return 1;
}
