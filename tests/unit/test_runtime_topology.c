// libptort: the machine: synthetic topologies, places, cgroup limits, the text of `ptoc info`, first touch.
#include "ptort.h"
#include "topology.h"

#include <check.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static hwloc_topology_t synthetic(const char *description)
{
    hwloc_topology_t t;
    ck_assert_int_eq(hwloc_topology_init(&t), 0);
    ck_assert_int_eq(hwloc_topology_set_synthetic(t, description), 0);
    ck_assert_int_eq(hwloc_topology_load(t), 0);
    return t;
}

// ---- facts ----------------------------------------------------------------------------------------------------------

START_TEST(two_nodes)
{
    hwloc_topology_t t = synthetic("numa:2 core:4 pu:2");
    pto_topology f;
    ck_assert_int_eq(pto_topology_query(t, &f), PTO_OK);
    ck_assert_int_eq(f.nodes, 2);
    ck_assert_int_eq(f.cores, 8);
    ck_assert_int_eq(f.pus, 16);
    ck_assert_int_eq(f.allowed_cores, 8);
    ck_assert_int_eq(f.allowed_pus, 16);
    ck_assert_int_eq(f.allowed_nodes, 2);
    ck_assert_int_eq(f.quota, 0);
    ck_assert_int_eq(f.threads, 8);
    hwloc_topology_destroy(t);
}
END_TEST

START_TEST(caches)
{
    hwloc_topology_t t = synthetic("pack:2 numa:1 l3:2(size=33554432) l2:4(size=1048576) l1d:1(size=32768) core:1 pu:2");
    pto_topology f;
    ck_assert_int_eq(pto_topology_query(t, &f), PTO_OK);
    ck_assert_int_eq(f.packages, 2);
    ck_assert_int_eq(f.cores, 16);
    ck_assert_int_eq(f.ncaches, 3);
    static const pto_cache want[] = {{.level = 1, .count = 16, .cores = 1, .bytes = 32768}, {.level = 2, .count = 16, .cores = 1, .bytes = 1 << 20}, {.level = 3, .count = 4, .cores = 4, .bytes = 32 << 20}};
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(f.caches[i].level, want[i].level);
        ck_assert_int_eq(f.caches[i].count, want[i].count);
        ck_assert_int_eq(f.caches[i].cores, want[i].cores);
        ck_assert_int_eq(f.caches[i].bytes, want[i].bytes);
    }
    hwloc_topology_destroy(t);
}
END_TEST

START_TEST(restricted)
{
    hwloc_topology_t t = synthetic("numa:2 core:4 pu:2");
    hwloc_bitmap_t some = hwloc_bitmap_alloc();
    hwloc_bitmap_set_range(some, 3, 9);                         // half of core 1, cores 2 to 4
    ck_assert_int_eq(hwloc_topology_restrict(t, some, 0), 0);
    pto_topology f;
    ck_assert_int_eq(pto_topology_query(t, &f), PTO_OK);
    ck_assert_int_eq(f.allowed_cores, 4);
    ck_assert_int_eq(f.allowed_pus, 7);
    hwloc_bitmap_free(some);
    hwloc_topology_destroy(t);
}
END_TEST

START_TEST(this_machine)
{
    pto_topology f;
    ck_assert_int_eq(pto_topology_query(NULL, &f), PTO_OK);
    ck_assert_int_ge(f.cores, 1);
    ck_assert_int_ge(f.pus, f.cores);
    ck_assert_int_le(f.allowed_cores, f.cores);
    ck_assert_int_ge(f.threads, 1);
    ck_assert_int_le(f.threads, f.allowed_cores);
    unsetenv("PTO_NUM_THREADS");
    unsetenv("OMP_NUM_THREADS");
    ck_assert_int_le(pto_workers(NULL), f.threads);
}
END_TEST

// ---- places ---------------------------------------------------------------------------------------------------------

static int place(hwloc_topology_t t, pto_bind bind, int worker, int workers, int *first)
{
    int pus[64];
    int n = pto_topology_place(t, bind, worker, workers, pus, 64);
    for (int i = 1; i < n; i++)
        ck_assert_int_lt(pus[i - 1], pus[i]);
    *first = n > 0 ? pus[0] : -1;
    return n;
}

