# samples/embed/cmake: find_package(pto) and pto_add_kernel.
. "$SOURCE/tests/install/common"
need cmake
install_here
cmake -S embed/cmake -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS="$flags"
cmake --build build
check_app build/app
cmake --build build | grep -q 'Compiling kernel' && { echo "a second build compiled the kernel again"; exit 1; }
touch embed/smooth.pto
cmake --build build | grep -q 'Compiling kernel' || { echo "a changed .pto is not noticed"; exit 1; }
