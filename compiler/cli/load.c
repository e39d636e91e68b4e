// From a file to kernels that can be called; see load.h.
#include "cli/load.h"

#include "cli/build.h"
#include "cli/cache.h"
#include "emit/emit.h"
#include "machine/machine.h"

#include <dlfcn.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- building ----

static Words build_command(Unit *u, const char *source, const char *object)
{
    Arena *a = u->arena;
    Words c = build_compiler(a);
    const char *flags[] = {"-O3", "-shared", "-fPIC", "-w", u->options->line_directives ? "-g" : "-g0",
                           "-I", u->places.include, "-o", object, source, "-lm"};
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
        VEC_PUSH(a, &c, flags[k]);
    return c;
}

static void hash_file(Hash *h, const char *path)
{
    struct stat st;
    if (!path || stat(path, &st) != 0)
        return;
    hash_add_text(h, path);
    hash_add(h, &st.st_size, sizeof st.st_size);
    hash_add(h, &st.st_mtim, sizeof st.st_mtim);
}

static int is_header(const struct dirent *d)
{
    const char *dot = strrchr(d->d_name, '.');
    return dot && strcmp(dot, ".h") == 0;
}

// (glob frees twice where there is no memory.)
static void hash_headers(Hash *h, Arena *a, const char *folder)
{
    struct dirent **headers = NULL;
    int n = scandir(folder, &headers, is_header, alphasort);
    for (int k = 0; k < n; k++) {
        hash_file(h, arena_printf(a, "%s/%s", folder, headers[k]->d_name));
        free(headers[k]);
    }
    if (n >= 0)
        free(headers);
}

// All that decides what comes out: the text, the compiler itself, the flags, the runtime's headers.
static Hash hash_of(Unit *u, const Compiled *text)
{
    Hash h = hash_new();
    hash_add_text(&h, PTO_VERSION);
    hash_add(&h, text->c, text->c_size);
    Words command = build_command(u, "kernel.c", "kernel.so");
    for (int k = 0; k < command.n; k++)
        hash_add_text(&h, command.at[k]);
    hash_file(&h, build_find_program(u->arena, command.at[0]));
    hash_file(&h, arena_printf(u->arena, "%s/ptort.h", u->places.include));
    hash_headers(&h, u->arena, arena_printf(u->arena, "%s/ptort", u->places.include));
    return h;
}

static bool write_text(const char *path, const char *text, size_t n)
{
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(text, 1, n, f) == n;
    return f && fclose(f) == 0 && ok;
}

static void show_command(const Words *command)
{
    for (int k = 0; k < command->n; k++)
        fprintf(stderr, "%s%s", k ? " " : "", command->at[k]);
    fputc('\n', stderr);
}

