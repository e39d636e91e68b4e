// ptort.h: libptort, the runtime of ptoc.
//
// Three readers: C that `ptoc` emitted (pto_enter .. pto_logf), programs that call such kernels (tensors, contexts),
// and tools (topology). One rule for all: nothing here is global; a context carries options, memory and the last error.
//
// Conventions
//   Units       extents, strides and indices count elements; workspace, caches and sizes count bytes.
//   Ownership   a pto_tensor never owns its data. What pto_*_new or pto_to_dlpack* returns belongs to the caller.
//               Strings that are returned belong to the runtime; strings that are passed in are copied if kept, except
//               kernel and grid names, which must outlive the call.
//   Errors      a function that can fail returns pto_status; the text is in pto_context_error(ctx). Nothing exits,
//               nothing prints (log lines go to stderr when no callback takes them).
//   NULL        no function crashes for a NULL context, tensor or place of a result: it returns a status (PTO_ERR_NULL unless said
//               otherwise below), the value of failure (-1, 0, NULL), or does nothing where it returns nothing.
//   Threads     a context belongs to one call at a time: a second call meanwhile gets PTO_ERR_BUSY. Different contexts
//               are independent. A NULL context is legal wherever a kernel takes one: a temporary one serves that call,
//               and its error text is then kept per thread: pto_context_error(NULL).
//   Environment PTO_NUM_THREADS caps the threads (1..PTO_MAX_WORKERS); see pto_options.
#ifndef PTORT_H
#define PTORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PTO_API __attribute__((visibility("default")))
#define PTO_PRINTF(format_arg, first) __attribute__((format(printf, format_arg, first)))
#else
#define PTO_API
#define PTO_PRINTF(format_arg, first)
#endif

#define PTO_MAX_RANK 8
#define PTO_MAX_WORKERS 4096

// ---- elements and tensors -------------------------------------------------------------------------------------------

typedef enum { PTO_F64, PTO_F32, PTO_BF16, PTO_F16, PTO_I64, PTO_I32, PTO_I16, PTO_I8, PTO_U64, PTO_U32, PTO_U16, PTO_U8, PTO_BOOL } pto_dtype;

typedef enum {
    PTO_OK = 0,
    PTO_ERR_NULL,            // a tensor, or its data with a non-zero size, is NULL
    PTO_ERR_RANK,
    PTO_ERR_SHAPE,           // an extent is negative, too large, or not what the kernel's other arguments imply
    PTO_ERR_DTYPE,
    PTO_ERR_WHERE,           // an assumption of the kernel (`where`) does not hold
    PTO_ERR_OVERLAP,         // an output shares memory with an input, another output or itself
    PTO_ERR_STRIDE,          // a stride that leaves the address space, or one of 0 on an output
    PTO_ERR_BOUNDS,          // a data-dependent read outside its tensor
    PTO_ERR_DIVIDE,          // integer division by zero
    PTO_ERR_MEMORY,
    PTO_ERR_BUSY,            // the context is in use by another call
    PTO_ERR_ARGUMENT,        // an option, environment variable or other argument is out of range
    PTO_ERR_ALIGN,           // data is not aligned to its element
    PTO_ERR_TARGET,          // this processor can run none of the targets that the kernel was compiled for
    PTO_ERR_FAULT,           // the program broke a rule of the modelled machine (ptort/model.h)
    PTO_ERR_OVERFLOW,        // an index or size that the kernel computes does not fit 64 bits
} pto_status;

// A view of memory that somebody else owns. Strides are in elements and may be 0 or negative for inputs.
typedef struct pto_tensor {
    void *data;              // element [0, 0, ...]
    pto_dtype dtype;
    int32_t rank;            // 0..PTO_MAX_RANK; 0 is one element
    int64_t shape[PTO_MAX_RANK];
    int64_t stride[PTO_MAX_RANK];
} pto_tensor;

