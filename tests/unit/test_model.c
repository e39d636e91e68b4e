// The model in time: cycle counts that the comment above each test computes on paper. The machine is that of
// model_program.c: two cores, 32 bytes a cycle and 100 cycles of latency to DDR, bursts of 64 bytes.
#include "model_program.h"

Suite *suite_model(void);

static float x[4096], y[4096];

static pto_operand of_x(int64_t address, int64_t n) { return box1(DDR, 0, PTO_F32, address, n); }
static pto_operand in_l0(int64_t address, int64_t n) { return box1(L0, -1, PTO_F32, address, n); }

static Program *one_task(void) {
    Program *p = program(1, (int64_t[]){1});
    tensor(p, "x", x, sizeof x, 4, 0);
    tensor(p, "y", y, sizeof y, 4, 1);
    return p;
}

// Issued at 0, granted at 0, 256 bytes in 8 cycles, complete 100 later.
START_TEST(one_load) {
    Program *p = one_task();
    bundle(p);
    copy(p, PTO_LOAD, in_l0(0, 64), of_x(0, 64));
    ck_assert_int_eq(cycles(p), 108);
    ck_assert_int_eq(p->totals.path_bytes[PATH_L0], 256);
    ck_assert_int_eq(p->totals.busy[PTO_LOAD], 8);
    ck_assert_int_eq(p->totals.bundles, 1);
}
END_TEST

// y[i] = x[i] + 1 for 64 elements: three bundles, one after the other.
static void load_add1_store(Program *p) {
    int full = token(p, 0, 1), done = token(p, 0, 1);
    bundle(p);
    signals(p, copy(p, PTO_LOAD, in_l0(0, 64), of_x(0, 64)), full);
    bundle(p);
    wait_for(p, full);
    signals(p, nest(p, PTO_VECTOR, 64, 3, compute_add1, 2, (pto_operand[]){in_l0(256, 64), in_l0(0, 64)}), done);
    bundle(p);
    wait_for(p, done);
    copy(p, PTO_STORE, box1(DDR, 1, PTO_F32, 0, 64), in_l0(256, 64));
}

// Load as above: complete at 108. The bundle that waits issues at 108: 64 elements are 2 rows of the vector unit, cost 3: 6
// cycles, the port needs 512/512 = 1; complete 8 later, at 122. The store goes at 122, takes 8 cycles and 100: 230.
START_TEST(load_compute_store) {
    Program *p = one_task();
    for (int i = 0; i < 64; i++)
        x[i] = (float)i, y[i] = 0;
    load_add1_store(p);
    ck_assert_int_eq(cycles(p), 230);
    ck_assert_int_eq(p->totals.stalled[PTO_STALL_TOKEN], 107 + 13);
    for (int i = 0; i < 64; i++)
        ck_assert(y[i] == (float)i + 1);
}
END_TEST

typedef struct { int ops, paths; pto_span span[3][4]; int nspans[3]; int64_t operations, moved; } Told;

static void take_event(void *user, const pto_event *e) {
    Told *t = user;
    ck_assert_ptr_nonnull(e->launch);
    if (e->kind == PTO_EVENT_OP && t->ops < 3) {
        ck_assert_ptr_nonnull(e->iv);
        memcpy(t->span[t->ops], e->spans, sizeof *e->spans * (size_t)e->nspans);
        t->nspans[t->ops++] = e->nspans;
        t->operations += e->operations;
    }
    if (e->kind == PTO_EVENT_PATH) {
        t->paths++;
        for (int k = 0; k < e->nmoved; k++)
            t->moved += e->moved[k].read + e->moved[k].written;
    }
}

