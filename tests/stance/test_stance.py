"""Stance: what a line says about a belief, and whether that may be written; what it must never be misled by."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st
from store_helpers import table
from strategies import fact_texts, growth, names

from memctl.facts import Fact, Kind
from memctl.judgement import Judgement
from memctl.language.words import lines, words
from memctl.markdown.grammar import parse
from memctl.stance import stance as reading
from memctl.stance.stance import stance

DATA = Path(__file__).parents[1] / "data" / "stance"
SETS = ("evidence-dev", "evidence-held", "evidence-more")
ROWS = [json.loads(row) for name in SETS for row in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


def line(text: str) -> Fact:
    """The fact of a line."""
    found = parse(text)
    assert isinstance(found, Fact)
    return found


def judged(belief: str, fact: str) -> Judgement | None:
    """What one line says of another."""
    return stance(line(belief), line(fact))


def verdict(belief: str, fact: str) -> str:
    """The same in a word: `for`, `against`, `ended`; with a question mark where that is asked; `-` for nothing."""
    found = judged(belief, fact)
    return "-" if found is None else found.verdict + ("" if found.is_certain else "?")


@pytest.mark.parametrize("language", ["en", "ru", "zh"])
def test_what_is_written_is_right(language: str) -> None:
    """95 times of 100 in each language, each kind apart; most of what speaks is written or asked."""
    said: Counter[tuple[str, bool]] = Counter()
    found = speaking = 0
    for row in ROWS:
        if row["lang"] != language:
            continue
        judgement = judged(row["belief"], row["fact"])
        speaking += row["label"] != "neither"
        found += row["label"] != "neither" and judgement is not None
        if judgement and judgement.is_certain:
            kind = "reversal" if judgement.kind == "reversal" else judgement.verdict
            said[kind, kind == row["label"]] += 1
    for kind in ("for", "reversal"):
        assert said[kind, True] >= 10 and said[kind, True] >= 0.95 * (said[kind, True] + said[kind, False]), said
    assert said["against", False] == 0
    assert found >= 0.8 * speaking


@pytest.mark.parametrize(("belief", "fact", "expected"), table("retractions"))
def test_a_retraction_or_a_reversal_never_counts_for(belief: str, fact: str, expected: str) -> None:
    """A letter tells one of its kind from another; so do small words and their order, and what ends is no part of something else."""
    assert verdict(belief, fact) == expected


@pytest.mark.parametrize(
    ("belief", "fact"),
    [
        ("O @Anna: Anna is kind to new colleagues.", "W @Anna: Anna moved to Riga."),  # the name
        ("O @Anna: The food is nice.", "W @Anna: The bridge is solid."),  # two words of praise
        ("O: Prefers concise replies.", "W: Wants concise replies."),  # nobody is named
        ("O @Anna: Loves jazz.", "W @Boris: Loves jazz."),
        ("O @Anna: Dark mode is broken.", "W @Anna: Anna was told by a user that dark mode is broken."),
        ("O @Anna: Loves jazz.", "W @Anna: Did Anna love jazz?"),
        ("O @Anna: Loves jazz.", "W @Anna: The label says: «everybody loves jazz»."),
        ("O @Анна: Любит джаз.", "W @Анна: Говорят, Анна любит джаз."),
        ("O @安娜: 喜欢爵士乐。", "W @安娜: 据说安娜喜欢爵士乐。"),
        ("O @Anna: Loves jazz.", "W(t=2016) @Anna: Hates jazz."),
        (
            "O @Anna: Prefers short reports, in hand before the nets open.",
            "W @Anna: Has run 11 nets since 2009.",
        ),  # on the side
        ("O @Анна: Любит короткие отчёты, в руках до открытия сетей.", "W @Анна: Сетей у неё одиннадцать."),
    ],
)
def test_what_says_nothing(belief: str, fact: str) -> None:
    """Neither written nor asked."""
    if "t=2016" in fact:
        belief = belief.replace("O @", "O(t=2025) @")
    assert verdict(belief, fact) == "-"


@pytest.mark.parametrize(
    ("belief", "fact"),
    [
        ("O @Ben: Prefers short answers.", 'O @Ben: Ben said: "I really like short answers."'),
        ("O @Борис: Предпочитает короткие ответы.", "O @Борис: Борис сказал: «Мне нравятся короткие ответы»."),
        ("O @王强: 偏好简短的回答。", "O @王强: 王强说：“我喜欢简短的回答。”"),
        ("O @Sam: Is allergic to peanuts.", "W @Sam: Sam is allergic to peanuts."),
    ],
)
def test_the_own_words_of_a_person_count(belief: str, fact: str) -> None:
    assert verdict(belief, fact) == "for"


@pytest.mark.parametrize("row", (DATA / "never-written.txt").read_text("utf-8").splitlines()[1:])
def test_what_is_not_certain_is_never_written(row: str) -> None:
    name, *pair = (part.strip() for part in row.split("|"))
    for belief, fact in (pair, pair[::-1]):
        for kind in "WBO":
            found = judged(f"O @{name}: {belief}", f"{kind} @{name}: {fact}")
            assert found is None or not found.is_certain, found


def test_names_go_through_canonical() -> None:
    """Aliases that the caller knows make two names one, and neither says anything."""
    aliases = {"petya": "peter", "peter": "peter"}
    belief, fact = line("O @Peter: Peter loves jazz."), line("O @Petya: Petya hates jazz.")
    assert stance(belief, fact) is None
    found = stance(belief, fact, canonical=lambda name: aliases.get(name.casefold(), name))
    assert found and (found.kind, found.reason) == ("reversal", "opposite attitude: jazz")


@given(fact_texts(), fact_texts(), names())
@example("-", "-", "x")
@example("не", "不 no not", "不")
@example("«", "«»“", "«")
@example("no longer no longer", "no longer", "longer")
@example("1" * 400, "九" * 400, "1")
def test_any_text_has_a_stance(one: str, other: str, name: str) -> None:
    """Never raises; the same again; what it says is a rule's, with the words found."""
    belief, fact = Fact(Kind.OPINION, one, (name,)), Fact(Kind.WORLD, other, (name,))
    found = stance(belief, fact)
    assert found == stance(belief, fact)
    assert found is None or (found.verdict in ("for", "against", "ended") and found.reason.startswith(found.rule))


@given(st.sampled_from(ROWS))
def test_a_line_never_speaks_against_itself(row: dict[str, str]) -> None:
    """A false contradiction is the worst that can happen."""
    for text in (row["belief"], row["fact"]):
        found = judged(text, text)
        assert found is None or not found.is_certain or found.verdict == "for", found


@pytest.mark.parametrize("text", ["Prefers «short» replies, not 长的 long 5 g ones; ", "长", "not ", "«", "1, "])
def test_a_long_text_takes_time_in_proportion(text: str) -> None:
    """S9; of a paste only the beginning is read."""
    reading.read_statement.cache_clear()
    assert growth(reading.read_statement, lambda n: text * (n // len(text))) < 3


@pytest.mark.parametrize("language", ["en", "ru", "zh"])
def test_no_word_stands_at_both_ends_of_a_scale(language: str) -> None:
    """And every section that a rule reads has patterns in each language."""
    for row in lines(language, "stance")["scales"]:
        one, other = ({word.strip() for word in end.split(",")} for end in row.split("|"))
        assert one and other and not one & other
    wanted = {"like", "want", "prefer", "dislike", "not", "end", "instead", "aside", "hearsay", "hedge", "light"}
    assert wanted <= words(language, "stance").keys()
