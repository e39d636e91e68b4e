// cost: about how long a block program takes.
//
// What every operation takes, by the rules of the model (man/ptob.5), on a full block; how often it runs in a task; and from
// these the least that a step can take: what its busiest unit or path needs (ResMII), and for every buffer the time
// from filling it to reading it, over the steps that its slots allow for that (RecMII). A grid takes as long as the busiest
// core, or as the paths that all cores share. Sizes that are not known are taken as usual ones.
#include "bundles/cost.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { ISSUE = 4, NORM = 6, FREE = 64 };          // FREE: what is moved although nothing waits for it counts so much less

// ---- values -----------------------------------------------------------------------------------------------------------------

// Tensors have some four million elements, in equal parts where several extents are open; a parameter counts a few steps.
static int64_t usual(const Block *b, const Dim *d)
{
    const Tensor *t = d->tensor;
    double elements = 1 << 22;
    int open = 0;
    for (int k = 0; t && k < t->rank; k++) {
        bool fixed = t->lo[k]->op == OP_CONST && t->hi[k]->op == OP_CONST;
        elements /= fixed && t->hi[k]->i > t->lo[k]->i ? (double)(t->hi[k]->i - t->lo[k]->i) : 1;
        open += !fixed;
    }
    const DimHint *hint = &b->p->schedule->hint[d->id];
    int64_t n = hint->hi > 0 ? (hint->lo + hint->hi + 1) / 2 : t ? (int64_t)pow(elements > 1 ? elements : 1, 1.0 / (open ? open : 1)) : 16;
    n >>= hint->hi > 0 ? 0 : b->smaller;
    return b->unusual ? (n >> b->unusual) - 1 : n;
}

static int64_t binary(Op op, int64_t x, int64_t y, bool *known)
{
    int64_t r = 0;
    switch ((int)op) {
    case OP_ADD: *known = *known && !__builtin_add_overflow(x, y, &r); return r;
    case OP_SUB: *known = *known && !__builtin_sub_overflow(x, y, &r); return r;
    case OP_MUL: *known = *known && !__builtin_mul_overflow(x, y, &r); return r;
    case OP_MIN: return x < y ? x : y;
    case OP_MAX: return x > y ? x : y;
    case OP_DIV: case OP_FLOORDIV: return y > 0 ? x / y - (op == OP_FLOORDIV && x % y < 0) : (*known = false, 0);
    case OP_REM: case OP_MOD: return y > 0 ? x % y + (op == OP_MOD && x % y < 0 ? y : 0) : (*known = false, 0);
    case OP_LE: return x <= y;
    case OP_LT: return x < y;
    case OP_GE: return x >= y;
    case OP_GT: return x > y;
    case OP_EQ: return x == y;
    case OP_NE: return x != y;
    case OP_AND: return x && y;
    case OP_OR: return x || y;
    default: *known = false; return 0;
    }
}

int64_t cost_value(const Block *b, const Expr *e, bool *known)
{
    if (!e)
        return 0;
    switch ((int)e->op) {
    case OP_CONST: return e->i;
    case OP_DIM: return usual(b, e->dim);
    case OP_INDEX: return 1;                            // of a sequential loop
    case OP_NEG: return -cost_value(b, e->args[0], known);
    case OP_SELECT: return cost_value(b, e->args[0], known) ? cost_value(b, e->args[1], known) : cost_value(b, e->args[2], known);
    default:
        if (e->n == 2)
            return binary(e->op, cost_value(b, e->args[0], known), cost_value(b, e->args[1], known), known);
        *known = false;
        return 0;
    }
}

static int64_t value(const Block *b, const Expr *e)
{
    bool known = true;
    return cost_value(b, e, &known);
}

// ---- operations ---------------------------------------------------------------------------------------------------------------

static int64_t ceil_div(int64_t x, int64_t y) { return y > 0 ? (x + y - 1) / y : x; }

// The extent of a full block: no more than the whole of what it is cut to.
static int64_t extent(const Block *b, const Span *s)
{
    int64_t n = value(b, s->size), whole = s->hi ? value(b, s->hi) - value(b, s->lo) : n;
    return n < whole ? n : whole;
}

static int64_t element(const Operand *o) { return dtype_bytes(o->buffer ? o->buffer->type : o->tensor->type); }

