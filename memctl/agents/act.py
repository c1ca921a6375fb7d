"""Act: do what the bracket commands in a model's reply ask for, one after the other; one that fails stops no other.

What a model says is kept as `src=agent`, or less trusted if it says so, never more. Nothing is overwritten. A document under
bank/ says in its front matter where it comes from, which holds for every line of it and tells it from the pages of a person.
It makes no facts, blocks or ids: those have commands with checks of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..context.fence import fence, tamed
from ..errors import MemctlError, NothingFound, OutsideWorkspace, Refused, Usage
from ..facts import Fact, Kind, is_trusted
from ..hits import Hit, hit_json
from ..index.rows import rows_of
from ..language.analyzer import query_terms
from ..language.names import bare_name, slug
from ..language.secrets import find_secrets
from ..markdown.attributes import ATTRIBUTES
from ..markdown.escape import defused
from ..markdown.front_matter import source_of
from ..markdown.grammar import Problem, clean, with_attributes
from ..markdown.lines import Role, split_lines
from ..markdown.page import front_matter_end, live_blocks, open_end
from ..memory import Memory
from ..notes.edits import create, diff
from ..notes.files import append, in_style, read_page
from ..retain.retain import as_said, citing_known, fact_kind
from .brackets import COMMANDS, Command, read_reply

MOST = 32  # commands of one reply that are done
_MOST_REPLY = 4 * 1024 * 1024  # characters
_HITS, _HIT_TOKENS = 5, 800
_FEWEST, _MOST_LINES = 3, 200  # words of a document's line that is compared with what came from outside; such lines
_MOST_READ = 8_000  # characters of a document; about two thousand tokens
_PLACEHOLDER = re.compile(r"[.…\s]*|\.\.\.|<[\w .…]{1,40}>|TEXT|VALUE|KEY")


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What became of one command."""

    command: str
    line: int
    ok: bool
    told: str  # our own sentence
    code: int = 0  # of one that failed, the exit code that it would have had by itself
    cure: str = ""
    recalled: str = ""  # text of the workspace: data, to be fenced
    diff: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)  # the rest as JSON

    @property
    def fenced(self) -> str:
        """`recalled` as a block that a model takes for data."""
        return fence(tamed(self.recalled)) if self.recalled else ""

    def as_json(self) -> dict[str, Any]:
        """The result as plain values."""
        made: dict[str, Any] = {"command": self.command, "line": self.line, "ok": self.ok}
        if not self.ok:
            return made | defused({"error": self.told, "cure": self.cure, "code": self.code})
        return made | defused({"told": self.told, **self.data} | ({"diff": self.diff} if self.diff else {}))


@dataclass(frozen=True, slots=True)
class Acted:
    """The reply without its commands, their results in order, and how many commands stood in code, quotes or thinking."""

    reply: str
    results: tuple[CommandResult, ...]
    ignored: int


def act(memory: Memory, reply: str, *, dry_run: bool = False, read_only: bool = False, private: bool = False) -> Acted:
    """Do what the commands of a reply ask for. Usage for a reply that is too long; never raises for its commands.

    With `dry_run` they only show what they would write; `read_only` refuses those that write; `private` shows private lines.
    """
    if len(reply) > _MOST_REPLY:
        raise Usage(f"a reply of {len(reply):,} characters", f"act reads at most {_MOST_REPLY:,}")
    read = read_reply(reply)
    actor = _Actor(memory, dry_run, read_only, private)
    results = tuple(actor.do(number, command) for number, command in enumerate(read.commands))
    return Acted(read.text, results, read.ignored)