// What an event says of operands and traffic: 64 elements each, cost 3.
START_TEST(events_of_operands) {
    Program *p = one_task();
    Told told = {0};
    p->options.event = take_event;
    p->options.user = &told;
    load_add1_store(p);
    cycles(p);
    ck_assert_int_eq(told.ops, 3);
    ck_assert_int_eq(told.paths, 2);
    ck_assert_int_eq(told.moved, 512);
    ck_assert_int_eq(told.operations, 192);
    ck_assert_int_eq(told.nspans[1], 2);
    ck_assert(told.span[1][0].write && told.span[1][0].memory == L0 && told.span[1][0].address == 256 && told.span[1][0].length == 256);
    ck_assert(!told.span[1][1].write && told.span[1][1].address == 0 && told.span[1][1].length == 256);
    ck_assert(told.span[0][1].memory == DDR && told.span[0][1].tensor == 0 && told.span[2][0].tensor == 1);
}
END_TEST

// An operation of the scalar unit that takes `cycles` and writes one element of L0.
static int busy(Program *p, int cycles_) { return nest(p, PTO_SCALAR, 1, cycles_, NULL, 1, (pto_operand[]){in_l0(0, 1)}); }

static Program *timed(int rank, const int64_t *count) {
    Program *p = program(rank, count);
    tensor(p, "x", x, sizeof x, 4, 0);
    tensor(p, "y", y, sizeof y, 4, 1);
    p->options.timing_only = 1;
    return p;
}

static Program *timed_task(void) { return timed(1, (int64_t[]){1}); }

// ---- issue ----------------------------------------------------------------------------------------------------------------

// One cycle each, though nothing is executed.
START_TEST(empty_bundles) {
    Program *p = timed_task();
    for (int k = 0; k < 5; k++)
        bundle(p);
    ck_assert_int_eq(cycles(p), 5);
    p->program.nbundles = 0;
    ck_assert_int_eq(cycles(p), 0);
}
END_TEST

// A queue of one: the second issues when the first completes, at 10; it was tried at 1.
START_TEST(queue_full) {
    Program *p = timed_task();
    bundle(p);
    busy(p, 10);
    bundle(p);
    busy(p, 10);
    ck_assert_int_eq(cycles(p), 20);
    ck_assert_int_eq(p->totals.stalled[PTO_STALL_QUEUE], 9);
    ck_assert_int_eq(p->totals.busy[PTO_SCALAR], 20);
}
END_TEST

// The whole bundle waits for the slot that is full: the load goes at 10, not at 1, and completes at 10 + 8 + 100.
START_TEST(bundles_issue_as_a_whole) {
    Program *p = timed_task();
    bundle(p);
    busy(p, 10);
    bundle(p);
    busy(p, 10);
    copy(p, PTO_LOAD, in_l0(256, 64), of_x(0, 64));
    ck_assert_int_eq(cycles(p), 118);
}
END_TEST

// Two waits on one token take two counts: 3 operations of 10 cycles, the bundle that waits goes at 20, the end is 30.
START_TEST(two_counts_of_one_token) {
    Program *p = timed_task();
    p->machine.unit[PTO_SCALAR].queue = 3;
    int t = token(p, 0, 3);
    for (int k = 0; k < 3; k++) {
        bundle(p);
        signals(p, busy(p, 10), t);
    }
    bundle(p);
    wait_for(p, t);
    wait_for(p, t);
    ck_assert_int_eq(cycles(p), 30);
    ck_assert_int_eq(p->totals.stalled[PTO_STALL_TOKEN], 20 - 3);
}
END_TEST

// ---- paths ----------------------------------------------------------------------------------------------------------------

// Both ask at 0; core 0 has the path until 8, core 1 until 16, and 100 of latency.
START_TEST(two_cores_one_path) {
    Program *p = timed(1, (int64_t[]){2});
    bundle(p);
    copy(p, PTO_LOAD, in_l0(0, 64), of_x(0, 64));
    ck_assert_int_eq(cycles(p), 116);
    ck_assert_int_eq(p->totals.path_busy[PATH_L0], 16);
}
END_TEST

