// The cache of built kernels; see cache.h.
//
// An object is built in a folder of its own and renamed into place: a reader sees a whole file or none, and two
// processes that build the same thing at once only do the work twice.
#include "cli/cache.h"

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

static const char *cache_folder(Arena *a)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *path = NULL;
    if (xdg && xdg[0] == '/')
        path = arena_printf(a, "%s/ptoc", xdg);
    else if (home && home[0] == '/')
        path = arena_printf(a, "%s/.cache/ptoc", home);
    return path && make_folders(a, path) ? path : NULL;
}

static const char *temporary_folder(Arena *a)
{
    const char *tmp = getenv("TMPDIR");
    char *path = arena_printf(a, "%s/ptoc-XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp");
    return mkdtemp(path);
}

bool cache_find(Arena *a, const Hash *h, CacheEntry *entry, const char **error)
{
    *entry = (CacheEntry){.folder = cache_folder(a)};
    if (!entry->folder) {
        entry->folder = temporary_folder(a);
        entry->temporary = true;
    }
    if (!entry->folder) {
        *error = arena_printf(a, "there is no folder to build in: %s", strerror(errno));
        return false;
    }
    entry->object = arena_printf(a, "%s/%016" PRIx64 "%016" PRIx64 ".so", entry->folder, h->a, h->b);
    entry->present = utimensat(AT_FDCWD, entry->object, NULL, 0) == 0 && access(entry->object, R_OK) == 0;
    return true;
}

const char *cache_work_folder(Arena *a, const CacheEntry *entry)
{
    return mkdtemp(arena_printf(a, "%s/build-XXXXXX", entry->folder));
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
    bool ok = rename(object, entry->object) == 0;
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
}

void cache_drop(Arena *a, const CacheEntry *entry)
{
    if (entry->temporary)
        cache_remove_folder(a, entry->folder);
}
