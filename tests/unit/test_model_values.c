// The model's values: copies with all borders, transpositions and gathers, products in every type and layout, nests, each
// against a naive loop. And how fast they are.
#include "model_program.h"
#include "often.h"

#include <ptort/half.h>
#include <ptort/kernel.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

Suite *suite_model_values(void);

static uint64_t state = 1;
static uint64_t draw(void) { return state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407), state >> 33; }
static int64_t between(int64_t lo, int64_t hi) { return lo + (int64_t)(draw() % (uint64_t)(hi - lo + 1)); }

// ---- copies ---------------------------------------------------------------------------------------------------------------

enum { H = 9, W = 13, TH = 6, TW = 8 };
static int32_t image[H * W], tile[TH * TW + 64];

static int64_t inside(pto_border b, int64_t i, int64_t n) {
    if (i >= 0 && i < n)
        return i;
    return b == PTO_BORDER_CLAMP ? pto_clamp(i, 0, n) : b == PTO_BORDER_REFLECT ? pto_reflect(i, 0, n) : b == PTO_BORDER_WRAP ? pto_wrap(i, 0, n) : -1;
}

// Loads a box of h x w through L0 and stores it in `tile`, in rows of TW.
static Program *through_l0(pto_operand from, int64_t h, int64_t w) {
    Program *p = program(1, (int64_t[]){1});
    tensor(p, "image", image, sizeof image, 4, 0);
    tensor(p, "tile", tile, TH * TW * 4, 4, 1);
    int full = token(p, 0, 1);
    bundle(p);
    signals(p, copy(p, PTO_DMA, box2(L0, -1, PTO_I32, 64, h, 4 * TW, w, 4), from), full);
    bundle(p);
    wait_for(p, full);
    copy(p, PTO_DMA, box2(DDR, 1, PTO_I32, 0, h, 4 * TW, w, 4), box2(L0, -1, PTO_I32, 64, h, 4 * TW, w, 4));
    return p;
}

static void fill_image(void) {
    for (int i = 0; i < H * W; i++)
        image[i] = i + 1;
    for (int i = 0; i < TH * TW + 64; i++)
        tile[i] = -1;
}

static void check_border(pto_border b0, pto_border b1, int64_t i0, int64_t j0, int64_t h, int64_t w) {
    fill_image();
    pto_operand from = box2(DDR, 0, PTO_I32, (i0 * W + j0) * 4, h, W * 4, w, 4);
    from.dim[0].at.start.base = i0;
    from.dim[1].at.start.base = j0;
    from.dim[0].border = b0;
    from.dim[1].border = b1;
    from.dim[0].length = H;
    from.dim[1].length = W;
    from.fill = b0 == PTO_BORDER_CONST || b1 == PTO_BORDER_CONST ? 77 : 0;
    Program *p = through_l0(from, h, w);
    cycles(p);
    for (int64_t i = 0; i < TH; i++)
        for (int64_t j = 0; j < TW; j++) {
            int64_t a = inside(b0, i0 + i, H), b = inside(b1, j0 + j, W);
            int32_t want = i >= h || j >= w ? -1 : a < 0 || b < 0 ? (int32_t)from.fill : image[a * W + b];
            OFTEN_ASSERT_MSG(tile[i * TW + j] == want, "borders %d %d at (%d, %d): element (%d, %d) is %d, not %d", (int)b0, (int)b1, (int)i0, (int)j0, (int)i, (int)j, tile[i * TW + j], want);
        }
}

START_TEST(borders) {
    for (int b0 = PTO_BORDER_ZERO; b0 <= PTO_BORDER_CONST; b0++)
        for (int b1 = PTO_BORDER_ZERO; b1 <= PTO_BORDER_CONST; b1++)
            for (int k = 0; k < 60; k++)
                check_border((pto_border)b0, (pto_border)b1, between(-20, 20), between(-30, 30), between(1, TH), between(1, TW));
}
END_TEST

