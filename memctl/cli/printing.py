"""How each verb's answer looks: text for people, JSON for programs, Markdown and paths for pipes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..facts import Kind, is_trusted
from ..hits import Answer, Hit, answer_json, hit_json
from ..markdown.counting import many
from ..markdown.printable import one_line
from .call import Call

if TYPE_CHECKING:
    from ..index.maintain import Verified
    from ..index.sync import SyncReport
    from ..maintenance.check import Finding
    from ..maintenance.status import Status
    from ..recall.entities import EntityLine, EntityView
    from ..recall.show import Passage
    from ..retain.retain import Retained
    from ..vectors.verify_vectors import VectorsChecked

BOLD, FAINT, RED, GREEN, YELLOW = 1, 2, 31, 32, 33
_BY_WORDS = ("answered by words only", "vectors.sqlite:")  # how warnings begin that say why meaning takes no part


# -- recall -----------------------------------------------------------------------------------------------------------


def print_answer(call: Call, answer: Answer, format: str, explain: bool) -> int:
    """Print a recall in one of its five formats; the exit code is 1 when nothing was found."""
    if format == "json":
        call.out.raw_json(answer_json(answer, explain))
        return 0 if answer.hits else 1
    for warning in (*answer.warnings, *([f"stale: {answer.stale}"] if answer.stale else ()), *answer.empty):
        call.out.note(warning)
    told = any(warning.startswith(_BY_WORDS) for warning in answer.warnings)
    if answer.vectors and answer.vectors.missing and not told:
        lines = many(answer.vectors.missing, "line is", "lines are")
        call.out.note(f"{lines} found by words only until `memctl index` has embedded them")
    _print_hits(call, answer.hits, format, explain)
    if answer.related and format in ("text", "md"):
        heading = "related, by the names that lines share:"
        call.out.emit(call.out.style(heading, BOLD) if format == "text" else "\nRelated:\n")
    if answer.hits and answer.related == () and not answer.crowded:
        call.out.note("nothing else is related to these by a name")
    _print_hits(call, answer.related or (), format, explain)
    if format == "paths":
        for path in dict.fromkeys(hit.source.path for hit in (*answer.hits, *(answer.related or ()))):
            call.out.line(path)
    return 0 if answer.hits else 1


def _print_hits(call: Call, hits: Sequence[Hit], format: str, explain: bool) -> None:
    for number, hit in enumerate(hits, 1):
        if format == "jsonl":
            call.out.raw_json(hit_json(hit, explain))
        elif format == "md":
            way = f" · {_way(hit)}" if hit.via else ""
            call.out.line(f"- {one_line(hit.content)} ({_markdown_link(hit)}{way}) ^{hit.ref}")
        elif format == "text":
            _print_hit(call, hit, number, explain)


def _way(hit: Hit) -> str:
    """How a related line was reached: `f-3 –[Alice]– f-9`."""
    return "".join(f" –[{one_line(step)}]– " if at % 2 else step for at, step in enumerate(hit.via))


def _markdown_link(hit: Hit) -> str:
    """A link to the cited line; a path with spaces or brackets stands in angle brackets."""
    target = f"{hit.source.path}#L{hit.source.line}"
    return f"[{hit.source}]({f'<{target}>' if set(target) & set(' ()[]<>') else target})"


def _print_hit(call: Call, hit: Hit, number: int, explain: bool) -> None:
    out = call.out
    place = out.link(str(hit.source), call.workspace.root / hit.source.path)
    named = ", ".join(hit.entities)
    beside = "beside a match" if "near" in hit.why else "by meaning" if hit.why.keys() == {"vector"} else ""
    facts = [hit.day or "undated", _kind(hit), named, "" if hit.fact else hit.heading, beside]
    about = " · ".join(out.style(one_line(part), FAINT) for part in facts if part)
    out.emit(
        f"{out.style(f'{number}.', BOLD)} {place} · {about}{_standing(call, hit)} {out.style('^' + hit.ref, FAINT)}"
    )
    for line in hit.content.split("\n"):
        out.line(f"   {line}")
    if hit.via:
        out.emit(out.style(f"   {_way(hit)}", FAINT))
    for version in hit.history:
        out.emit(out.style(f"   {_span(version.valid)}  {one_line(version.content)} · {version.source}", FAINT))
    if hit.also:
        out.emit(out.style(f"   also {', '.join(map(str, hit.also))}", FAINT))
    if explain:
        out.emit(out.style(f"   score {hit.score:.4f} · {_explained(hit)}", FAINT))


def _kind(hit: Hit) -> str:
    confidence = f" {hit.confidence:g}" if hit.confidence is not None else ""
    return "" if hit.kind is Kind.NOTE else hit.kind.value + confidence


def _span(period: Any) -> str:
    return f"{period.first or '…'} – {period.last or '…'}"


def _standing(call: Call, hit: Hit) -> str:
    """What a reader must know before believing a hit."""
    if hit.retracted:
        marks = [f"never true, corrected by ^{hit.superseded_by}"]
    elif hit.superseded_by:
        marks = [f"until {hit.valid.last or 'then'}, replaced by ^{hit.superseded_by}"]
    else:
        marks = [f"ended {hit.valid.last}"] if hit.expired else []
    if not is_trusted(hit.origin):
        marks.append(f"untrusted: {hit.origin}")
    return "".join(" " + call.out.style(f"[{mark}]", YELLOW) for mark in marks)


def _explained(hit: Hit) -> str:
    channels = ", ".join(f"{name} #{rank}" for name, rank in hit.why.items())
    bent = {name: value for name, value in hit.parts.get("factors", {}).items() if value != 1}
    parts = {name: value for name, value in hit.parts.items() if name != "factors"} | bent
    return f"{channels} · " + " · ".join(f"{name} {value}" for name, value in parts.items())


# -- retain, show -----------------------------------------------------------------------------------------------------


def print_retained(call: Call, done: Retained, dry_run: bool) -> None:
    """Print where each fact stands now, or with a dry run the diff."""
    if call.out.json:
        facts = [{"id": k.ref, "source": str(k.citation), "already": k.already} for k in done.kept]
        call.out.raw_json(
            {"schema": 1, "dry_run": dry_run, "kept": facts, "diff": done.diff, "warnings": list(done.warnings)}
        )
        return
    if dry_run:
        for line in done.diff.split("\n")[:-1]:
            call.out.emit(call.out.style(line, *_diff_colour(line)))
    for kept in done.kept:
        if not dry_run:
            call.out.line(f"{kept.citation} ^{kept.ref}")
        if kept.already:
            call.out.note(f"already there: {kept.citation}")
    for warning in done.warnings:
        call.out.note(f"warning: {warning}")


def _diff_colour(line: str) -> tuple[int, ...]:
    return (GREEN,) if line.startswith("+") else (RED,) if line.startswith("-") else ()


def print_passages(call: Call, passages: Sequence[Passage]) -> None:
    """Print passages with line numbers; the lines asked for are marked where there are others around them."""
    if call.out.json:
        found = [{"source": str(p.citation), "id": p.ref, "first": p.first, "lines": list(p.lines)} for p in passages]
        call.out.raw_json({"schema": 1, "passages": found})
        return
    for passage in passages:
        place = call.out.link(str(passage.citation), call.workspace.root / passage.citation.path)
        call.out.emit(place + (f" {call.out.style('^' + passage.ref, FAINT)}" if passage.ref else ""))
        for number, line in enumerate(passage.lines, passage.first):
            meant = passage.citation.line <= number <= passage.citation.end_line
            call.out.emit(f"{'>' if meant else ' '} {number:4} {call.out.style(line, *(() if meant else (FAINT,)))}")


# -- index, status, check ---------------------------------------------------------------------------------------------


def print_index(call: Call, report: SyncReport) -> int:
    """Print what a sync did."""
    if call.out.json:
        call.out.raw_json(report_json(report))
        return 0
    call.out.line(f"{report.read} read, {report.dropped} dropped, {report.unchanged} unchanged")
    for path, problem in sorted(report.problems.items()):
        call.out.note(f"{path}: {problem}")
    if report.stale:
        call.out.note(f"stale: {report.stale}")
    return 0


def report_json(report: SyncReport) -> dict[str, Any]:
    """What a sync did, as plain values."""
    counts = {"read": report.read, "dropped": report.dropped, "unchanged": report.unchanged}
    return {"schema": 1, **counts, "problems": report.problems, "stale": report.stale}


def print_verified(call: Call, report: SyncReport, verified: Verified, vectors: VectorsChecked | None) -> int:
    """Print whether the index equals one made anew, and the vectors are whole; the exit code is 1 if they are not."""
    if call.out.json:
        found = report_json(report) | {"rows": verified.rows, "differences": list(verified.differences)}
        call.out.raw_json(found | _vectors_json(vectors))
    elif not verified.differences:
        call.out.line(f"{verified.rows} rows, all as a rebuild makes them")
    else:
        for difference in verified.differences:
            call.out.line(difference)
        call.out.note("run `memctl index --rebuild`, and please report how this came about")
    return max(_print_vectors(call, vectors), 1 if verified.differences else 0)


def _vectors_json(vectors: VectorsChecked | None) -> dict[str, Any]:
    return {"verified_vectors": vectors._asdict() if vectors else None}


def _print_vectors(call: Call, vectors: VectorsChecked | None) -> int:
    """The exit code is 1 for damaged vectors."""
    if vectors is None:
        return 0
    if not call.out.json:
        whole = ", all as they were written" if not vectors.problems else ""
        call.out.line(f"{many(vectors.vectors, 'vector')} of {many(vectors.texts, 'text')}{whole}")
        if vectors.recall is not None:
            call.out.line(f"recall@10 of the search against all compared: {vectors.recall:.3f} ({vectors.asked} asked)")
        for problem in vectors.problems[:20]:
            call.out.line(problem)
        if vectors.problems:
            call.out.note("run `memctl index`: what is damaged is embedded anew")
    return 1 if vectors.problems else 0


def print_status(call: Call, status: Status, vectors: VectorsChecked | None = None) -> int:
    """Print counts, sizes and what is missing; with checked vectors those too, and the exit code is 1 if they are damaged."""
    if call.out.json:
        call.out.raw_json({"schema": 1} | status.as_json() | (_vectors_json(vectors) if vectors else {}))
    else:
        call.out.table(("what", "value"), status.lines())
    return _print_vectors(call, vectors)


def print_findings(call: Call, findings: Sequence[Finding]) -> int:
    """Print `path:line:column: what; cure` as compilers do; the exit code is 1 if there is anything."""
    if call.out.json:
        call.out.raw_json({"schema": 1, "findings": [finding.as_json() for finding in findings]})
    else:
        for finding in findings:
            call.out.line(
                f"{finding.path}:{finding.line}:{finding.column}: {finding.rule}: {finding.message}; {finding.cure}"
            )
        call.out.note(f"{len(findings)} found" if findings else "nothing to complain about")
    return 1 if findings else 0


# -- entities, slots --------------------------------------------------------------------------------------------------


def print_entities(call: Call, lines: Sequence[EntityLine]) -> int:
    """Print a table of entities; the exit code is 1 if there are none."""
    if call.out.json:
        call.out.raw_json({"schema": 1, "entities": [_entity_json(line) for line in lines]})
    else:
        rows = [(x.name, x.type or "", x.mentions, ", ".join(x.aliases), x.path or "") for x in lines]
        call.out.table(("name", "type", "lines", "aliases", "page"), rows)
    return 0 if lines else 1


def _entity_json(line: EntityLine) -> dict[str, Any]:
    return {
        "name": line.name,
        "type": line.type,
        "aliases": list(line.aliases),
        "mentions": line.mentions,
        "path": line.path,
    }


def print_entity(call: Call, view: EntityView) -> None:
    """Print one entity: names, slots, newest lines."""
    if call.out.json:
        slots = {key: hit_json(hit) for key, hit in view.slots}
        found = {"entity": _entity_json(view.line), "slots": slots, "newest": [hit_json(hit) for hit in view.newest]}
        call.out.raw_json({"schema": 1} | found)
        return
    line = view.line
    also = f" (also {', '.join(line.aliases)})" if line.aliases else ""
    call.out.emit(
        f"{call.out.style(line.name, BOLD)}{call.out.style(also, FAINT)} {call.out.style(line.path or 'no page yet', FAINT)}"
    )
    for key, hit in view.slots:
        call.out.emit(
            f"   {call.out.style(key, BOLD)}: {call.out.style(one_line(hit.content))} {call.out.style(str(hit.source), FAINT)}"
        )
    for number, hit in enumerate(view.newest, 1):
        _print_hit(call, hit, number, explain=False)


def print_versions(call: Call, hits: Sequence[Hit]) -> None:
    """Print the versions of a slot, a line each."""
    if call.out.json:
        call.out.raw_json({"schema": 1, "versions": [hit_json(hit) for hit in hits]})
        return
    for hit in hits:
        name = call.out.style(f"{hit.entities[0]}: ", BOLD) if hit.entities else ""
        span = call.out.style(_span(hit.valid), FAINT)
        call.out.emit(
            f"{span}  {name}{call.out.style(one_line(hit.content))}{_standing(call, hit)} {call.out.style(str(hit.source), FAINT)}"
        )
