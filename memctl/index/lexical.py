"""Rank lines by their words and by the words of the lines around them.

A line in a log is often an answer whose question stands one line above, so each term counts in a line fully, in the
lines beside it partly, and all of it is normalised by the length of the line it stands in. Long lines (whole assistant
answers) then neither drown their neighbours nor gain from them.

Every constant was settled on a development split of LoCoMo, BEAM and XQuAD together, one workspace a conversation and
all in one; a fifth more or less of any of them changes the mean of those figures by less than a point.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

ORDINAL_BITS = 22  # a row id is `page << ORDINAL_BITS | ordinal`: in the order of the page, `row ± 1` are beside it
GAP = 4  # what the ordinal skips at a heading: more than the reach of a neighbour, so none is seen across a heading
CANDIDATES = 32  # rows to take from FTS5 by its own bm25 before scoring; with 100 and 400 recall@10 is the same
SHORT = 1.4  # of the length of a line: what a shorter one loses too, where each term of it counts once
BUDGET = 5_000  # postings that the candidate query may touch: FTS5 costs about 1 µs for each, whatever the LIMIT

_MOST_TERMS = 32
_K1 = 0.5  # saturation; 1.2 loses 2 points of recall@10 where a workspace holds several conversations
_TOP = _K1 + 1
_B = 0.75
_PIVOT = 64.0  # tokens of a normal line. Fixed: with the store's own average BEAM recall@10 falls from 51.8 to 45.8
_BESIDE = {1: 0.2, 2: 0.14, 3: 0.1}  # a term n lines away; without them LoCoMo recall@10 falls from 78.8 to 68.9
_SHARES = [(0, 1.0), *((side * step, share) for step, share in _BESIDE.items() for side in (-1, 1))]
_HEADING = 0.3  # a term in a heading above
_PAIR = 0.3  # two terms beside each other in the question within _NEAR tokens here: 3 points of BEAM any@5
_NEAR = 4
_PAGE = 0.1  # a page counts by its best line and .3 of the next two
_NEXT = 0.3
_WHOLE_K1 = 2.0  # a page as a whole repeats its words: each time more counts for longer than in a line
_WHOLE_B = 0.8
_WHOLE_PIVOT = 400.0  # tokens of a normal page
_TITLE = 3.0  # a term in the title or the path of a page

Other = tuple[tuple[str, ...], Mapping[str, float]]
"""Tokens that, one after another, stand for query terms which the line itself lacks: term -> part of an occurrence."""


class Lexical(NamedTuple):
    """How well one row answers, and why."""

    score: float  # from 0 to `upper_bound(query)`
    pairs: float  # the part of it that terms beside each other make
    page: float  # the part of it that the best lines of its page make
    counts: Mapping[str, float]  # query term -> how often it counts here, the lines around included
    places: Mapping[str, list[int]]
    above: Collection[str]
    asked: int  # how many terms were

    @property
    def own(self) -> tuple[str, ...]:
        """The query terms in the line itself."""
        return tuple(self.places)

    @property
    def heading(self) -> tuple[str, ...]:
        """Those that only a heading above it has."""
        return tuple([term for term in self.counts if term in self.above and term not in self.places])

    @property
    def near(self) -> tuple[str, ...]:
        """Those that only lines beside it have."""
        return tuple([term for term in self.counts if term not in self.above and term not in self.places])

    @property
    def level(self) -> str:
        """`all`, `most` (at least half) or `some` of the query's terms."""
        share = len(self.counts) / self.asked
        return "all" if share >= 1 else "most" if share >= 0.5 else "some"


class _Line(NamedTuple):
    """Where the query's terms stand in a line, how often each counts, and what one occurrence weighs there."""

    places: Mapping[str, list[int]]
    counts: Mapping[str, float]
    unit: float


_NONE: Mapping[str, Any] = MappingProxyType({})


def idf(df: int, total: int) -> float:
    """How telling a term of `df` rows in `total` is: ln(1 + (N − n + ½)/(n + ½)), never negative (Lucene's BM25)."""
    return math.log(1 + max(total - df + 0.5, 0.5) / (df + 0.5))


def weigh(dfs: Mapping[str, int], total: int) -> dict[str, float]:
    """Query term -> idf, in the question's order; of more than 32 terms the rarest that the store knows."""
    rare_first = sorted(dfs, key=lambda term: (not dfs[term], dfs[term]))
    kept = set(rare_first[:_MOST_TERMS])
    return {term: idf(df, total) for term, df in dfs.items() if term in kept}


