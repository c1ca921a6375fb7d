"""Which pairs of a belief and a line are judged: those of which a judgement can come, and not all that share a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from random import Random

from hypothesis import given, strategies as st

from memctl.beliefs.replay import Replayed, ReplayInput, TrustedFact, replay_beliefs
from memctl.facts import Citation, Fact, Kind
from memctl.judgement import Judgement
from memctl.truth.change import judge_view

FIRST = date(2025, 11, 1)
ENGLISH = "likes loves wants tea coffee than no longer not stopped instead of early late calm loud 5 10 km at 9 dog edit editor is Anna"
RUSSIAN = "любит не больше чай кофе вместо перестал пить рано поздно хуже лучше в 9 . ,"
CHINESE = "不 再 喜欢 讨厌 茶 咖啡 早 晚 大 小 她 是 在 ， 。 9点 而是"
KINDS = [Kind.OPINION, Kind.OPINION, Kind.WORLD, Kind.EXPERIENCE]
NAMES = st.sampled_from(
    [("Anna",), ("Anna", "Ben"), ("Ben", "Annie"), ("Annie",), ("Ben",), (), ("Anna", "Ben", "C", "D", "E", "F")]
)
WORDS = st.lists(st.sampled_from(f"{ENGLISH} {RUSSIAN}".split()), min_size=1, max_size=7).map(" ".join)
LINES = st.builds(
    Fact, st.sampled_from(KINDS), WORDS | st.lists(st.sampled_from(CHINESE.split()), min_size=1).map("".join), NAMES
)


def key_of(name: str) -> str:
    return "anna" if name == "Annie" else name.casefold()


def names_of(fact: Fact) -> frozenset[str]:
    return frozenset(map(key_of, (*fact.entities, *(name for name in ("Anna", "Ben") if name in fact.text))))


def replayed(lines: Sequence[Fact], canonical: Callable[[str], str] | None) -> tuple[Replayed, int]:
    """What the lines of some days come to, three a day, and how many pairs were judged; all that share a topic without `canonical`."""
    pairs = set[tuple[str, str]]()

    def judge(belief: Fact, fact: Fact) -> Judgement | None:
        pairs.add((belief.text, fact.text))
        return judge_view(belief, fact, key_of)

    facts = [
        TrustedFact(f"f-{n:08}", fact, FIRST + timedelta(n // 3), Citation("a.md", n, n), names_of(fact))
        for n, fact in enumerate(lines, 1)
    ]
    given = ReplayInput(facts, {}, frozenset(), names_of, judge, FIRST + timedelta(99), canonical=canonical)
    return replay_beliefs([], {}, given), len(pairs)


@given(st.lists(LINES, min_size=2, max_size=12))
def test_nothing_is_missed_by_the_pairs_that_are_not_judged(lines: list[Fact]) -> None:
    assert replayed(lines, key_of)[0] == replayed(lines, None)[0]


def test_pairs_grow_with_the_lines() -> None:
    """Sentences about one person that end alike, share common words, and two by two the others: of all pairs few are looked at."""
    chance, heads = Random(1), [f"{a}{b}" for a in "bdfgklmprst" for b in "aeiou"]
    rare = chance.sample([f"{one}{two}l" for one in heads for two in heads], 3000)
    told = (" ".join([chance.choice(rare[:20]), *rare[5 * (n // 2) + 20 :][:5]]) for n in range(600))
    lines = [Fact(chance.choice(KINDS), f"{text}. Note 3.{n}.1", ("Anna",)) for n, text in enumerate(told)]
    few, many = (replayed(lines[:count], key_of)[1] for count in (300, 600))
    assert many <= 2.3 * few and 20 * many < replayed(lines, None)[1]
