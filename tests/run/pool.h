// Tests side by side, each in a process group of its own, and what they come to.
//
// A limit is processor time: of each process of a test (the kernel ends one that has used it up) and of all of them
// together when the test is done. How busy the machine is does not count. A test that waits for ever is ended by a limit
// of the clock, which is far away and says so.
#ifndef TESTS_RUN_POOL_H
#define TESTS_RUN_POOL_H

#include "run.h"

#include <sys/types.h>

typedef struct { int passed, failed, skipped; } Counts;
typedef struct { const Test *test; pid_t pid; char *folder, *log; double start, processor; bool hung; } Running;
typedef struct { const char *name; Counts counts; double seconds, processor; } Group;

typedef struct {
    Running *at;
    int n, jobs;
    bool verbose;
    Counts total;
    Group groups[64];
    int ngroups;
} Pool;

Pool *pool_new(int jobs, bool verbose);
// Signals that end a run (SIGINT, SIGTERM, SIGHUP) are held for pool_interrupted, which says which one came, or 0.
void pool_catch_signals(void);
int pool_interrupted(void);
void pool_start(Pool *p, const Test *t);        // as soon as there is room for it
void pool_finish(Pool *p);                      // waits for all
void pool_end(Pool *p);                         // ends those that still run: they count as neither
void pool_print(const Pool *p, double seconds); // the counts of every group; the last line is "N passed, N failed, N skipped"

#endif
