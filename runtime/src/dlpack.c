// Tensors from and to DLPack, without a copy.
//
// Test: tests/unit/test_runtime.c

#include "ptort.h"
#include "ptort/dlpack.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

static const struct { DLDataTypeCode code; int bits; } codes[] = {
    [PTO_F64] = {kDLFloat, 64}, [PTO_F32] = {kDLFloat, 32}, [PTO_BF16] = {kDLBfloat, 16}, [PTO_F16] = {kDLFloat, 16},
    [PTO_I64] = {kDLInt, 64}, [PTO_I32] = {kDLInt, 32}, [PTO_I16] = {kDLInt, 16}, [PTO_I8] = {kDLInt, 8},
    [PTO_U64] = {kDLUInt, 64}, [PTO_U32] = {kDLUInt, 32}, [PTO_U16] = {kDLUInt, 16}, [PTO_U8] = {kDLUInt, 8},
    [PTO_BOOL] = {kDLBool, 8},
};
enum { DTYPES = sizeof codes / sizeof *codes };

// ---- from -----------------------------------------------------------------------------------------------------------

static bool find_dtype(DLDataType from, pto_dtype *out) {
    for (int d = 0; d < DTYPES; d++) {
        if ((int)codes[d].code == from.code && codes[d].bits == from.bits && from.lanes == 1) {
            *out = (pto_dtype)d;
            return true;
        }
    }
    return false;
}

static pto_status view(pto_context *ctx, const DLTensor *from, pto_tensor *out) {
    pto_dtype dtype;
    if (from->device.device_type != kDLCPU && from->device.device_type != kDLCUDAHost && from->device.device_type != kDLROCMHost)
        return pto_error(ctx, PTO_ERR_ARGUMENT, "a DLPack tensor on device type %d: expected CPU memory", (int)from->device.device_type);
    if (!find_dtype(from->dtype, &dtype))
        return pto_error(ctx, PTO_ERR_DTYPE, "a DLPack tensor of type code %d, %d bits, %d lanes has no pto_dtype", from->dtype.code, from->dtype.bits, from->dtype.lanes);
    if (from->ndim < 0 || from->ndim > PTO_MAX_RANK)
        return pto_error(ctx, PTO_ERR_RANK, "a DLPack tensor of rank %" PRId32 ": at most %d", from->ndim, PTO_MAX_RANK);
    if (from->ndim > 0 && from->shape == NULL)
        return pto_error(ctx, PTO_ERR_NULL, "a DLPack tensor without a shape");
    char *data = from->data;
    *out = pto_tensor_dense(data != NULL ? data + from->byte_offset : NULL, dtype, from->ndim, from->shape);
    for (int d = 0; from->strides != NULL && d < from->ndim; d++)
        out->stride[d] = from->strides[d];
    return PTO_OK;
}

pto_status pto_from_dlpack(pto_context *ctx, const DLManagedTensor *m, pto_tensor *out) {
    if (m == NULL)
        return pto_error(ctx, PTO_ERR_NULL, "the DLPack tensor is NULL");
    return view(ctx, &m->dl_tensor, out);
}

pto_status pto_from_dlpack_versioned(pto_context *ctx, const DLManagedTensorVersioned *m, pto_tensor *out, int *read_only) {
    if (m == NULL)
        return pto_error(ctx, PTO_ERR_NULL, "the DLPack tensor is NULL");
    if (m->version.major > DLPACK_MAJOR_VERSION)
        return pto_error(ctx, PTO_ERR_ARGUMENT, "a DLPack tensor of version %" PRIu32 ".%" PRIu32 ": at most %d", m->version.major, m->version.minor, DLPACK_MAJOR_VERSION);
    if (read_only != NULL)
        *read_only = (m->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
    return view(ctx, &m->dl_tensor, out);
}

// ---- to -------------------------------------------------------------------------------------------------------------

// What a DLPack tensor of ours points to: `manager_ctx` is the whole.
typedef struct Managed {
    union {
        DLManagedTensor classic;
        DLManagedTensorVersioned versioned;
    } as;
    int64_t shape[PTO_MAX_RANK], strides[PTO_MAX_RANK];
    void (*release)(void *owner);
    void *owner;
} Managed;

static void managed_free(Managed *m) {
    if (m->release != NULL)
        m->release(m->owner);
    free(m);
}

static void delete_classic(DLManagedTensor *self) { managed_free(self->manager_ctx); }
static void delete_versioned(DLManagedTensorVersioned *self) { managed_free(self->manager_ctx); }

static Managed *managed_new(const pto_tensor *t, void (*release)(void *owner), void *owner) {
    if (t == NULL || pto_dtype_size(t->dtype) == 0 || pto_tensor_elements(t) < 0)
        return NULL;
    Managed *m = calloc(1, sizeof *m);
    if (m == NULL)
        return NULL;
    m->release = release;
    m->owner = owner;
    for (int d = 0; d < t->rank; d++) {
        m->shape[d] = t->shape[d];
        m->strides[d] = t->stride[d];
    }
    return m;
}

static DLTensor exported(Managed *m, const pto_tensor *t) {
    return (DLTensor){
        .data = t->data,
        .device = {.device_type = kDLCPU},
        .ndim = t->rank,
        .dtype = {.code = (uint8_t)codes[t->dtype].code, .bits = (uint8_t)codes[t->dtype].bits, .lanes = 1},
        .shape = m->shape,
        .strides = m->strides,
    };
}

DLManagedTensor *pto_to_dlpack(const pto_tensor *t, void (*release)(void *owner), void *owner) {
    Managed *m = managed_new(t, release, owner);
    if (m == NULL)
        return NULL;
    m->as.classic = (DLManagedTensor){.dl_tensor = exported(m, t), .manager_ctx = m, .deleter = delete_classic};
    return &m->as.classic;
}

DLManagedTensorVersioned *pto_to_dlpack_versioned(const pto_tensor *t, int read_only, void (*release)(void *owner), void *owner) {
    Managed *m = managed_new(t, release, owner);
    if (m == NULL)
        return NULL;
    m->as.versioned = (DLManagedTensorVersioned){
        .version = {.major = DLPACK_MAJOR_VERSION, .minor = DLPACK_MINOR_VERSION},
        .manager_ctx = m,
        .deleter = delete_versioned,
        .flags = read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0,
        .dl_tensor = exported(m, t),
    };
    return &m->as.versioned;
}
