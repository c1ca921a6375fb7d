"""The command that prints what a shell needs to complete all others."""

from pathlib import Path

import typer

from .call import Call, argument, command, one_of

_SHELLS = ("bash", "zsh", "fish")
_SCRIPTS = Path(__file__).parents[1] / "shell"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    command(app, "completion", "memctl completion fish > ~/.config/fish/completions/memctl.fish")(completion)


def completion(call: Call, shell: str = argument("SHELL", "bash, zsh or fish.")) -> None:
    """Print the script by which a shell completes commands, options, names, keys, ids and days at TAB.

    It is printed once: it asks memctl itself, and so stays right when that is updated. A new shell reads it from

    \b
    bash  ~/.local/share/bash-completion/completions/memctl
          (without the package bash-completion: source it in ~/.bashrc)
    zsh   a folder of $fpath, as _memctl:
          mkdir -p ~/.zfunc; memctl completion zsh > ~/.zfunc/_memctl
          and in ~/.zshrc: fpath+=~/.zfunc; autoload -Uz compinit; compinit
    fish  ~/.config/fish/completions/memctl.fish
    """
    one_of("shell", shell, _SHELLS)
    for line in (_SCRIPTS / f"completion.{shell}").read_text("utf-8").splitlines():
        call.out.line(line)