class _Actor:
    """Does one command after the other."""

    def __init__(self, memory: Memory, dry_run: bool, read_only: bool, private: bool) -> None:
        self._memory, self._workspace, self._private = memory, memory.workspace, private
        self._dry_run, self._read_only = dry_run, read_only

    @property
    def _seen(self) -> Memory:
        """The memory as the model may see it, and write to it."""
        return self._memory if self._private else self._memory.public()

    def do(self, number: int, command: Command) -> CommandResult:
        """The result of a command, whatever comes in its way."""
        jobs: dict[str, Callable[[Command], CommandResult]] = {
            "SAVE_FACT": self._save_fact, "GET_FACT": self._get_fact, "SEARCH_MEMORY": self._search,
            "SAVE_DOC": self._save_doc, "READ_DOC": self._read_doc, "ANSWER": self._answer,
        }  # fmt: skip
        try:
            if command.problem:
                raise Usage(command.problem, "write it again, whole")
            if number >= MOST:
                raise Usage(f"more than {MOST} commands in one reply", "write the rest in the next one")
            if self._read_only and command.name.startswith(("SAVE", "ANSWER")):
                raise Refused("nothing may be saved here", "act was called with --read-only")
            return jobs[command.name](command)
        except MemctlError as error:
            return CommandResult(command.name, command.line, False, error.what, error.exit_code, error.cure)

    def _save_fact(self, command: Command) -> CommandResult:
        fact, notes = _fact(command.values)
        seen = self._seen
        kept = seen.retain(fact, said_by="agent", dry_run=self._dry_run)
        (one,), (near,) = kept.kept, seen.near(kept)
        done = "stood there already" if one.already else "would be saved" if self._dry_run else "saved"
        notes += list(kept.warnings)
        offered = [each for each in near if each.why]
        asked = [f"it may replace what stands below; ANSWER {each.HOW}" for each in offered[:1]]
        told = "; ".join([f"{done}: {one.citation} ^{one.ref}", *notes, *asked])
        data = one.as_json() | {"origin": fact.source, "notes": notes, "near": [each.offer_json() for each in offered]}
        older = "\n".join(f"- {each.id} {each.older}" for each in offered)
        return CommandResult(command.name, command.line, True, told, recalled=older, diff=kept.diff, data=data)

    def _answer(self, command: Command) -> CommandResult:
        given, key = _required(command, "question"), _required(command, "option").lower()
        done = self._seen.answer(given, key, said_by="agent", dry_run=self._dry_run)
        told = f"{'would be answered' if self._dry_run else 'answered'}: {done.citation}"
        data = {"id": done.question.id, "option": done.option, "source": str(done.citation)}
        return CommandResult(command.name, command.line, True, told, diff=done.diff, data=data)

    def _get_fact(self, command: Command) -> CommandResult:
        key = _required(command, "key")
        about = next(iter(_names(command.values.get("about", ""))), None)
        whose = f" of {about}" if about else ""
        for spelled in dict.fromkeys((key, _folded(key))):
            with suppress(NothingFound):
                return _found(command, f"{key}{whose}", self._seen.fact(spelled, about))
        raise NothingFound(f"nothing is known as {key!r}{whose}", "try SEARCH_MEMORY")

    def _search(self, command: Command) -> CommandResult:
        words = _required(command, "query")
        about, since = _names(command.values.get("about", "")), command.values.get("since")
        answer = self._seen.recall(words, about=about, since=since, k=_HITS, budget=_HIT_TOKENS)
        if not answer.hits:
            raise NothingFound("nothing found", "try other words")
        return _found(command, f"{len(answer.hits)} found", answer.hits, [answer.stale] if answer.stale else [])

    def _save_doc(self, command: Command) -> CommandResult:
        values = command.values
        path = self._place(values.get("folder", ""), _required(command, "name"))
        source, notes = _source(values.get("source"))
        content = citing_known(self._seen, prepared(_required(command, "content")))
        if is_trusted(source):
            compared = [line for line in content.split("\n") if len(query_terms(line)) >= _FEWEST][:_MOST_LINES]
            as_said(self._seen, [Fact(Kind.NOTE, line) for line in compared], "agent")
        title = re.split(r"[/\\]", values["name"].strip().rstrip("/"))[-1]
        before, added = self._write(path, title, content, source)
        done = "stood there already" if not added else "added to" if before else "saved"
        if self._dry_run and added:
            done = f"would be {done}"
        told = "; ".join([f"{done}: {path}", *notes])
        change = diff(path, before, before + added) if self._dry_run else ""
        appended = bool(before and added)
        data = {"path": path, "already": not added, "appended": appended, "origin": source, "notes": notes}
        return CommandResult(command.name, command.line, True, told, diff=change, data=data)

    def _write(self, path: str, title: str, content: str, source: str) -> tuple[str, str]:
        """Make the document, or add to it; returns the text that was there, and what came after it."""
        if not (self._workspace.root / path).exists():
            text = document_text(path, title, content, source)
            if self._dry_run or create(self._workspace, path, text):
                return "", text

        workspace, day = self._seen.workspace, str(self._memory.today)
        more = partial(with_more, path, content=content, day=day, source=source)
        before = read_page(workspace, path).text
        added = more(before)  # a refusal, before anything is opened for writing
        if self._dry_run:
            return before, in_style(added, before)
        done = append(workspace, path, more)
        return done.before, done.added

    def _place(self, folder: str, name: str) -> str:
        """Where a document is, or is to be: a page of that name in other letters is that page."""
        path = self._workspace.contain(document_path(folder, name))
        if not self._workspace.is_page(path):
            raise Refused(f"{path} would not be read back", "save it in another folder")
        parts = ["bank"]
        for part in path.split("/")[1:]:
            here = self._workspace.root / "/".join(parts)
            if not (here / part).exists() and here.is_dir():
                alike = (each.name for each in sorted(here.iterdir()) if each.name.casefold() == part.casefold())
                part = next(alike, part)
            parts.append(part)
        return self._workspace.contain("/".join(parts))

    def _read_doc(self, command: Command) -> CommandResult:
        path = self._document(command.values.get("folder", ""), _required(command, "name"))
        (page,) = self._seen.show(path)
        source = source_of("\n".join(page.lines)) or "owner"
        whole = "\n".join(page.lines[front_matter_end(page.lines) :]).strip("\n")
        text, is_cut = whole[:_MOST_READ], len(whole) > _MOST_READ
        told = f"{path}, {len(text):,} characters" + (f" of {len(whole):,}" if is_cut else "")
        told += "" if is_trusted(source) else f", from {source}: not confirmed"
        data = {"path": path, "text": text, "truncated": is_cut, "origin": source, "trusted": is_trusted(source)}
        return CommandResult(command.name, command.line, True, told, recalled=text, data=data)

    def _document(self, folder: str, name: str) -> str:
        """The path of a document that is there: spelled as it is, or as SAVE_DOC would spell it."""
        path = self._place(folder, name)
        exact = f"bank/{folder.strip('/ ')}/{name.strip('/ ')}".replace("bank/bank/", "bank/").replace("//", "/")
        for spelled in (exact, f"{exact}.md", path):
            if (self._workspace.root / self._workspace.contain(spelled)).is_file() and self._workspace.is_page(spelled):
                return spelled
        folder = path.rpartition("/")[0]
        pages = sorted((self._workspace.root / folder).glob("*.md"))
        near = [page.stem for page in pages if self._workspace.is_page(f"{folder}/{page.name}")][:8]
        raise NothingFound(f"there is no {path}", f"there are {', '.join(near)}" if near else "try SEARCH_MEMORY")


