// A profile as one JSON object: the "totals" of a trace, and, with the lists that pictures need, the data of the report.
#include "cli/profile.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s < 0x20 || *s == '<' || *s == '>' || *s == '&' || *s == 0x7f)
            fprintf(out, "\\u%04x", *s);
        else
            fputc(*s, out);
    }
    fputc('"', out);
}

// ---- parts ----

static void name_string(FILE *f, const char *name, const char *text)
{
    fprintf(f, "\"%s\":", name);
    json_string(f, text ? text : "");
}

static void put_number(FILE *f, const char *name, double x)
{
    if (isfinite(x))
        fprintf(f, ",\"%s\":%.9g", name, x);
    else
        fprintf(f, ",\"%s\":null", name);
}

static double per(int64_t a, int64_t b) { return b > 0 ? (double)a / (double)b : 0; }

static void put_units(const Profile *p, FILE *f)
{
    static const char *const names[] = PTO_SLOT_NAMES;
    fputs(",\n\"units\":[", f);
    bool first = true;
    for (int s = 0; s < (p->model ? PTO_SLOTS : 1); s++) {
        int64_t busy = 0;
        for (int k = 0; k < p->lanes.n; k++)
            busy += p->lanes.at[k].slot == s || !p->model ? p->lanes.at[k].busy : 0;
        if (p->model && !(p->machine && p->machine->unit[s].present))
            continue;
        int64_t n = p->model ? p->clusters * p->cores : p->lanes.n;
        fputs(first ? "{" : ",{", f);
        first = false;
        name_string(f, "name", p->model ? names[s] : "workers");
        fprintf(f, ",\"count\":%" PRId64 ",\"busy\":%" PRId64, n, busy);
        put_number(f, "utilisation", per(busy, p->total * n));
        fputs("}", f);
    }
    fputs("]", f);
}

static void put_curve(const Profile *p, FILE *f, int curve)
{
    const int64_t *x = p->curves.at.at[curve];
    int n = 0;
    for (int i = 0; i < BINS && i * p->curves.width < p->total; i++)
        n = x[i] != 0 ? i + 1 : n;               // zeros at the end are left out
    fputs("[", f);
    for (int i = 0; i < n; i++)
        fprintf(f, "%s%" PRId64, i ? "," : "", x[i]);
    fputs("]", f);
}

static void put_paths(const Profile *p, FILE *f)
{
    fputs(",\n\"paths\":[", f);
    for (int k = 0; k < p->paths.n; k++) {
        const ProfilePath *x = &p->paths.at[k];
        fputs(k ? ",\n{" : "\n{", f);
        name_string(f, "name", x->name);
        fprintf(f, ",\"lines\":%d,\"width\":%.9g,\"busy\":%" PRId64 ",\"bytes\":%" PRId64, x->lines, x->width, x->busy, x->bytes);
        put_number(f, "utilisation", per(x->busy, p->total * x->lines));
        put_number(f, "bandwidth", per(x->bytes, p->total));
        fputs(",\"over_time\":", f);
        put_curve(p, f, x->curve);
        fputs("}", f);
    }
    fputs("]", f);
}

static void put_waits(const Profile *p, FILE *f)
{
    bool first = true;
    int64_t all = p->total * p->clusters * p->cores;
    fputs(",\n\"waits\":[", f);
    for (int k = 0; k < WAIT_CAUSES; k++) {
        if (p->wait[k] == 0)
            continue;
        fputs(first ? "\n{" : ",\n{", f);
        first = false;
        name_string(f, "cause", p->model ? wait_name(k) : k == WAIT_ISSUE ? "in tasks" : k == WAIT_DISPATCH ? "scheduling" :
                                                      k == WAIT_TOKEN ? "waiting for tasks" : "no task");
        fprintf(f, ",\"time\":%" PRId64, p->wait[k]);
        put_number(f, "share", per(p->wait[k], all));
        fputs(",\"over_time\":", f);
        put_curve(p, f, p->wait_curve[k]);
        fputs("}", f);
    }
    fputs("]", f);
}

