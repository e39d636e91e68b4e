// The checks that a kernel makes on entry, before it writes anything.
//
// Overlap is decided exactly: two elements share a byte if sum over the strides of stride * (difference of indices) equals
// the distance of the two tensors, each difference within its bounds. The search goes from the largest stride down and
// keeps only differences that the smaller strides can still make good, which leaves one or two per dimension for real
// layouts; strange ones run into a budget and count as overlap.
//
// Test: tests/unit/test_runtime_check.c

#include "context.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Like pto_error, with the kernel's name as an argument; NULL: the name given to pto_enter.
PTO_PRINTF(4, 5)
static pto_status check_fail(pto_context *ctx, const char *kernel, pto_status status, const char *fmt, ...) {
    char text[TEXT_SIZE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (kernel == NULL)
        return pto_error(ctx, status, "%s", text);
    char whole[TEXT_SIZE];
    int n = snprintf(whole, sizeof whole, "%s: ", kernel);
    if (n >= 0 && n < (int)sizeof whole)
        snprintf(whole + n, sizeof whole - (size_t)n, "%s", text);
    context_record(ctx, status, whole);
    return status;
}

// ---- one tensor -----------------------------------------------------------------------------------------------------

// The bytes that a tensor's elements lie in, relative to its data: low <= 0 < high. False if they do not fit an int64_t.
static bool byte_range(const pto_tensor *t, int64_t *low, int64_t *high) {
    int64_t size = (int64_t)pto_dtype_size(t->dtype), span;
    *low = 0;
    *high = size;
    for (int d = 0; d < t->rank; d++) {
        if (__builtin_mul_overflow(t->shape[d] - 1, t->stride[d], &span) || __builtin_mul_overflow(span, size, &span))
            return false;
        if (__builtin_add_overflow(span < 0 ? *low : *high, span, span < 0 ? low : high))
            return false;
    }
    return true;
}

static bool addresses_exist(const pto_tensor *t) {
    int64_t low, high;
    if (!byte_range(t, &low, &high))
        return false;
    uintptr_t data = (uintptr_t)t->data, below = (uintptr_t)0 - (uintptr_t)low, above = (uintptr_t)high;
    return below < data && above <= UINTPTR_MAX - data;
}

static uint64_t magnitude(int64_t x) { return x < 0 ? (uint64_t)0 - (uint64_t)x : (uint64_t)x; }

// Every two elements in different places: sorted by size, each stride is at least the span of the smaller ones.
static bool strides_nest(const pto_tensor *t) {
    int order[PTO_MAX_RANK], n = 0;
    for (int d = 0; d < t->rank; d++) {
        if (t->shape[d] == 1)
            continue;
        int at = n++;
        for (; at > 0 && magnitude(t->stride[order[at - 1]]) > magnitude(t->stride[d]); at--)
            order[at] = order[at - 1];
        order[at] = d;
    }
    uint64_t span = 1;                                       // cannot overflow: byte_range did not
    for (int i = 0; i < n; i++) {
        uint64_t stride = magnitude(t->stride[order[i]]);
        if (stride < span)
            return false;
        span += stride * (uint64_t)(t->shape[order[i]] - 1);
    }
    return true;
}

static pto_status check_layout(pto_context *ctx, const char *kernel, const char *name, const pto_tensor *t, unsigned flags) {
    size_t size = pto_dtype_size(t->dtype);
    if (t->data == NULL)
        return check_fail(ctx, kernel, PTO_ERR_NULL, "the data of `%s` is NULL", name);
    if ((uintptr_t)t->data % size != 0)
        return check_fail(ctx, kernel, PTO_ERR_ALIGN, "the data of `%s` is not aligned to its elements of %zu bytes", name, size);
    if (!addresses_exist(t))
        return check_fail(ctx, kernel, PTO_ERR_STRIDE, "the strides of `%s` leave the address space", name);
    if ((flags & PTO_CHECK_OUTPUT) == 0)
        return PTO_OK;
    for (int d = 0; d < t->rank; d++)
        if (t->stride[d] == 0 && t->shape[d] > 1)
            return check_fail(ctx, kernel, PTO_ERR_STRIDE, "output `%s` has stride 0 in dimension %d", name, d);
    if (!strides_nest(t))
        return check_fail(ctx, kernel, PTO_ERR_OVERLAP, "output `%s` overlaps itself: its strides put two elements in one place", name);
    return PTO_OK;
}

// So that a little more than an extent still is a number (compiler/ir/value_range.h counts on it).
#define LARGEST_EXTENT (INT64_C(1) << 62)

pto_status pto_check_tensor(pto_context *ctx, const char *kernel, const char *name, const pto_tensor *t, pto_dtype dtype, int rank, unsigned flags) {
    if (t == NULL)
        return check_fail(ctx, kernel, PTO_ERR_NULL, "`%s` is NULL", name);
    if (t->dtype != dtype)
        return check_fail(ctx, kernel, PTO_ERR_DTYPE, "`%s` has elements of type %s: expected %s", name, pto_dtype_name(t->dtype), pto_dtype_name(dtype));
    if (t->rank != rank)
        return check_fail(ctx, kernel, PTO_ERR_RANK, "`%s` has rank %d: expected %d", name, (int)t->rank, rank);
    if (rank < 0 || rank > PTO_MAX_RANK)
        return check_fail(ctx, kernel, PTO_ERR_RANK, "`%s` has rank %d: at most %d", name, rank, PTO_MAX_RANK);
    for (int d = 0; d < rank; d++)
        if (t->shape[d] < 0)
            return check_fail(ctx, kernel, PTO_ERR_SHAPE, "`%s` has extent %" PRId64 " in dimension %d", name, t->shape[d], d);
        else if (t->shape[d] > LARGEST_EXTENT)
            return check_fail(ctx, kernel, PTO_ERR_SHAPE, "`%s` has extent %" PRId64 " in dimension %d: at most 2^62", name, t->shape[d], d);
    int64_t elements = pto_tensor_elements(t);
    if (elements < 0 || elements > INT64_MAX / (int64_t)pto_dtype_size(dtype))
        return check_fail(ctx, kernel, PTO_ERR_SHAPE, "`%s` has more bytes than an address can count", name);
    return elements == 0 ? PTO_OK : check_layout(ctx, kernel, name, t, flags);
}

pto_status pto_check_extent(pto_context *ctx, const char *kernel, const char *name, int axis, int64_t got, const char *expression, int64_t expected) {
    return pto_check_extent_of(ctx, kernel, name, axis, got, expression, expected, NULL);
}

pto_status pto_check_extent_of(pto_context *ctx, const char *kernel, const char *name, int axis, int64_t got, const char *expression, int64_t expected, const char *from) {
    if (got == expected)
        return PTO_OK;
    char value[24];
    snprintf(value, sizeof value, "%" PRId64, expected);
    bool literal = expression == NULL || strcmp(expression, value) == 0;
    return check_fail(ctx, kernel, PTO_ERR_SHAPE, "`%s` has extent %" PRId64 " in dimension %d: expected %s%s%s%s%s", name, got, axis,
                      literal ? "" : expression, literal ? "" : " = ", value, from != NULL ? ", where " : "", from != NULL ? from : "");
}

// ---- two tensors ----------------------------------------------------------------------------------------------------

enum { MAX_TERMS = 2 * PTO_MAX_RANK + 1, SEARCH_BUDGET = 4096 };

// One term of the sum: stride * x with low <= x <= high. Byte offsets within the elements are a term of stride 1.
typedef struct Term {
    int64_t stride, low, high;
} Term;

typedef struct Search {
    Term term[MAX_TERMS];                                    // by stride, largest first
    int n, budget;
} Search;

// Adds stride * (x - y) with 0 <= x < a, 0 <= y < b to the term of that stride.
static void add_term(Search *s, int64_t stride, int64_t a, int64_t b) {
    int at = 0;
    while (at < s->n && s->term[at].stride > stride)
        at++;
    if (at == s->n || s->term[at].stride != stride) {
        for (int i = s->n++; i > at; i--)
            s->term[i] = s->term[i - 1];
        s->term[at] = (Term){.stride = stride};
    }
    s->term[at].high += a - 1;
    s->term[at].low -= b - 1;
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

// Can the terms from `at` on sum up to `want`?
static bool solvable(Search *s, int at, int64_t want) {
    if (--s->budget < 0)
        return true;
    int64_t low = 0, high = 0;                               // what the terms after `at` can make
    for (int i = at + 1; i < s->n; i++) {
        low += s->term[i].stride * s->term[i].low;
        high += s->term[i].stride * s->term[i].high;
    }
    if (at == s->n)
        return want == 0;
    const Term *t = &s->term[at];
    int64_t first = -floor_div(high - want, t->stride), last = floor_div(want - low, t->stride);
    for (int64_t x = first > t->low ? first : t->low; x <= last && x <= t->high; x++)
        if (solvable(s, at + 1, want - x * t->stride))
            return true;
    return false;
}

static bool share_elements(const pto_tensor *a, uintptr_t a_low, const pto_tensor *b, uintptr_t b_low) {
    Search s = {.budget = SEARCH_BUDGET};
    int64_t a_size = (int64_t)pto_dtype_size(a->dtype), b_size = (int64_t)pto_dtype_size(b->dtype);
    add_term(&s, 1, a_size, b_size);
    for (int d = 0; d < a->rank; d++)
        if (a->shape[d] > 1 && a->stride[d] != 0)
            add_term(&s, (int64_t)magnitude(a->stride[d]) * a_size, a->shape[d], 1);
    for (int d = 0; d < b->rank; d++)
        if (b->shape[d] > 1 && b->stride[d] != 0)
            add_term(&s, (int64_t)magnitude(b->stride[d]) * b_size, 1, b->shape[d]);
    return solvable(&s, 0, (int64_t)(b_low - a_low));
}

static bool same_elements(const pto_tensor *a, const pto_tensor *b) {
    if (a->data != b->data || pto_dtype_size(a->dtype) != pto_dtype_size(b->dtype) || a->rank != b->rank)
        return false;
    for (int d = 0; d < a->rank; d++)
        if (a->shape[d] != b->shape[d] || (a->shape[d] > 1 && a->stride[d] != b->stride[d]))
            return false;
    return true;
}

static bool tensors_overlap(const pto_tensor *a, const pto_tensor *b) {
    int64_t al, ah, bl, bh;
    if (pto_tensor_elements(a) == 0 || pto_tensor_elements(b) == 0 || !byte_range(a, &al, &ah) || !byte_range(b, &bl, &bh))
        return false;
    uintptr_t a_low = (uintptr_t)a->data + (uintptr_t)al, a_high = (uintptr_t)a->data + (uintptr_t)ah;
    uintptr_t b_low = (uintptr_t)b->data + (uintptr_t)bl, b_high = (uintptr_t)b->data + (uintptr_t)bh;
    if (a_high <= b_low || b_high <= a_low)
        return false;
    if (a_high - a_low > UINTPTR_MAX / 8 || b_high - b_low > UINTPTR_MAX / 8)
        return true;                                         // the sums below would not fit
    return share_elements(a, a_low, b, b_low);
}

pto_status pto_check_overlap(pto_context *ctx, const char *kernel, const char *in_name, const pto_tensor *in, const char *out_name, const pto_tensor *out, int elementwise_ok) {
    if (in == NULL || out == NULL)
        return check_fail(ctx, kernel, PTO_ERR_NULL, "`%s` is NULL", in == NULL ? in_name : out_name);
    if ((elementwise_ok && same_elements(in, out)) || !tensors_overlap(in, out))
        return PTO_OK;
    return check_fail(ctx, kernel, PTO_ERR_OVERLAP, "`%s` and output `%s` overlap in memory", in_name, out_name);
}

static int may_be_same(int a, int b, int nsame, const int (*same)[2]) {
    for (int i = 0; i < nsame; i++)
        if (same[i][0] == a && same[i][1] == b)
            return 1;
    return 0;
}

pto_status pto_check_overlaps(pto_context *ctx, const char *kernel, int ninputs, int noutputs, const pto_named_tensor *all, int nsame, const int (*same)[2]) {
    if (all == NULL || (nsame > 0 && same == NULL))
        return check_fail(ctx, kernel, PTO_ERR_NULL, "the tensors are NULL");
    for (int out = ninputs; out < ninputs + noutputs; out++)
        for (int in = 0; in < out; in++) {
            if (all[in].tensor != NULL && all[out].tensor != NULL && !tensors_overlap(all[in].tensor, all[out].tensor))
                continue;
            pto_status s = pto_check_overlap(ctx, kernel, all[in].name, all[in].tensor, all[out].name, all[out].tensor, may_be_same(in, out, nsame, same));
            if (s != PTO_OK)
                return s;
        }
    return PTO_OK;
}

// ---- assumptions ----------------------------------------------------------------------------------------------------

// "but M = 3, N = 4", behind `before`; nothing without names.
static void list_sizes(char *list, size_t size, const char *before, int count, const char *const *names, const int64_t *values) {
    size_t n = 0;
    *list = 0;
    for (int i = 0; names != NULL && values != NULL && i < count && n < size; i++)
        n += (size_t)snprintf(list + n, size - n, "%s%s = %" PRId64, i > 0 ? ", " : before, names[i], values[i]);
}

pto_status pto_check_where(pto_context *ctx, const char *kernel, int holds, const char *text, int count, const char *const *names, const int64_t *values) {
    if (holds)
        return PTO_OK;
    char list[TEXT_SIZE / 2];
    list_sizes(list, sizeof list, ", but ", count, names, values);
    return check_fail(ctx, kernel, PTO_ERR_WHERE, "needs %s%s", text, list);
}

pto_status pto_check_exact(pto_context *ctx, const char *kernel, const char *text, int count, const char *const *names, const int64_t *values) {
    char list[TEXT_SIZE / 2];
    list_sizes(list, sizeof list, ", for ", count, names, values);
    return check_fail(ctx, kernel, PTO_ERR_OVERFLOW, "%s does not fit 64 bits%s", text, list);
}
