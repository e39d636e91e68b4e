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

// Load as above: complete at 108. The bundle that waits issues at 108: 64 elements are 2 rows of the vector unit, cost 3: 6
// cycles, the port needs 512/512 = 1; complete 8 later, at 122. The store goes at 122, takes 8 cycles and 100: 230.
START_TEST(load_compute_store) {
    Program *p = one_task();
    for (int i = 0; i < 64; i++)
        x[i] = (float)i, y[i] = 0;
    int full = token(p, 0, 1), done = token(p, 0, 1);
    bundle(p);
    signals(p, copy(p, PTO_LOAD, in_l0(0, 64), of_x(0, 64)), full);
    bundle(p);
    wait_for(p, full);
    signals(p, nest(p, PTO_VECTOR, 64, 3, compute_add1, 2, (pto_operand[]){in_l0(256, 64), in_l0(0, 64)}), done);
    bundle(p);
    wait_for(p, done);
    copy(p, PTO_STORE, box1(DDR, 1, PTO_F32, 0, 64), in_l0(256, 64));
    ck_assert_int_eq(cycles(p), 230);
    ck_assert_int_eq(p->totals.stalled[PTO_STALL_TOKEN], 107 + 13);
    for (int i = 0; i < 64; i++)
        ck_assert(y[i] == (float)i + 1);
}
END_TEST

Suite *suite_model(void) {
    Suite *s = suite_create("model");
    TCase *c = tcase_create("time");
    tcase_add_test(c, one_load);
    tcase_add_test(c, load_compute_store);
    suite_add_tcase(s, c);
    return s;
}
