// Runs the Check suites of tests/unit: each file test_NAME.c exports `Suite *suite_NAME(void)`, and the Makefile
// makes suites.def, one SUITE(NAME) each, from the names of the files that are there.
//
//   unit [SUITE...]     only these; prints the failures and ends with a line "N passed, N failed"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUITE(name) Suite *suite_##name(void);
#include "suites.def"
#undef SUITE

static const struct {
    const char *name;
    Suite *(*make)(void);
} suites[] = {
#define SUITE(name) { #name, suite_##name },
#include "suites.def"
#undef SUITE
    { NULL, NULL },
};

static int is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc == 1;
}

int main(int argc, char **argv)
{
    SRunner *runner = srunner_create(NULL);
    int n = 0;
    for (int i = 0; suites[i].name; i++)
        if (is_wanted(suites[i].name, argc, argv)) {
            srunner_add_suite(runner, suites[i].make());
            n++;
        }
    if (n == 0) {
        fputs("unit: no such suite\n", stderr);
        srunner_free(runner);
        return 2;
    }
    srunner_run_all(runner, CK_ENV);
    int run = srunner_ntests_run(runner), failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    printf("%d passed, %d failed\n", run - failed, failed);
    return failed != 0;
}
