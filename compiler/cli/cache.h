// The cache of built kernels: shared objects by the hash of all that went into them.
#ifndef PTOC_CLI_CACHE_H
#define PTOC_CLI_CACHE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct { uint64_t a, b; } Hash;
Hash hash_new(void);
void hash_add(Hash *h, const void *bytes, size_t n);
void hash_add_text(Hash *h, const char *text);       // with its end, so that "a" "b" is not "ab"

typedef struct {
    const char *folder;      // where the object lives
    const char *object;      // its path
    bool temporary;          // no cache could be used: cache_drop removes the folder
    bool present;
} CacheEntry;

// The entry of a hash in $XDG_CACHE_HOME/ptoc or ~/.cache/ptoc; where that cannot be written or trusted, in a folder of its
// own below $TMPDIR (*warning says so where others may write to it). An entry that is not what was stored is not present.
// False: there is no place at all.
bool cache_find(Arena *a, const Hash *h, CacheEntry *entry, const char **warning, const char **error);
// The same entry below $TMPDIR: where the cache turned out to be full.
bool cache_find_temporary(Arena *a, const Hash *h, CacheEntry *entry, const char **error);
// A new folder beside the entry to build in. Empty it and cache_store or remove it.
const char *cache_work_folder(Arena *a, const CacheEntry *entry);
// Puts a checksum behind a finished object and moves it to its place, whatever other processes do meanwhile; false: it could
// not. Removes the work folder in any case. Objects that
// nobody has used for a month go at the same time.
bool cache_store(Arena *a, const CacheEntry *entry, const char *work, const char *object);
void cache_remove_folder(Arena *a, const char *folder);       // with the files in it
void cache_drop(Arena *a, const CacheEntry *entry);           // after loading

#endif
