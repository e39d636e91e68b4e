// Elements, .npy and picture files, values as words, output files.
#include "data/array.h"
#include "data/element.h"
#include "data/output.h"
#include "data/spec.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

Suite *suite_data(void);

static Arena *arena;
static char folder[64];
static const char *error;

static void set_up(void)
{
    arena = arena_new();
    error = NULL;
    strcpy(folder, "/tmp/ptoc-data-XXXXXX");
    ck_assert(mkdtemp(folder) != NULL);
}

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
    arena_free(arena);
}

static const char *in_folder(const char *name) { return arena_printf(arena, "%s/%s", folder, name); }

static const char *put(const char *name, const void *bytes, size_t n)
{
    const char *path = in_folder(name);
    FILE *f = fopen(path, "wb");
    ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
    fclose(f);
    return path;
}

static char *get(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    char *text = arena_alloc(arena, 65536);
    *n = fread(text, 1, 65535, f);
    fclose(f);
    return text;
}

// ---- elements ----

// Every pattern survives decoding and encoding, and halfway cases go to the even neighbour.
static void every_pattern(double (*value)(uint16_t), uint16_t (*bits)(double))
{
    for (unsigned k = 0; k < 65536; k++) {
        double x = value((uint16_t)k);
        if (isnan(x)) {
            ck_assert(isnan(value(bits(x))));
            continue;
        }
        ck_assert_uint_eq(bits(x), k);
        double y = (k & 0x7fff) < 0x7fff ? value((uint16_t)(k + 1)) : INFINITY;
        if (!isfinite(x) || !isfinite(y) || k == 0x7fff)
            continue;
        double half = x + (y - x) / 2;
        ck_assert_uint_eq(bits(half), k & 1 ? k + 1 : k);
        ck_assert_uint_eq(bits(nextafter(half, x)), k);
        ck_assert_uint_eq(bits(nextafter(half, y)), k + 1);
    }
}

START_TEST(half_and_bfloat_patterns)
{
    every_pattern(element_half_value, element_half_bits);
    every_pattern(element_bfloat_value, element_bfloat_bits);
    ck_assert_uint_eq(element_half_bits(65519.999), 0x7bff);
    ck_assert_uint_eq(element_half_bits(65520), 0x7c00);
    ck_assert_uint_eq(element_half_bits(-1e300), 0xfc00);
    ck_assert_uint_eq(element_half_bits(0x1p-25), 0);
    ck_assert_uint_eq(element_half_bits(0x1.8p-25), 1);
    ck_assert_uint_eq(element_bfloat_bits(0x1.FF0p127), 0x7f80);
    ck_assert_uint_eq(element_bfloat_bits(-0.0), 0x8000);
}
END_TEST

START_TEST(elements_load_and_store)
{
    for (DType t = 0; t < DT_COUNT; t++) {
        uint64_t room = ~(uint64_t)0;
        if (dtype_is_float(t)) {
            element_store_float(t, &room, -1.5);
            ck_assert_double_eq(element_load_float(t, &room), -1.5);
            continue;
        }
        element_store_int(t, &room, -1);
        ck_assert_int_eq(element_load_int(t, &room), t == DT_BOOL ? 1 : element_min(t) < 0 ? -1 : element_max(t));
        element_store_int(t, &room, element_max(t));
        ck_assert_int_eq(element_load_int(t, &room), element_max(t));
    }
    ck_assert_int_eq(element_max(DT_I8), 127);
    ck_assert_int_eq(element_min(DT_I64), INT64_MIN);
    ck_assert_int_eq(element_max(DT_U64), -1);
    ck_assert_int_eq(element_truncate(DT_U64, 0x1p63), INT64_MIN);
}
END_TEST

// ---- .npy ----

static Array *written_and_read(const Array *x)
{
    const char *path = in_folder("x.npy");
    FILE *f = fopen(path, "wb");
    ck_assert(npy_write(arena, f, x));
    fclose(f);
    Array *y = array_read(arena, path, &error);
    ck_assert_msg(y != NULL, "%s", error);
    return y;
}

