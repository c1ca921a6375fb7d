"""How hits, passages and retained facts look: text for people, JSON for programs, Markdown and paths for pipes."""

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from ..facts import Citation, Kind, Period
from ..hits import BY_WORDS, TEXT, Answer, Hit, answer_json, hit_json, more_line
from ..markdown.escape import defused, many, one_line
from .call import Call
from .output import BOLD, FAINT, YELLOW

if TYPE_CHECKING:
    from ..memory import Passage, Question, Retained, SourceConversation

_UNLIKELY = 0.2  # below that a person is told: fitted where half of the questions have no answer, and owners mostly ask what they wrote down


def print_answer(call: Call, answer: Answer, format: str, explain: bool, pages: bool = False) -> int:
    """Print a recall in one of its five formats, `pages` with a heading; the exit code is 1 when nothing was found."""
    call.out.recalls = True
    if format == "json":
        return call.out.raw_json(answer_json(answer, explain), answer.hits)
    call.out.note(*_notes(answer))
    related = answer.related or ()
    _print_hits(call, answer.hits, format, explain, pages)
    if related and format in ("text", "md"):
        heading = "related, by the names that lines share:"
        _part(call)
        call.out.emit(call.out.style(heading, BOLD) if format == "text" else "\nRelated:\n")
    if answer.hits and answer.related == () and not answer.crowded:
        call.out.note("nothing else is related to these by a name")
    _print_hits(call, related, format, explain)
    if more := more_line(answer.more, (hit.day or hit.source.path for hit in answer.hits)):
        call.out.note(f"{more}; -k {len(answer.hits) + len(answer.more)} shows them")
    if format == "paths":
        call.out.line(*dict.fromkeys(hit.source.path for hit in (*answer.hits, *related)))
    return 0 if answer.hits else 1


def _notes(answer: Answer) -> list[str]:
    """Why the answer may lack something, or is empty."""
    notes = [*answer.warnings, *([f"stale: {answer.stale}"] if answer.stale else ()), *answer.empty]
    is_question = answer.query.rstrip().endswith(("?", "？")) or len(answer.query.split()) > 2  # no search for a word
    if is_question and answer.hits and answer.answerable is not None and answer.answerable < _UNLIKELY:
        notes.append("memory probably holds no answer to this")
    is_told = any(warning.startswith(BY_WORDS) for warning in answer.warnings)
    if answer.vectors and answer.vectors.missing and not is_told:
        lines = many(answer.vectors.missing, "line is", "lines are")
        notes.append(f"{lines} found by words only until `memctl index` has embedded them")
    return notes


def _print_hits(call: Call, hits: Sequence[Hit], format: str, explain: bool, pages: bool = False) -> None:
    page = ""
    for number, hit in enumerate(hits, 1):
        is_headed = False
        if pages and format in ("text", "md") and hit.source.path != page:
            page, is_headed = hit.source.path, True
            if number > 1:
                _part(call)
            call.out.emit(call.out.style(one_line(page), BOLD) if format == "text" else f"\n### {page}\n")
        if format == "jsonl":
            call.out.raw_json(hit_json(hit, explain))
        elif format == "md":
            target = f"{hit.source.path}#L{hit.source.line}"
            if set(target) & set(" ()[]<>"):
                target = f"<{target}>"
            marks = "".join(f" · {one_line(mark)}" for mark in [*hit.marks, *filter(None, [_way(hit)])])
            call.out.line(f"- {one_line(hit.content)} ([{hit.source}]({target}){marks}) ^{hit.ref}")
        elif format == "text":
            print_hit(call, hit, number, explain, is_headed)


def _part(call: Call) -> None:
    """A blank line, where a person reads."""
    if call.out.at_terminal:
        call.out.emit("")


def _way(hit: Hit) -> str:
    """How a related line was reached: `f-3 –[Alice]– f-9`."""
    return "".join(f" –[{one_line(step)}]– " if at % 2 else step for at, step in enumerate(hit.via))


