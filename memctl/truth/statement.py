"""A sentence as the judge of replacements reads it: what it is about, its numbers and times, and how it is meant.

The words are data (`replacement.txt` of each language). What is said is told from how: markers, numbers, times and names are
cut out first, and what is left are the words that two sentences about one thing share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from ..language.analyzer import query_terms, stop_terms, terms
from ..language.dates import find_times
from ..language.names import han_value, has_han, is_han
from ..language.relations import listed_in
from ..language.sentences import is_machine_line, is_past, is_plan, speaker_on, split_sentences
from ..language.words import HAN_CHARS, compiled, languages, lines, pattern, search, spoken_in, without_yo, words

_MOST_SENTENCES = 12
_LONGEST = 400  # characters of a sentence
_HEAD, _HAN_HEAD, _SUBJECT = 4, 6, 14  # words, Chinese characters, and characters, in which the subject stands
_COMMA = re.compile(r"[，—]|, |: | – ")
STEM = 4  # letters that two forms of a word share at least
OF_FACTS = "of facts: "  # topics that a line must say whose they are
_SHORTEST = 8  # characters of a clause that may stand alone
LONG = 12  # words that a sentence is about, beyond which it says more than one thing
_TAG = re.compile(r"(?<=\w)[,，]\s*[^,，]{1,25}[?？]$")  # "…, can you believe it?" asks nothing
_MARKS = ("now", "change", "new", "ended", "cancelled", "denied", "never", "added", "record", "part", "another")
_PIECES = re.compile(r"[;,.:!，。；：！、“”\"«»()（）]")
_BEFORE, _AFTER = 2, 3  # words at a marker of change that it may be about
_NUMBER = r"(?<![\w-])[$€£¥₽]?\d+(?:[.,:]\d+)*(?![\w-])"


class Amount(NamedTuple):
    """A number, as it is written with what is counted; `stated` where a verb before it gives a thing one of that ("weighs")."""

    value: float
    unit: str
    text: str
    stated: bool


class ReadSentence:
    """What one sentence says: `words` it is about (stems), `numbers`, `times`, and its marks.

    `marks` are the sections of replacement.txt that fit: now, change, ended, cancelled, unsure, event, denied, plan. `topics`
    are what one has one of at a time ("residence"), `others` (topic, stem) of whoever else is its subject, `kin` the people of a family in its subject, `people` all of them, `kinds` (kind, name) of listed things.
    `changed` are the words that stand at a marker of change: "quit *Northwind*", «*Логан* продал»; `identifiers` names with a digit in
    them ("NJ-02", "T1"): two of them are two things; `units` and `money` what stands beside its numbers ("12 *kg*"), `aside` what
    something was done for, and people by their title, `brought` where it brings a thing, `modified`
    which of its kind its subject is ("the *garage* code"). Of a sentence about more than LONG words nothing is judged: only its words are read, and
    whether it is unsure. All but the words is read when it is asked for (`READ`): most pairs of them share no word.
    """

    def __init__(self, text: str, names: frozenset[str], whole: ReadSentence | None = None) -> None:
        """A clause is a part of a `whole`."""
        self.text, self.names, self.whole = text, names, whole
        self.timeless, self.said = _cut("time", text, " ; ")
        bare = _number(text).sub(" ", self.timeless)
        bare = _han_number().sub(" ", bare) if has_han(bare) else bare
        for name, sign in (("change", "¦"), ("new", "¦"), ("now", " ")):
            bare, _ = _cut(name, bare, sign)  # "¦" in the place of what tells of a change
        self.around: list[tuple[list[str], list[str]]] = [_around(piece, names) for piece in _PIECES.split(bare)]
        head = _shape("beyond subject", text, lower := text.lower()).split(lower, 1)[0]
        self.kin: frozenset[str] = _people(head[:_HAN_HEAD], terms(head)[:_HEAD])
        found = frozenset(word for piece, _ in self.around for word in piece)
        self.words = found - self.kin or found
        if self.is_long:
            unread = {*READ, "kin"} - {"marks", "is_unsure", "which"}
            vars(self).update(dict.fromkeys(unread, frozenset()), numbers=())

    def __getattr__(self, name: str) -> Any:
        """Read what is asked for the first time."""
        if name not in READ:
            raise AttributeError(name)
        vars(self)[name] = found = READ[name](self)
        return found

    @property
    def is_long(self) -> bool:
        """True where it is about so many words that it says more than one thing."""
        return len(self.words) > LONG


@lru_cache(maxsize=4096)
def read_sentences(text: str, names: frozenset[str]) -> tuple[ReadSentence, ...]:
    """The sentences of a line, without questions and conditions; `names` are the terms of those the line is about."""
    found: list[ReadSentence] = []
    if is_machine_line(text):
        return ()
    # Without the label of its speaker, a clock time in front, and pictures in brackets.
    label = speaker_on(text)
    spoken = re.sub(r"\[[a-z]+: [^\]]*\]", " ", text[label.begins if label.is_bold else label.after_time :])
    for sentence in split_sentences(spoken.strip()):
        for piece in filter(str.strip, re.split(r"[;；]", sentence)):
            folded = _TAG.sub(".", without_yo(piece[:_LONGEST]))
            if not _fits("no statement", folded):
                found += _with_clauses(folded, names)
    return tuple(found[:_MOST_SENTENCES])


def _with_clauses(text: str, names: frozenset[str]) -> Iterator[ReadSentence]:
    """A sentence, once more up to its first comma, and where it is known whom it is about, after that: a guess in all of them."""
    whole = ReadSentence(text, names)
    yield whole
    clause, comma, rest = _COMMA.sub("\0", text, count=1).partition("\0")
    for part in (clause, rest) if names else (clause,):
        if comma and len(part) > _SHORTEST and not _fits("no statement", part):
            yield ReadSentence(part, names, whole)


def says_when(text: str, day: date) -> bool:
    """True for a line told on a day that names a time, and not only that of something past."""
    times, read = find_times(text, day), read_sentences(text, frozenset())
    said = any(times or each.times for each in read if not each.is_unsure)
    end = day + timedelta(days=1) if is_past(text) else day  # a tale of the past is of that day at the latest
    is_over = bool(times) and all(not time.cycle and (time.period.last or day) < end for time in times)
    return said and not is_over


@lru_cache(maxsize=4096)
def speaker_of(text: str) -> str:
    """The name in bold before a line of a conversation ("**Anna**: …"), folded; empty for none."""
    label = speaker_on(text)
    return label.name.casefold() if label.is_bold else ""


def is_of_owner(text: str) -> bool:
    """True for a text in which the owner speaks of themselves: "I", «мой», 我."""
    folded, own = text.casefold(), listed("owner")
    spoken = {*re.findall(r"[^\W_]+", folded), *(word for word in own if is_han(word[0]) and word in folded)}
    return not spoken.isdisjoint(own)


def is_of_others(own: str) -> bool:
    """True for a line, by its search terms, that a machine says, or whose subject is of the owner's family or a friend."""
    tokens = own.split()
    if tokens and tokens[0] in {stem for word in listed("machine") for stem in terms(word)}:
        return True
    return not listed("kin").isdisjoint((*tokens[: 2 * _HEAD], *(token for token in tokens if is_han(token[0]))))


