"""The man page, of the same commands and options as their help; bench/help.py writes it to docs/memctl.1."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from memctl import __version__, errors

SHARED = ("workspace", "json", "quiet", "now", "debug")
ENVIRONMENT = {
    "MEMCTL_WORKSPACE": "The workspace, where -w names none.",
    "MEMCTL_NOW": "The present, where --now names none.",
    "MEMCTL_VECTORS": "Stands for model under [vectors] in memctl.toml; none: words only.",
    "VISUAL, EDITOR": "What opens a page.",
    "NO_COLOR": "If set, nothing is coloured.",
}
FILES = {
    "memctl.toml": "Settings of the workspace, all optional.",
    "memory.md": "What is always true and always needed.",
    "memory/YYYY-MM-DD.md": "The log of a day; only ever appended to.",
    "bank/": "Pages that reflect writes into, and any other documents.",
    ".memory/": "The index and vectors, derived: delete it at any moment.",
}


def man_page(commands: Iterable[tuple[str, Any]]) -> str:
    """The page in the macros of man(7); `commands` are their words and what the parser knows of them."""
    listed = list(commands)
    return "\n".join(_lines(listed)) + "\n"


def _lines(commands: list[tuple[str, Any]]) -> Iterator[str]:
    (_, program), *rest = commands
    yield f'.TH MEMCTL 1 "" "memctl {__version__}" "User Commands"'
    yield from (".SH NAME", f"memctl \\- {_text(program.help).rstrip('.')}")
    yield from (".SH SYNOPSIS", ".B memctl", ".I COMMAND", '.RI [ OPTION "]... [" ARGUMENT ]...')
    yield from (".SH COMMANDS", "Each has \\fB\\-\\-help\\fR.")
    for path, command in rest:
        yield from _command(path, command)
    shared = [each for each in rest[0][1].params if each.name in SHARED]
    yield from (".SH OPTIONS OF ALL COMMANDS", *(line for each in shared for line in _option(each)))
    yield from (".SH ENVIRONMENT", *_listed(ENVIRONMENT))
    yield from (".SH FILES", *_listed(FILES))
    yield from (".SH EXIT STATUS", *_listed(_codes()))


def _command(path: str, command: Any) -> Iterator[str]:
    if getattr(command, "commands", None):
        return
    arguments = " ".join(
        each.metavar or each.name.upper() for each in command.params if each.param_type_name == "argument"
    )
    yield f'.SS "memctl {_text(f"{path} {arguments}".rstrip())}"'
    for at, part in enumerate(command.help.split("\n\n")):
        as_written = part.startswith("\b")
        lines = part.removeprefix("\b").strip("\n").split("\n")
        yield from [".PP"] if at else []
        yield from [".nf", *map(_text, lines), ".fi"] if as_written else [_text(" ".join(lines))]
    for each in command.params:
        if each.name not in SHARED and not each.hidden:
            yield from _option(each)


def _option(each: Any) -> Iterator[str]:
    if each.param_type_name == "argument":
        names = f"\\fI{_text(each.metavar or each.name.upper())}\\fR"
    else:
        names = ", ".join(f"\\fB{_text(name)}\\fR" for name in (*each.opts, *each.secondary_opts))
        names += f" \\fI{_text(each.metavar or each.type.name.upper())}\\fR" if not each.is_flag else ""
    yield from (".TP", names, _text(each.help or ""))


def _listed(rows: dict[str, str]) -> Iterator[str]:
    for name, told in rows.items():
        yield from (".TP", f"\\fB{_text(name)}\\fR", _text(told))


def _codes() -> dict[str, str]:
    """Exit codes with what they mean, by the table at the head of errors.py."""
    rows = re.findall(r"^\W*\w+ +(\d+)  (.+)$", errors.__doc__ or "", re.M)
    told: dict[str, list[str]] = {"0": ["done"]}
    for code, meaning in sorted(rows, key=lambda row: int(row[0])):
        told.setdefault(code, []).append(meaning)
    return {code: "; ".join(meanings) + "." for code, meanings in told.items()} | {"130": "interrupted."}


def _text(text: str) -> str:
    """Plain text as roff reads it: no line of it is a request, no character a mark."""
    named = {"\\": "\\e", "-": "\\-", '"': "\\(dq", "'": "\\(aq", "`": "\\(ga", "~": "\\(ti", "^": "\\(ha"}
    spelled = (named.get(char) or (char if char.isascii() else f"\\[u{ord(char):04X}]") for char in text)
    return re.sub(r"^\.", r"\\&.", "".join(spelled))
