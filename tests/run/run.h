// The test runner's own small library.
//
// A test is a function that runs in a process of its own, in the source folder, with a fresh temporary folder and its
// output caught in a log that is shown when it fails. Memory is never freed: a test's process is short-lived.
// Groups (one file each) register their tests; main.c runs them side by side and counts.
#ifndef TESTS_RUN_H
#define TESTS_RUN_H

#include <stdbool.h>
#include <stddef.h>

typedef enum { PASS = 0, FAIL = 1, SKIP = 77 } Verdict;

typedef struct Test Test;
struct Test {
    const char *group, *name;
    Verdict (*run)(const Test *t);
    const char *path, *arg;      // whatever the group wants to hand to `run`
    int seconds;                 // of the processors: it fails when it takes more; 0: 120
    bool alone;                  // measures time: nothing runs beside it
    bool figures;                // what it prints is shown, whatever comes of it
    bool counts;                 // its last line "N passed, N failed[, N skipped]" counts, not the test itself
};
void test_add(Test t);           // the strings must last
char *test_name(const Test *t);  // "GROUP/NAME"

// What the runner was started with; all paths are absolute.
typedef struct {
    const char *source, *build, *scratch, *ptoc, *cc, *config, *shared;   // shared: the folder of test data, or NULL
    bool sanitized;              // asan, tsan: slower by a factor
    bool threads;                // tsan: the modelled machines, which are one thread, have nothing for it
    bool longer;                 // `make check-long`: sweeps that are not for every day as well
    int seconds, patience;       // processor time of each test, 0: its own; how long one may take by the clock
} Setup;
extern Setup setup;
extern const char *scratch;      // the running test's temporary folder

// One registration per file.
void add_unit(void);
void add_architecture(void);
void add_errors(void);
void add_golden(void);
void add_samples(void);
void add_trial(void);
void add_polybench(void);
void add_casts(void);
void add_mutate(void);
void add_manual(void);
void add_scripts(void);
void add_outside(void);
void add_speed(void);

// In a test: prints to its log.
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
Verdict fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));    // says and returns FAIL
Verdict skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));    // says why and returns SKIP

char *text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));      // a new string
char *quote(const char *s);                                                  // for the shell
char *read_file(const char *path);                                           // NULL: cannot
bool write_file(const char *path, const char *content);
bool is_file(const char *path);
bool has_tool(const char *name);                                             // on PATH
const char *base_name(const char *path);
char *stem(const char *path);                                                // file name without folder and suffix
// All files below a folder whose names end in `suffix`, sorted, NULL-terminated. Empty when there is no such folder.
char **files(const char *folder, const char *suffix);
char **lines(char *content);                                                 // splits in place, NULL-terminated
bool starts(const char *s, const char *prefix);
char *trim(char *s);                                                         // in place
double now(void);                                                            // seconds

// Runs a command line through the shell in the source folder; exit code, or 128 + signal. *out (may be NULL) gets
// stdout and stderr, in order.
int shell(char **out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
// The same, and says the command and its output unless the exit code is the expected one.
bool expect_exit(int code, char **out, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

// Names of the kernels a .pto text defines, NULL-terminated.
char **kernel_names(const char *content);
// CPU targets whose code this machine can run; NULL-terminated.
char **runnable_targets(void);

// A numeric array from an .npy file.
typedef struct { char dtype[8]; int rank; long shape[16], count; double *at; } Array;
const char *npy_load(const char *path, Array *a);                            // NULL, or what is wrong

#endif
