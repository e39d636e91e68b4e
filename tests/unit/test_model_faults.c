// The model's rules: each fault provoked, with what its message says; what is refused; programs that break no rule although
// they look as if; a double-buffered program from which no wait, signal or slot can be taken without a fault or the same result; and
// tables with numbers out of a hat, which must do no harm.
#include "model_program.h"

#include <stdbool.h>

Suite *suite_model_faults(void);

static float x[1024], y[1024];

static pto_operand of_x(int64_t address, int64_t n) { return box1(DDR, 0, PTO_F32, address, n); }
static pto_operand of_y(int64_t address, int64_t n) { return box1(DDR, 1, PTO_F32, address, n); }
static pto_operand in_l0(int64_t address, int64_t n) { return box1(L0, -1, PTO_F32, address, n); }

static Program *tasks(int64_t n) {
    Program *p = program(1, &n);
    tensor(p, "x", x, sizeof x, 4, 0);
    tensor(p, "y", y, sizeof y, 4, 1);
    return p;
}

static int load(Program *p, int64_t address) { return copy(p, PTO_LOAD, in_l0(address, 64), of_x(0, 64)); }
static int add1(Program *p, int64_t to, int64_t from) {
    return nest(p, PTO_VECTOR, 64, 1, compute_add1, 2, (pto_operand[]){in_l0(to, 64), in_l0(from, 64)});
}

// Bundle 0 loads, bundle 1 waits for it.
static Program *loaded(void) {
    Program *p = tasks(1);
    int full = token(p, 0, 1);
    bundle(p);
    signals(p, load(p, 0), full);
    bundle(p);
    wait_for(p, full);
    return p;
}

// ---- races on chip --------------------------------------------------------------------------------------------------------

START_TEST(read_without_a_wait) {
    Program *p = tasks(1);
    bundle(p);
    load(p, 0);
    bundle(p);
    add1(p, 256, 0);
    faults(p, "kernel: race: bundle 1 (vector), task (0): b, test.pto:2: reads L0[0..255], which bundle 0 (load) writes for a unordered");
    p->options.timing_only = 1;
    faults(p, "race: bundle 1 (vector)");
}
END_TEST

START_TEST(write_while_it_is_read) {
    Program *p = loaded();
    add1(p, 256, 0);
    bundle(p);
    load(p, 0);
    faults(p, "race: bundle 2 (load), task (0): c, test.pto:3: writes L0[0..255], which bundle 1 (vector) reads for b unordered");
}
END_TEST

START_TEST(two_units_write) {
    Program *p = tasks(1);
    bundle(p);
    load(p, 0);
    copy(p, PTO_DMA, in_l0(252, 64), of_x(0, 64));
    faults(p, "which bundle 0 (load) writes");
    p->operands[1][0].address.base = 256;
    ck_assert_int_eq(run(p), PTO_OK);
}
END_TEST

// A wait orders all that its signal's operation knew: the load before the one that signals (one unit), and what that waited for.
START_TEST(order_is_transitive) {
    Program *p = tasks(1);
    int loaded = token(p, 0, 1), added = token(p, 0, 1);
    bundle(p);
    load(p, 0);
    bundle(p);
    signals(p, load(p, 256), loaded);
    bundle(p);
    wait_for(p, loaded);
    signals(p, add1(p, 512, 0), added);
    bundle(p);
    wait_for(p, added);
    copy(p, PTO_STORE, of_y(0, 64), in_l0(256, 64));
    ck_assert_int_eq(run(p), PTO_OK);
}
END_TEST

START_TEST(uninitialised_memory) {
    Program *p = tasks(1);
    bundle(p);
    add1(p, 256, 0);
    faults(p, "uninitialised: bundle 0 (vector), task (0): a, test.pto:1: reads L0[0..255], which nothing in this task wrote");
    // What a task before left there does not count.
    p = tasks(3);
    int full = token(p, 0, 1);
    bundle(p);
    pto_operand from = of_x(0, 64), to = in_l0(0, 64);
    from.dim[0].at.start.step[0] = to.dim[0].at.start.step[0] = 32;
    from.dim[0].at.hi = to.dim[0].at.hi = 80;
    signals(p, copy(p, PTO_LOAD, to, from), full);
    bundle(p);
    wait_for(p, full);
    add1(p, 512, 0);
    p->launch.grid.max_workers = 1;
    faults(p, "uninitialised: bundle 1 (vector), task (1)");
}
END_TEST

