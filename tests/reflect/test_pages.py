"""The bodies of managed blocks: what an entity page, world.md, experience.md and lessons.md look like, line by line."""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from face_helpers import call, memory_on, snapshot, write_pages
from hypothesis import HealthCheck, given, settings, strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from strategies import examples, fact_texts, names, texts

from memctl.facts import Citation, Fact, Kind, Period, Span
from memctl.hits import Hit
from memctl.language.names import entity_key
from memctl.markdown.escape import Source, heading, inline, sources
from memctl.markdown.grammar import OPINIONS
from memctl.markdown.lines import split_lines
from memctl.markdown.markers import find_blocks
from memctl.markdown.page import parse_page
from memctl.reflect.entity_pages import (
    About,
    BeliefLine,
    LinkContext,
    PageLine,
    entity_body,
    failures_body,
    lessons_body,
    world_body,
)
from memctl.reflect.lessons import TaskOutcome, failures, lessons

FIXTURE = Path(__file__).parents[2] / "fixtures" / "workspace"
PAGE = "bank/entities/Irina-Volkova.md"
WORLD, EXPERIENCE = LinkContext("bank/world.md"), LinkContext("bank/experience.md")
experience_body = partial(world_body, done=True)


def on(day: str, line: int = 12) -> Citation:
    return Citation(f"memory/{day}.md", line, line)


def line(text: str, day: str = "2025-11-27", at: int = 12, ref: str = "f-1", **more: Any) -> PageLine:
    by = more.pop("replaced_by", None)
    told: dict[str, Any] = {"valid": since(day), "source": on(day, at), "entities": ()} | more
    nothing: dict[str, Any] = dict.fromkeys(("heading", "confidence", "importance", "origin", "private"))
    return PageLine(Hit(ref, Kind.WORLD, day, content=text, **(nothing | told)), by)


def since(first: str | None, last: str | None = None) -> Period:
    return Period(*(date.fromisoformat(day) if day else None for day in (first, last)))


RIGA = line(
    "Lives in Riga, in a flat with a balcony.", "2025-07-04", 15, "f-053f2755",
    valid=since("2025-06-01"), entities=("Irina Volkova",), key="city",
)  # fmt: skip
TARTU = line(
    "До переезда в Ригу жила в Тарту.", "2025-11-12", 11, "f-e9aa3fab", valid=since("2022-09-01", "2025-05-31")
)
NETS = line("The station has 11 nets.", "2025-11-18", 14, "nets-11", entities=("Gull Spit", "Irina Volkova"))
TEA = line("Впервые налила чаю.", "2025-10-20", 13, "f-002194dd", entities=("Irina Volkova", "Alex Petrov"))
REST = line("夜鹰继续听。", "2025-11-25", 15, "f-77aa0011", valid=since("2025-12-01", "2026-06-30"))
SHORT = BeliefLine("Prefers a short night report.", 0.87, "rising", False, "o-5qjx2mtd", 3)
JOKE = BeliefLine("Шутит про одиннадцать строк.", 0.4, "falling", True, "o-c6rt4yhe", 1, 2)

IRINA = About(
    "Irina Volkova", line("Is the head of the station.", "2025-07-01", 3, "f-who"),
    [RIGA._replace(before=TARTU.hit)], [SHORT, JOKE._replace(holder="Alice", before=("Молчит.",))], [REST], [NETS, TEA],
    ["Gull Spit", "Alex Petrov"],
)  # fmt: skip
PLACE = LinkContext(PAGE, "Irina Volkova", {"gull spit": "bank/entities/Gull-Spit.md"})

EXPECTED = """\
- Is the head of the station. · [2025-07-01](../../memory/2025-07-01.md#L3 "f-who")

## Facts

- **city**: Lives in Riga, in a flat with a balcony. · since 2025-06-01 · [2025-07-04](../../memory/2025-07-04.md#L15 "f-053f2755")
  - before: ~~До переезда в Ригу жила в Тарту.~~ · 2022-09-01..2025-05-31 · [2025-11-12](../../memory/2025-11-12.md#L11 "f-e9aa3fab")

## Beliefs

- Prefers a short night report. · 0.87 ↗ · 3 for · [why](../opinions.md#^o-5qjx2mtd)
- Alice: Шутит про одиннадцать строк. · 0.40 ↘ · contested · 1 for, 2 against · [why](../opinions.md#^o-c6rt4yhe)
  - before: ~~Молчит.~~

## Plans

- 2025-12-01..2026-06-30 · 夜鹰继续听。 · [2025-11-25](../../memory/2025-11-25.md#L15 "f-77aa0011")

## What happened

- [2025-11-18](../../memory/2025-11-18.md#L14 "nets-11") · [Gull Spit](Gull-Spit.md): The station has 11 nets.
- [2025-10-20](../../memory/2025-10-20.md#L13 "f-002194dd") · Впервые налила чаю. · with Alex Petrov

## Related

[Gull Spit](Gull-Spit.md), Alex Petrov"""


