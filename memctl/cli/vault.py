"""Sealed lines on the command line: who opens them, sealing one, and showing what was opened on this terminal alone."""

import contextlib
import getpass
import io
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..errors import Usage
from ..markdown.escape import many
from .call import DRY_RUN, Call, argument, command, one_of

if TYPE_CHECKING:
    from ..memory import Vault


@command("vault", "memctl vault add age1qyqszqgp…")
def vault(
    call: Call,
    action: str = argument("[ACTION]", "list, add, remove or rekey.", default="list"),
    recipient: str = argument("[RECIPIENT]", "Whom to add or remove: a public key of age.", default=""),
    dry_run: bool = DRY_RUN,
) -> int:
    """Who opens the sealed lines.

    `add` and `remove` seal every line again; what somebody has copied, and git's history, they still read. `rekey` puts a
    new key in the place of the one here, which stays for old versions of pages.
    """
    one_of("ACTION", action, ("list", "add", "remove", "rekey"))
    held = call.memory.vault(ask)
    if action == "list":
        found = held.recipients()
        if call.out.json:
            call.out.raw_json({"schema": 1, "recipients": [{"key": key, "here": here} for key, here in found.items()]})
        else:
            call.out.table(("recipient", "here"), list(found.items()))
        return 0
    done = held.change(action, recipient, dry_run=dry_run)
    call.out.note(*done.notes)
    if call.out.json:
        call.out.raw_json({"schema": 1, "dry_run": dry_run} | done._asdict())
    elif dry_run:
        call.out.diff(done.diff)
    else:
        call.out.line(f"{many(done.lines, 'line')} sealed again")
    return 1 if done.left else 0


def ask(prompt: str) -> str:
    """What the owner types on the terminal, unseen; Usage without a terminal."""
    if not sys.stdin.isatty():
        raise Usage(f"there is nobody to ask: {prompt}", "run it on a terminal")
    return getpass.getpass(prompt)


@contextlib.contextmanager
def unsealed(call: Call, format: str = "text") -> Iterator["Vault"]:
    """The vault, to open lines: what is printed meanwhile stands on this terminal until Enter, and never in a pipe."""
    is_screen = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    if call.out.json or format != "text" or not is_screen:
        raise Usage("--unseal shows text on a terminal alone", "leave out the pipe, --json and --format")
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        yield call.memory.vault(ask)
    call.out.show_once(shown.getvalue())