static int64_t points(const Block *b, const Operand *o)
{
    int64_t n = 1;
    for (int d = 0; d < o->rank; d++)
        n *= extent(b, &o->dim[d].at);
    return n > 0 ? n : 0;
}

// Bytes on the bus: rows in whole bursts, and half a burst on the average for each row that does not begin with one.
static int64_t bus_bytes(const Block *b, const Operand *o, int64_t burst)
{
    int64_t row = element(o), rows = points(b, o);
    bool used[MAX_BOX] = { 0 };
    for (int k = 0; k < o->rank; k++)                   // what continues a row makes it longer
        for (int d = 0; d < o->rank; d++) {
            int64_t n = extent(b, &o->dim[d].at);
            if (used[d] || value(b, o->dim[d].stride) != row || n < 1)
                continue;
            used[d] = true;
            row *= n;
            rows = ceil_div(rows, n);
        }
    if (burst == 0)
        return row * rows;
    return rows * (ceil_div(row, burst) * burst + (row % burst || rows > 1 ? burst / 2 : 0));
}

// Tensors of usual sizes lie in a backing memory where there is one.
static const Path *path_of(const Machine *machine, const MoveOp *op)
{
    int from = op->operand[1].buffer ? op->operand[1].buffer->memory : 0, to = op->operand[0].buffer ? op->operand[0].buffer->memory : 0;
    int path = machine_path(machine, from, to);
    for (int m = 1; m < machine->nmemories && (from == 0 || to == 0); m++) {
        int other = machine->memory[m].backing ? machine_path(machine, from ? from : m, to ? to : m) : -1;
        path = other >= 0 ? other : path;
    }
    return &machine->path[path];
}

static int64_t move_cycles(const Block *b, const MoveOp *op)
{
    const Path *p = path_of(b->m, op);
    const Operand *far = !op->operand[1].buffer ? &op->operand[1] : &op->operand[0];
    int64_t bytes = far->buffer ? points(b, far) * element(far) : bus_bytes(b, far, p->burst);
    return ceil_div(bytes, p->width);
}

static int64_t multiply_cycles(const Block *b, const MoveOp *op)
{
    const MachineUnit *u = &b->m->unit[UNIT_CUBE];
    int64_t n[4] = { 1, 1, 1, 1 };
    for (int q = 0; q < 2; q++)
        for (int d = 0; d < op->operand[q].rank; d++)
            if (q == 0 || op->operand[q].dim[d].axis == AXIS_K)
                n[op->operand[q].dim[d].axis] *= extent(b, &op->operand[q].dim[d].at);
    for (int i = 0; i < u->nshapes; i++)
        if (u->shape[i].inputs == op->operand[1].buffer->type)
            return ceil_div(n[AXIS_M], u->shape[i].m) * ceil_div(n[AXIS_N], u->shape[i].n) * ceil_div(n[AXIS_K], u->shape[i].k) * u->shape[i].passes;
    return 0;
}

static int64_t nest_cycles(const Block *b, const MoveOp *op)
{
    const MachineUnit *u = &b->m->unit[op->unit];
    int64_t rows = 1, row = 1;
    for (int k = 0; k < op->rank; k++) {
        rows *= k + 1 < op->rank ? extent(b, &op->box[k]) : 1;
        row = k + 1 == op->rank ? extent(b, &op->box[k]) : row;
    }
    if (op->unit == UNIT_SCALAR)
        return rows * row * op->cost;
    int64_t work = rows * op->cost * (op->strided ? row : ceil_div(row * op->element, u->width)), port = 0;
    for (int i = 0; i < u->nports; i++) {
        int64_t mine = ceil_div(rows * row * op->bytes, u->port[i].width);
        port = mine > port ? mine : port;
    }
    return work > port ? work : port;
}

static int64_t copies(const Machine *m, Shared s)
{
    return s == SHARED_CORE ? (int64_t)m->clusters * m->cores : s == SHARED_CLUSTER ? m->clusters : 1;
}

static int64_t used(const Machine *m, int max_workers)
{
    int64_t cores = (int64_t)m->clusters * m->cores;
    return max_workers > 0 && max_workers < cores ? max_workers : cores;
}

static int64_t cores_used(const Block *b) { return used(b->m, b->leaf->node->max_workers); }

// How many cores want a path.
static int64_t wanted_by(const Machine *m, int max_workers, const Path *p)
{
    int64_t n = used(m, max_workers) / copies(m, p->shared);
    return n > 0 ? n : 1;
}