START_TEST(npy_keeps_every_type)
{
    for (DType t = 0; t <= DT_BOOL; t++)
        for (int rank = 0; rank < 4; rank++) {
            Array *x = array_new(arena, t, rank, (int64_t[]){3, 1, 2}, &error);
            spec_random(x, 7, false, 0, 0);
            Array *y = written_and_read(x);
            ck_assert_int_eq(y->type, t == DT_BF16 ? DT_U16 : t);
            ck_assert_int_eq(y->rank, rank);
            ck_assert_mem_eq(y->extent, x->extent, sizeof(int64_t) * (size_t)rank);
            ck_assert_mem_eq(y->data, x->data, (size_t)array_bytes(x));
        }
    Array *empty = written_and_read(array_new(arena, DT_F32, 2, (int64_t[]){0, 5}, &error));
    ck_assert_int_eq(empty->size, 0);
    ck_assert_int_eq(empty->extent[1], 5);
    size_t n;
    get(in_folder("x.npy"), &n);
    ck_assert_uint_eq(n % 64, 0);
}
END_TEST

static const char *npy(int version, const char *header, const void *data, size_t n)
{
    char bytes[4096] = "\x93NUMPY";
    size_t length = strlen(header), at = 8;
    bytes[6] = (char)version;
    bytes[at++] = (char)(length & 255);
    bytes[at++] = (char)(length >> 8);
    if (version > 1)
        at += 2;
    memcpy(bytes + at, header, length);
    memcpy(bytes + at + length, data, n);
    return put("made.npy", bytes, at + length + n);
}

START_TEST(npy_reads_other_orders)
{
    Array *x = array_read(arena, npy(1, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }  \n", "\0\1\0\2\0\3\0\4\0\5\xff\xff", 12), &error);
    ck_assert_msg(x != NULL, "%s", error);
    ck_assert_mem_eq(x->data, ((int16_t[]){1, 3, 5, 2, 4, -1}), 12);
    x = array_read(arena, npy(2, "{\"shape\":(3L,),\"fortran_order\":False,\"descr\":\"|b1\"}", "\0\1\7", 3), &error);
    ck_assert_msg(x != NULL, "%s", error);
    ck_assert_mem_eq(x->data, "\0\1\1", 3);
    x = array_read(arena, npy(3, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", "\0\0\x80\x3f", 4), &error);
    ck_assert_msg(x != NULL, "%s", error);
    ck_assert_float_eq(*(float *)x->data, 1);
}
END_TEST

START_TEST(npy_refuses_what_is_malformed)
{
    static const struct { const char *header; size_t bytes; const char *message; } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 7, "7 bytes of elements where [2] of f32 has 8"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 9, "9 bytes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", 8, "not a tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 8, "not a number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 8, "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 8, "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", 8, "rank"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }", 8, "'<c8' is not supported"},
        {"{'descr': 'f4', 'fortran_order': False, 'shape': (2,), }", 8, "byte order"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", 8, "records"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", 8, "neither"},
        {"{'descr': '<f4', 'shape': (2,), }", 8, "lacks"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 8, "twice"},
        {"{'descr': '<f4', 'color': 1, 'fortran_order': False, 'shape': (2,), }", 8, "unknown key"},
        {"{'descr': '<f4", 8, "no end"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x", 8, "after"},
        {"", 0, "not a dictionary"},
    };
    char zeros[16] = {0};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        error = NULL;
        ck_assert(array_read(arena, npy(1, cases[k].header, zeros, cases[k].bytes), &error) == NULL);
        ck_assert_msg(error && strstr(error, cases[k].message), "%s: %s", cases[k].header, error);
        ck_assert(strstr(error, "made.npy: ") != NULL);
    }
    ck_assert(array_read(arena, put("a.npy", "\x93NUMPY\1", 7), &error) == NULL);
    ck_assert(array_read(arena, put("a.npy", "\x93NUMPY\1\0\xff\xff{}", 12), &error) == NULL);
    ck_assert(array_read(arena, put("a.npy", "\x93NUMPY\2\0\xff\xff\xff\xff{}", 14), &error) == NULL);
    ck_assert(strstr(error, "too long") != NULL);
    ck_assert(array_read(arena, put("a.npy", "\x93NUMPY\7\0\0\0", 10), &error) == NULL);
    ck_assert(strstr(error, "version 7.0") != NULL);
    ck_assert(array_read(arena, in_folder("none.npy"), &error) == NULL);
    ck_assert(array_read(arena, put("a.txt", "", 0), &error) == NULL);
}
END_TEST

// Whatever bytes there are, reading ends in an array or an error.
START_TEST(npy_survives_damage)
{
    const char header[] = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }\n";
    for (unsigned seed = 0; seed < 2000; seed++) {
        char bytes[96] = "\x93NUMPY\1\0";
        memcpy(bytes + 10, header, sizeof header - 1);
        bytes[8] = (char)(sizeof header - 1);
        srand(seed);
        for (int k = 0; k < 3; k++)
            bytes[6 + (size_t)rand() % (10 + sizeof header)] = (char)rand();
        error = NULL;
        Array *x = array_read(arena, put("d.npy", bytes, 10 + sizeof header - 1 + 16), &error);
        ck_assert((x == NULL) == (error != NULL));
    }
}
END_TEST

