// An allocator that fails: preloaded, it counts the allocations of a program into the file FAIL_COUNT; or, with FAIL_NEXT="first
// step last", the program runs once for each n in that range (the first ones more closely), the n-th allocation having no memory, and once more with all
// behind it failing, too. Each run is a copy of the process from before `main`, and has to do all of its work, or to leave
// nothing and say why. The first that does neither is shown, and the exit code is then 99, else 0.
//
// FAIL_FILES: what a run makes in the folder out; all of it is in the folder FAIL_WHOLE, as it has to be. A program can do the
// same to itself: FAILING(n) from here on, where it is linked with this.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size), *__libc_calloc(size_t n, size_t size), *__libc_realloc(void *p, size_t size), *__libc_memalign(size_t alignment, size_t size);
void failing(long n, int on);
int failed(void);

static atomic_long count;
static long fail_at = -1;
static int fail_on;
static const char *count_file;

// From now on the n-th allocation fails (-1: none), and those behind it, too.
void failing(long n, int on)
{
    count = 0;
    fail_on = on;
    fail_at = n;
}

int failed(void) { return fail_at > 0 && count >= fail_at; }

// hwloc does not look at what it gets, libgomp ends the program: theirs do not fail.
static int is_spared(void *caller)
{
    Dl_info info;
    return dladdr(caller, &info) && info.dli_fname && (strstr(info.dli_fname, "libhwloc") || strstr(info.dli_fname, "libgomp"));
}

static int fails(void *caller)
{
    long n = ++count;
    int no = fail_at > 0 && (n == fail_at || (fail_on && n > fail_at)) && !is_spared(caller);
    if (no)
        errno = ENOMEM;
    return no;
}

void *malloc(size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, size); }
void *aligned_alloc(size_t alignment, size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size); }
void *memalign(size_t alignment, size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size); }

int posix_memalign(void **p, size_t alignment, size_t size)
{
    void *got = fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
    if (!got)
        return ENOMEM;
    *p = got;
    return 0;
}

// ---- many runs ----------------------------------------------------------------------------------------------------------

enum { MOST = 1 << 20 };
static char text[MOST], other[MOST];

static long read_file(const char *path, char *to)
{
    int fd = open(path, O_RDONLY);
    long n = 0, got = 0;
    while (fd >= 0 && n < MOST - 1 && (got = read(fd, to + n, (size_t)(MOST - 1 - n))) > 0)
        n += got;
    to[n] = 0;
    if (fd >= 0)
        close(fd);
    return fd < 0 ? -1 : n;
}

// How many of the files there are; -1: one is not as it has to be. All are removed.
static int look_at_files(const char *list, const char *whole)
{
    char names[256], path[512], *rest = names;
    int there = 0, wrong = 0;
    snprintf(names, sizeof names, "%s", list);
    for (char *name; (name = strsep(&rest, " "));) {
        snprintf(path, sizeof path, "%s/%s", whole, name);
        long wanted = read_file(path, other);
        snprintf(path, sizeof path, "out/%s", name);
        long n = read_file(path, text);
        there += n >= 0;
        wrong = wrong || n != wanted || memcmp(text, other, (size_t)(n < 0 ? 0 : n)) != 0;
        unlink(path);
    }
    return wrong ? (there ? -there : 0) : there;
}

static const char *judge(int status, const char *files, const char *whole)
{
    files = files && *files ? files : NULL;
    int found = files ? look_at_files(files, whole) : 1;
    read_file("err.txt", text);
    if (!WIFEXITED(status))
        return "it was killed";
    // (isl does not always say why it gave up: what it did not find out is then taken for the worst, with a warning)
    if (WEXITSTATUS(status) == 0)
        return found > 0 || strstr(text, "[budget]") ? NULL : "done, but other files";
    if (WEXITSTATUS(status) != 1 && WEXITSTATUS(status) != 2 && WEXITSTATUS(status) != 70)
        return "an exit code of no meaning";
    if (!*text)
        return "it failed without a word";
    if (strstr(text, "internal error") && !strstr(text, "is there no memory"))
        return "it crashed";
    return !files || found == 0 ? NULL : "files are left behind";
}

// In the copy: false. It writes to files.
static int begin_run(long n, int on)
{
    pid_t pid = fork();
    int status = 0;
    if (pid == 0) {
        int out = open("out.txt", O_WRONLY | O_CREAT | O_TRUNC, 0666), err = open("err.txt", O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(out, 1);
        dup2(err, 2);
        failing(n, on);
        return 0;
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        _exit(98);
    const char *problem = judge(status, getenv("FAIL_FILES"), getenv("FAIL_WHOLE"));
    if (problem) {
        dprintf(1, "allocation %ld%s: %s (status %#x)\n%s", n, on ? " and all behind it" : "", problem, (unsigned)status, text);
        _exit(99);
    }
    return 1;
}

__attribute__((constructor)) static void begin(void)
{
    const char *next = getenv("FAIL_NEXT");
    long first, step, last;
    count_file = getenv("FAIL_COUNT");
    unsetenv("LD_PRELOAD");               // not in the C compiler
    unsetenv("FAIL_NEXT");
    if (!next || sscanf(next, "%ld %ld %ld", &first, &step, &last) != 3) {
        count = 0;
        return;
    }
    for (long n = first; n <= last; n += n < 20 ? 1 : n < 200 && step > 8 ? 8 : step)
        if (!begin_run(n, 0) || !begin_run(n, 1))
            return;
    _exit(0);
}

__attribute__((destructor)) static void end(void)
{
    char number[32];
    int fd = count_file && fail_at < 0 ? open(count_file, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    int n = snprintf(number, sizeof number, "%ld\n", (long)count);
    if (fd < 0 || write(fd, number, (size_t)n) != n)
        return;
    close(fd);
}
