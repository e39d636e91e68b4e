// What is asked of every good program, whatever group it belongs to. Each returns false after saying what is wrong.
#ifndef TESTS_RUN_KERNELS_H
#define TESTS_RUN_KERNELS_H

#include <stdbool.h>

bool check_kernels(const char *path, const char *target);      // `ptoc check` of the file; target NULL: the default
bool compile_c(const char *path);                              // for every target and C compiler there is; no foreign symbols
bool round_trip(const char *path);                             // print(parse(print(x))) = print(x), task and tile level
bool feed_back_schedule(const char *path);                     // --emit-schedule, pasted back, gives the same C, for each target

#endif
