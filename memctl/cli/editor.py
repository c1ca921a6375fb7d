"""The owner's editor: a page is opened at a line, or a text is given to it and taken back."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ..errors import Usage

_USUAL = ("sensible-editor", "editor", "nano", "vim", "vi", "notepad")
_NAME_ONE = "name one: export EDITOR=nano"
_AT_LINE = {
    "vi vim nvim view gvim mvim nano pico emacs emacsclient kak micro joe jed ne mcedit gedit bbedit sensible-editor editor": "+{line} {path}",
    "code code-insiders code-oss codium vscodium cursor windsurf trae": "--goto {path}:{line}",
    "subl sublime_text zed zeditor hx helix lapce atom": "{path}:{line}",
    "idea pycharm webstorm goland clion rubymine phpstorm rider rustrover studio fleet": "--line {line} {path}",
    "kate kwrite mate": "-l {line} {path}",
    "notepad++": "-n{line} {path}",
}
"""How editors are told the line; any other is told by a command of its own: EDITOR='ed2 {path}:{line}'."""
_IN_TERMINAL = "vi vim nvim view nano pico emacs kak micro joe jed ne mcedit hx helix sensible-editor editor"


def edit_text(text: str, suffix: str) -> str | None:
    """The text as the owner saved it; None where nothing was saved. Usage where there is no editor, or it fails."""
    with tempfile.TemporaryDirectory(prefix="memctl-") as folder:  # mode 0700
        path = Path(folder, f"memctl{suffix}")
        path.write_text(text, "utf-8")
        os.utime(path, ns=(0, 0))  # so that a save shows, however coarse the clock of the disk
        run_editor(editor_command(path))
        return path.read_text("utf-8", "replace") if path.stat().st_mtime_ns else None


def editor_command(path: Path, line: int | None = None) -> list[str]:
    """The words that open a file in the owner's editor, at a line if it is known how. Usage where no editor is set.

    Only the environment names it: settings travel with a folder, and a folder of somebody else's must not start programs.
    """
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or next(filter(shutil.which, _USUAL), "")
    try:
        words = shlex.split(named)
    except ValueError as error:
        raise Usage(f"the editor {named!r} does not start: {error}", _NAME_ONE) from error
    if not words:
        raise Usage("no editor is set", _NAME_ONE)
    if not any("{path}" in word for word in words):
        known = (way for names, way in _AT_LINE.items() if line and _program(words) in names.split())
        words += next(known, "{path}").split()
    return [word.replace("{line}", str(line or 1)).replace("{path}", str(path)) for word in words]


def _program(words: list[str]) -> str:
    return Path(words[0]).name.lower().removesuffix(".exe").removesuffix(".cmd")


def needs_terminal(command: list[str]) -> bool:
    """True for an editor that draws in the terminal, where there is none."""
    return _program(command) in _IN_TERMINAL.split() and not (sys.stdin.isatty() and sys.stdout.isatty())


def run_editor(command: list[str]) -> None:
    """Start an editor and wait until it is left. Usage where it does not start, or ends with an error."""
    try:
        code = subprocess.run(command, check=False).returncode
    except OSError as error:
        raise Usage(f"the editor {command[0]!r} does not start: {error.strerror}", _NAME_ONE) from error
    if code:
        raise Usage(f"the editor {command[0]!r} ended with {code}", "nothing was changed; try again")