PTO_API size_t pto_dtype_size(pto_dtype dtype);               // bytes of one element; 0 for a value outside the enum
PTO_API const char *pto_dtype_name(pto_dtype dtype);          // "f32"; "?" for a value outside the enum
PTO_API const char *pto_status_name(pto_status status);       // "PTO_ERR_SHAPE"; "?" for a value outside the enum
PTO_API const char *pto_status_text(pto_status status);       // one sentence without the details

// A tensor over `data` in row-major order without gaps. `shape` has `rank` extents. Checks nothing: a kernel does, when
// the tensor reaches it (a rank outside 0..PTO_MAX_RANK keeps its number and has no shape).
PTO_API pto_tensor pto_tensor_dense(void *data, pto_dtype dtype, int rank, const int64_t *shape);
PTO_API int64_t pto_tensor_elements(const pto_tensor *t);     // product of the extents; -1 if invalid or above 2^63-1
PTO_API int pto_tensor_is_dense(const pto_tensor *t);         // row-major without gaps (extents of 0 and 1 have no stride)

// ---- contexts -------------------------------------------------------------------------------------------------------

typedef struct pto_context pto_context;

// How tasks reach workers. AUTO: the grid's own mode. A grid with offsets runs in WAVE (or SERIAL) whatever is asked
// for; a grid without, asked for WAVE, runs DYNAMIC; a grid that says AUTO runs WAVE with offsets and STATIC without.
// One task or one worker is always SERIAL. Results do not depend on any of this.
typedef enum {
    PTO_MODE_AUTO,
    PTO_MODE_SERIAL,         // by the caller, in lexicographic order
    PTO_MODE_STATIC,         // one contiguous range of tasks per worker, the same in every region: first touch pays
    PTO_MODE_DYNAMIC,        // from a shared counter by whoever is free
    PTO_MODE_WAVE,           // each task as soon as those it waits for are done
} pto_mode;

typedef enum {
    PTO_BIND_NONE,           // leave threads where they are (OMP_PROC_BIND and OMP_PLACES still apply)
    PTO_BIND_NODE,           // workers, in order, spread over the NUMA nodes, each free within its node
    PTO_BIND_CORE,           // workers, in order, one per core, spread over the NUMA nodes
} pto_bind;

typedef enum {
    PTO_POOL_DEFAULT,        // OpenMP if the runtime was built with it, otherwise serial
    PTO_POOL_OPENMP,         // an error where the runtime was built without it
    PTO_POOL_SERIAL,
} pto_pool;

// A log line (PTO_OK) or an error as it is recorded. Called by one thread at a time per context; `text` has no newline
// and is valid during the call. Must not call back into the context.
typedef void (*pto_log)(void *user, pto_status status, const char *text);

// All zero is the default. `threads`: 1..PTO_MAX_WORKERS workers at most; 0: PTO_NUM_THREADS if set, otherwise one per
// core that affinity and the cgroup allow (OMP_NUM_THREADS may lower this, for the OpenMP pool).
typedef struct pto_options {
    int threads;
    pto_mode mode;           // overrides what the compiler chose, for every grid; PTO_MODE_AUTO: does not
    pto_bind bind;
    pto_pool pool;
    pto_log log;             // NULL: log lines go to stderr, errors only to pto_context_error
    void *log_user;
} pto_options;

// A new context; NULL options are the default ones. NULL only if there is no memory. If an option or PTO_NUM_THREADS is
// out of range, pto_context_error says so at once and every call with the context returns PTO_ERR_ARGUMENT.
PTO_API pto_context *pto_context_new(const pto_options *options);
PTO_API void pto_context_free(pto_context *ctx);              // NULL is fine; not while a call uses it

// The text of the last error of a call with this context, "" if that call succeeded. NULL: of the last call of this
// thread that was made without a context or was turned away with PTO_ERR_BUSY. Valid until the next call.
PTO_API const char *pto_context_error(const pto_context *ctx);

// Makes room for a workspace of `bytes` now, so that no later call that needs up to this much allocates.
PTO_API pto_status pto_context_reserve(pto_context *ctx, size_t bytes);
PTO_API void pto_context_trim(pto_context *ctx);              // gives kept memory back; a later call allocates anew

