// An independent count of every byte that a launch moves: compiled into a kernel in front of pto_launch_bundles and pto_touch.
//
// It reads the tables of a program itself, shares nothing with the model, and is as naive as can be: for each task of the grid, each iteration
// of the loops around a bundle and each operation, the addresses of all elements are listed, sorted, and cut into runs of
// neighbours. At the end it writes the rows that a profile has under "traffic", to $TRAFFIC.
#undef pto_launch_bundles
#undef pto_touch
#include <ptort/model.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pto_status counted_launch(pto_context *ctx, const pto_launch *l);
void *counted_touch(pto_scalar *s, int tensor, void *place, int write);

typedef struct { const char *tensor, *path; int64_t moved[4]; } Row;      // read, written, and the payload of both
static Row rows[256];
static int nrows;
static const pto_launch *now;                     // the launch at hand

static void die(const char *what)
{
    fprintf(stderr, "traffic.c: %s\n", what);
    abort();
}

static void add(const char *tensor, int path, int write, int64_t bus, int64_t payload)
{
    const pto_machine *m = now->machine;
    const pto_path *p = &m->path[path];
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", m->memory[p->from].name, p->both ? " - " : " to ", m->memory[p->to].name);
    int k = 0;
    while (k < nrows && (strcmp(rows[k].path, name) != 0 || strcmp(rows[k].tensor, tensor) != 0))
        k++;
    if (k == 256)
        die("too many rows");
    if (k == nrows)
        rows[nrows++] = (Row){.tensor = strdup(tensor), .path = strdup(name)};
    rows[k].moved[write] += bus;
    rows[k].moved[2 + write] += payload;
}

// ---- tables ----

static int64_t value(pto_num x) { return x < INT64_MIN + now->nvalues ? now->values[x - INT64_MIN] : x; }

static int64_t affine(const pto_affine *a, const int64_t *iv)
{
    int64_t x = value(a->base);
    for (int v = 0; v < PTO_MAX_IVS; v++)
        x += value(a->step[v]) * iv[v];
    return x;
}

typedef struct { int64_t start, begin, end; } Extent;

static Extent extent(const pto_interval *v, const int64_t *iv)
{
    Extent e = {.start = affine(&v->start, iv)};
    e.begin = e.start;
    e.end = e.start + value(v->size);
    if (v->hi != 0) {
        e.begin = e.begin < value(v->lo) ? value(v->lo) : e.begin;
        e.end = e.end > value(v->hi) ? value(v->hi) : e.end;
    }
    e.end = e.end < e.begin ? e.begin : e.end;
    return e;
}

// Where a border reads for a subscript outside of 0..n-1; -1: nowhere.
static int64_t through_border(pto_border b, int64_t x, int64_t n)
{
    if (b == PTO_BORDER_CLAMP)
        return x < 0 ? 0 : x >= n ? n - 1 : x;
    if (b == PTO_BORDER_WRAP)
        return (x % n + n) % n;
    while (b == PTO_BORDER_REFLECT && (x < 0 || x >= n))
        x = n == 1 ? 0 : x < 0 ? -x : 2 * (n - 1) - x;
    return x >= 0 && x < n ? x : -1;
}

// ---- elements ----

typedef struct { int64_t *at; size_t n, room; } Addresses;

static void push(Addresses *a, int64_t address)
{
    if (a->n == a->room && !(a->at = realloc(a->at, (a->room = a->room ? 2 * a->room : 64) * sizeof *a->at)))
        die("no memory");
    a->at[a->n++] = address;
}

static void list_elements(const pto_operand *o, const Extent *e, int d, int64_t address, Addresses *out)
{
    if (d == o->rank) {
        push(out, address);
        return;
    }
    const pto_dim *dim = &o->dim[d];
    int64_t n = value(dim->length);
    for (int64_t x = e[d].begin; x < e[d].end; x++) {
        int64_t at = dim->border != PTO_BORDER_NONE && (x < 0 || x >= n) ? through_border(dim->border, x, n) : x;
        if (dim->border != PTO_BORDER_NONE && at < 0)
            continue;
        list_elements(o, e, d + 1, address + (at - e[d].start) * value(dim->stride), out);
    }
}