// Each row of 64 bytes begins in the middle of a burst: 4 rows of 2 bursts, 512 bytes, 16 cycles. Rows that follow each other
// are one run of 256 bytes from 32 on: 5 bursts, 10 cycles.
START_TEST(bursts_of_unaligned_rows) {
    Program *p = timed_task();
    bundle(p);
    copy(p, PTO_LOAD, box2(L0, -1, PTO_F32, 0, 4, 64, 16, 4), box2(DDR, 0, PTO_F32, 32, 4, 128, 16, 4));
    ck_assert_int_eq(cycles(p), 116);
    ck_assert_int_eq(p->totals.traffic[0].read, 512);
    ck_assert_int_eq(p->totals.traffic[0].payload_read, 256);
    p->operands[0][1].dim[0].stride = 64;
    ck_assert_int_eq(cycles(p), 110);
}
END_TEST

// 16 columns of 4 rows, transposed on the way: on the side of DDR the runs are still rows of 64 bytes. 4 bursts, 8 cycles.
START_TEST(rows_are_those_of_the_tensor) {
    Program *p = timed_task();
    bundle(p);
    copy(p, PTO_LOAD, box2(L0, -1, PTO_F32, 0, 16, 16, 4, 4), box2(DDR, 0, PTO_F32, 0, 16, 4, 4, 256));
    ck_assert_int_eq(cycles(p), 108);
}
END_TEST

// Borders cost nothing: [-4, 12) of 16 columns reads 12 of them, in each of the rows 0 and 1 of [-1, 2). 2 bursts.
START_TEST(borders_cost_nothing) {
    Program *p = timed_task();
    bundle(p);
    pto_operand from = box2(DDR, 0, PTO_F32, -64 - 16, 3, 64, 16, 4);
    from.dim[0].at.start.base = -1;
    from.dim[1].at.start.base = -4;
    from.dim[0].border = from.dim[1].border = PTO_BORDER_ZERO;
    from.dim[0].length = 8;
    from.dim[1].length = 16;
    copy(p, PTO_LOAD, box2(L0, -1, PTO_F32, 0, 3, 64, 16, 4), from);
    ck_assert_int_eq(cycles(p), 104);
    ck_assert_int_eq(p->totals.traffic[0].payload_read, 2 * 48);
}
END_TEST

// The DMA brings L1 at 108. Then the load from DDR goes 108..116 and completes at 216; the one from L1 starts when that
// has left, takes 2 cycles and 10, but completes after it, at 216. The bundle behind it ends at 217.
START_TEST(units_complete_in_order) {
    Program *p = timed_task();
    int a = token(p, 0, 1), b = token(p, 0, 1);
    bundle(p);
    signals(p, copy(p, PTO_DMA, box1(L1, -1, PTO_F32, 0, 64), of_x(0, 64)), a);
    bundle(p);
    wait_for(p, a);
    copy(p, PTO_LOAD, in_l0(0, 64), of_x(0, 64));
    bundle(p);
    signals(p, copy(p, PTO_LOAD, in_l0(256, 64), box1(L1, -1, PTO_F32, 0, 64)), b);
    bundle(p);
    wait_for(p, b);
    ck_assert_int_eq(cycles(p), 217);
}
END_TEST

// ---- loops ----------------------------------------------------------------------------------------------------------------

// One bundle, 3 iterations, 2 stages: 4 steps. Step 0 at 0 loads: 108. Step 1 at 108 computes and loads: 216; step 2 the same at 216: 324;
// step 3 has nothing to load: the nest goes 324..330 and completes at 338.
START_TEST(stages_overlap) {
    Program *p = timed_task();
    int full = token(p, 0, 2), room = token(p, 2, 2);
    bundle(p);
    pto_operand buffer = in_l0(0, 64), from = of_x(0, 64);
    slots(&buffer, 2, 1, 256);
    from.address.step[PTO_FIRST_DIGIT] = 256;
    wait_for(p, room);
    p->bundles[0].wait[wait_for(p, full)].stage = 1;
    signals(p, copy(p, PTO_LOAD, buffer, from), full);
    int f = nest(p, PTO_VECTOR, 64, 3, NULL, 2, (pto_operand[]){in_l0(1024, 64), buffer});
    p->ops[f].stage = 1;
    signals(p, f, room);
    loop(p, 0, 2, 1, (int64_t[]){3});
    ck_assert_int_eq(cycles(p), 338);
    ck_assert_int_eq(p->totals.bundles, 4);
    ck_assert_int_eq(p->totals.busy[PTO_VECTOR], 18);
}
END_TEST