// The host application's own memory, for all that the runtime takes for calls with this context: workspaces, counters of waves, what
// the model of an accelerator keeps. `allocate` gives `bytes` bytes with undefined contents, a multiple of `alignment`, which is a
// power of two; or NULL, and the call returns PTO_ERR_MEMORY. `release` takes them back with the same number. Both are called by the
// thread that calls the runtime, never by workers; freeing the context is the last time. What was kept is given back where it
// came from. Both NULL: aligned_alloc and free again. PTO_ERR_MEMORY: nothing has changed.
typedef void *(*pto_allocate)(void *user, size_t alignment, size_t bytes);
typedef void (*pto_release)(void *user, void *p, size_t bytes);
PTO_API pto_status pto_context_set_memory(pto_context *ctx, pto_allocate allocate, pto_release release, void *user);

// The host application's own pool. `parallel_for(user, n, body, arg)` calls body(arg, w) once for each w in 0..n-1, in
// any order and on any threads, preferably at the same time, and returns when all have returned. n <= workers. A call
// too few or too many is tolerated (what is left is run by the caller). NULL goes back to the pool of the options.
typedef void (*pto_parallel_for)(void *user, int n, void (*body)(void *arg, int worker), void *arg);
PTO_API pto_status pto_context_set_pool(pto_context *ctx, pto_parallel_for parallel_for, void *user, int workers);

// Touches every page of fresh memory once without changing it, each worker the part that a static grid over this memory
// gives it, so that on a NUMA machine pages lie where they are used. NULL context: a temporary one.
PTO_API pto_status pto_first_touch(pto_context *ctx, void *data, size_t bytes);

// What workers did, as it is over. Times are nanoseconds of CLOCK_MONOTONIC. The rest of a WORKER's time that is neither TASK
// nor WAIT went into taking tasks.
typedef enum {
    PTO_RECORD_REGION,       // a grid, by the thread that called; `workers`, `mode`
    PTO_RECORD_WORKER,       // one worker's part of a grid
    PTO_RECORD_TASK,
    PTO_RECORD_WAIT,         // no task was ready (PTO_MODE_WAVE)
} pto_record_kind;

typedef struct pto_record {
    pto_record_kind kind;
    const struct pto_grid *grid;   // valid during the callback; its name longer
    pto_mode mode;           // in which it ran
    int workers;             // that it asked for
    int worker;              // REGION: 0
    int64_t region, task;    // the grid's number within the call; TASK: its number in the grid, row by row, else -1
    int64_t begin, end;
} pto_record;

// Called by the worker that it is about, by several at the same time: records of one worker never overlap in time. It must
// not call back into the context.
typedef void (*pto_recorder)(void *user, const pto_record *record);

// Records the grids of the calls that follow. NULL: no longer. Off, it costs nothing; on, two readings of the clock for a task.
PTO_API pto_status pto_context_record(pto_context *ctx, pto_recorder recorder, void *user);

// ---- DLPack ---------------------------------------------------------------------------------------------------------
// The structures are those of DLPack's own header; ptort/dlpack.h declares them for programs that do not have it.

struct DLManagedTensor;
struct DLManagedTensorVersioned;

// A view `out` of a DLPack tensor in CPU memory. No copy, no change of owner: call m->deleter when `out` is no longer
// used. Errors: PTO_ERR_NULL, PTO_ERR_ARGUMENT (another device, major version above 1), PTO_ERR_DTYPE (a type or lanes
// that pto_dtype lacks), PTO_ERR_RANK. The second sets *read_only (may be NULL) from the tensor's flags.
PTO_API pto_status pto_from_dlpack(pto_context *ctx, const struct DLManagedTensor *m, pto_tensor *out);
PTO_API pto_status pto_from_dlpack_versioned(pto_context *ctx, const struct DLManagedTensorVersioned *m, pto_tensor *out, int *read_only);

