// See model_program.h.
#include "model_program.h"

#include <stdlib.h>

static const pto_machine tiny = {
    .name = "tiny", .hertz = 1000000000, .clusters = 2, .cores = 1, .dispatch = 0, .nmemories = 3, .npaths = 3,
    .memory = {{"DDR", INT64_C(1) << 30, PTO_SHARED_CHIP, 1}, {"L1", 65536, PTO_SHARED_CLUSTER, 0}, {"L0", 65536, PTO_SHARED_CORE, 0}},
    .path = {{DDR, L0, 1, 32, 100, 64, PTO_SHARED_CHIP}, {DDR, L1, 1, 32, 100, 64, PTO_SHARED_CHIP}, {L1, L0, 1, 128, 10, 0, PTO_SHARED_CORE}},
    .unit = {
        [PTO_CUBE] = {.present = 1, .queue = 2, .latency = 8, .most = 64, .nshapes = 4,
                      .shape = {{PTO_F16, PTO_F32, 4, 4, 1, 1}, {PTO_F32, PTO_F32, 4, 4, 1, 2}, {PTO_I8, PTO_I32, 4, 4, 2, 1}, {PTO_F64, PTO_F64, 4, 4, 1, 4}},
                      .nports = 1, .port = {{L0, 512}}},
        [PTO_VECTOR] = {.present = 1, .queue = 2, .latency = 8, .width = 128, .nports = 1, .port = {{L0, 512}}},
        [PTO_LOAD] = {.present = 1, .queue = 4, .most = 16384},
        [PTO_STORE] = {.present = 1, .queue = 4, .most = 16384},
        [PTO_DMA] = {.present = 1, .queue = 4, .most = 16384},
        [PTO_SCALAR] = {.present = 1, .queue = 1},
    },
};

Program *program(int rank, const int64_t *count) {
    static Program one;
    Program *p = &one;
    memset(p, 0, sizeof *p);
    p->machine = tiny;
    p->program = (pto_program){.name = "test", .bundles = p->bundles, .ops = p->ops, .loops = p->loops, .tokens = p->tokens, .sites = p->sites};
    p->program.need[L1] = p->program.need[L0] = 16384;
    p->launch = (pto_launch){.machine = &p->machine, .program = &p->program, .values = p->values, .nvalues = 32, .tensors = p->tensors};
    p->launch.grid = (pto_grid){.name = "grid", .rank = rank};
    memcpy(p->launch.grid.count, count, (size_t)rank * sizeof *count);
    return p;
}

int tensor(Program *p, const char *name, void *data, int64_t bytes, int element, int written) {
    p->tensors[p->launch.ntensors] = (pto_ddr){.name = name, .data = data, .bytes = bytes, .element = element, .written = written, .given = 1};
    return p->launch.ntensors++;
}

int token(Program *p, int initial, int depth) {
    p->tokens[p->program.ntokens] = (pto_token){.initial = initial, .depth = depth};
    return p->program.ntokens++;
}

int bundle(Program *p) { return p->program.nbundles++; }

int wait_for(Program *p, int which) {
    pto_bundle *b = &p->bundles[p->program.nbundles - 1];
    for (int k = 0; k < 4; k++)
        if (b->wait[k].token == 0) {
            b->wait[k].token = which + 1;
            return k;
        }
    return -1;
}

