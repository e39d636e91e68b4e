// ptoc profile: compiles a kernel, calls it once, and tells where its time and its traffic went. See profile.h.
#include "cli/commands.h"

#include "cli/profile.h"
#include "data/output.h"

#include <string.h>

// ---- what all parts look up ----

int profile_site(Profile *p, const char *name, const char *file, int line)
{
    for (int k = 0; k < p->sites.n; k++) {
        const Site *s = &p->sites.at[k];
        if (s->line == line && strcmp(s->name, name) == 0 && strcmp(s->file, file) == 0)
            return k;
    }
    Site s = {.name = arena_strdup(p->arena, name), .file = arena_strdup(p->arena, file), .line = line};
    source_site(p, &s);
    VEC_PUSH(p->arena, &p->sites, s);
    return p->sites.n - 1;
}

int profile_lane(Profile *p, const char *process, const char *name, int core, int slot)
{
    Lane l = {.process = process, .name = name, .core = core, .slot = slot, .curve = curves_new(&p->curves)};
    VEC_PUSH(p->arena, &p->lanes, l);
    return p->lanes.n - 1;
}

Traffic *profile_traffic(Profile *p, const char *tensor, int path)
{
    for (int k = 0; k < p->traffic.n; k++) {
        Traffic *t = &p->traffic.at[k];
        if (t->path == path && (tensor && t->tensor ? strcmp(t->tensor, tensor) == 0 : t->tensor == tensor))
            return t;
    }
    Traffic t = {.tensor = tensor ? arena_strdup(p->arena, tensor) : NULL, .path = path};
    VEC_PUSH(p->arena, &p->traffic, t);
    return &p->traffic.at[p->traffic.n - 1];
}

void profile_busy(Profile *p, int lane, int site, int64_t begin, int64_t end)
{
    Lane *l = &p->lanes.at[lane];
    l->busy += end - begin;
    curves_add(&p->curves, l->curve, begin, end, end - begin);
    while (l->by_site.n <= site)
        VEC_PUSH(p->arena, &l->by_site, -1);
    if (site >= 0 && l->by_site.at[site] < 0)
        l->by_site.at[site] = curves_new(&p->curves);
    if (site >= 0)
        curves_add(&p->curves, l->by_site.at[site], begin, end, end - begin);
}

int profile_program(Profile *p, const void *key, const char *name)
{
    for (int k = 0; k < p->programs.n; k++)
        if (p->programs.at[k].key == key && strcmp(p->programs.at[k].name, name) == 0)
            return k;
    Program program = {.key = key, .name = arena_strdup(p->arena, name)};
    VEC_PUSH(p->arena, &p->programs, program);
    return p->programs.n - 1;
}

void program_add_site(Profile *p, int program, int site)
{
    Program *g = &p->programs.at[program];
    for (int k = 0; k < g->sites.n; k++)
        if (g->sites.at[k] == site)
            return;
    VEC_PUSH(p->arena, &g->sites, site);
}

const char *wait_name(int cause)
{
    static const char *const names[] = {
        [WAIT_ISSUE] = "issuing", [WAIT_QUEUE] = "queue of a unit full", [WAIT_TOKEN + PTO_CUBE] = "waiting for cube",
        [WAIT_TOKEN + PTO_VECTOR] = "waiting for vector", [WAIT_TOKEN + PTO_LOAD] = "waiting for load",
        [WAIT_TOKEN + PTO_STORE] = "waiting for store", [WAIT_TOKEN + PTO_DMA] = "waiting for dma",
        [WAIT_TOKEN + PTO_SCALAR] = "waiting for scalar", [WAIT_DISPATCH] = "handing out tasks",
        [WAIT_DRAIN] = "finishing operations", [WAIT_IDLE] = "no task",
    };
    return names[cause];
}

// ---- the command ----

static void profile_new(Profile *p, Call *c)
{
    *p = (Profile){.call = c, .arena = c->arena, .model = unit_is_modelled(&c->unit, unit_target(c->options)), .curves = {.arena = c->arena, .width = 1}};
    for (int k = 0; k < WAIT_CAUSES; k++)
        p->wait_curve[k] = curves_new(&p->curves);
}

static int write_all(Profile *p, Outputs *files, const char *json, const char *html)
{
    const char *error = NULL;
    p->trace = json ? outputs_open(files, json, &error) : NULL;
    FILE *report = html && !error ? outputs_open(files, html, &error) : NULL;
    if (error)
        return complain(EXIT_USER, "%s", error);
    trace_begin(p);
    source_tensors(p);
    int code = p->model ? profile_model(p) : profile_cpu(p);
    if (code)
        return code;
    trace_end(p);
    if (report && !profile_html(p, report, &error))
        return complain(EXIT_USER, "%s", error);
    return outputs_commit(files, &error) ? 0 : complain(EXIT_USER, "%s", error);
}

static int profile(Call *c)
{
    const Options *o = c->options;
    const char *json = o->outputs.n > 0 ? o->outputs.at[0] : NULL;
    Profile p;
    profile_new(&p, c);
    Outputs *files = outputs_new(c->arena);
    int code = write_all(&p, files, json, o->html);
    outputs_drop(files);
    if (code == 0 && !(json && strcmp(json, "-") == 0) && !(o->html && strcmp(o->html, "-") == 0))
        profile_text(&p, stdout);
    return code;
}

static int check_files(const Options *o)
{
    const char *json = o->outputs.n > 0 ? o->outputs.at[0] : NULL;
    if (json && o->html && strcmp(json, o->html) == 0)
        return complain(EXIT_USAGE, "-o and --html both name %s", json);
    return 0;
}

int command_profile(Arena *a, const Options *o)
{
    Call c = {.arena = a, .options = o};
    int code = call_open(&c, a, o);
    if (code == 0)
        code = check_files(o);
    if (code == 0)
        code = call_bind(&c);
    if (code == 0)
        code = call_load(&c);
    if (code == 0)
        code = profile(&c);
    call_close(&c);
    return code;
}
