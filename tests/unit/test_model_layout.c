// Where elements lie: what is read is what was written, of the same tensor, at the same place in it, from the same slot; boxes
// of tensors lie as these say; what nothing wrote is not read, and no output is left unwritten; and programs that say nothing
// of it are not looked at.
#include "model_program.h"

#include <stdbool.h>

Suite *suite_model_layout(void);

static float x[64 * 16], y[64 * 16];

static pto_operand of(pto_operand o, int tensor) {
    o.of = tensor;
    return o;
}

// Rows [row, row + rows) of columns [column, column + columns) of a tensor of 64 rows of 16 columns.
static pto_operand part(int which, int64_t row, int64_t rows, int64_t column, int64_t columns) {
    pto_operand o = of(box2(DDR, which, PTO_F32, row * 64 + column * 4, rows, 64, columns, 4), which + 1);
    o.dim[0].at.start.base = row;
    o.dim[1].at.start.base = column;
    return o;
}

static pto_operand on_chip(int64_t address, int tensor, int64_t row, int64_t rows, int64_t columns) {
    pto_operand o = of(box2(L0, -1, PTO_F32, address, rows, columns * 4, columns, 4), tensor);
    o.dim[0].at.start.base = row;
    return o;
}

// x and y come as tensors of 64 rows and 16 columns.
static Program *rows(void) {
    int64_t one = 1;
    Program *p = program(1, &one);
    tensor(p, "x", x, sizeof x, 4, 0);
    tensor(p, "y", y, sizeof y, 4, 1);
    for (int k = 0; k < 2; k++) {
        p->tensors[k].rank = 2;
        p->tensors[k].dim[0].extent = 64;
        p->tensors[k].dim[1].extent = 16;
        p->tensors[k].given = k == 0;
    }
    return p;
}

// Rows 8..15 of x into L0, then what `to` says out of it.
static Program *moves(pto_operand to, pto_operand from) {
    Program *p = rows();
    int full = token(p, 0, 1);
    bundle(p);
    signals(p, copy(p, PTO_LOAD, on_chip(0, 1, 8, 8, 16), part(0, 8, 8, 0, 16)), full);
    bundle(p);
    wait_for(p, full);
    copy(p, PTO_STORE, to, from);
    return p;
}

static pto_operand into_y(int64_t row, int64_t rows) { return of(part(1, row, rows, 0, 16), 1); }

START_TEST(what_agrees_is_fine) {
    ck_assert_int_gt(cycles(moves(into_y(8, 8), on_chip(0, 1, 8, 8, 16))), 0);
    ck_assert_int_gt(cycles(moves(into_y(10, 4), on_chip(128, 1, 10, 4, 16))), 0);
    ck_assert_int_gt(cycles(moves(of(into_y(10, 4), 0), of(on_chip(0, 1, 8, 4, 16), 0))), 0);      // (says nothing)
}
END_TEST

START_TEST(other_tensors_and_types) {
    faults(moves(of(into_y(8, 8), 2), on_chip(0, 2, 8, 8, 16)), "tensor: bundle 1 (store), task (0): b, test.pto:2: reads L0[0..511], which bundle 0 (load) wrote for a as another tensor's");
    faults(moves(into_y(8, 8), on_chip(0, 2, 8, 8, 16)), "tensor: bundle 1 (store)");
    pto_operand to = into_y(8, 8), from = on_chip(0, 1, 8, 8, 16);
    to.type = from.type = PTO_I32;
    faults(moves(to, from), "tensor: bundle 1 (store)");
}
END_TEST

START_TEST(other_elements) {
    faults(moves(into_y(8, 4), on_chip(64, 1, 8, 4, 16)), "layout: bundle 1 (store), task (0): b, test.pto:2: reads L0[64..319], which bundle 0 (load) wrote for a as other elements");
    faults(moves(into_y(9, 4), on_chip(0, 1, 9, 4, 16)), "as other elements");
    faults(moves(into_y(9, 4), on_chip(0, 1, 8, 4, 16)), "layout: bundle 1 (store), task (0): b, test.pto:2: in dimension 0 it moves element 8 to where 9 is to be");
    pto_operand from = on_chip(0, 1, 8, 4, 16);
    from.dim[0].stride = 68;
    from.address.base = 0;
    faults(moves(into_y(8, 4), from), "with other strides");
}
END_TEST

