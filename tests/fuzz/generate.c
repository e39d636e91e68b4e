// Draws random kernels: see program.h.
#include "program.h"

#include <string.h>

const char *const type_names[TYPES] = {[F64] = "f64", [F32] = "f32", [BF16] = "bf16", [F16] = "f16", [I64] = "i64", [I32] = "i32", [I16] = "i16",
                                       [I8] = "i8",   [U64] = "u64", [U32] = "u32",   [U16] = "u16", [U8] = "u8",   [BOOL] = "bool"};

bool type_is_float(Type t) {
    return t <= F16;
}

bool type_is_signed(Type t) {
    return t <= I8;
}

bool type_widens(Type from, Type to) {
    bool family = type_is_float(from) == type_is_float(to) && type_is_signed(from) == type_is_signed(to) && (from == BOOL) == (to == BOOL);
    return family && from > to && !(from == F16 && to == BF16);
}

Type type_sum(Type t) {
    return t == BF16 || t == F16 ? F32 : t == I16 || t == I8 || t == BOOL ? I32 : t == U16 || t == U8 ? U32 : t;
}

// ---- chance ----

uint32_t random_below(Random *r, uint32_t n) {
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = r->state ^ r->state >> 29;
    return (uint32_t)((x * 0x9e3779b97f4a7c15u >> 33) % n);
}

int random_in(Random *r, int lo, int hi) {
    return lo + (int)random_below(r, (uint32_t)(hi - lo + 1));
}

bool random_chance(Random *r, uint32_t percent) {
    return random_below(r, 100) < percent;
}

const char *random_pick(Random *r, int n, const char *const *from) {
    return from[random_below(r, (uint32_t)n)];
}

// ---- tensors ----

static Border draw_border(Random *r, Type t) {
    static const Border borders[] = {ZERO, CLAMP, WRAP, REFLECT, ZERO, CONST};
    Border b = borders[random_below(r, sizeof borders / sizeof *borders)];
    return b == CONST && t == BOOL ? CLAMP : b;
}

static Axis draw_axis(Random *r, Kind kind, Type type, int dim) {
    Axis a = {.span = {.dim = dim, .times = 1}};
    if (kind == LOCAL && random_chance(r, 20))
        a.span.lo = random_in(r, -2, 1);
    if (kind != INPUT && random_chance(r, 20))
        a.span.hi = random_in(r, -1, 2);
    if (random_chance(r, kind == INPUT ? 55 : 30))
        a.border = draw_border(r, type);
    return a;
}

void axis_value(const Kernel *k, Random *r, Tensor *t, int d) {
    for (int i = 0; t->axis[d].border == CONST && i < k->n; i++)
        if (k->tensor[i].kind == INPUT && k->tensor[i].rank == 0 && k->tensor[i].type == t->type && random_chance(r, 60))
            t->axis[d].value = i;
}

Tensor *tensor_new(Kernel *k, Random *r, Kind kind, int rank) {
    static const Type types[] = {F32, F32, F32, F32, F64, F64, I32, I32, I64, U8, U8, F16, BF16, I16, I8, U64, U32, U16, BOOL};
    static const int orders[][MOST_RANK] = {{DIM_M, DIM_N, DIM_K}, {DIM_M, DIM_N, DIM_K}, {DIM_N, DIM_M, DIM_K}, {DIM_N, DIM_N, DIM_M}, {DIM_K, DIM_N, DIM_M}};
    const int *order = orders[random_below(r, sizeof orders / sizeof *orders)];
    Tensor *t = &k->tensor[k->n];
    *t = (Tensor){.kind = kind, .rank = rank, .type = types[random_below(r, sizeof types / sizeof *types)], .declared = true, .init = -1};
    text_put(t->name, sizeof t->name, "%c%d", kind == INPUT ? 'x' : kind == LOCAL ? 't' : 'y', k->n++);
    for (int d = 0; d < rank; d++)
        t->axis[d] = draw_axis(r, kind, t->type, order[d]);
    for (int d = 0; d < rank; d++)
        axis_value(k, r, t, d);
    return t;
}

// ---- kernels ----

static const struct { Definer *define; int weight; } definers[] = {
    {define_map, 14},       {define_stencil, 16},  {define_pieces, 10},   {define_triangle, 5},  {define_reduction, 12}, {define_contraction, 6},
    {define_position, 4},   {define_scan, 9},      {define_gather, 4},    {define_histogram, 3}, {define_strided, 4},    {define_scalar, 3},
    {define_updated, 6},    {define_recurrence, 7}, {define_wave, 6},     {define_time, 6},      {define_coupled, 3},    {define_whole, 7},
    {define_faults, 5},     {define_product, 14},  {define_march, 10},
};