def print_hit(call: Call, hit: Hit, number: int, explain: bool = False, is_headed: bool = False) -> None:
    """Print one hit as text, apart from what stands above it unless that is its heading: its citation, what is known of it, its lines."""
    out = call.out
    is_read = out.at_terminal
    if number > 1 and not is_headed:
        _part(call)
    beside = "beside a match" if "near" in hit.why else "by meaning" if hit.why.keys() == {"vector"} else ""
    slot = f"key={hit.key}" if hit.key else ""
    under = "" if hit.fact else hit.under
    day = hit.day or "undated"
    if hit.day and is_read:
        day += f" ({ago(date.fromisoformat(hit.day), call.now.date())})"
    facts = [day, kind_of(hit, is_read), ", ".join(hit.entities), slot, "" if is_read else under, beside]
    about = " · ".join(out.style(one_line(part), FAINT) for part in facts if part)
    end = f"{marks_of(call, hit)} {out.style('^' + hit.ref, FAINT)}"
    out.emit(f"{out.style(f'{number}.', BOLD)} {place_of(call, hit.source)} · {about}{end}")
    if is_read and under:
        out.emit(f"   {out.matched(under, FAINT)}")
    passage = [(">" if each.best else " ", () if each.best else (FAINT,), each.content) for each in hit.passage]
    for mark, style, text in passage or [(" ", (), hit.content)]:
        for line in text.split("\n"):
            out.emit(f" {mark} {out.matched(line, *style)}")
    for each in hit.history:
        told = f"{_span(each.valid)}  {one_line(each.content)}"
        out.emit(f"   {out.style(told, FAINT)} · {place_of(call, each.source)}", indent=5)
    below = [f"{name}: {one_line(told)}" for name, value in TEXT.items() if (told := value(hit))]
    below += [_way(hit)] if hit.via else []
    below += [f"also {', '.join(map(str, hit.also))}"] if hit.also else []
    below += [f"{many(hit.more, 'more line')} of this page; --per-page 0 lists them"] if hit.more else []
    below += [explained(hit)] if explain else []
    for line in below:
        out.emit(out.style(f"   {line}", FAINT))


def place_of(call: Call, citation: Citation) -> str:
    """The citation; on a terminal `path:line`, as a link that opens the page there."""
    if citation.commit:  # of shared memory: no page here
        return call.out.style(str(citation))
    workspace = call.memory.workspace
    told = f"{citation.path}:{citation.line}" if call.out.at_terminal else str(citation)
    root = Path.cwd() if call.also else workspace.root
    return call.out.link(told, root / citation.path, workspace.settings.link, citation.line)


def kind_of(hit: Hit, with_bar: bool = False) -> str:
    """`opinion 0.9`, or with a bar of five cells `opinion ▮▮▮▮▯ 0.9`; empty for a note."""
    if hit.kind is Kind.NOTE:
        return ""
    if hit.confidence is None:
        return str(hit.kind.value)
    full = round(hit.confidence * 5)
    bar = "▮" * full + "▯" * (5 - full) + " "
    return f"{hit.kind.value} {bar if with_bar else ''}{hit.confidence:g}"