def _required(command: Command, name: str) -> str:
    value = command.values.get(name, "").strip()
    if not value:
        written = " ".join(f'{each}="…"' for each in COMMANDS[command.name][:3])
        raise Usage(f"{command.name} without {name}=", f"write [{command.name} {written}]")
    if _PLACEHOLDER.fullmatch(value):
        raise Usage(f"{name}={value!r} is only a placeholder", "write what is meant")
    return value


def _folded(key: str) -> str:
    """A key as SAVE_FACT writes it, so that GET_FACT finds it however a model spells it next time."""
    return re.sub(r"\s+", "_", key.strip().casefold())


def _names(written: str) -> list[str]:
    found = map(bare_name, re.split(r"[,;，；、|]", written))
    return list(filter(None, found))


def _source(written: str | None) -> tuple[str, list[str]]:
    """Where a model's text comes from: `agent`, or what it says if that is trusted less."""
    given = " ".join((written or "agent").split())
    if given.partition(":")[0] == "agent" or not is_trusted(given):
        return given, []
    return "agent", [f"src={given[:40]} is not for a model to say: kept as src=agent"]


def _fact(values: Mapping[str, str]) -> tuple[Fact, list[str]]:
    """The fact that a SAVE_FACT states, and what of it was not taken."""
    command = Command("SAVE_FACT", dict(values), 0, 0, 0)
    text = _required(command, "value")
    key = _folded(_required(command, "key")) if "key" in values else None
    source, notes = _source(values.get("source"))
    given = {each.name: values.get(each.long) for each in ATTRIBUTES if each.reply}
    for name in (each.name for each in ATTRIBUTES if each.reply and each.shape == "share"):
        if percent := re.fullmatch(r"\s*(\d{1,3})\s*%\s*", given[name] or ""):
            given[name] = str(int(percent[1]) / 100)
    is_private = values.get("private", "").lower() in ("true", "yes", "1", "private")
    given |= {"key": key, "src": source, "private": "true" if is_private else None}
    names = tuple(dict.fromkeys(_names(values.get("about", ""))))
    if any(re.search(r"[\[\]|#\n]", name) for name in names):
        raise Usage("about= needs names without [ ] | or #")
    kind = Kind.OPINION if values.get("confidence") else Kind.WORLD
    if "kind" in values:
        kind = fact_kind(values["kind"], f"kind={values['kind']!r}")
    made = with_attributes(Fact(kind, text, names), {name: [value] for name, value in given.items() if value})
    if isinstance(made, Problem):
        raise Usage(made.message.removeprefix("--"), made.suggestion)
    _refuse_secrets(f"{key or ''}: {text}", "leave it out: memory is not a place for secrets")
    unknown = sorted(values.keys() - set(COMMANDS["SAVE_FACT"]))
    return clean(made), notes + [f"{name}= is not known" for name in unknown]


