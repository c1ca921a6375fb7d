# memctl completion for bash. Keep it in ~/.local/share/bash-completion/completions/memctl
_memctl() {
    local each
    COMPREPLY=()
    while IFS= read -r each; do
        case $each in
            :files) compopt -o default 2>/dev/null ;;
            *:) COMPREPLY+=("$each"); compopt -o nospace 2>/dev/null ;;
            *) COMPREPLY+=("$each") ;;
        esac
    done < <(command "$1" __complete bash "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
}
complete -o nosort -F _memctl memctl 2>/dev/null || complete -F _memctl memctl
