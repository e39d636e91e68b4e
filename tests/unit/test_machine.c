// Machine descriptions: what is read from them, and what is refused; numbers that are replaced; the table for the runtime.
#include "emit/emit.h"
#include "machine/machine.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *suite_machine(void);

static char folder[64];
static Arena *arena;

static void setup(void) {
    strcpy(folder, "/tmp/ptoc-machine-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    arena = arena_new();
}

static void teardown(void) {
    const char *names[] = {"m", "b", "a"};
    for (int i = 0; i < 3; i++)
        unlink(arena_printf(arena, "%s/%s.pto", folder, names[i]));
    rmdir(folder);
    arena_free(arena);
}

static void write_file(const char *name, const char *text) {
    FILE *f = fopen(arena_printf(arena, "%s/%s.pto", folder, name), "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static const Machine *load_with(const char *body, const char *set, const char **error) {
    write_file("m", arena_printf(arena, "machine m { %s }\n", body));
    *error = NULL;
    return machine_load(arena, folder, "m", set, error);
}

static const Machine *load(const char *body, const char **error) { return load_with(body, NULL, error); }

static void refused(const char *body, const char *why) {
    const char *error;
    ck_assert_ptr_null(load(body, &error));
    ck_assert_msg(error && strstr(error, why), "%s: %s", body, error);
}

START_TEST(all_fields_are_read) {
    const char *error;
    const Machine *m = load("about = \"a test\"; isa = \"x86-64-v3\"; attribute = \"avx2,fma\";"
                            "memory L1 { size = 48 KiB; shared = core; line = 128 B; } memory L2 { size = 2 MiB; shared = chip; }"
                            "unit vector { width = 32 B; registers = 16; fma = 1; } emits c;", &error);
    ck_assert_msg(m != NULL, "%s", error);
    ck_assert_str_eq(m->name, "m");
    ck_assert_str_eq(m->about, "a test");
    ck_assert_str_eq(m->isa, "x86-64-v3");
    ck_assert_str_eq(m->attribute, "avx2,fma");
    ck_assert_int_eq(m->vector_bytes, 32);
    ck_assert_int_eq(m->vector_registers, 16);
    ck_assert(m->fma);
    ck_assert_int_eq(m->ntiers, 2);
    ck_assert_str_eq(m->tier[0].name, "L1");
    ck_assert(m->tier[0].per_core && !m->tier[1].per_core);
    ck_assert(m->emits_c && !m->emits_bundles && !m->set);
    ck_assert_int_eq(m->nmemories, 2);
    ck_assert_int_eq(m->line_bytes, 128);
    ck_assert_int_eq(machine_tier_bytes(m, 0), 48 << 10);
    ck_assert_int_eq(machine_tier_bytes(m, 1), 2 << 20);
    ck_assert_int_eq(machine_tier_bytes(m, 5), 2 << 20);
}
END_TEST

START_TEST(nothing_said_is_a_plain_machine) {
    const char *error;
    const Machine *m = load("", &error);
    ck_assert_ptr_nonnull(m);
    ck_assert_int_eq(m->vector_bytes, 0);
    ck_assert_int_eq(m->ntiers, 0);
    ck_assert_int_gt(machine_tier_bytes(m, 0), 0);
}
END_TEST

START_TEST(mistakes_are_named) {
    refused("speed = 3;", "machine field `speed`: unknown");
    refused("memory L1 { size = 48 KB; }", "machine field `size`: a number with a unit");
    refused("memory L1 { size = many; }", "machine field `size`: a number with a unit");
    refused("memory L1 { sise = 4 KiB; }", "machine field `sise`: unknown");
    refused("unit vector { width = 32 B; height = 2; }", "machine field `height`: unknown");
    refused("memory A { size = 1 B; } memory B { size = 1 B; } memory C { size = 1 B; } memory D { size = 1 B; } memory E { size = 1 B; }"
            "memory F { size = 1 B; } memory G { size = 1 B; } memory H { size = 1 B; } memory I { size = 1 B; }", "`memory I`: too many memories");
    refused("memory L1 { size = 4 KiB; shared = cor; }", "machine field `shared`: `core`, `cluster` or `chip` was expected (in `memory L1`)");
    refused("memory L1 { shared = core; }", "machine field `memory L1`: it has no `size`");
    refused("memory L1 { size = 0 B; }", "machine field `size`: it must be at least 1 (in `memory L1`)");
    refused("memory L1 { size = 1 B; } memory L1 { size = 1 B; }", "`memory L1`: declared twice");
    refused("memory { size = 1 B; }", "machine field `memory`: a memory has one name");
    refused("emits java;", "machine field `emits`: `c` or `bundles` was expected");
    refused("about = 3;", "machine field `about`: a name or a string was expected");
    refused("unit cube { queue = 2; } emits c;", "machine field `unit cube`: unknown");
    refused("clock = 1 GHz; emits c;", "machine field `clock`: unknown");
    refused("memory L1 { size = 1 B; backing; } emits c;", "machine field `backing`: unknown");
}
END_TEST

// ---- accelerators ----

#define HEAD "emits bundles; clock = 1.5 GHz; clusters = 2; cores = 4; dispatch = 9;"
#define MEMORIES "memory D { size = 1 GiB; } memory X { size = 1 MiB; shared = chip; backing; } memory L { size = 64 KiB; shared = cluster; }" \
                 "memory S { size = 4 KiB; shared = core; }"
#define PATHS "path D to L { width = 32 B; latency = 7; burst = 64 B; } path L to S { width = 16 B; }"
#define CUBE "unit cube { shape 4 x 5 x 6 { inputs = f16 bf16; accumulates = f32; } shape 1 x 2 x 3 { inputs = i8; accumulates = i32; passes = 2; }" \
             "a = S; b = S; c = L; port = S 512 B; port = L 64 B; queue = 2; latency = 8; most = 64; }"
#define VECTOR "unit vector { width = 128 B; memory = S; port = S 256 B; cost exp = 8, div = 4; cost select = 2; }"
#define MOVES "unit load { queue = 3; most = 16 KiB; } unit store { } unit dma { latency = 5; }"
#define SCALAR "unit scalar { queue = 6; }"
#define ALL HEAD MEMORIES PATHS CUBE VECTOR MOVES SCALAR

START_TEST(accelerators_have_numbers_and_memories) {
    const char *error;
    const Machine *m = load(ALL, &error);
    ck_assert_msg(m != NULL, "%s", error);
    ck_assert(m->emits_bundles && !m->emits_c);
    ck_assert_int_eq(m->hertz, 1500000000);
    ck_assert_int_eq(m->clusters, 2);
    ck_assert_int_eq(m->cores, 4);
    ck_assert_int_eq(m->dispatch, 9);
    ck_assert_int_eq(m->nmemories, 4);
    ck_assert_str_eq(m->memory[0].name, "D");
    ck_assert(m->memory[0].bytes == 1 << 30 && m->memory[0].shared == SHARED_CHIP && !m->memory[0].backing);
    ck_assert(m->memory[1].backing && m->memory[2].shared == SHARED_CLUSTER && m->memory[3].shared == SHARED_CORE);
    ck_assert_int_eq(machine_memory(m, "L"), 2);
    ck_assert_int_eq(machine_memory(m, "M"), -1);
    // Tiers: what is on the chip, a core's own first.
    ck_assert_int_eq(m->ntiers, 2);
    ck_assert_str_eq(m->tier[0].name, "S");
    ck_assert_str_eq(m->tier[1].name, "L");
    ck_assert(m->tier[0].per_core && !m->tier[1].per_core && m->tier[0].bytes == 4 << 10);
}
END_TEST

static const Path *path(const Machine *m, const char *from, const char *to) {
    int at = machine_path(m, machine_memory(m, from), machine_memory(m, to));
    return at < 0 ? NULL : &m->path[at];
}

START_TEST(paths_join_memories) {
    const char *error;
    const Machine *m = load(HEAD MEMORIES "path D to L { width = 32 B; latency = 7; burst = 64 B; shared = core; }"
                            "path L to S { width = 16 B; } path X to L { width = 8 B; } path L to X { width = 4 B; by = store; }"
                            "path S to D { width = 1 B; direction = one; } path X to S { width = 2 B; by = load dma; }" MOVES SCALAR, &error);
    ck_assert_msg(m != NULL, "%s", error);
    const Path *p = path(m, "D", "L");
    ck_assert(p->width == 32 && p->latency == 7 && p->burst == 64 && p->shared == SHARED_CORE);
    ck_assert(p->both && path(m, "L", "D") == p && p->by == UNIT_DMA && p->by_back == UNIT_DMA);
    p = path(m, "L", "S");
    ck_assert(p->both && p->latency == 0 && p->burst == 0 && p->shared == SHARED_CLUSTER && p->by == UNIT_LOAD && p->by_back == UNIT_STORE);
    p = path(m, "X", "L");
    ck_assert(!p->both && p->width == 8 && p->shared == SHARED_CHIP && p->by == UNIT_DMA);
    p = path(m, "L", "X");
    ck_assert(!p->both && p->width == 4 && p->by == UNIT_STORE && p->by_back == UNIT_LOAD);
    ck_assert(!path(m, "S", "D")->both && !path(m, "D", "S"));
    ck_assert(path(m, "X", "S")->by == UNIT_LOAD && path(m, "X", "S")->by_back == UNIT_DMA);
}
END_TEST

START_TEST(units_work_on_memories) {
    const char *error;
    const Machine *m = load(ALL, &error);
    ck_assert_msg(m != NULL, "%s", error);
    const MachineUnit *u = &m->unit[UNIT_CUBE];
    ck_assert(u->present && u->queue == 2 && u->latency == 8 && u->most == 64 && u->nshapes == 3 && u->nports == 2);
    ck_assert(u->shape[0].inputs == DT_F16 && u->shape[1].inputs == DT_BF16 && u->shape[1].accumulates == DT_F32 && u->shape[0].passes == 1);
    ck_assert(u->shape[1].m == 4 && u->shape[1].n == 5 && u->shape[1].k == 6);
    ck_assert(u->shape[2].inputs == DT_I8 && u->shape[2].accumulates == DT_I32 && u->shape[2].passes == 2 && u->shape[2].k == 3);
    ck_assert(u->port[0].memory == 3 && u->port[0].width == 512 && u->port[1].memory == 2 && u->port[1].width == 64);
    ck_assert(u->memory_a == 3 && u->memory_b == 3 && u->memory_c == 2);
    u = &m->unit[UNIT_VECTOR];
    ck_assert(u->present && u->width == 128 && u->memory == 3 && u->queue == 1 && u->port[0].width == 256);
    ck_assert(m->unit[UNIT_LOAD].queue == 3 && m->unit[UNIT_LOAD].most == 16 << 10 && m->unit[UNIT_STORE].most == 0);
    ck_assert(m->unit[UNIT_DMA].latency == 5 && m->unit[UNIT_SCALAR].queue == 6 && m->unit[UNIT_SCALAR].memory == 0);
    ck_assert(machine_cost(m, "exp") == 8 && machine_cost(m, "div") == 4 && machine_cost(m, "select") == 2);
    ck_assert(machine_cost(m, "add") == 1 && machine_cost(m, "nothing") == 1);
    ck_assert_str_eq(machine_unit_names()[UNIT_DMA], "dma");
    m = load(HEAD MEMORIES SCALAR, &error);
    ck_assert_msg(m != NULL, "%s", error);
    ck_assert(!m->unit[UNIT_CUBE].present && !m->unit[UNIT_DMA].present);
}
END_TEST

START_TEST(accelerators_need_a_few_things) {
    refused("emits bundles; cores = 1;" MEMORIES SCALAR, "machine field `clock`: it is missing");
    refused("emits bundles; clock = 1 GHz;" MEMORIES SCALAR, "machine field `cores`: it is missing");
    refused(HEAD SCALAR, "machine field `memory`: there is none");
    refused(HEAD MEMORIES, "machine field `unit scalar`: there is none");
    refused(HEAD "memory D { size = 1 B; shared = core; }" SCALAR, "machine field `memory D`: the first one is behind all others");
    refused(HEAD "memory D { size = 1 B; backing; }" SCALAR, "machine field `memory D`: the first one is behind all others");
    refused(HEAD MEMORIES "memory E { size = 1 B; shared = core; backing; }" SCALAR, "machine field `memory E`: tensors lie in it");
    refused(HEAD MEMORIES SCALAR "path D to Q { width = 1 B; }", "machine field `path D to Q`: no memory is called `Q`");
    refused(HEAD MEMORIES SCALAR "path D to L { latency = 1; }", "machine field `path D to L`: it has no `width`");
    refused(HEAD MEMORIES SCALAR "path D to L { width = 0 B; }", "machine field `width`: it must be at least 1 (in `path D to L`)");
    refused(HEAD MEMORIES SCALAR "path D to L { width = 1 B; }", "machine field `path D to L`: there is no unit `dma`");
    refused(HEAD MEMORIES SCALAR "unit load { } path L to S { width = 1 B; }", "machine field `path L to S`: there is no unit `store`");
    refused(HEAD MEMORIES SCALAR CUBE "unit vector { memory = S; }", "machine field `unit vector`: it has no `width`");
    refused(HEAD MEMORIES SCALAR "unit vector { width = 1 B; }", "machine field `unit vector`: it has no `memory`");
    refused(HEAD MEMORIES SCALAR "unit vector { width = 1 B; memory = Q; }", "machine field `memory`: no memory is called `Q` (in `unit vector`)");
    refused(HEAD MEMORIES SCALAR "unit vector { width = 1 B; memory = X; }", "machine field `unit vector`: it cannot reach `X`");
    refused(HEAD MEMORIES SCALAR "unit cube { a = S; b = S; c = S; }", "machine field `unit cube`: it has no `shape`");
    refused(HEAD MEMORIES SCALAR "unit cube { shape 1 x 1 x 1 { inputs = f16; accumulates = f32; } a = S; c = S; }", "machine field `unit cube`: it has no `b`");
    refused("emits bundles; clock = 1 GHz; clusters = 5000; cores = 2;" MEMORIES SCALAR, "5000 clusters of 2 are more than 4096 cores");
}
END_TEST

START_TEST(mistakes_in_accelerators_are_named) {
    refused(HEAD "clock = 3 KiB;" MEMORIES SCALAR, "machine field `clock`: a number with a unit (Hz, kHz, MHz, GHz) was expected");
    refused(HEAD "cores = 2 B;" MEMORIES SCALAR, "machine field `cores`: a number was expected");
    refused(HEAD "cores = 0;" MEMORIES SCALAR, "machine field `cores`: it must be at least 1");
    refused(HEAD "memory D { size = 1 B; line = 64 B; }" SCALAR, "machine field `line`: unknown (in `memory D`)");
    refused(HEAD "memory D { size = 1 B; backing = 1; }" SCALAR, "machine field `backing`: it takes no value");
    refused(HEAD MEMORIES SCALAR "path D L { width = 1 B; }", "machine field `path D L`: `path A to B` was expected");
    refused(HEAD MEMORIES SCALAR "path D to D { width = 1 B; }", "machine field `path D to D`: from a memory to itself");
    refused(HEAD MEMORIES SCALAR PATHS PATHS, "machine field `path D to L`: declared twice");
    refused(HEAD MEMORIES SCALAR "path D to L { wide = 1 B; }", "machine field `wide`: unknown (in `path D to L`)");
    refused(HEAD MEMORIES SCALAR "path D to L { direction = two; }", "machine field `direction`: `one` was expected");
    refused(HEAD MEMORIES SCALAR "path D to L { by = cube; }", "machine field `by`: `load`, `store` or `dma` was expected");
    refused(HEAD MEMORIES SCALAR "path D to L { by = load store dma; }", "machine field `by`: `load`, `store` or `dma` was expected");
    refused(HEAD MEMORIES SCALAR SCALAR, "machine field `unit scalar`: declared twice");
    refused(HEAD MEMORIES SCALAR "unit tensor { }", "machine field `unit tensor`: `cube`, `vector`, `load`, `store`, `dma` or `scalar` was expected");
    refused(HEAD MEMORIES "unit scalar { width = 4 B; }", "machine field `width`: unknown (in `unit scalar`)");
    refused(HEAD MEMORIES SCALAR "unit load { memory = S; }", "machine field `memory`: unknown (in `unit load`)");
    refused(HEAD MEMORIES SCALAR "unit vector { shape 1 x 1 x 1 { } }", "machine field `shape 1 x 1 x 1`: unknown (in `unit vector`)");
    refused(HEAD MEMORIES SCALAR "unit cube { shape 4 by 4 { } }", "machine field `shape 4 by 4`: `shape M x N x K` was expected");
    refused(HEAD MEMORIES SCALAR "unit cube { shape 4 x 0 x 4 { } }", "it must be at least 1");
    refused(HEAD MEMORIES SCALAR "unit cube { shape 1 x 1 x 1 { inputs = f17; } }", "machine field `inputs`: the name of a type was expected");
    refused(HEAD MEMORIES SCALAR "unit cube { shape 1 x 1 x 1 { inputs = f16; } }", "machine field `shape 1 x 1 x 1`: it has no `accumulates`");
    refused(HEAD MEMORIES SCALAR "unit cube { shape 1 x 1 x 1 { accumulates = f32; } }", "machine field `shape 1 x 1 x 1`: it has no `inputs`");
    refused(HEAD MEMORIES SCALAR "unit cube { shape 1 x 1 x 1 { inputs = f16 f16; accumulates = f32; } }", "`f16` has two shapes");
    refused(HEAD MEMORIES SCALAR "unit cube { shape 1 x 1 x 1 { inputs = f16 f32 f64 i8 u8; accumulates = f32; } }", "too many types of inputs");
    refused(HEAD MEMORIES SCALAR "unit cube { a = Q; }", "machine field `a`: no memory is called `Q` (in `unit cube`)");
    refused(HEAD MEMORIES SCALAR "unit cube { port = S; }", "machine field `port`: a number with a unit");
    refused(HEAD MEMORIES SCALAR "unit vector { port = S 1 B; port = S 2 B; }", "machine field `port`: a second port to one memory");
    refused(HEAD MEMORIES SCALAR "unit vector { cost expo = 3; }", "machine field `cost`: no operation is called `expo`");
    refused(HEAD MEMORIES SCALAR "unit vector { cost read = 3; }", "machine field `cost`: no operation is called `read`");
    refused(HEAD MEMORIES SCALAR "unit vector { cost = 3; }", "machine field `cost`: `cost OPERATION = CYCLES` was expected");
    refused(HEAD MEMORIES SCALAR "unit vector { cost exp = 0; }", "machine field `cost`: it must be at least 1");
}
END_TEST

// ---- --machine-set ----

START_TEST(numbers_are_replaced) {
    const char *error, *set = "cores=3,clusters=1,clock=2GHz,dispatch=0,L.size=128KiB,D.L.width=2,L.D.latency=1,D.L.burst=0,"
                              "cube.queue=7,cube.most=32,cube.S.width=64B,vector.width=256,load.most=1KiB,scalar.latency=2";
    const Machine *m = load_with(ALL, set, &error);
    ck_assert_msg(m != NULL, "%s", error);
    ck_assert_str_eq(m->set, set);
    ck_assert(m->cores == 3 && m->clusters == 1 && m->hertz == 2000000000 && m->dispatch == 0);
    ck_assert(m->memory[2].bytes == 128 << 10 && m->tier[1].bytes == 128 << 10);
    ck_assert(m->path[0].width == 2 && m->path[0].latency == 1 && m->path[0].burst == 0);
    ck_assert(m->unit[UNIT_CUBE].queue == 7 && m->unit[UNIT_CUBE].most == 32 && m->unit[UNIT_CUBE].port[0].width == 64);
    ck_assert(m->unit[UNIT_VECTOR].width == 256 && m->unit[UNIT_LOAD].most == 1 << 10 && m->unit[UNIT_SCALAR].latency == 2);
    m = load_with("memory L1 { size = 32 KiB; } emits c;", "L1.size=8KiB", &error);
    ck_assert_msg(m != NULL && m->tier[0].bytes == 8 << 10, "%s", error);
    // What an accelerator lacks may come from there.
    m = load_with("emits bundles; clock = 1 GHz; cores = 1; memory D { size = 1 B; }" SCALAR, "D.size=1GiB", &error);
    ck_assert_msg(m != NULL && m->memory[0].bytes == 1 << 30, "%s", error);
}
END_TEST

static void not_set(const char *body, const char *set, const char *why) {
    const char *error;
    ck_assert_ptr_null(load_with(body, set, &error));
    ck_assert_msg(error && strstr(error, why), "%s: %s", set, error);
}

START_TEST(mistakes_in_sets_are_named) {
    not_set(ALL, "coers=3", "m has no number `coers`; did you mean `cores`?");
    not_set(ALL, "cores=4,L.sise=3", "m has no number `L.sise`; did you mean `L.size`?");
    not_set(ALL, "quite another=3", "m has no number `quite another`");
    not_set(ALL, "cores", "--machine-set needs NAME=VALUE, not 'cores'");
    not_set(ALL, "cores=1,", "--machine-set needs NAME=VALUE, not ''");
    not_set(ALL, "=1", "--machine-set needs NAME=VALUE, not '=1'");
    not_set(ALL, "cores=", "`cores=`: a number was expected");
    not_set(ALL, "cores=-1", "`cores=-1`: a number was expected");
    not_set(ALL, "cores=4KiB", "`cores=4KiB`: a number was expected");
    not_set(ALL, "cores=99999999999999999999", "a number was expected");
    not_set(ALL, "cores=2000000000", "a number was expected");
    not_set(ALL, "L.size=128 KiB", "`L.size=128 KiB`: a number with a unit (B, KiB, MiB, GiB) was expected");
    not_set(ALL, "L.size=0", "`L.size=0`: it must be at least 1");
    not_set(ALL, "clock=3KiB", "`clock=3KiB`: a number with a unit (Hz, kHz, MHz, GHz) was expected");
    not_set(ALL, "clusters=3000", "3000 clusters of 4 are more than 4096 cores");
    not_set("memory L1 { size = 32 KiB; } emits c;", "cores=3", "m has no number `cores`");
}
END_TEST

// ---- the descriptions that come with the compiler ----

static const Machine *shipped(const char *name) {
    const char *error = NULL;
    const Machine *m = machine_load(arena, "targets", name, NULL, &error);
    ck_assert_msg(m != NULL, "%s", error);
    return m;
}

START_TEST(davinci_is_as_documented) {
    const Machine *m = shipped("davinci");
    ck_assert(m->clusters == 2 && m->cores == 8 && m->hertz == 1000000000 && m->dispatch == 64);
    ck_assert(m->nmemories == 3 && m->npaths == 2 && m->memory[0].bytes == INT64_C(8) << 30);
    ck_assert_str_eq(m->tier[0].name, "L0");
    ck_assert_str_eq(m->tier[1].name, "L1");
    const Path *p = path(m, "DDR", "L1"), *q = path(m, "L0", "L1");
    ck_assert(p->width == 32 && p->latency == 128 && p->burst == 64 && p->shared == SHARED_CHIP && p->both);
    ck_assert(q->width == 128 && q->latency == 16 && q->shared == SHARED_CLUSTER && q->by == UNIT_LOAD && q->by_back == UNIT_STORE);
    ck_assert(m->unit[UNIT_CUBE].nshapes == 4 && m->unit[UNIT_CUBE].shape[2].inputs == DT_F32 && m->unit[UNIT_CUBE].shape[2].passes == 2);
    ck_assert_int_gt(machine_cost(m, "exp"), machine_cost(m, "mul"));
}
END_TEST

// Tensors reach every operand, results come back, and two operands and a sum of the largest blocks fit.
START_TEST(shipped_accelerators_are_whole) {
    const char *names[] = {"davinci", "ascend910b", "kirin9030"};
    for (int i = 0; i < 3; i++) {
        const Machine *m = shipped(names[i]);
        const MachineUnit *cube = &m->unit[UNIT_CUBE], *vector = &m->unit[UNIT_VECTOR];
        for (int from = 0; from < m->nmemories && (from == 0 || m->memory[from].backing); from++)
            ck_assert_int_ge(machine_path(m, from, machine_memory(m, "L1")), 0);
        ck_assert_int_ge(machine_path(m, machine_memory(m, "L1"), cube->memory_a), 0);
        ck_assert_int_ge(machine_path(m, machine_memory(m, "L1"), cube->memory_b), 0);
        ck_assert(cube->memory_c == vector->memory || machine_path(m, cube->memory_c, vector->memory) >= 0);
        int64_t block = cube->most * cube->most;
        ck_assert_int_le(2 * block, m->memory[cube->memory_a].bytes);
        ck_assert_int_le(4 * block + (cube->memory_a == cube->memory_c ? 4 * block : 0), m->memory[cube->memory_c].bytes);
        for (int k = 0; k < UNIT_KINDS; k++)
            ck_assert(m->unit[k].present);
    }
}
END_TEST

START_TEST(machines_are_tables_for_the_runtime) {
    const char *names[] = {"davinci", "ascend910b", "kirin9030"}, *cc = getenv("CC");
    const char *source = arena_printf(arena, "%s/machines.c", folder);
    FILE *f = fopen(source, "w");
    ck_assert_ptr_nonnull(f);
    fputs("#include <ptort/model.h>\n", f);
    for (int i = 0; i < 3; i++)
        emit_c_machine(f, shipped(names[i]));
    fputs("extern const pto_machine *all[3];\nconst pto_machine *all[3] = { &ptoc_davinci_machine, &ptoc_ascend910b_machine, &ptoc_kirin9030_machine };\n"
          "_Static_assert(sizeof all / sizeof *all == 3, \"\");\n", f);
    fclose(f);
    int code = system(arena_printf(arena, "%s -std=c11 -Wall -Wextra -Wpedantic -Werror -Iruntime/include -fsyntax-only %s", cc && *cc ? cc : "cc", source));
    unlink(source);
    ck_assert_int_eq(code, 0);
    size_t size;
    char *text;
    f = open_memstream(&text, &size);
    emit_c_machine(f, shipped("davinci"));
    fclose(f);
    ck_assert_ptr_nonnull(strstr(text, ".name = \"davinci\", .hertz = 1000000000, .clusters = 2, .cores = 8, .dispatch = 64,"));
    ck_assert_ptr_nonnull(strstr(text, "{ .from = 1, .to = 2, .both = 1, .width = 128, .latency = 16, .shared = PTO_SHARED_CLUSTER }"));
    ck_assert_ptr_nonnull(strstr(text, "{ .inputs = PTO_F32, .accumulates = PTO_F32, .m = 4, .n = 4, .k = 1, .passes = 2 }"));
    free(text);
}
END_TEST

// ---- files ----

START_TEST(other_files_are_no_machines) {
    const char *error = NULL;
    write_file("a", "machine x { } machine y { }\n");
    ck_assert_ptr_null(machine_load(arena, folder, "a", NULL, &error));
    ck_assert_ptr_nonnull(strstr(error, "a.pto: not a machine description"));
    write_file("b", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i]; }\n");
    ck_assert_ptr_null(machine_load(arena, folder, "b", NULL, &error));
    ck_assert_ptr_nonnull(strstr(error, "b.pto: not a machine description"));
}
END_TEST

START_TEST(names_are_not_paths) {
    const char *bad[] = {"../m", "", ".", ".hidden", "a/b"}, *error;
    for (int i = 0; i < 5; i++) {
        error = NULL;
        ck_assert_ptr_null(machine_load(arena, folder, bad[i], NULL, &error));
        ck_assert_ptr_nonnull(error);
    }
    ck_assert_ptr_null(machine_load(arena, folder, "nothing", NULL, &error));
}
END_TEST

START_TEST(names_are_sorted_and_native_is_last) {
    write_file("b", "machine b { }\n");
    write_file("a", "machine a { }\n");
    const char **names;
    ck_assert_int_eq(machine_names(arena, folder, &names), 3);
    ck_assert_str_eq(names[0], "a");
    ck_assert_str_eq(names[1], "b");
    ck_assert_str_eq(names[2], "native");
}
END_TEST

Suite *suite_machine(void) {
    Suite *s = suite_create("machine");
    TCase *c = tcase_create("machine");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, all_fields_are_read);
    tcase_add_test(c, nothing_said_is_a_plain_machine);
    tcase_add_test(c, mistakes_are_named);
    tcase_add_test(c, accelerators_have_numbers_and_memories);
    tcase_add_test(c, paths_join_memories);
    tcase_add_test(c, units_work_on_memories);
    tcase_add_test(c, accelerators_need_a_few_things);
    tcase_add_test(c, mistakes_in_accelerators_are_named);
    tcase_add_test(c, numbers_are_replaced);
    tcase_add_test(c, mistakes_in_sets_are_named);
    tcase_add_test(c, davinci_is_as_documented);
    tcase_add_test(c, shipped_accelerators_are_whole);
    tcase_add_test(c, machines_are_tables_for_the_runtime);
    tcase_add_test(c, other_files_are_no_machines);
    tcase_add_test(c, names_are_not_paths);
    tcase_add_test(c, names_are_sorted_and_native_is_last);
    suite_add_tcase(s, c);
    return s;
}