// ---- pictures ----

static Array *picture(const char *text, size_t n) { return array_read(arena, put("p.pgm", text, n), &error); }
#define PICTURE(text) picture(text, sizeof(text) - 1)

START_TEST(pictures_are_read)
{
    Array *x = PICTURE("P5\n# a comment\n3 2\n255\n\1\2\3\4\5\xff");
    ck_assert_msg(x != NULL, "%s", error);
    ck_assert_int_eq(x->type, DT_U8);
    ck_assert_int_eq(x->extent[0], 2);
    ck_assert_int_eq(x->extent[1], 3);
    ck_assert_mem_eq(x->data, "\1\2\3\4\5\xff", 6);
    x = PICTURE("P2 2 1 # to the end\n 300\n 7 #\n 300");
    ck_assert_msg(x != NULL, "%s", error);
    ck_assert_mem_eq(x->data, ((uint16_t[]){7, 300}), 4);
    x = PICTURE("P5 1 2 65535\n\1\2\3\4");
    ck_assert_msg(x != NULL, "%s", error);
    ck_assert_mem_eq(x->data, ((uint16_t[]){0x102, 0x304}), 4);
    x = PICTURE("P6 1 1 15 \1\2\3");
    ck_assert_msg(x != NULL, "%s", error);
    ck_assert_int_eq(x->rank, 3);
    ck_assert_int_eq(x->extent[2], 3);
    ck_assert(PICTURE("P3 1 1 255 1 2 3") != NULL);
    ck_assert(PICTURE("P2 0 5 255\n") != NULL);
}
END_TEST

