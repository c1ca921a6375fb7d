"""Ingest: a conversation that took place becomes lines in the logs of the days on which things were said.

The order of work: the transcript is streamed, what nobody said in it is blanked out, candidates are found and judged
(filter.py), what the workspace knows is left out (dedup.py), what was told or is certain is shown or retained, by day, and
the rest waits in bank/review.md until `memctl review` is answered.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from ..errors import MemctlError, NothingFound, PageUnreadable, Usage
from ..facts import Fact, Kind, days_before, iso_day, known_options, said_as
from ..ids import fact_id
from ..index.open_memory import OpenMemory
from ..index.queries.entity_names import names_told
from ..index.queries.evidence import settled
from ..index.sync import sync
from ..language.analyzer import terms
from ..language.dates import log_day
from ..language.names import bare_name, entity_key
from ..markdown.grammar import parse
from ..markdown.lines import Role, content_of
from ..notes.files import read_page
from ..notes.workspace import Workspace
from ..retain.retain import RetainedFact, retain
from ..review.keep import PAGE, Uncertain, change_candidates
from ..system import open_regular
from .dedup import Duplicates
from .filter import STARTED_WITH, CandidateFilter, Refusal, blanked, names_of, slot_key
from .formats import FORMS, read_transcript
from .json_stream import known_encoding
from .own_words import any_language
from .turns import Notes, Turn, numbered

if TYPE_CHECKING:
    from ..recall.lookup import Passage
    from .extract import CandidateFact as CandidateFact

_PIECE = 1 << 18
_OF_A_LOG = 5  # questions that the prose of one day may raise
_DAY = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")
_MAX_CANDIDATES = 20_000  # of one run; the rest comes with the next, which finds these known
_MAX_REFUSED = 2_000  # refusals that are listed one by one
_LONG_AGO = date(1990, 1, 1)  # nobody kept a chat before
NEWEST = 4 << 20  # bytes of a session that are looked at in a hurry
_TAKEN_FROM = re.compile(r"\w+:(?P<path>.+)#L(?P<line>\d+)")
_ENDINGS = (".jsonl", ".json", ".md", ".txt")
_SAYS = 0.6  # of the terms of a fact: what a turn that says it holds at the least, since ingest shortens and joins
_MODEL_WINDOW = 1 << 20  # characters of the newest turns, which a local model may be asked about


class TranscriptSource(NamedTuple):
    """A stream of bytes, what lines cite it as (a path in the workspace, or a file's name), the day of the file.

    `first_line` is where it begins: above 1 where the beginning of a file is left out. `size` is in bytes, 0 if unknown.
    """

    pieces: Iterable[bytes]
    name: str
    day: date | None
    first_line: int = 1
    size: int = 0


@contextmanager
def open_transcript(workspace: Workspace, path: Path, newest: int | None = None) -> Iterator[TranscriptSource]:
    """The transcript at a path, open while in use. PageUnreadable for a folder, a device, or what may not be read.

    A named pipe with nobody writing to it would hang for ever: it is refused; `-` reads from a pipe. With `newest`, of a
    longer file of JSON lines only that many bytes at its end are given.
    """
    name = str(path)[:200]
    try:
        opened = open_regular(path)
    except (OSError, ValueError) as error:
        reason = "a folder" if isinstance(error, IsADirectoryError) else getattr(error, "strerror", None) or str(error)
        raise PageUnreadable(name, reason, "name a transcript, or - to read from stdin") from error
    with opened as stream:
        status = os.fstat(stream.fileno())
        first = _skip(stream, status.st_size - newest) if newest is not None else 1
        pieces, cited = stream_pieces(stream, name), _cited_as(workspace, path)
        yield TranscriptSource(pieces, cited, _day_of(path, status), first, status.st_size)


def _skip(stream: BinaryIO, size: int) -> int:
    """Go past some bytes of JSON lines to where the next line begins, and say which line that is; of another format none."""
    head = stream.read(2)
    stream.seek(0)
    if size <= 0 or head[:1] != b"{" or head[1:] not in b'" \t\r':
        return 1
    line = 1
    while size > 0 and (piece := stream.read(min(size, _PIECE))):
        line += piece.count(b"\n")
        size -= len(piece)
    stream.readline()
    return line + 1


def stream_pieces(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """The bytes of a stream, piece by piece."""
    read = getattr(stream, "read1", stream.read)
    try:
        while piece := read(_PIECE):
            yield piece
    except OSError as error:
        raise PageUnreadable(name, error.strerror or str(error)) from error


def _cited_as(workspace: Workspace, path: Path) -> str:
    try:
        found = path.resolve().relative_to(workspace.root).as_posix()
    except (ValueError, OSError, RuntimeError):
        found = path.name
    return re.sub(r"[\x00-\x1f\x7f\ud800-\udfff\s]+", " ", found).strip() or "transcript"


def _day_of(path: Path, status: os.stat_result) -> date | None:
    """The day in the file's name, else the one on which it was written last."""
    if days := [*filter(None, map(iso_day, _DAY.findall(path.name)))]:
        return days[0]
    with suppress(OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(status.st_mtime).date()
    return None


class IngestOptions(NamedTuple):
    """How a transcript is read, what is taken of it, and under which day.

    `form` is one of `formats.FORMS` and `encoding` a codec of Python; None is by content. `day` is for messages without a
    time; None is the day of the file. Candidates of an importance below `least` are refused. `owner` is the name of the
    speaker whose words are those of the owner. `trust_marks` says that no text of a Markdown transcript imitates the mark of a turn. `llm` asks the model of the settings too, where there is one. `only` and `but` are
    numbers of candidates as a review shows them.
    """

    form: str | None = None
    encoding: str | None = None
    day: date | None = None
    least: float = 0.0
    owner: str | None = None
    trust_marks: bool = False
    llm: bool = True
    only: frozenset[int] | None = None
    but: frozenset[int] = frozenset()


def read_options(**given: Any) -> IngestOptions:
    """The options of a call; Usage for an unknown form or encoding."""
    options = IngestOptions(**known_options(IngestOptions, given))
    if options.form is not None and options.form not in FORMS:
        raise Usage(f"--as {options.form!r} is unknown", ", ".join(FORMS))
    if options.encoding is not None and not known_encoding(options.encoding):
        raise Usage(f"--encoding {options.encoding!r} is unknown", "such as utf-8, utf-16, cp1251, gb18030")
    return options._replace(owner=bare_name(options.owner or "") or None)


class RefusedText(NamedTuple):
    """What is refused: the line of the transcript, the word and the sentence for why; no content of a secret."""

    line: int
    code: str
    reason: str
    rule: str = ""
    content: str = ""


@dataclass(frozen=True, slots=True)
class Ingested:
    """What there is to keep or ask about, what was refused and why, what was kept; not `complete` where time or room ran out."""

    candidates: tuple[CandidateFact, ...]
    asked: tuple[CandidateFact, ...]
    refused: tuple[RefusedText, ...]
    counts: dict[str, int]
    kept: tuple[RetainedFact, ...]
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


def ingest(
    memory: OpenMemory, transcript: Path | BinaryIO, *, apply: bool = False, options: IngestOptions = IngestOptions(),  # noqa: B008
    seconds: float | None = None,
) -> Ingested:  # fmt: skip
    """Look through a transcript, a file or an open stream, and with `apply` keep what is new in it.

    With `seconds` there is a hurry, as in a hook: of a long session only its newest part is looked at (what came before
    was when the hook ran before), and past the time what was read so far counts.

    PageUnreadable for what is not a file that can be read; what is odd inside of it is a warning.
    """
    opened: AbstractContextManager[TranscriptSource]
    if isinstance(transcript, Path):
        opened = open_transcript(memory.workspace, transcript, None if seconds is None else NEWEST)
    else:
        opened = nullcontext(TranscriptSource(stream_pieces(transcript, "stdin"), "stdin", None))
    notes = Notes()
    with opened as source:
        turns = read_transcript(
            _with_progress(memory, source), notes, form=options.form, encoding=options.encoding, owner=options.owner,
            first_line=source.first_line,
        )  # fmt: skip
        if options.form is None and source.name.startswith("memory/") and log_day(source.name):
            turns = iter(list(turns) or prose_turns(memory, source.name, notes))
        run = _IngestRun(memory, options, source, seconds, notes)
        if source.first_line > 1:
            run.stop(f"for lack of time, only what follows from line {source.first_line:,} on was looked at")
        return run.finish(run.candidates(turns), apply)


def prose_turns(memory: OpenMemory, path: str, notes: Notes) -> list[Turn]:
    """What a daily log tells in prose, each paragraph a message of who keeps it; not its facts, nor what is private or managed."""
    from ..markdown.page import parse_page
    from ..markdown.private import private_lines

    page = parse_page(read_page(memory.workspace, path).text)
    hidden = private_lines(page)
    notes.notices.clear()  # that no speaker is marked is as it should be
    told = [
        Turn("user", entry.content, entry.span.line, entry.span.end_line)
        for entry in page.entries
        if entry.role in (Role.TEXT, Role.ITEM)
        and not (entry.fact or entry.block or entry.problem or entry.span.line in hidden)
    ]
    return list(numbered(told, notes))


def ask_of_logs(memory: OpenMemory, since: date | None = None) -> list[str]:
    """Ask in review about what the prose of daily logs may hold that is worth keeping; the page, if it changed.

    Looked at are logs from `since` on (None: of the last seven days) until today in which nobody told a fact (an answer
    is none), and of each the weightiest candidates. Nothing is asked twice, nor where the block was edited by hand.
    """
    from ..markdown.page import parse_page

    first = since or days_before(memory.today, 7)
    asked: list[CandidateFact] = []
    for page in memory.workspace.scan():
        if not ((day := log_day(page.path)) and first <= day <= memory.today and page.path.startswith("memory/")):
            continue
        with suppress(MemctlError):
            entries = parse_page(read_page(memory.workspace, page.path).text).entries
            if all(each.fact.settles or each.fact.kind is Kind.OBSERVATION for each in entries if each.fact):
                found = ingest(memory, memory.workspace.root / page.path)
                told = sorted((*found.candidates, *found.asked), key=lambda each: -(each.fact.importance or 0.0))
                room = max(0, _OF_A_LOG - found.counts.get("answered", 0))
                asked += sorted(told[:room], key=lambda each: each.line)
    with suppress(MemctlError):
        return [PAGE] if change_candidates(memory.workspace.whole, map(_question, asked)) else []
    return []


def _with_progress(memory: OpenMemory, source: TranscriptSource) -> Iterator[bytes]:
    done = 0
    for piece in source.pieces:
        yield piece
        done += len(piece)
        if source.size:
            memory.progress(done >> 10, max(done, source.size) >> 10, "KiB read")


def ingest_exchange(
    memory: OpenMemory, user: str, assistant: str, *, apply: bool = True, seconds: float | None = None
) -> Ingested:
    """The same for one question and its answer, as a server is given them; what is kept goes into the log of today."""
    now = memory.now
    notes = Notes("openai", "utf-8")
    said = [Turn("user", user, 1, 1, now), Turn("assistant", assistant, 1, 1, now)]
    run = _IngestRun(memory, IngestOptions(llm=False), TranscriptSource([], "", now.date()), seconds, notes)
    run.speaker = "agent"
    return run.finish(run.candidates(numbered(said, notes)), apply)


class _IngestRun:
    def __init__(
        self, memory: OpenMemory, options: IngestOptions, source: TranscriptSource, seconds: float | None, notes: Notes
    ) -> None:
        self.memory, self.options, self.source, self.seconds, self.notes = memory, options, source, seconds, notes
        self.warnings: list[str] = []
        self.complete = True
        self.speaker: str | None = None  # the program that says what the user said
        self._ask_model = options.llm and bool(memory.workspace.settings.llm)
        self._filter = CandidateFilter(options.least)
        self._found: list[CandidateFact] = []
        self._refused: list[RefusedText] = []
        self._counts: Counter[str] = Counter()
        self._turns = 0
        self._names: dict[str, None] = {}  # of speakers, in order
        self._turn: Turn  # the one that is looked at
        self._for_model: deque[Turn] = deque()  # the newest turns, _MODEL_WINDOW characters of them
        self._model_room = _MODEL_WINDOW
        self._said_on: date | None = None  # the day of the last message with a time

    def candidates(self, turns: Iterable[Turn]) -> list[CandidateFact]:
        """The candidates of a stream of turns that the transcript itself does not speak against, in their order."""
        from .extract import candidates

        for candidate in candidates(self._readable(turns), owner=self.options.owner):
            self._take(candidate, self._turn)
            if len(self._found) >= _MAX_CANDIDATES:
                self.stop(f"{_MAX_CANDIDATES:,} candidates; run it again for what comes after them")
                break
        if self._ask_model:
            self._take_from_model()
        owner, names = self.options.owner, [*filter(None, self._names)]
        if owner and names and self.complete and entity_key(owner) not in map(entity_key, names):
            self.warnings.append(f"no speaker is called {owner}; this transcript has {', '.join(names)[:200]}")
        return sorted(self._found, key=lambda each: each.turn)

    def stop(self, warning: str) -> None:
        """Note that not everything is looked at, and why."""
        self.complete = False
        self.warnings.append(warning)

    def _readable(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        """The turns without what was pasted or recalled, as long as there is time."""
        deadline = time.monotonic() + self.seconds * 0.6 if self.seconds is not None else float("inf")
        for turn in turns:
            self._turns += 1
            if turn.role == "system":
                self._refuse(turn.line, STARTED_WITH)
                continue
            if turn.role in ("user", "assistant"):
                self._names[bare_name(turn.name or "")] = None
                turn = self._without_pasted(turn)
            self._turn = turn
            yield turn
            if time.monotonic() > deadline:
                self.stop(f"time was up at line {turn.end_line}; what comes after it was not read")
                return

    def _without_pasted(self, turn: Turn) -> Turn:
        text, left_out = blanked(turn.text)
        for line, lines, refusal in left_out:
            if turn.role == "user" or refusal.code != "code":
                extent = f"; {lines} lines" if lines > 1 else ""
                self._refuse(self._line(turn, line), refusal._replace(reason=refusal.reason + extent))
        turn = turn._replace(text=text)
        if self._ask_model:
            self._for_model.append(turn)
            self._model_room -= len(text)
            while self._model_room < 0 and len(self._for_model) > 1:
                self._model_room += len(self._for_model.popleft().text)
        return turn

    def _take(self, candidate: CandidateFact, turn: Turn) -> None:
        at = turn.text.find(candidate.quote[:60].split("\n", 1)[0])
        line = self._line(turn, turn.text.count("\n", 0, max(0, at)))
        fact = replace(candidate.fact, source=self._source(turn.role, line))
        judged = self._filter.judge(fact, candidate.quote, turn._replace(line=line))
        if isinstance(judged, Refusal):
            self._refuse(line, judged, candidate.rule, candidate.quote)
            return
        certain = candidate.judgement.is_certain
        if certain and not (turn.sure or self.options.trust_marks):
            certain = False
            told = "an answer can imitate the mark of a turn, so this is asked about; --trust-marks keeps it"
            self.notes.count(line, told)
        day = self._day(turn)
        self._found.append(candidate._replace(fact=judged, day=day, role=turn.role, line=line, certain=certain))

    def _take_from_model(self) -> None:
        """What a local model finds beside the rules, and its cues for what they found. If it fails, that is one warning."""
        from .llm_candidates import llm_candidates

        turns = {turn.number: turn for turn in self._for_model}
        found, warning = llm_candidates(self.memory.workspace.settings, list(self._for_model), self.seconds)
        for candidate in found:
            is_new = True
            for at, each in enumerate(self._found):
                if candidate.turn == each.turn and (candidate.quote in each.quote or each.quote in candidate.quote):
                    fact = replace(each.fact, cues=(*each.fact.cues, *candidate.fact.cues))
                    self._found[at], is_new = each._replace(fact=fact), False
            if is_new:
                self._take(candidate, turns[candidate.turn])
        if warning:
            self.warnings.append(warning)

    def _refuse(self, line: int, refusal: Refusal, rule: str = "", quote: str = "") -> None:
        self._counts[refusal.code] += 1
        if len(self._refused) < _MAX_REFUSED:
            shown = "" if refusal.code == "secret" else quote[:300]
            self._refused.append(RefusedText(line, refusal.code, refusal.reason, rule, shown))

    def _line(self, turn: Turn, below: int) -> int:
        """The line of the file for a line of a message; in JSON a message has but one."""
        return min(turn.line + below, turn.end_line) if self.notes.form == "markdown" else turn.line

    def _source(self, role: str, line: int) -> str:
        """`user:chat.jsonl#L12`: what a person said, the agent, or a tool, and where that can be read again."""
        as_user = self.memory.workspace.settings.may_speak_as_user
        origin = {"user": "user", "assistant": "agent"}.get(role, "tool")
        origin = said_as(origin, self.speaker, as_user) or origin
        return f"{origin}:{self.source.name}#L{line}" if self.source.name else origin

    def _day(self, turn: Turn) -> date:
        """The day on which it was said; a time that cannot be true does not count."""
        today = self.memory.today
        if turn.when is not None:
            said = date.max
            with suppress(ValueError, OverflowError, OSError):
                said = (turn.when.astimezone() if turn.when.tzinfo else turn.when).date()
            if _LONG_AGO <= said <= today + timedelta(days=1):
                self._said_on = said
                return said
            self.notes.count(turn.line, "a time that lies in the future or long ago; ignored")
        # A message without a time was said no earlier than the one before it.
        return self._said_on or self.options.day or min(self.source.day or today, today)

    def finish(self, found: Sequence[CandidateFact], apply: bool) -> Ingested:
        """Leave out what the workspace knows, number the rest, and show or keep what was chosen."""
        new: list[CandidateFact] = []
        asked: list[CandidateFact] = []
        looked_up = self.memory.run(lambda memory: self._known(memory, found)) if found else []
        for each, known in zip(found, looked_up, strict=True):
            if isinstance(known, Refusal):
                self._refuse(each.line, known, each.rule, each.quote)
            elif each.certain:
                new.append(each._replace(fact=known, number=len(new) + 1))
            else:
                asked.append(each._replace(fact=known))
        chosen = self._chosen(new)
        kept, diffs = self._write(chosen, apply)
        if apply and asked:
            try:
                change_candidates(self.memory.workspace.whole, map(_question, asked))
            except MemctlError as error:  # trouble there loses nothing that was kept
                self.warnings.append(f"what is uncertain ({len(asked)}) was not put into {PAGE}: {error}")
        refused = sorted(self._refused, key=lambda each: each.line)
        told = [str(notice) for notice in self.notes.all()]
        return Ingested(
            tuple(chosen), tuple(asked), tuple(refused), dict(self._counts), tuple(kept), tuple(diffs), (*told, *self.warnings),
            self.notes.form, self.notes.encoding, self._turns, self.complete,
        )  # fmt: skip

    def _known(self, memory: OpenMemory, found: Sequence[CandidateFact]) -> list[Fact | Refusal]:
        """Each fact with the line that it corrects, or why it is nothing new."""
        wait = 10.0 if self.seconds is None else min(0.2, self.seconds)
        report = sync(memory.workspace, memory.index, wait=wait, seconds=self.seconds, progress=memory.progress)
        if report.stale:
            self.warnings.append(f"duplicates were looked for in a stale index: {report.stale}")
        duplicates = Duplicates(memory, found, self.source.name)
        found = [each._replace(fact=self._correcting(each, duplicates)) for each in found]
        answered = settled(memory.index, [_question(each).id for each in found])
        looked_up: list[Fact | Refusal] = []
        for each in found:
            fact = self._about_known(memory, each)
            refusals = (duplicates.refusal(said, each.day, each.role) for said in (each.fact, fact))
            refusal = next(filter(None, refusals), None)
            if line := answered.get(_question(each).id):
                refusal = Refusal("answered", f"was asked about, and answered by {line.path}#L{line.line}")
            looked_up.append(refusal or duplicates.with_note(fact, each, _question(each._replace(fact=fact)).id))
        return looked_up

    def _about_known(self, memory: OpenMemory, each: CandidateFact) -> Fact:
        """The fact with the known names in its text, where it is about nobody yet; what the speaker says of themselves stays."""
        fact = each.fact
        if not each.certain or names_of(fact) or slot_key(fact) or any_language("says_i").search(each.quote):
            return fact  # a question must stay the same, so that it is asked once
        about = names_told(memory.index, fact.text)
        return replace(fact, entities=about[:3]) if about else fact

    def _correcting(self, each: CandidateFact, duplicates: Duplicates) -> Fact:
        """The fact with the id of the line that says what it corrects: one of the workspace, or of this transcript."""
        if each.instead and (made := duplicates.in_its_place(each.fact, *each.instead)):
            return made
        if not each.corrects:
            return each.fact
        if line := duplicates.line_that_says(each.corrects, each.fact, more=2):
            return replace(each.fact, corrects=(line.ref,))
        said = [one for one in self._found if one.turn < each.turn and one.fact.text == each.corrects]
        refs = [fact_id(one.fact.kind, names_of(one.fact), one.fact.text, one.day) for one in said[-1:]]
        return replace(each.fact, corrects=tuple(refs))

    def _chosen(self, new: Sequence[CandidateFact]) -> list[CandidateFact]:
        only, but = self.options.only, self.options.but
        for wanted in (only or frozenset()) | but:
            if wanted > len(new):
                raise Usage(f"there is no candidate {wanted}; there are {len(new)}", "see the numbers with --review")
        return [each for each in new if (only is None or each.number in only) and each.number not in but]

    def _write(self, chosen: Sequence[CandidateFact], apply: bool) -> tuple[list[RetainedFact], list[tuple[date, str]]]:
        """Retain by day, the oldest first: what is kept when a later day fails stays kept, and the next run goes on."""
        kept: list[RetainedFact] = []
        diffs: list[tuple[date, str]] = []
        for day in sorted({each.day for each in chosen}):
            facts = [each.fact for each in chosen if each.day == day]
            done = retain(self.memory, facts, day, dry_run=not apply)
            if apply:
                kept += done.kept
            elif done.diff:
                diffs.append((day, done.diff))
            self.warnings += [warning for warning in done.warnings if warning not in self.warnings]
        return kept, diffs


def _question(each: CandidateFact) -> Uncertain:
    return Uncertain(each.fact, each.day, f"{each.rule}: {each.reason}")


# -- back from a fact to the conversation in which it was said, also when that has moved or was edited since ------------


class SourceConversation(NamedTuple):
    """A conversation at the point where a fact was said: `turns[place]` of the transcript at `path` says it.

    `cited` is where the fact says that it stands.
    """

    ref: str | None
    cited: str
    path: str
    turns: tuple[Turn, ...]
    place: int

    def as_json(self) -> dict[str, Any]:
        """The conversation as plain values."""
        turns = [{"role": turn.role, "line": turn.line, "text": turn.text} for turn in self.turns]
        return {"id": self.ref, "cited": self.cited, "path": self.path, "turns": turns, "said": self.place}


def said_in(memory: OpenMemory, references: Sequence[str], context: int = 1) -> tuple[SourceConversation, ...]:
    """Where the facts that references point at were said, with `context` turns around each; NothingFound for what is none.

    The transcript is looked for where the fact says that it lies, then by its name and by its words anywhere in the workspace.
    """
    from ..recall.lookup import show_all

    return tuple(_conversation(memory, passage, context) for passage in show_all(memory, references, 0))


def _conversation(memory: OpenMemory, passage: Passage, context: int) -> SourceConversation:
    fact = parse(content_of(Role.FACT, passage.lines))
    source = _TAKEN_FROM.fullmatch(fact.source or "") if isinstance(fact, Fact) else None
    if not isinstance(fact, Fact) or source is None:
        cure = "name a fact whose `src=` names a transcript, such as src=user:chat.md#L3"
        raise NothingFound(f"{passage.citation} does not say in which conversation it was said", cure)
    wanted, cited = frozenset(terms(fact.text)), source[0].partition(":")[2]
    for path in _places(memory, source["path"]):
        if found := _turns_around(_turns_of(memory, path), wanted, int(source["line"]), context):
            return SourceConversation(passage.ref, cited, path, *found)
    what = f"no file of the workspace says what {passage.citation} was taken from; it was {cited}"
    raise NothingFound(what, "put the transcript back, into any folder of the workspace")


def _places(memory: OpenMemory, cited: str) -> list[str]:
    """Where a transcript may lie, the likeliest first; of memory/ and bank/ only what has its name."""
    root, name = memory.workspace.root, Path(cited).name
    near: list[str] = []
    for folder, folders, files in os.walk(root):
        folders[:] = [each for each in folders if not each.startswith(".")]
        for each in files:
            path = Path(folder, each).relative_to(root).as_posix()
            if each == name or (path.endswith(_ENDINGS) and not path.startswith(("memory/", "bank/"))):
                near.append(path)
    return sorted(near, key=lambda path: (path != cited, Path(path).name != name, path))


def _turns_around(
    said: Iterable[Turn], wanted: frozenset[str], line: int, context: int
) -> tuple[tuple[Turn, ...], int] | None:
    """The turn that says most of it, of several the one on that line, with those around it and its place among them."""
    before: deque[Turn] = deque(maxlen=context)
    best, found, place = (0, False), list[Turn](), 0
    for turn in said:
        score = len(wanted.intersection(terms(turn.text))), turn.line <= line <= turn.end_line
        if score[0] >= max(1, _SAYS * len(wanted)) and score > best:
            best, found, place = score, [*before, turn], len(before)
        elif found and len(found) <= place + context:
            found.append(turn)
        before.append(turn)
    return (tuple(found), place) if found else None


def _turns_of(memory: OpenMemory, path: str) -> Iterator[Turn]:
    """What was said in a file; nothing where it cannot be read, or leads out of the workspace."""
    with suppress(MemctlError):
        if log_day(memory.workspace.contain(path)) and path.startswith("memory/"):
            yield from prose_turns(memory, path, Notes())
        elif memory.workspace.hides is None:  # a transcript is not a page: others than the owner do not see it
            with open_transcript(memory.workspace, memory.workspace.root / path) as source:
                yield from read_transcript(source.pieces, Notes())