// ---- tokens ---------------------------------------------------------------------------------------------------------------

START_TEST(token_overflow) {
    Program *p = tasks(1);
    int t = token(p, 0, 1);
    bundle(p);
    signals(p, load(p, 0), t);
    bundle(p);
    signals(p, load(p, 256), t);
    faults(p, "overflow: bundle 1 (load), task (0): b, test.pto:2: signals token 0, which has 1 already");
}
END_TEST

START_TEST(deadlocks) {
    Program *p = tasks(2);
    int t = token(p, 0, 1);
    bundle(p);
    load(p, 0);
    bundle(p);
    wait_for(p, t);
    add1(p, 256, 0);
    bundle(p);
    signals(p, load(p, 512), t);
    faults(p, "deadlock: bundle 1, task (0): b, test.pto:2: waits for token 0, which comes from bundle 2 (load); bundle 1, task (1)");
    p->ops[2].signals[0] = 0;
    faults(p, "waits for token 0, which nothing signals");
}
END_TEST

// ---- ranges and extents ---------------------------------------------------------------------------------------------------

START_TEST(ranges) {
    Program *p = tasks(1);
    bundle(p);
    int k = load(p, 0);
    p->operands[k][0].address.base = 16384 - 252;
    faults(p, "range: bundle 0 (load), task (0): a, test.pto:1: operand 0 covers L0[16132..16387], of 16384 bytes");
    p->operands[k][0].address.base = -4;
    faults(p, "operand 0 covers L0[-4..251]");
    p->operands[k][0].address.base = 0;
    p->operands[k][1].address.base = 4096 - 128;
    faults(p, "operand 1 covers x[3968..4223], of 4096 bytes");
    p->operands[k][1].address.base = 0;
    p->operands[k][1].dim[0].length = 60;
    faults(p, "operand 1 has the subscripts 0..63 in dimension 0 of x, which has 60");
    p->operands[k][1].dim[0].length = 0;
    p->operands[k][1].dim[0].stride = INT64_MAX;
    faults(p, "operand 1 lies beyond all memory");
    p->operands[k][1].dim[0].at.start.base = INT64_MAX;
    faults(p, "range");
    ck_assert_int_eq(run(p), PTO_ERR_OVERFLOW);
}
END_TEST

START_TEST(extents) {
    Program *p = tasks(1);
    bundle(p);
    int k = load(p, 0);
    p->operands[k][1].dim[0].at.size = 63;
    faults(p, "extent: bundle 0 (load), task (0): a, test.pto:1: dimension 0 has 64 elements where it writes and 63 where it reads");
    p = tasks(1);
    bundle(p);
    multiply3(p, matrix(PTO_F32, 1024, PTO_AXIS_M, 8, PTO_AXIS_N, 8), matrix(PTO_F32, 0, PTO_AXIS_M, 8, PTO_AXIS_K, 8),
              matrix(PTO_F32, 512, PTO_AXIS_K, 7, PTO_AXIS_N, 8), PTO_ALWAYS);
    faults(p, "k is 8 in operand 1 and 7 in operand 2");
}
END_TEST

START_TEST(limits) {
    Program *p = tasks(1);
    bundle(p);
    int k = load(p, 0);
    p->machine.unit[PTO_LOAD].most = 255;
    faults(p, "limit: bundle 0 (load), task (0): a, test.pto:1: a transfer of 256 bytes: at most 255");
    p = tasks(1);
    bundle(p);
    multiply3(p, matrix(PTO_F32, 1024, PTO_AXIS_M, 65, PTO_AXIS_N, 8), matrix(PTO_F32, 0, PTO_AXIS_M, 65, PTO_AXIS_K, 8),
              matrix(PTO_F32, 512, PTO_AXIS_K, 8, PTO_AXIS_N, 8), PTO_ALWAYS);
    faults(p, "m is 65: at most 64");
    p = tasks(1);
    bundle(p);
    load(p, 0);
    p->program.need[L1] = 65537;
    faults(p, "memory: a task needs 65537 bytes of L1, which has 65536");
    (void)k;
}
END_TEST

