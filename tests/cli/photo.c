// Reads a grey image (P5) and what a kernel made of it (.npy, f32), computes the same in double precision straight from
// the definition, and says whether they agree.   photo sobel|blur IMAGE.pgm RESULT.npy
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int height, width;
static unsigned char *image;

static double at(int i, int j) {
    i = i < 0 ? 0 : i >= height ? height - 1 : i;
    j = j < 0 ? 0 : j >= width ? width - 1 : j;
    return image[(size_t)i * (size_t)width + (size_t)j];
}

static double sobel(int i, int j) {
    double gx = 0, gy = 0;
    for (int d = -1; d <= 1; d++) {
        int w = d ? 1 : 2;
        gx += w * (at(i + d, j + 1) - at(i + d, j - 1));
        gy += w * (at(i + 1, j + d) - at(i - 1, j + d));
    }
    return sqrt(gx * gx + gy * gy);
}

static double blur(int i, int j) {
    static const double w[5] = {1, 4, 6, 4, 1};
    double sum = 0;
    for (int u = -2; u <= 2; u++)
        for (int v = -2; v <= 2; v++)
            sum += w[u + 2] * w[v + 2] * at(i + u, j + v) / 256;
    return sum;
}

static FILE *open_or_exit(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    return f;
}

static float *load_result(const char *path, size_t n) {
    FILE *f = open_or_exit(path);
    unsigned char head[10];
    float *r = malloc(n * sizeof *r);
    if (!r || fread(head, 1, 10, f) != 10 || fseek(f, 10 + head[8] + 256 * head[9], SEEK_SET) != 0 || fread(r, sizeof *r, n, f) != n)
        exit((fputs("photo: the result has another size\n", stderr), 1));
    fclose(f);
    return r;
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    FILE *f = open_or_exit(argv[2]);
    if (fscanf(f, "P5 %d %d 255%*c", &width, &height) != 2)
        return 1;
    size_t n = (size_t)width * (size_t)height;
    image = malloc(n);
    if (!image || fread(image, 1, n, f) != n)
        return 1;
    fclose(f);
    float *result = load_result(argv[3], n);
    double worst = 0, (*kernel)(int, int) = strcmp(argv[1], "sobel") == 0 ? sobel : blur;
    for (int i = 0; i < height; i++)
        for (int j = 0; j < width; j++) {
            double want = kernel(i, j), d = fabs(result[(size_t)i * (size_t)width + (size_t)j] - want) / fmax(1, want);
            if (!(d <= worst))
                worst = d;
        }
    printf("%s of %d x %d: largest relative difference %g\n", argv[1], width, height, worst);
    free(image);
    free(result);
    return !(worst < 1e-5);
}
