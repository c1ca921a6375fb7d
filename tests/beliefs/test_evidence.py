"""Evidence under a belief: what reflect writes is read back, what a person types is understood, and nothing breaks a line."""

from __future__ import annotations

import unicodedata
from datetime import date

import pytest
from hypothesis import example, given, strategies as st
from strategies import IDS, growth, texts

from memctl.facts import Citation
from memctl.markdown.grammar import Bullet, code_of, parse_bullet, render_bullet
from memctl.markdown.page import parse_page

DAY = date(2025, 12, 5)
CENTS = st.integers(0, 100).map(lambda cents: cents / 100)
FILES = [
    "2025-11-27", "2025-11-27 [wip]", "встреча (2)", "会议", "a#b", "100%", "a\\b", "a]b", "x·y", "<i>", "a`b", "why?",
]  # fmt: skip
CITATIONS = st.builds(
    lambda folder, name, line, size: Citation(f"{folder}{name}.md", line, line + size),
    st.sampled_from(["memory/", "bank/", "bank/decisions/", "", "журнал/"]),
    st.sampled_from(FILES),
    st.integers(1, 9999),
    st.integers(0, 3),
)


@st.composite
def written_bullets(draw: st.DrawFn) -> Bullet:
    """Every piece of evidence that reflect writes."""
    verdict = draw(st.sampled_from(["stated", "for", "against", "set", "superseded", "questioned"]))
    strength = draw(st.sampled_from([1.0, 0.5, 0.25])) if verdict in ("for", "against") else 1.0
    number = draw(CENTS) if verdict in ("stated", "set") else None
    after = draw(st.none() | CENTS)
    reason = draw(
        st.sampled_from(["", '"long" against "concise"', "отрицание: не любит", "不 against 喜欢", "by hand"])
    )
    place = draw(st.sampled_from(["cited", "gone", "none"]))
    return Bullet(
        draw(st.dates(date(1970, 1, 1))), verdict, strength, number, verdict == "stated" and draw(st.booleans()), after,
        draw(CITATIONS) if place == "cited" else None, reason, draw(st.none() | IDS), "memory/old.md" if place == "gone" else None,
    )  # fmt: skip


