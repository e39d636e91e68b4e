// A profile of a modelled machine, from the events of its model. Sums are kept for every event; see profile.h for what has a limit.
//
// Events of a core come in the order in which its operations begin; those of a launch before that of the launch itself.
#include "cli/profile.h"

#include <string.h>

// A value in a memory on chip that may still be read.
typedef struct { Box box; int op; } Live;

typedef struct {
    Profile *p;
    const pto_program *program;      // of the sites at hand
    int *site;                       // by position in it
    int program_number;
    bool launched;                   // the launch at hand is in the list
    int *lane;                       // by core and slot; -1: not yet
    int64_t *requested;              // by core and slot
    int shown_core;                  // whose memories are shown; -1: not known yet
    VEC(Live) live;
    int64_t task_time, stalled;      // of the residents, together
} Recorder;

// ---- machine, launches, sites ----

static int lines_of(const pto_machine *m, const pto_path *path)
{
    return path->shared == PTO_SHARED_CORE ? m->clusters * m->cores : path->shared == PTO_SHARED_CLUSTER ? m->clusters : 1;
}

static bool holds_tensors(const pto_machine *m, int memory) { return memory == 0 || m->memory[memory].backing; }

// Does the path carry tensors to and from the chip?
static bool is_outer(const pto_machine *m, const pto_path *path) { return holds_tensors(m, path->from) || holds_tensors(m, path->to); }

static void set_peaks(Profile *p, const pto_machine *m)
{
    const pto_unit *cube = &m->unit[PTO_CUBE], *vector = &m->unit[PTO_VECTOR];
    for (int k = 0; k < cube->nshapes; k++) {
        double peak = 2.0 * (double)(cube->shape[k].m * cube->shape[k].n * cube->shape[k].k) / (double)cube->shape[k].passes * m->clusters * m->cores;
        p->peak_operations[0] = peak > p->peak_operations[0] && cube->present ? peak : p->peak_operations[0];
    }
    p->peak_operations[1] = vector->present ? (double)vector->width / 4 * m->clusters * m->cores : 0;
    for (int k = 0; k < m->npaths; k++) {
        double peak = (double)(m->path[k].width * lines_of(m, &m->path[k]));
        p->peak_bytes = m->path[k].from == 0 && peak > p->peak_bytes ? peak : p->peak_bytes;
    }
    p->peak_note = "cubes: the fastest type; vectors: elements of 4 bytes, an operation of cost c counts as c";
}

static const char *path_name(Arena *a, const pto_machine *m, const pto_path *path)
{
    return arena_printf(a, "%s%s%s", m->memory[path->from].name, path->both ? " - " : " to ", m->memory[path->to].name);
}

static void take_machine(Recorder *r, const pto_machine *m)
{
    Profile *p = r->p;
    p->machine = m;
    p->clusters = m->clusters;
    p->cores = m->cores;
    p->hertz = (double)m->hertz;
    for (int k = 0; k < m->npaths; k++) {
        const pto_path *path = &m->path[k];
        ProfilePath x = {.name = path_name(p->arena, m, path), .from = path->from, .to = path->to, .width = (double)path->width, .lines = lines_of(m, path),
                         .curve = curves_new(&p->curves)};
        VEC_PUSH(p->arena, &p->paths, x);
    }
    set_peaks(p, m);
    int n = m->clusters * m->cores * PTO_SLOTS;
    r->lane = ARENA_ARRAY(p->arena, int, n);
    r->requested = ARENA_ARRAY(p->arena, int64_t, n);
    for (int k = 0; k < n; k++)
        r->lane[k] = -1;
}

static void take_program(Recorder *r, const pto_program *program, const pto_grid *grid)
{
    Profile *p = r->p;
    int before = p->programs.n;
    r->program = program;
    r->program_number = profile_program(p, program, grid->name ? grid->name : program->name);
    p->programs.at[r->program_number].scalar = program->nops == 1 && program->ops[0].kind == PTO_TASK;
    r->site = ARENA_ARRAY(p->arena, int, program->nsites + 1);
    for (int k = 0; k < program->nsites; k++) {
        const pto_site *s = &program->sites[k];
        r->site[k] = profile_site(p, s->equation ? s->equation : program->name, s->file ? s->file : "", s->line);
        program_add_site(p, r->program_number, r->site[k]);
    }
    if (p->programs.n > before)
        source_grid(p, r->program_number, grid->name ? grid->name : "");
}

