"""Label: write a question and the lines that answer it into a file of the workspace, for `eval` to ask."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import MemctlError, NothingFound, PageUnreadable, Usage
from ..facts import Citation
from ..index.open_memory import OpenMemory
from ..index.queries.entries import by_refs, entries_at
from ..index.reread import page_lines, reread
from ..index.sync import sync
from ..notes.edits import diff, replace
from ..notes.files import append, confirm, in_style, read_page
from ..notes.workspace import Workspace
from ..system import open_regular
from .metrics import overlap

_CURE = 'write one JSON object a line: {"question": "…", "gold": ["memory/2025-11-27.md#L12"]}'
LONGEST = 1 << 20  # bytes of one line
QUESTIONS = "questions.jsonl"


class LocatedGold(NamedTuple):
    """Where a gold item stands now."""

    gold: Gold
    places: tuple[Citation, ...] = ()  # any of them answers; none at all: it points at nothing
    moved: bool = False  # its id was found on other lines than the label cites
    changed: bool = False  # nobody has its id any more: the cited line says something else now, and is taken as meant


class Golden:
    """Finds what labels mean in a workspace as it stands; each page is read once."""

    def __init__(self, memory: OpenMemory) -> None:
        self._workspace, self._index = memory.workspace, memory.index
        self._lines = cache(partial(page_lines, memory.workspace))

    def find(self, gold: Gold) -> LocatedGold:
        """Where a gold item stands."""
        citation, named = gold_target(gold.said)
        cited = self._standing(citation) if citation else None
        ref = gold.ref or named
        if ref is None:
            return LocatedGold(gold, (cited,) if cited else ())
        entries = by_refs(self._index, [ref])
        entries = [entry for entry in entries if entry.block is None] or entries  # copies only where there is no other
        places = tuple(each.cited for each in reread(self._workspace, entries).values())
        if not places:
            return LocatedGold(gold, (cited,), changed=True) if cited else LocatedGold(gold)
        here = tuple(place for place in places if cited and overlap(place, cited))
        return LocatedGold(gold, here or places, moved=citation is not None and not here)

    def _standing(self, citation: Citation) -> Citation | None:
        """The citation with its path as the workspace spells it, if at least one of its lines says something."""
        try:
            path = self._workspace.contain(citation.path)
            said = self._lines(path)[max(0, citation.line - 1) : citation.end_line]
        except MemctlError:
            return None
        return citation._replace(path=path) if any(map(str.strip, said)) and citation.line > 0 else None


class Sessions:
    """To which session each line belongs; without a list of them, every page is one."""

    def __init__(self, listed: dict[str, dict[int, str]]) -> None:
        self._listed = listed
        self.word = "session" if listed else "page"

    def of(self, place: Citation) -> str | None:
        """The session of the first line of a citation that has one."""
        if not self._listed:
            return place.path
        lines = self._listed.get(place.path, {})
        return next((lines[n] for n in range(place.line, min(place.end_line, place.line + 99) + 1) if n in lines), None)

    def of_all(self, places: Iterable[Citation]) -> tuple[str, ...]:
        """The sessions of some citations, each once, in order."""
        found = (self.of(place) for place in places)
        return tuple(dict.fromkeys(name for name in found if name is not None))


def read_sessions(path: Path, workspace: str) -> Sessions:
    """`sessions.jsonl` (`source`, `session`, optional `workspace`) as far as it is about this workspace."""
    listed: dict[str, dict[int, str]] = defaultdict(dict)
    for number, text in lines_of(path) if path.is_file() else ():
        bare = text.strip(" \t\r\n\0\ufeff")
        if not bare:
            continue
        try:
            row = json.loads(bare)
            citation = Citation.parse(row["source"])
            session = str(row["session"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            citation = None
        if citation is None:
            raise Usage(f"line {number} of {path} is not a session", 'write {"source": "path#L12", "session": "name"}')
        if row.get("workspace") in (None, workspace):
            lines = range(citation.line, min(citation.end_line, citation.line + 9_999) + 1)
            listed[citation.path].update(dict.fromkeys(lines, session))
    return Sessions(dict(listed))


class Gold(NamedTuple):
    """One item that answers, as the label says it: a citation, an id or a page, and the id of the cited line if kept."""

    said: str
    ref: str | None = None


class LabelledQuestion(NamedTuple):
    """A labelled question, and the line of the file on which it stands."""

    line: int
    text: str
    gold: tuple[Gold, ...] = ()
    sessions: tuple[str, ...] = ()
    type: str = ""
    as_of: str | None = None
    workspace: str | None = None
    id: str | None = None
    file: str = ""

    @property
    def place(self) -> str:
        """`questions.jsonl line 4`."""
        return f"{self.file} line {self.line}".lstrip()


def read_label(text: str, line: int) -> LabelledQuestion | None:
    """The question on a line of a label file, None for a blank one; Usage, which names the line, for anything else.

    Unknown keys are ignored. `gold` and `gold_sessions` may be a single string; `session` is another name of the latter.
    """
    bare = text.strip(" \t\r\n\0\ufeff")  # a power failure leaves zeros, an editor a byte order mark
    if not bare:
        return None
    try:
        read = json.loads(bare)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else getattr(error, "msg", str(error))
        raise Usage(f"line {line} is not JSON: {reason}", _CURE) from None
    if not isinstance(read, dict):
        raise Usage(f"line {line} is not a JSON object", _CURE)
    question = read.get("question")
    if not isinstance(question, str) or not question.strip():
        raise Usage(f'line {line} has no "question"', _CURE)
    as_of = read.get("as_of")
    if as_of is not None and not isinstance(as_of, str):
        raise Usage(f'line {line}: "as_of" is not a day', 'write "as_of": "2025-11-27"')
    sessions = _strings(read, "gold_sessions", line) or _strings(read, "session", line)
    return LabelledQuestion(
        line, _clean(question), _gold(read, line), tuple(dict.fromkeys(filter(None, sessions))), _word(read.get("type")) or "",
        as_of or None, _word(read.get("workspace")), _word(read.get("id")),
    )  # fmt: skip


def _gold(read: dict[str, Any], line: int) -> tuple[Gold, ...]:
    """Citations with their ids; an id without a citation stands for itself."""
    pairs = zip_longest(_strings(read, "gold", line), _strings(read, "gold_ids", line), fillvalue="")
    items = (Gold(said or ref, ref.removeprefix("^") or None if said else None) for said, ref in pairs if said or ref)
    return tuple({item.said: item for item in items}.values())


def _strings(read: dict[str, Any], key: str, line: int) -> list[str]:
    value = read.get(key)
    listed = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(listed, list) or not all(item is None or isinstance(item, str) for item in listed):
        raise Usage(f'line {line}: "{key}" is not a list of strings', _CURE)
    return [_clean(item or "").strip() for item in listed]


def _word(value: object) -> str | None:
    return None if value is None or value == "" else _clean(value if isinstance(value, str) else json.dumps(value))


def _clean(text: str) -> str:
    """Text that can be looked for and printed: JSON may spell zeros and halves of characters."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def gold_target(said: str) -> tuple[Citation | None, str | None]:
    """The lines and the id that the words of a gold item mean; both, where the id knows better.

    `path#L12`, `path#L12-L14`, `path#L12 ^id`, `^id`, `id`, or `path.md` for any line of that page.
    """
    where, _, ref = said.strip().rpartition(" ^")
    citation = Citation.parse(where or said)
    if citation is None and said.strip().lower().endswith((".md", ".markdown")):
        citation = Citation(said.strip(), 1, 10**9)
    if citation:
        return citation, ref if where else None
    return None, said.strip().removeprefix("^")


