"""The attributes of the line grammar and the filters of a question, each declared once: docs/grammar.md has the first as a table.

The grammar, the flags of `memctl retain`, the parameters of HTTP and MCP, and the bracket commands of `memctl act`
follow from `ATTRIBUTES`. A new attribute is a field of Fact and a row here; if hits are to have it, rows of `SOMETIMES`
and `TEXT` in hits.py, in exports `_TOLD` of transfer/export.py; then `make docs`. By hand:
tests/markdown/test_grammar.py (a line and the contract); with `tool` the room in tokens of server/mcp_tools.py.

The flags of `memctl recall`, what `name:value` means in a question, the parameters of HTTP and MCP, the condition, and
the sentence "no entry passes the filter …" follow from `FILTERS`. A new filter is a row here and its type
(`QueryFilters`, recall/query.py); if it does not compare a column, also a field of Query (index/queries/entries.py) and
its SQL (filters.py beside it); then `make docs`. By hand: tests/recall/test_selection.py, docs/retrieval.md. A new
column: index/schema.sql, `Row` in index/row.py, `_EntryReader.row` in index/rows.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Any, NamedTuple

from ..facts import Period


class BadValue(ValueError):
    """A value that its attribute cannot have; the text says what it can, `suggestion` how to write it."""

    def __init__(self, message: str, suggestion: str = 'quote values that hold a comma: task="a, b"') -> None:
        super().__init__(message)
        self.suggestion = suggestion


def _share(value: str) -> float:
    if not re.fullmatch(r"\d{0,3}\.?\d{1,18}", value) or float(value) > 1:
        raise BadValue(f"{value!r} is not a number from 0 to 1")
    return float(value)


def _word(value: str) -> str:
    if not value:
        raise BadValue("an empty value")
    return value


def _matching(pattern: str, hint: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise BadValue(f"{value!r} is not {hint}")
        return value

    return read


def _id(value: str) -> str:
    return _matching(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}", "an id")(value.removeprefix("^"))


def _period(value: str) -> Period:
    period = Period.parse(value)
    if period is None:
        raise BadValue(f"{value!r} is not a day, month, year or range such as 2025-11-27..2025-12-01")
    return period


def _end_day(value: str) -> date:
    last = _period(value).last
    if not last:
        raise BadValue(f"{value!r} has no last day")
    return last


def _flag(value: str) -> bool:
    if value not in ("private", "sealed", "true"):
        raise BadValue("a flag takes no value", "write private or sealed alone")
    return True


class Attribute(NamedTuple):
    """One attribute: its `name` in a line, the `field` of Fact that holds it, its `long` name as flag and parameter.

    `help` and `metavar` describe the flag, `read` parses a value, `kinds` are those of lines on which it has a meaning,
    `many` may stand again. `hidden` ones stand last in help, and not in the man page. `tool` is what the MCP tool tells a model (None: it has
    no such parameter), `reply` whether the command SAVE_FACT in a model's reply takes it.
    """

    name: str
    field: str
    long: str
    metavar: str
    example: str
    read: Callable[[str], Any]
    help: str
    kinds: str = "WBOS"
    many: bool = False
    hidden: bool = False
    tool: str | None = None
    reply: bool = False

    @property
    def flag(self) -> str:
        """The flag of `memctl retain`."""
        return "--for" if self.name == "for" else f"--{self.long}"

    @property
    def shape(self) -> str:
        """`flag` without a value, `share` for a number from 0 to 1, `text` where every text is a value; else empty."""
        return {_flag: "flag", _share: "share", _word: "text", _origin: "text"}.get(self.read, "")

    @property
    def words(self) -> tuple[str, ...]:
        """The only values that there are, if they are few."""
        return ("ok", "fail") if self.read is _outcome else ()


ORIGIN = r"(user|agent|llm|tool|web|import)(:.+)?"
_origin = _matching(ORIGIN, "user, agent, llm, tool, web or import")
_outcome = _matching("ok|fail", "ok or fail")
SPAN = r"(\d{1,5})(h|d|w|mo|y)"
_span = _matching(SPAN, "a span such as 90d")
ATTRIBUTES = (
    Attribute("c", "confidence", "confidence", "C", "0.9", _share, "How sure, from 0 to 1; makes an opinion.", "O", tool="Of an opinion", reply=True),
    Attribute("key", "key", "key", "KEY", "db", _word, "The slot that it fills.", "WO", tool="Slot whose older value it replaces", reply=True),
    Attribute("t", "valid", "when", "TIME", "2025-11-27..2025-12-01", _period, "When it is true: 2025-11, 2025-11-27..2025-12-01.", tool="When true: 2025-11, 2025-11-27..", reply=True),
    Attribute("until", "until", "until", "DAY", "2025-12-01", _end_day, "The day on which it ends.", tool="", reply=True),
    Attribute("i", "importance", "importance", "I", "0.8", _share, "From 0 to 1.", tool="", reply=True),
    Attribute("outcome", "outcome", "outcome", "OUTCOME", "ok", _outcome, "ok or fail.", "B", tool=""),
    Attribute("task", "task", "task", "TEXT", '"deploy, twice"', _word, "What was attempted.", tool="What was attempted"),
    Attribute("why", "why", "why", "TEXT", '"tests, mostly"', _word, "Why it came out so.", tool=""),
    Attribute("for", "supports", "supports", "ID", "f-1a2b3c4d", _id, "Evidence for that belief.", many=True),
    Attribute("against", "refutes", "against", "ID", "f-1a2b3c4d", _id, "Evidence against it.", many=True),
    Attribute("supersedes", "supersedes", "supersedes", "ID", "f-1a2b3c4d", _id, "What it replaces.", many=True, tool="Ids"),
    Attribute("corrects", "corrects", "corrects", "ID", "f-1a2b3c4d", _id, "What was never true.", many=True),
    Attribute("by", "by", "by", "ID", "f-1a2b3c4d", _id, "The line that does so in place of this one."),
    Attribute("settles", "settles", "settles", "ID", "q-1a2b3c4d", _id, "The question of `memctl review` that it answers.", many=True),
    Attribute("src", "source", "source", "SRC", "web:example.com", _origin, "user, agent, llm, tool, web or import, with :name.", tool="agent, tool, web, import; or with :name [agent]", reply=True),
    Attribute("cue", "cues", "cue", "TEXT", '"short answers, not essays"', _word, "Other words to find it by; never shown.", many=True, hidden=True),
    Attribute("ttl", "ttl", "ttl", "SPAN", "90d", _span, "Forget after that long: 90d.", reply=True),
    Attribute("private", "private", "private", "", "", _flag, "Never leaves this machine through a server.", hidden=True, tool="Never shown here again", reply=True),
    Attribute("sealed", "sealed", "sealed", "", "", _flag, "Encrypt the text, which comes from stdin or a prompt; private too.", hidden=True),
)  # fmt: skip
"""In the order in which a line has them."""

BY_NAME = {attribute.name: attribute for attribute in ATTRIBUTES}


class QueryFilter(NamedTuple):
    """A filter of recall: its `name` in a question and as a flag, the `field` of Query that holds it, and which `value` it takes.

    Values are read by `_READERS` of recall/query.py. `many` may stand again. `tool` is what the MCP tool tells a model (None: there
    the question alone takes it). One of `columns` asks of its `column` of a row that text, or that number at least.
    """

    name: str
    field: str
    value: str
    metavar: str
    help: str
    many: bool = False
    tool: str | None = None
    column: str = ""

    @property
    def flag(self) -> str:
        """The flag of `memctl recall`."""
        return "--about -a" if self.name == "about" else f"--{self.name}"

    @property
    def parameter(self) -> str:
        """Its name as a parameter."""
        return self.name.replace("-", "_")


FILTERS = (
    QueryFilter("about", "about", "name", "NAME", "Whom or what it is about; may be given again.", many=True, tool="Names"),
    QueryFilter("kind", "kinds", "kind", "KIND", "world, experience, opinion, observation or note.", many=True, tool=""),
    QueryFilter("key", "key", "text", "KEY", "Only facts that fill this slot.", tool="Slot, such as db"),
    QueryFilter("since", "days", "time", "WHEN", 'From then on: 30d, 2025-11, "last week".', tool='30d, 2025-11, "last week"'),
    QueryFilter("until", "days", "time", "WHEN", "Up to then.", tool=""),
    QueryFilter("on", "days", "time", "WHEN", "Within that day, month or phrase.", tool=""),
    QueryFilter("as-of", "as_of", "time", "WHEN", "Answer as of that day, from what was known by then.", tool="As known by that day"),
    QueryFilter("min-confidence", "min_confidence", "share", "SHARE", "Leave out opinions of less confidence.", tool=""),
    QueryFilter("min-importance", "columns", "share", "SHARE", "Only lines with i= of at least that.", column="importance"),
    QueryFilter("tag", "tags", "tag", "TAG", "Lines and pages with that #tag, or one below it.", many=True, tool=""),
    QueryFilter("links-to", "links_to", "page", "PAGE", "Lines that link to that page.", many=True, tool=""),
    QueryFilter("path", "paths", "path", "GLOB", "Only that page, folder or glob: 'memory/2025-11-*.md'.", many=True),
    QueryFilter("heading", "heading", "words", "TEXT", "Only below headings with these words."),
)  # fmt: skip
