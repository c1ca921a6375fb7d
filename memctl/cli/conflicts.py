"""The commands about what disagrees: list it, and settle it by adding a line."""

from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import Usage
from ..facts import Kind, is_trusted
from ..hits import Hit, hit_json
from ..markdown.printable import one_line
from .call import Call, command

if TYPE_CHECKING:
    from ..conflicts.listing import Conflict

__all__ = ["register"]

_BOLD, _FAINT, _YELLOW = 1, 2, 33


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    command(app, "conflicts", "memctl conflicts --about Curlew")(conflicts)
    command(app, "resolve", 'memctl resolve f-1a2b3c4d --over f-5e6f7a8b --because "counted again"')(resolve)


def conflicts(
    call: Call,
    about: Annotated[
        str | None, typer.Option("--about", "-a", metavar="NAME", help="Only what is about that name.")
    ] = None,
) -> int:
    """List facts that disagree, two by two, with the rule that found them. Exit code 1 if there are none."""
    from ..conflicts.listing import conflicts as run

    with call.out.progress("comparing") as progress:
        memory = call.memory
        memory.progress = progress
        found = run(memory, about)
    if call.out.json:
        listed = [
            {"rule": c.rule, "reason": c.reason, "about": list(c.about), "sides": [hit_json(hit) for hit in c.sides]}
            for c in found
        ]
        call.out.raw_json({"schema": 1, "conflicts": listed})
        return 0 if found else 1
    for number, conflict in enumerate(found, 1):
        _print_conflict(call, number, conflict)
    if found:
        first, second = (hit.ref for hit in found[0].sides)
        call.out.note(
            f"to settle one: memctl resolve {first} --over {second}, or memctl resolve {first} {second} --both"
        )
    else:
        call.out.note("nothing disagrees" + (f" about {about}" if about else ""))
    return 0 if found else 1


def _print_conflict(call: Call, number: int, conflict: "Conflict") -> None:
    out = call.out
    reason = f": {conflict.reason}" if conflict.reason else ""
    out.emit(f"{out.style(f'{number}.', _BOLD)} {out.style(conflict.rule + reason, _BOLD)}")
    for hit in conflict.sides:
        place = out.link(str(hit.source), call.workspace.root / hit.source.path)
        facts = [hit.day or "undated", _kind(hit), ", ".join(hit.entities)]
        about = " · ".join(out.style(one_line(part), _FAINT) for part in facts if part)
        mark = "" if is_trusted(hit.origin) else " " + out.style(f"[untrusted: {hit.origin}]", _YELLOW)
        out.emit(f"   {place} · {about}{mark} {out.style('^' + hit.ref, _FAINT)}")
        out.line(f"      {one_line(hit.content)}")


def _kind(hit: Hit) -> str:
    confidence = f" {hit.confidence:g}" if hit.confidence is not None else ""
    return "" if hit.kind is Kind.NOTE else hit.kind.value + confidence


def resolve(
    call: Call,
    reference: Annotated[list[str], typer.Argument(metavar="REF…", help="The line that stands: an id or a citation.")],
    over: Annotated[
        str | None, typer.Option("--over", metavar="REF", help="The line that was never true, or no longer is.")
    ] = None,
    both: Annotated[
        bool, typer.Option("--both", help="Two lines that hold side by side: not to be listed again.")
    ] = False,
    since: Annotated[
        str | None, typer.Option("--from", metavar="DAY", help="The other one was true until then [default: never].")
    ] = None,
    because: Annotated[str | None, typer.Option("--because", metavar="TEXT", help="Why, kept with the line.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Print the diff and write nothing.")] = False,
) -> None:
    """Settle two lines that disagree, by adding one to today's log. Nothing is deleted."""
    from ..conflicts.resolve import resolve as run
    from .printing import print_retained

    named = [*reference, *([over] if over else ())]
    if len(named) != 2 or (over is None and not both):
        raise Usage("resolve takes two references", "memctl resolve REF --over REF, or memctl resolve REF REF --both")
    done = run(
        call.memory, named[0], named[1], both=both, since=_day(since, call.today), because=because, dry_run=dry_run
    )  # fmt: skip
    print_retained(call, done, dry_run)


def _day(written: str | None, today: date) -> date | None:
    from ..language.dates import parse_when

    if written is None:
        return None
    period = parse_when(written, today)
    if period is None or period.first is None:
        raise Usage(f"--from {written!r} is not a day", "write 2025-11-27 or yesterday")
    return period.first
