// The text of pto_topology_describe: the machine in a few lines, and a warning for whatever holds the threads down.
//
// Test: tests/unit/test_runtime_topology.c

#include "pool.h"
#include "topology.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

void text_add(Text *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    int n = t->length < t->size ? vsnprintf(t->text + t->length, t->size - t->length, fmt, args) : vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    t->length += n > 0 ? (size_t)n : 0;
}

// ---- facts ----------------------------------------------------------------------------------------------------------

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

static void add_bytes(Text *out, uint64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int u = 0;
    double x = (double)bytes;
    for (; x >= 1024 && u < 4; u++)
        x /= 1024;
    text_add(out, x == (double)(int64_t)x ? "%.0f %s" : "%.1f %s", x, units[u]);
}

static void describe_caches(Text *out, const pto_topology *f) {
    for (int i = 0; i < f->ncaches; i++) {
        const pto_cache *c = &f->caches[i];
        text_add(out, "L%d cache    %d x ", c->level, c->count);
        add_bytes(out, (uint64_t)c->bytes);
        text_add(out, ", %d core%s each", c->cores, plural(c->cores));
        if (c->line > 0)
            text_add(out, ", %d-byte lines", c->line);
        text_add(out, "\n");
    }
}

void describe_facts(Text *out, const pto_topology *f, uint64_t memory, const char *pus, const char *nodes) {
    text_add(out, "machine     %d package%s, %d NUMA node%s, %d core%s, %d processing unit%s\n", f->packages, plural(f->packages),
             f->nodes, plural(f->nodes), f->cores, plural(f->cores), f->pus, plural(f->pus));
    if (memory > 0) {
        text_add(out, "memory      ");
        add_bytes(out, memory);
        text_add(out, "\n");
    }
    describe_caches(out, f);
    text_add(out, "allowed     %d core%s, processing units %s, NUMA nodes %s\n", f->allowed_cores, plural(f->allowed_cores), pus, nodes);
    if (pool_openmp_built())
        text_add(out, "pool        OpenMP, %d worker%s by default\n", f->threads, plural(f->threads));
    else
        text_add(out, "pool        serial\n");
}

// ---- warnings -------------------------------------------------------------------------------------------------------

// The first number of a list like OMP_NUM_THREADS=4,2; 0 if there is none.
static int first_number(const char *text) {
    char *end;
    long n = text != NULL ? strtol(text, &end, 10) : 0;
    return n > 0 && n <= INT32_MAX ? (int)n : 0;
}

static void warn_number(Text *out, const char *variable, int threads) {
    int n = first_number(getenv(variable));
    if (n > 0 && n < threads)
        text_add(out, "warning: %s=%d holds the threads down to %d of %d\n", variable, n, n, threads);
}

static void warn_environment(Text *out, const pto_topology *f) {
    const char *own = getenv("PTO_NUM_THREADS"), *dynamic = getenv("OMP_DYNAMIC");
    int n = own != NULL ? parse_threads(own) : 0;
    if (own != NULL && own[0] != '\0' && n == 0)
        text_add(out, "warning: PTO_NUM_THREADS=%s is not a number in 1..%d: every kernel call fails\n", own, PTO_MAX_WORKERS);
    else if (n > 0 && n < f->threads)
        text_add(out, "warning: PTO_NUM_THREADS=%d holds the threads down to %d of %d\n", n, n, f->threads);
    if (!pool_openmp_built())
        return;
    if (n == 0)
        warn_number(out, "OMP_NUM_THREADS", f->threads);
    warn_number(out, "OMP_THREAD_LIMIT", n > 0 ? n : f->threads);
    if (dynamic != NULL && (strcasecmp(dynamic, "true") == 0 || first_number(dynamic) > 0))
        text_add(out, "warning: OMP_DYNAMIC=%s lets OpenMP deliver fewer threads than asked for\n", dynamic);
}

void describe_warnings(Text *out, const pto_topology *f, bool here) {
    if (f->allowed_cores < f->cores)
        text_add(out, "warning: %s leaves %d of %d cores\n", here ? "affinity or cpuset" : "the topology", f->allowed_cores, f->cores);
    if (f->quota > 0 && f->quota < f->allowed_cores)
        text_add(out, "warning: the cgroup's CPU limit leaves the time of %d of %d cores\n", f->quota, f->allowed_cores);
    if (!pool_openmp_built())
        text_add(out, "warning: built without OpenMP: kernels run serially unless the host registers a pool\n");
    warn_environment(out, f);
}
