// The summary of a profile for people.
#include "cli/profile.h"

#include <inttypes.h>
#include <string.h>

static double percent(int64_t a, double b) { return b > 0 ? 100 * (double)a / b : 0; }

static void put_head(const Profile *p, FILE *f)
{
    const char *kernel = p->call->kernel->name, *target = p->call->code->target;
    if (p->model)
        fprintf(f, "%s on %s: %" PRId64 " cycles (%.4g us), %" PRId64 " tasks in %d grid%s, %d cores\n", kernel, target, p->total,
                p->hertz > 0 ? (double)p->total / p->hertz * 1e6 : 0, p->tasks, p->launches.n, p->launches.n == 1 ? "" : "s", p->clusters * p->cores);
    else
        fprintf(f, "%s on %s: %.3f ms, %" PRId64 " tasks in %d grid%s, %d worker%s\n", kernel, target, (double)p->total / 1e6, p->tasks,
                p->launches.n, p->launches.n == 1 ? "" : "s", p->cores, p->cores == 1 ? "" : "s");
}

static void put_units(const Profile *p, FILE *f)
{
    static const char *const names[] = PTO_SLOT_NAMES;
    double all = (double)p->total * p->clusters * p->cores;
    for (int s = 0; s < PTO_SLOTS && p->model; s++) {
        int64_t busy = 0;
        for (int k = 0; k < p->lanes.n; k++)
            busy += p->lanes.at[k].slot == s ? p->lanes.at[k].busy : 0;
        if (busy > 0)
            fprintf(f, "%-12s busy %5.1f %%  %14" PRId64 " cycles\n", names[s], percent(busy, all), busy);
    }
    for (int k = 0; k < p->lanes.n && !p->model && k < 64; k++)
        fprintf(f, "%-12s busy %5.1f %%  %14.3f ms\n", p->lanes.at[k].name, percent(p->lanes.at[k].busy, (double)p->total), (double)p->lanes.at[k].busy / 1e6);
}

// What a kernel author should know first: such a grid takes a cycle for each operation on each element.
static void put_scalar(const Profile *p, FILE *f)
{
    for (int k = 0; k < p->programs.n; k++) {
        const Program *g = &p->programs.at[k];
        if (g->scalar && 100 * g->time >= p->total)
            fprintf(f, "the grid of %s runs on the scalar unit alone, %.1f %% of the time: there are no blocks of it, or they do not fit for this shape (--explain says why)\n", g->name,
                    percent(g->time, (double)p->total));
    }
}

static void put_waits(const Profile *p, FILE *f)
{
    double all = (double)p->total * p->clusters * p->cores;
    static const char *const cpu[WAIT_CAUSES] = {[WAIT_ISSUE] = "in tasks", [WAIT_TOKEN] = "waiting for tasks", [WAIT_DISPATCH] = "scheduling", [WAIT_IDLE] = "no task"};
    fputs(p->model ? "cores:" : "workers:", f);
    const char *comma = " ";
    for (int k = 0; k < WAIT_CAUSES; k++) {
        if (p->wait[k] == 0)
            continue;
        fprintf(f, "%s%s %.1f %%", comma, p->model ? wait_name(k) : cpu[k] ? cpu[k] : "", percent(p->wait[k], all));
        comma = ", ";
    }
    fputs("\n", f);
}

static void put_paths(const Profile *p, FILE *f)
{
    for (int k = 0; k < p->paths.n && p->model; k++) {
        const ProfilePath *x = &p->paths.at[k];
        if (x->bytes == 0)
            continue;
        fprintf(f, "%-12s busy %5.1f %%  %14" PRId64 " bytes, %.4g of %.4g a cycle\n", x->name, percent(x->busy, (double)p->total * x->lines), x->bytes,
                p->total > 0 ? (double)x->bytes / (double)p->total : 0, x->width * x->lines);
    }
}

static void put_tensors(const Profile *p, FILE *f)
{
    fprintf(f, "%-12s %14s %14s %14s %8s\n", "tensor", "read", "written", "least", "times");
    for (int k = 0; k < p->tensors.n; k++) {
        const ProfileTensor *t = &p->tensors.at[k];
        int64_t read = 0, written = 0, least = t->least_read + t->least_written;
        for (int i = 0; i < p->traffic.n; i++) {
            const Traffic *x = &p->traffic.at[i];
            const pto_path *path = &p->machine->path[x->path];
            bool outer = path->from == 0 || path->to == 0 || p->machine->memory[path->from].backing || p->machine->memory[path->to].backing;
            if (!outer || !x->tensor || strcmp(x->tensor, t->tensor) != 0)
                continue;
            read += x->read;
            written += x->written;
        }
        if (read + written + least == 0)
            continue;
        fprintf(f, "%-12s %14" PRId64 " %14" PRId64 " %14" PRId64, t->tensor, read, written, least);
        if (least > 0)
            fprintf(f, " %8.2f", (double)(read + written) / (double)least);
        fputs("\n", f);
    }
}

static void put_counters(const Profile *p, FILE *f)
{
    const char *comma = "";
    for (int k = 0; k < p->counters.n; k++) {
        if (!p->counters.at[k].known)
            continue;
        fprintf(f, "%s%.0f %s", comma, p->counters.at[k].value, p->counters.at[k].name);
        comma = ", ";
    }
    if (*comma)
        fputs("\n", f);
    if (p->counter_note && *p->counter_note)
        fprintf(f, "%s\n", p->counter_note);
}

void profile_text(const Profile *p, FILE *f)
{
    put_head(p, f);
    put_units(p, f);
    put_scalar(p, f);
    put_waits(p, f);
    put_paths(p, f);
    if (p->model && p->machine)
        put_tensors(p, f);
    if (!p->model)
        put_counters(p, f);
    if (p->untraced > 0)
        fprintf(f, "the trace has %" PRId64 " operations, %" PRId64 " later ones are left out (--events)\n", p->traced, p->untraced);
}
