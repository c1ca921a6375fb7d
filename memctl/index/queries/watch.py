"""What watch asks of the index: how many lines of a page came and went."""

from __future__ import annotations

from collections import Counter

from ...ids import page_id
from ..index import Index
from ..lexical import ORDINAL_BITS

__all__ = ["lines_of"]


def lines_of(index: Index, path: str) -> Counter[int]:
    """The lines that the entries of a page have, by the digest of each entry."""
    low = page_id(path) << ORDINAL_BITS
    sql = "SELECT digest, end_line - line + 1 FROM entry WHERE id >= ? AND id < ?"
    found: Counter[int] = Counter()
    for digest, lines in index.rows(sql, (low, low + (1 << ORDINAL_BITS))):
        found[digest] += lines
    return found
