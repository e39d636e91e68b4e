// Chrome's trace events (the JSON form that Perfetto and chrome://tracing open), written as they happen.
//
// By hand and not through libcjson: a call has hundreds of thousands of operations, and a tree of them would take more memory
// than the call itself. A process is a core (a CPU: all workers), a thread a unit or worker. Time stamps are microseconds
// with three digits: a nanosecond of the trace is a cycle of the model, whatever its clock.
#include "cli/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CHIP = 0 };                               // process of what belongs to no core

static FILE *next_event(Profile *p)
{
    if (p->trace)
        fputs(p->first_event ? "\n" : ",\n", p->trace);
    p->first_event = false;
    return p->trace;
}

void trace_begin(Profile *p)
{
    p->first_event = true;
    if (p->trace)
        fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", p->trace);
}

static void put_time(FILE *f, const char *name, int64_t t) { fprintf(f, ",\"%s\":%" PRId64 ".%03d", name, t / 1000, (int)(t % 1000)); }

static void put_head(FILE *f, const char *phase, int process, int thread, int64_t begin)
{
    fprintf(f, "{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", phase, process, thread);
    put_time(f, "ts", begin);
}

void trace_slice(Profile *p, int process, int thread, const char *name, int64_t begin, int64_t end, const char *args)
{
    FILE *f = next_event(p);
    if (!f)
        return;
    put_head(f, "X", process, thread, begin);
    put_time(f, "dur", end - begin);
    fputs(",\"name\":", f);
    json_string(f, name);
    fprintf(f, args ? ",\"args\":{%s}}" : "%s}", args ? args : "");
}

static void put_iteration(FILE *f, const pto_event *e)
{
    const pto_program *program = e->program;
    int n = 0;
    for (int k = 0; k < program->nloops; k++) {
        const pto_loop *l = &program->loops[k];
        int end = l->iv + l->ndigits - PTO_FIRST_DIGIT;
        if (l->first <= e->bundle && e->bundle < l->end && end > n)
            n = end;
    }
    fputs(",\"iteration\":[", f);
    for (int d = 0; d < n; d++)
        fprintf(f, "%s%" PRId64, d ? "," : "", e->iv[PTO_FIRST_DIGIT + d]);
    fputs("]", f);
}

void trace_op(Profile *p, const ProfileOp *o, const pto_event *e, int64_t waited)
{
    if (p->traced >= p->call->options->events) {
        p->untraced++;
        return;
    }
    p->traced++;
    FILE *f = next_event(p);
    if (!f)
        return;
    const Site *s = o->site >= 0 ? &p->sites.at[o->site] : NULL;
    put_head(f, "X", e->core + 1, e->slot + 1, o->begin);
    put_time(f, "dur", o->end - o->begin);
    fputs(",\"name\":", f);
    json_string(f, o->tensor ? o->tensor : s ? s->name : p->lanes.at[o->lane].name);
    fputs(",\"args\":{\"equation\":", f);
    json_string(f, s ? s->name : "");
    fputs(",\"source\":", f);
    json_string(f, s ? arena_printf(p->arena, "%s:%d", s->file, s->line) : "");
    fprintf(f, ",\"bundle\":%d,\"task\":%" PRId64, o->bundle, o->task);
    put_iteration(f, e);
    if (e->path >= 0)
        fprintf(f, ",\"bytes\":%" PRId64 ",\"payload\":%" PRId64 ",\"waited\":%" PRId64, e->bytes, e->payload, waited);
    if (e->macs > 0)
        fprintf(f, ",\"macs\":%" PRId64, e->macs);
    if (e->operations > 0)
        fprintf(f, ",\"operations\":%" PRId64, e->operations);
    fprintf(f, ",\"complete\":%" PRId64 "}}", o->complete);
}

// ---- what is known at the end ----

static void put_name(Profile *p, const char *what, int process, int thread, const char *name)
{
    FILE *f = next_event(p);
    fprintf(f, "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"args\":{\"name\":", process, thread, what);
    json_string(f, name);
    fputs("}}", f);
}