// An interval that is cut below begins later, and so does the address.
START_TEST(cut_intervals) {
    fill_image();
    pto_operand from = box2(DDR, 0, PTO_I32, (-2 * W - 3) * 4, TH, W * 4, TW, 4);
    Program *p = through_l0(from, TH, TW);
    for (int op = 0; op < 2; op++)
        for (int k = 0; k < 2; k++)
            for (int d = 0; d < 2; d++) {
                pto_interval *at = &p->operands[op][k].dim[d].at;
                at->start.base = d == 0 ? -2 : -3;
                at->hi = d == 0 ? 3 : 4;
            }
    cycles(p);
    for (int64_t i = 0; i < TH; i++)
        for (int64_t j = 0; j < TW; j++) {
            bool there = i >= 2 && i < 5 && j >= 3 && j < 7;
            ck_assert_int_eq(tile[i * TW + j], there ? image[(i - 2) * W + j - 3] : -1);
        }
}
END_TEST

START_TEST(transpositions) {
    fill_image();
    Program *p = through_l0(box2(DDR, 0, PTO_I32, 4, 5, 4, 7, W * 4), 5, 7);
    cycles(p);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 7; j++)
            ck_assert_int_eq(tile[i * TW + j], image[j * W + 1 + i]);
    fill_image();
    p = through_l0(box2(DDR, 0, PTO_I32, (4 * W + 7) * 4, 5, -W * 4, 7, -4), 5, 7);       // backwards
    cycles(p);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 7; j++)
            ck_assert_int_eq(tile[i * TW + j], image[(4 - i) * W + 7 - j]);
}
END_TEST

static int32_t list[8];

// Rows of the image by a list that lies in L0. Each row of 7 elements is its own run: 28 bytes in 1 or 2 bursts.
START_TEST(gathers) {
    fill_image();
    Program *p = program(1, (int64_t[]){1});
    tensor(p, "image", image, sizeof image, 4, 0);
    tensor(p, "tile", tile, TH * TW * 4, 4, 1);
    tensor(p, "list", list, sizeof list, 4, 0);
    const int32_t rows[] = {8, 0, 3, 3, 7};
    memcpy(list, rows, sizeof rows);
    int listed = token(p, 0, 1), full = token(p, 0, 1);
    bundle(p);
    signals(p, copy(p, PTO_DMA, box1(L0, -1, PTO_I32, 4096, 5), box1(DDR, 2, PTO_I32, 0, 5)), listed);
    bundle(p);
    wait_for(p, listed);
    pto_operand from = box2(DDR, 0, PTO_I32, 8, 5, W * 4, 7, 4), to = box2(L0, -1, PTO_I32, 64, 5, TW * 4, 7, 4);
    from.dim[0].length = H;
    int k = put(p, PTO_DMA, PTO_GATHER, 3, (pto_operand[]){to, from, box1(L0, -1, PTO_I32, 4096, 5)});
    signals(p, k, full);
    bundle(p);
    wait_for(p, full);
    copy(p, PTO_DMA, box2(DDR, 1, PTO_I32, 0, 5, TW * 4, 7, 4), to);
    cycles(p);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 7; j++)
            ck_assert_int_eq(tile[i * TW + j], image[rows[i] * W + 2 + j]);
    int64_t bursts = 0;
    for (int i = 0; i < 5; i++)
        bursts += (rows[i] * W * 4 + 8 + 27) / 64 - (rows[i] * W * 4 + 8) / 64 + 1;
    ck_assert_int_eq(p->totals.traffic[1].read, bursts * 64);
    list[2] = 9;
    faults(p, "range: bundle 1 (dma), task (0): b, test.pto:2: the list has 9, dimension 0 of image has 9");
    p->operands[k][1].dim[0].border = PTO_BORDER_ZERO;
    cycles(p);
    ck_assert_int_eq(tile[2 * TW], 0);
    ck_assert_int_eq(tile[3 * TW], image[3 * W + 2]);
    p->options.timing_only = 1;
    cycles(p);
}
END_TEST

