"""What `export` asks of the index: every fact within a condition, in the order of its days."""

from __future__ import annotations

from ..index import Index
from .entries import Filter

__all__ = ["fact_ids"]


def fact_ids(index: Index, condition: Filter) -> list[int]:
    """Ids of facts that are no copies, oldest day first, undated last; those of one day in page order."""
    where = f"AND {condition.sql}" if condition.sql else ""
    sql = f"SELECT id FROM entry WHERE role = 'fact' AND block IS NULL {where} ORDER BY day IS NULL, day, id"
    return [i for (i,) in index.rows(sql, condition.values)]
