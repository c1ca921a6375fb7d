"""The owner's editor: a text is given to $VISUAL or $EDITOR and taken back."""

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from ..errors import Usage

_USUAL = ("sensible-editor", "editor", "nano", "vim", "vi", "notepad")


def edit_text(text: str, suffix: str) -> str | None:
    """The text as the owner saved it; None where nothing was saved. Usage where there is no editor, or it fails."""
    with tempfile.TemporaryDirectory(prefix="memctl-") as folder:  # mode 0700
        path = Path(folder, f"memctl{suffix}")
        path.write_text(text, "utf-8")
        os.utime(path, ns=(0, 0))  # so that a save shows, however coarse the clock of the disk
        run_editor(path)
        return path.read_text("utf-8", "replace") if path.stat().st_mtime_ns else None


def run_editor(path: Path, *options: str) -> None:
    """Open a file and wait until the editor is left. Usage where there is no editor, or it ends with an error."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or next(filter(shutil.which, _USUAL), "")
    if not named:
        raise Usage("no editor is set", "name one: export EDITOR=nano")
    try:
        code = subprocess.run([*shlex.split(named), *options, str(path)], check=False).returncode
    except (OSError, ValueError) as error:
        raise Usage(f"the editor {named!r} does not start: {error}", "name another: export EDITOR=nano") from error
    if code:
        raise Usage(f"the editor {named!r} ended with {code}", "nothing was changed; try again")