def test_an_entity_page_reads_like_this() -> None:
    """Who it is, what holds with what that replaced, beliefs, plans, what happened; links as the workspace writes them."""
    assert entity_body(IRINA, PLACE) == EXPECTED
    linked = EXPECTED.replace("[Gull Spit](Gull-Spit.md)", "[[Gull Spit]]")
    assert entity_body(IRINA, PLACE._replace(wiki="name")) == linked


def test_a_section_with_nothing_to_tell_is_left_out() -> None:
    assert entity_body(About("Irina Volkova"), PLACE) == ""
    assert entity_body(About("Irina Volkova", events=[TEA]), PLACE).startswith("## What happened\n\n- [2025-10-20](")
    assert not world_body([], WORLD) and not experience_body([], EXPERIENCE)
    assert not lessons_body([], WORLD) and not failures_body([])


CASES = [
    (world_body, line("~~Keeps~~ sightings in MongoDB 7.0.", "2025-07-10", 9, "f-a", key="db", valid=since("2025-07-10", "2025-10-14"), replaced_by=on("2025-10-15", 11), superseded_by="f-b"),
     '- **db**: ~~\\~\\~Keeps\\~\\~ sightings in MongoDB 7.0.~~ · 2025-07-10..2025-10-14 · → [2025-10-15](../memory/2025-10-15.md#L11) · [2025-07-10](../memory/2025-07-10.md#L9 "f-a")'),
    (world_body, line("The tag weighs 5.9 g.", "2025-07-08", 20, "tag-light", retracted=True, replaced_by=on("2025-09-29", 11)),
     '- ~~The tag weighs 5.9 g.~~ · never true, see [2025-09-29](../memory/2025-09-29.md#L11) · [2025-07-08](../memory/2025-07-08.md#L20 "tag-light")'),
    (world_body, line("标签是蓝色的。", "2025-07-09", 8, "f-c", retracted=True), '- ~~标签是蓝色的。~~ · never true · [2025-07-09](../memory/2025-07-09.md#L8 "f-c")'),
    (experience_body, line("Replayed the queue.", "2025-07-29", 21, "f-r", also=(on("2025-08-20", 3), on("2025-08-05", 3))),
     '- [2025-07-29](../memory/2025-07-29.md#L21 "f-r"), 3 times, last [2025-08-20](../memory/2025-08-20.md#L3) · Replayed the queue.'),
    (experience_body, line("Long ago.", "2025-07-02", valid=since(None, "2009-06-30"), source=Citation("bank/world.md", 5, 6)),
     '- until 2009-06-30 · Long ago. · [world.md](world.md#L5-L6 "f-1")'),
    # `t=2009..` names no day; the log of a new year's day does.
    (world_body, line("Ringing goes on.", valid=since("2009-01-01")), '- Ringing goes on. · since 2009 · [2025-11-27](../memory/2025-11-27.md#L12 "f-1")'),
    (experience_body, line("Frost.", "2026-01-01"), '- [2026-01-01](../memory/2026-01-01.md#L12 "f-1") · Frost.'),
    # "This week" means another one when it is read later.
    (world_body, line("Живёт на этой неделе у сестры."), '- [2025-11-27](../memory/2025-11-27.md#L12 "f-1") · Живёт на этой неделе у сестры.'),
    # Others are named unless the text does so, in any form.
    (world_body, line("Alex Chen trusts Irina.", entities=("Irina Volkova", "Alex Chen", "Dumpling")), '- Alex Chen trusts Irina. · with Dumpling · [2025-11-27](../memory/2025-11-27.md#L12 "f-1")'),
    (world_body, line("看到饺子了。", entities=("Irina Volkova", "饺子", "爱丽丝")), '- 看到饺子了。 · with 爱丽丝 · [2025-11-27](../memory/2025-11-27.md#L12 "f-1")'),
    (world_body, line("Налила Петрову чаю.", entities=("Irina Volkova", "Пётр Петров", "Анна")), '- Налила Петрову чаю. · with Анна · [2025-11-27](../memory/2025-11-27.md#L12 "f-1")'),
    (world_body, line("Alice flew.", entities=("Alice", "Irina Volkova")), '- Alice flew. · [2025-11-27](../memory/2025-11-27.md#L12 "f-1")'),
]  # fmt: skip


