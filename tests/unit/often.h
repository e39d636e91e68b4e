// An assertion for loops that make it a hundred thousand times. Check writes each place that it passes to a file, in case
// the next step crashes, and reads them all again afterwards: that would take longer than the test itself.
#ifndef TESTS_UNIT_OFTEN_H
#define TESTS_UNIT_OFTEN_H

#include <check.h>

#define OFTEN_ASSERT(condition) OFTEN_ASSERT_MSG(condition, "not so: %s", #condition)
#define OFTEN_ASSERT_MSG(condition, ...) \
    do {                                 \
        if (!(condition))                \
            ck_abort_msg(__VA_ARGS__);   \
    } while (0)
#define OFTEN_ASSERT_INT_EQ(a, b) OFTEN_ASSERT_MSG((a) == (b), "not so: %s is %s: %#llx, %#llx", #a, #b, (long long)(a), (long long)(b))

#endif