START_TEST(places_name_task_and_iteration) {
    Program *p = program(2, (int64_t[]){3, 2});
    tensor(p, "x", x, sizeof x, 4, 0);
    bundle(p);
    pto_operand to = in_l0(0, 64), from = of_x(0, 64);
    from.address.step[0] = 1024;
    from.address.step[1] = 512;
    from.address.step[4] = 256;
    from.address.step[5] = 128;
    copy(p, PTO_LOAD, to, from);
    loop(p, 0, 1, 2, (int64_t[]){2, 3});
    p->machine.clusters = 1;
    p->tensors[0].bytes = 1024 + 512 + 256 + 128 + 256;
    faults(p, "range: bundle 0 (load), task (1, 1), iteration (1, 2): a, test.pto:1: operand 1 covers x[2048..2303]");
}
END_TEST

// ---- between tasks --------------------------------------------------------------------------------------------------------

// Task 0 reads, task 1 reads, task 2 writes what both have read.
static void readers_then_writer(pto_scalar *s, void *frame, const int64_t tile[4]) {
    (void)frame;
    for (int i = 0; i < 8; i++)
        *(float *)pto_touch(s, 1, &y[i], tile[0] == 2) += 0;
    s->operations += 8;
}

static void all_write(pto_scalar *s, void *frame, const int64_t tile[4]) {
    (void)frame;
    *(float *)pto_touch(s, 1, &y[5], 1) = (float)tile[0];
}

static void beyond(pto_scalar *s, void *frame, const int64_t tile[4]) {
    (void)frame, (void)tile;
    *(float *)pto_touch(s, 1, y + 1024, 1) = 1;
}

static Program *scalar_tasks(int64_t n, pto_scalar_task f) {
    Program *p = tasks(n);
    bundle(p);
    p->ops[put(p, PTO_SCALAR, PTO_TASK, 0, NULL)].scalar = f;
    return p;
}

START_TEST(tasks_race) {
    static const int64_t two[1][4] = {{2}}, one[1][4] = {{1}};
    Program *p = scalar_tasks(3, all_write);
    faults(p, "writes element 5 of y, which bundle 0 (scalar) of task (0) writes for a unordered");
    p->launch.grid.noffsets = 1;
    p->launch.grid.offsets = two;                        // orders 0 and 2
    faults(p, "race: bundle 0 (scalar), task (1)");
    p->launch.grid.offsets = one;                        // 0, 1, 2: also 0 and 2
    ck_assert_int_eq(run(p), PTO_OK);
    p = scalar_tasks(3, readers_then_writer);
    p->launch.grid.noffsets = 1;
    p->launch.grid.offsets = two;
    faults(p, "of task (1) reads");
    p->launch.grid.offsets = one;
    ck_assert_int_eq(run(p), PTO_OK);
    p->launch.grid.noffsets = 0;
    p->launch.grid.count[0] = 2;                         // two readers
    ck_assert_int_eq(run(p), PTO_OK);
    faults(scalar_tasks(1, beyond), "range: bundle 0 (scalar), task (0): a, test.pto:1: touches byte 4096 of y, of 4096");
}
END_TEST

// More tasks than have rows of bits: chains through the grid are walked.
START_TEST(many_tasks_in_order) {
    static const int64_t offsets[2][4] = {{0, 1}, {1, -1}};
    Program *p = scalar_tasks(1, all_write);
    p->launch.grid.rank = 2;
    p->launch.grid.count[0] = 200;
    p->launch.grid.count[1] = 100;
    p->launch.grid.offsets = offsets;
    p->launch.grid.noffsets = 1;
    faults(p, "race");                                   // rows alone are chains
    p->launch.grid.count[0] = 1;
    p->launch.grid.count[1] = 20000;
    ck_assert_int_eq(run(p), PTO_OK);
}
END_TEST

// Store and load of one element of a tensor in one task, ordered by a token, and not.
START_TEST(one_task_through_memory) {
    Program *p = tasks(1);
    int full = token(p, 0, 1), stored = token(p, 0, 1);
    bundle(p);
    signals(p, load(p, 0), full);
    bundle(p);
    wait_for(p, full);
    signals(p, copy(p, PTO_STORE, of_y(0, 64), in_l0(0, 64)), stored);
    bundle(p);
    wait_for(p, stored);
    copy(p, PTO_LOAD, in_l0(512, 64), of_y(252, 64));
    ck_assert_int_eq(run(p), PTO_OK);
    p->bundles[2].wait[0].token = 0;
    faults(p, "race: bundle 2 (load), task (0): c, test.pto:3: reads element 63 of y, which bundle 1 (store) of task (0) writes for b unordered");
}
END_TEST