// x as if it were one row of 1024 elements, or in two dimensions by its own account.
START_TEST(other_dimensions) {
    pto_operand whole = of(box1(L0, -1, PTO_F32, 0, 128), 1), there = of(box1(DDR, 1, PTO_F32, 512, 128), 1);
    faults(moves(there, whole), "layout: bundle 1 (store), task (0): b, test.pto:2: operand 0 has 1 dimensions, and y 2");
    pto_along along[2] = {{.start = {.base = 8}, .stride = 64, .steps = {0, 1}}, {.stride = 4, .steps = {1, 0}}};
    pto_operand to = of(box2(DDR, 1, PTO_F32, 512, 16, 4, 8, 64), 1), from = of(box2(L0, -1, PTO_F32, 0, 16, 4, 8, 64), 1);
    to.nalong = from.nalong = 2;
    to.along = from.along = along;
    ck_assert_int_gt(cycles(moves(to, from)), 0);
    from.dim[1].stride = 68;
    faults(moves(to, from), "with other strides");
    from.dim[1].stride = 64;
    to.address.base = 516;
    faults(moves(to, from), "layout: bundle 1 (store), task (0): b, test.pto:2: the address of operand 0 is not that of y");
    to.address.base = 512;
    to.dim[0].at.size = from.dim[0].at.size = 17;
    faults(moves(to, from), "range: bundle 1 (store), task (0): b, test.pto:2: operand 0 has the subscripts 0..16 in dimension 1 of y, which has 16");
}
END_TEST

START_TEST(tensors_lie_as_they_say) {
    pto_operand to = into_y(8, 8), from = on_chip(0, 1, 8, 8, 16);
    to.address.base = 516;
    faults(moves(to, from), "layout: bundle 1 (store), task (0): b, test.pto:2: the address of operand 0 is not that of y");
    to = into_y(8, 8);
    to.dim[0].stride = 60;
    faults(moves(to, from), "layout: bundle 1 (store), task (0): b, test.pto:2: a stride of operand 0 is not that of y");
    Program *p = rows();
    bundle(p);
    copy(p, PTO_LOAD, on_chip(0, 1, 8, 4, 24), part(0, 8, 4, 0, 24));
    faults(p, "range: bundle 0 (load), task (0): a, test.pto:1: operand 1 has the subscripts 0..23 in dimension 1 of x, which has 16");
}
END_TEST

// A slot counted by no digit, where what filled it counted by one: in the first iteration that is the same slot.
START_TEST(slots_counted_in_another_way) {
    for (int digits = 0; digits < 2; digits++) {
        Program *p = rows();
        int full = token(p, 0, 1);
        pto_operand filled = on_chip(0, 1, 8, 8, 16), read = on_chip(0, 1, 8, 8, 16);
        slots(&filled, 2, 1, 512);
        slots(&read, 2, digits, 512);
        bundle(p);
        signals(p, copy(p, PTO_LOAD, filled, part(0, 8, 8, 0, 16)), full);
        bundle(p);
        wait_for(p, full);
        copy(p, PTO_STORE, into_y(8, 8), read);
        loop(p, 0, 1, 1, (int64_t[]){1});
        if (digits == 0)
            faults(p, "stale: bundle 1 (store), task (0), iteration (0): b, test.pto:2: reads L0[0..511], which bundle 0 (load) wrote for a into slots that it counts in another way");
        else
            ck_assert_int_gt(cycles(p), 0);
    }
}
END_TEST

START_TEST(an_operation_on_itself) {
    Program *p = moves(into_y(8, 8), on_chip(0, 1, 8, 8, 16));
    bundle(p);
    wait_for(p, token(p, 1, 1));
    pto_operand a = box1(L0, -1, PTO_F32, 0, 32), b = box1(L0, -1, PTO_F32, 124, 32);
    nest(p, PTO_VECTOR, 32, 1, compute_add1, 2, (pto_operand[]){b, a});
    faults(p, "overlap: bundle 2 (vector), task (0): c, test.pto:3: operand 1 has bytes of L0 that it writes");
    p = moves(into_y(8, 8), on_chip(0, 1, 8, 8, 16));
    bundle(p);
    wait_for(p, token(p, 1, 1));
    int k = nest(p, PTO_VECTOR, 32, 1, compute_add1, 2, (pto_operand[]){a, a});
    faults(p, "race");                   // (with the store; in place is fine)
    p->ops[k].same = 0;
    faults(p, "overlap");
}
END_TEST

