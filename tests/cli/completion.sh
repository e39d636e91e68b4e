# Completion is made from the table of options: bash and zsh take the scripts, and bash completes with them.
"$PTOC" --completion=zsh >_ptoc
head -n 1 _ptoc | grep -qx '#compdef ptoc'
! command -v zsh >/dev/null 2>&1 || zsh -n _ptoc
command -v bash >/dev/null 2>&1 || exit 77
"$PTOC" --completion=bash >ptoc.bash

# complete EXPECTED WORD...: the last word is completed; the reply has to hold EXPECTED.
complete() {
    expected=$1
    shift
    reply=$(bash -c '. ./ptoc.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ptoc; printf "%s\n" "${COMPREPLY[@]}"' - "$@" 2>err.txt)
    printf '%s\n' "$reply" | grep -qxe "$expected" || { echo "'$*' does not complete to $expected but to:"; echo "$reply"; cat err.txt; exit 1; }
}
complete profile "$PTOC" pro
complete --explain "$PTOC" --expl
complete --effort= "$PTOC" check --eff
complete dynamic "$PTOC" run --mode = dyn
complete davinci "$PTOC" --target = dav
complete fuse "$PTOC" --dump-after = fu
complete --emit-ir=tile "$PTOC" --emit-ir=ti
# Every option that --help lists is offered.
for command in "" run check profile info; do
    # shellcheck disable=SC2086
    "$PTOC" $command --help | sed -n 's/^  \(-[-a-zA-Z]*\).*/\1/p' | sort -u | while read -r option; do
        grep -q -e "[' ]$option" ptoc.bash || { echo "$option is not completed"; exit 1; }
    done
done