// ---- products -------------------------------------------------------------------------------------------------------------

static unsigned char operand_bytes[2][64 * 64 * 8], result[64 * 64 * 8], before[64 * 64 * 8];

static void set_random(pto_dtype t, unsigned char *to, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        float v = (float)between(-1000, 1000) / 64;
        uint16_t h = t == PTO_F16 ? pto_f32_to_f16(v) : pto_f32_to_bf16(v);
        double d = v;
        uint32_t w = (uint32_t)draw();
        switch (t) {
        case PTO_F32: memcpy(to + i * 4, &v, 4); break;
        case PTO_F64: memcpy(to + i * 8, &d, 8); break;
        case PTO_I32: memcpy(to + i * 4, &w, 4); break;
        case PTO_I8: to[i] = (unsigned char)w; break;
        default: memcpy(to + i * 2, &h, 2); break;
        }
    }
}

static double real_at(pto_dtype t, const unsigned char *p, int64_t i) {
    uint16_t h;
    float f;
    double d;
    switch (t) {
    case PTO_F16: memcpy(&h, p + i * 2, 2); return pto_f16_to_f32(h);
    case PTO_BF16: memcpy(&h, p + i * 2, 2); return pto_bf16_to_f32(h);
    case PTO_F32: memcpy(&f, p + i * 4, 4); return f;
    case PTO_F64: memcpy(&d, p + i * 8, 8); return d;
    default: return (signed char)p[i];
    }
}

// Element (i, j) of the product by one loop over k; `volatile` keeps the compiler from contracting.
static void naive(pto_dtype t, int64_t i, int64_t j, int64_t n, int64_t k, bool init, unsigned char *out) {
    volatile float f = 0, product;
    volatile double d = 0, product64;
    uint32_t w = 0;
    if (!init) {
        memcpy((void *)&w, before + (i * n + j) * 4, 4);
        f = pto_f32_of_bits(w);
        d = t == PTO_F64 ? real_at(PTO_F64, before, i * n + j) : 0;
    }
    for (int64_t l = 0; l < k; l++) {
        double a = real_at(t, operand_bytes[0], i * k + l), b = real_at(t, operand_bytes[1], l * n + j);
        product = (float)a * (float)b;
        f = f + product;
        product64 = a * b;
        d = d + product64;
        w += (uint32_t)((int32_t)a * (int32_t)b * (t == PTO_I8));
    }
    float f32 = f;
    double f64 = d;
    if (t == PTO_F64)
        memcpy(out, &f64, 8);
    else if (t == PTO_I8)
        memcpy(out, &w, 4);
    else
        memcpy(out, &f32, 4);
}

// A matrix as (columns / block, rows, block), the layout that cubes like; `dense`: the same elements of one by rows.
static pto_operand blocked(int memory, int which, pto_dtype t, int64_t address, pto_axis row, int64_t rows, pto_axis column, int64_t columns, int64_t block, bool dense) {
    int64_t bytes = (int64_t)pto_dtype_size(t);
    pto_operand o = box1(memory, which, t, address, columns / block);
    o.rank = 3;
    o.dim[1].at.size = rows;
    o.dim[2].at.size = block;
    o.dim[0].stride = dense ? block * bytes : rows * block * bytes;
    o.dim[1].stride = dense ? columns * bytes : block * bytes;
    o.dim[2].stride = bytes;
    o.dim[0].axis = o.dim[2].axis = dense ? PTO_AXIS_NONE : column;
    o.dim[1].axis = dense ? PTO_AXIS_NONE : row;
    return o;
}