// A DLPack tensor over the same memory; NULL if there is no memory or `t` is not valid. The receiver calls its deleter
// once, which calls release(owner) (if release is not NULL) and frees the structure.
PTO_API struct DLManagedTensor *pto_to_dlpack(const pto_tensor *t, void (*release)(void *owner), void *owner);
PTO_API struct DLManagedTensorVersioned *pto_to_dlpack_versioned(const pto_tensor *t, int read_only, void (*release)(void *owner), void *owner);

// ---- what emitted C says about a kernel -----------------------------------------------------------------------------
// For tools that load it: `const pto_kernel NAME_kernel` (pto(5) says what C calls a kernel whose name it cannot have).

typedef enum { PTO_PARAM_DIM, PTO_PARAM_SCALAR, PTO_PARAM_TENSOR, PTO_PARAM_OUTPUT, PTO_PARAM_SCALAR_OUTPUT } pto_param_kind;
typedef struct { const char *name; pto_param_kind kind; pto_dtype dtype; int rank; const char *shape; } pto_param;   // shape: "[M, N+1]"
typedef struct pto_kernel {
    const char *name, *target;                                            // "x86-64-v3"; "generic,x86-64-v3": it chooses at each call
    int nparams;                                                          // inputs in order, then outputs in order
    const pto_param *params;
    // args[i]: DIM int64_t *; SCALAR(_OUTPUT) a pointer to the element; TENSOR, OUTPUT pto_tensor *.
    pto_status (*call)(pto_context *ctx, void *const *args);
    size_t (*workspace)(pto_context *ctx, void *const *args);             // bytes that a call with these arguments needs
} pto_kernel;
// The C signature beside it: pto_status NAME(pto_context *ctx, inputs..., outputs...) with `int64_t` for an int
// parameter, the C element type for a scalar, `const pto_tensor *` for tensors and a pointer to the C element type for
// scalar outputs.

// ---- what emitted C calls -------------------------------------------------------------------------------------------

// One parallel region: a grid of tasks. With `offsets`, task t starts when t - offset is done for each offset whose
// result lies in the grid (lexicographically positive); without, tasks are independent.
typedef struct pto_grid {
    const char *name;            // the equations it computes, for profiles
    int rank;                    // 1..4
    int64_t count[4];            // 0 is legal: no task. At most 2^62 tasks
    pto_mode mode;               // what the compiler chose; a context may override it
    int max_workers;             // 0: no bound
    int noffsets;
    const int64_t (*offsets)[4]; // a worker goes on along the first one when it can: put the one that reuses most first
} pto_grid;

// Runs one task. `worker` is 0..pto_workers-1; two tasks with the same worker never run at the same time.
typedef void (*pto_task)(void *frame, int worker, const int64_t index[4]);