static void put_names(Profile *p)
{
    put_name(p, "process_name", CHIP, 0, p->model ? p->machine ? p->machine->name : "chip" : "call");
    put_name(p, "thread_name", CHIP, THREAD_LAUNCH, p->model ? "launches" : "grids");
    for (int k = 0; k < p->lanes.n; k++) {
        const Lane *l = &p->lanes.at[k];
        put_name(p, "process_name", l->core + 1, 0, l->process);
        put_name(p, "thread_name", l->core + 1, l->slot + 1, l->name);
        for (int r = 0; r < p->residents; r++) {
            put_name(p, "thread_name", l->core + 1, THREAD_TASK + r, "tasks");
            put_name(p, "thread_name", l->core + 1, THREAD_WAIT + r, "waits");
        }
    }
}

static void put_counter(Profile *p, const char *name, const char *unit, int curve, double scale)
{
    const int64_t *x = p->curves.at.at[curve];
    int64_t width = p->curves.width;
    for (int i = 0; i < BINS && i * width <= p->total; i++) {
        FILE *f = next_event(p);
        put_head(f, "C", CHIP, 0, i * width);
        fputs(",\"name\":", f);
        json_string(f, name);
        fprintf(f, ",\"args\":{\"%s\":%.6g}}", unit, i * width < p->total ? (double)x[i] * scale / (double)width : 0.0);
    }
}

static void put_launches(Profile *p)
{
    for (int k = 0; k < p->launches.n; k++) {
        const Launch *l = &p->launches.at[k];
        const char *args = arena_printf(p->arena, "\"launch\":%d,\"grid\":[%lld,%lld,%lld,%lld],\"tasks\":%lld", k, (long long)l->count[0],
                                        (long long)(l->rank > 1 ? l->count[1] : 1), (long long)(l->rank > 2 ? l->count[2] : 1),
                                        (long long)(l->rank > 3 ? l->count[3] : 1), (long long)l->tasks);
        trace_slice(p, CHIP, THREAD_LAUNCH, l->name, l->begin, l->end, args);
    }
    for (int k = 0; k + 1 < p->launches.n; k++) {
        const char *phases[] = {"s", "f"};
        for (int end = 0; end < 2; end++) {
            FILE *f = next_event(p);
            put_head(f, phases[end], CHIP, THREAD_LAUNCH, p->launches.at[k + end].begin);
            fprintf(f, ",\"id\":%d,\"cat\":\"launch\",\"name\":\"next\"%s}", k, end ? ",\"bp\":\"e\"" : "");
        }
    }
}

void trace_end(Profile *p)
{
    if (!p->trace)
        return;
    put_names(p);
    put_launches(p);
    for (int k = 0; k < p->paths.n; k++)
        put_counter(p, arena_printf(p->arena, "%s bandwidth", p->paths.at[k].name), p->model ? "bytes a cycle" : "GB a second", p->paths.at[k].curve, 1);
    fprintf(p->trace, "\n],\n\"otherData\":{\"kernel\":");
    json_string(p->trace, p->call->kernel->name);
    fputs(",\"file\":", p->trace);
    json_string(p->trace, p->call->unit.file->path);
    fputs(",\"target\":", p->trace);
    json_string(p->trace, p->call->code->target);
    fprintf(p->trace, ",\"time\":\"%s\"", p->model ? "a nanosecond is a cycle" : "nanoseconds");
    if (p->untraced > 0)
        fprintf(p->trace, ",\"note\":\"%" PRId64 " operations are here, %" PRId64 " later ones are not (--events); totals count all\"", p->traced, p->untraced);
    if (p->task_list.n < p->ntasks && p->model)
        fprintf(p->trace, ",\"note_tasks\":\"%d of %" PRId64 " tasks are here\"", p->task_list.n, p->ntasks);
    if (p->nwaits > MOST_WAITS)
        fprintf(p->trace, ",\"note_waits\":\"%d of %" PRId64 " waits are here\"", MOST_WAITS, p->nwaits);
    fputs("},\n\"totals\":", p->trace);
    profile_json(p, p->trace, false);
    fputs("}\n", p->trace);
}
