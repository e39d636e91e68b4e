// What the runtime's files share about the machine.
#ifndef PTORT_TOPOLOGY_H
#define PTORT_TOPOLOGY_H

// The default number of workers: a core each, of those that affinity and cgroup leave to this thread. Cheap after the
// first call in the process.
int machine_threads(void);

// CPUs that the CPU bandwidth of this process's cgroup and those above it allow, rounded up; 0: no limit. Version 1 and 2.
// `root` is "" or a folder that stands for / in a test.
int cgroup_cpus(const char *root);

#endif
