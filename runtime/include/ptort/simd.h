// ptort/simd.h: what emitted C computes with: vectors (GCC and Clang vector extensions).
#ifndef PTORT_SIMD_H
#define PTORT_SIMD_H

#include "kernel.h"

#endif
