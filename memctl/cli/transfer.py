"""The commands that take in and give out: `ingest` a transcript, `import` another memory, `export` plain data, `publish` pages."""

import csv
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import NothingFound, Usage
from ..facts import fields
from ..markdown.escape import many, one_line
from .call import DRY_RUN, Call, argument, command, flag, one_of, option
from .output import FAINT

if TYPE_CHECKING:
    from ..memory import CandidateFact, Exported, Ingested

_NO_ROWS = {
    "facts": "facts are bullets under `## Retain`; notes stay in their Markdown",
    "beliefs": "`memctl reflect` makes them of opinions",
}
_SHOWN = 20  # lines about what was left, unless --all


@command("ingest", "memctl ingest chat.jsonl --review")
def ingest(
    call: Call,
    file: str = argument("FILE", "A transcript; - reads it from stdin."),
    *,
    form: str | None = option("--as", "openai, claude-code, codex, chatgpt or markdown [default: by content].", "FORMAT"),
    review: bool = flag("--review", "Show the change to the logs as a diff, and all refusals."),
    apply: bool = flag("--apply", "Keep the candidates, each in the log of its day."),
    only: str | None = option("--only", "Those candidates alone.", "N,N-N"),
    but: str | None = option("--except", "All candidates but those.", "N,N-N"),
    day: str | None = option("--date", "The day of messages without a time [default: that of the file].", "DAY"),
    least: float = option("--min-importance", "Refuse what matters less.", "I", default=0.0, min=0, max=1),
    owner: str | None = option("--owner", "Which speaker is me: lines of NAME get no name, as what I retain.", "NAME"),
    trust_marks: bool = flag("--trust-marks", "Every mark of a turn in this Markdown transcript is one; no text imitates it."),
    encoding: str | None = option("--encoding", "Of the file [default: by content].", "ENCODING"),
    llm: bool = option("--llm/--no-llm", "Ask the local model of the settings too, if there is one.", default=True),
    dry_run: bool = flag("--dry-run -n", "Write nothing, which is the default."),
) -> int:  # fmt: skip
    """Find what is worth keeping in a conversation. With --apply the certain is written, the rest waits for `review`."""
    if apply and review and not dry_run:
        raise Usage("--review shows and --apply writes", "look first, then run it again with --apply in its place")
    writing = apply and not dry_run
    stopped = "what was kept so far is in the logs; run it again, and nothing is kept twice"
    with call.progress("reading", f"stopped: {stopped if writing else 'nothing was written'}") as memory:
        done = memory.ingest(
            sys.stdin.buffer if file == "-" else Path(file), apply=writing, form=form, encoding=encoding, day=day, least=least,
            owner=owner, trust_marks=trust_marks, llm=llm, only=None if only is None else frozenset(_numbers("--only", only)),
            but=frozenset(_numbers("--except", but or "")),
        )  # fmt: skip
    if call.out.json:
        return call.out.raw_json(_ingested_json(file, done, writing), done.candidates or done.asked)
    _print_ingested(call, done, review or dry_run, writing)
    return 0 if done.candidates or done.asked else 1


def _numbers(name: str, written: str) -> Iterable[int]:
    """The numbers of `1,3,5-7`."""
    for part in filter(None, (piece.strip() for piece in written.split(","))):
        match = re.fullmatch(r"(\d{1,6})(?:\s*-\s*(\d{1,6}))?", part)
        if not match or not 1 <= int(match[1]) <= int(match[2] or match[1]):
            raise Usage(f"{name} {written!r} is not understood", "numbers of candidates, as in 1,3,5-7")
        yield from range(int(match[1]), int(match[2] or match[1]) + 1)


def _print_ingested(call: Call, done: "Ingested", review: bool, writing: bool) -> None:
    if writing:
        for kept in done.kept:
            call.out.say(f"{kept.citation}  {kept.fact.kind.letter}: {kept.fact.text}", 3)
    elif review:
        _print_review(call, done)
    else:
        for each in (*done.candidates, *done.asked):
            _print_candidate(call, each)
    call.out.note(*(f"warning: {warning}" for warning in done.warnings))
    what = f"{len(done.kept)} kept" if writing else many(len(done.candidates), "candidate")
    what += f" and {many(len(done.asked), 'question')}" if done.asked else ""
    counts = sorted(done.counts.items(), key=lambda item: (-item[1], item[0]))
    refused = "; refused: " + ", ".join(f"{count} {code}" for code, count in counts) if counts else ""
    call.out.note(f"{what} from {many(done.turns, 'message')} ({done.form}, {done.encoding}){refused}")
    if writing and done.asked:
        call.out.note(f"{many(len(done.asked), 'uncertain candidate')}: answer with `memctl review`")
    if (done.candidates or done.asked) and not writing:
        numbered = "; --only 1,3-5 or --except 2 for some of them" if done.candidates else ""
        asked = ", and asks about the others in `memctl review`" if done.asked else ""
        call.out.note(f"nothing was written; --apply keeps what is numbered{asked}{numbered}")