@pytest.mark.parametrize(("body", "told", "shown"), CASES)
def test_a_line_reads_like_this(body: Callable[..., str], told: PageLine, shown: str) -> None:
    assert body([told], LinkContext("bank/world.md", "irina-volkova")) == shown


def test_lessons_read_like_this() -> None:
    """A total with the reasons, the ways with their counts, and what failed for one reason at several tasks."""

    def tried(ok: bool, day: str, text: str, why: str | None = None) -> TaskOutcome:
        return TaskOutcome("unstick the gateway", ok, text, why, ("Nightjar",), day, on(day), f"f-{day[5:]}")

    replayed = "Replayed the queue from the SD card; {} packets."
    outcomes = [tried(True, f"2025-08-0{day}", replayed.format(day)) for day in range(1, 7)]
    outcomes += [tried(False, "2025-07-29", "Power-cycled the gateway; all forgotten.", "a restart empties the list")]
    outcomes += [tried(False, "2025-09-12", "Power-cycled the gateway.", "дело не в питании")]
    outcomes += [tried(False, "2025-09-13", "Power-cycled the gateway.", "Дело  не в питании")]
    assert lessons_body(lessons(outcomes), LinkContext("bank/lessons.md")).split("\n") == [
        "### unstick the gateway",
        "",
        '6 ok, 3 failed ([a restart empties the list](../memory/2025-07-29.md#L12 "f-07-29"), [Дело  не в питании](../memory/2025-09-13.md#L12 "f-09-13"))',
        "",
        '- **reliable** · Replayed the queue from the SD card · 6 ok · [2025-08-04](../memory/2025-08-04.md#L12 "f-08-04"), '
        '[2025-08-05](../memory/2025-08-05.md#L12 "f-08-05"), [2025-08-06](../memory/2025-08-06.md#L12 "f-08-06") and 3 more',
        '- **recurring failure** · Power-cycled the gateway · 3 failed · [2025-07-29](../memory/2025-07-29.md#L12 "f-07-29"), '
        '[2025-09-12](../memory/2025-09-12.md#L12 "f-09-12"), [2025-09-13](../memory/2025-09-13.md#L12 "f-09-13")',
    ]
    across = failures(
        [
            ("lock timeout", "deploy", 2, "2025-01-01"),
            ("Lock timeouts", "migrate", 1, "2025-02-01"),
            ("rain", "deploy", 9, ""),
        ]
    )
    assert failures_body(across) == "- Lock timeouts: deploy 2, migrate 1"


def path_of(name: bytes) -> str:
    """A path that can stand on a disk, bytes that are no UTF-8 included."""
    return f"memory/{re.sub('[/.]', ' ', os.fsdecode(name)).strip() or 'x'}.md"