@cache
def _compiled(name: str, chosen: tuple[str, ...], end: str = "", flags: int = 0) -> re.Pattern[str]:
    """A section; one for texts in lower case is quicker to compile, and to search with, than one that is for any case."""
    return re.compile(f"(?:{pattern(chosen, 'replacement', name)}){end}", flags)


def _shape(name: str, text: str, searched: str) -> re.Pattern[str]:
    """A section in the languages of a text that have something of it there: two together are compiled once more."""
    chosen = spoken_in(text)
    if len(chosen) > 1:
        chosen = tuple(each for each in chosen if _compiled(name, (each,)).search(searched))
    return _compiled(name, chosen)


def _fits(name: str, text: str) -> bool:
    return any(_compiled(name, (each,)).search(text.lower()) for each in spoken_in(text))


def _matched(name: str, text: str) -> frozenset[str]:
    lower = text.lower()
    return frozenset(match[0].casefold() for match in _shape(name, text, lower).finditer(lower))


def _captured(name: str, text: str) -> list[str]:
    """What the patterns of a section capture in a text."""
    return [said[said.lastindex or 0] for said in _shape(name, text, text).finditer(text)]


def _cut(name: str, text: str, sign: str) -> tuple[str, list[str]]:
    """The text with a sign in the place of what a section matches, and what that was."""
    lower = text.lower()
    lower = lower if len(lower) == len(text) else text
    parts, cut, end = [], [], 0
    for match in _shape(name, text, lower).finditer(lower):
        parts += [text[end : match.start()], sign]
        cut.append(match[0])
        end = match.end()
    return "".join((*parts, text[end:])), cut


