// Arenas, sources, diagnostics: what base/ promises in its headers.
#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"

#include <check.h>
#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

Suite *suite_base(void);

START_TEST(arena_gives_zeroed_aligned_memory) {
    Arena *a = arena_new();
    for (size_t size = 0; size < 3000000; size = size * 3 + 1) {
        unsigned char *p = arena_alloc(a, size);
        ck_assert_uint_eq((uintptr_t)p % _Alignof(max_align_t), 0);
        size_t used = 0;
        for (size_t i = 0; i < size; i++)
            used += p[i] != 0;
        ck_assert_uint_eq(used, 0);
        memset(p, 0xab, size);
    }
    arena_free(a);
    arena_free(NULL);
}
END_TEST

START_TEST(arena_texts_and_vectors) {
    Arena *a = arena_new();
    ck_assert_str_eq(arena_printf(a, "%s-%d", "x", 12), "x-12");
    ck_assert_str_eq(arena_strndup(a, "hello", 3), "hel");
    VEC(int) v = {0};
    for (int i = 0; i < 10000; i++)
        VEC_PUSH(a, &v, i);
    for (int i = 0; i < 10000; i++)
        ck_assert_int_eq(v.at[i], i);
    arena_free(a);
}
END_TEST

START_TEST(positions_in_two_files) {
    Arena *a = arena_new();
    Sources s = {.arena = a};
    SourceFile *f = source_add(&s, "f", "ab\ncd\n", 6), *g = source_add(&s, "g", "", 0), *h = source_add(&s, "h", "x", 1);
    ck_assert_uint_gt(f->base, 0);
    ck_assert_ptr_null(source_position(&s, 0).file);
    Position p = source_position(&s, f->base + 4);
    ck_assert_ptr_eq(p.file, f);
    ck_assert_int_eq(p.line, 2);
    ck_assert_int_eq(p.column, 2);
    p = source_position(&s, f->base + 6);                // the end of the file
    ck_assert_ptr_eq(p.file, f);
    ck_assert_int_eq(p.line, 3);
    ck_assert_ptr_eq(source_position(&s, g->base).file, g);
    ck_assert_ptr_eq(source_position(&s, h->base).file, h);
    ck_assert_ptr_null(source_position(&s, h->base + 2).file);
    const char *error = NULL;
    ck_assert_ptr_null(source_load(&s, "/nonexistent/file", &error));
    ck_assert_ptr_nonnull(error);
    ck_assert_ptr_null(source_load(&s, "/", &error));
    arena_free(a);
}
END_TEST

START_TEST(ranges_join) {
    Range r = range_join((Range){.begin = 3, .end = 5}, (Range){.begin = 9, .end = 12});
    ck_assert_uint_eq(r.begin, 3);
    ck_assert_uint_eq(r.end, 12);
    r = range_join((Range){.begin = 1, .end = 1}, (Range){.begin = 9, .end = 12});
    ck_assert_uint_eq(r.begin, 9);
}
END_TEST

// A text, its diagnostics, and what they print.
typedef struct {
    Arena *arena;
    Sources sources;
    SourceFile *file;
    char *text;
    size_t size;
    FILE *out;
    Diags *diags;
} Fixture;

static Fixture setup(const char *source, size_t size) {
    Fixture f = {.arena = arena_new()};
    f.sources.arena = f.arena;
    f.file = source_add(&f.sources, "t.pto", source, size);
    return f;
}

static void start(Fixture *f) {
    f->out = open_memstream(&f->text, &f->size);
    f->diags = diags_new(f->arena, &f->sources, f->out);
}

static Range at(const Fixture *f, uint32_t begin, uint32_t end) {
    return (Range){.begin = f->file->base + begin, .end = f->file->base + end};
}

static void expect(Fixture *f, const char *text) {
    diags_finish(f->diags);
    fclose(f->out);
    ck_assert_str_eq(f->text, text);
    free(f->text);
    arena_free(f->arena);
}

START_TEST(text_underlines_the_range) {
    Fixture f = setup("one\n\ty = foo;\n", 14);
    start(&f);
    ck_assert_int_ge(diag_report(f.diags, D_UNDEFINED, at(&f, 9, 12), "nothing defines '%s'", "foo"), 0);
    diag_note(f.diags, at(&f, 0, 3), "here");
    diag_help(f.diags, "define it");
    ck_assert_int_eq(diags_errors(f.diags), 1);
    expect(&f, "t.pto:2:6: error: nothing defines 'foo' [undefined]\n"
               "    2 |         y = foo;\n"
               "      |             ^~~\n"
               "t.pto:1:1: note: here\n"
               "    1 | one\n"
               "      | ^~~\n"
               "  help: define it\n");
}
END_TEST

START_TEST(text_of_odd_ranges) {
    Fixture f = setup("ab\ncd\r\n\xff\x01z", 10);
    start(&f);
    diag_report(f.diags, D_UNUSED, at(&f, 1, 5), "two lines");
    ck_assert_int_eq(diag_report(f.diags, D_UNUSED, at(&f, 1, 5), "two %s", "lines"), -1);
    diag_note(f.diags, at(&f, 1, 5), "of a warning that is there already");
    diag_report(f.diags, D_UNUSED, at(&f, 10, 10), "at the end");
    diag_report(f.diags, D_UNUSED, at(&f, 8, 10), "bytes\x1b");
    diag_report(f.diags, D_UNUSED, (Range){.begin = 0, .end = 0}, "nowhere");
    expect(&f, "t.pto:1:2: warning: two lines [unused]\n"
               "    1 | ab\n"
               "      |  ^\n"
               "t.pto:3:4: warning: at the end [unused]\n"
               "    3 | <ff><01>z\n"
               "      |          ^\n"
               "t.pto:3:2: warning: bytes<1b> [unused]\n"
               "    3 | <ff><01>z\n"
               "      |     ^~~~~\n"
               "ptoc: warning: nowhere [unused]\n");
}
END_TEST

