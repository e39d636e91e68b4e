// size: how large blocks, chunks and tasks are, and how many slots their buffers have.
//
// A search: numbers that a schedule leaves open are tried, the program is built and scheduled for them, and its cost estimated
// (cost.h); the cheapest one that fits is kept. Every trial lives in an arena of its own.
#include "bundles/block.h"

#include "bundles/choice.h"
#include "bundles/schedule.h"
#include "passes/explain.h"

#include <string.h>

enum { WORTH = 200, MOST_GROUP = 1 << 16, SMALLEST = 4, MOST_PARTS = 8 };            // a task should be worth so many times its overhead

typedef struct { Block *b; Arena *scratch; Choice now, best; Cost cost; int64_t margin, smallest_bytes; Choice smallest; bool found; const char *refusal; } Search;

// ---- one choice -----------------------------------------------------------------------------------------------------------------

// Builds and schedules the program. False: it cannot be.
static bool build(Block *b, const Choice *c)
{
    choice_apply(b, c);
    if (b->ndigits > MAX_DIGITS)
        return block_refuse(b, "its blocks would have more than %d digits", MAX_DIGITS);
    block_build(b);
    if (b->refusal)
        return false;
    if (b->ndigits)
        VEC_PUSH(b->a, &b->out->loops, b->loop);
    cost_operations(b);
    const char *problem = bundle_schedule(b->a, b->m, b->out);
    if (problem)
        return block_refuse(b, "%s", problem);
    block_allocate(b);
    return !b->refusal;
}

static int64_t overhead(const Block *b)
{
    int64_t sum = b->m->dispatch;
    for (int i = 0; i < b->out->ops.n; i++)
        sum += b->out->ops.at[i]->cycles;
    return sum + 200;
}

// The cost of s->now; the cheapest one is kept. *worth: how many times its overhead a task should be longer; percent: the overhead.
static bool try_choice(Search *s, int64_t margin, int64_t *worth, int64_t *percent)
{
    Block b = *s->b;
    arena_reset(s->scratch);
    b.a = s->scratch;
    b.dry = true;
    bool fine = build(&b, &s->now), kept = false;
    if (fine) {
        Cost c = cost_of(&b);
        int64_t work = c.task > 0 ? c.task : 1;
        *worth = c.fits ? WORTH * overhead(&b) / work : 0;
        *percent = 100 * overhead(&b) / work;
        bool loops = b.ndigits > 0 || b.naxes == 0 || !wish_exceeds(&b, 1);          // (slots are for what goes round)
        kept = c.fits && loops && (!s->found || c.total < s->cost.total + margin);
        if (kept) {
            s->best = s->now;
            s->cost = c;
            s->found = true;
        }
        bool known = true;
        int64_t size = 0;
        for (int m = 1; m < b.m->nmemories; m++)
            size += cost_value(&b, b.out->need[m], &known);
        if (!c.fits && known && (!s->smallest_bytes || size < s->smallest_bytes)) {
            s->smallest = s->now;
            s->smallest_bytes = size;
        }
    } else if (!s->refusal) {
        s->refusal = arena_strdup(s->b->a, b.refusal);
    }
    return kept;
}

// Single blocks, and groups of them along each dimension.
static void try_tasks(Search *s)
{
    int64_t worth = 0, percent = 0, ignored;
    s->now.grouped = -1;
    bool kept = try_choice(s, s->margin, &worth, &percent);
    for (int q = 0; q < s->b->naxes && worth > 1; q++) {
        if (choice_asked(s->b, q, -1).task)
            continue;
        s->now.grouped = q;
        s->now.most = worth < MOST_GROUP ? worth : MOST_GROUP;
        s->now.percent = percent;
        if (try_choice(s, kept ? s->cost.total / 50 : s->margin, &ignored, &ignored))        // (at another size it may matter more)
            kept = false;
    }
}

// With so many slots for everything; the sums of a multiplication may have fewer.
static void try_depth(Search *s)
{
    bool cube = block_multiplies(s->b) && s->now.depth > 1;
    for (s->now.sums = cube ? 2 : 1; s->now.sums >= 1; s->now.sums--)
        for (s->now.out = s->now.depth < 2 ? s->now.depth : 2; s->now.out >= (cube && s->now.sums == 1 ? 1 : s->now.depth < 2 ? s->now.depth : 2); s->now.out--)
            try_tasks(s);
}

// ---- multiplications --------------------------------------------------------------------------------------------------------------