// ---- the program's order --------------------------------------------------------------------------------------------------

// Ordered by their unit, but not as the table of operations says: who writes first, who reads first, in the first iteration and in all.
START_TEST(one_unit_in_another_order) {
    Program *p = loaded();
    add1(p, 256, 0);
    bundle(p);
    add1(p, 512, 256);
    bundle(p);
    add1(p, 256, 512);
    ck_assert_int_eq(run(p), PTO_OK);
    exchange(p, 1, 2);
    faults(p, "kernel: order: bundle 2 (vector), task (0): c, test.pto:3: reads L0[256..511], which bundle 1 (vector) wrote for b though the program does that later");
    exchange(p, 1, 2);
    exchange(p, 2, 3);
    p->operands[3][1] = in_l0(0, 64);
    faults(p, "order: bundle 3 (vector), task (0): d, test.pto:4: writes L0[256..511], which bundle 2 (vector) read for c though the program does that later");
    p->operands[2][1] = in_l0(0, 64);
    p->operands[2][0] = in_l0(256, 64);
    faults(p, "order: bundle 3 (vector), task (0): d, test.pto:4: writes L0[256..511], which bundle 2 (vector) wrote for c though the program does that later");
}
END_TEST

// A loop in a loop goes through all of its iterations where its first operation stands in that order.
START_TEST(loops_have_a_place) {
    Program *p = loaded();
    add1(p, 256, 0);
    bundle(p);
    add1(p, 512, 256);
    loop(p, 1, 1, 1, (int64_t[]){3});
    p->loops[0].first = p->loops[0].end = 0;
    bundle(p);
    add1(p, 256, 512);
    p->loops[0] = (pto_loop){.first = 1, .end = 4, .ndigits = 1, .iv = PTO_FIRST_DIGIT, .stages = 1, .count = {2}};
    p->loops[1] = (pto_loop){.first = 2, .end = 3, .ndigits = 1, .iv = PTO_FIRST_DIGIT + 1, .stages = 1, .count = {3}};
    p->program.nloops = 2;
    p->bundles[1].wait[0].when = PTO_FIRST(0);
    ck_assert_int_eq(run(p), PTO_OK);
    exchange(p, 1, 2);
    faults(p, "order: bundle 2 (vector), task (0), iteration (0, 0): c, test.pto:3: reads L0[256..511], which bundle 1 (vector) wrote for b");
    exchange(p, 1, 2);
    exchange(p, 2, 3);
    faults(p, "order: bundle 3 (vector), task (0), iteration (0): d, test.pto:4: reads L0[512..767], which bundle 2 (vector) wrote for c");
}
END_TEST

START_TEST(tensors_in_another_order) {
    Program *p = loaded();
    copy(p, PTO_DMA, of_y(0, 64), in_l0(0, 64));
    bundle(p);
    copy(p, PTO_DMA, in_l0(512, 64), of_y(0, 64));
    bundle(p);
    copy(p, PTO_DMA, of_y(0, 64), in_l0(0, 64));
    ck_assert_int_eq(run(p), PTO_OK);
    exchange(p, 1, 2);
    faults(p, "order: bundle 2 (dma), task (0): c, test.pto:3: reads element 0 of y, which bundle 1 (dma) of task (0) wrote for b though the program does that later");
    exchange(p, 1, 2);
    exchange(p, 2, 3);
    faults(p, "order: bundle 3 (dma), task (0): d, test.pto:4: writes element 0 of y, which bundle 2 (dma) of task (0) read for c though the program does that later");
}
END_TEST

// ---- refusals -------------------------------------------------------------------------------------------------------------

static void refused(Program *p, const char *text) {
    pto_status s = run(p);
    ck_assert_msg(s == PTO_ERR_ARGUMENT, "not refused, but %s %s", pto_status_name(s), p->error);
    ck_assert_msg(strstr(p->error, text) != NULL, "'%s' is not in '%s'", text, p->error);
}

static Program *plain(void) {
    Program *p = tasks(1);
    bundle(p);
    load(p, 0);
    loop(p, 0, 1, 1, (int64_t[]){2});
    token(p, 0, 1);
    return p;
}

