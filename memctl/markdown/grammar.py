"""One line of the grammar, read and written: a fact, `KIND[(attributes)] [@Entity …]: text`, or a piece of evidence below a belief.

`parse` and `render` work on the logical line: no bullet marker, continuation lines already joined. `parse_bullet` and
`render_bullet` do the same for evidence.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache, lru_cache, partial
from posixpath import relpath
from sys import intern
from typing import Any, NamedTuple

from ..errors import Refused
from ..facts import Citation, Fact, Kind
from ..language.names import AT_NAME, WIKI_NAME, read_name, spell
from ..language.words import compiled, languages, pattern
from .attributes import ATTRIBUTES, BY_NAME, BadValue


class Problem(NamedTuple):
    """Why a line is not a fact: the 1-based column in the logical line, what is wrong, what to write instead."""

    column: int
    message: str
    suggestion: str


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
_DECIMALS = (
    r"(\d{1,18})\s*+(?:[,\uff0c]|$)"  # behind a decimal comma: no attribute is a bare number but c, which has stood
)
_compiled = partial(compiled, flags=re.DOTALL)
_BLOCK_ID = r"(?:^|\s)(?P<slashes>\\*)\^(?P<id>[A-Za-z0-9][A-Za-z0-9-]{0,63})$"


def printable_line(text: str) -> str:
    """`text` as one printable line: white space and control characters become single spaces."""
    return " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", " ", text).split())


def parse(line: str) -> Fact | Problem:
    """The fact that a logical line spells, or what keeps it from being one. Never raises."""
    line = line.strip()
    match = _compiled(_HEAD).fullmatch(line)
    if not match:
        usual = ("no kind in front", f"write `W: {line[:40]}`" if line else "write `W: text`")
        return Problem(1, *next((told for symptom, *told in _SYMPTOMS if re.match(symptom, line)), usual))
    text, block_id = split_block_id(match["text"].strip())
    if not text:
        return Problem(match.start("text") + 1, "a fact without text", "write what is true after the colon")
    kind = Kind.of(match["kind"])
    fields: dict[str, Any] = {}
    extra: list[tuple[str, str]] = []
    try:
        for name, value in _pairs(match["attributes"] or "", kind):
            _set(fields, extra, name, value)
    except BadValue as bad:
        return Problem(match.start("attributes") + 1, str(bad), bad.suggestion)
    names = _names_in(match["entities"])
    if "" in names:
        return Problem(match.start("entities") + 1, "a link without a page", "write [[Name]]")
    return Fact(kind, text, names, block_id=block_id, extra=tuple(extra), **fields)


@lru_cache(maxsize=2_000)
def _names_in(written: str) -> tuple[str, ...]:
    """The names between the head and the colon, each once; most lines are about the same few."""
    return tuple(dict.fromkeys(intern(read_name(match[0])) for match in _compiled(_ENTITY).finditer(written)))


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
    match = _compiled(_BLOCK_ID).search(text) if "^" in text else None
    if not match:
        return text, None
    if match["slashes"]:
        return text[: match.end("slashes") - 1] + text[match.end("slashes") :], None
    return text[: match.start()].rstrip(), match["id"]


def _pairs(written: str, kind: Kind) -> Iterator[tuple[str, str]]:
    """(name, unquoted value) of each attribute; a bare number after O is `c`, a bare word is a flag."""
    position = 0
    while position < len(written):
        match = _compiled(_ATTRIBUTE).match(written, position)
        if not match:
            raise BadValue(f"cannot read {written[position:][:40]!r}")
        position = match.end()
        name, value = match["name"], match["value"].strip()
        known = BY_NAME.get(name or "c")
        if (
            known
            and known.shape == "share"
            and value in ("0", "1")
            and (rest := _compiled(_DECIMALS).match(written, position))
        ):
            value, position = f"{value}.{rest[1]}", rest.end()
        if value.startswith('"'):
            value = re.sub(r"\\(.)", r"\1", value[1:-1])
        if name or value:
            yield name or _name_bare(value, kind), value


def _name_bare(value: str, kind: Kind) -> str:
    if value in BY_NAME and BY_NAME[value].shape == "flag":
        return value
    if kind is Kind.OPINION and re.fullmatch(r"[\d.]+", value):
        return "c"
    raise BadValue(f"{value!r} is not key=value")


def _set(fields: dict[str, Any], extra: list[tuple[str, str]], name: str, value: str) -> None:
    known = BY_NAME.get(name)
    if known is None:
        extra.append((name, value))
        return
    if known.field in fields and not known.many and known.shape != "flag":
        raise BadValue(f"{name}= stands twice", f"write one, such as {name}={known.example}")
    try:
        read = known.read(value)
    except BadValue as bad:
        raise BadValue(str(bad), bad.suggestion if known.shape == "flag" else f"write {name}={known.example}") from None
    fields[known.field] = (*fields.get(known.field, ()), read) if known.many else read


def with_attributes(fact: Fact, values: Mapping[str, Sequence[str]]) -> Fact | Problem:
    """`fact` with attributes set by name, as flags of a command give them; each name may have several values."""
    fields: dict[str, Any] = {}
    try:
        for name, given in values.items():
            for value in given:
                _set(fields, [], name, value)
    except BadValue as bad:
        flag = next((each.flag for each in ATTRIBUTES if each.name == name), f"--{name}")
        return Problem(1, f"{flag}: {bad}", "see `memctl retain --help`")
    return replace(fact, **fields)


def _spell_attributes(fact: Fact) -> Iterator[str]:
    for attribute in ATTRIBUTES:
        value = getattr(fact, attribute.field)
        if attribute.shape == "flag":
            yield from [attribute.name] if value else []
            continue
        for item in value if attribute.many else () if value is None else (value,):
            written = str(item)
            if isinstance(item, float) and "e" in written:  # without an exponent it reads back as the same
                written = f"{item:.18f}".rstrip("0").rstrip(".")
            yield f"{attribute.name}={_quote(written)}"
    for name, value in fact.extra:
        yield f"{name}={_quote(value)}"


def _quote(value: str) -> str:
    if value == value.strip() and value and not re.search(r'[,\uff0c()\uff08\uff09"\\]', value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


_WRITTEN = ("text", *(each.field for each in ATTRIBUTES if each.shape == "text" and not each.many))


def clean(fact: Fact) -> Fact:
    """The fact as one line can hold it: control characters and line breaks in its text and values become spaces."""
    from .lines import MAX_LINE

    values: dict[str, Any] = {
        name: printable_line(value) for name in _WRITTEN if (value := getattr(fact, name)) is not None
    }
    extra = tuple((name, printable_line(value)) for name, value in fact.extra)
    cues = tuple(dict.fromkeys(printable_line(cue) for cue in fact.cues))
    names = tuple(map(printable_line, fact.entities))
    fact = replace(fact, **values, extra=extra, cues=cues, entities=names)
    if not fact.text:
        raise Refused("nothing is left of the text", "write what is to be kept")
    if len(render(fact)) > MAX_LINE - 2:
        raise Refused(f"a line over {MAX_LINE:,} characters would not be read back", "keep it in a page of its own")
    if parse(render(fact)) != fact:
        cure = "write names without [ ] | # and values that are not empty"
        raise Refused("a value that the line grammar cannot hold", cure)
    return fact


# -- what is wrong with a line that is not a fact ---------------------------------------------------------------------

_SYMPTOMS: tuple[tuple[str, str, str], ...] = (
    (r"\[[ xX]\]\s", "a task, which is no fact", "put a heading before it"),
    (r"[wbos](?:\([^)]*\))?(?:\s+@\S+)*\s*[:\uff1a]", "kinds are capital letters", "write W, B, O or S"),
    (r"[WBOS]\s*[(\uff08][^)\uff09]*$", "a parenthesis that is never closed", "close the attributes with )"),
    (r"[WBOS]\s*[(\uff08](?>.*[)\uff09])[^:\uff1a]*$", "no colon after the head", "write `W(key=db) @Name: text`"),
    (r"[WBOS]\s++@[^\s:]++\s++[^:@\[]++:", "a name of several words", "write `W [[First Last]]: text`"),
    (r"[WBOS](?:\s++@\S++)++[^:\uff1a]*$", "no colon after the entities", "write `W @Entity: text`"),
    (r"[WBOS]\s*[(\uff08]", "attributes that cannot be read", "write key=value, with commas between, quoted"),
    (r"[A-Z](?:\([^)]*\))?(?:\s+@\S+)*\s*:", "an unknown kind", "kinds are W, B, O and S"),
)


# -- evidence: the sub-bullet under a belief with its day, verdict, resulting confidence, citation and id ---------------

QUOTED = 240  # characters of a line that the answer to a question quotes at most
OPINIONS = "bank/opinions.md"
_STRENGTHS = {"weakly ": 0.5, "faintly ": 0.25, "": 1.0}
_DASH = "·"


class Bullet(NamedTuple):
    """One piece of evidence. `number` is what was stated or set, `after` the confidence shown behind it.

    `strength` is 1 for explicit evidence, less for what was found by its words; `gone` names the page of a source
    line that is no more: such a bullet stays as a trace and counts for nothing.
    """

    day: date
    verdict: str
    strength: float = 1.0
    number: float | None = None
    guessed: bool = False
    after: float | None = None
    citation: Citation | None = None
    reason: str = ""
    ref: str | None = None
    gone: str | None = None

    @property
    def text(self) -> str:
        """The bullet without its citation and id."""
        return render_bullet(self._replace(citation=None, ref=None))

    @property
    def shown(self) -> float | None:
        """The confidence as of this piece; None where it shows none."""
        return self.number if self.after is None else self.after


_NUMBER = r"[01]?\.\d+|[01]"
_LINK = r"\[(?P<shown>(?:[^\]\\]|\\.)+)\]\([^)]*\)(?:\s*·\s*)?"


@cache
def _bullet() -> re.Pattern[str]:
    """A sub-bullet. reflect writes a verdict in English, a person in any language."""
    sides = {side: pattern(languages(), "language", side) for side in ("for", "against")}
    return re.compile(
        r"(?is)(?P<day>\d{4}-\d{1,2}-\d{1,2})(?:\s*[·|:,;–—-]\s+|\s+|[:：]\s*)"
        rf"(?:(?P<plain>superseded|questioned|stated(?:\s+(?P<guess>~)?(?P<stated>{_NUMBER})(?!\w))?|set\s+(?P<set>{_NUMBER})(?!\w))(?![\w-])"
        rf"|(?P<how>weakly |faintly )?(?:(?P<for>{sides['for']})|(?P<against>{sides['against']})))"
        rf"(?:\s*(?:→|->)\s*(?P<after>{_NUMBER})(?!\w))?"
        r"[\s:：]*(?:[·|–—-]\s+)?(?P<rest>.*?)(?:(?:(?<!\s)\s+|(?<=\s))\^(?P<ref>[A-Za-z0-9][A-Za-z0-9-]{0,63}))?"
    )


def parse_bullet(content: str) -> Bullet | None:
    """The evidence that the text of a sub-bullet spells, None if it is something else.

    What a person types is understood too: `2025-12-05 against: said so on the phone`.
    """
    first = content[:1]
    if first.isprintable() and first != " " and not first.isdigit():  # nearly every line: the index asks of all
        return None
    content = printable_line(content)  # before, not after: what stands last on the line is the id
    match = _bullet().fullmatch(content) if content[:4].isdigit() else None
    if not match:
        return None
    try:
        day = date(*map(int, match["day"].split("-")))
    except ValueError:
        return None
    rest, citation, gone = match["rest"].strip(), None, None
    if link := re.match(_LINK, rest):
        citation = Citation.parse(re.sub(r"\\(.)", r"\1", link["shown"]))
        rest = rest[link.end() :] if citation else rest
    elif rest.startswith("gone from "):
        gone, _, rest = rest.removeprefix("gone from ").partition(f" {_DASH} ")
    side = "for" if match["for"] else "against"
    number = match["stated"] or match["set"]
    return Bullet(
        day,
        match["plain"].split()[0].lower() if match["plain"] else side,
        _STRENGTHS[(match["how"] or "").lower()],
        _share(number),
        bool(match["guess"]),
        _share(match["after"]),
        citation,
        rest.strip(),
        match["ref"],
        gone,
    )


def _share(written: str | None) -> float | None:
    return min(1.0, float(written)) if written else None


def render_bullet(bullet: Bullet, page: str = OPINIONS) -> str:
    """The text of a sub-bullet on `page`, whose folder links are relative to."""
    how = next(word for word, strength in _STRENGTHS.items() if strength == bullet.strength)
    head = (how if bullet.verdict in ("for", "against") else "") + bullet.verdict
    if bullet.number is not None:
        head += f" {'~' if bullet.guessed else ''}{bullet.number:.2f}"
    if bullet.after is not None:
        head += f" → {bullet.after:.2f}"
    parts = [str(bullet.day), head]
    if bullet.citation:
        # A file may be called anything; on this line it opens nothing and breaks nothing.
        path = relpath(bullet.citation.path, page.rpartition("/")[0] or ".")
        percent = re.sub(
            r"[\s\x00-\x1f\x7f#%?()<>\\]", lambda m: "".join(f"%{byte:02X}" for byte in m[0].encode()), path
        )
        lines = str(bullet.citation)[len(bullet.citation.path) :]
        shown = re.sub(r"[\[\]\\]", r"\\\g<0>", printable_line(str(bullet.citation)))
        parts.append(f"[{shown}]({percent}{lines})")
    elif bullet.gone:
        parts.append(f"gone from {printable_line(bullet.gone)}")
    if reason := printable_line(bullet.reason.replace(_DASH, ",")):
        parts.append(reason)
    return f" {_DASH} ".join(parts) + (f" ^{bullet.ref}" if bullet.ref else "")


def code_of(bullet: Bullet) -> str:
    """How a mark spells a piece of evidence."""
    if bullet.verdict in ("for", "against"):
        return f"{'+' if bullet.verdict == 'for' else '-'}{round(bullet.strength * 4)}"
    if bullet.verdict == "stated":
        return "s" if bullet.number is None else f"s{bullet.number:.2f}"
    return {"superseded": "x", "questioned": "?"}.get(bullet.verdict, "=")