// The size of a dimension of which `wanted` points would be best.
static int64_t allowed(Block *b, int axis, int64_t wanted)
{
    Asked a = choice_asked(b, axis, -1);
    int64_t all = choice_axis_extent(b, axis);
    if (a.fixed)
        return a.fixed;
    wanted = wanted < all ? wanted : all;
    if (a.hi)
        wanted = wanted < a.lo ? a.lo : wanted > a.hi ? a.hi : wanted;
    return wanted > 0 ? wanted : 1;
}

static BoxAxis role_of_axis(Block *b, int axis)
{
    const BlockStmt *s = block_main(b);
    for (int k = 0; k < s->s->n; k++)
        if (s->index[k].from == FROM_AXIS && s->index[k].which == axis)
            return block_role(b, s, k);
    return AXIS_NONE;
}

// Rows (or columns) of indices that are no dimension of the grid: all of them are in every block.
static int64_t rows_inside(Block *b, BoxAxis role)
{
    const BlockStmt *s = block_main(b);
    int64_t rows = 1;
    for (int k = 0; k < s->s->nouter; k++) {
        const BlockIndex *x = &s->index[k];
        if (x->from == FROM_ALL && x->lo->op == OP_CONST && x->hi->op == OP_CONST && x->hi->i > x->lo->i && block_role(b, s, k) == role)
            rows *= x->hi->i - x->lo->i;
    }
    return rows;
}

// So many rows (or columns) in all, of the last dimension first; of a batch one at a time.
static void set_rows(Search *s, BoxAxis role, int64_t rows)
{
    int64_t inside = rows_inside(s->b, role);
    rows = rows / inside > 0 ? rows / inside : 1;
    for (int q = s->b->naxes - 1; q >= 0; q--) {
        BoxAxis mine = role_of_axis(s->b, q);
        if (mine != role && mine != AXIS_NONE)
            continue;
        s->now.points[q] = mine == AXIS_NONE ? 1 : allowed(s->b, q, rows);
        if (mine == role)
            rows = rows / s->now.points[q] > 0 ? rows / s->now.points[q] : 1;
    }
}

// Chunks of the largest reduced index; those that are a few, like the rows of a stencil, one by one.
static void set_chunks(Search *s, int64_t points)
{
    Block *b = s->b;
    bool large = false;
    for (int i = 0; i < b->nchunks; i++)
        large = large || choice_chunk_extent(b, i) > FEW;
    for (int i = 0; i < b->nchunks; i++) {
        Asked a = choice_asked(b, -1, i);
        int64_t all = choice_chunk_extent(b, i), n = large && all <= FEW ? 1 : points < all ? points : all;
        if (a.hi)
            n = n < a.lo ? a.lo : n > a.hi ? a.hi : n;
        n = a.fixed ? a.fixed : n > 0 ? n : 1;
        s->now.chunk[i] = n;
        points = points / n > 0 ? points / n : 1;
    }
}

static bool has_small_chunks(const Search *s)
{
    for (int i = 0; i < s->b->nchunks; i++)
        if (s->now.chunk[i] == 1 && choice_chunk_extent(s->b, i) > 1)
            return true;
    return false;
}

// Rows (or columns) that a multiplication of the block has.
static int64_t rows_of(const Search *s, BoxAxis role)
{
    int64_t rows = rows_inside(s->b, role);
    for (int q = 0; q < s->b->naxes; q++)
        if (role_of_axis(s->b, q) == role)
            rows *= s->now.points[q] / (q == s->now.split ? s->now.parts : 1);
    return rows;
}

static void split(Search *s, int axis, int parts)
{
    s->now.split = axis;
    s->now.parts = parts;
}

// The fewest parts of one dimension, the first that can, so that each has at most so many rows (or columns).
static bool split_role(Search *s, BoxAxis role, int64_t most)
{
    int64_t least = (rows_of(s, role) + most - 1) / most;
    for (int64_t parts = least; parts <= MOST_PARTS; parts++)
        for (int q = 0; q < s->b->naxes; q++)
            if (role_of_axis(s->b, q) == role && s->now.points[q] % parts == 0) {
                split(s, q, (int)parts);
                return true;
            }
    return false;
}