def _which(said: ReadSentence) -> frozenset[str]:
    """Which of several it is about, such as a month with its figure; a clause may leave that to the whole sentence."""
    text, own = said.text, frozenset[str]()
    if not said.is_long:
        own = _matched("which", text) | _matched("ordinal", text[: _HAN_HEAD if has_han(text) else _SUBJECT])
        months = _matched("period", text)
        if months and not (said.topics or said.marks & {"now", "change", "new"}):
            counted = _cut("period", said.timeless, " ")[0]
            is_figure = _number(counted).search(counted) or (has_han(counted) and _han_number().search(counted))
            own |= {" ".join(terms(month)) for month in months if is_figure}  # beside another
    return own or (said.whole.which if said.whole else own)


def _aside(said: ReadSentence) -> frozenset[str]:
    told = without_purpose(said.text, said)
    what_for = said.words.difference(_content(told, said.names)) if told != said.text else frozenset[str]()
    return what_for | _stems(_captured("titled", said.text), said)


def _brought(said: ReadSentence) -> frozenset[str]:
    """Those words that say only where a thing was brought: "moved the ficus to the *kitchen*"."""
    rest = said.text
    for place in _captured("destination", rest):
        rest = rest.replace(place, " ")
    return said.words.difference(_content(rest, said.names)) if rest != said.text else frozenset()


def _stems(found: Iterable[str], said: ReadSentence) -> frozenset[str]:
    return frozenset(word for each in found for word in _content(each, said.names))


def without_purpose(text: str, said: ReadSentence | None = None) -> str:
    """A text that tells what was done, without what for: "bought a dress for the wedding" says nothing of the wedding."""
    if (rest := _cut("purpose", text, " ")[0]) == text:
        return text
    marks = said.marks if said else _marks(text)
    is_told = "event" in marks and marks.isdisjoint(("now", "change", "new", "ended", "cancelled"))
    return rest if is_told else text


def _marks(text: str) -> set[str]:
    """How a sentence is meant, but for whether it is unsure."""
    marks = {name for name in (*_MARKS, "passing") if _fits(name, text)}
    if _fits("no change", text):
        marks = marks - {"change", "ended", "cancelled"} | {"kept"}
    if "change" in marks:  # "moved today"
        marks.discard("passing")
    if ((is_past(text) and not has_han(text)) or _fits("event", text)) and not _fits("no event", text):
        marks.add("event")
    return marks | ({"plan"} if is_plan(text) else set())


def _around(piece: str, names: frozenset[str]) -> tuple[list[str], list[str]]:
    """What a clause is about, and those of its words that stand at a marker of change ("¦")."""
    parts = [_content(part, names) for part in piece.split("¦")]
    changed = [word for before, after in pairwise(parts) for word in (*before[-_BEFORE:], *after[:_AFTER])]
    return [word for part in parts for word in part], changed


def _content(text: str, names: frozenset[str]) -> list[str]:
    """The stems that say what a text is about, in their order; of Chinese, pairs of characters that no function word
    parts, and characters that stand alone between such words."""
    idle = _idle()
    found = [
        term
        for term in query_terms(text)
        if not (is_han(term[0]) or term in idle or term in names or "=" in term or term.isdigit() or len(term) < 2)
    ]
    runs = re.findall(f"[{HAN_CHARS}]+", text) if has_han(text) else ()
    for part in (part for run in runs for part in _han_cut().split(run) if part):
        if part in opposites():
            found.append(part)
        else:
            pairs = [part[i : i + 2] for i in range(len(part) - 1)] or [part]
            found += [pair for pair in pairs if pair not in idle and pair not in names]
    return found


@cache
def _han_cut() -> re.Pattern[str]:
    """Where a run of characters is cut: function words fall out, and words with an opposite stand alone."""
    idle = "".join(sorted(word for word in listed("idle") if len(word) == 1 and is_han(word)))
    whole = sorted((word for word in opposites() if is_han(word[0]) and len(word) > 1), key=len, reverse=True)
    return re.compile(f"[{idle}]|({'|'.join(whole)})")


@cache
def listed(name: str) -> frozenset[str]:
    """The words of a section in every language; "attitudes": what one does with many things, so that who shares one shares nothing."""
    return frozenset(word for language in languages() for word in words(language, "replacement").get(name, ()))


@cache
def _idle() -> frozenset[str]:
    return listed("idle").union(stop_terms())


@cache
def _values(name: str) -> dict[str, float]:
    return {word: float(value) for word, value in (pair.split("=") for pair in listed(name))}


@cache
def _han_number() -> re.Pattern[str]:
    """A number in characters: two and more, or one before what is counted."""
    one, counters = "".join(filter(is_han, _values("numbers"))), "".join(listed("counters"))
    many = "".join({*one, *_values("places")})
    return re.compile(f"[{many}]{{2,}}[{counters}]?|[{one}](?:[{counters}]|(?=[{''.join(listed('counted'))}]))")


