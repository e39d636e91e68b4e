// The task level as text (.ptoir), which ir/read.h reads back: print(read(print(k))) == print(k).
//
// It is the language of .pto (grammar/) with nothing left to infer:
//
//     ir task;
//
//     kernel softmax(x: f16[N, D]) -> (y: f16[N, D]) {
//         dim N: x[0];                                     // where it is bound; `dim T: int;` by a parameter
//         tensor m local: f16[N];                          // local | inferred (shape not in the source) | hidden
//         tensor `m.max` hidden: f16[N];                   // odd names stand in backquotes
//         equation `m.max` reduce 0: `m.max`[i] = max(j in 0..D) x[i, j] where i in 0..N;    // name, kind, origin
//         equation m map 0: m[i] = `m.max`[i] where i in 0..N;
//     }
//
// The order of text is the order of Kernel's lists; tensors are inputs, outputs, then the others. `where` has all
// indices in order, then conditions. A bare integer has type index; every other literal says its type, `f32(0.5)`;
// `f32(e)` of anything else, brackets included, is a conversion. Operations that are no operator go by their name.
#ifndef PTOC_IR_PRINT_H
#define PTOC_IR_PRINT_H

#include "ir/ir.h"

#include <stdio.h>

// A whole text: one kernel, and several.
void ir_print_task(FILE *out, const Kernel *k);
void ir_print_tasks(FILE *out, int n, Kernel *const *kernels);

#endif
