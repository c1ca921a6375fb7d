"""One line of the grammar: `KIND[(attributes)] [@Entity …]: text`, read and written.

`parse` and `render` work on the logical line: no bullet marker, continuation lines already joined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from typing import Any

from ..facts import Fact, Kind, Period
from ..language.names import AT_NAME, WIKI_NAME, read_name, spell

__all__ = ["ATTRIBUTES", "Problem", "one_line", "parse", "parse_period", "render", "split_block_id", "with_attributes"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a line is not a fact: the 1-based column in the logical line, what is wrong, what to write instead."""

    column: int
    message: str
    suggestion: str


class _Bad(ValueError):
    """A value that its attribute cannot have; the text says what it can, `suggestion` how to write it."""

    def __init__(self, message: str, suggestion: str = 'quote values that hold a comma: task="a, b"') -> None:
        super().__init__(message)
        self.suggestion = suggestion


_QUOTED = r'"(?:[^"\\]|\\.)*"'
_HEAD = (
    rf"(?P<kind>[WBOS])(?:\s*[(\uff08](?P<attributes>(?:[^()\uff08\uff09\"\\]|\\.|{_QUOTED})*)[)\uff09])?"
    rf"(?P<entities>(?:\s*(?:{AT_NAME}|@?{WIKI_NAME}))*)\s*[:\uff1a]\s*(?P<text>.*)"
)
_ENTITY = rf"{AT_NAME}|@?{WIKI_NAME}"
# Possessive (`*+`), so that a run of spaces before a stray quote is tried once and not in every division.
_ATTRIBUTE = (
    rf"\s*+(?:(?P<name>[^\s=,\uff0c\"]++)\s*+=\s*+)?"
    rf"(?P<value>{_QUOTED}(?=\s*+(?:[,\uff0c]|$))|[^,\uff0c\"]*+)\s*+(?:[,\uff0c]|$)"
)
_BLOCK_ID = r"(?:^|\s)(?P<slashes>\\*)\^(?P<id>[A-Za-z0-9][A-Za-z0-9-]{0,63})$"
_DAY = r"\d{4}(?:-\d{2}(?:-\d{2})?)?"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern when it is first needed: all together take 1.5 ms, and a recall of notes needs none."""
    return re.compile(pattern, re.DOTALL)


def one_line(text: str) -> str:
    """`text` as one printable line: white space and control characters become single spaces."""
    return " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", " ", text).split())


def parse(line: str) -> Fact | Problem:
    """The fact that a logical line spells, or what keeps it from being one. Never raises."""
    match = _compiled(_HEAD).fullmatch(line.strip())
    if not match:
        return _diagnose(line.strip())
    text, block_id = split_block_id(match["text"].strip())
    if not text:
        return Problem(match.start("text") + 1, "a fact without text", "write what is true after the colon")
    kind = Kind.of(match["kind"])
    found = _attributes(match["attributes"] or "", kind)
    if isinstance(found, _Bad):
        return Problem(match.start("attributes") + 1, str(found), found.suggestion)
    names = tuple(read_name(m[0]) for m in _compiled(_ENTITY).finditer(match["entities"]))
    if "" in names:
        return Problem(match.start("entities") + 1, "a link without a page", "write [[Name]]")
    return Fact(kind, text, tuple(dict.fromkeys(names)), block_id=block_id, **found)


def render(fact: Fact) -> str:
    """The logical line of a fact: `parse(render(fact)) == fact` for every fact that `parse` can give."""
    written = ",".join(_spell_attributes(fact))
    head = fact.kind.letter + (f"({written})" if written else "")
    names = "".join(" " + spell(name) for name in fact.entities)
    if fact.block_id:
        return f"{head}{names}: {fact.text} ^{fact.block_id}"
    return f"{head}{names}: " + _compiled(_BLOCK_ID).sub(lambda m: m[0].replace("^", "\\^", 1), fact.text)


def split_block_id(text: str) -> tuple[str, str | None]:
    """A trailing Obsidian block id `^id` apart from the text; `\\^id` is text that only looks like one."""
    match = _compiled(_BLOCK_ID).search(text)
    if not match:
        return text, None
    if match["slashes"]:
        return text[: match.end("slashes") - 1] + text[match.end("slashes") :], None
    return text[: match.start()].rstrip(), match["id"]


# -- attributes -------------------------------------------------------------------------------------------------------


def _share(value: str) -> float:
    if not re.fullmatch(r"\d{0,3}\.?\d{1,18}", value) or float(value) > 1:
        raise _Bad(f"{value!r} is not a number from 0 to 1")
    return float(value)


def _word(value: str) -> str:
    if not value:
        raise _Bad("an empty value")
    return value


def _one_of(*words: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in words:
            raise _Bad(f"{value!r} is none of {', '.join(words)}")
        return value

    return read


def _matching(pattern: str, hint: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise _Bad(f"{value!r} is not {hint}")
        return value

    return read


def _reference(value: str) -> str:
    return _matching(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}", "an id")(value.removeprefix("^"))


def _first_day(text: str) -> date:
    numbers = [int(part) for part in text.split("-")]
    return date(*([*numbers, 1, 1])[:3])


def _last_day(text: str) -> date:
    numbers = [int(part) for part in text.split("-")]
    if len(numbers) == 3:
        return date(*numbers)
    year, month = ([*numbers, 12])[:2]
    return date(year, month, 31) if month == 12 else date(year, month + 1, 1) - timedelta(days=1)


def parse_period(text: str) -> Period | None:
    """The days of `2025`, `2025-11`, `2025-11-27`, `A..B`, `A..` or `..B` (both ends included); None if it is none."""
    match = re.fullmatch(rf"({_DAY})?(\.\.)?({_DAY})?", text)
    if not match or not (match[1] or match[3]) or (match[3] and not match[2]):
        return None
    last = match[3] if match[2] else match[1]
    try:
        period = Period(_first_day(match[1]) if match[1] else None, _last_day(last) if last else None)
    except ValueError:
        return None
    return None if period.first and period.last and period.first > period.last else period


def _period(value: str) -> Period:
    period = parse_period(value)
    if period is None:
        raise _Bad(f"{value!r} is not a day, month, year or range such as 2025-11-27..2025-12-01")
    return period


def _end_day(value: str) -> date:
    period = _period(value)
    if not period.last:
        raise _Bad(f"{value!r} has no last day")
    return period.last


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of the grammar: the field that holds it, an example, how it is read, on which kinds it belongs."""

    field: str
    example: str
    read: Callable[[str], Any]
    kinds: str = "WBOS"
    many: bool = False