@cache
def _unit() -> re.Pattern[str]:
    counters = "".join(listed("counters"))
    return re.compile(
        rf"\s?([%°][CF]?|[{counters}][{HAN_CHARS}]{{0,2}}|[{HAN_CHARS}]{{1,2}}|[^\W\d_]{{1,20}}(?:/[^\W\d_]{{1,6}})?)"
    )


def _number(text: str, otherwise: str = "") -> re.Pattern[str]:
    """A number as it may stand in a text; what may stand beside Chinese takes long to compile."""
    return compiled(_NUMBER + rf"|(?<![A-Za-z\d-])\d+(?:[.,]\d+)*(?=[{HAN_CHARS}])" * has_han(text) + otherwise)


def _numbers(text: str) -> list[Amount]:
    """Every number that says how many or how much, in digits or written out; "twenty six" is one."""
    found: list[Amount] = []
    tens = 0.0
    for match in _number(text, r"|[^\W\d_]+").finditer(text):
        value = _value(match[0])
        if value is None and is_han(match[0][0]):
            found += _han_numbers(text, match)
        elif value is not None:
            start = match.start()
            if tens >= 20 > 10 > value and tens % 10 == 0 and found:
                value, start = value + tens, text.rfind(found.pop().text.split(" ")[0], 0, start)
            amount = _amount(text, start, match.end(), value)
            found += [amount] if amount else []
        tens = value or 0.0
    return found


def _amount(text: str, start: int, end: int, value: float) -> Amount | None:
    """The number at a place of a text, unless it is a name ("box 3"), a version or a place in an order."""
    if _compiled("no amount", spoken_in(text), flags=re.IGNORECASE).match(text, end):
        return None
    after = _unit().match(text, end)
    word = after[1] if after and (is_han(after[1][0]) or not {*terms(after[1])[:1]} & stop_terms()) else ""
    is_stated = _is_stated(text, start)
    if not (word or text[start : start + 1] in "$€£¥₽" or (is_stated and has_han(text))):
        return None
    unit = terms(word)[0] if word[:1].isalpha() and not is_han(word[0]) and terms(word) else word[:1]
    written = text[start:end] + (after[0] if after and word else "")
    return Amount(value, unit, written.strip(), is_stated)


def _is_stated(text: str, start: int) -> bool:
    return bool(_compiled("amount", spoken_in(text), "$", re.IGNORECASE).search(text[:start]))


def _value(word: str) -> float | None:
    folded = word.casefold().lstrip("$€£¥₽")
    if folded[:1].isdigit():
        plain = re.sub(r"[,.:](?=\d{3}\b)", "", folded).replace(",", ".").replace(":", ".")
        try:
            return float(plain)
        except ValueError:
            return None
    return None if is_han(folded[:1] or " ") else _values("numbers").get(folded)


def is_numeral(term: str) -> bool:
    """True for a search term that is a number, in digits or written out."""
    return term[:1].isdigit() or term in _values("numbers")


def _han_numbers(text: str, run: re.Match[str]) -> list[Amount]:
    found = []
    for match in _han_number().finditer(text, run.start(), run.end()):
        if not _compiled("no amount", spoken_in(text), flags=re.IGNORECASE).match(text, match.end()):
            bare = match[0].rstrip("".join(listed("counters")))
            unit = match[0][len(bare) :] or text[match.end() : match.end() + 1]
            counted = re.match(f"[{HAN_CHARS}]{{0,2}}", text[match.end() :])
            written = match[0] + (counted[0] if counted else "")
            value = han_value(bare, _values("numbers"), _values("places"))
            found.append(Amount(value, unit, written, _is_stated(text, match.start())))
    return found


def _people(text: str, tokens: Sequence[str]) -> frozenset[str]:
    if has_han(text):
        return frozenset(word for word in listed("kin") if is_han(word[0]) and word in text)
    return listed("kin").intersection(tokens)


@cache
def _topics(language: str) -> tuple[tuple[str, str, str], ...]:
    """Of each topic its name, the search terms that lead to it, and its pattern."""
    rows = (line.split(" | ", 2) for line in lines(language, "replacement").get("topics", ()))
    return tuple((name, led_by, said) for name, led_by, said in rows)