// The first event of a launch comes long before that of the launch.
static void take_launch(Recorder *r, const pto_event *e)
{
    const pto_grid *g = &e->launch->grid;
    Launch l = {.name = r->p->programs.at[r->program_number].name, .rank = g->rank, .noffsets = g->noffsets < 16 ? g->noffsets : 16, .tasks = 1,
                .program = r->program_number};
    memcpy(l.count, g->count, sizeof l.count);
    for (int d = 0; d < g->rank; d++)
        l.tasks *= g->count[d];
    for (int k = 0; k < l.noffsets; k++)
        memcpy(l.offsets[k], g->offsets[k], sizeof l.offsets[k]);
    VEC_PUSH(r->p->arena, &r->p->launches, l);
    r->launched = true;
}

static int lane_of(Recorder *r, int core, int slot)
{
    static const char *const names[] = PTO_SLOT_NAMES;
    int *lane = &r->lane[core * PTO_SLOTS + slot];
    if (*lane < 0)
        *lane = profile_lane(r->p, arena_printf(r->p->arena, "core %d", core), names[slot], core, slot);
    return *lane;
}

static Launch *launch_of(Recorder *r) { return &r->p->launches.at[r->p->launches.n - 1]; }

static int site_of(const Recorder *r, const pto_event *e)
{
    int site = e->program->ops[e->op].site;
    return site >= 0 && site < e->program->nsites ? r->site[site] : -1;
}

// ---- the memory map ----

static void end_live(Recorder *r, int k)
{
    Profile *p = r->p;
    p->nboxes++;
    if (p->boxes.n < MOST_BOXES)
        VEC_PUSH(p->arena, &p->boxes, r->live.at[k].box);
    r->live.at[k] = r->live.at[--r->live.n];
}

static void end_all_live(Recorder *r)
{
    while (r->live.n > 0)
        end_live(r, r->live.n - 1);
}

static bool overlaps(const Box *b, const pto_span *s)
{
    return b->memory == s->memory && b->address < s->address + s->length && s->address < b->address + b->length;
}

// Does the product start anew? Conditions on last iterations are not known here, and then it does not.
static bool starts_anew(const pto_op *op, const pto_event *e)
{
    if (op->init.never || op->init.last != 0)
        return false;
    for (int d = 0; d < PTO_MAX_DIGITS; d++)
        if (op->init.first >> d & 1 && e->iv[PTO_FIRST_DIGIT + d] != 0)
            return false;
    return true;
}

static bool reads_what_it_writes(const pto_op *op, const pto_event *e)
{
    return op->kind == PTO_NEST ? op->updates : op->kind == PTO_MULTIPLY && !starts_anew(op, e);
}

static void show_span(Recorder *r, const pto_event *e, const pto_span *s, bool anew)
{
    bool found = false;
    for (int k = r->live.n; k-- > 0;) {
        Live *l = &r->live.at[k];
        if (!overlaps(&l->box, s))
            continue;
        found = true;
        if (anew)
            end_live(r, k);
        else
            l->box.end = e->complete;
    }
    if (!s->write || (found && !anew))
        return;
    Live l = {.op = e->op, .box = {.memory = s->memory, .site = site_of(r, e), .launch = r->p->launches.n - 1, .address = s->address, .length = s->length,
                                   .tensor = s->tensor >= 0 ? e->launch->tensors[s->tensor].name : NULL, .begin = e->begin, .end = e->complete}};
    VEC_PUSH(r->p->arena, &r->live, l);
}

