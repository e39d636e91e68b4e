// Values of vector loops: what emit/vector.c computes for emit/vector_loop.c. All of it is about the loop e->vec.
#ifndef PTOC_EMIT_VECTOR_H
#define PTOC_EMIT_VECTOR_H

#include "emit/c.h"

// The value in all lanes, as C: a vector of v_lane(type), a mask for bool.
const char *v_expr(Emit *e, const Expr *x);
bool v_varies(Emit *e, const Expr *x);                                  // is it not the same in all lanes?
bool v_guards(Emit *e, const Expr *condition, const Expr *x);           // must x not be evaluated where the condition fails?

// A number and an index compared: -1 where it holds, in signed lanes of *bytes; NULL: only lane by lane (compare.c).
const char *v_mixed(Emit *e, const Expr *x, int *bytes);
const char *v_signed(int bytes);                                        // "i32"

const char *v_lane(const Emit *e, DType t);                             // "f32": what values of the type are held in
int v_lane_bytes(const Emit *e, DType t);
const char *v_type(Emit *e, const char *lane);                          // "pto_f32x8"
const char *v_fn(Emit *e, const char *what, const char *lane);          // "pto_add_f32x8"
const char *v_mask(const Emit *e);                                      // the lane of a mask
const char *v_mask_to(Emit *e, const char *m, int bytes);               // the mask for lanes of that width
const char *v_converted(Emit *e, const char *v, const char *lane);      // a vector of v_mask lanes as one of those
const char *v_rounded(Emit *e, DType t, const char *v);                 // f16, bf16: to the precision of the type

// How a place moves with the lanes: 0, 1, or farther.
int v_stride(Emit *e, const Tensor *t, Expr *const *subs);
const char *v_load(Emit *e, const Tensor *t, const char *place);        // the lanes from that place on

#endif