def _topics_of(text: str) -> dict[str, frozenset[str]]:
    """The topics of a text; for each the words of its subject where that is not the person of the line: "our office moved"."""
    found: dict[str, frozenset[str]] = {}
    lower = text.lower()
    for name, led_by, said in (row for language in spoken_in(text) for row in _topics(language)):
        if name not in found and (match := search(said, text)):
            found[name] = frozenset()
            before = lower[: match.start()]
            is_doing = not name.startswith(OF_FACTS) and name not in listed_in("topics of things")
            if is_doing and _fits("other subject", before):
                its = frozenset(terms(before)) - stop_terms()
                found[name] = frozenset() if its & {*led_by.split()} else its
    return found


@cache
def topic_terms() -> dict[str, frozenset[str]]:
    """Topic -> the search terms that lead to lines of it, in every language."""
    return _joined(row[:2] for language in languages() for row in _topics(language))


@cache
def kind_terms() -> dict[str, frozenset[str]]:
    """Kind of things -> their names as search terms."""
    rows = (line for language in languages() for line in lines(language, "replacement").get("kinds", ()))
    return _joined(tuple(row.split(": ", 1)) for row in rows)


def _joined(rows: Iterable[tuple[str, ...]]) -> dict[str, frozenset[str]]:
    """The words of each name, from however many rows."""
    found: dict[str, frozenset[str]] = {}
    for name, listed in rows:
        found[name] = found.get(name, frozenset()).union(listed.split())
    return found


@lru_cache(maxsize=4096)
def kinds_of(word: str) -> tuple[str, ...]:
    """The kinds of things that a word is a name of."""
    return tuple(kind for kind, names in kind_terms().items() if word in names)


@cache
def _groups_of_terms() -> dict[str, list[frozenset[str]]]:
    found: dict[str, list[frozenset[str]]] = {}
    for group in (*topic_terms().values(), *kind_terms().values()):
        for term in group:
            found.setdefault(term, []).append(group)
    return found


def led_to(term: str) -> frozenset[str]:
    """The search terms of the topics that one leads to, and of the other things of its kind."""
    return frozenset().union(*_groups_of_terms().get(term, ()))


@cache
def opposites() -> dict[str, frozenset[str]]:
    """Stem -> the stems that say the opposite."""
    found: dict[str, set[str]] = {}
    scales = (line for name in languages() for line in lines(name, "stance").get("scales", ()))
    own = (line for name in languages() for line in lines(name, "replacement").get("opposites", ()))
    for line in (*scales, *own):
        sides = [
            [(word if is_han(word[0]) else terms(word)[0]) for word in re.split(r"[,\s]+", side.strip())]
            for side in line.split("|")
        ]
        for mine, its in (sides, sides[::-1]):
            for stem in mine:
                found.setdefault(stem, set()).update(its)
    return {stem: frozenset(its) for stem, its in found.items()}


@lru_cache(maxsize=4096)
def section_words(section: str, text: str) -> str:
    """What a section of the data matches in a text, in the order and the words of the text."""
    return " ".join(match[0] for match in _compiled(section, spoken_in(text), flags=re.IGNORECASE).finditer(text))


READ: dict[str, Callable[[ReadSentence], Any]] = {
    "is_unsure": lambda said: _fits("unsure", said.text) or bool(said.whole and said.whole.is_unsure),
    "marks": lambda said: frozenset(["unsure"] * said.is_unsure).union(() if said.is_long else _marks(said.text)),
    "numbers": lambda said: tuple(_numbers(said.timeless)),
    "times": lambda said: frozenset(" ".join(terms(time)) for time in said.said),
    "found": lambda said: _topics_of(without_purpose(said.text, said)),
    "topics": lambda said: frozenset(said.found),
    "others": lambda said: frozenset((topic, word) for topic, its in said.found.items() for word in its),
    "people": lambda said: _people(said.text, terms(said.text)),
    "which": _which,
    "beside": lambda said: _matched("beside", said.text),
    "kinds": lambda said: frozenset(
        (kind, word)
        for word in (*terms(said.text), *re.findall(r"[\w+#]+", said.text.casefold()))
        for kind in kinds_of(word)
    ),
    "changed": lambda said: frozenset(word for _, changed in said.around for word in changed) - said.kin,
    "identifiers": lambda said: frozenset(re.findall(r"(?<![\w-])[a-zа-я]+-?\d+[a-zа-я\d-]*", said.text.casefold())),
    "units": lambda said: _stems(_matched("units", said.text), said),
    "money": lambda said: _stems(_matched("money", said.text), said),
    "brought": _brought,
    "modified": lambda said: _stems(_captured("modified", said.text), said),
    "aside": _aside,
}
"""How each thing that a sentence says is read."""
