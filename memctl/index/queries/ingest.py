"""What ingest asks of the index: which lines say, word for word or nearly, what was said in a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..index import Index
from ..lexical import match_expression
from .entries import Stored, by_ids

__all__ = ["holding", "own_and_entry", "saying"]

_LIVE = "entry.block IS NULL AND entry.role <> 'heading'"


def saying(index: Index, keys: Iterable[int]) -> dict[int, list[Stored]]:
    """Lines of any kind by content key: the same words about the same entities; no copies, oldest id first."""
    ids = [i for (i,) in index.rows_in(f"SELECT id FROM entry WHERE {_LIVE} AND content_key IN ({{keys}})", keys)]
    found: dict[int, list[Stored]] = {}
    for _, entry in sorted(by_ids(index, ids).items()):
        found.setdefault(entry.content_key, []).append(entry)
    return found


def holding(index: Index, phrase: Sequence[str], limit: int = 12) -> list[Stored]:
    """Lines in which these terms stand one after the other; no copies."""
    spelled = '"' + " ".join(term.replace('"', "") for term in phrase) + '"'
    return _matching(index, spelled, limit)


def own_and_entry(index: Index, wanted: Sequence[str], limit: int = 8) -> list[tuple[frozenset[str], Stored]]:
    """The lines that hold most of these terms by bm25, each with all of its own; no copies."""
    found = _matching(index, match_expression(wanted), limit)
    terms = dict(index.rows_in("SELECT id, c0 FROM words_content WHERE id IN ({keys})", [entry.id for entry in found]))
    return [(frozenset(str(terms.get(entry.id, "")).split()), entry) for entry in found]


def _matching(index: Index, expression: str, limit: int) -> list[Stored]:
    sql = (
        "SELECT words.rowid FROM words JOIN entry ON entry.id = words.rowid "
        f"WHERE words MATCH ? AND {_LIVE} ORDER BY bm25(words), words.rowid LIMIT ?"
    )
    ids = [i for (i,) in index.rows(sql, (expression, limit))]
    entries = by_ids(index, ids)
    return [entries[i] for i in ids if i in entries]
