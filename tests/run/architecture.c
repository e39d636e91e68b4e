// The shape of the source itself: dependencies point one way, headers stand alone, libraries export what they say.
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What each folder of the compiler may include, besides itself: data flows down this list once and never back. The
// reference evaluator and the tiling path (passes, emit) know nothing of one another.
static const struct { const char *folder, *may; } layers[] = {
    {"base", ""},
    {"syntax", "base"},
    {"ir", "base syntax"},
    {"data", "base ir"},
    {"sema", "base syntax ir"},
    {"reference", "base ir data"},
    {"machine", "base syntax ir"},
    {"passes", "base syntax ir machine"},
    {"bundles", "base syntax ir machine passes"},
    {"emit", "base syntax ir machine passes"},
    {"cli", "base syntax ir data sema reference machine passes emit"},
};

// The driver of all passes lies among them and knows what comes behind them.
static const char driver[] = "passes/pipeline.", driver_may[] = "base syntax ir sema machine passes bundles emit";

static const char *allowed(const char *folder) {
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++)
        if (strcmp(layers[i].folder, folder) == 0)
            return layers[i].may;
    return NULL;
}

static bool has_word(const char *words, const char *word) {
    size_t n = strlen(word);
    for (const char *p = words; (p = strstr(p, word)); p += n)
        if ((p == words || p[-1] == ' ') && (!p[n] || p[n] == ' '))
            return true;
    return false;
}

// The first folder of #include "folder/file.h", or NULL.
static char *included_folder(char *line) {
    char *s = trim(line), *slash;
    if (!starts(s, "#"))
        return NULL;
    s = trim(s + 1);
    if (!starts(s, "include") || !(s = strchr(s, '"')) || !(slash = strchr(s, '/')))
        return NULL;
    return text("%.*s", (int)(slash - s - 1), s + 1);
}

static int check_includes(const char *path, const char *folder, const char *may) {
    int wrong = 0, number = 0;
    for (char **line = lines(read_file(path)); *line; line++) {
        number++;
        char *to = included_folder(*line);
        if (!to || !allowed(to) || strcmp(to, folder) == 0 || has_word(may, to))
            continue;
        say("%s:%d: %s may not include %s", path + strlen(setup.source) + 1, number, folder, to);
        wrong++;
    }
    return wrong;
}

static Verdict run_layers(const Test *t) {
    (void)t;
    int wrong = 0;
    char *root = text("%s/compiler", setup.source);
    for (char **f = files(root, ""); *f; f++) {
        const char *rest = *f + strlen(root) + 1;
        char *folder = text("%.*s", (int)strcspn(rest, "/"), rest);
        const char *may = allowed(folder);
        if (may)
            wrong += check_includes(*f, folder, starts(rest, driver) ? driver_may : may);
        else {
            say("compiler/%s: its folder is not in the list of layers", rest);
            wrong++;
        }
    }
    for (char **f = files(text("%s/runtime", setup.source), ""); *f; f++)
        wrong += check_includes(*f, "runtime", "");
    return wrong ? FAIL : PASS;
}

// A header that needs another one included before it fails here.
static Verdict run_headers(const Test *t) {
    (void)t;
    bool ok = true;
    static const char *const roots[] = {"compiler", "runtime/include", "runtime/src"};
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++)
        for (char **f = files(text("%s/%s", setup.source, roots[i]), ".h"); *f; f++)
            ok = expect_exit(0, NULL,
                             "printf '#include \"%%s\"\\n' %s | %s -std=c11 -D_GNU_SOURCE -Icompiler -Iruntime/include -Iruntime/src -I%s/gen "
                             "$(pkg-config --cflags isl hwloc libcjson) -fsyntax-only -x c -",
                             quote(*f), setup.cc, quote(setup.build)) && ok;
    return ok ? PASS : FAIL;
}