static void check_product(pto_dtype t, pto_dtype acc, int64_t m, int64_t n, int64_t k, bool init, bool tiled) {
    int64_t in = (int64_t)pto_dtype_size(t), out = (int64_t)pto_dtype_size(acc), half = k % 2 == 0 ? k / 2 : k;
    half = tiled && k > 0 ? half : k > 0 ? k : 1;
    set_random(t, operand_bytes[0], m * k);
    set_random(t, operand_bytes[1], k * n);
    set_random(acc, before, m * n);
    memcpy(result, before, sizeof result);
    Program *p = program(1, (int64_t[]){1});
    p->machine.unit[PTO_CUBE].shape[0].inputs = t;
    p->machine.unit[PTO_CUBE].shape[0].accumulates = acc;
    tensor(p, "a", operand_bytes[0], m * k * in, (int)in, 0);
    tensor(p, "b", operand_bytes[1], k * n * in, (int)in, 0);
    tensor(p, "c", result, m * n * out, (int)out, 1);
    p->machine.unit[PTO_LOAD].most = 0;
    p->machine.unit[PTO_STORE].most = 0;
    p->machine.memory[L0].bytes = 1 << 20;
    p->program.need[L0] = 3 * 32768;
    int full = token(p, 0, 3), done = token(p, 0, 1);
    pto_operand a = blocked(L0, -1, t, 0, PTO_AXIS_M, m, PTO_AXIS_K, k, half, false), b = matrix(t, 32768, PTO_AXIS_K, k, PTO_AXIS_N, n);
    pto_operand c = matrix(acc, 65536, PTO_AXIS_M, m, PTO_AXIS_N, n);
    bundle(p);
    signals(p, copy(p, PTO_LOAD, a, blocked(DDR, 0, t, 0, PTO_AXIS_M, m, PTO_AXIS_K, k, half, true)), full);
    bundle(p);
    signals(p, copy(p, PTO_LOAD, b, box2(DDR, 1, t, 0, k, n * in, n, in)), full);
    bundle(p);
    signals(p, copy(p, PTO_LOAD, c, box2(DDR, 2, acc, 0, m, n * out, n, out)), full);
    bundle(p);
    for (int i = 0; i < 3; i++)
        wait_for(p, full);
    signals(p, multiply3(p, c, a, b, init ? PTO_ALWAYS : PTO_NEVER), done);
    bundle(p);
    wait_for(p, done);
    copy(p, PTO_STORE, box2(DDR, 2, acc, 0, m, n * out, n, out), c);
    cycles(p);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            unsigned char want[8];
            naive(t, i, j, n, k, init, want);
            OFTEN_ASSERT_MSG(memcmp(want, result + (i * n + j) * out, (size_t)out) == 0, "%s, m %d, n %d, k %d: element (%d, %d)", pto_dtype_name(t),
                             (int)m, (int)n, (int)k, (int)i, (int)j);
        }
}

START_TEST(products) {
    static const struct { pto_dtype in, acc; } types[] = {{PTO_F16, PTO_F32}, {PTO_BF16, PTO_F32}, {PTO_F32, PTO_F32}, {PTO_I8, PTO_I32}, {PTO_F64, PTO_F64}};
    for (int t = 0; t < 5; t++) {
        for (int k = 0; k < 40; k++)
            check_product(types[t].in, types[t].acc, between(1, 20), between(1, 20), between(0, 20), k % 3 != 0, k % 2 == 0);
        check_product(types[t].in, types[t].acc, 64, 64, 64, false, true);
        check_product(types[t].in, types[t].acc, 3, 64, 1, true, false);
    }
}
END_TEST