int put(Program *p, pto_slot slot, pto_kind kind, int noperands, const pto_operand *operands) {
    int k = p->program.nops++;
    pto_op *o = &p->ops[k];
    *o = (pto_op){.slot = slot, .kind = kind, .noperands = noperands, .operands = p->operands[k], .box = p->boxes[k], .site = k};
    for (int i = 0; i < noperands; i++)
        p->operands[k][i] = operands[i];
    static const char *const equations[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    p->sites[k] = (pto_site){.equation = equations[k % 8], .file = "test.pto", .line = k + 1};
    p->program.nsites = p->program.nops;
    p->bundles[p->program.nbundles - 1].op[slot] = k + 1;
    return k;
}

int copy(Program *p, pto_slot slot, pto_operand to, pto_operand from) { return put(p, slot, PTO_COPY, 2, (pto_operand[]){to, from}); }

int multiply3(Program *p, pto_operand c, pto_operand a, pto_operand b, pto_when init) {
    int k = put(p, PTO_CUBE, PTO_MULTIPLY, 3, (pto_operand[]){c, a, b});
    p->ops[k].init = init;
    return k;
}

int nest(Program *p, pto_slot slot, int64_t n, int cost, pto_compute f, int noperands, const pto_operand *operands) {
    int k = put(p, slot, PTO_NEST, noperands, operands);
    p->boxes[k][0].size = n;
    p->ops[k].rank = 1;
    p->ops[k].cost = cost;
    p->ops[k].element = 4;
    p->ops[k].bytes = 4 * noperands;
    p->ops[k].compute = f;
    p->ops[k].same = 2;          // (element by element)
    return k;
}

void signals(Program *p, int op, int which) { p->ops[op].signals[p->ops[op].signals[0] != 0] = which + 1; }

int loop(Program *p, int first, int stages, int ndigits, const int64_t *count) {
    pto_loop *l = &p->loops[p->program.nloops];
    *l = (pto_loop){.first = first, .end = p->program.nbundles, .ndigits = ndigits, .iv = PTO_FIRST_DIGIT, .stages = stages};
    memcpy(l->count, count, (size_t)ndigits * sizeof *count);
    return p->program.nloops++;
}

void exchange(Program *p, int op, int other) {
    pto_op o = p->ops[op];
    p->ops[op] = p->ops[other];
    p->ops[other] = o;
    for (int b = 0; b < p->program.nbundles; b++)
        for (int s = 0; s < PTO_SLOTS; s++) {
            int *at = &p->bundles[b].op[s];
            *at = *at == op + 1 ? other + 1 : *at == other + 1 ? op + 1 : *at;
        }
}

pto_operand box1(int memory, int which, pto_dtype type, int64_t address, int64_t n) {
    pto_operand o = {.memory = memory, .tensor = which, .type = type, .rank = 1};
    o.address.base = address;
    o.dim[0].at.size = n;
    o.dim[0].stride = (pto_num)pto_dtype_size(type);
    return o;
}

pto_operand box2(int memory, int which, pto_dtype type, int64_t address, int64_t n0, int64_t stride0, int64_t n1, int64_t stride1) {
    pto_operand o = box1(memory, which, type, address, n0);
    o.rank = 2;
    o.dim[0].stride = stride0;
    o.dim[1].at.size = n1;
    o.dim[1].stride = stride1;
    return o;
}

pto_operand matrix(pto_dtype type, int64_t address, pto_axis row, int64_t rows, pto_axis column, int64_t columns) {
    int64_t bytes = (int64_t)pto_dtype_size(type);
    pto_operand o = box2(L0, -1, type, address, rows, columns * bytes, columns, bytes);
    o.dim[0].axis = row;
    o.dim[1].axis = column;
    return o;
}

void slots(pto_operand *o, int n, int digits, int64_t bytes) {
    o->slots = n;
    o->slot_digits = digits;
    o->slot_bytes = bytes;
}

pto_status run(Program *p) {
    pto_context *ctx = pto_context_new(NULL);
    ck_assert_int_eq(pto_context_model(ctx, &p->options), PTO_OK);
    ck_assert_int_eq(pto_enter(&ctx, "kernel"), PTO_OK);
    pto_status s = pto_leave(ctx, pto_launch_bundles(ctx, &p->launch));
    strcpy(p->error, pto_context_error(ctx));
    pto_model_totals_of(ctx, &p->totals);
    pto_context_free(ctx);
    return s;
}

int64_t cycles(Program *p) {
    pto_status s = run(p);
    ck_assert_msg(s == PTO_OK, "%s", p->error);
    return p->totals.cycles;
}

void faults(Program *p, const char *text) {
    pto_status s = run(p);
    ck_assert_msg(s == PTO_ERR_FAULT || s == PTO_ERR_OVERFLOW, "no fault, but %s %s", pto_status_name(s), p->error);
    ck_assert_msg(strstr(p->error, text) != NULL, "'%s' is not in '%s'", text, p->error);
}

void compute_add1(const pto_work *w) {
    const pto_place *y = &w->place[0], *x = &w->place[1];
    for (int64_t i = w->lo[0]; i < w->hi[0]; i++)
        ((float *)y->base)[y->at + i * y->stride[0]] = ((const float *)x->base)[x->at + i * x->stride[0]] + 1;
}
