"""Import from other memories, export of plain data."""

__all__ = ["export", "importing"]