// 20 steps of k = 16 add up in one accumulator; the first one sets it, behind the last one it is stored.
START_TEST(products_accumulate) {
    static float a[8 * 320], b[320 * 8], c[64];
    for (int i = 0; i < 8 * 320; i++)
        a[i] = (float)between(-100, 100) / 7, b[i] = (float)between(-100, 100) / 3;
    Program *p = program(1, (int64_t[]){1});
    tensor(p, "a", a, sizeof a, 4, 0);
    tensor(p, "b", b, sizeof b, 4, 0);
    tensor(p, "c", c, sizeof c, 4, 1);
    int full = token(p, 0, 2), room = token(p, 1, 1), done = token(p, 0, 1);
    pto_operand from_a = box2(DDR, 0, PTO_F32, 0, 8, 320 * 4, 16, 4), from_b = box2(DDR, 1, PTO_F32, 0, 16, 32, 8, 4);
    from_a.address.step[PTO_FIRST_DIGIT] = 64;
    from_b.address.step[PTO_FIRST_DIGIT] = 16 * 32;
    pto_operand in_a = matrix(PTO_F32, 0, PTO_AXIS_M, 8, PTO_AXIS_K, 16), in_b = matrix(PTO_F32, 512, PTO_AXIS_K, 16, PTO_AXIS_N, 8);
    pto_operand in_c = matrix(PTO_F32, 1024, PTO_AXIS_M, 8, PTO_AXIS_N, 8);
    bundle(p);
    wait_for(p, room);
    signals(p, copy(p, PTO_LOAD, in_a, from_a), full);
    bundle(p);
    signals(p, copy(p, PTO_LOAD, in_b, from_b), full);
    bundle(p);
    wait_for(p, full);
    wait_for(p, full);
    int f = multiply3(p, in_c, in_a, in_b, PTO_FIRST(0));
    signals(p, f, room);
    signals(p, f, done);
    bundle(p);
    wait_for(p, done);
    p->ops[copy(p, PTO_STORE, box2(DDR, 2, PTO_F32, 0, 8, 32, 8, 4), in_c)].when = PTO_LAST(0);
    loop(p, 0, 1, 1, (int64_t[]){20});
    cycles(p);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            volatile float sum = 0, product;
            for (int k = 0; k < 320; k++) {
                product = a[i * 320 + k] * b[k * 8 + j];
                sum = sum + product;
            }
            ck_assert(c[i * 8 + j] == sum);
        }
}
END_TEST

// ---- nests ----------------------------------------------------------------------------------------------------------------

// y[i, j] = x[i + 1, j - 1] * z[j]: subscripts of the operands count from their own element [0, 0].
static void stencil(const pto_work *w) {
    const pto_place *y = &w->place[0], *x = &w->place[1], *z = &w->place[2];
    ck_assert_ptr_nonnull(w->ctx);
    for (int64_t i = w->lo[0]; i < w->hi[0]; i++)
        for (int64_t j = w->lo[1]; j < w->hi[1]; j++)
            ((int32_t *)y->base)[y->at + i * y->stride[0] + j * y->stride[1]] =
                ((int32_t *)x->base)[x->at + (i + 1) * x->stride[0] + (j - 1) * x->stride[1]] * ((int32_t *)z->base)[z->at + j * z->stride[0]];
}

