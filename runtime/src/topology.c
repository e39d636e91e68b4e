// The machine as hwloc sees it, and where workers go on it.
//
// All cores are recognised, whatever their kind; "allowed" is what the cpuset of the cgroup and the affinity leave. Every
// function takes a topology, so that machines that are not here can be tested; affinity and cgroup bandwidth are those of
// this process and count only where the topology is this system's.
//
// Test: tests/unit/test_runtime_topology.c

#include "topology.h"
#include "pool.h"

#include <hwloc.h>
#include <string.h>

// ---- access ---------------------------------------------------------------------------------------------------------

typedef struct Machine {
    hwloc_topology_t topology;
    bool own;
    bool here;                       // it is this system
    hwloc_bitmap_t allowed;
    hwloc_obj_type_t core;           // HWLOC_OBJ_PU where hwloc finds no cores
} Machine;

static void machine_close(Machine *m) {
    hwloc_bitmap_free(m->allowed);
    if (m->own)
        hwloc_topology_destroy(m->topology);
}

static hwloc_topology_t load(void) {
    hwloc_topology_t t;
    if (hwloc_topology_init(&t) != 0)
        return NULL;
    if (hwloc_topology_load(t) == 0)
        return t;
    hwloc_topology_destroy(t);
    return NULL;
}

// What the affinity of this thread allows, unless OpenMP has bound it to one of its places.
static void narrow_to_affinity(Machine *m) {
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();
    if (bound != NULL && hwloc_get_cpubind(m->topology, bound, HWLOC_CPUBIND_THREAD) == 0
        && hwloc_bitmap_intersects(bound, m->allowed) && pool_openmp_procs() <= hwloc_bitmap_weight(bound))
        hwloc_bitmap_and(m->allowed, m->allowed, bound);
    hwloc_bitmap_free(bound);
}

static bool machine_open(Machine *m, hwloc_topology_t given) {
    *m = (Machine){.topology = given != NULL ? given : load(), .own = given == NULL, .core = HWLOC_OBJ_CORE};
    if (m->topology == NULL)
        return false;
    m->allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(m->topology));
    if (m->allowed == NULL) {
        machine_close(m);
        return false;
    }
    m->here = hwloc_topology_is_thissystem(m->topology) != 0;
    if (m->here)
        narrow_to_affinity(m);
    if (hwloc_get_nbobjs_by_type(m->topology, HWLOC_OBJ_CORE) <= 0)
        m->core = HWLOC_OBJ_PU;
    return true;
}

static int count_all(const Machine *m, hwloc_obj_type_t type) {
    int n = hwloc_get_nbobjs_by_type(m->topology, type);
    return n > 0 ? n : 0;
}

static bool allows(const Machine *m, hwloc_obj_t o) { return o->cpuset != NULL && hwloc_bitmap_intersects(o->cpuset, m->allowed); }

static int count_allowed(const Machine *m, hwloc_obj_type_t type) {
    int n = 0;
    for (int i = 0; i < count_all(m, type); i++)
        n += allows(m, hwloc_get_obj_by_type(m->topology, type, (unsigned)i));
    return n;
}

// ---- the facts ------------------------------------------------------------------------------------------------------

static int saturated(uint64_t x) { return x < INT32_MAX ? (int)x : INT32_MAX; }

static void query_caches(const Machine *m, pto_topology *out) {
    static const hwloc_obj_type_t types[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE};
    for (int level = 1; level <= 5; level++) {
        hwloc_obj_t first = hwloc_get_obj_by_type(m->topology, types[level - 1], 0);
        if (first == NULL || first->attr == NULL)
            continue;
        int cores = hwloc_get_nbobjs_inside_cpuset_by_type(m->topology, first->cpuset, m->core);
        out->caches[out->ncaches++] = (pto_cache){
            .level = level,
            .count = count_all(m, types[level - 1]),
            .cores = cores > 1 ? cores : 1,
            .line = saturated(first->attr->cache.linesize),
            .bytes = (int64_t)first->attr->cache.size,
        };
    }
}

static int least(int a, int b) { return a < b ? a : b; }