START_TEST(refusals) {
#define REFUSED(change, text) do { Program *p = plain(); change; refused(p, text); } while (0)
    REFUSED(p->ops[0].kind = PTO_MULTIPLY, "kind 2 in slot 2");
    REFUSED(p->ops[0].slot = PTO_STORE, "does not belong into slot load");
    REFUSED(p->machine.unit[PTO_LOAD].present = 0, "has no such unit");
    REFUSED(p->machine.npaths = 0, "no path from DDR to L0");
    REFUSED(p->machine.path[0].both = 0; p->operands[0][0] = of_y(0, 64); p->operands[0][1] = in_l0(0, 64), "no path from L0 to DDR");
    REFUSED(p->operands[0][1].memory = 3, "memory, type or rank of operand 1");
    REFUSED(p->operands[0][1].tensor = 2, "tensor 2 of 2");
    REFUSED(p->operands[0][1].rank = 2, "different ranks");
    REFUSED(p->operands[0][1].dim[0].at.size = PTO_VALUE(32), "value 32 of 32");
    REFUSED(p->ops[0].signals[0] = 2, "signals token 1 of 1");
    REFUSED(p->ops[0].stage = 1, "stage 1 of 1");
    REFUSED(p->bundles[0].op[0] = 9, "operation 8 of 1");
    REFUSED(p->bundles[0].op[PTO_LOAD] = 0, "operation 0 stands in 0 bundles");
    REFUSED(p->bundles[bundle(p)].op[PTO_LOAD] = 1, "operation 0 stands in 2 bundles");
    REFUSED(p->bundles[0].wait[0].token = 2, "wait 0");
    REFUSED(p->loops[0].end = 2, "loop 0");
    REFUSED(p->loops[0].iv = 12, "induction variable 12");
    REFUSED(loop(p, 0, 1, 1, (int64_t[]){1}), "induction variables are not behind");
    REFUSED(p->loops[0].stages = 2; p->loops[loop(p, 0, 1, 1, (int64_t[]){1})].iv = 5, "has 2 stages and loop 1 in it");
    REFUSED(p->tokens[0].initial = 2, "token 0: 2 of at most 1");
    REFUSED(p->tensors[0].data = NULL, "tensor x has no data");
    REFUSED(p->launch.grid.rank = 5, "rank 5");
    REFUSED(p->machine.cores = 0, "0 cores");
    REFUSED(p->machine.path[1].width = 0, "path 1");
    REFUSED(bundle(p); p->ops[0].signals[0] = 1; signals(p, add1(p, 0, 0), 0), "token 0: signalled by load and by vector");
    REFUSED(p->program.nops = -1, "-1 operations without a table");
}
END_TEST

// ---- mutations ------------------------------------------------------------------------------------------------------------

enum { TILES = 7, TILE = 64, SIZE = TILES * TILE - 20 };

// y = x + 1 tile by tile, two buffers on each side, three stages.
static Program *double_buffered(void) {
    Program *p = tasks(1);
    int full = token(p, 0, 2), room = token(p, 2, 2), done = token(p, 0, 2), drained = token(p, 2, 2);
    pto_operand from = of_x(0, TILE), in = in_l0(0, TILE), out = in_l0(1024, TILE), to = of_y(0, TILE);
    pto_operand *all[] = {&from, &in, &out, &to};
    for (int k = 0; k < 4; k++) {
        all[k]->dim[0].at.start.step[PTO_FIRST_DIGIT] = TILE;
        all[k]->dim[0].at.hi = SIZE;
    }
    from.address.step[PTO_FIRST_DIGIT] = to.address.step[PTO_FIRST_DIGIT] = TILE * 4;
    slots(&in, 2, 1, TILE * 4);
    slots(&out, 2, 1, TILE * 4);
    bundle(p);
    wait_for(p, room);
    signals(p, copy(p, PTO_LOAD, in, from), full);
    bundle(p);
    p->bundles[1].wait[wait_for(p, full)].stage = 1;
    p->bundles[1].wait[wait_for(p, drained)].stage = 1;
    int f = nest(p, PTO_VECTOR, TILE, 1, compute_add1, 2, (pto_operand[]){out, in});
    p->boxes[f][0].start.step[PTO_FIRST_DIGIT] = TILE;
    p->boxes[f][0].hi = SIZE;
    p->ops[f].stage = 1;
    signals(p, f, room);
    signals(p, f, done);
    bundle(p);
    p->bundles[2].wait[wait_for(p, done)].stage = 2;
    int store = copy(p, PTO_STORE, to, out);
    p->ops[store].stage = 2;
    signals(p, store, drained);
    loop(p, 0, 3, 1, (int64_t[]){TILES});
    return p;
}