static bool is_outer(const Profile *p, int path)
{
    if (path < 0 || !p->machine)
        return false;
    int from = p->machine->path[path].from, to = p->machine->path[path].to;
    return from == 0 || to == 0 || p->machine->memory[from].backing || p->machine->memory[to].backing;
}

// What left and reached the memories that hold tensors.
static Traffic outer_traffic(const Profile *p, const char *tensor)
{
    Traffic sum = {.tensor = tensor, .path = -1};
    for (int k = 0; k < p->traffic.n; k++) {
        const Traffic *t = &p->traffic.at[k];
        if (!is_outer(p, t->path) || !t->tensor || strcmp(t->tensor, tensor) != 0)
            continue;
        sum.read += t->read;
        sum.written += t->written;
        sum.payload_read += t->payload_read;
        sum.payload_written += t->payload_written;
    }
    return sum;
}

static void put_amounts(FILE *f, const Traffic *t)
{
    fprintf(f, ",\"read\":%" PRId64 ",\"written\":%" PRId64 ",\"payload_read\":%" PRId64 ",\"payload_written\":%" PRId64, t->read, t->written,
            t->payload_read, t->payload_written);
}

static void put_traffic(const Profile *p, FILE *f)
{
    fputs(",\n\"traffic\":[", f);
    for (int k = 0; k < p->traffic.n; k++) {
        const Traffic *t = &p->traffic.at[k];
        fputs(k ? ",\n{" : "\n{", f);
        name_string(f, "tensor", t->tensor);
        fputs(",", f);
        name_string(f, "path", p->paths.at[t->path].name);
        put_amounts(f, t);
        fputs("}", f);
    }
    fputs("],\n\"tensors\":[", f);
    for (int k = 0; k < p->tensors.n; k++) {
        const ProfileTensor *t = &p->tensors.at[k];
        Traffic sum = outer_traffic(p, t->tensor);
        fputs(k ? ",\n{" : "\n{", f);
        name_string(f, "name", t->tensor);
        fputs(",", f);
        name_string(f, "kind", t->kind);
        fprintf(f, ",\"bytes\":%" PRId64 ",\"least_read\":%" PRId64 ",\"least_written\":%" PRId64 ",\"first\":%" PRId64 ",\"last\":%" PRId64, t->bytes,
                t->least_read, t->least_written, t->first, t->last);
        if (p->model)
            put_amounts(f, &sum);
        fputs("}", f);
    }
    fputs("]", f);
}

static void put_sites(const Profile *p, FILE *f)
{
    static const char *const names[] = PTO_SLOT_NAMES;
    fputs(",\n\"equations\":[", f);
    for (int k = 0; k < p->sites.n; k++) {
        const Site *s = &p->sites.at[k];
        fputs(k ? ",\n{" : "\n{", f);
        name_string(f, "name", s->name);
        fputs(",", f);
        name_string(f, "file", s->file);
        fprintf(f, ",\"line\":%d,", s->line);
        name_string(f, "text", s->text);
        if (p->model) {
            fprintf(f, ",\"macs\":%" PRId64 ",\"operations\":%" PRId64 ",\"bytes\":%" PRId64 ",\"busy\":{", s->macs, s->operations, s->bytes);
            for (int u = 0; u < PTO_SLOTS; u++)
                fprintf(f, "%s\"%s\":%" PRId64, u ? "," : "", names[u], s->busy[u]);
            fputs("}", f);
        }
        fputs("}", f);
    }
    fputs("]", f);
}