def _refuse_secrets(text: str, cure: str) -> None:
    if found := find_secrets(text):
        raise Refused(f"this looks like a secret ({found[0].name})", cure)


def _found(command: Command, told: str, hits: Sequence[Hit], notes: Sequence[str] = ()) -> CommandResult:
    data = {"hits": [hit_json(hit) for hit in hits], "notes": list(notes)}
    recalled = "\n".join(map(_line, hits))
    return CommandResult(command.name, command.line, True, "; ".join([told, *notes]), recalled=recalled, data=data)


def _line(hit: Hit) -> str:
    """A hit on one line, with its citation and what there is to say about it."""
    said = (
        str(hit.source),
        hit.day if hit.day and hit.day not in hit.source.path else "",
        f"about {' and '.join(hit.entities[:3])}" if hit.entities else "",
        "" if hit.confidence is None else f"confidence {hit.confidence:g}",
        hit.standing,
        "" if is_trusted(hit.origin) else f"from {hit.origin}: not confirmed",
    )
    return f"- {' '.join(hit.content.split())} ({', '.join(filter(None, said))})"


_MOST = 256 * 1024  # characters of one document
_DEEPEST = 6  # folders under bank/
_OURS = {"world", "experience", "opinions", "lessons", "proposals"}
_MODELS = {"agent", "tool", "web"}  # where a document may come from that a model saved; an imported page is a person's
_DEVICES = re.compile(r"(?i)con|prn|aux|nul|com\d|lpt\d")
_BLOCK_ID = re.compile(r"(?m)((?:^|\s)\\*)(\^[A-Za-z0-9][A-Za-z0-9-]{0,63})(?=[ \t]*$)")


