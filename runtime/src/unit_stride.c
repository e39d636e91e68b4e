// Tensors whose last dimension is not contiguous: kernels read and write along it element by element, so they get a dense
// copy instead. A kernel's cost for it is one pass over the tensor each way. Test: tests/unit/test_runtime.c
#include "ptort.h"

static int has_unit_stride(const pto_tensor *t)
{
    return t->rank == 0 || t->shape[t->rank - 1] <= 1 || t->stride[t->rank - 1] == 1 || pto_tensor_elements(t) == 0;
}

static pto_status copy_of(pto_context *ctx, const pto_tensor *t, int input, pto_tensor *unit)
{
    void *copy = pto_workspace(ctx, (size_t)pto_tensor_elements(t) * pto_dtype_size(t->dtype));
    if (!copy)
        return PTO_ERR_MEMORY;
    *unit = pto_tensor_dense(copy, t->dtype, t->rank, t->shape);
    if (input)
        pto_pack(ctx, t, copy);
    return PTO_OK;
}

pto_status pto_unit_stride(pto_context *ctx, const pto_tensor *t, int input, pto_tensor *unit)
{
    if (t == NULL || unit == NULL)
        return pto_error(ctx, PTO_ERR_NULL, "a tensor is NULL");
    *unit = *t;
    return has_unit_stride(t) ? PTO_OK : copy_of(ctx, t, input, unit);
}

pto_status pto_dense(pto_context *ctx, const pto_tensor *t, int input, pto_tensor *dense)
{
    if (t == NULL || dense == NULL)
        return pto_error(ctx, PTO_ERR_NULL, "a tensor is NULL");
    *dense = *t;
    if (!pto_tensor_is_dense(t))
        return copy_of(ctx, t, input, dense);
    *dense = pto_tensor_dense(t->data, t->dtype, t->rank, t->shape);
    return PTO_OK;
}

void pto_unit_stride_done(pto_context *ctx, const pto_tensor *t, const pto_tensor *unit)
{
    if (t != NULL && unit != NULL && unit->data != t->data)
        pto_unpack(ctx, unit->data, t);
}