static void put_graph(const Profile *p, FILE *f)
{
    fputs(",\n\"graph\":{\"launches\":[", f);
    for (int k = 0; k < p->launches.n; k++) {
        const Launch *l = &p->launches.at[k];
        fputs(k ? ",\n{" : "\n{", f);
        name_string(f, "name", l->name);
        fprintf(f, ",\"program\":%d,\"begin\":%" PRId64 ",\"end\":%" PRId64 ",\"tasks\":%" PRId64 ",\"busy\":%" PRId64 ",\"grid\":[", l->program, l->begin, l->end,
                l->tasks, l->busy);
        for (int d = 0; d < l->rank; d++)
            fprintf(f, "%s%" PRId64, d ? "," : "", l->count[d]);
        fputs("],\"offsets\":[", f);
        for (int o = 0; o < l->noffsets; o++)
            for (int d = 0; d < l->rank; d++)
                fprintf(f, "%s%" PRId64, d ? "," : o ? ",[" : "[", l->offsets[o][d]), fputs(d + 1 == l->rank ? "]" : "", f);
        fputs("]", f);
        if (l->mode)
            fprintf(f, ",\"mode\":\"%s\"", l->mode);
        fputs(k > 0 ? ",\"after\":[" : ",\"after\":[]", f);
        if (k > 0)
            fprintf(f, "%d]", k - 1);
        fputs("}", f);
    }
    fputs("],\n\"programs\":[", f);
    for (int k = 0; k < p->programs.n; k++) {
        const Program *g = &p->programs.at[k];
        fputs(k ? ",\n{" : "\n{", f);
        name_string(f, "name", g->name);
        fprintf(f, ",\"launches\":%d,\"time\":%" PRId64 ",\"tasks\":%" PRId64 ",\"operations\":%" PRId64 ",\"macs\":%" PRId64 ",\"bytes\":%" PRId64 ",\"scalar\":%s,\"equations\":[",
                g->launches, g->time, g->tasks, g->operations, g->macs, g->bytes, g->scalar ? "true" : "false");
        for (int s = 0; s < g->sites.n; s++)
            fprintf(f, "%s%d", s ? "," : "", g->sites.at[s]);
        fputs("]}", f);
    }
    fputs("]}", f);
}

static void put_counters(const Profile *p, FILE *f)
{
    if (p->model)
        return;
    fputs(",\n\"counters\":{", f);
    name_string(f, "note", p->counter_note);
    for (int k = 0; k < p->counters.n; k++) {
        fputs(",", f);
        json_string(f, p->counters.at[k].name);
        fprintf(f, p->counters.at[k].known ? ":%.17g" : ":null", p->counters.at[k].value);
    }
    fputs("}", f);
}

// ---- lists ----

// The equation that an interval of a lane belongs to most; runs of equal ones as [equation, how many].
static void put_dominant(const Profile *p, FILE *f, const Lane *l)
{
    int run = 0, last = -2;
    bool first = true;
    fputs(",\"equation\":[", f);
    for (int i = 0; i <= BINS; i++) {
        int best = -1;
        int64_t most = 0;
        bool end = i == BINS || i * p->curves.width >= p->total;
        for (int s = 0; s < l->by_site.n && !end; s++) {
            int64_t x = l->by_site.at[s] >= 0 ? p->curves.at.at[l->by_site.at[s]][i] : 0;
            if (x > most) {
                most = x;
                best = s;
            }
        }
        if (run > 0 && (end || best != last)) {
            fprintf(f, "%s%d,%d", first ? "" : ",", last, run);
            first = false;
            run = 0;
        }
        if (end)
            break;
        last = best;
        run++;
    }
    fputs("]", f);
}

static void put_lanes(const Profile *p, FILE *f)
{
    fputs(",\n\"lanes\":[", f);
    for (int k = 0; k < p->lanes.n; k++) {
        const Lane *l = &p->lanes.at[k];
        fputs(k ? ",\n{" : "\n{", f);
        name_string(f, "process", l->process);
        fputs(",", f);
        name_string(f, "name", l->name);
        fprintf(f, ",\"core\":%d,\"slot\":%d,\"busy\":%" PRId64 ",\"over_time\":", l->core, l->slot, l->busy);
        put_curve(p, f, l->curve);
        put_dominant(p, f, l);
        fputs("}", f);
    }
    fputs("]", f);
}

