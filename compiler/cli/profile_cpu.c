// A profile of a CPU: what the runtime records of grids, workers, tasks and waits (pto_context_record), and the processor's
// counters around the call. The call is made twice; the second one is the profile: pool, workspace and pages are there.
//
// Workers write their records side by side, each into a list of its own; everything else happens before and after.
#include "cli/profile.h"

#include "machine/machine.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct { pto_record *at; pto_grid *grid; size_t n, room; } Records;       // grid: of regions

typedef struct {
    Profile *p;
    Records regions, *workers;
    int nworkers;
    int64_t begin;
} Recorder;

// ---- during the call ----

// Without memory, records are left out.
static bool grow(Records *r, bool grids)
{
    size_t room = r->room ? 2 * r->room : 256;
    pto_record *at = realloc(r->at, room * sizeof *at);
    r->at = at ? at : r->at;
    pto_grid *grid = grids ? realloc(r->grid, room * sizeof *grid) : NULL;
    r->grid = grid ? grid : r->grid;
    if (!at || (grids && !grid))
        return false;
    r->room = room;
    return true;
}

static void on_record(void *user, const pto_record *e)
{
    Recorder *r = user;
    bool region = e->kind == PTO_RECORD_REGION;
    if (!region && (e->worker < 0 || e->worker >= r->nworkers))
        return;
    Records *to = region ? &r->regions : &r->workers[e->worker];
    if (to->n == to->room && !grow(to, region))
        return;
    if (region)
        to->grid[to->n] = *e->grid;              // the caller's own ends with its block
    to->at[to->n++] = *e;
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// ---- afterwards ----

static void add_grid(Recorder *r, const pto_record *e, const pto_grid *g)
{
    static const char *const modes[] = {"auto", "serial", "static", "dynamic", "wave"};
    Profile *p = r->p;
    int before = p->programs.n, program = profile_program(p, NULL, g->name ? g->name : p->call->kernel->name);
    if (p->programs.n > before)
        source_grid(p, program, g->name ? g->name : "");
    Launch l = {.name = p->programs.at[program].name, .mode = modes[e->mode], .rank = g->rank, .noffsets = g->noffsets < 16 ? g->noffsets : 16,
                .begin = e->begin - r->begin, .end = e->end - r->begin, .tasks = 1, .program = program};
    memcpy(l.count, g->count, sizeof l.count);
    for (int d = 0; d < g->rank; d++)
        l.tasks *= g->count[d];
    for (int k = 0; k < l.noffsets; k++)
        memcpy(l.offsets[k], g->offsets[k], sizeof l.offsets[k]);
    VEC_PUSH(p->arena, &p->launches, l);
    p->programs.at[program].launches++;
    p->programs.at[program].time += l.end - l.begin;
    p->programs.at[program].tasks += l.tasks;
}

// Regions are numbered from 0 within the call, and recorded in their order; those without tasks leave no gap.
static int launch_of(const Recorder *r, const pto_record *e)
{
    size_t low = 0, high = r->regions.n;
    while (low + 1 < high) {
        size_t middle = (low + high) / 2;
        if (r->regions.at[middle].region <= e->region)
            low = middle;
        else
            high = middle;
    }
    return (int)low;
}

static void add_wait(Profile *p, int cause, int64_t begin, int64_t end)
{
    p->wait[cause] += end - begin;
    curves_add(&p->curves, p->wait_curve[cause], begin, end, end - begin);
}

static void add_task(Recorder *r, int worker, const pto_record *e)
{
    Profile *p = r->p;
    int launch = launch_of(r, e), program = p->launches.at[launch].program;
    int64_t begin = e->begin - r->begin, end = e->end - r->begin;
    int site = p->programs.at[program].sites.n > 0 ? p->programs.at[program].sites.at[0] : -1;
    p->nops++;
    p->ntasks++;
    p->launches.at[launch].busy += end - begin;
    profile_busy(p, worker, site, begin, end);
    add_wait(p, WAIT_ISSUE, begin, end);
    ProfileOp o = {.lane = worker, .site = site, .launch = launch, .task = e->task, .begin = begin, .end = end};
    if (p->ops.n < MOST_OPS)
        VEC_PUSH(p->arena, &p->ops, o);
    if (p->traced >= p->call->options->events) {
        p->untraced++;
        return;
    }
    p->traced++;
    const Site *s = site >= 0 ? &p->sites.at[site] : NULL;
    char args[256];
    snprintf(args, sizeof args, "\"task\":%lld,\"launch\":%d,\"line\":%d", (long long)e->task, launch, s ? s->line : 0);
    trace_slice(p, 1, worker + 1, p->launches.at[launch].name, begin, end, args);
}

static void add_worker(Recorder *r, int worker)
{
    Profile *p = r->p;
    int64_t inside = 0, tasks = p->wait[WAIT_ISSUE], waits = 0;
    for (size_t k = 0; k < r->workers[worker].n; k++) {
        const pto_record *e = &r->workers[worker].at[k];
        int64_t begin = e->begin - r->begin, end = e->end - r->begin;
        if (e->kind == PTO_RECORD_TASK) {
            add_task(r, worker, e);
        } else if (e->kind == PTO_RECORD_WAIT) {
            add_wait(p, WAIT_TOKEN, begin, end);
            waits += end - begin;
        } else {
            inside += end - begin;
        }
    }
    p->wait[WAIT_DISPATCH] += inside - (p->wait[WAIT_ISSUE] - tasks) - waits;
}

static void touch_tensors(Profile *p)
{
    for (int k = 0; k < p->tensors.n; k++) {
        p->tensors.at[k].first = 0;
        p->tensors.at[k].last = p->total;
    }
}

static void add_bandwidth(Profile *p)
{
    ProfilePath path = {.name = "memory, at least", .lines = 1, .width = p->peak_bytes, .curve = curves_new(&p->curves)};
    for (int k = 0; k < p->launches.n; k++) {
        const Launch *l = &p->launches.at[k];
        const Program *g = &p->programs.at[l->program];
        int64_t bytes = g->time > 0 ? (int64_t)((double)g->bytes * (double)(l->end - l->begin) / (double)g->time) : 0;
        curves_add(&p->curves, path.curve, l->begin, l->end, bytes);
        path.bytes += bytes;
        path.busy += l->end - l->begin;
    }
    VEC_PUSH(p->arena, &p->paths, path);
}

static void settle(Recorder *r)
{
    Profile *p = r->p;
    p->cores = r->nworkers;
    p->clusters = 1;
    for (int w = 0; w < r->nworkers; w++)
        profile_lane(p, "workers", arena_printf(p->arena, "worker %d", w), 0, w);
    for (size_t k = 0; k < r->regions.n; k++)
        add_grid(r, &r->regions.at[k], &r->regions.grid[k]);
    for (int w = 0; w < r->nworkers && r->regions.n > 0; w++)
        add_worker(r, w);
    source_storage(p);
    p->tasks = p->ntasks;
    for (int k = 0; k < p->programs.n; k++)
        p->operations += p->programs.at[k].operations;
    int64_t rest = p->total * r->nworkers - p->wait[WAIT_ISSUE] - p->wait[WAIT_DISPATCH] - p->wait[WAIT_TOKEN];
    p->wait[WAIT_IDLE] = rest > 0 ? rest : 0;
    add_bandwidth(p);
    touch_tensors(p);
}

// ---- what the machine could do ----

enum { COPIED = 16 << 20 };
typedef struct { char *from, *to; } Copied;

static void copy_part(void *frame, int worker, const int64_t index[4])
{
    const Copied *c = frame;
    (void)worker;
    memcpy(c->to + index[0] * COPIED, c->from + index[0] * COPIED, COPIED);
}

// Bytes a nanosecond of a copy by all workers, the best of four.
static double copy_speed(pto_context *ctx, int workers)
{
    Copied c = {malloc((size_t)workers * COPIED), malloc((size_t)workers * COPIED)};
    pto_grid g = {.name = "copy", .rank = 1, .count = {workers}, .mode = PTO_MODE_STATIC};
    double best = 0;
    if (c.from && c.to && pto_enter(&ctx, "copy") == PTO_OK) {
        memset(c.from, 1, (size_t)workers * COPIED);
        for (int k = 0; k < 4; k++) {
            int64_t begin = now();
            pto_run(ctx, &g, copy_part, &c);
            double speed = 2.0 * workers * COPIED / (double)(now() - begin + 1);
            best = speed > best ? speed : best;
        }
        pto_leave(ctx, PTO_OK);
    }
    free(c.from);
    free(c.to);
    return best;
}

// Cycles a nanosecond: what the kernel says is the most, or the current clock.
static double clock_speed(void)
{
    double mhz = 0, khz;
    FILE *f = fopen("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "r");
    if (f && fscanf(f, "%lf", &khz) == 1)
        mhz = khz / 1000;
    if (f)
        fclose(f);
    f = mhz > 0 ? NULL : fopen("/proc/cpuinfo", "r");
    char line[512];
    while (f && mhz == 0 && fgets(line, sizeof line, f))
        if (sscanf(line, "cpu MHz : %lf", &mhz) != 1)
            mhz = 0;
    if (f)
        fclose(f);
    return mhz / 1000;
}

static void find_peaks(Profile *p, int workers)
{
    const char *error = NULL;
    const Machine *m = machine_load(p->arena, arena_printf(p->arena, "%s/targets", p->call->unit.places.data), "native", NULL, &error);
    double lanes = m && m->vector_bytes > 4 ? m->vector_bytes / 4.0 : 1;
    p->peak_operations[0] = workers * lanes * (m && m->fma ? 2 : 1) * 2 * clock_speed();
    p->peak_operations[1] = workers * 2 * clock_speed();
    p->peak_bytes = copy_speed(p->call->context, workers);
    p->peak_note = arena_printf(p->arena, "estimates: %d workers with two vector units for f32%s, and without vectors; bytes: a copy, measured", workers,
                                m && m->fma ? " and fused multiply-add" : "");
}

// ---- the call ----

static int call_recorded(Recorder *r, Counters *counters)
{
    Call *c = r->p->call;
    if (pto_context_record(c->context, on_record, r) != PTO_OK)
        return complain(EXIT_INTERNAL, "%s", pto_context_error(c->context));
    counters_start(counters);
    r->begin = now();
    int code = call_kernel(c);
    r->p->total = now() - r->begin;
    counters_stop(counters, r->p);
    pto_context_record(c->context, NULL, NULL);
    return code;
}

int profile_cpu(Profile *p)
{
    Recorder r = {.p = p};
    Counters counters;
    counters_open(&counters);
    call_touch_outputs(p->call);
    int code = call_kernel(p->call);
    r.nworkers = pto_workers(p->call->context);
    r.workers = calloc((size_t)r.nworkers, sizeof *r.workers);
    if (!r.workers)
        return complain(EXIT_INTERNAL, "out of memory");
    p->hertz = 1e9;
    if (code == 0)
        code = call_recorded(&r, &counters);
    if (code == 0) {
        find_peaks(p, r.nworkers);
        settle(&r);
    }
    free(r.regions.at);
    free(r.regions.grid);
    for (int w = 0; w < r.nworkers; w++)
        free(r.workers[w].at);
    free(r.workers);
    return code;
}