// Begins a kernel call. *ctx NULL: replaced by a temporary context, which pto_leave frees. On anything but PTO_OK return
// it at once, without pto_leave: PTO_ERR_BUSY (in use by another call), PTO_ERR_ARGUMENT (bad option or environment),
// PTO_ERR_MEMORY. `kernel` prefixes every message.
PTO_API pto_status pto_enter(pto_context **ctx, const char *kernel);
// Ends it. Returns the first fault if there was one, else `status`. The workspace is no longer valid.
PTO_API pto_status pto_leave(pto_context *ctx, pto_status status);
// How many workers a region may use at most; does not change between pto_enter and pto_leave. Outside, and for NULL:
// what a call that began now would get.
PTO_API int pto_workers(const pto_context *ctx);
// 64-byte aligned memory until pto_leave, undefined contents. Several calls give distinct memory. Kept for the next
// kernel call: no allocation once the context has seen the largest one. NULL: no memory (the error is recorded; return
// pto_leave(ctx, PTO_ERR_MEMORY)). 0 bytes gives a valid pointer. Not from within a task.
PTO_API void *pto_workspace(pto_context *ctx, size_t bytes);
// Runs every task of the grid exactly once and returns when all are done. What a task wrote is visible to the tasks that
// wait for it and to the caller. Correct for any number of threads that the pool delivers. Errors, all before any task
// runs: PTO_ERR_ARGUMENT (rank, counts, offsets), PTO_ERR_BUSY (called from a task of the same context).
PTO_API pto_status pto_run(pto_context *ctx, const pto_grid *grid, pto_task task, void *frame);
// Records a fault; tasks go on. The lowest site wins, then the earliest region, the lowest task, the first in that task,
// so that the result does not depend on timing. Message: for PTO_ERR_BOUNDS "KERNEL: TEXT: index VALUE is outside an
// extent of BOUND", for PTO_ERR_DIVIDE "KERNEL: TEXT: division by zero", otherwise "KERNEL: TEXT (VALUE, BOUND)". Any thread
// that runs a task, or the caller outside regions. `text` may be static or not: it is copied.
PTO_API void pto_fault(pto_context *ctx, pto_status status, int site, const char *text, int64_t value, int64_t bound);
// The same, in an element of the equation that `where` names: n subscripts of type int64_t follow. TEXT above is "WHERE[i, j]: text",
// or "WHERE[i, j]" where text is "".
PTO_API void pto_fault_at(pto_context *ctx, pto_status status, int site, const char *where, const char *text, int64_t value, int64_t bound, int n, ...);
// The same, for a fault in what the element `name` of `file` needs. `code` says which: (line * 1024 + column) * 4 + kind, where kind
// is 1 for a division by zero and 2 for a read out of bounds.
PTO_API void pto_fault_needed(pto_context *ctx, int site, const char *file, const char *name, int64_t code, int n, ...);
// Records "KERNEL: message" and returns `status`. ctx NULL: per thread.
PTO_API pto_status pto_error(pto_context *ctx, pto_status status, const char *fmt, ...) PTO_PRINTF(3, 4);
// One log line, at most 1023 bytes, from any thread; lines never mix.
PTO_API void pto_logf(pto_context *ctx, const char *fmt, ...) PTO_PRINTF(2, 3);

// Entry checks. Each returns PTO_OK or records a message that names kernel, tensor, what is there and what was expected.
// `kernel` may be NULL: then the name given to pto_enter.
enum { PTO_CHECK_OUTPUT = 1 };   // no stride of 0 where the extent is above 1, and no two elements in one place
// Null, dtype, rank, extents (>= 0, each at most 2^62, bytes below 2^63), strides (all addresses representable), data (non-null unless
// empty, aligned to its element). An output's strides must be nested: sorted by size, each at least the span of the
// ones before, which is every layout that slicing, reversing and transposing give.
PTO_API pto_status pto_check_tensor(pto_context *ctx, const char *kernel, const char *name, const pto_tensor *t, pto_dtype dtype, int rank, unsigned flags);
// Extent `got` of axis `axis` of tensor `name` must be `expected`, the value of `expression` ("N+1").
PTO_API pto_status pto_check_extent(pto_context *ctx, const char *kernel, const char *name, int axis, int64_t got, const char *expression, int64_t expected);
// The same; `from` says which arguments the names in the expression come from, "N is dimension 0 of `x`", or is NULL.
PTO_API pto_status pto_check_extent_of(pto_context *ctx, const char *kernel, const char *name, int axis, int64_t got, const char *expression, int64_t expected,
                                       const char *from);
// `out` must not share an element with `in` (which may be another output). Same data, element size, shape and strides is
// fine if elementwise_ok. Tensors whose byte ranges meet are still fine if their strides prove that no element is shared
// (left and right half of one matrix). Both must have passed pto_check_tensor.
PTO_API pto_status pto_check_overlap(pto_context *ctx, const char *kernel, const char *in_name, const pto_tensor *in, const char *out_name, const pto_tensor *out, int elementwise_ok);
// The same for each output with all inputs and with the outputs before it: `all` is the inputs, then the outputs. `same` is
// the pairs of positions that may be the same elements (elementwise_ok).
typedef struct pto_named_tensor { const char *name; const pto_tensor *tensor; } pto_named_tensor;
PTO_API pto_status pto_check_overlaps(pto_context *ctx, const char *kernel, int ninputs, int noutputs, const pto_named_tensor *all, int nsame, const int (*same)[2]);
// The kernel's assumption `text` ("M >= 3, N > M") must hold; the message lists the `count` names with their values.
PTO_API pto_status pto_check_where(pto_context *ctx, const char *kernel, int holds, const char *text, int count, const char *const *names, const int64_t *values);
// `text` ("i + 2*S") was found not to fit 64 bits: records so, with the same list, and returns PTO_ERR_OVERFLOW.
PTO_API pto_status pto_check_exact(pto_context *ctx, const char *kernel, const char *text, int count, const char *const *names, const int64_t *values);