// Flat numbers, so that twenty thousand of them stay small: lane, begin, duration, equation, task, launch, bytes, macs.
static void put_ops(const Profile *p, FILE *f)
{
    fprintf(f, ",\n\"all_ops\":%" PRId64 ",\"ops\":[", p->nops);
    for (int k = 0; k < p->ops.n; k++) {
        const ProfileOp *o = &p->ops.at[k];
        fprintf(f, "%s%d,%" PRId64 ",%" PRId64 ",%d,%" PRId64 ",%d,%" PRId64 ",%" PRId64, k ? "," : "", o->lane, o->begin, o->end - o->begin, o->site, o->task,
                o->launch, o->bytes, o->macs);
    }
    fprintf(f, "],\n\"all_tasks\":%" PRId64 ",\"tasks\":[", p->ntasks);
    for (int k = 0; k < p->task_list.n; k++) {
        const ProfileTask *t = &p->task_list.at[k];
        fprintf(f, "%s%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%d", k ? "," : "", t->core, t->begin, t->end - t->begin, t->task, t->launch);
    }
    fputs("]", f);
}

static void put_boxes(const Profile *p, FILE *f)
{
    fputs(",\n\"memories\":[", f);
    for (int m = 0; p->machine && m < p->machine->nmemories; m++) {
        fputs(m ? ",{" : "{", f);
        name_string(f, "name", p->machine->memory[m].name);
        fprintf(f, ",\"bytes\":%" PRId64 "}", p->machine->memory[m].bytes);
    }
    fprintf(f, "],\n\"all_boxes\":%" PRId64 ",\"boxes\":[", p->nboxes);
    for (int k = 0; k < p->boxes.n; k++) {
        const Box *b = &p->boxes.at[k];
        fprintf(f, "%s[%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%d,", k ? "," : "", b->memory, b->address, b->length, b->begin, b->end - b->begin, b->site);
        json_string(f, b->tensor ? b->tensor : "");
        fputs("]", f);
    }
    fputs("]", f);
}

void profile_json(const Profile *p, FILE *f, bool lists)
{
    fputs("{", f);
    name_string(f, "kernel", p->call->kernel->name);
    fputs(",", f);
    name_string(f, "file", p->call->unit.file->path);
    fputs(",", f);
    name_string(f, "target", p->call->code->target);
    fprintf(f, ",\"kind\":\"%s\",\"time_unit\":\"%s\"", p->model ? "model" : "cpu", p->model ? "cycles" : "ns");
    fprintf(f, ",\"%s\":%" PRId64, p->model ? "cycles" : "nanoseconds", p->total);
    put_number(f, "hertz", p->hertz);
    fprintf(f, ",\"clusters\":%d,\"cores\":%d,\"tasks_run\":%" PRId64 ",\"bundles\":%" PRId64 ",\"macs\":%" PRId64 ",\"operations\":%" PRId64, p->clusters, p->cores,
            p->tasks, p->bundles, p->macs, p->operations);
    fprintf(f, ",\"interval\":%" PRId64, p->curves.width);
    put_number(f, "peak_matrix", p->peak_operations[0]);
    put_number(f, "peak_vector", p->peak_operations[1]);
    put_number(f, "peak_bytes", p->peak_bytes);
    fputs(",", f);
    name_string(f, "peak_note", p->peak_note);
    put_units(p, f);
    put_paths(p, f);
    put_waits(p, f);
    put_traffic(p, f);
    put_sites(p, f);
    put_graph(p, f);
    put_counters(p, f);
    if (lists) {
        put_lanes(p, f);
        put_ops(p, f);
        put_boxes(p, f);
    }
    fputs("}", f);
}