static int by_address(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

static int64_t bursts(int64_t begin, int64_t end, int64_t burst)
{
    int64_t n = 0;
    for (int64_t line = begin / burst; line * burst < end; line++)
        n += burst;
    return n;
}

// Bytes at a memory of tensors: whole bursts for each run of neighbours, and the elements' own.
static void count_runs(Addresses *a, int bytes, int64_t burst, int64_t *bus, int64_t *payload)
{
    qsort(a->at, a->n, sizeof *a->at, by_address);
    for (size_t k = 0; k < a->n;) {
        int64_t begin = a->at[k], end = begin + bytes;
        for (k++; k < a->n && a->at[k] <= end; k++)
            end = a->at[k] == end ? end + bytes : end;
        *payload += end - begin;
        *bus += burst > 0 ? bursts(begin, end, burst) : end - begin;
    }
}

// ---- operations ----

static int find_path(int from, int to)
{
    const pto_machine *m = now->machine;
    for (int k = 0; k < m->npaths; k++)
        if ((m->path[k].from == from && m->path[k].to == to) || (m->path[k].both && m->path[k].from == to && m->path[k].to == from))
            return k;
    die("no path");
    return -1;
}

static const char *tensor_of(const pto_operand *to, const pto_operand *from)
{
    int tensor = to->memory == 0 ? to->tensor : from->memory == 0 || from->tensor >= 0 ? from->tensor : to->tensor;
    return tensor >= 0 ? now->tensors[tensor].name : "";
}

static void count_copy(const pto_op *op, const int64_t *iv)
{
    const pto_operand *to = &op->operands[0], *from = &op->operands[1], *outer = to->memory == 0 ? to : from;
    int path = find_path(from->memory, to->memory), size = (int)pto_dtype_size(to->type);
    int64_t elements = 1, bus = 0, payload = 0;
    Extent e[PTO_MAX_DIMS];
    for (int d = 0; d < to->rank; d++) {
        Extent x = extent(&to->dim[d].at, iv);
        elements *= x.end - x.begin;
    }
    if (elements == 0)
        return;
    if (outer->memory == 0) {
        Addresses a = {0};
        for (int d = 0; d < outer->rank; d++)
            e[d] = extent(&outer->dim[d].at, iv);
        list_elements(outer, e, 0, affine(&outer->address, iv), &a);
        count_runs(&a, size, now->machine->path[path].burst, &bus, &payload);
        free(a.at);
    } else {
        bus = payload = elements * size;
    }
    add(tensor_of(to, from), path, to->memory < from->memory, bus, payload);
}

// ---- programs ----

typedef struct { int loop[16], n; } Around;       // loops around a bundle

static int holds(pto_when w, const Around *a, const int64_t *iv)
{
    const pto_loop *loops = now->program->loops;
    if (w.never)
        return 0;
    for (int k = 0; k < a->n; k++)
        for (int d = 0; d < loops[a->loop[k]].ndigits; d++) {
            const pto_loop *l = &loops[a->loop[k]];
            int v = l->iv + d, bit = v - PTO_FIRST_DIGIT;
            if ((w.first >> bit & 1 && iv[v] != 0) || (w.last >> bit & 1 && iv[v] != value(l->count[d]) - 1))
                return 0;
        }
    return 1;
}

static void count_bundle(const pto_bundle *b, const Around *a, const int64_t *iv)
{
    for (int s = 0; s < PTO_SLOTS; s++) {
        const pto_op *op = b->op[s] ? &now->program->ops[b->op[s] - 1] : NULL;
        if (!op || !holds(op->when, a, iv))
            continue;
        if (op->kind == PTO_COPY)
            count_copy(op, iv);
        else if (op->kind == PTO_GATHER)
            die("what a gather moves depends on data");
    }
}

static void each_iteration(const pto_bundle *b, const Around *a, int loop, int digit, int64_t *iv)
{
    if (loop == a->n) {
        count_bundle(b, a, iv);
        return;
    }
    const pto_loop *l = &now->program->loops[a->loop[loop]];
    if (digit == l->ndigits) {
        each_iteration(b, a, loop + 1, 0, iv);
        return;
    }
    for (int64_t i = 0; i < value(l->count[digit]); i++) {
        iv[l->iv + digit] = i;
        each_iteration(b, a, loop, digit + 1, iv);
    }
    iv[l->iv + digit] = 0;
}

static void count_task(const int64_t *tile)
{
    const pto_program *p = now->program;
    for (int b = 0; b < p->nbundles; b++) {
        Around a = {.n = 0};
        int64_t iv[PTO_MAX_IVS] = {tile[0], tile[1], tile[2], tile[3]};
        for (int k = 0; k < p->nloops; k++)
            if (p->loops[k].first <= b && b < p->loops[k].end)
                a.loop[a.n++] = k;
        each_iteration(&p->bundles[b], &a, 0, 0, iv);
    }
}

static void count_grid(void)
{
    int64_t n[4] = {1, 1, 1, 1}, t[4];
    for (int d = 0; d < now->grid.rank; d++)
        n[d] = now->grid.count[d];
    for (t[0] = 0; t[0] < n[0]; t[0]++)
        for (t[1] = 0; t[1] < n[1]; t[1]++)
            for (t[2] = 0; t[2] < n[2]; t[2]++)
                for (t[3] = 0; t[3] < n[3]; t[3]++)
                    count_task(t);
}

// ---- scalar operations: they say themselves what they touch ----

static int64_t last_line[256];                    // by tensor, of the operation at hand
static pto_scalar_task original;

static void counted_scalar(pto_scalar *s, void *frame, const int64_t tile[4])
{
    for (int k = 0; k < 256; k++)
        last_line[k] = -1;
    original(s, frame, tile);
}

void *counted_touch(pto_scalar *s, int tensor, void *place, int write)
{
    const pto_ddr *t = &now->tensors[tensor];
    int path = 0;
    while (now->machine->path[path].from != 0)
        path++;
    int64_t at = (char *)place - (char *)t->data, burst = now->machine->path[path].burst, bus = burst > 0 ? 0 : t->element;
    for (int64_t byte = at; burst > 0 && byte < at + t->element; byte++)
        if (last_line[tensor] != byte / burst) {
            last_line[tensor] = byte / burst;
            bus += burst;
        }
    add(t->name, path, write != 0, bus, t->element);
    return pto_touch(s, tensor, place, write);
}

// The program with scalar operations that are counted; kept, since the profile looks at it until the end.
typedef struct Kept { pto_program program; struct Kept *next; pto_op ops[]; } Kept;
static Kept *kept;

static const pto_program *with_counted(const pto_program *p)
{
    Kept *k = malloc(sizeof *k + ((size_t)p->nops + 1) * sizeof k->ops[0]);
    if (!k)
        die("out of memory");
    *k = (Kept){*p, kept};
    kept = k;
    k->program.ops = k->ops;
    original = NULL;
    for (int o = 0; o < p->nops; o++) {
        k->ops[o] = p->ops[o];
        if (p->ops[o].kind != PTO_TASK)
            continue;
        if (original && original != p->ops[o].scalar)
            die("several scalar operations in one program");
        original = p->ops[o].scalar;
        k->ops[o].scalar = counted_scalar;
    }
    return &k->program;
}

pto_status counted_launch(pto_context *ctx, const pto_launch *l)
{
    pto_launch counted = *l;
    if (l->ntensors > 256)
        die("too many tensors");
    counted.program = with_counted(l->program);
    now = &counted;
    count_grid();
    return pto_launch_bundles(ctx, &counted);
}

// "a read" is in front of "a written": the order of the profile's rows. The kernel's library is unloaded behind it.
__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("TRAFFIC");
    FILE *f = path ? fopen(path, "w") : NULL;
    for (int k = 0; f && k < nrows; k++)
        if (rows[k].moved[0] + rows[k].moved[1] > 0)
            fprintf(f, "{\"tensor\":\"%s\",\"path\":\"%s\",\"read\":%" PRId64 ",\"written\":%" PRId64 ",\"payload_read\":%" PRId64 ",\"payload_written\":%" PRId64 "}\n",
                    rows[k].tensor, rows[k].path, rows[k].moved[0], rows[k].moved[1], rows[k].moved[2], rows[k].moved[3]);
    if (f)
        fclose(f);
    for (int k = 0; k < nrows; k++) {
        free((char *)rows[k].tensor);
        free((char *)rows[k].path);
    }
    while (kept) {
        Kept *next = kept->next;
        free(kept);
        kept = next;
    }
}
