// The default number of workers.
//
// What does not change while the process lives (which core a processing unit belongs to, the cgroup's limit) is read once;
// the affinity is asked for each time. A thread that OpenMP has bound to its place (OMP_PROC_BIND) sees one processor,
// although its team has more: then the number that OpenMP found when it started counts.
//
// Test: tests/unit/test_runtime_topology.c

#include "pool.h"
#include "topology.h"

#include <hwloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static struct {
    pthread_once_t once;
    int quota;
    int cores;                                               // that the operating system allows the process
    short core_of[CPU_SETSIZE];                              // per processing unit; -1: unknown
} machine = {.once = PTHREAD_ONCE_INIT};

static void machine_read_cores(hwloc_topology_t t) {
    hwloc_const_cpuset_t allowed = hwloc_topology_get_allowed_cpuset(t);
    int n = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE);
    for (int c = 0; c < n && c <= INT16_MAX; c++) {
        hwloc_obj_t core = hwloc_get_obj_by_type(t, HWLOC_OBJ_CORE, (unsigned)c);
        machine.cores += hwloc_bitmap_intersects(core->cpuset, allowed);
        for (int pu = hwloc_bitmap_first(core->cpuset); pu >= 0 && pu < CPU_SETSIZE; pu = hwloc_bitmap_next(core->cpuset, pu))
            machine.core_of[pu] = (short)c;
    }
}

static void machine_read(void) {
    for (int pu = 0; pu < CPU_SETSIZE; pu++)
        machine.core_of[pu] = -1;
    machine.quota = cgroup_cpus("");
    hwloc_topology_t t;
    if (hwloc_topology_init(&t) != 0)
        return;
    if (hwloc_topology_load(t) == 0 && hwloc_topology_is_thissystem(t))
        machine_read_cores(t);
    hwloc_topology_destroy(t);
}

// Cores with a processing unit in the set; a unit whose core is unknown counts as a core.
static int cores_in(const cpu_set_t *set) {
    unsigned char seen[INT16_MAX / 8 + 1] = {0};
    int n = 0;
    for (int pu = 0; pu < CPU_SETSIZE; pu++) {
        if (!CPU_ISSET(pu, set))
            continue;
        int core = machine.core_of[pu];
        if (core < 0 || !(seen[core / 8] >> core % 8 & 1))
            n++;
        if (core >= 0)
            seen[core / 8] = (unsigned char)(seen[core / 8] | 1u << core % 8);
    }
    return n;
}

static int least(int a, int b) { return a < b ? a : b; }

int machine_threads(void) {
    pthread_once(&machine.once, machine_read);
    cpu_set_t set;
    int n = 1, procs = pool_openmp_built() ? pool_openmp_procs() : 0;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        n = cores_in(&set);
        if (procs > CPU_COUNT(&set))
            n = machine.cores > 0 ? least(machine.cores, procs) : procs;
    } else if (procs > 0) {                                  // more processors than a cpu_set_t holds
        n = procs;
    }
    if (machine.quota > 0)
        n = least(n, machine.quota);
    if (pool_openmp_built() && getenv("OMP_NUM_THREADS") != NULL)
        n = least(n, pool_openmp_default());
    return n < 1 ? 1 : least(n, PTO_MAX_WORKERS);
}