START_TEST(pictures_are_refused)
{
    static const char *const cases[][2] = {
        {"P4 1 1 \1", "not a PGM"}, {"P5 2 2 255\n\1\2\3", "cut short"}, {"P5 2 2 0\n\1\2\3\4", "maxval is 0"},
        {"P5 2 2 65536\n", "maxval is above"}, {"P5 x", "width is not"}, {"P5 2", "cut short before the height"},
        {"P2 2 1 10 5 11", "sample is above 10"}, {"P5 2 1 10\n\5\13", "sample is above 10"}, {"P5 99999999999 1 255\n", "width is above"},
        {"P5 2000000000 2000000000 255\n", "cut short"}, {"P2 1 1 255 12x", "not a number"}, {"", "not a PGM"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        error = NULL;
        ck_assert(picture(cases[k][0], strlen(cases[k][0])) == NULL);
        ck_assert_msg(error && strstr(error, cases[k][1]), "%s: %s", cases[k][0], error);
    }
}
END_TEST

static bool save(const char *name, const Array *x)
{
    FILE *f = fopen(in_folder(name), "wb");
    bool ok = array_write(arena, f, in_folder(name), x, &error);
    fclose(f);
    return ok;
}

START_TEST(pictures_are_written)
{
    Array *x = array_new(arena, DT_F32, 2, (int64_t[]){1, 7}, &error);
    memcpy(x->data, (float[]){-3, 0.5f, 1.5f, 254.6f, 1e9f, NAN, 0.49f}, 28);
    ck_assert(save("x.pgm", x));
    size_t n;
    ck_assert_mem_eq(get(in_folder("x.pgm"), &n), "P5\n7 1\n255\n\0\0\2\xff\xff\0\0", 18);
    ck_assert(!save("x.ppm", x));
    ck_assert(strstr(error, "[1, 7]") != NULL);
    x = array_new(arena, DT_U16, 3, (int64_t[]){1, 1, 3}, &error);
    memcpy(x->data, (uint16_t[]){1, 258, 65535}, 6);
    ck_assert(save("x.ppm", x));
    ck_assert_mem_eq(get(in_folder("x.ppm"), &n), "P6\n1 1\n65535\n\0\1\1\2\xff\xff", 19);
    ck_assert(!save("x.pgm", x));
    ck_assert(!save("x.txt", x));
}
END_TEST

// ---- values ----

static Spec parsed(const char *text)
{
    Spec s;
    ck_assert_msg(spec_parse(arena, text, &s, &error), "%s", error);
    return s;
}

START_TEST(values_are_parsed)
{
    ck_assert_int_eq(parsed("12").i, 12);
    ck_assert_int_eq(parsed("-0x10").i, -16);
    ck_assert_double_eq(parsed("-2.5e3").f, -2500);
    ck_assert(isinf(parsed("inf").f));
    ck_assert_int_eq(parsed("18446744073709551615").i, -1);
    ck_assert(parsed("true").is_integer);
    ck_assert_int_eq(parsed("a/b.npy").kind, SPEC_FILE);
    Spec s = parsed("random(8000, 7:42:-1.5..3)");
    ck_assert_int_eq(s.rank, 2);
    ck_assert_int_eq(s.extent[1], 7);
    ck_assert_uint_eq(s.seed, 42);
    ck_assert_double_eq(s.low, -1.5);
    ck_assert_double_eq(s.high, 3);
    s = parsed("random(:0..10)");
    ck_assert(!s.has_shape && s.has_range && s.seed == 1);
    ck_assert(!parsed("zeros").has_shape);
    ck_assert(parsed("ones(3)").has_shape);
    static const char *const bad[] = {"", "x", "random(", "random(1:2", "random(1,)", "random(-1)", "zeros(3:4)", "random(3:9..1)",
                                      "random(1,1,1,1,1,1,1,1,1)", "random(3)x", "1.5x", "random(99999999999999999999)", "randomly"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        error = NULL;
        ck_assert_msg(!spec_parse(arena, bad[k], &s, &error) && error, "%s", bad[k]);
    }
}
END_TEST

START_TEST(numbers_fit_or_not)
{
    Spec s = parsed("300");
    ck_assert(!spec_number_fits(&s, DT_U8) && spec_number_fits(&s, DT_I16) && spec_number_fits(&s, DT_F16));
    s = parsed("-1");
    ck_assert(!spec_number_fits(&s, DT_U64) && spec_number_fits(&s, DT_I8));
    s = parsed("18446744073709551615");
    ck_assert(spec_number_fits(&s, DT_U64) && !spec_number_fits(&s, DT_I64));
    s = parsed("1.5");
    ck_assert(!spec_number_fits(&s, DT_I64) && spec_number_fits(&s, DT_F64));
}
END_TEST

START_TEST(generators_make_values)
{
    Spec s = parsed("iota");
    Array *x = spec_make(arena, &s, DT_F32, 2, (int64_t[]){2, 2}, &error);
    ck_assert_mem_eq(x->data, ((float[]){0, 1, 2, 3}), 16);
    s = parsed("ones(3)");
    ck_assert_mem_eq(spec_make(arena, &s, DT_U8, 0, NULL, &error)->data, "\1\1\1", 3);
    s = parsed("random(1000:5)");
    x = spec_make(arena, &s, DT_F32, 0, NULL, &error);
    Array *y = spec_make(arena, &s, DT_F32, 0, NULL, &error);
    ck_assert_mem_eq(x->data, y->data, 4000);
    double sum = 0;
    for (int k = 0; k < 1000; k++) {
        float v = ((float *)x->data)[k];
        ck_assert(v >= -1 && v < 1);
        sum += (double)v;
    }
    ck_assert_double_lt(fabs(sum), 100);
    s = parsed("random(1000:5:3..6)");
    x = spec_make(arena, &s, DT_I32, 0, NULL, &error);
    int seen = 0;
    for (int k = 0; k < 1000; k++)
        seen |= 1 << ((int32_t *)x->data)[k];
    ck_assert_int_eq(seen, 1 << 3 | 1 << 4 | 1 << 5);
    s = parsed("random(4000000000, 4000000000)");
    ck_assert(spec_make(arena, &s, DT_F32, 0, NULL, &error) == NULL);
}
END_TEST

// ---- outputs ----

static int files_in_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "exit $(ls -A '%s' | wc -l)", folder);
    return WEXITSTATUS(system(command));
}