START_TEST(nests_find_their_operands) {
    fill_image();
    Program *p = program(1, (int64_t[]){2});                 // task 1 works on rows 4.., both on columns 2..7
    tensor(p, "image", image, sizeof image, 4, 0);
    tensor(p, "tile", tile, TH * TW * 4, 4, 1);
    int full = token(p, 0, 2), done = token(p, 0, 1);
    pto_operand from = box2(DDR, 0, PTO_I32, (W + 1) * 4, 3, W * 4, 6, 4), in = box2(L0, -1, PTO_I32, 0, 3, 24, 6, 4);
    from.address.step[0] = 4 * W * 4;
    pto_operand x = in;
    x.dim[0].at.start.base = 1;
    x.dim[0].at.start.step[0] = 4;
    x.dim[1].at.start.base = 1;
    pto_operand z = box1(L0, -1, PTO_I32, 256, 6), y = box2(L0, -1, PTO_I32, 512, 3, 24, 6, 4);
    z.dim[0].at.start.base = 2;
    y.dim[0].at.start.step[0] = 4;
    y.dim[1].at.start.base = 2;
    bundle(p);
    signals(p, copy(p, PTO_LOAD, in, from), full);
    bundle(p);
    signals(p, copy(p, PTO_LOAD, z, box1(DDR, 0, PTO_I32, 8, 6)), full);
    bundle(p);
    wait_for(p, full);
    wait_for(p, full);
    int f = nest(p, PTO_VECTOR, 3, 1, stencil, 3, (pto_operand[]){y, x, z});
    p->ops[f].rank = 2;
    p->boxes[f][0].start.step[0] = 4;
    p->boxes[f][1] = (pto_interval){.start.base = 2, .size = 6};
    signals(p, f, done);
    bundle(p);
    wait_for(p, done);
    pto_operand to = box2(DDR, 1, PTO_I32, 0, 3, TW * 4, 6, 4);
    to.address.step[0] = 3 * TW * 4;
    pto_operand out = y;
    out.dim[0].at.start = (pto_affine){0};
    copy(p, PTO_STORE, to, out);
    cycles(p);
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < 3; i++)
            for (int j = 2; j < 8; j++)
                ck_assert_int_eq(tile[(t * 3 + i) * TW + j - 2], image[(4 * t + i + 1) * W + j - 1] * image[j]);
}
END_TEST

// ---- speed ----------------------------------------------------------------------------------------------------------------

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// Loads, products and waits: 3 operations for each iteration.
static Program *busy_cube(int64_t steps) {
    static uint16_t a[64 * 64];
    Program *p = program(1, (int64_t[]){1});
    tensor(p, "a", a, sizeof a, 2, 0);
    p->program.need[L0] = 65536;
    int full = token(p, 0, 2), room = token(p, 1, 1);
    pto_operand in_a = matrix(PTO_F16, 0, PTO_AXIS_M, 64, PTO_AXIS_K, 64), in_b = matrix(PTO_F16, 8192, PTO_AXIS_K, 64, PTO_AXIS_N, 64);
    pto_operand from = box2(DDR, 0, PTO_F16, 0, 64, 128, 64, 2);
    bundle(p);
    wait_for(p, room);
    signals(p, copy(p, PTO_LOAD, in_a, from), full);
    bundle(p);
    signals(p, copy(p, PTO_LOAD, in_b, from), full);
    bundle(p);
    wait_for(p, full);
    wait_for(p, full);
    signals(p, multiply3(p, matrix(PTO_F32, 16384, PTO_AXIS_M, 64, PTO_AXIS_N, 64), in_a, in_b, PTO_FIRST(0)), room);
    loop(p, 0, 1, 1, (int64_t[]){steps});
    return p;
}

START_TEST(speed) {
    Program *p = busy_cube(2000);
    double begin = seconds();
    cycles(p);
    double macs = 2000.0 * 64 * 64 * 64 / (seconds() - begin);
    p = busy_cube(70000);
    p->options.timing_only = 1;
    begin = seconds();
    cycles(p);
    double ops = seconds() - begin;
    if (getenv("PTO_MODEL_SPEED"))
        printf("%.2f billion products a second, %.3f s for %d operations\n", macs * 1e-9, ops, 3 * 70000);
    ck_assert_msg(macs > 0 && ops >= 0, "nothing was measured");        // (machines differ: no test fails for its time)
}
END_TEST

Suite *suite_model_values(void) {
    Suite *s = suite_create("model_values");
    TCase *c = tcase_create("values");
    tcase_add_test(c, borders);
    tcase_add_test(c, cut_intervals);
    tcase_add_test(c, transpositions);
    tcase_add_test(c, gathers);
    tcase_add_test(c, products);
    tcase_add_test(c, products_accumulate);
    tcase_add_test(c, nests_find_their_operands);
    tcase_set_timeout(c, 20);
    suite_add_tcase(s, c);
    c = tcase_create("speed");
    tcase_add_test(c, speed);
    tcase_set_timeout(c, 20);
    suite_add_tcase(s, c);
    return s;
}