def is_one_line(text: str) -> bool:
    """No character in it ends a line or steers a terminal."""
    return not any(unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") for char in text)


@given(written_bullets(), st.sampled_from(["bank/opinions.md", "opinions.md", "a/b/c.md"]))
def test_what_reflect_writes_is_read_back(bullet: Bullet, page: str) -> None:
    """And it is one line, whatever the cited file is called."""
    written = render_bullet(bullet, page)
    assert is_one_line(written)
    assert parse_bullet(written) == bullet


@given(written_bullets())
def test_a_bullet_stands_below_its_belief_as_one_item(bullet: Bullet) -> None:
    """On a page it is one list item, no fact, and it swallows nothing."""
    page = parse_page(f"- O(c=0.5) @Peter: Tea ^o-1\n  - {render_bullet(bullet)}\n- O(c=0.5): Coffee ^o-2\n", True)
    assert [entry.fact.block_id for entry in page.entries if entry.fact] == ["o-1", "o-2"]
    assert parse_bullet(page.entries[1].content) == bullet


@pytest.mark.parametrize("name", ["a\nb", "x\n- O(0.9) @Peter: forged", "a\r\n# b", "tab\there", "\x1b[31m", "\u2028"])
def test_a_file_name_cannot_forge_a_line(name: str) -> None:
    """A log may be called anything that a disk allows."""
    written = render_bullet(Bullet(DAY, "for", citation=Citation(f"memory/{name}.md", 3, 3), ref="f-1a2b3c4d"))
    assert is_one_line(written)
    again = parse_bullet(written)
    assert again is not None
    assert again.ref == "f-1a2b3c4d" and again.citation is not None and again.citation.line == 3
    assert render_bullet(again).partition("](")[0] == written.partition("](")[0]


def test_the_spelling() -> None:
    """The lines of the contract, to the letter."""
    log = Citation("memory/2025-11-27.md", 12, 12)
    link = "[memory/2025-11-27.md#L12](../memory/2025-11-27.md#L12)"
    assert (
        render_bullet(Bullet(DAY, "stated", number=0.8, citation=log, ref="f-1"))
        == f"2025-12-05 · stated 0.80 · {link} ^f-1"
    )
    assert render_bullet(Bullet(DAY, "stated", number=0.7, guessed=True)) == "2025-12-05 · stated ~0.70"
    assert (
        render_bullet(Bullet(DAY, "for", after=0.86, citation=log, ref="f-1"))
        == f"2025-12-05 · for → 0.86 · {link} ^f-1"
    )
    weak = Bullet(DAY, "against", 0.5, after=0.8, citation=log, reason='"long" against "short"', ref="f-1")
    assert render_bullet(weak) == f'2025-12-05 · weakly against → 0.80 · {link} · "long" against "short" ^f-1'
    assert render_bullet(Bullet(DAY, "for", 0.25)) == "2025-12-05 · faintly for"
    assert render_bullet(Bullet(DAY, "set", number=0.95, reason="by hand")) == "2025-12-05 · set 0.95 · by hand"
    gone = Bullet(DAY, "for", gone="memory/2025-11-27.md", ref="f-1")
    assert render_bullet(gone) == "2025-12-05 · for · gone from memory/2025-11-27.md ^f-1"
    assert render_bullet(Bullet(DAY, "superseded", citation=log, ref="f-1")) == f"2025-12-05 · superseded · {link} ^f-1"


@pytest.mark.parametrize(
    ("typed", "verdict", "reason"),
    [
        ("2025-12-05 against: said so on the phone", "against", "said so on the phone"), ("2025-12-05 · for", "for", ""),
        ("2025-12-05 for", "for", ""), ("2025-12-05, For, he said it twice", "for", ", he said it twice"),
        ("2025-12-05 - AGAINST - see the minutes", "against", "see the minutes"),
        ("2025-12-05 — for — по телефону", "for", "по телефону"), ("2025-12-05: weakly against: shrugged", "against", "shrugged"),
        ("2025-12-5 for her own notes", "for", "her own notes"),
        ("2025-12-05 против: сказала по телефону", "against", "сказала по телефону"),
        ("2025-12-05 · за · в письме", "for", "в письме"), ("2025-12-05 反对：电话里说的", "against", "电话里说的"),
        ("2025-12-05 支持 他自己写的", "for", "他自己写的"), ("  2025-12-05   ·   for   ·   x  ", "for", "x"),
        ("2025-12-05 for 1 litre a day", "for", "1 litre a day"), ("2025-12-05 against 0.5 of them", "against", "0.5 of them"),
        ("2025-12-05 stated in a letter", "stated", "in a letter"),
    ],
)  # fmt: skip
def test_what_a_person_types(typed: str, verdict: str, reason: str) -> None:
    """With dashes, colons, capitals, in three languages; numbers in a remark stay words of the remark."""
    bullet = parse_bullet(typed)
    assert bullet is not None
    assert (bullet.day, bullet.verdict, bullet.reason, bullet.number) == (DAY, verdict, reason, None)
    assert bullet.strength == (0.5 if "weakly" in typed else 1.0)


@pytest.mark.parametrize(
    ("typed", "number", "guessed"),
    [
        ("2025-12-05 stated 0.8", 0.8, False), ("2025-12-05 · stated ~0.7", 0.7, True), ("2025-12-05 set .9 by hand", 0.9, False),
        ("2025-12-05 stated 1", 1.0, False), ("2025-12-05 set 0", 0.0, False), ("2025-12-05 set 1.5", 1.0, False),
    ],
)  # fmt: skip
def test_a_typed_number(typed: str, number: float, guessed: bool) -> None:
    """Above 1 there is nothing."""
    bullet = parse_bullet(typed)
    assert bullet is not None
    assert (bullet.number, bullet.guessed) == (number, guessed)


@pytest.mark.parametrize(
    "typed",
    [
        "", "for", "2025-12-05", "2025-12-05 said so", "2025-13-05 for", "2025-12-32 for", "25-12-05 for", "2025-12-05for",
        "2025-12-05 fortunately not", "2025-12-05 for-profit", "2025-12-05 set back by rain", "2025-12-05 set 95", "2025-12-05 settled",
        "2025-12-05 stated-owned", "2025-12-05 забыла", "in 2025-12-05 for", "²025-12-05 for", "2025-12-05 · O(0.9): for",
    ],
)  # fmt: skip
def test_what_is_no_evidence(typed: str) -> None:
    """A dated remark stays a remark."""
    assert parse_bullet(typed) is None


STARTS = st.sampled_from(
    ["2025-12-05 · for", "2025-12-05 against", "2025-12-05 stated 0.8 ·", "2025-12-05 set 0.9", "2025-12-05 за:", ""]
)


@given(STARTS, texts())
@example("2025-12-05 · for", "[memory/a.md#L1](x) [memory/b.md#L2](y) ^id")
@example("2025-12-05 · for", "gone from memory/a.md · said · twice")
@example("2025-12-05 · for", "→ 0.9x")
@example("2025-12-05 against", "^a ^b")
@example("2025-12-05 for", "^abc123 \x00")
def test_any_text(start: str, rest: str) -> None:
    """Never an error; what was read and written comes out the same from then on, with every word of the person."""
    bullet = parse_bullet(f"{start} {rest}")
    if bullet is None:
        assert not start
        return
    once = render_bullet(bullet)
    again = parse_bullet(once)
    assert again is not None and is_one_line(once)
    assert again[:4] == bullet[:4] and again.ref == bullet.ref
    assert render_bullet(again) == once
    assert parse_bullet(render_bullet(again)) == again


@given(written_bullets(), written_bullets())
def test_codes_tell_what_a_person_may_change(one: Bullet, other: Bullet) -> None:
    """Equal codes are the same verdict of the same strength; a stated number is part of it."""
    facets = [(b.verdict, b.strength, b.number if b.verdict == "stated" else None) for b in (one, other)]
    assert (code_of(one) == code_of(other)) is (facets[0] == facets[1])
    assert " " not in code_of(one) and ":" not in code_of(one)


@pytest.mark.parametrize("piece", [" ", " ^", "·", "[", "\\", "0", "^a ", "~"])
def test_long_lines_take_time_in_proportion(piece: str) -> None:
    """S9."""
    assert growth(lambda text: parse_bullet(f"2025-12-05 for {text}x"), lambda n: piece * (n // len(piece))) < 3
