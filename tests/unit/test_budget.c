// The budget of operations on integer sets.
#include "ir/budget.h"

#include <check.h>
#include <isl/set.h>

Suite *suite_budget(void);

static isl_set *small(isl_ctx *isl)
{
    return isl_set_read_from_str(isl, "[N] -> { [i, j] : 0 <= i < N and 0 <= j < i or i = 2j }");
}

START_TEST(counts_what_a_question_takes)
{
    Arena *a = arena_new();
    isl_ctx *isl = isl_ctx_alloc();
    Budget *b = budget_new(a, isl, 1000000);
    unsigned long used[2];
    for (int i = 0; i < 2; i++) {
        unsigned long before = b->left;
        budget_begin(b);
        isl_set *s = small(isl);
        ck_assert_int_eq(isl_set_is_empty(s), isl_bool_false);
        ck_assert(budget_end(b));
        isl_set_free(s);
        used[i] = before - b->left;
    }
    ck_assert_uint_gt(used[0], 50);
    ck_assert_uint_le(used[1], used[0]);                  // (isl keeps names that it has seen)
    ck_assert_uint_gt(used[1], used[0] / 2);
    ck_assert_uint_lt(used[0], 50000);
    isl_ctx_free(isl);
    arena_free(a);
}
END_TEST

START_TEST(ends_with_the_sum)
{
    Arena *a = arena_new();
    isl_ctx *isl = isl_ctx_alloc();
    Budget *b = budget_new(a, isl, 10000);
    int asked = 0;
    bool done = true;
    for (; done && asked < 10000; asked++) {
        budget_begin(b);
        isl_set_free(small(isl));
        done = budget_end(b);
    }
    ck_assert_int_gt(asked, 2);
    ck_assert_int_lt(asked, 200);
    ck_assert_uint_eq(b->left, 0);
    budget_begin_least(b, 50000);                         // what is needed still has its own
    isl_set *s = small(isl);
    ck_assert(budget_end(b) && s);
    isl_set_free(s);
    isl_ctx_free(isl);
    arena_free(a);
}
END_TEST

Suite *suite_budget(void)
{
    Suite *s = suite_create("budget");
    TCase *c = tcase_create("budget");
    tcase_add_test(c, counts_what_a_question_takes);
    tcase_add_test(c, ends_with_the_sum);
    suite_add_tcase(s, c);
    return s;
}