DAYS = st.dates(date(2024, 1, 1), date(2026, 12, 31))
PATHS = st.one_of(
    DAYS.map(lambda day: f"memory/{day}.md"),
    texts(3).map(lambda text: path_of(text.encode("utf-8", "ignore"))),
    st.binary(max_size=4).map(lambda raw: path_of(raw)),
    st.sampled_from(["bank/world.md", "bank/a (b)/c#d%20[e].md", "заметки/Имя 1.md", "javascript:x.md", "memory/2025-07-01-é&amp;.md"]),
)  # fmt: skip
CITATIONS = st.builds(
    lambda path, at, more: Citation(path, at, at + more), PATHS, st.integers(1, 9999), st.sampled_from([0, 0, 3])
)
REFS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9-]{0,20}", fullmatch=True)
PERIODS = st.one_of(
    st.just(Period()), st.builds(Period, DAYS), st.builds(lambda pair: Period(*sorted(pair)), st.tuples(DAYS, DAYS)), st.builds(lambda day: Period(None, day), DAYS)
)  # fmt: skip
LINES = st.builds(
    lambda text, **more: line(text, **more), fact_texts(), ref=REFS, replaced_by=st.none() | CITATIONS, day=DAYS.map(str), valid=PERIODS, source=CITATIONS,
    entities=st.lists(names(), max_size=3).map(tuple), key=st.none() | texts(2), retracted=st.booleans(),
    also=st.lists(CITATIONS, max_size=3).map(tuple),
)  # fmt: skip
STATES = st.builds(lambda held, old: held._replace(before=old and old.hit), LINES, st.none() | LINES)
BELIEFS = st.builds(
    BeliefLine, fact_texts(), st.floats(0, 1), st.sampled_from(["rising", "falling", "steady"]), st.booleans(), REFS,
    st.integers(0, 20), st.integers(0, 20),
)  # fmt: skip
ABOUTS = st.builds(
    lambda *told: About(*told), names(), st.none() | STATES, st.lists(STATES, max_size=3), st.lists(BELIEFS, max_size=3), st.lists(LINES, max_size=2),
    st.lists(LINES, max_size=4), st.lists(names(), max_size=3),
)  # fmt: skip


RENDERED = MarkdownIt("commonmark").enable(["strikethrough", "table"])
CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
AS_DATA = MarkdownIt("commonmark", {"html": False}).disable(["image", "autolink"])


def visible(tokens: Sequence[Token]) -> str:
    """What a reader sees of inline tokens; `<` and `>` left out, because a link in them shows without."""
    return "".join(token.content for token in tokens).translate({ord("<"): None, ord(">"): None})


def shown_alone(text: str, between: str = "") -> str:
    """What a text shows as a paragraph of its own, or between two marks of punctuation."""
    found = AS_DATA.parseInline(between + CONTROLS.sub(" ", text).strip() + between)
    return visible(found[0].children or []).strip(between or None) if found else ""


def one_item(line: str) -> list[Token]:
    """The inline tokens of a line that is the first of two list items, and nothing more."""
    tokens = RENDERED.parse(f"{line}\n- next\n")
    item = ["list_item_open", "paragraph_open", "inline", "paragraph_close", "list_item_close"]
    assert [token.type for token in tokens] == ["bullet_list_open", *item, *item, "bullet_list_close"]
    return tokens[3].children or []


LOOSE = st.lists(
    st.sampled_from(
        ["a", "б", "爱", " ", " ", "*", "**", "_", "__", "~", "~~", "`", "``", "[", "]", "(", ")", "![", "<b>", "<!--", "-->", "\\", '"', "'", "# ",
         "- ", "1. ", "> ", "|", "&amp;", "$$", "%%", "[a]: b", "[x] ", "~5 ", "x~y", "[a](b", '[a](b "c', "[a](<b", "!", "---", "***", "~~~", "```"]
    ),
    min_size=1, max_size=8,
).map("".join)  # fmt: skip


def is_plain(text: str) -> bool:
    """False for nothing to see, and for links whose target stands in `<>`: they are no links once that is text."""
    return bool(CONTROLS.sub(" ", text).strip()) and not re.search(r"\]\(\s*<", text)


@given((fact_texts() | LOOSE).filter(is_plain), st.booleans())
@settings(max_examples=examples(600), deadline=None)
def test_any_text_stays_one_item_and_shows_what_it_says(text: str, struck: bool) -> None:
    tokens = one_item(world_body([line(text, retracted=struck)], WORLD))
    kinds = [token.type for token in tokens]
    assert kinds[-3:] == ["link_open", "text", "link_close"] and tokens[-3].attrs["title"] == "f-1"
    rest = " · never true · " if struck else " · "
    assert visible(tokens[:-3]).endswith(rest)
    assert visible(tokens[:-3]).removesuffix(rest).strip(" …") == shown_alone(text, "…" if struck else "").strip(" …")
    assert not {"image", "html_inline"} & set(kinds)
    strikes = [at for at, kind in enumerate(kinds) if kind.startswith("s_")]
    assert strikes == ([0, len(kinds) - 5] if struck else [])