_ORIGINS = "user, agent, tool, web or import"
ATTRIBUTES = {
    "c": Attribute("confidence", "0.9", _share, "O"),
    "key": Attribute("key", "db", _word, "WO"),
    "t": Attribute("valid", "2025-11-27..2025-12-01", _period),
    "until": Attribute("until", "2025-12-01", _end_day),
    "i": Attribute("importance", "0.8", _share),
    "outcome": Attribute("outcome", "ok", _one_of("ok", "fail"), "B"),
    "task": Attribute("task", '"deploy, twice"', _word),
    "why": Attribute("why", '"tests, mostly"', _word),
    "for": Attribute("supports", "f-1a2b3c4d", _reference, many=True),
    "against": Attribute("refutes", "f-1a2b3c4d", _reference, many=True),
    "supersedes": Attribute("supersedes", "f-1a2b3c4d", _reference, many=True),
    "corrects": Attribute("corrects", "f-1a2b3c4d", _reference, many=True),
    "src": Attribute("source", "web:example.com", _matching(r"(user|agent|tool|web|import)(:.+)?", _ORIGINS)),
    "cue": Attribute("cues", '"short answers, not essays"', _word, many=True),
    "ttl": Attribute("ttl", "90d", _matching(r"\d{1,5}(h|d|w|mo|y)", "a span such as 90d")),
}


def _attributes(written: str, kind: Kind) -> dict[str, Any] | _Bad:
    """The fields of Fact that an attribute list sets; a _Bad for the first value that cannot be."""
    fields: dict[str, Any] = {}
    extra: list[tuple[str, str]] = []
    try:
        for name, value in _pairs(written, kind):
            _set(fields, extra, name, value)
    except _Bad as bad:
        return bad
    return fields | ({"extra": tuple(extra)} if extra else {})


