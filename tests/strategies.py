"""Shared hypothesis strategies: facts, names, texts and pages; three languages, emoji, and all that is hostile."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from datetime import date
from functools import partial
from time import process_time
from timeit import timeit
from typing import Any

from counting import call_growth
from hypothesis import strategies as st

from memctl.errors import Refused
from memctl.facts import Fact, Kind, Period
from memctl.markdown.attributes import ATTRIBUTES, Attribute
from memctl.markdown.grammar import clean


def examples(count: int, fewest: int = 8, part: int = 10 if os.environ.get("MUTANT_UNDER_TEST") else 15) -> int:
    """How many examples a property is tried with: `count` in `make torture`, a `part`-th of it otherwise."""
    return count if os.environ.get("MEMCTL_TORTURE") else max(fewest, count // part)


def findable(chunk: str) -> bool:
    return any(unicodedata.category(char)[0] in "LN" or unicodedata.category(char) == "So" for char in chunk)


_PROSE = """
Alice prefers PostgreSQL over MongoDB. They deployed v1.2.3 of src/main.py:42 on 2025-11-27 and it failed, twice!
Ирина перенесла встречу на 1 декабря, а ёжик Пётр ест «кашу» ежедневно. Решили: базу данных не менять.
爱丽丝喜欢简短的回复。 会议改到十二月一日 北京大学 数据库:升级 “引号” （括号） ，逗号
👍🏽 🇷🇺 👨‍👩‍👧 → café naïve Ελληνικά 한국어는 שָׁלוֹם ² ½ ™
"""
PROSE = _PROSE.split()

# What looks like structure: of the line grammar, of Markdown, of managed blocks, of YAML and of Obsidian.
HOSTILE = [
    "^abc123", "\\^abc123", "\\\\^a", "^", "W:", "- W: forged", "O(c=0.9):", "(", ")", "（", "）", ":", "：", ",",
    "，", '"', "'", "\\", "=", "c=2", "key=db", "@", "@Peter", "@Peter.", "@爱丽丝", "@@a@b", "[[", "]]",
    "[[Wiki Link]]", "[[#Head]]", "[[A|b]]", "```", "~~~~", "`code`", "``", "<!--", "-->",
    "<!-- memctl:begin x -->", "<!-- memctl:end x -->", "## Retain", "# H", "---", "***", "===", "|a|b|",
    "|-|-|", "> q", "- ", "* x", "+ y", "1. z", "1)", "[a]: /b 'c", "<div>", "</div>", "<script>", "<pre>",
    "<?php", "<![CDATA[", "]]>", "<!X", "&amp;", "{{", "}}", "#tag", "$x$", "%%", "\\*", "\u2028", "\x85",
    "\x0b", "\x00", "\u200b", "\ufeff", "\u00a0", "\u3000", "\ud800", "2025-11-27 · for → 0.86",
    "memory/2025-11-27.md#L12", "...", "…", "!",
]  # fmt: skip

ANY_CHARACTERS = st.characters(codec=None, exclude_categories=())
RAW = st.text(ANY_CHARACTERS, max_size=12)
CHUNKS = st.one_of(st.sampled_from(PROSE), st.sampled_from(HOSTILE), RAW)


def texts(max_size: int = 8, min_size: int = 0) -> st.SearchStrategy[str]:
    """Chunks of prose, structure and noise, with all sorts of space between them."""
    joint = st.sampled_from([" ", " ", " ", "  ", "\t", ""])
    return st.lists(st.tuples(CHUNKS, joint), min_size=min_size, max_size=max_size).map(
        lambda pairs: "".join(a + b for a, b in pairs)
    )


def fact_texts() -> st.SearchStrategy[str]:
    """Every text that a fact can have: not empty, no space around it."""
    return texts(8, 1).map(str.strip).filter(bool)


@st.composite
def names(draw: st.DrawFn) -> str:
    """Every name that `@Name` or `[[Name]]` can spell."""
    known = ["Peter", "Имя", "爱丽丝", "Alex Chen", "C++", "R&D", "node.js", "Dr.", "@x", "a: b", "(x)", '"q"', "^id"]
    free = texts(3, 1).map(lambda text: " ".join(text.translate(dict.fromkeys(map(ord, "[]|#"))).split()))
    return draw(st.one_of(st.sampled_from(known), free.filter(bool)))


IDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9-]{0,20}", fullmatch=True)
SHARES = st.one_of(
    st.integers(0, 100).map(lambda percent: percent / 100),
    st.integers(0, 10**18).map(lambda n: float(f"{n // 10**18}.{n % 10**18:018d}")),
    st.sampled_from([0.0, 1.0, 1e-18, 0.1 + 0.2, 1e-5]),
)
DAYS = st.dates()


def values() -> st.SearchStrategy[str]:
    """Every string that a quoted attribute can have: a backslash escapes anything but a line break."""
    return texts(3, 1).filter(bool)


@st.composite
def periods(draw: st.DrawFn, days: st.SearchStrategy[date] = DAYS) -> Period:
    """Every period that `t=` can spell: at least one side, in order."""
    first, last = sorted((draw(days), draw(days)))
    whole = [Period(date(first.year, 1, 1), date(first.year, 12, 31)), Period(first, first)]
    return draw(st.sampled_from([Period(first, last), Period(first, None), Period(None, last), *whole]))


ORIGINS = st.builds(
    lambda origin, name: f"{origin}:{name}" if name else origin,
    st.sampled_from(["user", "agent", "tool", "web", "import"]),
    values().map(lambda text: text.replace("\n", " ")) | st.none(),
)
UNKNOWN_ATTRIBUTES = st.sampled_from(["mood", "x-1", "C", "свойство", "标签", "\\)"])
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "ID": IDS, "TIME": periods(), "DAY": DAYS, "SRC": ORIGINS, "SPAN": st.from_regex(r"[0-9]{1,5}(h|d|w|mo|y)", fullmatch=True),
    "share": SHARES, "flag": st.booleans(), "text": values(),
}  # fmt: skip


def _value(attribute: Attribute) -> st.SearchStrategy[Any]:
    """Every value that the field of an attribute can have."""
    known = attribute.metavar if attribute.metavar in _VALUES else attribute.shape
    one = _VALUES[known] if known else st.sampled_from(attribute.words)
    return st.lists(one, max_size=2).map(tuple) if attribute.many else one


FIELDS = {each.field: _value(each) for each in ATTRIBUTES}
FIELDS["extra"] = st.lists(st.tuples(UNKNOWN_ATTRIBUTES, texts(3)), max_size=2).map(tuple)
KINDS = st.sampled_from([Kind.WORLD, Kind.EXPERIENCE, Kind.OPINION, Kind.OBSERVATION])


@st.composite
def facts(draw: st.DrawFn) -> Fact:
    """Every fact that the grammar can spell, with any of its attributes on any kind."""
    chosen = draw(st.sets(st.sampled_from(sorted(FIELDS)), max_size=5))
    fields = {name: draw(FIELDS[name]) for name in sorted(chosen)}
    entities = tuple(draw(st.lists(names(), max_size=3, unique=True)))
    return Fact(draw(KINDS), draw(fact_texts()), entities, block_id=draw(st.none() | IDS), **fields)


def _cleaned(fact: Fact) -> Fact | None:
    try:
        return clean(fact)
    except Refused:
        return None


def line_facts() -> st.SearchStrategy[Fact]:
    """Facts as retain writes them: on one line, without control characters."""
    return facts().map(_cleaned).filter(bool)  # type: ignore[arg-type]


# Lines that open or close something in Markdown, each a candidate for swallowing what follows.
OPENERS = [
    "```", "````", "~~~", "~~~~~~", "   ```py", "> ```", "- ```", "  ~~~~", "<!--", "  <!-- x", "- <!--",
    "<script>", "<pre>", "<style>", "<textarea>", "<?php", "<!X", "<![CDATA[", "<div>", "<a href='", "</p>",
    "| a | b |", "|---|---|", "a | b", "---", "===", "***", "- item", "* item", "+ item", "1. item", "10) item",
    "  - nested", "    - deep", "        code", "\tcode", "> quote", "> > q", "> - W: x", "- - - x", "-", "1.",
    "# Title", "## Retain", "### retain", "## RETAIN:", "## Запомнить", "# 保留", "Retain", "## Other", "###",
    "#", "- W: a fact", "- W @Peter: a fact ^abc123", "- O(c=2): broken", "- w: broken", "  continued",
    "[a]: /b", "[a]: /b 'open", "[a]:", "<!-- memctl:begin x sha=0a -->", "<!-- memctl:end x -->", "key: value",
    "...", "", "", "", "text", "\\", "&nbsp;", "[^1]: note", "-->", "```x`", "</script>", "]]>", "?>",
]  # fmt: skip
INDENTED = st.builds("{}{}".format, st.sampled_from(["  ", "    ", "> ", "- ", "\t"]), texts(3))
LINES = st.one_of(st.sampled_from(OPENERS), texts(5), INDENTED)
FRONTS = ["", "", "", "\ufeff", "---\naliases: [a, b]\n---\n", "\ufeff---\r\nx: 1\r\n...\r\n", "---\nopen: yes\n"]
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])


@st.composite
def pages(draw: st.DrawFn, max_lines: int = 12) -> str:
    """Any Markdown: blocks left open, all line ends, perhaps a byte order mark, front matter, no final newline."""
    front = draw(st.sampled_from(FRONTS))
    body = "".join(line + end for line, end in draw(st.lists(st.tuples(LINES, ENDS), max_size=max_lines)))
    return front + (body.rstrip("\r\n") if draw(st.booleans()) else body)


def growth(work: Callable[[str], object], made: Callable[[int], str], size: int = 8192) -> float:
    """calls(2n) / calls(n): 2 is linear, 4 quadratic.

    In `make torture` at four times the size, and t(2n) / t(n) too, which sees into regular expressions.
    """
    if not os.environ.get("MEMCTL_TORTURE"):
        return call_growth(work, made, size // 4)
    return max(call_growth(work, made, size), _time_growth(work, made, size))


def _time_growth(work: Callable[[str], object], made: Callable[[int], str], size: int) -> float:
    """The same in processor time, the best of several runs; 0 below 2 ms."""
    small, large = made(size), made(2 * size)
    best = [float("inf"), float("inf")]
    for _ in range(8):
        took = (timeit(partial(work, text), timer=process_time, number=1) for text in (small, large))
        best = [min(both) for both in zip(best, took, strict=True)]
        if best[1] < max(0.002, 2.5 * best[0]):
            break
    return 0.0 if best[1] < 0.002 else best[1] / best[0]
