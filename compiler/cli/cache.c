// The cache of built kernels; see cache.h.
//
// An object is built in a folder of its own and renamed into place: a reader sees a whole file or none, and two
// processes that build the same thing at once only do the work twice. Behind every object stands a checksum of it: what a
// full disk, a crash or somebody else made of it is built anew. Others could put any code into a folder that they may
// write to, so such a cache is not used. Test: tests/cli/cache.sh
#include "cli/cache.h"

#include "data/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// ---- hashing ----

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

Hash hash_new(void) { return (Hash){.a = 0x243f6a8885a308d3u, .b = 0x13198a2e03707344u}; }

void hash_add(Hash *h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t k = 0; k < n; k += 8) {
        uint64_t word = 0;
        memcpy(&word, p + k, n - k < 8 ? n - k : 8);
        h->a = mix(h->a ^ word) + 0x9e3779b97f4a7c15u;
        h->b = mix(h->b + word * 0xff51afd7ed558ccdu) ^ 0xa4093822299f31d0u;
    }
    h->a = mix(h->a ^ n);
    h->b = mix(h->b + n);
}

void hash_add_text(Hash *h, const char *text) { hash_add(h, text, strlen(text) + 1); }

// ---- folders ----

static bool make_folders(Arena *a, const char *path)
{
    char *p = arena_strdup(a, path);
    for (char *slash = p + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        mkdir(p, 0700);
    }
    return (mkdir(p, 0700) == 0 || errno == EEXIST) && access(p, W_OK | X_OK) == 0;
}

// Nobody else can have put anything there.
static bool is_private(const struct stat *st)
{
    return st->st_uid == geteuid() && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static const char *cache_folder(Arena *a, const char **warning)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *path = NULL;
    if (xdg && xdg[0] == '/')
        path = arena_printf(a, "%s/ptoc", xdg);
    else if (home && home[0] == '/')
        path = arena_printf(a, "%s/.cache/ptoc", home);
    struct stat st;
    if (!path || !make_folders(a, path) || stat(path, &st) != 0)
        return NULL;
    if (is_private(&st))
        return path;
    *warning = arena_printf(a, "others may write to the cache '%s': it is not used", path);
    return NULL;
}

static const char *temporary_folder(Arena *a)
{
    const char *tmp = getenv("TMPDIR");
    char *path = arena_printf(a, "%s/ptoc-XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp");
    return mkdtemp(path);
}

// ---- entries ----

typedef struct { char magic[8]; Hash hash; } Trailer;
static const char magic[8] = "ptoc.so";

// The bytes of a file that nobody else may write to; NULL: it cannot be read, or they may.
static char *contents(Arena *a, const char *path, size_t *size)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && is_private(&st);
    char *bytes = ok ? arena_alloc(a, (size_t)st.st_size + 1) : NULL;
    *size = 0;
    for (ssize_t n = 1; ok && n > 0 && *size < (size_t)st.st_size; *size += n > 0 ? (size_t)n : 0)
        n = read(fd, bytes + *size, (size_t)st.st_size - *size);
    if (fd >= 0)
        close(fd);
    return ok && *size == (size_t)st.st_size ? bytes : NULL;
}

static Trailer trailer_of(const char *bytes, size_t size)
{
    Trailer t = {.hash = hash_new()};
    memcpy(t.magic, magic, sizeof magic);
    hash_add(&t.hash, bytes, size);
    return t;
}

static bool is_whole(const char *object)
{
    Arena *a = arena_new();
    size_t size;
    const char *bytes = contents(a, object, &size);
    bool whole = bytes && size > sizeof(Trailer);
    if (whole) {
        Trailer t = trailer_of(bytes, size - sizeof t);
        whole = memcmp(&t, bytes + size - sizeof t, sizeof t) == 0;
    }
    arena_free(a);
    return whole;
}

// The loader takes no notice of what stands behind an object.
static bool add_checksum(Arena *a, const char *object)
{
    size_t size;
    const char *bytes = chmod(object, 0700) == 0 ? contents(a, object, &size) : NULL;
    FILE *f = bytes ? fopen(object, "ab") : NULL;
    Trailer t = f ? trailer_of(bytes, size) : (Trailer){.magic = ""};
    bool ok = f && fwrite(&t, sizeof t, 1, f) == 1;
    return f && fclose(f) == 0 && ok;
}

static void name_object(Arena *a, const Hash *h, CacheEntry *entry)
{
    entry->object = arena_printf(a, "%s/%016" PRIx64 "%016" PRIx64 ".so", entry->folder, h->a, h->b);
}

bool cache_find_temporary(Arena *a, const Hash *h, CacheEntry *entry, const char **error)
{
    *entry = (CacheEntry){.folder = temporary_folder(a), .temporary = true};
    if (!entry->folder) {
        *error = arena_printf(a, "there is no folder to build in: %s", strerror(errno));
        return false;
    }
    name_object(a, h, entry);
    outputs_guard((char *)entry->folder);
    outputs_guard((char *)entry->object);
    return true;
}

bool cache_find(Arena *a, const Hash *h, CacheEntry *entry, const char **warning, const char **error)
{
    *entry = (CacheEntry){.folder = cache_folder(a, warning)};
    if (!entry->folder)
        return cache_find_temporary(a, h, entry, error);
    name_object(a, h, entry);
    entry->present = is_whole(entry->object) && utimensat(AT_FDCWD, entry->object, NULL, 0) == 0;
    return true;
}

const char *cache_work_folder(Arena *a, const CacheEntry *entry)
{
    char *folder = mkdtemp(arena_printf(a, "%s/build-XXXXXX", entry->folder));
    if (folder) {
        outputs_guard(folder);
        outputs_guard(arena_printf(a, "%s/kernel.c", folder));
        outputs_guard(arena_printf(a, "%s/kernel.so", folder));
    }
    return folder;
}

// Objects unused for a month, and folders that a killed build left a day ago.
static void prune(Arena *a, const CacheEntry *entry)
{
    DIR *dir = opendir(entry->folder);
    time_t now = time(NULL);
    struct stat st;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        const char *path = arena_printf(a, "%s/%s", entry->folder, e->d_name), *dot = strrchr(e->d_name, '.');
        if (e->d_name[0] == '.' || lstat(path, &st) != 0)
            continue;
        if (S_ISREG(st.st_mode) && dot && strcmp(dot, ".so") == 0 && now - st.st_mtime > 30 * 24 * 3600)
            unlink(path);
        if (S_ISDIR(st.st_mode) && strncmp(e->d_name, "build-", 6) == 0 && now - st.st_mtime > 24 * 3600)
            cache_remove_folder(a, path);
    }
    if (dir)
        closedir(dir);
}

bool cache_store(Arena *a, const CacheEntry *entry, const char *work, const char *object)
{
    bool ok = add_checksum(a, object) && rename(object, entry->object) == 0;
    cache_remove_folder(a, work);
    if (!entry->temporary)
        prune(a, entry);
    return ok;
}

void cache_remove_folder(Arena *a, const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlink(arena_printf(a, "%s/%s", folder, e->d_name));
    if (dir)
        closedir(dir);
    rmdir(folder);
    outputs_forget(folder);
}

void cache_drop(Arena *a, const CacheEntry *entry)
{
    if (entry->temporary)
        cache_remove_folder(a, entry->folder);
}
