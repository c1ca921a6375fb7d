"""The command `ingest`: a transcript as candidates to look at, and those that were chosen as lines of the logs."""

import re
import sys
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import Usage
from .call import Call, command

if TYPE_CHECKING:
    from ..ingest.ingest import Ingested, IngestOptions, Proposed

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    command(app, "ingest", "memctl ingest chat.jsonl --review")(ingest)


def ingest(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A transcript; - reads it from stdin.")],
    form: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="FORMAT", help="openai, claude-code, codex, chatgpt or markdown [default: by content]."
        ),
    ] = None,
    review: Annotated[
        bool, typer.Option("--review", help="Show the change to the logs as a diff, and all refusals.")
    ] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Keep the candidates, each in the log of its day.")] = False,
    only: Annotated[str | None, typer.Option("--only", metavar="N,N-N", help="Those candidates alone.")] = None,
    but: Annotated[str | None, typer.Option("--except", metavar="N,N-N", help="All candidates but those.")] = None,
    day: Annotated[
        str | None,
        typer.Option("--date", metavar="DAY", help="The day of messages without a time [default: that of the file]."),
    ] = None,
    least: Annotated[
        float, typer.Option("--min-importance", min=0, max=1, metavar="I", help="Refuse what matters less.")
    ] = 0.0,
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="NAME", help="Who says I in it: facts about me are about NAME.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", metavar="NAME", help="Of the file [default: by content].")
    ] = None,
    llm: Annotated[
        bool, typer.Option("--llm/--no-llm", help="Ask the local model of the settings too, if there is one.")
    ] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Write nothing, which is the default.")] = False,
) -> int:
    """Find what is worth keeping in a conversation: decisions, preferences, corrections, outcomes. Writes with --apply."""
    if apply and review and not dry_run:
        raise Usage("--review shows and --apply writes", "look first, then run it again with --apply in its place")
    from ..memory import Memory

    options = _options(call, form, encoding, day, least, owner, llm, only, but)
    writing = apply and not dry_run
    if file == "-":
        given = getattr(sys.stdin, "buffer", None) or BytesIO(sys.stdin.read().encode("utf-8", "surrogateescape"))
        done = Memory(call.workspace, lambda: call.now).ingest(given, apply=writing, options=options)
    else:
        with call.out.progress("reading") as progress:
            memory = Memory(call.workspace, lambda: call.now, progress=progress)
            done = memory.ingest(Path(file), apply=writing, options=options)
    _print(call, file, done, review or dry_run, writing)
    return 0 if done.candidates else 1


def _options(
    call: Call, form: str | None, encoding: str | None, day: str | None, least: float, owner: str | None, llm: bool,
    only: str | None, but: str | None,
) -> "IngestOptions":  # fmt: skip
    from ..ingest.decode import known_encoding
    from ..ingest.formats import FORMS
    from ..ingest.ingest import IngestOptions
    from .app import _day

    if form is not None and form not in FORMS:
        raise Usage(f"--as {form!r} is unknown", ", ".join(FORMS))
    if encoding is not None and not known_encoding(encoding):
        raise Usage(f"--encoding {encoding!r} is unknown", "such as utf-8, utf-16, cp1251, gb18030")
    told = _day(day, call.today) if day is not None else None
    chosen = frozenset(_numbers("--only", only)) if only is not None else None
    name = owner.removeprefix("@").strip("[] ") if owner else None
    refused = frozenset(_numbers("--except", but or ""))
    return IngestOptions(form, encoding, told, least, name or None, llm, chosen, refused)


def _numbers(flag: str, written: str) -> Iterable[int]:
    """The numbers of `1,3,5-7`."""
    for part in filter(None, (piece.strip() for piece in written.split(","))):
        match = re.fullmatch(r"(\d{1,6})(?:\s*-\s*(\d{1,6}))?", part)
        if not match or not 1 <= int(match[1]) <= int(match[2] or match[1]):
            raise Usage(f"{flag} {written!r} is not understood", "numbers of candidates, as in 1,3,5-7")
        yield from range(int(match[1]), int(match[2] or match[1]) + 1)


