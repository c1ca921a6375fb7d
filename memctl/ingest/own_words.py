"""A message -> the sentences that its author wrote: no code, logs, mails, quotations, nor memory that came back.

The words and patterns by which facts are found are `extract.toml` of each language, read when first needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from ..language.analyzer import query_terms
from ..language.names import is_han
from ..language.sentences import is_machine_line, opens_fence, quotations, sentence_ends, speaker_on, split_sentences
from ..language.words import HAN_CHARS, languages, rival_of, toml, without_yo

_MACRO = re.compile(r"(?<!\(\?P)<([a-z_]+)>")
_NEVER = "(?!)"
_FOLDED = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00a0": " ", "\u202f": " "})
_LONG_TURN = 4000  # characters: a person pastes more, and seldom types it
_LONG_PARAGRAPH = 900
_MOST_LINES = 60  # of a paragraph; a list that long is a listing
_LONGEST = 420  # characters of a sentence; a longer one says too much for one line
_SHORTEST = 2
_QUOTE_WORDS = 4  # a quotation of fewer words is a name or a term
_LONG_QUOTES = (r"(?<!\w)'[^'\n]{12,400}'(?!\w)", r"`[^`\n]{40,}`")  # shorter ones are an apostrophe, a name
_words = lru_cache(maxsize=256)(query_terms)
_TAG = re.compile(r"\s*[<\[](?!/)([A-Za-z][\w-]{1,40})\b[^<>\[\]\n]{0,200}[>\]]\s*$")
_CLOSING_TAG = re.compile(r"[<\[]/([A-Za-z][\w-]{1,40})\b[^<>\[\]\n]{0,200}[>\]]")
_RECALLED = re.compile(  # a line of memory: the grammar, a citation, or a fact's id
    r"\s*[-*+]\s+[WBOS](?:\([^)\n]*\))?(?:\s+(?:@\S+|\[\[[^\]\n]+\]\]))*\s*:\s|.*?(?:\.md#L|\^[fo]-[0-9a-z]{8}\b)"
)
_NAME = re.compile(rf"[A-ZА-ЯЁ][\w.]{{1,20}}|[{HAN_CHARS}]{{2,4}}")
_ITEM = re.compile(r"\s*(?:[-*+•]\s+|\d{1,2}(?:[.)]\s+|、))")
ITEM_WITHIN = re.compile(r"(?<![^\s:：，,。；;])(\d{1,2})(?:[.)]\s+|、)")


def straight(text: str) -> str:
    """`text` with plain apostrophes and spaces and without «ё»; of the same length, so that places hold."""
    return without_yo(text).translate(_FOLDED)


def language_of(text: str) -> str:
    """`zh`, `ru` or `en`, by script: some Chinese text is written with many Latin names, so two characters settle it."""
    if text.isascii():
        return "en"
    if sum(map(is_han, text)) > 1:
        return "zh"
    cyrillic = sum("\u0400" <= char <= "\u04ff" for char in text)
    return "ru" if cyrillic > 2 or 0 < cyrillic == sum(map(str.isalpha, text)) else "en"


@cache
def rx(language: str, name: str) -> re.Pattern[str]:
    """The pattern called `name` of a language; one that matches nothing where the language has none."""
    return re.compile(_pattern(language, name), re.IGNORECASE)


@cache
def starts(language: str, name: str) -> re.Pattern[str]:
    """The same for a pattern that is tried at the beginning (`match`), with any opening bracket or dash before it."""
    return re.compile(rf"[\s\"'(«“—–*•-]*(?:{_pattern(language, name)})", re.IGNORECASE)


@cache
def each(language: str, name: str) -> tuple[re.Pattern[str], ...]:
    """The patterns of an entry one by one, a line each."""
    return tuple(re.compile(_expanded(language, line), re.IGNORECASE) for line in phrases(language, name))


@cache
def any_language(name: str, or_else: str = _NEVER) -> re.Pattern[str]:
    """The pattern called `name` of whichever language, or `or_else`."""
    return re.compile("|".join([*(_pattern(language, name) for language in languages()), or_else]), re.IGNORECASE)


@cache
def pairs(language: str, name: str) -> tuple[tuple[str, str], ...]:
    """The lines `pattern => words` of an entry."""
    split = (line.partition(" => ") for line in phrases(language, name))
    return tuple((_expanded(language, left), right.strip()) for left, _, right in split)


@cache
def vocabulary(name: str) -> frozenset[str]:
    """The words of an entry, in whichever language."""
    return frozenset(word for language in languages() for line in phrases(language, name) for word in line.split())


def phrases(language: str, name: str) -> list[str]:
    """The lines of an entry that are not blank."""
    return [line for line in str(toml(language, "extract").get(name, "")).split("\n") if line.strip()]


def number(language: str, name: str) -> int:
    """A number that is set for a language."""
    return int(toml(language, "extract")[name])


def _pattern(language: str, name: str) -> str:
    return _unique_groups("|".join(_expanded(language, line) for line in phrases(language, name))) or _NEVER


def _expanded(language: str, line: str) -> str:
    """A line with the entries that it names filled in. Capitals are meant where they stand, though words come in any case."""
    whole = _MACRO.sub(lambda match: f"(?:{_pattern(language, match[1])})", line)
    return re.sub(r"(?<!\(\?-i:)\[(?:A-ZА-Я|A-Z|А-Я)\]", lambda match: f"(?-i:{match[0]})", whole)


def _unique_groups(pattern: str) -> str:
    """Group names may stand once in a pattern: the second `what` becomes `what2`, and so on."""
    seen: dict[str, int] = {}

    def numbered(match: re.Match[str]) -> str:
        seen[match[1]] = seen.get(match[1], 0) + 1
        return f"(?P<{match[1]}{seen[match[1]] if seen[match[1]] > 1 else ''}>"

    return re.sub(r"\(\?P<([a-z]+)>", numbered, pattern)


class Sentence(NamedTuple):
    """A sentence as it was written, and the same with quotations blanked and apostrophes plain, of equal length.

    Patterns are those of its language, by name; they are tried on `plain`.
    """

    said: str
    plain: str
    language: str

    @property
    def words(self) -> list[str]:
        """Its terms that say something."""
        return _words(self.plain)

    @property
    def size(self) -> int:
        """How many words say something; of Chinese, whose terms are characters and pairs of them, half as many."""
        han = sum(map(is_han, (word[0] for word in self.words)))
        return len(self.words) - han + han // 2

    @property
    def is_question(self) -> bool:
        """True for a sentence with a question mark at its end, or with the word that stands for one."""
        return self.plain.rstrip().endswith(("?", "？")) or bool(self.has("question_end"))

    def has(self, name: str) -> re.Match[str] | None:
        """The first match of a pattern."""
        return rx(self.language, name).search(self.plain)

    def all(self, name: str) -> Iterator[re.Match[str]]:
        """Every match of a pattern."""
        return rx(self.language, name).finditer(self.plain)

    def opens(self, name: str) -> re.Match[str] | None:
        """The match of a pattern at the beginning."""
        return starts(self.language, name).match(self.plain)

    def cut(self, begin: int, end: int | None = None) -> Sentence:
        """A part of it, by places."""
        return Sentence(self.said[begin:end], self.plain[begin:end], self.language)

    def without_leads(self, name: str, most: int = 5) -> Sentence:
        """What is left when a pattern is taken off its beginning as often as it stands there; never nothing."""
        rest = self
        for _ in range(most):
            lead = rest.opens(name)
            if not lead or not 0 < lead.end() < len(rest.plain):
                break
            rest = rest.cut(lead.end())
        return rest


def own_sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a message that are its author's own, in order, in languages of which facts are taken. Linear in its length."""
    for block in _own_blocks(text):
        plain = quotations(*_LONG_QUOTES).sub(_blank, straight(block))
        whole = "\n".join(map(_counted, plain.split("\n")))
        for first, last in pairwise((0, *sentence_ends(whole), len(plain))):
            said = block[first:last].strip()
            begin = block.index(said, first)
            bare = plain[begin : begin + len(said)]
            unread = (rival := rival_of(bare)) and not toml(
                rival, "extract"
            )  # Spanish: its words would be told as English
            if not unread and _SHORTEST <= len(said) <= _LONGEST and any(map(str.isalnum, bare)):
                yield Sentence(said, bare, language_of(bare))