def select_terms(dfs: Mapping[str, int], budget: int = BUDGET) -> list[str]:
    """The terms to fetch candidates by: rarest first while their postings fit the budget; at least one, at most 32."""
    rare_first = sorted((term for term in dfs if dfs[term]), key=lambda term: (dfs[term], term))
    chosen: list[str] = []
    for term in rare_first[:_MOST_TERMS]:
        budget -= dfs[term]
        if chosen and budget < 0:
            break
        chosen.append(term)
    return chosen


def match_expression(terms: Iterable[str], own: bool = False) -> str:
    """The FTS5 expression that any of the terms satisfies, with `own` in lines that memctl did not write; each is quoted,
    so none is read as syntax."""
    said = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
    return f"own : ({said})" if own else said


def row_id(page: int, ordinal: int) -> int:
    """The id of a row, by the number of its page and its place there."""
    return (page << ORDINAL_BITS) + ordinal


def page_of(row: int) -> int:
    """The number of the page that a row stands on."""
    return row >> ORDINAL_BITS


def ordinal_of(row: int) -> int:
    """The place of a row on its page."""
    return row & (1 << ORDINAL_BITS) - 1


def whole_page(page: int) -> int:
    """The id under which the vector of a whole page stands among those of its entries."""
    return row_id(page + 1, -1)


def neighbourhood(candidates: Iterable[int]) -> list[int]:
    """The row ids to read so that `score` sees the candidates and the lines beside them, sorted."""
    reach = max(_BESIDE)
    return sorted({row + step for row in candidates for step in range(-reach, reach + 1) if row + step >= 0})


def share_for(worth: float) -> float:
    """The part of an occurrence that, alone in a normal line, counts `worth` (0 to 1) of a whole one."""
    return worth * _K1 / (_K1 + 1 - worth)


def upper_bound(query: Mapping[str, float]) -> float:
    """What no row's score reaches: every term saturated, every pair together, the whole page as good."""
    return (_K1 + 1 + _PAIR) * sum(query.values()) * (1 + _PAGE * (1 + 2 * _NEXT))


def score(
    query: Mapping[str, float], rows: Mapping[int, str], titles: Mapping[int, str] = MappingProxyType({}),
    forms: Mapping[str, str] = MappingProxyType({}), others: Sequence[Other] = (), only_telling: bool = False,
) -> dict[int, Lexical]:  # fmt: skip
    """Every row that matches, unordered: BM25F (Robertson, Zaragoza, Taylor 2004) over a line and its surroundings.

    `query` is term -> idf in the question's order; `rows` is row id -> its space-joined terms, for the candidates and
    their `neighbourhood`; `titles` is row id -> the terms of the headings above it; `forms` is token -> query term
    for tokens that stand for one, such as those a prefix expanded to; `others` stand for terms in part. With
    `only_telling`, rows that only stand beside a single word of the question are left out: they answer nothing by that.
    """
    tokens = {**forms, **dict(zip(query, query, strict=True))}
    found_in = {text: sorted(_line(text, tokens, others).places) for text in set(titles.values())}
    above = {row: found for row, text in titles.items() if (found := found_in[text]) and row in rows}
    wanted = [*tokens, *(token[0] for token, _ in others)]  # to look for each costs half as much as to split a text
    holding = {row for row, text in rows.items() if any(map(text.__contains__, wanted))}
    lines = {  # most lines beside a candidate hold no term; sorted: sums of floats depend on the order
        row: _line(rows[row], tokens, others) for row in holding | above.keys()
    }
    heard = _spread(sorted(rows), lines, above)
    seen: set[str] = set().union(*(line.places for line in lines.values()))
    known = [term for term in query if term in seen]  # one after the other but for those that no line has
    follows = [(first, second, _PAIR * min(query[first], query[second])) for first, second in pairwise(known)]
    pairs = {row: _pairs(line.places, follows) for row, line in lines.items() if len(line.places) > 1}
    plain = {
        row: sum([query[term] * count * _TOP / (count + _K1) for term, count in counts.items()])
        for row, counts in heard.items()
    }
    for row, together in pairs.items():
        plain[row] += together
    pages, places, asked = _pages(plain), {row: line.places for row, line in lines.items()}, len(query)
    return {
        row: Lexical(
            plain[row] + (page := pages[page_of(row)]), pairs.get(row, 0.0), page, counts,
            places.get(row, _NONE), above.get(row, ()), asked,
        )
        for row, counts in heard.items()
        if not only_telling or places.get(row) or len(counts) > 1 or row in above
    }  # fmt: skip


