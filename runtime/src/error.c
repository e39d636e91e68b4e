// Errors, faults and log lines: names and texts of a status, the last error of a context or thread, and the one fault
// that a call reports.
//
// A fault is ordered by (site, region, task, first in the task), never by time. `rank` holds a coarse, saturating form of
// that order in one word, so that a loop in which every element faults is turned away without the lock.
//
// Test: tests/unit/test_runtime.c

#include "context.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Thread_local Place place;
static _Thread_local char thread_error[TEXT_SIZE];

static const struct { const char *name, *text; } statuses[] = {
    [PTO_OK] = {"PTO_OK", "no error"},
    [PTO_ERR_NULL] = {"PTO_ERR_NULL", "a tensor or its data is NULL"},
    [PTO_ERR_RANK] = {"PTO_ERR_RANK", "a tensor has another rank than the kernel expects"},
    [PTO_ERR_SHAPE] = {"PTO_ERR_SHAPE", "a tensor has an extent that the kernel does not expect"},
    [PTO_ERR_DTYPE] = {"PTO_ERR_DTYPE", "a tensor has another element type than the kernel expects"},
    [PTO_ERR_WHERE] = {"PTO_ERR_WHERE", "an assumption of the kernel does not hold"},
    [PTO_ERR_OVERLAP] = {"PTO_ERR_OVERLAP", "an output shares memory with another argument or with itself"},
    [PTO_ERR_STRIDE] = {"PTO_ERR_STRIDE", "a tensor has a stride that the kernel cannot use"},
    [PTO_ERR_BOUNDS] = {"PTO_ERR_BOUNDS", "a data-dependent read is outside its tensor"},
    [PTO_ERR_DIVIDE] = {"PTO_ERR_DIVIDE", "integer division by zero"},
    [PTO_ERR_MEMORY] = {"PTO_ERR_MEMORY", "out of memory"},
    [PTO_ERR_BUSY] = {"PTO_ERR_BUSY", "the context is in use by another call"},
    [PTO_ERR_ARGUMENT] = {"PTO_ERR_ARGUMENT", "an argument, option or environment variable is out of range"},
    [PTO_ERR_ALIGN] = {"PTO_ERR_ALIGN", "the data of a tensor is not aligned to its element"},
    [PTO_ERR_TARGET] = {"PTO_ERR_TARGET", "the kernel was not compiled for a processor like this one"},
    [PTO_ERR_FAULT] = {"PTO_ERR_FAULT", "the program broke a rule of the modelled machine"},
    [PTO_ERR_OVERFLOW] = {"PTO_ERR_OVERFLOW", "an index or size that the kernel computes does not fit 64 bits"},
};

static bool status_known(pto_status s) { return (unsigned)s < sizeof statuses / sizeof *statuses; }
const char *pto_status_name(pto_status s) { return status_known(s) ? statuses[s].name : "?"; }
const char *pto_status_text(pto_status s) { return status_known(s) ? statuses[s].text : "?"; }

// ---- the last error -------------------------------------------------------------------------------------------------

void thread_record(const char *text) { snprintf(thread_error, sizeof thread_error, "%s", text); }

void context_record(pto_context *ctx, pto_status status, const char *text) {
    if (ctx == NULL) {
        thread_record(text);
        return;
    }
    pthread_mutex_lock(&ctx->lock);
    snprintf(ctx->error, sizeof ctx->error, "%s", text);
    if (ctx->options.log != NULL)
        ctx->options.log(ctx->options.log_user, status, ctx->error);
    pthread_mutex_unlock(&ctx->lock);
}

const char *pto_context_error(const pto_context *ctx) {
    if (ctx == NULL)
        return thread_error;
    return ctx->refusal[0] != '\0' ? ctx->refusal : ctx->error;
}

pto_status pto_error(pto_context *ctx, pto_status status, const char *fmt, ...) {
    char text[TEXT_SIZE];
    int n = 0;
    if (ctx != NULL && ctx->kernel != NULL)
        n = snprintf(text, sizeof text, "%s: ", ctx->kernel);
    if (n < 0 || n >= (int)sizeof text)
        n = 0;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text + n, sizeof text - (size_t)n, fmt, args);
    va_end(args);
    context_record(ctx, status, text);
    return status;
}

// ---- faults ---------------------------------------------------------------------------------------------------------

static uint64_t saturated(int64_t x, uint64_t most) { return x < 0 ? 0 : (uint64_t)x < most ? (uint64_t)x : most; }

#define UNKNOWN_BOUND INT64_MIN

enum { TASK_BITS = 32, REGION_BITS = 16, SITE_BITS = 15 };   // 63: below UINT64_MAX

// Monotonic in (site, region, task); *exact tells that equal ranks mean equal keys.
static uint64_t fault_rank(int site, int64_t region, int64_t task, bool *exact) {
    uint64_t most_site = (1u << SITE_BITS) - 1, most_region = (1u << REGION_BITS) - 1, most_task = UINT32_MAX;
    uint64_t s = saturated(site, most_site), r = saturated(region, most_region), t = saturated(task + 1, most_task);
    *exact = s < most_site && r < most_region && t < most_task;
    if (s == most_site)
        r = t = 0;                                           // not comparable below a saturated field
    else if (r == most_region)
        t = 0;
    return s << (REGION_BITS + TASK_BITS) | r << TASK_BITS | t;
}

static bool fault_before(const Fault *f, int site, int64_t region, int64_t task) {
    if (site != f->site)
        return site < f->site;
    if (region != f->region)
        return region < f->region;
    return task < f->task;
}