// Steps at 0..3: the scalar operation in the first alone, until 10; the vector one in the last, from 3: 5 cycles and 8.
START_TEST(first_and_last_iteration) {
    Program *p = timed_task();
    bundle(p);
    p->ops[busy(p, 10)].when = PTO_FIRST(0);
    p->ops[nest(p, PTO_VECTOR, 1, 5, NULL, 1, (pto_operand[]){in_l0(256, 1)})].when = PTO_LAST(0);
    loop(p, 0, 1, 1, (int64_t[]){4});
    ck_assert_int_eq(cycles(p), 16);
    ck_assert_int_eq(p->totals.busy[PTO_SCALAR], 10);
    ck_assert_int_eq(p->totals.busy[PTO_VECTOR], 5);
}
END_TEST

// 4 steps at 0, 10, 20, 30 (a queue of one); the bundle behind the loop waits for the signal of the last iteration alone: 40, ends 41.
START_TEST(signals_of_the_last_iteration) {
    Program *p = timed_task();
    int done = token(p, 0, 1);
    bundle(p);
    int k = busy(p, 10);
    signals(p, k, done);
    p->ops[k].signal_when[0] = PTO_LAST(0);
    loop(p, 0, 1, 1, (int64_t[]){4});
    bundle(p);
    wait_for(p, done);
    ck_assert_int_eq(cycles(p), 41);
    p->ops[k].signal_when[0] = PTO_NEVER;
    faults(p, "deadlock: bundle 1, task (0): waits for token 0");
}
END_TEST

// Of 70 elements: 32, 32, 6 and none. Loads complete at 104, 209 (105 + 4 + 100), 312 (210 + 2 + 100), and the empty one at
// once, when it issues at 313; the bundle that waits goes one cycle later and ends at 315.
START_TEST(empty_operations_signal) {
    Program *p = timed_task();
    int full = token(p, 0, 1);
    bundle(p);
    pto_operand from = of_x(0, 32), to = in_l0(0, 32);
    from.address.step[PTO_FIRST_DIGIT] = 128;
    from.dim[0].at.start.step[PTO_FIRST_DIGIT] = to.dim[0].at.start.step[PTO_FIRST_DIGIT] = 32;
    from.dim[0].at.hi = to.dim[0].at.hi = 70;
    signals(p, copy(p, PTO_LOAD, to, from), full);
    bundle(p);
    wait_for(p, full);
    loop(p, 0, 1, 1, (int64_t[]){4});
    ck_assert_int_eq(cycles(p), 315);
    ck_assert_int_eq(p->totals.path_bytes[PATH_L0], 128 + 128 + 64);
}
END_TEST

typedef struct Seen { int n; int64_t address[64], begin[64]; int kinds[5]; } Seen;

static void see(void *user, const pto_event *e) {
    Seen *s = user;
    s->kinds[e->kind]++;
    if (e->kind != PTO_EVENT_OP || s->n == 64)
        return;
    s->address[s->n] = e->address;
    s->begin[s->n++] = e->begin;
}