// Where a block has more rows or columns than the cube takes at once, it is done in parts. False: both have.
static bool set_parts(Search *s)
{
    int64_t most = s->b->m->unit[UNIT_CUBE].most;
    split(s, -1, 1);
    for (int q = 0; q < s->b->naxes; q++) {
        int asked = choice_asked(s->b, q, -1).parts;
        if (asked < 2 || s->now.points[q] % asked != 0 || s->now.split >= 0)
            continue;
        split(s, q, asked);
        if (rows_of(s, role_of_axis(s->b, q)) > most)
            split(s, -1, 1);                            // (it takes more of them)
    }
    for (int role = AXIS_M; role <= AXIS_N; role++)
        if (rows_of(s, (BoxAxis)role) > most && (s->now.split >= 0 || !split_role(s, (BoxAxis)role, most)))
            return false;
    return true;
}

static void try_ways(Search *s)
{
    int ways = has_small_chunks(s) ? 2 : 1;
    for (int a = 0; a < ways; a++)
        for (int c = 0; c < ways; c++) {
            s->now.wide[0] = a;
            s->now.wide[1] = c;
            try_depth(s);
        }
}

static void search_multiply(Search *s)
{
    int64_t most = s->b->m->unit[UNIT_CUBE].most;
    for (int64_t m = 2 * most; m >= most / 4; m /= 2)
        for (int64_t n = 2 * most; n >= most / 4; n /= 2)
            for (int64_t k = most; k >= most / 8; k /= 2) {
                set_rows(s, AXIS_M, m);
                set_rows(s, AXIS_N, n);
                set_chunks(s, k);
                if (set_parts(s))
                    try_ways(s);
                else if (!s->refusal)
                    s->refusal = "a block has more rows and columns than the cube takes at once";
            }
}

// The best sizes in parts, so that what is done early leaves early.
static void refine_parts(Search *s)
{
    Choice best = s->best;
    for (int q = 0; q < s->b->naxes && best.split < 0; q++)
        for (int parts = 2; parts <= 4; parts *= 2) {
            if (best.points[q] % parts != 0 || best.points[q] / parts < 8 || choice_asked(s->b, q, -1).parts)
                continue;
            s->now = best;
            s->now.split = q;
            s->now.parts = parts;
            try_depth(s);
        }
}

// And with whole factors of a task on the way.
static void refine_ways(Search *s)
{
    Choice best = s->best;
    for (int w = 1; w < 4; w++) {
        s->now = best;
        s->now.wide[0] = w & 1 ? 2 : best.wide[0];
        s->now.wide[1] = w & 2 ? 2 : best.wide[1];
        try_depth(s);
    }
}

// Other depths: three slots where they cost nothing, since other cores may be in the way more often than on the average.
static void refine_depth(Search *s)
{
    Choice best = s->best;
    for (int depth = 1; depth <= 3; depth += 2) {
        s->now = best;
        s->now.depth = depth;
        s->margin = depth == 3 ? s->cost.total / 1000 : 0;
        try_depth(s);
    }
}

// The dimension along which rows run: those behind it are a few points.
static int row_axis(Block *b)
{
    int q = b->naxes - 1;
    while (q > 0 && choice_axis_extent(b, q) <= FEW)
        q--;
    return q;
}

// With more rows where they turn out to be short.
static void refine_rows(Search *s)
{
    int row = row_axis(s->b);
    if (row < 1 || choice_axis_extent(s->b, row) != INT64_MAX)
        return;
    for (int q = row - 1; q <= row; q++) {
        Asked a = choice_asked(s->b, q, -1);
        if (a.fixed || a.hi || a.task || a.parts)
            return;
    }
    s->now = s->best;
    s->now.filled = row - 1;
    s->margin = 1;
    try_depth(s);
    s->margin = 0;
}

// For the sizes that are best so far.
static void refine(Search *s)
{
    if (block_multiplies(s->b)) {
        refine_ways(s);
        refine_parts(s);
    } else if (!choice_open_extent(s->b)) {
        refine_rows(s);
    }
    refine_depth(s);
}

// ---- everything else ----------------------------------------------------------------------------------------------------------------

static void search_rows(Search *s)
{
    Block *b = s->b;
    for (int64_t elements = 8192; elements >= 64; elements /= 2) {
        for (int q = 0; q < b->naxes; q++)
            s->now.points[q] = allowed(b, q, 1);
        s->now.elements = b->naxes && !choice_asked(b, 0, -1).fixed ? elements : 0;
        set_chunks(s, FEW);
        try_depth(s);
    }
}

// Rows of so many points, so many of them; dimensions that are a few points, like the colours of an image, belong to a point of the row.
static void set_box(Search *s, int64_t row, int64_t rows)
{
    Block *b = s->b;
    int last = row_axis(b);
    for (int q = b->naxes - 1; q > last; q--) {
        s->now.points[q] = allowed(b, q, row);
        row = row / s->now.points[q] > 0 ? row / s->now.points[q] : 1;
    }
    for (int q = 0; q <= last; q++)
        s->now.points[q] = allowed(b, q, q == last ? row : q == last - 1 ? rows : 1);
}