void fault_clear(Fault *f) { atomic_store_explicit(&f->rank, UINT64_MAX, memory_order_relaxed); }

// False: another fault comes first, as far as the coarse order tells.
static bool fault_may_count(const pto_context *ctx, int site, uint64_t *rank) {
    bool exact;
    *rank = fault_rank(site, ctx->region, place.ctx == ctx ? place.task : -1, &exact);
    uint64_t best = atomic_load_explicit(&ctx->fault.rank, memory_order_relaxed);
    return !(*rank > best || (*rank == best && exact));
}

static void fault_record(pto_context *ctx, uint64_t rank, pto_status status, int site, const char *text, int64_t value, int64_t bound) {
    int64_t task = place.ctx == ctx ? place.task : -1;
    pthread_mutex_lock(&ctx->lock);
    Fault *f = &ctx->fault;
    bool none = atomic_load_explicit(&f->rank, memory_order_relaxed) == UINT64_MAX;
    if (none || fault_before(f, site, ctx->region, task)) {
        f->status = status;
        f->site = site;
        f->region = ctx->region;
        f->task = task;
        f->value = value;
        f->bound = bound;
        snprintf(f->text, sizeof f->text, "%s", text);
        atomic_store_explicit(&f->rank, rank, memory_order_relaxed);
    }
    pthread_mutex_unlock(&ctx->lock);
}

void pto_fault(pto_context *ctx, pto_status status, int site, const char *text, int64_t value, int64_t bound) {
    if (ctx == NULL)
        return;
    if (text == NULL)
        text = "";
    uint64_t rank;
    site = site < 0 ? 0 : site;
    if (fault_may_count(ctx, site, &rank))
        fault_record(ctx, rank, status, site, text, value, bound);
}

// "where[1, 2]: text"
static void element_text(char *to, size_t size, const char *where, const char *text, int n, va_list at) {
    int used = snprintf(to, size, "%s%s", where, n > 0 ? "[" : "");
    for (int i = 0; i < n && used >= 0 && (size_t)used < size; i++)
        used += snprintf(to + used, size - (size_t)used, "%" PRId64 "%s", va_arg(at, int64_t), i + 1 < n ? ", " : "]");
    if (used >= 0 && (size_t)used < size && text[0] != '\0')
        snprintf(to + used, size - (size_t)used, ": %s", text);
}

void pto_fault_at(pto_context *ctx, pto_status status, int site, const char *where, const char *text, int64_t value, int64_t bound, int n, ...) {
    uint64_t rank;
    char whole[TEXT_SIZE / 2];
    site = site < 0 ? 0 : site;
    if (ctx == NULL || !fault_may_count(ctx, site, &rank))
        return;
    va_list at;
    va_start(at, n);
    element_text(whole, sizeof whole, where, text, n, at);
    va_end(at);
    fault_record(ctx, rank, status, site, whole, value, bound);
}

enum { CODE_DIVIDE = 1, CODE_KINDS = 4, CODE_COLUMNS = 1024 };

void pto_fault_needed(pto_context *ctx, int site, const char *file, const char *name, int64_t code, int n, ...) {
    uint64_t rank;
    char where[TEXT_SIZE / 2], whole[TEXT_SIZE / 2];
    site = site < 0 ? 0 : site;
    if (ctx == NULL || !fault_may_count(ctx, site, &rank))
        return;
    int64_t line = code / CODE_KINDS / CODE_COLUMNS, column = code / CODE_KINDS % CODE_COLUMNS;
    if (line > 0)
        snprintf(where, sizeof where, "%s:%" PRId64 ":%" PRId64 ": %s", file, line, column, name);
    else
        snprintf(where, sizeof where, "%s: %s", file, name);
    va_list at;
    va_start(at, n);
    element_text(whole, sizeof whole, where, "", n, at);
    va_end(at);
    fault_record(ctx, rank, code % CODE_KINDS == CODE_DIVIDE ? PTO_ERR_DIVIDE : PTO_ERR_BOUNDS, site, whole, 0, UNKNOWN_BOUND);
}

// Turns the fault of this call, if there was one, into its error.
static pto_status fault_report(pto_context *ctx, pto_status status) {
    const Fault *f = &ctx->fault;
    if (atomic_load_explicit(&f->rank, memory_order_relaxed) == UINT64_MAX)
        return status;
    if (f->status == PTO_ERR_BOUNDS && f->bound == UNKNOWN_BOUND)
        return pto_error(ctx, f->status, "%s: what it reads is out of bounds", f->text);
    if (f->status == PTO_ERR_BOUNDS)
        return pto_error(ctx, f->status, "%s: index %" PRId64 " is outside an extent of %" PRId64, f->text, f->value, f->bound);
    if (f->status == PTO_ERR_DIVIDE)
        return pto_error(ctx, f->status, "%s: division by zero", f->text);
    return pto_error(ctx, f->status, "%s (%" PRId64 ", %" PRId64 ")", f->text, f->value, f->bound);
}

pto_status fault_settle(pto_context *ctx, pto_status status) {
    status = fault_report(ctx, status);
    fault_clear(&ctx->fault);
    return status;
}

// ---- log lines ------------------------------------------------------------------------------------------------------

void pto_logf(pto_context *ctx, const char *fmt, ...) {
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (ctx == NULL || ctx->options.log == NULL) {
        fprintf(stderr, "%s\n", text);
        return;
    }
    pthread_mutex_lock(&ctx->lock);
    ctx->options.log(ctx->options.log_user, PTO_OK, text);
    pthread_mutex_unlock(&ctx->lock);
}