// Slot = number of the iteration mod 3, over both digits or over the first one.
START_TEST(slots_take_turns) {
    Program *p = timed_task();
    bundle(p);
    pto_operand buffer = in_l0(0, 1);
    slots(&buffer, 3, 2, 256);
    nest(p, PTO_SCALAR, 1, 1, NULL, 1, &buffer);
    loop(p, 0, 1, 2, (int64_t[]){2, 2});
    Seen seen = {0};
    p->options.event = see;
    p->options.user = &seen;
    cycles(p);
    const int64_t both[] = {0, 256, 512, 0}, first[] = {0, 0, 256, 256};
    for (int k = 0; k < 4; k++)
        ck_assert_int_eq(seen.address[k], both[k]);
    p->operands[0][0].slot_digits = 1;
    seen.n = 0;
    cycles(p);
    for (int k = 0; k < 4; k++)
        ck_assert_int_eq(seen.address[k], first[k]);
    ck_assert_int_eq(seen.kinds[PTO_EVENT_OP], 8);
    ck_assert_int_eq(seen.kinds[PTO_EVENT_TASK], 2);
    ck_assert_int_eq(seen.kinds[PTO_EVENT_LAUNCH], 2);
}
END_TEST

// An outer loop of 2 around a bundle, a loop of 3 and a bundle: 2 * (1 + 3 + 1) bundles. The inner operation sees both digits.
START_TEST(loops_nest) {
    Program *p = timed_task();
    bundle(p);
    bundle(p);
    pto_operand at = in_l0(0, 1);
    at.address.step[4] = 1024;
    at.address.step[5] = 32;
    nest(p, PTO_SCALAR, 1, 1, NULL, 1, &at);
    bundle(p);
    loop(p, 0, 1, 1, (int64_t[]){2});
    loop(p, 1, 1, 1, (int64_t[]){3});
    p->loops[1].end = 2;
    p->loops[1].iv = 5;
    Seen seen = {0};
    p->options.event = see;
    p->options.user = &seen;
    ck_assert_int_eq(cycles(p), 10);
    const int64_t want[] = {0, 32, 64, 1024, 1056, 1088};
    ck_assert_int_eq(seen.n, 6);
    for (int k = 0; k < 6; k++)
        ck_assert_int_eq(seen.address[k], want[k]);
    p->loops[1].count[0] = 0;
    ck_assert_int_eq(cycles(p), 4);
    p->loops[1].count[0] = PTO_VALUE(3);
    p->values[3] = 1;
    ck_assert_int_eq(cycles(p), 6);
}
END_TEST

// ---- tasks ----------------------------------------------------------------------------------------------------------------

// Dispatch takes 64: two tasks go 64..164, the third is handed to core 0 at 164 and goes 228..328.
START_TEST(more_tasks_than_cores) {
    Program *p = timed(1, (int64_t[]){3});
    p->machine.dispatch = 64;
    bundle(p);
    busy(p, 100);
    ck_assert_int_eq(cycles(p), 328);
    ck_assert_int_eq(p->totals.tasks, 3);
    p->launch.grid.max_workers = 1;
    ck_assert_int_eq(cycles(p), 3 * 164);
}
END_TEST

// A wave over 2 x 2: (0, 0), then (0, 1) and (1, 0) side by side, then (1, 1).
START_TEST(waves) {
    static const int64_t offsets[2][4] = {{0, 1}, {1, 0}};
    Program *p = timed(2, (int64_t[]){2, 2});
    p->launch.grid.noffsets = 2;
    p->launch.grid.offsets = offsets;
    bundle(p);
    busy(p, 100);
    ck_assert_int_eq(cycles(p), 300);
}
END_TEST

// Two residents share one core's units. Loads go 0..8 and 8..16, complete at 108 and 116; nests go 108..114 and 116..122 and
// complete at 130. If L0 holds one task only, they go one after the other: 2 * 122.
START_TEST(two_residents) {
    Program *p = timed(1, (int64_t[]){2});
    p->machine.clusters = 1;
    p->launch.grid.max_workers = 2;
    int full = token(p, 0, 1);
    bundle(p);
    signals(p, copy(p, PTO_LOAD, in_l0(0, 64), of_x(0, 64)), full);
    bundle(p);
    wait_for(p, full);
    nest(p, PTO_VECTOR, 64, 3, NULL, 2, (pto_operand[]){in_l0(256, 64), in_l0(0, 64)});
    ck_assert_int_eq(cycles(p), 130);
    p->program.need[L0] = 40000;
    ck_assert_int_eq(cycles(p), 244);
    p->program.need[L0] = 16384;
    p->program.need[L1] = 32768 + 64;
    ck_assert_int_eq(cycles(p), 244);
}
END_TEST