@pytest.mark.parametrize(
    ("text", "escaped", "struck"),
    [
        ("[a](<b)", r"[a]\(\<b)", r"[a]\(\<b)"), ("`a", r"\`a", r"\`a"), ("`` `a` `", r"\`\` `a` \`", r"\`\` `a` \`"),
        ("<!-- memctl:end world -->", r"\<!-- memctl:end world -->", r"\<!-- memctl:end world -->"), ("~~a~~", r"\~\~a\~\~", r"\~\~a\~\~"),
        ("3~5 天", "3~5 天", r"3\~5 天"), ("~5 and 3~4", r"~5 and 3\~4", r"\~5 and 3\~4"), ("![a](b)", r"\![a](b)", r"\![a](b)"),
        ("C:\\", "C:\\\\", "C:\\\\"), ("# a", r"\# a", r"\# a"), ("9. Mai", r"9\. Mai", r"9\. Mai"), ("[x] done", r"\[x] done", r"\[x] done"),
        ("%%a", r"\%\%a", r"\%\%a"), ("http://h/a~b~~", "http://h/a%7Eb%7E%7E", "http://h/a%7Eb%7E%7E"),
        ("http://h/<b>`", "http://h/%3Cb>%60", "http://h/%3Cb>%60"), ("http://h/~a", "http://h/~a", "http://h/%7Ea"),
    ],
)  # fmt: skip
def test_what_would_be_structure_is_escaped(text: str, escaped: str, struck: str) -> None:
    assert (inline(text), inline(text, struck=True)) == (escaped, struck)


def test_a_text_without_a_letter_is_no_fence() -> None:
    """Four tildes would open a code block that swallows the rest of the page."""
    told = world_body([line("\x00", retracted=True)], LinkContext("x.md"))
    assert told == '- never true · [2025-11-27](memory/2025-11-27.md#L12 "f-1")'


@given(names(), texts(2))
@settings(max_examples=examples(150), deadline=None)
def test_names_and_slots_are_letters(name: str, slot: str) -> None:
    belief = BeliefLine("text", 0.5, "steady", False, "o-1", holder=name)
    about = About("x", now=[line("text", key=slot)], beliefs=[belief])
    place = LinkContext(PAGE, "x", {entity_key(name): "bank/entities/y.md"})
    for item in entity_body(about, place).split("\n"):
        if item.startswith("- "):
            tokens = one_item(item)
            kinds = {token.type for token in tokens}
            assert kinds <= {"text", "link_open", "link_close", "strong_open", "strong_close", "text_special"}
    shown = " ".join(CONTROLS.sub(" ", name).split()) or "?"
    assert " ".join("".join(token.content for token in tokens).split()).startswith(f"{shown}: text · 0.50")


@pytest.mark.parametrize(
    "text",
    ["Replies in <1500 characters.", "3~5 天", "~/.config/nvim and ~/bin", "a < b > c", "5 * 3 = 15", "snake_case __init__.py", "*Numenius* is **it**",
     "`<b>` and `~~`", "C:\\Users", "Что-то — «важное»…", "100 %", "$5", "#tag", "[[Gull Spit]] [x](y.md)", "https://host/~user/a", "R&D", "a|b", "-5 °C",
     "2025-11-27: ok", "1.5 km", "!important"],
)  # fmt: skip
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert inline(text) == text


def test_every_fact_of_the_fixture_stays_as_it_is() -> None:
    facts = [
        entry.content
        for path in sorted(FIXTURE.rglob("*.md"))
        for entry in parse_page(path.read_text("utf-8")).entries
        if entry.fact
    ]
    assert len(facts) > 100 and [inline(text) for text in facts] == facts


@given(ABOUTS, st.lists(STATES, max_size=4))
@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_no_body_forges_structure(about: About, lines: list[PageLine]) -> None:
    """One block, one entry a line, no section of facts; each link leads where its fact stands."""
    place = LinkContext(PAGE, about.name)
    body = "\n\n".join(filter(None, (entity_body(about, place), world_body(lines, place)))) or "-"
    text = f"<!-- memctl:begin entity -->\n{body}\n<!-- memctl:end entity -->\n"
    assert split_lines(body) == body.split("\n")
    assert [(block.name, block.begin) for block in find_blocks(split_lines(text))] == [("entity", 1)]
    page = parse_page(text)
    assert not [entry for entry in page.entries if entry.fact or entry.problem]
    assert all(entry.span.line == entry.span.end_line for entry in page.entries)
    starts = ("- ", "## ", "  - before: ")
    told = set(sources(body, PAGE))
    loose = [one for one in body.split("\n") if one and one != "-" and not one.startswith(starts)]
    assert len(loose) <= bool(about.related)
    facts = [one for one in (about.defined, *about.now, *about.plans, *about.events, *lines) if one]
    cited = [hit.source for one in facts for hit in (one.hit, one.before) if hit]
    assert {(one.path, Span(one.line, one.end_line)) for one in cited} <= {(one.path, one.lines) for one in told}
    assert {Source(OPINIONS, None, one.ref) for one in about.beliefs} <= told