def ago(day: date, today: date) -> str:
    """A day as its distance from today: `3 weeks ago`."""
    days = (today - day).days
    near = {0: "today", 1: "yesterday", -1: "tomorrow"}
    if days in near:
        return near[days]
    steps = ((730, 365, "year"), (61, 30, "month"), (14, 7, "week"), (0, 1, "day"))
    count, unit = next((abs(days) // length, unit) for least, length, unit in steps if abs(days) >= least)
    span = many(count, unit)
    return f"{span} ago" if days > 0 else f"in {span}"


def _span(period: Period) -> str:
    return f"{period.first or '…'} – {period.last or '…'}"


def marks_of(call: Call, hit: Hit) -> str:
    """What a reader must know before believing a hit."""
    return "".join(" " + call.out.style(f"[{mark}]", YELLOW) for mark in hit.marks)


def explained(hit: Hit) -> str:
    """How the score of a hit came about, on one line."""
    channels = ", ".join(f"{name} #{rank}" for name, rank in hit.why.items())
    factors = {name: value for name, value in hit.parts.get("factors", {}).items() if value != 1}
    parts = {name: value for name, value in hit.parts.items() if name != "factors"} | factors
    told = " · ".join(f"{name} {value}" for name, value in parts.items())
    return f"score {hit.score:.4f} · {channels} · {told}"


def print_slots(call: Call, hits: Sequence[Hit], title: str) -> None:
    """Print what fills slots, a line each: as `versions` with the days on which each held, as `facts` with its slot."""
    out = call.out
    out.recalls = True
    if out.json:
        out.raw_json({"schema": 1, title: [hit_json(hit) for hit in hits]})
        return
    for hit in hits:
        whose, slot = hit.whose, out.style(f"{hit.key}:", BOLD)
        if title == "versions":
            head = f"{out.style(_span(hit.valid), FAINT)}  {out.style(f'{whose}: ', BOLD) if whose else ''}"
        else:
            head = f"{out.style(whose)} {slot} " if whose else f"{slot} "
        text = f"{out.style(one_line(hit.content))}{marks_of(call, hit)} {place_of(call, hit.source)}"
        out.emit(head + text, indent=3)


def print_retained(call: Call, done: "Retained", dry_run: bool, near: "Sequence[Sequence[Question]]" = ()) -> None:
    """Print where each fact stands now, or with a dry run the diff; and what it is `near` and may replace."""
    offered = [each for some in near for each in some]
    call.out.recalls = bool(offered)
    if call.out.json:
        made = {"schema": 1, "dry_run": dry_run, "kept": [kept.as_json() for kept in done.kept], "diff": done.diff}
        call.out.raw_json(made | {"warnings": list(done.warnings), "near": [each.offer_json() for each in offered]})
        return
    if dry_run:
        call.out.diff(done.diff)
    for kept in done.kept:
        if not dry_run:
            call.out.line(f"{kept.citation} ^{kept.ref}")
        if kept.already:
            call.out.note(f"already there: {kept.citation}")
    call.out.note(*(f"warning: {warning}" for warning in done.warnings))
    told = [each for each in offered if each.is_telling]
    by = " --source agent" if any(each.sides[-1].origin == "agent" for each in told) else ""
    call.out.note(*(f"may replace {defused(each.older)}: `memctl review {each.id} y{by}`" for each in told))
    call.out.note(*(each.HOW for each in told[:1]))


def print_passages(call: Call, passages: "Sequence[Passage]") -> None:
    """Print passages with line numbers; the lines asked for are marked where there are others around them."""
    if call.out.json:
        call.out.raw_json({"schema": 1, "passages": [passage.as_json() for passage in passages]})
        return
    for passage in passages:
        first, last = passage.citation.line, passage.citation.end_line
        numbered = enumerate(passage.lines, passage.first)
        lines = [(number, line, first <= number <= last) for number, line in numbered]
        _print_marked(call, place_of(call, passage.citation), passage.ref, lines)


def print_conversations(call: Call, found: "Sequence[SourceConversation]") -> None:
    """Print turns of conversations; the one that says the fact is marked."""
    if call.out.json:
        call.out.raw_json({"schema": 1, "conversations": [each.as_json() for each in found]})
        return
    for each in found:
        said = f"{each.path}#L{each.turns[each.place].line}"
        if said != each.cited:
            call.out.note(f"the line says {each.cited}")
        lines = [
            (turn.line, line, place == each.place)
            for place, turn in enumerate(each.turns)
            for line in f"{turn.role}: {turn.text}".splitlines()
        ]
        _print_marked(call, said, each.ref, lines)


def _print_marked(call: Call, place: str, ref: str | None, lines: "Iterable[tuple[int, str, bool]]") -> None:
    """Print a place, its id, and lines by (number, text, whether it is one that was asked for)."""
    out = call.out
    out.emit(place + (f" {out.style('^' + ref, FAINT)}" if ref else ""))
    for number, line, is_meant in lines:
        shown = out.style(line, *(() if is_meant else (FAINT,)))
        out.emit(f"{'>' if is_meant else ' '} {number:4} {shown}", indent=7)
