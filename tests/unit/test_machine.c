// Machine descriptions: what is read from them, and what is refused.
#include "machine/machine.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *suite_machine(void);

static char folder[64];
static Arena *arena;

static void setup(void) {
    strcpy(folder, "/tmp/ptoc-machine-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    arena = arena_new();
}

static void teardown(void) {
    const char *names[] = {"m", "b", "a"};
    for (int i = 0; i < 3; i++)
        unlink(arena_printf(arena, "%s/%s.pto", folder, names[i]));
    rmdir(folder);
    arena_free(arena);
}

static void write_file(const char *name, const char *text) {
    FILE *f = fopen(arena_printf(arena, "%s/%s.pto", folder, name), "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static const Machine *load(const char *body, const char **error) {
    write_file("m", arena_printf(arena, "machine m { %s }\n", body));
    *error = NULL;
    return machine_load(arena, folder, "m", error);
}

static void refused(const char *body, const char *why) {
    const char *error;
    ck_assert_ptr_null(load(body, &error));
    ck_assert_msg(error && strstr(error, why), "%s: %s", body, error);
}

START_TEST(all_fields_are_read) {
    const char *error;
    const Machine *m = load("about = \"a test\"; isa = \"x86-64-v3\"; attribute = \"avx2,fma\";"
                            "memory L1 { size = 48 KiB; shared = core; line = 128 B; } memory L2 { size = 2 MiB; shared = chip; }"
                            "unit vector { width = 32 B; registers = 16; fma = 1; } emits c;", &error);
    ck_assert_msg(m != NULL, "%s", error);
    ck_assert_str_eq(m->name, "m");
    ck_assert_str_eq(m->about, "a test");
    ck_assert_str_eq(m->isa, "x86-64-v3");
    ck_assert_str_eq(m->attribute, "avx2,fma");
    ck_assert_int_eq(m->vector_bytes, 32);
    ck_assert_int_eq(m->vector_registers, 16);
    ck_assert(m->fma);
    ck_assert_int_eq(m->ntiers, 2);
    ck_assert_str_eq(m->tier[0].name, "L1");
    ck_assert(m->tier[0].per_core && !m->tier[1].per_core);
    ck_assert_int_eq(m->line_bytes, 128);
    ck_assert_int_eq(machine_tier_bytes(m, 0), 48 << 10);
    ck_assert_int_eq(machine_tier_bytes(m, 1), 2 << 20);
    ck_assert_int_eq(machine_tier_bytes(m, 5), 2 << 20);
}
END_TEST

START_TEST(nothing_said_is_a_plain_machine) {
    const char *error;
    const Machine *m = load("", &error);
    ck_assert_ptr_nonnull(m);
    ck_assert_int_eq(m->vector_bytes, 0);
    ck_assert_int_eq(m->ntiers, 0);
    ck_assert_int_gt(machine_tier_bytes(m, 0), 0);
}
END_TEST

START_TEST(mistakes_are_named) {
    refused("speed = 3;", "machine field `speed`: unknown");
    refused("memory L1 { size = 48 KB; }", "machine field `size`: a number with a unit");
    refused("memory L1 { size = many; }", "machine field `size`: a number with a unit");
    refused("memory L1 { sise = 4 KiB; }", "machine field `sise`: unknown");
    refused("unit vector { width = 32 B; height = 2; }", "machine field `height`: unknown");
    refused("memory A { size = 1 B; } memory B { size = 1 B; } memory C { size = 1 B; } memory D { size = 1 B; }"
            "memory E { size = 1 B; } memory F { size = 1 B; } memory G { size = 1 B; }", "machine field `memory`: too many memories");
}
END_TEST

START_TEST(other_files_are_no_machines) {
    const char *error = NULL;
    write_file("a", "machine x { } machine y { }\n");
    ck_assert_ptr_null(machine_load(arena, folder, "a", &error));
    ck_assert_ptr_nonnull(strstr(error, "a.pto: not a machine description"));
    write_file("b", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i]; }\n");
    ck_assert_ptr_null(machine_load(arena, folder, "b", &error));
    ck_assert_ptr_nonnull(strstr(error, "b.pto: not a machine description"));
}
END_TEST

START_TEST(names_are_not_paths) {
    const char *bad[] = {"../m", "", ".", ".hidden", "a/b"}, *error;
    for (int i = 0; i < 5; i++) {
        error = NULL;
        ck_assert_ptr_null(machine_load(arena, folder, bad[i], &error));
        ck_assert_ptr_nonnull(error);
    }
    ck_assert_ptr_null(machine_load(arena, folder, "nothing", &error));
}
END_TEST

START_TEST(names_are_sorted_and_native_is_last) {
    write_file("b", "machine b { }\n");
    write_file("a", "machine a { }\n");
    const char **names;
    ck_assert_int_eq(machine_names(arena, folder, &names), 3);
    ck_assert_str_eq(names[0], "a");
    ck_assert_str_eq(names[1], "b");
    ck_assert_str_eq(names[2], "native");
}
END_TEST

Suite *suite_machine(void) {
    Suite *s = suite_create("machine");
    TCase *c = tcase_create("machine");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, all_fields_are_read);
    tcase_add_test(c, nothing_said_is_a_plain_machine);
    tcase_add_test(c, mistakes_are_named);
    tcase_add_test(c, other_files_are_no_machines);
    tcase_add_test(c, names_are_not_paths);
    tcase_add_test(c, names_are_sorted_and_native_is_last);
    suite_add_tcase(s, c);
    return s;
}
