"""What surrounds the hits of an answer: the token budget, what was searched in vain and why, how likely there is an answer at all."""

import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import date
from itertools import groupby, pairwise
from typing import NamedTuple

from ..hits import TEXT, Answer, Hit
from ..index.index import Index
from ..index.lexical import idf
from ..index.open_memory import OpenMemory
from ..index.queries.entity_names import KnownNames, near_name
from ..index.queries.entries import Filter, Query, days_of_pages, entry_count, filtered, frequencies, match
from ..index.queries.filters import condition_of
from ..index.row import Entity
from ..language.analyzer import query_terms, stop_terms, terms
from ..language.dates import find_times
from ..language.names import is_han
from ..language.tokens import estimate
from ..markdown.attributes import FILTERS
from ..markdown.escape import many
from ..truth.statement import is_numeral
from .wording import capitals, without_value_asked

_SHORT_HIT = 32  # tokens; few hits take less
_MOST_PLACES = 100  # hits of one answer that nobody counted
_REPEATED = 0.9  # share of the words of a line that stand in another one when it says the same
_BETWEEN_LISTS = 8  # tokens of the line between hits and related lines


def most_hits(k: int | None, budget: int | None, usual: int) -> int:
    """How many hits are looked for: `k`, else as many as a budget in tokens may have room for, else as many as usual."""
    if k or budget is None:
        return k or usual
    return max(usual, min(_MOST_PLACES, budget // _SHORT_HIT))


def fit_hits(answer: Answer, budget: int) -> Answer:
    """The answer within a budget; one that becomes empty by it says so."""
    hits = fit(answer.hits, budget)
    if not hits and answer.hits:
        least = min(map(cost, answer.hits))
        why = f"{many(len(answer.hits), 'line')} found, and none fits into {budget} tokens; the shortest takes {least}"
        return answer._replace(hits=(), empty=(why,))
    kept = {hit.ref for hit in hits}
    left = (hit.day or hit.source.path for hit in answer.hits if hit.ref not in kept)
    return answer._replace(hits=hits, more=(*left, *answer.more))


def fit_related(answer: Answer, budget: int) -> Answer:
    """The answer with those related lines that fit into what the hits leave of a budget; where none does, it says so."""
    related = answer.related or ()
    left = budget - sum(map(cost, answer.hits)) - _BETWEEN_LISTS
    whole = fit(related, sum(map(cost, related)), answer.hits)
    kept = fit(related, left, answer.hits)
    if kept or not whole or not answer.hits:
        return answer._replace(related=kept)
    return crowded_out(answer, len(whole), budget, f"; the shortest takes {min(map(cost, whole))}")


def crowded_out(answer: Answer, lines: int, budget: int, least: str = "") -> Answer:
    """The answer without related lines, which says that so many of them found no room."""
    related = f"{many(lines, 'line is', 'lines are')} related to these"
    why = f"{related}, and the budget of {budget} tokens leaves room for none{least}"
    return answer._replace(related=(), crowded=True, warnings=(*answer.warnings, why))


def cost(hit: Hit) -> int:
    """Tokens of a hit as it is printed: content, citation, date, names, what replaced it, its twins and its history."""
    shown = [hit.content, hit.source, hit.day, hit.kind.value, hit.heading, *hit.entities, hit.ref, hit.origin]
    shown += [*hit.also, *hit.via, *hit.heading_path, *(line.content for line in hit.passage)]
    shown += filter(None, (value(hit) for value in TEXT.values()))
    marks = [hit.valid, hit.superseded_by] if hit.superseded_by or hit.expired else []
    chain = [part for version in hit.history for part in (version.content, version.source, version.valid)]
    return estimate(" ".join(str(part) for part in (*shown, *marks, *chain))) + 16


def fit(hits: Sequence[Hit], budget: int, before: Sequence[Hit] = ()) -> tuple[Hit, ...]:
    """The hits that fit into `budget` tokens, in their order. One that repeats a better one is left out.

    A hit too large for what is left is passed over; smaller ones behind it still come. `before` stand above already.
    """
    kept: list[Hit] = []
    above = [plain_words(hit.content) for hit in before]
    for hit in hits:
        if cost(hit) <= budget and not repeats(hit.content, above):
            kept.append(hit)
            above.append(plain_words(hit.content))
            budget -= cost(hit)
    lost = {hit.ref for hit in hits}.difference(hit.ref for hit in (*before, *kept))
    return tuple(hit for hit in kept if hit.perhaps_superseded_by not in lost)  # it goes with what may have replaced it


def plain_words(text: str) -> frozenset[str]:
    """The words of a text, roughly: to tell whether a line says what another one does."""
    return frozenset(word.strip(".,;:!?()[]*_`\"'«»“”。，、") for word in text.casefold().split()) - {""}


def repeats(text: str, others: Iterable[Set[str]], share: float = _REPEATED) -> bool:
    """True when that share of the words of a text stands in one of the others."""
    words = plain_words(text)
    return bool(words) and any(len(words & other) >= share * len(words) for other in others)


_COUNTED = 1000
_FILTERS = (*dict.fromkeys(each.field for each in FILTERS if not each.column), "phrases", "without")
_SHOWN = 8  # words that are worth naming
_LONG = 60  # characters of one word
_MARKS = "\"'“”«»‘’.,:;?!()[]、。，？！"


def explain_empty(memory: OpenMemory, query: Query, about: Sequence[Entity | str], condition: Filter) -> Iterator[str]:
    """Why there is no hit, a line each: how much was searched, which words stand nowhere, which filter left nothing."""
    index = memory.index
    entries = entry_count(index)
    yield f"nothing found in {many(entries, 'entry', 'entries')} of {many(len(days_of_pages(index)), 'page')}"
    missing = _missing_words(index, query)
    if missing:
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        yield f"no page holds: {', '.join(missing[:_SHOWN])}{more}"
    if condition.sql and query.filters:
        yield from _narrow_filters(memory, query, about)
    wanted = query_terms(query.words) if query.expiry else ()
    if wanted and match(index, wanted, condition_of(replace(query, expiry=None), about), 1):
        yield "what holds words of it is over by its ttl; --history shows it"


def _missing_words(index: Index, query: Query) -> list[str]:
    """The words of a question, as they were written, that stand nowhere."""
    wanted = set(query_terms(query.words))
    known = frequencies(index, wanted)
    found: dict[str, str] = {}
    stops = stop_terms()
    for word in dict.fromkeys(part for chunk in query.words.split() for part in _parts(chunk, known, stops)):
        own = wanted.intersection(terms(word))
        own = {term for term in own if len(term) > 1 or not is_han(term)} or own
        if own and known.keys().isdisjoint(own):
            bare = word.strip(_MARKS) or word
            found.setdefault(bare.casefold(), bare if len(bare) <= _LONG else f"{bare[:_LONG]}…")
    return list(found.values())


def _parts(chunk: str, known: Container[str], stops: Container[str]) -> Iterator[str]:
    """A word; of a sentence without spaces what stands between its function words and the pairs of characters that are known."""
    for is_sentence, letters in groupby(chunk, is_han) if any(map(is_han, chunk)) else ((False, chunk),):
        part = "".join(letters)
        if is_sentence:
            for pair in filter(known.__contains__, map("".join, pairwise(part))):
                part = part.replace(pair, " ")
            part = "".join(" " if letter in stops else letter for letter in part)
        yield from part.split()


def _narrow_filters(memory: OpenMemory, query: Query, about: Sequence[Entity | str]) -> Iterator[str]:
    """The filters that leave nothing by themselves, with what to write instead, else all of them together."""
    held = [*((name, getattr(query, name)) for name in _FILTERS), *(("columns", (one,)) for one in query.columns)]
    alone = (Query(**{name: one}, sections=query.sections) for name, one in held)
    told = [single for single in alone if single.filters]
    empty = [one for one in told if not filtered(memory.index, condition_of(one, about if one.about else ()), 1)]
    for single in empty:
        near = near_name(memory, single.about[0]) if single.about else None
        cure = f"; did you mean {near}?" if near else ""
        cure = "; a glob fits a whole path: memory/2025-11-*.md, bank/" if single.paths else cure
        yield f"no entry passes the filter {' '.join(single.filters)}{cure}"
    if empty:
        return
    filters = " ".join(query.filters)
    count = len(filtered(memory.index, condition_of(replace(query, words="", times=()), about), _COUNTED))
    if count == 0:
        yield f"no entry passes all the filters {filters}"
        return
    number = f"over {_COUNTED:,} entries pass" if count == _COUNTED else many(count, "entry passes", "entries pass")
    yield f"{number} the filters {filters}, and none {'holds those words' if query.words else 'is about just that name'}"


# -- how likely memory holds an answer: by words alone, a small logistic over what recall found ------------------------
# The weights were fitted by `python bench/answerable.py DATA --fit` on half of the conversations of LoCoMo and half of the
# articles of XQuAD (English, Russian, Chinese): questions of the own pages against questions of others, the names in them
# exchanged for names of here (at half the weight) too; docs/retrieval.md has what it gives on the other halves.

_LOOKED_AT = 5  # hits


class Signs(NamedTuple):
    """What speaks for an answer, each about 0 to 1; shares are of the idf of the question's words without its names."""

    own: float  # share in the line that has most and bears the names of the question; less where some are missing
    known: float  # share of words that stand anywhere
    top: float  # relevance of the best hit, as far as it bears the names of the question
    named: float  # share of the names in the question that the best line bears; 1 without one
    alone: float  # 1 for a question of one word
    slot: float  # 1 where a slot answers; no set has any, its weight is chosen


WEIGHTS = Signs(own=4.21, known=1.25, top=13.05, named=1.17, alone=-6.36, slot=3.0)
BIAS = -4.95


def signs_of(index: Index, words: str, hits: Sequence[Hit], less: Counter[str] | None = None) -> Signs | None:
    """The signs for a question and its hits; None where it has no words. `less`: lines not counted, by term."""
    if not (wanted := query_terms(words)):
        return None
    names = {*terms(" ".join((*capitals(words), *KnownNames(index).in_text(words))))}.intersection(wanted)
    counts, total = Counter(frequencies(index, wanted, own=True)) - (less or Counter()), entry_count(index, own=True)
    weights = {term: idf(counts.get(term, 0), total) for term in wanted if term not in names}
    asking = {*wanted}.difference(query_terms(without_value_asked(words)))
    plain = {term: weight for term, weight in weights.items() if term not in asking}
    looked_at = hits[:_LOOKED_AT]
    # Beside a time or a number, "what time" is no word to look for.
    needed = [plain if asking and _holds_value(hit.content) else weights for hit in looked_at]
    said = [set(str(hit.parts.get("own", "")).split()) for hit in looked_at]
    borne = [{*held, *terms(" ".join((*hit.entities, hit.under)))} for held, hit in zip(said, hits, strict=False)]
    named = [len(names & held) / len(names) if names else 1.0 for held in borne] or [0.0]
    own = (share * _part(of, held) for of, held, share in zip(needed, said, named, strict=False))
    known = _part(plain if plain in needed else weights, {term for term in wanted if counts.get(term)})
    relevance = (float(hit.parts.get("relevance", 0.0)) for hit in looked_at)
    top = max((share * each for share, each in zip(named, relevance, strict=False)), default=0.0)
    slot = float(any("slot" in hit.why for hit in hits[:1]))
    return Signs(max(own, default=0.0), known, top, named[0], 1 / len(wanted), slot)


def _part(weights: Mapping[str, float], held: Set[str]) -> float:
    """The part of some weights that is on terms which are held."""
    return sum(weight for term, weight in weights.items() if term in held) / (sum(weights.values()) or 1.0)


def _holds_value(text: str) -> bool:
    """True for a text that names a time or a number."""
    return any(map(is_numeral, terms(text))) or bool(find_times(text, date.min))


def answerable(signs: Signs | None, hits: Sequence[Hit]) -> float | None:
    """How likely one of the hits answers the question, 0 to 1; None where it has no words."""
    if signs is None:
        return None
    weighed = sum(weight * sign for weight, sign in zip(WEIGHTS, signs, strict=True))
    return 1 / (1 + math.exp(-BIAS - weighed)) if hits else 0.0