def _print_candidate(call: Call, each: "CandidateFact") -> None:
    out = call.out
    line = out.style(each.shown)  # without what stands below it anyway
    number = f"{each.number:3}" if each.certain else "  ?"
    out.emit(f"{out.style(number, FAINT)}  {out.style(str(each.day), FAINT)}  {line}")
    out.emit(out.style(f"     {each.rule}: {each.reason} · {each.anchor or each.role}", FAINT))
    if each.quote.strip() not in each.text:
        out.emit(out.style(f"     “{one_line(each.quote)}”", FAINT))


def _why(each: "CandidateFact") -> str:
    return f"{each.rule}: {each.reason} ({each.anchor or each.role})"


def _print_review(call: Call, done: "Ingested") -> None:
    """A diff that git applies: what stands before it is ignored there."""
    diffs = dict(done.diffs)
    for day in sorted({each.day for each in done.candidates}):
        for each in (each for each in done.candidates if each.day == day):
            call.out.line(f"# {each.number} {_why(each)}", f"#   “{one_line(each.quote)}”")
        call.out.line(*diffs.get(day, "").removesuffix("\n").split("\n"), "")
    for each in done.asked:
        call.out.line(f"# to be asked, {_why(each)}", f"#   {each.shown}")
    for gone in done.refused:
        said = f": “{one_line(gone.content)}”" if gone.content else ""
        call.out.line(f"# refused, {gone.code}, line {gone.line}: {gone.reason}{said}")


def _ingested_json(file: str, done: "Ingested", writing: bool) -> dict[str, Any]:
    made = {"schema": 1, "dry_run": not writing, "file": file}
    made |= fields(done, "format=form encoding messages=turns complete")
    made |= {name: [fields(each, _CANDIDATE) for each in getattr(done, name)] for name in ("candidates", "asked")}
    made |= {"refused": [gone._asdict() for gone in done.refused], "refused_counts": done.counts}
    return made | {"kept": [kept.as_json() for kept in done.kept]} | fields(done, "diff warnings")


_CANDIDATE = (
    "number rule kind=fact.kind day line=text content=fact.text entities=fact.entities importance=fact.importance "
    "cues=fact.cues origin=fact.source anchor quote reason"
)


@command("import", "memctl import ~/vault --from obsidian --dry-run")
def import_(
    call: Call,
    source: Path = argument("SOURCE", "A folder of notes, or a JSON export."),
    *,
    kind: str | None = option("--from", "memctl, openclaw, obsidian, claude-code, basic-memory, mem0 or chatgpt [default: by what it looks like].", "KIND"),
    name: str | None = option("--name", "What to call it [default: its folder].", "TITLE"),
    entities: str | None = option("--entities", "Notes of that folder are each about one thing: entity pages.", "FOLDER"),
    trusted: bool = flag("--trusted", "My own words: do not mark them as imported, let them count in beliefs."),
    allow_secrets: bool = flag("--allow-secrets", "Also take what looks like a secret."),
    everything: bool = flag("--all", "Name everything that was left, however much."),
    dry_run: bool = DRY_RUN,
) -> int:  # fmt: skip
    """Take in another memory. Nothing is overwritten; what was not understood is named. Run again, it goes on."""
    stopped = "nothing was written" if dry_run else "what came in so far stays; run it again, and it goes on"
    with call.progress("importing", f"stopped: {stopped}") as memory:
        done = memory.import_(
            source, kind=kind, name=name, entities=entities, trusted=trusted, dry_run=dry_run, allow_secrets=allow_secrets
        )  # fmt: skip
    out, found = call.out, bool(done.pages or done.same or done.kept or done.known)
    if out.json:
        left = [{"place": place, "reason": reason} for place, reason in done.left]
        counts = fields(done, "kind pages logs same facts=kept known")
        return out.raw_json({"schema": 1} | counts | {"left": left} | fields(done, "warnings diff"), found)
    if dry_run:
        out.diff(done.diff)
    else:
        out.line(*done.pages, *done.logs)
    there = f"; here already: {done.same + done.known:,}" if done.same or done.known else ""
    verb = "would come" if dry_run else "came"
    out.note(f"{done.kind}: {many(len(done.pages), 'page')} and {many(done.kept, 'fact')} {verb} in{there}")
    shown = done.left if everything else done.left[:_SHOWN]
    out.note(*(f"left: {place}: {reason}" for place, reason in shown))
    if len(done.left) > len(shown):
        out.note(f"left: {len(done.left) - len(shown):,} more; --all names them")
    out.note(*done.warnings)
    return 0 if found else 1


