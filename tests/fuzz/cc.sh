# cc.sh -O0 CC ARGUMENT...: a C compiler optimised less, and without patience. The fuzzer is about ptoc, and has many
# programs to build; what it builds has to be clean.
level=$1
shift
exec "$@" "$level" -Wall -Wextra -Wpedantic -Werror