static void search_box(Search *s)
{
    Block *b = s->b;
    int last = row_axis(b);
    for (int64_t row = 4096; row >= 16; row /= 2)
        for (int64_t rows = last > 0 ? 32 : 1; rows >= 1; rows /= 2) {
            set_box(s, row, rows);
            for (int64_t k = b->nchunks ? 64 : 1; k >= 1; k /= 4) {
                set_chunks(s, k);
                if (row * rows <= 16384)
                    try_depth(s);
            }
        }
}

static void search(Search *s)
{
    if (block_multiplies(s->b))
        search_multiply(s);
    else if (choice_open_extent(s->b))
        search_rows(s);
    else
        search_box(s);
}

static void search_depths(Search *s)
{
    Block *b = s->b;
    for (b->smaller = 0; b->smaller < SMALLEST && !s->found; b->smaller += !s->found)
        for (s->now.depth = 2; s->now.depth >= 1 && !s->found; s->now.depth--)
            search(s);
}

// Slots that a schedule asks for step down where they do not fit.
static void search_slots(Search *s)
{
    Block *b = s->b;
    search_depths(s);
    for (int most = 2; most >= 1 && !s->found; most--) {
        if (!wish_exceeds(b, most))
            continue;
        b->most_slots = most;
        search_depths(s);
    }
    if (s->found && b->most_slots)
        wish_report_depth(b);
}

// ---- what was chosen ----------------------------------------------------------------------------------------------------------

static const char *sizes(Block *b)
{
    const char *text = "";
    for (int q = 0; q < b->naxes; q++)
        text = arena_printf(b->a, "%s%s%s of `%s`", text, q ? " x " : "", explain_size(b->a, b->axis[q].block), b->axis[q].name);
    for (int i = 0; i < b->nchunks; i++)
        text = arena_printf(b->a, "%s%s%s of `%s`", text, i ? " x " : ", in chunks of ", explain_size(b->a, b->chunk[i].size), b->chunk[i].name);
    return text;
}

static const char *many_blocks(Block *b, Expr *count)
{
    const char *text = explain_size(b->a, count);
    return strlen(text) < 40 ? arena_printf(b->a, "%s blocks", text) : "as many blocks as still leave every core the same number of tasks";
}

static void explain(Block *b, const Search *s)
{
    Sentences *why = &b->leaf->why;
    if (!b->p->explain)
        return;
    explain_say(b->p, why, "Blocks have %s.", b->naxes || b->nchunks ? sizes(b) : "one point");
    for (int q = 0; q < b->naxes; q++)
        if (!expr_is_int(b->axis[q].count, 1))
            explain_say(b->p, why, "A task has %s along `%s`: handing it out costs %lld %% of the time of one.", many_blocks(b, b->axis[q].count), b->axis[q].name, (long long)s->best.percent);
    if (b->split >= 0)
        explain_say(b->p, why, "A block is done in %d parts along `%s`, which leave as soon as they are done.", b->parts, b->axis[b->split].name);
    explain_say(b->p, why, "The %s unit has most to do: %lld of %lld cycles of a task, about.", machine_unit_names()[s->cost.busiest], (long long)s->cost.busy, (long long)s->cost.task);
    for (int i = 0; i < b->out->buffers.n; i++) {
        const Buffer *x = b->out->buffers.at[i];
        explain_say(b->p, why, "`%s` takes %d x %s bytes of %s.", x->name, x->slots, explain_size(b->a, x->bytes), b->m->memory[x->memory].name);
    }
}

void block_sizes(Block *b)
{
    Search s = { .b = b, .scratch = arena_new(), .now = { .grouped = -1, .split = -1, .parts = 1, .filled = -1 } };
    search_slots(&s);
    if (!s.found && s.smallest_bytes) {
        b->around = true;
        b->most_slots = 0;
        search_slots(&s);
    }
    if (s.found)
        refine(&s);
    arena_free(s.scratch);
    if (s.found) {
        build(b, &s.best);
        explain(b, &s);
        return;
    }
    b->told = s.smallest_bytes && build(b, &s.smallest) && wish_report_capacity(b);
    b->refusal = NULL;
    block_refuse(b, "%s", s.refusal ? s.refusal : "no block of it fits the memories");
}