def _counted(line: str) -> str:
    """A line without the dots behind numbers that end no sentence: "the flat has 2. floor, 3. door", "1. e4 then 2. Nf3"."""
    marks = [*ITEM_WITHIN.finditer(line)]
    for mark in marks:
        if len(marks) > 1 or line[mark.end() :][:1].islower():
            line = line[: mark.start()] + mark[0].replace(".", " ") + line[mark.end() :]
    return line


def _own_blocks(text: str) -> Iterator[str]:
    """Runs of lines that belong together and are the author's own."""
    lines = _typed(text.splitlines())
    closes = _last_closing(lines)
    long, fence, tag, paragraph = len(text) > _LONG_TURN, "", "", list[str]()
    for number, line in enumerate(lines):
        if fence or tag:
            if fence and line.strip().startswith(fence):
                fence = ""
            elif tag and f"/{tag}" in line.casefold():
                tag = ""
            continue
        named = _TAG.match(line)
        fence = opens_fence(line)
        if named and closes.get(named[1].casefold(), -1) > number:
            tag = named[1].casefold()
        if fence or tag or not line.strip():
            yield from _paragraph(paragraph, long)
            paragraph = []
            continue
        if any_language("mail_header").match(line):
            break
        before_paste = _asks_about_text(line)
        paragraph.append(line if before_paste is None else line[:before_paste])
        if before_paste is not None or _leads_to_paste(line, lines[number + 1 : number + 3]):
            break
    yield from _paragraph(paragraph, long)


