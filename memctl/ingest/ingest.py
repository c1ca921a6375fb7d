"""Ingest: a conversation that took place becomes lines in the logs of the days on which things were said.

The order of work: the transcript is streamed, what nobody said in it is blanked out, candidates are found and judged
(ingest/filter.py), what the workspace knows is left out (ingest/dedup.py), and the rest is shown or retained, by day.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import Usage
from ..facts import Fact
from ..index.heal import with_index
from ..index.index import Index
from ..index.sync import sync
from ..notes.workspace import Workspace
from ..retain.retain import Kept, retain
from .dedup import Already
from .filter import STARTED_WITH, Intake, Refusal, blanked
from .transcripts.file import Source, open_transcript
from .transcripts.read import Notes, Turn, numbered
from .transcripts.reading import read_transcript

if TYPE_CHECKING:
    from ..index.resident import Resident
    from .extract.extract import Candidate

Progress = Callable[[int, int], None]
__all__ = ["Ingested", "Options", "Proposed", "TurnedAway", "ingest_exchange", "ingest_file", "ingest_stream"]

MOST = 20_000  # candidates of one run; the rest comes with the next, which finds these known
MOST_TOLD = 2_000  # refusals that are listed one by one
_LONG_AGO = date(1990, 1, 1)  # nobody kept a chat before
_NEWEST = 4 << 20  # bytes of a session that are looked at in a hurry
_WINDOW = 64  # turns kept while they are looked at


class Options(NamedTuple):
    """How a transcript is read (`form`, `encoding`, `owner`), what is taken of it, and under which day.

    `day` is for messages without a time. `only` and `but` are numbers of candidates as a review shows them. `llm` asks
    the model of the settings too, where there is one.
    """

    form: str | None = None
    encoding: str | None = None
    day: date | None = None
    least: float = 0.0
    owner: str | None = None
    llm: bool = True
    only: frozenset[int] | None = None
    but: frozenset[int] = frozenset()


class Proposed(NamedTuple):
    """A line that may be kept: which, for which day, by which rule and why, the sentence as it was said and where."""

    number: int
    fact: Fact
    day: date
    rule: str
    reason: str
    quote: str
    role: str
    anchor: str


class TurnedAway(NamedTuple):
    """What is refused: the line of the transcript, the word and the sentence for why; no content of a secret."""

    line: int
    code: str
    reason: str
    rule: str = ""
    content: str = ""


@dataclass(frozen=True, slots=True)
class Ingested:
    """What there is to keep, what was refused and why, and what was kept. `complete` is False where time or room ran out."""

    candidates: tuple[Proposed, ...]
    refused: tuple[TurnedAway, ...]
    counts: dict[str, int]
    kept: tuple[Kept, ...]
    diffs: tuple[tuple[date, str], ...]
    warnings: tuple[str, ...]
    form: str
    encoding: str
    turns: int
    complete: bool = True

    @property
    def diff(self) -> str:
        """The change to all logs as one unified diff; empty once it is applied."""
        return "".join(diff for _, diff in self.diffs)


def ingest_file(
    workspace: Workspace, path: Path, *, now: datetime, apply: bool = False, options: Options = Options(),  # noqa: B008
    seconds: float | None = None, through: Resident | None = None, progress: Progress | None = None,
) -> Ingested:  # fmt: skip
    """Look through a transcript, and with `apply` keep what is new in it.

    With `seconds` there is a hurry, as in a hook: of a long session only its newest part is looked at (what came before
    was when the hook ran before), and past the time what was read so far counts.

    PageUnreadable for what is no file that can be read; what is odd inside of it is a warning.
    """
    with open_transcript(workspace, path, None if seconds is None else _NEWEST) as source:
        if progress:
            source = source._replace(pieces=_reported(source, progress))
        return ingest_stream(workspace, source, now=now, apply=apply, options=options, seconds=seconds, through=through)


def ingest_stream(
    workspace: Workspace, source: Source, *, now: datetime, apply: bool = False, options: Options = Options(),  # noqa: B008
    seconds: float | None = None, through: Resident | None = None,
) -> Ingested:  # fmt: skip
    """The same for a stream that is open already, such as stdin."""
    notes = Notes()
    turns = read_transcript(
        source.pieces,
        notes,
        form=options.form,
        encoding=options.encoding,
        owner=options.owner,
        first_line=source.first_line,
    )
    run = _Run(workspace, options, source.name, source.day, now, seconds, notes)
    if source.first_line > 1:
        run.complete = False
        run.warnings.append(f"in the time there is, only what stands from line {source.first_line:,} on was looked at")
    return run.finish(run.read(turns), apply, through)


def ingest_exchange(
    workspace: Workspace, user_msg: str, assistant_msg: str, *, now: datetime, owner: str | None = None,
    llm: bool = False, apply: bool = True, seconds: float | None = None, through: Resident | None = None,
) -> Ingested:  # fmt: skip
    """One question and its answer, as a server is given them; what is kept goes into the log of `now`."""
    said = [("user", user_msg), ("assistant", assistant_msg)]
    notes = Notes("openai", "utf-8")
    turns = numbered((Turn(role, text, 1, 1, now) for role, text in said), notes)
    run = _Run(workspace, Options(owner=owner, llm=llm), "", now.date(), now, seconds, notes)
    return run.finish(run.read(turns), apply, through)


def _reported(source: Source, progress: Progress) -> Iterator[bytes]:
    """The pieces of a source; `progress` hears how many of its bytes are through."""
    done = 0
    for piece in source.pieces:
        yield piece
        done += len(piece)
        progress(done, max(done, source.size))


class _Found(NamedTuple):
    """A candidate that nothing in the transcript itself speaks against, and the turn that it comes from."""

    fact: Fact
    turn: Turn
    day: date
    rule: str
    reason: str
    quote: str
    line: int


@dataclass(slots=True)
class _Run:
    """One transcript on its way into the logs."""

    workspace: Workspace
    options: Options
    name: str
    day: date | None
    now: datetime
    seconds: float | None
    notes: Notes
    refused: list[TurnedAway] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    turns: int = 0
    complete: bool = True
    recent: dict[int, Turn] = field(default_factory=dict)
    spoken: deque[Turn] = field(default_factory=deque)
    room: int = 1 << 20
    deadline: float = float("inf")
    said: date | None = None

    def read(self, turns: Iterable[Turn]) -> list[_Found]:
        """The candidates of a stream of turns that the transcript itself does not speak against, in their order."""
        from .extract.extract import candidates

        self.deadline = time.monotonic() + self.seconds * 0.6 if self.seconds is not None else float("inf")
        intake = Intake(self.options.least)
        found: list[_Found] = []
        for candidate in candidates(self._readable(turns), owner=self.options.owner):
            self._take(candidate, intake, found)
            if len(found) >= MOST:
                self.complete = False
                self.warnings.append(f"{MOST:,} candidates; run it again for what comes after them")
                break
        if self.options.llm and self.workspace.settings.llm:
            self._ask_model(intake, found)
        return sorted(found, key=lambda each: each.turn.number)

    def _readable(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        """The turns without what was pasted or recalled; a few are remembered for whoever finds something in them."""
        for turn in turns:
            self.turns += 1
            if turn.role == "system":
                self._refuse(turn.line, STARTED_WITH)
                continue
            if turn.role in ("user", "assistant"):
                text, left_out = blanked(turn.text)
                for piece in left_out:
                    if turn.role == "user" or piece.refusal.code != "code":
                        extent = f"; {piece.lines} lines" if piece.lines > 1 else ""
                        self._refuse(self._line(turn, piece.line), piece.refusal, extent=extent)
                turn = turn._replace(text=text)
                if self.options.llm and self.workspace.settings.llm:
                    self.spoken.append(turn)
                    self.room -= len(turn.text)
                    while self.room < 0 and len(self.spoken) > 1:  # the model is asked about the newest only
                        self.room += len(self.spoken.popleft().text)
            self.recent[turn.number] = turn
            self.recent.pop(turn.number - _WINDOW, None)
            yield turn
            if time.monotonic() > self.deadline:
                self.complete = False
                self.warnings.append(f"time was up at line {turn.end_line}; what comes after it was not read")
                return

    def _take(self, candidate: Candidate, intake: Intake, found: list[_Found]) -> None:
        turn = self.recent.get(candidate.turn)
        if turn is None:
            return
        line = self._line(turn, _place(turn.text, candidate.quote))
        fact = replace(candidate.fact, source=self._source(turn.role, line))
        judged = intake.judge(fact, candidate.quote, turn._replace(line=line))
        if isinstance(judged, Refusal):
            self._refuse(line, judged, candidate.rule, candidate.quote)
        else:
            found.append(_Found(judged, turn, self._day(turn), candidate.rule, candidate.reason, candidate.quote, line))

    def _ask_model(self, intake: Intake, found: list[_Found]) -> None:
        """What a local model finds beside the rules. It adds and never removes; if it fails, that is one warning."""
        from .llm_candidates import asked

        self.recent = {turn.number: turn for turn in self.spoken}
        taken = {(each.turn.number, each.quote) for each in found}
        candidates, warning = asked(self.workspace.settings, list(self.spoken), taken, self.seconds)
        for candidate in candidates:
            self._take(candidate, intake, found)
        if warning:
            self.warnings.append(warning)

    def _refuse(self, line: int, refusal: Refusal, rule: str = "", content: str = "", extent: str = "") -> None:
        self.counts[refusal.code] = self.counts.get(refusal.code, 0) + 1
        if len(self.refused) < MOST_TOLD:
            shown = "" if refusal.code == "secret" else content[:300]
            self.refused.append(TurnedAway(line, refusal.code, refusal.reason + extent, rule, shown))

    def _line(self, turn: Turn, below: int) -> int:
        """The line of the file for a line of a message; in JSON a message has but one."""
        return min(turn.line + below, turn.end_line) if self.notes.form == "markdown" else turn.line

    def _source(self, role: str, line: int) -> str:
        """`user:chat.jsonl#L12`: what a person said, the agent, or a tool, and where that can be read again."""
        origin = {"user": "user", "assistant": "agent"}.get(role, "tool")
        return f"{origin}:{self.name}#L{line}" if self.name else origin

    def _day(self, turn: Turn) -> date:
        """The day on which it was said; a time that cannot be true is none."""
        if turn.when is not None:
            try:
                said = (turn.when.astimezone() if turn.when.tzinfo else turn.when).date()
            except (ValueError, OverflowError, OSError):
                said = date.max
            if _LONG_AGO <= said <= self.now.date() + timedelta(days=1):
                self.said = said
                return said
            self.notes.count(turn.line, "a time that lies in the future or long ago; not believed")
        if self.said is not None:  # a message without a time was said no earlier than the one before it
            return self.said
        fallback = self.options.day or self.day or self.now.date()
        return fallback if self.options.day else min(fallback, self.now.date())

    def finish(self, found: list[_Found], apply: bool, through: Resident | None) -> Ingested:
        """Leave out what the workspace knows, number the rest, and show or keep what was chosen."""
        ask: Callable[[Callable[[Index], list[Refusal | None]]], list[Refusal | None]]
        ask = through.run if through else lambda job: with_index(self.workspace, job)
        answers = ask(lambda index: self._known(index, found)) if found else []
        proposed: list[Proposed] = []
        for each, answer in zip(found, answers, strict=True):
            if answer is not None:
                self._refuse(each.line, answer, each.rule, each.quote)
                continue
            anchor = (each.fact.source or "").partition(":")[2]
            proposed.append(
                Proposed(
                    len(proposed) + 1, each.fact, each.day, each.rule, each.reason, each.quote, each.turn.role, anchor
                )
            )
        chosen = [each for each in proposed if self._is_chosen(each.number, len(proposed))]
        kept, diffs = self._write(chosen, apply)
        told = [str(notice) for notice in self.notes.all()]
        refused = tuple(sorted(self.refused, key=lambda each: each.line))
        return Ingested(
            tuple(chosen), refused, self.counts, kept, diffs, (*told, *self.warnings), self.notes.form,
            self.notes.encoding, self.turns, self.complete,
        )  # fmt: skip

    def _known(self, index: Index, found: Sequence[_Found]) -> list[Refusal | None]:
        wait = 10.0 if self.seconds is None else min(0.2, self.seconds)
        report = sync(self.workspace, index, wait=wait, seconds=self.seconds)
        if report.stale:
            self.warnings.append(f"what is known was looked up in an index that is behind: {report.stale}")
        already = Already(index, [each.fact for each in found], self.name)
        return [already.refusal(each.fact, each.day, each.turn.role) for each in found]

    def _is_chosen(self, number: int, most: int) -> bool:
        only, but = self.options.only, self.options.but
        for wanted in (only or frozenset()) | but:
            if wanted > most:
                raise Usage(f"there is no candidate {wanted}; there are {most}", "see the numbers with --review")
        return (only is None or number in only) and number not in but

    def _write(self, chosen: Sequence[Proposed], apply: bool) -> tuple[tuple[Kept, ...], tuple[tuple[date, str], ...]]:
        """Retain by day, the oldest first: what is kept when a later day fails stays kept, and the next run goes on."""
        kept: list[Kept] = []
        diffs: list[tuple[date, str]] = []
        for day in sorted({each.day for each in chosen}):
            facts = [each.fact for each in chosen if each.day == day]
            done = retain(self.workspace, facts, day, dry_run=not apply)
            if apply:
                kept += done.kept
            elif done.diff:
                diffs.append((day, done.diff))
            self.warnings += [warning for warning in done.warnings if warning not in self.warnings]
        return tuple(kept), tuple(diffs)


def _place(text: str, quote: str) -> int:
    """How many lines below the beginning of a message a sentence of it stands."""
    at = text.find(quote[:60].split("\n", 1)[0]) if quote else -1
    return text.count("\n", 0, at) if at > 0 else 0
