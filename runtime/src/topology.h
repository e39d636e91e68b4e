// What the runtime's files share about the machine.
#ifndef PTORT_TOPOLOGY_H
#define PTORT_TOPOLOGY_H

#include "ptort.h"

#include <stdbool.h>

// The default number of workers: a core each, of those that affinity and cgroup leave to this thread. Cheap after the
// first call in the process.
int machine_threads(void);

// A whole decimal number in 1..PTO_MAX_WORKERS, or 0.
int parse_threads(const char *text);

// CPUs that the CPU bandwidth of this process's cgroup and those above it allow, rounded up; 0: no limit. Version 1 and 2.
// `root` is "" or a folder that stands for / in a test.
int cgroup_cpus(const char *root);

// A text that is written like snprintf does: cut at `size`, counted whole.
typedef struct Text {
    char *text;
    size_t size, length;
} Text;
void text_add(Text *t, const char *fmt, ...) PTO_PRINTF(2, 3);

// The lines of pto_topology_describe. `pus` and `nodes` list what is allowed; here: the machine is this one.
void describe_facts(Text *out, const pto_topology *facts, uint64_t memory, const char *pus, const char *nodes);
void describe_warnings(Text *out, const pto_topology *facts, bool here);

#endif