def _typed(lines: list[str]) -> list[str]:
    """The lines without a text that was pasted to be worked on: a mail with its closing words, what a request is about."""
    filled = [number for number, line in enumerate(lines) if line.strip()]
    if len(filled) < 2:
        return lines
    first, last = filled[0], filled[-1]
    signed = [number for number in filled if len(lines[number]) < 40 and _matches(lines[number], "sign_off")]
    if signed and (signed[-1] < last or _matches(lines[first], "salutation")):
        return lines[signed[-1] + 2 :]
    if last - first > 1 and _is_text_request(lines[last]):
        return [lines[last]]
    return lines[: first + 1] if _is_text_request(lines[first]) else lines


def _is_text_request(line: str) -> bool:
    return len(line) < 160 and _matches(line, "text_request")


def _matches(line: str, name: str) -> bool:
    folded = straight(line.strip())
    return bool(rx(language_of(folded), name).search(folded))


def _is_chat(lines: list[str]) -> bool:
    """True where two speak, one of them again or of himself: a chat that was copied, maybe on one line."""
    parts = (part for line in lines if ":" in line or "：" in line for part in split_sentences(line[:500]))
    found = [who.name for who in map(speaker_on, parts) if not who.is_bold and _NAME.fullmatch(who.name)]
    own = any_language("says_i").search
    return len(set(found)) > 1 and (len(found) > len(set(found)) or any(map(own, lines)))


def _last_closing(lines: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for number, line in enumerate(lines):
        if "</" in line or "[/" in line:
            found.update((match[1].casefold(), number) for match in _CLOSING_TAG.finditer(line))
    return found


def _leads_to_paste(line: str, following: list[str]) -> bool:
    """True for "here is the mail:" at the end of a line, with more to come: what follows is somebody else's."""
    bare = line.rstrip()
    may_lead = following and bare.endswith((":", "：")) and len(bare) <= 300
    return bool(may_lead and rx(language_of(bare), "paste_lead").search(straight(bare)))


def _asks_about_text(line: str) -> int | None:
    """Where the material begins in "translate this: …"; None where there is none."""
    if ":" not in line and "：" not in line:
        return None
    head = straight(line[:200])
    match = rx(language_of(head), "paste_request").search(head)
    return match.end() if match else None


def _paragraph(lines: list[str], long: bool) -> Iterator[str]:
    """The prose of one paragraph: none, when one of its lines is a machine's."""
    if not lines or (long and sum(map(len, lines)) > _LONG_PARAGRAPH):
        return
    own = [line for line in lines if not line.startswith((">", "|", "    ", "\t")) and not _RECALLED.match(line[:500])]
    told = len(own) > 1 and _ITEM.match(own[1]) and own[0][:1].isupper() and _matches(own[0], "remember")
    machines = filter(is_machine_line, own[bool(told) :])  # "Remember:" before a list looks like a key
    if len(own) > _MOST_LINES or _is_chat(own) or any(machines) or any(line.startswith("# ") for line in own):
        return
    if block := _prose(own):
        yield block


def _prose(lines: list[str]) -> str:
    """The lines without headings and marks of a list; one that goes on in lower case goes on with the sentence.

    "Remember:" before a list stands before each of its items, since one alone may say too little.
    """
    block = head = ""
    for line in chain.from_iterable(map(_items, lines)):
        if line.lstrip().startswith("#"):
            continue
        item = _ITEM.match(line)
        text = (line[item.end() :] if item else line).strip()
        if head and item:
            block = f"{block.removesuffix(head)}{head} {text}\n"
            continue
        head = [*split_sentences(text)][-1] if text.endswith((":", "：")) and _matches(text, "remember") else ""
        goes_on = not item and text[:1].islower() and block[-1:] not in ".!?:;…。！？；\n"
        between = " " if goes_on else "\n"
        block = f"{block}{between}{text}" if block else text
    return block


def _items(line: str) -> list[str]:
    """The items of a list that stands on one line, "1. tests 2. docs", with what is before it; else the line."""
    marks = list(ITEM_WITHIN.finditer(line))
    ends = (*(mark.start() for mark in marks), len(line))
    first = int(marks[0][1]) if marks and not line[: ends[0]].strip() else 1
    counts = len(marks) > 1 and [int(mark[1]) for mark in marks] == [*range(first, len(marks) + first)]
    worded = all(re.search(r"[^\W\d_]{2}", line[mark.end() : end]) for mark, end in zip(marks, ends[1:], strict=True))
    if not counts or not worded or line[: ends[0]].rstrip()[-1:].isalnum():
        return [line]
    return [line[begin:end] for begin, end in pairwise((0, *ends)) if begin < end]


def _blank(match: re.Match[str]) -> str:
    """A quotation of several words as blanks between its marks; a short one is a name."""
    inside = match[0][1:-1]
    han = sum(map(is_han, inside))
    if len(inside.split()) < _QUOTE_WORDS and han < 6:
        return match[0]
    return match[0][0] + " " * len(inside) + match[0][-1]