static int64_t sharing(const Block *b, const Path *p) { return wanted_by(b->m, b->leaf->node->max_workers, p); }

void cost_latencies(const Machine *m, int max_workers, BundleProgram *p)
{
    for (int i = 0; i < p->ops.n; i++) {
        MoveOp *op = p->ops.at[i];
        const Path *path = op->kind == MOVE_COPY || op->kind == MOVE_GATHER ? path_of(m, op) : NULL;
        op->latency = path ? path->latency : m->unit[op->unit].latency;
        op->crowded = op->cycles * (path ? wanted_by(m, max_workers, path) : 1) + op->latency;
    }
}

void cost_operations(Block *b)
{
    for (int i = 0; i < b->out->ops.n; i++) {
        MoveOp *op = b->out->ops.at[i];
        op->cycles = op->kind == MOVE_COPY ? move_cycles(b, op) : op->kind == MOVE_MULTIPLY ? multiply_cycles(b, op) : nest_cycles(b, op);
    }
    cost_latencies(b->m, b->leaf->node->max_workers, b->out);
}

// ---- loops ------------------------------------------------------------------------------------------------------------------

// How often something happens in a task.
static int64_t times(const Block *b, When w)
{
    int64_t n = 1;
    for (int d = 0; d < b->ndigits; d++)
        n *= (w.first | w.last) >> d & 1 ? 1 : value(b, b->loop.count[d]);
    return n;
}

// From filling a buffer to reading it, over its slots.
static int64_t recurrence(const Block *b)
{
    int64_t most = 0;
    for (int x = 0; x < b->out->buffers.n; x++) {
        const Buffer *buffer = b->out->buffers.at[x];
        int64_t around = 0;
        int level = 0, accesses = 0;
        for (int i = 0; i < b->out->ops.n; i++) {
            const MoveOp *op = b->out->ops.at[i];
            bool uses = false;
            for (int q = 0; q < op->noperands; q++)
                if (op->operand[q].buffer == buffer) {
                    uses = true;
                    level = op->operand[q].digits;
                }
            around += uses ? op->cycles + op->latency + ISSUE : 0;
            accesses += uses;
        }
        int64_t inner = 1;
        for (int d = level; d < b->ndigits; d++)
            inner *= value(b, b->loop.count[d]);
        if (level > 0 && accesses > 1 && around / buffer->slots / inner > most)
            most = around / buffer->slots / inner;
    }
    return most;
}

// At usual sizes, and at smaller ones: rows that are half as long must not take more because there are twice as many.
static bool fits(Block *b)
{
    bool known = true, fine = true;
    for (b->unusual = 0; b->fits && b->unusual < 10 && fine; b->unusual++)
        fine = cost_value(b, b->fits, &known) && known;
    b->unusual = 0;
    return fine;
}

// Through the operations of one iteration, one after the other where one reads what the other wrote, but for the busiest unit: what
// a task takes before and after its steps.
static int64_t through(const Block *b, int busiest)
{
    int64_t most = 0, *until = ARENA_ARRAY(b->a, int64_t, b->out->ops.n + 1);
    for (int i = 0; i < b->out->ops.n; i++) {
        const MoveOp *op = b->out->ops.at[i];
        for (int k = 0; k < i; k++)
            for (int q = 1; q < op->noperands; q++)
                if (op->operand[q].buffer && b->out->ops.at[k]->operand[0].buffer == op->operand[q].buffer && until[k] > until[i])
                    until[i] = until[k];
        until[i] += op->latency + (op->unit == busiest ? 0 : op->cycles);
        most = until[i] > most ? until[i] : most;
    }
    return most;
}

// What comes after the busiest unit in the same step holds up the bundles behind it: until that much later nothing is issued.
static int64_t held_up(const Block *b, int busiest)
{
    int64_t sum = 0, *until = ARENA_ARRAY(b->a, int64_t, b->out->ops.n + 1);
    for (int i = 0; i < b->out->ops.n; i++) {
        const MoveOp *op = b->out->ops.at[i];
        bool after = false;
        for (int k = 0; k < i && op->unit != busiest; k++)
            for (int q = 1; q < op->noperands; q++) {
                const MoveOp *before = b->out->ops.at[k];
                bool follows = op->operand[q].buffer && before->operand[0].buffer == op->operand[q].buffer && before->stage == op->stage;
                after = after || (follows && (before->unit == busiest || until[k] > 0));
            }
        if (!after)
            continue;
        until[i] = op->cycles + op->latency;
        sum += until[i] * times(b, op->when) / b->parts;      // (other parts go on meanwhile)
    }
    return sum;
}

