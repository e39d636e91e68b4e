// Comments in the text of bundles, for who reads it (private to the printers of the IR).
#ifndef PTOC_IR_PRINT_NOTES_H
#define PTOC_IR_PRINT_NOTES_H

#include "ir/bundles.h"

// "matmul.pto:6, matmul.pto:7": where the equations of a bundle's operations stand; NULL: nowhere.
const char *note_bundle(Arena *a, const Sources *sources, const BundleProgram *b, int number);
// How many bundles, how often an iteration can begin, and what occupies which unit.
const char *note_loop(Arena *a, const BundleProgram *b, const BundleLoop *l);
// What lies where: several lines; NULL: nothing.
const char *note_memories(Arena *a, const BundleProgram *b, const BundleTarget *target);
// "load copy a_L0 <- a_L1 in stage 1"
const char *note_op(Arena *a, const MoveOp *op);

#endif
