"""Numbers with their nouns, for messages."""

from __future__ import annotations

__all__ = ["many"]


def many(count: int, one: str, several: str = "") -> str:
    """`1 line is`, `1,200 lines are`; without `several` an s makes it."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"