def render_label(question: LabelledQuestion, onto: str | None = None) -> str:
    """The line that `read_label` reads as this question, without its line break.

    `onto` is the line whose place it takes: what that says beside the label (`answer`, any key of yours) stays.
    """
    made: dict[str, Any] = json.loads(onto.strip(" \t\r\n\0\ufeff")) if onto else {}
    ids = [item.ref for item in question.gold]
    made |= {"question": question.text, "type": question.type or None, "as_of": question.as_of}
    made |= {"gold": [item.said for item in question.gold], "gold_ids": ids if any(ids) else None}
    made |= {"gold_sessions": None, "session": None}  # they were those of other gold
    return json.dumps({key: value for key, value in made.items() if value is not None}, ensure_ascii=False)


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """(number, text) of every line. PageUnreadable for what cannot be read, Usage for a line that is not text."""
    try:
        with open_regular(path) as stream:
            for number, line in enumerate(iter(partial(stream.readline, LONGEST + 1), b""), 1):
                if len(line) > LONGEST:
                    raise Usage(f"line {number} of {path} is longer than 1 MiB", "write one JSON object a line")
                try:
                    text = line.decode()
                except UnicodeDecodeError:
                    raise Usage(f"line {number} of {path} is not UTF-8", "save it as UTF-8") from None
                yield number, text
    except (OSError, ValueError) as error:  # the latter for a name that is none
        reason = getattr(error, "strerror", None) or str(error)
        raise PageUnreadable(str(path), reason, "name a file of labelled questions (JSONL)") from error


def label_text(workspace: Workspace, path: str) -> str:
    """The whole text of a label file in the workspace; empty where there is none yet."""
    return read_page(workspace, path).text if (workspace.root / path).exists() else ""


class Labelled(NamedTuple):
    """Where the labelled question stands now (`path#Lline`), as it was written; `already` if it stood there before."""

    place: Citation
    question: LabelledQuestion
    already: bool
    diff: str