static bool right(void) {
    for (int i = 0; i < 1024; i++)
        if (y[i] != (i < SIZE ? (float)i + 1 : -1))
            return false;
    return true;
}

static pto_status run_filled(Program *p) {
    for (int i = 0; i < 1024; i++)
        x[i] = (float)i, y[i] = -1;
    return run(p);
}

static int harmless, found;

static void mutant(Program *p, const char *what, int k) {
    for (uint64_t seed = 0; seed < 8; seed++) {
        p->options.jitter = seed;
        pto_status s = run_filled(p);
        ck_assert_msg(s == PTO_ERR_FAULT || (s == PTO_OK && right()), "%s %d, seed %d: %s %s", what, k, (int)seed, pto_status_name(s), p->error);
        *(s == PTO_OK ? &harmless : &found) += 1;
    }
}

START_TEST(no_mutant_goes_unnoticed) {
    ck_assert_msg(run_filled(double_buffered()) == PTO_OK && right(), "the program itself");
    harmless = found = 0;
    for (int b = 0; b < 3; b++)
        for (int k = 0; k < 2; k++) {
            Program *p = double_buffered();
            p->bundles[b].wait[k].token = 0;
            mutant(p, "wait of bundle", b);
        }
    for (int k = 0; k < 6; k++) {
        Program *p = double_buffered();
        p->ops[k / 2].signals[k % 2] = 0;
        mutant(p, "signal of operation", k / 2);
    }
    for (int n = 0; n < 4; n++)
        for (int mask = 1; mask < 16; mask++) {
            Program *p = double_buffered();
            pto_operand *buffer[] = {&p->operands[0][0], &p->operands[1][1], &p->operands[1][0], &p->operands[2][1]};
            for (int k = 0; k < 4; k++)
                if (mask >> k & 1)
                    buffer[k]->slots = n;
            mutant(p, "slots", mask);
        }
    for (int t = 0; t < 4; t++)
        for (int change = -1; change <= 1; change += 2) {
            Program *p = double_buffered();
            p->tokens[t].initial += change;
            p->tokens[t].depth += 1;
            if (p->tokens[t].initial >= 0)
                mutant(p, "initial count", t);
        }
    ck_assert_int_gt(found, 100);
    ck_assert_int_gt(harmless, 20);                      // waits that were none, signals that nobody misses, fewer buffers at once
}
END_TEST

// Of two buffers that are written in turn the one of now has to be read.
START_TEST(slots_of_another_iteration) {
    Program *p = double_buffered();
    p->operands[1][1].slots = 1;
    faults(p, "stale: bundle 1 (vector), task (0), iteration (0): b, test.pto:2: reads L0[0..");
    faults(p, "which bundle 0 (load) wrote for a into slot count 0, not none");
    p = double_buffered();
    p->operands[0][0].slots = 1;
    p->loops[0].count[0] = 1;
    faults(p, "which bundle 0 (load) wrote for a into no slot, not 0");
}
END_TEST

START_TEST(jitter_changes_no_value) {
    Program *p = double_buffered();
    int64_t least = INT64_MAX, greatest = 0;
    for (uint64_t seed = 1; seed < 200; seed++) {
        p->options.jitter = seed;
        ck_assert_int_eq(run_filled(p), PTO_OK);
        ck_assert(right());
        least = p->totals.cycles < least ? p->totals.cycles : least;
        greatest = p->totals.cycles > greatest ? p->totals.cycles : greatest;
    }
    ck_assert_int_lt(least, greatest);
}
END_TEST

// ---- verdicts -------------------------------------------------------------------------------------------------------------

static uint64_t draw(void);

