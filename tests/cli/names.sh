# No name of C is refused, and none comes in the way: kernels, dimensions, tensors and indices with the names of keywords
# and of all that the headers of C declare and define here, compiled behind all of those headers and run; the header in C++;
# names of the compiler's own making; and what C calls the kernels of a file is as pto(5) says.
. "$SOURCE/tests/cli/common"
openmp=$(echo 'int main(void) { return 0; }' | "$CC" -fopenmp -x c - -o probe 2>/dev/null && echo -fopenmp)
headers='assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic stdbool
    stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype'
keywords='auto break case char const continue default do double else enum extern for goto if inline int long register restrict
    return short signed sizeof static struct switch typedef union unsigned void volatile while float _Alignas _Alignof _Atomic _Bool
    _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local __func__ asm typeof class new delete template operator this
    private public virtual namespace xor concept co_await main'
private='k ctx f frame worker tile status args l i base bytes run0 q0 r0 cpu x_ x_s0 x_big0 y_ y_dense0 _ __ __x _X pto_run pto_min PTO_OK PTO_TARGET
    ptoc_k_enter pto_tensor f32x8 f32x4_generic i32x4 k_kernel k_workspace k_kernel_ int_ int__ int___ pto_run_ k_pto_run k_k_pto_run k_int INT64_MAX_ x_vec0 x_c0 x_s1'
for h in $headers; do
    echo "#include <$h.h>" >one.c
    "$CC" -E one.c >/dev/null 2>&1 && cat one.c
done >all.c

# Every word that those headers contain but for those of an implementation itself, and every macro.
"$CC" -dM -E all.c | sed -n 's/^#define \([A-Za-z]\w*\).*/\1/p' >macros
echo $keywords $private | tr ' ' '\n' >own
{
    cat macros own
    "$CC" -E -P all.c | grep -oE '\<[A-Za-z][A-Za-z0-9_]*'
    grep -oE '"[^"]+"' "$SOURCE/compiler/emit/taken.def" | tr -d '"'
} >all
ours='kernel|schedule|strategy|machine|import|view|where|otherwise|in|on|for|border|if|then|else|nan|inf|lowest|highest|_'
sort -u all | grep -vxE "$ours" >words
sort -u macros own | grep -vxE "$ours" >locals
total=$(wc -l <words)
[ "$total" -gt 1500 ] || die "only $total names"

# A kernel of each name; then inputs, outputs, dimensions and indices of those that C replaces.
awk '{ printf "kernel %s() -> (y: i32) { y = %d; }\n", $1, NR }' words >names.pto
"$PTOC" names.pto -o names.c --target=generic
sed -n 's/^pto_status \(\w*\)(.*/\1/p' names.h >functions
[ "$(sort -u functions | wc -l)" = "$total" ] || die "not one function for each kernel"
awk '{ w[NR - 1] = $1 } END { for (n = 0; n < NR; n += 8)
    printf "kernel all%d(%s: i32[%s, %s, %s]) -> (%s: i32[%s, %s, %s]) { %s[%s, %s, %s] = 2*%s[%s, %s, %s]; }\n", n, w[n], w[(n+1)%NR], w[(n+2)%NR], w[(n+3)%NR],
        w[(n+4)%NR], w[(n+1)%NR], w[(n+2)%NR], w[(n+3)%NR], w[(n+4)%NR], w[(n+5)%NR], w[(n+6)%NR], w[(n+7)%NR], w[n], w[(n+5)%NR], w[(n+6)%NR], w[(n+7)%NR] }' locals >locals.pto
"$PTOC" locals.pto -o locals.c --target=generic
{
    cat all.c
    printf '#include "names.h"\n#include "locals.h"\nint main(void)\n{\n    int64_t shape[3] = {1, 1, 3};\n    int32_t in[3] = {1, 2, 3}, out[3];\n    int wrong = 0;\n'
    printf '    pto_tensor x = pto_tensor_dense(in, PTO_I32, 3, shape), y = pto_tensor_dense(out, PTO_I32, 3, shape);\n'
    awk '{ printf "    wrong += %s(NULL, out) != PTO_OK || out[0] != %d;\n", $1, NR }' functions
    sed -n 's/^pto_status \(\w*\)(.*/    wrong += \1(NULL, \&x, \&y) != PTO_OK || out[0] != 2 || out[2] != 6;/p' locals.h
    printf '    printf("%%d wrong\\n", wrong);\n    return wrong != 0;\n}\n'
} >main.c
# (the warnings of a kernel are those of all)
"$CC" -std=c11 -w -O0 -I "$BUILD/include" -c names.c
"$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror -O0 -DPTO_NO_SPEED_WARNING -I "$BUILD/include" -c locals.c
"$CC" -O0 -Wall -Werror -I . -I "$BUILD/include" main.c names.o locals.o $openmp "$BUILD/lib/libptort.a" $(pkg-config --libs hwloc) -lm -o main
exits 0 env PTO_NUM_THREADS=1 ./main
says out.txt "0 wrong"

# C++ takes the header, before and behind its own.
if echo 'int main() { return 0; }' | c++ -x c++ - -o probe 2>/dev/null; then
    printf '#include "names.h"\n#include <cmath>\n#include <string>\n#include <vector>\n#include <cstdio>\nint main() { return 0; }\n' >one.cc
    c++ -fsyntax-only -Wall -Wextra -Werror -I . -I "$BUILD/include" one.cc
    printf '#include <cmath>\n#include <string>\n#include <algorithm>\n#include "names.h"\nint main() { return 0; }\n' >two.cc
    c++ -fsyntax-only -Wall -Wextra -Werror -I . -I "$BUILD/include" two.cc
fi

# Plain where C can have it, else by the rule.
cat >rule.pto <<'END2'
kernel blur(x: f32[N]) -> (y: f32[N]) { y[i] = x[i]; }
kernel k_means(x: f32[N]) -> (y: f32[N]) { y[i] = x[i]; }
kernel sigmoid(x: f32[N]) -> (y: f32[N]) { y[i] = x[i]; }
kernel exp(x: f32[N]) -> (y: f32[N]) { y[i] = x[i]; }
kernel int(x: f32[N]) -> (y: f32[N]) { y[i] = x[i]; }
kernel int_(x: f32[N]) -> (y: f32[N]) { y[i] = x[i]; }
kernel pto_run(x: f32[N]) -> (y: f32[N]) { y[i] = x[i]; }
kernel _x(x: f32[N]) -> (y: f32[N]) { y[i] = x[i]; }
kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i]; }
kernel k_kernel(x: f32[N]) -> (y: f32[N]) { y[i] = x[i]; }
END2
"$PTOC" rule.pto -o rule.c --target=generic
for name in blur k_means sigmoid exp_ int_ int__ k_pto_run k__x k k_kernel; do
    says rule.h "pto_status $name("
done
says rule.h 'const pto_kernel blur_kernel;'
says rule.h 'const pto_kernel k_kernel_;'
says rule.h 'const pto_kernel k_kernel_kernel;'

# By the names of the source.
"$PTOC" run rule.pto -k pto_run 'x=zeros(2)' --target=generic
"$PTOC" run rule.pto -k k_kernel 'x=zeros(2)' --target=generic
"$PTOC" run rule.pto -k k 'x=zeros(2)' --target=generic
"$PTOC" run rule.pto -k int 'x=zeros(2)' --target=generic