# -- what is shown ----------------------------------------------------------------------------------------------------


def _print(call: Call, file: str, done: "Ingested", review: bool, writing: bool) -> None:
    if call.out.json:
        call.out.raw_json(_json(file, done, writing))
        return
    if writing:
        _print_kept(call, done)
    elif review:
        _print_review(call, done)
    else:
        for each in done.candidates:
            _print_candidate(call, each)
    for warning in done.warnings:
        call.out.note(f"warning: {warning}")
    call.out.note(_summary(done, writing))
    if done.candidates and not writing:
        call.out.note("nothing was written; --apply keeps them, with --only 1,3-5 or --except 2 some of them")


def _print_candidate(call: Call, each: "Proposed") -> None:
    from ..markdown.grammar import render

    call.out.emit(f"{call.out.style(f'{each.number:3}', 2)}  {call.out.style(str(each.day), 2)}  {_shown(call, each)}")
    call.out.emit(call.out.style(f"     {each.rule}: {each.reason} · {each.anchor or each.role}", 2))
    if each.quote.strip() not in render(each.fact):
        call.out.emit(call.out.style(f"     “{' '.join(each.quote.split())}”", 2))


def _shown(call: Call, each: "Proposed") -> str:
    """The line without what stands below it anyway."""
    from dataclasses import replace

    from ..markdown.grammar import render

    return call.out.style(render(replace(each.fact, source=None, cues=())))


def _print_review(call: Call, done: "Ingested") -> None:
    """A diff that git applies: what stands before it is ignored there."""
    diffs = dict(done.diffs)
    for day in sorted({each.day for each in done.candidates}):
        for each in done.candidates:
            if each.day == day:
                call.out.line(f"# {each.number} {each.rule}: {each.reason} ({each.anchor or each.role})")
                call.out.line(f"#   “{' '.join(each.quote.split())}”")
        for line in diffs.get(day, "").removesuffix("\n").split("\n"):
            call.out.line(line)
        call.out.line()
    for gone in done.refused:
        said = f": “{' '.join(gone.content.split())}”" if gone.content else ""
        call.out.line(f"# refused, {gone.code}, line {gone.line}: {gone.reason}{said}")


def _print_kept(call: Call, done: "Ingested") -> None:
    for kept in done.kept:
        call.out.line(f"{kept.citation}  {kept.fact.kind.letter}: {kept.fact.text}")


def _summary(done: "Ingested", writing: bool) -> str:
    found = len(done.kept) if writing else len(done.candidates)
    what = f"{found} {'kept' if writing else 'candidate' + ('' if found == 1 else 's')}"
    read = f"{done.turns} message{'' if done.turns == 1 else 's'} ({done.form}, {done.encoding})"
    refused = ", ".join(
        f"{count} {code}" for code, count in sorted(done.counts.items(), key=lambda item: (-item[1], item[0]))
    )
    return f"{what} from {read}" + (f"; refused: {refused}" if refused else "")


def _json(file: str, done: "Ingested", writing: bool) -> dict[str, object]:
    return {
        "schema": 1,
        "dry_run": not writing,
        "file": file,
        "format": done.form,
        "encoding": done.encoding,
        "messages": done.turns,
        "complete": done.complete,
        "candidates": [_candidate_json(each) for each in done.candidates],
        "refused": [gone._asdict() for gone in done.refused],
        "refused_counts": done.counts,
        "kept": [{"source": str(kept.citation), "id": kept.ref, "already": kept.already} for kept in done.kept],
        "diff": done.diff,
        "warnings": list(done.warnings),
    }


def _candidate_json(each: "Proposed") -> dict[str, object]:
    from ..markdown.grammar import render

    fact = each.fact
    return {
        "number": each.number,
        "rule": each.rule,
        "kind": fact.kind.value,
        "day": str(each.day),
        "line": render(fact),
        "content": fact.text,
        "entities": list(fact.entities),
        "importance": fact.importance,
        "cues": list(fact.cues),
        "origin": fact.source,
        "anchor": each.anchor,
        "quote": each.quote,
        "reason": each.reason,
    }
