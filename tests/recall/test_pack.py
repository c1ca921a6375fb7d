"""What fits into a budget of tokens (`--budget N`): the best first, none cut, nothing said twice, never over N."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from face_helpers import call
from hypothesis import given, settings, strategies as st
from mcp_helpers import connected
from strategies import examples, fact_texts, names

import memctl
from memctl.facts import Citation, Kind, Period
from memctl.hits import Hit
from memctl.language.tokens import estimate as tokens
from memctl.recall.surroundings import cost, fit, plain_words


def hit(content: str, *entities: str, line: int = 1) -> Hit:
    return Hit(
        "f-1", Kind.WORLD, "2025-11-27", Period(), entities, content, Citation("memory/2025-11-27.md", line, line),
        "Retain", None, None, "owner", False,
    )  # fmt: skip


HITS = st.lists(st.builds(hit, fact_texts(), names(), line=st.integers(1, 10**6)), max_size=8)


@given(HITS, st.integers(-5, 400))
@settings(max_examples=examples(150))
def test_the_budget_is_never_exceeded_and_the_order_is_kept(hits: list[Hit], budget: int) -> None:
    kept = fit(hits, budget)
    assert sum(cost(one) for one in kept) <= max(0, budget)
    rest = iter(hits)
    assert all(any(one is other for other in rest) for one in kept)


@given(HITS)
@settings(max_examples=examples(200))
def test_what_is_left_out_did_not_fit_or_was_said_already(hits: list[Hit]) -> None:
    plenty = sum(map(cost, hits))
    kept = fit(hits, plenty)
    for one in hits:
        words = plain_words(one.content)
        said = [plain_words(other.content) for other in kept]
        assert one in kept or any(len(words & other) >= 0.9 * len(words) for other in said)


def test_a_hit_too_large_is_passed_over_for_smaller_ones_behind_it() -> None:
    large, small = hit("word " * 500), hit("small")
    assert fit([large, small], 100) == (small,)
    assert fit([large, small], 0) == ()


def test_what_a_better_hit_says_is_not_said_again() -> None:
    better = hit("Peter prefers concise replies on WhatsApp in the evening and at night")
    same = hit("peter PREFERS concise replies on WhatsApp in the evening and at night", line=2)
    more = hit("Peter prefers concise replies on WhatsApp, and long letters by post", line=3)
    assert fit([better, same, more], 10_000) == (better, more)


def test_what_has_no_words_repeats_nothing() -> None:
    assert len(fit([hit(""), hit("", line=2)], 10_000)) == 2


def test_the_cost_of_a_hit_counts_its_citation_and_its_names() -> None:
    assert cost(hit("a", "Peter" * 9)) > cost(hit("a")) > tokens("a")


@pytest.mark.parametrize(
    ("said", "question"), [("The nets were mended", "nets"), ("Сети чинили снова", "сети"), ("又修好了渔网", "渔网")]
)
def test_a_budget_is_filled_where_nobody_counts(tmp_path: Path, said: str, question: str) -> None:
    """30 lines that answer: ten of them, `-k` of them, or as many as a budget has room for; by the library, MCP and several folders."""
    root = tmp_path / "notes"
    log = root / "memory" / "2025-11-27.md"
    log.parent.mkdir(parents=True)
    lines = (
        f"- W @Hall{number}: {said} {number * 7919} {'abcdefghij'[number % 10] * 4}{number}" for number in range(30)
    )
    log.write_text("## Retain\n" + "\n".join(lines) + "\n", "utf-8")

    other = shutil.copytree(root, tmp_path / "other")

    def found(*asked: str) -> int:
        return len(json.loads(call(["recall", question, "--json", *asked], root).out)["hits"])

    assert found() == 10
    assert found("--budget", "20000") == 30
    assert found("--budget", "20000", "-k", "4") == 4
    assert 1 < found("--budget", "400") < 10
    assert found("--budget", "20000", "-w", str(root), "-w", str(other)) == 60
    with memctl.open(root) as memory:
        assert len(memory.recall(question, budget=20_000).hits) == 30
        pack = memory.context(question, budget=20_000)
        assert sum(said in item.text for item in pack.items) == 30
    with connected(root) as asker:
        assert len(asker.call("recall", query=question, budget=8_000).structured_content["hits"]) == 30
