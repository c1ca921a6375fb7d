# memctl completion for fish. Keep it in ~/.config/fish/completions/memctl.fish
function __memctl_complete
    set -l words (commandline -opc)
    set -l found (command $words[1] __complete fish $words[2..-1] (commandline -ct | string unescape) 2>/dev/null)
    if test "$found" = :files
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $found
    end
end
complete -c memctl -k -f -a '(__memctl_complete)'