def document_path(folder: str, name: str) -> str:
    """`bank/FOLDER/NAME.md` with plain names. OutsideWorkspace for what leads out, Refused for what reflect writes."""
    spelled = f"{folder}/{name}".strip("/")
    if re.match(r"\s*(?:[/\\~]+[^\s/\\]|[A-Za-z]:)", folder) or re.match(r"\s*(?:[/\\~]|[A-Za-z]:[/\\])", name):
        raise OutsideWorkspace(spelled, "is not a place under bank/")
    parts = [part.strip() for part in re.split(r"[/\\]+", spelled) if part.strip()]
    if parts and parts[0].lower() == "bank":
        del parts[0]
    if any(part.startswith(".") for part in parts):
        raise OutsideWorkspace(spelled)
    if parts:
        parts[-1] = re.sub(r"(?i)\.(?:md|markdown)$", "", parts[-1])
    if not parts or not all(re.search(r"[^\W_]", part) for part in parts) or len(parts) > _DEEPEST + 1:
        raise Usage(f"{spelled[:80]!r} is not a name for a document", 'folder="notes" name="A short title"')
    named = [f"{made}-doc" if _DEVICES.fullmatch(made) else made for made in map(slug, parts)]
    return f"bank/{'/'.join(named)}.md"


def _refuse_place(path: str) -> None:
    inside = path.removeprefix("bank/").removesuffix(".md").casefold()
    if inside in _OURS or inside.startswith("entities/"):
        raise Refused(f"{path} is a page that reflect writes", "save facts with SAVE_FACT, documents in another folder")


def prepared(content: str) -> str:
    """The content as a page can hold it: plain line ends, no control characters, ids of other lines as mere text."""
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f\ufeff\ud800-\udfff]", "", content.replace("\r\n", "\n").replace("\r", "\n"))
    text = _BLOCK_ID.sub(r"\1\\\2", text).strip("\n").rstrip()
    if not text.strip(" .…"):
        raise Usage("the document has no content", 'write it as content="…"')
    if len(text) > _MOST:
        raise Usage(f"a document of {len(text):,} characters", f"save at most {_MOST:,} at a time")
    _refuse_secrets(text, "take it out and save the rest")
    return text


def document_text(path: str, title: str, content: str, source: str) -> str:
    """The text of a new document. Refused where it would say more than a document may."""
    _refuse_place(path)
    head = f"---\nsrc: {source}\n"
    if re.match(r"---[ \t]*\n(?s:.*?)^(?:---|\.\.\.)[ \t]*$", content, re.MULTILINE):
        text = f"{head}{content.partition(chr(10))[2]}\n"
    else:
        title = " ".join(title.split()).removesuffix(".md")
        text = f"{head}---\n{'' if content.startswith('# ') else f'# {title}{chr(10) * 2}'}{content}\n"
    _refuse_more(path, "", text, source)
    return text


def with_more(path: str, before: str, content: str, day: str, source: str) -> str:
    """What to append to a document for `content` to stand in it too, under the day; empty if it does already.

    Refused for a page that no model made, and where what is not trusted would come to stand on one that is.
    """
    _refuse_place(path)
    owner = source_of(before) or "owner"
    if owner.partition(":")[0] not in _MODELS:
        raise Refused(f"{path} is there, and no model made it", "save it under another name")
    if is_trusted(owner) and not is_trusted(source):
        raise Refused(f"{path} is trusted, and this comes from {source}", "save it under another name")
    if content in before.replace("\r\n", "\n"):
        return ""
    closing = open_end(split_lines(before))
    gap = "\n" if before.endswith("\n") else "\n\n"
    added = f"{closing + chr(10) if closing else ''}{gap}## {day}\n\n{content}\n"
    _refuse_more(path, before, before + added, owner)
    return added


def _refuse_more(path: str, before: str, after: str, source: str) -> None:
    """Refused if the page would hold new facts, blocks, tombstones, or lines that do not say where they come from."""
    old, new = rows_of(path, before), rows_of(path, after)
    more = Counter((row.role, row.digest, row.origin) for row in new.rows)
    more -= Counter((row.role, row.digest, row.origin) for row in old.rows)
    if any(role == Role.FACT.value for role, _, _ in more):
        raise Refused("the document would state facts under a heading like Retain", "save each with SAVE_FACT")
    blocks = [live_blocks(split_lines(text)) for text in (before, after)]
    had, markers = ([(block.name, block.sha) for block in found] for found in blocks)
    if markers != had or "<!-- memctl:" in after[len(before) :]:
        raise Refused("the document holds markers that memctl alone writes", "take those lines out")
    if any(origin != source for _, _, origin in more):
        raise Refused("its front matter would hide where it comes from", "leave the front matter out")