// The second launch of a call begins when the first has ended; the next call begins at 0.
START_TEST(launches_follow_each_other) {
    Program *p = timed_task();
    bundle(p);
    busy(p, 70);
    pto_context *ctx = pto_context_new(NULL);
    pto_model_totals t;
    ck_assert_int_eq(pto_model_totals_of(ctx, &t), PTO_ERR_ARGUMENT);
    ck_assert_int_eq(pto_context_model(ctx, &p->options), PTO_OK);
    for (int call = 0; call < 2; call++) {
        ck_assert_int_eq(pto_enter(&ctx, "kernel"), PTO_OK);
        ck_assert_int_eq(pto_launch_bundles(ctx, &p->launch), PTO_OK);
        ck_assert_int_eq(pto_launch_bundles(ctx, &p->launch), PTO_OK);
        ck_assert_int_eq(pto_leave(ctx, PTO_OK), PTO_OK);
        ck_assert_int_eq(pto_model_totals_of(ctx, &t), PTO_OK);
        ck_assert_int_eq(t.cycles, 140);
        ck_assert_int_eq(t.tasks, 2);
    }
    ck_assert_int_eq(pto_launch_bundles(ctx, &p->launch), PTO_ERR_ARGUMENT);
    pto_context_free(ctx);
}
END_TEST

// ---- units ----------------------------------------------------------------------------------------------------------------

// 9 x 8 x 8 in f32: 3 * 2 blocks of 4 x 4 x 1, 8 deep, 2 passes: 96 cycles and 8. Reads 288 + 256 bytes and writes 288: no bound. In
// f16 1 x 64 x 1: 16 cycles; with a port of 4 bytes a cycle the 2 + 128 + 256 bytes take 97.
START_TEST(cubes) {
    Program *p = timed_task();
    bundle(p);
    int full = token(p, 0, 2);
    signals(p, copy(p, PTO_LOAD, in_l0(0, 256), of_x(0, 256)), full);
    p->bundles[bundle(p)].wait[0].token = full + 1;
    int f = multiply3(p, matrix(PTO_F32, 1024, PTO_AXIS_M, 9, PTO_AXIS_N, 8), matrix(PTO_F32, 0, PTO_AXIS_M, 9, PTO_AXIS_K, 8),
                      matrix(PTO_F32, 512, PTO_AXIS_K, 8, PTO_AXIS_N, 8), PTO_ALWAYS);
    p->ops[f].noperands = 3;
    ck_assert_int_eq(cycles(p), 132 + 96 + 8);
    ck_assert_int_eq(p->totals.macs, 9 * 8 * 8);
    p->operands[f][0] = matrix(PTO_F32, 1024, PTO_AXIS_M, 1, PTO_AXIS_N, 64);
    p->operands[f][1] = matrix(PTO_F16, 0, PTO_AXIS_M, 1, PTO_AXIS_K, 1);
    p->operands[f][2] = matrix(PTO_F16, 512, PTO_AXIS_K, 1, PTO_AXIS_N, 64);
    ck_assert_int_eq(cycles(p), 132 + 16 + 8);
    p->machine.unit[PTO_CUBE].port[0].width = 4;
    ck_assert_int_eq(cycles(p), 132 + 97 + 8);
}
END_TEST

// 3 rows of 33 elements: 2 widths each, cost 2: 12 cycles; strided, 99 elements: 198; the port: 99 * 64 / 512 = 13 cycles.
START_TEST(vectors) {
    Program *p = timed_task();
    bundle(p);
    int f = nest(p, PTO_VECTOR, 3, 2, NULL, 1, (pto_operand[]){in_l0(0, 99)});
    p->ops[f].rank = 2;
    p->boxes[f][1].size = 33;
    ck_assert_int_eq(cycles(p), 12 + 8);
    p->ops[f].bytes = 64;
    ck_assert_int_eq(cycles(p), 13 + 8);
    p->ops[f].strided = 1;
    ck_assert_int_eq(cycles(p), 198 + 8);
}
END_TEST