// With one slot the busiest unit cannot go on before the others are done with a buffer that they share.
static int64_t taken_turns(const Block *b, int busiest)
{
    int64_t sum = 0;
    for (int x = 0; x < b->out->buffers.n; x++) {
        const Buffer *buffer = b->out->buffers.at[x];
        int64_t others = 0, groups = 1;
        bool shared = false;
        int level = 0;
        for (int i = 0; i < b->out->ops.n; i++)
            for (int q = 0; q < b->out->ops.at[i]->noperands; q++) {
                const MoveOp *op = b->out->ops.at[i];
                if (op->operand[q].buffer != buffer)
                    continue;
                level = op->operand[q].digits;
                shared = shared || op->unit == busiest;
                others += op->unit == busiest ? 0 : op->cycles + op->latency;
            }
        for (int d = 0; d < level; d++)
            groups *= value(b, b->loop.count[d]);
        if (buffer->slots == 1 && level > 0 && shared)
            sum += others * groups;
    }
    return sum / (busiest == UNIT_DMA ? 1 : b->parts);
}

// Between the chip and the memory of the tensors.
static bool is_far(const MoveOp *op) { return op->kind == MOVE_COPY && (!op->operand[0].buffer || !op->operand[1].buffer); }

// Before the first step and after the last all cores want the paths that they share: what the first blocks need, and what
// the last parts leave.
static int64_t ends(const Block *b)
{
    int64_t sum = 0;
    for (int i = 0; i < b->out->ops.n; i++) {
        const MoveOp *op = b->out->ops.at[i];
        if (!is_far(op))
            continue;
        sum += op->cycles * sharing(b, path_of(b->m, op)) / (op->operand[0].buffer ? 1 : b->parts);
    }
    return sum;
}

// What goes on side by side takes as long as the longest of it, and a little more the closer the others come: they get
// into each other's way. A norm of a high order is just that.
static double together(double sum, double x) { return sum + pow(x, NORM); }

Cost cost_of(Block *b)
{
    int64_t unit[UNIT_KINDS] = { 0 }, path[MACHINE_MAX_PATHS] = { 0 }, steps = 1, once = 0, far = 0;
    Cost c = { .tasks = 1, .fits = fits(b) };
    for (int d = 0; d < b->ndigits; d++)
        steps *= value(b, b->loop.count[d]);
    for (int i = 0; i < b->out->ops.n; i++) {
        const MoveOp *op = b->out->ops.at[i];
        int64_t n = times(b, op->when);
        unit[op->unit] += n * op->cycles;
        far += is_far(op) ? n * op->cycles : 0;
        if (op->kind == MOVE_COPY)
            path[path_of(b->m, op) - b->m->path] += n * op->cycles;
        once += ISSUE;
    }
    for (int q = 0; q < b->naxes; q++) {
        int64_t n = value(b, b->axis[q].end) - value(b, b->axis[q].begin);
        c.tasks *= ceil_div(n, value(b, b->axis[q].task));
    }
    c.step = recurrence(b);
    c.step = c.step > once ? c.step : once;
    c.task = c.step * steps;
    for (int u = 0; u < UNIT_KINDS; u++) {
        int64_t turn = unit[u] ? unit[u] + held_up(b, u) + taken_turns(b, u) : 0;
        c.task = turn > c.task ? turn : c.task;
        c.busiest = unit[u] > unit[c.busiest] ? (UnitKind)u : c.busiest;
    }
    c.busy = unit[c.busiest];
    double total = together(0, (double)ceil_div(c.tasks, cores_used(b)) * (double)(c.task + b->m->dispatch + through(b, c.busiest)) + (double)ends(b));
    for (int k = 0; k < b->m->npaths; k++)
        total = together(total, (double)ceil_div(c.tasks, copies(b->m, b->m->path[k].shared)) * (double)path[k]);
    c.total = (int64_t)pow(total, 1.0 / NORM) + c.tasks * far / FREE;
    return c;
}
