# cc.sh -O0 CC ARGUMENT...: a C compiler optimised less, and without patience. The fuzzer is about ptoc, and has many
# programs to build; what it builds has to be clean: ptoc's own -w, which would hide that, is left out. Sanitizers make compilers warn of
# what is not there.
level=$1
shift
case " $* " in
*" -fsanitize="*) exec "$@" "$level" ;;
esac
for word; do
    shift
    [ "x$word" = x-w ] || set -- "$@" "$word"
done
exec "$@" "$level" -Wall -Wextra -Wpedantic -Werror
