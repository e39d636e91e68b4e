# cc.sh -O0 CC ARGUMENT...: a C compiler optimised less. The fuzzer is about ptoc, and has many programs to build.
level=$1
shift
exec "$@" "$level"