// Operations on a few granules of L0 and a few elements of y, with tokens here and there; the first bundle fills L0.
static Program *random_program(void) {
    Program *p = tasks(1);
    int filled = token(p, 0, 1), signalled = 0, counts[6] = {0};
    pto_slot by[6];
    bundle(p);
    signals(p, copy(p, PTO_LOAD, in_l0(0, 64), of_x(0, 64)), filled);
    bundle(p);
    wait_for(p, filled);
    for (int n = 2 + (int)(draw() % 7); n > 0; n--) {
        bundle(p);
        for (int w = (int)(draw() % 3); w > 0 && signalled > 0; w--) {
            int t = (int)(draw() % (unsigned)signalled);
            if (counts[t] > 0) {
                wait_for(p, t + 1);
                counts[t]--;
            }
        }
        pto_slot slot = (pto_slot[]){PTO_LOAD, PTO_STORE, PTO_DMA, PTO_VECTOR}[draw() % 4];
        pto_operand chip = in_l0((int64_t)(draw() % 4) * 32, 8 + (int64_t)(draw() % 9)), other = chip;
        pto_operand memory = (draw() % 2 ? of_x : of_y)((int64_t)(draw() % 20) * 4, chip.dim[0].at.size);
        int k;
        if (slot == PTO_VECTOR) {
            other.address.base = (int64_t)(draw() % 4) * 32;
            k = nest(p, slot, chip.dim[0].at.size, 1 + (int)(draw() % 9), compute_add1, 2, (pto_operand[]){chip, other});
        } else if (slot == PTO_STORE) {
            memory.tensor = 1;
            k = copy(p, slot, memory, chip);
        } else {
            k = copy(p, slot, chip, memory);
        }
        if (draw() % 4 == 0)
            continue;
        int t = 0;
        while (t < signalled && by[t] != slot)
            t++;
        if (t == signalled && signalled < 6) {
            by[signalled++] = slot;
            counts[t] = 0;
            token(p, 0, 64);
        }
        if (t < signalled) {
            signals(p, k, t + 1);
            counts[t]++;
        }
    }
    return p;
}

START_TEST(verdicts_do_not_depend_on_timing) {
    static float want[1024];
    int right_ones = 0, races = 0;
    for (int k = 0; k < 3000; k++) {
        Program *p = random_program();
        pto_status first = run_filled(p);
        memcpy(want, y, sizeof y);
        ck_assert_msg(first == PTO_OK || strstr(p->error, "race") != NULL || strstr(p->error, "overlap") != NULL, "%s", p->error);
        *(first == PTO_OK ? &right_ones : &races) += 1;
        for (uint64_t seed = 1; seed < 5; seed++) {
            p->options.jitter = seed;
            pto_status s = run_filled(p);
            ck_assert_msg(s == first, "program %d, seed %d: %s", k, (int)seed, p->error);
            ck_assert_msg(s != PTO_OK || memcmp(want, y, sizeof y) == 0, "program %d, seed %d: other values", k, (int)seed);
        }
    }
    ck_assert_int_gt(right_ones, 200);
    ck_assert_int_gt(races, 200);
}
END_TEST

// ---- numbers out of a hat -------------------------------------------------------------------------------------------------

static uint64_t hat = 1;

static uint64_t draw(void) { return hat = hat * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407), hat >> 33; }

static int64_t number(void) {
    static const int64_t some[] = {-1, 0, 1, 2, 3, 4, 7, 31, 64, 65, 255, 256, 4096, 16384, 65536, -4, -256, INT64_C(1) << 31, INT64_C(1) << 45,
                                   INT64_MAX, INT64_MAX - 3, INT64_MIN + 64, -INT64_MAX + 100000000, PTO_VALUE(0), PTO_VALUE(1), PTO_VALUE(40)};
    return some[draw() % (sizeof some / sizeof *some)];
}

static int little(void) { return (int)(draw() % 12) - 2; }