// ---- what was written -------------------------------------------------------------------------------------------------------

static void written(Program *p, const char *text) {
    pto_context *ctx = pto_context_new(NULL);
    ck_assert_int_eq(pto_context_model(ctx, &p->options), PTO_OK);
    ck_assert_int_eq(pto_enter(&ctx, "kernel"), PTO_OK);
    pto_status s = pto_launch_bundles(ctx, &p->launch);
    ck_assert_msg(s == PTO_OK, "%s", pto_context_error(ctx));
    s = pto_check_written(ctx, &p->tensors[1], 1);
    ck_assert_int_eq(s, text != NULL ? PTO_ERR_FAULT : PTO_OK);
    ck_assert(text == NULL || strstr(pto_context_error(ctx), text) != NULL);
    pto_leave(ctx, s);
    pto_context_free(ctx);
}

START_TEST(outputs_that_nothing_wrote) {
    Program *p = moves(into_y(8, 8), on_chip(0, 1, 8, 8, 16));
    written(p, "unwritten: element 0 of y, of 1024");
    p->options.timing_only = 1;
    written(p, NULL);
    p = rows();
    int full = token(p, 0, 1);
    bundle(p);
    signals(p, copy(p, PTO_LOAD, on_chip(0, 1, 0, 64, 16), part(0, 0, 64, 0, 16)), full);
    bundle(p);
    wait_for(p, full);
    copy(p, PTO_STORE, into_y(0, 64), on_chip(0, 1, 0, 64, 16));
    written(p, NULL);
    p->operands[1][0].dim[0].at.size = p->operands[1][1].dim[0].at.size = 63;
    written(p, "unwritten: element 1008 of y, of 1024");
}
END_TEST

START_TEST(reads_of_what_nothing_wrote) {
    Program *p = rows();
    p->tensors[0].given = 0;
    bundle(p);
    copy(p, PTO_LOAD, on_chip(0, 1, 8, 8, 16), part(0, 8, 8, 0, 16));
    faults(p, "uninitialised: bundle 0 (load), task (0): a, test.pto:1: reads element 128 of x, which nothing wrote in this call");
}
END_TEST

// Row 3 of a tensor of two rows lies where row 1 was.
START_TEST(turns_of_a_folded_dimension) {
    for (int64_t row = 1; row <= 3; row += 2) {
        Program *p = rows();
        p->tensors[1].dim[0].extent = 0;
        p->tensors[1].dim[0].fold = 2;
        p->tensors[1].bytes = 128;
        int full = token(p, 0, 1), stored = token(p, 0, 1);
        bundle(p);
        signals(p, copy(p, PTO_LOAD, on_chip(0, 2, 1, 1, 16), of(part(0, 1, 1, 0, 16), 2)), full);
        bundle(p);
        wait_for(p, full);
        pto_operand at = of(part(1, 1, 1, 0, 16), 2), again = of(part(1, 1, 1, 0, 16), 2);
        again.dim[0].at.start.base = row;
        signals(p, copy(p, PTO_STORE, at, on_chip(0, 2, 1, 1, 16)), stored);
        bundle(p);
        wait_for(p, stored);
        copy(p, PTO_LOAD, on_chip(512, 2, row, 1, 16), again);
        if (row == 1)
            ck_assert_int_gt(cycles(p), 0);
        else
            faults(p, "stale: bundle 2 (load), task (0): c, test.pto:3: reads element 16 of y, which bundle 1 (store) of task (0) wrote for b for another turn of a folded dimension");
    }
}
END_TEST

Suite *suite_model_layout(void) {
    Suite *s = suite_create("model_layout");
    TCase *c = tcase_create("elements");
    tcase_add_test(c, what_agrees_is_fine);
    tcase_add_test(c, other_tensors_and_types);
    tcase_add_test(c, other_elements);
    tcase_add_test(c, other_dimensions);
    tcase_add_test(c, tensors_lie_as_they_say);
    tcase_add_test(c, slots_counted_in_another_way);
    tcase_add_test(c, an_operation_on_itself);
    suite_add_tcase(s, c);
    c = tcase_create("written");
    tcase_add_test(c, outputs_that_nothing_wrote);
    tcase_add_test(c, reads_of_what_nothing_wrote);
    tcase_add_test(c, turns_of_a_folded_dimension);
    suite_add_tcase(s, c);
    return s;
}