class LabelOptions(NamedTuple):
    """Into which file of the workspace a label goes, of which type and day it is, and whether it may replace another."""

    file: str = QUESTIONS
    type: str = ""
    as_of: str | None = None
    replacing: bool = False
    dry_run: bool = False


def label(memory: OpenMemory, text: str, citations: Sequence[str], options: LabelOptions) -> Labelled:
    """Append a labelled question durably; each citation must point at something, and its line's id is kept beside it.

    The same question again says where it stands. With other citations it is an error, unless `replacing`.
    """
    workspace = memory.workspace
    path = workspace.contain(options.file)
    if not path.lower().endswith((".jsonl", ".ndjson")) or path.startswith(".memory/"):
        cure = "name a .jsonl file of the workspace; .memory/ is derived"
        raise Usage(f"{options.file} is not a place for labels", cure)
    said = _clean(" ".join(text.replace("\0", " ").split()))
    if not said:
        raise Usage("the question is empty", 'memctl eval --add "question" memory/2025-11-27.md#L12')
    if not citations:
        cure = "name citations (path#L12) or ids; `memctl recall` prints them"
        raise Usage("a labelled question needs what answers it", cure)
    gold = memory.run(lambda opened: _gold_of(opened, citations))
    asked = LabelledQuestion(0, said, gold, type=options.type, as_of=options.as_of)
    write = _rewrite if options.replacing else _append
    return write(workspace, path, asked, options.dry_run)


def _gold_of(memory: OpenMemory, citations: Sequence[str]) -> tuple[Gold, ...]:
    sync(memory.workspace, memory.index)
    golden = Golden(memory)
    found: dict[str, Gold] = {}
    for said in citations:
        citation, ref = gold_target(said)
        standing = golden.find(Gold(said))
        if not standing.places:
            cure = "cite a line that says something, as `memctl recall` prints it"
            raise NothingFound(f"{said!r} points at nothing", cure)
        for place in standing.places if citation is None else standing.places[:1]:
            whole = place.end_line == 10**9
            entries = [] if whole else entries_at(memory.index, place)
            refs = {entry.ref for entry in entries if entry.block is None}
            spelt = place.path if whole else str(place)
            found[spelt] = Gold(spelt, ref or (refs.pop() if len(refs) == 1 else None))
    return tuple(found.values())


def _append(workspace: Workspace, path: str, asked: LabelledQuestion, dry_run: bool) -> Labelled:
    line = f"{render_label(asked)}\n"
    if dry_run:
        before = label_text(workspace, path)
        added = in_style(line, before)
    else:
        done = append(workspace, path, lambda before: "" if _there(path, before, asked) else line)
        before, added = done.before, done.added
    if there := _there(path, before, asked):
        return there
    number = (before + added).count("\n")
    change = diff(path, before, before + added) if dry_run else ""
    return Labelled(Citation(path, number, number), asked._replace(line=number), False, change)


def _there(path: str, before: str, asked: LabelledQuestion) -> Labelled | None:
    """The same question where it stands; Usage if it is labelled otherwise there."""
    old = _asked_before(path, before, asked)
    if old is None:
        return None
    place = Citation(path, old.line, old.line)
    if {item.ref or item.said for item in old.gold} != {item.ref or item.said for item in asked.gold}:
        raise Usage(f"{place} asks the same and is labelled otherwise", "--replace puts this in its place")
    return Labelled(place, old, True, "")


def _asked_before(path: str, text: str, asked: LabelledQuestion) -> LabelledQuestion | None:
    """The first question in a file that differs from this one in case and spaces only."""
    try:
        read = [read_label(line, number) for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1)]
    except Usage as error:
        raise Usage(f"{path}: {error.what}", error.cure) from None
    words = asked.text.casefold().split()
    return next((question for question in read if question and question.text.casefold().split() == words), None)


def _rewrite(workspace: Workspace, path: str, asked: LabelledQuestion, dry_run: bool) -> Labelled:
    before = label_text(workspace, path)
    old = _asked_before(path, before, asked)
    if old is None:
        return _append(workspace, path, asked, dry_run)
    made = asked._replace(line=old.line, id=old.id, type=asked.type or old.type, as_of=asked.as_of or old.as_of)
    lines = before.split("\n")
    ending = "\r" if lines[old.line - 1].endswith("\r") else ""
    lines[old.line - 1] = render_label(made, lines[old.line - 1]) + ending
    after = "\n".join(lines)
    place = Citation(path, old.line, old.line)
    if dry_run:
        return Labelled(place, made, before == after, diff(path, before, after))
    if before == after:
        confirm(workspace, path)
    else:
        replace(workspace, path, before.encode(), after.encode())
    return Labelled(place, made, before == after, "")
