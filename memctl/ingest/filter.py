"""What of a conversation must not become memory, and why.

Two looks: at a message, before anybody looks for facts in it (what was pasted or recalled is blanked out), and at each
candidate. What the workspace knows already is ingest/dedup.py's to say.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from ..errors import Refused
from ..facts import Fact, Kind, is_trusted
from ..ids import content_key
from ..language.analyzer import terms
from ..language.names import entity_key, mentions
from ..language.relations import slot_of
from ..language.secrets import Secret, find_secrets
from ..language.sentences import is_machine_line, sentence_ends
from ..markdown.grammar import clean, render
from .own_words import any_language
from .turns import Turn

_MAX_FACT = 600  # characters of a statement; what is longer was not said to be remembered
_CONTEXT_FENCE = re.compile(r"<(?P<mark>(?:memory|core)-[0-9a-z]{8,80})>")
_CODE_FENCE = re.compile(r"^[ \t>]{0,8}(?P<mark>`{3,}|~{3,})[^\n`]*$", re.MULTILINE)
_BOOT_FILE = re.compile(
    r"\b(?:CLAUDE|AGENTS?|SOUL|USER|MEMORY|IDENTITY|TOOLS|HEARTBEAT|BOOTSTRAP|GEMINI|SKILL|COPILOT-INSTRUCTIONS)(?:\.local)?\.md\b"
    r"|\.cursorrules\b",
    re.IGNORECASE,
)
_LONG_PERSONA = 400
_RUN = 3  # lines of code that follow each other
_OURS = re.compile(
    r"(?:\b(?:memory|bank)/[^\s#\])]{1,200}\.md|\bmemory\.md)#L\d|(?:\^|\b)[fo]-[0-9a-hjkmnp-tv-z]{8}\b|\[\[(?:memory|bank)/", re.IGNORECASE
)  # fmt: skip
_FORGED = re.compile(
    r"<!--|-->|memctl:(?:begin|end)|^\s*(?:[-*+]\s+)?[WBOS]\s*\([^()\n]*\)[^:\n]*:|\[/?(?:SAVE_FACT|GET_FACT|SEARCH_MEMORY|SAVE_DOC|READ_DOC)\b"
    r"|<\|[\w-]{1,40}\|>|</?(?:system|tool|assistant|user)>|^\s*(?:```|~~~)",
    re.IGNORECASE,
)
_LONG_NUMBER = re.compile(r"(?<![\w.-])(?:\d{4}[ -]){3}\d{4}(?![\w-])|(?<![\w.-])\d{15,18}[\dXx]?(?![\w-])")
_BEHIND = 60  # characters behind a sentence in which its citation may stand


class Refusal(NamedTuple):
    """A word for the reason, stable for programs, and the reason in a sentence."""

    code: str  # recalled | boot | code | pasted | secret | long | forged | duplicate | unimportant | thought
    reason: str


_RECALLED = Refusal("recalled", "memory that was recalled into the conversation")
STARTED_WITH = Refusal("boot", "text that the agent is started with, not something said")
_CODE = Refusal("code", "pasted code or output")
_PASTED = Refusal("pasted", "what was looked up and put into the message, not something said")

_TAGS = {
    **dict.fromkeys(("memory", "memories", "recalled", "recalled_memory", "memctl", "memctl-memory", "relevant-memories"), _RECALLED),
    **dict.fromkeys(("system-reminder", "system", "instructions", "user_instructions", "environment_context", "claudemd"), STARTED_WITH),
}  # fmt: skip
_OPENING_TAG = re.compile(rf"<(?P<mark>{'|'.join(map(re.escape, _TAGS))})(?=[\s>])[^<>\n]{{0,200}}>", re.IGNORECASE)
# What opens a region, what closes it, and what it is unless its mark says: the blocks of `memctl context` (context/fence.py),
# whether the nonce fits or not; what stands between tags of programs; code fences.
_MARKS = (
    (_CONTEXT_FENCE, "</{mark}>", _RECALLED),
    (_OPENING_TAG, r"</{mark}\b[^<>\n]{{0,200}}>", _RECALLED),
    (_CODE_FENCE, r"^[ \t>]{{0,8}}{mark}{letter}*[ \t]*$", _CODE),
)
_Region = tuple[int, int, Refusal]


def blanked(text: str) -> tuple[str, list[tuple[int, int, Refusal]]]:
    """A message whose lines from machines and from our own contexts are blanked; on which line of it each piece begins, how
    many lines that has, and why it was left unread."""
    found = sorted([*_marked(text), *_boot(text), *_code(text), *_looked_up(text)])
    kept: list[str] = []
    told: list[tuple[int, int, Refusal]] = []
    end = line = counted = 0
    for start, stop, refusal in found:
        start = max(start, end)
        piece = text[start:stop]
        if piece.strip():
            line, counted = line + text.count("\n", counted, start), start
            told.append((line, piece.strip("\n").count("\n") + 1, refusal))
            kept += [text[end:start], "\n" * piece.count("\n")]
            end = stop
    return "".join([*kept, text[end:]]), told


def _marked(text: str) -> Iterator[_Region]:
    """From each mark to the one that closes it; one that is never closed goes to the end."""
    for opening, closing, usual in _MARKS:
        end = 0
        for match in opening.finditer(text):
            if match.start() >= end:
                wanted = closing.format(mark=re.escape(match["mark"]), letter=match["mark"][0])
                closed = re.compile(wanted, re.IGNORECASE | re.MULTILINE).search(text, match.end())
                end = closed.end() if closed else len(text)
                yield match.start(), end, _TAGS.get(match["mark"].lower(), usual)


def is_boot_file(path: str) -> bool:
    """True for a page at the root that hosts start an agent with, such as SOUL.md, AGENTS.md, memory.md."""
    return "/" not in path and bool(_BOOT_FILE.fullmatch(path))


@cache
def _title() -> re.Pattern[str]:
    """What stands before the name of a file that is the title of a text: "# `", "Contents of /home/x/"."""
    words = any_language("file_title").pattern
    before = rf"[\s>*_`]{{0,12}}(?:[#=]{{1,12}}\s*|(?:{words})[:：]?\s+)[`\"'«(]?(?:[\w.~-]{{0,60}}[/\\]){{0,12}}$"
    return re.compile(before, re.IGNORECASE)


def _boot(text: str) -> Iterator[_Region]:
    """From the name of a boot file that stands as a title on; a long message that says what the agent is."""
    if len(text) >= _LONG_PERSONA and any_language("persona").match(text):
        yield 0, len(text), STARTED_WITH
        return
    for match in _BOOT_FILE.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        rest, _, below = text[match.end() : match.end() + 2000].partition("\n")
        titled = match.start() - start < 400 and _title().match(text, start, match.start())
        if titled and "\n" in below and not rest.rstrip().endswith((".", "?", "!")):
            yield start, len(text), STARTED_WITH
            return


def _looked_up(text: str) -> Iterator[_Region]:
    """From a heading such as "Context from web search results:" on, to the end of the message or where the question stands."""
    heading = any_language("looked_up").search(text)
    if heading:
        asked = any_language("asked_below").search(text, heading.end())
        yield heading.start(), asked.start() if asked else len(text), _PASTED


def _code(text: str) -> Iterator[_Region]:
    """Three or more lines on end that read as code, a diff or a log."""
    start, count, place = 0, 0, 0
    for line in text.split("\n"):
        after = place + len(line) + 1
        if len(line) < 2000 and line.strip() and (is_machine_line(line) or (count and line.startswith(("  ", "\t")))):
            start, count = (start, count + 1) if count else (place, 1)
        elif line.strip():  # a blank line ends no code
            if count >= _RUN:
                yield start, place - 1, _CODE
            count = 0
        place = after
    if count >= _RUN:
        yield start, len(text), _CODE


def names_of(fact: Fact) -> tuple[str, ...]:
    """Whom a fact is about: those in its head, and those that its text marks."""
    return tuple(dict.fromkeys([*fact.entities, *mentions(fact.text)]))


def slot_key(fact: Fact) -> tuple[str, str] | None:
    """The slot that a fact fills and the key of whose it is, as the index has them."""
    filled = slot_of(fact) if fact.key or fact.kind is not Kind.EXPERIENCE else None  # what happened fills none again
    return (filled.key, next(map(entity_key, names_of(fact)), "")) if filled else None


def key_of(fact: Fact) -> int:
    """The number that is equal for the same words about the same entities."""
    return content_key(fact.text, names_of(fact))


@dataclass(slots=True)
class CandidateFilter:
    """The filter of one transcript's candidates, in their order: it remembers what was said in it before."""

    least: float = 0.0
    """The importance below which nothing is taken."""
    told: dict[tuple[bool, tuple[str, ...]], int] = field(default_factory=dict)
    searched: tuple[int, list[Secret]] = field(default_factory=lambda: (-1, []))
    slots: dict[tuple[bool, tuple[str, str]], tuple[str, ...]] = field(default_factory=dict)

    def judge(self, fact: Fact, quote: str, turn: Turn) -> Fact | Refusal:
        """The fact as a line can hold it, or why it must not become one."""
        if turn.role in ("system", "thinking"):
            return STARTED_WITH if turn.role == "system" else Refusal("thought", "thought by the model, not said")
        secret = find_secrets(quote) or find_secrets(render(fact)) or self._secrets_in(quote, turn)
        if secret:
            return Refusal("secret", f"looks like a {secret[0].name}; it is neither kept nor shown")
        if _LONG_NUMBER.search(f"{quote}\n{fact.text}"):
            return Refusal("secret", "looks like the number of a card or a document; it is neither kept nor shown")
        if _cites_us(quote, turn.text) or _OURS.search(fact.text):
            return Refusal("recalled", "it cites the memory that it was recalled from")
        if _FORGED.search(fact.text) or _FORGED.search(quote):
            return Refusal("forged", "it would pass for structure of a page or a prompt")
        if len(fact.text) > _MAX_FACT:
            return Refusal("long", f"{len(fact.text):,} characters; a statement has at most {_MAX_FACT}")
        try:
            fact = clean(replace(fact, block_id=None))
        except Refused as error:
            return Refusal("forged", error.what.removeprefix("refused: "))
        if fact.importance is not None and fact.importance < self.least:
            return Refusal("unimportant", f"importance {fact.importance:g} is below {self.least:g}")
        return self._first_time(fact, turn.line) or fact

    def _secrets_in(self, quote: str, turn: Turn) -> list[Secret]:
        """Secrets of the whole message that a sentence holds a part of: a key block spans lines, a value stands below its name."""
        if self.searched[0] != turn.number:
            self.searched = turn.number, find_secrets(turn.text)
        at = turn.text.find(quote[:80]) if self.searched[1] else -1
        return [found for found in self.searched[1] if 0 <= at < found.end and found.start < at + len(quote)]

    def _first_time(self, fact: Fact, line: int) -> Refusal | None:
        """A refusal where the same was said before in this transcript, unless another value of its slot came between.

        What a tool said before is no reason to refuse the word of a person.
        """
        said = (*sorted(map(entity_key, names_of(fact))), "", *(terms(fact.text) or [fact.text]))
        slot = slot_key(fact)
        for trusted in {True, is_trusted(fact.source)}:
            before = self.told.get((trusted, said))
            if before is not None and (slot is None or self.slots.get((trusted, slot)) == said):
                return Refusal("duplicate", f"said before on line {before} of this transcript")
        trusted = is_trusted(fact.source)
        self.told[trusted, said] = line
        if slot is not None:
            self.slots[trusted, slot] = said
        return None


def _cites_us(quote: str, text: str) -> bool:
    """True when a citation of ours stands in a sentence, right behind it, or at the head of its line as in a list of hits."""
    if _OURS.search(quote):
        return True
    if not _OURS.search(text):
        return False
    if (at := text.find(quote[:80])) < 0:
        return True  # in other words than the message has: which of them were cited cannot be told
    head = text[text.rfind("\n", 0, at) + 1 : at][:200]
    if (cited := _OURS.search(head)) and not any(sentence_ends(head[cited.end() :])):
        return True
    behind = text[at + len(quote) : at + len(quote) + _BEHIND].split("\n", 1)[0]
    cited = _OURS.search(behind)
    return cited is not None and not re.search(r"\w{2,} \w{2,} \w{2,}", behind[: cited.start()])