START_TEST(places)
{
    hwloc_topology_t t = synthetic("numa:2 core:4 pu:2");
    int first;
    for (int w = 0; w < 8; w++) {
        ck_assert_int_eq(place(t, PTO_BIND_CORE, w, 8, &first), 2);
        ck_assert_int_eq(first, 2 * w);
        ck_assert_int_eq(place(t, PTO_BIND_NODE, w, 8, &first), 8);
        ck_assert_int_eq(first, w < 4 ? 0 : 8);
        ck_assert_int_eq(place(t, PTO_BIND_NONE, w, 8, &first), 0);
    }
    for (int w = 0; w < 4; w++) {                               // fewer workers than cores: spread, still in order
        place(t, PTO_BIND_CORE, w, 4, &first);
        ck_assert_int_eq(first, 4 * w);
    }
    for (int w = 0; w < 16; w++) {                              // more: neighbours share
        ck_assert_int_eq(place(t, PTO_BIND_CORE, w, 16, &first), 2);
        ck_assert_int_eq(first, w / 2 * 2);
    }
    ck_assert_int_eq(place(t, PTO_BIND_CORE, 3, 3, &first), 0);
    ck_assert_int_eq(place(t, PTO_BIND_CORE, -1, 3, &first), 0);
    int one;
    ck_assert_int_eq(pto_topology_place(t, PTO_BIND_NODE, 0, 1, &one, 1), 8);   // counts what did not fit
    hwloc_topology_destroy(t);
    ck_assert_int_ge(place(NULL, PTO_BIND_CORE, 0, 1, &first), 1);
}
END_TEST

// ---- cgroups --------------------------------------------------------------------------------------------------------

