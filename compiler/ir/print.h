// The IR as text (.ptoir), which ir/read.h reads back: print(read(print(k))) == print(k). First the task level.
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

#include "ir/tile.h"

#include <stdio.h>

// A whole text: one kernel, and several.
void ir_print_task(FILE *out, const Kernel *k);
void ir_print_tasks(FILE *out, int n, Kernel *const *kernels);

// The tile level: the kernel as above, then
//
//     store t workspace 0: full(0, N), modulo(4), drop;   // kind, depth, and of each dimension full(base, extent) ...;
//                                                         // below the node that binds an index it uses, tensors without
//                                                         // a line are stored nowhere
//     grid: wave, max(8) {                                // auto serial static dynamic wave; `grid NAME: ...`
//         tile i in 0..M: i_lo..i_hi, 32;                 // a dimension: its range, the bounds of a tile, its size
//         after 1, 0;                                     // a task waits for the one at this distance
//         local m;                                        // registers of the body
//         for j in 0..N: parallel, lanes(8), unroll(4) {  // serial parallel reduce scan; step(n), wanted
//             if i < j { ... }
//             seq { ... }
//             map y: y[i, j] = x[i, j] + m;               // the equation, then what is stored where
//             init s: s[i] = sum();
//             update s: s[i] = sum(x[i, j]) where x[i, j] > f32(0.0);
//             scan t: t[i, j] = sum(t[i, j-1], x[i, j]) where j == 0;     // previous, value; at the first; `scan t reverse: ...`
//         }
//     }
//
// Indices that share a name with one around them get a number: `i.1`. A subscript that can leave a bordered tensor is
// marked: `x[edge(i - 1), j]`; `x[edge(i - 1, empty), j]` where the dimension may be empty, too.
void ir_print_tile(FILE *out, const TileKernel *k);
void ir_print_tiles(FILE *out, int n, TileKernel *const *kernels);

// The move level, and with bundles: as the tile level, but a grid holds its programs (man/ptob.5 says what everything means):
//
//     ir bundles;                                         // `ir move;`: without bundles, tokens and stages
//     on davinci: DDR, L1, L0, set("L1.size=128KiB");     // the machine, its memories, what --machine-set changed
//     ...
//         program where 64 * N <= 32768 {                 // ...: the shapes that it fits
//             need L0(320 * N);                           // bytes of a task
//             buffer x_L0 on L0: f16, of(x), at(0), bytes(128 * N), slots(2);
//             token full0: initial(0), depth(2);
//             loop: i = 4, j = (N + 63) / 64, stages(2) { // digits and their counts
//                 bundle {
//                     wait full0: stage(1), first(j);     // where the digit j is at 0
//                     copy x on load: when(last(i)) {     // the equation, the unit; gather, multiply: likewise
//                         write x_L0: digits(2), dim(task(i) * 16 + block(i) * 4, 4, cut(0, M), stride(128));
//                         read x on DDR: at(task(i) * (32 * N)), dim(task(i) * 16 + block(i) * 4, 4, cut(0, M), stride(2 * N));
//                         signal full0;
//                     }
//                     nest y on vector: stage(1), cost(2), bytes(4), element(2) {
//                         write ...; read ...;
//                         box i_lo..i_hi: task(i) * 16 + block(i) * 4, 4, cut(0, M);
//                         for i in i_lo..i_hi: serial { map y: y[i] = x[i]; }
//                     }
//                 }
//             }
//         }
//         task y: because("an index runs against the grid") { ... }       // the body, for the scalar unit; alone, or for other shapes
void ir_print_bundles(FILE *out, int n, TileKernel *const *kernels, const BundleTarget *target, bool bundled);

#endif
