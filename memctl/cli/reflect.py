"""The commands of reflect: reflect itself, the beliefs it keeps, and why something is held."""

from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import Usage
from ..facts import Kind
from ..markdown.printable import one_line
from .call import Call, command

if TYPE_CHECKING:
    from ..beliefs.view import BeliefView, Reasons
    from ..hits import Hit
    from ..markdown.evidence_line import Bullet
    from ..reflect.reflect import Reflected

__all__ = ["register"]

AsOf = Annotated[
    str | None, typer.Option("--as-of", metavar="WHEN", help="Answer as of that day, from what was known by then.")
]
_TRENDS = {"rising": "↗", "falling": "↘", "steady": "→"}


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    belief = typer.Typer(help="What is believed, how firmly, and why.", no_args_is_help=True, rich_markup_mode=None)
    command(app, "reflect", "memctl reflect --since 7d")(reflect)
    app.add_typer(belief, name="belief")
    command(belief, "list", "memctl belief list --about Peter")(belief_list)
    command(belief, "show", "memctl belief show o-7k3dq2ma --as-of 2025-11")(belief_show)
    command(app, "why", "memctl why f-1a2b3c4d")(why)


def reflect(
    call: Call,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="WHEN", help="Only what facts from then on touch: 7d, 2025-11 [default: all]."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Print the diff and write nothing.")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Write the pages; this is the default.")] = False,
    propose_core: Annotated[
        bool, typer.Option("--propose-core", help="Write proposals for memory.md to bank/proposals.md, too.")
    ] = False,
    accept: Annotated[
        int | None,
        typer.Option("--accept", metavar="N", min=1, help="Apply proposal N to memory.md, and nothing else."),
    ] = None,
    refuse: Annotated[int | None, typer.Option("--refuse", metavar="N", min=1, help="Never propose N again.")] = None,
) -> None:
    """Turn facts into entity pages, beliefs with evidence, and lessons, each line cited. Quiet if nothing changed."""
    from ..index.open_memory import OpenMemory
    from ..reflect.reflect import reflect as run

    if dry_run and apply:
        raise Usage("--dry-run and --apply together", "choose one")
    if accept is not None or refuse is not None:
        _decide(call, accept, refuse, dry_run)
        return
    with call.out.progress("reflecting") as progress:
        memory = OpenMemory(call.workspace, lambda: call.now, progress=progress)
        first = _since(since, call.today)
        done = run(memory, since=first, dry_run=dry_run, propose=propose_core)
    _print_reflected(call, done, dry_run)


def _decide(call: Call, accept: int | None, refuse: int | None, dry_run: bool) -> None:
    from ..index.open_memory import OpenMemory
    from ..reflect import proposals

    if accept is not None and refuse is not None:
        raise Usage("--accept and --refuse together", "one after the other")
    number = accept if accept is not None else refuse or 0
    job = proposals.accept if accept is not None else proposals.refuse
    change = job(OpenMemory(call.workspace, lambda: call.now), number, dry_run)
    if call.out.json:
        call.out.raw_json({"schema": 1, "number": number, "applied": not dry_run, "diff": change})
    elif dry_run and change:
        for line in change.removesuffix("\n").split("\n"):
            call.out.line(line)
    else:
        page = "memory.md" if accept is not None else "bank/proposals.md"
        if change:
            call.out.line(page)
        else:
            call.out.note(f"{page} says so already; nothing changed")


def _since(written: str | None, today: date) -> date | None:
    from ..language.dates import parse_when

    if written is None:
        return None
    period = parse_when(written, today)
    if period is None or period.first is None:
        raise Usage(f"--since {written!r} is not understood", "write 7d, 2025-11-27 or 2025-11")
    return period.first


def _print_reflected(call: Call, done: "Reflected", dry_run: bool) -> None:
    out = call.out
    if out.json:
        out.raw_json(_reflected_json(done, dry_run))
        return
    for note in done.notes:
        out.note(note)
    if dry_run:
        for line in filter(None, done.diff.split("\n")):
            out.line(line)
        return
    for path in done.pages:
        out.line(path)
    for moved in done.beliefs if done.pages else ():
        before = "new" if moved.before is None else f"{moved.before:.2f}"
        after = "taken back" if moved.after is None else f"{moved.after:.2f}"
        out.line(f"{before} → {after}  {one_line(moved.text)}  ^{moved.ref}")
    if done.conflicts and done.pages:
        out.note(f"{done.conflicts} conflicts; `memctl conflicts` shows them")


def _reflected_json(done: "Reflected", dry_run: bool) -> dict[str, Any]:
    return {
        "schema": 1,
        "applied": not dry_run,
        "pages": done.pages,
        "beliefs": [
            {"id": moved.ref, "content": moved.text, "before": moved.before, "after": moved.after}
            for moved in done.beliefs
        ],
        "conflicts": done.conflicts,
        "warnings": done.notes,
        **({"diff": done.diff} if dry_run else {}),
    }


# -- beliefs ----------------------------------------------------------------------------------------------------------