START_TEST(text_of_long_lines_is_a_window) {
    enum { SIZE = 1000000 };
    char *source = malloc(SIZE);
    memset(source, 'x', SIZE);
    Fixture f = setup(source, SIZE);
    free(source);
    start(&f);
    diag_report(f.diags, D_SYNTAX, at(&f, 500000, 500003), "in the middle");
    diags_finish(f.diags);
    fclose(f.out);
    ck_assert_uint_lt(f.size, 600);
    ck_assert_ptr_nonnull(strstr(f.text, "^~~\n"));
    free(f.text);
    arena_free(f.arena);
}
END_TEST

START_TEST(switches) {
    Fixture f = setup("x", 1);
    start(&f);
    ck_assert(diags_option(f.diags, "no-unused"));
    ck_assert(diags_option(f.diags, "error=precedence"));
    ck_assert(diags_option(f.diags, "all"));
    ck_assert(!diags_option(f.diags, "no-such"));
    ck_assert(!diags_option(f.diags, "no-syntax"));
    ck_assert_int_eq(diag_report(f.diags, D_UNUSED, at(&f, 0, 1), "off"), -1);
    diag_note(f.diags, at(&f, 0, 1), "belongs to nothing");
    diag_report(f.diags, D_PRECEDENCE, at(&f, 0, 1), "an error now");
    ck_assert_int_eq(diags_errors(f.diags), 1);
    ck_assert(diags_option(f.diags, "error"));
    ck_assert(diags_option(f.diags, "no-error=halo-waste"));
    diag_report(f.diags, D_HALO_WASTE, at(&f, 0, 1), "still a warning");
    ck_assert_int_eq(diags_errors(f.diags), 1);
    expect(&f, "t.pto:1:1: error: an error now [precedence]\n    1 | x\n      | ^\n"
               "t.pto:1:1: warning: still a warning [halo-waste]\n    1 | x\n      | ^\n");
}
END_TEST

START_TEST(twenty_errors_at_most) {
    Fixture f = setup("x", 1);
    start(&f);
    for (int i = 0; i < 30; i++)
        diag_report(f.diags, D_TYPE, (Range){.begin = 0, .end = 0}, "error %d", i);
    ck_assert(diags_full(f.diags));
    ck_assert_int_eq(diags_errors(f.diags), 20);
    diags_finish(f.diags);
    fclose(f.out);
    ck_assert_ptr_nonnull(strstr(f.text, "error 19"));
    ck_assert_ptr_null(strstr(f.text, "error 20 "));
    ck_assert_ptr_nonnull(strstr(f.text, "stopped after 20 errors\n"));
    free(f.text);
    arena_free(f.arena);
}
END_TEST

START_TEST(json_is_one_array) {
    Fixture f = setup("ab\ncd", 5);
    start(&f);
    diags_set_format(f.diags, DIAG_JSON);
    diag_report(f.diags, D_UNUSED, at(&f, 3, 5), "a \"quoted\" \xff text");
    diag_help(f.diags, "do something");
    diags_flush(f.diags);
    diag_report(f.diags, D_SYNTAX, (Range){.begin = 0, .end = 0}, "nowhere");
    diags_finish(f.diags);
    fclose(f.out);
    cJSON *all = cJSON_Parse(f.text);
    ck_assert_int_eq(cJSON_GetArraySize(all), 2);
    cJSON *first = cJSON_GetArrayItem(all, 0);
    ck_assert_str_eq(cJSON_GetObjectItem(first, "kind")->valuestring, "warning");
    ck_assert_str_eq(cJSON_GetObjectItem(first, "message")->valuestring, "a \"quoted\" <ff> text");
    ck_assert_str_eq(cJSON_GetObjectItem(first, "option")->valuestring, "-Wunused");
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(first, "children")), 1);
    cJSON *where = cJSON_GetArrayItem(cJSON_GetObjectItem(first, "locations"), 0);
    ck_assert_int_eq(cJSON_GetObjectItem(cJSON_GetObjectItem(where, "finish"), "column")->valueint, 2);
    ck_assert_int_eq(cJSON_GetObjectItem(cJSON_GetObjectItem(where, "caret"), "line")->valueint, 2);
    cJSON_Delete(all);
    free(f.text);
    arena_free(f.arena);
}
END_TEST

START_TEST(the_table_is_complete) {
    for (int i = 0; i < D_COUNT; i++) {
        ck_assert_int_gt((int)strlen(diag_name((DiagId)i)), 0);
        ck_assert_int_gt((int)strlen(diag_about((DiagId)i)), 0);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(diag_name((DiagId)i), diag_name((DiagId)j));
    }
    ck_assert_int_eq(diag_default_severity(D_UNUSED), SEV_WARNING);
}
END_TEST

Suite *suite_base(void) {
    Suite *s = suite_create("base");
    TCase *c = tcase_create("base");
    tcase_add_test(c, arena_gives_zeroed_aligned_memory);
    tcase_add_test(c, arena_texts_and_vectors);
    tcase_add_test(c, positions_in_two_files);
    tcase_add_test(c, ranges_join);
    tcase_add_test(c, text_underlines_the_range);
    tcase_add_test(c, text_of_odd_ranges);
    tcase_add_test(c, text_of_long_lines_is_a_window);
    tcase_add_test(c, switches);
    tcase_add_test(c, twenty_errors_at_most);
    tcase_add_test(c, json_is_one_array);
    tcase_add_test(c, the_table_is_complete);
    suite_add_tcase(s, c);
    return s;
}