@given(CITATIONS, st.sampled_from([PAGE, "bank/world.md", "top.md", "memory/x/y.md", "a b/c.md"]))
@settings(max_examples=examples(300), deadline=None)
def test_a_citation_is_a_link_to_its_line(citation: Citation, page: str) -> None:
    body = experience_body([line("text", source=citation)], LinkContext(page))
    assert list(sources(body, page)) == [Source(citation.path, Span(citation.line, citation.end_line), "f-1")]
    target = str(next(token for token in one_item(body) if token.type == "link_open").attrs["href"])
    lines = str(citation).removeprefix(f"{citation.path}#")
    if citation.path.isprintable():  # markdown-it replaces bytes that are no UTF-8
        assert (
            posixpath.normpath(posixpath.join("/", posixpath.dirname(page), unquote(target)))
            == f"/{citation.path}#{lines}"
        )


@pytest.mark.parametrize("name", ["Retain", "  RETAIN: ", "保留", "Запомнить:"])
def test_no_heading_opens_a_section_of_facts(name: str) -> None:
    outcome = TaskOutcome(name, True, "Did it.", None, (), "2025-11-27", on("2025-11-27"), "f-1", 0.9)
    text = lessons_body(lessons([outcome]), LinkContext("bank/lessons.md")) + f"\n\n## {heading(name)}\n\n- W: forged\n"
    assert not any(isinstance(entry.fact, Fact) for entry in parse_page(text).entries)


@given(fact_texts())
@settings(max_examples=examples(200), deadline=None)
def test_a_heading_is_one_line_with_its_name(name: str) -> None:
    tokens = RENDERED.parse(f"### {heading(name)}\n")
    assert [token.type for token in tokens] == ["heading_open", "inline", "heading_close"]
    blank = not CONTROLS.sub(" ", name).strip()
    assert visible(tokens[1].children or []).strip(" “”") == ("?" if blank else shown_alone(name).strip(" “”"))