def belief_list(
    call: Call,
    about: Annotated[
        str | None, typer.Option("--about", "-a", metavar="NAME", help="Only those about that name.")
    ] = None,
    as_of: AsOf = None,
) -> int:
    """Every belief, the firmest first, with its trend. Exit code 1 if there are none."""
    from ..beliefs.view import beliefs

    found = beliefs(call.memory, about=about, as_of=_day(as_of, call.today))
    if call.out.json:
        call.out.raw_json({"schema": 1, "beliefs": [belief_json(view) for view in found]})
        return 0 if found else 1
    for view in found:
        call.out.line(_headline(view))
    if not found:
        call.out.note("no beliefs yet; `memctl reflect` makes them from lines such as `- O(0.8) @Peter: …`")
    return 0 if found else 1


def belief_show(
    call: Call,
    reference: Annotated[
        list[str],
        typer.Argument(metavar="ID", help="The id of a belief or of the line that stated it, or words of it."),
    ],
    as_of: AsOf = None,
) -> None:
    """One belief with its whole evidence."""
    from ..beliefs.view import show_belief

    view = show_belief(call.memory, " ".join(reference), as_of=_day(as_of, call.today))
    if call.out.json:
        call.out.raw_json({"schema": 1, **belief_json(view)})
        return
    _print_belief(call, view)


def why(
    call: Call,
    reference: Annotated[str, typer.Argument(metavar="ID", help="The id of a fact or a belief.")],
    as_of: AsOf = None,
) -> None:
    """Why something is held: what it replaced, what replaced it, the evidence that it rests on or belongs to."""
    from ..beliefs.view import why as run

    reasons = run(call.memory, reference, as_of=_day(as_of, call.today))
    if call.out.json:
        call.out.raw_json(_reasons_json(reasons))
        return
    for title, hits in (("", reasons.hits), ("replaced by", reasons.replaced_by), ("replaces", reasons.replaces)):
        for hit in hits:
            said = f"{title} " if title else ""
            call.out.line(
                f"{said}{hit.source} · {hit.day or 'undated'} · {_kind(hit)} · {one_line(hit.content)} ^{hit.ref}"
            )
    for view in reasons.beliefs:
        _print_belief(call, view)


def _kind(hit: "Hit") -> str:
    return hit.kind.value if hit.kind is not Kind.NOTE else "note"


def _reasons_json(reasons: "Reasons") -> dict[str, Any]:
    from ..hits import hit_json

    named = {"facts": reasons.hits, "replaced_by": reasons.replaced_by, "replaces": reasons.replaces}
    return {
        "schema": 1,
        **{name: [hit_json(hit) for hit in hits] for name, hits in named.items()},
        "beliefs": [belief_json(view) for view in reasons.beliefs],
    }


def _headline(view: "BeliefView") -> str:
    standing = view.standing
    names = " ".join(f"@{name}" for name in view.entities)
    over = f" · over since {view.over}" if view.over else ""
    contested = " · contested" if standing.contested else ""
    return (
        f"{standing.confidence:.2f} {_TRENDS[standing.trend]} {names}{': ' if names else ''}{one_line(view.text)}"
        f"{contested}{over} ^{view.ref}"
    )


def _print_belief(call: Call, view: "BeliefView") -> None:
    standing = view.standing
    call.out.line(_headline(view))
    call.out.line(
        f"  {view.place} · ±{standing.deviation:.2f} · for {standing.weight_for:g}, against {standing.weight_against:g}"
    )
    for bullet in view.evidence:
        call.out.line(f"  {_bullet_line(bullet)}")


def _bullet_line(bullet: "Bullet") -> str:
    from ..markdown.evidence_line import render_bullet

    shown = render_bullet(bullet._replace(citation=None, ref=None))
    place = f" · {bullet.citation}" if bullet.citation else ""
    return f"{shown}{place}" + (f" ^{bullet.ref}" if bullet.ref else "")


def belief_json(view: "BeliefView") -> dict[str, Any]:
    """The JSON object of a belief."""
    standing = view.standing
    return {
        "id": view.ref,
        "content": view.text,
        "entities": list(view.entities),
        "confidence": round(standing.confidence, 4),
        "deviation": round(standing.deviation, 4),
        "for": standing.weight_for,
        "against": standing.weight_against,
        "trend": standing.trend,
        "contested": standing.contested,
        "over": str(view.over) if view.over else None,
        "source": str(view.place),
        "evidence": [_evidence_json(bullet) for bullet in view.evidence],
    }


def _evidence_json(bullet: "Bullet") -> dict[str, Any]:
    return {
        "day": str(bullet.day),
        "verdict": bullet.verdict,
        "strength": bullet.strength if bullet.verdict in ("for", "against") else None,
        "number": bullet.number,
        "after": bullet.after,
        "source": str(bullet.citation) if bullet.citation else None,
        "gone": bullet.gone,
        "reason": bullet.reason,
        "id": bullet.ref,
    }


def _day(written: str | None, today: date) -> date | None:
    from .app import _as_of

    return _as_of(written, today)
