// The CPU bandwidth that the cgroup of this process leaves it, read from /proc/self/cgroup and the cgroup file system.
//
// A limit above the process's own group binds as well, so every group from there to the root is asked. In a container the
// path in /proc may name a group outside what is mounted: groups that cannot be read are skipped, the root is asked last.
//
// Test: tests/unit/test_runtime_topology.c

#include "topology.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 4096 + 128 };

// quota/period rounded up, 0 for no limit.
static int cpus_of(int64_t quota, int64_t period) {
    if (quota <= 0 || period <= 0)
        return 0;
    int64_t n = (quota - 1) / period + 1;
    return n < INT32_MAX ? (int)n : 0;
}

static int read_number(const char *folder, const char *file, int64_t *out) {
    char path[PATH_SIZE + 32];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return 0;
    long long n;
    int ok = fscanf(f, "%lld", &n) == 1;
    fclose(f);
    *out = ok ? n : 0;
    return ok;
}

static int group_cpus_v2(const char *folder) {
    char path[PATH_SIZE + 32];
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return 0;
    long long quota, period;
    int n = fscanf(f, "%lld %lld", &quota, &period);        // "max 100000" has no number
    fclose(f);
    return n == 2 ? cpus_of(quota, period) : 0;
}

static int group_cpus_v1(const char *folder) {
    int64_t quota, period;
    return read_number(folder, "cpu.cfs_quota_us", &quota) && read_number(folder, "cpu.cfs_period_us", &period) ? cpus_of(quota, period) : 0;
}

static int tighter(int a, int b) { return a == 0 ? b : b == 0 || a < b ? a : b; }

// The tightest limit of `group` and all groups above it under `mount`.
static int walk_up(const char *mount, char *group, int (*cpus)(const char *folder)) {
    int limit = 0;
    for (;;) {
        char folder[PATH_SIZE];
        snprintf(folder, sizeof folder, "%s%s", mount, group);
        limit = tighter(limit, cpus(folder));
        char *slash = strrchr(group, '/');
        if (slash == NULL)
            return limit;
        *slash = '\0';
    }
}

// Is `name` one of the comma-separated `list`?
static int lists(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *p = list; p != NULL; p = strchr(p, ','), p = p != NULL ? p + 1 : NULL)
        if (strncmp(p, name, n) == 0 && (p[n] == ',' || p[n] == '\0'))
            return 1;
    return 0;
}

int cgroup_cpus(const char *root) {
    char path[PATH_SIZE], line[4096], mount[PATH_SIZE];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return 0;
    int limit = 0;
    while (fgets(line, sizeof line, f) != NULL) {            // "ID:CONTROLLERS:PATH"; version 2 has no controllers
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL)
            continue;
        *controllers++ = *group++ = '\0';
        if (controllers[0] == '\0') {
            snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
            limit = tighter(limit, walk_up(mount, group, group_cpus_v2));
        } else if (lists(controllers, "cpu")) {
            snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/cpu", root);
            limit = tighter(limit, walk_up(mount, group, group_cpus_v1));
        }
    }
    fclose(f);
    return limit;
}