static void define_any(Kernel *k, Random *r, Kind kind) {
    enum { N = sizeof definers / sizeof *definers };
    int total = 0;
    for (int i = 0; i < N; i++)
        total += definers[i].weight;
    for (;;) {
        int at = random_in(r, 0, total - 1), i = 0;
        while (at >= definers[i].weight)
            at -= definers[i++].weight;
        if (definers[i].define(k, r, kind))
            return;
    }
}

// A border may have its value.
static void add_scalar(Kernel *k, Random *r) {
    Type type = k->tensor[random_below(r, 3)].type;
    tensor_new(k, r, INPUT, 0)->type = type;
}

// The first three inputs bind M, N and K.
static void add_inputs(Kernel *k, Random *r) {
    static const int dims[3][2] = {{DIM_M, DIM_N}, {DIM_N, NO_DIM}, {DIM_K, DIM_N}};
    for (int i = 0; i < 3; i++) {
        Tensor *t = tensor_new(k, r, INPUT, dims[i][1] == NO_DIM || (i == 2 && random_chance(r, 40)) ? 1 : 2);
        for (int d = 0; d < t->rank; d++)
            t->axis[d].span.dim = dims[i][d];
    }
    if (random_chance(r, 25))
        add_scalar(k, r);
    for (int i = random_in(r, 0, 2); i > 0; i--)
        tensor_new(k, r, INPUT, random_in(r, 0, 2));
}

static bool has_index(const Kernel *k, char name) {
    for (int i = 0; i < k->n; i++)
        for (int e = 0; e < k->tensor[i].n; e++)
            if (strchr(k->tensor[i].equation[e].left, name))
                return true;
    return false;
}

// Tile sizes, and an intermediate kept as a whole or computed where it is used. Some of it is refused: then the kernel
// counts as skipped.
static void draw_schedule(Kernel *k, Random *r) {
    size_t n = 0, size = sizeof k->schedule;
    for (const char *name = "ij"; *name; name++)
        if (has_index(k, *name) && random_chance(r, 15))
            n += (size_t)text_put(k->schedule + n, size - n, "    tile %c = %d;\n", *name, random_in(r, 1, 40));
    for (const char *name = "ij"; *name; name++)
        if (has_index(k, *name) && random_chance(r, 8))
            n += (size_t)text_put(k->schedule + n, size - n, PICK(r, "    parallel %c;\n", "    unroll %c = 4;\n", "    parallel %c dynamic;\n"), *name);
    for (int i = 0; i < k->n; i++)
        if (k->tensor[i].kind == LOCAL && random_chance(r, 8)) {
            bool plain = !k->tensor[i].declared && k->tensor[i].n == 1;
            n += (size_t)text_put(k->schedule + n, size - n, "    %s %s;\n", plain ? "inline" : "materialize", k->tensor[i].name);
        }
    for (int i = 0; i < k->n; i++)
        if (k->tensor[i].kind == LOCAL && k->tensor[i].rank > 1 && k->tensor[i].rank < 4 && random_chance(r, 12))
            n += (size_t)text_put(k->schedule + n, size - n, "    layout %s = (%s);\n", k->tensor[i].name, k->tensor[i].rank == 2 ? "1, 0" : PICK(r, "2, 0, 1", "1, 0, 2"));
}

// Tiles of contractions, for all machines or in a memory of one.
static void draw_tiles(Kernel *k, Random *r) {
    static const char *const all[] = {"i", "j", "l", "k"};
    size_t n = 0, size = sizeof k->schedule;
    const char *tier = "";
    if (random_chance(r, 30)) {
        k->machine = "davinci";
        tier = PICK(r, " in L0", " in L1");
    }
    for (int i = 0; i < 4; i++)
        if ((i == 3 || has_index(k, *all[i])) && random_chance(r, 60))
            n += (size_t)text_put(k->schedule + n, size - n, "    tile %s = %d%s;\n", all[i], random_chance(r, 50) ? 16 << random_below(r, 4) : random_in(r, 1, 70), tier);
}

void kernel_random(Kernel *k, Random *r, const char *name) {
    *k = (Kernel){.time = true, .machine = ""};
    k->positive = random_chance(r, 50);
    k->shuffle = random_chance(r, 30) ? random_below(r, 100) : 0;
    text_put(k->name, sizeof k->name, "%s", name);
    add_inputs(k, r);
    for (int i = random_in(r, 0, 4); i > 0; i--)
        define_any(k, r, LOCAL);
    for (int i = random_in(r, 1, 2); i > 0; i--)
        define_any(k, r, OUTPUT);
    if (k->products && random_chance(r, 35))
        draw_tiles(k, r);
    else
        draw_schedule(k, r);
}
