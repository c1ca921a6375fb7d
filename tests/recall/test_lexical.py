"""Ranking by words: the formula against a plain restatement of it, its bounds, and what each part is for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from memctl.index import lexical
from memctl.index.lexical import GAP, ORDINAL_BITS, idf, neighbourhood, score, select_terms, upper_bound, weigh
from memctl.language.analyzer import query_terms, terms

ALPHABET = ["alice", "баз", "数", "db", "x"]
LINE = st.lists(st.sampled_from([*ALPHABET, "other", "word"]), max_size=30).map(" ".join)
ROWS = st.dictionaries(st.integers(0, 12).map(lambda n: (n // 7) << ORDINAL_BITS | n), LINE, max_size=9)
QUERY = st.dictionaries(st.sampled_from(ALPHABET), st.floats(0.01, 9), min_size=1)


def reference(query: Mapping[str, float], rows: Mapping[int, str], titles: Mapping[int, str]) -> dict[int, float]:
    """The formula as its docstring says it, one row at a time."""

    def unit(row: int) -> float:
        return 1 / (0.25 + 0.75 * (rows[row].count(" ") + 1) / 64)

    def heard(row: int, term: str) -> float:
        shares = {0: 1.0, 1: 0.2, 2: 0.14, 3: 0.1}
        beside = [other for other in rows if abs(other - row) <= 3]
        spoken = sum(shares[abs(other - row)] * rows[other].split().count(term) * unit(other) for other in beside)
        return spoken + 0.3 * unit(row) * (term in titles.get(row, "").split())

    def together(row: int, first: str, second: str) -> bool:
        words = list(enumerate(rows[row].split()))
        return any(abs(i - j) <= 4 for i, a in words if a == first for j, b in words if b == second)

    known = [term for term in query if any(term in text.split() for text in rows.values())]
    plain = {}
    for row in rows:
        words = sum(query[term] * 1.5 * heard(row, term) / (heard(row, term) + 0.5) for term in query)
        pairs = sum(0.3 * min(query[a], query[b]) for a, b in pairwise(known) if together(row, a, b))
        plain[row] = words + pairs
    best = {row: sorted((plain[o] for o in rows if o >> 22 == row >> 22), reverse=True) for row in rows}
    return {row: plain[row] + 0.1 * (best[row][0] + 0.3 * sum(best[row][1:3])) for row in rows if plain[row]}


def ranked(question: str, *lines: str, title: str = "") -> list[int]:
    """Line numbers, best first, as a store would ask."""
    rows = {number: " ".join(terms(line)) for number, line in enumerate(lines)}
    dfs = {term: sum(term in text.split() for text in rows.values()) for term in query_terms(question)}
    found = score(weigh(dfs, len(rows)), rows, dict.fromkeys(rows, " ".join(terms(title))))
    return sorted(found, key=lambda row: (-found[row].score, row))


@given(QUERY, ROWS, st.data())
def test_score_is_its_formula(query: dict[str, float], rows: dict[int, str], data: st.DataObject) -> None:
    titled = data.draw(st.lists(st.sampled_from(sorted(rows)), unique=True)) if rows else []
    titles = {row: data.draw(LINE) for row in titled}
    found = score(query, rows, titles)
    expected = reference(query, rows, titles)
    assert found.keys() == expected.keys()
    for row, lexical_hit in found.items():
        assert lexical_hit.score == pytest.approx(expected[row])
        assert 0 < lexical_hit.score < upper_bound(query)


@given(QUERY, ROWS)
def test_every_term_is_accounted_for_once(query: dict[str, float], rows: dict[int, str]) -> None:
    titles = dict.fromkeys(rows, "db other")
    for row, hit in score(query, rows, titles).items():
        parts = [*hit.own, *hit.near, *hit.heading]
        assert sorted(parts) == sorted(hit.counts)
        assert set(hit.own) == set(rows[row].split()) & set(query)
        assert hit.level == ("all" if len(parts) == len(query) else "most" if 2 * len(parts) >= len(query) else "some")


def test_explanation_names_where_each_term_was_found() -> None:
    rows = {1: "postgresql", 2: "chose alice", 9: "alice"}
    hit = score({"alice": 2.0, "postgresql": 3.0, "berlin": 1.0, "zzz": 1.0}, rows, {2: "berlin alice"})[2]
    assert (hit.own, hit.near, hit.heading) == (("alice",), ("postgresql",), ("berlin",))
    assert hit.level == "most"
    assert hit.pairs == 0 and hit.page > 0


@pytest.mark.parametrize(("found", "level"), [(4, "all"), (3, "most"), (2, "most"), (1, "some")])
def test_level(found: int, level: str) -> None:
    counts = dict.fromkeys("abcd"[:found], 1.0)
    assert lexical.Lexical(1.0, 0.0, 0.0, counts, {}, (), 4).level == level


def test_forms_of_a_prefix_count_as_its_term() -> None:
    rows = {1: "mongodb or mongo", 5: "postgresql"}
    hit = score({"монг": 2.0}, rows, forms={"mongodb": "монг", "mongo": "монг"})[1]
    assert hit.own == ("монг",)
    assert hit.places == {"монг": [0, 2]}


def test_a_term_inside_another_word_is_not_found() -> None:
    assert score({"cat": 1.0}, {1: "category concat"}) == {}


@pytest.mark.parametrize(
    ("question", "lines", "best"),
    [
        ("Where does Alice live?", ["Where do you live, Alice?", "Berlin.", "Nice weather."], 0),
        ("Какую базу выбрали?", ["погода хорошая", "Выбрали базу PostgreSQL", "обсудили базу"], 1),
        ("选择了什么数据库", ["今天天气很好", "我们选择了PostgreSQL数据库", "数据很多"], 1),
        ("new york office", ["the office of a new plan, far from old York", "our New York office"], 1),
        ("error ECONNRESET in src/net.py", ["src/app.py works", "ECONNRESET raised in src/net.py", "an error"], 1),
    ],
)
def test_the_best_line_is_first(question: str, lines: list[str], best: int) -> None:
    assert ranked(question, *lines)[0] == best


def test_an_answer_is_found_by_its_question() -> None:
    filler = ["Nothing of note."] * 6
    order = ranked("Which database did we choose?", *filler, "Which database did we choose?", "The elephant.", *filler)
    assert order[0] == 6
    assert 7 in order[:3]


def test_nothing_is_heard_across_a_heading() -> None:
    for lines in range(GAP, 3 * GAP):
        assert 1 + lines not in score({"db": 1.0}, {1: "db", 1 + lines: "x"})


def test_idf_falls_with_frequency_and_is_never_negative() -> None:
    values = [idf(df, 100) for df in (0, 1, 10, 50, 99, 100, 120)]
    assert values == sorted(values, reverse=True)
    assert values[-1] >= 0
    assert idf(1, 10) == pytest.approx(math.log(1 + 9.5 / 1.5))


def test_rarest_terms_are_selected_up_to_the_budget() -> None:
    dfs = {"common": 4_000, "rare": 3, "unknown": 0, "some": 900, "more": 200}
    assert select_terms(dfs, 1_200) == ["rare", "more", "some"]
    assert select_terms(dfs) == ["rare", "more", "some"] if sum(dfs.values()) > lexical.BUDGET else ["common"]
    assert select_terms({"the": 90_000}) == ["the"]
    assert select_terms({"unknown": 0}) == []
    many = {str(n): 1 for n in range(50)}
    assert len(select_terms(many)) == 32
    assert select_terms(many) == select_terms(dict(reversed(many.items())))  # equally rare: in one order, every time


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.integers(0, 50), max_size=60), st.integers(0, 300))
def test_selection_keeps_to_the_budget(dfs: dict[str, int], budget: int) -> None:
    chosen = select_terms(dfs, budget)
    assert len(chosen) <= 32
    assert bool(chosen) == any(dfs.values())
    assert len(chosen) == 1 or sum(dfs[term] for term in chosen) <= budget
    assert all(dfs[term] for term in chosen)


def test_weights_keep_the_question_order_and_prefer_known_terms() -> None:
    dfs = {"z": 5, "unknown": 0, "a": 1}
    assert list(weigh(dfs, 10)) == ["z", "unknown", "a"]
    assert weigh(dfs, 10)["unknown"] > weigh(dfs, 10)["a"] > weigh(dfs, 10)["z"]
    many = {f"u{n}": 0 for n in range(20)} | {f"k{n}": 1 + n for n in range(30)}
    assert set(weigh(many, 99)) == {f"k{n}" for n in range(30)} | {"u0", "u1"}


def test_neighbourhood_is_sorted_distinct_and_not_negative() -> None:
    assert neighbourhood([1, 3]) == [0, 1, 2, 3, 4, 5, 6]
    assert neighbourhood([]) == []


def test_match_expression_quotes_each_term() -> None:
    assert lexical.match_expression(["c++", 'a"b', "or"]) == '"c++" OR "a""b" OR "or"'