// The public header in C and C++, without extensions and with every warning.
static Verdict run_public_header(const Test *t) {
    (void)t;
    bool ok = true;
    static const char *const languages[] = {"c -std=c99", "c -std=c11", "c -std=c17"};
    for (size_t i = 0; i < 3; i++)
        ok = expect_exit(0, NULL, "echo '#include <ptort.h>' | %s -Iruntime/include -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x %s -",
                         setup.cc, languages[i]) && ok;
    if (has_tool("g++"))
        ok = expect_exit(0, NULL, "echo '#include <ptort.h>' | g++ -Iruntime/include -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ -") && ok;
    return ok ? PASS : FAIL;
}

// Symbols that a library defines for others: each must start with one of the prefixes.
static int foreign_symbols(const char *command, const char *prefix) {
    char *out;
    int wrong = 0;
    if (!expect_exit(0, &out, "%s", command))
        return 1;
    for (char **line = lines(out); *line; line++) {
        char kind, name[512];
        if (sscanf(*line, "%*s %c %511s", &kind, name) != 2 || kind == 'A' || starts(name, prefix) || starts(name, "__odr_asan"))
            continue;
        say("exported: %s", name);
        wrong++;
    }
    return wrong;
}

static Verdict run_symbols(const Test *t) {
    (void)t;
    if (!has_tool("nm"))
        return skip("nm is not installed");
    char *lib = text("%s/lib", setup.build);
    int wrong = foreign_symbols(text("nm -D --defined-only %s/libptort.so", quote(lib)), "pto_");
    wrong += foreign_symbols(text("nm -g --defined-only %s/libptort.a", quote(lib)), "pto");
    if (shell(NULL, "readelf -d %s/libptort.so | grep -q 'SONAME.*libptort.so.0'", quote(lib)) != 0)
        wrong += fail("no soname") == FAIL;
    return wrong ? FAIL : PASS;
}

// Nothing mutable is global, but for facts about the machine that are read once, and the temporary files that a signal
// handler removes. The sanitizers and coverage add data of their own, so only plain builds are looked at.
static Verdict run_no_globals(const Test *t) {
    (void)t;
    static const char *const excused[] = {"machine", "temporary_names"};
    if (setup.sanitized || strcmp(setup.config, "coverage") == 0)
        return skip("instrumented build");
    if (!has_tool("objdump"))
        return skip("objdump is not installed");
    char *out;
    int wrong = 0;
    // Constant tables of pointers are relocated and lie in .data.rel.ro; thread-local data is .tbss or .tdata.
    if (!expect_exit(0, &out, "objdump -t %s/lib/libptort.a %s/lib/libptoc.a | grep -E ' O +(\\.data|\\.bss|\\*COM\\*)' | grep -v 'rel\\.ro' || true",
                     quote(setup.build), quote(setup.build)))
        return FAIL;
    for (char **line = lines(out); *line; line++) {
        char *s = trim(*line), *name = strrchr(s, ' ');
        bool known = false;
        for (size_t i = 0; name && i < sizeof excused / sizeof excused[0]; i++)
            known = known || strcmp(name + 1, excused[i]) == 0;
        if (known)
            continue;
        say("writable: %s", name ? name + 1 : s);
        wrong++;
    }
    return wrong ? FAIL : PASS;
}

static Verdict run_man(const Test *t) {
    if (!has_tool("mandoc"))
        return skip("mandoc is not installed (.ci/deps check)");
    return expect_exit(0, NULL, "mandoc -Tlint -W warning %s", quote(t->path)) ? PASS : FAIL;
}

void add_architecture(void) {
    test_add((Test){.group = "architecture", .name = "layers", .run = run_layers});
    test_add((Test){.group = "architecture", .name = "headers", .run = run_headers});
    test_add((Test){.group = "architecture", .name = "public-header", .run = run_public_header});
    test_add((Test){.group = "architecture", .name = "symbols", .run = run_symbols});
    test_add((Test){.group = "architecture", .name = "no-globals", .run = run_no_globals});
    for (char **f = files(text("%s/man", setup.source), ""); *f; f++)
        test_add((Test){.group = "architecture", .name = text("mandoc-%s", base_name(*f)), .run = run_man, .path = *f});
}