static void show_memory(Recorder *r, const pto_event *e)
{
    const pto_op *op = &e->program->ops[e->op];
    if (r->shown_core < 0)
        r->shown_core = e->core;
    if (e->core != r->shown_core || e->resident != 0 || r->p->nboxes >= MOST_BOXES)
        return;
    for (int k = e->nspans; k-- > 0;)
        if (e->spans[k].length > 0 && !holds_tensors(r->p->machine, e->spans[k].memory))
            show_span(r, e, &e->spans[k], e->spans[k].write && !reads_what_it_writes(op, e));
}

// ---- events ----

static void on_op(Recorder *r, const pto_event *e)
{
    Profile *p = r->p;
    int lane = lane_of(r, e->core, e->slot), site = site_of(r, e);
    ProfileOp o = {.lane = lane, .site = site, .launch = p->launches.n - 1, .bundle = e->bundle, .task = e->task, .begin = e->begin, .end = e->end,
                   .complete = e->complete, .bytes = e->bytes, .macs = e->macs, .tensor = e->tensor_name};
    p->nops++;
    p->macs += e->macs;
    p->operations += e->operations;
    Program *g = &p->programs.at[r->program_number];
    g->macs += e->macs;
    g->operations += 2 * e->macs + e->operations;
    if (site >= 0) {
        Site *s = &p->sites.at[site];
        s->busy[e->slot] += e->end - e->begin;
        s->macs += e->macs;
        s->operations += e->operations;
    }
    launch_of(r)->busy += e->end - e->begin;
    profile_busy(p, lane, site, e->begin, e->end);
    show_memory(r, e);
    if (e->end == e->begin)
        return;
    if (p->ops.n < MOST_OPS)
        VEC_PUSH(p->arena, &p->ops, o);
    trace_op(p, &o, e, e->path >= 0 ? e->begin - r->requested[e->core * PTO_SLOTS + e->slot] : 0);
}

static void touch_tensor(Profile *p, const char *name, int64_t begin, int64_t end)
{
    for (int k = 0; k < p->tensors.n; k++) {
        ProfileTensor *t = &p->tensors.at[k];
        if (!name || strcmp(t->tensor, name) != 0)
            continue;
        t->first = t->last == 0 || begin < t->first ? begin : t->first;
        t->last = end > t->last ? end : t->last;
    }
}

static void on_path(Recorder *r, const pto_event *e)
{
    Profile *p = r->p;
    ProfilePath *path = &p->paths.at[e->path];
    bool outer = is_outer(p->machine, &p->machine->path[e->path]);
    path->busy += e->end - e->begin;
    path->bytes += e->bytes;
    curves_add(&p->curves, path->curve, e->begin, e->end, e->bytes);
    r->requested[e->core * PTO_SLOTS + e->slot] = e->request;
    for (int k = 0; k < e->nmoved; k++) {
        Traffic *t = profile_traffic(p, e->moved[k].tensor, e->path);
        t->read += e->moved[k].read;
        t->written += e->moved[k].written;
        t->payload_read += e->moved[k].payload_read;
        t->payload_written += e->moved[k].payload_written;
        if (outer)
            touch_tensor(p, e->moved[k].tensor, e->begin, e->end);
    }
    if (!outer)
        return;
    p->programs.at[r->program_number].bytes += e->bytes;
    int site = site_of(r, e);
    if (site >= 0)
        p->sites.at[site].bytes += e->bytes;
}

// Which unit sends a token.
static int sender_of(const pto_program *program, int token)
{
    for (int k = 0; k < program->nops; k++)
        for (int s = 0; s < 2; s++)
            if (program->ops[k].signals[s] == token + 1)
                return (int)program->ops[k].slot;
    return PTO_SCALAR;
}

static void on_stall(Recorder *r, const pto_event *e)
{
    Profile *p = r->p;
    int cause = e->cause == PTO_STALL_QUEUE ? WAIT_QUEUE : WAIT_TOKEN + sender_of(e->program, e->token);
    r->stalled += e->end - e->begin;
    p->wait[cause] += e->end - e->begin;
    curves_add(&p->curves, p->wait_curve[cause], e->begin, e->end, e->end - e->begin);
    if (p->nwaits++ < MOST_WAITS)
        trace_slice(p, e->core + 1, THREAD_WAIT + e->resident, wait_name(cause), e->begin, e->end, NULL);
}

