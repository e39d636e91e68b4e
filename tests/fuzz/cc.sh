# A C compiler's command line, optimised less: the fuzzer is about ptoc, and has many programs to build.
exec "$@" -O1