static void query(const Machine *m, pto_topology *out) {
    *out = (pto_topology){
        .packages = count_all(m, HWLOC_OBJ_PACKAGE),
        .nodes = count_all(m, HWLOC_OBJ_NUMANODE),
        .cores = count_all(m, m->core),
        .pus = count_all(m, HWLOC_OBJ_PU),
        .allowed_cores = count_allowed(m, m->core),
        .allowed_pus = count_allowed(m, HWLOC_OBJ_PU),
        .allowed_nodes = count_allowed(m, HWLOC_OBJ_NUMANODE),
        .quota = m->here ? cgroup_cpus("") : 0,
    };
    out->threads = out->quota > 0 ? least(out->allowed_cores, out->quota) : out->allowed_cores;
    out->threads = out->threads < 1 ? 1 : least(out->threads, PTO_MAX_WORKERS);
    query_caches(m, out);
}

pto_status pto_topology_query(struct hwloc_topology *topology, pto_topology *out) {
    Machine m;
    if (out == NULL)
        return pto_error(NULL, PTO_ERR_NULL, "the place of the topology is NULL");
    if (!machine_open(&m, topology))
        return pto_error(NULL, PTO_ERR_ARGUMENT, "hwloc cannot read this machine");
    query(&m, out);
    machine_close(&m);
    return PTO_OK;
}

// ---- places ---------------------------------------------------------------------------------------------------------

// The allowed core that comes at `position` of all allowed ones, in hwloc's order: cores of one node are neighbours.
static hwloc_obj_t allowed_core(const Machine *m, int position) {
    for (int i = 0; i < count_all(m, m->core); i++) {
        hwloc_obj_t core = hwloc_get_obj_by_type(m->topology, m->core, (unsigned)i);
        if (allows(m, core) && position-- == 0)
            return core;
    }
    return NULL;
}

// The processing units of the NUMA node that a core belongs to.
static hwloc_const_cpuset_t node_of(const Machine *m, hwloc_obj_t core) {
    for (int i = 0; i < count_all(m, HWLOC_OBJ_NUMANODE); i++) {
        hwloc_obj_t node = hwloc_get_obj_by_type(m->topology, HWLOC_OBJ_NUMANODE, (unsigned)i);
        if (node->cpuset != NULL && hwloc_bitmap_isincluded(core->cpuset, node->cpuset))
            return node->cpuset;
    }
    return core->cpuset;
}

static int list_allowed(const Machine *m, hwloc_const_cpuset_t set, int *pus, int max) {
    int n = 0;
    for (int pu = hwloc_bitmap_first(set); pu >= 0; pu = hwloc_bitmap_next(set, pu)) {
        if (!hwloc_bitmap_isset(m->allowed, (unsigned)pu))
            continue;
        if (n < max)
            pus[n] = pu;
        n++;
    }
    return n;
}

int pto_topology_place(struct hwloc_topology *topology, pto_bind bind, int worker, int workers, int *pus, int max) {
    Machine m;
    if (pus == NULL)
        max = 0;
    if ((bind != PTO_BIND_NODE && bind != PTO_BIND_CORE) || worker < 0 || worker >= workers || !machine_open(&m, topology))
        return 0;
    int64_t cores = count_allowed(&m, m.core);
    hwloc_obj_t core = allowed_core(&m, (int)(worker * cores / workers));
    int n = core == NULL ? 0 : list_allowed(&m, bind == PTO_BIND_CORE ? core->cpuset : node_of(&m, core), pus, max);
    machine_close(&m);
    return n;
}

// ---- the text -------------------------------------------------------------------------------------------------------

size_t pto_topology_describe(struct hwloc_topology *topology, char *text, size_t size) {
    Machine m;
    if (text == NULL)
        size = 0;
    Text out = {.text = text, .size = size};
    if (size > 0)
        text[0] = '\0';
    if (!machine_open(&m, topology)) {
        text_add(&out, "warning: hwloc cannot read this machine\n");
        return out.length;
    }
    pto_topology facts;
    char pus[256], nodes[64];
    hwloc_bitmap_t node_set = hwloc_bitmap_alloc();
    if (node_set != NULL)
        hwloc_cpuset_to_nodeset(m.topology, m.allowed, node_set);
    hwloc_bitmap_list_snprintf(pus, sizeof pus, m.allowed);
    hwloc_bitmap_list_snprintf(nodes, sizeof nodes, node_set);
    hwloc_bitmap_free(node_set);
    query(&m, &facts);
    describe_facts(&out, &facts, hwloc_get_root_obj(m.topology)->total_memory, pus, nodes);
    describe_warnings(&out, &facts, m.here);
    machine_close(&m);
    return out.length;
}