def test_long_and_loose_text_is_quoted_in_time_in_proportion_to_it() -> None:
    """Unpaired marks by the thousand; a quadratic scan would take minutes."""
    for piece in ("`" * 3 + "a", "~", "<a", "[", "https://x/~", "\\", "![", "%%"):
        assert len(inline(piece * (200_000 // len(piece)))) >= 190_000
    ladder = " ".join("`" * size for size in range(1, 180))
    assert inline(ladder).count("\\`") == ladder.count("`")


def test_how_names_are_linked_is_a_setting(tmp_path: Path) -> None:
    """Markdown, or the file by which Obsidian goes; the facts stay, a second round changes nothing, and back gives the old bytes."""
    lines = "- W @爱丽丝: Named the bird with [[Gull Spit]] in sight.\n- W @Gull-Spit: Has a shed.\n- W @Gull-Spit: @爱丽丝 likes it.\n"
    root = write_pages(tmp_path, {"memory/2025-11-20.md": lines + "- W @爱丽丝: Is a niece.\n"}).root
    told: dict[str, dict[str, str]] = {}
    facts = set()
    for links in ("auto", "wiki", "markdown"):
        (root / "memctl.toml").write_text(f'[reflect]\nlinks = "{links}"\n', "utf-8")
        assert call(["reflect"], root).code == 0
        told[links] = {path.stem: path.read_text("utf-8") for path in (root / "bank").rglob("*.md")}
        before = snapshot(root)
        assert call(["reflect"], root).code == 0 and snapshot(root) == before
        hits = json.loads(call(["recall", "shed niece bird", "--per-page", "0", "--json"], root).out)["hits"]
        facts.add(tuple(sorted((hit["id"], tuple(hit["entities"])) for hit in hits)))
    assert told["auto"] == told["markdown"] != told["wiki"] and len(facts) == 1
    assert "[[Gull-Spit|" in told["wiki"]["爱丽丝"] or "[[Gull-Spit]]" in told["wiki"]["爱丽丝"]
    assert "](Gull-Spit.md)" in told["markdown"]["爱丽丝"] and call(["check"], root).code in (0, 1)
    (root / "memctl.toml").write_text('[reflect]\nlinks = "html"\n', "utf-8")
    assert call(["status"], root).code == 2


@pytest.mark.parametrize("head", ["W", "W(t=2025-11-19)"])
def test_the_week_tells_what_was_due_in_it(tmp_path: Path, head: str) -> None:
    """Whether its day stands in an attribute or in its words, as `review` asks about it."""
    busy = "".join(f"- B @Ann: Rang bird {n}\n" for n in range(12))
    pages = {
        "memory/2025-11-10.md": f"- {head} @Oleg: Moves to Tallinn on 19 November 2025\n",
        "memory/2025-11-18.md": busy,
    }
    memory_on(write_pages(tmp_path, pages), date(2025, 11, 30)).reflect()
    assert "- Waits for an answer: Oleg: Moves to Tallinn" in (tmp_path / "bank/digest/2025-W47.md").read_text("utf-8")


def test_a_change_is_told_once_and_slots_of_the_owner_stand_on_a_page(tmp_path: Path) -> None:
    """By the first reflect after it, with `since` and without, though the page of somebody else is written each week."""
    pages = {
        "memory/2025-11-03.md": "- W(key=cat): Trados\n- W(key=ставка): 11\n- W: 我们用的数据库是MySQL\n- W(i=.7): Rain\n"
    }
    workspace = write_pages(tmp_path, pages)
    assert not [each for each in memory_on(workspace, date(2025, 11, 4)).reflect().digest if each.lead == "changed"]
    told = []
    for day in (10, 11, 12, 18, 25, 30):
        lines = "- W(key=cat): memoQ\n- W(key=ставка): 12\n" if day == 10 else f"- W(i=.9) @Vera: Rang bird {day}\n"
        write_pages(tmp_path, {f"memory/2025-11-{day}.md": lines})
        done = memory_on(workspace, date(2025, 11, day)).reflect(since=None if day % 2 else "7d")
        told += [(day, each.lead, each.text) for each in done.digest]
    assert sorted(told[:2]) == [(10, "changed", "12 (before: 11)"), (10, "changed", "memoQ (before: Trados)")]
    assert told[2:] == [(day, "noted", f"Vera: Rang bird {day}") for day in (11, 12, 18, 25, 30)]
    world = (tmp_path / "bank/world.md").read_text("utf-8")
    for line in ("**cat**: memoQ", "**cat**: ~~Trados~~", "**ставка**: 12", "**db**: 我们用的数据库是MySQL", "- Rain"):
        assert line in world


def test_what_was_reworded_is_told_again_and_so_is_the_rest_of_the_last_week(tmp_path: Path) -> None:
    """A line that its owner named keeps its id when it changes; of a week that is over, what came after its last reflect is told."""

    def told(day: int, city: str) -> list[str]:
        log = f"- W(key=city): I live in {city} ^c1\n"
        late = "- W(i=.9): Die Brücke ist zu\n" if day == 18 else ""
        workspace = write_pages(tmp_path, {"memory/2025-11-11.md": log, "memory/2025-11-15.md": late + "\n"})
        return [each.text for each in memory_on(workspace, date(2025, 11, day)).reflect().digest]

    write_pages(tmp_path, {"memory/2025-11-10.md": "- W(key=city): I live in Porto ^c0\n"})
    assert told(12, "Leeds") == ["I live in Leeds (before: I live in Porto)"]
    assert told(13, "Lyon") == ["I live in Lyon (before: I live in Porto)"]
    assert told(13, "Lyon") == []
    assert told(18, "Lyon") == ["Die Brücke ist zu"]


def test_what_only_begins_waits_for_no_answer(tmp_path: Path) -> None:
    pages = {"memory/2025-10-01.md": "- W: The gym costs 35 euros a month from 26 November 2025 on\n"}
    assert memory_on(write_pages(tmp_path, pages), date(2025, 11, 28)).reflect().digest == ()
