// Strings, files, commands for the tests: see run.h.
#include "run.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *must(void *p) {
    if (!p) {
        fputs("run: out of memory\n", stderr);
        exit(70);
    }
    return p;
}

static char *vtext(const char *fmt, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *s = must(malloc((size_t)n + 1));
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    return s;
}

#define FORMAT(s)                 \
    do {                          \
        va_list ap_;              \
        va_start(ap_, fmt);       \
        (s) = vtext(fmt, ap_);    \
        va_end(ap_);              \
    } while (0)

char *text(const char *fmt, ...) {
    char *s;
    FORMAT(s);
    return s;
}

void say(const char *fmt, ...) {
    char *s;
    FORMAT(s);
    puts(s);
}

Verdict fail(const char *fmt, ...) {
    char *s;
    FORMAT(s);
    puts(s);
    return FAIL;
}

Verdict skip(const char *fmt, ...) {
    char *s;
    FORMAT(s);
    puts(s);
    return SKIP;
}

char *quote(const char *s) {
    char *q = must(malloc(4 * strlen(s) + 3)), *p = q;
    *p++ = '\'';
    for (; *s; s++)
        if (*s == '\'') {
            memcpy(p, "'\\''", 4);
            p += 4;
        } else
            *p++ = *s;
    *p++ = '\'';
    *p = '\0';
    return q;
}

char *read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    size_t size = 0, cap = 4096;
    char *s = must(malloc(cap));
    for (size_t n; (n = fread(s + size, 1, cap - size - 1, f)) > 0;) {
        size += n;
        if (cap - size < 2)
            s = must(realloc(s, cap *= 2));
    }
    fclose(f);
    s[size] = '\0';
    return s;
}

bool write_file(const char *path, const char *content) {
    FILE *f = fopen(path, "wb");
    if (!f)
        return false;
    bool ok = fwrite(content, 1, strlen(content), f) == strlen(content);
    return fclose(f) == 0 && ok;
}

bool is_file(const char *path) {
    struct stat st;
    return stat(path, &st) == 0;
}

bool has_tool(const char *name) {
    return shell(NULL, "command -v %s >/dev/null 2>&1", quote(name)) == 0;
}

const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *stem(const char *path) {
    char *s = text("%s", base_name(path)), *dot = strrchr(s, '.');
    if (dot && dot != s)
        *dot = '\0';
    return s;
}

typedef struct { char **at; size_t n, cap; } Strings;

static void push(Strings *v, char *s) {
    if (v->n + 1 >= v->cap)
        v->at = must(realloc(v->at, sizeof *v->at * (v->cap = v->cap ? 2 * v->cap : 16)));
    v->at[v->n++] = s;
    v->at[v->n] = NULL;
}

static char **strings_end(Strings *v) {
    if (!v->at)
        v->at = must(calloc(1, sizeof *v->at));
    return v->at;
}

static bool ends(const char *s, const char *suffix) {
    size_t n = strlen(s), m = strlen(suffix);
    return n >= m && strcmp(s + n - m, suffix) == 0;
}

static void walk(Strings *found, const char *folder, const char *suffix) {
    DIR *d = opendir(folder);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        char *path = text("%s/%s", folder, e->d_name);
        struct stat st;
        if (stat(path, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode))
            walk(found, path, suffix);
        else if (ends(e->d_name, suffix))
            push(found, path);
    }
    closedir(d);
}

static int compare_strings(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **files(const char *folder, const char *suffix) {
    Strings found = {0};
    walk(&found, folder, suffix);
    if (found.n)
        qsort(found.at, found.n, sizeof *found.at, compare_strings);
    return strings_end(&found);
}

char **lines(char *content) {
    Strings v = {0};
    for (char *p = content; *p;) {
        char *end = strchr(p, '\n');
        push(&v, p);
        if (!end)
            break;
        *end = '\0';
        p = end + 1;
    }
    return strings_end(&v);
}

bool starts(const char *s, const char *prefix) {
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

char *trim(char *s) {
    while (isspace((unsigned char)*s))
        s++;
    for (char *end = s + strlen(s); end > s && isspace((unsigned char)end[-1]);)
        *--end = '\0';
    return s;
}

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Output goes through a file: a command that leaves a process behind cannot hold the reader.
static int run_command(char **out, const char *command) {
    char *log = text("%s/output.XXXXXX", scratch ? scratch : "/tmp");
    int fd = mkstemp(log);
    if (fd < 0)
        return 127;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (chdir(setup.source) != 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
            _exit(127);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(fd);
    int status = 127 << 8;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (out)
        *out = read_file(log);
    if (out && !*out)
        *out = text("%s", "");
    unlink(log);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int shell(char **out, const char *fmt, ...) {
    char *command;
    FORMAT(command);
    return run_command(out, command);
}

bool expect_exit(int code, char **out, const char *fmt, ...) {
    char *command, *output;
    FORMAT(command);
    int got = run_command(&output, command);
    if (out)
        *out = output;
    if (got == code)
        return true;
    say("exit code %d, expected %d: %s\n%s", got, code, command, output);
    return false;
}

char **kernel_names(const char *content) {
    Strings found = {0};
    for (const char *p = content; p; p = strchr(p, '\n')) {
        p += *p == '\n';
        if (!starts(p, "kernel "))
            continue;
        const char *name = p + strlen("kernel ");
        push(&found, text("%.*s", (int)strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"), name));
    }
    return strings_end(&found);
}

char **runnable_targets(void) {
    Strings found = {0};
    push(&found, text("generic"));
#if defined __x86_64__ && defined __GNUC__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        push(&found, text("x86-64-v3"));
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        push(&found, text("x86-64-v4"));
#elif defined __aarch64__
    push(&found, text("arm64-neon"));
#endif
    // In the slow builds the widest one stands for all.
    return strings_end(&found) + (setup.sanitized ? found.n - 1 : 0);
}