@command("export", "memctl export beliefs --format csv -o beliefs.csv")
def export(
    call: Call,
    what: str = argument("[WHAT]", "facts, or beliefs with their whole history.", default="facts"),
    *,
    form: str = option("--format", "jsonl, csv, or sqlite (facts and beliefs in one file).", "FORMAT", default="jsonl"),
    output: Path | None = option("--output -o", "[default: stdout]", "FILE"),
    about: list[str] | None = option("--about -a", "Whom or what it is about.", "NAME"),
    kinds: list[str] | None = option("--kind", "Facts of that kind.", "KIND"),
    since: str | None = option("--since", "Facts from then on.", "WHEN"),
    until: str | None = option("--until", "Facts up to then.", "WHEN"),
    as_of: str | None = option("--as-of", "As it stood on that day.", "WHEN"),
    public: bool = flag("--public", "Without private facts."),
) -> int:
    """Write facts or beliefs as plain data: JSON lines, CSV, or a SQLite file."""
    one_of("WHAT", what, ("facts", "beliefs"), "facts or beliefs")
    one_of("--format", form, ("jsonl", "csv", "sqlite"), "jsonl, csv or sqlite")
    if what == "beliefs" and form != "sqlite" and (kinds or since or until or len(about or ()) > 1):
        raise Usage("beliefs are chosen by one --about and --as-of", "export facts for the other filters")
    if form == "sqlite" and output is None:
        raise Usage("a SQLite file needs a name", "--output memory.db")
    names = ("facts", "beliefs") if form == "sqlite" else (what,)
    stopped = "stopped" if output is None else f"stopped: {output} is as it was before"
    with call.progress("exporting", stopped) as whole:
        memory = whole.public() if public else whole
        tables = {
            name: memory.export(name, about=about or (), kinds=kinds or (), since=since, until=until, as_of=as_of)
            for name in names
        }
    count = sum(len(table.rows) for table in tables.values())
    if not count:
        raise NothingFound(f"there are no {what} to export", _NO_ROWS[what])
    jsonl = (json.dumps(row, ensure_ascii=True) + "\n" for row in tables[what].rows)
    content = _csv(tables[what]) if form == "csv" else jsonl
    if output is None:
        for piece in content:
            call.out.line(piece.rstrip("\r\n"))
        return 0
    with call.progress("writing", stopped):
        memory.write_export(output, tables if form == "sqlite" else content)
    call.out.note(f"{many(count, 'row')} in {output}")
    return 0


def _csv(table: "Exported") -> Iterator[str]:
    """RFC 4180; a list is its parts with `; ` between them, an object JSON, nothing an empty cell.

    What a spreadsheet would take for a formula gets a `'` before it: facts may be the words of strangers.
    """
    names = list(table.rows[0])
    for row in (names, *([row[name] for name in names] for row in table.rows)):
        line = io.StringIO()
        csv.writer(line).writerow([_cell(value) for value in row])
        yield line.getvalue()


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def _cell(value: Any) -> str:
    if isinstance(value, int | float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, dict):
        text = json.dumps(value, ensure_ascii=False) if value else ""
    else:
        text = "; ".join(map(str, value)) if isinstance(value, list) else str(value or "")
    return f"'{text}" if text.startswith(_FORMULA) else text


@command("publish", "memctl publish --to postgresql://alice@db.example/memctl --as atlas --team atlas")
def publish(
    call: Call,
    to: str | None = option("--to", "The PostgreSQL server [default: url under [shared]].", "URL"),
    name: str | None = option("--as", "The name of this workspace there [default: name under [shared]].", "NAME"),
    team: str | None = option("--team", "The role whose members may see it [default: you alone].", "ROLE"),
    force: bool = flag("--force", "Put the pages here in place of what somebody else published."),
    withdraw: bool = flag("--withdraw", "Take it off the server, and off every reader's machine when they ask next."),
    dry_run: bool = flag("--dry-run -n", "Say which pages would travel, and send nothing."),
) -> int:
    """Make this workspace shared memory on a PostgreSQL server: the pages that changed since, with their vectors, nothing private, sealed or untrusted.

    All of it is there, or nothing. Others ask it by `recall --in NAME`.
    """
    if withdraw:
        gone = call.memory.shared(to).withdraw(name)
        if call.out.json:
            return call.out.raw_json({"schema": 1, "name": gone, "withdrawn": True})
        call.out.line(f"{gone} is withdrawn")
        return 0
    with call.progress("publishing", "stopped: nothing is published") as memory:
        done = memory.shared(to).publish(name, team=team, force=force, dry_run=dry_run)
    call.out.note(*done.notes)
    if call.out.json:
        return call.out.raw_json({"schema": 1, "dry_run": dry_run} | done._asdict())
    if dry_run:
        call.out.line(*(f"+ {one_line(path)}" for path in done.sent), *(f"- {one_line(path)}" for path in done.removed))
    sent, removed = ("to send", "to remove") if dry_run else ("sent", "removed")
    told = f"{many(len(done.sent), 'page')} {sent}, {len(done.removed)} {removed}, {done.pages} in all"
    told += f", {many(done.vectors, 'vector')} sent" if done.vectors else ""
    call.out.line(f"{done.name} at {done.place}: {told}")
    return 0