static void put(const char *root, const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *p = strchr(whole + strlen(root) + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
        *p = '\0';
        mkdir(whole, 0777);
        *p = '/';
    }
    FILE *f = fopen(whole, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

START_TEST(cgroups)
{
    char root[] = "/tmp/pto-cgroup-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(root));
    ck_assert_int_eq(cgroup_cpus(root), 0);
    put(root, "proc/self/cgroup", "0::/a/b\n");
    ck_assert_int_eq(cgroup_cpus(root), 0);
    put(root, "sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    ck_assert_int_eq(cgroup_cpus(root), 0);
    put(root, "sys/fs/cgroup/a/cpu.max", "350000 100000\n");
    ck_assert_int_eq(cgroup_cpus(root), 4);                     // 3.5, from the group above
    put(root, "sys/fs/cgroup/a/b/cpu.max", "200000 100000\n");
    ck_assert_int_eq(cgroup_cpus(root), 2);
    put(root, "sys/fs/cgroup/cpu.max", "50000 100000\n");       // the root's, as a container sees its own
    ck_assert_int_eq(cgroup_cpus(root), 1);
    put(root, "proc/self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/d\n1:cpuset:/y\nnonsense\n");
    put(root, "sys/fs/cgroup/cpu/d/cpu.cfs_quota_us", "-1\n");
    put(root, "sys/fs/cgroup/cpu/d/cpu.cfs_period_us", "100000\n");
    ck_assert_int_eq(cgroup_cpus(root), 0);
    put(root, "sys/fs/cgroup/cpu/d/cpu.cfs_quota_us", "600000\n");
    ck_assert_int_eq(cgroup_cpus(root), 6);
    put(root, "sys/fs/cgroup/cpu/d/cpu.cfs_period_us", "0\n");
    ck_assert_int_eq(cgroup_cpus(root), 0);
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

// ---- the text -------------------------------------------------------------------------------------------------------

static char text[4096];

static void describe(hwloc_topology_t t) { ck_assert_uint_lt(pto_topology_describe(t, text, sizeof text), sizeof text); }

static void clear_environment(void)
{
    static const char *const names[] = {"PTO_NUM_THREADS", "OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_DYNAMIC"};
    for (int i = 0; i < 4; i++)
        unsetenv(names[i]);
}

START_TEST(description)
{
    clear_environment();
    hwloc_topology_t t = synthetic("pack:2 numa:1 l3:1(size=33554432) core:4 pu:2");
    describe(t);
    ck_assert_ptr_nonnull(strstr(text, "2 packages, 2 NUMA nodes, 8 cores, 16 processing units"));
    ck_assert_ptr_nonnull(strstr(text, "L3 cache    2 x 32 MiB, 4 cores each"));
    ck_assert_ptr_nonnull(strstr(text, "processing units 0-15, NUMA nodes 0-1"));
    char part[16];
    size_t length = strlen(text);
    memset(part, 'x', sizeof part);
    ck_assert_uint_eq(pto_topology_describe(t, part, 10), length);      // like snprintf
    ck_assert_uint_eq(strlen(part), 9);
    ck_assert_int_eq(part[10], 'x');
    ck_assert_uint_eq(pto_topology_describe(t, NULL, 0), length);
    hwloc_topology_destroy(t);
    describe(NULL);
    ck_assert_ptr_nonnull(strstr(text, "machine "));
}
END_TEST

START_TEST(warnings)
{
    static const struct { const char *name, *value, *warning; } cases[] = {
        {"PTO_NUM_THREADS", "2", "PTO_NUM_THREADS=2 holds the threads down to 2 of 8"},
        {"PTO_NUM_THREADS", "8", NULL},
        {"PTO_NUM_THREADS", "two", "PTO_NUM_THREADS=two is not a number"},
        {"OMP_NUM_THREADS", "1", "OMP_NUM_THREADS=1 holds the threads down to 1 of 8"},
        {"OMP_NUM_THREADS", "4,2", "OMP_NUM_THREADS=4 holds"},
        {"OMP_NUM_THREADS", "8", NULL},
        {"OMP_THREAD_LIMIT", "3", "OMP_THREAD_LIMIT=3 holds the threads down to 3 of 8"},
        {"OMP_DYNAMIC", "TRUE", "OMP_DYNAMIC=TRUE"},
        {"OMP_DYNAMIC", "false", NULL},
    };
    hwloc_topology_t t = synthetic("numa:2 core:4 pu:2");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clear_environment();
        setenv(cases[i].name, cases[i].value, 1);
        describe(t);
        int serial = strstr(text, "without OpenMP") != NULL;
        if (serial && cases[i].name[0] == 'O')
            continue;
        if (cases[i].warning != NULL)
            ck_assert_msg(strstr(text, cases[i].warning) != NULL, "%s lacks %s", text, cases[i].warning);
        else if (!serial)
            ck_assert_msg(strstr(text, "warning: ") == NULL, "%s", text);
    }
    hwloc_topology_destroy(t);
}
END_TEST

// ---- first touch ----------------------------------------------------------------------------------------------------

START_TEST(first_touch)
{
    pto_context *ctx = pto_context_new(&(pto_options){.threads = 3, .bind = PTO_BIND_NODE});
    size_t bytes = 100000;
    unsigned char *p = malloc(bytes + 2);
    memset(p, 0x5a, bytes + 2);
    for (size_t n = 0; n <= bytes; n = n * 3 + 1) {
        ck_assert_int_eq(pto_first_touch(ctx, p + 1, n), PTO_OK);
        ck_assert_int_eq(pto_first_touch(NULL, p + 1, n), PTO_OK);
    }
    for (size_t i = 0; i < bytes + 2; i++)
        ck_assert_int_eq(p[i], 0x5a);
    ck_assert_int_eq(pto_first_touch(ctx, NULL, 0), PTO_OK);
    ck_assert_int_eq(pto_first_touch(ctx, NULL, 1), PTO_ERR_NULL);
    free(p);
    pto_context_free(ctx);
}
END_TEST

Suite *suite_runtime_topology(void);
Suite *suite_runtime_topology(void)
{
    Suite *s = suite_create("runtime_topology");
    TCase *c = tcase_create("runtime_topology");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, two_nodes);
    tcase_add_test(c, caches);
    tcase_add_test(c, restricted);
    tcase_add_test(c, this_machine);
    tcase_add_test(c, places);
    tcase_add_test(c, cgroups);
    tcase_add_test(c, description);
    tcase_add_test(c, warnings);
    tcase_add_test(c, first_touch);
    suite_add_tcase(s, c);
    return s;
}
