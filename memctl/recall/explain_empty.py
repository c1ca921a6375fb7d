"""Never silently empty: what was searched, and which filter left nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..index.index import Index
from ..index.queries.entries import Filter, Query, condition_of, entry_count, filtered, frequencies, match, pages_read
from ..index.row import Entity
from ..language.analyzer import query_terms, terms
from ..markdown.counting import many

__all__ = ["why_empty"]

_COUNTED = 1000
_SHOWN = 8  # words that are worth naming
_LONG = 60  # characters of one word
_MARKS = "\"'“”«»‘’.,:;?!()[]、。，？！"


def why_empty(index: Index, query: Query, about: Sequence[Entity | str], condition: Filter) -> Iterator[str]:
    """Lines for a person who got no answer; the first says through how much it went."""
    entries = entry_count(index)
    yield f"nothing found in {many(entries, 'entry', 'entries')} of {many(pages_read(index), 'page')}"
    missing = _missing(index, query)
    if missing:
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        yield f"no page holds: {', '.join(missing[:_SHOWN])}{more}"
    if condition.sql and query.filters:
        yield from _blame(index, query, about)


def _missing(index: Index, query: Query) -> list[str]:
    """The words of a question, as they were written, that stand nowhere; a word of private lines alone stands nowhere in public."""
    question = query.words
    wanted = set(query_terms(question))
    known = frequencies(index, wanted)
    if query.public:
        public = condition_of(index, Query(public=True), ())
        known = {term: count for term, count in known.items() if match(index, [term], public, 1)}
    found: dict[str, str] = {}
    for word in dict.fromkeys(question.split()):
        own = wanted.intersection(terms(word))
        if own and known.keys().isdisjoint(own):
            bare = word.strip(_MARKS) or word
            found.setdefault(bare.casefold(), bare if len(bare) <= _LONG else f"{bare[:_LONG]}…")
    return list(found.values())


def _blame(index: Index, query: Query, about: Sequence[Entity | str]) -> Iterator[str]:
    """The filters that leave nothing by themselves, else all of them together."""
    alone = [
        (Query(about=query.about), about, "about"),
        (Query(kinds=query.kinds), (), "kind"),
        (Query(key=query.key), (), "key"),
        (Query(days=query.days), (), "since/until"),
        (Query(as_of=query.as_of), (), "as-of"),
        (Query(min_confidence=query.min_confidence), (), "min-confidence"),
    ]
    emptied = [
        " ".join(single.filters)
        for single, who, _ in alone
        if single.filters and not filtered(index, condition_of(index, replace(single, public=query.public), who), 1)
    ]
    for text in emptied:
        yield f"no entry passes the filter {text}"
    if not emptied:
        together = replace(query, words="", times=())
        passing = filtered(index, condition_of(index, together, about), _COUNTED)
        yield _together(len(passing), " ".join(query.filters), bool(query.words))


def _together(count: int, filters: str, words: bool) -> str:
    if count == 0:
        return f"no entry passes all the filters {filters}"
    shown = (
        f"over {_COUNTED:,} entries pass"
        if count == _COUNTED
        else f"{count} entries pass"
        if count > 1
        else "1 entry passes"
    )
    return f"{shown} the filters {filters}, and none {'holds those words' if words else 'is about just that name'}"