// Copies a strided tensor to a dense row-major buffer of its elements, or back. In parallel between pto_enter and
// pto_leave, by the caller otherwise. `t` has passed pto_check_tensor (as an output, for unpack); no overlap.
PTO_API void pto_pack(pto_context *ctx, const pto_tensor *t, void *dense);
PTO_API void pto_unpack(pto_context *ctx, const void *dense, const pto_tensor *t);

// `t` itself when neighbours along the last dimension lie side by side (stride 1, or no neighbour), else a dense copy in
// the workspace: of its elements when `input`, unset otherwise. Then `_done` writes an output's copy back to `t`.
// PTO_ERR_MEMORY is recorded. Between pto_enter and pto_leave; `t` has passed pto_check_tensor.
PTO_API pto_status pto_unit_stride(pto_context *ctx, const pto_tensor *t, int input, pto_tensor *unit);
// The same, but `t` itself only when it is dense, row-major without gaps.
PTO_API pto_status pto_dense(pto_context *ctx, const pto_tensor *t, int input, pto_tensor *dense);
PTO_API void pto_unit_stride_done(pto_context *ctx, const pto_tensor *t, const pto_tensor *unit);

// ---- the machine ----------------------------------------------------------------------------------------------------

// What this processor can do, and the operating system lets programs do: a set of the features in ptort/cpu.h. Found out
// once; then it costs a few nanoseconds. Nothing (0) on processors other than x86-64 and 64-bit Arm.
PTO_API uint64_t pto_cpu(void);

// `struct hwloc_topology *` is hwloc_topology_t. NULL stands for this machine; a topology that is given must be loaded and
// stays the caller's. Affinity and cgroup count where the topology is this system's (hwloc_topology_is_thissystem).
struct hwloc_topology;

#define PTO_MAX_CACHES 8
typedef struct pto_cache {
    int level;               // 1..5; data or unified
    int count;               // how many of them
    int cores;               // cores that share one
    int line;                // bytes; 0: unknown
    int64_t bytes;           // of one
} pto_cache;

typedef struct pto_topology {
    int packages, nodes, cores, pus;        // of the machine
    int allowed_cores, allowed_pus, allowed_nodes;   // what affinity and cpuset leave
    int quota;                              // CPUs that the cgroup's bandwidth allows, rounded up; 0: no limit
    int threads;                            // the default number of workers without environment: min(allowed_cores, quota)
    int ncaches;
    pto_cache caches[PTO_MAX_CACHES];       // from the smallest level
} pto_topology;

// PTO_ERR_ARGUMENT if the machine cannot be read (text: pto_context_error(NULL)).
PTO_API pto_status pto_topology_query(struct hwloc_topology *topology, pto_topology *out);
// Writes a text of several lines for people (`ptoc info`) like snprintf: at most `size` bytes with the final 0, returns
// the length of the whole. Lines that begin with "warning: " name what holds the threads down: affinity, cgroup,
// PTO_NUM_THREADS, OMP_NUM_THREADS, OMP_THREAD_LIMIT, OMP_DYNAMIC.
PTO_API size_t pto_topology_describe(struct hwloc_topology *topology, char *text, size_t size);
// The operating system's numbers of the processing units on which worker `worker` of `workers` runs under `bind`.
// Writes at most `max` of them, ascending, and returns how many there are (0: not bound, or bad arguments).
PTO_API int pto_topology_place(struct hwloc_topology *topology, pto_bind bind, int worker, int workers, int *pus, int max);

#ifdef __cplusplus
}
#endif
#endif
