// Output files that appear whole or not at all; see output.h.
#include "data/output.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    const char *path;        // as the user wrote it
    const char *target;      // symbolic links resolved
    char *temporary;         // NULL: written directly
    FILE *stream;
    int slot;
} Output;

struct Outputs {
    Arena *arena;
    VEC(Output) list;
};

// ---- what a signal handler removes ----

enum { MAX_TEMPORARY = 64 };
static char *_Atomic temporary_names[MAX_TEMPORARY];

static int remember(char *name)
{
    for (int k = 0; k < MAX_TEMPORARY; k++) {
        char *none = NULL;
        if (atomic_compare_exchange_strong(&temporary_names[k], &none, name))
            return k;
    }
    return -1;
}

static void forget(int slot)
{
    if (slot >= 0)
        atomic_store(&temporary_names[slot], NULL);
}

void outputs_remove_all(void)
{
    for (int k = 0; k < MAX_TEMPORARY; k++) {
        char *name = atomic_load(&temporary_names[k]);
        if (name)
            unlink(name);
    }
    for (int k = MAX_TEMPORARY - 1; k >= 0; k--) {           // what is in a folder was guarded after it
        char *name = atomic_load(&temporary_names[k]);
        if (name)
            rmdir(name);
    }
}

void outputs_guard(char *name)
{
    remember(name);
}

void outputs_forget(const char *folder)
{
    size_t n = strlen(folder);
    for (int k = 0; k < MAX_TEMPORARY; k++) {
        char *name = atomic_load(&temporary_names[k]);
        if (name && strncmp(name, folder, n) == 0 && (name[n] == '/' || !name[n]))
            forget(k);
    }
}

// ---- opening ----

Outputs *outputs_new(Arena *a)
{
    Outputs *o = ARENA_NEW(a, Outputs);
    o->arena = a;
    return o;
}

// Signals are held back from the file's creation until its name is known to the handler.
static int create_temporary(Output *f)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    int fd = mkostemp(f->temporary, 02000000 /* O_CLOEXEC */);
    f->slot = fd >= 0 ? remember(f->temporary) : -1;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return fd;
}

static FILE *open_temporary(Output *f, mode_t mode)
{
    int fd = create_temporary(f);
    if (fd < 0)
        return NULL;
    fchmod(fd, mode);
    FILE *stream = fdopen(fd, "wb");
    if (!stream)
        close(fd);
    return stream;
}

static mode_t default_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

FILE *outputs_open(Outputs *o, const char *path, const char **error)
{
    struct stat st;
    Output f = {.path = path, .target = path, .slot = -1};
    bool exists = stat(path, &st) == 0;
    if (strcmp(path, "-") == 0) {
        f.stream = stdout;
    } else if (exists && !S_ISREG(st.st_mode)) {
        f.stream = S_ISDIR(st.st_mode) ? (errno = EISDIR, NULL) : fopen(path, "wb");
    } else {
        char *real = exists ? realpath(path, NULL) : NULL;
        if (exists && !real) {
            *error = arena_printf(o->arena, "%s: cannot be written: %s", path, strerror(errno));
            return NULL;
        }
        if (real)
            f.target = arena_strdup(o->arena, real);
        free(real);
        f.temporary = arena_printf(o->arena, "%s.XXXXXX", f.target);
        if (exists && access(f.target, W_OK) != 0)
            f.stream = NULL;
        else
            f.stream = open_temporary(&f, exists ? st.st_mode & 07777 : default_mode());
    }
    if (!f.stream) {
        *error = arena_printf(o->arena, "%s: cannot be written: %s", path, strerror(errno));
        return NULL;
    }
    VEC_PUSH(o->arena, &o->list, f);
    return f.stream;
}

// ---- closing ----

static bool close_stream(Output *f)
{
    bool ok = !ferror(f->stream);
    errno = ok ? 0 : EIO;
    ok = (f->stream == stdout ? fflush(stdout) : fclose(f->stream)) == 0 && ok;
    f->stream = NULL;
    return ok;
}

static bool fail(Outputs *o, const Output *f, const char **error)
{
    *error = arena_printf(o->arena, "%s: cannot be written: %s", f->path, strerror(errno));
    outputs_drop(o);
    return false;
}

bool outputs_commit(Outputs *o, const char **error)
{
    for (int k = 0; k < o->list.n; k++)
        if (!close_stream(&o->list.at[k]))
            return fail(o, &o->list.at[k], error);
    for (int k = 0; k < o->list.n; k++) {
        Output *f = &o->list.at[k];
        if (!f->temporary)
            continue;
        if (rename(f->temporary, f->target) != 0)
            return fail(o, f, error);
        forget(f->slot);
        f->temporary = NULL;
    }
    o->list.n = 0;
    return true;
}

void outputs_drop(Outputs *o)
{
    for (int k = 0; k < o->list.n; k++) {
        Output *f = &o->list.at[k];
        if (f->stream && f->stream != stdout)
            fclose(f->stream);
        if (f->temporary) {
            unlink(f->temporary);
            forget(f->slot);
        }
    }
    o->list.n = 0;
}
