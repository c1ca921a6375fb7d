"""The command forget: selectors in, the diff or what was forgotten out. What is gone is named by id and place, never by its text."""

from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import Usage
from ..markdown.printable import one_line
from .call import Call, command

if TYPE_CHECKING:
    from ..forget.forget import Forgetting

__all__ = ["register"]

_ORIGINS = ("owner", "user", "agent", "tool", "web", "import")
_MOST_LEFT = 20
BOLD, FAINT, RED, GREEN, YELLOW = 1, 2, 31, 32, 33


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    command(app, "forget", "memctl forget --expired --apply")(forget)


def forget(
    call: Call,
    ids: Annotated[list[str] | None, typer.Option("--id", metavar="ID", help="That line; may be given again.")] = None,
    about: Annotated[
        list[str] | None, typer.Option("--about", "-a", metavar="NAME", help="Lines about them, by any of their names.")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="SRC", help="From there: web, tool, import, import:lab, agent …")
    ] = None,
    before: Annotated[
        str | None, typer.Option("--before", metavar="WHEN", help="Told before that day: 2025-01, or 90d ago.")
    ] = None,
    expired: Annotated[
        bool, typer.Option("--expired", help="Facts whose ttl= ran out, or whose until= or t= is past.")
    ] = False,
    unused: Annotated[
        bool, typer.Option("--unused", help="Old facts of low importance that nothing cites and no slot holds.")
    ] = False,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="List what could go, with the reason each, and change nothing.")
    ] = False,
    include_exempt: Annotated[
        bool, typer.Option("--include-exempt", help="With --about or --source: what is exempt, too.")
    ] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="Do it; without this the diff is shown and nothing changes.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Print the diff and write nothing; this is the default.")
    ] = False,
) -> int:
    """Forget lines: a tombstone without the text stays in their place, and every copy goes. Selectors all must hold.

    Exempt but for --id: identity, health, relationships, preferences, security, what is pinned (i=0.9), notes outside
    the logs.
    """
    from ..forget.forget import forget as run
    from ..forget.forget import suggest as look
    from ..forget.rules import Asked
    from ..index.open_memory import OpenMemory

    if apply and (dry_run or suggest):
        raise Usage(f"--apply and {'--dry-run' if dry_run else '--suggest'} together", "choose one")
    asked = Asked(
        tuple(ids or ()),
        tuple(about or ()),
        _source(source),
        _before(before, call.today),
        expired,
        unused,
        include_exempt,
    )
    memory = OpenMemory(call.workspace, lambda: call.now)
    if suggest:
        return _print_suggested(call, look(memory, asked))
    return _print_forgotten(call, run(memory, asked, apply=apply), apply)


def _source(written: str | None) -> str | None:
    if written is not None and written.partition(":")[0] not in _ORIGINS:
        raise Usage(f"--source {written!r} is no origin", f"one of {', '.join(_ORIGINS)}, with or without :name")
    return written


def _before(written: str | None, today: date) -> date | None:
    from ..language.dates import parse_when

    if written is None:
        return None
    period = parse_when(written, today)
    if period is None or period.first is None:
        raise Usage(f"--before {written!r} is not understood", "write 2025-11-27, 2025-11 or 90d")
    return period.first


# -- answers ----------------------------------------------------------------------------------------------------------


def _print_suggested(call: Call, done: "Forgetting") -> int:
    if call.out.json:
        lines = [{**_line_json(line), "content": line.content} for line in done.lines]
        call.out.raw_json({"schema": 1, "suggestions": lines, "exempt": done.exempt, "left": done.left})
        return 0 if done.lines else 1
    for line in done.lines:
        place = call.out.link(str(line.citation), call.workspace.root / line.citation.path)
        call.out.emit(f"{place} {call.out.style('^' + line.ref, FAINT)} {call.out.style(line.reason, YELLOW)}")
        call.out.line(f"   {one_line(line.content or '')}")
    _print_rest(
        call, done, "nothing to suggest" if not done.lines else "`memctl forget --id ID` shows how each would go"
    )
    return 0 if done.lines else 1


def _print_forgotten(call: Call, done: "Forgetting", applied: bool) -> int:
    code = 0 if done.lines or done.already else 1
    if call.out.json:
        answer: dict[str, Any] = {"schema": 1, "dry_run": not applied, "forgotten": [_line_json(x) for x in done.lines]}
        answer |= {"scrubbed": done.scrubbed, "beliefs": done.beliefs, "left": done.left, "exempt": done.exempt}
        already = [str(place) for place in done.already]
        call.out.raw_json(answer | {"already": already, "diff": done.diff, "warnings": done.warnings})
        return code
    for row in done.diff.split("\n")[:-1]:
        colour = (GREEN,) if row.startswith("+") else (RED,) if row.startswith("-") else ()
        call.out.emit(call.out.style(row, *colour))
    for line in done.lines if applied else ():
        why = f" ({line.reason})" if line.reason else ""
        call.out.line(f"forgotten: {line.citation} ^{line.ref}{why}")
    for ref in done.beliefs if applied else ():
        call.out.line(f"forgotten: belief ^{ref}")
    for path in done.scrubbed if applied else ():
        call.out.line(f"written anew: {path}")
    for place in done.already:
        call.out.note(f"forgotten before: {place}")
    count = len(done.lines)
    would = f"{count} {'line' if count == 1 else 'lines'} would be forgotten; --apply does it"
    _print_rest(
        call, done, "" if applied and done.lines else would if done.lines else "nothing to forget" if code else ""
    )
    return code


def _print_rest(call: Call, done: "Forgetting", summary: str) -> None:
    for text in done.left[:_MOST_LEFT]:
        call.out.note(f"stays: {text}")
    if len(done.left) > _MOST_LEFT:
        call.out.note(f"stays: and {len(done.left) - _MOST_LEFT} more; --json lists them")
    if done.exempt:
        told = ", ".join(f"{count} {why}" for why, count in sorted(done.exempt.items()))
        call.out.note(f"exempt: {told}; --id forgets one by name")
    for text in done.warnings:
        call.out.note(f"warning: {text}")
    if summary:
        call.out.note(summary)


def _line_json(line: Any) -> dict[str, Any]:
    return {"id": line.ref, "source": str(line.citation), "kind": line.kind.value, "reason": line.reason}