START_TEST(outputs_appear_whole)
{
    const char *path = in_folder("out.c");
    size_t n;
    Outputs *o = outputs_new(arena);
    FILE *f = outputs_open(o, path, &error);
    ck_assert_msg(f != NULL, "%s", error);
    fputs("hello", f);
    ck_assert(access(path, F_OK) != 0);
    ck_assert_msg(outputs_commit(o, &error), "%s", error);
    ck_assert_mem_eq(get(path, &n), "hello", 5);
    ck_assert_int_eq(files_in_folder(), 1);
    fputs("other", outputs_open(o, path, &error));
    fputs("new", outputs_open(o, in_folder("new.h"), &error));
    ck_assert_int_eq(files_in_folder(), 3);
    outputs_drop(o);
    ck_assert_int_eq(files_in_folder(), 1);
    ck_assert_mem_eq(get(path, &n), "hello", 5);
    outputs_open(o, in_folder("x"), &error);
    outputs_remove_all();
    ck_assert_int_eq(files_in_folder(), 1);
    outputs_drop(o);
}
END_TEST

START_TEST(outputs_go_through_links_and_devices)
{
    const char *path = in_folder("out.c"), *link = in_folder("link.c");
    size_t n;
    put("out.c", "old", 3);
    ck_assert_int_eq(chmod(path, 0640), 0);
    ck_assert_int_eq(symlink("out.c", link), 0);
    Outputs *o = outputs_new(arena);
    fputs("hello", outputs_open(o, link, &error));
    ck_assert(outputs_commit(o, &error));
    ck_assert_mem_eq(get(path, &n), "hello", 5);
    struct stat st;
    ck_assert_int_eq(lstat(link, &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0640);
    ck_assert(outputs_open(o, "/dev/null", &error) != NULL);
    ck_assert(outputs_commit(o, &error));
    ck_assert(outputs_open(o, folder, &error) == NULL);
    ck_assert(outputs_open(o, in_folder("none/x"), &error) == NULL);
    ck_assert(outputs_open(o, "/dev/full", &error) != NULL);
    fputs("hello", outputs_open(o, in_folder("y"), &error));
    fputs("hello", outputs_open(o, "/dev/full", &error));
    ck_assert(!outputs_commit(o, &error));
    ck_assert(strstr(error, "/dev/full: cannot be written") != NULL);
    ck_assert(access(in_folder("y"), F_OK) != 0);
}
END_TEST

Suite *suite_data(void)
{
    Suite *s = suite_create("data");
    TCase *c = tcase_create("data");
    tcase_add_checked_fixture(c, set_up, tear_down);
    tcase_set_timeout(c, 30);
    tcase_add_test(c, half_and_bfloat_patterns);
    tcase_add_test(c, elements_load_and_store);
    tcase_add_test(c, npy_keeps_every_type);
    tcase_add_test(c, npy_reads_other_orders);
    tcase_add_test(c, npy_refuses_what_is_malformed);
    tcase_add_test(c, npy_survives_damage);
    tcase_add_test(c, pictures_are_read);
    tcase_add_test(c, pictures_are_refused);
    tcase_add_test(c, pictures_are_written);
    tcase_add_test(c, values_are_parsed);
    tcase_add_test(c, numbers_fit_or_not);
    tcase_add_test(c, generators_make_values);
    tcase_add_test(c, outputs_appear_whole);
    tcase_add_test(c, outputs_go_through_links_and_devices);
    suite_add_tcase(s, c);
    return s;
}
