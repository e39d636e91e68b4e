// Conversions at the edges of the types: shared/data/cast-edges, bit for bit (NaN matches NaN), on every target that
// runs here and on a modelled machine.
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *numpy, *pto; } types[] = {
    {"float64", "f64"}, {"float32", "f32"}, {"float16", "f16"}, {"bfloat16", "bf16"}, {"int64", "i64"}, {"int32", "i32"}, {"int16", "i16"}, {"int8", "i8"},
    {"uint64", "u64"}, {"uint32", "u32"}, {"uint16", "u16"}, {"uint8", "u8"}, {"bool", "bool"},
};

static const char *type_of(const char *numpy) {
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].numpy, numpy) == 0)
            return types[i].pto;
    return NULL;
}

// A bfloat16 comes as the integer of its bits.
static bool is_nan(double v, bool bfloat) {
    return bfloat ? ((unsigned)v & 0x7fff) > 0x7f80 : isnan(v);
}

static bool same(double a, double b, bool bfloat) {
    return (is_nan(a, bfloat) && is_nan(b, bfloat)) || (a == b && signbit(a) == signbit(b));
}

static Verdict run_cast(const Test *t) {
    char *from = text("%s", base_name(t->path)), *to = strstr(from, "_to_");
    if (!to)
        return fail("the case's name is not FROM_to_TO");
    *to = '\0';
    to += strlen("_to_");
    const char *x = type_of(from), *y = type_of(to);
    if (!x || !y)
        return fail("unknown type in %s", t->path);
    char *source = text("%s/cast.pto", scratch), *result = text("%s/out.npy", scratch);
    write_file(source, text("kernel cast(x: %s[N]) -> (y: %s[N]) { y[i] = %s(x[i]); }\n", x, y, y));
    if (!expect_exit(0, NULL, "%s run %s --target=%s x=%s/in0.npy -o y=%s", quote(setup.ptoc), quote(source), t->arg, quote(t->path), quote(result)))
        return FAIL;
    Array in, got, want;
    const char *wrong = npy_load(text("%s/in0.npy", t->path), &in);
    wrong = wrong ? wrong : npy_load(result, &got);
    wrong = wrong ? wrong : npy_load(text("%s/out0.npy", t->path), &want);
    if (wrong || got.count != want.count)
        return fail("%s", wrong ? wrong : "another number of elements");
    int differ = 0;
    for (long i = 0; i < want.count; i++)
        if (!same(got.at[i], want.at[i], strcmp(y, "bf16") == 0) && differ++ < 10)
            say("%s(%a) is %a, expected %a", y, in.at[i], got.at[i], want.at[i]);
    return differ ? fail("%d of %ld differ", differ, want.count) : PASS;
}

static Verdict run_skip(const Test *t) {
    (void)t;
    return skip("no data: PTO_SHARED or ../shared has no data/cast-edges");
}

void add_casts(void) {
    char **cases = setup.shared ? files(text("%s/data/cast-edges", setup.shared), "case.txt") : NULL;
    if (!cases || !*cases) {
        test_add((Test){.group = "casts", .run = run_skip});
        return;
    }
    for (; *cases; cases++) {
        char *folder = text("%s", *cases);
        *strrchr(folder, '/') = '\0';
        for (char **target = runnable_targets(); *target; target++)
            test_add((Test){.group = "casts", .name = text("%s/%s", base_name(folder), *target), .run = run_cast, .path = folder, .arg = *target});
        test_add((Test){.group = "casts", .name = text("%s/davinci", base_name(folder)), .run = run_cast, .path = folder, .arg = "davinci"});
    }
}
