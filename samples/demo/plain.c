// The plain form: see demo.h. Both loops are simple enough for the compiler to do what it can.
#include "demo.h"

void plain(const float *restrict x, float a, float b, float *restrict t, float *restrict y, size_t rows, size_t columns) {
    for (size_t i = 0; i < rows * columns; i++) {
        float v = a * x[i] + b;
        t[i] = v > 0.0f ? v : 0.0f;
    }
    for (size_t i = 0; i < rows; i++) {
        float sum = 0;
        for (size_t j = 0; j < columns; j++) {
            sum += t[i * columns + j];
            y[i * columns + j] = sum;
        }
    }
}
