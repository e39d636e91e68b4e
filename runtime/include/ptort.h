// ptort.h: the runtime of ptoc (DRAFT of the contract between emitted C, the runtime and the tools).
#ifndef PTORT_H
#define PTORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PTO_MAX_RANK 8

typedef enum { PTO_F64, PTO_F32, PTO_BF16, PTO_F16, PTO_I64, PTO_I32, PTO_I16, PTO_I8, PTO_U64, PTO_U32, PTO_U16, PTO_U8, PTO_BOOL } pto_dtype;

typedef enum {
    PTO_OK = 0, PTO_ERR_NULL, PTO_ERR_RANK, PTO_ERR_SHAPE, PTO_ERR_DTYPE, PTO_ERR_WHERE, PTO_ERR_OVERLAP, PTO_ERR_STRIDE,
    PTO_ERR_BOUNDS,          // a data-dependent read outside its tensor
    PTO_ERR_DIVIDE,          // integer division by zero
    PTO_ERR_MEMORY, PTO_ERR_BUSY, PTO_ERR_ARGUMENT, PTO_ERR_ALIGN,
} pto_status;

// A view of memory that somebody else owns. Strides are in elements and may be 0 or negative for inputs.
typedef struct pto_tensor {
    void *data;
    pto_dtype dtype;
    int32_t rank;
    int64_t shape[PTO_MAX_RANK];
    int64_t stride[PTO_MAX_RANK];
} pto_tensor;

typedef struct pto_context pto_context;

// ---- what emitted C calls -------------------------------------------------------------------------------------
typedef enum { PTO_MODE_AUTO, PTO_MODE_SERIAL, PTO_MODE_STATIC, PTO_MODE_DYNAMIC, PTO_MODE_WAVE } pto_mode;

// One parallel region: a grid of tasks. With `offsets`, task t starts when t - offset is done for each offset whose
// result lies in the grid (lexicographically positive); without, tasks are independent.
typedef struct pto_grid {
    const char *name;            // the equations it computes, for profiles
    int rank;                    // 1..4
    int64_t count[4];
    pto_mode mode;               // what the compiler chose; a context may override it
    int max_workers;             // 0: no bound
    int noffsets;
    const int64_t (*offsets)[4];
} pto_grid;

// What emitted C says about a kernel, for tools that load it: `const pto_kernel NAME_kernel`.
typedef enum { PTO_PARAM_DIM, PTO_PARAM_SCALAR, PTO_PARAM_TENSOR, PTO_PARAM_OUTPUT, PTO_PARAM_SCALAR_OUTPUT } pto_param_kind;
typedef struct { const char *name; pto_param_kind kind; pto_dtype dtype; int rank; const char *shape; } pto_param;   // shape: "[M, N+1]"
typedef struct pto_kernel {
    const char *name, *target;
    int nparams;                                                          // inputs in order, then outputs in order
    const pto_param *params;
    // args[i]: DIM int64_t *; SCALAR(_OUTPUT) a pointer to the element; TENSOR, OUTPUT pto_tensor *.
    pto_status (*call)(pto_context *ctx, void *const *args);
    size_t (*workspace)(pto_context *ctx, void *const *args);             // bytes that a call with these arguments needs
} pto_kernel;
// The C signature beside it: pto_status NAME(pto_context *ctx, inputs..., outputs...) with `int64_t` for an int
// parameter, the C element type for a scalar, `const pto_tensor *` for tensors and a pointer to the C element type for
// scalar outputs.

// Runs one task. `worker` is 0..pto_workers-1; two tasks with the same worker never run at the same time.
typedef void (*pto_task)(void *frame, int worker, const int64_t index[4]);

pto_status pto_enter(pto_context **ctx, const char *kernel);      // *ctx NULL: a temporary context; PTO_ERR_BUSY if in use by another call
pto_status pto_leave(pto_context *ctx, pto_status status);        // returns the first fault if there was one, else `status`
int pto_workers(const pto_context *ctx);                          // how many workers a region of this context may use at most
void *pto_workspace(pto_context *ctx, size_t bytes);              // 64-byte aligned, reused by the next call; NULL: no memory (error recorded)
pto_status pto_run(pto_context *ctx, const pto_grid *grid, pto_task task, void *frame);
// Records a fault (the lowest site wins, so that it does not depend on timing); tasks go on.
void pto_fault(pto_context *ctx, pto_status status, int site, const char *text, int64_t value, int64_t bound);
pto_status pto_error(pto_context *ctx, pto_status status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));   // records a message, returns status
void pto_logf(pto_context *ctx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif
#endif
