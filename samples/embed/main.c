// A program that calls a kernel. The three folders beside it build it with Make, CMake and Meson.
#include "smooth.h"

#include <stdio.h>

int main(void) {
    float in[8] = {0, 0, 0, 8, 8, 0, 0, 4}, out[8];
    const int64_t shape[1] = {8};
    pto_tensor x = pto_tensor_dense(in, PTO_F32, 1, shape), y = pto_tensor_dense(out, PTO_F32, 1, shape);

    // A context keeps options, memory and the last error from call to call; NULL instead of it is legal too.
    pto_context *context = pto_context_new(NULL);
    if (smooth(context, &x, &y) != PTO_OK) {
        fprintf(stderr, "%s\n", pto_context_error(context));
        return 1;
    }
    for (int i = 0; i < 8; i++)
        printf("%g%c", out[i], i < 7 ? ' ' : '\n');

    // Wrong arguments are a status and a sentence, and nothing is written.
    y.shape[0] = 7;
    pto_status status = smooth(context, &x, &y);
    printf("%s: %s\n", pto_status_name(status), pto_context_error(context));
    pto_context_free(context);
    return status == PTO_OK;
}
