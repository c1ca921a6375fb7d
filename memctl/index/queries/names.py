"""Which names people write, how often, and where: what reflect wrote itself is not counted."""

from __future__ import annotations

from collections.abc import Iterable

from ...markdown.evidence_line import OPINIONS
from ..index import Index
from ..lexical import ORDINAL_BITS
from .entries import Stored, by_ids

__all__ = ["mentioned", "mentions_of"]

# Beliefs that reflect took from a line: the heads above `stated` in bank/opinions.md; those by hand cite none.
_ON_BELIEFS = f"id >> {ORDINAL_BITS} = (SELECT id FROM page WHERE path = '{OPINIONS}')"
_TAKEN = (
    "SELECT (SELECT max(id) FROM entry AS above WHERE above.id < link.entry AND above.role = 'fact' "
    f"AND above.id >= link.entry >> {ORDINAL_BITS} << {ORDINAL_BITS}) FROM link WHERE relation = 'stated' AND target <> '-'"
)
_WRITTEN = (
    "FROM mention JOIN entry ON entry.id = mention.entry WHERE entry.block IS NULL "
    f"AND NOT coalesce(entry.{_ON_BELIEFS} AND (entry.role <> 'fact' OR entry.id IN ({_TAKEN})), 0)"
)


def mentioned(index: Index) -> list[tuple[str, int]]:
    """Keys of every name that is written as @Name or [[Name]], with the number of entries, most mentioned first.

    What reflect writes is left out: blocks, evidence, and the heads of beliefs that it took from a line.
    """
    return index.rows(f"SELECT name, count(*) {_WRITTEN} GROUP BY name ORDER BY 2 DESC, 1")


def mentions_of(index: Index, keys: Iterable[str], most: int = 9) -> dict[str, list[Stored]]:
    """Some of those entries for each key, at most so many: they show how the name is spelled."""
    first: dict[str, list[int]] = {}
    for name, entry in index.rows_in(f"SELECT name, entry {_WRITTEN} AND name IN ({{keys}}) ORDER BY 1, 2", keys):
        if len(first.setdefault(name, [])) < most:
            first[name].append(entry)
    entries = by_ids(index, (entry for listed in first.values() for entry in listed))
    return {name: [entries[entry] for entry in listed if entry in entries] for name, listed in first.items()}