static void on_task(Recorder *r, const pto_event *e)
{
    Profile *p = r->p;
    p->ntasks++;
    p->residents = e->resident >= p->residents ? e->resident + 1 : p->residents;
    r->task_time += e->end - e->begin;
    p->wait[WAIT_DISPATCH] += e->complete - e->begin;
    curves_add(&p->curves, p->wait_curve[WAIT_DISPATCH], e->begin, e->complete, e->complete - e->begin);
    if (e->core == r->shown_core && e->resident == 0)
        end_all_live(r);
    ProfileTask t = {.core = e->core, .launch = p->launches.n - 1, .task = e->task, .begin = e->begin, .begun = e->complete, .end = e->end};
    if (p->task_list.n >= MOST_TASKS)
        return;
    VEC_PUSH(p->arena, &p->task_list, t);
    const char *args = arena_printf(p->arena, "\"task\":%lld,\"index\":[%lld,%lld,%lld,%lld],\"launch\":%d", (long long)e->task, (long long)e->iv[0], (long long)e->iv[1],
                                    (long long)e->iv[2], (long long)e->iv[3], t.launch);
    trace_slice(p, e->core + 1, THREAD_TASK + e->resident, arena_printf(p->arena, "%s task %lld", p->programs.at[r->program_number].name, (long long)e->task), e->begin, e->end, args);
}

static void on_launch(Recorder *r, const pto_event *e)
{
    Launch *l = launch_of(r);
    Program *g = &r->p->programs.at[r->program_number];
    l->begin = e->begin;
    l->end = e->end;
    g->launches++;
    g->time += e->end - e->begin;
    g->tasks += l->tasks;
    r->launched = false;
    end_all_live(r);
}

static void on_event(void *user, const pto_event *e)
{
    Recorder *r = user;
    if (!r->p->machine)
        take_machine(r, e->launch->machine);
    if (r->program != e->program)
        take_program(r, e->program, &e->launch->grid);
    if (!r->launched)
        take_launch(r, e);
    switch (e->kind) {
    case PTO_EVENT_LAUNCH: on_launch(r, e); break;
    case PTO_EVENT_TASK: on_task(r, e); break;
    case PTO_EVENT_OP: on_op(r, e); break;
    case PTO_EVENT_PATH: on_path(r, e); break;
    case PTO_EVENT_STALL: on_stall(r, e); break;
    }
}

// ---- the call ----

// What is left of the cores' time, when all that has a cause is taken away.
static void settle(Recorder *r, const pto_model_totals *t)
{
    Profile *p = r->p;
    int64_t all = t->cycles * p->clusters * p->cores;
    p->total = t->cycles;
    p->tasks = t->tasks;
    p->bundles = t->bundles;
    p->wait[WAIT_ISSUE] = t->bundles;
    p->wait[WAIT_DRAIN] = r->task_time - r->stalled - t->bundles - p->wait[WAIT_DISPATCH];
    p->wait[WAIT_DRAIN] = p->wait[WAIT_DRAIN] > 0 ? p->wait[WAIT_DRAIN] : 0;
    p->wait[WAIT_IDLE] = all > r->task_time ? all - r->task_time : 0;
}

int profile_model(Profile *p)
{
    Recorder r = {.p = p, .shown_core = -1};
    pto_model_options options = {.timing_only = p->call->options->timing_only, .max_cycles = p->call->options->max_cycles, .event = on_event, .user = &r};
    if (pto_context_model(p->call->context, &options) != PTO_OK)
        return complain(EXIT_INTERNAL, "out of memory");
    int code = call_kernel(p->call);
    pto_context_model(p->call->context, NULL);
    pto_model_totals t = {.cycles = 0};
    if (code == 0 && pto_model_totals_of(p->call->context, &t) == PTO_OK)
        settle(&r, &t);
    return code;
}
