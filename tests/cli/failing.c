// An allocator that fails: preloaded, the FAIL_AT-th allocation of the program has no memory, with FAIL_ON=1 also all behind it.
// FAIL_COUNT names a file that gets the number of allocations when the program ends by itself.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size), *__libc_calloc(size_t n, size_t size), *__libc_realloc(void *p, size_t size), *__libc_memalign(size_t alignment, size_t size);

static atomic_long count;
static long fail_at = -1;
static int fail_on;
static const char *count_file;

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("FAIL_AT");
    count_file = getenv("FAIL_COUNT");
    fail_on = getenv("FAIL_ON") != NULL;
    count = 0;
    fail_at = at ? atol(at) : -1;
    unsetenv("LD_PRELOAD");               // not in the C compiler
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    int fd = count_file ? open(count_file, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    int n = snprintf(text, sizeof text, "%ld\n", (long)count);
    if (fd < 0 || write(fd, text, (size_t)n) != n)
        return;
    close(fd);
}

static int fails(void)
{
    long n = ++count;
    int no = fail_at > 0 && (n == fail_at || (fail_on && n > fail_at));
    if (no)
        errno = ENOMEM;
    return no;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t size) { return fails() ? NULL : __libc_realloc(p, size); }
void *aligned_alloc(size_t alignment, size_t size) { return fails() ? NULL : __libc_memalign(alignment, size); }
void *memalign(size_t alignment, size_t size) { return fails() ? NULL : __libc_memalign(alignment, size); }

int posix_memalign(void **p, size_t alignment, size_t size)
{
    void *got = fails() ? NULL : __libc_memalign(alignment, size);
    if (!got)
        return ENOMEM;
    *p = got;
    return 0;
}