def _pairs(written: str, kind: Kind) -> Iterator[tuple[str, str]]:
    """(name, unquoted value) of each attribute; a bare number after O is `c`, a bare word is a flag."""
    position = 0
    while position < len(written):
        match = _compiled(_ATTRIBUTE).match(written, position)
        if not match:
            raise _Bad(f"cannot read {written[position:][:40]!r}")
        position = match.end()
        name, value = match["name"], match["value"].strip()
        if value.startswith('"'):
            value = re.sub(r"\\(.)", r"\1", value[1:-1])
        if name or value:
            yield _name_bare(name, value, kind), value


def _name_bare(name: str | None, value: str, kind: Kind) -> str:
    if name:
        return name
    if value == "private":
        return value
    if kind is Kind.OPINION and re.fullmatch(r"[\d.]+", value):
        return "c"
    raise _Bad(f"{value!r} is not key=value")


def _set(fields: dict[str, Any], extra: list[tuple[str, str]], name: str, value: str) -> None:
    if name == "private":
        if value not in ("private", "true"):
            raise _Bad("private takes no value", "write private")
        fields["private"] = True
        return
    known = ATTRIBUTES.get(name)
    if known is None:
        extra.append((name, value))
    elif known.many:
        fields[known.field] = (*fields.get(known.field, ()), _read(name, known, value))
    elif known.field in fields:
        raise _Bad(f"{name}= stands twice", f"write one, such as {name}={known.example}")
    else:
        fields[known.field] = _read(name, known, value)


def _read(name: str, attribute: Attribute, value: str) -> Any:
    try:
        return attribute.read(value)
    except _Bad as bad:
        raise _Bad(str(bad), f"write {name}={attribute.example}") from None


def with_attributes(fact: Fact, values: Mapping[str, Sequence[str]]) -> Fact | Problem:
    """`fact` with attributes set by name, as flags of a command give them; each name may have several values."""
    fields: dict[str, Any] = {}
    try:
        for name, given in values.items():
            for value in given:
                _set(fields, [], name, value)
    except _Bad as bad:
        return Problem(1, f"--{name}: {bad}", "see `memctl retain --help`")
    return replace(fact, **fields)


def _spell_attributes(fact: Fact) -> Iterator[str]:
    for name, attribute in ATTRIBUTES.items():
        value = getattr(fact, attribute.field)
        for item in value if attribute.many else () if value is None else (value,):
            yield f"{name}={_quote(_number(item) if isinstance(item, float) else str(item))}"
    if fact.private:
        yield "private"
    for name, value in fact.extra:
        yield f"{name}={_quote(value)}"


def _number(value: float) -> str:
    """A float without an exponent, so that it reads back as the same."""
    return f"{value:.18f}".rstrip("0").rstrip(".") if "e" in repr(value) else repr(value)


def _quote(value: str) -> str:
    if value == value.strip() and value and not re.search(r'[,\uff0c()\uff08\uff09"\\]', value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


# -- what is wrong with a line that is not a fact ---------------------------------------------------------------------

_SYMPTOMS: tuple[tuple[str, str, str], ...] = (
    (r"[wbos](?:\([^)]*\))?(?:\s+@\S+)*\s*[:\uff1a]", "kinds are capital letters", "write W, B, O or S"),
    (r"[WBOS]\s*[(\uff08][^)\uff09]*$", "a parenthesis that is never closed", "close the attributes with )"),
    (r"[WBOS]\s*[(\uff08](?>.*[)\uff09])[^:\uff1a]*$", "no colon after the head", "write `W(key=db) @Name: text`"),
    (r"[WBOS]\s++@[^\s:]++\s++[^:@\[]++:", "a name of several words", "write `W [[First Last]]: text`"),
    (r"[WBOS](?:\s++@\S++)++[^:\uff1a]*$", "no colon after the entities", "write `W @Entity: text`"),
    (r"[WBOS]\s*[(\uff08]", "attributes that cannot be read", "write key=value, with commas between, quoted"),
    (r"[A-Z](?:\([^)]*\))?(?:\s+@\S+)*\s*:", "an unknown kind", "kinds are W, B, O and S"),
)


def _diagnose(line: str) -> Problem:
    for pattern, message, suggestion in _SYMPTOMS:
        if re.match(pattern, line):
            return Problem(1, message, suggestion)
    return Problem(1, "no kind in front", f"write `W: {line[:40]}`" if line else "write `W: text`")