static void mutate(Program *p) {
    pto_op *o = &p->ops[draw() % 3];
    pto_operand *a = &p->operands[draw() % 3][draw() % 2];
    pto_dim *d = &a->dim[draw() % 2];
    pto_loop *l = &p->loops[0];
    switch (draw() % 34) {
    case 0: o->stage = little(); break;
    case 1: o->when = (pto_when){(uint8_t)little(), (uint8_t)little(), 0}; break;
    case 2: o->signals[draw() % 2] = little(); break;
    case 3: o->noperands = little(); break;
    case 4: o->slot = (pto_slot)little(); break;
    case 5: o->kind = (pto_kind)little(); break;
    case 6: o->rank = little() > 8 ? 2 : little(); break;
    case 7: o->cost = number(); break;
    case 8: o->bytes = number(); break;
    case 9: o->element = little(); break;
    case 10: o->strided = 1; break;
    case 11: a->memory = little(); break;
    case 12: a->tensor = little(); break;
    case 13: a->type = (pto_dtype)little(); break;
    case 14: a->address.base = number(); break;
    case 15: a->address.step[draw() % PTO_MAX_IVS] = number(); break;
    case 16: a->slots = (int)number(); break;
    case 17: a->slot_digits = little(); break;
    case 18: a->slot_bytes = number(); break;
    case 19: a->rank = little(); break;
    case 20: d->at.start.base = number(); break;
    case 21: d->at.start.step[draw() % PTO_MAX_IVS] = number(); break;
    case 22: d->at.size = number(); break;
    case 23: d->at.lo = number(); break;
    case 24: d->at.hi = number(); break;
    case 25: d->stride = number(); break;
    case 26: d->border = (pto_border)little(); d->length = number(); break;
    case 27: l->first = little(); break;
    case 28: l->end = little(); break;
    case 29: l->stages = little(); break;
    case 30: l->iv = little(); l->ndigits = little(); break;
    case 31: l->count[0] = little(); break;
    case 32: p->bundles[draw() % 3].wait[draw() % 4] = (pto_wait){.token = little(), .stage = little(), .when = {(uint8_t)little(), 0, 0}}; break;
    case 33: p->bundles[draw() % 3].op[draw() % PTO_SLOTS] = little(); break;
    }
}

START_TEST(wild_tables_do_no_harm) {
    int by_status[PTO_ERR_OVERFLOW + 1] = {0};
    for (int k = 0; k < 4000; k++) {
        Program *p = double_buffered();
        p->options.timing_only = 1;
        p->values[0] = number();
        p->values[1] = little();
        for (int n = 1 + (int)(draw() % 3); n > 0; n--)
            mutate(p);
        by_status[run_filled(p)]++;
    }
    ck_assert_int_gt(by_status[PTO_OK], 50);
    ck_assert_int_gt(by_status[PTO_ERR_FAULT], 50);
    ck_assert_int_gt(by_status[PTO_ERR_ARGUMENT], 50);
}
END_TEST

static void no_compute(const pto_work *w) { (void)w; }

START_TEST(wild_copies_do_no_harm) {
    int by_status[PTO_ERR_OVERFLOW + 1] = {0};
    for (int k = 0; k < 6000; k++) {
        Program *p = double_buffered();
        p->ops[1].compute = no_compute;
        for (int n = 1 + (int)(draw() % 3); n > 0; n--)
            mutate(p);
        by_status[run_filled(p)]++;
    }
    ck_assert_int_gt(by_status[PTO_OK], 50);
    ck_assert_int_gt(by_status[PTO_ERR_FAULT], 50);
}
END_TEST

Suite *suite_model_faults(void) {
    Suite *s = suite_create("model_faults");
    TCase *c = tcase_create("order");
    tcase_add_test(c, read_without_a_wait);
    tcase_add_test(c, write_while_it_is_read);
    tcase_add_test(c, two_units_write);
    tcase_add_test(c, order_is_transitive);
    tcase_add_test(c, uninitialised_memory);
    tcase_add_test(c, token_overflow);
    tcase_add_test(c, deadlocks);
    tcase_add_test(c, tasks_race);
    tcase_add_test(c, many_tasks_in_order);
    tcase_add_test(c, one_task_through_memory);
    tcase_add_test(c, one_unit_in_another_order);
    tcase_add_test(c, loops_have_a_place);
    tcase_add_test(c, tensors_in_another_order);
    suite_add_tcase(s, c);
    c = tcase_create("bounds");
    tcase_add_test(c, ranges);
    tcase_add_test(c, extents);
    tcase_add_test(c, limits);
    tcase_add_test(c, places_name_task_and_iteration);
    tcase_add_test(c, refusals);
    suite_add_tcase(s, c);
    c = tcase_create("mutations");
    tcase_add_test(c, no_mutant_goes_unnoticed);
    tcase_add_test(c, slots_of_another_iteration);
    tcase_add_test(c, jitter_changes_no_value);
    tcase_add_test(c, verdicts_do_not_depend_on_timing);
    tcase_add_test(c, wild_tables_do_no_harm);
    tcase_add_test(c, wild_copies_do_no_harm);
    tcase_set_timeout(c, 30);
    suite_add_tcase(s, c);
    return s;
}
