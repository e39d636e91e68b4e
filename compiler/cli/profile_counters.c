// Counters of the processor and the kernel around a call, by perf_event_open: of this process and of the threads that it
// makes after counters_open. Where they are not allowed or not there, the profile says why.
#include "cli/profile.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct { const char *name; uint32_t type; uint64_t config; } events[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branch misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"page faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"context switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};
enum { NEVENTS = sizeof events / sizeof *events };
_Static_assert(NEVENTS <= sizeof((Counters *)0)->fd / sizeof(int), "room");

void counters_open(Counters *c)
{
    c->failed = 0;
    for (int k = 0; k < NEVENTS; k++) {
        struct perf_event_attr a = {.type = events[k].type, .size = sizeof a, .config = events[k].config, .disabled = 1, .inherit = 1, .exclude_kernel = 1,
                                    .exclude_hv = 1, .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
        c->fd[k] = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (c->fd[k] < 0 && c->failed == 0)
            c->failed = errno;
    }
}

void counters_start(Counters *c)
{
    for (int k = 0; k < NEVENTS; k++)
        if (c->fd[k] >= 0) {
            ioctl(c->fd[k], PERF_EVENT_IOC_RESET, 0);
            ioctl(c->fd[k], PERF_EVENT_IOC_ENABLE, 0);
        }
}

static int paranoid(void)
{
    int level = -100;
    FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
    if (f && fscanf(f, "%d", &level) != 1)
        level = -100;
    if (f)
        fclose(f);
    return level;
}

static const char *why_not(Arena *a, int error)
{
    if (error == 0)
        return "";
    const char *level = paranoid() != -100 ? arena_printf(a, " (kernel.perf_event_paranoid is %d)", paranoid()) : "";
    const char *reason = error == ENOENT || error == EOPNOTSUPP ? "this processor, or the machine that it is a part of, offers none"
                         : error == EPERM || error == EACCES    ? "the system does not allow them"
                         : error == ENOSYS                      ? "the system has no perf_event_open"
                                                                : strerror(error);
    return arena_printf(a, "Counters are missing: %s%s.", reason, level);
}

static Counter read_counter(int fd, const char *name)
{
    uint64_t x[3];                               // value, time enabled, time running
    Counter c = {.name = name};
    if (fd < 0 || read(fd, x, sizeof x) != sizeof x || x[2] == 0)
        return c;
    c.known = true;
    c.value = x[1] == x[2] ? (double)x[0] : (double)x[0] * (double)x[1] / (double)x[2];
    return c;
}

void counters_stop(Counters *c, Profile *p)
{
    for (int k = 0; k < NEVENTS; k++)
        if (c->fd[k] >= 0)
            ioctl(c->fd[k], PERF_EVENT_IOC_DISABLE, 0);
    for (int k = 0; k < NEVENTS; k++) {
        Counter x = read_counter(c->fd[k], events[k].name);
        VEC_PUSH(p->arena, &p->counters, x);
        if (c->fd[k] >= 0)
            close(c->fd[k]);
    }
    p->counter_note = why_not(p->arena, c->failed);
}