def score_page(
    query: Mapping[str, float], lines: Iterable[str], title: str, length: int,
    forms: Mapping[str, str] = MappingProxyType({}), others: Sequence[Other] = (),
) -> float:  # fmt: skip
    """How well a page of `length` tokens answers as a whole, from 0 to 1: BM25 over the lines of it that hold a term, and its title."""
    tokens = {**forms, **dict(zip(query, query, strict=True))}
    counts = dict.fromkeys(query, 0.0)
    for text, share in [(title, _TITLE), *((line, 1.0) for line in lines)]:
        for term, count in _line(text, tokens, others).counts.items():
            counts[term] += share * min(count, 1.0)
    saturated = _WHOLE_K1 * (1 - _WHOLE_B + _WHOLE_B * length / _WHOLE_PIVOT)
    return sum(query[term] * n / (n + saturated) for term, n in counts.items()) / (sum(query.values()) or 1.0)


def _line(text: str, tokens: Mapping[str, str], others: Sequence[Other]) -> _Line:
    words = text.split(" ")
    places: dict[str, list[int]] = {}
    for place, token in [(place, tokens[word]) for place, word in enumerate(words) if word in tokens]:
        places.setdefault(token, []).append(place)
    counts = {term: float(len(found)) for term, found in places.items()}
    for other in others:
        if other[0][0] in text:
            _stand_in(other, words, places, counts)
    return _Line(places, counts, 1 / (1 - _B + _B * len(words) / _PIVOT))


def _stand_in(other: Other, words: Sequence[str], places: dict[str, list[int]], counts: dict[str, float]) -> None:
    """Count a line for the terms that it says in other words; several such words count as the best of them."""
    tokens, shares = other
    many = len(tokens)
    found = [at for at, word in enumerate(words) if word == tokens[0]]
    found = [at for at in found if many == 1 or tuple(words[at : at + many]) == tokens]
    for term, share in shares.items() if found else ():
        if counts.get(term, 0.0) < min(share, 1.0):
            places[term], counts[term] = found, share


def _spread(
    rows: Iterable[int], lines: Mapping[int, _Line], above: Mapping[int, Iterable[str]]
) -> dict[int, dict[str, float]]:
    """Row -> term -> how often it counts there: in the line itself, in those beside it, in the headings above."""
    heard: dict[int, dict[str, float]] = {row: {} for row in rows}
    for row, (_, held, unit) in sorted(lines.items()):
        counts = [(term, count * unit) for term, count in held.items()] if held else ()
        for step, share in _SHARES if held else ():
            if row + step in heard:
                found = heard[row + step]
                for term, count in counts:
                    found[term] = found.get(term, 0.0) + share * count
        for term in above.get(row, ()):
            heard[row][term] = heard[row].get(term, 0.0) + _HEADING * unit
    return {row: found for row, found in heard.items() if found}


def _pairs(places: Mapping[str, list[int]], follows: list[tuple[str, str, float]]) -> float:
    """What the line gains by terms that follow one another in the question and stand together here."""
    together = ((a, b, bonus) for a, b, bonus in follows if a in places and b in places)
    return sum(bonus for a, b, bonus in together if _close(places[a], places[b]))


def _close(first: list[int], second: list[int]) -> bool:
    """True when an element of one sorted list lies within `_NEAR` of one of the other: a merge, linear."""
    i = j = 0
    while i < len(first) and j < len(second):
        if abs(first[i] - second[j]) <= _NEAR:
            return True
        i, j = (i + 1, j) if first[i] < second[j] else (i, j + 1)
    return False


def _pages(plain: Mapping[int, float]) -> dict[int, float]:
    """Page -> what each of its rows gains."""
    values: dict[int, list[float]] = {}
    for row, value in plain.items():
        values.setdefault(page_of(row), []).append(value)
    best = {page: sorted(found, reverse=True) for page, found in values.items()}
    return {page: _PAGE * (found[0] + _NEXT * sum(found[1:3])) for page, found in best.items()}
