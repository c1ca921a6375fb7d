#compdef memctl
# memctl completion for zsh. Keep it as _memctl in a folder of $fpath
_memctl() {
    local each value shown
    local -a values shows open opens
    for each in "${(@f)$(command ${(Q)words[1]} __complete zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
        value=${each%%$'\t'*}
        shown=$value
        [[ $each == *$'\t'* ]] && shown="$value  -- ${each#*$'\t'}"
        case $value in
            '') ;;
            :files) _files && return ;;
            *:) open+=("$value"); opens+=("$shown") ;;
            *) values+=("$value"); shows+=("$shown") ;;
        esac
    done
    (( $#open )) && compadd -U -l -V memctl -S '' -d opens -a open
    (( $#values )) && compadd -U -l -V memctl -d shows -a values
}
if [[ $funcstack[1] == _memctl ]]; then
    _memctl "$@"
else
    compdef _memctl memctl
fi