static void scale(pto_scalar *s, void *frame, const int64_t tile[4]) {
    for (int i = 0; i < 20; i++) {
        const float *from = pto_touch(s, 0, &x[i], 0);
        *(float *)pto_touch(s, 1, &y[i], 1) = *from * 2 + (float)tile[0];
        s->operations += 5;
    }
}

// 100 operations; 2 bursts of each tensor: 256 bytes, 8 cycles of the path, within the 100. Complete 100 later.
START_TEST(scalar_tasks) {
    Program *p = one_task();
    bundle(p);
    int f = put(p, PTO_SCALAR, PTO_TASK, 0, NULL);
    p->ops[f].scalar = scale;
    for (int i = 0; i < 20; i++)
        x[i] = (float)i;
    ck_assert_int_eq(cycles(p), 200);
    ck_assert_int_eq(p->totals.operations, 100);
    ck_assert_int_eq(p->totals.path_busy[PATH_L0], 8);
    ck_assert_int_eq(p->totals.ntraffic, 2);
    ck_assert_int_eq(p->totals.traffic[0].read, 128);
    ck_assert_int_eq(p->totals.traffic[0].payload_read, 80);
    ck_assert_int_eq(p->totals.traffic[1].written, 128);
    ck_assert_int_eq(p->totals.traffic[1].payload_written, 80);
    ck_assert(y[19] == 38);
}
END_TEST

// A backing memory takes what fits, in order: x; y stays in DDR. Then L0 is reached by two paths.
START_TEST(backing_memories) {
    Program *p = timed_task();
    p->machine.memory[3] = (pto_memory){"L2", sizeof x, PTO_SHARED_CHIP, 1};
    p->machine.nmemories = 4;
    p->machine.path[3] = (pto_path){3, L0, 1, 64, 50, 64, PTO_SHARED_CHIP};
    p->machine.npaths = 4;
    bundle(p);
    copy(p, PTO_LOAD, in_l0(0, 64), of_x(0, 64));
    ck_assert_int_eq(cycles(p), 54);
    p->operands[0][1].tensor = 1;
    ck_assert_int_eq(cycles(p), 108);
}
END_TEST

Suite *suite_model(void) {
    Suite *s = suite_create("model");
    TCase *c = tcase_create("time");
    tcase_add_test(c, one_load);
    tcase_add_test(c, load_compute_store);
    tcase_add_test(c, events_of_operands);
    tcase_add_test(c, empty_bundles);
    tcase_add_test(c, queue_full);
    tcase_add_test(c, bundles_issue_as_a_whole);
    tcase_add_test(c, two_counts_of_one_token);
    tcase_add_test(c, two_cores_one_path);
    tcase_add_test(c, bursts_of_unaligned_rows);
    tcase_add_test(c, rows_are_those_of_the_tensor);
    tcase_add_test(c, borders_cost_nothing);
    tcase_add_test(c, units_complete_in_order);
    tcase_add_test(c, stages_overlap);
    tcase_add_test(c, first_and_last_iteration);
    tcase_add_test(c, signals_of_the_last_iteration);
    tcase_add_test(c, empty_operations_signal);
    tcase_add_test(c, slots_take_turns);
    tcase_add_test(c, loops_nest);
    tcase_add_test(c, more_tasks_than_cores);
    tcase_add_test(c, waves);
    tcase_add_test(c, two_residents);
    tcase_add_test(c, launches_follow_each_other);
    tcase_add_test(c, cubes);
    tcase_add_test(c, vectors);
    tcase_add_test(c, scalar_tasks);
    tcase_add_test(c, backing_memories);
    suite_add_tcase(s, c);
    return s;
}