// What the C compiler said: all of it on request, else its first lines.
static void show_output(const Unit *u, const char *text)
{
    for (int line = 0; *text && (line < 12 || u->options->verbose); line++) {
        size_t n = strcspn(text, "\n");
        fprintf(stderr, "%.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
    if (*text)
        fprintf(stderr, "... (-v shows the rest)\n");
}

// `quietly`: what fails is tried again elsewhere.
static int build(Unit *u, const CacheEntry *entry, const Compiled *text, bool quietly)
{
    Arena *a = u->arena;
    const char *work = cache_work_folder(a, entry), *output;
    if (!work)
        return quietly ? EXIT_USER : complain(EXIT_USER, "%s: cannot be written: %s", entry->folder, strerror(errno));
    const char *source = arena_printf(a, "%s/kernel.c", work), *object = arena_printf(a, "%s/kernel.so", work);
    Words command = build_command(u, source, object);
    if (u->options->verbose)
        show_command(&command);
    if (!write_text(source, text->c, text->c_size)) {
        cache_remove_folder(a, work);
        return quietly ? EXIT_USER : complain(EXIT_USER, "%s: cannot be written", source);
    }
    int status = build_run(a, &command, &output);
    if (status == 0)
        return cache_store(a, entry, work, object) ? 0 : quietly ? EXIT_USER : complain(EXIT_USER, "%s: cannot be written", entry->object);
    cache_remove_folder(a, work);
    if (quietly && status != 127)
        return EXIT_USER;
    if (status == 127)
        return complain(EXIT_USER, "the C compiler '%s' cannot be run (set CC): %s", command.at[0], output);
    show_output(u, output);
    return complain(EXIT_INTERNAL, "the C compiler '%s' failed on the emitted code (exit code %d)", command.at[0], status);
}

// A terminal sees what takes long.
static void progress(const char *text)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s", text);
}

// A cache that is full, or fails in any other way, is as good as none.
static int build_somewhere(Unit *u, const Hash *h, CacheEntry *entry, const Compiled *text)
{
    const char *error = NULL;
    int code = build(u, entry, text, !entry->temporary);
    if (code != EXIT_USER || entry->temporary)
        return code;
    if (!cache_find_temporary(u->arena, h, entry, &error))
        return complain(EXIT_USER, "%s", error);
    return build(u, entry, text, false);
}

static int load_object(Unit *u, const Compiled *text, Loaded *loaded)
{
    CacheEntry entry;
    const char *error = NULL, *warning = NULL;
    int code = 0;
    Hash h = hash_of(u, text);
    if (!cache_find(u->arena, &h, &entry, &warning, &error))
        return complain(EXIT_USER, "%s", error);
    if (warning)
        fprintf(stderr, "ptoc: warning: %s\n", warning);
    if (entry.present)
        loaded->object = dlopen(entry.object, RTLD_NOW | RTLD_LOCAL);
    if (!loaded->object) {
        progress("ptoc: building ...");
        code = build_somewhere(u, &h, &entry, text);
        progress("");
        if (code == 0)
            loaded->object = dlopen(entry.object, RTLD_NOW | RTLD_LOCAL);
        if (code == 0 && !loaded->object)
            code = complain(EXIT_USER, "the built kernel cannot be loaded: %s", dlerror());
    }
    cache_drop(u->arena, &entry);
    return code;
}

int load_unit(Unit *u, const char *target, Loaded *loaded)
{
    *loaded = (Loaded){.object = NULL};
    int code = load_check_machine(u, target);
    if (code == 0)
        code = unit_compile(u, target, NULL, true, &loaded->text);
    diags_flush(u->diags);
    return code ? code : load_object(u, &loaded->text, loaded);
}

const pto_kernel *load_kernel(const Unit *u, const Loaded *loaded, const char *name)
{
    return dlsym(loaded->object, emit_name_beside(u->arena, u->module->kernels.n, u->module->kernels.at, name, "kernel"));
}

void load_close(Loaded *loaded)
{
    if (loaded->object)
        dlclose(loaded->object);
    loaded->object = NULL;
    compiled_free(&loaded->text);
}

// ---- machines ----

int load_check_machine(Unit *u, const char *target)
{
    Arena *a = u->arena;
    const char *dir = arena_printf(a, "%s/targets", u->places.data), *error = NULL;
    char *rest = arena_strdup(a, target);
    for (char *name; (name = strsep(&rest, ","));) {
        const Machine *m = machine_load(a, dir, name, u->options->machine_set, &error);
        if (!m)
            return complain(EXIT_USER, "%s", error);
        if (machine_runs_here(m))
            return 0;
    }
    const Machine *here = machine_load(a, dir, "native", NULL, &error);
    return complain(EXIT_USER, "this machine (%s) cannot run code for %s", here ? here->isa : "of another kind", target);
}

// ---- kernels ----

Kernel *const *load_select(Unit *u, int *n, int *code)
{
    const char *wanted = u->options->kernel;
    Module *m = u->module;
    const char **names = ARENA_ARRAY(u->arena, const char *, m->kernels.n + 1);
    *n = m->kernels.n;
    *code = 0;
    if (!wanted) {
        if (m->kernels.n == 0)
            *code = complain(EXIT_USER, "%s: there is no kernel in it", u->file->path);
        return m->kernels.n > 0 ? m->kernels.at : NULL;
    }
    for (int k = 0; k < m->kernels.n; k++) {
        names[k] = m->kernels.at[k]->name;
        *n = 1;
        if (strcmp(names[k], wanted) == 0)
            return &m->kernels.at[k];
    }
    const char *meant = closest_name(wanted, m->kernels.n, names);
    *code = complain(EXIT_USAGE, "%s: there is no kernel '%s'%s%s%s", u->file->path, wanted, meant ? "; did you mean '" : "",
                     meant ? meant : "", meant ? "'?" : "");
    return NULL;
}
