// The features of the processor, by asking it (x86-64) or the operating system (64-bit Arm), once: some virtual
// machines take microseconds to answer. A feature counts when the operating system also saves its registers.
//
// Test: tests/unit/test_runtime.c

#include "ptort/cpu.h"

#include <pthread.h>

#define BIT(position) (UINT64_C(1) << (position))

#if defined(__x86_64__)
#include <cpuid.h>

typedef enum { EAX, EBX, ECX, EDX } Register;
typedef enum { LEAF_1, LEAF_7, LEAF_7_1, LEAF_EXTENDED, LEAVES } Leaf;
enum { STATE_NONE = 0, STATE_AVX = 0x6, STATE_AVX512 = 0xe6 };            // of XCR0: registers that are saved

static const struct { unsigned leaf, subleaf; } leaves[LEAVES] = {
    [LEAF_1] = {1, 0}, [LEAF_7] = {7, 0}, [LEAF_7_1] = {7, 1}, [LEAF_EXTENDED] = {0x80000001u, 0},
};

static const struct { int feature; Leaf leaf; Register reg; int bit; unsigned state; } table[] = {
    {PTO_CPU_SSE, LEAF_1, EDX, 25, STATE_NONE},
    {PTO_CPU_SSE2, LEAF_1, EDX, 26, STATE_NONE},
    {PTO_CPU_SSE3, LEAF_1, ECX, 0, STATE_NONE},
    {PTO_CPU_PCLMUL, LEAF_1, ECX, 1, STATE_NONE},
    {PTO_CPU_SSSE3, LEAF_1, ECX, 9, STATE_NONE},
    {PTO_CPU_FMA, LEAF_1, ECX, 12, STATE_AVX},
    {PTO_CPU_CX16, LEAF_1, ECX, 13, STATE_NONE},
    {PTO_CPU_SSE4_1, LEAF_1, ECX, 19, STATE_NONE},
    {PTO_CPU_SSE4_2, LEAF_1, ECX, 20, STATE_NONE},
    {PTO_CPU_MOVBE, LEAF_1, ECX, 22, STATE_NONE},
    {PTO_CPU_POPCNT, LEAF_1, ECX, 23, STATE_NONE},
    {PTO_CPU_AES, LEAF_1, ECX, 25, STATE_NONE},
    {PTO_CPU_AVX, LEAF_1, ECX, 28, STATE_AVX},
    {PTO_CPU_F16C, LEAF_1, ECX, 29, STATE_AVX},
    {PTO_CPU_BMI, LEAF_7, EBX, 3, STATE_NONE},
    {PTO_CPU_AVX2, LEAF_7, EBX, 5, STATE_AVX},
    {PTO_CPU_BMI2, LEAF_7, EBX, 8, STATE_NONE},
    {PTO_CPU_AVX512F, LEAF_7, EBX, 16, STATE_AVX512},
    {PTO_CPU_AVX512DQ, LEAF_7, EBX, 17, STATE_AVX512},
    {PTO_CPU_ADX, LEAF_7, EBX, 19, STATE_NONE},
    {PTO_CPU_AVX512IFMA, LEAF_7, EBX, 21, STATE_AVX512},
    {PTO_CPU_AVX512CD, LEAF_7, EBX, 28, STATE_AVX512},
    {PTO_CPU_SHA, LEAF_7, EBX, 29, STATE_NONE},
    {PTO_CPU_AVX512BW, LEAF_7, EBX, 30, STATE_AVX512},
    {PTO_CPU_AVX512VL, LEAF_7, EBX, 31, STATE_AVX512},
    {PTO_CPU_AVX512VBMI, LEAF_7, ECX, 1, STATE_AVX512},
    {PTO_CPU_AVX512VBMI2, LEAF_7, ECX, 6, STATE_AVX512},
    {PTO_CPU_GFNI, LEAF_7, ECX, 8, STATE_NONE},
    {PTO_CPU_VAES, LEAF_7, ECX, 9, STATE_AVX},
    {PTO_CPU_VPCLMULQDQ, LEAF_7, ECX, 10, STATE_AVX},
    {PTO_CPU_AVX512VNNI, LEAF_7, ECX, 11, STATE_AVX512},
    {PTO_CPU_AVX512BITALG, LEAF_7, ECX, 12, STATE_AVX512},
    {PTO_CPU_AVX512VPOPCNTDQ, LEAF_7, ECX, 14, STATE_AVX512},
    {PTO_CPU_AVX512FP16, LEAF_7, EDX, 23, STATE_AVX512},
    {PTO_CPU_AVXVNNI, LEAF_7_1, EAX, 4, STATE_AVX},
    {PTO_CPU_AVX512BF16, LEAF_7_1, EAX, 5, STATE_AVX512},
    {PTO_CPU_LZCNT, LEAF_EXTENDED, ECX, 5, STATE_NONE},
    {PTO_CPU_SSE4A, LEAF_EXTENDED, ECX, 6, STATE_NONE},
    {PTO_CPU_XOP, LEAF_EXTENDED, ECX, 11, STATE_AVX},
    {PTO_CPU_FMA4, LEAF_EXTENDED, ECX, 16, STATE_AVX},
};

static unsigned saved_registers(unsigned leaf_1_ecx) {
    unsigned low = 0, high = 0;
    if (leaf_1_ecx >> 27 & 1)                                              // OSXSAVE: XCR0 can be read
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static uint64_t read_features(void) {
    unsigned r[LEAVES][4] = {{0}};
    uint64_t features = 0;
    for (int k = 0; k < LEAVES; k++)
        __get_cpuid_count(leaves[k].leaf, leaves[k].subleaf, &r[k][EAX], &r[k][EBX], &r[k][ECX], &r[k][EDX]);
    unsigned saved = saved_registers(r[LEAF_1][ECX]);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (r[table[i].leaf][table[i].reg] >> table[i].bit & 1 && (saved & table[i].state) == table[i].state)
            features |= BIT(table[i].feature);
    return features;
}

#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

// Bits of AT_HWCAP and AT_HWCAP2: Linux's, which older headers do not all name.
static const struct { int feature; unsigned long type; int bit; } table[] = {
    {PTO_CPU_SIMD, AT_HWCAP, 1},
    {PTO_CPU_AES, AT_HWCAP, 3},
    {PTO_CPU_CRC, AT_HWCAP, 7},
    {PTO_CPU_LSE, AT_HWCAP, 8},
    {PTO_CPU_FP16, AT_HWCAP, 10},
    {PTO_CPU_DOTPROD, AT_HWCAP, 20},
    {PTO_CPU_SVE, AT_HWCAP, 22},
    {PTO_CPU_SVE2, AT_HWCAP2, 1},
    {PTO_CPU_I8MM, AT_HWCAP2, 13},
    {PTO_CPU_BF16, AT_HWCAP2, 14},
};

static uint64_t read_features(void) {
    uint64_t features = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (getauxval(table[i].type) >> table[i].bit & 1)
            features |= BIT(table[i].feature);
    return features;
}

#else
static uint64_t read_features(void) { return 0; }
#endif

static struct { pthread_once_t once; uint64_t features; } machine = {.once = PTHREAD_ONCE_INIT};

static void machine_read(void) { machine.features = read_features(); }

uint64_t pto_cpu(void) {
    pthread_once(&machine.once, machine_read);
    return machine.features;
}
